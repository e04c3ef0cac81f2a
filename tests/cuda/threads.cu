// Several host threads at once, each with a stream, memory and errors of its own.
// flags: -Xcompiler -pthread
// ccflags: -pthread
// expect: ok
#include "check.h"
#include <pthread.h>

__global__ void add(int *p, int v)
{
	atomicAdd(p, v);
}

static int *shared_sum;

static void *work(void *arg)
{
	int id = (int)(size_t)arg, *mine, h;
	cudaStream_t s;
	CHECK(cudaStreamCreate(&s));
	for (int i = 0; i < 50; i++) {
		CHECK(cudaMalloc(&mine, 4));
		CHECK(cudaMemsetAsync(mine, 0, 4, s));
		add<<<2, 32, 0, s>>>(mine, id);
		add<<<1, 32, 0, s>>>(shared_sum, 1);
		CHECK(cudaMemcpyAsync(&h, mine, 4, cudaMemcpyDeviceToHost, s));
		CHECK(cudaStreamSynchronize(s));
		IS(h, 64 * id);
		CHECK(cudaFree(mine));
		IS(cudaSetDevice(id), id ? cudaErrorInvalidDevice : cudaSuccess);
		IS(cudaGetLastError(), id ? cudaErrorInvalidDevice : cudaSuccess);
	}
	CHECK(cudaStreamDestroy(s));
	return 0;
}

int main()
{
	pthread_t t[4];
	int h;
	CHECK(cudaMalloc(&shared_sum, 4));
	CHECK(cudaMemset(shared_sum, 0, 4));
	for (size_t i = 0; i < 4; i++)
		pthread_create(&t[i], 0, work, (void *)i);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], 0);
	CHECK(cudaMemcpy(&h, shared_sum, 4, cudaMemcpyDeviceToHost));
	IS(h, 4 * 50 * 32);
	printf("ok\n");
	return 0;
}

// Memory that host and device share: managed allocations, mapped and registered host memory.
// expect: ok
#include "check.h"

__global__ void work(int *m, int *mapped, int *registered)
{
	int i = threadIdx.x;
	m[i] += i;
	mapped[i] = 2 * i;
	registered[i] = 3 * i;
}

int main()
{
	int *m, *mapped, *device, *mine = (int *)malloc(32 * sizeof(int));
	cudaPointerAttributes a;
	CHECK(cudaMallocManaged(&m, 32 * sizeof(int)));
	for (int i = 0; i < 32; i++)
		m[i] = 100;
	CHECK(cudaHostAlloc(&mapped, 32 * sizeof(int), cudaHostAllocMapped));
	CHECK(cudaHostGetDevicePointer(&device, mapped, 0));
	CHECK(cudaHostRegister(mine, 32 * sizeof(int), cudaHostRegisterDefault));
	work<<<1, 32>>>(m, device, mine);
	CHECK(cudaDeviceSynchronize());
	for (int i = 0; i < 32; i++) {
		IS(m[i], 100 + i);
		IS(mapped[i], 2 * i);
		IS(mine[i], 3 * i);
	}
	CHECK(cudaPointerGetAttributes(&a, m));
	IS(a.type, cudaMemoryTypeManaged);
	CHECK(cudaPointerGetAttributes(&a, mapped));
	IS(a.type, cudaMemoryTypeHost);
	CHECK(cudaPointerGetAttributes(&a, &a));
	IS(a.type, cudaMemoryTypeUnregistered);
	CHECK(cudaHostUnregister(mine));
	IS(cudaHostUnregister(mine), cudaErrorHostMemoryNotRegistered);
	CHECK(cudaFreeHost(mapped));
	CHECK(cudaFree(m));
	printf("ok\n");
	return 0;
}

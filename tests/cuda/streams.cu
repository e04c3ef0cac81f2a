// Streams, events, host functions and callbacks: order and states.
// expect: ok
#include "check.h"

__global__ void step(int *x, int a, int b)
{
	*x = *x * a + b;
}

static int order[8], norder;
static void note(void *user) { order[norder++] = (int)(size_t)user; }
static void note_status(cudaStream_t, cudaError_t status, void *user) { order[norder++] = status ? -1 : (int)(size_t)user; }

int main()
{
	cudaStream_t s, t;
	cudaEvent_t a, b, untimed;
	float ms = -1;
	int *x, h = 0, least, greatest, priority;
	unsigned flags;
	CHECK(cudaStreamCreate(&s));
	CHECK(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
	CHECK(cudaStreamGetFlags(t, &flags));
	IS(flags, cudaStreamNonBlocking);
	CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
	TRUE(greatest <= least);
	CHECK(cudaStreamGetPriority(s, &priority));
	IS(priority, 0);
	CHECK(cudaEventCreate(&a));
	CHECK(cudaEventCreate(&b));
	CHECK(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
	IS(cudaEventElapsedTime(&ms, a, b), cudaErrorInvalidResourceHandle);
	CHECK(cudaMalloc(&x, sizeof *x));
	CHECK(cudaMemsetAsync(x, 0, sizeof *x, s));
	CHECK(cudaEventRecord(a, s));
	step<<<1, 1, 0, s>>>(x, 1, 5);
	CHECK(cudaLaunchHostFunc(s, note, (void *)1));
	CHECK(cudaEventRecord(b, s));
	CHECK(cudaStreamWaitEvent(t, b, 0));
	step<<<1, 1, 0, t>>>(x, 10, 2);
	CHECK(cudaStreamAddCallback(t, note_status, (void *)2, 0));
	CHECK(cudaMemcpyAsync(&h, x, sizeof h, cudaMemcpyDeviceToHost, t));
	CHECK(cudaStreamSynchronize(t));
	CHECK(cudaStreamQuery(t));
	IS(h, 52);
	IS(norder, 2);
	IS(order[0], 1);
	IS(order[1], 2);
	CHECK(cudaEventSynchronize(b));
	CHECK(cudaEventQuery(a));
	CHECK(cudaEventElapsedTime(&ms, a, b));
	TRUE(ms > 0 && ms < 60000);
	CHECK(cudaEventDestroy(a));
	CHECK(cudaEventDestroy(b));
	CHECK(cudaEventDestroy(untimed));
	CHECK(cudaStreamDestroy(s));
	CHECK(cudaStreamDestroy(t));
	printf("ok\n");
	return 0;
}

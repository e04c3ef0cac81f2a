// Graphs captured from streams.
// expect: ok
#include "check.h"

__global__ void step(int *x, int a, int b)
{
	*x = *x * a + b;
}

static int calls;
static void count(void *) { calls++; }

static void captured(int *x)
{
	cudaStream_t s, t;
	cudaGraph_t g;
	cudaGraphExec_t e;
	cudaEvent_t fork, join;
	cudaStreamCaptureStatus status;
	int h = 0;
	CHECK(cudaStreamCreate(&s));
	CHECK(cudaStreamCreate(&t));
	CHECK(cudaEventCreate(&fork));
	CHECK(cudaEventCreate(&join));
	CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
	CHECK(cudaMemsetAsync(x, 0, 4, s));
	CHECK(cudaEventRecord(fork, s));
	CHECK(cudaStreamWaitEvent(t, fork, 0));
	step<<<1, 1, 0, t>>>(x, 1, 3);
	CHECK(cudaStreamIsCapturing(t, &status));
	IS(status, cudaStreamCaptureStatusActive);
	CHECK(cudaEventRecord(join, t));
	CHECK(cudaStreamWaitEvent(s, join, 0));
	step<<<1, 1, 0, s>>>(x, 2, 1);
	CHECK(cudaMemcpyAsync(&h, x, 4, cudaMemcpyDeviceToHost, s));
	CHECK(cudaLaunchHostFunc(s, count, 0));
	CHECK(cudaStreamEndCapture(s, &g));
	IS(h, 0);
	IS(calls, 0);
	CHECK(cudaGraphInstantiate(&e, g, 0));
	CHECK(cudaGraphDestroy(g));
	for (int i = 0; i < 3; i++)
		CHECK(cudaGraphLaunch(e, s));
	CHECK(cudaStreamSynchronize(s));
	IS(h, 7);
	IS(calls, 3);
	CHECK(cudaGraphExecDestroy(e));
	CHECK(cudaStreamDestroy(s));
	CHECK(cudaStreamDestroy(t));
}

int main()
{
	int *x;
	CHECK(cudaMalloc(&x, 4));
	captured(x);
	printf("ok\n");
	return 0;
}

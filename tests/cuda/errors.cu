// Errors of calls are told once and forgotten; the error of a kernel stays.
// expect: after: an illegal memory access was encountered
// expect: reset: no error
// stderr: invalid address
// status: 3
#include "check.h"

__global__ void write(int *p, int at)
{
	p[at] = 1;
}

int main()
{
	int *p;
	IS(cudaGetLastError(), cudaSuccess);
	write<<<1, 2048>>>(0, 0);
	IS(cudaPeekAtLastError(), cudaErrorInvalidConfiguration);
	IS(cudaGetLastError(), cudaErrorInvalidConfiguration);
	IS(cudaGetLastError(), cudaSuccess);
	write<<<0, 1>>>(0, 0);
	IS(cudaGetLastError(), cudaErrorInvalidConfiguration);
	IS(cudaStreamSynchronize((cudaStream_t)0x1234), cudaErrorInvalidResourceHandle);
	TRUE(strcmp(cudaGetErrorName(cudaErrorInvalidResourceHandle), "cudaErrorInvalidResourceHandle") == 0);
	TRUE(strcmp(cudaGetErrorString(cudaErrorInvalidResourceHandle), "invalid resource handle") == 0);
	TRUE(strcmp(cudaGetErrorString((cudaError_t)77777), "unrecognized error code") == 0);
	IS(cudaGetLastError(), cudaErrorInvalidResourceHandle);

	CHECK(cudaMalloc(&p, 400));
	write<<<1, 1>>>(p, 100);
	IS(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
	IS(cudaMalloc(&p, 4), cudaErrorIllegalAddress);
	IS(cudaGetLastError(), cudaErrorIllegalAddress);
	printf("after: %s\n", cudaGetErrorString(cudaGetLastError()));
	CHECK(cudaDeviceReset());
	printf("reset: %s\n", cudaGetErrorString(cudaGetLastError()));
	return 0;
}

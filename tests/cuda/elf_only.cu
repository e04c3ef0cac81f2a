// A program with machine code only: its kernels cannot run, and the message says how to build them.
// flags: -gencode arch=compute_90,code=sm_90
// ways: nvcc
// expect: no kernel image is available for execution on the device
// stderr: kernel 'write' cannot run: the program has machine code for it but no PTX
// stderr: code=compute_XX
#include "check.h"

__global__ void write(int *p)
{
	*p = 1;
}

int main()
{
	int *p;
	CHECK(cudaMalloc(&p, 4));
	write<<<1, 1>>>(p);
	printf("%s\n", cudaGetErrorString(cudaGetLastError()));
	return 0;
}

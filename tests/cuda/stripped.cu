// A program with the runtime linked in and without symbols cannot be caught; it is told how to build it.
// flags: -Xlinker -s
// ways: nvcc
// status: 2
// stderr: -cudart shared
#include "check.h"

int main()
{
	int n;
	CHECK(cudaGetDeviceCount(&n));
	return 0;
}

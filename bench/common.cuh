/* common.cuh - what all workloads and benchmarks share. */
#ifndef COMMON_CUH
#define COMMON_CUH

#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CHECK(call) check((call), #call)
static inline void check(cudaError_t e, const char *call)
{
	if (e == cudaSuccess)
		return;
	fprintf(stderr, "%s: %s\n", call, cudaGetErrorString(e));
	exit(2);
}

/* The same numbers everywhere, on the host and on the device. */
__host__ __device__ static inline unsigned noise(unsigned i)
{
	i = (i ^ 61u) ^ i >> 16;
	i *= 9u;
	i ^= i >> 4;
	i *= 0x27d4eb2du;
	return i ^ i >> 15;
}

#endif

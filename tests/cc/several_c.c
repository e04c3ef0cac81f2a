/* The C file of several.cu. */
#include "several.h"
#include <cuda_runtime_api.h>

long bytes_per_block(void)
{
	struct cudaDeviceProp p;
	return cudaGetDeviceProperties(&p, 0) == cudaSuccess ? (long)p.sharedMemPerBlock : -1;
}

// The C++ file of several.cu: the runtime API without CUDA's language.
#include "several.h"
#include <cuda_runtime.h>

int devices_seen(void)
{
	int n = 0;
	return cudaGetDeviceCount(&n) == cudaSuccess ? n : -1;
}

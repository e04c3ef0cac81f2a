// The second CUDA file of several.cu: its variable and kernel have names that the first one also has.
#include "several.h"

static __device__ int same_name = 7;
static __global__ void local_kernel(int *p) { *p += 100 + same_name; }

void launch_other(int *device) { local_kernel<<<1, 1>>>(device); }

// Programmatic dependent launch: the second kernel may begin before the first one has ended.
// category: 13
// racy: @KIND global dependent-launch
// repair: call cudaGridDependencySynchronize() before the access
// options: --cc=90
// vary: RAW WAR WAW
// vary: NONE LATE
#include "streams.h"

static __device__ void wait_for_grid()
{
	asm volatile("griddepcontrol.wait;" ::: "memory");
}

__global__ void second(int *m, int *to)
{
	ONLY_FIXED(wait_for_grid();)
#ifdef V_RAW
	to[threadIdx.x] = m[threadIdx.x];
#else
	m[threadIdx.x] = threadIdx.x + 2;
#endif
#ifdef V_LATE
	ONLY_RACY(wait_for_grid();)
#endif
}

static void test()
{
	cudaLaunchAttribute attribute = {};
	cudaLaunchConfig_t config = {};

	attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
	attribute.val.programmaticStreamSerializationAllowed = 1;
	config.gridDim = dim3(1);
	config.blockDim = dim3(N);
	config.stream = a;
	config.attrs = &attribute;
	config.numAttrs = 1;
	FIRST(a);
	cudaLaunchKernelEx(&config, second, p, out);
	take<<<1, N, 0, a>>>(p, out);
}

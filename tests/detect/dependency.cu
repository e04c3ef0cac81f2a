// A write after a flag that no fence orders, but whose value is made from what the other thread has read, as in compactions
// in place: a warning. A flag of another value is an error (flag_kinds), and so is anything but a write after a read.
// category: 4
// racy(REGISTER): warning WAR global dependency
// racy(SHARED): warning WAR global dependency
// racy(SHUFFLE): warning WAR global dependency
// racy(LOCAL): warning WAR global dependency
// racy(RELAXED): warning WAR global dependency
// racy(CONSTANT): WAR global missing-fence
// racy(ADDRESS): WAR global missing-fence
// repair: __threadfence()
// vary: REGISTER SHARED SHUFFLE LOCAL RELAXED CONSTANT ADDRESS
#define BLOCKS 2
#define THREADS 32
#include "one.h"

__device__ volatile int flag[2];

__device__ static int made_from(int r)
{
#if defined V_SHARED
	__shared__ int s[32];

	s[threadIdx.x] = r + 1;
	__syncthreads();
	return s[31 - threadIdx.x] + s[threadIdx.x];
#elif defined V_SHUFFLE
	return __shfl_xor_sync(~0u, r, 1) + 1;
#elif defined V_LOCAL
	volatile int kept[4] = {r, r, r, r};

	return kept[r & 3] + 1;
#elif defined V_CONSTANT || defined V_ADDRESS
	return 1;
#else
	return r + 1;
#endif
}

__global__ void kernel(int *data, int *out)
{
	if (blockIdx.x == 0) {
		int r = data[threadIdx.x], v = made_from(r);

#ifdef FIXED
		__threadfence();
#endif
		__syncthreads();
		if (threadIdx.x == 0) {
#if defined V_RELAXED
			__asm__ volatile("st.relaxed.gpu.global.u32 [%0], %1;" : : "l"(&flag[0]), "r"(v) : "memory");
#elif defined V_ADDRESS
			flag[r & 1] = v;
#else
			flag[0] = v;
#endif
		}
		out[threadIdx.x] = r;
	} else {
		int v = 0;

		if (threadIdx.x == 0)
			while ((v = flag[0]) == 0)
				;
		__syncthreads();
#ifdef FIXED
		__threadfence();
#endif
		data[threadIdx.x] = 5 + v;
	}
}

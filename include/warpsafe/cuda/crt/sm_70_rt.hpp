/* crt/sm_70_rt.hpp - clang's __clang_cuda_intrinsics.h includes a file of this name for the typed forms of __match_*:
 * they are here, over the 32 and 64 bit forms that clang defines just before. */
#ifndef WARPSAFE_CRT_SM_70_RT_HPP
#define WARPSAFE_CRT_SM_70_RT_HPP

#define WS_MATCH(T, U, BITS) \
	inline __device__ unsigned int __match_any_sync(unsigned int mask, T value) \
	{ \
		return (unsigned int)__match##BITS##_any_sync(mask, __builtin_bit_cast(U, value)); \
	} \
	inline __device__ unsigned int __match_all_sync(unsigned int mask, T value, int *pred) \
	{ \
		return (unsigned int)__match##BITS##_all_sync(mask, __builtin_bit_cast(U, value), pred); \
	}
WS_MATCH(int, unsigned int, 32)
WS_MATCH(unsigned int, unsigned int, 32)
WS_MATCH(float, unsigned int, 32)
WS_MATCH(long, unsigned long long, 64)
WS_MATCH(unsigned long, unsigned long long, 64)
WS_MATCH(long long, unsigned long long, 64)
WS_MATCH(unsigned long long, unsigned long long, 64)
WS_MATCH(double, unsigned long long, 64)
#undef WS_MATCH

inline __device__ void __nanosleep(unsigned int ns) { __asm__ volatile("nanosleep.u32 %0;" ::"r"(ns)); }

#endif

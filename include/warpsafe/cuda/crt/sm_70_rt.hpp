/* crt/sm_70_rt.hpp - clang's __clang_cuda_intrinsics.h includes a file of this name for the typed forms of __match_*:
 * they are here, over the 32 and 64 bit forms that clang defines just before. */
#ifndef WARPSAFE_CRT_SM_70_RT_HPP
#define WARPSAFE_CRT_SM_70_RT_HPP

/* clang's builtins for 64 bits give the mask 64 bits, which PTX does not take (PTX ISA, match.sync): written out. */
inline __device__ unsigned int warpsafe_match64_any(unsigned int mask, unsigned long long value)
{
	unsigned int r;
	__asm__ volatile("match.any.sync.b64 %0, %1, %2;" : "=r"(r) : "l"(value), "r"(mask) : "memory");
	return r;
}
inline __device__ unsigned int warpsafe_match64_all(unsigned int mask, unsigned long long value, int *pred)
{
	unsigned int r;
	__asm__ volatile("{\n\t.reg .pred p;\n\tmatch.all.sync.b64 %0|p, %2, %3;\n\tselp.s32 %1, 1, 0, p;\n\t}"
	                 : "=r"(r), "=r"(*pred) : "l"(value), "r"(mask) : "memory");
	return r;
}
inline __device__ unsigned int warpsafe_match32_any(unsigned int mask, unsigned int value)
{
	return __match32_any_sync(mask, value);
}
inline __device__ unsigned int warpsafe_match32_all(unsigned int mask, unsigned int value, int *pred)
{
	return __match32_all_sync(mask, value, pred);
}

#define WS_MATCH(T, U, BITS) \
	inline __device__ unsigned int __match_any_sync(unsigned int mask, T value) \
	{ \
		return warpsafe_match##BITS##_any(mask, __builtin_bit_cast(U, value)); \
	} \
	inline __device__ unsigned int __match_all_sync(unsigned int mask, T value, int *pred) \
	{ \
		return warpsafe_match##BITS##_all(mask, __builtin_bit_cast(U, value), pred); \
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

/* warpsafe_memcpy_async.h - what cooperative_groups::memcpy_async and cuda::memcpy_async share: a group's threads copy
 * bytes together, asynchronously where cp.async can (PTX ISA 9.0, cp.async). */
#ifndef WARPSAFE_MEMCPY_ASYNC_H
#define WARPSAFE_MEMCPY_ASYNC_H

#include "cuda_pipeline_primitives.h"

namespace warpsafe {

#define WS_DEV inline __device__ __attribute__((always_inline, nodebug))

/* Thread `rank` of `size` copies its part; at once what is not from global to shared memory, or not aligned. */
template <unsigned W> WS_DEV unsigned long copy_units(char *dst, const char *src, unsigned long bytes, unsigned rank,
                                                      unsigned size)
{
	unsigned long whole = bytes / W * W;
	for (unsigned long i = rank * (unsigned long)W; i < whole; i += size * (unsigned long)W)
		__pipeline_memcpy_async(dst + i, src + i, W);
	return whole;
}

WS_DEV void copy_part(void *to, const void *from, unsigned long bytes, unsigned rank, unsigned size)
{
	char *dst = (char *)to;
	const char *src = (const char *)from;
	unsigned long align = (unsigned long)dst | (unsigned long)src, done = 0;

	if (__isShared(to) && __isGlobal(from))
		done = !(align & 15) ? copy_units<16>(dst, src, bytes, rank, size) :
		       !(align & 7) ? copy_units<8>(dst, src, bytes, rank, size) :
		       !(align & 3) ? copy_units<4>(dst, src, bytes, rank, size) : 0;
	for (unsigned long i = done + rank; i < bytes; i += size)
		dst[i] = src[i];
}

#undef WS_DEV

} /* warpsafe */

namespace cuda {

/* A number of bytes, and what it and the addresses are multiples of. */
template <unsigned long A> struct aligned_size_t {
	static constexpr unsigned long align = A;
	unsigned long value;
	__host__ __device__ explicit constexpr aligned_size_t(unsigned long n) : value(n) {}
	__host__ __device__ constexpr operator unsigned long() const { return value; }
};

} /* cuda */

#endif

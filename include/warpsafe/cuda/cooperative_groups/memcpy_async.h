/* cooperative_groups/memcpy_async.h - copies by all threads of a group. Written from the "CUDA C++ Programming Guide",
 * Cooperative Groups: Data Transfer. */
#ifndef WARPSAFE_COOPERATIVE_GROUPS_MEMCPY_ASYNC_H
#define WARPSAFE_COOPERATIVE_GROUPS_MEMCPY_ASYNC_H

#include "../cooperative_groups.h"
#include "../warpsafe_memcpy_async.h"

#pragma clang attribute push(__attribute__((nodebug)), apply_to = hasType(functionType))

namespace cooperative_groups {

template <class G, class T, class S> inline __device__ void memcpy_async(const G &g, T *dst, const T *src, const S &bytes)
{
	warpsafe::copy_part(dst, src, bytes, g.thread_rank(), g.size());
	__pipeline_commit();
}

/* Elements: as many as both layouts have. */
template <class G, class T, class D, class S>
inline __device__ void memcpy_async(const G &g, T *dst, const D &room, const T *src, const S &n)
{
	unsigned long a = room, b = n;
	memcpy_async(g, dst, src, (a < b ? a : b) * sizeof(T));
}

template <unsigned int N, class G> inline __device__ void wait_prior(const G &g)
{
	__pipeline_wait_prior(N);
	g.sync();
}

template <class G> inline __device__ void wait(const G &g)
{
	wait_prior<0>(g);
}

} /* cooperative_groups */

#pragma clang attribute pop

#endif

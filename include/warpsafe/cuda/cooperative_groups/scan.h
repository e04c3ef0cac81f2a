/* cooperative_groups/scan.h - inclusive_scan() and exclusive_scan() over a tile or coalesced group. Comes with
 * cooperative_groups.h. */
#ifndef WARPSAFE_COOPERATIVE_GROUPS_SCAN_H
#define WARPSAFE_COOPERATIVE_GROUPS_SCAN_H

#include "reduce.h"

#pragma clang attribute push(__attribute__((nodebug)), apply_to = hasType(functionType))

namespace cooperative_groups {

template <class G, class T, class F> inline __device__ T inclusive_scan(const G &g, T value, F op)
{
	unsigned int n = g.size(), rank = g.thread_rank();
	for (unsigned int by = 1; by < n; by *= 2) {
		T other = g.shfl_up(value, by);
		if (rank >= by)
			value = op(other, value);
	}
	return value;
}
template <class G, class T> inline __device__ T inclusive_scan(const G &g, T value)
{
	return inclusive_scan(g, value, plus<T>());
}

/* Rank 0 gets T(). */
template <class G, class T, class F> inline __device__ T exclusive_scan(const G &g, T value, F op)
{
	T r = g.shfl_up(inclusive_scan(g, value, op), 1);
	return g.thread_rank() == 0 ? T() : r;
}
template <class G, class T> inline __device__ T exclusive_scan(const G &g, T value)
{
	return exclusive_scan(g, value, plus<T>());
}

} /* cooperative_groups */

#pragma clang attribute pop

#endif

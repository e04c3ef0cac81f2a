/* cooperative_groups/reduce.h - reduce() over a tile or coalesced group, with the functors it takes. Comes with
 * cooperative_groups.h. */
#ifndef WARPSAFE_COOPERATIVE_GROUPS_REDUCE_H
#define WARPSAFE_COOPERATIVE_GROUPS_REDUCE_H

#include "../cooperative_groups.h"

#pragma clang attribute push(__attribute__((nodebug)), apply_to = hasType(functionType))

namespace cooperative_groups {

#define WS_CG_OP(NAME, EXPRESSION) \
	template <class T = void> struct NAME { \
		inline __device__ T operator()(T a, T b) const { return EXPRESSION; } \
	}; \
	template <> struct NAME<void> { \
		template <class T> inline __device__ T operator()(T a, T b) const { return EXPRESSION; } \
	};
WS_CG_OP(plus, a + b)
WS_CG_OP(less, b < a ? b : a)
WS_CG_OP(greater, a < b ? b : a)
WS_CG_OP(bit_and, a & b)
WS_CG_OP(bit_or, a | b)
WS_CG_OP(bit_xor, a ^ b)
#undef WS_CG_OP

/* In each round a thread adds what the one `by` ranks further has gathered, if there is one; rank 0 ends with all. */
template <class G, class T, class F> inline __device__ T reduce(const G &g, T value, F op)
{
	unsigned int n = g.size(), rank = g.thread_rank();
	for (unsigned int by = 1; by < n; by *= 2) {
		T other = g.shfl_down(value, by);
		if (rank + by < n)
			value = op(value, other);
	}
	return g.shfl(value, 0);
}

} /* cooperative_groups */

#pragma clang attribute pop

#endif

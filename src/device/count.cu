/* count.cu - what the pass `count` places at accesses (src/rewrite/count.c): a warp adds once, for all its lanes. */
#include "device.h"

/* Whatever lanes come together, the lowest of them adds their number: right also when a warp has diverged. */
HELPER void add(u64 counter)
{
	u32 lanes = activemask();

	if (!(lanes & lanes_below()))
		global_add(counter, population(lanes));
}

INLINED void count(u64 counter)
{
	add(counter);
}

/* Addresses that are seldom: a site has counters for global, shared and constant memory, in this order. What lies in
 * none of them is the thread's own. */
SLOW void __warpsafe_count_elsewhere(u64 counters, u64 address)
{
	if (is_shared(address))
		add(counters + 8);
	else if (is_constant(address))
		add(counters + 16);
}

SLOW void __warpsafe_count_elsewhere_cluster(u64 counters, u64 address)
{
	if (is_shared_cluster(address))
		add(counters + 8);
	else if (is_constant(address))
		add(counters + 16);
}

INLINED void count_generic(u64 counters, u64 address)
{
	if (is_global(address))
		add(counters);
	else
		__warpsafe_count_elsewhere(counters, address);
}

/* From sm_90 on the shared memory of other blocks of the cluster can be reached, too. */
INLINED void count_generic_cluster(u64 counters, u64 address)
{
	if (is_global(address))
		add(counters);
	else
		__warpsafe_count_elsewhere_cluster(counters, address);
}

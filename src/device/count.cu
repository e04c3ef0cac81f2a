/* count.cu - what the pass `count` places at accesses (src/rewrite/count.c). */
#include "device.cuh"

/* One addition a thread to an address that is the same for all: NVIDIA's compiler makes it one a warp, by a vote, a
 * population count and a predicate that it shares among neighbouring places. The same written here costs a branch and
 * three times the instructions, for ptxas cannot see that it need not do it again (SASS of sm_90, ptxas 13.0). */
INLINED void count(u64 counter)
{
	global_add(counter, 1);
}

/* Where the address is a parameter the compiler does not know that. Whatever lanes come together, the lowest of them adds
 * their number: right also when a warp has diverged. */
HELPER void add(u64 counter)
{
	u32 lanes = activemask();

	if (!(lanes & lanes_below()))
		global_add(counter, population(lanes));
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
		global_add(counters, 1);
	else
		__warpsafe_count_elsewhere(counters, address);
}

/* From sm_90 on the shared memory of other blocks of the cluster can be reached, too. */
INLINED void count_generic_cluster(u64 counters, u64 address)
{
	if (is_global(address))
		global_add(counters, 1);
	else
		__warpsafe_count_elsewhere_cluster(counters, address);
}

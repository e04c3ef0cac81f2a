/* count.cu - what the pass `count` places at accesses (src/rewrite/count.c). */
#include "device.cuh"

/* The counters of a module are there in several copies, each for some of the blocks: additions to one address come one
 * after the other in the L2 cache. `copies` is a power of two, `stride` the bytes of a copy. */
INLINED u64 counters_of_block(u64 counters, u32 stride, u32 copies)
{
	return counters + (u64)((block_x() + block_y() + block_z()) & (copies - 1)) * stride;
}

/* One addition a thread to an address that is the same for the whole block: NVIDIA's compiler makes it one a warp, by a
 * vote, a population count and a predicate that neighbouring places share. The same written here costs a branch and
 * three times the instructions, for ptxas does not see that it need not do it again (SASS of sm_90, ptxas 13.0). */
INLINED void count(u64 counters, u64 offset)
{
	global_add(counters + offset, 1);
}

/* Where the address is a parameter the compiler does not know that. Whatever lanes come together, the lowest of them
 * adds their number: right also when a warp has diverged. */
HELPER void add(u64 counter)
{
	u32 lanes = activemask();

	if (!(lanes & lanes_below()))
		global_add(counter, population(lanes));
}

/* Addresses that are seldom: a site has counters for global, shared and constant memory, in this order. What lies in
 * none of them is the thread's own. */
SLOW void __warpsafe_count_elsewhere(u64 counter, u64 address)
{
	if (is_shared(address))
		add(counter + 8);
	else if (is_constant(address))
		add(counter + 16);
}

SLOW void __warpsafe_count_elsewhere_cluster(u64 counter, u64 address)
{
	if (is_shared_cluster(address))
		add(counter + 8);
	else if (is_constant(address))
		add(counter + 16);
}

INLINED void count_generic(u64 counters, u64 offset, u64 address)
{
	if (is_global(address))
		global_add(counters + offset, 1);
	else
		__warpsafe_count_elsewhere(counters + offset, address);
}

/* From sm_90 on the shared memory of other blocks of the cluster can be reached, too. */
INLINED void count_generic_cluster(u64 counters, u64 offset, u64 address)
{
	if (is_global(address))
		global_add(counters + offset, 1);
	else
		__warpsafe_count_elsewhere_cluster(counters + offset, address);
}

/* race_cluster.cuh - what blocks know of the other blocks of their cluster (race.cu; race_peer.cuh has the hooks).
 *
 * Barriers of the cluster that order all that came before them end the epoch of each of its blocks, as barriers of a block do.
 * They are counted, by each block for itself, and all count alike. In global memory a block has a row: in which epoch it
 * was behind its last two barriers. So "is what that block did before a barrier that mine has passed?" is one load and one
 * comparison; others than the last two are not asked for, since no block passes a barrier at which another has not arrived.
 *
 * The launch has a row for each block behind the first segments of all (WS_RACE_NEEDS_ROWS): in place of a segment's
 * description, and no entry ever refers to it. */
#ifndef WS_RACE_CLUSTER_CUH
#define WS_RACE_CLUSTER_CUH

#include "race_state.cuh"

struct row {
	u32 epochs[2];           /* by the number of the barrier: the epoch that it begins; 0 = none yet */
	u32 slot;                /* number + 1 of the block's slot; 0 = it has none */
	u32 cluster;             /* as BLOCK.cluster; 0 = the block has not begun */
};
enum { ROW_BLOCKS_ENDED = 16, ROW_ENDED = 20, ROW_WORDS = 32 };  /* behind it: of the cluster's first block; of each; see cluster_word */
static_assert(__builtin_offsetof(struct ws_race_segment, state) == 28 && __builtin_offsetof(struct ws_race_segment, last) == 32,
	      "the sweep must find 0 in `state`");

HELPER u64 row_at(u32 block) { return SEGMENT(BLOCK.lowest + BLOCK.range - blocks_x() * blocks_y() * blocks_z() + block); }

HELPER struct row row_of(u32 block)
{
	struct row r;

	asm volatile("ld.volatile.global.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(r.epochs[0]), "=r"(r.epochs[1]), "=r"(r.slot),
		     "=r"(r.cluster) : "l"(row_at(block)) : "memory");
	return r;
}

/* The row of another block, if it is of my cluster; else all of it is 0. */
HELPER struct row row_in_cluster(u32 block)
{
	struct row none = { { 0, 0 }, 0, 0 }, r = none;

	if (BLOCK.cluster)
		r = row_of(block);
	return r.cluster == BLOCK.cluster ? r : none;
}

/* Is a block of my cluster? Not at its place: kernels without clusters have no code for it but a comparison. */
SLOW u32 __warpsafe_is_near(u32 block)
{
	return row_in_cluster(block).cluster;
}

HELPER bool is_near(u32 block) { return IN_CLUSTER && __warpsafe_is_near(block); }

/* Is what the block of that row did in an epoch before what my block does now? */
HELPER bool before_in_cluster(const struct row *r, u32 epoch)
{
	u32 passed = BLOCK.passed;

	return passed && epoch < r->epochs[passed & 1];
}

/* ---- the cluster's blocks ---- */
enum { SHAPE_BITS = 10 };        /* of a number of blocks in BLOCK.shape: x, y, z */
#define PEERS (1u << 31)         /* in BLOCK.shape: they come to each other's shared memory */
#define IN_ROOM (1u << 30)       /* likewise: the block counts in race_room.cuh; in none of a kernel with clusters */

HELPER u32 cluster_blocks(void)
{
	u32 shape = BLOCK.shape, mask = (1u << SHAPE_BITS) - 1;

	return (shape & mask) * (shape >> SHAPE_BITS & mask) * (shape >> 2 * SHAPE_BITS & mask);
}

/* The block of that rank: its linear index in the grid. */
HELPER u32 block_of_rank(u32 rank)
{
	u32 shape = BLOCK.shape, mask = (1u << SHAPE_BITS) - 1, x = shape & mask, y = shape >> SHAPE_BITS & mask;

	return BLOCK.cluster - 1 + rank % x + blocks_x() * (rank / x % y + blocks_y() * (rank / x / y));
}

#endif

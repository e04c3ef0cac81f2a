/* race_all.cuh - have all blocks of the launch released at a word? (race.cu)
 *
 * "The last block sums up what all others wrote": each block writes, fences, and adds one to a counter; who finds there that all
 * others have done so reads what they wrote. To look for each word at the releases of its writer takes several trips to memory.
 * So each block's first release is counted, if it is by the same thread of the block, at the same word and at the same time of
 * its block as that of the first block that released. When all blocks are counted, and the chain as a thread has acquired it
 * has all of these releases, then the write of any block is ordered if that one release covers it: no other need be looked at.
 *
 * A launch's row is cleared by its first block, before any block has segments. */
#ifndef WS_RACE_ALL_CUH
#define WS_RACE_ALL_CUH

#include "race_launch.cuh"
#include "race_release.cuh"

enum { ALL_WORD_AT = 32, ALL_THREAD_AT = 16, ALL_EPOCH_AT = 10, ALL_SUB_AT = 5, ALL_SUBS = 32, ALL_WORDS = 1 << 30 };
#define ALL_ANY (1ull << 63)

/* What releases of all blocks have in common; 0 = it cannot be said. */
HELPER u64 who_releases(u32 word, const struct record *r)
{
	if (word >= ALL_WORDS || r->epoch >= EPOCHS || r->sub >= ALL_SUBS || !scope_reaches(rec_scope(r), false))
		return 0;
	return ALL_ANY | (u64)word << ALL_WORD_AT | (rec_warp(r) * 32 + rec_lane(r)) << ALL_THREAD_AT | r->epoch << ALL_EPOCH_AT |
	       r->sub << ALL_SUB_AT | r->full;
}

/* A thread has released, and that was number `index` of the word's chain. */
HELPER void count_release(u32 word, const struct record *r, u32 index)
{
	u64 who, was;

	if (BLOCK.released || shared_exchange32(IN_SHARED(__warpsafe_block.released), 1))
		return;
	who = who_releases(word, r);
	if (!who || load32(ALL_OF_LAUNCH(grid)) != BLOCK.grid)
		return;
	was = cas64(ALL_OF_LAUNCH(who), 0, who);
	if (was && was != who)
		return;
	global_max32(ALL_OF_LAUNCH(last), index + 1);
	fence_gpu();
	fetch_add32(ALL_OF_LAUNCH(blocks), 1);
}

HELPER u64 blocks_of_launch(void) { return (u64)blocks_x() * blocks_y() * blocks_z(); }

/* Who has acquired the word with so many releases: has he all of them? What they have in common; 0 = not known. */
HELPER u64 all_released(u32 word, u32 counted, u32 scope)
{
	u64 blocks = blocks_of_launch(), who;

	if (counted < blocks || !scope_reaches(scope, false) || !BLOCK.lowest || load32(ALL_OF_LAUNCH(blocks)) != blocks)
		return 0;
	fence_gpu();
	who = load64(ALL_OF_LAUNCH(who));
	return load32(ALL_OF_LAUNCH(last)) <= counted && load32(ALL_OF_LAUNCH(grid)) == BLOCK.grid && (who & ~ALL_ANY) >> ALL_WORD_AT == word ? who : 0;
}

HELPER u32 who_thread(u64 who) { return (u32)who >> ALL_THREAD_AT & (WS_RACE_MAX_THREADS - 1); }
HELPER u32 who_epoch(u64 who) { return (u32)who >> ALL_EPOCH_AT & (EPOCHS - 1); }
HELPER u32 who_sub(u64 who) { return (u32)who >> ALL_SUB_AT & (ALL_SUBS - 1); }

/* The release of a block, of which that is known. */
HELPER struct record release_of_all(u64 who, u32 block)
{
	u32 thread = who_thread(who);
	struct record r = { 0, REC_RELEASE | (thread & 31) << 8 | thread >> 5 << 16, 0, (u32)who & (ALL_SUBS - 1), who_epoch(who),
			    who_sub(who), block, BLOCK.grid };

	return r;
}

HELPER bool all_cover(u64 who, const struct target *t)
{
	struct record r = release_of_all(who, t->at.block);

	return who && covers(&r, t);
}

/* Does a release of the word cover the access for who has acquired this one, when so many were counted? */
SLOW u32 __warpsafe_covered(const struct target *t, u32 number, u32 word, u32 counted, u32 block, u32 scope)
{
	enum { ALONE = 1, NEAR = 8, FEW = 32, NO_LISTS = 512 };
	u32 verdict, least = UNORDERED;

	if (counted <= DENSE || launch_is(t->at.grid, WS_RACE_LAUNCH_LISTS)) {
		if (counted > FEW && in_chain(t, number, NEAR, block, scope) != ORDERED && all_cover(all_released(word, counted, scope), t))
			return ORDERED;
		return in_chain(t, number, NO_LISTS, block, scope);
	}
	verdict = in_chain(t, number, ALONE, block, scope);
	if (verdict != ORDERED && all_cover(all_released(word, counted, scope), t))
		return ORDERED;
	for (u32 list = OF_THREAD; list <= OF_BLOCK && verdict != ORDERED; list++) {
		verdict = in_list(t, word, list, counted, block, scope);
		least = verdict == UNDECIDED ? UNDECIDED : least;
	}
	if (verdict != ORDERED) {
		verdict = in_oldest(t, word, block, scope);
		least = verdict == UNDECIDED ? UNDECIDED : least;
	}
	return verdict == ORDERED ? ORDERED : least;
}

#endif

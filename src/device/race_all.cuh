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

/* ---- rounds ----
 * A barrier of the whole grid, the program's own or cooperative groups', is a word at which a thread of each block releases, and acquires when all have.
 * So what is said above of each block's first release is counted for its second, third and so on at that word, by that thread: a *round*. Who has acquired
 * all releases of a round knows of each block the epoch in which it released: what any thread did in an epoch before that one is before what threads of the
 * acquirer's block do behind their next barrier. That is `ordered` of the block: from its epoch on << 16 | what is in epochs below. To ask it takes no trip to memory.
 *
 * `released` of a block: low bits of the word << 16 | COUNTED | rounds; ONE_ONLY of them: not this block.
 *
 * Rounds with the same number modulo WS_RACE_ROUNDS have one row. Its sum says that all blocks have come so far if none is that many rounds ahead. */
enum { COUNTED = 1 << 15, ROUNDS = COUNTED - 1, ONE_ONLY = ROUNDS, ROUND_WORD_AT = 16, MOST_EPOCHS = 1 << 16 };
enum { ROUND_AT = 40 };

HELPER u32 rounds_of(u32 released) { return released & ROUNDS; }
HELPER bool is_round_word(u32 released, u32 word) { return rounds_of(released) != ONE_ONLY && !((released >> ROUND_WORD_AT ^ word) & 0xffff); }

/* Is a release at that word to be counted? */
HELPER bool counts_release(u32 word)
{
	u32 released = BLOCK.released;

	return !released || (is_round_word(released, word) && rounds_of(released) < ONE_ONLY - 1 && !BLOCK.probe);
}

/* Does the launch have rounds, as far as the block knows? Then entries of several blocks must say when. */
HELPER bool has_rounds(void) { return BLOCK.released & COUNTED && rounds_of(BLOCK.released) != ONE_ONLY; }

HELPER void count_round(u32 n, const struct record *r, u32 index)
{
	u64 at = ALL_OF_LAUNCH(rounds[0]) + sizeof(struct ws_race_round) * (n % WS_RACE_ROUNDS), id = (u64)n << ROUND_AT | r->epoch, has, was;

	for (has = load64(at); has >> ROUND_AT < n; has = was) {
		was = cas64(at, has, id);
		if (was == has) {
			has = id;
			break;
		}
	}
	if (has != id || r->epoch >= MOST_EPOCHS || !scope_reaches(rec_scope(r), false))
		store32(ALL_OF_LAUNCH(uneven), 1);
	global_max32(at + __builtin_offsetof(struct ws_race_round, last), index + 1);
	global_max32(ALL_OF_LAUNCH(most), n);
	fence_gpu();
	fetch_add32(at + __builtin_offsetof(struct ws_race_round, blocks), 1);
	fence_gpu();                     /* who reads what is stored behind this finds it counted */
}

/* The block's first release. Is it that of all blocks? */
HELPER bool count_first(u32 word, const struct record *r, u32 index)
{
	u64 who = who_releases(word, r), was;

	if (!who || load32(ALL_OF_LAUNCH(grid)) != BLOCK.grid)
		return false;
	was = cas64(ALL_OF_LAUNCH(who), 0, who);
	if (was && was != who)
		return false;
	global_max32(ALL_OF_LAUNCH(last), index + 1);
	fence_gpu();
	fetch_add32(ALL_OF_LAUNCH(blocks), 1);
	return true;
}

HELPER u32 who_thread(u64 who) { return (u32)who >> ALL_THREAD_AT & (WS_RACE_MAX_THREADS - 1); }
HELPER u32 who_epoch(u64 who) { return (u32)who >> ALL_EPOCH_AT & (EPOCHS - 1); }
HELPER u32 who_sub(u64 who) { return (u32)who >> ALL_SUB_AT & (ALL_SUBS - 1); }
HELPER bool is_who_word(u64 who, u32 word) { return (who & ~ALL_ANY) >> ALL_WORD_AT == word; }

/* A thread has released, and that was number `index` of the word's chain. */
HELPER void count_release(u32 word, const struct record *r, u32 index)
{
	u32 released = BLOCK.released, n = rounds_of(released) + 1;
	u64 who;

	if (!counts_release(word) || (!released && shared_exchange32(IN_SHARED(__warpsafe_block.released), COUNTED | ONE_ONLY)))
		return;
	if (!released && !count_first(word, r, index))
		return;
	who = load64(ALL_OF_LAUNCH(who));
	if (!is_who_word(who, word) || who_thread(who) != rec_warp(r) * 32 + rec_lane(r))
		return;
	BLOCK.released = word << ROUND_WORD_AT | COUNTED | n;
	for (u32 warp = 0; n == 1 && warp < BLOCK.nwarps; warp++)
		set_flags(warp, NOW_ROUNDS);
	count_round(n, r, index);
}

SLOW void __warpsafe_count_release(u32 row, u32 index, u32 kind, u32 full, u32 epoch, u32 sub)
{
	struct record r = { .kind = kind, .full = full, .epoch = epoch, .sub = sub };

	count_release(row, &r, index);
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
	return load32(ALL_OF_LAUNCH(last)) <= counted && load32(ALL_OF_LAUNCH(grid)) == BLOCK.grid && is_who_word(who, word) ? who : 0;
}

/* The same of the round that the block has begun: the epoch in which all have released; 0 = not known, or nothing is before. */
HELPER u32 round_released(u32 word, u32 counted, u32 scope)
{
	u32 n = rounds_of(BLOCK.released), blocks = (u32)blocks_of_launch() * ((n + WS_RACE_ROUNDS - 1) / WS_RACE_ROUNDS);
	u64 at = ALL_OF_LAUNCH(rounds[0]) + sizeof(struct ws_race_round) * (n % WS_RACE_ROUNDS), id;

	if (!n || !is_round_word(BLOCK.released, word) || !scope_reaches(scope, false) || !BLOCK.lowest ||
	    load32(at + __builtin_offsetof(struct ws_race_round, blocks)) != blocks)
		return 0;
	fence_gpu();
	id = load64(at);
	if (id >> ROUND_AT != n || load32(at + __builtin_offsetof(struct ws_race_round, last)) > counted || load32(ALL_OF_LAUNCH(most)) >= n + WS_RACE_ROUNDS ||
	    load32(ALL_OF_LAUNCH(uneven)) || load32(ALL_OF_LAUNCH(grid)) != BLOCK.grid || !is_who_word(load64(ALL_OF_LAUNCH(who)), word))
		return 0;
	return (u32)id;
}

/* A thread has acquired the word with so many releases, in that epoch of its block. */
SLOW void __warpsafe_round_acquired(u32 word, u32 counted, u32 scope, u32 epoch)
{
	u32 ordered = round_released(word, counted, scope);

	if (ordered && epoch + 1 < MOST_EPOCHS)
		BLOCK.ordered = (epoch + 1) << 16 | ordered;
}

/* Below what epoch are accesses of all blocks before what a warp does in that epoch of its block? 0: none. */
HELPER u32 ordered_in(u32 epoch)
{
	u32 ordered = BLOCK.ordered;

	return epoch >= ordered >> 16 ? ordered & 0xffff : 0;
}

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

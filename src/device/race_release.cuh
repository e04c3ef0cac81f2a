/* race_release.cuh - what was released at words of memory (race.cu).
 *
 * A word has the chain of all its releases there ever were, newest first: an older value may still be read, and an atomic
 * goes on with the release that it finds. They are numbered from 0 (`index`). Those from DENSE on are also found by rows of
 * the table: the releases of a thread, of a warp, and of a block at a word. So "does the chain, as far as a thread has
 * seen it, cover that access?" takes a few looks, however long the chain is.
 *
 * The first DENSE of a chain are put there by CAS, in the order of their numbers, and are in no row. Many may want to release
 * at a word at once (a counter of blocks), and then nearly every CAS fails; whose does, and those that follow, take a number
 * by an addition, then their place by an exchange, and are linked to the one before when they know it. So a chain's order is
 * not quite that of the numbers: who has seen its newest has seen at most as many as were counted then, and that is what
 * acquires go by. Of those that are put there by CAS all but the last are below number DENSE - 1: once that is given, no CAS
 * succeeds.
 *
 * The list of a row has every release that was linked by an exchange but those that add nothing to an earlier one of it, so
 * what is neither there nor among the first DENSE is not in the chain.
 *
 * Most locks of a large table are taken once or twice. The first release of a word is *folded*, if it can be said in so many bits: it
 * stands in the word's row, in place of the chain, and has no record. Who comes next, to release or to acquire, makes a chain of it
 * (__warpsafe_unfold); a row that has a chain has one for ever. */
#ifndef WS_RACE_RELEASE_CUH
#define WS_RACE_RELEASE_CUH

#include "race_record.cuh"

enum { DENSE = 64, ROW_STEPS = 1024 };
enum { ROW_OF_WARP = WS_RACE_MAX_THREADS, ROW_OF_BLOCK = ROW_OF_WARP + WARPS, ROW_OF_WORD };  /* below: of a thread */

struct links {                   /* of a RELEASE */
	u32 index;
	u32 same[3];             /* the one before it in the list of its thread, of its warp, of its block */
};
enum { OF_THREAD, OF_WARP, OF_BLOCK };

HELPER u64 links_at(u32 number) { return record_at(RACE.nrecords + 1) + sizeof(struct ws_race_links) * (u64)number; }

HELPER struct links load_links(u32 number)
{
	struct links l;

	asm volatile("ld.volatile.global.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(l.index), "=r"(l.same[0]), "=r"(l.same[1]),
		     "=r"(l.same[2]) : "l"(links_at(number)) : "memory");
	return l;
}

/* ---- rows ---- */
HELPER u64 location_at(u32 n) { return RACE.locations + sizeof(struct ws_race_location) * (u64)n; }

/* Where a key is looked for first, and how far apart the further places are. What lies within BESIDE of each other, words of
 * memory or blocks that have released at one, is looked for side by side: a table of hundreds of megabytes has more pages
 * than a multiprocessor finds at once. Keys that meet part again at the second place. */
enum { BESIDE_LOG2 = 12, KIND_BITS = 2, BESIDE = 1 << BESIDE_LOG2 };
HELPER u32 place_mask(void) { return (1u << RACE.locations_log2) - 1; }

HELPER u32 first_place(u64 key)
{
	u32 far = (u32)((key >> (BESIDE_LOG2 + KIND_BITS)) * 0x9e3779b97f4a7c15ull >> 40);

	return (far << BESIDE_LOG2 ^ (u32)(key >> KIND_BITS)) & place_mask();
}

HELPER u32 next_place(u32 place, u64 key)
{
	return (place + ((u32)(key * 0xbf58476d1ce4e5b9ull >> 32) | 1)) & place_mask();
}

HELPER void load_location(u64 at, u64 *key, u64 *value)
{
	asm volatile("ld.volatile.global.v2.u64 {%0, %1}, [%2];" : "=l"(*key), "=l"(*value) : "l"(at) : "memory");
}

/* An empty place becomes the key's, if no other key is faster. Who has made it so need not look what it has: that was nothing, and
 * whoever goes on from it by a compare-and-swap learns better. */
HELPER bool take_place(u64 at, u64 key, u64 *value)
{
	u64 has = cas64(at, 0, key);

	if (!has) {
		fetch_add32(COUNTS(locations), 1);
		*value = 0;
		return true;
	}
	if (has == key)
		*value = load64(at + 8);
	return has == key;
}

/* The row of a key with what it has; 0 = there is none, and no room for one. */
HELPER u64 row_of(u64 key, bool insert, u64 *value)
{
	u32 n = first_place(key);

	for (u32 tries = 0; tries < 64 && tries <= place_mask(); tries++, n = next_place(n, key)) {
		u64 at = location_at(n), has;

		load_location(at, &has, value);
		if (__builtin_expect(has == key, 1))
			return at;
		if (!has && !insert)
			return 0;
		if (!has && take_place(at, key, value))
			return at;
	}
	return 0;
}

HELPER u64 location_of(u64 key, bool insert)
{
	u64 value;

	return row_of(key, insert, &value);
}

/* The row of a key with what it has now; 0 = it has none. */
HELPER u64 look_up(u64 key, u64 *value)
{
	u32 n = first_place(key);
	u64 at, has;

	*value = 0;
	for (u32 tries = 0; tries < 64 && tries <= place_mask(); tries++, n = next_place(n, key)) {
		at = location_at(n);
		load_location(at, &has, value);
		if (has == key)
			return at;
		if (!has)
			break;
	}
	*value = 0;
	return 0;
}

/* Its newest record; 0 = none. */
HELPER u32 newest_of(u64 key)
{
	u64 value;

	look_up(key, &value);
	return (u32)value;
}

HELPER u32 number_of_word(u64 at) { return (u32)((at - RACE.locations) / sizeof(struct ws_race_location)); }

HELPER u32 newest_in(u64 row) { return (u32)row; }
HELPER u32 counted_in(u64 row) { return (u32)(row >> 32); }

/* ---- folded releases ----
 * 1 | launch, low bits 14 | block 22 | warp 5 | lane 5 | epoch 6 | sub 5 | full 5 | scope 1 */
enum { FOLDED_GRID_AT = 49, FOLDED_BLOCK_AT = 27, FOLDED_LANE_AT = 17, FOLDED_EPOCH_AT = 11, FOLDED_SUB_AT = 6, FOLDED_FULL_AT = 1 };
enum { FOLDED_GRIDS = 1 << 14, FOLDED_BLOCKS = 1 << 22, FOLDED_EPOCHS = 64, FOLDED_SUBS = 32 };
static_assert(FOLDED_GRIDS >= WS_RACE_GRIDS, "they are enough for the table of launches");
HELPER bool is_folded(u64 row) { return row >> 63; }
HELPER u32 folded_grid(u64 row) { return (u32)(row >> FOLDED_GRID_AT) % FOLDED_GRIDS; }

/* A release of which no warp's list need be known; 0 = there are not so many bits. */
HELPER u64 folded(const struct record *r)
{
	if (r->block >= FOLDED_BLOCKS || r->epoch >= FOLDED_EPOCHS || (r->sub | r->full) >= FOLDED_SUBS ||
	    rec_scope(r) < WS_RACE_STRONG_GPU || rec_fenced(r))
		return 0;
	return 1ull << 63 | (u64)(r->grid % FOLDED_GRIDS) << FOLDED_GRID_AT | (u64)r->block << FOLDED_BLOCK_AT |
	       rec_warp(r) << (FOLDED_LANE_AT + 5) | rec_lane(r) << FOLDED_LANE_AT | r->epoch << FOLDED_EPOCH_AT | r->sub << FOLDED_SUB_AT |
	       r->full << FOLDED_FULL_AT | (rec_scope(r) > WS_RACE_STRONG_GPU);
}

/* The launch of which it is; 0 = one that has ended: a launch's row of the table stays as long as it lasts. */
HELPER u32 grid_of_folded(u64 row)
{
	u32 bits = folded_grid(row), grid = (u32)load64(COUNTS(ranges) + 8ull * (bits % WS_RACE_GRIDS));

	if (bits == BLOCK.grid % FOLDED_GRIDS)
		return BLOCK.grid;
	return bits == grid % FOLDED_GRIDS ? grid : 0;
}

HELPER struct record unfolded(u64 row)
{
	u32 scope = row & 1 ? WS_RACE_STRONG_SYS : WS_RACE_STRONG_GPU, thread = (u32)(row >> FOLDED_LANE_AT) & (WS_RACE_MAX_THREADS - 1);
	struct record r = { 0, REC_RELEASE | (thread & 31) << 8 | thread >> 5 << 16 | scope << 24, 0,
			    (u32)row >> FOLDED_FULL_AT & (FOLDED_SUBS - 1), (u32)row >> FOLDED_EPOCH_AT & (FOLDED_EPOCHS - 1),
			    (u32)row >> FOLDED_SUB_AT & (FOLDED_SUBS - 1), (u32)(row >> FOLDED_BLOCK_AT) & (FOLDED_BLOCKS - 1),
			    grid_of_folded(row) };

	return r;
}

/* The row becomes a chain. Where there is no room for the record, its launch is incomplete. (The thread may put a later release in its place
 * meanwhile, a few times at most: for it does no other until it has gone on.) */
SLOW u64 __warpsafe_unfold(u64 at, u64 row)
{
	u32 number = claim_record();
	u64 chain, was;

	for (;;) {
		struct record r = unfolded(row);

		chain = 1ull << 32;
		if (is_record(number)) {
			write_record(number, &r);
			chain |= number;
		} else {
			launch_is_incomplete(r.grid);
			unknown_from_here(warp_index());
		}
		fence_gpu();
		was = cas64(at + 8, row, chain);
		if (was == row)
			return chain;
		if (!is_folded(was))
			return was;
		row = was;
	}
}

/* Of a folded release that a thread may acquire: the chain that it becomes, or 0 where there is nothing to learn, since it is the
 * thread's own, or of another launch. */
SLOW u64 __warpsafe_unfold_for_others(u64 at, u64 row)
{
	struct record r = { .kind = lane_index() << 8 | warp_index() << 16 | (u32)WS_RACE_STRONG_GPU << 24, .block = BLOCK.block, .grid = BLOCK.grid };

	if (folded_grid(row) != BLOCK.grid % FOLDED_GRIDS || !((row ^ folded(&r)) >> FOLDED_LANE_AT))
		return 0;
	return __warpsafe_unfold(at, row);
}

/* The key of a list. Two lists may have the same one, by chance: then they are one list. Those of blocks that follow each
 * other have keys that do. */
HELPER u64 key_of_list(u32 word, u32 block, u32 who)
{
	u64 key = ((u64)word << 32 | block >> BESIDE_LOG2) * 0x9e3779b97f4a7c15ull;

	key = ((key ^ key >> 29) + who) * 0xbf58476d1ce4e5b9ull;
	return key << (BESIDE_LOG2 + KIND_BITS) | block % BESIDE << KIND_BITS | 3;
}

HELPER u32 list_of(u32 thread, u32 list)
{
	return list == OF_THREAD ? thread : list == OF_WARP ? ROW_OF_WARP + (thread >> 5) : ROW_OF_BLOCK;
}

/* Is r, of the list, as good as mine in all that the list is for, and before it in the chain? */
HELPER bool adds_nothing(u32 number, const struct record *mine, u32 index, u32 list)
{
	struct record r;

	if (!number || list == OF_THREAD)
		return false;
	r = load_record(number);
	if (load_links(number).index > index || r.grid != mine->grid || r.block != mine->block || rec_scope(&r) < rec_scope(mine))
		return false;
	return r.epoch > mine->epoch || (r.epoch == mine->epoch && (list == OF_BLOCK || r.full >= mine->full));
}

/* Lists may take half of the table: the other half is for words. */
HELPER void put_in_list(u32 word, u32 thread, u32 list, u32 number, const struct record *r, u32 index)
{
	bool room = load32(COUNTS(locations)) < 1u << (RACE.locations_log2 - 1);
	u64 at = location_of(key_of_list(word, r->block, list_of(thread, list)), room), old, was;

	if (!at) {
		tell_launch(r->grid, WS_RACE_LAUNCH_LISTS);
		return;
	}
	for (old = load64(at + 8);; old = was) {
		if (adds_nothing((u32)old, r, index, list))
			return;
		store32(links_at(number) + 4 + 4 * list, (u32)old);
		fence_gpu();
		was = cas64(at + 8, old, (u64)index << 32 | number);
		if (was == old)
			return;
	}
}

/* at_once: it was linked so. Most words never have so many releases: a call, which reads the record again, keeps that out of the way. */
SLOW void __warpsafe_put_in_lists(u32 word, u32 number, u32 index, bool at_once)
{
	struct record own = load_record(number);
	const struct record *r = &own;
	u32 thread = rec_warp(r) * 32 + rec_lane(r);
	u64 at;

	if (index == DENSE - 1) {
		at = location_of(key_of_list(word, 0, ROW_OF_WORD), true);
		if (at)
			store64(at + 8, (u64)index << 32 | number);
	}
	if (!at_once)
		return;
	put_in_list(word, thread, OF_THREAD, number, r, index);
	if (r->full)
		put_in_list(word, thread, OF_WARP, number, r, index);
	if (r->epoch)
		put_in_list(word, thread, OF_BLOCK, number, r, index);
	fence_gpu();
}

/* ---- to release ---- */
/* The thread's own newest release of the word, or if the chain is short any one's. */
HELPER u32 release_before(u32 word, u32 kind, u32 block, u64 newest)
{
	struct record r = { .kind = kind };

	if (counted_in(newest) <= DENSE)
		return newest_in(newest);
	return newest_of(key_of_list(word, block, rec_warp(&r) * 32 + rec_lane(&r)));
}

/* Has the word a release like this one, by the same thread? */
SLOW bool __warpsafe_same_release(u64 key, u32 kind, u32 block, u32 epoch, u32 sub, u32 full)
{
	u64 row, at = look_up(key, &row);
	u32 number = at && !is_folded(row) ? release_before(number_of_word(at), kind, block, row) : 0;
	struct record o = { 0, kind, 0, full, epoch, sub, block, BLOCK.grid };

	if (is_folded(row))
		return row == folded(&o);
	if (!number)
		return false;
	o = load_record(number);
	return o.kind == kind && o.full == full && o.epoch == epoch && o.sub == sub && o.block == block && o.grid == BLOCK.grid;
}

/* The record's place among the first of the chain; DENSE: there are those already, or others were faster. row: as it was
 * seen, and as the record has it. Such a record is in no list, and nobody asks for its place: it is not written down. */
HELPER u32 link_in_order(u64 at, u32 number, u64 row)
{
	enum { TRIES = 2 };
	u64 was;

	for (u32 n = 0; n < TRIES && counted_in(row) < DENSE; n++, row = is_folded(was) ? __warpsafe_unfold(at, was) : was) {
		if (n)
			store32(record_at(number), newest_in(row));
		fence_gpu();
		was = cas64(at + 8, row, (u64)(counted_in(row) + 1) << 32 | number);
		if (was == row)
			return counted_in(row);
	}
	return DENSE;
}

HELPER u32 link_at_once(u64 at, u32 number)
{
	u32 index = fetch_add32(at + 12, 1);

	store32(record_at(number), UNLINKED);
	store32(links_at(number), index);
	fence_gpu();
	store32(record_at(number), exchange32(at + 8, number));
	return index;
}

/* The record is written. Its number in the chain. row: as it was seen. */
HELPER u32 link_record(u64 at, u32 number, u64 row)
{
	u32 index = link_in_order(at, number, row);
	bool at_once = index == DENSE;

	if (at_once)
		index = link_at_once(at, number);
	if (__builtin_expect(index >= DENSE - 1 || at_once, 0))
		__warpsafe_put_in_lists(number_of_word(at), number, index, at_once);
	return index;
}

/* Before a strong write of a thread that has fenced, or one that releases itself: the record is there before the value
 * can be read. Its number is asked for before the row is, so that both trips go on together. (What was put in order is known there, for what its compare-and-swap found was waited for; a fence for the rest.) One
 * like it need not be there twice; first: there can be none. key: see location_key. What it became: row 0 = nothing new. */
struct released { u64 row; u32 index; };
HELPER struct released release(u64 key, struct record *r, bool first)
{
	struct released none = { 0, 0 };
	u32 number;
	u64 row, at;

	if (!first && __warpsafe_same_release(key, r->kind, r->block, r->epoch, r->sub, r->full))
		return none;
	number = claim_record();
	at = row_of(key, true, &row);
	if (!at) {
		launch_is_incomplete(BLOCK.grid);
		count_threads(COUNTS(records_missing));
		return none;
	}
	if (!is_record(number))
		return none;
	if (is_folded(row))
		row = __warpsafe_unfold(at, row);
	r->previous = newest_in(row);
	write_record(number, r);
	return (struct released){ at, link_record(at, number, row) };
}

/* ---- is an access covered? ---- */
struct target {                  /* the old access */
	struct place at;
	u32 lane;                /* ANY_LANE: of all lanes of its warp, together */
};
enum { ANY_LANE = 32 };

HELPER bool is_of_all(const struct target *t) { return TENSOR && t->lane == ANY_LANE; }
HELPER bool is_lane(const struct target *t, u32 lane) { return is_of_all(t) || t->lane == lane; }

/* A release and the acquire by a thread of a block, of that scope: do they synchronize? */
HELPER bool counts_for(const struct record *r, u32 block, u32 scope)
{
	u32 least = rec_scope(r) < scope ? rec_scope(r) : scope, from = real_block(r->block);

	return scope_reaches(least, from == block) || (least == WS_RACE_STRONG_CLUSTER && is_near(from) && is_near(block));
}

HELPER bool covers(const struct record *r, const struct target *t)
{
	if (r->grid != t->at.grid || r->block != t->at.block)
		return false;
	if (r->block & AGENT)
		return rec_warp(r) == t->at.warp && rec_lane(r) == t->lane && r->sub == t->at.sub;
	if (t->at.epoch != r->epoch)
		return t->at.epoch < r->epoch;
	return rec_warp(r) == t->at.warp && (t->at.sub < r->full || (is_lane(t, rec_lane(r)) && t->at.sub < r->sub));
}

/* n releases of the chain from `number` on. */
HELPER u32 in_chain(const struct target *t, u32 number, u32 n, u32 block, u32 scope)
{
	struct record r;

	for (; number && number != UNLINKED; number = record_behind(number, &r)) {
		r = load_record(number);
		if (counts_for(&r, block, scope) && covers(&r, t))
			return ORDERED;
		if (!--n)
			return r.previous ? UNDECIDED : UNORDERED;
	}
	return number ? UNDECIDED : UNORDERED;
}

/* Those of a list that are not behind `index`. lane: t's, or of one of all. */
HELPER u32 in_list_of(const struct target *t, u32 word, u32 list, u32 index, u32 block, u32 scope, u32 lane)
{
	u32 number = newest_of(key_of_list(word, t->at.block, list_of(t->at.warp * 32 + lane, list)));

	for (u32 n = 0; number && n < ROW_STEPS; n++) {
		struct record r = load_record(number);
		struct links l = load_links(number);

		if (l.index <= index && counts_for(&r, block, scope) && covers(&r, t))
			return ORDERED;
		if (list == OF_THREAD && !(r.kind & REC_AND_NEAR) && r.grid == t->at.grid && r.block == t->at.block && rec_warp(&r) == t->at.warp &&
		    rec_lane(&r) == lane && (r.epoch < t->at.epoch || (r.epoch == t->at.epoch && r.sub <= t->at.sub)))
			return UNORDERED;        /* all that are older are as well */
		number = l.same[list];
	}
	return number ? UNDECIDED : UNORDERED;
}

HELPER u32 in_list(const struct target *t, u32 word, u32 list, u32 index, u32 block, u32 scope)
{
	u32 least = UNORDERED, v;

	if (!is_of_all(t))
		return in_list_of(t, word, list, index, block, scope, t->lane);
	#pragma nounroll
	for (u32 lane = 0; lane < (list == OF_THREAD ? 32 : 1); lane++) {
		v = in_list_of(t, word, list, index, block, scope, lane);
		if (v == ORDERED)
			return ORDERED;
		least = v == UNDECIDED ? UNDECIDED : least;
	}
	return least;
}

HELPER u32 in_oldest(const struct target *t, u32 word, u32 block, u32 scope)
{
	u32 number = newest_of(key_of_list(word, 0, ROW_OF_WORD));

	return number ? in_chain(t, number, DENSE, block, scope) : (u32)UNDECIDED;
}

#endif

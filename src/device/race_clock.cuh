/* race_clock.cuh - what the warps of a block know of each other by mbarrier objects and barriers of a part of the block: vector clocks (race.cu).
 *
 * In kernels of which no fence, and no access that releases or acquires, has a scope beyond the block (WS_RACE_HAS_CLOCKS), order comes of
 * barriers of the block, syncs of warps, objects, barriers of a part, and fences and words within the block. The last are records, as ever
 * (race_order.cuh). Objects and parts have a row of clocks, one for each warp of the block: who arrives adds there what his warp knows, and
 * himself; who has waited adds the row to what his warp knows. So an arrival and a wait take as long in the thousandth round as in the first, and
 * whether an access is before is a look at one clock.
 *
 *     full     all lanes of the warp are known up to that time of theirs, which the last sync of the whole warp began
 *     at       ... and those of `lanes`, up to this one
 *
 * A time is tag | sub; a tag is how often the slot has had clocks, 12 | epoch 20. Clocks only go on, so what another block has left there is
 * older than all, and nothing is cleared (but where 12 bits end). What is known is known to the whole warp, and lanes of one clock are known up to
 * the latest of their times: that hides races where lanes of a warp go separate ways, and makes none.
 *
 * Rows: of each warp, what it knows; what was released at words, by anyone; what was known at the barrier of the block that ended the last even,
 * and odd, epoch; then two for each object, by the parity of its phase, and one for each barrier. */
#ifndef WS_RACE_CLOCK_CUH
#define WS_RACE_CLOCK_CUH

#include "race_record.cuh"

struct clock { u64 full, at, lanes; };

enum { MOST_KEYS = 64, KEYS_AT = 64, CLOCKS_AT = KEYS_AT + 8 * MOST_KEYS, CLOCK_USES_AT = 20, CLOCK_USES = 1 << 12, CLOCK_EPOCHS = 1 << CLOCK_USES_AT };
enum { CLOCK_OF_WORDS, CLOCKS_OF_BARRIERS, CLOCKS_OF_KEYS = CLOCKS_OF_BARRIERS + 2 };      /* behind those of the warps */
enum { WORDS_RELEASED = 1, CLOCKS_USED = 2 };    /* of clocks_used */
enum { KEY_OF_PART = 1 << 30 };

HELPER u64 clock_area(void) { return BLOCK.threads + WS_RACE_MAX_THREADS * WS_RACE_THREAD_BYTES; }
HELPER u64 clock_row(u32 row) { return clock_area() + CLOCKS_AT + (u64)sizeof(struct clock) * BLOCK.nwarps * row; }
HELPER u64 clock_in(u64 row, u32 warp) { return row + sizeof(struct clock) * warp; }
HELPER u64 other_clock_row(u32 which) { return clock_row(BLOCK.nwarps + which); }

HELPER u64 clock_time(u32 epoch, u32 sub) { return (u64)(BLOCK.clock_uses | (epoch < CLOCK_EPOCHS ? epoch : CLOCK_EPOCHS - 1)) << 32 | sub; }

/* By the block's first thread. */
SLOW void __warpsafe_begin_clocks(void)
{
	u32 uses = load32(clock_area()) + 1;

	if (uses == CLOCK_USES) {
		uses = 1;
		#pragma nounroll
		for (u32 at = 0; at < WS_RACE_CLOCK_BYTES; at += 8)
			store64(clock_area() + at, 0);
	}
	store32(clock_area(), uses);
	BLOCK.clock_uses = uses << CLOCK_USES_AT;
}

/* ---- rows of objects and barriers ---- */
/* As many objects and barriers as there is room for, in blocks of so many warps: 14 and more. */
HELPER u32 most_keys(void)
{
	u32 rows = (WS_RACE_CLOCK_BYTES - CLOCKS_AT) / (u32)sizeof(struct clock) / BLOCK.nwarps, keys = (rows - BLOCK.nwarps - CLOCKS_OF_KEYS) / 2;

	return keys < MOST_KEYS ? keys : MOST_KEYS;
}

/* The row of a key, or 0: it has none, or there is no room. */
HELPER u64 row_of_key(u32 key, u32 parity, bool insert)
{
	u64 mine = (u64)BLOCK.clock_uses << 32 | key;
	u32 most = most_keys(), k = key % most;

	for (u32 tries = 0; tries < most; tries++, k = k + 1 < most ? k + 1 : 0) {
		u64 at = clock_area() + KEYS_AT + 8 * k, has = load64(at), was;

		if (has != mine && has >> 32 == BLOCK.clock_uses)
			continue;
		if (has != mine) {
			if (!insert)
				return 0;
			was = cas64(at, has, mine);
			if (was != has && was != mine)
				continue;
		}
		return other_clock_row(CLOCKS_OF_KEYS + 2 * k + parity);
	}
	return 0;
}

/* ---- clocks ---- */
/* A reader takes what is in it in this order, a writer in the opposite one. */
HELPER struct clock load_clock(u64 at)
{
	struct clock c;

	c.lanes = load64(at + __builtin_offsetof(struct clock, lanes));
	c.at = load64(at + __builtin_offsetof(struct clock, at));
	c.full = load64(at + __builtin_offsetof(struct clock, full));
	return c;
}

/* What is there already is not written. Lanes of an earlier epoch than those there are forgotten: they are before `full`. */
HELPER void join_clock(u64 at, const struct clock *c)
{
	struct clock has = load_clock(at);
	u64 lanes = at + __builtin_offsetof(struct clock, lanes), tag = c->lanes >> 32;

	if (c->full > has.full)
		global_max(at + __builtin_offsetof(struct clock, full), c->full);
	if (c->at > has.at)
		global_max(at + __builtin_offsetof(struct clock, at), c->at);
	if (tag > has.lanes >> 32)
		global_max(lanes, tag << 32);
	if (tag > has.lanes >> 32 || (tag == has.lanes >> 32 && (u32)c->lanes & ~(u32)has.lanes))
		global_or(lanes, (u32)c->lanes);
}

/* All of a row is added to another one, by lanes of a warp that come together. */
HELPER void join_clocks(u64 to, u64 from, u32 lanes)
{
	u32 step = population(lanes), nwarps = BLOCK.nwarps;

	#pragma nounroll
	for (u32 w = population(lanes & lanes_below()); w < nwarps; w += step) {
		struct clock c = load_clock(clock_in(from, w));

		if (c.full >> (32 + CLOCK_USES_AT) == BLOCK.clock_uses >> CLOCK_USES_AT)     /* else nothing is known */
			join_clock(clock_in(to, w), &c);
	}
}

/* What the warp knows, and what these lanes of it have done. */
HELPER void release_clocks(u64 row, u32 warp, u32 lanes)
{
	u64 now = BLOCK.warps[warp].now;

	join_clocks(row, clock_row(warp), lanes);
	if (leads(lanes)) {
		struct place p = own_place(now, warp);
		u64 tag = clock_time(p.epoch, 0);
		struct clock mine = { tag | BLOCK.full[warp], tag | p.sub, tag | (now & NOW_PARTIAL ? (u32)-1 : lanes) };

		join_clock(clock_in(row, warp), &mine);
	}
	fence_block();
}

HELPER void acquire_clocks(u64 row, u32 warp, u32 lanes)
{
	fence_block();
	join_clocks(clock_row(warp), row, lanes);
	fence_block();
}

/* ---- hooks ---- */
/* Of the lanes that are here together, those of the same object. */
HELPER u32 same_object(u64 address)
{
	return lanes_with(activemask(), address);
}

HELPER u32 key_of_object(u64 address) { return ((u32)address >> 3 & 0x7fff) + 1; }
HELPER u32 key_of_part(u32 barrier) { return KEY_OF_PART | barrier; }

/* Before an arrival, by lanes that arrive together. The phase cannot be complete so far. */
SLOW void __warpsafe_clock_release(u32 key, u32 parity, u32 lanes)
{
	u32 warp = warp_index();
	u64 row = row_of_key(key, parity, true);

	if (leads(lanes)) {
		if (!(BLOCK.clocks_used & CLOCKS_USED))
			shared_or32(IN_SHARED(__warpsafe_block.clocks_used), CLOCKS_USED);
		if (!row)
			unknown_from_here(warp);
	}
	if (row)
		release_clocks(row, warp, lanes);
	warp_sync(lanes);
}

/* Behind a wait. */
SLOW void __warpsafe_clock_acquire(u32 key, u32 parity, u32 lanes)
{
	u32 warp = warp_index();
	u64 row = row_of_key(key, parity, false);

	if (row)
		acquire_clocks(row, warp, lanes);
	if (leads(lanes) && BLOCK.unknown)
		unknown_from_here(warp);         /* an arrival may have had no room */
	else if (leads(lanes) && row)
		set_flags(warp, NOW_ACQUIRED);
	warp_sync(lanes);
}

/* What is known is released at a word, by one of the lanes that are here. */
SLOW void __warpsafe_clock_of_word(void)
{
	u32 lanes = activemask();

	if (!BLOCK.threads || BLOCK.off || !BLOCK.warps[warp_index()].now)
		return;
	if (leads(lanes))
		shared_or32(IN_SHARED(__warpsafe_block.clocks_used), WORDS_RELEASED);
	release_clocks(other_clock_row(CLOCK_OF_WORDS), warp_index(), lanes);
}

/* Is there anything to hand on at a barrier of the block? */
HELPER bool clocks_meet(void) { return has_clocks() && BLOCK.threads && BLOCK.copies && BLOCK.clocks_used & CLOCKS_USED; }

/* By one lane of a warp that comes to a barrier of the block, in the epoch that it ends. Barriers order accesses; what is known of copies,
 * they hand on. */
SLOW void __warpsafe_clocks_meet(u32 warp)
{
	u32 epoch = place_of(BLOCK.warps[warp].now).epoch, lane = 1u << lane_index();
	u64 row = other_clock_row(CLOCKS_OF_BARRIERS + epoch % 2);

	join_clocks(row, clock_row(warp), lane);
	join_clocks(row, other_clock_row(CLOCKS_OF_BARRIERS + (epoch + 1) % 2), lane);
	fence_block();
}

/* ---- the question ---- */
enum { EACH_LANE = 32 };

HELPER bool clock_covers(u64 row, u32 warp, u32 lane, u64 time)
{
	struct clock c = load_clock(clock_in(row, warp));
	u32 all = lanes_of_warp(warp);

	return time < c.full || (time < c.at && (lane == EACH_LANE ? ((u32)c.lanes & all) == all : (u32)c.lanes >> lane & 1));
}

/* May it be known at all, by any lane? */
HELPER bool clock_reaches(u64 row, u32 warp, u64 time) { return time < load_clock(clock_in(row, warp)).at; }

/* Was that released at a word? Then others may know it by records. */
HELPER bool known_by_words(u32 warp, u64 time)
{
	return BLOCK.clocks_used & WORDS_RELEASED && clock_reaches(other_clock_row(CLOCK_OF_WORDS), warp, time);
}

/* An access of a warp of the block, or that one of its copies arrived then: does the warp that asks know it? */
HELPER bool knows(u32 me, u32 my_epoch, u32 warp, u32 lane, u64 time)
{
	return clock_covers(clock_row(me), warp, lane, time) ||
	       (my_epoch && BLOCK.copies && clock_covers(other_clock_row(CLOCKS_OF_BARRIERS + (my_epoch - 1) % 2), warp, lane, time));
}

/* One that several lanes of a warp have done at that time. */
SLOW u32 __warpsafe_clock_of_lanes(u32 warp, u32 epoch, u32 sub, u32 me)
{
	u64 time = clock_time(epoch, sub);

	if (!BLOCK.threads)
		return UNDECIDED;        /* a block without a slot has no clocks */
	if (clock_covers(clock_row(me), warp, EACH_LANE, time))
		return ORDERED;
	return clock_reaches(clock_row(me), warp, time) || known_by_words(warp, time) ? UNDECIDED : UNORDERED;
}

#endif

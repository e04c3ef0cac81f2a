/* race_taken.cuh - writes of words in launches in which no read of global memory is checked, and all writes that are checked are plain
 * ones of words (race.cu; docs/REWRITE.md, "Writes where nothing is read"). No R says anything there, so W is entered without a look at
 * it before, and what was there says the rest. Such a launch is compared with no other one.
 *
 * By an exchange (race_write_unread_global): the writes of a word are a chain of which each is compared with the one before. If all these pairs
 * are ordered, so are all others.
 *
 * By the pass race-bits (race_write_first_global) a number for each line, launch 32 | words 32, says which words somebody has come to write
 * in the launch. Who sets a word's bit is its first writer, and enters W by a store that nobody waits for; all others exchange, as above.
 * Why of a word with writes that nothing orders at least one pair is compared, or counted as not known:
 *
 * - All writes that are checked set their bits before they enter anything, so there is one first writer, F. It stores only if it has
 *   seen the line's cells before it set the bit, else it goes on as in other launches: it compares when it enters, as others then do.
 *   Who finds the bit set by such a writer finds the cells, too, for they were there before.
 * - If F's store comes before all exchanges, the chain is the one above.
 * - Else the first exchange, E, finds an entry that is of no thread of the launch. F is not before E then: what orders threads orders
 *   F's store and E's exchange of the same word as well. Nor is E before F, which would have found E's bit. E waits until something takes
 *   its entry's place, and compares that: F's entry; or that of another exchange, which has found E's. That one is not ordered with E
 *   either, for E's thread still waits here. If nothing comes for a while, that is counted.
 *
 * No race is made up: each entry is of a write of its thread at its time, whenever it arrives.
 *
 * Launches have rising numbers, as far as no graph is launched. One that finds a number above its own takes all words for written, and then there is no
 * F to wait for: all of it is as by exchanges. */
#ifndef WS_RACE_TAKEN_CUH
#define WS_RACE_TAKEN_CUH

HELPER u64 entry_of_write(u32 self, u64 now, u32 what, u32 site)
{
	return (now >> SUB_AT << SUB_AT) | (u64)(self & 31) << LANE_AT | WS_RACE_CLASS_OF(what) << W_CLASS_AT | 15u << W_BYTES_AT |
	       (site & (W_SITES - 1));
}

/* w: what the cell had, of this launch, or of one that may overlap it. A warp that has come to a word that is passed over goes on with checks
 * that look before they write. */
SLOW void __warpsafe_wrote_over(u32 self, u64 at, u64 address, u32 what, u32 site, u32 value, u64 w)
{
	struct me m = access_of(BLOCK.warps[(self - self_of(0)) >> 5].now, what, site);
	struct word d = { at, address, 15 };

	if (!m.now)
		return;
	if (w_class(w) == W_OFTEN)
		set_flags(m.warp, NOW_OFTEN);
	if (is_passed_over(w, BLOCK.grid))
		cas64(at, entry_of_write(self, m.now, what, site), w);
	else
		check_write(&d, &m, w, 0, true, value);
}

INLINED void race_write_unread_global(u32 self, u64 address, u32 what, u32 site, u64 v0, u64 v1)
{
	u64 now = shared_load64((self & ~31u) + __builtin_offsetof(struct warp, now)), at = 0, mine, was;

	(void)v1;
	if ((now & (NOW_ENTERED | NOW_OFTEN)) == NOW_ENTERED)
		at = cell_at_once(address);
	if (!at) {                       /* a line that the warp covers, or has no cells */
		if (activemask() == 0xffffffff || !now)
			__warpsafe_write4_global(self, address, what, site, v0);
		else
			__warpsafe_write_on(self, 0, address, what, site, v0, 0, 0, 0);
		return;
	}
	note_own(self, (u32)v0);
	mine = entry_of_write(self, now, what, site);
	was = exchange64(at, mine);
	if (segment_of(was) >= BLOCK.floor && high(was) != high(mine))
		__warpsafe_wrote_over(self, at, address, what, site, (u32)v0, was);
}

/* ---- the bits ---- */
HELPER u64 taken_of_line(u64 line) { return RACE.taken + (line - RACE.lines) / 2; }

/* Which of the words were taken before. Bits beside an older number say nothing, and a new number takes them away. */
HELPER u32 take_words(u64 line, u32 words)
{
	u32 grid = BLOCK.grid;
	u64 at = taken_of_line(line), was = fetch_or64(at, words);

	if ((u32)(was >> 32) != grid) {
		global_max(at, (u64)grid << 32);
		was = fetch_or64(at, words);
	}
	return (u32)(was >> 32) == grid ? (u32)was & words : words;
}

/* Words side by side by all lanes of a warp: one lane for each of the two lines that they may lie in. first: address of lane 0. */
HELPER u32 take_side_by_side(u64 line, u32 first, u32 lane)
{
	u32 begin = first >> 2 & 31, next = 32 - begin, leader = lane < next ? 0 : next, was = 0;

	if (lane == leader)
		was = take_words(line, leader ? (1u << begin) - 1 : 0xffffffff << begin);
	was = of_lane(0xffffffff, leader, was);
	return was >> ((begin + lane) & 31) & 1;
}

/* Not 0: the word was taken before. line: of the address; not 0. */
HELPER u32 take_word(u64 line, u64 address, u32 lane)
{
	u64 first = address - 4 * lane;

	if (activemask() == 0xffffffff && all_lanes_have(first))
		return take_side_by_side(line, (u32)first, lane);
	return take_words(line, 1u << ((u32)address >> 2 & 31));
}

/* By a thread of this launch? */
HELPER bool is_of_launch(u64 w) { return !is_of_past(w) && beginning(segment_of(w)).grid == BLOCK.grid; }

/* My entry has taken the place of one of no thread of the launch. What has come then, and mine stands there again; mine: nothing has. */
HELPER u64 first_to_come(u64 cell, u64 line, u64 mine)
{
	enum { LEAST_NS = 1000000 };
	u64 begin = nanoseconds(), w = mine;

	if (load64(taken_of_line(line)) >> 32 != BLOCK.grid)
		return mine;             /* nobody stores without a look */
	#pragma nounroll
	for (u32 k = 0; w == mine && (k < VALUE_TRIES || nanoseconds() - begin < LEAST_NS); k++)
		w = load64(cell);
	if (w != mine)
		return exchange64(cell, mine);
	count_threads(COUNTS(undecided));
	return mine;
}

/* Somebody has come to write the word before, or may have; the line has cells. */
HELPER void write_again(u32 self, u64 line, u64 cell, u64 address, u32 what, u32 site, u32 value)
{
	struct me m = access_of(BLOCK.warps[(self - self_of(0)) >> 5].now, what, site);
	u64 mine = entry_of_write(self, m.now, what, site), w;
	struct word d = { cell, address, 15 };

	set_flags(m.warp, NOW_ENTERED);
	note_own(self, value);
	w = exchange64(cell, mine);
	if (!is_of_launch(w))
		w = first_to_come(cell, line, mine);
	if (w_class(w) == W_OFTEN)
		set_flags(m.warp, NOW_OFTEN);
	if (is_passed_over(w, BLOCK.grid))
		cas64(cell, mine, w);    /* else they take it from each other for ever */
	else if (high(w) != high(mine))  /* not by the thread itself */
		check_write(&d, &m, w, 0, true, value);
}

/* What does not end at the access. line: 0 if the bit has not been asked for; then it is now. */
SLOW void __warpsafe_write_not_first(u32 self, u64 line, u32 taken, u64 address, u32 what, u32 site, u32 value)
{
	u64 now = BLOCK.warps[(self - self_of(0)) >> 5].now, cell = 0;

	if (!line && now && RACE.taken) {
		line = line_of(address);
		taken = line ? take_word(line, address, self & 31) : 0;
	}
	if (now && line && taken && is_expanded(load64(line)))
		cell = cell_by(load64(line), address);
	if (cell && now & NOW_OFTEN && is_of_launch(load64(cell)))
		cell = 0;                /* who has been told of words that are passed over looks before he writes */
	if (cell)
		write_again(self, line, cell, address, what, site, value);
	else
		__warpsafe_write4_global(self, address, what, site, value);
}

INLINED void race_write_first_global(u32 self, u64 address, u32 what, u32 site, u64 v0, u64 v1)
{
	u64 now = shared_load64((self & ~31u) + __builtin_offsetof(struct warp, now)), line = now && RACE.taken ? line_at_once(address) : 0;
	u64 entry = line ? load64_stable(line) : 0;
	u32 taken = 1;
	bool first;

	(void)v1;
	if (!is_expanded(entry))
		line = 0;
	else
		taken = take_word(line, address, self & 31);
	if (line)
		note_own(self, (u32)v0);
	first = line && !taken && (now & (NOW_ENTERED | NOW_OFTEN)) == NOW_ENTERED;
	store64_if(first, cell_by(entry, address), entry_of_write(self, now, what, site));
	if (!first)
		__warpsafe_write_not_first(self, line, taken, address, what, site, (u32)v0);
}

#endif

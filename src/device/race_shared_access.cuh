/* race_shared_access.cuh - accesses to shared memory of which the cells lie in shared memory, too (race_shared.cuh). What nearly always suffices is a function of
 * some seventy instructions that calls nothing: else it would keep six to ten registers in memory each time. It says what is left, and that is a further call
 * at the access. (At each access in place of a call it is slower, for a check has two hundred instructions in all: docs/PERFORMANCE.md, "Shared memory by calls".) */
#ifndef WS_RACE_SHARED_ACCESS_CUH
#define WS_RACE_SHARED_ACCESS_CUH

/* A word's cell was entered by a write, and these were found: not all of it is before. noted, tag: see struct wrote. */
SLOW void __warpsafe_shared_judge(u64 address, u32 what, u32 site, u32 value, u32 noted, u32 tag, u64 w, u64 r)
{
	u32 self = race_thread();
	struct here h = here(self);
	u64 now = BLOCK.warps[warp_index()].now;
	struct word d = { 0, address, bytes_of((u32)address, WS_RACE_BYTES_OF(what)) };
	struct wrote v = { !(what & WS_RACE_RMW), value, noted, tag };
	struct me m;

	if (!now || !h.time || (w_is_fine(w, self, &h, what) && r_is_fine(r, self, &h, what)))
		return;
	m = access_of(now, what, site);
	check_shared_write(&d, &m, &h, w, r, &v);
}

/* At a write of a word, or of bytes in it. w is NOT_ENTERED: nothing was done so far; else as above. value: of the word's bytes, where
 * they are. */
#define NOT_ENTERED (~0ull)
SLOW void __warpsafe_shared_wrote(u64 address, u32 what, u32 site, u64 value, u64 w, u64 r)
{
	if (w == NOT_ENTERED) {
		if (what & WS_RACE_RMW)
			__warpsafe_atomic(address, what, site);
		else
			__warpsafe_write(address, what, site, value >> 8 * (WS_RACE_BYTES_OF(what) < 4 ? (u32)address & 3 : 0), 0);
		return;
	}
	__warpsafe_shared_judge(address, what, site, (u32)value, (u32)value, tag_of(address, what, site), w, r);
}

/* What is left of a write by a function that returns what W was. */
#define IS_FINE (~1ull)
SLOW void __warpsafe_shared_left(u32 self, u64 address, u32 what, u32 site, u64 value, u64 w)
{
	struct here h = here(self);

	__warpsafe_shared_wrote(address, what, site, value, w, w == NOT_ENTERED ? 0 : shared_load64(w_cell(&h, (u32)address) + h.reads));
}

/* Of a read that is entered, or is by the lane that does it for this one: is W before it? */
HELPER bool w_is_before_read(u64 w, u32 self, const struct here *h, u32 bytes, u32 what)
{
	bool others = bytes != 15 && !((u32)w & ((u32)SHARED_COPY | bytes << W_BYTES_AT));

	return w_is_fine(w, self, h, what) || others;
}

SLOW void __warpsafe_observed(u32 self)
{
	set_flags((self - self_of(0)) >> 5, NOW_OBSERVED_SHARED);
}

/* By a strong access: always true. What an atomic finds is judged before, for what it has observed is before what the thread does from then on. */
HELPER bool observes_here(u32 self)
{
	if (!has_observed(self))
		__warpsafe_observed(self);
	return true;
}

/* Enters the read of a word; false: it is not entered, or W is not before it. No lane leaves before the others have what they
 * need of it. */
HELPER bool read_word_here(const struct here *h, u32 self, u32 offset, u32 what, u32 site, enum reading how)
{
	u32 at = w_cell(h, offset), mine = read_low(self, 15, what, site), heads;
	u64 r = shared_load64(at + h->reads);
	bool fine = true;

	if (!is_entered(r, mine, h->time, 15, false)) {
		heads = heads_of_runs(self, offset);
		if (is_head(heads, self))
			fine = enter_read(h, at, r, mine, self, 15, how, is_for_several(heads, self));
		if (heads != EACH_FOR_ITSELF)
			fine = of_run(heads, self, fine);
	}
	return w_is_before_read(shared_load64(at), self, h, 15, what) & fine;
}

/* n words; with WS_RACE_FOUR each has a site of its own. */
HELPER bool enter_words(const struct here *h, u32 self, u32 offset, u32 n, u32 what, u32 site, enum reading how)
{
	bool fine = h->time;

	#pragma nounroll
	for (u32 k = 0; k < n && h->time; k++)
		fine &= read_word_here(h, self, offset + 4 * k, what, site + (what & WS_RACE_FOUR ? k : 0), how);
	return fine;
}

HELPER bool read_words_here(u32 self, u32 offset, u32 n, u32 what, u32 site, enum reading how)
{
	struct here h = here(self);

	if (h.time && WS_RACE_CLASS_OF(what))
		observes_here(self);
	return enter_words(&h, self, offset, n, what, site, how);
}

/* At a read of several words, or where more is to be looked at than at the access. */
SLOW void __warpsafe_read_shared_on(u32 self, u64 address, u32 what, u32 site)
{
	if (!read_words_here(self, (u32)address, words_of(what), what, site, UNTIL_ENTERED))
		__warpsafe_read(address, what, site);
}

HELPER void note_here(const struct here *h, u32 self, u32 offset, u32 what, u32 site, u32 noted)
{
	shared_store_two(h->values + 8 * self, noted, tag_of(offset, what, site));
}

#include "race_shared_rows.cuh"

/* Enters the write; w, r: what its cell had. False: not all of it is before. */
HELPER bool write_word_here(const struct here *h, u32 self, u32 offset, u32 what, u32 site, u64 *w, u64 *r)
{
	enter_write(h, self, offset, what, site, w, r);
	if ((u32)is_before(*w, self, h->time, SAME_THREAD) & (u32)is_before(*r, self, h->time, SAME_READER))
		return true;
	return (u32)w_is_fine(*w, self, h, what) & (u32)r_is_fine(*r, self, h, what);
}

SLOW void __warpsafe_write_four_shared(u32 self, u64 address, u32 what, u32 site, u64 v0, u64 v1)
{
	struct here h = here(self);
	struct wrote v = wrote_all(address, what, site, v0, v1);
	u64 w, r;

	if (!h.time) {
		__warpsafe_write(address, what, site, v0, v1);
		return;
	}
	note_here(&h, self, (u32)address, what, site, v.noted);
	#pragma nounroll
	for (u32 k = 0; k < 4; k++) {
		if (!write_word_here(&h, self, (u32)address + 4 * k, what, site, &w, &r))
			__warpsafe_shared_judge(address + 4 * k, what, site, (u32)v0, v.noted, v.tag, w, r);
		v0 = v0 >> 32 | v1 << 32;
		v1 >>= 32;
	}
}

/* The same of 8 bytes. */
SLOW void __warpsafe_atomic_two_shared(u32 self, u64 address, u32 what, u32 site)
{
	struct here h = here(self);
	u64 w, r;

	if (!h.time) {
		__warpsafe_atomic(address, what, site);
		return;
	}
	#pragma nounroll
	for (u32 k = 0; k < 2; k++)
		if (!write_word_here(&h, self, (u32)address + 4 * k, what, site, &w, &r))
			__warpsafe_shared_judge(address + 4 * k, what, site, 0, 0, 0, w, r);
	observes_here(self);
}

/* ---- at the access ----
 * Most reads are entered by the first of these two; where another thread was faster at that, by the second. */
SLOW u32 __warpsafe_read4_shared(u32 self, u32 offset, u32 site)
{
	return read_words_here(self, offset, 1, 0, site, ONCE);
}

SLOW u32 __warpsafe_read4_again(u32 self, u32 offset, u32 site)
{
	return read_words_here(self, offset, 1, 0, site, UNTIL_ENTERED);
}

INLINED void race_read4_shared(u32 self, u64 address, u32 what, u32 site)
{
	if (!__warpsafe_read4_shared(self, (u32)address, site) && !__warpsafe_read4_again(self, (u32)address, site))
		__warpsafe_read(address, what, site);
}

/* W as it was, if more is to be looked at; or NOT_ENTERED, IS_FINE. */
SLOW u64 __warpsafe_write4_shared(u32 self, u32 offset, u32 what, u32 site, u32 value)
{
	struct here h = here(self);
	u64 w, r;

	if (!h.time)
		return NOT_ENTERED;
	note_here(&h, self, offset, WS_RACE_BYTES(4), site, value);
	return write_word_here(&h, self, offset, what & WS_RACE_CLASS(15), site, &w, &r) ? IS_FINE : w;
}

INLINED void race_write4_shared(u32 self, u64 address, u32 what, u32 site, u64 v0, u64 v1)
{
	u64 w = __warpsafe_write4_shared(self, (u32)address, what, site, (u32)v0);

	(void)v1;
	if (w != IS_FINE)
		__warpsafe_shared_left(self, address, what, site, v0, w);
}

/* Of two words, each as above. */
struct two { u64 w0, w1; };
SLOW struct two __warpsafe_write8_shared(u32 self, u32 offset, u32 what, u32 site, u64 value)
{
	struct here h = here(self);
	struct two t = { NOT_ENTERED, NOT_ENTERED };
	u64 w, r;

	if (!h.time)
		return t;
	note_here(&h, self, offset, WS_RACE_BYTES(8), site, all_of((u32)value, (u32)(value >> 32)));
	t.w0 = write_word_here(&h, self, offset, what & WS_RACE_CLASS(15), site, &w, &r) ? IS_FINE : w;
	t.w1 = write_word_here(&h, self, offset + 4, what & WS_RACE_CLASS(15), site, &w, &r) ? IS_FINE : w;
	return t;
}

SLOW void __warpsafe_shared_left_two(u32 self, u64 address, u32 what, u32 site, u64 value, u64 w0, u64 w1)
{
	struct here h = here(self);
	u32 noted = all_of((u32)value, (u32)(value >> 32)), tag = tag_of(address, what, site), at = w_cell(&h, (u32)address) + h.reads;

	if (w0 == NOT_ENTERED && w1 == NOT_ENTERED) {
		__warpsafe_write(address, what, site, value, 0);
		return;
	}
	if (w0 != IS_FINE)
		__warpsafe_shared_judge(address, what, site, (u32)value, noted, tag, w0, shared_load64(at));
	if (w1 != IS_FINE)
		__warpsafe_shared_judge(address + 4, what, site, (u32)(value >> 32), noted, tag, w1, shared_load64(at + 8));
}

INLINED void race_write_shared(u32 self, u64 address, u32 what, u32 site, u64 v0, u64 v1)
{
	u32 bytes = WS_RACE_BYTES_OF(what);
	struct two t;

	if (bytes == 16) {
		__warpsafe_write_four_shared(self, address, what, site, v0, v1);
		return;
	}
	if (bytes == 4) {
		race_write4_shared(self, address, what, site, v0, v1);
		return;
	}
	t = __warpsafe_write8_shared(self, (u32)address, what, site, v0);
	if (t.w0 != IS_FINE || t.w1 != IS_FINE)
		__warpsafe_shared_left_two(self, address, what, site, v0, t.w0, t.w1);
}

/* Of one word or two. */
SLOW u32 __warpsafe_read_shared(u32 self, u32 offset, u32 what, u32 site)
{
	struct here h = here(self);

	return (!WS_RACE_CLASS_OF(what) || has_observed(self)) &&
	       enter_words(&h, self, offset, WS_RACE_BYTES_OF(what) == 8 ? 2 : 1, what, site, UNTIL_ENTERED);
}

INLINED void race_read_shared(u32 self, u64 address, u32 what, u32 site)
{
	if (WS_RACE_BYTES_OF(what) > 8 || !__warpsafe_read_shared(self, (u32)address, what, site))
		__warpsafe_read_shared_on(self, address, what, site);
}

/* Of a word: as __warpsafe_write4_shared. IS_FINE: the warp has been noted to observe, too. */
#define ONLY_OBSERVES (~2ull)
SLOW u64 __warpsafe_atomic4_shared(u32 self, u32 offset, u32 what, u32 site)
{
	struct here h = here(self);
	u64 w, r;

	if (!h.time)
		return NOT_ENTERED;
	if (!write_word_here(&h, self, offset, what, site, &w, &r))
		return w;
	return has_observed(self) ? IS_FINE : ONLY_OBSERVES;
}

SLOW void __warpsafe_atomic_left(u32 self, u64 address, u32 what, u32 site, u64 w)
{
	if (w != ONLY_OBSERVES)
		__warpsafe_shared_left(self, address, what, site, 0, w);
	if (w != NOT_ENTERED)
		observes_here(self);
}

INLINED void race_atomic_shared(u32 self, u64 address, u32 what, u32 site)
{
	u64 w;

	if (WS_RACE_BYTES_OF(what) == 8) {
		__warpsafe_atomic_two_shared(self, address, what, site);
		return;
	}
	if (WS_RACE_BYTES_OF(what) != 4) {
		__warpsafe_atomic(address, what, site);
		return;
	}
	w = __warpsafe_atomic4_shared(self, (u32)address, what, site);
	if (w != IS_FINE)
		__warpsafe_atomic_left(self, address, what, site, w);
}

#endif

/* race_shared_access.cuh - accesses to shared memory of which the cells lie in shared memory, too (race_shared.cuh): what nearly always suffices stands at
 * the access, the rest is a call (race.cu). */
#ifndef WS_RACE_SHARED_ACCESS_CUH
#define WS_RACE_SHARED_ACCESS_CUH

/* Of what a write has found: by barriers, by the same thread or warp. */
HELPER bool is_fine_or_before_sync(const struct here *h, u64 w, u64 r, u32 what)
{
	u32 self = race_thread();

	return (w_is_fine(w, self, h->time, what) || is_before_sync(w, self)) && (r_is_fine(r, self, h->time, what) || r_is_before_sync(r, self));
}

/* A word's cell was entered by a write, and these were found: not all of it is before. noted, tag: see struct wrote. */
SLOW void __warpsafe_shared_judge(u64 address, u32 what, u32 site, u32 value, u32 noted, u32 tag, u64 w, u64 r)
{
	u32 warp = warp_index();
	struct here h = here(self_of(warp * 32));
	u64 now = BLOCK.warps[warp].now;
	struct word d = { 0, address, bytes_of((u32)address, WS_RACE_BYTES_OF(what)) };
	struct wrote v = { !(what & WS_RACE_RMW), value, noted, tag };
	struct me m;

	if (!now || !h.time || is_fine_or_before_sync(&h, w, r, what))
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

/* The same of 8 bytes. */
SLOW void __warpsafe_shared_wrote_two(u64 address, u32 what, u32 site, u64 value, u64 w0, u64 r0, u64 w1, u64 r1)
{
	u32 low = (u32)value, high = (u32)(value >> 32), noted = all_of(low, high), tag = tag_of(address, what, site);

	__warpsafe_shared_judge(address, what, site, low, noted, tag, w0, r0);
	__warpsafe_shared_judge(address + 4, what, site, high, noted, tag, w1, r1);
}

/* Of a read that is entered, or is by the lane that does it for this one: is W before it? */
HELPER bool w_is_before_read(u64 w, u32 self, u32 time, u32 bytes, u32 what, bool synced)
{
	bool others = bytes != 15 && !((u32)w & ((u32)SHARED_COPY | bytes << W_BYTES_AT));

	return w_is_fine(w, self, time, what) || others || (synced && is_before_sync(w, self));
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
 * need of it. At the place lanes that read each a word of its own, as most do, have a way without the questions of the others. */
HELPER bool read_word_here(const struct here *h, u32 self, u32 offset, u32 what, u32 site, enum reading how)
{
	u32 at = w_cell(h, offset), mine = read_low(self, 15, what, site), heads;
	u64 r = shared_load64(at + h->reads), w = 0;
	bool fine = true;

	if (is_entered(r, mine, h->time, 15, false)) {
		w = shared_load64(at);
	} else {
		heads = heads_of_runs(self, offset);
		if (how == AT_PLACE && heads == EACH_FOR_ITSELF) {
			fine = enter_read(at, h->reads, r, mine, self, h->time, 15, how, false, &w);
		} else {
			if (is_head(heads, self))
				fine = enter_read(at, h->reads, r, mine, self, h->time, 15, how, is_for_several(heads, self), 0);
			if (heads != EACH_FOR_ITSELF)
				fine = of_run(heads, self, fine);
			w = shared_load64(at);
		}
	}
	return w_is_before_read(w, self, h->time, 15, what, how == BEHIND_SYNC) & fine;
}

/* n words; with WS_RACE_FOUR each has a site of its own. */
HELPER bool read_words_here(u32 self, u32 offset, u32 n, u32 what, u32 site, enum reading how)
{
	struct here h = here(self);
	bool fine = h.time && (!WS_RACE_CLASS_OF(what) || observes_here(self));

	#pragma nounroll
	for (u32 k = 0; k < n && h.time; k++)
		fine &= read_word_here(&h, self, offset + 4 * k, what, site + (what & WS_RACE_FOUR ? k : 0), how);
	return fine;
}

/* At a read of several words, or where more is to be looked at than at the access. */
SLOW void __warpsafe_read_shared_on(u32 self, u64 address, u32 what, u32 site)
{
	if (!read_words_here(self, (u32)address, words_of(what), what, site, BEHIND_SYNC))
		__warpsafe_read(address, what, site);
}

HELPER void note_here(const struct here *h, u32 self, u32 offset, u32 what, u32 site, u32 noted)
{
	shared_store_two(h->values + 8 * self, noted, tag_of(offset, what, site));
}

#include "race_shared_rows.cuh"

HELPER void read_shared(u32 self, u64 address, u32 what, u32 site, enum reading how)
{
	u32 bytes = WS_RACE_BYTES_OF(what);

	if (bytes > 8 || !read_words_here(self, (u32)address, bytes == 8 ? 2 : 1, what, site, how))
		__warpsafe_read_shared_on(self, address, what, site);
}

INLINED void race_read_shared(u32 self, u64 address, u32 what, u32 site) { read_shared(self, address, what, site, AT_PLACE); }

/* Enters the write; w, r: what its cell had. False: not all of it is before. */
HELPER bool write_word_here(const struct here *h, u32 self, u32 offset, u32 what, u32 site, u64 *w, u64 *r)
{
	enter_write(h, self, offset, what, site, w, r);
	return (u32)w_is_fine(*w, self, h->time, what) & (u32)r_is_fine(*r, self, h->time, what);
}

HELPER void write_two_words(u32 self, u64 address, u32 what, u32 site, u64 v0)
{
	struct here h = here(self);
	u64 w0, r0, w1, r1;
	bool before;

	if (!h.time) {
		__warpsafe_write(address, what, site, v0, 0);
		return;
	}
	note_here(&h, self, (u32)address, what, site, all_of((u32)v0, (u32)(v0 >> 32)));
	before = write_word_here(&h, self, (u32)address, what, site, &w0, &r0);
	before &= write_word_here(&h, self, (u32)address + 4, what, site, &w1, &r1);
	if (!before)
		__warpsafe_shared_wrote_two(address, what, site, v0, w0, r0, w1, r1);
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

INLINED void race_write_shared(u32 self, u64 address, u32 what, u32 site, u64 v0, u64 v1)
{
	u32 bytes = WS_RACE_BYTES_OF(what);
	struct here h;
	u64 w = NOT_ENTERED, r = 0;

	if (bytes == 16) {
		__warpsafe_write_four_shared(self, address, what, site, v0, v1);
		return;
	}
	if (bytes == 8) {
		write_two_words(self, address, what, site, v0);
		return;
	}
	h = here(self);
	if (h.time) {
		note_here(&h, self, (u32)address, what, site, (u32)v0);
		if (write_word_here(&h, self, (u32)address, what, site, &w, &r))
			return;
	}
	__warpsafe_shared_wrote(address, what, site, v0, w, r);
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

INLINED void race_atomic_shared(u32 self, u64 address, u32 what, u32 site)
{
	struct here h;
	u64 w = NOT_ENTERED, r = 0;
	bool fine = false;

	if (WS_RACE_BYTES_OF(what) == 8) {
		__warpsafe_atomic_two_shared(self, address, what, site);
		return;
	}
	if (WS_RACE_BYTES_OF(what) != 4) {
		__warpsafe_atomic(address, what, site);
		return;
	}
	h = here(self);
	if (h.time)
		fine = write_word_here(&h, self, (u32)address, what, site, &w, &r);
	if (!fine)
		__warpsafe_shared_wrote(address, what, site, 0, w, r);
	if (h.time)
		observes_here(self);
}

#endif

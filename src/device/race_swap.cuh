/* race_swap.cuh - compare-and-swap: one that has found something else than it compares with has only read (race.cu).
 *
 * Which it was is known behind it, so it is entered there. Of two accesses that race at the same moment one still sees the other: mine
 * sees all that is entered before mine is, and whoever enters later sees mine. But what is entered between my access and its entry may be of a
 * thread that has read what I have written, and is ordered with it: of W and R as they are then only that counts which was there before
 * (struct me; judge_w). So W and R are looked at before the access, by loads that nobody waits for until it is done. */
#ifndef WS_RACE_SWAP_CUH
#define WS_RACE_SWAP_CUH

/* ---- before ---- */
/* The address of the cell of a word of global memory; 0: it is not known; WS_RACE_TRIED: this is not the first try (tries_word_again). */
SLOW u64 __warpsafe_swap_at(u32 self, u64 address, u32 what)
{
	u64 word = what & WS_RACE_RETRIES ? word_with_scope(address, what) : 0, line, entry;

	if (!shared_load64((self & ~31u) + __builtin_offsetof(struct warp, now)))
		return 0;
	if (word && tries_word_again(self - self_of(0), word, what & ~(u32)WS_RACE_LOOKED))
		return WS_RACE_TRIED;
	line = line_at_once(address);
	if (!line)
		line = line_of(address);
	entry = line ? load64_stable(line) : 0;
	if (line && !is_expanded(entry))
		entry = __warpsafe_expand(line, (self - self_of(0)) >> 5);
	return is_expanded(entry) ? cell_by(entry, address) : 0;
}

/* W (n: 0) or R (1) of a word of any memory; 0 likewise. */
SLOW u64 __warpsafe_swap_entry(u64 address, u32 what, u32 n)
{
	u32 self = self_of(thread_index()), bytes;
	struct here h = here(self);
	u64 slot, at;

	if (!find_space(&address, &what))
		return 0;
	if (WS_RACE_SPACE_OF(what) == WS_RACE_GLOBAL) {
		at = __warpsafe_swap_at(self, address, what);
		return at > WS_RACE_TRIED ? load64(at + 8 * n) : 0;
	}
	if (BLOCK.cells)
		return h.time ? shared_load64(w_cell(&h, (u32)address) + (n ? h.reads : 0)) : 0;
	slot = cells_of_slot(0, &bytes);
	return slot && (u32)address < bytes ? load64(slot + ((u32)address >> 2) * 16 + 8 * n) : 0;
}

INLINED u64 race_swap_at(u32 self, u64 address, u32 what)
{
	return __warpsafe_swap_at(self, address, what);
}

INLINED u64 race_swap_w(u64 address, u32 what)
{
	return __warpsafe_swap_entry(address, what, 0);
}

INLINED u64 race_swap_r(u64 address, u32 what)
{
	return __warpsafe_swap_entry(address, what, 1);
}

/* ---- behind ---- */
/* It has written. w, r: as they were before it, in its first word. They stand for others that have the same. */
SLOW void __warpsafe_swapped(u64 address, u32 what, u32 site, u64 w, u64 r)
{
	struct word d;
	struct me m;

	if (!begin_access(address, what | WS_RACE_SWAPPED, site, ATOMIC, &m, &d))
		return;
	m.seen_w = w;
	m.seen_r = r;
	for (u32 n = words_of(what); n; n--, next_word(&d)) {
		if (n < words_of(what)) {
			m.seen_w = __warpsafe_swap_entry(d.address, m.what & ~(u32)WS_RACE_RETRIES, 0) == w ? w : 0;
			m.seen_r = __warpsafe_swap_entry(d.address, m.what & ~(u32)WS_RACE_RETRIES, 1) == r ? r : 0;
		}
		write_at(&d, &m, &unknown);
	}
}

/* Of a word of global memory, as __warpsafe_atomic_on. */
SLOW void __warpsafe_swapped_on(u32 self, u64 at, u64 address, u32 what, u32 site, u64 w, u64 r)
{
	struct cell c = { at, w, r };

	if (c.at > WS_RACE_TRIED && WS_RACE_BYTES_OF(what) <= 4 && write_cell(self, &c, address, what, site, NO_MORE))
		note_strong(self, what);
	else
		__warpsafe_swapped(address, what, site, w, r);
}

/* Is the entry of an earlier launch, or of an access that is morally strong with mine whoever it is by? (LOCK_CLASSES) */
HELPER bool is_as_strong(u64 entry, u32 cls) { return high(entry) < BLOCK.floor << (SEGMENT_AT - 32) || LOCK_CLASSES >> cls & 1; }

INLINED void race_swapped_global(u32 self, u64 address, u32 what, u32 site, u64 at, u64 w, u64 r)
{
	struct cell c = check_atomic(self, address, what);

	if (c.at != NOTHING)
		__warpsafe_swapped_on(self, at, address, what, site, w, r);
}

/* Of shared memory, and where it is not known which memory it is. */
INLINED void race_swapped(u64 address, u32 what, u32 site, u64 w, u64 r)
{
	__warpsafe_swapped(address, what, site, w, r);
}

/* It has not. */
SLOW void __warpsafe_not_swapped(u64 address, u32 what, u32 site)
{
	struct word d;
	struct me m;

	if (!begin_access(address, what, site, ATOMIC, &m, &d))
		return;
	for (u32 n = words_of(what); n; n--, next_word(&d))
		read_at(&d, &m);
}

/* Does R say already that several blocks have read the word in this launch, me or others who are no more ordered than I am? */
HELPER bool says_all_read(u64 r, u32 what)
{
	return WS_RACE_BYTES_OF(what) == 4 && r_bytes(r) == 15 && !is_of_past(r) && blocks_have_read(r, BLOCK.grid);
}

/* Of global memory; w, r: as they were before it. */
SLOW void __warpsafe_not_swapped_word(u32 self, u64 address, u32 what, u32 site, u64 w, u64 r)
{
	u32 cls = WS_RACE_CLASS_OF(what);
	u64 now = shared_load64((self & ~31u) + __builtin_offsetof(struct warp, now));

	if (now & NOW_ENTERED && (cls == WS_RACE_ATOMIC_GPU || cls == WS_RACE_ATOMIC_SYS) && is_as_strong(w, w_class(w)) && says_all_read(r, what))
		note_strong(self, what);
	else
		__warpsafe_not_swapped(address, what, site);
}

INLINED void race_not_swapped_global(u32 self, u64 address, u32 what, u32 site, u64 at, u64 w, u64 r)
{
	if (at != WS_RACE_TRIED)
		__warpsafe_not_swapped_word(self, address, what, site, w, r);
}

INLINED void race_not_swapped(u64 address, u32 what, u32 site)
{
	__warpsafe_not_swapped(address, what, site);
}

#endif

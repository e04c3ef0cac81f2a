/* race.cu - race checks on a real GPU: what the pass `race` (src/rewrite) places in kernels. race.h tells which function
 * is called where, and what the host gives; docs/REWRITE.md how the checks work.
 *
 * Every function may be called by any lanes of a warp, together or one by one; nothing is locked. Lanes wait for each
 * other only with masks that are the program's own, or the whole warp's at a barrier: lanes that activemask names
 * together may go separate ways right behind it (but in race_shared_rows.cuh, where there is one way). */
#include "race_ahead.cuh"
#include "race_reclaim.cuh"
#include "race_visit.cuh"
#include "race_room.cuh"

/* ---- functions that call nothing ----
 * A function that calls others saves registers on the stack when it begins, whether it comes to the call or not: what every warp does at its
 * begin and end, at barriers and at syncs stands in functions that call nothing. They say what is left, which is rare, and for that there is
 * another call at the place. (On an H100 such saves took nine tenths of what its second-level cache can do in kernels that do little else.) */

/* ---- beginning and end of a block ---- */
HELPER u32 launch_grid(void)
{
	u64 grid;

	asm volatile("mov.u64 %0, %%gridid;" : "=l"(grid));
	return (u32)grid;
}

/* A block's fields are written four at a time: all warps wait for the thread that does it. */
#define FOUR_FIELDS(a, b, c, d) \
	static_assert(__builtin_offsetof(struct block, a) % 16 == 0 && \
		      __builtin_offsetof(struct block, b) == __builtin_offsetof(struct block, a) + 4 && \
		      __builtin_offsetof(struct block, c) == __builtin_offsetof(struct block, a) + 8 && \
		      __builtin_offsetof(struct block, d) == __builtin_offsetof(struct block, a) + 12, "one store")
FOUR_FIELDS(off, list, unknown, cells);
FOUR_FIELDS(floor, grid, first, nwarps);
FOUR_FIELDS(ordered, block, kernel, range);
FOUR_FIELDS(ready[WARPS - 1], handed, slot_number, lost);
FOUR_FIELDS(probe, failed, copies, late);
FOUR_FIELDS(lowest, launch, cluster, shape);
FOUR_FIELDS(arrived, arrived_epoch, passed, silent);
static_assert(__builtin_offsetof(struct block, threads) == __builtin_offsetof(struct block, slot) + 8, "one store");

/* mark: of the launch, see race_launch.cuh. */
HELPER struct new_block clear_block(u32 kernel, u32 mark, const struct cells *c)
{
	const u32 needs = WS_RACE_NEEDS_STATES | WS_RACE_NEEDS_SHARED | WS_RACE_NEEDS_COPIES | WS_RACE_NEEDS_SLOT | WS_RACE_NEEDS_ROWS | WS_RACE_HAS_LOCKS;
	u64 block = block_x() + blocks_x() * (block_y() + (u64)blocks_y() * block_z());
	u32 off = RACE.version == WS_RACE_VERSION && !(block >> 32) ? 0 : OFF_SILENT, launch = off || c->probe ? 0 : launch_said(mark);
	u32 threads = threads_of_block(), grid = mark == WS_RACE_COMPARED && SAID(grid) ? SAID(grid) : launch_grid();
	struct new_block b = { off, grid, (u32)block, (threads + 31) / 32, launch };

	shared_store_four(IN_BLOCK(off), off, 0, 0, c->bytes ? c->at : 0);
	shared_store_four(IN_BLOCK(floor), 0, grid, 0, b.nwarps);
	shared_store_four(IN_BLOCK(slot), 0, 0, 0, 0);           /* and threads */
	shared_store_four(IN_BLOCK(ordered), 0, b.block, kernel & ~needs, 0);
	shared_store_four(IN_BLOCK(ready[WARPS - 1]), 0, HANDED_NOTHING, 0, 0);
	shared_store_four(IN_BLOCK(probe), c->probe, 0, 0, 0);
	shared_store_four(IN_BLOCK(lowest), 0, launch, 0, 0);
	shared_store_four(IN_BLOCK(arrived), 0, 0, 0, 0);
	BLOCK.alive = threads;
	BLOCK.parts = 0;
	if (c->probe)
		store32(RACE.probe, WS_RACE_PROBE_RUNS);
	if (!off && is_counted(mark)) {
		BLOCK.grid = b.grid = counted_launch(mark);
		b.off = BLOCK.off;
	}
	return b;
}

/* One lane of each warp, behind clear_block. Another warp may have switched the block off already, and then stopped this one, or it
 * does so from now on. */
HELPER void clear_warp(u32 warp, const struct cells *c)
{
	struct launch l = launch_of_block();

	forget_full(warp);
	BLOCK.lists[warp] = 0;
	BLOCK.spare[warp] = 0;
	BLOCK.expanding[warp % EXPANDING] = 0;
	BLOCK.ready[warp] = 0;
	BLOCK.heard[warp] = 0;
	BLOCK.begins[warp] = begin_word(l.first + warp, 0, 0);
	begin_times(c, warp, l.first ? (u64)(l.first + warp) << SEGMENT_AT | NOW_ENTERED : 0, lanes_of_warp(warp));
	if (l.first && !BLOCK.lowest)
		describe(l.first + warp, warp, 0, 0);
	if (BLOCK.off)
		stop_warp(warp);
}

/* States of threads in shared memory, where the launch has been given room for them, and only the threads themselves come to them. */
HELPER void begin_states(u32 kernel, u32 dynamic)
{
	u32 bytes = bytes_of_states();

	if (!SM90 && bytes && BLOCK.slot && !(kernel & (WS_RACE_NEEDS_COPIES | WS_RACE_TWO_FENCES | WS_RACE_HAS_CLOCKS)))
		BLOCK.threads = from_shared(dynamic + dynamic_bytes() - bytes);
}

HELPER struct cells cells_of_kernel(u32 kernel, u32 dynamic)
{
	struct cells c = find_cells(dynamic);

	if (SM90 && kernel & WS_RACE_NEEDS_SLOT)
		c.bytes = 0;
	return c;
}

HELPER void begin_block(u32 kernel, u32 dynamic, u64 row, const struct new_block *b, const struct cells *c)
{
	if (kernel & WS_RACE_NEEDS_STATES || (kernel & WS_RACE_NEEDS_SHARED && !c->bytes))
		take_slot();
	begin_states(kernel, dynamic);
	find_segments(b, row, SM90 && kernel & WS_RACE_NEEDS_ROWS);
	if (kernel & WS_RACE_NEEDS_COPIES)
		begin_copies();
	if (kernel & WS_RACE_HAS_CLOCKS && BLOCK.threads)
		__warpsafe_begin_clocks();
	if (SM90 && kernel & WS_RACE_NEEDS_SLOT && BLOCK.slot)
		store64(visit_at(0, 0, MOST_RANKS * WARPS), 0);  /* race_bulk.cuh: no fence of the proxy yet */
}

/* By the block's first thread, while the others wait for it. dynamic: see dynamic_begin. */
SLOW void __warpsafe_begin(u32 kernel, u32 off, u32 mark, u32 dynamic)
{
	u64 row = RACE.version == WS_RACE_VERSION ? segments_row(launch_grid()) : 0;     /* on its way meanwhile */
	struct cells c = cells_of_kernel(kernel, dynamic);
	struct new_block b = clear_block(kernel, mark, &c);

	if (off && !b.off) {
		launch_is_incomplete(b.grid);
		BLOCK.off = b.off = OFF_SILENT;
	}
	if (!b.off && kernel & WS_RACE_HAS_LOCKS && RACE.resident)
		__warpsafe_wait_for_room(b.grid);
	if (!b.off)
		begin_block(kernel, dynamic, row, &b, &c);
}

/* By all threads behind that; it calls nothing (see "functions that call nothing"). */
SLOW void __warpsafe_enter(u32 kernel, u32 dynamic)
{
	u32 t = thread_index();
	struct cells c = cells_of_kernel(kernel, dynamic);

	zero_cells(&c, t);
	warp_sync_all();
	asm volatile("bar.sync 0;" : : : "memory");
	if (!(t & 31))
		clear_warp(t >> 5, &c);
	warp_sync_all();
}

HELPER void enter(u32 kernel, u32 off, u32 mark)
{
	u32 dynamic = dynamic_begin();

	if (!thread_index())
		__warpsafe_begin(kernel, off, mark, dynamic);
	__warpsafe_enter(kernel, dynamic);
}

/* The launch's first block looks, before any block goes on; the others wait for it, for a while. By one thread of each. */
HELPER bool begins_with_zero(u64 counter)
{
	enum { BUSY = 1, OTHER, ZERO };
	u32 grid = launch_grid();
	u64 at = COUNTS(begins) + 8ull * (grid % WS_RACE_GRIDS), row = load64_stable(at), was;

	for (u32 tries = 0; tries < RANGE_TRIES; tries++, row = was) {
		if ((u32)row == grid && row >> 32 > BUSY) {
			fence_gpu();
			return row >> 32 == ZERO;
		}
		was = (u32)row == grid && row >> 32 == BUSY ? load64(at) : cas64(at, row, (u64)BUSY << 32 | grid);
		if (was != row || ((u32)row == grid && row >> 32 == BUSY))
			continue;
		was = (u64)(load32(counter) ? OTHER : ZERO) << 32 | grid;
		fence_gpu();
		store64(at, was);
	}
	return false;
}

SLOW u32 __warpsafe_starts_at_zero(u64 counter)
{
	u32 word = (u32)IN_SHARED(__warpsafe_block) + WS_RACE_SILENT_AT, is;

	if (!thread_index())
		shared_store32(word, RACE.version == WS_RACE_VERSION && begins_with_zero(counter));
	warp_sync_all();
	asm volatile("bar.sync 0;" : : : "memory");
	is = shared_load32(word);
	warp_sync_all();
	asm volatile("bar.sync 0;" : : : "memory");      /* the word may be written again */
	return is;
}

INLINED u32 race_starts_at_zero(u64 counter)
{
	return __warpsafe_starts_at_zero(counter);
}

INLINED void race_enter(u32 kernel)
{
	enter(kernel, 0, 0);
}

INLINED void race_enter_in(u32 kernel, u32 mark)
{
	enter(kernel, 0, mark);
}

INLINED void race_enter_off(void)
{
	enter(0, 1, 0);
}

/* All that are alive have come to the barrier. */
HELPER void epoch_ends(u32 warp)
{
	sync_hands_on();
	if (BLOCK.lists[warp])
		join_block(warp);
	if (clocks_meet())
		__warpsafe_clocks_meet(warp);
	next_epoch(warp);
}

/* Lanes come to a barrier, or leave: the last of the warp ends its epoch while the others wait. (Where all that are left leave at once,
 * nobody looks any more.) */
HELPER void come(u32 warp, u32 group, bool leave)
{
	u64 old = BLOCK.warps[warp].alive_arrived, was;

	if (leave && old == group)
		return;
	for (;; old = was) {
		u32 alive = (u32)old & ~(leave ? group : 0), arrived = (u32)(old >> 32) | (leave ? 0 : group);
		bool all = arrived && arrived == alive;

		was = shared_cas64(IN_SHARED(__warpsafe_block.warps[warp].alive_arrived), old,
				   all ? alive : alive | (u64)arrived << 32);
		if (was != old)
			continue;
		if (all && !BLOCK.off)
			epoch_ends(warp);
		return;
	}
}

/* By one of the lanes that leave: are they the last of the block? */
HELPER bool are_last(u32 group)
{
	return shared_add32(IN_SHARED(__warpsafe_block.alive), -population(group)) == population(group);
}

HELPER bool leaves_last(u32 group)
{
	come(warp_index(), group, true);
	return are_last(group);
}

/* Behind the last thread of a block. */
SLOW void __warpsafe_end(void)
{
	if (BLOCK.lost)
		global_add(COUNTS(lost), BLOCK.lost);
	if (BLOCK.late)
		__warpsafe_give_back_all();
	if (IN_CLUSTER && BLOCK.shape & PEERS && BLOCK.slot)
		__warpsafe_check_visits();
	free_slot();
	if (BLOCK.shape & IN_ROOM)
		__warpsafe_make_room();
}

/* By one lane of those that leave their warp before others. */
SLOW void __warpsafe_leave_others(u32 group)
{
	if (leaves_last(group))
		__warpsafe_end();
}

/* By lanes that leave. What is left for one of them: IS_LAST; those that leave, if others of the warp do not; or nothing. */
enum { IS_LAST = 1 };
SLOW u64 __warpsafe_leave(void)
{
	u32 group = activemask();

	if (!leads(group))
		return 0;
	if (BLOCK.warps[warp_index()].alive_arrived != group)
		return (u64)group << 32;
	return are_last(group) && (BLOCK.lost || BLOCK.late || BLOCK.slot || BLOCK.shape || IN_CLUSTER) ? IS_LAST : 0;
}

INLINED void race_leave(void)
{
	u64 left = __warpsafe_leave();

	if (left == IS_LAST)
		__warpsafe_end();
	else if (left)
		__warpsafe_leave_others((u32)(left >> 32));
}

/* ---- accesses ---- */
SLOW void __warpsafe_unchecked(void)
{
	if (BLOCK.off == OFF_BY_BARRIER)
		count_threads(COUNTS(not_checked[WS_RACE_BLOCK_OFF]));
	else if (!BLOCK.off)
		count_threads(COUNTS(not_checked[WS_RACE_NO_SEGMENT]));
}

/* A generic address becomes one of its space; false: memory that is the thread's own, or constant. */
HELPER bool find_space(u64 *address, u32 *what)
{
	bool shared;

	if (WS_RACE_SPACE_OF(*what) != WS_RACE_GENERIC)
		return true;
	shared = is_shared(*address);
	if (!shared && !is_global(*address))
		return false;
	if (shared)
		*address = to_shared(*address);
	*what ^= WS_RACE_SPACE(WS_RACE_GENERIC) ^ WS_RACE_SPACE(shared ? WS_RACE_SHARED : WS_RACE_GLOBAL);
	return true;
}

/* ---- accesses that are tried again ---- */
/* A word and a scope as the state of a thread has them; 0 = an access of several words. */
HELPER u64 word_with_scope(u64 address, u32 what)
{
	u64 scope = scope_of(WS_RACE_CLASS_OF(what));

	return WS_RACE_BYTES_OF(what) > 4 ? 0 : location_key(address, what) | scope << KEY_SCOPE_AT;
}

HELPER u32 epoch_mark(u32 thread) { return (u32)(BLOCK.warps[thread >> 5].now >> EPOCH_AT); }

HELPER void note_look(u32 thread, u64 state, u64 word, u32 what)
{
	if (!hears(thread)) {
		own_store32(IN_PIECES(state, seen), 0);
		will_hear(thread);
	}
	set_flags(thread >> 5, NOW_ENTERED);     /* a segment that begins anew has its epochs again */
	own_store_four(IN_PIECES(state, observed_word), (u32)word, (u32)(word >> 32), what & ~(u32)WS_RACE_LOOKED,
		       epoch_mark(thread));
}

/* Who waits for a lock or a flag, looks at it by one access (WS_RACE_RETRIES) again and again: a strong load, a
 * compare-and-swap or an exchange. Since the last fence and barrier the first of them alone is checked: it was entered,
 * so who comes later and races with it sees it. (Where another thread's took its place in W, and my later one found what it waits for,
 * an access that is ordered with that but not with mine may race unseen. Swaps with a check behind them are checked in any case if they
 * succeed: race_swap.cuh.) */
HELPER bool tries_word_again(u32 thread, u64 word, u32 what)
{
	u32 low, high, looked_what, looked_when;

	if (!hears(thread))
		return false;
	own_load_four(THREAD(thread, observed_word), &low, &high, &looked_what, &looked_when);
	return low == (u32)word && (high & ~(u32)(AGAIN >> 32)) == (u32)(word >> 32) &&
	       looked_what == (what & ~(u32)WS_RACE_LOOKED) && looked_when == epoch_mark(thread) && BLOCK.warps[thread >> 5].now;
}

HELPER bool tries_again(u32 thread, u64 address, u32 what)
{
	u64 word = word_with_scope(address, what);

	return word && tries_word_again(thread, word, what);
}

/* ---- accesses of all kinds ---- */
enum access { READ, WRITE, ATOMIC };

/* The cell of the first word of an access to global memory; 0 = the access has been dealt with. */
HELPER u64 global_cell(u64 address, const struct me *m, enum access access)
{
	u32 bytes = WS_RACE_BYTES_OF(m->what);
	bool covers = access != ATOMIC && bytes >= 4 && covers_line(activemask(), address, bytes, lane_of(m->time));
	u64 line = line_of(address), entry;

	if (covers && line && access_line(line, m, access == WRITE))
		return 0;
	if (!line) {
		count_threads(COUNTS(not_checked[WS_RACE_NO_PAGE]));
		return 0;
	}
	entry = covers ? load64(line) : load64_stable(line);
	if (!covers && !is_expanded(entry))
		entry = __warpsafe_expand(line, m->warp);
	return cell_in_line(entry, address);
}

/* Is it of shared memory whose cells are there, too? */
HELPER bool cells_are_here(const struct me *m)
{
	return WS_RACE_SPACE_OF(m->what) == WS_RACE_SHARED && BLOCK.cells;
}

HELPER u64 slot_cell(u64 address, const struct me *m)
{
	if (!cells_are_here(m))
		return shared_cell(address);
	if (!BLOCK.warps[m->warp].time)
		count_threads(COUNTS(not_checked[WS_RACE_NO_SEGMENT]));
	return BLOCK.warps[m->warp].time;
}

HELPER bool find_word(u64 address, const struct me *m, enum access access, struct word *d)
{
	u32 bytes = WS_RACE_BYTES_OF(m->what);

	d->address = address;
	d->bytes = bytes_of((u32)address, bytes);
	d->cell = WS_RACE_SPACE_OF(m->what) == WS_RACE_SHARED ? slot_cell(address, m) : global_cell(address, m, access);
	return d->cell;
}

/* The words of an access have their cells side by side. */
HELPER u32 words_of(u32 what)
{
	u32 bytes = WS_RACE_BYTES_OF(what);

	return bytes > 4 ? bytes / 4 : 1;
}

HELPER void next_word(struct word *d)
{
	d->cell += 16;
	d->address += 4;
}

HELPER void read_at(const struct word *d, const struct me *m)
{
	struct here h;

	if (!cells_are_here(m)) {
		bool whole = false;

		while (!read_word(d, m, whole) && !__warpsafe_read_of_parts(d->cell, d->address, d->bytes, m->what, m->site))
			whole = true;
		return;
	}
	h = here(self_of(m->warp * 32));
	read_shared_word(d, m, &h);
}

HELPER void write_at(const struct word *d, const struct me *m, const struct wrote *value)
{
	struct here h;

	if (!cells_are_here(m)) {
		bool whole = false;

		while (!write_word(d, m, value, whole) &&
		       !__warpsafe_write_of_parts(d->cell, d->address, d->bytes, m->what | (value->known ? PART_KNOWN : 0), m->site, value->value))
			whole = true;
		return;
	}
	h = here(self_of(m->warp * 32));
	write_shared_word(d, m, &h, value);
}

/* What all accesses begin with: the first word and its cell. False: there is nothing more to do. */
HELPER bool begin_access(u64 address, u32 what, u32 site, enum access access, struct me *m, struct word *d)
{
	u64 now = BLOCK.warps[warp_index()].now;

	if (!now) {
		__warpsafe_unchecked();
		return false;
	}
	if (!find_space(&address, &what))
		return false;
	if ((what & (WS_RACE_RETRIES | WS_RACE_SWAPPED)) == WS_RACE_RETRIES && tries_again(thread_index(), address, what))
		return false;
	if (!(now & NOW_ENTERED) && !(WS_RACE_SPACE_OF(what) == WS_RACE_SHARED && BLOCK.cells))
		set_flags(warp_index(), NOW_ENTERED);
	*m = access_of(now, what, site);
	if (access != WRITE)
		observe(m);
	return find_word(address, m, access, d);
}

SLOW void __warpsafe_read(u64 address, u32 what, u32 site)
{
	struct word d;
	struct me m;

	if (!begin_access(address, what, site, READ, &m, &d))
		return;
	for (u32 n = words_of(what); n; n--, next_word(&d)) {
		read_at(&d, &m);
		m.site += (what & WS_RACE_FOUR) != 0;
	}
}

/* v0: where it is in its word. */
HELPER struct wrote wrote_all(u64 address, u32 what, u32 site, u64 v0, u64 v1)
{
	struct wrote v = wrote_word(address, what, site, (u32)v0);

	if (WS_RACE_BYTES_OF(what) >= 8)
		v.noted = all_of((u32)v0, (u32)(v0 >> 32));
	if (WS_RACE_BYTES_OF(what) == 16)
		v.noted = all_of(all_of(v.noted, (u32)v1), (u32)(v1 >> 32));
	return v;
}

SLOW void __warpsafe_write(u64 address, u32 what, u32 site, u64 v0, u64 v1)
{
	struct word d;
	struct me m;
	struct wrote v;

	if (!begin_access(address, what, site, WRITE, &m, &d))
		return;
	v0 <<= 8 * (address & 3);
	v = wrote_all(address, what, site, v0, v1);
	for (u32 n = words_of(what); n; n--, next_word(&d)) {
		v.value = (u32)v0;
		write_at(&d, &m, &v);
		v0 = v0 >> 32 | v1 << 32;
		v1 >>= 32;
	}
}

/* A write of which the value is not known. */
SLOW void __warpsafe_wrote(u64 address, u32 what, u32 site)
{
	struct word d;
	struct me m;

	if (!begin_access(address, what, site, WRITE, &m, &d))
		return;
	for (u32 n = words_of(what); n; n--, next_word(&d))
		write_at(&d, &m, &unknown);
}

/* (By a call of the function of writes `spinlock` took twice as long: docs/PERFORMANCE.md.) */
SLOW void __warpsafe_atomic(u64 address, u32 what, u32 site)
{
	struct word d;
	struct me m;

	if (!begin_access(address, what, site, ATOMIC, &m, &d))
		return;
	for (u32 n = words_of(what); n; n--, next_word(&d))
		write_at(&d, &m, &unknown);
}

INLINED void race_read(u64 address, u32 what, u32 site)
{
	__warpsafe_read(address, what, site);
}

INLINED void race_write(u64 address, u32 what, u32 site, u64 v0, u64 v1)
{
	__warpsafe_write(address, what, site, v0, v1);
}

INLINED void race_wrote(u64 address, u32 what, u32 site)
{
	__warpsafe_wrote(address, what, site);
}

INLINED void race_atomic(u64 address, u32 what, u32 site)
{
	__warpsafe_atomic(address, what, site);
}

/* ---- at the entry, before anything else ---- */
/* The last area that does not begin behind the address has it, or none. */
INLINED u64 race_area(u64 address)
{
	u64 table = RACE.areas ? load64_stable(RACE.areas) : 0, first = table + sizeof(struct ws_race_areas), row;
	u32 from = 0, to = table ? (u32)load64_stable(table) : 0;

	while (from < to) {
		u32 middle = (from + to) / 2;

		if (load64_stable(first + middle * sizeof(struct ws_race_area)) <= address)
			from = middle + 1;
		else
			to = middle;
	}
	if (!from)
		return 0;
	row = first + (from - 1) * sizeof(struct ws_race_area);
	return address < load64_stable(row + 8) ? row : 0;
}

/* ---- at the access ----
 * What nearly always suffices, for shared and for global memory; the rest is a call. `self`: see
 * race_shared.cuh. */
INLINED u32 race_thread(void)
{
	return self_of(thread_index());
}

#include "race_shared_access.cuh"

/* What W says of a word, and of some more behind it of which W says the same: weak reads that are entered. */
SLOW void __warpsafe_read_found(u64 cell, u64 address, u32 what, u32 site, u64 w, u32 more)
{
	struct me m = access_of(BLOCK.warps[warp_index()].now, what, site);
	u32 v = m.now ? write_verdict(w, &m) : ORDERED;
	bool often = v != ORDERED && v != UNDECIDED &&
		     __warpsafe_report(address, packed(v, WS_RACE_READ_AFTER_WRITE, w_bytes(w), writers_in(w), 0, more), w, m.now, what, site);

	for (u32 k = 0; k <= more && v != ORDERED; k++)
		if (v == UNDECIDED)
			count_threads(COUNTS(undecided));
		else if (often)
			sample_from_here(cell + 16 * k, &m);
}

/* Of 8 or 16 bytes, in a line that has cells or gets them now. Always true (spare.c). */
SLOW bool __warpsafe_read_words(u32 self, u64 address, u32 what, u32 site)
{
	u64 at = cell_of_new_line(self, address), w[MOST_WORDS];
	u32 n = words_of(what), next = (what & WS_RACE_FOUR) != 0, done = 0, one = WS_RACE_BYTES(4) | WS_RACE_LOOKED | (what & ~(u32)(31 | WS_RACE_FOUR));
	u32 entered, more;

	if (at && !BLOCK.ordered)
		done = n == 2 ? read_side_by_side(self, at, 2, what, site, w) : read_side_by_side(self, at, 4, what, site, w);
	entered = WS_RACE_CLASS_OF(what) == WS_RACE_WEAK ? done >> MOST_WORDS & ~done : 0;
	#pragma nounroll
	for (u32 k = 0; k < n; k += 1 + more) {
		more = 0;
		if (entered >> k & 1 && !w_is_row(w[k])) {
			while (!next && k + more + 1 < n && entered >> (k + more + 1) & 1 && w[k + more + 1] == w[k])
				more++;
			__warpsafe_read_found(at + 16 * k, address + 4 * k, one, site + next * k, w[k], more);
		} else if (!(done >> k & 1)) {
			__warpsafe_read(address + 4 * k, one, site + next * k);
		}
	}
	if (done & ((1 << MOST_WORDS) - 1))
		note_strong(self, what);
	return true;
}

/* Of 8 or 16 bytes, of a line with cells. Done? It calls nothing. */
SLOW u32 __warpsafe_read_at_once(u32 self, u64 address, u32 what, u32 site)
{
	u64 at = BLOCK.ordered ? 0 : cell_at_once(address);

	if (!at)
		return false;
	return WS_RACE_BYTES_OF(what) == 8 ? read_all_side_by_side(self, at, 2, what, site) : read_all_side_by_side(self, at, 4, what, site);
}

/* read_cell, where the grid has rounds: kernels without them have one with less code. */
SLOW bool __warpsafe_read_in_rounds(u32 self, u64 at, u64 address, u32 what, u32 site, u64 w, u64 r)
{
	struct cell c = { at, w, r };

	return read_cell(self, &c, address, what, site, BY_ROUNDS);
}

/* A line, in a launch that others may overlap. */
HELPER bool line_beside(u32 self, u64 address, u32 what, u32 site, bool writes)
{
	struct fast f;
	bool done;

	if (!begin_fast(&f, self) || !is_noted(&f, what))
		return false;
	look_beside(&f);
	find_line(&f, line_at_once(address), self, address, what, IN_LINES);
	done = f.line && (writes ? write_fast(&f, what, site) : read_fast(&f, what, site));
	return all_done(&f, done, WS_RACE_BYTES_OF(what)) && f.line;
}

/* 4 bytes or more, in a line that has cells or gets them now. */
HELPER bool read_cells(u32 self, u64 address, u32 what, u32 site, u32 also)
{
	u64 at = cell_of_new_line(self, address);

	#pragma nounroll
	for (u32 k = 0; at && k < words_of(what); k++) {
		struct cell c = { at + 16 * k, 0, 0 };

		load_cell(c.at, &c.w, &c.r);
		if (!read_cell(self, &c, address + 4 * k, what, site + (what & WS_RACE_FOUR ? k : 0), also))
			return false;
	}
	return at;
}

/* What the part at the access has left, in a launch that others may overlap: most entries are of launches that are before it all the same. False: for
 * the call that knows all. */
SLOW bool __warpsafe_read_beside(u32 self, u64 at, u64 address, u32 what, u32 site, u64 w, u64 r)
{
	struct cell c = { at, w, r };

	if (BLOCK.ordered || (!at && WS_RACE_BYTES_OF(what) < 4))
		return false;
	return at == ALL ? line_beside(self, address, what, site, false) : at ? read_cell(self, &c, address, what, site, BY_LAUNCHES) :
	       read_cells(self, address, what, site, BY_LAUNCHES);
}

/* What W and R were is loaded again: to keep both in registers until here costs more. */
HELPER struct cell left_at(u64 at)
{
	struct cell c = all_left(at);

	if (at > ALL)
		load_cell(at, &c.w, &c.r);
	return c;
}

/* at: what the part at the access has left (struct cell). */
SLOW void __warpsafe_read_on(u32 self, u64 at, u64 address, u32 what, u32 site)
{
	struct cell c = left_at(at);

	if (is_parts(c.w) ? __warpsafe_read_bytes(self, c.w, address, what, site) :
	    BLOCK.launch && __warpsafe_read_beside(self, at, address, what, site, c.w, c.r)) {
		note_strong(self, what);
		return;
	}
	if (!at && WS_RACE_BYTES_OF(what) > 4) {
		if (!__warpsafe_read_words(self, address, what, site))
			__warpsafe_read(address, what | WS_RACE_LOOKED, site);
		return;
	}
	if (!at)
		c = make_cell(self, address, what, false);
	if (c.at > ALL && !is_parts(c.w) && (BLOCK.ordered ? __warpsafe_read_in_rounds(self, c.at, address, what, site, c.w, c.r) : read_cell(self, &c, address, what, site, NO_MORE)))
		note_strong(self, what);
	else
		__warpsafe_read(address, what | WS_RACE_LOOKED, site);
}

/* 8 or 16 bytes, of a line with cells. Done? It calls nothing. */
HELPER u32 write_words(u32 self, u64 address, u32 what, u32 site)
{
	u64 at = BLOCK.ordered ? 0 : cell_at_once(address);

	if (!at)
		return 0;
	return WS_RACE_BYTES_OF(what) == 8 ? write_side_by_side(self, at, 2, what, site) == 3 : write_side_by_side(self, at, 4, what, site) == 15;
}

SLOW u32 __warpsafe_write_words(u32 self, u64 address, u32 what, u32 site, u64 v0, u64 v1)
{
	struct wrote v = wrote_all(address, what, site, v0, v1);

	note_wrote(self, &v);
	return write_words(self, address, what, site);
}

/* The same, one word after the other. False: for the call that knows all. */
HELPER bool write_cells(u32 self, u64 address, u32 what, u32 site, u32 also)
{
	u64 at = BLOCK.ordered ? 0 : cell_of_new_line(self, address);

	#pragma nounroll
	for (u32 k = 0; at && k < words_of(what); k++) {
		struct cell c = { at + 16 * k, 0, 0 };

		load_cell(c.at, &c.w, &c.r);
		if (!write_cell(self, &c, address + 4 * k, what, site, also))
			return false;
	}
	return at;
}

SLOW bool __warpsafe_write_cells(u32 self, u64 address, u32 what, u32 site)
{
	return write_cells(self, address, what, site, NO_MORE);
}

/* As __warpsafe_read_beside. */
SLOW bool __warpsafe_write_beside(u32 self, u64 at, u64 address, u32 what, u32 site, u64 w, u64 r)
{
	struct cell c = { at, w, r };

	if (BLOCK.ordered || (!at && WS_RACE_BYTES_OF(what) < 4))
		return false;
	return at == ALL ? line_beside(self, address, what, site, true) : at ? write_cell(self, &c, address, what, site, BY_LAUNCHES) :
	       write_cells(self, address, what, site, BY_LAUNCHES);
}

SLOW void __warpsafe_write_on(u32 self, u64 at, u64 address, u32 what, u32 site, u64 v0, u64 v1)
{
	struct cell c = left_at(at);

	if (is_parts(c.w) ? __warpsafe_write_bytes(self, c.w, address, what, site) :
	    BLOCK.launch && at && __warpsafe_write_beside(self, at, address, what, site, c.w, c.r))
		return;
	if (!at && WS_RACE_BYTES_OF(what) > 4) {
		if (!(BLOCK.launch ? __warpsafe_write_beside(self, 0, address, what, site, 0, 0) : __warpsafe_write_cells(self, address, what, site)))
			__warpsafe_write(address, what | WS_RACE_LOOKED, site, v0, v1);
		return;
	}
	if (!at) {
		c = make_cell(self, address, what, true);
		if (c.at)
			note_own(self, address, what, site, (u32)(v0 << 8 * (address & 3)));
	}
	if (c.at <= ALL || BLOCK.ordered || !write_cell(self, &c, address, what, site, NO_MORE))
		__warpsafe_write(address, what | WS_RACE_LOOKED, site, v0, v1);
}

/* Of bytes or halves. All lanes of a row come to what is done for it, whatever they see of the word: its first lane decides. */
SLOW void __warpsafe_read_part_on(u32 self, u64 at, u64 address, u32 what, u32 site)
{
	struct cell c = left_at(at & IN_ROW ? at - IN_ROW : NOTHING);

	if (!(at & IN_ROW) || !__warpsafe_read_in_row(self, c.at, address, what, site, c.w, c.r))
		__warpsafe_read_on(self, at & ~(u64)IN_ROW, address, what, site);
}

SLOW void __warpsafe_write_part_on(u32 self, u64 at, u64 address, u32 what, u32 site, u64 v0)
{
	struct cell c = left_at(at & IN_ROW ? at - IN_ROW : NOTHING);
	bool done = false;

	if (at & IN_ROW && __warpsafe_write_in_row(self, c.at, address, what, site, (u32)(v0 << 8 * (address & 3)), c.w, c.r))
		return;
	c = left_at(at & ~(u64)IN_ROW);
	if (is_parts(c.w))
		done = __warpsafe_write_bytes(self, c.w, address, what, site);
	else if (!(at & IN_ROW) && at > ALL && !BLOCK.ordered)
		done = write_part_of_cell(self, &c, address, what, site, BLOCK.launch ? BY_LAUNCHES : NO_MORE);
	if (!done)
		__warpsafe_write(address, what | WS_RACE_LOOKED, site, v0, 0);
}

SLOW void __warpsafe_atomic_on(u32 self, u64 at, u64 address, u32 what, u32 site, u64 w, u64 r)
{
	struct cell c = { at, w, r };
	bool done;

	if (BLOCK.launch && at != ALL && __warpsafe_write_beside(self, at, address, what, site, w, r)) {
		note_strong(self, what);
		return;
	}
	if (!at)
		c = make_cell(self, address, what, true);
	done = !at && WS_RACE_BYTES_OF(what) > 4 ? __warpsafe_write_cells(self, address, what, site) :
	       c.at > ALL && write_cell(self, &c, address, what, site, NO_MORE);
	if (done)
		note_strong(self, what);
	else
		__warpsafe_atomic(address, what, site);
}

SLOW u32 __warpsafe_tries_again(u32 self, u64 word, u32 what)
{
	return tries_word_again(self - self_of(0), word, what);
}

/* Of global memory; nothing but a call is not known where the access stands. */
HELPER bool global_tries_again(u32 self, u64 address, u32 what)
{
	u64 word = what & WS_RACE_RETRIES ? word_with_scope(address, what) : 0;

	return word && __warpsafe_tries_again(self, word, what & ~(u32)WS_RACE_LOOKED);
}

/* Of a write, or an atomic, of a whole word. */
HELPER u64 entry_of_write(u32 self, u64 now, u32 what, u32 site)
{
	return (now >> SUB_AT << SUB_AT) | (u64)(self & 31) << LANE_AT | WS_RACE_CLASS_OF(what) << W_CLASS_AT | 15u << W_BYTES_AT |
	       (site & (W_SITES - 1));
}

/* A write of a whole word was entered without a look at W before, and what was there does not say that all is well; w: what W had, of this
 * launch, or of one that may overlap it; r: R behind that, 0 where nothing is read. Words that are passed over must not be exchanged: a warp that has come to one
 * looks before it writes from then on. */
SLOW void __warpsafe_entered(u32 self, u64 at, u64 address, u32 what, u32 site, u64 value, u64 w, u64 r)
{
	struct me m = access_of(BLOCK.warps[(self - self_of(0)) >> 5].now, what, site);
	struct word d = { at, address, 15 };
	struct wrote v = wrote_word(address, what, site, (u32)value);

	if (!m.now)
		return;
	if (w_class(w) == W_OFTEN)
		set_flags(m.warp, NOW_OFTEN);
	if (is_parts(w) || is_passed_over(w, BLOCK.grid))
		cas64(at, entry_of_write(self, m.now, what, site), w);
	else
		check_write(&d, &m, w, r, &v);
	if (is_parts(w))
		__warpsafe_write(address, what | WS_RACE_LOOKED, site, value, 0);
}

#include "race_locked.cuh"

INLINED void race_read_global(u32 self, u64 address, u32 what, u32 site)
{
	struct cell c = all_left(NOTHING);

	if (!global_tries_again(self, address, what))
		c = check_read(self, address, what, site, IN_LINES);
	if (WS_RACE_BYTES_OF(what) > 4 && !c.at && __warpsafe_read_at_once(self, address, what, site))
		return;
	if (c.at != NOTHING)
		__warpsafe_read_on(self, c.at, address, what, site);
}

INLINED void race_write_global(u32 self, u64 address, u32 what, u32 site, u64 v0, u64 v1)
{
	struct cell c = check_write_at(self, address, what, site, (u32)(v0 << 8 * (address & 3)), IN_LINES);

	if (WS_RACE_BYTES_OF(what) > 4 && !c.at && __warpsafe_write_words(self, address, what, site, v0, v1))
		return;
	if (c.at != NOTHING)
		__warpsafe_write_on(self, c.at, address, what, site, v0, v1);
}

INLINED void race_read_part_global(u32 self, u64 address, u32 what, u32 site)
{
	struct cell c = check_read(self, address, what, site, IN_ROWS);

	if (c.at != NOTHING)
		__warpsafe_read_part_on(self, c.at, address, what, site);
}

INLINED void race_write_part_global(u32 self, u64 address, u32 what, u32 site, u64 v0, u64 v1)
{
	struct cell c = check_write_at(self, address, what, site, (u32)(v0 << 8 * (address & 3)), IN_ROWS);

	(void)v1;
	if (c.at != NOTHING)
		__warpsafe_write_part_on(self, c.at, address, what, site, v0);
}

INLINED void race_write_locked_global(u32 self, u64 address, u32 what, u32 site, u64 v0, u64 v1)
{
	(void)v1;
	__warpsafe_write_locked(self, address, what, site, v0);
}

INLINED void race_atomic_global(u32 self, u64 address, u32 what, u32 site)
{
	struct cell c = all_left(NOTHING);

	if (is_of_lock(what)) {
		__warpsafe_atomic_word(self, word_with_scope(address, what), what, site);
		return;
	}
	if (!global_tries_again(self, address, what))
		c = check_atomic(self, address, what);
	if (c.at != NOTHING)
		__warpsafe_atomic_on(self, c.at, address, what, site, c.w, c.r);
}

#include "race_swap.cuh"

/* ---- probes (race.h) ----
 * Small rather than fast: a probe is one block, or a few. */
SLOW u32 __warpsafe_is_probe(u32 dynamic)
{
	return find_cells(dynamic).probe;
}

INLINED u32 race_is_probe(void)
{
	return __warpsafe_is_probe(dynamic_begin());
}

/* An address that is not the program's may be one that it would not have come to. */
HELPER bool probe_is_inside(const struct here *h, u32 address, u32 bytes)
{
	u32 begin = begin_of_cells(h);

	return address >= begin && address < BLOCK.cells && bytes <= BLOCK.cells - address;
}

/* A word stands for each `unit` bytes. Elsewhere: a place that is not inside. */
SLOW u64 __warpsafe_probe_place(u64 address, u32 unit)
{
	struct here h = here(race_thread());
	u32 begin = begin_of_cells(&h);

	return address >> 32 || address < begin || address % unit ? 0 : begin + ((u32)address - begin) / unit * 4;
}

INLINED u64 race_probe_place(u64 address, u32 unit)
{
	return __warpsafe_probe_place(address, unit);
}

/* Entries say what is true of all that they stand for, so that no report is wrong: of weak reads and strong ones of several threads that they are strong, and
 * of a thread what it did last. A probe must not forget what was weak: so it fails where that would be. Its reads have their class as their site, which is
 * that of the first one: who comes later and finds another one there is of another class. */
#define PROBE_SITE(what) (1 + WS_RACE_CLASS_OF(what))

/* A strong access: has its thread come to one of the words weakly, in the same interval? */
HELPER bool forgets_own(const struct here *h, u32 self, u32 offset, u32 bytes, bool write)
{
	bool forgets = false;

	#pragma nounroll
	for (u32 k = 0; k < bytes; k += 4) {
		u64 e = shared_load64(w_cell(h, offset + k) + (write ? 0 : h->reads));
		bool now = (u32)(e >> 32) >= (h->time & SHARED_EPOCH) && !is_before_sync(e, self, h->synced);

		forgets |= now && !(write ? w_class(e) : r_class(e)) && !(((u32)e ^ self << THREAD_AT) & (write ? SAME_THREAD : SAME_READER));
	}
	return forgets;
}

/* A read that is entered: is it one of several that are not of its class? */
HELPER bool mixes_reads(const struct here *h, u32 self, u32 offset, u32 bytes, u32 site)
{
	bool mixes = false;

	#pragma nounroll
	for (u32 k = 0; k < bytes; k += 4) {
		u64 r = shared_load64(w_cell(h, offset + k) + h->reads);

		mixes |= (u32)(r >> 32) >= (h->time & SHARED_EPOCH) && !r_is_before_sync(r, self, h->synced) && ((u32)r & (R_SITES - 1)) != site;
	}
	return mixes;
}

/* A write is one of the same value each time. */
SLOW __attribute__((flatten)) void __warpsafe_probe_access(u32 self, u64 address, u32 what, u32 write)
{
	struct here h = here(self);
	u32 bytes = WS_RACE_BYTES_OF(what), site = PROBE_SITE(what);

	if (address >> 32 || !h.time || !probe_is_inside(&h, (u32)address, bytes) ||
	    (WS_RACE_CLASS_OF(what) && forgets_own(&h, self, (u32)address, bytes, write)))
		BLOCK.failed = 1;
	else if (bytes < 4 && write)
		race_write_part_shared(self, address, what, 0, 0, 0);
	else if (bytes < 4)
		race_read_part_shared(self, address, what, site);
	else if (write)
		race_write_shared(self, address, what, 0, 0, 0);
	else
		__warpsafe_read_shared_on(self, address, what, site);
	if (!write && !BLOCK.failed && mixes_reads(&h, self, (u32)address, bytes, site))
		BLOCK.failed = 1;
}

#define FOUR(space) (WS_RACE_BYTES(4) | WS_RACE_SPACE(space))

/* The same of a word, if nothing is found. It calls nothing. True: nothing is done, or it may be done again. Who changes the word's cell between
 * these two looks races with the write. */
SLOW u32 __warpsafe_probe_word(u32 self, u64 address, u32 write)
{
	struct here h = here(self);
	u32 at = w_cell(&h, (u32)address), what = FOUR(WS_RACE_SHARED);
	u64 w, r;

	if (address >> 32 || !h.time || !probe_is_inside(&h, (u32)address, 4))
		return 1;
	if (!write)
		return !read_words_here(self, (u32)address, 1, what, PROBE_SITE(what), UNTIL_ENTERED);
	w = shared_load64(at);
	r = shared_load64(at + h.reads);
	if (!w_is_fine(w, self, &h, what) || !r_is_fine(r, self, &h, what))
		return 1;
	note_here(&h, self, (u32)address, what, 0, 0);
	if (!write_word_here(&h, self, (u32)address, what, 0, &w, &r))
		BLOCK.failed = 1;
	return 0;
}

INLINED void race_probe_access(u32 self, u64 address, u32 what, u32 write)
{
	if (what != FOUR(WS_RACE_SHARED) || __warpsafe_probe_word(self, address, write))
		__warpsafe_probe_access(self, address, what, write);
}

SLOW void __warpsafe_probe_fail(void)
{
	BLOCK.failed = 1;
}

INLINED void race_probe_fail(void)
{
	__warpsafe_probe_fail();
}

/* Is this the first proof of the kernel, or one with the same constants? */
HELPER bool keep_proof(u64 constants, u32 number)
{
	u64 was = constants ? cas64(RACE.proofs + 8ull * number, 0, constants) : 0;

	return !was || was == constants;
}

SLOW void __warpsafe_probe_leave(u64 constants, u32 number)
{
	u32 group = activemask();
	u64 here, all;

	fence_block();
	if (!leads(group) || !leaves_last(group))
		return;
	free_slot();
	if (BLOCK.off == OFF_SILENT)
		return;
	here = BLOCK.failed || BLOCK.off || BLOCK.lost || !BLOCK.cells ? 1ull << 32 | 1 : 1;
	all = fetch_add64(COUNTS(probed), here) + here;
	if ((u32)all != blocks_x())
		return;
	store64(COUNTS(probed), 0);
	if (!(all >> 32) && !keep_proof(constants, number))
		all = ~0ull;
	asm volatile("fence.acq_rel.sys;" : : : "memory");
	store32(RACE.probe, all >> 32 ? WS_RACE_PROBE_FOUND : WS_RACE_PROBE_NOTHING);
}

INLINED void race_probe_leave(u64 constants, u32 number)
{
	__warpsafe_probe_leave(constants, number);
}

#include "race_barrier.cuh"

/* ---- the same as one copy for all accesses ----
 * A kernel with many checks runs slower with each of them at its place: its code does not stay in the instruction cache,
 * 1 to 3 KB a check. Accesses of a word without a scope have functions that know that. They call nothing: they say what is left, and the rest is called
 * where the access stands, so that no call of them keeps as many registers in memory. (Those of shared memory: race_shared_access.cuh.) */
#define COPY_OF SLOW __attribute__((flatten))
#define CLASS_IN(what) ((what) & WS_RACE_CLASS(15))

/* Of these four, what is left: see left_over. */
COPY_OF u64 __warpsafe_read4_global(u32 self, u64 address, u32 site)
{
	return check_read(self, address, FOUR(WS_RACE_GLOBAL), site, IN_LINES).at;
}

COPY_OF u64 __warpsafe_write4_global(u32 self, u64 address, u32 what, u32 site, u64 value)
{
	return check_write_at(self, address, FOUR(WS_RACE_GLOBAL) | CLASS_IN(what), site, (u32)value, IN_LINES).at;
}

/* Of other accesses of words. */
COPY_OF u64 __warpsafe_read_global(u32 self, u64 address, u32 what, u32 site)
{
	return check_read(self, address, what, site, IN_LINES).at;
}

COPY_OF u64 __warpsafe_write_global(u32 self, u64 address, u32 what, u32 site, u64 v0)
{
	return check_write_at(self, address, what, site, (u32)(v0 << 8 * (address & 3)), IN_LINES).at;
}

INLINED void race_call_read_global(u32 self, u64 address, u32 what, u32 site)
{
	u64 at = NOTHING;

	if (!global_tries_again(self, address, what))
		at = __warpsafe_read_global(self, address, what, site);
	if (WS_RACE_BYTES_OF(what) > 4 && !at && __warpsafe_read_at_once(self, address, what, site))
		return;
	if (at != NOTHING)
		__warpsafe_read_on(self, at, address, what, site);
}

INLINED void race_call_write_global(u32 self, u64 address, u32 what, u32 site, u64 v0, u64 v1)
{
	u64 at = __warpsafe_write_global(self, address, what, site, v0);

	if (WS_RACE_BYTES_OF(what) > 4 && !at && __warpsafe_write_words(self, address, what, site, v0, v1))
		return;
	if (at != NOTHING)
		__warpsafe_write_on(self, at, address, what, site, v0, v1);
}

INLINED void race_call_read4_global(u32 self, u64 address, u32 what, u32 site)
{
	u64 at = __warpsafe_read4_global(self, address, site);

	(void)what;
	if (at != NOTHING)
		__warpsafe_read_on(self, at, address, FOUR(WS_RACE_GLOBAL), site);
}

INLINED void race_call_write4_global(u32 self, u64 address, u32 what, u32 site, u64 v0, u64 v1)
{
	u64 at = __warpsafe_write4_global(self, address, what, site, v0);

	(void)v1;
	if (at != NOTHING)
		__warpsafe_write_on(self, at, address, FOUR(WS_RACE_GLOBAL) | CLASS_IN(what), site, v0, 0);
}

/* ---- writes where nothing is read ----
 * In a launch of which nobody reads what it writes, as proofs have found, no R says anything. So W is entered by an exchange, without a look
 * at it before, and what was there says the rest: one trip to memory in place of three. */
INLINED void race_write_unread_global(u32 self, u64 address, u32 what, u32 site, u64 v0, u64 v1)
{
	u64 now = shared_load64((self & ~31u) + __builtin_offsetof(struct warp, now)), at = 0, mine, was;

	(void)v1;
	if ((now & (NOW_ENTERED | NOW_OFTEN)) == NOW_ENTERED)
		at = cell_at_once(address);
	if (!at) {                       /* a line that lanes cover, or has no cells */
		race_call_write4_global(self, address, what, site, v0, 0);
		return;
	}
	note_own(self, address, what, site, (u32)v0);
	mine = entry_of_write(self, now, what, site);
	was = exchange64(at, mine);
	if (segment_of(was) >= BLOCK.floor && (high(was) != high(mine) || w_is_row(was)))
		__warpsafe_entered(self, at, address, what, site, (u32)v0, was, 0);
}

/* Four words that are not aligned to 16 bytes. */
SLOW void __warpsafe_read_apart(u32 self, u64 address, u32 site)
{
	#pragma nounroll
	for (u32 k = 0; k < 4; k++)
		race_call_read4_global(self, address + 4 * k, 0, site + k);
}

INLINED __attribute__((flatten)) void race_read_four_global(u32 self, u64 address, u32 what, u32 site)
{
	if (address & 15)
		__warpsafe_read_apart(self, address, site);
	else
		race_read_global(self, address, what, site);
}

/* The function that is there once, __warpsafe_NAME, and race_call_NAME, which calls it. */
#define ONE_COPY(name, parameters, arguments, body) \
	COPY_OF void __warpsafe_##name parameters { body; } \
	INLINED void race_call_##name parameters { __warpsafe_##name arguments; }
#define COPY_OF_ACCESS(name) \
	ONE_COPY(name, (u32 self, u64 address, u32 what, u32 site), (self, address, what, site), race_##name(self, address, what, site))
#define COPY_OF_STORE(name) \
	ONE_COPY(name, (u32 self, u64 address, u32 what, u32 site, u64 v0, u64 v1), (self, address, what, site, v0, v1), \
	         race_##name(self, address, what, site, v0, v1))
COPY_OF_ACCESS(read_part_global)
COPY_OF_ACCESS(read_four_global)
COPY_OF_STORE(write_part_global)
COPY_OF_ACCESS(atomic_global)

/* ---- ahead of a loop ---- */
/* Reads of four words in each of so many rounds of a loop, before the first of them. How many bytes behind the first four words
 * were checked, too: as many as are plainly ordered by a release of all blocks (race_all.cuh), or were looked at one by one. */
SLOW u32 __warpsafe_read_ahead(u32 self, u64 address, u32 what, u32 site, u32 rounds)
{
	enum { MOST = 1024 };
	u32 fours = WS_RACE_FOURS_OF(what), four = what & ~(u32)WS_RACE_FOURS(7), n = (rounds < MOST ? rounds : MOST) * fours, at_once;
	struct ahead a;

	if (!begin_ahead(&a, self, what, site)) {
		__warpsafe_read_four_global(self, address, four, site);
		return 0;
	}
	#pragma nounroll
	for (u32 k = 0; k < n; k += at_once) {
		u64 next = address + 16 * k, cells = cell_of_new_line(self, next);

		at_once = n - k >= FOURS_AT_ONCE && (next >> 4) % FOURS_AT_ONCE == 0 ? FOURS_AT_ONCE : 1;
		if (at_once == FOURS_AT_ONCE && cells && read_all_ordered(&a, cells, k))
			continue;
		#pragma nounroll
		for (u32 m = 0; m < at_once; m++)
			__warpsafe_read_words(self, next + 16 * m, four, site + 4 * ((k + m) & (fours - 1)));
	}
	return 16 * (n - 1);
}

INLINED __attribute__((flatten)) u32 race_read_ahead_global(u32 self, u64 address, u32 what, u32 site, u32 rounds)
{
	u64 now = shared_load64((self & ~31u) + __builtin_offsetof(struct warp, now));

	if (now & NOW_ACQUIRED && rounds >= FOURS_AT_ONCE && !(address & 15))
		return __warpsafe_read_ahead(self, address, what, site, rounds);
	race_read_four_global(self, address, what & ~(u32)WS_RACE_FOURS(7), site);
	return 0;
}

#include "race_acquire.cuh"

/* ---- barriers of a part of the block ----
 * Each warp that takes part releases, at a word that stands for the barrier, what all of its lanes have done, and acquires
 * there what those have released that came before: all who met it here. Those who came earlier to the same barrier are
 * in the chain as well, and a warp that has come to it once more may be, which can hide a race. */
enum { PART_WORDS = 0xf0000, BARRIERS = 16 };    /* addresses beyond all shared memory */
enum { PART_WHAT = WS_RACE_CLASS(WS_RACE_STRONG_CTA) | WS_RACE_SPACE(WS_RACE_SHARED) | WS_RACE_BYTES(4) | WS_RACE_RELEASES };

HELPER bool is_part(u32 threads)
{
	return threads == WS_RACE_PART || (threads + 31) / 32 != (threads_of_block() + 31) / 32;
}

HELPER u64 part_word(u32 barrier) { return PART_WORDS + 4 * (barrier % BARRIERS); }

/* The lane that works for its warp, all of which has come. */
HELPER bool works(u32 warp)
{
	return !((u32)BLOCK.warps[warp].alive_arrived & lanes_below()) && !block_is_off(warp) && BLOCK.warps[warp].now;
}

/* All of the warp has come. Its time goes on before it arrives, and again when it has passed. */
HELPER void clocks_at_part(u32 warp, u32 barrier, bool pass)
{
	u32 key = key_of_part(barrier % BARRIERS);
	bool is_checked = !BLOCK.off && BLOCK.warps[warp].now;

	if (pass && is_checked)
		__warpsafe_clock_acquire(key, 0, activemask());
	if (works(warp)) {
		sync_hands_on();
		next_sub(warp, true);
	}
	warp_sync_all();
	if (!pass && is_checked)
		__warpsafe_clock_release(key, 0, activemask());
	warp_sync_all();
}

SLOW void __warpsafe_part_arrive(u32 barrier, u32 threads)
{
	u32 warp = warp_index();

	if (!is_part(threads)) {
		__warpsafe_arrive_by_call();
		return;
	}
	warp_sync_all();
	if (has_clocks() && BLOCK.threads) {
		clocks_at_part(warp, barrier, false);
		return;
	}
	if (works(warp)) {
		sync_hands_on();
		next_sub(warp, true);
		if (BLOCK.threads)
			release_all(part_word(barrier), PART_WHAT, thread_index(), 0, false);
		else
			switch_off();
	}
	warp_sync_all();
}

INLINED void race_part_arrive(u32 barrier, u32 threads)
{
	__warpsafe_part_arrive(barrier, threads);
}

/* By the lane that works for its warp: what was released at a word that stands for a barrier. */
HELPER void acquire_at(u32 warp, u64 key, u32 scope)
{
	struct found f;

	if (!BLOCK.threads || is_incomplete(BLOCK.grid)) {
		unknown_from_here(warp);
		return;
	}
	f = released_at(key);
	if (!f.release)
		return;
	want_state(thread_index());
	acquire(thread_index(), &f, scope);
}

SLOW void __warpsafe_part_pass(u32 barrier, u32 threads)
{
	u32 warp = warp_index();

	if (!is_part(threads)) {
		__warpsafe_pass_by_call();
		return;
	}
	warp_sync_all();
	if (has_clocks() && BLOCK.threads) {
		clocks_at_part(warp, barrier, true);
		return;
	}
	if (works(warp)) {
		acquire_at(warp, location_key(part_word(barrier), PART_WHAT), WS_RACE_STRONG_CTA);
		next_sub(warp, true);
	}
	warp_sync_all();
}

INLINED void race_part_pass(u32 barrier, u32 threads)
{
	__warpsafe_part_pass(barrier, threads);
}

#include "race_async.cuh"
#if SM90
#include "race_peer.cuh"
#include "race_bulk.cuh"
#endif
#if REMOTE
#include "race_remote.cuh"
#endif
#if TENSOR
#include "race_product.cuh"
#include "race_tensor.cuh"
#endif

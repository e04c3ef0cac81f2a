/* race_locked.cuh - atomics of locks, and writes of words in kernels that have locks (race.cu).
 *
 * There the part at the access hardly ever suffices: the last one was another thread's, before mine by what mine has acquired. So all of it is
 * one call, of few instructions, with loads that are up to date; what is left over is for the calls that know more. */
#ifndef WS_RACE_LOCKED_CUH
#define WS_RACE_LOCKED_CUH

/* ---- words ----
 * Of global memory, of 4 bytes at most; told with its scope (word_with_scope), as known where the access stands. */
HELPER u64 key_of_word(u64 word) { return word & ((1ull << KEY_SCOPE_AT) - 1); }
HELPER u32 scope_of_word(u64 word) { return (u32)(word >> KEY_SCOPE_AT); }

/* An atomic of a lock: where another thread's was the last there, and nobody has read it by a weak access, it is done here; all
 * else is for the call that knows more. */
HELPER bool is_of_lock(u32 what)
{
	u32 cls = WS_RACE_CLASS_OF(what);

	return what & WS_RACE_RETRIES && !(what & WS_RACE_BARRIERS) && WS_RACE_BYTES_OF(what) == 4 && (cls == WS_RACE_ATOMIC_GPU || cls == WS_RACE_ATOMIC_SYS);
}

/* Classes of other accesses with which those are morally strong whoever they are by, bit by bit. */
enum { LOCK_CLASSES = 1 << WS_RACE_STRONG_GPU | 1 << WS_RACE_STRONG_SYS | 1 << WS_RACE_ATOMIC_GPU | 1 << WS_RACE_ATOMIC_SYS };

SLOW void __warpsafe_atomic_word(u32 self, u64 word, u32 what, u32 site)
{
	u64 address = key_of_word(word) & ~3ull, now, at, w, r, mine, was;
	u32 old;

	if (tries_word_again(self - self_of(0), word, what & ~(u32)WS_RACE_LOOKED))
		return;
	now = shared_load64((self & ~31u) + __builtin_offsetof(struct warp, now));
	at = cell_of_new_line(self, address);
	if (!at) {
		__warpsafe_atomic_on(self, 0, address, what, site, 0, 0);
		return;
	}
	load_cell(at, &w, &r);
	old = BLOCK.floor << (SEGMENT_AT - 32);
	mine = entry_of_write(self, now, what, site);
	if (!(now & NOW_ENTERED) || (high(w) >= old && !(LOCK_CLASSES >> w_class(w) & 1))) {
		__warpsafe_atomic_on(self, at, address, what, site, w, r);
		return;
	}
	if ((w ^ mine) >> W_BYTES_AT) {
		was = cas64(at, w, mine);
		if (was != w) {
			__warpsafe_atomic_on(self, at, address, what, site, was, r);
			return;
		}
		r = load64(at + 8);
	}
	if (high(r) >= old && !(LOCK_CLASSES >> r_class(r) & 1))
		__warpsafe_atomic_on(self, at, address, what, site, mine, r);
	else if (!(now & NOW_OBSERVED))
		set_flags((self - self_of(0)) >> 5, NOW_OBSERVED);
}

/* ---- W by an exchange ----
 * What is in W is no reason not to enter a write, so nobody looks at it before: an exchange enters mine, and gives what was there, to be judged.
 * R is looked at behind it, as ever. (Atomics of locks look first: tables of locks were slower without, docs/PERFORMANCE.md.) */
/* What W had, and then R; behind the exchange, for its result is compared. */
HELPER void enter_in(u64 at, u64 mine, u64 *w, u64 *r)
{
	*w = exchange64(at, mine);
	*r = 0;
	if (~*w)                         /* always */
		*r = load64(at + 8);
}

/* line: see line_at_once. */
SLOW void __warpsafe_write_in_line(u32 self, u64 line, u64 address, u32 what, u32 site, u32 value)
{
	struct cell c = all_left(ALL);
	struct fast f;

	if (begin_fast(&f, self))
		c = check_write_in(&f, line, self, address, what, site, value, IN_LINES);
	if (c.at != NOTHING)
		__warpsafe_write_on(self, c.at, address, what, site, value, 0);
}

/* Is W before a weak write of mine by program order, barriers or the launch, or by my last acquire? */
HELPER bool write_is_ordered(const struct fast *f, u32 self)
{
	return is_past(f->w, f) || (!is_special(f->w) && (own(f->w, w_bytes(f->w), f) || before_barrier(f->w, f))) || write_acquired(f, self);
}

/* A weak write of a word. */
SLOW void __warpsafe_write_locked(u32 self, u64 address, u32 what, u32 site, u64 value)
{
	u64 line = 0, entry = 0, at;
	struct fast f;

	if (begin_fast(&f, self))
		line = line_at_once(address);
	if (line)
		entry = load64_stable(line);
	if (line && !is_expanded(entry) && !covers_line(activemask(), address, 4, self & 31))
		entry = __warpsafe_expand(line, (self - self_of(0)) >> 5);
	if (!is_expanded(entry) || f.now & NOW_OFTEN) {
		__warpsafe_write_in_line(self, line, address, what, site, (u32)value);
		return;
	}
	at = cell_by(entry, address);
	f.line = f.row = false;
	f.bits = 15;
	f.time = (f.now >> SUB_AT << SUB_AT) | (u64)(self & 31) << LANE_AT;
	note_own(self, address, what, site, (u32)value);
	enter_in(at, entry_of_write(self, f.now, what, site), &f.w, &f.r);
	if (!write_is_ordered(&f, self) || !read_is_before(f.r, &f))
		__warpsafe_entered(self, at, address, what, site, value, f.w, f.r);
}

#endif

/* race_acquire.cuh - the hooks at fences, and at strong accesses in kernels in which these may order anything (race.cu). For words of global
 * memory see race_word.cuh. */
#ifndef WS_RACE_ACQUIRE_CUH
#define WS_RACE_ACQUIRE_CUH

SLOW void __warpsafe_sc_fence(u32 what)
{
	if (BLOCK.off || !BLOCK.warps[warp_index()].now)
		return;
	will_hand_on();
	note_sc_fence(WS_RACE_CLASS_OF(what), what & WS_RACE_MEETS);
}

INLINED void race_fence_before(u32 what)
{
	if (what & WS_RACE_SC)
		__warpsafe_sc_fence(what);
}

SLOW void __warpsafe_fence(u32 by)
{
	u32 thread = thread_index();
	u64 now;

	if (BLOCK.off)
		return;
	next_sub(thread >> 5, false);
	now = BLOCK.warps[thread >> 5].now;
	if (!BLOCK.threads || !now)
		return;
	want_state(thread);
	fenced(thread, now, by);
}

INLINED void race_fence_after(u32 what)
{
	__warpsafe_fence(WS_RACE_CLASS_OF(what) | (what & WS_RACE_SC ? BY_SC : 0) | (what & WS_RACE_ACQUIRES ? BY_ACQUIRE : 0) |
	                 (what & WS_RACE_RELEASES ? BY_RELEASE : 0));
}

/* Behind a fence, in modules of which kernels have clocks. What is known there may be released at a word. */
SLOW void __warpsafe_clock_fence(void)
{
	if (has_clocks())
		__warpsafe_clock_of_word();
}

INLINED void race_clock_fence(void)
{
	__warpsafe_clock_fence();
}

/* What a strong write of the thread releases, which has no release of its own: what was before that fence. more: REC_AND_NEAR, or 0. */
HELPER void release_fence(u64 address, u32 what, u32 thread, u64 fence, u32 more, bool first)
{
	u32 warp = thread >> 5, scope = scope_of(WS_RACE_CLASS_OF(what)), reach = scope;
	struct place p = place_of(BLOCK.warps[warp].now);
	struct record r = { .epoch = p.epoch, .sub = p.sub, .block = p.block, .grid = p.grid };

	if (!(what & WS_RACE_RELEASES)) {
		r.epoch = (u32)(fence >> 32);
		r.sub = (u32)fence >> 3;
		reach = (u32)fence & 7;
	}
	r.full = r.epoch == p.epoch && BLOCK.full[warp] < r.sub ? BLOCK.full[warp] : r.sub;
	if (r.epoch != p.epoch)
		more |= fenced_by_all(r.epoch);
	r.kind = REC_RELEASE | more | (thread & 31) << 8 | warp << 16 | (reach < scope ? reach : scope) << 24;
	r.what = BLOCK.lists[warp];
	for (u32 n = words_of(what); n; n--, address += 4) {
		struct released in = release(location_key(address, what), &r, first);

		if (in.row && WS_RACE_SPACE_OF(what) == WS_RACE_GLOBAL)
			__warpsafe_count_release(number_of_word(in.row), in.index, r.kind, r.full, r.epoch, r.sub);
	}
}

/* Behind what the wide one of two fences has released. */
SLOW void __warpsafe_release_near(u64 address, u32 what)
{
	u32 thread = thread_index();

	release_fence(address, what, thread, own_load64(THREAD(thread, near)), 0, false);
}

HELPER void release_all(u64 address, u32 what, u32 thread, u64 fence, bool first)
{
	bool two = !(what & WS_RACE_RELEASES) && has_near(fence);

	release_fence(address, what, thread, without_near(fence), two ? (u32)REC_AND_NEAR : 0, first);
	if (two)
		__warpsafe_release_near(address, what);
}

/* Who tries an atomic again and again releases once. */
SLOW void __warpsafe_release(u64 address, u32 what)
{
	u32 thread = thread_index(), warp = thread >> 5;
	u64 fence = 0, word = 0, last = 0;
	bool releases = what & WS_RACE_RELEASES;

	if (BLOCK.off || !find_space(&address, &what))
		return;
	if (!BLOCK.threads || !BLOCK.warps[warp].now) {
		launch_is_incomplete(BLOCK.grid);
		return;
	}
	if (releases) {                      /* at a time of its own, so no other is like it */
		next_sub(warp, false);
		if (has_clocks())
			__warpsafe_clock_of_word();
	} else {
		if (!has_state(thread))
			return;
		fence = own_load64(THREAD(thread, fence));
		last = own_load64(THREAD(thread, released)) & ~NOT_ACQUIRED;
		word = word_with_scope(address, what);
		if (!fence || (word && (last & ~OTHERS_TOO) == word))
			return;
	}
	/* Of this word there is none like it yet, if since the fence there was none at all, or one at another word alone. */
	release_all(address, what, thread, fence, !last || (word && !(last & OTHERS_TOO)));
	if (!releases)
		own_store64(THREAD(thread, released), !word ? SEVERAL_WORDS : word | NOT_ACQUIRED | (last ? OTHERS_TOO : 0));
}

/* Has the thread looked at this word before, since its last fence? Then what it finds there is looked up at its next. */
HELPER bool looks_again(u32 thread, u64 word, u64 last, u32 what)
{
	if (!word || !last || (last & ~AGAIN) != word)
		return false;
	if (last == word || own_load32(THREAD(thread, looked_when)) != epoch_mark(thread)) {
		note_look(thread, first_piece(BLOCK.threads, thread), word | AGAIN, what);
		will_hand_on();
	}
	return true;
}

/* What was to be looked up at the next fence is looked up now, for another word takes its place. */
SLOW void __warpsafe_look_up(u32 thread, u64 looked_at)
{
	struct found f = released_at(looked_at & ((1ull << KEY_SCOPE_AT) - 1));

	if (f.release)
		observe(thread, first_piece(BLOCK.threads, thread), &f, (u32)(looked_at >> KEY_SCOPE_AT) & 7);
}

/* Another word than the last is looked at. */
HELPER void look_at(u32 thread, u64 word, u64 last, u32 what)
{
	if (last & AGAIN)
		__warpsafe_look_up(thread, last);
	note_look(thread, first_piece(BLOCK.threads, thread), word, what);
}

/* The fence: a release that comes to be known before the program's load must be seen by ours. A load that acquires is
 * one itself, and where what the load has read is there, ours come behind it. */
SLOW void __warpsafe_acquire(u64 address, u32 what)
{
	u32 thread = thread_index(), warp = thread >> 5, scope = scope_of(WS_RACE_CLASS_OF(what));
	bool acquires = what & WS_RACE_ACQUIRES, waited = what & (WS_RACE_ACQUIRES | WS_RACE_WAITED);
	u64 word, last = 0, released = 0;
	u32 launch = WS_RACE_LAUNCH_INCOMPLETE;

	what &= ~(u32)WS_RACE_WAITED;
	if (BLOCK.off || !BLOCK.warps[warp].now || !find_space(&address, &what))
		return;
	word = word_with_scope(address, what);
	if (BLOCK.threads && has_state(thread)) {
		last = hears(thread) ? own_load64(THREAD(thread, observed_word)) : 0;
		released = own_load64(THREAD(thread, released));
	}
	if (!acquires && looks_again(thread, word, last, what))
		return;
	if (!waited)
		fence_gpu();
	if (BLOCK.threads) {
		launch = about_launch(BLOCK.grid);   /* looked at when the row is there: they are fetched together */
		want_state(thread);
		if (!acquires)
			look_at(thread, word, last, what);
	}
	for (u32 n = words_of(what); n; n--, address += 4) {
		struct found f = released_at(location_key(address, what));

		if (launch & WS_RACE_LAUNCH_INCOMPLETE) {
			unknown_from_here(warp);
			return;
		}
		if (!f.release)
			continue;
		will_hand_on();
		if (acquires)
			acquire(thread, &f, scope);
		else if (!word || (released & ~OTHERS_TOO) != (word | NOT_ACQUIRED) || !only_own_since(first_piece(BLOCK.threads, thread), &f, scope))
			observe(thread, first_piece(BLOCK.threads, thread), &f, scope);
	}
}

#include "race_word.cuh"

/* Is it an access for which there are these functions? */
HELPER bool is_word(u32 what)
{
	return WS_RACE_BYTES_OF(what) <= 4 && WS_RACE_SPACE_OF(what) == WS_RACE_GLOBAL && !(what & (WS_RACE_RELEASES | WS_RACE_ACQUIRES));
}

INLINED void race_release(u64 address, u32 what)
{
	if (is_word(what))
		__warpsafe_release_word(word_with_scope(address, what));
	else
		__warpsafe_release(address, what);
}

INLINED void race_acquire(u64 address, u32 what)
{
	__warpsafe_acquire(address, what);
}

/* The comparison waits for the value, whatever it is; the fence is there so that it is one. */
INLINED void race_acquire_found(u64 address, u32 what, u32 value)
{
	enum { UNLIKELY = 0x5bd1e995 };

	if (__builtin_expect(value == UNLIKELY, 0))
		fence_gpu();
	if (is_word(what))
		__warpsafe_acquire_word(word_with_scope(address, what), what);
	else
		__warpsafe_acquire(address, what | WS_RACE_WAITED);
}

#endif

/* race_word.cuh - release and acquire at a word of global memory of at most 4 bytes by accesses that are neither themselves (race.cu).
 *
 * Kernels with locks spend most of their time here, and much of it waits for instructions: so what nearly always happens stands in few of
 * them, one behind the other, and all else is a call, mostly of the functions that do it for any access. A word is told with
 * its scope (word_with_scope), which is known where the access stands. */
#ifndef WS_RACE_WORD_CUH
#define WS_RACE_WORD_CUH

/* ---- rows ---- */
/* The row of a key that is not where it is looked for first; made: it had none. */
SLOW u64 __warpsafe_make_row(u64 key)
{
	u64 value;

	return row_of(key, true, &value);
}

SLOW u64 __warpsafe_find_row(u64 key)
{
	u64 value;

	return look_up(key, &value);
}

/* ---- release ---- */
/* Where it is not put in order at once: others were faster, or there are many. Its number in the chain. */
SLOW u32 __warpsafe_link_on(u64 at, u32 number, u64 row)
{
	if (is_folded(row))
		row = __warpsafe_unfold(at, row);
	if (counted_in(row) < DENSE)
		store32(record_at(number), newest_in(row));
	return link_record(at, number, row);
}

SLOW void __warpsafe_no_row(void)
{
	launch_is_incomplete(BLOCK.grid);
	count_threads(COUNTS(records_missing));
}

/* May the word's first release be folded? Not where the thread knows more than it has done itself: what its warp's list has, by an acquire
 * of its own, or of another lane before a sync or a barrier. first: of its state. */
HELPER bool may_fold(const struct record *r, u64 now, u64 first)
{
	if (BLOCK.unknown)
		return false;
	return !r->what || (!SM90 && !r->epoch && !r->full && !(now & NOW_PARTIAL) && !own_load32(IN_PIECES(first, acquired)));
}

/* A later one of the same thread, which is one of all that the first is one of: who has looked at the word between the two has made a chain. */
HELPER bool takes_place(u64 row, u64 alone)
{
	return !((row ^ alone) >> FOLDED_LANE_AT) && (row & 1) <= (alone & 1);
}

/* What the thread has done before its last fence is released at the word. alone: folded; 0 = it may not be. Who may fold asks for a
 * record's number when that is wanted, others while the row is on its way. */
HELPER void release_word(u64 key, struct record *r, u64 alone)
{
	u32 number = alone ? 0 : claim_record(), index;
	u64 at = location_at(first_place(key)), has, row, was;

	load_location(at, &has, &row);
	if (!has && take_place(at, key, &row)) {
		;
	} else if (has != key) {
		at = __warpsafe_make_row(key);
		if (!at) {
			__warpsafe_no_row();
			return;
		}
		row = load64(at + 8);
	}
	if (alone && (!row || takes_place(row, alone))) {
		was = cas64(at + 8, row, alone);
		if (was == row) {
			if (counts_release(number_of_word(at)))
				__warpsafe_count_release(number_of_word(at), 0, r->kind, r->full, r->epoch, r->sub);
			return;
		}
		row = was;
	}
	if (alone)
		number = claim_record();
	if (!is_record(number))
		return;
	if (is_folded(row))
		row = __warpsafe_unfold(at, row);
	r->previous = newest_in(row);
	write_record(number, r);
	fence_gpu();
	index = counted_in(row);
	was = index < DENSE - 1 ? cas64(at + 8, row, (u64)(index + 1) << 32 | number) : row;
	if (was != row || index >= DENSE - 1)
		index = __warpsafe_link_on(at, number, was);
	if (counts_release(number_of_word(at)))
		__warpsafe_count_release(number_of_word(at), index, r->kind, r->full, r->epoch, r->sub);
}

/* Of a thread with two fences: rare, and so by what does it for any access. */
SLOW void __warpsafe_release_both(u64 word, u64 fence, u32 first)
{
	u32 what = WS_RACE_CLASS(scope_of_word(word)) | WS_RACE_SPACE(WS_RACE_GLOBAL) | WS_RACE_BYTES(4);

	release_all(key_of_word(word) & ~3ull, what, thread_index(), fence, first);
}

/* See __warpsafe_release. */
SLOW void __warpsafe_release_word(u64 word)
{
	u32 thread = thread_index(), warp = thread >> 5, reach;
	u64 now = BLOCK.warps[warp].now, first = first_piece(BLOCK.threads, thread), fence, released, last;
	struct record r;
	struct place p;

	if (!now || !has_state(thread)) {
		if (!BLOCK.off && (!now || !BLOCK.threads))
			launch_is_incomplete(BLOCK.grid);
		return;
	}
	own_load_two64(IN_PIECES(first, fence), &fence, &released);
	last = released & ~NOT_ACQUIRED;
	if (!fence || (last & ~OTHERS_TOO) == word)
		return;
	p = own_place(now, warp);
	if (__builtin_expect(has_near(fence), 0)) {
		__warpsafe_release_both(word, fence, !last);
		own_store64(IN_PIECES(first, released), word | NOT_ACQUIRED | (last ? OTHERS_TOO : 0));
		return;
	}
	reach = (u32)fence & 7;
	reach = reach < scope_of_word(word) ? reach : scope_of_word(word);
	r = (struct record){ 0, REC_RELEASE | (thread & 31) << 8 | warp << 16 | reach << 24, BLOCK.lists[warp], (u32)fence >> 3,
			     (u32)(fence >> 32), (u32)fence >> 3, p.block, p.grid };
	if (r.epoch == p.epoch) {
		u32 full = BLOCK.full[warp];

		r.full = full < r.sub ? full : r.sub;
	} else {
		r.kind |= fenced_by_all(r.epoch);
	}
	own_store64(IN_PIECES(first, released), word | NOT_ACQUIRED | (last ? OTHERS_TOO : 0));
	if (!last || !(last & OTHERS_TOO) || !__warpsafe_same_release(key_of_word(word), r.kind, r.block, r.epoch, r.sub, r.full))
		release_word(key_of_word(word), &r, may_fold(&r, now, first) ? folded(&r) : 0);
}

/* ---- acquire ---- */
/* See __warpsafe_acquire. What was read has been waited for. */
SLOW void __warpsafe_acquire_word(u64 word, u32 what)
{
	u32 thread = thread_index(), warp = thread >> 5, scope = scope_of_word(word), launch;
	u32 low, high, looked_what, looked_when;
	u64 now = BLOCK.warps[warp].now, first = first_piece(BLOCK.threads, thread), key = key_of_word(word), last = 0, fence, released;
	u64 at, has, row;
	u32 seen = 0, seen_word = 0, seen_counted, read = 0;
	struct found f;

	if (!now || !BLOCK.threads) {
		__warpsafe_acquire(key & ~3ull, what | WS_RACE_WAITED);
		return;
	}
	want_state(thread);
	if (hears(thread)) {
		own_load_four(IN_PIECES(first, observed_word), &low, &high, &looked_what, &looked_when);
		last = pair(low, high);
	}
	if (last && (last & ~AGAIN) == word) {
		if (last == word || looked_when != (u32)(now >> EPOCH_AT)) {
			note_look(thread, first, word | AGAIN, what);
			will_hand_on();
		}
		return;
	}
	if (last & AGAIN)
		__warpsafe_look_up(thread, last);
	launch = about_launch(BLOCK.grid);   /* what is looked at when the row is there is fetched together with it */
	at = location_at(first_place(key));
	load_location(at, &has, &row);
	own_load_two64(IN_PIECES(first, fence), &fence, &released);
	if (hears(thread))
		own_load_four(IN_PIECES(first, seen), &seen, &seen_word, &seen_counted, &read);
	note_look(thread, first, word, what);
	if (has != key) {
		at = has ? __warpsafe_find_row(key) : 0;
		row = at ? load64(at + 8) : 0;
	}
	if (launch & WS_RACE_LAUNCH_INCOMPLETE) {
		unknown_from_here(warp);
		return;
	}
	if (is_folded(row))              /* its own one alone, where it has released there since its last fence */
		row = (released & ~OTHERS_TOO) == (word | NOT_ACQUIRED) ? 0 : __warpsafe_unfold_for_others(at, row);
	if (!newest_in(row))
		return;
	will_hand_on();
	f = (struct found){ newest_in(row), number_of_word(at), counted_in(row) };
	if ((released & ~OTHERS_TOO) != (word | NOT_ACQUIRED) || !only_own_since(first, &f, scope))
		observe_behind(thread, first, seen, seen_word, read, &f, scope);
}

#endif

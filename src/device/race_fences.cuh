/* race_fences.cuh - threads that execute fences of a block's or a cluster's scope, and wider ones (race.cu).
 *
 * What a fence of a block's scope orders is ordered within the block, and what an earlier, wider one orders is ordered for others still; and
 * what a thread has observed before the first of the two, and acquires by it within its block, it acquires by a wider one for
 * others. So in kernels that have both (WS_RACE_TWO_FENCES) a thread knows both times:
 *
 *     fence   of the last wide one, with AND_NEAR + scope of the other if there was one since
 *     near    that, likewise: epoch << 32 | sub << 3 | scope
 *
 * A strong write behind both makes two releases, the wide one first. What was observed stays in the list of what was, with the
 * scope in which it has been acquired, until a wide fence comes. */
#ifndef WS_RACE_FENCES_CUH
#define WS_RACE_FENCES_CUH

enum { AND_NEAR = WS_RACE_STRONG_SYS };  /* scopes of near ones are 1 and 2 */
static_assert(WS_RACE_STRONG_CTA == 1 && WS_RACE_STRONG_CLUSTER == 2 && AND_NEAR + WS_RACE_STRONG_CLUSTER < 8, "it has 3 bits");

HELPER bool has_near(u64 fence) { return ((u32)fence & 7) > AND_NEAR; }

/* The wide one of the two. */
HELPER u64 without_near(u64 fence) { return has_near(fence) ? (fence & ~7ull) | WS_RACE_STRONG_GPU : fence; }

/* What releases at a word of shared memory is of this block: no wider fence tells more. */
HELPER bool is_of_block(u32 word) { return load64(location_at(word)) & 1 && !IN_CLUSTER; }

/* Adds to what was observed. */
HELPER void keep_for_wide(u32 thread, const struct found *f, u32 read)
{
	struct record r;
	u32 number;

	if (!f->release || observed_before(thread, f, read))
		return;
	r = (struct record){ own_load32(THREAD(thread, observed)), REC_OBSERVED | read << 24, f->release, f->word, f->counted, 0, BLOCK.block, BLOCK.grid };
	number = new_record(&r);
	if (number)
		own_store32(THREAD(thread, observed), number);
	else
		unknown_from_here(thread >> 5);
}

/* All of the list is acquired in that scope; it keeps what a wider fence will acquire in a larger one. */
HELPER u32 acquire_near(u32 thread, u32 number, u32 scope)
{
	u32 kept = 0, next;

	for (; number; number = next) {
		struct record r = load_record(number);
		struct found f = { r.what, r.full, r.epoch };
		u32 read = rec_scope(&r);

		next = r.previous;
		if (f.release && r.sub < scope)
			acquire_behind_fence(thread, &f, read < scope ? read : scope);
		if (!f.release || read <= scope || is_of_block(f.word))
			continue;
		store32(record_at(number) + 20, r.sub > scope ? r.sub : scope);
		store32(record_at(number), kept);
		kept = number;
	}
	return kept;
}

HELPER void hear_near(u32 thread, u64 state, u32 scope)
{
	u64 looked_at = own_load64(IN_PIECES(state, observed_word));
	struct found f;
	u32 read, kept;

	own_load_four(IN_PIECES(state, seen), &f.release, &f.word, &f.counted, &read);
	keep_for_wide(thread, &f, read);
	if (looked_at & AGAIN && !is_incomplete(BLOCK.grid)) {
		f = released_at(looked_at & ((1ull << KEY_SCOPE_AT) - 1));
		keep_for_wide(thread, &f, (u32)(looked_at >> KEY_SCOPE_AT) & 7);
	} else if (looked_at & AGAIN) {
		unknown_from_here(thread >> 5);
	}
	kept = acquire_near(thread, own_load32(IN_PIECES(state, observed)), scope);
	own_store32(IN_PIECES(state, observed), kept);
	own_store64(IN_PIECES(state, observed_word), 0);
	own_store_four(IN_PIECES(state, seen), 0, 0, 0, 0);
	if (!kept)
		has_heard(thread);
}

/* The half of it that releases. */
HELPER void near_fence_releases(u32 thread, u64 state, u32 scope)
{
	u64 now = BLOCK.warps[thread >> 5].now, fence = own_load64(IN_PIECES(state, fence)), near;
	struct place p = own_place(now, thread >> 5);
	u32 was = (u32)fence & 7, least = was > AND_NEAR ? was - AND_NEAR : was < WS_RACE_STRONG_GPU ? was : 0;

	near = (u64)p.epoch << 32 | p.sub << 3 | (least > scope ? least : scope);
	if (was >= WS_RACE_STRONG_GPU) {
		own_store64(THREAD(thread, near), near);
		near = (fence & ~7ull) | (AND_NEAR + ((u32)near & 7));
	}
	own_store_two64(IN_PIECES(state, fence), near, 0);               /* and released */
}

/* As `fenced`, behind a fence of a block's or a cluster's scope. */
SLOW void __warpsafe_near_fence(u32 thread, u32 by)
{
	u64 state = first_piece(BLOCK.threads, thread);
	u32 scope = by & (BY_SC - 1);

	if (by & BY_ACQUIRE)
		has_acquired(thread);
	else
		near_fence_releases(thread, state, scope);
	if (!(by & BY_RELEASE) && hears(thread))
		hear_near(thread, state, scope);
}

#endif

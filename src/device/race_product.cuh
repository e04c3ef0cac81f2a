/* race_product.cuh - products of warpgroups (race.cu; PTX ISA 9.0, Asynchronous Warpgroup Level Matrix Instructions).
 *
 * wgmma.mma_async reads its operands in shared memory by the async proxy, at any time until its group is complete. A group is the
 * warpgroup's: who knows that a thread of it has waited, knows of all four warps. So an entry says which warpgroups read, and in
 * which group: the number of groups that they had committed before. Warpgroups that read one operand (two halves of a tile with
 * one B) do so in groups of one number where they run the same code; where the numbers differ and none is complete, one entry
 * cannot say it, and the older one is forgotten, which is counted.
 *
 * Each warp keeps when it has waited, and for how many groups, the last 32 times, a lane each: all of its lanes wait together.
 * What a warp reads is entered by its lanes side by side, 128 bytes at a time: all of B, and its 16 rows of A. */
#ifndef WS_RACE_PRODUCT_CUH
#define WS_RACE_PRODUCT_CUH

enum { WAITS_OF_PRODUCTS = 32, PRODUCT_UPTO_AT = 48, PRODUCT_EPOCH_AT = 16, NEWER_PRODUCTS = 8 };

HELPER u64 product_entry(u32 number, u32 groups)
{
	return (u64)(BLOCK.copies + BLOCK.nwarps + (number >> PRODUCT_LOW) % PRODUCT_SEGMENTS) << SEGMENT_AT |
	       (u64)groups << GROUPS_AT | (u64)(number % (1 << PRODUCT_LOW)) << SUB_AT;
}

HELPER u32 product_bits(u64 entry)
{
	return beginning(segment_of(entry)).warp << PRODUCT_LOW | ((u32)(entry >> SUB_AT) & ((1 << PRODUCT_LOW) - 1));
}

/* ---- is a product complete? ---- */
/* A wait of a warp of a block of the cluster: is it before what I do now? */
HELPER u32 verdict_of_product_wait(u64 wait, u32 block, u32 warp, u64 now)
{
	u32 known = (u32)now & (NOW_ACQUIRED | NOW_UNKNOWN), me = warp_index(), v = UNORDERED;
	u32 epoch = (u32)(wait >> PRODUCT_EPOCH_AT), sub = (u32)wait & 0xffff, mine = place_of(now).epoch;
	struct row near;

	if (block == BLOCK.block && (warp == me || epoch < mine))
		return ORDERED;
	near = row_in_cluster(block);
	if (block != BLOCK.block && before_in_cluster(&near, epoch))
		return ORDERED;
	if (known & NOW_UNKNOWN)
		return UNDECIDED;
	if (known)
		v = __warpsafe_before(block, warp * 32 | OF_WARP_AS_A_WHOLE, epoch, sub, mine, me, 0);
	return v == UNORDERED && fenced_since(BLOCK.first + me, lane_index(), 0, block == BLOCK.block) ? (u32)UNDECIDED : v;
}

/* By what this warp of the block knows. UNORDERED: complete, but not before what I do. */
HELPER u32 product_of_warp(u64 states, u32 block, u32 warp, u32 bits, u64 now)
{
	u32 newest = load32(THREAD_IN(states, warp * 32, products)) + NEWER_PRODUCTS, n = load32(THREAD_IN(states, warp * 32, product_waits));
	u32 number = newest - (newest - bits) % PRODUCT_NUMBERS, first = first_wait(n, WAITS_OF_PRODUCTS), v;
	u64 wait;

	for (u32 k = first; k < n; k++) {
		wait = load64(THREAD_IN(states, warp * 32 + k % WAITS_OF_PRODUCTS, product_wait));
		if (((u32)(wait >> PRODUCT_UPTO_AT) - 1 - number) & 0x8000)
			continue;
		v = verdict_of_product_wait(wait, block, warp, now);
		return v == UNORDERED && first && k == first ? (u32)UNDECIDED : v;
	}
	return newest >= PRODUCT_NUMBERS ? (u32)UNDECIDED : (u32)IN_FLIGHT;
}

HELPER u32 product_of_group(u32 block, u32 group, u32 bits, u64 now)
{
	u32 least = IN_FLIGHT, v;

	for (u32 warp = group * GROUP_WARPS; warp < (group + 1) * GROUP_WARPS && warp < BLOCK.nwarps; warp++) {
		u64 states = block != BLOCK.block || has_state(warp * 32) ? states_of(block) : 0;

		v = states ? product_of_warp(states, block, warp, bits, now) : block == BLOCK.block ? (u32)IN_FLIGHT : (u32)UNDECIDED;
		if (v == ORDERED)
			return ORDERED;
		least = v == UNDECIDED || least == UNDECIDED ? UNDECIDED : v == UNORDERED ? UNORDERED : least;
	}
	return least;
}

SLOW u32 __warpsafe_product_verdict(u64 old, u64 now)
{
	u32 block = beginning(segment_of(old)).block, worst = ORDERED, v;

	if (block != BLOCK.block && !is_near(block))
		return ORDERED;
	for (u32 groups = groups_of(old); groups; groups &= groups - 1) {
		v = product_of_group(block, lowest(groups), product_bits(old), now);
		if (v == UNORDERED || v == IN_FLIGHT)
			return v;
		worst = v == UNDECIDED ? v : worst;
	}
	return worst;
}

/* ---- reading ---- */
/* R after the product's read. */
HELPER u64 after_product_read(u64 r, const struct me *m, u64 mine, bool *lost)
{
	u32 others = groups_of(r) & ~groups_of(mine);

	*lost = false;
	if (!((r ^ mine) >> SUB_AT & ~(255ull << (GROUPS_AT - SUB_AT))))
		return r | (u64)groups_of(mine) << GROUPS_AT;
	if (is_product(r) && beginning(segment_of(r)).block == BLOCK.block && !others)
		return mine;             /* it goes on for longer than what was there */
	*lost = segment_of(r) && verdict(r, r_class(r), r_several(r), m) != ORDERED;
	return mine;
}

HELPER void product_reads_word(const struct word *d, const struct me *m, u64 mine, struct judged *j)
{
	u64 w, r, was, next;
	bool lost;

	load_cell(d->cell, &w, &r);
	if (is_passed_over(w, BLOCK.grid))
		return;
	while ((next = after_product_read(r, m, mine, &lost)) != r) {
		was = cas64(d->cell + 8, r, next);
		if (was == r) {
			w = load64(d->cell);
			break;
		}
		r = was;
	}
	if (lost)
		count_threads(COUNTS(lost));
	judge_before(d, m, w, WS_RACE_READ_AFTER_WRITE, j);
}

/* ---- descriptors (PTX ISA 9.0, Matrix Descriptor Format; Strides) ---- */
enum { CHUNK = 16, CORE = 8 };   /* bytes; rows of a core matrix */
struct matrix {
	u32 start, leading, stride, span;        /* chunks of a swizzled row; 1 = not swizzled */
	bool k_major;
};

HELPER struct matrix matrix_of(u64 d, bool trans)
{
	u32 swizzle = (u32)(d >> 62);

	return (struct matrix){ (u32)(d & 0x3fff) << 4, (u32)(d >> 16 & 0x3fff) << 4, (u32)(d >> 32 & 0x3fff) << 4,
				swizzle ? 16u >> swizzle : 1, !trans };
}

/* Where 16 bytes of the matrix are. k_major: bytes 16 * minor of row `major`; else elements 8 * major to 8 * major + 7 of the
 * column, or row, with k = minor. */
HELPER u32 chunk_address(const struct matrix *m, u32 major, u32 minor)
{
	u32 a = m->start + (m->k_major ? major : minor) % CORE * m->span * CHUNK;

	if (m->k_major)
		a += major / CORE * m->stride + minor * (m->span == 1 ? m->leading : CHUNK);
	else if (m->span == 1)
		a += major * m->stride + minor / CORE * m->leading;
	else
		a += major % m->span * CHUNK + major / m->span * m->leading + minor / CORE * m->stride;
	return a ^ (a >> 7 & (m->span - 1)) << 4;
}

/* `lines` rows of A, or columns of B, from the first on: 32 bytes each. k: of these is a column's, where that lies together. */
HELPER void product_reads(u64 descriptor, bool trans, u32 first, u32 lines, u32 k, const struct me *m, u64 mine)
{
	struct matrix matrix = matrix_of(descriptor, trans);
	u32 minors = trans ? k : 2, lane = lane_index();
	struct judged j;
	struct word d;

	j.write = ~0ull;                 /* field by field: else there is a constant for it in the module */
	j.verdict = ORDERED;
	j.proxy = 0;
	if (trans)
		first /= CORE;
	if (descriptor >> 49 & 7) {
		count_threads(COUNTS(not_checked[WS_RACE_NO_TENSOR]));
		return;
	}
	#pragma nounroll
	for (u32 n = lane / 4; n < 2 * lines; n += 8) {
		u32 at = chunk_address(&matrix, first + n / minors, n % minors) + lane % 4 * 4;

		if (!find_word(at, m, READ, &d))
			continue;
		product_reads_word(&d, m, mine, &j);
	}
}

/* Before wgmma.mma_async, by all lanes of the warp. a, b: descriptors. how: WS_RACE_PRODUCT_... */
SLOW void __warpsafe_product(u64 a, u64 b, u32 how, u32 site)
{
	u32 thread = thread_index(), warp = thread >> 5, number;
	struct me m = access_of(BLOCK.warps[warp].now, WS_RACE_BYTES(4) | WS_RACE_SPACE(WS_RACE_SHARED), site);
	u64 mine;

	if (!can_copy(thread))
		return;
	warp_sync_all();
	number = load32(THREAD(thread & ~31u, products));
	mine = product_entry(number, 1u << warp / GROUP_WARPS) | 15ull << R_BYTES_AT | (site & (R_SITES - 1));
	if (how & WS_RACE_PRODUCT_A)
		product_reads(a, how & WS_RACE_PRODUCT_TRANS_A, warp % GROUP_WARPS * 16, 16, 16, &m, mine);
	product_reads(b, how & WS_RACE_PRODUCT_TRANS_B, 0, how & WS_RACE_PRODUCT_COLUMNS, 16, &m, mine);
	warp_sync_all();
}

INLINED void race_product(u64 a, u64 b, u32 how, u32 site)
{
	__warpsafe_product(a, b, how, site);
}

/* ---- groups ---- */
/* May the warp count? All of its lanes have a state then. */
HELPER bool counts_products(u32 thread)
{
	if (!has_slot_for_copies() || !BLOCK.warps[thread >> 5].now)
		return false;
	want_state(thread);
	warp_sync_all();
	return !(thread & 31);
}

SLOW void __warpsafe_product_commit(void)
{
	u32 thread = thread_index();

	if (counts_products(thread))
		store32(THREAD(thread, products), load32(THREAD(thread, products)) + 1);
}

INLINED void race_product_commit(void)
{
	__warpsafe_product_commit();
}

/* Behind a wait for all but the last n groups. */
SLOW void __warpsafe_product_wait(u32 n)
{
	u32 thread = thread_index(), groups, waits;
	struct place p;

	if (!counts_products(thread))
		return;
	groups = load32(THREAD(thread, products));
	waits = load32(THREAD(thread, product_waits));
	if (groups <= n || (waits && (u32)(load64(THREAD(thread + (waits - 1) % WAITS_OF_PRODUCTS, product_wait)) >> PRODUCT_UPTO_AT) ==
				     ((groups - n) & 0xffff)))
		return;                  /* it waits for what is complete already */
	p = place_of(BLOCK.warps[thread >> 5].now);
	store64(THREAD(thread + waits % WAITS_OF_PRODUCTS, product_wait),
		(u64)(groups - n) << PRODUCT_UPTO_AT | (u64)p.epoch << PRODUCT_EPOCH_AT | (p.sub < 0xffff ? p.sub : 0xffff));
	fence_gpu();
	store32(THREAD(thread, product_waits), waits + 1);
}

INLINED void race_product_wait(u32 n)
{
	__warpsafe_product_wait(n);
}

#endif

/* race_report.cuh - what was found, for the host (race.cu): each pair of places of a kernel once, with a count. */
#ifndef WS_RACE_REPORT_CUH
#define WS_RACE_REPORT_CUH

#include "race_cluster.cuh"
#include "race_launch.cuh"

#define FOUND(at, field) ((at) + __builtin_offsetof(struct ws_race_found, field))
enum { NO_ROW = 0xffffffff };

HELPER u64 seen_at(u32 row) { return RACE.seen + sizeof(struct ws_race_seen) * (u64)row; }

/* The row of a pair of places; *first: it is new, and ours to fill. */
HELPER u32 row_of(u64 key, bool *first)
{
	u32 mask = (1u << RACE.found_log2) - 1, n = (u32)(key >> 32) & mask;

	*first = false;
	for (u32 tries = 0; tries <= mask && tries < 256; tries++, n = (n + 1) & mask) {
		u64 has = load64(seen_at(n));

		if (!has) {
			has = cas64(seen_at(n), 0, key);
			*first = !has;
		}
		if (!has || has == key)
			return n;
	}
	return NO_ROW;
}

HELPER bool has_row(u64 key)
{
	u32 mask = (1u << RACE.found_log2) - 1, n = (u32)(key >> 32) & mask;

	for (u32 tries = 0; tries <= mask && tries < 256; tries++, n = (n + 1) & mask) {
		u64 has = load64(seen_at(n));

		if (!has || has == key)
			return has;
	}
	return true;                     /* and there is no room for it */
}

HELPER u64 mix(u64 hash, u32 v)
{
	hash = (hash ^ v) * 0x9e3779b97f4a7c15ull;
	return hash ^ hash >> 29;
}

/* packed: pair 2 | bytes 4 (in the word) | several 2 | same value 1 | same instruction 1 | in flight 1 | lifetime (see LIFETIME) |
 * from MORE_AT on: of how many words more that is true.
 * old: the cell's entry, with the site in its low bits. */
enum { MORE_AT = 28 };
struct finding {
	u64 address, old, now;
	u32 pair, bytes, flags, what, site, other_site, other_class;
	u32 launch;              /* 1 + the number of the other one's launch; 0 = it is mine */
};

/* What is to be known of another launch, in a row that has to be filled. */
HELPER void fill_other(u64 at, u32 number)
{
	store32(FOUND(at, other_module), load32(BEGUN_AT(number, module)));
	store32(FOUND(at, other_kernel), load32(BEGUN_AT(number, kernel)));
	store32(FOUND(at, other_stream), load32(BEGUN_AT(number, stream)));
	store32(FOUND(at, stream), load32(BEGUN_AT(launch_number(), stream)));
	#pragma nounroll
	for (u32 k = 0; k < 3; k++) {
		store32(FOUND(at, other_grid_dim[0]) + 4 * k, load32(BEGUN_AT(number, grid_dim[0]) + 4 * k));
		store32(FOUND(at, other_block_dim[0]) + 4 * k, load32(BEGUN_AT(number, block_dim[0]) + 4 * k));
	}
}

HELPER void fill(u64 at, const struct finding *f)
{
	struct place o = f->launch ? place_in_launch(f->old, f->launch - 1) : place_of(f->old);
	u32 space = WS_RACE_SPACE_OF(f->what);

	store64(FOUND(at, address), ((space == WS_RACE_SHARED ? f->address & SHARED_OFFSETS : f->address) & ~3ull) + lowest(f->bytes));
	store32(FOUND(at, module), __warpsafe_module);
	store32(FOUND(at, kernel), number_of_kernel());
	store32(FOUND(at, pair), f->pair);
	store32(FOUND(at, flags), f->flags | (o.block != BLOCK.block && is_near(o.block) ? WS_RACE_ONE_CLUSTER : 0));
	store32(FOUND(at, space), space);
	store32(FOUND(at, bytes), population(f->bytes));
	store32(FOUND(at, site), f->site);
	store32(FOUND(at, other_site), f->other_site);
	store32(FOUND(at, what), f->what & ~(u32)WS_RACE_LOOKED);
	store32(FOUND(at, other_class), f->other_class);
	store32(FOUND(at, grid), BLOCK.grid);
	store32(FOUND(at, block), BLOCK.block);
	store32(FOUND(at, other_block), o.block);
	store32(FOUND(at, thread), thread_index());
	store32(FOUND(at, other_thread), is_product(f->old) ? lowest(groups_of(f->old)) * GROUP_THREADS : o.warp * 32 + lane_of(f->old));
	store32(FOUND(at, grid_dim[0]), blocks_x());
	store32(FOUND(at, grid_dim[1]), blocks_y());
	store32(FOUND(at, grid_dim[2]), blocks_z());
	store32(FOUND(at, block_dim[0]), threads_x());
	store32(FOUND(at, block_dim[1]), threads_y());
	store32(FOUND(at, block_dim[2]), threads_z());
	if (f->launch)
		fill_other(at, f->launch - 1);
	asm volatile("fence.acq_rel.sys;" : : : "memory");
	store32(FOUND(at, ready), 1);
}

/* What there is to be told; false: nothing, for another thread of the block has waited for that launch meanwhile. */
HELPER bool find(struct finding *f, u64 address, u32 packed, u64 old, u64 now, u32 what, u32 site)
{
	bool read;

	*f = (struct finding){ address, old, now, packed & 3, packed >> 2 & 15, 0, what, site, 0, 0, 0 };
	read = f->pair == WS_RACE_WRITE_AFTER_READ;
	f->other_site = (u32)old & ((1u << (read ? WS_RACE_READ_SITE_BITS : WS_RACE_WRITE_SITE_BITS)) - 1);
	f->other_class = read ? (u32)old >> 18 & 7 : (u32)old >> 17 & 15;
	if (!read && f->other_class > WS_RACE_ATOMIC8_SYS)
		f->other_class = WS_RACE_ATOMIC_GPU;
	f->flags = (packed >> 8 & 1 ? WS_RACE_SAME_VALUE : 0) | (packed >> 9 & 1 ? WS_RACE_SAME_INST : 0) |
		   (packed >> 10 & 1 ? WS_RACE_IN_FLIGHT : 0) |
		   (packed >> 6 & 3 ? WS_RACE_SEVERAL : 0) | (packed << (32 - MORE_AT) >> (32 - MORE_AT + 11)) * WS_RACE_LIFETIME_BEGINS;
	f->launch = WS_RACE_SPACE_OF(what) == WS_RACE_SHARED ? 0 : other_launch(old);
	f->flags |= f->launch ? WS_RACE_OTHER_LAUNCH : 0;
	return f->launch || !BLOCK.launch || WS_RACE_SPACE_OF(what) == WS_RACE_SHARED || beginning(segment_of(old)).grid == BLOCK.grid;
}

/* Of what is one row; not 0. */
HELPER u64 key_of(const struct finding *f)
{
	u64 key = mix(mix(mix(mix(mix(0, __warpsafe_module), number_of_kernel()), f->site), f->other_site),
		      f->pair | WS_RACE_SPACE_OF(f->what) << 2 | f->flags << 4);

	if (f->launch)
		key = mix(mix(mix(key, load32(BEGUN_AT(f->launch - 1, module))), load32(BEGUN_AT(f->launch - 1, kernel))),
			  WS_RACE_OPERATION_OF(load32(BEGUN_AT(f->launch - 1, stream))) |
			  WS_RACE_OPERATION_OF(load32(BEGUN_AT(launch_number(), stream))) << 4);
	return key ? key : 1;
}

/* Has that been told, or is there nothing to tell? */
SLOW bool __warpsafe_is_told(u64 address, u32 packed, u64 old, u64 now, u32 what, u32 site)
{
	struct finding f;

	return BLOCK.probe || !find(&f, address, packed, old, now, what, site) || has_row(key_of(&f));
}

/* True: that pair was told often; where many words race, less will do: else the last few of them are told of again and again, until
 * each pair of their instructions was. */
SLOW u32 __warpsafe_report(u64 address, u32 packed, u64 old, u64 now, u32 what, u32 site)
{
	struct finding f;
	u32 row, words = 1 + (packed >> MORE_AT);
	bool first;
	u64 count;

	if (BLOCK.probe) {
		BLOCK.failed = 1;
		return false;
	}
	if (!find(&f, address, packed, old, now, what, site))
		return false;
	row = row_of(key_of(&f), &first);
	if (row == NO_ROW) {
		count_threads(COUNTS(found_missing));
		return false;
	}
	if (first) {
		fetch_add32(COUNTS(found), 1);
		fill(RACE.found + sizeof(struct ws_race_found) * (u64)row, &f);
	}
	count = words + fetch_add64(seen_at(row) + __builtin_offsetof(struct ws_race_seen, count), words);
	return count >= WS_RACE_OFTEN || (count >= WS_RACE_LESS_OFTEN && load64_stable(COUNTS(sampled)) >= WS_RACE_MANY);
}

#endif

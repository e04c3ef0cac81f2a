/* race_tensor.cuh - copies of tiles of tensors (race.cu; PTX ISA 9.0, Tensors; cp.async.bulk.tensor).
 *
 * A tile is a box of elements, at coordinates: in global memory rows that lie apart, in shared memory dense, with its chunks of 16
 * bytes permuted. What a descriptor says is looked up by its content (struct ws_race_tensor): the host has seen the call that made
 * it. One that was made otherwise, or changed, is not known: such a copy is counted, its accesses are not checked. All else is as
 * with bulk copies: what completes on an object is an operation (race_remote.cuh), what completes in groups a copy of its thread. */
#ifndef WS_RACE_TENSOR_CUH
#define WS_RACE_TENSOR_CUH

#define TENSOR_FIELD(t, field) ((t) + __builtin_offsetof(struct ws_race_tensor, field))

/* ---- descriptors ---- */
/* The row of a descriptor; 0 = it is not known. */
HELPER u64 find_tensor(u64 map, u32 how)
{
	u64 mix = 0, mix2 = 0, word, at, has, has2;

	if (!RACE.tensors || how & WS_RACE_TENSOR_OTHER)
		return 0;
	#pragma nounroll
	for (u32 k = 0; k < WS_RACE_TENSOR_WORDS; k++) {
		asm volatile("ld.u64 %0, [%1];" : "=l"(word) : "l"(map + 8 * k) : "memory");
		mix = WS_RACE_TENSOR_MIX(mix, word);
		mix2 = WS_RACE_TENSOR_MIX2(mix2, word);
	}
	#pragma nounroll
	for (u32 k = 0; k < WS_RACE_TENSOR_PROBES; k++) {
		at = RACE.tensors + (mix + k) % WS_RACE_TENSORS * sizeof(struct ws_race_tensor);
		asm volatile("ld.volatile.global.v2.u64 {%0, %1}, [%2];" : "=l"(has), "=l"(has2) : "l"(at) : "memory");
		if (has == mix && has2 == mix2)
			return load8(TENSOR_FIELD(at, rank)) == (how & WS_RACE_TENSOR_RANK) ? at : 0;
	}
	return 0;
}

/* ---- a tile ---- */
struct tile {
	u64 tensor;
	int at[WS_RACE_TENSOR_DIMS];
	u32 bytes, swizzle;              /* of a row in shared memory */
	u32 rows;
};

HELPER u32 steps_of(u64 tensor, u32 dim)
{
	u32 step = load8(TENSOR_FIELD(tensor, step) + dim);

	return (load16(TENSOR_FIELD(tensor, box) + 2 * dim) + step - 1) / step;
}

HELPER bool open_tile(struct tile *t, u64 map, u32 how)
{
	t->tensor = find_tensor(map, how);
	if (!t->tensor) {
		count_threads(COUNTS(not_checked[WS_RACE_NO_TENSOR]));
		return false;
	}
	t->bytes = load16(TENSOR_FIELD(t->tensor, box)) * load8(TENSOR_FIELD(t->tensor, bytes));
	t->swizzle = load8(TENSOR_FIELD(t->tensor, swizzle));
	t->rows = 1;
	#pragma nounroll
	for (u32 k = 1; k < (how & WS_RACE_TENSOR_RANK); k++)
		t->rows *= steps_of(t->tensor, k);
	return true;
}

/* Row n of the tile in global memory, as far as it is in the tensor: its bytes; 0 = it is not. */
HELPER u32 row_of_tile(const struct tile *t, u32 n, u64 *address)
{
	u32 rank = load8(TENSOR_FIELD(t->tensor, rank)), bytes = load8(TENSOR_FIELD(t->tensor, bytes)), steps;
	long long size = (long long)load64(TENSOR_FIELD(t->tensor, less_1)) + 1, first = t->at[0], end = first + t->bytes / bytes, c;
	u64 at = load64(TENSOR_FIELD(t->tensor, address));

	#pragma nounroll
	for (u32 k = 1; k < rank; k++, n /= steps) {
		steps = steps_of(t->tensor, k);
		c = t->at[k] + (long long)(n % steps) * load8(TENSOR_FIELD(t->tensor, step) + k);
		if (c < 0 || (u64)c > load64(TENSOR_FIELD(t->tensor, less_1) + 8 * k))
			return 0;
		at += (u64)c * load64(TENSOR_FIELD(t->tensor, stride) + 8 * (k - 1));
	}
	first = first < 0 ? 0 : first;
	end = end < size ? end : size;
	*address = at + (u64)first * bytes;
	return first < end ? (u32)(end - first) * bytes : 0;
}

SLOW void __warpsafe_tile_in_global(const struct tile *t, u32 number, u32 site, u32 writes)
{
	struct touch s = touch_of(WS_RACE_GLOBAL, number, site, writes);
	u64 address;

	#pragma nounroll
	for (u32 n = 0; n < t->rows; n++) {
		u32 bytes = row_of_tile(t, n, &address);

		__warpsafe_touch_words(&s, address, bytes);
	}
}

/* address: of shared memory, perhaps another block's (find_owner). A swizzled row takes as many bytes as the mode says, within which its chunks of 16
 * are permuted. */
SLOW void __warpsafe_tile_in_shared(const struct tile *t, u64 address, u32 number, u32 site, u32 writes)
{
	struct touch s = touch_of(WS_RACE_SHARED, number, site, writes);
	u32 pitch = t->swizzle ? t->swizzle : t->bytes, bits = t->swizzle ? t->swizzle / 16 - 1 : 0;

	#pragma nounroll
	for (u32 n = 0; n < t->rows; n++) {
		if (t->bytes == pitch) {
			__warpsafe_touch_words(&s, address + n * pitch, pitch);
			continue;
		}
		#pragma nounroll
		for (u32 at = 0; at < t->bytes; at += 16) {
			u64 a = address + n * pitch + at;

			__warpsafe_touch_words(&s, a ^ ((u32)a >> 7 & bits) << 4, 16);
		}
	}
}

/* ---- copies ---- */
/* To a block of the cluster, with an object there. Of a tensor that is not known it still hands on what its thread knows. */
SLOW void __warpsafe_tile_to(const struct tile *t, u32 known, u64 to, u64 object, u32 site)
{
	u32 thread = thread_index(), number = load32(THREAD(thread, number)) | COPY_BY_OBJECT;
	struct spot s, o;

	if (!find_spot(to, &s) || !find_spot(object, &o))
		return;
	if (known) {
		__warpsafe_tile_in_global(t, number, site, 0);
		if (come_to(&s, 0, site + 1, time_of_copy(thread, number)))
			__warpsafe_tile_in_shared(t, s.address, number, site + 1, 1);
	}
	if (!is_peer(&o) || o.slot)
		complete_on(thread, &o, number);
}

HELPER struct tile tile_at(u32 c0, u32 c1, u32 c2, u32 c3, u32 c4)
{
	return (struct tile){ 0, { (int)c0, (int)c1, (int)c2, (int)c3, (int)c4 }, 0, 0, 0 };
}

SLOW void __warpsafe_tensor_load(u64 to, u64 map, u32 c0, u32 c1, u32 c2, u32 c3, u32 c4, u64 object, u32 how, u32 ranks, u32 site)
{
	struct tile t = tile_at(c0, c1, c2, c3, c4);
	u32 known;

	if (!can_copy(thread_index()))
		return;
	known = open_tile(&t, map, how);
	if (!ranks)
		__warpsafe_tile_to(&t, known, to, object, site);
	#pragma nounroll
	for (; ranks; ranks &= ranks - 1)
		__warpsafe_tile_to(&t, known, at_rank((u32)to, lowest(ranks)), at_rank((u32)object, lowest(ranks)), site);
}

INLINED void race_tensor_load(u64 to, u64 map, u32 c0, u32 c1, u32 c2, u32 c3, u32 c4, u64 object, u32 how, u32 ranks, u32 site)
{
	__warpsafe_tensor_load(to, map, c0, c1, c2, c3, c4, object, how, ranks, site);
}

SLOW void __warpsafe_tensor_store(u64 map, u32 c0, u32 c1, u32 c2, u32 c3, u32 c4, u64 from, u32 how, u32 site)
{
	u32 thread = thread_index(), cls = how & WS_RACE_CLASS(15), number;
	struct tile t = tile_at(c0, c1, c2, c3, c4);

	if (!can_copy(thread) || !open_tile(&t, map, how))
		return;
	if (cls && load8(TENSOR_FIELD(t.tensor, bytes)) >= 8)
		cls += WS_RACE_CLASS(WS_RACE_ATOMIC8_CTA - WS_RACE_ATOMIC_CTA);
	number = load32(THREAD(thread, number));
	__warpsafe_tile_in_shared(&t, from, number | COPY_READS, site, 0);
	__warpsafe_tile_in_global(&t, number | COPY_WRITES, site + 1, 1 | cls);
}

INLINED void race_tensor_store(u64 map, u32 c0, u32 c1, u32 c2, u32 c3, u32 c4, u64 from, u32 how, u32 site)
{
	__warpsafe_tensor_store(map, c0, c1, c2, c3, c4, from, how, site);
}

#endif

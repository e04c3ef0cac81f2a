/* exec_mem.simd.c - the fast forms of ld, st, atom and red, compiled once an instruction set like the lane functions.
 *
 * Most accesses of a warp go to one stretch of memory, and most of these are linear (lane l at base + l * bytes) or
 * uniform (all lanes at one place). A few vector operations tell; then one check of bounds is enough for all lanes.
 * What does not fit (several stretches, local memory, synchronizing accesses, errors) is left to exec_mem.c, which
 * does everything again from the start and reports errors. */
#include "gpu/gpu_priv.h"

#include <string.h>
#if defined __AVX512F__ || defined __AVX2__
#include <immintrin.h>
#endif

#define PASTE_(a, b) a##_##b
#define PASTE(a, b) PASTE_(a, b)
#define ALL UINT32_MAX
#define INLINE static inline __attribute__((always_inline))
#if defined __clang__
#define EACH(l) _Pragma("clang loop vectorize(assume_safety)") for (int l = 0; l < WS_WARP; l++)
#else
#define EACH(l) _Pragma("GCC ivdep") for (int l = 0; l < WS_WARP; l++)
#endif
#define ACTIVE(l, mask) \
	for (uint32_t m_ = (mask), l; m_ && (l = (uint32_t)__builtin_ctz(m_), true); m_ &= m_ - 1)

struct place {                           /* what the addresses of an access have in common */
	_Alignas(64) uint64_t a[WS_WARP];        /* addresses or offsets */
	uintptr_t delta;                 /* host pointer = delta + address */
	struct ws_mem *mem;              /* GLOBAL */
	uint64_t base;                   /* linear: what lane 0 has or would have */
	bool linear, uniform;
	bool halves;                     /* lanes 0-15 and 16-31 are each linear, or each uniform */
	bool half_uniform[2];
	uint8_t space;
};

typedef uint32_t __attribute__((aligned(1), may_alias)) u32_any;
typedef uint64_t __attribute__((aligned(1), may_alias)) u64_any;

INLINE uint8_t *host_at(const struct place *p, uint64_t address)
{
	return (uint8_t *)(p->delta + (uintptr_t)address);
}

INLINE void addresses(const uint8_t *regs, uint32_t reg, unsigned width, int32_t off, uint64_t *a)
{
	if (width == 8) {
		const uint64_t *r = __builtin_assume_aligned(regs + reg, 64);

		EACH(l)
			a[l] = r[l] + (uint64_t)(int64_t)off;
	} else {
		const uint32_t *r = __builtin_assume_aligned(regs + reg, 64);

		EACH(l)
			a[l] = (uint32_t)(r[l] + (uint32_t)off);
	}
}

/* Which of eight addresses, from a on, are base, base + step, ... */
INLINE uint32_t eight_on_line(const uint64_t *a, uint64_t base, uint64_t step)
{
#if defined __AVX512F__
	__m512i steps = _mm512_set_epi64((long long)(7 * step), (long long)(6 * step), (long long)(5 * step),
	                                 (long long)(4 * step), (long long)(3 * step), (long long)(2 * step),
	                                 (long long)step, 0);

	return _mm512_cmpeq_epi64_mask(_mm512_load_si512(a),
	                               _mm512_add_epi64(_mm512_set1_epi64((long long)base), steps));
#else
	uint32_t m = 0;

	for (int l = 0; l < 8; l++)
		m |= (uint32_t)(a[l] == base + (uint64_t)l * step) << l;
	return m;
#endif
}

/* Lanes whose address is base + lane * step. */
INLINE uint32_t on_line(const uint64_t *a, uint64_t base, uint64_t step)
{
	uint32_t m = 0;

	for (int i = 0; i < WS_WARP; i += 8)
		m |= eight_on_line(a + i, base + (uint64_t)i * step, step) << i;
	return m;
}

/* Are 16 addresses a[0], a[0] + step, ...? */
INLINE bool half_on_line(const uint64_t *a, uint64_t step)
{
	return (eight_on_line(a, a[0], step) & eight_on_line(a + 8, a[0] + 8 * step, step)) == 0xff;
}

/* Are all addresses of the lanes in [lo, lo + size - bytes], and aligned? */
INLINE bool all_inside(const uint64_t *a, uint32_t mask, uint64_t lo, uint64_t room, uint64_t align)
{
	uint64_t bad = 0;

	if (mask == ALL) {
		EACH(l)
			bad |= (uint64_t)(a[l] - lo > room) | (a[l] & align);
		return !bad;
	}
	ACTIVE(l, mask)
		bad |= (uint64_t)(a[l] - lo > room) | (a[l] & align);
	return !bad;
}

/* What the addresses of a whole warp have in common. Rows of 16 threads, as blocks of 16 x 16 have, may go to two
 * places. */
INLINE void classify(struct place *p, uint64_t bytes)
{
	bool linear[2] = {half_on_line(p->a, bytes), half_on_line(p->a + 16, bytes)};

	p->uniform = p->halves = false;
	p->linear = linear[0] && linear[1] && p->a[16] == p->a[0] + 16 * bytes;
	if (p->linear)
		return;
	p->half_uniform[0] = !linear[0] && half_on_line(p->a, 0);
	p->half_uniform[1] = !linear[1] && half_on_line(p->a + 16, 0);
	p->uniform = p->half_uniform[0] && p->half_uniform[1] && p->a[0] == p->a[16];
	p->halves = !p->uniform && (linear[0] || p->half_uniform[0]) && (linear[1] || p->half_uniform[1]);
}

INLINE void classify_some(struct place *p, uint64_t bytes, uint32_t mask, uint32_t first)
{
	p->halves = false;
	p->linear = !(mask & ~on_line(p->a, p->base, bytes));
	p->uniform = !p->linear && !(mask & ~on_line(p->a, p->a[first], 0));
}

INLINE bool half_inside(const uint64_t *a, uint64_t lo, uint64_t size, uint64_t bytes)
{
	uint64_t low = a[0] - lo, high = a[15] - lo;

	return low <= size - bytes && high <= size - bytes && low <= high && !(a[0] & (bytes - 1));
}

/* The stretch of memory of the first lane; false: not one for the fast path. Generic addresses in shared memory become
 * offsets. */
INLINE bool find_place(struct ws_exec *x, unsigned space, uint32_t cache, uint32_t first, uint64_t bytes,
                       struct place *p,
                       uint64_t *lo, uint64_t *size)
{
	if (space == WS_SPACE_GENERIC) {
		uint64_t window = p->a[first] >> WS_WINDOW_SHIFT;

		if (window == WS_WINDOW_SHARED || window == WS_WINDOW_LOCAL) {
			EACH(l)
				p->a[l] -= WS_WINDOW(window);
			space = window == WS_WINDOW_SHARED ? WS_SPACE_SHARED : WS_SPACE_LOCAL;
		} else if (window) {
			return false;
		}
	}
	if (space == WS_SPACE_LOCAL) {
		p->space = WS_SPACE_LOCAL;
		p->mem = NULL;
		p->delta = (uintptr_t)x->warp->local;
		*lo = 0;
		*size = p->delta ? x->launch->stack_bytes : 0;
	} else if (space == WS_SPACE_SHARED) {
		p->space = WS_SPACE_SHARED;
		p->mem = NULL;
		p->delta = (uintptr_t)x->shared;
		*lo = 0;
		*size = x->shared_bytes;
	} else {
		struct ws_mem *m = x->cache[cache].mem;

		if (__builtin_expect(!m || m->freed || p->a[first] - m->addr >= m->size, 0)) {
			m = ws_memmap_find(&x->gpu->map, p->a[first]);
			if (!m)
				return false;
			x->cache[cache].mem = m;
		}
		p->space = WS_SPACE_GLOBAL;
		p->mem = m;
		p->delta = (uintptr_t)m->host - m->addr;
		*lo = m->addr;
		*size = m->size;
	}
	return *size >= bytes;
}

/* Offsets in the stacks of the lanes become offsets from the first lane's stack. */
INLINE bool spread_lanes(const struct ws_exec *x, struct place *p)
{
	uint64_t stride = x->launch->stack_stride;

	EACH(l)
		p->a[l] += (uint64_t)l * stride;
	return true;
}

/* Fills p; false: leave it to the slow path. p->a holds the addresses. */
INLINE bool resolve(struct ws_exec *x, unsigned space, uint32_t cache, uint64_t bytes, uint32_t mask, struct place *p)
{
	uint32_t first = (uint32_t)__builtin_ctz(mask), last = 31 - (uint32_t)__builtin_clz(mask);
	uint64_t lo, size, low, high;

	if (!find_place(x, space, cache, first, bytes, p, &lo, &size))
		return false;
	if (p->space == WS_SPACE_LOCAL) {
		p->linear = p->uniform = p->halves = false;
		return all_inside(p->a, mask, lo, size - bytes, bytes - 1) && spread_lanes(x, p);
	}
	p->base = p->a[first] - first * bytes;
	if (mask == ALL)
		classify(p, bytes);
	else
		classify_some(p, bytes, mask, first);
	if (p->linear) {
		low = p->a[first] - lo;
		high = p->a[last] - lo;
		return low <= size - bytes && high <= size - bytes && low <= high && !(p->a[first] & (bytes - 1));
	}
	if (p->uniform)
		return p->a[first] - lo <= size - bytes && !(p->a[first] & (bytes - 1));
	if (p->halves)
		return half_inside(p->a, lo, size, bytes) && half_inside(p->a + 16, lo, size, bytes);
	return all_inside(p->a, mask, lo, size - bytes, bytes - 1);
}

/* ---- moving elements ---- */
INLINE uint64_t get(const uint8_t *p, unsigned size, bool is_signed)
{
	uint8_t b;
	uint16_t h;
	uint32_t w;
	uint64_t d;

	switch (size) {
	case 1:
		memcpy(&b, p, 1);
		return is_signed ? (uint64_t)(int64_t)(int8_t)b : b;
	case 2:
		memcpy(&h, p, 2);
		return is_signed ? (uint64_t)(int64_t)(int16_t)h : h;
	case 4:
		memcpy(&w, p, 4);
		return is_signed ? (uint64_t)(int64_t)(int32_t)w : w;
	default:
		memcpy(&d, p, 8);
		return d;
	}
}

/* n elements; a loop, because memcpy of so many bytes would be a call */
INLINE void copy_lanes(uint8_t *d, const uint8_t *s, int from, int n, unsigned size)
{
	if (size == 4)
		for (int l = from; l < from + n; l++)
			((u32_any *)(void *)d)[l] = ((const u32_any *)(const void *)s)[l];
	else if (size == 8)
		for (int l = from; l < from + n; l++)
			((u64_any *)(void *)d)[l] = ((const u64_any *)(const void *)s)[l];
	else
		memcpy(d + from * (int)size, s + from * (int)size, (size_t)n * size);
}

INLINE void half_in(const struct place *p, uint8_t *d, int from, unsigned size, uint64_t at)
{
	const uint8_t *s = host_at(p, p->a[from] + at);

	d += from * (int)size;
	if (!p->half_uniform[from != 0]) {
		copy_lanes(d, s, 0, 16, size);
	} else if (size == 4) {
		for (int l = 0; l < 16; l++)
			((uint32_t *)(void *)d)[l] = *(const u32_any *)(const void *)s;
	} else {
		for (int l = 0; l < 16; l++)
			memcpy(d + l * (int)size, s, size);
	}
}

/* One register of lanes from memory. width, size, is_signed and step are constants where it counts. */
INLINE void move_in(const struct place *p, uint8_t *d, uint32_t mask, unsigned width, unsigned size, bool is_signed,
                    uint64_t at, uint64_t step)
{
	const uint8_t *base = host_at(p, p->base + at);

	if (p->linear && mask == ALL && step == size && width == size) {
		copy_lanes(d, base, 0, WS_WARP, size);
		return;
	}
	if (p->halves && step == size && width == size) {
		half_in(p, d, 0, size, at);
		half_in(p, d, 16, size, at);
		return;
	}
	if (p->uniform) {
		uint64_t v = get(host_at(p, p->a[__builtin_ctz(mask)] + at), size, is_signed);

		if (mask == ALL && width == 4) {
			EACH(l)
				((uint32_t *)(void *)d)[l] = (uint32_t)v;
		} else {
			ACTIVE(l, mask)
				memcpy(d + l * width, &v, width);
		}
		return;
	}
#if defined __AVX512F__
	if (p->linear && width == 4 && size == 4 && step == 4) {
		_mm512_mask_storeu_epi32(d, (__mmask16)mask, _mm512_maskz_loadu_epi32((__mmask16)mask, base));
		_mm512_mask_storeu_epi32(d + 64, (__mmask16)(mask >> 16),
		                         _mm512_maskz_loadu_epi32((__mmask16)(mask >> 16), base + 64));
		return;
	}
#endif
	if (mask == ALL) {
		for (int l = 0; l < WS_WARP; l++) {
			uint64_t v = get(host_at(p, p->a[l] + at), size, is_signed);

			memcpy(d + l * width, &v, width);
		}
		return;
	}
	ACTIVE(l, mask) {
		uint64_t v = get(host_at(p, p->a[l] + at), size, is_signed);

		memcpy(d + l * width, &v, width);
	}
}

INLINE void move_out(const struct place *p, const uint8_t *s, uint32_t mask, unsigned width, unsigned size, uint64_t at,
                     uint64_t step)
{
	uint8_t *base = host_at(p, p->base + at);

	if (p->linear && mask == ALL && step == size && width == size) {
		copy_lanes(base, s, 0, WS_WARP, size);
		return;
	}
	if (p->halves && step == size && width == size && !p->half_uniform[0] && !p->half_uniform[1]) {
		copy_lanes(host_at(p, p->a[0] + at), s, 0, 16, size);
		copy_lanes(host_at(p, p->a[16] + at), s + 16 * size, 0, 16, size);
		return;
	}
#if defined __AVX512F__
	if (p->linear && width == 4 && size == 4 && step == 4) {
		_mm512_mask_storeu_epi32(base, (__mmask16)mask, _mm512_maskz_loadu_epi32((__mmask16)mask, s));
		_mm512_mask_storeu_epi32(base + 64, (__mmask16)(mask >> 16),
		                         _mm512_maskz_loadu_epi32((__mmask16)(mask >> 16), s + 64));
		return;
	}
#endif
	ACTIVE(l, mask)
		memcpy(host_at(p, p->a[l] + at), s + l * width, size);
}

static uint32_t data_register(const struct ws_exec *x, const struct ws_dmem *m, unsigned i)
{
	return i < 4 ? m->d[i] : x->frag->frame->code->ext[m->ext][i - 4];
}

/* ---- the observer ---- */
static bool wanted(const struct ws_exec *x, unsigned space)
{
	return x->ops->access && ((space == WS_SPACE_GLOBAL && x->ops->needs & WS_NEED_GLOBAL) ||
	                          (space == WS_SPACE_SHARED && x->ops->needs & WS_NEED_SHARED));
}

static void pack(const struct ws_exec *x, const struct ws_dmem *m, const uint8_t *regs, uint32_t mask, uint8_t *out)
{
	unsigned bytes = m->size * m->vec;

	for (unsigned i = 0; i < m->vec; i++) {
		uint32_t reg = data_register(x, m, i);

		ACTIVE(l, mask)
			memcpy(out + l * bytes + i * m->size, regs + reg + l * m->reg_width, m->size);
	}
}

/* See enum ws_shape. */
static void find_shape(const struct place *p, uint32_t mask, struct ws_access *a)
{
	uint64_t step = p->a[1] - p->a[0], apart = p->a[16] - p->a[0], room = 16ull * a->bytes;

	if (p->uniform)
		a->shape = WS_SHAPE_SAME;
	if (mask != ALL || p->linear || p->uniform)
		return;
	if (p->halves) {
		if (!p->half_uniform[0] && !p->half_uniform[1] && apart + room >= 2 * room)
			a->shape = WS_SHAPE_HALVES;
		return;
	}
	if (step < a->bytes || step > UINT16_MAX || on_line(p->a, p->a[0], step) != ALL)
		return;
	a->shape = WS_SHAPE_STEP;
	a->step = (uint32_t)step;
}

static void fill_access(struct ws_exec *x, const struct ws_dinst *in, const struct place *p, uint32_t mask,
                        struct ws_access *a)
{
	a->site = &x->frag->frame->code->fn->sites[in->site];
	a->mask = mask;
	a->space = p->space;
	a->linear = p->linear;
	a->base = p->base;
	a->addr = p->a;
	a->mem = p->mem;
}

static void observe(struct ws_exec *x, const struct ws_dinst *in, const uint8_t *regs, const struct place *p,
                    uint32_t mask)
{
	const struct ws_dmem *m = &in->u.mem;
	_Alignas(64) uint8_t values[WS_WARP * 64];
	struct ws_access a = {.kind = m->flags & WS_DM_STORE ? WS_WRITE : WS_READ, .sem = m->sem, .scope = m->scope,
	                      .bytes = (uint16_t)(m->size * m->vec), .nc = m->flags & WS_DM_NC, .issuer = WS_WARP};

	if (!wanted(x, p->space))
		return;
	fill_access(x, in, p, mask, &a);
	find_shape(p, mask, &a);
	if (a.kind == WS_WRITE) {
		a.wrote = mask;
		if (p->linear)
			a.target = host_at(p, p->base);
		if (x->ops->needs & WS_NEED_VALUES) {
			a.value = values;
			if (m->vec == 1 && m->size == m->reg_width)
				a.value = regs + m->d[0];
			else
				pack(x, m, regs, mask, values);
		}
	}
	x->ops->access(x->self, &x->warp->obs, &a);
}

/* ---- tags (struct ws_note_log) ---- */
#if defined __AVX512F__
/* Of lanes m, those whose word a lower one of them has, too. */
INLINE __mmask16 repeated(__m512i at, __mmask16 m)
{
	return _mm512_mask_test_epi32_mask(m, _mm512_maskz_conflict_epi32(m, at), _mm512_set1_epi32(m));
}

/* 16 lanes that read. Of lanes with one word that is empty so far, the highest leaves its tag: several read it. */
INLINE bool mark_reads(uint32_t *tags, __m512i at, __mmask16 m, __m512i fresh)
{
	const __m512i number = _mm512_set1_epi32((int)(UINT32_MAX << WS_TAG_NUMBER)),
	              written = _mm512_set1_epi32(WS_TAG_WRITTEN), readers = _mm512_set1_epi32(WS_TAG_READERS);
	__m512i old = _mm512_mask_i32gather_epi32(_mm512_setzero_si512(), m, at, tags, 4);
	__mmask16 empty = _mm512_mask_test_epi32_mask(m, _mm512_xor_si512(old, fresh), number);
	__mmask16 other = _mm512_mask_cmpneq_epi32_mask(m & ~empty, _mm512_andnot_si512(written, old), fresh), again;

	other = _mm512_mask_testn_epi32_mask(other, old, readers);
	if (_mm512_mask_test_epi32_mask(other, old, _mm512_set1_epi32(WS_TAG_WRITTEN | WS_TAG_ATOMIC)))
		return false;
	if (other)
		_mm512_mask_i32scatter_epi32(tags, other, at, _mm512_or_si512(old, readers), 4);
	if (!empty)
		return true;
	_mm512_mask_i32scatter_epi32(tags, empty, at, fresh, 4);
	again = repeated(at, empty);
	if (__builtin_expect(again != 0, 0))
		_mm512_mask_i32scatter_epi32(tags, again, at, _mm512_or_si512(fresh, readers), 4);
	return true;
}

INLINE bool mark_writes(uint32_t *tags, __m512i at, __mmask16 m, __m512i fresh)
{
	const __m512i number = _mm512_set1_epi32((int)(UINT32_MAX << WS_TAG_NUMBER)),
	              written = _mm512_set1_epi32(WS_TAG_WRITTEN);
	__m512i old = _mm512_mask_i32gather_epi32(_mm512_setzero_si512(), m, at, tags, 4);
	__mmask16 filled = _mm512_mask_testn_epi32_mask(m, _mm512_xor_si512(old, fresh), number);

	if (_mm512_mask_cmpneq_epi32_mask(filled, _mm512_andnot_si512(written, old), fresh))
		return false;
	_mm512_mask_i32scatter_epi32(tags, m, at, _mm512_or_si512(fresh, written), 4);
	return !repeated(at, m);
}

INLINE bool mark_atomics(uint32_t *tags, __m512i at, __mmask16 m, __m512i fresh)
{
	const __m512i number = _mm512_set1_epi32((int)(UINT32_MAX << WS_TAG_NUMBER)), atomic = _mm512_set1_epi32(WS_TAG_ATOMIC);
	__m512i old = _mm512_mask_i32gather_epi32(_mm512_setzero_si512(), m, at, tags, 4);
	__mmask16 filled = _mm512_mask_testn_epi32_mask(m, _mm512_xor_si512(old, fresh), number);

	if (_mm512_mask_testn_epi32_mask(filled, old, atomic))
		return false;
	_mm512_mask_i32scatter_epi32(tags, m, at, _mm512_or_si512(fresh, atomic), 4);
	return true;
}

INLINE bool mark_words(uint32_t *tags, const uint32_t *at, uint32_t mask, uint32_t first, uint32_t kind)
{
	const __m512i lanes = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);

	for (uint32_t l = 0; l < WS_WARP; l += 16) {
		__mmask16 m = (__mmask16)(mask >> l);
		__m512i to = _mm512_load_si512(at + l), fresh = _mm512_add_epi32(lanes, _mm512_set1_epi32((int)(first + l)));

		if (m && !(kind == WS_NOTE_READ ? mark_reads(tags, to, m, fresh) : kind == WS_NOTE_WRITE
		           ? mark_writes(tags, to, m, fresh) : mark_atomics(tags, to, m, fresh)))
			return false;
	}
	return true;
}
#else
INLINE bool mark_read(uint32_t *tag, uint32_t fresh)
{
	uint32_t old = *tag;

	if ((old ^ fresh) >> WS_TAG_NUMBER)
		*tag = fresh;
	else if ((old & ~(uint32_t)WS_TAG_WRITTEN) == fresh || old & WS_TAG_READERS)
		return true;
	else if (old & (WS_TAG_WRITTEN | WS_TAG_ATOMIC))
		return false;
	else
		*tag = old | WS_TAG_READERS;
	return true;
}

INLINE bool mark_write(uint32_t *tag, uint32_t fresh)
{
	uint32_t old = *tag;

	*tag = fresh | WS_TAG_WRITTEN;
	return (old ^ fresh) >> WS_TAG_NUMBER || (old & ~(uint32_t)WS_TAG_WRITTEN) == fresh;
}

INLINE bool mark_atomic(uint32_t *tag, uint32_t fresh)
{
	uint32_t old = *tag;

	*tag = fresh | WS_TAG_ATOMIC;
	return (old ^ fresh) >> WS_TAG_NUMBER || old & WS_TAG_ATOMIC;
}

INLINE bool mark_words(uint32_t *tags, const uint32_t *at, uint32_t mask, uint32_t first, uint32_t kind)
{
	ACTIVE(l, mask)
		if (!(kind == WS_NOTE_READ ? mark_read(&tags[at[l]], first + l) : kind == WS_NOTE_WRITE
		      ? mark_write(&tags[at[l]], first + l) : mark_atomic(&tags[at[l]], first + l)))
			return false;
	return true;
}
#endif

/* 32 words one after the other, of 32 threads that find them empty or their own. */
INLINE bool mark_row(uint32_t *tag, uint32_t first, uint32_t set)
{
	uint32_t bad = 0;

	EACH(l) {
		uint32_t fresh = first + (uint32_t)l, old = tag[l];

		bad |= (uint32_t)((old ^ fresh) >> WS_TAG_NUMBER == 0) & (uint32_t)((old & ~(uint32_t)WS_TAG_WRITTEN) != fresh);
	}
	if (bad)
		return false;
	EACH(l) {
		uint32_t fresh = first + (uint32_t)l, old = tag[l];

		tag[l] = ((old ^ fresh) >> WS_TAG_NUMBER ? fresh : old) | set;
	}
	return true;
}

static bool mark(struct ws_note_log *g, uint32_t warp, uint32_t mask, uint32_t kind, uint32_t bytes,
                 const uint64_t addr[WS_WARP])
{
	_Alignas(64) uint32_t at[WS_WARP];
	uint32_t first = g->tag_number << WS_TAG_NUMBER | warp * WS_WARP;
	bool ok = true;

	EACH(l)
		at[l] = (uint32_t)(addr[l] >> g->tag_shift);
	if (kind == WS_NOTE_READ)
		for (uint32_t i = bytes >> g->tag_shift; i-- && ok;)
			ok = mark_words(g->tags + i, at, mask, first, WS_NOTE_READ);
	else if (kind == WS_NOTE_WRITE)
		for (uint32_t i = bytes >> g->tag_shift; i-- && ok;)
			ok = mark_words(g->tags + i, at, mask, first, WS_NOTE_WRITE);
	else
		for (uint32_t i = bytes >> g->tag_shift; i-- && ok;)
			ok = mark_words(g->tags + i, at, mask, first, WS_NOTE_ATOMIC);
	g->clash |= !ok;
	return ok;
}

/* Is the access, of shared memory, fine as far as the tags know? */
INLINE bool marked(struct ws_exec *x, struct ws_note_log *g, const struct place *p, uint32_t mask, uint32_t kind,
                   uint32_t bytes)
{
	uint32_t first = g->tag_number << WS_TAG_NUMBER | x->warp->obs.index * WS_WARP;

	if (g->tag_shift && bytes & 3)
		return false;
	if (p->linear && mask == ALL && bytes == 1u << g->tag_shift && kind != WS_NOTE_ATOMIC &&
	    mark_row(&g->tags[p->base >> g->tag_shift], first, kind == WS_NOTE_WRITE ? WS_TAG_WRITTEN : 0))
		return true;
	return mark(g, x->warp->obs.index, mask, kind, bytes, p->a);
}

INLINE void set_line(struct ws_note *n, uint32_t base0, uint32_t base1, uint32_t step0, uint32_t step1)
{
	n->base[0] = base0;
	n->base[1] = base1;
	n->step[0] = (uint8_t)step0;
	n->step[1] = (uint8_t)step1;
}

/* Room for one more note of that kind; NULL: `access` must be called. */
INLINE struct ws_note *new_note(struct ws_exec *x, const struct ws_dinst *in, const struct place *p, uint32_t mask,
                                uint32_t kind, uint32_t bytes)
{
	struct ws_note_log *g = x->block->obs.notes;
	struct ws_note *n;

	if (p->space != WS_SPACE_SHARED || !g || g->size - g->used < WS_NOTE_MAX)
		return NULL;
	if (g->accept & kind) {
		g->accept = kind;
	} else {
		if (!(g->tagged & kind))
			return NULL;
		if (!marked(x, g, p, mask, kind, bytes)) {
			g->tagged = 0;
			return NULL;
		}
		g->kinds |= kind;
	}
	n = (struct ws_note *)(void *)(g->data + g->used);
	g->used += sizeof *n;
	g->accesses += (uint32_t)__builtin_popcount(mask);
	memcpy(n->stamp, x->warp->obs.state, sizeof n->stamp);
	n->site = &x->frag->frame->code->fn->sites[in->site];
	n->warp = x->warp->obs.index;
	n->mask = mask;
	n->bytes = (uint8_t)bytes;
	n->scattered = 0;
	if (p->linear) {                 /* one flag after the other: both at once would wait for two stores */
		set_line(n, (uint32_t)p->base, (uint32_t)p->base + 16 * bytes, bytes, bytes);
	} else if (p->halves) {
		set_line(n, (uint32_t)p->a[0], (uint32_t)p->a[16], p->half_uniform[0] ? 0 : bytes,
		         p->half_uniform[1] ? 0 : bytes);
	} else if (p->uniform) {
		uint32_t at = (uint32_t)p->a[__builtin_ctz(mask)];

		set_line(n, at, at, 0, 0);
	} else if (bytes == 4 || x->shared_bytes <= UINT16_MAX + 1) {
		uint16_t *to = (uint16_t *)(void *)(n + 1);
		uint32_t shift = bytes == 4 ? 2 : 0;

		EACH(l)
			to[l] = (uint16_t)(p->a[l] >> shift);
		n->scattered = bytes == 4 ? 2 : 1;
		g->used += sizeof *to * WS_WARP;
	} else {
		uint32_t *to = (uint32_t *)(void *)(n + 1);

		EACH(l)
			to[l] = (uint32_t)p->a[l];
		n->scattered = 4;
		g->used += sizeof *to * WS_WARP;
	}
	return n;
}

/* Memory that the launch cannot write (struct ws_obs_launch): nobody wants to know of weak reads. */
INLINE bool untold_read(struct ws_exec *x, const struct ws_dinst *in, const struct place *p, uint32_t mask)
{
	if (!p->mem || p->mem->written >= x->told_from || in->u.mem.flags & WS_DM_SYNC)
		return false;
	x->untold += mask == ALL ? WS_WARP : (uint32_t)__builtin_popcount(mask);
	return true;
}

INLINE bool note_weak(struct ws_exec *x, const struct ws_dinst *in, const struct place *p, uint32_t mask, uint32_t bytes,
                      bool store)
{
	struct ws_note *n;

	if (in->u.mem.flags & WS_DM_SYNC)        /* strong: no note */
		return false;
	n = new_note(x, in, p, mask, store ? WS_NOTE_WRITE : WS_NOTE_READ, bytes);
	if (!n)
		return false;
	n->kind = store ? WS_WRITE : WS_READ;
	n->sem = WS_SEM_WEAK;
	n->scope = WS_SCOPE_NONE;
	n->atom = 0;
	return true;
}

INLINE bool note_atomic(struct ws_exec *x, const struct ws_dinst *in, const struct place *p, uint32_t mask, uint32_t wrote)
{
	const struct ws_datom *t = in->u.op.ptr;
	struct ws_note *n;

	if (wrote != mask || t->bytes != 4 || t->n > 1 || t->sem != WS_SEM_RELAXED || t->atom == WS_ATOM_CAS ||
	    t->atom == WS_ATOM_EXCH)
		return false;
	n = new_note(x, in, p, mask, WS_NOTE_ATOMIC, 4);
	if (!n)
		return false;
	n->kind = WS_ATOMIC;
	n->sem = t->sem;
	n->scope = t->scope;
	n->atom = t->atom;
	return true;
}

/* ---- ld, st ---- */
static void element_in(const struct place *p, const struct ws_dmem *m, uint8_t *d, uint32_t mask, unsigned i)
{
	bool is_signed = m->flags & WS_DM_SIGNED;
	unsigned step = m->size * m->vec, at = i * m->size;

	switch (m->size << 4 | m->reg_width) {
	case 1 << 4 | 2:
		move_in(p, d, mask, 2, 1, is_signed, at, step);
		return;
	case 1 << 4 | 4:
		move_in(p, d, mask, 4, 1, is_signed, at, step);
		return;
	case 2 << 4 | 2:
		move_in(p, d, mask, 2, 2, false, at, step);
		return;
	case 4 << 4 | 4:
		move_in(p, d, mask, 4, 4, false, at, step);
		return;
	case 8 << 4 | 8:
		move_in(p, d, mask, 8, 8, false, at, step);
		return;
	default:
		move_in(p, d, mask, m->reg_width, m->size, is_signed, at, step);
	}
}

static void element_out(const struct place *p, const struct ws_dmem *m, const uint8_t *s, uint32_t mask, unsigned i)
{
	unsigned step = m->size * m->vec, at = i * m->size;

	if (m->size == 4 && m->reg_width == 4)
		move_out(p, s, mask, 4, 4, at, step);
	else if (m->size == 8)
		move_out(p, s, mask, 8, 8, at, step);
	else
		move_out(p, s, mask, m->reg_width, m->size, at, step);
}

/* ---- stores that are kept back (held.c) ---- */
static void keep(struct ws_exec *x, const struct ws_dmem *m, const uint8_t *regs, const struct place *p, uint32_t mask)
{
	uint32_t bytes = (uint32_t)m->size * m->vec, first = (uint32_t)__builtin_ctz(mask),
	         last = 31 - (uint32_t)__builtin_clz(mask);
	struct ws_held *h = x->held;
	struct ws_held_store *s = ws_held_new(h, p->linear, bytes);
	uint8_t *values = ws_held_values(s);

	s->cycle = x->cycle;
	s->mask = mask;
	s->low = p->delta + p->base + first * bytes;
	s->high = p->delta + p->base + (last + 1) * bytes;
	if (p->linear) {
		for (uintptr_t at = s->low; at < s->high; at += 1u << WS_HELD_LINE)
			ws_held_line(h, at);
		ws_held_line(h, s->high - 1);
	} else {
		uintptr_t *at = ws_held_places(s), low = UINTPTR_MAX, high = 0;

		ACTIVE(l, mask) {                /* aligned: each in one line */
			at[l] = p->delta + p->a[l];
			low = at[l] < low ? at[l] : low;
			high = at[l] > high ? at[l] : high;
			ws_held_line(h, at[l]);
		}
		s->low = low;
		s->high = high + bytes;
	}
	if (m->vec == 1 && m->size == m->reg_width)
		memcpy(values, regs + m->d[0], WS_WARP * (size_t)m->size);
	else
		pack(x, m, regs, mask, values);
	ws_held_mark(h, s->low, s->high);
}

/* May something that is kept back lie where the load reads? */
static bool may_meet(const struct ws_held *h, const struct place *p, uint32_t mask, uint32_t bytes)
{
	uintptr_t at = p->delta + p->base, end = at + (uint64_t)WS_WARP * bytes;

	if (p->linear) {
		if (at >= h->high || end <= h->low)
			return false;
		for (; at < end; at += 1u << WS_HELD_LINE)
			if (ws_held_has_line(h, at))
				return true;
		return ws_held_has_line(h, end - 1);
	}
	if (p->uniform)
		return ws_held_has_line(h, p->delta + p->a[__builtin_ctz(mask)]);
	ACTIVE(l, mask)
		if (ws_held_has_line(h, p->delta + p->a[l]))
			return true;
	return false;
}

/* A load of what is kept back, at least in part: the values of the lanes are put side by side first. */
static void load_held(struct ws_exec *x, const struct ws_dmem *m, uint8_t *regs, const struct place *p, uint32_t mask)
{
	_Alignas(64) uint8_t values[WS_WARP * 64];
	uint32_t bytes = (uint32_t)m->size * m->vec;
	struct place side = {.delta = (uintptr_t)values, .linear = true, .space = p->space};
	uintptr_t at[WS_WARP];

	for (uint32_t l = 0; l < WS_WARP; l++)
		side.a[l] = (uint64_t)l * bytes;
	ACTIVE(l, mask) {
		at[l] = p->delta + p->a[l];
		memcpy(values + l * bytes, (const uint8_t *)at[l], bytes);
	}
	ws_held_patch(x->held, at, mask, bytes, values);
	for (unsigned i = 0; i < m->vec; i++) {
		uint32_t reg = data_register(x, m, i);

		if (reg != WS_LANE_NONE)
			element_in(&side, m, regs + reg, mask, i);
	}
}

/* false: a load of which nothing is kept back. */
INLINE bool held(struct ws_exec *x, const struct ws_dmem *m, uint8_t *regs, const struct place *p, uint32_t mask)
{
	if (m->flags & WS_DM_STORE) {
		keep(x, m, regs, p, mask);
		x->warp->progress++;
		return true;
	}
	if (!x->held->count || !may_meet(x->held, p, mask, (uint32_t)m->size * m->vec))
		return false;
	load_held(x, m, regs, p, mask);
	return true;
}

INLINE bool access_simple(struct ws_exec *x, const struct ws_dinst *in, uint8_t *regs, uint32_t mask, bool store,
                          unsigned size, unsigned space)
{
	const struct ws_dmem *m = &in->u.mem;
	struct place p;

	addresses(regs, m->addr, m->addr_width, m->off, p.a);
	if (__builtin_expect(!resolve(x, space, m->cache, size, mask, &p), 0))
		return ws_mem_slow(x, in, regs, mask);
	if (x->ops && !((!store && untold_read(x, in, &p, mask)) || note_weak(x, in, &p, mask, size, store)))
		observe(x, in, regs, &p, mask);
	if (space == WS_SPACE_GLOBAL && __builtin_expect(x->held != NULL, 0) && held(x, m, regs, &p, mask))
		return true;
	if (store) {
		move_out(&p, regs + m->d[0], mask, size, size, 0, size);
		x->warp->progress++;
	} else {
		move_in(&p, regs + m->d[0], mask, size, size, false, 0, size);
	}
	return true;
}

#define SIMPLE(name, store, size, space) \
	static bool name(struct ws_exec *x, const struct ws_dinst *in, uint8_t *regs, uint32_t mask) \
	{ \
		return access_simple(x, in, regs, mask, store, size, space); \
	}
SIMPLE(ld_global_4, false, 4, WS_SPACE_GLOBAL)
SIMPLE(ld_global_8, false, 8, WS_SPACE_GLOBAL)
SIMPLE(st_global_4, true, 4, WS_SPACE_GLOBAL)
SIMPLE(st_global_8, true, 8, WS_SPACE_GLOBAL)
SIMPLE(ld_shared_4, false, 4, WS_SPACE_SHARED)
SIMPLE(ld_shared_8, false, 8, WS_SPACE_SHARED)
SIMPLE(st_shared_4, true, 4, WS_SPACE_SHARED)
SIMPLE(st_shared_8, true, 8, WS_SPACE_SHARED)

/* Any size, vector and space. */
static bool access_any(struct ws_exec *x, const struct ws_dinst *in, uint8_t *regs, uint32_t mask)
{
	const struct ws_dmem *m = &in->u.mem;
	struct place p;

	addresses(regs, m->addr, m->addr_width, m->off, p.a);
	if (!resolve(x, m->space, m->cache, (uint64_t)m->size * m->vec, mask, &p))
		return ws_mem_slow(x, in, regs, mask);
	if (x->ops && !((!(m->flags & WS_DM_STORE) && untold_read(x, in, &p, mask)) ||
	                note_weak(x, in, &p, mask, (uint32_t)m->size * m->vec, m->flags & WS_DM_STORE)))
		observe(x, in, regs, &p, mask);
	if (__builtin_expect(x->held != NULL, 0) && p.space == WS_SPACE_GLOBAL && held(x, m, regs, &p, mask))
		return true;
	for (unsigned i = 0; i < m->vec; i++) {
		uint32_t reg = data_register(x, m, i);

		if (m->flags & WS_DM_STORE)
			element_out(&p, m, regs + reg, mask, i);
		else if (reg != WS_LANE_NONE)
			element_in(&p, m, regs + reg, mask, i);
	}
	if ((m->flags & (WS_DM_STORE | WS_DM_OWN)) == WS_DM_STORE)
		x->warp->progress++;
	return true;
}

/* ---- atom, red ---- */
/* To know whether it changed anything (ws_atomic_progress). */
static bool needs_old(const struct ws_datom *t)
{
	return t->atom != WS_ATOM_ADD && t->atom != WS_ATOM_XOR && t->atom != WS_ATOM_CAS;
}

static bool fast_atomic(struct ws_exec *x, const struct ws_dinst *in, uint8_t *regs, uint32_t mask)
{
	const struct ws_datom *t = in->u.op.ptr;
	_Alignas(64) uint64_t scratch[WS_WARP];
	uint8_t *host[WS_WARP];
	struct ws_atomic_args args = {.host = host, .mask = mask};
	struct place p;
	uint32_t wrote;

	addresses(regs, t->addr, t->addr_width, t->off, p.a);
	if (!resolve(x, t->space, t->cache, t->bytes, mask, &p))
		return false;
	EACH(l)
		host[l] = (uint8_t *)(p.delta + p.a[l]);
	args.a[0] = regs + t->a[0];
	args.b = t->b == WS_LANE_NONE ? NULL : regs + t->b;
	args.d[0] = t->d[0] != WS_LANE_NONE || x->ops || needs_old(t) ? scratch : NULL;
	wrote = (p.space == WS_SPACE_GLOBAL ? t->global : t->shared)(&args);
	if (!p.mem || !p.mem->inserted)
		ws_atomic_progress(x, in, p.a, p.space, wrote, &args);
	if (x->ops && wanted(x, p.space) && !note_atomic(x, in, &p, mask, wrote)) {
		struct ws_access a = {.kind = WS_ATOMIC, .wrote = wrote, .sem = t->sem, .scope = t->scope,
		                      .atom = t->atom, .bytes = t->bytes, .value = scratch, .issuer = WS_WARP};

		fill_access(x, in, &p, mask, &a);
		x->ops->access(x->self, &x->warp->obs, &a);
	}
	if (t->d[0] == WS_LANE_NONE)
		return true;
	if (mask == ALL)
		memcpy(regs + t->d[0], scratch, WS_WARP * (size_t)t->width);
	else
		ACTIVE(l, mask)
			memcpy(regs + t->d[0] + l * t->width, (uint8_t *)scratch + l * t->width, t->width);
	return true;
}

#if defined __AVX512F__
static uint32_t lanes_at(const uint64_t addr[WS_WARP], uint64_t origin, const uint32_t word[WS_WARP])
{
	uint32_t same = 0;

	for (int l = 0; l < WS_WARP; l += 8) {
		__m512i at = _mm512_cvtepu32_epi64(_mm256_loadu_si256((const __m256i *)(const void *)(word + l)));

		at = _mm512_add_epi64(_mm512_slli_epi64(at, 2), _mm512_set1_epi64((long long)origin));
		same |= (uint32_t)_mm512_cmpeq_epi64_mask(at, _mm512_loadu_si512(addr + l)) << l;
	}
	return same;
}

static uint32_t lanes_in(const uint64_t addr[WS_WARP], uint64_t from, uint64_t bytes)
{
	uint32_t in = 0;

	for (int l = 0; l < WS_WARP; l += 8) {
		__m512i at = _mm512_sub_epi64(_mm512_loadu_si512(addr + l), _mm512_set1_epi64((long long)from));

		in |= (uint32_t)_mm512_cmplt_epu64_mask(at, _mm512_set1_epi64((long long)bytes)) << l;
	}
	return in;
}

static uint32_t lanes_same(const uint64_t addr[WS_WARP], const uint64_t other[WS_WARP])
{
	uint32_t same = 0;

	for (int l = 0; l < WS_WARP; l += 8)
		same |= (uint32_t)_mm512_cmpeq_epi64_mask(_mm512_loadu_si512(addr + l), _mm512_loadu_si512(other + l)) << l;
	return same;
}
#elif defined __AVX2__
static uint32_t lanes_at(const uint64_t addr[WS_WARP], uint64_t origin, const uint32_t word[WS_WARP])
{
	uint32_t same = 0;

	for (int l = 0; l < WS_WARP; l += 4) {
		__m256i at = _mm256_cvtepu32_epi64(_mm_loadu_si128((const __m128i *)(const void *)(word + l)));

		at = _mm256_add_epi64(_mm256_slli_epi64(at, 2), _mm256_set1_epi64x((long long)origin));
		at = _mm256_cmpeq_epi64(at, _mm256_loadu_si256((const __m256i *)(const void *)(addr + l)));
		same |= (uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(at)) << l;
	}
	return same;
}

/* The comparison is one of signed numbers. */
static uint32_t lanes_in(const uint64_t addr[WS_WARP], uint64_t from, uint64_t bytes)
{
	const __m256i lowest = _mm256_set1_epi64x(INT64_MIN), end = _mm256_xor_si256(_mm256_set1_epi64x((long long)bytes), lowest);
	uint32_t in = 0;

	for (int l = 0; l < WS_WARP; l += 4) {
		__m256i at = _mm256_loadu_si256((const __m256i *)(const void *)(addr + l));

		at = _mm256_xor_si256(_mm256_sub_epi64(at, _mm256_set1_epi64x((long long)from)), lowest);
		in |= (uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpgt_epi64(end, at))) << l;
	}
	return in;
}

static uint32_t lanes_same(const uint64_t addr[WS_WARP], const uint64_t other[WS_WARP])
{
	uint32_t same = 0;

	for (int l = 0; l < WS_WARP; l += 4) {
		__m256i at = _mm256_cmpeq_epi64(_mm256_loadu_si256((const __m256i *)(const void *)(addr + l)),
		                                _mm256_loadu_si256((const __m256i *)(const void *)(other + l)));

		same |= (uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(at)) << l;
	}
	return same;
}
#else
static uint32_t lanes_in(const uint64_t addr[WS_WARP], uint64_t from, uint64_t bytes)
{
	uint32_t in = 0;

	for (int l = 0; l < WS_WARP; l++)
		in |= (uint32_t)(addr[l] - from < bytes) << l;
	return in;
}

static uint32_t lanes_same(const uint64_t addr[WS_WARP], const uint64_t other[WS_WARP])
{
	uint32_t same = 0;

	for (int l = 0; l < WS_WARP; l++)
		same |= (uint32_t)(addr[l] == other[l]) << l;
	return same;
}

static uint32_t lanes_at(const uint64_t addr[WS_WARP], uint64_t origin, const uint32_t word[WS_WARP])
{
	uint32_t same = 0;

	for (int l = 0; l < WS_WARP; l++)
		same |= (uint32_t)(addr[l] == origin + 4 * (uint64_t)word[l]) << l;
	return same;
}
#endif

const struct ws_mem_ops PASTE(ws_mem_ops, WS_ISA) = {
	.global = {{ld_global_4, ld_global_8}, {st_global_4, st_global_8}},
	.shared = {{ld_shared_4, ld_shared_8}, {st_shared_4, st_shared_8}},
	.any = access_any,
	.atomic = fast_atomic,
	.mark = mark,
	.at = lanes_at,
	.in = lanes_in,
	.same = lanes_same,
};

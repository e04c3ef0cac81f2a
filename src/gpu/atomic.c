/* atomic.c - atom and red on every type and operation (PTX ISA 9.0, "atom" and "red").
 *
 * A function exists twice: `_p` for memory that nobody else touches meanwhile, `_s` for memory that other host threads
 * may change (real atomic operations of the host). Lanes follow each other in rising order; where all of them mean one
 * place, `_s` does the lanes' work on a local copy and swaps the result in at once. */
#include "gpu/atomic.h"

#include <pthread.h>
#include <string.h>

/* ---- floating point, on bit patterns ---- */

static float f32_of(uint32_t u)
{
	float f;
	memcpy(&f, &u, sizeof f);
	return f;
}

static uint32_t bits_of(float f)
{
	uint32_t u;
	memcpy(&u, &f, sizeof u);
	return u;
}

#define F32_NAN UINT32_C(0x7fffffff)         /* the NaN that the hardware makes */

static uint32_t flush(uint32_t u)
{
	return u & 0x7f800000 ? u : u & 0x80000000;
}

static uint32_t f32_add(uint32_t a, uint32_t b)
{
	uint32_t r = bits_of(f32_of(a) + f32_of(b));
	return (r & 0x7fffffff) > 0x7f800000 ? F32_NAN : r;
}

/* "atom.add.f32 on global memory flushes subnormal inputs and results to sign-preserving zero; whereas, atom.add.f32
 * on shared memory supports subnormal inputs and results" (PTX ISA 9.0, atom). */
static uint32_t f32_add_ftz(uint32_t a, uint32_t b)
{
	return flush(f32_add(flush(a), flush(b)));
}

static bool f64_is_nan(uint64_t u)
{
	return (u & INT64_MAX) > UINT64_C(0x7ff0000000000000);
}

/* A NaN passes as it is, signaling or not, the operand's before the one in memory (seen on an H200). */
static uint64_t f64_add(uint64_t a, uint64_t b)
{
	double x, y;
	if (f64_is_nan(b) || f64_is_nan(a))
		return f64_is_nan(b) ? b : a;
	memcpy(&x, &a, sizeof x);
	memcpy(&y, &b, sizeof y);
	x += y;
	memcpy(&a, &x, sizeof a);
	return a;
}

static float f16_value(uint32_t h)
{
	uint32_t sign = (h & 0x8000) << 16, e = h >> 10 & 31, f = h & 0x3ff;
	if (e == 31)
		return f32_of(sign | 0x7f800000 | f << 13);
	if (e)
		return f32_of(sign | (e + 112) << 23 | f << 13);
	float v = (float)f * 0x1p-24f;
	return sign ? -v : v;
}

/* Rounds to nearest even; NaN becomes 0x7fff. */
static uint32_t f16_round(float v)
{
	uint32_t u = bits_of(v), sign = u >> 16 & 0x8000, a = u & 0x7fffffff;
	if (a > 0x7f800000)
		return 0x7fff;
	if (a >= 0x477ff000)             /* 65520 and more: no finite number is nearest */
		return sign | 0x7c00;
	if (a < 0x38800000) {            /* below 2^-14: a multiple of 2^-24, rounded by an addition to 2^-1 */
		uint32_t r = bits_of(f32_of(a) + 0.5f);
		return sign | (r - 0x3f000000);
	}
	uint32_t odd = a >> 13 & 1;
	return sign | ((a + 0xfff + odd - 0x38000000) >> 13);
}

static float bf16_value(uint32_t h)
{
	return f32_of(h << 16);
}

static uint32_t bf16_round(float v)
{
	uint32_t u = bits_of(v);
	if ((u & 0x7fffffff) > 0x7f800000)
		return 0x7fff;
	return (u + 0x7fff + (u >> 16 & 1)) >> 16;
}

/* A sum of two numbers of p bits that is rounded to 24 bits first and to p then is the same as one rounded once, as
 * 24 >= 2 p + 1 for p = 11 and p = 8 (Figueroa 1995, "When is double rounding innocuous?"). */
static uint32_t f16_add(uint32_t a, uint32_t b)
{
	return f16_round(f16_value(a) + f16_value(b));
}

static uint32_t bf16_add(uint32_t a, uint32_t b)
{
	return bf16_round(bf16_value(a) + bf16_value(b));
}

/* min and max of 16-bit floats: of a number and a NaN the number; -0 below +0 (PTX ISA 9.0, min). infinity: its bits. */
static uint32_t half_pick(uint32_t a, uint32_t b, uint32_t infinity, bool max)
{
	bool nan_a = (a & 0x7fff) > infinity, nan_b = (b & 0x7fff) > infinity;
	if (nan_a || nan_b)
		return nan_a && nan_b ? 0x7fff : nan_a ? b : a;
	int32_t x = a & 0x8000 ? -(int32_t)(a & 0x7fff) - 1 : (int32_t)a;
	int32_t y = b & 0x8000 ? -(int32_t)(b & 0x7fff) - 1 : (int32_t)b;
	return (x < y) != max ? a : b;
}

static uint32_t f16_min(uint32_t a, uint32_t b)
{
	return half_pick(a, b, 0x7c00, false);
}

static uint32_t f16_max(uint32_t a, uint32_t b)
{
	return half_pick(a, b, 0x7c00, true);
}

static uint32_t bf16_min(uint32_t a, uint32_t b)
{
	return half_pick(a, b, 0x7f80, false);
}

static uint32_t bf16_max(uint32_t a, uint32_t b)
{
	return half_pick(a, b, 0x7f80, true);
}

#define PAIR(name)                                                                                                   \
	static uint32_t name##x2(uint32_t a, uint32_t b)                                                             \
	{                                                                                                            \
		return name(a & 0xffff, b & 0xffff) | name(a >> 16, b >> 16) << 16;                                  \
	}
PAIR(f16_add)
PAIR(f16_min)
PAIR(f16_max)
PAIR(bf16_add)
PAIR(bf16_min)
PAIR(bf16_max)

/* ---- the loops ---- */

/* Do at least two lanes take part and all mean one place? */
static bool one_place(const struct ws_atomic_args *x)
{
	uint32_t m = x->mask;
	const uint8_t *first = x->host[__builtin_ctz(m)];
	m &= m - 1;
	if (!m)
		return false;
	for (; m; m &= m - 1)
		if (x->host[__builtin_ctz(m)] != first)
			return false;
	return true;
}

#define EACH_LANE(l) for (uint32_t m_ = x->mask, l; m_ && (l = (uint32_t)__builtin_ctz(m_), 1); m_ &= m_ - 1)

/* _p: memory that is ours alone. F(old, b) is the new value. */
#define PRIVATE(name, T, F)                                                                                          \
	static uint32_t name##_p(const struct ws_atomic_args *x)                                                     \
	{                                                                                                            \
		const T *b = x->a[0];                                                                                \
		T *d = x->d[0];                                                                                      \
		if (d) {                                                                                             \
			EACH_LANE(l) {                                                                               \
				T *p = (T *)x->host[l], old = *p;                                                    \
				*p = (T)F(old, b[l]);                                                                \
				d[l] = old;                                                                          \
			}                                                                                            \
		} else {                                                                                             \
			EACH_LANE(l) {                                                                               \
				T *p = (T *)x->host[l];                                                              \
				*p = (T)F(*p, b[l]);                                                                 \
			}                                                                                            \
		}                                                                                                    \
		return x->mask;                                                                                      \
	}

/* All lanes on one place of memory that others touch: one compare-and-swap for the warp. d may be NULL. */
#define BURST(name, T, F)                                                                                            \
	static void name##_burst(const struct ws_atomic_args *x)                                                     \
	{                                                                                                            \
		T *p = (T *)x->host[__builtin_ctz(x->mask)], *d = x->d[0];                                           \
		const T *b = x->a[0];                                                                                \
		T mine[WS_WARP], old = __atomic_load_n(p, __ATOMIC_RELAXED), v;                                      \
		do {                                                                                                 \
			v = old;                                                                                     \
			EACH_LANE(l) {                                                                               \
				mine[l] = v;                                                                         \
				v = (T)F(v, b[l]);                                                                   \
			}                                                                                            \
		} while (!__atomic_compare_exchange_n(p, &old, v, true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));        \
		if (d)                                                                                               \
			EACH_LANE(l)                                                                                 \
				d[l] = mine[l];                                                                      \
	}

#define SHARED(name, T, ONE)                                                                                         \
	static uint32_t name##_s(const struct ws_atomic_args *x)                                                     \
	{                                                                                                            \
		const T *b = x->a[0];                                                                                \
		T *d = x->d[0];                                                                                      \
		if (one_place(x)) {                                                                                  \
			name##_burst(x);                                                                             \
			return x->mask;                                                                              \
		}                                                                                                    \
		EACH_LANE(l) {                                                                                       \
			T old = ONE((T *)x->host[l], b[l]);                                                          \
			if (d)                                                                                       \
				d[l] = old;                                                                          \
		}                                                                                                    \
		return x->mask;                                                                                      \
	}

/* An operation that the host has no instruction for. */
#define LOOPED(name, T, F)                                                                                           \
	PRIVATE(name, T, F)                                                                                          \
	BURST(name, T, F)                                                                                            \
	static T name##_one(T *p, T b)                                                                               \
	{                                                                                                            \
		T old = __atomic_load_n(p, __ATOMIC_RELAXED);                                                        \
		while (!__atomic_compare_exchange_n(p, &old, (T)F(old, b), true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) \
			continue;                                                                                    \
		return old;                                                                                          \
	}                                                                                                            \
	SHARED(name, T, name##_one)

/* One that it has. */
#define NATIVE(name, T, F, BUILTIN)                                                                                  \
	PRIVATE(name, T, F)                                                                                          \
	BURST(name, T, F)                                                                                            \
	static inline T name##_one(T *p, T b)                                                                        \
	{                                                                                                            \
		return BUILTIN(p, b, __ATOMIC_SEQ_CST);                                                              \
	}                                                                                                            \
	SHARED(name, T, name##_one)

#define ADD(a, b) ((a) + (b))
#define AND(a, b) ((a) & (b))
#define OR(a, b) ((a) | (b))
#define XOR(a, b) ((a) ^ (b))
#define EXCH(a, b) (b)
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define INC(a, b) ((a) >= (b) ? 0 : (a) + 1)
#define DEC(a, b) ((a) == 0 || (a) > (b) ? (b) : (a) - 1)

NATIVE(add32, uint32_t, ADD, __atomic_fetch_add)
NATIVE(add64, uint64_t, ADD, __atomic_fetch_add)
NATIVE(and32, uint32_t, AND, __atomic_fetch_and)
NATIVE(and64, uint64_t, AND, __atomic_fetch_and)
NATIVE(or32, uint32_t, OR, __atomic_fetch_or)
NATIVE(or64, uint64_t, OR, __atomic_fetch_or)
NATIVE(xor32, uint32_t, XOR, __atomic_fetch_xor)
NATIVE(xor64, uint64_t, XOR, __atomic_fetch_xor)
NATIVE(exch32, uint32_t, EXCH, __atomic_exchange_n)
NATIVE(exch64, uint64_t, EXCH, __atomic_exchange_n)
LOOPED(inc32, uint32_t, INC)
LOOPED(dec32, uint32_t, DEC)
LOOPED(minu32, uint32_t, MIN)
LOOPED(maxu32, uint32_t, MAX)
LOOPED(mins32, int32_t, MIN)
LOOPED(maxs32, int32_t, MAX)
LOOPED(minu64, uint64_t, MIN)
LOOPED(maxu64, uint64_t, MAX)
LOOPED(mins64, int64_t, MIN)
LOOPED(maxs64, int64_t, MAX)
LOOPED(addf32, uint32_t, f32_add)
LOOPED(addf32z, uint32_t, f32_add_ftz)
LOOPED(addf64, uint64_t, f64_add)
LOOPED(addf16, uint16_t, f16_add)
LOOPED(minf16, uint16_t, f16_min)
LOOPED(maxf16, uint16_t, f16_max)
LOOPED(addbf16, uint16_t, bf16_add)
LOOPED(minbf16, uint16_t, bf16_min)
LOOPED(maxbf16, uint16_t, bf16_max)
LOOPED(addf16x2, uint32_t, f16_addx2)
LOOPED(minf16x2, uint32_t, f16_minx2)
LOOPED(maxf16x2, uint32_t, f16_maxx2)
LOOPED(addbf16x2, uint32_t, bf16_addx2)
LOOPED(minbf16x2, uint32_t, bf16_minx2)
LOOPED(maxbf16x2, uint32_t, bf16_maxx2)

/* ---- compare and swap ---- */

#define CAS(name, T)                                                                                                 \
	static uint32_t name##_p(const struct ws_atomic_args *x)                                                     \
	{                                                                                                            \
		const T *want = x->a[0], *b = x->b;                                                                  \
		T *d = x->d[0];                                                                                      \
		uint32_t wrote = 0;                                                                                  \
		EACH_LANE(l) {                                                                                       \
			T *p = (T *)x->host[l], old = *p;                                                            \
			if (old == want[l]) {                                                                        \
				*p = b[l];                                                                           \
				wrote |= 1u << l;                                                                    \
			}                                                                                            \
			if (d)                                                                                       \
				d[l] = old;                                                                          \
		}                                                                                                    \
		return wrote;                                                                                        \
	}                                                                                                            \
	static uint32_t name##_s(const struct ws_atomic_args *x)                                                     \
	{                                                                                                            \
		const T *want = x->a[0], *b = x->b;                                                                  \
		T *d = x->d[0];                                                                                      \
		uint32_t wrote = 0;                                                                                  \
		EACH_LANE(l) {                                                                                       \
			T old = want[l];                                                                             \
			if (__atomic_compare_exchange_n((T *)x->host[l], &old, b[l], false, __ATOMIC_SEQ_CST,        \
			                                __ATOMIC_SEQ_CST))                                           \
				wrote |= 1u << l;                                                                    \
			if (d)                                                                                       \
				d[l] = old;                                                                          \
		}                                                                                                    \
		return wrote;                                                                                        \
	}
CAS(cas16, uint16_t)
CAS(cas32, uint32_t)
CAS(cas64, uint64_t)

/* ---- 128 bits: a lane array is lo[32], hi[32] ---- */

struct wide { uint64_t lo, hi; };

static struct wide wide_at(const void *lanes, uint32_t l)
{
	const uint64_t *v = lanes;
	return (struct wide){v[l], v[WS_WARP + l]};
}

static void set_wide(void *lanes, uint32_t l, struct wide w)
{
	uint64_t *v = lanes;
	if (!v)
		return;
	v[l] = w.lo;
	v[WS_WARP + l] = w.hi;
}

/* Stores b when *p is *old; else *old becomes *p. */
static bool swap_wide(struct wide *p, struct wide *old, struct wide b)
{
#if defined __x86_64__
	bool done;
	__asm__ volatile("lock cmpxchg16b %1" : "=@ccz"(done), "+m"(*p), "+a"(old->lo), "+d"(old->hi)
	                 : "b"(b.lo), "c"(b.hi) : "memory");
	return done;
#else                                        /* atomic against each other only; no program mixes widths at one place */
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	pthread_mutex_lock(&lock);
	bool done = p->lo == old->lo && p->hi == old->hi;
	if (done)
		*p = b;
	else
		*old = *p;
	pthread_mutex_unlock(&lock);
	return done;
#endif
}

static uint32_t exch128(const struct ws_atomic_args *x)
{
	EACH_LANE(l) {
		struct wide old = {0, 0}, b = wide_at(x->a[0], l);
		while (!swap_wide((struct wide *)x->host[l], &old, b))
			continue;
		set_wide(x->d[0], l, old);
	}
	return x->mask;
}

static uint32_t cas128(const struct ws_atomic_args *x)
{
	uint32_t wrote = 0;
	EACH_LANE(l) {
		struct wide old = wide_at(x->a[0], l);
		if (swap_wide((struct wide *)x->host[l], &old, wide_at(x->b, l)))
			wrote |= 1u << l;
		set_wide(x->d[0], l, old);
	}
	return wrote;
}

/* ---- vectors: "atomicity is guaranteed separately for each of the individual elements" (PTX ISA 9.0, atom) ---- */

static uint32_t elements(const struct ws_atomic_args *x, unsigned n, unsigned width, ws_atomic_fn *one)
{
	uint8_t *host[WS_WARP];
	struct ws_atomic_args e = {.host = host, .mask = x->mask};
	for (unsigned k = 0; k < n; k++) {
		EACH_LANE(l)
			host[l] = x->host[l] + k * width;
		e.a[0] = x->a[k];
		e.d[0] = x->d[k];
		one(&e);
	}
	return x->mask;
}

#define VECTOR(name, n, width)                                                                                       \
	static uint32_t name##_v##n##_p(const struct ws_atomic_args *x)                                              \
	{                                                                                                            \
		return elements(x, n, width, name##_p);                                                              \
	}                                                                                                            \
	static uint32_t name##_v##n##_s(const struct ws_atomic_args *x)                                              \
	{                                                                                                            \
		return elements(x, n, width, name##_s);                                                              \
	}
#define VECTORS32(name) VECTOR(name, 2, 4) VECTOR(name, 4, 4)
#define VECTORS16(name) VECTOR(name, 2, 2) VECTOR(name, 4, 2) VECTOR(name, 8, 2)
VECTORS32(addf32z)
VECTORS16(addf16)
VECTORS16(minf16)
VECTORS16(maxf16)
VECTORS16(addbf16)
VECTORS16(minbf16)
VECTORS16(maxbf16)
VECTORS32(addf16x2)
VECTORS32(minf16x2)
VECTORS32(maxf16x2)
VECTORS32(addbf16x2)
VECTORS32(minbf16x2)
VECTORS32(maxbf16x2)

/* ---- choosing ---- */

enum { ANY_WIDTH2 = 0x80, ANY_WIDTH4, ANY_WIDTH8, ANY_WIDTH16 };    /* instead of a type: all types of that many bytes */

struct row {
	uint8_t atom, type, vec;
	ws_atomic_fn *fn[2];         /* alone, beside other threads */
};

#define ROW(atom, type, vec, name) {WS_ATOM_##atom, type, vec, {name##_p, name##_s}}
#define ROWS32(atom, type, name) ROW(atom, type, 1, name), ROW(atom, type, 2, name##_v2), ROW(atom, type, 4, name##_v4)
#define ROWS16(atom, type, name) ROWS32(atom, type, name), ROW(atom, type, 8, name##_v8)

static const struct row rows[] = {
	ROW(ADD, WS_U32, 1, add32), ROW(ADD, WS_S32, 1, add32), ROW(ADD, WS_U64, 1, add64), ROW(ADD, WS_S64, 1, add64),
	ROW(ADD, WS_F64, 1, addf64), ROWS32(ADD, WS_F32, addf32z),
	ROW(INC, WS_U32, 1, inc32), ROW(DEC, WS_U32, 1, dec32),
	ROW(MIN, WS_U32, 1, minu32), ROW(MIN, WS_S32, 1, mins32), ROW(MIN, WS_U64, 1, minu64), ROW(MIN, WS_S64, 1, mins64),
	ROW(MAX, WS_U32, 1, maxu32), ROW(MAX, WS_S32, 1, maxs32), ROW(MAX, WS_U64, 1, maxu64), ROW(MAX, WS_S64, 1, maxs64),
	ROW(AND, ANY_WIDTH4, 1, and32), ROW(AND, ANY_WIDTH8, 1, and64),
	ROW(OR, ANY_WIDTH4, 1, or32), ROW(OR, ANY_WIDTH8, 1, or64),
	ROW(XOR, ANY_WIDTH4, 1, xor32), ROW(XOR, ANY_WIDTH8, 1, xor64),
	ROW(EXCH, ANY_WIDTH4, 1, exch32), ROW(EXCH, ANY_WIDTH8, 1, exch64),
	{WS_ATOM_EXCH, ANY_WIDTH16, 1, {exch128, exch128}},
	ROW(CAS, ANY_WIDTH2, 1, cas16), ROW(CAS, ANY_WIDTH4, 1, cas32), ROW(CAS, ANY_WIDTH8, 1, cas64),
	{WS_ATOM_CAS, ANY_WIDTH16, 1, {cas128, cas128}},
	ROWS16(ADD, WS_F16, addf16), ROWS16(MIN, WS_F16, minf16), ROWS16(MAX, WS_F16, maxf16),
	ROWS16(ADD, WS_BF16, addbf16), ROWS16(MIN, WS_BF16, minbf16), ROWS16(MAX, WS_BF16, maxbf16),
	ROWS32(ADD, WS_F16X2, addf16x2), ROWS32(MIN, WS_F16X2, minf16x2), ROWS32(MAX, WS_F16X2, maxf16x2),
	ROWS32(ADD, WS_BF16X2, addbf16x2), ROWS32(MIN, WS_BF16X2, minbf16x2), ROWS32(MAX, WS_BF16X2, maxbf16x2),
};

/* add.f32 in shared memory keeps subnormals. */
static const struct row shared_add_f32 = ROW(ADD, WS_F32, 1, addf32);

static bool fits(const struct row *r, const struct ws_ptx_inst *inst, unsigned vec)
{
	if (r->atom != inst->atom || r->vec != vec)
		return false;
	return r->type == inst->type[0] || (r->type >= ANY_WIDTH2 && 2u << (r->type - ANY_WIDTH2) == ws_atomic_width(inst));
}

ws_atomic_fn *ws_atomic_find(const struct ws_ptx_inst *inst, enum ws_space space, bool other_threads, const char **why)
{
	unsigned vec = inst->vec ? inst->vec : 1;
	const struct row *r = NULL;
	if (space != WS_SPACE_GLOBAL && fits(&shared_add_f32, inst, vec))
		r = &shared_add_f32;
	for (size_t i = 0; i < WS_COUNT(rows) && !r; i++)
		if (fits(&rows[i], inst, vec))
			r = &rows[i];
	if (!r)
		*why = "this operation does not exist on this type (PTX ISA, atom and red)";
	return r ? r->fn[other_threads] : NULL;
}

unsigned ws_atomic_width(const struct ws_ptx_inst *inst)
{
	return ws_type_bytes((enum ws_type)inst->type[0]);
}

unsigned ws_atomic_bytes(const struct ws_ptx_inst *inst)
{
	return ws_atomic_width(inst) * (inst->vec ? inst->vec : 1);
}

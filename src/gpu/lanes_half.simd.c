/* lanes_half.simd.c - f16, bf16 and pairs of them on 32 lanes (PTX ISA 9.0, 9.7.4 Half Precision Floating Point
 * Instructions; min, max, neg, abs, tanh, ex2 of halves).
 *
 * Sources are widened (f16 to float, bf16 to double), the operation is done so that one rounding remains, and that is
 * done when narrowing. A product is exact in the wider type; a sum that is not is made odd, so that the narrowing
 * rounds as if it saw the exact value (Boldo and Melquiond, 2008, Emulation of FMA and correctly rounded sums). A pair is two
 * elements of an array of 64. */
#include "gpu/lanes_simd.h"

/* ---- sums rounded to odd ---- */
static inline float sum_odd32(float p, float c)
{
	float s = p + c, t = s - p;
	float err = (p - (s - t)) + (c - t);
	uint32_t u = ws_f2u(s);
	bool inexact = err > 0 || err < 0, away = (err > 0) == (s > 0);
	return ws_u2f(inexact && !(u & 1) ? (away ? u + 1 : u - 1) : u);
}
static inline double sum_odd64(double p, double c)
{
	double s = p + c, t = s - p;
	double err = (p - (s - t)) + (c - t);
	uint64_t u = ws_d2u(s);
	bool inexact = err > 0 || err < 0, away = (err > 0) == (s > 0);
	return ws_u2d(inexact && !(u & 1) ? (away ? u + 1 : u - 1) : u);
}
static inline float narrow_odd(double s)
{
	float f = (float)s;
	double d = f;
	uint32_t u = ws_f2u(f);
	bool inexact = s == s && d != s, away = __builtin_fabs(s) > __builtin_fabs(d);
	return ws_u2f(inexact && !(u & 1) ? (away ? u + 1 : u - 1) : u);
}

/* ---- widening and narrowing ---- */
#if defined __AVX512F__
static inline void values_of_halves(float *t, const uint16_t *h, int n)
{
	for (int i = 0; i < n; i += 16)
		_mm512_store_ps(t + i, _mm512_cvtph_ps(_mm256_load_si256((const __m256i *)(h + i))));
}
static inline void halves_of_values(uint16_t *h, const float *t, int n)
{
	for (int i = 0; i < n; i += 16) {
		__m512 v = _mm512_load_ps(t + i);
		__m512 nan = _mm512_castsi512_ps(_mm512_set1_epi32(0x7fffffff)); /* becomes 0x7fff */
		v = _mm512_mask_mov_ps(v, _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q), nan);
		__m256i r = _mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
		_mm256_store_si256((__m256i *)(h + i), r);
	}
}
#elif defined __F16C__
static inline void values_of_halves(float *t, const uint16_t *h, int n)
{
	for (int i = 0; i < n; i += 8)
		_mm256_store_ps(t + i, _mm256_cvtph_ps(_mm_load_si128((const __m128i *)(h + i))));
}
static inline void halves_of_values(uint16_t *h, const float *t, int n)
{
	for (int i = 0; i < n; i += 8) {
		__m256 v = _mm256_load_ps(t + i);
		__m256 nan = _mm256_castsi256_ps(_mm256_set1_epi32(0x7fffffff)); /* becomes 0x7fff */
		v = _mm256_blendv_ps(v, nan, _mm256_cmp_ps(v, v, _CMP_UNORD_Q));
		_mm_store_si128((__m128i *)(h + i), _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT));
	}
}
#else
static inline void values_of_halves(float *t, const uint16_t *h, int n)
{
	WS_EACH(l, n)
		t[l] = ws_half_value(h[l]);
}
static inline void halves_of_values(uint16_t *h, const float *t, int n)
{
	WS_EACH(l, n)
		h[l] = (uint16_t)ws_f16_bits(t[l]);
}
#endif
static inline uint16_t flush16(uint16_t h) { return h & 0x7c00 ? h : h & 0x8000; }

static inline void load_f16(const struct ws_lane_op *op, uint8_t *regs, uint32_t off, float *t, int n)
{
	const uint16_t *A = WS_P(uint16_t, off);
	WS_VEC uint16_t h[64];
	if (op->imm & WS_IMM_FTZ) {
		WS_EACH(l, n)
			h[l] = flush16(A[l]);
		A = h;
	}
	values_of_halves(t, A, n);
}
static inline void load_bf16(const struct ws_lane_op *op, uint8_t *regs, uint32_t off, double *t, int n)
{
	const uint16_t *A = WS_P(uint16_t, off);
	if (op->imm & WS_IMM_FTZ)
		WS_EACH(l, n)
			t[l] = (double)ws_ftz(ws_u2f((uint32_t)A[l] << 16));
	else
		WS_EACH(l, n)
			t[l] = (double)ws_u2f((uint32_t)A[l] << 16);
}

static inline float finish_value(float x, uint32_t imm)
{
	if (imm & WS_IMM_SAT)
		x = ws_sat(x);
	if (imm & WS_IMM_RELU)
		x = x > 0.0f || x != x ? x : 0.0f;
	return x;
}

static void store_half(const struct ws_lane_op *op, uint8_t *regs, uint32_t mask, float *r, int n)
{
	WS_VEC uint16_t h[64];
	const float least = op->imm & WS_IMM_BF16 ? 0x1p-126f : 0x1p-14f;
	if (op->imm & (WS_IMM_SAT | WS_IMM_RELU))
		WS_EACH(l, n)
			r[l] = finish_value(r[l], op->imm);
	if (op->imm & WS_IMM_BF16)
		WS_EACH(l, n)
			h[l] = (uint16_t)ws_bf16_bits(r[l]);
	else
		halves_of_values(h, r, n);
	if (op->imm & WS_IMM_FTZ)        /* what is tiny before rounding is flushed (measured on an H200) */
		WS_EACH(l, n)
			h[l] = __builtin_fabsf(r[l]) < least ? h[l] & 0x8000 : h[l];
	if (n == 32)
		ws_blend2(WS_P(uint16_t, op->d), h, mask);
	else
		ws_blend4(WS_P(uint16_t, op->d), h, mask);
}

/* E32 computes from the floats x, y, z, E64 from doubles; both round to odd where not exact. */
#define HALF(name, SRCS, E32, E64) \
	WS_LANE_FN(name) \
	{ \
		const int n = op->imm & WS_IMM_X2 ? 64 : 32; \
		WS_VEC float r[64]; \
		if (op->imm & WS_IMM_BF16) { \
			WS_VEC double a[64], b[64], c[64]; \
			load_bf16(op, regs, op->a, a, n); \
			load_bf16(op, regs, SRCS > 1 ? op->b : op->a, b, n); \
			load_bf16(op, regs, SRCS > 2 ? op->c : op->a, c, n); \
			WS_EACH(l, n) \
			{ \
				double x = a[l], y = b[l], z = c[l]; \
				(void)y, (void)z; \
				r[l] = narrow_odd(E64); \
			} \
		} else { \
			WS_VEC float a[64], b[64], c[64]; \
			load_f16(op, regs, op->a, a, n); \
			load_f16(op, regs, SRCS > 1 ? op->b : op->a, b, n); \
			load_f16(op, regs, SRCS > 2 ? op->c : op->a, c, n); \
			WS_EACH(l, n) \
			{ \
				float x = a[l], y = b[l], z = c[l]; \
				(void)y, (void)z; \
				r[l] = E32; \
			} \
		} \
		store_half(op, regs, mask, r, n); \
	}
HALF(add_half, 2, sum_odd32(x, y), sum_odd64(x, y))
HALF(sub_half, 2, sum_odd32(x, -y), sum_odd64(x, -y))
HALF(mul_half, 2, x * y, x * y)
HALF(fma_half, 3, sum_odd32(x * y, z), sum_odd64(x * y, z))
HALF(tanh_half, 1, narrow_odd(tanh((double)x)), tanh(x))
HALF(ex2_half, 1, narrow_odd(exp2((double)x)), exp2(x))

/* ---- bits ---- */
#define HALF_BITS(name, EXPR) \
	WS_LANE_FN(name) \
	{ \
		const int n = op->imm & WS_IMM_X2 ? 64 : 32; \
		const uint16_t *A = WS_P(uint16_t, op->a); \
		const uint32_t inf = op->imm & WS_IMM_BF16 ? 0x7f80 : 0x7c00; \
		const bool ftz = op->imm & WS_IMM_FTZ; \
		WS_VEC uint16_t h[64]; \
		WS_EACH(l, n) \
		{ \
			uint16_t x = A[l]; \
			x = ftz ? flush16(x) : x; \
			h[l] = (uint16_t)((x & 0x7fffu) > inf ? WS_NAN16 : (EXPR)); \
		} \
		if (n == 32) \
			ws_blend2(WS_P(uint16_t, op->d), h, mask); \
		else \
			ws_blend4(WS_P(uint16_t, op->d), h, mask); \
	}
HALF_BITS(neg_half, x ^ 0x8000u)
HALF_BITS(abs_half, x & 0x7fffu)

/* Order of halves as integers: -0 below +0. */
static inline int32_t key(uint16_t h) { return h & 0x8000 ? -(int32_t)(h & 0x7fff) - 1 : (int32_t)h; }

static inline uint16_t pick(uint16_t x, uint16_t y, uint32_t imm, uint32_t inf)
{
	bool xn = (x & 0x7fffu) > inf, yn = (y & 0x7fffu) > inf;
	if ((xn && yn) || ((xn || yn) && (imm & WS_IMM_NAN)))
		return WS_NAN16;
	if (xn || yn)
		return xn ? y : x;
	return (key(x) < key(y)) != !!(imm & WS_IMM_MAX) ? x : y;
}

/* min and max; .xorsign.abs: of the magnitudes, with the xor of the signs */
WS_LANE_FN(minmax_half)
{
	const int n = op->imm & WS_IMM_X2 ? 64 : 32;
	const uint16_t *A = WS_P(uint16_t, op->a), *B = WS_P(uint16_t, op->b), *C = WS_P(uint16_t, op->c);
	const uint32_t inf = op->imm & WS_IMM_BF16 ? 0x7f80 : 0x7c00;
	WS_VEC uint16_t h[64];
	for (int l = 0; l < n; l++) {
		uint16_t v[3] = {A[l], B[l], op->imm & WS_IMM_THREE ? C[l] : 0}, sign = 0;
		for (int i = 0; i < 3; i++) {
			v[i] = op->imm & WS_IMM_FTZ ? flush16(v[i]) : v[i];
			sign ^= v[i] & 0x8000;
			v[i] = op->imm & WS_IMM_ABS ? v[i] & 0x7fff : v[i];
		}
		uint16_t r = pick(v[0], v[1], op->imm, inf);
		if (op->imm & WS_IMM_THREE)
			r = pick(r, v[2], op->imm, inf);
		h[l] = (op->imm & WS_IMM_XORSIGN) && (r & 0x7fffu) <= inf ? r | sign : r;
	}
	if (n == 32)
		ws_blend2(WS_P(uint16_t, op->d), h, mask);
	else
		ws_blend4(WS_P(uint16_t, op->d), h, mask);
}

#define FN(n) n,
ws_lane_fn *const WS_PASTE(ws_lanes_half, WS_ISA)[] = {
#include "gpu/lanes_half.def"
};

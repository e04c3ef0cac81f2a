/* lanes_simd.h - the tools of lanes_*.simd.c: loops over 32 lanes that compilers turn into vector code.
 *
 * A lane function computes all 32 lanes, into the destination when all are active, else into a buffer of which the
 * active lanes are then copied: one loop serves both. What inactive lanes hold is any bits, so nothing in such a
 * loop may trap or be slow for some values; slow functions use WS_ACTIVE instead. */
#ifndef WS_LANES_SIMD_H
#define WS_LANES_SIMD_H

#include "gpu/lanes_priv.h"

#include <math.h>
#include <string.h>
#if defined __AVX2__
#include <immintrin.h>
#endif

#define WS_PASTE_(a, b) a##_##b
#define WS_PASTE(a, b) WS_PASTE_(a, b)

#define WS_ALL UINT32_MAX
#define WS_VEC __attribute__((aligned(64)))

/* Iterations are independent: a source is the destination itself or does not touch it. */
#if defined __clang__
#pragma clang diagnostic ignored "-Wpass-failed" /* a loop that calls libm stays a loop */
#define WS_EACH(l, n) _Pragma("clang loop vectorize(assume_safety) unroll(disable)") for (int l = 0; l < (n); l++)
#else
#define WS_EACH(l, n) _Pragma("GCC ivdep") for (int l = 0; l < (n); l++)
#endif
#define WS_ACTIVE(l, mask) \
	for (uint32_t m_ = (mask), l = 0; m_ ? (l = (uint32_t)__builtin_ctz(m_), 1) : 0; m_ &= m_ - 1)

#define WS_LANE_FN(name) static void name(const struct ws_lane_op *op, uint8_t *regs, uint32_t mask)
#define WS_P(T, off) ((T *)__builtin_assume_aligned(regs + (off), 64))

/* ---- copying the active lanes ---- */
#if defined __AVX512BW__
static inline void ws_blend2(void *dst, const void *src, uint32_t mask)
{
	_mm512_mask_storeu_epi16(dst, mask, _mm512_loadu_si512(src));
}
static inline void ws_blend4(void *dst, const void *src, uint32_t mask)
{
	uint32_t *d = __builtin_assume_aligned(dst, 64);
	const uint32_t *s = __builtin_assume_aligned(src, 64);
	_mm512_mask_store_epi32(d, (__mmask16)mask, _mm512_load_si512(s));
	_mm512_mask_store_epi32(d + 16, (__mmask16)(mask >> 16), _mm512_load_si512(s + 16));
}
static inline void ws_blend8(void *dst, const void *src, uint32_t mask)
{
	uint64_t *d = __builtin_assume_aligned(dst, 64);
	const uint64_t *s = __builtin_assume_aligned(src, 64);
	for (int i = 0; i < 32; i += 8)
		_mm512_mask_store_epi64(d + i, (__mmask8)(mask >> i), _mm512_load_si512(s + i));
}
#elif defined __AVX2__
#define WS_BLEND_FN(name, T, STEP, SET1, CMPEQ, ...) \
	static inline void name(void *dst, const void *src, uint32_t mask) \
	{ \
		const __m256i bits = __VA_ARGS__; \
		for (int i = 0; i < 32; i += STEP) { \
			__m256i *d = (__m256i *)((T *)dst + i); \
			__m256i m = CMPEQ(_mm256_and_si256(SET1((T)(mask >> i)), bits), bits); \
			__m256i s = _mm256_load_si256((const __m256i *)((const T *)src + i)); \
			_mm256_store_si256(d, _mm256_blendv_epi8(_mm256_load_si256(d), s, m)); \
		} \
	}
WS_BLEND_FN(ws_blend2, int16_t, 16, _mm256_set1_epi16, _mm256_cmpeq_epi16,
            _mm256_setr_epi16(1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, -32768))
WS_BLEND_FN(ws_blend4, int32_t, 8, _mm256_set1_epi32, _mm256_cmpeq_epi32,
            _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128))
WS_BLEND_FN(ws_blend8, int64_t, 4, _mm256_set1_epi64x, _mm256_cmpeq_epi64, _mm256_setr_epi64x(1, 2, 4, 8))
#else
#define WS_BLEND_FN(name, T) \
	static inline void name(void *dst, const void *src, uint32_t mask) \
	{ \
		T *d = __builtin_assume_aligned(dst, 64); \
		const T *s = __builtin_assume_aligned(src, 64); \
		WS_EACH(l, 32) \
		{ \
			T m = (T)(0 - (T)(mask >> l & 1)); \
			d[l] = (T)((s[l] & m) | (d[l] & ~m)); \
		} \
	}
WS_BLEND_FN(ws_blend2, uint16_t)
WS_BLEND_FN(ws_blend4, uint32_t)
WS_BLEND_FN(ws_blend8, uint64_t)
#endif

#define WS_BLEND(dst, src, mask) \
	(sizeof *(dst) == 2 ? ws_blend2(dst, src, mask) : sizeof *(dst) == 4 ? ws_blend4(dst, src, mask) \
	                                                                     : ws_blend8(dst, src, mask))

/* out: where to compute; WS_DONE copies it to the destination if that is not the same. */
#define WS_OUT(T) \
	WS_VEC T tmp_[32]; \
	T *const dst_ = WS_P(T, op->d); \
	T *const out = __builtin_assume_aligned(mask == WS_ALL ? dst_ : tmp_, 64)
#define WS_DONE() \
	do { \
		if (mask != WS_ALL) \
			WS_BLEND(dst_, tmp_, mask); \
	} while (0)

/* Functions of one, two, three sources x, y, z. */
#define WS_MAP1(name, TD, TA, EXPR) \
	WS_LANE_FN(name) \
	{ \
		const TA *A = WS_P(TA, op->a); \
		WS_OUT(TD); \
		WS_EACH(l, 32) \
		{ \
			TA x = A[l]; \
			out[l] = (TD)(EXPR); \
		} \
		WS_DONE(); \
	}
#define WS_MAP2(name, TD, TA, TB, EXPR) \
	WS_LANE_FN(name) \
	{ \
		const TA *A = WS_P(TA, op->a); \
		const TB *B = WS_P(TB, op->b); \
		WS_OUT(TD); \
		WS_EACH(l, 32) \
		{ \
			TA x = A[l]; \
			TB y = B[l]; \
			out[l] = (TD)(EXPR); \
		} \
		WS_DONE(); \
	}
#define WS_MAP3(name, TD, TA, TB, TC, EXPR) \
	WS_LANE_FN(name) \
	{ \
		const TA *A = WS_P(TA, op->a); \
		const TB *B = WS_P(TB, op->b); \
		const TC *C = WS_P(TC, op->c); \
		WS_OUT(TD); \
		WS_EACH(l, 32) \
		{ \
			TA x = A[l]; \
			TB y = B[l]; \
			TC z = C[l]; \
			out[l] = (TD)(EXPR); \
		} \
		WS_DONE(); \
	}
/* The same lane by lane, active lanes only: for what has no vector form. */
#define WS_SLOW1(name, TD, TA, EXPR) \
	WS_LANE_FN(name) \
	{ \
		WS_ACTIVE(l, mask) \
		{ \
			TA x = WS_P(TA, op->a)[l]; \
			WS_P(TD, op->d)[l] = (TD)(EXPR); \
		} \
	}
#define WS_SLOW2(name, TD, TA, TB, EXPR) \
	WS_LANE_FN(name) \
	{ \
		WS_ACTIVE(l, mask) \
		{ \
			TA x = WS_P(TA, op->a)[l]; \
			TB y = WS_P(TB, op->b)[l]; \
			WS_P(TD, op->d)[l] = (TD)(EXPR); \
		} \
	}
#define WS_SLOW3(name, TD, TA, TB, TC, EXPR) \
	WS_LANE_FN(name) \
	{ \
		WS_ACTIVE(l, mask) \
		{ \
			TA x = WS_P(TA, op->a)[l]; \
			TB y = WS_P(TB, op->b)[l]; \
			TC z = WS_P(TC, op->c)[l]; \
			WS_P(TD, op->d)[l] = (TD)(EXPR); \
		} \
	}

/* ---- bits ---- */
static inline uint32_t ws_f2u(float x)
{
	uint32_t u;
	memcpy(&u, &x, sizeof u);
	return u;
}
static inline float ws_u2f(uint32_t u)
{
	float x;
	memcpy(&x, &u, sizeof x);
	return x;
}
static inline uint64_t ws_d2u(double x)
{
	uint64_t u;
	memcpy(&u, &x, sizeof u);
	return u;
}
static inline double ws_u2d(uint64_t u)
{
	double x;
	memcpy(&x, &u, sizeof x);
	return x;
}

/* Flushes a subnormal to zero of its sign (PTX ISA 9.0, Floating Point Instructions). */
static inline float ws_ftz(float x)
{
	uint32_t u = ws_f2u(x);
	return ws_u2f(u & 0x7f800000 ? u : u & 0x80000000);
}

/* NaN results of 32 and 16 bits have one pattern. In f64 a source's NaN goes through, made quiet, and where none is
 * there the result is WS_NAN64 (measured on an H200). */
#define WS_NAN32 0x7fffffffu
#define WS_NAN16 0x7fffu
#define WS_NAN64 0xfff8000000000000ull
#define WS_QUIET64 0x0008000000000000ull
static inline float ws_canon(float x) { return x == x ? x : ws_u2f(WS_NAN32); }
/* The result r of sources x and y, of whose NaNs y's counts before x's. */
static inline double ws_nan64(double r, double x, double y)
{
	double n = x == x ? ws_u2d(WS_NAN64) : ws_u2d(ws_d2u(x) | WS_QUIET64);
	n = y == y ? n : ws_u2d(ws_d2u(y) | WS_QUIET64);
	return r == r ? r : n;
}

/* The result r of an .ftz instruction, flushed: if it would be below 2^-126 with an exponent range without end, also if
 * the rounding in the range there is takes it up to 2^-126 (measured on an H200). scaled is the result of sources such
 * that it is WS_UP times as large. */
#define WS_UP 0x1p24f
static inline float ws_flush_tiny(float r, float scaled)
{
	float a = __builtin_fabsf(r);
	bool tiny = a < 0x1p-126f || (a == 0x1p-126f && __builtin_fabsf(scaled) < 0x1p-102f);
	return tiny ? ws_u2f(ws_f2u(r) & 0x80000000) : ws_canon(r);
}

/* The value of an f16, exactly. */
static inline float ws_half_value(uint16_t h)
{
	uint32_t sign = (uint32_t)(h & 0x8000) << 16, mag = h & 0x7fff;
	/* the exponent's bias moves from 15 to 127 by a multiplication, which takes care of subnormals */
	float v = ws_u2f(mag << 13) * 0x1p112f;
	uint32_t u = mag >= 0x7c00 ? 0x7f800000 | (mag & 0x3ff) << 13 : ws_f2u(v);
	return ws_u2f(sign | u);
}

/* .sat: [+0, 1], NaN to +0 */
static inline float ws_sat(float x)
{
	float lo = x > 0.0f ? x : 0.0f;
	return lo < 1.0f ? lo : 1.0f;
}

/* Floats to halves, to nearest even; NaN to the one pattern. */
static inline uint32_t ws_bf16_bits(float x)
{
	uint32_t u = ws_f2u(x);
	return x == x ? (u + 0x7fff + (u >> 16 & 1)) >> 16 : WS_NAN16;
}
/* f16 to nearest even. Normal results: the value's own bits, rounded, with the exponent's bias moved from 127 to 15.
 * Subnormal ones: adding 0.5 puts the unit 2^-24 into the last place, and the float addition rounds. */
static inline uint32_t ws_f16_bits(float x)
{
	uint32_t u = ws_f2u(x), sign = u >> 16 & 0x8000, mag = u & 0x7fffffff;
	uint32_t small = ws_f2u(ws_u2f(mag) + 0.5f) - 0x3f000000;
	uint32_t normal = (mag - (112u << 23) + 0xfff + (mag >> 13 & 1)) >> 13;
	uint32_t r = mag < 113u << 23 ? small : normal;
	r = mag >= 143u << 23 || r > 0x7c00 ? 0x7c00 : r;
	return mag > 0x7f800000 ? WS_NAN16 : sign | r;
}

/* ---- rounding ----
 * Between begin and end arithmetic rounds as rnd says (WS_IMM_RN..RZ). The compiler does not know about rounding
 * modes: what is computed must be read from memory reached by p after begin and written there before end, which the
 * memory clobbers enforce. */
#if defined __x86_64__
static inline unsigned ws_round_begin(unsigned rnd, void *p)
{
	unsigned old, set;
	__asm__ volatile("stmxcsr %0" : "=m"(old) : "r"(p) : "memory");
	set = (old & ~0x6000u) | rnd << 13;
	__asm__ volatile("ldmxcsr %0" : : "m"(set), "r"(p) : "memory");
	return old;
}
static inline void ws_round_end(unsigned old, void *p)
{
	__asm__ volatile("ldmxcsr %0" : : "m"(old), "r"(p) : "memory");
}
#else
#include <fenv.h>
static inline unsigned ws_round_begin(unsigned rnd, void *p)
{
	static const int modes[4] = {FE_TONEAREST, FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO};
	unsigned old = (unsigned)fegetround();
	fesetround(modes[rnd]);
	__asm__ volatile("" : : "r"(p) : "memory");
	return old;
}
static inline void ws_round_end(unsigned old, void *p)
{
	__asm__ volatile("" : : "r"(p) : "memory");
	fesetround((int)old);
}
#endif

#endif

/* lanes_cmp.simd.c - comparisons of 32 lanes: setp, set, testp (PTX ISA 9.0, 9.7.5 to 9.7.7).
 *
 * Each comparison is computed for all lanes as one word of bits; finish() combines it with the predicate c and puts
 * it where the form wants it. */
#include "gpu/lanes_simd.h"

/* ---- where the truth goes ---- */
static void put_pred(uint8_t *regs, uint32_t off, uint32_t mask, uint32_t bits)
{
	if (off == WS_LANE_NONE)
		return;
	uint32_t *p = WS_P(uint32_t, off);
	*p = (*p & ~mask) | (bits & mask);
}

static inline uint32_t combine(uint32_t bits, uint32_t c, uint32_t how)
{
	switch (how & WS_IMM_BOOL) {
	case WS_BOOL_AND:
		return bits & c;
	case WS_BOOL_OR:
		return bits | c;
	case WS_BOOL_XOR:
		return bits ^ c;
	default:
		return bits;
	}
}

static void put_words(uint8_t *regs, uint32_t off, uint32_t mask, uint32_t bits, uint32_t one)
{
	WS_ACTIVE(l, mask)
		WS_P(uint32_t, off)[l] = bits >> l & 1 ? one : 0;
}

static void put_halves(uint8_t *regs, uint32_t off, uint32_t mask, uint32_t bits, uint16_t one)
{
	WS_ACTIVE(l, mask)
		WS_P(uint16_t, off)[l] = bits >> l & 1 ? one : 0;
}

/* A comparison that is more than setp p, a, b: BoolOp, q, set. */
static __attribute__((noinline)) void finish_more(const struct ws_lane_op *op, uint8_t *regs, uint32_t mask,
                                                  uint32_t bits)
{
	uint32_t c = op->imm & WS_IMM_BOOL ? *WS_P(uint32_t, op->c) : 0;
	if (op->imm & WS_IMM_NOT_C)
		c = ~c;
	uint32_t r = combine(bits, c, op->imm);
	switch (op->imm & WS_IMM_SET) {
	case WS_IMM_SET_ONES32:
		put_words(regs, op->d, mask, r, UINT32_MAX);
		return;
	case WS_IMM_SET_F32:
		put_words(regs, op->d, mask, r, 0x3f800000);
		return;
	case WS_IMM_SET_ONES16:
		put_halves(regs, op->d, mask, r, 0xffff);
		return;
	case WS_IMM_SET_F16:
		put_halves(regs, op->d, mask, r, 0x3c00);
		return;
	case WS_IMM_SET_BF16:
		put_halves(regs, op->d, mask, r, 0x3f80);
		return;
	}
	put_pred(regs, op->d, mask, r);
	if (op->imm & WS_IMM_Q)
		put_pred(regs, op->d2, mask, combine(~bits, c, op->imm));
}

static inline void finish(const struct ws_lane_op *op, uint8_t *regs, uint32_t mask, uint32_t bits)
{
	if (__builtin_expect(op->imm != 0, 0)) {
		finish_more(op, regs, mask, bits);
		return;
	}
	uint32_t *p = WS_P(uint32_t, op->d);
	*p = (*p & ~mask) | (bits & mask);
}

/* ---- 32 truth values to bits ---- */
#if !defined __AVX512BW__
static inline uint32_t bits_of_words(const int32_t *t)
{
#if defined __AVX2__
	uint32_t r = 0;
	for (int i = 0; i < 32; i += 8)
		r |= (uint32_t)_mm256_movemask_ps(_mm256_load_ps((const float *)(t + i))) << i;
	return r;
#else
	uint32_t r = 0;
	for (int l = 0; l < 32; l++)
		r |= (uint32_t)(t[l] & 1) << l;
	return r;
#endif
}
#endif

/* A comparison of all lanes. V4 is the AVX-512 comparison of 16 bits to 64 bits, STEP lanes at a time, PRED its
 * predicate. */
#if defined __AVX512BW__
#define COMPARE(name, T, EXPR, V4, STEP, LOAD, PRED) \
	WS_LANE_FN(name) \
	{ \
		const T *A = WS_P(T, op->a), *B = WS_P(T, op->b); \
		uint32_t bits = 0; \
		for (int i = 0; i < 32; i += STEP) \
			bits |= (uint32_t)V4(LOAD(A + i), LOAD(B + i), PRED) << i; \
		finish(op, regs, mask, bits); \
	}
#else
#define COMPARE(name, T, EXPR, V4, STEP, LOAD, PRED) \
	WS_LANE_FN(name) \
	{ \
		const T *A = WS_P(T, op->a), *B = WS_P(T, op->b); \
		WS_VEC int32_t t[32]; \
		WS_EACH(l, 32) \
		{ \
			T x = A[l], y = B[l]; \
			t[l] = (EXPR) ? -1 : 0; \
		} \
		finish(op, regs, mask, bits_of_words(t)); \
	}
#endif

#define CMP16(name, T, EXPR, s, PRED) COMPARE(name, T, EXPR, _mm512_cmp_ep##s##16_mask, 32, _mm512_load_si512, PRED)
#define CMP32(name, T, EXPR, s, PRED) COMPARE(name, T, EXPR, _mm512_cmp_ep##s##32_mask, 16, _mm512_load_si512, PRED)
#define CMP64(name, T, EXPR, s, PRED) COMPARE(name, T, EXPR, _mm512_cmp_ep##s##64_mask, 8, _mm512_load_si512, PRED)
#define CMP_SIGNS(op, EXPR, PRED) \
	CMP16(op##_u16, uint16_t, EXPR, u, PRED) \
	CMP32(op##_u32, uint32_t, EXPR, u, PRED) \
	CMP64(op##_u64, uint64_t, EXPR, u, PRED) \
	CMP16(op##_s16, int16_t, EXPR, i, PRED) \
	CMP32(op##_s32, int32_t, EXPR, i, PRED) \
	CMP64(op##_s64, int64_t, EXPR, i, PRED)
#define CMP_WIDTHS(op, EXPR, PRED) \
	CMP16(op##_16, uint16_t, EXPR, u, PRED) \
	CMP32(op##_32, uint32_t, EXPR, u, PRED) \
	CMP64(op##_64, uint64_t, EXPR, u, PRED)

CMP_WIDTHS(eq, x == y, _MM_CMPINT_EQ)
CMP_WIDTHS(ne, x != y, _MM_CMPINT_NE)
CMP_SIGNS(lt, x < y, _MM_CMPINT_LT)
CMP_SIGNS(le, x <= y, _MM_CMPINT_LE)
CMP_SIGNS(gt, x > y, _MM_CMPINT_NLE)
CMP_SIGNS(ge, x >= y, _MM_CMPINT_NLT)

/* ---- floats ---- */
#define IS(x) (x)
#if defined __AVX512DQ__
/* Flushes subnormals: vfixupimm would do it too; this is two instructions. */
static inline __m512 load_ftz(const float *p)
{
	__m512i u = _mm512_load_si512(p);
	__mmask16 small = _mm512_testn_epi32_mask(u, _mm512_set1_epi32(0x7f800000));
	return _mm512_castsi512_ps(_mm512_mask_and_epi32(u, small, u, _mm512_set1_epi32((int)0x80000000)));
}
#endif
#define CMP_FLOAT(t, T, F, V4, STEP, LOAD) \
	COMPARE(eq_##t, T, F(x) == F(y), V4, STEP, LOAD, _CMP_EQ_OQ) \
	COMPARE(ne_##t, T, F(x) < F(y) || F(x) > F(y), V4, STEP, LOAD, _CMP_NEQ_OQ) \
	COMPARE(lt_##t, T, F(x) < F(y), V4, STEP, LOAD, _CMP_LT_OQ) \
	COMPARE(le_##t, T, F(x) <= F(y), V4, STEP, LOAD, _CMP_LE_OQ) \
	COMPARE(gt_##t, T, F(x) > F(y), V4, STEP, LOAD, _CMP_GT_OQ) \
	COMPARE(ge_##t, T, F(x) >= F(y), V4, STEP, LOAD, _CMP_GE_OQ) \
	COMPARE(equ_##t, T, !(F(x) < F(y) || F(x) > F(y)), V4, STEP, LOAD, _CMP_EQ_UQ) \
	COMPARE(neu_##t, T, F(x) != F(y), V4, STEP, LOAD, _CMP_NEQ_UQ) \
	COMPARE(ltu_##t, T, !(F(x) >= F(y)), V4, STEP, LOAD, _CMP_NGE_UQ) \
	COMPARE(leu_##t, T, !(F(x) > F(y)), V4, STEP, LOAD, _CMP_NGT_UQ) \
	COMPARE(gtu_##t, T, !(F(x) <= F(y)), V4, STEP, LOAD, _CMP_NLE_UQ) \
	COMPARE(geu_##t, T, !(F(x) < F(y)), V4, STEP, LOAD, _CMP_NLT_UQ) \
	COMPARE(num_##t, T, x == x && y == y, V4, STEP, LOAD, _CMP_ORD_Q) \
	COMPARE(nan_##t, T, !(x == x && y == y), V4, STEP, LOAD, _CMP_UNORD_Q)
CMP_FLOAT(f32, float, IS, _mm512_cmp_ps_mask, 16, _mm512_load_ps)
CMP_FLOAT(f32z, float, ws_ftz, _mm512_cmp_ps_mask, 16, load_ftz)
CMP_FLOAT(f64, double, IS, _mm512_cmp_pd_mask, 8, _mm512_load_pd)

/* ---- halves: imm holds the comparison ---- */
static float half_value(uint16_t h, uint32_t imm)
{
	if (imm & WS_IMM_CMP_BF16)
		return ws_u2f((uint32_t)h << 16);
	if (!(h & 0x7c00) && (imm & WS_IMM_CMP_FTZ))
		return 0.0f;
	return ws_half_value(h);
}

static bool half_compare(uint16_t x16, uint16_t y16, uint32_t imm)
{
	float x = half_value(x16, imm), y = half_value(y16, imm);
	bool unordered = x != x || y != y;
	switch ((enum ws_cmp)(imm >> WS_IMM_CMP_SHIFT & 31)) {
	case WS_EQ:
		return x == y;
	case WS_NE:
		return !unordered && x != y;
	case WS_LT:
	case WS_LO:
		return x < y;
	case WS_LE:
	case WS_LS:
		return x <= y;
	case WS_GT:
	case WS_HI:
		return x > y;
	case WS_GE:
	case WS_HS:
		return x >= y;
	case WS_EQU:
		return unordered || x == y;
	case WS_NEU:
		return x != y;
	case WS_LTU:
		return !(x >= y);
	case WS_LEU:
		return !(x > y);
	case WS_GTU:
		return !(x <= y);
	case WS_GEU:
		return !(x < y);
	case WS_NUM:
		return !unordered;
	case WS_NAN:
		return unordered;
	case WS_CMP_NONE:
		break;
	}
	return false;
}

/* setp and set of .f16 and .bf16; setp of pairs: p is the low half's truth, q the high half's. */
WS_LANE_FN(cmp_half)
{
	uint32_t bits = 0, high = 0;
	if (op->imm & WS_IMM_CMP_X2) {
		const uint32_t *A = WS_P(uint32_t, op->a), *B = WS_P(uint32_t, op->b);
		WS_ACTIVE(l, mask)
		{
			bits |= (uint32_t)half_compare((uint16_t)A[l], (uint16_t)B[l], op->imm) << l;
			high |= (uint32_t)half_compare((uint16_t)(A[l] >> 16), (uint16_t)(B[l] >> 16), op->imm) << l;
		}
		uint32_t c = op->imm & WS_IMM_BOOL ? *WS_P(uint32_t, op->c) : 0;
		c = op->imm & WS_IMM_NOT_C ? ~c : c;
		put_pred(regs, op->d, mask, combine(bits, c, op->imm));
		if (op->imm & WS_IMM_Q)
			put_pred(regs, op->d2, mask, combine(high, c, op->imm));
		return;
	}
	const uint16_t *A = WS_P(uint16_t, op->a), *B = WS_P(uint16_t, op->b);
	WS_ACTIVE(l, mask)
		bits |= (uint32_t)half_compare(A[l], B[l], op->imm) << l;
	finish_more(op, regs, mask, bits);
}

/* set.f16x2 and set.bf16x2: each half of the result on its own; BoolOp's c applies to both. */
WS_LANE_FN(set_half_x2)
{
	uint32_t c = op->imm & WS_IMM_BOOL ? *WS_P(uint32_t, op->c) : 0;
	c = op->imm & WS_IMM_NOT_C ? ~c : c;
	uint32_t set = op->imm & WS_IMM_SET;
	uint32_t one = set == WS_IMM_SET_F16 ? 0x3c00 : set == WS_IMM_SET_BF16 ? 0x3f80 : 0xffff;
	WS_ACTIVE(l, mask)
	{
		uint32_t x = WS_P(uint32_t, op->a)[l], y = WS_P(uint32_t, op->b)[l], cl = c >> l & 1;
		uint32_t lo = half_compare((uint16_t)x, (uint16_t)y, op->imm);
		uint32_t hi = half_compare((uint16_t)(x >> 16), (uint16_t)(y >> 16), op->imm);
		lo = combine(lo, cl, op->imm) & 1 ? one : 0;
		hi = combine(hi, cl, op->imm) & 1 ? one : 0;
		WS_P(uint32_t, op->d)[l] = lo | hi << 16;
	}
}

/* ---- testp: imm is WS_MODE_*; a zero counts as normal (measured on an H200) ---- */
#define TESTP(name, T, EXP, MANT) \
	WS_LANE_FN(name) \
	{ \
		uint32_t bits = 0; \
		WS_ACTIVE(l, mask) \
		{ \
			T x = WS_P(T, op->a)[l], exp = x & EXP, mant = x & MANT; \
			bool is = op->imm == WS_MODE_FINITE          ? exp != EXP \
			          : op->imm == WS_MODE_INFINITE      ? exp == EXP && !mant \
			          : op->imm == WS_MODE_NUMBER        ? exp != EXP || !mant \
			          : op->imm == WS_MODE_NOTANUMBER    ? exp == EXP && mant \
			          : op->imm == WS_MODE_NORMAL        ? exp != EXP && (exp || !mant) \
			                                             : !exp && mant; \
			bits |= (uint32_t)is << l; \
		} \
		put_pred(regs, op->d, mask, bits); \
	}
TESTP(testp_f32, uint32_t, 0x7f800000u, 0x7fffffu)
TESTP(testp_f64, uint64_t, 0x7ff0000000000000ull, 0xfffffffffffffull)

#define FN(n) n,
ws_lane_fn *const WS_PASTE(ws_lanes_cmp, WS_ISA)[] = {
#include "gpu/lanes_cmp.def"
};

/* lanes_logic.simd.c - logic, shifts, selection and moves on 32 lanes (PTX ISA 9.0, 9.7.8 Logic and Shift
 * Instructions; mov, selp, slct, prmt of 9.7.6 and 9.7.9). */
#include "gpu/lanes_simd.h"

/* ---- logic ---- */
#define LOGIC2(name, EXPR) \
	WS_MAP2(name##_16, uint16_t, uint16_t, uint16_t, EXPR) \
	WS_MAP2(name##_32, uint32_t, uint32_t, uint32_t, EXPR) \
	WS_MAP2(name##_64, uint64_t, uint64_t, uint64_t, EXPR)
#define LOGIC1(name, EXPR) \
	WS_MAP1(name##_16, uint16_t, uint16_t, EXPR) \
	WS_MAP1(name##_32, uint32_t, uint32_t, EXPR) \
	WS_MAP1(name##_64, uint64_t, uint64_t, EXPR)
LOGIC2(and, x & y)
LOGIC2(or, x | y)
LOGIC2(xor, x ^ y)
LOGIC1(not, ~x)
LOGIC1(cnot, x == 0)

/* Predicates: one bit a lane. imm inverts the first source (mov.pred p, !q). */
#define PRED(name, EXPR) \
	WS_LANE_FN(name) \
	{ \
		uint32_t x = *WS_P(uint32_t, op->a) ^ op->imm, *d = WS_P(uint32_t, op->d); \
		*d = (*d & ~mask) | ((EXPR)&mask); \
	}
PRED(and_pred, x & *WS_P(uint32_t, op->b))
PRED(or_pred, x | *WS_P(uint32_t, op->b))
PRED(xor_pred, x ^ *WS_P(uint32_t, op->b))
PRED(not_pred, ~x)
PRED(mov_pred, x)

/* ---- shifts: amounts beyond the width give 0 or the sign (PTX ISA 9.0, shl and shr: clamped) ---- */
WS_MAP2(shl_16, uint16_t, uint16_t, uint32_t, y > 15 ? 0u : (uint32_t)x << (y & 15))
WS_MAP2(shl_32, uint32_t, uint32_t, uint32_t, y > 31 ? 0u : x << (y & 31))
WS_MAP2(shl_64, uint64_t, uint64_t, uint32_t, y > 63 ? 0u : x << (y & 63))
WS_MAP2(shr_u16, uint16_t, uint16_t, uint32_t, y > 15 ? 0u : (uint32_t)x >> (y & 15))
WS_MAP2(shr_u32, uint32_t, uint32_t, uint32_t, y > 31 ? 0u : x >> (y & 31))
WS_MAP2(shr_u64, uint64_t, uint64_t, uint32_t, y > 63 ? 0u : x >> (y & 63))
WS_MAP2(shr_s16, int16_t, int16_t, uint32_t, (int32_t)x >> (y > 15 ? 15 : y))
WS_MAP2(shr_s32, int32_t, int32_t, uint32_t, x >> (y > 31 ? 31 : y))
WS_MAP2(shr_s64, int64_t, int64_t, uint32_t, x >> (y > 63 ? 63 : y))

/* shf d, a, b, c: b:a shifted; c is cut off at 32 or taken modulo 32. */
#define PAIR(hi, lo) ((uint64_t)(hi) << 32 | (lo))
WS_MAP3(shf_l_clamp, uint32_t, uint32_t, uint32_t, uint32_t, PAIR(y, x) << (z > 32 ? 32 : z) >> 32)
WS_MAP3(shf_l_wrap, uint32_t, uint32_t, uint32_t, uint32_t, PAIR(y, x) << (z & 31) >> 32)
WS_MAP3(shf_r_clamp, uint32_t, uint32_t, uint32_t, uint32_t, PAIR(y, x) >> (z > 32 ? 32 : z))
WS_MAP3(shf_r_wrap, uint32_t, uint32_t, uint32_t, uint32_t, PAIR(y, x) >> (z & 31))

/* ---- lop3: the low 8 bits of imm are the truth table, bit a:b:c; see lop3_p for the rest ---- */
static inline uint32_t bit(uint32_t table, int i) { return 0u - (table >> i & 1); }
static inline uint32_t choose(uint32_t s, uint32_t one, uint32_t zero) { return (s & one) | (~s & zero); }
static inline void lop3_all(const struct ws_lane_op *op, uint8_t *regs, uint32_t *out)
{
	const uint32_t *A = WS_P(uint32_t, op->a), *B = WS_P(uint32_t, op->b), *C = WS_P(uint32_t, op->c);
	const uint32_t t = op->imm;
	const uint32_t t0 = bit(t, 0), t1 = bit(t, 1), t2 = bit(t, 2), t3 = bit(t, 3);
	const uint32_t t4 = bit(t, 4), t5 = bit(t, 5), t6 = bit(t, 6), t7 = bit(t, 7);
	WS_EACH(l, 32)
	{
		uint32_t x = A[l], y = B[l], z = C[l];
		uint32_t one = choose(y, choose(z, t7, t6), choose(z, t5, t4));
		uint32_t zero = choose(y, choose(z, t3, t2), choose(z, t1, t0));
		out[l] = choose(x, one, zero);
	}
}
WS_LANE_FN(lop3)
{
	WS_OUT(uint32_t);
	lop3_all(op, regs, out);
	WS_DONE();
}

/* lop3.or/.and d|p, a, b, c, table, q: p = (d != 0) op q. imm: 0x100 = .and, 0x200 = !q. Either may be a sink. */
WS_LANE_FN(lop3_p)
{
	WS_VEC uint32_t r[32];
	uint32_t p = 0, q = *WS_P(uint32_t, op->e) ^ (op->imm & 0x200 ? UINT32_MAX : 0);
	lop3_all(op, regs, r);
	for (int l = 0; l < 32; l++)
		p |= (uint32_t)(r[l] != 0) << l;
	p = op->imm & 0x100 ? p & q : p | q;
	if (op->d != WS_LANE_NONE)
		ws_blend4(WS_P(uint32_t, op->d), r, mask);
	if (op->d2 != WS_LANE_NONE) {
		uint32_t *d2 = WS_P(uint32_t, op->d2);
		*d2 = (*d2 & ~mask) | (p & mask);
	}
}

/* ---- prmt ---- */
/* Modes as the selector of the default mode for c = 0..3 (PTX ISA 9.0, prmt). */
static const uint16_t prmt_modes[7][4] = {
	{0},
	{0x3210, 0x4321, 0x5432, 0x6543},        /* f4e */
	{0x5670, 0x6701, 0x7012, 0x0123},        /* b4e */
	{0x0000, 0x1111, 0x2222, 0x3333},        /* rc8 */
	{0x3210, 0x3211, 0x3222, 0x3333},        /* ecl */
	{0x0000, 0x1110, 0x2210, 0x3210},        /* ecr */
	{0x1010, 0x3232, 0x1010, 0x3232},        /* rc16 */
};
static inline uint32_t permute(uint64_t bytes, uint32_t sel)
{
	uint32_t r = 0;
	for (unsigned i = 0; i < 4; i++, sel >>= 4) {
		uint32_t byte = (uint32_t)(bytes >> 8 * (sel & 7)) & 0xff;
		uint32_t spread = byte & 0x80 ? 0xff : 0;
		r |= (sel & 8 ? spread : byte) << 8 * i;
	}
	return r;
}
/* imm: 0 = default mode, else a row of prmt_modes */
WS_LANE_FN(prmt)
{
	const uint32_t *A = WS_P(uint32_t, op->a), *B = WS_P(uint32_t, op->b), *C = WS_P(uint32_t, op->c);
	WS_OUT(uint32_t);
	const uint16_t *modes = prmt_modes[op->imm];
	if (op->imm == 0)
		WS_EACH(l, 32)
			out[l] = permute(PAIR(B[l], A[l]), C[l]);
	else
		WS_EACH(l, 32)
			out[l] = permute(PAIR(B[l], A[l]), modes[C[l] & 3]);
	WS_DONE();
}

/* ---- moves ---- */
LOGIC1(mov, x)
WS_LANE_FN(mov_128)
{
	ws_blend8(WS_P(uint64_t, op->d), WS_P(uint64_t, op->a), mask);
	ws_blend8(WS_P(uint64_t, op->d) + 32, WS_P(uint64_t, op->a) + 32, mask);
}

#if defined __AVX512BW__
WS_LANE_FN(selp_16)
{
	const uint32_t p = *WS_P(uint32_t, op->c);
	__m512i a = _mm512_load_si512(WS_P(void, op->a)), b = _mm512_load_si512(WS_P(void, op->b));
	_mm512_mask_storeu_epi16(WS_P(void, op->d), mask, _mm512_mask_blend_epi16(p, b, a));
}
WS_LANE_FN(selp_32)
{
	const uint32_t p = *WS_P(uint32_t, op->c);
	for (int i = 0; i < 32; i += 16) {
		__m512i a = _mm512_load_si512(WS_P(uint32_t, op->a) + i);
		__m512i b = _mm512_load_si512(WS_P(uint32_t, op->b) + i);
		__m512i r = _mm512_mask_blend_epi32((__mmask16)(p >> i), b, a);
		_mm512_mask_store_epi32(WS_P(uint32_t, op->d) + i, (__mmask16)(mask >> i), r);
	}
}
WS_LANE_FN(selp_64)
{
	const uint32_t p = *WS_P(uint32_t, op->c);
	for (int i = 0; i < 32; i += 8) {
		__m512i a = _mm512_load_si512(WS_P(uint64_t, op->a) + i);
		__m512i b = _mm512_load_si512(WS_P(uint64_t, op->b) + i);
		__m512i r = _mm512_mask_blend_epi64((__mmask8)(p >> i), b, a);
		_mm512_mask_store_epi64(WS_P(uint64_t, op->d) + i, (__mmask8)(mask >> i), r);
	}
}
#else
#define SELP(name, T) \
	WS_LANE_FN(name) \
	{ \
		const T *A = WS_P(T, op->a), *B = WS_P(T, op->b); \
		const uint32_t p = *WS_P(uint32_t, op->c); \
		WS_OUT(T); \
		WS_EACH(l, 32) \
			out[l] = p & 1u << l ? A[l] : B[l]; \
		WS_DONE(); \
	}
SELP(selp_16, uint16_t)
SELP(selp_32, uint32_t)
SELP(selp_64, uint64_t)
#endif
WS_LANE_FN(selp_128)
{
	const uint32_t p = *WS_P(uint32_t, op->c);
	for (int half = 0; half < 64; half += 32) {
		const uint64_t *A = WS_P(uint64_t, op->a) + half, *B = WS_P(uint64_t, op->b) + half;
		uint64_t *d = WS_P(uint64_t, op->d) + half;
		WS_ACTIVE(l, mask)
			d[l] = p >> l & 1 ? A[l] : B[l];
	}
}

/* slct: a where c >= 0, else b; a NaN selects b. */
#define SLCT(T, bits) \
	WS_MAP3(slct_s32_##bits, T, T, T, int32_t, z >= 0 ? x : y) \
	WS_MAP3(slct_f32_##bits, T, T, T, float, z >= 0.0f ? x : y) \
	WS_MAP3(slct_f32z_##bits, T, T, T, float, ws_ftz(z) >= 0.0f ? x : y)
SLCT(uint16_t, 16)
SLCT(uint32_t, 32)
SLCT(uint64_t, 64)

/* ---- mov between a register and a vector of its parts; the first part is the least significant ---- */
WS_MAP2(pack_8x2, uint16_t, uint16_t, uint16_t, (x & 255) | y << 8)
WS_MAP2(pack_16x2, uint32_t, uint16_t, uint16_t, x | (uint32_t)y << 16)
WS_MAP2(pack_32x2, uint64_t, uint32_t, uint32_t, x | (uint64_t)y << 32)
#define PACK4(name, TD, TA, EXPR) \
	WS_LANE_FN(name) \
	{ \
		const TA *A = WS_P(TA, op->a), *B = WS_P(TA, op->b), *C = WS_P(TA, op->c), *E = WS_P(TA, op->e); \
		WS_OUT(TD); \
		WS_EACH(l, 32) \
		{ \
			TD x = A[l], y = B[l], z = C[l], w = E[l]; \
			out[l] = EXPR; \
		} \
		WS_DONE(); \
	}
PACK4(pack_8x4, uint32_t, uint16_t, (x & 255) | (y & 255) << 8 | (z & 255) << 16 | w << 24)
PACK4(pack_16x4, uint64_t, uint16_t, x | y << 16 | z << 32 | w << 48)
WS_LANE_FN(pack_64x2)
{
	WS_VEC uint64_t lo[32];         /* the destination may be a later source */
	memcpy(lo, WS_P(uint64_t, op->a), sizeof lo);
	ws_blend8(WS_P(uint64_t, op->d) + 32, WS_P(uint64_t, op->b), mask);
	ws_blend8(WS_P(uint64_t, op->d), lo, mask);
}
WS_LANE_FN(pack_32x4)
{
	uint64_t *d = WS_P(uint64_t, op->d);
	WS_ACTIVE(l, mask)
	{
		d[l] = WS_P(uint32_t, op->a)[l] | (uint64_t)WS_P(uint32_t, op->b)[l] << 32;
		d[l + 32] = WS_P(uint32_t, op->c)[l] | (uint64_t)WS_P(uint32_t, op->e)[l] << 32;
	}
}

/* One part into its destination, unless that is a sink. */
#define PART(T, off, EXPR) \
	do { \
		if ((off) == WS_LANE_NONE) \
			break; \
		WS_VEC T part[32]; \
		WS_EACH(l, 32) \
			part[l] = (T)(EXPR); \
		WS_BLEND(WS_P(T, off), part, mask); \
	} while (0)
/* The source is copied first: a part may go to it (mov.b64 {%r1, %r2}, %rd1 cannot, but .b32 parts of .b128 can). */
#define UNPACK(name, TD, TA, BITS, PARTS) \
	WS_LANE_FN(name) \
	{ \
		WS_VEC TA A[32]; \
		memcpy(A, WS_P(TA, op->a), sizeof A); \
		PART(TD, op->d, A[l] & (TA)((TA)-1 >> (8 * sizeof(TA) - BITS))); \
		PART(TD, op->d2, A[l] >> BITS & (TA)((TA)-1 >> (8 * sizeof(TA) - BITS))); \
		if (PARTS == 4) { \
			PART(TD, op->f, A[l] >> 2 * BITS % (8 * sizeof(TA)) & (TA)((TA)-1 >> (8 * sizeof(TA) - BITS))); \
			PART(TD, op->g, A[l] >> 3 * BITS % (8 * sizeof(TA))); \
		} \
	}
UNPACK(unpack_8x2, uint16_t, uint16_t, 8, 2)
UNPACK(unpack_8x4, uint16_t, uint32_t, 8, 4)
UNPACK(unpack_16x2, uint16_t, uint32_t, 16, 2)
UNPACK(unpack_16x4, uint16_t, uint64_t, 16, 4)
UNPACK(unpack_32x2, uint32_t, uint64_t, 32, 2)
WS_LANE_FN(unpack_64x2)
{
	WS_VEC uint64_t A[64];
	memcpy(A, WS_P(uint64_t, op->a), sizeof A);
	PART(uint64_t, op->d, A[l]);
	PART(uint64_t, op->d2, A[l + 32]);
}
WS_LANE_FN(unpack_32x4)
{
	WS_VEC uint64_t A[64];
	memcpy(A, WS_P(uint64_t, op->a), sizeof A);
	PART(uint32_t, op->d, A[l]);
	PART(uint32_t, op->d2, A[l] >> 32);
	PART(uint32_t, op->f, A[l + 32]);
	PART(uint32_t, op->g, A[l + 32] >> 32);
}

#define FN(n) n,
ws_lane_fn *const WS_PASTE(ws_lanes_logic, WS_ISA)[] = {
#include "gpu/lanes_logic.def"
};

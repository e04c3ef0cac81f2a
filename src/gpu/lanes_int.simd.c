/* lanes_int.simd.c - integer arithmetic on 32 lanes (PTX ISA 9.0, 9.7.1 Integer Arithmetic Instructions and
 * 9.7.2 Extended-Precision Integer Arithmetic Instructions). Overflow wraps; arithmetic is done on unsigned types. */
#include "gpu/lanes_simd.h"

typedef unsigned __int128 u128;
typedef __int128 s128;

static inline double from_u32(uint32_t x) { return ws_u2d(0x4330000000000000ull | x) - 0x1p52; }

/* ---- add, sub, mul.lo, mad.lo, neg, abs ---- */
WS_MAP2(add_16, uint16_t, uint16_t, uint16_t, x + y)
WS_MAP2(add_32, uint32_t, uint32_t, uint32_t, x + y)
WS_MAP2(add_64, uint64_t, uint64_t, uint64_t, x + y)
WS_MAP2(sub_16, uint16_t, uint16_t, uint16_t, x - y)
WS_MAP2(sub_32, uint32_t, uint32_t, uint32_t, x - y)
WS_MAP2(sub_64, uint64_t, uint64_t, uint64_t, x - y)
WS_MAP2(mul_lo_16, uint16_t, uint16_t, uint16_t, (uint32_t)x * y)
WS_MAP2(mul_lo_32, uint32_t, uint32_t, uint32_t, x * y)
WS_MAP2(mul_lo_64, uint64_t, uint64_t, uint64_t, x * y)
WS_MAP3(mad_lo_16, uint16_t, uint16_t, uint16_t, uint16_t, (uint32_t)x * y + z)
WS_MAP3(mad_lo_32, uint32_t, uint32_t, uint32_t, uint32_t, x * y + z)
WS_MAP3(mad_lo_64, uint64_t, uint64_t, uint64_t, uint64_t, x * y + z)
WS_MAP1(neg_16, uint16_t, uint16_t, 0u - x)
WS_MAP1(neg_32, uint32_t, uint32_t, 0u - x)
WS_MAP1(neg_64, uint64_t, uint64_t, 0u - x)
WS_MAP1(abs_16, uint16_t, int16_t, x < 0 ? -x : x)
WS_MAP1(abs_32, uint32_t, uint32_t, (int32_t)x < 0 ? 0u - x : x)
WS_MAP1(abs_64, uint64_t, uint64_t, (int64_t)x < 0 ? 0u - x : x)

/* ---- mul.hi, mad.hi, .wide ---- */
WS_MAP2(mul_hi_u16, uint16_t, uint16_t, uint16_t, (uint32_t)x * y >> 16)
WS_MAP2(mul_hi_u32, uint32_t, uint32_t, uint32_t, (uint64_t)x * y >> 32)
WS_SLOW2(mul_hi_u64, uint64_t, uint64_t, uint64_t, (u128)x * y >> 64)
WS_MAP2(mul_hi_s16, int16_t, int16_t, int16_t, x * y >> 16)
WS_MAP2(mul_hi_s32, int32_t, int32_t, int32_t, (int64_t)x * y >> 32)
WS_SLOW2(mul_hi_s64, int64_t, int64_t, int64_t, (s128)x * y >> 64)
WS_MAP3(mad_hi_u16, uint16_t, uint16_t, uint16_t, uint16_t, ((uint32_t)x * y >> 16) + z)
WS_MAP3(mad_hi_u32, uint32_t, uint32_t, uint32_t, uint32_t, (uint32_t)((uint64_t)x * y >> 32) + z)
WS_SLOW3(mad_hi_u64, uint64_t, uint64_t, uint64_t, uint64_t, (uint64_t)((u128)x * y >> 64) + z)
WS_MAP3(mad_hi_s16, uint16_t, int16_t, int16_t, uint16_t, (uint32_t)(x * y >> 16) + z)
WS_MAP3(mad_hi_s32, uint32_t, int32_t, int32_t, uint32_t, (uint32_t)((int64_t)x * y >> 32) + z)
WS_SLOW3(mad_hi_s64, uint64_t, int64_t, int64_t, uint64_t, (uint64_t)((s128)x * y >> 64) + z)
WS_MAP2(mul_wide_u16, uint32_t, uint16_t, uint16_t, (uint32_t)x * y)
WS_MAP2(mul_wide_u32, uint64_t, uint32_t, uint32_t, (uint64_t)x * y)
WS_MAP2(mul_wide_s16, int32_t, int16_t, int16_t, x * y)
WS_MAP2(mul_wide_s32, int64_t, int32_t, int32_t, (int64_t)x * y)
WS_MAP3(mad_wide_u16, uint32_t, uint16_t, uint16_t, uint32_t, (uint32_t)x * y + z)
WS_MAP3(mad_wide_u32, uint64_t, uint32_t, uint32_t, uint64_t, (uint64_t)x * y + z)
WS_MAP3(mad_wide_s16, uint32_t, int16_t, int16_t, uint32_t, (uint32_t)(x * y) + z)
WS_MAP3(mad_wide_s32, uint64_t, int32_t, int32_t, uint64_t, (uint64_t)((int64_t)x * y) + z)

/* ---- saturating and 24-bit forms ---- */
static inline int32_t sat32(int64_t x)
{
	x = x > INT32_MAX ? INT32_MAX : x;
	return (int32_t)(x < INT32_MIN ? INT32_MIN : x);
}
WS_MAP2(add_sat_s32, int32_t, int32_t, int32_t, sat32((int64_t)x + y))
WS_MAP2(sub_sat_s32, int32_t, int32_t, int32_t, sat32((int64_t)x - y))
WS_MAP3(mad_hi_sat_s32, int32_t, int32_t, int32_t, int32_t, sat32(((int64_t)x * y >> 32) + z))

static inline uint32_t u24(uint32_t x) { return x & 0xffffff; }
static inline int32_t s24(uint32_t x) { return (int32_t)(x << 8) >> 8; }
#define U24(x, y) ((uint64_t)u24(x) * u24(y))
#define S24(x, y) ((int64_t)s24(x) * s24(y))
/* .hi: bits 47..16 of the 48-bit product */
WS_MAP2(mul24_lo_u32, uint32_t, uint32_t, uint32_t, U24(x, y))
WS_MAP2(mul24_lo_s32, uint32_t, uint32_t, uint32_t, S24(x, y))
WS_MAP2(mul24_hi_u32, uint32_t, uint32_t, uint32_t, U24(x, y) >> 16)
WS_MAP2(mul24_hi_s32, uint32_t, uint32_t, uint32_t, S24(x, y) >> 16)
WS_MAP3(mad24_lo_u32, uint32_t, uint32_t, uint32_t, uint32_t, U24(x, y) + z)
WS_MAP3(mad24_lo_s32, uint32_t, uint32_t, uint32_t, uint32_t, (uint64_t)S24(x, y) + z)
WS_MAP3(mad24_hi_u32, uint32_t, uint32_t, uint32_t, uint32_t, (U24(x, y) >> 16) + z)
WS_MAP3(mad24_hi_s32, uint32_t, uint32_t, uint32_t, uint32_t, (uint64_t)(S24(x, y) >> 16) + z)
WS_MAP3(mad24_hi_sat_s32, int32_t, uint32_t, uint32_t, int32_t, sat32((int64_t)(int32_t)(S24(x, y) >> 16) + z))

/* ---- division. By zero: quotient and remainder are all ones (measured on an H200) ----
 * 32-bit quotients by way of double: a/b is either exact or at least 2^-32 (relative) away from any integer, so the
 * rounded quotient has the right integral part. */
static inline uint32_t div_u(uint32_t x, uint32_t y)
{
	double q = from_u32(x) / from_u32(y);
	double t = q + 0x1p52;         /* integer nearest to q in its low bits */
	uint32_t n = (uint32_t)ws_d2u(t) - (t - 0x1p52 > q ? 1u : 0u);
	return y ? n : UINT32_MAX;
}
static inline uint32_t mag(int32_t x) { return x < 0 ? 0u - (uint32_t)x : (uint32_t)x; }
static inline uint32_t div_s(int32_t x, int32_t y)
{
	uint32_t q = div_u(mag(x), mag(y));
	uint32_t n = (x ^ y) < 0 ? 0u - q : q;
	return y ? n : UINT32_MAX;
}
static inline uint64_t quot_u64(uint64_t x, uint64_t y) { return y ? x / y : UINT64_MAX; }
static inline uint64_t quot_s64(int64_t x, int64_t y)
{
	if (y == -1)
		return 0 - (uint64_t)x;
	return y ? (uint64_t)(x / y) : UINT64_MAX;
}
WS_MAP2(div_u16, uint16_t, uint16_t, uint16_t, div_u(x, y))
WS_MAP2(div_u32, uint32_t, uint32_t, uint32_t, div_u(x, y))
WS_SLOW2(div_u64, uint64_t, uint64_t, uint64_t, quot_u64(x, y))
WS_MAP2(div_s16, uint16_t, int16_t, int16_t, div_s(x, y))
WS_MAP2(div_s32, uint32_t, int32_t, int32_t, div_s(x, y))
WS_SLOW2(div_s64, uint64_t, int64_t, int64_t, quot_s64(x, y))
WS_MAP2(rem_u16, uint16_t, uint16_t, uint16_t, y ? x - div_u(x, y) * y : UINT32_MAX)
WS_MAP2(rem_u32, uint32_t, uint32_t, uint32_t, y ? x - div_u(x, y) * y : UINT32_MAX)
WS_SLOW2(rem_u64, uint64_t, uint64_t, uint64_t, y ? x % y : UINT64_MAX)
WS_MAP2(rem_s16, uint16_t, int16_t, int16_t, y ? (uint32_t)x - div_s(x, y) * (uint32_t)y : UINT32_MAX)
WS_MAP2(rem_s32, uint32_t, int32_t, int32_t, y ? (uint32_t)x - div_s(x, y) * (uint32_t)y : UINT32_MAX)
WS_SLOW2(rem_s64, uint64_t, int64_t, int64_t, y == -1 ? 0 : y ? (uint64_t)(x % y) : UINT64_MAX)

/* ---- min, max, sad ---- */
#define MINMAX(t, T) \
	WS_MAP2(min_##t, T, T, T, x < y ? x : y) \
	WS_MAP2(max_##t, T, T, T, x > y ? x : y)
MINMAX(u16, uint16_t)
MINMAX(u32, uint32_t)
MINMAX(u64, uint64_t)
MINMAX(s16, int16_t)
MINMAX(s32, int32_t)
MINMAX(s64, int64_t)
WS_MAP2(min_relu_s32, int32_t, int32_t, int32_t, (x < y ? x : y) > 0 ? (x < y ? x : y) : 0)
WS_MAP2(max_relu_s32, int32_t, int32_t, int32_t, (x > y ? x : y) > 0 ? (x > y ? x : y) : 0)
#define SAD(t, T, U) WS_MAP3(sad_##t, U, T, T, U, (x < y ? (U)((U)y - (U)x) : (U)((U)x - (U)y)) + z)
SAD(u16, uint16_t, uint16_t)
SAD(u32, uint32_t, uint32_t)
SAD(u64, uint64_t, uint64_t)
SAD(s16, int16_t, uint16_t)
SAD(s32, int32_t, uint32_t)
SAD(s64, int64_t, uint64_t)

/* ---- pairs of 16-bit integers in a 32-bit register ---- */
#define PAIR2(name, T, EXPR) \
	WS_LANE_FN(name) \
	{ \
		const T *A = WS_P(T, op->a); \
		const T *B = WS_P(T, op->b); \
		WS_VEC T tmp[64]; \
		T *out = mask == WS_ALL ? WS_P(T, op->d) : tmp; \
		WS_EACH(l, 64) \
		{ \
			T x = A[l], y = B[l]; \
			out[l] = (T)(EXPR); \
		} \
		if (mask != WS_ALL) \
			ws_blend4(WS_P(T, op->d), tmp, mask); \
	}
PAIR2(add_x2, uint16_t, x + y)
PAIR2(sub_x2, uint16_t, x - y)
PAIR2(min_u16x2, uint16_t, x < y ? x : y)
PAIR2(max_u16x2, uint16_t, x > y ? x : y)
PAIR2(min_s16x2, int16_t, x < y ? x : y)
PAIR2(max_s16x2, int16_t, x > y ? x : y)
PAIR2(min_relu_s16x2, int16_t, (x < y ? x : y) > 0 ? (x < y ? x : y) : 0)
PAIR2(max_relu_s16x2, int16_t, (x > y ? x : y) > 0 ? (x > y ? x : y) : 0)
WS_MAP1(neg_x2, uint32_t, uint32_t, (0u - (x & 0xffff0000)) | ((0u - x) & 0xffff))

/* ---- bits ---- */
static inline uint32_t popc32(uint32_t x)
{
	x -= x >> 1 & 0x55555555;
	x = (x & 0x33333333) + (x >> 2 & 0x33333333);
	x = (x + (x >> 4)) & 0x0f0f0f0f;
	x += x >> 8;                     /* not a multiplication: gcc would see a popcnt, which has no vector form */
	return (x + (x >> 16)) & 0x3f;
}
static inline uint32_t brev32(uint32_t x)
{
	x = (x >> 1 & 0x55555555) | (x & 0x55555555) << 1;
	x = (x >> 2 & 0x33333333) | (x & 0x33333333) << 2;
	x = (x >> 4 & 0x0f0f0f0f) | (x & 0x0f0f0f0f) << 4;
	return __builtin_bswap32(x);
}
/* By the exponent of the value as a double: vectors of any instruction set can do that. */
static inline uint32_t clz32(uint32_t x)
{
	uint32_t exp = (uint32_t)(ws_d2u(from_u32(x)) >> 52);
	return x ? 1023 + 31 - exp : 32;
}
static inline uint32_t clz64(uint64_t x)
{
	uint32_t hi = (uint32_t)(x >> 32), lo = (uint32_t)x;
	return clz32(hi ? hi : lo) + (hi ? 0 : 32);
}
WS_MAP1(popc_32, uint32_t, uint32_t, popc32(x))
WS_MAP1(popc_64, uint32_t, uint64_t, popc32((uint32_t)x) + popc32((uint32_t)(x >> 32)))
WS_MAP1(brev_32, uint32_t, uint32_t, brev32(x))
WS_MAP1(brev_64, uint64_t, uint64_t, (uint64_t)brev32((uint32_t)x) << 32 | brev32((uint32_t)(x >> 32)))
WS_MAP1(clz_32, uint32_t, uint32_t, clz32(x))
WS_MAP1(clz_64, uint32_t, uint64_t, clz64(x))

/* bfind: position of the most significant bit that is not a sign bit; .shiftamt (imm): the shift that brings it up. */
static inline uint32_t bfind(uint32_t zeros, uint32_t width, uint32_t shiftamt)
{
	uint32_t r = shiftamt ? zeros : width - 1 - zeros;
	return zeros == width ? UINT32_MAX : r;
}
WS_MAP1(bfind_u32, uint32_t, uint32_t, bfind(clz32(x), 32, op->imm))
WS_MAP1(bfind_u64, uint32_t, uint64_t, bfind(clz64(x), 64, op->imm))
WS_MAP1(bfind_s32, uint32_t, int32_t, bfind(clz32((uint32_t)(x < 0 ? ~x : x)), 32, op->imm))
WS_MAP1(bfind_s64, uint32_t, int64_t, bfind(clz64((uint64_t)(x < 0 ? ~x : x)), 64, op->imm))

static inline uint32_t low32(uint32_t n) { return n >= 32 ? UINT32_MAX : (1u << n) - 1; }
static inline uint64_t low64(uint64_t n) { return n >= 64 ? UINT64_MAX : (1ull << n) - 1; }
static inline uint32_t field32(uint32_t x, uint32_t pos, uint32_t len)
{
	return (pos > 31 ? 0 : x >> pos) & low32(len);
}
static inline uint64_t field64(uint64_t x, uint32_t pos, uint32_t len)
{
	return (pos > 63 ? 0 : x >> pos) & low64(len);
}
/* bfe (PTX ISA 9.0, bfe). Positions and lengths are the low 8 bits in the 32-bit forms, the whole 32 bits in the
 * 64-bit ones (measured on an H200; PTX leaves more than 255 open). A signed field is extended by its top bit, or by
 * the register's where it reaches beyond. */
static inline uint32_t bfe_signed32(uint32_t x, uint32_t pos, uint32_t len)
{
	uint32_t top = pos + len - 1 > 31 ? 31 : pos + len - 1;
	uint32_t sign = len && (x >> top & 1) ? UINT32_MAX : 0;
	uint32_t have = pos > 31 ? 0 : 32 - pos;
	uint32_t keep = low32(len < have ? len : have);
	return (field32(x, pos, len) & keep) | (sign & ~keep);
}
static inline uint64_t bfe_signed64(uint64_t x, uint32_t pos, uint32_t len)
{
	uint64_t last = (uint64_t)pos + len - 1, top = last > 63 ? 63 : last;
	uint64_t sign = len && (x >> top & 1) ? UINT64_MAX : 0;
	uint32_t have = pos > 63 ? 0 : 64 - pos;
	uint64_t keep = low64(len < have ? len : have);
	return (field64(x, pos, len) & keep) | (sign & ~keep);
}
WS_MAP3(bfe_u32, uint32_t, uint32_t, uint32_t, uint32_t, field32(x, y & 255, z & 255))
WS_MAP3(bfe_u64, uint64_t, uint64_t, uint32_t, uint32_t, field64(x, y, z))
WS_MAP3(bfe_s32, uint32_t, uint32_t, uint32_t, uint32_t, bfe_signed32(x, y & 255, z & 255))
WS_SLOW3(bfe_s64, uint64_t, uint64_t, uint32_t, uint32_t, bfe_signed64(x, y, z))

/* bfi f, a, b, pos, len */
WS_LANE_FN(bfi_32)
{
	const uint32_t *A = WS_P(uint32_t, op->a), *B = WS_P(uint32_t, op->b);
	const uint32_t *C = WS_P(uint32_t, op->c), *E = WS_P(uint32_t, op->e);
	WS_OUT(uint32_t);
	WS_EACH(l, 32)
	{
		uint32_t pos = C[l] & 255;
		uint32_t field = pos > 31 ? 0 : low32(E[l] & 255) << pos;
		uint32_t put = pos > 31 ? 0 : A[l] << pos;
		out[l] = (B[l] & ~field) | (put & field);
	}
	WS_DONE();
}
WS_LANE_FN(bfi_64)
{
	const uint64_t *A = WS_P(uint64_t, op->a), *B = WS_P(uint64_t, op->b);
	const uint32_t *C = WS_P(uint32_t, op->c), *E = WS_P(uint32_t, op->e);
	WS_OUT(uint64_t);
	WS_EACH(l, 32)
	{
		uint64_t pos = C[l];
		uint64_t field = pos > 63 ? 0 : low64(E[l]) << pos;
		uint64_t put = pos > 63 ? 0 : A[l] << pos;
		out[l] = (B[l] & ~field) | (put & field);
	}
	WS_DONE();
}

/* fns.b32 d, mask, base, offset (PTX ISA 9.0, fns) */
static uint32_t find_nth_set(uint32_t x, uint32_t base, int32_t offset)
{
	if (base > 31)
		return UINT32_MAX;
	if (offset == 0)
		return x >> base & 1 ? base : UINT32_MAX;
	int64_t left = offset > 0 ? (int64_t)offset : -(int64_t)offset;
	for (int pos = (int)base; pos >= 0 && pos < 32; pos += offset > 0 ? 1 : -1)
		if ((x >> pos & 1) && --left == 0)
			return (uint32_t)pos;
	return UINT32_MAX;
}
WS_SLOW3(fns, uint32_t, uint32_t, uint32_t, int32_t, find_nth_set(x, y, z))

/* bmsk, szext: imm 1 = .wrap; szext: imm 2 = .s32 */
static inline uint32_t bit_mask(uint32_t pos, uint32_t len, uint32_t wrap)
{
	uint32_t a = pos & 31, b = len & 31;
	uint32_t lo = UINT32_MAX << a;
	uint32_t hi = a + b >= 32 ? 0 : UINT32_MAX << ((a + b) & 31);
	if (!wrap && pos >= 32)
		return 0;
	if (!wrap && len >= 32)
		hi = 0;
	return lo & ~hi;
}
static inline uint32_t size_extend(uint32_t x, uint32_t n, uint32_t imm)
{
	uint32_t b = n & 31;
	if (n >= 32 && !(imm & 1))
		return x;
	uint32_t high = UINT32_MAX << b;
	bool sign = b && (imm & 2) && (x >> ((b - 1) & 31) & 1);
	return (x & ~high) | (sign ? high : 0);
}
WS_MAP2(bmsk, uint32_t, uint32_t, uint32_t, bit_mask(x, y, op->imm))
WS_MAP2(szext, uint32_t, uint32_t, uint32_t, size_extend(x, y, op->imm))

/* ---- dot products: imm 1 = a signed, 2 = b signed, 4 = dp2a.hi ---- */
/* Element of `bits` bits at `at`; keep: all ones if it is signed, else its width in ones. */
static inline uint32_t part(uint32_t x, unsigned at, unsigned bits, uint32_t keep)
{
	return (uint32_t)((int32_t)(x << (32 - at - bits)) >> (32 - bits)) & keep;
}
static inline uint32_t dot4(uint32_t x, uint32_t y, uint32_t z, uint32_t imm)
{
	uint32_t a = imm & 1 ? UINT32_MAX : 0xff, b = imm & 2 ? UINT32_MAX : 0xff;
	return z + part(x, 0, 8, a) * part(y, 0, 8, b) + part(x, 8, 8, a) * part(y, 8, 8, b) +
	       part(x, 16, 8, a) * part(y, 16, 8, b) + part(x, 24, 8, a) * part(y, 24, 8, b);
}
static inline uint32_t dot2(uint32_t x, uint32_t y, uint32_t z, uint32_t imm)
{
	uint32_t a = imm & 1 ? UINT32_MAX : 0xffff, b = imm & 2 ? UINT32_MAX : 0xff;
	uint32_t h = imm & 4 ? y >> 16 : y;
	return z + part(x, 0, 16, a) * part(h, 0, 8, b) + part(x, 16, 16, a) * part(h, 8, 8, b);
}
WS_MAP3(dp4a, uint32_t, uint32_t, uint32_t, uint32_t, dot4(x, y, z, op->imm))
WS_MAP3(dp2a, uint32_t, uint32_t, uint32_t, uint32_t, dot2(x, y, z, op->imm))

/* ---- extended precision: CC.CF is the carry of additions, and set where a subtraction borrows nothing, so that addc
 * after sub.cc adds one then (measured on an H200; PTX ISA leaves mixing them open) ---- */
#define CARRY_BEGIN() \
	uint32_t *const cf = WS_P(uint32_t, op->cc); \
	uint32_t cin = op->imm & WS_IMM_CC_IN ? *cf : 0, cout = 0
#define CARRY_END() \
	do { \
		if (op->imm & WS_IMM_CC_OUT) \
			*cf = (*cf & ~mask) | cout; \
	} while (0)
#define CARRY2(name, T, WIDE, BITS, EXPR, INVERT) \
	WS_LANE_FN(name) \
	{ \
		CARRY_BEGIN(); \
		if (INVERT && (op->imm & WS_IMM_CC_IN)) \
			cin = ~cin; \
		WS_ACTIVE(l, mask) \
		{ \
			WIDE x = WS_P(T, op->a)[l], y = WS_P(T, op->b)[l], c = cin >> l & 1, r = EXPR; \
			WS_P(T, op->d)[l] = (T)r; \
			cout |= (uint32_t)((r >> BITS & 1) ^ INVERT) << l; \
		} \
		CARRY_END(); \
	}
CARRY2(addc_32, uint32_t, uint64_t, 32, x + y + c, 0)
CARRY2(addc_64, uint64_t, u128, 64, x + y + c, 0)
CARRY2(subc_32, uint32_t, uint64_t, 32, x - y - c, 1)
CARRY2(subc_64, uint64_t, u128, 64, x - y - c, 1)

#define CARRY_MAD(name, T, ST, WIDE, SWIDE, BITS) \
	WS_LANE_FN(name) \
	{ \
		CARRY_BEGIN(); \
		WS_ACTIVE(l, mask) \
		{ \
			T x = WS_P(T, op->a)[l], y = WS_P(T, op->b)[l], z = WS_P(T, op->c)[l]; \
			WIDE p = op->imm & WS_IMM_SIGNED ? (WIDE)((SWIDE)(ST)x * (ST)y) : (WIDE)x * y; \
			WIDE r = (WIDE)(T)(op->imm & WS_IMM_HI ? p >> BITS : p) + z + (cin >> l & 1); \
			WS_P(T, op->d)[l] = (T)r; \
			cout |= (uint32_t)(r >> BITS & 1) << l; \
		} \
		CARRY_END(); \
	}
CARRY_MAD(madc_32, uint32_t, int32_t, uint64_t, int64_t, 32)
CARRY_MAD(madc_64, uint64_t, int64_t, u128, s128, 64)

#define FN(n) n,
ws_lane_fn *const WS_PASTE(ws_lanes_int, WS_ISA)[] = {
#include "gpu/lanes_int.def"
};

/* lanes_cvt.simd.c - conversions on 32 lanes: cvt and cvt.pack (PTX ISA 9.0, 9.7.9 Data Movement and Conversion
 * Instructions: cvt, cvt.pack).
 *
 * The pairs that programs use most are vector loops. All others go through one exact path, lane by lane: unpack the
 * source to sign * mant * 2^exp, round that once to what the destination can hold. */
#include "gpu/lanes_simd.h"

/* ---- integers: ext_S_T_D takes the low part T of a source register of S bytes to a register of D bytes ---- */
#define EXT(s, S, t, T, d, D) WS_MAP1(ext_##s##_##t##_##d, D, S, (T)x)
#define EXT8(s, S, d, U, I) EXT(s, S, u8, uint8_t, d, U) EXT(s, S, s8, int8_t, d, I)
#define EXT16(s, S, d, U, I) EXT(s, S, u16, uint16_t, d, U) EXT(s, S, s16, int16_t, d, I)
#define EXT32(s, S, d, U, I) EXT(s, S, u32, uint32_t, d, U) EXT(s, S, s32, int32_t, d, I)
EXT8(2, uint16_t, 2, uint16_t, int16_t)
EXT8(2, uint16_t, 4, uint32_t, int32_t)
EXT8(2, uint16_t, 8, uint64_t, int64_t)
EXT16(2, uint16_t, 4, uint32_t, int32_t)
EXT16(2, uint16_t, 8, uint64_t, int64_t)
EXT8(4, uint32_t, 2, uint16_t, int16_t)
EXT(4, uint32_t, u16, uint16_t, 2, uint16_t)
EXT8(4, uint32_t, 4, uint32_t, int32_t)
EXT16(4, uint32_t, 4, uint32_t, int32_t)
EXT8(4, uint32_t, 8, uint64_t, int64_t)
EXT16(4, uint32_t, 8, uint64_t, int64_t)
EXT32(4, uint32_t, 8, uint64_t, int64_t)
EXT8(8, uint64_t, 2, uint16_t, int16_t)
EXT(8, uint64_t, u16, uint16_t, 2, uint16_t)
EXT8(8, uint64_t, 4, uint32_t, int32_t)
EXT16(8, uint64_t, 4, uint32_t, int32_t)
EXT(8, uint64_t, u32, uint32_t, 4, uint32_t)
EXT8(8, uint64_t, 8, uint64_t, int64_t)
EXT16(8, uint64_t, 8, uint64_t, int64_t)
EXT32(8, uint64_t, 8, uint64_t, int64_t)

/* ---- integers to floats, to nearest ---- */
WS_MAP1(s16_to_f32, float, int16_t, x)
WS_MAP1(u16_to_f32, float, uint16_t, x)
WS_MAP1(s32_to_f32, float, int32_t, x)
WS_MAP1(u32_to_f32, float, uint32_t, x)
WS_MAP1(s64_to_f32, float, int64_t, x)
WS_MAP1(u64_to_f32, float, uint64_t, x)
WS_MAP1(s32_to_f64, double, int32_t, x)
WS_MAP1(u32_to_f64, double, uint32_t, x)
WS_MAP1(s64_to_f64, double, int64_t, x)
WS_MAP1(u64_to_f64, double, uint64_t, x)

/* ---- between floats ---- */
/* f64's NaNs keep the part of their payload that fits (measured on an H200), .ftz of a f32 source does not. */
static inline double widen(float x)
{
	uint64_t u = ws_f2u(x), nan = (u & 0x80000000) << 32 | 0x7ff8000000000000ull | (u & 0x7fffff) << 29;
	return x == x ? (double)x : ws_u2d(nan);
}
static inline float narrow(double x)
{
	uint64_t u = ws_d2u(x);
	uint32_t nan = (uint32_t)(u >> 32 & 0x80000000) | 0x7fc00000 | (uint32_t)(u >> 29 & 0x3fffff);
	return x == x ? (float)x : ws_u2f(nan);
}
WS_MAP1(f32_to_f64, double, float, widen(x))
WS_MAP1(f32z_to_f64, double, float, widen(ws_canon(ws_ftz(x))))
WS_MAP1(f64_to_f32, float, double, narrow(x))
WS_MAP1(f64_to_f32z, float, double, x == x ? ws_flush_tiny((float)x, (float)(x * WS_UP)) : narrow(x))
WS_MAP1(f32_sat, float, float, ws_sat(x))
WS_MAP1(f32z_sat, float, float, ws_sat(ws_ftz(x)))

/* imm: enum ws_round, WS_IMM_CVT_FTZ */
static inline void integral32(float *t, uint32_t rnd)
{
	switch (rnd) {
	case WS_RNI:
		WS_EACH(l, 32)
			t[l] = __builtin_rintf(t[l]);
		break;
	case WS_RZI:
		WS_EACH(l, 32)
			t[l] = __builtin_truncf(t[l]);
		break;
	case WS_RMI:
		WS_EACH(l, 32)
			t[l] = __builtin_floorf(t[l]);
		break;
	default:
		WS_EACH(l, 32)
			t[l] = __builtin_ceilf(t[l]);
	}
}
static inline void integral64(double *t, uint32_t rnd)
{
	switch (rnd) {
	case WS_RNI:
		WS_EACH(l, 32)
			t[l] = __builtin_rint(t[l]);
		break;
	case WS_RZI:
		WS_EACH(l, 32)
			t[l] = __builtin_trunc(t[l]);
		break;
	case WS_RMI:
		WS_EACH(l, 32)
			t[l] = __builtin_floor(t[l]);
		break;
	default:
		WS_EACH(l, 32)
			t[l] = __builtin_ceil(t[l]);
	}
}
static inline void load_f32(const struct ws_lane_op *op, uint8_t *regs, float *t)
{
	const float *A = WS_P(float, op->a);
	if (op->imm & WS_IMM_CVT_FTZ)
		WS_EACH(l, 32)
			t[l] = ws_ftz(A[l]);
	else
		memcpy(t, A, 32 * sizeof *t);
}
WS_LANE_FN(f32_integral)
{
	WS_VEC float t[32];
	load_f32(op, regs, t);
	integral32(t, op->imm & 15);
	WS_EACH(l, 32)
		t[l] = ws_canon(t[l]);
	ws_blend4(WS_P(float, op->d), t, mask);
}
WS_LANE_FN(f64_integral)
{
	WS_VEC double t[32];
	memcpy(t, WS_P(double, op->a), sizeof t);
	integral64(t, op->imm & 15);
	WS_EACH(l, 32)
		t[l] = ws_nan64(t[l], t[l], t[l]);
	ws_blend8(WS_P(double, op->d), t, mask);
}

/* ---- floats to integers: out of range gives the nearest end; NaN gives 0 from f32 to 32 bits, else the top bit
 * (PTX ISA 9.0, cvt) ---- */
static inline int32_t s32_from(float x)
{
	int32_t n = (int32_t)(x < 0x1p31f && x > -0x1p31f ? x : 0.0f);
	n = x >= 0x1p31f ? INT32_MAX : n;
	return x <= -0x1p31f ? INT32_MIN : n;
}
static inline uint32_t u32_from(float x)
{
	uint32_t n = (uint32_t)(x < 0x1p32f && x > 0.0f ? x : 0.0f);
	return x >= 0x1p32f ? UINT32_MAX : n;
}
static inline int32_t s32_from64(double x)
{
	int32_t n = (int32_t)(x < 0x1p31 && x > -0x1p31 ? x : -0x1p31);
	return x >= 0x1p31 ? INT32_MAX : n;
}
static inline uint32_t u32_from64(double x)
{
	uint32_t n = (uint32_t)(x < 0x1p32 && x > 0.0 ? x : 0.0);
	n = x >= 0x1p32 ? UINT32_MAX : n;
	return x == x ? n : 0x80000000u;
}
static inline int64_t s64_from64(double x)
{
	int64_t n = (int64_t)(x < 0x1p63 && x > -0x1p63 ? x : -0x1p63);
	return x >= 0x1p63 ? INT64_MAX : n;
}
static inline uint64_t u64_from64(double x)
{
	uint64_t n = (uint64_t)(x < 0x1p64 && x > 0.0 ? x : 0.0);
	n = x >= 0x1p64 ? UINT64_MAX : n;
	return x == x ? n : 0x8000000000000000ull;
}
#define FROM32(name, D, EXPR) \
	WS_LANE_FN(name) \
	{ \
		WS_VEC float t[32]; \
		load_f32(op, regs, t); \
		integral32(t, op->imm & 15); \
		WS_OUT(D); \
		WS_EACH(l, 32) \
			out[l] = EXPR(t[l]); \
		WS_DONE(); \
	}
#define FROM64(name, D, EXPR) \
	WS_LANE_FN(name) \
	{ \
		WS_VEC double t[32]; \
		memcpy(t, WS_P(double, op->a), sizeof t); \
		integral64(t, op->imm & 15); \
		WS_OUT(D); \
		WS_EACH(l, 32) \
			out[l] = EXPR(t[l]); \
		WS_DONE(); \
	}
WS_MAP1(f32_to_s32_rz, int32_t, float, s32_from(x))
WS_MAP1(f32_to_u32_rz, uint32_t, float, u32_from(x))
FROM32(f32_to_s32, int32_t, s32_from)
FROM32(f32_to_u32, uint32_t, u32_from)
FROM32(f32_to_s64, int64_t, s64_from64)
FROM32(f32_to_u64, uint64_t, u64_from64)
FROM64(f64_to_s32, int32_t, s32_from64)
FROM64(f64_to_u32, uint32_t, u32_from64)
FROM64(f64_to_s64, int64_t, s64_from64)
FROM64(f64_to_u64, uint64_t, u64_from64)

/* ---- halves ---- */
WS_MAP1(f16_to_f32, float, uint16_t, ws_canon(ws_half_value(x)))
WS_MAP1(bf16_to_f32, uint32_t, uint16_t, (uint32_t)x << 16)
WS_MAP1(f32_to_f16, uint16_t, float, ws_f16_bits(x))
WS_MAP1(f32_to_bf16, uint16_t, float, ws_bf16_bits(x))
WS_MAP2(f32_to_f16x2, uint32_t, float, float, ws_f16_bits(x) << 16 | ws_f16_bits(y))
WS_MAP2(f32_to_bf16x2, uint32_t, float, float, ws_bf16_bits(x) << 16 | ws_bf16_bits(y))

/* ---- the exact path ---- */
struct number {                  /* (neg ? -1 : 1) * mant * 2^exp, or one of the others; NaN: mant = payload
                                  * below the top bit */
	enum { FINITE, INFINITE, NOT_A_NUMBER } kind;
	bool neg;
	int exp;
	uint64_t mant;
};
struct format {
	uint8_t ebits, mbits, shift;     /* shift: where the value's low bit stands in its element */
	bool no_inf;                     /* e4m3: the largest exponent holds numbers, only all ones is NaN */
	uint64_t nan;
};

static const struct format *format_of(unsigned type)
{
	static const struct format f16 = {5, 10, 0, false, WS_NAN16}, bf16 = {8, 7, 0, false, WS_NAN16};
	static const struct format tf32 = {8, 10, 13, false, 0x7fffe000}, f32 = {8, 23, 0, false, WS_NAN32};
	static const struct format f64 = {11, 52, 0, false, 0};
	static const struct format e4m3 = {4, 3, 0, true, 0x7f}, e5m2 = {5, 2, 0, false, 0x7f};
	switch (type) {
	case WS_F16:
	case WS_F16X2:
		return &f16;
	case WS_BF16:
	case WS_BF16X2:
		return &bf16;
	case WS_TF32:
		return &tf32;
	case WS_F32:
		return &f32;
	case WS_F64:
		return &f64;
	case WS_E4M3:
	case WS_E4M3X2:
		return &e4m3;
	case WS_E5M2:
	case WS_E5M2X2:
		return &e5m2;
	}
	return NULL;
}

static struct number unpack_float(uint64_t bits, const struct format *f, bool ftz)
{
	struct number n = {FINITE, false, 0, 0};
	bits >>= f->shift;
	uint64_t emask = (1ull << f->ebits) - 1, mant = bits & ((1ull << f->mbits) - 1), e = bits >> f->mbits & emask;
	int bias = (1 << (f->ebits - 1)) - 1;
	n.neg = bits >> (f->ebits + f->mbits) & 1;
	n.mant = mant << (63 - f->mbits);
	if (e == emask && !f->no_inf) {
		n.kind = mant ? NOT_A_NUMBER : INFINITE;
		return n;
	}
	if (f->no_inf && e == emask && mant == (1ull << f->mbits) - 1) {
		n.kind = NOT_A_NUMBER;
		return n;
	}
	n.mant = e ? mant | 1ull << f->mbits : ftz ? 0 : mant;
	n.exp = (int)(e ? e : 1) - bias - f->mbits;
	return n;
}

static int type_bits(unsigned t) { return t == WS_U8 || t == WS_S8 ? 8 : (int)(8 * ws_type_bytes(t)); }
static bool signed_type(unsigned t) { return t >= WS_S8 && t <= WS_S64; }

static struct number unpack_int(uint64_t bits, unsigned type)
{
	int up = 64 - type_bits(type);
	struct number n = {FINITE, false, 0, bits << up >> up};
	if (signed_type(type)) {
		int64_t v = (int64_t)(bits << up) >> up;
		n.neg = v < 0;
		n.mant = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
	}
	return n;
}

/* The integer nearest to n * 2^-unit as the rounding wants it. n is so small that
 * the result fits. */
static uint64_t round_to(const struct number *n, int unit, unsigned rnd)
{
	int shift = unit - n->exp;
	if (shift <= 0)
		return shift > -64 ? n->mant << -shift : 0;
	uint64_t whole = shift < 64 ? n->mant >> shift : 0;
	uint64_t half = shift <= 64 ? n->mant >> (shift - 1) & 1 : 0;
	uint64_t below = shift > 64 ? n->mant : shift == 1 ? 0 : n->mant << (65 - shift);
	switch (rnd) {
	case WS_RZ:
	case WS_RZI:
		return whole;
	case WS_RM:
	case WS_RMI:
		return whole + (n->neg && (half || below));
	case WS_RP:
	case WS_RPI:
		return whole + (!n->neg && (half || below));
	case WS_RNA:
		return whole + half;
	default:
		return whole + (half && (below || (whole & 1)));
	}
}

static int top_bit(uint64_t mant) { return 63 - __builtin_clzll(mant); }

static uint64_t pack_float(struct number n, const struct format *f, unsigned rnd, bool satfinite)
{
	uint64_t sign = (uint64_t)n.neg << (f->ebits + f->mbits), r = 0;
	uint64_t inf = ((1ull << f->ebits) - 1) << f->mbits;
	uint64_t most = f->no_inf ? inf + (1ull << f->mbits) - 2 : inf - 1;
	bool up = !(rnd == WS_RZ || rnd == WS_RZI || (rnd == WS_RM && !n.neg) || (rnd == WS_RP && n.neg));
	if (n.kind == NOT_A_NUMBER)
		return f->nan;
	if (n.kind == INFINITE) {
		r = most + 1;
		up = true;
	} else if (n.mant) {
		int emin = 2 - (1 << (f->ebits - 1)), e = top_bit(n.mant) + n.exp;
		int unit = (e < emin ? emin : e) - f->mbits;
		r = ((uint64_t)(unit + f->mbits - emin) << f->mbits) + round_to(&n, unit, rnd);
	}
	if (r > most)
		r = satfinite || !up ? most : f->no_inf ? f->nan : inf;
	return (sign | r) << f->shift;
}

/* f64's NaNs go through, as much of them as fits, made quiet. */
static uint64_t pack_nan(struct number n, const struct format *f)
{
	uint64_t top = ((1ull << (f->ebits + 1)) - 1) << (f->mbits - 1);
	return (uint64_t)n.neg << (f->ebits + f->mbits) | top | n.mant >> (63 - f->mbits);
}

/* Saturates; the source of a NaN matters (PTX ISA 9.0, cvt: Floating-point conversion notes). */
static uint64_t pack_int(struct number n, unsigned type, unsigned stype, unsigned rnd)
{
	int bits = type_bits(type);
	uint64_t most = signed_type(type) ? (1ull << (bits - 1)) - 1 : UINT64_MAX >> (64 - bits);
	uint64_t least = signed_type(type) ? most + 1 : 0;       /* magnitude of the smallest */
	if (n.kind == NOT_A_NUMBER)
		return stype == WS_F64 || bits == 64 ? 1ull << (bits - 1) : 0;
	bool huge = n.kind == INFINITE || (n.mant && top_bit(n.mant) + n.exp > 63);
	uint64_t v = huge ? UINT64_MAX : n.mant ? round_to(&n, 0, rnd) : 0;
	if (n.neg)
		return 0 - (v > least ? least : v);
	return v > most ? most : v;
}

static struct number clamp(struct number n, uint32_t imm)
{
	if ((imm & WS_IMM_CVT_SAT) && (n.neg || n.kind == NOT_A_NUMBER))
		return (struct number){FINITE, false, 0, 0};
	if ((imm & WS_IMM_CVT_SAT) && (n.kind == INFINITE || (n.mant && top_bit(n.mant) + n.exp >= 0)))
		return (struct number){FINITE, false, 0, 1};
	if ((imm & WS_IMM_CVT_RELU) && n.neg && n.kind != NOT_A_NUMBER)
		return (struct number){FINITE, false, 0, 0};
	return n;
}

/* Rounds to an integral value of the same type. */
static struct number integral(struct number n, unsigned rnd)
{
	if (rnd < WS_RNI || n.kind != FINITE || n.exp >= 0 || !n.mant)
		return n;
	n.mant = round_to(&n, 0, rnd);
	n.exp = 0;
	return n;
}

/* Whether n, rounded to f32 without end of the exponents, is below 2^-126: see ws_flush_tiny. */
static bool tiny(struct number n, unsigned rnd)
{
	n.exp += 24;
	return n.kind == FINITE && (pack_float(n, format_of(WS_F32), rnd, false) & 0x7fffffff) < 25u << 23;
}

/* One value from type st to type dt. */
static uint64_t convert(uint64_t bits, uint32_t imm, unsigned dt, unsigned st)
{
	unsigned rnd = imm >> 20 & 15;
	const struct format *from = format_of(st), *to = format_of(dt);
	bool ftz = imm & WS_IMM_CVT_FTZ;
	struct number n = from ? unpack_float(bits, from, ftz && st == WS_F32 && dt != WS_F16) : unpack_int(bits, st);
	if (!to) {
		if (!from && !(imm & WS_IMM_CVT_SAT))
			return n.neg ? 0 - n.mant : n.mant;
		return pack_int(n, dt, st, rnd);
	}
	n = clamp(from ? integral(n, rnd) : n, imm);
	if (n.kind == NOT_A_NUMBER && (st == WS_F64 || dt == WS_F64))
		return pack_nan(n, to);
	if (n.kind == NOT_A_NUMBER && rnd == WS_RNA)     /* to tf32; as an H200 does it */
		return (bits & 0xffffe000) - (imm & WS_IMM_CVT_SATFINITE ? 0x2000 : 0);
	uint64_t r = pack_float(n, to, rnd, imm & WS_IMM_CVT_SATFINITE);
	return ftz && dt == WS_F32 && tiny(n, rnd) ? r & 0x80000000 : r;
}

static uint64_t get(const uint8_t *regs, uint32_t off, uint32_t width, uint32_t l)
{
	return width == 2 ? WS_P(const uint16_t, off)[l] : width == 4 ? WS_P(const uint32_t, off)[l]
	                                                              : WS_P(const uint64_t, off)[l];
}
static void put(uint8_t *regs, uint32_t off, uint32_t width, uint32_t l, uint64_t v)
{
	if (width == 2)
		WS_P(uint16_t, off)[l] = (uint16_t)v;
	else if (width == 4)
		WS_P(uint32_t, off)[l] = (uint32_t)v;
	else
		WS_P(uint64_t, off)[l] = v;
}

/* A result narrower than its register is extended by its type's sign. */
static uint64_t extend(uint64_t v, unsigned type)
{
	int up = 64 - type_bits(type);
	return signed_type(type) ? (uint64_t)((int64_t)(v << up) >> up) : v << up >> up;
}

WS_LANE_FN(cvt_any)
{
	const uint32_t dt = op->imm & 63, st = op->imm >> 6 & 63, dw = op->imm >> 12 & 15, sw = op->imm >> 16 & 15;
	WS_ACTIVE(l, mask)
		put(regs, op->d, dw, l, extend(convert(get(regs, op->a, sw, l), op->imm, dt, st), dt));
}

/* Pairs: two f32 sources (a to the upper half) or one pair. */
WS_LANE_FN(cvt_any_x2)
{
	const uint32_t dt = op->imm & 63, st = op->imm >> 6 & 63, dw = op->imm >> 12 & 15, sw = op->imm >> 16 & 15;
	WS_ACTIVE(l, mask)
	{
		uint64_t hi, lo, a = get(regs, op->a, sw, l);
		if (st == WS_F32) {
			hi = convert(a, op->imm, dt, st);
			lo = convert(get(regs, op->b, sw, l), op->imm, dt, st);
		} else {
			hi = convert(a >> 4 * sw, op->imm, dt, st);
			lo = convert(a & ((1u << 4 * sw) - 1), op->imm, dt, st);
		}
		put(regs, op->d, dw, l, hi << 4 * dw | lo);
	}
}

/* cvt.pack.sat: imm: bits of an element, 32 = signed, 64 = there is a c. Elements of a above those of b, c's above. */
WS_LANE_FN(cvt_pack)
{
	const uint32_t bits = op->imm & 31;
	const int64_t hi = (op->imm & 32 ? 1ll << (bits - 1) : 1ll << bits) - 1;
	const int64_t lo = op->imm & 32 ? -hi - 1 : 0;
	const uint32_t low = (uint32_t)((1ull << bits) - 1);
	WS_ACTIVE(l, mask)
	{
		int64_t a = WS_P(int32_t, op->a)[l], b = WS_P(int32_t, op->b)[l];
		a = a < lo ? lo : a > hi ? hi : a;
		b = b < lo ? lo : b > hi ? hi : b;
		uint32_t r = ((uint32_t)a & low) << bits | ((uint32_t)b & low);
		if (op->imm & 64)
			r |= WS_P(uint32_t, op->c)[l] << 2 * bits;
		WS_P(uint32_t, op->d)[l] = r;
	}
}

#define FN(n) n,
ws_lane_fn *const WS_PASTE(ws_lanes_cvt, WS_ISA)[] = {
#include "gpu/lanes_cvt.def"
};

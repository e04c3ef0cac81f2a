/* lanes_video.simd.c - video instructions on 32 lanes (PTX ISA 9.0, 9.7.16 Video Instructions): the scalar ones on a
 * byte, half or word of each source, and the SIMD ones on all halves or bytes at once. Lane by lane: they are rare. */
#include "gpu/lanes_simd.h"

/* The part sel (0 whole, 1..4 byte, 5..6 half) of x as a signed value. */
static int64_t part_of(uint32_t x, uint32_t sel, bool is_signed)
{
	unsigned bits = sel == 0 ? 32 : sel < 5 ? 8 : 16, at = sel == 0 ? 0 : sel < 5 ? 8 * (sel - 1) : 16 * (sel - 5);
	uint32_t up = x << (32 - bits - at);
	return is_signed ? (int32_t)up >> (32 - bits) : (int64_t)(up >> (32 - bits));
}

static int64_t saturate(int64_t v, unsigned bits, bool is_signed)
{
	int64_t hi = is_signed ? (1ll << (bits - 1)) - 1 : (1ll << bits) - 1, lo = is_signed ? -hi - 1 : 0;
	return v < lo ? lo : v > hi ? hi : v;
}

static bool compare(int64_t a, int64_t b, uint32_t cmp)
{
	switch (cmp) {
	case WS_EQ:
		return a == b;
	case WS_NE:
		return a != b;
	case WS_LT:
		return a < b;
	case WS_LE:
		return a <= b;
	case WS_GT:
		return a > b;
	default:
		return a >= b;
	}
}

static int64_t shift(int64_t a, int64_t b, uint32_t imm)
{
	uint32_t n = (uint32_t)b;
	n = imm & WS_VIDEO_WRAP ? n & 31 : n > 32 ? 32 : n;
	return (imm & WS_VIDEO_KIND) == WS_VIDEO_SHR ? a >> n : (int64_t)((uint64_t)a << n);
}

static int64_t operate(int64_t a, int64_t b, uint32_t imm)
{
	switch (imm & WS_VIDEO_KIND) {
	case WS_VIDEO_ADD:
		return a + b;
	case WS_VIDEO_SUB:
		return a - b;
	case WS_VIDEO_ABSDIFF:
		return a < b ? b - a : a - b;
	case WS_VIDEO_MIN:
		return a < b ? a : b;
	case WS_VIDEO_MAX:
		return a > b ? a : b;
	case WS_VIDEO_AVRG:              /* rounded away from zero */
		return a + b >= 0 ? (a + b + 1) >> 1 : (a + b) >> 1;
	case WS_VIDEO_SET:
		return compare(a, b, imm >> WS_VIDEO_CMP_SHIFT & 31);
	default:
		return shift(a, b, imm);
	}
}

/* vmad: (a * b) + c, negations as ~x + 1, one lsb for all of them (PTX ISA 9.0, vmad) */
static uint32_t multiply_add(int64_t a, int64_t b, uint32_t c, uint32_t imm)
{
	bool is_signed = imm & (WS_VIDEO_A_SIGNED | WS_VIDEO_B_SIGNED | WS_VIDEO_NEG_AB | WS_VIDEO_NEG_C);
	__int128 p = (__int128)a * b, z = is_signed ? (__int128)(int32_t)c : (__int128)c;
	int lsb = imm & WS_VIDEO_PLUS_ONE ? 1 : 0;
	if (imm & WS_VIDEO_NEG_AB) {
		p = ~p;
		lsb = 1;
	} else if (imm & WS_VIDEO_NEG_C) {
		z = ~z;
		lsb = 1;
	}
	__int128 r = p + z + lsb;
	r = imm & WS_VIDEO_SHR7 ? r >> 7 : imm & WS_VIDEO_SHR15 ? r >> 15 : r;
	__int128 hi = is_signed ? INT32_MAX : UINT32_MAX, lo = is_signed ? INT32_MIN : 0;
	if (imm & WS_VIDEO_SAT)
		r = r > hi ? hi : r < lo ? lo : r;
	return (uint32_t)r;
}

static uint32_t scalar(uint32_t a, uint32_t b, uint32_t c, uint32_t imm)
{
	uint32_t dsel = imm >> WS_VIDEO_SEL_SHIFT & 7;
	int64_t x = part_of(a, imm >> (WS_VIDEO_SEL_SHIFT + 3) & 7, imm & WS_VIDEO_A_SIGNED);
	int64_t y = part_of(b, imm >> (WS_VIDEO_SEL_SHIFT + 6) & 7, imm & WS_VIDEO_B_SIGNED);
	if ((imm & WS_VIDEO_KIND) == WS_VIDEO_MAD)
		return multiply_add(x, y, c, imm);
	int64_t t = operate(x, y, imm);
	unsigned bits = dsel == 0 ? 32 : dsel < 5 ? 8 : 16;
	if (imm & WS_VIDEO_SAT)
		t = saturate(t, bits, imm & WS_VIDEO_D_SIGNED);
	if (imm & WS_VIDEO_THEN)
		return (uint32_t)t + c;
	if (dsel == 0)
		return (uint32_t)t;
	unsigned at = dsel < 5 ? 8 * (dsel - 1) : 16 * (dsel - 5);
	uint32_t field = ((1u << bits) - 1) << at;
	return (c & ~field) | ((uint32_t)t << at & field);
}

WS_LANE_FN(video_scalar)
{
	const bool third = (op->imm & WS_VIDEO_KIND) == WS_VIDEO_MAD || (op->imm & WS_VIDEO_THEN) ||
	                   (op->imm >> WS_VIDEO_SEL_SHIFT & 7);
	WS_ACTIVE(l, mask)
	{
		uint32_t a = WS_P(uint32_t, op->a)[l], b = WS_P(uint32_t, op->b)[l];
		uint32_t c = third ? WS_P(uint32_t, op->c)[l] : 0;
		WS_P(uint32_t, op->d)[l] = scalar(a, b, c, op->imm);
	}
}

WS_LANE_FN(video_simd)
{
	const unsigned n = op->imm & WS_VIDEO_FOUR ? 4 : 2, bits = 32 / n;
	const uint32_t low = (1u << bits) - 1, first = n == 4 ? 1 : 5;
	WS_ACTIVE(l, mask)
	{
		uint32_t a = WS_P(uint32_t, op->a)[l], b = WS_P(uint32_t, op->b)[l];
		uint32_t d = 0, sum = WS_P(uint32_t, op->c)[l];
		for (unsigned k = 0; k < n; k++) {
			int64_t x = part_of(a, first + k, op->imm & WS_VIDEO_A_SIGNED);
			int64_t y = part_of(b, first + k, op->imm & WS_VIDEO_B_SIGNED);
			int64_t t = operate(x, y, op->imm);
			if (op->imm & WS_VIDEO_SAT)
				t = saturate(t, bits, op->imm & WS_VIDEO_D_SIGNED);
			d |= ((uint32_t)t & low) << bits * k;
			sum += (uint32_t)t;
		}
		WS_P(uint32_t, op->d)[l] = op->imm & WS_VIDEO_THEN ? sum : d;
	}
}

#define FN(n) n,
ws_lane_fn *const WS_PASTE(ws_lanes_video, WS_ISA)[] = {
#include "gpu/lanes_video.def"
};

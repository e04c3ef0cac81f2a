/* test_lanes.c - the lane functions against slow scalar references, with masks, with a source as the destination, and
 * every instruction set against every other. tests/arith compares the same forms with an H200. */
#include "tests/arith/forms.c"
#include "tests/arith/harness.h"

#include <fenv.h>
#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

static struct ws_ptx_module *module;
static const struct arith_form *form;
static size_t count;

static int setup(void **state)
{
	(void)state;
	struct ws_buf ptx = {0}, errors = {0};
	struct ws_sink sink = {ws_sink_to_buf, &errors};
	form = arith_forms(&count);
	arith_ptx(&ptx, 0, count);
	module = ws_ptx_parse("arith.ptx", ptx.data, ptx.len, NULL, &sink);
	if (!module)
		print_error("%s", errors.data);
	ws_buf_free(&ptx);
	ws_buf_free(&errors);
	return !module || module->nfuncs != count;
}

static int teardown(void **state)
{
	(void)state;
	ws_ptx_free(module);
	return 0;
}

static uint64_t seed = 1;
static uint64_t random64(void) { return mix(seed++); }

/* ---- references: integers ---- */
typedef uint64_t ref_fn(const uint64_t *x);
struct reference {
	const char *name;
	ref_fn *fn;
};
typedef __int128 wide;

#define REF(name, EXPR) \
	static uint64_t name(const uint64_t *x) \
	{ \
		(void)x; \
		return EXPR; \
	}
#define BITS(T) ((int)(8 * sizeof(T)))
#define INT_REFS(s, T, U) \
	REF(add_##s, (U)((wide)(T)x[0] + (T)x[1])) \
	REF(sub_##s, (U)((wide)(T)x[0] - (T)x[1])) \
	REF(mul_##s, (U)((unsigned __int128)(T)x[0] * (unsigned __int128)(T)x[1])) \
	REF(hi_##s, (U)((unsigned __int128)(wide)(T)x[0] * (unsigned __int128)(wide)(T)x[1] >> BITS(T))) \
	REF(mad_##s, (U)(mul_##s(x) + x[2])) \
	REF(madhi_##s, (U)(hi_##s(x) + x[2])) \
	REF(div_##s, (T)x[1] == 0 ? (U)-1 : (U)((wide)(T)x[0] / (T)x[1])) \
	REF(rem_##s, (T)x[1] == 0 ? (U)-1 : (U)((wide)(T)x[0] % (T)x[1])) \
	REF(min_##s, (U)((T)x[0] < (T)x[1] ? x[0] : x[1])) \
	REF(max_##s, (U)((T)x[0] > (T)x[1] ? x[0] : x[1])) \
	REF(sad_##s, (U)(((T)x[0] < (T)x[1] ? (wide)(T)x[1] - (T)x[0] : (wide)(T)x[0] - (T)x[1]) + (T)x[2])) \
	REF(shr_##s, (U)((wide)(T)x[0] >> ((uint32_t)x[1] > 100 ? 100 : (uint32_t)x[1]))) \
	REF(lt_##s, (T)x[0] < (T)x[1]) \
	REF(le_##s, (T)x[0] <= (T)x[1]) \
	REF(gt_##s, (T)x[0] > (T)x[1]) \
	REF(ge_##s, (T)x[0] >= (T)x[1]) \
	REF(eq_##s, (T)x[0] == (T)x[1]) \
	REF(ne_##s, (T)x[0] != (T)x[1])
INT_REFS(u16, uint16_t, uint16_t)
INT_REFS(s16, int16_t, uint16_t)
INT_REFS(u32, uint32_t, uint32_t)
INT_REFS(s32, int32_t, uint32_t)
INT_REFS(u64, uint64_t, uint64_t)
INT_REFS(s64, int64_t, uint64_t)
#define INT_TABLE(s) \
	{"add." #s, add_##s}, {"sub." #s, sub_##s}, {"mul.lo." #s, mul_##s}, {"mul.hi." #s, hi_##s}, \
	{"mad.lo." #s, mad_##s}, {"mad.hi." #s, madhi_##s}, {"div." #s, div_##s}, {"rem." #s, rem_##s}, \
	{"min." #s, min_##s}, {"max." #s, max_##s}, {"sad." #s, sad_##s}, {"shr." #s, shr_##s}, \
	{"setp.lt." #s, lt_##s}, {"setp.le." #s, le_##s}, {"setp.gt." #s, gt_##s}, {"setp.ge." #s, ge_##s}, \
	{"setp.eq." #s, eq_##s}, {"setp.ne." #s, ne_##s}

static uint64_t slow_bfe(const uint64_t *x, int width, bool is_signed)
{
	uint64_t pos = width == 32 ? x[1] & 255 : (uint32_t)x[1], len = width == 32 ? x[2] & 255 : (uint32_t)x[2], r = 0;
	uint64_t last = pos + len - 1 < (uint64_t)width - 1 ? pos + len - 1 : (uint64_t)width - 1;
	uint64_t fill = is_signed && len ? x[0] >> last & 1 : 0;
	for (uint64_t k = 0; k < (uint64_t)width; k++)
		r |= (k < len && pos + k < (uint64_t)width ? x[0] >> (pos + k) & 1 : fill) << k;
	return r;
}
static uint64_t slow_prmt(const uint64_t *x)
{
	uint64_t bytes = (x[1] & 0xffffffff) << 32 | (x[0] & 0xffffffff), r = 0;
	for (int k = 0; k < 4; k++) {
		uint64_t sel = x[2] >> 4 * k & 15, byte = bytes >> 8 * (sel & 7) & 255;
		r |= (sel & 8 ? (byte & 128 ? 255ull : 0) : byte) << 8 * k;
	}
	return r;
}
static uint64_t slow_count(uint64_t v, int width)
{
	uint64_t n = 0;
	for (int k = 0; k < width; k++)
		n += v >> k & 1;
	return n;
}
static uint64_t slow_clz(uint64_t v, int width)
{
	int n = 0;
	while (n < width && !(v >> (width - 1 - n) & 1))
		n++;
	return (uint64_t)n;
}
static uint64_t slow_brev(uint64_t v, int width)
{
	uint64_t r = 0;
	for (int k = 0; k < width; k++)
		r |= (v >> k & 1) << (width - 1 - k);
	return r;
}
static uint64_t slow_lop3(const uint64_t *x, unsigned table)
{
	uint64_t r = 0;
	for (int k = 0; k < 32; k++)
		r |= (uint64_t)(table >> ((x[0] >> k & 1) << 2 | (x[1] >> k & 1) << 1 | (x[2] >> k & 1)) & 1) << k;
	return r;
}
static uint64_t slow_dp4a(const uint64_t *x)
{
	int64_t r = (int32_t)x[2];
	for (int k = 0; k < 4; k++)
		r += (int8_t)(x[0] >> 8 * k) * (uint8_t)(x[1] >> 8 * k);
	return (uint32_t)r;
}
REF(bfe_u32, slow_bfe(x, 32, false))
REF(bfe_s32, slow_bfe(x, 32, true))
REF(bfe_u64, slow_bfe(x, 64, false))
REF(bfe_s64, slow_bfe(x, 64, true))
REF(popc32_ref, slow_count(x[0], 32))
REF(popc64_ref, slow_count(x[0], 64))
REF(clz32_ref, slow_clz(x[0], 32))
REF(clz64_ref, slow_clz(x[0], 64))
REF(brev32_ref, slow_brev(x[0], 32))
REF(brev64_ref, slow_brev(x[0], 64))
REF(lop3_96, slow_lop3(x, 0x96))
REF(lop3_ca, slow_lop3(x, 0xca))
REF(lop3_1b, slow_lop3(x, 0x1b))
REF(shl32, (uint32_t)((uint32_t)x[1] > 31 ? 0 : x[0] << (uint32_t)x[1]))
REF(shl64, (uint32_t)x[1] > 63 ? 0 : x[0] << (uint32_t)x[1])
REF(wide_s32, (uint64_t)((int64_t)(int32_t)x[0] * (int32_t)x[1]))
REF(wide_u32, (uint64_t)(uint32_t)x[0] * (uint32_t)x[1])
REF(selp32, (uint32_t)(x[2] & 1 ? x[0] : x[1]))
REF(pack32, (x[1] & 0xffffffff) << 32 | (x[0] & 0xffffffff))
REF(shf_l, (uint32_t)((((x[1] & 0xffffffff) << 32 | (x[0] & 0xffffffff)) << (x[2] & 31)) >> 32))
REF(sext32, (uint64_t)(int64_t)(int32_t)x[0])
REF(sext8, (uint32_t)(int8_t)x[0])
REF(add_sat, (uint32_t)((int64_t)(int32_t)x[0] + (int32_t)x[1] > INT32_MAX   ? INT32_MAX
                        : (int64_t)(int32_t)x[0] + (int32_t)x[1] < INT32_MIN ? INT32_MIN
                                                                             : (int64_t)(int32_t)x[0] + (int32_t)x[1]))

/* ---- references: floats, by the processor's own scalar instructions in the wanted rounding mode ---- */
static double f64_of(uint64_t v)
{
	double d;
	memcpy(&d, &v, sizeof d);
	return d;
}
static uint64_t bits32(volatile float v)
{
	float f = v;
	return f != f ? 0x7fffffff : bits_of_float(f);
}
/* -1 stands for any NaN: which one is tests/arith's business */
static uint64_t bits64(volatile double v)
{
	double d = v;
	uint64_t u;
	memcpy(&u, &d, sizeof u);
	return d != d ? UINT64_MAX : u;
}
#define FLOAT_REF(name, MODE, T, FROM, BITS_OF, EXPR) \
	static uint64_t name(const uint64_t *x) \
	{ \
		volatile T a = FROM(x[0]), b = FROM(x[1]), c = FROM(x[2]), r; \
		(void)b, (void)c; \
		fesetround(MODE); \
		r = EXPR; \
		fesetround(FE_TONEAREST); \
		return BITS_OF(r); \
	}
#define FLOAT_REFS(rnd, MODE) \
	FLOAT_REF(add32_##rnd, MODE, float, float_of_bits, bits32, a + b) \
	FLOAT_REF(sub32_##rnd, MODE, float, float_of_bits, bits32, a - b) \
	FLOAT_REF(mul32_##rnd, MODE, float, float_of_bits, bits32, a *b) \
	FLOAT_REF(div32_##rnd, MODE, float, float_of_bits, bits32, a / b) \
	FLOAT_REF(fma32_##rnd, MODE, float, float_of_bits, bits32, fmaf(a, b, c)) \
	FLOAT_REF(sqrt32_##rnd, MODE, float, float_of_bits, bits32, sqrtf(a)) \
	FLOAT_REF(rcp32_##rnd, MODE, float, float_of_bits, bits32, 1.0f / a) \
	FLOAT_REF(add64_##rnd, MODE, double, f64_of, bits64, a + b) \
	FLOAT_REF(sub64_##rnd, MODE, double, f64_of, bits64, a - b) \
	FLOAT_REF(mul64_##rnd, MODE, double, f64_of, bits64, a *b) \
	FLOAT_REF(div64_##rnd, MODE, double, f64_of, bits64, a / b) \
	FLOAT_REF(fma64_##rnd, MODE, double, f64_of, bits64, fma(a, b, c)) \
	FLOAT_REF(sqrt64_##rnd, MODE, double, f64_of, bits64, sqrt(a)) \
	FLOAT_REF(rcp64_##rnd, MODE, double, f64_of, bits64, 1.0 / a) \
	FLOAT_REF(narrow_##rnd, MODE, double, f64_of, bits32, (float)a)
FLOAT_REFS(rn, FE_TONEAREST)
FLOAT_REFS(rz, FE_TOWARDZERO)
FLOAT_REFS(rm, FE_DOWNWARD)
FLOAT_REFS(rp, FE_UPWARD)
#define FLOAT_TABLE(rnd) \
	{"add." #rnd ".f32", add32_##rnd}, {"sub." #rnd ".f32", sub32_##rnd}, {"mul." #rnd ".f32", mul32_##rnd}, \
	{"div." #rnd ".f32", div32_##rnd}, {"fma." #rnd ".f32", fma32_##rnd}, {"sqrt." #rnd ".f32", sqrt32_##rnd}, \
	{"rcp." #rnd ".f32", rcp32_##rnd}, {"add." #rnd ".f64", add64_##rnd}, {"sub." #rnd ".f64", sub64_##rnd}, \
	{"mul." #rnd ".f64", mul64_##rnd}, {"div." #rnd ".f64", div64_##rnd}, {"fma." #rnd ".f64", fma64_##rnd}, \
	{"sqrt." #rnd ".f64", sqrt64_##rnd}, {"rcp." #rnd ".f64", rcp64_##rnd}, {"cvt." #rnd ".f32.f64", narrow_##rnd}

/* ---- references: conversions with integers ---- */
static uint64_t to_int(long double v, int mode, long double lo, long double hi, uint64_t nan)
{
	if (v != v)
		return nan;
	fesetround(mode);
	v = nearbyintl(v);
	fesetround(FE_TONEAREST);
	v = v < lo ? lo : v > hi ? hi : v;
	return v < 0 ? 0 - (uint64_t)-v : (uint64_t)v;
}
static uint64_t from_int(long double v, int mode, bool to64)
{
	volatile long double in = v;
	volatile double d;
	volatile float f;
	fesetround(mode);
	d = (double)in;
	f = (float)in;
	fesetround(FE_TONEAREST);
	return to64 ? bits64(d) : bits32(f);
}
#define CVT_REFS(r, MODE) \
	REF(f32_s32_##r, (uint32_t)to_int(float_of_bits(x[0]), MODE, -0x1p31L, 0x1p31L - 1, 0)) \
	REF(f32_u32_##r, (uint32_t)to_int(float_of_bits(x[0]), MODE, 0, 0x1p32L - 1, 0)) \
	REF(f32_s64_##r, to_int(float_of_bits(x[0]), MODE, -0x1p63L, 0x1p63L - 1, 1ull << 63)) \
	REF(f32_u64_##r, to_int(float_of_bits(x[0]), MODE, 0, 0x1p64L - 1, 1ull << 63)) \
	REF(f64_s32_##r, (uint32_t)to_int(f64_of(x[0]), MODE, -0x1p31L, 0x1p31L - 1, 0x80000000)) \
	REF(f64_u32_##r, (uint32_t)to_int(f64_of(x[0]), MODE, 0, 0x1p32L - 1, 0x80000000)) \
	REF(f64_s64_##r, to_int(f64_of(x[0]), MODE, -0x1p63L, 0x1p63L - 1, 1ull << 63)) \
	REF(f64_u64_##r, to_int(f64_of(x[0]), MODE, 0, 0x1p64L - 1, 1ull << 63)) \
	REF(s32_f32_##r, from_int((int32_t)x[0], MODE, false)) \
	REF(u32_f32_##r, from_int((uint32_t)x[0], MODE, false)) \
	REF(s64_f32_##r, from_int((int64_t)x[0], MODE, false)) \
	REF(u64_f32_##r, from_int(x[0], MODE, false)) \
	REF(s16_f32_##r, from_int((int16_t)x[0], MODE, false)) \
	REF(s64_f64_##r, from_int((int64_t)x[0], MODE, true)) \
	REF(u64_f64_##r, from_int(x[0], MODE, true))
CVT_REFS(rn, FE_TONEAREST)
CVT_REFS(rz, FE_TOWARDZERO)
CVT_REFS(rm, FE_DOWNWARD)
CVT_REFS(rp, FE_UPWARD)
#define CVT_TABLE(r) \
	{"cvt." #r "i.s32.f32", f32_s32_##r}, {"cvt." #r "i.u32.f32", f32_u32_##r}, {"cvt." #r "i.s64.f32", f32_s64_##r}, \
	{"cvt." #r "i.u64.f32", f32_u64_##r}, {"cvt." #r "i.s32.f64", f64_s32_##r}, {"cvt." #r "i.u32.f64", f64_u32_##r}, \
	{"cvt." #r "i.s64.f64", f64_s64_##r}, {"cvt." #r "i.u64.f64", f64_u64_##r}, {"cvt." #r ".f32.s32", s32_f32_##r}, \
	{"cvt." #r ".f32.u32", u32_f32_##r}, {"cvt." #r ".f32.s64", s64_f32_##r}, {"cvt." #r ".f32.u64", u64_f32_##r}, \
	{"cvt." #r ".f32.s16", s16_f32_##r}, {"cvt." #r ".f64.s64", s64_f64_##r}, {"cvt." #r ".f64.u64", u64_f64_##r}

/* ---- references: halves, by looking for the nearest of all ---- */
static long double half_value(uint64_t h, bool bf16)
{
	int mbits = bf16 ? 7 : 10, emax = bf16 ? 255 : 31, bias = bf16 ? 127 : 15;
	int e = (int)(h >> mbits & (uint64_t)emax), m = (int)(h & ((1u << mbits) - 1));
	if (e == emax)
		return m ? NAN : h & 0x8000 ? -HUGE_VALL : HUGE_VALL;
	long double v = ldexpl(e ? m + (1 << mbits) : m, (e ? e : 1) - bias - mbits);
	return h & 0x8000 ? -v : v;
}
/* v is exact; the midpoint between two halves is, too */
static uint64_t nearest_half(long double v, bool bf16)
{
	uint64_t inf = bf16 ? 0x7f80 : 0x7c00, lo = 0, hi = inf, sign = signbit(v) ? 0x8000 : 0;
	if (v != v)
		return 0x7fff;
	v = fabsl(v);
	while (hi - lo > 1) {
		uint64_t mid = (lo + hi) / 2;
		*(half_value(mid, bf16) <= v ? &lo : &hi) = mid;
	}
	long double above = hi == inf ? half_value(inf - 1, bf16) * 2 - half_value(inf - 2, bf16) : half_value(hi, bf16);
	long double edge = (half_value(lo, bf16) + above) / 2;
	return sign | (v > edge || (v == edge && (lo & 1)) ? hi : lo);
}
#define H(k) half_value(x[k] & 0xffff, false)
#define B(k) half_value(x[k] & 0xffff, true)
REF(add_h, nearest_half(H(0) + H(1), false))
REF(mul_h, nearest_half(H(0) * H(1), false))
REF(fma_h, nearest_half(H(0) * H(1) + H(2), false))  /* at most 64 bits apart in what matters: exact enough */
REF(mul_b, nearest_half(B(0) * B(1), true))
REF(f32_h, nearest_half(float_of_bits(x[0]), false))
REF(f32_b, nearest_half(float_of_bits(x[0]), true))
REF(f64_h, f64_of(x[0]) != f64_of(x[0]) ? UINT64_MAX : nearest_half(f64_of(x[0]), false))
REF(h_f32, bits32((float)H(0)))

static const struct reference references[] = {
	INT_TABLE(u16), INT_TABLE(s16), INT_TABLE(u32), INT_TABLE(s32), INT_TABLE(u64), INT_TABLE(s64),
	FLOAT_TABLE(rn), FLOAT_TABLE(rz), FLOAT_TABLE(rm), FLOAT_TABLE(rp), CVT_TABLE(rn), CVT_TABLE(rz), CVT_TABLE(rm),
	CVT_TABLE(rp), {"bfe.u32", bfe_u32}, {"bfe.s32", bfe_s32}, {"bfe.u64", bfe_u64}, {"bfe.s64", bfe_s64},
	{"prmt.b32", slow_prmt}, {"popc.b32", popc32_ref}, {"popc.b64", popc64_ref}, {"clz.b32", clz32_ref},
	{"clz.b64", clz64_ref}, {"brev.b32", brev32_ref}, {"brev.b64", brev64_ref}, {"lop3.b32 0x96", lop3_96},
	{"lop3.b32 0xca", lop3_ca}, {"lop3.b32 0x1b", lop3_1b}, {"shl.b32", shl32}, {"shl.b64", shl64},
	{"mul.wide.s32", wide_s32}, {"mul.wide.u32", wide_u32}, {"selp.b32", selp32}, {"mov.b64 pack", pack32},
	{"shf.l.wrap.b32", shf_l}, {"cvt.s64.s32", sext32}, {"cvt.s32.s8", sext8}, {"add.sat.s32", add_sat},
	{"dp4a.s32.u32", slow_dp4a}, {"add.rn.f16", add_h}, {"mul.rn.f16", mul_h}, {"fma.rn.f16", fma_h},
	{"mul.rn.bf16", mul_b}, {"cvt.rn.f16.f32", f32_h}, {"cvt.rn.bf16.f32", f32_b}, {"cvt.rn.f16.f64", f64_h},
	{"cvt.f32.f16", h_f32},
};

static size_t find_form(const char *name)
{
	for (size_t k = 0; k < count; k++)
		if (!strcmp(form[k].name, name))
			return k;
	fail_msg("no form %s", name);
	return 0;
}

static bool is_nan64(uint64_t v) { return (v << 1) > 0xffe0000000000000; }

/* UINT64_MAX as a 64-bit float, or as a half from one: any NaN. */
static bool agrees(char kind, uint64_t got, uint64_t want)
{
	if (want == UINT64_MAX && (kind == 'g' || kind == 'h'))
		return kind == 'g' ? is_nan64(got) : (got & 0x7fff) > 0x7c00;
	return got == want;
}

static void compare_with(const struct reference *ref)
{
	size_t k = find_form(ref->name);
	struct program p;
	uint64_t out[WS_WARP][2], x[ARITH_SOURCES];
	assert_true(prepare(module->funcs[k], &p));
	for (unsigned r = 0; r < ARITH_ROWS; r++) {
		if (r % WS_WARP == 0)
			run_rows(&p, &form[k], r, UINT32_MAX, out);
		arith_row(form[k].src, r, x);
		uint64_t want = ref->fn(x), got = out[r % WS_WARP][0];
		bool nan32 = strstr(ref->name, "f32.f64") && want == 0x7fffffff && (got & 0x7fffffff) > 0x7f800000;
		if (!nan32 && !agrees(form[k].dst[0], got, want))
			fail_msg("%s row %u (%llx %llx %llx): %llx, not %llx", ref->name, r, (unsigned long long)x[0],
			         (unsigned long long)x[1], (unsigned long long)x[2], (unsigned long long)got,
			         (unsigned long long)want);
	}
}

static void results_are_those_of_the_references(void **state)
{
	(void)state;
	for (size_t k = 0; k < WS_COUNT(references); k++)
		compare_with(&references[k]);
}

/* ---- masks ---- */
static void fill(const struct ws_ptx_func *f, uint8_t byte)
{
	memset(regs, byte, (size_t)f->nregs * REG_BYTES);
	memset(regs + MAX_REGS * REG_BYTES, 0, REG_BYTES);
}

static void lanes_outside_of_the_mask_stay(void **state)
{
	(void)state;
	for (size_t k = 0; k < count; k++) {
		struct program p;
		uint64_t all[WS_WARP][2] = {{0}}, some[WS_WARP][2] = {{0}};
		unsigned row = (unsigned)(random64() % (ARITH_ROWS / WS_WARP)) * WS_WARP;
		uint32_t mask = k % 5 ? (uint32_t)random64() : 1u << k % 32;
		if (!prepare(module->funcs[k], &p))
			fail_msg("%s is refused", form[k].name);
		fill(module->funcs[k], 0);
		run_rows(&p, &form[k], row, UINT32_MAX, all);
		fill(module->funcs[k], 0xa5);
		run_rows(&p, &form[k], row, mask, some);
		for (unsigned l = 0; l < WS_WARP; l++)
			for (unsigned d = 0; form[k].dst[d]; d++)
				if (some[l][d] != (mask >> l & 1 ? all[l][d] : 0xa5a5a5a5a5a5a5a5))
					fail_msg("%s, mask %x: lane %u has %llx", form[k].name, mask, l, (unsigned long long)some[l][d]);
	}
}

/* ---- a source may be the destination ---- */
static void move_offset(struct ws_lane_op *op, uint32_t from, uint32_t to)
{
	uint32_t *const field[] = {&op->d, &op->d2, &op->a, &op->b, &op->c, &op->e, &op->f, &op->g};
	for (unsigned k = 0; k < WS_COUNT(field); k++)
		if (*field[k] == from)
			*field[k] = to;
}

/* ---- forms that only later GPUs have: no results of one to compare with ---- */
static float min3(float a, float b, float c, bool max, bool nan)
{
	float v[3] = {a, b, c}, r = NAN;
	for (int k = 0; k < 3; k++) {
		if (v[k] != v[k] && nan)
			return NAN;
		bool first = r != r || (max ? v[k] > r : v[k] < r) || (v[k] == r && !signbit(v[k]) == max);
		r = v[k] == v[k] && first ? v[k] : r;
	}
	return r;
}
static uint64_t both(ref_fn *fn, const uint64_t *x)
{
	uint64_t lo[3], hi[3];
	for (int k = 0; k < 3; k++) {
		lo[k] = x[k] & 0xffffffff;
		hi[k] = x[k] >> 32;
	}
	return fn(hi) << 32 | fn(lo);
}
#define F(k) float_of_bits(x[k])
REF(add_x2, both(add32_rn, x))
REF(sub_x2, both(sub32_rm, x))
REF(mul_x2, both(mul32_rp, x))
REF(fma_x2, both(fma32_rz, x))
REF(min_3, bits32(min3(F(0), F(1), F(2), false, false)))
REF(max_3, bits32(min3(F(0), F(1), F(2), true, false)))
REF(max_3_nan, bits32(min3(F(0), F(1), F(2), true, true)))
REF(add_mixed, bits32((float)H(0) + F(1)))
REF(sub_mixed, bits32((float)B(0) - F(1)))
REF(fma_mixed, bits32(fmaf((float)H(0), (float)H(1), F(2))))

static const struct later {
	struct arith_form form;
	ref_fn *fn;
	unsigned half;           /* mixed precision, which the parser does not take: the halves' type is put in here */
} later[] = {
	{{"add.rn.f32x2", "l", "ll", "add.rn.f32x2 $d, $a, $b;", 0}, add_x2, 0},
	{{"sub.rm.f32x2", "l", "ll", "sub.rm.f32x2 $d, $a, $b;", 0}, sub_x2, 0},
	{{"mul.rp.f32x2", "l", "ll", "mul.rp.f32x2 $d, $a, $b;", 0}, mul_x2, 0},
	{{"fma.rz.f32x2", "l", "lll", "fma.rz.f32x2 $d, $a, $b, $c;", 0}, fma_x2, 0},
	{{"min.f32", "f", "fff", "min.f32 $d, $a, $b, $c;", 0}, min_3, 0},
	{{"max.f32", "f", "fff", "max.f32 $d, $a, $b, $c;", 0}, max_3, 0},
	{{"max.NaN.f32", "f", "fff", "max.NaN.f32 $d, $a, $b, $c;", 0}, max_3_nan, 0},
	{{"add.f32.f16", "f", "hf", "add.rn.f32 $d, $b, $b;", 0}, add_mixed, WS_F16},
	{{"sub.f32.bf16", "f", "bf", "sub.rn.f32 $d, $b, $b;", 0}, sub_mixed, WS_BF16},
	{{"fma.f32.f16", "f", "hhf", "fma.rn.f32 $d, $c, $c, $c;", 0}, fma_mixed, WS_F16},
};

/* add.f32 d, c, c becomes add.f32.f16 d, a, c */
static void make_mixed(struct ws_ptx_func *f, unsigned half)
{
	static const char *const names[] = {"%a", "%b"};
	for (uint32_t k = 0; k < f->ninsts; k++) {
		struct ws_ptx_inst *i = &f->insts[k];
		if (i->type[0] != WS_F32 || i->ntypes != 1)
			continue;
		i->ntypes = 2;
		i->type[1] = (uint8_t)half;
		for (uint32_t r = 0; r < f->nregs; r++)
			for (unsigned n = 0; n + 2u < i->nops; n++)
				if (!strcmp(f->regs[r]->name, names[n]))
					i->ops[n + 1].reg = f->regs[r];
	}
}

static void forms_of_later_gpus(void **state)
{
	(void)state;
	struct ws_buf ptx = {0}, errors = {0};
	struct ws_sink sink = {ws_sink_to_buf, &errors};
	ws_buf_puts(&ptx, ".version 9.0\n.target sm_100\n.address_size 64\n");
	for (size_t k = 0; k < WS_COUNT(later); k++)
		kernel(&ptx, &later[k].form, k);
	struct ws_ptx_module *m = ws_ptx_parse("later.ptx", ptx.data, ptx.len, NULL, &sink);
	if (!m)
		fail_msg("%s", errors.data);
	for (size_t k = 0; k < WS_COUNT(later); k++) {
		struct program p;
		uint64_t out[WS_WARP][2], x[ARITH_SOURCES];
		if (later[k].half)
			make_mixed(m->funcs[k], later[k].half);
		assert_true(prepare(m->funcs[k], &p));
		for (unsigned r = 0; r < ARITH_ROWS; r++) {
			if (r % WS_WARP == 0)
				run_rows(&p, &later[k].form, r, UINT32_MAX, out);
			arith_row(later[k].form.src, r, x);
			if (out[r % WS_WARP][0] != later[k].fn(x))
				fail_msg("%s row %u: %llx, not %llx", later[k].form.name, r, (unsigned long long)out[r % WS_WARP][0],
				         (unsigned long long)later[k].fn(x));
		}
	}
	ws_ptx_free(m);
	ws_buf_free(&ptx);
}

static uint32_t offset_of(const struct ws_ptx_func *f, const char *name)
{
	for (uint32_t k = 0; k < f->nregs; k++)
		if (!strcmp(f->regs[k]->name, name))
			return f->regs[k]->index * REG_BYTES;
	fail_msg("no register %s", name);
	return 0;
}

static void destination_may_be_a_source(void **state)
{
	(void)state;
	static const char *const names[] = {"%a", "%b", "%c", "%e"};
	for (size_t k = 0; k < count; k++) {
		const char *end = strchr(form[k].body, ';');
		if (!end || end[1] || strchr(form[k].body, '{'))
			continue;
		for (unsigned s = 0; form[k].src[s]; s++) {
			struct program p;
			uint64_t want[WS_WARP][2] = {{0}}, got[WS_WARP][2] = {{0}};
			if (arith_bits(form[k].src[s]) != arith_bits(form[k].dst[0]))
				continue;
			assert_true(prepare(module->funcs[k], &p));
			run_rows(&p, &form[k], 640, UINT32_MAX, want);
			uint32_t from = offset_of(module->funcs[k], "%d"), to = offset_of(module->funcs[k], names[s]);
			for (unsigned n = 0; n < p.nsteps; n++)
				if (p.steps[n].kind == LANE)
					move_offset(&p.steps[n].op, from, to);
			run_rows(&p, &form[k], 640, UINT32_MAX, got);
			if (memcmp(want, got, sizeof want))
				fail_msg("%s with %s as destination", form[k].name, names[s]);
		}
	}
}

/* ---- instruction sets ---- */
static uint64_t hash_of_all_results(void)
{
	uint64_t hash = 0;
	for (size_t k = 0; k < count; k++) {
		struct program p;
		uint64_t out[WS_WARP][2];
		if (!prepare(module->funcs[k], &p))
			return 0;
		for (unsigned r = 0; r < ARITH_ROWS; r += WS_WARP) {
			memset(out, 0, sizeof out);
			run_rows(&p, &form[k], r, UINT32_MAX, out);
			hash = mix(hash ^ ws_hash(out, sizeof out));
		}
	}
	return hash;
}

static void instruction_sets_agree(void **state)
{
	(void)state;
	static const char *const sets[] = {"base", "v3", "v4"};
	uint64_t first = hash_of_all_results();
	assert_int_not_equal(first, 0);
	for (unsigned k = 0; k < WS_COUNT(sets); k++) {
		char self[900], line[1000];
		unsigned long long hash = 0;
		ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
		assert_true(n > 0);
		self[n] = 0;
		snprintf(line, sizeof line, "WARPSAFE_ISA=%s '%s' --hash", sets[k], self);
		FILE *f = popen(line, "r");
		assert_non_null(f);
		assert_int_equal(fscanf(f, "%llx", &hash), 1);
		pclose(f);
		if (hash != first)
			fail_msg("%s and %s give different results", sets[k], ws_lanes_isa());
	}
}

/* ---- what is no instruction is refused, or at least does no harm ---- */
static void mutate(struct ws_ptx_inst *i)
{
	uint64_t r = random64();
	switch (r % 8) {
	case 0:
		i->type[r >> 8 & 1] = (uint8_t)((r >> 16) % WS_T_COUNT);
		break;
	case 1:
		i->op = (uint16_t)((r >> 8) % WS_OP_COUNT);
		break;
	case 2:
		i->nops = (uint8_t)((r >> 8) % (i->nops + 1u));
		break;
	case 3:
		i->flags ^= 1u << (r >> 8 & 15);
		break;
	case 4:
		i->cmp = (uint8_t)((r >> 8) % (WS_NAN + 1));
		break;
	case 5:
		i->rnd = (uint8_t)((r >> 8) % (WS_RPI + 1));
		break;
	case 6:
		i->part = (uint8_t)((r >> 8) % 4);
		break;
	default:
		i->boolop = (uint8_t)((r >> 8) % 4);
	}
}

static void mutants_do_no_harm(void **state)
{
	(void)state;
	unsigned taken = 0, refused = 0;
	for (unsigned n = 0; n < 60000; n++) {
		const struct ws_ptx_func *f = module->funcs[random64() % count];
		struct ws_ptx_inst i = f->insts[random64() % f->ninsts];
		unsigned width[WS_LANE_OPERANDS];
		struct ws_lane_op op;
		const char *why;
		for (unsigned k = 0; k <= n % 3; k++)
			mutate(&i);
		if (i.op == WS_OP_ld || i.op == WS_OP_st || !ws_lanes_decode(&i, &op, width, &why)) {
			refused++;
			continue;
		}
		taken++;
		struct program p = {.next = f->nregs};
		if (lane_step(&p, &i))
			p.steps[0].op.fn(&p.steps[0].op, regs, (uint32_t)random64());
	}
	assert_true(taken > 1000 && refused > 1000);
}

static void widths_must_fit(void **state)
{
	(void)state;
	const struct ws_ptx_func *f = module->funcs[find_form("add.s32")];
	unsigned width[WS_LANE_OPERANDS];
	struct ws_lane_op op;
	const char *why = NULL;
	for (uint32_t k = 0; k < f->ninsts; k++) {
		struct ws_ptx_inst i = f->insts[k];
		if (i.op != WS_OP_add || i.type[0] != WS_S32)
			continue;
		assert_true(ws_lanes_decode(&i, &op, width, &why));
		assert_int_equal(width[0], 4);
		i.type[0] = WS_U64;
		assert_false(ws_lanes_decode(&i, &op, width, &why));
		assert_non_null(why);
		return;
	}
	fail_msg("no add.s32");
}

static void immediates_take_their_width(void **state)
{
	(void)state;
	struct ws_operand one = {.kind = WS_O_FLOAT, .imm = 0x3ff0000000000000}, half = {.kind = WS_O_FLOAT32, .imm = 0x3f000000};
	struct ws_operand minus = {.kind = WS_O_INT, .imm = UINT64_MAX};
	assert_true(ws_lanes_immediate(NULL, &one, 4) == 0x3f800000);
	assert_true(ws_lanes_immediate(NULL, &one, 8) == 0x3ff0000000000000);
	assert_true(ws_lanes_immediate(NULL, &half, 4) == 0x3f000000);
	assert_true(ws_lanes_immediate(NULL, &half, 8) == 0x3fe0000000000000);
	assert_true(ws_lanes_immediate(NULL, &minus, 2) == 0xffff);
	assert_true(ws_lanes_immediate(NULL, &minus, 4) == 0xffffffff);
	assert_true(ws_lanes_immediate(NULL, &minus, 0) == 1);
}

static void rounding_of_the_program_does_not_matter(void **state)
{
	(void)state;
	volatile double one = 1.0, three = 3.0, inside, outside;
	fesetround(FE_UPWARD);
	unsigned saved = ws_lanes_fp_enter();
	inside = one / three;
	ws_lanes_fp_leave(saved);
	outside = one / three;
	fesetround(FE_TONEAREST);
	assert_true(inside == 1.0 / 3.0);
	assert_true(outside > 1.0 / 3.0);
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "--hash")) {
		if (setup(NULL))
			return 1;
		printf("%llx\n", (unsigned long long)hash_of_all_results());
		return 0;
	}
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(results_are_those_of_the_references),
		cmocka_unit_test(forms_of_later_gpus),
		cmocka_unit_test(lanes_outside_of_the_mask_stay),
		cmocka_unit_test(destination_may_be_a_source),
		cmocka_unit_test(instruction_sets_agree),
		cmocka_unit_test(mutants_do_no_harm),
		cmocka_unit_test(widths_must_fit),
		cmocka_unit_test(immediates_take_their_width),
		cmocka_unit_test(rounding_of_the_program_does_not_matter),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}

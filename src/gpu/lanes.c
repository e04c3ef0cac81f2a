/* lanes.c - which function executes an instruction on 32 lanes: from opcode, types and modifiers to an entry of the
 * tables in lanes_*.simd.c, of the instruction set that this machine has. No arithmetic here. */
#include "gpu/lanes_priv.h"

#include <stdlib.h>
#include <string.h>

/* ---- instruction sets ---- */
struct isa {
	const char *name;
	ws_lane_fn *const *tables[WS_CH_COUNT];
};
#define ISA(n) \
	{ \
		#n, { \
			ws_lanes_int_##n, ws_lanes_logic_##n, ws_lanes_cmp_##n, ws_lanes_float_##n, \
			        ws_lanes_approx_##n, ws_lanes_half_##n, ws_lanes_cvt_##n, ws_lanes_video_##n \
		} \
	}
static const struct isa isas[] = {
	ISA(base),
#if defined __x86_64__ && !defined WS_ONE_ISA
	ISA(v3),
	ISA(v4),
#endif
};

static unsigned best_isa(void)
{
#if defined __x86_64__ && !defined WS_ONE_ISA
	__builtin_cpu_init();
	if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") || !__builtin_cpu_supports("bmi2"))
		return 0;
	if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
	    __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
	    __builtin_cpu_supports("avx512cd"))
		return 2;
	return 1;
#else
	return 0;
#endif
}

static const struct isa *isa(void)
{
	static const struct isa *chosen;
	const struct isa *is = __atomic_load_n(&chosen, __ATOMIC_RELAXED);
	if (is)
		return is;
	unsigned best = best_isa();
	const char *want = getenv("WARPSAFE_ISA");
	is = &isas[best];
	for (unsigned k = 0; want && k <= best; k++)
		if (!strcmp(isas[k].name, want))
			is = &isas[k];
	__atomic_store_n(&chosen, is, __ATOMIC_RELAXED);
	return is;
}

const char *ws_lanes_isa(void) { return isa()->name; }

/* ---- floating-point environment ---- */
#if defined __x86_64__
unsigned ws_lanes_fp_enter(void)
{
	unsigned old = __builtin_ia32_stmxcsr();
	__builtin_ia32_ldmxcsr(0x1f80);  /* all exceptions masked, to nearest, nothing flushed */
	return old;
}
void ws_lanes_fp_leave(unsigned saved) { __builtin_ia32_ldmxcsr(saved); }
#else
#include <fenv.h>
unsigned ws_lanes_fp_enter(void)
{
	unsigned old = (unsigned)fegetround();
	fesetround(FE_TONEAREST);
	return old;
}
void ws_lanes_fp_leave(unsigned saved) { fesetround((int)saved); }
#endif

/* ---- operands ---- */
static const struct ws_operand *vector_of(const struct ws_ptx_inst *i, unsigned which)
{
	if (i->op != WS_OP_mov || i->nops != 2 || i->ops[which].kind != WS_O_VEC)
		return NULL;
	return &i->ops[which];
}

const struct ws_operand *ws_lanes_operand(const struct ws_ptx_inst *i, unsigned k)
{
	const struct ws_operand *v = vector_of(i, 0);
	unsigned first = v ? v->sreg_or_count : 1;
	if (!v && !vector_of(i, 1))
		return k < i->nops ? &i->ops[k] : NULL;
	if (k < first)
		return v ? &v->elems[k] : &i->ops[0];
	k -= first;
	v = vector_of(i, 1);
	if (v)
		return k < v->sreg_or_count ? &v->elems[k] : NULL;
	return k == 0 ? &i->ops[1] : NULL;
}

/* lop3's table is no register */
static unsigned table_operand(const struct ws_ptx_inst *i)
{
	return i->op == WS_OP_lop3 ? 4u + (i->nops == 7) : UINT32_MAX;
}

static unsigned destinations(const struct ws_ptx_inst *i)
{
	if (vector_of(i, 0))
		return i->ops[0].sreg_or_count;
	if (i->op == WS_OP_setp)
		return i->nops == (i->boolop ? 5 : 4) ? 2 : 1;
	return i->op == WS_OP_lop3 && i->nops == 7 ? 2 : 1;
}

uint32_t *ws_lanes_slot(struct ws_lane_op *op, const struct ws_ptx_inst *i, unsigned k)
{
	uint32_t *const dst[] = {&op->d, &op->d2, &op->f, &op->g};
	uint32_t *const src[] = {&op->a, &op->b, &op->c, &op->e, &op->f, &op->g};
	unsigned n = destinations(i), table = table_operand(i);
	if (!ws_lanes_operand(i, k) || k == table)
		return NULL;
	if (k < n)
		return k < WS_COUNT(dst) ? dst[k] : NULL;
	k -= n + (k > table);
	return k < WS_COUNT(src) ? src[k] : NULL;
}

static uint64_t float_bits(double x)
{
	float f = (float)x;
	uint32_t u;
	memcpy(&u, &f, sizeof u);
	return u;
}

uint64_t ws_lanes_immediate(const struct ws_ptx_inst *inst, const struct ws_operand *o, unsigned width)
{
	uint64_t v = o->imm;
	double d;
	float f;
	uint32_t u = (uint32_t)v;
	if (width == 0)
		return v != 0;
	if (o->kind == WS_O_FLOAT && width == 4) {
		memcpy(&d, &v, sizeof d);
		v = float_bits(d);
	} else if (o->kind == WS_O_FLOAT32 && width == 8) {
		memcpy(&f, &u, sizeof f);
		d = f;
		memcpy(&v, &d, sizeof v);
	}
	return width >= 8 ? v : v & ((1ull << 8 * width) - 1);
}

/* ---- choosing ---- */
struct form {
	const struct ws_ptx_inst *i;
	struct ws_lane_op *op;
	unsigned *w;             /* width of each operand */
	const char *why;
	unsigned t;              /* first type */
};
enum { NO = -1 };

static int no(struct form *f, const char *why)
{
	f->why = why;
	return NO;
}

static unsigned type_width(unsigned t)
{
	unsigned n = ws_type_bytes((enum ws_type)t);
	return t == WS_PRED ? 0 : n == 1 ? 2 : n;
}
/* Position in a family of three widths, and of three widths unsigned, then signed. */
static int by_width(unsigned t)
{
	unsigned n = type_width(t);
	return n == 8 ? 2 : n == 4 ? 1 : 0;
}
static int by_sign(unsigned t) { return by_width(t) + (t >= WS_S8 && t <= WS_S64 ? 3 : 0); }
static bool is_int(unsigned t) { return (t >= WS_U16 && t <= WS_U64) || (t >= WS_S16 && t <= WS_S64); }
static bool is_bits(unsigned t) { return t == WS_B16 || t == WS_B32 || t == WS_B64; }
static bool is_half(unsigned t) { return t == WS_F16 || t == WS_F16X2 || t == WS_BF16 || t == WS_BF16X2; }
static bool is_x2(unsigned t) { return t == WS_F16X2 || t == WS_BF16X2; }
static bool is_s32(unsigned t) { return t == WS_S32; }

static uint32_t rounding(const struct ws_ptx_inst *i)
{
	switch (i->rnd) {
	case WS_RM:
		return WS_IMM_RM;
	case WS_RP:
		return WS_IMM_RP;
	case WS_RZ:
		return WS_IMM_RZ;
	default:
		return WS_IMM_RN;
	}
}

static uint32_t float_flags(const struct ws_ptx_inst *i)
{
	static const struct {
		uint32_t from, to;
	} map[] = {{WS_F_FTZ, WS_IMM_FTZ}, {WS_F_SAT, WS_IMM_SAT}, {WS_F_RELU, WS_IMM_RELU}, {WS_F_NAN, WS_IMM_NAN},
	           {WS_F_XORSIGN, WS_IMM_XORSIGN}, {WS_F_ABS, WS_IMM_ABS}, {WS_F_OOB, WS_IMM_OOB}};
	uint32_t r = rounding(i);
	for (unsigned k = 0; k < WS_COUNT(map); k++)
		r |= i->flags & map[k].from ? map[k].to : 0;
	return r;
}

static uint32_t half_flags(const struct ws_ptx_inst *i, unsigned t)
{
	return float_flags(i) | (t == WS_BF16 || t == WS_BF16X2 ? WS_IMM_BF16 : 0) | (is_x2(t) ? WS_IMM_X2 : 0);
}

/* base: the f32 member of a family f32, f32z, f64, f32x, f64x */
static int float_form(struct form *f, int base)
{
	uint32_t flags = float_flags(f->i);
	f->op->imm = flags;
	if (f->t == WS_F32 && !(flags & ~(uint32_t)WS_IMM_FTZ))
		return base + (flags ? 1 : 0);
	if (f->t == WS_F32)
		return base + 3;
	if (f->t == WS_F64)
		return flags ? base + 4 : base + 2;
	return no(f, "type");
}

static int arith(struct form *f, int base, int half, int x2, int mixed)
{
	if (f->i->ntypes == 2 && f->t == WS_F32) {
		unsigned s = f->i->type[1];
		if (s != WS_F16 && s != WS_BF16)
			return no(f, "type");
		f->op->imm = half_flags(f->i, s);
		f->w[1] = 2;
		if (mixed == WS_LN_fma_mixed)
			f->w[2] = 2;
		return mixed;
	}
	if (is_half(f->t)) {
		f->op->imm = half_flags(f->i, f->t);
		if (f->op->imm & (WS_IMM_RND | WS_IMM_OOB))
			return no(f, "rounding or .oob of a half-precision instruction");
		return half;
	}
	if (f->t == WS_F32X2) {
		f->op->imm = float_flags(f->i);
		return x2;
	}
	return float_form(f, base);
}

static int carry(struct form *f, int base, bool in)
{
	f->op->imm |= (in ? WS_IMM_CC_IN : 0) | (f->i->flags & WS_F_CC ? WS_IMM_CC_OUT : 0);
	if (type_width(f->t) < 4)
		return no(f, "carry of a 16-bit type");
	return base + (type_width(f->t) == 8);
}

static int decode_add(struct form *f)
{
	bool sub = f->i->op == WS_OP_sub;
	if (f->t == WS_U16X2 || f->t == WS_S16X2)
		return sub ? WS_LN_sub_x2 : WS_LN_add_x2;
	if (!is_int(f->t))
		return sub ? arith(f, WS_LN_sub_f32, WS_LN_sub_half, WS_LN_sub_f32x2, WS_LN_sub_mixed)
		           : arith(f, WS_LN_add_f32, WS_LN_add_half, WS_LN_add_f32x2, WS_LN_add_mixed);
	if (f->i->flags & WS_F_CC)
		return carry(f, sub ? WS_LN_subc_32 : WS_LN_addc_32, false);
	if (f->i->flags & WS_F_SAT)
		return !is_s32(f->t) ? no(f, ".sat") : sub ? WS_LN_sub_sat_s32 : WS_LN_add_sat_s32;
	return (sub ? WS_LN_sub_16 : WS_LN_add_16) + by_width(f->t);
}

static int decode_addc(struct form *f)
{
	return carry(f, f->i->op == WS_OP_subc ? WS_LN_subc_32 : WS_LN_addc_32, true);
}

static int wide(struct form *f, int base)
{
	if (type_width(f->t) == 8)
		return no(f, ".wide of a 64-bit type");
	unsigned d = 2 * type_width(f->t);
	f->w[0] = d;
	if (base == WS_LN_mad_wide_u16)
		f->w[3] = d;
	return base + by_width(f->t) + (by_sign(f->t) >= 3 ? 2 : 0);
}

static int decode_mul(struct form *f)
{
	if (!is_int(f->t))
		return f->t == WS_F32X2 || is_half(f->t) || f->t == WS_F32 || f->t == WS_F64
		           ? arith(f, WS_LN_mul_f32, WS_LN_mul_half, WS_LN_mul_f32x2, NO)
		           : no(f, "type");
	switch (f->i->part) {
	case WS_WIDE:
		return wide(f, WS_LN_mul_wide_u16);
	case WS_HI_HALF:
		return WS_LN_mul_hi_u16 + by_sign(f->t);
	default:
		return WS_LN_mul_lo_16 + by_width(f->t);
	}
}

static int decode_mad(struct form *f)
{
	const struct ws_ptx_inst *i = f->i;
	bool madc = i->op == WS_OP_madc;
	if (!is_int(f->t))
		return float_form(f, WS_LN_fma_f32);
	if (madc || (i->flags & WS_F_CC)) {
		f->op->imm = (i->part == WS_HI_HALF ? WS_IMM_HI : 0) | (by_sign(f->t) >= 3 ? WS_IMM_SIGNED : 0);
		return carry(f, WS_LN_madc_32, madc);
	}
	if (i->part == WS_WIDE)
		return wide(f, WS_LN_mad_wide_u16);
	if (i->flags & WS_F_SAT)
		return is_s32(f->t) && i->part == WS_HI_HALF ? (int)WS_LN_mad_hi_sat_s32 : no(f, ".sat");
	return i->part == WS_HI_HALF ? WS_LN_mad_hi_u16 + by_sign(f->t) : WS_LN_mad_lo_16 + by_width(f->t);
}

static int decode_fma(struct form *f)
{
	return arith(f, WS_LN_fma_f32, WS_LN_fma_half, WS_LN_fma_f32x2, WS_LN_fma_mixed);
}

static int decode_mul24(struct form *f)
{
	bool hi = f->i->part == WS_HI_HALF, mad = f->i->op == WS_OP_mad24;
	if (f->i->flags & WS_F_SAT)
		return hi && is_s32(f->t) ? (int)WS_LN_mad24_hi_sat_s32 : no(f, ".sat");
	return (mad ? WS_LN_mad24_lo_u32 : WS_LN_mul24_lo_u32) + 2 * hi + is_s32(f->t);
}

static int decode_div(struct form *f)
{
	if (is_int(f->t))
		return WS_LN_div_u16 + by_sign(f->t);
	f->op->imm = float_flags(f->i);
	if (f->i->flags & (WS_F_APPROX | WS_F_FULL))
		return f->t != WS_F32                ? no(f, "type")
		       : f->i->flags & WS_F_FULL ? WS_LN_div_full_f32
		                                 : WS_LN_div_approx_f32;
	return float_form(f, WS_LN_div_f32);
}

static int decode_rem(struct form *f) { return is_int(f->t) ? WS_LN_rem_u16 + by_sign(f->t) : no(f, "type"); }
static int decode_sad(struct form *f) { return is_int(f->t) ? WS_LN_sad_u16 + by_sign(f->t) : no(f, "type"); }

static int decode_root(struct form *f)
{
	const struct ws_ptx_inst *i = f->i;
	bool approx = i->flags & WS_F_APPROX, f64 = f->t == WS_F64;
	f->op->imm = float_flags(i);
	if (i->op == WS_OP_rsqrt)
		return f64 ? WS_LN_rsqrt_approx_f64 : f->t == WS_F32 ? WS_LN_rsqrt_approx_f32 : no(f, "type");
	if (i->op == WS_OP_rcp && approx)
		return f64 ? WS_LN_rcp_approx_f64 : WS_LN_rcp_approx_f32;
	if (approx)
		return f64 ? no(f, "sqrt.approx.f64") : WS_LN_sqrt_approx_f32;
	return float_form(f, i->op == WS_OP_rcp ? WS_LN_rcp_f32 : WS_LN_sqrt_f32);
}

static int decode_approx(struct form *f)
{
	enum ws_op op = f->i->op;
	if (is_half(f->t) && (op == WS_OP_ex2 || op == WS_OP_tanh)) {
		f->op->imm = half_flags(f->i, f->t);
		return op == WS_OP_ex2 ? WS_LN_ex2_half : WS_LN_tanh_half;
	}
	if (f->t != WS_F32)
		return no(f, "type");
	f->op->imm = float_flags(f->i);
	return op == WS_OP_sin   ? WS_LN_sin_f32
	       : op == WS_OP_cos ? WS_LN_cos_f32
	       : op == WS_OP_lg2 ? WS_LN_lg2_f32
	       : op == WS_OP_ex2 ? WS_LN_ex2_f32
	                         : WS_LN_tanh_f32;
}

static int minmax_float(struct form *f, bool max)
{
	uint32_t flags = float_flags(f->i);
	bool three = f->i->nops == 4;
	f->op->imm = flags | (max ? WS_IMM_MAX : 0) | (three ? WS_IMM_THREE : 0);
	if (f->t == WS_F64)
		return flags || three ? no(f, "modifier of an f64 minimum") : max ? WS_LN_max_f64 : WS_LN_min_f64;
	if (f->t != WS_F32)
		return no(f, "type");
	if (three || (flags & ~(uint32_t)WS_IMM_FTZ))
		return WS_LN_minmax_f32x;
	return (max ? WS_LN_max_f32 : WS_LN_min_f32) + (flags ? 1 : 0);
}

static int decode_minmax(struct form *f)
{
	bool max = f->i->op == WS_OP_max, relu = f->i->flags & WS_F_RELU;
	if (f->t == WS_U16X2)
		return max ? WS_LN_max_u16x2 : WS_LN_min_u16x2;
	if (f->t == WS_S16X2 && relu)
		return max ? WS_LN_max_relu_s16x2 : WS_LN_min_relu_s16x2;
	if (f->t == WS_S16X2)
		return max ? WS_LN_max_s16x2 : WS_LN_min_s16x2;
	if (is_int(f->t) && relu)
		return !is_s32(f->t) ? no(f, ".relu") : max ? WS_LN_max_relu_s32 : WS_LN_min_relu_s32;
	if (is_int(f->t))
		return (max ? WS_LN_max_u16 : WS_LN_min_u16) + by_sign(f->t);
	if (!is_half(f->t))
		return minmax_float(f, max);
	f->op->imm = half_flags(f->i, f->t) | (max ? WS_IMM_MAX : 0) | (f->i->nops == 4 ? WS_IMM_THREE : 0);
	return WS_LN_minmax_half;
}

static int decode_sign(struct form *f)
{
	bool neg = f->i->op == WS_OP_neg, ftz = f->i->flags & WS_F_FTZ;
	if (f->t == WS_S16X2 || f->t == WS_U16X2)
		return neg ? (int)WS_LN_neg_x2 : no(f, "type");
	if (is_int(f->t))
		return (neg ? WS_LN_neg_16 : WS_LN_abs_16) + by_width(f->t);
	if (is_half(f->t)) {
		f->op->imm = half_flags(f->i, f->t);
		return neg ? WS_LN_neg_half : WS_LN_abs_half;
	}
	if (f->t == WS_F64)
		return neg ? WS_LN_neg_f64 : WS_LN_abs_f64;
	return f->t == WS_F32 ? (neg ? WS_LN_neg_f32 : WS_LN_abs_f32) + ftz : no(f, "type");
}

/* Bit counts and fields: 32 or 64 bits; `to32`: the result has 32 bits whatever the source. */
static int bits32_64(struct form *f, int base, bool to32)
{
	unsigned w = type_width(f->t);
	if (w < 4)
		return no(f, "type");
	if (to32)
		f->w[0] = 4;
	return base + (w == 8);
}
static int decode_popc(struct form *f) { return bits32_64(f, WS_LN_popc_32, true); }
static int decode_clz(struct form *f) { return bits32_64(f, WS_LN_clz_32, true); }
static int decode_brev(struct form *f) { return bits32_64(f, WS_LN_brev_32, false); }
static int decode_bfind(struct form *f)
{
	f->op->imm = f->i->flags & WS_F_SHIFTAMT ? 1 : 0;
	return bits32_64(f, by_sign(f->t) >= 3 ? WS_LN_bfind_s32 : WS_LN_bfind_u32, true);
}
static int decode_bfe(struct form *f)
{
	f->w[2] = f->w[3] = 4;
	return bits32_64(f, by_sign(f->t) >= 3 ? WS_LN_bfe_s32 : WS_LN_bfe_u32, false);
}
static int decode_bfi(struct form *f)
{
	f->w[3] = f->w[4] = 4;
	return bits32_64(f, WS_LN_bfi_32, false);
}
static int decode_fns(struct form *f) { return WS_LN_fns; }
static int decode_bmsk(struct form *f)
{
	f->op->imm = (f->i->flags & WS_F_WRAP ? 1 : 0) | (is_s32(f->t) ? 2 : 0);
	return f->i->op == WS_OP_bmsk ? WS_LN_bmsk : WS_LN_szext;
}
static int decode_dot(struct form *f)
{
	const struct ws_ptx_inst *i = f->i;
	f->op->imm = (is_s32(i->type[0]) ? 1 : 0) | (is_s32(i->type[1]) ? 2 : 0) | (i->part == WS_HI_HALF ? 4 : 0);
	return i->op == WS_OP_dp4a ? WS_LN_dp4a : WS_LN_dp2a;
}

/* ---- comparison and selection ---- */
static int cmp_id(struct form *f, unsigned t)
{
	unsigned c = f->i->cmp;
	if (t == WS_F32 || t == WS_F64) {
		int base = t == WS_F64 ? WS_LN_eq_f64 : f->i->flags & WS_F_FTZ ? WS_LN_eq_f32z : WS_LN_eq_f32;
		if (c >= WS_EQ && c <= WS_GE)
			return base + (int)(c - WS_EQ);
		return c >= WS_EQU && c <= WS_NAN ? base + 6 + (int)(c - WS_EQU) : no(f, "comparison");
	}
	if (!is_int(t) && !is_bits(t))
		return no(f, "type");
	bool plain = c >= WS_LO && c <= WS_HS;
	int which = plain ? by_width(t) : by_sign(t);
	switch (c) {
	case WS_EQ:
		return WS_LN_eq_16 + by_width(t);
	case WS_NE:
		return WS_LN_ne_16 + by_width(t);
	case WS_LT:
	case WS_LO:
		return WS_LN_lt_u16 + which;
	case WS_LE:
	case WS_LS:
		return WS_LN_le_u16 + which;
	case WS_GT:
	case WS_HI:
		return WS_LN_gt_u16 + which;
	case WS_GE:
	case WS_HS:
		return WS_LN_ge_u16 + which;
	}
	return no(f, "comparison");
}

static uint32_t half_cmp_flags(const struct ws_ptx_inst *i, unsigned t)
{
	return (uint32_t)i->cmp << WS_IMM_CMP_SHIFT | (i->flags & WS_F_FTZ ? WS_IMM_CMP_FTZ : 0) |
	       (t == WS_BF16 || t == WS_BF16X2 ? WS_IMM_CMP_BF16 : 0) | (is_x2(t) ? WS_IMM_CMP_X2 : 0);
}

/* The predicate c behind the sources, if there is a BoolOp. */
static void combine_flags(struct form *f)
{
	const struct ws_ptx_inst *i = f->i;
	if (!i->boolop)
		return;
	f->w[i->nops - 1] = 0;
	f->op->imm |= i->boolop | (i->ops[i->nops - 1].negated ? WS_IMM_NOT_C : 0);
}

static int decode_setp(struct form *f)
{
	const struct ws_ptx_inst *i = f->i;
	unsigned nd = destinations(i);
	if (i->nops != nd + 2u + (i->boolop ? 1 : 0))
		return no(f, "number of operands");
	f->w[0] = 0;
	if (nd == 2) {
		f->w[1] = 0;
		f->op->imm |= WS_IMM_Q;
	}
	combine_flags(f);
	if (!is_half(f->t)) {
		if (nd == 1 && i->ops[0].kind == WS_O_SINK)
			return no(f, "result that goes nowhere");
		return cmp_id(f, f->t);
	}
	f->op->imm |= half_cmp_flags(i, f->t);
	return WS_LN_cmp_half;
}

static uint32_t set_result(unsigned t)
{
	switch (t) {
	case WS_F32:
		return WS_IMM_SET_F32;
	case WS_F16:
	case WS_F16X2:
		return WS_IMM_SET_F16;
	case WS_BF16:
	case WS_BF16X2:
		return WS_IMM_SET_BF16;
	case WS_U16:
	case WS_S16:
		return WS_IMM_SET_ONES16;
	default:
		return WS_IMM_SET_ONES32;
	}
}

static int decode_set(struct form *f)
{
	const struct ws_ptx_inst *i = f->i;
	unsigned s = i->type[1];
	if (i->ntypes != 2 || i->nops != 3u + (i->boolop ? 1 : 0))
		return no(f, "number of operands");
	f->w[1] = f->w[2] = type_width(s);
	combine_flags(f);
	f->op->imm |= set_result(f->t);
	if (!is_half(s))
		return cmp_id(f, s);
	f->op->imm |= half_cmp_flags(i, s);
	if (is_x2(s) && type_width(f->t) != 4)
		return no(f, "type");
	return is_x2(s) ? WS_LN_set_half_x2 : WS_LN_cmp_half;
}

static int decode_selp(struct form *f)
{
	if (f->i->nops != 4)
		return no(f, "number of operands");
	f->w[3] = 0;
	return f->i->ops[3].negated ? no(f, "negated predicate") : WS_LN_selp_16 + by_width(f->t);
}

static int decode_slct(struct form *f)
{
	f->w[3] = 4;
	int base = f->i->type[1] == WS_S32 ? WS_LN_slct_s32_16
	           : f->i->flags & WS_F_FTZ ? WS_LN_slct_f32z_16
	                                    : WS_LN_slct_f32_16;
	return base + by_width(f->t);
}

static int decode_testp(struct form *f)
{
	f->w[0] = 0;
	f->op->imm = f->i->mode;
	return f->t == WS_F64 ? WS_LN_testp_f64 : f->t == WS_F32 ? WS_LN_testp_f32 : no(f, "type");
}

static int decode_copysign(struct form *f)
{
	return f->t == WS_F64 ? WS_LN_copysign_f64 : f->t == WS_F32 ? WS_LN_copysign_f32 : no(f, "type");
}

/* ---- logic, shifts, moves ---- */
static int logic(struct form *f, int base, int pred)
{
	if (f->t != WS_PRED)
		return base + by_width(f->t);
	const struct ws_ptx_inst *i = f->i;
	f->op->imm = i->ops[1].negated ? UINT32_MAX : 0;
	return i->nops > 2 && i->ops[2].negated ? no(f, "negated predicate") : pred;
}
static int decode_and(struct form *f) { return logic(f, WS_LN_and_16, WS_LN_and_pred); }
static int decode_or(struct form *f) { return logic(f, WS_LN_or_16, WS_LN_or_pred); }
static int decode_xor(struct form *f) { return logic(f, WS_LN_xor_16, WS_LN_xor_pred); }
static int decode_not(struct form *f) { return logic(f, WS_LN_not_16, WS_LN_not_pred); }
static int decode_cnot(struct form *f) { return WS_LN_cnot_16 + by_width(f->t); }
static int decode_shl(struct form *f)
{
	f->w[2] = 4;
	return WS_LN_shl_16 + by_width(f->t);
}
static int decode_shr(struct form *f)
{
	f->w[2] = 4;
	return WS_LN_shr_u16 + by_sign(f->t);
}
static int decode_shf(struct form *f)
{
	return (f->i->mode == WS_MODE_R ? WS_LN_shf_r_clamp : WS_LN_shf_l_clamp) + (f->i->flags & WS_F_WRAP ? 1 : 0);
}

static int decode_lop3(struct form *f)
{
	const struct ws_ptx_inst *i = f->i;
	bool p = i->nops == 7;
	if (i->nops != 5 && !p)
		return no(f, "number of operands");
	const struct ws_operand *table = &i->ops[table_operand(i)];
	if (table->kind != WS_O_INT)
		return no(f, "lop3 without a constant table");
	f->op->imm = (uint32_t)table->imm & 255;
	f->w[table_operand(i)] = 0;
	if (!p)
		return WS_LN_lop3;
	f->w[1] = f->w[6] = 0;
	f->op->imm |= (i->boolop == WS_BOOL_AND ? 0x100 : 0) | (i->ops[6].negated ? 0x200 : 0);
	return i->boolop == WS_BOOL_XOR ? no(f, "lop3.xor") : (int)WS_LN_lop3_p;
}

static int decode_prmt(struct form *f)
{
	f->op->imm = f->i->mode ? (uint32_t)(f->i->mode - WS_MODE_F4E + 1) : 0;
	return f->op->imm > 6 ? no(f, "mode") : (int)WS_LN_prmt;
}

/* mov d, {a, b, ...} and back: parts of equal width that fill the register */
static int decode_vector(struct form *f, const struct ws_operand *v, bool pack)
{
	unsigned n = v->sreg_or_count, whole = ws_type_bytes((enum ws_type)f->t);
	if ((n != 2 && n != 4) || (whole != 2 && whole != 4 && whole != 8 && whole != 16) || whole / n < 1)
		return no(f, "vector of this many elements");
	unsigned part = whole / n, first = pack ? 1 : 0;
	for (unsigned k = 0; k < n; k++)
		f->w[first + k] = part == 1 ? 2 : part;
	f->w[pack ? 0 : n] = whole;
	static const struct {
		unsigned part, n, pack, unpack;
	} forms[] = {{1, 2, WS_LN_pack_8x2, WS_LN_unpack_8x2},    {1, 4, WS_LN_pack_8x4, WS_LN_unpack_8x4},
	             {2, 2, WS_LN_pack_16x2, WS_LN_unpack_16x2},  {2, 4, WS_LN_pack_16x4, WS_LN_unpack_16x4},
	             {4, 2, WS_LN_pack_32x2, WS_LN_unpack_32x2},  {4, 4, WS_LN_pack_32x4, WS_LN_unpack_32x4},
	             {8, 2, WS_LN_pack_64x2, WS_LN_unpack_64x2}};
	for (unsigned k = 0; k < WS_COUNT(forms); k++)
		if (forms[k].part == part && forms[k].n == n)
			return (int)(pack ? forms[k].pack : forms[k].unpack);
	return no(f, "vector of elements of this size");
}

static int decode_mov(struct form *f)
{
	const struct ws_operand *to = vector_of(f->i, 0), *from = vector_of(f->i, 1);
	if (to && from)
		return no(f, "vector to vector");
	if (to || from)
		return decode_vector(f, to ? to : from, !to);
	if (f->t == WS_B128)
		return WS_LN_mov_128;
	return logic(f, WS_LN_mov_16, WS_LN_mov_pred);
}

/* ---- cvt ---- */
static unsigned operand_width(const struct ws_operand *o, unsigned type)
{
	return o->kind == WS_O_REG ? type_width(o->reg->type) : type_width(type);
}

static bool int_type(unsigned t) { return t >= WS_U8 && t <= WS_S64; }
static bool signed_int(unsigned t) { return t >= WS_S8 && t <= WS_S64; }
static unsigned int_bytes(unsigned t) { return 1u << (t - (signed_int(t) ? WS_S8 : WS_U8)); }

/* ext[source register][type u8 s8 u16 s16 u32 s32][destination register]; registers of 2, 4, 8 bytes */
#define E(s, t, d) WS_LN_ext_##s##_##t##_##d
static const uint16_t ext[3][6][3] = {
	{{E(2, u8, 2), E(2, u8, 4), E(2, u8, 8)}, {E(2, s8, 2), E(2, s8, 4), E(2, s8, 8)},
	 {WS_LN_mov_16, E(2, u16, 4), E(2, u16, 8)}, {WS_LN_mov_16, E(2, s16, 4), E(2, s16, 8)}, {0}, {0}},
	{{E(4, u8, 2), E(4, u8, 4), E(4, u8, 8)}, {E(4, s8, 2), E(4, s8, 4), E(4, s8, 8)},
	 {E(4, u16, 2), E(4, u16, 4), E(4, u16, 8)}, {E(4, u16, 2), E(4, s16, 4), E(4, s16, 8)},
	 {0, WS_LN_mov_32, E(4, u32, 8)}, {0, WS_LN_mov_32, E(4, s32, 8)}},
	{{E(8, u8, 2), E(8, u8, 4), E(8, u8, 8)}, {E(8, s8, 2), E(8, s8, 4), E(8, s8, 8)},
	 {E(8, u16, 2), E(8, u16, 4), E(8, u16, 8)}, {E(8, u16, 2), E(8, s16, 4), E(8, s16, 8)},
	 {0, E(8, u32, 4), E(8, u32, 8)}, {0, E(8, u32, 4), E(8, s32, 8)}},
};
#undef E

static int cvt_any(struct form *f, unsigned st)
{
	const struct ws_ptx_inst *i = f->i;
	uint32_t flags = (i->flags & WS_F_FTZ ? WS_IMM_CVT_FTZ : 0) | (i->flags & WS_F_SAT ? WS_IMM_CVT_SAT : 0) |
	                 (i->flags & WS_F_RELU ? WS_IMM_CVT_RELU : 0) |
	                 (i->flags & WS_F_SATFINITE ? WS_IMM_CVT_SATFINITE : 0);
	f->op->imm = WS_IMM_CVT(f->t, st, f->w[0], f->w[1], i->rnd) | flags;
	return WS_LN_cvt_any;
}

static int cvt_int_int(struct form *f, unsigned st)
{
	bool widens = int_bytes(f->t) > int_bytes(st);
	unsigned t = widens ? st : f->t, n = int_bytes(t);
	if (f->i->flags & WS_F_SAT)
		return cvt_any(f, st);
	/* sign-extended to a type narrower than its register, which that type extends with zeros */
	if (widens && signed_int(st) && !signed_int(f->t) && f->w[0] > int_bytes(f->t))
		return cvt_any(f, st);
	if (n == 8)
		return WS_LN_mov_64;
	unsigned row = (n == 4 ? 4 : n == 2 ? 2 : 0) + signed_int(t);
	unsigned id = ext[f->w[1] / 4][row][f->w[0] / 4];
	return id ? (int)id : cvt_any(f, st);
}

struct pair {
	uint8_t dt, st, rnd;     /* rnd: 0 = none wanted, else this one */
	uint16_t id;
};

/* Conversions without saturation, between registers as wide as the types. */
static int cvt_common(struct form *f, unsigned st)
{
	static const struct pair pairs[] = {
		{WS_F32, WS_S16, WS_RN, WS_LN_s16_to_f32}, {WS_F32, WS_U16, WS_RN, WS_LN_u16_to_f32},
		{WS_F32, WS_S32, WS_RN, WS_LN_s32_to_f32}, {WS_F32, WS_U32, WS_RN, WS_LN_u32_to_f32},
		{WS_F32, WS_S64, WS_RN, WS_LN_s64_to_f32}, {WS_F32, WS_U64, WS_RN, WS_LN_u64_to_f32},
		{WS_F64, WS_S32, WS_RN, WS_LN_s32_to_f64}, {WS_F64, WS_U32, WS_RN, WS_LN_u32_to_f64},
		{WS_F64, WS_S64, WS_RN, WS_LN_s64_to_f64}, {WS_F64, WS_U64, WS_RN, WS_LN_u64_to_f64},
		{WS_F64, WS_F32, WS_RND_NONE, WS_LN_f32_to_f64}, {WS_F32, WS_F64, WS_RN, WS_LN_f64_to_f32},
		{WS_F32, WS_F16, WS_RND_NONE, WS_LN_f16_to_f32}, {WS_F32, WS_BF16, WS_RND_NONE, WS_LN_bf16_to_f32},
		{WS_F16, WS_F32, WS_RN, WS_LN_f32_to_f16}, {WS_BF16, WS_F32, WS_RN, WS_LN_f32_to_bf16},
		{WS_F16X2, WS_F32, WS_RN, WS_LN_f32_to_f16x2}, {WS_BF16X2, WS_F32, WS_RN, WS_LN_f32_to_bf16x2},
		{WS_S32, WS_F32, WS_RZI, WS_LN_f32_to_s32_rz}, {WS_U32, WS_F32, WS_RZI, WS_LN_f32_to_u32_rz},
	};
	for (unsigned k = 0; k < WS_COUNT(pairs); k++)
		if (pairs[k].dt == f->t && pairs[k].st == st && pairs[k].rnd == f->i->rnd)
			return pairs[k].id;
	return NO;
}

/* Floats to integers and to integral values: the rounding is in imm. */
static int cvt_integral(struct form *f, unsigned st)
{
	static const struct pair pairs[] = {
		{WS_S32, WS_F32, 0, WS_LN_f32_to_s32}, {WS_U32, WS_F32, 0, WS_LN_f32_to_u32},
		{WS_S64, WS_F32, 0, WS_LN_f32_to_s64}, {WS_U64, WS_F32, 0, WS_LN_f32_to_u64},
		{WS_S32, WS_F64, 0, WS_LN_f64_to_s32}, {WS_U32, WS_F64, 0, WS_LN_f64_to_u32},
		{WS_S64, WS_F64, 0, WS_LN_f64_to_s64}, {WS_U64, WS_F64, 0, WS_LN_f64_to_u64},
		{WS_F32, WS_F32, 0, WS_LN_f32_integral}, {WS_F64, WS_F64, 0, WS_LN_f64_integral},
	};
	if (f->i->rnd < WS_RNI)
		return NO;
	for (unsigned k = 0; k < WS_COUNT(pairs); k++)
		if (pairs[k].dt == f->t && pairs[k].st == st) {
			f->op->imm = f->i->rnd | (f->i->flags & WS_F_FTZ ? WS_IMM_CVT_FTZ : 0);
			return pairs[k].id;
		}
	return NO;
}

static bool pair_type(unsigned t)
{
	return t == WS_F16X2 || t == WS_BF16X2 || t == WS_E4M3X2 || t == WS_E5M2X2;
}

static bool convertible(unsigned t)
{
	return int_type(t) || t == WS_F32 || t == WS_F64 || t == WS_F16 || t == WS_BF16 || t == WS_TF32 || pair_type(t);
}

static int cvt_pair(struct form *f, unsigned st)
{
	if (!(pair_type(f->t) && (pair_type(st) || st == WS_F32)) || f->i->nops != (st == WS_F32 ? 3 : 2))
		return no(f, "conversion of a pair");
	f->w[0] = type_width(f->t);
	f->w[1] = f->w[2] = type_width(st);
	bool plain = !(f->i->flags & (WS_F_FTZ | WS_F_SAT | WS_F_RELU | WS_F_SATFINITE));
	int id = plain ? cvt_common(f, st) : NO;
	if (id != NO)
		return id;
	cvt_any(f, st);
	return WS_LN_cvt_any_x2;
}

static int cvt_pack(struct form *f)
{
	const struct ws_ptx_inst *i = f->i;
	unsigned bits = int_type(f->t) ? 8 * int_bytes(f->t) : 0;
	bool is_signed = signed_int(f->t);
	if (strstr(i->extra, "4") || strstr(i->extra, "2")) {
		bits = strstr(i->extra, "4") ? 4 : 2;
		is_signed = strstr(i->extra, "s4") || strstr(i->extra, "s2");
	}
	if ((i->nops != 3 && i->nops != 4) || bits == 0 || bits > 16)
		return no(f, "cvt.pack of this type");
	f->w[0] = f->w[1] = f->w[2] = f->w[3] = 4;
	f->op->imm = bits | (is_signed ? 32 : 0) | (i->nops == 4 ? 64 : 0);
	return WS_LN_cvt_pack;
}

static int decode_cvt(struct form *f)
{
	const struct ws_ptx_inst *i = f->i;
	unsigned st = i->type[1];
	if (i->extra && strstr(i->extra, "pack"))
		return cvt_pack(f);
	if (i->extra || i->ntypes != 2 || i->rnd == WS_RS || !convertible(f->t) || !convertible(st))
		return no(f, "conversion");
	if (pair_type(f->t) || pair_type(st))
		return cvt_pair(f, st);
	if (i->nops != 2)
		return no(f, "number of operands");
	f->w[0] = operand_width(&i->ops[0], f->t);
	f->w[1] = operand_width(&i->ops[1], st);
	if (f->w[0] < type_width(f->t) || f->w[1] < type_width(st) || f->w[0] > 8 || f->w[1] > 8)
		return no(f, "register narrower than the type");
	if (int_type(f->t) && int_type(st))
		return cvt_int_int(f, st);
	bool same = f->w[0] == type_width(f->t) && f->w[1] == type_width(st);
	uint32_t flags = i->flags & (WS_F_FTZ | WS_F_SAT | WS_F_RELU | WS_F_SATFINITE);
	if (same && f->t == st && flags == 0 && i->rnd == WS_RND_NONE && (st == WS_F32 || st == WS_F64))
		return WS_LN_mov_16 + by_width(st);
	int id = NO;
	if (int_type(f->t))
		flags &= ~(uint32_t)WS_F_SAT;    /* to an integer always saturates */
	if (same && !(flags & ~(uint32_t)WS_F_FTZ))
		id = cvt_integral(f, st);
	if (same && flags == 0 && cvt_common(f, st) != NO)
		id = cvt_common(f, st);
	if (same && f->t == WS_F64 && st == WS_F32 && flags == WS_F_FTZ)
		id = WS_LN_f32z_to_f64;
	if (same && f->t == WS_F32 && st == WS_F64 && i->rnd == WS_RN && flags == WS_F_FTZ)
		id = WS_LN_f64_to_f32z;
	if (same && f->t == WS_F32 && st == WS_F32 && i->rnd == WS_RND_NONE &&
	    (flags & ~(uint32_t)WS_F_FTZ) == WS_F_SAT)
		id = flags & WS_F_FTZ ? WS_LN_f32z_sat : WS_LN_f32_sat;
	return id != NO ? id : cvt_any(f, st);
}

/* ---- video ---- */
static uint32_t video_kind(enum ws_op op)
{
	switch (op) {
	case WS_OP_vadd: case WS_OP_vadd2: case WS_OP_vadd4:
		return WS_VIDEO_ADD;
	case WS_OP_vsub: case WS_OP_vsub2: case WS_OP_vsub4:
		return WS_VIDEO_SUB;
	case WS_OP_vabsdiff: case WS_OP_vabsdiff2: case WS_OP_vabsdiff4:
		return WS_VIDEO_ABSDIFF;
	case WS_OP_vmin: case WS_OP_vmin2: case WS_OP_vmin4:
		return WS_VIDEO_MIN;
	case WS_OP_vmax: case WS_OP_vmax2: case WS_OP_vmax4:
		return WS_VIDEO_MAX;
	case WS_OP_vshl:
		return WS_VIDEO_SHL;
	case WS_OP_vshr:
		return WS_VIDEO_SHR;
	case WS_OP_vmad:
		return WS_VIDEO_MAD;
	case WS_OP_vavrg2: case WS_OP_vavrg4:
		return WS_VIDEO_AVRG;
	default:
		return WS_VIDEO_SET;
	}
}

/* .b0 to .b3, .h0, .h1 as 1 to 6; whole: 0 */
static uint32_t selector(const struct ws_operand *o)
{
	return o->component >= 0x20 ? 5u + (o->component & 1) : o->component >= 0x10 ? 1u + (o->component & 3) : 0;
}

/* The last type stands for missing ones; vset's destination is unsigned. */
static uint32_t video_flags(struct form *f)
{
	const struct ws_ptx_inst *i = f->i;
	uint32_t kind = video_kind(i->op), imm = kind;
	bool set = kind == WS_VIDEO_SET;
	imm |= is_s32(i->type[set ? 0 : 1]) ? WS_VIDEO_A_SIGNED : 0;
	imm |= is_s32(i->type[set ? 1 : 2]) ? WS_VIDEO_B_SIGNED : 0;
	imm |= !set && is_s32(i->type[0]) ? WS_VIDEO_D_SIGNED : 0;
	imm |= i->flags & WS_F_SAT ? WS_VIDEO_SAT : 0;
	imm |= i->flags & WS_F_WRAP ? WS_VIDEO_WRAP : 0;
	return imm | (uint32_t)i->cmp << WS_VIDEO_CMP_SHIFT;
}

static int decode_video(struct form *f)
{
	const struct ws_ptx_inst *i = f->i;
	bool mad = i->op == WS_OP_vmad, c = i->nops == 4;
	if ((i->extra && !mad) || i->nops > 4 || (mad && !c))
		return no(f, "form of a video instruction");
	uint32_t imm = video_flags(f);
	for (unsigned k = 0; k < i->nops; k++)
		imm |= k < 3 ? selector(&i->ops[k]) << (WS_VIDEO_SEL_SHIFT + 3 * k) : 0;
	imm |= i->atom == WS_ATOM_ADD   ? WS_VIDEO_THEN_ADD
	       : i->atom == WS_ATOM_MIN ? WS_VIDEO_THEN_MIN
	       : i->atom == WS_ATOM_MAX ? WS_VIDEO_THEN_MAX
	                                : 0;
	if (mad && i->extra) {
		imm |= strstr(i->extra, "shr7") ? WS_VIDEO_SHR7 : strstr(i->extra, "shr15") ? WS_VIDEO_SHR15 : 0;
		imm |= strstr(i->extra, "po") ? WS_VIDEO_PLUS_ONE : 0;
	}
	if (mad)
		imm |= (i->ops[1].negated != i->ops[2].negated ? WS_VIDEO_NEG_AB : 0) |
		       (i->ops[3].negated ? WS_VIDEO_NEG_C : 0);
	uint32_t part = imm >> WS_VIDEO_SEL_SHIFT & 7, then = imm & WS_VIDEO_THEN;
	if (!c && (then || part))
		return no(f, "number of operands");
	/* what an H200 gives for these is not what PTX ISA says */
	if (!mad && ((imm & WS_VIDEO_SAT && (then || part)) || then > WS_VIDEO_THEN_ADD))
		return no(f, "secondary operation or part of the result of a video instruction");
	f->op->imm = imm;
	return WS_LN_video_scalar;
}

static int decode_video_simd(struct form *f)
{
	const struct ws_ptx_inst *i = f->i;
	const char *name = ws_op_info((enum ws_op)i->op)->name;
	bool four = name[strlen(name) - 1] == '4';
	if (i->extra || i->nops != 4 || (i->atom && i->atom != WS_ATOM_ADD))
		return no(f, "form of a video instruction");
	for (unsigned k = 0; k < 4; k++)
		if (i->ops[k].component)
			return no(f, "selector or mask of a SIMD video instruction");
	f->op->imm = video_flags(f) | (i->atom ? WS_VIDEO_THEN_ADD : 0) | (four ? WS_VIDEO_FOUR : 0);
	return WS_LN_video_simd;
}

/* ---- the table ---- */
typedef int decode_fn(struct form *f);
static decode_fn *const decoders[WS_OP_COUNT] = {
	[WS_OP_add] = decode_add, [WS_OP_sub] = decode_add, [WS_OP_addc] = decode_addc, [WS_OP_subc] = decode_addc,
	[WS_OP_mul] = decode_mul, [WS_OP_mad] = decode_mad, [WS_OP_madc] = decode_mad, [WS_OP_fma] = decode_fma,
	[WS_OP_mul24] = decode_mul24, [WS_OP_mad24] = decode_mul24, [WS_OP_div] = decode_div, [WS_OP_rem] = decode_rem,
	[WS_OP_sad] = decode_sad, [WS_OP_rcp] = decode_root, [WS_OP_sqrt] = decode_root, [WS_OP_rsqrt] = decode_root,
	[WS_OP_sin] = decode_approx, [WS_OP_cos] = decode_approx, [WS_OP_lg2] = decode_approx,
	[WS_OP_ex2] = decode_approx, [WS_OP_tanh] = decode_approx, [WS_OP_min] = decode_minmax,
	[WS_OP_max] = decode_minmax, [WS_OP_neg] = decode_sign, [WS_OP_abs] = decode_sign, [WS_OP_popc] = decode_popc,
	[WS_OP_clz] = decode_clz, [WS_OP_brev] = decode_brev, [WS_OP_bfind] = decode_bfind, [WS_OP_bfe] = decode_bfe,
	[WS_OP_bfi] = decode_bfi, [WS_OP_fns] = decode_fns, [WS_OP_bmsk] = decode_bmsk, [WS_OP_szext] = decode_bmsk,
	[WS_OP_dp4a] = decode_dot, [WS_OP_dp2a] = decode_dot, [WS_OP_setp] = decode_setp, [WS_OP_set] = decode_set,
	[WS_OP_selp] = decode_selp, [WS_OP_slct] = decode_slct, [WS_OP_testp] = decode_testp,
	[WS_OP_copysign] = decode_copysign, [WS_OP_and] = decode_and, [WS_OP_or] = decode_or, [WS_OP_xor] = decode_xor,
	[WS_OP_not] = decode_not, [WS_OP_cnot] = decode_cnot, [WS_OP_shl] = decode_shl, [WS_OP_shr] = decode_shr,
	[WS_OP_shf] = decode_shf, [WS_OP_lop3] = decode_lop3, [WS_OP_prmt] = decode_prmt, [WS_OP_mov] = decode_mov,
	[WS_OP_cvt] = decode_cvt, [WS_OP_vadd] = decode_video, [WS_OP_vsub] = decode_video,
	[WS_OP_vabsdiff] = decode_video, [WS_OP_vmin] = decode_video, [WS_OP_vmax] = decode_video,
	[WS_OP_vshl] = decode_video, [WS_OP_vshr] = decode_video, [WS_OP_vmad] = decode_video,
	[WS_OP_vset] = decode_video, [WS_OP_vadd2] = decode_video_simd, [WS_OP_vsub2] = decode_video_simd,
	[WS_OP_vavrg2] = decode_video_simd, [WS_OP_vabsdiff2] = decode_video_simd, [WS_OP_vmin2] = decode_video_simd,
	[WS_OP_vmax2] = decode_video_simd, [WS_OP_vset2] = decode_video_simd, [WS_OP_vadd4] = decode_video_simd,
	[WS_OP_vsub4] = decode_video_simd, [WS_OP_vavrg4] = decode_video_simd, [WS_OP_vabsdiff4] = decode_video_simd,
	[WS_OP_vmin4] = decode_video_simd, [WS_OP_vmax4] = decode_video_simd, [WS_OP_vset4] = decode_video_simd,
};

/* Sources that every form of the opcode has: fewer would leave an offset unset. */
static unsigned least_operands(enum ws_op op)
{
	switch (op) {
	case WS_OP_mad: case WS_OP_madc: case WS_OP_fma: case WS_OP_mad24: case WS_OP_sad: case WS_OP_fns:
	case WS_OP_bfe: case WS_OP_dp4a: case WS_OP_dp2a: case WS_OP_selp: case WS_OP_slct: case WS_OP_shf:
	case WS_OP_prmt:
		return 4;
	case WS_OP_bfi:
		return 5;
	case WS_OP_neg: case WS_OP_abs: case WS_OP_rcp: case WS_OP_sqrt: case WS_OP_rsqrt: case WS_OP_sin:
	case WS_OP_cos: case WS_OP_lg2: case WS_OP_ex2: case WS_OP_tanh: case WS_OP_popc: case WS_OP_clz:
	case WS_OP_brev: case WS_OP_bfind: case WS_OP_testp: case WS_OP_not: case WS_OP_cnot: case WS_OP_mov:
	case WS_OP_cvt:
		return 2;
	default:
		return 3;
	}
}

static bool may_sink(const struct ws_ptx_inst *i)
{
	return vector_of(i, 0) || ((i->op == WS_OP_setp || i->op == WS_OP_lop3) && destinations(i) == 2);
}

/* Registers must be as wide as the form reads and writes them. */
static const char *check_operands(const struct ws_ptx_inst *i, const unsigned *w)
{
	unsigned nd = destinations(i);
	const struct ws_operand *o;
	for (unsigned k = 0; (o = ws_lanes_operand(i, k)); k++) {
		if (k >= WS_LANE_OPERANDS)
			return "too many operands";
		if (o->kind == WS_O_REG && o->reg && type_width(o->reg->type) == w[k])
			continue;
		if (o->kind == WS_O_REG)
			return "register of another width than the instruction's type";
		if (k < nd && !(o->kind == WS_O_SINK && may_sink(i)))
			return "destination that is no register";
		if (k >= nd &&
		    (o->kind == WS_O_SINK || o->kind == WS_O_VEC || o->kind == WS_O_LIST || o->kind == WS_O_TEX))
			return "operand of this kind";
	}
	return NULL;
}

bool ws_lanes_decode(const struct ws_ptx_inst *inst, struct ws_lane_op *op, unsigned width[WS_LANE_OPERANDS],
                     const char **why)
{
	*why = NULL;
	if (inst->op >= WS_OP_COUNT || !decoders[inst->op])
		return false;
	memset(op, 0, sizeof *op);
	op->d2 = op->d = op->f = op->g = WS_LANE_NONE;
	struct form f = {.i = inst, .op = op, .w = width, .t = inst->type[0]};
	for (unsigned k = 0; k < WS_LANE_OPERANDS; k++)
		width[k] = type_width(f.t);
	int id = inst->nops < least_operands(inst->op) ? no(&f, "number of operands") : decoders[inst->op](&f);
	*why = id == NO ? f.why : check_operands(inst, width);
	if (*why)
		return false;
	op->fn = isa()->tables[id >> 12][id & 0xfff];
	return true;
}

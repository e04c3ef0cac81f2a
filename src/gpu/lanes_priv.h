/* lanes_priv.h - between lanes.c, which chooses a lane function, and lanes_*.simd.c, which hold them.
 *
 * Each chapter has a list of its functions (lanes_*.def) from which the numbers below and the chapter's table are
 * made. A number is chapter << 12 | position in the chapter's table; the tables exist once an instruction set. */
#ifndef WS_LANES_PRIV_H
#define WS_LANES_PRIV_H

#include "gpu/lanes.h"

/* The families in which functions come. W: by width. S: by signedness and width. F: by float type. */
#define WS_FN_W(n) FN(n##_16) FN(n##_32) FN(n##_64)
#define WS_FN_S(n) FN(n##_u16) FN(n##_u32) FN(n##_u64) FN(n##_s16) FN(n##_s32) FN(n##_s64)
#define WS_FN_F(n) FN(n##_f32) FN(n##_f32z) FN(n##_f64)
#define WS_FN_FX(n) WS_FN_F(n) FN(n##_f32x) FN(n##_f64x)

enum ws_lane_chapter {
	WS_CH_INT, WS_CH_LOGIC, WS_CH_CMP, WS_CH_FLOAT, WS_CH_APPROX, WS_CH_HALF, WS_CH_CVT, WS_CH_VIDEO, WS_CH_COUNT
};

#define FN(n) WS_LN_##n,
enum ws_lane_id {
	WS_LN_INT0 = (WS_CH_INT << 12) - 1,
#include "gpu/lanes_int.def"
	WS_LN_LOGIC0 = (WS_CH_LOGIC << 12) - 1,
#include "gpu/lanes_logic.def"
	WS_LN_CMP0 = (WS_CH_CMP << 12) - 1,
#include "gpu/lanes_cmp.def"
	WS_LN_FLOAT0 = (WS_CH_FLOAT << 12) - 1,
#include "gpu/lanes_float.def"
	WS_LN_APPROX0 = (WS_CH_APPROX << 12) - 1,
#include "gpu/lanes_approx.def"
	WS_LN_HALF0 = (WS_CH_HALF << 12) - 1,
#include "gpu/lanes_half.def"
	WS_LN_CVT0 = (WS_CH_CVT << 12) - 1,
#include "gpu/lanes_cvt.def"
	WS_LN_VIDEO0 = (WS_CH_VIDEO << 12) - 1,
#include "gpu/lanes_video.def"
};
#undef FN

/* Tables: ws_lanes_int_v4[] and so on. */
#define WS_TABLES(isa) \
	extern ws_lane_fn *const ws_lanes_int_##isa[], *const ws_lanes_logic_##isa[], *const ws_lanes_cmp_##isa[], \
	        *const ws_lanes_float_##isa[], *const ws_lanes_approx_##isa[], *const ws_lanes_half_##isa[], \
	        *const ws_lanes_cvt_##isa[], *const ws_lanes_video_##isa[]
WS_TABLES(base);
WS_TABLES(v3);
WS_TABLES(v4);

/* ---- what op->imm says ---- */

/* Carry arithmetic: add.cc, addc, ..., mad */
enum { WS_IMM_CC_IN = 1, WS_IMM_CC_OUT = 2, WS_IMM_HI = 4, WS_IMM_SIGNED = 8 };

/* Float and half arithmetic: rounding in the low two bits, as in MXCSR's order below, then flags. */
enum {
	WS_IMM_RN = 0, WS_IMM_RM = 1, WS_IMM_RP = 2, WS_IMM_RZ = 3, WS_IMM_RND = 3,
	WS_IMM_FTZ = 1 << 2, WS_IMM_SAT = 1 << 3, WS_IMM_RELU = 1 << 4, WS_IMM_NAN = 1 << 5, WS_IMM_XORSIGN = 1 << 6,
	WS_IMM_ABS = 1 << 7, WS_IMM_MAX = 1 << 8, WS_IMM_THREE = 1 << 9, WS_IMM_BF16 = 1 << 10, WS_IMM_X2 = 1 << 11,
	WS_IMM_OOB = 1 << 12
};

/* Comparisons: how the lanes' truth is combined and where it goes. 0 is the plain setp p, a, b. */
enum {
	WS_IMM_BOOL = 3,                 /* enum ws_bool of c */
	WS_IMM_NOT_C = 1 << 2, WS_IMM_Q = 1 << 3,
	WS_IMM_SET = 7 << 4,             /* set: what true looks like */
	WS_IMM_SET_ONES32 = 1 << 4, WS_IMM_SET_F32 = 2 << 4, WS_IMM_SET_ONES16 = 3 << 4, WS_IMM_SET_F16 = 4 << 4,
	WS_IMM_SET_BF16 = 5 << 4,
	WS_IMM_CMP_SHIFT = 8,            /* enum ws_cmp, halves only */
	WS_IMM_CMP_FTZ = 1 << 13, WS_IMM_CMP_BF16 = 1 << 14, WS_IMM_CMP_X2 = 1 << 15
};

/* Conversions by way of the general unpack and pack: types, widths of the two registers, flags. */
#define WS_IMM_CVT(dt, st, dw, sw, rnd) \
	((uint32_t)(dt) | (uint32_t)(st) << 6 | (uint32_t)(dw) << 12 | (uint32_t)(sw) << 16 | (uint32_t)(rnd) << 20)
enum {
	WS_IMM_CVT_FTZ = 1 << 24, WS_IMM_CVT_SAT = 1 << 25, WS_IMM_CVT_RELU = 1 << 26, WS_IMM_CVT_SATFINITE = 1 << 27
};

/* Video: kind in the low 4 bits, then flags; selectors of d, a, b (0 whole, 1..4 byte, 5..6 half), comparison. */
enum {
	WS_VIDEO_ADD, WS_VIDEO_SUB, WS_VIDEO_ABSDIFF, WS_VIDEO_MIN, WS_VIDEO_MAX, WS_VIDEO_SHL, WS_VIDEO_SHR,
	WS_VIDEO_MAD, WS_VIDEO_SET, WS_VIDEO_AVRG, WS_VIDEO_KIND = 15,
	WS_VIDEO_A_SIGNED = 1 << 4, WS_VIDEO_B_SIGNED = 1 << 5, WS_VIDEO_D_SIGNED = 1 << 6, WS_VIDEO_SAT = 1 << 7,
	WS_VIDEO_THEN_ADD = 1 << 8, WS_VIDEO_THEN_MIN = 2 << 8, WS_VIDEO_THEN_MAX = 3 << 8, WS_VIDEO_THEN = 3 << 8,
	WS_VIDEO_WRAP = 1 << 10, WS_VIDEO_FOUR = 1 << 11, WS_VIDEO_CMP_SHIFT = 12, WS_VIDEO_SEL_SHIFT = 17,
	WS_VIDEO_SHR7 = 1 << 26, WS_VIDEO_SHR15 = 1 << 27, WS_VIDEO_PLUS_ONE = 1 << 28, WS_VIDEO_NEG_AB = 1 << 29,
	WS_VIDEO_NEG_C = 1 << 30
};

#endif

/* ptx_table.c - the tables made from ptx_ops.def, ptx_mods.def and ptx_sregs.def, and the questions about them. */
#include "ptx/ptx_priv.h"

#include <string.h>

/* Sets of types for the `types` column. */
#define T_(x) (UINT64_C(1) << WS_##x)
#define T_U32 T_(U32)
#define T_F32 T_(F32)
#define T_B32 T_(B32)
#define T_B64 T_(B64)
#define T_I32 (T_(U32) | T_(S32))
#define T_I3264 (T_I32 | T_(U64) | T_(S64))
#define T_INT (T_I3264 | T_(U16) | T_(S16))
#define T_INT8 (T_INT | T_(U8) | T_(S8))
#define T_F3264 (T_(F32) | T_(F64))
#define T_HALF (T_(F16) | T_(F16X2) | T_(BF16) | T_(BF16X2))
#define T_FLOAT (T_F3264 | T_HALF | T_(F32X2))
#define T_HALF1 (T_(F16) | T_(BF16))
#define T_F32HALF (T_(F32) | T_HALF)
#define T_I16X2 (T_(U16X2) | T_(S16X2))
#define T_ARITH (T_INT | T_FLOAT | T_I16X2)
#define T_MULT (T_INT | T_FLOAT)
#define T_DIV (T_INT | T_F3264)
#define T_SFLOAT (T_(S16) | T_(S32) | T_(S64) | T_FLOAT)
#define T_B3264 (T_(B32) | T_(B64))
#define T_BITS (T_B3264 | T_(B16))
#define T_LOGIC (T_BITS | T_(PRED))
#define T_SHR (T_INT | T_BITS)
#define T_CMP (T_BITS | T_INT | T_F3264 | T_HALF)
#define T_SETD (T_I32 | T_F32 | T_HALF | T_(U16) | T_(S16))
#define T_SEL (T_BITS | T_INT | T_F3264)
#define T_SF32 (T_(S32) | T_F32)
#define T_MOV (T_BITS | T_(B128) | T_INT | T_F3264 | T_(PRED) | T_(B8))
#define T_FP8 (T_(E4M3X2) | T_(E5M2X2) | T_(T_OTHER))
#define T_CVT (T_INT8 | T_F3264 | T_HALF | T_(TF32) | T_FP8)
#define T_MEM (T_BITS | T_(B8) | T_(B128) | T_INT8 | T_F3264)
#define T_ATOM (T_BITS | T_(B128) | T_INT | T_F3264 | T_HALF)
#define T_BARRED (T_(U32) | T_(PRED))
#define T_VOTE (T_(PRED) | T_(B32))
#define T_REDUX (T_I32 | T_B32 | T_F32)
#define T_REF T_(T_OTHER)

#define T0 0, 0, false, { 0 }
#define T1(a) 1, 1, false, { (a) }
#define T01(a) 0, 1, false, { (a) }
#define T12(a, b) 1, 2, false, { (a), (b) }
#define T2(a, b) 2, 2, false, { (a), (b) }
#define T3(a, b, c) 2, 3, false, { (a), (b), (c) }
#define TANY 0, 3, true, { 0 }
/* Chapters for the `section` column. */
#define S_EXT "Extended-Precision Integer Arithmetic Instructions: "
#define S_INT "Integer Arithmetic Instructions: "
#define S_FP "Floating Point Instructions: "
#define S_CMP "Comparison and Selection Instructions: "
#define S_LOGIC "Logic and Shift Instructions: "
#define S_MOVE "Data Movement and Conversion Instructions: "
#define S_TEX "Texture Instructions: "
#define S_SURF "Surface Instructions: "
#define S_FLOW "Control Flow Instructions: "
#define S_SYNC "Parallel Synchronization and Communication Instructions: "
#define S_WGMMA "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Instructions: "
#define S_MMA "Warp Level Matrix Multiply-Accumulate Instructions: "
#define S_TCGEN "TensorCore 5th Generation Family Instructions"
#define S_STACK "Stack Manipulation Instructions: "
#define S_SCALAR "Scalar Video Instructions: "
#define S_SIMD "SIMD Video Instructions: "
#define S_MISC "Miscellaneous Instructions: "

#define SIM true
#define NOSIM false

static const struct ws_op_info infos[] = {
	{ "?", 0, 0, 0, 0, false, "none" },
#define OP(name, ndst, types, mods, ver, sm, sim, fx, section, args) { #name, ndst, fx, ver, sm, sim, section },
#include "ptx/ptx_ops.def"
#undef OP
};
_Static_assert(WS_COUNT(infos) == WS_OP_COUNT, "a row is missing");

#define TYPES_ARE(...) __VA_ARGS__
const struct op_row ws_ptx_ops[] = {
	{ 0, T0, "*" },
#define OP(name, ndst, types, mods, ver, sm, sim, fx, section, args) { (mods) | M_TYPE, TYPES_ARE(types), args },
#include "ptx/ptx_ops.def"
#undef OP
};
_Static_assert(WS_COUNT(ws_ptx_ops) == WS_OP_COUNT, "a row is missing");

const struct mod_row ws_ptx_mods[] = {
#define MOD(word, classes, field, value) { "." word, classes, MF_##field, value },
#include "ptx/ptx_mods.def"
#undef MOD
};
const unsigned ws_ptx_nmods = WS_COUNT(ws_ptx_mods);
_Static_assert(M_BITS <= 64, "classes are bits of 64");

static const struct { const char *name; unsigned bytes; } sregs[] = {
	{ "", 0 },
#define SREG(id, name, bytes) { name, bytes },
#include "ptx/ptx_sregs.def"
#undef SREG
};

const struct ws_op_info *ws_op_info(enum ws_op op)
{
	return &infos[(unsigned)op < WS_OP_COUNT ? (unsigned)op : 0];
}

const char *ws_sreg_name(enum ws_sreg s)
{
	return sregs[(unsigned)s < WS_SR_COUNT ? (unsigned)s : 0].name;
}

unsigned ws_sreg_bytes(enum ws_sreg s)
{
	return sregs[(unsigned)s < WS_SR_COUNT ? (unsigned)s : 0].bytes;
}

/* The first word of the table that sets `field` to `value` and that an opcode with `classes` takes. */
const char *ws_ptx_mod_word(enum mod_field field, uint32_t value, uint64_t classes)
{
	for (unsigned i = 0; i < ws_ptx_nmods; i++)
		if (ws_ptx_mods[i].field == field && ws_ptx_mods[i].value == value &&
		    (ws_ptx_mods[i].classes & classes))
			return ws_ptx_mods[i].word + 1;
	return NULL;
}

const char *ws_type_name(enum ws_type t)
{
	const char *s = ws_ptx_mod_word(MF_TYPE, t, M_TYPE);

	return s ? s : t == WS_T_OTHER ? "other" : "none";
}

const char *ws_space_name(enum ws_space s)
{
	const char *w = ws_ptx_mod_word(MF_SPACE, s, M_SPACE);

	return w ? w : s == WS_SPACE_REG ? "reg" : s == WS_SPACE_SREG ? "sreg" : s == WS_SPACE_TEX ? "tex" : "generic";
}

unsigned ws_type_bytes(enum ws_type t)
{
	static const uint8_t bytes[WS_T_COUNT] = {
		[WS_U8] = 1, [WS_U16] = 2, [WS_U32] = 4, [WS_U64] = 8, [WS_S8] = 1, [WS_S16] = 2, [WS_S32] = 4,
		[WS_S64] = 8, [WS_F16] = 2, [WS_F16X2] = 4, [WS_F32] = 4, [WS_F64] = 8, [WS_BF16] = 2, [WS_BF16X2] = 4,
		[WS_TF32] = 4, [WS_B8] = 1, [WS_B16] = 2, [WS_B32] = 4, [WS_B64] = 8, [WS_B128] = 16, [WS_U16X2] = 4,
		[WS_S16X2] = 4, [WS_F32X2] = 8, [WS_E4M3] = 1, [WS_E5M2] = 1, [WS_E4M3X2] = 2, [WS_E5M2X2] = 2,
		[WS_T_OTHER] = 8
	};

	return (unsigned)t < WS_T_COUNT ? bytes[t] : 0;
}

bool ws_type_is_signed(enum ws_type t)
{
	return (t >= WS_S8 && t <= WS_S64) || t == WS_S16X2;
}

bool ws_type_is_float(enum ws_type t)
{
	return (t >= WS_F16 && t <= WS_TF32) || t == WS_F32X2 || (t >= WS_E4M3 && t <= WS_E5M2X2);
}

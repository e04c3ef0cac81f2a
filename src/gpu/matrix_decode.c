/* matrix_decode.c - which matrix instructions are executed: mma, ldmatrix, stmatrix, movmatrix, wmma (wgmma.c: wgmma).
 * Their words come in an order of their own, so the parser keeps them as text (ptx_ops.def, M_RAW). */
#include "gpu/matrix.h"

#include <stdio.h>
#include <string.h>

/* ---- words ---- */
static bool type_word(const char *s, struct ws_mwords *w)
{
	static const struct { const char *word; uint8_t type; } types[] = {
		{"f16", WS_ME_F16}, {"bf16", WS_ME_BF16}, {"tf32", WS_ME_TF32}, {"f32", WS_ME_F32}, {"f64", WS_ME_F64},
		{"s8", WS_ME_S8}, {"u8", WS_ME_U8}, {"s32", WS_ME_S32}, {"e4m3", WS_ME_E4M3}, {"e5m2", WS_ME_E5M2},
		{"b16", WS_ME_B16},
	};

	for (size_t i = 0; i < WS_COUNT(types); i++)
		if (!strcmp(s, types[i].word) && w->ntypes < WS_COUNT(w->types)) {
			w->types[w->ntypes++] = types[i].type;
			return true;
		}
	return false;
}

static bool layout_word(const char *s, struct ws_mwords *w)
{
	if ((strcmp(s, "row") && strcmp(s, "col")) || w->nlayouts == WS_COUNT(w->column))
		return false;
	w->column[w->nlayouts++] = s[0] == 'c';
	return true;
}

static bool is_among(const char *s, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(s, words[i]))
			return true;
	return false;
}

static bool shape_word(const char *s, struct ws_mwords *w)
{
	int end = 0;

	if (sscanf(s, "m%un%uk%u%n", &w->m, &w->n, &w->k, &end) == 3 && !s[end])
		return true;
	end = 0;
	if (sscanf(s, "m%un%u%n", &w->m, &w->n, &end) == 2 && end && !s[end])
		return true;
	end = 0;
	return sscanf(s, "x%u%n", &w->count, &end) == 1 && end && !s[end];
}

static bool one_word(const char *s, struct ws_mwords *w)
{
	static const char *const nothing[] = {"sync", "aligned", "shared", "shared::cta", "global", "rn"};
	static const char *const actions[] = {"load", "store", "mma", "mma_async", "fence", "commit_group",
	                                      "wait_group"};
	static const char *const parts[] = {"a", "b", "c", "d"};

	if (is_among(s, nothing, WS_COUNT(nothing)) || type_word(s, w) || layout_word(s, w) || shape_word(s, w))
		return true;
	if (is_among(s, actions, WS_COUNT(actions)) && !w->action[0])
		return snprintf(w->action, sizeof w->action, "%s", s) > 0;
	if (is_among(s, parts, WS_COUNT(parts)) && !w->which[0])
		return snprintf(w->which, sizeof w->which, "%s", s) > 0;
	if (!strcmp(s, "trans"))
		return w->trans = true;
	if (!strcmp(s, "satfinite"))
		return w->saturate = true;
	if (!strncmp(s, "sp", 2))
		w->sparse = true;
	return false;
}

void ws_matrix_words(const struct ws_ptx_inst *in, struct ws_mwords *w)
{
	const char *s = in->extra ? in->extra : "";

	memset(w, 0, sizeof *w);
	while (*s == '.') {
		char word[sizeof w->unknown_text];
		size_t n = strcspn(s + 1, ".");

		snprintf(word, sizeof word, "%.*s", (int)n, s + 1);
		if (!one_word(word, w) && !w->unknown) {
			memcpy(w->unknown_text, word, sizeof word);
			w->unknown = w->unknown_text;
		}
		s += 1 + n;
	}
}

/* ---- refusals and operands ---- */
bool ws_matrix_refuse(struct ws_decoder *dc)
{
	const struct ws_ptx_inst *in = dc->inst;

	ws_dec_refuse(dc, WS_GPU_UNSUPPORTED, "the simulator does not know the instruction '%s%s'",
	              ws_op_info(in->op)->name, in->extra ? in->extra : "");
	return false;
}

bool ws_matrix_registers(struct ws_decoder *dc, const struct ws_operand *o, struct ws_matrix *t, unsigned which,
                         uint32_t n)
{
	struct ws_mregs *r = &t->r[which];
	uint32_t given = o->kind == WS_O_VEC ? o->sreg_or_count : 1;

	if (given != n) {
		ws_dec_refuse(dc, WS_GPU_BAD_INSTRUCTION, "an operand of '%s' has %u registers, but %u are needed",
		              ws_op_info(dc->inst->op)->name, given, n);
		return false;
	}
	r->n = n;
	r->width = t->type[which] == WS_ME_F64 ? 8 : 4;
	r->reg = ws_arena_alloc(dc->image->arena, n * sizeof *r->reg);
	for (uint32_t i = 0; i < n; i++) {
		const struct ws_operand *e = o->kind == WS_O_VEC ? &o->elems[i] : o;

		if (e->kind == WS_O_REG && ws_reg_width(e->reg) != r->width) {
			ws_dec_refuse(dc, WS_GPU_BAD_INSTRUCTION,
			              "a register of an operand of '%s' is not %u bytes wide", ws_op_info(dc->inst->op)->name, r->width);
			return false;
		}
		r->reg[i] = which == WS_MAT_D ? ws_dec_dst(dc, e) : ws_dec_src(dc, e, r->width);
		if (r->reg[i] == WS_LANE_NONE)
			return ws_matrix_refuse(dc);
	}
	return !dc->failed;
}

/* Registers of a lane that hold rows x columns elements. */
static uint32_t needed(unsigned rows, unsigned columns, unsigned type)
{
	unsigned width = type == WS_ME_F64 ? 8 : 4, bytes = rows * columns * ws_melem_bytes(type) / WS_WARP;

	return (bytes + width - 1) / width;
}

static bool is_int(unsigned type)
{
	return type == WS_ME_S8 || type == WS_ME_U8;
}

static bool is_fp8(unsigned type)
{
	return type == WS_ME_E4M3 || type == WS_ME_E5M2;
}

static bool emit(struct ws_decoder *dc, ws_op_fn *fn, const struct ws_matrix *t)
{
	struct ws_matrix *copy = ws_arena_alloc(dc->image->arena, sizeof *copy);

	*copy = *t;
	ws_dec_op(dc, fn)->u.op.ptr = copy;
	return true;
}

/* Do the types of D, A, B and C go together? */
static bool types_fit(const uint8_t *t)
{
	uint8_t d = t[WS_MAT_D], a = t[WS_MAT_A], b = t[WS_MAT_B], c = t[WS_MAT_C];

	if (is_int(a))
		return is_int(b) && d == WS_ME_S32 && c == WS_ME_S32;
	if (a == WS_ME_F64)
		return b == a && c == a && d == a;
	if (is_fp8(a) ? !is_fp8(b) : a != b)
		return false;
	if (a == WS_ME_BF16 || a == WS_ME_TF32)
		return d == WS_ME_F32 && c == WS_ME_F32;
	return (a == WS_ME_F16 || is_fp8(a)) && (d == WS_ME_F32 || d == WS_ME_F16) &&
	       (c == WS_ME_F32 || c == WS_ME_F16);
}

/* ---- mma ---- */
static bool mma_form(unsigned type, const struct ws_mwords *w)
{
	static const struct { uint8_t type, m, n, k; } forms[] = {
		{WS_ME_F16, 16, 8, 8}, {WS_ME_F16, 16, 8, 16}, {WS_ME_BF16, 16, 8, 8}, {WS_ME_BF16, 16, 8, 16},
		{WS_ME_TF32, 16, 8, 4}, {WS_ME_TF32, 16, 8, 8}, {WS_ME_F64, 8, 8, 4}, {WS_ME_F64, 16, 8, 4},
		{WS_ME_F64, 16, 8, 8}, {WS_ME_F64, 16, 8, 16}, {WS_ME_S8, 8, 8, 16}, {WS_ME_S8, 16, 8, 16},
		{WS_ME_S8, 16, 8, 32}, {WS_ME_E4M3, 16, 8, 16}, {WS_ME_E4M3, 16, 8, 32},
	};
	unsigned family = is_int(type) ? WS_ME_S8 : is_fp8(type) ? WS_ME_E4M3 : type;

	for (size_t i = 0; i < WS_COUNT(forms); i++)
		if (forms[i].type == family && forms[i].m == w->m && forms[i].n == w->n && forms[i].k == w->k)
			return true;
	return false;
}

static bool decode_mma(struct ws_decoder *dc, const struct ws_mwords *w)
{
	const struct ws_operand *o = dc->inst->ops;
	struct ws_matrix t = {.m = (uint16_t)w->m, .n = (uint16_t)w->n, .k = (uint16_t)w->k, .saturate = w->saturate};

	memcpy(t.type, w->types, sizeof t.type);
	if (w->unknown || w->action[0] || w->ntypes != 4 || w->nlayouts != 2 || w->column[0] || !w->column[1] ||
	    dc->inst->nops != 4 || !types_fit(t.type) || !mma_form(t.type[WS_MAT_A], w))
		return ws_matrix_refuse(dc);
	return ws_matrix_registers(dc, &o[0], &t, WS_MAT_D, needed(w->m, w->n, t.type[WS_MAT_D])) &&
	       ws_matrix_registers(dc, &o[1], &t, WS_MAT_A, needed(w->m, w->k, t.type[WS_MAT_A])) &&
	       ws_matrix_registers(dc, &o[2], &t, WS_MAT_B, needed(w->k, w->n, t.type[WS_MAT_B])) &&
	       ws_matrix_registers(dc, &o[3], &t, WS_MAT_C, needed(w->m, w->n, t.type[WS_MAT_C])) &&
	       emit(dc, ws_op_mma, &t);
}

/* ---- memory ---- */
static bool address(struct ws_decoder *dc, const struct ws_operand *o, struct ws_matrix *t)
{
	t->space = dc->inst->space;
	t->stride = WS_LANE_NONE;
	t->cache = dc->image->ncache++;
	return ws_dec_address(dc, o, t->space, &t->addr, &t->off, &t->addr_width) || ws_matrix_refuse(dc);
}

static bool decode_rows(struct ws_decoder *dc, const struct ws_mwords *w)
{
	const struct ws_operand *o = dc->inst->ops;
	bool load = dc->inst->op == WS_OP_ldmatrix, fits = w->count == 1 || w->count == 2 || w->count == 4;
	struct ws_matrix t = {.count = (uint8_t)w->count, .transposed = w->trans};
	unsigned which = load ? WS_MAT_D : WS_MAT_A;

	t.type[which] = WS_ME_B16;
	if (w->unknown || w->action[0] || w->ntypes != 1 || w->types[0] != WS_ME_B16 || w->m != 8 || w->n != 8 ||
	    w->k || !fits || dc->inst->nops != 2 || dc->inst->space == WS_SPACE_GLOBAL)
		return ws_matrix_refuse(dc);
	return address(dc, &o[load ? 1 : 0], &t) && ws_matrix_registers(dc, &o[load ? 0 : 1], &t, which, w->count) &&
	       emit(dc, load ? ws_op_ldmatrix : ws_op_stmatrix, &t);
}

static bool decode_movmatrix(struct ws_decoder *dc, const struct ws_mwords *w)
{
	struct ws_matrix t = {.transposed = true};

	t.type[WS_MAT_D] = t.type[WS_MAT_A] = WS_ME_B16;
	if (w->unknown || !w->trans || w->types[0] != WS_ME_B16 || w->m != 8 || w->n != 8 || dc->inst->nops != 2)
		return ws_matrix_refuse(dc);
	return ws_matrix_registers(dc, &dc->inst->ops[1], &t, WS_MAT_A, 1) &&
	       ws_matrix_registers(dc, &dc->inst->ops[0], &t, WS_MAT_D, 1) && emit(dc, ws_op_movmatrix, &t);
}

/* ---- wmma ---- */
static bool wmma_form(unsigned type, const struct ws_mwords *w)
{
	if (type == WS_ME_TF32)
		return w->m == 16 && w->n == 16 && w->k == 8;
	if (type == WS_ME_F64)
		return w->m == 8 && w->n == 8 && w->k == 4;
	return (type == WS_ME_F16 || type == WS_ME_BF16 || is_int(type)) && w->k == 16 &&
	       ((w->m == 16 && w->n == 16) || (w->m == 32 && w->n == 8) || (w->m == 8 && w->n == 32));
}

/* The operand's registers, as many as given, if the matrix fits in them. */
static bool wmma_registers(struct ws_decoder *dc, const struct ws_operand *o, struct ws_matrix *t, unsigned which)
{
	uint32_t given = o->kind == WS_O_VEC ? o->sreg_or_count : 1, least;
	unsigned rows = which == WS_MAT_B ? t->k : t->m, columns = which == WS_MAT_A ? t->k : t->n;

	least = needed(rows, columns, t->type[which]);
	return ws_matrix_registers(dc, o, t, which, given < least ? least : given);
}

/* Is the shape one of those whose accumulators (or operands) have this type? */
static bool wmma_shape(unsigned part, unsigned type, const struct ws_mwords *w)
{
	if (part == 'a' || part == 'b')
		return wmma_form(type, w);
	if (type == WS_ME_F64)
		return wmma_form(WS_ME_F64, w);
	if (type == WS_ME_F32 && wmma_form(WS_ME_TF32, w))
		return true;
	return (type == WS_ME_F16 || type == WS_ME_F32 || type == WS_ME_S32) && wmma_form(WS_ME_F16, w);
}

static bool decode_wmma_memory(struct ws_decoder *dc, const struct ws_mwords *w)
{
	const struct ws_ptx_inst *in = dc->inst;
	bool load = w->action[0] == 'l';
	struct ws_matrix t = {.m = (uint16_t)w->m, .n = (uint16_t)w->n, .k = (uint16_t)w->k, .column = w->column[0]};

	t.which = w->which[0] == 'a' ? WS_MAT_A : w->which[0] == 'b' ? WS_MAT_B : WS_MAT_D;
	t.type[t.which] = w->types[0];
	if (w->nlayouts != 1 || w->ntypes != 1 || in->nops < 2 || in->nops > 3 || w->which[0] == (load ? 'd' : 'c') ||
	    (!load && t.which != WS_MAT_D) || !wmma_shape((unsigned char)w->which[0], w->types[0], w))
		return ws_matrix_refuse(dc);
	if (!address(dc, &in->ops[load ? 1 : 0], &t))
		return false;
	if (in->nops == 3)
		t.stride = ws_dec_src(dc, &in->ops[2], 4);
	if (!load) {             /* a source, but where D lies */
		t.type[WS_MAT_C] = w->types[0];
		if (!wmma_registers(dc, &in->ops[1], &t, WS_MAT_C))
			return false;
		t.r[WS_MAT_D] = t.r[WS_MAT_C];
		return emit(dc, ws_op_wmma_store, &t);
	}
	if (!wmma_registers(dc, &in->ops[0], &t, t.which))
		return false;
	return emit(dc, ws_op_wmma_load, &t);
}

static bool decode_wmma_mma(struct ws_decoder *dc, const struct ws_mwords *w)
{
	const struct ws_operand *o = dc->inst->ops;
	struct ws_matrix t = {.m = (uint16_t)w->m, .n = (uint16_t)w->n, .k = (uint16_t)w->k, .saturate = w->saturate};

	memcpy(t.type, w->types, sizeof t.type);
	if (w->ntypes == 2) {            /* .dtype.ctype: A and B are .f16 */
		t.type[WS_MAT_C] = w->types[1];
		t.type[WS_MAT_A] = t.type[WS_MAT_B] = WS_ME_F16;
	}
	if ((w->ntypes != 2 && w->ntypes != 4) || w->nlayouts != 2 || dc->inst->nops != 4 || !types_fit(t.type) ||
	    !wmma_form(t.type[WS_MAT_A], w) || is_fp8(t.type[WS_MAT_A]))
		return ws_matrix_refuse(dc);
	for (unsigned which = 0; which < WS_MATS; which++)
		if (!wmma_registers(dc, &o[which], &t, which))
			return false;
	return emit(dc, ws_op_wmma_mma, &t);
}

static bool decode_wmma(struct ws_decoder *dc, const struct ws_mwords *w)
{
	if (w->unknown)
		return ws_matrix_refuse(dc);
	return w->action[0] == 'm' ? decode_wmma_mma(dc, w) : decode_wmma_memory(dc, w);
}

bool ws_dec_matrix(struct ws_decoder *dc)
{
	struct ws_mwords w;

	ws_matrix_words(dc->inst, &w);
	switch (dc->inst->op) {
	case WS_OP_mma:
		decode_mma(dc, &w);
		return true;
	case WS_OP_ldmatrix: case WS_OP_stmatrix:
		decode_rows(dc, &w);
		return true;
	case WS_OP_movmatrix:
		decode_movmatrix(dc, &w);
		return true;
	case WS_OP_wmma:
		decode_wmma(dc, &w);
		return true;
	case WS_OP_wgmma:
		ws_dec_wgmma(dc, &w);
		return true;
	default:
		return false;
	}
}

/* stored.c - the value that a store writes, as one or two 64-bit words: its bytes, little endian.
 *
 * Elements may stand in registers that are wider than they are, of any type of that size (PTX ISA 9.0, Operand Size
 * Exceeding Instruction-Type Size), or be constants. Moves between registers of the same size keep all bits. */
#include "rewrite/rewrite_priv.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct value {                           /* of one element or of a word made from several */
	const char *reg;                 /* NULL: the constant */
	uint64_t constant;
};

/* ---- constants ---- */
static uint64_t constant(const struct ws_operand *o, unsigned bytes)
{
	uint64_t v = o->imm;
	uint32_t low = (uint32_t)v;
	double d;
	float f;

	if (o->kind == WS_O_FLOAT && bytes == 4) {
		memcpy(&d, &v, sizeof d);
		f = (float)d;
		memcpy(&low, &f, sizeof low);
		v = low;
	} else if (o->kind == WS_O_FLOAT32 && bytes == 8) {
		memcpy(&f, &low, sizeof f);
		d = f;
		memcpy(&v, &d, sizeof v);
	}
	return bytes >= 8 ? v : v & ((1ull << 8 * bytes) - 1);
}

static const char *number(struct ws_code *c, uint64_t v)
{
	char s[24];

	snprintf(s, sizeof s, "%" PRIu64, v);
	return ws_arena_strndup(c->p->m->arena, s, strlen(s));
}

static const char *operand(struct ws_code *c, struct value v)
{
	return v.reg ? v.reg : number(c, v.constant);
}

/* ---- registers ---- */
/* The bits of a floating-point register in one without a type; others serve as they are. */
static const char *untyped(struct ws_code *c, const char *reg, enum ws_type type)
{
	unsigned bytes = ws_type_bytes(type);
	const char *to;

	if (!ws_type_is_float(type))
		return reg;
	to = ws_code_temp(c, bytes == 8 ? WS_B64 : bytes == 4 ? WS_B32 : WS_B16);
	ws_code_add(c, "mov.b%u %s, %s;", 8 * bytes, to, reg);
	return to;
}

/* A register of `have` bytes as one of `want`, 4 or 8; bits above those of the narrower one are zero or its own. */
static const char *resized(struct ws_code *c, const char *reg, unsigned have, unsigned want)
{
	const char *to;

	if (have == want)
		return reg;
	to = ws_code_temp(c, want == 8 ? WS_B64 : WS_B32);
	ws_code_add(c, "cvt.u%u.u%u %s, %s;", 8 * want, 8 * have, to, reg);
	return to;
}

/* The two halves of a register of 128 bits. */
static void halves(struct ws_code *c, const char *reg, const char *half[2])
{
	half[0] = ws_code_temp(c, WS_B64);
	half[1] = ws_code_temp(c, WS_B64);
	ws_code_add(c, "mov.b128 {%s, %s}, %s;", half[0], half[1], reg);
}

static struct value element(struct ws_code *c, const struct ws_operand *o, const char *name, unsigned bytes)
{
	unsigned have = o->kind == WS_O_REG ? ws_type_bytes(o->reg->type) : 0;
	const char *half[2];

	if (o->kind != WS_O_REG)
		return (struct value){ .constant = constant(o, bytes) };
	if (have == 16) {
		halves(c, name, half);
		return (struct value){ .reg = resized(c, half[0], 8, bytes == 8 ? 8 : 4) };
	}
	return (struct value){ .reg = resized(c, untyped(c, name, o->reg->type), have, bytes == 8 ? 8 : 4) };
}

/* Puts n elements of 1 or 2 bytes, or one of 4, into 32 bits. */
static struct value narrow_word(struct ws_code *c, const struct value *e, unsigned n, unsigned bytes)
{
	struct value word = { 0 };
	bool all_constant = true, masked;

	if (bytes == 4)
		return e[0];
	for (unsigned k = 0; k < n; k++) {
		word.constant |= e[k].reg ? 0 : e[k].constant << 8 * bytes * k;
		all_constant &= !e[k].reg;
	}
	if (all_constant)
		return word;
	masked = e[0].reg && !word.constant;
	word.reg = ws_code_temp(c, WS_B32);
	if (masked)
		ws_code_add(c, "and.b32 %s, %s, %u;", word.reg, e[0].reg, (1u << 8 * bytes) - 1);
	else
		ws_code_add(c, "mov.b32 %s, %" PRIu64 ";", word.reg, word.constant);
	for (unsigned k = masked; k < n; k++)
		if (e[k].reg)
			ws_code_add(c, "bfi.b32 %s, %s, %s, %u, %u;", word.reg, e[k].reg, word.reg, 8 * bytes * k,
				    8 * bytes);
	return word;
}

static const char *in_register(struct ws_code *c, struct value v)
{
	const char *to;

	if (v.reg)
		return v.reg;
	to = ws_code_temp(c, WS_B32);
	ws_code_add(c, "mov.b32 %s, %" PRIu64 ";", to, v.constant);
	return to;
}

static struct value wide_word(struct ws_code *c, struct value low, struct value high)
{
	struct value word = { .constant = low.constant | high.constant << 32 };

	if (!low.reg && !high.reg)
		return word;
	word.reg = ws_code_temp(c, WS_B64);
	if (!high.reg && !high.constant)
		ws_code_add(c, "cvt.u64.u32 %s, %s;", word.reg, low.reg);
	else
		ws_code_add(c, "mov.b64 %s, {%s, %s};", word.reg, in_register(c, low), in_register(c, high));
	return word;
}

/* ---- elements ---- */
enum { MOST_ELEMENTS = 16 };

struct elements {
	struct value e[MOST_ELEMENTS];
	unsigned n, bytes;
};

static void one_element(struct ws_code *c, const struct ws_operand *o, const char *name, struct elements *list)
{
	const char *half[2];

	if (list->bytes < 16 || o->kind != WS_O_REG) {
		list->e[list->n++] = element(c, o, name, list->bytes);
		return;
	}
	halves(c, name, half);
	list->e[list->n++].reg = half[0];
	list->e[list->n++].reg = half[1];
}

static void vector_register(struct ws_code *c, const struct ws_operand *o, unsigned n, struct elements *list)
{
	for (unsigned k = 0; k < n; k++) {
		struct ws_operand part = *o;

		part.component = (uint8_t)(k + 1);
		one_element(c, o, ws_code_register(c, &part), list);
	}
}

static void collect(struct ws_code *c, const struct ws_ptx_inst *i, struct elements *list)
{
	const struct ws_operand *o = &i->ops[1];

	*list = (struct elements){ .bytes = ws_type_bytes(i->type[i->ntypes - 1]) };
	if (o->kind == WS_O_REG && i->vec > 1)
		vector_register(c, o, i->vec, list);
	else if (o->kind == WS_O_VEC)
		for (unsigned k = 0; k < o->sreg_or_count && list->n < MOST_ELEMENTS; k++)
			one_element(c, &o->elems[k], o->elems[k].kind == WS_O_REG ? ws_code_register(c, &o->elems[k]) : NULL,
				    list);
	else
		one_element(c, o, o->kind == WS_O_REG ? ws_code_register(c, o) : NULL, list);
}

void ws_code_stored(struct ws_code *c, const struct ws_rw_access *a, const char *words[4])
{
	struct elements list;
	struct value part[8] = { { 0 } };
	unsigned each;

	collect(c, a->inst, &list);
	for (unsigned k = 0; k < 4; k++)
		words[k] = "0";
	if (list.bytes >= 8) {
		for (unsigned k = 0; k < list.n && k < 4; k++)
			words[k] = operand(c, list.e[k]);
		return;
	}
	each = list.bytes < 4 ? 4 / list.bytes : 1;
	for (unsigned k = 0; k * each < list.n; k++) {
		unsigned rest = list.n - k * each;

		part[k] = narrow_word(c, &list.e[k * each], rest < each ? rest : each, list.bytes);
	}
	for (unsigned k = 0; k < 4; k++)
		words[k] = operand(c, wide_word(c, part[2 * k], part[2 * k + 1]));
}

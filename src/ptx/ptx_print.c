/* ptx_print.c - a module as text, an instruction in canonical form, and the graph dump of `warpsafe ptx --cfg`. */
#include "ptx/ptx_priv.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- the module with its edits ---- */
void ws_ptx_edit(struct ws_ptx_module *m, uint32_t at, uint32_t len, uint32_t rank, const char *text)
{
	struct ws_ptx_edits *e = m->edits;

	if (!e)
		e = m->edits = ws_arena_alloc(m->arena, sizeof *e);
	if (e->n == e->cap) {
		struct ws_ptx_edit *old = e->list;

		e->cap = e->cap ? 2 * e->cap : 64;
		e->list = ws_arena_alloc(m->arena, e->cap * sizeof *e->list);
		if (e->n)
			memcpy(e->list, old, e->n * sizeof *old);
	}
	e->list[e->n++] = (struct ws_ptx_edit){ at, len, rank, ws_arena_strndup(m->arena, text, strlen(text)) };
}

static int by_place(const void *a, const void *b)
{
	const struct ws_ptx_edit *x = *(struct ws_ptx_edit *const *)a, *y = *(struct ws_ptx_edit *const *)b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return (x > y) - (x < y);        /* the order in which they were made: they stand in one array */
}

void ws_ptx_print(const struct ws_ptx_module *m, struct ws_buf *out)
{
	ws_ptx_print_span(m, 0, m->text_len, out);
}

static const char *as_made(void *user, const struct ws_ptx_edit *e)
{
	return e->text;
}

void ws_ptx_print_span(const struct ws_ptx_module *m, size_t at, size_t end, struct ws_buf *out)
{
	ws_ptx_print_chosen(m, at, end, as_made, NULL, out);
}

void ws_ptx_print_chosen(const struct ws_ptx_module *m, size_t at, size_t end, ws_ptx_choose *choose, void *user, struct ws_buf *out)
{
	size_t n = m->edits ? m->edits->n : 0;
	const struct ws_ptx_edit **sorted = ws_alloc((n + 1) * sizeof *sorted);

	for (size_t k = 0; k < n; k++)
		sorted[k] = &m->edits->list[k];
	qsort(sorted, n, sizeof *sorted, by_place);
	for (size_t k = 0; k < n; k++) {
		const char *text = sorted[k]->at < at || sorted[k]->at > end ? NULL : choose(user, sorted[k]);

		if (!text)
			continue;
		ws_buf_add(out, m->text + at, sorted[k]->at - at);
		ws_buf_puts(out, text);
		at = sorted[k]->at + (size_t)sorted[k]->len;
	}
	ws_buf_add(out, m->text + at, end - at);
	free(sorted);
}

/* ---- mnemonic ---- */
static void word(struct ws_buf *out, enum mod_field field, uint32_t value, uint64_t classes)
{
	const char *w = value ? ws_ptx_mod_word(field, value, classes) : NULL;

	if (w)
		ws_buf_printf(out, ".%s", w);
}

static void flag_words(struct ws_buf *out, const struct ws_ptx_inst *i, const uint32_t *flags, unsigned n,
		       uint64_t classes)
{
	for (unsigned k = 0; k < n; k++)
		word(out, MF_FLAG, i->flags & flags[k], classes);
}

static void type_words(struct ws_buf *out, const struct ws_ptx_inst *i)
{
	for (unsigned k = 0; k < i->ntypes; k++)
		ws_buf_printf(out, ".%s", ws_type_name(i->type[k]));
}

static void mode_words(struct ws_buf *out, const struct ws_ptx_inst *i, uint64_t classes)
{
	if (i->mode == WS_MODE_WARP_SYNC)
		ws_buf_puts(out, ".warp.sync");
	else if (i->mode != WS_MODE_OTHER && i->mode != WS_MODE_PROXY)
		word(out, MF_MODE, i->mode, classes);
}

/* The order is the one of the ISA's syntax lines: variant, memory order, mode, space, operation, rounding, flags,
 * hints, vector, types. ptxas takes these words in any order; video and prmt alone want their types first. */
static void mnemonic(struct ws_buf *out, const struct ws_ptx_inst *i)
{
	static const uint32_t first[] = { WS_F_CC, WS_F_APPROX, WS_F_FULL };
	static const uint32_t second[] = {
		WS_F_FTZ, WS_F_SAT, WS_F_CLAMP, WS_F_WRAP, WS_F_SHIFTAMT, WS_F_NAN, WS_F_XORSIGN, WS_F_ABS, WS_F_OOB,
		WS_F_RELU, WS_F_SATFINITE, WS_F_NOFTZ, WS_F_NC, WS_F_UNIFIED, WS_F_UNI, WS_F_ALIGNED
	};
	static const uint32_t sync = WS_F_SYNC, hint = WS_F_CACHE_HINT;
	uint64_t c = ws_ptx_ops[i->op].mods;
	bool types_first = (c & M_(VIDEO)) || i->op == WS_OP_prmt;
	bool variant = i->mode == WS_MODE_OTHER || i->mode == WS_MODE_PROXY;
	unsigned nsecond = WS_COUNT(second) - (i->op == WS_OP_bar);      /* bar implies .aligned */

	if (types_first)
		type_words(out, i);
	if (variant)
		ws_buf_printf(out, "%s%s", i->mode == WS_MODE_PROXY ? ".proxy" : "", i->extra ? i->extra : "");
	word(out, MF_SEM, i->sem, c);
	if (i->sem == WS_SEM_MMIO)
		ws_buf_puts(out, ".relaxed");
	word(out, MF_SCOPE, i->scope, c);
	flag_words(out, i, &sync, 1, c);
	mode_words(out, i, c);
	word(out, MF_PART, i->part, c);
	word(out, MF_SPACE, i->space, c);
	word(out, MF_CMP, i->cmp, c);
	word(out, MF_BOOL, i->boolop, c);
	if (!(c & M_(VIDEO)))
		word(out, MF_ATOM, i->atom, c);
	flag_words(out, i, first, WS_COUNT(first), c);
	word(out, MF_RND, i->rnd, c);
	flag_words(out, i, second, nsecond, c);
	if (c & M_(VIDEO))
		word(out, MF_ATOM, i->atom, c);
	if (!variant && i->extra)
		ws_buf_puts(out, i->extra);
	flag_words(out, i, &hint, 1, c);
	word(out, MF_VEC, i->vec > 1 ? i->vec : 0, c);
	if (!types_first)
		type_words(out, i);
}

/* ---- operands ---- */
static void offset(struct ws_buf *out, int64_t v)
{
	if (v)
		ws_buf_printf(out, "+%" PRId64, v);
}

static void selector(const struct ws_ptx_func *f, const struct ws_operand *o, struct ws_buf *out)
{
	const char *text = f->module->text + o->off;
	unsigned n = o->component & 15;

	if (!o->component)
		return;
	if (o->component < 0x10) {
		ws_buf_printf(out, ".%c", "xyzw"[(n - 1) & 3]);
	} else if (o->component < 0x30) {
		ws_buf_printf(out, ".%c%u", o->component < 0x20 ? 'b' : 'h', n);
	} else {
		const char *dot = memrchr(text, '.', o->len);

		if (dot)
			ws_buf_add(out, dot, o->len - (size_t)(dot - text));
	}
}

static void operand(const struct ws_ptx_func *f, const struct ws_operand *o, bool table, bool inside,
		    struct ws_buf *out);

static void list(const struct ws_ptx_func *f, const struct ws_operand *elems, unsigned n, const char *ends,
		 struct ws_buf *out)
{
	ws_buf_add(out, ends, 1);
	for (unsigned k = 0; k < n; k++) {
		ws_buf_puts(out, k ? ", " : "");
		operand(f, &elems[k], false, *ends == '[', out);
	}
	ws_buf_add(out, ends + 1, 1);
}

static void address(const struct ws_ptx_func *f, const struct ws_operand *o, bool inside, struct ws_buf *out)
{
	ws_buf_puts(out, inside ? "" : "[");
	if (o->reg || o->sym) {
		ws_buf_puts(out, o->reg ? o->reg->name : o->sym->name);
		selector(f, o, out);
		offset(out, o->offset);
	} else {
		ws_buf_printf(out, "%" PRId64, o->offset);
	}
	ws_buf_puts(out, inside ? "" : "]");
}

static void operand(const struct ws_ptx_func *f, const struct ws_operand *o, bool table, bool inside,
		    struct ws_buf *out)
{
	switch ((enum ws_operand_kind)o->kind) {
	case WS_O_NONE: break;
	case WS_O_REG:
		if (o->negated)
			ws_buf_puts(out, o->reg->type == WS_PRED ? "!" : "-");
		ws_buf_puts(out, o->reg->name);
		selector(f, o, out);
		break;
	case WS_O_SREG: ws_buf_printf(out, "%s%s", o->negated ? "!" : "", ws_sreg_name(o->sreg_or_count)); break;
	case WS_O_INT: ws_buf_printf(out, "%" PRId64, (int64_t)o->imm); break;
	case WS_O_FLOAT: ws_buf_printf(out, "0d%016" PRIX64, o->imm); break;
	case WS_O_FLOAT32: ws_buf_printf(out, "0f%08" PRIX64, o->imm); break;
	case WS_O_SYM:
		ws_buf_puts(out, o->sym->name);
		offset(out, o->offset);
		break;
	case WS_O_ADDR: address(f, o, inside, out); break;
	case WS_O_VEC: list(f, o->elems, o->sreg_or_count, "{}", out); break;
	case WS_O_TEX: list(f, o->elems, o->sreg_or_count, "[]", out); break;
	case WS_O_LIST: list(f, o->elems, o->sreg_or_count, "()", out); break;
	case WS_O_LABEL: ws_buf_puts(out, table ? f->tables[o->label].name : f->labels[o->label].name); break;
	case WS_O_SINK: ws_buf_puts(out, "_"); break;
	}
}

static void call(const struct ws_ptx_func *f, const struct ws_ptx_call *c, struct ws_buf *out)
{
	ws_buf_puts(out, " ");
	if (c->nrets) {
		list(f, c->rets, c->nrets, "()", out);
		ws_buf_puts(out, ", ");
	}
	operand(f, c->target, false, false, out);
	if (c->nargs) {
		ws_buf_puts(out, ", ");
		list(f, c->args, c->nargs, "()", out);
	}
	if (c->proto)
		ws_buf_printf(out, ", %s", c->proto->name);
}

void ws_ptx_print_inst(const struct ws_ptx_func *f, const struct ws_ptx_inst *i, struct ws_buf *out)
{
	if (i->guard)
		ws_buf_printf(out, "@%s%s ", i->guard_neg ? "!" : "", i->guard->name);
	if (i->op == WS_OP_unknown) {
		ws_buf_printf(out, "%s;", i->extra);
		return;
	}
	ws_buf_puts(out, ws_op_info(i->op)->name);
	if (ws_ptx_is_raw(i))
		ws_buf_puts(out, i->extra ? i->extra : "");
	else if (i->op == WS_OP_membar && i->scope == WS_SCOPE_GPU)
		ws_buf_puts(out, ".gl");
	else
		mnemonic(out, i);
	if (i->call)
		call(f, i->call, out);
	for (unsigned k = 0; k < i->nops; k++) {
		ws_buf_puts(out, i->ops[k].paired ? "|" : k ? ", " : " ");
		operand(f, &i->ops[k], i->op == WS_OP_brx, false, out);
	}
	ws_buf_puts(out, ";");
}

void ws_ptx_where(const struct ws_ptx_module *m, const struct ws_ptx_inst *i, struct ws_buf *out)
{
	const struct ws_ptx_loc *l = i->loc;

	if (l && l->file < m->nfiles && m->files[l->file].path)
		ws_buf_printf(out, "%s:%u", m->files[l->file].path, l->line);
	else
		ws_buf_printf(out, "%s:%u", m->path, i->line);
}

/* ---- --cfg ---- */
static void block_list(struct ws_buf *out, const char *what, const uint32_t *b, uint32_t n)
{
	ws_buf_printf(out, "  %s:", what);
	for (uint32_t k = 0; k < n; k++)
		ws_buf_printf(out, " B%u", b[k]);
	ws_buf_puts(out, n ? "\n" : " none\n");
}

static void block_name(struct ws_buf *out, const char *what, uint32_t b)
{
	if (b == WS_EXIT_BLOCK)
		ws_buf_printf(out, "  %s: none\n", what);
	else
		ws_buf_printf(out, "  %s: B%u\n", what, b);
}

static void live_list(struct ws_buf *out, const char *what, const struct ws_ptx_func *f, const uint64_t *set)
{
	ws_buf_printf(out, "  %s:%s", what, set ? "" : " not known, the function is too large");
	for (uint32_t r = 0; set && r < f->nregs; r++)
		if (set[r >> 6] >> (r & 63) & 1)
			ws_buf_printf(out, " %s", f->regs[r]->name);
	ws_buf_puts(out, "\n");
}

void ws_ptx_print_cfg(const struct ws_ptx_func *f, struct ws_buf *out)
{
	struct ws_ptx_func *made = (struct ws_ptx_func *)f;      /* cfg and liveness fill what is missing */

	ws_buf_printf(out, "%s %s:\n", f->entry ? "entry" : "func", f->name);
	if (f->declared_only) {
		ws_buf_puts(out, "  declared only\n");
		return;
	}
	ws_ptx_liveness(made);
	for (uint32_t b = 0; b < f->nblocks; b++) {
		const struct ws_ptx_block *k = &f->blocks[b];

		ws_buf_printf(out, "B%u: instructions %u to %u\n", b, k->first, k->last);
		block_list(out, "successors", k->succ, k->nsucc);
		block_list(out, "predecessors", k->pred, k->npred);
		block_name(out, "immediate dominator", k->idom);
		block_name(out, "immediate post-dominator", k->ipdom);
		live_list(out, "live in", f, k->live_in);
		for (uint32_t i = k->first; i <= k->last; i++) {
			ws_buf_puts(out, "    ");
			ws_ptx_print_inst(f, &f->insts[i], out);
			ws_buf_puts(out, "\n");
		}
		live_list(out, "live out", f, k->live_out);
	}
}

/* ---- docs/PTX.md ---- */
void ws_ptx_print_coverage(struct ws_buf *out)
{
	ws_buf_puts(out, "| opcode | PTX | target | simulated | section of the PTX ISA 9.0 |\n|---|---|---|---|---|\n");
	for (unsigned op = 1; op < WS_OP_COUNT; op++) {
		const struct ws_op_info *n = ws_op_info(op);

		if (op == WS_OP_unknown)
			continue;
		ws_buf_printf(out, "| `%s` | %u.%u | sm_%u | %s | %s |\n", n->name, n->ptx_version / 10,
			      n->ptx_version % 10, n->sm, n->simulated ? "yes" : "no", n->section);
	}
}

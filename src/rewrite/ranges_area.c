/* ranges_area.c - the allocation in which an access lies whose address cannot be computed beforehand.
 *
 * An address is traced to the pointers that it is counted from: parameters of the kernel, constants and variables, to
 * which numbers of any kind are added, also in loops. An access is taken to stay in the allocation that its pointer points
 * into, and in its variable: where it does not, the program is wrong in another way (docs/REWRITE.md says so to users).
 * Which allocation that is, the host knows and the entry asks for (race_area in src/device/race.cu); memory that did not
 * come from one of the driver's functions for whole allocations is not known, and then nothing is proved.
 *
 * What is loaded from memory counts as a number when it is added to such a pointer, and as nothing else: an address that
 * was loaded has no known pointer. Of a register with several definitions each must be a pointer, or each a number;
 * which one it is now does not matter. */
#include "rewrite/ranges_priv.h"

#include <string.h>

enum kind {
	UNCLEAR, NUMBER, POINTER,
	ITSELF                           /* what a loop goes on with, or a null pointer: says nothing of its own */
};

static enum kind of_operand(struct values *v, const struct ws_operand *o, struct bases *out);

static bool add_base(struct bases *b, uint32_t leaf)
{
	for (unsigned k = 0; k < b->n; k++)
		if (b->leaf[k] == leaf)
			return true;
	if (b->n == MOST_BASES)
		return false;
	b->leaf[b->n++] = leaf;
	return true;
}

/* How wide an address is: in shared memory as compilers like it, nvcc 32 bits, clang 64. Narrower numbers are no addresses, nor are others of shared
 * memory than those of variables. */
static unsigned address_bytes(const struct values *v)
{
	return v->shared && !v->wide ? 4 : 8;
}

/* The value of a parameter or constant, or a variable's address with an offset. */
static enum kind base(struct values *v, const struct ws_ptx_inst *i, struct bases *out)
{
	struct sum s;

	if (v->shared && i->op == WS_OP_ld)
		return NUMBER;

	if (!ws_value_result(v, i, &s))
		return UNCLEAR;
	ws_sum_take_constant(&s);
	return s.n == 1 && s.t[0].n == 1 && s.t[0].factor == 1 && add_base(out, s.t[0].leaf[0]) ? POINTER : UNCLEAR;
}

static enum kind one_of(enum kind a, enum kind b)
{
	return a == ITSELF || a == b ? b : b == ITSELF ? a : UNCLEAR;
}

static enum kind sum_of(enum kind a, enum kind b)
{
	if (a == UNCLEAR || b == UNCLEAR || (a == POINTER && b == POINTER))
		return UNCLEAR;
	return a == POINTER || b == POINTER ? POINTER : a == ITSELF || b == ITSELF ? ITSELF : NUMBER;
}

static enum kind difference_of(enum kind a, enum kind b)
{
	if (b == POINTER)
		return a == POINTER ? NUMBER : UNCLEAR;
	return b == UNCLEAR ? UNCLEAR : a;
}

static enum kind moved(struct values *v, const struct ws_ptx_inst *i, struct bases *out)
{
	return i->ops[1].kind == WS_O_SYM ? base(v, i, out) : of_operand(v, &i->ops[1], out);
}

static enum kind loaded(struct values *v, const struct ws_ptx_inst *i, struct bases *out)
{
	return i->space == WS_SPACE_PARAM || (i->space == WS_SPACE_CONST && !i->ops[1].reg) ? base(v, i, out) : NUMBER;
}

static enum kind of_both(struct values *v, const struct ws_ptx_inst *i, struct bases *out,
			 enum kind (*f)(enum kind, enum kind))
{
	enum kind a = of_operand(v, &i->ops[1], out);

	return f(a, of_operand(v, &i->ops[2], out));
}

/* Is each of the first n operands no pointer? */
static enum kind of_numbers(struct values *v, const struct ws_ptx_inst *i, unsigned n, struct bases *out)
{
	enum kind all = NUMBER;

	for (unsigned k = i->ops[1].paired ? 2 : 1; n--; k++)            /* behind what a shuffle gives */
		all = sum_of(all, of_operand(v, &i->ops[k], out));
	return all == NUMBER ? NUMBER : UNCLEAR;
}

/* What the instruction gives, in 64 bits. */
static enum kind of_result(struct values *v, const struct ws_ptx_inst *i, struct bases *out)
{
	switch (i->op) {
	case WS_OP_ld:
		return loaded(v, i, out);
	case WS_OP_mov:
		return moved(v, i, out);
	case WS_OP_cvta:
		return i->space == (v->shared ? WS_SPACE_SHARED : WS_SPACE_GLOBAL) ? moved(v, i, out) : UNCLEAR;
	case WS_OP_cvt:
		if (address_bytes(v) == 4)
			return ws_type_is_float((enum ws_type)i->type[1]) ? NUMBER : ws_type_bytes((enum ws_type)i->type[1]) == 8 ? UNCLEAR : of_operand(v, &i->ops[1], out);
		return ws_type_bytes((enum ws_type)i->type[1]) == 8 ? of_operand(v, &i->ops[1], out) : NUMBER;
	case WS_OP_add:
		return of_both(v, i, out, sum_of);
	case WS_OP_sub:
		return of_both(v, i, out, difference_of);
	case WS_OP_selp:
		return of_both(v, i, out, one_of);
	case WS_OP_mad:
		return sum_of(NUMBER, of_operand(v, &i->ops[3], out));
	case WS_OP_mul: case WS_OP_mul24: case WS_OP_shl: case WS_OP_shr: case WS_OP_div: case WS_OP_rem: case WS_OP_bfe: case WS_OP_atom:
	case WS_OP_popc: case WS_OP_clz: case WS_OP_bfind: case WS_OP_activemask: case WS_OP_vote: case WS_OP_match: case WS_OP_dp4a:
		return NUMBER;
	case WS_OP_and: case WS_OP_or: case WS_OP_xor: case WS_OP_min: case WS_OP_max:
		return of_numbers(v, i, 2, out);
	case WS_OP_lop3: case WS_OP_bfi: case WS_OP_prmt:
		return of_numbers(v, i, 3, out);
	case WS_OP_not: case WS_OP_neg: case WS_OP_abs: case WS_OP_brev: case WS_OP_shfl:
		return of_numbers(v, i, 1, out);
	default:
		return UNCLEAR;
	}
}

static enum kind of_register(struct values *v, const struct ws_reg *r, struct bases *out)
{
	const struct defs *d = &v->defs[r->index];
	enum kind all = ITSELF;

	if (r->vec != 1 || !d->n || d->n > MOST_DEFS || !v->steps)
		return UNCLEAR;
	if (ws_value_is_busy(v, r))
		return ITSELF;
	v->steps--;
	v->busy[r->index] = 1;
	for (uint32_t k = 0; k < d->n && all != UNCLEAR; k++)
		all = one_of(all, of_result(v, d->at[k], out));
	v->busy[r->index] = 0;
	return all;
}

static enum kind of_operand(struct values *v, const struct ws_operand *o, struct bases *out)
{
	if (o->negated || o->component)
		return UNCLEAR;
	if (o->kind == WS_O_INT)
		return o->imm ? NUMBER : ITSELF;
	if (o->kind == WS_O_SREG)
		return NUMBER;
	if (o->kind != WS_O_REG)
		return UNCLEAR;
	if (ws_type_bytes(o->reg->type) > address_bytes(v))
		return UNCLEAR;
	return ws_type_bytes(o->reg->type) == address_bytes(v) ? of_register(v, o->reg, out) : NUMBER;
}

static bool has_area(const struct leaf *l)
{
	return ws_leaf_is_pointer(l) && (l->kind != LEAF_SYMBOL || l->sym->size > 0);
}

bool ws_area_bases(struct values *v, const struct ws_rw_access *a, struct bases *out)
{
	const struct ws_reg *r = a->address->reg;

	out->n = 0;
	v->wide = r && ws_type_bytes(r->type) == 8;
	if (!r || a->address->component || ws_type_bytes(r->type) != address_bytes(v) || of_register(v, r, out) != POINTER)
		return false;
	for (unsigned k = 0; k < out->n && !v->shared; k++)
		if (!has_area(&v->leaves[out->leaf[k]]))
			return false;
	return out->n > 0;
}

/* Is it a read of constants that the mathematical functions of CUDA's compiler keep in variables? They have names that are no
 * program's, and are written by nobody. */
bool ws_area_is_table(struct values *v, const struct ws_rw_access *a)
{
	static const char ours[] = "__cudart_";
	struct bases b;

	if (a->rw_class != WS_RW_CHECK || a->kind != WS_RW_READ || !(a->inst->flags & WS_F_NC) || !ws_area_bases(v, a, &b))
		return false;
	for (unsigned k = 0; k < b.n; k++)
		if (v->leaves[b.leaf[k]].kind != LEAF_SYMBOL || strncmp(v->leaves[b.leaf[k]].sym->name, ours, sizeof ours - 1) != 0)
			return false;
	return true;
}

void ws_area_tables(struct ws_ptx_func *f, const struct ws_rw_access *list, uint32_t n, struct ws_needless *needless)
{
	struct values v;

	ws_values_init(&v, f);
	for (uint32_t k = 0; k < n; k++)
		needless[k].skip |= ws_area_is_table(&v, &list[k]);
	ws_values_free(&v);
}

/* Host memory, too; but the window of shared memory has no address that a host could have given. */
void ws_area_settle(struct ws_ptx_func *kernel, struct ws_rw_access *list, uint32_t n)
{
	struct values v;
	struct bases b;

	ws_values_init(&v, kernel);
	for (uint32_t k = 0; k < n; k++) {
		struct ws_rw_access *a = &list[k];

		if (a->rw_class != WS_RW_CHECK || a->space != WS_SPACE_GENERIC)
			continue;
		a->generic = ws_ranges_in_shared(&v, a->address->reg);
		if (a->generic)
			a->space = WS_SPACE_SHARED;
		else if (ws_area_bases(&v, a, &b))
			a->space = WS_SPACE_GLOBAL;
	}
	ws_values_free(&v);
}

bool ws_area_does_nothing(struct ws_ptx_func *f)
{
	enum { HOOKS = WS_FX_BARRIER | WS_FX_WARP | WS_FX_FENCE | WS_FX_ASYNC | WS_FX_SYNC | WS_FX_ATOMIC };
	const struct ws_rw_access *list;
	struct values v;
	uint32_t n;
	bool nothing = !f->declared_only;

	for (uint32_t k = 0; k < f->ninsts; k++)
		nothing &= !(ws_op_info(f->insts[k].op)->fx & HOOKS) && f->insts[k].op != WS_OP_exit && f->insts[k].op != WS_OP_unknown;
	if (!nothing)
		return false;
	list = ws_rw_accesses(f, &n);
	ws_values_init(&v, f);
	for (uint32_t k = 0; k < n; k++)
		nothing &= list[k].rw_class == WS_RW_EXEMPT || ws_area_is_table(&v, &list[k]);
	ws_values_free(&v);
	return nothing;
}

bool ws_area_calls_nothing(const struct ws_reach *reach, const struct ws_rw_kernel *k)
{
	for (uint32_t m = 0; m < reach->m->nfuncs; m++)
		if (reach->m->funcs[m] != k->func && ws_rw_reaches(k, reach->m->funcs[m]) && !ws_area_does_nothing(reach->m->funcs[m]))
			return false;
	return true;
}

/* ---- the entry ---- */
/* The row of the allocation in the host's table: where it begins, and ends. At a null pointer nothing is. */
static void look_up(struct entry *e, struct num pointer, struct num *lo, struct num *hi)
{
	const char *row = ws_code_temp(e->c, WS_B64), *arg = ws_entry_text(e, &pointer);
	const char *found = ws_code_temp(e->c, WS_PRED), *known = ws_code_temp(e->c, WS_PRED);

	*lo = *hi = (struct num){ .bits = 57 };
	lo->reg = ws_code_temp(e->c, WS_B64);
	hi->reg = ws_code_temp(e->c, WS_B64);
	ws_code_device_only(e->c, true);
	ws_inline(e->c, "race_area", &arg, 1, row);
	ws_code_add(e->c, "setp.ne.s64 %s, %s, 0;", found, row);
	ws_code_add(e->c, "setp.eq.or.s64 %s, %s, 0, %s;", known, arg, found);
	ws_code_add(e->c, "and.pred %s, %s, %s;", e->ok, e->ok, known);
	ws_code_add(e->c, "mov.b64 %s, 0;", lo->reg);
	ws_code_add(e->c, "mov.b64 %s, 0;", hi->reg);
	ws_code_add(e->c, "@%s ld.global.v2.b64 {%s, %s}, [%s];", found, lo->reg, hi->reg, row);
	ws_code_device_only(e->c, false);
	ws_code_host(e->c, "area.start %s, %s;", lo->reg, arg);
	ws_code_host(e->c, "area.end %s, %s;", hi->reg, arg);
	ws_code_host(e->c, "area.known %s, %s;", known, arg);
	ws_code_host(e->c, "and.pred %s, %s, %s;", e->ok, e->ok, known);
}

void ws_area_bounds(struct entry *e, uint32_t leaf, struct num *lo, struct num *hi)
{
	const struct leaf *l = &e->v->leaves[leaf];
	const struct sum s = ws_sum_of_leaf(leaf);

	ws_entry_bounds(e, &s, lo, hi);
	if (l->kind != LEAF_SYMBOL)
		look_up(e, *lo, lo, hi);
	else
		*hi = ws_entry_add(e, *lo, ws_entry_number((int64_t)l->sym->size));
}

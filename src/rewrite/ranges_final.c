/* ranges_final.c - the block that arrives last.
 *
 *     write; __threadfence();
 *     last = atomicAdd(&counter, 1) == gridDim.x - 1;         one thread of each block, always
 *     __threadfence(); __syncthreads();
 *     if (last) ...
 *
 * Let one thread of each block, and no other one, add one to a counter, once and whatever happens; nothing else in the launch
 * changes the counter, and it was 0 when the launch began. Then who finds there one less than there are blocks has found
 * what all others have released: each has fenced before. So what blocks do before their fence is before what that thread does
 * behind a fence of its own, and before what its block does behind the next barrier (PTX ISA 9.0, 8.8 and 8.9.5). And what is
 * done there is done by one block.
 *
 * `before` are accesses that come before the fence: by barriers, or because the same thread executes both; or who made them has a fence.sc of its
 * own behind them, and then a barrier, before that thread arrives: that fence is before the one of the last block, which is a fence.sc, too, for the
 * other way round the last block's thread would have found an atomic that comes later. `behind` are those of
 * the last block alone, and behind the fence. That may be said by a flag in shared memory, which that one thread always writes
 * and the others read behind a barrier. The number of blocks, and that it is one thread, is examined at the entry; the counter's
 * value at the launch's beginning by its first block (race_starts_at_zero in src/device/race.cu).
 * Instructions with a guard are none of these; a loop around any of them ends the proof. */
#include "rewrite/ranges_priv.h"

#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 8, MOST_TRIES = 8, COUNTER_BYTES = 4 };

struct finder {
	struct values *v;
	const struct ws_rw_access *list;
	uint32_t n;
	const struct ws_intervals *between;
	const uint8_t *dead;
	struct ws_final *out;
	const struct ws_ptx_inst *arrives, *releases, *acquires;
	const struct ws_rw_access *flag;         /* the store to it; NULL = none */
	uint8_t *seen, *is_last;                 /* by instruction; by block: at its beginning */
	uint32_t *stack, depth;
};

/* ---- what a thread may come to ---- */
static const struct ws_ptx_inst *only_def(const struct values *v, const struct ws_reg *r)
{
	const struct defs *d = r && r->vec == 1 ? &v->defs[r->index] : NULL;

	return d && d->n == 1 && !d->at[0]->guard ? d->at[0] : NULL;
}

static bool in_loop(const struct finder *x, const struct ws_ptx_inst *i)
{
	return !ws_is_made_once(x->v, i);
}

/* Is it a number of the thread in its block, or a size? */
static bool is_of_thread(const struct finder *x, const struct sum *s)
{
	for (uint32_t k = 0; k < s->n; k++)
		for (uint32_t n = 0; n < s->t[k].n; n++) {
			const struct leaf *l = &x->v->leaves[s->t[k].leaf[n]];

			if (l->kind != LEAF_SPECIAL || (!l->fixed && l->special > WS_SR_TID_Z))
				return false;
		}
	return true;
}

/* Are both equal in the thread that arrives, as the number that it has in its block says, whichever that is? */
static bool is_pinned(struct finder *x, const struct ws_operand *a, const struct ws_operand *b, const struct ws_ptx_inst *at)
{
	struct sum one, other;

	x->v->access = at;
	if (!ws_pins_operand(x->v, a, 4, at, &one) || !ws_pins_operand(x->v, b, 4, at, &other) || !is_of_thread(x, &one) ||
	    !is_of_thread(x, &other) || !ws_sum_add(&one, &other, -1))
		return false;
	for (unsigned k = 0; k < x->out->pins.n; k++)
		if (ws_sum_equal(&x->out->pins.zero[k], &one))
			return true;
	return false;
}

/* Does it compare what is equal in that thread? a | b with 0: both are. */
static bool finds_equal(struct finder *x, const struct ws_ptx_inst *d)
{
	const struct ws_ptx_inst *value = only_def(x->v, d->ops[1].reg);

	if (!value)
		value = ws_pins_coordinate(x->v, d->ops[1].reg);
	if (!value || in_loop(x, value))
		return false;
	if (value->op == WS_OP_or && d->ops[2].kind == WS_O_INT && !d->ops[2].imm && ws_type_bytes((enum ws_type)value->type[0]) == 4)
		return is_pinned(x, &value->ops[1], &d->ops[2], value) && is_pinned(x, &value->ops[2], &d->ops[2], value);
	return is_pinned(x, &d->ops[1], &d->ops[2], d);
}

/* Which way a branch never goes in the thread that arrives, whatever its block is: the comparison of its number has been made on
 * its way there. */
static uint8_t not_taken(struct finder *x, const struct ws_ptx_inst *i)
{
	const struct ws_ptx_inst *d = i->op == WS_OP_bra && i->guard ? only_def(x->v, i->guard) : NULL;
	struct bound b;

	if (!d || d->op != WS_OP_setp || d->guard || d->ops[1].kind != WS_O_REG || !ws_equal_by(d, d->ops[1].reg, d->cmp == WS_EQ, &b) ||
	    ws_type_bytes(b.type) != 4 || !finds_equal(x, d))
		return 0;
	return (d->cmp == WS_EQ) != i->guard_neg ? WS_DEAD_NEXT : WS_DEAD_TAKEN;
}

static void walk_block(struct finder *x, uint32_t i, const struct ws_ptx_inst *stop, bool one)
{
	const struct ws_ptx_func *f = x->v->f;
	const struct ws_ptx_block *b = &f->blocks[f->insts[i].block];
	uint8_t never;

	for (; i <= b->last; i++) {
		if (&f->insts[i] == stop || x->seen[i])
			return;
		x->seen[i] = 1;
	}
	never = one ? not_taken(x, &f->insts[b->last]) : 0;
	for (uint32_t k = 0; k < b->nsucc; k++) {
		const struct ws_ptx_block *to = &f->blocks[b->succ[k]];
		uint8_t way = to->first == b->last + 1 ? WS_DEAD_NEXT : WS_DEAD_TAKEN;

		if (b->nsucc < 2 || (way != never && !(x->dead && x->dead[b->last] == way)))
			x->stack[x->depth++] = to->first;
	}
}

/* Marks what may be executed from instruction `from` on before `stop` is; one: by the thread that arrives. */
static void walk(struct finder *x, uint32_t from, const struct ws_ptx_inst *stop, bool one)
{
	memset(x->seen, 0, x->v->f->ninsts);
	x->depth = 0;
	if (from < x->v->f->ninsts)
		walk_block(x, from, stop, one);
	while (x->depth) {
		from = x->stack[--x->depth];
		if (!x->seen[from])
			walk_block(x, from, stop, one);
	}
}

/* Does the thread that arrives come to `i` whatever happens, when it has come to `from`? */
static bool always_comes(struct finder *x, uint32_t from, const struct ws_ptx_inst *i)
{
	const struct ws_ptx_func *f = x->v->f;

	walk(x, from, i, true);
	for (uint32_t k = 0; k < f->ninsts; k++)
		if (x->seen[k] && (ws_op_info(f->insts[k].op)->fx & WS_FX_EXIT ||
				   (k == f->blocks[f->insts[k].block].last && !f->blocks[f->insts[k].block].nsucc)))
			return false;
	return true;
}

static bool always_between(struct finder *x, uint32_t from, const struct ws_ptx_inst *i, const struct ws_ptx_inst *to)
{
	walk(x, from, i, true);
	return !x->seen[to->index];
}

static bool meet(const struct finder *x, const struct ws_ptx_inst *a, const struct ws_ptx_inst *b)
{
	return !x->between || ws_intervals_meet(x->between, a->index, b->index);
}

/* Is a always in an earlier interval between barriers than b, whichever threads execute them? */
static bool barrier_between(const struct finder *x, const struct ws_ptx_inst *a, const struct ws_ptx_inst *b)
{
	return x->between && !meet(x, a, b) && !ws_intervals_later(x->between, b->index, a->index);
}

/* ---- the thread that arrives ---- */
static bool by_that_thread(struct finder *x, const struct ws_rw_access *a)
{
	struct pins p;

	ws_pins_find(x->v, a, &p);
	ws_pins_intersect(&p, &x->out->pins);
	return p.n == x->out->pins.n;
}

static bool is_fence(const struct ws_ptx_inst *i)
{
	bool both = i->op == WS_OP_membar || i->sem == WS_SEM_NONE || i->sem == WS_SEM_ACQ_REL || i->sem == WS_SEM_SC;

	return (i->op == WS_OP_fence || i->op == WS_OP_membar) && i->mode != WS_MODE_PROXY && i->mode != WS_MODE_OTHER && !i->guard &&
	       both && (i->scope == WS_SCOPE_GPU || i->scope == WS_SCOPE_SYS);
}

/* The last fence before it arrives, and the first behind that. */
static bool find_fences(struct finder *x)
{
	const struct ws_ptx_func *f = x->v->f;

	for (uint32_t k = 0; k < f->ninsts; k++) {
		const struct ws_ptx_inst *i = &f->insts[k];

		if (!is_fence(i) || in_loop(x, i))
			continue;
		if (always_between(x, 0, i, x->arrives))
			x->releases = i;
		else if (!x->acquires && always_between(x, 0, x->arrives, i) && always_comes(x, x->arrives->index + 1, i))
			x->acquires = i;
	}
	return x->releases && x->acquires;
}

/* ---- who is told that all have arrived ---- */
/* Does a register that is not 0 say so? One that is loaded from the flag, perhaps widened. */
static bool is_flag(const struct finder *x, const struct ws_reg *r, unsigned depth)
{
	const struct ws_ptx_inst *d = only_def(x->v, r);

	if (!d || !x->flag || depth == DEEPEST || in_loop(x, d))
		return false;
	if (d->op == WS_OP_cvt || d->op == WS_OP_mov || (d->op == WS_OP_and && d->ops[2].kind == WS_O_INT))
		return d->ops[1].kind == WS_O_REG && !d->ops[1].component && is_flag(x, d->ops[1].reg, depth + 1);
	return d->op == WS_OP_ld && d->space == WS_SPACE_SHARED && d->vec < 2 && d->ops[1].kind == WS_O_ADDR && !d->ops[1].reg &&
	       d->ops[1].sym == x->flag->address->sym && d->ops[1].offset == x->flag->address->offset &&
	       ws_type_bytes((enum ws_type)d->type[0]) == x->flag->bytes && barrier_between(x, x->flag->inst, d);
}

static const struct ws_operand *compared_with(const struct ws_ptx_inst *d, const struct ws_reg *r)
{
	if (d->op != WS_OP_setp || d->nops != 3 || d->boolop || d->guard || (d->cmp != WS_EQ && d->cmp != WS_NE))
		return NULL;
	if (d->ops[1].kind == WS_O_REG && d->ops[1].reg == r)
		return &d->ops[2];
	return d->ops[2].kind == WS_O_REG && d->ops[2].reg == r ? &d->ops[1] : NULL;
}

static bool compares_arrival(struct finder *x, const struct ws_ptx_inst *d)
{
	const struct ws_operand *o = compared_with(d, x->arrives->ops[0].reg);
	struct sum s;

	x->v->access = d;
	return o && ws_type_bytes((enum ws_type)d->type[0]) == 4 && ws_value_operand(x->v, o, 4, d, &s) && ws_sum_equal(&s, &x->out->blocks);
}

/* Does p == value say that all have arrived? */
static bool says(struct finder *x, const struct ws_reg *p, bool value, unsigned depth)
{
	const struct ws_ptx_inst *d = only_def(x->v, p);

	if (!d || depth == DEEPEST || d->nops < 2 || in_loop(x, d))
		return false;
	if (d->op == WS_OP_setp && compares_arrival(x, d))
		return value == (d->cmp == WS_EQ);
	if (d->op == WS_OP_setp)
		return d->nops == 3 && !d->boolop && (d->cmp == WS_EQ || d->cmp == WS_NE) && d->ops[2].kind == WS_O_INT && !d->ops[2].imm &&
		       d->ops[1].kind == WS_O_REG && is_flag(x, d->ops[1].reg, 0) && value == (d->cmp == WS_NE);
	if (d->type[0] != WS_PRED || (d->op != WS_OP_not && (d->op != WS_OP_or || value) && (d->op != WS_OP_and || !value)))
		return false;
	if (d->op == WS_OP_not)
		return d->ops[1].kind == WS_O_REG && says(x, d->ops[1].reg, !value, depth + 1);
	for (unsigned n = 1; n < 3; n++)
		if (d->ops[n].kind == WS_O_REG && says(x, d->ops[n].reg, value != d->ops[n].negated, depth + 1))
			return true;
	return false;
}

static bool says_on_edge(struct finder *x, const struct ws_ptx_block *from, const struct ws_ptx_block *to)
{
	const struct ws_ptx_inst *last = &x->v->f->insts[from->last];
	bool next = to->first == from->last + 1;

	if (!last->guard || (last->op == WS_OP_bra ? from->nsucc != 2 || from->succ[0] == from->succ[1] :
			     !(ws_op_info(last->op)->fx & WS_FX_EXIT) || !next))
		return false;
	return says(x, last->guard, !next != last->guard_neg, 0);
}

static bool says_at_start(struct finder *x, uint32_t n)
{
	const struct ws_ptx_func *f = x->v->f;
	const struct ws_ptx_block *b = &f->blocks[n];

	for (uint32_t k = 0; k < b->npred; k++)
		if (!x->is_last[b->pred[k]] && !says_on_edge(x, &f->blocks[b->pred[k]], b))
			return false;
	return n && b->npred;
}

static void find_last(struct finder *x)
{
	bool changed = true;

	for (uint32_t n = 0; n < x->v->f->nblocks; n++)
		x->is_last[n] = n > 0;
	while (changed) {
		changed = false;
		for (uint32_t n = 0; n < x->v->f->nblocks; n++)
			if (x->is_last[n] && !says_at_start(x, n)) {
				x->is_last[n] = 0;
				changed = true;
			}
	}
}

/* ---- the flag ---- */
/* May it write to shared memory elsewhere than in variables other than this one, which has a size? What has none lies behind all that have. */
static bool may_write_flag(struct values *shared, const struct ws_rw_access *a, const struct ws_ptx_sym *flag)
{
	struct bases b;

	if (a->rw_class == WS_RW_EXEMPT || a->rw_class == WS_RW_NONE || a->space == WS_SPACE_GLOBAL || a->kind == WS_RW_READ)
		return a->rw_class == WS_RW_UNHANDLED;
	if (a->rw_class != WS_RW_CHECK || a->space != WS_SPACE_SHARED)
		return true;
	if (!a->address->reg)
		return !a->address->sym || a->address->sym == flag;
	if (!ws_area_bases(shared, a, &b))
		return true;
	for (unsigned k = 0; k < b.n; k++)
		if (shared->leaves[b.leaf[k]].kind != LEAF_SYMBOL || shared->leaves[b.leaf[k]].sym == flag)
			return true;
	return false;
}

static bool only_store(const struct finder *x, const struct ws_rw_access *a)
{
	struct values shared;
	bool only = true;

	ws_values_init(&shared, x->v->f);
	shared.shared = true;
	for (uint32_t k = 0; k < x->n && only; k++)
		only = &x->list[k] == a || !may_write_flag(&shared, &x->list[k], a->address->sym);
	ws_values_free(&shared);
	return only;
}

/* Is what it stores 0 but where all have arrived? */
static bool stores_that(struct finder *x, const struct ws_ptx_inst *i)
{
	const struct ws_ptx_inst *d = i->ops[1].kind == WS_O_REG && !i->ops[1].component ? only_def(x->v, i->ops[1].reg) : NULL;

	for (unsigned n = 0; n < DEEPEST && d && d->op == WS_OP_cvt; n++)
		d = d->ops[1].kind == WS_O_REG ? only_def(x->v, d->ops[1].reg) : NULL;
	if (!d || d->op != WS_OP_selp || d->ops[1].kind != WS_O_INT || d->ops[2].kind != WS_O_INT || d->ops[3].kind != WS_O_REG ||
	    !d->ops[1].imm == !d->ops[2].imm)
		return false;
	return says(x, d->ops[3].reg, (d->ops[1].imm != 0) != d->ops[3].negated, 0);
}

static void find_flag(struct finder *x)
{
	for (uint32_t k = 0; k < x->n && !x->flag; k++) {
		const struct ws_rw_access *a = &x->list[k];

		if (a->rw_class == WS_RW_CHECK && a->kind == WS_RW_WRITE && a->space == WS_SPACE_SHARED && a->inst->vec < 2 && !a->inst->guard &&
		    a->inst->op == WS_OP_st && a->address->sym && !a->address->reg && a->address->sym->size && !in_loop(x, a->inst) &&
		    stores_that(x, a->inst) && by_that_thread(x, a) && always_comes(x, 0, a->inst) && only_store(x, a))
			x->flag = a;
	}
}

/* ---- which accesses ---- */
static bool is_fence_sc(const struct ws_ptx_inst *i)
{
	return is_fence(i) && (i->op == WS_OP_membar || i->sem == WS_SEM_SC);
}

/* Does who has made the access always come to the fence before it comes to a barrier, or ends? */
static bool comes_to_fence(struct finder *x, const struct ws_rw_access *a, const struct ws_ptx_inst *fence)
{
	const struct ws_ptx_func *f = x->v->f;

	walk(x, a->inst->index + 1, fence, false);
	for (uint32_t k = 0; k < f->ninsts; k++)
		if (x->seen[k] && (ws_rw_is_barrier(&f->insts[k]) || ws_op_info(f->insts[k].op)->fx & (WS_FX_EXIT | WS_FX_CALL) ||
				   (k == f->blocks[f->insts[k].block].last && !f->blocks[f->insts[k].block].nsucc)))
			return false;
	return true;
}

/* Is the access behind a fence.sc in an earlier interval than the thread that arrives? */
static bool is_fenced(struct finder *x, const struct ws_rw_access *a)
{
	const struct ws_ptx_func *f = x->v->f;

	for (uint32_t k = 0; k < f->ninsts && is_fence_sc(x->acquires); k++)
		if (is_fence_sc(&f->insts[k]) && !in_loop(x, &f->insts[k]) && barrier_between(x, &f->insts[k], x->arrives) &&
		    comes_to_fence(x, a, &f->insts[k]))
			return true;
	return false;
}

static bool is_before(struct finder *x, const struct ws_rw_access *a, bool one)
{
	if (a->inst == x->arrives || barrier_between(x, a->inst, x->releases) || is_fenced(x, a))
		return true;
	walk(x, x->releases->index, NULL, false);
	return one && !x->seen[a->inst->index];
}

static bool is_behind(struct finder *x, const struct ws_rw_access *a, bool one)
{
	const struct ws_ptx_inst *i = a->inst;

	if (!x->is_last[i->block] && !(i->guard && says(x, i->guard, !i->guard_neg, 0)))
		return false;
	return barrier_between(x, x->acquires, i) || (one && always_between(x, x->arrives->index + 1, x->acquires, i));
}

static void sort_accesses(struct finder *x)
{
	for (uint32_t k = 0; k < x->n; k++) {
		const struct ws_rw_access *a = &x->list[k];
		uint32_t at = a->inst->index;

		if (a->rw_class != WS_RW_CHECK)
			continue;
		x->out->one[at] = by_that_thread(x, a);
		x->out->behind[at] = is_behind(x, a, x->out->one[at]);
		x->out->before[at] = !x->out->behind[at] && is_before(x, a, x->out->one[at]);
	}
}

/* ---- the counter ---- */
static bool counts_one(const struct ws_rw_access *a)
{
	const struct ws_ptx_inst *i = a->inst;
	bool adds = i->atom == WS_ATOM_ADD && i->nops == 3 && i->ops[2].kind == WS_O_INT && i->ops[2].imm == 1;

	return a->rw_class == WS_RW_CHECK && i->op == WS_OP_atom && (adds || i->atom == WS_ATOM_INC) && a->bytes == COUNTER_BYTES && !i->guard && i->vec < 2 &&
	       (a->space == WS_SPACE_GLOBAL || a->space == WS_SPACE_GENERIC) && (a->scope == WS_SCOPE_GPU || a->scope == WS_SCOPE_SYS) &&
	       i->ops[0].kind == WS_O_REG;
}

/* A variable, or what a parameter points to; with a number. */
static bool find_counter(struct finder *x, const struct ws_rw_access *a)
{
	struct ws_final *out = x->out;
	struct sum s;

	if (!ws_values_address(x->v, a, &s))
		return false;
	out->counter = s;
	out->offset = ws_sum_take_constant(&s);
	out->base = s.n == 1 && s.t[0].n == 1 && s.t[0].factor == 1 ? s.t[0].leaf[0] : UINT32_MAX;
	return out->base != UINT32_MAX && (x->v->leaves[out->base].kind == LEAF_SYMBOL ||
					   (x->v->leaves[out->base].kind == LEAF_PARAM && x->v->leaves[out->base].bytes == 8));
}

/* What it is compared with; and where atomicInc begins again. */
static bool find_number(struct finder *x)
{
	const struct ws_ptx_inst *i = x->arrives;

	x->out->inc = i->atom == WS_ATOM_INC;
	x->v->access = i;
	if (x->out->inc && (!ws_value_operand(x->v, &i->ops[2], 4, i, &x->out->limit) || !ws_sum_fixed(x->v, &x->out->limit)))
		return false;
	if (x->out->inc)
		ws_value_must_fit(x->v, &x->out->limit, WS_U32);
	for (uint32_t k = 0; k < x->v->f->ninsts; k++) {
		const struct ws_ptx_inst *d = &x->v->f->insts[k];
		const struct ws_operand *o = compared_with(d, i->ops[0].reg);

		x->v->access = d;
		if (o && ws_value_operand(x->v, o, 4, d, &x->out->blocks) && ws_sum_fixed(x->v, &x->out->blocks)) {
			ws_value_must_fit(x->v, &x->out->blocks, WS_U32);
			return true;
		}
	}
	return false;
}

static bool is_arrival(struct finder *x, const struct ws_rw_access *a)
{
	x->arrives = a->inst;
	x->releases = x->acquires = NULL;
	if (!counts_one(a) || in_loop(x, a->inst) || only_def(x->v, a->inst->ops[0].reg) != a->inst || !find_counter(x, a))
		return false;
	ws_pins_find(x->v, a, &x->out->pins);
	return always_comes(x, 0, a->inst) && find_fences(x) && find_number(x);
}

static uint32_t ways(const struct ws_ptx_func *f)
{
	uint32_t n = 0;

	for (uint32_t k = 0; k < f->nblocks; k++)
		n += f->blocks[k].nsucc;
	return n;
}

void ws_final_free(struct ws_final *l)
{
	free(l->one);
	free(l->before);
	free(l->behind);
	*l = (struct ws_final){ 0 };
}

bool ws_final_find(struct values *v, const struct ws_rw_access *list, uint32_t n, const struct ws_intervals *between,
		   const uint8_t *dead, struct ws_final *out)
{
	struct finder x = { .v = v, .list = list, .n = n, .between = between, .dead = dead, .out = out };
	size_t nduties = v->nduties;
	bool found = false;

	*out = (struct ws_final){ .one = ws_alloc(v->f->ninsts + 1), .before = ws_alloc(v->f->ninsts + 1), .behind = ws_alloc(v->f->ninsts + 1) };
	x.seen = ws_alloc(v->f->ninsts + 1);
	x.is_last = ws_alloc(v->f->nblocks + 1);
	x.stack = ws_alloc((2 * ways(v->f) + 1) * sizeof *x.stack);
	for (uint32_t k = 0, tries = 0; k < n && !found && tries < MOST_TRIES; k++) {
		v->nduties = nduties;
		tries += counts_one(&list[k]);
		found = is_arrival(&x, &list[k]);
	}
	if (found) {
		find_flag(&x);
		find_last(&x);
		sort_accesses(&x);
		out->arrives = x.arrives;
	} else {
		v->nduties = nduties;
		ws_final_free(out);
	}
	free(x.seen);
	free(x.is_last);
	free(x.stack);
	return found;
}

/* ---- at the entry ---- */
/* The number that the last one finds is how many others there are. */
static void demand_number(struct entry *e, const struct ws_final *l)
{
	const char *n = ws_code_temp(e->c, WS_B64), *more = ws_code_temp(e->c, WS_B64), *half = ws_code_temp(e->c, WS_B32);
	struct num lo, hi;

	ws_code_add(e->c, "mov.u64 %s, 1;", n);
	for (unsigned k = 0; k < 3; k++) {
		ws_code_add(e->c, "mov.u32 %s, %s;", half, ws_sreg_name((enum ws_sreg)(WS_SR_NCTAID_X + k)));
		ws_code_add(e->c, "cvt.u64.u32 %s, %s;", more, half);
		ws_code_add(e->c, "mul.lo.s64 %s, %s, %s;", n, n, more);
	}
	ws_code_add(e->c, "add.s64 %s, %s, -1;", n, n);
	ws_entry_bounds(e, &l->blocks, &lo, &hi);
	ws_code_add(e->c, "setp.eq.and.s64 %s, %s, %s, %s;", e->ok, n, ws_entry_text(e, &lo), e->ok);
	if (!l->inc)
		return;
	ws_entry_bounds(e, &l->limit, &lo, &hi);
	ws_code_add(e->c, "setp.le.and.s64 %s, %s, %s, %s;", e->ok, n, ws_entry_text(e, &lo), e->ok);
}

void ws_final_demand(struct entry *e, const struct ws_final *l)
{
	demand_number(e, l);
	ws_entry_apart_in_block(e, &l->counter, COUNTER_BYTES, &l->pins);
}

const char *ws_final_starts_at_zero(struct ws_code *c, const struct leaf *counter, int64_t offset)
{
	const char *at = ws_code_temp(c, WS_B64), *is = ws_code_temp(c, WS_PRED), *result = ws_code_temp(c, WS_B32);

	if (counter->kind == LEAF_SYMBOL)
		ws_code_add(c, "mov.u64 %s, %s;", at, counter->sym->name);
	else
		ws_code_add(c, "ld.param.u64 %s, [%s+%lld];", at, counter->sym->name, (long long)counter->offset);
	ws_code_add(c, "add.s64 %s, %s, %lld;", at, at, (long long)offset);
	if (!ws_inline(c, "race_starts_at_zero", &at, 1, result))
		return NULL;
	ws_code_add(c, "setp.ne.u32 %s, %s, 0;", is, result);
	return is;
}

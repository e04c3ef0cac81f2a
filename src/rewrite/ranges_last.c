/* ranges_last.c - what held in the last round of a loop.
 *
 *     for (i = 0; i < rounds; i++) {
 *             done = false;
 *             if (tid > i && tid <= last - i) { done = true; ... }
 *             if (i == rounds - 1) break;
 *     }
 *     if (done) out[...] = ...
 *
 * A flag has two definitions, 0 and another number, and an access is reached only where it is not 0. Then what set it was executed
 * later than what cleared it, so in the round in which control left the loop, if each round clears it first. What a comparison has found
 * on the way to what set it held in that round, and on each way from there to the access some comparison says how far the counter
 * was: it was equal to a number, or no less than one, or another register was that goes on in the same steps. Tiles of which the rim
 * shrinks in each round write so; without it, blocks would seem to write words of their neighbours. */
#include "rewrite/ranges_priv.h"

#include <stdlib.h>

enum { MOST_PATHS = 8, LONGEST = 24 };

struct last {
	struct values *v;
	const struct ws_ptx_inst *set, *clear, *test;    /* of the flag; where it is known to be set */
	const struct ws_reg *counter;
	uint32_t path[LONGEST], len;     /* blocks, from that of `set` on */
	unsigned paths;
	struct sum least;                /* of the counter when the flag was set; the same on all paths */
	bool failed;
};

static bool is_number(const struct ws_operand *o, int64_t k)
{
	return o->kind == WS_O_INT && (int64_t)o->imm == k;
}

/* ---- the flag ---- */
static bool sets_number(const struct ws_ptx_inst *i)
{
	return i->op == WS_OP_mov && !i->guard && i->nops == 2 && i->ops[1].kind == WS_O_INT;
}

/* What the flag is that the comparison looks at, in its low byte or as it is. */
static const struct ws_reg *flag_of(const struct values *v, const struct ws_ptx_inst *compare)
{
	const struct ws_ptx_inst *and = ws_value_only_def(v, &compare->ops[1]);

	if (and && and->op == WS_OP_and && and->block == compare->block && and->index < compare->index && and->nops == 3 &&
	    is_number(&and->ops[2], UINT8_MAX) && and->ops[1].kind == WS_O_REG)
		return and->ops[1].reg;
	return compare->ops[1].kind == WS_O_REG ? compare->ops[1].reg : NULL;
}

/* Is `access` reached only where a flag is not 0? */
static bool find_flag(struct last *l, const struct ws_ptx_inst *access)
{
	const struct ws_ptx_func *f = l->v->f;
	const struct ws_ptx_block *b = &f->blocks[access->block], *from = b->npred == 1 ? &f->blocks[b->pred[0]] : NULL;
	const struct ws_ptx_inst *compare;
	const struct ws_operand guard = { .kind = WS_O_REG, .reg = from ? f->insts[from->last].guard : NULL };
	const struct ws_reg *flag;
	const struct defs *d;
	bool taken;

	if (!from || from->nsucc != 2 || from->succ[0] == from->succ[1] || f->insts[from->last].op != WS_OP_bra || !guard.reg)
		return false;
	l->test = &f->insts[from->last];
	taken = b->first != from->last + 1;
	compare = ws_value_only_def(l->v, &guard);
	if (!compare || compare->op != WS_OP_setp || compare->nops != 3 || compare->boolop || !is_number(&compare->ops[2], 0) ||
	    compare->block != l->test->block || compare->cmp != (taken == l->test->guard_neg ? WS_EQ : WS_NE))
		return false;
	flag = flag_of(l->v, compare);
	d = flag ? &l->v->defs[flag->index] : NULL;
	if (!d || d->n != 2 || !sets_number(d->at[0]) || !sets_number(d->at[1]))
		return false;
	l->set = is_number(&d->at[0]->ops[1], 0) ? d->at[1] : d->at[0];
	l->clear = l->set == d->at[0] ? d->at[1] : d->at[0];
	return is_number(&l->clear->ops[1], 0) && is_number(&l->set->ops[1], 1) && l->set->block != l->clear->block &&
	       l->clear->block != l->test->block && l->set->block != l->test->block;
}

/* Can control come to the test with the flag neither set nor cleared, but over the way from `at` to `next`? */
static bool comes_without(const struct last *l, uint32_t from, uint32_t at, uint32_t next, bool *seen)
{
	const struct ws_ptx_block *b = &l->v->f->blocks[from];

	if (from == l->test->block)
		return true;
	if (seen[from] || from == l->set->block || from == l->clear->block)
		return false;
	seen[from] = true;
	for (uint32_t k = 0; k < b->nsucc; k++)
		if ((from != at || b->succ[k] != next) && comes_without(l, b->succ[k], at, next, seen))
			return true;
	return false;
}

static bool must_be_defined(const struct last *l, uint32_t at, uint32_t next)
{
	bool *seen = ws_alloc(l->v->f->nblocks + 1), comes = comes_without(l, 0, at, next, seen);

	free(seen);
	return !comes;
}

/* That a comparison of numbers of the launch does not lead along an edge is a duty. */
static bool demand_other_way(struct last *l, const struct ws_ptx_inst *branch, bool taken)
{
	const struct ws_operand guard = { .kind = WS_O_REG, .reg = branch->guard };
	const struct ws_ptx_inst *compare = ws_value_only_def(l->v, &guard);
	struct sum a, than;
	struct bound b;

	if (!compare || compare->op != WS_OP_setp || compare->nops != 3 || compare->boolop || (enum ws_type)compare->type[0] != WS_S32 ||
	    compare->ops[1].kind != WS_O_REG || !ws_bound_by(compare, compare->ops[1].reg, taken == branch->guard_neg, &b) ||
	    !ws_value_operand(l->v, &compare->ops[1], 4, compare, &a) || !ws_value_operand(l->v, &compare->ops[2], 4, compare, &than) ||
	    !ws_sum_fixed(l->v, &a) || !ws_sum_fixed(l->v, &than))
		return false;
	ws_value_must_fit(l->v, &a, WS_S32);
	ws_value_must_fit(l->v, &than, WS_S32);
	if (!ws_sum_add(&a, &than, -1))
		return false;
	ws_value_duty(l->v, &a, b.upper ? INT64_MIN : b.slack, b.upper ? b.slack : INT64_MAX);
	return true;
}

/* A flag that nobody has given a value may be anything: no thread comes so to the test, or none in such a launch. */
static bool is_defined(struct last *l)
{
	const struct ws_ptx_func *f = l->v->f;

	if (must_be_defined(l, UINT32_MAX, 0))
		return true;
	for (uint32_t k = 0; k < f->nblocks; k++) {
		const struct ws_ptx_block *b = &f->blocks[k];
		const struct ws_ptx_inst *branch = &f->insts[b->last];

		for (uint32_t n = 0; n < b->nsucc && b->nsucc == 2 && b->succ[0] != b->succ[1] && branch->op == WS_OP_bra && branch->guard; n++)
			if (must_be_defined(l, k, b->succ[n]) && demand_other_way(l, branch, f->blocks[b->succ[n]].first != b->last + 1))
				return true;
	}
	return false;
}

/* ---- the counter ---- */
struct steps { const struct ws_ptx_inst *add, *first; int64_t by; struct sum begin; };

/* A register that begins outside of the loop and goes on by a number in one block. */
static bool steps_of(struct values *v, const struct ws_reg *r, struct steps *out)
{
	const struct defs *d = &v->defs[r->index];
	const struct ws_operand *by = NULL;
	unsigned adds = 0;

	if (d->n != 2 || r->vec != 1 || ws_type_bytes(r->type) != 4)
		return false;
	for (unsigned k = 0; k < 2; k++)
		if (ws_value_added(d->at[k], r)) {
			by = ws_value_added(d->at[k], r);
			out->add = d->at[k];
			adds++;
		}
	if (adds != 1 || by->kind != WS_O_INT || out->add->guard)
		return false;
	out->by = (int32_t)by->imm;
	for (unsigned k = 0; k < 2; k++)
		if (d->at[k] != out->add)
			out->first = d->at[k];
	for (unsigned k = 0; k < 2; k++)
		if (d->at[k] != out->add && (d->at[k]->guard || ws_value_block_reaches(v, out->add->block, d->at[k]->block) ||
		                             d->at[k]->block == out->add->block || !ws_value_result(v, d->at[k], &out->begin)))
			return false;
	return ws_sum_fixed(v, &out->begin);
}

/* What the register has gone on by on the path, until `at` in block number `last` of it. */
static int64_t gone_on(const struct last *l, const struct steps *s, uint32_t last, const struct ws_ptx_inst *at)
{
	int64_t n = 0;

	for (uint32_t k = 0; k <= last; k++)
		if (l->path[k] == s->add->block && (k || s->add->index > l->set->index) && (k < last || s->add->index < at->index))
			n += s->by;
	return n;
}

/* What a comparison that decides an edge of the path says of the counter when the flag was set: that it was no less than *out. */
static bool least_by(struct last *l, const struct ws_ptx_inst *compare, bool truth, uint32_t place, struct sum *out)
{
	const struct ws_reg *r = compare->ops[1].kind == WS_O_REG ? compare->ops[1].reg : NULL;
	struct steps mine, other;
	struct bound b;
	int64_t gone;

	if (!r || compare->nops != 3 || compare->boolop || compare->guard || (enum ws_type)compare->type[0] != WS_S32 ||
	    !steps_of(l->v, r, &other) || !steps_of(l->v, l->counter, &mine) ||
	    !ws_value_operand(l->v, &compare->ops[2], 4, compare, out) || !ws_sum_fixed(l->v, out))
		return false;
	ws_value_must_fit(l->v, out, WS_S32);
	gone = gone_on(l, &other, place, compare);
	if (gone < 0)
		return false;
	if (compare->cmp == (truth ? WS_EQ : WS_NE)) {
		if (r != l->counter && (other.add->block != mine.add->block || other.by != mine.by || l->set->block == mine.add->block ||
		                        !ws_sum_add(out, &mine.begin, 1) || !ws_sum_add(out, &other.begin, -1)))
			return false;
	} else if (r != l->counter || !ws_bound_by(compare, r, truth, &b) || b.upper || b.slack) {
		return false;
	}
	return ws_sum_add(out, &(struct sum){ .n = gone != 0, .t = { { .factor = gone } } }, -1);
}

/* ---- ways from where the flag was set ---- */
/* The way is at its end: does something on it say how far the counter was? */
static bool ends(struct last *l)
{
	const struct ws_ptx_func *f = l->v->f;
	struct sum least;

	for (uint32_t k = 0; k + 1 < l->len; k++) {
		const struct ws_ptx_block *b = &f->blocks[l->path[k]];
		const struct ws_ptx_inst *branch = &f->insts[b->last], *compare;
		const struct ws_operand guard = { .kind = WS_O_REG, .reg = branch->guard };
		bool taken = f->blocks[l->path[k + 1]].first != b->last + 1;

		if (branch->op != WS_OP_bra || !branch->guard || b->nsucc != 2 || b->succ[0] == b->succ[1])
			continue;
		compare = ws_value_only_def(l->v, &guard);
		if (!compare || compare->op != WS_OP_setp || compare->block != l->path[k] || (!k && compare->index < l->set->index) ||
		    !least_by(l, compare, taken != branch->guard_neg, k, &least))
			continue;
		if (l->paths++ && !ws_sum_equal(&least, &l->least))
			return false;
		l->least = least;
		return l->paths <= MOST_PATHS;
	}
	return false;
}

static bool go_on(struct last *l, uint32_t block)
{
	const struct ws_ptx_block *b = &l->v->f->blocks[block];

	for (uint32_t k = 0; k < l->len; k++)
		if (l->path[k] == block)
			return false;                /* a round without the flag being cleared */
	if (l->len == LONGEST)
		return false;
	l->path[l->len++] = block;
	if (block == l->test->block ? !ends(l) : false)
		return false;
	for (uint32_t k = 0; k < b->nsucc && block != l->test->block; k++)
		if (b->succ[k] != l->clear->block && !go_on(l, b->succ[k]))
			return false;
	l->len--;
	return true;
}

/* ---- what held there ---- */
/* The number that a register was compared with as the counter, or as a number less the counter: *k. */
static const struct ws_reg *counter_in(const struct values *v, const struct ws_operand *o, const struct ws_ptx_inst *user, bool *less,
                                       int64_t *k)
{
	const struct ws_ptx_inst *i = ws_value_only_def(v, o);
	const struct ws_ptx_inst *from;

	*less = false;
	*k = 0;
	if (o->kind != WS_O_REG)
		return NULL;
	if (!i)
		return o->reg;
	if (i->op != WS_OP_sub || i->block != user->block || i->index > user->index || i->nops != 3 || i->flags & (WS_F_SAT | WS_F_CC) ||
	    i->ops[2].kind != WS_O_REG || i->ops[2].negated || i->ops[2].component || ws_type_bytes((enum ws_type)i->type[0]) != 4)
		return NULL;
	from = ws_value_only_def(v, &i->ops[1]);
	*k = i->ops[1].kind == WS_O_INT ? (int32_t)i->ops[1].imm : from && sets_number(from) ? (int32_t)from->ops[1].imm : -1;
	*less = true;
	return *k >= 0 ? i->ops[2].reg : NULL;
}

/* r was compared before the branch of `block`, with the result that lets control come to where the flag is set. */
static void bound_by(struct last *l, const struct ws_reg *r, const struct ws_ptx_inst *compare, bool truth, struct leaf *leaf)
{
	const uint32_t from = l->set->block;
	struct sum than, minus = { 0 };
	struct steps s;
	struct bound b;
	int64_t k;
	bool less;

	if (compare->nops != 3 || compare->boolop || compare->guard || (enum ws_type)compare->type[0] != WS_S32 ||
	    compare->ops[1].kind != WS_O_REG || compare->ops[1].reg != r || !ws_bound_by(compare, r, truth, &b))
		return;
	l->counter = counter_in(l->v, &compare->ops[2], compare, &less, &k);
	if (!l->counter || less != b.upper || !steps_of(l->v, l->counter, &s) || s.add->block == compare->block || s.add->block == from ||
	    s.first->block == compare->block || s.first->block == from ||
	    leaf->nbounds == MOST_BOUNDS || (leaf->nbounds && leaf->bounds[0].type != b.type))
		return;
	l->paths = l->len = 0;
	if (!go_on(l, from) || !l->paths)
		return;
	ws_value_must_fit(l->v, &l->least, WS_S32);
	than = l->least;
	if (less && (!ws_sum_add(&minus, &than, -1) || !ws_sum_add(&minus, &(struct sum){ .n = k != 0, .t = { { .factor = k } } }, 1)))
		return;
	than = less ? minus : than;
	ws_value_must_fit(l->v, &than, WS_S32);
	for (unsigned n = 0; n < leaf->nof; n++)
		ws_value_must_fit(l->v, leaf->of[n], WS_S32);
	b.than = ws_value_keep(l->v, &than);
	leaf->bounds[leaf->nbounds++] = b;
}

/* All that p, or not p, says: comparisons in one block, joined by `and`. */
static void look_at(struct last *l, const struct ws_reg *r, const struct ws_operand *p, bool truth, const struct ws_ptx_inst *user,
		    struct leaf *leaf, unsigned depth)
{
	enum { DEEPEST = 6 };
	const struct ws_ptx_inst *i = ws_value_only_def(l->v, p);
	size_t nduties = l->v->nduties;
	unsigned nbounds = leaf->nbounds;

	if (!i || i->block != user->block || i->index > user->index || depth == DEEPEST)
		return;
	if (i->op == WS_OP_setp) {
		bound_by(l, r, i, truth, leaf);
		l->v->nduties = leaf->nbounds > nbounds ? l->v->nduties : nduties;
	} else if (i->op == WS_OP_not && i->nops == 2) {
		look_at(l, r, &i->ops[1], !truth, i, leaf, depth + 1);
	} else if ((i->op == WS_OP_and && truth) || (i->op == WS_OP_or && !truth)) {
		for (unsigned k = 1; k < 3; k++)
			look_at(l, r, &i->ops[k], truth, i, leaf, depth + 1);
	}
}

void ws_bounds_of_last_round(struct values *v, const struct ws_reg *r, const struct ws_ptx_inst *access, struct leaf *leaf)
{
	struct last l = { .v = v };
	const struct ws_ptx_block *b, *from;
	const struct ws_ptx_inst *branch;
	struct ws_operand guard = { .kind = WS_O_REG };
	size_t nduties = v->nduties;
	unsigned nbounds = leaf->nbounds;

	if (v->shared || !access || !find_flag(&l, access))
		return;
	b = &v->f->blocks[l.set->block];
	from = b->npred == 1 ? &v->f->blocks[b->pred[0]] : NULL;
	branch = from ? &v->f->insts[from->last] : NULL;
	if (!branch || branch->op != WS_OP_bra || !branch->guard || from->nsucc != 2 || from->succ[0] == from->succ[1])
		return;
	guard.reg = branch->guard;
	if (is_defined(&l))
		look_at(&l, r, &guard, (b->first != from->last + 1) != branch->guard_neg, branch, leaf, 0);
	v->nduties = leaf->nbounds > nbounds ? v->nduties : nduties;
}

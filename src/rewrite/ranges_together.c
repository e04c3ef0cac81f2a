/* ranges_together.c - two registers that go on together in a loop.
 *
 * `for (i = t; i < n; i += 192) out[base + i] = x`, unrolled by four, has a pointer that goes on by 3,072 bytes in a round of its loop, the address of
 * which place in the row the loop began with, made before it of i, and i itself, which goes on by 768: pointer + place is what the pointer began with and
 * what the place is of i as it is now, for both have made as many rounds; so has a pointer that begins with the place. The loop is one block that one other
 * block leads to: there the place is made, and behind it i does not change. */
#include "rewrite/ranges_priv.h"

struct together {
	struct values *v;
	uint32_t loop, before;           /* blocks */
	const struct ws_operand *index;  /* what the place is made of; NULL: not known */
	const struct ws_ptx_inst *read;  /* who reads it before the loop */
	const struct ws_reg *source;     /* what two registers are made of that go on together */
};

/* The instruction that sets r to itself and a number in the loop, and how much that is; NULL: r does not go on so, or is set there otherwise. */
static const struct ws_ptx_inst *added_in_loop(const struct together *t, const struct ws_reg *r, int64_t *by)
{
	const struct defs *d = &t->v->defs[r->index];
	const struct ws_ptx_inst *found = NULL;

	for (uint32_t k = 0; k < d->n && d->n <= MOST_DEFS; k++) {
		const struct ws_operand *number = ws_value_added_or_copied(t->v, d->at[k], r);

		if (d->at[k]->block != t->loop)
			continue;
		if (found || d->at[k]->guard || !number || number->kind != WS_O_INT)
			return NULL;
		found = d->at[k];
		*by = ws_type_bytes(r->type) == 4 ? (int32_t)number->imm : (int64_t)number->imm;
	}
	return found && *by > 0 ? found : NULL;
}

static bool is_set_in_loop(const struct together *t, const struct ws_reg *r)
{
	const struct defs *d = &t->v->defs[r->index];

	for (uint32_t k = 0; k < d->n && d->n <= MOST_DEFS; k++)
		if (d->at[k]->block == t->loop)
			return true;
	return d->n > MOST_DEFS;
}

/* Is it as it was read when the loop begins? */
static bool is_kept(const struct together *t, const struct ws_reg *r, const struct ws_ptx_inst *read)
{
	const struct defs *d = &t->v->defs[r->index];

	for (uint32_t k = 0; k < d->n && d->n <= MOST_DEFS; k++)
		if (d->at[k]->block == t->before && d->at[k]->index >= read->index)
			return false;
	return d->n <= MOST_DEFS;
}

/* The same in a thread whenever it is read: no other index, which might be taken for this one. */
static bool is_one_number(const struct together *t, const struct ws_operand *o, const struct ws_ptx_inst *i)
{
	struct sum s;

	return ws_value_operand(t->v, o, ws_type_bytes(o->reg->type), i, &s) && !ws_sum_in_time(t->v, &s);
}

enum takes { PASSES, TAKES, REFUSES };
typedef enum takes taking(struct together *t, const struct ws_operand *o, const struct ws_ptx_inst *i);

/* Is what instruction i gives made, in the block before the loop, of registers that are taken, and of what is the same whenever it is read? */
static bool is_made_of(struct together *t, const struct ws_ptx_inst *i, taking *take, unsigned depth)
{
	enum { DEEPEST = 6 };

	if (i->guard || i->block != t->before || depth == DEEPEST)
		return false;
	for (unsigned k = 1; k < i->nops; k++) {
		const struct ws_operand *o = &i->ops[k];
		const struct defs *d = o->kind == WS_O_REG ? &t->v->defs[o->reg->index] : NULL;
		enum takes taken = d ? take(t, o, i) : TAKES;

		if (taken == TAKES)
			continue;
		if (taken == REFUSES || (d->n == 1 && d->at[0]->block == t->before ? !is_made_of(t, d->at[0], take, depth + 1) : !is_one_number(t, o, i)))
			return false;
	}
	return true;
}

/* The one register that the loop changes. */
static enum takes take_index(struct together *t, const struct ws_operand *o, const struct ws_ptx_inst *i)
{
	if (!is_set_in_loop(t, o->reg))
		return PASSES;
	if (t->index || o->component || o->negated || !is_kept(t, o->reg, i))
		return REFUSES;
	t->index = o;
	t->read = i;
	return TAKES;
}

static enum takes take_source(struct together *t, const struct ws_operand *o, const struct ws_ptx_inst *i)
{
	return o->reg == t->source && !o->component && !o->negated ? TAKES : PASSES;
}

/* What r begins with at the loop: set in the block before it, or once before all. */
static const struct ws_ptx_inst *beginning(const struct together *t, const struct ws_reg *r)
{
	const struct defs *d = &t->v->defs[r->index];
	const struct ws_ptx_inst *begin = d->n == 2 ? d->at[d->at[0]->block == t->loop] : NULL;

	if (!begin || begin->guard || ws_value_added(begin, r))
		return NULL;
	return begin->block == t->before || !ws_value_block_reaches(t->v, t->before, t->before) ? begin : NULL;
}

/* What has been added to `goes` in the loop when instruction i reads it is *times what has been to the index. */
static bool keeps_step(const struct together *t, const struct ws_ptx_inst *i, const struct ws_reg *goes, int64_t *times)
{
	const struct ws_ptx_inst *adds[2];
	int64_t by[2];

	adds[0] = added_in_loop(t, goes, &by[0]);
	adds[1] = adds[0] ? added_in_loop(t, t->index->reg, &by[1]) : NULL;
	*times = adds[1] ? by[0] / by[1] : 0;
	return adds[1] && by[0] % by[1] == 0 && (i->index < adds[0]->index) == (i->index < adds[1]->index);
}

static bool index_at(const struct together *t, const struct ws_ptx_inst *i, struct sum *out)
{
	return ws_value_operand(t->v, t->index, ws_type_bytes(t->index->reg->type), i, out);
}

/* *out, of before the loop, with the index as it is now in place of as it was. */
static bool go_on(struct together *t, const struct ws_ptx_inst *i, int64_t times, const struct sum *was, struct sum *out)
{
	struct sum now;

	return ws_sum_add(out, was, -times) && !ws_sum_in_time(t->v, out) && index_at(t, i, &now) && ws_sum_add(out, &now, times);
}

/* goes, or goes + place, as instruction i reads it. */
static bool sum_of(struct together *t, const struct ws_ptx_inst *i, const struct ws_reg *goes, const struct ws_operand *place, unsigned bytes, struct sum *out)
{
	const struct defs *d = place ? &t->v->defs[place->reg->index] : NULL;
	const struct ws_ptx_inst *made = d && d->n == 1 ? d->at[0] : NULL, *begin;
	struct sum one;
	int64_t times;

	t->index = NULL;
	begin = beginning(t, goes);
	if (!begin || (place && !made) || !is_made_of(t, place ? made : begin, take_index, 0) || !t->index || !keeps_step(t, i, goes, &times))
		return false;
	if (!ws_value_result(t->v, begin, out))
		return false;
	if (place && (ws_sum_in_time(t->v, out) || !ws_value_operand(t->v, place, bytes, i, &one) || !ws_sum_add(out, &one, 1)))
		return false;
	return index_at(t, t->read, &one) && go_on(t, i, times, &one, out);
}

/* What sets r before the loop, and nothing else between there and the loop; NULL: not known. */
static const struct ws_ptx_inst *set_before(const struct together *t, const struct ws_reg *r)
{
	const struct defs *d = &t->v->defs[r->index];
	const struct ws_ptx_inst *begin = NULL, *last = &t->v->f->insts[t->v->f->blocks[t->before].last];

	if (ws_value_block_reaches(t->v, t->before, t->before))
		return NULL;
	for (uint32_t k = 0; k < d->n && d->n <= MOST_DEFS; k++) {
		bool again = begin && d->at[k]->block == t->before && begin->block != t->before;

		if (d->at[k]->block == t->loop || (d->at[k] != last && !ws_comes_before(t->v, d->at[k], last)) ||
		    (begin && begin->block == t->before && d->at[k]->block != t->before))
			continue;                    /* what the block itself sets is all that counts */
		if ((begin && !again) || d->at[k]->guard || ws_value_added(d->at[k], r))
			return NULL;
		begin = d->at[k];
	}
	return begin;
}

/* Do both begin with what is made of one register, which the block before the loop does not set? */
static bool begin_with_one(struct together *t, const struct ws_ptx_inst *a, const struct ws_ptx_inst *b)
{
	const struct ws_ptx_block *before = &t->v->f->blocks[t->before];

	t->source = a->op == WS_OP_add && a->nops == 3 && a->ops[1].kind == WS_O_REG && a->ops[2].kind == WS_O_INT ? a->ops[1].reg : NULL;
	return t->source && !ws_value_set_between(t->v, before->first, before->last, t->source) && is_made_of(t, a, take_source, 0) &&
	       is_made_of(t, b, take_source, 0);
}

/* What an index and `goes` begin with is one number each in a thread; or it changes in both with the same register. */
static bool begin_alike(struct together *t, const struct ws_ptx_inst *first, const struct sum *was, const struct ws_ptx_inst *begin, const struct sum *out)
{
	return (!ws_sum_in_time(t->v, was) && !ws_sum_in_time(t->v, out)) || begin_with_one(t, first, begin);
}

/* goes, by any index that goes on with it: what both begin with is known. */
static bool by_any_index(struct together *t, const struct ws_ptx_inst *i, const struct ws_reg *goes, struct sum *out)
{
	const struct ws_ptx_block *b = &t->v->f->blocks[t->loop];
	const struct ws_ptx_inst *begin = beginning(t, goes), *first;
	struct sum was;
	int64_t times;

	for (uint32_t k = b->first; k <= b->last && begin; k++) {
		const struct ws_ptx_inst *add = &t->v->f->insts[k];

		if (add->op != WS_OP_add || add->nops != 3 || add->ops[0].kind != WS_O_REG || ws_type_bytes(add->ops[0].reg->type) != 4 ||
		    !ws_value_added(add, add->ops[0].reg))
			continue;
		t->index = &add->ops[0];
		first = keeps_step(t, i, goes, &times) ? set_before(t, t->index->reg) : NULL;
		if (first && ws_value_result(t->v, first, &was) && ws_value_result(t->v, begin, out) && begin_alike(t, first, &was, begin, out) &&
		    go_on(t, i, times, &was, out))
			return true;
	}
	return false;
}

static bool in_loop(struct together *t, struct values *v, const struct ws_ptx_inst *i)
{
	*t = (struct together){ .v = v, .loop = i->block };
	return ws_value_block_loops(v, i->block, &t->before);
}

bool ws_value_together(struct values *v, const struct ws_ptx_inst *i, unsigned bytes, struct sum *out)
{
	size_t nduties = v->nduties;
	struct together t;

	if (i->op != WS_OP_add || i->guard || i->ops[1].kind != WS_O_REG || i->ops[2].kind != WS_O_REG || !in_loop(&t, v, i))
		return false;
	for (unsigned k = 1; k < 3; k++) {
		v->nduties = nduties;
		if (!i->ops[k].component && !i->ops[k].negated && sum_of(&t, i, i->ops[k].reg, &i->ops[3 - k], bytes, out))
			return true;
	}
	v->nduties = nduties;
	return false;
}

bool ws_value_goes_with(struct values *v, const struct ws_reg *r, const struct ws_ptx_inst *at, struct sum *out)
{
	size_t nduties = v->nduties;
	struct together t;

	if (!in_loop(&t, v, at))
		return false;
	if (sum_of(&t, at, r, NULL, 0, out))
		return true;
	v->nduties = nduties;
	return by_any_index(&t, at, r, out);
}

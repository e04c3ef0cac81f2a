/* ranges_counted.c - registers that go on by a step in a block which a thread comes to a known number of times.
 *
 * A loop of several blocks has a counter: it begins with a number, goes on by another in some block, and is compared with a
 * third, and there is no way to that block but over the side of the comparison where the loop goes on. Then the block is
 * executed so many times at most, and other registers that go on in it, as rows of an array do, have made no more steps. Of
 * which step they are at is known nothing else; each counts as any of them. */
#include "rewrite/ranges_priv.h"

#include <stdlib.h>

struct stepped {                         /* a register that begins outside, and goes on in one block */
	const struct ws_ptx_inst *add;
	struct sum begin;
};

static bool find_steps(struct values *v, const struct ws_reg *r, struct stepped *out)
{
	const struct defs *d = &v->defs[r->index];
	struct sum s;
	bool begun = false;

	out->add = NULL;
	for (uint32_t k = 0; k < d->n && k < MOST_DEFS; k++) {
		if (d->at[k]->guard || (ws_value_added(d->at[k], r) && out->add))
			return false;
		if (ws_value_added(d->at[k], r))
			out->add = d->at[k];
	}
	for (uint32_t k = 0; k < d->n && k < MOST_DEFS && out->add; k++) {
		if (d->at[k] == out->add)
			continue;
		if (d->at[k]->block == out->add->block || ws_value_block_reaches(v, out->add->block, d->at[k]->block) ||
		    !ws_value_result(v, d->at[k], &s) || (begun && !ws_sum_equal(&s, &out->begin)))
			return false;
		out->begin = s;
		begun = true;
	}
	return begun && d->n <= MOST_DEFS;
}

/* Can control come from the start of a block to that of another one, but over the way from `at` to `next`? */
static bool comes_around(const struct values *v, uint32_t from, uint32_t to, uint32_t at, uint32_t next, bool *seen)
{
	const struct ws_ptx_block *b = &v->f->blocks[from];

	if (from == to)
		return true;
	if (seen[from])
		return false;
	seen[from] = true;
	for (uint32_t k = 0; k < b->nsucc; k++)
		if ((from != at || b->succ[k] != next) && comes_around(v, b->succ[k], to, at, next, seen))
			return true;
	return false;
}

/* Must control go from `at` to `next` before a block is executed, each time? */
static bool guards(const struct values *v, uint32_t block, uint32_t at, uint32_t next)
{
	enum { MOST = 2000 };
	const struct ws_ptx_block *b = &v->f->blocks[block];
	bool *seen = ws_alloc(v->f->nblocks + 1), found = at == block || v->f->nblocks > MOST ||
	     comes_around(v, 0, block, at, next, seen);

	for (uint32_t k = 0; k < b->nsucc && !found; k++)
		found = comes_around(v, b->succ[k], block, at, next, seen);
	free(seen);
	return !found;
}

/* How many steps there are from `begin` until the loop goes on no more; 0: not known. */
static int64_t steps_to(int64_t begin, int64_t end, int64_t step, bool unequal)
{
	enum { FAR = 1 << 30, MOST = 1 << 20 };

	if (unequal && step < 0)
		return steps_to(end, begin, -step, true);
	if (step < 1 || step > MOST || begin < -FAR || end > FAR || end <= begin || (unequal && (end - begin) % step))
		return 0;
	return (end - begin + step - 1) / step;
}

/* How often the block is executed at most, if it is this comparison that decides; 0: not known. */
static int64_t rounds_by(struct values *v, uint32_t block, const struct ws_ptx_inst *compare, const struct ws_ptx_inst *branch,
			 bool truth, const struct stepped *counter)
{
	const struct ws_operand *by = ws_value_added(counter->add, compare->ops[1].reg);
	const struct ws_ptx_block *at = &v->f->blocks[branch->block];
	bool taken = truth != branch->guard_neg, unequal = compare->cmp == (truth ? WS_NE : WS_EQ);
	uint32_t behind = v->f->insts[at->last].index + 1, next = at->succ[0];
	struct bound b;
	int64_t begin, end = (int32_t)compare->ops[2].imm;

	if ((v->f->blocks[next].first == behind) == taken)
		next = at->succ[1];
	if (by->kind != WS_O_INT || !ws_sum_is_number(&counter->begin, &begin) || ws_type_bytes((enum ws_type)compare->type[0]) != 4)
		return 0;
	if (!unequal && (!ws_bound_by(compare, compare->ops[1].reg, truth, &b) || !b.upper || !ws_type_is_signed(b.type)))
		return 0;
	end += unequal ? 0 : b.slack + 1;
	return guards(v, block, branch->block, next) ? steps_to(begin, end, (int32_t)by->imm, unequal) : 0;
}

static int64_t rounds_of(struct values *v, uint32_t block)
{
	int64_t rounds = 0;

	for (uint32_t k = 0; k < v->f->nblocks && !rounds; k++) {
		const struct ws_ptx_block *b = &v->f->blocks[k];
		const struct ws_ptx_inst *branch = &v->f->insts[b->last], *c;
		const struct defs *d = branch->op == WS_OP_bra && branch->guard ? &v->defs[branch->guard->index] : NULL;
		struct stepped counter;

		c = d && d->n == 1 ? d->at[0] : NULL;
		if (!c || c->block != k || b->nsucc != 2 || b->succ[0] == b->succ[1] || c->op != WS_OP_setp || c->nops != 3 ||
		    c->boolop || c->guard || c->ops[1].kind != WS_O_REG || c->ops[2].kind != WS_O_INT || k == block ||
		    ws_value_is_busy(v, c->ops[1].reg) || !find_steps(v, c->ops[1].reg, &counter) || counter.add->block != block)
			continue;
		for (int truth = 0; truth < 2 && !rounds; truth++)
			rounds = rounds_by(v, block, c, branch, truth, &counter);
	}
	return rounds;
}

bool ws_value_counted(struct values *v, const struct ws_reg *r, struct sum *out)
{
	struct leaf l = { .kind = LEAF_MASKED, .reg = r, .in_time = true };
	struct stepped s;
	struct sum steps, step;

	if (!find_steps(v, r, &s) ||
	    !ws_value_operand(v, ws_value_added(s.add, r), ws_type_bytes(r->type), s.add, &step) || !ws_sum_fixed(v, &step))
		return false;
	l.k = rounds_of(v, s.add->block);
	*out = s.begin;
	return l.k && ws_value_leaf(v, &l, &steps) && ws_sum_add_product(out, &steps, &step);
}

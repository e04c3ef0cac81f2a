/* ranges_facts.c - which comparisons have decided on the way to an instruction.
 *
 * A fact is "the value that register r has now is below n", as a comparison has found, of which there may be several:
 * one before a loop and one at its end. It begins on the edges of branches that the predicate of such a comparison
 * decides, and ends where r is written. It holds at the start of a block if it does at the end of every edge
 * into it, or if there r is a copy of a register of which the same holds. */
#include "rewrite/ranges_priv.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_FACTS = 512, DEEPEST = 8 };

struct fact {
	struct bound bound;
	const struct ws_reg *r;
	bool constant;
	bool *at_start;                  /* by block; NULL: it is being looked at */
	bool *copied;                    /* by block: at its end r is a copy of a register of which the same holds there */
};

/* ---- comparisons ---- */
/* What is not 0 is above it, without a sign. */
static bool not_zero(const struct ws_ptx_inst *i, const struct ws_reg *r, bool truth, struct bound *b)
{
	const struct ws_operand *other = &i->ops[2];

	if (i->cmp != (truth ? WS_NE : WS_EQ) || other->kind != WS_O_INT || other->imm || i->ops[1].kind != WS_O_REG ||
	    i->ops[1].reg != r)
		return false;
	*b = (struct bound){ .slack = 1, .other = other };
	b->type = ws_type_bytes((enum ws_type)i->type[0]) == 4 ? WS_U32 : WS_U64;
	return ws_type_bytes(b->type) == ws_type_bytes(r->type);
}

bool ws_bound_by(const struct ws_ptx_inst *i, const struct ws_reg *r, bool truth, struct bound *b)
{
	unsigned side = i->ops[1].kind == WS_O_REG && i->ops[1].reg == r ? 0 : 1;
	enum ws_type type = (enum ws_type)i->type[0];
	bool less, equal;

	switch (i->cmp) {
	case WS_LT: case WS_LO: less = true; equal = false; break;
	case WS_LE: case WS_LS: less = true; equal = true; break;
	case WS_GT: case WS_HI: less = false; equal = false; break;
	case WS_GE: case WS_HS: less = false; equal = true; break;
	default: return not_zero(i, r, truth, b);
	}
	if (!truth) {
		less = !less;
		equal = !equal;
	}
	if (i->cmp == WS_LO || i->cmp == WS_LS || i->cmp == WS_HI || i->cmp == WS_HS)
		type = ws_type_bytes(type) == 4 ? WS_U32 : WS_U64;
	*b = (struct bound){ .upper = less == (side == 0), .type = type, .other = &i->ops[2 - side] };
	b->slack = equal ? 0 : b->upper ? -1 : 1;
	return ws_type_bytes(type) == ws_type_bytes(r->type);
}

bool ws_equal_by(const struct ws_ptx_inst *i, const struct ws_reg *r, bool truth, struct bound *b)
{
	*b = (struct bound){ .equal = true, .type = (enum ws_type)i->type[0], .other = &i->ops[2] };
	return i->op == WS_OP_setp && i->nops == 3 && !i->boolop && i->cmp == (truth ? WS_EQ : WS_NE) &&
	       i->ops[1].kind == WS_O_REG && i->ops[1].reg == r && (i->ops[2].kind == WS_O_INT || i->ops[2].kind == WS_O_REG) &&
	       ws_type_bytes(b->type) == ws_type_bytes(r->type);
}

bool ws_bound_last(const struct bound *b, int64_t *last)
{
	uint64_t imm = b->other->imm;

	*last = (ws_type_is_signed(b->type) ? (int64_t)(int32_t)imm : (int64_t)(uint32_t)imm) + b->slack;
	return b->other->kind == WS_O_INT && ws_type_bytes(b->type) == 4 && !b->equal;
}

/* i < 512 and i <= 511 are. */
bool ws_bound_same(const struct bound *a, const struct bound *b)
{
	int64_t last[2];

	if (a->upper == b->upper && a->type == b->type && ws_bound_last(a, &last[0]) && ws_bound_last(b, &last[1]))
		return last[0] == last[1];
	return a->upper == b->upper && a->equal == b->equal && a->differs == b->differs && a->slack == b->slack &&
	       a->type == b->type && a->other->kind == b->other->kind &&
	       a->other->reg == b->other->reg && a->other->imm == b->other->imm;
}

static bool compares(const struct ws_ptx_inst *i, const struct fact *k, bool truth)
{
	struct bound b;

	if (k->bound.equal) {
		if (!ws_equal_by(i, k->r, truth != k->bound.differs, &b))
			return false;
		b.differs = k->bound.differs;
		return ws_bound_same(&b, &k->bound);
	}
	return i->op == WS_OP_setp && i->nops == 3 && !i->boolop &&
	       ((i->ops[1].kind == WS_O_REG && i->ops[1].reg == k->r) ||
	        (i->ops[2].kind == WS_O_REG && i->ops[2].reg == k->r)) &&
	       ws_bound_by(i, k->r, truth, &b) && ws_bound_same(&b, &k->bound);
}

/* ---- where it holds ---- */
static const struct ws_ptx_inst *only_def(const struct values *v, const struct ws_reg *p)
{
	const struct defs *d = &v->defs[p->index];

	return d->n == 1 && !d->at[0]->guard ? d->at[0] : NULL;
}

/* The last instruction from `from` on and before `to` that sets r; NULL: none does. */
static const struct ws_ptx_inst *last_set(const struct values *v, const struct ws_reg *r, uint32_t from, uint32_t to)
{
	for (uint32_t k = v->first_set[r->index + 1]; k-- > v->first_set[r->index];)
		if (v->sets[k] < to)
			return v->sets[k] >= from ? &v->f->insts[v->sets[k]] : NULL;
	return NULL;
}

bool ws_value_set_between(const struct values *v, uint32_t first, uint32_t last, const struct ws_reg *r)
{
	return r && last_set(v, r, first, last + 1);
}

static bool written(const struct values *v, const struct fact *k, uint32_t from, uint32_t to)
{
	return !k->constant && last_set(v, k->r, from, to);
}

/* All that ws_ptx_block_reaches says of one block, a bit each. */
static uint64_t *find_reached(const struct ws_ptx_func *f, uint32_t from)
{
	uint64_t *reached = ws_alloc(((size_t)f->nblocks / 64 + 1) * sizeof *reached);
	bool *seen = ws_alloc(f->nblocks + 1);

	ws_ptx_blocks_reached(f, from, seen);
	for (uint32_t b = 0; b < f->nblocks; b++)
		reached[b / 64] |= (uint64_t)seen[b] << b % 64;
	free(seen);
	return reached;
}

bool ws_value_block_reaches(const struct values *v, uint32_t from, uint32_t to)
{
	if (!v->reached[from])
		v->reached[from] = find_reached(v->f, from);
	return v->reached[from][to / 64] >> to % 64 & 1;
}

bool ws_comes_before(const struct values *v, const struct ws_ptx_inst *a, const struct ws_ptx_inst *b)
{
	return (a->block == b->block && a->index < b->index) || ws_value_block_reaches(v, a->block, b->block);
}

bool ws_is_made_once(const struct values *v, const struct ws_ptx_inst *i)
{
	return !ws_value_block_reaches(v, i->block, i->block);
}

/* Has r the same value at both, of which the first is executed once? */
static bool unchanged_since(const struct values *v, const struct ws_reg *r, const struct ws_ptx_inst *d, const struct ws_ptx_inst *at)
{
	const struct defs *w = &v->defs[r->index];

	if (d->block == at->block || w->n > MOST_DEFS || !ws_is_made_once(v, d))
		return false;
	for (uint32_t k = 0; k < w->n; k++)
		if ((w->at[k] == d || ws_comes_before(v, d, w->at[k])) && ws_comes_before(v, w->at[k], at))
			return false;
	return true;
}

/* Is what the first finds of r true at the second? What a register that changes was compared with must have happened in
 * the same block, or where there is no loop, so that nothing is from an earlier round. */
static bool still_holds(const struct values *v, const struct fact *k, const struct ws_ptx_inst *d, const struct ws_ptx_inst *at)
{
	if (k->constant || (d->block == at->block && d->index <= at->index && !written(v, k, d->index, at->index)))
		return true;
	return unchanged_since(v, k->r, d, at);
}

/* Does p == value mean that the fact is true at instruction `at`? */
static bool means(const struct values *v, const struct fact *k, const struct ws_reg *p, bool value,
                  const struct ws_ptx_inst *at, unsigned depth)
{
	const struct ws_ptx_inst *d = only_def(v, p);

	if (!d || depth == DEEPEST || !still_holds(v, k, d, at))
		return false;
	if (compares(d, k, value))
		return true;
	if (d->nops < 2 || d->type[0] != WS_PRED || d->ops[0].kind != WS_O_REG)
		return false;
	if (d->op == WS_OP_not)
		return d->ops[1].kind == WS_O_REG && means(v, k, d->ops[1].reg, !value, d, depth + 1);
	if ((d->op != WS_OP_or || value) && (d->op != WS_OP_and || !value))
		return false;
	for (unsigned n = 1; n < 3; n++)
		if (d->ops[n].kind == WS_O_REG && means(v, k, d->ops[n].reg, value != d->ops[n].negated, d, depth + 1))
			return true;
	return false;
}

static bool is_set_once(const struct values *v, const struct ws_reg *r)
{
	const struct defs *d = &v->defs[r->index];

	return d->n == 1 && !d->at[0]->guard && !d->at[0]->block && !v->f->blocks[0].npred;
}

/* The register of which the instruction makes r a copy; NULL: it does something else. */
static const struct ws_reg *copied_by(const struct ws_ptx_inst *move, const struct ws_reg *r)
{
	const struct ws_operand *o = move->nops == 2 ? &move->ops[1] : NULL;
	bool is = move->op == WS_OP_mov && !move->guard && o && o->kind == WS_O_REG && !o->component && !o->negated && move->ops[0].reg == r &&
	          !move->ops[0].component && o->reg->vec == 1 && ws_type_bytes(o->reg->type) == ws_type_bytes(r->type);

	return is ? o->reg : NULL;
}

/* The register of which r is a copy where the block ends: `i = first` between a comparison of that and the branch. NULL: it is not known. */
static const struct ws_reg *copy_at_end(const struct values *v, const struct ws_reg *r, const struct ws_ptx_block *b)
{
	const struct ws_ptx_inst *set = last_set(v, r, b->first, b->last);
	const struct ws_reg *of = set ? copied_by(set, r) : NULL;

	return of && !last_set(v, of, set->index + 1, b->last) ? of : NULL;
}

static bool begins_on_edge(const struct values *v, const struct fact *k, const struct ws_ptx_block *from,
                           const struct ws_ptx_block *to)
{
	const struct ws_ptx_inst *last = &v->f->insts[from->last];
	bool next = to->first == from->last + 1, taken;
	struct fact other = *k;

	if (!last->guard)
		return false;
	if (last->op == WS_OP_bra) {
		if (from->nsucc != 2 || from->succ[0] == from->succ[1])
			return false;
		taken = !next;
	} else if (ws_op_info(last->op)->fx & WS_FX_EXIT && next && from->nsucc == 1) {
		taken = false;
	} else {
		return false;
	}
	if (means(v, k, last->guard, taken != last->guard_neg, last, 0))
		return true;
	other.r = k->constant ? NULL : copy_at_end(v, k->r, from);
	other.constant = other.r && is_set_once(v, other.r);
	return other.r && means(v, &other, last->guard, taken != last->guard_neg, last, 0);
}

static bool at_start(const struct values *v, const struct fact *k, uint32_t block)
{
	const struct ws_ptx_block *b = &v->f->blocks[block];

	if (!b->npred || !block)
		return false;
	for (uint32_t n = 0; n < b->npred; n++) {
		const struct ws_ptx_block *from = &v->f->blocks[b->pred[n]];
		bool through = k->copied[b->pred[n]] ||
			       (k->at_start[b->pred[n]] && !written(v, k, from->first, from->last + 1));

		if (!through && !begins_on_edge(v, k, from, b))
			return false;
	}
	return true;
}

static void solve(struct values *v, struct fact *k)
{
	bool changed = true;

	k->at_start = ws_arena_alloc(v->arena, v->f->nblocks);
	for (uint32_t b = 1; b < v->f->nblocks; b++)
		k->at_start[b] = v->f->blocks[b].npred > 0;
	while (changed) {
		changed = false;
		for (uint32_t b = 1; b < v->f->nblocks; b++)
			if (k->at_start[b] && !at_start(v, k, b)) {
				k->at_start[b] = false;
				changed = true;
			}
	}
}

/* Is r last written in the block, before instruction `to`, by copying a register of which the fact holds? Loops begin so:
 * `i = first`. */
static bool is_copied(struct values *v, const struct bound *bound, const struct ws_reg *r, const struct ws_ptx_block *b, uint32_t to)
{
	const struct ws_ptx_inst *move = last_set(v, r, b->first, to);
	const struct ws_reg *of = move ? copied_by(move, r) : NULL;

	return of && ws_fact_holds(v, bound, of, is_set_once(v, of), move);
}

static bool *find_copied(struct values *v, const struct fact *want)
{
	bool *copied = ws_arena_alloc(v->arena, v->f->nblocks);

	memset(copied, 0, v->f->nblocks);
	for (uint32_t b = 0; b < v->f->nblocks && !want->constant; b++)
		copied[b] = is_copied(v, &want->bound, want->r, &v->f->blocks[b], v->f->blocks[b].last + 1);
	return copied;
}

static const struct fact *find(struct values *v, const struct fact *want)
{
	struct fact *k;
	size_t at;
	bool *copied;

	for (size_t n = 0; n < v->nfacts; n++) {
		k = &v->facts[n];
		if (k->r == want->r && k->constant == want->constant && ws_bound_same(&k->bound, &want->bound))
			return k->at_start ? k : NULL;
	}
	if (v->nfacts == MOST_FACTS)
		return NULL;
	at = v->nfacts;
	*WS_PUSH(v->facts, v->nfacts, v->facts_cap) = *want;
	copied = find_copied(v, want);       /* which may find other facts */
	k = &v->facts[at];
	k->copied = copied;
	solve(v, k);
	return k;
}

const struct ws_operand *ws_special_moved(const struct ws_ptx_inst *i)
{
	return i->op == WS_OP_mov && !i->guard && i->nops == 2 && i->ops[1].kind == WS_O_SREG ? &i->ops[1] : NULL;
}

const struct ws_operand *ws_special_at(const struct values *v, const struct ws_reg *r, const struct ws_ptx_inst *i)
{
	const struct ws_operand *special = NULL;
	const struct defs *d = &v->defs[r->index];

	for (uint32_t k = 0; k < d->n && d->n <= MOST_DEFS; k++) {
		const struct ws_operand *moved = ws_special_moved(d->at[k]);

		if (!ws_comes_before(v, d->at[k], i))
			continue;
		if (!moved || (special && moved->sreg_or_count != special->sreg_or_count))
			return NULL;
		special = moved;
	}
	return special;
}

/* Is r the special register at the instruction, whatever way led there? */
static bool is_special_at(const struct values *v, const struct ws_reg *r, const struct ws_operand *special, const struct ws_ptx_inst *i)
{
	const struct ws_operand *is = ws_special_at(v, r, i);

	return is && is->sreg_or_count == special->sreg_or_count;
}

bool ws_bound_of_special(const struct values *v, const struct ws_reg *r, const struct ws_operand *special, const struct bound *b)
{
	struct bound other;

	if (v->defs[r->index].n > MOST_DEFS)
		return false;
	for (uint32_t c = v->first_compare[r->index]; c != UINT32_MAX; c = v->next_compare[c])
		for (int truth = 0; truth < 2; truth++)
			if (ws_bound_by(&v->f->insts[c / 2], r, truth, &other) && ws_bound_same(&other, b) &&
			    !is_special_at(v, r, special, &v->f->insts[c / 2]))
				return false;
	return true;
}

bool ws_fact_holds(struct values *v, const struct bound *b, const struct ws_reg *r, bool constant,
                   const struct ws_ptx_inst *at)
{
	const struct fact want = { .bound = *b, .r = r, .constant = constant };
	const struct fact *k = find(v, &want);

	if (!k)
		return false;
	if (constant && at->guard && means(v, k, at->guard, !at->guard_neg, at, 0))
		return true;
	if (!written(v, k, v->f->blocks[at->block].first, at->index))
		return k->at_start[at->block];
	return is_copied(v, b, r, &v->f->blocks[at->block], at->index);
}

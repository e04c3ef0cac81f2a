/* ranges_phases.c - registers that have one of a few numbers, the same in all threads at a time.
 *
 * `tile[buffer ^ 1][t] = next; sum += tile[buffer][k]; __syncthreads(); buffer ^= 1`: what one interval writes, another one reads, and the places of both
 * are anywhere in the two buffers. But all threads have turned the register over as often (in_step.c). So each number of it, a phase, is looked at by
 * itself: with buffer = 0 the writes are to the one half and the reads of the other, with 1 it is the other way round. It is so with
 * `stage = (stage + 1) % 3`, whatever it is computed by, and with a second register that is turned wherever the first one is; and with `round & 1` of a
 * counter that goes on in step, with what is left of its rounds. Of two accesses in one interval of which one is behind such a step and the other one
 * is not, the phases are as far apart.
 *
 * The registers are taken to have the phase's number where they are read for an address, and have not been set since; or, a single one, the number before, if it
 * was turned over once since: compilers do so as soon as it was read for the last time. */
#include "rewrite/needless.h"
#include "rewrite/ranges_priv.h"

#include <stdlib.h>
#include <string.h>

/* Which of its registers r is; nregs: none. */
static unsigned number_of(const struct phases *p, const struct ws_reg *r)
{
	unsigned k = 0;

	while (k < p->nregs && p->regs[k] != r)
		k++;
	return k;
}

/* ---- who reads it ---- */
struct slice {
	struct values *v;
	struct ws_steps *steps;
	const struct phases *of;
	const struct ws_ptx_inst *at;    /* the access */
	uint8_t *reads;
	bool fine;
	int turns;                       /* how often it was turned over since it was read; -1: it is not read yet */
	enum { NOT_SEEN, APART, MADE_OF } *seen;
};

static bool is_made_of(struct slice *s, const struct ws_reg *r);

struct reading { struct slice *s; const struct ws_ptx_inst *i; bool any; };

/* Is what set it last before the access, in its block, the turn, at which it still was what was read? */
static bool is_turned_once(const struct slice *s, const struct ws_reg *r, const struct ws_ptx_inst *read)
{
	uint32_t first = s->v->f->blocks[s->at->block].first, k = s->at->index;

	while (k > first && !ws_ptx_sets(&s->v->f->insts[k - 1], r))
		k--;
	return k > first && ws_steps_turn(s->steps, &s->v->f->insts[k - 1], r) && ws_steps_fresh(s->steps, r, read, &s->v->f->insts[k - 1]);
}

static void note_turns(struct slice *s, const struct ws_reg *r, const struct ws_ptx_inst *read)
{
	bool fresh = ws_steps_fresh(s->steps, r, read, s->at);

	s->fine = s->fine && (fresh || (s->of->nregs == 1 && !s->of->counts && is_turned_once(s, r, read))) && (s->turns < 0 || s->turns == !fresh);
	s->turns = !fresh;
}

static void look_at_read(void *user, struct ws_reg *r, bool is_def)
{
	struct reading *x = user;

	if (is_def)
		return;
	if (number_of(x->s->of, r) < x->s->of->nregs) {
		x->s->reads[x->i->index] = 1;
		note_turns(x->s, r, x->i);
	} else if (is_made_of(x->s, r)) {
		x->s->fine = x->s->fine && ws_steps_fresh(x->s->steps, r, x->i, x->s->at);
	} else {
		return;
	}
	x->any = true;
}

/* What is made of it must be made anew each time, by one instruction, behind which it may go on by numbers: a sum of what the register was in all rounds
 * so far is none of its phases. */
static bool is_made_of(struct slice *s, const struct ws_reg *r)
{
	const struct defs *d = &s->v->defs[r->index];
	struct reading x = { .s = s };
	unsigned makes = 0;

	s->fine &= d->n <= MOST_DEFS;
	if (s->seen[r->index] || !s->fine)
		return s->seen[r->index] == MADE_OF;
	s->seen[r->index] = APART;
	for (uint32_t k = 0; k < d->n; k++) {
		x.i = d->at[k];
		if (ws_steps_added(x.i, r))      /* a loop's pointer */
			continue;
		ws_ptx_inst_regs(x.i, look_at_read, &x);
		makes += 1 + (x.i->guard != NULL);
	}
	s->fine &= !x.any || makes == 1;
	s->seen[r->index] = x.any ? MADE_OF : APART;
	return x.any;
}

bool ws_phases_read(struct values *v, struct ws_steps *steps, const struct phases *p, const struct ws_rw_access *a, uint8_t *reads, uint8_t *turns)
{
	struct slice s = { v, steps, p, a->inst, reads, .fine = true, .turns = -1 };
	bool any;

	memset(reads, 0, v->f->ninsts);
	if (!a->address->reg)
		return false;
	s.seen = ws_alloc((v->f->nregs + 1) * sizeof *s.seen);
	if (number_of(p, a->address->reg) < p->nregs) {
		any = true;
		reads[a->inst->index] = 1;
	} else {
		any = is_made_of(&s, a->address->reg);
	}
	free(s.seen);
	*turns = s.turns > 0;
	return s.fine && any;
}

/* ---- its numbers ---- */
/* The one instruction that turns it over, if all others let it begin with one number: *begin. */
static const struct ws_ptx_inst *turn_of(const struct values *v, const struct ws_steps *s, const struct ws_reg *r, const struct ws_operand **begin)
{
	const struct defs *d = &v->defs[r->index];
	const struct ws_ptx_inst *turn = NULL;

	*begin = NULL;
	for (uint32_t k = 0; k < d->n && d->n <= MOST_DEFS; k++) {
		const struct ws_ptx_inst *i = d->at[k];
		const struct ws_operand *o = &i->ops[1];

		if (ws_steps_turn(s, i, r)) {
			if (turn)
				return NULL;
			turn = i;
			continue;
		}
		if (i->op != WS_OP_mov || i->guard || i->nops != 2 || o->kind != WS_O_INT || (*begin && (*begin)->imm != o->imm))
			return NULL;
		*begin = o;
	}
	return *begin ? turn : NULL;
}

/* Its numbers, one after the other, until the first one comes again; returns how many, 0: too many. */
static unsigned go_round(const struct values *v, const struct ws_reg *r, const struct ws_ptx_inst *turn, int64_t *number)
{
	struct ws_turn t = { .only = v->only, .has = { { r, 0 } }, .n = 1 };
	uint32_t x;

	for (unsigned n = 1; n <= MOST_PHASES; n++) {
		t.has[0].number = (uint32_t)number[n - 1];
		t.nreads = 0;
		if (!ws_turn_number(&t, turn, 0, &x))
			return 0;
		if ((int32_t)x == number[0])
			return n;
		if (n < MOST_PHASES)
			number[n] = (int32_t)x;
	}
	return 0;
}

/* The next register of them: of as many numbers as the first one. */
static bool find_turns(const struct values *v, const struct ws_steps *s, const struct ws_reg *r, struct phases *p)
{
	const struct ws_operand *begin;
	const struct ws_ptx_inst *turn = turn_of(v, s, r, &begin);
	int64_t *number = p->number[p->nregs];
	unsigned n;

	if (!turn)
		return false;
	number[0] = (int32_t)begin->imm;
	n = go_round(v, r, turn, number);
	if (n < 2 || (p->nregs && n != p->n))
		return false;
	p->n = n;
	p->regs[p->nregs++] = r;
	return true;
}

/* Are q's definitions in the blocks where r's are, of each as many, with no access between two of them there? */
static bool goes_with(const struct values *v, const struct ws_steps *s, const struct ws_reg *r, const struct ws_reg *q)
{
	const struct defs *a = &v->defs[r->index], *b = &v->defs[q->index];
	bool used[MOST_DEFS] = { false };

	if (a->n != b->n || a->n > MOST_DEFS)
		return false;
	for (uint32_t k = 0; k < a->n; k++) {
		uint32_t m = 0, first, last;

		while (m < b->n && (used[m] || b->at[m]->block != a->at[k]->block || ws_steps_turn(s, b->at[m], q) != ws_steps_turn(s, a->at[k], r)))
			m++;
		if (m == b->n)
			return false;
		used[m] = true;
		first = a->at[k]->index < b->at[m]->index ? a->at[k]->index : b->at[m]->index;
		last = a->at[k]->index + b->at[m]->index - first;
		if (ws_steps_access_between(s, first, last))
			return false;
	}
	return true;
}

static void find_others(const struct values *v, struct ws_steps *s, struct phases *p)
{
	for (uint32_t k = 0; k < v->f->nregs && p->nregs < MOST_TURNING; k++) {
		const struct ws_reg *q = v->f->regs[k];

		if (q != p->regs[0] && ws_type_bytes(q->type) == 4 && v->defs[q->index].n >= 2 && goes_with(v, s, p->regs[0], q) && ws_steps_may(s, q))
			find_turns(v, s, q, p);
	}
}

/* The number of steps as n * what is left of it, and one of 0 to n - 1. */
static bool count(struct values *v, const struct ws_reg *r, const struct phases *p, struct sum *out)
{
	uint32_t k = 0;

	if (!ws_value_endless(v, r, NULL, out))
		return false;
	while (k < out->n && (out->t[k].n != 1 || v->leaves[out->t[k].leaf[0]].kind != LEAF_ENDLESS || v->leaves[out->t[k].leaf[0]].reg != r))
		k++;
	if (k == out->n || !v->leaves[out->t[k].leaf[0]].k || out->t[k].factor != p->step)
		return false;
	out->t[k].factor *= p->n;
	return ws_sum_add(out, &(struct sum){ 1, { { .factor = 1 } } }, p->step * v->phase);
}

bool ws_value_in_phase(struct values *v, const struct ws_reg *r, struct sum *out)
{
	const struct phases *p = v->phases;
	unsigned which = number_of(p, r);

	if (which == p->nregs)
		return false;
	if (p->counts)
		return count(v, r, p, out);
	return ws_sum_number(out, p->number[which][v->phase]);
}

bool ws_value_made_in_phase(struct values *v, const struct ws_ptx_inst *i, struct sum *out)
{
	const struct phases *p = v->phases;
	struct ws_turn t = { .only = v->only, .n = p->nregs };
	uint32_t number;

	for (unsigned k = 0; k < p->nregs; k++) {
		t.has[k].r = p->regs[k];
		t.has[k].number = (uint32_t)p->number[k][v->phase];
	}
	if (p->counts || !ws_turn_number(&t, i, 0, &number) || !t.nreads)
		return false;
	for (unsigned k = 0; k < t.nreads; k++)
		if (!v->reads[t.reads[k]->index])
			return false;
	return ws_sum_number(out, (int32_t)number);
}

bool ws_phases_find(const struct values *v, struct ws_steps *s, const struct ws_reg *r, unsigned way, struct phases *out)
{
	if (way >= 2) {
		*out = (struct phases){ .regs = { r }, .nregs = 1, .counts = true, .n = way, .step = ws_endless_step(v, r) };
		return out->step > 0;
	}
	*out = (struct phases){ .step = 1 };
	if (way || !find_turns(v, s, r, out))
		return false;
	find_others(v, s, out);
	return true;
}

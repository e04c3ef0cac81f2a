/* ranges_phases.c - registers that have one of a few numbers, the same in all threads at a time.
 *
 * `tile[buffer ^ 1][t] = next; sum += tile[buffer][k]; __syncthreads(); buffer ^= 1`: what one interval writes, another one reads, and the places of both
 * are anywhere in the two buffers. But all threads have turned the register over as often (in_step.c). So each number of it, a phase, is looked at by
 * itself: with buffer = 0 the writes are to the one half and the reads of the other, with 1 it is the other way round. It is so with `round & 1` or
 * `round % 3` of a counter that goes on in step, with what is left of its rounds. Of two accesses in one interval of which one is behind such
 * a step and the other one is not, the phases are as far apart.
 *
 * The register is taken to have the phase's number where it is read for an address, and has not been set since. */
#include "rewrite/needless.h"
#include "rewrite/ranges_priv.h"

#include <stdlib.h>
#include <string.h>

/* ---- who reads it ---- */
struct slice { struct values *v; struct ws_steps *steps; const struct phases *of; const struct ws_ptx_inst *at; uint8_t *reads; bool fine; enum { NOT_SEEN, APART, MADE_OF } *seen; };

static bool is_made_of(struct slice *s, const struct ws_reg *r);

struct reading { struct slice *s; const struct ws_ptx_inst *i; bool any; };

static void look_at_read(void *user, struct ws_reg *r, bool is_def)
{
	struct reading *x = user;

	if (is_def)
		return;
	if (r != x->s->of->reg) {
		x->any |= is_made_of(x->s, r);
		return;
	}
	x->any = true;
	x->s->reads[x->i->index] = 1;
	x->s->fine = x->s->fine && ws_steps_fresh(x->s->steps, r, x->i, x->s->at);
}

/* What is made of it must be made anew each time: a sum of what it was in all rounds so far is none of its phases. */
static bool is_made_of(struct slice *s, const struct ws_reg *r)
{
	const struct defs *d = &s->v->defs[r->index];
	struct reading x = { .s = s };

	s->fine &= d->n <= MOST_DEFS;
	if (s->seen[r->index] || !s->fine)
		return s->seen[r->index] == MADE_OF;
	s->seen[r->index] = APART;
	for (uint32_t k = 0; k < d->n; k++) {
		x.i = d->at[k];
		ws_ptx_inst_regs(x.i, look_at_read, &x);
	}
	s->fine &= !x.any || (d->n == 1 && !d->at[0]->guard);
	s->seen[r->index] = x.any ? MADE_OF : APART;
	return x.any;
}

bool ws_phases_read(struct values *v, struct ws_steps *steps, const struct phases *p, const struct ws_rw_access *a, uint8_t *reads)
{
	struct slice s = { v, steps, p, a->inst, reads, .fine = true };
	bool any;

	memset(reads, 0, v->f->ninsts);
	if (!a->address->reg)
		return false;
	s.seen = ws_alloc((v->f->nregs + 1) * sizeof *s.seen);
	if (a->address->reg == p->reg) {
		any = true;
		reads[a->inst->index] = 1;
	} else {
		any = is_made_of(&s, a->address->reg);
	}
	free(s.seen);
	return s.fine && any;
}

/* ---- its numbers ---- */
static int32_t turned(const struct ws_ptx_inst *turn, int32_t x)
{
	return turn->op == WS_OP_xor ? x ^ (int32_t)turn->ops[2].imm : (int32_t)((uint32_t)turn->ops[1].imm - (uint32_t)x);
}

/* It begins with a number, whichever way, and is turned over by one instruction alone, back to that after a few times. */
static bool find_turns(const struct values *v, const struct ws_reg *r, struct phases *out)
{
	const struct defs *d = &v->defs[r->index];
	const struct ws_ptx_inst *turn = NULL;
	const struct ws_operand *begin = NULL;

	*out = (struct phases){ .reg = r, .step = 1 };
	for (uint32_t k = 0; k < d->n && d->n <= MOST_DEFS; k++) {
		const struct ws_ptx_inst *i = d->at[k], *by = ws_steps_turn(v->f, i, r);
		const struct ws_operand *o = &i->ops[1];

		if (by ? turn && turn != by : i->op != WS_OP_mov || i->nops != 2 || o->kind != WS_O_INT || (begin && begin->imm != o->imm))
			return false;
		turn = by ? by : turn;
		begin = by ? begin : o;
	}
	for (int32_t x = begin ? (int32_t)begin->imm : 0; turn && begin && out->n < MOST_PHASES; x = turned(turn, x)) {
		if (out->n && x == out->number[0])
			return out->n > 1;
		out->number[out->n++] = x;
	}
	return turn && begin && out->n > 1 && turned(turn, out->number[out->n - 1]) == out->number[0];
}

/* The number of steps as n * what is left of it, and one of 0 to n - 1. */
static bool count(struct values *v, const struct ws_reg *r, const struct phases *p, struct sum *out)
{
	uint32_t k = 0;

	if (!ws_value_endless(v, r, out))
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

	if (!p->step)
		return false;
	if (p->counts)
		return count(v, r, p, out);
	*out = (struct sum){ p->number[v->phase] != 0, { { .factor = p->number[v->phase] } } };
	return true;
}

bool ws_phases_find(const struct values *v, const struct ws_reg *r, unsigned way, struct phases *out)
{
	if (way < 2)
		return way == 0 && find_turns(v, r, out);
	*out = (struct phases){ .reg = r, .counts = true, .n = way, .step = ws_endless_step(v, r) };
	return out->step > 0;
}

/* ranges_in_step.c - groups of accesses to shared memory whose places go on with the rounds of a loop that has a barrier in each.
 *
 * A wavefront has `h[t + 1][c + 1] = f(h[t][c], h[t][c + 1], h[t + 1][c])` with `c = round - t`: a thread's place goes on by a word in each round, and
 * so do those of all others, in the same rounds (in_step.c). So what two threads touch in an interval is as far apart as if there were no rounds: what
 * is left is a sum of the thread's index alone, 260 t, and offsets of which the accesses of an interval have a few, -264, -260, 0 and 4. By those two
 * threads meet where a multiple of what the sum goes in, but 0, is the difference of two offsets; -268, -264 and -4 are none of 260. */
#include "rewrite/needless.h"
#include "rewrite/ranges_priv.h"

#include <stdlib.h>

/* ---- how far all threads are ---- */
struct slice { struct values *v; const struct sum *rounds; const struct ws_ptx_inst *at; bool *seen, fine; };

static bool is_of(const struct values *v, const struct sum *rounds, const struct ws_reg *r)
{
	for (uint32_t k = 0; k < rounds->n; k++)
		if (v->leaves[rounds->t[k].leaf[0]].reg == r)
			return true;
	return false;
}

static void look_back(struct slice *s, const struct ws_reg *r);

struct reading { struct slice *s; const struct ws_ptx_inst *i; const struct ws_reg *sets; };

static void look_at_read(void *user, struct ws_reg *r, bool is_def)
{
	struct reading *x = user;

	if (is_def || r == x->sets)
		return;
	if (is_of(x->s->v, x->s->rounds, r))
		x->s->fine &= ws_steps_fresh(x->s->v->in_step, r, x->i, x->s->at);
	look_back(x->s, r);
}

static void look_back(struct slice *s, const struct ws_reg *r)
{
	const struct defs *d = &s->v->defs[r->index];

	s->fine &= d->n <= MOST_DEFS;
	if (s->seen[r->index] || !s->fine)
		return;
	s->seen[r->index] = true;
	for (uint32_t k = 0; k < d->n; k++) {
		struct reading x = { s, d->at[k], r };

		ws_ptx_inst_regs(d->at[k], look_at_read, &x);
	}
}

bool ws_in_step_address(struct values *v, const struct ws_rw_access *a, const struct sum *rounds)
{
	struct slice s = { v, rounds, a->inst, .fine = true };

	if (!v->in_step || !a->address->reg)
		return false;
	for (uint32_t k = 0; k < rounds->n && s.fine; k++)
		s.fine = rounds->t[k].n == 1 && !v->leaves[rounds->t[k].leaf[0]].offset && ws_steps_may(v->in_step, v->leaves[rounds->t[k].leaf[0]].reg);
	s.seen = ws_alloc(v->f->nregs + 1);
	if (s.fine)
		look_back(&s, a->address->reg);
	free(s.seen);
	return s.fine;
}

bool ws_in_step_same(struct values *v, const struct sum *rounds, uint32_t a, uint32_t b)
{
	for (uint32_t k = 0; k < rounds->n; k++)
		if (!ws_steps_same(v->in_step, v->leaves[rounds->t[k].leaf[0]].reg, a, b))
			return false;
	return true;
}

/* ---- threads apart ---- */
static int64_t floor_of(int64_t a, int64_t by) { return (a - ((a % by + by) % by)) / by; }

bool ws_in_step_apart(int64_t distance, int64_t at, int64_t bytes, int64_t other, int64_t other_bytes)
{
	int64_t lo = other - at - bytes, hi = other - at + other_bytes, first;

	if (distance <= 0)
		return false;
	first = (floor_of(lo, distance) + 1) * distance;         /* the first one above lo */
	return first >= hi || (first == 0 && first + distance >= hi);
}

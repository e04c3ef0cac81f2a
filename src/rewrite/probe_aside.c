/* probe_aside.c - accesses to shared memory that a probe need not make: `weights[symbol]`, at a place that data gives, or `count[bin] += 1` by
 * an atomic; and reads where nobody writes, so that the proof does not depend on what says where they are, and whether they come: `if (row + i < n)
 * out[i] = tile[i]` at the kernel's end, in one launch for each row.
 *
 * Where no other access to its variable comes in the same interval between barriers (interval.c) with which it could race, it has no
 * race, wherever in the variable it is. Where a sync of the warp alone is between them, that holds in blocks of one warp, and the probe finds nothing in those alone. As elsewhere, an access whose place is data is taken to stay in its variable (docs/REWRITE.md). A read whose
 * place is known stays in none: it is put aside only where there is no such access to any. Asynchronous copies are in all intervals. */
#include "rewrite/needless.h"
#include "rewrite/probe.h"
#include "rewrite/ranges_priv.h"

#include <stdlib.h>

enum { MOST_ACCESSES = 320 };

struct looking {
	struct ws_probe *p;
	struct ws_intervals *intervals, *of_warp;        /* of_warp: NULL: no syncs of warps, or not known */
	const struct ws_ptx_sym **variable;      /* by access; NULL: not known */
};

static bool may_be_aside(const struct ws_rw_access *a)
{
	return ws_shared_is(a) && a->space == WS_SPACE_SHARED && (a->kind == WS_RW_ATOMIC || (a->kind == WS_RW_READ && a->sem == WS_SEM_WEAK));
}

/* Is a read where it is known before the launch? (What has another space may have no address.) */
static bool is_known_read(const struct ws_probe *p, const struct ws_rw_access *a)
{
	const struct ws_reg *r = a->address->reg;

	return a->kind == WS_RW_READ && (!r || !p->data[r->index]);
}

static const struct ws_ptx_sym *variable_of(struct values *v, const struct ws_rw_access *a)
{
	const struct ws_ptx_sym *s;

	return ws_shared_is(a) && ws_shared_variable(v, a, &s) ? s : NULL;
}

static bool meet(const struct looking *l, uint32_t a, uint32_t b, bool one_warp)
{
	return ws_intervals_meet(l->intervals, a, b) && !(one_warp && !ws_intervals_meet_in_warp(l->of_warp, a, b));
}

/* one_warp: in a block of one warp. */
static bool meets_any(const struct looking *l, uint32_t k, bool one_warp)
{
	const struct ws_rw_access *list = l->p->list;
	bool anywhere = is_known_read(l->p, &list[k]);

	for (uint32_t m = 0; m < l->p->n; m++) {
		if (list[m].rw_class == WS_RW_UNHANDLED && list[m].inst->space != WS_SPACE_GLOBAL)
			return true;
		if (ws_shared_is(&list[m]) && ws_shared_may_race(&list[k], &list[m]) && (anywhere || !l->variable[m] || l->variable[m] == l->variable[k]) &&
		    (list[m].inst->op == WS_OP_cp || meet(l, list[k].inst->index, list[m].inst->index, one_warp)))
			return true;
	}
	return false;
}

static void look(struct looking *l)
{
	struct values v;

	ws_values_init(&v, l->p->f);
	v.shared = true;
	for (uint32_t k = 0; k < l->p->n; k++)
		l->variable[k] = variable_of(&v, &l->p->list[k]);
	for (uint32_t k = 0; k < l->p->n; k++) {
		bool plain = may_be_aside(&l->p->list[k]), known = plain && is_known_read(l->p, &l->p->list[k]), may = plain && (l->variable[k] || known);

		l->p->aside[k] = may && !meets_any(l, k, false);
		if (may && !known && !l->p->aside[k] && l->of_warp)
			l->p->one_warp |= l->p->aside[k] = !meets_any(l, k, true);
	}
	ws_values_free(&v);
}

void ws_probe_find_aside(struct ws_probe *p)
{
	uint32_t all = 0, some = 0;
	struct looking l = { .p = p };

	for (uint32_t k = 0; k < p->n; k++) {
		all += ws_shared_is(&p->list[k]);
		some += may_be_aside(&p->list[k]);
	}
	if (!some || all > MOST_ACCESSES)
		return;
	l.intervals = ws_intervals_find(p->f, p->list, p->n, false, NULL);
	if (!l.intervals)
		return;
	l.of_warp = ws_intervals_of_warp(p->f, p->list, p->n, NULL, l.intervals);
	l.variable = ws_alloc(p->n * sizeof *l.variable);
	look(&l);
	ws_intervals_free(l.of_warp);
	free(l.variable);
	ws_intervals_free(l.intervals);
}

/* extent.c - which bytes of global memory a launch may come to; see extent.h.
 *
 * An access whose address is known (ranges_priv.h) comes to no more than lies between the bounds of it in this launch, and one of which
 * only the pointer is known that it is counted from (ranges_area.c) to no more than the allocation. All that is counted from one
 * pointer, and is done in one way, is one extent: what lies between the first and the last byte. */
#include "rewrite/extent.h"

#include <stdlib.h>
#include <string.h>

#include "rewrite/ranges_priv.h"

enum { MOST_PLACES = 400, MOST_EXTENTS = 32, MOST_LOOKS = 2000, WIDE = 8 };

/* Accesses of one address but for a constant. */
struct place { struct sum sum; int64_t first, last; unsigned extent; };
/* What is counted from one pointer. vague: some of it by numbers that are not known; loose: there is no such pointer. start, end: its allocation. */
struct extent { uint32_t base; bool loose, vague; const char *how; struct num lo, hi; bool has; struct num start, end; };

struct extents {
	struct values v;
	struct place *places;
	unsigned nplaces, n;
	struct extent list[MOST_EXTENTS];
};

/* ---- what is accessed ---- */
static const char *how(const struct ws_rw_access *a)
{
	if (a->kind == WS_RW_READ)
		return "reads";
	if (a->kind != WS_RW_ATOMIC || (a->scope != WS_SCOPE_GPU && a->scope != WS_SCOPE_SYS))
		return "writes";
	return a->bytes >= WIDE ? "updates8" : "updates";
}

/* Does the host not know it, for it depends on constant memory? steps: looks that are left; where there are none, it may. */
static bool has_constant(const struct values *v, const struct sum *s, unsigned *steps);

static bool leaf_has_constant(const struct values *v, const struct leaf *l, unsigned *steps)
{
	if (l->kind == LEAF_CONST || !*steps || (l->step && has_constant(v, l->step, steps)))
		return true;
	--*steps;
	for (unsigned n = 0; n < l->nof; n++)
		if (has_constant(v, l->of[n], steps))
			return true;
	for (unsigned n = 0; n < l->nbounds; n++)
		if (has_constant(v, l->bounds[n].than, steps))
			return true;
	return false;
}

static bool has_constant(const struct values *v, const struct sum *s, unsigned *steps)
{
	for (uint32_t k = 0; k < s->n; k++)
		for (uint32_t m = 0; m < s->t[k].n; m++)
			if (leaf_has_constant(v, &v->leaves[s->t[k].leaf[m]], steps))
				return true;
	return false;
}

/* It, or what its bounds rely on, noted since there were so many duties. */
static bool depends_on_constant(const struct values *v, const struct sum *s, size_t from)
{
	unsigned steps = MOST_LOOKS;
	bool has = has_constant(v, s, &steps);

	for (size_t k = from; k < v->nduties && !has; k++)
		has = has_constant(v, v->duties[k].sum, &steps) || (v->duties[k].unless && has_constant(v, v->duties[k].unless, &steps));
	return has;
}

static struct extent *extent_of(struct extents *x, bool loose, uint32_t base, const char *how)
{
	unsigned k = 0;

	while (k < x->n && (x->list[k].loose != loose || x->list[k].base != base || x->list[k].how != how))
		k++;
	if (k == MOST_EXTENTS)
		return NULL;
	if (k == x->n)
		x->list[x->n++] = (struct extent){ .base = base, .loose = loose, .how = how };
	return &x->list[k];
}

static bool add_place(struct extents *x, const struct extent *of, const struct sum *s, int64_t first, int64_t last)
{
	struct place *p = x->places, *end = p + x->nplaces;

	while (p < end && (p->extent != (unsigned)(of - x->list) || !ws_sum_equal(&p->sum, s)))
		p++;
	if (p == x->places + MOST_PLACES)
		return false;
	if (p == end) {
		*p = (struct place){ .sum = *s, .first = first, .last = last, .extent = (unsigned)(of - x->list) };
		x->nplaces++;
	}
	p->first = first < p->first ? first : p->first;
	p->last = last > p->last ? last : p->last;
	return true;
}

/* An access of which the address is known. false: it is not, or there is no room. */
static bool add_exact(struct extents *x, const struct ws_rw_access *a, const struct bases *b)
{
	size_t duties = x->v.nduties;
	struct extent *e;
	struct sum known, s;
	int64_t at;

	if (!ws_values_address(&x->v, a, &known) || !ws_sum_of_any(&x->v, &known, &s) || depends_on_constant(&x->v, &s, duties)) {
		x->v.nduties = duties;
		return false;
	}
	at = ws_sum_take_constant(&s);
	e = extent_of(x, b->n != 1, b->n == 1 ? b->leaf[0] : 0, how(a));
	return e && add_place(x, e, &s, at, at + a->bytes);
}

static bool add(struct extents *x, const struct ws_rw_access *a)
{
	struct bases b;

	if (!ws_area_bases(&x->v, a, &b))
		b.n = 0;
	if (add_exact(x, a, &b))
		return true;
	for (unsigned k = 0; k < b.n; k++) {
		struct extent *e = x->v.leaves[b.leaf[k]].kind == LEAF_CONST ? NULL : extent_of(x, false, b.leaf[k], how(a));

		if (!e)
			return false;
		e->vague = true;
	}
	return b.n > 0;
}

/* ---- what the host computes ---- */
/* Of the allocation, or variable, that an extent's pointer leads to; the predicate that it is known. */
static const char *area(struct entry *e, struct extent *of)
{
	const struct leaf *l = &e->v->leaves[of->base];
	const struct sum s = ws_sum_of_leaf(of->base);
	const char *known = ws_code_temp(e->c, WS_PRED), *at;
	struct num lo, hi;

	ws_entry_bounds(e, &s, &lo, &hi);
	at = ws_entry_register(e, &lo);
	of->start = (struct num){ .reg = ws_code_temp(e->c, WS_B64), .bits = 57 };
	of->end = (struct num){ .reg = ws_code_temp(e->c, WS_B64), .bits = 57 };
	if (l->kind == LEAF_SYMBOL) {
		ws_code_add(e->c, "setp.eq.u32 %s, 0, 0;", known);
		ws_code_add(e->c, "mov.b64 %s, %s;", of->start.reg, at);
		ws_code_add(e->c, "add.s64 %s, %s, %lld;", of->end.reg, at, (long long)l->sym->size);
		return known;
	}
	ws_code_host(e->c, "area.known %s, %s;", known, at);
	ws_code_host(e->c, "area.start %s, %s;", of->start.reg, at);
	ws_code_host(e->c, "area.end %s, %s;", of->end.reg, at);
	return known;
}

static void take_bounds(struct extents *x, struct entry *e, const struct place *p)
{
	struct extent *of = &x->list[p->extent];
	struct num lo, hi;

	if (of->vague)
		return;
	ws_entry_bounds(e, &p->sum, &lo, &hi);
	lo = ws_entry_add(e, lo, ws_entry_number(p->first));
	hi = ws_entry_add(e, hi, ws_entry_number(p->last));
	of->lo = of->has ? ws_entry_made(e, "min.s64", of->lo, lo) : lo;
	of->hi = of->has ? ws_entry_made(e, "max.s64", of->hi, hi) : hi;
	of->has = true;
}

/* The extent is what its accesses come to, as far as that lies in the allocation; or all of that, if what the bounds rely on does not hold. ok:
 * it does, or the allocation is known. */
static void say_extent(struct entry *e, struct extent *of, const char *ok)
{
	const char *known = of->loose ? NULL : area(e, of);
	struct num lo = of->lo, hi = of->hi;

	if (of->loose) {
		ws_code_add(e->c, "and.pred %s, %s, %s;", ok, ok, e->ok);
	} else if (of->vague) {
		ws_code_add(e->c, "and.pred %s, %s, %s;", ok, ok, known);
		lo = of->start;
		hi = of->end;
	} else {
		lo = ws_entry_either(e, known, ws_entry_made(e, "max.s64", of->start, lo), lo);
		hi = ws_entry_either(e, known, ws_entry_made(e, "min.s64", of->end, hi), hi);
		lo = ws_entry_either(e, e->ok, lo, of->start);
		hi = ws_entry_either(e, e->ok, hi, of->end);
		ws_code_add(e->c, "or.pred %s, %s, %s;", known, known, e->ok);
		ws_code_add(e->c, "and.pred %s, %s, %s;", ok, ok, known);
	}
	ws_code_host(e->c, "%s %s, %s;", of->how, ws_entry_register(e, &lo), ws_entry_register(e, &hi));
}

static const char *say(struct extents *x, struct ws_pass *p)
{
	struct entry e = { .v = &x->v, .c = ws_code_for_host(p, x->v.f) };
	const char *ok = ws_code_temp(e.c, WS_PRED), *out;
	struct ws_buf text = { 0 };

	e.ok = ws_code_temp(e.c, WS_PRED);
	ws_code_add(e.c, "setp.eq.u32 %s, 0, 0;", e.ok);
	ws_code_add(e.c, "setp.eq.u32 %s, 0, 0;", ok);
	ws_entry_duties(&e, 0, x->v.nduties);
	for (unsigned k = 0; k < x->nplaces; k++)
		take_bounds(x, &e, &x->places[k]);
	for (unsigned k = 0; k < x->n; k++)
		say_extent(&e, &x->list[k], ok);
	ws_code_host(e.c, "known %s;", ok);
	ws_code_host_text(e.c, &text);
	out = ws_arena_strndup(ws_rw_module(p)->arena, text.data, text.len);
	ws_buf_free(&text);
	free(e.known);
	return out;
}

const char *ws_extents_find(struct ws_pass *p, const struct ws_reach *reach, const struct ws_rw_kernel *k, const struct ws_rw_access *list, uint32_t n)
{
	struct extents *x;
	const char *text = NULL;
	bool known = ws_area_calls_nothing(reach, k);

	if (!known)
		return NULL;
	x = ws_alloc(sizeof *x);
	x->places = ws_alloc(MOST_PLACES * sizeof *x->places);
	ws_values_init(&x->v, (struct ws_ptx_func *)k->func);
	for (uint32_t i = 0; i < n && known; i++)
		known = !ws_ranges_may_be_global(&list[i]) || ws_area_is_table(&x->v, &list[i]) || ws_ranges_not_global(&x->v, list[i].address->reg) ||
			add(x, &list[i]);
	if (known)
		text = say(x, p);
	ws_values_free(&x->v);
	free(x->places);
	free(x);
	return text;
}

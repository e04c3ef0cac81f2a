/* in_step.c - registers that go on in step: that are as far in all threads of a block, wherever two of them may race.
 *
 * `for (round = 0; round < n; round++) { ...; __syncthreads(); }`: in an interval between barriers all threads are in the same round, though what
 * they have made of its number is another number in each. Let threads all be at one barrier at a time (interval.c), and let nothing that is another
 * one in other threads decide whether r is written. Then all have written it as often when they leave a barrier; and where the writes on every way
 * from there to two places are the same ones, r is as far in both.
 *
 * So it is with one that is set to what is made of it alone, `buffer ^= 1` or `stage = (stage + 1) % 3`: that counts as a step of 1. */
#include "rewrite/needless.h"
#include "rewrite/ranges_priv.h"

#include <stdlib.h>
#include <string.h>

/* What has been done to r since the point. */
struct state {
	enum { UNREACHED, KNOWN, ANY } kind;
	uint32_t sets, last;             /* how often it was set to something else, and the instruction that did it last */
	int64_t added;                   /* since then */
};

struct ws_steps {
	const struct ws_intervals *v;
	const struct ws_ptx_func *f;
	const struct ws_rw_access *list;
	uint32_t n, npoints;
	uint32_t *number;                /* by instruction: of the access, and 1; 0 = none */
	const struct ws_ptx_inst **only; /* ws_only_sets */
	uint8_t *points;                 /* by instruction: it is a barrier that ends intervals */
	struct table { const struct ws_reg *r; bool may; struct state *at; } *tables;    /* at: by point and access; NULL: not found yet */
	size_t ntables, tables_cap;
};

/* ---- whether it goes on in step at all ---- */
int64_t ws_steps_added(const struct ws_ptx_inst *i, const struct ws_reg *r)
{
	const struct ws_operand *by = i->guard ? NULL : ws_value_added(i, r);

	if (!by || by->kind != WS_O_INT)
		return 0;
	return ws_type_bytes(r->type) == 4 ? (int32_t)by->imm : (int64_t)by->imm;
}

/* By instruction: may `to` be executed behind it, and before `stop`? The caller frees it. */
static uint8_t *find_ways(const struct ws_ptx_func *f, const struct ws_ptx_inst *to, const struct ws_ptx_inst *stop)
{
	uint8_t *mark = ws_alloc(f->ninsts + 1), *stops = ws_alloc(f->ninsts + 1), *out = ws_alloc(f->ninsts + 1);

	mark[to->index] = stops[stop->index] = 1;
	ws_find_after(f, mark, stops, NULL, out);
	free(mark);
	free(stops);
	return out;
}

bool ws_always_between(const struct ws_ptx_func *f, const struct ws_reg *r, const struct ws_ptx_inst *first, const struct ws_ptx_inst *i)
{
	uint8_t *ways;
	bool always = true;

	if (first->block == i->block && first->index < i->index)      /* mostly; no need to follow the ways */
		return !ws_sets_between(f, first->index + 1, i->index - 1, r);
	ways = find_ways(f, i, first);
	for (uint32_t k = 0; k < f->ninsts && always; k++)
		always = !ws_ptx_sets(&f->insts[k], r) || !ways[k];
	free(ways);
	return always;
}

/* What makes it stands before it in its block, or is one instruction. */
bool ws_steps_turn(const struct ws_steps *s, const struct ws_ptx_inst *i, const struct ws_reg *r)
{
	struct ws_turn t = { .only = s->only, .has = { { r, 0 } }, .n = 1 };
	uint32_t number;

	if (ws_type_bytes(r->type) != 4 || !ws_turn_number(&t, i, 0, &number) || !t.nreads)
		return false;
	if (t.apart)
		return t.nseen == 2 && t.nreads == 1 && ws_always_between(s->f, r, t.reads[0], i);
	return t.first == i || !ws_sets_between(s->f, t.first->index, i->index - 1, r);
}

bool ws_steps_access_between(const struct ws_steps *s, uint32_t first, uint32_t last)
{
	for (uint32_t k = 0; k < s->n; k++)
		if (s->list[k].inst->index > first && s->list[k].inst->index < last)
			return true;
	return false;
}

/* How far i, which sets r, lets it go on; 0: it sets it to something else. */
static int64_t goes_on(const struct ws_steps *s, const struct ws_ptx_inst *i, const struct ws_reg *r)
{
	int64_t by = ws_steps_added(i, r);

	return by ? by : ws_steps_turn(s, i, r);
}

/* May a thread come from the instruction to itself without a barrier? */
static bool comes_again(const struct ws_steps *s, uint32_t i)
{
	uint8_t *mark = ws_alloc(s->f->ninsts + 1), *out = ws_alloc(s->f->ninsts + 1);
	bool again;

	mark[i] = 1;
	ws_find_after(s->f, mark, s->points, NULL, out);
	again = out[i];
	free(mark);
	free(out);
	return again;
}

static bool find_may(const struct ws_steps *s, const struct ws_reg *r)
{
	bool added = false, turned = false;

	for (uint32_t i = 0; i < s->f->ninsts; i++) {
		const struct ws_ptx_inst *inst = &s->f->insts[i];
		int64_t by;

		if (!ws_ptx_sets(inst, r))
			continue;
		by = goes_on(s, inst, r);
		if (inst->guard || ws_intervals_divide(s->v, inst->block) || (by && comes_again(s, i)))
			return false;
		*(ws_steps_added(inst, r) ? &added : &turned) |= by != 0;
	}
	return added != turned;
}

static struct table *table_of(struct ws_steps *s, const struct ws_reg *r)
{
	for (size_t k = 0; k < s->ntables; k++)
		if (s->tables[k].r == r)
			return &s->tables[k];
	*WS_PUSH(s->tables, s->ntables, s->tables_cap) = (struct table){ .r = r, .may = find_may(s, r) };
	return &s->tables[s->ntables - 1];
}

bool ws_steps_may(struct ws_steps *s, const struct ws_reg *r)
{
	return table_of(s, r)->may;
}

/* ---- how far it is, from a point on ---- */
static bool same_state(const struct state *a, const struct state *b)
{
	return a->kind == b->kind && a->sets == b->sets && a->last == b->last && a->added == b->added;
}

/* Returns whether *into is something else then. */
static bool join(struct state *into, const struct state *s)
{
	if (s->kind == UNREACHED || into->kind == ANY || same_state(into, s))
		return false;
	*into = into->kind == UNREACHED ? *s : (struct state){ .kind = ANY };
	return true;
}

struct following { const struct ws_steps *s; const struct ws_reg *r; const uint8_t *in; struct state *at, *begin; bool changed; };

static void execute(const struct following *f, const struct ws_ptx_inst *i, struct state *s)
{
	int64_t added;

	if (s->kind != KNOWN || !ws_ptx_sets(i, f->r))
		return;
	added = goes_on(f->s, i, f->r);
	s->added = added ? s->added + added : 0;
	s->last = added ? s->last : i->index;
	s->sets += !added;
}

/* From instruction i of a basic block on. */
static void follow_block(struct following *f, uint32_t i, struct state now)
{
	const struct ws_steps *s = f->s;
	const struct ws_ptx_block *b = &s->f->blocks[s->f->insts[i].block];

	for (; i <= b->last && f->in[i]; i++) {
		if (s->number[i])
			f->changed |= join(&f->at[s->number[i] - 1], &now);
		if (s->points[i] && !s->f->insts[i].guard)
			return;
		execute(f, &s->f->insts[i], &now);
	}
	for (uint32_t k = 0; i > b->last && k < b->nsucc; k++)
		f->changed |= f->in[s->f->blocks[b->succ[k]].first] && join(&f->begin[b->succ[k]], &now);
}

static void follow(const struct ws_steps *s, const struct ws_reg *r, uint32_t point, struct state *at)
{
	uint32_t first;
	struct following f = { .s = s, .r = r, .in = ws_intervals_region(s->v, point, &first), .at = at };

	if (!f.in || first >= s->f->ninsts)
		return;
	f.begin = ws_alloc((s->f->nblocks + 1) * sizeof *f.begin);
	follow_block(&f, first, (struct state){ .kind = KNOWN });
	for (f.changed = true; f.changed;) {
		f.changed = false;
		for (uint32_t b = 0; b < s->f->nblocks; b++)
			if (f.begin[b].kind != UNREACHED)
				follow_block(&f, s->f->blocks[b].first, f.begin[b]);
	}
	free(f.begin);
}

static const struct state *states(struct ws_steps *s, const struct ws_reg *r)
{
	struct table *t = table_of(s, r);

	if (!t->at) {
		t->at = ws_alloc((s->npoints * s->n + 1) * sizeof *t->at);
		for (uint32_t p = 0; p < s->npoints; p++)
			follow(s, r, p, t->at + p * s->n);
	}
	return t->at;
}

/* How much farther is r at access b than at a, wherever threads come to both in an interval? */
enum distance { NOWHERE, FAR, DIFFERENT };

static enum distance compare(struct ws_steps *s, const struct ws_reg *r, uint32_t a, uint32_t b, int64_t *by)
{
	const struct state *at = states(s, r);
	bool any = false;

	for (uint32_t p = 0; p < s->npoints; p++) {
		const struct state *x = &at[p * s->n + a], *y = &at[p * s->n + b];

		if (x->kind == UNREACHED || y->kind == UNREACHED)
			continue;
		if (x->kind == ANY || y->kind == ANY || x->sets != y->sets || x->last != y->last || (any && y->added - x->added != *by))
			return DIFFERENT;
		*by = y->added - x->added;
		any = true;
	}
	return any ? FAR : NOWHERE;
}

bool ws_steps_same(struct ws_steps *s, const struct ws_reg *r, uint32_t a, uint32_t b)
{
	int64_t by = 0;

	return compare(s, r, a, b, &by) != DIFFERENT && !by;
}

bool ws_steps_between(struct ws_steps *s, const struct ws_reg *r, uint32_t a, uint32_t b, int64_t *by)
{
	return compare(s, r, a, b, by) == FAR;
}

const struct ws_ptx_inst *const *ws_steps_only(const struct ws_steps *s)
{
	return s->only;
}

/* ---- whether it is still what was read ---- */
bool ws_steps_fresh(const struct ws_steps *s, const struct ws_reg *r, const struct ws_ptx_inst *read, const struct ws_ptx_inst *at)
{
	uint8_t *comes = find_ways(s->f, at, read), *set = ws_alloc(s->f->ninsts + 1), *stop = ws_alloc(s->f->ninsts + 1), *out = ws_alloc(s->f->ninsts + 1);
	bool fresh;

	stop[read->index] = 1;
	for (uint32_t i = 0; i < s->f->ninsts; i++)
		set[i] = ws_ptx_sets(&s->f->insts[i], r) && comes[i];
	ws_find_after(s->f, set, stop, NULL, out);
	fresh = read == at || !out[read->index];
	free(comes);
	free(set);
	free(stop);
	free(out);
	return fresh;
}

/* ---- begin and end ---- */
struct ws_steps *ws_steps_begin(const struct ws_intervals *v, const struct ws_ptx_func *f, const struct ws_rw_access *list, uint32_t n)
{
	struct ws_steps *s;

	if (!ws_intervals_in_turn(v))
		return NULL;
	s = ws_alloc(sizeof *s);
	*s = (struct ws_steps){ .v = v, .f = f, .list = list, .n = n };
	s->only = ws_only_sets(f);
	s->number = ws_alloc((f->ninsts + 1) * sizeof *s->number);
	s->points = ws_alloc(f->ninsts + 1);
	for (uint32_t k = 0; k < n; k++)
		s->number[list[k].inst->index] = k + 1;
	for (uint32_t first; ws_intervals_region(v, s->npoints, &first); s->npoints++)
		if (s->npoints)
			s->points[first - 1] = 1;
	return s;
}

void ws_steps_free(struct ws_steps *s)
{
	if (!s)
		return;
	for (size_t k = 0; k < s->ntables; k++)
		free(s->tables[k].at);
	free(s->tables);
	free(s->only);
	free(s->number);
	free(s->points);
	free(s);
}

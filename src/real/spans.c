/* spans.c - which memory launches come to; see spans.h. */
#include "real/spans.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"

enum { MOST_SPANS = 4096 };          /* then they become one, which is all that lies between */

/* The first that ends behind `at`. */
static size_t first_behind(const struct ws_real_spans *s, uint64_t at)
{
	size_t low = 0, high = s->n;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (s->at[mid].to <= at)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static struct ws_real_span_of *insert(struct ws_real_spans *s, size_t k, uint64_t from, uint64_t to)
{
	WS_PUSH(s->at, s->n, s->cap);
	memmove(&s->at[k + 1], &s->at[k], (s->n - 1 - k) * sizeof *s->at);
	s->at[k] = (struct ws_real_span_of){ .from = from, .to = to };
	return &s->at[k];
}

/* No span has bytes both before and behind `at`. */
static void cut(struct ws_real_spans *s, uint64_t at)
{
	size_t k = first_behind(s, at);
	struct ws_real_span_of *left;

	if (k == s->n || s->at[k].from >= at)
		return;
	left = insert(s, k, s->at[k].from, at);
	memcpy(left->last, left[1].last, sizeof left->last);
	left[1].from = at;
}

static bool goes_on(const struct ws_real_span_of *a, const struct ws_real_span_of *b)
{
	return a->to == b->from && !memcmp(a->last, b->last, sizeof a->last);
}

/* Those that say the same side by side become one; those that are over go. */
static void tidy(struct ws_real_spans *s, uint64_t over)
{
	size_t kept = 0;

	for (size_t k = 0; k < s->n; k++) {
		const struct ws_real_span_of *x = &s->at[k];
		bool gone = true;

		for (unsigned does = 0; does < WS_REAL_DOES; does++)
			gone &= x->last[does] <= over;
		if (gone)
			continue;
		if (kept && goes_on(&s->at[kept - 1], x))
			s->at[kept - 1].to = x->to;
		else
			s->at[kept++] = *x;
	}
	s->n = kept;
}

static void make_one(struct ws_real_spans *s)
{
	struct ws_real_span_of *one = s->at;

	one->to = s->at[s->n - 1].to;
	for (size_t k = 1; k < s->n; k++)
		for (unsigned does = 0; does < WS_REAL_DOES; does++)
			if (s->at[k].last[does] > one->last[does])
				one->last[does] = s->at[k].last[does];
	s->n = 1;
}

static void add(struct ws_real_spans *s, const struct ws_real_extent *e, uint64_t launch)
{
	uint64_t at = e->from;

	cut(s, e->from);
	cut(s, e->to);
	for (size_t k = first_behind(s, at); at < e->to; k++) {
		if (k == s->n || s->at[k].from > at)
			insert(s, k, at, k < s->n && s->at[k].from < e->to ? s->at[k].from : e->to);
		s->at[k].last[e->does] = launch;
		at = s->at[k].to;
	}
}

void ws_real_spans_add(struct ws_real_spans *s, const struct ws_real_touched *t, uint64_t launch, uint64_t over)
{
	if (!t || !t->known)
		s->anything = launch;
	for (unsigned k = 0; t && t->known && k < t->n; k++)
		if (t->list[k].from < t->list[k].to)
			add(s, &t->list[k], launch);
	tidy(s, over);
	if (s->n > MOST_SPANS)
		make_one(s);
}

static bool race(const struct ws_real_span_of *x, enum ws_real_does does, uint64_t over)
{
	for (unsigned k = 0; k < WS_REAL_DOES; k++)
		if (x->last[k] > over && (k == WS_REAL_WRITES || k != does || does == WS_REAL_WRITES))
			return true;
	return false;
}

static bool meets(const struct ws_real_spans *s, const struct ws_real_extent *e, uint64_t over)
{
	for (size_t k = first_behind(s, e->from); e->from < e->to && k < s->n && s->at[k].from < e->to; k++)
		if (race(&s->at[k], e->does, over))
			return true;
	return false;
}

bool ws_real_spans_meet(const struct ws_real_spans *s, const struct ws_real_touched *t, uint64_t over)
{
	if (s->anything > over || !t || !t->known)
		return true;
	for (unsigned k = 0; k < t->n; k++)
		if (meets(s, &t->list[k], over))
			return true;
	return false;
}

void ws_real_spans_free(struct ws_real_spans *s)
{
	free(s->at);
	*s = (struct ws_real_spans){ 0 };
}

bool ws_real_touched_again(const struct ws_real_touched *t)
{
	for (unsigned k = 0; k < t->n; k++) {
		const struct ws_real_extent *w = &t->list[k];

		if (w->does != WS_REAL_READS && w->does != WS_REAL_WRITES)
			return false;
		for (unsigned m = 0; m < t->n && w->does == WS_REAL_WRITES; m++)
			if (t->list[m].does == WS_REAL_READS && w->from < t->list[m].to && t->list[m].from < w->to)
				return false;
	}
	return t->known;
}

/* exact_clock.c - vector clocks as sorted lists, shared until one is changed (exact_priv.h). */
#include "detect/exact_priv.h"

#include <stdlib.h>
#include <string.h>

static struct ws_ex_clock *ref(struct ws_ex_clock *c)
{
	if (c)
		c->refs++;
	return c;
}

void ws_ex_unref(struct ws_ex_clock *c)
{
	if (c && !--c->refs)
		free(c);
}

static struct ws_ex_clock *new_clock(size_t n)
{
	struct ws_ex_clock *c = ws_alloc(sizeof *c + n * sizeof c->e[0]);

	c->refs = 1;
	return c;
}

/* Where unit is, or would be. */
static uint32_t place(const struct ws_ex_clock *c, uint32_t unit)
{
	uint32_t lo = 0, hi = c ? c->n : 0;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (c->e[mid].unit < unit)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

uint64_t ws_ex_time(const struct ws_ex_clock *c, uint32_t unit)
{
	uint32_t i = place(c, unit);

	return c && i < c->n && c->e[i].unit == unit ? c->e[i].time : 0;
}

bool ws_ex_any(const struct ws_ex_clock *c, uint32_t from, uint32_t to)
{
	uint32_t i = place(c, from);

	return c && i < c->n && c->e[i].unit < to;
}

static bool covers(const struct ws_ex_clock *a, const struct ws_ex_clock *b)
{
	uint32_t i = 0;

	for (uint32_t j = 0; j < b->n; j++) {
		while (i < a->n && a->e[i].unit < b->e[j].unit)
			i++;
		if (i == a->n || a->e[i].unit != b->e[j].unit || a->e[i].time < b->e[j].time)
			return false;
	}
	return true;
}

static struct ws_ex_clock *merge(const struct ws_ex_clock *a, const struct ws_ex_clock *b)
{
	struct ws_ex_clock *c = new_clock((size_t)a->n + b->n);
	uint32_t i = 0, j = 0;

	while (i < a->n || j < b->n) {
		bool from_a = j == b->n || (i < a->n && a->e[i].unit <= b->e[j].unit);
		struct ws_ex_stamp s = from_a ? a->e[i] : b->e[j];

		if (i < a->n && j < b->n && a->e[i].unit == b->e[j].unit)
			s.time = a->e[i].time > b->e[j].time ? a->e[i].time : b->e[j].time;
		i += i < a->n && a->e[i].unit == s.unit;
		j += j < b->n && b->e[j].unit == s.unit;
		c->e[c->n++] = s;
	}
	return c;
}

void ws_ex_join(struct ws_ex_clock **to, struct ws_ex_clock *from)
{
	struct ws_ex_clock *c;

	if (!from || *to == from || (*to && covers(*to, from)))
		return;
	c = !*to || covers(from, *to) ? ref(from) : merge(*to, from);
	ws_ex_unref(*to);
	*to = c;
}

void ws_ex_raise(struct ws_ex_clock **to, uint32_t unit, uint64_t time)
{
	struct ws_ex_clock *one;

	if (!time || ws_ex_time(*to, unit) >= time)
		return;
	if (*to && (*to)->refs == 1 && ws_ex_time(*to, unit)) {
		(*to)->e[place(*to, unit)].time = time;
		return;
	}
	one = new_clock(1);
	one->n = 1;
	one->e[0] = (struct ws_ex_stamp){unit, time};
	ws_ex_join(to, one);
	ws_ex_unref(one);
}

struct ws_ex_facts ws_ex_copy(const struct ws_ex_facts *f)
{
	return (struct ws_ex_facts){ref(f->k), ref(f->px), ref(f->sc), ref(f->seen), ref(f->dep)};
}

void ws_ex_learn(struct ws_ex_facts *to, const struct ws_ex_facts *from)
{
	ws_ex_join(&to->k, from->k);
	ws_ex_join(&to->px, from->px);
	ws_ex_join(&to->sc, from->sc);
	ws_ex_join(&to->seen, from->seen);
	ws_ex_join(&to->dep, from->dep);
}

void ws_ex_drop(struct ws_ex_facts *f)
{
	ws_ex_unref(f->k);
	ws_ex_unref(f->px);
	ws_ex_unref(f->sc);
	ws_ex_unref(f->seen);
	ws_ex_unref(f->dep);
	memset(f, 0, sizeof *f);
}

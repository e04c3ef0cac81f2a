/* history_check.c - judges a history: the graph of dependencies, its cycles, and what is in memory at the end; see history.h. */
#include "detect/history_priv.h"

#include <stdlib.h>
#include <string.h>

struct edge {
	uint32_t from, to;
	uint8_t kind;                    /* enum ws_history_edge */
	uint32_t read, store;            /* READ_BEFORE: read, store; READ_FROM: read; OVERWRITES: store, and read is the one after it */
	uint8_t byte;
};

struct check {
	struct ws_history *h;
	bool complete;
	void (*found)(void *user, const struct ws_history_finding *f);
	void *user;
	struct edge *edges;              /* by `from`, once sorted */
	size_t nedges, edges_cap;
	size_t *first;                   /* of an owner's edges; one more than there are owners */
	uint32_t *part;                  /* number of the strongly connected part, from 1 on */
	uint32_t *back;                  /* search: edge by which an owner was reached, + 1 */
	uint32_t *queue;
};

static bool has_committed(const struct ws_history *h, uint32_t owner) { return h->owners[owner].node.committed; }

/* ---- the order of stores ---- */
static void link_store(struct ws_history *h, uint32_t number)
{
	struct ws_history_store *s = &h->stores[number];
	struct ws_history_unit *u = &h->units[s->unit];

	for (unsigned b = 0; has_committed(h, s->owner) && b < WS_HISTORY_UNIT; b++)
		if (s->final >> b & 1) {
			s->other[b] = u->first[b];
			u->first[b] = number;
			if (!u->last[b])
				u->last[b] = number;
		}
}

static void link_stores(struct ws_history *h)
{
	for (size_t k = 0; k < h->nunits; k++) {
		memset(h->units[k].first, 0, sizeof h->units[k].first);
		memset(h->units[k].last, 0, sizeof h->units[k].last);
	}
	for (size_t k = h->nstores; --k > 0;)
		link_store(h, (uint32_t)k);
}

/* ---- findings ---- */
/* So many bytes from b on that are alike. */
static uint32_t alike(uint8_t mask, unsigned b)
{
	uint32_t n = 0;

	while (b + n < WS_HISTORY_UNIT && mask >> (b + n) & 1)
		n++;
	return n;
}

static struct ws_history_step step_of(const struct check *c, const struct edge *e)
{
	const struct ws_history *h = c->h;
	const struct ws_history_store *s = &h->stores[e->store];
	struct ws_history_step step = { .kind = (enum ws_history_edge)e->kind, .from = &h->owners[e->from].node, .to = &h->owners[e->to].node };
	uint8_t mask = s->mask;
	uint32_t unit = s->unit;

	if (e->kind == WS_HISTORY_OVERWRITES) {
		step.first = s->site;
		step.second = h->stores[e->read].site;
		mask &= h->stores[e->read].mask;
	} else {
		const struct ws_history_read *r = &h->reads[e->read];

		step.first = e->kind == WS_HISTORY_READ_FROM ? s->site : r->site;
		step.second = e->kind == WS_HISTORY_READ_FROM ? r->site : s->site;
		mask &= r->mask;
	}
	step.at = h->units[unit].at + e->byte;
	step.bytes = alike(mask, e->byte);
	return step;
}

static void tell_one(const struct check *c, enum ws_history_kind kind, const struct edge *e)
{
	struct ws_history_step step = step_of(c, e);

	c->found(c->user, &(struct ws_history_finding){ kind, &step, 1 });
}

/* ---- edges ---- */
static void add_edge(struct check *c, const struct edge *e)
{
	const struct edge *last = c->nedges ? &c->edges[c->nedges - 1] : NULL;

	if (e->from == e->to || (last && last->from == e->from && last->to == e->to && last->kind == e->kind))
		return;
	*WS_PUSH(c->edges, c->nedges, c->edges_cap) = *e;
}

/* A value of who has not committed, or that was not the last one. Attempts under way when the record ended may have committed since. */
static void judge_source(struct check *c, const struct edge *e, uint8_t bit)
{
	const struct ws_history_store *s = &c->h->stores[e->store];

	if (c->h->owners[s->owner].node.undone || (!has_committed(c->h, s->owner) && c->complete))
		tell_one(c, WS_HISTORY_UNDONE, e);
	else if (has_committed(c->h, s->owner) && !(s->final & bit))
		tell_one(c, WS_HISTORY_HALF, e);
	else if (has_committed(c->h, s->owner))
		add_edge(c, e);
}

static void add_read(struct check *c, uint32_t number)
{
	const struct ws_history_read *r = &c->h->reads[number];
	const struct ws_history_store *met = &c->h->stores[r->store];
	uint32_t before = UINT32_MAX;
	uint8_t judged[2] = { 0, 0 };    /* for bytes that are not final, and that are */

	for (unsigned b = 0; b < WS_HISTORY_UNIT; b++) {
		uint8_t bit = (uint8_t)(1u << b);
		uint32_t next;

		if (!(r->mask & bit))
			continue;
		if (r->store && met->owner != r->owner && !judged[met->final >> b & 1]++)
			judge_source(c, &(struct edge){ met->owner, r->owner, WS_HISTORY_READ_FROM, number, r->store, (uint8_t)b }, bit);
		if (r->store && (!has_committed(c->h, met->owner) || !(met->final & bit)))
			continue;
		next = r->store ? met->other[b] : c->h->units[r->unit].first[b];
		if (next && next != before)
			add_edge(c, &(struct edge){ r->owner, c->h->stores[next].owner, WS_HISTORY_READ_BEFORE, number, next, (uint8_t)b });
		before = next;
	}
}

static void add_store(struct check *c, uint32_t number)
{
	const struct ws_history_store *s = &c->h->stores[number];
	uint32_t before = 0;

	for (unsigned b = 0; has_committed(c->h, s->owner) && b < WS_HISTORY_UNIT; b++) {
		if (!(s->final >> b & 1) || !s->other[b] || s->other[b] == before)
			continue;
		before = s->other[b];
		add_edge(c, &(struct edge){ s->owner, c->h->stores[before].owner, WS_HISTORY_OVERWRITES, before, number, (uint8_t)b });
	}
}

static void sort_edges(struct check *c)
{
	size_t n = c->h->nowners;
	struct edge *sorted = ws_alloc((c->nedges + 1) * sizeof *sorted);

	c->first = ws_alloc((n + 2) * sizeof *c->first);
	for (size_t k = 0; k < c->nedges; k++)
		c->first[c->edges[k].from + 2]++;
	for (size_t k = 2; k < n + 2; k++)
		c->first[k] += c->first[k - 1];
	for (size_t k = 0; k < c->nedges; k++)
		sorted[c->first[c->edges[k].from + 1]++] = c->edges[k];
	free(c->edges);
	c->edges = sorted;
}

/* ---- strongly connected parts (Tarjan 1972, without recursion) ---- */
struct tarjan { uint32_t *index, *low, *stack, *path; size_t *next; uint32_t count, parts; size_t n, depth; };

static void enter(struct tarjan *t, const struct check *c, uint32_t v)
{
	t->index[v] = t->low[v] = ++t->count;
	t->next[v] = c->first[v];
	t->stack[t->n++] = v;
	t->path[t->depth++] = v;
}

static void leave(struct tarjan *t, struct check *c, uint32_t v)
{
	uint32_t w;

	t->depth--;
	if (t->depth && t->low[v] < t->low[t->path[t->depth - 1]])
		t->low[t->path[t->depth - 1]] = t->low[v];
	if (t->low[v] != t->index[v])
		return;
	t->parts++;
	do
		c->part[w = t->stack[--t->n]] = t->parts;
	while (w != v);
}

static void visit(struct tarjan *t, struct check *c, uint32_t start)
{
	enter(t, c, start);
	while (t->depth) {
		uint32_t v = t->path[t->depth - 1], w;

		if (t->next[v] == c->first[v + 1]) {
			leave(t, c, v);
			continue;
		}
		w = c->edges[t->next[v]++].to;
		if (!t->index[w])
			enter(t, c, w);
		else if (!c->part[w] && t->index[w] < t->low[v])
			t->low[v] = t->index[w];
	}
}

static void find_parts(struct check *c)
{
	size_t n = c->h->nowners + 1;
	struct tarjan t = { .index = ws_alloc(n * 4), .low = ws_alloc(n * 4), .stack = ws_alloc(n * 4), .path = ws_alloc(n * 4),
	                    .next = ws_alloc(n * sizeof *t.next) };

	c->part = ws_alloc(n * sizeof *c->part);
	for (uint32_t v = 0; v < c->h->nowners; v++)
		if (!t.index[v])
			visit(&t, c, v);
	free(t.index);
	free(t.low);
	free(t.stack);
	free(t.path);
	free(t.next);
}

/* ---- cycles ---- */
static void tell_cycle(const struct check *c, uint32_t start, uint32_t last_edge)
{
	struct ws_history_step *steps = NULL;
	size_t n = 0, cap = 0;

	for (uint32_t e = last_edge + 1;; e = c->back[c->edges[e - 1].from]) {
		*WS_PUSH(steps, n, cap) = step_of(c, &c->edges[e - 1]);
		if (c->edges[e - 1].from == start)
			break;
	}
	for (size_t k = 0; k < n / 2; k++) {
		struct ws_history_step other = steps[k];

		steps[k] = steps[n - 1 - k];
		steps[n - 1 - k] = other;
	}
	c->found(c->user, &(struct ws_history_finding){ WS_HISTORY_CYCLE, steps, n });
	free(steps);
}

/* A shortest cycle through an owner, inside its part: breadth first. */
static void find_cycle(struct check *c, uint32_t start)
{
	size_t head = 0, tail = 0;
	bool done = false;

	c->queue[tail++] = start;
	while (head < tail && !done) {
		uint32_t v = c->queue[head++];

		for (size_t e = c->first[v]; e < c->first[v + 1] && !done; e++) {
			uint32_t w = c->edges[e].to;

			if (w == start) {
				tell_cycle(c, start, (uint32_t)e);
				done = true;
			} else if (c->part[w] == c->part[start] && !c->back[w]) {
				c->back[w] = (uint32_t)e + 1;
				c->queue[tail++] = w;
			}
		}
	}
	for (size_t k = 0; k < tail; k++)
		c->back[c->queue[k]] = 0;
}

/* Of each part with a cycle some owners are asked; all cycles would be too many. */
static void find_cycles(struct check *c)
{
	enum { ASKED = 32, ASKED_IN_ALL = 1024 };
	size_t n = c->h->nowners + 1, all = 0;
	uint32_t *size = ws_alloc(n * sizeof *size), *asked = ws_alloc(n * sizeof *asked);

	c->back = ws_alloc(n * sizeof *c->back);
	c->queue = ws_alloc(n * sizeof *c->queue);
	for (uint32_t v = 0; v < c->h->nowners; v++)
		size[c->part[v] - 1]++;
	for (uint32_t v = 0; v < c->h->nowners && all < ASKED_IN_ALL; v++)
		if (size[c->part[v] - 1] > 1 && asked[c->part[v] - 1]++ < ASKED) {
			find_cycle(c, v);
			all++;
		}
	free(size);
	free(asked);
	free(c->back);
	free(c->queue);
}

/* ---- the end ---- */
/* What is in memory is what was written last by who has committed. */
static void judge_memory(struct check *c, const struct ws_history_unit *u)
{
	for (unsigned b = 0; b < WS_HISTORY_UNIT; b++) {
		const struct ws_history_store *s = &c->h->stores[u->last[b]], *now = &c->h->stores[u->now[b]];
		struct ws_history_step step = { .kind = WS_HISTORY_OVERWRITES, .at = u->at + b, .bytes = 1, .first = s->site };

		if (u->now[b] == u->last[b] || (b && u->now[b] == u->now[b - 1] && u->last[b] == u->last[b - 1]))
			continue;
		if (!u->last[b])             /* nobody was to have written here */
			step.first = now->site;
		step.from = &c->h->owners[u->last[b] ? s->owner : now->owner].node;
		step.bytes = alike(u->last[b] ? s->mask : now->mask, b);
		c->found(c->user, &(struct ws_history_finding){ u->last[b] ? WS_HISTORY_LOST : WS_HISTORY_UNDONE, &step, 1 });
	}
}

static void sum_up(const struct ws_history *h, struct ws_history_sum *sum)
{
	*sum = (struct ws_history_sum){ .full = h->full };
	for (size_t k = 0; k < h->nowners; k++) {
		const struct ws_history_node *n = &h->owners[k].node;

		sum->plain += !n->begin;
		sum->committed += n->begin && n->committed;
		sum->undone += n->begin && n->undone;
	}
}

static void judge_odd(const struct check *c, const struct ws_history_odd *o)
{
	const struct ws_history_node *n = &c->h->owners[o->owner].node;
	struct ws_history_step step = { .from = n, .first = o->wrote, .second = o->read, .at = o->at, .bytes = 1 };

	if (n->committed || (n->undone && c->h->opacity))
		c->found(c->user, &(struct ws_history_finding){ WS_HISTORY_NOT_OWN, &step, 1 });
}

void ws_history_check(struct ws_history *h, bool complete, void (*found)(void *user, const struct ws_history_finding *f), void *user,
                      struct ws_history_sum *sum)
{
	struct check c = { .h = h, .complete = complete && !h->full, .found = found, .user = user };

	sum_up(h, sum);
	for (size_t k = 0; k < h->nodd; k++)
		judge_odd(&c, &h->odd[k]);
	link_stores(h);
	for (size_t k = 1; k < h->nstores; k++)
		add_store(&c, (uint32_t)k);
	for (size_t k = 0; k < h->nreads; k++)
		add_read(&c, (uint32_t)k);
	sort_edges(&c);
	find_parts(&c);
	find_cycles(&c);
	for (size_t k = 0; k < h->nunits && c.complete; k++)
		judge_memory(&c, &h->units[k]);
	free(c.edges);
	free(c.first);
	free(c.part);
}

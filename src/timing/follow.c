/* follow.c - for a unit that watches the accesses of the program (unit.h): what goes along with transactions, what the unit
 * reads and writes in the partitions for each of them, and its lines in first-level caches. All of it takes room and time
 * of network, caches and DRAM as other traffic does. */
#include "timing/timing_priv.h"

/* What a transaction has the unit read in its partition. */
struct ws_follow {
	void *record;
	struct ws_partition *part;
	struct ws_packet *of;            /* whose answer waits; NULL: nobody's does */
	bool held;                       /* it would be on its way */
	uint32_t left, n;
	struct ws_unit_piece piece[WS_UNIT_PIECES];
	struct ws_follow *next;           /* free */
};

enum { LINES = 47, LINES_OF_CORE = 32 }; /* bits: where the unit's lines are in the flat memory, and how many bytes of each core */

static const struct ws_unit_ops *unit_of(const struct ws_timing *t)
{
	return t->unit ? t->options.unit : NULL;
}

/* ---- in the core ---- */
static const struct ws_tinst no_instruction = {.load = true};

static struct ws_memop *lines(struct ws_timing *t, const struct ws_memop *a, const struct ws_unit_access *u)
{
	struct ws_memop *b = ws_memop_new(t);
	uint64_t base = (1ull << LINES) + ((uint64_t)a->core->index << LINES_OF_CORE);

	b->core = a->core;
	b->warp = a->warp;
	b->ti = &no_instruction;
	b->kind = WS_STEP_LOAD;
	b->space = WS_SPACE_GLOBAL;
	b->which = t->m.l1.bytes ? WS_IN_L1 : WS_IN_NONE;
	b->token = b->next = b->passes = 0;
	b->pending = 1;
	b->done = 0;
	b->of_unit = false;
	b->of_watch = true;
	b->watched = b->beside = b->link = NULL;
	b->nseg = u->nlines;
	for (uint32_t i = 0; i < u->nlines; i++)
		b->seg[i] = (struct ws_segment){base + u->line[i], (2u << (t->m.segment / WS_SECTOR - 1)) - 1, 0};
	t->c->unit_lines += u->nlines;
	a->warp->block->under_way++;
	return b;
}

void ws_follow_access(struct ws_timing *t, struct ws_memop *a, const struct ws_stepped *s)
{
	const struct ws_unit_ops *u = unit_of(t);
	struct ws_unit_access access;

	if (!u || !u->access || (s->space != WS_SPACE_SHARED && s->space != WS_SPACE_GLOBAL))
		return;
	access.place = a->warp;
	access.warp = a->warp->warp;
	access.s = s;
	access.core = a->core->index;
	access.transactions = s->space == WS_SPACE_GLOBAL ? a->nseg : 0;
	access.nlines = 0;
	a->watched = u->access(t->unit, &access);
	if (access.nlines)
		a->beside = lines(t, a, &access);
}

void ws_follow_lines_done(struct ws_timing *t, struct ws_memop *a)
{
	struct ws_tblock *b = a->warp->block;
	struct ws_victim v = {0};

	for (uint32_t i = 0; i < a->nseg && a->which == WS_IN_L1; i++) {
		ws_cache_fill(&a->core->cache[WS_IN_L1], a->seg[i].addr, a->seg[i].sectors, true, &v);
		if (v.dirty)
			ws_follow_write_back(t, a->core, &v);
	}
	if (!--b->under_way && a->warp->ended)
		ws_block_may_be_over(t, b);
	ws_memop_free(t, a);
}

void ws_follow_write_back(struct ws_timing *t, struct ws_core *c, const struct ws_victim *v)
{
	struct ws_packet *k = ws_packet_new(t);

	*k = (struct ws_packet){.core = c, .kind = WS_PACKET_KEEP, .addr = v->addr, .sectors = v->dirty};
	t->watched++;
	ws_network_to_memory(t, k);
}

void ws_unit_fill_lines(void *machine, uint32_t core, uint64_t addr, uint32_t n)
{
	struct ws_timing *t = machine;
	uint64_t at = (1ull << LINES) + ((uint64_t)core << LINES_OF_CORE) + addr;
	struct ws_victim v = {0};

	t->c->unit_lines += n;
	for (uint32_t i = 0; i < n; i++, at += t->m.segment) {
		if (t->m.l1.bytes)
			ws_cache_fill(&t->cores[core].cache[WS_IN_L1], at, (2u << (t->m.segment / WS_SECTOR - 1)) - 1, true, &v);
		else
			v = (struct ws_victim){at, (2u << (t->m.segment / WS_SECTOR - 1)) - 1};
		if (v.dirty)
			ws_follow_write_back(t, &t->cores[core], &v);
	}
}

bool ws_follow_may_leave(struct ws_timing *t, const struct ws_memop *a, const struct ws_segment *s, uint64_t *when)
{
	const struct ws_unit_ops *u = unit_of(t);
	uint64_t at;

	if (!u || !u->translate || a->space != WS_SPACE_GLOBAL || a->of_watch)
		return true;
	at = u->translate(t->unit, a->core->index, s->addr);
	if (at <= t->now)
		return true;
	*when = at;
	return false;
}

void ws_follow_depart(struct ws_timing *t, struct ws_memop *a, const struct ws_segment *s, enum ws_departure how,
                     struct ws_packet *k)
{
	struct ws_unit_transaction x = {a->watched, s->addr, ws_piece(&t->m, a->which), s->lanes, how, 0, false};
	void *record;

	if (!a->watched)
		return;
	record = t->options.unit->depart(t->unit, &x);
	if (!record)
		return;
	t->watched++;
	if (k) {
		k->record = record;
		k->extra = x.bytes;
		k->wait = x.wait;
		return;
	}
	k = ws_packet_new(t);
	*k = (struct ws_packet){.core = a->core, .kind = WS_PACKET_NOTE, .addr = s->addr, .record = record, .extra = x.bytes};
	ws_network_to_memory(t, k);
}

uint32_t ws_follow_delay(const struct ws_timing *t, const struct ws_twarp *w)
{
	const struct ws_unit_ops *u = unit_of(t);

	return u && u->delay ? u->delay(t->unit, ws_step_obs(w->warp)->block) : 0;
}

/* ---- in the partition ---- */
static void check(struct ws_timing *t, struct ws_follow *w)
{
	bool changed = t->options.unit->check(t->unit, w->record, w->part->index);

	for (uint32_t i = 0; i < w->n && changed; i++) {
		struct ws_packet *k = ws_packet_new(t);

		*k = (struct ws_packet){.part = w->part, .kind = WS_PACKET_KEEP, .local = w->piece[i].addr,
		                        .sectors = w->piece[i].sectors};
		ws_part_append(w->part, k);
	}
	if (w->of)
		w->of->watch = NULL;
	if (w->held)
		ws_wheel_add(&t->wheel, t->now + t->m.l2_latency, ws_network_to_core, w->of);
	t->watched--;
	w->next = t->free_watches;
	t->free_watches = w;
}

void ws_follow_served(struct ws_timing *t, struct ws_packet *k)
{
	struct ws_follow *w = t->free_watches;

	if (w)
		t->free_watches = w->next;
	else
		w = ws_arena_alloc(t->objects, sizeof *w);
	w->record = k->record;
	w->part = k->part;
	k->record = NULL;
	w->held = false;
	w->of = k->wait ? k : NULL;
	k->watch = k->wait ? w : NULL;
	w->left = w->n = t->options.unit->look(t->unit, w->record, k->local, w->piece);
	for (uint32_t i = 0; i < w->n; i++) {
		struct ws_packet *look = ws_packet_new(t);

		*look = (struct ws_packet){.part = w->part, .kind = WS_PACKET_LOOK, .local = w->piece[i].addr,
		                           .sectors = w->piece[i].sectors, .watch = w};
		ws_part_append(w->part, look);
	}
	if (!w->n)
		check(t, w);
}

bool ws_follow_holds(struct ws_packet *k)
{
	if (!k->watch)
		return false;
	k->watch->held = true;
	return true;
}

void ws_follow_looked(struct ws_timing *t, struct ws_packet *k)
{
	struct ws_follow *w = k->watch;

	ws_packet_free(t, k);
	if (!--w->left)
		check(t, w);
}

void ws_follow_told(struct ws_timing *t, struct ws_packet *k)
{
	t->watched--;
	t->options.unit->told(t->unit, k->part->index, k->what);
}

/* ---- what units may do ---- */
uint64_t ws_unit_now(const void *machine)
{
	const struct ws_timing *t = machine;

	return t->now;
}

void ws_unit_tell(void *machine, uint32_t core, uint64_t what)
{
	struct ws_timing *t = machine;

	for (uint32_t i = 0; i < t->m.partitions; i++) {
		struct ws_packet *k = ws_packet_new(t);

		*k = (struct ws_packet){.core = &t->cores[core], .part = &t->parts[i], .kind = WS_PACKET_TELL, .what = what};
		t->watched++;
		ws_network_to_part(t, k);
	}
}

/* stage.c - the memory stage of a core: memory instructions in order, one transaction a cycle. Shared memory with its banks,
 * the constant cache, the first-level cache (written through, no line for a write, not kept coherent), and what goes past it to
 * the network. Loads have read their values when they were issued; what is simulated here is when the result counts. */
#include "timing/timing_priv.h"

#include <string.h>

#define EACH_LANE(l, mask) \
	for (uint32_t m_ = (mask), l; m_ && (l = (uint32_t)__builtin_ctz(m_), true); m_ &= m_ - 1)

/* ---- addresses ---- */
static void add_piece(uint32_t segment, struct ws_memop *a, uint32_t from, uint64_t addr, uint32_t bytes,
                      uint32_t lane)
{
	uint64_t start = addr & ~(uint64_t)(segment - 1);
	uint32_t first = (uint32_t)(addr - start) / WS_SECTOR, last = (uint32_t)(addr - start + bytes - 1) / WS_SECTOR;
	uint32_t sectors = (2u << last) - (1u << first), i = from;

	while (i < a->nseg && a->seg[i].addr != start)
		i++;
	if (i == a->nseg)
		a->seg[a->nseg++] = (struct ws_segment){.addr = start};
	a->seg[i].sectors |= sectors;
	a->seg[i].lanes |= 1u << lane;
}

void ws_coalesce(const struct ws_machine *m, uint32_t segment, const uint64_t *addr, uint32_t mask, uint32_t bytes,
                 struct ws_memop *a)
{
	uint32_t group = m->memory_lanes < 32 ? (1u << m->memory_lanes) - 1 : UINT32_MAX, from;

	a->nseg = 0;
	for (uint32_t l = 0; l < WS_WARP; l += m->memory_lanes) {
		from = a->nseg;
		EACH_LANE(k, mask & group << l)
			add_piece(segment, a, from, addr[k], bytes, k);
	}
}

/* Local memory lies interleaved by words, so that lanes at one offset are neighbours. */
static void coalesce_local(const struct ws_timing *t, const struct ws_twarp *w, const struct ws_stepped *s,
                           struct ws_memop *a)
{
	uint64_t base = (1ull << 46) + (uint64_t)(w->block->core->index * WS_SCHED_WARPS * t->m.schedulers +
	                                          (uint32_t)(w->sched - w->block->core->sched) * WS_SCHED_WARPS + w->slot) *
	                t->launch.memory * WS_WARP;

	a->nseg = 0;
	EACH_LANE(l, s->mask)
		for (uint32_t at = 0; at < s->bytes; at += 4)
			add_piece(t->m.segment, a, 0, base + ((s->addr[l] + at) / 4 * WS_WARP + l) * 4 + s->addr[l] % 4,
			          s->bytes < 4 ? s->bytes : 4, l);
}

/* ---- shared memory ---- */
struct bank { uint64_t word[WS_WARP]; uint32_t n; };

/* A word of a bank: counted once, however many lanes want it, or (same) once a lane. */
static void visit(struct bank *b, uint64_t word, bool same)
{
	for (uint32_t i = 0; i < b->n && !same; i++)
		if (b->word[i] == word)
			return;
	if (b->n < WS_WARP)
		b->word[b->n++] = word;
}

static uint32_t group_passes(const struct ws_machine *m, const uint64_t *addr, uint32_t mask, uint32_t bytes, bool same,
                             uint32_t *least)
{
	struct bank banks[64];
	uint32_t most = 0, words = bytes < 4 ? 1 : bytes / 4, lanes = (uint32_t)__builtin_popcount(mask);

	for (uint32_t i = 0; i < m->shared_banks; i++)
		banks[i].n = 0;
	EACH_LANE(l, mask)
		for (uint32_t k = 0; k < words; k++)
			visit(&banks[(addr[l] / 4 + k) % m->shared_banks], addr[l] / 4 + k, same);
	for (uint32_t i = 0; i < m->shared_banks; i++)
		most = banks[i].n > most ? banks[i].n : most;
	*least = (lanes * words + m->shared_banks - 1) / m->shared_banks;
	return most;
}

uint32_t ws_bank_passes(const struct ws_machine *m, const uint64_t *addr, uint32_t mask, uint32_t bytes, bool same,
                        uint32_t *least)
{
	uint32_t group = m->shared_lanes < 32 ? (1u << m->shared_lanes) - 1 : UINT32_MAX, passes = 0, l1;

	*least = 0;
	for (uint32_t l = 0; l < WS_WARP; l += m->shared_lanes) {
		uint32_t n = mask & group << l ? group_passes(m, addr, mask & group << l, bytes, same, &l1) : 0;

		passes += n;
		if (n)
			*least += l1 < n ? l1 : n;       /* fewer than without conflicts: words that lanes share */
	}
	return passes;
}

static void start_shared(struct ws_timing *t, const struct ws_stepped *s, struct ws_memop *a)
{
	uint32_t least;

	a->passes = ws_bank_passes(&t->m, s->addr, s->mask, s->bytes, s->kind == WS_STEP_ATOMIC, &least);
	if (s->kind == WS_STEP_ATOMIC)
		a->passes *= t->m.shared_atomics;
	t->c->shared_accesses++;
	t->c->bank_conflicts += a->passes > least ? a->passes - least : 0;
}

/* ---- a new instruction ---- */
uint32_t ws_piece(const struct ws_machine *m, uint8_t which)
{
	return which == WS_IN_CONSTANT ? m->constant.line : which == WS_IN_TEXTURE ? m->texture.line : m->segment;
}

static uint8_t cache_for(const struct ws_machine *m, const struct ws_stepped *s, bool global)
{
	if (s->kind == WS_STEP_LOAD && s->nc && m->texture.bytes)
		return WS_IN_TEXTURE;
	if (!m->l1.bytes || (s->kind != WS_STEP_LOAD && s->kind != WS_STEP_STORE))
		return WS_IN_NONE;
	return global && (!m->l1_global || (s->sem > WS_SEM_WEAK && s->scope != WS_SCOPE_CTA)) ? WS_IN_NONE : WS_IN_L1;
}

static void start_global(struct ws_timing *t, struct ws_twarp *w, const struct ws_stepped *s, struct ws_memop *a)
{
	bool global = s->space == WS_SPACE_GLOBAL;

	a->which = cache_for(&t->m, s, global);
	if (global)
		ws_coalesce(&t->m, ws_piece(&t->m, a->which), s->addr, s->mask, s->bytes, a);
	else
		coalesce_local(t, w, s, a);
	t->c->transactions += a->nseg;
	*(a->kind == WS_STEP_LOAD ? &t->c->loads : a->kind == WS_STEP_STORE ? &t->c->stores : &t->c->atomics) += 1;
	if (a->kind == WS_STEP_ATOMIC)
		memcpy(a->addr, s->addr, sizeof a->addr);
	if (!s->deferred)
		return;
	a->atomic = s->atomic;
	a->link = w->atomics;
	w->atomics = a;
	w->natomics++;
	if (a->ti->unread) {
		w->nreds++;
		w->block->nreds++;
	}
}

struct ws_memop *ws_stage_push(struct ws_timing *t, struct ws_twarp *w, const struct ws_stepped *s)
{
	struct ws_core *c = w->block->core;
	struct ws_memop *a = ws_memop_new(t);

	a->core = c;
	a->warp = w;
	a->ti = w->ti;
	a->kind = s->kind == WS_STEP_INTRINSIC ? WS_STEP_ATOMIC : s->kind;
	a->space = s->space;
	a->nseg = a->next = a->passes = 0;
	a->pending = 1;
	a->done = a->from = 0;
	a->link = NULL;
	a->of_unit = a->of_watch = false;
	a->watched = a->beside = NULL;
	a->token = 0;
	memset(&a->atomic, 0, sizeof a->atomic);
	switch (s->space) {
	case WS_SPACE_SHARED:
		start_shared(t, s, a);
		break;
	case WS_SPACE_CONST: case WS_SPACE_PARAM:
		a->which = WS_IN_CONSTANT;
		ws_coalesce(&t->m, ws_piece(&t->m, a->which), s->addr, s->mask, s->bytes, a);
		break;
	default:
		start_global(t, w, s, a);
	}
	c->queue[(c->head + c->queued++) % t->m.queue] = a;
	if (c->queued == 1)
		c->stage = ws_later(c->stage == WS_NEVER ? 0 : c->stage, t->now + 1);
	w->block->under_way++;
	if (a->kind == WS_STEP_LOAD || a->ti->ndef)
		w->loads++;
	if (a->kind != WS_STEP_LOAD)
		w->writes++;
	if (s->kind != WS_STEP_INTRINSIC)
		ws_follow_access(t, a, s);
	return a;
}

static bool meets(const struct ws_memop *atomics, const struct ws_memop *probe)
{
	for (const struct ws_memop *a = atomics; a; a = a->link)
		for (uint32_t i = 0; i < a->nseg; i++)
			for (uint32_t k = 0; k < probe->nseg; k++)
				if (a->seg[i].addr == probe->seg[k].addr && a->seg[i].sectors & probe->seg[k].sectors)
					return true;
	return false;
}

bool ws_stage_conflicts(struct ws_timing *t, struct ws_twarp *w)
{
	struct ws_stepped s;
	struct ws_memop probe;

	ws_step_look(t->x, w->warp, &s);
	if (!s.mask || s.kind == WS_STEP_PLAIN || s.space != WS_SPACE_GLOBAL)    /* PLAIN: red.async, say, of which nothing else is told */
		return false;
	ws_coalesce(&t->m, t->m.segment, s.addr, s.mask, s.bytes, &probe);
	if (!w->block->nreds)
		return meets(w->atomics, &probe);
	for (uint32_t i = 0; i < w->block->nwarps; i++)          /* they may have been before a barrier */
		if (meets(w->block->warps[i]->atomics, &probe))
			return true;
	return false;
}

/* ---- the end of an instruction ---- */
static void finish(struct ws_timing *t, void *arg)
{
	struct ws_memop *a = arg;
	struct ws_twarp *w = a->warp;

	if (a->of_watch) {
		ws_follow_lines_done(t, a);
		return;
	}
	if (a->token)
		ws_ahead_loaded(w, a->ti, a->token, t->now);
	else
		for (uint32_t i = 0; i < a->ti->ndef; i++)
			w->ready[a->ti->regs[a->ti->nuse + i]] = t->now;
	if (a->kind == WS_STEP_LOAD || a->ti->ndef)
		w->loads--;
	if (a->kind != WS_STEP_LOAD)
		w->writes--;
	w->block->under_way--;
	if (a->of_unit)
		ws_unit_finish(t, a);
	if (w->ended && !w->block->under_way)
		ws_block_may_be_over(t, w->block);
	if (!w->ended && !w->waits)
		ws_warp_refresh(t, w);
	ws_memop_free(t, a);
}

/* One transaction less; the last one ends the instruction, not before `at`. */
static void one_done(struct ws_timing *t, struct ws_memop *a, uint64_t at)
{
	a->done = ws_later(a->done, at);
	if (--a->pending)
		return;
	if (a->done <= t->now)
		finish(t, a);
	else
		ws_wheel_add(&t->wheel, a->done, finish, a);
}

void ws_memop_atomic_done(struct ws_timing *t, struct ws_memop *a, uint32_t lanes)
{
	struct ws_twarp *w = a->warp;
	struct ws_memop **p = &w->atomics;

	a->passes += (uint32_t)__builtin_popcount(lanes);        /* lanes that are done */
	for (uint32_t i = a->nseg, all = 0; i-- > 0;) {
		all += (uint32_t)__builtin_popcount(a->seg[i].lanes);
		if (!i && all != a->passes)
			return;
	}
	ws_step_atomic_end(t->x, &a->atomic);
	while (*p != a)
		p = &(*p)->link;
	*p = a->link;
	w->natomics--;
	if (a->ti->unread) {
		w->nreds--;
		w->block->nreds--;
	}
	for (uint32_t i = 0; w->block->conflict && i < w->block->nwarps; i++)
		if (!w->block->warps[i]->ended && !w->block->warps[i]->waits)
			ws_warp_refresh(t, w->block->warps[i]);
	w->block->conflict = false;
	if (!w->ended && !w->waits)
		ws_warp_refresh(t, w);
}

/* ---- transactions ---- */
static struct ws_packet *packet(struct ws_timing *t, struct ws_memop *a, uint8_t kind, uint64_t addr, uint32_t sectors)
{
	struct ws_packet *k = ws_packet_new(t);

	*k = (struct ws_packet){.core = a->core, .access = a, .kind = kind, .addr = addr, .sectors = sectors};
	return k;
}

static void count_hit(struct ws_counters *c, uint8_t which, bool hit)
{
	uint64_t *const counter[WS_IN_COUNT][2] = {
		[WS_IN_L1] = {&c->l1_misses, &c->l1_hits}, [WS_IN_CONSTANT] = {&c->constant_misses, &c->constant_hits},
		[WS_IN_TEXTURE] = {&c->texture_misses, &c->texture_hits},
	};

	++*counter[which][hit];
}

static uint32_t latency_of(const struct ws_machine *m, uint8_t which)
{
	return which == WS_IN_CONSTANT ? m->constant_latency : which == WS_IN_TEXTURE ? m->texture_latency : m->l1_latency;
}

/* What a core waits for at once is bounded, cached or not; constants apart. */
static bool may_miss(const struct ws_timing *t, const struct ws_core *c, uint8_t which)
{
	return which == WS_IN_CONSTANT ||
	       c->reads + c->mshrs[WS_IN_L1].used + c->mshrs[WS_IN_TEXTURE].used < t->m.l1_mshrs;
}

/* A read through a cache of the core. false: no room for another miss. */
static bool read_cached(struct ws_timing *t, struct ws_memop *a, const struct ws_segment *s)
{
	struct ws_core *c = a->core;
	struct ws_cache *cache = &c->cache[a->which];
	struct ws_mshrs *mshrs = &c->mshrs[a->which];
	uint32_t missing = s->sectors & ~ws_cache_look(cache, s->addr, s->sectors), more;
	struct ws_miss *e;
	struct ws_packet *k;

	if (!missing) {
		if (!a->of_watch)
			count_hit(t->c, a->which, true);
		ws_follow_depart(t, a, s, WS_HITS, NULL);
		a->pending++;
		one_done(t, a, t->now - 1 + latency_of(&t->m, a->which));
		return true;
	}
	e = may_miss(t, c, a->which) ? ws_mshrs_get(mshrs, s->addr) : NULL;
	if (!e)
		return false;
	if (!a->of_watch)
		count_hit(t->c, a->which, false);
	more = ws_cache_fetched(cache, ws_piece(&t->m, a->which), missing) & ~e->coming;
	a->pending++;
	ws_mshrs_wait(mshrs, e, a, missing);
	if (!(missing & more)) {
		t->c->l1_merged += a->which == WS_IN_L1 && !a->of_watch;
		ws_follow_depart(t, a, s, WS_JOINS, NULL);
		return true;
	}
	e->coming |= more;
	k = packet(t, a, WS_PACKET_READ, s->addr, more);
	ws_follow_depart(t, a, s, WS_LEAVES, k);
	k->access = NULL;
	k->which = a->which;
	ws_network_to_memory(t, k);
	return true;
}

static bool read_past(struct ws_timing *t, struct ws_memop *a, const struct ws_segment *s)
{
	struct ws_core *c = a->core;
	struct ws_packet *k;

	if (!may_miss(t, c, a->which))
		return false;
	t->c->l1_bypassed += !a->of_watch;
	c->reads++;
	a->pending++;
	k = packet(t, a, WS_PACKET_READ, s->addr, s->sectors);
	ws_follow_depart(t, a, s, WS_LEAVES, k);
	ws_network_to_memory(t, k);
	return true;
}

static bool write_through(struct ws_timing *t, struct ws_memop *a, const struct ws_segment *s)
{
	struct ws_core *c = a->core;
	struct ws_packet *k;

	if (c->writes >= t->m.writes)
		return false;
	/* what the core has of these sectors is old now */
	ws_cache_drop(&c->cache[WS_IN_L1], s->addr, s->sectors);
	c->writes++;
	a->pending++;
	k = packet(t, a, a->kind == WS_STEP_ATOMIC ? WS_PACKET_ATOMIC : WS_PACKET_WRITE, s->addr, s->sectors);
	k->lanes = s->lanes;
	ws_follow_depart(t, a, s, WS_LEAVES, k);
	ws_network_to_memory(t, k);
	return true;
}

/* The next transaction of an instruction. false: it has to wait; for a reply, or until *when. */
static bool transact(struct ws_timing *t, struct ws_memop *a, uint64_t *when)
{
	const struct ws_segment *s = &a->seg[a->next];

	*when = WS_NEVER;
	if (a->space == WS_SPACE_PARAM) {        /* kernel parameters are always in the constant cache */
		t->c->constant_hits++;
		a->done = t->now - 1 + t->m.constant_latency;
		return true;
	}
	if (!ws_network_ready(t, a->core, when) || !ws_follow_may_leave(t, a, s, when))
		return false;
	if (a->kind != WS_STEP_LOAD)
		return write_through(t, a, s);
	return a->which != WS_IN_NONE ? read_cached(t, a, s) : read_past(t, a, s);
}

static void pop(struct ws_timing *t, struct ws_core *c)
{
	c->head = (c->head + 1) % t->m.queue;
	c->queued--;
	for (uint32_t i = 0; i < t->m.schedulers; i++)
		if (c->sched[i].stalled == WS_STALL_STAGE)
			c->sched[i].wake = t->now;
}

/* What the unit looks at meanwhile, one line a cycle; the last one together with the rest of the passes. false: not yet. */
static bool lines_beside(struct ws_timing *t, struct ws_core *c, struct ws_memop *a)
{
	struct ws_memop *b = a->beside;
	uint64_t when;

	if (!transact(t, b, &when)) {
		c->stage = when;
		return false;
	}
	c->stage = t->now + 1;
	if (++b->next < b->nseg)
		return false;
	a->passes = a->passes > b->nseg ? a->passes - b->nseg + 1 : 1;
	a->beside = NULL;
	one_done(t, b, 0);
	return true;
}

static void shared_memory(struct ws_timing *t, struct ws_core *c, struct ws_memop *a)
{
	if (a->beside && !lines_beside(t, c, a))
		return;
	c->stage = t->now + (a->passes ? a->passes : 1);
	pop(t, c);
	one_done(t, a, c->stage - 2 + t->m.shared_latency);      /* it was issued the cycle before */
}

uint64_t ws_stage_cycle(struct ws_timing *t, struct ws_core *c)
{
	struct ws_memop *a;
	uint64_t when;

	if (!c->queued || c->stage > t->now)
		return c->queued ? c->stage : WS_NEVER;
	a = c->queue[c->head];
	if (a->from > t->now)
		return c->stage = a->from;
	if (a->space == WS_SPACE_SHARED) {
		shared_memory(t, c, a);
	} else if (a->next < a->nseg && !transact(t, a, &when)) {
		c->stage = when;
		return when;
	} else {
		c->stage = t->now + 1;
		if (++a->next >= a->nseg) {
			pop(t, c);
			one_done(t, a, 0);
		}
	}
	return c->queued ? c->stage : WS_NEVER;
}

/* ---- replies ---- */
static void filled(void *user, void *who)
{
	one_done(user, who, 0);
}

void ws_stage_reply(struct ws_timing *t, void *arg)
{
	struct ws_packet *k = arg;
	struct ws_core *c = k->core;
	struct ws_victim v;

	if (k->kind == WS_PACKET_CREDIT) {
		ws_network_credit(t, k);
	} else if (k->kind == WS_PACKET_MESSAGE) {
		ws_unit_message(t, k);
	} else if (k->kind != WS_PACKET_READ) {
		c->writes--;
		one_done(t, k->access, t->now);
	} else if (k->access) {
		c->reads--;
		one_done(t, k->access, t->now);
	} else {
		ws_cache_fill(&c->cache[k->which], k->addr, k->sectors, false, &v);
		if (v.dirty)
			ws_follow_write_back(t, c, &v);
		ws_mshrs_arrived(&c->mshrs[k->which], k->addr, k->sectors, filled, t);
	}
	ws_packet_free(t, k);
	if (c->queued && c->stage == WS_NEVER) {
		c->stage = t->now;
		ws_wake_core(t, c);
	}
}

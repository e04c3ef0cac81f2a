/* core.c - a core: schedulers choose among warps by a scoreboard and issue. A warp's instructions issue in order. A register
 * that an instruction writes cannot be read or written again before its result is there. What an instruction does happens when
 * it issues (src/gpu), except for atomics on global memory. */
#include "timing/timing_priv.h"

#include <stdlib.h>
#include <string.h>

/* ---- a core ---- */
void ws_core_init(struct ws_timing *t, struct ws_core *c, uint32_t index)
{
	const struct ws_machine *m = &t->m;

	memset(c, 0, sizeof *c);
	c->index = index;
	c->home = t;
	c->wake_at = index;
	c->sched = ws_alloc(m->schedulers * sizeof *c->sched);
	for (uint32_t i = 0; i < m->schedulers; i++) {
		c->sched[i].core = c;
		c->sched[i].n = (m->threads / WS_WARP + m->schedulers - 1 - i) / m->schedulers;
		for (uint32_t k = 0; k < WS_SCHED_WARPS; k++)
			c->sched[i].at[k] = WS_NEVER;
	}
	for (uint32_t u = 0; u < WS_UNIT_COUNT; u++)
		c->unit[u] = ws_alloc(m->units[u] * sizeof *c->unit[u]);
	c->collector = ws_alloc((m->collectors + 1) * sizeof *c->collector);
	c->bank = ws_alloc(m->register_banks * sizeof *c->bank);
	ws_channels_init(m, c);
	c->queue = ws_alloc(m->queue * sizeof(struct ws_memop *));
	c->stage = WS_NEVER;
	ws_cache_init(&c->cache[WS_IN_L1], &m->l1);
	ws_cache_init(&c->cache[WS_IN_CONSTANT], &m->constant);
	ws_cache_init(&c->cache[WS_IN_TEXTURE], &m->texture);
	ws_mshrs_init(&c->mshrs[WS_IN_L1], m->l1_mshrs);
	ws_mshrs_init(&c->mshrs[WS_IN_CONSTANT], 4);
	ws_mshrs_init(&c->mshrs[WS_IN_TEXTURE], m->l1_mshrs);
}

void ws_core_fini(struct ws_timing *t, struct ws_core *c)
{
	for (uint32_t u = 0; u < WS_UNIT_COUNT; u++)
		free(c->unit[u]);
	free(c->collector);
	free(c->bank);
	ws_channels_fini(c);
	free(c->sched);
	free(c->queue);
	for (uint32_t i = WS_IN_L1; i < WS_IN_COUNT; i++) {
		ws_cache_fini(&c->cache[i]);
		ws_mshrs_fini(&c->mshrs[i]);
	}
}

void ws_wake_core(struct ws_timing *t, struct ws_core *c)
{
	if (t->wake[c->wake_at] > t->now)
		t->wake[c->wake_at] = t->now;
}

/* ---- what a warp waits for ---- */
static void set_at(struct ws_timing *t, struct ws_twarp *w, uint64_t at, enum ws_stall why)
{
	struct ws_sched *s = w->sched;

	s->at[w->slot] = at;
	s->why[w->slot] = (uint8_t)why;
	if (at < s->wake)
		s->wake = at;
	if (at < t->wake[s->core->wake_at])
		t->wake[s->core->wake_at] = at;
}

static bool must_wait(const struct ws_twarp *w)
{
	switch ((enum ws_sync)w->ti->sync) {
	case WS_SYNC_NONE:
		return false;
	case WS_SYNC_BLOCK:
		return w->natomics > w->nreds;
	case WS_SYNC_ATOMICS:
		return w->natomics;
	case WS_SYNC_MEMORY:
		return w->writes;
	case WS_SYNC_ALL:
		return w->writes || w->loads;
	}
	return false;
}

/* When what the next instruction uses is there, as far as that is known. */
static uint64_t known(const struct ws_twarp *w, uint64_t at)
{
	for (uint32_t i = 0; i < (uint32_t)w->ti->nuse + w->ti->ndef; i++) {
		uint64_t r = w->ready[w->ti->regs[i]];

		at = r != WS_NEVER && r > at ? r : at;
	}
	return at;
}

static void set_ready(struct ws_timing *t, struct ws_twarp *w)
{
	const struct ws_tinst *ti = w->ti;
	uint64_t at = t->now, r;
	enum ws_stall why = WS_STALL_DATA;

	for (uint32_t i = 0; i < (uint32_t)ti->nuse + ti->ndef; i++) {
		r = w->ready[ti->regs[i]];
		at = r > at ? r : at;
	}
	if (at == WS_NEVER && t->m.ahead && (ws_ahead_may(t, w) || ws_ahead_load_may(w)))
		at = known(w, t->now);
	if (w->nahead && (ti->sync != WS_SYNC_NONE || ti->cls >= WS_CLASS_BRANCH) && !ti->memory)
		at = WS_NEVER;
	if (ti->sync == WS_SYNC_ALL)
		at = ws_later(at, w->results);
	if (w->held)
		at = WS_NEVER;
	if (at == WS_NEVER) {
		why = WS_STALL_MEMORY;
	} else if (must_wait(w)) {
		why = WS_STALL_ORDER;
		at = WS_NEVER;
	} else if (w->branch > at) {
		why = WS_STALL_BRANCH;
		at = w->branch;
	}
	set_at(t, w, at, why);
}

static const struct ws_tinst at_the_end = {.cls = WS_CLASS_BRANCH, .unit = WS_UNIT_ALU, .times = 1, .chain = 1};

void ws_warp_refresh(struct ws_timing *t, struct ws_twarp *w)
{
	struct ws_step_next next;
	bool waited = w->waits;

	if (w->ended)
		return;
	w->waits = false;
	switch (ws_step_next(t->x, w->warp, &next)) {
	case WS_STEP_ENDED:
		w->ended = true;
		ws_block_may_be_over(t, w->block);
		set_at(t, w, WS_NEVER, WS_STALL_EMPTY);
		break;
	case WS_STEP_WAITS:
		w->waits = true;
		set_at(t, w, WS_NEVER, WS_STALL_BARRIER);
		break;
	case WS_STEP_READY:
		w->function = next.inst ? next.function : UINT32_MAX;
		w->ti = next.inst ? &t->code[next.function].inst[next.inst->index] : &at_the_end;
		if (waited)
			w->branch = t->now + t->m.latency[WS_CLASS_BARRIER] + ws_follow_delay(t, w);
		set_ready(t, w);
		break;
	}
	w->block->waiting += (uint32_t)w->waits - (uint32_t)waited;
}

void ws_block_refresh(struct ws_timing *t, struct ws_tblock *b)
{
	struct ws_tblock *k = b;

	do {
		for (uint32_t i = 0; k->waiting && i < k->nwarps; i++)
			if (k->warps[i]->waits)
				ws_warp_refresh(t, k->warps[i]);
		k = k->peer;
	} while (k != b);
}

/* ---- issue ---- */
/* The one of n that is free first. */
static uint64_t *first_free(uint64_t *at, uint32_t n)
{
	uint64_t *best = at;

	for (uint32_t i = 1; i < n; i++)
		if (at[i] < *best)
			best = &at[i];
	return best;
}

static uint64_t *free_unit(const struct ws_timing *t, const struct ws_core *c, uint32_t unit)
{
	return first_free(c->unit[unit], t->m.units[unit]);
}

static uint64_t *free_collector(const struct ws_timing *t, const struct ws_core *c)
{
	return first_free(c->collector, t->m.collectors);
}

/* ---- operands ---- */
/* The operands are read, each from its bank, one a cycle. Neighbouring registers of a warp, and a register of neighbouring warps,
 * lie in different banks. Returns the cycles until all are there. */
static uint64_t collect(struct ws_timing *t, const struct ws_twarp *w)
{
	struct ws_core *c = w->sched->core;
	const struct ws_tinst *ti = w->ti;
	uint64_t last = t->now;

	if (!t->m.collectors || !ti->nuse)
		return 0;
	for (uint32_t i = 0; i < ti->nuse; i++)
		for (uint32_t half = 0; half <= (i < 32 ? ti->wide >> i & 1 : 0); half++) {
			uint64_t *bank = &c->bank[(ti->regs[i] + half + w->slot) % t->m.register_banks];

			last = ws_later(last, ws_later(*bank, t->now));
			*bank = ws_later(*bank, t->now) + 1;
		}
	*free_collector(t, c) = last + 1;
	t->c->register_conflicts += last - t->now;
	return last - t->now;
}

/* Can the warp issue, as far as its core is concerned? Else why not, and in *when from when on. */
static bool may_enter(struct ws_timing *t, struct ws_twarp *w, enum ws_stall *why, uint64_t *when)
{
	struct ws_core *c = w->sched->core;

	if (t->m.collectors && w->ti->nuse && *free_collector(t, c) > t->now) {
		*why = WS_STALL_COLLECTORS;
		*when = *free_collector(t, c);
		return false;
	}
	if (w->ti->fence && ws_step_holds(t->x, c->index)) {
		*why = WS_STALL_ORDER;   /* others see the core's stores before it is done, its block's other warps' too */
		*when = t->window_end;
		return false;
	}
	if (!w->ti->memory && !(w->ti->call && t->unit))
		return true;
	if (c->queued == t->m.queue) {
		*why = WS_STALL_STAGE;
		*when = WS_NEVER;
		return false;
	}
	if ((w->natomics || w->block->nreds) && ws_stage_conflicts(t, w)) {
		set_at(t, w, WS_NEVER, WS_STALL_ORDER);
		w->block->conflict = true;
		*why = WS_STALL_ORDER;
		*when = WS_NEVER;
		return false;
	}
	return true;
}

static bool has_room(struct ws_timing *t, struct ws_twarp *w, enum ws_stall *why, uint64_t *when)
{
	uint64_t unit = *free_unit(t, w->sched->core, w->ti->unit);

	if (unit > t->now) {
		*why = WS_STALL_PIPELINE;
		*when = unit;
		return false;
	}
	return may_enter(t, w, why, when);
}

static void count_issue(struct ws_timing *t, const struct ws_twarp *w, const struct ws_stepped *s, bool joined)
{
	uint32_t lanes = (uint32_t)__builtin_popcount(s->active);

	t->c->issued += !joined;
	t->c->thread_instructions += lanes;
	t->c->lanes_issued += lanes;
	if (w->ti->cls == WS_CLASS_BRANCH) {
		t->c->branches++;
		t->c->diverged += s->diverged;
	}
	t->c->barriers += w->ti->cls == WS_CLASS_BARRIER && s->waits;
}

static void results_at(struct ws_twarp *w, uint64_t at)
{
	for (uint32_t i = 0; i < w->ti->ndef; i++)
		w->ready[w->ti->regs[w->ti->nuse + i]] = at;
	if (at != WS_NEVER && at > w->results)
		w->results = at;
}

/* The results of a memory instruction come under a number if it is a load; an atomic must be waited for. */
static uint32_t number(struct ws_twarp *w)
{
	uint32_t token = w->ti->load ? ++w->last_token : 0;

	for (uint32_t i = 0; i < w->ti->ndef; i++)
		w->token[w->ti->regs[w->ti->nuse + i]] = token;
	return token;
}

static void reserve(struct ws_timing *t, struct ws_twarp *w, const struct ws_stepped *s, bool joined)
{
	const struct ws_tinst *ti = w->ti;
	const struct ws_machine *m = &t->m;
	uint64_t *unit = free_unit(t, w->sched->core, ti->unit), busy = (uint64_t)m->interval[ti->unit] * ti->times, after;
	uint64_t operands = collect(t, w);
	bool memory = s->kind != WS_STEP_PLAIN && s->mask;
	struct ws_memop *a;

	if (!joined)
		*unit = t->now + operands + busy;
	w->branch = t->now + 1;
	if (s->kind == WS_STEP_INTRINSIC && s->mask) {
		ws_unit_issue(t, w, s);
		return;
	}
	if (memory) {
		results_at(w, WS_NEVER);
		a = ws_stage_push(t, w, s);
		a->token = number(w);
		a->from = t->now + 1 + operands;
		return;
	}
	after = ws_later(busy - m->interval[ti->unit], (ti->chain - 1u) * m->latency[ti->cls]) +
	        m->latency[ti->memory ? WS_CLASS_MOVE : ti->cls] + operands;
	if (!m->ahead || !ws_ahead_put_off(w, (uint32_t)after))
		results_at(w, t->now + after);
	if (ti->cls == WS_CLASS_BRANCH)
		w->branch = t->now + m->latency[WS_CLASS_BRANCH];
	if (ti->cls == WS_CLASS_BARRIER)
		w->branch += ws_follow_delay(t, w);
}

/* joined: it is the second half of a wavefront whose first half has just issued. */
static void issue(struct ws_timing *t, struct ws_twarp *w, bool joined)
{
	struct ws_stepped s;

	ws_step_core(t->x, w->sched->core->index);
	if (!ws_step(t->x, w->warp, true, &s))
		return;
	count_issue(t, w, &s, joined);
	reserve(t, w, &s, joined);
	ws_warp_refresh(t, w);
	if (s.wakes && w->block->peer)
		ws_block_refresh(t, w->block);
}

static void issue_wavefront(struct ws_timing *t, struct ws_twarp *w)
{
	struct ws_twarp *twin = ws_wavefront_joins(t, w);
	enum ws_stall why;
	uint64_t when;

	issue(t, w, false);
	if (twin && !ws_step_failed(t->x) && may_enter(t, twin, &why, &when))
		issue(t, twin, true);
}

/* ---- a scheduler ---- */
static void account(struct ws_timing *t, struct ws_sched *s, uint64_t until)
{
	uint64_t *stall = &t->c->stall_pipeline;         /* in the order of enum ws_stall */

	if (until > s->since) {
		stall[s->stalled] += until - s->since;
		s->since = until;
	}
}

_Static_assert(offsetof(struct ws_counters, stall_empty) ==
               offsetof(struct ws_counters, stall_pipeline) + WS_STALL_EMPTY * sizeof(uint64_t),
               "the stalls of counters.def are those of enum ws_stall");

/* Nothing issues: the reason is that of the warp that is furthest, and the scheduler sleeps until one can go on. */
static void stall(struct ws_timing *t, struct ws_sched *s, enum ws_stall why, uint64_t when)
{
	for (uint32_t i = 0; i < s->n; i++) {
		if (!s->warp[i])
			continue;
		if (s->at[i] > t->now && s->why[i] < why)
			why = s->why[i];
		if (s->at[i] > t->now && s->at[i] < when)
			when = s->at[i];
	}
	s->stalled = (uint8_t)why;
	s->wake = when;
}

static void schedule(struct ws_timing *t, struct ws_sched *s)
{
	uint64_t ready = 0, when = WS_NEVER, later;
	enum ws_stall why = WS_STALL_EMPTY, reason;

	account(t, s, t->now);
	for (uint32_t i = 0; i < s->n; i++)
		ready |= (uint64_t)(s->at[i] <= t->now) << i;
	ready = ws_policy_candidates(&t->m, s, ready);
	while (ready) {
		uint32_t i = ws_policy_pick(&t->m, s, ready);

		reason = WS_STALL_BARRIER;
		if (!ws_wavefront_waits(t, s->warp[i], &later) && has_room(t, s->warp[i], &reason, &later)) {
			s->last = i;
			s->wake = t->now + 1;
			s->since = t->now + 1;
			issue_wavefront(t, s->warp[i]);
			return;
		}
		why = reason < why ? reason : why;
		when = later < when ? later : when;
		ready &= ~(1ull << i);
	}
	stall(t, s, why, when);
}

uint64_t ws_core_cycle(struct ws_timing *t, struct ws_core *c)
{
	uint64_t wake = ws_stage_cycle(t, c);

	for (uint32_t i = 0; i < t->m.schedulers && !ws_step_failed(t->x); i++) {
		if (c->sched[i].wake <= t->now)
			schedule(t, &c->sched[i]);
	}
	for (uint32_t i = 0; i < t->m.schedulers; i++)
		wake = c->sched[i].wake < wake ? c->sched[i].wake : wake;
	if (c->queued && c->stage < wake)
		wake = c->stage;
	return wake;
}

void ws_core_settle(struct ws_timing *t, struct ws_core *c)
{
	for (uint32_t i = 0; i < t->m.schedulers; i++)
		account(t, &c->sched[i], t->now);
}

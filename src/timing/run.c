/* run.c - a launch on the clocked GPU: in windows of time (timing_priv.h) events and cores take turns cycle by cycle, and cycles
 * in which nothing can happen are not looked at; between windows blocks go to cores that have room. */
#include "timing/timing_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct ws_packet *ws_packet_new(struct ws_timing *t)
{
	struct ws_packet *k = t->free_packets;

	if (!k)
		return ws_arena_alloc(t->objects, sizeof *k);
	t->free_packets = k->next;
	return k;
}

void ws_packet_free(struct ws_timing *t, struct ws_packet *k)
{
	k->next = t->free_packets;
	t->free_packets = k;
}

struct ws_memop *ws_memop_new(struct ws_timing *t)
{
	struct ws_memop *a = t->free_accesses;

	if (!a)
		return ws_arena_alloc(t->objects, sizeof *a);
	t->free_accesses = a->link;
	return a;
}

void ws_memop_free(struct ws_timing *t, struct ws_memop *a)
{
	a->link = t->free_accesses;
	t->free_accesses = a;
}

/* ---- the machine ---- */
void ws_host_init(struct ws_timing *h)
{
	ws_wheel_init(&h->wheel);
	for (uint32_t i = 0; i < WS_BOXES; i++) {
		h->box[i] = (struct ws_outbox){NULL, 0, 0, 0};
		h->come[i] = (struct ws_arrivals){.at = WS_NEVER};
	}
	h->objects = ws_arena_new();
	h->free_packets = NULL;
	h->free_filled = NULL;
	h->free_accesses = NULL;
	h->free_watches = NULL;
	h->watched = 0;
	h->neffects = h->nover = 0;
	h->begin = NULL;
	h->last_begin = &h->begin;
}

void ws_host_fini(struct ws_timing *h)
{
	ws_arena_free(h->objects);
	ws_wheel_fini(&h->wheel);
	for (uint32_t i = 0; i < WS_BOXES; i++) {
		free(h->box[i].sent);
		free(h->come[i].come);
	}
	free(h->effects);
	free(h->over);
	h->effects = NULL;
	h->over = NULL;
	h->cap_effects = h->cap_over = 0;
}

static void build(struct ws_timing *t)
{
	ws_host_init(t);
	t->cores = ws_alloc(t->m.cores * sizeof *t->cores);
	t->wake = ws_alloc(ws_hosts_wakes(&t->m) * sizeof *t->wake);
	t->parts = ws_alloc(t->m.partitions * sizeof *t->parts);
	ws_network_init(&t->m, &t->to_memory);
	ws_network_init(&t->m, &t->to_cores);
	for (uint32_t i = 0; i < t->m.cores; i++)
		ws_core_init(t, &t->cores[i], i);
	for (uint32_t i = 0; i < t->m.partitions; i++)
		ws_part_init(t, &t->parts[i], i);
}

static void tear_down(struct ws_timing *t)
{
	for (uint32_t i = 0; i < t->m.cores; i++)
		ws_core_fini(t, &t->cores[i]);
	for (uint32_t i = 0; i < t->m.partitions; i++)
		ws_part_fini(&t->parts[i]);
	ws_network_fini(&t->to_memory);
	ws_network_fini(&t->to_cores);
	free(t->cores);
	free(t->wake);
	free(t->parts);
	ws_hosts_free(t);
	ws_host_fini(t);
}

static void make_unit(struct ws_timing *t)
{
	const struct ws_unit_ops *u = t->options.unit;
	struct ws_unit_machine m = {
		.machine = t, .cores = t->m.cores, .partitions = t->m.partitions, .blocks = t->m.blocks, .banks = t->m.shared_banks,
		.piece = t->m.segment < t->m.l2.line ? t->m.segment : t->m.l2.line, .line = t->m.segment,
	};

	t->unit = u->create(t->options.unit_values);
	if (u->attach)
		u->attach(t->unit, &m);
}

struct ws_timing *ws_timing_new(const struct ws_machine *m, const struct ws_timing_options *o)
{
	struct ws_timing *t = ws_alloc(sizeof *t);

	t->m = *m;
	t->all = t->host[0] = t;
	t->nhosts = 1;
	if (o)
		t->options = *o;
	t->network_cycle = (m->clock_core * WS_FINE + m->clock_network / 2) / m->clock_network;
	t->memory_cycle = (m->clock_core * WS_FINE + m->clock_memory / 2) / m->clock_memory;
	build(t);
	if (t->options.unit)
		make_unit(t);
	return t;
}

void *ws_timing_unit(const struct ws_timing *t)
{
	return t->unit;
}

void ws_timing_free(struct ws_timing *t)
{
	if (!t)
		return;
	tear_down(t);
	if (t->unit)
		t->options.unit->destroy(t->unit);
	for (size_t i = 0; i < t->nkernels; i++)
		free(t->kernels[i].name);
	free(t->kernels);
	free(t->resident);
	free(t);
}

/* ---- blocks ---- */
static bool has_room_for(const struct ws_timing *t, const struct ws_core *c)
{
	const struct ws_machine *m = &t->m;
	const struct ws_obs_launch *l = t->launch.obs;
	uint32_t threads = l->warps * WS_WARP;

	if (!c->nblocks)
		return true;             /* a block runs alone if need be; what cannot run at all was refused before */
	return c->nblocks < m->blocks && c->threads + threads <= m->threads &&
	       c->registers + threads * t->launch.registers <= m->registers && c->shared + l->shared_bytes <= m->shared;
}

static void occupy(struct ws_timing *t, struct ws_core *c, bool enter)
{
	const struct ws_obs_launch *l = t->launch.obs;
	uint32_t sign = enter ? 1 : UINT32_MAX;

	c->nblocks += sign;
	c->threads += sign * l->warps * WS_WARP;
	c->registers += sign * l->warps * WS_WARP * t->launch.registers;
	c->shared += sign * l->shared_bytes;
}

static void free_slot(struct ws_core *c, uint32_t schedulers, struct ws_sched **s, uint32_t *slot)
{
	uint32_t best = UINT32_MAX;

	for (uint32_t i = 0; i < schedulers; i++) {
		uint32_t used = 0, k = UINT32_MAX;

		for (uint32_t j = c->sched[i].n; j-- > 0;)
			if (c->sched[i].warp[j])
				used++;
			else
				k = j;
		if (k != UINT32_MAX && used < best) {
			best = used;
			*s = &c->sched[i];
			*slot = k;
		}
	}
}

/* The second half of a wavefront goes where the first is, if there is room: always, but where a block has few warps. */
static struct ws_twarp *find_twin(const struct ws_timing *t, const struct ws_tblock *b, uint32_t i, uint32_t *slot)
{
	struct ws_twarp *twin = t->m.wavefront && i % 2 ? b->warps[i - 1] : NULL;

	for (*slot = 0; twin && *slot < twin->sched->n; ++*slot)
		if (!twin->sched->warp[*slot])
			return twin;
	return NULL;
}

static struct ws_tblock *new_block(struct ws_timing *t)
{
	struct ws_tblock *b = t->free_blocks;

	if (b) {
		t->free_blocks = b->next;
		return b;
	}
	b = ws_arena_alloc(t->arena, sizeof *b);
	b->nwarps = t->launch.obs->warps;
	for (uint32_t i = 0; i < b->nwarps; i++) {
		b->warps[i] = ws_arena_alloc(t->arena, sizeof *b->warps[i]);
		b->warps[i]->ready = ws_arena_alloc(t->arena, t->nregs * sizeof(uint64_t));
		b->warps[i]->token = ws_arena_alloc(t->arena, t->nregs * sizeof(uint32_t));
	}
	return b;
}

static void place_warp(struct ws_timing *t, struct ws_tblock *b, uint32_t i)
{
	struct ws_twarp *w = b->warps[i];
	uint64_t *ready = w->ready;
	uint32_t *token = w->token;
	struct ws_unit_again *again = w->again;

	*w = (struct ws_twarp){.warp = ws_step_warp(b->block, i), .block = b, .born = b->born + i, .ready = ready, .token = token,
	                       .again = again};
	memset(ready, 0, t->nregs * sizeof *ready);
	memset(token, 0, t->nregs * sizeof *token);
	w->twin = find_twin(t, b, i, &w->slot);
	if (w->twin) {
		w->sched = w->twin->sched;
		w->twin->twin = w;
	} else {
		free_slot(b->core, t->m.schedulers, &w->sched, &w->slot);
	}
	w->sched->warp[w->slot] = w;
	ws_step_core(b->core->home->x, b->core->index);
}

/* Room for a block on the core; it begins with the next window. */
static struct ws_tblock *reserve_block(struct ws_timing *t, struct ws_core *c, uint64_t number)
{
	struct ws_tblock *b = new_block(t);

	b->number = number;
	b->core = c;
	b->born = t->seq;
	t->seq += b->nwarps;
	b->under_way = b->waiting = b->nreds = 0;
	b->conflict = b->may_be_over = false;
	b->resident = true;
	b->at = t->nresident;
	b->peer = b;
	occupy(t, c, true);
	t->c->blocks++;
	*WS_PUSH(t->resident, t->nresident, t->cap_resident) = b;
	return b;
}

/* The cores of a cluster: neighbours, from `at` on, one block each where the machine has as many. */
static bool cluster_fits(const struct ws_timing *t, uint32_t at)
{
	for (uint32_t r = 0; r < t->launch.cluster_blocks; r++)
		if (!has_room_for(t, &t->cores[(at + r) % t->m.cores]))
			return false;
	return t->launch.cluster_blocks <= t->m.cores || !t->nresident;
}

static bool reserve_at(struct ws_timing *t, uint32_t at)
{
	struct ws_tblock *zero = NULL, *before = NULL, *b = NULL;
	struct ws_timing *home = t->cores[at].home;      /* of all of them: with clusters there is one */
	uint64_t number;

	if (!cluster_fits(t, at) || !ws_step_take(t->x, &number))
		return false;
	for (uint32_t r = 0; r < t->launch.cluster_blocks; r++, before = b) {
		b = reserve_block(t, &t->cores[(at + r) % t->m.cores], number);
		if (before)
			before->peer = b;
		else
			zero = b;
	}
	b->peer = zero;
	zero->next = NULL;
	*home->last_begin = zero;
	home->last_begin = &zero->next;
	return true;
}

/* A block, or a cluster, begins; in its share. */
static void begin_cluster(struct ws_timing *h, struct ws_tblock *zero)
{
	struct ws_tblock *b = zero;
	struct ws_block *first;
	uint32_t rank = 0;

	ws_step_core(h->x, zero->core->index);
	first = ws_step_begin(h->x, zero->number);
	if (!first)
		return;
	do {
		b->block = ws_step_peer(first, rank++);
		b->first = first;
		for (uint32_t i = 0; i < b->nwarps; i++)
			place_warp(h, b, i);
		if (h->unit && h->options.unit->resident)
			h->options.unit->resident(h->unit, b->core->index, ws_step_obs(b->warps[0]->warp)->block);
		b = b->peer;
	} while (b != zero);
	do {
		for (uint32_t i = 0; i < b->nwarps; i++)
			ws_warp_refresh(h, b->warps[i]);
		b = b->peer;
	} while (b != zero);
}

static void begin_blocks(struct ws_timing *h)
{
	struct ws_tblock *b = h->begin, *next;

	h->begin = NULL;
	h->last_begin = &h->begin;
	for (; b && !ws_step_failed(h->x); b = next) {
		next = b->next;
		begin_cluster(h, b);
	}
}

/* Blocks go round the cores, one at a time. */
static void fill_cores(struct ws_timing *t)
{
	bool any = true;

	while (any && ws_step_more(t->x)) {
		any = false;
		for (uint32_t i = 0; i < t->m.cores && ws_step_more(t->x); i++)
			any |= reserve_at(t, i);
	}
}

static bool is_over(const struct ws_tblock *b)
{
	const struct ws_tblock *k = b;

	do {
		if (k->under_way)
			return false;
		k = k->peer;
	} while (k != b);
	return ws_step_ended(b->block);
}

static void remove_block(struct ws_timing *t, struct ws_tblock *b)
{
	for (uint32_t i = 0; i < b->nwarps; i++) {
		struct ws_twarp *w = b->warps[i];

		w->sched->warp[w->slot] = NULL;
		w->sched->at[w->slot] = WS_NEVER;
		w->sched->active &= ~(1ull << w->slot);
	}
	occupy(t, b->core, false);
}

void ws_block_may_be_over(struct ws_timing *t, struct ws_tblock *b)
{
	if (!b->may_be_over)
		*WS_PUSH(t->over, t->nover, t->cap_over) = b;
	b->may_be_over = true;
}

/* All blocks of a cluster at once. */
static void remove_cluster(struct ws_timing *t, struct ws_tblock *b)
{
	struct ws_tblock *k = b, *last;

	do {
		remove_block(t, k);
		if (k->block == k->first)
			ws_step_end(k->core->home->x, k->first);
		k->resident = false;
		last = t->resident[--t->nresident];
		t->resident[k->at] = last;
		last->at = k->at;
		k->next = t->free_blocks;
		t->free_blocks = k;
		k = k->peer;
	} while (k != b);
}

/* Blocks that are over make room for others. */
static void replace_blocks(struct ws_timing *t)
{
	for (uint32_t i = 0; i < t->nhosts; i++) {
		struct ws_timing *h = t->host[i];

		for (size_t k = 0; k < h->nover; k++) {
			h->over[k]->may_be_over = false;
			if (h->over[k]->resident && is_over(h->over[k]))
				remove_cluster(t, h->over[k]);
		}
		h->nover = 0;
	}
	fill_cores(t);
}

/* ---- the launch ---- */
static struct ws_counters *counters_of(struct ws_timing *t, const char *name)
{
	struct ws_tkernel *k;

	for (size_t i = 0; i < t->nkernels; i++)
		if (!strcmp(t->kernels[i].name, name))
			return &t->kernels[i].c;
	k = WS_PUSH(t->kernels, t->nkernels, t->cap_kernels);
	*k = (struct ws_tkernel){.name = ws_strdup(name)};
	return &k->c;
}

uint64_t ws_timing_nanoseconds(const struct ws_timing *t)
{
	return t->now * 1000 / t->m.clock_core;
}

static void set_time(struct ws_timing *h)
{
	ws_step_time(h->x, h->now, ws_timing_nanoseconds(h));
}

/* What only works, or only comes out the same each time, where one host thread runs all cores: operations whose effects come
 * when the simulator finds time for them, what the library does for a kernel, clusters, proposed hardware. */
static bool needs_one_host(const struct ws_timing *t)
{
	if (t->unit || t->launch.cluster_blocks > 1)
		return true;
	for (uint32_t f = 0; f < t->launch.functions; f++)
		for (uint32_t i = 0; i < t->code[f].func->ninsts; i++)
			if (t->code[f].inst[i].cls == WS_CLASS_ASYNC || t->code[f].inst[i].library)
				return true;
	return false;
}

/* Several shares a thread: who is through with its own takes one of another. */
static void start_hosts(struct ws_timing *t)
{
	bool one = needs_one_host(t);
	uint32_t threads = one ? 1 : ws_step_processors(t->x), shares = one ? 1 : ws_step_hosts(t->x);

	if (!one)                        /* on one host thread as well: what a program computes does not depend on their number */
		ws_step_hold(t->x, t->m.cores);
	shares = shares < t->m.cores ? shares : t->m.cores;
	shares = shares < WS_MAX_HOSTS ? shares : WS_MAX_HOSTS;
	ws_hosts_start(t, threads < shares ? threads : shares, shares);
}

static void begin_core(struct ws_timing *t, struct ws_core *c)
{
	for (uint32_t k = WS_IN_L1; k < WS_IN_COUNT; k++)        /* not coherent: nothing stays for the next kernel */
		ws_cache_flush(&c->cache[k]);
	for (uint32_t k = 0; k < t->m.schedulers; k++) {
		c->sched[k].since = t->now;
		c->sched[k].stalled = WS_STALL_EMPTY;
		c->sched[k].wake = WS_NEVER;
	}
}

static void begin_launch(struct ws_timing *t, struct ws_exec *x)
{
	t->x = x;
	ws_step_launch(x, &t->launch);
	t->arena = ws_arena_new();
	t->code = ws_timing_code(t->arena, &t->m, x, t->launch.functions, &t->nregs);
	t->c = counters_of(t, t->launch.obs->name);
	t->c->launches++;
	t->started = t->last = t->now;
	t->free_blocks = NULL;
	start_hosts(t);
	for (uint32_t i = 0; i < t->m.cores; i++)
		begin_core(t, &t->cores[i]);
	if (t->unit && t->options.unit->launch_begin)
		t->options.unit->launch_begin(t->unit);
	for (uint32_t i = 0; i < t->nhosts; i++)
		set_time(t->host[i]);
	fill_cores(t);
}

/* What the other shares have counted becomes the kernel's. */
static void gather(struct ws_timing *t)
{
	uint64_t *sum = (uint64_t *)t->c;

	for (uint32_t i = 1; i < t->nhosts; i++) {
		uint64_t *own = (uint64_t *)&t->host[i]->own;

		for (size_t k = 0; k < sizeof *t->c / sizeof *sum; k++)
			sum[k] += own[k];
		memset(own, 0, sizeof t->host[i]->own);
	}
}

/* What is still on its way is DRAM's alone: it is done before another launch may divide the machine in another way. */
static void drain(struct ws_timing *h)
{
	uint64_t now = h->now, next;

	while ((next = ws_wheel_next(&h->wheel, h->now)) != WS_NEVER) {
		h->now = next;
		ws_wheel_run(&h->wheel, next, h);
	}
	h->now = now;
}

static void end_launch(struct ws_timing *t)
{
	uint64_t cycles = t->now - t->started;

	for (uint32_t i = 0; i < t->m.cores; i++)
		ws_core_settle(t->cores[i].home, &t->cores[i]);
	for (uint32_t i = 0; i < t->nhosts && !ws_step_any_failed(t->x); i++) {
		ws_network_arrive(t->host[i]);
		drain(t->host[i]);
	}
	gather(t);
	t->c->cycles += cycles;
	t->c->slots += cycles * t->m.cores * t->m.schedulers;
	t->nresident = 0;
	ws_arena_free(t->arena);
	if (ws_step_any_failed(t->x)) {  /* whatever is under way belongs to a launch that is no more */
		tear_down(t);
		build(t);
	}
	t->x = NULL;
}

/* ---- the line for people ---- */
static double seconds(void)
{
	struct timespec s;

	clock_gettime(CLOCK_MONOTONIC, &s);
	return (double)s.tv_sec + (double)s.tv_nsec * 1e-9;
}

static void tell(struct ws_timing *t)
{
	double now = seconds();

	if (now - t->told < 0.5)
		return;
	t->told = now;
	fprintf(stderr, "\rwarpsafe: %.40s: %llu cycles, %llu of %llu blocks begun, %.2f instructions a cycle\033[K",
	        t->launch.obs->name, (unsigned long long)(t->now - t->started), (unsigned long long)t->c->blocks,
	        (unsigned long long)(t->launch.obs->blocks * t->c->launches),
	        (double)t->c->issued / (double)(t->c->cycles + t->now - t->started + 1));
}

static void clear_line(struct ws_timing *t, double began)
{
	if (t->told > began)
		fputs("\r\033[K", stderr);
}

/* ---- a share in a window ---- */
static uint64_t next_time(const struct ws_timing *h)
{
	const uint64_t *wake = h->wake + h->first_wake;
	uint64_t best = ws_wheel_next(&h->wheel, h->now);

	for (uint32_t i = 0; i < h->ncores; i++)
		best = wake[i] < best ? wake[i] : best;
	return best;
}

static void one_cycle(struct ws_timing *h)
{
	uint64_t *wake = h->wake + h->first_wake, at;

	set_time(h);
	ws_wheel_run(&h->wheel, h->now, h);
	for (uint32_t i = 0; i < h->ncores && !ws_step_failed(h->x); i++) {
		struct ws_core *c = &h->cores[h->index + i * h->nhosts];

		if (wake[i] > h->now)
			continue;
		wake[i] = WS_NEVER;
		at = ws_core_cycle(h, c);
		wake[i] = at < wake[i] ? at : wake[i];
	}
	h->last = h->now;
}

static void run_window(struct ws_timing *h)
{
	uint64_t next;

	ws_network_arrive(h);
	begin_blocks(h);
	while (!ws_step_failed(h->x) && (next = next_time(h)) < h->window_end) {
		h->now = ws_later(h->now, next);
		one_cycle(h);
	}
	h->now = h->window_end;
}

/* ---- between windows ---- */
/* What was sent and stored in the window: different host threads may do different parts. */
static void pass_on(struct ws_timing *h)
{
	for (uint32_t i = h->index; i <= WS_BOXES; i += h->nhosts)
		if (i < WS_BOXES)
			ws_network_deliver(h->all, i);
		else
			ws_step_show(h->x);
}

static uint64_t earliest(const struct ws_timing *t)
{
	uint64_t best = WS_NEVER, next;

	for (uint32_t i = 0; i < t->nhosts; i++) {
		next = next_time(t->host[i]);
		best = next < best ? next : best;
		best = t->host[i]->begin && t->now < best ? t->now : best;
		for (uint32_t k = 0; k < WS_BOXES; k++)
			best = t->host[i]->come[k].at < best ? t->host[i]->come[k].at : best;
	}
	return best;
}

/* Atomics on one word are served by one partition, in that order. */
static void apply_effects(struct ws_timing *h)
{
	for (size_t i = 0; i < h->neffects; i++) {
		const struct ws_effect *e = &h->effects[i];
		struct ws_timing *home = e->access->core->home;

		ws_step_core(home->x, e->access->core->index);
		if (ws_step_atomic(home->x, &e->access->atomic, e->lanes))
			ws_memop_atomic_done(home, e->access, e->lanes);
	}
	h->neffects = 0;
}

static void between(struct ws_timing *t)
{
	bool refill = false;

	ws_hosts_all(t, pass_on);
	for (uint32_t i = 0; i < t->nhosts; i++) {
		set_time(t->host[i]);
		t->last = ws_later(t->last, t->host[i]->last);
	}
	for (uint32_t i = 0; i < t->nhosts; i++)
		apply_effects(t->host[i]);
	for (uint32_t i = 0; i < t->nhosts; i++)
		refill |= t->host[i]->nover != 0;
	if (refill && !ws_step_any_failed(t->x))
		replace_blocks(t);
}

static void look_again(struct ws_timing *t)
{
	for (size_t i = 0; i < t->nresident; i++)
		ws_block_refresh(t->resident[i]->core->home, t->resident[i]);
}

static void one_window(struct ws_timing *t, uint64_t from)
{
	t->window = ws_later(t->now, from);
	t->window_end = t->window + t->m.network_latency;
	for (uint32_t i = 0; i < t->nhosts; i++) {
		t->host[i]->window = t->window;
		t->host[i]->window_end = t->window_end;
	}
	ws_hosts_all(t, run_window);
	between(t);
}

enum { CHECK = 1 << 17 };                /* cycles between looks at limits and at warps that wait for ever */

static void run(void *self, struct ws_exec *x)
{
	struct ws_timing *t = self;
	uint64_t check = t->now + CHECK, next;
	double began = t->told = seconds();

	begin_launch(t, x);
	while ((t->nresident || t->watched) && !ws_step_any_failed(t->x)) {
		next = earliest(t);
		if (next == WS_NEVER) {
			if (ws_step_nobody(x))
				look_again(t);
			continue;
		}
		one_window(t, next);
		if (t->now < check)
			continue;
		check = t->now + CHECK;
		ws_step_check(x);
		gather(t);
		if (t->options.progress)
			tell(t);
	}
	clear_line(t, began);
	ws_hosts_stop(t);
	t->now = t->last + 1;
	for (uint32_t i = 0; i < t->nhosts; i++)
		t->host[i]->now = t->now;
	end_launch(t);
}

const struct ws_clock_ops ws_timing_clock = {run, ws_unit_number, ws_unit_locks};

/* ---- what was counted ---- */
const struct ws_counters *ws_timing_kernel(const struct ws_timing *t, size_t i, const char **name)
{
	if (i >= t->nkernels)
		return NULL;
	if (name)
		*name = t->kernels[i].name;
	return &t->kernels[i].c;
}

/* run.c - a launch on the clocked GPU: blocks go to cores that have room, events and cores take turns cycle by cycle, and
 * cycles in which nothing can happen are not looked at. */
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
static void build(struct ws_timing *t)
{
	ws_wheel_init(&t->wheel);
	t->objects = ws_arena_new();
	t->free_packets = NULL;
	t->free_filled = NULL;
	t->free_accesses = NULL;
	t->cores = ws_alloc(t->m.cores * sizeof *t->cores);
	t->wake = ws_alloc(t->m.cores * sizeof *t->wake);
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
	ws_arena_free(t->objects);
	ws_wheel_fini(&t->wheel);
}

struct ws_timing *ws_timing_new(const struct ws_machine *m, const struct ws_timing_options *o)
{
	struct ws_timing *t = ws_alloc(sizeof *t);

	t->m = *m;
	if (o)
		t->options = *o;
	t->network_cycle = (m->clock_core * WS_FINE + m->clock_network / 2) / m->clock_network;
	t->memory_cycle = (m->clock_core * WS_FINE + m->clock_memory / 2) / m->clock_memory;
	build(t);
	if (t->options.unit)
		t->unit = t->options.unit->create(t->options.unit_values);
	return t;
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

	*w = (struct ws_twarp){.warp = ws_step_warp(b->block, i), .block = b, .born = t->seq++, .ready = ready, .token = token,
	                       .again = again};
	memset(ready, 0, t->nregs * sizeof *ready);
	memset(token, 0, t->nregs * sizeof *token);
	free_slot(b->core, t->m.schedulers, &w->sched, &w->slot);
	w->sched->warp[w->slot] = w;
	ws_step_core(t->x, b->core->index);
}

static struct ws_tblock *place_block(struct ws_timing *t, struct ws_block *first, uint32_t rank, struct ws_core *c)
{
	struct ws_tblock *b = new_block(t);

	b->block = ws_step_peer(first, rank);
	b->first = first;
	b->core = c;
	b->under_way = b->waiting = b->nreds = 0;
	b->conflict = false;
	b->peer = b;
	occupy(t, c, true);
	for (uint32_t i = 0; i < b->nwarps; i++)
		place_warp(t, b, i);
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

static bool begin_at(struct ws_timing *t, uint32_t at)
{
	struct ws_tblock *before = NULL, *b = NULL, *zero = NULL;
	struct ws_block *first;

	if (!cluster_fits(t, at))
		return false;
	ws_step_core(t->x, at);
	first = ws_step_begin(t->x);
	if (!first)
		return false;
	for (uint32_t r = 0; r < t->launch.cluster_blocks; r++) {
		b = place_block(t, first, r, &t->cores[(at + r) % t->m.cores]);
		if (before)
			before->peer = b;
		else
			zero = b;
		before = b;
	}
	b->peer = zero;
	for (uint32_t r = 0; r < t->launch.cluster_blocks; r++, zero = zero->peer)
		for (uint32_t i = 0; i < zero->nwarps; i++)
			ws_warp_refresh(t, zero->warps[i]);
	return true;
}

/* Blocks go round the cores, one at a time. */
static void fill_cores(struct ws_timing *t)
{
	bool any = true;

	while (any && ws_step_more(t->x)) {
		any = false;
		for (uint32_t i = 0; i < t->m.cores && ws_step_more(t->x); i++)
			any |= begin_at(t, i);
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

/* Blocks that are over make room for others; of a cluster all at once. */
static void replace_blocks(struct ws_timing *t)
{
	struct ws_tblock *over = NULL;
	size_t n = 0;

	t->refill = false;
	for (size_t i = 0; i < t->nresident; i++) {
		struct ws_tblock *b = t->resident[i];

		if (!is_over(b)) {
			t->resident[n++] = b;
			continue;
		}
		remove_block(t, b);
		if (b->block == b->first)
			ws_step_end(t->x, b->first);
		b->next = over;          /* used again only when the others of its cluster have been looked at */
		over = b;
	}
	t->nresident = n;
	while (over) {
		struct ws_tblock *b = over;

		over = b->next;
		b->next = t->free_blocks;
		t->free_blocks = b;
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

static void set_time(struct ws_timing *t)
{
	ws_step_time(t->x, t->now, ws_timing_nanoseconds(t));
}

static void begin_launch(struct ws_timing *t, struct ws_exec *x)
{
	t->x = x;
	ws_step_launch(x, &t->launch);
	t->arena = ws_arena_new();
	t->code = ws_timing_code(t->arena, &t->m, x, t->launch.functions, &t->nregs);
	t->c = counters_of(t, t->launch.obs->name);
	t->c->launches++;
	t->started = t->now;
	t->free_blocks = NULL;
	for (uint32_t i = 0; i < t->m.cores; i++) {
		struct ws_core *c = &t->cores[i];

		for (uint32_t k = WS_IN_L1; k < WS_IN_COUNT; k++)        /* not coherent: nothing stays for the next kernel */
			ws_cache_flush(&c->cache[k]);
		t->wake[i] = WS_NEVER;
		for (uint32_t k = 0; k < t->m.schedulers; k++) {
			c->sched[k].since = t->now;
			c->sched[k].stalled = WS_STALL_EMPTY;
			c->sched[k].wake = WS_NEVER;
		}
	}
	if (t->unit && t->options.unit->launch_begin)
		t->options.unit->launch_begin(t->unit);
	set_time(t);
	fill_cores(t);
}

static void end_launch(struct ws_timing *t)
{
	uint64_t cycles = t->now - t->started;

	for (uint32_t i = 0; i < t->m.cores; i++)
		ws_core_settle(t, &t->cores[i]);
	t->c->cycles += cycles;
	t->c->slots += cycles * t->m.cores * t->m.schedulers;
	t->nresident = 0;
	ws_arena_free(t->arena);
	if (ws_step_failed(t->x)) {      /* whatever is under way belongs to a launch that is no more */
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

/* ---- time ---- */
static uint64_t next_time(const struct ws_timing *t)
{
	uint64_t best = ws_wheel_next(&t->wheel, t->now);

	for (uint32_t i = 0; i < t->m.cores; i++)
		best = t->wake[i] < best ? t->wake[i] : best;
	return best;
}

static void one_cycle(struct ws_timing *t)
{
	set_time(t);
	ws_wheel_run(&t->wheel, t->now, t);
	for (uint32_t i = 0; i < t->m.cores && !ws_step_failed(t->x); i++)
		if (t->wake[i] <= t->now) {
			uint64_t at;

			t->wake[i] = WS_NEVER;
			at = ws_core_cycle(t, &t->cores[i]);
			t->wake[i] = at < t->wake[i] ? at : t->wake[i];
		}
	if (t->refill && !ws_step_failed(t->x))
		replace_blocks(t);
}

static void look_again(struct ws_timing *t)
{
	for (size_t i = 0; i < t->nresident; i++)
		ws_block_refresh(t, t->resident[i]);
}

enum { CHECK = 1 << 17 };                /* cycles between looks at limits and at warps that wait for ever */

static void run(void *self, struct ws_exec *x)
{
	struct ws_timing *t = self;
	uint64_t check = t->now + CHECK, next;
	double began = t->told = seconds();

	begin_launch(t, x);
	while (t->nresident && !ws_step_failed(x)) {
		next = next_time(t);
		if (next == WS_NEVER) {
			if (ws_step_nobody(x))
				look_again(t);
			continue;
		}
		if (next > t->now)
			t->now = next;
		one_cycle(t);
		if (t->now < check)
			continue;
		check = t->now + CHECK;
		ws_step_check(x);
		if (t->options.progress)
			tell(t);
	}
	clear_line(t, began);
	t->now++;
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

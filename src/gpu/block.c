/* block.c - slots for resident thread blocks: registers, shared and local memory of all warps, used by one block after
 * the other. Constants are filled when a slot is made; a new block refreshes only those that depend on it. */
#include "gpu/gpu_priv.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static bool new_local(struct ws_exec *x, struct ws_block *b)
{
	b->local_size = (size_t)b->nwarps * WS_WARP * x->launch->stack_stride;
	b->local = mmap(NULL, b->local_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
	                0);
	if (b->local != MAP_FAILED)
		return true;
	b->local = NULL;
	ws_error_set(&x->err, WS_GPU_NO_MEMORY, "no memory for the stacks of a thread block (%zu bytes)",
	             b->local_size);
	x->failed = true;
	return false;
}

static void new_warp(struct ws_exec *x, struct ws_block *b, uint32_t i, uint8_t *regs)
{
	struct ws_warp *w = &b->warps[i];
	const struct ws_code *code = x->image->codes[0];
	uint32_t left = x->launch->obs.threads - i * WS_WARP;

	w->block = b;
	w->obs.block = &b->obs;
	w->obs.index = i;
	w->obs.lanes = left < WS_WARP ? left : WS_WARP;
	w->frame0.code = code;
	w->frame0.regs = regs;
	w->free_frames = ws_arena_alloc(x->arena, x->image->ncodes * sizeof(struct ws_frame *));
	if (b->local)
		w->local = b->local + (size_t)i * WS_WARP * x->launch->stack_stride;
	ws_fill_consts(x, w, &w->frame0, true);
	ws_fill_locals(&w->frame0, UINT32_MAX);
}

static struct ws_block *new_slot(struct ws_exec *x)
{
	const struct ws_launch *la = x->launch;
	struct ws_block *b = ws_alloc(sizeof *b), *before = x->block;
	size_t frame = x->image->codes[0]->frame_bytes;

	b->nwarps = la->obs.warps;
	b->x = x;
	b->obs.launch = (struct ws_obs_launch *)(uintptr_t)&la->obs;
	b->obs.host_thread = x->index;
	b->warps = ws_alloc(b->nwarps * sizeof *b->warps);
	b->regs = aligned_alloc(64, (b->nwarps * frame + 127) & ~(size_t)63);
	b->shared = aligned_alloc(64, ((size_t)x->shared_bytes + 127) & ~(size_t)63);
	if (!b->regs || !b->shared || (x->image->uses_local && !new_local(x, b))) {
		if (!x->failed)
			ws_error_set(&x->err, WS_GPU_NO_MEMORY, "no memory for a thread block's registers");
		x->failed = true;
		free(b->regs);
		free(b->shared);
		free(b->warps);
		free(b);
		return NULL;
	}
	memset(b->regs, 0, b->nwarps * frame);
	b->obs.shared = b->shared;
	b->own.n = 1;
	b->own.block[0] = b;
	b->cluster = &b->own;
	x->block = b;
	for (uint32_t i = 0; i < b->nwarps; i++)
		new_warp(x, b, i, b->regs + i * frame);
	x->block = before;
	return b;
}

static void start_warp(struct ws_exec *x, struct ws_warp *w)
{
	const struct ws_code *code = x->image->codes[0];

	w->live = w->obs.lanes == WS_WARP ? UINT32_MAX : (1u << w->obs.lanes) - 1;
	w->obs.exited = 0;
	w->obs.state = NULL;
	w->nfrags = 1;
	w->frag[0] = (struct ws_frag){.pc = code->insts, .frame = &w->frame0, .mask = w->live};
	w->frame0.refs = 1;
	for (int l = 0; l < WS_WARP; l++)
		w->sp[l] = code->local_bytes;
	w->runnable = true;
	w->parked = false;
	w->cluster_arrived = w->cluster_passed = 0;
	memset(&w->wgmma, 0, sizeof w->wgmma);
	memset(w->held, 0, sizeof w->held);
	memset(w->trying, 0, sizeof w->trying);
	w->idle = w->busy = 0;
	w->repeats = false;
	w->seen_progress = w->progress;
	w->seen_polls = w->polls;
	w->poll.in = NULL;
	ws_fill_consts(x, w, &w->frame0, false);
	if (x->ops && x->ops->warp_begin)
		x->ops->warp_begin(x->self, &w->obs);
}

static void start_block(struct ws_exec *x, struct ws_block *b, uint64_t linear)
{
	const uint32_t *n = x->launch->obs.grid;

	b->obs.linear = linear;
	b->obs.ctaid[0] = (uint32_t)(linear % n[0]);
	b->obs.ctaid[1] = (uint32_t)(linear / n[0] % n[1]);
	b->obs.ctaid[2] = (uint32_t)(linear / n[0] / n[1]);
	b->obs.state = NULL;
	b->obs.notes = NULL;
	b->live_warps = b->nwarps;
	b->serial = ++x->serial;
	memset(b->shared, 0, x->shared_bytes);
	memset(b->bar, 0, sizeof b->bar);
	ws_copy_start_block(b);
	x->block = b;
	if (x->ops && x->ops->block_begin)
		x->ops->block_begin(x->self, &b->obs);
	for (uint32_t i = 0; i < b->nwarps; i++)
		start_warp(x, &b->warps[i]);
}

/* All blocks of a cluster begin before any of their threads runs. */
static struct ws_block *start_cluster(struct ws_exec *x, uint64_t number)
{
	const struct ws_launch *la = x->launch;
	const uint32_t *n = la->cluster, *grid = la->obs.grid;
	uint64_t clusters[2] = {grid[0] / n[0], grid[1] / n[1]};
	uint64_t at[3] = {number % clusters[0] * n[0], number / clusters[0] % clusters[1] * n[1],
	                  number / clusters[0] / clusters[1] * n[2]};
	struct ws_cluster *c = &x->idle[x->nidle - 1]->own;

	*c = (struct ws_cluster){.n = la->cluster_blocks, .number = number};
	for (uint32_t r = 0; r < c->n; r++) {
		struct ws_block *b = c->block[r] = x->idle[--x->nidle];

		b->cluster = c;
		b->cluster_rank = r;
	}
	for (uint32_t r = 0; r < c->n; r++)
		start_block(x, c->block[r], at[0] + r % n[0] + grid[0] * (at[1] + r / n[0] % n[1] +
		                                                         grid[1] * (at[2] + r / n[0] / n[1])));
	return c->block[0];
}

/* Host threads take clusters in groups of neighbours, smaller ones towards the end, so that they neither meet at one
 * counter all the time nor in one cache line of the results. Who waits for a lower number waits for one that is
 * running or that its own host thread begins next, as with single blocks. false: none is left. */
static bool take_units(struct ws_exec *x)
{
	enum { GROUP = 32, SHARE = 8 };
	struct ws_launch *la = x->launch;
	uint64_t at = __atomic_load_n(&la->next_block, __ATOMIC_RELAXED), n;

	do {
		if (at >= la->units)
			return false;
		n = (la->units - at) / (SHARE * la->nexec);
		n = n < 1 || x->clocked ? 1 : n > GROUP ? GROUP : n;
	} while (!__atomic_compare_exchange_n(&la->next_block, &at, at + n, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	x->next_unit = at;
	x->end_unit = at + n;
	return true;
}

bool ws_block_take(struct ws_exec *x, uint64_t *number)
{
	if (x->next_unit == x->end_unit && !take_units(x))
		return false;
	*number = x->next_unit++;
	return true;
}

struct ws_block *ws_block_start(struct ws_exec *x, uint64_t number)
{
	const struct ws_launch *la = x->launch;
	struct ws_block *b;

	while (x->nidle < la->cluster_blocks) {
		b = new_slot(x);
		if (!b)
			return NULL;
		*WS_PUSH(x->idle, x->nidle, x->cap_idle) = b;
	}
	if (la->cluster_blocks > 1)
		return start_cluster(x, number);
	b = x->idle[--x->nidle];
	b->own.number = number;
	b->own.begun = false;
	start_block(x, b, number);
	return b;
}

struct ws_block *ws_block_next(struct ws_exec *x)
{
	uint64_t number;

	return ws_block_take(x, &number) ? ws_block_start(x, number) : NULL;
}

static void finish_one(struct ws_exec *x, struct ws_block *b)
{
	if (x->ops && x->ops->warp_end)
		for (uint32_t i = 0; i < b->nwarps; i++)
			x->ops->warp_end(x->self, &b->warps[i].obs);
	if (x->ops && x->ops->block_end)
		x->ops->block_end(x->self, &b->obs);
	*WS_PUSH(x->idle, x->nidle, x->cap_idle) = b;
}

void ws_block_finish(struct ws_exec *x, struct ws_block *b)
{
	const struct ws_cluster *c = b->cluster;

	ws_copy_finish(x, c);
	for (uint32_t r = c->n; r-- > 0;) {
		x->block = c->block[r];
		finish_one(x, c->block[r]);
	}
}

static void free_slot(struct ws_block *b)
{
	ws_copy_free_block(b);
	if (b->local)
		munmap(b->local, b->local_size);
	free(b->regs);
	free(b->shared);
	free(b->warps);
	free(b);
}

void ws_blocks_free(struct ws_exec *x)
{
	ws_copy_drop(x);
	/* the kernel ended before these: their observers' state goes all the same */
	for (size_t i = 0; i < x->nresident; i++)
		ws_block_finish(x, x->resident[i]);
	for (size_t i = 0; i < x->nidle; i++)
		free_slot(x->idle[i]);
	free(x->idle);
	free(x->resident);
}

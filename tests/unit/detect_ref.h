/* detect_ref.h - for tests of detectors: events told to "shadow" and to the slow reference "exact", which must find the
 * same bytes to race. */
#ifndef DETECT_REF_H
#define DETECT_REF_H

#include "detect/shadow_priv.h"

#include <stdarg.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_BLOCKS = 4, MAX_WARPS = 3, MEM = 512 };
enum { SHADOW, EXACT, SIDES };

struct sim;
struct side { struct sim *m; const char *name; const struct ws_detector *d; void *self; struct ws_report *report; int bit; };

struct sim {
	struct side side[SIDES];
	const struct ws_detector *d;         /* shadow's */
	struct ws_shadow *self;
	struct ws_obs_launch launch;
	struct ws_obs_block block[MAX_BLOCKS];
	struct ws_obs_warp warp[MAX_BLOCKS][MAX_WARPS];
	uint8_t shared[MAX_BLOCKS][MEM], global[MEM];
	struct ws_mem mem;
	struct ws_site site[512];
	bool its, clusters;
	uint32_t lanes, blocks, warps;
	uint8_t raced[1 + MAX_BLOCKS][MEM + 2];      /* a bit each side; last two: visits too early, too late */
	bool trace, stop;                    /* stop: shadow alone goes on */
	/* asynchronous operations started so far: by warp and kind; at the object of each block */
	uint64_t issued[MAX_BLOCKS][MAX_WARPS][WS_ASYNC_MBARRIER], last[MAX_BLOCKS][MAX_WARPS][WS_ASYNC_MBARRIER][WS_WARP];
	uint64_t tracked[MAX_BLOCKS];
	uint32_t phase[MAX_BLOCKS];
};

static inline void sim_raced(void *user, const struct ws_raced_bytes *r)
{
	struct side *s = user;
	struct sim *m = s->m;
	uint64_t from = r->addr - (r->global ? m->mem.addr : 0) + (r->lifetime ? MEM : 0);

	if (m->trace)
		printf("  -> %s: %s of block %llu +%llu, %u bytes\n", s->name, r->global ? "global" : "shared",
		       (unsigned long long)r->block, (unsigned long long)from, r->bytes);
	for (uint64_t i = from; i < from + r->bytes && i < MEM + 2; i++)
		m->raced[r->global ? 0 : r->block + 1][i] |= 1u << s->bit;
}

/* Tells both sides. */
#define TELL(m, callback, ...) \
	for (int side_ = 0; side_ < ((m)->stop ? EXACT : SIDES); side_++) \
		if ((m)->side[side_].d->ops->callback) \
			(m)->side[side_].d->ops->callback((m)->side[side_].self, __VA_ARGS__)

static inline struct sim *sim_make(bool its, uint32_t blocks, uint32_t warps, uint32_t lanes, bool simple,
                                   uint32_t granularity, bool clusters)
{
	static const char *const names[SIDES] = {"shadow", "exact"};
	struct sim *m = ws_alloc(sizeof *m);

	for (int i = 0; i < SIDES; i++) {
		struct ws_detect_config config = {.granularity = granularity, .shared = true, .global = true, .raced = sim_raced,
		                                  .raced_user = &m->side[i]};

		m->side[i] = (struct side){.m = m, .name = names[i], .bit = i, .d = ws_detector_find(names[i]),
		                           .report = ws_report_new()};
		m->side[i].self = m->side[i].d->create(&config, m->side[i].report);
	}
	m->d = m->side[SHADOW].d;
	m->self = m->side[SHADOW].self;
	m->its = its;
	m->clusters = clusters;
	m->lanes = lanes, m->blocks = blocks, m->warps = warps;
	m->launch = (struct ws_obs_launch){.name = "k", .serial = 1, .grid = {blocks, 1, 1}, .block = {warps * WS_WARP, 1, 1},
	                                   .blocks = blocks, .threads = warps * WS_WARP, .warps = warps, .host_threads = 1,
	                                   .shared_bytes = MEM, .its = its, .cluster = {clusters ? 2 : 1, 1, 1}};
	m->mem = (struct ws_mem){.addr = 0x7f0000000000 + 64, .size = MEM, .host = m->global, .serial = 1};
	TELL(m, launch_begin, &m->launch);
	m->self->launch.simple = simple;
	for (uint32_t b = 0; b < blocks; b++) {
		m->block[b] = (struct ws_obs_block){.launch = &m->launch, .linear = b, .ctaid = {b, 0, 0}, .shared = m->shared[b]};
		TELL(m, block_begin, &m->block[b]);
		for (uint32_t w = 0; w < warps; w++) {
			m->warp[b][w] = (struct ws_obs_warp){.block = &m->block[b], .index = w, .lanes = lanes};
			TELL(m, warp_begin, &m->warp[b][w]);
		}
	}
	return m;
}

static inline struct sim *sim_new(bool its, uint32_t blocks, uint32_t warps, uint32_t lanes, bool simple, uint32_t granularity)
{
	return sim_make(its, blocks, warps, lanes, simple, granularity, false);
}

static inline void sim_free(struct sim *m)
{
	for (uint32_t b = 0; b < m->blocks; b++) {
		for (uint32_t w = 0; w < m->warps; w++)
			TELL(m, warp_end, &m->warp[b][w]);
		TELL(m, block_end, &m->block[b]);
	}
	TELL(m, launch_end, &m->launch, true);
	TELL(m, mem_free, &m->mem);
	for (int i = 0; i < SIDES; i++) {
		m->side[i].d->destroy(m->side[i].self);
		ws_report_free(m->side[i].report);
	}
	free(m);
}

/* ---- events, told to both ---- */
struct ev {
	bool global;
	uint8_t kind, sem, scope;
	uint32_t mask, wrote, bytes, site;
	bool linear;
	uint64_t base;               /* linear; offset in the memory */
	uint64_t addr[WS_WARP];
	uint8_t value[WS_WARP * 32];
};

static inline void sim_access(struct sim *m, uint32_t block, uint32_t warp, struct ev *e)
{
	uint64_t origin = e->global ? m->mem.addr : 0, addr[WS_WARP] = {0};
	uint8_t *bytes = e->global ? m->global : m->shared[block], old[WS_WARP * 32];
	struct ws_access a = {.site = &m->site[e->site], .mask = e->mask, .wrote = e->wrote, .kind = e->kind,
	                      .space = e->global ? WS_SPACE_GLOBAL : WS_SPACE_SHARED, .sem = e->sem, .scope = e->scope,
	                      .bytes = e->bytes, .linear = e->linear, .base = origin + e->base, .addr = addr,
	                      .mem = e->global ? &m->mem : NULL, .value = e->value, .atom = WS_ATOM_ADD};

	m->site[e->site].id = e->site;
	for (int l = 0; l < WS_WARP; l++)
		addr[l] = origin + (e->linear ? e->base + (uint64_t)l * e->bytes : e->addr[l]);
	if (a.kind == WS_READ) {
		a.value = NULL;
	} else if (a.kind == WS_ATOMIC) {
		a.value = old;
		memset(old, 1, sizeof old);
	}
	if (m->trace)
		printf("  b%u w%u mask %x wrote %x kind %d sem %d scope %d %s +%llu x%u %s\n", block, warp, e->mask, e->wrote, e->kind, e->sem,
		       e->scope, e->global ? "global" : "shared", (unsigned long long)(e->linear ? e->base : e->addr[__builtin_ctz(e->mask)]),
		       e->bytes, e->linear ? "linear" : "scattered");
	TELL(m, access, &m->warp[block][warp], &a);
	for (int l = 0; a.kind == WS_WRITE && l < WS_WARP; l++)
		if (a.mask >> l & 1)
			memcpy(bytes + (addr[l] - origin), e->value + (size_t)l * e->bytes, e->bytes);
}

static inline void sim_full_barrier(struct sim *m, uint32_t block)
{
	uint32_t masks[MAX_WARPS];
	struct ws_barrier bar = {.full = true, .arrived = masks, .waited = masks};

	for (uint32_t w = 0; w < m->warps; w++)
		masks[w] = m->lanes == 32 ? ~0u : (1u << m->lanes) - 1;
	if (m->trace)
		printf("  b%u barrier\n", block);
	TELL(m, barrier, &m->block[block], &bar);
}

static inline void sim_arrive(struct sim *m, uint32_t block, uint32_t warp, uint32_t mask, uint32_t id)
{
	if (m->trace)
		printf("  b%u w%u arrive %x at %u\n", block, warp, mask, id);
	TELL(m, barrier_arrive, &m->warp[block][warp], mask, id);
}

/* waited: a mask a warp. Earlier sim_arrive of that id count as arrived. */
static inline void sim_part_barrier(struct sim *m, uint32_t block, uint32_t id, const uint32_t *waited)
{
	struct ws_barrier bar = {.id = id, .arrived = waited, .waited = waited};

	if (m->trace)
		printf("  b%u barrier %u waited %x %x\n", block, id, waited[0], waited[1]);
	TELL(m, barrier, &m->block[block], &bar);
}

static inline void sim_warp_sync(struct sim *m, uint32_t block, uint32_t warp, uint32_t mask)
{
	if (m->trace)
		printf("  b%u w%u warp sync %x\n", block, warp, mask);
	TELL(m, warp_sync, &m->warp[block][warp], mask);
}

static inline void sim_proxy_fence(struct sim *m, uint32_t block, uint32_t warp, uint32_t mask, enum ws_sem sem,
                                   enum ws_scope scope, const char *proxy)
{
	struct ws_fence f = {.sem = sem, .scope = scope, .proxy = proxy};

	if (m->trace)
		printf("  b%u w%u fence %x sem %d scope %d %s\n", block, warp, mask, sem, scope, proxy ? proxy : "");
	TELL(m, fence, &m->warp[block][warp], mask, &f);
}

static inline void sim_fence(struct sim *m, uint32_t block, uint32_t warp, uint32_t mask, enum ws_sem sem, enum ws_scope scope)
{
	sim_proxy_fence(m, block, warp, mask, sem, scope, NULL);
}

/* ---- asynchronous operations: each lane of mask 16 bytes; issuer < WS_WARP: a piece of that lane's operation ---- */
enum { SIM_MBAR = MEM - 8, SIM_ASYNC_SITES = 400 };

static inline void sim_async(struct sim *m, uint32_t block, uint32_t warp, uint32_t mask, uint8_t issuer, enum ws_async kind,
                             bool write, bool global, uint32_t peer, const uint64_t *offset, bool newly)
{
	uint64_t addr[WS_WARP], *n = kind == WS_ASYNC_MBARRIER ? &m->tracked[peer] : &m->issued[block][warp][kind];
	struct ws_access a = {.site = &m->site[SIM_ASYNC_SITES + 2 * kind + write], .mask = mask, .kind = write ? WS_WRITE : WS_READ,
	                      .wrote = write ? mask : 0, .space = global ? WS_SPACE_GLOBAL : WS_SPACE_SHARED, .sem = WS_SEM_WEAK,
	                      .bytes = 16, .addr = addr, .mem = global ? &m->mem : NULL, .async = kind, .issuer = issuer};
	uint32_t doers = issuer < WS_WARP ? 1u << issuer : mask;

	m->site[SIM_ASYNC_SITES + 2 * kind + write].id = SIM_ASYNC_SITES + 2 * kind + write;
	*n += newly;
	a.op = *n;
	for (int l = 0; l < WS_WARP; l++) {
		addr[l] = offset[l] + (global ? m->mem.addr : 0);
		if (kind != WS_ASYNC_MBARRIER && doers >> l & 1)
			m->last[block][warp][kind][l] = *n;
	}
	if (kind == WS_ASYNC_MBARRIER) {
		a.mbar_block = &m->block[peer];
		a.mbar = SIM_MBAR;
	}
	if (!global && peer != block)
		a.peer = &m->block[peer];
	if (m->trace)
		printf("  b%u w%u mask %x issuer %u async kind %d op %llu %s %s of b%u +%llu\n", block, warp, mask, issuer, kind,
		       (unsigned long long)a.op, write ? "write" : "read", global ? "global" : "shared", peer,
		       (unsigned long long)offset[__builtin_ctz(mask)]);
	TELL(m, access, &m->warp[block][warp], &a);
}

static inline void sim_async_wait(struct sim *m, uint32_t block, uint32_t warp, uint32_t mask, enum ws_async kind,
                                  const uint64_t *done, bool reads_only)
{
	if (m->trace)
		printf("  b%u w%u wait %x kind %d up to %llu%s\n", block, warp, mask, kind,
		       (unsigned long long)done[__builtin_ctz(mask)], reads_only ? " reads" : "");
	TELL(m, async_wait, &m->warp[block][warp], mask, kind, done, reads_only);
}

/* The object at SIM_MBAR of block `owner`. */
static inline void sim_mbar(struct sim *m, uint32_t block, uint32_t warp, uint32_t mask, uint32_t owner, enum ws_mbar_op kind,
                            bool relaxed)
{
	uint64_t op[WS_WARP] = {m->tracked[owner]};
	struct ws_mbar e = {.kind = kind, .mask = mask, .block = &m->block[owner], .offset = SIM_MBAR, .op = op,
	                    .scope = WS_SCOPE_CTA, .phase = m->phase[owner]};

	e.sem = relaxed ? WS_SEM_RELAXED : kind == WS_MBAR_WAIT ? WS_SEM_ACQUIRE : WS_SEM_RELEASE;
	if (kind == WS_MBAR_ARRIVE_CP)
		memcpy(op, m->last[block][warp][WS_ASYNC_CP], sizeof op);
	m->phase[owner] += kind == WS_MBAR_PHASE;
	if (m->trace)
		printf("  b%u w%u mbarrier of b%u kind %d mask %x op %llu%s\n", block, warp, owner, kind, mask, (unsigned long long)op[0],
		       relaxed ? " relaxed" : "");
	TELL(m, mbarrier, kind == WS_MBAR_PHASE ? NULL : &m->warp[block][warp], &e);
}

static inline void sim_cluster(struct sim *m, uint32_t block, uint32_t warp, uint32_t mask, enum ws_cluster_op kind, bool relaxed)
{
	struct ws_cluster_barrier c = {.kind = kind, .mask = mask, .cluster = block / 2};

	c.sem = relaxed ? WS_SEM_RELAXED : kind == WS_CLUSTER_ARRIVE ? WS_SEM_RELEASE : WS_SEM_ACQUIRE;
	if (m->trace)
		printf("  b%u w%u cluster barrier kind %d mask %x%s\n", block, warp, kind, mask, relaxed ? " relaxed" : "");
	TELL(m, cluster_barrier, &m->warp[block][warp], &c);
}

/* 0: both agree on every byte; else a count, with a line each when tracing. */
static inline uint32_t sim_differences(struct sim *m, uint32_t *raced)
{
	uint32_t n = 0;

	for (uint32_t b = 0; b <= m->blocks; b++)
		for (uint32_t i = 0; i < MEM + 2; i++) {
			uint8_t r = m->raced[b][i];

			*raced += r >> EXACT & 1;
			n += r == 1 || r == 2;
			if (m->trace && (r == 1 || r == 2))
				printf("  %s %u byte %u: %s\n", b ? "shared of" : "global", b ? b - 1 : 0, i,
				       r == 2 ? "missed" : "false report");
		}
	return n;
}

#endif

/* test_detect_async.c - what the detectors "shadow" and "exact" make of asynchronous operations, mbarrier objects, the async proxy and
 * clusters, told to it as events. */
#include "detect/shadow_priv.h"

#include <stdarg.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCKS = 2, WARPS = 2, MEM = 1024, DATA = 0, MBAR = 512 };
enum { S_READ, S_WRITE, S_ATOMIC, S_CP_READ, S_CP_WRITE, S_BULK_READ, S_BULK_WRITE, S_MBAR_WRITE, S_WGMMA, SITES };

struct world {
	const struct ws_observer_ops *ops;
	void *self;
	struct ws_report *report;
	struct ws_obs_launch launch;
	struct ws_obs_block block[BLOCKS];
	struct ws_obs_warp warp[BLOCKS][WARPS];
	uint8_t shared[BLOCKS][MEM], global[MEM];
	struct ws_mem mem;
	struct ws_site site[SITES];
	uint32_t races;
	bool ended[BLOCKS];
};

static const char *detector = "shadow";

static void count_race(void *user, const struct ws_raced_bytes *r)
{
	((struct world *)user)->races += !r->lifetime;
}

/* A kernel that uses the async proxy or not: for one that does not, shared lines are emptied at barriers. */
static bool proxies;

static struct world *world_new(bool its, bool cluster)
{
	struct world *m = ws_alloc(sizeof *m);
	struct ws_detect_config config = {.granularity = 1, .shared = true, .global = true, .raced = count_race, .raced_user = m};
	const struct ws_detector *d = ws_detector_find(detector);

	m->ops = d->ops;
	m->report = ws_report_new();
	m->self = d->create(&config, m->report);
	m->launch = (struct ws_obs_launch){.name = "k", .serial = 1, .grid = {BLOCKS, 1, 1}, .block = {WARPS * WS_WARP, 1, 1},
	                                   .cluster = {cluster ? BLOCKS : 1, 1, 1}, .blocks = BLOCKS, .threads = WARPS * WS_WARP,
	                                   .warps = WARPS, .host_threads = 1, .shared_bytes = MEM, .its = its};
	m->mem = (struct ws_mem){.addr = 0x7f0000000000, .size = MEM, .host = m->global, .serial = 1};
	m->ops->launch_begin(m->self, &m->launch);
	if (!strcmp(detector, "shadow"))
		((struct ws_shadow *)m->self)->launch.proxies = proxies;
	for (uint32_t i = 0; i < SITES; i++)
		m->site[i].id = i;
	for (uint32_t b = 0; b < BLOCKS; b++) {
		m->block[b] = (struct ws_obs_block){.launch = &m->launch, .linear = b, .ctaid = {b, 0, 0}, .shared = m->shared[b]};
		m->ops->block_begin(m->self, &m->block[b]);
		for (uint32_t w = 0; w < WARPS; w++) {
			m->warp[b][w] = (struct ws_obs_warp){.block = &m->block[b], .index = w, .lanes = WS_WARP};
			if (m->ops->warp_begin)
				m->ops->warp_begin(m->self, &m->warp[b][w]);
		}
	}
	return m;
}

static void block_end(struct world *m, uint32_t b)
{
	for (uint32_t w = 0; w < WARPS; w++)
		if (m->ops->warp_end)
			m->ops->warp_end(m->self, &m->warp[b][w]);
	m->ops->block_end(m->self, &m->block[b]);
	m->ended[b] = true;
}

static void world_free(struct world *m)
{
	for (uint32_t b = 0; b < BLOCKS; b++)
		if (!m->ended[b])
			block_end(m, b);
	m->ops->launch_end(m->self, &m->launch, true);
	m->ops->mem_free(m->self, &m->mem);
	ws_detector_find(detector)->destroy(m->self);
	ws_report_free(m->report);
	free(m);
}

/* How many races the step made known. */
#define RACES(m, step) ((m)->races = 0, step, (m)->races)

struct who { uint32_t block, warp, lane; };
static const struct who A = {0, 0, 0}, NEXT = {0, 0, 1}, B = {0, 1, 0}, FAR = {1, 0, 0};

static void send(struct world *m, struct who t, struct ws_access *a, bool global, uint32_t at)
{
	uint64_t addr[WS_WARP] = {0};
	uint8_t value[WS_WARP * 16];

	for (int l = 0; l < WS_WARP; l++)
		addr[l] = (global ? m->mem.addr : 0) + at;
	memset(value, t.lane + 1, sizeof value);     /* as if each lane wrote something of its own */
	a->mask = a->wrote = 1u << t.lane;
	a->space = global ? WS_SPACE_GLOBAL : WS_SPACE_SHARED;
	a->addr = addr;
	a->mem = global ? &m->mem : NULL;
	a->value = a->async ? NULL : value;
	m->ops->access(m->self, &m->warp[t.block][t.warp], a);
}

static void plain(struct world *m, struct who t, enum ws_access_kind kind, bool global, uint32_t at)
{
	struct ws_access a = {.site = &m->site[kind], .kind = kind, .sem = WS_SEM_WEAK, .bytes = 4};

	if (kind == WS_ATOMIC) {
		a.sem = WS_SEM_RELAXED;
		a.scope = WS_SCOPE_GPU;
		a.atom = WS_ATOM_INC;
	}
	send(m, t, &a, global, at);
}

/* 16 bytes from global `from` to shared `to`, by the lane's groups. */
static void cp(struct world *m, struct who t, uint32_t from, uint32_t to, uint64_t op)
{
	struct ws_access r = {.site = &m->site[S_CP_READ], .kind = WS_READ, .sem = WS_SEM_WEAK, .bytes = 16, .async = WS_ASYNC_CP,
	                      .issuer = WS_WARP, .op = op};
	struct ws_access w = r;

	w.kind = WS_WRITE;
	w.site = &m->site[S_CP_WRITE];
	send(m, t, &r, true, from);
	send(m, t, &w, false, to);
}

static void bulk(struct world *m, struct who t, enum ws_access_kind kind, bool global, uint32_t at, uint64_t op)
{
	struct ws_access a = {.site = &m->site[kind == WS_READ ? S_BULK_READ : S_BULK_WRITE], .kind = kind, .sem = WS_SEM_WEAK,
	                      .bytes = 16, .async = WS_ASYNC_BULK, .issuer = t.lane, .op = op};

	send(m, t, &a, global, at);
}

/* A bulk write of shared memory of block `to`, completed at the object there. */
static void tma(struct world *m, struct who t, uint32_t to, uint32_t at, uint64_t op)
{
	struct ws_access a = {.site = &m->site[S_MBAR_WRITE], .kind = WS_WRITE, .sem = WS_SEM_WEAK, .bytes = 16,
	                      .async = WS_ASYNC_MBARRIER, .issuer = t.lane, .op = op, .mbar_block = &m->block[to], .mbar = MBAR,
	                      .peer = to == t.block ? NULL : &m->block[to]};

	send(m, t, &a, false, at);
}

static void done(struct world *m, struct who t, enum ws_async kind, uint64_t op, bool reads_only)
{
	uint64_t all[WS_WARP];

	for (int l = 0; l < WS_WARP; l++)
		all[l] = op;
	m->ops->async_wait(m->self, &m->warp[t.block][t.warp], 1u << t.lane, kind, all, reads_only);
}

static void barrier(struct world *m, uint32_t block)
{
	uint32_t masks[WARPS] = {~0u, ~0u};
	struct ws_barrier bar = {.full = true, .arrived = masks, .waited = masks};

	m->ops->barrier(m->self, &m->block[block], &bar);
}

static void fence(struct world *m, struct who t, const char *proxy)
{
	struct ws_fence f = {.sem = WS_SEM_ACQ_REL, .scope = WS_SCOPE_GPU, .proxy = proxy};

	m->ops->fence(m->self, &m->warp[t.block][t.warp], 1u << t.lane, &f);
}

static void mbar_as(struct world *m, struct who t, uint32_t owner, enum ws_mbar_op kind, uint64_t op, enum ws_sem sem)
{
	uint64_t all[WS_WARP];
	struct ws_mbar e = {.kind = kind, .mask = 1u << t.lane, .block = &m->block[owner], .offset = MBAR, .op = all,
	                    .sem = sem, .scope = WS_SCOPE_CTA};

	for (int l = 0; l < WS_WARP; l++)
		all[l] = op;
	m->ops->mbarrier(m->self, kind == WS_MBAR_PHASE ? NULL : &m->warp[t.block][t.warp], &e);
}

static void mbar(struct world *m, struct who t, uint32_t owner, enum ws_mbar_op kind, uint64_t op)
{
	mbar_as(m, t, owner, kind, op, kind == WS_MBAR_WAIT ? WS_SEM_ACQUIRE : WS_SEM_RELEASE);
}

static void cluster(struct world *m, struct who t, enum ws_cluster_op kind)
{
	struct ws_cluster_barrier c = {.kind = kind, .mask = 1u << t.lane,
	                               .sem = kind == WS_CLUSTER_ARRIVE ? WS_SEM_RELEASE : WS_SEM_ACQUIRE};

	m->ops->cluster_barrier(m->self, &m->warp[t.block][t.warp], &c);
}

/* ---- cp.async ---- */
static void copy_before_wait(void **state)
{
	struct world *m = world_new(true, false);

	cp(m, A, 0, DATA, 1);
	assert_true(RACES(m, plain(m, A, WS_READ, false, DATA + 4)));        /* its own lane has not waited */
	assert_false(RACES(m, plain(m, A, WS_READ, false, DATA + 16)));      /* beyond the copy */
	world_free(m);
}

static void copy_after_wait(void **state)
{
	struct world *m = world_new(true, false);

	cp(m, A, 0, DATA, 1);
	done(m, A, WS_ASYNC_CP, 1, false);
	assert_false(RACES(m, plain(m, A, WS_READ, false, DATA)));
	assert_true(RACES(m, plain(m, NEXT, WS_READ, false, DATA + 4)));     /* only the lane itself knows */
	assert_true(RACES(m, plain(m, B, WS_READ, false, DATA + 8)));
	barrier(m, 0);
	assert_false(RACES(m, plain(m, B, WS_READ, false, DATA + 12)));
	world_free(m);
}

static void copy_across_barrier(void **state)
{
	struct world *m = world_new(true, false);

	cp(m, A, 0, DATA, 1);
	barrier(m, 0);                                                       /* nobody has waited */
	barrier(m, 0);
	assert_true(RACES(m, plain(m, B, WS_READ, false, DATA)));
	assert_true(RACES(m, plain(m, A, WS_READ, false, DATA + 4)));
	done(m, A, WS_ASYNC_CP, 1, false);
	assert_false(RACES(m, plain(m, A, WS_READ, false, DATA + 8)));
	assert_true(RACES(m, plain(m, B, WS_READ, false, DATA + 8)));
	world_free(m);
}

static void copy_source(void **state)
{
	struct world *m = world_new(true, false);

	cp(m, A, 0, DATA, 1);
	assert_false(RACES(m, plain(m, A, WS_READ, true, 0)));               /* two reads */
	assert_true(RACES(m, plain(m, A, WS_WRITE, true, 0)));               /* may still be read */
	done(m, A, WS_ASYNC_CP, 1, false);
	assert_false(RACES(m, plain(m, A, WS_WRITE, true, 4)));
	world_free(m);
}

static void copies_in_order(void **state)
{
	struct world *m = world_new(true, false);

	cp(m, A, 0, DATA, 1);
	cp(m, A, 16, DATA + 16, 2);
	done(m, A, WS_ASYNC_CP, 1, false);                                   /* wait_group 1 */
	assert_false(RACES(m, plain(m, A, WS_READ, false, DATA)));
	assert_true(RACES(m, plain(m, A, WS_READ, false, DATA + 16)));
	assert_true(RACES(m, cp(m, A, 32, DATA + 20, 3)));                   /* the second is still under way */
	assert_false(RACES(m, cp(m, A, 32, DATA, 4)));
	world_free(m);
}

static void copy_after_write(void **state)
{
	struct world *m = world_new(true, false);

	plain(m, A, WS_WRITE, false, DATA);
	assert_false(RACES(m, cp(m, A, 0, DATA, 1)));
	plain(m, B, WS_READ, false, DATA + 32);
	assert_true(RACES(m, cp(m, A, 0, DATA + 32, 2)));
	world_free(m);
}

static void copy_published(void **state)
{
	struct world *m = world_new(true, false);

	cp(m, A, 0, DATA, 1);
	fence(m, A, NULL);
	plain(m, A, WS_ATOMIC, true, 64);                                    /* too early: the copy is not done */
	plain(m, B, WS_ATOMIC, true, 64);
	fence(m, B, NULL);
	assert_true(RACES(m, plain(m, B, WS_READ, false, DATA)));
	done(m, A, WS_ASYNC_CP, 1, false);
	fence(m, A, NULL);
	plain(m, A, WS_ATOMIC, true, 64);
	plain(m, B, WS_ATOMIC, true, 64);
	fence(m, B, NULL);
	assert_false(RACES(m, plain(m, B, WS_READ, false, DATA + 4)));
	world_free(m);
}

/* The lanes of a warp are one thread there; the copy still is not. */
static void copy_under_stack(void **state)
{
	struct world *m = world_new(false, false);

	cp(m, A, 0, DATA, 1);
	assert_true(RACES(m, plain(m, A, WS_READ, false, DATA)));
	done(m, A, WS_ASYNC_CP, 1, false);
	assert_false(RACES(m, plain(m, NEXT, WS_READ, false, DATA + 4)));
	assert_true(RACES(m, plain(m, B, WS_READ, false, DATA + 8)));
	barrier(m, 0);
	assert_false(RACES(m, plain(m, B, WS_READ, false, DATA + 12)));
	world_free(m);
}

/* Whoever touches its line after the barrier meets it, by a read alone too; other lines stay empty. */
static void copy_set_aside(void **state)
{
	struct world *m = world_new(true, false);

	cp(m, A, 0, DATA, 1);
	cp(m, A, 16, DATA + 256, 2);
	barrier(m, 0);
	plain(m, B, WS_READ, false, DATA + 128);
	assert_true(RACES(m, plain(m, B, WS_READ, false, DATA)));
	done(m, A, WS_ASYNC_CP, 1, false);
	barrier(m, 0);
	assert_false(RACES(m, plain(m, B, WS_WRITE, false, DATA + 64)));
	assert_false(RACES(m, plain(m, B, WS_READ, false, DATA)));
	assert_true(RACES(m, plain(m, B, WS_WRITE, false, DATA + 256)));
	barrier(m, 0);
	assert_true(RACES(m, cp(m, B, 16, DATA + 264, 1)));
	world_free(m);
}

static void copies_too_many(void **state)
{
	struct world *m = world_new(true, false);

	for (uint64_t op = 1; op < PENDING_MAX + 100; op++)
		cp(m, A, 0, DATA, op);
	barrier(m, 0);
	assert_true(RACES(m, plain(m, B, WS_READ, false, DATA)));
	done(m, A, WS_ASYNC_CP, PENDING_MAX + 99, false);
	barrier(m, 0);
	assert_false(RACES(m, plain(m, B, WS_READ, false, DATA + 4)));
	world_free(m);
}

/* Numbers of operations beyond what a stamp holds. */
static void copies_without_end(void **state)
{
	static const uint64_t start[] = {1, WHO_TIME / 2 - 1, WHO_TIME / 2, WHO_TIME, 1ull << 32, (1ull << 40) + 5};

	for (size_t i = 0; i < WS_COUNT(start); i++) {
		struct world *m = world_new(true, false);

		for (size_t j = 0; j <= i; j++)
			cp(m, A, 0, DATA + 32 * (uint32_t)j, start[j]);
		done(m, A, WS_ASYNC_CP, start[i] - 1, false);
		for (size_t j = 0; j <= i; j++)
			assert_int_equal(RACES(m, plain(m, A, WS_READ, false, DATA + 32 * (uint32_t)j)) != 0, j == i);
		done(m, A, WS_ASYNC_CP, start[i], false);
		barrier(m, 0);
		for (size_t j = 0; j <= i; j++)
			assert_false(RACES(m, plain(m, B, WS_READ, false, DATA + 32 * (uint32_t)j + 8)));
		world_free(m);
	}
}

/* ---- bulk copies, proxies ---- */
static void bulk_reads_done(void **state)
{
	struct world *m = world_new(true, false);

	bulk(m, A, WS_READ, false, DATA, 1);
	bulk(m, A, WS_WRITE, true, 0, 1);
	done(m, A, WS_ASYNC_BULK, 1, true);
	assert_false(RACES(m, plain(m, A, WS_WRITE, false, DATA)));
	assert_true(RACES(m, plain(m, A, WS_READ, true, 0)));
	done(m, A, WS_ASYNC_BULK, 1, false);
	assert_false(RACES(m, plain(m, A, WS_READ, true, 4)));
	world_free(m);
}

static void proxy_fence(void **state)
{
	struct world *m = world_new(true, false);

	plain(m, B, WS_WRITE, false, DATA);
	plain(m, B, WS_WRITE, false, DATA + 32);
	fence(m, B, "async.shared::cta");
	plain(m, B, WS_WRITE, false, DATA + 64);
	barrier(m, 0);
	assert_false(RACES(m, bulk(m, A, WS_READ, false, DATA, 1)));
	assert_true(RACES(m, bulk(m, A, WS_READ, false, DATA + 64, 1)));     /* written after the fence */
	fence(m, A, "async");                                                /* by another thread: on the path all the same */
	assert_false(RACES(m, bulk(m, A, WS_READ, false, DATA + 64, 2)));
	plain(m, B, WS_READ, false, DATA + 128);
	barrier(m, 0);
	assert_false(RACES(m, bulk(m, A, WS_WRITE, false, DATA + 128, 3)));  /* a read needs none */
	world_free(m);
}

static void proxy_of_cp(void **state)
{
	struct world *m = world_new(true, false);

	cp(m, A, 0, DATA, 1);
	done(m, A, WS_ASYNC_CP, 1, false);
	assert_true(RACES(m, bulk(m, A, WS_READ, false, DATA, 1)));          /* cp.async writes through the generic proxy */
	fence(m, A, "async");
	assert_false(RACES(m, bulk(m, A, WS_READ, false, DATA, 2)));
	world_free(m);
}

/* ---- mbarrier ---- */
static void mbarrier_completes(void **state)
{
	struct world *m = world_new(true, false);

	mbar(m, A, 0, WS_MBAR_INIT, 0);
	barrier(m, 0);
	tma(m, A, 0, DATA, 1);
	tma(m, A, 0, DATA + 64, 2);
	mbar(m, A, 0, WS_MBAR_PHASE, 1);
	assert_true(RACES(m, plain(m, B, WS_READ, false, DATA + 4)));        /* has not waited */
	mbar(m, B, 0, WS_MBAR_WAIT, 0);
	assert_false(RACES(m, plain(m, B, WS_READ, false, DATA)));
	assert_true(RACES(m, plain(m, B, WS_READ, false, DATA + 64)));       /* of the next phase */
	mbar(m, A, 0, WS_MBAR_PHASE, 2);
	mbar(m, B, 0, WS_MBAR_WAIT, 0);
	assert_false(RACES(m, plain(m, B, WS_READ, false, DATA + 68)));
	world_free(m);
}

static void mbarrier_releases(void **state)
{
	struct world *m = world_new(true, false);

	mbar(m, A, 0, WS_MBAR_INIT, 0);
	barrier(m, 0);
	plain(m, B, WS_READ, false, DATA);
	mbar(m, B, 0, WS_MBAR_ARRIVE, 0);
	plain(m, B, WS_READ, false, DATA + 64);                              /* after its arrival */
	mbar(m, A, 0, WS_MBAR_WAIT, 0);                                      /* an older phase: nothing of this one */
	assert_true(RACES(m, tma(m, A, 0, DATA, 1)));
	mbar(m, A, 0, WS_MBAR_PHASE, 0);
	mbar(m, A, 0, WS_MBAR_WAIT, 0);
	plain(m, B, WS_READ, false, DATA + 32);
	assert_true(RACES(m, tma(m, A, 0, DATA + 64, 2)));
	world_free(m);
}

static void mbarrier_reuse(void **state)
{
	struct world *m = world_new(true, false);

	plain(m, B, WS_READ, false, DATA);
	mbar(m, B, 0, WS_MBAR_ARRIVE, 0);
	mbar(m, A, 0, WS_MBAR_PHASE, 0);
	mbar(m, A, 0, WS_MBAR_WAIT, 0);
	assert_false(RACES(m, tma(m, A, 0, DATA, 1)));                       /* the consumer had released the buffer */
	world_free(m);
}

/* A relaxed arrival releases what came before a fence, and nothing without one; so does a relaxed wait acquire. */
static void mbarrier_relaxed(void **state)
{
	for (int fenced = 0; fenced < 4; fenced++) {
		struct world *m = world_new(true, false);

		plain(m, A, WS_WRITE, true, 128);
		if (fenced & 1)
			fence(m, A, NULL);
		plain(m, A, WS_WRITE, true, 132);
		mbar_as(m, A, 0, WS_MBAR_ARRIVE, 0, WS_SEM_RELAXED);
		mbar(m, A, 0, WS_MBAR_PHASE, 0);
		mbar_as(m, B, 0, WS_MBAR_WAIT, 0, WS_SEM_RELAXED);
		if (fenced & 2)
			fence(m, B, NULL);
		assert_int_equal(!RACES(m, plain(m, B, WS_READ, true, 128)), fenced == 3);
		assert_true(RACES(m, plain(m, B, WS_READ, true, 132)));
		world_free(m);
	}
}

/* Who knows an operation complete knows what its thread had done before it. */
static void mbarrier_hands_on_beginnings(void **state)
{
	struct world *m = world_new(true, false);

	plain(m, A, WS_WRITE, true, 128);
	tma(m, A, 0, DATA, 1);
	plain(m, A, WS_WRITE, true, 132);
	tma(m, A, 0, DATA + 32, 2);
	mbar(m, A, 0, WS_MBAR_PHASE, 1);
	mbar(m, B, 0, WS_MBAR_WAIT, 0);
	assert_false(RACES(m, plain(m, B, WS_READ, true, 128)));
	assert_true(RACES(m, plain(m, B, WS_READ, true, 132)));
	world_free(m);
}

static void mbarrier_of_cp(void **state)
{
	struct world *m = world_new(true, false);

	plain(m, A, WS_WRITE, true, 128);
	cp(m, A, 0, DATA, 1);
	plain(m, A, WS_WRITE, true, 132);
	cp(m, A, 32, DATA + 64, 2);
	mbar(m, A, 0, WS_MBAR_ARRIVE_CP, 1);
	mbar(m, A, 0, WS_MBAR_PHASE, 0);
	mbar(m, B, 0, WS_MBAR_WAIT, 0);
	assert_false(RACES(m, plain(m, B, WS_READ, false, DATA)));
	assert_true(RACES(m, plain(m, B, WS_READ, false, DATA + 64)));
	assert_false(RACES(m, plain(m, B, WS_READ, true, 128)));             /* before the copy */
	world_free(m);
}

static void wgmma_operands(void **state)
{
	struct world *m = world_new(true, false);
	struct ws_access a = {.site = &m->site[S_WGMMA], .kind = WS_READ, .sem = WS_SEM_WEAK, .bytes = 16,
	                      .async = WS_ASYNC_WGMMA, .issuer = WS_WARP, .op = 1};

	plain(m, A, WS_WRITE, false, DATA);
	assert_true(RACES(m, send(m, A, &a, false, DATA)));
	fence(m, A, "async");
	a.op = 2;
	assert_false(RACES(m, send(m, A, &a, false, DATA + 16)));
	assert_true(RACES(m, plain(m, A, WS_WRITE, false, DATA + 16)));
	a.op = 3;                            /* a group is the warpgroup's: another warp of it waits */
	assert_false(RACES(m, send(m, A, &a, false, DATA + 32)));
	done(m, B, WS_ASYNC_WGMMA, 3, false);
	assert_false(RACES(m, plain(m, B, WS_WRITE, false, DATA + 32)));
	assert_true(RACES(m, plain(m, A, WS_WRITE, false, DATA + 36)));
	done(m, A, WS_ASYNC_WGMMA, 2, false);
	assert_false(RACES(m, plain(m, A, WS_WRITE, false, DATA + 20)));
	world_free(m);
}

/* ---- clusters ---- */
static void meet(struct world *m, bool all)
{
	for (uint32_t b = 0; b < BLOCKS; b++)
		for (uint32_t w = 0; w < WARPS; w++)
			for (uint32_t l = 0; l < WS_WARP; l++)
				cluster(m, (struct who){b, w, l}, WS_CLUSTER_ARRIVE);
	cluster(m, A, WS_CLUSTER_COMPLETE);
	for (uint32_t b = 0; b < BLOCKS; b++)
		for (uint32_t w = 0; w < WARPS && (all || !b); w++)
			for (uint32_t l = 0; l < WS_WARP; l++)
				cluster(m, (struct who){b, w, l}, WS_CLUSTER_WAIT);
}

static void visit(struct world *m, enum ws_access_kind kind, uint32_t at)
{
	struct ws_access a = {.site = &m->site[kind], .kind = kind, .sem = WS_SEM_WEAK, .bytes = 4, .peer = &m->block[0]};

	send(m, FAR, &a, false, at);
}

static size_t errors(const struct world *m)
{
	return ws_report_count(m->report, WS_ERROR);
}

static void cluster_barrier(void **state)
{
	struct world *m = world_new(true, true);

	meet(m, true);
	plain(m, B, WS_WRITE, false, DATA);
	assert_true(RACES(m, visit(m, WS_READ, DATA)));
	plain(m, B, WS_WRITE, false, DATA + 4);
	meet(m, true);
	assert_false(RACES(m, visit(m, WS_READ, DATA + 4)));
	assert_true(RACES(m, plain(m, A, WS_WRITE, false, DATA + 4)));
	assert_int_equal(errors(m), 2);
	meet(m, true);
	world_free(m);
}

static void cluster_late_entry(void **state)
{
	struct world *m = world_new(true, true);

	visit(m, WS_READ, DATA);                     /* block 0 may not have begun */
	assert_int_equal(errors(m), 1);
	meet(m, true);
	visit(m, WS_READ, DATA + 8);
	assert_int_equal(errors(m), 1);
	meet(m, true);
	world_free(m);
}

static void cluster_early_exit(void **state)
{
	for (int waits = 0; waits < 2; waits++) {
		struct world *m = world_new(true, true);

		meet(m, true);
		visit(m, WS_READ, DATA);
		if (waits)
			meet(m, true);
		block_end(m, 0);
		assert_int_equal(errors(m), !waits);
		world_free(m);
	}
}

static void cluster_copy(void **state)
{
	struct world *m = world_new(true, true);

	meet(m, true);
	tma(m, FAR, 0, DATA, 1);                     /* by block 1 into block 0, completed there */
	assert_true(RACES(m, plain(m, A, WS_READ, false, DATA)));
	mbar(m, A, 0, WS_MBAR_PHASE, 1);
	mbar(m, A, 0, WS_MBAR_WAIT, 0);
	assert_false(RACES(m, plain(m, A, WS_READ, false, DATA + 4)));
	block_end(m, 0);
	assert_int_equal(errors(m), 1);
	world_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(copy_before_wait), cmocka_unit_test(copy_after_wait),
		cmocka_unit_test(copy_across_barrier), cmocka_unit_test(copy_source),
		cmocka_unit_test(copies_in_order), cmocka_unit_test(copy_after_write),
		cmocka_unit_test(copy_published), cmocka_unit_test(copy_under_stack),
		cmocka_unit_test(copies_without_end), cmocka_unit_test(bulk_reads_done),
		cmocka_unit_test(proxy_fence), cmocka_unit_test(proxy_of_cp),
		cmocka_unit_test(mbarrier_completes), cmocka_unit_test(mbarrier_releases),
		cmocka_unit_test(mbarrier_reuse), cmocka_unit_test(mbarrier_relaxed),
		cmocka_unit_test(mbarrier_hands_on_beginnings), cmocka_unit_test(mbarrier_of_cp),
		cmocka_unit_test(wgmma_operands), cmocka_unit_test(cluster_barrier),
		cmocka_unit_test(cluster_late_entry), cmocka_unit_test(cluster_early_exit),
		cmocka_unit_test(cluster_copy),
	};

	const struct CMUnitTest without[] = {
		cmocka_unit_test(copy_before_wait), cmocka_unit_test(copy_after_wait), cmocka_unit_test(copy_across_barrier),
		cmocka_unit_test(copy_source), cmocka_unit_test(copies_in_order), cmocka_unit_test(copy_after_write),
		cmocka_unit_test(copy_published), cmocka_unit_test(copy_under_stack), cmocka_unit_test(copies_without_end),
		cmocka_unit_test(copy_set_aside), cmocka_unit_test(copies_too_many), cmocka_unit_test(mbarrier_of_cp),
	};
	int failed = cmocka_run_group_tests_name("shadow, generic proxy only", without, NULL, NULL);

	proxies = true;
	failed += cmocka_run_group_tests_name("shadow", tests, NULL, NULL);
	detector = "exact";
	return failed + cmocka_run_group_tests_name("exact", tests, NULL, NULL);
}

/* test_gpu_async.c - what an observer is told of asynchronous copies and mbarrier objects, and when copies take
 * effect. */
#include "gpu_test.h"
#include "gpu/tensormap.h"

enum { MAX_EVENTS = 256 };

struct event {
	enum { ACCESS, WAITED, MBAR, FENCE } what;
	struct ws_access a;                  /* its pointers are dead */
	struct ws_mbar m;
	uint32_t mask;
	enum ws_async kind;
	uint64_t first_addr, done[WS_WARP], op[WS_WARP];
	bool reads_only, has_value, has_target, no_warp;
	char proxy[40];
};

struct log { struct event e[MAX_EVENTS]; unsigned n; };

static struct event *add(struct log *l, int what)
{
	struct event *e = &l->e[l->n < MAX_EVENTS - 1 ? l->n++ : l->n];

	memset(e, 0, sizeof *e);
	e->what = what;
	return e;
}

static void on_access(void *self, struct ws_obs_warp *w, const struct ws_access *a)
{
	struct event *e = add(self, ACCESS);

	e->a = *a;
	e->mask = a->mask;
	e->first_addr = a->addr[__builtin_ctz(a->mask)];
	e->has_value = a->value;
	e->has_target = a->target;
}

static void on_wait(void *self, struct ws_obs_warp *w, uint32_t mask, enum ws_async kind, const uint64_t done[WS_WARP],
                    bool reads_only)
{
	struct event *e = add(self, WAITED);

	e->mask = mask;
	e->kind = kind;
	e->reads_only = reads_only;
	memcpy(e->done, done, sizeof e->done);
}

static void on_mbar(void *self, struct ws_obs_warp *w, const struct ws_mbar *m)
{
	struct event *e = add(self, MBAR);

	e->m = *m;
	e->mask = m->mask;
	e->no_warp = !w;
	if (m->op)
		memcpy(e->op, m->op, m->kind == WS_MBAR_PHASE ? sizeof *e->op : sizeof e->op);
}

static void on_fence(void *self, struct ws_obs_warp *w, uint32_t mask, const struct ws_fence *f)
{
	struct event *e = add(self, FENCE);

	e->mask = mask;
	snprintf(e->proxy, sizeof e->proxy, "%s", f->proxy ? f->proxy : "none");
}

static const struct ws_observer_ops ops = {
	.abi = WS_OBSERVER_ABI, .name = "log", .needs = WS_NEED_GLOBAL | WS_NEED_SHARED | WS_NEED_SYNC | WS_NEED_VALUES,
	.access = on_access, .async_wait = on_wait, .mbarrier = on_mbar, .fence = on_fence,
};

#define HEAD ".version 8.3\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 in)\n{\n" \
	" .reg .pred %p<4>; .reg .b32 %r<16>; .reg .b64 %rd<16>; .shared .align 128 .b8 s[2048];\n" \
	" .shared .align 8 .b64 bar; ld.param.u64 %rd1, [in]; mov.u32 %r0, %tid.x; mul.wide.u32 %rd2, %r0, 16;\n" \
	" add.u64 %rd3, %rd1, %rd2; mov.u32 %r1, s; mad.lo.u32 %r2, %r0, 16, %r1; mov.u32 %r3, bar;\n" \
	" setp.eq.u32 %p1, %r0, 0;\n"

static struct log seen;
static struct ws_tensormap *map_to_use;      /* put at byte 2048 of the buffer; its address is filled in */

static void put_map(struct ws_mem *m)
{
	if (!map_to_use)
		return;
	map_to_use->address = m->addr;
	map_to_use->check = ws_tensormap_check(map_to_use);
	memcpy(m->host + 2048, map_to_use, sizeof *map_to_use);
}

/* Runs the body on one warp; a GPU with random schedule when seed is not 0. Returns the first words of the buffer. */
static uint32_t *run(const char *body, bool observed, uint64_t seed)
{
	static uint32_t words[1024];
	struct ws_gpu_config c = {.host_threads = 1, .observer = observed ? &ops : NULL, .observer_self = &seen,
	                          .schedule = seed ? WS_SCHED_RANDOM : WS_SCHED_RR, .seed = seed};
	struct ws_buf text = {0};
	struct ws_mem *m;
	struct rig r;

	memset(&seen, 0, sizeof seen);
	ws_buf_printf(&text, "%s%s ret;\n}\n", HEAD, body);
	r = rig_new(c, text.data);
	m = rig_mem(&r, sizeof words);
	for (uint32_t i = 0; i < 1024; i++)
		((uint32_t *)m->host)[i] = i + 1;
	put_map(m);
	rig_run(&r, "k", 1, 32, &m->addr);
	memcpy(words, m->host, sizeof words);
	ws_buf_free(&text);
	rig_free(&r);
	return words;
}

/* The n-th event of that sort, from 0. */
static const struct event *nth(int what, unsigned n)
{
	for (unsigned i = 0; i < seen.n; i++)
		if ((int)seen.e[i].what == what && !n--)
			return &seen.e[i];
	fail_msg("too few events");
	return NULL;
}

static unsigned count(int what)
{
	unsigned n = 0;

	for (unsigned i = 0; i < seen.n; i++)
		n += (int)seen.e[i].what == what;
	return n;
}

static void copies_of_lanes(void **state)
{
	const struct event *e;

	run(" cp.async.cg.shared.global [%r2], [%rd3], 16; cp.async.commit_group;\n"
	    " @%p1 cp.async.ca.shared.global [%r2+512], [%rd3+512], 4; cp.async.commit_group;\n"
	    " cp.async.wait_group 1; cp.async.wait_all;\n", true, 0);
	assert_int_equal(count(ACCESS), 4);
	assert_int_equal(count(WAITED), 2);
	for (unsigned i = 0; i < 4; i++) {
		e = nth(ACCESS, i);
		assert_int_equal(e->a.kind, i & 1 ? WS_WRITE : WS_READ);
		assert_int_equal(e->a.space, i & 1 ? WS_SPACE_SHARED : WS_SPACE_GLOBAL);
		assert_int_equal(e->a.async, WS_ASYNC_CP);
		assert_int_equal(e->a.issuer, WS_WARP);
		assert_int_equal(e->a.op, i / 2 + 1);
		assert_int_equal(e->a.bytes, i < 2 ? 16 : 4);
		assert_int_equal(e->mask, i < 2 ? UINT32_MAX : 1);
		assert_false(e->has_value);
		assert_false(e->has_target);
	}
	e = nth(WAITED, 0);
	assert_int_equal(e->kind, WS_ASYNC_CP);
	assert_int_equal(e->done[0], 1);
	assert_int_equal(e->done[31], 1);
	assert_false(e->reads_only);
	e = nth(WAITED, 1);
	assert_int_equal(e->done[0], 2);
	assert_int_equal(e->done[31], 1);
}

static void source_sizes(void **state)
{
	/* lanes read 0 to 12 bytes: pieces of a power of two, lanes of one size together */
	run(" and.b32 %r4, %r0, 3; shl.b32 %r4, %r4, 2; cp.async.cg.shared.global [%r2], [%rd3], 16, %r4;\n"
	    " cp.async.wait_all;\n", true, 0);
	assert_int_equal(count(ACCESS), 5);
	assert_int_equal(nth(ACCESS, 0)->mask, 0x22222222);
	assert_int_equal(nth(ACCESS, 0)->a.bytes, 4);
	assert_int_equal(nth(ACCESS, 1)->mask, 0x44444444);
	assert_int_equal(nth(ACCESS, 1)->a.bytes, 8);
	assert_int_equal(nth(ACCESS, 2)->mask, 0x88888888);
	assert_int_equal(nth(ACCESS, 2)->a.bytes, 8);
	assert_int_equal(nth(ACCESS, 3)->a.bytes, 4);
	assert_int_equal(nth(ACCESS, 4)->a.kind, WS_WRITE);
	assert_int_equal(nth(ACCESS, 4)->mask, UINT32_MAX);
}

static void arrivals(void **state)
{
	const struct event *e;

	run(" @%p1 mbarrier.init.shared.b64 [%r3], 32; bar.warp.sync -1;\n"
	    " mbarrier.arrive.shared.b64 %rd4, [%r3]; mbarrier.test_wait.shared.b64 %p2, [%r3], %rd4;\n"
	    " mbarrier.arrive.relaxed.cluster.shared::cta.b64 %rd4, [%r3];\n"
	    " mbarrier.test_wait.parity.shared.b64 %p2, [%r3], 1; @%p1 mbarrier.inval.shared.b64 [%r3];\n", true, 0);
	static const enum ws_mbar_op kinds[] = {WS_MBAR_INIT, WS_MBAR_ARRIVE, WS_MBAR_PHASE, WS_MBAR_WAIT,
	                                        WS_MBAR_ARRIVE,
	                                        WS_MBAR_PHASE, WS_MBAR_WAIT, WS_MBAR_INVAL};
	static const uint32_t phases[] = {0, 0, 0, 0, 1, 1, 1, 0};

	assert_int_equal(count(MBAR), WS_COUNT(kinds));
	for (unsigned i = 0; i < WS_COUNT(kinds); i++) {
		e = nth(MBAR, i);
		assert_int_equal(e->m.kind, kinds[i]);
		assert_int_equal(e->m.phase, phases[i]);
		assert_int_equal(e->no_warp, kinds[i] == WS_MBAR_PHASE);
		assert_int_equal(e->m.offset, 2048);
		if (kinds[i] == WS_MBAR_ARRIVE || kinds[i] == WS_MBAR_WAIT)
			assert_int_equal(e->mask, UINT32_MAX);
	}
	assert_int_equal(nth(MBAR, 1)->m.sem, WS_SEM_RELEASE);
	assert_int_equal(nth(MBAR, 3)->m.sem, WS_SEM_ACQUIRE);
	assert_int_equal(nth(MBAR, 4)->m.sem, WS_SEM_RELAXED);
	assert_int_equal(nth(MBAR, 4)->m.scope, WS_SCOPE_CLUSTER);
	/* the object itself: weak writes at both ends, else relaxed atomics of 8 bytes */
	assert_int_equal(count(ACCESS), 6);
	assert_int_equal(nth(ACCESS, 0)->a.kind, WS_WRITE);
	assert_int_equal(nth(ACCESS, 1)->a.kind, WS_ATOMIC);
	assert_int_equal(nth(ACCESS, 1)->a.sem, WS_SEM_RELAXED);
	assert_int_equal(nth(ACCESS, 1)->a.wrote, UINT32_MAX);
	assert_int_equal(nth(ACCESS, 2)->a.wrote, 0);
	assert_int_equal(nth(ACCESS, 5)->a.kind, WS_WRITE);
	for (unsigned i = 0; i < 6; i++) {
		assert_int_equal(nth(ACCESS, i)->a.bytes, 8);
		assert_int_equal(nth(ACCESS, i)->a.async, WS_ASYNC_NONE);
	}
}

static void phase_inside_an_instruction(void **state)
{
	/* 32 lanes arrive at an object for 8: four phases, each told after its arrivals */
	run(" @%p1 mbarrier.init.shared.b64 [%r3], 8; bar.warp.sync -1; mbarrier.arrive.shared.b64 %rd4, [%r3];\n",
	    true, 0);
	assert_int_equal(count(MBAR), 9);
	for (unsigned i = 0; i < 4; i++) {
		assert_int_equal(nth(MBAR, 1 + 2 * i)->mask, 0xffu << 8 * i);
		assert_int_equal(nth(MBAR, 1 + 2 * i)->m.phase, i);
		assert_int_equal(nth(MBAR, 2 + 2 * i)->m.kind, WS_MBAR_PHASE);
		assert_int_equal(nth(MBAR, 2 + 2 * i)->m.phase, i);
	}
}

static void copies_arrive(void **state)
{
	run(" @%p1 mbarrier.init.shared.b64 [%r3], 32; bar.warp.sync -1;\n"
	    " cp.async.cg.shared.global [%r2], [%rd3], 16; @%p1 cp.async.cg.shared.global [%r2+512], [%rd3+512], 16;\n"
	    " cp.async.mbarrier.arrive.noinc.shared.b64 [%r3];\n", true, 0);
	assert_int_equal(count(MBAR), 3);
	assert_int_equal(nth(MBAR, 1)->m.kind, WS_MBAR_ARRIVE_CP);
	assert_int_equal(nth(MBAR, 1)->mask, UINT32_MAX);
	assert_int_equal(nth(MBAR, 1)->op[0], 2);
	assert_int_equal(nth(MBAR, 1)->op[31], 1);
	assert_int_equal(nth(MBAR, 2)->m.kind, WS_MBAR_PHASE);
	assert_int_equal(nth(MBAR, 2)->op[0], 0);
}

static void bulk_load(void **state)
{
	const struct event *e;

	run(" @%p1 mbarrier.init.shared.b64 [%r3], 1; setp.eq.u32 %p2, %r0, 5; bar.warp.sync -1;\n"
	    " @%p2 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], 784;\n"
	    " @%p2 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [%rd1], 768, [%r3];\n"
	    " @%p2 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s+768], [%rd1+768], 16, [%r3];\n"
	    " W: mbarrier.try_wait.parity.shared.b64 %p3, [%r3], 0; @!%p3 bra W;\n", true, 0);
	/* init, expect; reads and writes of 32 and 16 pieces, then of one; the wait */
	assert_int_equal(count(ACCESS), 2 + 4 + 2 + 1);
	for (unsigned i = 2; i < 8; i++) {
		e = nth(ACCESS, i);
		assert_int_equal(e->a.async, WS_ASYNC_MBARRIER);
		assert_int_equal(e->a.issuer, 5);
		assert_int_equal(e->a.bytes, 16);
		assert_true(e->a.linear);
		assert_int_equal(e->a.mbar, 2048);
		assert_non_null(e->a.mbar_block);
		assert_int_equal(e->a.op, i < 6 ? 1 : 2);
		assert_false(e->has_value);
		assert_false(e->has_target);
		assert_int_equal(e->mask, i >= 6 ? 1 : i & 1 ? 0xffff : UINT32_MAX);
		assert_int_equal(e->a.kind, i < 4 || i == 6 ? WS_READ : WS_WRITE);
	}
	assert_int_equal(nth(ACCESS, 5)->first_addr, 512);
	assert_int_equal(nth(ACCESS, 5)->a.base, 512);
	e = nth(MBAR, 2);
	assert_int_equal(e->m.kind, WS_MBAR_PHASE);
	assert_int_equal(e->op[0], 2);
	assert_int_equal(nth(MBAR, 3)->m.kind, WS_MBAR_WAIT);
}

static void bulk_store(void **state)
{
	const struct event *e;

	run(" st.shared.u32 [%r2], %r0; fence.proxy.async.shared::cta; fence.mbarrier_init.release.cluster;\n"
	    " @%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd1], [s], 64; @%p1 cp.async.bulk.commit_group;\n"
	    " @%p1 cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1], [s], 64;\n"
	    " @%p1 cp.async.bulk.commit_group; @%p1 cp.async.bulk.wait_group.read 1; @%p1 cp.async.bulk.wait_group 0;\n",
	    true, 0);
	assert_string_equal(nth(FENCE, 0)->proxy, "async.shared::cta");
	assert_string_equal(nth(FENCE, 1)->proxy, "mbarrier_init");
	assert_int_equal(count(ACCESS), 5);
	e = nth(ACCESS, 2);
	assert_int_equal(e->a.kind, WS_WRITE);
	assert_int_equal(e->a.async, WS_ASYNC_BULK);
	assert_int_equal(e->a.op, 1);
	assert_int_equal(e->mask, 0xf);
	e = nth(ACCESS, 4);
	assert_int_equal(e->a.kind, WS_ATOMIC);
	assert_int_equal(e->a.atom, WS_ATOM_ADD);
	assert_int_equal(e->a.op, 2);
	assert_int_equal(e->a.wrote, 0xf);
	e = nth(WAITED, 0);
	assert_int_equal(e->kind, WS_ASYNC_BULK);
	assert_true(e->reads_only);
	assert_int_equal(e->done[0], 1);
	assert_int_equal(nth(WAITED, 1)->done[0], 2);
	assert_false(nth(WAITED, 1)->reads_only);
}

static void remote_stores(void **state)
{
	run(" @%p1 mbarrier.init.shared.b64 [%r3], 1; bar.warp.sync -1;\n"
	    " @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], 256;\n"
	    " st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r2], %r0, [%r3];\n"
	    " red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r2], %r0, [%r3];\n"
	    " W: mbarrier.try_wait.parity.shared.b64 %p3, [%r3], 0; @!%p3 bra W; ld.shared.u32 %r4, [%r2];\n"
	    " st.global.u32 [%rd3], %r4;\n", true, 0);
	assert_int_equal(nth(ACCESS, 2)->a.kind, WS_WRITE);
	assert_int_equal(nth(ACCESS, 2)->a.async, WS_ASYNC_MBARRIER);
	assert_int_equal(nth(ACCESS, 2)->a.issuer, WS_WARP);
	assert_int_equal(nth(ACCESS, 2)->mask, UINT32_MAX);
	assert_int_equal(nth(ACCESS, 2)->a.op, 1);
	assert_int_equal(nth(ACCESS, 3)->a.kind, WS_ATOMIC);
	assert_int_equal(nth(ACCESS, 3)->a.op, 2);
}

/* ---- tensors ---- */
/* A tensor of 6 x 3 words in rows of 32 bytes, boxes of 4 x 2. */
static struct ws_tensormap small_tensor(void)
{
	return (struct ws_tensormap){.magic = WS_TENSORMAP_MAGIC, .stride = {32}, .dim_less_1 = {5, 2}, .box = {4, 2},
	                             .step = {1, 1}, .type = WS_U32, .rank = 2};
}

#define TENSOR(X, Y) " @%p1 mbarrier.init.shared.b64 [%r3], 1; bar.warp.sync -1; add.u64 %rd4, %rd1, 2048;\n" \
	" @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], 32; mov.s32 %r5, " X "; mov.s32 %r6, " Y ";\n" \
	" @%p1 cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [s], [%rd4, {%r5, %r6}], [%r3];\n" \
	" W: mbarrier.try_wait.parity.shared.b64 %p3, [%r3], 0; @!%p3 bra W;\n" \
	" setp.lt.u32 %p2, %r0, 8; shl.b32 %r7, %r0, 2; add.u32 %r7, %r7, %r1; @%p2 ld.shared.u32 %r4, [%r7];\n" \
	" mul.wide.u32 %rd5, %r0, 4; add.u64 %rd5, %rd5, %rd1; @%p2 st.global.u32 [%rd5+3072], %r4;\n"

static void tile(void **state)
{
	static const uint32_t inside[] = {9, 10, 11, 12, 17, 18, 19, 20}, corner[] = {21, 22, 0, 0, 0, 0, 0, 0};
	struct ws_tensormap m = small_tensor();
	const struct event *e;
	uint32_t *words;

	map_to_use = &m;
	words = run(TENSOR("0", "1"), true, 0);
	assert_memory_equal(words + 768, inside, sizeof inside);
	e = nth(ACCESS, 2);                  /* a row a read, then the box */
	assert_int_equal(e->a.kind, WS_READ);
	assert_int_equal(e->a.async, WS_ASYNC_MBARRIER);
	assert_int_equal(e->a.bytes, 16);
	assert_int_equal(e->mask, 1);
	assert_int_equal(e->first_addr, m.address + 32);
	assert_int_equal(nth(ACCESS, 3)->first_addr, m.address + 64);
	e = nth(ACCESS, 4);
	assert_int_equal(e->a.kind, WS_WRITE);
	assert_int_equal(e->a.space, WS_SPACE_SHARED);
	assert_int_equal(e->mask, 3);
	words = run(TENSOR("4", "2"), true, 0);
	assert_memory_equal(words + 768, corner, sizeof corner);
	assert_int_equal(nth(ACCESS, 2)->a.bytes, 8);
	assert_int_equal(nth(ACCESS, 3)->a.kind, WS_WRITE);
	for (uint64_t seed = 1; seed < 9; seed++)
		assert_memory_equal(run(TENSOR("0", "1"), false, seed) + 768, inside, sizeof inside);
	map_to_use = NULL;
}

static void no_tile(struct ws_tensormap *m, const char *body, const char *words)
{
	struct ws_gpu_config c = {.host_threads = 1};
	struct ws_buf text = {0};
	struct ws_mem *mem;
	struct rig r;

	ws_buf_printf(&text, "%s%s ret;\n}\n", HEAD, body);
	r = rig_new(c, text.data);
	mem = rig_mem(&r, 4096);
	map_to_use = m;
	put_map(mem);
	map_to_use = NULL;
	assert_false(rig_launch(&r, "k", 1, 32, &mem->addr));
	assert_says(&r, words);
	ws_buf_free(&text);
	rig_free(&r);
}

static void bad_tiles(void **state)
{
	struct ws_tensormap m = small_tensor();

	no_tile(NULL, TENSOR("0", "0"), "there is no tensor map at the address");
	no_tile(&m, TENSOR("1", "0"), "the first coordinate, in bytes, is not a multiple of 16");
	m.rank = 1;
	no_tile(&m, TENSOR("0", "0"), "another number of dimensions");
	m = small_tensor();
	m.stride[0] = 1 << 20;
	no_tile(&m, TENSOR("0", "1"), "invalid address in the tensor");
}

/* ---- when copies take effect ---- */
#define COPY " st.shared.u32 [%r2], 0; cp.async.cg.shared.global [%r2], [%rd3], 16; cp.async.commit_group;\n"
#define LOOK " ld.shared.u32 %r4, [%r2]; st.global.u32 [%rd3+2048], %r4;\n"
#define SOURCE " st.global.u32 [%rd3], 77;\n"

static unsigned seeds_with(const char *body, uint32_t value)
{
	unsigned n = 0;

	for (uint64_t seed = 1; seed <= 32; seed++) {
		uint32_t first = run(body, false, seed)[512];

		assert_int_equal(run(body, false, seed)[512], first);    /* one seed, one execution */
		n += first == value;
	}
	return n;
}

static void missing_wait(void **state)
{
	unsigned early = seeds_with(COPY LOOK " cp.async.wait_all;\n", 0);

	assert_in_range(early, 4, 28);
	assert_int_equal(run(COPY LOOK " cp.async.wait_all;\n", false, 0)[512], 1);
	assert_int_equal(seeds_with(COPY " cp.async.wait_group 0;\n" LOOK, 1), 32);
	assert_int_equal(seeds_with(COPY " cp.async.wait_all;\n" LOOK, 1), 32);
}

static void source_overwritten(void **state)
{
	unsigned wrong = seeds_with(COPY SOURCE " cp.async.wait_all;\n" LOOK, 77);

	assert_in_range(wrong, 4, 28);
	assert_int_equal(seeds_with(COPY " cp.async.wait_all;\n" SOURCE LOOK, 1), 32);
}

#define BULK " @%p1 mbarrier.init.shared.b64 [%r3], 1; st.shared.u32 [%r2], 0; bar.warp.sync -1;\n" \
	" @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], 512;\n" \
	" @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [%rd1], 512, [%r3];\n"
#define BULK_WAIT " W: mbarrier.try_wait.parity.shared.b64 %p3, [%r3], 0; @!%p3 bra W;\n"

static void missing_wait_for_bulk(void **state)
{
	unsigned early = seeds_with(BULK LOOK BULK_WAIT, 0);

	assert_in_range(early, 4, 28);
	assert_int_equal(seeds_with(BULK BULK_WAIT LOOK, 1), 32);
}

#define STORE " st.shared.u32 [%r2], 5; fence.proxy.async; bar.warp.sync -1;\n" \
	" @%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd1+2048], [s], 512; @%p1 cp.async.bulk.commit_group;\n"
#define REUSE " @%p1 st.shared.u32 [%r2], 9;\n"

static void bulk_source_reused(void **state)
{
	assert_in_range(seeds_with(STORE REUSE " @%p1 cp.async.bulk.wait_group 0;\n", 9), 4, 28);
	assert_int_equal(seeds_with(STORE " @%p1 cp.async.bulk.wait_group.read 0;\n" REUSE, 5), 32);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(copies_of_lanes), cmocka_unit_test(source_sizes), cmocka_unit_test(arrivals),
		cmocka_unit_test(phase_inside_an_instruction), cmocka_unit_test(copies_arrive),
		cmocka_unit_test(bulk_load), cmocka_unit_test(bulk_store), cmocka_unit_test(remote_stores), cmocka_unit_test(tile),
		cmocka_unit_test(bad_tiles),
		cmocka_unit_test(missing_wait), cmocka_unit_test(source_overwritten), cmocka_unit_test(missing_wait_for_bulk),
		cmocka_unit_test(bulk_source_reused)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

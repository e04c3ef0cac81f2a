/* test_gpu_cluster.c - what an observer is told of clusters: their barrier, accesses to a peer's shared memory. */
#include "gpu_test.h"

enum { MAX_EVENTS = 128 };

struct event {
	char kind;                           /* R, W, A: access; a, w, c: barrier; b, e: block */
	uint64_t block, peer, addr, cluster;
	uint32_t mask, warp;
	uint8_t sem, scope;
};

struct log {
	struct event e[MAX_EVENTS];
	unsigned n;
	uint32_t cluster[3];
};

static struct event *add(struct log *l, char kind)
{
	assert_true(l->n < MAX_EVENTS);
	l->e[l->n].kind = kind;
	return &l->e[l->n++];
}

static void on_launch(void *self, struct ws_obs_launch *l)
{
	memcpy(((struct log *)self)->cluster, l->cluster, sizeof l->cluster);
}

static void on_begin(void *self, struct ws_obs_block *b)
{
	add(self, 'b')->block = b->linear;
}

static void on_end(void *self, struct ws_obs_block *b)
{
	add(self, 'e')->block = b->linear;
}

static void on_access(void *self, struct ws_obs_warp *w, const struct ws_access *a)
{
	struct event *e = add(self, a->kind == WS_READ ? 'R' : a->kind == WS_WRITE ? 'W' : 'A');

	assert_int_equal(a->space, WS_SPACE_SHARED);
	e->block = w->block->linear;
	e->peer = a->peer ? a->peer->linear : UINT64_MAX;
	e->addr = a->addr[__builtin_ctz(a->mask)];
	e->mask = a->mask;
	e->sem = a->sem;
	e->scope = a->scope;
}

static void on_cluster(void *self, struct ws_obs_warp *w, const struct ws_cluster_barrier *c)
{
	struct event *e = add(self, c->kind == WS_CLUSTER_ARRIVE ? 'a' : c->kind == WS_CLUSTER_WAIT ? 'w' : 'c');

	e->block = w->block->linear;
	e->warp = w->index;
	e->mask = c->mask;
	e->sem = c->sem;
	e->cluster = c->cluster;
}

static const struct ws_observer_ops ops = {
	.abi = WS_OBSERVER_ABI, .name = "log", .needs = WS_NEED_SHARED | WS_NEED_SYNC | WS_NEED_VALUES,
	.launch_begin = on_launch, .block_begin = on_begin, .block_end = on_end, .access = on_access,
	.cluster_barrier = on_cluster,
};

#define HEAD ".version 8.0\n.target sm_90\n.address_size 64\n"

static const char program[] = HEAD
	".visible .entry k()\n{\n.reg .b32 %r<8>;\n.shared .align 4 .b8 s[16];\n"
	"mov.u32 %r1, s;\nmov.u32 %r2, %cluster_ctarank;\nxor.b32 %r3, %r2, 1;\n"
	"mapa.shared::cluster.u32 %r4, %r1, %r3;\nmapa.shared::cluster.u32 %r5, %r1, %r2;\n"
	"barrier.cluster.arrive.relaxed;\nbarrier.cluster.wait;\n"
	"st.shared::cluster.u32 [%r4+4], %r2;\n"
	"atom.acq_rel.cluster.shared::cluster.add.u32 %r6, [%r4+8], 1;\n"
	"ld.shared::cluster.u32 %r7, [%r5];\n"
	"barrier.cluster.arrive;\nbarrier.cluster.wait;\nret;\n}\n";

static struct log run(uint32_t grid, uint32_t block, uint32_t cluster)
{
	struct log l = {0};
	struct ws_gpu_config config = {.host_threads = 1, .observer = &ops, .observer_self = &l};
	struct rig r = rig_new(config, program);
	struct ws_gpu_launch launch = {.grid = {grid, 1, 1}, .block = {block, 1, 1}, .cluster = {cluster, 1, 1}};

	if (!ws_gpu_launch(r.g, ws_gpu_module_kernel(r.mod, "k"), &launch, NULL, &r.err))
		fail_msg("%s", r.err.text.data);
	rig_free(&r);
	return l;
}

static unsigned count(const struct log *l, char kind)
{
	unsigned n = 0;

	for (unsigned i = 0; i < l->n; i++)
		n += l->e[i].kind == kind;
	return n;
}

static void accesses_of_peers(void **state)
{
	struct log l = run(2, 1, 2);

	(void)state;
	assert_int_equal(l.cluster[0], 2);
	assert_int_equal(count(&l, 'W'), 2);
	assert_int_equal(count(&l, 'A'), 2);
	assert_int_equal(count(&l, 'R'), 2);
	for (unsigned i = 0; i < l.n; i++) {
		const struct event *e = &l.e[i];

		if (e->kind == 'W' || e->kind == 'A') {
			assert_int_equal(e->peer, e->block ^ 1);
			assert_int_equal(e->addr, e->kind == 'W' ? 4 : 8);
		}
		if (e->kind == 'A') {
			assert_int_equal(e->sem, WS_SEM_ACQ_REL);
			assert_int_equal(e->scope, WS_SCOPE_CLUSTER);
		}
		if (e->kind == 'R') {    /* mapa of the own rank is the own memory */
			assert_true(e->peer == UINT64_MAX);
			assert_int_equal(e->addr, 0);
		}
	}
}

static void order_of_barrier(void **state)
{
	struct log l = run(4, 40, 2);
	unsigned arrivals[2] = {0}, phase[2] = {0}, waits[2] = {0};

	(void)state;
	assert_int_equal(count(&l, 'a'), 4 * 2 * 2);
	assert_int_equal(count(&l, 'c'), 2 * 2);
	assert_int_equal(count(&l, 'w'), 4 * 2 * 2);
	for (unsigned i = 0; i < l.n; i++) {
		const struct event *e = &l.e[i];
		uint64_t c = e->cluster;

		if (!strchr("awc", e->kind))
			continue;
		assert_int_equal(c, e->block / 2);
		if (e->kind == 'a') {
			assert_int_equal(e->sem, arrivals[c] < 4 ? WS_SEM_RELAXED : WS_SEM_RELEASE);
			assert_int_equal(e->mask, e->warp ? 0xff : UINT32_MAX);
			arrivals[c]++;
		} else if (e->kind == 'c') {
			assert_int_equal(arrivals[c], 4 * ++phase[c]);
		} else {
			assert_int_equal(e->sem, WS_SEM_ACQUIRE);
			assert_true(waits[c]++ < 4 * phase[c]);
		}
	}
}

/* All blocks of a cluster begin before any of them runs, and end together. */
static void life_of_blocks(void **state)
{
	struct log l = run(4, 1, 4);

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		assert_int_equal(l.e[i].kind, 'b');
		assert_int_equal(l.e[i].block, i);
		assert_int_equal(l.e[l.n - 1 - i].kind, 'e');
	}
}

static void seeds_agree(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed < 20; seed++) {
		struct log l = {0};
		struct ws_gpu_config config = {.host_threads = 1, .observer = &ops, .observer_self = &l,
		                               .schedule = WS_SCHED_RANDOM, .seed = seed};
		struct rig r = rig_new(config, program);
		struct ws_gpu_launch launch = {.grid = {8, 1, 1}, .block = {1, 1, 1}, .cluster = {4, 1, 1}};

		/* rank ^ 1 stays inside of the four */
		if (!ws_gpu_launch(r.g, ws_gpu_module_kernel(r.mod, "k"), &launch, NULL, &r.err))
			fail_msg("%s", r.err.text.data);
		assert_int_equal(count(&l, 'c'), 4);
		assert_int_equal(count(&l, 'w'), 16);
		rig_free(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(accesses_of_peers), cmocka_unit_test(order_of_barrier),
		cmocka_unit_test(life_of_blocks), cmocka_unit_test(seeds_agree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

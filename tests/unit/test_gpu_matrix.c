/* test_gpu_matrix.c - what an observer is told of the memory that matrix instructions read and write. */
#include "gpu_test.h"

struct log {
	unsigned plain[3], async;            /* accesses by kind; asynchronous ones */
	uint32_t mask[3], bytes[3];
	uint64_t addr[32];
	unsigned rows[4];                    /* 16-byte pieces that a warp's wgmma read */
	uint64_t low[4], high[4], last_op[4], waited[4][4];
	unsigned waits[4];
};

static void on_async(struct log *l, const struct ws_obs_warp *w, const struct ws_access *a)
{
	assert_int_equal(a->async, WS_ASYNC_WGMMA);
	assert_int_equal(a->kind, WS_READ);
	assert_int_equal(a->bytes, 16);
	assert_int_equal(a->issuer, WS_WARP);
	assert_null(a->value);
	assert_true(a->op == l->last_op[w->index] || a->op == l->last_op[w->index] + 1);
	l->last_op[w->index] = a->op;
	l->async++;
	for (unsigned i = 0; i < 32; i++) {
		if (!(a->mask >> i & 1))
			continue;
		l->rows[w->index]++;
		if (a->addr[i] < l->low[w->index])
			l->low[w->index] = a->addr[i];
		if (a->addr[i] > l->high[w->index])
			l->high[w->index] = a->addr[i];
	}
}

static void on_access(void *self, struct ws_obs_warp *w, const struct ws_access *a)
{
	struct log *l = self;

	assert_int_equal(a->sem, WS_SEM_WEAK);
	if (a->async) {
		on_async(l, w, a);
		return;
	}
	l->plain[a->kind]++;
	l->mask[a->kind] = a->mask;
	l->bytes[a->kind] = a->bytes;
	memcpy(l->addr, a->addr, sizeof l->addr);
	if (a->kind == WS_WRITE)
		assert_non_null(a->value);
}

static void on_wait(void *self, struct ws_obs_warp *w, uint32_t mask, enum ws_async kind, const uint64_t done[WS_WARP],
                    bool reads_only)
{
	struct log *l = self;

	assert_int_equal(mask, UINT32_MAX);
	assert_int_equal(kind, WS_ASYNC_WGMMA);
	assert_false(reads_only);
	assert_true(l->waits[w->index] < 4);
	l->waited[w->index][l->waits[w->index]++] = done[31];
}

static const struct ws_observer_ops ops = {
	.abi = WS_OBSERVER_ABI, .name = "log", .needs = WS_NEED_SHARED | WS_NEED_SYNC | WS_NEED_VALUES,
	.access = on_access, .async_wait = on_wait,
};

#define HEAD ".version 8.0\n.target sm_90a\n.address_size 64\n"
#define REGS ".reg .b32 %r<20>;\n.reg .b64 %d<4>;\n.shared .align 1024 .b8 s[4096];\nmov.u32 %r1, s;\nmov.u32 %r2, %laneid;\n"
/* rows of 32 bytes: A 64 of them from 0 on, B 8 from 2048 on; 32-byte swizzle */
#define PRODUCT "wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 {%r10, %r11}, %d1, %d2, 1, 1, 1, 0, 0;\n"
#define COMMIT "wgmma.commit_group.sync.aligned;\n"

static const char groups[] = HEAD
	".visible .entry k()\n{\n" REGS
	"mov.u64 %d1, 0xc000001000010000;\nmov.u64 %d2, 0xc000001000010080;\n"
	"wgmma.fence.sync.aligned;\n" PRODUCT COMMIT PRODUCT PRODUCT COMMIT
	"wgmma.wait_group.sync.aligned 2;\nwgmma.wait_group.sync.aligned 1;\n" PRODUCT
	"wgmma.wait_group.sync.aligned 0;\n" COMMIT "wgmma.wait_group.sync.aligned 0;\nret;\n}\n";

static const char rows[] = HEAD
	".visible .entry k()\n{\n" REGS
	"mad.lo.u32 %r3, %r2, 16, %r1;\n"
	"ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r4, %r5}, [%r3+32];\n"
	"stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r3+64], {%r4};\nret;\n}\n";

static struct log run(const char *text, uint32_t block)
{
	struct log l = {.low = {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX}};
	struct ws_gpu_config config = {.host_threads = 1, .observer = &ops, .observer_self = &l};
	struct rig r = rig_new(config, text);

	rig_run(&r, "k", 1, block, NULL);
	rig_free(&r);
	return l;
}

static void products_are_asynchronous(void **state)
{
	struct log l = run(groups, 128);

	(void)state;
	assert_int_equal(l.plain[WS_READ] + l.plain[WS_WRITE] + l.plain[WS_ATOMIC], 0);
	for (unsigned w = 0; w < 4; w++) {
		assert_int_equal(l.last_op[w], 4);
		assert_int_equal(l.rows[w], 4 * (32 + 16));      /* 16 rows of A, 8 of B, two pieces each */
		assert_int_equal(l.low[w], 512 * w);
		assert_int_equal(l.high[w], 2048 + 8 * 32 - 16);
	}
}

/* Of 3 groups that end at operations 1, 3 and 4. */
static void waits_for_groups(void **state)
{
	struct log l = run(groups, 128);
	static const uint64_t want[] = {1, 3, 4};

	(void)state;
	for (unsigned w = 0; w < 4; w++) {
		assert_int_equal(l.waits[w], 3);         /* the first one waited for nothing */
		for (unsigned i = 0; i < 3; i++)
			assert_int_equal(l.waited[w][i], want[i]);
	}
}

static void rows_of_lanes(void **state)
{
	struct log l = run(rows, 32);

	(void)state;
	assert_int_equal(l.plain[WS_READ], 1);
	assert_int_equal(l.mask[WS_READ], 0xffff);
	assert_int_equal(l.bytes[WS_READ], 16);
	assert_int_equal(l.plain[WS_WRITE], 1);
	assert_int_equal(l.mask[WS_WRITE], 0xff);
	assert_int_equal(l.bytes[WS_WRITE], 16);
	for (unsigned i = 0; i < 8; i++)
		assert_int_equal(l.addr[i], 64 + 16 * i);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(products_are_asynchronous), cmocka_unit_test(waits_for_groups),
		cmocka_unit_test(rows_of_lanes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

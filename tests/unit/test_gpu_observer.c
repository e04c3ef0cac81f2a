/* test_gpu_observer.c - what an observer of the simulated GPU is told. */
#include "gpu_test.h"

struct log {
	unsigned reads, writes, atomics, barriers, syncs, fences, exits, begins, ends, blocks;
	struct ws_access last[3];            /* by kind; the pointers in it are dead */
	uint64_t addr[32];
	uint32_t values[32], before[32];
	uint32_t exited, sync_mask, arrived[2], waited[2];
	bool full;
	struct ws_fence fence;
};

static void on_access(void *self, struct ws_obs_warp *w, const struct ws_access *a)
{
	struct log *l = self;

	(void)w;
	*(a->kind == WS_READ ? &l->reads : a->kind == WS_WRITE ? &l->writes : &l->atomics) += 1;
	l->last[a->kind] = *a;
	memcpy(l->addr, a->addr, sizeof l->addr);
	if (a->value && a->bytes == 4)
		memcpy(l->values, a->value, sizeof l->values);
	if (a->kind == WS_WRITE && a->linear && a->bytes == 4 && a->target)
		memcpy(l->before, a->target, sizeof l->before);
}

static void on_barrier(void *self, struct ws_obs_block *b, const struct ws_barrier *bar)
{
	struct log *l = self;

	l->barriers++;
	l->full = bar->full;
	memcpy(l->arrived, bar->arrived, sizeof l->arrived);
	memcpy(l->waited, bar->waited, sizeof l->waited);
}

static void on_sync(void *self, struct ws_obs_warp *w, uint32_t mask)
{
	((struct log *)self)->syncs++;
	((struct log *)self)->sync_mask = mask;
}

static void on_fence(void *self, struct ws_obs_warp *w, uint32_t mask, const struct ws_fence *f)
{
	((struct log *)self)->fences++;
	((struct log *)self)->fence = *f;
}

static void on_exit_(void *self, struct ws_obs_warp *w, uint32_t mask)
{
	((struct log *)self)->exits++;
	((struct log *)self)->exited |= mask;
}

static void on_launch(void *self, struct ws_obs_launch *l)
{
	((struct log *)self)->begins++;
	assert_int_equal(l->warps, (l->threads + 31) / 32);
}

static void on_launch_end(void *self, struct ws_obs_launch *l, bool completed)
{
	((struct log *)self)->ends += completed;
}

static void on_block(void *self, struct ws_obs_block *b)
{
	((struct log *)self)->blocks++;
}

static const struct ws_observer_ops ops = {
	.abi = WS_OBSERVER_ABI, .name = "log", .needs = WS_NEED_GLOBAL | WS_NEED_SHARED | WS_NEED_SYNC | WS_NEED_VALUES,
	.access = on_access, .barrier = on_barrier, .warp_sync = on_sync, .fence = on_fence, .thread_exit = on_exit_,
	.launch_begin = on_launch, .launch_end = on_launch_end, .block_begin = on_block,
};

#define HEAD ".visible .entry k(.param .u64 out)\n{\n .reg .pred %p<4>; .reg .b32 %r<16>; .reg .b64 %rd<16>;\n" \
	" .reg .f32 %f<4>; .shared .align 16 .b8 buf[1024];\n" \
	" ld.param.u64 %rd1, [out]; mov.u32 %r0, %tid.x; mul.wide.u32 %rd2, %r0, 4; add.u64 %rd3, %rd1, %rd2;\n"

static struct log run(const char *body, uint32_t threads, uint32_t host_threads)
{
	struct log l = {0};
	struct ws_gpu_config c = {.host_threads = host_threads, .observer = &ops, .observer_self = &l};
	struct ws_buf text = {0};
	struct rig r;
	struct ws_mem *m;

	ws_buf_printf(&text, "%s%s%s ret;\n}\n", PTX_HEAD, HEAD, body);
	r = rig_new(c, text.data);
	m = rig_mem(&r, 4096);
	for (int i = 0; i < 1024; i++)
		((uint32_t *)m->host)[i] = 1000 + i;
	rig_run(&r, "k", 1, threads, &m->addr);
	if (l.last[WS_WRITE].space == WS_SPACE_GLOBAL && l.writes)
		assert_ptr_equal(l.last[WS_WRITE].mem, m);
	ws_buf_free(&text);
	rig_free(&r);
	assert_int_equal(l.begins, 1);
	assert_int_equal(l.ends, 1);
	assert_int_equal(l.blocks, 1);
	return l;
}

static void linear_store(void **state)
{
	struct log l = run(" add.u32 %r1, %r0, 5; st.global.u32 [%rd3+8], %r1;", 32, 1);
	const struct ws_access *a = &l.last[WS_WRITE];

	assert_int_equal(l.writes, 1);
	assert_int_equal(a->space, WS_SPACE_GLOBAL);
	assert_int_equal(a->mask, UINT32_MAX);
	assert_int_equal(a->wrote, UINT32_MAX);
	assert_int_equal(a->bytes, 4);
	assert_true(a->linear);
	assert_int_equal(a->base, l.addr[0]);
	assert_int_equal(a->sem, WS_SEM_WEAK);
	for (uint32_t i = 0; i < 32; i++) {
		assert_int_equal(l.addr[i], l.addr[0] + 4 * i);
		assert_int_equal(l.values[i], i + 5);
		assert_int_equal(l.before[i], 1002 + i);
	}
	assert_int_equal(l.exited, UINT32_MAX);
}

static void generic_shared(void **state)
{
	/* a generic address that leads to shared memory, every second lane; volatile */
	struct log l =
		run(" mov.u32 %r2, buf; cvt.u64.u32 %rd4, %r2; cvta.shared.u64 %rd4, %rd4; mul.wide.u32 %rd5, %r0, 8;\n"
	                   " add.u64 %rd4, %rd4, %rd5; and.b32 %r3, %r0, 1; setp.eq.u32 %p1, %r3, 0;\n"
	                   " @%p1 st.volatile.u32 [%rd4+16], %r0; @%p1 ld.v2.u32 {%r4,%r5}, [%rd4+16];", 32, 1);

	assert_int_equal(l.last[WS_WRITE].space, WS_SPACE_SHARED);
	assert_int_equal(l.last[WS_WRITE].sem, WS_SEM_VOLATILE);
	assert_int_equal(l.last[WS_WRITE].scope, WS_SCOPE_SYS);
	assert_int_equal(l.last[WS_WRITE].mask, 0x55555555);
	assert_false(l.last[WS_WRITE].linear);
	assert_int_equal(l.last[WS_READ].bytes, 8);
	assert_true(l.last[WS_READ].linear);
	assert_int_equal(l.addr[2], 32);
	assert_null(l.last[WS_READ].mem);
}

static void atomics(void **state)
{
	static const char cas[] = " atom.global.cas.b32 %r1, [%rd1], 1000, 7; atom.shared.add.u32 %r2, [buf], 1;";

	for (uint32_t threads = 1; threads < 3; threads++) {
		struct log l = run(" atom.acq_rel.cta.global.cas.b32 %r1, [%rd1], 1000, 7;", 32, threads);

		assert_int_equal(l.atomics, 1);
		assert_int_equal(l.last[WS_ATOMIC].wrote, 1);
		assert_int_equal(l.last[WS_ATOMIC].atom, WS_ATOM_CAS);
		assert_int_equal(l.last[WS_ATOMIC].sem, WS_SEM_ACQ_REL);
		assert_int_equal(l.last[WS_ATOMIC].scope, WS_SCOPE_CTA);
		assert_int_equal(l.values[0], 1000);
		assert_int_equal(l.values[5], 7);
		l = run(cas, 32, threads);
		assert_int_equal(l.atomics, 2);
		assert_int_equal(l.last[WS_ATOMIC].space, WS_SPACE_SHARED);
		assert_int_equal(l.last[WS_ATOMIC].sem, WS_SEM_RELAXED);
		assert_int_equal(l.last[WS_ATOMIC].scope, WS_SCOPE_GPU);
		assert_int_equal(l.last[WS_ATOMIC].wrote, UINT32_MAX);
		assert_int_equal(l.values[31], 31);
	}
}

static void synchronization(void **state)
{
	struct log l = run(" setp.lt.u32 %p1, %r0, 8; @%p1 exit; bar.sync 0; bar.warp.sync -1; membar.gl;\n"
	                   " fence.acq_rel.cta; setp.gt.u32 %p1, %r0, 31; @%p1 bra W; bar.arrive 3, 64; bra D; W: bar.sync 3, 64; D:",
	                   64, 1);

	assert_int_equal(l.barriers, 2);
	assert_int_equal(l.syncs, 2);
	assert_int_equal(l.sync_mask, 0xffffff00);
	assert_int_equal(l.fences, 4);
	assert_int_equal(l.fence.sem, WS_SEM_ACQ_REL);
	assert_int_equal(l.fence.scope, WS_SCOPE_CTA);
	assert_false(l.full);
	assert_int_equal(l.arrived[0], 0xffffff00);
	assert_int_equal(l.waited[0], 0);
	assert_int_equal(l.waited[1], UINT32_MAX);
}

/* Addresses of all lanes compared at once, in the form of this machine (WARPSAFE_ISA chooses another). */
static void lanes_compared(void **state)
{
	const uint64_t origin = 0xfffffff000000000u;
	uint64_t addr[WS_WARP], other[WS_WARP];
	uint32_t word[WS_WARP], at = 0, in = 0, same = 0;

	for (uint32_t l = 0; l < WS_WARP; l++) {
		word[l] = l * 0x9E3779B9u;
		addr[l] = origin + 4 * (uint64_t)word[l] + (l % 3 == 1) + (l % 5 == 4 ? 1ull << 34 : 0);
		other[l] = addr[l] ^ (l % 7 == 2 ? 1ull << l : 0);
		at |= (uint32_t)(l % 3 != 1 && l % 5 != 4) << l;
		in |= (uint32_t)(addr[l] - addr[9] + 3 < 0x80000000u) << l;
		same |= (uint32_t)(l % 7 != 2) << l;
	}
	assert_int_equal(ws_gpu_lanes_at(addr, origin, word), at);
	assert_int_equal(ws_gpu_lanes_same(addr, other), same);
	assert_int_equal(ws_gpu_lanes_in(addr, addr[9] - 3, 0x80000000u), in);
	assert_int_equal(ws_gpu_lanes_in(addr, addr[9] + 1, UINT64_MAX), ~(1u << 9));
	assert_true(in && in != UINT32_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(linear_store), cmocka_unit_test(generic_shared),
	                                   cmocka_unit_test(atomics), cmocka_unit_test(synchronization),
	                                   cmocka_unit_test(lanes_compared)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

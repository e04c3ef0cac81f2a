/* test_gpu_written.c - weak reads of memory that a kernel's code cannot write are not told to an observer that asks for
 * that; all others are, and a pointer that leaves its allocation does not go unnoticed. */
#include "gpu_test.h"
#include "detect/detect.h"

struct log { unsigned reads, writes; uint64_t untold; bool ask, left; };

static void on_launch(void *self, struct ws_obs_launch *l)
{
	l->unwritten_untold = ((struct log *)self)->ask;
}

static void on_launch_end(void *self, struct ws_obs_launch *l, bool completed)
{
	struct log *g = self;

	g->untold += l->untold;
	g->left = l->unwritten_untold;
}

static void on_access(void *self, struct ws_obs_warp *w, const struct ws_access *a)
{
	struct log *g = self;

	g->reads += a->kind == WS_READ;
	g->writes += a->kind != WS_READ;
}

static const struct ws_observer_ops ops = {
	.abi = WS_OBSERVER_ABI, .name = "log", .needs = WS_NEED_GLOBAL | WS_NEED_SHARED, .access = on_access,
	.launch_begin = on_launch, .launch_end = on_launch_end,
};

#define HEAD ".global .align 4 .b32 var[32];\n" \
	".visible .entry k(.param .u64 out, .param .u64 in, .param .u64 table, .param .u32 delta,\n" \
	" .param .u64 out_end, .param .u64 in_end)\n{\n" \
	" .reg .pred %p<4>; .reg .b32 %r<16>; .reg .b64 %rd<16>; .reg .f64 %fd<2>; .shared .align 8 .b64 box[32];\n" \
	" ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [in]; ld.param.u64 %rd3, [table]; ld.param.u32 %r1, [delta];\n" \
	" ld.param.u64 %rd9, [out_end]; ld.param.u64 %rd10, [in_end];\n" \
	" mov.u32 %r0, %tid.x; mul.wide.u32 %rd4, %r0, 4; add.u64 %rd5, %rd1, %rd4; add.u64 %rd6, %rd2, %rd4;\n"

struct params { uint64_t out, in, table; uint32_t delta; uint64_t out_end, in_end; };

/* `table` holds the address of `out`. */
static struct params fill(struct rig *r, uint32_t delta)
{
	struct params p = {rig_mem(r, 4096)->addr, rig_mem(r, 4096)->addr, 0, delta, 0, 0};
	struct ws_mem *t = rig_mem(r, 4096);

	p.out_end = p.out + 4096;
	p.in_end = p.in + 4096;

	memcpy(t->host, &p.out, 8);
	p.table = t->addr;
	return p;
}

static struct rig start(const char *body, const struct ws_observer_ops *o, void *self)
{
	struct ws_gpu_config c = {.host_threads = 1, .observer = o, .observer_self = self};
	struct ws_buf text = {0};
	struct rig r;

	ws_buf_printf(&text, "%s%s%s ret;\n}\n", PTX_HEAD, HEAD, body);
	r = rig_new(c, text.data);
	ws_buf_free(&text);
	return r;
}

static struct log run(const char *body, bool ask)
{
	struct log l = {.ask = ask};
	struct rig r = start(body, &ops, &l);
	struct params p = fill(&r, 0);

	rig_run(&r, "k", 1, 32, &p);
	rig_free(&r);
	return l;
}

static const struct { const char *name, *body; unsigned told; bool left; } cases[] = {
	{"in is only read", "ld.global.u32 %r2, [%rd6]; st.global.u32 [%rd5], %r2;", 0, true},
	{"generic addresses", "ld.u32 %r2, [%rd6]; st.u32 [%rd5], %r2;", 0, true},
	{"an index from memory", "ld.global.u32 %r2, [%rd6]; mul.wide.u32 %rd7, %r2, 4; add.u64 %rd7, %rd7, %rd5; "
	 "st.global.u32 [%rd7], 1;", 0, true},
	{"out is read as well", "ld.global.u32 %r2, [%rd5]; st.global.u32 [%rd5], %r2;", 1, true},
	{"either is written", "setp.eq.u32 %p1, %r1, 0; selp.b64 %rd7, %rd5, %rd6, %p1; ld.global.u32 %r2, [%rd6]; "
	 "st.global.u32 [%rd7], %r2;", 1, true},
	{"atomics write", "ld.global.u32 %r2, [%rd6]; red.global.add.u32 [%rd6], 1;", 1, true},
	{"later in the text, earlier in a loop", "L: ld.global.u32 %r2, [%rd6]; mov.b64 %rd8, %rd6; st.global.u32 [%rd8], 1;",
	 1, true},
	{"strong reads", "ld.volatile.global.u32 %r2, [%rd6]; st.global.u32 [%rd5], %r2;", 1, true},
	{"variables", "mov.b64 %rd7, var; ld.global.u32 %r2, [%rd7]; st.global.u32 [%rd5], %r2;", 1, true},
	{"a pointer from memory", "ld.global.u64 %rd7, [%rd3]; ld.global.u32 %r2, [%rd6]; st.global.u32 [%rd7], %r2;", 2, false},
	{"a pointer from shared memory", "st.shared.u64 [box], %rd1; ld.shared.u64 %rd7, [box]; ld.global.u32 %r2, [%rd6]; "
	 "st.global.u32 [%rd7], %r2;", 2, false},
	{"a pointer from two halves", "mov.b64 {%r3, %r4}, %rd1; mov.b64 %rd7, {%r3, %r4}; ld.global.u32 %r2, [%rd6]; "
	 "st.global.u32 [%rd7], %r2;", 1, false},
	{"a pointer from two words in memory", "ld.global.u32 %r3, [%rd3]; ld.global.u32 %r4, [%rd3+4]; cvt.u64.u32 %rd7, %r3;"
	 " cvt.u64.u32 %rd8, %r4; shl.b64 %rd8, %rd8, 32; or.b64 %rd7, %rd7, %rd8; ld.global.u32 %r2, [%rd6]; "
	 "st.global.u32 [%rd7], %r2;", 3, false},
	{"a pointer loaded as a float", "ld.global.f64 %fd1, [%rd3]; mov.b64 %rd7, %fd1; ld.global.u32 %r2, [%rd6]; "
	 "st.global.u32 [%rd7], %r2;", 2, false},
	{"a shifted index", "ld.global.u32 %r2, [%rd6]; cvt.u64.u32 %rd7, %r2; shl.b64 %rd7, %rd7, 2; add.u64 %rd7, %rd7, %rd5; "
	 "st.global.u32 [%rd7], 1;", 0, true},
	{"from the end", "ld.global.u32 %r2, [%rd6]; add.u64 %rd7, %rd9, %rd4; st.global.u32 [%rd7+-128], %r2;", 0, true},
	{"in from its end", "ld.global.u32 %r2, [%rd6]; add.u64 %rd7, %rd10, %rd4; st.global.u32 [%rd7+-128], %r2;", 1, true},
};

static void told(void **state)
{
	for (size_t i = 0; i < WS_COUNT(cases); i++) {
		struct log with = run(cases[i].body, true), without = run(cases[i].body, false);

		if (with.reads != cases[i].told || with.left != cases[i].left)
			fail_msg("%s: %u reads told, %d", cases[i].name, with.reads, with.left);
		assert_int_equal(with.untold, 32 * (without.reads - with.reads));
		assert_int_equal(with.writes, without.writes);
		assert_int_equal(without.untold, 0);
	}
}

/* A pointer beside its memory may be one into it: everything is told. */
static void beside(void **state)
{
	struct log l = {.ask = true};
	struct rig r = start("ld.global.u32 %r2, [%rd6]; st.global.u32 [%rd5+4], %r2;", &ops, &l);
	struct params p = fill(&r, 0);

	p.out -= 4;
	rig_run(&r, "k", 1, 32, &p);
	assert_int_equal(l.reads, 1);
	assert_false(l.left);
	rig_free(&r);
}

/* The store goes from `out` into `in`, which counts as read only: the detector says that it has missed something, and sees
 * what comes after. */
static void astray(void **state)
{
	struct ws_detect_config config = {.shared = true, .global = true};
	const struct ws_detector *d = ws_detector_find("shadow");
	struct ws_report *report = ws_report_new();
	void *self = d->create(&config, report);
	struct rig r = start("mul.wide.u32 %rd7, %r1, 1; add.u64 %rd8, %rd1, %rd7; ld.global.u32 %r2, [%rd6];\n"
	                     " st.global.u32 [%rd8], 1; ld.global.u32 %r2, [%rd2];", d->ops, self);
	struct params p = fill(&r, 0);
	struct ws_buf json = {0};

	d->attach(self, r.g);
	p.delta = (uint32_t)(p.in - p.out);
	rig_run(&r, "k", 1, 32, &p);
	ws_report_write_json(report, &json);
	assert_non_null(strstr(json.data, "had left its allocation"));
	assert_true(ws_report_count(report, WS_ERROR) > 0);
	ws_buf_free(&json);
	rig_free(&r);
	d->destroy(self);
	ws_report_free(report);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(told), cmocka_unit_test(beside), cmocka_unit_test(astray),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

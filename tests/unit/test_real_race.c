/* Race checks on a real GPU, the host's side: from a record of the GPU to a race of the report, and how memory is divided. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "real/race.h"
#include "real/race_layout.h"
#include "real/real.h"
#include "rewrite/rewrite.h"

/* Line 5 writes shared memory, 7 reads it; 9 adds to global memory; 11 writes it. Checks are numbered 0..3. */
static const char text[] =
	".version 8.0\n.target sm_90\n.address_size 64\n.file 1 \"a.cu\"\n"
	".visible .entry _Z4pairPi(.param .u64 p)\n{\n"
	"\t.reg .b32 %r<4>;\n\t.reg .b64 %rd<4>;\n\t.shared .align 4 .b8 m[512];\n"
	"\tld.param.u64 %rd1, [p];\n"
	"\tmov.u32 %r1, %tid.x;\n\tmov.u32 %r2, m;\n"
	"\t.loc 1 5 2\n\tst.shared.u32 [%r2], %r1;\n"
	"\t.loc 1 7 2\n\tld.shared.u32 %r3, [%r2];\n"
	"\t.loc 1 9 2\n\tred.global.add.u32 [%rd1], %r3;\n"
	"\t.loc 1 11 2\n\tst.global.u32 [%rd1], %r3;\n"
	"\tret;\n}\n"
	".visible .entry _Z5copiesPi(.param .u64 p)\n{\n"
	"\t.reg .b32 %r<4>;\n\t.reg .b64 %rd<4>;\n\t.shared .align 16 .b8 n[16];\n"
	"\tmov.u32 %r2, n;\n\tcp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group [%rd1, {%r1, %r1, %r1, %r1, %r1}], [%r2];\n\tret;\n}\n";

static struct ws_real_table *make_table(const char *ptx)
{
	struct ws_buf problems = { 0 };
	struct ws_sink sink = { ws_sink_to_buf, &problems };
	struct ws_ptx_module *m = ws_ptx_parse("test.ptx", ptx, strlen(ptx), NULL, &sink);
	struct ws_real_table *t;

	assert_non_null(m);
	if (!ws_rewrite("race", m, &sink))
		fail_msg("%s", problems.data);
	t = ws_real_table_new(m);
	ws_ptx_free(m);
	ws_buf_free(&problems);
	return t;
}

static struct ws_race_found finding(enum ws_race_pair pair, uint32_t other_site, uint32_t site)
{
	return (struct ws_race_found){
		.ready = 1, .pair = pair, .site = site, .other_site = other_site, .bytes = 4,
		.space = WS_RACE_SHARED, .what = WS_RACE_BYTES(4), .block = 5, .other_block = 5, .thread = 40, .other_thread = 70,
		.grid_dim = { 2, 2, 2 }, .block_dim = { 8, 8, 2 }, .address = 64,
	};
}

static char *told(const struct ws_real_table *t, const struct ws_race_found *f)
{
	struct ws_report *r = ws_report_new();
	struct ws_buf b = { 0 };

	ws_report_set(r, "real", "device", 1);
	assert_true(ws_real_race_tell(r, t, f, 3, false));
	ws_report_write_text(r, &(struct ws_text_options){ 0 }, &b);
	ws_report_free(r);
	return b.data;
}

static void expect(const struct ws_real_table *t, const struct ws_race_found *f, const char *const *lines)
{
	char *b = told(t, f);

	for (; *lines; lines++)
		if (!strstr(b, *lines))
			fail_msg("no '%s' in\n%s", *lines, b);
	free(b);
}

static void test_kernels(void **state)
{
	struct ws_real_table *t = make_table(text);

	assert_int_equal(t->nkernels, 2);
	assert_int_equal(t->nlines, 4);
	assert_string_equal(t->kernels[0].plain, "pair");
	assert_null(t->kernels[0].why);
	assert_non_null(strstr(t->kernels[1].why, "cp.async"));
	assert_ptr_equal(ws_real_table_kernel(t, "_Z4pairPi"), &t->kernels[0]);
	assert_null(ws_real_table_kernel(t, "_Z4pair"));
	ws_real_table_free(t);
}

/* Which kernels may go on until something is done elsewhere: those that look for it in a loop. */
static void test_loops(void **state)
{
	static const struct { const char *body; bool loops; } kernels[] = {
		{ "ld.volatile.global.u32 %r1, [%rd1];\n", false },
		{ "atom.global.add.u32 %r1, [%rd1], 1;\n", false },
		{ "membar.gl;\n", false },
		{ "L: ld.volatile.global.u32 %r1, [%rd1];\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra L;\n", true },
		{ "L: atom.global.cas.b32 %r1, [%rd1], 0, 1;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra L;\n", true },
		{ "L: ld.global.u32 %r1, [%rd1];\nmembar.gl;\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra L;\n", true },
		{ "L: red.global.add.u32 [%rd1], 1;\nadd.u32 %r1, %r1, 1;\nsetp.ne.u32 %p1, %r1, 9;\n@%p1 bra L;\n", false },
		{ "bra N;\nL: atom.global.add.u32 %r1, [%rd1], 1;\nbra M;\nN: mov.u32 %r1, 1;\nbra L;\nM: setp.eq.u32 %p1, %r1, 0;\n@%p1 bra N;\n", true },
		{ "L: add.u32 %r1, %r1, 1;\nsetp.ne.u32 %p1, %r1, 9;\n@%p1 bra L;\natom.global.add.u32 %r1, [%rd1], 1;\n", false },
	};

	for (unsigned k = 0; k < WS_COUNT(kernels); k++) {
		struct ws_buf b = { 0 };
		struct ws_real_table *t;

		ws_buf_printf(&b, ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n.reg .pred %%p<2>;\n"
		              ".reg .b32 %%r<4>;\n.reg .b64 %%rd<4>;\nld.param.u64 %%rd1, [p];\nmov.u32 %%r1, 0;\n%sret;\n}\n", kernels[k].body);
		t = make_table(b.data);
		if (t->kernels[0].loops != kernels[k].loops)
			fail_msg("kernel %u", k);
		ws_real_table_free(t);
		ws_buf_free(&b);
	}
}

static void test_same_block(void **state)
{
	struct ws_real_table *t = make_table(text);
	struct ws_race_found f = finding(WS_RACE_READ_AFTER_WRITE, 0, 1);
	const char *lines[] = { "read-after-write race (RAW) in shared memory: no barrier between them", "kernel   pair",
	                        "bytes 64..67 of shared memory", "write    a.cu:5   thread (6,0,1) of block (1,0,1)",
	                        "read     a.cu:7   thread (0,5,0) of block (1,0,1)",
	                        "repair   add __syncthreads() between line 5 and line 7", "3 times", NULL };

	expect(t, &f, lines);
	ws_real_table_free(t);
}

static void test_warp(void **state)
{
	struct ws_real_table *t = make_table(text);
	struct ws_race_found f = finding(WS_RACE_WRITE_AFTER_READ, 1, 0);
	const char *lines[] = { "WAR", "lanes of one warp, not synchronized", "add __syncwarp() between line 5 and line 7", NULL };

	f.other_thread = 41;
	expect(t, &f, lines);
	ws_real_table_free(t);
}

static void test_blocks(void **state)
{
	struct ws_real_table *t = make_table(text);
	struct ws_race_found f = finding(WS_RACE_WRITE_AFTER_WRITE, 3, 3);
	const char *lines[] = { "WAW", "global memory", "two blocks, in no order", "let one block alone write it", NULL };
	const char *same[] = { "warning", "both write the same value", NULL };

	f.space = WS_RACE_GLOBAL;
	f.other_block = 4;
	expect(t, &f, lines);
	f.flags = WS_RACE_SAME_VALUE;
	expect(t, &f, same);
	ws_real_table_free(t);
}

static void test_atomic_plain(void **state)
{
	struct ws_real_table *t = make_table(text);
	struct ws_race_found f = finding(WS_RACE_WRITE_AFTER_WRITE, 2, 3);
	const char *lines[] = { "one is atomic, one is not", "atomic   a.cu:9", "write    a.cu:11",
	                        "use an atomic operation in line 11", NULL };

	f.space = WS_RACE_GLOBAL;
	f.other_block = 0;
	f.other_class = WS_RACE_ATOMIC_GPU;
	expect(t, &f, lines);
	ws_real_table_free(t);
}

/* More places than the bits of a cell can tell apart. */
static void test_ambiguous(void **state)
{
	enum { LINES = (1 << WS_RACE_READ_SITE_BITS) + 5 };
	struct ws_buf b = { 0 };
	struct ws_race_found f = finding(WS_RACE_WRITE_AFTER_READ, 2, LINES);
	const char *lines[] = { "in one of 2 places, among them line 4099", NULL };
	struct ws_real_table *t;

	ws_buf_puts(&b, ".version 7.0\n.target sm_70\n.address_size 64\n.file 1 \"a.cu\"\n"
	                ".visible .entry many()\n{\n\t.reg .b32 %r<4>;\n\t.shared .align 4 .b8 m[20480];\n");
	for (int i = 0; i < LINES; i++)
		ws_buf_printf(&b, "\t.loc 1 %d 2\n\tld.shared.u32 %%r1, [m+%d];\n", i + 1, 4 * i);
	ws_buf_puts(&b, "\tst.shared.u32 [m], %r1;\n\tret;\n}\n");
	t = make_table(b.data);
	assert_int_equal(t->nlines, LINES + 1);
	expect(t, &f, lines);
	ws_real_table_free(t);
	ws_buf_free(&b);
}

static void test_in_flight(void **state)
{
	struct ws_real_table *t = make_table(text);
	struct ws_race_found f = finding(WS_RACE_READ_AFTER_WRITE, 0, 1);
	const char *lines[] = { "an operation that may still be under way", "completion: the operation may still write this memory",
	                        "before line 7, and a __syncthreads() after it", NULL };

	f.flags = WS_RACE_IN_FLIGHT;
	expect(t, &f, lines);
	ws_real_table_free(t);
}

/* What the GPU wrote is not trusted. */
static void test_damaged(void **state)
{
	struct ws_real_table *t = make_table(text);
	struct ws_report *r = ws_report_new();
	struct ws_race_found f = finding(WS_RACE_READ_AFTER_WRITE, 0, 1), g;

	assert_false(ws_real_race_tell(r, NULL, &f, 1, false));
	g = f, g.kernel = 2;
	assert_false(ws_real_race_tell(r, t, &g, 1, false));
	g = f, g.site = 4;
	assert_false(ws_real_race_tell(r, t, &g, 1, false));
	g = f, g.pair = 3;
	assert_false(ws_real_race_tell(r, t, &g, 1, false));
	g = f, g.other_site = 1;             /* that one reads */
	assert_false(ws_real_race_tell(r, t, &g, 1, false));
	g = f;
	memset(g.grid_dim, 0, sizeof g.grid_dim);
	memset(g.block_dim, 0, sizeof g.block_dim);
	assert_true(ws_real_race_tell(r, t, &g, 1, false));
	ws_report_free(r);
	ws_real_table_free(t);
}

/* ---- memory ---- */
struct span { uint64_t at, bytes; };

static int by_start(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	return x->at < y->at ? -1 : x->at > y->at;
}

static void check_layout(uint64_t budget, uint64_t segments, const struct ws_race_gpu_size *gpu)
{
	struct ws_race_layout l;
	struct ws_race_device d;
	struct span s[16];
	size_t n = 0;

	ws_race_lay_out(&l, &d, budget, segments, gpu);
	ws_race_place(&l, &d, 1 << 20);
	s[n++] = (struct span){ d.pages, 8ull << d.pages_log2 };
	s[n++] = (struct span){ d.lines, (uint64_t)WS_RACE_PAGE_BYTES << d.pages_log2 };
	s[n++] = (struct span){ d.cells, (d.ncells + 1ull) * WS_RACE_CELLS_BYTES };
	s[n++] = (struct span){ d.segments, (d.nsegments + 1ull) * sizeof(struct ws_race_segment) };
	s[n++] = (struct span){ d.records, (d.nrecords + 1ull) * WS_RACE_RECORD_BYTES };
	s[n++] = (struct span){ d.locations, sizeof(struct ws_race_location) << d.locations_log2 };
	s[n++] = (struct span){ d.counts, sizeof(struct ws_race_counts) };
	for (int k = 0; k < WS_RACE_SLOT_CLASSES; k++) {
		assert_true(d.slots[k].count || k + 1 < WS_RACE_SLOT_CLASSES);
		assert_true(!k || d.slots[k].bytes > d.slots[k - 1].bytes || !d.slots[k - 1].count);
		assert_int_equal(d.slots[k].bytes % 128, 0);
		s[n++] = (struct span){ d.slots[k].cells, d.slots[k].count * WS_RACE_SLOT_BYTES(d.slots[k].bytes) };
		s[n++] = (struct span){ d.slots[k].used, d.slots[k].count * 4ull };
	}
	qsort(s, n, sizeof *s, by_start);
	for (size_t k = 0; k < n; k++) {
		assert_int_equal(s[k].at % 256, 0);
		assert_true(s[k].at + s[k].bytes <= (k + 1 < n ? s[k + 1].at : (1 << 20) + l.bytes));
	}
	assert_true(l.bytes <= budget + segments + (4 << 20));
	assert_true(l.bytes >= (budget + segments) / 2);
	assert_true(d.nsegments >= segments / sizeof(struct ws_race_segment));
	assert_true(d.nsegments < (1u << 27) - 1 && d.ncells > 0);
}

static void test_layout(void **state)
{
	static const struct ws_race_gpu_size sizes[] = { { 132, 32, 228 << 10, 227 << 10 }, { 1, 1, 48 << 10, 48 << 10 },
	                                                 { 148, 32, 228 << 10, 227 << 10 }, { 20, 16, 64 << 10, 64 << 10 } };

	for (size_t g = 0; g < WS_COUNT(sizes); g++)
		for (uint64_t budget = 8 << 20; budget <= 64ull << 30; budget *= 2)
			check_layout(budget, 0, &sizes[g]);
	check_layout(8ull << 30, WS_RACE_WHOLE_GRID, &sizes[0]);
	assert_true(WS_RACE_WHOLE_GRID / sizeof(struct ws_race_segment) > (1ull << 31) / 32);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kernels), cmocka_unit_test(test_loops), cmocka_unit_test(test_same_block), cmocka_unit_test(test_warp),
		cmocka_unit_test(test_blocks), cmocka_unit_test(test_atomic_plain), cmocka_unit_test(test_ambiguous),
		cmocka_unit_test(test_in_flight),
		cmocka_unit_test(test_damaged), cmocka_unit_test(test_layout),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

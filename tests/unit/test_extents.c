/* test_extents.c - which memory the host says that a launch may come to (rewrite/extent.h), of kernels of which it is known exactly. That all accesses
 * of random kernels lie there is in test_ranges_random.c. */
#include "host_decides.h"
#include "ranges_rig.h"

enum { A = 1 << 20, B = 1 << 21, BYTES = 1 << 16 };

static struct ws_real_touched touched(const char *text, const struct launch *l)
{
	struct ws_buf out = rewritten(text);
	uint64_t a = A, b = B;
	struct ws_gpu_launch g = { .params = NULL };

	for (unsigned k = 0; k < 3; k++) {
		g.grid[k] = l->grid[k] + !l->grid[k];
		g.block[k] = l->block[k] + !l->block[k];
	}
	host_areas[0] = (struct ws_race_area){ A, A + BYTES };
	host_areas[1] = (struct ws_race_area){ B, B + BYTES };
	host_nareas = 2;
	ws_buf_free(&out);
	return host_touched(&host, &g, (void *[]){ &a, &b, (void *)&l->n, (void *)&l->w });
}

struct expected { uint64_t from, to; enum ws_real_does does; };

/* n extents, in the order of first accesses. */
static void expect_extents(const char *text, struct launch l, unsigned n, const struct expected *list)
{
	struct ws_real_touched t = touched(text, &l);

	assert_true(t.known);
	assert_int_equal(t.n, n);
	for (unsigned k = 0; k < n; k++) {
		assert_int_equal(t.list[k].from, list[k].from);
		assert_int_equal(t.list[k].to, list[k].to);
		assert_int_equal(t.list[k].does, list[k].does);
	}
}
#define EXPECT(text, launch, ...) expect_extents(text, launch, sizeof (struct expected[]){ __VA_ARGS__ } / sizeof(struct expected), \
						 (struct expected[]){ __VA_ARGS__ })

#define LAUNCH(blocks, threads, n_, w_) (struct launch){ .grid = { blocks }, .block = { threads }, .n = n_, .w = w_ }

static void threads_in_a_row(void **state)
{
	EXPECT(KERNEL(BELOW_N OFFSET COPY), LAUNCH(4, 64, 200, 0), { A, A + 800, WS_REAL_READS }, { B, B + 800, WS_REAL_WRITES });
	EXPECT(KERNEL(BELOW_N OFFSET COPY), LAUNCH(4, 64, 2000, 0), { A, A + 1024, WS_REAL_READS }, { B, B + 1024, WS_REAL_WRITES });
	EXPECT(KERNEL(BELOW_N OFFSET "red.global.add.u32 [%rd4], 1; st.global.u32 [%rd4+4], %r4;\n"), LAUNCH(1, 32, 32, 0), { A, A + 128, WS_REAL_UPDATES },
	       { A + 4, A + 132, WS_REAL_WRITES });
	EXPECT(KERNEL(BELOW_N "mul.wide.s32 %rd3, %r4, 8; add.s64 %rd4, %rd1, %rd3; red.global.add.u64 [%rd4], %rd3;\n"), LAUNCH(1, 32, 32, 0),
	       { A, A + 256, WS_REAL_UPDATES8 });
	EXPECT(KERNEL(BELOW_N OFFSET "red.cta.global.add.u32 [%rd4], 1;\n"), LAUNCH(1, 32, 32, 0), { A, A + 128, WS_REAL_WRITES });
}

/* Of places that memory says, the allocation. */
static void places_that_memory_says(void **state)
{
	EXPECT(KERNEL(BELOW_N OFFSET "ld.global.u32 %r7, [%rd5]; mul.wide.u32 %rd6, %r7, 4; add.s64 %rd7, %rd1, %rd6; st.global.u32 [%rd7], %r4;\n"),
	       LAUNCH(1, 32, 32, 0), { B, B + 128, WS_REAL_READS }, { A, A + BYTES, WS_REAL_WRITES });
	assert_false(touched(KERNEL("ld.global.u64 %rd6, [%rd1]; st.global.u32 [%rd6], %r4;\n"), &LAUNCH(1, 32, 32, 0)).known);
}

/* "v < 0 ? 0 : v > n - 1 ? n - 1 : v", as compilers have it. */
#define CLAMPED(limits) KERNEL("add.s32 %r7, %r4, -3; add.s32 %r8, %r5, -1;\n" limits \
			       "mul.wide.s32 %rd3, %r10, 4; add.s64 %rd4, %rd1, %rd3; ld.global.u32 %r11, [%rd4];\n")

static void indices_kept_in_a_row(void **state)
{
	struct launch l = LAUNCH(4, 64, 200, 0), none = LAUNCH(4, 64, 0, 0);

	EXPECT(CLAMPED("min.s32 %r9, %r7, %r8; setp.lt.s32 %p1, %r7, 0; selp.b32 %r10, 0, %r9, %p1;\n"), l, { A, A + 800, WS_REAL_READS });
	EXPECT(CLAMPED("max.s32 %r9, %r7, 0; setp.gt.s32 %p1, %r7, %r8; selp.b32 %r10, %r8, %r9, %p1;\n"), l, { A, A + 800, WS_REAL_READS });
	EXPECT(CLAMPED("min.s32 %r9, %r7, %r8; max.s32 %r10, %r9, 0;\n"), l, { A, A + 800, WS_REAL_READS });
	EXPECT(CLAMPED("setp.lt.s32 %p1, %r7, %r8; selp.b32 %r10, %r7, %r8, %p1;\n"), l, { A, A + 800, WS_REAL_READS });    /* what is before is not its own */
	/* One of both, and nothing else is known: not below the allocation. */
	EXPECT(CLAMPED("setp.lt.s32 %p1, %r8, 7; selp.b32 %r10, %r8, %r7, %p1;\n"), l, { A, A + 4 * 253, WS_REAL_READS });
	/* With n = 0 the limits are in the wrong order: the duty does not hold. */
	EXPECT(CLAMPED("min.s32 %r9, %r7, %r8; setp.lt.s32 %p1, %r7, 0; selp.b32 %r10, 0, %r9, %p1;\n"), none, { A, A + BYTES, WS_REAL_READS });
}

/* The same of numbers that memory says. */
#define LOADED(limits) KERNEL("add.s32 %r8, %r5, -1; ld.global.u32 %r7, [%rd2];\n" limits \
			      "mul.wide.s32 %rd3, %r10, 4; add.s64 %rd4, %rd1, %rd3; ld.global.u32 %r11, [%rd4];\n")

static void unknown_indices_kept_in_a_row(void **state)
{
	struct launch l = LAUNCH(4, 64, 200, 0), none = LAUNCH(4, 64, 0, 0);
	struct expected at = { B, B + 4, WS_REAL_READS };

	EXPECT(LOADED("min.s32 %r9, %r7, %r8; setp.lt.s32 %p1, %r7, 0; selp.b32 %r10, 0, %r9, %p1;\n"), l, at, { A, A + 800, WS_REAL_READS });
	EXPECT(LOADED("max.s32 %r9, %r7, 0; setp.gt.s32 %p1, %r7, %r8; selp.b32 %r10, %r8, %r9, %p1;\n"), l, at, { A, A + 800, WS_REAL_READS });
	EXPECT(LOADED("min.s32 %r9, %r7, %r8; max.s32 %r10, %r9, 0;\n"), l, at, { A, A + 800, WS_REAL_READS });
	EXPECT(LOADED("max.s32 %r9, %r7, 0; min.s32 %r10, %r9, %r8;\n"), l, at, { A, A + 800, WS_REAL_READS });
	EXPECT(LOADED("min.u32 %r9, %r7, %r8; max.u32 %r10, %r9, 0;\n"), l, at, { A, A + BYTES, WS_REAL_READS });       /* without a sign: not looked at */
	EXPECT(LOADED("min.s32 %r9, %r7, %r8; setp.lt.s32 %p1, %r8, 0; selp.b32 %r10, 0, %r9, %p1;\n"), l, at, { A, A + BYTES, WS_REAL_READS });
	EXPECT(LOADED("min.s32 %r9, %r7, %r8; setp.lt.s32 %p1, %r7, 0; selp.b32 %r10, 0, %r9, %p1;\n"), none, { B, B + BYTES, WS_REAL_READS },
	       { A, A + BYTES, WS_REAL_READS });
}

/* What holds where one access stands does not where another one does, by a register that several instructions set. */
static void registers_set_several_times(void **state)
{
	EXPECT(KERNEL("setp.gt.u32 %p2, %r3, 3; add.s32 %r7, %r3, -1; mul.wide.s32 %rd3, %r7, 4; add.s64 %rd4, %rd1, %rd3;\n"
	              "@%p2 st.global.u32 [%rd4+64], %r4;\nld.global.u32 %r8, [%rd4+64];\nadd.s32 %r9, %r3, 2; mul.wide.s32 %rd3, %r9, 4;\n"
	              "add.s64 %rd5, %rd2, %rd3; st.global.u32 [%rd5], %r8;\n"),
	       LAUNCH(1, 16, 0, 0), { A + 64 + 12, A + 64 + 4 * 18, WS_REAL_WRITES }, { A + 64 - 4, A + 64 + 4 * 18, WS_REAL_READS },
	       { B, B + 4 * 18, WS_REAL_WRITES });
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(threads_in_a_row), cmocka_unit_test(places_that_memory_says),
		                            cmocka_unit_test(indices_kept_in_a_row), cmocka_unit_test(unknown_indices_kept_in_a_row),
		                            cmocka_unit_test(registers_set_several_times) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_race_bare.c - launches of kernels with checks that need no cells of shared memory: a block takes no slot for them, and the host knows. */
#include "ranges_rig.h"

/* Global memory is written at a place that data gives, and by all threads at once. */
#define WRITES_GLOBAL "ld.global.u32 %r30, [%rd1]; mul.wide.s32 %rd30, %r30, 4; add.s64 %rd31, %rd1, %rd30; st.global.u32 [%rd31+64], %r3;\n"
#define OWN_WORD ".shared .align 4 .b8 s[1024]; mov.u32 %r20, s; mad.lo.s32 %r21, %r3, 4, %r20; st.shared.u32 [%r21], %r3; bar.sync 0;\n"
#define READ_BY_ALL "ld.shared.u32 %r22, [%r20+4];\n"
#define BY_DATA "ld.global.u32 %r23, [%rd1+4]; mad.lo.s32 %r24, %r23, 4, %r20; st.shared.u32 [%r24], %r3;\n"

struct ran { bool bare, decides, race, no_slot; };

static struct ran run_without_slots(const char *text, uint32_t threads)
{
	struct race_rig r = race_new_by("race", (struct ws_gpu_config){ .divergence = WS_DIV_ITS, .host_threads = 1 }, text);
	struct ws_buf said = { 0 };
	struct ws_sink sink = { ws_sink_to_buf, &said };
	struct ws_ptx_module *m = ws_ptx_parse("test.ptx", text, strlen(text), NULL, &sink);
	struct { uint64_t a, b; uint32_t n, w; } params = { .a = rig_mem(&r.rig, 4096)->addr };
	struct ws_gpu_launch l = { .grid = { 2, 1, 1 }, .block = { threads, 1, 1 }, .params = &params };
	const struct ws_rw_kernel *k;
	struct ran ran;
	bool entered;

	assert_true(m && ws_rewrite("race", m, &sink));
	k = &ws_rewrite_result(m)->kernels[0];
	ran = (struct ran){ .bare = k->bare, .decides = k->decides_shared != NULL };
	r.tables.device.slots[0].count = 0;
	assert_true(race_set(r.rig.mod, &r.tables));
	ran.race = race_finds(&r, &l, text, &entered);
	ran.no_slot = r.tables.counts->not_checked[WS_RACE_NO_SLOT];
	ws_ptx_free(m);
	ws_buf_free(&said);
	return ran;
}

/* The race of global memory is told all the same. */
static void what_is_proved_by_addresses_takes_no_slot(void **state)
{
	struct ran x = run_without_slots(KERNEL(OWN_WORD READ_BY_ALL WRITES_GLOBAL), 32);

	(void)state;
	assert_true(x.bare && x.decides && x.race && !x.no_slot);
	/* What nobody writes has no check at all. */
	x = run_without_slots(KERNEL(".shared .align 4 .b8 s[1024]; mov.u32 %r20, s;\n" READ_BY_ALL WRITES_GLOBAL), 32);
	assert_true(x.race && !x.no_slot);
}

static void what_is_not_takes_one(void **state)
{
	struct ran x = run_without_slots(KERNEL(OWN_WORD READ_BY_ALL "bar.sync 0;\n" BY_DATA WRITES_GLOBAL), 32);

	(void)state;
	assert_true(!x.bare && x.race && x.no_slot);
	/* It may be proved, and is not in such a launch: threads from 256 on write behind the variable. */
	x = run_without_slots(KERNEL(OWN_WORD READ_BY_ALL WRITES_GLOBAL), 256);
	assert_true(x.bare && !x.no_slot);
	x = run_without_slots(KERNEL(".shared .align 4 .b8 more[1024];" OWN_WORD READ_BY_ALL WRITES_GLOBAL "mov.u32 %r25, more; st.shared.u32 [%r25], %r3;\n"), 288);
	assert_true(x.bare && x.no_slot);
	/* Of memory that has no name it is not known that it is not shared. */
	x = run_without_slots(KERNEL(OWN_WORD READ_BY_ALL WRITES_GLOBAL "cvt.u64.u32 %rd40, %r20; cvta.shared.u64 %rd41, %rd40; setp.eq.s32 %p1, %r30, 0; selp.b64 %rd42, %rd20, %rd41, %p1; st.u32 [%rd42+128], %r3;\n"), 32);
	assert_true(!x.bare && x.no_slot);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_proved_by_addresses_takes_no_slot), cmocka_unit_test(what_is_not_takes_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

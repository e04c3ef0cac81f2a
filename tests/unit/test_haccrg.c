/* test_haccrg.c - the unit haccrg: figure 6.3 of (Holey, "Transactional execution and dynamic data race detection on GPUs", 2015)
 * state by state, locks, fences, stale lines; that its traffic is counted and its figures are the same each time; that each option
 * changes what it should. */
#include "tests/sim/clocked.h"
#include "tests/unit/gpu_test.h"
#include "units/haccrg_priv.h"

/* ---- entries ---- */
static const struct ws_hac_form form = {{16, 2}, true, true};

static struct ws_hac_access by(bool write, uint16_t tid, uint8_t bid, uint8_t sid)
{
	return (struct ws_hac_access){.by = {.tid = tid, .bid = bid, .sid = sid}, .write = write};
}

static enum ws_hac_race step(struct ws_hac_entry *e, struct ws_hac_access a, uint16_t fence)
{
	bool changed;

	return ws_hac_step(&form, e, &a, fence, &changed);
}

static void test_states(void **state)
{
	struct ws_hac_entry e = {0};

	assert_int_equal(step(&e, by(false, 0, 0, 0), 0), HAC_NONE);
	assert_int_equal(e.state, HAC_READ);
	assert_int_equal(step(&e, by(true, 5, 0, 0), 0), HAC_NONE);              /* a lane of the same warp */
	assert_int_equal(e.state, HAC_WRITTEN);
	assert_int_equal(step(&e, by(false, 32, 0, 0), 0), HAC_RAW);
	assert_int_equal(step(&e, by(true, 32, 0, 0), 0), HAC_WAW);
	e.state = HAC_FRESH;
	step(&e, by(false, 0, 0, 0), 0);
	assert_int_equal(step(&e, by(false, 40, 0, 0), 0), HAC_NONE);
	assert_int_equal(e.state, HAC_READERS);
	assert_int_equal(step(&e, by(true, 0, 0, 0), 0), HAC_WAR);
	e.state = HAC_FRESH;
	step(&e, by(false, 0, 0, 0), 0);
	assert_int_equal(step(&e, by(true, 0, 1, 0), 0), HAC_WAR);               /* of another block */
}

static void test_sync_and_fence_ids(void **state)
{
	struct ws_hac_entry e = {0};
	struct ws_hac_access a = by(true, 0, 0, 0), b = by(false, 64, 0, 0), other = by(false, 0, 1, 3);

	step(&e, a, 0);
	b.by.sync = 1;                           /* behind a barrier of the block */
	assert_int_equal(step(&e, b, 0), HAC_NONE);
	e.state = HAC_FRESH;
	step(&e, a, 0);
	other.by.sync = 1;                       /* that another block has had barriers says nothing */
	assert_int_equal(step(&e, other, 0), HAC_RAW);
	assert_int_equal(step(&e, other, 1), HAC_NONE);          /* the writer's warp has executed a fence since */
	e.state = HAC_FRESH;
	step(&e, a, 0);
	other.hit = true;
	assert_int_equal(step(&e, other, 1), HAC_STALE_READ);
}

static void test_sets_of_locks(void **state)
{
	struct ws_hac_entry e = {0};
	struct ws_hac_access a = by(true, 0, 0, 0), b = by(true, 0, 1, 0), c = by(false, 0, 2, 0), plain = by(false, 0, 3, 0);

	a.by.locks = ws_signature_add(form.locks, 0, 0x100);
	b.by.locks = ws_signature_add(form.locks, a.by.locks, 0x204);
	c.by.locks = ws_signature_add(form.locks, 0, 0x204);
	assert_int_equal(step(&e, a, 0), HAC_NONE);
	assert_int_equal(step(&e, b, 0), HAC_NONE);
	assert_int_equal(e.locks, a.by.locks);           /* what they have in common */
	assert_int_equal(step(&e, c, 1), HAC_NO_COMMON_LOCK);
	e.state = HAC_FRESH;
	step(&e, b, 0);
	assert_int_equal(step(&e, c, 0), HAC_NO_FENCE_IN_SECTION);
	assert_int_equal(step(&e, c, 1), HAC_NONE);
	assert_int_equal(step(&e, plain, 1), HAC_NOT_LOCKED);
}

/* ---- kernels ---- */
struct result { uint64_t cycles, c[32]; struct ws_buf text; };

#define HEAD(name) ".visible .entry " name "(.param .u64 p)\n{\n.reg .b64 %r<9>;\n.reg .b32 %s<9>;\n.reg .pred %q<3>;\n" \
	".shared .align 4 .b8 data[4096];\n" \
	"ld.param.u64 %r1, [p];\nmov.u32 %s1, %tid.x;\nmov.u32 %s2, %ctaid.x;\nmov.u32 %s3, data;\n"
#define MARK(f) "{\n.param .b64 a;\nst.param.b64 [a], %r1;\ncall.uni " f ", (a);\n}\n"
/* Each thread writes its word of shared memory and reads that of the next warp; between them a barrier, or not. */
#define SHARED_KERNEL(name, between) HEAD(name) "mad.lo.u32 %s4, %s1, 4, %s3;\nst.shared.u32 [%s4], %s1;\n" between \
	"add.u32 %s5, %s1, 32;\nand.b32 %s5, %s5, 127;\nmad.lo.u32 %s5, %s5, 4, %s3;\nld.shared.u32 %s6, [%s5];\n" \
	"mad.lo.u32 %s7, %s2, 128, %s1;\nmul.wide.u32 %r2, %s7, 4;\nadd.u64 %r2, %r1, %r2;\nst.global.u32 [%r2], %s6;\nret;\n}\n"
/* The same in global memory, each block in its own 512 bytes. */
#define GLOBAL_KERNEL(name, between) HEAD(name) "mad.lo.u32 %s7, %s2, 128, %s1;\nmul.wide.u32 %r2, %s7, 4;\n" \
	"add.u64 %r2, %r1, %r2;\nst.global.u32 [%r2], %s1;\n" between \
	"xor.b32 %s5, %s7, 32;\nmul.wide.u32 %r3, %s5, 4;\nadd.u64 %r3, %r1, %r3;\nld.global.u32 %s6, [%r3];\n" \
	"st.shared.u32 [%s3], %s6;\nret;\n}\n"
/* Block 0 writes a word and sets a flag, block 1 waits for it and reads the word (figure 6.4). `before` the wait it may
 * read the line. */
#define FLAG_KERNEL(name, fence, before) HEAD(name) "setp.ne.u32 %q1, %s1, 0;\n@%q1 bra out;\nsetp.ne.u32 %q1, %s2, 0;\n" \
	"@%q1 bra reader;\nst.global.u32 [%r1], 7;\n" fence "atom.global.exch.b32 %s4, [%r1+1024], 1;\nbra out;\nreader:\n" before \
	"again:\natom.global.or.b32 %s4, [%r1+1024], 0;\nsetp.eq.u32 %q2, %s4, 0;\n@%q2 bra again;\n" \
	"ld.global.u32 %s5, [%r1];\nst.global.u32 [%r1+2048], %s5;\nout:\nret;\n}\n"
/* One thread of each block adds to a word, in a critical section of a lock (that of its block, with `lock`). */
#define LOCK_KERNEL(name, lock) HEAD(name) "setp.ne.u32 %q1, %s1, 0;\n@%q1 bra out;\n" lock \
	"again:\natom.global.cas.b32 %s4, [%r1+1024], 0, 1;\nsetp.ne.u32 %q2, %s4, 0;\n@%q2 bra again;\n" \
	"ld.volatile.global.u32 %s5, [%r2];\nadd.u32 %s5, %s5, 1;\nst.volatile.global.u32 [%r2], %s5;\nmembar.gl;\n" \
	"atom.global.exch.b32 %s4, [%r1+1024], 0;\nout:\nret;\n}\n"
static const char kernels[] = PTX_HEAD ".extern .func __ws_section_begin(.param .b64 a);\n.extern .func __ws_section_end(.param .b64 a);\n"
	SHARED_KERNEL("shared", "bar.sync 0;\n") SHARED_KERNEL("shared_race", "")
	GLOBAL_KERNEL("global", "bar.sync 0;\n") GLOBAL_KERNEL("global_race", "")
	FLAG_KERNEL("flag", "membar.gl;\n", "") FLAG_KERNEL("flag_race", "", "")
	FLAG_KERNEL("flag_stale", "membar.gl;\n", "ld.global.u32 %s5, [%r1+4];\nst.global.u32 [%r1+3000], %s5;\n")
	LOCK_KERNEL("lock", "mov.u64 %r2, %r1;\n")
	LOCK_KERNEL("lock_own", "mov.u64 %r2, %r1;\nmul.wide.u32 %r3, %s2, 4;\nadd.u64 %r1, %r1, %r3;\n")
	HEAD("marked") MARK("__ws_section_begin") "st.global.u32 [%r1+4], 1;\n" MARK("__ws_section_end") "ret;\n}\n"
	HEAD("one_place") "st.global.u32 [%r1], %s1;\nret;\n}\n"
	HEAD("neighbours") "mul.wide.u32 %r2, %s2, 4;\nadd.u64 %r2, %r1, %r2;\nsetp.ne.u32 %q1, %s1, 0;\n@!%q1 st.global.u32 [%r2], 1;\nret;\n}\n"
	HEAD("atomic_sum") "red.shared.add.u32 [%s3], 1;\nld.shared.u32 %s4, [%s3];\nst.global.u32 [%r1], %s4;\nret;\n}\n";

static struct result run(const char *options, const char *kernel, uint32_t blocks, uint32_t threads)
{
	struct ws_buf text = {0}, why = {0};
	uint32_t values[WS_UNIT_OPTIONS];
	struct ws_timing_options o = {.unit_values = values};
	struct ws_machine m = clocked_named("fx5800");
	struct result res = {0};
	struct ws_timing *t;
	struct ws_mem *p;
	struct rig r;

	ws_buf_printf(&text, "haccrg,%s", options);
	o.unit = ws_unit_parse(text.data, values, &why);
	if (!o.unit)
		fail_msg("%s", why.data);
	t = ws_timing_new(&m, &o);
	r = rig_new((struct ws_gpu_config){.host_threads = 1, .sms = m.cores, .clock = &ws_timing_clock, .clock_self = t,
	                                   .divergence = WS_DIV_STACK, .observer = o.unit->observer,
	                                   .observer_self = ws_timing_unit(t)}, kernels);
	p = rig_mem(&r, 1 << 16);
	rig_run(&r, kernel, blocks, threads, &p->addr);
	ws_timing_json(t, &res.text);
	res.cycles = ws_timing_kernel(t, 0, NULL)->cycles;
	rig_free(&r);
	ws_timing_free(t);
	ws_buf_free(&text);
	return res;
}

static uint64_t counted(const struct result *r, const char *name)
{
	char key[64];
	const char *at;

	snprintf(key, sizeof key, "\"%s\": ", name);
	at = strstr(r->text.data, key);
	assert_non_null(at);
	return strtoull(at + strlen(key), NULL, 10);
}

/* Runs, and returns one counter. */
static uint64_t one(const char *options, const char *kernel, uint32_t blocks, uint32_t threads, const char *name)
{
	struct result r = run(options, kernel, blocks, threads);
	uint64_t n = counted(&r, name);

	ws_buf_free(&r.text);
	return n;
}

static void test_shared_memory(void **state)
{
	assert_int_equal(one("shared=4", "shared", 4, 128, "races"), 0);
	assert_int_equal(one("shared=4", "shared_race", 4, 128, "races"), 1);
	assert_int_not_equal(one("shared=4", "shared_race", 4, 128, "raw"), 0);
	assert_int_equal(one("shared=0", "shared_race", 4, 128, "races"), 0);
	assert_int_equal(one("shared=0", "shared_race", 4, 128, "shared_checks"), 0);
	/* a row of 64 bytes a cycle */
	assert_int_equal(one("global=0", "shared", 1, 128, "reset_cycles"), 4096 / 64);
	assert_int_equal(one("global=0", "shared", 1, 128, "entries_updated"), 0);
}

static void test_global_memory(void **state)
{
	assert_int_equal(one("shared=0", "global", 8, 128, "races"), 0);
	assert_int_equal(one("shared=0", "global", 8, 128, "sync_ids"), 8);
	assert_int_equal(one("shared=0", "global_race", 8, 128, "races"), 1);
	assert_int_equal(one("shared=0,global=0", "global_race", 8, 128, "races"), 0);
	/* words that different blocks write, tracked together */
	assert_int_equal(one("global=4", "neighbours", 8, 32, "races"), 0);
	assert_int_equal(one("global=16", "neighbours", 8, 32, "waw"), 6);
	assert_int_equal(one("global=4", "one_place", 1, 32, "same_instruction"), 1);
}

static void test_fences(void **state)
{
	assert_int_equal(one("shared=0", "flag", 2, 32, "races"), 0);
	assert_int_equal(one("shared=0", "flag_race", 2, 32, "raw"), 1);
	assert_int_equal(one("shared=0", "flag_stale", 2, 32, "stale_reads"), 1);
	assert_int_equal(one("shared=0,stale=0", "flag_stale", 2, 32, "races"), 0);
	assert_int_equal(one("shared=0,fence=0", "flag", 2, 32, "raw"), 1);      /* it cannot know */
	assert_int_equal(one("shared=0", "flag", 2, 32, "fence_ids"), 1);
}

static void test_locks(void **state)
{
	assert_int_equal(one("shared=0", "lock", 8, 32, "races"), 0);
	assert_int_equal(one("shared=0", "lock", 8, 32, "sections"), 8);
	assert_int_not_equal(one("shared=0", "lock_own", 8, 32, "no_common_lock"), 0);
	assert_int_equal(one("shared=0,atomic=0", "lock_own", 8, 32, "no_common_lock"), 0);
	assert_int_equal(one("shared=0,marks=1", "lock", 8, 32, "sections"), 0);
	assert_int_equal(one("shared=0,marks=1", "marked", 2, 1, "sections"), 2);
	assert_int_equal(one("shared=0,marks=1", "marked", 2, 1, "races"), 0);
}

static void test_atomics(void **state)
{
	assert_int_equal(one("global=0,shared=4", "atomic_sum", 1, 64, "races"), 0);
	assert_int_equal(one("global=0,shared=4,atomics=1", "atomic_sum", 1, 64, "races"), 1);
}

static void test_widths(void **state)
{
	assert_int_equal(one("shared=4", "global", 1, 32, "entry_bits"), 2 + 10 + 3 + 5 + 8 + 8 + 16);
	assert_int_equal(one("atomic=0", "global", 1, 32, "entry_bits"), 36);
	assert_int_equal(one("atomic=0", "global", 1, 32, "shadow_bytes"), (1 << 16) / 4 * 36 / 8);
	assert_int_equal(one("atomic=0,fence=0", "global", 1, 32, "entry_bits"), 28);
	assert_int_equal(one("global=16,atomic=0", "global", 1, 32, "shadow_bytes"), (1 << 16) / 16 * 36 / 8);
	assert_int_equal(one("sync=1", "global", 8, 128, "highest_sync_id"), 1);
	assert_int_equal(one("shared=0,fence=1", "lock", 60, 32, "highest_fence_id"), 1);
}

static void test_traffic(void **state)
{
	struct result off = run("shared=0,global=0", "global", 64, 128), on = run("shared=0", "global", 64, 128);
	struct result narrow = run("shared=0,atomic=0,fence=0", "global", 64, 128);

	assert_int_equal(counted(&off, "unit_reads"), 0);
	assert_int_equal(counted(&off, "unit_packets"), 0);
	assert_int_not_equal(counted(&on, "unit_writes"), 0);
	assert_true(counted(&on, "unit_reads") >= counted(&on, "unit_writes"));
	assert_true(on.cycles > off.cycles);
	assert_true(counted(&on, "dram_reads") > counted(&off, "dram_reads"));
	assert_true(counted(&narrow, "dram_reads") < counted(&on, "dram_reads"));
	assert_int_equal(counted(&on, "hits_told") != 0, counted(&on, "l1_hits") + counted(&on, "l1_merged") != 0);
	ws_buf_free(&off.text);
	ws_buf_free(&on.text);
	ws_buf_free(&narrow.text);
}

static void test_answers_wait(void **state)
{
	struct result off = run("shared=0", "global_race", 8, 128), on = run("shared=0,wait=1", "global_race", 8, 128);

	assert_true(on.cycles > off.cycles);
	assert_int_equal(counted(&on, "races"), 1);
	assert_int_equal(counted(&on, "unit_reads"), counted(&off, "unit_reads"));
	ws_buf_free(&off.text);
	ws_buf_free(&on.text);
}

static void test_entries_in_software(void **state)
{
	struct result all = run("hardware=100", "shared", 32, 128), none = run("hardware=0", "shared", 32, 128);

	assert_int_equal(counted(&all, "unit_lines"), 0);
	assert_int_not_equal(counted(&none, "unit_lines"), 0);
	assert_true(none.cycles > all.cycles);
	assert_int_equal(counted(&none, "races"), 0);
	assert_int_equal(one("hardware=0,shared=4", "shared_race", 4, 128, "races"), 1);
	ws_buf_free(&all.text);
	ws_buf_free(&none.text);
}

static void test_virtual_memory(void **state)
{
	struct result plain = run("shared=0", "global", 64, 128), own = run("shared=0,tlb=1,walk=900", "global", 64, 128);
	struct result tags = run("shared=0,tlb=2,walk=900,pages=4", "global", 64, 128);

	assert_int_equal(counted(&plain, "tlb_misses"), 0);
	assert_true(own.cycles > plain.cycles);
	assert_true(counted(&tags, "tlb_misses") > counted(&own, "tlb_misses"));
	assert_int_equal(one("shared=0,tlb=3", "global", 64, 128, "races"), 0);
	ws_buf_free(&plain.text);
	ws_buf_free(&own.text);
	ws_buf_free(&tags.text);
}

static void test_the_same_each_time(void **state)
{
	static const char *const names[] = { "global_race", "shared", "lock_own", "flag" };

	for (size_t i = 0; i < WS_COUNT(names); i++) {
		struct result a = run("hardware=50,tlb=2", names[i], 60, 128), b = run("hardware=50,tlb=2", names[i], 60, 128);

		assert_string_equal(a.text.data, b.text.data);
		ws_buf_free(&a.text);
		ws_buf_free(&b.text);
	}
}

static void test_what_cannot_be(void **state)
{
	static const char *const wrong[] = { "haccrg,shared=12", "haccrg,atomic=8,bins=3", "haccrg,atomic=4,bins=4", "haccrg,tid=12" };

	for (size_t i = 0; i < WS_COUNT(wrong); i++) {
		uint32_t values[WS_UNIT_OPTIONS];
		struct ws_buf why = {0};

		assert_null(ws_unit_parse(wrong[i], values, &why));
		assert_non_null(strstr(why.data, "of unit 'haccrg' must"));
		ws_buf_free(&why);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_states), cmocka_unit_test(test_sync_and_fence_ids), cmocka_unit_test(test_sets_of_locks),
		cmocka_unit_test(test_shared_memory), cmocka_unit_test(test_global_memory), cmocka_unit_test(test_fences),
		cmocka_unit_test(test_locks), cmocka_unit_test(test_atomics), cmocka_unit_test(test_widths),
		cmocka_unit_test(test_traffic), cmocka_unit_test(test_answers_wait), cmocka_unit_test(test_entries_in_software), cmocka_unit_test(test_virtual_memory),
		cmocka_unit_test(test_the_same_each_time), cmocka_unit_test(test_what_cannot_be),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

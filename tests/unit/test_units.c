/* test_units.c - the unit simt-lock on the examples of (Ramamurthy, "Towards scalar synchronization in SIMT architectures", 2011):
 * each behaves as the text says, and where it says deadlock, the launch ends with a diagnosis. */
#include "tests/sim/clocked.h"
#include "tests/unit/gpu_test.h"
#include "units/units.h"

struct clocked {
	struct ws_timing *t;
	struct rig r;
};

static struct clocked start(const char *machine, const char *unit, const char *text)
{
	struct ws_buf why = {0};
	uint32_t values[WS_UNIT_OPTIONS];
	struct ws_timing_options o = {.unit_values = values};
	struct ws_machine m;
	struct clocked c;

	m = clocked_named(machine);
	o.unit = unit ? ws_unit_parse(unit, values, &why) : NULL;
	if (unit && !o.unit)
		fail_msg("%s", why.data);
	c.t = ws_timing_new(&m, &o);
	c.r = rig_new((struct ws_gpu_config){.host_threads = 1, .sms = m.cores, .clock = &ws_timing_clock,
	                                     .clock_self = c.t, .divergence = m.stack ? WS_DIV_STACK : WS_DIV_ITS}, text);
	return c;
}

static void stop(struct clocked *c)
{
	rig_free(&c->r);
	ws_timing_free(c->t);
}

static uint64_t counted(const struct clocked *c, const char *name)
{
	struct ws_buf b = {0};
	char key[64];
	const char *at;
	uint64_t n;

	snprintf(key, sizeof key, "\"%s\": ", name);
	ws_timing_json(c->t, &b);
	at = strstr(b.data, key);
	assert_non_null(at);
	n = strtoull(at + strlen(key), NULL, 10);
	ws_buf_free(&b);
	return n;
}

/* A kernel with parameters p (locks) and q (data), and what all examples need: %r1, %r2 the pointers, %s1 the thread. */
#define KERNEL(body) \
	PTX_HEAD ".extern .func __ws_lock(.param .b64 a);\n.extern .func __ws_unlock(.param .b64 a);\n" \
	".visible .entry k(.param .u64 p, .param .u64 q)\n{\n.reg .b64 %r<16>;\n.reg .b32 %s<16>;\n.reg .pred %p<4>;\n" \
	"ld.param.u64 %r1, [p];\nld.param.u64 %r2, [q];\nmov.u32 %s1, %tid.x;\nmov.u32 %s2, %ctaid.x;\n" \
	"mov.u32 %s3, %ntid.x;\nmad.lo.u32 %s1, %s2, %s3, %s1;\n" body "ret;\n}\n"
#define CALL(f, reg) "{\n.param .b64 a;\nst.param.b64 [a], " reg ";\ncall.uni " f ", (a);\n}\n"
#define LOCK(reg) CALL("__ws_lock", reg)
#define UNLOCK(reg) CALL("__ws_unlock", reg)
/* [reg]++, not atomically */
#define ADD(reg) "ld.volatile.global.u32 %s9, [" reg "];\nadd.u32 %s9, %s9, 1;\nst.volatile.global.u32 [" reg "], %s9;\n"

enum { BLOCKS = 3, THREADS = 40, ALL = BLOCKS * THREADS };

struct memory { struct ws_mem *p, *q; };

static struct memory run(struct clocked *c)
{
	struct memory m = {rig_mem(&c->r, 4096), rig_mem(&c->r, 4096)};
	uint64_t params[2] = {m.p->addr, m.q->addr};

	rig_run(&c->r, "k", BLOCKS, THREADS, params);
	for (int i = 0; i < 1024; i++)
		assert_int_equal(((uint32_t *)(void *)m.p->host)[i], 0);         /* every lock is free again */
	return m;
}

static uint32_t word(const struct ws_mem *m, unsigned i)
{
	return ((const uint32_t *)(const void *)m->host)[i];
}

/* ---- example 9: one lock ---- */
static const char spin[] = KERNEL(LOCK("%r1") ADD("%r2") UNLOCK("%r1")
	/* the whole warp is together again */
	"activemask.b32 %s4;\nmul.wide.u32 %r4, %s1, 4;\nadd.u64 %r4, %r4, %r2;\nst.global.u32 [%r4+1024], %s4;\n");

static const char *const units[] = {"simt-lock", "lock-queue", "lock-queue,records=5"};

static void check_spin(const char *unit)
{
	struct clocked c = start("fermi", unit, spin);
	struct memory m = run(&c);

	assert_int_equal(word(m.q, 0), ALL);
	assert_int_equal(word(m.q, 256), UINT32_MAX);
	assert_int_equal(word(m.q, 256 + THREADS - 1), 255);     /* the second warp of a block has eight threads */
	assert_int_equal(counted(&c, "locks_acquired"), ALL);
	assert_int_equal(counted(&c, "lock_releases"), ALL);
	stop(&c);
}

static void test_example_9(void **state)
{
	for (size_t i = 0; i < WS_COUNT(units); i++)
		check_spin(units[i]);
}

static void test_requests(void **state)
{
	struct clocked c = start("fermi", "simt-lock", spin);

	run(&c);
	assert_int_equal(counted(&c, "lock_requests"), ALL + counted(&c, "lock_failures"));
	stop(&c);
	c = start("fermi", "lock-queue", spin);
	run(&c);
	assert_int_equal(counted(&c, "lock_requests"), ALL);             /* each asks once */
	assert_int_equal(counted(&c, "locks_handed_over"), counted(&c, "locks_queued"));
	assert_in_range(counted(&c, "queue_records"), 32, ALL - 1);
	stop(&c);
	c = start("fermi", "lock-queue,records=5", spin);
	run(&c);
	assert_int_equal(counted(&c, "queue_records"), 5);
	assert_true(counted(&c, "locks_refused") > 0);
	stop(&c);
}

/* A lock that is never given back: the diagnosis, and the machine can be used again. */
static void test_a_lock_that_is_kept(void **state)
{
	for (size_t i = 0; i < WS_COUNT(units); i++) {
		struct clocked c = start("fermi", units[i], KERNEL(LOCK("%r1") ADD("%r2")));
		struct memory m = {rig_mem(&c.r, 64), rig_mem(&c.r, 64)};
		uint64_t params[2] = {m.p->addr, m.q->addr};

		assert_false(rig_launch(&c.r, "k", 2, 1, params));
		assert_int_equal(c.r.err.code, WS_GPU_DEADLOCK);
		memset(m.p->host, 0, 4);
		rig_run(&c.r, "k", 1, 1, params);
		stop(&c);
	}
}

static void test_example_9_with_independent_threads(void **state)
{
	for (size_t i = 0; i < WS_COUNT(units); i++) {
		struct clocked c = start("h200", units[i], spin);

		assert_int_equal(word(run(&c).q, 0), ALL);
		stop(&c);
	}
}

/* Threads want different locks: those of one are done one after the other, others at the same time. */
static void check_different_locks(const char *unit)
{
	struct clocked c = start("fermi", unit, KERNEL(
		"and.b32 %s5, %s1, 7;\nmul.wide.u32 %r5, %s5, 4;\nadd.u64 %r6, %r1, %r5;\nadd.u64 %r7, %r2, %r5;\n"
		LOCK("%r6") ADD("%r7") UNLOCK("%r6")));
	struct memory m = run(&c);

	for (unsigned i = 0; i < 8; i++)
		assert_int_equal(word(m.q, i), ALL / 8);
	stop(&c);
}

static void test_different_locks(void **state)
{
	for (size_t i = 0; i < WS_COUNT(units); i++)
		check_different_locks(units[i]);
}

static void test_backoff(void **state)
{
	struct clocked without = start("fermi", "simt-lock", spin), with = start("fermi", "simt-lock,backoff=2000", spin);

	assert_int_equal(word(run(&without).q, 0), ALL);
	assert_int_equal(word(run(&with).q, 0), ALL);
	assert_true(counted(&with, "lock_failures") < counted(&without, "lock_failures"));
	stop(&without);
	stop(&with);
}

/* More warps of a core come to the lock at once than the memory stage has room for. */
static void test_many_warps(void **state)
{
	for (size_t i = 0; i < WS_COUNT(units); i++) {
		struct clocked c = start("fermi", units[i], KERNEL(
			"and.b32 %s5, %s1, 127;\nmul.wide.u32 %r5, %s5, 4;\nadd.u64 %r6, %r1, %r5;\nadd.u64 %r7, %r2, %r5;\n"
			LOCK("%r6") ADD("%r7") UNLOCK("%r6")));
		struct ws_mem *p = rig_mem(&c.r, 512), *q = rig_mem(&c.r, 512);
		uint64_t params[2] = {p->addr, q->addr};

		rig_run(&c.r, "k", 16, 512, params);
		for (unsigned k = 0; k < 128; k++)
			assert_int_equal(word(q, k), 16 * 512 / 128);
		stop(&c);
	}
}

/* ---- example 10: unlock early and leave the loop, or unlock at the end and go round again ---- */
static void check_example_10(const char *unit)
{
	struct clocked c = start("fermi", unit, KERNEL(
		"mov.u32 %s6, 0;\n"
		"LOOP:\n" LOCK("%r1") ADD("%r2")
		"add.u32 %s6, %s6, 1;\nand.b32 %s7, %s1, 3;\nsetp.le.u32 %p1, %s6, %s7;\n@%p1 bra AGAIN;\n"
		ADD("%r2+4") UNLOCK("%r1") "bra OUT;\n"                  /* D, E */
		"AGAIN:\n" UNLOCK("%r1") "bra LOOP;\n"                   /* F */
		"OUT:\n"
		"activemask.b32 %s4;\nmul.wide.u32 %r4, %s1, 4;\nadd.u64 %r4, %r4, %r2;\nst.global.u32 [%r4+1024], %s6;\n"));
	struct memory m = run(&c);

	assert_int_equal(word(m.q, 0), ALL / 4 * (1 + 2 + 3 + 4));
	assert_int_equal(word(m.q, 1), ALL);
	for (unsigned i = 0; i < ALL; i++)
		assert_int_equal(word(m.q, 256 + i), 1 + (i & 3));
	stop(&c);
}

static void test_example_10(void **state)
{
	for (size_t i = 0; i < WS_COUNT(units); i++)
		check_example_10(units[i]);
}

/* ---- example 11: nested locks in order, released in two branches ---- */
static const char nested[] = KERNEL(
	/* locks i and i + 1: a thread's second is another's first */
	"and.b32 %s5, %s1, 3;\nmul.wide.u32 %r5, %s5, 4;\nadd.u64 %r6, %r1, %r5;\nadd.u64 %r7, %r6, 4;\n"
	"add.u64 %r8, %r2, %r5;\n"
	LOCK("%r6") LOCK("%r7") ADD("%r8") ADD("%r8+4")
	"and.b32 %s7, %s1, 4;\nsetp.eq.u32 %p1, %s7, 0;\n@%p1 bra G;\n"
	UNLOCK("%r7") "bra I;\n"                                         /* E, F */
	"G:\n" ADD("%r8+64") UNLOCK("%r7")                               /* G, H */
	"I:\n" ADD("%r8+128") UNLOCK("%r6"));                            /* I, J */

static void check_nested(const char *machine, const char *unit)
{
	struct clocked c = start(machine, unit, nested);
	struct memory m = run(&c);

	assert_int_equal(word(m.q, 0), ALL / 4);
	for (unsigned i = 1; i < 4; i++)
		assert_int_equal(word(m.q, i), ALL / 2);         /* of threads with the first and with the second lock there */
	assert_int_equal(word(m.q, 4), ALL / 4);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(word(m.q, 32 + i), ALL / 4);
	assert_int_equal(counted(&c, "locks_acquired"), 2 * ALL);
	stop(&c);
}

static void test_example_11(void **state)
{
	check_nested("fermi", "simt-lock");
	check_nested("h200", "simt-lock");
}

/* 5.2.2: queues and nested locks would deadlock when a thread below on the stack has been handed what the one on top wants. */
static void test_example_11_with_queues(void **state)
{
	check_nested("fermi", "lock-queue");
	check_nested("fermi", "lock-queue,records=5");
	check_nested("h200", "lock-queue");
}

static void test_three_levels(void **state)
{
	struct clocked c = start("fermi", "simt-lock", KERNEL(
		"and.b32 %s5, %s1, 1;\nmul.wide.u32 %r5, %s5, 4;\nadd.u64 %r6, %r1, %r5;\nadd.u64 %r7, %r6, 4;\n"
		"add.u64 %r8, %r6, 8;\n"
		LOCK("%r6") LOCK("%r7") LOCK("%r8") ADD("%r2") UNLOCK("%r8") UNLOCK("%r7") UNLOCK("%r6")));
	struct memory m = run(&c);

	/* even and odd threads share the lock in the middle, so the word is theirs alone */
	assert_int_equal(word(m.q, 0), ALL);
	stop(&c);
}

/* All wait for all of their warp behind a critical section: they are together there. */
static void test_together_behind_the_unlock(void **state)
{
	struct clocked c = start("fermi", "simt-lock", KERNEL(
		LOCK("%r1") ADD("%r2") UNLOCK("%r1")
		"shr.u32 %s8, %s1, 5;\nmul.wide.u32 %r9, %s8, 4;\nadd.u64 %r9, %r9, %r2;\natom.global.add.u32 %s7, [%r9+64], 1;\n"
		"WAIT:\nld.volatile.global.u32 %s7, [%r9+64];\nsetp.lt.u32 %p2, %s7, 32;\n@%p2 bra WAIT;\n"));
	struct memory m = {rig_mem(&c.r, 64), rig_mem(&c.r, 512)};
	uint64_t params[2] = {m.p->addr, m.q->addr};

	rig_run(&c.r, "k", 2, 64, params);
	assert_int_equal(word(m.q, 0), 128);
	stop(&c);
}

/* ---- examples 12 and 13: what the paper says it cannot do ---- */
static void test_example_12_deadlocks(void **state)
{
	struct clocked c = start("fermi", "simt-lock", KERNEL(
		"and.b32 %s5, %s1, 1;\nsetp.eq.u32 %p1, %s5, 0;\n@%p1 bra ELSE;\n"
		LOCK("%r1") ADD("%r2") "bra E;\nELSE:\n" LOCK("%r1")
		"E:\n" ADD("%r2+4") UNLOCK("%r1")
		/* who is here waits for the others of its warp, which wait below it on the stack */
		"atom.global.add.u32 %s7, [%r2+8], 1;\n"
		"WAIT:\nld.volatile.global.u32 %s7, [%r2+8];\nsetp.lt.u32 %p2, %s7, 32;\n@%p2 bra WAIT;\n"));
	struct memory m = {rig_mem(&c.r, 64), rig_mem(&c.r, 64)};
	uint64_t params[2] = {m.p->addr, m.q->addr};

	assert_false(rig_launch(&c.r, "k", 1, 32, params));
	assert_int_equal(c.r.err.code, WS_GPU_DEADLOCK);
	stop(&c);
}

static void test_example_13_deadlocks(void **state)
{
	/* thread 1 wants the lock that thread 0 holds, which waits for it at the end of the branch */
	struct clocked c = start("fermi", "simt-lock", KERNEL(
		"mul.wide.u32 %r5, %s1, 4;\nadd.u64 %r6, %r1, %r5;\n" LOCK("%r6")
		"setp.eq.u32 %p1, %s1, 0;\n@%p1 bra F;\n" LOCK("%r1") ADD("%r2") UNLOCK("%r1")
		"F:\n" ADD("%r2+4") UNLOCK("%r6")));
	struct memory m = {rig_mem(&c.r, 64), rig_mem(&c.r, 64)};
	uint64_t params[2] = {m.p->addr, m.q->addr};

	assert_false(rig_launch(&c.r, "k", 1, 2, params));
	assert_int_equal(c.r.err.code, WS_GPU_DEADLOCK);
	stop(&c);
}

/* ---- errors ---- */
static void test_without_the_unit(void **state)
{
	struct clocked c = start("fermi", NULL, spin);
	uint64_t params[2] = {0, 0};

	assert_false(rig_launch(&c.r, "k", 1, 1, params));
	assert_says(&c.r, "'__ws_lock' is not simulated: it is an instruction of a proposed hardware unit");
	stop(&c);
}

static void test_bad_address(void **state)
{
	struct clocked c = start("fermi", "simt-lock", spin);
	uint64_t params[2] = {8, 0};

	assert_false(rig_launch(&c.r, "k", 1, 1, params));
	assert_int_equal(c.r.err.code, WS_GPU_BAD_ADDRESS);
	stop(&c);
}

static void refused(const char *text, const char *words)
{
	struct ws_buf why = {0};
	uint32_t values[WS_UNIT_OPTIONS];

	assert_null(ws_unit_parse(text, values, &why));
	if (!strstr(why.data, words))
		fail_msg("'%s' is not in: %s", words, why.data);
	ws_buf_free(&why);
}

static void test_bad_options(void **state)
{
	refused("simt", "there is no unit 'simt'; there are: simt-lock lock-queue");
	refused("simt-lock,speed=1", "unit 'simt-lock' has no option 'speed'; it has: backoff");
	refused("simt-lock,backoff=x", "'backoff' of unit 'simt-lock' must be a whole number from 0 to 100000");
	refused("simt-lock,backoff", "must be a whole number");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_example_9),
		cmocka_unit_test(test_example_9_with_independent_threads),
		cmocka_unit_test(test_requests),
		cmocka_unit_test(test_a_lock_that_is_kept),
		cmocka_unit_test(test_different_locks),
		cmocka_unit_test(test_backoff),
		cmocka_unit_test(test_many_warps),
		cmocka_unit_test(test_example_10),
		cmocka_unit_test(test_example_11),
		cmocka_unit_test(test_example_11_with_queues),
		cmocka_unit_test(test_three_levels),
		cmocka_unit_test(test_together_behind_the_unlock),
		cmocka_unit_test(test_example_12_deadlocks),
		cmocka_unit_test(test_example_13_deadlocks),
		cmocka_unit_test(test_without_the_unit),
		cmocka_unit_test(test_bad_address),
		cmocka_unit_test(test_bad_options),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

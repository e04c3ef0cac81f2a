/* test_timing.c - small kernels on the clocked GPU: latencies and bandwidth come out as the machine's description says, results
 * are right, sums agree, and a run can be repeated. */
#include "tests/sim/clocked.h"
#include "tests/unit/gpu_test.h"
#include "timing/timing.h"

struct clocked {
	struct ws_machine m;
	struct ws_timing *t;
	struct rig r;
};

static struct clocked start_on(const struct ws_machine *m, const char *text)
{
	struct clocked c = {.m = *m, .t = ws_timing_new(m, NULL)};
	struct ws_gpu_config g = {.host_threads = 1, .sms = m->cores, .clock = &ws_timing_clock, .clock_self = c.t,
	                          .divergence = m->stack ? WS_DIV_STACK : WS_DIV_ITS};

	c.r = rig_new(g, text);
	return c;
}

static struct clocked start(const char *name, const char *text)
{
	struct ws_machine m = clocked_named(name);

	return start_on(&m, text);
}

static void stop(struct clocked *c)
{
	rig_free(&c->r);
	ws_timing_free(c->t);
}

static const struct ws_counters *counters(const struct clocked *c)
{
	return ws_timing_kernel(c->t, 0, NULL);
}

/* ---- latency ---- */
/* One thread follows n pointers; the kernel stores how long that took. */
static char *chase(const char *space, const char *load, unsigned n)
{
	struct ws_buf b = {0};

	ws_buf_puts(&b, PTX_HEAD ".visible .entry k(.param .u64 p, .param .u64 out)\n{\n"
	            ".reg .b64 %r<8>;\n.shared .align 8 .b8 box[64];\n"
	            "ld.param.u64 %r1, [p];\nld.param.u64 %r2, [out];\n");
	if (!strcmp(space, "shared"))
		ws_buf_puts(&b, "mov.u64 %r1, box;\nst.shared.u64 [box], %r1;\nbar.sync 0;\n");
	ws_buf_printf(&b, "%s %%r1, [%%r1];\n", load);           /* the first one warms the caches */
	ws_buf_puts(&b, "add.u64 %r1, %r1, 0;\nmov.u64 %r3, %clock64;\n");
	for (unsigned i = 0; i < n; i++)
		ws_buf_printf(&b, "%s %%r1, [%%r1];\n", load);
	ws_buf_puts(&b, "add.u64 %r5, %r1, 0;\nmov.u64 %r4, %clock64;\nsub.u64 %r4, %r4, %r3;\n"
	            "st.global.u64 [%r2], %r4;\nst.global.u64 [%r2+8], %r5;\nret;\n}\n");
	return b.data;
}

static uint64_t chase_time(const struct ws_machine *m, const char *space, const char *load, unsigned n, uint64_t step)
{
	char *text = chase(space, load, n);
	struct clocked c = start_on(m, text);
	struct ws_mem *p = rig_mem(&c.r, (n + 2) * (step ? step : 8)), *out = rig_mem(&c.r, 16);
	uint64_t params[2] = {p->addr, out->addr}, took;

	for (uint64_t i = 0; i <= n; i++)
		*(uint64_t *)(void *)(p->host + i * step) = p->addr + (step ? (i + 1) * step : 0);
	rig_run(&c.r, "k", 1, 1, params);
	took = *(uint64_t *)(void *)out->host;
	stop(&c);
	free(text);
	return took;
}

/* Cycles a load, from the difference of two lengths. */
static uint64_t latency(const struct ws_machine *m, const char *space, const char *load, uint64_t step)
{
	return (chase_time(m, space, load, 48, step) - chase_time(m, space, load, 16, step)) / 32;
}

static void test_latency_of_shared_memory_and_l1(void **state)
{
	struct ws_machine m = clocked_named("fx5800");

	assert_int_equal(latency(&m, "shared", "ld.shared.u64", 0), m.shared_latency);
	assert_int_equal(latency(&m, "global", "ld.global.u64", 0), m.l1_latency);
	assert_int_equal(latency(&m, "global", "ld.global.nc.u64", 0), m.texture_latency);
	m = clocked_named("h200");             /* one cache for both */
	assert_int_equal(latency(&m, "global", "ld.global.nc.u64", 0), m.l1_latency);
	assert_int_equal(latency(&m, "shared", "ld.shared.u64", 0), m.shared_latency);
	assert_int_equal(latency(&m, "global", "ld.global.u64", 0), m.l1_latency);
}

/* From issue to the stage, a flit there, the slice, and two flits (8 + 32 bytes) back; a flit takes two cycles. */
static uint64_t l2_path(const struct ws_machine *m)
{
	return 1 + 2 * 1 + m->network_latency + m->l2_latency + 2 * 2 + m->network_latency;
}

static void test_latency_of_l2(void **state)
{
	struct ws_machine m = clocked_named("fermi");  /* no first-level cache */

	assert_int_equal(latency(&m, "global", "ld.global.u64", 0), l2_path(&m));
	m = clocked_named("h200");                     /* a volatile load goes past it */
	assert_int_equal(latency(&m, "global", "ld.volatile.global.u64", 0),
	                 1 + 1 + 2 * m.network_latency + m.l2_latency + 1);
}

static void test_latency_of_dram(void **state)
{
	struct ws_machine m = clocked_named("fermi");
	uint64_t clock = 10 * m.clock_core / m.clock_memory, burst = 2 * 4;      /* in tenths; 64 bytes at 8 a cycle */
	uint64_t best, worst;

	/* one partition, one load a row of one bank: precharge, activation, read */
	m.partitions = 1;
	m.l2.fetch = 64;
	best = l2_path(&m) + m.dram_latency + (m.tRP + m.tRCD + m.tCL + burst) * clock / 10;
	worst = best + 4;                        /* whole cycles of each clock */
	assert_in_range(latency(&m, "global", "ld.global.u64", 8 * 2048 * 8), best - 4, worst);
}

/* ---- the order of a compiler ---- */
/* Four loads, each value used at once: one thread's time. */
static const char uses[] = PTX_HEAD
	".visible .entry k(.param .u64 p, .param .u64 out)\n{\n.reg .b64 %r<8>;\n.reg .b32 %s<12>;\n"
	"ld.param.u64 %r1, [p];\nld.param.u64 %r2, [out];\nld.volatile.global.u32 %s9, [%r1];\nadd.u32 %s8, %s9, 0;\n"
	"bar.sync 0;\nmov.u64 %r3, %clock64;\n"
	"ld.volatile.global.u32 %s1, [%r1];\nadd.u32 %s8, %s8, %s1;\nld.volatile.global.u32 %s2, [%r1+4];\nadd.u32 %s8, %s8, %s2;\n"
	"ld.volatile.global.u32 %s1, [%r1+8];\nadd.u32 %s8, %s8, %s1;\nld.volatile.global.u32 %s2, [%r1+12];\nadd.u32 %s8, %s8, %s2;\n"
	"bar.sync 0;\nmov.u64 %r4, %clock64;\nsub.u64 %r4, %r4, %r3;\nst.global.u64 [%r2], %r4;\nst.global.u32 [%r2+8], %s8;\nret;\n}\n";

static uint64_t time_of_uses(uint32_t ahead)
{
	struct ws_machine m = clocked_named("h200");
	struct clocked c;
	struct ws_mem *p, *out;
	uint64_t params[2], took;

	m.ahead = ahead;
	c = start_on(&m, uses);
	p = rig_mem(&c.r, 16);
	out = rig_mem(&c.r, 16);
	for (uint32_t i = 0; i < 4; i++)
		((uint32_t *)(void *)p->host)[i] = 1u << 8 * i;
	params[0] = p->addr;
	params[1] = out->addr;
	rig_run(&c.r, "k", 1, 1, params);
	took = *(uint64_t *)(void *)out->host;
	assert_int_equal(((uint32_t *)(void *)out->host)[2], 0x01010102);
	stop(&c);
	return took;
}

static void test_uses_behind_later_loads(void **state)
{
	struct ws_machine m = clocked_named("h200");
	uint64_t in_order = time_of_uses(0), two = time_of_uses(2), all = time_of_uses(4);
	uint64_t load = 2 * m.network_latency + m.l2_latency;

	assert_in_range(in_order, 4 * load, 5 * load);          /* one after the other */
	assert_in_range(two, 2 * load, 3 * load);               /* three loads, then the third waits for room */
	assert_in_range(all, load, 2 * load);                   /* all at once; the block's end waits for the sums */
}

/* Loads of a step that would all come to one partition. */
static uint64_t time_of_steps(uint32_t hash)
{
	struct ws_machine m = clocked_named("h200");
	struct clocked c;
	struct ws_mem *p;
	uint64_t params[1];

	m.hash = hash;
	c = start_on(&m, PTX_HEAD ".visible .entry k(.param .u64 p)\n{\n.reg .b64 %r<8>;\n.reg .b32 %s<8>;\n"
	             "ld.param.u64 %r1, [p];\nmov.u32 %s1, %tid.x;\nmul.lo.u32 %s2, %s1, 49152;\ncvt.u64.u32 %r2, %s2;\n"
	             "add.u64 %r1, %r1, %r2;\nld.global.u32 %s3, [%r1];\nadd.u32 %s3, %s3, %s1;\nst.global.u32 [%r1], %s3;\nret;\n}\n");
	p = rig_mem(&c.r, 512 * 49152);
	params[0] = p->addr;
	rig_run(&c.r, "k", 1, 512, params);
	for (uint32_t i = 0; i < 512; i++)
		assert_int_equal(*(uint32_t *)(void *)(p->host + i * 49152ull), i);
	params[0] = counters(&c)->cycles;
	stop(&c);
	return params[0];
}

static void test_hashed_partitions(void **state)
{
	uint64_t spread = time_of_steps(1), in_one = time_of_steps(0);

	assert_true(5 * spread < 4 * in_one);    /* 96 partitions, pieces of 512 bytes; the latency is in both */
}

/* ---- bandwidth ---- */
static const char copy[] = PTX_HEAD
	".visible .entry k(.param .u64 a, .param .u64 b, .param .u32 n)\n{\n"
	".reg .b64 %r<8>;\n.reg .b32 %s<8>;\n.reg .pred %p;\n.reg .f32 %f;\n"
	"ld.param.u64 %r1, [a];\nld.param.u64 %r2, [b];\nld.param.u32 %s5, [n];\n"
	"mov.u32 %s1, %ctaid.x;\nmov.u32 %s2, %ntid.x;\nmov.u32 %s3, %tid.x;\nmad.lo.u32 %s4, %s1, %s2, %s3;\n"
	"mov.u32 %s6, %nctaid.x;\nmul.lo.u32 %s6, %s6, %s2;\n"
	"LOOP:\nsetp.ge.u32 %p, %s4, %s5;\n@%p bra END;\nmul.wide.u32 %r3, %s4, 4;\nadd.u64 %r4, %r1, %r3;\n"
	"add.u64 %r5, %r2, %r3;\nld.global.f32 %f, [%r4];\nst.global.f32 [%r5], %f;\nadd.u32 %s4, %s4, %s6;\nbra LOOP;\n"
	"END:\nret;\n}\n";

static void test_streaming_is_bound_by_dram(void **state)
{
	struct clocked c = start("fermi", copy);
	uint32_t n = 1 << 18;
	struct ws_mem *a = rig_mem(&c.r, n * 4), *b = rig_mem(&c.r, n * 4);
	struct { uint64_t a, b; uint32_t n; } params = {a->addr, b->addr, n};
	const struct ws_counters *k;
	double peak, reached;

	for (uint32_t i = 0; i < n; i++)
		((uint32_t *)(void *)a->host)[i] = i * 2654435761u;
	rig_run(&c.r, "k", 64, 256, &params);
	assert_memory_equal(a->host, b->host, n * 4);
	k = counters(&c);
	peak = (double)c.m.partitions * c.m.dram_bus * c.m.clock_memory / c.m.clock_core;        /* bytes a cycle */
	reached = (double)(k->dram_reads + k->dram_writes) * c.m.dram_burst / (double)k->cycles;
	assert_true(reached > 0.75 * peak && reached <= peak);
	assert_int_equal(k->dram_reads * c.m.dram_burst, n * 4);         /* each byte once */
	assert_int_equal(k->transactions, 2 * n / 32);
	stop(&c);
}

/* ---- shared memory ---- */
static uint64_t conflicts(uint32_t step)
{
	static const char text[] = PTX_HEAD
		".visible .entry k(.param .u32 step)\n{\n.reg .b32 %s<8>;\n.shared .align 4 .b8 box[16384];\n"
		"ld.param.u32 %s1, [step];\nmov.u32 %s2, %tid.x;\nmul.lo.u32 %s3, %s2, %s1;\nmov.u32 %s4, box;\n"
		"add.u32 %s5, %s4, %s3;\nst.shared.u32 [%s5], %s2;\nld.shared.u32 %s6, [%s5];\nret;\n}\n";
	struct clocked c = start("fermi", text);
	uint64_t n;

	rig_run(&c.r, "k", 1, 32, &step);
	n = counters(&c)->bank_conflicts;
	assert_int_equal(counters(&c)->shared_accesses, 2);
	stop(&c);
	return n;
}

static void test_bank_conflicts_by_stride(void **state)
{
	assert_int_equal(conflicts(4), 0);
	assert_int_equal(conflicts(8), 2 * 1);
	assert_int_equal(conflicts(16), 2 * 3);
	assert_int_equal(conflicts(128), 2 * 31);
	assert_int_equal(conflicts(132), 0);
	assert_int_equal(conflicts(0), 0);
}

/* ---- atomics ---- */
static const char atomics[] = PTX_HEAD
	".visible .entry k(.param .u64 p, .param .u64 out)\n{\n.reg .b64 %r<8>;\n.reg .b32 %s<12>;\n.reg .pred %p;\n"
	"ld.param.u64 %r1, [p];\nld.param.u64 %r2, [out];\nmov.u32 %s1, %ctaid.x;\nmov.u32 %s2, %ntid.x;\n"
	"mov.u32 %s3, %tid.x;\nmad.lo.u32 %s4, %s1, %s2, %s3;\nmul.wide.u32 %r3, %s4, 4;\nadd.u64 %r4, %r2, %r3;\n"
	"atom.global.add.u32 %s5, [%r1], 1;\n"               /* one counter for all */
	"red.global.add.u32 [%r4], 7;\n"                     /* a word of its own, ... */
	"ld.global.u32 %s6, [%r4];\n"                        /* ... in which the thread sees what it has done */
	"mov.u32 %s8, 100;\nred.global.add.u32 [%r4], %s8;\nmov.u32 %s8, 0;\n" /* the operand is what it was */
	"add.u32 %s7, %s6, %s8;\nsetp.ne.u32 %p, %s7, 7;\n@%p trap;\nret;\n}\n";

static void test_atomics_happen_once_each(void **state)
{
	struct clocked c = start("fermi", atomics);
	struct ws_mem *p = rig_mem(&c.r, 4), *out = rig_mem(&c.r, 96 * 70 * 4);
	uint64_t params[2] = {p->addr, out->addr};

	rig_run(&c.r, "k", 70, 96, params);
	assert_int_equal(*(uint32_t *)(void *)p->host, 96 * 70);
	for (uint32_t i = 0; i < 96 * 70; i++)
		assert_int_equal(((uint32_t *)(void *)out->host)[i], 107);
	assert_int_equal(counters(&c)->atomics, 3 * 3 * 70);
	stop(&c);
}

/* Two threads of one warp hand a lock to each other under independent threads; under the stack they wait for ever. */
static const char lock[] = PTX_HEAD
	".visible .entry k(.param .u64 p)\n{\n.reg .b64 %r<4>;\n.reg .b32 %s<4>;\n.reg .pred %p;\n"
	"ld.param.u64 %r1, [p];\n"
	"SPIN:\natom.global.cas.b32 %s1, [%r1], 0, 1;\nsetp.ne.u32 %p, %s1, 0;\n@%p bra SPIN;\n"
	"ld.volatile.global.u32 %s2, [%r1+4];\nadd.u32 %s2, %s2, 1;\nst.volatile.global.u32 [%r1+4], %s2;\n"
	"membar.gl;\natom.global.exch.b32 %s1, [%r1], 0;\nret;\n}\n";

static void test_a_lock_works_with_independent_threads(void **state)
{
	struct clocked c = start("h200", lock);
	struct ws_mem *p = rig_mem(&c.r, 8);
	uint64_t params[1] = {p->addr};

	rig_run(&c.r, "k", 3, 64, params);
	assert_int_equal(((uint32_t *)(void *)p->host)[1], 3 * 64);
	stop(&c);
}

static void test_a_lock_deadlocks_under_the_stack(void **state)
{
	struct clocked c = start("fermi", lock);
	struct ws_mem *p = rig_mem(&c.r, 8);
	uint64_t params[1] = {p->addr};

	assert_false(rig_launch(&c.r, "k", 1, 2, params));
	assert_int_equal(c.r.err.code, WS_GPU_DEADLOCK);
	memset(p->host, 0, 8);                   /* and the machine can be used again */
	rig_run(&c.r, "k", 4, 1, params);
	assert_int_equal(((uint32_t *)(void *)p->host)[1], 4);
	stop(&c);
}

static void test_a_barrier_that_nobody_completes(void **state)
{
	struct clocked c = start("h200", PTX_HEAD
		".visible .entry k()\n{\n.reg .b32 %s<2>;\n.reg .pred %p;\nmov.u32 %s1, %tid.x;\nsetp.ge.u32 %p, %s1, 32;\n"
		"@%p bra B;\nbarrier.sync 1, 64;\nret;\nB:\nbarrier.sync 2, 64;\nret;\n}\n");

	assert_false(rig_launch(&c.r, "k", 1, 64, NULL));
	assert_int_equal(c.r.err.code, WS_GPU_DEADLOCK);
	assert_says(&c.r, "no thread of block");
	stop(&c);
}

/* ---- operand collectors ---- */
static struct ws_counters products(uint32_t collectors, uint32_t banks)
{
	struct ws_machine m = clocked_named("fermi");
	struct ws_buf b = {0};
	struct ws_counters k;
	struct clocked c;

	m.collectors = collectors;
	m.register_banks = banks;
	ws_buf_puts(&b, PTX_HEAD ".visible .entry k(.param .u64 p)\n{\n.reg .b64 %r<2>;\n.reg .b32 %s<4>;\n"
	            "ld.param.u64 %r1, [p];\nmov.u32 %s1, %tid.x;\nmov.u32 %s2, %ntid.x;\nmov.u32 %s3, %ctaid.x;\n");
	for (int i = 0; i < 100; i++)
		ws_buf_puts(&b, "mad.lo.u32 %s1, %s1, %s2, %s3;\n");
	ws_buf_puts(&b, "st.global.u32 [%r1], %s1;\nret;\n}\n");
	c = start_on(&m, b.data);
	rig_run(&c.r, "k", 1, 32, &(uint64_t){rig_mem(&c.r, 64)->addr});
	k = *counters(&c);
	stop(&c);
	ws_buf_free(&b);
	return k;
}

static void test_operand_collectors(void **state)
{
	struct ws_counters none = products(0, 16), many = products(4, 16), one = products(4, 1);

	assert_int_equal(none.register_conflicts, 0);
	assert_in_range(many.register_conflicts, 0, 1);          /* three registers side by side; the store's may meet */
	assert_in_range(many.cycles, none.cycles, none.cycles + 1);
	/* three reads of one bank in turn; the store has an address of 64 bits and a value */
	assert_int_equal(one.register_conflicts, 100 * 2 + 2);
	assert_in_range(one.cycles, none.cycles + 100 * 2, none.cycles + 100 * 2 + 4);
	assert_int_equal(one.slots, one.issued + one.stall_pipeline + one.stall_collectors + one.stall_memory_stage +
	                 one.stall_data + one.stall_branch + one.stall_memory + one.stall_order + one.stall_barrier +
	                 one.stall_empty);
}

/* ---- wavefronts of 64 ---- */
static struct ws_counters wavefront(bool pairs, const char *body, uint32_t threads, uint32_t expected)
{
	struct ws_machine m = clocked_named("southern-islands");
	struct ws_buf b = {0};
	struct ws_counters k;
	struct ws_mem *p;
	struct clocked c;

	m.wavefront = pairs;
	ws_buf_printf(&b, PTX_HEAD ".visible .entry k(.param .u64 p)\n{\n.reg .b64 %%r<4>;\n.reg .b32 %%s<8>;\n.reg .pred %%q<4>;\n"
	              "ld.param.u64 %%r1, [p];\nmov.u32 %%s1, %%tid.x;\nmov.u32 %%s2, 0;\n%s"
	              "atom.global.add.u32 %%s7, [%%r1], %%s2;\nret;\n}\n", body);
	c = start_on(&m, b.data);
	p = rig_mem(&c.r, 64);
	memset(p->host, 0, 64);
	rig_run(&c.r, "k", 1, threads, &(uint64_t){p->addr});
	assert_int_equal(*(uint32_t *)(void *)p->host, expected);
	k = *counters(&c);
	stop(&c);
	ws_buf_free(&b);
	return k;
}

static const char counting[] =
	"L:\nadd.u32 %s2, %s2, 1;\nsetp.lt.u32 %q1, %s2, 50;\n@%q1 bra L;\n";
/* the second warp alone goes through the loop */
static const char parting[] =
	"setp.lt.u32 %q2, %s1, 32;\n@%q2 bra M;\nL:\nadd.u32 %s2, %s2, 1;\nsetp.lt.u32 %q1, %s2, 50;\n@%q1 bra L;\nM:\n";
/* the first warp waits in a loop for what the second does behind it */
static const char waiting[] =
	"setp.ge.u32 %q2, %s1, 32;\n@%q2 bra M;\nL:\nld.volatile.global.u32 %s3, [%r1+32];\nsetp.eq.u32 %q1, %s3, 0;\n@%q1 bra L;\n"
	"M:\nmov.u32 %s4, 1;\nst.volatile.global.u32 [%r1+32], %s4;\n";

static void test_wavefronts_of_64(void **state)
{
	struct ws_counters apart = wavefront(false, counting, 64, 64 * 50), pair = wavefront(true, counting, 64, 64 * 50);

	assert_int_equal(apart.thread_instructions, pair.thread_instructions);
	assert_in_range(2 * pair.issued, apart.issued, apart.issued + 8);         /* two warps take one turn, but for the last */
	apart = wavefront(false, parting, 64, 32 * 50);
	pair = wavefront(true, parting, 64, 32 * 50);
	assert_int_equal(apart.thread_instructions, pair.thread_instructions);
	/* the loop of one half takes a turn an instruction, and they are together again behind it */
	assert_in_range(pair.issued, 150, apart.issued - 3);
	assert_in_range(pair.lanes_issued, 0, pair.issued * 64 * 6 / 10);
	wavefront(true, waiting, 64, 0);
	wavefront(true, counting, 96, 96 * 50);                  /* half a wavefront at the end */
}

/* ---- blocks ---- */
static uint64_t cycles_with_shared(uint32_t shared)
{
	static const char text[] = PTX_HEAD
		".visible .entry k()\n{\n.reg .b32 %s<4>;\n.reg .pred %p;\nmov.u32 %s1, 0;\n"
		"L:\nadd.u32 %s1, %s1, 1;\nsetp.lt.u32 %p, %s1, 100;\n@%p bra L;\nret;\n}\n";
	struct clocked c = start("fermi", text);
	struct ws_gpu_launch l = {.grid = {32, 1, 1}, .block = {32, 1, 1}, .shared_dynamic = shared};
	uint64_t n;

	assert_true(ws_gpu_launch(c.r.g, ws_gpu_module_kernel(c.r.mod, "k"), &l, NULL, &c.r.err));
	assert_int_equal(counters(&c)->blocks, 32);
	n = counters(&c)->cycles;
	stop(&c);
	return n;
}

static void test_shared_memory_limits_blocks(void **state)
{
	uint64_t two = cycles_with_shared(24 << 10), one = cycles_with_shared(25 << 10);

	/* 32 blocks on 16 cores: at once, or one after the other; blocks begin at the end of a window */
	assert_in_range(one, 2 * two - 20, 2 * two + 20 + clocked_named("fermi").network_latency);
}

/* ---- sums, and the same again ---- */
static void run_copy(struct clocked *c)
{
	struct ws_mem *a = rig_mem(&c->r, 40000), *b = rig_mem(&c->r, 40000);
	struct { uint64_t a, b; uint32_t n; } params = {a->addr, b->addr, 9999};

	for (uint32_t i = 0; i < 9999; i++)
		((uint32_t *)(void *)a->host)[i] = i;
	rig_run(&c->r, "k", 20, 100, &params);
	rig_run(&c->r, "k", 7, 33, &params);
	assert_memory_equal(a->host, b->host, 4 * 9999);
}

static void test_sums_and_repetition(void **state)
{
	static const char *const names[] = {"fermi", "fermi30", "fx5800", "gtx480", "h200"};

	for (size_t i = 0; i < WS_COUNT(names); i++)
		for (uint32_t policy = WS_POLICY_LRR; policy <= WS_POLICY_TWO_LEVEL; policy++) {
			struct ws_machine m = clocked_named(names[i]);
			struct clocked c, d;
			const struct ws_counters *k;

			m.policy = policy;
			c = start_on(&m, copy);
			d = start_on(&m, copy);
			run_copy(&c);
			run_copy(&d);
			k = counters(&c);
			assert_memory_equal(k, counters(&d), sizeof *k);
			assert_int_equal(k->slots, k->cycles * m.cores * m.schedulers);
			assert_int_equal(k->slots, k->issued + k->stall_pipeline + k->stall_collectors + k->stall_memory_stage + k->stall_data +
			                 k->stall_branch + k->stall_memory + k->stall_order + k->stall_barrier + k->stall_empty);
			assert_int_equal(k->l2_hits + k->l2_misses, k->l2_reads + k->l2_writes + k->l2_atomics);
			assert_int_equal(k->packets_to_memory, k->packets_to_cores);
			assert_int_equal(k->transactions, k->l1_hits + k->l1_misses + k->l1_bypassed + k->l2_writes);
			assert_int_equal(k->launches, 2);
			assert_true(k->thread_instructions <= 32 * k->issued);
			stop(&c);
			stop(&d);
		}
}

/* ---- stores to global memory, which other cores see at the end of a window ---- */
static const uint32_t *run_stores(struct clocked *c, const char *machine, const char *body, uint32_t blocks, uint32_t threads)
{
	struct ws_buf b = {0};
	struct ws_mem *p;

	ws_buf_printf(&b, PTX_HEAD ".visible .entry k(.param .u64 p)\n{\n.reg .b64 %%r<8>;\n.reg .b32 %%s<16>;\n.reg .b64 %%d<4>;\n"
	              ".reg .b16 %%h<4>;\n.reg .pred %%q<4>;\nld.param.u64 %%r1, [p];\nmov.u32 %%s1, %%tid.x;\n"
	              "mov.u32 %%s2, %%ctaid.x;\nmul.wide.u32 %%r2, %%s1, 4;\nadd.u64 %%r2, %%r2, %%r1;\n%s\nret;\n}\n", body);
	*c = start(machine, b.data);
	p = rig_mem(&c->r, 4096);
	memset(p->host, 0, 4096);
	rig_run(&c->r, "k", blocks, threads, &(uint64_t){p->addr});
	ws_buf_free(&b);
	return (const uint32_t *)(const void *)p->host;
}

static void test_stores_of_other_cores(void **state)
{
	static const char *const names[] = {"fermi", "h200"};

	for (size_t i = 0; i < WS_COUNT(names); i++) {
		struct clocked c;
		const uint32_t *p = run_stores(&c, names[i],
			"mov.u32 %s3, 7;\nsetp.ne.u32 %q1, %s2, 0;\n@%q1 bra OTHER;\n"
			"st.volatile.global.u32 [%r1], %s3;\nld.volatile.global.u32 %s4, [%r1];\n"    /* its own at once */
			"st.global.u32 [%r1+64], %s4;\nbra END;\n"
			"OTHER:\nadd.u32 %s5, %s3, 1;\nld.volatile.global.u32 %s4, [%r1];\nmov.u32 %s6, 0;\n"
			"L:\nadd.u32 %s6, %s6, 1;\nsetp.lt.u32 %q2, %s6, 100;\n@%q2 bra L;\n"
			"ld.volatile.global.u32 %s7, [%r1];\nst.global.u32 [%r1+128], %s4;\nst.global.u32 [%r1+132], %s7;\nEND:\n", 2, 1);

		assert_int_equal(p[16], 7);
		assert_int_equal(p[32], 0);      /* read behind the store, but in its window */
		assert_int_equal(p[33], 7);
		stop(&c);
	}
}

/* Two blocks tell each other of themselves; in each a second warp looks for the other block behind a barrier and a fence. */
static void test_a_fence_waits_for_stores_of_its_block(void **state)
{
	static const char *const names[] = {"fermi", "h200"};

	for (size_t i = 0; i < WS_COUNT(names); i++) {
		struct clocked c;
		const uint32_t *p = run_stores(&c, names[i],
			"mul.wide.u32 %r3, %s2, 256;\nadd.u64 %r3, %r3, %r1;\nxor.b32 %s3, %s2, 1;\nmul.wide.u32 %r4, %s3, 256;\n"
			"add.u64 %r4, %r4, %r1;\nmov.u32 %s4, 1;\nsetp.ge.u32 %q1, %s1, 32;\n"
			"@!%q1 st.volatile.global.u32 [%r3], %s4;\nbar.sync 0;\n@!%q1 bra END;\nmembar.gl;\n"
			"ld.volatile.global.u32 %s5, [%r4];\nst.global.u32 [%r3+128], %s5;\nEND:\n", 2, 64);

		assert_true(p[32] || p[96]);
		stop(&c);
	}
}

/* Loads of every size that find what the core has just stored, in whole or in part. */
static void test_own_stores_in_parts(void **state)
{
	static const char body[] =
		"mul.lo.u32 %s3, %s1, 0x01010101;\nadd.u32 %s3, %s3, 0x80402010;\n"
		"st.global.u32 [%r2], %s3;\nmov.u16 %h1, 0xfe;\nst.global.u8 [%r2+1], %h1;\n"
		"ld.global.s8 %s4, [%r2+1];\nld.global.u32 %s5, [%r2];\nld.global.u16 %h2, [%r2+2];\n"
		"and.b32 %s6, %s1, 1;\nsetp.eq.u32 %q1, %s6, 0;\n"
		"@%q1 ld.global.u64 %d1, [%r2];\n"             /* its own word, and the next lane's */
		"@%q1 st.global.v2.u32 [%r2+1024], {%s5, %s1};\nld.global.u32 %s7, [%r2+1024];\n"
		"xor.b32 %s8, %s1, 5;\nmul.wide.u32 %r3, %s8, 4;\nadd.u64 %r3, %r3, %r1;\nld.global.u32 %s9, [%r3];\n"
		"cvt.u32.u16 %s10, %h2;\nst.global.u32 [%r2+2048], %s4;\nst.global.u32 [%r2+2304], %s10;\n"
		"@%q1 st.global.u64 [%r2+2560], %d1;\nst.global.u32 [%r2+2816], %s7;\nst.global.u32 [%r2+3072], %s9;\n";
	static const char *const names[] = {"fermi", "h200"};

	for (size_t i = 0; i < WS_COUNT(names); i++) {
		struct clocked c;
		const uint32_t *p = run_stores(&c, names[i], body, 1, 32);

		for (uint32_t l = 0; l < 32; l++) {
			uint32_t word = ((l * 0x01010101 + 0x80402010) & 0xffff00ff) | 0xfe00, other = l ^ 5;

			assert_int_equal(p[l], word);
			assert_int_equal(p[512 + l], 0xfffffffeu);
			assert_int_equal(p[576 + l], word >> 16);
			assert_int_equal(p[640 + l], word);
			assert_int_equal(p[704 + l], l % 2 ? l - 1 : word);
			assert_int_equal(p[768 + l], ((other * 0x01010101 + 0x80402010) & 0xffff00ff) | 0xfe00);
		}
		stop(&c);
	}
}

/* Lanes of an atomic in shared and in global memory. */
static void test_an_atomic_on_two_memories(void **state)
{
	struct clocked c;
	const uint32_t *p = run_stores(&c, "h200",
		".shared .align 8 .b8 box[64];\nmov.u64 %r3, box;\ncvta.shared.u64 %r3, %r3;\nmov.u32 %s3, 0;\nst.u32 [%r3], %s3;\n"
		"bar.sync 0;\nand.b32 %s4, %s1, 1;\nsetp.eq.u32 %q1, %s4, 0;\nselp.b64 %r4, %r1, %r3, %q1;\n"
		"atom.add.u32 %s5, [%r4], 3;\nbar.sync 0;\nst.global.u32 [%r2+1024], %s5;\nld.u32 %s6, [%r3];\nst.global.u32 [%r1+4], %s6;", 2, 32);
	uint32_t seen = 0;

	assert_int_equal(p[0], 2 * 16 * 3);
	assert_int_equal(p[1], 16 * 3);
	for (uint32_t l = 1; l < 32; l += 2)
		seen += p[256 + l];
	assert_int_equal(seen, 3 * 15 * 16 / 2);         /* the lanes in shared memory, of either block */
	stop(&c);
}

/* ---- host threads ---- */
/* Blocks add to words of their neighbours, wait for each other by a counter that they poll (strong loads), pass a value on by
 * flags, read what others have written, and race for a word. */
static const char together[] = PTX_HEAD
	".visible .entry k(.param .u64 p)\n{\n.reg .b64 %r<16>;\n.reg .b32 %s<16>;\n.reg .pred %q<4>;\n"
	"ld.param.u64 %r1, [p];\n"
	"mov.u32 %s1, %tid.x;\nmov.u32 %s2, %ctaid.x;\nmov.u32 %s3, %nctaid.x;\nmov.u32 %s4, %ntid.x;\n"
	"mad.lo.u32 %s5, %s2, %s4, %s1;\nmul.wide.u32 %r2, %s5, 4;\nadd.u64 %r3, %r1, %r2;\n"
	"st.global.u32 [%r3+4096], %s5;\n"
	"mul.lo.u32 %s6, %s5, 7;\nand.b32 %s6, %s6, 63;\nmul.wide.u32 %r4, %s6, 4;\nadd.u64 %r4, %r4, %r1;\n"
	"atom.global.add.u32 %s7, [%r4+64], %s5;\nred.global.max.u32 [%r4+512], %s7;\n"
	"membar.gl;\nbar.sync 0;\n"
	"setp.ne.u32 %q1, %s1, 0;\n@%q1 bra W;\n"
	"atom.global.add.u32 %s8, [%r1], 1;\n"
	"L:\nld.volatile.global.u32 %s8, [%r1];\nsetp.lt.u32 %q2, %s8, %s3;\n@%q2 bra L;\nmembar.gl;\n"
	"W:\nbar.sync 0;\n"
	/* the neighbour's word, which it wrote before it counted itself */
	"add.u32 %s9, %s5, %s4;\nmul.lo.u32 %s10, %s3, %s4;\nrem.u32 %s9, %s9, %s10;\nmul.wide.u32 %r5, %s9, 4;\n"
	"add.u64 %r5, %r5, %r1;\nld.global.u32 %s11, [%r5+4096];\n"
	/* a chain of flags: block b waits for b - 1 */
	"@%q1 bra E;\nsetp.eq.u32 %q3, %s2, 0;\nmul.wide.u32 %r6, %s2, 4;\nadd.u64 %r6, %r6, %r1;\nmov.u32 %s12, 1;\n@%q3 bra S;\n"
	"F:\nld.volatile.global.u32 %s12, [%r6+1020];\nsetp.eq.u32 %q2, %s12, 0;\n@%q2 bra F;\nadd.u32 %s12, %s12, %s2;\n"
	"S:\nst.volatile.global.u32 [%r6+1024], %s12;\n"
	"E:\nadd.u32 %s11, %s11, %s7;\nmov.u32 %s13, 0;\n"
	"R:\nld.global.u32 %s14, [%r1+2048];\nmad.lo.u32 %s11, %s11, 31, %s14;\nst.global.u32 [%r1+2048], %s5;\n"
	"add.u32 %s13, %s13, 1;\nsetp.lt.u32 %q2, %s13, 20;\n@%q2 bra R;\nst.global.u32 [%r3+65536], %s11;\nret;\n}\n";

enum { TOGETHER_BLOCKS = 30, TOGETHER_THREADS = 96, TOGETHER_BYTES = 1 << 17 };

static struct ws_counters run_together(const struct ws_machine *m, uint32_t hosts, uint8_t *out)
{
	struct clocked c = {.m = *m, .t = ws_timing_new(m, NULL)};
	struct ws_gpu_config g = {.host_threads = hosts, .sms = m->cores, .clock = &ws_timing_clock, .clock_self = c.t,
	                          .divergence = WS_DIV_ITS};
	struct ws_counters k;
	struct ws_mem *p;

	c.r = rig_new(g, together);
	p = rig_mem(&c.r, TOGETHER_BYTES);
	for (int i = 0; i < 2; i++) {
		memset(p->host, 0, 4096);
		rig_run(&c.r, "k", i == 0 ? 1 : TOGETHER_BLOCKS, TOGETHER_THREADS, &(uint64_t){p->addr});
	}
	memcpy(out, p->host, TOGETHER_BYTES);
	k = *counters(&c);
	stop(&c);
	return k;
}

static void test_host_threads_count_the_same(void **state)
{
	static const char *const names[] = {"fermi", "southern-islands", "h200"};
	static uint8_t one[TOGETHER_BYTES], many[TOGETHER_BYTES];

	for (size_t i = 0; i < WS_COUNT(names); i++) {
		struct ws_machine m = clocked_named(names[i]);
		struct ws_counters c = run_together(&m, 1, one), d;

		assert_int_equal(((uint32_t *)(void *)one)[256 + TOGETHER_BLOCKS - 1],
		                 1 + TOGETHER_BLOCKS * (TOGETHER_BLOCKS - 1) / 2);
		for (uint32_t hosts = 2; hosts < 4; hosts++) {
			d = run_together(&m, hosts, many);
			assert_memory_equal(one, many, TOGETHER_BYTES);
			assert_memory_equal(&c, &d, sizeof c);
		}
	}
}

static void test_failures_on_host_threads(void **state)
{
	struct ws_machine m = clocked_named("fermi");
	struct clocked c = {.m = m, .t = ws_timing_new(&m, NULL)};
	struct ws_gpu_config g = {.host_threads = 3, .sms = m.cores, .clock = &ws_timing_clock, .clock_self = c.t,
	                          .divergence = WS_DIV_ITS};
	struct ws_mem *p;

	c.r = rig_new(g, PTX_HEAD
		".visible .entry bad(.param .u64 p)\n{\n.reg .b64 %r<4>;\n.reg .b32 %s<4>;\nld.param.u64 %r1, [p];\n"
		"mov.u32 %s1, %ctaid.x;\nmul.wide.u32 %r2, %s1, 4096;\nadd.u64 %r1, %r1, %r2;\nst.global.u32 [%r1], %s1;\nret;\n}\n"
		".visible .entry hang(.param .u64 p)\n{\n.reg .b64 %r<4>;\n.reg .b32 %s<4>;\n.reg .pred %q;\nld.param.u64 %r1, [p];\n"
		"L:\nld.volatile.global.u32 %s1, [%r1];\nsetp.eq.u32 %q, %s1, 0;\n@%q bra L;\nret;\n}\n");
	p = rig_mem(&c.r, 16384);
	assert_false(rig_launch(&c.r, "bad", 40, 32, &(uint64_t){p->addr}));
	assert_int_equal(c.r.err.code, WS_GPU_BAD_ADDRESS);
	ws_buf_free(&c.r.err.text);
	c.r.err = (struct ws_gpu_error){0};
	memset(p->host, 0, 4);
	assert_false(rig_launch(&c.r, "hang", 40, 32, &(uint64_t){p->addr}));
	assert_int_equal(c.r.err.code, WS_GPU_DEADLOCK);
	ws_buf_free(&c.r.err.text);
	c.r.err = (struct ws_gpu_error){0};
	memset(p->host, 1, 4);
	assert_true(rig_launch(&c.r, "hang", 40, 32, &(uint64_t){p->addr}));
	stop(&c);
}

/* Every block fails, some sooner: the one that is told is that of one host thread. */
static void test_the_first_failure_is_told(void **state)
{
	struct ws_machine m = clocked_named("fermi");
	char *first = NULL;

	for (uint32_t hosts = 1; hosts < 5; hosts++) {
		struct clocked c = {.m = m, .t = ws_timing_new(&m, NULL)};
		struct ws_gpu_config g = {.host_threads = hosts, .sms = m.cores, .clock = &ws_timing_clock, .clock_self = c.t,
		                          .divergence = WS_DIV_STACK};

		c.r = rig_new(g, PTX_HEAD
			".visible .entry k()\n{\n.reg .b32 %s<4>;\n.reg .b64 %r<2>;\n.reg .pred %q;\nmov.u32 %s1, %ctaid.x;\n"
			"mad.lo.u32 %s2, %s1, 5, 3;\nrem.u32 %s2, %s2, 11;\nmov.u32 %s3, 0;\n"
			"L:\nadd.u32 %s3, %s3, 1;\nsetp.lt.u32 %q, %s3, %s2;\n@%q bra L;\n"
			"cvt.u64.u32 %r1, %s1;\nst.global.u32 [%r1], %s1;\nret;\n}\n");
		assert_false(rig_launch(&c.r, "k", 16, 1, NULL));
		assert_int_equal(c.r.err.code, WS_GPU_BAD_ADDRESS);
		if (!first)
			first = ws_strdup(c.r.err.text.data);
		assert_string_equal(c.r.err.text.data, first);
		stop(&c);
	}
	free(first);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_latency_of_shared_memory_and_l1),
		cmocka_unit_test(test_latency_of_l2),
		cmocka_unit_test(test_uses_behind_later_loads),
		cmocka_unit_test(test_hashed_partitions),
		cmocka_unit_test(test_latency_of_dram),
		cmocka_unit_test(test_streaming_is_bound_by_dram),
		cmocka_unit_test(test_bank_conflicts_by_stride),
		cmocka_unit_test(test_atomics_happen_once_each),
		cmocka_unit_test(test_a_lock_works_with_independent_threads),
		cmocka_unit_test(test_a_lock_deadlocks_under_the_stack),
		cmocka_unit_test(test_a_barrier_that_nobody_completes),
		cmocka_unit_test(test_operand_collectors),
		cmocka_unit_test(test_wavefronts_of_64),
		cmocka_unit_test(test_shared_memory_limits_blocks),
		cmocka_unit_test(test_sums_and_repetition),
		cmocka_unit_test(test_stores_of_other_cores),
		cmocka_unit_test(test_a_fence_waits_for_stores_of_its_block),
		cmocka_unit_test(test_own_stores_in_parts),
		cmocka_unit_test(test_an_atomic_on_two_memories),
		cmocka_unit_test(test_host_threads_count_the_same),
		cmocka_unit_test(test_failures_on_host_threads),
		cmocka_unit_test(test_the_first_failure_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

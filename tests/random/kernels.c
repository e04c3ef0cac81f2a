/* kernels.c - random kernels for the race detectors: "shadow" must find the bytes that the slow reference "exact" finds.
 *
 *     kernels [-s SEED] [-n KERNELS] [--seconds=N] [-g GRANULARITY] [--device|--more|--missed] [-p]
 *
 * A kernel is a list of steps: accesses of all kinds, sizes and scopes by some threads, barriers, fences, locks, asynchronous
 * copies, mbarrier objects, clusters. Each runs on the simulated GPU under both divergence models, with a round-robin and a
 * random schedule, under the detector "compare", and once more under "shadow" alone, which must find the same bytes again
 * (then the simulator takes notes for it: struct ws_note_log). When they differ, steps are dropped as long as they still
 * do, and what is left is printed. One line at the end: "N passed, N failed, 0 skipped". -p prints the kernel of a seed.
 *
 * --device: kernels with what the checks of the pass `race` know. Rewritten, each must find no race at a byte at which
 * "exact" finds none in the original, under the same schedule or one of 16 more: the checks make the schedule another one,
 * and which of two atomics on a word comes first decides what is ordered. With fences that is counted only. What the
 * checks miss is counted.
 *
 * --more: as --device, with fences too, compared with 100 schedules: for looking at them, as --missed.
 * --missed: of these, kernels that race under each of several schedules, in which the checks find nothing under any, and count nothing
 * that they could not decide. Not all are failures (docs/REWRITE.md, "What is not known is no race"): it is for looking at them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "detect/detect.h"
#include "rewrite/rewrite.h"
#include "tests/unit/given.h"
#include "tests/unit/race_tables.h"

enum { MAX_STEPS = 40, GLOBAL = 2048, SHARED = 512, DATA = 256 };

static bool device;                  /* --device */
static bool more;                    /* --more */
static bool missed;                  /* --missed */

/* ---- numbers ---- */
static uint64_t rng;

static uint32_t rnd(uint32_t n)
{
	rng = rng * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((rng >> 33) % n);
}

static bool one_in(uint32_t n)
{
	return rnd(n) == 0;
}

#define PICK(list) (list)[rnd(WS_COUNT(list))]

/* ---- kernels ---- */
struct step { char *text; bool on; };
struct kernel {
	uint64_t seed;
	uint32_t blocks, threads, cluster;
	bool fences, strong, async, locks, peers;
	bool wide, table;            /* all scopes hold all threads; entries with a lock each */
	bool remote;                 /* blocks send to each other what completes on the other's object */
	bool meets;                  /* who arrives at an object waits there at once */
	bool bulk;                   /* its copies are bulk copies: the checks do not know groups of both kinds in one kernel */
	uint32_t nsteps, phases;
	struct step step[MAX_STEPS];
};

static uint32_t labels;
static bool wide;                    /* of the kernel that is being made */

/* %r50 := an offset of a place of `size` bytes, made of what the thread is */
static void offset(struct ws_buf *b, uint32_t size)
{
	static const char *const what[] = {"%r1", "%r2", "%r3", "%r4", "%r5", "%r6", "0", "0"};
	static const uint32_t strides[] = {1, 1, 1, 2, 3, 4, 8};
	uint32_t span = one_in(2) ? 32 : one_in(2) ? 128 : DATA;
	const char *w = PICK(what);

	ws_buf_printf(b, "\tmov.u32 %%r50, %s;\n\tmad.lo.u32 %%r50, %%r50, %u, %u;\n\tand.b32 %%r50, %%r50, %u;\n", w,
	              PICK(strides) * size, rnd(span / size) * size, DATA - size);
}

/* %d10 := the address in global, or %r51 in shared memory; returns ".global [%d10]" and the like */
static const char *place(struct ws_buf *b, const struct kernel *k, uint32_t size, const char **space)
{
	offset(b, size);
	if (one_in(2)) {
		*space = ".global";
		ws_buf_puts(b, "\tcvt.u64.u32 %d10, %r50;\n\tadd.s64 %d10, %d10, %d1;\n");
		return "[%d10]";
	}
	ws_buf_puts(b, "\tadd.u32 %r51, %r50, %r9;\n");
	*space = ".shared";
	if (k->peers && one_in(3)) {
		*space = ".shared::cluster";
		ws_buf_printf(b, "\tmapa.shared::cluster.u32 %%r51, %%r51, %u;\n", rnd(k->cluster));
	}
	return "[%r51]";
}

static const char *scope(void)
{
	static const char *const scopes[] = {"cta", "gpu", "gpu", "sys", "cluster"};

	return wide ? "gpu" : PICK(scopes);
}

static void weak_access(struct ws_buf *b, const struct kernel *k)
{
	static const char *const types[] = {"u8", "u16", "u32", "u32", "u64", "v2.u32", "v4.u32", "v2.u64"};
	static const char *const regs[] = {"%r60", "%r60", "%r60", "%r60", "%d20", "{%r60, %r61}", "{%r60, %r61, %r62, %r63}",
	                                   "{%d20, %d21}"};
	static const uint32_t sizes[] = {1, 2, 4, 4, 8, 8, 16, 16};
	uint32_t i = one_in(2) ? 2 : rnd(WS_COUNT(types));
	const char *space, *at = place(b, k, sizes[i], &space);

	ws_buf_printf(b, "\tmov.u32 %%r60, %u;\n", rnd(3));
	if (one_in(2))
		ws_buf_printf(b, "\tld%s.%s %s, %s;\n", space, types[i], regs[i], at);
	else
		ws_buf_printf(b, "\tst%s.%s %s, %s;\n", space, types[i], at, regs[i]);
}

static void atomic(struct ws_buf *b, const struct kernel *k, uint32_t size)
{
	static const char *const sems[] = {"relaxed", "relaxed", "acquire", "release", "acq_rel"};
	const char *space, *at = place(b, k, size, &space), *r = size == 4 ? "%r60" : "%d20";
	const char *sem = device && !k->fences ? sems[0] : PICK(sems);

	ws_buf_printf(b, "\tmov.u32 %%r60, %u;\n\tmov.u64 %%d20, 1;\n", rnd(3));
	switch (rnd(4)) {
	case 0: ws_buf_printf(b, "\tred.relaxed.%s%s.add.u%u %s, %s;\n", scope(), space, 8 * size, at, r); break;
	case 1: ws_buf_printf(b, "\tatom.%s.%s%s.add.u%u %s, %s, %s;\n", sem, scope(), space, 8 * size, r, at, r); break;
	case 2: ws_buf_printf(b, "\tatom.%s.%s%s.exch.b%u %s, %s, %s;\n", sem, scope(), space, 8 * size, r, at, r); break;
	default: ws_buf_printf(b, "\tatom.%s.%s%s.cas.b%u %s, %s, 0, %s;\n", sem, scope(), space, 8 * size, r, at, r);
	}
}

static void strong_access(struct ws_buf *b, const struct kernel *k)
{
	uint32_t size = one_in(4) ? 8 : 4;
	const char *space, *at, *r = size == 4 ? "%r60" : "%d20";

	if (one_in(2)) {
		atomic(b, k, size);
		return;
	}
	at = place(b, k, size, &space);
	switch (rnd(device && !k->fences ? 2 : 4)) {
	case 0: ws_buf_printf(b, "\tld.volatile%s.u%u %s, %s;\n", space, 8 * size, r, at); break;
	case 1: ws_buf_printf(b, "\tst.volatile%s.u%u %s, %s;\n", space, 8 * size, at, r); break;
	case 2: ws_buf_printf(b, "\tld.%s.%s%s.u%u %s, %s;\n", one_in(2) ? "acquire" : "relaxed", scope(), space, 8 * size, r, at); break;
	default: ws_buf_printf(b, "\tst.%s.%s%s.u%u %s, %s;\n", one_in(2) ? "release" : "relaxed", scope(), space, 8 * size, at, r);
	}
}

/* Plain accesses of a word beside the thread's own strong one: what that has read orders only what follows it. */
static void own_word(struct ws_buf *b, const struct kernel *k)
{
	static const char *const plain[] = {"\tld%s.u32 %%r60, %s;\n", "\tst%s.u32 %s, %%r60;\n"};
	const char *space, *at = place(b, k, 4, &space);

	ws_buf_printf(b, "\tmov.u32 %%r60, %u;\n", rnd(3));
	if (one_in(4))
		ws_buf_printf(b, one_in(2) ? plain[0] : plain[1], space, at);
	switch (rnd(6) % 5) {
	case 0: ws_buf_printf(b, "\tred.relaxed.%s%s.add.u32 %s, %%r60;\n", scope(), space, at); break;
	case 1: ws_buf_printf(b, "\tatom.relaxed.%s%s.add.u32 %%r60, %s, %%r60;\n", scope(), space, at); break;
	case 2: ws_buf_printf(b, "\tld.volatile%s.u32 %%r60, %s;\n", space, at); break;
	case 3: ws_buf_printf(b, "\tatom.relaxed.%s%s.cas.b32 %%r60, %s, 0, %%r60;\n", scope(), space, at); break;
	default: ws_buf_printf(b, "\tst.volatile%s.u32 %s, %%r60;\n", space, at);
	}
	if (!one_in(4))
		ws_buf_printf(b, one_in(2) ? plain[0] : plain[1], space, at);
}

static void access_step(struct ws_buf *b, const struct kernel *k)
{
	if (k->strong && one_in(6))
		own_word(b, k);
	else if (k->strong && one_in(2))
		strong_access(b, k);
	else
		weak_access(b, k);
}

static void fence(struct ws_buf *b, const struct kernel *k)
{
	static const char *const sems[] = {"sc", "acq_rel", "acquire", "release"};
	static const char *const old[] = {"cta", "gl", "gl", "sys"};

	if (k->async && one_in(3))
		ws_buf_puts(b, "\tfence.proxy.async;\n");
	else if (one_in(2))
		ws_buf_printf(b, "\tmembar.%s;\n", wide ? "gl" : PICK(old));
	else
		ws_buf_printf(b, "\tfence.%s.%s;\n", PICK(sems), scope());
}

/* Only some threads execute what follows, up to the label. %r1 thread, %r2 lane, %r3 warp, %r4 block, %r5 all. */
static uint32_t only_some(struct ws_buf *b)
{
	uint32_t label = labels++;

	switch (rnd(7)) {
	case 0: ws_buf_printf(b, "\tsetp.eq.u32 %%p1, %%r1, %u;\n", rnd(4)); break;
	case 1: ws_buf_printf(b, "\tsetp.eq.u32 %%p1, %%r2, %u;\n", rnd(4)); break;
	case 2: ws_buf_printf(b, "\tsetp.lt.u32 %%p1, %%r2, %u;\n", 1 + rnd(20)); break;
	case 3: ws_buf_printf(b, "\tsetp.eq.u32 %%p1, %%r3, %u;\n", rnd(2)); break;
	case 4: ws_buf_printf(b, "\tsetp.eq.u32 %%p1, %%r4, %u;\n", rnd(2)); break;
	case 5: ws_buf_puts(b, "\tand.b32 %r50, %r2, 1;\n\tsetp.eq.u32 %p1, %r50, 0;\n"); break;
	default: ws_buf_puts(b, "\tsetp.eq.u32 %p1, %r0, 0;\n");     /* all */
	}
	ws_buf_printf(b, "\t@!%%p1 bra L%u;\n", label);
	return label;
}

/* Lane 0 of each warp takes a lock, with or without fences, and may release it in several ways. */
static void lock(struct ws_buf *b, const struct kernel *k)
{
	uint32_t label = labels++, at = GLOBAL - 64 + 4 * rnd(2);

	ws_buf_printf(b, "\tsetp.ne.u32 %%p2, %%r2, 0;\n\t@%%p2 bra L%u;\nS%u:\n", label, label);
	ws_buf_printf(b, "\tatom.%s.%s.global.cas.b32 %%r70, [%%d1+%u], 0, 1;\n", one_in(4) ? "acquire" : "relaxed",
	              one_in(4) ? scope() : "gpu", at);
	ws_buf_printf(b, "\tsetp.ne.u32 %%p2, %%r70, 0;\n\t@%%p2 bra S%u;\n", label);
	if (!one_in(3))
		ws_buf_printf(b, "\tmembar.%s;\n", one_in(4) ? "cta" : "gl");
	for (uint32_t n = 1 + rnd(2); n; n--)
		weak_access(b, k);
	if (!one_in(3))
		ws_buf_printf(b, "\tmembar.%s;\n", one_in(4) ? "cta" : "gl");
	if (one_in(3))
		ws_buf_printf(b, "\tst.volatile.global.u32 [%%d1+%u], 0;\n", at);
	else
		ws_buf_printf(b, "\tatom.%s.gpu.global.exch.b32 %%r70, [%%d1+%u], 0;\n", one_in(3) ? "release" : "relaxed", at);
	ws_buf_printf(b, "L%u:\n", label);
}

/* Each thread tries to lock an entry of a table, most often one that no other thread has come to so far. */
static void entry(struct ws_buf *b, const struct kernel *k)
{
	static const uint32_t strides[] = {4, 8, 12, 12, 16, 20};
	static const char *const what[] = {"%r1", "%r5", "%r5", "%r5", "%r2"};
	uint32_t label = labels++, stride = PICK(strides), entries = stride <= 8 ? 128 : 64, base = one_in(2) ? 0 : DATA;

	ws_buf_printf(b, "\tadd.u32 %%r50, %s, %u;\n\tand.b32 %%r50, %%r50, %u;\n\tmul.lo.u32 %%r50, %%r50, %u;\n", PICK(what),
	              one_in(2) ? 0 : rnd(64), entries / (1u << rnd(3)) - 1, stride);
	ws_buf_printf(b, "\tadd.u32 %%r50, %%r50, %u;\n\tcvt.u64.u32 %%d10, %%r50;\n\tadd.s64 %%d10, %%d10, %%d1;\n", base);
	ws_buf_puts(b, "\tatom.relaxed.gpu.global.cas.b32 %r70, [%d10], 0, 1;\n");
	ws_buf_printf(b, "\tsetp.ne.u32 %%p2, %%r70, 0;\n\t@%%p2 bra L%u;\n", label);
	if (k->fences && !one_in(3))
		fence(b, k);
	for (uint32_t n = rnd(6); n; n--) {
		uint32_t at = stride == 4 || one_in(6) ? 0 : 4 + 4 * rnd(stride / 4 - 1);

		if (one_in(10))
			ws_buf_printf(b, "\tatom.relaxed.gpu.global.add.u32 %%r60, [%%d10+%u], 0;\n", at);
		else if (one_in(2))
			ws_buf_printf(b, "\tld.global.%s %%r60, [%%d10+%u];\n", one_in(8) ? "u8" : "u32", at);
		else
			ws_buf_printf(b, "\tst.global.%s [%%d10+%u], %%r0;\n", one_in(8) ? "u16" : "u32", at);
	}
	if (k->fences && !one_in(3))
		fence(b, k);
	switch (rnd(4)) {
	case 0: ws_buf_puts(b, "\tst.global.u32 [%d10], 0;\n"); break;
	case 1: ws_buf_puts(b, "\tst.volatile.global.u32 [%d10], 0;\n"); break;
	default: ws_buf_puts(b, "\tatom.relaxed.gpu.global.exch.b32 %r70, [%d10], 0;\n");
	}
	ws_buf_printf(b, "L%u:\n", label);
}

static void barrier(struct ws_buf *b, const struct kernel *k)
{
	static const uint32_t device_barriers[] = {1, 2, 4, 4};
	uint32_t warps = k->threads / WS_WARP, label = labels++;

	switch (device ? device_barriers[rnd(4)] : rnd(6)) {
	case 0:
		if (warps > 1) {     /* one warp waits for what the others only say */
			ws_buf_printf(b, "\tsetp.eq.u32 %%p1, %%r3, %u;\n\t@%%p1 bar.sync %u, %u;\n", rnd(warps), 3 + label % 13, k->threads);
			ws_buf_printf(b, "\t@!%%p1 bar.arrive %u, %u;\n", 3 + label % 13, k->threads);
			break;
		}
		/* fall through */
	case 1:
		ws_buf_printf(b, "\tbar.warp.sync 0x%x;\n", ~0u);
		break;
	case 2:
		ws_buf_printf(b, "\tsetp.lt.u32 %%p1, %%r2, %u;\n\t@!%%p1 bra L%u;\n\tbar.warp.sync 0x%x;\nL%u:\n", 8u, label, 0xffu, label);
		break;
	case 3:
		ws_buf_printf(b, "\tsetp.eq.u32 %%p1, %%r3, 0;\n\t@%%p1 bar.sync %u, %u;\n", 2u, (uint32_t)WS_WARP);
		break;
	default: ws_buf_puts(b, "\tbar.sync 0;\n");
	}
}

/* ---- asynchronous copies ---- */
static void cp_async(struct ws_buf *b, const struct kernel *k)
{
	static const uint32_t sizes[] = {4, 8, 16};
	uint32_t size = PICK(sizes);

	offset(b, size);
	ws_buf_puts(b, "\tadd.u32 %r51, %r50, %r9;\n");
	offset(b, size);
	ws_buf_puts(b, "\tcvt.u64.u32 %d10, %r50;\n\tadd.s64 %d10, %d10, %d1;\n");
	ws_buf_printf(b, "\tcp.async.ca.shared.global [%%r51], [%%d10], %u;\n", size);
	if (one_in(2))
		ws_buf_puts(b, "\tcp.async.commit_group;\n");
	if (one_in(3))
		ws_buf_printf(b, "\tcp.async.wait_group %u;\n", rnd(2));
	else if (one_in(2))
		ws_buf_puts(b, "\tcp.async.wait_all;\n");
}

static void bulk_store(struct ws_buf *b)
{
	offset(b, 16);
	ws_buf_puts(b, "\tadd.u32 %r51, %r50, %r9;\n");
	offset(b, 16);
	ws_buf_puts(b, "\tcvt.u64.u32 %d10, %r50;\n\tadd.s64 %d10, %d10, %d1;\n");
	ws_buf_printf(b, "\tcp.async.bulk.global.shared::cta.bulk_group [%%d10], [%%r51], %u;\n", 16 << rnd(3));
	ws_buf_puts(b, "\tcp.async.bulk.commit_group;\n");
	if (one_in(2))
		ws_buf_printf(b, "\tcp.async.bulk.wait_group%s %u;\n", one_in(2) ? ".read" : "", rnd(2));
}

/* A phase of the block's object: all threads arrive, some accesses, some or all wait. */
static void phase(struct ws_buf *b, struct kernel *k)
{
	uint32_t label = labels++, some, bytes = 16 << rnd(4);
	bool bulk = one_in(2) && (!device || k->bulk);

	if (one_in(3) && !(device && k->bulk)) {
		cp_async(b, k);
		ws_buf_puts(b, "\tcp.async.mbarrier.arrive.shared.b64 [%r11];\n");
	}
	if (bulk) {
		offset(b, 16);
		ws_buf_printf(b, "\tadd.u32 %%r51, %%r50, %%r9;\n\tsetp.eq.u32 %%p3, %%r1, 0;\n"
		              "\t@!%%p3 bra A%u;\n\tmbarrier.arrive.expect_tx.shared.b64 %%d30, [%%r11], %u;\n"
		              "\tcp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%%r51], [%%d1+%u], %u, [%%r11];\n"
		              "\tbra B%u;\n", label, bytes, 16 * rnd(8), bytes, label);
	}
	ws_buf_printf(b, "A%u:\n\tmbarrier.arrive%s.shared.b64 %%d30, [%%r11];\nB%u:\n", label,
	              one_in(5) ? ".relaxed.cta" : "", label);
	weak_access(b, k);
	some = only_some(b);
	ws_buf_printf(b, "W%u:\n\tmbarrier.test_wait.parity.shared.b64 %%p4, [%%r11], %%r12;\n\t@!%%p4 bra W%u;\n", label, label);
	ws_buf_printf(b, "L%u:\n", some);
	weak_access(b, k);
	ws_buf_printf(b, "V%u:\n\tmbarrier.test_wait.parity.relaxed.cta.shared.b64 %%p4, [%%r11], %%r12;\n\t@!%%p4 bra V%u;\n", label,
	              label);
	ws_buf_puts(b, "\txor.b32 %r12, %r12, 1;\n");
	if (one_in(2))
		ws_buf_puts(b, "\tbar.sync 0;\n");
}

/* Behind an arrival, whose token is %d30: a wait for the phase's end, up to which nothing else is done, by one loop or as nvcc makes two of one. */
static void wait_at_once(struct ws_buf *b, const char *object)
{
	const char *wait = one_in(2) ? "try_wait" : "test_wait";
	uint32_t label = labels++;

	if (one_in(2)) {
		ws_buf_printf(b, "W%u:\n\tmbarrier.%s.shared.b64 %%p4, [%s], %%d30;\n\t@!%%p4 bra W%u;\n", label, wait, object, label);
		return;
	}
	ws_buf_printf(b, "\tmbarrier.%s.shared.b64 %%p4, [%s], %%d30;\n\tselp.b32 %%r53, 1, 0, %%p4;\n\tsetp.ne.s32 %%p5, %%r53, 0;\n\t@%%p5 bra V%u;\n"
	              "W%u:\n\tnanosleep.u32 20;\n\tmbarrier.%s.shared.b64 %%p4, [%s], %%d30;\n\tselp.b32 %%r53, 1, 0, %%p4;\n"
	              "\tsetp.eq.s32 %%p5, %%r53, 0;\n\t@%%p5 bra W%u;\nV%u:\n", wait, object, label, label, wait, object, label, label);
}

/* The block meets at its object, lanes perhaps by two ways; or a warp at one of its own. Copies arrive there, too. */
static void meeting(struct ws_buf *b, struct kernel *k)
{
	uint32_t label = labels++, bytes = 16 << rnd(4);

	if (one_in(4)) {
		ws_buf_printf(b, "\tsetp.ne.u32 %%p3, %%r3, 0;\n\t@%%p3 bra A%u;\n\tmbarrier.arrive.shared.b64 %%d30, [object_of_warp];\n", label);
		wait_at_once(b, "object_of_warp");
		ws_buf_printf(b, "A%u:\n", label);
		return;
	}
	if (one_in(3) && !k->bulk) {
		cp_async(b, k);
		ws_buf_puts(b, "\tcp.async.mbarrier.arrive.shared.b64 [%r11];\n");
	}
	if (one_in(2) && k->bulk) {
		offset(b, 16);
		ws_buf_printf(b, "\tadd.u32 %%r51, %%r50, %%r9;\n\tsetp.eq.u32 %%p3, %%r1, 0;\n"
		              "\t@!%%p3 bra A%u;\n\tcp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%%r51], [%%d1+%u], %u, [%%r11];\n"
		              "\tmbarrier.arrive.expect_tx.shared.b64 %%d30, [%%r11], %u;\n\tbra B%u;\n", label, 16 * rnd(8), bytes, bytes, label);
	} else if (one_in(3)) {
		ws_buf_printf(b, "\tsetp.lt.u32 %%p3, %%r2, %u;\n\t@!%%p3 bra A%u;\n\tmbarrier.arrive.shared.b64 %%d30, [%%r11];\n", rnd(32), label);
		wait_at_once(b, "%r11");
		ws_buf_printf(b, "\tbra C%u;\n", label);
	}
	ws_buf_printf(b, "A%u:\n\tmbarrier.arrive.shared.b64 %%d30, [%%r11];\nB%u:\n", label, label);
	wait_at_once(b, "%r11");
	ws_buf_printf(b, "C%u:\n", label);
}

/* What one block sends, to the other one or to itself: st.async or red.async by some threads, or a bulk copy by one, of so many bytes
 * in all to each receiver. Source and target of a copy do not overlap: what that is, the detectors do not agree about. */
static uint32_t send(struct ws_buf *b, uint32_t kind, uint32_t label, bool other)
{
	static const uint32_t some[] = {1, 2, 32};
	uint32_t threads = kind < 2 ? PICK(some) : 1, bytes = kind < 2 ? 4 * threads : 16u << rnd(3);

	ws_buf_printf(b, "\tsetp.lt.u32 %%p3, %%r1, %u;\n\t@!%%p3 bra S%u;\n", threads, label);
	offset(b, kind < 2 ? 4 : 16);
	ws_buf_puts(b, "\tadd.u32 %r51, %r50, %r9;\n\tmapa.shared::cluster.u32 %r52, %r51, %r53;\n"
	               "\tmapa.shared::cluster.u32 %r54, %r11, %r53;\n");
	if (kind < 2)
		ws_buf_printf(b, "\t%s.u32 [%%r52], %%r1, [%%r54];\n",
		              kind ? "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add" :
		                     "st.async.shared::cluster.mbarrier::complete_tx::bytes");
	else if (kind == 2)
		ws_buf_printf(b, "\tcp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%%r52], [%%r9+%u], %u, [%%r54];\n",
		              16 * rnd(8) + (other ? 0 : 320), bytes);
	else
		ws_buf_printf(b, "\tmov.u16 %%h1, 3;\n\tcp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
		              "[%%r51], [%%d1+%u], %u, [%%r11], %%h1;\n", 16 * rnd(8), bytes);
	ws_buf_printf(b, "S%u:\n", label);
	return kind == 3 ? 2 * bytes : bytes;
}

/* A phase in which each block of a cluster sends to the other one (or itself): behind a barrier of the cluster, so that both are in it. */
static void remote_phase(struct ws_buf *b, struct kernel *k)
{
	uint32_t label = labels++, bytes, some;
	bool other = !one_in(4);

	if (one_in(2))
		ws_buf_puts(b, "\tfence.proxy.async;\n");
	ws_buf_printf(b, "\tbarrier.cluster.arrive;\n\tbarrier.cluster.wait;\n\tmov.u32 %%r53, %%cluster_ctarank;\n\txor.b32 %%r53, %%r53, %u;\n",
	              other);
	bytes = send(b, rnd(4), label, other);
	ws_buf_printf(b, "\tsetp.eq.u32 %%p3, %%r1, 0;\n\t@!%%p3 bra A%u;\n\tmbarrier.arrive.expect_tx.shared.b64 %%d30, [%%r11], %u;\n\tbra B%u;\n"
	              "A%u:\n\tmbarrier.arrive.shared.b64 %%d30, [%%r11];\nB%u:\n", label, bytes, label, label, label);
	weak_access(b, k);
	some = only_some(b);
	ws_buf_printf(b, "W%u:\n\tmbarrier.test_wait.parity.shared.b64 %%p4, [%%r11], %%r12;\n\t@!%%p4 bra W%u;\n", label, label);
	ws_buf_printf(b, "L%u:\n", some);
	weak_access(b, k);
	ws_buf_printf(b, "V%u:\n\tmbarrier.test_wait.parity.relaxed.cta.shared.b64 %%p4, [%%r11], %%r12;\n\t@!%%p4 bra V%u;\n", label,
	              label);
	ws_buf_puts(b, "\txor.b32 %r12, %r12, 1;\n");
	if (one_in(2))
		ws_buf_puts(b, one_in(2) ? "\tbar.sync 0;\n" : "\tbarrier.cluster.arrive;\n\tbarrier.cluster.wait;\n");
}

static void cluster_barrier(struct ws_buf *b, const struct kernel *k)
{
	ws_buf_printf(b, "\tbarrier.cluster.arrive%s;\n", one_in(5) ? ".relaxed" : "");
	if (one_in(3))
		weak_access(b, k);
	ws_buf_puts(b, "\tbarrier.cluster.wait;\n");
}

/* ---- whole kernels ---- */
static void some_threads(struct ws_buf *b, const struct kernel *k)
{
	uint32_t label = only_some(b);

	for (uint32_t n = 1 + rnd(3); n; n--) {
		if (k->fences && one_in(4))
			fence(b, k);
		else if (k->async && one_in(4))
			(device ? !k->bulk : one_in(2)) ? cp_async(b, k) : bulk_store(b);
		else
			access_step(b, k);
	}
	ws_buf_printf(b, "L%u:\n", label);
}

static char *make_step(struct kernel *k)
{
	struct ws_buf b = {NULL, 0, 0};
	uint32_t what = rnd(12);

	if (what < 2)
		barrier(&b, k);
	else if (what == 2 && k->fences)
		fence(&b, k);
	else if (what == 3 && k->locks)
		lock(&b, k);
	else if (k->table && one_in(2))
		entry(&b, k);
	else if (what == 4 && k->async && k->remote && one_in(2))
		remote_phase(&b, k);
	else if ((what == 4 || (what == 6 && one_in(2))) && k->meets)
		meeting(&b, k);
	else if (what == 4 && k->async)
		phase(&b, k);
	else if (what == 5 && k->peers)
		cluster_barrier(&b, k);
	else
		some_threads(&b, k);
	return b.data;
}

static struct kernel *make(uint64_t seed)
{
	struct kernel *k = ws_alloc(sizeof *k);

	rng = seed * 0x9E3779B97F4A7C15u + 1;
	labels = 1;
	k->seed = seed;
	k->cluster = one_in(4) ? 2 : 0;
	k->blocks = k->cluster ? 2 * (1 + rnd(2)) : 1 + rnd(3);
	k->threads = WS_WARP * (1 + rnd(3));
	k->strong = one_in(2);
	k->fences = k->strong && !one_in(4);
	k->locks = k->fences && one_in(3);
	k->async = one_in(3);
	k->peers = k->cluster != 0;
	k->table = one_in(3);
	k->wide = wide = k->table && !k->cluster && one_in(2);
	k->async &= !wide;
	k->bulk = k->seed % 3;
	k->remote = device && k->peers && k->async && k->seed % 4;
	k->meets = device && k->async && !k->remote && k->seed % 5 < 3;
	k->fences |= wide;
	k->nsteps = 2 + rnd(one_in(4) ? MAX_STEPS - 2 : 12);
	for (uint32_t i = 0; i < k->nsteps; i++)
		k->step[i] = (struct step){make_step(k), true};
	return k;
}

static void kernel_free(struct kernel *k)
{
	for (uint32_t i = 0; i < k->nsteps; i++)
		free(k->step[i].text);
	free(k);
}

static void print(const struct kernel *k, struct ws_buf *b)
{
	ws_buf_puts(b, ".version 8.7\n.target sm_90\n.address_size 64\n\n.visible .entry k(.param .u64 memory)\n{\n"
	            "\t.reg .pred %p<8>;\n\t.reg .b16 %h<4>;\n\t.reg .b32 %r<80>;\n\t.reg .b64 %d<40>;\n"
	            "\t.shared .align 128 .b8 s[512];\n\t.shared .align 8 .b64 object;\n"
	            "\tld.param.u64 %d1, [memory];\n\tmov.u32 %r0, 0;\n\tmov.u32 %r1, %tid.x;\n\tand.b32 %r2, %r1, 31;\n"
	            "\tshr.u32 %r3, %r1, 5;\n\tmov.u32 %r4, %ctaid.x;\n\tmov.u32 %r6, %ntid.x;\n\tmad.lo.u32 %r5, %r4, %r6, %r1;\n"
	            "\txor.b32 %r6, %r1, 1;\n\tmov.u32 %r9, s;\n\tmov.u32 %r11, object;\n\tmov.u32 %r12, 0;\n"
	            "\tmov.u32 %r60, 1;\n\tmov.u32 %r61, 1;\n\tmov.u32 %r62, 1;\n\tmov.u32 %r63, 1;\n\tmov.u64 %d20, 1;\n"
	            "\tmov.u64 %d21, 1;\n");
	if (k->meets)
		ws_buf_puts(b, "\t.shared .align 8 .b64 object_of_warp;\n\tsetp.eq.u32 %p1, %r1, 0;\n\t@%p1 mbarrier.init.shared.b64 [object_of_warp], 32;\n");
	if (k->async)
		ws_buf_printf(b, "\tsetp.eq.u32 %%p1, %%r1, 0;\n\t@%%p1 mbarrier.init.shared.b64 [%%r11], %u;\n\tbar.sync 0;\n", k->threads);
	for (uint32_t i = 0; i < k->nsteps; i++)
		if (k->step[i].on)
			ws_buf_printf(b, "// step %u\n%s", i, k->step[i].text);
	if (k->peers && k->seed % 16)
		ws_buf_puts(b, "\tbarrier.cluster.arrive;\n\tbarrier.cluster.wait;\n");
	ws_buf_puts(b, "\tret;\n}\n");
}

/* ---- running ---- */
static uint64_t raced, failures;     /* bytes that raced; launches that did not end well */
static uint32_t granularity = 1;

struct variant { enum ws_divergence divergence; enum ws_schedule schedule; uint32_t threads; };
static const struct variant variants[] = {
	{WS_DIV_ITS, WS_SCHED_RR, 1}, {WS_DIV_STACK, WS_SCHED_RR, 1}, {WS_DIV_ITS, WS_SCHED_RANDOM, 1},
	{WS_DIV_STACK, WS_SCHED_RANDOM, 1}, {WS_DIV_ITS, WS_SCHED_RANDOM, 2},
};

enum { PLACES = GLOBAL + 8 * SHARED };
enum { RACED = 1, AN_ERROR = 2 };    /* AN_ERROR: and not only by writes of the same value */
struct result {
	uint8_t raced[PLACES];
	uint64_t base;
	bool ran, differ;
	bool unsure;                 /* the checks have counted what they could not decide */
	bool faulted;                /* under another schedule it has ended in an error */
	struct ws_buf text;
};

static void on_raced(void *user, const struct ws_raced_bytes *r)
{
	struct result *res = user;

	for (uint32_t i = 0; i < r->bytes && !r->lifetime; i++) {
		uint64_t at = r->global ? r->addr - res->base + i : GLOBAL + r->block * SHARED + r->addr + i;

		if (at < PLACES)
			__atomic_fetch_or(&res->raced[at], r->warning ? RACED : RACED | AN_ERROR, __ATOMIC_RELAXED);
	}
}

static void launch(struct ws_gpu *g, const struct kernel *k, struct ws_ptx_module *ptx, struct result *res)
{
	struct ws_gpu_error err = {.code = WS_GPU_OK};
	struct ws_gpu_module *m = ws_gpu_module_load(g, &ptx, 1, &err);
	struct ws_mem *mem = ws_gpu_mem_new(g, GLOBAL, 0, WS_MEM_DEVICE, "memory");
	struct ws_gpu_launch l = {.grid = {k->blocks, 1, 1}, .block = {k->threads, 1, 1}, .params = &mem->addr};

	if (k->cluster)
		l.cluster[0] = k->cluster, l.cluster[1] = l.cluster[2] = 1;
	res->base = mem->addr;
	res->ran = m && ws_gpu_launch(g, ws_gpu_module_kernel(m, "k"), &l, NULL, &err);
	if (!res->ran)
		ws_buf_printf(&res->text, "%s", err.text.data ? err.text.data : "cannot be loaded");
	ws_buf_free(&err.text);
	if (m)
		ws_gpu_module_unload(g, m);
}

static void run(const struct kernel *k, struct ws_ptx_module *ptx, const struct variant *v, const char *detector,
                struct result *res)
{
	const struct ws_detector *d = ws_detector_find(detector);
	struct ws_report *report = ws_report_new();
	struct ws_detect_config dc = {.granularity = granularity, .shared = true, .global = true, .raced = on_raced,
	                              .raced_user = res};
	struct ws_gpu_config c = {.divergence = v->divergence, .schedule = v->schedule, .seed = k->seed, .host_threads = v->threads,
	                          .max_instructions = 2000000, .memory = 1 << 24, .heap_bytes = 1 << 16, .printf_fd = -1,
	                          .observer = d->ops};
	struct ws_gpu *g;

	memset(res, 0, sizeof *res);
	c.observer_self = d->create(&dc, report);
	g = ws_gpu_create(&c);
	d->attach(c.observer_self, g);
	launch(g, k, ptx, res);
	if (ws_report_failed(report)) {
		struct ws_buf json = {NULL, 0, 0};
		const char *at;

		res->differ = true;
		ws_report_write_json(report, &json);
		at = strstr(json.data, "the detectors differ");
		ws_buf_printf(&res->text, "%.600s", at ? at : json.data);
		ws_buf_free(&json);
	}
	ws_gpu_destroy(g);
	d->destroy(c.observer_self);
	ws_report_free(report);
}

/* NULL: the same ones. */
static char *other_bytes(const struct result *alone, const struct result *both)
{
	struct ws_buf b = {NULL, 0, 0};
	uint32_t told = 0;

	for (int i = 0; i < PLACES && told < 8; i++) {
		if (!alone->raced[i] == !both->raced[i])
			continue;
		ws_buf_printf(&b, "%s %s byte %d (%s)", told++ ? "," : "shadow alone finds other bytes:", i < GLOBAL ? "global" : "shared",
		              i < GLOBAL ? i : (i - GLOBAL) % SHARED, alone->raced[i] ? "alone" : "not alone");
	}
	return b.data;
}

/* ---- the checks of the pass `race` ---- */
static uint64_t missed_kernels, racing_kernels, limits, others;

/* What exact has found of the bytes of that place: of the first one, and whether any that the access wrote is in an error. */
static uint32_t found_at(const uint8_t *places, uint64_t at, uint64_t n, uint32_t bytes)
{
	uint64_t unit = bytes > 4 ? bytes : 4, from = at / unit * unit;
	uint32_t error = 0;

	for (uint64_t i = from; i < n && i < from + unit; i++)
		error |= places[i] & AN_ERROR;
	return at < n && places[at] ? RACED | error : 0;
}

/* Is there a race where the checks found one, and not only of one value if they say so (values)? Of shared memory they say the offset: in a
 * cluster, of some block's of it. */
static bool is_race(const struct kernel *k, const struct ws_race_found *f, const struct result *exact, const struct result *res,
                    uint32_t shared, bool values, uint64_t *at)
{
	uint32_t blocks = k->cluster ? k->cluster : 1;
	bool error = values && f->pair == WS_RACE_WRITE_AFTER_WRITE && !(f->flags & WS_RACE_SAME_VALUE);
	uint32_t all = error ? RACED | AN_ERROR : RACED, bytes = WS_RACE_BYTES_OF(f->what);

	*at = f->space == WS_RACE_GLOBAL ? f->address - res->base : f->address - shared;
	if (f->space == WS_RACE_GLOBAL)
		return (found_at(exact->raced, *at, GLOBAL, bytes) & all) == all;
	for (uint32_t b = f->block / blocks * blocks, n = 0; n < blocks; n++)
		if ((found_at(exact->raced + GLOBAL + (b + n) * SHARED, *at, SHARED, bytes) & all) == all)
			return true;
	return false;
}

/* Where the kernel's own variable begins in its shared memory, behind that of the checks. */
static uint32_t shared_start(const struct ws_gpu_kernel *k)
{
	uint32_t start = 0;

	for (uint32_t at = 0; at < 8192; at += 8) {
		const char *name = ws_gpu_shared_var(k, at, &start);

		if (name && !strcmp(name, "s"))
			return start;
	}
	return 0;
}

static char *found_more(const struct kernel *k, const struct race_tables *t, const struct result *exact, struct result *res, uint32_t shared,
                        bool values)
{
	const struct ws_race_found *f;
	struct ws_buf b = {NULL, 0, 0};

	for (uint32_t n = 0; (f = race_found(t, n)); n++) {
		uint64_t at;

		if (f->flags & (WS_RACE_LIFETIME_BEGINS | WS_RACE_LIFETIME_ENDS))
			continue;
		res->differ = true;
		if (!is_race(k, f, exact, res, shared, values, &at))
			ws_buf_printf(&b, "a race that is none, or a warning: %s %" PRIu64 ", pair %u, sites %u and %u, block %u thread %u, block %u "
			              "thread %u\n", f->space ? "shared" : "global", at, f->pair, f->site, f->other_site, f->block,
			              f->thread, f->other_block, f->other_thread);
	}
	return b.data;
}

static bool is_unsure(const struct ws_race_counts *c)
{
	uint64_t n = c->undecided + c->lost + c->records_missing + c->found_missing + c->readers + c->launches_missing;

	for (int i = 0; i < WS_RACE_LIMITS; i++)
		n += c->not_checked[i];
	return n;
}

/* Runs the rewritten kernel; res->differ: it found a race. NULL, or what it found that is none. */
static char *run_checks(const struct kernel *k, struct ws_ptx_module *ptx, const struct variant *v, const struct result *exact,
                        struct result *res)
{
	struct ws_gpu_config c = {.divergence = v->divergence, .schedule = v->schedule, .seed = k->seed, .host_threads = v->threads,
	                          .max_instructions = 20000000, .memory = 1 << 26, .heap_bytes = 1 << 16, .printf_fd = -1};
	struct ws_gpu_error err = {.code = WS_GPU_OK};
	struct ws_gpu *g = ws_gpu_create(&c);
	struct ws_gpu_module *m = ws_gpu_module_load(g, &ptx, 1, &err);
	struct ws_mem *mem = ws_gpu_mem_new(g, GLOBAL, 0, WS_MEM_DEVICE, "memory");
	struct ws_gpu_launch l = {.grid = {k->blocks, 1, 1}, .block = {k->threads, 1, 1}, .params = &mem->addr};
	struct race_tables t;
	char *why = NULL;

	memset(res, 0, sizeof *res);
	res->base = mem->addr;
	race_tables(g, &t);
	if (k->cluster)
		l.cluster[0] = k->cluster, l.cluster[1] = l.cluster[2] = 1;
	if (m && k->seed % 2)            /* the cells of shared memory in shared memory */
		l.shared_dynamic = race_shared_size(m, "k", k->threads);
	if (m)
		l.param_bytes = given_params(ws_gpu_module_kernel(m, "k"));
	if (!m || !race_set(m, &t))
		why = ws_strdup(err.text.data ? err.text.data : "no checks");
	else if (ws_gpu_launch(g, ws_gpu_module_kernel(m, "k"), &l, NULL, &err))
		why = found_more(k, &t, exact, res, shared_start(ws_gpu_module_kernel(m, "k")), v->threads == 1);
	else if (err.code != WS_GPU_LIMIT && !exact->faulted)
		why = ws_strdup(err.text.data);
	limits += err.code == WS_GPU_LIMIT;
	res->unsure = err.code != WS_GPU_OK || is_unsure(t.counts);
	if (k->fences && !more) {        /* who reads what from whom is up to the schedule, which the checks change */
		others += why != NULL;
		if (why && getenv("WARPSAFE_VERBOSE"))
			printf("kernel %" PRIu64 ": %s\n", k->seed, why);
		free(why);
		why = NULL;
	}
	ws_buf_free(&err.text);
	ws_gpu_destroy(g);
	return why;
}

/* Adds to `raced` what is found under other schedules, and whether the launch ends in an error there: a block that has ended before
 * another one comes to its shared memory. */
static void run_more(const struct kernel *k, struct ws_ptx_module *ptx, struct result *exact, uint32_t schedules)
{
	struct variant v = {WS_DIV_ITS, WS_SCHED_RANDOM, 1};
	struct result *found = ws_alloc(sizeof *found);
	struct kernel *other = ws_alloc(sizeof *other);

	*other = *k;
	for (uint32_t i = 0; i < schedules; i++) {
		other->seed++;
		v.schedule = i % 2 ? WS_SCHED_PRIORITY : WS_SCHED_RANDOM;    /* random ones end a block before the next begins */
		run(other, ptx, &v, "exact", found);
		for (int j = 0; j < PLACES; j++)
			exact->raced[j] |= found->raced[j];
		exact->faulted |= !found->ran;
		ws_buf_free(&found->text);
	}
	free(other);
	free(found);
}

static char *checks_wrong(const struct kernel *k, struct ws_ptx_module *ptx, struct ws_ptx_module *checked, const struct variant *v)
{
	const uint32_t schedules[] = {more ? 100 : 16, 100};     /* what is found is rare in some: more of them before it is called wrong */
	struct result *exact = ws_alloc(sizeof *exact), *res = ws_alloc(sizeof *res);
	char *why = NULL;
	uint32_t n = 0;

	run(k, ptx, v, "exact", exact);
	for (int j = 0; j < PLACES; j++)
		n += exact->raced[j] != 0;
	if (exact->ran) {
		why = run_checks(k, checked, v, exact, res);
		for (size_t i = 0; why && i < WS_COUNT(schedules); i++) {
			free(why);
			run_more(k, ptx, exact, schedules[i]);
			why = run_checks(k, checked, v, exact, res);
		}
		raced += n;
		racing_kernels += n > 0;
		missed_kernels += n && !res->differ;
	}
	failures += !exact->ran;
	ws_buf_free(&exact->text);
	free(exact);
	free(res);
	return why;
}

/* The kernel with checks; NULL and *why. */
static struct ws_ptx_module *rewritten(const struct ws_buf *text, struct ws_buf *out, char **why)
{
	struct ws_buf diag = {NULL, 0, 0};
	struct ws_sink sink = {ws_sink_to_buf, &diag};
	struct ws_ptx_module *m = ws_ptx_parse("random.ptx", text->data, text->len, NULL, &sink), *checked = NULL;

	if (m && ws_rewrite("race", m, &sink)) {
		ws_ptx_print(m, out);
		checked = ws_ptx_parse("checked.ptx", out->data, out->len, NULL, &sink);
	}
	if (m)
		ws_ptx_free(m);
	*why = checked ? NULL : ws_strdup(diag.data ? diag.data : "not rewritten");
	ws_buf_free(&diag);
	return checked;
}

/* NULL: not a kernel of which the checks miss something without a word. */
static char *missed_by(const struct kernel *k, struct ws_ptx_module *ptx, struct ws_ptx_module *checked)
{
	enum { SCHEDULES = 6 };
	struct result *exact = ws_alloc(sizeof *exact), *res = ws_alloc(sizeof *res);
	struct kernel *other = ws_alloc(sizeof *other);
	struct ws_buf b = {NULL, 0, 0};
	bool all = true;

	*other = *k;
	for (uint32_t i = 0; i < SCHEDULES && all; i++, other->seed += 2) {
		const struct variant v = {WS_DIV_ITS, i ? WS_SCHED_RANDOM : WS_SCHED_RR, 1};
		uint32_t n = 0;

		run(other, ptx, &v, "exact", exact);
		for (int j = 0; j < PLACES; j++)
			n += exact->raced[j] != 0;
		all = exact->ran && n;
		for (int j = 0; all && i == SCHEDULES - 1 && j < PLACES; j++)
			if (exact->raced[j])
				ws_buf_printf(&b, " %s %d", j < GLOBAL ? "global" : "shared", j < GLOBAL ? j : (j - GLOBAL) % SHARED);
		ws_buf_free(&exact->text);
		if (all)
			free(run_checks(other, checked, &v, exact, res));
		all = all && !res->differ && !res->unsure;
	}
	free(exact);
	free(res);
	free(other);
	if (all)
		return b.data;
	ws_buf_free(&b);
	return NULL;
}

static char *device_wrong(const struct kernel *k, size_t from, size_t to, size_t *variant)
{
	struct ws_buf text = {NULL, 0, 0}, out = {NULL, 0, 0};
	struct ws_ptx_module *ptx, *checked;
	char *why;

	print(k, &text);
	ptx = ws_ptx_parse("random.ptx", text.data, text.len, NULL, NULL);
	checked = rewritten(&text, &out, &why);
	if (missed && checked)
		why = missed_by(k, ptx, checked);
	for (size_t i = from; i < to && checked && !why && !missed; i++) {
		*variant = i;
		if (variants[i].divergence == WS_DIV_ITS)
			why = checks_wrong(k, ptx, checked, &variants[i]);
	}
	if (checked)
		ws_ptx_free(checked);
	ws_ptx_free(ptx);
	ws_buf_free(&text);
	ws_buf_free(&out);
	return why;
}

/* Text of what is wrong with the kernel, or NULL; on *variant. */
static char *detectors_wrong(const struct kernel *k, size_t from, size_t to, size_t *variant)
{
	struct ws_buf text = {NULL, 0, 0}, diag = {NULL, 0, 0};
	struct ws_sink sink = {ws_sink_to_buf, &diag};
	struct result *both = ws_alloc(sizeof *both), *alone = ws_alloc(sizeof *alone);
	struct ws_ptx_module *ptx;
	char *why = NULL;

	print(k, &text);
	ptx = ws_ptx_parse("random.ptx", text.data, text.len, NULL, &sink);
	if (!ptx)
		why = ws_strdup(diag.data ? diag.data : "not parsed");
	for (size_t i = from; i < to && !why; i++) {
		const struct variant *v = &variants[i];

		*variant = i;
		run(k, ptx, v, "compare", both);
		failures += !both->ran;
		for (int j = 0; j < PLACES; j++)
			raced += both->raced[j];
		if (both->differ)
			why = ws_strdup(both->text.data);
		else if (v->threads == 1 && both->ran) {
			run(k, ptx, v, "shadow", alone);
			why = other_bytes(alone, both);
			ws_buf_free(&alone->text);
		}
		if (!both->ran && getenv("WARPSAFE_VERBOSE"))
			printf("kernel %" PRIu64 ", variant %zu: %s\n", k->seed, i, both->text.data);
		ws_buf_free(&both->text);
	}
	if (ptx)
		ws_ptx_free(ptx);
	ws_buf_free(&text);
	ws_buf_free(&diag);
	free(both);
	free(alone);
	return why;
}

static char *wrong(const struct kernel *k, size_t from, size_t to, size_t *variant)
{
	return device ? device_wrong(k, from, to, variant) : detectors_wrong(k, from, to, variant);
}

static void shrink(struct kernel *k, size_t variant)
{
	bool progress = true;
	size_t v;

	while (progress) {
		progress = false;
		for (uint32_t i = 0; i < k->nsteps; i++) {
			char *why;

			if (!k->step[i].on)
				continue;
			k->step[i].on = false;
			why = wrong(k, variant, variant + 1, &v);
			k->step[i].on = !why;
			progress = progress || why;
			free(why);
		}
	}
}

static bool check(uint64_t seed)
{
	struct kernel *k = make(seed);
	struct ws_buf text = {NULL, 0, 0};
	size_t variant = 0, v;
	char *why = wrong(k, 0, WS_COUNT(variants), &variant);
	bool fine = !why;

	if (why && getenv("WARPSAFE_VERBOSE"))
		printf("kernel %" PRIu64 ", variant %zu: %s\n", seed, variant, why);
	if (why) {
		free(why);
		shrink(k, variant);
		why = wrong(k, variant, variant + 1, &v);
		print(k, &text);
		printf("FAIL: kernel %" PRIu64 ", variant %zu, %u blocks of %u threads, clusters of %u: %s\n%s\n", seed, variant, k->blocks,
		       k->threads, k->cluster, why ? why : "(not again)", text.data);
		fflush(stdout);
		ws_buf_free(&text);
	}
	free(why);
	kernel_free(k);
	return fine;
}

int main(int argc, char **argv)
{
	uint64_t seed = 1, n = 300, passed = 0, failed = 0;
	double seconds = 0;
	time_t start = time(NULL);
	bool show = false;

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "-s") && i + 1 < argc)
			seed = strtoull(argv[++i], NULL, 0);
		else if (!strcmp(argv[i], "-n") && i + 1 < argc)
			n = strtoull(argv[++i], NULL, 0);
		else if (!strcmp(argv[i], "-g") && i + 1 < argc)
			granularity = strtoul(argv[++i], NULL, 0);
		else if (!strncmp(argv[i], "--seconds=", 10))
			seconds = strtod(argv[i] + 10, NULL);
		else if (!strcmp(argv[i], "--device"))
			device = true;
		else if (!strcmp(argv[i], "--missed"))
			device = missed = true;
		else if (!strcmp(argv[i], "--more"))
			device = more = true;
		else if (!strcmp(argv[i], "-p"))
			show = true;
		else
			return 2;
	}
	if (show) {
		struct ws_buf text = {NULL, 0, 0};
		struct kernel *k = make(seed);

		print(k, &text);
		puts(text.data);
		ws_buf_free(&text);
		kernel_free(k);
		return 0;
	}
	for (uint64_t i = 0; (seconds > 0 ? difftime(time(NULL), start) < seconds : i < n) && (missed || more || failed < 3); i++)
		*(check(seed + i) ? &passed : &failed) += 1;
	printf("random kernels from seed %" PRIu64 ": %" PRIu64 " racing bytes, %" PRIu64 " launches ended in an error\n", seed, raced,
	       failures);
	if (device)
		printf("%" PRIu64 " too long, %" PRIu64 " with fences found others; ", limits, others);
	if (device)
		printf("%" PRIu64 " launches had races; in %" PRIu64 " of them the checks found none\n", racing_kernels, missed_kernels);
	printf("%" PRIu64 " passed, %" PRIu64 " failed, 0 skipped\n", passed, failed + (passed > 100 && !raced));
	return failed || (passed > 100 && !raced);
}

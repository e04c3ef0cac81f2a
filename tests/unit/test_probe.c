/* test_probe.c - src/rewrite/probe.c: which kernels have a probe and why others have none, what probes find, and that
 * where one finds nothing no block of a launch has a race in shared memory, whatever its data. */
#include "noise.h"
#include "race_rig.h"

enum { THREADS = 64 };
static uint32_t threads = THREADS;       /* of a block */

/* %r0 thread, %r1 block, %r4 the thread's word of shared memory, %r5 that of a thread of the other warp; %r6 data, %p1 a
 * condition of it; %p2 the first warp. */
#define KERNEL(body) PTX_HEAD REST(body)
#define REST(body) ".const .align 4 .u32 c;\n" \
	".func f() { ret; }\n" \
	".visible .entry k(.param .u64 out, .param .u32 n)\n{\n" \
	" .reg .pred %p<8>; .reg .b32 %r<32>; .reg .b64 %rd<8>; .shared .align 8 .b8 s[512];\n" \
	" ld.param.u64 %rd1, [out]; ld.param.u32 %r10, [n]; ld.const.u32 %r11, [c]; mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x;\n" \
	" mov.u32 %r2, s; shl.b32 %r3, %r0, 2; add.u32 %r4, %r2, %r3; xor.b32 %r5, %r4, 128; setp.lt.u32 %p2, %r0, 32;\n" \
	" mul.wide.u32 %rd2, %r0, 4; add.u64 %rd3, %rd1, %rd2; ld.global.u32 %r6, [%rd3]; setp.ne.u32 %p1, %r6, 0;\n" \
	body " ret;\n}\n"
#define COPIES(body) ".version 7.8\n.target sm_80\n.address_size 64\n" REST(body)
#define COPY    " cp.async.ca.shared.global [%r4], [%rd3], 4;\n"
#define OWN     " st.shared.u32 [%r4], %r6;\n"
#define OTHER   " ld.shared.u32 %r7, [%r5];\n"
#define BARRIER " bar.sync 0;\n"
#define BY_DATA " and.b32 %r8, %r6, 124; add.u32 %r9, %r8, %r2; ld.shared.u32 %r7, [%r9];\n"

/* A loop counts from a number by a copy of a register that goes on to be a sum of data. */
#define COUNTS(from, body) KERNEL("mov.u32 %r12, " from "; mov.u32 %r13, %r12;\nL: add.u32 %r12, %r12, %r6; and.b32 %r14, %r13, 1; shl.b32 %r14, %r14, 7;\n" \
	" xor.b32 %r15, %r4, %r14; st.shared.u32 [%r15], %r0;\n" body " add.u32 %r13, %r13, 1; setp.lt.u32 %p3, %r13, 4;\n@%p3 bra L;\n st.global.u32 [%rd3], %r12;\n")

/* ---- which kernels ---- */
static void expect_verdict(const char *text, const char *why)
{
	struct ws_buf said = { 0 };
	struct ws_sink sink = { ws_sink_to_buf, &said };
	struct ws_ptx_module *m = ws_ptx_parse("test.ptx", text, strlen(text), NULL, &sink);
	const struct ws_rw_kernel *k;

	if (!m || !ws_rewrite("race", m, &sink))
		fail_msg("%s", said.data);
	k = ws_rewrite_result(m)->kernels;
	assert_non_null(k);
	if (why ? k->probe || !k->no_probe || !strstr(k->no_probe, why) : !k->probe)
		fail_msg("'%s' and not '%s', of\n%s", k->probe ? "a probe" : k->no_probe ? k->no_probe : "none", why ? why : "a probe",
		         text);
	ws_ptx_free(m);
	ws_buf_free(&said);
}

static void kernels_have_probes_or_a_reason(void **state)
{
	static const struct { const char *text, *why; } rows[] = {
		{ KERNEL(OWN BARRIER OTHER), NULL },
		{ KERNEL(OWN " bar.red.popc.u32 %r8, 0, %p1;\n" OTHER " bar.warp.sync -1;\n"), NULL },
		{ KERNEL(OWN BARRIER " setp.gt.u32 %p3, %r1, 5;\n@%p3 bra E;\n" OTHER BARRIER "E:\n"), NULL },
		{ KERNEL(OWN BARRIER "@%p1 ret;\n" OTHER BARRIER), NULL },
		{ KERNEL("L: add.u32 %r6, %r6, 1; setp.lt.u32 %p3, %r6, 99;\n@%p3 bra L;\n" OWN), NULL },
		{ KERNEL("mov.u32 %r8, 0;\nL:" OWN BARRIER " add.u32 %r8, %r8, 1; setp.lt.u32 %p3, %r8, %r10;\n@%p3 bra L;\n"), NULL },
		{ KERNEL("@%p1 bra T;\n" OWN "bra E;\nT:" OTHER "E:" BARRIER), NULL },
		/* two rounds at a time, and one that may be left over: nothing of either meets what comes behind both */
		{ KERNEL("mov.u32 %r8, 0;\nL:" OWN BARRIER OTHER BARRIER " add.u32 %r8, %r8, 2; setp.lt.u32 %p3, %r8, %r10;\n@%p3 bra L;\n and.b32 %r9, %r10, 1;"
		         " setp.eq.u32 %p4, %r9, 0;\n@%p4 bra E;\nM:" OWN BARRIER " sub.u32 %r9, %r9, 1; setp.ne.u32 %p5, %r9, 0;\n@%p5 bra M;\nE:"
		         BARRIER " red.shared.add.u32 [%r2], 1;\n" BARRIER), NULL },
		{ COUNTS("0", BARRIER), NULL },
		{ COUNTS("0", "@%p1 mov.u32 %r12, 1;\n" BARRIER), NULL },
		{ KERNEL("mov.u32 %r12, 0;\nL: mov.u32 %r13, %r12; add.u32 %r12, %r12, %r6; add.u32 %r14, %r13, %r4; st.shared.u32 [%r14], %r0;\n"
		         " setp.lt.u32 %p3, %r12, 4;\n@%p3 bra L;\n"), "depends on data" },
		{ KERNEL("mov.u32 %r12, 0;\n@%p1 mov.u32 %r12, 4;\n mov.u32 %r13, %r12; add.u32 %r14, %r13, %r4; st.shared.u32 [%r14], %r0;\n"), "depends on data" },
		{ KERNEL("@%p1 bra M;\n mov.u32 %r12, 0;\nM: mov.u32 %r13, %r12; add.u32 %r14, %r13, %r4; st.shared.u32 [%r14], %r0;\n add.u32 %r12, %r12, %r6;\n"),
		  "depends on data" },
		{ KERNEL("@%p2 bra B;\n@%p1 bra E;\nB:" OWN "E:" BARRIER), NULL },
		{ KERNEL("@%p1 bra B;\n@%p2 bra B;\nbra E;\nB:" OWN "E:" BARRIER), NULL },
		{ KERNEL("@%p1 bra B;\nsetp.gt.u32 %p3, %r6, 7;\n@%p3 bra E;\nB:" OWN "E:" BARRIER), NULL },
		{ COPIES(COPY " @%p1 ret;\n cp.async.wait_all;\n" BARRIER OTHER), "depends on data" },
		{ COPIES(COPY " @%p2 cp.async.wait_all;\n" BARRIER OTHER), "a wait of some threads for their copies" },
		{ COPIES(COPY " @%p1 bra E;\n cp.async.wait_all;\nE:" BARRIER OTHER), "a barrier depends" },
		{ KERNEL(OWN "@%p2 bar.sync 0;\n"), "a barrier for some threads at test.ptx:" },
		{ KERNEL(OWN " bar.sync 1;\n"), "a barrier with a number" },
		{ KERNEL(OWN " mov.u32 %r8, 0; bar.sync %r8;\n"), "a barrier with a number" },
		{ KERNEL(OWN " bar.sync 0, 64;\n"), "a barrier of some threads" },
		{ KERNEL(OWN " bar.warp.sync 15;\n"), "a sync of some lanes" },
		{ KERNEL(OWN " red.shared.add.u32 [%r2], 1;\n"), "an atomic access" },
		{ KERNEL(OWN BARRIER " red.shared.add.u32 [%r2], 1;\n" BARRIER OTHER), NULL },
		{ KERNEL(OWN BARRIER BY_DATA), NULL },
		{ KERNEL(OWN BY_DATA BARRIER), "an address or a loop depends on data" },
		{ KERNEL(OWN BARRIER " cvt.u64.u32 %rd5, %r2; cvta.shared.u64 %rd4, %rd5; ld.u32 %r7, [%rd4];\n"), NULL },     /* a generic address of shared memory */
		{ KERNEL(OWN " cvta.shared.u64 %rd4, %rd2; sub.u64 %rd5, %rd4, 4; ld.u32 %r7, [%rd5];\n"), "an access of which the memory is not named" },
		{ KERNEL(OWN " call f, ();\n"), "a call" },
		{ KERNEL(OWN " mov.u32 %r8, %dynamic_smem_size;\n"), "the size of shared memory is read" },
		{ KERNEL("t: .branchtargets A, B;\nbrx.idx %r1, t;\nA:" OWN "B:"), "a table of branches" },
		{ KERNEL("{ .reg .b32 %q; mov.u32 %q, s; st.shared.u32 [%q], 1; }\n"), "registers of an inner scope" },
		{ KERNEL(" add.u32 %r8, %r4, %r6; st.shared.u32 [%r8], 1;\n"), "an address or a loop depends on data" },
		{ KERNEL(" add.u32 %r8, %r4, %r1; st.shared.u32 [%r8], 1;\n"), "depends on data, or on the block's index" },
		{ KERNEL(" shfl.sync.idx.b32 %r8, %r4, 0, 31, -1; st.shared.u32 [%r8], 1;\n"), "an address or a loop depends" },
		{ KERNEL("L:" OWN BARRIER " add.u32 %r6, %r6, 1; setp.lt.u32 %p3, %r6, 99;\n@%p3 bra L;\n"), NULL },
		{ KERNEL("L:" OWN BARRIER " add.u32 %r6, %r6, 1; setp.lt.u32 %p3, %r6, 99;\n@%p3 bra L;\n" OTHER), "a barrier depends" },
		{ KERNEL("L:" OWN BARRIER " xor.b32 %r4, %r4, 4; add.u32 %r6, %r6, 1; setp.lt.u32 %p3, %r6, 99;\n@%p3 bra L;\n"),
		  "a barrier depends" },
		{ KERNEL("L:" OWN " add.u32 %r6, %r6, 1; setp.lt.u32 %p3, %r6, 99;\n@%p3 bra L;\n" BARRIER), NULL },
		{ KERNEL("L:" OWN " add.u32 %r6, %r6, 1; setp.lt.u32 %p3, %r6, 99;\n@%p3 bra L;\n"), NULL },
		{ KERNEL("L: setp.gt.u32 %p3, %r6, 99;\n@%p3 bra E;\n" OWN " add.u32 %r6, %r6, 1; bra L;\nE:" BARRIER OTHER), NULL },
		{ KERNEL("L: @%p2 bra M;\n" OWN "M: add.u32 %r6, %r6, 1; setp.lt.u32 %p3, %r6, 99;\n@%p3 bra L;\n" BARRIER), NULL },
		{ KERNEL("L: @%p1 bra M;\n" OWN "M: add.u32 %r6, %r6, 1; setp.lt.u32 %p3, %r6, 99;\n@%p3 bra L;\n" BARRIER), NULL },
		{ KERNEL("L: xor.b32 %r4, %r4, 4;\n" OWN " add.u32 %r6, %r6, 1; setp.lt.u32 %p3, %r6, 99;\n@%p3 bra L;\n" BARRIER),
		  "a loop with accesses" },
		{ KERNEL("L:" OWN " add.u32 %r6, %r6, 1; xor.b32 %r4, %r4, 4; setp.lt.u32 %p3, %r6, 99;\n@%p3 bra L;\n" BARRIER),
		  "a loop with accesses" },
		{ KERNEL("mov.u32 %r8, %r4;\nL:" OWN " mov.u32 %r8, %r5; add.u32 %r6, %r6, 1; setp.lt.u32 %p3, %r6, 99;\n@%p3 bra L;\n"
		         " st.shared.u32 [%r8], 1;\n" BARRIER), "a loop with accesses" },
		{ KERNEL("L: @%p2 bra L;\n" OWN " add.u32 %r6, %r6, 1; setp.lt.u32 %p3, %r6, 99;\n@%p3 bra L;\n" BARRIER), "a loop with accesses" },
		{ KERNEL("@%p2 bra M;\nL:" OWN "M: add.u32 %r6, %r6, 1; setp.lt.u32 %p3, %r6, 99;\n@%p3 bra L;\n" BARRIER), "a loop with accesses" },
		{ COPIES("L:" COPY " add.u32 %r6, %r6, 1; setp.lt.u32 %p3, %r6, 99;\n@%p3 bra L;\n cp.async.wait_all;\n" BARRIER OTHER),
		  "a loop with accesses" },
		{ KERNEL("mov.u32 %r8, 0;\nL: @%p1 bra E;\n" OWN " add.u32 %r8, %r8, 4; setp.lt.u32 %p3, %r8, 8;\n@%p3 bra L;\nE:" BARRIER),
		  "a loop with accesses" },
		{ KERNEL("@%p1 bra E;\n" OWN BARRIER OTHER "E:" BARRIER), "a barrier depends" },
		{ KERNEL("setp.eq.u32 %p4, %r1, 1;\n@%p4 bra E;\n" OWN BARRIER OTHER "E:" BARRIER), NULL },
		{ KERNEL("ld.global.nc.u32 %r9, [%rd1]; setp.eq.u32 %p4, %r9, 1;\n@%p4 bra E;\n" OWN BARRIER OTHER "E:" BARRIER), NULL },
		{ KERNEL("ld.global.u32 %r9, [%rd1]; setp.eq.u32 %p4, %r9, 1;\n@%p4 bra E;\n" OWN BARRIER OTHER "E:" BARRIER), NULL },
		{ KERNEL("ld.shared.u32 %r9, [%r2+256]; setp.eq.u32 %p4, %r9, 1;\n@%p4 bra E;\n" OWN BARRIER OTHER "E:" BARRIER), NULL },
		{ KERNEL("ld.volatile.global.u32 %r9, [%rd1]; setp.eq.u32 %p4, %r9, 1;\n@%p4 bra E;\n" OWN BARRIER OTHER "E:" BARRIER), "a barrier depends" },
		{ KERNEL("ld.u32 %r9, [%rd1]; setp.eq.u32 %p4, %r9, 1;\n@%p4 bra E;\n" OWN BARRIER OTHER "E:" BARRIER), "a barrier depends" },      /* it may be the thread's own */
		{ KERNEL("ld.global.u32 %r9, [%rd1]; membar.gl; setp.eq.u32 %p4, %r9, 1;\n@%p4 bra E;\n" OWN BARRIER OTHER "E:" BARRIER), "a barrier depends" },
		{ KERNEL("atom.acquire.gpu.global.add.u32 %r9, [%rd3], 1; ld.global.u32 %r9, [%rd1]; setp.eq.u32 %p4, %r9, 1;\n@%p4 bra E;\n" OWN BARRIER OTHER "E:" BARRIER), "a barrier depends" },
		{ KERNEL("@%p1 ld.global.u32 %r9, [%rd1]; setp.eq.u32 %p4, %r9, 1;\n@%p4 bra E;\n" OWN BARRIER OTHER "E:" BARRIER), "a barrier depends" },
		{ KERNEL("ld.global.nc.u32 %r9, [%rd3]; setp.eq.u32 %p4, %r9, 1;\n@%p4 bra E;\n" OWN BARRIER OTHER "E:" BARRIER), "a barrier depends" },
		{ KERNEL("mov.u32 %r8, 0;\nL: setp.eq.u32 %p4, %r1, %r8;\n@%p4 bra E;\n" OWN BARRIER "E: add.u32 %r8, %r8, 1; setp.lt.u32 %p3, %r8, 4;\n@%p3 bra L;\n"),
		  "a barrier depends" },
		{ KERNEL("setp.eq.u32 %p4, %r1, 1;\n@%p4 bra E;\n" OWN BARRIER "E:@%p4 bra F;\n" OWN BARRIER "F:@%p4 bra G;\n" OWN BARRIER "G:" BARRIER), NULL },
		{ KERNEL("setp.eq.u32 %p4, %r1, 1;\n@%p4 bra E;\n" OWN BARRIER "E:@%p4 bra F;\n" OWN BARRIER "F:@%p4 bra G;\n" OWN BARRIER "G:@%p4 bra H;\n"
		         OWN BARRIER "H:" BARRIER), "a barrier depends" },
		{ COPIES("mov.u32 %r8, 0;\nL:" COPY " cp.async.wait_all;\n" BARRIER OTHER BARRIER " add.u32 %r8, %r8, 1; setp.lt.u32 %p3, %r8, %r1;\n@%p3 bra L;\n" OWN),
		  "a barrier depends" },
		{ KERNEL("mov.u32 %r8, %r4;\n@%p1 bra E;\nmov.u32 %r8, %r5;\nE: st.shared.u32 [%r8], 1;\n"), "is chosen by data" },
		{ KERNEL("mov.u32 %r8, %r4;\n@%p1 mov.u32 %r8, %r5;\nst.shared.u32 [%r8], 1;\n"), "an address or a loop depends" },
		{ KERNEL("@%p1 bra T;\nmov.u32 %r3, %r5; st.shared.u32 [%r3], 1; bra E;\nT: st.shared.u32 [%r3], 1;\nE:" BARRIER),
		  "is chosen by data" },
	};

	for (size_t k = 0; k < WS_COUNT(rows); k++)
		expect_verdict(rows[k].text, rows[k].why);
}

static void too_many_constants_are_too_many(void **state)
{
	struct ws_buf text = { 0 };

	ws_buf_puts(&text, PTX_HEAD ".const .align 4 .b8 many[256];\n.visible .entry k()\n{\n.reg .b32 %r<9>; .shared .b32 s;\n"
	            "mov.u32 %r4, s;\n");
	for (int k = 0; k < 17; k++)
		ws_buf_printf(&text, "ld.const.u32 %%r8, [many+%d]; add.u32 %%r4, %%r4, %%r8;\n", 4 * k);
	ws_buf_puts(&text, "st.shared.u32 [%r4], 1;\nret;\n}\n");
	expect_verdict(text.data, "too many parameters or constants");
	ws_buf_free(&text);
}

/* ---- what they find ---- */
struct params { uint64_t out; uint32_t n; };
struct ran { struct race_rig r; uint32_t *probe, *data, blocks, unit; struct params params; };

/* Of its probe. */
static uint32_t blocks_of(const char *text, uint32_t *unit)
{
	struct ws_ptx_module *m = ws_ptx_parse("test.ptx", text, strlen(text), NULL, NULL);
	uint32_t blocks;

	assert_true(ws_rewrite("race", m, NULL));
	blocks = ws_rewrite_result(m)->kernels->probe_blocks;
	*unit = ws_rewrite_result(m)->kernels->probe_unit;
	ws_ptx_free(m);
	return blocks;
}

static struct ran begin(const char *text, struct ws_gpu_config c)
{
	struct ran x = { .r = race_new(c, text) };
	struct ws_mem *word = race_memory(x.r.rig.g, 64), *m = rig_mem(&x.r.rig, 1 << 14);

	x.probe = (uint32_t *)(void *)word->host;
	x.data = (uint32_t *)(void *)m->host;
	x.params = (struct params){ m->addr, 2 };
	x.blocks = blocks_of(text, &x.unit);
	x.r.tables.device.probe = word->addr;
	x.r.tables.device.proofs = race_memory(x.r.rig.g, WS_RACE_PROOFS * sizeof(uint64_t))->addr;
	assert_true(race_set(x.r.rig.mod, &x.r.tables));
	return x;
}

/* Has the probe found nothing? */
static bool probe(struct ran *x)
{
	*x->probe = WS_RACE_PROBE_WAITS;
	x->r.rig.shared = race_probe_size(x->r.rig.mod, "k", threads, x->unit);
	rig_run(&x->r.rig, "k", x->blocks, threads, &x->params);
	assert_true(*x->probe == WS_RACE_PROBE_NOTHING || *x->probe == WS_RACE_PROBE_FOUND);
	assert_null(race_found(&x->r.tables, 0));
	return *x->probe == WS_RACE_PROBE_NOTHING;
}

static void launch(struct ran *x, bool proved, uint32_t grid)
{
	x->r.rig.shared = proved ? WS_RACE_PROVED_SIZE(0u) : race_shared_size(x->r.rig.mod, "k", threads);
	rig_run(&x->r.rig, "k", grid, threads, &x->params);
}

static const struct ws_gpu_config usual = { .divergence = WS_DIV_ITS, .host_threads = 1 };

static void probes_find_what_blocks_may_do(void **state)
{
	static const struct { const char *text; bool nothing; } rows[] = {
		{ KERNEL(OWN BARRIER OTHER), true },
		{ KERNEL(OWN OTHER), false },
		{ KERNEL(" st.volatile.shared.u32 [%r4], %r6; bar.sync 0; ld.volatile.shared.u32 %r7, [%r5];\n"), true },
		{ KERNEL(" st.volatile.shared.u32 [%r4], %r6; ld.volatile.shared.u32 %r7, [%r5];\n"), true },
		{ KERNEL(" st.volatile.shared.u32 [%r2], %r6; ld.relaxed.cta.shared.u32 %r7, [%r2]; st.volatile.shared.u32 [%r2], 1;\n"), true },
		{ KERNEL(" st.volatile.shared.u32 [%r4], %r6; ld.shared.u32 %r7, [%r5];\n"), false },
		{ KERNEL(" st.shared.u32 [%r4], %r6; ld.volatile.shared.u32 %r7, [%r5];\n"), false },
		{ KERNEL(" st.volatile.shared.u32 [%r4], %r6; st.shared.u32 [%r5], 1;\n"), false },
		{ KERNEL(" and.b32 %r5, %r5, -8; st.volatile.shared.u32 [%r4], %r6; ld.volatile.shared.u64 %rd4, [%r5];\n"), false },
		{ KERNEL(" and.b32 %r5, %r5, -8; st.volatile.shared.u32 [%r4], %r6; ld.volatile.shared.v2.u32 {%r7, %r8}, [%r5];\n"), false },
		{ KERNEL(" st.volatile.shared.u8 [%r4], %r6; ld.volatile.shared.u8 %r7, [%r5];\n"), true },
		{ KERNEL(" st.volatile.shared.u8 [%r4], %r6; ld.volatile.shared.u16 %r7, [%r5];\n"), false },
		/* rounds as data says */
		{ KERNEL("L:" OWN " add.u32 %r6, %r6, 1; setp.lt.u32 %p3, %r6, 99;\n@%p3 bra L;\n" BARRIER OTHER), true },
		{ KERNEL("L:" OWN " add.u32 %r6, %r6, 1; setp.lt.u32 %p3, %r6, 99;\n@%p3 bra L;\n" OTHER), false },
		{ KERNEL("L:" OWN OTHER " add.u32 %r6, %r6, 1; setp.lt.u32 %p3, %r6, 99;\n@%p3 bra L;\n" BARRIER), false },
		{ KERNEL("L: setp.gt.u32 %p3, %r6, 99;\n@%p3 bra E;\n" OWN " add.u32 %r6, %r6, 1; bra L;\nE:" BARRIER OTHER), true },
		{ KERNEL("L: setp.gt.u32 %p3, %r6, 99;\n@%p3 bra E;\n" OWN " add.u32 %r6, %r6, 1; bra L;\nE:" OTHER), false },
		{ KERNEL("L:" OTHER "setp.gt.u32 %p3, %r6, 99;\n@%p3 bra E;\n" OWN " add.u32 %r6, %r6, 1; bra L;\nE:" BARRIER), false },
		{ KERNEL("L: @%p1 bra M;\n" OTHER "M: add.u32 %r6, %r6, 1; setp.lt.u32 %p3, %r6, 99;\n@%p3 bra L;\n" OWN), false },
		/* rounds, and ways, as the block's index says, and something behind them */
		{ KERNEL("mov.u32 %r8, 0;\nL:" OWN BARRIER OTHER BARRIER " add.u32 %r8, %r8, 1; setp.lt.u32 %p3, %r8, %r1;\n@%p3 bra L;\n" OWN BARRIER), true },
		{ KERNEL("mov.u32 %r8, 0;\nL:" OWN BARRIER OTHER " add.u32 %r8, %r8, 1; setp.lt.u32 %p3, %r8, %r1;\n@%p3 bra L;\n" BARRIER OWN), false },
		{ KERNEL("mov.u32 %r8, 0;\nL: @%p2 bra M;\n" OTHER "M:" BARRIER " add.u32 %r8, %r8, 1; setp.lt.u32 %p3, %r8, %r1;\n@%p3 bra L;\n" OWN), true },
		{ KERNEL("mov.u32 %r8, 0;\nL:" BARRIER OTHER " add.u32 %r8, %r8, 1; setp.lt.u32 %p3, %r8, %r1;\n@%p3 bra L;\n" OWN), false },
		{ KERNEL("setp.eq.u32 %p4, %r1, 1;\n@%p4 bra E;\n" OWN BARRIER OTHER BARRIER "E:" OWN), true },
		{ KERNEL("setp.eq.u32 %p4, %r1, 1;\n@%p4 bra E;\n" OWN BARRIER OTHER "E:" OWN), false },
		{ KERNEL("setp.eq.u32 %p4, %r1, 1;\n" OWN "@%p4 bra E;\n" BARRIER "E:" OTHER), false },
		{ KERNEL("setp.eq.u32 %p4, %r1, 1;\n" OWN "@%p4 bra E;\n" BARRIER "E:" BARRIER OTHER), true },
		{ KERNEL("setp.eq.u32 %p4, %r1, 1;\nmov.u32 %r8, %r4;\n@%p4 bra E;\nmov.u32 %r8, %r5;\nE: st.shared.u32 [%r8], 1;\n" BARRIER OTHER), true },
		{ KERNEL("setp.eq.u32 %p4, %r1, 1;\nmov.u32 %r8, %r4;\n@%p4 bra E;\nmov.u32 %r8, %r5;\nE: st.shared.u32 [%r8], 1;\n" OTHER), false },
		{ KERNEL(" st.shared.u32 [%r2], %r6;\n"), false },
		{ KERNEL(OWN " xor.b32 %r8, %r4, 4; bar.warp.sync -1; ld.shared.u32 %r7, [%r8];\n"), true },
		{ KERNEL(OWN " xor.b32 %r8, %r4, 4; ld.shared.u32 %r7, [%r8];\n"), false },
		{ KERNEL(OWN "@%p1 bra E;\n" OTHER "E:" BARRIER), false },         /* a race by data alone */
		{ KERNEL("@%p1 bra T;\n" OWN "bra E;\nT:" OTHER "E:" BARRIER), false },
		{ KERNEL("@%p1 bra T;\n" OWN "bra E;\nT:" OWN "E:" BARRIER OTHER), true },
		{ KERNEL("@%p1 st.shared.u32 [%r4], 1;\n" OTHER), false },
		{ KERNEL("@%p2 st.shared.u32 [%r4], 1;\n@%p2 ld.shared.u32 %r7, [%r4];\n"), true },
		{ KERNEL(OWN BARRIER "@%p1 ret;\n" OTHER BARRIER OWN), true },
		{ KERNEL("@%p2 bra B;\n@%p1 bra E;\nB:" OWN "E:" BARRIER OTHER), true },
		{ KERNEL("@%p1 bra B;\n@%p2 bra B;\nbra E;\nB:" OTHER "E:" OWN), false },
		{ KERNEL("mov.u32 %r8, 0;\nL:" OWN BARRIER OTHER BARRIER " add.u32 %r8, %r8, 1; setp.lt.u32 %p3, %r8, %r10;\n@%p3 bra L;\n"),
		  true },
		{ KERNEL("mov.u32 %r8, 0;\nL:" OWN BARRIER OTHER " add.u32 %r8, %r8, 1; setp.lt.u32 %p3, %r8, %r10;\n@%p3 bra L;\n"),
		  false },
		{ COUNTS("0", BARRIER), true },
		{ COUNTS("0", ""), false },
		{ COUNTS("3", ""), true },           /* one round */
		/* units of 16 bytes, and of 8 */
		{ KERNEL(" shl.b32 %r8, %r0, 4; and.b32 %r8, %r8, 511; add.u32 %r8, %r8, %r2; @%p2 st.shared.v4.u32 [%r8], {%r4, %r5, %r6, %r7};\n"
		         BARRIER " xor.b32 %r9, %r8, 16; @%p2 ld.shared.v4.u32 {%r4, %r5, %r6, %r7}, [%r9];\n"), true },
		{ KERNEL(" shl.b32 %r8, %r0, 4; and.b32 %r8, %r8, 511; add.u32 %r8, %r8, %r2; @%p2 st.shared.v4.u32 [%r8], {%r4, %r5, %r6, %r7};\n"
		         " xor.b32 %r9, %r8, 16; @%p2 ld.shared.v4.u32 {%r4, %r5, %r6, %r7}, [%r9];\n" BARRIER), false },
		{ KERNEL(" shl.b32 %r8, %r0, 4; and.b32 %r8, %r8, 511; add.u32 %r8, %r8, %r2; @%p2 st.shared.v2.u32 [%r8+8], {%r4, %r5};\n"
		         " xor.b32 %r9, %r8, 16; @%p2 ld.shared.v2.u32 {%r4, %r5}, [%r9];\n" BARRIER), true },
		{ KERNEL(" shl.b32 %r8, %r0, 4; and.b32 %r8, %r8, 511; add.u32 %r8, %r8, %r2; @%p2 st.shared.v2.u32 [%r8+8], {%r4, %r5};\n"
		         " xor.b32 %r9, %r8, 16; @%p2 ld.shared.v4.u32 {%r4, %r5, %r6, %r7}, [%r9];\n" BARRIER), false },
		/* places that data gives, and atomics */
		{ KERNEL(OWN BARRIER BY_DATA BARRIER OWN), true },
		{ KERNEL(OWN BARRIER OTHER BY_DATA), true },
		{ KERNEL(OWN OTHER BARRIER BY_DATA), false },
		{ KERNEL(OWN BARRIER " red.shared.add.u32 [%r2], 1;\n" BARRIER OTHER), true },
		/* bytes and halves of words */
		{ KERNEL(" add.u32 %r8, %r2, %r0; st.shared.u8 [%r8], %r0;\n" BARRIER " xor.b32 %r9, %r8, 1; ld.shared.u8 %r7, [%r9];\n"), true },
		{ KERNEL(" add.u32 %r8, %r2, %r0; st.shared.u8 [%r8], %r0;\n xor.b32 %r9, %r8, 1; ld.shared.u8 %r7, [%r9];\n" BARRIER), false },
		{ KERNEL(" add.u32 %r8, %r2, %r0; ld.shared.u8 %r7, [%r8];\n st.shared.u8 [%r8], %r7;\n" BARRIER OTHER), true },
		{ KERNEL(" add.u32 %r8, %r2, %r0; ld.shared.u8 %r7, [%r8];\n st.shared.u8 [%r8], %r7;\n" OTHER), false },
		{ KERNEL(" shl.b32 %r8, %r0, 1; add.u32 %r8, %r2, %r8; ld.shared.u16 %r7, [%r8];\n st.shared.u16 [%r8], %r7;\n" BARRIER OTHER), true },
		{ KERNEL(" shl.b32 %r8, %r0, 1; add.u32 %r8, %r2, %r8; ld.shared.u16 %r7, [%r8];\n st.shared.u16 [%r8+2], %r7;\n" BARRIER OTHER), false },
		{ KERNEL(" add.u32 %r8, %r2, %r0; st.shared.u8 [%r8], %r0;\n" BARRIER " shl.b32 %r8, %r0, 3; and.b32 %r8, %r8, 511; add.u32 %r8, %r2, %r8;"
		         " @%p2 ld.shared.v2.u32 {%r4, %r5}, [%r8];\n"), true },
		{ KERNEL(" add.u32 %r8, %r2, %r0; st.shared.u8 [%r8], %r0;\n shl.b32 %r8, %r0, 3; and.b32 %r8, %r8, 511; add.u32 %r8, %r2, %r8;"
		         " setp.eq.u32 %p3, %r0, 2; @%p3 ld.shared.v4.u32 {%r4, %r5, %r6, %r7}, [%r8];\n"), false },
		/* rounds as the block's index says */
		{ KERNEL("mov.u32 %r8, 0;\nL:" OWN BARRIER OTHER BARRIER " add.u32 %r8, %r8, 1; setp.lt.u32 %p3, %r8, %r1;\n@%p3 bra L;\n"), true },
		{ KERNEL("mov.u32 %r8, 0;\nL:" OWN BARRIER OTHER " add.u32 %r8, %r8, 1; setp.lt.u32 %p3, %r8, %r1;\n@%p3 bra L;\n"), false },
		/* asynchronous copies */
		{ COPIES(COPY " cp.async.wait_all;\n" BARRIER OTHER), true },
		{ COPIES(COPY BARRIER OTHER), false },
		{ COPIES(COPY BARRIER BY_DATA), false },
		{ COPIES(COPY " cp.async.wait_all;\n" BARRIER BY_DATA), false },         /* no probe: when a copy is complete is not looked at here */
		{ KERNEL(OWN BARRIER "@%p2 ld.shared.u32 %r7, [%r5];\n"), true },
		{ COPIES(COPY " cp.async.wait_all;\n" OTHER), false },
		{ COPIES(COPY " cp.async.commit_group; cp.async.wait_group 1;\n" BARRIER OTHER), false },
		{ COPIES(COPY " cp.async.commit_group; cp.async.wait_group 0;\n" BARRIER OTHER), true },
		{ COPIES(COPY " cp.async.commit_group; cp.async.commit_group; cp.async.wait_group 1;\n" BARRIER OTHER), true },
		{ COPIES(COPY COPY " cp.async.wait_all;\n" BARRIER OTHER), false },
		{ COPIES("mov.u32 %r8, 0;\nL:" COPY " cp.async.wait_all;\n" BARRIER OTHER BARRIER " add.u32 %r8, %r8, 1; setp.lt.u32 %p3, %r8, %r1;\n@%p3 bra L;\n"), true },
		{ COPIES("mov.u32 %r8, 0;\nL:" COPY " cp.async.wait_all;\n" BARRIER OTHER " add.u32 %r8, %r8, 1; setp.lt.u32 %p3, %r8, %r1;\n@%p3 bra L;\n"), false },
		/* conditions of data that hold only where one of the thread does */
#define THIRD " setp.eq.u32 %p3, %r0, 3;\n"
		{ KERNEL(THIRD "and.pred %p4, %p1, %p3;\n@%p4 st.shared.u32 [%r2], %r0;\n"), true },
		{ KERNEL(THIRD "and.pred %p4, %p1, %p2;\n@%p4 st.shared.u32 [%r2], %r0;\n"), false },
		{ KERNEL(THIRD "or.pred %p4, %p1, %p3;\n@%p4 st.shared.u32 [%r2], %r0;\n"), false },
		{ KERNEL(THIRD "not.pred %p4, %p3; or.pred %p5, %p4, %p1;\n@%p5 bra E;\n st.shared.u32 [%r2], %r0;\nE:" BARRIER), true },
		{ KERNEL(THIRD "not.pred %p4, %p3; and.pred %p5, %p4, %p1;\n@%p5 bra E;\n st.shared.u32 [%r2], %r0;\nE:" BARRIER), false },
		{ KERNEL(THIRD "and.pred %p4, %p1, %p3; not.pred %p5, %p4;\n@%p5 bra E;\n st.shared.u32 [%r2], %r0;\nE:" BARRIER), true },
		{ KERNEL(THIRD "and.pred %p4, %p1, %p3; not.pred %p5, %p4;\n@%p5 bra E;\n st.shared.u32 [%r2], %r0;\nE:" OTHER), false },
		{ KERNEL(THIRD "and.pred %p4, %p1, %p3;\n@%p4 bra T;\n" OTHER "bra E;\nT: st.shared.u32 [%r2+256], %r0;\nE:" BARRIER), true },
		{ KERNEL(THIRD "and.pred %p4, %p1, %p3;\n@%p4 bra T;\n" OTHER "bra E;\nT: st.shared.u32 [%r2+128], %r0;\nE:" BARRIER), false },
		{ KERNEL(THIRD "and.pred %p4, %p1, %p3;\n@!%p4 bra T;\n st.shared.u32 [%r2+256], %r0;\nbra E;\nT:" OTHER "E:" BARRIER), true },
		/* both ways end at one place, and the known condition of the outer one is another; within the inner one the outer one counts, too */
		{ KERNEL(THIRD "and.pred %p4, %p1, %p2; and.pred %p5, %p1, %p3;\n@!%p4 bra E;\n@!%p5 bra E;\n st.shared.u32 [%r2], %r0;\nE:" BARRIER), true },
		{ KERNEL(THIRD "and.pred %p4, %p1, %p2; not.pred %p6, %p2; and.pred %p5, %p1, %p6;\n@!%p4 bra T;\n@!%p5 bra E;\n" OTHER "bra E;\nT:" OTHER "E:" BARRIER OWN), true },
		{ KERNEL("setp.gt.u32 %p3, %r0, 40; and.pred %p4, %p1, %p2; and.pred %p5, %p1, %p3;\n@!%p4 bra T;\n@!%p5 bra E;\n st.shared.u32 [%r2], %r0;\nbra E;\nT:" OWN "E:" BARRIER), true },
		{ KERNEL("setp.ne.u32 %p3, %r0, 63; setp.eq.u32 %p6, %r0, 99; and.pred %p4, %p1, %p3; and.pred %p5, %p1, %p6;\n@!%p4 bra T;\n@!%p5 bra E;\n" OWN
		         "bra E;\nT: st.shared.u32 [%r2], %r0;\nE:" BARRIER), false },
		/* one that is not the same at all times: it was another one when the condition was made */
		{ KERNEL("mov.u32 %r8, %r0; setp.eq.u32 %p3, %r8, 3; and.pred %p4, %p1, %p3; add.u32 %r8, %r8, 1; setp.eq.u32 %p3, %r8, 99;\n@%p4 st.shared.u32 [%r2], %r0;\n"), false },
		/* a register that both ways of a branch set to the same, as compilers have it; or to another one */
		{ KERNEL("mov.u32 %r8, %r4;\n@%p1 bra E;\n" OTHER "mov.u32 %r8, %r4;\nE: st.shared.u32 [%r8], 1;\n"), false },
		{ KERNEL("mov.u32 %r8, %r4;\n@%p1 bra E;\n" OTHER "mov.u32 %r8, %r4;\nE:" BARRIER "st.shared.u32 [%r8], 1;\n"), true },
		{ KERNEL("mov.u32 %r8, %r4;\n@%p1 bra E;\n" OTHER "mov.u32 %r8, %r5;\nE:" BARRIER "st.shared.u32 [%r8], 1;\n"), false },
		{ KERNEL("mov.u32 %r8, %r4; add.u32 %r4, %r4, 4;\n@%p1 bra E;\n" OTHER "mov.u32 %r8, %r4;\nE:" BARRIER "st.shared.u32 [%r8], 1;\n"), false },
		{ KERNEL("mov.u32 %r8, %r4;\n@%p1 bra E;\n" OTHER "add.u32 %r4, %r4, 4; mov.u32 %r8, %r4;\nE:" BARRIER "st.shared.u32 [%r8], 1;\n"), false },
		{ KERNEL("mov.u32 %r8, %r4; add.u32 %r8, %r8, 4;\n@%p1 bra E;\n" OTHER "mov.u32 %r8, %r4;\nE:" BARRIER "st.shared.u32 [%r8], 1;\n"), false },
		/* what the kernel would not come to */
		{ KERNEL("@%p1 bra E;\n st.shared.u32 [%r4+100000], 1;\nE:"), false },
		{ KERNEL("@%p1 bra E;\n st.shared.u32 [16], 1;\nE:"), false },
		{ KERNEL("@%p1 bra E;\nL:" OWN "bra L;\nE:"), false },
		{ KERNEL(" st.shared.u8 [%r4], %r6; bar.sync 0; ld.shared.v2.u32 {%r7, %r8}, [%r2];\n"), true },
		{ KERNEL(" mul.lo.u32 %r8, %r0, 3; add.u32 %r8, %r8, %r2; st.shared.u8 [%r8], 1; st.shared.u8 [%r8+1], 1;\n"), true },
	};

	for (size_t k = 0; k < WS_COUNT(rows); k++) {
		struct ran x = begin(rows[k].text, usual);

		if (x.blocks ? probe(&x) != rows[k].nothing : rows[k].nothing)
			fail_msg("the probe finds %s, of\n%s", rows[k].nothing ? "something" : "nothing", rows[k].text);
		race_free(&x.r);
	}
}

/* In blocks of one warp and of two: reads at places that data gives, behind a sync of the warp; accesses to one word of several classes. */
static void probes_of_one_warp(void **state)
{
#define SYNC " bar.warp.sync -1;\n"
	static const struct { const char *text; bool nothing; } rows[] = {
		/* a word that a warp reads weakly and strongly, and writes strongly then; what a thread did weakly before */
		{ KERNEL(" ld.shared.u32 %r7, [%r2]; ld.volatile.shared.u32 %r7, [%r2]; st.volatile.shared.u32 [%r2], %r0;\n"), false },
		{ KERNEL(" ld.volatile.shared.u32 %r7, [%r2]; ld.shared.u32 %r7, [%r2]; st.volatile.shared.u32 [%r2], %r0;\n"), false },
		{ KERNEL("setp.eq.u32 %p3, %r0, 3; ld.shared.u32 %r7, [%r2];\n@%p3 ld.volatile.shared.u32 %r7, [%r2];\n st.volatile.shared.u32 [%r2], %r0;\n"), false },
		{ KERNEL("setp.eq.u32 %p3, %r0, 3;\n@%p3 st.shared.u32 [%r2], %r0;\n@%p3 st.volatile.shared.u32 [%r2], %r0;\n ld.volatile.shared.u32 %r7, [%r2];\n"), false },
		{ KERNEL("setp.eq.u32 %p3, %r0, 3;\n@%p3 ld.shared.u32 %r7, [%r2];\n@%p3 ld.volatile.shared.u32 %r7, [%r2];\n st.volatile.shared.u32 [%r2], %r0;\n"), false },
		{ KERNEL(" ld.volatile.shared.u32 %r7, [%r2]; ld.volatile.shared.u32 %r7, [%r2]; st.volatile.shared.u32 [%r2], %r0;\n" SYNC BY_DATA), true },
		{ KERNEL(OWN SYNC BY_DATA), true },
		{ KERNEL(OWN BY_DATA SYNC), false },
		{ KERNEL(OWN " bar.warp.sync 15;\n" BY_DATA), false },
		{ KERNEL("mov.u32 %r12, 0;\nL:" OWN SYNC BY_DATA SYNC " add.u32 %r12, %r12, 1; setp.lt.u32 %p3, %r12, 5;\n@%p3 bra L;\n"), true },
		{ KERNEL("mov.u32 %r12, 0;\nL:" OWN SYNC BY_DATA " add.u32 %r12, %r12, 1; setp.lt.u32 %p3, %r12, 5;\n@%p3 bra L;\n"), false },
		{ KERNEL(OWN "@%p1 ret;\n" SYNC BY_DATA), false },      /* what has ended is not ordered by it */
		{ KERNEL("@%p1 ret;\n" OWN SYNC BY_DATA), true },
		{ KERNEL(OWN SYNC BY_DATA " red.shared.add.u32 [%r9], 1;\n"), false },
		{ KERNEL(OWN SYNC BY_DATA SYNC " red.shared.add.u32 [%r9], 1;\n"), true },
	};

	for (size_t k = 0; k < WS_COUNT(rows); k++)
		for (threads = THREADS / 2; threads <= THREADS; threads += THREADS / 2) {
			struct ran x = begin(rows[k].text, usual);
			bool nothing = rows[k].nothing && threads <= THREADS / 2;

			if (x.blocks ? probe(&x) != nothing : nothing)
				fail_msg("with %u threads the probe finds %s, of\n%s", threads, nothing ? "something" : "nothing", rows[k].text);
			race_free(&x.r);
		}
	threads = THREADS;
}

/* A race that only data brings is told by the launch, which has its checks. */
static void races_by_data_are_told(void **state)
{
	struct ran x = begin(KERNEL(OWN "@%p1 bra E;\n" OTHER "E:" BARRIER), usual);

	assert_false(probe(&x));
	memset(x.data, 0, THREADS * sizeof *x.data);
	launch(&x, false, 2);
	assert_non_null(race_found(&x.r.tables, 0));
	race_free(&x.r);
}

/* With nothing else to check, no hook of a launch does anything: no warp takes a segment. */
static void proved_launches_enter_no_hook(void **state)
{
	struct ran x = begin(KERNEL(" st.shared.u32 [%r5], %r6;\n" BARRIER OTHER), usual);
	uint32_t before;

	assert_true(probe(&x));
	before = x.r.tables.counts->segments;
	launch(&x, true, 4);
	assert_int_equal(x.r.tables.counts->segments, before);
	launch(&x, false, 4);
	assert_int_not_equal(x.r.tables.counts->segments, before);
	race_free(&x.r);
}

/* Global memory is checked as ever. */
static void proved_launches_check_global_memory(void **state)
{
	struct ran x = begin(KERNEL(OWN BARRIER OTHER " st.global.u32 [%rd1+1024], %r0;\n"), usual);

	assert_true(probe(&x));
	launch(&x, true, 2);
	assert_non_null(race_found(&x.r.tables, 0));
	assert_int_equal(race_found(&x.r.tables, 0)->space, WS_RACE_GLOBAL);
	race_free(&x.r);
}

/* A proof holds for the constants that it was made with: here they say whether there is a barrier. */
static void proofs_know_their_constants(void **state)
{
	struct ran x = begin(KERNEL(OWN " setp.ne.u32 %p3, %r11, 0;\n@%p3 bra E;\n" BARRIER "E:" OTHER), usual);
	uint32_t *c = (uint32_t *)(void *)ws_gpu_module_var(x.r.rig.mod, "c")->host;

	assert_true(probe(&x));
	assert_true(probe(&x));
	launch(&x, true, 2);
	assert_null(race_found(&x.r.tables, 0));
	*c = 1;
	launch(&x, true, 2);
	assert_non_null(race_found(&x.r.tables, 0));
	assert_int_equal(race_found(&x.r.tables, 0)->space, WS_RACE_SHARED);
	race_free(&x.r);
}

/* ---- random kernels ---- */
enum { KERNELS = 300 };
static bool copies;                      /* with asynchronous copies */
static unsigned noise_of_kernel;

static void statements(struct ws_buf *b, uint32_t n, unsigned depth, bool barriers);

/* Conditions of data, of the block, of the thread (%p2), of a parameter, and of both (%q1 to %q4); with one way, or two, or those of `||`. */
static void condition(struct ws_buf *b, unsigned depth, bool barriers)
{
	static const char *const conditions[] = { "%p1", "!%p1", "%p4", "%p2", "%p5", "%q1", "!%q1", "%q2", "!%q2", "%q3", "!%q4" };
	static unsigned labels;
	unsigned label = labels++, which = below(WS_COUNT(conditions));
	bool inside = barriers && (which == 4 || which == 2);

	ws_buf_printf(b, "@%s bra T%u;\n", conditions[which], label);
	if (below(3) == 0 && which != 2)
		ws_buf_printf(b, "@%s bra T%u;\n", ONE_OF(conditions), label);
	statements(b, 2, depth + 1, inside);
	if (below(2)) {
		ws_buf_printf(b, "bra E%u;\n", label);
		ws_buf_printf(b, "T%u:\n", label);
		statements(b, 2, depth + 1, inside);
		ws_buf_printf(b, "E%u:\n", label);
	} else {
		ws_buf_printf(b, "T%u:\n", label);
	}
}

static void loop(struct ws_buf *b, unsigned depth, bool barriers)
{
	static unsigned labels;
	unsigned label = labels++, rounds = 2 + below(3);

	ws_buf_printf(b, "mov.u32 %%n%u, 0;\nL%u:\n", depth, label);
	statements(b, 2, depth + 1, barriers);
	if (barriers && below(2))
		ws_buf_puts(b, BARRIER);
	ws_buf_printf(b, "add.u32 %%n%u, %%n%u, 1;\nsetp.lt.u32 %%p3, %%n%u, %u;\n@%%p3 bra L%u;\n", depth, depth, depth, rounds, label);
}

/* Round as often as data says. */
static void loop_of_data(struct ws_buf *b, unsigned depth)
{
	static unsigned labels;
	unsigned label = labels++;
	bool top = below(2);

	ws_buf_printf(b, "mov.u32 %%n%u, 0;\nD%u:\n", depth, label);
	if (below(3) == 0)
		statements(b, 1, 3, false);
	if (top)
		ws_buf_printf(b, "setp.ge.u32 %%p3, %%n%u, %%r6;\n@%%p3 bra X%u;\n", depth, label);
	statements(b, 2, depth + 1, false);
	ws_buf_printf(b, "add.u32 %%n%u, %%n%u, 1;\n", depth, depth);
	if (!top)
		ws_buf_printf(b, "setp.lt.u32 %%p3, %%n%u, %%r6;\n@%%p3 ", depth);
	ws_buf_printf(b, "bra D%u;\nX%u:\n", label, label);
}

/* Blocks go round it once more than their index says, and something comes behind it. */
static void loop_of_block(struct ws_buf *b)
{
	static unsigned labels;
	unsigned label = labels++;

	ws_buf_printf(b, "mov.u32 %%n3, 0;\nB%u:\n", label);
	statements(b, 2, 1, true);
	ws_buf_puts(b, BARRIER);
	statements(b, 1, 1, true);
	ws_buf_printf(b, "add.u32 %%n3, %%n3, 1;\nsetp.le.u32 %%p3, %%n3, %%r1;\n@%%p3 bra B%u;\n", label);
	statements(b, 2, 1, true);
}

/* Blocks go round it as many times as their index says. */
static void last_loop(struct ws_buf *b)
{
	ws_buf_puts(b, "mov.u32 %n3, 0;\nLAST:\n");
	statements(b, 3, 1, true);
	ws_buf_puts(b, BARRIER "add.u32 %n3, %n3, 1;\nsetp.lt.u32 %p3, %n3, %r1;\n@%p3 bra LAST;\n");
}

/* 4 or 16 bytes, of the thread's own or another one's; commits and waits, mostly of the kind that a pipeline has. */
static void copy(struct ws_buf *b, bool waits)
{
	static const char *const addresses[] = { "%r4", "%r4", "%r4", "%r8", "%r8", "%r5" };
	static const char *const guards[] = { "", "", "", "@%p1 ", "@!%p2 ", "@%q1 ", "@!%q2 ", "@%q3 " };

	if (waits && below(2)) {                 /* as it should be */
		ws_buf_printf(b, "cp.async.ca.shared.global [%s], [%%rd3], 4;\n%s" BARRIER, addresses[below(5)],
		              below(4) ? "cp.async.wait_all;\n" : "cp.async.commit_group;\ncp.async.wait_group 0;\n");
		return;
	}
	switch (waits ? below(6) : 6) {
	case 0:
		ws_buf_puts(b, "cp.async.commit_group;\n");
		break;
	case 1:
		ws_buf_printf(b, "cp.async.wait_group %u;\n", below(3));
		break;
	case 2: case 3:
		ws_buf_puts(b, "cp.async.wait_all;\n");
		break;
	default:
		ws_buf_printf(b, "%scp.async.ca.shared.global [%s], [%%rd3], 4;\n", guards[below(5)], addresses[below(6)]);
	}
}

/* Of kernels that have such, most accesses. */
static const char *strong(void)
{
	return noise_of_kernel % 3 || below(4) == 0 ? "" : below(2) ? ".volatile" : ".relaxed.cta";
}

static void access(struct ws_buf *b)
{
	static const char *const guards[] = { "", "", "", "@%p1 ", "@!%p2 ", "@%q1 ", "@!%q2 ", "@%q3 " };
	static const char *const addresses[] = { "%r4", "%r4", "%r4", "%r5", "%r8", "%r2" };
	const char *guard = ONE_OF(guards), *address = addresses[below(6)];

	if (below(40) == 0) {                            /* where data says */
		ws_buf_puts(b, "shl.b32 %r11, %r6, 2; add.u32 %r11, %r11, %r2; ld.shared.u32 %r7, [%r11];\n");
		return;
	}
	switch (below(8)) {
	case 0:
		ws_buf_printf(b, "%sxor.b32 %%r8, %%r8, 4;\n", guard);
		break;
	case 1: case 2: case 3:
		ws_buf_printf(b, "%sst%s.shared.u32 [%s], %%r0;\n", guard, strong(), address);
		break;
	default:
		ws_buf_printf(b, "%sld%s.shared.u32 %%r7, [%s];\n", guard, strong(), address);
	}
}

static void statements(struct ws_buf *b, uint32_t n, unsigned depth, bool barriers)
{
	while (n--) {
		uint32_t what = below(12);

		if (copies && below(3) == 0)
			copy(b, barriers);
		else if (what < 4 && barriers)
			ws_buf_puts(b, what ? BARRIER : "bar.warp.sync -1;\n");
		else if (what < 6 && depth < 3)
			condition(b, depth, barriers);
		else if (what == 6 && depth < 3 && below(3) == 0)
			loop_of_data(b, depth);
		else if (what == 6 && depth < 3)
			loop(b, depth, barriers);
		else if (what == 7 && !depth)
			ws_buf_puts(b, below(2) ? "@%p1 ret;\n" : "@%p4 ret;\n");
		else
			access(b);
	}
}

static void make(struct ws_buf *b)
{
	ws_buf_puts(b, ".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 out, .param .u32 n)\n{\n"
	            ".reg .pred %p<6>, %q<7>; .reg .b32 %r<12>; .reg .b32 %n<4>; .reg .b64 %rd<8>; .shared .align 8 .b8 s[512];\n"
	            "ld.param.u64 %rd1, [out]; ld.param.u32 %r10, [n]; mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mov.u32 %r2, s;\n"
	            "shl.b32 %r3, %r0, 2; add.u32 %r4, %r2, %r3; xor.b32 %r5, %r4, 128; add.u32 %r8, %r4, 256;\n"
	            "setp.lt.u32 %p2, %r0, 32; setp.eq.u32 %p4, %r1, 1; setp.gt.u32 %p5, %r10, 1;\n"
	            "mad.lo.u32 %r9, %r1, 64, %r0; mul.wide.u32 %rd2, %r9, 4; add.u64 %rd3, %rd1, %rd2;\n"
	            "ld.global.u32 %r6, [%rd3]; setp.ne.u32 %p1, %r6, 0;\n"
	            "setp.eq.u32 %q5, %r0, 3; and.pred %q1, %p1, %q5; and.pred %q6, %p4, %p2; not.pred %q2, %q6; or.pred %q3, %p1, %p2; and.pred %q4, %q3, %p5;\n");
	statements(b, 7, 0, true);
	if (below(4) == 0)
		loop_of_block(b);
	if (below(3) == 0)
		last_loop(b);
	ws_buf_puts(b, "ret;\n}\n");
}

/* Blocks of random data do not have a race that the probe does not find. */
static void what_probes_do_not_find_is_not_there(void **state)
{
	static const struct ws_gpu_config configs[] = {
		{ .divergence = WS_DIV_ITS, .host_threads = 1 },
		{ .divergence = WS_DIV_ITS, .schedule = WS_SCHED_RANDOM, .seed = 1, .host_threads = 1 },
	};
	unsigned probes[2] = { 0 }, proved[2] = { 0 }, races[2] = { 0 }, kernels = rig_rounds(KERNELS);

	for (unsigned n = 0; n < kernels; n++) {
		struct ws_buf text = { 0 };
		struct ran x;
		bool nothing;

		noise = noise_of_kernel = n;
		copies = n % 2;
		threads = n % 3 ? THREADS : THREADS / 2;
		make(&text);
		x = begin(text.data, configs[n / 2 % 2]);
		if (strstr(x.r.text.data, "__warpsafe_probe_leave")) {
			probes[copies]++;
			nothing = probe(&x);
			proved[copies] += nothing;
			for (unsigned k = 0; k < 8 * THREADS; k++)
				x.data[k] = below(3);
			launch(&x, false, 8);
			races[copies] += race_found(&x.r.tables, 0) != NULL;
			if (nothing && race_found(&x.r.tables, 0))
				fail_msg("kernel %u has a race that its probe does not find:\n%s", n, text.data);
		}
		race_free(&x.r);
		ws_buf_free(&text);
	}
	threads = THREADS;
	for (unsigned with = 0; with < 2; with++) {
		print_message("%u of %u kernels %s copies have probes, of which %u find nothing; %u have races\n", probes[with], kernels / 2,
		              with ? "with" : "without", proved[with], races[with]);
		assert_true(probes[with] > kernels / 16 && proved[with] > kernels / 80 && races[with] > kernels / 80);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernels_have_probes_or_a_reason),
		cmocka_unit_test(too_many_constants_are_too_many),
		cmocka_unit_test(probes_find_what_blocks_may_do),
		cmocka_unit_test(probes_of_one_warp),
		cmocka_unit_test(races_by_data_are_told),
		cmocka_unit_test(proved_launches_enter_no_hook),
		cmocka_unit_test(proved_launches_check_global_memory),
		cmocka_unit_test(proofs_know_their_constants),
		cmocka_unit_test(what_probes_do_not_find_is_not_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* ranges_rig.h - kernels rewritten for device functions that count in place of checks, for tests of proofs: how many checks run in a launch, as the
 * kernel's entry decides and as the host does. */
#ifndef RANGES_RIG_H
#define RANGES_RIG_H

#include "host_decides.h"
#include "race_rig.h"
#include "rewrite/rewrite_priv.h"

#define LOOKS(name) ".visible .func (.param .b32 r) " name "(.param .b32 a)\n{\nst.param.b32 [r], 0;\nret;\n}\n"
#define FUNC(name, args, body) ".visible .func " name "(" args ")\n{\n" body "ret;\n}\n"
#define THREE ".param .b64 a, .param .b32 b, .param .b32 c"
#define FOUR ".param .b32 a, .param .b64 b, .param .b32 c, .param .b32 d"
static const char counting[] =
	".version 6.0\n.target sm_70\n.address_size 64\n.global .align 4 .b32 __warpsafe_checks[4];\n"
	".global .align 16 .b64 __warpsafe_areas[4];\n"                 /* two: where they begin, and end */
	".visible .func (.param .b64 r) race_area(.param .b64 a)\n{\n.reg .pred %p<3>; .reg .b64 %rd<9>;\n"
	"ld.param.u64 %rd1, [a]; mov.u64 %rd2, __warpsafe_areas; mov.u64 %rd3, 0;\n"
	"ld.global.v2.u64 {%rd4, %rd5}, [%rd2]; setp.ge.u64 %p1, %rd1, %rd4; setp.lt.and.u64 %p1, %rd1, %rd5, %p1; @%p1 mov.u64 %rd3, %rd2;\n"
	"ld.global.v2.u64 {%rd4, %rd5}, [%rd2+16]; setp.ge.u64 %p1, %rd1, %rd4; setp.lt.and.u64 %p1, %rd1, %rd5, %p1; add.s64 %rd2, %rd2, 16;\n"
	"@%p1 mov.u64 %rd3, %rd2; st.param.b64 [r], %rd3;\nret;\n}\n"
	FUNC("race_enter", ".param .b32 a", "red.global.add.u32 [__warpsafe_checks+12], 1;\n") FUNC("race_enter_off", "", "") FUNC("race_leave", "", "")
	FUNC("race_enter_in", ".param .b32 a, .param .b32 b", "red.global.add.u32 [__warpsafe_checks+12], 1;\n")
	FUNC("race_read_global", FOUR, "red.global.add.u32 [__warpsafe_checks], 1;\n")
	FUNC("race_write_global", FOUR ", .param .b64 e, .param .b64 f", "red.global.add.u32 [__warpsafe_checks+4], 1;\n")
	FUNC("race_write_unread_global", FOUR ", .param .b64 e, .param .b64 f", "red.global.add.u32 [__warpsafe_checks+4], 1;\n")
	FUNC("race_atomic_global", FOUR, "red.global.add.u32 [__warpsafe_checks+8], 1;\n")
	FUNC("race_call_read4_global", FOUR, "red.global.add.u32 [__warpsafe_checks], 1;\n")
	FUNC("race_call_write4_global", FOUR ", .param .b64 e, .param .b64 f", "red.global.add.u32 [__warpsafe_checks+4], 1;\n")
	FUNC("race_read_four_global", FOUR, "red.global.add.u32 [__warpsafe_checks], 4;\n")
	FUNC("race_call_read_four_global", FOUR, "red.global.add.u32 [__warpsafe_checks], 4;\n")
	FUNC("race_read_part_global", FOUR, "red.global.add.u32 [__warpsafe_checks], 1;\n")
	FUNC("race_write_part_global", FOUR ", .param .b64 e, .param .b64 f", "red.global.add.u32 [__warpsafe_checks+4], 1;\n")
	FUNC("race_call_read_part_global", FOUR, "red.global.add.u32 [__warpsafe_checks], 1;\n")
	FUNC("race_call_write_part_global", FOUR ", .param .b64 e, .param .b64 f", "red.global.add.u32 [__warpsafe_checks+4], 1;\n")
	FUNC("race_call_read_global", FOUR, "red.global.add.u32 [__warpsafe_checks], 1;\n")
	FUNC("race_call_write_global", FOUR ", .param .b64 e, .param .b64 f", "red.global.add.u32 [__warpsafe_checks+4], 1;\n")
	FUNC("race_call_atomic_global", FOUR, "red.global.add.u32 [__warpsafe_checks+8], 1;\n")
	FUNC("race_read4_shared", FOUR, "red.global.add.u32 [__warpsafe_checks], 1;\n")
	FUNC("race_write4_shared", FOUR ", .param .b64 e, .param .b64 f", "red.global.add.u32 [__warpsafe_checks+4], 1;\n")
	FUNC("race_read_shared", FOUR, "red.global.add.u32 [__warpsafe_checks], 1;\n")
	FUNC("race_write_shared", FOUR ", .param .b64 e, .param .b64 f", "red.global.add.u32 [__warpsafe_checks+4], 1;\n")
	FUNC("race_read_part_shared", FOUR, "red.global.add.u32 [__warpsafe_checks], 1;\n")
	FUNC("race_write_part_shared", FOUR ", .param .b64 e, .param .b64 f", "red.global.add.u32 [__warpsafe_checks+4], 1;\n")
	FUNC("race_atomic_shared", FOUR, "red.global.add.u32 [__warpsafe_checks+8], 1;\n")
	".visible .func (.param .b32 r) race_thread()\n{\nst.param.b32 [r], 7;\nret;\n}\n"
	".visible .func (.param .b32 r) race_is_probe()\n{\nst.param.b32 [r], 0;\nret;\n}\n"
	FUNC("race_probe_access", FOUR, "") LOOKS("race_call_block_arrive")
	FUNC("race_probe_fail", "", "") FUNC("race_probe_leave", ".param .b64 a, .param .b32 b", "") FUNC("race_warp_sync", ".param .b32 a, .param .b32 b", "")
	FUNC("race_read", THREE, "red.global.add.u32 [__warpsafe_checks], 1;\n")
	FUNC("race_write", THREE ", .param .b64 d, .param .b64 e", "red.global.add.u32 [__warpsafe_checks+4], 1;\n")
	FUNC("race_atomic", THREE, "red.global.add.u32 [__warpsafe_checks+8], 1;\n")
	FUNC("race_barrier_arrive", "", "") FUNC("race_barrier", "", "") LOOKS("race_block_arrive") FUNC("race_block_pass", ".param .b32 a", "") FUNC("race_fence_before", ".param .b32 a", "") FUNC("race_fence_after", ".param .b32 a", "")
	FUNC("race_release", ".param .b64 a, .param .b32 b", "") FUNC("race_acquire", ".param .b64 a, .param .b32 b", "") FUNC("race_acquire_found", ".param .b64 a, .param .b32 b, .param .b32 c", "")
	".visible .func (.param .b32 r) race_starts_at_zero(.param .b64 a)\n{\nst.param.b32 [r], 1;\nret;\n}\n";

/* i = %r4: the thread of a 1-D grid; %rd1, %rd2: the pointers a, b; %r5, %r6: n, w */
#define KERNEL(body) PTX_HEAD BEHIND_HEAD(body)
#define BEHIND_HEAD(body) BEGIN body "END: ret;\n}\n"
#define BEGIN ".visible .entry k(.param .u64 a, .param .u64 b, .param .u32 n, .param .u32 w)\n{\n" \
	".reg .pred %p<9>; .reg .b32 %r<40>; .reg .b64 %rd<70>; .reg .f32 %f<9>;\n" \
	"ld.param.u64 %rd20, [a]; ld.param.u64 %rd21, [b]; ld.param.u32 %r5, [n]; ld.param.u32 %r6, [w];\n" \
	"cvta.to.global.u64 %rd1, %rd20; cvta.to.global.u64 %rd2, %rd21;\n" \
	"mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.s32 %r4, %r1, %r2, %r3;\n"
#define BELOW_N   "setp.ge.s32 %p1, %r4, %r5; @%p1 bra END;\n"
#define OFFSET    "mul.wide.s32 %rd3, %r4, 4; add.s64 %rd4, %rd1, %rd3; add.s64 %rd5, %rd2, %rd3;\n"
#define COPY      "ld.global.u32 %r7, [%rd4]; st.global.u32 [%rd5], %r7;\n"
/* 2-D: x = %r4, y = %r10; row pitch w; both below n */
#define Y         "mov.u32 %r11, %ctaid.y; mov.u32 %r12, %ntid.y; mov.u32 %r13, %tid.y; mad.lo.s32 %r10, %r11, %r12, %r13;\n" \
	"setp.ge.s32 %p1, %r4, %r5; setp.ge.s32 %p2, %r10, %r5; or.pred %p3, %p1, %p2; @%p3 bra END;\n"

struct launch {
	uint32_t grid[3], block[3];
	int64_t b;                       /* second pointer, relative to the first, in bytes */
	uint32_t n, w;
};
/* The allocations that are known: two, that meet so far behind the first pointer; 0: none. */
static int64_t border;
static bool first_is_zero;                   /* the first pointer is a number */

struct checks { uint32_t reads, writes, atomics, entered; };        /* entered: threads with hooks; expected: some */

static struct host_decides host;             /* of what was rewritten last */
static unsigned nwith, nsure, ntold;         /* launches that were told what proofs find; of kernels without what they spare */

/* The module behind the pass, which the caller frees. */
static struct ws_ptx_module *passed(const char *text)
{
	struct ws_buf said = { 0 };
	struct ws_sink sink = { ws_sink_to_buf, &said };
	struct ws_ptx_module *m = ws_ptx_parse("test.ptx", text, strlen(text), NULL, &sink);
	struct ws_pass *p = m ? ws_rw_begin(m, &sink) : NULL;

	if (!p || !ws_rw_runtime(p, "counting", counting) || !ws_rw_pass_race(p) || !ws_rw_end(p))
		fail_msg("%s", said.data);
	ws_buf_free(&said);
	return m;
}

static inline struct ws_buf rewritten(const char *text)
{
	struct ws_ptx_module *m = passed(text);
	struct ws_buf out = { 0 };

	ws_ptx_print(m, &out);
	ws_arena_free(host.arena);
	host = host_decides(m);
	ws_ptx_free(m);
	return out;
}

/* told: the kernel is told what the host has decided, and what its proofs find; *silent is the first. */
static inline struct checks run(const char *text, const struct launch *l, bool told, bool *silent)
{
	enum { MIDDLE = 1 << 15 };
	struct ws_buf out = rewritten(text);
	struct rig r = rig_new((struct ws_gpu_config){ .divergence = WS_DIV_ITS, .host_threads = 1 }, out.data);
	struct ws_mem *m = rig_mem(&r, 2 * MIDDLE), *counts;
	struct { uint64_t a, b; uint32_t n, w, pad[2]; struct ws_race_told told; } params = {
		.a = first_is_zero ? 0 : m->addr + MIDDLE, .b = m->addr + MIDDLE + (uint64_t)l->b, .n = l->n, .w = l->w
	};
	const uint64_t between = m->addr + MIDDLE + (uint64_t)border;
	struct ws_gpu_launch launch = { .params = &params };
	const char *kernel;
	struct checks c;

	counts = border ? ws_gpu_module_var(r.mod, "__warpsafe_areas") : NULL;
	host_areas[0] = (struct ws_race_area){ m->addr, between };
	host_areas[1] = (struct ws_race_area){ between, m->addr + 2 * MIDDLE };
	host_nareas = border ? 2 : 0;
	if (counts)
		memcpy(counts->host, host_areas, sizeof host_areas);
	memcpy(launch.grid, l->grid, sizeof l->grid);
	memcpy(launch.block, l->block, sizeof l->block);
	*silent = host_says_silent(&host, &launch, (void *[]){ &params.a, &params.b, &params.n, &params.w });
	launch.shared_dynamic = *silent && told ? WS_RACE_SILENT_SIZE(0) : 0;
	if (told && !*silent)
		nwith += host_tells(&host, &launch, (void *[]){ &params.a, &params.b, &params.n, &params.w }, &params.told);
	launch.param_bytes = params.told.mark ? (uint32_t)sizeof params : given_params(ws_gpu_module_kernel(r.mod, "k"));
	kernel = host_takes(&host, &params.told);
	nsure += strcmp(kernel, "k") != 0;
	ntold += !strcmp(kernel, WS_RW_TOLD "k");
	if (!ws_gpu_launch(r.g, ws_gpu_module_kernel(r.mod, kernel), &launch, &r.stats, &r.err))
		fail_msg("%s\n%s", r.err.text.data, out.data);
	counts = ws_gpu_module_var(r.mod, "__warpsafe_checks");
	memset(&c, 0, sizeof c);
	if (counts)
		memcpy(&c, counts->host, sizeof c);
	rig_free(&r);
	ws_buf_free(&out);
	return c;
}

/* The host says what holds if they are not those that the kernel asks for. */
static inline bool has_constants(const char *text)
{
	return strstr(text, "ld.const") != NULL;
}

static inline void expect(const char *text, struct launch l, struct checks want)
{
	struct checks c, told;
	bool silent;

	for (int k = 0; k < 3; k++) {
		l.grid[k] += !l.grid[k];
		l.block[k] += !l.block[k];
	}
	c = run(text, &l, false, &silent);
	if (host.decision && !has_constants(text) && silent != !c.entered)
		fail_msg("the host says %d, and %u threads have hooks\n%s", silent, c.entered, text);
	told = run(text, &l, true, &silent);
	if (memcmp(&c, &told, sizeof c))
		fail_msg("what the host says leads to other checks\n%s", text);
	c.entered = c.entered != 0;
	want.entered = want.reads || want.writes || want.atomics;    /* else no hook does anything */
	if (memcmp(&c, &want, sizeof c))
		fail_msg("%u reads, %u writes, %u atomics checked, %u entered; expected %u, %u, %u, %u\n%s", c.reads, c.writes, c.atomics,
		         c.entered, want.reads, want.writes, want.atomics, want.entered, text);
}

#define NONE (struct checks){ 0 }
#define ALL(r, w) (struct checks){ (r), (w), 0, 0 }

static inline void expect_allocated(const char *text, struct launch l, int64_t where, struct checks want)
{
	border = where;
	expect(text, l, want);
	border = 0;
}

#endif

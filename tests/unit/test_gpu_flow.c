/* test_gpu_flow.c - control flow in both divergence models, with the ordered and random schedules: every variant must
 * give the result computed here. */
#include "gpu_test.h"

#define KERNEL(name) ".visible .entry " name "(.param .u64 out, .param .u64 in)\n{\n" \
	" .reg .pred %p<8>; .reg .b32 %r<32>; .reg .b64 %rd<16>; .reg .f32 %f<8>;\n" \
	" ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [in];\n" \
	" mov.u32 %r30, %ctaid.x; mov.u32 %r31, %ntid.x; mov.u32 %r29, %tid.x;\n" \
	" mad.lo.u32 %r0, %r30, %r31, %r29;\n" \
	" mul.wide.u32 %rd3, %r0, 4; add.u64 %rd1, %rd1, %rd3;\n"
#define STORE(reg) " st.global.u32 [%rd1], " reg ";\n"

enum { THREADS = 96, BLOCKS = 3, N = THREADS * BLOCKS };

static void each_variant(const char *text, const char *kernel, uint32_t (*expect)(uint32_t i),
                         struct ws_mem *(*in)(struct rig *))
{
	static const struct ws_gpu_config configs[] = {
		{.divergence = WS_DIV_ITS, .host_threads = 1},
		{.divergence = WS_DIV_STACK, .host_threads = 1},
		{.divergence = WS_DIV_ITS, .host_threads = 2},
		{.divergence = WS_DIV_ITS, .host_threads = 1, .schedule = WS_SCHED_RANDOM, .seed = 1},
		{.divergence = WS_DIV_ITS, .host_threads = 1, .schedule = WS_SCHED_RANDOM, .seed = 2},
		{.divergence = WS_DIV_STACK, .host_threads = 1, .schedule = WS_SCHED_RANDOM, .seed = 3},
	};

	for (size_t c = 0; c < WS_COUNT(configs); c++) {
		struct rig r = rig_new(configs[c], text);
		struct ws_mem *out = rig_mem(&r, N * 4);
		uint64_t params[2] = {out->addr, in ? in(&r)->addr : 0};

		rig_run(&r, kernel, BLOCKS, THREADS, params);
		for (uint32_t i = 0; i < N; i++)
			if (((uint32_t *)out->host)[i] != expect(i))
				fail_msg("variant %zu, thread %u: %u, expected %u", c, i, ((uint32_t *)out->host)[i],
				         expect(i));
		rig_free(&r);
	}
}

/* ---- loops of different length in a loop of different length, with a break ---- */
static const char loops[] = PTX_HEAD KERNEL("loops")
	" rem.u32 %r1, %r0, 7;\n"                        /* n */
	" mov.u32 %r2, 0; mov.u32 %r3, 0;\n"             /* sum, i */
	"OUTER: setp.ge.u32 %p1, %r3, %r1; @%p1 bra DONE;\n"
	" mov.u32 %r4, 0;\n"                             /* j */
	"INNER: setp.ge.u32 %p2, %r4, %r3; @%p2 bra NEXT;\n"
	" mad.lo.u32 %r2, %r3, %r4, %r2; add.u32 %r2, %r2, 1;\n"
	" setp.gt.u32 %p3, %r2, 20; @%p3 bra BREAK;\n"
	" add.u32 %r4, %r4, 1; bra INNER;\n"
	"NEXT: add.u32 %r3, %r3, 1; bra OUTER;\n"
	"BREAK: add.u32 %r2, %r2, 1000;\n"
	"DONE:\n" STORE("%r2") " ret;\n}\n";

static uint32_t loops_expect(uint32_t t)
{
	uint32_t n = t % 7, sum = 0;

	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = 0; j < i; j++) {
			sum += i * j + 1;
			if (sum > 20)
				return sum + 1000;
		}
	return sum;
}

static void nested_loops(void **state)
{
	each_variant(loops, "loops", loops_expect, NULL);
}

/* ---- threads that end early, by a guarded exit in a loop ---- */
static const char early[] = PTX_HEAD KERNEL("early")
	" rem.u32 %r1, %r0, 5; mov.u32 %r2, 0;\n"
	"LOOP: add.u32 %r2, %r2, 1;\n" STORE("%r2")
	" setp.gt.u32 %p1, %r2, %r1; @%p1 exit;\n"
	" bra LOOP;\n}\n";

static uint32_t early_expect(uint32_t t)
{
	return t % 5 + 1;
}

static void early_exit(void **state)
{
	each_variant(early, "early", early_expect, NULL);
}

/* ---- an indexed branch ---- */
static const char indexed[] = PTX_HEAD KERNEL("indexed")
	" rem.u32 %r1, %r0, 3; setp.eq.u32 %p2, %r0, 40;\n"
	" mov.u32 %r2, 5;\n"
	" @%p2 bra OUT;\n"
	"T: .branchtargets A, B, C;\n"
	" brx.idx %r1, T;\n"
	"A: mov.u32 %r2, 10; bra OUT;\n"
	"B: mov.u32 %r2, 20;\n"
	"C: add.u32 %r2, %r2, 1;\n"
	"OUT:\n" STORE("%r2") " ret;\n}\n";

static uint32_t indexed_expect(uint32_t t)
{
	static const uint32_t v[] = {10, 21, 6};

	return t == 40 ? 5 : v[t % 3];
}

static void indexed_branch(void **state)
{
	each_variant(indexed, "indexed", indexed_expect, NULL);
}

/* ---- recursion, called by some threads, at different depths ---- */
static const char recursion[] = PTX_HEAD
	".func (.param .b32 res) fib(.param .b32 n)\n{\n"
	" .reg .pred %p; .reg .b32 %r<8>;\n"
	" ld.param.u32 %r1, [n]; setp.lt.u32 %p, %r1, 2; @%p bra LEAF;\n"
	" { .param .b32 a; .param .b32 b;\n"
	" sub.u32 %r2, %r1, 1; st.param.b32 [a], %r2; call.uni (b), fib, (a); ld.param.b32 %r3, [b]; }\n"
	" { .param .b32 a; .param .b32 b;\n"
	" sub.u32 %r2, %r1, 2; st.param.b32 [a], %r2; call.uni (b), fib, (a); ld.param.b32 %r4, [b]; }\n"
	" add.u32 %r5, %r3, %r4; st.param.b32 [res], %r5; ret;\n"
	"LEAF: st.param.b32 [res], %r1; ret;\n}\n"
	KERNEL("recursion")
	" rem.u32 %r1, %r0, 9; mov.u32 %r2, 77; setp.eq.u32 %p1, %r1, 4; @%p1 bra SKIP;\n"
	" { .param .b32 a; .param .b32 b; st.param.b32 [a], %r1; call (b), fib, (a); ld.param.b32 %r2, [b]; }\n"
	"SKIP:\n" STORE("%r2") " ret;\n}\n";

static uint32_t fib(uint32_t n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

static uint32_t recursion_expect(uint32_t t)
{
	return t % 9 == 4 ? 77 : fib(t % 9);
}

static void recursive_calls(void **state)
{
	each_variant(recursion, "recursion", recursion_expect, NULL);
}

/* ---- calls through a table of functions; early return in the middle of a function ---- */
static const char indirect[] = PTX_HEAD
	".func (.param .b32 res) twice(.param .b32 n)\n{ .reg .b32 %r<4>; .reg .pred %p;\n"
	" ld.param.u32 %r1, [n]; st.param.b32 [res], %r1;\n"
	" setp.gt.u32 %p, %r1, 50; @%p ret;\n"
	" add.u32 %r1, %r1, %r1; st.param.b32 [res], %r1; ret; }\n"
	".func (.param .b32 res) plus(.param .b32 n)\n{ .reg .b32 %r<4>;\n"
	" ld.param.u32 %r1, [n]; add.u32 %r1, %r1, 100; st.param.b32 [res], %r1; ret; }\n"
	".global .align 8 .u64 table[2] = {twice, plus};\n"
	KERNEL("indirect")
	" and.b32 %r1, %r0, 1; mul.wide.u32 %rd4, %r1, 8; mov.u64 %rd5, table; add.u64 %rd5, %rd5, %rd4;\n"
	" ld.global.u64 %rd6, [%rd5];\n"
	" { .param .b32 a; .param .b32 b; st.param.b32 [a], %r0;\n"
	" proto: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
	" call (b), %rd6, (a), proto; ld.param.b32 %r2, [b]; }\n"
	STORE("%r2") " ret;\n}\n"
	KERNEL("wild")
	" mov.u64 %rd6, 4660;\n"
	" { .param .b32 a; .param .b32 b; st.param.b32 [a], %r0;\n"
	" proto: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
	" call (b), %rd6, (a), proto; ld.param.b32 %r2, [b]; }\n"
	STORE("%r2") " ret;\n}\n";

static uint32_t indirect_expect(uint32_t t)
{
	return t & 1 ? t + 100 : t > 50 ? t : 2 * t;
}

static void indirect_calls(void **state)
{
	struct rig r = rig_new((struct ws_gpu_config){.host_threads = 1}, indirect);
	uint64_t params[2] = {0, 0};

	each_variant(indirect, "indirect", indirect_expect, NULL);
	assert_false(rig_launch(&r, "wild", 1, 32, params));
	assert_int_equal(r.err.code, WS_GPU_BAD_PC);
	assert_says(&r, "0x1234");
	rig_free(&r);
}

/* ---- local memory, generic pointers to it, alloca ---- */
static const char locals[] = PTX_HEAD
	".func (.param .b32 res) sum(.param .b64 p, .param .b32 n)\n{ .reg .b32 %r<6>; .reg .b64 %rd<4>; .reg .pred %p;\n"
	" .local .align 4 .b8 own[16];\n"
	" ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [n]; mov.u32 %r2, 0;\n"
	" mov.u64 %rd2, own; st.local.u32 [%rd2+4], 7; ld.local.u32 %r2, [own+4];\n"
	"L: ld.u32 %r3, [%rd1]; add.u32 %r2, %r2, %r3; add.u64 %rd1, %rd1, 4; sub.u32 %r1, %r1, 1;\n"
	" setp.ne.u32 %p, %r1, 0; @%p bra L; st.param.b32 [res], %r2; ret; }\n"
	KERNEL("locals")
	" .local .align 8 .b8 buf[32];\n"
	" mov.u64 %rd4, buf; cvta.local.u64 %rd5, %rd4;\n"
	" st.local.v2.u32 [%rd4], {%r0, %r29}; st.u32 [%rd5+8], 5; st.local.u8 [buf+12], 255; st.local.u8 [buf+13], 0;\n"
	" st.local.u16 [buf+14], 0; ld.local.s8 %r9, [buf+12];\n"
	" alloca.u64 %rd7, 64, 8; cvta.local.u64 %rd8, %rd7; st.u32 [%rd8+60], %r9; ld.local.u32 %r10, [%rd7+60];\n"
	" { .param .b64 a; .param .b32 n; .param .b32 b; st.param.b64 [a], %rd5; st.param.b32 [n], 4;\n"
	" call (b), sum, (a, n); ld.param.b32 %r2, [b]; }\n"
	" add.u32 %r2, %r2, %r10;\n"
	STORE("%r2") " ret;\n}\n";

static uint32_t locals_expect(uint32_t t)
{
	return t + t % THREADS + 5 + 255 + 7 - 1;
}

static void local_memory(void **state)
{
	each_variant(locals, "locals", locals_expect, NULL);
}

/* ---- endless recursion ---- */
static const char endless[] = PTX_HEAD
	".func down(.param .b32 n)\n{ .reg .b32 %r<4>; .local .b8 pad[100];\n"
	" ld.param.u32 %r1, [n]; { .param .b32 a; st.param.b32 [a], %r1; call.uni down, (a); } ret; }\n"
	KERNEL("endless") " { .param .b32 a; st.param.b32 [a], %r0; call.uni down, (a); } ret;\n}\n";

static void stack_overflow(void **state)
{
	struct rig r = rig_new((struct ws_gpu_config){.host_threads = 1}, endless);
	uint64_t params[2] = {0, 0};

	assert_false(rig_launch(&r, "endless", 1, 32, params));
	assert_int_equal(r.err.code, WS_GPU_STACK);
	assert_says(&r, "stack overflow");
	assert_says(&r, "'down'");
	rig_free(&r);
}

/* ---- instructions and launches that are refused ---- */
static void refusals(void **state)
{
	static const char text[] = PTX_HEAD KERNEL("tensor")
		" .reg .b32 %x<8>;\n"
		" mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7}, {%x0,%x1}, {%x2,%x3}, "
		"{%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7};\n ret;\n}\n" KERNEL("fine") STORE("%r0") " ret;\n}\n"
		".extern .func nowhere;\n" KERNEL("lacks") " call nowhere; ret;\n}\n";
	struct rig r = rig_new((struct ws_gpu_config){.host_threads = 1}, text);
	struct ws_mem *out = rig_mem(&r, 2048 * 4);
	uint64_t params[2] = {out->addr, 0};

	assert_false(rig_launch(&r, "tensor", 1, 32, params));
	assert_int_equal(r.err.code, WS_GPU_UNSUPPORTED);
	assert_says(&r, "mma");
	assert_says(&r, "test.ptx:");
	assert_false(rig_launch(&r, "lacks", 1, 32, params));
	assert_int_equal(r.err.code, WS_GPU_NOT_FOUND);
	assert_says(&r, "'nowhere'");
	rig_run(&r, "fine", 2, 1024, params);
	assert_false(rig_launch(&r, "fine", 1, 1025, params));
	assert_int_equal(r.err.code, WS_GPU_BAD_LAUNCH);
	assert_false(rig_launch(&r, "fine", 0, 32, params));
	assert_int_equal(r.err.code, WS_GPU_BAD_LAUNCH);
	rig_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nested_loops), cmocka_unit_test(early_exit), cmocka_unit_test(indexed_branch),
		cmocka_unit_test(recursive_calls), cmocka_unit_test(indirect_calls), cmocka_unit_test(local_memory),
		cmocka_unit_test(stack_overflow), cmocka_unit_test(refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

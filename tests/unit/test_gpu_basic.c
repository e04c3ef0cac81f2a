/* test_gpu_basic.c - a kernel from text to result; counts; errors of addresses. */
#include "gpu_test.h"

static const char vadd[] = PTX_HEAD
	".visible .entry vadd(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n)\n"
	"{\n"
	" .reg .pred %p<2>; .reg .f32 %f<4>; .reg .b32 %r<6>; .reg .b64 %rd<11>;\n"
	" ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; ld.param.u64 %rd3, [c]; ld.param.u32 %r2, [n];\n"
	" mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x; mov.u32 %r5, %tid.x;\n"
	" mad.lo.s32 %r1, %r3, %r4, %r5;\n"
	" setp.ge.s32 %p1, %r1, %r2;\n"
	" @%p1 bra $L2;\n"
	" cvta.to.global.u64 %rd4, %rd1;\n"
	" mul.wide.s32 %rd5, %r1, 4;\n"
	" add.s64 %rd6, %rd4, %rd5;\n"
	" cvta.to.global.u64 %rd7, %rd2;\n"
	" add.s64 %rd8, %rd7, %rd5;\n"
	" ld.global.f32 %f1, [%rd8];\n"
	" ld.global.f32 %f2, [%rd6];\n"
	" add.f32 %f3, %f2, %f1;\n"
	" cvta.to.global.u64 %rd9, %rd3;\n"
	" add.s64 %rd10, %rd9, %rd5;\n"
	" st.global.f32 [%rd10], %f3;\n"
	"$L2:\n"
	" ret;\n"
	"}\n";

struct vadd_params { uint64_t a, b, c; uint32_t n; };

static void adds_vectors(void **state)
{
	struct rig r = rig_new((struct ws_gpu_config){.host_threads = 1}, vadd);
	enum { N = 1000 };
	struct ws_mem *a = rig_mem(&r, N * 4), *b = rig_mem(&r, N * 4), *c = rig_mem(&r, N * 4);
	struct vadd_params p = {a->addr, b->addr, c->addr, N};

	for (int i = 0; i < N; i++) {
		((float *)a->host)[i] = (float)i;
		((float *)b->host)[i] = 0.5f * (float)i;
	}
	rig_run(&r, "vadd", 8, 128, &p);
	for (int i = 0; i < N; i++)
		assert_true(((float *)c->host)[i] == 1.5f * (float)i);
	/* 10 instructions and the ret for all threads, 11 for those in range */
	assert_int_equal(r.stats.thread_instructions, 1024 * 11 + N * 11);
	rig_free(&r);
}

static void finds_bad_addresses(void **state)
{
	struct rig r = rig_new((struct ws_gpu_config){.host_threads = 1}, vadd);
	struct ws_mem *a = rig_mem(&r, 4000), *b = rig_mem(&r, 4000), *c = rig_mem(&r, 3996);
	struct vadd_params p = {a->addr, b->addr, c->addr, 1000};

	assert_false(rig_launch(&r, "vadd", 8, 128, &p));
	assert_int_equal(r.err.code, WS_GPU_BAD_ADDRESS);
	assert_says(&r, "write of 4 bytes");
	assert_says(&r, "st.global.f32 [%rd10], %f3;");
	assert_says(&r, "block (7,0,0), thread (103,0,0)");
	assert_says(&r, "vadd");
	p.c = 0;
	assert_false(rig_launch(&r, "vadd", 8, 128, &p));
	assert_int_equal(r.err.code, WS_GPU_BAD_ADDRESS);
	assert_says(&r, "null pointer");
	p.c = c->addr + 2;
	assert_false(rig_launch(&r, "vadd", 8, 128, &p));
	assert_int_equal(r.err.code, WS_GPU_MISALIGNED);
	ws_gpu_mem_free(r.g, b->addr);
	assert_false(rig_launch(&r, "vadd", 8, 128, &p));
	assert_int_equal(r.err.code, WS_GPU_BAD_ADDRESS);
	assert_says(&r, "freed");
	rig_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(adds_vectors), cmocka_unit_test(finds_bad_addresses)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

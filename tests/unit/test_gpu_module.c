/* test_gpu_module.c - linking of several PTX modules, variables and their initializers, shared memory layout, what is
 * told about kernels, cooperative launches. */
#include "gpu_test.h"

static struct ws_ptx_module *parse(const char *text)
{
	struct ws_buf diag = {0};
	struct ws_sink sink = {ws_sink_to_buf, &diag};
	struct ws_ptx_module *m = ws_ptx_parse("unit.ptx", text, strlen(text), NULL, &sink);

	if (!m)
		fail_msg("%s", diag.data);
	return m;
}

static const char first[] = PTX_HEAD
	".extern .func (.param .b32 r) other(.param .b32 a);\n"
	".extern .global .align 4 .u32 common_value;\n"
	".global .align 4 .u32 own = 1;\n"                       /* local: the other module has one, too */
	".visible .const .align 4 .u32 table[4] = {10, 20, 30, 40};\n"
	".visible .global .attribute(.managed) .align 4 .u32 managed = 5;\n"
	".weak .func (.param .b32 r) weak(.param .b32 a) { .reg .b32 %r1; mov.u32 %r1, 1; st.param.b32 [r], %r1; ret; }\n"
	".visible .global .align 8 .u64 pointers[2] = {other, generic(own)};\n"
	".extern .shared .align 16 .b8 dynamic[];\n"
	".shared .align 8 .b8 fixed[40];\n"
	".visible .entry k(.param .u64 out) { .reg .b32 %r<20>; .reg .b64 %rd<8>;\n"
	" ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd1, %rd1, %rd2;\n"
	" { .param .b32 a; .param .b32 b; st.param.b32 [a], %r1; call (b), other, (a); ld.param.b32 %r2, [b]; }\n"
	" { .param .b32 a; .param .b32 b; st.param.b32 [a], %r1; call (b), weak, (a); ld.param.b32 %r3, [b]; }\n"
	" ld.global.u32 %r4, [own]; ld.global.u32 %r5, [common_value]; and.b32 %r6, %r1, 3;\n"
	" mov.u64 %rd3, table; mul.wide.u32 %rd4, %r6, 4; add.u64 %rd3, %rd3, %rd4; ld.const.u32 %r7, [%rd3];\n"
	" ld.global.u32 %r8, [managed]; ld.global.u64 %rd5, [pointers+8]; ld.u32 %r9, [%rd5];\n"
	" mov.u32 %r10, dynamic; mov.u32 %r11, fixed; sub.u32 %r10, %r10, %r11; st.shared.u32 [dynamic+60], %r1;\n"
	" add.u32 %r2, %r2, %r3; add.u32 %r2, %r2, %r4; add.u32 %r2, %r2, %r5; add.u32 %r2, %r2, %r7;\n"
	" add.u32 %r2, %r2, %r8; add.u32 %r2, %r2, %r9; add.u32 %r2, %r2, %r10;\n"
	" st.global.u32 [%rd1], %r2; ret; }\n";

static const char second[] = PTX_HEAD
	".visible .global .align 4 .u32 common_value = 700;\n"
	".global .align 4 .u32 own = 100000;\n"
	".visible .func (.param .b32 r) other(.param .b32 a) { .reg .b32 %r<4>;\n"
	" ld.param.b32 %r1, [a]; ld.global.u32 %r2, [own]; add.u32 %r1, %r1, %r2; st.param.b32 [r], %r1; ret; }\n"
	".visible .func (.param .b32 r) weak(.param .b32 a) { .reg .b32 %r1; mov.u32 %r1, 2000; st.param.b32 [r], %r1; ret; }\n";

static void links_modules(void **state)
{
	struct ws_gpu_config c = {.host_threads = 1};
	struct ws_gpu *g = ws_gpu_create(&c);
	struct ws_ptx_module *m[2] = {parse(first), parse(second)};
	struct ws_gpu_error err = {0};
	struct ws_gpu_module *mod = ws_gpu_module_load(g, m, 2, &err);
	struct ws_mem *out = ws_gpu_mem_new(g, 128, 0, WS_MEM_DEVICE, "out");
	struct ws_gpu_launch l = {.grid = {1, 1, 1}, .block = {32, 1, 1}, .shared_dynamic = 64, .params = &out->addr};
	struct ws_kernel_info info;
	struct ws_gpu_kernel *k;

	assert_non_null(mod);
	k = ws_gpu_module_kernel(mod, "k");
	if (!ws_gpu_launch(g, k, &l, NULL, &err))
		fail_msg("%s", err.text.data);
	for (uint32_t t = 0; t < 32; t++)
		assert_int_equal(((uint32_t *)out->host)[t],
		                 t + 100000 + 2000 + 1 + 700 + (t % 4 + 1) * 10 + 5 + 1 + 48);
	assert_int_equal(ws_gpu_module_var(mod, "managed")->kind, WS_MEM_MANAGED);
	assert_ptr_equal(ws_gpu_module_var(mod, "managed")->host, (void *)ws_gpu_module_var(mod, "managed")->addr);
	assert_int_equal(*(uint64_t *)ws_gpu_module_var(mod, "pointers")->host, ws_gpu_function_address(mod, "other"));
	assert_null(ws_gpu_module_var(mod, "nothing"));
	ws_gpu_kernel_info(k, &info);
	assert_int_equal(info.nparams, 1);
	assert_int_equal(info.param_bytes, 8);
	assert_int_equal(info.shared_static, 40);
	assert_in_range(info.regs, 16, 32);
	assert_int_equal(info.max_threads, 1024);
	assert_int_equal(info.launches, 1);
	/* 60 bytes of dynamic memory are not enough for the store at 60 */
	l.shared_dynamic = 60;
	assert_false(ws_gpu_launch(g, k, &l, NULL, &err));
	assert_int_equal(err.code, WS_GPU_BAD_ADDRESS);
	assert_non_null(strstr(err.text.data, "shared memory"));
	ws_buf_free(&err.text);
	ws_gpu_module_unload(g, mod);
	assert_null(ws_gpu_mem_find(g, out->addr - 1));
	ws_gpu_destroy(g);
	ws_ptx_free(m[0]);
	ws_ptx_free(m[1]);
}

static void refuses_two_definitions(void **state)
{
	struct ws_gpu_config c = {.host_threads = 1};
	struct ws_gpu *g = ws_gpu_create(&c);
	struct ws_ptx_module *m[2] = {parse(second), parse(second)};
	struct ws_gpu_error err = {0};

	assert_null(ws_gpu_module_load(g, m, 2, &err));
	assert_int_equal(err.code, WS_GPU_BAD_MODULE);
	assert_non_null(strstr(err.text.data, "is defined twice"));
	ws_buf_free(&err.text);
	ws_gpu_destroy(g);
	ws_ptx_free(m[0]);
	ws_ptx_free(m[1]);
}

/* A kernel that has 80 values at a time, and what it says of its blocks. */
static uint32_t registers_of(const char *says)
{
	struct ws_gpu_config c = {.host_threads = 1};
	struct ws_gpu *g = ws_gpu_create(&c);
	struct ws_buf text = {0};
	struct ws_gpu_error err = {0};
	struct ws_kernel_info info;
	struct ws_ptx_module *m;

	ws_buf_printf(&text, PTX_HEAD ".visible .entry k(.param .u64 out) %s { .reg .b32 %%r<80>; .reg .b64 %%rd; ld.param.u64 %%rd, [out];\n", says);
	for (int k = 0; k < 80; k++)
		ws_buf_printf(&text, "ld.global.u32 %%r%d, [%%rd+%d];\n", k, 4 * k);
	for (int k = 0; k < 80; k++)
		ws_buf_printf(&text, "st.global.u32 [%%rd+%d], %%r%d;\n", 4 * k, k);
	ws_buf_puts(&text, "ret; }\n");
	m = parse(text.data);
	ws_gpu_kernel_info(ws_gpu_module_kernel(ws_gpu_module_load(g, &m, 1, &err), "k"), &info);
	ws_buf_free(&text);
	ws_gpu_destroy(g);
	ws_ptx_free(m);
	return info.regs;
}

static void blocks_that_a_kernel_names_have_room(void **state)
{
	uint32_t all = registers_of("");

	assert_in_range(all, 82, 104);
	assert_int_equal(registers_of(".maxntid 256, 1, 1"), all);
	assert_int_equal(registers_of(".maxntid 1024, 1, 1"), 64);
	assert_int_equal(registers_of(".reqntid 32, 32, 1"), 64);
	assert_int_equal(registers_of(".maxntid 1000, 1, 1"), 64);
	assert_int_equal(registers_of(".maxntid 256, 1, 1 .minnctapersm 4"), 64);
	assert_int_equal(registers_of(".maxntid 1024, 1, 1 .minnctapersm 2"), 32);
	assert_int_equal(registers_of(".maxnreg 40"), 40);
}

/* The barrier of a cooperative grid as the library's code does it: through the workspace in %envreg1 and %envreg2. */
static const char grid[] = PTX_HEAD
	".visible .entry k(.param .u64 out) { .reg .b32 %r<20>; .reg .b64 %rd<8>; .reg .pred %p<4>;\n"
	" ld.param.u64 %rd1, [out]; mov.u32 %r1, %envreg2; mov.u32 %r2, %envreg1; cvt.u64.u32 %rd2, %r1; cvt.u64.u32 %rd3, %r2;\n"
	" bfi.b64 %rd4, %rd3, %rd2, 32, 32; setp.ne.u64 %p1, %rd4, 0; @%p1 bra GO; trap;\n"
	"GO: mov.u32 %r3, %ctaid.x; mov.u32 %r4, %nctaid.x; mul.wide.u32 %rd5, %r3, 4; add.u64 %rd5, %rd1, %rd5;\n"
	" st.global.u32 [%rd5], %r3; add.u64 %rd4, %rd4, 4;\n"
	" setp.eq.u32 %p2, %r3, 0; sub.u32 %r5, 0x80000001, %r4; selp.b32 %r6, %r5, 1, %p2;\n"
	" atom.add.release.gpu.u32 %r7, [%rd4], %r6;\n"
	"L: ld.acquire.gpu.u32 %r8, [%rd4]; xor.b32 %r9, %r8, %r7; setp.gt.s32 %p3, %r9, -1; @%p3 bra L;\n"
	" add.u32 %r3, %r3, 1; rem.u32 %r3, %r3, %r4; mul.wide.u32 %rd6, %r3, 4; add.u64 %rd6, %rd1, %rd6;\n"
	" ld.global.u32 %r10, [%rd6]; st.global.u32 [%rd5+4096], %r10; ret; }\n";

static void cooperative_grid(void **state)
{
	for (uint32_t threads = 1; threads < 3; threads++) {
		struct rig r = rig_new((struct ws_gpu_config){.host_threads = threads, .sms = 4}, grid);
		struct ws_mem *out = rig_mem(&r, 8192);
		struct ws_gpu_launch l = {.grid = {100, 1, 1}, .block = {1, 1, 1}, .params = &out->addr,
		                          .cooperative = true};
		struct ws_gpu_kernel *k = ws_gpu_module_kernel(r.mod, "k");

		for (int again = 0; again < 2; again++)
			if (!ws_gpu_launch(r.g, k, &l, &r.stats, &r.err))
				fail_msg("%s", r.err.text.data);
		for (uint32_t i = 0; i < 100; i++)
			assert_int_equal(((uint32_t *)out->host)[1024 + i], (i + 1) % 100);
		l.grid[0] = 4 * 32 + 1;
		assert_false(ws_gpu_launch(r.g, k, &l, &r.stats, &r.err));
		assert_int_equal(r.err.code, WS_GPU_BAD_LAUNCH);
		rig_free(&r);
	}
	{
		struct rig r = rig_new((struct ws_gpu_config){.host_threads = 1}, grid);
		struct ws_mem *out = rig_mem(&r, 8192);

		assert_false(rig_launch(&r, "k", 4, 32, &out->addr));
		assert_int_equal(r.err.code, WS_GPU_TRAP);
		rig_free(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(links_modules), cmocka_unit_test(refuses_two_definitions),
	                                   cmocka_unit_test(blocks_that_a_kernel_names_have_room),
	                                   cmocka_unit_test(cooperative_grid)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_syscall.c - device printf, malloc, free and assert, called as the executor calls them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "gpu/mem.h"
#include "gpu/syscall.h"

static struct ws_memmap map;
static struct ws_gpu_error err;
static struct ws_syscall call;
static int out[2];

static bool read_device(void *core, uint32_t lane, uint64_t addr, void *dst, size_t n)
{
	assert_ptr_equal(core, &map);
	assert_true(lane < 32);
	const uint8_t *p = ws_memmap_host(&map, addr, n);
	if (p)
		memcpy(dst, p, n);
	return p;
}

static int setup(void **state)
{
	(void)state;
	memset(&call, 0, sizeof call);
	memset(&err, 0, sizeof err);
	call = (struct ws_syscall){.map = &map, .mask = 1, .read = read_device, .core = &map, .err = &err};
	if (pipe(out))
		return -1;
	call.printf_fd = out[1];
	return ws_memmap_init(&map, 1 << 20, 4096, false, NULL, NULL) ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	ws_buf_free(&err.text);
	close(out[0]);
	close(out[1]);
	ws_memmap_fini(&map);
	return 0;
}

/* Bytes in device memory; exactly as many, so that reading further fails. */
static uint64_t device(const void *bytes, size_t n)
{
	struct ws_mem *m = ws_memmap_new(&map, n, 0, WS_MEM_DEVICE, NULL, "test");
	memcpy(m->host, bytes, n);
	return m->addr;
}

static uint64_t text(const char *s)
{
	return device(s, strlen(s) + 1);
}

static bool run(const char *name)
{
	const struct ws_syscall_info *s = ws_syscall_find(name);
	assert_non_null(s);
	assert_non_null(s->fn);
	return s->fn(&call);
}

static void printed(const char *want)
{
	char got[4096];
	ssize_t n = 0;
	if (*want)
		n = read(out[0], got, sizeof got - 1);
	got[n < 0 ? 0 : n] = 0;
	assert_string_equal(got, want);
}

/* One lane prints with these 32 bytes of arguments. */
static void prints(const char *format, const void *args, size_t n, const char *want, uint64_t count)
{
	call.arg[0][0] = text(format);
	call.arg[1][0] = n ? device(args, n) : 0;
	assert_true(run("vprintf"));
	assert_int_equal(call.ret[0], count);
	printed(want);
}

static void test_conversions(void **state)
{
	(void)state;
	int32_t i = -5;
	int64_t q = INT64_MIN;
	double d = 1.5;
	prints("plain\n", NULL, 0, "plain\n", 0);
	prints("100%%\n", NULL, 0, "100%\n", 0);
	prints("[%d]", &i, 4, "[-5]", 1);
	prints("[%5d]", &i, 4, "[   -5]", 1);
	prints("[%-5i]", &i, 4, "[-5   ]", 1);
	prints("[%05d]", &i, 4, "[-0005]", 1);
	prints("[%u]", &i, 4, "[4294967291]", 1);
	prints("[%x %%]", &i, 4, "[fffffffb %]", 1);
	prints("[%#X]", &i, 4, "[0XFFFFFFFB]", 1);
	prints("[%o]", &(int32_t){8}, 4, "[10]", 1);
	prints("[%hd]", &(int32_t){65537}, 4, "[1]", 1);
	prints("[%hhu]", &(int32_t){511}, 4, "[255]", 1);
	prints("[%lld]", &q, 8, "[-9223372036854775808]", 1);
	prints("[%ld]", &q, 8, "[-9223372036854775808]", 1);
	prints("[%llx]", &q, 8, "[8000000000000000]", 1);
	prints("[%zu]", &(uint64_t){7}, 8, "[7]", 1);
	prints("[%+.3f]", &d, 8, "[+1.500]", 1);
	prints("[%e]", &d, 8, "[1.500000e+00]", 1);
	prints("[%G]", &d, 8, "[1.5]", 1);
	prints("[%a]", &d, 8, "[0x1.8p+0]", 1);
	prints("[%c%%]", &(int32_t){'x'}, 4, "[x%]", 1);
	prints("[%p]", &(uint64_t){0x1234}, 8, "[0x1234]", 1);
	prints("[% d]", &(int32_t){3}, 4, "[ 3]", 1);
	prints("[%*d]", &(int32_t[]){6, 42}, 8, "[    42]", 2);
	prints("[%*d]", &(int32_t[]){-6, 42}, 8, "[42    ]", 2);
	prints("[%.*f]", &(struct { int32_t p, pad; double d; }){1, 0, 2.25}, 16, "[2.2]", 2);
	prints("[%y]", NULL, 0, "[%y]", 0);
	prints("[%", NULL, 0, "[%", 0);
	prints("[%5%]", NULL, 0, "[%5%]", 0);
}

static void test_alignment_of_arguments(void **state)
{
	(void)state;
	struct { int32_t a, pad; double b; int32_t c, d; uint64_t e; } args = {1, 0, 2.5, 3, 4, 5};
	prints("%d %g %d %d %llu\n", &args, sizeof args, "1 2.5 3 4 5\n", 5);
}

static void test_strings(void **state)
{
	(void)state;
	uint64_t s = text("a string of more than sixteen bytes, up to the end of its allocation");
	prints("[%s]", &s, 8, "[a string of more than sixteen bytes, up to the end of its allocation]", 1);
	prints("[%.8s]", &s, 8, "[a string]", 1);
	prints("[%10s]", &(uint64_t){text("abc")}, 8, "[       abc]", 1);
	prints("[%s]", &(uint64_t){0}, 8, "[(null)]", 1);
	prints("[%s]", &(uint64_t){text("")}, 8, "[]", 1);
}

static void test_lanes_in_order(void **state)
{
	(void)state;
	call.mask = 0xb;
	for (uint32_t l = 0; l < 32; l++) {
		call.arg[0][l] = l == 3 ? text("other %d\n") : call.arg[0][0] ? call.arg[0][0] : text("lane %d\n");
		call.arg[1][l] = device(&l, 4);
	}
	assert_true(run("vprintf"));
	printed("lane 0\nlane 1\nother 3\n");
	assert_int_equal(call.ret[3], 1);
}

static void test_null_format(void **state)
{
	(void)state;
	call.arg[0][0] = 0;
	assert_true(run("vprintf"));
	assert_int_equal(call.ret[0], UINT32_MAX);
}

static void test_more_than_32_arguments(void **state)
{
	(void)state;
	int32_t args[40];
	struct ws_buf f = {0}, want = {0};
	for (int i = 0; i < 40; i++) {
		args[i] = i;
		ws_buf_puts(&f, "%d ");
		ws_buf_printf(&want, i < 32 ? "%d " : "%%d ", i);
	}
	prints(f.data, args, sizeof args, want.data, 32);
	ws_buf_free(&f);
	ws_buf_free(&want);
}

static void test_unreadable(void **state)
{
	(void)state;
	call.arg[0][0] = 64;
	assert_false(run("vprintf"));
	assert_int_equal(err.code, WS_GPU_BAD_ADDRESS);
	assert_string_equal(err.text.data,
	                    "printf: the format string at 0x40 cannot be read: it is 64 bytes from the null pointer\n");
	err.text.len = 0;
	call.arg[0][0] = text("%d %d");
	call.arg[1][0] = device("abc", 4);
	assert_false(run("vprintf"));
	assert_non_null(strstr(err.text.data, "printf: argument at 0x"));
	assert_non_null(strstr(err.text.data, "right past the end of allocation"));
	err.text.len = 0;
	call.arg[0][0] = device("abc", 3);       /* no NUL */
	assert_false(run("vprintf"));
	assert_non_null(strstr(err.text.data, "format string"));
}

static void test_malloc_free(void **state)
{
	(void)state;
	call.mask = 0xf;
	for (uint32_t l = 0; l < 4; l++)
		call.arg[0][l] = l == 2 ? 1 << 20 : 16 * l;
	assert_true(run("malloc"));
	assert_int_equal(call.ret[0], 0);                /* malloc(0) */
	assert_int_equal(call.ret[2], 0);                /* more than the heap */
	assert_true(call.ret[1] && call.ret[3] && call.ret[1] != call.ret[3]);
	assert_non_null(ws_memmap_host(&map, call.ret[3], 48));
	memcpy(call.arg[0], call.ret, sizeof call.ret);
	assert_true(run("free"));
	assert_null(ws_memmap_find(&map, call.ret[3]));
	assert_false(run("free"));
	assert_int_equal(err.code, WS_GPU_BAD_ADDRESS);
	assert_int_equal(call.lane, 1);
	assert_non_null(strstr(err.text.data, "was freed before"));
	err.text.len = 0;
	call.mask = 1;
	call.arg[0][0] = device("x", 1);
	assert_false(run("free"));
	assert_non_null(strstr(err.text.data, "no block that malloc gave"));
}

static void test_assert(void **state)
{
	(void)state;
	call.mask = 0x14;
	call.ctaid[1] = 7;
	for (uint32_t l = 0; l < 32; l++) {
		call.arg[0][l] = text("i < n");
		call.arg[1][l] = text("k.cu");
		call.arg[2][l] = 12;
		call.arg[3][l] = l == 4 ? 0 : text("void k(int)");
		call.tid[l][0] = l;
	}
	assert_false(run("__assertfail"));
	assert_int_equal(err.code, WS_GPU_ASSERT);
	assert_int_equal(call.lane, 2);
	assert_string_equal(err.text.data,
	                    "k.cu:12: void k(int): block: [0,7,0], thread: [2,0,0] Assertion `i < n` failed.\n"
	                    "k.cu:12: ?: block: [0,7,0], thread: [4,0,0] Assertion `i < n` failed.\n");
}

static void test_names(void **state)
{
	(void)state;
	assert_null(ws_syscall_find("sin"));
	assert_null(ws_syscall_find("mallo"));
	static const char *const no[] = {"cudaLaunchDeviceV2", "__cudaCDP2LaunchDevice", "cudaDeviceSynchronize",
	                                 "cudaGetParameterBufferV2", "cudaCGSynchronizeGrid"};
	for (size_t i = 0; i < WS_COUNT(no); i++) {
		const struct ws_syscall_info *s = ws_syscall_find(no[i]);
		assert_non_null(s);
		assert_null(s->fn);
		assert_non_null(s->why);
	}
	assert_int_equal(ws_syscall_find("vprintf")->ret_bytes, 4);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_conversions), T(test_alignment_of_arguments), T(test_strings), T(test_lanes_in_order),
		T(test_null_format), T(test_more_than_32_arguments), T(test_unreadable), T(test_malloc_free),
		T(test_assert), T(test_names)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

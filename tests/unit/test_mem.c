/* test_mem.c - the simulated GPU's address space: bounds, red zones, quarantine, registered memory, the device heap,
 * and what is said about bad addresses. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "gpu/mem.h"

#define MIB (UINT64_C(1) << 20)

static struct ws_memmap map;

static int setup(void **state)
{
	(void)state;
	return ws_memmap_init(&map, 1024 * MIB, 1 * MIB, false, NULL, NULL) ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	ws_memmap_fini(&map);
	return 0;
}

static struct ws_mem *device(uint64_t size)
{
	return ws_memmap_new(&map, size, 0, WS_MEM_DEVICE, NULL, "cudaMalloc at app.cu:12");
}

static void says(uint64_t addr, const char *want)
{
	struct ws_buf b = {0};
	ws_memmap_describe(&map, addr, &b);
	assert_string_equal(b.data, want);
	ws_buf_free(&b);
}

static void test_bounds(void **state)
{
	(void)state;
	struct ws_mem *a = device(1000), *b = device(4096);
	assert_non_null(a);
	assert_non_null(b);
	assert_int_equal(a->addr % 256, 0);
	assert_ptr_equal(ws_memmap_find(&map, a->addr), a);
	assert_ptr_equal(ws_memmap_find(&map, a->addr + 999), a);
	assert_null(ws_memmap_find(&map, a->addr + 1000));
	assert_null(ws_memmap_find(&map, a->addr - 1));
	assert_ptr_equal(ws_memmap_find(&map, b->addr + 4095), b);
	assert_null(ws_memmap_find(&map, b->addr + 4096));
	assert_null(ws_memmap_find(&map, b->addr + 4096 + 255));
	assert_true(b->addr >= a->addr + 1000 + 256);
	assert_ptr_equal(ws_memmap_host(&map, a->addr + 4, 996), a->host + 4);
	assert_null(ws_memmap_host(&map, a->addr + 4, 997));
	assert_null(ws_memmap_find(&map, 0));
	assert_null(ws_memmap_find(&map, UINT64_MAX));
	for (int i = 0; i < 1000; i++)
		assert_int_equal(a->host[i], 0);
}

/* Pages of `bytes` bytes from the first whole one on that are in memory. */
static uint64_t pages_here(uint8_t *at, uint64_t bytes)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), here = 0;
	at += -(uintptr_t)at & (page - 1);
	uint64_t n = bytes / page - 1;
	unsigned char *v = calloc(n, 1);
	assert_int_equal(mincore(at, n * page, v), 0);
	for (uint64_t k = 0; k < n; k++)
		here += v[k] & 1;
	free(v);
	return here;
}

static void test_zeroing(void **state)
{
	(void)state;
	enum { SIZE = 24 << 20 };
	struct ws_mem *a = device(SIZE);
	uint8_t *all = calloc(SIZE, 1);
	assert_non_null(a);
	ws_gpu_mem_zero(a, a->host, SIZE);
	assert_true(pages_here(a->host, SIZE) <= 2);         /* nothing was there */
	for (unsigned k = 0, x = 1; k < 3000; k++) {
		x = x * 1664525 + 1013904223;
		a->host[x % SIZE] = 7;
	}
	static const uint32_t from[] = {0, 1, 4095, 4096, 5000000, 12345678}, bytes[] = {1, 100, 65535, 65536, 8388608, 8388611};
	for (unsigned k = 0; k < 6; k++) {
		memcpy(all, a->host, SIZE);
		memset(all + from[k], 0, bytes[k]);
		ws_gpu_mem_zero(a, a->host + from[k], bytes[k]);
		assert_memory_equal(all, a->host, SIZE);
	}
	ws_gpu_mem_zero(a, a->host, SIZE);
	for (uint64_t k = 0; k < SIZE; k++)
		assert_int_equal(a->host[k], 0);
	free(all);
	ws_memmap_free(&map, a->addr);
}

static void test_host_cannot_read_device_memory(void **state)
{
	(void)state;
	struct ws_mem *a = device(64);
	a->host[0] = 1;
	pid_t pid = fork();
	if (!pid) {
		signal(SIGSEGV, SIG_DFL);
		_exit(*(volatile char *)(uintptr_t)a->addr);
	}
	int status;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(!WIFEXITED(status) || WEXITSTATUS(status) > 1);     /* a signal, or the sanitizer's status */
}

static void test_managed_is_the_same_address(void **state)
{
	(void)state;
	struct ws_mem *m = ws_memmap_new(&map, 100, 0, WS_MEM_MANAGED, NULL, NULL);
	assert_int_equal(m->addr, (uintptr_t)m->host);
	m->host[99] = 7;
	assert_int_equal(*ws_memmap_host(&map, m->addr + 99, 1), 7);
}

static void test_freed_is_not_found_nor_reused(void **state)
{
	(void)state;
	struct ws_mem *a = device(100);
	uint64_t addr = a->addr;
	assert_false(ws_memmap_free(&map, addr + 4));
	assert_true(ws_memmap_free(&map, addr));
	assert_false(ws_memmap_free(&map, addr));
	assert_null(ws_memmap_find(&map, addr));
	for (int i = 0; i < 1000; i++) {
		struct ws_mem *b = device(100);
		assert_true(b->addr >= addr + 256 || b->addr + 100 <= addr);
		assert_true(ws_memmap_free(&map, b->addr));
	}
}

static void test_many_small_and_big(void **state)
{
	(void)state;
	enum { N = 3000 };
	static struct ws_mem *m[N];
	for (int i = 0; i < N; i++)
		assert_non_null(m[i] = device(i % 100 ? 1 + i % 700 : 200000 + i));
	for (int i = 0; i < N; i += 2)
		assert_true(ws_memmap_free(&map, m[i]->addr));
	for (int i = 1; i < N; i += 2) {
		assert_ptr_equal(ws_memmap_find(&map, m[i]->addr), m[i]);
		assert_ptr_equal(ws_memmap_find(&map, m[i]->addr + m[i]->size - 1), m[i]);
		assert_null(ws_memmap_find(&map, m[i]->addr + m[i]->size));
		assert_null(ws_memmap_find(&map, m[i - 1]->addr));
	}
	for (int i = 1; i < N; i += 2)
		assert_true(ws_memmap_free(&map, m[i]->addr));
	uint64_t free_bytes, total;
	ws_memmap_info(&map, &free_bytes, &total);
	assert_int_equal(free_bytes, total);
}

static void test_limit(void **state)
{
	(void)state;
	uint64_t free_bytes, total;
	assert_null(device(1025 * MIB));
	struct ws_mem *a = device(1000 * MIB);
	assert_non_null(a);
	assert_null(device(25 * MIB));
	ws_memmap_info(&map, &free_bytes, &total);
	assert_int_equal(free_bytes, 24 * MIB);
	assert_int_equal(total, 1024 * MIB);
	assert_non_null(ws_memmap_new(&map, 25 * MIB, 0, WS_MEM_HOST, NULL, NULL));
	assert_null(device(UINT64_MAX));
	assert_true(ws_memmap_free(&map, a->addr));
	assert_non_null(device(25 * MIB));
	assert_null(ws_memmap_new(&map, 16, 24, WS_MEM_DEVICE, NULL, NULL));
}

/* More than the whole area is allocated in sum: addresses come again, and their bytes are zero again. */
static void test_area_wraps(void **state)
{
	(void)state;
	struct ws_mem *keep = device(3000);
	keep->host[2999] = 42;
	uint64_t lowest = keep->addr;
	bool again = false;
	for (int i = 0; i < 200; i++) {
		struct ws_mem *m = device(1000 * MIB), *s = device(64);
		assert_non_null(m);
		assert_non_null(s);
		assert_int_equal(m->host[0] | m->host[m->size - 1] | s->host[63], 0);
		m->host[0] = m->host[m->size - 1] = s->host[63] = 1;
		again |= i && m->addr < lowest + 2000 * MIB;
		assert_true(m->addr + m->size <= keep->addr || m->addr >= keep->addr + keep->size);
		assert_true(ws_memmap_free(&map, m->addr));
		assert_true(ws_memmap_free(&map, s->addr));
	}
	assert_true(again);
	assert_int_equal(keep->host[2999], 42);
	assert_ptr_equal(ws_memmap_find(&map, keep->addr + 2999), keep);
}

static void test_empty_allocation(void **state)
{
	(void)state;
	struct ws_mem *m = device(0);
	assert_non_null(m);
	assert_null(ws_memmap_find(&map, m->addr));
	assert_true(ws_memmap_free(&map, m->addr));
}

static void test_structs_are_recycled(void **state)
{
	(void)state;
	for (unsigned i = 0; i < WS_MEM_QUARANTINE + 5000; i++)
		assert_true(ws_memmap_free(&map, device(16)->addr));
	assert_true(map.nmems <= WS_MEM_QUARANTINE + 2);
	assert_true(map.serial == WS_MEM_QUARANTINE + 5000);
}

static void test_registered(void **state)
{
	(void)state;
	static char buf[4096];
	struct ws_mem *b = ws_memmap_register(&map, buf + 1024, 512, "cudaHostRegister");
	struct ws_mem *a = ws_memmap_register(&map, buf, 100, NULL);
	assert_non_null(a);
	assert_non_null(b);
	assert_int_equal(b->addr, (uintptr_t)b->host);
	assert_null(ws_memmap_register(&map, buf + 1500, 512, NULL));
	assert_null(ws_memmap_register(&map, buf + 1000, 25, NULL));
	assert_null(ws_memmap_register(&map, buf + 99, 1, NULL));
	assert_null(ws_memmap_register(&map, buf, 0, NULL));
	assert_null(ws_memmap_register(&map, (void *)(uintptr_t)device(16)->addr, 16, NULL));
	assert_ptr_equal(ws_memmap_find(&map, (uintptr_t)buf + 99), a);
	assert_null(ws_memmap_find(&map, (uintptr_t)buf + 100));
	assert_ptr_equal(ws_memmap_find(&map, (uintptr_t)buf + 1535), b);
	assert_true(ws_memmap_free(&map, (uintptr_t)buf + 1024));
	assert_false(ws_memmap_free(&map, (uintptr_t)buf + 1024));
	assert_null(ws_memmap_find(&map, (uintptr_t)buf + 1024));
	assert_ptr_equal(ws_memmap_find(&map, (uintptr_t)buf), a);
}

static void test_heap(void **state)
{
	(void)state;
	struct ws_mem *a = ws_memmap_heap_alloc(&map, 24, "malloc at k.cu:3");
	assert_non_null(a);
	assert_int_equal(a->kind, WS_MEM_HEAP);
	assert_ptr_equal(ws_memmap_find(&map, a->addr + 23), a);
	assert_null(ws_memmap_find(&map, a->addr + 24));
	assert_false(ws_memmap_free(&map, a->addr));
	assert_int_equal(ws_memmap_heap_free(&map, a->addr + 8), WS_HEAP_NOT_A_BLOCK);
	assert_int_equal(ws_memmap_heap_free(&map, a->addr), WS_HEAP_OK);
	assert_int_equal(ws_memmap_heap_free(&map, a->addr), WS_HEAP_DOUBLE_FREE);
	ws_memmap_settle(&map);
	assert_int_equal(ws_memmap_heap_free(&map, a->addr), WS_HEAP_DOUBLE_FREE);
	assert_int_equal(ws_memmap_heap_free(&map, device(16)->addr), WS_HEAP_NOT_A_BLOCK);
	assert_null(ws_memmap_heap_alloc(&map, 0, NULL));
	struct ws_mem *big = ws_memmap_heap_alloc(&map, MIB - 16, NULL);
	assert_non_null(big);
	assert_null(ws_memmap_heap_alloc(&map, 1, NULL));
	ws_memmap_set_heap_limit(&map, 4096);            /* less than is in use */
	assert_null(ws_memmap_heap_alloc(&map, 1, NULL));
	ws_memmap_set_heap_limit(&map, 8 * MIB);
	struct ws_mem *more = ws_memmap_heap_alloc(&map, 6 * MIB, NULL);
	assert_non_null(more);
	assert_null(ws_memmap_heap_alloc(&map, MIB, NULL));
	assert_null(ws_memmap_heap_alloc(&map, UINT64_MAX - 8, NULL));
	assert_int_equal(ws_memmap_heap_free(&map, more->addr), WS_HEAP_OK);
	assert_int_equal(ws_memmap_heap_free(&map, big->addr), WS_HEAP_OK);
	assert_non_null(ws_memmap_heap_alloc(&map, 1, NULL));
}

static void *heap_worker(void *arg)
{
	(void)arg;
	for (int i = 0; i < 2000; i++) {
		struct ws_mem *m = ws_memmap_heap_alloc(&map, 1 + i % 64, NULL);
		if (!m || ws_memmap_find(&map, m->addr) != m)
			return (void *)1;
		memset(m->host, i, m->size);
		for (uint64_t k = 0; k < m->size; k++)
			if (m->host[k] != (uint8_t)i)
				return (void *)2;
		if (ws_memmap_heap_free(&map, m->addr) != WS_HEAP_OK)
			return (void *)3;
	}
	return NULL;
}

static void test_heap_on_several_threads(void **state)
{
	(void)state;
	pthread_t t[4];
	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&t[i], NULL, heap_worker, NULL), 0);
	for (int i = 0; i < 4; i++) {
		void *r;
		pthread_join(t[i], &r);
		assert_null(r);
	}
	assert_int_equal(map.heap_used, 0);
}

static void test_describe(void **state)
{
	(void)state;
	struct ws_mem *a = device(4096);
	struct ws_mem *v = ws_memmap_new(&map, 8, 8, WS_MEM_SYMBOL, "counter", NULL);
	struct ws_mem *h = ws_memmap_heap_alloc(&map, 1, "malloc at k.cu:3");
	says(0, "the null pointer");
	says(12, "12 bytes from the null pointer");
	says(a->addr + 4, "byte 4 of allocation #1 (4096 bytes, cudaMalloc at app.cu:12)");
	says(a->addr + 4096, "right past the end of allocation #1 (4096 bytes, cudaMalloc at app.cu:12)");
	says(a->addr + 4096 + 16, "16 bytes past the end of allocation #1 (4096 bytes, cudaMalloc at app.cu:12)");
	says(a->addr - 8, "8 bytes before allocation #1 (4096 bytes, cudaMalloc at app.cu:12)");
	says(v->addr + 9, "1 byte past the end of variable 'counter' (8 bytes)");
	says(h->addr + 1, "right past the end of device heap block #3 (1 byte, malloc at k.cu:3)");
	ws_memmap_free(&map, a->addr);
	says(a->addr + 40, "inside freed memory, byte 40 of freed allocation #1 (4096 bytes, cudaMalloc at app.cu:12)");
	says(UINT64_C(0x7000000000000000), "nothing is allocated within 1 MiB of it");
	says((uintptr_t)&a, "ordinary memory of the host program, which the GPU cannot access");
	says(map.area[WS_AREA_HEAP].base + map.area[WS_AREA_HEAP].size / 2, "nothing is allocated within 1 MiB of it");
}

/* ---- the observer ---- */

static int news, frees;

static void on_new(void *self, struct ws_mem *m)
{
	assert_ptr_equal(self, &news);
	assert_null(m->obs);
	assert_null(ws_memmap_find(&map, m->addr));
	m->obs = &news;
	news++;
}

static void on_free(void *self, struct ws_mem *m)
{
	assert_ptr_equal(self, &news);
	assert_ptr_equal(m->obs, &news);
	m->obs = NULL;
	frees++;
}

static void test_observer(void **state)
{
	(void)state;
	static const struct ws_observer_ops ops = {.abi = WS_OBSERVER_ABI, .mem_new = on_new, .mem_free = on_free};
	static char buf[64];
	ws_memmap_fini(&map);
	assert_true(ws_memmap_init(&map, 64 * MIB, MIB, false, &ops, &news));
	struct ws_mem *a = device(16), *h = ws_memmap_heap_alloc(&map, 16, NULL);
	ws_memmap_register(&map, buf, sizeof buf, NULL);
	device(1);
	assert_int_equal(news, 4);
	ws_memmap_free(&map, a->addr);
	assert_int_equal(frees, 1);
	ws_memmap_heap_free(&map, h->addr);
	assert_int_equal(frees, 1);
	ws_memmap_settle(&map);
	assert_int_equal(frees, 2);
	ws_memmap_fini(&map);
	assert_int_equal(frees, 4);
	assert_true(ws_memmap_init(&map, MIB, MIB, false, NULL, NULL));
}

/* ---- two views of host memory ---- */
static int setup_views(void **state)
{
	(void)state;
	return ws_memmap_init(&map, 1024 * MIB, 1 * MIB, true, NULL, NULL) && map.two_views ? 0 : -1;
}

static struct ws_mem *managed(uint64_t size)
{
	return ws_memmap_new(&map, size, 0, WS_MEM_MANAGED, NULL, NULL);
}

static volatile uint8_t *view(const struct ws_mem *m)
{
	return (volatile uint8_t *)(uintptr_t)m->addr;
}

static void test_views_are_equal(void **state)
{
	(void)state;
	struct ws_mem *m = managed(100000), *h = ws_memmap_new(&map, 64, 0, WS_MEM_HOST, NULL, NULL);
	assert_ptr_not_equal(m->host, (uint8_t *)(uintptr_t)m->addr);
	for (int i = 0; i < 100000; i += 999) {
		assert_int_equal(view(m)[i], 0);
		view(m)[i] = (uint8_t)i;
		assert_int_equal(m->host[i], (uint8_t)i);
		m->host[i] = (uint8_t)(i + 1);
		assert_int_equal(view(m)[i], (uint8_t)(i + 1));
	}
	view(h)[63] = 5;
	assert_int_equal(h->host[63], 5);
	uint64_t base, end;
	assert_true(ws_memmap_host_views(&map, &base, &end));
	assert_true(m->addr >= base && m->addr + m->size <= end && h->addr >= base && h->addr < end);
	struct ws_mem *d = device(64);
	assert_false(d->addr >= base && d->addr < end);
}

/* All of the area is gone through, so that addresses come back; their bytes must not. */
static void test_views_are_zero_again(void **state)
{
	(void)state;
	struct ws_mem *m = managed(64 * MIB);
	uint64_t first = m->addr;
	bool again = false;
	for (int i = 0; i < 4000 && !again; i++) {
		for (uint64_t k = 0; k < m->size; k += 16 * MIB) {
			assert_int_equal(m->host[k], 0);
			assert_int_equal(view(m)[k + 4096], 0);
			m->host[k] = 1;
			view(m)[k + 4096] = 2;
		}
		assert_true(ws_memmap_free(&map, m->addr));
		m = managed(64 * MIB);
		assert_non_null(m);
		again = m->addr == first;
	}
	assert_true(again);
	for (uint64_t k = 0; k < m->size; k += 16 * MIB)
		assert_int_equal(m->host[k] | view(m)[k] | m->host[k + 4096] | view(m)[k + 4096], 0);
}

static void test_own_pages(void **state)
{
	(void)state;
	static const uint64_t sizes[] = {1, 2047, 2048, 100, 4096, 4097, 8, 10000, 2048, 2048, 3};
	uint64_t after_small = 0, after_big = 0;
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		struct ws_mem *m = managed(sizes[i]);
		uint64_t after = (m->addr + m->size + 4095) / 4096 * 4096;
		assert_true(m->addr >= after_big);
		if (sizes[i] < 2048) {
			after_small = after;
			continue;
		}
		assert_int_equal(m->addr % 4096, 0);
		assert_true(m->addr >= after_small);
		after_big = after;
	}
}

/* Where files may not be as large as the area, there is one view, and no signal. */
static void test_one_view_must_do(void **state)
{
	(void)state;
	struct rlimit old, small;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	small = (struct rlimit){MIB, old.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	assert_true(ws_memmap_init(&map, 64 * MIB, MIB, true, NULL, NULL));
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_false(map.two_views);
	uint64_t base, end;
	assert_false(ws_memmap_host_views(&map, &base, &end));
	struct ws_mem *m = managed(4096);
	assert_ptr_equal(m->host, (uint8_t *)(uintptr_t)m->addr);
	m->host[0] = 1;
	ws_memmap_fini(&map);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
#define V(f) cmocka_unit_test_setup_teardown(f, setup_views, teardown)
	const struct CMUnitTest tests[] = {
		T(test_bounds), T(test_zeroing), T(test_host_cannot_read_device_memory), T(test_managed_is_the_same_address),
		T(test_freed_is_not_found_nor_reused), T(test_many_small_and_big), T(test_limit), T(test_area_wraps),
		T(test_empty_allocation), T(test_structs_are_recycled), T(test_registered), T(test_heap),
		T(test_heap_on_several_threads), T(test_describe), T(test_observer),
		V(test_views_are_equal), V(test_views_are_zero_again), V(test_own_pages),
		cmocka_unit_test(test_one_view_must_do)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

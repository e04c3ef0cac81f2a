/* test_pool.c - objects of the detector's pool are zeroed, apart from each other, and used again, by any thread. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "detect/pool.h"

enum { MANY = 2000 };

static size_t size_of(unsigned i)
{
	static const size_t sizes[] = {1, 16, 24, 64, 136, 2048, 4096, 4097, 100000};

	return sizes[i % (sizeof sizes / sizeof sizes[0])];
}

static void check_zero(const unsigned char *p, size_t size)
{
	assert_non_null(p);
	for (size_t i = 0; i < size; i++)
		assert_int_equal(p[i], 0);
}

static void take(unsigned char **p, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		p[i] = ws_pool_new(size_of(i));
		check_zero(p[i], size_of(i));
		memset(p[i], (int)(i | 1), size_of(i));
	}
}

static void give(unsigned char **p, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		for (size_t k = 0; k < size_of(i); k++)
			assert_int_equal(p[i][k], (unsigned char)(i | 1));
		ws_pool_free(p[i], size_of(i));
	}
}

static void many(void **state)
{
	static unsigned char *p[MANY];

	for (int round = 0; round < 3; round++) {
		take(p, MANY);
		give(p, MANY);
	}
	ws_pool_free(NULL, 64);
}

/* Under a sanitizer each object is the system's own. */
#if defined __SANITIZE_ADDRESS__
enum { POOLED = 0 };
#elif defined __has_feature
#if __has_feature(address_sanitizer)
enum { POOLED = 0 };
#else
enum { POOLED = 1 };
#endif
#else
enum { POOLED = 1 };
#endif

static void used_again(void **state)
{
	void *p = ws_pool_new(208), *q;
	uintptr_t first = (uintptr_t)p;

	ws_pool_free(p, 208);
	p = ws_pool_new(200);
	q = ws_pool_new(128);
	if (POOLED) {
		assert_int_equal((uintptr_t)p, first);
		assert_int_equal((uintptr_t)q % 64, 0);
	}
	check_zero(p, 200);
	check_zero(q, 128);
	ws_pool_free(p, 200);
	ws_pool_free(q, 128);
}

static void grows(void **state)
{
	unsigned char *p = ws_pool_grow(NULL, 0, 48);

	check_zero(p, 48);
	memset(p, 7, 48);
	p = ws_pool_grow(p, 48, 96);
	for (int i = 0; i < 48; i++)
		assert_int_equal(p[i], 7);
	check_zero(p + 48, 48);
	ws_pool_free(p, 96);
}

static void *other_thread(void *arg)
{
	unsigned char **p = arg;

	for (unsigned i = 0; i < 1000; i++)
		ws_pool_free(p[i], size_of(i));
	take(p, 1000);
	return NULL;
}

/* More than have a part of the pool to themselves. */
static void threads(void **state)
{
	enum { THREADS = 12 };
	static unsigned char *p[THREADS][1000];
	pthread_t t[THREADS];

	for (int i = 0; i < THREADS; i++)
		take(p[i], 1000);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&t[i], NULL, other_thread, p[i]), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	for (int i = 0; i < THREADS; i++)
		give(p[i], 1000);
}

static void *leave_behind(void *arg)
{
	void *p = ws_pool_new(3008);

	ws_pool_free(p, 3008);
	return p;
}

/* What an ended thread gave back is for the next one. */
static void ended_thread(void **state)
{
	void *first, *second;
	pthread_t t;

	assert_int_equal(pthread_create(&t, NULL, leave_behind, NULL), 0);
	pthread_join(t, &first);
	assert_int_equal(pthread_create(&t, NULL, leave_behind, NULL), 0);
	pthread_join(t, &second);
	if (POOLED)
		assert_ptr_equal(first, second);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(many), cmocka_unit_test(used_again), cmocka_unit_test(grows),
	                                   cmocka_unit_test(threads), cmocka_unit_test(ended_thread)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The cache of compiled modules: what was put comes back, damage counts as nothing, the oldest go first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <dirent.h>
#include <fcntl.h>

#include "real/cache.h"

static char folder[] = "/tmp/warpsafe-cache-XXXXXX";

static struct ws_cache_key *key(const char *a, const char *b)
{
	struct ws_cache_key *k = ws_cache_key_new();

	ws_cache_key_add(k, a, strlen(a));
	ws_cache_key_add(k, b, strlen(b));
	return k;
}

static bool holds(const char *a, const char *b, const void *want, size_t len)
{
	struct ws_cache_key *k = key(a, b);
	size_t n = 0;
	char *got = ws_cache_get(folder, k, &n);
	bool same = got && n == len && memcmp(got, want, len) == 0;

	assert_true(!got || same);
	free(got);
	ws_cache_key_free(k);
	return same;
}

static void put(const char *a, const char *b, const void *data, size_t len, uint64_t limit)
{
	struct ws_cache_key *k = key(a, b);

	assert_true(ws_cache_put(folder, k, data, len, limit));
	ws_cache_key_free(k);
}

/* Calls fn with each file's path; returns how many there are. */
static size_t each(void (*fn)(const char *path))
{
	DIR *d = opendir(folder);
	struct dirent *e;
	size_t n = 0;

	while ((e = readdir(d)))
		if (e->d_name[0] != '.') {
			char path[512];

			snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
			n++;
			if (fn)
				fn(path);
		}
	closedir(d);
	return n;
}

static void remove_file(const char *path)
{
	assert_int_equal(unlink(path), 0);
}

static void round_trip(void **state)
{
	put("ab", "c", "content", 7, 1 << 20);
	assert_true(holds("ab", "c", "content", 7));
	assert_false(holds("a", "bc", "content", 7));        /* the pieces count, not only their bytes */
	assert_false(holds("c", "ab", "content", 7));
	put("ab", "c", "other", 5, 1 << 20);
	assert_true(holds("ab", "c", "other", 5));
	assert_int_equal(each(NULL), 1);
	each(remove_file);
}

static size_t at;
static int change;

static void damage(const char *path)
{
	struct stat st;
	int fd = open(path, O_RDWR);
	char c;

	assert_int_equal(fstat(fd, &st), 0);
	if (at >= (size_t)st.st_size) {
		change = 0;
	} else if (change == 1) {
		assert_int_equal(pread(fd, &c, 1, (off_t)at), 1);
		c ^= 1;
		assert_int_equal(pwrite(fd, &c, 1, (off_t)at), 1);
	} else {
		assert_int_equal(ftruncate(fd, (off_t)at), 0);
	}
	close(fd);
}

/* Every byte of a file, changed or cut off there. */
static void damages(void **state)
{
	for (int how = 1; how <= 2; how++)
		for (at = 0, change = how; change; at++) {
			put("k", "", "twelve bytes", 12, 1 << 20);
			each(damage);
			assert_int_equal(holds("k", "", "twelve bytes", 12), !change);
			assert_int_equal(each(NULL), change ? 0 : 1);        /* it is not left behind */
		}
	each(remove_file);
}

/* Sets the time of use of the newest file, which is the one just put. */
static void used_at(time_t when)
{
	struct timespec t[2] = { { when, 0 }, { when, 0 } };
	DIR *d = opendir(folder);
	struct dirent *e;

	while ((e = readdir(d))) {
		struct stat st;

		if (e->d_name[0] != '.' && fstatat(dirfd(d), e->d_name, &st, 0) == 0 && st.st_mtime > 1000000)
			utimensat(dirfd(d), e->d_name, t, 0);
	}
	closedir(d);
}

static void bounded(void **state)
{
	char kilobyte[1000] = { 1 };

	put("one", "", kilobyte, sizeof kilobyte, 1 << 20);
	used_at(1000);
	put("two", "", kilobyte, sizeof kilobyte, 1 << 20);
	used_at(500);
	put("three", "", kilobyte, sizeof kilobyte, 2500);   /* one has to go: two was used longest ago */
	assert_int_equal(each(NULL), 2);
	assert_false(holds("two", "", kilobyte, sizeof kilobyte));
	assert_true(holds("one", "", kilobyte, sizeof kilobyte));
	assert_true(holds("three", "", kilobyte, sizeof kilobyte));
	each(remove_file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(round_trip), cmocka_unit_test(damages), cmocka_unit_test(bounded),
	};
	int failed;

	if (!mkdtemp(folder))
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	rmdir(folder);
	return failed;
}

/* cache.c - files of compiled modules; see cache.h. A file is a header, then the content:
 *   "WSCUBIN1", the key (16 bytes), u64 bytes of content, 128-bit XXH3 of the content (16 bytes) */
#include "real/cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

static const char magic[8] = "WSCUBIN1", suffix[] = ".cubin";

struct header {
	char magic[8];
	XXH128_canonical_t key;
	uint64_t len;
	XXH128_canonical_t sum;
};
_Static_assert(sizeof(struct header) == 48, "the header has no gaps");

struct ws_cache_key {
	XXH3_state_t *state;
};

struct ws_cache_key *ws_cache_key_new(void)
{
	struct ws_cache_key *k = ws_alloc(sizeof *k);

	/* XXH3_createState aligns it to 64 bytes, which malloc does not */
	k->state = XXH3_createState();
	if (!k->state) {
		free(k);
		return NULL;
	}
	XXH3_128bits_reset(k->state);
	return k;
}

void ws_cache_key_add(struct ws_cache_key *k, const void *bytes, size_t n)
{
	uint64_t len = n;

	XXH3_128bits_update(k->state, &len, sizeof len);
	XXH3_128bits_update(k->state, bytes, n);
}

void ws_cache_key_free(struct ws_cache_key *k)
{
	if (k)
		XXH3_freeState(k->state);
	free(k);
}

static XXH128_canonical_t sum_of(const void *data, size_t len)
{
	XXH128_canonical_t c;

	XXH128_canonicalFromHash(&c, XXH3_128bits(data, len));
	return c;
}

static char *path_of(const char *folder, const struct ws_cache_key *k, XXH128_canonical_t *key)
{
	struct ws_buf b = { 0 };

	XXH128_canonicalFromHash(key, XXH3_128bits_digest(k->state));
	ws_buf_printf(&b, "%s/", folder);
	for (size_t i = 0; i < sizeof key->digest; i++)
		ws_buf_printf(&b, "%02x", key->digest[i]);
	ws_buf_puts(&b, suffix);
	return b.data;
}

/* ---- the folder ---- */
/* Makes every folder of the path that is missing; what is kept is the user's own business. */
static bool make_folders(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = 0;
		if (mkdir(path, 0700) && errno != EEXIST)
			return false;
		*slash = '/';
	}
	return mkdir(path, 0700) == 0 || errno == EEXIST;
}

char *ws_cache_folder(void)
{
	const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	struct ws_buf b = { 0 };

	/* XDG Base Directory Specification: a path that is not absolute does not count */
	if (base && *base == '/')
		ws_buf_printf(&b, "%s/warpsafe", base);
	else if (home && *home == '/')
		ws_buf_printf(&b, "%s/.cache/warpsafe", home);
	if (b.data && !make_folders(b.data))
		ws_buf_free(&b);
	return b.data;
}

/* ---- reading ---- */
void *ws_cache_get(const char *folder, const struct ws_cache_key *k, size_t *len)
{
	XXH128_canonical_t key, sum;
	char *path = path_of(folder, k, &key), *file;
	struct header h;
	size_t n = 0;

	file = ws_read_file(path, &n);
	if (file && n >= sizeof h) {
		memcpy(&h, file, sizeof h);
		sum = sum_of(file + sizeof h, n - sizeof h);
		if (memcmp(h.magic, magic, sizeof magic) == 0 && memcmp(&h.key, &key, sizeof key) == 0 &&
		    h.len == n - sizeof h && memcmp(&h.sum, &sum, sizeof sum) == 0) {
			*len = n - sizeof h;
			memmove(file, file + sizeof h, *len);
			utimensat(AT_FDCWD, path, NULL, 0);  /* used now: it goes last */
			free(path);
			return file;
		}
	}
	if (file)
		unlink(path);
	free(file);
	free(path);
	return NULL;
}

/* ---- writing ---- */
static bool write_all(int fd, const void *data, size_t n)
{
	const char *p = data;

	while (n) {
		ssize_t done = write(fd, p, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return false;
		p += done;
		n -= (size_t)done;
	}
	return true;
}

struct kept {
	char *path;
	uint64_t size;
	struct timespec used;
};

static int older_first(const void *a, const void *b)
{
	const struct timespec *s = &((const struct kept *)a)->used, *t = &((const struct kept *)b)->used;

	if (s->tv_sec != t->tv_sec)
		return s->tv_sec < t->tv_sec ? -1 : 1;
	return s->tv_nsec < t->tv_nsec ? -1 : s->tv_nsec > t->tv_nsec;
}

static struct kept *list(const char *folder, size_t *n)
{
	struct kept *all = NULL;
	struct dirent *entry;
	DIR *d = opendir(folder);
	size_t cap = 0;

	*n = 0;
	while (d && (entry = readdir(d))) {
		struct ws_buf path = { 0 };
		struct stat st;

		if (!strstr(entry->d_name, suffix))  /* what a killed process was writing is counted, too */
			continue;
		ws_buf_printf(&path, "%s/%s", folder, entry->d_name);
		if (stat(path.data, &st) || !S_ISREG(st.st_mode)) {
			ws_buf_free(&path);
			continue;
		}
		*WS_PUSH(all, *n, cap) = (struct kept){ path.data, (uint64_t)st.st_size, st.st_mtim };
	}
	if (d)
		closedir(d);
	return all;
}

static void keep_below(const char *folder, uint64_t limit)
{
	uint64_t total = 0;
	size_t n;
	struct kept *all = list(folder, &n);

	for (size_t i = 0; i < n; i++)
		total += all[i].size;
	if (n)
		qsort(all, n, sizeof *all, older_first);
	for (size_t i = 0; i < n; i++) {
		if (total > limit && unlink(all[i].path) == 0)
			total -= all[i].size;
		free(all[i].path);
	}
	free(all);
}

bool ws_cache_put(const char *folder, const struct ws_cache_key *k, const void *data, size_t len, uint64_t limit)
{
	struct header h = { .len = len, .sum = sum_of(data, len) };
	struct ws_buf beside = { 0 };
	char *path = path_of(folder, k, &h.key);
	bool fine = false;
	int fd, failed;

	memcpy(h.magic, magic, sizeof magic);
	ws_buf_printf(&beside, "%s.XXXXXX", path);
	fd = mkostemp(beside.data, O_CLOEXEC);
	if (fd >= 0) {
		fine = write_all(fd, &h, sizeof h) && write_all(fd, data, len);
		fine = close(fd) == 0 && fine && rename(beside.data, path) == 0;
		failed = errno;
		if (!fine)
			unlink(beside.data);
		errno = failed;
	}
	failed = errno;
	if (fine)
		keep_below(folder, limit);
	ws_buf_free(&beside);
	free(path);
	errno = failed;
	return fine;
}

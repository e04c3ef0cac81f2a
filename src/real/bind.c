/* bind.c - joins the stub with the driver: fills its table, and answers cuGetProcAddress, by which programs find
 * functions without the table. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "real/real_priv.h"
#include "real/unfollowed.h"

struct ws_real_driver ws_real;

struct row {
	const char *name, *base;
	int since, threads;
	void (*ours)(void);
	void **real;                 /* the driver's, in ws_real */
};

static const struct row rows[] = {
#define WRAP(name, base, since, threads, args) \
	{ #name, base, since, threads, (void (*)(void))ws_real_##name, (void **)&ws_real.name },
#define USE(name, args)
#include "real/real_api.def"
#undef WRAP
#undef USE
};

static const struct { const char *name; void **real; } used[] = {
#define WRAP(name, base, since, threads, args)
#define USE(name, args) { #name, (void **)&ws_real.name },
#include "real/real_api.def"
#undef WRAP
#undef USE
};

/* What a function of the stub does when there is no driver to pass it on to. */
static int no_driver(void)
{
	return WS_REAL_STUB_LIBRARY;
}

static void *pointer_to(void (*f)(void))
{
	void *p;

	memcpy(&p, &f, sizeof p);    /* ISO C has no cast for it; POSIX, dlsym, says that the sizes agree */
	return p;
}

static const struct row *row_named(const char *name)
{
	for (size_t i = 0; i < WS_COUNT(rows); i++)
		if (strcmp(rows[i].name, name) == 0)
			return &rows[i];
	return NULL;
}

/* By its path, which has a slash: so the loader does not take it for the stub, which has the same name. */
static void *open_driver(void)
{
	const char *path = getenv(WS_REAL_DRIVER_ENV);
	void *driver = path && strchr(path, '/') ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;

	if (!driver)
		ws_real_tell("error: the NVIDIA driver '%s' cannot be loaded: %s", path ? path : "", path ? dlerror() :
		             WS_REAL_DRIVER_ENV " is not set");
	return driver;
}

__attribute__((visibility("default"))) void ws_real_bind(void **table, const char *names, size_t n)
{
	void *driver = open_driver();

	for (size_t i = 0; driver && i < WS_COUNT(rows); i++)
		*rows[i].real = dlsym(driver, rows[i].name);
	for (size_t i = 0; driver && i < WS_COUNT(used); i++)
		*used[i].real = dlsym(driver, used[i].name);
	for (size_t i = 0; i < n; i++, names += strlen(names) + 1) {
		const struct row *r = row_named(names);
		void *real = !driver ? NULL : r ? *r->real : dlsym(driver, names);

		table[i] = !real ? pointer_to((void (*)(void))no_driver) : r ? pointer_to(r->ours) : ws_real_marking(names, real);
	}
}

/* ---- cuGetProcAddress ---- */
enum { PER_THREAD = 2 };             /* CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM */

/* Of the functions that bear the name in some version of CUDA, the newest that is not newer than `version`. */
static const struct row *row_asked_for(const char *base, int version, uint64_t flags)
{
	const struct row *best = NULL;

	for (size_t i = 0; i < WS_COUNT(rows); i++) {
		const struct row *r = &rows[i];

		if (strcmp(r->base, base) != 0 || r->since > version || (r->threads && !(flags & PER_THREAD)))
			continue;
		if (!best || r->threads > best->threads || (r->threads == best->threads && r->since > best->since))
			best = r;
	}
	return best;
}

/* Ours in place of the function that the driver gave. Its address says which one it is, version and form; a driver may
 * give another address than it exports, and then the name decides. */
static void *ours_for(void *real, const char *name, int version, uint64_t flags)
{
	const struct row *r = NULL;

	for (size_t i = 0; i < WS_COUNT(rows) && !r; i++)
		if (*rows[i].real == real)
			r = &rows[i];
	if (!r)
		r = row_asked_for(name, version, flags);
	if (r && !*r->real)
		*r->real = real;     /* not exported: this is the only way to it */
	return r ? pointer_to(r->ours) : ws_real_marking(name, real);
}

int ws_real_cuGetProcAddress(const char *name, void **f, int version, uint64_t flags)
{
	int e = ws_real.cuGetProcAddress(name, f, version, flags);

	if (!e && name && f && *f)
		*f = ours_for(*f, name, version, flags);
	return e;
}

int ws_real_cuGetProcAddress_v2(const char *name, void **f, int version, uint64_t flags, int *found)
{
	int e = ws_real.cuGetProcAddress_v2(name, f, version, flags, found);

	if (!e && name && f && *f)
		*f = ours_for(*f, name, version, flags);
	return e;
}

int ws_real_cuGetProcAddress_v2_ptsz(const char *name, void **f, int version, uint64_t flags, int *found)
{
	int e = ws_real.cuGetProcAddress_v2_ptsz(name, f, version, flags, found);

	if (!e && name && f && *f)
		*f = ours_for(*f, name, version, flags ? flags : PER_THREAD);
	return e;
}

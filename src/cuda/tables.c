/* tables.c - all entry points by name: for the preload, which redirects them in a program with the static runtime, and
 * for the calls that ask for an entry point at run time. */
#include "cuda/tables.h"

#include <stdlib.h>
#include <string.h>

#define RT(name, now, before) extern void ws_##now(void); extern void ws_##before(void);
#define PT(name, now) extern void ws_##name(void);
#define NO(name) extern void ws_##name(void);
#include "cuda/rt_api.def"
#undef RT
#define DRV(name, now) extern void ws_##now(void);
#include "cuda/drv_api.def"
#undef DRV
#undef PT
#undef NO

struct row { const char *name; void (*now)(void), (*before)(void); };

static const struct row runtime[] = {
#define RT(name, now, before) { #name, ws_##now, ws_##before },
#define PT(name, to) { #name, ws_##name, ws_##name },
#define NO(name) { #name, ws_##name, ws_##name },
#include "cuda/rt_api.def"
#undef RT
#undef PT
#undef NO
};

static const struct row driver[] = {
#define DRV(name, now) { #name, ws_##now, ws_##now },
#define PT(name, to) { #name, ws_##name, ws_##name },
#define NO(name) { #name, ws_##name, ws_##name },
#include "cuda/drv_api.def"
#undef DRV
#undef PT
#undef NO
};

static int by_name(const void *key, const void *row)
{
	return strcmp(key, ((const struct row *)row)->name);
}

void (*ws_rt_find(const char *name, bool before13))(void)
{
	const struct row *r = bsearch(name, runtime, WS_COUNT(runtime), sizeof *runtime, by_name);

	return !r ? NULL : before13 ? r->before : r->now;
}

const char *ws_rt_name_at(size_t i)
{
	return i < WS_COUNT(runtime) ? runtime[i].name : NULL;
}

/* "cuMemAlloc" is cuMemAlloc_v2 by the macros of every header since CUDA 3.2: the newest variant is meant. */
void (*ws_drv_find(const char *name))(void)
{
	static const char *const suffixes[] = { "_v4", "_v3", "_v2", "" };
	char full[128];
	size_t i;

	for (i = 0; i < WS_COUNT(suffixes); i++) {
		const struct row *r;

		if (strlen(name) + 4 >= sizeof full)
			return NULL;
		strcpy(full, name);
		strcat(full, suffixes[i]);
		r = bsearch(full, driver, WS_COUNT(driver), sizeof *driver, by_name);
		if (r)
			return r->now;
	}
	return NULL;
}

const char *ws_drv_name_at(size_t i)
{
	return i < WS_COUNT(driver) ? driver[i].name : NULL;
}

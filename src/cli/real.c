/* real.c - what --gpu=real needs before the program starts: the installed driver, and the library before it. */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "real/real.h"
#include "real/stub.h"

bool ws_cli_is_real(const struct ws_options *o)
{
	return strcmp(o->gpu, "real") == 0;
}

/* Options that say how the simulated GPU is to be have no meaning for another. */
static const char *simulated_option(const struct ws_options *o)
{
	static const char *const names[] = { "detector", "memory", "granularity", "kernel", "launch-skip", "launch-count",
		                             "divergence", "schedule", "seed", "runs", "threads", "max-instructions",
		                             "timeout", "cc", "device-memory" };
	struct ws_buf set = { 0 };
	const char *found = NULL;

	ws_buf_puts(&set, "\n");
	ws_options_to_env(o, &set);
	for (size_t i = 0; i < WS_COUNT(names) && !found; i++) {
		struct ws_buf line = { 0 };

		ws_buf_printf(&line, "\n%s=", names[i]);
		if (strstr(set.data, line.data))
			found = names[i];
		ws_buf_free(&line);
	}
	ws_buf_free(&set);
	return found;
}

const char *ws_cli_check_real(const char *verb, const struct ws_options *o, struct ws_buf *text)
{
	const char *name;

	if (!ws_cli_is_real(o))
		return NULL;
	if (strcmp(o->instrument, "none") != 0 && !ws_real_pass_find(o->instrument)) {
		ws_buf_printf(text, "--instrument=%s is for the simulated GPU in this version", o->instrument);
		return text->data;
	}
	name = simulated_option(o);
	if (!name)
		return NULL;
	ws_buf_printf(text, "--%s is for the simulated GPU and does nothing with --gpu=real; leave it out", name);
	return text->data;
}

/* ---- the driver ---- */
/* Is it one of warpsafe's own, by the folder or by what it exports? */
static bool is_ours(void *library, const char *path, const char *libraries)
{
	size_t n = strlen(libraries);

	return dlsym(library, "ws_real_bind") || (strncmp(path, libraries, n) == 0 && path[n] == '/');
}

/* Where the loader finds the driver. The caller frees it. NULL: *why in text. */
static char *search(const char *libraries, struct ws_buf *text)
{
	void *library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
	struct link_map *map = NULL;
	char *path = NULL;

	if (!library) {
		ws_buf_printf(text, "there is no NVIDIA driver that can be loaded; use --gpu=sim (%s)", dlerror());
		return NULL;
	}
	if (dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 && map)
		path = realpath(map->l_name, NULL);
	if (path && is_ours(library, path, libraries)) {
		ws_buf_printf(text, "the libcuda.so.1 that the loader finds is warpsafe's own, '%s'; take its folder out of "
		              "LD_LIBRARY_PATH", path);
		free(path);
		path = NULL;
	} else if (!path) {
		ws_buf_puts(text, "the loader does not say where libcuda.so.1 is");
	}
	return path;                 /* the library stays: a driver is not made to be unloaded */
}

/* By the environment: for a driver that the loader does not find, and for a warpsafe that another one started. */
static char *given(const char *path, struct ws_buf *text)
{
	char *full = realpath(path, NULL);

	if (!full)
		ws_buf_printf(text, WS_REAL_DRIVER_ENV "='%s': %s", path, strerror(errno));
	return full;
}

const char *ws_cli_put_stub(const char *libraries, const char *folder, struct ws_buf *text)
{
	const char *set = getenv(WS_REAL_DRIVER_ENV), *why = NULL;
	char *driver = set && *set ? given(set, text) : search(libraries, text);
	struct ws_buf needed = { 0 }, stub = { 0 }, other = { 0 };

	if (!driver)
		return text->data;
	ws_buf_printf(&needed, "%s/" WS_REAL_LIBRARY, libraries);
	ws_buf_printf(&stub, "%s/libcuda.so.1", folder);
	ws_buf_printf(&other, "%s/libcuda.so", folder);
	if (strpbrk(folder, ":;"))
		ws_buf_printf(text, "the folder '%s' cannot stand in LD_LIBRARY_PATH; set TMPDIR to one without ':' and ';'",
		              folder);
	else if (!ws_stub_write(driver, needed.data, stub.data, &why))
		ws_buf_printf(text, "the library before the driver '%s' cannot be made: %s", driver, why);
	else if (symlink("libcuda.so.1", other.data))        /* some programs open it by this name */
		ws_buf_printf(text, "'%s' cannot be made: %s", other.data, strerror(errno));
	setenv(WS_REAL_DRIVER_ENV, driver, 1);
	ws_buf_free(&needed);
	ws_buf_free(&stub);
	ws_buf_free(&other);
	free(driver);
	return text->len ? text->data : NULL;
}

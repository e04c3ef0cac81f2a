/* real.h - the way in to a real NVIDIA GPU: libwarpsafe-real.so stands between the program and the installed driver.
 *
 * The program's libcuda.so.1 is the library that stub.h makes; all its functions are jumps through a table. The table is
 * filled here: with our function where real_api.def has one, else with the driver's own. Ours pass everything on; on the
 * way they learn which kernels there are, count their launches, and, when a pass is chosen, give the driver a rewritten
 * module in place of the program's. */
#ifndef WS_REAL_H
#define WS_REAL_H

#include "base/base.h"

/* The environment of a program that runs so: the driver's file, and the options ("name=value" lines). Not
 * WARPSAFE_OPTIONS: the simulated driver, which plays the installed one in tests, reads that. */
#define WS_REAL_DRIVER_ENV  "WARPSAFE_DRIVER"
#define WS_REAL_OPTIONS_ENV "WARPSAFE_REAL_OPTIONS"
#define WS_REAL_LIBRARY     "libwarpsafe-real.so"

/* Called by the stub when it is loaded: fills table[0..n) for the n names, which stand one after the other, each with
 * its NUL. The table and the names live as long as the process. */
void ws_real_bind(void **table, const char *names, size_t n);

/* ---- passes: what is done to PTX before the driver compiles it ---- */
struct ws_real_text {                    /* a module's */
	const char *label;                   /* names it in messages */
	const char *text;                    /* NUL-terminated */
	size_t len;
	uint32_t cc;                         /* of the GPU: 90 = 9.0 */
	bool part;                           /* it will be linked with others */
};
struct ws_real_table;                        /* race.h */
struct ws_real_pass {
	const char *name;                    /* of --instrument */
	/* Appends the rewritten text; *table is set to what the host must know of the checks in it, by a pass for races.
	 * false: *why has the problem, its first line fit to stand alone. Called from any thread. */
	bool (*rewrite)(const struct ws_real_text *t, struct ws_buf *out, struct ws_buf *why,
	                const struct ws_real_table **table);
};
/* NULL: there is no such pass ("none" is not one). */
const struct ws_real_pass *ws_real_pass_find(const char *name);

#endif

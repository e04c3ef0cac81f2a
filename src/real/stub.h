/* stub.h - writes the library that stands before the installed driver.
 *
 * A program finds NVIDIA's driver by the name libcuda.so.1. Ours must export every function that the installed driver
 * exports, known to us or not, or programs fail to link. So it is made for that driver, as an ELF shared library: each
 * function is a jump through a place of a table, which libwarpsafe-real.so fills in (real.h). */
#ifndef WS_STUB_H
#define WS_STUB_H

#include "base/base.h"

struct ws_stub_names {
	char *names;                 /* the functions that the driver exports, one after the other, each NUL-terminated */
	size_t len, n;
	uint16_t machine;            /* e_machine of its ELF header */
};
/* The functions that the ELF shared library at path exports. Its data symbols are left out: those of NVIDIA's driver
 * (cudbg*) are read and written by debuggers, which look for them in the driver's own file. Nothing in the file is
 * trusted. false: *why, static text. The caller frees with ws_stub_names_free. */
bool ws_stub_read(const char *path, struct ws_stub_names *out, const char **why);
/* The same of a file in memory; data is aligned to 8. */
bool ws_stub_parse(const void *data, size_t len, struct ws_stub_names *out, const char **why);
void ws_stub_names_free(struct ws_stub_names *s);

/* Appends the library: named libcuda.so.1, needs `needed` (an absolute path), whose ws_real_bind it calls when it is
 * loaded. false: *why (a machine that is neither x86-64 nor AArch64, or too many names). */
bool ws_stub_make(const struct ws_stub_names *s, const char *needed, struct ws_buf *out, const char **why);

/* Reads the driver, makes the stub, writes it to `path`. false: *why says what failed, static text or strerror's. */
bool ws_stub_write(const char *driver, const char *needed, const char *path, const char **why);

#endif

/* demangle.c - C++ names for people; the work is done by GNU libiberty (Itanium C++ ABI mangling). */
#include "base/demangle.h"

#include <stdlib.h>
#include <string.h>

#include <libiberty/demangle.h>

#include "base/base.h"

char *ws_demangle(const char *name)
{
	char *plain, *copy;

	if (strncmp(name, "_Z", 2) != 0)
		return ws_strdup(name);
	plain = cplus_demangle_v3(name, DMGL_ANSI);
	copy = ws_strdup(plain ? plain : name);
	free(plain);
	return copy;
}

/* The digits of "_$_2" at the end of a name, with which clang's PTX says that it is a part of a variable; else NULL. */
static const char *part_of(const char *name)
{
	const char *at = NULL;

	for (const char *s = strstr(name, "_$_"); s; s = strstr(s + 1, "_$_"))
		at = s + 3;
	return at && *at && strspn(at, "0123456789") == strlen(at) ? at : NULL;
}

char *ws_plain_variable(const char *name, bool shared)
{
	char *plain = ws_demangle(name);
	const char *last = plain, *part = part_of(name);
	struct ws_buf whole = { 0 };

	if (strncmp(name, "_Z", 2) != 0)
		return plain;
	for (const char *s = shared ? strstr(plain, "::") : NULL; s; s = strstr(s + 2, "::"))    /* the kernel is told already */
		last = s + 2;
	if (!part) {
		memmove(plain, last, strlen(last) + 1);
		return plain;
	}
	ws_buf_printf(&whole, "%s.%s", last, part);
	free(plain);
	return whole.data;
}

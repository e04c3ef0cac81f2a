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

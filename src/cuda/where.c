/* where.c - names the place in the program that made an allocation, from its debug information (DWARF, by elfutils'
 * libdw) or, without it, from its symbols. */
#include "cuda/rt.h"

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <execinfo.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/demangle.h"
#include "cuda/map.h"

enum { MAX_FRAMES = 24 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Dwfl *dwfl;
static struct ws_map known; /* return address -> struct place */

struct place {
	char *text;   /* " at app.cu:12", " in main+0x1f2" or "" */
	bool wrapper; /* it is in a wrapper, so the caller's place is wanted */
	bool ours;    /* it is in one of our libraries */
	char *file;   /* NULL: no line information */
	uint32_t line;
	char *symbol; /* the function, or NULL */
};

static Dwfl *begin(void)
{
	static char *debug_path = ""; /* the program's own files only: no search on the net or in /usr/lib/debug */
	static const Dwfl_Callbacks callbacks = {
		.find_elf = dwfl_linux_proc_find_elf,
		.find_debuginfo = dwfl_standard_find_debuginfo,
		.debuginfo_path = &debug_path,
	};
	Dwfl *d = dwfl_begin(&callbacks);

	if (d && (dwfl_linux_proc_report(d, getpid()) != 0 || dwfl_report_end(d, NULL, NULL) != 0)) {
		dwfl_end(d);
		d = NULL;
	}
	return d;
}

static Dwfl_Module *module_of(Dwarf_Addr pc)
{
	Dwfl_Module *m;

	if (!dwfl)
		dwfl = begin();
	m = dwfl ? dwfl_addrmodule(dwfl, pc) : NULL;
	if (!m && dwfl) { /* a library loaded since */
		dwfl_end(dwfl);
		dwfl = begin();
		m = dwfl ? dwfl_addrmodule(dwfl, pc) : NULL;
	}
	return m;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* A line in these headers is that of a wrapper, such as the template cudaMalloc(T **, size_t). */
static bool is_wrapper(const char *path)
{
	return strncmp(base_name(path), "cuda_runtime", 12) == 0;
}

static const char *call_file(Dwarf_Die *inlined, int *line)
{
	Dwarf_Attribute attribute;
	Dwarf_Word file, number;
	Dwarf_Files *files;
	Dwarf_Die cu;
	size_t n;

	if (!dwarf_diecu(inlined, &cu, NULL, NULL) || dwarf_getsrcfiles(&cu, &files, &n) != 0)
		return NULL;
	if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_file, &attribute), &file) != 0 || file >= n)
		return NULL;
	if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_line, &attribute), &number) != 0)
		return NULL;
	*line = (int)number;
	return dwarf_filesrc(files, file, NULL, NULL);
}

/* The compilation unit of pc. clang writes no table of their addresses, so that all may have to be asked. */
static Dwarf_Die *unit_of(Dwfl_Module *m, Dwarf_Addr pc, Dwarf_Addr *bias)
{
	Dwarf_Die *cu = dwfl_module_addrdie(m, pc, bias);

	if (!cu)
		while ((cu = dwfl_module_nextcu(m, cu, bias)) && dwarf_haspc(cu, pc - *bias) != 1)
			;
	return cu;
}

/* The source file and line of pc: the innermost one that is not in a wrapper, among the functions inlined there. */
static const char *line_of(Dwfl_Module *m, Dwarf_Addr pc, int *line)
{
	Dwarf_Addr bias = 0;
	Dwarf_Die *cu = unit_of(m, pc, &bias), *scopes = NULL;
	Dwarf_Line *l = cu ? dwarf_getsrc_die(cu, pc - bias) : NULL;
	const char *file = l && dwarf_lineno(l, line) == 0 ? dwarf_linesrc(l, NULL, NULL) : NULL;
	int i, n;

	if (!file || !is_wrapper(file))
		return file;
	n = dwarf_getscopes(cu, pc - bias, &scopes);
	for (i = 0; i < n && file && is_wrapper(file); i++)
		if (dwarf_tag(&scopes[i]) == DW_TAG_inlined_subroutine)
			file = call_file(&scopes[i], line);
	free(scopes);
	return file;
}

/* The preload stands between the program and the C library. */
static bool is_ours(Dwfl_Module *m)
{
	const char *path = dwfl_module_info(m, NULL, NULL, NULL, NULL, NULL, NULL, NULL);

	return path && strncmp(base_name(path), "libwarpsafe", 11) == 0;
}

static void describe(void *return_address, struct place *p)
{
	Dwarf_Addr pc = (Dwarf_Addr)(uintptr_t)return_address - 1, offset;
	Dwfl_Module *m = module_of(pc);
	struct ws_buf b = {0};
	const char *file, *name;
	GElf_Sym sym;
	int line = 0;

	file = m ? line_of(m, pc, &line) : NULL;
	name = m ? dwfl_module_addrinfo(m, pc, &offset, &sym, NULL, NULL, NULL) : NULL;
	p->ours = m && is_ours(m);
	p->file = file && line > 0 ? ws_strdup(file) : NULL;
	p->line = (uint32_t)line;
	p->symbol = name ? ws_strdup(name) : NULL;
	if (file && line > 0) {
		p->wrapper = is_wrapper(file);
		ws_buf_printf(&b, " at %s:%d", base_name(file), line);
	} else if (name) {
		char *plain = ws_demangle(name);

		p->wrapper = strncmp(plain, "cudaMalloc", 10) == 0; /* the template, not inlined */
		ws_buf_printf(&b, " in %s+0x%llx", plain, (unsigned long long)offset + 1);
		free(plain);
	}
	p->text = b.data ? b.data : ws_strdup("");
}

static const struct place *place_of(void *return_address)
{
	struct place *p = ws_map_get(&known, return_address);

	if (!p) {
		p = ws_alloc(sizeof *p);
		describe(return_address, p);
		ws_map_put(&known, return_address, p);
	}
	return p;
}

/* The place of a call from `caller`; further out as long as that is a wrapper. */
static const struct place *outer_place(void *caller)
{
	const struct place *p = place_of(caller);
	void *frames[MAX_FRAMES];
	int n, i;

	if (!p->wrapper)
		return p;
	n = backtrace(frames, MAX_FRAMES);
	for (i = 0; i < n && frames[i] != caller; i++)
		;
	for (i++; p->wrapper && i < n; i++)
		p = place_of(frames[i]);
	return p;
}

char *ws_origin(const char *call, const void *caller)
{
	struct ws_buf b = {0};

	pthread_mutex_lock(&lock);
	ws_buf_printf(&b, "%s%s", call, outer_place((void *)(uintptr_t)caller)->text);
	pthread_mutex_unlock(&lock);
	return b.data;
}

/* Between a launch and the runtime's entry point are functions that the compiler made: one with the kernel's own name, one
 * with "device_stub" in it (nvcc, clang), and nvcc's "cudaLaunchKernel_helper". */
static bool is_stub(const char *function, const char *kernel)
{
	char *plain;
	bool yes;

	if (!function || strstr(function, "device_stub") || strstr(function, "cudaLaunchKernel"))
		return function != NULL;
	plain = ws_demangle(function);
	yes = strcmp(plain, kernel) == 0;
	free(plain);
	return yes;
}

static const char *inlined_name(Dwarf_Die *scope)
{
	Dwarf_Attribute attribute;
	const char *name = dwarf_formstring(dwarf_attr_integrate(scope, DW_AT_linkage_name, &attribute));

	return name ? name : dwarf_diename(scope);
}

/* A stub may have been inlined into the function that launches: its call is the place then. false: all of it is stub. */
static bool out_of_stubs(const struct place *p, void *frame, const char *kernel, const char **file, uint32_t *line)
{
	Dwarf_Addr pc = (Dwarf_Addr)(uintptr_t)frame - 1, bias = 0;
	Dwfl_Module *m = module_of(pc);
	Dwarf_Die *cu = m ? unit_of(m, pc, &bias) : NULL, *scopes = NULL;
	int n = cu ? dwarf_getscopes(cu, pc - bias, &scopes) : 0, at = (int)p->line;
	bool stub = is_stub(p->symbol, kernel);

	*file = p->file;
	for (int i = 0; i < n && !stub; i++)
		if (dwarf_tag(&scopes[i]) == DW_TAG_inlined_subroutine && is_stub(inlined_name(&scopes[i]), kernel))
			*file = call_file(&scopes[i], &at);
	free(scopes);
	*line = (uint32_t)at;
	return !stub && *file;
}

bool ws_where(void *const *frames, const char *name, const char **file, uint32_t *line)
{
	bool found = false;
	size_t i;

	pthread_mutex_lock(&lock);
	for (i = 0; frames[i] && !found; i++) {
		const struct place *p = place_of(frames[i]);

		found = p->file && !p->ours && !p->wrapper && out_of_stubs(p, frames[i], name, file, line);
	}
	pthread_mutex_unlock(&lock);
	return found;
}

/* wrap_load.c - calls that load device code, and those by which a program comes to its kernels. */
#include <stdlib.h>
#include <string.h>

#include "real/real_priv.h"
#include "rewrite/rewrite.h"

/* A call that loads the program's code, and what it gives to the driver. */
struct load {
	void **out;
	const void *data;                    /* the code; NULL: it is not there */
	size_t len;                          /* 0: as long as it says */
	unsigned njit, n;
	int *jit, *options;
	void **jit_values, **values;
	bool library;
	int (*rewritten)(const struct load *l, const void *cubin);
	struct ws_real_code *code;           /* what is known of it */
};

static void look(struct load *l)
{
	struct ws_real_jit jit = { l->njit, l->jit, l->jit_values };

	l->code = ws_real_code_look(l->data, l->len, l->library, &jit);
}

/* The code of a module whose rewritten form the driver did not load is the program's own. */
static void give_up(struct ws_real_code *c, int e)
{
	struct ws_buf why = { 0 };

	ws_buf_printf(&why, "the driver does not load the rewritten module (error %d)", e);
	ws_real_tell("error: %s, so the program's own runs", why.data);
	ws_real_code_give_up(c, why.data);
}

/* Machine code of a toolkit's compiler that the driver does not take may be of a newer one: then it compiles the module itself, and all that
 * come. */
static int load_again(struct load *l, int e)
{
	ws_real_code_free(l->code);
	look(l);
	return l->code && l->code->cubin ? l->rewritten(l, l->code->cubin) : e;
}

/* Loads the rewritten module if there is one; false: the program's own is to be loaded. */
static bool load_cubin(struct load *l)
{
	int e;

	if (!l->code || !l->code->cubin)
		return false;
	e = l->rewritten(l, l->code->cubin);
	if (e && l->code->whole && ws_real_compile_refused(e))
		e = load_again(l, e);
	if (e && l->code && l->code->cubin)
		give_up(l->code, e);
	return !e;
}

/* Ends a load: the handle is known from now on if it went well. */
static int loaded(struct load *l, int e)
{
	if (!e && l->out)
		ws_real_module_add(*l->out, l->code, l->library);
	else
		ws_real_code_free(l->code);
	return e;
}

static int module_data(const struct load *l, const void *cubin)
{
	return ws_real.cuModuleLoadData(l->out, cubin);
}

static int module_data_ex(const struct load *l, const void *cubin)
{
	return ws_real.cuModuleLoadDataEx(l->out, cubin, l->njit, l->jit, l->jit_values);
}

static int library_data(const struct load *l, const void *cubin)
{
	return ws_real.cuLibraryLoadData(l->out, cubin, l->jit, l->jit_values, l->njit, l->options, l->values, l->n);
}

int ws_real_cuModuleLoadData(void **out, const void *image)
{
	struct load l = { .out = out, .data = image, .rewritten = module_data };

	look(&l);
	return loaded(&l, load_cubin(&l) ? 0 : ws_real.cuModuleLoadData(out, image));
}

int ws_real_cuModuleLoadDataEx(void **out, const void *image, unsigned n, int *options, void **values)
{
	struct load l = { .out = out, .data = image, .njit = n, .jit = options, .jit_values = values, .rewritten = module_data_ex };

	look(&l);
	return loaded(&l, load_cubin(&l) ? 0 : ws_real.cuModuleLoadDataEx(out, image, n, options, values));
}

/* A cubin is no fat binary: it goes by the other call. */
int ws_real_cuModuleLoadFatBinary(void **out, const void *image)
{
	struct load l = { .out = out, .data = image, .rewritten = module_data };

	look(&l);
	return loaded(&l, load_cubin(&l) ? 0 : ws_real.cuModuleLoadFatBinary(out, image));
}

int ws_real_cuModuleLoad(void **out, const char *path)
{
	struct load l = { .out = out, .rewritten = module_data };
	char *file = path ? ws_read_file(path, &l.len) : NULL;
	bool fine;

	l.data = file;
	if (file && l.len)
		look(&l);
	fine = load_cubin(&l);
	free(file);
	return loaded(&l, fine ? 0 : ws_real.cuModuleLoad(out, path));
}

int ws_real_cuLibraryLoadData(void **out, const void *code, int *jit, void **jit_values, unsigned njit, int *options,
                              void **values, unsigned n)
{
	struct load l = { .out = out, .data = code, .njit = njit, .jit = jit, .jit_values = jit_values, .n = n, .options = options,
	                  .values = values, .library = true, .rewritten = library_data };

	look(&l);
	return loaded(&l, load_cubin(&l) ? 0 : ws_real.cuLibraryLoadData(out, code, jit, jit_values, njit, options, values, n));
}

int ws_real_cuLibraryLoadFromFile(void **out, const char *path, int *jit, void **jit_values, unsigned njit, int *options,
                                  void **values, unsigned n)
{
	struct load l = { .out = out, .njit = njit, .jit = jit, .jit_values = jit_values, .n = n, .options = options,
	                  .values = values, .library = true, .rewritten = library_data };
	char *file = path ? ws_read_file(path, &l.len) : NULL;
	bool fine;

	l.data = file;
	if (file && l.len)
		look(&l);
	fine = ws_real.cuLibraryLoadData && load_cubin(&l);
	free(file);
	return loaded(&l, fine ? 0 : ws_real.cuLibraryLoadFromFile(out, path, jit, jit_values, njit, options, values, n));
}

/* The handle is forgotten first: another thread may get it again as soon as the driver has let it go. */
int ws_real_cuModuleUnload(void *module)
{
	bool stays = !ws_real_transact_unload(module);

	ws_real_module_remove(module);
	return stays ? 0 : ws_real.cuModuleUnload(module);
}

int ws_real_cuLibraryUnload(void *library)
{
	bool stays = !ws_real_transact_unload(library);

	ws_real_module_remove(library);
	return stays ? 0 : ws_real.cuLibraryUnload(library);
}

/* ---- functions ---- */
int ws_real_cuModuleGetFunction(void **out, void *module, const char *name)
{
	int e = ws_real.cuModuleGetFunction(out, module, name);

	if (!e && out)
		ws_real_function_add(*out, module, name);
	return e;
}

int ws_real_cuLibraryGetKernel(void **out, void *library, const char *name)
{
	int e = ws_real.cuLibraryGetKernel(out, library, name);

	if (!e && out)
		ws_real_function_add(*out, library, name);
	return e;
}

/* ---- all functions of a module: our kernels beside those with checks are none of the program's ---- */
static bool is_ours(const char *name)
{
	return !strncmp(name, WS_RW_PLAIN, strlen(WS_RW_PLAIN)) || !strncmp(name, WS_RW_SURE, strlen(WS_RW_SURE)) ||
	       !strncmp(name, WS_RW_PARTS, strlen(WS_RW_PARTS));
}

typedef int enumerate(void **out, unsigned n, void *of);
typedef int name_of(const char **name, void *handle);

static int all_of(void **out, unsigned n, void *of, enumerate *ask, name_of *name_it)
{
	unsigned ours = ws_real_kernels_beside(of), all = out && name_it ? n + ours : 0, used = 0;
	void **list = ws_alloc((all + 1) * sizeof *list);
	int e = all ? ask(list, all, of) : ask(out, n, of);
	const char *name;

	for (unsigned i = 0; !e && i < all && used < n; i++) {
		if (!list[i] || name_it(&name, list[i]))
			name = NULL;
		if (ours && name && is_ours(name))
			continue;
		if (name)
			ws_real_function_add(list[i], of, name);
		if (list[i])
			out[used++] = list[i];
	}
	free(list);
	return e;
}

int ws_real_cuModuleEnumerateFunctions(void **out, unsigned n, void *module)
{
	return all_of(out, n, module, ws_real.cuModuleEnumerateFunctions, ws_real.cuFuncGetName);
}

int ws_real_cuLibraryEnumerateKernels(void **out, unsigned n, void *library)
{
	return all_of(out, n, library, ws_real.cuLibraryEnumerateKernels, ws_real.cuKernelGetName);
}

int ws_real_cuModuleGetFunctionCount(unsigned *count, void *module)
{
	int e = ws_real.cuModuleGetFunctionCount(count, module);

	if (!e && count)
		*count -= ws_real_kernels_beside(module);
	return e;
}

int ws_real_cuLibraryGetKernelCount(unsigned *count, void *library)
{
	int e = ws_real.cuLibraryGetKernelCount(count, library);

	if (!e && count)
		*count -= ws_real_kernels_beside(library);
	return e;
}

int ws_real_cuLibraryGetModule(void **out, void *library)
{
	int e = ws_real.cuLibraryGetModule(out, library);

	if (!e && out)
		ws_real_module_alias(*out, library);
	return e;
}

int ws_real_cuKernelGetFunction(void **out, void *kernel)
{
	int e = ws_real.cuKernelGetFunction(out, kernel);

	if (!e && out)
		ws_real_function_alias(*out, kernel);
	return e;
}

enum { MOST_DYNAMIC_SHARED = 8 };    /* CU_FUNC_ATTRIBUTE_* */

struct setting {
	void *function;
	bool library;                        /* it is a CUkernel, for which the attribute is set on a device */
	int device;
};

static int set_for(const struct setting *s, void *f, int attribute, int value)
{
	return s->library ? ws_real.cuKernelSetAttribute(attribute, value, f, s->device) : ws_real.cuFuncSetAttribute(f, attribute, value);
}

/* As much as there is beside the checks' own: 2 KB, what its alignment may take, twice that in modules with tensors. false: that is
 * not what the driver had against it. */
static bool set_most(const struct setting *s, int value)
{
	static const int ours[] = { WS_RACE_BLOCK_BYTES, WS_REAL_SHARED_OF_CHECKS, 4096, WS_REAL_SHARED_WITH_TENSORS };

	for (size_t k = 0; k < WS_COUNT(ours); k++)
		if (value > ours[k] && !set_for(s, s->function, MOST_DYNAMIC_SHARED, value - ours[k]))
			return true;
	return false;
}

/* Dynamic shared memory that the checks leave no room for is refused. The kernel as it is may have it, and is launched with it
 * (ws_real_race_make_room); where there is none, launches with less still work. */
static int set_attribute(const struct setting *s, int attribute, int value, const struct ws_real_checked_kernel *k, void *plain)
{
	int own = plain ? set_for(s, plain, attribute, value) : -1;
	int e = set_for(s, s->function, attribute, value);

	ws_real_plain_forget();
	if (!e || attribute != MOST_DYNAMIC_SHARED || !k || k->why || (plain && own))
		return e;
	if (plain)
		ws_real_race_takes_all(s->function);
	return plain || set_most(s, value) ? 0 : e;
}

int ws_real_cuFuncSetAttribute(void *f, int attribute, int value)
{
	const struct ws_real_checked_kernel *k = ws_real_checked_kernel_of(f);

	return set_attribute(&(struct setting){ f, false, 0 }, attribute, value, k, ws_real_plain_for(f, k, 0));
}

int ws_real_cuKernelSetAttribute(int attribute, int value, void *kernel, int device)
{
	const struct ws_real_checked_kernel *k = ws_real_checked_kernel_of(kernel);

	return set_attribute(&(struct setting){ kernel, true, device }, attribute, value, k, ws_real_plain_in_library(kernel, k));
}

/* ---- the end of a context, and with it of its handles ---- */
int ws_real_cuCtxDestroy(void *context)
{
	ws_real_times_forget(context);
	ws_real_race_forget(context);
	ws_real_transact_forget(context);
	ws_real_functions_forget();
	return ws_real.cuCtxDestroy(context);
}

int ws_real_cuCtxDestroy_v2(void *context)
{
	ws_real_times_forget(context);
	ws_real_race_forget(context);
	ws_real_transact_forget(context);
	ws_real_functions_forget();
	return ws_real.cuCtxDestroy_v2(context);
}

int ws_real_cuDevicePrimaryCtxReset(int device)
{
	ws_real_times_forget(NULL);
	ws_real_race_forget(NULL);
	ws_real_transact_forget(NULL);
	ws_real_functions_forget();
	return ws_real.cuDevicePrimaryCtxReset(device);
}

int ws_real_cuDevicePrimaryCtxReset_v2(int device)
{
	ws_real_times_forget(NULL);
	ws_real_race_forget(NULL);
	ws_real_transact_forget(NULL);
	ws_real_functions_forget();
	return ws_real.cuDevicePrimaryCtxReset_v2(device);
}

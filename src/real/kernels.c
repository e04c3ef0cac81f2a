/* kernels.c - modules, functions and kernels by their handles, and how often each kernel was launched. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/demangle.h"
#include "cuda/map.h"
#include "real/real_priv.h"
#include "report/keep.h"

/* A kernel is told once for its name and why it cannot be checked, however often its module is loaded. */
struct ws_real_kernel {
	char *name, *plain, *why;            /* why NULL: it can be checked */
	char *unfollowed;                    /* but these accesses of it are not; NULL = all are */
	atomic_ullong launches;
	atomic_ullong most_shared;           /* launches with more dynamic shared memory were not checked; 0 = there were none */
	atomic_bool too_many;                /* cooperative launches of more blocks than run at a time with checks were not checked */
	uint64_t told;                       /* of launches; touched by the saving of the report alone */
	struct ws_real_times times;
	struct ws_real_kernel *same_hash;
};

struct module {
	struct ws_real_code *code;
	unsigned users;                      /* handles: a library and its modules */
	void *library;                       /* its handle; NULL = it is a module of its own */
};

struct function {
	struct ws_real_kernel *kernel;
	void *module;                        /* handle; not to be followed */
	bool learned;                        /* at a launch, and not from the call that made it */
	void *plain_of;                      /* it stands beside this one, without checks (plain.c); NULL = beside none */
};

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static struct ws_map modules, functions, kernels;
static struct ws_real_kernel **all;
static size_t nall, capall;
static atomic_bool news;             /* launches since the report was brought up to date, and it was told to be saved */

/* ---- kernels ---- */
static bool has_name(const char *names, const char *name)
{
	for (; *names; names += strlen(names) + 1)
		if (strcmp(names, name) == 0)
			return true;
	return false;
}

/* What the pass for races says of the kernel; NULL: there is no such pass, or it does not know the kernel. */
static const struct ws_real_checked_kernel *checked_kernel(const struct module *m, const char *name)
{
	const struct ws_real_checked_kernel *k = NULL;

	for (size_t i = 0; m && m->code && i < m->code->ntables && !k; i++)
		k = ws_real_table_kernel(m->code->tables[i], name);
	return k;
}

/* Why the kernel cannot be checked; NULL = it can. */
static const char *why_not(const struct module *m, const char *name)
{
	const struct ws_real_checked_kernel *k = checked_kernel(m, name);

	if (!m || !m->code)
		return "its module was loaded by a call that warpsafe does not see";
	if (m->code->why && !(m->code->entries && has_name(m->code->entries, name)))
		return m->code->why;
	return k ? k->why : NULL;
}

static bool same_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

static struct ws_real_kernel *kernel_of(const struct module *m, const char *name)
{
	const char *why = why_not(m, name);
	const struct ws_real_checked_kernel *checked = why ? NULL : checked_kernel(m, name);
	uint64_t h = ws_hash(name, strlen(name)) ^ (why ? ws_hash(why, strlen(why)) : 0);
	const void *key = (const void *)(uintptr_t)(h | 1);
	struct ws_real_kernel *first = ws_map_get(&kernels, key), *k;

	for (k = first; k; k = k->same_hash)
		if (strcmp(k->name, name) == 0 && same_text(k->why, why))
			return k;
	k = ws_alloc(sizeof *k);
	k->name = ws_strdup(name);
	k->plain = ws_demangle(name);
	k->why = why ? ws_strdup(why) : NULL;
	k->unfollowed = checked && checked->unfollowed ? ws_strdup(checked->unfollowed) : NULL;
	k->same_hash = first;
	ws_map_put(&kernels, key, k);
	*WS_PUSH(all, nall, capall) = k;
	return k;
}

/* ---- modules ---- */
static void forget_functions_of(const void *module)
{
	for (size_t i = 0; i < functions.cap; i++) {
		struct function *f = functions.values[i];

		if (f && f->module == module) {
			ws_map_remove(&functions, functions.keys[i]);
			free(f);
		}
	}
}

static void remove_module(void *handle)
{
	struct module *m = ws_map_get(&modules, handle);

	if (!m)
		return;
	forget_functions_of(handle);
	ws_map_remove(&modules, handle);
	if (--m->users)
		return;
	ws_real_code_free(m->code);
	free(m);
}

/* A handle that is there already is one of a module that ended with its context. */
static void put_module(void *handle, struct module *m)
{
	m->users++;
	remove_module(handle);
	ws_map_put(&modules, handle, m);
}

void ws_real_module_add(void *handle, struct ws_real_code *code, bool library)
{
	struct module *m;

	if (!code || !handle) {
		ws_real_code_free(code);
		return;
	}
	m = ws_alloc(sizeof *m);
	m->code = code;
	m->library = library ? handle : NULL;
	pthread_rwlock_wrlock(&lock);
	put_module(handle, m);
	pthread_rwlock_unlock(&lock);
}

void ws_real_module_alias(void *handle, void *library)
{
	struct module *m;

	if (!ws_real_session())
		return;
	pthread_rwlock_wrlock(&lock);
	m = ws_map_get(&modules, library);
	if (m && handle != library && ws_map_get(&modules, handle) != m)
		put_module(handle, m);
	pthread_rwlock_unlock(&lock);
}

void ws_real_module_remove(void *handle)
{
	if (!ws_real_session())
		return;
	pthread_rwlock_wrlock(&lock);
	remove_module(handle);
	pthread_rwlock_unlock(&lock);
	ws_real_race_shared_forget();
}

/* ---- functions ---- */
static struct ws_real_kernel *put_function(void *handle, void *module, struct ws_real_kernel *k, bool learned)
{
	struct function *f = ws_map_get(&functions, handle);

	if (!f)
		f = ws_alloc(sizeof *f);
	*f = (struct function){ k, module, learned, NULL };
	ws_map_put(&functions, handle, f);
	return k;
}

void ws_real_function_add(void *handle, void *module, const char *name)
{
	if (!handle || !name || !ws_real_session())
		return;
	pthread_rwlock_wrlock(&lock);
	put_function(handle, module, kernel_of(ws_map_get(&modules, module), name), false);
	pthread_rwlock_unlock(&lock);
}

void ws_real_function_alias(void *function, void *kernel)
{
	struct ws_real_kernel *k = ws_real_kernel_of(kernel);
	struct function *f;

	if (!k || !function || function == kernel)
		return;
	pthread_rwlock_wrlock(&lock);
	f = ws_map_get(&functions, kernel);
	put_function(function, f ? f->module : NULL, k, false);
	pthread_rwlock_unlock(&lock);
}

void ws_real_function_is_plain(void *plain, void *function)
{
	struct ws_real_kernel *k = ws_real_kernel_of(function);
	struct function *f;

	pthread_rwlock_wrlock(&lock);
	f = ws_map_get(&functions, function);
	if (f && ws_map_get(&functions, plain) != f) {
		put_function(plain, f->module, k, true);
		f = ws_map_get(&functions, plain);
		f->plain_of = function;
	}
	pthread_rwlock_unlock(&lock);
}

void *ws_real_function_of_program(void *function)
{
	const struct function *f;
	void *of;

	if (!ws_real_session())
		return function;
	pthread_rwlock_rdlock(&lock);
	f = ws_map_get(&functions, function);
	of = f && f->plain_of ? f->plain_of : function;
	pthread_rwlock_unlock(&lock);
	return of;
}

void ws_real_functions_forget(void)
{
	if (!ws_real_session())
		return;
	ws_real_race_shared_forget();
	pthread_rwlock_wrlock(&lock);
	for (size_t i = 0; i < functions.cap; i++) {
		struct function *f = functions.values[i];

		if (f && f->learned) {
			ws_map_remove(&functions, functions.keys[i]);
			free(f);
		}
	}
	pthread_rwlock_unlock(&lock);
}

/* Is `module` known? If not, it may be that of a library of which the program never asked for it, as the runtime and
 * graphs do: then it is from now on. */
static void find_library(void *module)
{
	void **list = NULL, *its = NULL;
	size_t n = 0, cap = 0;

	pthread_rwlock_rdlock(&lock);
	for (size_t i = 0; !ws_map_get(&modules, module) && i < modules.cap; i++) {
		struct module *m = modules.values[i];

		if (m && m->library)
			*WS_PUSH(list, n, cap) = (void *)modules.keys[i];
	}
	pthread_rwlock_unlock(&lock);
	for (size_t i = 0; i < n && its != module; i++)
		if (ws_real.cuLibraryGetModule && !ws_real.cuLibraryGetModule(&its, list[i]) && its == module)
			ws_real_module_alias(module, list[i]);
	free(list);
}

/* Asks the driver: a function that came to the program by a call which is not ours. */
static struct ws_real_kernel *learn(void *handle)
{
	const char *name = NULL;
	void *module = NULL;
	struct ws_real_kernel *k;

	if (!ws_real.cuFuncGetName || ws_real.cuFuncGetName(&name, handle))
		name = NULL;
	if (!ws_real.cuFuncGetModule || ws_real.cuFuncGetModule(&module, handle))
		module = NULL;
	if (!name && !module && ws_real.cuKernelGetName && !ws_real.cuKernelGetName(&name, handle) &&
	    ws_real.cuKernelGetLibrary)
		ws_real.cuKernelGetLibrary(&module, handle);
	if (module)
		find_library(module);
	pthread_rwlock_wrlock(&lock);
	name = name ? name : "a kernel whose name the driver does not tell";
	k = put_function(handle, module, kernel_of(ws_map_get(&modules, module), name), true);
	pthread_rwlock_unlock(&lock);
	return k;
}

struct ws_real_kernel *ws_real_kernel_of(void *handle)
{
	struct ws_real_kernel *k;
	struct function *f;

	if (!handle || !ws_real_session())
		return NULL;
	pthread_rwlock_rdlock(&lock);
	f = ws_map_get(&functions, handle);
	k = f ? f->kernel : NULL;
	pthread_rwlock_unlock(&lock);
	return k ? k : learn(handle);
}

struct ws_real_code *ws_real_code_of(void *function, void **module, bool *library)
{
	const struct function *f;
	struct module *m;

	if (!ws_real_kernel_of(function))
		return NULL;
	pthread_rwlock_rdlock(&lock);
	f = ws_map_get(&functions, function);
	m = f ? ws_map_get(&modules, f->module) : NULL;
	if (m) {
		*module = m->library ? m->library : f->module;
		*library = m->library;
	}
	pthread_rwlock_unlock(&lock);
	return m ? m->code : NULL;
}

const struct ws_real_checked_kernel *ws_real_checked_kernel_of(void *function)
{
	const struct ws_real_checked_kernel *k = NULL;
	const struct function *f;

	if (!ws_real_kernel_of(function))
		return NULL;
	pthread_rwlock_rdlock(&lock);
	f = ws_map_get(&functions, function);
	if (f && !f->plain_of)
		k = checked_kernel(ws_map_get(&modules, f->module), f->kernel->name);
	pthread_rwlock_unlock(&lock);
	return k;
}

/* Linked parts may have kernels of one name, of which one is kept. */
static unsigned beside_first(const struct ws_real_code *c, size_t table, const struct ws_real_checked_kernel *k)
{
	unsigned n = (unsigned)k->has_plain + k->sure.has_sure + k->sure.has_told + (k->nparts != 0);

	for (size_t i = 0; i < table && n; i++)
		if (ws_real_table_kernel(c->tables[i], k->name))
			return 0;
	return n;
}

unsigned ws_real_kernels_beside(void *handle)
{
	const struct module *m;
	unsigned n = 0;

	pthread_rwlock_rdlock(&lock);
	m = ws_map_get(&modules, handle);
	for (size_t i = 0; m && m->code && i < m->code->ntables; i++)
		for (uint32_t k = 0; k < m->code->tables[i]->nkernels; k++)
			n += beside_first(m->code, i, &m->code->tables[i]->kernels[k]);
	pthread_rwlock_unlock(&lock);
	return n;
}

const char *ws_real_checked_name(const struct ws_real_kernel *k)
{
	return k->why ? NULL : k->plain;
}

/* ---- launches ---- */
void ws_real_launched(struct ws_real_kernel *k)
{
	if (!k)
		return;
	atomic_fetch_add(&k->launches, 1);
	ws_real_count(WS_FIG_WITH_CHECKS, !k->why);
	if (!atomic_load(&news) && !atomic_exchange(&news, true))
		ws_keep_touch();
}

void ws_real_leaves_no_room(struct ws_real_kernel *k, uint64_t most)
{
	if (k)
		atomic_store(&k->most_shared, most);
}

void ws_real_runs_too_many(struct ws_real_kernel *k)
{
	if (k)
		atomic_store(&k->too_many, true);
}

struct ws_real_times *ws_real_times_of(struct ws_real_kernel *k)
{
	return &k->times;
}

void ws_real_tell_times(void)
{
	ws_real_times_read(true);
	pthread_rwlock_rdlock(&lock);
	for (size_t i = 0; i < nall; i++)
		if (all[i]->times.launches)
			ws_real_tell("GPU time of %s: %.3f ms in %llu launch%s", all[i]->plain, (double)all[i]->times.ns * 1e-6,
			             (unsigned long long)all[i]->times.launches, all[i]->times.launches == 1 ? "" : "es");
	pthread_rwlock_unlock(&lock);
}

static void tell_unfollowed(struct ws_report *r, const struct ws_real_kernel *k)
{
	struct ws_buf b = { 0 };

	ws_buf_printf(&b, "some of its accesses: %s", k->unfollowed);
	ws_report_unchecked(r, k->plain, b.data);
	ws_buf_free(&b);
}

static void tell_no_room(struct ws_report *r, const struct ws_real_kernel *k, uint64_t most)
{
	struct ws_buf b = { 0 };

	ws_buf_printf(&b, "some of its launches: those with more than %llu bytes of dynamic shared memory, which leave the checks' own "
	              "2 KB no room", (unsigned long long)most);
	ws_report_unchecked(r, k->plain, b.data);
	ws_buf_free(&b);
}

void ws_real_gather(void *report)
{
	atomic_store(&news, false);
	pthread_rwlock_rdlock(&lock);
	for (size_t i = 0; i < nall; i++) {
		struct ws_real_kernel *k = all[i];
		uint64_t n = atomic_load(&k->launches);

		if (n == k->told)
			continue;
		ws_report_kernel(report, &(struct ws_kernel_row){ .name = k->plain, .launches = n - k->told,
		                                                  .checked = !k->why });
		if (k->why)
			ws_report_unchecked(report, k->plain, k->why);
		else if (k->unfollowed)
			tell_unfollowed(report, k);
		if (atomic_load(&k->most_shared))
			tell_no_room(report, k, atomic_load(&k->most_shared));
		if (atomic_load(&k->too_many))
			ws_report_unchecked(report, k->plain, "some of its launches: cooperative ones of more blocks than run at a time with checks");
		k->told = n;
	}
	pthread_rwlock_unlock(&lock);
	ws_real_race_gather(report);
}

uint64_t ws_real_variable(void *module, bool library, const char *name, size_t *bytes)
{
	uint64_t address = 0;
	int e = -1;

	*bytes = 0;
	if (library && ws_real.cuLibraryGetGlobal)
		e = ws_real.cuLibraryGetGlobal(&address, bytes, module, name);
	else if (!library && ws_real.cuModuleGetGlobal_v2)
		e = ws_real.cuModuleGetGlobal_v2(&address, bytes, module, name);
	return e ? 0 : address;
}

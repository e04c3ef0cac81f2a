/* plain.c - the kernels that stand beside a checked one: without hooks (rewrite/copy.c), for launches of which the host knows that
 * nothing in them needs a check: they run the program's own code, with its registers and its shared memory; with those checks alone
 * that no proof spares (rewrite/sure.h), which runs as the checked one does, with its parameters and its shared memory; and without hooks, but with
 * looks whether accesses stay in parts (rewrite/parts.h), with the checked one's parameters and the program's shared memory. */
#include <pthread.h>
#include <string.h>

#include "real/real_priv.h"
#include "rewrite/rewrite.h"

enum { STATIC_SHARED = 1, REGISTERS = 4, MOST_DYNAMIC_SHARED = 8, CARVEOUT = 9 };   /* CU_FUNC_ATTRIBUTE_* */
enum { USUAL_SHARED = 48 << 10, UNSAID = -1 };

enum kind { PLAIN, SURE, TOLD, PARTS };
static const char *const prefixes[] = { [PLAIN] = WS_RW_PLAIN, [SURE] = WS_RW_SURE, [TOLD] = WS_RW_TOLD, [PARTS] = WS_RW_PARTS };

struct plain {
	void *function, *context;            /* the checked one's; function NULL = free */
	uint64_t kind;                       /* of enum kind; a number without gaps beside it, for it is hashed */
	void *plain;                         /* CUfunction; NULL: there is none */
	unsigned most;                       /* dynamic shared memory that it may be launched with */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct plain looks[256];

void ws_real_plain_forget(void)
{
	pthread_mutex_lock(&lock);
	memset(looks, 0, sizeof looks);
	pthread_mutex_unlock(&lock);
}

/* In the module of the checked one: a CUfunction, or in a library a CUkernel. */
static void *find(void *function, const char *prefix, const char *of, bool *library)
{
	struct ws_buf name = { 0 };
	void *module = NULL, *f = NULL;
	int e = -1;

	*library = false;
	if (!ws_real_code_of(function, &module, library) || !module)
		return NULL;
	ws_buf_printf(&name, "%s%s", prefix, of);
	if (!*library && ws_real.cuModuleGetFunction)
		e = ws_real.cuModuleGetFunction(&f, module, name.data);
	else if (*library && ws_real.cuLibraryGetKernel)
		e = ws_real.cuLibraryGetKernel(&f, module, name.data);
	ws_buf_free(&name);
	return e ? NULL : f;
}

/* For the current context. */
static void *find_function(void *function, const char *prefix, const char *of)
{
	bool library;
	void *f = find(function, prefix, of, &library);

	if (f && library && (!ws_real.cuKernelGetFunction || ws_real.cuKernelGetFunction(&f, f)))
		return NULL;
	return f;
}

void *ws_real_plain_in_library(void *kernel, const struct ws_real_checked_kernel *k)
{
	bool library;
	void *f = k && !k->why && k->has_plain ? find(kernel, WS_RW_PLAIN, k->name, &library) : NULL;

	return f && library ? f : NULL;
}

/* As the program has set the other one; a CUkernel has no attributes. */
static bool same_attributes(const struct plain *p)
{
	void *asked = p->function;
	int value;

	if (!ws_real_attribute_of(&asked, CARVEOUT, &value))
		return true;                         /* an old driver does not know it: a wish, no more */
	return value == UNSAID || !ws_real.cuFuncSetAttribute(p->plain, CARVEOUT, value);
}

/* By the size of dynamic shared memory a launch is told more (device/race.h), and what that says depends on the static one. */
static bool same_static(const struct plain *p)
{
	void *function = p->function;
	int checked, own;

	return ws_real_attribute_of(&function, STATIC_SHARED, &checked) && !ws_real.cuFuncGetAttribute(&own, STATIC_SHARED, p->plain) &&
	       own == checked;
}

static bool has_checks(const struct plain *p) { return p->kind == SURE || p->kind == TOLD; }

static void look_up(struct plain *p, const char *name)
{
	bool can = ws_real.cuFuncGetAttribute && ws_real.cuFuncSetAttribute;

	p->plain = can ? find_function(p->function, prefixes[p->kind], name) : NULL;
	if (p->plain && (!same_attributes(p) || (has_checks(p) && !same_static(p))))
		p->plain = NULL;
	if (p->plain)
		ws_real_function_is_plain(p->plain, p->function);
	if (p->plain && ws_real.cuFuncLoad)
		ws_real.cuFuncLoad(p->plain);        /* else it would be in the launch */
}

static bool has(void *f, unsigned dynamic)
{
	int most;

	return !ws_real.cuFuncGetAttribute(&most, MOST_DYNAMIC_SHARED, f) && most >= 0 && (unsigned)most >= dynamic;
}

/* The checked one, which has that of the checks less than the one without; of a CUkernel the driver tells nothing, or it tells of its
 * function. */
static bool may_have(const struct plain *p, unsigned dynamic)
{
	void *function = p->function;
	int most;

	return !ws_real_attribute_of(&function, MOST_DYNAMIC_SHARED, &most) ||
	       (most >= 0 && (unsigned)most + (has_checks(p) ? 0 : WS_REAL_SHARED_WITH_TENSORS) >= dynamic);
}

/* More than the usual only if the program has asked for it. Mostly the attribute was set for both then. */
static bool allow(struct plain *p, unsigned dynamic)
{
	int fixed;

	if (dynamic <= p->most)
		return true;
	if (ws_real.cuFuncGetAttribute(&fixed, STATIC_SHARED, p->plain))
		return false;
	if (fixed + dynamic > USUAL_SHARED && !has(p->plain, dynamic) &&
	    (!may_have(p, dynamic) || ws_real.cuFuncSetAttribute(p->plain, MOST_DYNAMIC_SHARED, (int)dynamic)))
		return false;
	p->most = dynamic;
	return true;
}

static void *beside(struct plain want, const char *name, unsigned dynamic)
{
	struct plain *p;
	void *plain = NULL;

	if (ws_real.cuCtxGetCurrent(&want.context))
		return NULL;
	p = &looks[ws_hash(&want, offsetof(struct plain, plain)) % WS_COUNT(looks)];
	pthread_mutex_lock(&lock);
	if (p->function != want.function || p->context != want.context || p->kind != want.kind) {
		look_up(&want, name);
		*p = want;
	}
	if (p->plain && allow(p, dynamic))
		plain = p->plain;
	pthread_mutex_unlock(&lock);
	return plain;
}

void *ws_real_plain_for(void *function, const struct ws_real_checked_kernel *kernel, unsigned dynamic)
{
	if (!kernel || kernel->why || !kernel->has_plain)
		return NULL;
	return beside((struct plain){ .function = function }, kernel->name, dynamic);
}

void *ws_real_plain_of(const struct ws_real_launching *l)
{
	return ws_real_plain_for(l->function, l->kernel, l->dynamic);
}

void *ws_real_parts_beside(const struct ws_real_launching *l)
{
	return beside((struct plain){ .function = l->function, .kind = PARTS }, l->kernel->name, l->dynamic);
}

static void *sure_beside(const struct ws_real_launching *l, enum kind kind)
{
	return beside((struct plain){ .function = l->function, .kind = kind }, l->kernel->name, l->all);
}

/* As many blocks of the one run at a time as of the other one, if not more: their shared memory is the same. */
static bool runs_as_many(void *sure, void *function)
{
	int own, checked;

	return ws_real_attribute_of(&function, REGISTERS, &checked) && !ws_real.cuFuncGetAttribute(&own, REGISTERS, sure) && own <= checked;
}

/* Its registers may be others, which matters where blocks may wait for each other. */
void *ws_real_sure_of(const struct ws_real_launching *l, const struct ws_race_told *told)
{
	const struct ws_real_checked_kernel *k = l->kernel;
	const char *prefix = l->together ? NULL : ws_rw_sure_for(&k->sure, told->truths, l->proved);
	void *sure;

	if (!prefix)
		return NULL;
	sure = sure_beside(l, !strcmp(prefix, WS_RW_SURE) ? SURE : TOLD);
	return sure && k->waits && !runs_as_many(sure, l->function) ? NULL : sure;
}

void ws_real_beside_ready(const struct ws_real_launching *l)
{
	ws_real_plain_of(l);
	if (l->kernel->sure.has_sure)
		sure_beside(l, SURE);
	if (l->kernel->sure.has_told)
		sure_beside(l, TOLD);
}

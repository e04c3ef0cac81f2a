/* compile.c - PTX to machine code with the driver's own compiler and linker, or as a whole with a toolkit's, kept in the cache. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/version.h"
#include "real/cache.h"
#include "real/ptxas.h"
#include "real/real_priv.h"

/* ---- options of the driver's compiler ---- */
enum { ERROR_LOG = 5, ERROR_LOG_BYTES = 6, SPLIT_COMPILE = 34, LOG_BYTES = 16384, MOST_OPTIONS = 16 };   /* CUjit_option */
/* From so much text on, the driver's compiler is let work with several threads, if it is one that can. */
enum { MUCH_TEXT = 1 << 20, COMPILER_THREADS = 8, HAS_SPLIT_COMPILE = 13000 };

/* Those of the program's that change the code, by number of CUjit_option; the values are numbers, not results. */
static bool changes_code(int option)
{
	static const int those[] = {
		0,                       /* MAX_REGISTERS */
		7,                       /* OPTIMIZATION_LEVEL */
		11, 13,                  /* GENERATE_DEBUG_INFO, GENERATE_LINE_INFO */
		14,                      /* CACHE_MODE */
		30, 31, 32, 33,          /* POSITION_INDEPENDENT_CODE, MIN_CTA_PER_SM, MAX_THREADS_PER_BLOCK, OVERRIDE_* */
	};

	for (size_t i = 0; i < WS_COUNT(those); i++)
		if (those[i] == option)
			return true;
	return false;
}

struct options {
	unsigned n;
	int number[MOST_OPTIONS];
	void *value[MOST_OPTIONS];
};

static void add_option(struct options *o, int number, void *value)
{
	if (o->n < MOST_OPTIONS) {
		o->number[o->n] = number;
		o->value[o->n++] = value;
	}
}

/* ---- the context ---- */
/* The linker needs a current context; a library may be loaded without one. Then that of the first GPU is taken, and kept,
 * for making one takes long. */
static bool enter_context(bool *entered, struct ws_buf *why)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static void *primary;
	void *now = NULL;
	int e = 0;

	*entered = false;
	if (!ws_real.cuCtxGetCurrent || ws_real.cuCtxGetCurrent(&now) || now)
		return true;
	pthread_mutex_lock(&lock);
	if (!primary && ws_real.cuDevicePrimaryCtxRetain)
		e = ws_real.cuDevicePrimaryCtxRetain(&primary, 0);
	pthread_mutex_unlock(&lock);
	if (!e && primary && ws_real.cuCtxPushCurrent_v2)
		e = ws_real.cuCtxPushCurrent_v2(primary);
	*entered = !e && primary;
	if (e)
		ws_buf_printf(why, "there is no context to compile in (error %d)", e);
	return !e;
}

static void leave_context(bool entered)
{
	void *context;

	if (entered && ws_real.cuCtxPopCurrent_v2)
		ws_real.cuCtxPopCurrent_v2(&context);
}

/* ---- the linker ---- */
static int add_inputs(void *state, const struct ws_real_image *i)
{
	int e = 0;

	for (size_t k = 0; k < i->n && !e; k++) {
		const struct ws_real_part *p = &i->parts[k];

		e = p->text ? ws_real.cuLinkAddData_v2(state, WS_LINK_PTX, p->text, p->len + 1, "warpsafe", 0, NULL, NULL)
			    : ws_real.cuLinkAddData_v2(state, WS_LINK_FATBINARY, (void *)p->binary, p->binary_len, "warpsafe", 0,
			                               NULL, NULL);
	}
	return e;
}

static bool is_large(const struct ws_real_image *i)
{
	size_t text = 0;
	int version = 0;

	for (size_t k = 0; k < i->n; k++)
		text += i->parts[k].text ? i->parts[k].len : 0;
	return text >= MUCH_TEXT && ws_real.cuDriverGetVersion && !ws_real.cuDriverGetVersion(&version) &&
	       version >= HAS_SPLIT_COMPILE;
}

/* A driver that does not know the option is asked again without it. */
static int begin_link(const struct ws_real_image *i, const struct options *o, void **state)
{
	struct options split = *o;

	if (is_large(i)) {
		add_option(&split, SPLIT_COMPILE, (void *)(uintptr_t)COMPILER_THREADS);
		if (!ws_real.cuLinkCreate_v2(split.n, split.number, split.value, state))
			return 0;
	}
	return ws_real.cuLinkCreate_v2(o->n, (int *)o->number, (void **)o->value, state);
}

static bool link_parts(const struct ws_real_image *i, const struct options *given, void **cubin, size_t *len,
                       struct ws_buf *why)
{
	char *log = ws_alloc(LOG_BYTES);
	struct options o = *given;
	void *state = NULL, *made = NULL;
	int e;

	add_option(&o, ERROR_LOG, log);
	add_option(&o, ERROR_LOG_BYTES, (void *)(uintptr_t)(LOG_BYTES - 1));
	e = begin_link(i, &o, &state);
	if (!e)
		e = add_inputs(state, i);
	if (!e)
		e = ws_real.cuLinkComplete(state, &made, len);
	if (!e) {
		*cubin = ws_alloc(*len);
		memcpy(*cubin, made, *len);  /* the linker's own lives as long as its state */
	} else if (*log) {
		ws_buf_puts(why, log);
	} else {
		ws_buf_printf(why, "error %d", e);
	}
	if (state)
		ws_real.cuLinkDestroy(state);
	free(log);
	return !e;
}

static bool run_linker(const struct ws_real_image *i, const struct options *o, void **cubin, size_t *len,
                       struct ws_buf *why)
{
	uint64_t start = ws_monotonic_ns();
	bool entered, fine;

	if (!ws_real.cuLinkCreate_v2 || !ws_real.cuLinkAddData_v2 || !ws_real.cuLinkComplete || !ws_real.cuLinkDestroy)
		return ws_buf_puts(why, "the driver has no linker"), false;
	if (!enter_context(&entered, why))
		return false;
	fine = link_parts(i, o, cubin, len, why);
	leave_context(entered);
	ws_real_count(WS_FIG_COMPILE_NS, ws_monotonic_ns() - start);
	ws_real_count(WS_FIG_COMPILED, fine);
	return fine;
}

/* ---- as a whole ---- */
/* Bytes of text for each processor that a toolkit's compiler is given where nobody has asked for it, some 10 seconds of its time; and how
 * long it may take. */
enum { MUCH_WORK = 3 << 19, LEAST_PROCESSORS = 4, MOST_PROCESSORS = 16 };
#define MOST_NS 600000000000ull
#define PATIENCE_NS 4000000000ull           /* until it is said that ptxas takes a while */

/* Why a module stays the driver's, with --stats. */
static void tell_driver(const char *why)
{
	if (ws_real_session()->options.stats)
		ws_real_tell("compiled by the driver, not as a whole: %s", why);
}

/* The simulated GPU plays the driver in tests; it takes no machine code. */
static bool is_simulated(void)
{
	static const char its[] = "warpsafe simulated";
	char name[256] = "";

	return ws_real.cuDeviceGetName && !ws_real.cuDeviceGetName(name, sizeof name, 0) && !strncmp(name, its, strlen(its));
}

static bool takes_long(size_t work)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);

	n = n < LEAST_PROCESSORS ? LEAST_PROCESSORS : n > MOST_PROCESSORS ? MOST_PROCESSORS : n;
	return work > (size_t)n * MUCH_WORK;
}

/* Kernels that wait for others in a loop, and those that write at several places with a check in each launch. One write behind a long loop,
 * or behind a fence, is made once: such kernels were slower by it (docs/PERFORMANCE.md). */
static bool gains(const struct ws_real_checked_kernel *k)
{
	enum { SEVERAL = 2 };

	return k->loops || (k->left >= SEVERAL && !k->orders);
}

static bool pays(const struct ws_real_table *t, size_t *kernels)
{
	bool much = false;

	for (uint32_t k = 0; k < t->nkernels; k++) {
		*kernels += !t->kernels[k].why;
		much |= !t->kernels[k].why && gains(&t->kernels[k]);
	}
	return much;
}

static bool refused;                         /* the driver does not load what it makes */

bool ws_real_compile_refused(int error)
{
	enum { INVALID_IMAGE = 200, NO_BINARY_FOR_GPU = 209, INVALID_SOURCE = 300, NOT_SUPPORTED = 801 };    /* CUresult */

	if (error != INVALID_IMAGE && error != NO_BINARY_FOR_GPU && error != INVALID_SOURCE && error != NOT_SUPPORTED)
		return false;
	if (!__atomic_exchange_n(&refused, true, __ATOMIC_RELAXED))
		ws_real_tell("the driver does not load what the toolkit's ptxas has made (error %d), so it compiles all modules itself", error);
	return true;
}

/* The toolkit's compiler, for a module that it compiles as a whole: some kernels gain by it. Of modules that are linked with others nothing is whole.
 * The caller frees it. NULL: it is the driver's. */
static char *whole_by(const struct ws_real_image *i, const struct options *o)
{
	const char *choice = ws_real_session()->options.compile;
	bool asked = !strcmp(choice, "ptxas");
	size_t kernels = 0;
	char *path;

	if (!strcmp(choice, "driver") || __atomic_load_n(&refused, __ATOMIC_RELAXED) || i->n != 1 || !i->parts->text || !i->parts->table || is_simulated())
		return NULL;
	if (!pays(i->parts->table, &kernels) && !asked)
		return NULL;
	if (o->n)
		return tell_driver("the program gives options for its code"), NULL;
	if (!asked && takes_long(ws_ptxas_work(i->parts->text, kernels)))
		return tell_driver("it would take long (--compile=ptxas does it)"), NULL;
	path = ws_ptxas_find();
	if (!path)
		tell_driver("there is no ptxas");
	return path;
}

/* Else nothing is seen of the program for that while. */
static void tell_it_lasts(void)
{
	static bool told;

	if (!__atomic_exchange_n(&told, true, __ATOMIC_RELAXED))
		ws_real_tell("the toolkit's ptxas compiles kernels with their checks, which takes a while the first time (--compile=driver is quicker, and its code slower)");
}

/* *killed, false before: a signal ended it. */
static bool run_ptxas(const char *path, const struct ws_real_image *i, uint32_t cc, void **cubin, size_t *len, bool *killed)
{
	struct ws_ptxas_job j = { .path = path, .text = i->parts->text, .len = i->parts->len, .cc = cc, .limit_ns = MOST_NS,
	                          .lasts = tell_it_lasts, .patience_ns = PATIENCE_NS };
	uint64_t start = ws_monotonic_ns();
	struct ws_buf why = { 0 };
	bool fine;

	if (!ws_real.cuDriverGetVersion || ws_real.cuDriverGetVersion(&j.driver))
		return false;
	fine = ws_ptxas_compile(&j, cubin, len, &why);
	if (!fine)
		tell_driver(why.data);
	ws_buf_free(&why);
	ws_real_count(WS_FIG_COMPILE_NS, ws_monotonic_ns() - start);
	ws_real_count(WS_FIG_COMPILED, fine);
	ws_real_count(WS_FIG_WHOLE, fine);
	*killed = j.killed;
	return fine;
}

/* ---- the cache ---- */
/* All that the machine code depends on. The text is that after rewriting: what a pass does to it is in it. whole: the compiler that it
 * is for, or NULL; what the driver made where that failed is kept as its own, too, but not where a signal ended it. */
static struct ws_cache_key *key_of(const struct ws_real_image *i, uint32_t cc, const struct options *o, const char *whole)
{
	char *mark = whole ? ws_ptxas_mark(whole) : NULL;
	struct ws_cache_key *k = ws_cache_key_new();
	char name[256] = "";
	int version = 0;

	if (k && mark)
		ws_cache_key_add(k, mark, strlen(mark));
	free(mark);
	if (!k)
		return NULL;
	if (ws_real.cuDriverGetVersion)
		ws_real.cuDriverGetVersion(&version);
	if (ws_real.cuDeviceGetName)
		ws_real.cuDeviceGetName(name, sizeof name, 0);
	ws_cache_key_add(k, WS_VERSION, strlen(WS_VERSION));
	ws_cache_key_add(k, &version, sizeof version);
	ws_cache_key_add(k, name, strlen(name));
	ws_cache_key_add(k, &cc, sizeof cc);
	ws_cache_key_add(k, o->number, o->n * sizeof *o->number);
	ws_cache_key_add(k, o->value, o->n * sizeof *o->value);
	for (size_t n = 0; n < i->n; n++) {
		const struct ws_real_part *p = &i->parts[n];

		ws_cache_key_add(k, p->text ? "text" : "binary", p->text ? 4 : 6);
		ws_cache_key_add(k, p->text ? p->text : p->binary, p->text ? p->len : p->binary_len);
	}
	return k;
}

static void tell_once(const char *folder, const char *why)
{
	static bool told;

	if (!__atomic_exchange_n(&told, true, __ATOMIC_RELAXED))
		ws_real_tell("compiled kernels cannot be kept%s%s: %s", folder ? " in " : "", folder ? folder : "", why);
}

static void keep(const char *folder, const struct ws_cache_key *k, const void *cubin, size_t len, uint64_t limit)
{
	if (len <= limit && !ws_cache_put(folder, k, cubin, len, limit))
		tell_once(folder, strerror(errno));
}

bool ws_real_compile(const struct ws_real_image *i, uint32_t cc, const struct ws_real_jit *jit, struct ws_real_code *c, struct ws_buf *why)
{
	void **cubin = &c->cubin;
	size_t *len = &c->len;
	uint64_t limit = ws_real_session()->options.cache_limit;
	struct options o = { 0 };
	char *folder = limit ? ws_cache_folder() : NULL;
	struct ws_cache_key *k;
	char *whole;
	bool fine, killed = false;

	for (unsigned n = 0; jit && jit->options && jit->values && n < jit->n; n++)
		if (changes_code(jit->options[n]))
			add_option(&o, jit->options[n], (void *)jit->values[n]);
	if (limit && !folder)
		tell_once(NULL, "neither XDG_CACHE_HOME nor HOME leads to a folder that can be written");
	whole = whole_by(i, &o);
	k = folder ? key_of(i, cc, &o, whole) : NULL;
	*cubin = k ? ws_cache_get(folder, k, len) : NULL;
	fine = *cubin;
	if (fine) {
		ws_real_count(WS_FIG_CACHED, 1);
	} else {
		fine = (whole && run_ptxas(whole, i, cc, cubin, len, &killed)) || run_linker(i, &o, cubin, len, why);
		if (fine && k && !killed)
			keep(folder, k, *cubin, *len, limit);
	}
	c->whole = fine && whole;
	if (fine && ws_real_session()->checks)
		ws_real_keep_together(*cubin, *len);
	ws_cache_key_free(k);
	free(whole);
	free(folder);
	return fine;
}

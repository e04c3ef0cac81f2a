/* transact.c - `warpsafe tm` on a real GPU: marked sections become transactions when a module is loaded. Their tables lie in
 * variables of the modules, and what they counted; that is read, with --stats, whenever the program has waited for the GPU,
 * for at its end the context is gone before anybody else comes. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device/tm.h"
#include "real/real_priv.h"
#include "rewrite/rewrite.h"
#include "rewrite/tm_choice.h"
#include "rewrite/tm_counts.h"

static atomic_uint sections;
static atomic_bool bare;                     /* that there is code without PTX was told */

/* Engine auto. */
static struct ws_tm_choice choice;
static pthread_mutex_t choosing = PTHREAD_MUTEX_INITIALIZER;   /* held over a launch that is compared with others */
static uint64_t committed;                   /* when that launch began */

static bool automatic(void) { return strcmp(ws_real_session()->options.tm_engine, "auto") == 0; }

bool ws_real_transactions(void)
{
	const struct ws_real_session *s = ws_real_session();

	return s && s->transactions;
}

_Noreturn void ws_real_transact_refused(const char *why)
{
	fflush(stdout);
	fprintf(stderr, "%s\n", why);
	_exit(2);
}

bool ws_real_transact(const struct ws_real_text *t, struct ws_buf *out, struct ws_buf *why,
                      const struct ws_real_table **table)
{
	struct ws_sink sink = { ws_sink_to_buf, why };
	struct ws_ptx_options options = { .max_errors = 1 };
	struct ws_tm_settings settings = ws_tm_settings_of(&ws_real_session()->options);
	struct ws_ptx_module *m = ws_ptx_parse(t->label, t->text, t->len, &options, &sink);

	(void)table;
	if (!m)                              /* told by the caller: it may have no section, and the program goes on */
		return false;
	if (settings.log)
		settings.first_place = ws_real_history_rewrites();
	if (!ws_rewrite_tm(&settings, m, &sink))
		ws_real_transact_refused(why->data);
	if (settings.log)
		ws_real_history_rewrote(ws_rewrite_result(m)->tm_places, ws_rewrite_result(m)->ntm_places);
	atomic_fetch_add(&sections, ws_rewrite_result(m)->tm.sections);
	pthread_mutex_lock(&choosing);
	ws_tm_choice_know(&choice, &ws_rewrite_result(m)->tm);
	pthread_mutex_unlock(&choosing);
	ws_ptx_print(m, out);
	ws_ptx_free(m);
	return true;
}

void ws_real_transact_bare(void)
{
	if (!atomic_exchange(&bare, true))
		ws_real_tell("some kernels are there without PTX, as machine code: a marked section in them would not be "
		             "atomic");
}

/* ---- modules in contexts ---- */
/* The variables of a module exist once in each context. The first module with sections that is used in a context lends its
 * tables to all others there: their handles are overwritten, so that sections of all modules exclude each other. */
struct used {
	void *module, *context;              /* module NULL: it was unloaded, and what it counted stays */
	bool library, sections;
	struct ws_tm_counts counts;          /* as last read */
	struct used *next;
};

struct lender {
	void *context, *module, *stream;     /* the stream is ours, and waits for no other */
	void *pool;                          /* the module that lends its memory for malloc: the first that has some; or NULL */
	struct ws_tm handle;
	bool works;
	struct lender *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct used *uses;
static struct lender *lenders;

static uint64_t variable_of(const struct used *u, const char *name, size_t size)
{
	size_t bytes;
	uint64_t address = ws_real_variable(u->module, u->library, name, &bytes);

	return bytes == size ? address : 0;
}

static void *current_context(void)
{
	void *context = NULL;

	return ws_real.cuCtxGetCurrent && !ws_real.cuCtxGetCurrent(&context) ? context : NULL;
}

static struct lender *lender_of(void *context)
{
	struct lender *l = lenders;

	while (l && l->context != context)
		l = l->next;
	return l;
}

static bool read_handle(struct lender *l, uint64_t address, struct ws_tm *handle)
{
	return !ws_real.cuMemcpyDtoHAsync_v2(handle, address, sizeof *handle, l->stream) &&
	       !ws_real.cuStreamSynchronize(l->stream);
}

static bool open_stream(struct lender *l)
{
	return ws_real.cuStreamCreate && ws_real.cuMemcpyDtoHAsync_v2 && ws_real.cuMemcpyHtoDAsync_v2 &&
	       ws_real.cuStreamSynchronize && !ws_real.cuStreamCreate(&l->stream, WS_REAL_NON_BLOCKING);
}

static bool write_handle(struct lender *l, uint64_t address, void *module)
{
	struct ws_tm own;

	if (!l->works || !read_handle(l, address, &own))
		return false;
	if (!l->pool && own.units) {
		l->handle.pool = own.pool;
		l->handle.units = own.units;
		l->pool = module;
	}
	return !ws_real.cuMemcpyHtoDAsync_v2(address, &l->handle, sizeof l->handle, l->stream) &&
	       !ws_real.cuStreamSynchronize(l->stream);
}

/* A module with sections is used in a context for the first time. */
static void join(struct used *u, uint64_t address)
{
	struct lender *l = lender_of(u->context);
	bool good;

	if (!l) {
		l = ws_alloc(sizeof *l);
		*l = (struct lender){ .context = u->context, .module = u->module, .next = lenders };
		lenders = l;
		good = l->works = open_stream(l) && read_handle(l, address, &l->handle);
		l->pool = good && l->handle.units ? u->module : NULL;
	} else {
		good = write_handle(l, address, u->module);
	}
	if (!good)
		ws_real_tell("marked sections of different modules do not exclude each other: their memory could not be "
		             "reached");
}

static struct used *use_of(void *module, void *context)
{
	struct used *u = uses;

	while (u && (u->module != module || u->context != context))
		u = u->next;
	return u;
}

void ws_real_transact_prepare(void *function)
{
	bool library = false;
	void *module = NULL, *context;

	if (!ws_real_transactions() || !ws_real_code_of(function, &module, &library) || !(context = current_context()))
		return;
	pthread_mutex_lock(&lock);
	if (!use_of(module, context)) {
		struct used *u = ws_alloc(sizeof *u);
		int mode = ws_real_relax_capture(WS_REAL_RELAXED);
		uint64_t address;

		*u = (struct used){ .module = module, .context = context, .library = library, .next = uses };
		address = variable_of(u, WS_TM_HANDLE, sizeof(struct ws_tm));
		u->sections = address != 0;
		if (address)
			join(u, address);
		ws_real_relax_capture(mode);
		uses = u;
	}
	pthread_mutex_unlock(&lock);
}

/* ---- counts ---- */
static void read_counts(struct used *u)
{
	uint64_t address = u->module && u->sections ? variable_of(u, WS_TM_COUNTERS, WS_TM_COUNTERS_BYTES) : 0;
	void *memory;

	if (!address || !ws_real.cuMemcpyDtoH_v2)
		return;
	memory = ws_alloc(WS_TM_COUNTERS_BYTES);
	if (!ws_real.cuMemcpyDtoH_v2(memory, address, WS_TM_COUNTERS_BYTES)) {
		u->counts = (struct ws_tm_counts){ 0 };
		ws_tm_counts_add(&u->counts, memory);
	}
	free(memory);
}

static void read_all(void)
{
	void *context = current_context();

	pthread_mutex_lock(&lock);
	for (struct used *u = uses; u; u = u->next)
		if (u->context == context)
			read_counts(u);
	pthread_mutex_unlock(&lock);
}

/* ---- engine auto ---- */
static uint64_t commits_so_far(void)
{
	uint64_t sum = 0;

	read_all();
	for (const struct used *u = uses; u; u = u->next)
		sum += u->counts.sum.commits;
	return sum;
}

/* Nothing runs. Each engine has a layout of its own of the table, which nobody uses now: all zero in each. */
static void set_engine(struct lender *l, enum ws_tm_engine engine)
{
	l->handle.engine = (unsigned short)engine;
	if (ws_real.cuMemsetD8Async)
		ws_real.cuMemsetD8Async((uint64_t)l->handle.table, 0, ((size_t)l->handle.mask + 1) * 8, l->stream);
	for (struct used *u = uses; u; u = u->next) {
		uint64_t address = u->context == l->context && u->module && u->sections
		                   ? variable_of(u, WS_TM_HANDLE, sizeof l->handle) : 0;

		if (address)
			ws_real.cuMemcpyHtoDAsync_v2(address, &l->handle, sizeof l->handle, l->stream);
	}
	ws_real.cuStreamSynchronize(l->stream);
}

bool ws_real_transact_begin(void)
{
	struct lender *l;
	bool works;

	if (!ws_real_transactions() || !automatic() || ws_real_capturing())
		return false;
	pthread_mutex_lock(&choosing);
	pthread_mutex_lock(&lock);
	l = lender_of(current_context());
	works = l && l->works && (ws_tm_choice_tries(&choice) || l->handle.engine != (unsigned)ws_tm_choice_before(&choice));
	if (works && !ws_real.cuCtxSynchronize() && l->handle.engine != (unsigned)ws_tm_choice_before(&choice))
		set_engine(l, ws_tm_choice_before(&choice));
	pthread_mutex_unlock(&lock);
	if (!works) {
		pthread_mutex_unlock(&choosing);
		return false;
	}
	committed = commits_so_far();
	ws_tm_choice_before(&choice);        /* the time begins */
	return true;
}

void ws_real_transact_end(bool begun, const void *function)
{
	char name[32];

	if (!begun)
		return;
	snprintf(name, sizeof name, "%p", function);
	if (!ws_real.cuCtxSynchronize()) {
		double now = ws_tm_choice_now();

		ws_tm_choice_after(&choice, name, commits_so_far() - committed, now);
	}
	pthread_mutex_unlock(&choosing);
}

void ws_real_transact_waited(int e)
{
	enum { LAUNCH_FAILED = 719 };
	static atomic_bool told;

	if (!ws_real_transactions())
		return;
	if (e == LAUNCH_FAILED && atomic_load(&sections) && !atomic_exchange(&told, true))
		ws_real_tell("a kernel failed; a transaction that is larger than the memory for long ones (--heap) ends so, "
		             "too");
	if (!e && ws_real_session()->options.stats && !ws_real_capturing())
		read_all();
}

bool ws_real_transact_unload(void *module)
{
	bool lends = false;

	if (!ws_real_transactions())
		return true;
	if (ws_real_session()->options.stats)
		read_all();
	pthread_mutex_lock(&lock);
	for (struct lender *l = lenders; l; l = l->next)
		lends |= l->module == module || l->pool == module;
	for (struct used *u = uses; u; u = u->next)
		if (u->module == module && !lends)
			u->module = NULL;
	pthread_mutex_unlock(&lock);
	return !lends;
}

/* What was in them is gone; contexts to come may have their addresses. */
void ws_real_transact_forget(void *context)
{
	pthread_mutex_lock(&lock);
	for (struct lender *l = lenders; l; l = l->next)
		if (!context || l->context == context)
			l->context = l->module = l->pool = NULL;
	for (struct used *u = uses; u; u = u->next)
		if (!context || u->context == context)
			u->context = u->module = NULL;
	pthread_mutex_unlock(&lock);
}

void ws_real_transact_tell(void)
{
	struct ws_tm_counts sum = { 0 };
	struct ws_buf b = { 0 };

	if (!ws_real_transactions())         /* forked: what was counted is the parent's */
		return;
	pthread_mutex_lock(&lock);
	for (const struct used *u = uses; u; u = u->next)
		ws_tm_counts_sum(&sum, &u->counts);
	pthread_mutex_unlock(&lock);
	ws_tm_counts_tell(&sum, atomic_load(&sections), ws_real_session()->options.stats, &b);
	if (automatic() && atomic_load(&sections))
		ws_tm_choice_tell(&choice, &b);
	ws_real_history_tell(&b);
	fflush(stdout);
	if (b.len)
		fprintf(stderr, "%s", b.data);
	ws_buf_free(&b);
}

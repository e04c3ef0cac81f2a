/* instrument.c - modules that were rewritten when they were loaded, and what their counters say; see instrument.h.
 *
 * A launch runs alone on the simulated GPU. So the counters are taken and set to zero at its end, and what they say
 * belongs to its kernel, also for functions that several kernels call. */
#include "cuda/instrument.h"
#include "cuda/check_history.h"
#include "cuda/transact.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MEMORIES = WS_RW_COUNTERS, KINDS = WS_RW_ATOMIC + 1, PLACES = 5 };
static const char *const memory_names[MEMORIES] = {"global", "shared", "constant"};

struct site {
	char *place;
	enum ws_rw_kind kind;
	uint8_t memory[MEMORIES]; /* of each of its counters */
	uint32_t counter, ncounters;
	uint64_t seen[MEMORIES];
};

struct ws_instrumented {
	struct ws_instrumented *next;
	struct ws_mem *mem; /* its counters; NULL: not loaded */
	char *counters;     /* the variable's name, or NULL */
	struct ws_rw_result layout;
	struct site *sites;
	size_t nsites, cap;
	char *uncounted; /* places of accesses that have no counter */
	uint32_t sections; /* that were made transactions; then the counters are theirs */
	struct ws_check_log log; /* head NULL: none */
};

struct kernel {
	char *name;
	uint64_t launches, seen[MEMORIES][KINDS];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct ws_instrumented *all;
static struct kernel *kernels;
static size_t nkernels, kernels_cap;

/* ---- a module is rewritten ---- */
static void add_site(struct ws_instrumented *i, const struct ws_rw_site *from)
{
	struct site *s = WS_PUSH(i->sites, i->nsites, i->cap);

	*s = (struct site){.place = ws_strdup(from->place), .kind = from->kind, .counter = from->counter,
			   .ncounters = from->ncounters};
	for (unsigned k = 0; k < s->ncounters; k++)
		s->memory[k] = (uint8_t)(s->ncounters > 1		   ? k
					 : from->space == WS_SPACE_CONST  ? WS_RW_CONST
					 : from->space == WS_SPACE_GLOBAL ? WS_RW_GLOBAL
									  : WS_RW_SHARED);
}

static void note_uncounted(struct ws_buf *b, const struct ws_rw_site *s)
{
	ws_buf_printf(b, "%s%s at %s", b->len ? ", " : "", ws_op_info(s->inst->op)->name, s->place);
}

static struct ws_instrumented *remember(const struct ws_rw_result *r)
{
	struct ws_instrumented *i = ws_alloc(sizeof *i);
	struct ws_buf uncounted = {0};

	i->counters = r->counters ? ws_strdup(r->counters) : r->tm.sections ? ws_strdup(WS_TM_COUNTERS) : NULL;
	i->sections = r->tm.sections;
	i->log.places = ws_alloc((r->ntm_places + 1) * sizeof *i->log.places);
	for (i->log.nplaces = 0; i->log.nplaces < r->ntm_places; i->log.nplaces++)
		i->log.places[i->log.nplaces] = ws_strdup(r->tm_places[i->log.nplaces]);
	i->layout = (struct ws_rw_result){.ncounters = r->ncounters, .copies = r->copies, .stride = r->stride};
	for (uint32_t k = 0; k < r->nsites; k++) {
		if (r->sites[k].ncounters)
			add_site(i, &r->sites[k]);
		else
			note_uncounted(&uncounted, &r->sites[k]);
	}
	i->uncounted = uncounted.data;
	pthread_mutex_lock(&lock);
	i->next = all;
	all = i;
	pthread_mutex_unlock(&lock);
	return i;
}

struct ws_instrumented *ws_instrument(const char *pass, const char *label, struct ws_ptx_module **m)
{
	struct ws_buf messages = {0}, text = {0};
	struct ws_sink sink = {ws_sink_to_buf, &messages};
	struct ws_instrumented *made = NULL;
	bool tm = strcmp(pass, "tm") == 0;
	bool good = tm ? ws_transact(*m, &sink) : ws_rewrite(pass, *m, &sink);

	if (good) {
		made = remember(ws_rewrite_result(*m));
		ws_ptx_print(*m, &text);
	}
	ws_ptx_free(*m);
	*m = good ? ws_ptx_parse(label, text.data, text.len, NULL, &sink) : NULL;
	if (!*m && tm)
		ws_transact_refused(messages.data);
	if (!*m)
		ws_tell("%s: the pass '%s' cannot be applied\n%s", label, pass, messages.len ? messages.data : "");
	ws_buf_free(&messages);
	ws_buf_free(&text);
	return *m ? made : NULL;
}

void ws_instrument_loaded(struct ws_instrumented *i, struct ws_gpu_module *loaded)
{
	pthread_mutex_lock(&lock);
	i->mem = loaded && i->counters ? ws_gpu_module_var(loaded, i->counters) : NULL;
	i->log.head = loaded && i->log.nplaces ? ws_gpu_module_var(loaded, WS_TM_LOG_HEAD) : NULL;
	i->log.entries = i->log.head ? ws_gpu_module_var(loaded, WS_TM_LOG_ENTRIES) : NULL;
	if (i->sections)
		ws_transact_loaded(i, loaded);
	pthread_mutex_unlock(&lock);
}

/* ---- after a launch ---- */
static struct kernel *kernel_named(const char *name)
{
	struct kernel *k;

	for (size_t n = 0; n < nkernels; n++)
		if (strcmp(kernels[n].name, name) == 0)
			return &kernels[n];
	k = WS_PUSH(kernels, nkernels, kernels_cap);
	*k = (struct kernel){.name = ws_strdup(name)};
	return k;
}

static void take_site(struct kernel *k, struct site *s, const struct ws_rw_result *layout, const uint64_t *counters)
{
	for (unsigned n = 0; n < s->ncounters; n++) {
		uint64_t seen = ws_rewrite_counted(layout, counters, s->counter + n);

		s->seen[s->memory[n]] += seen;
		k->seen[s->memory[n]][s->kind] += seen;
	}
}

/* A block's copy is numbered below the number of blocks. */
static void take_module(struct kernel *k, struct ws_instrumented *i, uint64_t blocks)
{
	uint64_t *counters = (uint64_t *)(void *)i->mem->host;
	struct ws_rw_result used = i->layout;

	if (blocks < used.copies)
		used.copies = (uint32_t)blocks;
	for (size_t n = 0; n < i->nsites; n++)
		take_site(k, &i->sites[n], &used, counters);
	memset(counters, 0, (size_t)used.copies * used.stride * sizeof *counters);
}

static void launch_begin(void *self, struct ws_obs_launch *l)
{
	(void)self;
	(void)l;
	pthread_mutex_lock(&lock);
	ws_transact_begin();
	pthread_mutex_unlock(&lock);
}

static void launch_end(void *self, struct ws_obs_launch *l, bool completed)
{
	struct kernel *k;

	(void)self;
	pthread_mutex_lock(&lock);
	k = kernel_named(l->name ? l->name : "?");
	k->launches++;
	for (struct ws_instrumented *i = all; i; i = i->next) {
		if (i->log.head)
			ws_check_log_take(&i->log, l, completed);
		if (i->mem && i->sections)
			ws_transact_take(i->mem->host);
		else if (i->mem)
			take_module(k, i, l->blocks);
	}
	ws_transact_end(k->name);
	pthread_mutex_unlock(&lock);
}

const struct ws_observer_ops ws_instrument_observer = {
	.abi = WS_OBSERVER_ABI,
	.name = "instrument",
	.help = "counters of inserted code",
	.launch_begin = launch_begin,
	.launch_end = launch_end,
};

/* ---- what is told ---- */
static void add_kinds(struct ws_buf *b, const uint64_t seen[KINDS], const char *memory, const char *before)
{
	bool first = true;

	for (unsigned k = 0; k < KINDS; k++) {
		if (!seen[k])
			continue;
		ws_buf_printf(b, "%s ", first ? before : ",");
		ws_buf_add_count(b, seen[k]);
		if (first)
			ws_buf_printf(b, " %s", memory);
		ws_buf_printf(b, " %s%s", ws_rw_kind_name((enum ws_rw_kind)k), seen[k] == 1 ? "" : "s");
		first = false;
	}
}

static void tell_kernel(const struct kernel *k)
{
	struct ws_buf b = {0};
	uint64_t sum = 0;
	bool any = false;

	for (unsigned m = 0; m < MEMORIES; m++)
		for (unsigned n = 0; n < KINDS; n++)
			sum += k->seen[m][n];
	ws_buf_printf(&b, "%s: ", k->name);
	ws_buf_add_count(&b, k->launches);
	ws_buf_printf(&b, " launch%s, ", k->launches == 1 ? "" : "es");
	ws_buf_add_count(&b, sum);
	ws_buf_printf(&b, " access%s", sum == 1 ? "" : "es");
	for (unsigned m = 0; m < MEMORIES; m++) {
		add_kinds(&b, k->seen[m], memory_names[m], any ? ";" : ":");
		any = any || k->seen[m][0] || k->seen[m][1] || k->seen[m][2];
	}
	fprintf(stderr, "warpsafe: %s\n", b.data);
	ws_buf_free(&b);
}

struct busy { /* what the instructions of one place did to one memory */
	const char *place;
	unsigned memory, kind;
	uint64_t seen;
};

static int by_place(const void *a, const void *b)
{
	const struct busy *x = a, *y = b;
	int order = strcmp(x->place, y->place);

	return order ? order : x->memory != y->memory ? (int)x->memory - (int)y->memory : (int)x->kind - (int)y->kind;
}

static int by_count(const void *a, const void *b)
{
	const struct busy *x = a, *y = b;

	return x->seen != y->seen ? (x->seen < y->seen ? 1 : -1) : by_place(a, b);
}

static struct busy *list_places(size_t *n)
{
	struct busy *list = NULL;
	size_t cap = 0;

	*n = 0;
	for (const struct ws_instrumented *i = all; i; i = i->next)
		for (size_t s = 0; s < i->nsites; s++)
			for (unsigned m = 0; m < MEMORIES; m++)
				if (i->sites[s].seen[m])
					*WS_PUSH(list, *n, cap) = (struct busy){i->sites[s].place, m, i->sites[s].kind,
					                                        i->sites[s].seen[m]};
	return list;
}

static size_t join_places(struct busy *list, size_t n)
{
	size_t kept = 0;

	for (size_t k = 0; k < n; k++) {
		if (kept && by_place(&list[kept - 1], &list[k]) == 0)
			list[kept - 1].seen += list[k].seen;
		else
			list[kept++] = list[k];
	}
	return kept;
}

static void tell_places(void)
{
	size_t n;
	struct busy *list = list_places(&n);

	if (n) {
		qsort(list, n, sizeof *list, by_place);
		n = join_places(list, n);
		qsort(list, n, sizeof *list, by_count);
	}
	for (size_t k = 0; k < n && k < PLACES; k++) {
		struct ws_buf b = {0};

		ws_buf_add_count(&b, list[k].seen);
		fprintf(stderr, "warpsafe:     %s: %s %s %s%s\n", list[k].place, b.data, memory_names[list[k].memory],
			ws_rw_kind_name((enum ws_rw_kind)list[k].kind), list[k].seen == 1 ? "" : "s");
		ws_buf_free(&b);
	}
	free(list);
}

void ws_instrument_tell(void)
{
	if (!ws_session()) /* forked: what was counted is the parent's */
		return;
	fflush(stdout);
	if (strcmp(ws_session()->options.instrument, "tm") == 0) {
		ws_transact_tell();
		return;
	}
	pthread_mutex_lock(&lock);
	for (size_t k = 0; k < nkernels; k++)
		tell_kernel(&kernels[k]);
	tell_places();
	for (const struct ws_instrumented *i = all; i; i = i->next)
		if (i->uncounted)
			fprintf(stderr, "warpsafe: not counted: %s\n", i->uncounted);
	pthread_mutex_unlock(&lock);
}

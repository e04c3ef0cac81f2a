/* race.c - the memory that race checks on the GPU work with, one set of tables a context; see race.h and device/race.h.
 *
 * The tables are made at the first launch of a kernel with checks in a context, and the variable of its module is filled
 * then: a library is loaded before there is a context, and for all of them. Launches between which the tables become
 * nearly full, or may (race_taken.h), are made to wait for each other, and the tables begin anew: what comes then is behind all that was before.
 * What was found lies in memory of the host, so it is there when the context has ended, or the program is ending. */
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "real/race.h"
#include "real/race_layout.h"
#include "real/race_taken.h"
#include "real/range.h"
#include "real/real_priv.h"
#include "real/streams.h"
#include "report/keep.h"

struct ws_real_gpu {                     /* a context */
	void *context;
	bool works;                          /* there are tables */
	bool ended;                          /* the context has; what was found is still there */
	int lost;                            /* the error by which a failed kernel took the context along; 0 = none did */
	int primary;                         /* of this device it is the primary context; -1 = of none */
	atomic_bool launched;                /* since the counts were read */
	pthread_rwlock_t launching;          /* read: a launch is being made; written: the tables begin anew */
	pthread_mutex_t asking;              /* for the counts */
	void *stream;                        /* ours; waits for no other */
	void *probes;                        /* likewise, for probes: they may wait for room on the GPU */
	struct ws_race_device device;        /* what each module is told */
	struct ws_race_layout layout;
	struct ws_real_areas areas;
	struct ws_real_tensors tensors;
	struct ws_real_range_kernel range;
	uint64_t base;                       /* of the tables, on the GPU */
	struct ws_race_found *found;         /* host memory that the GPU writes */
	struct ws_race_seen *seen;           /* how often, as last read */
	uint64_t *told;                      /* of each, how often the report knows of it */
	struct ws_race_counts *counts;       /* as last read */
	uint32_t *probe;                     /* host memory: what the last probe has found */
	uint64_t words;                      /* on the GPU: of launches that look whether accesses stay in parts, one after the other */
	atomic_uint numbers;                 /* given to such */
	bool probing;                        /* it was not waited for to its end */
	struct ws_race_counts before;        /* sums of former tables */
	atomic_bool full;                    /* the tables are nearly full */
	struct ws_race_taken taken;          /* with `asking` held */
	bool given_up;                       /* to wait for what runs, until any of it ends */
	uint64_t tries;                      /* findings that may be none, of locks: ws_real_race_may_be_none */
	atomic_ullong told_again;            /* launches that were not checked for one that told the same */
	uint64_t asked;                      /* when the counts were last read */
	uint64_t measure_next;               /* when --stats may look again at what is in the tables */
	struct ws_real_gpu *next;
};

enum { WORDS = 1 << 16, FOUND_LOG2 = 12, ASK_EVERY_MS = 2, LOOK_EVERY_MS = 50, NOT_READY = 600 /* CUresult */ };
enum { REGISTER_PORTABLE = 1, REGISTER_DEVICEMAP = 2 };
#define LEAST_BUDGET (8ull << 20)
#define USUAL_BUDGET (64ull << 20)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;     /* of the list, and of the making of its members */
static struct ws_real_gpu *_Atomic gpus;

/* ---- the driver ---- */
static bool driver_has_all(void)
{
	return ws_real.cuMemGetInfo_v2 && ws_real.cuMemAlloc_v2 && ws_real.cuMemHostRegister_v2 &&
	       ws_real.cuMemHostGetDevicePointer_v2 && ws_real.cuMemsetD8Async && ws_real.cuMemcpyHtoDAsync_v2 &&
	       ws_real.cuMemcpyDtoHAsync_v2 && ws_real.cuStreamCreate && ws_real.cuStreamSynchronize && ws_real.cuStreamQuery &&
	       ws_real.cuCtxSynchronize && ws_real.cuCtxGetCurrent && ws_real.cuCtxPushCurrent_v2 && ws_real.cuCtxPopCurrent_v2;
}

static int wait_for_stream(const struct ws_real_gpu *g)
{
	return ws_real.cuStreamSynchronize(g->stream);
}

static int zero(const struct ws_real_gpu *g, uint64_t address, size_t bytes)
{
	return bytes ? ws_real.cuMemsetD8Async(address, 0, bytes, g->stream) : 0;
}

/* ---- tables ---- */
static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t attribute(int number, int device, uint64_t otherwise)
{
	int value = 0;

	if (ws_real.cuDeviceGetAttribute && !ws_real.cuDeviceGetAttribute(&value, number, device) && value > 0)
		return (uint64_t)value;
	return otherwise;
}

static struct ws_race_gpu_size size_of_gpu(void)
{
	enum { PROCESSORS = 16, SHARED_BYTES = 81, SHARED_OF_BLOCK = 97, BLOCKS = 106 };     /* CU_DEVICE_ATTRIBUTE_* */
	int device = 0;

	if (ws_real.cuCtxGetDevice)
		ws_real.cuCtxGetDevice(&device);
	return (struct ws_race_gpu_size){ .processors = (uint32_t)attribute(PROCESSORS, device, 32),
		                          .blocks = (uint32_t)attribute(BLOCKS, device, 16),
		                          .shared = (uint32_t)attribute(SHARED_BYTES, device, 64 << 10),
		                          .block_shared = (uint32_t)attribute(SHARED_OF_BLOCK, device, 48 << 10) };
}

static bool is_given(uint64_t limit)
{
	struct ws_options usual;
	bool given;

	ws_options_default(&usual);
	given = limit != usual.shadow_limit;
	ws_options_free(&usual);
	return given;
}

/* --shadow-limit if it was given, else a share of what is free. */
static uint64_t wanted(uint64_t limit, uint64_t free_bytes)
{
	if (is_given(limit))
		return least(limit, free_bytes / 4 * 3);
	return free_bytes / 8 > USUAL_BUDGET ? free_bytes / 8 : USUAL_BUDGET;
}

/* With much memory: segments for all warps that a grid can have. */
static uint64_t wanted_segments(uint64_t limit, uint64_t free_bytes)
{
	return !is_given(limit) && free_bytes / 32 > WS_RACE_WHOLE_GRID ? WS_RACE_WHOLE_GRID : 0;
}

/* As much as may be, and less where there is less. */
static bool allocate(struct ws_real_gpu *g)
{
	uint64_t limit = ws_real_session()->options.shadow_limit;
	struct ws_race_gpu_size size = size_of_gpu();
	size_t free_bytes = 0, total = 0;
	uint64_t segments;

	if (ws_real.cuMemGetInfo_v2(&free_bytes, &total))
		return false;
	segments = wanted_segments(limit, free_bytes);
	for (uint64_t budget = wanted(limit, free_bytes); budget && budget >= least(LEAST_BUDGET, limit); budget /= 2) {
		ws_race_lay_out(&g->layout, &g->device, budget, segments, &size);
		segments = 0;
		g->device.resident = ws_real_session()->options.resident;
		if (!ws_real.cuMemAlloc_v2(&g->base, g->layout.bytes))
			return true;
	}
	return false;
}

/* Memory of the host in which the GPU writes what it finds, and of the GPU for how often. */
static bool share(struct ws_real_gpu *g)
{
	size_t bytes = sizeof *g->found << FOUND_LOG2, seen = sizeof *g->seen << FOUND_LOG2;
	size_t proofs = WS_RACE_PROOFS * sizeof(ws_race_u64), turns = (1 + WS_RACE_TURNS) * sizeof(ws_race_u64);
	size_t words = WORDS * sizeof(ws_race_u32), more = turns + proofs + sizeof(struct ws_race_launches) + words;
	size_t all = bytes + seen + sizeof *g->counts + sizeof *g->probe;
	char *p = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t there = 0, table = 0;

	if (p == MAP_FAILED)
		return false;
	if (ws_real.cuMemHostRegister_v2(p, all, REGISTER_PORTABLE | REGISTER_DEVICEMAP) ||
	    ws_real.cuMemHostGetDevicePointer_v2(&there, p, 0)) {
		munmap(p, all);
		return false;
	}
	if (ws_real.cuMemAlloc_v2(&table, seen + more) || zero(g, table, seen + more))
		return false;
	g->device.seen = table;
	g->device.proofs = table + seen;
	g->device.launches = g->device.proofs + proofs;
	g->device.turns = g->device.launches + sizeof(struct ws_race_launches);
	g->words = g->device.turns + turns;
	g->found = (struct ws_race_found *)(void *)p;
	g->seen = (struct ws_race_seen *)(void *)(p + bytes);
	g->counts = (struct ws_race_counts *)(void *)(p + bytes + seen);
	g->probe = (uint32_t *)(void *)(p + bytes + seen + sizeof *g->counts);
	g->device.probe = there + bytes + seen + sizeof *g->counts;
	g->told = ws_alloc(sizeof *g->told << FOUND_LOG2);
	g->device.found = there;
	g->device.found_log2 = FOUND_LOG2;
	return true;
}

/* Far more than launches that a driver takes before they run. The number is in no word yet, or it is that of a launch long ago. */
void ws_real_race_number(struct ws_real_gpu *g, struct ws_race_parts *out)
{
	uint32_t n;

	do
		n = atomic_fetch_add(&g->numbers, 1) + 1;
	while (!n);
	out->number = n;
	out->seen = g->words + n % WORDS * sizeof(ws_race_u32);
}

static bool make(struct ws_real_gpu *g)
{
	if (!driver_has_all() || ws_real.cuStreamCreate(&g->stream, WS_REAL_NON_BLOCKING) ||
	    ws_real.cuStreamCreate(&g->probes, WS_REAL_NON_BLOCKING) || !allocate(g) || !share(g))
		return false;
	ws_race_place(&g->layout, &g->device, g->base);
	g->device.areas = ws_real_areas_make(&g->areas, g->stream);
	g->device.tensors = ws_real_tensors_make(&g->tensors, g->stream);
	return !zero(g, g->base, g->layout.bytes) && !wait_for_stream(g);
}

/* ---- looking for what was found while the program runs ---- */
static void *look(void *user)
{
	uint64_t known = 0;

	for (;;) {
		uint64_t n = 0;

		nanosleep(&(struct timespec){ .tv_nsec = LOOK_EVERY_MS * 1000000 }, NULL);
		for (struct ws_real_gpu *g = atomic_load(&gpus); g; g = g->next)
			for (size_t k = 0; g->works && k < (size_t)1 << FOUND_LOG2; k++)
				n += __atomic_load_n(&g->found[k].ready, __ATOMIC_ACQUIRE) != 0;
		if (n != known)
			ws_keep_touch();
		known = n;
	}
	return user;
}

/* The thread has all signals blocked: the program's are for the program's threads. */
static void start_looking(void)
{
	sigset_t all, old;
	pthread_t thread;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	if (pthread_create(&thread, NULL, look, NULL) == 0)
		pthread_detach(thread);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

/* ---- contexts ---- */
static struct ws_real_gpu *find(void *context)
{
	struct ws_real_gpu *g = atomic_load(&gpus);

	while (g && (g->context != context || g->ended))
		g = g->next;
	return g;
}

/* The device whose primary context this is; -1: it is not one. */
static int primary_of(void *context)
{
	void *primary = NULL;
	int device = 0;

	if (!ws_real.cuCtxGetDevice || ws_real.cuCtxGetDevice(&device) || !ws_real.cuDevicePrimaryCtxRetain ||
	    ws_real.cuDevicePrimaryCtxRetain(&primary, device))
		return -1;
	if (ws_real.cuDevicePrimaryCtxRelease_v2)
		ws_real.cuDevicePrimaryCtxRelease_v2(device);
	return primary == context ? device : -1;
}

static void tell_missing(void)
{
	ws_report_limit(ws_real_session()->report, "there was no memory on the GPU for checks: nothing was checked there");
}

/* The tables of the current context, made if there are none. NULL: there is no context. */
static struct ws_real_gpu *here(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	void *context = NULL;
	struct ws_real_gpu *g;

	if (!ws_real.cuCtxGetCurrent || ws_real.cuCtxGetCurrent(&context) || !context)
		return NULL;
	g = find(context);
	if (g)
		return g;
	pthread_mutex_lock(&lock);
	g = find(context);
	if (!g) {
		int mode = ws_real_relax_capture(WS_REAL_RELAXED);

		g = ws_alloc(sizeof *g);
		g->context = context;
		pthread_rwlock_init(&g->launching, NULL);
		pthread_mutex_init(&g->asking, NULL);
		g->primary = primary_of(context);
		g->works = make(g);
		ws_real_relax_capture(mode);
		g->next = atomic_load(&gpus);
		atomic_store(&gpus, g);
		if (!g->works)
			tell_missing();
	}
	pthread_mutex_unlock(&lock);
	pthread_once(&once, start_looking);
	return g;
}

struct ws_real_range_kernel *ws_real_race_range_kernel(void)
{
	struct ws_real_gpu *g = here();

	return g && g->works ? &g->range : NULL;
}

bool ws_real_race_one_context(void)
{
	unsigned n = 0;

	for (struct ws_real_gpu *g = atomic_load(&gpus); g; g = g->next)
		n += !g->ended;
	return n <= 1;
}

/* ---- modules ---- */
static bool fill(struct ws_real_gpu *g, void *module, bool library, const char *name)
{
	int mode = ws_real_relax_capture(WS_REAL_RELAXED);
	size_t bytes;
	uint64_t address = ws_real_variable(module, library, name, &bytes);
	bool fine = address && bytes >= sizeof g->device &&
	            !ws_real.cuMemcpyHtoDAsync_v2(address, &g->device, sizeof g->device, g->stream) &&
	            !wait_for_stream(g);

	ws_real_relax_capture(mode);
	return fine;
}

static bool is_ready(const struct ws_real_code *c, const struct ws_real_gpu *g)
{
	for (size_t k = 0; k < c->nready; k++)
		if (c->ready[k] == g)
			return true;
	return false;
}

void ws_real_race_prepare(void *function)
{
	struct ws_real_session *s = ws_real_session();
	bool library = false;
	void *module = NULL;
	struct ws_real_code *c = s && s->checks ? ws_real_code_of(function, &module, &library) : NULL;
	struct ws_real_gpu *g;

	if (!c || !c->variable)
		return;
	g = here();
	if (!g || !g->works || __atomic_load_n(&c->latest, __ATOMIC_ACQUIRE) == g)
		return;
	pthread_mutex_lock(&lock);
	if (!is_ready(c, g)) {
		if (!fill(g, module, library, c->variable))
			ws_report_limit(s->report, "a module's checks could not be set up: its kernels were not checked");
		*WS_PUSH(c->ready, c->nready, c->capready) = g;
	}
	__atomic_store_n(&c->latest, g, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&lock);
}

/* ---- counts ---- */
#define NEARLY 0.5               /* full */

/* More than all is told as well: what there was no room for is counted, too. */
static double part(uint32_t used, uint32_t there)
{
	return (double)used / there;
}

static void judge(struct ws_real_gpu *g)
{
	const struct ws_race_counts *c = g->counts;
	const struct ws_race_device *d = &g->device;
	struct ws_race_used used = { { part(c->segments, d->nsegments), part(c->cells, d->ncells), part(c->records, d->nrecords),
		                       part(c->pages, 1u << d->pages_log2), part(c->locations, 1u << d->locations_log2) } };

	for (size_t k = 0; k < WS_RACE_TABLES; k++)
		if (used.of[k] > NEARLY)
			atomic_store(&g->full, true);
	ws_race_taken_read(&g->taken, &used);
}

/* What the tables hold. It takes no more than a tenth of the time. */
static void measure(struct ws_real_gpu *g)
{
	enum { SHARE = 10 };
	uint64_t now = ws_monotonic_ns();

	if (!ws_real_session()->options.stats || now < g->measure_next || ws_real_capturing())
		return;
	ws_real_race_touched(&g->device, g->counts, g->stream);
	g->measure_next = ws_monotonic_ns() + SHARE * (ws_monotonic_ns() - now);
}

/* Errors of a kernel after which the driver does nothing more in the context. False. */
static bool note_lost(struct ws_real_gpu *g, int e)
{
	enum { ILLEGAL_ADDRESS = 700, TIMEOUT = 702, ASSERT = 710, STACK_ERROR = 714, LAUNCH_FAILED = 719 };

	if (e == ILLEGAL_ADDRESS || e == TIMEOUT || e == ASSERT || (e >= STACK_ERROR && e <= LAUNCH_FAILED))
		g->lost = e;
	return false;
}

static int read_back(const struct ws_real_gpu *g, void *to, uint64_t from, size_t bytes)
{
	int e = ws_real.cuMemcpyDtoHAsync_v2(to, from, bytes, g->stream);

	return e ? e : wait_for_stream(g);
}

static bool has_ended(void *event)
{
	return ws_real.cuEventQuery(event) != NOT_READY;
}

/* Those of which the host may ask; how many launches are left that may still run. */
static unsigned look_what_has_ended(struct ws_real_gpu *g)
{
	unsigned before = g->taken.nrunning, left = before;

	if (before && !ws_real_capturing())
		left = ws_race_taken_ended(&g->taken, has_ended);
	g->given_up &= left == before;
	return left;
}

/* Reads them, with `asking` held; the context is current. */
static bool read_counts(struct ws_real_gpu *g)
{
	int e;

	look_what_has_ended(g);              /* before, so that the counts have all of it */
	e = read_back(g, g->counts, g->device.counts, sizeof *g->counts);
	if (!e && g->counts->found)
		e = read_back(g, g->seen, g->device.seen, sizeof *g->seen << FOUND_LOG2);
	if (e)
		return note_lost(g, e);
	g->asked = ws_monotonic_ns();
	judge(g);
	measure(g);
	return true;
}

static void add_counts(struct ws_race_counts *to, const struct ws_race_counts *c)
{
	for (size_t k = 0; k < WS_RACE_LIMITS; k++)
		to->not_checked[k] += c->not_checked[k];
	to->undecided += c->undecided;
	to->lost += c->lost;
	to->records_missing += c->records_missing;
	to->found_missing += c->found_missing;
	to->sampled += c->sampled;
	to->readers += c->readers;
	to->launches_missing += c->launches_missing;
	to->entered += c->entered;
	to->waited += c->waited;
}

static uint64_t sum_of(const struct ws_race_counts *c)
{
	uint64_t sum = c->undecided + c->lost + c->records_missing + c->found_missing + c->sampled;

	for (size_t k = 0; k < WS_RACE_LIMITS; k++)
		sum += c->not_checked[k];
	return sum;
}

bool ws_real_race_sum(struct ws_real_gpu *g, struct ws_real_sum *sum)
{
	bool done;

	pthread_mutex_lock(&g->asking);
	done = read_counts(g);
	sum->counted = sum_of(g->counts) + sum_of(&g->before) + g->counts->found;
	sum->told = 0;
	for (size_t k = 0; k < (size_t)1 << FOUND_LOG2; k++)
		sum->told += g->seen[k].count;
	pthread_mutex_unlock(&g->asking);
	return done;
}

void ws_real_race_told_again(struct ws_real_gpu *g)
{
	atomic_fetch_add(&g->told_again, 1);
}

/* The tables begin anew, when no kernel runs. What was found stays. */
static void renew(struct ws_real_gpu *g)
{
	pthread_rwlock_wrlock(&g->launching);
	pthread_mutex_lock(&g->asking);
	if (atomic_load(&g->full) && !ws_real.cuCtxSynchronize() && read_counts(g)) {
		uint32_t found = g->counts->found;

		add_counts(&g->before, g->counts);
		ws_real_host_waits_all();
		memset(g->counts, 0, sizeof *g->counts);
		g->counts->found = found;
		ws_race_taken_renewed(&g->taken);
		if (!zero(g, g->base, g->layout.bytes) &&
		    !ws_real.cuMemcpyHtoDAsync_v2(g->device.counts, g->counts, sizeof *g->counts, g->stream))
			wait_for_stream(g);
	}
	atomic_store(&g->full, false);
	pthread_mutex_unlock(&g->asking);
	pthread_rwlock_unlock(&g->launching);
}

/* ---- launches ---- */
/* With `asking` held: waits until nothing runs, for then it is learned what each has taken. Not for ever: what runs may wait for what the program
 * does next. */
static bool wait_for_all(struct ws_real_gpu *g)
{
	enum { PATIENCE_MS = 2000, LITTLE_MS = 200, EVERY_NS = 20 * 1000 };
	uint64_t since = ws_monotonic_ns();
	unsigned before = UINT_MAX, left;

	while ((left = look_what_has_ended(g)) && !g->given_up) {
		uint64_t now = ws_monotonic_ns(), most = ws_race_taken_waits(&g->taken) ? LITTLE_MS : PATIENCE_MS;

		since = left < before ? now : since;
		before = left;
		g->given_up = now - since > most * 1000000;
		pthread_mutex_unlock(&g->asking);
		nanosleep(&(struct timespec){ .tv_nsec = EVERY_NS }, NULL);
		pthread_mutex_lock(&g->asking);
	}
	return !left;
}

/* kernel: NULL = none is to be launched. */
static void make_room(struct ws_real_gpu *g, const void *kernel)
{
	bool waited = true;

	pthread_mutex_lock(&g->asking);
	if (kernel && !ws_race_taken_leaves_room(&g->taken, kernel) && wait_for_all(g) && read_counts(g) && ws_race_taken_is_all(&g->taken, kernel))
		atomic_store(&g->full, true);
	if (atomic_load(&g->full))
		waited = wait_for_all(g);
	pthread_mutex_unlock(&g->asking);
	if (atomic_load(&g->full) && waited)
		renew(g);
}

/* With `asking` held. */
static void note_launch(struct ws_real_gpu *g, const struct ws_real_taking *l)
{
	enum { DISABLE_TIMING = 2 };
	struct ws_race_running *to = ws_race_taken_launched(&g->taken, l->kernel, l->waits);

	if (!to)
		return;
	if ((!to->event && ws_real.cuEventCreate(&to->event, DISABLE_TIMING)) || l->record(to->event, l->stream))
		ws_race_taken_is_lost(&g->taken, to);
}

struct ws_real_gpu *ws_real_race_begin(const void *kernel)
{
	void *context = NULL;
	struct ws_real_gpu *g;

	if (!atomic_load(&gpus) || ws_real.cuCtxGetCurrent(&context))
		return NULL;
	g = find(context);
	if (!g || !g->works)
		return NULL;
	if (!ws_real_capturing() && (kernel || atomic_load(&g->full)))
		make_room(g, kernel);
	ws_real_areas_tell(&g->areas, g->stream);
	ws_real_tensors_tell(&g->tensors, g->stream);
	pthread_rwlock_rdlock(&g->launching);
	return g;
}

void ws_real_race_end(struct ws_real_gpu *g, const struct ws_real_taking *launch)
{
	if (!g)
		return;
	atomic_store(&g->launched, true);
	if (launch && !ws_real_capturing()) {
		pthread_mutex_lock(&g->asking);
		note_launch(g, launch);
		pthread_mutex_unlock(&g->asking);
	}
	if (!ws_real_capturing() && pthread_mutex_trylock(&g->asking) == 0) {
		if (ws_monotonic_ns() - g->asked > ASK_EVERY_MS * 1000000ull)
			read_counts(g);
		pthread_mutex_unlock(&g->asking);
	}
	pthread_rwlock_unlock(&g->launching);
}

enum ws_race_probe ws_real_race_probe_found(const struct ws_real_gpu *g)
{
	return (enum ws_race_probe)__atomic_load_n(g->probe, __ATOMIC_ACQUIRE);
}

static bool probe_has_ended(const struct ws_real_gpu *g)
{
	return ws_real_race_probe_found(g) >= WS_RACE_PROBE_NOTHING;
}

/* While the program's kernels fill the GPU the probe does not begin, and they may wait for the program. */
enum ws_race_probe ws_real_race_run_probe(struct ws_real_gpu *g, void *function, unsigned blocks, const unsigned block[3], unsigned size, void **params)
{
	enum { MOST_WAITING_MS = 20, MOST_MS = 100 };
	uint64_t begin = ws_monotonic_ns(), passed = 0;
	int e = NOT_READY;

	if (g->probing && !probe_has_ended(g))
		return WS_RACE_PROBE_FOUND;
	g->probing = true;
	__atomic_store_n(g->probe, WS_RACE_PROBE_WAITS, __ATOMIC_RELEASE);
	if (ws_real.cuLaunchKernel(function, blocks, 1, 1, block[0], block[1], block[2], size, g->probes, params, NULL)) {
		g->probing = false;
		return WS_RACE_PROBE_FOUND;
	}
	while (!probe_has_ended(g) && e == NOT_READY && passed < MOST_MS * 1000000ull &&
	       (passed < MOST_WAITING_MS * 1000000ull || ws_real_race_probe_found(g) == WS_RACE_PROBE_RUNS)) {
		e = ws_real.cuStreamQuery(g->probes);
		passed = ws_monotonic_ns() - begin;
	}
	g->probing = e == NOT_READY && !probe_has_ended(g);
	return g->probing || probe_has_ended(g) ? ws_real_race_probe_found(g) : WS_RACE_PROBE_FOUND;
}

void ws_real_race_waited(void)
{
	void *context = NULL;
	struct ws_real_gpu *g;

	if (!atomic_load(&gpus) || ws_real.cuCtxGetCurrent(&context))
		return;
	g = find(context);
	if (!g || !g->works || !atomic_exchange(&g->launched, false))
		return;
	pthread_mutex_lock(&g->asking);
	read_counts(g);
	pthread_mutex_unlock(&g->asking);
}

/* ---- the report ---- */
static void ask(struct ws_real_gpu *g)
{
	void *context;
	int mode, e;

	if (!g->works || g->ended)
		return;
	e = ws_real.cuCtxPushCurrent_v2(g->context);
	if (e) {
		note_lost(g, e);
		return;
	}
	mode = ws_real_relax_capture(WS_REAL_RELAXED);
	pthread_mutex_lock(&g->asking);
	read_counts(g);
	pthread_mutex_unlock(&g->asking);
	ws_real_relax_capture(mode);
	ws_real.cuCtxPopCurrent_v2(&context);
}

void ws_real_race_read(void)
{
	for (struct ws_real_gpu *g = atomic_load(&gpus); g; g = g->next)
		ask(g);
}

void ws_real_race_forget_primary(int device)
{
	ws_real_areas_forget(NULL, device);
	for (struct ws_real_gpu *g = atomic_load(&gpus); g; g = g->next)
		g->ended |= g->primary == device;
}

void ws_real_race_forget(void *context)
{
	ws_real_areas_forget(context, -1);
	for (struct ws_real_gpu *g = atomic_load(&gpus); g; g = g->next)
		if (!g->ended && (!context || g->context == context)) {
			ask(g);
			g->ended = true;
			pthread_mutex_lock(&g->asking);
			ws_race_taken_free(&g->taken);     /* its events end with the context */
			pthread_mutex_unlock(&g->asking);
		}
}

static void tell_lost(struct ws_report *r, int error)
{
	struct ws_buf b = { 0 };

	ws_buf_printf(&b, "a kernel of the program failed (error %d of the driver%s): its launch, and what came later, was not checked; "
	              "compute-sanitizer, or warpsafe race without --gpu=real, may tell the access", error,
	              error == 700 ? ", an illegal address" : "");
	ws_report_limit_now(r, "failed kernel", b.data);
	ws_buf_free(&b);
}

static void tell_found(struct ws_report *r, struct ws_real_gpu *g)
{
	bool same_value_error = ws_real_session()->options.same_value_error;

	for (size_t k = 0; k < (size_t)1 << FOUND_LOG2; k++) {
		const struct ws_race_found *f = &g->found[k];
		uint64_t count = g->seen[k].count ? g->seen[k].count : 1;

		if (!__atomic_load_n(&f->ready, __ATOMIC_ACQUIRE) || count == g->told[k])
			continue;
		if (ws_real_race_may_be_none(ws_real_table_numbered(f->module), f))
			g->tries += count - g->told[k];
		else if (!ws_real_race_tell(r, ws_real_table_numbered(f->module), f, count - g->told[k], same_value_error))
			ws_report_limit(r, "a race was found at a place that is not known; it is not shown");
		g->told[k] = count;
	}
}

/* A figure that grows; nothing if it is 0. */
static void tell_figure(struct ws_report *r, const char *key, uint64_t n, const char *words)
{
	struct ws_buf b = { 0 };

	if (!n)
		return;
	ws_buf_printf(&b, "%s: %llu %s", key, (unsigned long long)n, words);
	ws_report_limit_now(r, key, b.data);
	ws_buf_free(&b);
}

static void tell_counts(struct ws_report *r, const struct ws_race_counts *c)
{
	static const char room[] = "accesses were not checked; give a larger --shadow-limit";
	static const char *const why[WS_RACE_LIMITS][2] = {
		[WS_RACE_NO_SEGMENT] = { "too many warps in one launch", room },
		[WS_RACE_NO_PAGE] = { "too much memory in one launch", room },
		[WS_RACE_NO_CELLS] = { "too many places in one launch", room },
		[WS_RACE_NO_SLOT] = { "too much shared memory at a time", room },
		[WS_RACE_BLOCK_OFF] = { "barriers of a part of a block",
		                        "accesses of blocks that use them were not checked" },
		[WS_RACE_NO_TENSOR] = { "layouts of tensors or matrices that are not known",
		                        "accesses of that memory were not checked" },
	};

	for (size_t k = 0; k < WS_RACE_LIMITS; k++)
		tell_figure(r, why[k][0], c->not_checked[k], why[k][1]);
	tell_figure(r, "order not known", c->undecided, "pairs of accesses may or may not be ordered");
	tell_figure(r, "parts of words", c->lost, "earlier accesses to other bytes of a word were forgotten");
	tell_figure(r, "releases and acquires", c->records_missing, "could not be noted; give a larger --shadow-limit");
	tell_figure(r, "too many races", c->found_missing, "accesses raced at further places, which are not shown");
	tell_figure(r, "reads of launches side by side", c->readers, "were forgotten: of a word one is remembered");
	tell_figure(r, "launches side by side", c->launches_missing, "times they were more than 64 of one stream; older ones were not compared");
	tell_figure(r, "races again and again", c->sampled, "words: then every 256th access was looked at; counts are lower bounds");
}

void ws_real_race_counted(uint64_t *entered, uint64_t *waited)
{
	*entered = *waited = 0;
	for (struct ws_real_gpu *g = atomic_load(&gpus); g; g = g->next) {
		if (!g->works)
			continue;
		pthread_mutex_lock(&g->asking);
		*entered += g->counts->entered + g->before.entered;
		*waited += g->counts->waited + g->before.waited;
		pthread_mutex_unlock(&g->asking);
	}
}

void ws_real_race_gather(struct ws_report *r)
{
	struct ws_race_counts sum = { 0 };
	uint64_t again = 0, tries = 0;

	for (struct ws_real_gpu *g = atomic_load(&gpus); g; g = g->next) {
		if (!g->works)
			continue;
		again += atomic_load(&g->told_again);
		ask(g);
		if (g->lost)
			tell_lost(r, g->lost);
		tell_found(r, g);
		tries += g->tries;
		pthread_mutex_lock(&g->asking);
		add_counts(&sum, g->counts);
		add_counts(&sum, &g->before);
		pthread_mutex_unlock(&g->asking);
	}
	tell_counts(r, &sum);
	tell_figure(r, "locks that were read", tries, "pairs of a read and a compare-and-swap that may have failed: it is not known whether they race");
	tell_figure(r, "races again and again", again, "launches did the accesses of one that told no new race: they were not checked; counts are lower bounds");
}

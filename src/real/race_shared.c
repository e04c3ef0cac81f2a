/* race_shared.c - launches of checked kernels with more dynamic shared memory than the program asks for, so that the cells
 * of a block's shared memory lie in shared memory as well (device/race.h), or the states of its threads do.
 *
 * Not where it would change what the program does: blocks that all run at a time, and may wait for each other, still do;
 * and kernels that read the size of shared memory find their own. Otherwise it is always worth it: the other cells lie in
 * the L2 cache, ten times as far away. */
#include <pthread.h>
#include <string.h>

#include "real/real_priv.h"

enum { SHARED_OF_BLOCK = 97 };                      /* CU_DEVICE_ATTRIBUTE_* */
enum { STATIC_SHARED = 1, MOST_DYNAMIC_SHARED = 8 };                 /* CU_FUNC_ATTRIBUTE_* */
enum { USUAL_SHARED = 48 << 10 };        /* of a block, without asking for more */

/* What the driver says of launches of a function by the same number of threads, with the same dynamic shared memory. */
struct shape {
	void *function;                      /* NULL = free */
	unsigned threads, dynamic;
	void *context;
	void *asked;                         /* CUfunction: the driver knows no attributes of a CUkernel */
	unsigned fixed;                      /* static shared memory */
	uint64_t size;                       /* with cells; 0 = they do not fit, or nothing is known */
	uint64_t states;                     /* with states of threads; 0 = none, or fewer blocks would run at a time */
	uint64_t plain, extended;            /* blocks that run at a time on the whole GPU */
	bool waits;                          /* blocks of the kernel may wait for each other */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct shape shapes[256];

static bool driver_has_all(void)
{
	return ws_real.cuFuncGetAttribute && ws_real.cuFuncSetAttribute && ws_real.cuDeviceGetAttribute &&
	       ws_real.cuCtxGetDevice && ws_real.cuCtxGetCurrent && ws_real.cuOccupancyMaxActiveBlocksPerMultiprocessor;
}

static uint64_t resident(const struct shape *s, uint64_t dynamic)
{
	return ws_real_occupancy(s->asked, s->threads, dynamic) * ws_real_processors();
}

static bool is_allowed(const struct shape *s, uint64_t size)
{
	int may;

	return !ws_real.cuFuncGetAttribute(&may, MOST_DYNAMIC_SHARED, s->asked) && may >= 0 && (uint64_t)may >= size;
}

/* The driver lets a function have more than the usual only when it was told to. What it may have is never made less: another
 * thread may be about to launch it. */
static bool allow(const struct shape *s, uint64_t size)
{
	return s->fixed + size <= USUAL_SHARED || is_allowed(s, size) ||
	       !ws_real.cuFuncSetAttribute(s->asked, MOST_DYNAMIC_SHARED, (int)size);
}

/* May the program have what it asks for, as far as we know? Else the driver is to refuse it as ever. */
static bool is_the_programs(const struct shape *s)
{
	return s->fixed + (uint64_t)s->dynamic <= USUAL_SHARED + WS_REAL_SHARED_OF_CHECKS || is_allowed(s, s->dynamic);
}

/* Has it shared memory that is not the checks' own? Its cells take what there is. */
static bool has_shared(const struct shape *s)
{
	return s->dynamic || s->fixed > WS_RACE_BLOCK_BYTES;
}

/* ---- states of threads ----
 * As many blocks run at a time with them, whether they wait for each other or not. What the program may not have is refused as ever. */
static void ask_states(struct shape *s, const struct ws_real_checked_kernel *k)
{
	uint64_t size = WS_RACE_STATES_SIZE((uint64_t)s->dynamic, s->threads);

	if (is_the_programs(s) && k->orders && !k->reads_size && !(k->shared && has_shared(s)) &&
	    s->fixed + size <= ws_real_device_attribute(SHARED_OF_BLOCK) && allow(s, size) &&
	    ws_real_occupancy(s->asked, s->threads, size) == ws_real_occupancy(s->asked, s->threads, s->dynamic))
		s->states = size;
}

static void ask(struct shape *s, const struct ws_real_checked_kernel *k)
{
	int fixed;

	s->asked = s->function;
	if (!k || k->why)
		return;
	if (!ws_real_attribute_of(&s->asked, STATIC_SHARED, &fixed))
		return;
	s->fixed = (unsigned)fixed;
	s->waits = k->waits;
	ask_states(s, k);
	s->size = WS_RACE_SHARED_SIZE(s->fixed, (uint64_t)s->dynamic, s->threads);
	if (!k->shared || k->reads_size || !has_shared(s) || s->fixed + s->size > ws_real_device_attribute(SHARED_OF_BLOCK)) {
		s->size = 0;
		return;
	}
	s->plain = resident(s, s->dynamic);
	s->extended = allow(s, s->size) ? resident(s, s->size) : 0;
}

static struct shape shape_of(void *function, unsigned threads, unsigned dynamic)
{
	struct shape want = { .function = function, .threads = threads, .dynamic = dynamic }, *s;

	if (ws_real.cuCtxGetCurrent(&want.context))
		return want;
	s = &shapes[ws_hash(&want, offsetof(struct shape, asked)) % WS_COUNT(shapes)];
	pthread_mutex_lock(&lock);
	if (memcmp(s, &want, offsetof(struct shape, asked)) != 0) {
		ask(&want, ws_real_checked_kernel_of(function));
		*s = want;
	}
	want = *s;
	pthread_mutex_unlock(&lock);
	return want;
}

void ws_real_race_shared_forget(void)
{
	pthread_mutex_lock(&lock);
	memset(shapes, 0, sizeof shapes);
	pthread_mutex_unlock(&lock);
	ws_real_plain_forget();
	ws_real_race_probe_forget();
}

/* A program's own size that by chance says more than it means. */
static bool means_something(const struct shape *s)
{
	return WS_RACE_IS_SHARED_SIZE(s->fixed, s->dynamic, s->threads) ||
	       WS_RACE_IS_PROBE_SIZE(s->fixed, s->dynamic, s->threads) || WS_RACE_IS_TOLD(s->dynamic) ||
	       WS_RACE_IS_STATES_SIZE(s->dynamic, s->threads);
}

static bool works(void *function, uint64_t threads)
{
	return function && ws_real_session() && ws_real_session()->checks && driver_has_all() && threads &&
	       threads <= WS_RACE_MAX_THREADS;
}

/* What the program may ask for without a word to the driver is, with the checks' own, more than that. */
static void allow_usual(const struct shape *s)
{
	if (s->fixed && s->fixed + (uint64_t)s->dynamic <= USUAL_SHARED + WS_REAL_SHARED_OF_CHECKS)
		allow(s, s->dynamic);
}

void ws_real_race_usual_shared(void *function, const unsigned block[3], unsigned dynamic)
{
	struct shape s;

	if (!dynamic || !works(function, ws_real_volume(block)))
		return;
	s = shape_of(function, (unsigned)ws_real_volume(block), dynamic);
	allow_usual(&s);
}

void ws_real_race_takes_all(void *function)
{
	enum { ANY = 32 };
	struct shape s;

	if (!works(function, ANY))
		return;
	s = shape_of(function, ANY, 0);
	if (s.fixed && s.fixed < ws_real_device_attribute(SHARED_OF_BLOCK))
		allow(&s, ws_real_device_attribute(SHARED_OF_BLOCK) - s.fixed);
}

void ws_real_race_make_room(struct ws_real_launching *l)
{
	struct shape s;
	uint64_t most;

	if (l->dynamic <= USUAL_SHARED || !l->kernel || l->kernel->why || !works(l->function, ws_real_volume(l->block)))
		return;
	s = shape_of(l->function, (unsigned)ws_real_volume(l->block), l->dynamic);
	most = ws_real_device_attribute(SHARED_OF_BLOCK);
	if (!s.fixed || s.fixed + (uint64_t)l->dynamic <= most || !is_allowed(&s, most - s.fixed))
		return;                      /* it has room, or the program has not asked for it: the driver refuses */
	l->plain = ws_real_plain_for(l->function, l->kernel, l->dynamic);
	if (l->plain)
		ws_real_leaves_no_room(ws_real_kernel_of(l->function), most - s.fixed);
}

static unsigned without_cells(const struct shape *s)
{
	allow_usual(s);
	return s->fixed && means_something(s) ? s->dynamic + 1 : s->dynamic;
}

unsigned ws_real_race_shared(void *function, const unsigned grid[3], const unsigned block[3], unsigned dynamic,
                             bool cooperative)
{
	uint64_t blocks = ws_real_volume(grid);
	struct shape s;
	bool stay;

	if (!works(function, ws_real_volume(block)))
		return dynamic;
	s = shape_of(function, (unsigned)ws_real_volume(block), dynamic);
	stay = cooperative || (s.waits && blocks <= s.plain);
	if (s.size && s.extended && (!stay || blocks <= s.extended) && allow(&s, s.size))
		return (unsigned)s.size;
	if (s.states && allow(&s, s.states))
		return (unsigned)s.states;
	return without_cells(&s);
}

unsigned ws_real_race_bare(const struct ws_real_launching *l)
{
	struct shape s;

	if (!works(l->function, ws_real_volume(l->block)))
		return l->all;
	s = shape_of(l->function, (unsigned)ws_real_volume(l->block), l->dynamic);
	return s.size && l->all == s.size ? without_cells(&s) : l->all;
}

bool ws_real_race_has_states(const struct ws_real_launching *l)
{
	struct shape s;

	if (!l->kernel || l->all == l->dynamic || !works(l->function, ws_real_volume(l->block)))
		return false;
	s = shape_of(l->function, (unsigned)ws_real_volume(l->block), l->dynamic);
	return s.states && l->all >= s.states && WS_RACE_IS_STATES_SIZE(l->all, s.threads);
}

/* unit: bytes for which the probe has a cell; of four words, it needs room for a fourth of the cells. */
bool ws_real_race_probe_sizes(void *function, unsigned threads, unsigned dynamic, unsigned unit, unsigned *probe, unsigned *proved)
{
	const struct ws_real_checked_kernel *k = ws_real_checked_kernel_of(function);
	struct shape s;
	unsigned most;

	if (!driver_has_all() || !threads || threads > WS_RACE_MAX_THREADS)
		return false;
	s = shape_of(function, threads, dynamic);
	*probe = WS_RACE_PROBE_SIZE(s.fixed, WS_RACE_PROBE_DYNAMIC(s.fixed, dynamic, unit), threads);
	*proved = WS_RACE_PROVED_SIZE(dynamic);
	most = *probe > *proved ? *probe : *proved;
	return (s.size || (unit > 4 && s.fixed && k && k->shared && !k->reads_size)) &&
	       s.fixed + most <= ws_real_device_attribute(SHARED_OF_BLOCK) && is_the_programs(&s) && allow(&s, most);
}

unsigned ws_real_race_silent_size(const struct ws_real_launching *l, bool probed)
{
	const struct ws_real_checked_kernel *k = l->kernel;
	unsigned size = probed ? WS_RACE_PROBED_SIZE(l->dynamic) : WS_RACE_SILENT_SIZE(l->dynamic);
	unsigned threads = l->block[0] * l->block[1] * l->block[2];
	struct shape s;

	if (!k || k->why || k->reads_size || (k->waits && k->loops) || !driver_has_all() || !threads || threads > WS_RACE_MAX_THREADS)
		return 0;
	s = shape_of(l->function, threads, l->dynamic);
	return s.fixed && s.fixed + size <= ws_real_device_attribute(SHARED_OF_BLOCK) && is_the_programs(&s) && allow(&s, size) ? size : 0;
}

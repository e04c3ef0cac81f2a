/* areas.c - the program's allocations, for the checks of kernels that are told where their pointers point to.
 *
 * Only what one call of the driver allocated as a whole, and another frees, is noted: memory of pools, of mappings and of
 * other processes is not known to the checks. The GPU gets a table whenever there is a launch and something has changed.
 * Kernels may be reading the table before: a new one is written behind it, in a ring, and then its address. An allocation
 * that was too much for the table when it was made stays unknown until it is freed, so all threads of a launch are told the
 * same. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "real/race.h"
#include "real/real_priv.h"
#include "real/streams.h"

enum { MOST = 1023, RING = 16, HEAD = 256, TABLE = sizeof(struct ws_race_areas) + MOST * sizeof(struct ws_race_area) };

struct area {
	uint64_t start, end;
	void *context;
	int device;
	bool known;                          /* to the checks */
	uint64_t number;                     /* of the allocation, from 1 on */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct area *areas;               /* by start; they do not overlap */
static size_t nareas, cap, nknown;
static uint64_t made;
static atomic_ullong version = 1;

/* ---- the list ---- */
static void drop(size_t k)
{
	nknown -= areas[k].known;
	memmove(&areas[k], &areas[k + 1], (--nareas - k) * sizeof *areas);
	atomic_fetch_add(&version, 1);
}

/* What overlaps was freed in a way that was not seen. */
static void add(struct area a)
{
	size_t k = nareas;

	while (k && areas[k - 1].end > a.start) {
		k--;
		if (areas[k].start < a.end)
			drop(k);
	}
	a.known = nknown < MOST;
	a.number = ++made;
	nknown += a.known;
	WS_PUSH(areas, nareas, cap);
	memmove(&areas[k + 1], &areas[k], (nareas - 1 - k) * sizeof *areas);
	areas[k] = a;
	atomic_fetch_add(&version, 1);
}

static int allocated(int e, const uint64_t *at, uint64_t bytes)
{
	struct area a = { .device = -1 };

	if (e || !bytes || !ws_real_session() || !ws_real_session()->checks)
		return e;
	a.start = *at;
	a.end = *at + bytes;
	ws_real_memory_comes(*at, bytes);
	if (ws_real.cuCtxGetCurrent)
		ws_real.cuCtxGetCurrent(&a.context);
	if (ws_real.cuCtxGetDevice)
		ws_real.cuCtxGetDevice(&a.device);
	pthread_mutex_lock(&lock);
	add(a);
	pthread_mutex_unlock(&lock);
	return e;
}

void ws_real_areas_forget(void *context, int device)
{
	pthread_mutex_lock(&lock);
	for (size_t k = nareas; k--;)
		if (context ? areas[k].context == context : device < 0 || areas[k].device == device)
			drop(k);
	pthread_mutex_unlock(&lock);
}

/* ---- the table on the GPU ---- */
uint64_t ws_real_areas_make(struct ws_real_areas *t, void *stream)
{
	if (ws_real.cuMemAlloc_v2(&t->base, HEAD + (size_t)RING * TABLE))
		return t->base = 0;
	if (ws_real.cuMemsetD8Async(t->base, 0, HEAD, stream) || ws_real.cuStreamSynchronize(stream))
		return 0;
	t->table = ws_alloc(TABLE);
	return t->base;
}

static size_t fill(struct ws_race_areas *table)
{
	struct ws_race_area *row = (struct ws_race_area *)(table + 1);

	*table = (struct ws_race_areas){ .count = nknown };
	for (size_t k = 0; k < nareas; k++)
		if (areas[k].known)
			*row++ = (struct ws_race_area){ areas[k].start, areas[k].end };
	return sizeof *table + nknown * sizeof *row;
}

static bool write(struct ws_real_areas *t, void *stream, size_t bytes)
{
	uint64_t at = t->base + HEAD + (uint64_t)(t->slot++ % RING) * TABLE;

	return !ws_real.cuMemcpyHtoDAsync_v2(at, t->table, bytes, stream) && !ws_real.cuStreamSynchronize(stream) &&
	       !ws_real.cuMemcpyHtoDAsync_v2(t->base, &at, sizeof at, stream) && !ws_real.cuStreamSynchronize(stream);
}

void ws_real_areas_tell(struct ws_real_areas *t, void *stream)
{
	unsigned long long now = atomic_load(&version);
	int mode;

	if (!t->table || atomic_load(&t->version) == now)
		return;
	pthread_mutex_lock(&lock);
	now = atomic_load(&version);
	if (atomic_load(&t->version) != now) {
		mode = ws_real_relax_capture(WS_REAL_RELAXED);
		if (!write(t, stream, fill(t->table)))
			ws_report_limit(ws_real_session()->report, "the GPU could not be told what memory the program "
			                                           "has allocated and freed");
		ws_real_relax_capture(mode);
		atomic_store(&t->version, now);
	}
	pthread_mutex_unlock(&lock);
}

bool ws_real_area_at(uint64_t address, uint64_t *start, uint64_t *end)
{
	bool found = false;

	pthread_mutex_lock(&lock);
	for (size_t k = 0; k < nareas && !found; k++) {
		found = areas[k].known && areas[k].start <= address && address < areas[k].end;
		*start = areas[k].start;
		*end = areas[k].end;
	}
	pthread_mutex_unlock(&lock);
	return found;
}

/* ---- the driver's functions ---- */
int ws_real_cuMemAlloc_v2(uint64_t *out, size_t bytes)
{
	return allocated(ws_real.cuMemAlloc_v2(out, bytes), out, bytes);
}

int ws_real_cuMemAllocManaged(uint64_t *out, size_t bytes, unsigned flags)
{
	return allocated(ws_real.cuMemAllocManaged(out, bytes, flags), out, bytes);
}

int ws_real_cuMemAllocPitch_v2(uint64_t *out, size_t *pitch, size_t width, size_t height, unsigned element)
{
	int e = ws_real.cuMemAllocPitch_v2(out, pitch, width, height, element);

	return allocated(e, out, e ? 0 : *pitch * height);
}

static size_t find(uint64_t start, uint64_t number)
{
	size_t k = 0;

	while (k < nareas && (areas[k].start != start || (number && areas[k].number != number)))
		k++;
	return k;
}

void ws_real_area_gone(uint64_t start)
{
	size_t k;

	pthread_mutex_lock(&lock);
	k = find(start, 0);
	if (k < nareas)
		drop(k);
	pthread_mutex_unlock(&lock);
}

/* The driver waits for kernels that use it, and then another thread may get the same memory at once. */
int ws_real_cuMemFree_v2(uint64_t p)
{
	uint64_t number;
	size_t k;
	int e;

	pthread_mutex_lock(&lock);
	k = find(p, 0);
	number = k < nareas ? areas[k].number : 0;
	pthread_mutex_unlock(&lock);
	e = ws_real.cuMemFree_v2(p);
	ws_real_host_waits_all();
	pthread_mutex_lock(&lock);
	k = number && !e ? find(p, number) : nareas;
	if (k < nareas)
		drop(k);
	pthread_mutex_unlock(&lock);
	return e;
}

/* wrap_memory.c - memory that comes and goes in the order of a stream (cuMemAllocAsync, cuMemFreeAsync): operations of it, that write the
 * whole. So who uses memory that another stream allocates, or frees, and nothing orders the two, has a race with that. CUDA C++
 * Programming Guide, Stream Ordered Memory Allocator. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "real/range.h"
#include "real/real_priv.h"
#include "real/streams.h"

struct stretch { uint64_t at, bytes; };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct stretch *stretches;            /* that are there, by address */
static size_t nstretches, cap;

/* The number of those that begin at an address or before it. */
static size_t up_to(uint64_t at)
{
	size_t low = 0, high = nstretches;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (stretches[mid].at <= at)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static void remove_at(size_t k)
{
	memmove(&stretches[k], &stretches[k + 1], (--nstretches - k) * sizeof *stretches);
}

static void note(uint64_t at, uint64_t bytes)
{
	size_t k;

	pthread_mutex_lock(&lock);
	k = up_to(at);
	if (k && stretches[k - 1].at == at)      /* that one was freed by a call that is not seen */
		remove_at(--k);
	WS_PUSH(stretches, nstretches, cap);
	memmove(&stretches[k + 1], &stretches[k], (nstretches - 1 - k) * sizeof *stretches);
	stretches[k] = (struct stretch){ at, bytes };
	pthread_mutex_unlock(&lock);
}

/* 0: it was not allocated here, or by a call that waits for nothing. */
static uint64_t forget(uint64_t at)
{
	uint64_t bytes = 0;
	size_t k;

	pthread_mutex_lock(&lock);
	k = up_to(at);
	if (k && stretches[k - 1].at == at) {
		bytes = stretches[k - 1].bytes;
		remove_at(k - 1);
	}
	pthread_mutex_unlock(&lock);
	return bytes;
}

bool ws_real_memory_around(uint64_t address, uint64_t *start, uint64_t *end)
{
	size_t k;
	bool is;

	pthread_mutex_lock(&lock);
	k = up_to(address);
	is = k && address - stretches[k - 1].at < stretches[k - 1].bytes;
	if (is) {
		*start = stretches[k - 1].at;
		*end = *start + stretches[k - 1].bytes;
	}
	pthread_mutex_unlock(&lock);
	return is;
}

static void tell(uint64_t at, uint64_t bytes, bool frees, struct ws_real_lane lane)
{
	struct ws_real_range r = { .at = at, .width = bytes, .pitch = bytes, .rows = 1, .write = true,
		                   .of = frees ? WS_RACE_IS_FREE : WS_RACE_IS_ALLOC };
	struct ws_real_gpu *g = ws_real_race_begin(NULL);
	struct ws_race_launch said;

	if (ws_real_stream_memory(lane, at, bytes, frees, &said))
		ws_real_range_tell(&r, &said, lane);
	ws_real_race_end(g, NULL);
}

static bool is_followed(struct ws_real_lane lane)
{
	return ws_real_session() && ws_real_session()->checks && !ws_real_is_captured(lane.stream, lane.per_thread);
}

static int allocated(int e, const uint64_t *out, size_t bytes, struct ws_real_lane lane)
{
	if (e || !bytes || !is_followed(lane))
		return e;
	note(*out, bytes);
	tell(*out, bytes, false, lane);
	return e;
}

/* Before the driver's call: behind it the memory may be another stream's at once. */
static void freed(uint64_t at, struct ws_real_lane lane)
{
	uint64_t bytes, start, end;

	if (!at || !is_followed(lane))
		return;
	bytes = forget(at);
	if (!bytes && ws_real_area_at(at, &start, &end) && start == at)
		bytes = end - start;
	ws_real_area_gone(at);
	if (bytes)
		tell(at, bytes, true, lane);
	else
		ws_real_host_waits_all();            /* memory of which nothing is known may come again anywhere */
}

#define IN(per_thread) ((struct ws_real_lane){ stream, per_thread })
#define FORMS(name, per_thread)                                                                                         \
	int ws_real_cuMemAllocAsync##name(uint64_t *out, size_t bytes, void *stream)                                    \
	{                                                                                                               \
		return allocated(ws_real.cuMemAllocAsync##name(out, bytes, stream), out, bytes, IN(per_thread));        \
	}                                                                                                               \
	int ws_real_cuMemAllocFromPoolAsync##name(uint64_t *out, size_t bytes, void *pool, void *stream)                \
	{                                                                                                               \
		return allocated(ws_real.cuMemAllocFromPoolAsync##name(out, bytes, pool, stream), out, bytes, IN(per_thread)); \
	}                                                                                                               \
	int ws_real_cuMemFreeAsync##name(uint64_t at, void *stream)                                                     \
	{                                                                                                               \
		freed(at, IN(per_thread));                                                                              \
		return ws_real.cuMemFreeAsync##name(at, stream);                                                        \
	}
FORMS(, false)
FORMS(_ptsz, true)

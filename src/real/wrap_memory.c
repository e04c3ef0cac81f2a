/* wrap_memory.c - memory that comes and goes in the order of a stream (cuMemAllocAsync, cuMemFreeAsync): operations of it, that write the
 * whole. So who uses memory that another stream allocates, or frees, and nothing orders the two, has a race with that. CUDA C++
 * Programming Guide, Stream Ordered Memory Allocator. */
#include <pthread.h>
#include <stdlib.h>

#include "cuda/map.h"
#include "real/range.h"
#include "real/real_priv.h"
#include "real/streams.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct ws_map sizes;                  /* of allocations, by address */

static const void *key_of(uint64_t at) { return (const void *)(uintptr_t)at; }

static void note(uint64_t at, uint64_t bytes)
{
	pthread_mutex_lock(&lock);
	ws_map_put(&sizes, key_of(at), (void *)(uintptr_t)bytes);
	pthread_mutex_unlock(&lock);
}

/* 0: it was not allocated here, or by a call that waits for nothing. */
static uint64_t forget(uint64_t at)
{
	uint64_t bytes;

	pthread_mutex_lock(&lock);
	bytes = (uint64_t)(uintptr_t)ws_map_get(&sizes, key_of(at));
	if (bytes)
		ws_map_remove(&sizes, key_of(at));
	pthread_mutex_unlock(&lock);
	return bytes;
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

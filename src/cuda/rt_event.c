/* rt_event.c - events: points of time of the host's clock, since all enqueued work runs at the call; with `warpsafe sim` of the
 * simulated one. */
#include "cuda/clocked.h"
#include "cuda/graph.h"

#include <stdlib.h>

#include "base/process.h"
#include "cuda/map.h"

static struct ws_map events;

struct ws_event *ws_event_of(void *handle)
{
	struct ws_event *e;

	ws_front_lock();
	e = ws_map_get(&events, handle);
	ws_front_unlock();
	return e;
}

int ws_event_new(void **out, unsigned flags)
{
	unsigned known = WS_EVENT_BLOCKING_SYNC | WS_EVENT_DISABLE_TIMING | WS_EVENT_INTERPROCESS;
	struct ws_event *e;

	if (!out || flags & ~known)
		return WS_CUDA_INVALID_VALUE;
	e = ws_alloc(sizeof *e);
	e->flags = flags;
	ws_front_lock();
	ws_map_put(&events, e, e);
	ws_front_unlock();
	*out = e;
	return 0;
}

int ws_event_free(void *handle)
{
	struct ws_event *e = ws_event_of(handle);

	if (!e)
		return WS_CUDA_INVALID_HANDLE;
	ws_front_lock();
	ws_map_remove(&events, handle);
	ws_front_unlock();
	ws_front_lock();
	ws_capture_drop(&e->capture);
	ws_front_unlock();
	ws_clock_free(&e->known);
	free(e->last);
	free(e);
	return 0;
}

int ws_event_stamp(struct ws_event *e, const struct ws_lane *lane)
{
	if (!ws_event_of(e))
		return WS_CUDA_INVALID_HANDLE;
	e->ns = ws_clocked_ns();
	e->recorded = true;
	ws_sync_record(lane, &e->known);
	ws_front_lock();
	ws_capture_drop(&e->capture);
	ws_front_unlock();
	return 0;
}

int ws_event_record(void *event, void *stream, const char *call)
{
	struct ws_event *e = ws_event_of(event);
	struct ws_stream *s;

	if (!e || !ws_stream_of(stream, &s))
		return WS_CUDA_INVALID_HANDLE;
	if (!s || !s->capture) {
		struct ws_lane lane = ws_sync_lane(stream);

		return ws_event_stamp(e, &lane);
	}
	ws_capture_fork(e, s);
	return 0;
}

int ws_event_wait(void *stream, void *event, const char *call)
{
	struct ws_event *e = ws_event_of(event);
	struct ws_lane lane;
	struct ws_stream *s;

	if (!e || !ws_stream_of(stream, &s))
		return WS_CUDA_INVALID_HANDLE;
	if (e->capture)
		return s ? ws_capture_join(s, e) : WS_CUDA_CAPTURE_IMPLICIT;
	lane = ws_sync_lane(stream);
	ws_sync_wait(&lane, &e->known);
	return 0;
}

int ws_event_state(void *handle)
{
	struct ws_event *e = ws_event_of(handle);

	if (!e || e->capture)
		return e ? WS_CUDA_CAPTURED_EVENT : WS_CUDA_INVALID_HANDLE;
	ws_sync_host_waits(&e->known);
	return 0;
}

/* CUDA promises half a microsecond of resolution; that much is told at least, so that nobody divides by zero. */
int ws_event_elapsed(float *ms, void *start, void *end)
{
	struct ws_event *a = ws_event_of(start), *b = ws_event_of(end);

	if (!a || !b || !a->recorded || !b->recorded || (a->flags | b->flags) & WS_EVENT_DISABLE_TIMING)
		return WS_CUDA_INVALID_HANDLE;
	if (!ms)
		return WS_CUDA_INVALID_VALUE;
	ws_sync_host_waits(&a->known); /* else the call would say that they are not ready */
	ws_sync_host_waits(&b->known);
	*ms = (float)((double)(int64_t)(b->ns - a->ns) / 1e6);
	if (b->ns >= a->ns && *ms < 0.0005f && a != b)
		*ms = 0.0005f;
	return 0;
}

/* ---- runtime ---- */
WS_RT(cudaEventCreate, void **out)
{
	WS_BEGIN();
	return ws_fail(ws_event_new(out, 0));
}

WS_RT(cudaEventCreateWithFlags, void **out, unsigned flags)
{
	WS_BEGIN();
	return ws_fail(ws_event_new(out, flags));
}

WS_RT(cudaEventDestroy, void *event)
{
	WS_BEGIN();
	return ws_fail(ws_event_free(event));
}

WS_RT(cudaEventRecord, void *event, void *stream)
{
	WS_BEGIN();
	return ws_fail(ws_event_record(event, stream, "cudaEventRecord"));
}

WS_RT(cudaEventRecordWithFlags, void *event, void *stream, unsigned flags)
{
	WS_BEGIN();
	return ws_fail(ws_event_record(event, stream, "cudaEventRecordWithFlags"));
}

WS_RT(cudaEventQuery, void *event)
{
	WS_BEGIN();
	return ws_fail(ws_event_state(event));
}

WS_RT(cudaEventSynchronize, void *event)
{
	WS_BEGIN();
	return ws_fail(ws_event_state(event));
}

WS_RT(cudaEventElapsedTime, float *ms, void *start, void *end)
{
	WS_BEGIN();
	return ws_fail(ws_event_elapsed(ms, start, end));
}

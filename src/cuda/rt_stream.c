/* rt_stream.c - streams: handles with attributes; what is enqueued has always run already. */
#include "cuda/rt.h"

#include <stdlib.h>
#include <string.h>

#include "cuda/map.h"

enum { PRIORITY_LEAST = 0, PRIORITY_GREATEST = -5 };

static struct ws_map streams;
static uint64_t next_id = WS_STREAM_FIRST_ID;
static _Thread_local bool per_thread; /* the call is of a program with a default stream per thread */

void ws_call_begins(void)
{
	extern _Thread_local bool ws_call_per_thread __attribute__((tls_model("initial-exec"), visibility("hidden")));

	per_thread = ws_call_per_thread;
	ws_call_per_thread = false;
}

void *ws_stream_resolve(void *handle)
{
	return !handle && per_thread ? (void *)WS_STREAM_PER_THREAD : handle;
}

bool ws_stream_of(void *handle, struct ws_stream **out)
{
	uintptr_t h = (uintptr_t)handle;

	*out = NULL;
	if (h <= WS_STREAM_PER_THREAD)
		return true;
	ws_front_lock();
	*out = ws_map_get(&streams, handle);
	ws_front_unlock();
	return *out != NULL;
}

uint64_t ws_stream_id(void *handle)
{
	struct ws_stream *s;

	handle = ws_stream_resolve(handle);
	if (!ws_stream_of(handle, &s) || !s)
		return (uintptr_t)handle <= WS_STREAM_PER_THREAD ? (uintptr_t)handle : 0;
	return s->id;
}

int ws_stream_new(void **out, unsigned flags, int priority)
{
	struct ws_stream *s;

	if (!out || flags & ~(unsigned)WS_STREAM_NON_BLOCKING)
		return WS_CUDA_INVALID_VALUE;
	s = ws_alloc(sizeof *s);
	s->flags = flags;
	s->priority = priority < PRIORITY_GREATEST ? PRIORITY_GREATEST
		      : priority > PRIORITY_LEAST  ? PRIORITY_LEAST
						   : priority;
	s->timeline = ws_sync_stream_new(!(flags & WS_STREAM_NON_BLOCKING));
	ws_front_lock();
	s->id = next_id++;
	ws_map_put(&streams, s, s);
	ws_front_unlock();
	*out = s;
	return 0;
}

int ws_stream_free(void *handle)
{
	struct ws_stream *s;

	if (!ws_stream_of(handle, &s) || !s)
		return WS_CUDA_INVALID_HANDLE;
	ws_front_lock();
	ws_map_remove(&streams, handle);
	ws_front_unlock();
	ws_sync_stream_end(s->timeline);
	free(s->last);
	free(s);
	return 0;
}

/* ---- runtime ---- */
WS_RT(cudaStreamCreate, void **out)
{
	WS_BEGIN();
	return ws_fail(ws_stream_new(out, 0, 0));
}

WS_RT(cudaStreamCreateWithFlags, void **out, unsigned flags)
{
	WS_BEGIN();
	return ws_fail(ws_stream_new(out, flags, 0));
}

WS_RT(cudaStreamCreateWithPriority, void **out, unsigned flags, int priority)
{
	WS_BEGIN();
	return ws_fail(ws_stream_new(out, flags, priority));
}

WS_RT(cudaStreamDestroy, void *stream)
{
	WS_BEGIN();
	return ws_fail(ws_stream_free(stream));
}

/* All work is done already; that the host knows of it is new. */
int ws_stream_wait(void *stream)
{
	struct ws_stream *s;

	if (!ws_stream_of(stream, &s))
		return WS_CUDA_INVALID_HANDLE;
	if (s && s->capture)
		return WS_CUDA_CAPTURE_UNSUPPORTED;
	ws_sync_host_waits_stream(stream);
	return 0;
}

WS_RT(cudaStreamSynchronize, void *stream)
{
	WS_BEGIN();
	return ws_fail(ws_stream_wait(stream));
}

WS_RT(cudaStreamQuery, void *stream)
{
	WS_BEGIN();
	return ws_fail(ws_stream_wait(stream));
}

WS_RT(cudaStreamGetPriority, void *stream, int *priority)
{
	struct ws_stream *s;

	WS_BEGIN();
	if (!ws_stream_of(stream, &s))
		return ws_fail(WS_CUDA_INVALID_HANDLE);
	if (!priority)
		return ws_fail(WS_CUDA_INVALID_VALUE);
	*priority = s ? s->priority : 0;
	return 0;
}

WS_RT(cudaStreamGetFlags, void *stream, unsigned *flags)
{
	struct ws_stream *s;

	WS_BEGIN();
	if (!ws_stream_of(stream, &s))
		return ws_fail(WS_CUDA_INVALID_HANDLE);
	if (!flags)
		return ws_fail(WS_CUDA_INVALID_VALUE);
	*flags = s ? s->flags : 0;
	return 0;
}

WS_RT(cudaStreamGetId, void *stream, unsigned long long *id)
{
	struct ws_stream *s;

	WS_BEGIN();
	if (!ws_stream_of(stream, &s))
		return ws_fail(WS_CUDA_INVALID_HANDLE);
	if (!id)
		return ws_fail(WS_CUDA_INVALID_VALUE);
	*id = ws_stream_id(stream);
	return 0;
}

WS_RT(cudaStreamGetDevice, void *stream, int *device)
{
	struct ws_stream *s;

	WS_BEGIN();
	if (!ws_stream_of(stream, &s))
		return ws_fail(WS_CUDA_INVALID_HANDLE);
	if (!device)
		return ws_fail(WS_CUDA_INVALID_VALUE);
	*device = 0;
	return 0;
}

WS_RT(cudaStreamWaitEvent, void *stream, void *event, unsigned flags)
{
	WS_BEGIN();
	return ws_fail(ws_event_wait(stream, event, "cudaStreamWaitEvent"));
}

WS_RT(cudaStreamAddCallback, void *stream, void (*fn)(void *, int, void *), void *user, unsigned flags)
{
	struct ws_work op = {.type = WS_NODE_HOST, .u.host = {.callback = fn, .user = user}};

	WS_BEGIN();
	if (!fn)
		return ws_fail(WS_CUDA_INVALID_VALUE);
	return ws_fail(ws_work_submit(stream, &op, "cudaStreamAddCallback"));
}

WS_RT(cudaLaunchHostFunc, void *stream, void (*fn)(void *), void *user)
{
	struct ws_work op = {.type = WS_NODE_HOST, .u.host = {.fn = fn, .user = user}};

	WS_BEGIN();
	if (!fn)
		return ws_fail(WS_CUDA_INVALID_VALUE);
	return ws_fail(ws_work_submit(stream, &op, "cudaLaunchHostFunc"));
}

WS_RT(cudaStreamAttachMemAsync, void *stream, void *ptr, size_t length, unsigned flags)
{
	struct ws_stream *s;

	WS_BEGIN();
	return ws_fail(ws_stream_of(stream, &s) ? 0 : WS_CUDA_INVALID_HANDLE);
}

/* Attributes (access policy, synchronization policy, priority) change speed only. */
WS_RT(cudaStreamSetAttribute, void *stream, int attribute, const void *value)
{
	struct ws_stream *s;

	WS_BEGIN();
	return ws_fail(ws_stream_of(stream, &s) && value ? 0 : WS_CUDA_INVALID_VALUE);
}

WS_RT(cudaStreamGetAttribute, void *stream, int attribute, void *value)
{
	struct ws_stream *s;

	WS_BEGIN();
	if (!ws_stream_of(stream, &s) || !value)
		return ws_fail(WS_CUDA_INVALID_VALUE);
	memset(value, 0, 64);
	return 0;
}

WS_RT(cudaStreamCopyAttributes, void *dst, void *src)
{
	struct ws_stream *a, *b;

	WS_BEGIN();
	return ws_fail(ws_stream_of(dst, &a) && ws_stream_of(src, &b) ? 0 : WS_CUDA_INVALID_HANDLE);
}

WS_RT(cudaDeviceGetStreamPriorityRange, int *least, int *greatest)
{
	WS_BEGIN();
	if (least)
		*least = PRIORITY_LEAST;
	if (greatest)
		*greatest = PRIORITY_GREATEST;
	return 0;
}

WS_RT(cudaCtxResetPersistingL2Cache, void)
{
	return ws_begin();
}

/* wrap_stream.c - streams, events, functions of the host in streams: what it says of the order of launches (streams.h).
 * The order is noted before the driver does it; that the host has waited, behind it. */
#include "real/real_priv.h"
#include "real/streams.h"

/* In the default stream of the process, and of each thread (_ptsz). */
static struct ws_real_lane of_process(void *stream)
{
	return (struct ws_real_lane){ stream, false };
}

static struct ws_real_lane of_thread(void *stream)
{
	return (struct ws_real_lane){ stream, true };
}

/* ---- streams ---- */
static int made(int e, void *const *stream, unsigned flags)
{
	if (!e)
		ws_real_stream_made(*stream, !(flags & WS_REAL_NON_BLOCKING));
	return e;
}

int ws_real_cuStreamCreate(void **stream, unsigned flags)
{
	return made(ws_real.cuStreamCreate(stream, flags), stream, flags);
}

int ws_real_cuStreamCreateWithPriority(void **stream, unsigned flags, int priority)
{
	return made(ws_real.cuStreamCreateWithPriority(stream, flags, priority), stream, flags);
}

int ws_real_cuStreamDestroy(void *stream)
{
	ws_real_stream_ended(stream);
	return ws_real.cuStreamDestroy(stream);
}

int ws_real_cuStreamDestroy_v2(void *stream)
{
	ws_real_stream_ended(stream);
	return ws_real.cuStreamDestroy_v2(stream);
}

static int asked(int e, struct ws_real_lane lane)
{
	if (!e) {
		ws_real_host_waits_stream(lane);
		ws_real_stream_has_ended(lane);
	}
	return e;
}

int ws_real_cuStreamQuery(void *stream)
{
	return asked(ws_real.cuStreamQuery(stream), of_process(stream));
}

int ws_real_cuStreamQuery_ptsz(void *stream)
{
	return asked(ws_real.cuStreamQuery_ptsz(stream), of_thread(stream));
}

/* In a stream that is captured events join nodes of the graph, and tell nothing of streams. The event's own record is gone. */
static void waits(struct ws_real_lane lane, void *event)
{
	if (!ws_real_is_captured(lane.stream, lane.per_thread))
		ws_real_stream_waits(lane, event);
}

static void recorded(void *event, struct ws_real_lane lane)
{
	if (ws_real_is_captured(lane.stream, lane.per_thread))
		ws_real_event_ended(event);
	else
		ws_real_event_recorded(event, lane);
}

/* A function of the host in the stream. */
static void calls(struct ws_real_lane lane)
{
	if (!ws_real_is_captured(lane.stream, lane.per_thread))
		ws_real_host_waits_stream(lane);
}

int ws_real_cuStreamWaitEvent(void *stream, void *event, unsigned flags)
{
	waits(of_process(stream), event);
	return ws_real.cuStreamWaitEvent(stream, event, flags);
}

int ws_real_cuStreamWaitEvent_ptsz(void *stream, void *event, unsigned flags)
{
	waits(of_thread(stream), event);
	return ws_real.cuStreamWaitEvent_ptsz(stream, event, flags);
}

/* ---- functions of the host in a stream: they come behind what is before them there, and the host may hand that on ---- */
int ws_real_cuStreamAddCallback(void *stream, void (*f)(void *, int, void *), void *user, unsigned flags)
{
	calls(of_process(stream));
	return ws_real.cuStreamAddCallback(stream, f, user, flags);
}

int ws_real_cuStreamAddCallback_ptsz(void *stream, void (*f)(void *, int, void *), void *user, unsigned flags)
{
	calls(of_thread(stream));
	return ws_real.cuStreamAddCallback_ptsz(stream, f, user, flags);
}

int ws_real_cuLaunchHostFunc(void *stream, void (*f)(void *), void *user)
{
	calls(of_process(stream));
	return ws_real.cuLaunchHostFunc(stream, f, user);
}

int ws_real_cuLaunchHostFunc_ptsz(void *stream, void (*f)(void *), void *user)
{
	calls(of_thread(stream));
	return ws_real.cuLaunchHostFunc_ptsz(stream, f, user);
}

/* ---- events ---- */
int ws_real_cuEventRecord(void *event, void *stream)
{
	recorded(event, of_process(stream));
	return ws_real.cuEventRecord(event, stream);
}

int ws_real_cuEventRecord_ptsz(void *event, void *stream)
{
	recorded(event, of_thread(stream));
	return ws_real.cuEventRecord_ptsz(event, stream);
}

int ws_real_cuEventRecordWithFlags(void *event, void *stream, unsigned flags)
{
	recorded(event, of_process(stream));
	return ws_real.cuEventRecordWithFlags(event, stream, flags);
}

int ws_real_cuEventRecordWithFlags_ptsz(void *event, void *stream, unsigned flags)
{
	recorded(event, of_thread(stream));
	return ws_real.cuEventRecordWithFlags_ptsz(event, stream, flags);
}

int ws_real_cuEventQuery(void *event)
{
	int e = ws_real.cuEventQuery(event);

	if (!e)
		ws_real_host_waits_event(event);
	return e;
}

int ws_real_cuEventDestroy(void *event)
{
	ws_real_event_ended(event);
	return ws_real.cuEventDestroy(event);
}

int ws_real_cuEventDestroy_v2(void *event)
{
	ws_real_event_ended(event);
	return ws_real.cuEventDestroy_v2(event);
}

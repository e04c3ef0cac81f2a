/* drv_stream.c - driver API: launches, streams, events. */
#include "cuda/drv.h"

/* ---- launches ---- */
static int launch(void *func, const struct ws_launch_config *c, void **params, void **extra, const char *call)
{
	struct ws_function *f;
	int e;

	WS_DRV_BEGIN();
	f = ws_function_of(func, &e);
	if (e)
		return e == WS_CUDA_INVALID_DEVICE_FUNCTION ? WS_CUDA_INVALID_HANDLE : ws_drv(e);
	return ws_drv(ws_launch_config(c, f, params, extra, call));
}

WS_RT(cuLaunchKernel, void *func, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
      unsigned shared, void *stream, void **params, void **extra)
{
	struct ws_launch_config c = {.grid = {gx, gy, gz}, .block = {bx, by, bz}, .shared = shared, .stream = stream};

	return launch(func, &c, params, extra, "cuLaunchKernel");
}

WS_RT(cuLaunchCooperativeKernel, void *func, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
      unsigned bz, unsigned shared, void *stream, void **params)
{
	struct ws_launch_attribute cooperative = {.id = WS_LAUNCH_COOPERATIVE, .value.cooperative = 1};
	struct ws_launch_config c = {.grid = {gx, gy, gz},
				     .block = {bx, by, bz},
				     .shared = shared,
				     .stream = stream,
				     .attrs = &cooperative,
				     .nattrs = 1};

	return launch(func, &c, params, NULL, "cuLaunchCooperativeKernel");
}

struct ws_launch_config ws_drv_launch_config(const struct ws_drv_config *c)
{
	return (struct ws_launch_config){c->grid, c->block, c->shared, c->stream, c->attrs, c->nattrs};
}

WS_RT(cuLaunchKernelEx, const struct ws_drv_config *config, void *func, void **params, void **extra)
{
	struct ws_launch_config c;

	if (!config)
		return WS_CUDA_INVALID_VALUE;
	c = ws_drv_launch_config(config);
	return launch(func, &c, params, extra, "cuLaunchKernelEx");
}

WS_RT(cuLaunchHostFunc, void *stream, void (*fn)(void *), void *user)
{
	struct ws_work op = {.type = WS_NODE_HOST, .u.host = {.fn = fn, .user = user}};

	WS_DRV_BEGIN();
	return fn ? ws_drv(ws_work_submit(stream, &op, "cuLaunchHostFunc")) : WS_CUDA_INVALID_VALUE;
}

/* ---- streams ---- */
WS_RT(cuStreamCreate, void **out, unsigned flags)
{
	WS_DRV_BEGIN();
	return ws_drv(ws_stream_new(out, flags, 0));
}

WS_RT(cuStreamCreateWithPriority, void **out, unsigned flags, int priority)
{
	WS_DRV_BEGIN();
	return ws_drv(ws_stream_new(out, flags, priority));
}

WS_RT(cuStreamDestroy_v2, void *stream)
{
	WS_DRV_BEGIN();
	return ws_drv(ws_stream_free(stream));
}

static int wait_for(void *stream)
{
	WS_DRV_BEGIN();
	return ws_drv(ws_stream_wait(stream));
}

WS_RT(cuStreamSynchronize, void *stream)
{
	return wait_for(stream);
}

WS_RT(cuStreamQuery, void *stream)
{
	return wait_for(stream);
}

WS_RT(cuStreamWaitEvent, void *stream, void *event, unsigned flags)
{
	WS_DRV_BEGIN();
	return ws_drv(ws_event_wait(stream, event, "cuStreamWaitEvent"));
}

WS_RT(cuStreamAddCallback, void *stream, void (*fn)(void *, int, void *), void *user, unsigned flags)
{
	struct ws_work op = {.type = WS_NODE_HOST, .u.host = {.callback = fn, .user = user}};

	WS_DRV_BEGIN();
	return fn ? ws_drv(ws_work_submit(stream, &op, "cuStreamAddCallback")) : WS_CUDA_INVALID_VALUE;
}

WS_RT(cuStreamGetFlags, void *stream, unsigned *flags)
{
	struct ws_stream *s;

	if (!ws_stream_of(stream, &s) || !flags)
		return flags ? WS_CUDA_INVALID_HANDLE : WS_CUDA_INVALID_VALUE;
	*flags = s ? s->flags : 0;
	return 0;
}

WS_RT(cuStreamGetPriority, void *stream, int *priority)
{
	struct ws_stream *s;

	if (!ws_stream_of(stream, &s) || !priority)
		return priority ? WS_CUDA_INVALID_HANDLE : WS_CUDA_INVALID_VALUE;
	*priority = s ? s->priority : 0;
	return 0;
}

WS_RT(cuStreamAttachMemAsync, void *stream, uint64_t p, size_t n, unsigned flags)
{
	struct ws_stream *s;

	return ws_stream_of(stream, &s) ? 0 : WS_CUDA_INVALID_HANDLE;
}

/* ---- events ---- */
WS_RT(cuEventCreate, void **out, unsigned flags)
{
	WS_DRV_BEGIN();
	return ws_drv(ws_event_new(out, flags));
}

WS_RT(cuEventDestroy_v2, void *event)
{
	WS_DRV_BEGIN();
	return ws_drv(ws_event_free(event));
}

WS_RT(cuEventRecord, void *event, void *stream)
{
	WS_DRV_BEGIN();
	return ws_drv(ws_event_record(event, stream, "cuEventRecord"));
}

WS_RT(cuEventRecordWithFlags, void *event, void *stream, unsigned flags)
{
	WS_DRV_BEGIN();
	return ws_drv(ws_event_record(event, stream, "cuEventRecordWithFlags"));
}

WS_RT(cuEventSynchronize, void *event)
{
	WS_DRV_BEGIN();
	return ws_drv(ws_event_state(event));
}

WS_RT(cuEventQuery, void *event)
{
	WS_DRV_BEGIN();
	return ws_drv(ws_event_state(event));
}

WS_RT(cuEventElapsedTime_v2, float *ms, void *start, void *end)
{
	WS_DRV_BEGIN();
	return ws_drv(ws_event_elapsed(ms, start, end));
}

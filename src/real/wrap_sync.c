/* wrap_sync.c - calls at which the program waits for the GPU: what is to be read from finished launches is read there,
 * for at the end of a process the runtime takes the context away before anybody else comes. */
#include "real/real_priv.h"
#include "real/streams.h"

int ws_real_waited(int e)
{
	ws_real_times_read(false);
	ws_real_race_waited();
	ws_real_transact_waited(e);
	return e;
}

int ws_real_cuCtxSynchronize(void)
{
	int e = ws_real.cuCtxSynchronize();

	ws_real_host_waits_all();
	if (!e && ws_real_race_one_context())
		ws_real_all_has_ended();
	return ws_real_waited(e);
}

static int waited_for_stream(int e, void *stream, bool per_thread)
{
	struct ws_real_lane lane = { stream, per_thread };

	ws_real_host_waits_stream(lane);
	if (!e)
		ws_real_stream_has_ended(lane);
	return ws_real_waited(e);
}

int ws_real_cuStreamSynchronize(void *stream)
{
	return waited_for_stream(ws_real.cuStreamSynchronize(stream), stream, false);
}

int ws_real_cuStreamSynchronize_ptsz(void *stream)
{
	return waited_for_stream(ws_real.cuStreamSynchronize_ptsz(stream), stream, true);
}

int ws_real_cuEventSynchronize(void *event)
{
	int e = ws_real.cuEventSynchronize(event);

	ws_real_host_waits_event(event);
	return ws_real_waited(e);
}

/* The context ends with its last user. */
static int released(int device, int e)
{
	unsigned flags;
	int active = 1;

	if (!e && ws_real.cuDevicePrimaryCtxGetState && !ws_real.cuDevicePrimaryCtxGetState(device, &flags, &active) && !active) {
		ws_real_race_forget_primary(device);
		ws_real_transact_forget(NULL);
	}
	return e;
}

int ws_real_cuDevicePrimaryCtxRelease(int device)
{
	ws_real_times_read(true);
	ws_real_race_read();
	return released(device, ws_real.cuDevicePrimaryCtxRelease(device));
}

int ws_real_cuDevicePrimaryCtxRelease_v2(int device)
{
	ws_real_times_read(true);
	ws_real_race_read();
	return released(device, ws_real.cuDevicePrimaryCtxRelease_v2(device));
}

/* wrap_sync.c - calls at which the program waits for the GPU: what is to be read from finished launches is read there,
 * for at the end of a process the runtime takes the context away before anybody else comes. */
#include "real/real_priv.h"
#include "real/streams.h"

static int waited(int e)
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
	return waited(e);
}

static int waited_for_stream(int e, void *stream, bool per_thread)
{
	ws_real_host_waits_stream((struct ws_real_lane){ stream, per_thread });
	return waited(e);
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
	return waited(e);
}

/* Copies for which the host waits are made in the default stream. */
static int copied(int e, bool per_thread)
{
	ws_real_stream_used((struct ws_real_lane){ NULL, per_thread });
	return waited_for_stream(e, NULL, per_thread);
}

int ws_real_cuMemcpyDtoH_v2(void *to, uint64_t from, size_t size)
{
	return copied(ws_real.cuMemcpyDtoH_v2(to, from, size), false);
}

int ws_real_cuMemcpyDtoH_v2_ptds(void *to, uint64_t from, size_t size)
{
	return copied(ws_real.cuMemcpyDtoH_v2_ptds(to, from, size), true);
}

int ws_real_cuMemcpy(uint64_t to, uint64_t from, size_t size)
{
	return copied(ws_real.cuMemcpy(to, from, size), false);
}

int ws_real_cuMemcpy_ptds(uint64_t to, uint64_t from, size_t size)
{
	return copied(ws_real.cuMemcpy_ptds(to, from, size), true);
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

/* wrap_launch.c - launches, counted for each kernel, and timed. A launch into a stream that is being captured is none: the graph's
 * launches count (wrap_graph.c). */
#include <stdatomic.h>

#include "real/real_priv.h"

static atomic_int captures;          /* streams being captured; mostly 0, and then nothing is asked */

bool ws_real_capturing(void)
{
	return atomic_load_explicit(&captures, memory_order_relaxed) > 0;
}

/* ---- capture ---- */
static int begun(int e)
{
	if (!e)
		atomic_fetch_add(&captures, 1);
	return e;
}

int ws_real_cuStreamBeginCapture(void *stream)
{
	return begun(ws_real.cuStreamBeginCapture(stream));
}

int ws_real_cuStreamBeginCapture_ptsz(void *stream)
{
	return begun(ws_real.cuStreamBeginCapture_ptsz(stream));
}

int ws_real_cuStreamBeginCapture_v2(void *stream, int mode)
{
	return begun(ws_real.cuStreamBeginCapture_v2(stream, mode));
}

int ws_real_cuStreamBeginCapture_v2_ptsz(void *stream, int mode)
{
	return begun(ws_real.cuStreamBeginCapture_v2_ptsz(stream, mode));
}

int ws_real_cuStreamBeginCaptureToGraph(void *stream, void *graph, const void *nodes, const void *edges, size_t n, int mode)
{
	return begun(ws_real.cuStreamBeginCaptureToGraph(stream, graph, nodes, edges, n, mode));
}

int ws_real_cuStreamBeginCaptureToGraph_ptsz(void *stream, void *graph, const void *nodes, const void *edges, size_t n,
                                             int mode)
{
	return begun(ws_real.cuStreamBeginCaptureToGraph_ptsz(stream, graph, nodes, edges, n, mode));
}

typedef int (*is_capturing)(void *stream, int *status);

/* A capture that went wrong ends with an error, but it ends; so what counts is whether there was one. */
static bool in_capture(is_capturing ask, void *stream)
{
	int status = 0;

	return atomic_load_explicit(&captures, memory_order_relaxed) > 0 && ask && !ask(stream, &status) && status;
}

static int ended(bool was, int e)
{
	if (was)
		atomic_fetch_sub(&captures, 1);
	return e;
}

int ws_real_cuStreamEndCapture(void *stream, void **graph)
{
	bool was = in_capture(ws_real.cuStreamIsCapturing, stream);

	return ended(was, ws_real.cuStreamEndCapture(stream, graph));
}

int ws_real_cuStreamEndCapture_ptsz(void *stream, void **graph)
{
	bool was = in_capture(ws_real.cuStreamIsCapturing_ptsz, stream);

	return ended(was, ws_real.cuStreamEndCapture_ptsz(stream, graph));
}

int ws_real_relax_capture(int mode)
{
	if (ws_real_capturing() && ws_real.cuThreadExchangeStreamCaptureMode)
		ws_real.cuThreadExchangeStreamCaptureMode(&mode);
	return mode;
}

/* ---- launches ---- */
/* What we do ourselves stands before the first event or behind the last one: it is no time of the kernel's. */
struct launch {
	struct ws_real_kernel *kernel;
	struct ws_real_span *span;
	ws_real_record *record;
	void *stream;
	struct ws_real_gpu *gpu;             /* whose checks the kernel works with */
	void *function;
	bool compared;                       /* its transactions are timed, for engine auto */
	struct ws_real_alike *alike;
};

/* To be asked before the launch: its kernel may end the program, and then the launch is in the report. with: what its checks
 * ask for, whose `all` becomes the dynamic shared memory to launch it with; NULL: it cannot be given another. */
static struct launch about_to(void *f, is_capturing ask, ws_real_record *record, void *stream, struct ws_real_launching *with)
{
	struct launch l = { in_capture(ask, stream) ? NULL : ws_real_kernel_of(f), NULL, record, stream, NULL, f, false, NULL };
	bool probe = false;

	ws_real_race_prepare(f);
	ws_real_transact_prepare(f);
	l.compared = ws_real_transact_begin();
	l.gpu = ws_real_race_begin();
	if (with)
		with->all = ws_real_race_settled(l.gpu, with, &probe);
	/* While anything is captured, events must be left alone: asking for one can end the capture. */
	if (l.kernel && !ws_real_capturing())
		l.span = ws_real_time_begin(ws_real_times_of(l.kernel), f, record, stream);
	if (probe)
		with->all = ws_real_race_probed(l.gpu, with);
	l.alike = with ? with->alike : NULL;
	return l;
}

/* In the default stream of the whole process, and of each thread. */
static struct launch in_stream(void *f, void *stream, struct ws_real_launching *with)
{
	return about_to(f, ws_real.cuStreamIsCapturing, ws_real.cuEventRecord, stream, with);
}

static struct launch in_stream_ptsz(void *f, void *stream, struct ws_real_launching *with)
{
	return about_to(f, ws_real.cuStreamIsCapturing_ptsz, ws_real.cuEventRecord_ptsz, stream, with);
}

static int launched(struct launch l, int e)
{
	ws_real_time_end(l.span, l.record, l.stream);
	ws_real_race_alike_launched(l.alike, e, l.record, l.stream);
	ws_real_race_end(l.gpu);
	ws_real_transact_end(l.compared, l.function);
	if (e)
		ws_real_race_failed(l.kernel, e);
	if (!e)
		ws_real_launched(l.kernel);
	return e;
}

#define GRID_AND_BLOCK (const unsigned[3]){ gx, gy, gz }, (const unsigned[3]){ bx, by, bz }

int ws_real_cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                           unsigned shared, void *stream, void **params, void **extra)
{
	unsigned all = ws_real_race_shared(f, GRID_AND_BLOCK, shared, false);
	struct ws_real_launching with = { f, GRID_AND_BLOCK, shared, all, params, NULL };
	struct launch l = in_stream(f, stream, &with);

	return launched(l, ws_real.cuLaunchKernel(f, gx, gy, gz, bx, by, bz, with.all, stream, params, extra));
}

int ws_real_cuLaunchKernel_ptsz(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                                unsigned shared, void *stream, void **params, void **extra)
{
	unsigned all = ws_real_race_shared(f, GRID_AND_BLOCK, shared, false);
	struct ws_real_launching with = { f, GRID_AND_BLOCK, shared, all, params, NULL };
	struct launch l = in_stream_ptsz(f, stream, &with);

	return launched(l, ws_real.cuLaunchKernel_ptsz(f, gx, gy, gz, bx, by, bz, with.all, stream, params, extra));
}

struct attribute {                   /* CUlaunchAttribute */
	int id, pad;
	int value[16];
};

struct config {                      /* CUlaunchConfig */
	unsigned grid[3], block[3], shared;
	void *stream;
	const struct attribute *attributes;
	unsigned nattributes;
};

static void *stream_of(const void *config)
{
	return config ? ((const struct config *)config)->stream : NULL;
}

/* The configuration, in *copy if there is to be more shared memory. */
static const void *with_cells(void *f, const void *config, struct config *copy)
{
	enum { COOPERATIVE = 2, CLUSTER = 4 };       /* CUlaunchAttributeID */
	bool cooperative = false;

	if (!config)
		return NULL;
	*copy = *(const struct config *)config;
	for (unsigned n = 0; copy->attributes && n < copy->nattributes; n++) {
		if (copy->attributes[n].id == CLUSTER)
			return config;
		cooperative |= copy->attributes[n].id == COOPERATIVE && copy->attributes[n].value[0];
	}
	copy->shared = ws_real_race_shared(f, copy->grid, copy->block, copy->shared, cooperative);
	return copy;
}

/* With the driver's function for the default stream of the process or of each thread, and ours. */
static int launch_ex(const void *config, void *f, void **params, void **extra,
                     struct launch (*in)(void *f, void *stream, struct ws_real_launching *with),
                     int (*launch)(const void *config, void *f, void **params, void **extra))
{
	struct config c = { .shared = 0 };
	const void *used = with_cells(f, config, &c);
	struct ws_real_launching with = { f, c.grid, c.block, config ? ((const struct config *)config)->shared : 0, c.shared, params, NULL };
	struct launch l = in(f, stream_of(config), used == &c ? &with : NULL);

	c.shared = with.all;
	return launched(l, launch(used, f, params, extra));
}

int ws_real_cuLaunchKernelEx(const void *config, void *f, void **params, void **extra)
{
	return launch_ex(config, f, params, extra, in_stream, ws_real.cuLaunchKernelEx);
}

int ws_real_cuLaunchKernelEx_ptsz(const void *config, void *f, void **params, void **extra)
{
	return launch_ex(config, f, params, extra, in_stream_ptsz, ws_real.cuLaunchKernelEx_ptsz);
}

int ws_real_cuLaunchCooperativeKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                                      unsigned shared, void *stream, void **params)
{
	unsigned all = ws_real_race_shared(f, GRID_AND_BLOCK, shared, true);
	struct ws_real_launching with = { f, NULL, (const unsigned[3]){ bx, by, bz }, shared, all, params, NULL };
	struct launch l = in_stream(f, stream, &with);

	return launched(l, ws_real.cuLaunchCooperativeKernel(f, gx, gy, gz, bx, by, bz, with.all, stream, params));
}

int ws_real_cuLaunchCooperativeKernel_ptsz(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                                           unsigned bz, unsigned shared, void *stream, void **params)
{
	unsigned all = ws_real_race_shared(f, GRID_AND_BLOCK, shared, true);
	struct ws_real_launching with = { f, NULL, (const unsigned[3]){ bx, by, bz }, shared, all, params, NULL };
	struct launch l = in_stream_ptsz(f, stream, &with);

	return launched(l, ws_real.cuLaunchCooperativeKernel_ptsz(f, gx, gy, gz, bx, by, bz, with.all, stream, params));
}

struct launch_params {               /* CUDA_LAUNCH_PARAMS */
	void *function;
	unsigned grid[3], block[3], shared;
	void *stream;
	void **params;
};

int ws_real_cuLaunchCooperativeKernelMultiDevice(void *list, unsigned n, unsigned flags)
{
	int e = ws_real.cuLaunchCooperativeKernelMultiDevice(list, n, flags);
	const struct launch_params *p = list;

	if (!e && ws_real_session() && ws_real_session()->checks)
		ws_report_limit(ws_real_session()->report, "kernels that were launched on several devices by one call were not "
		                                           "checked");
	for (unsigned i = 0; !e && p && i < n; i++)
		ws_real_launched(ws_real_kernel_of(p[i].function));
	return e;
}

int ws_real_cuLaunch(void *f)
{
	return launched(in_stream(f, NULL, NULL), ws_real.cuLaunch(f));
}

int ws_real_cuLaunchGrid(void *f, int width, int height)
{
	return launched(in_stream(f, NULL, NULL), ws_real.cuLaunchGrid(f, width, height));
}

int ws_real_cuLaunchGridAsync(void *f, int width, int height, void *stream)
{
	return launched(in_stream(f, stream, NULL), ws_real.cuLaunchGridAsync(f, width, height, stream));
}

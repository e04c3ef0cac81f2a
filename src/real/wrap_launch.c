/* wrap_launch.c - launches, counted for each kernel, and timed. A launch into a stream that is being captured is none: the graph's
 * launches count (wrap_graph.c). */
#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "real/arguments.h"
#include "real/real_priv.h"
#include "real/streams.h"

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

typedef int is_capturing(void *stream, int *status);

/* A capture that went wrong ends with an error, but it ends; so what counts is whether there was one. */
static bool in_capture(is_capturing *ask, void *stream)
{
	int status = 0;

	return atomic_load_explicit(&captures, memory_order_relaxed) > 0 && ask && !ask(stream, &status) && status;
}

bool ws_real_is_captured(void *stream, bool per_thread)
{
	return in_capture(per_thread ? ws_real.cuStreamIsCapturing_ptsz : ws_real.cuStreamIsCapturing, stream);
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
	bool judged;                         /* their history is */
	struct ws_real_alike *alike;
	bool plain;                          /* the kernel without checks is launched in its place */
	bool sure;                           /* the one with those checks that no proof spares is */
	struct ws_real_taking taking;        /* no kernel: what it takes of the tables is of no matter */
	const struct ws_real_launching *with;        /* NULL: its shape is not known */
	const unsigned *grid;
};

/* The default stream of the whole process, or of each thread. */
struct form { is_capturing *ask; ws_real_record *record; bool per_thread, early; };

static struct form of_process(void)
{
	return (struct form){ ws_real.cuStreamIsCapturing, ws_real.cuEventRecord, false, false };
}

static struct form of_thread(void)
{
	return (struct form){ ws_real.cuStreamIsCapturing_ptsz, ws_real.cuEventRecord_ptsz, true, false };
}

/* Of code that nobody has seen anything may be true. */
enum ws_real_hands ws_real_hands_of(const struct ws_real_checked_kernel *k)
{
	if (!k || k->why || k->orders_host)
		return WS_REAL_HANDS_HOST;
	return k->orders ? WS_REAL_HANDS_LAUNCHES : WS_REAL_HANDS_NOTHING;
}

bool ws_real_may_wait(const struct ws_real_checked_kernel *k)
{
	return !k || k->why || k->looks;
}

/* The kernel with checks for a launch of f. */
static void *checked(void *f, const struct ws_real_launching *with)
{
	return with && with->sure ? with->sure : f;
}

/* To be asked before the launch: its kernel may end the program, and then the launch is in the report. k: what the pass for races
 * says of it. with: what its checks ask for, whose `all` becomes the dynamic shared memory to launch it with, unless another kernel is
 * to be launched already; NULL: it cannot be given another. said: its parameter that is filled here; NULL: it has none. */
static struct launch about_to(void *f, const struct ws_real_checked_kernel *k, void *stream, struct form form,
                              struct ws_real_launching *with, struct ws_race_launch *said)
{
	bool captured = in_capture(form.ask, stream), probe = false, compared = false, told = false, can_tell, ask;
	struct launch l = { .kernel = captured ? NULL : ws_real_kernel_of(f), .record = form.record, .stream = stream, .function = f };
	struct ws_real_lane lane = { stream, form.per_thread };
	struct ws_race_launch place = { 0 };
	struct ws_real_touched touched;

	ws_real_race_prepare(f);
	ws_real_transact_prepare(f);
	l.compared = ws_real_transact_begin();
	l.judged = ws_real_history_begin(f);
	if (k && !k->why && !captured)
		l.taking = (struct ws_real_taking){ k, ws_real_may_wait(k), form.record, stream };
	l.gpu = ws_real_race_begin(l.taking.kernel);
	if (!captured && form.early && k && !k->waits_first)
		ws_real_stream_begins_early(lane);
	ask = !captured && with && ws_real_streams_ask();
	if (ask)
		ws_real_race_touches(with, &touched);
	if (!captured)
		compared = ws_real_stream_launches(lane, ws_real_hands_of(k), ask ? &touched : NULL, &place) && said;
	if (!captured && ws_real_may_wait(k))
		ws_real_stream_may_wait(lane);
	if (with) {
		with->compared = compared;
		with->record = form.record;
		with->stream = stream;
		if (!with->plain)
			with->all = ws_real_race_settled(l.gpu, with, &probe);
	}
	can_tell = said && with && !compared && l.gpu && !captured && !ws_real_capturing();
	can_tell = can_tell && (form.early || !ws_real_race_in_parts(l.gpu, with));
	if (can_tell && !probe)
		told = ws_real_race_told(with, &place);
	/* While anything is captured, events must be left alone: asking for one can end the capture. */
	if (l.kernel && !ws_real_capturing())
		l.span = ws_real_time_begin(ws_real_times_of(l.kernel), with && with->plain ? with->plain : checked(f, with), form.record, stream);
	if (probe) {
		with->all = ws_real_race_probed(l.gpu, with);
		told = can_tell && ws_real_race_told(with, &place);      /* what it has found is in it */
	}
	l.alike = with ? with->alike : NULL;
	l.plain = with && with->spared && with->plain;
	l.sure = with && with->sure && !with->plain;
	ws_real_count(WS_FIG_STATES, with && !with->spared && ws_real_race_has_states(with));
	if (compared || told)
		*said = place;               /* not before: a probe is no launch of the program's */
	return l;
}

/* The kernel to launch in place of one that the driver has refused with its checks; NULL: there is none. What is known of checked launches
 * is not known of it. */
static void *without(struct launch *l, int e)
{
	void *plain = e && l->with && l->kernel ? ws_real_race_failed(l->with, l->grid, e) : NULL;

	if (!plain)
		return NULL;
	ws_real_race_alike_launched(l->alike, e, l->record, l->stream);
	l->alike = NULL;
	l->sure = false;
	l->plain = true;
	return plain;
}

/* A launch that looks whether accesses stay in their parts: what its kernel is told, and then, if it went, the checked one behind it. */
static void begin_in_parts(const struct ws_real_launching *with, struct ws_race_launch *said)
{
	static_assert(sizeof with->looks == sizeof *said, "it takes its place");
	memcpy(said, &with->looks, sizeof *said);
}

static void end_in_parts(int e, struct ws_race_launch *said)
{
	said->mark = WS_RACE_BEHIND_PARTS;
	if (e)
		memset(said, 0, sizeof *said);       /* then that one is launched as ever */
	ws_real_count(WS_FIG_PARTS, !e);
}

static int launched(struct launch l, int e)
{
	ws_real_time_end(l.span, l.record, l.stream);
	ws_real_race_alike_launched(l.alike, e, l.record, l.stream);
	ws_real_race_end(l.gpu, !e && !l.plain && l.taking.kernel ? &l.taking : NULL);
	ws_real_history_end(l.judged, l.kernel);
	ws_real_transact_end(l.compared, l.function);
	if (!e)
		ws_real_launched(l.kernel);
	ws_real_count(WS_FIG_PLAIN, !e && l.plain);
	ws_real_count(WS_FIG_SURE, !e && l.sure);
	return e;
}

#define SHAPE gx, gy, gz, bx, by, bz
#define SHAPE_PARAMETERS unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, void *stream

/* With the driver's function for the default stream of the process or of each thread. */
static int launch_kernel(void *f, SHAPE_PARAMETERS, void **params, void **extra, struct form form,
                         int (*launch)(void *f, SHAPE_PARAMETERS, void **params, void **extra))
{
	const unsigned grid[] = { gx, gy, gz }, block[] = { bx, by, bz };
	const struct ws_real_checked_kernel *k = ws_real_checked_kernel_of(f);
	struct ws_real_arguments a;
	unsigned all = ws_real_race_shared(f, grid, block, shared, false);
	struct ws_real_launching with = { .function = f, .kernel = k, .grid = grid, .block = block, .dynamic = shared, .all = all };
	struct launch l;
	void *instead;
	int e;

	ws_real_arguments(&a, k, params, extra);
	with.params = a.params;
	ws_real_race_make_room(&with);
	l = about_to(f, k, stream, form, &with, a.said);
	l.with = &with;
	l.grid = grid;
	if (with.plain)
		return launched(l, launch(with.plain, SHAPE, shared, stream, params, extra));
	if (with.parts) {
		begin_in_parts(&with, a.said);
		end_in_parts(launch(with.parts, SHAPE, shared, stream, a.params, a.extra), a.said);
	}
	e = launch(checked(f, &with), SHAPE, with.all, stream, a.params, a.extra);
	instead = without(&l, e);
	return launched(l, instead ? launch(instead, SHAPE, shared, stream, params, extra) : e);
}

int ws_real_cuLaunchKernel(void *f, SHAPE_PARAMETERS, void **params, void **extra)
{
	return launch_kernel(f, SHAPE, shared, stream, params, extra, of_process(), ws_real.cuLaunchKernel);
}

int ws_real_cuLaunchKernel_ptsz(void *f, SHAPE_PARAMETERS, void **params, void **extra)
{
	return launch_kernel(f, SHAPE, shared, stream, params, extra, of_thread(), ws_real.cuLaunchKernel_ptsz);
}

static void *stream_of(const void *config)
{
	return config ? ((const struct ws_real_config *)config)->stream : NULL;
}

enum { COOPERATIVE = 2, CLUSTER = 4, SERIALIZATION = 6 };    /* CUlaunchAttributeID */

static bool is_set(const struct ws_real_config *c, int attribute)
{
	bool is = false;

	for (unsigned n = 0; c && c->attributes && n < c->nattributes; n++)
		is |= c->attributes[n].id == attribute && c->attributes[n].value[0];
	return is;
}

/* The configuration, in *copy if there is to be more shared memory. */
static const void *with_cells(void *f, const void *config, struct ws_real_config *copy)
{
	if (!config)
		return NULL;
	*copy = *(const struct ws_real_config *)config;
	if (is_set(config, CLUSTER)) {
		ws_real_race_usual_shared(f, copy->block, copy->shared);
		return config;
	}
	copy->shared = ws_real_race_shared(f, copy->grid, copy->block, copy->shared, is_set(config, COOPERATIVE));
	return copy;
}

/* Events that the launch itself records (CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT, _LAUNCH_COMPLETION_EVENT) count as recorded behind
 * it. */
static void note_events(const struct ws_real_config *c, bool per_thread)
{
	enum { PROGRAMMATIC_EVENT = 7, LAUNCH_COMPLETION_EVENT = 12 };       /* CUlaunchAttributeID */

	for (unsigned n = 0; c && c->attributes && n < c->nattributes; n++) {
		const struct ws_real_attribute *a = &c->attributes[n];
		void *event;

		if (a->id != PROGRAMMATIC_EVENT && a->id != LAUNCH_COMPLETION_EVENT)
			continue;
		memcpy(&event, a->value, sizeof event);
		if (ws_real_session() && ws_real_session()->checks && ws_real_streams_several())
			ws_report_limit(ws_real_session()->report, "events that a launch itself records while it runs count as recorded behind it");
		if (ws_real_is_captured(c->stream, per_thread))
			ws_real_event_ended(event);
		else
			ws_real_event_recorded(event, (struct ws_real_lane){ c->stream, per_thread });
	}
}

/* With the driver's function for the default stream of the process or of each thread. */
static int launch_ex(const void *config, void *f, void **params, void **extra, struct form form,
                     int (*launch)(const void *config, void *f, void **params, void **extra))
{
	const struct ws_real_checked_kernel *k = ws_real_checked_kernel_of(f);
	struct ws_real_arguments a;
	struct ws_real_config c = { .shared = 0 };
	const void *used = with_cells(f, config, &c);
	struct ws_real_launching with = { .function = f, .kernel = k, .grid = c.grid, .block = c.block,
	                                  .dynamic = config ? ((const struct ws_real_config *)config)->shared : 0, .all = c.shared };
	struct launch l;
	void *instead;
	int e;

	ws_real_arguments(&a, k, params, extra);
	with.params = a.params;
	if (config)
		ws_real_race_make_room(&with);
	with.together = config && is_set(config, COOPERATIVE);
	with.asks = config && ((const struct ws_real_config *)config)->nattributes;
	if (with.together && !is_set(config, CLUSTER))
		ws_real_race_make_together(&with, with.grid);
	form.early = is_set(config, SERIALIZATION);
	l = about_to(f, k, stream_of(config), form, used == &c ? &with : NULL, a.said);
	l.with = config ? &with : NULL;
	l.grid = c.grid;
	note_events(config, form.per_thread);
	c.shared = with.all;
	if (with.plain)
		return launched(l, launch(config, with.plain, params, extra));
	if (with.parts) {
		begin_in_parts(&with, a.said);
		end_in_parts(launch(config, with.parts, a.params, a.extra), a.said);
	}
	e = launch(used, checked(f, &with), a.params, a.extra);
	instead = without(&l, e);
	return launched(l, instead ? launch(config, instead, params, extra) : e);
}

int ws_real_cuLaunchKernelEx(const void *config, void *f, void **params, void **extra)
{
	return launch_ex(config, f, params, extra, of_process(), ws_real.cuLaunchKernelEx);
}

int ws_real_cuLaunchKernelEx_ptsz(const void *config, void *f, void **params, void **extra)
{
	return launch_ex(config, f, params, extra, of_thread(), ws_real.cuLaunchKernelEx_ptsz);
}

static int launch_cooperative(void *f, SHAPE_PARAMETERS, void **params, struct form form,
                              int (*launch)(void *f, SHAPE_PARAMETERS, void **params))
{
	const unsigned grid[] = { gx, gy, gz }, block[] = { bx, by, bz };
	const struct ws_real_checked_kernel *k = ws_real_checked_kernel_of(f);
	struct ws_real_arguments a;
	unsigned all = ws_real_race_shared(f, grid, block, shared, true);
	struct ws_real_launching with = { .function = f, .kernel = k, .block = block, .dynamic = shared, .all = all };
	struct launch l;
	void *instead;
	int e;

	ws_real_arguments(&a, k, params, NULL);
	with.params = a.params;
	ws_real_race_make_room(&with);
	ws_real_race_make_together(&with, grid);
	l = about_to(f, k, stream, form, &with, a.said);
	l.with = &with;
	l.grid = grid;
	if (with.plain)
		return launched(l, launch(with.plain, SHAPE, shared, stream, params));
	e = launch(f, SHAPE, with.all, stream, a.params);
	instead = without(&l, e);
	return launched(l, instead ? launch(instead, SHAPE, shared, stream, params) : e);
}

int ws_real_cuLaunchCooperativeKernel(void *f, SHAPE_PARAMETERS, void **params)
{
	return launch_cooperative(f, SHAPE, shared, stream, params, of_process(), ws_real.cuLaunchCooperativeKernel);
}

int ws_real_cuLaunchCooperativeKernel_ptsz(void *f, SHAPE_PARAMETERS, void **params)
{
	return launch_cooperative(f, SHAPE, shared, stream, params, of_thread(), ws_real.cuLaunchCooperativeKernel_ptsz);
}

struct launch_params {               /* CUDA_LAUNCH_PARAMS */
	void *function;
	unsigned grid[3], block[3], shared;
	void *stream;
	void **params;
};

int ws_real_cuLaunchCooperativeKernelMultiDevice(void *list, unsigned n, unsigned flags)
{
	struct launch_params *p = ws_alloc((n + 1) * sizeof *p);
	struct ws_real_arguments *a = ws_alloc((n + 1) * sizeof *a);
	int e;

	if (list)
		memcpy(p, list, n * sizeof *p);
	for (unsigned i = 0; list && i < n; i++) {
		ws_real_arguments(&a[i], ws_real_checked_kernel_of(p[i].function), p[i].params, NULL);
		p[i].params = a[i].params;
		ws_real_stream_may_wait((struct ws_real_lane){ p[i].stream, false });
	}
	ws_real_host_waits_all();
	e = ws_real.cuLaunchCooperativeKernelMultiDevice(list ? p : NULL, n, flags);
	ws_real_host_waits_all();
	if (!e && ws_real_session() && ws_real_session()->checks)
		ws_report_limit(ws_real_session()->report, "kernels that were launched on several devices by one call were not "
		                                           "checked");
	for (unsigned i = 0; !e && list && i < n; i++)
		ws_real_launched(ws_real_kernel_of(p[i].function));
	free(p);
	free(a);
	return e;
}

/* Its parameters were given before, by calls that are not seen. */
static struct launch about_to_old(void *f, void *stream)
{
	return about_to(f, ws_real_checked_kernel_of(f), stream, of_process(), NULL, NULL);
}

int ws_real_cuLaunch(void *f)
{
	return launched(about_to_old(f, NULL), ws_real.cuLaunch(f));
}

int ws_real_cuLaunchGrid(void *f, int width, int height)
{
	return launched(about_to_old(f, NULL), ws_real.cuLaunchGrid(f, width, height));
}

int ws_real_cuLaunchGridAsync(void *f, int width, int height, void *stream)
{
	return launched(about_to_old(f, stream), ws_real.cuLaunchGridAsync(f, width, height, stream));
}

/* ---- parameters that are asked for: the one more is none of the program's ---- */
static bool is_ours(void *function, size_t index)
{
	const struct ws_real_checked_kernel *k = ws_real_checked_kernel_of(function);

	return k && k->compared && index >= k->nparams;
}

int ws_real_cuFuncGetParamInfo(void *f, size_t index, size_t *offset, size_t *size)
{
	return is_ours(f, index) ? WS_REAL_INVALID_VALUE : ws_real.cuFuncGetParamInfo(f, index, offset, size);
}

int ws_real_cuKernelGetParamInfo(void *kernel, size_t index, size_t *offset, size_t *size)
{
	return is_ours(kernel, index) ? WS_REAL_INVALID_VALUE : ws_real.cuKernelGetParamInfo(kernel, index, offset, size);
}

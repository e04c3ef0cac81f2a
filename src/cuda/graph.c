/* graph.c - graphs, their nodes, executable copies, and the capture of streams; see graph.h. */
#include "cuda/graph.h"

#include <stdlib.h>
#include <string.h>

#include "cuda/map.h"

enum { FIRST_GRIDID = 1 << 30 };         /* launches of streams have lower ones */
static struct ws_map graphs, nodes;
static uint64_t captures, copies;

/* ---- graphs and nodes ---- */
struct ws_graph *ws_graph_new(void)
{
	struct ws_graph *g = ws_alloc(sizeof *g);

	ws_front_lock();
	ws_map_put(&graphs, g, g);
	ws_front_unlock();
	return g;
}

struct ws_graph *ws_graph_of(void *handle)
{
	struct ws_graph *g;

	ws_front_lock();
	g = ws_map_get(&graphs, handle);
	ws_front_unlock();
	return g;
}

struct ws_node *ws_node_of(void *handle)
{
	struct ws_node *n;

	ws_front_lock();
	n = ws_map_get(&nodes, handle);
	ws_front_unlock();
	return n;
}

void ws_node_depend(struct ws_node *n, struct ws_node *on)
{
	size_t i;

	for (i = 0; i < n->ndeps; i++)
		if (n->deps[i] == on)
			return;
	*WS_PUSH(n->deps, n->ndeps, n->dcap) = on;
}

struct ws_node *ws_node_new(struct ws_graph *g, void *const *deps, size_t ndeps, struct ws_work *op)
{
	struct ws_node *n, *d;
	size_t i;

	for (i = 0; i < ndeps; i++) {
		d = deps ? ws_node_of(deps[i]) : NULL;
		if (!d || d->graph != g) {
			ws_work_free(op);
			return NULL;
		}
	}
	if (op->type == WS_NODE_ALLOC)
		ws_mem_keep(op->u.mem.addr);
	n = ws_alloc(sizeof *n);
	n->op = *op;
	n->graph = g;
	for (i = 0; i < ndeps; i++)
		ws_node_depend(n, deps[i]);
	ws_front_lock();
	*WS_PUSH(g->nodes, g->n, g->cap) = n;
	ws_map_put(&nodes, n, n);
	ws_front_unlock();
	return n;
}

static void release_node(struct ws_node *n)
{
	ws_front_lock();
	ws_map_remove(&nodes, n);
	ws_front_unlock();
	ws_work_free(&n->op);
	ws_clock_free(&n->known);
	free(n->deps);
	free(n->values);
	free(n);
}

static void drop_edge(struct ws_node *n, const struct ws_node *on)
{
	size_t i, k = 0;

	for (i = 0; i < n->ndeps; i++)
		if (n->deps[i] != on)
			n->deps[k++] = n->deps[i];
	n->ndeps = k;
}

void ws_node_free(struct ws_node *n)
{
	struct ws_graph *g = n->graph;
	size_t i, k = 0;

	for (i = 0; i < g->n; i++) {
		drop_edge(g->nodes[i], n);
		if (g->nodes[i] != n)
			g->nodes[k++] = g->nodes[i];
	}
	g->n = k;
	release_node(n);
}

void ws_graph_free(struct ws_graph *g)
{
	size_t i;

	ws_front_lock();
	ws_map_remove(&graphs, g);
	ws_front_unlock();
	for (i = 0; i < g->n; i++)
		release_node(g->nodes[i]);
	for (i = 0; i < g->nbranches; i++)
		ws_sync_stream_end(g->branches[i]);
	free(g->branches);
	ws_clock_free(&g->done);
	free(g->nodes);
	free(g);
}

struct ws_node *ws_graph_copy_of(const struct ws_graph *g, const struct ws_node *origin)
{
	size_t i;

	for (i = 0; i < g->n; i++)
		if (g->nodes[i]->origin == origin)
			return g->nodes[i];
	return NULL;
}

struct ws_graph *ws_graph_clone(const struct ws_graph *g)
{
	struct ws_graph *copy = ws_graph_new();
	struct ws_work op;
	size_t i, d;

	copy->origin = g;
	for (i = 0; i < g->n; i++) {
		struct ws_node *n;

		ws_work_copy(&op, &g->nodes[i]->op);
		n = ws_node_new(copy, NULL, 0, &op);
		n->origin = g->nodes[i];
		n->gridid = FIRST_GRIDID + ++copies;
		n->disabled = g->nodes[i]->disabled;
	}
	for (i = 0; i < g->n; i++)
		for (d = 0; d < g->nodes[i]->ndeps; d++)
			ws_node_depend(copy->nodes[i], ws_graph_copy_of(copy, g->nodes[i]->deps[d]));
	return copy;
}

static bool is_ready(const struct ws_node *n)
{
	size_t d;

	for (d = 0; d < n->ndeps; d++)
		if (!n->deps[d]->mark)
			return false;
	return true;
}

bool ws_graph_sort(struct ws_graph *g)
{
	size_t done, i;

	for (i = 0; i < g->n; i++)
		g->nodes[i]->mark = false;
	for (done = 0; done < g->n; done++) {
		struct ws_node *next;

		for (i = done; i < g->n && !is_ready(g->nodes[i]); i++)
			;
		if (i == g->n)
			return false;
		next = g->nodes[i];
		memmove(&g->nodes[done + 1], &g->nodes[done], (i - done) * sizeof *g->nodes);
		g->nodes[done] = next;
		next->mark = true;
	}
	return true;
}

/* ---- execution: the nodes run one after the other, but only a dependency says that they must. A node goes on in the branch
 * of one that it depends on, if that one is the last there; else it begins a branch ---- */
static uint32_t choose_branch(struct ws_graph *g, const struct ws_node *n, const struct ws_node **last)
{
	size_t d;

	for (d = 0; d < n->ndeps; d++)
		if (last[n->deps[d]->branch] == n->deps[d])
			return n->deps[d]->branch;
	if (!last[0])
		return 0;
	*WS_PUSH(g->branches, g->nbranches, g->bcap) = ws_sync_branch_new();
	return (uint32_t)g->nbranches;
}

static void find_branches(struct ws_graph *g)
{
	const struct ws_node **last = ws_alloc((g->n + 1) * sizeof *last);
	size_t i;

	for (i = 0; i < g->nbranches; i++)
		ws_sync_stream_end(g->branches[i]);
	g->nbranches = 0;
	for (i = 0; i < g->n; i++) {
		g->nodes[i]->branch = choose_branch(g, g->nodes[i], last);
		last[g->nodes[i]->branch] = g->nodes[i];
	}
	g->branched = g->n;
	free(last);
}

static int run_node(struct ws_graph *g, struct ws_node *n, const struct ws_lane *lane, const struct ws_clock *entry,
		    const char *call)
{
	struct ws_lane own = *lane;
	size_t d;
	int e = 0;

	own.graph = true;
	own.gridid = n->gridid;
	if (ws_sync_on() && n->branch) {
		own.timeline = g->branches[n->branch - 1];
		ws_sync_wait(&own, entry);
	}
	for (d = 0; d < n->ndeps; d++)
		ws_sync_wait(&own, &n->deps[d]->known);
	if (!n->disabled)
		e = ws_work_run(&n->op, &own, call);
	ws_sync_record(&own, &n->known);
	return e;
}

int ws_graph_run(struct ws_graph *g, const struct ws_lane *lane, const char *call)
{
	struct ws_clock entry = {NULL, 0};
	size_t i;
	int e = 0;

	if (ws_sync_on() && g->branched != g->n)
		find_branches(g);
	ws_sync_wait(lane, &g->done); /* two runs of an executable graph never overlap */
	ws_sync_record(lane, &entry);
	for (i = 0; i < g->n && !e && !ws_session_sticky(); i++)
		e = run_node(g, g->nodes[i], lane, &entry, call);
	for (i = 0; i < g->n; i++)
		ws_sync_wait(lane, &g->nodes[i]->known);
	ws_sync_record(lane, &g->done);
	ws_clock_free(&entry);
	return e;
}

/* ---- capture ---- */
static void enter(struct ws_capture *c, struct ws_stream *s)
{
	*WS_PUSH(c->streams, c->nstreams, c->cap) = s;
	s->capture = c;
	s->nlast = 0;
}

static void set_last(struct ws_node ***to, size_t *nto, struct ws_node *const *from, size_t n)
{
	*to = ws_realloc(*to, (n + 1) * sizeof **to);
	if (n)
		memmove(*to, from, n * sizeof **to);
	*nto = n;
}

int ws_capture_add(struct ws_stream *s, struct ws_work *op)
{
	struct ws_node *n = ws_node_new(s->capture->graph, (void *const *)s->last, s->nlast, op);

	if (!n)
		return WS_CUDA_CAPTURE_INVALIDATED;
	set_last(&s->last, &s->nlast, &n, 1);
	return 0;
}

void ws_capture_drop(struct ws_capture **p)
{
	struct ws_capture *c = *p;

	*p = NULL;
	if (c && --c->refs == 0) {
		free(c->streams);
		free(c);
	}
}

void ws_capture_fork(struct ws_event *e, struct ws_stream *s)
{
	ws_front_lock();
	ws_capture_drop(&e->capture);
	e->capture = s->capture;
	s->capture->refs++;
	set_last(&e->last, &e->nlast, s->last, s->nlast);
	ws_front_unlock();
}

int ws_capture_join(struct ws_stream *s, struct ws_event *e)
{
	struct ws_capture *c = e->capture;
	size_t i;

	if (c->over)
		return s->capture ? WS_CUDA_CAPTURED_EVENT : 0;
	if (s->capture && s->capture != c)
		return WS_CUDA_CAPTURE_INVALIDATED;
	ws_front_lock();
	if (!s->capture)
		enter(c, s);
	for (i = 0; i < e->nlast; i++) {
		s->last = ws_realloc(s->last, (s->nlast + 1) * sizeof *s->last);
		s->last[s->nlast++] = e->last[i];
	}
	ws_front_unlock();
	return 0;
}

/* ---- runtime calls of capture ---- */
static int begin_capture(void *stream, struct ws_graph *into, int mode)
{
	struct ws_capture *c;
	struct ws_stream *s;

	if (!ws_stream_of(stream, &s))
		return WS_CUDA_INVALID_HANDLE;
	if (mode < 0 || mode > 2)
		return WS_CUDA_INVALID_VALUE;
	if (!s)
		return WS_CUDA_CAPTURE_UNSUPPORTED; /* a default stream */
	if (s->capture)
		return WS_CUDA_ILLEGAL_STATE;
	c = ws_alloc(sizeof *c);
	c->graph = into ? into : ws_graph_new();
	c->origin = s;
	c->refs = 1;
	ws_front_lock();
	c->id = ++captures;
	enter(c, s);
	ws_front_unlock();
	return 0;
}

WS_RT(cudaStreamBeginCapture, void *stream, int mode)
{
	WS_BEGIN();
	return ws_fail(begin_capture(stream, NULL, mode));
}

WS_RT(cudaStreamBeginCaptureToGraph, void *stream, void *graph, void *const *deps, const void *data, size_t ndeps,
      int mode)
{
	struct ws_stream *s;
	size_t i;
	int e;

	WS_BEGIN();
	if (!ws_graph_of(graph))
		return ws_fail(WS_CUDA_INVALID_VALUE);
	for (i = 0; i < ndeps; i++)
		if (!deps || !ws_node_of(deps[i]))
			return ws_fail(WS_CUDA_INVALID_VALUE);
	e = begin_capture(stream, graph, mode);
	if (!e && ws_stream_of(stream, &s) && s)
		set_last(&s->last, &s->nlast, (struct ws_node *const *)deps, ndeps);
	return ws_fail(e);
}

WS_RT(cudaStreamEndCapture, void *stream, void **graph)
{
	struct ws_capture *c;
	struct ws_stream *s;
	size_t i;

	WS_BEGIN();
	if (!ws_stream_of(stream, &s) || !graph)
		return ws_fail(graph ? WS_CUDA_INVALID_HANDLE : WS_CUDA_INVALID_VALUE);
	*graph = NULL;
	if (!s || !s->capture)
		return ws_fail(WS_CUDA_ILLEGAL_STATE);
	c = s->capture;
	if (c->origin != s)
		return ws_fail(WS_CUDA_CAPTURE_UNMATCHED);
	ws_front_lock();
	for (i = 0; i < c->nstreams; i++)
		c->streams[i]->capture = NULL;
	c->over = true;
	*graph = c->graph;
	ws_capture_drop(&c);
	ws_front_unlock();
	return 0;
}

WS_RT(cudaStreamIsCapturing, void *stream, int *status)
{
	struct ws_stream *s;

	WS_BEGIN();
	if (!ws_stream_of(stream, &s) || !status)
		return ws_fail(status ? WS_CUDA_INVALID_HANDLE : WS_CUDA_INVALID_VALUE);
	*status = s && s->capture ? WS_CAPTURE_ACTIVE : WS_CAPTURE_NONE;
	return 0;
}

static int capture_info(void *stream, int *status, unsigned long long *id, void **graph, struct ws_node *const **deps,
			size_t *ndeps)
{
	struct ws_stream *s;

	if (!ws_stream_of(stream, &s))
		return WS_CUDA_INVALID_HANDLE;
	if (!status)
		return WS_CUDA_INVALID_VALUE;
	*status = s && s->capture ? WS_CAPTURE_ACTIVE : WS_CAPTURE_NONE;
	if (!s || !s->capture)
		return 0;
	if (id)
		*id = s->capture->id;
	if (graph)
		*graph = s->capture->graph;
	if (deps)
		*deps = s->last;
	if (ndeps)
		*ndeps = s->nlast;
	return 0;
}

/* CUDA 13's form; the fifth-but-one result, data of the edges, is always "none". */
WS_RT(cudaStreamGetCaptureInfo, void *stream, int *status, unsigned long long *id, void **graph,
      struct ws_node *const **deps, const void **data, size_t *ndeps)
{
	WS_BEGIN();
	if (data)
		*data = NULL;
	return ws_fail(capture_info(stream, status, id, graph, deps, ndeps));
}

/* CUDA 11's and 12's. */
WS_RT(cudaStreamGetCaptureInfo_v2, void *stream, int *status, unsigned long long *id, void **graph,
      struct ws_node *const **deps, size_t *ndeps)
{
	WS_BEGIN();
	return ws_fail(capture_info(stream, status, id, graph, deps, ndeps));
}

WS_RT(cudaThreadExchangeStreamCaptureMode, int *mode)
{
	static _Thread_local int current;
	int old = current;

	if (!mode || *mode < 0 || *mode > 2)
		return ws_fail(WS_CUDA_INVALID_VALUE);
	current = *mode;
	*mode = old;
	return 0;
}

WS_RT(cudaStreamGetCaptureInfo_v1, void *stream, int *status, unsigned long long *id)
{
	WS_BEGIN();
	return ws_fail(capture_info(stream, status, id, NULL, NULL, NULL));
}

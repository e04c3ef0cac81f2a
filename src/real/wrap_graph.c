/* wrap_graph.c - calls that make, change and launch graphs. Which kernels are in one is read when it is instantiated (graph.c), and each
 * launch of it is one of every kernel. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/map.h"
#include "real/arguments.h"
#include "real/graph.h"
#include "real/real_priv.h"
#include "real/turns.h"

enum { NODE_KERNEL, NODE_COPY, NODE_FILL, NODE_CONDITIONAL = 13 };        /* CUgraphNodeType */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct ws_map execs;

/* ---- parameters of kernels: the one more says nothing until the graph is instantiated ---- */
/* A kernel that leaves the checks no room becomes the one as it is. */
static bool has_no_room(void *function, struct ws_real_kernel_params *p)
{
	struct ws_real_launching l = { .function = function, .kernel = ws_real_checked_kernel_of(function), .grid = p->grid,
	                               .block = p->block, .dynamic = p->shared };

	ws_real_race_make_room(&l);
	if (!l.plain)
		return false;
	p->function = l.plain;
	p->kernel = NULL;
	return true;
}

static const void *with_arguments(const struct ws_real_kernel_params *from, bool v2, struct ws_real_kernel_params *copy,
                                  struct ws_real_arguments *a)
{
	void *function;

	a->said = NULL;
	if (!from)
		return NULL;
	memset(copy, 0, sizeof *copy);
	memcpy(copy, from, v2 ? sizeof *copy : offsetof(struct ws_real_kernel_params, kernel));
	function = copy->function ? copy->function : copy->kernel;
	if (function && has_no_room(function, copy))
		return copy;
	ws_real_arguments(a, function ? ws_real_checked_kernel_of(function) : NULL, copy->params, copy->extra);
	copy->params = a->params;
	copy->extra = a->extra;
	if (function)
		ws_real_race_usual_shared(function, copy->block, copy->shared);
	return copy;
}

struct node_params {                 /* CUgraphNodeParams */
	int type, reserved[3];
	union {
		struct ws_real_kernel_params kernel;
		struct { uint64_t handle; int type; unsigned n; void **bodies, *context; } conditional;
		long long all[29];
	} u;
	long long reserved2;
};

/* Of a node of any type; what the driver writes there (of other types) the program gets. */
static void *node_arguments(struct node_params *from, struct node_params *copy, struct ws_real_arguments *a)
{
	a->said = NULL;
	if (!from || from->type != NODE_KERNEL)
		return from;
	*copy = *from;
	with_arguments(&from->u.kernel, true, &copy->u.kernel, a);
	return copy;
}

/* A node was added. */
static int added(int e, void *const *node, const struct node_params *p)
{
	if (!e && p && p->type == NODE_CONDITIONAL && p->u.conditional.bodies)
		ws_real_turn_bodies(*node, p->u.conditional.bodies, p->u.conditional.n);
	return e;
}

int ws_real_cuGraphAddKernelNode(void **node, void *graph, void *const *before, size_t n, const void *params)
{
	struct ws_real_arguments a;
	struct ws_real_kernel_params copy;

	return ws_real.cuGraphAddKernelNode(node, graph, before, n, with_arguments(params, false, &copy, &a));
}

int ws_real_cuGraphAddKernelNode_v2(void **node, void *graph, void *const *before, size_t n, const void *params)
{
	struct ws_real_arguments a;
	struct ws_real_kernel_params copy;

	return ws_real.cuGraphAddKernelNode_v2(node, graph, before, n, with_arguments(params, true, &copy, &a));
}

int ws_real_cuGraphAddNode(void **node, void *graph, void *const *before, size_t n, void *params)
{
	struct ws_real_arguments a;
	struct node_params copy;

	return added(ws_real.cuGraphAddNode(node, graph, before, n, node_arguments(params, &copy, &a)), node, params);
}

int ws_real_cuGraphAddNode_v2(void **node, void *graph, void *const *before, const void *edges, size_t n, void *params)
{
	struct ws_real_arguments a;
	struct node_params copy;

	return added(ws_real.cuGraphAddNode_v2(node, graph, before, edges, n, node_arguments(params, &copy, &a)), node, params);
}

int ws_real_cuGraphKernelNodeSetParams(void *node, const void *params)
{
	struct ws_real_arguments a;
	struct ws_real_kernel_params copy;

	return ws_real.cuGraphKernelNodeSetParams(node, with_arguments(params, false, &copy, &a));
}

int ws_real_cuGraphKernelNodeSetParams_v2(void *node, const void *params)
{
	struct ws_real_arguments a;
	struct ws_real_kernel_params copy;

	return ws_real.cuGraphKernelNodeSetParams_v2(node, with_arguments(params, true, &copy, &a));
}

int ws_real_cuGraphNodeSetParams(void *node, void *params)
{
	struct ws_real_arguments a;
	struct node_params copy;

	return ws_real.cuGraphNodeSetParams(node, node_arguments(params, &copy, &a));
}

/* What the program asks for it knows by the handle that it has. */
static int told_params(int e, struct ws_real_kernel_params *p)
{
	void *function = !e && p ? ws_real_function_of_program(p->function) : NULL;
	int any;

	if (!function || function == p->function)
		return e;
	ws_real_attribute_of(&function, 0, &any);    /* it may have been launched as a CUkernel */
	p->function = function;
	return e;
}

int ws_real_cuGraphKernelNodeGetParams(void *node, void *params)
{
	return told_params(ws_real.cuGraphKernelNodeGetParams(node, params), params);
}

int ws_real_cuGraphKernelNodeGetParams_v2(void *node, void *params)
{
	return told_params(ws_real.cuGraphKernelNodeGetParams_v2(node, params), params);
}

/* ---- executable graphs ---- */
static void drop(void *handle)
{
	struct ws_real_exec *x = ws_map_get(&execs, handle);

	if (!x)
		return;
	ws_map_remove(&execs, handle);
	ws_real_exec_free(x);
}

static int instantiated(int e, void *handle, void *graph)
{
	struct ws_real_exec *x;

	if (e || !handle || !ws_real_session())
		return e;
	x = ws_real_graph_read(graph);
	pthread_mutex_lock(&lock);
	drop(handle);
	ws_map_put(&execs, handle, x);
	pthread_mutex_unlock(&lock);
	return e;
}

static int updated(int e, void *handle, void *graph)
{
	struct ws_real_exec *x, *now;

	if (e || !ws_real_session())
		return e;
	now = ws_real_graph_read(graph);
	pthread_mutex_lock(&lock);
	x = ws_map_get(&execs, handle);
	if (x)
		ws_real_exec_update(x, now);
	else
		ws_real_exec_free(now);
	pthread_mutex_unlock(&lock);
	return e;
}

int ws_real_cuGraphInstantiate(void **exec, void *graph, void **node, char *log, size_t size)
{
	int e;

	ws_real_graph_prepare(graph);
	e = ws_real.cuGraphInstantiate(exec, graph, node, log, size);
	return instantiated(e, exec ? *exec : NULL, graph);
}

int ws_real_cuGraphInstantiate_v2(void **exec, void *graph, void **node, char *log, size_t size)
{
	int e;

	ws_real_graph_prepare(graph);
	e = ws_real.cuGraphInstantiate_v2(exec, graph, node, log, size);
	return instantiated(e, exec ? *exec : NULL, graph);
}

int ws_real_cuGraphInstantiateWithFlags(void **exec, void *graph, unsigned long long flags)
{
	int e;

	ws_real_graph_prepare(graph);
	e = ws_real.cuGraphInstantiateWithFlags(exec, graph, flags);
	return instantiated(e, exec ? *exec : NULL, graph);
}

int ws_real_cuGraphInstantiateWithParams(void **exec, void *graph, void *params)
{
	int e;

	ws_real_graph_prepare(graph);
	e = ws_real.cuGraphInstantiateWithParams(exec, graph, params);
	return instantiated(e, exec ? *exec : NULL, graph);
}

int ws_real_cuGraphInstantiateWithParams_ptsz(void **exec, void *graph, void *params)
{
	int e;

	ws_real_graph_prepare(graph);
	e = ws_real.cuGraphInstantiateWithParams_ptsz(exec, graph, params);
	return instantiated(e, exec ? *exec : NULL, graph);
}

int ws_real_cuGraphExecUpdate(void *exec, void *graph, void **node, int *result)
{
	ws_real_graph_prepare(graph);
	return updated(ws_real.cuGraphExecUpdate(exec, graph, node, result), exec, graph);
}

int ws_real_cuGraphExecUpdate_v2(void *exec, void *graph, void *result)
{
	ws_real_graph_prepare(graph);
	return updated(ws_real.cuGraphExecUpdate_v2(exec, graph, result), exec, graph);
}

/* ---- changes of one node ---- */
static struct ws_real_node *find_node(void *exec, void *handle)
{
	struct ws_real_exec *x = ws_map_get(&execs, exec);

	for (size_t i = 0; x && i < x->n; i++)
		if (x->nodes[i].handle == handle)
			return &x->nodes[i];
	return NULL;
}

/* It goes on to count its launches. */
static void keep_count(void *exec, void *node, struct ws_real_arguments *a)
{
	const struct ws_real_node *n;

	pthread_mutex_lock(&lock);
	n = find_node(exec, node);
	if (n && a->said)
		a->said->mark = n->mark;
	pthread_mutex_unlock(&lock);
}

/* p: as the driver has it. */
static int changed(int e, void *exec, void *handle, const struct ws_real_kernel_params *p)
{
	struct ws_real_node *n;

	if (e || !p)
		return e;
	pthread_mutex_lock(&lock);
	n = find_node(exec, handle);
	if (n) {
		struct ws_real_exec *x = ws_map_get(&execs, exec);

		ws_real_node_takes(n, p);
		x->run.may_wait |= n->waits;
		if (n->step < x->run.n)
			x->run.steps[n->step].hands = ws_real_hands_of(n->checked);
	}
	pthread_mutex_unlock(&lock);
	return e;
}

int ws_real_cuGraphExecKernelNodeSetParams(void *exec, void *node, const void *params)
{
	struct ws_real_arguments a;
	struct ws_real_kernel_params copy;
	const struct ws_real_kernel_params *p = with_arguments(params, false, &copy, &a);
	int e;

	keep_count(exec, node, &a);
	e = ws_real.cuGraphExecKernelNodeSetParams(exec, node, p);
	return changed(e, exec, node, p);
}

int ws_real_cuGraphExecKernelNodeSetParams_v2(void *exec, void *node, const void *params)
{
	struct ws_real_arguments a;
	struct ws_real_kernel_params copy;
	const struct ws_real_kernel_params *p = with_arguments(params, true, &copy, &a);
	int e;

	keep_count(exec, node, &a);
	e = ws_real.cuGraphExecKernelNodeSetParams_v2(exec, node, p);
	return changed(e, exec, node, p);
}

/* NULL: nothing is known of it any more. */
static int moves(int e, void *exec, void *node, const struct ws_real_box *box, const void *fill)
{
	struct ws_real_node *n;

	pthread_mutex_lock(&lock);
	n = e ? NULL : find_node(exec, node);
	if (n) {
		struct ws_real_exec *x = ws_map_get(&execs, exec);

		n->nranges = box ? ws_real_node_copies(n->ranges, box) : fill ? ws_real_node_fills(n->ranges, fill) : 0;
		if (n->step < x->run.n)
			x->run.steps[n->step].ranges = n->tells[0] ? n->nranges : 0;
	}
	pthread_mutex_unlock(&lock);
	return e;
}

int ws_real_cuGraphExecMemcpyNodeSetParams(void *exec, void *node, const void *box, void *context)
{
	return moves(ws_real.cuGraphExecMemcpyNodeSetParams(exec, node, box, context), exec, node, box, NULL);
}

/* Kernels of the graph in the graph: those of another one of the same shape. */
int ws_real_cuGraphExecChildGraphNodeSetParams(void *exec, void *node, void *graph)
{
	struct ws_real_exec *x;
	int e;

	ws_real_graph_number(graph);
	e = ws_real.cuGraphExecChildGraphNodeSetParams(exec, node, graph);
	pthread_mutex_lock(&lock);
	x = e ? NULL : ws_map_get(&execs, exec);
	if (x)
		ws_real_exec_numbered(x, graph);
	pthread_mutex_unlock(&lock);
	return e;
}

int ws_real_cuGraphExecMemsetNodeSetParams(void *exec, void *node, const void *fill, void *context)
{
	return moves(ws_real.cuGraphExecMemsetNodeSetParams(exec, node, fill, context), exec, node, NULL, fill);
}

/* What a node does is not read again: the graph is not compared any more. */
static int unknown(int e, void *exec)
{
	struct ws_real_exec *x;

	pthread_mutex_lock(&lock);
	x = e ? NULL : ws_map_get(&execs, exec);
	if (x && !x->why)
		x->why = "a graph's node was changed by a call that is not followed: from then on it was not compared with launches, nor its "
		         "kernels with each other";
	pthread_mutex_unlock(&lock);
	return e;
}

int ws_real_cuGraphExecNodeSetParams(void *exec, void *node, void *params)
{
	struct node_params *p = params, copy, *now;
	struct ws_real_arguments a;
	int e;

	now = node_arguments(p, &copy, &a);
	keep_count(exec, node, &a);
	e = ws_real.cuGraphExecNodeSetParams(exec, node, now);
	return p && p->type == NODE_KERNEL ? changed(e, exec, node, &now->u.kernel) : unknown(e, exec);
}

int ws_real_cuGraphExecEventRecordNodeSetEvent(void *exec, void *node, void *event)
{
	return unknown(ws_real.cuGraphExecEventRecordNodeSetEvent(exec, node, event), exec);
}

int ws_real_cuGraphExecEventWaitNodeSetEvent(void *exec, void *node, void *event)
{
	return unknown(ws_real.cuGraphExecEventWaitNodeSetEvent(exec, node, event), exec);
}

int ws_real_cuGraphNodeSetEnabled(void *exec, void *node, unsigned enabled)
{
	int e = ws_real.cuGraphNodeSetEnabled(exec, node, enabled);
	struct ws_real_node *n;

	pthread_mutex_lock(&lock);
	n = e ? NULL : find_node(exec, node);
	if (n)
		n->off = !enabled;
	pthread_mutex_unlock(&lock);
	return e;
}

/* The graph that it was made of may go with it, but not before. */
int ws_real_cuGraphExecDestroy(void *exec)
{
	struct ws_real_exec *x;
	int e;

	pthread_mutex_lock(&lock);
	x = ws_map_get(&execs, exec);
	ws_map_remove(&execs, exec);
	pthread_mutex_unlock(&lock);
	e = ws_real.cuGraphExecDestroy(exec);
	if (x)
		ws_real_exec_free(x);
	return e;
}

/* ---- graphs, and what the program sees of them ---- */
int ws_real_cuGraphDestroy(void *graph)
{
	if (ws_real_graph_is_kept(graph))
		return 0;
	ws_real_graph_ends(graph);
	return ws_real.cuGraphDestroy(graph);
}

/* Executable graphs that have it cannot be told any more. */
int ws_real_cuGraphDestroyNode(void *node)
{
	pthread_mutex_lock(&lock);
	for (size_t k = 0; k < execs.cap; k++) {
		struct ws_real_exec *x = execs.values[k];

		for (size_t i = 0; x && i < x->n && !x->why; i++)
			if (x->nodes[i].handle == node) {
				ws_real_exec_counts_turns(x, (void *)execs.keys[k]);
				x->why = "nodes of a graph were destroyed while it was in use: from then on it was not compared with launches, "
				         "nor its kernels with each other";
			}
	}
	pthread_mutex_unlock(&lock);
	ws_real_node_gone(node);
	return ws_real.cuGraphDestroyNode(node);
}

int ws_real_cuGraphGetNodes(void *graph, void **nodes, size_t *n)
{
	size_t room = n ? *n : 0, all = 0, given = 0;
	int e = ws_real_graphs_have_ours() && n ? ws_real.cuGraphGetNodes(graph, NULL, &all) : -1;
	void **list;

	if (e)
		return ws_real.cuGraphGetNodes(graph, nodes, n);
	list = ws_alloc((all + 1) * sizeof *list);
	e = ws_real.cuGraphGetNodes(graph, list, &all);
	for (size_t k = 0; k < all && !e; k++) {
		if (ws_real_node_is_ours(list[k]) || (nodes && given == room))
			continue;
		if (nodes)
			nodes[given] = list[k];
		given++;
	}
	for (size_t k = given; nodes && k < room && !e; k++)
		nodes[k] = NULL;
	if (!e)
		*n = given;
	free(list);
	return e;
}

/* ---- launches ---- */
static int launched(int e, void *exec, struct ws_real_lane lane)
{
	bool waits = false;
	struct ws_real_exec *x;

	if (e || !ws_real_session())
		return e;
	pthread_mutex_lock(&lock);
	x = ws_map_get(&execs, exec);
	for (size_t i = 0; x && i < x->n; i++)
		if (x->nodes[i].kernel && !x->nodes[i].off) {
			ws_real_launched(x->nodes[i].kernel);
			waits |= x->nodes[i].waits;
		}
	waits |= !x || x->conditional;
	pthread_mutex_unlock(&lock);
	if (waits)
		ws_real_stream_may_wait(lane);
	if (!x)
		ws_report_limit(ws_real_session()->report, "graphs that were instantiated by a call which warpsafe does "
		                                           "not see were launched; their kernels are not counted");
	return e;
}

/* In the order of launches. What is not known of a graph makes order: its nodes may record events and wait for them. */
static void place(void *exec, struct ws_real_lane lane)
{
	struct ws_real_exec *x;

	pthread_mutex_lock(&lock);
	x = ws_map_get(&execs, exec);
	if (x && !x->why) {
		ws_real_exec_launches(x, exec, lane);
	} else {
		if (x)
			ws_real_exec_counts_turns(x, exec);
		ws_real_host_waits_all();
		if (x && ws_real_session()->checks && ws_real_streams_several())
			ws_report_limit(ws_real_session()->report, x->why);
	}
	pthread_mutex_unlock(&lock);
}

static int launch(void *exec, struct ws_real_lane lane, int (*real)(void *exec, void *stream))
{
	static const char all = 'g';         /* stands for every graph */
	struct ws_real_taking l = { &all, true, lane.per_thread ? ws_real.cuEventRecord_ptsz : ws_real.cuEventRecord, lane.stream };
	struct ws_real_gpu *g;
	int e;

	if (ws_real_is_captured(lane.stream, lane.per_thread))
		return real(exec, lane.stream);
	g = ws_real_race_begin(&all);
	place(exec, lane);
	e = real(exec, lane.stream);
	ws_real_race_end(g, e ? NULL : &l);
	return launched(e, exec, lane);
}

int ws_real_cuGraphLaunch(void *exec, void *stream)
{
	return launch(exec, (struct ws_real_lane){ stream, false }, ws_real.cuGraphLaunch);
}

int ws_real_cuGraphLaunch_ptsz(void *exec, void *stream)
{
	return launch(exec, (struct ws_real_lane){ stream, true }, ws_real.cuGraphLaunch_ptsz);
}

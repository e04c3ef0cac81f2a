/* wrap_graph.c - kernels in graphs: which they are is read from the graph when it is instantiated, and each launch of it
 * is one of every kernel. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/map.h"
#include "real/arguments.h"
#include "real/real_priv.h"
#include "real/streams.h"

enum { NODE_KERNEL = 0, NODE_GRAPH = 4, NODE_CONDITIONAL = 13 };     /* CUgraphNodeType */
enum { MOST_DEPTH = 64 };            /* of graphs in graphs */

struct node {
	void *handle;
	struct ws_real_kernel *kernel;
	bool waits;                  /* ws_real_may_wait */
	bool off;                    /* cuGraphNodeSetEnabled */
};

struct exec {
	struct node *nodes;
	size_t n, cap;
	bool conditional;            /* there are kernels besides */
};

struct kernel_params {               /* CUDA_KERNEL_NODE_PARAMS_v2; without the last two it is that of version 1 */
	void *function;
	unsigned grid[3], block[3], shared;
	void **params, **extra;
	void *kernel, *context;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct ws_map execs;

/* ---- parameters of kernels, which are not compared with others ---- */
static const void *with_arguments(const struct kernel_params *from, bool v2, struct kernel_params *copy,
                                  struct ws_real_arguments *a)
{
	void *function;

	if (!from)
		return NULL;
	memset(copy, 0, sizeof *copy);
	memcpy(copy, from, v2 ? sizeof *copy : offsetof(struct kernel_params, kernel));
	function = copy->function ? copy->function : copy->kernel;
	ws_real_arguments(a, function ? ws_real_checked_kernel_of(function) : NULL, copy->params, copy->extra);
	copy->params = a->params;
	copy->extra = a->extra;
	return copy;
}

struct node_params {                 /* CUgraphNodeParams */
	int type, reserved[3];
	union { struct kernel_params kernel; long long all[29]; } u;
	long long reserved2;
};

/* Of a node of any type; what the driver writes there (of other types) the program gets. */
static void *node_arguments(struct node_params *from, struct node_params *copy, struct ws_real_arguments *a)
{
	if (!from || from->type != NODE_KERNEL)
		return from;
	*copy = *from;
	with_arguments(&from->u.kernel, true, &copy->u.kernel, a);
	return copy;
}

int ws_real_cuGraphAddKernelNode(void **node, void *graph, void *const *before, size_t n, const void *params)
{
	struct ws_real_arguments a;
	struct kernel_params copy;

	return ws_real.cuGraphAddKernelNode(node, graph, before, n, with_arguments(params, false, &copy, &a));
}

int ws_real_cuGraphAddKernelNode_v2(void **node, void *graph, void *const *before, size_t n, const void *params)
{
	struct ws_real_arguments a;
	struct kernel_params copy;

	return ws_real.cuGraphAddKernelNode_v2(node, graph, before, n, with_arguments(params, true, &copy, &a));
}

int ws_real_cuGraphAddNode(void **node, void *graph, void *const *before, size_t n, void *params)
{
	struct ws_real_arguments a;
	struct node_params copy;

	return ws_real.cuGraphAddNode(node, graph, before, n, node_arguments(params, &copy, &a));
}

int ws_real_cuGraphAddNode_v2(void **node, void *graph, void *const *before, const void *edges, size_t n, void *params)
{
	struct ws_real_arguments a;
	struct node_params copy;

	return ws_real.cuGraphAddNode_v2(node, graph, before, edges, n, node_arguments(params, &copy, &a));
}

int ws_real_cuGraphKernelNodeSetParams(void *node, const void *params)
{
	struct ws_real_arguments a;
	struct kernel_params copy;

	return ws_real.cuGraphKernelNodeSetParams(node, with_arguments(params, false, &copy, &a));
}

int ws_real_cuGraphKernelNodeSetParams_v2(void *node, const void *params)
{
	struct ws_real_arguments a;
	struct kernel_params copy;

	return ws_real.cuGraphKernelNodeSetParams_v2(node, with_arguments(params, true, &copy, &a));
}

int ws_real_cuGraphNodeSetParams(void *node, void *params)
{
	struct ws_real_arguments a;
	struct node_params copy;

	return ws_real.cuGraphNodeSetParams(node, node_arguments(params, &copy, &a));
}

/* ---- what is in a graph ---- */
/* The kernel behind a function that graphs will launch. */
static void take_kernel(struct node *n, void *function)
{
	if (function) {
		ws_real_race_prepare(function);
		ws_real_transact_prepare(function);
	}
	n->kernel = ws_real_kernel_of(function);
	n->waits = ws_real_may_wait(ws_real_checked_kernel_of(function));
}

static void read_kernel(struct node *n, void *node)
{
	struct kernel_params p = { 0 };
	int e = -1;

	if (ws_real.cuGraphKernelNodeGetParams_v2)
		e = ws_real.cuGraphKernelNodeGetParams_v2(node, &p);
	else if (ws_real.cuGraphKernelNodeGetParams)
		e = ws_real.cuGraphKernelNodeGetParams(node, &p);
	if (!e && WS_RACE_IS_TOLD(p.shared) && ws_real_session() && ws_real_session()->checks)
		ws_report_limit(ws_real_session()->report, "a kernel of a graph was not checked: its size of dynamic shared memory "
		                                           "is one that tells checks to do nothing");
	if (!e)
		take_kernel(n, p.function ? p.function : p.kernel);
}

static void read_graph(struct exec *x, void *graph, unsigned depth);

static void read_node(struct exec *x, void *node, unsigned depth)
{
	void *inner = NULL;
	int type = -1;

	if (ws_real.cuGraphNodeGetType(node, &type))
		return;
	if (type == NODE_KERNEL) {
		struct node n = { node, NULL, true, false };

		read_kernel(&n, node);
		*WS_PUSH(x->nodes, x->n, x->cap) = n;
	} else if (type == NODE_GRAPH && ws_real.cuGraphChildGraphNodeGetGraph &&
	         !ws_real.cuGraphChildGraphNodeGetGraph(node, &inner)) {
		read_graph(x, inner, depth + 1);
	} else if (type == NODE_CONDITIONAL) {
		x->conditional = true;
		ws_report_limit(ws_real_session()->report, "kernels in conditional nodes of graphs are not counted");
	}
}

static void read_graph(struct exec *x, void *graph, unsigned depth)
{
	size_t n = 0;
	void **nodes;

	if (!ws_real.cuGraphGetNodes || !ws_real.cuGraphNodeGetType || depth > MOST_DEPTH ||
	    ws_real.cuGraphGetNodes(graph, NULL, &n) || !n)
		return;
	nodes = ws_alloc(n * sizeof *nodes);
	if (!ws_real.cuGraphGetNodes(graph, nodes, &n))
		for (size_t i = 0; i < n; i++)
			read_node(x, nodes[i], depth);
	free(nodes);
}

static void drop(void *handle)
{
	struct exec *x = ws_map_get(&execs, handle);

	if (!x)
		return;
	ws_map_remove(&execs, handle);
	free(x->nodes);
	free(x);
}

static int instantiated(int e, void *handle, void *graph)
{
	struct exec *x;

	if (e || !handle || !ws_real_session())
		return e;
	x = ws_alloc(sizeof *x);
	read_graph(x, graph, 0);
	pthread_mutex_lock(&lock);
	drop(handle);
	ws_map_put(&execs, handle, x);
	pthread_mutex_unlock(&lock);
	return e;
}

int ws_real_cuGraphInstantiate(void **exec, void *graph, void **node, char *log, size_t size)
{
	int e = ws_real.cuGraphInstantiate(exec, graph, node, log, size);

	return instantiated(e, exec ? *exec : NULL, graph);
}

int ws_real_cuGraphInstantiate_v2(void **exec, void *graph, void **node, char *log, size_t size)
{
	int e = ws_real.cuGraphInstantiate_v2(exec, graph, node, log, size);

	return instantiated(e, exec ? *exec : NULL, graph);
}

int ws_real_cuGraphInstantiateWithFlags(void **exec, void *graph, unsigned long long flags)
{
	int e = ws_real.cuGraphInstantiateWithFlags(exec, graph, flags);

	return instantiated(e, exec ? *exec : NULL, graph);
}

int ws_real_cuGraphInstantiateWithParams(void **exec, void *graph, void *params)
{
	int e = ws_real.cuGraphInstantiateWithParams(exec, graph, params);

	return instantiated(e, exec ? *exec : NULL, graph);
}

int ws_real_cuGraphInstantiateWithParams_ptsz(void **exec, void *graph, void *params)
{
	int e = ws_real.cuGraphInstantiateWithParams_ptsz(exec, graph, params);

	return instantiated(e, exec ? *exec : NULL, graph);
}

int ws_real_cuGraphExecUpdate(void *exec, void *graph, void **node, int *result)
{
	return instantiated(ws_real.cuGraphExecUpdate(exec, graph, node, result), exec, graph);
}

int ws_real_cuGraphExecUpdate_v2(void *exec, void *graph, void *result)
{
	return instantiated(ws_real.cuGraphExecUpdate_v2(exec, graph, result), exec, graph);
}

/* ---- changes of one node ---- */
static struct node *find_node(void *exec, void *handle)
{
	struct exec *x = ws_map_get(&execs, exec);

	for (size_t i = 0; x && i < x->n; i++)
		if (x->nodes[i].handle == handle)
			return &x->nodes[i];
	return NULL;
}

static int changed(int e, void *exec, void *handle, void *function)
{
	struct node changed = { .kernel = NULL }, *n;

	if (!e)
		take_kernel(&changed, function);
	pthread_mutex_lock(&lock);
	n = changed.kernel ? find_node(exec, handle) : NULL;
	if (n) {
		n->kernel = changed.kernel;
		n->waits = changed.waits;
	}
	pthread_mutex_unlock(&lock);
	return e;
}

int ws_real_cuGraphExecKernelNodeSetParams(void *exec, void *node, const void *params)
{
	const struct kernel_params *p = params;
	struct ws_real_arguments a;
	struct kernel_params copy;
	int e = ws_real.cuGraphExecKernelNodeSetParams(exec, node, with_arguments(params, false, &copy, &a));

	return changed(e, exec, node, p ? p->function : NULL);
}

int ws_real_cuGraphExecKernelNodeSetParams_v2(void *exec, void *node, const void *params)
{
	const struct kernel_params *p = params;
	struct ws_real_arguments a;
	struct kernel_params copy;
	int e = ws_real.cuGraphExecKernelNodeSetParams_v2(exec, node, with_arguments(params, true, &copy, &a));

	return changed(e, exec, node, !p ? NULL : p->function ? p->function : p->kernel);
}

int ws_real_cuGraphExecNodeSetParams(void *exec, void *node, void *params)
{
	struct node_params *p = params, copy;
	struct ws_real_arguments a;
	int e = ws_real.cuGraphExecNodeSetParams(exec, node, node_arguments(p, &copy, &a));

	if (!p || p->type != NODE_KERNEL)
		return e;
	return changed(e, exec, node, p->u.kernel.function ? p->u.kernel.function : p->u.kernel.kernel);
}

int ws_real_cuGraphNodeSetEnabled(void *exec, void *node, unsigned enabled)
{
	int e = ws_real.cuGraphNodeSetEnabled(exec, node, enabled);
	struct node *n;

	pthread_mutex_lock(&lock);
	n = e ? NULL : find_node(exec, node);
	if (n)
		n->off = !enabled;
	pthread_mutex_unlock(&lock);
	return e;
}

int ws_real_cuGraphExecDestroy(void *exec)
{
	pthread_mutex_lock(&lock);
	drop(exec);
	pthread_mutex_unlock(&lock);
	return ws_real.cuGraphExecDestroy(exec);
}

/* ---- launches ---- */
static int launched(int e, void *exec, struct ws_real_lane lane)
{
	bool waits = false;
	struct exec *x;

	if (e || !ws_real_session())
		return e;
	pthread_mutex_lock(&lock);
	x = ws_map_get(&execs, exec);
	for (size_t i = 0; x && i < x->n; i++)
		if (!x->nodes[i].off) {
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

int ws_real_cuGraphLaunch(void *exec, void *stream)
{
	struct ws_real_gpu *g = ws_real_race_begin();
	int e;

	ws_real_host_waits_all();            /* its nodes may record events and wait for them */
	e = ws_real.cuGraphLaunch(exec, stream);
	ws_real_race_end(g);
	return launched(e, exec, (struct ws_real_lane){ stream, false });
}

int ws_real_cuGraphLaunch_ptsz(void *exec, void *stream)
{
	struct ws_real_gpu *g = ws_real_race_begin();
	int e;

	ws_real_host_waits_all();
	e = ws_real.cuGraphLaunch_ptsz(exec, stream);
	ws_real_race_end(g);
	return launched(e, exec, (struct ws_real_lane){ stream, true });
}

/* rt_graph.c - graphs in the runtime API: nodes are made from the same work that streams run (ops.c, graph.c). */
#include "cuda/graph.h"

#include <stdlib.h>
#include <string.h>

/* ---- work from the structs of the API; 0 or an error ---- */
int ws_graph_kernel_work(const struct ws_kernel_node_params *p, struct ws_work *op)
{
	struct ws_kernel_op *k = &op->u.kernel;
	int e;

	if (!p)
		return WS_CUDA_INVALID_VALUE;
	*op = (struct ws_work){.type = WS_NODE_KERNEL};
	*k = (struct ws_kernel_op){.grid = p->grid, .block = p->block, .shared = p->shared};
	k->f = ws_function_of(p->func, &e);
	return e ? e : ws_pack_params(k, p->params, p->extra);
}

static int copy1_work(void *dst, const void *src, size_t n, int kind, struct ws_work *op)
{
	*op = (struct ws_work){.type = WS_NODE_MEMCPY,
			       .u.copy = {.dst = (uint64_t)(uintptr_t)dst,
					  .src = (uint64_t)(uintptr_t)src,
					  .width = n,
					  .height = 1,
					  .depth = 1,
					  .kind = kind}};
	return ws_work_check_copy(&op->u.copy);
}

static int copy3_work(const struct ws_memcpy3d *p, struct ws_work *op)
{
	if (!p)
		return WS_CUDA_INVALID_VALUE;
	if (p->src_array || p->dst_array)
		return ws_unsupported("a graph's copy from or to a CUDA array");
	*op = (struct ws_work){.type = WS_NODE_MEMCPY};
	op->u.copy =
		(struct ws_copy){.dst = (uint64_t)(uintptr_t)p->dst.ptr + p->dst_pos.z * p->dst.pitch * p->dst.ysize +
					p->dst_pos.y * p->dst.pitch + p->dst_pos.x,
				 .src = (uint64_t)(uintptr_t)p->src.ptr + p->src_pos.z * p->src.pitch * p->src.ysize +
					p->src_pos.y * p->src.pitch + p->src_pos.x,
				 .dst_pitch = p->dst.pitch,
				 .src_pitch = p->src.pitch,
				 .dst_slice = p->dst.pitch * p->dst.ysize,
				 .src_slice = p->src.pitch * p->src.ysize,
				 .width = p->extent.width,
				 .height = p->extent.height,
				 .depth = p->extent.depth,
				 .kind = p->kind};
	return ws_work_check_copy(&op->u.copy);
}

static int symbol_work(const void *symbol, size_t offset, size_t n, void *other, bool to, int kind, struct ws_work *op)
{
	struct ws_mem *m;
	int e;

	m = ws_variable_of(symbol, &e);
	if (m && (offset > m->size || n > m->size - offset))
		e = WS_CUDA_INVALID_VALUE;
	if (e)
		return e;
	return to ? copy1_work((void *)(uintptr_t)(m->addr + offset), other, n, kind, op)
		  : copy1_work(other, (void *)(uintptr_t)(m->addr + offset), n, kind, op);
}

static int fill_work(const struct ws_memset_params *p, struct ws_work *op)
{
	if (!p || (p->element != 1 && p->element != 2 && p->element != 4))
		return WS_CUDA_INVALID_VALUE;
	*op = (struct ws_work){.type = WS_NODE_MEMSET,
			       .u.fill = {.dst = (uint64_t)(uintptr_t)p->dst,
					  .pitch = p->pitch,
					  .value = p->value,
					  .element = p->element,
					  .width = p->width * p->element,
					  .height = p->height,
					  .depth = 1}};
	return 0;
}

static int host_work(const struct ws_host_node_params *p, struct ws_work *op)
{
	if (!p || !p->fn)
		return WS_CUDA_INVALID_VALUE;
	*op = (struct ws_work){.type = WS_NODE_HOST, .u.host = {.fn = p->fn, .user = p->user}};
	return 0;
}

static int child_work(void *graph, struct ws_work *op)
{
	struct ws_graph *g = ws_graph_of(graph);

	if (!g)
		return WS_CUDA_INVALID_VALUE;
	*op = (struct ws_work){.type = WS_NODE_GRAPH, .u.graph = ws_graph_clone(g)};
	return 0;
}

static int event_work(void *event, enum ws_node_type type, struct ws_work *op)
{
	struct ws_event *e = ws_event_of(event);

	*op = (struct ws_work){.type = type, .u.event = e};
	return e ? 0 : WS_CUDA_INVALID_HANDLE;
}

static int alloc_work(struct ws_alloc_node_params *p, struct ws_work *op, const void *caller)
{
	int e;

	if (!p)
		return WS_CUDA_INVALID_VALUE;
	e = ws_mem_alloc(p->bytes, WS_MEM_DEVICE, "cudaGraphAddMemAllocNode", caller, &p->ptr);
	*op = (struct ws_work){.type = WS_NODE_ALLOC, .u.mem = {(uint64_t)(uintptr_t)p->ptr, p->bytes}};
	return e;
}

static int any_work(struct ws_graph_node_params *p, struct ws_work *op, const void *caller)
{
	if (!p)
		return WS_CUDA_INVALID_VALUE;
	switch (p->type) {
	case WS_NODE_KERNEL:
		return ws_graph_kernel_work(&p->u.kernel, op);
	case WS_NODE_MEMCPY:
		return copy3_work(&p->u.memcpy.copy, op);
	case WS_NODE_MEMSET:
		return fill_work(&p->u.memset, op);
	case WS_NODE_HOST:
		return host_work(&p->u.host, op);
	case WS_NODE_GRAPH:
		return child_work(p->u.graph.graph, op);
	case WS_NODE_EMPTY:
		*op = (struct ws_work){.type = WS_NODE_EMPTY};
		return 0;
	case WS_NODE_WAIT:
	case WS_NODE_RECORD:
		return event_work(p->u.event.event, p->type, op);
	case WS_NODE_ALLOC:
		return alloc_work(&p->u.alloc, op, caller);
	case WS_NODE_FREE:
		*op = (struct ws_work){.type = WS_NODE_FREE, .u.mem.addr = (uint64_t)(uintptr_t)p->u.free.ptr};
		return 0;
	default:
		return ws_unsupported("a graph node of this type (semaphore or conditional)");
	}
}

int ws_graph_add(void **out, void *graph, void *const *deps, size_t ndeps, struct ws_work *op, int e)
{
	struct ws_graph *g = ws_graph_of(graph);
	struct ws_node *n;

	if (e)
		return ws_fail(e);
	if (!out || !g) {
		ws_work_free(op);
		return ws_fail(WS_CUDA_INVALID_VALUE);
	}
	n = ws_node_new(g, deps, ndeps, op);
	*out = n;
	return ws_fail(n ? 0 : WS_CUDA_INVALID_VALUE);
}

int ws_graph_set(void *exec, void *node, struct ws_work *op, int e)
{
	struct ws_node *n = ws_node_of(node);

	if (e)
		return ws_fail(e);
	if (n && exec)
		n = ws_graph_of(exec) ? ws_graph_copy_of(ws_graph_of(exec), n) : NULL;
	if (!n || n->op.type != op->type) {
		ws_work_free(op);
		return ws_fail(WS_CUDA_INVALID_VALUE);
	}
	ws_work_free(&n->op);
	n->op = *op;
	return 0;
}

/* ---- graphs ---- */
WS_RT(cudaGraphCreate, void **out, unsigned flags)
{
	WS_BEGIN();
	if (!out || flags)
		return ws_fail(WS_CUDA_INVALID_VALUE);
	*out = ws_graph_new();
	return 0;
}

WS_RT(cudaGraphDestroy, void *graph)
{
	struct ws_graph *g;

	WS_BEGIN();
	g = ws_graph_of(graph);
	if (g)
		ws_graph_free(g);
	return ws_fail(g ? 0 : WS_CUDA_INVALID_VALUE);
}

WS_RT(cudaGraphClone, void **out, void *graph)
{
	struct ws_graph *g;

	WS_BEGIN();
	g = ws_graph_of(graph);
	if (!g || !out)
		return ws_fail(WS_CUDA_INVALID_VALUE);
	*out = ws_graph_clone(g);
	return 0;
}

WS_RT(cudaGraphNodeFindInClone, void **out, void *node, void *clone)
{
	struct ws_graph *g;

	WS_BEGIN();
	g = ws_graph_of(clone);
	if (!out || !g || !ws_node_of(node))
		return ws_fail(WS_CUDA_INVALID_VALUE);
	*out = ws_graph_copy_of(g, node);
	return ws_fail(*out ? 0 : WS_CUDA_INVALID_VALUE);
}

/* ---- nodes ---- */
WS_RT(cudaGraphAddKernelNode, void **out, void *graph, void *const *deps, size_t n,
      const struct ws_kernel_node_params *p)
{
	struct ws_work op;

	WS_BEGIN();
	return ws_graph_add(out, graph, deps, n, &op, ws_graph_kernel_work(p, &op));
}

WS_RT(cudaGraphAddMemcpyNode, void **out, void *graph, void *const *deps, size_t n, const struct ws_memcpy3d *p)
{
	struct ws_work op;

	WS_BEGIN();
	return ws_graph_add(out, graph, deps, n, &op, copy3_work(p, &op));
}

WS_RT(cudaGraphAddMemcpyNode1D, void **out, void *graph, void *const *deps, size_t n, void *dst, const void *src,
      size_t count, int kind)
{
	struct ws_work op;

	WS_BEGIN();
	return ws_graph_add(out, graph, deps, n, &op, copy1_work(dst, src, count, kind, &op));
}

WS_RT(cudaGraphAddMemcpyNodeToSymbol, void **out, void *graph, void *const *deps, size_t n, const void *symbol,
      const void *src, size_t count, size_t offset, int kind)
{
	struct ws_work op;

	WS_BEGIN();
	return ws_graph_add(out, graph, deps, n, &op,
		   symbol_work(symbol, offset, count, (void *)(uintptr_t)src, true, kind, &op));
}

WS_RT(cudaGraphAddMemcpyNodeFromSymbol, void **out, void *graph, void *const *deps, size_t n, void *dst,
      const void *symbol, size_t count, size_t offset, int kind)
{
	struct ws_work op;

	WS_BEGIN();
	return ws_graph_add(out, graph, deps, n, &op, symbol_work(symbol, offset, count, dst, false, kind, &op));
}

WS_RT(cudaGraphAddMemsetNode, void **out, void *graph, void *const *deps, size_t n, const struct ws_memset_params *p)
{
	struct ws_work op;

	WS_BEGIN();
	return ws_graph_add(out, graph, deps, n, &op, fill_work(p, &op));
}

WS_RT(cudaGraphAddHostNode, void **out, void *graph, void *const *deps, size_t n, const struct ws_host_node_params *p)
{
	struct ws_work op;

	WS_BEGIN();
	return ws_graph_add(out, graph, deps, n, &op, host_work(p, &op));
}

WS_RT(cudaGraphAddChildGraphNode, void **out, void *graph, void *const *deps, size_t n, void *child)
{
	struct ws_work op;

	WS_BEGIN();
	return ws_graph_add(out, graph, deps, n, &op, child_work(child, &op));
}

WS_RT(cudaGraphAddEmptyNode, void **out, void *graph, void *const *deps, size_t n)
{
	struct ws_work op = {.type = WS_NODE_EMPTY};

	WS_BEGIN();
	return ws_graph_add(out, graph, deps, n, &op, 0);
}

WS_RT(cudaGraphAddEventRecordNode, void **out, void *graph, void *const *deps, size_t n, void *event)
{
	struct ws_work op;

	WS_BEGIN();
	return ws_graph_add(out, graph, deps, n, &op, event_work(event, WS_NODE_RECORD, &op));
}

WS_RT(cudaGraphAddEventWaitNode, void **out, void *graph, void *const *deps, size_t n, void *event)
{
	struct ws_work op;

	WS_BEGIN();
	return ws_graph_add(out, graph, deps, n, &op, event_work(event, WS_NODE_WAIT, &op));
}

WS_RT(cudaGraphAddMemAllocNode, void **out, void *graph, void *const *deps, size_t n, struct ws_alloc_node_params *p)
{
	struct ws_work op;

	WS_BEGIN();
	return ws_graph_add(out, graph, deps, n, &op, alloc_work(p, &op, WS_CALLER));
}

WS_RT(cudaGraphAddMemFreeNode, void **out, void *graph, void *const *deps, size_t n, void *ptr)
{
	struct ws_work op = {.type = WS_NODE_FREE, .u.mem.addr = (uint64_t)(uintptr_t)ptr};

	WS_BEGIN();
	return ws_graph_add(out, graph, deps, n, &op, ptr ? 0 : WS_CUDA_INVALID_VALUE);
}

WS_RT(cudaGraphAddNode, void **out, void *graph, void *const *deps, const void *data, size_t n,
      struct ws_graph_node_params *p)
{
	struct ws_work op;

	WS_BEGIN();
	return ws_graph_add(out, graph, deps, n, &op, any_work(p, &op, WS_CALLER));
}

/* CUDA 12's form, without data of the edges. */
WS_RT(cudaGraphAddNode_v1, void **out, void *graph, void *const *deps, size_t n, struct ws_graph_node_params *p)
{
	struct ws_work op;

	WS_BEGIN();
	return ws_graph_add(out, graph, deps, n, &op, any_work(p, &op, WS_CALLER));
}

WS_RT(cudaGraphDestroyNode, void *node)
{
	struct ws_node *n;

	WS_BEGIN();
	n = ws_node_of(node);
	if (n)
		ws_node_free(n);
	return ws_fail(n ? 0 : WS_CUDA_INVALID_VALUE);
}

/* ---- new parameters ---- */
WS_RT(cudaGraphKernelNodeSetParams, void *node, const struct ws_kernel_node_params *p)
{
	struct ws_work op;

	WS_BEGIN();
	return ws_graph_set(NULL, node, &op, ws_graph_kernel_work(p, &op));
}

WS_RT(cudaGraphExecKernelNodeSetParams, void *exec, void *node, const struct ws_kernel_node_params *p)
{
	struct ws_work op;

	WS_BEGIN();
	return ws_graph_set(exec, node, &op, exec ? ws_graph_kernel_work(p, &op) : WS_CUDA_INVALID_VALUE);
}

WS_RT(cudaGraphMemcpyNodeSetParams, void *node, const struct ws_memcpy3d *p)
{
	struct ws_work op;

	WS_BEGIN();
	return ws_graph_set(NULL, node, &op, copy3_work(p, &op));
}

WS_RT(cudaGraphExecMemcpyNodeSetParams, void *exec, void *node, const struct ws_memcpy3d *p)
{
	struct ws_work op;

	WS_BEGIN();
	return ws_graph_set(exec, node, &op, exec ? copy3_work(p, &op) : WS_CUDA_INVALID_VALUE);
}

WS_RT(cudaGraphMemcpyNodeSetParams1D, void *node, void *dst, const void *src, size_t n, int kind)
{
	struct ws_work op;

	WS_BEGIN();
	return ws_graph_set(NULL, node, &op, copy1_work(dst, src, n, kind, &op));
}

WS_RT(cudaGraphExecMemcpyNodeSetParams1D, void *exec, void *node, void *dst, const void *src, size_t n, int kind)
{
	struct ws_work op;

	WS_BEGIN();
	return ws_graph_set(exec, node, &op, exec ? copy1_work(dst, src, n, kind, &op) : WS_CUDA_INVALID_VALUE);
}

WS_RT(cudaGraphMemsetNodeSetParams, void *node, const struct ws_memset_params *p)
{
	struct ws_work op;

	WS_BEGIN();
	return ws_graph_set(NULL, node, &op, fill_work(p, &op));
}

WS_RT(cudaGraphExecMemsetNodeSetParams, void *exec, void *node, const struct ws_memset_params *p)
{
	struct ws_work op;

	WS_BEGIN();
	return ws_graph_set(exec, node, &op, exec ? fill_work(p, &op) : WS_CUDA_INVALID_VALUE);
}

WS_RT(cudaGraphHostNodeSetParams, void *node, const struct ws_host_node_params *p)
{
	struct ws_work op;

	WS_BEGIN();
	return ws_graph_set(NULL, node, &op, host_work(p, &op));
}

WS_RT(cudaGraphExecHostNodeSetParams, void *exec, void *node, const struct ws_host_node_params *p)
{
	struct ws_work op;

	WS_BEGIN();
	return ws_graph_set(exec, node, &op, exec ? host_work(p, &op) : WS_CUDA_INVALID_VALUE);
}

WS_RT(cudaGraphNodeSetParams, void *node, struct ws_graph_node_params *p)
{
	struct ws_work op;

	WS_BEGIN();
	return ws_graph_set(NULL, node, &op, any_work(p, &op, WS_CALLER));
}

WS_RT(cudaGraphExecNodeSetParams, void *exec, void *node, struct ws_graph_node_params *p)
{
	struct ws_work op;

	WS_BEGIN();
	return ws_graph_set(exec, node, &op, exec ? any_work(p, &op, WS_CALLER) : WS_CUDA_INVALID_VALUE);
}

WS_RT(cudaGraphKernelNodeGetParams, void *node, struct ws_kernel_node_params *out)
{
	struct ws_kernel_info info;
	struct ws_node *n;
	struct ws_kernel_op *k;
	uint32_t i;

	WS_BEGIN();
	n = ws_node_of(node);
	if (!n || !out || n->op.type != WS_NODE_KERNEL)
		return ws_fail(WS_CUDA_INVALID_VALUE);
	k = &n->op.u.kernel;
	ws_gpu_kernel_info(k->f->kernel, &info);
	n->values = ws_realloc(n->values, (info.nparams + 1) * sizeof *n->values);
	for (i = 0; i < info.nparams; i++)
		n->values[i] = k->params + info.param_offset[i];
	*out = (struct ws_kernel_node_params){k->f, k->grid, k->block, (unsigned)k->shared, n->values, NULL};
	return 0;
}

WS_RT(cudaGraphHostNodeGetParams, void *node, struct ws_host_node_params *out)
{
	struct ws_node *n;

	WS_BEGIN();
	n = ws_node_of(node);
	if (!n || !out || n->op.type != WS_NODE_HOST)
		return ws_fail(WS_CUDA_INVALID_VALUE);
	*out = (struct ws_host_node_params){n->op.u.host.fn, n->op.u.host.user};
	return 0;
}

WS_RT(cudaGraphMemsetNodeGetParams, void *node, struct ws_memset_params *out)
{
	const struct ws_fill *f;
	struct ws_node *n;

	WS_BEGIN();
	n = ws_node_of(node);
	if (!n || !out || n->op.type != WS_NODE_MEMSET)
		return ws_fail(WS_CUDA_INVALID_VALUE);
	f = &n->op.u.fill;
	*out = (struct ws_memset_params){(void *)(uintptr_t)f->dst, f->pitch, f->value, f->element,
					 f->width / f->element,     f->height};
	return 0;
}

/* ---- questions ---- */
WS_RT(cudaGraphNodeGetType, void *node, int *type)
{
	struct ws_node *n;

	WS_BEGIN();
	n = ws_node_of(node);
	if (!n || !type)
		return ws_fail(WS_CUDA_INVALID_VALUE);
	*type = n->op.type;
	return 0;
}

/* Gives the nodes for which `want` holds: *count says how many fit; it becomes how many there are or were given. */
static int give(struct ws_graph *g, void **out, size_t *count, bool (*want)(const struct ws_node *, const void *),
		const void *arg)
{
	size_t i, n = 0;

	if (!g || !count)
		return WS_CUDA_INVALID_VALUE;
	for (i = 0; i < g->n; i++) {
		if (!want(g->nodes[i], arg))
			continue;
		if (out && n < *count)
			out[n] = g->nodes[i];
		n += !out || n < *count;
	}
	*count = n;
	return 0;
}

static bool all(const struct ws_node *n, const void *arg)
{
	return true;
}

static bool is_root(const struct ws_node *n, const void *arg)
{
	return !n->ndeps;
}

static bool has_edge(const struct ws_node *from, const struct ws_node *to)
{
	size_t d;

	for (d = 0; d < to->ndeps; d++)
		if (to->deps[d] == from)
			return true;
	return false;
}

static bool is_before(const struct ws_node *n, const void *arg)
{
	return has_edge(n, arg);
}

static bool is_after(const struct ws_node *n, const void *arg)
{
	return has_edge(arg, n);
}

WS_RT(cudaGraphGetNodes, void *graph, void **out, size_t *n)
{
	WS_BEGIN();
	return ws_fail(give(ws_graph_of(graph), out, n, all, NULL));
}

WS_RT(cudaGraphGetRootNodes, void *graph, void **out, size_t *n)
{
	WS_BEGIN();
	return ws_fail(give(ws_graph_of(graph), out, n, is_root, NULL));
}

static int neighbours(void *node, void **out, size_t *count, bool (*want)(const struct ws_node *, const void *))
{
	struct ws_node *n = ws_node_of(node);

	return n ? give(n->graph, out, count, want, n) : WS_CUDA_INVALID_VALUE;
}

WS_RT(cudaGraphNodeGetDependencies, void *node, void **out, void *data, size_t *n)
{
	WS_BEGIN();
	return ws_fail(neighbours(node, out, n, is_before));
}

WS_RT(cudaGraphNodeGetDependentNodes, void *node, void **out, void *data, size_t *n)
{
	WS_BEGIN();
	return ws_fail(neighbours(node, out, n, is_after));
}

/* CUDA 12's forms, without data of the edges. */
WS_RT(cudaGraphNodeGetDependencies_v1, void *node, void **out, size_t *n)
{
	WS_BEGIN();
	return ws_fail(neighbours(node, out, n, is_before));
}

WS_RT(cudaGraphNodeGetDependentNodes_v1, void *node, void **out, size_t *n)
{
	WS_BEGIN();
	return ws_fail(neighbours(node, out, n, is_after));
}

/* *count says how many fit; it becomes how many there are or were given. */
static int edges(void *graph, void **from, void **to, size_t *count)
{
	struct ws_graph *g = ws_graph_of(graph);
	size_t n = 0;

	if (!g || !count || !from != !to)
		return WS_CUDA_INVALID_VALUE;
	for (size_t i = 0; i < g->n; i++)
		for (size_t d = 0; d < g->nodes[i]->ndeps && (!from || n < *count); d++, n++)
			if (from) {
				from[n] = g->nodes[i]->deps[d];
				to[n] = g->nodes[i];
			}
	*count = n;
	return 0;
}

WS_RT(cudaGraphGetEdges, void *graph, void **from, void **to, void *data, size_t *n)
{
	WS_BEGIN();
	return ws_fail(edges(graph, from, to, n));
}

WS_RT(cudaGraphGetEdges_v1, void *graph, void **from, void **to, size_t *n)
{
	WS_BEGIN();
	return ws_fail(edges(graph, from, to, n));
}

static int add_edges(void *graph, void *const *from, void *const *to, size_t n)
{
	struct ws_graph *g = ws_graph_of(graph);
	size_t i;

	if (!g || (n && (!from || !to)))
		return WS_CUDA_INVALID_VALUE;
	for (i = 0; i < n; i++)
		if (!ws_node_of(from[i]) || !ws_node_of(to[i]) || ws_node_of(from[i])->graph != g ||
		    ws_node_of(to[i])->graph != g)
			return WS_CUDA_INVALID_VALUE;
	for (i = 0; i < n; i++)
		ws_node_depend(to[i], from[i]);
	return 0;
}

WS_RT(cudaGraphAddDependencies, void *graph, void *const *from, void *const *to, const void *data, size_t n)
{
	WS_BEGIN();
	return ws_fail(add_edges(graph, from, to, n));
}

WS_RT(cudaGraphAddDependencies_v1, void *graph, void *const *from, void *const *to, size_t n)
{
	WS_BEGIN();
	return ws_fail(add_edges(graph, from, to, n));
}

/* ---- executable graphs ---- */
static int instantiate(void **out, void *graph, unsigned long long flags)
{
	struct ws_graph *g = ws_graph_of(graph), *exec;

	if (!out || !g)
		return WS_CUDA_INVALID_VALUE;
	exec = ws_graph_clone(g);
	exec->flags = flags;
	if (!ws_graph_sort(exec)) {
		ws_graph_free(exec);
		return WS_CUDA_INVALID_VALUE;
	}
	*out = exec;
	return 0;
}

WS_RT(cudaGraphInstantiate, void **out, void *graph, unsigned long long flags)
{
	WS_BEGIN();
	return ws_fail(instantiate(out, graph, flags));
}

WS_RT(cudaGraphInstantiateWithParams, void **out, void *graph, struct ws_graph_instantiate_params *p)
{
	int e;

	WS_BEGIN();
	if (!p)
		return ws_fail(WS_CUDA_INVALID_VALUE);
	e = instantiate(out, graph, p->flags);
	p->result = e ? 1 : 0;
	p->error_node = NULL;
	return ws_fail(e);
}

WS_RT(cudaGraphExecGetFlags, void *exec, unsigned long long *flags)
{
	struct ws_graph *g;

	WS_BEGIN();
	g = ws_graph_of(exec);
	if (!g || !flags)
		return ws_fail(WS_CUDA_INVALID_VALUE);
	*flags = g->flags;
	return 0;
}

WS_RT(cudaGraphExecDestroy, void *exec)
{
	struct ws_graph *g;

	WS_BEGIN();
	g = ws_graph_of(exec);
	if (g)
		ws_graph_free(g);
	return ws_fail(g ? 0 : WS_CUDA_INVALID_VALUE);
}

WS_RT(cudaGraphUpload, void *exec, void *stream)
{
	WS_BEGIN();
	return ws_fail(ws_graph_of(exec) ? 0 : WS_CUDA_INVALID_VALUE);
}

static int run_now(struct ws_graph *g, void *stream)
{
	struct ws_lane lane = ws_sync_lane(stream);

	return ws_graph_run(g, &lane, "cudaGraphLaunch");
}

WS_RT(cudaGraphLaunch, void *exec, void *stream)
{
	struct ws_graph *g;
	struct ws_stream *s;
	struct ws_work op;

	WS_BEGIN();
	g = ws_graph_of(exec);
	if (!g || !ws_stream_of(stream, &s))
		return ws_fail(g ? WS_CUDA_INVALID_HANDLE : WS_CUDA_INVALID_VALUE);
	if (!s || !s->capture)
		return ws_fail(run_now(g, stream));
	op = (struct ws_work){.type = WS_NODE_GRAPH, .u.graph = ws_graph_clone(g)};
	return ws_fail(ws_work_submit(stream, &op, "cudaGraphLaunch"));
}

WS_RT(cudaGraphNodeSetEnabled, void *exec, void *node, unsigned on)
{
	struct ws_node *n;

	WS_BEGIN();
	n = ws_graph_of(exec) && ws_node_of(node) ? ws_graph_copy_of(ws_graph_of(exec), node) : NULL;
	if (!n)
		return ws_fail(WS_CUDA_INVALID_VALUE);
	n->disabled = !on;
	return 0;
}

WS_RT(cudaGraphNodeGetEnabled, void *exec, void *node, unsigned *on)
{
	struct ws_node *n;

	WS_BEGIN();
	n = ws_graph_of(exec) && ws_node_of(node) ? ws_graph_copy_of(ws_graph_of(exec), node) : NULL;
	if (!n || !on)
		return ws_fail(WS_CUDA_INVALID_VALUE);
	*on = !n->disabled;
	return 0;
}

/* Takes the work of every node of g over into exec, when both have the same nodes in the same order. */
static int update(struct ws_graph *exec, struct ws_graph *g, struct ws_graph_update_info *info)
{
	size_t i;

	info->error_node = info->error_from = NULL;
	info->result = exec->n == g->n && ws_graph_sort(g) ? 0 : 2; /* topology changed */
	for (i = 0; i < g->n && !info->result; i++)
		if (exec->nodes[i]->op.type != g->nodes[i]->op.type || exec->nodes[i]->ndeps != g->nodes[i]->ndeps) {
			info->result = 3; /* type of a node changed */
			info->error_node = g->nodes[i];
		}
	if (info->result)
		return WS_CUDA_UPDATE_FAILURE;
	for (i = 0; i < g->n; i++) {
		ws_work_free(&exec->nodes[i]->op);
		ws_work_copy(&exec->nodes[i]->op, &g->nodes[i]->op);
	}
	return 0;
}

WS_RT(cudaGraphExecUpdate, void *exec, void *graph, struct ws_graph_update_info *info)
{
	struct ws_graph_update_info own;
	struct ws_graph *e, *g;

	WS_BEGIN();
	e = ws_graph_of(exec);
	g = ws_graph_of(graph);
	return ws_fail(e && g ? update(e, g, info ? info : &own) : WS_CUDA_INVALID_VALUE);
}

/* ---- memory of graphs ---- */
WS_RT(cudaDeviceGraphMemTrim, int device)
{
	WS_BEGIN();
	return ws_fail(device ? WS_CUDA_INVALID_DEVICE : 0);
}

WS_RT(cudaDeviceGetGraphMemAttribute, int device, int attribute, void *value)
{
	WS_BEGIN();
	if (device || !value || attribute < 0 || attribute > 3)
		return ws_fail(device ? WS_CUDA_INVALID_DEVICE : WS_CUDA_INVALID_VALUE);
	memset(value, 0, 8);
	return 0;
}

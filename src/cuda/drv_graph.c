/* drv_graph.c - graphs in the driver API, where it differs from the runtime API: kernels are named by handles, boxes of
 * copies are described otherwise, nodes of copies and fills name a context. All else are the same functions (drv_api.def). */
#include "cuda/drv.h"
#include "cuda/graph.h"

struct kernel_params { /* CUDA_KERNEL_NODE_PARAMS_v2 */
	struct ws_kernel_node_params own;
	void *kernel, *context;
};

static const struct ws_kernel_node_params *with_function(const struct kernel_params *p, struct ws_kernel_node_params *copy)
{
	if (!p)
		return NULL;
	*copy = p->own;
	if (!copy->func)
		copy->func = p->kernel;
	return copy;
}

WS_RT(cuGraphAddKernelNode_v2, void **out, void *graph, void *const *deps, size_t n, const struct kernel_params *p)
{
	struct ws_kernel_node_params copy;
	struct ws_work op;

	WS_DRV_BEGIN();
	return ws_drv(ws_graph_add(out, graph, deps, n, &op, ws_graph_kernel_work(with_function(p, &copy), &op)));
}

WS_RT(cuGraphKernelNodeSetParams_v2, void *node, const struct kernel_params *p)
{
	struct ws_kernel_node_params copy;
	struct ws_work op;

	WS_DRV_BEGIN();
	return ws_drv(ws_graph_set(NULL, node, &op, ws_graph_kernel_work(with_function(p, &copy), &op)));
}

WS_RT(cuGraphExecKernelNodeSetParams_v2, void *exec, void *node, const struct kernel_params *p)
{
	struct ws_kernel_node_params copy;
	struct ws_work op;

	WS_DRV_BEGIN();
	if (!exec)
		return WS_CUDA_INVALID_VALUE;
	return ws_drv(ws_graph_set(exec, node, &op, ws_graph_kernel_work(with_function(p, &copy), &op)));
}

WS_RT(cuGraphKernelNodeGetParams_v2, void *node, struct kernel_params *out)
{
	if (!out)
		return WS_CUDA_INVALID_VALUE;
	out->kernel = out->context = NULL;
	return ws_drv(ws_cudaGraphKernelNodeGetParams(node, &out->own));
}

/* ---- copies and fills ---- */
WS_RT(cuGraphAddMemcpyNode, void **out, void *graph, void *const *deps, size_t n, const struct ws_drv_box *p, void *context)
{
	struct ws_work op;

	WS_DRV_BEGIN();
	return ws_drv(ws_graph_add(out, graph, deps, n, &op, ws_drv_box_work(p, &op)));
}

WS_RT(cuGraphMemcpyNodeSetParams, void *node, const struct ws_drv_box *p)
{
	struct ws_work op;

	WS_DRV_BEGIN();
	return ws_drv(ws_graph_set(NULL, node, &op, ws_drv_box_work(p, &op)));
}

WS_RT(cuGraphExecMemcpyNodeSetParams, void *exec, void *node, const struct ws_drv_box *p, void *context)
{
	struct ws_work op;

	WS_DRV_BEGIN();
	return exec ? ws_drv(ws_graph_set(exec, node, &op, ws_drv_box_work(p, &op))) : WS_CUDA_INVALID_VALUE;
}

/* What was one row has no pitch; the driver's own tells the types of memory, ours that it is to look. */
WS_RT(cuGraphMemcpyNodeGetParams, void *node, struct ws_drv_box *out)
{
	enum { UNIFIED = 4 };
	struct ws_node *n = ws_node_of(node);
	const struct ws_copy *c;

	WS_DRV_BEGIN();
	if (!n || !out || n->op.type != WS_NODE_MEMCPY)
		return WS_CUDA_INVALID_VALUE;
	c = &n->op.u.copy;
	*out = (struct ws_drv_box){.src = {.type = UNIFIED, .device = c->src, .pitch = c->src_pitch},
				   .dst = {.type = UNIFIED, .device = c->dst, .pitch = c->dst_pitch},
				   .width = c->width, .height = c->height, .depth = c->depth};
	out->src.height = c->src_pitch ? c->src_slice / c->src_pitch : 0;
	out->dst.height = c->dst_pitch ? c->dst_slice / c->dst_pitch : 0;
	return 0;
}

WS_RT(cuGraphAddMemsetNode, void **out, void *graph, void *const *deps, size_t n, const struct ws_memset_params *p, void *context)
{
	return ws_drv(ws_cudaGraphAddMemsetNode(out, graph, deps, n, p));
}

WS_RT(cuGraphExecMemsetNodeSetParams, void *exec, void *node, const struct ws_memset_params *p, void *context)
{
	return ws_drv(ws_cudaGraphExecMemsetNodeSetParams(exec, node, p));
}

/* ---- the graph of a node ---- */
WS_RT(cuGraphChildGraphNodeGetGraph, void *node, void **out)
{
	struct ws_node *n = ws_node_of(node);

	if (!n || !out || n->op.type != WS_NODE_GRAPH)
		return WS_CUDA_INVALID_VALUE;
	*out = n->op.u.graph;
	return 0;
}

/* wrap_edges.c - what a program asks of the edges of its graphs: nodes of ours (graph.h) are none of them. What comes behind a copy still
 * depends on it, too, so to leave ours out is all. */
#include <stdlib.h>

#include "real/graph.h"
#include "real/real_priv.h"

struct edge { unsigned char data[8]; };      /* CUgraphEdgeData */

/* One of the driver's questions. */
struct query {
	void *of;                            /* a graph, or a node */
	int (*nodes)(void *node, void **nodes, size_t *n);
	int (*nodes_v2)(void *node, void **nodes, void *data, size_t *n);
	int (*edges)(void *graph, void **from, void **to, size_t *n);
	int (*edges_v2)(void *graph, void **from, void **to, void *data, size_t *n);
};

static int ask(const struct query *q, void **from, void **to, void *data, size_t *n)
{
	if (q->nodes)
		return q->nodes(q->of, from, n);
	if (q->nodes_v2)
		return q->nodes_v2(q->of, from, data, n);
	return q->edges ? q->edges(q->of, from, to, n) : q->edges_v2(q->of, from, to, data, n);
}

struct list {
	void **from, **to;                   /* to: NULL, where nodes are asked for */
	struct edge *data;                   /* NULL: it is not asked for */
};

static void put(const struct list *l, size_t at, void *from, void *to, const struct edge *data)
{
	if (l->from)
		l->from[at] = from;
	if (l->to)
		l->to[at] = to;
	if (l->data)
		l->data[at] = *data;
}

/* Those of `all` that are the program's, as far as there is room; what is left of that becomes nothing. How many they are. */
static size_t take(const struct list *out, size_t room, const struct list *all, size_t n)
{
	static const struct edge none;
	size_t given = 0;

	for (size_t k = 0; k < n && (!out->from || given < room); k++)
		if (!ws_real_node_is_ours(all->from[k]) && !(all->to && ws_real_node_is_ours(all->to[k])))
			put(out, given++, all->from[k], all->to ? all->to[k] : NULL, &all->data[k]);
	for (size_t k = given; out->from && k < room; k++)
		put(out, k, NULL, NULL, &none);
	return given;
}

static int without_ours(const struct query *q, void **from, void **to, void *data, size_t *n)
{
	struct list out = { from, to, data }, all;
	size_t size = 0;
	int e;

	if (!n || !ws_real_graphs_have_ours() || ask(q, NULL, NULL, NULL, &size))
		return ask(q, from, to, data, n);
	all.from = ws_alloc((size + 1) * sizeof *all.from);
	all.to = q->edges || q->edges_v2 ? ws_alloc((size + 1) * sizeof *all.to) : NULL;
	all.data = ws_alloc((size + 1) * sizeof *all.data);
	e = size ? ask(q, all.from, all.to, data || !from ? all.data : NULL, &size) : 0;
	if (!e)
		*n = take(&out, *n, &all, size);
	free(all.from);
	free(all.to);
	free(all.data);
	return e;
}

int ws_real_cuGraphNodeGetDependencies(void *node, void **before, size_t *n)
{
	return without_ours(&(struct query){ .of = node, .nodes = ws_real.cuGraphNodeGetDependencies }, before, NULL, NULL, n);
}

int ws_real_cuGraphNodeGetDependencies_v2(void *node, void **before, void *edges, size_t *n)
{
	return without_ours(&(struct query){ .of = node, .nodes_v2 = ws_real.cuGraphNodeGetDependencies_v2 }, before, NULL, edges, n);
}

int ws_real_cuGraphNodeGetDependentNodes(void *node, void **behind, size_t *n)
{
	return without_ours(&(struct query){ .of = node, .nodes = ws_real.cuGraphNodeGetDependentNodes }, behind, NULL, NULL, n);
}

int ws_real_cuGraphNodeGetDependentNodes_v2(void *node, void **behind, void *edges, size_t *n)
{
	return without_ours(&(struct query){ .of = node, .nodes_v2 = ws_real.cuGraphNodeGetDependentNodes_v2 }, behind, NULL, edges, n);
}

int ws_real_cuGraphGetEdges(void *graph, void **from, void **to, size_t *n)
{
	return without_ours(&(struct query){ .of = graph, .edges = ws_real.cuGraphGetEdges }, from, to, NULL, n);
}

int ws_real_cuGraphGetEdges_v2(void *graph, void **from, void **to, void *edges, size_t *n)
{
	return without_ours(&(struct query){ .of = graph, .edges_v2 = ws_real.cuGraphGetEdges_v2 }, from, to, edges, n);
}

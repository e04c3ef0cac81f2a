/* graph.h - graphs of work: nodes in the order of their creation, executable copies, capture of streams. */
#ifndef WS_GRAPH_H
#define WS_GRAPH_H

#include "cuda/rt.h"

struct ws_node {
	struct ws_work op;
	struct ws_graph *graph;
	struct ws_node **deps;
	size_t ndeps, dcap;
	bool disabled, mark;
	uint32_t branch;        /* of an executable graph; 0: goes on in the stream's own order; sync.h */
	struct ws_clock known;  /* what is complete when it is, while the graph runs */
	struct ws_node *origin; /* the node that this one is a copy of */
	uint64_t gridid;        /* of a copy: %gridid of its kernel, the same in each launch, as on an H200 */
	void **values;          /* pointers into the packed parameters, for GetParams */
};

struct ws_graph {
	struct ws_node **nodes;
	size_t n, cap;
	const struct ws_graph *origin;
	unsigned long long flags; /* of an executable graph */
	uint32_t *branches;       /* timelines of the branches from 1 on */
	size_t nbranches, bcap, branched; /* branched: nodes that have a branch */
	struct ws_clock done;             /* what was complete after its last run */
};

/* Recording of streams into a graph; lives as long as an event refers to it. */
struct ws_capture {
	struct ws_graph *graph;
	struct ws_stream *origin;
	struct ws_stream **streams; /* that take part */
	size_t nstreams, cap;
	uint64_t id;
	unsigned refs;
	bool over;
};

struct ws_graph *ws_graph_new(void);
struct ws_graph *ws_graph_of(void *handle); /* graph or executable graph; NULL: no such graph */
struct ws_node *ws_node_of(void *handle);
/* Takes over the owned parts of op. NULL: a dependency is not a node of this graph. */
struct ws_node *ws_node_new(struct ws_graph *g, void *const *deps, size_t ndeps, struct ws_work *op);
void ws_node_free(struct ws_node *n); /* and its edges */
void ws_node_depend(struct ws_node *n, struct ws_node *on);
/* The node of g that is a copy of `origin`; NULL if none. */
struct ws_node *ws_graph_copy_of(const struct ws_graph *g, const struct ws_node *origin);
/* Sorts the nodes so that each comes after what it depends on. false: there is a cycle. */
bool ws_graph_sort(struct ws_graph *g);
/* ---- what both APIs have: rt_graph.c ---- */
int ws_graph_kernel_work(const struct ws_kernel_node_params *p, struct ws_work *op);
/* Adds a node with the work that was made, or passes its error e on. */
int ws_graph_add(void **out, void *graph, void *const *deps, size_t ndeps, struct ws_work *op, int e);
/* Replaces the work of a node: of the graph itself, or, with exec, of the executable graph's copy. */
int ws_graph_set(void *exec, void *node, struct ws_work *op, int e);
int ws_cudaGraphKernelNodeGetParams(void *node, struct ws_kernel_node_params *out);
int ws_cudaGraphAddMemsetNode(void **out, void *graph, void *const *deps, size_t n, const struct ws_memset_params *p);
int ws_cudaGraphExecMemsetNodeSetParams(void *exec, void *node, const struct ws_memset_params *p);

void ws_capture_drop(struct ws_capture **c); /* one reference less; *c becomes NULL */

#endif

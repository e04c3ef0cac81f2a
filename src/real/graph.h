/* graph.h - what is in a graph that the program launches: its kernels, copies and fills, and what they depend on. While launches are
 * compared, each launch of the graph tells each of its kernels where it stands in the order of launches: by new parameters of its node.
 *
 * Copies and fills are told of by kernels of ours (range.h), which become nodes of the program's graph when it is instantiated: behind
 * the copy, before all that depends on it. The program does not see them when it asks for the nodes.
 *
 * To give an executable graph new parameters one must name nodes of the graph that it was made of. So that one stays when the
 * program destroys it, for as long as there is the executable one. */
#ifndef WS_REAL_GRAPH_H
#define WS_REAL_GRAPH_H

#include "real/race.h"
#include "real/range.h"
#include "real/streams.h"

struct ws_real_kernel;
struct ws_real_kernel_params;
struct ws_real_node {
	void *handle;
	int type;
	bool inner;                          /* of a graph in the graph: only counted */
	bool off;                            /* cuGraphNodeSetEnabled */
	size_t step;                         /* in the run */
	/* A kernel: */
	struct ws_real_kernel *kernel;       /* NULL: it is none */
	const struct ws_real_checked_kernel *checked;
	bool waits;                          /* ws_real_may_wait */
	void *function, *other;              /* as the driver has it; other: CUkernel */
	unsigned grid[3], block[3], shared;
	uint32_t mark;                       /* by which it counts its launches: turns.h */
	bool told;                           /* where it stands in the order of launches, so it does not */
	struct ws_real_touched *touched;     /* owned; NULL: not asked yet */
	char *values;                        /* its parameters, with room for the one more; owned; NULL: it cannot be told */
	/* A copy or fill: */
	struct ws_real_range ranges[2];
	unsigned nranges;
	void *tells[2];                      /* nodes of ours behind it; NULL: there are none */
	bool telling;                        /* these are not off */
};
struct ws_real_exec {                        /* an executable graph */
	struct ws_real_node *nodes;
	size_t n, cap;
	bool conditional;                    /* there are kernels besides */
	uint32_t *marks;                     /* of kernels that replaced those of graphs in the graph */
	size_t nmarks, marks_cap;
	const char *why;                     /* it is not compared: why; NULL = it is */
	void *graph;                         /* that its nodes are named by; kept */
	struct ws_real_run run;
};

/* Before a graph is instantiated, or one is updated by it: the nodes that tell of copies. */
void ws_real_graph_prepare(void *graph);
/* Part of that: its kernels get numbers by which they count their launches (turns.h). Of a graph of which the kernels replace others in an
 * executable one, which then owns the numbers. */
void ws_real_graph_number(void *graph);
void ws_real_exec_numbered(struct ws_real_exec *x, void *graph);
/* As it is instantiated now. */
struct ws_real_exec *ws_real_graph_read(void *graph);
void ws_real_exec_free(struct ws_real_exec *x);
/* It has been updated by another graph, as which it was read: takes what that has. Both become one; `now` is freed. */
void ws_real_exec_update(struct ws_real_exec *x, struct ws_real_exec *now);
/* A node's kernel and parameters, as the program gives them. */
void ws_real_node_takes(struct ws_real_node *n, const struct ws_real_kernel_params *p);
/* Before the driver launches it, as `handle`, into the lane. */
void ws_real_exec_launches(struct ws_real_exec *x, void *handle, struct ws_real_lane lane);
/* Its launches will not be told any more: its kernels count them. */
void ws_real_exec_counts_turns(struct ws_real_exec *x, void *handle);
/* What a box or a fill of a node is: ranges[2]; gives how many. */
unsigned ws_real_node_copies(struct ws_real_range *ranges, const struct ws_real_box *b);
unsigned ws_real_node_fills(struct ws_real_range *ranges, const void *params);

/* ---- graphs that are kept ---- */
bool ws_real_graph_is_kept(void *graph);     /* the program destroys it: is it to stay? */
void ws_real_graph_ends(void *graph);        /* the driver is about to destroy it */
bool ws_real_node_is_ours(void *node);
bool ws_real_graphs_have_ours(void);         /* is there any such node? */
void ws_real_node_gone(void *node);          /* the program's has gone: with those of ours behind it */

#endif

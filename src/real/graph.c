/* graph.c - executable graphs and how their launches are told; see graph.h. Callers hold wrap_graph.c's lock, but for those that prepare and read. */
#include "real/graph.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/map.h"
#include "real/arguments.h"
#include "real/real_priv.h"
#include "real/turns.h"

enum { NODE_KERNEL, NODE_COPY, NODE_FILL, NODE_HOST, NODE_GRAPH, NODE_EMPTY, NODE_WAIT, NODE_RECORD, NODE_ALLOC = 10, NODE_FREE = 11,
       NODE_CONDITIONAL = 13 };      /* CUgraphNodeType */
enum { MOST_DEPTH = 64 };            /* of graphs in graphs */

struct kept { unsigned users; bool destroyed; };
struct ours { void *nodes[2]; };     /* behind a copy or fill */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;     /* of these: */
static struct ws_map kept, ours, behind;     /* by graph; by a node of ours (any value); by the node that it stands behind */

static void limit(const char *text)
{
	if (ws_real_session() && ws_real_session()->checks)
		ws_report_limit(ws_real_session()->report, text);
}

/* ---- graphs that are kept ---- */
static void keep(void *graph)
{
	struct kept *k;

	pthread_mutex_lock(&lock);
	k = ws_map_get(&kept, graph);
	if (!k) {
		k = ws_alloc(sizeof *k);
		ws_map_put(&kept, graph, k);
	}
	k->users++;
	pthread_mutex_unlock(&lock);
}

static void give_back(void *graph)
{
	bool destroy = false;
	struct kept *k;

	pthread_mutex_lock(&lock);
	k = ws_map_get(&kept, graph);
	if (k && --k->users == 0) {
		destroy = k->destroyed;
		ws_map_remove(&kept, graph);
		free(k);
	}
	pthread_mutex_unlock(&lock);
	if (destroy) {
		ws_real_graph_ends(graph);
		ws_real.cuGraphDestroy(graph);
	}
}

bool ws_real_graph_is_kept(void *graph)
{
	struct kept *k;

	pthread_mutex_lock(&lock);
	k = ws_map_get(&kept, graph);
	if (k)
		k->destroyed = true;
	pthread_mutex_unlock(&lock);
	return k;
}

/* ---- nodes of ours ---- */
bool ws_real_node_is_ours(void *node)
{
	bool is;

	pthread_mutex_lock(&lock);
	is = ws_map_get(&ours, node);
	pthread_mutex_unlock(&lock);
	return is;
}

static bool find_ours(void *node, struct ours *out)
{
	const struct ours *o;

	pthread_mutex_lock(&lock);
	o = ws_map_get(&behind, node);
	if (o)
		*out = *o;
	pthread_mutex_unlock(&lock);
	return o;
}

static void note_ours(void *node, const struct ours *o)
{
	struct ours *own = ws_alloc(sizeof *own);

	*own = *o;
	pthread_mutex_lock(&lock);
	ws_map_put(&behind, node, own);
	for (unsigned k = 0; k < WS_COUNT(o->nodes); k++)
		if (o->nodes[k])
			ws_map_put(&ours, o->nodes[k], own);
	pthread_mutex_unlock(&lock);
}

bool ws_real_graphs_have_ours(void)
{
	bool have;

	pthread_mutex_lock(&lock);
	have = behind.n;
	pthread_mutex_unlock(&lock);
	return have;
}

static void forget_ours(void *node)
{
	struct ours *own;

	pthread_mutex_lock(&lock);
	own = ws_map_get(&behind, node);
	if (own)
		ws_map_remove(&behind, node);
	for (unsigned k = 0; own && k < WS_COUNT(own->nodes); k++)
		if (own->nodes[k])
			ws_map_remove(&ours, own->nodes[k]);
	pthread_mutex_unlock(&lock);
	free(own);
}

void ws_real_node_gone(void *node)
{
	struct ours o;

	if (!find_ours(node, &o))
		return;
	forget_ours(node);
	for (unsigned k = 0; k < WS_COUNT(o.nodes); k++)
		if (o.nodes[k] && ws_real.cuGraphDestroyNode)
			ws_real.cuGraphDestroyNode(o.nodes[k]);
}

/* ---- what the driver says of a graph ---- */
static bool driver_has_all(void)
{
	return ws_real.cuGraphGetNodes && ws_real.cuGraphNodeGetType && ws_real.cuGraphDestroy &&
	       (ws_real.cuGraphNodeGetDependencies || ws_real.cuGraphNodeGetDependencies_v2) &&
	       (ws_real.cuGraphExecKernelNodeSetParams || ws_real.cuGraphExecKernelNodeSetParams_v2);
}

/* The caller frees; NULL if there are none, or it cannot be asked. */
static void **nodes_of(void *graph, size_t *n)
{
	void **nodes;

	*n = 0;
	if (!ws_real.cuGraphGetNodes || !ws_real.cuGraphNodeGetType || ws_real.cuGraphGetNodes(graph, NULL, n) || !*n)
		return NULL;
	nodes = ws_alloc(*n * sizeof *nodes);
	if (!ws_real.cuGraphGetNodes(graph, nodes, n))
		return nodes;
	free(nodes);
	*n = 0;
	return NULL;
}

void ws_real_graph_ends(void *graph)
{
	size_t n = 0;
	void **nodes = ws_real_graphs_have_ours() ? nodes_of(graph, &n) : NULL;

	for (size_t k = 0; k < n; k++)
		forget_ours(nodes[k]);
	free(nodes);
}

struct edge { unsigned char data[8]; };      /* CUgraphEdgeData; 0: full dependency */

static int ask_before(void *node, void **list, struct edge *data, size_t *n)
{
	if (ws_real.cuGraphNodeGetDependencies_v2)
		return ws_real.cuGraphNodeGetDependencies_v2(node, list, data, n);
	return ws_real.cuGraphNodeGetDependencies(node, list, n);
}

/* What the node depends on. false: it cannot be asked, or the node may begin before that has ended. The caller frees. */
static bool before_of(void *node, void ***list, size_t *n)
{
	static const struct edge full;
	struct edge *data;
	bool fine;

	*list = NULL;
	*n = 0;
	if (ask_before(node, NULL, NULL, n))
		return false;
	*list = ws_alloc((*n + 1) * sizeof **list);
	data = ws_alloc((*n + 1) * sizeof *data);
	fine = !*n || !ask_before(node, *list, data, n);
	for (size_t k = 0; k < *n && fine; k++)
		fine = memcmp(&data[k], &full, sizeof full) == 0;
	free(data);
	return fine;
}

/* ---- kernels ---- */
static void free_kernel(struct ws_real_node *n)
{
	free(n->values);
	free(n->touched);
	n->values = NULL;
	n->touched = NULL;
}

static void take_values(struct ws_real_node *n, const struct ws_real_kernel_params *p)
{
	enum { EXTRA_END, EXTRA_BUFFER, EXTRA_SIZE };        /* CU_LAUNCH_PARAM_... */
	const struct ws_real_checked_kernel *k = n->checked;
	const void *buffer = NULL;
	size_t bytes = 0;

	free_kernel(n);
	n->values = k && k->compared && k->nparams < WS_REAL_MOST_PARAMS ? ws_alloc(k->launch_at + sizeof(struct ws_race_launch)) : NULL;
	for (uint32_t m = 0; n->values && p->params && m < k->nparams; m++)
		memcpy(n->values + k->params[m].at, p->params[m], k->params[m].bytes);
	for (void **x = p->params ? NULL : p->extra; n->values && x && *x != (void *)EXTRA_END; x += 2) {
		if (*x == (void *)EXTRA_BUFFER)
			buffer = x[1];
		else if (*x == (void *)EXTRA_SIZE)
			memcpy(&bytes, x[1], sizeof bytes);
	}
	if (buffer && n->values)
		memcpy(n->values, buffer, bytes < k->launch_at ? bytes : k->launch_at);
}

void ws_real_node_takes(struct ws_real_node *n, const struct ws_real_kernel_params *p)
{
	void *f = p->function ? p->function : p->kernel;

	if (f) {
		ws_real_race_prepare(f);
		ws_real_transact_prepare(f);
	}
	n->kernel = ws_real_kernel_of(f);
	n->checked = ws_real_checked_kernel_of(f);
	n->waits = ws_real_may_wait(n->checked);
	n->function = p->function;
	n->other = p->function ? NULL : p->kernel;
	n->told = false;                     /* by parameters that are no longer there */
	memcpy(n->grid, p->grid, sizeof n->grid);
	memcpy(n->block, p->block, sizeof n->block);
	n->shared = p->shared;
	take_values(n, p);
}

static void read_kernel(struct ws_real_node *n)
{
	struct ws_real_kernel_params p = { 0 };
	int e = -1;

	n->waits = true;
	if (ws_real.cuGraphKernelNodeGetParams_v2)
		e = ws_real.cuGraphKernelNodeGetParams_v2(n->handle, &p);
	else if (ws_real.cuGraphKernelNodeGetParams)
		e = ws_real.cuGraphKernelNodeGetParams(n->handle, &p);
	if (!e && WS_RACE_IS_TOLD(p.shared) && p.function == ws_real_function_of_program(p.function))
		limit("a kernel of a graph was not checked: its size of dynamic shared memory is one that tells checks to do nothing");
	if (!e)
		ws_real_node_takes(n, &p);
}

static void list_values(const struct ws_real_node *n, void **list)
{
	for (uint32_t k = 0; k < n->checked->nparams; k++)
		list[k] = n->values + n->checked->params[k].at;
	list[n->checked->nparams] = n->values + n->checked->launch_at;
}

/* What memory its launches may come to: of these parameters, so that is asked once. */
static const struct ws_real_touched *touched(struct ws_real_node *n)
{
	void *list[WS_REAL_MOST_PARAMS + 1];

	if (!n->values || n->touched)
		return n->touched;
	n->touched = ws_alloc(sizeof *n->touched);
	list_values(n, list);
	ws_real_race_touches(&(struct ws_real_launching){ .function = n->function ? n->function : n->other, .kernel = n->checked, .grid = n->grid,
	                                                  .block = n->block, .params = list }, n->touched);
	return n->touched;
}

/* In a graph, or where exec is not NULL in that. */
static bool set_kernel(const struct ws_real_node *n, void *exec)
{
	void *list[WS_REAL_MOST_PARAMS + 1];
	struct ws_real_kernel_params p = { .function = n->function, .shared = n->shared, .params = list, .kernel = n->other };

	memcpy(p.grid, n->grid, sizeof p.grid);
	memcpy(p.block, n->block, sizeof p.block);
	list_values(n, list);
	if (exec && ws_real.cuGraphExecKernelNodeSetParams_v2)
		return !ws_real.cuGraphExecKernelNodeSetParams_v2(exec, n->handle, &p);
	if (exec)
		return n->function && !ws_real.cuGraphExecKernelNodeSetParams(exec, n->handle, &p);
	if (ws_real.cuGraphKernelNodeSetParams_v2)
		return !ws_real.cuGraphKernelNodeSetParams_v2(n->handle, &p);
	return n->function && ws_real.cuGraphKernelNodeSetParams && !ws_real.cuGraphKernelNodeSetParams(n->handle, &p);
}

/* The kernel counts its launches from now on: in the graph, or in exec. */
static bool count_turns(struct ws_real_node *n, void *exec)
{
	struct ws_race_launch alone = { .mark = n->mark };

	memcpy(n->values + n->checked->launch_at, &alone, sizeof alone);
	n->told = false;
	return set_kernel(n, exec);
}

/* Before the graph is instantiated. */
static void number_kernel(void *node)
{
	struct ws_real_node n = { .handle = node };

	read_kernel(&n);
	if (n.values && !(n.function && ws_real_range_is(n.function))) {
		n.mark = ws_real_turn_for(node);
		if (n.mark == WS_RACE_UNKNOWN_TURN)
			limit("there were too many kernels in graphs: some were not checked");
		if (!count_turns(&n, NULL))
			limit("kernels of a graph could not be told that they are in one: their launches may seem to be one");
	}
	free_kernel(&n);
}

/* ---- copies and fills ---- */
static unsigned add_range(struct ws_real_range *ranges, unsigned n, struct ws_real_range r)
{
	bool is = r.at && r.width && r.rows && (r.rows == 1 || r.pitch >= r.width) && ws_real_memory_at(&r.at) != WS_REAL_PAGEABLE;

	if (is)
		ranges[n] = r;
	return n + is;
}

unsigned ws_real_node_copies(struct ws_real_range *ranges, const struct ws_real_box *b)
{
	unsigned n = add_range(ranges, 0, ws_real_box_rows(b, false));

	return add_range(ranges, n, ws_real_box_rows(b, true));
}

struct fill { uint64_t to; size_t pitch; unsigned value, element; size_t width, height; };  /* CUDA_MEMSET_NODE_PARAMS */

unsigned ws_real_node_fills(struct ws_real_range *ranges, const void *params)
{
	const struct fill *f = params;

	return add_range(ranges, 0, (struct ws_real_range){ .at = f->to, .width = f->width * f->element, .pitch = f->pitch,
	                                                    .rows = f->height, .write = true, .of = WS_RACE_IS_FILL });
}

static void read_move(struct ws_real_node *n)
{
	struct ws_real_box b;
	struct fill f;
	struct ours o;

	if (n->type == NODE_COPY && ws_real.cuGraphMemcpyNodeGetParams && !ws_real.cuGraphMemcpyNodeGetParams(n->handle, &b))
		n->nranges = ws_real_node_copies(n->ranges, &b);
	else if (n->type == NODE_FILL && ws_real.cuGraphMemsetNodeGetParams && !ws_real.cuGraphMemsetNodeGetParams(n->handle, &f))
		n->nranges = ws_real_node_fills(n->ranges, &f);
	if (find_ours(n->handle, &o))
		memcpy(n->tells, o.nodes, sizeof n->tells);
	n->telling = true;                   /* as a node is, at first */
}

/* Our nodes come before all that depends on the copy. */
static void put_between(void *graph, void *node, const struct ours *o)
{
	size_t n = 0;
	void **list, *from;

	if (!ws_real.cuGraphNodeGetDependentNodes || !ws_real.cuGraphAddDependencies ||
	    ws_real.cuGraphNodeGetDependentNodes(node, NULL, &n) || !n)
		return;
	list = ws_alloc(n * sizeof *list);
	if (ws_real.cuGraphNodeGetDependentNodes(node, list, &n))
		n = 0;
	for (size_t k = 0; k < n; k++)
		for (unsigned m = 0; m < WS_COUNT(o->nodes); m++) {
			from = o->nodes[m];
			if (from && !ws_real_node_is_ours(list[k]))
				ws_real.cuGraphAddDependencies(graph, &from, &list[k], 1);
		}
	free(list);
}

/* The second one behind the first: what each says is an operation, and they come one after the other. */
static void add_ours(void *graph, void *node, bool copy)
{
	struct ours o = { { NULL, NULL } };

	if (!find_ours(node, &o)) {
		if (!ws_real_range_node(&o.nodes[0], graph, node))
			return;
		if (copy && !ws_real_range_node(&o.nodes[1], graph, o.nodes[0]))
			o.nodes[1] = NULL;
		note_ours(node, &o);
	}
	put_between(graph, node, &o);
}

static bool may_be_prepared(void *const *nodes, size_t n)
{
	int type = -1;

	for (size_t k = 0; k < n; k++)
		if (ws_real.cuGraphNodeGetType(nodes[k], &type) || type > NODE_RECORD || type == NODE_GRAPH)
			return false;
	return ws_real.cuGraphNodeSetEnabled && (ws_real.cuGraphAddKernelNode_v2 || ws_real.cuGraphAddKernelNode);
}

/* Does a node have two that depend on it, or are there two that depend on nothing? */
static bool has_branches(void *const *nodes, size_t n)
{
	size_t before, roots = 0, edges = 0;
	void **list;

	for (size_t k = 0; k < n; k++) {
		before_of(nodes[k], &list, &before);
		free(list);
		roots += !before;
		edges += before;
	}
	return roots > 1 || edges + 1 > n;
}

static void number_kernels(void *graph, unsigned depth)
{
	size_t n = 0;
	void **nodes = depth > MOST_DEPTH ? NULL : nodes_of(graph, &n), *inner;
	int type;

	for (size_t k = 0; k < n; k++) {
		if (ws_real_node_is_ours(nodes[k]) || ws_real.cuGraphNodeGetType(nodes[k], &type))
			continue;
		if (type == NODE_KERNEL)
			number_kernel(nodes[k]);
		else if (type == NODE_GRAPH && ws_real.cuGraphChildGraphNodeGetGraph && !ws_real.cuGraphChildGraphNodeGetGraph(nodes[k], &inner))
			number_kernels(inner, depth + 1);
		for (unsigned b = 0; type == NODE_CONDITIONAL && (inner = ws_real_turn_body(nodes[k], b)); b++)
			number_kernels(inner, depth + 1);
	}
	free(nodes);
}

static bool is_checked(void) { return ws_real_session() && ws_real_session()->checks && driver_has_all(); }

void ws_real_graph_number(void *graph)
{
	int mode;

	if (!is_checked())
		return;
	mode = ws_real_relax_capture(WS_REAL_RELAXED);
	number_kernels(graph, 0);
	ws_real_relax_capture(mode);
}

void ws_real_graph_prepare(void *graph)
{
	size_t n;
	void **nodes;
	int type, mode;

	if (!is_checked())
		return;
	nodes = nodes_of(graph, &n);
	mode = ws_real_relax_capture(WS_REAL_RELAXED);
	number_kernels(graph, 0);
	if (may_be_prepared(nodes, n) && (ws_real_streams_several() || has_branches(nodes, n)))
		for (size_t k = 0; k < n; k++)
			if (!ws_real.cuGraphNodeGetType(nodes[k], &type) && (type == NODE_COPY || type == NODE_FILL))
				add_ours(graph, nodes[k], type == NODE_COPY);
	ws_real_relax_capture(mode);
	free(nodes);
}

/* ---- what is in a graph ---- */
static const char *why_not(int type)
{
	switch (type) {
	case NODE_GRAPH: return "graphs with graphs in them are not compared with launches, nor are their kernels with each other";
	case NODE_CONDITIONAL: return "graphs with conditional nodes are not compared with launches, nor are their kernels with each other";
	case NODE_ALLOC: case NODE_FREE: return "graphs that allocate and free memory are not compared with launches, nor are their kernels "
		                                "with each other";
	default: return type > NODE_RECORD ? "graphs with semaphores or operations on values in memory are not compared with launches, nor "
		                             "are their kernels with each other" : NULL;
	}
}

static void read_inner(struct ws_real_exec *x, void *graph, unsigned depth);

static void read_bodies(struct ws_real_exec *x, void *handle, unsigned depth)
{
	void *inner;

	for (unsigned b = 0; (inner = ws_real_turn_body(handle, b)); b++)
		read_inner(x, inner, depth + 1);
}

static void read_node(struct ws_real_exec *x, void *handle, unsigned depth)
{
	struct ws_real_node n = { .handle = handle, .type = -1, .inner = depth > 0 };
	void *inner = NULL;

	if (ws_real_node_is_ours(handle) || ws_real.cuGraphNodeGetType(handle, &n.type))
		return;
	if (!x->why)
		x->why = why_not(n.type);
	if (n.type == NODE_KERNEL)
		read_kernel(&n);
	if (n.function && ws_real_range_is(n.function)) {
		free_kernel(&n);             /* the program has cloned a graph with nodes of ours */
		return;
	}
	if (n.type == NODE_COPY || n.type == NODE_FILL)
		read_move(&n);
	n.mark = n.type == NODE_KERNEL ? ws_real_turn_of(handle) : 0;
	*WS_PUSH(x->nodes, x->n, x->cap) = n;
	if (n.type == NODE_GRAPH && ws_real.cuGraphChildGraphNodeGetGraph && !ws_real.cuGraphChildGraphNodeGetGraph(handle, &inner)) {
		read_inner(x, inner, depth + 1);
	} else if (n.type == NODE_CONDITIONAL) {
		read_bodies(x, handle, depth);
		x->conditional = true;
		ws_report_limit(ws_real_session()->report, "kernels in conditional nodes of graphs are counted as one launch for each launch of their graph");
	}
}

static void read_inner(struct ws_real_exec *x, void *graph, unsigned depth)
{
	size_t n = 0;
	void **nodes = depth > MOST_DEPTH ? NULL : nodes_of(graph, &n);

	for (size_t k = 0; k < n; k++)
		read_node(x, nodes[k], depth);
	free(nodes);
}

/* ---- its steps ---- */
struct sorting {
	struct ws_real_exec *x;
	struct ws_map number;                /* by handle: 1 + the node's */
	void ***before;                      /* by node */
	size_t *nbefore;
	size_t done;                         /* steps made */
	uint32_t *step;                      /* by node: 1 + its step; 0 = it has none yet */
};

static size_t node_numbered(const struct sorting *s, void *handle)
{
	return (size_t)(uintptr_t)ws_map_get(&s->number, handle);
}

/* All that it depends on has a step? */
static bool is_ready(const struct sorting *s, size_t node)
{
	for (size_t k = 0; k < s->nbefore[node]; k++) {
		size_t n = node_numbered(s, s->before[node][k]);

		if (n && !s->step[n - 1])
			return false;
	}
	return true;
}

static void fill_step(const struct ws_real_node *n, struct ws_real_step *to)
{
	static const enum ws_real_step_does does[] = {
		[NODE_KERNEL] = WS_REAL_STEP_LAUNCHES, [NODE_COPY] = WS_REAL_STEP_MOVES, [NODE_FILL] = WS_REAL_STEP_MOVES,
		[NODE_HOST] = WS_REAL_STEP_CALLS_HOST, [NODE_WAIT] = WS_REAL_STEP_WAITS, [NODE_RECORD] = WS_REAL_STEP_RECORDS,
	};

	to->does = n->type >= 0 && n->type < (int)WS_COUNT(does) ? does[n->type] : WS_REAL_STEP_NOTHING;
	to->off = n->off;
	to->hands = to->does == WS_REAL_STEP_LAUNCHES ? ws_real_hands_of(n->checked) : WS_REAL_HANDS_NOTHING;
	to->ranges = n->tells[0] ? n->nranges : 0;
	if (to->does == WS_REAL_STEP_WAITS && ws_real.cuGraphEventWaitNodeGetEvent)
		ws_real.cuGraphEventWaitNodeGetEvent(n->handle, &to->event);
	if (to->does == WS_REAL_STEP_RECORDS && ws_real.cuGraphEventRecordNodeGetEvent)
		ws_real.cuGraphEventRecordNodeGetEvent(n->handle, &to->event);
}

static void make_step(struct sorting *s, size_t node)
{
	struct ws_real_step *to = &s->x->run.steps[s->done];

	fill_step(&s->x->nodes[node], to);
	to->before = ws_alloc((s->nbefore[node] + 1) * sizeof *to->before);
	for (size_t k = 0; k < s->nbefore[node]; k++) {
		size_t n = node_numbered(s, s->before[node][k]);

		if (n)                               /* else it is one of ours */
			to->before[to->nbefore++] = s->step[n - 1] - 1;
	}
	s->x->nodes[node].step = s->done;
	s->step[node] = (uint32_t)++s->done;
}

/* In the order of their creation as far as that goes, which is mostly all the way. */
static void sort(struct sorting *s)
{
	size_t made;

	do {
		made = s->done;
		for (size_t k = 0; k < s->x->n; k++)
			if (!s->step[k] && is_ready(s, k))
				make_step(s, k);
	} while (s->done > made);
}

static void find_steps(struct ws_real_exec *x)
{
	struct sorting s = { .x = x, .before = ws_alloc((x->n + 1) * sizeof *s.before),
		             .nbefore = ws_alloc((x->n + 1) * sizeof *s.nbefore), .step = ws_alloc((x->n + 1) * sizeof *s.step) };

	x->run.steps = ws_alloc((x->n + 1) * sizeof *x->run.steps);
	x->run.n = x->n;
	for (size_t k = 0; k < x->n; k++) {
		ws_map_put(&s.number, x->nodes[k].handle, (void *)(uintptr_t)(k + 1));
		x->run.may_wait |= x->nodes[k].kernel && x->nodes[k].waits;
		if (!before_of(x->nodes[k].handle, &s.before[k], &s.nbefore[k]) && !x->why)
			x->why = "graphs in which a kernel may begin before another one has ended are not compared with launches, nor are their "
			         "kernels with each other";
	}
	sort(&s);
	if (s.done < x->n && !x->why)
		x->why = "a graph's dependencies could not be followed: it was not compared with launches, nor its kernels with each other";
	for (size_t k = 0; k < x->n; k++)
		free(s.before[k]);
	free(s.before);
	free(s.nbefore);
	free(s.step);
	ws_map_free(&s.number);
}

void ws_real_exec_numbered(struct ws_real_exec *x, void *graph)
{
	struct ws_real_exec now = { .why = "" };

	read_inner(&now, graph, 1);
	for (size_t k = 0; k < now.n; k++) {
		*WS_PUSH(x->marks, x->nmarks, x->marks_cap) = now.nodes[k].mark;
		free_kernel(&now.nodes[k]);
	}
	free(now.nodes);
}

struct ws_real_exec *ws_real_graph_read(void *graph)
{
	struct ws_real_exec *x = ws_alloc(sizeof *x);

	if (!driver_has_all() || !ws_real_session()->checks)
		x->why = "graphs are not compared with launches, nor their kernels with each other: the driver does not tell enough of them";
	read_inner(x, graph, 0);
	if (!x->why)
		find_steps(x);
	if (!x->why) {
		x->graph = graph;
		keep(graph);
	}
	return x;
}

static void empty(struct ws_real_exec *x)
{
	for (size_t k = 0; k < x->n; k++) {
		free_kernel(&x->nodes[k]);
		ws_real_turn_give_back(x->nodes[k].mark);
	}
	for (size_t k = 0; k < x->nmarks; k++)
		ws_real_turn_give_back(x->marks[k]);
	free(x->marks);
	free(x->nodes);
	ws_real_run_free(&x->run);
}

void ws_real_exec_free(struct ws_real_exec *x)
{
	empty(x);
	if (x->graph)
		give_back(x->graph);
	free(x);
}

/* ---- updates ---- */
/* The driver takes nodes of two graphs for each other by the order in which they were made. */
static bool same_shape(const struct ws_real_exec *a, const struct ws_real_exec *b)
{
	bool same = !a->why && !b->why && a->n == b->n && a->run.n == b->run.n;

	for (size_t k = 0; k < a->n && same; k++)
		same = a->nodes[k].type == b->nodes[k].type && a->nodes[k].step == b->nodes[k].step &&
		       !a->nodes[k].tells[0] == !b->nodes[k].tells[0];
	for (size_t k = 0; k < a->run.n && same; k++)
		same = a->run.steps[k].nbefore == b->run.steps[k].nbefore &&
		       memcmp(a->run.steps[k].before, b->run.steps[k].before, a->run.steps[k].nbefore * sizeof *a->run.steps[k].before) == 0;
	return same;
}

void ws_real_exec_update(struct ws_real_exec *x, struct ws_real_exec *now)
{
	const char *why = x->why ? x->why : now->why;

	if (!why && !same_shape(x, now))
		why = "a graph was updated by one of which the nodes were made in another order: from then on it was not compared with launches, "
		      "nor its kernels with each other";
	for (size_t k = 0; k < now->n && !why; k++) {
		now->nodes[k].handle = x->nodes[k].handle;
		memcpy(now->nodes[k].tells, x->nodes[k].tells, sizeof now->nodes[k].tells);
		now->nodes[k].off = now->run.steps[now->nodes[k].step].off = x->nodes[k].off;
	}
	if (!why) {
		now->run.branches = x->run.branches;
		now->run.nbranches = x->run.nbranches;
		now->run.cap = x->run.cap;
		now->run.branched = x->run.branched;
		for (size_t k = 0; k < now->run.n; k++)
			now->run.steps[k].branch = x->run.steps[k].branch;
		now->run.done = x->run.done;
		x->run.branches = NULL;
		x->run.nbranches = 0;
		x->run.done = (struct ws_clock){ NULL, 0 };
	}
	empty(x);
	if (now->graph)
		give_back(now->graph);
	now->graph = x->graph;
	now->why = why;
	*x = *now;
	free(now);
}

/* ---- launches ---- */
static void tell_kernel(struct ws_real_exec *x, struct ws_real_node *n, void *exec)
{
	const struct ws_real_step *s = &x->run.steps[n->step];
	bool fine = true;

	if (!n->values || (!s->compared && !n->told))
		return;
	if (s->compared) {
		memcpy(n->values + n->checked->launch_at, &s->said[0], sizeof s->said[0]);
		n->told = true;
		fine = set_kernel(n, exec);
	} else {
		fine = count_turns(n, exec);
	}
	if (!fine)
		limit("kernels of a graph could not be told where they stand in the order of launches: they were not compared with others");
}

static void tell_move(struct ws_real_exec *x, struct ws_real_node *n, void *exec)
{
	const struct ws_real_step *s = &x->run.steps[n->step];
	bool tells = s->compared && n->tells[0] && n->nranges;

	for (unsigned k = 0; k < n->nranges && tells; k++)
		tells = n->tells[k] && ws_real_range_node_says(exec, n->tells[k], &n->ranges[k], &s->said[k]);
	for (unsigned k = 0; k < WS_COUNT(n->tells) && (tells || n->telling); k++)
		if (n->tells[k])
			ws_real.cuGraphNodeSetEnabled(exec, n->tells[k], tells && k < n->nranges);
	if (ws_real_streams_several() && n->nranges && !n->tells[0])
		limit("copies and fills of graphs that were instantiated before there was a second stream were not compared with launches");
	n->telling = tells;
}

void ws_real_exec_launches(struct ws_real_exec *x, void *handle, struct ws_real_lane lane)
{
	bool ask = ws_real_streams_ask();

	for (size_t k = 0; k < x->n; k++) {
		struct ws_real_node *n = &x->nodes[k];
		struct ws_real_step *s = &x->run.steps[n->step];

		s->off = n->off;
		s->touched = ask ? touched(n) : NULL;
		for (unsigned m = 0; m < n->nranges; m++)
			s->moves[m] = ws_real_range_extent(&n->ranges[m]);
	}
	ws_real_stream_runs(lane, &x->run);
	for (size_t k = 0; k < x->n; k++) {
		struct ws_real_node *n = &x->nodes[k];

		if (n->kernel)
			tell_kernel(x, n, handle);
		else if (n->type == NODE_COPY || n->type == NODE_FILL)
			tell_move(x, n, handle);
	}
}

void ws_real_exec_counts_turns(struct ws_real_exec *x, void *handle)
{
	for (size_t k = 0; k < x->n; k++)
		if (x->nodes[k].told && !count_turns(&x->nodes[k], handle))
			limit("kernels of a graph could not be told that they are in one: their launches may seem to be one");
}

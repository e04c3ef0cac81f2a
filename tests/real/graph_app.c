/* A program for `warpsafe race --gpu=real` that uses graphs of the driver API: graph_app WAY. A kernel that writes the 128 words of
 * `first`, a copy of them to `second`, a fill of `third`, in orders that are said by the ways. It prints what the program itself sees. */
#include <stdbool.h>
#include <string.h>

#include "driver_app.h"

int cuStreamCreate(void **, unsigned);
int cuMemcpyDtoDAsync_v2(uint64_t, uint64_t, size_t, void *), cuMemsetD32Async(uint64_t, unsigned, size_t, void *);
int cuGraphCreate(void **, unsigned), cuGraphDestroy(void *), cuGraphGetNodes(void *, void **, size_t *), cuGraphDestroyNode(void *);
int cuGraphAddKernelNode_v2(void **, void *, void *const *, size_t, const void *);
int cuGraphAddMemcpyNode(void **, void *, void *const *, size_t, const void *, void *);
int cuGraphAddMemsetNode(void **, void *, void *const *, size_t, const void *, void *);
int cuGraphAddChildGraphNode(void **, void *, void *const *, size_t, void *), cuGraphClone(void **, void *);
int cuGraphInstantiateWithFlags(void **, void *, unsigned long long), cuGraphLaunch(void *, void *), cuGraphExecDestroy(void *);
int cuGraphExecMemcpyNodeSetParams(void *, void *, const void *, void *), cuGraphExecUpdate_v2(void *, void *, void *);
int cuGraphExecKernelNodeSetParams_v2(void *, void *, const void *), cuGraphNodeSetEnabled(void *, void *, unsigned);
int cuGraphGetEdges(void *, void **, void **, size_t *), cuGraphNodeGetDependencies(void *, void **, size_t *);
int cuGraphNodeGetDependentNodes(void *, void **, size_t *);
int cuStreamBeginCapture_v2(void *, int), cuStreamEndCapture(void *, void **), cuEventCreate(void **, unsigned);
int cuEventRecord(void *, void *), cuStreamWaitEvent(void *, void *, unsigned);

static const char text[] =
	".version 7.0\n.target sm_70\n.address_size 64\n"
	".visible .entry put(.param .u64 p, .param .u32 x)\n{\n"
	"\t.reg .b32 %r<4>;\n\t.reg .b64 %rd<4>;\n"
	"\tld.param.u64 %rd1, [p];\n\tld.param.u32 %r2, [x];\n\tmov.u32 %r1, %tid.x;\n\tmul.wide.u32 %rd2, %r1, 4;\n"
	"\tadd.s64 %rd3, %rd1, %rd2;\n\tadd.u32 %r3, %r1, %r2;\n\tst.global.u32 [%rd3], %r3;\n\tret;\n}\n"
	/* A word by one thread, behind a barrier by another of the block, at places that memory says. */
	".visible .entry turn(.param .u64 p, .param .u32 x)\n{\n"
	"\t.reg .b32 %r<8>;\n\t.reg .b64 %rd<8>;\n"
	"\tld.param.u64 %rd1, [p];\n\tmov.u32 %r1, %tid.x;\n\tmul.wide.u32 %rd2, %r1, 4;\n\tadd.s64 %rd3, %rd1, %rd2;\n"
	"\tld.global.u32 %r2, [%rd3+1024];\n\tmov.u32 %r6, %ctaid.x;\n\tmul.wide.u32 %rd2, %r6, 512;\n\tadd.s64 %rd1, %rd1, %rd2;\n"
	"\txor.b32 %r4, %r1, %r2;\n\tmul.wide.u32 %rd4, %r4, 4;\n\tadd.s64 %rd4, %rd1, %rd4;\n"
	"\tst.global.u32 [%rd4], %r1;\n\tbar.sync 0;\n\txor.b32 %r4, %r4, 64;\n\tmul.wide.u32 %rd4, %r4, 4;\n\tadd.s64 %rd4, %rd1, %rd4;\n"
	"\tatom.global.add.u32 %r5, [%rd4], 1;\n\tret;\n}\n";

enum { WORDS = 128, BYTES = 4 * WORDS };
static void *module, *function, *context, *a, *b, *event;
static uint64_t first, second, third, fourth;

/* ---- nodes ---- */
struct side { size_t x, y, z, lod; int type; void *host; uint64_t device; void *array, *reserved; size_t pitch, height; };
struct box { struct side from, to; size_t width, height, depth; };
struct kernel { void *function; unsigned grid[3], block[3], shared; void **params, **extra; void *kernel, *context; };

static uint64_t put_to;
static unsigned put_what;
static void *put_params[] = { &put_to, &put_what };

static struct kernel put(uint64_t to, unsigned what)
{
	put_to = to;
	put_what = what;
	return (struct kernel){ function, { 1, 1, 1 }, { WORDS, 1, 1 }, 0, put_params, NULL, NULL, NULL };
}

static int boxes;

/* In one row, or as 4 slices of 2 rows, to where they stand with room between them. */
static struct box copy(uint64_t to, uint64_t from)
{
	enum { DEVICE = 2 };
	struct box c = { .from = { .type = DEVICE, .device = from, .pitch = BYTES / 8, .height = 2 },
		         .to = { .type = DEVICE, .device = to, .pitch = BYTES / 8, .height = 3 }, BYTES / 8, 2, 4 };

	if (!boxes) {
		c.from.pitch = c.to.pitch = c.width = BYTES;
		c.from.height = c.to.height = c.height = c.depth = 1;
	}
	return c;
}

static void *add_put(void *graph, void *before, uint64_t to)
{
	struct kernel k = put(to, 1);
	void *node;

	DO(cuGraphAddKernelNode_v2(&node, graph, &before, before != NULL, &k));
	return node;
}

static void *add_copy(void *graph, void *before, uint64_t to, uint64_t from)
{
	struct box c = copy(to, from);
	void *node;

	DO(cuGraphAddMemcpyNode(&node, graph, &before, before != NULL, &c, context));
	return node;
}

static void *add_fill(void *graph, void *before, uint64_t to)
{
	struct { uint64_t to; size_t pitch; unsigned value, element; size_t width, height; } f = { to, 0, 7, 4, WORDS, 1 };
	void *node;

	DO(cuGraphAddMemsetNode(&node, graph, &before, before != NULL, &f, context));
	return node;
}

static void launch_put(uint64_t to, void *stream)
{
	struct kernel k = put(to, 2);

	DO(cuLaunchKernel(function, 1, 1, 1, WORDS, 1, 1, 0, stream, k.params, NULL));
}

static void *instantiate(void *graph)
{
	void *exec;

	DO(cuGraphInstantiateWithFlags(&exec, graph, 0));
	return exec;
}

static void see(const char *what, uint64_t at)
{
	unsigned words[WORDS];

	DO(cuMemcpyDtoH_v2(words, at, BYTES));
	printf("%s: %u %u %u\n", what, words[0], words[1], words[WORDS - 1]);
}

/* ---- the ways ---- */
/* Nothing but a kernel in a graph, three times in one stream: launches that are not compared, of one %gridid. child: in a graph in the
 * graph. changed: its node has new parameters each time. updated: by another graph, each time. */
static void turns(bool child, bool changed, bool updated)
{
	struct kernel k;
	void *g, *outer, *node, *exec;
	struct { int result; void *node, *from; } why;

	DO(cuModuleGetFunction(&function, module, "turn"));
	k = put(first, 0);
	k.grid[0] = 2;
	DO(cuGraphCreate(&g, 0));
	DO(cuGraphAddKernelNode_v2(&node, g, NULL, 0, &k));
	if (child) {
		DO(cuGraphCreate(&outer, 0));
		DO(cuGraphAddChildGraphNode(&node, outer, NULL, 0, g));
		g = outer;
	}
	exec = instantiate(g);
	for (int i = 0; i < 3; i++) {
		if (changed)
			DO(cuGraphExecKernelNodeSetParams_v2(exec, node, &k));
		if (updated)
			DO(cuGraphExecUpdate_v2(exec, g, &why));
		DO(cuGraphLaunch(exec, NULL));
		if (i == 1 && updated)       /* so: once more without */
			DO(cuGraphLaunch(exec, NULL));
	}
	DO(cuCtxSynchronize());
}

/* The program's own nodes alone. */
static void see_edges(void *graph, void *of_copy, void *put)
{
	void *from[8], *to[8];
	size_t n = 0;

	DO(cuGraphGetEdges(graph, NULL, NULL, &n));
	printf("edges: %zu", n);
	n = 8;
	DO(cuGraphGetEdges(graph, from, to, &n));
	printf(", %zu;", n);
	n = 8;
	DO(cuGraphNodeGetDependentNodes(of_copy, to, &n));
	printf(" behind the copy: %zu,%s", n, n == 2 && !to[2] ? " no more;" : " more;");
	n = 0;
	DO(cuGraphNodeGetDependencies(put, NULL, &n));
	printf(" before the put: %zu", n);
	n = 1;
	DO(cuGraphNodeGetDependencies(put, from, &n));
	printf(", %s\n", from[0] == of_copy ? "the copy" : "another");
}

/* put, copy, fill in a row, the copy's target filled before: nothing races, in a stream or in two that wait for each other's graph. */
static void row(void)
{
	size_t n = 0;
	void *g, *node, *of_copy, *behind, *exec, *list[8];

	DO(cuGraphCreate(&g, 0));
	node = add_fill(g, NULL, second);
	node = add_put(g, node, first);
	boxes = 1;
	node = of_copy = add_copy(g, node, second, first);
	behind = add_put(g, node, first);
	add_fill(g, node, second + BYTES);   /* beside that put: a branch */
	exec = instantiate(g);
	DO(cuGraphGetNodes(g, NULL, &n));
	printf("%zu nodes", n);
	n = 8;
	DO(cuGraphGetNodes(g, list, &n));
	printf(", %zu\n", n);
	see_edges(g, of_copy, behind);
	DO(cuGraphDestroy(g));               /* as programs do */
	for (unsigned k = 0; k < 5; k++)
		DO(cuGraphLaunch(exec, k % 2 ? a : b));
	DO(cuCtxSynchronize());
	see("first", first);
	see("second", second);
	DO(cuGraphExecDestroy(exec));
}

/* The copy depends on nothing. */
static void beside(void)
{
	void *g;

	DO(cuGraphCreate(&g, 0));
	add_put(g, NULL, first);
	add_copy(g, NULL, second, first);
	DO(cuGraphLaunch(instantiate(g), a));
}

/* A graph and a launch in another stream; behind the first launch, the node tells of other memory, or is off, or nothing. */
static void changes(const char *how)
{
	struct kernel k = put(fourth, 3);
	void *g, *exec, *node, *other;
	struct box c = copy(fourth, third);
	struct { int result; void *node, *from; } info;

	DO(cuGraphCreate(&g, 0));
	node = add_copy(g, NULL, second, first);
	other = add_put(g, node, third);
	exec = instantiate(g);
	DO(cuGraphLaunch(exec, a));
	DO(cuCtxSynchronize());
	if (!strcmp(how, "copy")) {
		DO(cuGraphExecMemcpyNodeSetParams(exec, node, &c, context));
	} else if (!strcmp(how, "off")) {
		DO(cuGraphNodeSetEnabled(exec, node, 0));
	} else if (!strcmp(how, "kernel")) {
		DO(cuGraphExecKernelNodeSetParams_v2(exec, other, &k));
	} else if (!strcmp(how, "update")) {
		DO(cuGraphCreate(&g, 0));
		add_put(g, add_copy(g, NULL, fourth, third), third);
		DO(cuGraphExecUpdate_v2(exec, g, &info));
	}
	DO(cuGraphLaunch(exec, a));
	launch_put(!strcmp(how, "kernel") ? third : second, b);
	DO(cuGraphLaunch(exec, a));
	DO(cuCtxSynchronize());
	see("fourth", fourth);
}

/* Two streams of a capture, joined by events, or only at its end. */
static void captured(int waits)
{
	void *g;

	DO(cuStreamBeginCapture_v2(a, 0));
	DO(cuEventRecord(event, a));
	if (waits) {
		launch_put(first, a);
		DO(cuEventRecord(event, a));
	}
	DO(cuStreamWaitEvent(b, event, 0));
	DO(cuMemcpyDtoDAsync_v2(second, first, BYTES, b));
	DO(cuMemsetD32Async(third, 5, WORDS, b));
	if (!waits)
		launch_put(first, a);
	DO(cuEventRecord(event, b));
	DO(cuStreamWaitEvent(a, event, 0));
	DO(cuStreamEndCapture(a, &g));
	DO(cuGraphLaunch(instantiate(g), a));
	DO(cuCtxSynchronize());
	see("second", second);
}

/* What is not followed: no race is told, and the report says so. */
static void child(void)
{
	void *g, *inner, *node, *copy;

	DO(cuGraphCreate(&inner, 0));
	add_put(inner, NULL, first);
	DO(cuGraphCreate(&g, 0));
	DO(cuGraphAddChildGraphNode(&node, g, NULL, 0, inner));
	add_copy(g, NULL, second, first);
	DO(cuGraphClone(&copy, g));
	DO(cuGraphLaunch(instantiate(copy), a));
	launch_put(first, b);
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "";
	int device;

	DO(cuInit(0));
	DO(cuDeviceGet(&device, 0));
	DO(cuCtxCreate_v2(&context, 0, device));
	DO(cuModuleLoadData(&module, text));
	DO(cuModuleGetFunction(&function, module, "put"));
	DO(cuMemAlloc_v2(&first, 4 * BYTES));
	DO(cuMemAlloc_v2(&second, 4 * BYTES));
	DO(cuMemAlloc_v2(&third, 4 * BYTES));
	DO(cuMemAlloc_v2(&fourth, 4 * BYTES));
	DO(cuMemsetD8_v2(first, 0, 4 * BYTES));
	DO(cuMemsetD8_v2(third, 0, 4 * BYTES));
	DO(cuMemsetD8_v2(fourth, 0, 4 * BYTES));
	DO(cuCtxSynchronize());
	if (!strncmp(way, "turns", 5)) {     /* one stream */
		turns(strstr(way, "child"), strstr(way, "changed"), strstr(way, "updated"));
		printf("done\n");
		return 0;
	}
	DO(cuStreamCreate(&a, 0));
	DO(cuStreamCreate(&b, 0));
	DO(cuEventCreate(&event, 0));
	if (!strcmp(way, "row"))
		row();
	else if (!strcmp(way, "beside"))
		beside();
	else if (!strcmp(way, "captured") || !strcmp(way, "captured-beside"))
		captured(!strcmp(way, "captured"));
	else if (!strcmp(way, "child"))
		child();
	else
		changes(way);
	DO(cuCtxSynchronize());
	printf("done\n");
	return 0;
}

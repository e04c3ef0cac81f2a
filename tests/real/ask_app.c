/* A program for `warpsafe race --gpu=real` that asks the driver for its kernels before it launches them: ask_app WAY. Its kernels have no
 * races. What it prints is to be the same without warpsafe, unless a way says otherwise. */
#include <string.h>

#include "driver_app.h"

int cuDeviceGetAttribute(int *, int, int);
int cuLibraryLoadData(void **, const void *, int *, void **, unsigned, int *, void **, unsigned);
int cuLibraryGetKernel(void **, void *, const char *), cuKernelGetAttribute(int *, int, void *, int), cuKernelSetAttribute(int, int, void *, int);
int cuFuncGetAttribute(int *, int, void *), cuFuncSetAttribute(void *, int, int);
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *, void *, int, size_t);
int cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *, void *, int, size_t, unsigned);
int cuOccupancyMaxPotentialBlockSize(int *, int *, void *, size_t (*)(int), size_t, int);
int cuOccupancyMaxPotentialBlockSizeWithFlags(int *, int *, void *, size_t (*)(int), size_t, int, unsigned);
int cuOccupancyAvailableDynamicSMemPerBlock(size_t *, void *, int, int);
int cuLaunchCooperativeKernel(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **);
int cuStreamCreate(void **, unsigned), cuStreamBeginCapture_v2(void *, int), cuStreamEndCapture(void *, void **);
int cuGraphCreate(void **, unsigned), cuGraphAddKernelNode_v2(void **, void *, void *const *, size_t, const void *);
int cuGraphInstantiateWithFlags(void **, void *, unsigned long long), cuGraphLaunch(void *, void *);
int cuGraphKernelNodeGetParams_v2(void *, void *), cuGraphExecKernelNodeSetParams_v2(void *, void *, const void *);
int cuGraphGetNodes(void *, void **, size_t *);

/* Threads exchange words by dynamic shared memory behind a barrier. `fixed` has its shared memory itself; `calls` reads it by a function. In
 * `waits` the block's first thread counts it, and waits until all blocks are counted. */
#define HEAD(name) ".visible .entry " name "(.param .u64 p)\n{\n\t.reg .pred %p<2>;\n\t.reg .b32 %r<8>;\n\t.reg .b64 %rd<8>;\n"
#define WRITE(m)                                                                                                  \
	"\tmov.u32 %r1, %tid.x;\n\tmul.wide.u32 %rd2, %r1, 4;\n\tmov.u64 %rd3, " m ";\n\tadd.s64 %rd4, %rd3, %rd2;\n"     \
	"\tst.shared.u32 [%rd4], %r1;\n\tbar.sync 0;\n\txor.b32 %r2, %r1, 32;\n\tmul.wide.u32 %rd5, %r2, 4;\n"            \
	"\tadd.s64 %rd6, %rd3, %rd5;\n"
#define STORE "\tld.param.u64 %rd1, [p];\n\tmov.u32 %r4, %ctaid.x;\n\tmad.lo.u32 %r5, %r4, 64, %r1;\n\tmul.wide.u32 %rd2, %r5, 4;\n"   \
	"\tadd.s64 %rd7, %rd1, %rd2;\n\tst.global.u32 [%rd7], %r3;\n"
static const char text[] =
	".version 7.0\n.target sm_70\n.address_size 64\n.extern .shared .align 16 .b8 m[];\n"
	".func (.reg .b32 %out) get(.reg .b64 %at)\n{\n\tld.shared.u32 %out, [%at];\n\tret;\n}\n"
	HEAD("dynamic") WRITE("m") "\tld.shared.u32 %r3, [%rd6];\n" STORE "\tret;\n}\n"
	HEAD("calls") WRITE("m") "\tcall (%r3), get, (%rd6);\n" STORE "\tret;\n}\n"
	HEAD("fixed") "\t.shared .align 4 .b8 own[256];\n" WRITE("own") "\tld.shared.u32 %r3, [%rd6];\n" STORE "\tret;\n}\n"
	HEAD("waits") WRITE("m") "\tld.shared.u32 %r3, [%rd6];\n" STORE
	"\tsetp.ne.u32 %p1, %r1, 0;\n\t@%p1 bra END;\n\tmov.u32 %r4, %nctaid.x;\n\tatom.global.add.u32 %r5, [%rd1+1048576], 1;\n"
	"AGAIN:\n\tld.volatile.global.u32 %r5, [%rd1+1048576];\n\tsetp.lt.u32 %p1, %r5, %r4;\n\t@%p1 bra AGAIN;\nEND:\n\tret;\n}\n";

enum { MOST_SHARED = 227 << 10, HALF = 113 << 10, COUNTER = 1 << 20 };
static void *module, *context;
static uint64_t memory;
static int processors;

static void *function(const char *name)
{
	void *f;

	DO(cuModuleGetFunction(&f, module, name));
	return f;
}

static void see(const char *what)
{
	unsigned word;

	DO(cuCtxSynchronize());
	DO(cuMemcpyDtoH_v2(&word, memory, sizeof word));
	DO(cuMemsetD8_v2(memory, 0, COUNTER + 4));
	printf("%s: thread %u\n", what, word);
}

/* ---- questions ---- */
static size_t a_kilobyte(int threads)
{
	return threads ? 1024 : 0;
}

static void ask(const char *name, int most)
{
	static const int attributes[] = { 0, 1, 4, 8 };
	static const size_t sizes[] = { 0, 1024, 40 << 10, HALF, MOST_SHARED };
	void *f = function(name);
	int value, grid, block;
	size_t available;

	if (most)
		DO(cuFuncSetAttribute(f, 8, most));
	for (size_t k = 0; k < sizeof attributes / sizeof *attributes; k++) {
		DO(cuFuncGetAttribute(&value, attributes[k], f));
		printf("%s, attribute %d: %d\n", name, attributes[k], value);
	}
	for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
		DO(cuOccupancyMaxActiveBlocksPerMultiprocessor(&value, f, 64, sizes[k]));
		DO(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&grid, f, 64, sizes[k], 0));
		printf("%s, blocks with %zu bytes: %d, %d\n", name, sizes[k], value, grid);
	}
	DO(cuOccupancyMaxPotentialBlockSize(&grid, &block, f, a_kilobyte, 0, 0));
	printf("%s, a kilobyte: %d blocks of %d threads\n", name, grid, block);
	DO(cuOccupancyMaxPotentialBlockSize(&grid, &block, f, NULL, MOST_SHARED, 0));
	printf("%s, all: %d blocks of %d threads\n", name, grid, block);
	DO(cuOccupancyMaxPotentialBlockSizeWithFlags(&grid, &block, f, NULL, HALF, 512, 0));
	printf("%s, half: %d blocks of %d threads\n", name, grid, block);
	DO(cuOccupancyAvailableDynamicSMemPerBlock(&available, f, 1, 64));
	printf("%s, available: %zu bytes\n", name, available);
}

static void asks(void)
{
	ask("dynamic", 0);
	ask("dynamic", MOST_SHARED);
	DO(cuLaunchKernel(function("dynamic"), 1, 1, 1, 64, 1, 1, 256, NULL, (void *[]){ &memory }, NULL));
	see("asked");
}

static void asks_fixed(void)
{
	void *f = function("fixed");
	size_t available;
	int value;

	DO(cuFuncGetAttribute(&value, 1, f));
	printf("fixed, static: %d\n", value);
	DO(cuOccupancyMaxActiveBlocksPerMultiprocessor(&value, f, 64, MOST_SHARED - 256));
	printf("fixed, blocks: %d\n", value);
	DO(cuOccupancyAvailableDynamicSMemPerBlock(&available, f, 1, 64));
	printf("fixed, available: %zu\n", available);
}

static void asks_library(void)
{
	void *library, *kernel;
	int value;

	DO(cuLibraryLoadData(&library, text, NULL, NULL, 0, NULL, NULL, 0));
	DO(cuLibraryGetKernel(&kernel, library, "dynamic"));
	DO(cuKernelGetAttribute(&value, 1, kernel, 0));
	printf("static: %d\n", value);
	DO(cuKernelSetAttribute(8, MOST_SHARED, kernel, 0));
	DO(cuKernelGetAttribute(&value, 8, kernel, 0));
	printf("dynamic: %d\n", value);
	DO(cuLaunchKernel(kernel, 1, 1, 1, 64, 1, 1, MOST_SHARED, NULL, (void *[]){ &memory }, NULL));
	see("library");
}

/* ---- launches ---- */
static void wait_together(const char *what, int blocks)
{
	printf("%s: %d\n", what, cuLaunchCooperativeKernel(function("waits"), (unsigned)blocks, 1, 1, 64, 1, 1, HALF, NULL, (void *[]){ &memory }));
	see(what);
}

/* As many blocks as the driver says: with checks these are fewer. */
static void together(void)
{
	void *f = function("waits");
	int blocks, threads;
	size_t available;

	DO(cuFuncSetAttribute(f, 8, HALF));
	DO(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, f, 64, HALF));
	printf("blocks: %d\n", blocks);
	DO(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, f, 1024, 1024));
	printf("large blocks: %d\n", blocks);
	DO(cuOccupancyAvailableDynamicSMemPerBlock(&available, f, 2, 64));
	printf("for two: %zu\n", available);
	DO(cuOccupancyMaxPotentialBlockSize(&blocks, &threads, f, NULL, HALF, 64));
	printf("on the whole: %s\n", blocks == processors ? "one each" : "another number");
	DO(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, f, 64, HALF));
	wait_together("as asked", blocks * processors);
}

/* As many as run without them. */
static void unasked(void)
{
	DO(cuFuncSetAttribute(function("waits"), 8, HALF));
	wait_together("unasked", 2 * processors);
	wait_together("too many", 3 * processors);
}

/* What no driver launches. */
static void wrong(void)
{
	static const struct { const char *what; unsigned blocks, threads, shared; } ways[] = {
		{ "no blocks", 0, 64, 256 }, { "no threads", 1, 0, 256 }, { "threads", 1, 2048, 8192 }, { "shared", 1, 64, 52 << 10 },
		{ "more shared", 1, 64, 300 << 10 },
	};
	static const char *const names[] = { "dynamic", "calls" };

	for (size_t k = 0; k < sizeof ways / sizeof *ways; k++)
		for (size_t n = 0; n < 2; n++)
			printf("%s, %s: %d\n", ways[k].what, names[n],
			       cuLaunchKernel(function(names[n]), ways[k].blocks, 1, 1, ways[k].threads, 1, 1, ways[k].shared, NULL,
			                      (void *[]){ &memory }, NULL));
}

/* A kernel that calls: there is none without checks beside it. */
static void calls(void)
{
	DO(cuFuncSetAttribute(function("calls"), 8, MOST_SHARED));
	DO(cuLaunchKernel(function("calls"), 1, 1, 1, 64, 1, 1, 100 << 10, NULL, (void *[]){ &memory }, NULL));
	see("with less");
	printf("with all: %d\n", cuLaunchKernel(function("calls"), 1, 1, 1, 64, 1, 1, MOST_SHARED, NULL, (void *[]){ &memory }, NULL));
}

/* ---- graphs ---- */
struct kernel { void *function; unsigned grid[3], block[3], shared; void **params, **extra; void *kernel, *context; };

static void *params[] = { &memory };

static struct kernel with(unsigned shared)
{
	return (struct kernel){ function("dynamic"), { 1, 1, 1 }, { 64, 1, 1 }, shared, params, NULL, NULL, NULL };
}

static void launch(void *graph, void *exec, const char *what)
{
	if (!exec)
		DO(cuGraphInstantiateWithFlags(&exec, graph, 0));
	DO(cuGraphLaunch(exec, NULL));
	see(what);
}

/* Nodes with all shared memory: made so, changed to that and back, captured. */
static void graphs(void)
{
	struct kernel all = with(MOST_SHARED), some = with(256), told;
	void *graph, *node, *exec, *stream;
	size_t n = 1;

	DO(cuFuncSetAttribute(all.function, 8, MOST_SHARED));
	DO(cuGraphCreate(&graph, 0));
	DO(cuGraphAddKernelNode_v2(&node, graph, NULL, 0, &all));
	launch(graph, NULL, "node");
	DO(cuGraphKernelNodeGetParams_v2(node, &told));
	printf("the program's function: %d\n", told.function == all.function);
	DO(cuGraphCreate(&graph, 0));
	DO(cuGraphAddKernelNode_v2(&node, graph, NULL, 0, &some));
	DO(cuGraphInstantiateWithFlags(&exec, graph, 0));
	launch(NULL, exec, "some");
	DO(cuGraphExecKernelNodeSetParams_v2(exec, node, &all));
	launch(NULL, exec, "all");
	DO(cuGraphExecKernelNodeSetParams_v2(exec, node, &some));
	launch(NULL, exec, "some again");
	DO(cuStreamCreate(&stream, 0));
	DO(cuStreamBeginCapture_v2(stream, 0));
	DO(cuLaunchKernel(all.function, 1, 1, 1, 64, 1, 1, MOST_SHARED, stream, params, NULL));
	DO(cuStreamEndCapture(stream, &graph));
	launch(graph, NULL, "captured");
	DO(cuGraphGetNodes(graph, &node, &n));
	DO(cuGraphKernelNodeGetParams_v2(node, &told));
	printf("the program's function: %d\n", told.function == all.function);
}

static const struct { const char *name; void (*go)(void); } ways[] = {
	{ "asks", asks }, { "asks-fixed", asks_fixed }, { "asks-library", asks_library }, { "together", together }, { "unasked", unasked },
	{ "wrong", wrong }, { "calls", calls }, { "graphs", graphs },
};

int main(int argc, char **argv)
{
	int device;

	DO(cuInit(0));
	DO(cuDeviceGet(&device, 0));
	DO(cuDeviceGetAttribute(&processors, 16, device));
	DO(cuCtxCreate_v2(&context, 0, device));
	DO(cuModuleLoadData(&module, text));
	DO(cuMemAlloc_v2(&memory, COUNTER + 4));
	DO(cuMemsetD8_v2(memory, 0, COUNTER + 4));
	for (size_t i = 0; argc > 1 && i < sizeof ways / sizeof *ways; i++)
		if (strcmp(argv[1], ways[i].name) == 0)
			ways[i].go();
	puts("done");
	return 0;
}

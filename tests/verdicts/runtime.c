/* Stands in for NVIDIA's shared runtime where there is no GPU: as much of it as the programs of tests/detect use, over the driver API. Kernels are loaded when the program starts, and found at their launch. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int cuInit(unsigned), cuDeviceGet(int *, int), cuDevicePrimaryCtxRetain(void **, int), cuCtxSetCurrent(void *);
int cuCtxSynchronize(void), cuMemAlloc_v2(uint64_t *, size_t), cuMemFree_v2(uint64_t);
int cuMemHostAlloc(void **, size_t, unsigned), cuMemAllocManaged(uint64_t *, size_t, unsigned);
int cuStreamCreate(void **, unsigned), cuStreamSynchronize(void *), cuStreamSynchronize_ptsz(void *);
int cuStreamWaitEvent(void *, void *, unsigned), cuLaunchHostFunc(void *, void (*)(void *), void *);
int cuEventCreate(void **, unsigned), cuEventRecord(void *, void *), cuEventSynchronize(void *), cuEventQuery(void *);
int cuMemcpyAsync(uint64_t, uint64_t, size_t, void *), cuMemsetD8Async(uint64_t, unsigned char, size_t, void *);
int cuMemsetD8_v2(uint64_t, unsigned char, size_t), cuMemcpy(uint64_t, uint64_t, size_t);
int cuLibraryGetKernel(void **, void *, const char *), cuLibraryGetGlobal(uint64_t *, size_t *, void *, const char *);
int cuLibraryLoadData(void **, const void *, int *, void **, unsigned, int *, void **, unsigned);
int cuLaunchKernel(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);
int cuLaunchKernelEx(const void *, void *, void **, void **);
int cuLaunchKernel_ptsz(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);
int cuStreamBeginCapture_v2(void *, int), cuStreamEndCapture(void *, void **), cuGraphCreate(void **, unsigned);
int cuGraphAddKernelNode_v2(void **, void *, void *const *, size_t, const void *);
int cuGraphAddDependencies(void *, void *const *, void *const *, size_t);
int cuGraphInstantiateWithFlags(void **, void *, unsigned long long), cuGraphLaunch(void *, void *);
int cuMemAllocAsync(uint64_t *, size_t, void *), cuMemFreeAsync(uint64_t, void *);
int cuLaunchCooperativeKernel(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **);

struct dim3 { unsigned x, y, z; };
int ws_cluster_section(const void *stub, struct dim3 *size);      /* src/cuda/cluster_section.c */
enum { MOST = 256 };
static void *libraries[MOST];
static struct { const void *host; void *kernel; } kernels[MOST];
static struct { const void *host; void *library; const char *name; } variables[MOST];
static unsigned nlibraries, nkernels, nvariables;
static struct { struct dim3 grid, block; size_t shared; void *stream; } pushed;
static int last;

static int start(void)
{
	static void *context;
	static _Thread_local int current;
	int device;

	if (!context && (cuInit(0) || cuDeviceGet(&device, 0) || cuDevicePrimaryCtxRetain(&context, device)))
		return 1;
	if (!current && cuCtxSetCurrent(context))
		return 1;
	current = 1;
	return 0;
}

/* ---- registration ---- */
void **__cudaRegisterFatBinary(void *wrapper)
{
	if (nlibraries == MOST || start() || cuLibraryLoadData(&libraries[nlibraries], wrapper, NULL, NULL, 0, NULL, NULL, 0))
		abort();
	return &libraries[nlibraries++];
}

void __cudaRegisterFunction(void **library, const void *host, char *name, const char *device_name, int limit, void *tid,
                            void *bid, void *block, void *grid, int *size)
{
	if (nkernels == MOST || cuLibraryGetKernel(&kernels[nkernels].kernel, *library, device_name))
		abort();
	kernels[nkernels++].host = host;
}

void __cudaRegisterVar(void **library, char *host, char *address, const char *name, int ext, size_t size, int constant,
                       int global)
{
	if (nvariables == MOST)
		abort();
	variables[nvariables].host = host;
	variables[nvariables].library = *library;
	variables[nvariables++].name = name;
}

void __cudaRegisterFatBinaryEnd(void **library) { }
void __cudaUnregisterFatBinary(void **library) { }
char __cudaInitModule(void **library) { return 1; }

/* ---- launches ---- */
unsigned __cudaPushCallConfiguration(struct dim3 grid, struct dim3 block, size_t shared, void *stream)
{
	pushed.grid = grid;
	pushed.block = block;
	pushed.shared = shared;
	pushed.stream = stream;
	return 0;
}

int __cudaPopCallConfiguration(struct dim3 *grid, struct dim3 *block, size_t *shared, void **stream)
{
	*grid = pushed.grid;
	*block = pushed.block;
	*shared = pushed.shared;
	*stream = pushed.stream;
	return 0;
}

static void *kernel_of(const void *host)
{
	for (unsigned i = 0; i < nkernels; i++)
		if (kernels[i].host == host)
			return kernels[i].kernel;
	abort();
}

/* A kernel with __cluster_dims__. */
static int launch_clusters(const void *f, struct dim3 g, struct dim3 b, struct dim3 size, void **params, size_t shared, void *stream)
{
	struct { int id, pad; struct dim3 size; char rest[52]; } attribute = { .id = 4, .size = size };     /* CUlaunchAttribute */
	struct { struct dim3 grid, block; unsigned shared; void *stream, *attributes; unsigned n; } config =
		{ g, b, (unsigned)shared, stream, &attribute, 1 };

	return cuLaunchKernelEx(&config, kernel_of(f), params, NULL);
}

int cudaLaunchKernel(const void *f, struct dim3 g, struct dim3 b, void **params, size_t shared, void *stream)
{
	struct dim3 size;

	if (start())
		return last = 1;
	if (ws_cluster_section(f, &size) > 0)
		return last = launch_clusters(f, g, b, size, params, shared, stream);
	return last = cuLaunchKernel(kernel_of(f), g.x, g.y, g.z, b.x, b.y, b.z, (unsigned)shared, stream, params, NULL);
}

int cudaLaunchKernel_ptsz(const void *f, struct dim3 g, struct dim3 b, void **params, size_t shared, void *stream)
{
	return last = start() || cuLaunchKernel_ptsz(kernel_of(f), g.x, g.y, g.z, b.x, b.y, b.z, (unsigned)shared, stream, params, NULL);
}

int cudaLaunchCooperativeKernel(const void *f, struct dim3 g, struct dim3 b, void **params, size_t shared, void *stream)
{
	return last = cuLaunchCooperativeKernel(kernel_of(f), g.x, g.y, g.z, b.x, b.y, b.z, (unsigned)shared, stream, params);
}

struct config { struct dim3 grid, block; size_t shared; void *stream, *attributes; unsigned n; };

int cudaLaunchKernelExC(const struct config *c, const void *f, void **params)
{
	struct { struct dim3 grid, block; unsigned shared; void *stream, *attributes; unsigned n; } config =
		{ c->grid, c->block, (unsigned)c->shared, c->stream, c->attributes, c->n };

	return last = start() || cuLaunchKernelEx(&config, kernel_of(f), params, NULL);
}

/* ---- graphs ---- */
int cudaStreamBeginCapture(void *stream, int mode) { return start() || cuStreamBeginCapture_v2(stream, mode); }
int cudaStreamEndCapture(void *stream, void **graph) { return cuStreamEndCapture(stream, graph); }
int cudaGraphCreate(void **graph, unsigned flags) { return start() || cuGraphCreate(graph, flags); }
int cudaGraphInstantiate(void **exec, void *graph, unsigned long long flags) { return cuGraphInstantiateWithFlags(exec, graph, flags); }
int cudaGraphLaunch(void *exec, void *stream) { return cuGraphLaunch(exec, stream); }

struct node { void *func; struct dim3 grid, block; unsigned shared; void **params, **extra; };

int cudaGraphAddKernelNode(void **node, void *graph, void *const *before, size_t n, const struct node *p)
{
	struct { struct node own; void *kernel, *context; } all = { *p, kernel_of(p->func), NULL };

	all.own.func = NULL;
	return cuGraphAddKernelNode_v2(node, graph, before, n, &all);
}

int cudaGraphAddDependencies(void *graph, void *const *from, void *const *to, const void *edges, size_t n)
{
	return cuGraphAddDependencies(graph, from, to, n);
}

/* ---- streams and events ---- */
int cudaStreamCreate(void **stream) { return start() || cuStreamCreate(stream, 0); }
int cudaStreamCreateWithFlags(void **stream, unsigned flags) { return start() || cuStreamCreate(stream, flags); }
int cudaStreamSynchronize(void *stream) { return start() || cuStreamSynchronize(stream); }
int cudaStreamSynchronize_ptsz(void *stream) { return start() || cuStreamSynchronize_ptsz(stream); }
int cudaStreamWaitEvent(void *stream, void *event, unsigned flags) { return start() || cuStreamWaitEvent(stream, event, flags); }
int cudaLaunchHostFunc(void *stream, void (*f)(void *), void *user) { return start() || cuLaunchHostFunc(stream, f, user); }
int cudaEventCreate(void **event) { return start() || cuEventCreate(event, 0); }
int cudaEventRecord(void *event, void *stream) { return start() || cuEventRecord(event, stream); }
int cudaEventSynchronize(void *event) { return start() || cuEventSynchronize(event); }
int cudaEventQuery(void *event) { return start() ? 1 : cuEventQuery(event); }

int cudaMemcpyAsync(void *to, const void *from, size_t n, int kind, void *stream)
{
	return start() || cuMemcpyAsync((uint64_t)(uintptr_t)to, (uint64_t)(uintptr_t)from, n, stream);
}

int cudaMemsetAsync(void *p, int value, size_t n, void *stream)
{
	return start() || cuMemsetD8Async((uint64_t)(uintptr_t)p, (unsigned char)value, n, stream);
}

/* ---- the rest ---- */
int cudaGetLastError(void)
{
	int e = last;

	last = 0;
	return e;
}

const char *cudaGetErrorString(int e) { return e ? "an error" : "no error"; }
int cudaDeviceSynchronize(void) { return start() || cuCtxSynchronize(); }
int cudaMalloc(void **p, size_t size) { return start() || cuMemAlloc_v2((uint64_t *)p, size); }
int cudaHostAlloc(void **p, size_t size, unsigned flags) { return start() || cuMemHostAlloc(p, size, flags); }
int cudaMallocHost(void **p, size_t size) { return start() || cuMemHostAlloc(p, size, 0); }
int cudaMallocManaged(void **p, size_t size, unsigned flags) { return start() || cuMemAllocManaged((uint64_t *)p, size, flags); }
int cudaMallocAsync(void **p, size_t size, void *stream) { return start() || cuMemAllocAsync((uint64_t *)p, size, stream); }
int cudaFreeAsync(void *p, void *stream) { return cuMemFreeAsync((uint64_t)(uintptr_t)p, stream); }
int cudaFree(void *p) { return cuMemFree_v2((uint64_t)(uintptr_t)p); }
int cudaMemset(void *p, int value, size_t n) { return cuMemsetD8_v2((uint64_t)(uintptr_t)p, (unsigned char)value, n); }

int cudaMemcpy(void *to, const void *from, size_t n, int kind)
{
	return start() || cuMemcpy((uint64_t)(uintptr_t)to, (uint64_t)(uintptr_t)from, n);
}

int cudaGetSymbolAddress(void **p, const void *host)
{
	size_t size;

	for (unsigned i = 0; i < nvariables; i++)
		if (variables[i].host == host)
			return cuLibraryGetGlobal((uint64_t *)p, &size, variables[i].library, variables[i].name);
	return 13;
}

int cudaMemcpyToSymbol(const void *host, const void *src, size_t n, size_t off, int kind)
{
	void *p;
	int e = cudaGetSymbolAddress(&p, host);

	return e ? e : cuMemcpy((uint64_t)p + off, (uint64_t)src, n);
}

// Nodes of a graph run in the order of their dependencies only.
// category: 13
// racy: @KIND global streams
// repair: add a dependency between the two nodes of the graph
// vary: RAW WAR WAW
// vary: CAPTURED BUILT
#include "streams.h"

#ifdef V_CAPTURED
static cudaGraph_t make()
{
	cudaGraph_t g;

	cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal);
	ONLY_RACY(cudaEventRecord(e, a);)
	FIRST(a);
	ONLY_FIXED(cudaEventRecord(e, a);)
	cudaStreamWaitEvent(b, e, 0);
	SECOND(b);
	cudaEventRecord(e, b);
	cudaStreamWaitEvent(a, e, 0);
	cudaStreamEndCapture(a, &g);
	return g;
}
#else
static cudaGraphNode_t node(cudaGraph_t g, void *kernel, void **parameters)
{
	cudaKernelNodeParams k = {};
	cudaGraphNode_t n;

	k.func = kernel;
	k.gridDim = dim3(1);
	k.blockDim = dim3(N);
	k.kernelParams = parameters;
	cudaGraphAddKernelNode(&n, g, 0, 0, &k);
	return n;
}

static cudaGraph_t make()
{
	void *parameters[] = { &p, &out };
	cudaGraphNode_t first, second;
	cudaGraph_t g;

	cudaGraphCreate(&g, 0);
#ifdef V_WAR
	first = node(g, (void *)take, parameters);
#else
	first = node(g, (void *)put, parameters);
#endif
#ifdef V_RAW
	second = node(g, (void *)take, parameters);
#else
	second = node(g, (void *)put_other, parameters);
#endif
#ifdef FIXED
#if CUDART_VERSION >= 13000
	cudaGraphAddDependencies(g, &first, &second, 0, 1);
#else
	cudaGraphAddDependencies(g, &first, &second, 1);
#endif
#endif
	return g;
}
#endif

static void test()
{
	cudaGraphExec_t x;

	cudaGraphInstantiate(&x, make(), 0);
	cudaGraphLaunch(x, a);
	cudaGraphLaunch(x, b);
}

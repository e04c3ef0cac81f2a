/* gpu_graphs.cu - graphs whose kernels cannot be told each time which launch they are: gpu_graphs WAY. A word is written by one thread, then
 * added to by another behind a barrier; the next launch has other threads do so: a race only if two launches are taken for one. */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>

enum { WORDS = 128, TIMES = 5 };

static void must(cudaError_t e, int line)
{
	if (e != cudaSuccess) {
		printf("line %d: %s\n", line, cudaGetErrorString(e));
		exit(4);
	}
}
#define DO(call) must(call, __LINE__)

/* Places are what memory says, so that nothing is proved. */
__global__ void turn(unsigned *p)
{
	unsigned place = threadIdx.x ^ p[WORDS + threadIdx.x];

	p[place] = threadIdx.x;
	__syncthreads();
	atomicAdd(&p[place ^ 64], 1u);
}

__global__ void count(cudaGraphConditionalHandle loop, unsigned *times)
{
	cudaGraphSetConditional(loop, ++*times % TIMES != 0);
}

static cudaGraphNode_t add_turn(cudaGraph_t g, cudaGraphNode_t before, unsigned *p)
{
	void *params[] = { &p };
	cudaKernelNodeParams k = {};
	cudaGraphNode_t node;

	k.func = (void *)turn;
	k.gridDim = dim3(1);
	k.blockDim = dim3(WORDS);
	k.kernelParams = params;
	DO(cudaGraphAddKernelNode(&node, g, before ? &before : NULL, before != NULL, &k));
	return node;
}

static void child(cudaGraph_t g, unsigned *p)
{
	cudaGraph_t inner;
	cudaGraphNode_t node;

	DO(cudaGraphCreate(&inner, 0));
	add_turn(inner, NULL, p);
	DO(cudaGraphAddChildGraphNode(&node, g, NULL, 0, inner));
}

static void alloc(cudaGraph_t g, unsigned *p)
{
	cudaMemAllocNodeParams a = {};
	cudaGraphNode_t node;

	a.poolProps.allocType = cudaMemAllocationTypePinned;
	a.poolProps.location.type = cudaMemLocationTypeDevice;
	a.bytesize = 1 << 20;
	DO(cudaGraphAddMemAllocNode(&node, g, NULL, 0, &a));
	node = add_turn(g, node, p);
	DO(cudaGraphAddMemFreeNode(&node, g, &node, 1, a.dptr));
}

/* `turn` TIMES times in each launch of the graph. */
static void loop(cudaGraph_t g, unsigned *p)
{
	cudaGraphNodeParams c = {};
	cudaGraphConditionalHandle handle;
	cudaKernelNodeParams k = {};
	cudaGraphNode_t node;
	unsigned *times = p + 2 * WORDS;
	void *params[] = { &handle, &times };

	DO(cudaGraphConditionalHandleCreate(&handle, g, 1, cudaGraphCondAssignDefault));
	c.type = cudaGraphNodeTypeConditional;
	c.conditional.handle = handle;
	c.conditional.type = cudaGraphCondTypeWhile;
	c.conditional.size = 1;
	DO(cudaGraphAddNode(&node, g, NULL, NULL, 0, &c));
	node = add_turn(c.conditional.phGraph_out[0], NULL, p);
	k.func = (void *)count;
	k.gridDim = k.blockDim = dim3(1);
	k.kernelParams = params;
	DO(cudaGraphAddKernelNode(&node, c.conditional.phGraph_out[0], &node, 1, &k));
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "";
	unsigned *p, words[2 * WORDS + 1];
	cudaGraph_t g;
	cudaGraphExec_t exec;

	DO(cudaMalloc(&p, sizeof words));
	DO(cudaMemset(p, 0, sizeof words));
	DO(cudaGraphCreate(&g, 0));
	if (!strcmp(way, "child"))
		child(g, p);
	else if (!strcmp(way, "alloc"))
		alloc(g, p);
	else if (!strcmp(way, "loop"))
		loop(g, p);
	else
		add_turn(g, NULL, p);
	DO(cudaGraphInstantiate(&exec, g, 0));
	for (int k = 0; k < TIMES; k++)
		DO(cudaGraphLaunch(exec, 0));
	DO(cudaDeviceSynchronize());
	DO(cudaMemcpy(words, p, sizeof words, cudaMemcpyDeviceToHost));
	printf("%u %u, %u times\n", words[0], words[WORDS - 1], words[2 * WORDS]);
	return 0;
}

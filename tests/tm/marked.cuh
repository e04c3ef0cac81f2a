/* marked.cuh - what tests of marked sections have in common: memory, and cases that check their results on the host. */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>
#include <cuda_runtime.h>
#define WS_ATOMIC_QUIET
#include <warpsafe/atomic.h>

static unsigned blocks = 3, threads = 40;
static const char *program;

/* Memory of the GPU with this content, seen from the host after a launch. */
template <class T> struct memory {
	T *gpu;
	std::vector<T> host;

	explicit memory(size_t n, T value = T()) : gpu(nullptr), host(n, value)
	{
		if (cudaMalloc(&gpu, n * sizeof(T)) || cudaMemcpy(gpu, host.data(), n * sizeof(T), cudaMemcpyHostToDevice))
			exit(9);
	}
	~memory() { cudaFree(gpu); }
	std::vector<T> &back()
	{
		cudaError_t e = cudaMemcpy(host.data(), gpu, host.size() * sizeof(T), cudaMemcpyDeviceToHost);

		if (e) {
			printf("%s: %s\n", program, cudaGetErrorString(e));
			exit(9);
		}
		return host;
	}
};

__device__ unsigned self(void) { return blockIdx.x * blockDim.x + threadIdx.x; }
__device__ unsigned step(unsigned *r) { return (*r = *r * 1664525u + 1013904223u) >> 8; }

struct marked_case { const char *name; bool (*run)(void); };

/* Those that are named, or all. */
template <size_t N> static int run_cases(const char *name, const marked_case (&cases)[N], int argc, char **argv)
{
	bool some = false, good = true;

	program = name;
	for (int i = 1; i < argc; i++)
		if (sscanf(argv[i], "blocks=%u", &blocks) != 1 && sscanf(argv[i], "threads=%u", &threads) != 1)
			some = true;
	for (const marked_case &c : cases) {
		bool wanted = !some, right;

		for (int i = 1; i < argc; i++)
			wanted |= strcmp(argv[i], c.name) == 0;
		if (!wanted)
			continue;
		right = c.run();
		if (!right)
			printf("%s: %s: wrong\n", name, c.name);
		good &= right;
	}
	return good ? 0 : 1;
}

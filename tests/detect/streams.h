/* streams.h - the host side of the programs about order between kernels, copies and the host: two streams, an event, memory
 * of each kind, and small kernels. A program defines test(). What the racy program leaves out: one.h. */
#include <cstdio>
#include <cuda_runtime.h>

#ifdef FIXED
#define ONLY_FIXED(...) __VA_ARGS__
#define ONLY_RACY(...)
#else
#define ONLY_FIXED(...)
#define ONLY_RACY(...) __VA_ARGS__
#endif

enum { N = 64, BYTES = 1 << 14 };

static int *p, *out, *pinned, *managed;
static cudaStream_t a, b, free_running;      /* free_running: does not wait for the default stream */
static cudaEvent_t e;

__global__ void put(int *m)
{
	m[threadIdx.x] = threadIdx.x + 1;
}

__global__ void put_other(int *m)
{
	m[threadIdx.x] = threadIdx.x + 2;
}

__global__ void take(const int *m, int *to)
{
	to[threadIdx.x] = m[threadIdx.x];
}

#ifdef V_WAR
#define FIRST(stream) take<<<1, N, 0, stream>>>(p, out)
#else
#define FIRST(stream) put<<<1, N, 0, stream>>>(p)
#endif
#ifdef V_RAW
#define SECOND(stream) take<<<1, N, 0, stream>>>(p, out)
#else
#define SECOND(stream) put_other<<<1, N, 0, stream>>>(p)
#endif

static void test();

int main()
{
	if (cudaMalloc(&p, BYTES) || cudaMalloc(&out, BYTES) || cudaMallocHost(&pinned, BYTES) ||
	    cudaMallocManaged(&managed, BYTES) || cudaStreamCreate(&a) || cudaStreamCreate(&b) ||
	    cudaStreamCreateWithFlags(&free_running, cudaStreamNonBlocking) || cudaEventCreate(&e))
		return 3;
	test();
	return cudaDeviceSynchronize() ? 3 : 0;
}

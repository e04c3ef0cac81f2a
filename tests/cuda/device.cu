// The device, its properties and limits; attributes of kernels; occupancy.
// expect: ok
#include "check.h"

__global__ void __launch_bounds__(256) bounded(int *x)
{
	__shared__ int s[64];
	s[threadIdx.x % 64] = (int)threadIdx.x;
	__syncthreads();
	x[threadIdx.x] = s[(threadIdx.x + 1) % 64];
}

__global__ void large(int *x)
{
	extern __shared__ int s[];
	s[threadIdx.x] = x[0];
	__syncthreads();
	x[0] = s[0];
}

int main()
{
	cudaDeviceProp p;
	cudaFuncAttributes a;
	int n, value, runtime, driver;
	size_t limit;
	CHECK(cudaGetDeviceCount(&n));
	TRUE(n == 1);
	CHECK(cudaSetDevice(0));
	IS(cudaSetDevice(1), cudaErrorInvalidDevice);
	CHECK(cudaGetDevice(&n));
	IS(n, 0);
	CHECK(cudaGetDeviceProperties(&p, 0));
	TRUE(strstr(p.name, "warpsafe"));
	IS(p.warpSize, 32);
	IS(p.maxThreadsPerBlock, 1024);
	IS(p.maxGridSize[1], 65535);
	IS(p.sharedMemPerBlock, 49152);
	TRUE(p.multiProcessorCount > 0 && p.totalGlobalMem > 1 << 20 && p.major >= 5);
	TRUE(p.managedMemory && p.unifiedAddressing && p.maxTexture2D[1] == 65536);
	CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0));
	IS(value, p.multiProcessorCount);
	CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrComputeCapabilityMajor, 0));
	IS(value, p.major);
	IS(cudaDeviceGetAttribute(&value, (cudaDeviceAttr)9999, 0), cudaErrorInvalidValue);
	CHECK(cudaRuntimeGetVersion(&runtime));
	CHECK(cudaDriverGetVersion(&driver));
	TRUE(runtime >= 11000 && driver >= runtime);
	CHECK(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 1 << 22));
	CHECK(cudaDeviceGetLimit(&limit, cudaLimitPrintfFifoSize));
	IS(limit, 1 << 22);

	CHECK(cudaFuncGetAttributes(&a, bounded));
	IS(a.sharedSizeBytes, 256);
	IS(a.maxThreadsPerBlock, 256);
	TRUE(a.numRegs > 0);
	CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, bounded, 256, 0));
	TRUE(n > 0 && n <= 8);
	CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&value, bounded, 256, 40000));
	TRUE(value > 0 && value <= n);
	IS(cudaGetLastError(), cudaErrorInvalidValue);

	int *x;
	CHECK(cudaMalloc(&x, 4096));
	large<<<1, 32, 60000>>>(x);
	IS(cudaGetLastError(), cudaErrorInvalidValue);
	CHECK(cudaFuncSetAttribute(large, cudaFuncAttributeMaxDynamicSharedMemorySize, 60000));
	large<<<1, 32, 60000>>>(x);
	CHECK(cudaGetLastError());
	CHECK(cudaDeviceSynchronize());
	printf("ok\n");
	return 0;
}

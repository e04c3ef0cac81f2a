// Variables in all memories, dynamic shared memory, copies, managed allocations, properties, events, occupancy.
#include "check.h"

__constant__ int weights[4] = { 1, 10, 100, 1000 };
__constant__ float scale;
__device__ int counter = 5;
__device__ float table[2][3];
static __device__ int hidden = 11;

__global__ void use(int *out)
{
	extern __shared__ int dynamic[];
	__shared__ float fixed[32];
	int t = threadIdx.x;
	dynamic[t] = t * weights[t & 3];
	fixed[t & 31] = scale;
	__syncthreads();
	out[t] = dynamic[blockDim.x - 1 - t] + (int)fixed[(t + 1) & 31];
	if (t == 0) {
		counter += hidden;
		table[1][2] = 2.5f;
	}
}

__global__ void __launch_bounds__(128, 2) bounded(int *managed) { managed[threadIdx.x] += threadIdx.x; }

__global__ void layout(char4 *c, double2 *d, float3 *f, longlong4 *l, size_t *sizes)
{
	*c = make_char4(1, 2, 3, 4);
	d->x = 1.5;
	d->y = -1.5;
	f[1] = make_float3(7, 8, 9);
	l->w = 1ll << 40;
	sizes[0] = sizeof(float3);
	sizes[1] = alignof(float4);
	sizes[2] = sizeof(dim3);
	sizes[3] = alignof(double2);
	sizes[4] = alignof(ushort2);
	sizes[5] = sizeof(longlong3);
}

int main()
{
	float s = 3.0f, row[6];
	int out[64], value;
	Mirror<int> d(out, 64);
	void *address;
	size_t size;

	CUDA(cudaMemcpyToSymbol(scale, &s, sizeof s));
	use<<<1, 64, 64 * sizeof(int)>>>(d.device);
	d.fetch();
	static const int w[] = { 1, 10, 100, 1000 };
	for (int t = 0; t < 64; t++)
		EXPECT(out[t] == (63 - t) * w[(63 - t) & 3] + 3);
	CUDA(cudaMemcpyFromSymbol(&value, counter, sizeof value));
	EXPECT(value == 16);
	CUDA(cudaMemcpyFromSymbol(row, table, sizeof row));
	EXPECT(row[5] == 2.5f && row[0] == 0);
	CUDA(cudaGetSymbolAddress(&address, counter));
	CUDA(cudaGetSymbolSize(&size, table));
	EXPECT(address && size == 24);
	value = 100;
	CUDA(cudaMemcpy(address, &value, sizeof value, cudaMemcpyHostToDevice));
	CUDA(cudaMemcpyFromSymbol(&value, counter, sizeof value));
	EXPECT(value == 100);

	int *managed;
	CUDA(cudaMallocManaged(&managed, 128 * sizeof(int)));
	for (int i = 0; i < 128; i++)
		managed[i] = 1000;
	bounded<<<1, 128>>>(managed);
	CUDA(cudaDeviceSynchronize());
	EXPECT(managed[127] == 1127);
	CUDA(cudaFree(managed));

	char4 c;
	double2 dd;
	float3 f[2];
	longlong4 l;
	size_t sizes[6];
	Mirror<char4> dc(&c, 1);
	Mirror<double2> d2(&dd, 1);
	Mirror<float3> df(f, 2);
	Mirror<longlong4> dl(&l, 1);
	Mirror<size_t> ds(sizes, 6);
	layout<<<1, 1>>>(dc.device, d2.device, df.device, dl.device, ds.device);
	dc.fetch(), d2.fetch(), df.fetch(), dl.fetch(), ds.fetch();
	EXPECT(c.w == 4 && dd.y == -1.5 && f[1].y == 8 && l.w == 1ll << 40);
	EXPECT(sizes[0] == 12 && sizes[1] == 16 && sizes[2] == 12 && sizes[3] == 16 && sizes[4] == 4 && sizes[5] == 24);
	EXPECT(sizeof(float3) == 12 && alignof(float4) == 16 && alignof(double2) == 16 && alignof(longlong4) == 16);

	cudaDeviceProp p;
	CUDA(cudaGetDeviceProperties(&p, 0));
	EXPECT(p.major >= 7 && p.warpSize == 32 && p.maxThreadsPerBlock == 1024 && p.clockRate > 0 && p.multiProcessorCount > 0);
	int n = 0, grid = 0, block = 0;
	CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, use, 64, 0));
	EXPECT(n >= 1);
	CUDA(cudaOccupancyMaxPotentialBlockSize(&grid, &block, bounded));
	EXPECT(block > 0 && block <= 128 && grid > 0);
	cudaFuncAttributes a;
	CUDA(cudaFuncGetAttributes(&a, use));
	EXPECT(a.sharedSizeBytes == 128 && a.maxThreadsPerBlock == 1024);
	CUDA(cudaFuncSetAttribute(use, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 << 10));
	CUDA(cudaFuncSetCacheConfig(use, cudaFuncCachePreferShared));

	cudaStream_t stream;
	cudaEvent_t start, stop;
	float ms = -1;
	CUDA(cudaStreamCreate(&stream));
	CUDA(cudaEventCreate(&start));
	CUDA(cudaEventCreate(&stop));
	CUDA(cudaEventRecord(start, stream));
	use<<<1, 64, 256, stream>>>(d.device);
	CUDA(cudaMemcpyAsync(out, d.device, sizeof out, cudaMemcpyDeviceToHost, stream));
	CUDA(cudaEventRecord(stop, stream));
	CUDA(cudaEventSynchronize(stop));
	CUDA(cudaEventElapsedTime(&ms, start, stop));
	EXPECT(ms >= 0 && out[63] == 3);
	CUDA(cudaStreamDestroy(stream));

	char *pitched;
	size_t pitch;
	CUDA(cudaMallocPitch(&pitched, &pitch, 100, 10));
	CUDA(cudaMemset2D(pitched, pitch, 7, 100, 10));
	char rows[10][100];
	CUDA(cudaMemcpy2D(rows, 100, pitched, pitch, 100, 10, cudaMemcpyDeviceToHost));
	EXPECT(pitch >= 100 && rows[9][99] == 7);

	use<<<1, 2048, 0>>>(d.device);
	EXPECT(cudaGetLastError() == cudaErrorInvalidConfiguration || cudaGetLastError() == cudaErrorInvalidValue);
	EXPECT(cudaGetLastError() == cudaSuccess);
	void *args[] = { &d.device };
	CUDA(cudaLaunchKernel(use, dim3(1), dim3(64), args, 256, 0));
	CUDA(cudaDeviceSynchronize());
	return bad;
}

// Thread block clusters: by attribute and by the kernel itself, through cooperative groups; sizes, occupancy.
// ways: nvcc shared cc
// flags: -arch=sm_90
// expect: ok
#include "check.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

/* every block of a cluster sends its rank to the next one */
__global__ void ring(int *out)
{
	__shared__ int box[2];
	cg::cluster_group c = cg::this_cluster();
	unsigned next = (c.block_rank() + 1) % c.num_blocks();
	int *there = c.map_shared_rank(box, next);
	c.sync();
	if (threadIdx.x == 0) {
		there[0] = (int)c.block_rank();
		there[1] = (int)c.query_shared_rank(there);
	}
	cg::cluster_group::arrival_token t = c.barrier_arrive();
	int mine = (int)c.thread_rank();
	c.barrier_wait(static_cast<cg::cluster_group::arrival_token &&>(t));
	if (threadIdx.x == 1) {
		int *o = out + blockIdx.x * 4;
		o[0] = box[0];
		o[1] = box[1];
		o[2] = mine;
		o[3] = (int)c.num_threads() * 100 + (int)c.dim_blocks().x * 10 + (int)c.block_index().x;
	}
	c.sync();
}

__global__ void __cluster_dims__(2, 1, 1) fixed(int *out)
{
	__shared__ int box;
	cg::cluster_group c = cg::this_cluster();
	if (threadIdx.x == 0)
		box = 7 * (int)c.block_rank() + (int)blockIdx.x / 2;
	c.sync();
	if (threadIdx.x == 0)
		out[blockIdx.x] = *c.map_shared_rank(&box, 1 - c.block_rank());
	c.sync();
}

static cudaError_t launch(int grid, int cluster, int *p)
{
	cudaLaunchConfig_t c = {};
	cudaLaunchAttribute a[1];
	a[0].id = cudaLaunchAttributeClusterDimension;
	a[0].val.clusterDim.x = cluster;
	a[0].val.clusterDim.y = a[0].val.clusterDim.z = 1;
	c.gridDim = dim3(grid);
	c.blockDim = dim3(64);
	c.attrs = a;
	c.numAttrs = 1;
	return cudaLaunchKernelEx(&c, ring, p);
}

static void rings(int n, int *p)
{
	int h[32 * 4];
	CHECK(launch(2 * n, n, p));
	CHECK(cudaMemcpy(h, p, 2 * n * 16, cudaMemcpyDeviceToHost));
	for (int b = 0; b < 2 * n; b++) {
		int r = b % n;
		IS(h[4 * b], (r + n - 1) % n);
		IS(h[4 * b + 1], r);
		IS(h[4 * b + 2], r * 64 + 1);
		IS(h[4 * b + 3], n * 64 * 100 + n * 10 + r);
	}
}

static void occupancy()
{
	cudaLaunchConfig_t c = {};
	cudaLaunchAttribute a[1];
	int n = 0;
	c.gridDim = dim3(32);
	c.blockDim = dim3(64);
	CHECK(cudaOccupancyMaxPotentialClusterSize(&n, ring, &c));
	IS(n, 16);
	a[0].id = cudaLaunchAttributeClusterDimension;
	a[0].val.clusterDim.x = 2;
	a[0].val.clusterDim.y = a[0].val.clusterDim.z = 1;
	c.attrs = a;
	c.numAttrs = 1;
	CHECK(cudaOccupancyMaxActiveClusters(&n, ring, &c));
	IS(n > 0, 1);
}

int main()
{
	int *p;
	CHECK(cudaMalloc(&p, 32 * 16));
	rings(1, p);
	rings(2, p);
	rings(8, p);
	IS((int)launch(16, 16, p), (int)cudaErrorInvalidClusterSize);
	cudaGetLastError();
	CHECK(cudaFuncSetAttribute(ring, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
	rings(16, p);
	occupancy();
	int h[6];
	fixed<<<6, 32>>>(p);
	CHECK(cudaGetLastError());
	CHECK(cudaMemcpy(h, p, sizeof h, cudaMemcpyDeviceToHost));
	for (int b = 0; b < 6; b++)
		IS(h[b], 7 * (1 - b % 2) + b / 2);
	printf("ok\n");
	return 0;
}

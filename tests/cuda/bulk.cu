// Bulk copies with cuda::barrier and cuda::ptx, in a block and in a cluster.
// expect: ok
// ways: nvcc
// flags: -std=c++17 -arch=sm_90
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/ptx>
#include <utility>
#include "check.h"

namespace ptx = cuda::ptx;
namespace cg = cooperative_groups;
typedef cuda::barrier<cuda::thread_scope_block> block_barrier;
#define T 256

__global__ void increment(int *data)
{
	__shared__ alignas(16) int buf[T];
	__shared__ block_barrier bar;
	block_barrier::arrival_token token;

	if (threadIdx.x == 0) {
		init(&bar, blockDim.x);
		ptx::fence_proxy_async(ptx::space_shared);
	}
	__syncthreads();
	data += blockIdx.x * T;
	if (threadIdx.x == 0) {
		cuda::device::memcpy_async_tx(buf, data, cuda::aligned_size_t<16>(sizeof buf), bar);
		token = cuda::device::barrier_arrive_tx(bar, 1, sizeof buf);
	} else {
		token = bar.arrive();
	}
	bar.wait(std::move(token));
	buf[threadIdx.x] += 1;
	ptx::fence_proxy_async(ptx::space_shared);
	__syncthreads();
	if (threadIdx.x == 0) {
		ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, data, buf, sizeof buf);
		ptx::cp_async_bulk_commit_group();
		ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
	}
}

__global__ __cluster_dims__(4, 1, 1) void rotate(const int *in, int *out)
{
	__shared__ alignas(16) int buf[T], got[T];
	__shared__ alignas(8) cuda::std::uint64_t bar;
	cg::cluster_group cluster = cg::this_cluster();
	unsigned next = (cluster.block_rank() + 1) % cluster.num_blocks();

	buf[threadIdx.x] = in[blockIdx.x * T + threadIdx.x];
	if (threadIdx.x == 0) {
		ptx::mbarrier_init(&bar, 1);
		ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
	}
	ptx::fence_proxy_async(ptx::space_shared);
	cluster.sync();
	if (threadIdx.x == 0) {
		ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar, sizeof got);
		ptx::cp_async_bulk(ptx::space_cluster, ptx::space_shared, cluster.map_shared_rank(got, next), buf, sizeof buf,
		                   cluster.map_shared_rank(&bar, next));
	}
	while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, &bar, 0))
		;
	out[blockIdx.x * T + threadIdx.x] = got[threadIdx.x];
	cluster.sync();
}

int main()
{
	static int h[8 * T], got[8 * T];
	int *d, *e, bad = 0;

	for (int i = 0; i < 8 * T; i++)
		h[i] = 3 * i;
	CHECK(cudaMalloc(&d, sizeof h));
	CHECK(cudaMalloc(&e, sizeof h));
	CHECK(cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice));
	increment<<<8, T>>>(d);
	rotate<<<8, T>>>(d, e);
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaMemcpy(got, d, sizeof h, cudaMemcpyDeviceToHost));
	for (int i = 0; i < 8 * T; i++)
		bad += got[i] != 3 * i + 1;
	TRUE(!bad);
	CHECK(cudaMemcpy(got, e, sizeof h, cudaMemcpyDeviceToHost));
	for (int i = 0; i < 8 * T; i++) {
		int block = i / T, from = block / 4 * 4 + (block + 3) % 4;
		bad += got[i] != 3 * (from * T + i % T) + 1;
	}
	TRUE(!bad);
	puts("ok");
	return 0;
}

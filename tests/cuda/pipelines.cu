// Asynchronous copies through the interfaces of CUDA C++: pipeline primitives, cuda::pipeline, cuda::barrier, memcpy_async.
// expect: ok
// ways: nvcc cc
// flags: -std=c++17 -arch=sm_80
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda_pipeline.h>
#include "check.h"

namespace cg = cooperative_groups;
typedef cuda::barrier<cuda::thread_scope_block> block_barrier;
#define N 1024
#define T 128

/* Each gives out[i] = in[i] of the block's partner thread: i ^ 1, so that a lane reads what another one has copied. */
__global__ void primitives(const int *in, int *out)
{
	__shared__ __align__(16) int buf[2][T];
	int base = blockIdx.x * T * 4;

	for (int s = 0; s < 4; s++) {
		if (s == 0) {
			__pipeline_memcpy_async(&buf[0][threadIdx.x], &in[base + threadIdx.x], 4);
			__pipeline_commit();
		}
		if (s < 3)
			__pipeline_memcpy_async(&buf[(s + 1) & 1][threadIdx.x], &in[base + (s + 1) * T + threadIdx.x], 4);
		__pipeline_commit();
		__pipeline_wait_prior(1);
		__syncthreads();
		out[base + s * T + threadIdx.x] = buf[s & 1][threadIdx.x ^ 1];
		__syncthreads();
	}
}

__global__ void zero_fill(const int *in, int *out)
{
	__shared__ __align__(16) int buf[T * 4];

	__pipeline_memcpy_async(&buf[threadIdx.x * 4], &in[threadIdx.x * 4], 16, threadIdx.x % 4 * 4);
	__pipeline_commit();
	__pipeline_wait_prior(0);
	for (int i = 0; i < 4; i++)
		out[threadIdx.x * 4 + i] = buf[threadIdx.x * 4 + i];
}

__global__ void arrive_on(const int *in, int *out)
{
	__shared__ __mbarrier_t bar;
	__shared__ int buf[T];

	if (threadIdx.x == 0)
		__mbarrier_init(&bar, T);
	__syncthreads();
	__pipeline_memcpy_async(&buf[threadIdx.x], &in[threadIdx.x], 4);
	__pipeline_arrive_on(&bar);
	__mbarrier_token_t token = __mbarrier_arrive(&bar);
	while (!__mbarrier_test_wait(&bar, token))
		;
	out[threadIdx.x] = buf[threadIdx.x ^ 1];
}

__global__ void groups(const int *in, int *out)
{
	__shared__ __align__(16) int buf[2][T];
	cg::thread_block block = cg::this_thread_block();
	int base = blockIdx.x * T * 2;

	cg::memcpy_async(block, buf[0], in + base, sizeof buf[0]);
	cg::memcpy_async(block, buf[1], in + base + T, sizeof buf[1]);
	cg::wait_prior<1>(block);
	out[base + threadIdx.x] = buf[0][threadIdx.x ^ 1];
	cg::wait(block);
	out[base + T + threadIdx.x] = buf[1][threadIdx.x ^ 1];
}

__global__ void barriers(const int *in, int *out)
{
	__shared__ __align__(16) int buf[T];
	__shared__ block_barrier bar;

	if (threadIdx.x == 0)
		init(&bar, blockDim.x);
	__syncthreads();
	for (int s = 0; s < 4; s++) {
		cuda::memcpy_async(&buf[threadIdx.x], &in[s * T + threadIdx.x], sizeof(int), bar);
		bar.arrive_and_wait();
		out[s * T + threadIdx.x] = buf[threadIdx.x ^ 1];
		block_barrier::arrival_token token = bar.arrive();
		bar.wait(std::move(token));
	}
	if (threadIdx.x >= T / 2) {
		bar.arrive_and_drop();
		return;
	}
	buf[threadIdx.x] = threadIdx.x;
	bar.arrive_and_wait();
	out[4 * T + threadIdx.x] = buf[threadIdx.x ^ 1];
}

__global__ void block_copy(const int *in, int *out)
{
	__shared__ __align__(16) int buf[T];
	__shared__ block_barrier bar;
	cg::thread_block block = cg::this_thread_block();

	if (threadIdx.x == 0)
		init(&bar, blockDim.x);
	block.sync();
	cuda::memcpy_async(block, buf, in, cuda::aligned_size_t<16>(sizeof buf), bar);
	bar.arrive_and_wait();
	out[threadIdx.x] = buf[threadIdx.x ^ 1];
}

__global__ void pipeline_thread(const int *in, int *out)
{
	__shared__ int buf[2][T];
	cuda::pipeline<cuda::thread_scope_thread> pipe = cuda::make_pipeline();

	for (int f = 0, s = 0; s < 4; s++) {
		for (; f < 4 && f < s + 2; f++) {
			pipe.producer_acquire();
			cuda::memcpy_async(&buf[f & 1][threadIdx.x], &in[f * T + threadIdx.x], sizeof(int), pipe);
			pipe.producer_commit();
		}
		pipe.consumer_wait();
		out[s * T + (threadIdx.x ^ 1)] = buf[s & 1][threadIdx.x];
		pipe.consumer_release();
	}
}

__global__ void pipeline_block(const int *in, int *out)
{
	__shared__ int buf[2][T];
	__shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
	cg::thread_block block = cg::this_thread_block();
	auto pipe = cuda::make_pipeline(block, &state);

	for (int f = 0, s = 0; s < 4; s++) {
		for (; f < 4 && f < s + 2; f++) {
			pipe.producer_acquire();
			cuda::memcpy_async(block, buf[f & 1], in + f * T, sizeof buf[0], pipe);
			pipe.producer_commit();
		}
		pipe.consumer_wait();
		out[s * T + threadIdx.x] = buf[s & 1][threadIdx.x ^ 1];
		pipe.consumer_release();
	}
}

/* The first half of the block copies, the second half computes. */
__global__ void pipeline_roles(const int *in, int *out)
{
	__shared__ int buf[2][T / 2];
	__shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
	cg::thread_block block = cg::this_thread_block();
	int i = threadIdx.x % (T / 2);
	bool producer = threadIdx.x < T / 2;
	auto pipe = cuda::make_pipeline(block, &state, producer ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);

	for (int s = 0; s < 8; s++)
		if (producer) {
			pipe.producer_acquire();
			cuda::memcpy_async(&buf[s & 1][i], &in[s * T / 2 + i], sizeof(int), pipe);
			pipe.producer_commit();
		} else {
			pipe.consumer_wait();
			out[s * T / 2 + i] = buf[s & 1][i ^ 1];
			pipe.consumer_release();
		}
}

static int *in, *out, h[N];

static void check(const char *name, int n, int (*want)(int))
{
	static int got[N];
	int bad = 0;

	CHECK(cudaGetLastError());
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
	for (int i = 0; i < n; i++)
		if (got[i] != want(i) && bad++ < 3)
			printf("%s: out[%d] is %d, not %d\n", name, i, got[i], want(i));
	TRUE(!bad);
	CHECK(cudaMemset(out, 0, sizeof got));
}

static int partner(int i) { return h[i ^ 1]; }
static int filled(int i) { return i % 4 < 4 - i / 4 % 4 ? h[i] : 0; }
static int dropped(int i) { return i < 4 * T ? h[i ^ 1] : (i ^ 1) - 4 * T; }

int main()
{
	for (int i = 0; i < N; i++)
		h[i] = 7 * i + 3;
	CHECK(cudaMalloc(&in, sizeof h));
	CHECK(cudaMalloc(&out, sizeof h));
	CHECK(cudaMemcpy(in, h, sizeof h, cudaMemcpyHostToDevice));
	primitives<<<2, T>>>(in, out);
	check("primitives", N, partner);
	zero_fill<<<1, T>>>(in, out);
	check("zero_fill", 4 * T, filled);
	arrive_on<<<1, T>>>(in, out);
	check("arrive_on", T, partner);
	groups<<<2, T>>>(in, out);
	check("groups", 4 * T, partner);
	barriers<<<1, T>>>(in, out);
	check("barriers", 4 * T + T / 2, dropped);
	block_copy<<<1, T>>>(in, out);
	check("block_copy", T, partner);
	pipeline_thread<<<1, T>>>(in, out);
	check("pipeline_thread", 4 * T, partner);
	pipeline_block<<<1, T>>>(in, out);
	check("pipeline_block", 4 * T, partner);
	pipeline_roles<<<1, T>>>(in, out);
	check("pipeline_roles", 4 * T, partner);
	puts("ok");
	return 0;
}

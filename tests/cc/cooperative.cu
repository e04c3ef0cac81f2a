// Cooperative groups: blocks, tiles, coalesced threads, reductions and scans, grid barriers.
#include "check.h"
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

/* a group handed to a function that is not inlined: its parameter's address is taken */
__device__ __noinline__ int ranks_below(cg::thread_group g, int *shared)
{
	int rank = (int)g.thread_rank(), sum = 0;
	shared[rank] = 1;
	g.sync();
	for (int i = 0; i < rank; i++)
		sum += shared[i];
	g.sync();
	return sum;
}

__global__ void groups(int *out)
{
	cg::thread_block block = cg::this_thread_block();
	auto warp = cg::tiled_partition<32>(block);
	auto eight = cg::tiled_partition<8>(warp);
	int t = block.thread_rank(), *o = out + t * 16;
	__shared__ int turned[96];
	turned[95 - t] = t;
	block.sync();
	o[0] = turned[t];
	o[1] = cg::reduce(warp, t, cg::plus<int>());
	o[2] = cg::reduce(eight, t, cg::greater<int>());
	o[3] = eight.meta_group_rank() * 100 + eight.meta_group_size() * 10 + eight.thread_rank();
	o[4] = cg::inclusive_scan(eight, 1);
	o[5] = cg::exclusive_scan(eight, t & 7);
	o[6] = eight.shfl(t, 3) + eight.shfl_xor(1, 1) + (int)eight.shfl_down(2.0, 1);
	o[7] = eight.ballot(t & 1);
	o[8] = o[9] = o[10] = 0;
	if (t % 3 == 0) {
		cg::coalesced_group some = cg::coalesced_threads();
		o[8] = some.size();
		o[9] = cg::reduce(some, t, cg::less<int>());
		o[10] = some.shfl(t, 1) + (int)some.thread_rank() * 1000;
	}
	block.sync();
	cg::thread_group any = block;
	any.sync();
	o[11] = (int)any.size() * 1000 + ranks_below(any, turned);
	auto dynamic = cg::tiled_partition(block, 4);
	o[12] = (int)dynamic.size() * 10 + (int)dynamic.thread_rank();
	auto half = cg::binary_partition(warp, t & 1);
	o[13] = (int)half.size() * 100 + (int)half.thread_rank();
	o[14] = block.group_index().x;
	o[15] = warp.all(t >= 0) + 2 * warp.any(t == 33);
}

__global__ void rounds(int *data, int n, int *seen)
{
	cg::grid_group grid = cg::this_grid();
	int me = (int)grid.thread_rank(), size = (int)grid.size();
	for (int round = 0; round < 5; round++) {
		int left = data[(me + size - 1) % size];
		grid.sync();
		data[me] = left + 1;
		grid.sync();
	}
	if (me == 0)
		*seen = grid.is_valid() + (int)grid.num_blocks() * 10;
}

int main()
{
	static int out[96 * 16];
	Mirror<int> d(out, 96 * 16);
	groups<<<1, 96>>>(d.device);
	d.fetch();
	for (int t = 0; t < 96; t++) {
		int *o = out + t * 16, w = t / 32 * 32, e = t / 8 * 8, first = (w + 2) / 3 * 3, some = 0;
		for (int i = w; i < w + 32; i++)
			some += i % 3 == 0;
		EXPECT(o[0] == 95 - t);
		EXPECT(o[1] == 32 * w + 496);
		EXPECT(o[2] == e + 7);
		EXPECT(o[3] == t % 32 / 8 * 100 + 40 + t % 8);
		EXPECT(o[4] == t % 8 + 1);
		EXPECT(o[5] == (t & 7) * ((t & 7) - 1) / 2);
		EXPECT(o[6] == e + 3 + 1 + 2);
		EXPECT(o[7] == 0xaa);
		if (t % 3 == 0) {
			EXPECT(o[8] == some);
			EXPECT(o[9] == first);
			EXPECT(o[10] == first + 3 + (t - first) / 3 * 1000);
		}
		EXPECT(o[11] == 96000 + t);
		EXPECT(o[12] == 40 + t % 4);
		EXPECT(o[13] == 1600 + t % 32 / 2);
		EXPECT(o[14] == 0);
		EXPECT(o[15] == 1 + 2 * (w == 32));
	}
	enum { BLOCKS = 6, THREADS = 40 };
	static int data[BLOCKS * THREADS], seen;
	for (int i = 0; i < BLOCKS * THREADS; i++)
		data[i] = i;
	Mirror<int> dd(data, BLOCKS * THREADS), ds(&seen, 1);
	int n = BLOCKS * THREADS;
	void *args[] = { &dd.device, &n, &ds.device };
	CUDA(cudaLaunchCooperativeKernel(rounds, dim3(BLOCKS), dim3(THREADS), args, 0, 0));
	dd.fetch();
	ds.fetch();
	for (int i = 0; i < n; i++)
		EXPECT(data[i] == (i + n - 5) % n + 5);
	EXPECT(seen == 61);
	return bad;
}

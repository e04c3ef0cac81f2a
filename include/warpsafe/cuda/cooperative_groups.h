/* cooperative_groups.h - groups of threads: block, tile, coalesced threads, grid. Written from the "CUDA C++
 * Programming Guide", Cooperative Groups. Part of warpsafe's own CUDA headers.
 *
 * Left out: tiles of more than 32 threads, groups over several devices. */
#ifndef WARPSAFE_COOPERATIVE_GROUPS_H
#define WARPSAFE_COOPERATIVE_GROUPS_H

#if !defined(__CUDA__) || !defined(__clang__)
#error "cooperative_groups.h is for device code; compile with warpsafe cc"
#endif

#include "cuda_runtime.h"

#pragma clang attribute push(__attribute__((nodebug)), apply_to = hasType(functionType))

namespace cooperative_groups {

#define WS_CG inline __device__ __attribute__((always_inline))

namespace details {

typedef unsigned int u32;

WS_CG u32 lane(void) { return __nvvm_read_ptx_sreg_laneid(); }
WS_CG u32 lanes_below(void) { return (1u << lane()) - 1; }

/* the lane of the rank-th member of mask */
WS_CG u32 member(u32 mask, u32 rank)
{
	if (mask == 0xffffffffu)
		return rank & 31;
	for (; rank; rank--)
		mask &= mask - 1;
	return (u32)__ffs((int)mask) - 1;
}

WS_CG u32 block_threads(void)
{
	return __nvvm_read_ptx_sreg_ntid_x() * __nvvm_read_ptx_sreg_ntid_y() * __nvvm_read_ptx_sreg_ntid_z();
}

WS_CG u32 block_rank_of_thread(void)
{
	return (__nvvm_read_ptx_sreg_tid_z() * __nvvm_read_ptx_sreg_ntid_y() + __nvvm_read_ptx_sreg_tid_y()) *
	       __nvvm_read_ptx_sreg_ntid_x() + __nvvm_read_ptx_sreg_tid_x();
}

WS_CG unsigned long long grid_blocks(void)
{
	return (unsigned long long)__nvvm_read_ptx_sreg_nctaid_x() * __nvvm_read_ptx_sreg_nctaid_y() *
	       __nvvm_read_ptx_sreg_nctaid_z();
}

WS_CG unsigned long long grid_rank_of_block(void)
{
	return ((unsigned long long)__nvvm_read_ptx_sreg_ctaid_z() * __nvvm_read_ptx_sreg_nctaid_y() +
	        __nvvm_read_ptx_sreg_ctaid_y()) * __nvvm_read_ptx_sreg_nctaid_x() + __nvvm_read_ptx_sreg_ctaid_x();
}

/* Where the launch keeps a cooperative grid's barrier; 0 in an ordinary launch. */
WS_CG unsigned long long grid_workspace(void)
{
	u32 high, low;
	__asm__("mov.u32 %0, %%envreg1;" : "=r"(high));
	__asm__("mov.u32 %0, %%envreg2;" : "=r"(low));
	return (unsigned long long)high << 32 | low;
}

/* All blocks add to one word, together 2^31 in each round: its top bit changes when the last one has come. The adding
 * releases and the reading acquires at the scope of the GPU; the two block barriers carry that to all threads of a
 * block (PTX ISA, Memory Consistency Model, Causality order). */
WS_CG void grid_sync(unsigned long long workspace)
{
	__barrier_sync(0);
	if (block_rank_of_thread() == 0) {
		unsigned long long word = workspace + 4;
		u32 add = grid_rank_of_block() == 0 ? 0x80000000u - ((u32)grid_blocks() - 1) : 1, before, now;
		__asm__ volatile("atom.add.release.gpu.u32 %0, [%1], %2;" : "=r"(before) : "l"(word), "r"(add) : "memory");
		do
			__asm__ volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(now) : "l"(word) : "memory");
		while (!((before ^ now) & 0x80000000u));
	}
	__barrier_sync(0);
}

/* clusters of blocks */
#define WS_CG_CLUSTER_REGISTER(name, reg) \
	WS_CG u32 name(void) \
	{ \
		u32 v; \
		__asm__("mov.u32 %0, %%" reg ";" : "=r"(v)); \
		return v; \
	}
WS_CG_CLUSTER_REGISTER(cluster_rank, "cluster_ctarank")
WS_CG_CLUSTER_REGISTER(cluster_blocks, "cluster_nctarank")
WS_CG_CLUSTER_REGISTER(cluster_x, "cluster_ctaid.x")
WS_CG_CLUSTER_REGISTER(cluster_y, "cluster_ctaid.y")
WS_CG_CLUSTER_REGISTER(cluster_z, "cluster_ctaid.z")
WS_CG_CLUSTER_REGISTER(cluster_nx, "cluster_nctaid.x")
WS_CG_CLUSTER_REGISTER(cluster_ny, "cluster_nctaid.y")
WS_CG_CLUSTER_REGISTER(cluster_nz, "cluster_nctaid.z")
#undef WS_CG_CLUSTER_REGISTER
WS_CG void cluster_arrive(void) { __asm__ volatile("barrier.cluster.arrive;" ::: "memory"); }
WS_CG void cluster_wait(void) { __asm__ volatile("barrier.cluster.wait;" ::: "memory"); }
WS_CG void cluster_sync(void)
{
	cluster_arrive();
	cluster_wait();
}

/* shuffles of any type, a word at a time */
enum shuffle { IDX, UP, DOWN, XOR };

template <shuffle S> WS_CG u32 shuffle_word(u32 mask, u32 v, u32 by, u32 width)
{
	if (S == IDX)
		return __shfl_sync(mask, v, (int)by, (int)width);
	if (S == UP)
		return __shfl_up_sync(mask, v, by, (int)width);
	if (S == DOWN)
		return __shfl_down_sync(mask, v, by, (int)width);
	return __shfl_xor_sync(mask, v, (int)by, (int)width);
}

template <shuffle S, class T> WS_CG T shuffle_any(u32 mask, T v, u32 by, u32 width)
{
	enum { WORDS = (sizeof(T) + 3) / 4 };
	u32 w[WORDS] = {};
	T r;
	__builtin_memcpy(w, &v, sizeof v);
	for (int i = 0; i < WORDS; i++)
		w[i] = shuffle_word<S>(mask, w[i], by, width);
	__builtin_memcpy(&r, w, sizeof r);
	return r;
}

} /* details */

/* ---- thread_group: any of the groups below, known only at run time ---- */
class thread_group {
protected:
	friend class coalesced_group;
	enum kind { THREAD, BLOCK, TILE, COALESCED, GRID, CLUSTER } what;
	unsigned int mask;               /* TILE, COALESCED */
	unsigned int part, parts;        /* place in the group it was cut from */
	WS_CG thread_group(kind k, unsigned int m = 0, unsigned int p = 0, unsigned int n = 1)
		: what(k), mask(m), part(p), parts(n) {}
public:
	WS_CG unsigned long long size() const
	{
		return what == BLOCK ? details::block_threads() : what == THREAD ? 1 :
		       what == GRID ? details::grid_blocks() * details::block_threads() :
		       what == CLUSTER ? details::cluster_blocks() * details::block_threads() :
		                         (unsigned)__popc((int)mask);
	}
	WS_CG unsigned long long num_threads() const { return size(); }
	WS_CG unsigned long long thread_rank() const
	{
		return what == BLOCK ? details::block_rank_of_thread() : what == THREAD ? 0 :
		       what == GRID ? details::grid_rank_of_block() * details::block_threads() +
		                              details::block_rank_of_thread() :
		       what == CLUSTER ? details::cluster_rank() * details::block_threads() +
		                                 details::block_rank_of_thread() :
		       (unsigned)__popc((int)(mask & details::lanes_below()));
	}
	WS_CG void sync() const
	{
		if (what == BLOCK)
			__barrier_sync(0);
		else if (what == GRID)
			details::grid_sync(details::grid_workspace());
		else if (what == CLUSTER)
			details::cluster_sync();
		else if (what != THREAD)
			__syncwarp(mask);
	}
	WS_CG bool is_valid() const { return what != GRID || details::grid_workspace() != 0; }
	friend WS_CG thread_group this_thread();
};

WS_CG thread_group this_thread() { return thread_group(thread_group::THREAD); }

/* ---- the block ---- */
class thread_block : public thread_group {
	WS_CG thread_block() : thread_group(BLOCK) {}
	friend WS_CG thread_block this_thread_block();
public:
	static WS_CG void sync() { __barrier_sync(0); }
	static WS_CG unsigned int size() { return details::block_threads(); }
	static WS_CG unsigned int num_threads() { return details::block_threads(); }
	static WS_CG unsigned int thread_rank() { return details::block_rank_of_thread(); }
	static WS_CG dim3 group_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
	static WS_CG dim3 thread_index() { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }
	static WS_CG dim3 group_dim() { return dim3(blockDim.x, blockDim.y, blockDim.z); }
	static WS_CG dim3 dim_threads() { return dim3(blockDim.x, blockDim.y, blockDim.z); }
	class arrival_token {};
	WS_CG arrival_token barrier_arrive() const { return arrival_token(); }
	WS_CG void barrier_wait(arrival_token &&) const { sync(); }
};
WS_CG thread_block this_thread_block() { return thread_block(); }

/* ---- the grid, in a cooperative launch ---- */
class grid_group : public thread_group {
	WS_CG grid_group() : thread_group(GRID) {}
	friend WS_CG grid_group this_grid();
public:
	WS_CG bool is_valid() const { return details::grid_workspace() != 0; }
	WS_CG void sync() const
	{
		unsigned long long workspace = details::grid_workspace();
		if (!workspace)
			__trap();                /* not a cooperative launch */
		details::grid_sync(workspace);
	}
	static WS_CG unsigned long long size() { return details::grid_blocks() * details::block_threads(); }
	static WS_CG unsigned long long num_threads() { return size(); }
	static WS_CG unsigned long long thread_rank()
	{
		return details::grid_rank_of_block() * details::block_threads() + details::block_rank_of_thread();
	}
	static WS_CG dim3 group_dim() { return dim3(gridDim.x, gridDim.y, gridDim.z); }
	static WS_CG dim3 dim_blocks() { return dim3(gridDim.x, gridDim.y, gridDim.z); }
	static WS_CG unsigned long long num_blocks() { return details::grid_blocks(); }
	static WS_CG dim3 block_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
	static WS_CG unsigned long long block_rank() { return details::grid_rank_of_block(); }
};
WS_CG grid_group this_grid() { return grid_group(); }

/* ---- the blocks of a cluster ---- */
class cluster_group : public thread_group {
	WS_CG cluster_group() : thread_group(CLUSTER) {}
	friend WS_CG cluster_group this_cluster();
public:
	class arrival_token {};
	static WS_CG void sync() { details::cluster_sync(); }
	static WS_CG arrival_token barrier_arrive()
	{
		details::cluster_arrive();
		return arrival_token();
	}
	static WS_CG void barrier_wait() { details::cluster_wait(); }
	static WS_CG void barrier_wait(arrival_token &&) { details::cluster_wait(); }
	/* the variable of the block of that rank that lies where this one lies in the caller's block */
	template <class T> static WS_CG T *map_shared_rank(T *variable, int rank)
	{
		unsigned long long there;
		__asm__("mapa.u64 %0, %1, %2;" : "=l"(there) : "l"((unsigned long long)variable), "r"(rank));
		return (T *)there;
	}
	static WS_CG unsigned int query_shared_rank(const void *variable)
	{
		unsigned int rank;
		__asm__("getctarank.u64 %0, %1;" : "=r"(rank) : "l"((unsigned long long)variable));
		return rank;
	}
	static WS_CG dim3 block_index() { return dim3(details::cluster_x(), details::cluster_y(), details::cluster_z()); }
	static WS_CG unsigned int block_rank() { return details::cluster_rank(); }
	static WS_CG dim3 dim_blocks() { return dim3(details::cluster_nx(), details::cluster_ny(), details::cluster_nz()); }
	static WS_CG unsigned int num_blocks() { return details::cluster_blocks(); }
	static WS_CG dim3 dim_threads()
	{
		return dim3(details::cluster_nx() * blockDim.x, details::cluster_ny() * blockDim.y,
		            details::cluster_nz() * blockDim.z);
	}
	static WS_CG dim3 thread_index()
	{
		return dim3(details::cluster_x() * blockDim.x + threadIdx.x, details::cluster_y() * blockDim.y + threadIdx.y,
		            details::cluster_z() * blockDim.z + threadIdx.z);
	}
	static WS_CG unsigned int thread_rank()
	{
		return details::cluster_rank() * details::block_threads() + details::block_rank_of_thread();
	}
	static WS_CG unsigned int num_threads() { return details::cluster_blocks() * details::block_threads(); }
	static WS_CG unsigned int size() { return num_threads(); }
};
WS_CG cluster_group this_cluster() { return cluster_group(); }

/* ---- threads of a warp that have come together, or a part of them ---- */
class coalesced_group : public thread_group {
	WS_CG coalesced_group(unsigned int m, unsigned int p = 0, unsigned int n = 1) : thread_group(COALESCED, m, p, n) {}
	friend WS_CG coalesced_group coalesced_threads();
	template <class G> friend WS_CG coalesced_group binary_partition(const G &g, bool pred);
	template <class L, class G> friend WS_CG coalesced_group labeled_partition(const G &g, L label);
	friend WS_CG coalesced_group tiled_partition(const coalesced_group &g, unsigned int n);
	friend WS_CG coalesced_group tiled_partition(const thread_block &g, unsigned int n);
public:
	WS_CG unsigned int lane_mask() const { return mask; }
	WS_CG unsigned int size() const { return (unsigned int)__popc((int)mask); }
	WS_CG unsigned int num_threads() const { return size(); }
	WS_CG unsigned int thread_rank() const { return (unsigned int)__popc((int)(mask & details::lanes_below())); }
	WS_CG unsigned int meta_group_rank() const { return part; }
	WS_CG unsigned int meta_group_size() const { return parts; }
	WS_CG void sync() const { __syncwarp(mask); }
	template <class T> WS_CG T shfl(T v, unsigned int rank) const
	{
		return details::shuffle_any<details::IDX>(mask, v, details::member(mask, rank), 32);
	}
	template <class T> WS_CG T shfl_down(T v, unsigned int by) const
	{
		unsigned int r = thread_rank() + by;
		return details::shuffle_any<details::IDX>(mask, v, r < size() ? details::member(mask, r) : details::lane(), 32);
	}
	template <class T> WS_CG T shfl_up(T v, unsigned int by) const
	{
		unsigned int r = thread_rank();
		return details::shuffle_any<details::IDX>(mask, v, r >= by ? details::member(mask, r - by) : details::lane(), 32);
	}
	WS_CG int any(int p) const { return __ballot_sync(mask, p) != 0; }
	WS_CG int all(int p) const { return __ballot_sync(mask, p) == mask; }
	WS_CG unsigned int ballot(int p) const { return pack(__ballot_sync(mask, p)); }
	template <class T> WS_CG unsigned int match_any(T v) const { return pack(__match_any_sync(mask, v)); }
	template <class T> WS_CG unsigned int match_all(T v, int &p) const { return pack(__match_all_sync(mask, v, &p)); }
private:
	/* lanes to ranks */
	WS_CG unsigned int pack(unsigned int lanes) const
	{
		unsigned int r = 0, n = 0;
		if (mask == 0xffffffffu)
			return lanes;
		for (unsigned int m = mask; m; m &= m - 1, n++)
			r |= (lanes & (m & -m)) ? 1u << n : 0;
		return r;
	}
};
WS_CG coalesced_group coalesced_threads() { return coalesced_group(__activemask()); }

/* ---- tiles of a known size ---- */
template <unsigned int N, class Parent = void> class thread_block_tile : public thread_group {
	static_assert(N >= 1 && N <= 32 && (N & (N - 1)) == 0, "tiles of 1, 2, 4, 8, 16 or 32 threads are supported");
	WS_CG thread_block_tile(unsigned int p, unsigned int n) : thread_group(TILE, tile_mask(), p, n) {}
	template <unsigned int M, class P> friend WS_CG thread_block_tile<M, P> tiled_partition(const P &);
	static WS_CG unsigned int first() { return details::lane() & ~(N - 1); }
	static WS_CG unsigned int tile_mask() { return N == 32 ? 0xffffffffu : ((1u << (N & 31)) - 1) << first(); }
public:
	template <class P> WS_CG thread_block_tile(const thread_block_tile<N, P> &t)
		: thread_group(TILE, tile_mask(), t.meta_group_rank(), t.meta_group_size()) {}
	static constexpr WS_CG unsigned int size() { return N; }
	static constexpr WS_CG unsigned int num_threads() { return N; }
	static WS_CG unsigned int thread_rank() { return details::lane() & (N - 1); }
	WS_CG unsigned int meta_group_rank() const { return part; }
	WS_CG unsigned int meta_group_size() const { return parts; }
	WS_CG unsigned int lane_mask() const { return tile_mask(); }
	WS_CG void sync() const { __syncwarp(tile_mask()); }
	template <class T> WS_CG T shfl(T v, int rank) const
	{
		return details::shuffle_any<details::IDX>(tile_mask(), v, (unsigned int)rank, N);
	}
	template <class T> WS_CG T shfl_up(T v, unsigned int by) const
	{
		return details::shuffle_any<details::UP>(tile_mask(), v, by, N);
	}
	template <class T> WS_CG T shfl_down(T v, unsigned int by) const
	{
		return details::shuffle_any<details::DOWN>(tile_mask(), v, by, N);
	}
	template <class T> WS_CG T shfl_xor(T v, unsigned int by) const
	{
		return details::shuffle_any<details::XOR>(tile_mask(), v, by, N);
	}
	WS_CG int any(int p) const { return __ballot_sync(tile_mask(), p) != 0; }
	WS_CG int all(int p) const { return __ballot_sync(tile_mask(), p) == tile_mask(); }
	WS_CG unsigned int ballot(int p) const { return __ballot_sync(tile_mask(), p) >> first(); }
	template <class T> WS_CG unsigned int match_any(T v) const { return __match_any_sync(tile_mask(), v) >> first(); }
	template <class T> WS_CG unsigned int match_all(T v, int &p) const
	{
		return __match_all_sync(tile_mask(), v, &p) >> first();
	}
};

template <unsigned int N, class P> WS_CG thread_block_tile<N, P> tiled_partition(const P &parent)
{
	return thread_block_tile<N, P>((unsigned int)parent.thread_rank() / N, ((unsigned int)parent.size() + N - 1) / N);
}

/* ---- parts whose size or members are known at run time ---- */
WS_CG coalesced_group tiled_partition(const thread_block &g, unsigned int n)
{
	unsigned int mask = n >= 32 ? 0xffffffffu : ((1u << n) - 1) << (details::lane() & ~(n - 1));
	return coalesced_group(mask & __activemask(), g.thread_rank() / n, (g.size() + n - 1) / n);
}
WS_CG coalesced_group tiled_partition(const coalesced_group &g, unsigned int n)
{
	unsigned int mask = 0, from = g.thread_rank() / n * n;
	for (unsigned int i = from; i < from + n && i < g.size(); i++)
		mask |= 1u << details::member(g.lane_mask(), i);
	return coalesced_group(mask, g.thread_rank() / n, (g.size() + n - 1) / n);
}
template <class G> WS_CG coalesced_group binary_partition(const G &g, bool pred)
{
	unsigned int mask = g.lane_mask(), yes = __ballot_sync(mask, pred);
	return coalesced_group(pred ? yes : mask & ~yes, pred ? 0 : 1, 2);
}
template <class L, class G> WS_CG coalesced_group labeled_partition(const G &g, L label)
{
	return coalesced_group(__match_any_sync(g.lane_mask(), label));
}

/* ---- free functions ---- */
template <class G> WS_CG void sync(const G &g) { g.sync(); }
template <class G> WS_CG unsigned long long thread_rank(const G &g) { return g.thread_rank(); }
template <class G> WS_CG unsigned long long group_size(const G &g) { return g.size(); }

template <class G> WS_CG bool elect_one(const G &g) { return g.thread_rank() == 0; }
template <class G, class F> WS_CG void invoke_one(const G &g, F &&f)
{
	if (g.thread_rank() == 0)
		f();
}

} /* cooperative_groups */

#include "cooperative_groups/memcpy_async.h"
#include "cooperative_groups/reduce.h"
#include "cooperative_groups/scan.h"

#undef WS_CG

#pragma clang attribute pop

#endif

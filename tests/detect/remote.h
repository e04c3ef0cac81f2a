/* remote.h - mbarrier objects and shared memory of other blocks of a cluster, and what completes there, in short words (bulk.h). */
#include "bulk.h"

/* The address of *p in the block of a rank. */
static __device__ __forceinline__ unsigned at_rank(const void *p, unsigned rank)
{
	unsigned there;

	PTX("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : AT(p), "r"(rank));
	return there;
}

static __device__ __forceinline__ unsigned cluster_rank()
{
	unsigned rank;

	PTX("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
	return rank;
}

#define cluster_sync() PTX("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory")
#define fence_init() PTX("fence.mbarrier_init.release.cluster;" ::: "memory")
#define remote_arrive(b) PTX("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" : : "r"(b) : "memory")
#define remote_arrive_relaxed(b) PTX("mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [%0];" : : "r"(b) : "memory")
#define store_async(to, value, b) \
	PTX("st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];" : : "r"(to), "r"(value), "r"(b) : "memory")
#define add_async(to, value, b) \
	PTX("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%0], %1, [%2];" : : "r"(to), "r"(value), "r"(b) : "memory")
/* Bulk copies from shared memory to that of another block; from global memory to that of several. */
#define bulk_send(to, from, bytes, b) \
	PTX("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" \
	    : : "r"(to), AT(from), "r"(bytes), "r"(b) : "memory")
#define bulk_multicast(to, from, bytes, b, ranks) \
	PTX("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, [%3], %4;" \
	    : : AT(to), "l"(__cvta_generic_to_global(from)), "r"(bytes), AT(b), "h"((short)(ranks)) : "memory")
/* Adds shared memory to global memory; completes in groups. */
#define bulk_add(to, from, bytes) \
	PTX("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.s32 [%0], [%1], %2; cp.async.bulk.commit_group;" \
	    : : "l"(__cvta_generic_to_global(to)), AT(from), "r"(bytes) : "memory")

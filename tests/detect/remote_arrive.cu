// A block is told at its own mbarrier object that its word has been read, and writes it again: the arrival does not release.
// category: 10
// racy: (RAW|WAR) shared missing-fence
#define BLOCKS 2
#define THREADS 32
#include "one.h"
#include "remote.h"

__global__ void __cluster_dims__(2, 1, 1) kernel(int *data, int *out)
{
	__shared__ int s[32];
	__shared__ mbarrier empty;
	int t = threadIdx.x;
	unsigned other = cluster_rank() ^ 1;

	s[t] = t;
	if (t == 0)
		mbarrier_init(&empty, 32);
	cluster_sync();
	PTX("ld.shared::cluster.u32 %0, [%1];" : "=r"(out[blockIdx.x * 32 + t]) : "r"(at_rank(&s[t], other)) : "memory");
	ONLY_FIXED(remote_arrive(at_rank(&empty, other));)
	ONLY_RACY(remote_arrive_relaxed(at_rank(&empty, other));)
	mbarrier_wait(&empty, 0);
	s[t] = 2 * t;
	cluster_sync();
}

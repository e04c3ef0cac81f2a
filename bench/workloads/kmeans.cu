/* KMEANS: k-means clustering of 100 points of 3 coordinates (Holey 2015, table 6.2), designed for one block:
 * threads find the nearest centre of their points, then a thread a cluster moves its centre. racy: several blocks
 * are launched to scale the work up; all of them move the same centres. */
#include "workload.cuh"

enum { POINTS = 100, DIM = 3, K = 5, ROUNDS = 6, THREADS = 128 };

__global__ void kmeans(const float *points, float *centre, int *member, int *moved)
{
	__shared__ int mine[THREADS];
	int t = threadIdx.x;

	for (int round = 0; round < ROUNDS; round++) {
		if (t < POINTS) {
			float nearest = 1e30f;

			for (int k = 0; k < K; k++) {
				float d = 0;

				for (int i = 0; i < DIM; i++)
					d += (points[t * DIM + i] - centre[k * DIM + i]) * (points[t * DIM + i] - centre[k * DIM + i]);
				if (d < nearest) {
					nearest = d;
					mine[t] = k;
				}
			}
			member[t] = mine[t];
		}
		__syncthreads();
		if (t < K) {
			float sum[DIM] = {0};
			int n = 0;

			for (int p = 0; p < POINTS; p++) {
				if (mine[p] != t)
					continue;
				for (int i = 0; i < DIM; i++)
					sum[i] += points[p * DIM + i];
				n++;
			}
			for (int i = 0; i < DIM && n; i++)
				centre[t * DIM + i] = sum[i] / n;
			moved[blockIdx.x * K + t] = n;
		}
		BARRIER(23);
	}
}

/* Sizes of the clusters, a block a cluster: where a race between blocks is put in. */
__global__ void sizes(const int *member, int *size)
{
	__shared__ int n;

	if (threadIdx.x == 0)
		n = 0;
	__syncthreads();
	if (threadIdx.x < POINTS && member[threadIdx.x] == (int)blockIdx.x)
		atomicAdd(&n, 1);
	__syncthreads();
	if (threadIdx.x == 0)
		size[blockIdx.x] = n;
	if (threadIdx.x == 1)
		TRESPASS(35, size[(blockIdx.x + 1) % gridDim.x], size[blockIdx.x]);
}

int main(int argc, char **argv)
{
	OPTIONS({23, 23}, {35, 35});
	float points[POINTS * DIM];
	int member[POINTS], size[K], want[K] = {0};
	int launches = (o.large ? 200 : 1) * o.scale;        /* more only move the centres on */
	bool right = true;

	for (int i = 0; i < POINTS * DIM; i++)
		points[i] = (float)(noise(i) % 256);
	float *d_points = device(POINTS * DIM, points), *centre = device(K * DIM, points);
	int *d_member = device<int>(POINTS), *d_size = device<int>(K);
	int *moved = device<int>(4 * K);
	for (int i = 0; i < launches; i++)
		kmeans<<<o.racy ? 4 : 1, THREADS>>>(d_points, centre, d_member, moved);
	sizes<<<K, THREADS>>>(d_member, d_size);
	back(member, d_member, POINTS);
	back(size, d_size, K);
	for (int i = 0; i < POINTS; i++)
		if (member[i] >= 0 && member[i] < K)
			want[member[i]]++;
	for (int k = 0; k < K; k++)
		right = right && size[k] == want[k] && want[k] > 0;
	return finish("KMEANS", right, o);
}

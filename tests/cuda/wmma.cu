// Matrix products through nvcc's mma.h, in global and shared memory.
// ways: nvcc
// flags: -arch=sm_80
// expect: ok
#include "check.h"
#include <mma.h>
#include <cuda_fp16.h>

using namespace nvcuda;

enum { N = 64, T = 16 };

/* one warp a tile of 16 x 16 of c = a * b */
__global__ void multiply(const half *a, const half *b, float *c)
{
	__shared__ half part[T * T];
	wmma::fragment<wmma::matrix_a, T, T, T, half, wmma::row_major> fa;
	wmma::fragment<wmma::matrix_b, T, T, T, half, wmma::col_major> fb;
	wmma::fragment<wmma::accumulator, T, T, T, float> fc;
	int row = blockIdx.y * T, col = blockIdx.x * T;
	wmma::fill_fragment(fc, 1.0f);
	for (int k = 0; k < N; k += T) {
		for (int i = threadIdx.x; i < T * T; i += 32)
			part[i] = b[(col + i / T) * N + k + i % T];
		__syncwarp();
		wmma::load_matrix_sync(fa, a + row * N + k, N);
		wmma::load_matrix_sync(fb, part, T);
		wmma::mma_sync(fc, fa, fb, fc);
		__syncwarp();
	}
	for (int i = 0; i < fc.num_elements; i++)
		fc.x[i] *= 2;
	wmma::store_matrix_sync(c + row * N + col, fc, N, wmma::mem_row_major);
}

int main()
{
	static half a[N * N], b[N * N];
	static float c[N * N];
	half *da, *db;
	float *dc;
	for (int i = 0; i < N * N; i++) {
		a[i] = __float2half((float)(i * 7 % 11 - 5));
		b[i] = __float2half((float)(i * 5 % 13 - 6));
	}
	CHECK(cudaMalloc(&da, sizeof a));
	CHECK(cudaMalloc(&db, sizeof b));
	CHECK(cudaMalloc(&dc, sizeof c));
	CHECK(cudaMemcpy(da, a, sizeof a, cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(db, b, sizeof b, cudaMemcpyHostToDevice));
	multiply<<<dim3(N / T, N / T), 32>>>(da, db, dc);
	CHECK(cudaMemcpy(c, dc, sizeof c, cudaMemcpyDeviceToHost));
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++) {
			float sum = 1;
			for (int k = 0; k < N; k++)
				sum += (float)(((i * N + k) * 7 % 11 - 5) * ((j * N + k) * 5 % 13 - 6));
			IS((int)c[i * N + j], (int)(2 * sum));
		}
	printf("ok\n");
	return 0;
}

/* transpose.cu - transposes a matrix through a tile in shared memory, without the barrier in between.
 *
 * A thread reads an element that another thread of the block has loaded. Both are in flight at once unless
 * __syncthreads() stands between loading the tile and reading it.
 */
#include "check.h"

enum { TILE = 16, SIZE = 64 };

__global__ void transpose(const float *in, float *out)
{
	__shared__ float tile[TILE][TILE + 1];
	int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;

	tile[threadIdx.y][threadIdx.x] = in[y * SIZE + x];
#ifdef FIXED
	__syncthreads();
#endif
	x = blockIdx.y * TILE + threadIdx.x;
	y = blockIdx.x * TILE + threadIdx.y;
	out[y * SIZE + x] = tile[threadIdx.x][threadIdx.y];
}

int main()
{
	static float in[SIZE][SIZE], out[SIZE][SIZE];
	float *d_in, *d_out;
	int right = 0;

	for (int i = 0; i < SIZE * SIZE; i++)
		in[i / SIZE][i % SIZE] = (float)i;
	CHECK(cudaMalloc(&d_in, sizeof in));
	CHECK(cudaMalloc(&d_out, sizeof out));
	CHECK(cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice));
	transpose<<<dim3(SIZE / TILE, SIZE / TILE), dim3(TILE, TILE)>>>(d_in, d_out);
	CHECK(cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost));
	for (int i = 0; i < SIZE; i++)
		for (int j = 0; j < SIZE; j++)
			right += out[i][j] == in[j][i];
	CHECK(cudaFree(d_in));
	CHECK(cudaFree(d_out));
	return verdict("elements in place", right, SIZE * SIZE);
}

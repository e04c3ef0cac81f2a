/* histogram_plain.cu - counts letters in global memory with a plain increment.
 *
 * bins[c]++ is a read, an addition and a write. Threads of all blocks do it to the same bins at the same time, and
 * increments get lost: a data race in global memory, between blocks as well as inside one. atomicAdd is the repair.
 */
#include "check.h"

enum { THREADS = 128, BLOCKS = 8, N = 4096, BINS = 26 };

__global__ void count_letters(const char *text, int n, unsigned *bins)
{
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
		int letter = text[i] - 'a';
#ifdef FIXED
		atomicAdd(&bins[letter], 1);
#else
		bins[letter]++;
#endif
	}
}

int main()
{
	static char text[N];
	unsigned bins[BINS], *d_bins, total = 0;
	char *d_text;

	for (int i = 0; i < N; i++)
		text[i] = 'a' + i * 7 % BINS;
	CHECK(cudaMalloc(&d_text, N));
	CHECK(cudaMalloc(&d_bins, sizeof bins));
	CHECK(cudaMemcpy(d_text, text, N, cudaMemcpyHostToDevice));
	CHECK(cudaMemset(d_bins, 0, sizeof bins));
	count_letters<<<BLOCKS, THREADS>>>(d_text, N, d_bins);
	CHECK(cudaMemcpy(bins, d_bins, sizeof bins, cudaMemcpyDeviceToHost));
	for (unsigned b : bins)
		total += b;
	CHECK(cudaFree(d_text));
	CHECK(cudaFree(d_bins));
	return verdict("letters counted", total, N);
}

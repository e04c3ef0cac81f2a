/* auto.cu - marked sections with engine auto: many launches, each right whichever engine they run with.
 *
 *     auto [launches=N]   Ends with 1 if a sum is wrong. */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <warpsafe/atomic.h>

enum { WORDS = 64, BLOCKS = 4, THREADS = 32 };

/* Moves one unit from word to word; the sum stays. */
__global__ void move(int *words, int launch)
{
	unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
	int from = (t * 7 + launch) % WORDS, to = (t * 13 + 5 * launch + 1) % WORDS;

	WS_ATOMIC {
		words[from]--;
		words[to]++;
		words[WORDS] = words[WORDS] + 1;
	}
}

int main(int argc, char **argv)
{
	int launches = argc > 1 && !strncmp(argv[1], "launches=", 9) ? atoi(argv[1] + 9) : 8, words[WORDS + 1] = { 0 }, *device, sum = 0;

	if (cudaMalloc((void **)&device, sizeof words) || cudaMemset(device, 0, sizeof words))
		return 2;
	for (int k = 0; k < launches; k++)
		move<<<BLOCKS, THREADS>>>(device, k);
	if (cudaMemcpy(words, device, sizeof words, cudaMemcpyDeviceToHost))
		return 2;
	for (int k = 0; k < WORDS; k++)
		sum += words[k];
	if (sum || words[WORDS] != launches * BLOCKS * THREADS)
		return printf("sum %d, %d sections instead of %d\n", sum, words[WORDS], launches * BLOCKS * THREADS), 1;
	return 0;
}

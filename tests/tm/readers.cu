/* readers.cu - marked sections that only read, beside others that write the same words: how many of them abort is told by
 * `warpsafe tm --stats=yes`. Every other thread reads; the sum of what it sees is always the same.
 *
 *     readers [words=N] [blocks=N] [threads=N] [rounds=N] */
#include <cstdio>
#include <cuda_runtime.h>
#define WS_ATOMIC_QUIET
#include <warpsafe/atomic.h>

enum { MOST = 64 };
__device__ int word[MOST];
__device__ unsigned wrong, seen;

/* Not inlined, with variables of its own in local memory. */
__device__ __noinline__ int add_up(const int *p, unsigned n)
{
	int kept[4] = { 0, 0, 0, 0 };

	for (unsigned i = 0; i < n; i++)
		kept[i % 4] += p[i];
	return kept[0] + kept[1] + kept[2] + kept[3];
}

__global__ void work(unsigned words, unsigned rounds)
{
	unsigned t = blockIdx.x * blockDim.x + threadIdx.x;

	for (unsigned i = 0; i < rounds; i++)
		if (t % 2) {
			volatile int sum[3] = { 5, 10, 20 };    // in local memory: put back when the section is gone through again

			WS_ATOMIC {
				sum[2] = sum[2] + 1;
				sum[words % 2] = sum[words % 2] + add_up(word, words);
			}
			if (sum[0] != 5 || sum[1] != 10 || sum[2] != 21)
				atomicAdd(&wrong, 1);
			atomicAdd(&seen, 1);
		} else {
			WS_ATOMIC {
				word[(t / 2 + i) % words]++;
				word[(t / 2 + i + 1) % words]--;
			}
		}
}

int main(int argc, char **argv)
{
	unsigned words = 2, blocks = 4, threads = 16, rounds = 8, bad = 1, n = 0;

	for (int i = 1; i < argc; i++)
		if (sscanf(argv[i], "words=%u", &words) + sscanf(argv[i], "blocks=%u", &blocks) + sscanf(argv[i], "threads=%u", &threads) +
		    sscanf(argv[i], "rounds=%u", &rounds) < 1)
			return 2;
	if (words > MOST)
		return 2;
	work<<<blocks, threads>>>(words, rounds);
	if (cudaMemcpyFromSymbol(&bad, wrong, sizeof bad) || cudaMemcpyFromSymbol(&n, seen, sizeof n))
		return 3;
	printf("%u sections saw something else; %u sections\n", bad, n);
	return bad || n != blocks * threads / 2 * rounds;
}

/* watched.cu - for `warpsafe tm --check=history`: sections, and accesses outside of them.
 *
 *     watched CASE [words=N] [rounds=N] [seed=N]
 *
 * right: nothing is wrong; parts: neither, and some parts of sections are undone alone. write, atomic, read, torn: an access outside of sections that is not kept apart from them. Ends with 0
 * whatever came out: it is the tool that must notice. */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#define WS_ATOMIC_QUIET
#include <warpsafe/atomic.h>

enum { MOST = 64 };
__device__ int word[MOST];
__device__ __align__(8) int half[2];

__device__ unsigned step(unsigned *r) { return (*r = *r * 1664525u + 1013904223u) >> 8; }

/* Reads some words, and writes about half of them. */
__device__ void visit(unsigned words, unsigned *r)
{
	unsigned n = 1 + step(r) % 3, only = step(r) % 4 == 0;

	for (unsigned i = 0; i < n; i++) {
		int *p = &word[step(r) % words], value = *p;

		if (!only && step(r) % 2)
			*p = value + 1;
	}
}

__global__ void right(unsigned words, unsigned rounds, unsigned seed)
{
	unsigned r = seed * 2654435761u + (blockIdx.x * blockDim.x + threadIdx.x) * 40503u;

	for (unsigned i = 0; i < rounds; i++) {
		unsigned from = step(&r);

		WS_ATOMIC {
			r = from;
			visit(words, &r);
		}
	}
}

/* What a part has seen decides whether it is undone, and so counts for the whole. */
__global__ void parts(unsigned words, unsigned rounds, unsigned seed)
{
	unsigned r = seed * 2654435761u + (blockIdx.x * blockDim.x + threadIdx.x) * 40503u;

	for (unsigned i = 0; i < rounds; i++) {
		unsigned from = step(&r);

		WS_ATOMIC {
			r = from;
			visit(words, &r);
			WS_ATOMIC {
				visit(words, &r);
				if (word[step(&r) % words] % 3 == 0)
					ws_tx_abort();
			}
			WS_EITHER {
				visit(words, &r);
				if (word[step(&r) % words] % 2)
					ws_tx_retry();
			} WS_OR_ELSE {
				visit(words, &r);
			}
		}
	}
}

/* The first thread of each block goes without. */
__global__ void beside_write(unsigned rounds)
{
	for (unsigned i = 0; i < rounds; i++)
		if (threadIdx.x == 0)
			word[0] = word[0] + 1;          // outside, write
		else
			WS_ATOMIC
				word[0] = word[0] + 1;  // inside, write
}

__global__ void beside_atomic(unsigned rounds)
{
	for (unsigned i = 0; i < rounds; i++)
		if (threadIdx.x == 0)
			atomicAdd(&word[0], 1);         // outside, atomic
		else
			WS_ATOMIC
				word[0] = word[0] + 1;  // inside, atomic
}

/* Sections that are in each other's way at their second word, when they have written the first one. */
__global__ void beside_read(unsigned rounds, int *out)
{
	unsigned first = threadIdx.x % 2;

	for (unsigned i = 0; i < rounds; i++)
		if (threadIdx.x == 0) {
			for (unsigned k = 0; k < 50; k++)
				*out += *(volatile int *)&word[0];      // outside, read
		} else {
			WS_ATOMIC {
				word[first]++;                  // inside, read
				word[!first]++;
			}
		}
}

/* Two words that sections write together, read in one access outside. */
__global__ void beside_torn(unsigned rounds, long long *out)
{
	unsigned first = threadIdx.x % 2;       // so that they stay two accesses

	for (unsigned i = 0; i < rounds; i++)
		if (threadIdx.x == 0) {
			for (unsigned k = 0; k < 50; k++)
				*out += *(volatile long long *)half;    // outside, torn
		} else {
			WS_ATOMIC {
				half[first]++;                  // inside, torn
				half[!first]++;
			}
		}
}

int main(int argc, char **argv)
{
	unsigned words = 6, rounds = 6, seed = 1;
	const char *kind = argc > 1 ? argv[1] : "";
	void *out;

	for (int i = 2; i < argc; i++)
		if (sscanf(argv[i], "words=%u", &words) + sscanf(argv[i], "rounds=%u", &rounds) + sscanf(argv[i], "seed=%u", &seed) < 1)
			return 2;
	if (words > MOST || cudaMalloc(&out, 64) || cudaMemset(out, 0, 64))
		return 2;
	if (!strcmp(kind, "right"))
		right<<<2, 32>>>(words, rounds, seed);
	else if (!strcmp(kind, "parts"))
		parts<<<2, 16>>>(words, rounds, seed);
	else if (!strcmp(kind, "write"))
		beside_write<<<2, 32>>>(rounds);
	else if (!strcmp(kind, "atomic"))
		beside_atomic<<<2, 32>>>(rounds);
	else if (!strcmp(kind, "read"))
		beside_read<<<2, 8>>>(rounds, (int *)out);
	else if (!strcmp(kind, "torn"))
		beside_torn<<<2, 8>>>(rounds, (long long *)out);
	else
		return 2;
	return cudaDeviceSynchronize() ? 3 : 0;
}

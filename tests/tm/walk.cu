/* walk.cu - what a walk through a list costs in a marked section while others commit: one thread walks, with nobody in its way, and the others
 * change words of their own until it is done. All take turns, so what they have committed by then says how long it took. A walk four
 * times as long must take about four times as long: one that looks at all it has read at each step takes sixteen times.
 *
 *     walk [N] */
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#define WS_ATOMIC_QUIET
#include <warpsafe/atomic.h>

struct node { node *next; int value; };

__global__ void link(node *list, int n)
{
	for (int i = 0; i < n; i++) {
		list[i].next = i + 1 < n ? &list[i + 1] : nullptr;
		list[i].value = 1;
	}
}

__global__ void walk(node *list, int *own, volatile int *done, int *sum)
{
	if (blockIdx.x == 0) {
		int found = 0;

		WS_ATOMIC {
			found = 0;
			for (node *at = list; at; at = at->next)
				found += at->value;
		}
		*sum = found;
		*done = 1;
	} else {
		while (!*done)
			WS_ATOMIC
				own[blockIdx.x * 16]++;
	}
}

/* Sections that the others have committed during a walk of n nodes. */
static long others(int n)
{
	enum { BLOCKS = 4 };
	int own[BLOCKS * 16] = { 0 }, sum = 0, *words;
	long all = 0;
	node *list;

	if (cudaMalloc(&list, n * sizeof *list) || cudaMalloc(&words, sizeof own + 2 * sizeof *words) ||
	    cudaMemset(words, 0, sizeof own + 2 * sizeof *words))
		exit(9);
	link<<<1, 1>>>(list, n);
	walk<<<BLOCKS, 1>>>(list, words, words + BLOCKS * 16, words + BLOCKS * 16 + 1);
	if (cudaMemcpy(own, words, sizeof own, cudaMemcpyDeviceToHost) ||
	    cudaMemcpy(&sum, words + BLOCKS * 16 + 1, sizeof sum, cudaMemcpyDeviceToHost) || sum != n)
		exit(9);
	for (int v : own)
		all += v;
	cudaFree(list);
	cudaFree(words);
	return all;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 60;
	long few = others(n), many = others(4 * n);

	printf("walk: %ld sections of others beside %d nodes, %ld beside %d\n", few, n, many, 4 * n);
	return many > 8 * few;
}

// Lanes of a warp that have the same digit take places one behind the other: the last of them adds for all, and tells the
// others by a shuffle, as sorts do it. A check under that condition must not part the warp: the shuffle brings together
// whom the compiler takes to be together.
// category: 1
// racy: none
#define THREADS 128
#include "one.h"

enum { ITEMS = 8, DIGITS = 4, WARPS = THREADS / 32 };

__global__ void kernel(int *data, int *out)
{
	__shared__ int next[WARPS][DIGITS], place[THREADS * ITEMS];
	unsigned t = threadIdx.x, lane = t % 32, warp = t / 32;
	int rank[ITEMS], digit[ITEMS];

	if (lane < DIGITS)
		next[warp][lane] = 0;
	__syncwarp();
	for (unsigned k = 0; k < ITEMS; k++) {                   /* how many there are */
		digit[k] = (t * 7 + k * 5 + (t >> 2)) % DIGITS;
		atomicAdd(&next[warp][digit[k]], 1);
	}
	__syncthreads();
	if (t == 0)
		for (int d = 0, sum = 0; d < DIGITS; d++)
			for (int w = 0; w < WARPS; w++) {
				int n = next[w][d];

				next[w][d] = sum;
				sum += n;
			}
	__syncthreads();
	for (unsigned k = 0; k < ITEMS; k++) {
		unsigned same = 0xffffffffu, last;
		int first = 0;

		for (int b = 1; b < DIGITS; b *= 2) {
			unsigned have = __ballot_sync(0xffffffffu, digit[k] & b);

			same &= digit[k] & b ? have : ~have;
		}
		last = 31 - __clz(same);
		if (lane == last)
			first = atomicAdd(&next[warp][digit[k]], __popc(same));
		rank[k] = __shfl_sync(0xffffffffu, first, last) + __popc(same & ((1u << lane) - 1));
	}
	__syncthreads();
	for (unsigned k = 0; k < ITEMS; k++)
		place[rank[k]] = t;
	__syncthreads();
	out[t] = place[t];
}

/* HIST: histogram of 64 bins (Holey 2015, table 6.2). Each thread counts in bytes of its own in shared memory; one
 * thread a bin adds them up for the block, and a second kernel adds up the blocks. */
#include "workload.cuh"

enum { BINS = 64, THREADS = 64, EACH = 240 };        /* EACH items a thread: a byte does not overflow */

__global__ void hist(const unsigned char *data, int n, unsigned *part)
{
	__shared__ unsigned char count[BINS * THREADS];
	/* threads 16 apart share a word: banks of 4 bytes see 16 different words in a row */
	int t = threadIdx.x, mine = (t & 15) << 2 | t >> 4, base = blockIdx.x * THREADS * EACH;
	unsigned sum = 0;

	for (int i = t; i < BINS * THREADS / 4; i += THREADS)
		((unsigned *)count)[i] = 0;
	BARRIER(8);
	for (int i = 0; i < EACH; i++) {
		int at = base + i * THREADS + t;

		if (at < n)
			count[(data[at] & (BINS - 1)) * THREADS + mine]++;
	}
	BARRIER(9);
	for (int i = 0; i < THREADS; i++)
		sum += count[t * THREADS + ((i + t) & (THREADS - 1))];
	part[blockIdx.x * BINS + t] = sum;
	if (t == 0)
		TRESPASS(28, (int)part[(blockIdx.x + 1) % gridDim.x * BINS], part[0]);
}

__global__ void merge(const unsigned *part, int parts, unsigned *result)
{
	__shared__ unsigned sum[THREADS];
	int t = threadIdx.x;

	sum[t] = 0;
	for (int i = t; i < parts; i += THREADS)
		sum[t] += part[i * BINS + blockIdx.x];
	BARRIER(10);
	for (int half = THREADS / 2; half > 0; half /= 2) {
		if (t < half)
			sum[t] += sum[t + half];
		BARRIER(11);
	}
	if (t == 0)
		result[blockIdx.x] = sum[0];
	if (t == 1)
		TRESPASS(29, (int)result[(blockIdx.x + 1) % gridDim.x], result[0]);
}

int main(int argc, char **argv)
{
	OPTIONS({8, 11}, {28, 29});
	int n = (o.quick ? 100000 : 16 << 20) * o.scale, blocks = (n + THREADS * EACH - 1) / (THREADS * EACH);
	unsigned char *data = new unsigned char[n];
	unsigned want[BINS] = {0}, got[BINS];

	for (int i = 0; i < n; i++)
		want[(data[i] = (unsigned char)noise(i)) & (BINS - 1)]++;
	unsigned *part = device<unsigned>(blocks * BINS), *result = device<unsigned>(BINS);
	hist<<<blocks, THREADS>>>(device(n, data), n, part);
	merge<<<BINS, THREADS>>>(part, blocks, result);
	back(got, result, BINS);
	return finish("HIST", !memcmp(want, got, sizeof want), o);
}

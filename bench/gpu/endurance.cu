/* endurance.cu - what a race detector on a GPU must live through. Each part has one race, in the last thing that it does:
 * it must be told, and nothing else, and memory must not grow.
 *
 *     endurance launches N     N launches in a row
 *     endurance streams N      N launches in each of 64 streams, made by 4 threads
 *     endurance grid N         one launch of N blocks of 1,024 threads (2097152: 2^31 threads)
 *     endurance seconds N      one launch that takes N seconds, with a barrier every few microseconds
 *     endurance barriers N     one launch of a grid that fills the GPU, N seconds of copies through shared memory with two barriers
 *                              a round and nothing else; its race is in global memory
 *     endurance rounds N       the same where each thread stores a word of its own in global memory each round
 *
 * The last line says how much memory of the host and of the GPU was in use in the middle and at the end. */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>
#include <unistd.h>
#include <cuda_runtime.h>

#include "../common.cuh"

typedef unsigned long long u64;
enum { STREAMS = 64, HOST_THREADS = 4 };

/* ---- memory ---- */
struct in_use {
	size_t host, gpu;                /* bytes */
};

static in_use memory_in_use()
{
	size_t pages = 0, resident = 0, free_bytes = 0, all = 0;
	FILE *f = fopen("/proc/self/statm", "r");

	CHECK(cudaDeviceSynchronize());
	if (f && fscanf(f, "%zu %zu", &pages, &resident) == 2)
		resident *= (size_t)sysconf(_SC_PAGESIZE);
	if (f)
		fclose(f);
	CHECK(cudaMemGetInfo(&free_bytes, &all));
	return { resident, all - free_bytes };
}

/* ---- kernels ---- */
/* Each block adds its threads' numbers; `race`: without the barrier before the sum is read. */
__global__ void step(u64 *sum, int race)
{
	__shared__ unsigned part[64];

	part[threadIdx.x] = threadIdx.x + 1;
	if (!race)
		__syncthreads();
	if (threadIdx.x == 0) {
		u64 s = 0;

		for (unsigned k = 0; k < blockDim.x; k++)
			s += part[k];
		*sum += s;
	}
}

/* Each block leaves what its threads add up to; the last one's last threads write one word. */
__global__ void wide(u64 *sum, unsigned *word)
{
	unsigned count = __syncthreads_count(threadIdx.x % 2);

	if (threadIdx.x == 0)
		atomicAdd(sum, (u64)count);
	if (blockIdx.x == gridDim.x - 1 && threadIdx.x >= blockDim.x - 2)
		*word = threadIdx.x;
}

__global__ void slow(u64 nanoseconds, u64 *sum)
{
	__shared__ unsigned neighbour[64];
	__shared__ u64 end;
	u64 now, s = 0;

	if (threadIdx.x == 0) {
		asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
		end = now + nanoseconds;
	}
	__syncthreads();
	for (bool goes_on = true; goes_on; ) {
		neighbour[threadIdx.x] = threadIdx.x;
		if (threadIdx.x == 0)
			asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
		goes_on = __syncthreads_or(threadIdx.x == 0 && now < end);
		s += neighbour[(threadIdx.x + 1) % 64];
		__syncthreads();
	}
	neighbour[threadIdx.x] = 1;
	s += neighbour[threadIdx.x ^ 32];        /* the race */
	sum[threadIdx.x] = s;
}

/* Every LOOK rounds a thread of each block looks at the time. */
enum { MEETING = 256, LOOK = 1024 };

template <bool writes>
__global__ void meet(u64 nanoseconds, unsigned *words, unsigned *word, u64 *rounds)
{
	__shared__ unsigned neighbour[MEETING], ends;
	unsigned t = threadIdx.x, v = t;
	u64 now, end = 0, n = 0;

	if (t == 0) {
		asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
		end = now + nanoseconds;
		ends = 0;
	}
	for (bool goes_on = true; goes_on; n++) {
		neighbour[t] = v;
		if (t == 0 && n % LOOK == 0) {
			asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
			ends = now >= end;
		}
		__syncthreads();
		v = neighbour[(t + v % 2 + 1) % MEETING] + 1;
		goes_on = !ends;
		if (writes)
			words[blockIdx.x * MEETING + t] = v;
		__syncthreads();
	}
	if (t == 0)
		atomicAdd(rounds, n);
	if (t == 0 && blockIdx.x < 2)
		*word = blockIdx.x;              /* the race */
}

/* ---- parts ---- */
static u64 *zeros(size_t n)
{
	u64 *p;

	CHECK(cudaMalloc((void **)&p, n * sizeof *p));
	CHECK(cudaMemset(p, 0, n * sizeof *p));
	return p;
}

static u64 first_of(const u64 *p)
{
	u64 v;

	CHECK(cudaDeviceSynchronize());
	CHECK(cudaMemcpy(&v, p, sizeof v, cudaMemcpyDeviceToHost));
	return v;
}

enum { OF_STEP = 64 * 65 / 2 };

static bool launches(u64 n, in_use *middle)
{
	u64 *sum = zeros(1);

	for (u64 k = 0; k < n; k++) {
		step<<<1, 64>>>(sum, k == n - 1);
		if (k == n / 2)
			*middle = memory_in_use();
	}
	return first_of(sum) / OF_STEP >= n - 1;
}

static void some_streams(int which, u64 n, bool last, u64 *sums)
{
	cudaStream_t streams[STREAMS / HOST_THREADS];

	for (cudaStream_t &s : streams)
		CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
	for (u64 k = 0; k < n; k++)
		for (int s = 0; s < STREAMS / HOST_THREADS; s++) {
			int number = which * (STREAMS / HOST_THREADS) + s;

			step<<<1, 64, 0, streams[s]>>>(sums + number, last && k == n - 1 && number == STREAMS - 1);
		}
	for (cudaStream_t &s : streams)
		CHECK(cudaStreamSynchronize(s));
}

static bool streams(u64 n, in_use *middle)
{
	u64 *sums = zeros(STREAMS);
	bool right = true;

	CHECK(cudaDeviceSynchronize());
	for (int half = 0; half < 2; half++) {
		std::vector<std::thread> threads;

		for (int t = 0; t < HOST_THREADS; t++)
			threads.emplace_back(some_streams, t, half ? n - n / 2 : n / 2, half == 1, sums);
		for (std::thread &t : threads)
			t.join();
		if (!half)
			*middle = memory_in_use();
	}
	for (int s = 0; s < STREAMS; s++)
		right &= first_of(sums + s) / OF_STEP >= n - 2;
	return right;
}

static bool grid(u64 n, in_use *middle)
{
	u64 *sum = zeros(2);

	*middle = memory_in_use();
	wide<<<(unsigned)n, 1024>>>(sum, (unsigned *)(sum + 1));
	return first_of(sum) == n * 512;
}

static bool seconds(u64 n, in_use *middle)
{
	u64 *sum = zeros(64);

	*middle = memory_in_use();
	slow<<<1, 64>>>(n * 1000000000, sum);
	return first_of(sum) > 0;
}

template <bool writes>
static bool meeting(u64 n, in_use *middle)
{
	int processors = 0, each = 0;
	u64 *counts = zeros(2), rounds;
	unsigned *words;

	CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0));
	CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, meet<writes>, MEETING, 0));
	each = each > 2 ? 2 : each;
	words = (unsigned *)zeros((size_t)processors * each * MEETING / 2);
	*middle = memory_in_use();
	meet<writes><<<processors * each, MEETING>>>(n * 1000000000, words, (unsigned *)(counts + 1), counts);
	rounds = first_of(counts);
	printf("%d blocks, %.1f million rounds of blocks\n", processors * each, (double)rounds / 1e6);
	return rounds > 0;
}

int main(int argc, char **argv)
{
	static const struct { const char *name; bool (*run)(u64, in_use *); } parts[] = {
		{ "launches", launches }, { "streams", streams }, { "grid", grid }, { "seconds", seconds },
		{ "barriers", meeting<false> }, { "rounds", meeting<true> },
	};
	u64 n = argc == 3 ? strtoull(argv[2], NULL, 10) : 0;

	for (const auto &p : parts)
		if (n && !strcmp(p.name, argv[1])) {
			in_use middle = { 0, 0 }, end;
			bool right = p.run(n, &middle);

			end = memory_in_use();
			printf("%s %llu: %s; MB of the host %.1f, then %.1f; of the GPU %.1f, then %.1f\n", p.name, n,
			       right ? "right" : "wrong", (double)middle.host / 1e6, (double)end.host / 1e6,
			       (double)middle.gpu / 1e6, (double)end.gpu / 1e6);
			return !right;
		}
	fprintf(stderr, "usage: endurance launches|streams|grid|seconds|barriers|rounds N\n");
	return 2;
}

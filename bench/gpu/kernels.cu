/* kernels.cu - programs that are hard for a race detector, at sizes that fill a large GPU; none has a race.
 *
 *     kernels NAME [SCALE]     one of them; SCALE 1 is for a GPU, less is less work: 0.001 for a simulated one
 *     kernels                  the names
 *
 * Each says "NAME: right" or "NAME: wrong" (status 1). Bytes and operations of each: docs/PERFORMANCE.md. */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>
#include <cuda_runtime.h>

#include "../common.cuh"

typedef unsigned int u32;
enum { THREADS = 256 };

template <typename T> static T *device(size_t n)
{
	T *p;

	CHECK(cudaMalloc((void **)&p, n * sizeof(T)));
	CHECK(cudaMemset(p, 0, n * sizeof(T)));
	return p;
}

template <typename T> static T *device(const std::vector<T> &from)
{
	T *p = device<T>(from.size());

	CHECK(cudaMemcpy(p, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice));
	return p;
}

template <typename T> static std::vector<T> back(const T *p, size_t n)
{
	std::vector<T> v(n);

	CHECK(cudaDeviceSynchronize());
	CHECK(cudaMemcpy(v.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost));
	return v;
}

/* ---- streams ---- */
__global__ void copy_kernel(const u32 *in, u32 *out)
{
	u32 i = blockIdx.x * THREADS + threadIdx.x;

	out[i] = in[i] + 1;
}

static bool copy(double scale)
{
	u32 blocks = (u32)(262144 * scale) + 1, n = blocks * THREADS;
	u32 *in = device<u32>(n), *out = device<u32>(n);

	for (int k = 0; k < 10; k++)
		copy_kernel<<<blocks, THREADS>>>(in, out);
	return back(out, n)[n - 1] == 1;
}

__global__ void stencil_kernel(const float *in, float *out, u32 n)
{
	u32 i = blockIdx.x * THREADS + threadIdx.x;

	if (i > 0 && i < n - 1)
		out[i] = in[i - 1] + in[i] + in[i + 1];
}

static bool stencil(double scale)
{
	u32 blocks = (u32)(131072 * scale) + 1, n = blocks * THREADS;
	float *a = device(std::vector<float>(n, 1.0f)), *b = device<float>(n);

	for (int k = 0; k < 10; k++)
		stencil_kernel<<<blocks, THREADS>>>(a, b, n);
	return back(b, n)[1] == 3.0f;
}

/* ---- shared memory ---- */
__global__ void matmul_kernel(const float *a, const float *b, float *c, u32 n)
{
	__shared__ float as[16][16], bs[16][16];
	u32 row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
	float sum = 0;

	for (u32 k = 0; k < n; k += 16) {
		as[threadIdx.y][threadIdx.x] = a[row * n + k + threadIdx.x];
		bs[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + col];
		__syncthreads();
		for (u32 i = 0; i < 16; i++)
			sum += as[threadIdx.y][i] * bs[i][threadIdx.x];
		__syncthreads();
	}
	c[row * n + col] = sum;
}

static bool matmul(double scale)
{
	u32 n = scale >= 1 ? 2048 : scale > 0.1 ? 512 : 64;
	float *a = device(std::vector<float>(n * n, 1.0f)), *b = device(std::vector<float>(n * n, 2.0f));
	float *c = device<float>(n * n);

	matmul_kernel<<<dim3(n / 16, n / 16), dim3(16, 16)>>>(a, b, c, n);
	return back(c, n * n)[n + 1] == 2.0f * (float)n;
}

__global__ void transpose_kernel(const u32 *in, u32 *out, u32 n)
{
	__shared__ u32 tile[32][33];
	u32 x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;

	for (u32 k = 0; k < 32; k += 8)
		tile[threadIdx.y + k][threadIdx.x] = in[(y + k) * n + x];
	__syncthreads();
	x = blockIdx.y * 32 + threadIdx.x;
	y = blockIdx.x * 32 + threadIdx.y;
	for (u32 k = 0; k < 32; k += 8)
		out[(y + k) * n + x] = tile[threadIdx.x][threadIdx.y + k];
}

static bool transpose(double scale)
{
	u32 n = scale >= 1 ? 8192 : scale > 0.1 ? 1024 : 128;
	std::vector<u32> host(n * n);

	for (u32 i = 0; i < n * n; i++)
		host[i] = i;
	u32 *in = device(host), *out = device<u32>(n * n);
	for (int k = 0; k < 5; k++)
		transpose_kernel<<<dim3(n / 32, n / 32), dim3(32, 8)>>>(in, out, n);
	return back(out, n * n)[5 * n + 7] == 7 * n + 5;
}

/* Threads change places in shared memory between barriers, 200 times. */
__global__ void exchange_kernel(u32 *out, u32 rounds)
{
	__shared__ u32 values[THREADS];
	u32 t = threadIdx.x;

	values[t] = t;
	for (u32 k = 1; k <= rounds; k++) {
		__syncthreads();
		u32 v = values[(t + k) % THREADS];
		__syncthreads();
		values[t] = v;
	}
	out[blockIdx.x * THREADS + t] = values[t];
}

static bool exchange(double scale)
{
	u32 blocks = (u32)(16384 * scale) + 1, rounds = 200, n = blocks * THREADS;
	u32 *out = device<u32>(n);

	exchange_kernel<<<blocks, THREADS>>>(out, rounds);
	return back(out, n)[0] == rounds * (rounds + 1) / 2 % THREADS;
}

/* ---- atomics ---- */
__global__ void hotword_kernel(u32 *word, u32 each)
{
	for (u32 k = 0; k < each; k++)
		atomicAdd(word, 1);
}

static bool hotword(double scale)
{
	u32 blocks = (u32)(8192 * scale) + 1, each = 64, *word = device<u32>(1);

	hotword_kernel<<<blocks, THREADS>>>(word, each);
	return back(word, 1)[0] == blocks * THREADS * each;
}

__global__ void hotline_kernel(u32 *line, u32 each)
{
	for (u32 k = 0; k < each; k++)
		atomicAdd(&line[(threadIdx.x + k) % 32], 1);
}

static bool hotline(double scale)
{
	u32 blocks = (u32)(8192 * scale) + 1, each = 64, *line = device<u32>(32);

	hotline_kernel<<<blocks, THREADS>>>(line, each);
	return back(line, 32)[3] == blocks * THREADS * each / 32;
}

/* One word that all read and nobody writes. */
__global__ void hotread_kernel(const u32 *word, u32 *out, u32 each)
{
	u32 sum = 0;

	for (u32 k = 0; k < each; k++)
		sum += *(const volatile u32 *)word;
	out[blockIdx.x * THREADS + threadIdx.x] = sum;
}

static bool hotread(double scale)
{
	u32 blocks = (u32)(32768 * scale) + 1, each = 64;
	u32 *word = device(std::vector<u32>(1, 3)), *out = device<u32>(blocks * THREADS);

	hotread_kernel<<<blocks, THREADS>>>(word, out, each);
	return back(out, 1)[0] == 3 * each;
}

/* A table of counters, each behind a spin lock of its own; one thread of a warp at a time. */
__global__ void spinlock_kernel(u32 *locks, u32 *counters, u32 mask, u32 each)
{
	u32 id = blockIdx.x * THREADS + threadIdx.x;

	for (u32 k = 0; k < each; k++) {
		u32 which = noise(id * 31 + k) & mask;
		bool done = false;

		while (!done) {
			if (atomicCAS(&locks[which], 0, 1) == 0) {
				__threadfence();
				counters[which]++;
				__threadfence();
				atomicExch(&locks[which], 0);
				done = true;
			}
		}
	}
}

static bool spinlock(double scale)
{
	u32 blocks = (u32)(512 * scale) + 1, each = 8, slots = 1 << 16;
	u32 *locks = device<u32>(slots), *counters = device<u32>(slots), sum = 0;

	spinlock_kernel<<<blocks, THREADS>>>(locks, counters, slots - 1, each);
	for (u32 v : back(counters, slots))
		sum += v;
	return sum == blocks * THREADS * each;
}

/* ---- bytes ---- */
/* Each thread counts into 16 counters of a byte of its own; four threads' counters lie in a word. */
__global__ void bytes_kernel(const u32 *in, u32 *out, u32 each)
{
	__shared__ unsigned char counts[16][THREADS];
	u32 t = threadIdx.x, sum = 0;

	for (u32 b = 0; b < 16; b++)
		counts[b][t] = 0;
	for (u32 k = 0; k < each; k++)
		counts[in[(blockIdx.x * each + k) * THREADS + t] & 15][t]++;
	__syncthreads();
	for (u32 k = 0; k < 16; k++)
		sum += counts[t & 15][(t / 16) * 16 + k];
	atomicAdd(&out[t & 15], sum);
}

static bool bytes(double scale)
{
	u32 blocks = (u32)(8192 * scale) + 1, each = 32, n = blocks * each * THREADS, sum = 0;
	std::vector<u32> host(n);

	for (u32 i = 0; i < n; i++)
		host[i] = noise(i);
	u32 *in = device(host), *out = device<u32>(16);
	bytes_kernel<<<blocks, THREADS>>>(in, out, each);
	for (u32 v : back(out, 16))
		sum += v;
	return sum == n;
}

/* ---- a graph ---- */
__global__ void frontier_kernel(const u32 *edges, u32 degree, const u32 *frontier, u32 count, u32 *next, u32 *next_count,
                                u32 *levels, u32 level)
{
	u32 i = blockIdx.x * THREADS + threadIdx.x;

	for (u32 k = 0; i < count && k < degree; k++) {
		u32 to = edges[frontier[i] * degree + k];

		if (atomicCAS(&levels[to], ~0u, level) == ~0u)
			next[atomicAdd(next_count, 1)] = to;
	}
}

static bool frontier(double scale)
{
	u32 n = (u32)((1 << 23) * scale) + 64, degree = 8, count = 1, reached = 1, level = 0;
	std::vector<u32> host((size_t)n * degree), start(n, ~0u);

	for (u32 i = 0; i < n * degree; i++)
		host[i] = i % degree ? noise(i) % n : (i / degree + 1) % n;
	start[0] = 0;
	u32 *edges = device(host), *levels = device(start), *a = device<u32>(n), *b = device<u32>(n), *found = device<u32>(1);
	while (count) {
		CHECK(cudaMemset(found, 0, sizeof *found));
		frontier_kernel<<<(count + THREADS - 1) / THREADS, THREADS>>>(edges, degree, a, count, b, found, levels, ++level);
		count = back(found, 1)[0];
		reached += count;
		std::swap(a, b);
	}
	return reached == n;
}

/* Words all over the memory, written by one thread each. */
__global__ void scatter_kernel(u32 *out, u32 mask)
{
	u32 i = blockIdx.x * THREADS + threadIdx.x;

	out[(i * 2654435761u) & mask] = i;           /* odd: no two threads meet */
}

static bool scatter(double scale)
{
	u32 n = 1 << 26;

	while (n > (1 << 26) * scale && n > THREADS)
		n /= 2;
	u32 *out = device<u32>(n);
	scatter_kernel<<<n / THREADS, THREADS>>>(out, n - 1);
	return back(out, n)[2654435761u & (n - 1)] == 1;
}

static const struct { const char *name; bool (*run)(double scale); } programs[] = {
	{"copy", copy},         {"stencil", stencil},   {"matmul", matmul},   {"transpose", transpose},
	{"exchange", exchange}, {"hotword", hotword},   {"hotline", hotline}, {"hotread", hotread},
	{"spinlock", spinlock}, {"bytes", bytes},       {"frontier", frontier}, {"scatter", scatter},
};

int main(int argc, char **argv)
{
	for (auto &p : programs) {
		if (argc < 2) {
			puts(p.name);
		} else if (strcmp(p.name, argv[1]) == 0) {
			bool right = p.run(argc > 2 ? atof(argv[2]) : 1.0);

			printf("%s: %s\n", p.name, right ? "right" : "wrong");
			return right ? 0 : 1;
		}
	}
	if (argc >= 2)
		fprintf(stderr, "kernels: there is no '%s'\n", argv[1]);
	return argc < 2 ? 0 : 2;
}

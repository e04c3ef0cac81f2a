/* truth.cu - kernels that take their own time, on a GPU and on the clocked one (docs/TIMING.md, "Against the GPU"):
 *
 *     truth [ROUNDS [NAME...]]         "NAME CYCLES" for each, the least of ROUNDS (1) after one to warm up
 *
 * A block notes the core's clock when it begins and when its last thread is done; a core's time is from its first beginning
 * to its last end, and a kernel's that of the core that took longest. So nothing of the launch is in it, nor how fast the
 * clock is. What is counted is a loop of a few instructions of one kind (the first part), or a small usual kernel. */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>
#include <cuda_runtime.h>

#include "../common.cuh"

typedef unsigned int u32;
typedef unsigned long long u64;

enum { CORES = 132, MB = 1 << 20, MAX_CORES = 1024 };

struct times { u64 begin[MAX_CORES], end[MAX_CORES]; };

/* What the kernels work on. */
struct data {
	times *t;
	u32 *a, *b;                      /* 192 MB each */
	float *f, *g, *h;                /* 4 MB each */
	u32 *words;                      /* 1 MB of zeros before each kernel */
	u32 one;                         /* 1, which the compiler does not know */
	u32 round;
};

template <typename K> __global__ void __launch_bounds__(1024) timed(K kernel, data d)
{
	u64 begin = clock64();
	u32 core;

	asm("mov.u32 %0, %%smid;" : "=r"(core));
	__syncthreads();
	kernel(d);
	__syncthreads();
	if (threadIdx.x == 0) {
		atomicMin(&d.t->begin[core], begin);
		atomicMax(&d.t->end[core], (u64)clock64());
	}
}

#define KERNEL(name, nblocks, nthreads) \
	struct name { \
		static constexpr u32 blocks = (nblocks), threads = (nthreads); \
		__device__ void operator()(const data &d) const; \
	}; \
	__device__ void name::operator()(const data &d) const
#define ALL() (blockIdx.x * blockDim.x + threadIdx.x)

/* ---- chains: each operation needs the one before ---- */
enum { LINKS = 512 };
#define CHAIN(type, start, text, constraint, more) \
	type x = (type)(start); \
	_Pragma("unroll 16") for (int i = 0; i < LINKS; i++) \
		asm volatile(text : "+" constraint(x) : more); \
	if (x == (type)12345) \
		d.words[threadIdx.x] = 1

KERNEL(add_chain, 1, 32) { CHAIN(u32, d.one, "add.u32 %0, %0, %1;\nxor.b32 %0, %0, %1;", "r", "r"(d.one)); }
KERNEL(multiply_chain, 1, 32) { CHAIN(u32, d.one, "mad.lo.u32 %0, %0, %1, %1;", "r", "r"(d.one + 1)); }
KERNEL(float_chain, 1, 32) { CHAIN(float, d.one, "fma.rn.f32 %0, %0, %1, %1;", "f", "f"((float)d.one)); }
KERNEL(double_chain, 1, 32) { CHAIN(double, d.one, "fma.rn.f64 %0, %0, %1, %1;", "d", "d"((double)d.one)); }
KERNEL(exponential_chain, 1, 32) { CHAIN(float, d.one, "ex2.approx.ftz.f32 %0, %0;", "f", "f"(0.f)); }
KERNEL(division_chain, 1, 32) { CHAIN(float, d.one, "div.rn.f32 %0, %0, %1;", "f", "f"(1.01f * (float)d.one)); }
KERNEL(remainder_chain, 1, 32) { CHAIN(u32, 4000000000u * d.one, "rem.u32 %0, %1, %0;", "r", "r"(4000000007u + d.one)); }
KERNEL(convert_chain, 1, 32)
{
	float x = (float)d.one;

#pragma unroll 16
	for (int i = 0; i < LINKS; i++)
		asm volatile("{.reg .s32 t;\ncvt.rzi.s32.f32 t, %0;\ncvt.rn.f32.s32 %0, t;}" : "+f"(x));
	if (x == 12345.0f)
		d.words[threadIdx.x] = 1;
}
KERNEL(shuffle_chain, 1, 32) { CHAIN(u32, threadIdx.x, "shfl.sync.bfly.b32 %0, %0, 1, 31, %1;", "r", "r"(0xffffffffu)); }
KERNEL(vote_chain, 1, 32)
{
	u32 x = threadIdx.x;

	for (int i = 0; i < LINKS; i++)
		x = __ballot_sync(0xffffffffu, x & 1);
	if (x == 12345)
		d.words[threadIdx.x] = 1;
}

/* ---- throughput of one core: four independent chains in each of 32 warps ---- */
#define FLOOD(type, text, constraint, by) \
	type w = (type)d.one, x = (type)threadIdx.x, y = (type)(2 * d.one), z = (type)(3 * d.one), n = (by); \
	_Pragma("unroll 8") for (int i = 0; i < 128; i++) { \
		asm volatile(text : "+" constraint(w) : constraint(n)); \
		asm volatile(text : "+" constraint(x) : constraint(n)); \
		asm volatile(text : "+" constraint(y) : constraint(n)); \
		asm volatile(text : "+" constraint(z) : constraint(n)); \
	} \
	if (w + x + y + z == (type)12345) \
		d.words[threadIdx.x] = 1

KERNEL(add_flood, 1, 1024) { FLOOD(u32, "add.u32 %0, %0, %1;\nxor.b32 %0, %0, %1;", "r", d.one); }
KERNEL(multiply_flood, 1, 1024) { FLOOD(u32, "mad.lo.u32 %0, %0, %1, %1;", "r", d.one); }
KERNEL(float_flood, 1, 1024) { FLOOD(float, "fma.rn.f32 %0, %0, %1, %1;", "f", (float)d.one); }
KERNEL(double_flood, 1, 1024) { FLOOD(double, "fma.rn.f64 %0, %0, %1, %1;", "d", (double)d.one); }
KERNEL(exponential_flood, 1, 1024)
{
	float w = (float)d.one, x = w + 1, y = x + 1, z = y + 1;

#pragma unroll 8
	for (int i = 0; i < 128; i++) {
		asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(w));
		asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(x));
		asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(y));
		asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(z));
	}
	if (w + x + y + z == 12345.0f)
		d.words[threadIdx.x] = 1;
}
KERNEL(shuffle_flood, 1, 1024) { FLOOD(u32, "shfl.sync.bfly.b32 %0, %0, 1, %1, 0xffffffff;", "r", 31 * d.one); }

/* ---- barriers and branches ---- */
KERNEL(barrier, 1, 1024)
{
	for (u32 i = 0; i < 128 * d.one; i++)
		__syncthreads();
}

/* Each lane of a warp goes its own way, and each way is a chain. */
KERNEL(divergence, 1, 128)
{
	float x = (float)d.one;

	for (u32 lane = 0; lane < 32 * d.one; lane++)
		if (lane == threadIdx.x % 32)
#pragma unroll
			for (int i = 0; i < 32; i++)
				asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(x) : "f"((float)d.one));
	if (x == 12345.0f)
		d.words[threadIdx.x] = 1;
}

KERNEL(different_loops, 1, 256)
{
	u32 x = d.one;

	for (u32 i = 0; i < (noise(threadIdx.x) & 127) * d.one; i++)
		x = x * 5 + i;
	d.words[threadIdx.x] = x;
}

/* ---- shared memory ---- */
KERNEL(shared_chase, 1, 32)
{
	__shared__ u32 next[1024];
	u32 at = threadIdx.x;

	for (u32 i = threadIdx.x; i < 1024; i += 32)
		next[i] = (i + 32 * d.one) & 1023;
	__syncwarp();
#pragma unroll 16
	for (int i = 0; i < LINKS; i++)
		at = *(volatile u32 *)&next[at];
	d.words[threadIdx.x] = at;
}

template <u32 STRIDE> __device__ static void shared_read(const data &d)
{
	__shared__ u32 tile[1024 + 32];
	u32 sum = 0, at = threadIdx.x * STRIDE;

	tile[threadIdx.x] = threadIdx.x * d.one;
	__syncthreads();
#pragma unroll 8
	for (int i = 0; i < 64; i++)
		sum += *(volatile u32 *)&tile[(at + (u32)(i & 7) * 32) & 1023];
	d.words[threadIdx.x] = sum;
}
KERNEL(shared_no_conflict, 1, 1024) { shared_read<1>(d); }
KERNEL(shared_conflict_2, 1, 1024) { shared_read<2>(d); }
KERNEL(shared_conflict_8, 1, 1024) { shared_read<8>(d); }
KERNEL(shared_conflict_32, 1, 1024) { shared_read<32>(d); }

KERNEL(shared_atomics, 1, 1024)
{
	__shared__ u32 word[1024];

	word[threadIdx.x] = 0;
	__syncthreads();
	for (u32 i = 0; i < 64 * d.one; i++)
		atomicAdd(&word[(threadIdx.x + i) & 1023], i);
	__syncthreads();
	d.words[threadIdx.x] = word[threadIdx.x];
}

KERNEL(shared_atomics_bins, 1, 1024)
{
	__shared__ u32 word[256];

	if (threadIdx.x < 256)
		word[threadIdx.x] = 0;
	__syncthreads();
	for (u32 i = 0; i < 32 * d.one; i++)
		atomicAdd(&word[noise(threadIdx.x + 1024 * i) & 255], 1);
	__syncthreads();
	d.words[threadIdx.x] = word[threadIdx.x & 255];
}

/* ---- memory, one access after the other: the words are zeros, and the next address needs the one before ---- */
template <bool L1> __device__ static u32 hop(const u32 *p)
{
	u32 v;

	if (L1)
		asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
	else
		asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
	return v;
}

template <bool L1> __device__ static void chase(const data &d, const u32 *from, u32 stride, u32 mask, u32 hops)
{
	u32 at = 0;

	for (u32 i = 0; i < hops * d.one; i++)
		at = (at + stride + hop<L1>(from + at)) & mask;
	d.words[at & 255] = at;
}
KERNEL(l1_chase, 1, 1) { chase<true>(d, d.words, 32, 2047, 512); }
KERNEL(l2_chase, 1, 1) { chase<false>(d, d.words, 32, 262143, 512); }
/* Other lines in each round. */
KERNEL(dram_chase, 1, 1) { chase<false>(d, d.a + d.round * 32, 65568 / 4, 128 * MB / 4 - 1, 256); }

__constant__ u32 constants[512];
KERNEL(constant_chase, 1, 32)
{
	u32 at = d.one - 1;

#pragma unroll 8
	for (int i = 0; i < LINKS; i++)
		at = constants[at];
	d.words[threadIdx.x] = at;
}

/* ---- memory, as much as goes ---- */
KERNEL(l1_read, 1, 1024)
{
	u32 sum = 0;

	for (u32 k = 0; k < 16 * d.one; k++)
#pragma unroll
		for (u32 i = 0; i < 4; i++)
			sum += hop<true>(d.words + i * 1024 + threadIdx.x);
	d.words[8192 + threadIdx.x] = sum;
}

KERNEL(l2_read, CORES * 2, 1024)
{
	const uint4 *p = (const uint4 *)d.f;
	u32 sum = 0, x, y, z, w;

#pragma unroll 4
	for (u32 k = 0; k < 16; k++) {
		asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(x), "=r"(y), "=r"(z), "=r"(w)
		             : "l"(p + (ALL() + k * 16 * 1024) % (4 * MB / 16)) : "memory");
		sum += x + y + z + w;
	}
	if (sum == 12345)
		d.words[threadIdx.x] = sum;
}

enum { STREAM = 96 * MB, STREAM_THREADS = CORES * 2048 };
KERNEL(dram_read, CORES * 2, 1024)
{
	const uint4 *p = (const uint4 *)d.a;
	u32 sum = 0;

#pragma unroll 4
	for (u32 i = ALL(); i < STREAM / 16; i += STREAM_THREADS) {
		uint4 v = p[i];

		sum += v.x + v.y + v.z + v.w;
	}
	if (sum == 12345)
		d.words[threadIdx.x] = sum;
}

KERNEL(dram_write, CORES * 2, 1024)
{
	uint4 *p = (uint4 *)d.b;

#pragma unroll 4
	for (u32 i = ALL(); i < STREAM / 16; i += STREAM_THREADS)
		p[i] = make_uint4(i, i, i, i);
}

KERNEL(dram_copy, CORES * 2, 1024)
{
	const uint4 *p = (const uint4 *)d.a;
	uint4 *q = (uint4 *)d.b;

#pragma unroll 4
	for (u32 i = ALL(); i < STREAM / 16; i += STREAM_THREADS)
		q[i] = p[i];
}

/* A word of each sector of 32 bytes. */
KERNEL(strided_read, CORES * 2, 1024)
{
	u32 sum = 0;

#pragma unroll 4
	for (u32 i = ALL(); i < STREAM / 32; i += STREAM_THREADS)
		sum += d.a[i * 8];
	if (sum == 12345)
		d.words[threadIdx.x] = sum;
}

KERNEL(random_read, CORES * 2, 1024)
{
	u32 sum = 0;

#pragma unroll 4
	for (u32 i = 0; i < 8; i++)
		sum += d.a[noise(ALL() + i * STREAM_THREADS) % (STREAM / 4)];
	if (sum == 12345)
		d.words[threadIdx.x] = sum;
}

/* ---- atomics ---- */
KERNEL(atomic_chain, 1, 1)
{
	u32 x = d.one;

	for (u32 i = 0; i < 256 * d.one; i++)
		x = atomicExch(d.words, x + 1);
	d.words[1] = x;
}

KERNEL(atomics_one_word, CORES, 256)
{
	u32 sum = 0;

	for (u32 i = 0; i < 4 * d.one; i++)
		sum += atomicExch(d.words, ALL() + i);
	if (sum == 12345)
		d.words[1] = sum;
}

KERNEL(atomics_in_order, CORES * 2, 512)
{
	for (u32 i = 0; i < 8 * d.one; i++)
		atomicAdd(&d.words[(ALL() + i * 4096) & (MB / 4 - 1)], i);
}

KERNEL(atomics_at_random, CORES * 2, 512)
{
	for (u32 i = 0; i < 8 * d.one; i++)
		atomicAdd(&d.words[noise(ALL() * 8 + i) & (MB / 4 - 1)], i);
}

/* A lock, one thread of each block. */
KERNEL(lock_of_blocks, CORES, 32)
{
	if (threadIdx.x == 0)
		for (u32 i = 0; i < 4 * d.one; i++) {
			while (atomicCAS(&d.words[0], 0, 1) != 0)
				;
			__threadfence();
			*(volatile u32 *)&d.words[64] += 1;
			__threadfence();
			atomicExch(&d.words[0], 0);
		}
}

/* ---- small usual kernels ---- */
KERNEL(saxpy, MB / 256, 256) { d.g[ALL()] = 2.0f * d.f[ALL()] + d.g[ALL()]; }

KERNEL(stencil, MB / 256, 256)
{
	u32 i = ALL();

	if (i > 0 && i < MB - 1)
		d.g[i] = d.f[i - 1] + d.f[i] + d.f[i + 1];
}

KERNEL(matrix_multiply, 256, 256)
{
	__shared__ float as[16][16], bs[16][16];
	u32 x = threadIdx.x % 16, y = threadIdx.x / 16, row = blockIdx.x / 16 * 16 + y, col = blockIdx.x % 16 * 16 + x;
	float sum = 0;

	for (u32 k = 0; k < 256; k += 16) {
		as[y][x] = d.f[row * 256 + k + x];
		bs[y][x] = d.g[(k + y) * 256 + col];
		__syncthreads();
		for (u32 i = 0; i < 16; i++)
			sum += as[y][i] * bs[i][x];
		__syncthreads();
	}
	d.h[row * 256 + col] = sum;
}

KERNEL(transpose, 1024, 256)
{
	__shared__ float tile[32][33];
	u32 x = threadIdx.x % 32, y = threadIdx.x / 32, bx = blockIdx.x % 32 * 32, by = blockIdx.x / 32 * 32;

	for (u32 k = 0; k < 32; k += 8)
		tile[y + k][x] = d.f[(by + y + k) * 1024 + bx + x];
	__syncthreads();
	for (u32 k = 0; k < 32; k += 8)
		d.g[(bx + y + k) * 1024 + by + x] = tile[x][y + k];
}

KERNEL(transpose_plain, 1024, 256)
{
	u32 x = blockIdx.x % 32 * 32 + threadIdx.x % 32, y = blockIdx.x / 32 * 32 + threadIdx.x / 32;

	for (u32 k = 0; k < 32; k += 8)
		d.g[x * 1024 + y + k] = d.f[(y + k) * 1024 + x];
}

KERNEL(reduce, CORES * 4, 256)
{
	__shared__ u32 part[256];
	u32 sum = 0;

	for (u32 i = ALL(); i < MB; i += CORES * 4 * 256)
		sum += ((const u32 *)d.f)[i];
	part[threadIdx.x] = sum;
	for (u32 n = 128; n > 0; n /= 2) {
		__syncthreads();
		if (threadIdx.x < n)
			part[threadIdx.x] += part[threadIdx.x + n];
	}
	if (threadIdx.x == 0)
		atomicAdd(d.words, part[0]);
}

KERNEL(scan, MB / 512, 512)
{
	__shared__ u32 sums[2][512];
	u32 from = 0;

	sums[0][threadIdx.x] = ((const u32 *)d.f)[ALL()];
	__syncthreads();
	for (u32 n = 1; n < 512; n *= 2) {
		u32 v = sums[from][threadIdx.x];

		if (threadIdx.x >= n)
			v += sums[from][threadIdx.x - n];
		sums[from ^ 1][threadIdx.x] = v;
		from ^= 1;
		__syncthreads();
	}
	((u32 *)d.g)[ALL()] = sums[from][threadIdx.x];
}

KERNEL(histogram, CORES * 2, 256)
{
	__shared__ u32 bins[256];

	bins[threadIdx.x] = 0;
	__syncthreads();
	for (u32 i = ALL(); i < MB; i += CORES * 2 * 256)
		atomicAdd(&bins[noise(i) & 255], 1);
	__syncthreads();
	atomicAdd(&d.words[threadIdx.x], bins[threadIdx.x]);
}

KERNEL(bitonic_sort, CORES * 2, 512)
{
	__shared__ u32 key[512];
	u32 i = threadIdx.x;

	key[i] = noise(ALL());
	for (u32 k = 2; k <= 512; k *= 2)
		for (u32 j = k / 2; j > 0; j /= 2) {
			u32 other = i ^ j;

			__syncthreads();
			if (other > i && (key[i] > key[other]) == ((i & k) == 0)) {
				u32 v = key[i];

				key[i] = key[other];
				key[other] = v;
			}
		}
	__syncthreads();
	d.b[ALL()] = key[i];
}

KERNEL(walsh, MB / 1024, 512)
{
	__shared__ float s[1024];
	u32 base = blockIdx.x * 1024;

	s[threadIdx.x] = d.f[base + threadIdx.x];
	s[threadIdx.x + 512] = d.f[base + threadIdx.x + 512];
	for (u32 n = 1; n < 1024; n *= 2) {
		u32 lo = (threadIdx.x & (n - 1)) + (threadIdx.x & ~(n - 1)) * 2;
		float x, y;

		__syncthreads();
		x = s[lo];
		y = s[lo + n];
		s[lo] = x + y;
		s[lo + n] = x - y;
	}
	__syncthreads();
	d.g[base + threadIdx.x] = s[threadIdx.x];
	d.g[base + threadIdx.x + 512] = s[threadIdx.x + 512];
}

KERNEL(bodies, 64, 128)
{
	float4 me = ((const float4 *)d.f)[ALL()];
	float x = 0, y = 0, z = 0;

	for (u32 i = 0; i < 512 * d.one; i++) {
		float4 p = ((const float4 *)d.f)[i];
		float dx = p.x - me.x, dy = p.y - me.y, dz = p.z - me.z;
		float r = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f), s = p.w * r * r * r;

		x += dx * s;
		y += dy * s;
		z += dz * s;
	}
	d.g[ALL()] = x + y + z;
}

KERNEL(monte_carlo, CORES * 2, 256)
{
	u32 state = ALL() + 1, inside = 0;

	for (u32 i = 0; i < 64 * d.one; i++) {
		float x, y;

		state = noise(state + i);
		x = (float)(state & 0xffff) / 65536.0f;
		y = (float)(state >> 16) / 65536.0f;
		inside += x * x + y * y < 1.0f;
	}
	d.words[ALL()] = inside;
}

/* Rows of 0 to 31 entries, at columns that are anywhere. */
KERNEL(sparse_rows, CORES * 2, 256)
{
	u32 row = ALL(), n = noise(row) & 31;
	float sum = 0;

	for (u32 i = 0; i < n; i++)
		sum += d.f[row * 8 + i] * d.g[noise(row * 32 + i) % MB];
	d.h[row] = sum;
}

KERNEL(binary_search, CORES * 2, 256)
{
	u32 key = noise(ALL()), at = 0;

	for (u32 n = MB / 8; n > 0; n /= 2)
		if (noise(d.words[(at + n) & 65535] + at + n) < key)
			at += n;
	d.h[ALL()] = (float)at;
}

/* ---- all of them ---- */
template <typename T> static T *room(size_t bytes)
{
	T *p;

	CHECK(cudaMalloc((void **)&p, bytes));
	CHECK(cudaMemset(p, 0, bytes));
	return p;
}

static u64 cycles_of(times *device)
{
	static times t;
	u64 most = 0;

	CHECK(cudaDeviceSynchronize());
	CHECK(cudaMemcpy(&t, device, sizeof t, cudaMemcpyDeviceToHost));
	for (int i = 0; i < MAX_CORES; i++)
		if (t.end[i] && t.end[i] - t.begin[i] > most)
			most = t.end[i] - t.begin[i];
	return most;
}

template <typename K> static u64 measure(const data &d)
{
	CHECK(cudaMemset(d.t->begin, 0xff, sizeof d.t->begin));
	CHECK(cudaMemset(d.t->end, 0, sizeof d.t->end));
	CHECK(cudaMemset(d.words, 0, MB));
	timed<<<K::blocks, K::threads>>>(K(), d);
	CHECK(cudaGetLastError());
	return cycles_of(d.t);
}

struct entry { const char *name; u64 (*measure)(const data &); };
#define ROW(k) {#k, measure<k>}
static const entry entries[] = {
	ROW(add_chain), ROW(multiply_chain), ROW(float_chain), ROW(double_chain), ROW(exponential_chain), ROW(division_chain),
	ROW(remainder_chain), ROW(convert_chain), ROW(shuffle_chain), ROW(vote_chain), ROW(add_flood), ROW(multiply_flood),
	ROW(float_flood), ROW(double_flood), ROW(exponential_flood), ROW(shuffle_flood), ROW(barrier), ROW(divergence),
	ROW(different_loops), ROW(shared_chase), ROW(shared_no_conflict), ROW(shared_conflict_2), ROW(shared_conflict_8),
	ROW(shared_conflict_32), ROW(shared_atomics), ROW(shared_atomics_bins), ROW(l1_chase), ROW(l2_chase), ROW(dram_chase),
	ROW(constant_chase), ROW(l1_read), ROW(l2_read), ROW(dram_read), ROW(dram_write), ROW(dram_copy), ROW(strided_read),
	ROW(random_read), ROW(atomic_chain), ROW(atomics_one_word), ROW(atomics_in_order), ROW(atomics_at_random),
	ROW(lock_of_blocks), ROW(saxpy), ROW(stencil), ROW(matrix_multiply), ROW(transpose), ROW(transpose_plain), ROW(reduce),
	ROW(scan), ROW(histogram), ROW(bitonic_sort), ROW(walsh), ROW(bodies), ROW(monte_carlo), ROW(sparse_rows),
	ROW(binary_search),
};

static bool wanted(const char *name, int argc, char **argv)
{
	for (int i = 2; i < argc; i++)
		if (!strcmp(argv[i], name))
			return true;
	return argc <= 2;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1;
	std::vector<u32> next(512);
	data d;

	d.t = room<times>(sizeof *d.t);
	d.a = room<u32>(192 * MB);
	d.b = room<u32>(192 * MB);
	d.f = room<float>(4 * MB);
	d.g = room<float>(4 * MB);
	d.h = room<float>(4 * MB);
	d.words = room<u32>(MB);
	d.one = 1;
	for (u32 i = 0; i < 512; i++)
		next[i] = (i + 1) % 512;
	CHECK(cudaMemcpyToSymbol(constants, next.data(), sizeof constants));
	for (const entry &e : entries) {
		u64 least = ~0ull;

		if (!wanted(e.name, argc, argv))
			continue;
		for (int i = 0; i <= rounds; i++) {
			u64 n;

			d.round = (u32)i;
			n = e.measure(d);
			least = i && n < least ? n : least;
		}
		printf("%s %llu\n", e.name, least);
		fflush(stdout);
	}
	return 0;
}

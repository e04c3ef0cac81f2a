/* speed.cu - the five kernels of the simulator's speed test (bench/sim_speed.c), as ordinary CUDA C. speed.ptx is made
 * from it by `clang -x cuda --cuda-gpu-arch=sm_70 --cuda-device-only -nocudainc -nocudalib -O2 -S`. */
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define TID __nvvm_read_ptx_sreg_tid_x()
#define TIDY __nvvm_read_ptx_sreg_tid_y()
#define BID __nvvm_read_ptx_sreg_ctaid_x()
#define BIDY __nvvm_read_ptx_sreg_ctaid_y()
#define DIM __nvvm_read_ptx_sreg_ntid_x()
#define GRID __nvvm_read_ptx_sreg_nctaid_x()

extern "C" __global__ void vector_add(const float *a, const float *b, float *c, int n)
{
	int i = BID * DIM + TID;

	if (i < n)
		c[i] = a[i] + b[i];
}

extern "C" __global__ void matrix_multiply(const float *a, const float *b, float *c, int n)
{
	__shared__ float as[16][16], bs[16][16];
	int x = TID, y = TIDY, column = BID * 16 + x, row = BIDY * 16 + y;
	float sum = 0;

	for (int t = 0; t < n; t += 16) {
		as[y][x] = a[row * n + t + x];
		bs[y][x] = b[(t + y) * n + column];
		__syncthreads();
		for (int k = 0; k < 16; k++)
			sum += as[y][k] * bs[k][x];
		__syncthreads();
	}
	c[row * n + column] = sum;
}

extern "C" __global__ void histogram(const unsigned *in, unsigned *bins, int n)
{
	__shared__ unsigned own[256];

	for (int i = TID; i < 256; i += DIM)
		own[i] = 0;
	__syncthreads();
	for (int i = BID * DIM + TID; i < n; i += DIM * GRID)
		__atomic_fetch_add(&own[in[i] & 255], 1u, __ATOMIC_RELAXED);
	__syncthreads();
	for (int i = TID; i < 256; i += DIM)
		__atomic_fetch_add(&bins[i], own[i], __ATOMIC_RELAXED);
}

extern "C" __global__ void reduce(const float *in, float *out, int n)
{
	__shared__ float part[256];
	int t = TID, i = BID * DIM + t;

	part[t] = i < n ? in[i] : 0;
	__syncthreads();
	for (int s = 128; s > 0; s >>= 1) {
		if (t < s)
			part[t] += part[t + s];
		__syncthreads();
	}
	if (t == 0)
		out[BID] = part[0];
}

extern "C" __global__ void arithmetic(float *out, int rounds)
{
	int i = BID * DIM + TID;
	float x = i * 0.001f, y = 1.5f;
	unsigned h = i;

	for (int k = 0; k < rounds; k++) {
		x = x * 0.999f + y;
		y = y * 0.5f - x * 0.001f;
		h = h * 1664525u + 1013904223u;
		h ^= h >> 7;
	}
	out[i] = x + y + (float)(h & 15);
}

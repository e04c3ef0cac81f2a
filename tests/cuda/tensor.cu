// Copies of tiles of tensors (TMA) with every swizzle mode, out of bounds, strides, both directions, reduction.
// expect: ok
// ways: nvcc
// flags: -arch=sm_90
#include <cuda.h>
#include <string.h>
#include "check.h"

#define ROWS 40
#define COLS 36          /* of 64: the tensor ends inside a row of memory */
#define PITCH 64
#define H 16

typedef unsigned u32;
typedef CUresult encode_fn(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *, const cuuint64_t *,
                           const cuuint32_t *, const cuuint32_t *, CUtensorMapInterleave, CUtensorMapSwizzle,
                           CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
static encode_fn *encode;

static __device__ u32 shared_address(const void *p) { return (u32)__cvta_generic_to_shared(p); }

static __device__ void start(u32 bar, u32 bytes)
{
	asm volatile("mbarrier.init.shared.b64 [%0], 1;\n\tfence.proxy.async.shared::cta;\n\t"
	             "mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" :: "r"(bar), "r"(bytes) : "memory");
}

static __device__ void wait(u32 bar)
{
	asm volatile("{\n\t.reg .pred p;\nAGAIN: mbarrier.try_wait.parity.shared.b64 p, [%0], 0;\n\t@!p bra AGAIN;\n\t}"
	             :: "r"(bar) : "memory");
}

__global__ void load2(const __grid_constant__ CUtensorMap map, int x, int y, int bytes, int all, unsigned char *out)
{
	extern __shared__ __align__(1024) unsigned char buf[];
	__shared__ __align__(8) unsigned long long bar;
	u32 b = shared_address(&bar);

	if (threadIdx.x == 0) {
		start(b, bytes);
		asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
		             :: "r"(shared_address(buf)), "l"(&map), "r"(x), "r"(y), "r"(b) : "memory");
	}
	__syncthreads();
	wait(b);
	for (int i = threadIdx.x; i < all; i += blockDim.x)
		out[i] = buf[i];
}

__global__ void load3(const __grid_constant__ CUtensorMap map, int x, int y, int z, int bytes, unsigned char *out)
{
	extern __shared__ __align__(1024) unsigned char buf[];
	__shared__ __align__(8) unsigned long long bar;
	u32 b = shared_address(&bar);

	if (threadIdx.x == 0) {
		start(b, bytes);
		asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4}], [%5];"
		             :: "r"(shared_address(buf)), "l"(&map), "r"(x), "r"(y), "r"(z), "r"(b) : "memory");
	}
	__syncthreads();
	wait(b);
	for (int i = threadIdx.x; i < bytes; i += blockDim.x)
		out[i] = buf[i];
}

template <int ADD> __global__ void store2(const CUtensorMap *map, int x, int y, int words)
{
	extern __shared__ __align__(1024) unsigned int data[];

	for (int i = threadIdx.x; i < words; i += blockDim.x)
		data[i] = i + 1;
	asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
	__syncthreads();
	if (threadIdx.x == 0) {
		if (ADD)
			asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%0, {%1, %2}], [%3];"
			             :: "l"(map), "r"(x), "r"(y), "r"(shared_address(data)) : "memory");
		else
			asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];"
			             :: "l"(map), "r"(x), "r"(y), "r"(shared_address(data)) : "memory");
		asm volatile("cp.async.bulk.commit_group;\n\tcp.async.bulk.wait_group 0;" ::: "memory");
	}
}

static CUtensorMap make(CUtensorMapDataType t, int w, void *p, int bw, int bh, int step, CUtensorMapSwizzle s, int nan)
{
	CUtensorMap m;
	cuuint64_t dims[2] = {COLS, ROWS}, strides[1] = {(cuuint64_t)PITCH * w};
	cuuint32_t box[2] = {(cuuint32_t)bw, (cuuint32_t)bh}, steps[2] = {1, (cuuint32_t)step};
	IS(encode(&m, t, 2, p, dims, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, s, CU_TENSOR_MAP_L2_PROMOTION_NONE,
	          nan ? CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA : CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE), 0);
	return m;
}

static u32 swizzle(u32 a, int mode)
{
	return a ^ (a >> 7 & ((1u << mode) - 1)) << 4;
}

/* Loads a box of 32-bit elements that holds 100 * y + x and compares it with what it should be. */
static void check_load(u32 *d, unsigned char *out, int x, int y, int bw, int bh, int step, int mode, u32 fill, bool is_float)
{
	static unsigned char got[32768];
	/* a swizzled row takes as many bytes as the mode says */
	int nh = (bh + step - 1) / step, pitch = mode ? 4 << mode : bw, bytes = bw * nh * 4, bad = 0;
	CUtensorMap m = make(is_float ? CU_TENSOR_MAP_DATA_TYPE_FLOAT32 : CU_TENSOR_MAP_DATA_TYPE_UINT32, 4, d, bw, bh, step,
	                     (CUtensorMapSwizzle)mode, fill != 0);
	load2<<<1, 128, 16384>>>(m, x, y, bytes, pitch * nh * 4, out);
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaMemcpy(got, out, pitch * nh * 4, cudaMemcpyDeviceToHost));
	for (int i = 0; i < bw * nh; i++) {
		int c = x + i % bw, r = y + i / bw * step;
		u32 want = c < 0 || c >= COLS || r < 0 || r >= ROWS ? fill : 100u * r + c, v;
		memcpy(&v, got + swizzle((i / bw * pitch + i % bw) * 4, mode), 4);
		if (v != want && bad++ < 3)
			printf("load x %d y %d box %dx%d step %d mode %d: element %d is 0x%x, not 0x%x\n", x, y, bw, bh, step, mode, i, v, want);
	}
	TRUE(!bad);
}

static void loads(u32 *d, unsigned char *out)
{
	check_load(d, out, 0, 0, 32, H, 1, 0, 0, false);
	check_load(d, out, 4, 5, 32, H, 1, 0, 0, false);
	check_load(d, out, -4, -5, 32, H, 1, 0, 0, false);
	check_load(d, out, 20, 30, 32, H, 1, 0, 0, false);
	check_load(d, out, 100, 0, 32, H, 1, 0, 0, false);
	check_load(d, out, 0, 4, 32, H, 2, 0, 0, false);
	check_load(d, out, 8, 4, 32, 15, 4, 0, 0, false);
	check_load(d, out, 4, 1, 8, H, 1, 1, 0, false);
	check_load(d, out, 4, 1, 16, H, 1, 2, 0, false);
	check_load(d, out, 4, 1, 32, H, 1, 3, 0, false);
	check_load(d, out, 4, 1, 16, H, 1, 3, 0, false);
	check_load(d, out, 4, 1, 8, H, 1, 3, 0, false);
	check_load(d, out, 4, 1, 4, H, 1, 1, 0, false);
	check_load(d, out, 20, 30, 32, H, 1, 3, 0x7ff77ff7, true);
	check_load(d, out, -8, 2, 16, 4, 1, 0, 0x7ff77ff7, true);
}

static void load_three(unsigned char *out)
{
	static unsigned short h[6 * 10 * 32], got[4 * 5 * 16];
	unsigned short *d;
	CUtensorMap m;
	cuuint64_t dims[3] = {30, 10, 6}, strides[2] = {64, 640};
	cuuint32_t box[3] = {16, 5, 4}, steps[3] = {1, 1, 1};
	int bad = 0;
	for (int i = 0; i < 6 * 10 * 32; i++)
		h[i] = (unsigned short)(i + 1);
	CHECK(cudaMalloc(&d, sizeof h));
	CHECK(cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice));
	IS(encode(&m, CU_TENSOR_MAP_DATA_TYPE_UINT16, 3, d, dims, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
	          CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE), 0);
	load3<<<1, 128, 16384>>>(m, 24, 7, 3, sizeof got, out);
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
	for (int i = 0; i < 4 * 5 * 16; i++) {
		int x = 24 + i % 16, y = 7 + i / 16 % 5, z = 3 + i / 80;
		bad += got[i] != (x < 30 && y < 10 && z < 6 ? h[z * 320 + y * 32 + x] : 0);
	}
	TRUE(!bad);
	CHECK(cudaFree(d));
}

/* A box written at (x, y): what lies outside of the tensor is not touched. */
static void check_store(u32 *d, bool add, int x, int y, int mode)
{
	static u32 before[ROWS * PITCH], after[ROWS * PITCH];
	int bw = mode ? 4 << mode : 32, bad = 0;
	CUtensorMap m = make(CU_TENSOR_MAP_DATA_TYPE_UINT32, 4, d, bw, H, 1, (CUtensorMapSwizzle)mode, 0), *dm;
	CHECK(cudaMalloc(&dm, sizeof m));
	CHECK(cudaMemcpy(dm, &m, sizeof m, cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(before, d, sizeof before, cudaMemcpyDeviceToHost));
	if (add)
		store2<1><<<1, 64, 16384>>>(dm, x, y, bw * H);
	else
		store2<0><<<1, 64, 16384>>>(dm, x, y, bw * H);
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaMemcpy(after, d, sizeof after, cudaMemcpyDeviceToHost));
	for (int i = 0; i < ROWS * PITCH; i++) {
		int c = i % PITCH, r = i / PITCH;
		u32 want = before[i];
		if (c < COLS && c >= x && c < x + bw && r >= y && r < y + H)
			want = swizzle(((r - y) * bw + c - x) * 4, mode) / 4 + 1 + (add ? before[i] : 0);
		if (after[i] != want && bad++ < 3)
			printf("store %d x %d y %d mode %d: (%d,%d) is %u, not %u\n", add, x, y, mode, c, r, after[i], want);
	}
	TRUE(!bad);
	CHECK(cudaFree(dm));
}

static void refused(u32 *d)
{
	CUtensorMap m;
	cuuint64_t dims[2] = {COLS, ROWS}, strides[1] = {PITCH * 4 + 4};
	cuuint32_t box[2] = {32, H}, steps[2] = {1, 1};
	TRUE(encode(&m, CU_TENSOR_MAP_DATA_TYPE_UINT32, 2, d, dims, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
	            CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != 0);
	strides[0] = PITCH * 4;
	box[0] = 30;
	TRUE(encode(&m, CU_TENSOR_MAP_DATA_TYPE_UINT32, 2, d, dims, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
	            CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != 0);
	box[0] = 64;
	TRUE(encode(&m, CU_TENSOR_MAP_DATA_TYPE_UINT32, 2, d, dims, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
	            CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != 0);
}

int main()
{
	static u32 h[ROWS * PITCH];
	unsigned char *out;
	u32 *d;
	void *fn = NULL;
	cudaDriverEntryPointQueryResult found;
	for (int i = 0; i < ROWS * PITCH; i++)
		h[i] = 100u * (i / PITCH) + i % PITCH;
	CHECK(cudaMalloc(&d, sizeof h));
	CHECK(cudaMalloc(&out, 32768));
	CHECK(cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice));
	CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &fn, 12000, cudaEnableDefault, &found));
	encode = (encode_fn *)fn;
	loads(d, out);
	load_three(out);
	for (int mode = 0; mode < 4; mode++) {
		check_store(d, false, 4, 3, mode);
		check_store(d, true, 28, 32, mode);
	}
	refused(d);
	puts("ok");
	return 0;
}

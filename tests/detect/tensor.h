/* tensor.h - the host side of programs that copy tiles of a tensor: of 64 x 64 int in zeroed memory, in boxes of 16 x 8, with rows of
 * 64 bytes that are swizzled if SWIZZLED is defined. The kernel is given its descriptor in global memory. Copies in short words,
 * each one instruction. */
#include <dlfcn.h>
#include "bulk.h"

struct alignas(64) tensor_map { unsigned long long word[16]; };
__global__ void kernel(const tensor_map *map, int *data, int *out);

#define tensor_load(to, map, x, y, b) \
	PTX("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" \
	    : : AT(to), "l"(map), "r"(x), "r"(y), AT(b) : "memory")
#define tensor_store(map, x, y, from) \
	PTX("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3]; cp.async.bulk.commit_group;" \
	    : : "l"(map), "r"(x), "r"(y), AT(from) : "memory")
#define tensor_add(map, x, y, from) \
	PTX("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.bulk_group [%0, {%1, %2}], [%3]; cp.async.bulk.commit_group;" \
	    : : "l"(map), "r"(x), "r"(y), AT(from) : "memory")

typedef int encode_function(void *map, int type, unsigned rank, void *address, const unsigned long long *dims,
                            const unsigned long long *strides, const unsigned *box, const unsigned *steps, int interleave, int swizzle,
                            int promotion, int fill);

/* By cuTensorMapEncodeTiled; 3 is int, 2 rows of 64 bytes. */
static int describe(tensor_map *map, void *data)
{
	static const unsigned long long dims[] = {64, 64}, strides[] = {256};
	static const unsigned box[] = {16, 8}, steps[] = {1, 1};
	void *driver = dlopen("libcuda.so.1", RTLD_NOW);
	encode_function *encode = driver ? (encode_function *)dlsym(driver, "cuTensorMapEncodeTiled") : NULL;
#ifdef SWIZZLED
	const int swizzle = 2;
#else
	const int swizzle = 0;
#endif

	return !encode || encode(map, 3, 2, data, dims, strides, box, steps, 0, swizzle, 0, 0);
}

int main()
{
	int *data, *out;
	tensor_map map, *there;

	if (cudaMalloc(&data, 1 << 16) || cudaMalloc(&out, 1 << 16) || cudaMalloc(&there, sizeof map) || cudaMemset(data, 0, 1 << 16))
		return 3;
	if (describe(&map, data) || cudaMemcpy(there, &map, sizeof map, cudaMemcpyHostToDevice))
		return 3;
	kernel<<<BLOCKS, THREADS>>>(there, data, out);
	return cudaDeviceSynchronize() ? 3 : 0;
}

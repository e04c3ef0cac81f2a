/* tensormap.h - the descriptor of a tensor for copies of tiles, as this simulated GPU lays it out: made by the driver
 * interface (cuTensorMapEncodeTiled), read by cp.async.bulk.tensor (PTX ISA 9.0, Tensors; Tensor-Map). */
#ifndef WS_TENSORMAP_H
#define WS_TENSORMAP_H

#include <stddef.h>
#include <stdint.h>

enum { WS_TENSOR_DIMS = 5 };
#define WS_TENSORMAP_MAGIC 0x6d74657366726177ull         /* tells a descriptor from other bytes */

enum ws_tensor_fill { WS_FILL_ZERO, WS_FILL_NAN };

struct ws_tensormap {                    /* 128 bytes */
	uint64_t magic;
	uint64_t address;                /* of global memory; multiple of 16 */
	uint64_t stride[WS_TENSOR_DIMS - 1];     /* bytes, from dimension 1 on; multiples of 16 */
	uint64_t dim_less_1[WS_TENSOR_DIMS];     /* elements - 1 */
	uint16_t box[WS_TENSOR_DIMS];    /* 1 to 256 */
	uint8_t step[WS_TENSOR_DIMS];    /* element strides, 1 to 8 */
	uint8_t type;                    /* enum ws_type */
	uint8_t rank;
	uint8_t swizzle;                 /* 0: none; else bytes of a row: 32, 64, 128 */
	uint8_t fill;                    /* enum ws_tensor_fill */
	uint8_t flush;                   /* subnormal numbers are read as zero */
	uint8_t pad[12];
	uint64_t check;                  /* see ws_tensormap_check */
};
_Static_assert(sizeof(struct ws_tensormap) == 128, "a CUtensorMap has 128 bytes");

/* The value of `check`: the words before it, mixed, so that a stale or overwritten descriptor is recognized. */
static inline uint64_t ws_tensormap_check(const struct ws_tensormap *m)
{
	const uint64_t *w = (const uint64_t *)(const void *)m;
	uint64_t h = 0;

	for (unsigned i = 0; i < offsetof(struct ws_tensormap, check) / 8; i++)
		h = (h ^ w[i]) * 0x9e3779b97f4a7c15ull;
	return h;
}

#endif

/* drv_tensor.c - driver API: descriptors of tensors for copies of tiles (CUDA Driver API, Tensor Map Object
 * Management).
 * The 128 bytes are opaque to programs; tensormap.h has this simulated GPU's layout of them. */
#include "cuda/drv.h"
#include "gpu/tensormap.h"

#include <string.h>

enum { INTERLEAVE_NONE, MAX_SWIZZLE = 3, MAX_BOX = 256, MAX_STEP = 8 };

static const struct { uint8_t type; bool is_float, flush; } types[] = {   /* by CUtensorMapDataType */
	{WS_U8, 0, 0}, {WS_U16, 0, 0}, {WS_U32, 0, 0}, {WS_S32, 0, 0}, {WS_U64, 0, 0}, {WS_S64, 0, 0}, {WS_F16, 1, 0},
	{WS_F32, 1, 0}, {WS_F64, 1, 0}, {WS_BF16, 1, 0}, {WS_F32, 1, 1},
};

static bool fill_dims(struct ws_tensormap *m, const uint64_t *dims, const uint64_t *strides)
{
	for (unsigned i = 0; i < m->rank; i++) {
		if (!dims[i] || dims[i] > 1ull << 32)
			return false;
		m->dim_less_1[i] = dims[i] - 1;
		if (!i)
			continue;
		if (strides[i - 1] % 16 || strides[i - 1] >= 1ull << 40)
			return false;
		m->stride[i - 1] = strides[i - 1];
	}
	return true;
}

/* The first element stride is ignored without interleaving. */
static bool fill_box(struct ws_tensormap *m, const uint32_t *box, const uint32_t *steps, unsigned width)
{
	for (unsigned i = 0; i < m->rank; i++) {
		uint32_t step = i ? steps[i] : 1;

		if (!box[i] || box[i] > MAX_BOX || !step || step > MAX_STEP)
			return false;
		m->box[i] = (uint16_t)box[i];
		m->step[i] = (uint8_t)step;
	}
	return box[0] * width % 16 == 0 && (!m->swizzle || box[0] * width <= m->swizzle);
}

static bool is_offered(int type, int interleave, int swizzle)
{
	if (type < 0 || (size_t)type >= WS_COUNT(types))
		ws_tell_unsupported("cuTensorMapEncodeTiled (with this data type)");
	else if (interleave != INTERLEAVE_NONE)
		ws_tell_unsupported("cuTensorMapEncodeTiled (with interleaving)");
	else if (swizzle < 0 || swizzle > MAX_SWIZZLE)
		ws_tell_unsupported("cuTensorMapEncodeTiled (with this swizzle mode)");
	else
		return true;
	return false;
}

WS_RT(cuTensorMapEncodeTiled, void *out, int type, unsigned rank, void *address, const uint64_t *dims,
      const uint64_t *strides, const uint32_t *box, const uint32_t *steps, int interleave, int swizzle, int promotion,
      int fill)
{
	struct ws_tensormap m;

	WS_DRV_BEGIN();
	if (!is_offered(type, interleave, swizzle))
		return WS_CUDA_NOT_SUPPORTED;
	if (!out || (uintptr_t)out % 64 || !rank || rank > WS_TENSOR_DIMS || !address || (uintptr_t)address % 16 ||
	    !dims ||
	    (rank > 1 && !strides) || !box || !steps || fill < 0 || fill > 1 || (fill && !types[type].is_float))
		return WS_CUDA_INVALID_VALUE;
	memset(&m, 0, sizeof m);
	m.magic = WS_TENSORMAP_MAGIC;
	m.address = (uint64_t)(uintptr_t)address;
	m.type = types[type].type;
	m.rank = (uint8_t)rank;
	m.swizzle = swizzle ? (uint8_t)(16u << swizzle) : 0;
	m.fill = (uint8_t)fill;
	m.flush = types[type].flush;
	if (!fill_dims(&m, dims, strides) || !fill_box(&m, box, steps, ws_type_bytes(m.type)))
		return WS_CUDA_INVALID_VALUE;
	m.check = ws_tensormap_check(&m);
	memcpy(out, &m, sizeof m);
	return 0;
}

WS_RT(cuTensorMapReplaceAddress, void *map, void *address)
{
	struct ws_tensormap m;

	WS_DRV_BEGIN();
	if (!map || !address || (uintptr_t)address % 16)
		return WS_CUDA_INVALID_VALUE;
	memcpy(&m, map, sizeof m);
	if (m.magic != WS_TENSORMAP_MAGIC || m.check != ws_tensormap_check(&m))
		return WS_CUDA_INVALID_VALUE;
	m.address = (uint64_t)(uintptr_t)address;
	m.check = ws_tensormap_check(&m);
	memcpy(map, &m, sizeof m);
	return 0;
}

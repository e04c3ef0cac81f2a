/* ask.c - what the driver says of a kernel, or of the GPU of the current context. */
#include "real/real_priv.h"

bool ws_real_attribute_of(void **function, int attribute, int *value)
{
	void *of = *function;

	if (!ws_real.cuFuncGetAttribute)
		return false;
	if (!ws_real.cuFuncGetAttribute(value, attribute, of))
		return true;
	if (!ws_real.cuKernelGetFunction || ws_real.cuKernelGetFunction(&of, *function) || ws_real.cuFuncGetAttribute(value, attribute, of))
		return false;
	*function = of;
	return true;
}

uint64_t ws_real_device_attribute(int attribute)
{
	int device, value;

	if (!ws_real.cuCtxGetDevice || !ws_real.cuDeviceGetAttribute || ws_real.cuCtxGetDevice(&device) ||
	    ws_real.cuDeviceGetAttribute(&value, attribute, device) || value < 0)
		return 0;
	return (uint64_t)value;
}

uint64_t ws_real_processors(void)
{
	enum { PROCESSORS = 16 };            /* CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT */

	return ws_real_device_attribute(PROCESSORS);
}

uint64_t ws_real_occupancy(void *function, uint64_t threads, uint64_t dynamic)
{
	int blocks;

	if (threads > WS_RACE_MAX_THREADS || !ws_real.cuOccupancyMaxActiveBlocksPerMultiprocessor ||
	    ws_real.cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, (int)threads, dynamic) || blocks < 0)
		return 0;
	return (uint64_t)blocks;
}

uint64_t ws_real_volume(const unsigned size[3])
{
	return (uint64_t)size[0] * size[1] * size[2];
}

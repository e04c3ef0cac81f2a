/* given.h - launches of kernels that the pass `race` gave one parameter more, of which the test does not know. */
#ifndef GIVEN_H
#define GIVEN_H

#include <string.h>

#include "gpu/gpu.h"

/* Bytes of the other parameters, for struct ws_gpu_launch: that one is zero then. */
static inline uint32_t given_params(const struct ws_gpu_kernel *k)
{
	struct ws_kernel_info info;
	uint32_t last;

	ws_gpu_kernel_info(k, &info);
	last = info.nparams ? info.nparams - 1 : 0;
	if (!info.nparams || strcmp(info.func->params[last]->name, "__warpsafe_launch") != 0)
		return 0;
	return last ? info.param_offset[last - 1] + info.param_size[last - 1] : 1;       /* what is between is not the test's */
}

#endif

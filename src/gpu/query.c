/* query.c - what a detector may ask about a kernel. */
#include "gpu/gpu_priv.h"

const struct ws_ptx_func *ws_gpu_kernel_function(const struct ws_gpu_kernel *k, size_t i)
{
	return k->image && i < k->image->ncodes ? k->image->codes[i]->fn->ptx : NULL;
}

const char *ws_gpu_shared_var(const struct ws_gpu_kernel *k, uint32_t offset, uint32_t *start)
{
	const struct ws_shared_var *best = NULL;

	for (size_t i = 0; k->image && i < k->image->nshared; i++) {
		const struct ws_shared_var *v = &k->image->shared[i];

		if (v->offset <= offset && (!best || v->offset >= best->offset))
			best = v;
	}
	if (!best)
		return NULL;
	*start = best->offset;
	return best->sym->name;
}

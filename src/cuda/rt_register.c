/* rt_register.c - what the code that compilers generate calls before main, and around <<<...>>>.
 *
 * A handle of a fat binary is a pointer to a pointer by type; ours points to the first field of struct ws_binary. */
#include "cuda/rt.h"

enum { MAX_CONFIGURATIONS = 16 };

struct configuration {
	struct ws_dim3 grid, block;
	size_t shared;
	void *stream;
};
static _Thread_local struct configuration configurations[MAX_CONFIGURATIONS];
static _Thread_local unsigned nconfigurations;

static struct ws_binary *binary(void **handle)
{
	return (struct ws_binary *)(void *)handle;
}

WS_RT_(void **, __cudaRegisterFatBinary, const void *wrapper)
{
	return &ws_binary_register(wrapper)->self;
}

WS_RT_(void, __cudaRegisterFatBinaryEnd, void **handle)
{
}

WS_RT_(void, __cudaUnregisterFatBinary, void **handle)
{
	ws_binary_unregister(binary(handle));
}

WS_RT_(void, __cudaRegisterFunction, void **handle, const void *host, char *stub, const char *name)
{
	ws_binary_function(binary(handle), host, name);
}

WS_RT_(void, __cudaRegisterVar, void **handle, const void *host, char *address, const char *name, int external,
       size_t size)
{
	ws_binary_variable(binary(handle), host, name, size, NULL);
}

WS_RT_(void, __cudaRegisterManagedVar, void **handle, void **host, char *address, const char *name, int external,
       size_t size)
{
	ws_binary_variable(binary(handle), host, name, size, host);
}

/* Host variables of unified function tables and of other new forms: device code that needs them fails to load by name.
 */
WS_RT_(void, __cudaRegisterHostVar, void **handle, const char *name, void *address, size_t size)
{
}

WS_RT_(void, __cudaRegisterUnifiedTable, void **handle, void *table)
{
}

WS_RT_(char, __cudaInitModule, void **handle)
{
	return ws_binary_valid(binary(handle)) && ws_managed_ready(binary(handle)) == 0;
}

WS_RT_(unsigned, __cudaPushCallConfiguration, struct ws_dim3 grid, struct ws_dim3 block, size_t shared, void *stream)
{
	if (nconfigurations == MAX_CONFIGURATIONS)
		return WS_CUDA_MISSING_CONFIGURATION;
	configurations[nconfigurations++] = (struct configuration){grid, block, shared, stream};
	return 0;
}

WS_RT(__cudaPopCallConfiguration, struct ws_dim3 *grid, struct ws_dim3 *block, size_t *shared, void **stream)
{
	struct configuration *c;

	if (!nconfigurations)
		return ws_fail(WS_CUDA_MISSING_CONFIGURATION);
	c = &configurations[--nconfigurations];
	*grid = c->grid;
	*block = c->block;
	*shared = c->shared;
	*stream = c->stream;
	return 0;
}

/* The handle is the function even where it cannot be loaded: the launch then says why. */
WS_RT(__cudaGetKernel, void **out, const void *host)
{
	*out = (void *)(uintptr_t)host;
	return 0;
}

/* drv_context.c - driver API: initialization, the device, contexts, limits, errors, entry points. */
#include "cuda/drv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_STACK = 64, DRIVER_VERSION = 13000 };

struct ws_context {
	unsigned flags;
	bool dead;
};

static struct ws_context primary;
static unsigned primary_users;
static _Thread_local struct ws_context *stack[MAX_STACK];
static _Thread_local unsigned depth;

int ws_drv(int code)
{
	switch (code) {
	case WS_CUDA_INVALID_CONFIGURATION:
	case WS_CUDA_INVALID_PITCH:
	case WS_CUDA_INVALID_DEVICE_POINTER:
	case WS_CUDA_INVALID_MEMCPY_DIRECTION:
		return WS_CUDA_INVALID_VALUE;
	case WS_CUDA_INVALID_SYMBOL:
	case WS_CUDA_INVALID_DEVICE_FUNCTION:
		return WS_CUDA_NOT_FOUND;
	default:
		return code;
	}
}

int ws_drv_begin(void)
{
	ws_call_begins();
	return ws_session() ? ws_session_sticky() : WS_CUDA_NOT_INITIALIZED;
}

/* ---- device ---- */
WS_RT(cuInit, unsigned flags)
{
	return flags ? WS_CUDA_INVALID_VALUE : ws_session() ? 0 : WS_CUDA_NOT_INITIALIZED;
}

WS_RT(cuDriverGetVersion, int *version)
{
	if (!version)
		return WS_CUDA_INVALID_VALUE;
	*version = DRIVER_VERSION;
	return 0;
}

WS_RT(cuDeviceGetCount, int *count)
{
	if (!count)
		return WS_CUDA_INVALID_VALUE;
	*count = 1;
	return 0;
}

WS_RT(cuDeviceGet, int *device, int ordinal)
{
	if (!device || ordinal)
		return device ? WS_CUDA_INVALID_DEVICE : WS_CUDA_INVALID_VALUE;
	*device = 0;
	return 0;
}

WS_RT(cuDeviceGetName, char *name, int len, int device)
{
	if (!name || len < 1 || device)
		return device ? WS_CUDA_INVALID_DEVICE : WS_CUDA_INVALID_VALUE;
	snprintf(name, (size_t)len, "%s", ws_device_name);
	return 0;
}

WS_RT(cuDeviceGetUuid_v2, struct ws_uuid *uuid, int device)
{
	if (!uuid || device)
		return device ? WS_CUDA_INVALID_DEVICE : WS_CUDA_INVALID_VALUE;
	*uuid = *ws_device_uuid();
	return 0;
}

WS_RT(cuDeviceTotalMem_v2, size_t *bytes, int device)
{
	uint64_t f, t;

	if (!ws_session())
		return WS_CUDA_NOT_INITIALIZED;
	if (!bytes || device)
		return device ? WS_CUDA_INVALID_DEVICE : WS_CUDA_INVALID_VALUE;
	ws_gpu_mem_info(ws_session()->gpu, &f, &t);
	*bytes = t;
	return 0;
}

WS_RT(cuDeviceGetAttribute, int *value, int attribute, int device)
{
	if (!ws_session())
		return WS_CUDA_NOT_INITIALIZED;
	if (device)
		return WS_CUDA_INVALID_DEVICE;
	return value && ws_attribute(attribute, value) ? 0 : WS_CUDA_INVALID_VALUE;
}

WS_RT(cuDeviceComputeCapability, int *major, int *minor, int device)
{
	if (!ws_session())
		return WS_CUDA_NOT_INITIALIZED;
	if (!major || !minor || device)
		return device ? WS_CUDA_INVALID_DEVICE : WS_CUDA_INVALID_VALUE;
	ws_attribute(75, major);
	ws_attribute(76, minor);
	return 0;
}

WS_RT(cuDeviceGetPCIBusId, char *out, int len, int device)
{
	if (!out || len < 1 || device)
		return device ? WS_CUDA_INVALID_DEVICE : WS_CUDA_INVALID_VALUE;
	snprintf(out, (size_t)len, "0000:01:00.0");
	return 0;
}

WS_RT(cuDeviceCanAccessPeer, int *can, int device, int peer)
{
	if (!can)
		return WS_CUDA_INVALID_VALUE;
	*can = 0;
	return device || peer ? WS_CUDA_INVALID_DEVICE : 0;
}

/* ---- the primary context ---- */
WS_RT(cuDevicePrimaryCtxRetain, void **out, int device)
{
	if (!out || device)
		return device ? WS_CUDA_INVALID_DEVICE : WS_CUDA_INVALID_VALUE;
	__atomic_add_fetch(&primary_users, 1, __ATOMIC_RELAXED);
	*out = &primary;
	return 0;
}

WS_RT(cuDevicePrimaryCtxRelease_v2, int device)
{
	if (device)
		return WS_CUDA_INVALID_DEVICE;
	if (!primary_users)
		return WS_CUDA_INVALID_CONTEXT;
	__atomic_sub_fetch(&primary_users, 1, __ATOMIC_RELAXED);
	return 0;
}

WS_RT(cuDevicePrimaryCtxReset_v2, int device)
{
	return device ? WS_CUDA_INVALID_DEVICE : ws_device_reset();
}

WS_RT(cuDevicePrimaryCtxSetFlags_v2, int device, unsigned flags)
{
	primary.flags = flags;
	return device ? WS_CUDA_INVALID_DEVICE : 0;
}

WS_RT(cuDevicePrimaryCtxGetState, int device, unsigned *flags, int *active)
{
	if (device)
		return WS_CUDA_INVALID_DEVICE;
	if (flags)
		*flags = primary.flags;
	if (active)
		*active = primary_users > 0;
	return 0;
}

/* ---- contexts: all share the one device's memory ---- */
static struct ws_context *current(void)
{
	return depth ? stack[depth - 1] : NULL;
}

static int create(void **out, unsigned flags, int device)
{
	struct ws_context *c;

	if (!ws_session())
		return WS_CUDA_NOT_INITIALIZED;
	if (!out || device)
		return device ? WS_CUDA_INVALID_DEVICE : WS_CUDA_INVALID_VALUE;
	if (depth == MAX_STACK)
		return WS_CUDA_NO_MEMORY;
	c = ws_alloc(sizeof *c);
	c->flags = flags;
	stack[depth++] = c;
	*out = c;
	return 0;
}

WS_RT(cuCtxCreate_v2, void **out, unsigned flags, int device)
{
	return create(out, flags, device);
}

WS_RT(cuCtxCreate_v3, void **out, void *affinity, int naffinity, unsigned flags, int device)
{
	return create(out, flags, device);
}

WS_RT(cuCtxCreate_v4, void **out, void *params, unsigned flags, int device)
{
	return create(out, flags, device);
}

/* The object stays: other threads may have it on their stacks, and find it dead there. */
WS_RT(cuCtxDestroy_v2, void *context)
{
	struct ws_context *c = context;

	if (!c || c == &primary || c->dead)
		return WS_CUDA_INVALID_CONTEXT;
	c->dead = true;
	if (current() == c)
		depth--;
	return 0;
}

WS_RT(cuCtxPushCurrent_v2, void *context)
{
	if (!context || depth == MAX_STACK)
		return context ? WS_CUDA_NO_MEMORY : WS_CUDA_INVALID_CONTEXT;
	stack[depth++] = context;
	return 0;
}

WS_RT(cuCtxPopCurrent_v2, void **out)
{
	if (!depth)
		return WS_CUDA_INVALID_CONTEXT;
	depth--;
	if (out)
		*out = stack[depth];
	return 0;
}

WS_RT(cuCtxSetCurrent, void *context)
{
	if (depth)
		depth--;
	if (context)
		stack[depth++] = context;
	return 0;
}

WS_RT(cuCtxGetCurrent, void **out)
{
	if (!out)
		return WS_CUDA_INVALID_VALUE;
	*out = current();
	return 0;
}

WS_RT(cuCtxGetDevice, int *device)
{
	if (!device)
		return WS_CUDA_INVALID_VALUE;
	*device = 0;
	return current() ? 0 : WS_CUDA_INVALID_CONTEXT;
}

WS_RT(cuCtxGetFlags, unsigned *flags)
{
	if (!flags)
		return WS_CUDA_INVALID_VALUE;
	*flags = current() ? current()->flags : 0;
	return current() ? 0 : WS_CUDA_INVALID_CONTEXT;
}

WS_RT(cuCtxGetApiVersion, void *context, unsigned *version)
{
	if (!version)
		return WS_CUDA_INVALID_VALUE;
	*version = DRIVER_VERSION;
	return 0;
}

WS_RT(cuCtxSynchronize, void)
{
	ws_sync_host_waits_all();
	return ws_drv_begin();
}

WS_RT(cuCtxGetLimit, size_t *value, int limit)
{
	WS_DRV_BEGIN();
	return ws_limit_get(limit, value);
}

WS_RT(cuCtxSetLimit, int limit, size_t value)
{
	WS_DRV_BEGIN();
	return ws_limit_set(limit, value);
}

WS_RT(cuCtxGetCacheConfig, int *config)
{
	if (!config)
		return WS_CUDA_INVALID_VALUE;
	*config = 0;
	return 0;
}

WS_RT(cuCtxSetCacheConfig, int config)
{
	return config < 0 || config > 3 ? WS_CUDA_INVALID_VALUE : 0;
}

WS_RT(cuCtxGetStreamPriorityRange, int *least, int *greatest)
{
	if (least)
		*least = 0;
	if (greatest)
		*greatest = -5;
	return 0;
}

WS_RT(cuProfilerStart, void)
{
	return 0;
}

WS_RT(cuProfilerStop, void)
{
	return 0;
}

/* ---- errors ---- */
WS_RT(cuGetErrorName, int code, const char **out)
{
	if (!out)
		return WS_CUDA_INVALID_VALUE;
	*out = ws_error_driver_name(code);
	return *out ? 0 : WS_CUDA_INVALID_VALUE;
}

WS_RT(cuGetErrorString, int code, const char **out)
{
	if (!out)
		return WS_CUDA_INVALID_VALUE;
	*out = ws_error_driver_name(code) ? ws_error_text(code) : NULL;
	return *out ? 0 : WS_CUDA_INVALID_VALUE;
}

/* ---- entry points ---- */
static int entry_point(const char *name, void **out)
{
	void (*fn)(void) = name ? ws_drv_find(name) : NULL;

	if (!name || !out)
		return WS_CUDA_INVALID_VALUE;
	memcpy(out, &fn, sizeof fn);
	return fn ? 0 : WS_CUDA_NOT_FOUND;
}

WS_RT(cuGetProcAddress, const char *name, void **out, int version, unsigned long long flags)
{
	return entry_point(name, out);
}

WS_RT(cuGetProcAddress_v2, const char *name, void **out, int version, unsigned long long flags, int *status)
{
	int e = entry_point(name, out);

	if (status)
		*status = e ? 1 : 0; /* symbol not found */
	return e;
}

/* rt_device.c - the one device: attributes, properties, limits, versions, and calls that have no effect on it. */
#include "cuda/rt.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { CUDA_VERSION_TOLD = 13000, FLAG_MASK = 0xff, FLAG_MAP_HOST = 8 };

const char ws_device_name[] = "warpsafe simulated GPU";

static unsigned device_flags = FLAG_MAP_HOST;
/* Told back as set; the simulator's own limits are those of its configuration. 0 = not set. */
static size_t limits[WS_LIMIT_COUNT];

/* ---- attributes ---- */
bool ws_attribute(int number, int *value)
{
	const struct ws_gpu_config *c = ws_gpu_config(ws_session()->gpu);
	int sms = (int)c->sms, major = (int)c->cc / 10, minor = (int)c->cc % 10, cluster = c->cc >= 90;

	switch (number) {
#define A(number, name, answer)                                                                                        \
	case number:                                                                                                   \
		*value = (answer);                                                                                     \
		return true;
#include "cuda/attributes.def"
#undef A
	default:
		return false;
	}
}

const struct ws_uuid *ws_device_uuid(void)
{
	static const struct ws_uuid id = {"warpsafe-sim-gpu"};

	return &id;
}

WS_RT(cudaDeviceGetAttribute, int *value, int attribute, int device)
{
	if (!ws_session())
		return ws_fail(WS_CUDA_NOT_INITIALIZED);
	if (device)
		return ws_fail(WS_CUDA_INVALID_DEVICE);
	return ws_fail(value && ws_attribute(attribute, value) ? 0 : WS_CUDA_INVALID_VALUE);
}

static int at(int number)
{
	int value = 0;

	ws_attribute(number, &value);
	return value;
}

/* Fills an array of limits from consecutive attributes. */
static void series(int *to, const short *numbers, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		to[i] = at(numbers[i]);
}

/* The attributes behind maxTexture1D .. maxTextureCubemapLayered and maxSurface1D .. maxSurfaceCubemapLayered, in the
 * order of the struct's fields; CUDA 12 has maxTexture1DLinear in the third place. */
static const short texture_numbers[] = {21, 77, 22, 23, 73, 74, 70, 71, 72, 45, 46, 24, 25,
					26, 47, 48, 49, 52, 42, 43, 27, 28, 29, 53, 54};
static const short texture_numbers12[] = {21, 77, 69, 22, 23, 73, 74, 70, 71, 72, 45, 46, 24,
					  25, 26, 47, 48, 49, 52, 42, 43, 27, 28, 29, 53, 54};
static const short surface_numbers[] = {55, 56, 57, 58, 59, 60, 61, 62, 63, 64, 65, 66, 67, 68};

/* The fields that both layouts have under one name. */
#define COMMON(p)                                                                                                      \
	do {                                                                                                           \
		uint64_t free_, total_;                                                                                \
		memset((p), 0, sizeof *(p));                                                                           \
		ws_gpu_mem_info(ws_session()->gpu, &free_, &total_);                                                   \
		snprintf((p)->name, sizeof(p)->name, "%s", ws_device_name);                                            \
		(p)->uuid = *ws_device_uuid();                                                                         \
		(p)->global_bytes = total_;                                                                            \
		(p)->shared_block = (size_t)at(8);                                                                     \
		(p)->regs_block = at(12);                                                                              \
		(p)->warp = at(10);                                                                                    \
		(p)->pitch = (size_t)at(11);                                                                           \
		(p)->threads_block = at(1);                                                                            \
		series((p)->block, (const short[]){2, 3, 4}, 3);                                                       \
		series((p)->grid, (const short[]){5, 6, 7}, 3);                                                        \
		(p)->const_bytes = (size_t)at(9);                                                                      \
		(p)->major = at(75);                                                                                   \
		(p)->minor = at(76);                                                                                   \
		(p)->texture_align = (size_t)at(14);                                                                   \
		(p)->texture_pitch_align = (size_t)at(51);                                                             \
		(p)->sms = at(16);                                                                                     \
		(p)->integrated = at(18);                                                                              \
		(p)->map_host = at(19);                                                                                \
		series((p)->surfaces, surface_numbers, WS_COUNT(surface_numbers));                                     \
		(p)->surface_align = (size_t)at(30);                                                                   \
		(p)->concurrent_kernels = at(31);                                                                      \
		(p)->ecc = at(32);                                                                                     \
		(p)->pci_bus = at(33);                                                                                 \
		(p)->pci_device = at(34);                                                                              \
		(p)->pci_domain = at(50);                                                                              \
		(p)->tcc = at(35);                                                                                     \
		(p)->async_engines = at(40);                                                                           \
		(p)->unified_addressing = at(41);                                                                      \
		(p)->bus_width = at(37);                                                                               \
		(p)->l2_bytes = at(38);                                                                                \
		(p)->l2_persisting = at(108);                                                                          \
		(p)->threads_sm = at(39);                                                                              \
		(p)->stream_priorities = at(78);                                                                       \
		(p)->global_l1 = at(79);                                                                               \
		(p)->local_l1 = at(80);                                                                                \
		(p)->shared_sm = (size_t)at(81);                                                                       \
		(p)->regs_sm = at(82);                                                                                 \
		(p)->managed = at(83);                                                                                 \
		(p)->multi_gpu = at(84);                                                                               \
		(p)->multi_gpu_group = at(85);                                                                         \
		(p)->host_atomics = at(86);                                                                            \
		(p)->pageable = at(88);                                                                                \
		(p)->concurrent_managed = at(89);                                                                      \
		(p)->preemption = at(90);                                                                              \
		(p)->host_pointer_registered = at(91);                                                                 \
		(p)->cooperative = at(95);                                                                             \
		(p)->shared_optin = (size_t)at(97);                                                                    \
		(p)->pageable_host_tables = at(100);                                                                   \
		(p)->direct_managed = at(101);                                                                         \
		(p)->blocks_sm = at(106);                                                                              \
		(p)->access_window = at(109);                                                                          \
		(p)->shared_reserved = (size_t)at(111);                                                                \
		(p)->host_register = at(99);                                                                           \
		(p)->pools = at(115);                                                                                  \
		(p)->cluster = at(120);                                                                                \
	} while (0)

static void fill13(struct ws_prop13 *p)
{
	COMMON(p);
	series(p->textures, texture_numbers, WS_COUNT(texture_numbers));
	p->host_numa = at(134);
	p->numa_id = at(131);
}

static void fill12(struct ws_prop12 *p)
{
	COMMON(p);
	series(p->textures, texture_numbers12, WS_COUNT(texture_numbers12));
	p->clock = at(13);
	p->memory_clock = at(36);
	p->overlap = at(15);
	p->single_to_double = at(87);
}

static int check_properties(const void *p, int device)
{
	if (!ws_session())
		return WS_CUDA_NOT_INITIALIZED;
	return !p ? WS_CUDA_INVALID_VALUE : device ? WS_CUDA_INVALID_DEVICE : 0;
}

/* The layout of CUDA 13. */
WS_RT(cudaGetDeviceProperties, struct ws_prop13 *p, int device)
{
	int e = check_properties(p, device);

	if (!e)
		fill13(p);
	return ws_fail(e);
}

/* The layout of CUDA 12, whose headers ask for it by this name. */
WS_RT(cudaGetDeviceProperties_v2, struct ws_prop12 *p, int device)
{
	int e = check_properties(p, device);

	if (!e)
		fill12(p);
	return ws_fail(e);
}

/* The layout of CUDA 11 and before, which called it cudaGetDeviceProperties. */
WS_RT(cudaGetDeviceProperties_v11, void *p, int device)
{
	int e = check_properties(p, device);
	struct ws_prop12 all;

	if (!e) {
		fill12(&all);
		memcpy(p, &all, WS_PROP11_BYTES);
	}
	return ws_fail(e);
}

/* ---- choice of a device: there is one ---- */
WS_RT(cudaGetDeviceCount, int *count)
{
	if (!count)
		return ws_fail(WS_CUDA_INVALID_VALUE);
	*count = 1;
	return 0;
}

WS_RT(cudaGetDevice, int *device)
{
	if (!device)
		return ws_fail(WS_CUDA_INVALID_VALUE);
	*device = 0;
	return 0;
}

WS_RT(cudaSetDevice, int device)
{
	return ws_fail(device ? WS_CUDA_INVALID_DEVICE : ws_session() ? 0 : WS_CUDA_NOT_INITIALIZED);
}

WS_RT(cudaInitDevice, int device, unsigned device_flags_, unsigned flags)
{
	return ws_fail(device ? WS_CUDA_INVALID_DEVICE : ws_session() ? 0 : WS_CUDA_NOT_INITIALIZED);
}

WS_RT(cudaSetValidDevices, const int *devices, int n)
{
	return ws_fail(n < 0 || (n && (!devices || devices[0])) ? WS_CUDA_INVALID_DEVICE : 0);
}

WS_RT(cudaChooseDevice, int *device, const void *wish)
{
	if (!device || !wish)
		return ws_fail(WS_CUDA_INVALID_VALUE);
	*device = 0;
	return 0;
}

WS_RT(cudaSetDeviceFlags, unsigned flags)
{
	if (flags & ~(unsigned)FLAG_MASK)
		return ws_fail(WS_CUDA_INVALID_VALUE);
	device_flags = flags | FLAG_MAP_HOST;
	return 0;
}

WS_RT(cudaGetDeviceFlags, unsigned *flags)
{
	if (!flags)
		return ws_fail(WS_CUDA_INVALID_VALUE);
	*flags = device_flags;
	return 0;
}

WS_RT(cudaDeviceGetPCIBusId, char *out, int len, int device)
{
	if (!out || len < 1 || device)
		return ws_fail(device ? WS_CUDA_INVALID_DEVICE : WS_CUDA_INVALID_VALUE);
	snprintf(out, (size_t)len, "0000:01:00.0");
	return 0;
}

WS_RT(cudaDeviceGetByPCIBusId, int *device, const char *id)
{
	if (!device || !id || !strstr(id, "01:00"))
		return ws_fail(device && id ? WS_CUDA_INVALID_DEVICE : WS_CUDA_INVALID_VALUE);
	*device = 0;
	return 0;
}

/* ---- peers: none ---- */
WS_RT(cudaDeviceCanAccessPeer, int *can, int device, int peer)
{
	if (!can)
		return ws_fail(WS_CUDA_INVALID_VALUE);
	*can = 0;
	return ws_fail(device || peer ? WS_CUDA_INVALID_DEVICE : 0);
}

WS_RT(cudaDeviceEnablePeerAccess, int peer, unsigned flags)
{
	return ws_fail(WS_CUDA_INVALID_DEVICE);
}

WS_RT(cudaDeviceDisablePeerAccess, int peer)
{
	return ws_fail(peer ? WS_CUDA_INVALID_DEVICE : WS_CUDA_PEER_NOT_ENABLED);
}

WS_RT(cudaDeviceGetP2PAttribute, int *value, int attribute, int from, int to)
{
	return ws_fail(WS_CUDA_INVALID_DEVICE);
}

/* ---- synchronization, reset ---- */
WS_RT(cudaDeviceSynchronize, void)
{
	ws_sync_host_waits_all();
	return ws_begin();
}

int ws_device_reset(void)
{
	if (!ws_session())
		return WS_CUDA_NOT_INITIALIZED;
	ws_sync_host_waits_all();
	ws_session_set_sticky(0);
	ws_last_error(true);
	return 0;
}

/* What a failed kernel left is cleared. Memory stays allocated: addresses from before stay harmless. */
WS_RT(cudaDeviceReset, void)
{
	return ws_fail(ws_device_reset());
}

/* ---- limits ---- */
int ws_limit_get(int limit, size_t *value)
{
	const struct ws_gpu_config *c = ws_gpu_config(ws_session()->gpu);
	const size_t standard[WS_LIMIT_COUNT] = {c->stack_bytes, 1 << 20, c->heap_bytes, 2, 2048, 64, 0};

	if (limit < 0 || limit >= WS_LIMIT_COUNT)
		return WS_CUDA_UNSUPPORTED_LIMIT;
	if (!value)
		return WS_CUDA_INVALID_VALUE;
	*value = limits[limit] ? limits[limit] : standard[limit];
	return 0;
}

int ws_limit_set(int limit, size_t value)
{
	if (limit < 0 || limit >= WS_LIMIT_COUNT)
		return WS_CUDA_UNSUPPORTED_LIMIT;
	limits[limit] = value;
	if (limit == 0) /* cudaLimitStackSize */
		ws_gpu_set_stack(ws_session()->gpu, value);
	if (limit == 2) /* cudaLimitMallocHeapSize */
		ws_gpu_set_heap(ws_session()->gpu, value);
	return 0;
}

WS_RT(cudaDeviceGetLimit, size_t *value, int limit)
{
	WS_BEGIN();
	return ws_fail(ws_limit_get(limit, value));
}

WS_RT(cudaDeviceSetLimit, int limit, size_t value)
{
	WS_BEGIN();
	return ws_fail(ws_limit_set(limit, value));
}

/* ---- caches, profiler: accepted, without effect ---- */
WS_RT(cudaDeviceGetCacheConfig, int *config)
{
	WS_BEGIN();
	if (!config)
		return ws_fail(WS_CUDA_INVALID_VALUE);
	*config = 0;
	return 0;
}

WS_RT(cudaDeviceSetCacheConfig, int config)
{
	WS_BEGIN();
	return ws_fail(config < 0 || config > 3 ? WS_CUDA_INVALID_VALUE : 0);
}

WS_RT(cudaDeviceGetSharedMemConfig, int *config)
{
	WS_BEGIN();
	if (!config)
		return ws_fail(WS_CUDA_INVALID_VALUE);
	*config = 1; /* banks of four bytes */
	return 0;
}

WS_RT(cudaDeviceSetSharedMemConfig, int config)
{
	WS_BEGIN();
	return ws_fail(config < 0 || config > 2 ? WS_CUDA_INVALID_VALUE : 0);
}

WS_RT(cudaProfilerStart, void)
{
	return ws_begin();
}

WS_RT(cudaProfilerStop, void)
{
	return ws_begin();
}

/* ---- versions ---- */
WS_RT(cudaDriverGetVersion, int *version)
{
	if (!version)
		return ws_fail(WS_CUDA_INVALID_VALUE);
	*version = CUDA_VERSION_TOLD;
	return 0;
}

WS_RT(cudaRuntimeGetVersion, int *version)
{
	if (!version)
		return ws_fail(WS_CUDA_INVALID_VALUE);
	*version = CUDA_VERSION_TOLD;
	return 0;
}

/* ---- entry points of the driver API ---- */
static int entry_point(const char *name, void **out, int *status)
{
	void (*fn)(void) = name ? ws_drv_find(name) : NULL;

	if (!name || !out)
		return WS_CUDA_INVALID_VALUE;
	memcpy(out, &fn, sizeof fn);
	if (status)
		*status = fn ? 0 : 1; /* symbol not found */
	return 0;
}

WS_RT(cudaGetDriverEntryPoint, const char *name, void **out, unsigned long long flags, int *status)
{
	WS_BEGIN();
	return ws_fail(entry_point(name, out, status));
}

WS_RT(cudaGetDriverEntryPointByVersion, const char *name, void **out, unsigned version, unsigned long long flags,
      int *status)
{
	WS_BEGIN();
	return ws_fail(entry_point(name, out, status));
}

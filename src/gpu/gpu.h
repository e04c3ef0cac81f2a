/* gpu.h - the simulated GPU, functional: memories, modules, launches.
 *
 * A warp executes at a time: a register is an array of 32 lanes; code is decoded once; thread blocks spread over the
 * host's cores. One ws_gpu may be used by several host threads; calls are serialized inside, a launch runs to its
 * end before it returns. Errors never end the process: they come back as struct ws_gpu_error. */
#ifndef WS_GPU_H
#define WS_GPU_H

#include "gpu/observer.h"

enum ws_divergence { WS_DIV_AUTO /* its from sm_70 on, else stack */, WS_DIV_STACK, WS_DIV_ITS };
struct ws_clock_ops;                     /* step.h */
enum ws_schedule { WS_SCHED_RR, WS_SCHED_RANDOM, WS_SCHED_PRIORITY };

struct ws_gpu_config {
	enum ws_divergence divergence;
	enum ws_schedule schedule;
	bool plain_calls;            /* stack, with a clock: calls get no entry, so that threads of different depth of a
	                              * recursion meet, as if they were of one (diverge_stack.c) */
	uint64_t seed;
	uint32_t host_threads;       /* 0 = one a core */
	uint64_t max_instructions;   /* warp instructions a launch; 0 = no limit */
	double timeout_s;            /* a launch; 0 = none */
	double silence_s;            /* CPU time for which all poll the same places and nothing changes: a deadlock; 0 = 2 */
	uint32_t sms;                /* 0 = 132 */
	uint32_t cc;                 /* compute capability told to programs, 10 * major + minor; 0 = 90 */
	uint64_t memory;             /* device memory in bytes; 0 = 16 GiB */
	uint32_t shared_reserved;    /* bytes of each block's shared memory before the program's: 1,024 on GPUs from sm_80 on */
	uint64_t stack_bytes;        /* of a thread; 0 = 64 KiB */
	uint64_t heap_bytes;         /* device malloc; 0 = 256 MiB */
	bool watch_host;             /* managed and pinned memory in two views, for ws_gpu_host_views */
	int printf_fd;               /* where device printf goes; -1 = stdout (the C stream) */
	const struct ws_observer_ops *observer;  /* NULL = none */
	void *observer_self;
	const struct ws_clock_ops *clock;        /* who runs launches in place of the host threads; NULL = nobody */
	void *clock_self;
};

enum ws_gpu_errcode {                /* what the CUDA front turns into cudaError_t / CUresult */
	WS_GPU_OK, WS_GPU_NO_MEMORY, WS_GPU_BAD_ADDRESS /* out of bounds, freed, null */, WS_GPU_MISALIGNED,
	WS_GPU_BAD_INSTRUCTION, WS_GPU_TRAP, WS_GPU_ASSERT, WS_GPU_DEADLOCK, WS_GPU_LIMIT /* instructions, time */,
	WS_GPU_STACK, WS_GPU_BAD_LAUNCH /* too many threads, shared memory, ... */, WS_GPU_BAD_MODULE, WS_GPU_UNSUPPORTED,
	WS_GPU_NOT_FOUND, WS_GPU_BAD_PC /* indirect call or branch to nowhere */
};

struct ws_gpu_error {
	enum ws_gpu_errcode code;
	struct ws_buf text;          /* for people, several lines: what, where, which thread, which allocation. Owned by
	                              * the caller, who frees it with ws_buf_free */
};

struct ws_gpu *ws_gpu_create(const struct ws_gpu_config *config);
void ws_gpu_destroy(struct ws_gpu *g);
const struct ws_gpu_config *ws_gpu_config(const struct ws_gpu *g);   /* with the defaults filled in */

/* ---- memory. A device address is usable by kernels; .host says where the bytes are for copies ---- */
/* NULL when no device memory is left. DEVICE memory is not readable by the host at its device address (as on a real
 * GPU), MANAGED and HOST memory is: the program uses addr as a pointer. Addresses are not reused soon, so that a late access is
 * recognized. align: power of two, 0 = 256. origin is copied. */
struct ws_mem *ws_gpu_mem_new(struct ws_gpu *g, uint64_t size, uint64_t align, enum ws_mem_kind kind, const char *origin);
/* Makes the program's own memory visible to kernels (cudaHostRegister); addr == host address. NULL if it overlaps. */
struct ws_mem *ws_gpu_mem_register(struct ws_gpu *g, void *host, uint64_t size, const char *origin);
/* The addresses at which the program has managed and pinned memory: [*base, *end), which grows. Accesses by ws_mem.host
 * do not go through them, so they may be protected. false: not so (watch_host was not wanted, or the system refused). */
bool ws_gpu_host_views(const struct ws_gpu *g, uint64_t *base, uint64_t *end);
bool ws_gpu_mem_free(struct ws_gpu *g, uint64_t addr);               /* false: no live allocation starts there */
struct ws_mem *ws_gpu_mem_find(struct ws_gpu *g, uint64_t addr);     /* live stretch that holds addr, or NULL */
/* Zeroes bytes of m, at their address in this process. Of device memory that nothing was stored to yet no page is taken. Any thread. */
void ws_gpu_mem_zero(const struct ws_mem *m, uint8_t *host, uint64_t bytes);
/* cudaDeviceSetLimit: bytes of the device's malloc heap, and of a thread's stack (only raised), from the next launch on */
void ws_gpu_set_heap(struct ws_gpu *g, uint64_t bytes);
void ws_gpu_set_stack(struct ws_gpu *g, uint64_t bytes);
void ws_gpu_mem_info(struct ws_gpu *g, uint64_t *free_bytes, uint64_t *total_bytes);
/* "float *d_in (cudaMalloc #3 at app.cu:12), 4096 bytes, 16 bytes past its end": describes addr by the nearest
 * allocation, live or freed. */
void ws_gpu_mem_describe(struct ws_gpu *g, uint64_t addr, struct ws_buf *out);

/* ---- modules ---- */
struct ws_gpu_module;
/* Decodes all functions and lays out variables. The module (and its text) must outlive it; the caller keeps
 * ownership of m. An extern that cannot be resolved, or an instruction that the simulator does not know, is an
 * error only when a kernel that uses it is launched, unless it is a synchronizing one, which is named either way.
 * Several modules given together (n > 1) are linked: relocatable device code. */
struct ws_gpu_module *ws_gpu_module_load(struct ws_gpu *g, struct ws_ptx_module *const *m, size_t n,
                                         struct ws_gpu_error *err);
void ws_gpu_module_unload(struct ws_gpu *g, struct ws_gpu_module *mod);
struct ws_mem *ws_gpu_module_var(struct ws_gpu_module *mod, const char *name);      /* __device__, __constant__ */
struct ws_gpu_kernel *ws_gpu_module_kernel(struct ws_gpu_module *mod, const char *name);  /* entry or NULL */
/* Walks the kernels: i from 0; NULL at the end. */
struct ws_gpu_kernel *ws_gpu_module_kernel_at(struct ws_gpu_module *mod, size_t i);
/* Generic address of a device function for function-pointer variables; 0 if unknown. */
uint64_t ws_gpu_function_address(struct ws_gpu_module *mod, const char *name);

struct ws_kernel_info {
	const char *name;            /* as in PTX (mangled) */
	uint32_t nparams;
	const uint32_t *param_offset, *param_size;   /* in the parameter buffer */
	uint32_t param_bytes;
	uint32_t regs;               /* 32-bit registers a thread would need, estimated from liveness */
	uint32_t shared_static, local_bytes, const_bytes;
	uint32_t max_threads;        /* .maxntid / .reqntid or 1024 */
	uint32_t ptx_version, sm;
	uint64_t launches;           /* so far */
	uint64_t thread_instructions;/* so far */
	const struct ws_ptx_func *func;
};
void ws_gpu_kernel_info(const struct ws_gpu_kernel *k, struct ws_kernel_info *info);

/* The i-th function that the kernel can reach, itself first; NULL at the end, and before its first launch. */
const struct ws_ptx_func *ws_gpu_kernel_function(const struct ws_gpu_kernel *k, size_t i);
/* The variable of the kernel's shared memory that holds that offset, and where it begins; NULL if there is none. */
const char *ws_gpu_shared_var(const struct ws_gpu_kernel *k, uint32_t offset, uint32_t *start);

/* ---- launches ---- */
struct ws_gpu_launch {
	uint32_t grid[3], block[3], cluster[3];      /* cluster: zeros = none */
	uint32_t shared_dynamic;                     /* bytes */
	const void *params;                          /* laid out by param_offset */
	uint32_t param_bytes;                        /* of params, the rest is zero; 0 = as many as the kernel takes */
	bool cooperative;
	uint64_t stream;
	uint64_t gridid;                             /* %gridid; 0 = the number of the launch */
};
struct ws_gpu_stats {
	uint64_t thread_instructions, warp_instructions, divergent_branches, barriers;
	double seconds;
};
/* Runs to the end. false: *err says why (the kernel ended there; memory keeps what was written). stats may be NULL. */
bool ws_gpu_launch(struct ws_gpu *g, struct ws_gpu_kernel *k, const struct ws_gpu_launch *l, struct ws_gpu_stats *stats,
                   struct ws_gpu_error *err);
/* How many blocks of this kernel fit on one simulated SM at once (cooperative launches, occupancy calls). */
uint32_t ws_gpu_occupancy(const struct ws_gpu *g, const struct ws_gpu_kernel *k, uint32_t threads, uint64_t shared_dynamic);

/* From the next launch on, another observer of kernels (memory stays with the first one); both need the same of it. */
void ws_gpu_observe(struct ws_gpu *g, const struct ws_observer_ops *ops, void *self);

#endif

/* observer.h - what the simulated GPU tells a detector (interface 1 of the architecture).
 *
 * An observer is one table of functions. Every callback may be NULL; `needs` says what the executor must produce.
 * The executor pays nothing for what nobody needs. Callbacks of different thread blocks come from different host
 * threads at the same time (launch->host_threads > 1); those of one block come one after the other, in the order of
 * execution. Accesses that synchronize (atomics, and ld/st with .relaxed, .acquire, .release, .volatile) are
 * delivered under a lock that also covers their effect on memory, so that their order at one address is the order
 * of the callbacks. Structs live only during the call, except launch/block/warp, which live from begin to end. */
#ifndef WS_OBSERVER_H
#define WS_OBSERVER_H

#include "ptx/ptx.h"

struct ws_gpu;
struct ws_gpu_kernel;

/* A stretch of device-visible memory: one allocation, one variable of a module, or registered host memory. */
enum ws_mem_kind { WS_MEM_DEVICE, WS_MEM_MANAGED, WS_MEM_HOST, WS_MEM_SYMBOL, WS_MEM_CONST, WS_MEM_HEAP /* device malloc */ };
struct ws_mem {
	uint64_t addr, size;         /* device address; bytes */
	uint8_t *host;               /* where the bytes are in this process */
	enum ws_mem_kind kind;
	bool freed;
	const char *name;            /* variable, or NULL */
	uint64_t serial;             /* allocations are numbered from 1 */
	const char *origin;          /* "cudaMalloc at app.cu:12" or "cudaMalloc #3"; NULL if unknown */
	void *obs;                   /* the observer's own (shadow memory); NULL at first */
};

/* One instruction of a loaded module. `id` is dense from 0 within the simulated GPU, for tables. */
struct ws_site {
	uint32_t id;
	const struct ws_ptx_func *func;
	const struct ws_ptx_inst *inst;
};

struct ws_obs_launch {
	const struct ws_gpu_kernel *kernel;
	const char *name;            /* kernel, demangled where possible */
	uint64_t serial;             /* launches are numbered from 1 */
	uint32_t grid[3], block[3], cluster[3];
	uint64_t blocks;             /* number of thread blocks */
	uint32_t threads;            /* threads of a block */
	uint32_t warps;              /* warps of a block */
	uint32_t host_threads;
	uint32_t shared_bytes;       /* static + dynamic, of a block */
	bool its;                    /* independent threads; else the post-dominator stack orders the lanes of a warp */
	bool cooperative;
	uint64_t stream;
	void *state;                 /* the observer's own */
};

struct ws_obs_block {
	struct ws_obs_launch *launch;
	uint64_t linear;             /* x + nx * (y + ny * z) */
	uint32_t ctaid[3];
	uint32_t host_thread;        /* 0 .. host_threads - 1 */
	uint8_t *shared;             /* the block's shared memory, shared_bytes */
	void *state;
};

struct ws_obs_warp {
	struct ws_obs_block *block;
	uint32_t index;              /* in its block; thread = index * 32 + lane, x fastest */
	uint32_t lanes;              /* lanes that exist (the last warp may be partial) */
	uint32_t exited;             /* lanes that have ended */
	void *state;
};

enum ws_access_kind { WS_READ, WS_WRITE, WS_ATOMIC /* atom, red: read and write at once */ };

struct ws_access {
	const struct ws_site *site;
	uint32_t mask;               /* lanes that take part */
	uint32_t wrote;              /* ATOMIC: lanes that changed memory (a CAS that failed only read); WRITE: == mask */
	uint8_t kind;                /* enum ws_access_kind */
	uint8_t space;               /* WS_SPACE_GLOBAL or WS_SPACE_SHARED; generic addresses are resolved */
	uint8_t sem, scope;          /* enum ws_sem, ws_scope, with PTX's defaults filled in (atom: relaxed, gpu; plain:
	                              * weak, none; volatile: volatile, sys) */
	uint8_t atom;                /* enum ws_atom of ATOMIC */
	uint16_t bytes;              /* a lane's bytes: element size times vector length, 1..32 */
	bool nc;                     /* ld.global.nc */
	bool linear;                 /* lane l of mask accesses base + l * bytes */
	uint64_t base;               /* when linear: address that lane 0 has or would have */
	const uint64_t *addr;        /* 32 addresses, valid for lanes in mask. SHARED: offset in the block's shared
	                              * memory (a lane that reaches another block's, in a cluster: see peer) */
	struct ws_mem *mem;          /* GLOBAL: the stretch that holds all lanes; NULL = several, use ws_gpu_mem_find */
	struct ws_obs_block *peer;   /* SHARED: block whose shared memory it is; NULL = the warp's own */
	const void *value;           /* WRITE: the new values, lane l's bytes at l * bytes; called before memory changes.
	                              * ATOMIC: the old values (READ: NULL); called after memory changed */
	const uint8_t *target;       /* WRITE with linear: the bytes in memory of lane 0's address, before the change */
};

struct ws_barrier {              /* a block barrier that has completed */
	uint32_t id;                 /* 0..15 */
	bool full;                   /* every thread of the block that has not exited took part and waited */
	const uint32_t *arrived;     /* a mask a warp: arrived, waiting or not */
	const uint32_t *waited;      /* a mask a warp: went on only now */
};

struct ws_fence { enum ws_sem sem; enum ws_scope scope; const char *proxy; /* NULL = none */ };

/* Copies, memsets and host accesses between kernels; for order between launches. */
struct ws_host_op { enum { WS_HOST_READ, WS_HOST_WRITE } kind; uint64_t addr, size, stream; const char *call; };

enum ws_need {
	WS_NEED_GLOBAL = 1 << 0, WS_NEED_SHARED = 1 << 1,  /* accesses of that space */
	WS_NEED_SYNC = 1 << 2,                             /* barrier, warp_sync, fence, exit */
	WS_NEED_VALUES = 1 << 3                            /* value and target of accesses */
};

#define WS_OBSERVER_ABI 1
struct ws_observer_ops {             /* fields are only appended */
	uint32_t abi;                /* WS_OBSERVER_ABI */
	const char *name, *help;
	uint32_t needs;              /* enum ws_need */
	void (*launch_begin)(void *self, struct ws_obs_launch *l);
	void (*launch_end)(void *self, struct ws_obs_launch *l, bool completed);
	void (*block_begin)(void *self, struct ws_obs_block *b);
	void (*block_end)(void *self, struct ws_obs_block *b);
	void (*warp_begin)(void *self, struct ws_obs_warp *w);
	void (*warp_end)(void *self, struct ws_obs_warp *w);
	void (*access)(void *self, struct ws_obs_warp *w, const struct ws_access *a);
	void (*barrier)(void *self, struct ws_obs_block *b, const struct ws_barrier *bar);
	void (*warp_sync)(void *self, struct ws_obs_warp *w, uint32_t mask);   /* bar.warp.sync completed */
	void (*fence)(void *self, struct ws_obs_warp *w, uint32_t mask, const struct ws_fence *f);
	void (*thread_exit)(void *self, struct ws_obs_warp *w, uint32_t mask);
	void (*mem_new)(void *self, struct ws_mem *m);     /* before anyone can access it */
	void (*mem_free)(void *self, struct ws_mem *m);    /* m->obs must be given up here */
	void (*host_op)(void *self, const struct ws_host_op *op);
	/* bar.arrive was executed: the lanes go on without waiting; `barrier` follows when all have come */
	void (*barrier_arrive)(void *self, struct ws_obs_warp *w, uint32_t mask, uint32_t id);
};

#endif

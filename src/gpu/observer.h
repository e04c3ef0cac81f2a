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
	bool inserted;               /* of code that src/rewrite inserted ("__warpsafe_..."): changes there are no progress
	                              * of the program */
	const char *name;            /* variable, or NULL */
	uint64_t serial;             /* allocations are numbered from 1 */
	const char *origin;          /* "cudaMalloc at app.cu:12" or "cudaMalloc #3"; NULL if unknown */
	void *obs;                   /* the observer's own (shadow memory); NULL at first */
	uint64_t written;            /* the last launch that could write it, by its serial (see unwritten_untold);
	                              * UINT64_MAX: each can */
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
	uint32_t grid[3], block[3], cluster[3];      /* cluster: zeros = none, and no barrier.cluster either */
	uint64_t blocks;             /* number of thread blocks */
	uint32_t threads;            /* threads of a block */
	uint32_t warps;              /* warps of a block */
	uint32_t host_threads;
	uint32_t shared_bytes;       /* static + dynamic, of a block */
	bool its;                    /* independent threads; else the post-dominator stack orders the lanes of a warp */
	bool cooperative;
	uint64_t stream;
	void *state;                 /* the observer's own */
	/* The observer may set this in launch_begin: weak reads of memory that the kernel's code cannot write (mem->written
	 * below this launch's serial) are not told then, only counted. After launch_begin the simulator takes it back when it
	 * cannot tell what the kernel writes. A store into memory that is not marked (a pointer that has left its allocation)
	 * is told as any other; what was read there before was not: the observer has to say so. */
	bool unwritten_untold;
	uint64_t untold;             /* in launch_end: accesses of threads that were not told for that reason */
};

/* Reads and atomics of shared memory are frequent, and in many barrier intervals all that happens there. An observer
 * may lend a block a log: weak reads (WS_NOTE_READ) and relaxed atomics of 4 bytes that changed memory in all lanes and
 * are no CAS or EXCH (WS_NOTE_ATOMIC), of the block's own shared memory, then become notes there instead of calls of
 * `access`, as long as `accept` has their kind and WS_NOTE_MAX bytes are free. The first note leaves only its own kind
 * in `accept`. The observer reads and empties the log in its callbacks for that block. Notes follow one another.
 *
 * With `tags`, which the observer lends too, kinds of `tagged` (weak writes also, WS_NOTE_WRITE) become notes when
 * ws_gpu_note_mark says so: a tag a word (or byte) says which thread accessed it since the tags' number is the one it is, and
 * whether it was written, only read, by several threads, or updated by atomics. As long as all accesses agree with that, no
 * two of them conflict. */
enum { WS_NOTE_READ = 1, WS_NOTE_ATOMIC = 2, WS_NOTE_WRITE = 4, WS_NOTE_MAX = 48 + 4 * WS_WARP };
/* A tag: number | state | thread of the block. Tags of another number are empty. */
enum { WS_TAG_THREAD = (1 << 10) - 1, WS_TAG_WRITTEN = 1 << 10, WS_TAG_READERS = 1 << 11, WS_TAG_ATOMIC = 1 << 12,
       WS_TAG_NUMBER = 13 /* bits below it */ };
struct ws_note {
	uint64_t stamp[2];           /* copy of the first 16 bytes of the warp's `state` */
	const struct ws_site *site;
	uint32_t warp, mask;
	uint32_t base[2];            /* lane l at base[0] + l * step[0], from 16 on at base[1] + (l - 16) * step[1]; */
	uint8_t step[2];
	uint8_t scattered;           /* ... or after the note, 32 addresses: 1 = of 2 bytes; 2 = of 2, in units of 4 bytes; 4 =
	                              * of 4 bytes */
	uint8_t kind, bytes, sem, scope, atom;
};
struct ws_note_log {
	uint32_t accept;             /* WS_NOTE_READ, WS_NOTE_ATOMIC */
	uint32_t used, size;         /* bytes of data */
	uint8_t *data;
	uint64_t accesses;           /* of threads, added up */
	uint32_t tagged;             /* kinds that are marked and noted; then `accept` is 0 */
	uint32_t kinds;              /* that were noted while tagged */
	uint32_t *tags, ntags, tag_number;
	uint8_t tag_shift;           /* 2: a tag is for a word; 0: for a byte */
	bool clash;                  /* an access did not agree with the tags */
};
/* Marks what lanes of a warp access, `bytes` each, a multiple of what a tag is for, as are the addresses. false: it does not
 * agree with the tags and may conflict with an earlier access, or two lanes write one word; the tags are of no use then. */
bool ws_gpu_note_mark(struct ws_note_log *g, uint32_t warp, uint32_t mask, uint32_t kind, uint32_t bytes,
                      const uint64_t addr[WS_WARP]);

/* The lanes whose address is origin + 4 * word[lane], a bit each. */
uint32_t ws_gpu_lanes_at(const uint64_t addr[WS_WARP], uint64_t origin, const uint32_t word[WS_WARP]);
/* Those whose address is one of so many bytes from `from` on (which may wrap); those of the same address in both. */
uint32_t ws_gpu_lanes_in(const uint64_t addr[WS_WARP], uint64_t from, uint64_t bytes);
uint32_t ws_gpu_lanes_same(const uint64_t addr[WS_WARP], const uint64_t other[WS_WARP]);

struct ws_obs_block {
	struct ws_obs_launch *launch;
	uint64_t linear;             /* x + nx * (y + ny * z) */
	uint32_t ctaid[3];
	uint32_t host_thread;        /* 0 .. host_threads - 1 */
	uint8_t *shared;             /* the block's shared memory, shared_bytes */
	void *state;
	struct ws_note_log *notes;   /* the observer's; NULL = every access is told */
	bool grid_waited;            /* a thread of the block has executed griddepcontrol.wait */
};

struct ws_obs_warp {
	struct ws_obs_block *block;
	uint32_t index;              /* in its block; thread = index * 32 + lane, x fastest */
	uint32_t lanes;              /* lanes that exist (the last warp may be partial) */
	uint32_t exited;             /* lanes that have ended */
	void *state;
};

/* Asynchronous operations (PTX ISA 9.0, Asynchronous Operations). An instruction starts one for each of its lanes; its
 * accesses are delivered at that instruction, but they happen at any time between there and its completion, as if by
 * another thread. Operations are numbered from 1, without gaps, in one sequence for each `track`: a kind and
 * - WS_ASYNC_CP, _BULK, _WGMMA: the warp (all lanes of one instruction have one number). A lane waits for a prefix of
 *   its own operations (async_wait). A group of _WGMMA is its warpgroup's, of four warps that have the same numbers: who
 *   waits for one has waited for what all of them read;
 * - WS_ASYNC_MBARRIER: an mbarrier object. They are complete when a phase of it completes (WS_MBAR_PHASE). */
enum ws_async {
	WS_ASYNC_NONE,
	WS_ASYNC_CP,                 /* cp.async, completed by groups or cp.async.mbarrier.arrive; generic proxy */
	WS_ASYNC_BULK,               /* bulk and tensor copies completed by bulk groups; async proxy */
	WS_ASYNC_WGMMA,              /* wgmma.mma_async's reads of shared memory; async proxy */
	WS_ASYNC_MBARRIER            /* bulk and tensor copies, st.async, red.async, completed at an mbarrier; async proxy */
};

/* What the simulator found out about naturally aligned addresses on its way. */
enum ws_shape {
	WS_SHAPE_ANY,
	WS_SHAPE_STEP,               /* all lanes, lane l at addr[0] + l * step, step >= bytes */
	WS_SHAPE_HALVES,             /* all lanes; lanes 0-15 and lanes 16-31 are each linear and do not overlap */
	WS_SHAPE_SAME                /* the lanes of the mask are all at one address */
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
	uint8_t shape;               /* enum ws_shape, of an access that is not linear */
	uint32_t step;               /* WS_SHAPE_STEP */
	const uint64_t *addr;        /* 32 addresses, valid for lanes in mask. SHARED: offset in the block's shared
	                              * memory (a lane that reaches another block's, in a cluster: see peer) */
	struct ws_mem *mem;          /* GLOBAL: the stretch that holds all lanes; NULL = several, use ws_gpu_mem_find */
	struct ws_obs_block *peer;   /* SHARED: block whose shared memory it is; NULL = the warp's own */
	const void *value;           /* WRITE: the new values, lane l's bytes at l * bytes; called before memory changes.
	                              * ATOMIC: the old values (READ: NULL); called after memory changed */
	const uint8_t *target;       /* WRITE with linear: the bytes in memory of lane 0's address, before the change */
	uint8_t async;               /* enum ws_async; value and target are NULL unless NONE. A bulk operation of one lane
	                              * comes as several accesses of up to 32 lanes' worth each: `mask` then holds all
	                              * "lanes" of the piece and `issuer` the lane that started it */
	uint8_t issuer;              /* async with a bulk piece: the lane; else WS_WARP: every lane for itself */
	uint64_t op;                 /* async: number in its track */
	struct ws_obs_block *mbar_block;     /* WS_ASYNC_MBARRIER: whose shared memory the object is in */
	uint32_t mbar;               /* WS_ASYNC_MBARRIER: the object's offset there */
};

struct ws_barrier {              /* a block barrier that has completed */
	uint32_t id;                 /* 0..15 */
	bool full;                   /* every thread of the block waited; those that have exited only if there is no count */
	const uint32_t *arrived;     /* a mask a warp: arrived, waiting or not */
	const uint32_t *waited;      /* a mask a warp: went on only now */
};

struct ws_fence { enum ws_sem sem; enum ws_scope scope; const char *proxy; /* NULL = none */ };

/* mbarrier objects. The access to the object itself (init: a weak WRITE; inval: a relaxed one; else ATOMIC, relaxed, 8
 * bytes) is delivered as an access before. */
enum ws_mbar_op {
	WS_MBAR_INIT, WS_MBAR_INVAL,
	WS_MBAR_ARRIVE,              /* by lanes; what they did before is released when sem is RELEASE */
	WS_MBAR_ARRIVE_CP,           /* cp.async.mbarrier.arrive: by the lanes' cp.async operations up to op[lane] */
	WS_MBAR_WAIT,                /* test_wait or try_wait found the phase complete; lanes acquire when sem is ACQUIRE */
	WS_MBAR_PHASE                /* a phase has completed, with all arrivals and operations (<= op[0]) so far; no warp */
};
struct ws_mbar {
	enum ws_mbar_op kind;
	uint32_t mask;
	uint8_t sem, scope;
	struct ws_obs_block *block;  /* in whose shared memory the object is */
	uint32_t offset;             /* there */
	uint32_t phase;              /* number of the phase: arrivals are of it, waits saw it complete; the first is 0 */
	const uint64_t *op;          /* ARRIVE_CP: by lane; PHASE: one number */
	const struct ws_site *site;  /* NULL for PHASE */
};

/* barrier.cluster. COMPLETE comes once a phase, with any warp of the cluster, before the first WAIT of it. */
enum ws_cluster_op { WS_CLUSTER_ARRIVE, WS_CLUSTER_WAIT, WS_CLUSTER_COMPLETE };
struct ws_cluster_barrier {
	enum ws_cluster_op kind;
	uint32_t mask;
	uint8_t sem;                 /* ARRIVE: RELEASE or RELAXED; WAIT: ACQUIRE (or RELAXED) */
	uint64_t cluster;            /* number of the cluster in the launch */
};

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
	/* bar.arrive was executed: the lanes go on without waiting; `barrier` follows when all have come */
	void (*barrier_arrive)(void *self, struct ws_obs_warp *w, uint32_t mask, uint32_t id);
	/* Lane l's operations of that kind up to done[l] are complete for it; reads_only: only their reads of the source
	 * (cp.async.bulk.wait_group.read) */
	void (*async_wait)(void *self, struct ws_obs_warp *w, uint32_t mask, enum ws_async kind, const uint64_t done[WS_WARP],
	                   bool reads_only);
	void (*mbarrier)(void *self, struct ws_obs_warp *w, const struct ws_mbar *m);       /* w: NULL for PHASE */
	void (*cluster_barrier)(void *self, struct ws_obs_warp *w, const struct ws_cluster_barrier *c);
};

#endif

/* gpu_priv.h - the inside of the simulated GPU, shared by the files of src/gpu only.
 *
 * Four stages: a module is laid out and linked (module.c, link.c); a kernel is decoded at its first launch, together
 * with every function that it can reach, into an image (decode*.c, order.c); worker threads take thread blocks from a
 * launch (launch.c, sched.c) and run their warps (exec.c and the files of its handlers); what cannot go on is
 * explained (error.c, deadlock.c). */
#ifndef WS_GPU_PRIV_H
#define WS_GPU_PRIV_H

#include <pthread.h>
#include "gpu/atomic.h"
#include "gpu/gpu.h"
#include "gpu/lanes.h"
#include "gpu/mem.h"
#include "gpu/step.h"
#include "gpu/syscall.h"

/* ---- addresses ----
 * Generic addresses of global memory are those of the allocations, below 2^48. The other spaces have windows above,
 * where no host pointer and no allocation can be: the upper 16 bits tell the window. */
#define WS_WINDOW_SHIFT 48
#define WS_WINDOW_SHARED 1ull            /* offset; with a cluster: 1 + rank of the block in bits 24 to 31 */
#define WS_WINDOW_LOCAL 2ull             /* offset in the stack of the thread that uses the address */
#define WS_WINDOW_FUNC 3ull              /* functions, 16 bytes apart */
#define WS_WINDOW_PARAM 4ull             /* parameters of the kernel */
#define WS_WINDOW(w) ((uint64_t)(w) << WS_WINDOW_SHIFT)
#define WS_FUNC_STEP 16
#define WS_PEER_SHIFT 24                 /* shared::cluster addresses: rank of the block + 1 from this bit on */
enum { WS_MAX_THREADS = 1024, WS_MAX_WARPS = WS_MAX_THREADS / WS_WARP, WS_BARRIERS = 16 };
/* Shared memory of a block may not exceed what any GPU offers (227 KiB on sm_90, 1 KiB more for system use). */
#define WS_MAX_SHARED (228u << 10)
#define WS_MAX_LOCAL (512u << 10)        /* bytes of local memory of a thread (CUDA C++ Programming Guide, Technical
                                          * Specifications) */
#define WS_MAX_PARAM (32u << 10)         /* of one .param variable; more than PTX allows */
#define WS_MAX_FRAME (1u << 30)          /* of a function's registers in a warp; offsets have 32 bits */

/* ---- modules ---- */
struct ws_gpu_kernel;
struct ws_image;

struct ws_var {                          /* a variable of module scope (or a static one of a function) */
	struct ws_ptx_sym *sym;
	struct ws_var *def;              /* where it is defined: itself, another module's, or NULL = unresolved */
	struct ws_mem *mem;              /* GLOBAL, CONST: the bytes (of the definition) */
};

struct ws_fn {                           /* a function, defined or only declared */
	struct ws_ptx_func *ptx;
	struct ws_unit *unit;
	struct ws_fn *def;               /* where it is defined; itself; NULL = unresolved */
	const struct ws_syscall_info *syscall;   /* an undefined function that the simulator provides */
	struct ws_var *vars;             /* GLOBAL and CONST variables of its body, by sym->index; else NULL */
	struct ws_site *sites;           /* one an instruction */
	uint32_t id;                     /* generic address: WINDOW_FUNC + id * WS_FUNC_STEP */
	bool address_taken;
};

struct ws_unit {                         /* one PTX module of those that were loaded together */
	struct ws_ptx_module *ptx;
	struct ws_gpu_module *module;
	struct ws_var *vars;             /* by sym->index */
	struct ws_fn *fns;               /* by sym->index */
};

struct ws_gpu_module {
	struct ws_gpu *gpu;
	struct ws_gpu_module *next;
	struct ws_arena *arena;
	struct ws_unit *units;
	size_t nunits;
	struct ws_gpu_kernel **kernels;
	size_t nkernels;
};

struct ws_launch;
struct ws_gpu_kernel {
	struct ws_fn *fn;
	struct ws_gpu_module *module;
	const char *name;                /* for people */
	uint32_t *param_offset, *param_size;
	uint32_t param_bytes;
	struct ws_image *image;          /* decoded at the first launch or question */
	uint64_t launches, thread_instructions;
};

/* What a kernel's code can write: the memory that some of its parameters point into. */
struct ws_written {
	uint32_t *param, n;              /* offsets of parameters of 8 bytes */
	uint64_t by;                     /* bits of those that stores use, or bit 63: anything */
};
/* Marks that memory (ws_mem.written) for a launch. false: it may be any. */
bool ws_written_mark(struct ws_launch *la);
void ws_written_free(struct ws_written *w);

/* ---- decoded code ---- */
struct ws_exec;
struct ws_dinst;
enum ws_next {                           /* what a handler wants to happen */
	WS_NEXT,                         /* the instruction after this one */
	WS_RELOAD,                       /* the state of the current fragment was changed: load pc, frame, mask again */
	WS_PICK,                         /* the current fragment waits or is gone: choose another */
	WS_SLICE,                        /* as PICK, but let other warps run first */
	WS_STOP                          /* x->err is set */
};
/* A memory instruction on the lanes of mask (not empty). false: x->err is set. */
typedef bool ws_mem_fn(struct ws_exec *x, const struct ws_dinst *in, uint8_t *regs, uint32_t mask);
/* Any other instruction. mask: active lanes that pass the guard, not empty. */
typedef enum ws_next ws_op_fn(struct ws_exec *x, const struct ws_dinst *in, uint32_t mask);

enum ws_kind {
	WS_K_LANE, WS_K_LANE_GUARD,      /* u.lane */
	WS_K_MEM, WS_K_MEM_GUARD, WS_K_MEM_PACED,        /* u.mem; PACED: with a possible switch of warps after it */
	WS_K_OP, WS_K_OP_PACED,          /* u.op */
	WS_K_BRA,                        /* u.bra, always taken */
	WS_K_BRA_IF, WS_K_BRA_IFNOT,     /* guarded */
	WS_K_JOIN,                       /* before a block with several predecessors, when it is entered from above */
	WS_K_EXIT,                       /* exit, or ret of a kernel */
	WS_K_END                         /* after the last instruction: a function must not run into it */
};

enum { WS_NO_GUARD = UINT32_MAX };

struct ws_dmem {                         /* 48 bytes */
	ws_mem_fn *fn;
	int32_t off;                     /* added to the address */
	uint32_t addr;                   /* register with the address */
	uint8_t addr_width;              /* 4 or 8 */
	uint8_t size, vec;               /* bytes of an element in memory; elements */
	uint8_t reg_width;               /* bytes of a data register's lane */
	uint8_t flags;                   /* enum ws_dmem_flag */
	uint8_t space;                   /* enum ws_space */
	uint8_t sem, scope;              /* with PTX's defaults filled in */
	uint32_t cache;                  /* entry of the host thread's cache of allocations */
	uint32_t d[4];                   /* data registers */
	uint32_t ext;                    /* vec > 4: index in code->ext of the others */
};
enum ws_dmem_flag {
	WS_DM_STORE = 1, WS_DM_SIGNED = 2,
	WS_DM_SYNC = 4,                  /* volatile, relaxed, ...: others may wait on it */
	WS_DM_NC = 8,
	WS_DM_OWN = 16                   /* local memory of a check that src/rewrite inserted: what changes there is no progress */
};

struct ws_dop {                          /* 48 bytes: operands of a handler; meaning is the handler's */
	ws_op_fn *fn;
	uint32_t d, d2, a, b, c;         /* registers, WS_LANE_NONE = absent */
	uint8_t mode, width, flag, atom;
	uint64_t imm;
	void *ptr;
};

struct ws_dbra {
	const struct ws_dinst *target;
	const struct ws_dinst *reconv;   /* immediate post-dominator; NULL = the function's end */
};

struct ws_dinst {                        /* one cache line */
	uint8_t kind;                    /* enum ws_kind */
	bool guard_neg;
	bool backward;                   /* branch to this or an earlier instruction */
	uint8_t pad;
	uint32_t guard;                  /* predicate register or WS_NO_GUARD */
	uint32_t site;                   /* index in fn->sites; WS_NO_SITE for what the decoder added */
	uint32_t count;                  /* at the end of a basic block: its PTX instructions */
	union {
		struct ws_lane_op lane;
		struct ws_dmem mem;
		struct ws_dop op;
		struct ws_dbra bra;
	} u;
};
#define WS_NO_SITE UINT32_MAX
_Static_assert(sizeof(struct ws_dinst) == 64, "a decoded instruction is one cache line");

enum ws_const_kind {                     /* registers that are filled before the code runs */
	WS_C_IMM,                        /* value */
	WS_C_PARAM,                      /* kernel parameter buffer at value, size bytes, sign- or zero-extended */
	WS_C_SREG,                       /* special register `value` that is constant for a warp slot and launch */
	WS_C_SREG_BLOCK,                 /* the same, but it depends on the block */
	WS_C_DYNAMIC,                    /* address of dynamic shared memory plus value */
	WS_C_LOCAL                       /* address of a local variable of the frame; generic: with the window */
};
struct ws_const {
	uint8_t kind, width, size;
	bool is_signed, generic;
	uint32_t reg;                    /* where in the frame */
	uint64_t value;
};

/* What is copied at a call, in the caller or in the callee. A .param variable of a function is an area of the frame:
 * words of four bytes, each an array of 32 lanes, so that word w of lane l is at (w * 32 + l) * 4. */
struct ws_call_arg {
	bool is_area;
	uint8_t width;                   /* register: bytes of a lane, 0 = predicate */
	uint32_t reg, size;              /* offset in the frame, WS_LANE_NONE = nowhere; bytes of an area */
	uint32_t local;                  /* offset in the frame's local memory of a parameter whose address is taken, or
	                                  * WS_LANE_NONE */
};

struct ws_call_site {
	struct ws_code *code;            /* direct; NULL = system call or indirect */
	struct ws_fn *fn;                /* direct */
	uint32_t intrinsic;              /* number + 1 of an instruction of ws_clock_ops; 0: none */
	uint32_t target;                 /* indirect: register with the address */
	struct ws_call_arg *args, *rets;
	uint32_t nargs, nrets;
};

struct ws_datom {                        /* atom, red */
	ws_atomic_fn *global, *shared;
	uint32_t addr;
	int32_t off;
	uint8_t addr_width, space, sem, scope;
	uint8_t n, width, bytes;         /* elements; bytes of one; bytes of a lane's access */
	uint8_t atom;
	bool fast;                       /* exec_mem.simd.c may do it */
	uint32_t a[WS_ATOMIC_VEC], b, d[WS_ATOMIC_VEC];
	uint32_t cache;
};

struct ws_branch_table {
	const struct ws_dinst **targets;
	uint32_t n;
};

struct ws_code {                         /* one function, decoded for one image */
	struct ws_fn *fn;
	struct ws_image *image;
	uint32_t index;                  /* in image->codes */
	struct ws_dinst *insts;
	uint32_t ninsts;
	uint32_t frame_bytes;            /* registers and constants */
	struct ws_const *consts;
	uint32_t nconsts;
	uint32_t local_bytes;
	struct ws_call_arg *params, *rets;
	uint32_t nparams, nrets;
	uint32_t (*ext)[4];              /* data registers 4 to 7 of v8 */
	uint32_t next;
	size_t cap_ext;
	uint32_t *reg;                   /* clocked: by index of a register, its place in the frame */
	uint32_t *start;                 /* clocked: by basic block, its first instruction in insts */
	uint32_t *zero;                  /* registers to clear at entry: offset, bytes */
	uint32_t nzero;
};

struct ws_shared_var { const struct ws_ptx_sym *sym; uint32_t offset; };

struct ws_image {                        /* a kernel and all that it can reach */
	struct ws_gpu_kernel *kernel;
	struct ws_arena *arena;
	struct ws_code **codes;          /* [0] is the kernel */
	uint32_t ncodes;
	struct ws_code **by_fn;          /* by ws_fn.id, for indirect calls; nby_fn entries */
	uint32_t nby_fn;
	uint32_t shared_static;          /* bytes; dynamic shared memory starts at shared_dynamic */
	uint32_t shared_dynamic;
	uint32_t dynamic_align;
	struct ws_shared_var *shared;
	size_t nshared, cap_shared;
	uint32_t ncache;                 /* memory instructions */
	uint32_t regs;                   /* estimate, see ws_kernel_info */
	uint32_t local_bytes;
	size_t cap_codes;
	bool calls, indirect, uses_local, cluster_barrier;
	enum ws_gpu_errcode refused;     /* not WS_GPU_OK: cannot be launched, and why */
	struct ws_buf why;
	struct ws_written *written;      /* see written.c; NULL = not looked at yet */
};

/* ---- execution ---- */
struct ws_frame {
	struct ws_frame *parent;
	const struct ws_code *code;
	const struct ws_dinst *call;     /* in the parent: the call */
	const struct ws_dinst *saved_reconv;     /* stack model: of the entry that called */
	uint8_t *regs;
	uint32_t refs;                   /* fragments in it, and frames that it called */
	uint32_t depth;
	uint64_t block;                  /* constants were filled for this block */
	uint32_t base[WS_WARP];          /* local memory of the frame starts here, a lane */
	struct ws_frame *next_free;
};

enum ws_wait { WS_READY, WS_WAIT_BARRIER, WS_WAIT_SYNC, WS_WAIT_CLUSTER, WS_WAIT_WARP };

/* its: threads of a warp that are together at one place. stack: an entry of the reconvergence stack, top last. */
struct ws_frag {
	const struct ws_dinst *pc;       /* next instruction; stack: NULL = return from the frame */
	const struct ws_dinst *reconv;   /* stack only */
	struct ws_frame *frame;
	uint32_t mask;
	uint32_t turn;                   /* its: the lowest runs first; grows when others shall have a chance */
	uint32_t wait_mask;              /* WAIT_SYNC: lanes that must come; stack: see lock_stack.c */
	uint16_t barrier;                /* WAIT_BARRIER */
	uint8_t wait;                    /* enum ws_wait */
	uint8_t lock;                    /* stack: enum ws_lock_entry; its: held up, nobody takes it along */
};
enum ws_lock_entry { WS_ENTRY_PLAIN, WS_ENTRY_RETRY, WS_ENTRY_LOCK, WS_ENTRY_DONE };   /* lock_stack.c */

enum { WS_MAX_FRAGS = 3 * WS_WARP + 4 };

struct ws_poll {                         /* what a warp read or tried last in a way that suggests waiting */
	const struct ws_dinst *in;
	const struct ws_code *code;
	uint64_t addr;
	uint32_t mask;
	uint8_t space;
	struct ws_block *mbar;           /* whose mbarrier object at addr; NULL: plain memory */
	uint32_t count;                  /* polls since the warp's progress was ... */
	uint64_t progress;
};

/* Where a warp has polled since it has been idle for long. One that comes to more and more places goes through data that
 * others might write, and will end; one that comes back to the same few waits. */
struct ws_places {
	uint32_t n;                      /* of at[] */
	uint32_t seen, old;              /* how many they were at its last pause; pauses since there was a new one */
	bool many;                       /* more than are kept */
	uint64_t at[64];                 /* addresses of lowest lanes */
};

struct ws_kept {                         /* a warp's state at an earlier pause without progress */
	uint64_t poll;                   /* where it had polled last */
	uint64_t running, frames;        /* hashes: of the fragment that ran, and of all */
	uint32_t turn;                   /* that no fragment had yet */
	uint32_t looks;                  /* how often all was compared with it */
};

struct ws_wgmma {                        /* asynchronous products of a warp: operations, and where its groups ended */
	uint64_t op, groups, end[8];     /* of the last 8 groups; group g, from 1 on, at g % 8 */
};

struct ws_warp {
	struct ws_obs_warp obs;
	struct ws_block *block;
	uint32_t live;                   /* lanes that have not ended */
	uint32_t nfrags;
	struct ws_frag frag[WS_MAX_FRAGS];
	struct ws_frame frame0;
	struct ws_frame **free_frames;   /* by code index */
	uint8_t *local;                  /* first lane's local memory */
	uint32_t sp[WS_WARP];
	bool runnable;                   /* some fragment is READY */
	bool parked;                     /* clocked: waits for somebody else's deed (ws_step_park) */
	uint32_t cluster_arrived;        /* barrier.cluster: lanes that arrived in the phase at hand */
	uint32_t cluster_passed;         /* ... in one that has completed, and have not waited yet */
	/* progress, see sched.c */
	uint64_t progress;               /* stores, successful atomics, barriers, exits */
	uint64_t polls;                  /* reads that may wait for others, atomics that changed nothing */
	uint64_t seen_progress, seen_polls;
	uint64_t seen_clock;
	uint32_t idle;                   /* pauses since the last progress */
	uint32_t busy;                   /* pauses with progress */
	struct ws_kept kept;
	bool polling;                    /* its last pause came after reads that may wait for others */
	bool repeats;                    /* its whole state came back without progress */
	uint64_t priority;               /* schedule of priorities: the highest runs */
	uint64_t polled_at;              /* ... it waits until x->deeds is another one */
	struct ws_poll poll;
	struct ws_places places;
	struct ws_wgmma wgmma;
	uint64_t clock;
	uint8_t held[WS_WARP];           /* lock_stack.c: locks that a thread holds */
	struct ws_lock_try trying[WS_WARP];      /* ... its try at hand */
	int32_t left;                    /* clocked: backward branches until the next pause */
};

struct ws_bar {                          /* one of the 16 barriers of a block */
	uint32_t expected;               /* threads, rounded up to warps; 0 = nobody is there yet; UINT32_MAX = all */
	uint32_t count;                  /* threads of complete warps that have arrived */
	uint32_t nwaiting;               /* fragments that wait */
	uint32_t arrived[WS_MAX_WARPS], waited[WS_MAX_WARPS];    /* lanes */
	uint32_t pending[WS_MAX_WARPS];  /* arrived lanes of warps that are not complete */
	uint32_t red_and, red_or, red_popc;      /* of bar.red */
};

/* Blocks that are resident together on one host thread. Without clusters a block is a cluster of its own (PTX ISA 9.0,
 * Cluster of Cooperative Thread Arrays). */
enum { WS_MAX_CLUSTER = 16 };            /* non-portable size of compute capability 9.0 */
struct ws_cluster {
	struct ws_block *block[WS_MAX_CLUSTER];  /* by rank */
	uint32_t n;
	uint64_t number;                 /* in the launch */
	bool begun;                      /* barrier.cluster: somebody has arrived in this phase */
	bool long_run;                   /* others had to wait long for a turn: sched.c */
};

struct ws_block {                        /* a resident block, and the slot with its memory */
	struct ws_obs_block obs;
	struct ws_exec *x;
	struct ws_warp *warps;
	uint32_t nwarps, live_warps;
	uint64_t serial;                 /* for frames: which block filled the constants */
	uint8_t *shared;
	uint8_t *regs;                   /* kernel frames of all warps */
	uint8_t *local;
	size_t local_size;
	struct ws_bar bar[WS_BARRIERS];
	uint32_t next_warp;
	uint32_t cluster_rank;
	struct ws_cluster *cluster;      /* never NULL while resident */
	struct ws_cluster own;           /* that of the block with rank 0 */
	struct ws_block_async *async;    /* async_priv.h; NULL: nothing asynchronous so far */
};

struct ws_mem_cache { struct ws_mem *mem; };     /* what an instruction accessed last */

struct ws_launch;

/* Schedule of priorities: where the next warp falls. */
struct ws_change {
	uint64_t floor;                  /* no fallen warp is lower yet */
	int32_t steps;                   /* memory instructions until then */
	uint32_t left;                   /* points after which those that fall are lower */
	uint32_t most, far;              /* the bound of distances; the logarithm of its own */
	uint32_t loops;                  /* one turn of so many that a loop has used up makes it fall */
	int32_t given;                   /* of `steps`, to the turn at hand */
	bool watched;                    /* a warp above the one that runs waits for what others do */
};

/* Who changed a word last by compare-and-swap or exchange: the likely holder of a lock. */
struct ws_holder {
	uint64_t addr, block;
	const struct ws_code *code;
	uint32_t site, thread;
	uint8_t space;                   /* 0 = nobody */
};
enum { WS_HOLDERS = 256 };               /* a table without collisions kept: a later address replaces an earlier one */

struct ws_exec {                         /* one host thread at work on a launch */
	struct ws_launch *launch;
	struct ws_gpu *gpu;
	struct ws_image *image;
	uint32_t index;                  /* host thread */
	struct ws_block *block;
	struct ws_warp *warp;
	struct ws_frag *frag;
	struct ws_mem_cache *cache;
	uint8_t *shared;                 /* of the current block */
	uint32_t shared_bytes;
	bool multi;                      /* the warp has several fragments */
	bool its;
	int32_t budget;                  /* backward branches until the next pause */
	int32_t pace;                    /* not round robin: memory instructions until the next pause */
	uint64_t winsts, tinsts;         /* counted at the ends of basic blocks */
	uint64_t divergent, barriers;
	uint64_t told_from;              /* weak reads of memory with a smaller ws_mem.written are not told */
	uint64_t untold;                 /* ... but counted */
	uint64_t rng;
	struct ws_change change;         /* schedule of priorities */
	uint64_t deeds;                  /* ... turns in which a warp has changed something, from 1 on */
	struct ws_gpu_error err;
	bool failed;
	const struct ws_observer_ops *ops;
	void *self;
	struct ws_arena *arena;          /* dies with the launch */
	struct ws_block **resident;
	size_t nresident, cap_resident;
	struct ws_block **idle;          /* block slots that can be used again */
	size_t nidle, cap_idle;
	uint64_t next_unit, end_unit;    /* clusters that it has taken and not begun */
	uint64_t moves;                  /* how often this host thread saw progress; the epoch is the sum of all */
	uint64_t stuck_at;               /* epoch at which this host thread saw no way on; 0 = it is not stuck */
	uint64_t looked_at;              /* ... at which it began to look a second time */
	double looked_from;              /* ... and when (ws_cpu_now) */
	uint64_t told;                   /* progress of its warps when it was noted last */
	uint64_t counted;                /* winsts that launch->winsts knows of */
	uint64_t serial;                 /* of blocks, for frames */
	struct ws_buf scratch;
	struct ws_job *jobs;             /* asynchronous operations whose effect is still to come (async_priv.h) */
	bool clocked;                    /* step.h; then: */
	uint32_t core;
	uint64_t cycle, nanoseconds;
	struct ws_held *held;            /* stores of the core that are kept back; NULL: none are */
	struct ws_saved_atomic *saved;   /* free ones */
	uint64_t last_progress;          /* of the last check that found all warps stuck; 0: none did */
	struct ws_holder holders[WS_HOLDERS];
	uint8_t apart[64];               /* the next host thread's fields are in another cache line */
};

struct ws_launch {
	struct ws_gpu *gpu;
	struct ws_gpu_kernel *kernel;
	struct ws_image *image;
	const struct ws_gpu_launch *l;
	struct ws_obs_launch obs;
	uint8_t *params;
	uint32_t dynamic_offset, shared_bytes;
	uint32_t nexec;
	struct ws_exec *exec;
	struct ws_held *held, **holding; /* ws_step_hold: by core; those that are being shown */
	uint32_t nheld;
	uint32_t resident_limit;         /* clusters a host thread */
	uint32_t cluster[3], cluster_blocks;     /* 1 without clusters */
	bool explicit_cluster;
	uint64_t units;                  /* clusters of the grid */
	uint64_t envreg_workspace;
	uint64_t stack_bytes;            /* of a thread: the configured ones and what the kernel itself declares */
	uint32_t stack_stride;
	double deadline;
	double started;
	/* changed by all host threads, atomically: on a cache line of their own */
	_Alignas(64) uint64_t next_block;        /* cluster */
	uint32_t stop;                   /* somebody failed */
	uint64_t winsts;
};

struct ws_gpu {
	struct ws_gpu_config config;
	pthread_mutex_t lock;            /* modules and launches */
	struct ws_memmap map;
	struct ws_gpu_module *modules;
	struct ws_fn **fns;              /* by id */
	size_t nfns, cap_fns;
	uint32_t nsites;
	uint64_t launches;
	uint64_t block_serial;
	uint32_t cc;                     /* 10 * major + minor */
	struct ws_mem *workspace;        /* of cooperative grids */
	uint64_t *flat;                  /* clocked: by serial of an allocation, its place in a flat memory */
	size_t nflat, cap_flat;
	uint64_t flat_end, flat_serial;  /* those born before flat_serial have their places */
	pthread_mutex_t stripes[64];     /* order of synchronizing accesses when observed, by address */
};

/* lane arrays in a frame */
static inline uint32_t *ws_r32(uint8_t *regs, uint32_t off)
{
	return (uint32_t *)(void *)(regs + off);
}

static inline uint64_t *ws_r64(uint8_t *regs, uint32_t off)
{
	return (uint64_t *)(void *)(regs + off);
}

static inline uint16_t *ws_r16(uint8_t *regs, uint32_t off)
{
	return (uint16_t *)(void *)(regs + off);
}

static inline uint32_t ws_guard(const struct ws_dinst *in, const uint8_t *regs, uint32_t active)
{
	uint32_t p;

	if (in->guard == WS_NO_GUARD)
		return active;
	p = *(const uint32_t *)(const void *)(regs + in->guard);
	return active & (in->guard_neg ? ~p : p);
}

static inline const struct ws_site *ws_site_of(const struct ws_code *code, const struct ws_dinst *in)
{
	return in->site == WS_NO_SITE ? NULL : &code->fn->sites[in->site];
}

/* ---- module.c, link.c ---- */
bool ws_link(struct ws_gpu_module *mod, struct ws_gpu_error *err);
struct ws_var *ws_unit_var(struct ws_unit *u, const struct ws_fn *fn, const struct ws_ptx_sym *sym);
struct ws_fn *ws_fn_at(struct ws_gpu *g, uint64_t address);      /* NULL: no function starts there */

/* ---- decode.c, decode_mem.c, decode_ops.c, order.c ---- */
/* The image of a kernel; made at the first call. Never NULL: image->refused says if it cannot run. */
struct ws_image *ws_image_get(struct ws_gpu_kernel *k);
void ws_image_free(struct ws_image *im);
/* Reachable blocks in an order in which loops are contiguous and exits come after them; returns how many. */
uint32_t ws_order_blocks(struct ws_ptx_func *f, uint32_t *order);
/* For each block, the block where threads that part at its end meet again, or WS_EXIT_BLOCK (reconverge.c); the caller
 * frees it. */
uint32_t *ws_meeting_blocks(struct ws_ptx_func *f);

struct ws_decoder {
	struct ws_image *image;
	struct ws_code *code;
	struct ws_fn *fn;
	struct ws_unit *unit;
	struct ws_gpu *gpu;
	struct ws_ptx_func *ptx;
	uint32_t *meets;                 /* ws_meeting_blocks */
	uint32_t *reg;                   /* offset of a register, by index */
	uint8_t *single;                 /* registers with one unguarded definition */
	uint32_t *area;                  /* by index of func->vars: offset in the frame or in local memory */
	uint32_t *formal;                /* the same for parameters, then results, of a function */
	struct ws_dinst *insts;
	size_t n, cap;
	struct ws_const *consts;
	size_t nconsts, cap_consts;
	uint32_t frame;                  /* bytes so far */
	const struct ws_ptx_inst *inst;
	struct {
		uint32_t load, at;               /* instructions: the load is decoded before `at` */
	} late[4];
	unsigned nlate;
	bool postponed;                  /* inst is one of them */
	bool failed;
};

/* Moves places of reconvergence out of critical sections (lock_meets.c). start: by block, its first instruction. */
void ws_lock_meets(struct ws_decoder *dc, struct ws_code *code, const uint32_t *start);

/* Element width of a register in the file (lanes.h). */
unsigned ws_reg_width(const struct ws_reg *r);
uint32_t ws_dec_const(struct ws_decoder *dc, struct ws_const c);         /* its register */
uint32_t ws_dec_imm(struct ws_decoder *dc, uint64_t value, unsigned width);
/* Source operand as a register of the width wanted; immediates, symbols and special registers become constants.
 * WS_LANE_NONE after refusing. */
uint32_t ws_dec_src(struct ws_decoder *dc, const struct ws_operand *o, unsigned width);
uint32_t ws_dec_dst(struct ws_decoder *dc, const struct ws_operand *o);
struct ws_dinst *ws_dec_emit(struct ws_decoder *dc, enum ws_kind kind);
struct ws_dinst *ws_dec_op(struct ws_decoder *dc, ws_op_fn *fn);
void ws_dec_refuse(struct ws_decoder *dc, enum ws_gpu_errcode code, const char *fmt, ...) WS_PRINTF(3, 4);
bool ws_dec_symbol(struct ws_decoder *dc, const struct ws_ptx_sym *sym, int64_t offset, bool generic,
                   struct ws_const *c);
/* Is the value of this operand the same for all lanes, whatever happens? */
bool ws_dec_uniform(const struct ws_operand *o);
uint32_t ws_dec_reg(struct ws_decoder *dc, const struct ws_operand *o);
uint32_t ws_dec_temp(struct ws_decoder *dc, unsigned width);             /* a register of the decoder's own */
uint32_t ws_dec_space(struct ws_decoder *dc, uint32_t bytes);            /* bytes of the frame */
void ws_dec_copy(struct ws_decoder *dc, uint32_t d, uint32_t a, unsigned width);
/* Element of a ld.param of a kernel at a constant address. */
bool ws_dec_param_const(struct ws_decoder *dc, const struct ws_ptx_inst *in, unsigned elem, unsigned width,
                        struct ws_const *c);
/* Gives every register of the function that has none a place in the frame. */
void ws_dec_registers(struct ws_decoder *dc, const uint32_t *order, uint32_t n);
void ws_dec_locals(struct ws_decoder *dc);       /* places of local variables */
void ws_dec_params(struct ws_decoder *dc);       /* .param variables, parameters and results */
/* Where a .param variable of a function is in the frame; WS_LANE_NONE: not one of this function's. */
uint32_t ws_dec_area(struct ws_decoder *dc, const struct ws_ptx_sym *sym);
/* Register (4 or 8 bytes wide) and offset of an address. */
bool ws_dec_address(struct ws_decoder *dc, const struct ws_operand *o, enum ws_space space, uint32_t *reg, int32_t *off,
                    uint8_t *width);
void ws_decode(struct ws_image *im, struct ws_code *code);
bool ws_dec_memory(struct ws_decoder *dc);                               /* ld, st, ldu, atom, red, cp.async */
bool ws_dec_special(struct ws_decoder *dc);                              /* all the rest but lanes and control */
void ws_dec_call(struct ws_decoder *dc);
struct ws_code *ws_image_code(struct ws_image *im, struct ws_fn *fn);

/* ---- exec.c ---- */
/* Runs the warp until it waits, ends, fails or its budget is used. */
void ws_exec_warp(struct ws_exec *x, struct ws_warp *w);
enum ws_next ws_exec_exit(struct ws_exec *x, uint32_t mask);     /* lanes of the current fragment end */

/* ---- exec_mem.simd.c, exec_mem.c ---- */
struct ws_mem_ops {                      /* of one instruction set */
	ws_mem_fn *global[2][2], *shared[2][2];  /* [store][8 bytes, else 4]: registers of that width, no vector */
	ws_mem_fn *any;                  /* every size, vector, register and space */
	/* atom and red of one element of at most 8 bytes; false: nothing was done, and ws_op_atomic shall do it */
	bool (*atomic)(struct ws_exec *x, const struct ws_dinst *in, uint8_t *regs, uint32_t mask);
	bool (*mark)(struct ws_note_log *g, uint32_t warp, uint32_t mask, uint32_t kind, uint32_t bytes,
	             const uint64_t addr[WS_WARP]);      /* ws_gpu_note_mark */
	uint32_t (*at)(const uint64_t addr[WS_WARP], uint64_t origin, const uint32_t word[WS_WARP]);        /* ws_gpu_lanes_at */
	uint32_t (*in)(const uint64_t addr[WS_WARP], uint64_t from, uint64_t bytes);      /* ws_gpu_lanes_in */
	uint32_t (*same)(const uint64_t addr[WS_WARP], const uint64_t other[WS_WARP]);      /* ws_gpu_lanes_same */
};
extern const struct ws_mem_ops ws_mem_ops_base, ws_mem_ops_v3, ws_mem_ops_v4;
const struct ws_mem_ops *ws_mem_ops(void);               /* of this machine */
/* Tells the scheduler whether an atomic operation changed something or only looked. wrote: what it returned; done->d[0] may be
 * NULL for add, xor and cas. */
void ws_atomic_progress(struct ws_exec *x, const struct ws_dinst *in, const uint64_t *addr, unsigned space, uint32_t wrote,
                        const struct ws_atomic_args *done);
static inline uint32_t ws_holder_slot(uint64_t addr)
{
	return (uint32_t)((addr >> 2) * 0x9e3779b1u >> 24) % WS_HOLDERS;
}

ws_mem_fn ws_mem_slow;                   /* every space, every size, observed or not */
ws_mem_fn *ws_mem_choose(const struct ws_gpu *g, const struct ws_dmem *m);

/* One instruction's addresses, resolved; lanes of one stretch of memory. */
struct ws_resolved {
	_Alignas(64) uint64_t addr[WS_WARP];     /* GLOBAL: addresses; SHARED: offsets */
	uint8_t *host[WS_WARP];
	uint32_t mask;
	bool linear;
	uint8_t space;                   /* GLOBAL, SHARED, LOCAL, PARAM */
	uint64_t base;
	struct ws_mem *mem;
	struct ws_block *peer;
};
/* Takes lanes of `mask` (never none) whose addresses lie in one space and stretch of memory, checks them, and says
 * where they are. false: x->err is set. addr: 32 generic addresses or offsets; space as the instruction has it. */
struct ws_request {
	const uint64_t *addr;
	uint32_t mask, bytes;
	uint8_t space;
	bool write;
	uint32_t cache;
};
bool ws_resolve(struct ws_exec *x, const struct ws_dinst *in, const struct ws_request *q, struct ws_resolved *r);
void ws_addresses(const uint8_t *regs, uint32_t reg, unsigned width, int32_t off, uint64_t *addr);
/* Calls the observer with *a, whose fields about the place are filled in here from r. */
void ws_observe(struct ws_exec *x, const struct ws_dinst *in, const struct ws_resolved *r, struct ws_access *a);
bool ws_wants(const struct ws_exec *x, unsigned space);
void ws_stripes_lock(struct ws_exec *x, const struct ws_resolved *r, uint64_t *held);
void ws_stripes_unlock(struct ws_exec *x, uint64_t held);
bool ws_generic_read(void *x, uint32_t lane, uint64_t addr, void *dst, size_t n);
ws_op_fn ws_op_atomic;
/* What a warp read or tried last, without changing anything. */
void ws_remember_poll(struct ws_exec *x, const struct ws_dinst *in, uint64_t addr, unsigned space, uint32_t mask);

/* ---- held.c: stores that are kept back ---- */
struct ws_held_store {                   /* in a log: WS_WARP values follow, before them if it is not linear WS_WARP places */
	uint64_t cycle;
	uintptr_t low, high;             /* all of it lies in [low, high); linear: lane l at low + (l - first) * bytes */
	uint32_t mask, size;             /* size: with what follows */
	uint16_t bytes;                  /* of a lane */
	bool linear;
};
enum { WS_HELD_LINE = 7, WS_HELD_LINES = 4096 }; /* lines of 128 bytes, by the low digits of their numbers */
struct ws_held {                         /* the log of a core */
	uint8_t *data;
	size_t used, cap, shown;
	uint32_t count;                  /* stores in it */
	uintptr_t low, high;             /* of all */
	uint64_t line[WS_HELD_LINES / 64];
	uint8_t apart[64];               /* the next core's is in another cache line */
};
static inline uintptr_t *ws_held_places(const struct ws_held_store *s)
{
	return (uintptr_t *)(s + 1);
}

static inline uint8_t *ws_held_values(const struct ws_held_store *s)
{
	return (uint8_t *)(s + 1) + (s->linear ? 0 : WS_WARP * sizeof(uintptr_t));
}

static inline uintptr_t ws_held_place(const struct ws_held_store *s, uint32_t lane)
{
	return s->linear ? s->low + (lane - (uint32_t)__builtin_ctz(s->mask)) * s->bytes : ws_held_places(s)[lane];
}

static inline void ws_held_line(struct ws_held *h, uintptr_t at)
{
	h->line[(at >> WS_HELD_LINE) % WS_HELD_LINES / 64] |= 1ull << (at >> WS_HELD_LINE) % 64;
}

static inline bool ws_held_has_line(const struct ws_held *h, uintptr_t at)
{
	return h->line[(at >> WS_HELD_LINE) % WS_HELD_LINES / 64] >> (at >> WS_HELD_LINE) % 64 & 1;
}
/* A new store behind the others, of which low, high, cycle, mask and what follows are to be filled in; then its lines and its
 * range are noted. */
struct ws_held_store *ws_held_new(struct ws_held *h, bool linear, uint32_t bytes);
void ws_held_mark(struct ws_held *h, uintptr_t low, uintptr_t high);
/* The same for a store to any places, with the values of the lanes one after the other. */
void ws_held_keep(struct ws_exec *x, uint8_t *const host[WS_WARP], uint32_t mask, uint32_t bytes, const uint8_t *data);
/* data has what lies at those places, lane by lane: what is kept back for them takes its place. */
void ws_held_patch(const struct ws_held *h, const uintptr_t at[WS_WARP], uint32_t mask, uint32_t bytes, uint8_t *data);
void ws_held_free(struct ws_launch *la);

/* ---- diverge_its.c, diverge_stack.c ---- */
/* The lanes `taken` of the current fragment go to target, the others to the next instruction. */
void ws_its_diverge(struct ws_exec *x, const struct ws_dinst *in, uint32_t taken, const struct ws_dinst *target);
void ws_stack_diverge(struct ws_exec *x, const struct ws_dinst *in, uint32_t taken, const struct ws_dinst *target,
                      const struct ws_dinst *reconv);
/* A new top entry for lanes of the current one, which becomes the current one. */
void ws_stack_push(struct ws_exec *x, const struct ws_dinst *pc, const struct ws_dinst *reconv, uint32_t mask);
/* An indexed branch: lanes `same` go to target, the other guarded ones try again, the rest go on. */
void ws_stack_split(struct ws_exec *x, const struct ws_dinst *in, uint32_t same, uint32_t guarded,
                    const struct ws_dinst *target, const struct ws_dinst *reconv);
void ws_lock_pop(struct ws_exec *x);                             /* the top entry, which has no lanes */
void ws_stack_leave(struct ws_warp *w, struct ws_frag *f);       /* f, the lowest entry of its frame, returns */
bool ws_stack_is_base(const struct ws_exec *x);                  /* the current entry is the lowest of its frame */
/* Merges what can be merged and chooses the fragment to run; x->frag is NULL if none is ready. */
void ws_its_pick(struct ws_exec *x);
void ws_stack_pick(struct ws_exec *x);
void ws_its_yield(struct ws_exec *x);
void ws_its_hold(struct ws_exec *x);             /* the same, and those that come by do not take it along */
struct ws_frag *ws_its_split(struct ws_exec *x, struct ws_frag *f,
                             uint32_t mask);       /* mask leaves f; NULL: all of f */
void ws_drop_lanes(struct ws_exec *x, uint32_t mask);            /* ended lanes leave all fragments */
void ws_frame_release(struct ws_warp *w, struct ws_frame *fr);

/* ---- barrier.c, warp_ops.c, call.c ---- */
/* Makes the lanes of mask the current fragment, alone; the others of it go on at `rest`. true if there were others. */
bool ws_isolate(struct ws_exec *x, const struct ws_dinst *in, uint32_t mask, const struct ws_dinst *rest);
uint32_t ws_same_value(const uint8_t *regs, uint32_t reg, unsigned width, uint32_t mask);
ws_op_fn ws_op_barrier, ws_op_bar_warp, ws_op_shfl, ws_op_vote, ws_op_match, ws_op_redux, ws_op_elect, ws_op_activemask;
ws_op_fn ws_op_call, ws_op_ret, ws_op_brx, ws_op_alloca, ws_op_stacksave, ws_op_stackrestore, ws_op_area_load,
	ws_op_area_store;
/* Argument i of a call, zero-extended from `bytes`, as lane `l` passes it. */
uint64_t ws_call_arg(const struct ws_exec *x, const struct ws_call_site *c, uint32_t i, uint32_t l, unsigned bytes);
/* Its result, 1 in the lanes of set and 0 in the others. */
void ws_call_answer(struct ws_exec *x, const struct ws_dinst *in, uint32_t lanes, uint32_t set);
ws_op_fn ws_op_trap, ws_op_fence, ws_op_clock, ws_op_nanosleep, ws_op_grid_wait, ws_op_isspacep, ws_op_nop, ws_op_copy, ws_op_sreg,
	ws_op_to_window, ws_op_from_window, ws_op_mapa, ws_op_getctarank;
void ws_barrier_exit(struct ws_exec *x, struct ws_warp *w);      /* lanes of w have ended: barriers may complete */
void ws_sync_exit(struct ws_exec *x, struct ws_warp *w);
void ws_fill_consts(struct ws_exec *x, struct ws_warp *w, struct ws_frame *fr, bool all);
void ws_broadcast(uint8_t *regs, uint32_t reg, unsigned width, uint64_t value);
void ws_fill_locals(struct ws_frame *fr, uint32_t mask);
void ws_thread_of(const struct ws_launch *la, uint32_t thread, uint32_t tid[3]);
void ws_sreg_fill(struct ws_exec *x, struct ws_warp *w, enum ws_sreg s, uint8_t *regs, uint32_t reg, unsigned width);

/* ---- matrix*.c, wgmma.c ---- */
bool ws_dec_matrix(struct ws_decoder *dc);                       /* mma, wmma, ldmatrix and their relatives */
void ws_whole_warp_check(struct ws_warp *w);                     /* lanes of w wait for the whole warp, or have ended */

/* ---- cluster.c ---- */
/* Where an address of the shared::cluster window (or a generic one in it) leads that code of block b uses: the block
 * whose shared memory it is, b itself for its own, and the offset there, which may lie behind the end. NULL: the cluster
 * has no block of that rank. The block may have ended: live_warps is 0 then. */
struct ws_block *ws_cluster_address(struct ws_block *b, uint64_t addr, uint32_t *offset);
/* The lanes of q whose shared::cluster addresses lie in the shared memory of one block; false: x->err is set. */
bool ws_cluster_resolve(struct ws_exec *x, const struct ws_dinst *in, const struct ws_request *q, uint64_t window,
                        struct ws_resolved *r);
bool ws_dec_cluster(struct ws_decoder *dc);                      /* mapa, getctarank, barrier.cluster */
uint64_t ws_cluster_sreg(const struct ws_exec *x, enum ws_sreg s);
void ws_cluster_exit(struct ws_exec *x, struct ws_warp *w);      /* lanes of w have ended: the barrier may complete */
/* Checks the size of the launch's clusters, from the launch or the kernel, and leaves it in size; 0: none are
 * asked for. */
bool ws_cluster_size(const struct ws_gpu_kernel *k, const struct ws_gpu_launch *l, uint32_t size[3],
                     struct ws_gpu_error *err);
ws_op_fn ws_op_cluster_arrive, ws_op_cluster_wait;

/* ---- async.c, mbarrier.c, decode_async.c; more in async_priv.h ---- */
enum { WS_MAX_GROUPS = 65536 };          /* of asynchronous copies, that a thread can wait for one by one */
bool ws_dec_async(struct ws_decoder *dc);                        /* cp, mbarrier, st.async, red.async */
void ws_copy_start_block(struct ws_block *b);
void ws_copy_free_block(struct ws_block *b);
void ws_copy_finish(struct ws_exec *x, const struct ws_cluster *c);      /* all jobs of the cluster */
bool ws_copy_finish_all(struct ws_exec *x);                      /* false: there were none */
void ws_copy_tick(struct ws_exec *x);                            /* x->jobs: perhaps one of them runs now */
void ws_copy_drop(struct ws_exec *x);                            /* the launch has failed */
/* A failed test of an mbarrier object: others should run. */
void ws_remember_wait(struct ws_exec *x, const struct ws_dinst *in, uint64_t offset, struct ws_block *b, uint32_t mask);
/* "the mbarrier at shared memory offset 0x10 ('bar'): phase 0 is not complete, pending count 1 of 4, tx-count 0" */
void ws_mbar_describe(const struct ws_block *b, uint32_t offset, struct ws_buf *out);

/* ---- block.c, sched.c, launch.c ---- */
/* The next thread block of the launch, with all others of its cluster, in slots of their own; NULL when there are no
 * more. It is the one of rank 0, and stands for the cluster. */
struct ws_block *ws_block_next(struct ws_exec *x);
/* The same in two steps: its number (of the cluster, if it has clusters), false: there are no more; and its start, NULL: x->err. */
bool ws_block_take(struct ws_exec *x, uint64_t *number);
struct ws_block *ws_block_start(struct ws_exec *x, uint64_t number);
/* Tells the observer that the cluster of b has ended; the slots may be used again. */
void ws_block_finish(struct ws_exec *x, struct ws_block *b);
void ws_blocks_free(struct ws_exec *x);
void ws_exec_run(struct ws_exec *x);                             /* takes blocks until there are none */
/* For those who step warps (step.c). After a warp has used up its turn: true if it seems to wait for others. */
bool ws_warp_paused(struct ws_exec *x, struct ws_warp *w);
int32_t ws_warp_budget(const struct ws_warp *w);                 /* backward branches of a turn */
bool ws_within_limits(struct ws_exec *x);
bool ws_all_stuck(const struct ws_exec *x);
bool ws_all_in_a_circle(const struct ws_exec *x);        /* for ever, unless somebody else changes what they read */
double ws_cpu_now(void);                                 /* seconds of this host thread */
double ws_silence(const struct ws_gpu *g);               /* so many without any progress are taken for a deadlock */
enum { WS_IDLE_FOR_LONG = 1024 };                        /* pauses from which on places of polls are kept */
void ws_all_start_again(const struct ws_exec *x);
uint64_t ws_progress_of(const struct ws_exec *x);
uint64_t ws_random(uint64_t *state);
double ws_now(void);

/* ---- error.c, deadlock.c ---- */
/* Starts x->err for the instruction and the lowest lane of mask: code, and what the format says. Returns false. */
bool ws_exec_fail(struct ws_exec *x, const struct ws_dinst *in, uint32_t mask, enum ws_gpu_errcode code,
                  const char *fmt, ...)
	WS_PRINTF(5, 6);
/* Adds where it was to an error that somebody else has begun. */
void ws_fail_where(struct ws_exec *x, const struct ws_dinst *in, uint32_t lane);
void ws_fail_address(struct ws_exec *x, const struct ws_dinst *in, uint32_t lane, enum ws_gpu_errcode code,
                     unsigned space, uint64_t addr, unsigned bytes, bool write, const char *what);
void ws_fail_barrier(struct ws_exec *x, struct ws_block *b);     /* nobody in the block can run */
void ws_fail_no_progress(struct ws_exec *x);
bool ws_warp_stuck(const struct ws_warp *w);
void ws_fail_limit(struct ws_exec *x, bool instructions);
void ws_error_set(struct ws_gpu_error *err, enum ws_gpu_errcode code, const char *fmt, ...) WS_PRINTF(3, 4);

#endif

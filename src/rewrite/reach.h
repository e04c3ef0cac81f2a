/* reach.h - which kernels of a module the race checks can follow, and which functions get checks. */
#ifndef WS_REWRITE_REACH_H
#define WS_REWRITE_REACH_H

#include "rewrite/rewrite_priv.h"

/* What a function has, or a kernel can come to. */
enum {
	WS_REACH_ASYNC = 1,              /* asynchronous copies or mbarrier objects (async.h) */
	WS_REACH_COPIES = 2,
	WS_REACH_CLUSTER = 4,            /* anything that is about clusters */
	WS_REACH_PEERS = 8,              /* addresses of the shared memory of other blocks */
	WS_REACH_SPLIT = 16,             /* a barrier of the cluster that is no epoch: see of_cluster */
	WS_REACH_BULK = 32,              /* bulk copies (async.h) */
	WS_REACH_BULK_GROUPS = 64,
	WS_REACH_REMOTE = 128,           /* what completes on objects of other blocks, or reduces */
	WS_REACH_REGISTERS = 256,        /* setmaxnreg */
	WS_REACH_TENSOR = 512,           /* products of warpgroups, copies of tensors */
	WS_REACH_NEAR = 1024,            /* fences of a block's or a cluster's scope */
	WS_REACH_WIDE = 2048             /* ... of a larger one */
};

struct ws_reach_func {                   /* by sym->index */
	struct ws_ptx_func **calls;      /* with a body */
	size_t ncalls, cap;
	bool indirect;                   /* it calls by address */
	bool taken;                      /* its address is taken: it may be called so */
	const char *why;                 /* has an instruction that the checks do not know; NULL = none */
	const struct ws_ptx_inst *inst;
	uint64_t shared;                 /* bytes of shared memory that are its own */
	bool bare;                       /* must not get hooks */
	bool hooks;                      /* gets them */
	unsigned has;                    /* WS_REACH_... */
	bool ordering;                   /* also those for releases and acquires */
	unsigned with;                   /* what kernels that are checked and come to it can come to: WS_REACH_... */
};

struct ws_reach {
	struct ws_ptx_module *m;
	struct ws_reach_func *funcs;
	struct ws_rw_kernel *kernels;    /* in the module's arena */
	uint32_t nkernels;
	uint64_t shared;                 /* bytes of the module's own variables in shared memory */
	uint32_t align;                  /* of its shared memory of which the launch gives the size; 0 = it has none */
	const char *foreign;             /* a function of another module whose address is taken */
};

/* part: the module will be linked with others. To be given to ws_reach_free. */
void ws_reach_find(struct ws_reach *reach, struct ws_ptx_module *m, bool part);
/* What the kernel can come to. */
unsigned ws_reach_has(const struct ws_reach *reach, const struct ws_rw_kernel *k);
/* A fence of memory, of the generic proxy? */
bool ws_reach_is_fence(const struct ws_ptx_inst *i);
/* barrier.cluster.arrive or .wait, and which of them? */
bool ws_reach_is_cluster_barrier(const struct ws_ptx_inst *i, bool *wait);
/* Can the kernel come to a function with hooks? */
bool ws_reach_hooks(const struct ws_reach *reach, const struct ws_rw_kernel *k);
bool ws_reach_calls_hooks(const struct ws_reach *reach, const struct ws_rw_kernel *k);     /* ... other than the kernel itself? */
void ws_reach_free(struct ws_reach *reach);

#endif

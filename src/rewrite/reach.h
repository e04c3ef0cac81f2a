/* reach.h - which kernels of a module the race checks can follow, and which functions get checks. */
#ifndef WS_REWRITE_REACH_H
#define WS_REWRITE_REACH_H

#include "rewrite/rewrite_priv.h"

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
	bool async, copies;              /* has asynchronous copies or mbarrier objects (async.h); has copies */
	bool ordering;                   /* also those for releases and acquires */
};

struct ws_reach {
	struct ws_ptx_module *m;
	struct ws_reach_func *funcs;
	struct ws_rw_kernel *kernels;    /* in the module's arena */
	uint32_t nkernels;
	uint64_t shared;                 /* bytes of the module's own variables in shared memory */
	const char *foreign;             /* a function of another module whose address is taken */
};

/* part: the module will be linked with others. To be given to ws_reach_free. */
void ws_reach_find(struct ws_reach *reach, struct ws_ptx_module *m, bool part);
/* Can the kernel come to a function with asynchronous copies or mbarrier objects, with copies? */
bool ws_reach_async(const struct ws_reach *reach, const struct ws_rw_kernel *k, bool copies);
/* Can the kernel come to a function with hooks? */
bool ws_reach_hooks(const struct ws_reach *reach, const struct ws_rw_kernel *k);
void ws_reach_free(struct ws_reach *reach);

#endif

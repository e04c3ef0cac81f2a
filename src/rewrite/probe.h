/* probe.h - may one block tell for all blocks of a launch whether threads of a block can race in shared memory?
 *
 * Many kernels access shared memory at addresses, and come to barriers, by the thread's index, the size of the block,
 * parameters and constants alone: not by data, nor by the block's index. Then all blocks of a launch do the same there,
 * and so do all launches of the same block and the same parameters. The pass `race` gives such a kernel a second body,
 * its probe: the accesses to shared memory as checks, the barriers, and what they depend on, and nothing else. The host
 * launches one block of it first (src/real/race_probe.c), and what it has not found no block has. Some branches go one way in all
 * threads of a block, and another one in other blocks: then it launches a block for each way.
 *
 * That one run tells for others is "test amplification" of Leung, Gupta, Agarwal, Gupta, Jhala, Lerner (PLDI 2012,
 * section 3), who follow the flow of data of the whole kernel. Here only what addresses, barriers and their conditions
 * depend on is followed, and conditions that do depend on data are allowed where the accesses behind them can be taken
 * as made by all threads (probe.c). */
#ifndef WS_REWRITE_PROBE_H
#define WS_REWRITE_PROBE_H

#include "rewrite/rewrite_priv.h"

/* Conditions that are known, of each of which it must be so or not so for a thread to go on; else it goes to `to`. */
struct ws_probe_only { unsigned n; struct { const struct ws_reg *r; bool is; } of[4]; uint32_t to; };

struct ws_probe {
	struct ws_ptx_func *f;
	const struct ws_rw_access *list;
	uint32_t n;
	uint32_t *access;                /* by instruction: number of the access + 1, of those to shared memory; 0 = none */
	bool *aside;                     /* by access: it has no race, wherever it is (probe_aside.c) */
	bool one_warp;                   /* ... in blocks of one warp: the probe finds nothing in those alone */
	bool *kept;                      /* by instruction */
	const struct ws_ptx_inst **data; /* by register: what makes its value unknown; NULL = known */
	bool *needed;                    /* by register */
	/* By block: what comes behind it, as a probe walks; WS_EXIT_BLOCK is the end. [1] if `when` is true (false, if
	 * unless), else [0]; `when` NULL: [0]. */
	uint32_t (*next)[2];
	const struct ws_reg **when;
	bool *unless;
	bool *reached;                   /* by block */
	bool *varies;                    /* by register: it may be another one in another thread of the block (probe_rounds.c) */
	bool *twice;                     /* by block: of one that ends a round, see `loop`, nothing else is known: there are two rounds */
	/* By block: its branch goes one way in all threads of a block, and nobody knows which: as the bit of that number, from 1 on, says of the
	 * index of the probe's block. There are nvariants such branches, and 1 << nvariants blocks of the probe. */
	uint8_t *variant;
	uint32_t nvariants;
	const struct ws_ptx_inst **def;  /* by register: what alone sets it; NULL: nothing, or several instructions */
	struct ws_probe_only *before, *behind;           /* by block: at its begin, and at its end, where a condition of data is not looked at (probe_only.c) */
	bool *with_only;                 /* by block: what that takes is needed */
	uint8_t **loop;                  /* by block: of one that ends a round, the blocks of its loop, if two rounds tell for all
	                                  * (probe_rounds.c); else NULL */
	struct ws_probe_value *params, *constants;       /* that it reads */
	size_t nparams, cap_params, nconstants, cap_constants;
	uint32_t unit;                   /* bytes for which it has a cell, 1 to 16: what the narrowest access has, or 4 */
	uint32_t strong;                 /* bytes of all strong accesses; 0 = there are none, or they differ and count as weak ones */
	struct ws_buf why;               /* there can be none */
	bool whole;                      /* of all accesses in all blocks: fixed.c, which makes no probe of it */
};

/* list: the accesses of the kernel, which must live as long. NULL: it has no probe; *why then says why, in the module's
 * arena, or is NULL if it accesses no shared memory. To be given to ws_probe_free. */
struct ws_probe *ws_probe_find(struct ws_ptx_func *kernel, const struct ws_rw_access *list, uint32_t n, const char **why);
void ws_probe_free(struct ws_probe *probe);              /* NULL is fine */

/* probe_code.c: writes it behind the kernel's code, and the jump to it at the kernel's entry. kernel: as race_enter takes
 * it. A predicate that is true in launches for which the probe has found nothing; NULL: it failed, which was told. */
const char *ws_probe_write(const struct ws_probe *probe, struct ws_pass *p, uint32_t kernel, uint32_t module);

/* fixed.c: do the parameters that *params lists, and the sizes of grid and block, say all of a launch that decides whether it
 * has a race? Then what is found in one launch holds for all of which they are the same. */
bool ws_launch_is_fixed(struct ws_ptx_func *kernel, const struct ws_rw_access *list, uint32_t n, struct ws_probe_value **params,
			size_t *nparams);

/* probe_rounds.c: finds loops of which two rounds tell for all, and makes of `needed` and `kept` what is needed then. */
void ws_probe_find_rounds(struct ws_probe *p);
/* By register: may it be another one in another thread of the block, where both have come to the same barrier? To be freed. NULL: threads may be at
 * different barriers at a time. What ws_probe_follow finds must be there. */
bool *ws_probe_varying(struct ws_probe *p);
/* By block: some threads of a block may come there from the branch at the end of b, and others go on elsewhere. To be freed; NULL: all that go on go one way. */
uint8_t *ws_probe_divided(const struct ws_probe *p, const bool *varies, uint32_t b);
bool ws_probe_has_copies(const struct ws_probe *p);        /* asynchronous ones into shared memory */
/* The block that begins a round of b's loop; the side of b's branch that leads there. */
uint32_t ws_probe_loop_begin(const struct ws_probe *p, uint32_t b);
unsigned ws_probe_loop_side(const struct ws_probe *p, uint32_t b);

void ws_probe_find_aside(struct ws_probe *p);              /* probe_aside.c */

/* ---- probe_only.c ---- */
void ws_probe_find_defs(struct ws_probe *p);
/* What is known to be so where r, a condition of data, is that. All is set on every way to the block. `to` is not. */
struct ws_probe_only ws_probe_only_if(const struct ws_probe *p, const struct ws_reg *r, bool is, uint32_t block);

/* ---- of probe.c, for fixed.c and probe_rounds.c ---- */
struct ws_probe_needing { struct ws_probe *p; bool changed; };
bool ws_probe_is_barrier(const struct ws_ptx_inst *i);           /* or a sync */
bool ws_probe_computes(const struct ws_probe *p, const struct ws_ptx_inst *i);   /* from its operands, or from what the launch has */
bool ws_probe_orders(const struct ws_probe *p, const struct ws_ptx_inst *i);     /* likewise, or a commit or wait of copies */
bool ws_probe_has_event(const struct ws_probe *p, const uint8_t *marks, uint8_t mark, bool kept);
uint8_t *ws_probe_region(const struct ws_probe *p, uint32_t b);  /* by block: where a thread may come from b's branch until its ways meet; to be freed */
void ws_probe_need_events(struct ws_probe *p);
void ws_probe_need(struct ws_probe *p, const struct ws_reg *r);
void ws_probe_close(struct ws_probe *p);                 /* what needed things need; not the conditions that end loops in p->loop */
struct ws_probe *ws_probe_begin(struct ws_ptx_func *f, const struct ws_rw_access *list, uint32_t n);
void ws_probe_follow(struct ws_probe *p);                /* finds what is data, and how blocks follow each other */
bool ws_probe_needs(struct ws_probe *p);                 /* finds what is needed; false: some of it is data */
bool ws_probe_decides(const struct ws_probe *p, uint32_t block);         /* does its branch decide what is needed? */
bool ws_probe_reads(struct ws_probe *p);                 /* finds params and constants; false: too many */

#endif

/* step.h - the simulated GPU under somebody else's clock: who runs a launch begins its blocks, and executes its warps one
 * PTX instruction at a time, in whatever order and at whatever time. What an instruction does is what it always does here;
 * what it costs is the caller's business (src/timing).
 *
 * Given in ws_gpu_config.clock. Without one nothing of this runs. A launch has as many struct ws_exec as host threads may work
 * on it (ws_step_hosts); blocks and warps belong to the one that began them. Calls for different ones may come from different
 * threads at the same time, but for those marked "alone": no other thread is in a call then. All calls come during
 * ws_clock_ops.run. */
#ifndef WS_GPU_STEP_H
#define WS_GPU_STEP_H

#include "gpu/observer.h"

struct ws_exec;                          /* a launch being run */
struct ws_block;                         /* a resident block */
struct ws_warp;
struct ws_frame;
struct ws_dinst;

struct ws_clock_ops {
	/* Runs the launch to its end: until ws_step_take gives no more and no block is left, or a call here has failed. */
	void (*run)(void *self, struct ws_exec *x);
	/* Number of the instruction that a call of this undefined function is (PTX without an assembler's help); below 0: it
	 * is none. NULL: there are none. */
	int (*intrinsic)(void *self, const char *name);
	/* How many locks a thread has more after that call: 1, -1, 0. A branch outside of a critical section then has its place
	 * of reconvergence outside too (lock_meets.c). NULL, or always 0: where paths meet. */
	int (*locks)(void *self, const char *name);
};

struct ws_step_launch {
	const struct ws_obs_launch *obs;
	uint32_t cluster_blocks;         /* blocks that begin together: 1 without clusters */
	uint32_t registers;              /* 32-bit registers of a thread, estimated from liveness */
	uint32_t functions;              /* that the kernel can reach, itself the first */
	uint32_t memory;                 /* bytes of a thread's local memory, for addresses */
};
void ws_step_launch(const struct ws_exec *x, struct ws_step_launch *l);          /* alone */
const struct ws_ptx_func *ws_step_function(const struct ws_exec *x, uint32_t i);

/* How many there are: one, or several for each host thread, no more than there are blocks; and host threads, as
 * ws_gpu_config.host_threads says. x: any of the launch. */
uint32_t ws_step_hosts(const struct ws_exec *x);
uint32_t ws_step_processors(const struct ws_exec *x);
struct ws_exec *ws_step_host(const struct ws_exec *x, uint32_t i);
/* Around all calls of a thread that did not call ws_clock_ops.run. */
unsigned ws_step_enter(void);
void ws_step_leave(unsigned entered);

/* From now on in this launch stores to global memory have their effect at the next ws_step_show, in the order of their cycles, in
 * a cycle of their cores. Loads of the same core see them before, those of other cores do not: so what a core's warps compute until
 * then does not depend on when other threads run other cores. Atomics that are not deferred, and operations that the caller keeps to
 * one thread (asynchronous copies, say), do not take part. Before the first block; alone. */
void ws_step_hold(struct ws_exec *x, uint32_t cores);
void ws_step_show(struct ws_exec *x);                    /* alone */
bool ws_step_holds(const struct ws_exec *x, uint32_t core);      /* there are some of this core */

/* The time that the program is told (%clock, %globaltimer), and the core that the calls after it work on (%smid). */
void ws_step_time(struct ws_exec *x, uint64_t cycle, uint64_t nanoseconds);
void ws_step_core(struct ws_exec *x, uint32_t core);

/* The number of the next block, or of the next cluster; false: there are no more, or the launch has failed. Alone. */
bool ws_step_take(struct ws_exec *x, uint64_t *number);
bool ws_step_more(const struct ws_exec *x);              /* ws_step_take has another one; alone */
/* The block, or all blocks of the cluster, begins; NULL: the launch has failed. */
struct ws_block *ws_step_begin(struct ws_exec *x, uint64_t number);
struct ws_block *ws_step_peer(struct ws_block *b, uint32_t rank);
struct ws_warp *ws_step_warp(struct ws_block *b, uint32_t i);
bool ws_step_ended(const struct ws_block *b);            /* no thread of the block (or of its cluster) lives */
void ws_step_end(struct ws_exec *x, struct ws_block *b); /* after that; b is the one that ws_step_begin gave; alone */
bool ws_step_failed(const struct ws_exec *x);            /* this one */
bool ws_step_any_failed(const struct ws_exec *x);        /* of the launch; alone */

/* ---- one instruction ---- */
enum ws_step_state { WS_STEP_READY, WS_STEP_WAITS /* for other warps */, WS_STEP_ENDED };
struct ws_step_next {                    /* what a warp executes next */
	uint32_t function;               /* ws_step_function */
	const struct ws_ptx_inst *inst;  /* NULL: the function's end, which is an error when it is executed */
	uint32_t active;                 /* lanes that are there */
};
/* Where the warp is. Reconvergence happens here. */
enum ws_step_state ws_step_next(struct ws_exec *x, struct ws_warp *w, struct ws_step_next *n);

/* Where registers are: those that are never needed at once share a place, as in hardware. */
uint32_t ws_step_places(const struct ws_exec *x, uint32_t function);
uint32_t ws_step_place(const struct ws_exec *x, uint32_t function, uint32_t reg);        /* below ws_step_places */

/* An atomic operation whose effect is still to come. Its operands are kept; the places of its results must not be used by
 * the warp before it is done. */
struct ws_saved_atomic;
struct ws_step_atomic {
	const struct ws_dinst *in;
	struct ws_frame *frame;
	struct ws_warp *warp;
	struct ws_saved_atomic *saved;
};

enum ws_step_kind { WS_STEP_PLAIN, WS_STEP_LOAD, WS_STEP_STORE, WS_STEP_ATOMIC, WS_STEP_INTRINSIC };
struct ws_stepped {                      /* what an instruction did */
	uint32_t active;                 /* lanes that were there */
	uint32_t mask;                   /* those that executed it: the guard was true */
	uint8_t kind;                    /* enum ws_step_kind: ld, st, atom, red; or ws_clock_ops.intrinsic */
	uint8_t intrinsic;               /* its number: it has not happened, and the warp stays where it is */
	uint8_t space;                   /* GLOBAL, SHARED, LOCAL, CONST, PARAM: generic addresses are resolved */
	uint8_t sem, scope;
	uint8_t atom;                    /* enum ws_atom of ATOMIC */
	bool nc;                         /* ld.global.nc */
	uint16_t bytes;                  /* of a lane */
	bool diverged;                   /* lanes of the warp have parted */
	bool jumped;                     /* the next instruction of the warp is not the one behind this */
	bool waits;                      /* the warp has come to something at which warps wait for each other */
	bool wakes;                      /* other warps of the block or cluster may be able to go on */
	bool deferred;                   /* ATOMIC, GLOBAL: it has not happened: ws_step_atomic, then ws_step_atomic_end */
	struct ws_step_atomic atomic;
	/* of the lanes of mask. GLOBAL, CONST: addresses in a flat memory in which allocations lie in the order of their
	 * birth, the same in each run; SHARED, LOCAL, PARAM: offsets */
	uint64_t addr[WS_WARP];
	uint64_t generic[WS_WARP];       /* INTRINSIC: the first argument, an address of global memory. ATOMIC: as addr, but as
	                                  * the program has it */
	const struct ws_site *site;      /* what was executed; NULL: nothing of the module */
	uint32_t value[WS_WARP];         /* INTRINSIC: the second argument, or 0 */
};
/* Fills the fields of a memory instruction, as if it were executed now, and mask. */
void ws_step_look(struct ws_exec *x, struct ws_warp *w, struct ws_stepped *s);
/* Executes the next instruction of a READY warp. defer: atomics on global memory only start. false: the launch has
 * failed. */
bool ws_step(struct ws_exec *x, struct ws_warp *w, bool defer, struct ws_stepped *s);
/* The deferred operation of these lanes happens now. */
bool ws_step_atomic(struct ws_exec *x, const struct ws_step_atomic *a, uint32_t lanes);
void ws_step_atomic_end(struct ws_exec *x, const struct ws_step_atomic *a);      /* once, when all its lanes are done */

/* ---- for instructions that are not PTX's ---- */
/* Four bytes of global memory at a generic address; NULL: there are none, and the launch has failed. */
uint32_t *ws_step_word(struct ws_exec *x, struct ws_warp *w, uint32_t lane, uint64_t addr);
/* The lanes have executed the instruction at which the warp stands, and go on behind it. */
bool ws_step_pass(struct ws_exec *x, struct ws_warp *w, uint32_t lanes);
/* The same; if the call has a result, it is 1 in those of `set` and 0 in the others. */
bool ws_step_answer(struct ws_exec *x, struct ws_warp *w, uint32_t lanes, uint32_t set);
/* Lock instructions under the reconvergence stack or with independent threads (lock_stack.c). The warp stands at one; of
 * the lanes `asked` those in `got` have the lock at their address. */
bool ws_lock_taken(struct ws_exec *x, struct ws_warp *w, uint32_t asked, uint32_t got, const uint64_t addr[WS_WARP]);
/* A thread's try of a lock: its attempts so far, 0: it tries none, and the cycle of the first. */
struct ws_lock_try { uint32_t attempts; uint64_t began; };
struct ws_lock_try *ws_lock_try_of(struct ws_warp *w, uint32_t lane);
/* The warp stands at a try of the lanes `asked`: those in `got` have the lock and go on with 1, those in `again` stay, the
 * others go on with 0. Returns the lanes that have entries on the stack now: who has its lock runs its section before the
 * others try again. When nobody stays, and nobody has stayed before, the warp goes on as a whole, without entries. */
uint32_t ws_lock_tried(struct ws_exec *x, struct ws_warp *w, uint32_t asked, uint32_t got, uint32_t again);
/* Do the threads of a warp go on independently of each other? Else the reconvergence stack orders them. */
bool ws_step_independent(const struct ws_exec *x);
/* Locks that the thread holds, under the stack. */
uint32_t ws_lock_held(const struct ws_warp *w, uint32_t lane);
/* Is the lane's warp inside of a critical section of other lanes, which come before it tries to get its lock? */
bool ws_lock_busy(const struct ws_warp *w, uint32_t lane);
/* The warp stands at an unlock, which lanes have executed; `locks` of them had got theirs by ws_lock_taken. */
bool ws_lock_released(struct ws_exec *x, struct ws_warp *w, uint32_t lanes, uint32_t locks);
/* Number of a thread, for lock words: from 1 on in the order of blocks. */
uint32_t ws_step_thread(const struct ws_warp *w, uint32_t lane);
uint64_t ws_step_threads(const struct ws_warp *w);      /* of the launch */
const struct ws_obs_warp *ws_step_obs(const struct ws_warp *w);  /* as observers know it */

/* ---- no way on ---- */
/* The warp waits for what only others can do, or does not any more. */
void ws_step_park(struct ws_warp *w, bool parked);
/* Nobody can run: ends the launch with a text that says who waits for what. true: something moved after all. Alone. */
bool ws_step_nobody(struct ws_exec *x);
/* To be called now and then: looks at limits of time and instructions, and for warps that wait in loops for what never
 * comes. false: the launch has failed. Alone. */
bool ws_step_check(struct ws_exec *x);

#endif

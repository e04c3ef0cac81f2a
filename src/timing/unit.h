/* unit.h - the interface of proposed hardware: a unit adds instructions to the clocked GPU. docs/UNITS.md walks through
 * writing one.
 *
 * A unit is one file in src/units with a table of functions. Its instructions are calls of functions that no module
 * defines, such as `extern "C" __device__ void __ws_lock(unsigned *p)`: they need no assembler. Such a call takes
 * the address of a word in global memory, may take a number (32 bits), and may answer yes or no (`unsigned`). When a warp comes to one, `issue` says whether requests go to the
 * memory partitions of the addresses; each arrives there, after the network and the second-level cache, like an atomic;
 * when all replies are back, `finish` moves the warp on. Until then the warp stands at the instruction.
 *
 * All functions get the unit's own state first. Values change in `arrive`, which is called in the order in which a
 * partition serves: two of them never overlap. */
#ifndef WS_TIMING_UNIT_H
#define WS_TIMING_UNIT_H

#include "gpu/step.h"

struct ws_unit_op {                      /* an instruction of a unit under way */
	struct ws_exec *x;
	struct ws_warp *warp;
	unsigned instruction;            /* position in ws_unit_ops.instructions */
	uint32_t lanes;
	uint64_t addr[WS_WARP];          /* generic addresses */
	uint32_t done;                   /* the unit's own: lanes for which it has succeeded, or the like */
	uint32_t tries;                  /* the unit's own; how often this warp came here, if it counts */
	uint32_t delay;                  /* finish may ask for so many cycles until the warp issues again */
	uint32_t ask;                    /* issue: the lanes for which requests are sent; all, unless it takes some out */
	void *place;                     /* where the warp is: for ws_unit_words, ws_unit_send, ws_unit_wake */
	void *machine;
	uint32_t value[WS_WARP];         /* second arguments, 0 where there is none */
	uint64_t began, now;             /* cycles: of the issue, and of this call */
	uint32_t again;                  /* finish: lanes whose requests are sent again, after `delay`; the warp stays */
};

/* Two words of the unit's own for each resident warp, 0 when it begins. */
uint32_t *ws_unit_words(void *place);
/* During arrive: sends a message from the partition at work through the network to the core of a warp, where `message` is
 * called. */
void ws_unit_send(const struct ws_unit_op *o, void *place, uint32_t lane);
/* During message: the partition that has sent it sends another one. */
void ws_unit_pass_on(void *machine, void *place, uint32_t lane);
/* A parked warp issues its instruction again; nothing happens to another one. */
void ws_unit_wake(void *machine, void *place);

enum ws_unit_issue {
	WS_UNIT_DONE,                    /* nothing is to be sent; finish comes at once */
	WS_UNIT_ASK,                     /* requests are sent, and finish comes when all replies are back */
	WS_UNIT_PARK                     /* the warp stands until ws_unit_wake, and then issues the instruction again */
};

struct ws_unit_option { const char *name, *help; uint32_t low, high, preset; };
struct ws_unit_counter { const char *name, *text; uint64_t value; };

#define WS_UNIT_ABI 1
struct ws_unit_ops {                     /* fields are only appended */
	uint32_t abi;                    /* WS_UNIT_ABI */
	const char *name, *help;
	const char *const *instructions; /* names of functions, NULL at the end */
	const struct ws_unit_option *options;    /* NULL name at the end; NULL: none */
	/* values: one an option, in their order. Never NULL. */
	void *(*create)(const uint32_t *values);
	void (*destroy)(void *self);
	enum ws_unit_issue (*issue)(void *self, struct ws_unit_op *o);
	/* The request of these lanes is served by their partition. false: the launch has failed. */
	bool (*arrive)(void *self, struct ws_unit_op *o, uint32_t lanes);
	bool (*finish)(void *self, struct ws_unit_op *o);
	/* The i-th counter, false at the end. May be NULL. */
	bool (*counter)(const void *self, unsigned i, struct ws_unit_counter *c);
	/* May be NULL: a message of ws_unit_send has come to the core; a launch begins. */
	void (*message)(void *self, void *machine, void *place, uint32_t lane);
	void (*launch_begin)(void *self);
	/* May be NULL: how many locks a thread has more after an instruction: 1, -1, 0. Reconvergence places are then moved
	 * out of critical sections. */
	int (*locks)(const void *self, unsigned instruction);
};

#endif

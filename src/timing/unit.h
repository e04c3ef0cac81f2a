/* unit.h - the interface of proposed hardware: a unit adds instructions to the clocked GPU. docs/UNITS.md walks through
 * writing one.
 *
 * A unit is one file in src/units with a table of functions. Its instructions are calls of functions that no module
 * defines, such as `extern "C" __device__ void __ws_lock(unsigned *p)`: they need no assembler. Such a call takes
 * the address of a word in global memory, may take a number (32 bits), and may answer yes or no (`unsigned`). When a warp comes to
 * one, `issue` says whether requests go to the memory partitions of the addresses; each arrives there, after the network and the
 * second-level cache, like an atomic; when all replies are back, `finish` moves the warp on. Until then the warp stands at the
 * instruction.
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

/* ---- units that watch ordinary accesses ----
 * A unit may follow the loads, stores and atomics on shared and global memory: `access` is called when one enters the memory
 * stage of its core, `depart` for each of its transactions on global memory when it leaves for its partition, or is served by a
 * cache of the core. What depart returns goes along (after a hit: as a packet of its own). In the partition `look` says what of
 * the unit's memory there it wants to read; that goes through the second-level cache as other reads do, and when all of
 * it is there, `check` is called, which may have it written. A launch ends when all checks are done. */
struct ws_unit_machine {                 /* what a unit needs to know of the machine */
	void *machine;
	uint32_t cores, partitions, blocks;      /* blocks: at once on a core */
	uint32_t banks;                  /* of shared memory, 4 bytes each */
	uint32_t piece;                  /* bytes of a read in a partition: those of `look` are aligned to it */
	uint32_t line;                   /* bytes of the lines that `access` asks for */
};
struct ws_unit_access {
	void *place;
	struct ws_warp *warp;
	const struct ws_stepped *s;
	uint32_t core;
	uint32_t transactions;           /* of global memory, each of which departs once */
	/* access may ask for memory of the unit's own, one for each core, that is read and written by way of the first-level
	 * cache meanwhile: addresses of lines in it, up to 4 GiB. Nobody waits for them, but they take their time of the stage. */
	uint32_t nlines;
	uint64_t line[WS_WARP];
};
enum ws_departure { WS_LEAVES, WS_HITS /* in a cache of the core */, WS_JOINS /* a miss under way */ };
struct ws_unit_transaction {
	void *access;                    /* what `access` returned */
	uint64_t addr;                   /* flat, as in ws_stepped: of a piece of so many bytes, */
	uint32_t size;
	uint32_t lanes;                  /* ... which these access */
	enum ws_departure how;
	uint32_t bytes;                  /* depart: by which the packet is longer */
	bool wait;                       /* depart: the answer leaves the partition when the check is done */
};
struct ws_unit_piece { uint64_t addr; uint32_t sectors; };       /* addr: of the partition, aligned; a bit for 32 bytes */
enum { WS_UNIT_PIECES = 8 };

uint64_t ws_unit_now(const void *machine);
/* A message from a core to all partitions, in which `told` is called. */
void ws_unit_tell(void *machine, uint32_t core, uint64_t what);
/* Memory of the unit's own of a core is written by way of its first-level cache: `lines` of them from the one at addr on. */
void ws_unit_fill_lines(void *machine, uint32_t core, uint64_t addr, uint32_t lines);

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
	/* May be NULL: the unit watches accesses (see above). attach comes right after create. */
	void (*attach)(void *self, const struct ws_unit_machine *m);
	const struct ws_observer_ops *observer;  /* what the program does, when it does it; called with the unit's state */
	void (*resident)(void *self, uint32_t core, struct ws_obs_block *b);     /* before the block's first instruction */
	void *(*access)(void *self, struct ws_unit_access *a);                   /* NULL: no transaction of it departs */
	void *(*depart)(void *self, struct ws_unit_transaction *t);              /* NULL: nothing goes along */
	/* Up to WS_UNIT_PIECES. `local`: where the transaction's address lies in its partition; below 2^40. */
	unsigned (*look)(void *self, void *record, uint64_t local, struct ws_unit_piece *piece);
	bool (*check)(void *self, void *record, uint32_t partition);             /* true: the pieces are written */
	void (*told)(void *self, uint32_t partition, uint64_t what);
	uint64_t (*translate)(void *self, uint32_t core, uint64_t addr);         /* a transaction may leave in that cycle */
	uint32_t (*delay)(const void *self, const struct ws_obs_block *b);       /* cycles until warps go on behind a barrier */
	/* false: there can be no unit with these options, and *why says so. */
	bool (*possible)(const uint32_t *values, struct ws_buf *why);
	/* The i-th thing that it found, as text and as a JSON object, one of them NULL; false at the end. */
	bool (*found)(const void *self, unsigned i, struct ws_buf *text, struct ws_buf *json);
};

#endif

/* timing_priv.h - the inside of the clocked GPU, shared by the files of src/timing only.
 *
 * Cores (core.c) issue instructions and pass memory instructions to their memory stage (stage.c), which makes transactions
 * of them and sends what its caches lack through the network (network.c) to the partitions (partition.c), and these to
 * their DRAM (dram.c). Everything but the cores is driven by events (events.c); a core is looked at in the cycles in which
 * one of its warps may issue. Time is in cycles of the core; where another clock counts, in 1/256 of them ("fine").
 *
 * Cores and partitions hear of each other through the network alone, `network.latency` cycles later at least. So time passes in
 * windows of that length: in a window each core and each partition goes on for itself, whichever host thread runs it, and
 * between two windows one thread passes on what was sent (network.c), gives atomics their effect and cores new blocks
 * (run.c, hosts.c). What is counted does not depend on the number of host threads. */
#ifndef WS_TIMING_PRIV_H
#define WS_TIMING_PRIV_H

#include "timing/timing.h"

enum { WS_FINE = 256, WS_SECTOR = 32 };
#define WS_NEVER UINT64_MAX

struct ws_core;
struct ws_partition;

/* ---- events.c ---- */
typedef void ws_event_fn(struct ws_timing *t, void *arg);
struct ws_event {
	uint64_t at;
	ws_event_fn *fn;
	void *arg;
	struct ws_event *next;
};
enum { WS_WHEEL = 4096 };                /* slots; longer waits go round */
struct ws_wheel {
	struct { struct ws_event *first, *last; } slot[WS_WHEEL];
	uint64_t used[WS_WHEEL / 64];
	struct ws_event *free;
	struct ws_arena *arena;
	uint64_t count;
};
void ws_wheel_init(struct ws_wheel *w);
void ws_wheel_fini(struct ws_wheel *w);
/* Events of one time happen in the order in which they were asked for. at: not before `now`. */
void ws_wheel_add(struct ws_wheel *w, uint64_t at, ws_event_fn *fn, void *arg);
uint64_t ws_wheel_next(const struct ws_wheel *w, uint64_t now);          /* from `now` on; WS_NEVER: there is none */
void ws_wheel_run(struct ws_wheel *w, uint64_t now, struct ws_timing *t);        /* those of `now` */

/* ---- cache.c: tags of a cache with lines of sectors ---- */
struct ws_way {
	uint64_t tag;                    /* number of the line; WS_NEVER: free */
	uint64_t used;
	uint32_t valid, dirty;           /* a bit a sector */
};
struct ws_cache {
	struct ws_cache_size size;
	uint32_t sets;
	uint64_t clock;
	struct ws_way *ways;
};
struct ws_victim { uint64_t addr; uint32_t dirty; };     /* a line that gave way; dirty 0: nothing to write */
void ws_cache_init(struct ws_cache *c, const struct ws_cache_size *size);
void ws_cache_fini(struct ws_cache *c);
void ws_cache_flush(struct ws_cache *c);
/* Which of the sectors of the piece at addr (bit 0: the sector at addr) are there; they count as used now. */
uint32_t ws_cache_look(struct ws_cache *c, uint64_t addr, uint32_t sectors);
void ws_cache_fill(struct ws_cache *c, uint64_t addr, uint32_t sectors, bool dirty, struct ws_victim *v);
void ws_cache_drop(struct ws_cache *c, uint64_t addr, uint32_t sectors);
/* The sectors of a piece of `segment` bytes that misses of `sectors` bring. */
uint32_t ws_cache_fetched(const struct ws_cache *c, uint32_t segment, uint32_t sectors);

/* Lines that are waited for, and who waits: miss status holding registers. */
struct ws_waiter {
	void *who;
	uint32_t need;
	struct ws_waiter *next;
};
struct ws_miss {
	uint64_t addr;                   /* WS_NEVER: free */
	uint32_t coming;                 /* sectors */
	struct ws_waiter *first, *last;
};
struct ws_mshrs {
	struct ws_miss *miss;
	uint32_t n, used;
	struct ws_waiter *free;
	struct ws_arena *arena;
};
void ws_mshrs_init(struct ws_mshrs *m, uint32_t n);
void ws_mshrs_fini(struct ws_mshrs *m);
/* The entry of the piece at addr, a new one if there is none; NULL: all are in use. */
struct ws_miss *ws_mshrs_get(struct ws_mshrs *m, uint64_t addr);
void ws_mshrs_wait(struct ws_mshrs *m, struct ws_miss *e, void *who, uint32_t need);
/* Sectors have come: calls done for each that has all now. */
void ws_mshrs_arrived(struct ws_mshrs *m, uint64_t addr, uint32_t sectors, void (*done)(void *user, void *who),
                      void *user);

/* ---- dram.c ---- */
struct ws_dram_request {
	uint64_t row, seq;
	uint32_t bank, bursts;
	bool write;
	uint64_t addr;                   /* of the partition */
	uint32_t sectors;
};
struct ws_bank { uint64_t row, activated, column, precharge; };         /* row WS_NEVER: closed; times are fine */
struct ws_dram {
	struct ws_partition *part;
	struct ws_bank *banks;
	struct ws_dram_request *queue;   /* in order of arrival; those past dram_queue are not looked at */
	size_t n, cap;
	uint64_t bus, activate, read_after, command;    /* when they are free again; fine */
	uint64_t tick;                   /* event that is on its way; WS_NEVER: none */
};
void ws_dram_init(struct ws_timing *t, struct ws_dram *d, struct ws_partition *p);
void ws_dram_fini(struct ws_dram *d);
void ws_dram_add(struct ws_timing *t, struct ws_dram *d, uint64_t addr, uint32_t sectors, bool write);

/* ---- decoded instructions, code.c ---- */
struct ws_tinst {
	uint8_t cls, unit;               /* enum ws_class, ws_unit_kind */
	uint8_t times;                   /* machine instructions that it stands for */
	uint8_t chain;                   /* latencies one after the other until its result */
	uint8_t sync;                    /* enum ws_sync: what must have happened before */
	bool memory;                     /* ld, st, atom, red */
	bool load;
	bool unread;                     /* its result is never used, or it has none */
	bool fence;                      /* fence.sc beyond the block */
	bool call;                       /* perhaps an instruction of a unit */
	bool library;                    /* a call of what the simulator does for kernels: printf, malloc */
	uint16_t nuse, ndef;
	uint32_t wide;                   /* a bit a use: it has 64 bits, and two banks */
	uint32_t *regs;                  /* places: uses, then definitions */
};
enum ws_sync {
	WS_SYNC_NONE,
	WS_SYNC_BLOCK,                   /* atomics with a result have happened */
	WS_SYNC_ATOMICS,                 /* atomics have happened */
	WS_SYNC_MEMORY,                  /* stores and atomics are done */
	WS_SYNC_ALL                      /* and all results are there */
};
struct ws_tcode {
	const struct ws_ptx_func *func;
	struct ws_tinst *inst;           /* one an instruction of func */
};
struct ws_tcode *ws_timing_code(struct ws_arena *a, const struct ws_machine *m, const struct ws_exec *x, uint32_t functions,
                                uint32_t *registers);

/* ---- memory instructions under way ---- */
enum ws_which { WS_IN_NONE /* goes past all */, WS_IN_L1, WS_IN_CONSTANT, WS_IN_TEXTURE, WS_IN_COUNT };        /* caches of a core */
enum { WS_MAX_SEGMENTS = 8 * WS_WARP };
struct ws_segment { uint64_t addr; uint32_t sectors, lanes; };
struct ws_memop {
	struct ws_core *core;
	struct ws_twarp *warp;
	const struct ws_tinst *ti;
	uint8_t kind, space;             /* enum ws_step_kind, ws_space */
	uint8_t which;                   /* enum ws_which */
	uint32_t token;                  /* a load's number (ahead.c) */
	uint32_t passes;                 /* of shared or constant memory */
	uint32_t nseg, next;             /* transactions; the first that is not yet begun */
	uint32_t pending;                /* that have begun and not ended, and 1 while in the queue */
	uint64_t from;                   /* its operands are there */
	uint64_t done;                   /* not before */
	struct ws_step_atomic atomic;
	bool of_unit;                    /* an instruction of the unit */
	struct ws_unit_op op;
	void *watched;                   /* the unit's, or NULL (follow.c) */
	struct ws_memop *beside;         /* shared memory: what is read for the unit meanwhile; NULL: nothing, or it is done */
	bool of_watch;                   /* it is such a one */
	struct ws_memop *link;          /* free list; atomics of a warp */
	uint64_t addr[WS_WARP];
	struct ws_segment seg[WS_MAX_SEGMENTS];
};
/* Bytes of a transaction for a cache. */
uint32_t ws_piece(const struct ws_machine *m, uint8_t which);
/* Fills seg and nseg, pieces of `segment` bytes, from lanes' addresses of `bytes` each (stage.c). */
void ws_coalesce(const struct ws_machine *m, uint32_t segment, const uint64_t *addr, uint32_t mask, uint32_t bytes,
                 struct ws_memop *a);
/* Passes through the banks that an access takes; *least: without conflicts. same: lanes at one word are served one after
 * the other (atomics). */
uint32_t ws_bank_passes(const struct ws_machine *m, const uint64_t *addr, uint32_t mask, uint32_t bytes, bool same,
                        uint32_t *least);

enum ws_packet_kind {
	WS_PACKET_READ, WS_PACKET_WRITE, WS_PACKET_ATOMIC, WS_PACKET_MESSAGE /* to a core, of a unit */,
	/* of a unit that watches: what a hit sends; ws_unit_tell; a read and a write in the partition, for nobody else */
	WS_PACKET_NOTE, WS_PACKET_TELL, WS_PACKET_LOOK, WS_PACKET_KEEP,
	WS_PACKET_CREDIT /* to a core: a partition has room again */
};
struct ws_packet {
	struct ws_core *core;
	struct ws_partition *part;
	struct ws_memop *access;        /* NULL: a read for a cache of the core, which knows who waits */
	uint8_t which;                   /* cache of the core that it is for */
	uint8_t kind;
	uint64_t addr, local;            /* in the flat memory; in the partition */
	uint32_t sectors, lanes;
	struct ws_twarp *place;          /* MESSAGE */
	uint32_t flits;
	struct ws_packet *credit;        /* that gives its core back its credit when the partition has taken it; NULL: it took none */
	void *record;                    /* of the unit, goes along */
	uint32_t extra;                  /* bytes of it */
	struct ws_follow *watch;          /* LOOK: what it is for; others: the check that the answer waits for, or NULL */
	bool wait;                       /* it does */
	uint64_t what;                   /* TELL */
	struct ws_packet *next;
};

/* ---- partition.c ---- */
struct ws_partition {
	uint32_t index;
	struct ws_timing *home;          /* its share in this launch */
	struct ws_cache l2;
	struct ws_mshrs mshrs;
	struct ws_dram dram;
	struct ws_packet *first, *last;  /* have arrived */
	uint64_t in, out;                /* ports of the network are free again; fine */
	uint64_t port;                   /* of the cache; fine */
	bool ticking, full;              /* an event is on its way; waits for a free mshr */
	uint8_t apart[64];               /* as for cores */
};
void ws_part_init(struct ws_timing *t, struct ws_partition *p, uint32_t index);
void ws_part_fini(struct ws_partition *p);
void ws_part_arrive(struct ws_timing *t, void *packet);
void ws_part_filled(struct ws_timing *t, struct ws_partition *p, uint64_t local, uint32_t sectors);
void ws_part_append(struct ws_partition *p, struct ws_packet *k);        /* it is served some time */

/* ---- follow.c: for a unit that watches accesses ---- */
/* An instruction has been put into the memory stage. */
void ws_follow_access(struct ws_timing *t, struct ws_memop *a, const struct ws_stepped *s);
/* A transaction leaves with the packet, or without one has been served by a cache of the core. */
void ws_follow_depart(struct ws_timing *t, struct ws_memop *a, const struct ws_segment *s, enum ws_departure how,
                     struct ws_packet *k);
/* May it leave? Else *when. */
bool ws_follow_may_leave(struct ws_timing *t, const struct ws_memop *a, const struct ws_segment *s, uint64_t *when);
void ws_follow_served(struct ws_timing *t, struct ws_packet *k);  /* a packet with a record has been served */
bool ws_follow_holds(struct ws_packet *k);                /* the answer leaves later */
void ws_follow_looked(struct ws_timing *t, struct ws_packet *k);  /* LOOK: it is there */
void ws_follow_told(struct ws_timing *t, struct ws_packet *k);
void ws_follow_lines_done(struct ws_timing *t, struct ws_memop *a);
/* A line of the unit has to leave a first-level cache. */
void ws_follow_write_back(struct ws_timing *t, struct ws_core *c, const struct ws_victim *v);
uint32_t ws_follow_delay(const struct ws_timing *t, const struct ws_twarp *w);

/* ---- network.c ---- */
struct ws_network {                      /* of one direction */
	uint32_t stages, ports;          /* of a butterfly: radix to the power of stages */
	uint64_t *link;                  /* by stage and position, without the last stage: free again then; fine */
};
enum ws_box { WS_BOX_MEMORY, WS_BOX_CORES, WS_BOX_CREDITS, WS_BOXES };    /* where it goes; room at the partitions: to cores */
/* What was sent in a window: by its cycle, in a cycle by the number of the source, of one source as it sent. Who passes it on
 * need not look at the packets, which are in another processor's cache. */
struct ws_sent {
	struct ws_packet *packet;
	uint64_t tail;                   /* has left its port then; fine */
	uint32_t cycle;                  /* of the window */
	uint32_t source, target;         /* numbers of cores and partitions */
	uint32_t flits;
};
struct ws_outbox { struct ws_sent *sent; size_t n, cap, passed; };
/* What comes to the cores and partitions of a share, and when; the first time. */
struct ws_arrival { uint64_t at; struct ws_packet *packet; };
struct ws_arrivals { struct ws_arrival *come; size_t n, cap; uint64_t at; };
void ws_network_init(const struct ws_machine *m, struct ws_network *n);
void ws_network_fini(struct ws_network *n);
void ws_channels_init(const struct ws_machine *m, struct ws_core *c);
void ws_channels_fini(struct ws_core *c);
/* The partition has taken the packet from its buffer. */
void ws_network_taken(struct ws_timing *t, const struct ws_packet *k);
void ws_network_to_memory(struct ws_timing *t, struct ws_packet *k);
void ws_network_to_part(struct ws_timing *t, struct ws_packet *k);       /* k->part */
void ws_network_credit(struct ws_timing *t, const struct ws_packet *k);          /* it has come to its core */
void ws_network_to_core(struct ws_timing *t, void *packet);              /* an event: the reply enters the network */
/* Between windows: what was sent goes its way, and is among the arrivals of those that it is for. Different boxes at the same time. */
void ws_network_deliver(struct ws_timing *t, enum ws_box box);
void ws_network_arrive(struct ws_timing *h);             /* a share's arrivals become events */
bool ws_network_ready(const struct ws_timing *t, const struct ws_core *c, uint64_t *when);       /* a core may send */

/* ---- core.c, stage.c ---- */
enum ws_stall {
	WS_STALL_PIPELINE, WS_STALL_COLLECTORS, WS_STALL_STAGE, WS_STALL_DATA, WS_STALL_BRANCH, WS_STALL_MEMORY, WS_STALL_ORDER,
	WS_STALL_BARRIER, WS_STALL_EMPTY, WS_STALL_COUNT
};
struct ws_tblock {                       /* a resident block */
	struct ws_block *block, *first;  /* first: of its cluster */
	struct ws_core *core;
	struct ws_tblock *peer;          /* the next of its cluster, in a ring */
	struct ws_tblock *next;          /* free; of the clusters that begin, those of rank 0 */
	uint64_t number, born;           /* ws_step_take; of its first warp */
	size_t at;                       /* in ws_timing.resident */
	bool resident, may_be_over;      /* may_be_over: in ws_timing.over */
	uint32_t under_way;              /* accesses */
	uint32_t waiting;                /* warps that wait for others */
	uint32_t nreds;                  /* atomics without result under way */
	bool conflict;                   /* a warp waits for an atomic of another one */
	uint32_t nwarps;
	struct ws_twarp *warps[WS_WARP];
};
/* An instruction that is put off (ahead.c). */
struct ws_ahead {
	uint32_t token, n, source[4];    /* its number; those of what it waits for */
	uint32_t nregs, reg[2];
	uint32_t latency;
	uint64_t base;                   /* its other operands are there then */
};
enum { WS_MAX_AHEAD = 32 };
struct ws_twarp {
	struct ws_warp *warp;
	struct ws_tblock *block;
	const struct ws_tinst *ti;       /* what comes next */
	struct ws_sched *sched;
	uint32_t slot;                   /* in sched */
	struct ws_twarp *twin;           /* the other half of its wavefront, in the same scheduler; NULL: there is none */
	uint64_t behind;                 /* has been able to issue, and has waited for twin, since then; 0: does not */
	bool parted;                     /* goes on without twin until they are at the same instruction */
	uint32_t function;               /* of ti */
	bool waits, ended;
	bool held;                       /* an instruction of the unit is under way, */
	bool parked;                     /* ... until ws_unit_wake */
	uint32_t unit_words[2];
	struct ws_unit_again *again;     /* unit.c */
	uint64_t born;
	uint64_t results;                /* the last result of a pipeline comes then */
	uint64_t branch;                 /* nothing issues before */
	uint32_t loads, writes, natomics;/* under way; writes: atomics without result too */
	uint32_t nreds;                  /* ... of natomics, those without */
	struct ws_memop *atomics;       /* that have not happened yet */
	uint64_t *ready;                 /* when a register can be used; WS_NEVER: memory brings it */
	uint32_t *token;                 /* ... under that number; 0: not under any */
	uint32_t last_token, nahead;
	struct ws_ahead ahead[WS_MAX_AHEAD];
};
/* ahead.c: may the next instruction issue though what it reads is not there; a load, though what it overwrites is not? */
bool ws_ahead_may(const struct ws_timing *t, const struct ws_twarp *w);
bool ws_ahead_load_may(const struct ws_twarp *w);
/* It issues: its results come `latency` after what it waits for. false: it waits for nothing. */
bool ws_ahead_put_off(struct ws_twarp *w, uint32_t latency);
void ws_ahead_loaded(struct ws_twarp *w, const struct ws_tinst *ti, uint32_t token, uint64_t now);
enum { WS_SCHED_WARPS = 64 };
struct ws_sched {
	struct ws_core *core;
	uint32_t n;                      /* slots */
	uint32_t last;                   /* issued last */
	uint64_t active;                 /* two-level: the slots of the active set */
	uint64_t wake, since;            /* to be looked at then; slots are accounted up to then */
	uint8_t stalled;                 /* enum ws_stall of the time since */
	uint64_t at[WS_SCHED_WARPS];     /* a warp cannot issue before; WS_NEVER: somebody will wake it */
	uint8_t why[WS_SCHED_WARPS];     /* enum ws_stall, while it cannot */
	struct ws_twarp *warp[WS_SCHED_WARPS];   /* NULL: free */
};
struct ws_core {
	uint32_t index, nblocks, threads, registers, shared;     /* in use */
	struct ws_timing *home;          /* its share in this launch */
	uint32_t wake_at;                /* its place in ws_timing.wake */
	struct ws_sched *sched;
	uint64_t *unit[WS_UNIT_COUNT];   /* free again then */
	uint64_t *collector, *bank;      /* ... operand collectors, banks of the registers */
	struct ws_memop **queue;        /* of the memory stage: a ring */
	uint32_t head, queued;
	uint64_t stage;                  /* the stage goes on then; WS_NEVER: when a reply comes */
	struct ws_cache cache[WS_IN_COUNT];      /* by enum ws_which */
	struct ws_mshrs mshrs[WS_IN_COUNT];
	uint32_t reads;                  /* past the cache, under way */
	uint32_t writes;
	uint64_t in, out;                /* ports of the network; fine */
	struct ws_channel *channel;      /* network.c */
	uint32_t *credit;                /* by partition: flits of this core that it has room for */
	uint32_t waiting, turn;          /* flits that wait in the channels; the channel that is looked at first */
	uint8_t apart[64];               /* the next core, perhaps of another share, is in another cache line */
};
void ws_core_init(struct ws_timing *t, struct ws_core *c, uint32_t index);
void ws_core_fini(struct ws_timing *t, struct ws_core *c);
uint64_t ws_core_cycle(struct ws_timing *t, struct ws_core *c);  /* returns when to look again */
void ws_core_settle(struct ws_timing *t, struct ws_core *c);     /* accounts slots up to now */
/* Finds out what the warp does next, and when it can. */
void ws_warp_refresh(struct ws_timing *t, struct ws_twarp *w);
void ws_block_refresh(struct ws_timing *t, struct ws_tblock *b); /* the waiting warps of the block and its cluster */
void ws_block_may_be_over(struct ws_timing *t, struct ws_tblock *b);     /* run.c looks at it behind the window */
void ws_wake_core(struct ws_timing *t, struct ws_core *c);
struct ws_memop *ws_stage_push(struct ws_timing *t, struct ws_twarp *w, const struct ws_stepped *s);
void ws_unit_issue(struct ws_timing *t, struct ws_twarp *w, const struct ws_stepped *s); /* unit.c */
int ws_unit_number(void *timing, const char *name);      /* for ws_clock_ops */
int ws_unit_locks(void *timing, const char *name);
void ws_unit_arrive(struct ws_timing *t, struct ws_packet *k);
void ws_unit_message(struct ws_timing *t, struct ws_packet *k);
void ws_unit_finish(struct ws_timing *t, struct ws_memop *a);
uint64_t ws_stage_cycle(struct ws_timing *t, struct ws_core *c);
void ws_stage_reply(struct ws_timing *t, void *packet);          /* an event: a packet has come back */
bool ws_stage_conflicts(struct ws_timing *t, struct ws_twarp *w);/* with an atomic of its own that has not happened */
void ws_memop_atomic_done(struct ws_timing *t, struct ws_memop *a, uint32_t lanes);
/* wavefront.c. Must the warp, which could issue, wait for the other half of its wavefront? Until *when at most. */
bool ws_wavefront_waits(struct ws_timing *t, struct ws_twarp *w, uint64_t *when);
/* The half that issues together with it, if it has one that can; NULL. */
struct ws_twarp *ws_wavefront_joins(const struct ws_timing *t, const struct ws_twarp *w);
/* Those of the ready warps (bits) that the scheduler may take; it changes the active set. */
uint64_t ws_policy_candidates(const struct ws_machine *m, struct ws_sched *s, uint64_t ready);
uint32_t ws_policy_pick(const struct ws_machine *m, const struct ws_sched *s, uint64_t ready);   /* not 0 */

/* ---- hosts.c: host threads ---- */
enum { WS_MAX_HOSTS = 64 };
struct ws_effect { struct ws_memop *access; uint32_t lanes; };
uint32_t ws_hosts_wakes(const struct ws_machine *m);     /* elements of ws_timing.wake */
/* Divides cores and partitions into shares, for a launch, and starts host threads; fewer if the system gives no more. */
void ws_hosts_start(struct ws_timing *t, uint32_t threads, uint32_t shares);
void ws_hosts_stop(struct ws_timing *t);
void ws_hosts_free(struct ws_timing *t);
/* That is done for each share, by whichever thread has time. */
typedef void ws_host_fn(struct ws_timing *h);
void ws_hosts_all(struct ws_timing *t, ws_host_fn *work);
/* A share's own: run.c. */
void ws_host_init(struct ws_timing *h);
void ws_host_fini(struct ws_timing *h);

/* ---- run.c ---- */
struct ws_tkernel { char *name; struct ws_counters c; };
/* A share of the machine, which one host thread at a time works on (hosts.c). The first is the machine as others know it, and has the
 * fields below "all". */
struct ws_timing {
	struct ws_machine m;
	struct ws_timing *all;           /* the first share */
	uint32_t index, nhosts;          /* of nhosts in this launch */
	uint64_t now;                    /* cycles */
	uint64_t last;                   /* in which something happened */
	uint64_t seq;                    /* numbers warps and requests in order */
	uint64_t window, window_end;     /* cycles */
	struct ws_wheel wheel;
	struct ws_outbox box[WS_BOXES];
	struct ws_arrivals come[WS_BOXES];
	struct ws_effect *effects;       /* atomics whose effect is still to come, in order for each partition */
	size_t neffects, cap_effects;
	struct ws_exec *x;               /* the launch */
	struct ws_counters *c;           /* of its kernel; but for the first share own */
	struct ws_counters own;
	struct ws_memop *free_accesses;
	struct ws_packet *free_packets;
	struct ws_filled *free_filled;   /* dram.c */
	struct ws_follow *free_watches;   /* follow.c */
	uint64_t watched;                /* what is under way for the unit; a launch does not end before */
	struct ws_arena *objects;        /* accesses and packets */
	struct ws_tblock **over;         /* blocks whose warps have ended; perhaps something of theirs is still under way */
	size_t nover, cap_over;
	struct ws_tblock *begin, **last_begin;   /* blocks (clusters) that begin with the next window */
	uint32_t first_wake, ncores;     /* its cores' places in wake */
	/* shared by all, the same in each; nothing of it but the cores and partitions at home here changes in a window */
	struct ws_timing_options options;
	void *unit;                      /* state of options.unit */
	struct ws_partition *serving;    /* during its arrive */
	uint32_t network_cycle, memory_cycle;    /* fine */
	struct ws_core *cores;
	uint64_t *wake;                  /* by core (wake_at): when it is to be looked at */
	struct ws_partition *parts;
	struct ws_step_launch launch;
	struct ws_arena *arena;          /* of the launch: code, blocks, warps */
	struct ws_tcode *code;
	uint32_t nregs;
	/* all: */
	struct ws_network to_memory, to_cores;
	struct ws_timing *host[WS_MAX_HOSTS];    /* NULL behind those that there have been */
	struct ws_hosts *hosts;          /* hosts.c; of a launch */
	uint64_t started;                /* when the launch began */
	struct ws_tblock **resident;
	size_t nresident, cap_resident;
	struct ws_tblock *free_blocks;
	struct ws_tkernel *kernels;
	size_t nkernels, cap_kernels;
	double told;                     /* when the progress line was written; 0: it was not */
};
struct ws_packet *ws_packet_new(struct ws_timing *t);
void ws_packet_free(struct ws_timing *t, struct ws_packet *k);
struct ws_memop *ws_memop_new(struct ws_timing *t);
void ws_memop_free(struct ws_timing *t, struct ws_memop *a);
static inline uint64_t ws_fine(uint64_t cycles) { return cycles * WS_FINE; }
static inline uint64_t ws_cycle_of(uint64_t fine) { return (fine + WS_FINE - 1) / WS_FINE; }
static inline uint64_t ws_later(uint64_t a, uint64_t b) { return a > b ? a : b; }

#endif

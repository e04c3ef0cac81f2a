/* shadow_priv.h - inside the detector "shadow" (docs/DETECTORS.md, "How the detector shadow works").
 *
 * The state machine of HAccRG (Holey, Mekkat, Yew, Zhai, "Transactions and races", 2015, 6.2) with its fields made
 * exact: time stamps that do not wrap, all readers that matter, order through release and acquire instead of fence
 * counters. A stamp `who` says which warp at which time; the rest of an access record says which lanes.
 *
 * shadow.c         callbacks, shadow lines, whole-warp accesses
 * shadow_memory.c  pages of shadow lines, --shadow-limit
 * shadow_cell.c    accesses that touch a line in pieces; atomics and other strong accesses
 * shadow_general.c accesses lane by lane
 * shadow_private.c words of global memory that one thread alone has touched
 * shadow_team.c    the same, for what all lanes of a warp do alike
 * shadow_log.c     accesses of shared memory that wait for something they may conflict with
 * shadow_tags.c    ... which is found by a tag for each word of shared memory
 * shadow_sync.c    time, barriers, fences, release and acquire
 * shadow_async.c   asynchronous operations, mbarrier objects, proxies
 * shadow_cluster.c cluster barriers, how long shared memory of another block lives
 * shadow_locks.c   which locks are held, for the words of reports
 * shadow_scan.c    what a kernel's code can synchronize with
 * shadow_report.c  from two conflicting accesses to a struct ws_race */
#ifndef WS_SHADOW_PRIV_H
#define WS_SHADOW_PRIV_H

#include "detect/detect.h"
#include "detect/know.h"
#include "detect/latest.h"
#include "detect/pool.h"

/* who: block slot (32 bits) | warp (5) | time (27). Slots are numbered from 1 in a launch, so 0 is "nobody". A block
 * whose time runs out gets a new slot (ws_shadow_tick): nothing wraps. */
enum { WHO_TIME_BITS = 27, LINE_BITS = 7, LINE = 1 << LINE_BITS };
#define WHO_TIME ((1u << WHO_TIME_BITS) - 1)

/* An access's site field: site id (24 bits) | lock set (7 bits). */
enum { SITE_BITS = 24, LOCKSET_MANY = 127 };
#define SITE_ID ((1u << SITE_BITS) - 1)
#define SITE_LOCKS(site) ((site) >> SITE_BITS & 0x7f)

struct ws_slot {                     /* one access to a cell by lanes of one warp at one time */
	uint64_t who;
	uint32_t site, mask;
};

struct ws_rec {                      /* a regular access of a warp: lane l of mask, `size` bytes at off + l * step */
	uint64_t who;
	uint32_t site, mask;
	union {
		struct {
			int16_t off;         /* in the line */
			uint8_t size, step;  /* step >= size, a power of two */
			uint32_t site2;      /* not 0: the second half of the bytes was accessed by this instruction, REC_TWO added */
		};
		uint64_t map;                /* all of that */
	};
};
#define REC_TWO (1u << 31)

struct ws_line {                     /* 128 bytes of memory */
	struct ws_rec w, r;          /* newest linear write and read; who == 0: none */
	struct ws_ext *ext;
	uint32_t gen;                /* launch (global) or barrier interval (shared) that this is about; else it is empty */
	uint32_t mark;               /* lowest bit: locked; above: number of the newest private record, see shadow_private.c */
};

enum ws_row { ROW_W, ROW_R0, ROW_R1, ROW_S, ROW_SR, ROW_OB, ROW_SLOTS, ROW_SET = ROW_SLOTS, ROW_LOC, ROWS };

/* What does not fit in a line: cells of 4 bytes or of 1 byte, in rows made on demand. They are for the part of the line
 * from `from` to `to` alone, which grows by sectors when more is accessed. */
enum { SECTOR = 16 };
struct ws_ext {
	void *row[ROWS];             /* W: weak write; R0, R1: weak reads; S: newest strong write; SR: strong read; OB: a
	                              * strong read that was the first of its thread to see S;
	                              * SET: further accesses (struct ws_set *); LOC: struct ws_loc * */
	uint32_t have;               /* rows in use, a bit each */
	bool bytes;
	uint8_t from, to;            /* bytes of the line */
	uint32_t nreads, cap, limit; /* further linear reads, newest last */
	struct ws_rec *reads;
	struct ws_rec w2;            /* a linear write before line->w, to other bytes */
	struct ws_shadow *s;         /* where bytes are counted */
};

#define ROWS_WRITTEN (1u << ROW_W | 1u << ROW_S | 1u << ROW_SET)      /* what a read may conflict with */

enum { MIXED = UINT32_MAX, ANY = UINT32_MAX - 1 };
enum ws_class { CLS_READ, CLS_WRITE, CLS_SREAD, CLS_SWRITE, CLS_RMW, CLS_OBSERVER /* in sets only */, CLASSES };

static inline enum ws_class ws_class_of(enum ws_access_kind kind)      /* of a weak access, or an atomic that wrote */
{
	return kind == WS_READ ? CLS_READ : kind == WS_WRITE ? CLS_WRITE : CLS_RMW;
}

struct ws_set_entry {
	struct ws_slot s;
	uint64_t seq;                /* SWRITE: its own number; OBSERVER: of the write that it saw */
	uint32_t next;               /* in its bucket; 0 = end, else index + 1 */
	uint8_t cls;                 /* READ, SREAD, SWRITE, OBSERVER */
};

struct ws_set {                      /* accesses to one cell by many warps: one entry a warp, time and class */
	struct ws_set_entry *e;
	size_t cap;
	uint32_t n, nbuckets, *bucket;
	uint32_t count[CLASSES];     /* by class; 0 is exact */
	uint32_t elem;               /* `whole` of all strong reads that were ever in it, of scope .gpu or wider; ANY: they are loads;
	                              * MIXED: not all are alike; 0: there was none */
	uint64_t seq;                /* number of the newest strong write to the cell */
};

enum ws_level { LV_CTA, LV_CLUSTER, LV_GPU, LEVELS };        /* .sys is .gpu here: one GPU */

struct ws_narrow { uint64_t domain; struct ws_facts f; };
struct ws_loc {                      /* what a reader of this word may acquire: its newest release sequence */
	uint64_t addr;
	uint32_t size;
	struct ws_facts gpu;
	struct ws_know *sc;          /* what came before a fence.sc that happened before its writes */
	struct ws_know *dep;         /* what came before its newest write, if that was a store (depend.h) */
	struct ws_narrow *narrow;    /* releases as seen inside one block or cluster */
	uint32_t n;
	size_t cap;
};

struct ws_release {                  /* a fence.release or wider, for the strong writes after it */
	uint32_t slot, time, floor, wfloor;
	bool sc, told;               /* a fence.sc for the GPU; the block knows that all of it came before one */
	struct ws_facts kb, f;       /* the block's facts, and the thread's own, at that time */
};
struct ws_relop { uint64_t addr, space; uint8_t level; struct ws_facts f; }; /* a release operation on addr, or a read of it */

struct ws_lane_sync {
	struct ws_facts f, pend[LEVELS];
	struct ws_release fence[LEVELS];
	struct ws_relop *rel, *seen;
	size_t relcap, seencap;
	uint32_t nrel, nseen;
};

/* Asynchronous operations are accesses by agents: threads of their own, each with a slot. An agent of a block and kind
 * has the lanes of the block's threads, and a lane's operations complete in order; that of an mbarrier object (and of a
 * block that uses it) completes all its operations with a phase. Its time is the number of the operation. */
enum ws_agent_kind { AG_NONE, AG_CP, AG_BULK, AG_BULK_READ, AG_WGMMA, AG_LANES, AG_MBAR = AG_LANES };
struct ws_agent {
	uint8_t kind;
	uint32_t slot;
	uint64_t base;               /* time = number - base */
	uint64_t block;              /* that issues */
};

struct ws_begun { uint64_t op; struct ws_facts f; };  /* what was known when an operation began */

struct ws_mbar_state {
	uint32_t offset;             /* of the object in its block's shared memory */
	struct ws_facts now, done;   /* what arrived in this phase; in all completed ones */
	struct ws_agent *agents;
	size_t cap;
	uint32_t n;
	struct ws_begun *begun;      /* of operations that are not complete */
	size_t begun_cap;
	uint32_t nbegun;
};

struct ws_warp_async {
	uint64_t issued[AG_LANES][WS_WARP], done[AG_LANES][WS_WARP];  /* numbers of the lanes' operations */
	bool fresh;                  /* some are done since the last full barrier */
	struct ws_facts *cp;         /* 32: what was known when a lane's last cp.async began; see ws_launch_state.cp_arrives */
};

/* A copy into shared memory that not all of the block know complete. At a full barrier the lines are emptied; these
 * accesses come back into them when something is about to touch their lines, or with the first write. */
struct ws_pending {
	uint64_t who;
	uint32_t site, mask;
	uint16_t bytes;
	uint32_t addr[WS_WARP];
};
enum { PENDING_MAX = 4096 };         /* more: the lines are not emptied any more */

struct ws_cluster_state {            /* of the blocks that run now */
	uint64_t id;
	uint32_t blocks;
	struct ws_facts now, done;   /* what arrived in this phase; in the last completed one */
	struct ws_cluster_state *next;
};

struct ws_visit {                    /* another block's access to this block's shared memory: the latest of a warp */
	uint64_t who;
	uint32_t mask, site;
	uint64_t addr;
};

struct ws_fenced {                   /* the newest fence for the GPU of lanes that know nothing: as ws_release, without facts */
	uint32_t mask, slot, time, floor, wfloor;
	bool sc;
};

struct ws_known { uint32_t slot, thread, time, lane; };      /* the lane (unit) knows what the thread did up to then; slot 0: none */

struct ws_warp_state {
	uint64_t me;                 /* who of accesses now; these 16 bytes go into notes, see shadow_log.c */
	uint32_t wfloor;             /* all lanes know all lanes' accesses below */
	uint32_t holding;            /* lanes that hold a lock */
	uint32_t alone;              /* lanes that have private records, or are of a team */
	uint32_t team;               /* the newest of the warp + 1; 0 = none */
	uint32_t one;                /* lanes that hold one lock */
	struct ws_fenced fenced;     /* of lanes (units) that are not in lane_used */
	struct ws_known known;       /* the newest that one of its lanes was found to know */
	struct ws_obs_warp *w;
	struct ws_lane_sync *lane;   /* 32, or NULL; under the stack model lane 0 stands for the warp */
	uint32_t lane_used;          /* of these; others are zero */
	struct ws_warp_async *async; /* NULL = no asynchronous operation so far */
	struct ws_locks *held;       /* locks held; NULL = none ever */
};

enum { HELD_MAX = 4 };
struct ws_held { uint8_t n; uint64_t addr[HELD_MAX]; };
struct ws_locks {                    /* of a warp */
	uint64_t first[WS_WARP];     /* of lanes that hold one lock: it */
	struct ws_held lane[WS_WARP];        /* of lanes that hold more */
	uint8_t set[WS_WARP];        /* number of what the lane holds; 0: not numbered yet, see ws_locks_of */
};

struct ws_arrival { uint32_t id; struct ws_facts f; };       /* bar.arrive that has not been waited for */

struct ws_block_state {
	struct ws_shadow *s;
	struct ws_launch_state *l;
	struct ws_obs_block *b;
	uint32_t slot, now, floor;   /* floor: accesses of the block below are ordered before everything in it now */
	uint32_t first_slot;         /* the one it began with: who knows anything of the block knows that */
	bool has_k, has_own;         /* somebody knows anything; threads know different things */
	struct ws_facts kb;          /* of all threads of the block */
	struct ws_warp_state *warps;
	uint32_t nwarps, gen;        /* gen: of shared lines */
	uint32_t nlines, cap_lines;
	struct ws_line *lines;       /* shared memory */
	struct ws_note_log log;      /* see shadow_log.c */
	uint8_t log_bad, log_rest;
	uint8_t log_kinds;           /* WS_NOTE_...: what may be noted; or NOTE_TAGGED: all, if its tags allow */
	uint8_t log_past, log_guess; /* of the last 3 intervals that were noted, a bit each: did they need tags? And by these
	                              * 3 bits: did the next one, last time? */
	uint32_t cap_tags;           /* see shadow_tags.c */
	bool locks;                  /* a thread has held one */
	bool shared_written;         /* in this barrier interval: accesses of shared memory are not noted */
	uint64_t accesses;
	bool saw_flag;               /* a strong read here saw another block's strong write */
	struct ws_arrival *arrivals;
	size_t arrivals_cap;
	uint32_t narrivals;
	struct ws_agent *agents;     /* of asynchronous operations completed by groups */
	size_t agents_cap;
	uint32_t nagents;
	struct ws_pending *pending;
	size_t pending_cap;
	uint32_t npending;
	uint64_t *pending_lines;     /* bits of shared lines that they touch, as of the last full barrier */
	struct ws_mbar_state *mbars; /* objects in its shared memory */
	size_t mbars_cap;
	uint32_t nmbars;
	struct ws_cluster_state *cl;
	struct ws_visit *visits;
	size_t visits_cap;
	uint32_t nvisits;
	struct ws_dup *dups;         /* scratch of shadow_general.c */
	uint32_t dup_stamp;
	struct ws_lane_sync **spare; /* zeroed arrays of so many lanes each, for warps to come */
	size_t spare_cap;
	uint32_t nspare, spare_lanes;
	struct ws_block_state *next; /* free list */
};

enum { SLOT_PUBLISHED = 1 /* strong writes */, SLOT_FENCED = 2 /* wider than a block */, SLOT_FENCED_CTA = 4 };
struct ws_slot_info {
	uint64_t block;
	uint8_t flags;
	uint8_t agent;               /* enum ws_agent_kind; NONE: the threads of the block */
	uint64_t base;               /* as ws_agent.base */
};

struct ws_launch_state {
	struct ws_obs_launch *l;
	const char *left_out;        /* why it is not checked; NULL = it is */
	bool checked, simple, narrow, acquires;  /* simple: no order finer than block barriers and warps can come up;
	                              * narrow: scopes below gpu are synchronized with; acquires: ld.acquire is used */
	bool its, lock, cluster;
	bool proxies, cp_arrives;    /* the async proxy is used; cp.async.mbarrier.arrive is */
	bool agents;                 /* there are asynchronous operations */
	bool depends;                /* values go from loads through strong stores to strong loads (depend.h) */
	bool small;                  /* shared memory is accessed in units smaller than 4 bytes */
	bool private;                /* words that one thread locks for itself alone have private records */
	uint32_t gen, nslots;
	struct ws_cluster_state *clusters;
	uint64_t accesses;
};

struct ws_site_info {
	const struct ws_site *site;
	uint8_t kind, sem, scope, elem;      /* elem: bytes; 0 = not known */
	uint8_t whole;               /* elem of an atomic, which others have to be of too; 0 = no atomic */
	uint16_t bytes;
	uint8_t atom, async;
	int16_t claim_from, claim_to;        /* see shadow_team.c */
	uint8_t carried;             /* is a strong store made from what this load returns? 0 = not looked at, 1 no, 2 yes */
};

enum { PAGE_BITS = 5, PAGE_LINES = 1 << PAGE_BITS };  /* lines of a shadow page, which is for 4 KiB of memory */
/* For each line its address; or, odd, the newest private record of a line that is not there (PLACE_RECORD) and, in the upper half,
 * at least the words of the line that its records are about, a bit each; or 0. */
struct ws_page { uint64_t at[PAGE_LINES]; };  /* the last page of a memory: only as many as that has (ws_page_lines) */
#define PLACE_RECORD(at) ((at) & 1 ? (uint32_t)(at) >> 1 : 0)
struct ws_shadow_mem {               /* hangs at ws_mem.obs */
	uint64_t first, npages, nlines, serial;
	struct ws_shadow_mem *next, **at;    /* list of all */
	uint32_t *gen;               /* of each page: the launch whose private records it has */
	struct ws_page *page[];
};

static inline uint64_t ws_page_lines(const struct ws_shadow_mem *sm, uint64_t page)
{
	uint64_t left = sm->nlines - (page << PAGE_BITS);

	return left < PAGE_LINES ? left : PAGE_LINES;
}

static inline struct ws_line *ws_page_line(const struct ws_page *page, uint64_t line)
{
	uint64_t at = __atomic_load_n(&page->at[line % PAGE_LINES], __ATOMIC_ACQUIRE);

	return at & 1 ? NULL : (struct ws_line *)(uintptr_t)at;
}

struct ws_shadow {
	uint64_t used, skipped;      /* bytes that the detector holds; accesses of threads that it had no room for */
	uint64_t peak, peak_shadow;  /* most that was used when it was measured; of that, all but what is known */
	uint64_t peak_lines, peak_touched;   /* of that, lines of global memory and their cells; bytes that they are about */
	uint32_t thinned, most_thinned;      /* of 2^thinned pages one is checked; in this launch, and in any */
	uint32_t thin_lock;
	uint64_t accesses;           /* of all launches */
	struct ws_shadow_mem *mems;  /* with shadow memory */
	struct ws_detect_config config;
	struct ws_detect_filter *filter;
	struct ws_report *report;
	struct ws_gpu *gpu;
	struct ws_launch_state launch;       /* launches are serial */
	uint32_t gen;
	uint32_t time_limit;                 /* WHO_TIME; smaller in tests */
	uint32_t lock;                       /* free lists, slot and site chunks, lock sets */
	uint32_t report_lock;
	struct ws_block_state *free_blocks;
	struct ws_site_info **sites;         /* chunks of 4096 */
	struct ws_slot_info **slots;         /* chunks of 4096 */
	struct ws_held *locksets;            /* 128 */
	struct ws_dedup *dedup;
	struct ws_latest *latest;            /* of a launch on several host threads; else NULL */
	struct ws_private **private;         /* chunks, see shadow_private.c; NULL = none ever */
	struct ws_team **teams;      /* of this launch, see shadow_team.c */
	size_t teams_cap;
	uint32_t nteams;
	uint32_t nprivate, free_private;     /* of this launch; the newest that is not used any more, 0 = none */
};
enum { CHUNK_BITS = 12, CHUNK = 1 << CHUNK_BITS, CHUNKS = 1 << 20, SITE_CHUNKS = 1 << (SITE_BITS - CHUNK_BITS) };

/* One access being checked. */
struct ws_ctx {
	struct ws_shadow *s;
	struct ws_launch_state *l;
	struct ws_block_state *b;
	struct ws_warp_state *w;
	const struct ws_access *a;
	struct ws_line *line;
	uint64_t *place;             /* in a page, in shadow_private.c: the line is not there */
	struct ws_block_state *owner;        /* SHARED: whose memory */
	const struct ws_mem *mem;            /* GLOBAL: that holds the line */
	uint64_t me, line_addr;
	uint64_t as;                 /* the stamp the access is kept under: me, or an agent's */
	uint32_t floor, wfloor, site, slot;
	uint8_t cls;
	bool its, global;
	bool proxy;                  /* it goes through the async proxy */
	bool must;                   /* it synchronizes: kept whatever it takes */
	uint8_t real_lo, real_hi;    /* the bytes in the line, before granularity widens them */
};

/* ---- order ---- */
/* Was a strong store read before this access, by what happened before it, that came after the access `who`? */
bool ws_shadow_depends(const struct ws_ctx *c, uint64_t who, uint32_t lane_of_who, uint32_t lane);
bool ws_shadow_known(const struct ws_ctx *c, uint64_t who, uint32_t lane_of_who, uint32_t lane);

/* Is everything of that warp at that time ordered before all lanes of this access, whichever lanes it was? */
static inline bool ws_hb_warp(const struct ws_ctx *c, uint64_t who)
{
	uint64_t x = who ^ c->me;

	if (x >> 32)
		return false;
	if ((who & WHO_TIME) < c->floor)
		return true;
	return !(x >> WHO_TIME_BITS) && (!c->its || (who & WHO_TIME) < c->wfloor);
}

/* The lane of `mask` at `who` that is not ordered before `lane` of this access; -1 = all are. */
static inline int ws_hb_bad(const struct ws_ctx *c, uint64_t who, uint32_t mask, uint32_t lane)
{
	if (ws_hb_warp(c, who))
		return -1;
	if (!((who ^ c->me) >> WHO_TIME_BITS))
		mask &= ~(1u << lane);       /* program order */
	if (!mask)
		return -1;
	if (c->b->has_k && !c->its)
		return ws_shadow_known(c, who, 0, 0) ? -1 : __builtin_ctz(mask);
	for (; mask; mask &= mask - 1) {
		int l = __builtin_ctz(mask);

		if (!c->b->has_k || !ws_shadow_known(c, who, l, lane))
			return l;
	}
	return -1;
}

/* The same for an earlier access that writes: for one through the async proxy, generic writes must also be before a
 * fence.proxy.async that is before it (PTX ISA 9.0, Memory Consistency Model, Causality Order). */
int ws_proxy_bad(const struct ws_ctx *c, uint64_t who, uint32_t mask, uint32_t lane);
static inline int ws_write_bad(const struct ws_ctx *c, uint64_t who, uint32_t mask, uint32_t lane)
{
	int bad = ws_hb_bad(c, who, mask, lane);

	return bad >= 0 || !c->proxy ? bad : ws_proxy_bad(c, who, mask, lane);
}

static inline uint64_t ws_who(uint32_t slot, uint32_t warp, uint32_t time)
{
	return (uint64_t)slot << 32 | (uint64_t)warp << WHO_TIME_BITS | time;
}

/* ---- shadow.c ---- */
void ws_shadow_check(struct ws_ctx *c);               /* s, b, l, w, a, me, floor, wfloor, its are set */
bool ws_shadow_know_site(struct ws_shadow *s, const struct ws_access *a);
/* Locked, current; of global memory, private records of these bytes of it are opened. */
struct ws_line *ws_shadow_line(struct ws_ctx *c, uint64_t addr, uint32_t bytes, const struct ws_mem *mem);
struct ws_line *ws_shadow_line_closed(struct ws_ctx *c, uint64_t addr, const struct ws_mem *mem);    /* none is opened */
void ws_shadow_prefetch(const struct ws_access *a, uint32_t mask);
void ws_regular(struct ws_ctx *c, uint64_t base, uint32_t step, uint32_t mask);     /* lane l at base + l * step; aligned */
/* One lane, its bytes aligned and in c->line from lo on; false: nothing was done, the line has cells, which suit it. */
bool ws_regular_lane(struct ws_ctx *c, uint32_t lane, uint32_t lo);
void ws_shadow_new_interval(struct ws_block_state *b);
void ws_spin_lock(uint32_t *lock);
void ws_spin_unlock(uint32_t *lock);
static inline bool ws_line_try_lock(struct ws_line *line)
{
	return !(__atomic_fetch_or(&line->mark, 1, __ATOMIC_ACQUIRE) & 1);
}
static inline void ws_line_unlock(struct ws_line *line)
{
	__atomic_store_n(&line->mark, line->mark & ~1u, __ATOMIC_RELEASE);   /* nobody else changes it meanwhile */
}
void ws_line_lock(struct ws_line *line);
/* The detector's own lists; a launch on one host thread needs no lock for them. */
static inline void ws_shadow_lock_lists(struct ws_shadow *s)
{
	if (s->launch.lock)
		ws_spin_lock(&s->lock);
}
static inline void ws_shadow_unlock_lists(struct ws_shadow *s)
{
	if (s->launch.lock)
		ws_spin_unlock(&s->lock);
}
static inline void ws_shadow_unlock(struct ws_ctx *c)
{
	if (c->l->lock && (c->global || c->l->cluster))
		ws_line_unlock(c->line);
}
struct ws_slot_info *ws_shadow_slot(struct ws_shadow *s, uint32_t slot);
uint32_t ws_shadow_new_slot(struct ws_shadow *s, uint64_t block);

/* ---- shadow_memory.c ---- */
struct ws_shadow_mem *ws_memory_new(struct ws_shadow *s, const struct ws_mem *mem);
/* NULL: no room, and not c->must. Lines are counted from the memory's first one. */
struct ws_page *ws_memory_page(struct ws_ctx *c, struct ws_shadow_mem *sm, uint64_t page);
void ws_memory_begin_page(struct ws_shadow_mem *sm, uint64_t page, uint32_t gen);     /* earlier launches' records go */
struct ws_line *ws_memory_line(struct ws_ctx *c, struct ws_shadow_mem *sm, uint64_t line);
void ws_memory_free(struct ws_shadow *s, struct ws_shadow_mem *sm);
bool ws_memory_sampled(const struct ws_shadow *s, const struct ws_shadow_mem *sm, uint64_t page);
void ws_memory_launch(struct ws_shadow *s);           /* one begins */
void ws_memory_tell(struct ws_shadow *s);             /* one has ended: limits of the report */
void ws_memory_measure(void *self);
void ws_memory_stats(void *self, struct ws_buf *out);
static inline void ws_memory_count(struct ws_shadow *s, uint64_t bytes)       /* more; less: 0 - bytes */
{
	__atomic_fetch_add(&s->used, bytes, __ATOMIC_RELAXED);
}
static inline void ws_memory_skip(struct ws_shadow *s, uint32_t mask)
{
	__atomic_fetch_add(&s->skipped, (uint32_t)__builtin_popcount(mask), __ATOMIC_RELAXED);
}
/* Is there no room for more than what synchronizes? Counts the lanes' accesses as not checked in full. */
bool ws_memory_full(struct ws_ctx *c, uint32_t mask);
bool ws_memory_room(const struct ws_shadow *s, uint64_t bytes);      /* for so much more */

/* ---- shadow_cell.c: lo..hi are bytes of c->line, hi exclusive ---- */
void ws_cell_reset(struct ws_ext *e);                 /* everything in it is forgotten */
void ws_cell_free(struct ws_ext *e);
uint64_t ws_cell_bytes(const struct ws_ext *e);       /* without what sets and words that synchronize hold */
void ws_cell_forget_weak(struct ws_ext *e);
struct ws_ext *ws_cell_ext(struct ws_ctx *c);         /* of c->line; makes it */
void ws_cell_check(struct ws_ctx *c, uint32_t lane, uint32_t lo, uint32_t hi);
void ws_cell_check_rec(struct ws_ctx *c, const struct ws_rec *r, enum ws_class cls, uint32_t lane, uint32_t lo, uint32_t hi);
void ws_cell_install(struct ws_ctx *c, uint32_t lane, uint32_t lo, uint32_t hi);
void ws_cell_read(struct ws_ctx *c, uint32_t mask, uint32_t lo, uint32_t hi);   /* weak, by all lanes of mask */
void ws_cell_write(struct ws_ctx *c, uint32_t lane, uint32_t lo, uint32_t hi);  /* weak */
bool ws_cell_atomic(struct ws_ctx *c, uint32_t lane, uint32_t lo);    /* common case of 4 bytes; false: another */
uint32_t ws_cell_atomics(struct ws_ctx *c, uint32_t mask);           /* the same in shared memory; lanes left over */
void ws_cell_clear(struct ws_ext *e, uint32_t lo, uint32_t hi);      /* a weak write has come after all of it */
bool ws_cell_empty(const struct ws_ext *e, uint32_t lo, uint32_t hi);        /* no access is kept in cells of these bytes */
void ws_cell_spill_write(struct ws_ctx *c, const struct ws_rec *w);   /* w will be replaced: keep it in cells */
bool ws_cell_flag(const struct ws_ctx *c, uint32_t lo);      /* was another block the last to write it strongly? */
struct ws_loc *ws_cell_heard(struct ws_ctx *c, uint64_t addr, uint32_t size, const struct ws_loc *last);
struct ws_loc *ws_cell_loc(struct ws_ctx *c, uint64_t addr, uint32_t size, bool make, bool goes_on);

/* ---- shadow_private.c ---- */
void ws_private_launch(struct ws_launch_state *l);    /* one begins; it has been scanned */
uint32_t ws_private_weak(struct ws_ctx *c);           /* keeps the access of some lanes; the others are returned */
bool ws_private_strong(const struct ws_ctx *c);       /* may lanes of this access be kept so? */
void ws_private_prefetch(const struct ws_ctx *c, uint32_t mask);
uint32_t ws_private_team(struct ws_ctx *c);           /* then, first: keeps lanes' accesses as a team's; the others are returned */
uint32_t ws_private_atomics(struct ws_ctx *c, uint32_t todo); /* then: keeps lanes' one after the other, up to one that it cannot;
                                                              * that one and those after it are returned */
void ws_private_open(struct ws_ctx *c, uint32_t lo, uint32_t hi);     /* records of these bytes of c->line become cells */
bool ws_private_forget_weak(struct ws_shadow *s, uint32_t newest, uint64_t line_addr); /* of a line; false: something strong is left */
uint64_t ws_private_bytes(const struct ws_shadow *s);
uint32_t ws_private_words(const struct ws_shadow *s, uint32_t newest, uint64_t line_addr);  /* touched, a bit for each */
void ws_private_free(struct ws_shadow *s);

/* ---- shadow_team.c ---- */
void ws_team_launch(struct ws_shadow *s);             /* one begins: those of the one before are given up */
void ws_team_free(struct ws_shadow *s);

/* ---- shadow_general.c ---- */
void ws_general(struct ws_ctx *c);    /* a whole access, lane by lane */
void ws_general_async(struct ws_ctx *c);      /* by agents; c->as and c->cls are set */
uint32_t ws_general_met(const struct ws_access *a, uint32_t lanes);   /* all lanes whose bytes one of these has too */
void ws_general_install(struct ws_ctx *c);    /* the same again, not checked */

/* ---- shadow_log.c: reads or atomics of shared memory wait here until something else happens in their barrier interval */
void ws_log_open(struct ws_block_state *b);           /* a new interval: what there was is dropped */
bool ws_log_note(struct ws_block_state *b, struct ws_warp_state *w, const struct ws_access *a);
void ws_log_flush(struct ws_block_state *b);          /* until the end of the interval, accesses are checked at once */
void ws_log_close(struct ws_block_state *b);
void ws_log_free(struct ws_block_state *b);

/* ---- shadow_tags.c ---- */
enum { NOTE_TAGGED = 8 };
bool ws_tags_start(struct ws_block_state *b);         /* a new interval: all are empty */
/* Marks what lanes of a warp access; false: other threads have accessed some of it, and it may be a conflict. */
bool ws_tags_mark(struct ws_block_state *b, uint32_t warp, uint32_t mask, uint32_t kind, uint32_t bytes, const uint64_t *addr);

/* ---- shadow_sync.c ---- */
uint32_t ws_shadow_tick(struct ws_block_state *b);
void ws_shadow_set_time(struct ws_warp_state *w, struct ws_block_state *b, uint32_t time);
void ws_sync_read(struct ws_ctx *c, uint32_t lane, struct ws_loc *loc, uint64_t addr);
void ws_sync_write(struct ws_ctx *c, uint32_t lane, struct ws_loc *loc, uint64_t addr, bool rmw);
void ws_loc_clear(struct ws_loc *loc);
void ws_loc_join(struct ws_loc *loc, struct ws_loc *part);
void ws_loc_free(struct ws_loc *loc);
void ws_sync_barrier(void *self, struct ws_obs_block *b, const struct ws_barrier *bar);
void ws_sync_arrive(void *self, struct ws_obs_warp *w, uint32_t mask, uint32_t id);
void ws_sync_warp(void *self, struct ws_obs_warp *w, uint32_t mask);
void ws_sync_fence(void *self, struct ws_obs_warp *w, uint32_t mask, const struct ws_fence *f);
void ws_sync_block_end(struct ws_block_state *b);
bool ws_scope_includes(const struct ws_ctx *c, enum ws_scope scope, uint64_t who);  /* and the other way round */
void ws_sync_gain(struct ws_block_state *b);          /* somebody is about to know more than the others */
struct ws_lane_sync *ws_sync_of_lane(struct ws_warp_state *w, struct ws_block_state *b, uint32_t lane);  /* 0 (stack); made */
void ws_sync_free(struct ws_block_state *b);          /* what is kept for later blocks */
uint32_t ws_sync_units(const struct ws_block_state *b, uint32_t mask);        /* of these lanes */
/* Is what a strong write of the unit, in lane_used, releases no more than its fence closed? That one (.mask: 0 = none). */
bool ws_sync_plain(const struct ws_ctx *c, uint32_t unit, struct ws_fenced *f);
/* The lane of c->me has released that to loc. */
void ws_sync_released(struct ws_ctx *c, uint32_t lane, const struct ws_fenced *f, struct ws_loc *loc);
static inline bool ws_sync_any(const struct ws_warp_state *w)
{
	return w->lane || w->fenced.mask;
}
uint64_t ws_sync_cluster_of(const struct ws_obs_launch *l, uint64_t block);
/* All that the units know and have done, now; owned. The clock ticks. */
struct ws_facts ws_sync_snapshot(struct ws_warp_state *w, struct ws_block_state *b, uint32_t mask);
/* What the units' last fences that release, of that level or wider, came after: for a relaxed arrival; owned. */
struct ws_facts ws_sync_fenced(struct ws_warp_state *w, struct ws_block_state *b, uint32_t mask, enum ws_level level);
/* The units have read it, relaxed: a fence that acquires makes it known. */
void ws_sync_pend(struct ws_block_state *b, struct ws_warp_state *w, uint32_t mask, const struct ws_facts *f);
void ws_sync_tell(struct ws_block_state *b, struct ws_warp_state *w, uint32_t mask, const struct ws_facts *f);

/* ---- shadow_async.c ---- */
void ws_async_access(struct ws_ctx *c);
void ws_async_wait(void *self, struct ws_obs_warp *w, uint32_t mask, enum ws_async kind, const uint64_t done[WS_WARP],
                   bool reads_only);
void ws_async_mbarrier(void *self, struct ws_obs_warp *w, const struct ws_mbar *m);
void ws_async_proxy_fence(struct ws_block_state *b, struct ws_warp_state *w, uint32_t mask);
bool ws_async_known(const struct ws_ctx *c, uint64_t who, uint32_t lane_of_who, uint32_t lane);
/* Adds to *k what the lanes know to be complete of their own operations. */
void ws_async_own(struct ws_block_state *b, const struct ws_warp_state *w, uint32_t mask, struct ws_know **k);
/* At a full barrier: what is pending is set aside. false: the lines must stay as they are. */
bool ws_async_set_aside(struct ws_block_state *b);
void ws_async_bring_back(struct ws_block_state *b);   /* into the lines */
bool ws_async_touches(const struct ws_block_state *b, const struct ws_access *a);    /* a line of what is set aside */
void ws_async_block_end(struct ws_block_state *b);
void ws_async_free(struct ws_block_state *b);

/* ---- shadow_cluster.c ---- */
void ws_cluster_block_begin(struct ws_block_state *b);
void ws_cluster_block_end(struct ws_block_state *b);  /* before what the block knows is given up */
void ws_cluster_visit(struct ws_ctx *c);              /* an access to the shared memory of c->owner, another block */
void ws_cluster_barrier(void *self, struct ws_obs_warp *w, const struct ws_cluster_barrier *cb);

/* ---- shadow_locks.c: lock sets, for the wording of reports only ---- */
void ws_locks_atomic(struct ws_ctx *c);
void ws_locks_store(struct ws_ctx *c);
uint32_t ws_locks_of(const struct ws_ctx *c, uint32_t lane);  /* number of the set that the lane holds */
uint32_t ws_locks_only(struct ws_shadow *s, uint64_t addr);   /* of the set with that word of global memory alone */

/* ---- shadow_report.c ---- */
/* Bytes lo..hi of c->line: lane of this access against `lane2` of the earlier one. */
void ws_shadow_conflict(struct ws_ctx *c, uint32_t lane, uint32_t lo, uint32_t hi, const struct ws_slot *other,
                        enum ws_class other_cls, int lane2, bool same_instruction);
void ws_shadow_flush(struct ws_shadow *s);
void ws_shadow_report_free(struct ws_shadow *s);

/* The same for memory of c->owner that may not be there yet, or no longer: `other` is NULL or the access that came
 * too late for its end. */
void ws_shadow_lifetime(struct ws_ctx *c, uint32_t lane, bool ended);

/* ---- shadow_scan.c ---- */
void ws_shadow_scan(struct ws_launch_state *l);

extern const struct ws_detector ws_detector_shadow;

#endif

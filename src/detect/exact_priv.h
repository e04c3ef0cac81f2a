/* exact_priv.h - inside the detector "exact": happens-before as it is defined, without any shortcut.
 *
 * Every thread has a vector clock (under the stack model: every warp, whose lanes are one thread); every byte keeps its
 * accesses; every two of them that may conflict are compared. It is slow, and there to check the detector "shadow":
 * the detector "compare" runs both on one execution. One lock is held during every callback, and the executor's
 * structs are looked up by number, so that their `state` fields are free for another detector.
 *
 * exact.c         callbacks, launches, blocks, bytes
 * exact_clock.c   vector clocks and facts
 * exact_access.c  the history of a byte, and what races
 * exact_sync.c    barriers, fences, release and acquire
 * exact_async.c   asynchronous operations, mbarrier objects, clusters
 * exact_report.c  words
 * compare.c       "shadow" and "exact" side by side */
#ifndef WS_EXACT_PRIV_H
#define WS_EXACT_PRIV_H

#include "detect/detect.h"
#include "detect/latest.h"

#include <pthread.h>

/* ---- vector clocks: all of unit's accesses up to `time` ---- */
struct ws_ex_stamp { uint32_t unit; uint64_t time; };
struct ws_ex_clock { uint32_t refs, n; struct ws_ex_stamp e[]; };    /* by unit; NULL = nothing. Changed only when refs == 1 */

struct ws_ex_facts {                 /* what somebody knows. All that hands on knowledge hands on all of it */
	struct ws_ex_clock *k;       /* happened before */
	struct ws_ex_clock *px;      /* ... before a fence.proxy.async that happened before */
	struct ws_ex_clock *sc;      /* ... before a fence.sc of the GPU that happened before */
	struct ws_ex_clock *seen;    /* ... before such a fence and a strong write after it that was seen */
	struct ws_ex_clock *dep;     /* before a strong store that was read, with or without a fence (depend.h) */
};

uint64_t ws_ex_time(const struct ws_ex_clock *c, uint32_t unit);     /* 0 = nothing */
bool ws_ex_any(const struct ws_ex_clock *c, uint32_t from, uint32_t to);     /* of units from .. to - 1 */
void ws_ex_join(struct ws_ex_clock **to, struct ws_ex_clock *from);
void ws_ex_raise(struct ws_ex_clock **to, uint32_t unit, uint64_t time);
struct ws_ex_facts ws_ex_copy(const struct ws_ex_facts *f);
void ws_ex_learn(struct ws_ex_facts *to, const struct ws_ex_facts *from);
void ws_ex_drop(struct ws_ex_facts *f);
void ws_ex_unref(struct ws_ex_clock *c);

/* ---- threads ---- */
enum ws_ex_level { EX_CTA, EX_CLUSTER, EX_GPU, EX_LEVELS };  /* .sys is .gpu here: one GPU */
struct ws_ex_key { uint64_t space, addr; };                  /* space: 0 = global, else 1 + block */

struct ws_ex_note {                  /* what a thread released at a word, or may acquire from it */
	struct ws_ex_key key;
	enum ws_ex_level level;
	struct ws_ex_facts f;
	struct ws_ex_note *next;
};

struct ws_ex_unit {
	uint32_t id;
	uint64_t time;               /* number of its last access */
	struct ws_ex_facts f;
	struct ws_ex_facts fence[EX_LEVELS]; /* as of its last fence that releases, of that scope or wider */
	bool fenced[EX_LEVELS];
	struct ws_ex_note *released; /* by its release operations */
	struct ws_ex_note *pending;  /* read by it: acquired by a fence, or an operation on the word, of that level or wider */
};

/* ---- asynchronous operations: agents, one for each track (ws_async) of a lane or an mbarrier object. The operations
 * of one agent are known by number up to one, but they are not ordered with each other ---- */
enum ws_ex_track { EX_CP, EX_BULK, EX_BULK_READ, EX_WGMMA, EX_TRACKS };
struct ws_ex_begin {                 /* what the issuing lane knew and had done */
	uint64_t op;
	struct ws_ex_facts f;
	uint32_t unit;
	uint64_t time;
	struct ws_ex_begin *next;
};
struct ws_ex_lane { uint32_t agent[EX_TRACKS]; struct ws_ex_begin *cp; };    /* agent: 0 = none so far */

struct ws_ex_mbar {
	uint32_t offset, agent;
	struct ws_ex_facts now, done;        /* arrived in this phase; in all completed ones */
	struct ws_ex_begin *ops;
	struct ws_ex_mbar *next;
};

struct ws_ex_arrival { uint32_t id; struct ws_ex_facts f; struct ws_ex_arrival *next; };     /* bar.arrive */
struct ws_ex_visit { uint32_t unit; uint64_t time; const struct ws_site *site; struct ws_ex_visit *next; };
struct ws_ex_cluster { uint64_t id; struct ws_ex_facts now, done; struct ws_ex_cluster *next; };

/* ---- bytes ---- */
enum ws_ex_excuse { EX_NO_EXCUSE, EX_SAME_VALUE, EX_DEPENDENCY };    /* for a race to be a warning */
enum ws_ex_class { EX_READ, EX_WRITE, EX_STRONG_READ, EX_STRONG_WRITE, EX_RMW };
struct ws_ex_past {                  /* an access to a byte; times first .. last when it was repeated */
	uint64_t first, last;
	uint64_t inst;               /* number of the warp's instruction */
	const struct ws_site *site;
	uint32_t unit, block, thread;
	uint8_t cls, scope, elem;    /* elem: bytes of the element; 0 = any */
	uint8_t whole;               /* those of an atomic, which others have to be of the same number as; 0 = no atomic */
	bool proxy, async;           /* through the async proxy; by an agent */
	bool real;                   /* the byte itself, not only its granule */
};
struct ws_ex_store { enum ws_ex_level level; uint64_t domain; struct ws_ex_facts f; };       /* as seen in a block, .. */
struct ws_ex_word {                  /* what its newest release sequence has released */
	uint32_t size, n;
	size_t cap;
	struct ws_ex_store *store;
	struct ws_ex_clock *sc, *dep;
	struct ws_ex_word *next;
};
struct ws_ex_byte {
	struct ws_ex_past *p;        /* in the order of execution */
	uint32_t n;
	bool raced, error;           /* error: not only writes of the same value; it needs no history any more */
	size_t cap;
	struct ws_ex_word *words;    /* that begin here */
};

enum { EX_PAGE_BITS = 8, EX_PAGE = 1 << EX_PAGE_BITS };
struct ws_ex_page { uint64_t number; struct ws_ex_byte byte[EX_PAGE]; };

struct ws_ex_block {
	uint64_t linear, cluster;
	struct ws_obs_block *b;
	uint32_t first_unit, nunits, nlanes, shared_bytes;
	struct ws_ex_unit *units;
	struct ws_ex_lane *lanes;
	struct ws_ex_byte *bytes;    /* shared memory */
	struct ws_ex_arrival *arrivals;
	struct ws_ex_mbar *mbars;
	struct ws_ex_visit *visits;  /* by other blocks */
	struct ws_ex_block *next;
};

enum { EX_BUCKETS = 1024 };
struct ws_exact {
	struct ws_detect_config config;
	struct ws_detect_filter *filter;
	struct ws_report *report;
	struct ws_gpu *gpu;
	pthread_mutex_t lock;
	const struct ws_obs_launch *launch;  /* NULL = none that is checked */
	uint32_t next_unit;
	bool words;                          /* some word has been released */
	bool depends;                        /* the kernel may be as in depend.h */
	uint64_t inst, accesses;
	struct ws_latest *latest;            /* of a launch on several host threads; else NULL */
	struct ws_ex_block *blocks[EX_BUCKETS];
	struct ws_ex_cluster *clusters;
	struct ws_ex_page **pages;           /* hash table */
	size_t npages, page_slots;
};

/* One lane's access. */
struct ws_ex_now {
	struct ws_exact *x;
	struct ws_ex_block *b, *owner;       /* owner: SHARED, whose memory */
	struct ws_ex_unit *u;
	const struct ws_access *a;
	uint32_t lane, thread;
	uint64_t addr;                       /* of the lane's first byte */
	struct ws_ex_past p;                 /* as it will be kept */
	struct ws_ex_past told;              /* the last one reported against this access, at this address */
	uint64_t told_addr;
};

/* ---- exact.c ---- */
struct ws_ex_block *ws_ex_block(struct ws_exact *x, const struct ws_obs_block *b);   /* NULL = not checked */
struct ws_ex_unit *ws_ex_unit(const struct ws_exact *x, struct ws_ex_block *b, const struct ws_obs_warp *w, uint32_t lane);
struct ws_ex_byte *ws_ex_byte(struct ws_exact *x, struct ws_ex_block *owner, uint64_t addr); /* owner NULL: global */
bool ws_ex_reaches(const struct ws_exact *x, enum ws_ex_level level, uint64_t block1, uint64_t block2);
enum ws_ex_level ws_ex_level(uint8_t scope);

/* ---- exact_access.c ---- */
void ws_ex_access(struct ws_exact *x, struct ws_ex_block *b, struct ws_obs_warp *w, const struct ws_access *a);
void ws_ex_byte_clear(struct ws_ex_byte *b);

/* ---- exact_sync.c ---- */
void ws_ex_snapshot(const struct ws_ex_unit *u, struct ws_ex_facts *to);     /* joins what u knows and has done */
void ws_ex_sync_read(struct ws_ex_now *n, struct ws_ex_key key, uint32_t size);
void ws_ex_sync_write(struct ws_ex_now *n, struct ws_ex_key key, uint32_t size, bool rmw);
void ws_ex_weak_write(struct ws_exact *x, struct ws_ex_block *owner, uint64_t addr, uint32_t bytes);
void ws_ex_word_free(struct ws_ex_word *w);
void ws_ex_unit_clear(struct ws_ex_unit *u);
void ws_ex_barrier(struct ws_exact *x, struct ws_ex_block *b, const struct ws_barrier *bar);
void ws_ex_barrier_arrive(struct ws_exact *x, struct ws_ex_block *b, struct ws_obs_warp *w, uint32_t mask, uint32_t id);
void ws_ex_warp_sync(struct ws_exact *x, struct ws_ex_block *b, struct ws_obs_warp *w, uint32_t mask);
void ws_ex_fence(struct ws_exact *x, struct ws_ex_block *b, struct ws_obs_warp *w, uint32_t mask, const struct ws_fence *f);

/* ---- exact_async.c ---- */
void ws_ex_async_begin(struct ws_ex_now *n);          /* makes it an agent's access */
void ws_ex_async_wait(struct ws_exact *x, struct ws_ex_block *b, struct ws_obs_warp *w, uint32_t mask, enum ws_async kind,
                      const uint64_t *done, bool reads_only);
void ws_ex_mbarrier(struct ws_exact *x, struct ws_ex_block *b, struct ws_obs_warp *w, const struct ws_mbar *m);
void ws_ex_cluster_barrier(struct ws_exact *x, struct ws_ex_block *b, struct ws_obs_warp *w,
                           const struct ws_cluster_barrier *c);
void ws_ex_visit(struct ws_ex_now *n);                /* to the shared memory of another block */
void ws_ex_block_ends(struct ws_exact *x, struct ws_ex_block *b);
void ws_ex_async_clear(struct ws_ex_block *b);
void ws_ex_clusters_clear(struct ws_exact *x);

/* ---- exact_report.c ---- */
bool ws_ex_warning(const struct ws_exact *x, enum ws_ex_excuse e);
void ws_ex_report(struct ws_ex_now *n, const struct ws_ex_past *old, uint64_t addr, bool proxy, enum ws_ex_excuse e);
void ws_ex_report_lifetime(struct ws_exact *x, const struct ws_ex_block *owner, const struct ws_site *site, bool ended);

#endif

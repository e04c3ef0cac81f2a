/* handle.h - what the host side (tm.h) and the device side (tm.cuh) of the transactions share: engines, statistics and the
 * handle that a kernel gets. C11, C++ and CUDA. */
#ifndef WARPSAFE_TM_HANDLE_H
#define WARPSAFE_TM_HANDLE_H

enum ws_tm_engine {
	WS_TM_CGL,            /* one lock for all transactions: the yardstick */
	WS_TM_PSTM,           /* a location belongs to one transaction at a time, read or written */
	WS_TM_ESTM,           /* a location has many readers or one writer */
	WS_TM_ISTM,           /* readers leave no trace and look again at the end */
	WS_TM_HSTM,           /* writes are made at the end, reads validated by time and by value */
	WS_TM_BLOCK,          /* writes are made at the end, reads validated by version */
	WS_TM_BLOCK_PESSIMISTIC, /* the same, and all that was read is locked at the end as well */
	WS_TM_ENGINES
};

/* Why an attempt of a transaction ended without a commit. */
enum ws_tm_reason {
	WS_TM_READ_CONFLICT,  /* a read met another transaction's location */
	WS_TM_WRITE_CONFLICT, /* so did a write */
	WS_TM_INVALID,        /* at the end something it had read had changed */
	WS_TM_NO_MEMORY,      /* the heap for long logs was used up by others; tried again */
	WS_TM_RETRY,          /* ws_tx_retry */
	WS_TM_CANCELLED,      /* ws_tx_abort: not tried again */
	WS_TM_TOO_LARGE,      /* the whole heap does not hold its log: not tried again */
	WS_TM_ALONE,          /* ws_tx_irrevocable: tried again when no other runs */
	WS_TM_WAITS,          /* not a loss: a read-only section keeps all it has, and is gone through once more (estm.cuh) */
	WS_TM_REASONS
};

struct ws_tm_stats {
	unsigned long long commits;
	unsigned long long serial;                  /* of these, while no other transaction might start */
	unsigned long long aborts[WS_TM_REASONS];
	unsigned long long unallocated;             /* ws_tx_alloc that found no memory */
	unsigned long long read_only;               /* of the commits, those of sections that say that they write nothing */
	unsigned long long read_only_aborts;        /* of these sections, by conflicts and for want of memory */
	unsigned long long parts;                   /* parts of sections that were undone alone: inner ones, alternatives */
};

/* Counters are spread over this many places, 128 bytes each (all of which are used), so that they are not one hot word. */
enum { WS_TM_STRIPES = 256 };
struct ws_tm_stripe {
	struct ws_tm_stats sum;
	unsigned long long active;                  /* attempts under way, if the handle has them counted */
};

/* Words that all transactions of a handle share, each in a memory sector of its own. */
struct ws_tm_words {
	unsigned next_id, unused1[31];              /* ids given to threads so far */
	unsigned token, unused2[31];                /* id of the transaction that may run alone; 0: none */
	unsigned lock, unused3[31];                 /* engine cgl: id of the transaction that runs; 0: none */
	unsigned long long clock, unused4[15];      /* engine hstm: commits that wrote something */
	unsigned readers, unused7[31];              /* read-only transactions that let no other one start */
	unsigned ended, unused5[31];                /* marked sections, engines without opacity: attempts that wrote and ended */
};

enum { WS_TM_CHUNK = 64 };                          /* log entries in a chunk of the heap */
struct ws_tm_entry { unsigned long long where, value; }; /* tm/log.cuh */

/* Memory for ws_tx_alloc (tm/pool.cuh): this, a number for each unit (a power of two of bytes), and at the next multiple of 128
 * the units. Blocks have 2^class units. */
enum { WS_TM_UNIT = 16, WS_TM_CLASSES = 32, WS_TM_TOPS = 64 };
struct ws_tm_pool {
	unsigned long long fresh, unused[15];       /* units handed out for the first time; behind them none was in use yet */
	unsigned long long top[WS_TM_TOPS][WS_TM_CLASSES]; /* blocks that were given back: count of changes << 32 | number + 1 */
};
#define WS_TM_POOL_BYTES(units) \
	((sizeof(struct ws_tm_pool) + 4ull * (units) + 127) / 128 * 128 + (unsigned long long)WS_TM_UNIT * (units))

/* Made by ws_tm_create; passed to kernels by value. All pointers are to device memory. */
struct ws_tm {
	void *table;                                /* shadow entries: 8 bytes each (pstm uses 4), a power of two of them */
	struct ws_tm_words *words;
	struct ws_tm_stripe *stripes;
	struct ws_tm_entry *heap;                   /* chunks of WS_TM_CHUNK log entries */
	unsigned *links;                            /* by chunk: 0: free; else 1 + the one below it in a transaction's log + 1 */
	void *memory;                               /* what all of the above lies in */
	unsigned mask, bits;                        /* entries of the table - 1, and their logarithm */
	unsigned granule;                           /* logarithm of the granularity in bytes */
	unsigned chunks;
	unsigned patience;                          /* aborts after which a transaction asks to run alone */
	unsigned short engine;                      /* enum ws_tm_engine */
	unsigned short counted;                     /* attempts are counted, so that one can run alone (tm/alone.cuh) */
	struct ws_tm_pool *pool;
	unsigned units, unused;                     /* of the pool; 0: ws_tx_alloc finds no memory */
};

/* As used in tables of statistics. */
static inline const char *ws_tm_engine_name(unsigned engine)
{
	static const char *const names[] = { "cgl", "pstm", "estm", "istm", "hstm", "block", "block-pessimistic" };

	return engine < WS_TM_ENGINES ? names[engine] : "?";
}

/* Whether an attempt only ever sees values that were there together, also one that aborts. */
#define WS_TM_OPAQUE(engine) \
	((engine) != WS_TM_ISTM && (engine) != WS_TM_BLOCK && (engine) != WS_TM_BLOCK_PESSIMISTIC)

#endif

/* log.cuh - a transaction's own state, its log, and the accesses to shared words that everything else is made of. Included
 * by tm.cuh.
 *
 * Memory model (PTX ISA 9.0, 8). Shadow entries and the data of transactions are read and written with volatile or
 * atomic accesses only: these are strong and are served by L2, never by a stale line of L1. Order comes from
 * ws_tx__fence: after what acquires a location, before what releases it (Holey 2015, 4.1.5, has the second; the first
 * is needed as well, as a later load may be served early).
 *
 * Divergence. No function waits for another thread: what cannot be had ends the attempt, and the loop of WS_TX goes round
 * once more. All locations are given back within the round that took them. So lanes of a warp that run in step, and
 * lanes that run independently, make progress alike. */
#ifndef WARPSAFE_TM_LOG_CUH
#define WARPSAFE_TM_LOG_CUH

#include "handle.h"

#define WS_TX_FN static __device__ __forceinline__
/* For what is rare: not worth its code at each place that calls it. */
#ifndef WS_TX_RARE
#define WS_TX_RARE static __device__ __noinline__ __attribute__((unused))
#endif

/* Accesses: in place, so that the transaction's state stays in registers. With -DWS_TM_CALLS they are functions, for sections with dozens
 * of them, whose code is else more than a multiprocessor keeps at hand, and takes minutes to compile. */
#ifdef WS_TM_CALLS
#define WS_TX_ACCESS WS_TX_RARE
#else
#define WS_TX_ACCESS WS_TX_FN
#endif
/* And with -DWS_TM_CALLS=2 what begins and ends sections and their parts: for dozens of sections. */
#if defined(WS_TM_CALLS) && WS_TM_CALLS + 0 >= 2
#define WS_TX_STEP WS_TX_RARE
#else
#define WS_TX_STEP WS_TX_FN
#endif

/* Log entries that lie in the thread's local memory; more go to the heap. */
#ifndef WS_TM_LOG
#define WS_TM_LOG 16
#endif

/* Shadow entries that belong to a transaction and are remembered in registers. */
enum { WS_TX_NEAR = 4 };

/* Engine pstm: writes of 4 or 8 bytes that are kept back in registers to the commit, beside the last one. An attempt that loses has then
 * nothing to undo, and gives its locations back at once. For sections that write more than two words where many want the same ones (H200,
 * HASH-M with 3: 1.3 times as many); those that write two are a fifth slower, by the code for it. */
#ifndef WS_TM_LATER
#define WS_TM_LATER 0
#endif
enum { WS_TX_LATERS = WS_TM_LATER ? WS_TM_LATER : 1 };       /* an array has one */
/* What taking a location returns that was nobody's; 1: it was this transaction's own. Who keeps nothing back need not know. */
enum { WS_TX_FRESH = WS_TM_LATER ? 2 : 1 };

/* Engine pstm: words that are their own lock (spare.cuh) which a transaction keeps in registers; further ones go to the log. 0: none is its
 * own lock, and ws_tx_take_T is ws_tx_read_T. */
#ifndef WS_TM_SPARES
#define WS_TM_SPARES 2
#endif
enum { WS_TX_SPARES = WS_TM_SPARES ? WS_TM_SPARES : 1 };

/* Such words are given back by atomics and not by stores, so that what one thread has published by a word reaches who takes it from a third one that
 * has changed it in between. 0: by stores, for all kernels that share words: a little faster where few want one (docs/TRANSACTIONS.md). */
#ifndef WS_TM_PASS_ON
#define WS_TM_PASS_ON 1
#endif

/* For the tests of the tests alone: leaves out one step by its number, and the history checker must notice. */
#ifndef WS_TM_BREAK
#define WS_TM_BREAK 0
#endif

enum ws_tx_state {
	WS_TX_WAITING,        /* between two attempts */
	WS_TX_ACTIVE,
	WS_TX_DOOMED,         /* the attempt is lost; at the end of the section it is rolled back */
	WS_TX_COMMITTED,      /* this one and those below are final */
	WS_TX_CANCELLED,      /* ws_tx_abort */
	WS_TX_TOO_LARGE       /* its log does not fit the heap */
};

/* How a transaction stands to the others, if they are counted (alone.cuh). */
enum ws_tx_alone {
	WS_TX_AMONG_OTHERS,
	WS_TX_READS,          /* is to write nothing */
	WS_TX_READS_ALONE,    /* and lets nobody start who writes */
	WS_TX_WANTS_ALONE,    /* is to become irrevocable in its next attempt */
	WS_TX_IRREVOCABLE     /* no other one runs, and what it does is done */
};

/* How an inner section stands, or has ended. */
enum ws_tx_inner {
	WS_TX_INNER_DONE,
	WS_TX_INNER_LEFT,     /* ws_tx_abort_inner was called in it */
	WS_TX_INNER_UNDONE    /* and it was undone */
};

/* A word that is its own lock, while a transaction has it: its address, what the transaction has made of it, what was there, what is there
 * meanwhile, and its size (4 or 8; 0: none). */
struct ws_tx_spare {
	unsigned long long at, value, before, none;
	unsigned size;
	unsigned mine;        /* 0: the attempt has lost, here or before, and does not have it */
};

/* Words that who waits for a condition looks at (watch.cuh). */
enum { WS_TX_WATCHED = 8 };

struct ws_tx_log { struct ws_tm_entry own[WS_TM_LOG], watch[WS_TX_WATCHED]; };

/* One a thread. The log is a variable of its own because it is indexed: all else can then stay in registers. */
struct ws_tx {
	struct ws_tm tm;
	struct ws_tx_log *log;
	unsigned id;          /* never 0, of this thread alone */
	unsigned state;       /* enum ws_tx_state */
	unsigned why;         /* enum ws_tm_reason, when doomed */
	unsigned depth;       /* of WS_TX inside WS_TX */
	unsigned fresh;       /* an inner WS_TX has just been entered */
	unsigned n, room;     /* log entries in use, and those that there is memory for */
	unsigned chunk;       /* newest chunk of the log + 1; 0: none */
	unsigned aborts;      /* of this section so far */
	unsigned skip;        /* rounds to let pass before the next attempt */
	unsigned random;
	unsigned token;       /* whether this one has the token */
	unsigned level;       /* of contention, as its sections have met it: twice the logarithm of the rounds between attempts */
	unsigned levels;      /* the highest logarithm */
	unsigned near[WS_TX_NEAR];   /* the first shadow entries that are this transaction's alone, + 1, newest first; 0: none */
	unsigned long long last_at, last_value; /* last word read or written, as in a log entry; 0: none */
	unsigned long long last_before; /* what was there, if it is held back */
	unsigned held;        /* the last word was written, but not yet in memory */
	struct ws_tm_entry later[WS_TX_LATERS]; /* writes before that one that are not in memory either, newest first; where 0: none */
	struct ws_tx_spare spare[WS_TX_SPARES]; /* newest first */
	unsigned own;         /* a variable of one thread (WS_TX_VAR): what follows is used */
	unsigned tally, lost[2]; /* commits, and aborts by conflicts at reads and at writes, which are told at the end */
	unsigned lanes;       /* of the warp, that are in this round together; 0: each by itself */
	unsigned words;       /* whether it has ever taken a word that is its own lock */
	unsigned bearable;    /* aborts a commit that an attempt with as many such words as the last one had can have before it waits for longer */
	unsigned mixed;       /* the thread's sections do more than that, so that a fence stands at their end anyway */
	unsigned early;       /* a fence stands before the first of them, so that none is needed behind the last: in this attempt */
	unsigned plain;       /* but for what the attempt itself does otherwise: it has peeked, or filled what is not linked yet */
	unsigned wrong;       /* one of them was put that it does not have, or in a section that only reads */
	unsigned spilled;     /* words that are their own lock and in the log */
	unsigned alone;       /* enum ws_tx_alone */
	unsigned kept;        /* the log is that of an attempt that waits (WS_TM_WAITS) */
	unsigned base;        /* log entries from before the newest WS_TX_EITHER of this attempt */
	unsigned layers;      /* a part has written again what was written before it (redo.cuh) */
	unsigned other;       /* a WS_TX_EITHER was undone: its WS_TX_OR is run */
	unsigned memory;      /* the log has entries of memory */
	unsigned inner;       /* enum ws_tx_inner: of the WS_TX_INNER that was ended last, or is left by ws_tx_abort_inner */
	unsigned inners;      /* WS_TX_INNER that are open */
	unsigned retries;     /* sections of it come to ws_tx_retry: what they read is noted */
	unsigned noted;       /* words that were noted in this attempt */
	unsigned watches;     /* waits until they change */
	unsigned looks;       /* how often it has looked, or asked in vain whether it may begin */
	unsigned long long snapshot; /* engine hstm: the time of what was read, at last that of the commit */
	unsigned long long wanted;   /* shadow entries that earlier attempts at the section could not get to write, by a hash to one bit */
	unsigned long long filter;   /* deferred update: where it has written, by a hash to one bit; 0: nowhere */
};

/* What a log entry tells is in the two highest bits of its first word, where addresses have none. One of WS_TX_UNDO with
 * WS_TX_MEMORY is not of a write but of a block of memory (pool.cuh). */
enum ws_tx_kind {
	WS_TX_UNDO,           /* address and size of a write; value: what was there before */
	WS_TX_HOLD,           /* shadow entry that belongs to this transaction; value: its version. With a size: spare.cuh */
	WS_TX_SEEN,           /* shadow entry that was read; value: its version. hstm: address, size and value of a read */
	WS_TX_REDO            /* deferred update: address and size of a write that is yet to be made; value: what is written */
};

WS_TX_FN unsigned long long ws_tx__where(unsigned kind, unsigned log_size, unsigned long long what)
{
	return what | (unsigned long long)kind << 62 | (unsigned long long)log_size << 60;
}
WS_TX_FN unsigned ws_tx__log_size(unsigned size) { return size == 8 ? 3 : size >> 1; }
WS_TX_FN unsigned ws_tx__kind(const struct ws_tm_entry *e) { return (unsigned)(e->where >> 62); }
WS_TX_FN unsigned ws_tx__size(const struct ws_tm_entry *e) { return 1u << (e->where >> 60 & 3); }
WS_TX_FN unsigned long long ws_tx__what(const struct ws_tm_entry *e) { return e->where << 4 >> 4; }

/* ---- shared words ---- */

WS_TX_FN unsigned ws_tx__load32(const unsigned *p) { return *(const volatile unsigned *)p; }
WS_TX_FN void ws_tx__store32(unsigned *p, unsigned v) { *(volatile unsigned *)p = v; }
WS_TX_FN unsigned long long ws_tx__load64(const unsigned long long *p) { return *(const volatile unsigned long long *)p; }
WS_TX_FN void ws_tx__store64(unsigned long long *p, unsigned long long v) { *(volatile unsigned long long *)p = v; }

WS_TX_FN void ws_tx__fence(void)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700
	__asm__ volatile("fence.acq_rel.gpu;" ::: "memory");
#else
	__threadfence();
#endif
}
/* Half a fence each, where there are such: a release does not empty the first-level cache, an acquire does not wait for what was written. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900 && defined(__CUDACC_VER_MAJOR__) && __CUDACC_VER_MAJOR__ * 100 + __CUDACC_VER_MINOR__ >= 1208
#define WS_TX__RELEASE() __asm__ volatile("fence.release.gpu;" ::: "memory")
#define WS_TX__ACQUIRE() __asm__ volatile("fence.acquire.gpu;" ::: "memory")
#else
#define WS_TX__RELEASE() ws_tx__fence()
#define WS_TX__ACQUIRE() ws_tx__fence()
#endif
/* Before a location is given back. */
WS_TX_FN void ws_tx__release_fence(void)
{
	if (WS_TM_BREAK != 6)
		WS_TX__RELEASE();
}
/* After locations were taken. */
WS_TX_FN void ws_tx__acquire_fence(void)
{
	if (WS_TM_BREAK != 7)
		WS_TX__ACQUIRE();
}

/* An atomic compare-and-swap or a load, and that fence: it need not wait for what the thread has written before. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700
WS_TX_FN unsigned ws_tx__take32(unsigned *p, unsigned was, unsigned now)
{
	unsigned old;

	if (WS_TM_BREAK == 7)
		return atomicCAS(p, was, now);
	__asm__ volatile("atom.acquire.gpu.cas.b32 %0, [%1], %2, %3;" : "=r"(old) : "l"(p), "r"(was), "r"(now) : "memory");
	return old;
}
WS_TX_FN unsigned long long ws_tx__take64(unsigned long long *p, unsigned long long was, unsigned long long now)
{
	unsigned long long old;

	if (WS_TM_BREAK == 7)
		return atomicCAS(p, was, now);
	__asm__ volatile("atom.acquire.gpu.cas.b64 %0, [%1], %2, %3;" : "=l"(old) : "l"(p), "l"(was), "l"(now) : "memory");
	return old;
}
WS_TX_FN unsigned long long ws_tx__look64(const unsigned long long *p)
{
	unsigned long long now;

	if (WS_TM_BREAK == 7)
		return ws_tx__load64(p);
	__asm__ volatile("ld.acquire.gpu.b64 %0, [%1];" : "=l"(now) : "l"(p) : "memory");
	return now;
}
WS_TX_FN unsigned ws_tx__swap32(unsigned *p, unsigned now)
{
	unsigned old;

	if (WS_TM_BREAK == 7)
		return atomicExch(p, now);
	__asm__ volatile("atom.acquire.gpu.exch.b32 %0, [%1], %2;" : "=r"(old) : "l"(p), "r"(now) : "memory");
	return old;
}
WS_TX_FN unsigned long long ws_tx__swap64(unsigned long long *p, unsigned long long now)
{
	unsigned long long old;

	if (WS_TM_BREAK == 7)
		return atomicExch(p, now);
	__asm__ volatile("atom.acquire.gpu.exch.b64 %0, [%1], %2;" : "=l"(old) : "l"(p), "l"(now) : "memory");
	return old;
}

/* Likewise if `wanted`, which is no branch for words in global memory; else what is returned is `now`. */
#define WS_TX__SWAP_IF(BITS, TYPE, REGISTER) \
	WS_TX_FN TYPE ws_tx__swap##BITS##_if(int wanted, TYPE *p, TYPE now) \
	{ \
		int global = __isGlobal(p) != 0, here = wanted && global && WS_TM_BREAK != 7; \
		TYPE old = now; \
 \
		__asm__ volatile("{\n\t.reg .pred wanted;\n\t.reg .b64 at;\n\tsetp.ne.s32 wanted, %2, 0;\n\tcvta.to.global.u64 at, %1;\n\t" \
		                 "@wanted atom.acquire.gpu.global.exch.b" #BITS " %0, [at], %3;\n\t}" \
		                 : "+" REGISTER(old) : "l"(p), "r"(here), REGISTER(now) : "memory"); \
		return wanted && !here ? ws_tx__swap##BITS(p, now) : old; \
	}
WS_TX__SWAP_IF(32, unsigned, "r")
WS_TX__SWAP_IF(64, unsigned long long, "l")
#undef WS_TX__SWAP_IF

/* Flips bits, and wants no answer. Said so, as ptxas at times makes the one that answers of an atom without a use, which is half as fast. */
#define WS_TX__FLIP(BITS, TYPE, REGISTER) \
	WS_TX_FN void ws_tx__flip##BITS(TYPE *p, TYPE bits) \
	{ \
		if (!__isGlobal(p)) \
			__asm__ volatile("red.relaxed.gpu.xor.b" #BITS " [%0], %1;" : : "l"(p), REGISTER(bits) : "memory"); \
		else \
			__asm__ volatile("{\n\t.reg .b64 at;\n\tcvta.to.global.u64 at, %0;\n\tred.relaxed.gpu.global.xor.b" #BITS " [at], %1;\n\t}" \
			                 : : "l"(p), REGISTER(bits) : "memory"); \
	}
WS_TX__FLIP(32, unsigned, "r")
WS_TX__FLIP(64, unsigned long long, "l")
#undef WS_TX__FLIP

/* Two words, if `wanted`: both exchanges are under way together, and the fence is behind both. Else *a and *b stay as they are. */
#define WS_TX__SWAP_BOTH(BITS, TYPE, REGISTER) \
	WS_TX_FN void ws_tx__swap##BITS##_both(int wanted, unsigned long long p, unsigned long long q, unsigned long long now, unsigned long long *a, \
	                                       unsigned long long *b) \
	{ \
		int global = __isGlobal((void *)p) != 0 && __isGlobal((void *)q) != 0, here = wanted && global; \
		TYPE one = (TYPE)*a, two = (TYPE)*b; \
 \
		__asm__ volatile("{\n\t.reg .pred wanted;\n\t.reg .b64 at, other;\n\tsetp.ne.s32 wanted, %4, 0;\n\t" \
		                 "cvta.to.global.u64 at, %2;\n\tcvta.to.global.u64 other, %3;\n\t" \
		                 "@wanted atom.relaxed.gpu.global.exch.b" #BITS " %0, [at], %5;\n\t" \
		                 "@wanted atom.relaxed.gpu.global.exch.b" #BITS " %1, [other], %5;\n\t}" \
		                 : "+&" REGISTER(one), "+&" REGISTER(two) : "l"(p), "l"(q), "r"(here), REGISTER((TYPE)now) : "memory"); \
		if (wanted && !here) { \
			one = atomicExch((TYPE *)p, (TYPE)now); \
			two = atomicExch((TYPE *)q, (TYPE)now); \
		} \
		ws_tx__acquire_fence(); \
		*a = one; \
		*b = two; \
	}
#else
WS_TX_FN unsigned ws_tx__swap32(unsigned *p, unsigned now)
{
	unsigned old = atomicExch(p, now);

	ws_tx__acquire_fence();
	return old;
}
WS_TX_FN unsigned long long ws_tx__swap64(unsigned long long *p, unsigned long long now)
{
	unsigned long long old = atomicExch(p, now);

	ws_tx__acquire_fence();
	return old;
}
#define WS_TX__SWAP_BOTH(BITS, TYPE, REGISTER) \
	WS_TX_FN void ws_tx__swap##BITS##_both(int wanted, unsigned long long p, unsigned long long q, unsigned long long now, unsigned long long *a, \
	                                       unsigned long long *b) \
	{ \
		*a = wanted ? atomicExch((TYPE *)p, (TYPE)now) : *a; \
		*b = wanted ? atomicExch((TYPE *)q, (TYPE)now) : *b; \
		ws_tx__acquire_fence(); \
	}
WS_TX_FN void ws_tx__flip32(unsigned *p, unsigned bits) { atomicXor(p, bits); }
WS_TX_FN void ws_tx__flip64(unsigned long long *p, unsigned long long bits) { atomicXor(p, bits); }
WS_TX_FN unsigned ws_tx__swap32_if(int wanted, unsigned *p, unsigned now) { return wanted ? ws_tx__swap32(p, now) : now; }
WS_TX_FN unsigned long long ws_tx__swap64_if(int wanted, unsigned long long *p, unsigned long long now)
{
	return wanted ? ws_tx__swap64(p, now) : now;
}
WS_TX_FN unsigned ws_tx__take32(unsigned *p, unsigned was, unsigned now)
{
	unsigned old = atomicCAS(p, was, now);

	ws_tx__acquire_fence();
	return old;
}
WS_TX_FN unsigned long long ws_tx__take64(unsigned long long *p, unsigned long long was, unsigned long long now)
{
	unsigned long long old = atomicCAS(p, was, now);

	ws_tx__acquire_fence();
	return old;
}
WS_TX_FN unsigned long long ws_tx__look64(const unsigned long long *p)
{
	unsigned long long now = ws_tx__load64(p);

	ws_tx__acquire_fence();
	return now;
}
#endif
WS_TX__SWAP_BOTH(32, unsigned, "r")
WS_TX__SWAP_BOTH(64, unsigned long long, "l")
#undef WS_TX__SWAP_BOTH

/* Gives a lock back without a fence, by an atomic: who takes it then sees all that those did who had it before, as well (PTX ISA 9.0, 8:
 * an atomic goes on with the release that it has read, a store does not). */
WS_TX_FN void ws_tx__drop32(unsigned *p)
{
	if (WS_TM_BREAK == 46)
		ws_tx__store32(p, 0);
	else
		atomicAnd(p, 0u);
}

/* Around each access to data: for a record of what happened (src/device/tm_record.cuh). */
#ifndef WS_TX_DATA_BEGIN
#define WS_TX_DATA_BEGIN
#define WS_TX_DATA_LOADED(at, size, value)
#define WS_TX_DATA_STORED(at, size, value)
#endif

/* Data of 1, 2, 4 or 8 bytes, aligned. */
WS_TX_FN unsigned long long ws_tx__load_now(unsigned long long at, unsigned size)
{
	switch (size) {
	case 1: return *(const volatile unsigned char *)at;
	case 2: return *(const volatile unsigned short *)at;
	case 4: return *(const volatile unsigned *)at;
	default: return *(const volatile unsigned long long *)at;
	}
}
WS_TX_FN unsigned long long ws_tx__load(unsigned long long at, unsigned size)
{
	WS_TX_DATA_BEGIN
	unsigned long long value = ws_tx__load_now(at, size);

	WS_TX_DATA_LOADED(at, size, value)
	return value;
}
/* The same with what the thread loads later after it. */
WS_TX_FN unsigned long long ws_tx__load_first_now(unsigned long long at, unsigned size)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700
	unsigned short half;
	unsigned word;

	switch (size) {
	case 1: __asm__ volatile("ld.acquire.gpu.u8 %0, [%1];" : "=h"(half) : "l"(at) : "memory"); return half;
	case 2: __asm__ volatile("ld.acquire.gpu.u16 %0, [%1];" : "=h"(half) : "l"(at) : "memory"); return half;
	case 4: __asm__ volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(word) : "l"(at) : "memory"); return word;
	default: return ws_tx__look64((const unsigned long long *)at);
	}
#else
	unsigned long long value = ws_tx__load_now(at, size);

	ws_tx__fence();
	return value;
#endif
}
WS_TX_FN unsigned long long ws_tx__load_first(unsigned long long at, unsigned size)
{
	WS_TX_DATA_BEGIN
	unsigned long long value = ws_tx__load_first_now(at, size);

	WS_TX_DATA_LOADED(at, size, value)
	return value;
}
WS_TX_FN void ws_tx__store_now(unsigned long long at, unsigned size, unsigned long long v)
{
	switch (size) {
	case 1: *(volatile unsigned char *)at = (unsigned char)v; break;
	case 2: *(volatile unsigned short *)at = (unsigned short)v; break;
	case 4: *(volatile unsigned *)at = (unsigned)v; break;
	default: *(volatile unsigned long long *)at = v;
	}
}
WS_TX_FN void ws_tx__store(unsigned long long at, unsigned size, unsigned long long v)
{
	WS_TX_DATA_BEGIN
	ws_tx__store_now(at, size, v);
	WS_TX_DATA_STORED(at, size, v)
}

/* Marsaglia 2003, Xorshift RNGs. */
WS_TX_FN unsigned ws_tx__random(struct ws_tx *tx)
{
	unsigned x = tx->random;

	x ^= x << 13;
	x ^= x >> 17;
	x ^= x << 5;
	return tx->random = x;
}

WS_TX_FN void ws_tx__pause(unsigned rounds)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700
	__nanosleep(40 * rounds);
#endif
}

/* Ids of neighbours follow each other: lanes of a warp count in one place, in one access. */
WS_TX_FN struct ws_tm_stripe *ws_tx__stripe(const struct ws_tx *tx) { return &tx->tm.stripes[tx->id / 32 % WS_TM_STRIPES]; }
WS_TX_FN struct ws_tm_stats *ws_tx__stats(const struct ws_tx *tx) { return &ws_tx__stripe(tx)->sum; }

/* ---- shadow entries ---- */

/* The table has one entry a granule for as many consecutive granules as it has entries; further ones share them, shifted
 * from segment to segment so that arrays at a distance of a power of two do not meet (Holey 2015, 4.1.1, has a table as
 * large as the memory). Sharing causes conflicts that are none, never a missed one. */
WS_TX_FN unsigned ws_tx__index(const struct ws_tx *tx, unsigned long long granule)
{
	return ((unsigned)granule + (unsigned)(granule >> tx->tm.bits) * 0x9e3779b1u) & tx->tm.mask;
}
WS_TX_FN unsigned long long ws_tx__granule(const struct ws_tx *tx, unsigned long long at) { return at >> tx->tm.granule; }

/* With entries of 64 bits: all engines but pstm. */
WS_TX_FN unsigned long long *ws_tx__entry(const struct ws_tx *tx, unsigned index)
{
	return (unsigned long long *)tx->tm.table + index;
}

/* Whether an entry is among the first that belong to this transaction alone: then nobody need be asked. The loops are unrolled,
 * so that the array is in registers. */
WS_TX_FN int ws_tx__is_near(const struct ws_tx *tx, unsigned index)
{
	int found = 0;

#pragma unroll
	for (unsigned k = 0; k < WS_TX_NEAR; k++)
		found |= tx->near[k] == index + 1;
	return found;
}

WS_TX_FN int ws_tx__near_full(const struct ws_tx *tx) { return tx->near[WS_TX_NEAR - 1] != 0; }

/* Remembers an entry, if there is room: whether. */
WS_TX_FN int ws_tx__note_near(struct ws_tx *tx, unsigned index)
{
	if (ws_tx__near_full(tx))
		return 0;
#pragma unroll
	for (unsigned k = WS_TX_NEAR - 1; k > 0; k--)
		tx->near[k] = tx->near[k - 1];
	tx->near[0] = index + 1;
	return 1;
}

WS_TX_FN void ws_tx__forget_near(struct ws_tx *tx)
{
#pragma unroll
	for (unsigned k = 0; k < WS_TX_NEAR; k++)
		tx->near[k] = 0;
}

/* Engines estm and block-pessimistic: who could not write what it has read, as others have read it too, takes that entry to write when it
 * reads it the next time. Else those that read a word and then write it all stand in each other's way, and none of them ever does. */
WS_TX_FN unsigned long long ws_tx__wanted_bit(unsigned index) { return 1ull << (index * 0x9e3779b1u >> 26); }
WS_TX_FN int ws_tx__is_wanted(const struct ws_tx *tx, unsigned index) { return (tx->wanted & ws_tx__wanted_bit(index)) != 0; }

/* Returns 0. */
WS_TX_FN int ws_tx__want(struct ws_tx *tx, unsigned index)
{
	tx->wanted |= ws_tx__wanted_bit(index);
	return 0;
}

WS_TX_FN void ws_tx__forget_later(struct ws_tx *tx)
{
#pragma unroll
	for (unsigned k = 0; k < WS_TX_LATERS; k++)
		tx->later[k].where = 0;
}

WS_TX_FN void ws_tx__forget_spares(struct ws_tx *tx)
{
	tx->spilled = 0;
#pragma unroll
	for (unsigned k = 0; k < WS_TX_SPARES; k++)
		tx->spare[k].size = 0;
}

/* Whether the transaction has words in registers: places without one may lie before it (ws_tx__spare_take). */
WS_TX_FN int ws_tx__has_spares(const struct ws_tx *tx)
{
	unsigned any = 0;

#pragma unroll
	for (unsigned k = 0; k < WS_TX_SPARES; k++)
		any |= tx->spare[k].mine ? tx->spare[k].size : 0;
	return any != 0;
}

/* ---- chunks of the heap ---- */

/* Each has a word of its own in `links`: 0 while it is free, else 2 + number of the chunk below it in the same log, or 1. It is
 * claimed by a compare-and-swap there, and every thread begins to look somewhere else: no word is everybody's. (A stack of the free
 * ones has such a word: 15,000 threads that needed a chunk each waited 1.3 us in turn for every take and give, H200.) */

/* Pointers and no struct ws_tx: one whose address went to a function could not stay in registers. */

/* Makes one of `words` that is 0 `value`, looking at `tries` of them, from `start` on. Its number + 1; 0: none was. */
WS_TX_RARE unsigned ws_tx__claim(unsigned *words, unsigned n, unsigned start, unsigned tries, unsigned value)
{
	for (unsigned k = start; tries; tries--, k++) {
		k = k < n ? k : 0;
		if (!ws_tx__load32(&words[k]) && !ws_tx__take32(&words[k], 0, value))
			return k + 1;
	}
	return 0;
}

/* Number + 1 of the chunk below one; 0: none. */
WS_TX_FN unsigned ws_tx__below(const unsigned *links, unsigned chunk) { return ws_tx__load32(&links[chunk - 1]) - 1; }

/* Gives back a chunk and those below it. */
WS_TX_RARE void ws_tx__give_chunks(unsigned *links, unsigned chunk)
{
	ws_tx__fence();
	while (chunk) {
		unsigned below = ws_tx__below(links, chunk);

		ws_tx__store32(&links[chunk - 1], 0);
		chunk = below;
	}
}

/* Number + 1 of a chunk that is put on top of `below`, of which this transaction has `own`; 0: there is none. Only the one with the
 * token looks everywhere: the others then try again later. But one that all others leave alone finds every one. */
WS_TX_FN unsigned ws_tx__take_chunk(const struct ws_tx *tx, unsigned below, unsigned own)
{
	unsigned tries = tx->token ? tx->tm.chunks : 64 + own;
	unsigned start = (unsigned)((unsigned long long)((tx->id + 7 * own) * 0x9e3779b1u) * tx->tm.chunks >> 32);

	tries = tries < tx->tm.chunks ? tries : tx->tm.chunks;
	return ws_tx__claim(tx->tm.links, tx->tm.chunks, start, tries, below + 1);
}

/* ---- the log ---- */

WS_TX_FN int ws_tx__doom(struct ws_tx *tx, unsigned why)
{
	tx->state = WS_TX_DOOMED;
	tx->why = why;
	return 0;
}

WS_TX_FN struct ws_tm_entry *ws_tx__in_chunk(const struct ws_tx *tx, unsigned chunk, unsigned i)
{
	return tx->tm.heap + (unsigned long long)(chunk - 1) * WS_TM_CHUNK + i;
}

/* How many chunks the log has. */
WS_TX_FN unsigned ws_tx__chunks(const struct ws_tx *tx) { return (tx->room - WS_TM_LOG) / WS_TM_CHUNK; }

/* Whether the log has memory for one entry more; gets it if need be. */
WS_TX_FN int ws_tx__reserve(struct ws_tx *tx)
{
	unsigned chunk;

	if (tx->n < tx->room)
		return 1;
	chunk = ws_tx__take_chunk(tx, tx->chunk, ws_tx__chunks(tx));
	if (!chunk)
		return 0;
	tx->chunk = chunk;
	tx->room += WS_TM_CHUNK;
	return 1;
}

/* Why ws_tx__reserve got nothing. */
WS_TX_FN unsigned ws_tx__no_room(const struct ws_tx *tx)
{
	return ws_tx__chunks(tx) == tx->tm.chunks ? WS_TM_TOO_LARGE : WS_TM_NO_MEMORY;
}

/* After ws_tx__reserve. */
WS_TX_FN void ws_tx__append(struct ws_tx *tx, unsigned long long where, unsigned long long value)
{
	unsigned i = tx->n++;
	struct ws_tm_entry *e = i < WS_TM_LOG ? &tx->log->own[i]
	                                      : ws_tx__in_chunk(tx, tx->chunk, (i - WS_TM_LOG) % WS_TM_CHUNK);

	e->where = where;
	e->value = value;
}

/* The entry that was appended last. */
WS_TX_FN struct ws_tm_entry *ws_tx__newest(const struct ws_tx *tx)
{
	unsigned i = tx->n - 1;

	return i < WS_TM_LOG ? &tx->log->own[i] : ws_tx__in_chunk(tx, tx->chunk, (i - WS_TM_LOG) % WS_TM_CHUNK);
}

/* Goes through the log from the newest entry to the oldest. */
struct ws_tx_walk { unsigned i, base, chunk; };

WS_TX_FN struct ws_tx_walk ws_tx__walk(const struct ws_tx *tx)
{
	struct ws_tx_walk w = { tx->n, tx->room - WS_TM_CHUNK, tx->chunk };
	return w;
}

/* The entry below the last one, in a log whose chunks are of that heap. */
WS_TX_FN struct ws_tm_entry *ws_tx__step(struct ws_tx_walk *w, struct ws_tm_entry *own, struct ws_tm_entry *heap, const unsigned *links)
{
	if (w->i == 0)
		return 0;
	w->i--;
	if (w->i < WS_TM_LOG)
		return &own[w->i];
	while (w->i < w->base) {
		w->chunk = ws_tx__below(links, w->chunk);
		w->base -= WS_TM_CHUNK;
	}
	return heap + (unsigned long long)(w->chunk - 1) * WS_TM_CHUNK + (w->i - w->base);
}

WS_TX_FN struct ws_tm_entry *ws_tx__older(const struct ws_tx *tx, struct ws_tx_walk *w)
{
	return ws_tx__step(w, tx->log->own, tx->tm.heap, tx->tm.links);
}

/* istm, block: the version of a location that was written, when it is given back. */
#ifndef WS_TX_NEXT_VERSION
#define WS_TX_NEXT_VERSION(tx, was) ((was) + 1)
#endif

/* Log entries that are looked at together: what they tell of is under way from memory at the same time. One after the other, a section that has
 * read 25 words waits 25 times before it commits. */
#ifndef WS_TX_TOGETHER
#define WS_TX_TOGETHER 4
#endif

/* What is needed of a transaction to look at what it has read. */
struct ws_tx_reads {
	struct ws_tx_walk walk;
	struct ws_tm_entry *own, *heap;
	const unsigned *links;
	const unsigned long long *table;
};

/* The next entries towards the oldest one; 0 in place of those that tell of no read, and where there is none. */
WS_TX_FN void ws_tx__older_reads(struct ws_tx_reads *r, struct ws_tm_entry reads[WS_TX_TOGETHER])
{
#pragma unroll
	for (unsigned k = 0; k < WS_TX_TOGETHER; k++) {
		struct ws_tm_entry *e = ws_tx__step(&r->walk, r->own, r->heap, r->links);

		reads[k].where = e ? e->where : 0;
		reads[k].value = e ? e->value : 0;
	}
#pragma unroll
	for (unsigned k = 0; k < WS_TX_TOGETHER; k++)
		if (ws_tx__kind(&reads[k]) != WS_TX_SEEN)
			reads[k].where = 0;
}

/* For entries with a version in the upper half and a lock in the lower one: whether all that was read still has the version that
 * it had, and nobody else writes it. lock: its bits that mean a writer; own: the lock when that is this one. No struct ws_tx, as above. */
WS_TX_RARE int ws_tx__versions_are(struct ws_tx_reads r, unsigned lock, unsigned own)
{
	struct ws_tm_entry reads[WS_TX_TOGETHER];
	unsigned long long now[WS_TX_TOGETHER];
	int same = 1;

#pragma unroll 1
	while (same && r.walk.i) {
		ws_tx__older_reads(&r, reads);
#pragma unroll
		for (unsigned k = 0; k < WS_TX_TOGETHER; k++)
			now[k] = reads[k].where ? ws_tx__load64(&r.table[(unsigned)ws_tx__what(&reads[k])]) : 0;
#pragma unroll
		for (unsigned k = 0; k < WS_TX_TOGETHER; k++)
			same &= !reads[k].where || (now[k] >> 32 == reads[k].value && (!((unsigned)now[k] & lock) || (unsigned)now[k] == own));
	}
	return same;
}

/* The same for a transaction. anybody: the writer may be anyone. */
WS_TX_FN int ws_tx__same_versions(const struct ws_tx *tx, unsigned lock, unsigned own, int anybody)
{
	struct ws_tx_reads r = { ws_tx__walk(tx), tx->log->own, tx->tm.heap, tx->tm.links, ws_tx__entry(tx, 0) };

	__threadfence();
	return ws_tx__versions_are(r, anybody ? 0 : lock, own);
}

WS_TX_FN void ws_tx__empty_log(struct ws_tx *tx)
{
	if (tx->chunk)
		ws_tx__give_chunks(tx->tm.links, tx->chunk);
	tx->n = 0;
	tx->room = WS_TM_LOG;
	tx->chunk = 0;
}

#endif

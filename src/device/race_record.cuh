/* race_record.cuh - records of what orders, and the state of single threads (race.cu).
 *
 * A record is written once and then hangs in a list: of a warp, of the block, of a word's releases, or of what a thread
 * has observed. */
#ifndef WS_RACE_RECORD_CUH
#define WS_RACE_RECORD_CUH

#include "race_cluster.cuh"

enum { REC_SYNC = 1, REC_ACQUIRE, REC_BARRIER, REC_JOIN, REC_RELEASE, REC_OBSERVED };
enum { REC_AND_NEAR = 1 << 13 }; /* of a RELEASE: see race_fences.cuh */
enum { REC_BY_SC = 1 << 14 };    /* of an ACQUIRE: by a fence.sc */
/* Of a RELEASE, which is done in a later epoch than its fence: all threads of the block executed a fence.sc in that fence's epoch, the first of
 * them before this sub; 0 = they did not, or nobody knows. Bits 14, 15, 21 to 23 of the kind. */
enum { MOST_FENCED_SUB = 31 };

struct record {                  /* struct ws_race_record, by its use */
	/* In the warp's list; JOIN: in the block's; RELEASE: of the word, or UNLINKED; OBSERVED: of the thread. */
	u32 previous;            /* (UNLINKED for a moment in all lists that are in shared memory) */
	u32 kind;                /* kind | lane << 8 | warp << 16 | scope << 24 */
	u32 what;                /* SYNC: lanes; ACQUIRE, OBSERVED: a RELEASE; BARRIER: block's list; JOIN, RELEASE: warp's list */
	u32 full;                /* RELEASE: sub of the last sync of the warp; ACQUIRE, OBSERVED: the word's number */
	/* SYNC, BARRIER: behind it; RELEASE: all before this is covered; OBSERVED: epoch is what block is of ACQUIRE. */
	u32 epoch, sub;
	u32 block, grid;         /* ACQUIRE: block is how many releases the word had by then */
};
#define UNLINKED (~0u)
/* In a RELEASE's block: it is by an operation that the thread has begun (race_remote.cuh), and sub is its number. */
#define AGENT (REMOTE ? 1u << 31 : 0u)

HELPER u32 real_block(u32 block) { return block & ~AGENT; }

HELPER u32 kind_of(const struct record *r) { return r->kind & 255; }
HELPER u32 rec_lane(const struct record *r) { return r->kind >> 8 & 31; }
HELPER u32 rec_warp(const struct record *r) { return r->kind >> 16 & 31; }
HELPER u32 rec_scope(const struct record *r) { return r->kind >> 24; }

HELPER u32 rec_fenced(const struct record *r) { return (r->kind >> 14 & 3) | (r->kind >> 19 & 28); }
HELPER u32 kind_of_fenced(u32 sub) { return (sub & 3) << 14 | (sub & 28) << 19; }

HELPER u64 record_at(u32 number) { return RACE.records + sizeof(struct ws_race_record) * (u64)number; }

HELPER struct record load_record(u32 number)
{
	struct record r;

	asm volatile("ld.volatile.global.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(r.previous), "=r"(r.kind), "=r"(r.what),
		     "=r"(r.full) : "l"(record_at(number)) : "memory");
	asm volatile("ld.volatile.global.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(r.epoch), "=r"(r.sub), "=r"(r.block),
		     "=r"(r.grid) : "l"(record_at(number) + 16) : "memory");
	return r;
}

/* The record before this one in its list: once it is linked to it, or after a while UNLINKED. */
HELPER u32 record_behind(u32 number, const struct record *r)
{
	enum { TRIES = 256 };
	u32 previous = r->previous;

	for (u32 n = 0; n < TRIES && previous == UNLINKED; n++)
		previous = load32(record_at(number));
	return previous;
}

SLOW void __warpsafe_unknown_from_here(u32 warp)
{
	launch_is_incomplete(BLOCK.grid);
	BLOCK.unknown = 1;
	set_flags(warp, NOW_ACQUIRED | NOW_UNKNOWN);
}

HELPER void unknown_from_here(u32 warp) { __warpsafe_unknown_from_here(warp); }

/* A record's number, if it is one. Who has found none asks no more: the count does not wrap. */
HELPER u32 claim_record(void)
{
	return BLOCK.unknown ? 0 : fetch_add32(COUNTS(records), 1) + 1;
}

SLOW void __warpsafe_no_record(void)
{
	launch_is_incomplete(BLOCK.grid);
	BLOCK.unknown = 1;
	count_threads(COUNTS(records_missing));
}

/* false: there is no room. */
HELPER bool is_record(u32 number)
{
	if (__builtin_expect(number && number <= RACE.nrecords, 1))
		return true;
	__warpsafe_no_record();
	return false;
}

HELPER void write_record(u32 number, const struct record *r)
{
	asm volatile("st.volatile.global.v4.u32 [%0], {%1, %2, %3, %4};" : : "l"(record_at(number)), "r"(r->previous),
		     "r"(r->kind), "r"(r->what), "r"(r->full) : "memory");
	asm volatile("st.volatile.global.v4.u32 [%0], {%1, %2, %3, %4};" : : "l"(record_at(number) + 16), "r"(r->epoch),
		     "r"(r->sub), "r"(r->block), "r"(r->grid) : "memory");
}

/* The record's number; 0 = there is no room. */
HELPER u32 new_record(const struct record *r)
{
	u32 number = claim_record();

	if (!is_record(number))
		return 0;
	write_record(number, r);
	return number;
}

/* Puts a record, of which the one before is UNLINKED, on a list in shared memory, and then links it: all lanes of a warp may come at
 * once, and would wait for each other if each compared. Who comes to it from another block, comes by a release of this one. */
HELPER void put(u64 list, u32 number)
{
	fence_block();
	store32(record_at(number), shared_exchange32(list, number));
}

HELPER bool put_on_warp(u32 warp, const struct record *r)
{
	u32 number = new_record(r);

	if (!number) {
		unknown_from_here(warp);
		return false;
	}
	put(IN_SHARED(__warpsafe_block.lists[warp]), number);
	return true;
}

/* ---- a thread's own state, in the slot ----
 * Only the thread itself reads and writes it, so it may lie in the first-level cache. */
struct thread_state {
	u64 fence;               /* epoch << 32 | sub << 3 | scope of the last one; 0 = none. AND_NEAR: see race_fences.cuh */
	u64 released;            /* the word that it released last, if no fence came since: as observed_word, and the bits below */
	u64 observed_word;       /* the word that it looked at last, if no fence came since: key | scope << KEY_SCOPE_AT, and AGAIN */
	u32 looked_what, looked_when;    /* by which access, and in which epoch (epoch_mark) */
	u32 acquired;            /* the release of the last acquire: number << 3 | scope */
	u32 acquired_word;       /* its word */
	u32 acquired_counted;    /* how many releases the word had by then */
	u32 observed;            /* newest OBSERVED record that no fence came behind */
	/* What was observed last, likewise, and has no record: as in one. seen 0 = nothing. */
	u32 seen, seen_word, seen_counted, seen_scope;
	/* Of its asynchronous copies (race_copy.cuh); other threads of the block read the first three. */
	u64 waits[4];            /* the last ones */
	u32 nwaits;
	u32 number;              /* of the next copy */
	u32 ncommits;
	u32 cluster_phase;       /* barriers of the cluster that it has arrived at, where they are no epochs (race_peer.cuh) */
	u32 commits[8];          /* the numbers behind the last groups */
	u64 proxy[2];            /* its last fences of the async proxy: epoch << 32 | sub behind it; other threads read them */
	/* Of its warp's products (race_product.cuh): one of the last 32 waits, by the lane; and of the first lane, how many groups there
	 * are, and how many waits. Other threads read them. */
	union {
		struct { u64 product_wait; u32 products, product_waits; };
		u64 copied[2];   /* in kernels without: see race_meeting.cuh */
	};
	u64 near;                /* see race_fences.cuh, where there are fences of two kinds */
	u64 copied_before;       /* as copied */
};
static_assert(sizeof(struct thread_state) == WS_RACE_THREAD_BYTES, "the host makes room for it");
enum { KEY_SCOPE_AT = 60 };
/* Of n waits, of which the last `most` have a place, the first that is still there: who waits may be about to wait once more, in the place of
 * the oldest. */
HELPER u32 first_wait(u32 n, u32 most) { return n >= most ? n - most + 1 : 0; }
#define AGAIN (1ull << 63)       /* looked at more than once */
#define NOT_ACQUIRED (1ull << 63)        /* it has acquired nothing since */
#define OTHERS_TOO (1ull << 59)          /* that was not the first one since the fence; no address has so many bits */
#define SEVERAL_WORDS (OTHERS_TOO | 1)   /* in place of a word: the last were several, by one write */

/* Where a thread has its state, of which a block's begin at `states`. What the 32 threads of a warp have at one place of it lies side by
 * side, in pieces of 16 bytes: a warp that comes to it moves 512 bytes, not 32 sectors. The first bytes of all threads lie before what all
 * have of copies: in shared memory there is nothing but those. */
enum { PIECE = 16 };
static_assert(__builtin_offsetof(struct thread_state, waits) == WS_RACE_STATE_BYTES, "what is of copies begins there");
HELPER u64 first_piece(u64 states, u32 thread)
{
	return states + (u64)WS_RACE_STATE_BYTES * (thread & ~31u) + PIECE * (thread & 31);
}
#define PIECE_OF(offset) (32 * ((offset) & ~(PIECE - 1)) + ((offset) & (PIECE - 1)))
#define IN_PIECES(first, field) ((first) + PIECE_OF(__builtin_offsetof(struct thread_state, field)))      /* none of copies */
HELPER u64 place_of_thread(u64 states, u32 thread, u32 offset)
{
	u64 first = first_piece(states, thread);

	if (offset < WS_RACE_STATE_BYTES)
		return first + PIECE_OF(offset);
	return first + WS_RACE_STATE_BYTES * WS_RACE_MAX_THREADS +
	       (sizeof(struct thread_state) - 2 * WS_RACE_STATE_BYTES) * (u64)(thread & ~31u) + PIECE_OF(offset - WS_RACE_STATE_BYTES);
}
#define THREAD_IN(states, t, field) place_of_thread(states, t, __builtin_offsetof(struct thread_state, field))
#define THREAD(t, field) THREAD_IN(BLOCK.threads, t, field)

/* Where copies may be of several kinds, their numbers have the kind in their low bits: see race_copy.cuh. */
enum { COPY_STEP = SM90 ? 4 : 1, FIRST_COPY = COPY_STEP };

/* Four words of it that lie together. */
HELPER void own_load_four(u64 address, u32 *a, u32 *b, u32 *c, u32 *d)
{
	asm volatile("ld.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(*a), "=r"(*b), "=r"(*c), "=r"(*d) : "l"(address) : "memory");
}

HELPER void own_store_four(u64 address, u32 a, u32 b, u32 c, u32 d)
{
	asm volatile("st.v4.u32 [%0], {%1, %2, %3, %4};" : : "l"(address), "r"(a), "r"(b), "r"(c), "r"(d) : "memory");
}

HELPER void own_load_two64(u64 address, u64 *a, u64 *b)
{
	asm volatile("ld.v2.u64 {%0, %1}, [%2];" : "=l"(*a), "=l"(*b) : "l"(address) : "memory");
}

HELPER void own_store_two64(u64 address, u64 a, u64 b)
{
	asm volatile("st.v2.u64 [%0], {%1, %2};" : : "l"(address), "l"(a), "l"(b) : "memory");
}

/* The state is made when it is first wanted. */
SLOW void __warpsafe_make_state(u32 thread)
{
	u32 bit = 1u << (thread & 31);

	own_store_two64(THREAD(thread, fence), 0, 0);            /* and released */
	own_store_four(THREAD(thread, acquired), 0, 0, 0, 0);    /* and observed */
	if (SM90 || BLOCK.copies)
		own_store_four(THREAD(thread, nwaits), 0, FIRST_COPY, 0, 0);
	if (!TENSOR && BLOCK.copies) {
		own_store_two64(THREAD(thread, copied), 0, 0);
		own_store64(THREAD(thread, copied_before), 0);
	}
	if (SM90) {
		store64(THREAD(thread, proxy[0]), 0);
		store64(THREAD(thread, proxy[1]), 0);
	}
	if (TENSOR) {
		store32(THREAD(thread, products), 0);
		store32(THREAD(thread, product_waits), 0);
	}
	shared_or32(IN_SHARED(__warpsafe_block.ready[thread >> 5]), bit);
}

HELPER bool has_state(u32 thread)
{
	return BLOCK.ready[thread >> 5] >> (thread & 31) & 1;
}

HELPER void want_state(u32 thread)
{
	if (!has_state(thread))
		__warpsafe_make_state(thread);
}

/* Since its last fence the thread has looked at a word, or observed a release: observed_word and what is beside it, and `seen` have
 * something. Else they are not read, and need not be anything. */
HELPER bool hears(u32 thread) { return BLOCK.heard[thread >> 5] >> (thread & 31) & 1; }

HELPER void will_hear(u32 thread)
{
	shared_or32(IN_SHARED(__warpsafe_block.heard[thread >> 5]), 1u << (thread & 31));
}

HELPER void has_heard(u32 thread)
{
	shared_and32(IN_SHARED(__warpsafe_block.heard[thread >> 5]), ~(1u << (thread & 31)));
}

HELPER bool scope_reaches(u32 scope, bool same_block)
{
	return same_block ? scope >= WS_RACE_STRONG_CTA : scope >= WS_RACE_STRONG_GPU;
}

#endif

/* tm.cu - the transactional runtime of marked sections (include/warpsafe/atomic.h): the engines of include/warpsafe/tm,
 * behind the calls that the pass tm (src/rewrite/tm.c) inserts.
 *
 * A section is run in rounds, as by WS_TX of tm.cuh: enter once; then begin, the section, end, until again says no. What
 * loses an attempt leaves the section at once: no zombie goes on, so end comes right behind the access that lost.
 *
 * With every engine an attempt only ever sees values that were there together, for plain code asks nothing, and a walk
 * through a torn list might not end. istm and block by themselves do not promise it. Here their attempts that wrote are counted
 * before they give their locations back, and give them that count as their version: the time. An attempt knows at what time all it has
 * read was there, and looks again at all of it only when it reads what has changed since then (Dice, Shalev and Shavit 2006, Transactional
 * locking II; the extension: Riegel, Felber and Fetzer 2006): a walk through a list of n nodes looks n times, and not n times n. What
 * istm's attempts write is there before they end, so a read of istm also looks whether its location was locked meanwhile.
 *
 * Why what was read is of one moment, the snapshot: who commits locks what it writes, then draws its time, then unlocks. A word of a
 * version up to the snapshot, unlocked before and after it was read, has not been written by a later commit at that moment, for that one
 * would have it locked or unlocked with its own time; nor is one up to the snapshot wanting, for it had locked the word before the
 * snapshot was taken. Times have 32 bits: no attempt lasts while 2^31 others commit. */
#include "device.cuh"
#include "tm.h"

/* ---- what tm.cuh needs of CUDA's headers ---- */
#define __device__ DEVICE
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))

HELPER u32 atomicCAS(u32 *p, u32 old, u32 value)
{
	u32 was;

	asm volatile("atom.cas.b32 %0, [%1], %2, %3;" : "=r"(was) : "l"(p), "r"(old), "r"(value) : "memory");
	return was;
}

HELPER u64 atomicCAS(u64 *p, u64 old, u64 value)
{
	u64 was;

	asm volatile("atom.cas.b64 %0, [%1], %2, %3;" : "=l"(was) : "l"(p), "l"(old), "l"(value) : "memory");
	return was;
}

HELPER u32 atomicExch(u32 *p, u32 value)
{
	u32 was;

	asm volatile("atom.exch.b32 %0, [%1], %2;" : "=r"(was) : "l"(p), "r"(value) : "memory");
	return was;
}

HELPER u64 atomicExch(u64 *p, u64 value)
{
	u64 was;

	asm volatile("atom.exch.b64 %0, [%1], %2;" : "=l"(was) : "l"(p), "l"(value) : "memory");
	return was;
}

HELPER u32 atomicAdd(u32 *p, u32 value)
{
	u32 was;

	asm volatile("atom.add.u32 %0, [%1], %2;" : "=r"(was) : "l"(p), "r"(value) : "memory");
	return was;
}

HELPER u64 atomicAdd(u64 *p, u64 value)
{
	u64 was;

	asm volatile("atom.add.u64 %0, [%1], %2;" : "=l"(was) : "l"(p), "l"(value) : "memory");
	return was;
}

HELPER u32 atomicAnd(u32 *p, u32 value)
{
	u32 was;

	asm volatile("atom.and.b32 %0, [%1], %2;" : "=r"(was) : "l"(p), "r"(value) : "memory");
	return was;
}

HELPER u64 atomicAnd(u64 *p, u64 value)
{
	u64 was;

	asm volatile("atom.and.b64 %0, [%1], %2;" : "=l"(was) : "l"(p), "l"(value) : "memory");
	return was;
}

HELPER void __threadfence(void) { asm volatile("membar.gl;" : : : "memory"); }
HELPER void __trap(void) { __builtin_trap(); }
HELPER void __nanosleep(u32 ns) { asm volatile("nanosleep.u32 %0;" : : "r"(ns)); }
HELPER int __isGlobal(const void *p)
{
	int is;

	asm("{\n\t.reg .pred is;\n\tisspacep.global is, %1;\n\tselp.s32 %0, 1, 0, is;\n\t}" : "=r"(is) : "l"(p));
	return is;
}
HELPER u32 __float_as_uint(float f) { return __builtin_bit_cast(u32, f); }
HELPER float __uint_as_float(u32 u) { return __builtin_bit_cast(float, u); }
HELPER long long __double_as_longlong(double f) { return __builtin_bit_cast(long long, f); }
HELPER double __longlong_as_double(long long u) { return __builtin_bit_cast(double, u); }

/* What tm.cuh keeps as functions is added to the program by its name. */
#define WS_TX_RARE SLOW
#define WS_TM_ALWAYS_AMONG 1
#define WS_TX_LANES 0                /* the ways out of plain code are any */
#define WS_TM_SPARES 0               /* plain code says of no word that it has a value to spare */
#define ws_tx__nobody_active __warpsafe_tm_nobody_active
#define ws_tx__pop __warpsafe_tm_pop
#define ws_tx__take_block __warpsafe_tm_take_block
#define ws_tx__give_block __warpsafe_tm_give_block
#define ws_tx__claim __warpsafe_tm_claim
#define ws_tx__give_chunks __warpsafe_tm_give_chunks
#define ws_tx__estm_wait __warpsafe_tm_estm_wait
#define ws_tx__unchanged __warpsafe_tm_unchanged
#define ws_tx__versions_are __warpsafe_tm_versions_are
/* An attempt lasts so long that those that wait for one that runs alone must ask seldom: it may be a lane of the same warp (H200, walks through
 * lists of 512: a third of the time). */
#define WS_TX_ASKS_APART 12
#define WS_TX_NAP 4096
#define WS_TX_THREADS ((u64)blocks_x() * blocks_y() * blocks_z() * threads_x() * threads_y() * threads_z())
/* An attempt that has made its writes and still has their locations. */
#define WS_TX_ON_COMMIT(tx) count_ended(tx)
#define WS_TX_NEXT_VERSION(tx, was) next_version(tx, was)
struct ws_tx;
HELPER void count_ended(struct ws_tx *tx);
HELPER u32 next_version(const struct ws_tx *tx, u32 was);
#ifdef WS_TM_BROKEN                  /* tests/tm/tm.mk: a step can be left out */
#include "../../include/warpsafe/tm/handle.h"
extern "C" DEVICE struct ws_tm __warpsafe_tm;
#define WS_TM_BREAK (__warpsafe_tm.patience >> 16)
#define WS_TX_LOOKS ~0u              /* who is not told of a change waits for ever */
#define WS_TX_INNER_WORTH 0          /* inner sections are tried again alone however little came before them, so that few threads do it */
#define WS_TX_ESTM_LOOKS (WS_TM_BREAK == 33 || WS_TM_BREAK == 34 ? 1u : 4096u)
#endif
#ifdef WS_TM_RECORD
#include "tm_record.cuh"
#endif
#include "../../include/warpsafe/tm.cuh"

/* Engines that must look again (as_at_snapshot); istm's attempts are counted when they abort as well. */
HELPER bool looks_again(const struct ws_tx *tx) { return !WS_TM_OPAQUE(ws_tx__engine(tx)); }

/* All that it writes is locked, and for others that see the count. The time is kept where hstm has its own. */
HELPER void draw_time(struct ws_tx *tx)
{
	ws_tx__fence();
	tx->snapshot = 1ull << 32 | (atomicAdd(&tx->tm.words->ended, 1u) + 1);
}

HELPER void count_ended(struct ws_tx *tx)
{
	if (looks_again(tx) && ws_tx__deferred(tx) && tx->filter)
		draw_time(tx);
}

/* One that has drawn no time has written nothing. */
HELPER u32 next_version(const struct ws_tx *tx, u32 was) { return tx->snapshot ? (u32)tx->snapshot : was; }

/* ---- a thread's transaction ---- */
struct thread {
	u64 value[4];
	struct ws_tx tx;
	struct ws_tx_log log;
	u32 ended;                   /* looks_again: the snapshot, a time when all that was read was there */
	u32 wrote;                   /* istm: locations of others' interest were written in this attempt */
	u32 undone;                  /* the program has undone the section, which is gone through once more for that */
};
static_assert(sizeof(struct thread) == WS_TM_THREAD_BYTES, "tm.h");
static_assert(__builtin_offsetof(struct thread, value) == WS_TM_VALUE_AT, "tm.h");
static_assert(__builtin_offsetof(struct thread, tx.id) == WS_TM_ID_AT, "tm.h");
static_assert(__builtin_offsetof(struct thread, tx.state) == WS_TM_STATE_AT, "tm.h");
static_assert((int)WS_TX_PART_LOST == WS_TM_NEXT_LOST && (int)WS_TX_PART_AGAIN == WS_TM_NEXT_AGAIN &&
              (int)WS_TX_PART_UNDONE == WS_TM_NEXT_UNDONE, "tm.h");
static_assert(WS_TX_ACTIVE == WS_TM_STATE_ACTIVE && WS_TX_COMMITTED == WS_TM_STATE_COMMITTED, "tm.h");

/* The pass declares and fills it. */
extern "C" DEVICE struct ws_tm __warpsafe_tm;

/* An attempt takes plain code, whose every access is a call, many times as long as one that is written by calls, so the longest time between
 * attempts is 2^LONGER times as long in small grids. */
enum { LONGER = 4 };

SLOW void __warpsafe_tm_enter(struct thread *t)
{
	if (!t->tx.id) {
		ws_tx_init(&t->tx, &t->log, __warpsafe_tm);
		t->tx.levels += LONGER < WS_TX_MOST - WS_TX_MORE - t->tx.levels ? LONGER : WS_TX_MOST - WS_TX_MORE - t->tx.levels;
	}
#ifdef WS_TM_BROKEN
	t->tx.tm.patience &= 0xffff;
#endif
	ws_tx_enter(&t->tx);
}

/* The same for a section whose code writes nothing but the thread's own variables: with estm it never aborts. The other engines have
 * nothing of the kind, and one that could not take the token might starve there. */
SLOW void __warpsafe_tm_enter_reading(struct thread *t)
{
	__warpsafe_tm_enter(t);
	if (ws_tx__engine(&t->tx) == WS_TM_ESTM)
		t->tx.alone = WS_TX_READS;
}

/* Whether this round is an attempt. */
SLOW u32 __warpsafe_tm_begin(struct thread *t)
{
	t->wrote = 0;
	t->tx.snapshot = 0;
	t->ended = ws_tx__load32(&__warpsafe_tm.words->ended);
	__threadfence();
	return (u32)ws_tx_begin(&t->tx);
}

/* The end of an attempt: takes effect or is undone. A log that the whole heap does not hold leaves no way to go on: plain
 * code does not ask whether its section was done. */
SLOW void __warpsafe_tm_end(struct thread *t)
{
	if (t->wrote)                /* ws_tx_end has a fence between this and what it gives back */
		draw_time(&t->tx);
	/* It keeps what it has read; the thread's own variables are as before. */
	if (t->tx.state == WS_TX_DOOMED && t->tx.why == WS_TM_WAITS && WS_TM_BREAK != 34)
		ws_tx__undo(&t->tx, 0);
	ws_tx_end(&t->tx);
	if (ws_tx_status(&t->tx) == WS_TX_TOO_LARGE)
		__builtin_trap();
	if (t->undone && ws_tx_status(&t->tx) == WS_TX_COMMITTED) {
		t->undone = 0;
		atomicAdd(&ws_tx__stats(&t->tx)->commits, ~0ull);    /* it was counted as cancelled */
	}
}

/* The attempt is to be undone and made again later. */
SLOW void __warpsafe_tm_retry(struct thread *t)
{
	ws_tx_retry(&t->tx);
}

/* Whether there is one more round (enum ws_tm_next; 0: none). A section that the program has undone is gone through once more, in which its begin
 * returns that and it does nothing: as any other section, for the compiler may have moved a read there. */
SLOW u32 __warpsafe_tm_again(struct thread *t)
{
	if (ws_tx_status(&t->tx) != WS_TX_CANCELLED)
		return ws_tx_again(&t->tx) ? WS_TM_NEXT_AGAIN : 0;
	t->undone = 1;
	ws_tx_enter(&t->tx);
	return WS_TM_NEXT_UNDONE;
}

/* ---- parts of a section that are undone alone ---- */
/* These two return how many entries the log has. */
SLOW u32 __warpsafe_tm_inner(struct thread *t)
{
	ws_tx__inner(&t->tx);
	return t->tx.n;
}

SLOW u32 __warpsafe_tm_either(struct thread *t)
{
	ws_tx__either(&t->tx);
	return t->tx.n;
}

SLOW void __warpsafe_tm_inner_done(struct thread *t)
{
	t->tx.inners--;
}

/* An inner section that began with `from` entries has lost, as before in so many tries: enum ws_tm_next. */
SLOW u32 __warpsafe_tm_inner_lost(struct thread *t, u32 from, u32 tries)
{
	u32 next = ws_tx__inner_lost(&t->tx, from, tries);

	if (next == WS_TM_NEXT_LOST)
		t->tx.inners--;
	return next;
}

/* The same for alternatives; tries: the second one. */
SLOW u32 __warpsafe_tm_other(struct thread *t, u32 from, u32 tries)
{
	if (tries)
		return WS_TM_NEXT_LOST;
	ws_tx__either_end(&t->tx, from);
	return ws_tx__other(&t->tx) ? WS_TM_NEXT_UNDONE : WS_TM_NEXT_LOST;
}

/* The innermost section is to be undone. */
SLOW void __warpsafe_tm_abort(struct thread *t)
{
	ws_tx_abort_inner(&t->tx);
}

/* ---- accesses ---- */
/* Where an address is. What is neither global nor shared nor local cannot be written: parameters, constants. */
enum where { GLOBAL, SHARED, LOCAL, FIXED };

HELPER bool is_space(u64 at, enum where space)
{
	u32 is = 0;

	if (space == GLOBAL)
		asm("{ .reg .pred p; isspacep.global p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(is) : "l"(at));
	else if (space == SHARED)
		asm("{ .reg .pred p; isspacep.shared p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(is) : "l"(at));
	else
		asm("{ .reg .pred p; isspacep.local p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(is) : "l"(at));
	return is;
}

HELPER enum where where_is(u64 at)
{
	if (is_space(at, SHARED))
		return SHARED;
	if (is_space(at, LOCAL))
		return LOCAL;
	return is_space(at, GLOBAL) ? GLOBAL : FIXED;
}

/* What shadow entries go by: blocks have shared memory at the same addresses, and do not conflict there (but with deferred update). */
HELPER u64 place(u64 at, enum where where)
{
	u32 block = (block_z() * blocks_y() + block_y()) * blocks_x() + block_x();

	return where == SHARED ? at ^ (u64)(block + 1) << 20 : at;
}

HELPER bool owned(enum where where) { return where == GLOBAL || where == SHARED; }

/* Whether a version is of after the snapshot. */
HELPER bool is_newer(const struct thread *t, u64 version) { return WS_TM_BREAK != 36 && (int)((u32)version - t->ended) > 0; }

/* The same for any of the locations that were read since the log had `from` entries. */
HELPER bool read_newer(const struct thread *t, u32 from)
{
	struct ws_tx_walk w = ws_tx__walk(&t->tx);
	struct ws_tm_entry *e;
	bool newer = false;

	while (w.i > from && (e = ws_tx__older(&t->tx, &w)))
		newer |= ws_tx__kind(e) == WS_TX_SEEN && is_newer(t, e->value);
	return newer;
}

/* Takes a later snapshot, at which all that was read, what came last included, is still there. Returns false when the attempt is doomed. */
SLOW bool __warpsafe_tm_extend(struct thread *t)
{
	u32 now;

	__threadfence();
	now = ws_tx__load32(&t->tx.tm.words->ended);
	__threadfence();
	if (!ws_tx_validate(&t->tx))
		return false;
	t->ended = now;
	return true;
}

/* A word with deferred update. */
HELPER bool fetch_deferred(struct thread *t, u64 at, u32 size, u64 *value)
{
	u32 from = t->tx.n;

	if (!ws_tx__room(&t->tx) || !ws_tx__deferred_read(&t->tx, at, size, value))
		return false;
	return !looks_again(&t->tx) || !read_newer(t, from) || __warpsafe_tm_extend(t);
}

/* A word in memory whose locations were opened to read. With istm another attempt may have locked one since, and what is there now
 * may be a value that never comes to be: the entries must be the same before and after, and nobody else's. */
HELPER bool fetch(struct thread *t, u64 at, u64 place, u32 size, u64 *value)
{
	struct ws_tx *tx = &t->tx;
	const u64 *first = ws_tx__entry(tx, ws_tx__index(tx, ws_tx__granule(tx, place)));
	const u64 *last = ws_tx__entry(tx, ws_tx__index(tx, ws_tx__granule(tx, place + size - 1)));
	u64 one, two;

	if (ws_tx__engine(tx) != WS_TM_ISTM) {
		*value = ws_tx__load(at, size);
		return true;
	}
	one = ws_tx__look64(first);
	two = ws_tx__look64(last);
	*value = ws_tx__load(at, size);
	__threadfence();
	if (((u32)one && (u32)one != tx->id) || ((u32)two && (u32)two != tx->id) ||
	    ws_tx__load64(first) != one || ws_tx__load64(last) != two)
		return ws_tx__doom(tx, WS_TM_READ_CONFLICT);
	return (!is_newer(t, one >> 32) && !is_newer(t, two >> 32)) || __warpsafe_tm_extend(t);
}

HELPER bool read_word(struct thread *t, u64 at, u32 size, enum where where, u64 *value)
{
	if (owned(where) && ws_tx__deferred(&t->tx))
		return fetch_deferred(t, at, size, value);
	if (owned(where) && !ws_tx__open(&t->tx, place(at, where), size, 0))
		return false;
	if (!owned(where)) {
		*value = ws_tx__load(at, size);
		return true;
	}
	if (!fetch(t, at, place(at, where), size, value))
		return false;
	ws_tx__note_word(&t->tx, WS_TX_SEEN, at, size, *value);
	return true;
}

HELPER bool write_word(struct thread *t, u64 at, u32 size, enum where where, u64 value)
{
	if (owned(where) && ws_tx__deferred(&t->tx)) {
		if (!ws_tx__room(&t->tx))
			return false;
		ws_tx__write_later(&t->tx, at, size, value);
		return true;
	}
	if ((owned(where) && !ws_tx__open(&t->tx, place(at, where), size, 1)) || !ws_tx__room(&t->tx))
		return false;
	t->wrote |= ws_tx__engine(&t->tx) == WS_TM_ISTM && owned(where);
	ws_tx__append(&t->tx, ws_tx__where(WS_TX_UNDO, ws_tx__log_size(size), at), ws_tx__load(at, size));
	ws_tx__store(at, size, value);
	return true;
}

/* Accesses of `bytes` (1 to 32, a power of two) at an address that is a multiple of it, to and from t->value. Words of a
 * vector are accessed one by one, the largest that go: no order among them is promised, as of a vector's anyway. */
HELPER void read(struct thread *t, u64 at, u32 bytes, enum where where)
{
	u32 step = bytes < 8 ? bytes : 8;
	bool good = true;

	for (u32 done = 0; done < bytes && good; done += step)
		good = read_word(t, at + done, step, where, &t->value[done / 8]);
}

HELPER void write(struct thread *t, u64 at, u32 bytes, enum where where)
{
	u32 step = bytes < 8 ? bytes : 8;
	bool good = true;

	for (u32 done = 0; done < bytes && good; done += step)
		good = write_word(t, at + done, step, where, t->value[done / 8]);
}

SLOW void __warpsafe_tm_read_global(struct thread *t, u64 at, u32 bytes) { read(t, at, bytes, GLOBAL); }
SLOW void __warpsafe_tm_write_global(struct thread *t, u64 at, u32 bytes) { write(t, at, bytes, GLOBAL); }
SLOW void __warpsafe_tm_read(struct thread *t, u64 at, u32 bytes) { read(t, at, bytes, where_is(at)); }
SLOW void __warpsafe_tm_write(struct thread *t, u64 at, u32 bytes) { write(t, at, bytes, where_is(at)); }

/* ---- memory: what malloc and free become, in a section and outside of one ---- */
SLOW void *__warpsafe_tm_malloc_in(u64 bytes, struct thread *t) { return ws_tx_alloc(&t->tx, bytes); }

SLOW void __warpsafe_tm_free_in(void *p, struct thread *t)
{
	t->wrote |= p && ws_tx__engine(&t->tx) == WS_TM_ISTM;
	ws_tx_free(&t->tx, p);
}

/* Threads of a warp follow each other. */
HELPER u32 group(void) { return thread_x() + thread_y() * threads_x() + block_x(); }

SLOW void *__warpsafe_tm_malloc(u64 bytes)
{
	const struct ws_tm *tm = &__warpsafe_tm;
	u32 block = ws_tx__take_block(tm->pool, tm->units, ws_tx__class(bytes), group());

	if (!block) {
		atomicAdd(&tm->stripes[group() % WS_TM_STRIPES].sum.unallocated, 1ull);
		return 0;
	}
	return (void *)ws_tx__address_of(tm, block);
}

/* Nobody else can use it: the program says so. */
SLOW void __warpsafe_tm_free(void *p)
{
	const struct ws_tm *tm = &__warpsafe_tm;
	u32 class_ = 0, block = p ? ws_tx__block_at(tm, (u64)p, &class_) : 0;

	if (p && !block)
		__builtin_trap();
	if (block)
		ws_tx__give_block(tm->pool, block, class_, group());
}

/* The function that has this local memory returns: what was written there need not be undone, and must not be, for the
 * memory will be others'. */
SLOW void __warpsafe_tm_forget(struct thread *t, u64 from, u64 bytes)
{
	struct ws_tx_walk w = ws_tx__walk(&t->tx);
	struct ws_tm_entry *e;

	while ((e = ws_tx__older(&t->tx, &w)))
		if (ws_tx__kind(e) == WS_TX_UNDO && ws_tx__what(e) - from < bytes) {
			e->where = ws_tx__where(WS_TX_UNDO, 3, (u64)&t->value[0]);
			e->value = 0;
		}
}

/* race_ahead.cuh - reads of a loop that goes on word by word, many at a time: those of words that all blocks have written before
 * they released (race.cu).
 *
 * Reads of a thread are entered in R before W is looked at, so each word takes two trips to memory, one after the other. Those of
 * many words overlap, and what orders them is known before (race_all.cuh), so it is looked for nowhere. */
#ifndef WS_RACE_AHEAD_CUH
#define WS_RACE_AHEAD_CUH

#include "race_global.cuh"

enum { FOURS_AT_ONCE = 4, WORDS_AT_ONCE = 4 * FOURS_AT_ONCE };

struct ahead {
	u64 mine;                /* R of a word of the first site */
	u32 fours;               /* in a round */
	u32 old;                 /* of struct fast */
	/* High words of W: the first one of the launch's first segments, and how many there are. */
	u32 begin, size;
	/* Those of the thread that has released, in all blocks: a multiple of `threads` behind `own`; see is_multiple. */
	u32 threads, own, inverse, bits, most;
	u32 epoch, time;         /* low words of W below these are before: of all threads; of that thread */
};

/* Division without a division: v = odd << bits is a multiple of n = threads if v * (1 / odd part of n), with the low bits turned to
 * the top, is at most (2^32 - 1) / n. */
HELPER void prepare_multiples(struct ahead *a)
{
	u32 odd;

	a->bits = 31 - __builtin_clz(a->threads & -a->threads);
	a->most = ~0u / a->threads;
	odd = a->threads >> a->bits;
	a->inverse = odd;                /* right in the lowest 3 bits, then in twice as many each time */
	for (u32 n = 0; n < 4; n++)
		a->inverse *= 2 - odd * a->inverse;
}

HELPER bool is_multiple(const struct ahead *a, u32 v)
{
	return __builtin_rotateright32(v * a->inverse, a->bits) <= a->most;
}

/* False: it is not known that all blocks have released. */
HELPER bool begin_ahead(struct ahead *a, u32 self, u32 what, u32 site)
{
	struct acquired last = last_acquire(self - self_of(0));
	struct fast f;
	u64 who;

	if (!last.mark || !begin_fast(&f, self) || f.now & NOW_UNKNOWN || BLOCK.copies ||
	    (site & (R_SITES - 1)) > R_SITES - WORDS_AT_ONCE)
		return false;
	who = all_released(last.word, last.counted, last.mark & 7);
	a->mine = (f.now >> SUB_AT << SUB_AT) | (u64)(self & 31) << LANE_AT | WS_RACE_CLASS_OF(what) << R_CLASS_AT | 15 << R_BYTES_AT |
		  (site & (R_SITES - 1));
	a->fours = WS_RACE_FOURS_OF(what);
	a->old = f.old;
	a->begin = BLOCK.lowest << (SEGMENT_AT - 32);
	a->size = BLOCK.range << (SEGMENT_AT - 32);
	a->threads = BLOCK.nwarps * 32;
	a->own = a->begin + (u32)who_thread(who) - a->threads;
	a->epoch = who_epoch(who) << EPOCH_AT;
	a->time = a->epoch | who_sub(who) << SUB_AT;
	prepare_multiples(a);
	return who;
}

/* What stands in W: an access of a thread, which that release covers? */
HELPER bool is_covered(const struct ahead *a, u64 w)
{
	bool before = (u32)w < a->epoch || ((u32)w < a->time && is_multiple(a, high(w) - a->own));

	return high(w) < a->old || (high(w) - a->begin < a->size && before && !is_special(w) && sub_of(w) != SUMMED);
}

/* Each word by the same thread of the block behind, at the same time? */
HELPER bool is_regular(const struct ahead *a, const u64 *w)
{
	u32 differs = 0;

	#pragma unroll
	for (u32 k = 1; k < WORDS_AT_ONCE; k++)
		differs |= ((u32)w[k] ^ (u32)w[0]) | ((high(w[k]) - high(w[0])) ^ k * a->threads);
	return !differs && high(w[WORDS_AT_ONCE - 1]) - a->begin < a->size && high(w[0]) >= a->old && is_covered(a, w[0]);
}

HELPER bool are_covered(const struct ahead *a, const u64 *w)
{
	bool fine = true;

	if (is_regular(a, w))
		return true;
	#pragma unroll
	for (u32 k = 0; k < WORDS_AT_ONCE; k++)
		fine &= is_covered(a, w[k]);
	return fine;
}

/* R of a word of the batch: sites differ in the lowest bits alone (begin_ahead). */
HELPER u64 read_of(const struct ahead *a, u32 k, u32 nth)
{
	return (a->mine & ~(u64)0xffffffff) | ((u32)a->mine + 4 * ((nth + k / 4) & (a->fours - 1)) + k % 4);
}

/* Where some R had something: as it is now. */
HELPER bool enter_again(const struct ahead *a, u64 reads, u32 nth)
{
	#pragma nounroll
	for (u32 k = 0; k < WORDS_AT_ONCE; k++) {
		u64 was = load64(reads + 16 * k), mine = read_of(a, k, nth);

		if ((was ^ mine) >> R_SEVERAL_AT && !(high(was) < a->old && cas64(reads + 16 * k, was, mine) == was))
			return false;
	}
	return true;
}

/* Of reads of four, the first of which is that by number. False: not all of them are plainly in order, or some read could not be
 * entered. What the atomics find is not kept, for there are registers for one trip to memory then. */
HELPER bool read_all_ordered(const struct ahead *a, u64 cells, u32 nth)
{
	u64 w[WORDS_AT_ONCE], any = 0;

	#pragma unroll
	for (u32 k = 0; k < WORDS_AT_ONCE; k++)
		any |= cas64(cells + 16 * k + 8, 0, read_of(a, k, nth));
	if (any && !enter_again(a, cells + 8, nth))      /* W is looked at when all reads are entered */
		return false;
	#pragma unroll
	for (u32 k = 0; k < WORDS_AT_ONCE; k++)
		w[k] = load64(cells + 16 * k);
	return are_covered(a, w);
}

#endif

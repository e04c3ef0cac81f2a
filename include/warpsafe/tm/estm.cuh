/* estm.cuh - engine estm: eager detection of read and write conflicts. A location has any number of readers or one writer.
 * From:
 *
 *   Anup Holey: Transactional execution and data race detection on GPUs, University of Minnesota, 2015, 4.1.2.
 *
 * Shadow entry, 64 bits; all zero when nobody uses the location:
 *
 *    63  62  61              32 31              0
 *   | M | S |     n_reads      |      tid        |
 *
 *   tid      the thread that came first        n_reads  reads that were counted and not given back yet
 *   M        tid has written the location      S        threads besides tid have read it, or wait to read it
 *
 * Read-only sections (WS_TX_READ_ONLY) never abort. One that meets a location that is being written counts itself in as a reader all the
 * same, and then waits for M to go: who writes ends without waiting for anybody, keeps the count when it gives the location back,
 * and no other one can write there before the reader has ended. So there is one writer to wait for at each location, and
 * those that wait never wait for each other. Where lanes of a warp run in step the writer may be stopped behind the reader: after
 * some time the attempt leaves its section (WS_TM_WAITS), keeps all that it has, and goes through it again; all it has read
 * is still there. Only a log that finds no memory makes it give up what it has.
 *
 * Departures: (1) 64 bits instead of 32, for more than 2^15 threads and 2^14 reads. (2) No lock bit: the entry changes by
 * one compare-and-swap of the whole, so that no thread waits for another one of its warp. (3) While S is 0 a thread's
 * own further reads are not counted: all reads are its own, and one that is counted keeps the location. (4) Who could not write what it
 * had read takes it to write when its next attempt reads it (ws_tx__want). (5) Those of pstm.cuh.
 *
 * A conflict is found before the value is read, and locations are kept to the end: opacity, as in pstm.cuh. */
#ifndef WARPSAFE_TM_ESTM_CUH
#define WARPSAFE_TM_ESTM_CUH

#include "log.cuh"

#define WS_TX_ESTM_M (1ull << 63)
#define WS_TX_ESTM_S (1ull << 62)
#define WS_TX_ESTM_READ (1ull << 32)
#define WS_TX_ESTM_READS (WS_TX_ESTM_S - WS_TX_ESTM_READ)

/* How often a reader looks whether the writer has gone before it leaves its section for a round: more than a millisecond. */
#ifndef WS_TX_ESTM_LOOKS
#define WS_TX_ESTM_LOOKS 4096
#endif

/* Waits until the location is not being written. Returns 0 when that takes too long. */
WS_TX_RARE int ws_tx__estm_wait(const unsigned long long *at)
{
	for (unsigned k = 0; k < WS_TX_ESTM_LOOKS; k++) {
		if (!(ws_tx__look64(at) & WS_TX_ESTM_M))
			return 1;
		ws_tx__pause(1);
	}
	return 0;
}

/* The same for a location that this one is counted at. Returns 0 when the attempt leaves its section. */
WS_TX_FN int ws_tx__estm_await(struct ws_tx *tx, const unsigned long long *at)
{
	return WS_TM_BREAK == 32 || ws_tx__estm_wait(at) || ws_tx__doom(tx, WS_TM_WAITS);
}

/* Whether the attempt that was left has counted itself in there. */
WS_TX_FN int ws_tx__estm_counted(const struct ws_tx *tx, unsigned index)
{
	struct ws_tx_walk w = ws_tx__walk(tx);
	struct ws_tm_entry *e;
	int found = 0;

	while (!found && (e = ws_tx__older(tx, &w)))
		found = ws_tx__kind(e) == WS_TX_SEEN && ws_tx__what(e) == index;
	return found;
}

/* Each of these three loops ends when a compare-and-swap succeeds; one fails only because another thread's did not. */

/* Returns 0 at a conflict. The log has room. Its own reads of the location are not counted any more. */
WS_TX_FN int ws_tx__estm_write(struct ws_tx *tx, unsigned long long granule)
{
	unsigned index = ws_tx__index(tx, granule);
	unsigned long long *at = ws_tx__entry(tx, index), old, seen;

	if (ws_tx__is_near(tx, index))
		return 1;
	for (old = ws_tx__load64(at);; old = seen) {
		if ((old & WS_TX_ESTM_M) && (unsigned)old == tx->id)
			return 1;
		if (old && ((unsigned)old != tx->id || (old & WS_TX_ESTM_S)))
			return WS_TM_BREAK == 9 && !(old & WS_TX_ESTM_M) ? 1 : ws_tx__want(tx, index);
		seen = ws_tx__take64(at, old, WS_TX_ESTM_M | tx->id);
		if (seen == old)
			break;
	}
	ws_tx__append(tx, ws_tx__where(WS_TX_HOLD, 0, index), 0);
	ws_tx__note_near(tx, index);
	return 1;
}

/* Returns 0 at a conflict. The log has room. */
WS_TX_FN int ws_tx__estm_read(struct ws_tx *tx, unsigned long long granule)
{
	unsigned index = ws_tx__index(tx, granule);
	unsigned long long *at = ws_tx__entry(tx, index), old, seen;

	if (ws_tx__is_near(tx, index))
		return 1;
	if (tx->kept && ws_tx__estm_counted(tx, index))
		return ws_tx__estm_await(tx, at);
	if (ws_tx__is_wanted(tx, index) && tx->alone != WS_TX_READS)
		return ws_tx__estm_write(tx, granule);
	for (old = ws_tx__load64(at);; old = seen) {
		if ((unsigned)old == tx->id && (old & (WS_TX_ESTM_M | WS_TX_ESTM_S)) != WS_TX_ESTM_S)
			return 1;
		if ((old & WS_TX_ESTM_M) && tx->alone != WS_TX_READS)
			return WS_TM_BREAK == 8;
		seen = ws_tx__take64(at, old, !old ? tx->id | WS_TX_ESTM_READ : (old + WS_TX_ESTM_READ) | WS_TX_ESTM_S);
		if (seen == old)
			break;
	}
	ws_tx__append(tx, ws_tx__where(WS_TX_SEEN, 0, index), 0);
	return !(old & WS_TX_ESTM_M) || ws_tx__estm_await(tx, at);
}

/* The entry with one read less. */
WS_TX_FN unsigned long long ws_tx__estm_less(unsigned long long old)
{
	if ((old & WS_TX_ESTM_READS) != WS_TX_ESTM_READ)
		return old - WS_TX_ESTM_READ;
	return old & WS_TX_ESTM_M ? (old - WS_TX_ESTM_READ) & ~WS_TX_ESTM_S : 0;
}

/* Gives one counted read back. One of a location that was written as well goes with the write. */
WS_TX_FN void ws_tx__estm_unread(const struct ws_tx *tx, unsigned long long *at)
{
	unsigned long long old = ws_tx__load64(at), seen;

	for (; !(old & WS_TX_ESTM_M) || (unsigned)old != tx->id; old = seen) {
		seen = atomicCAS(at, old, ws_tx__estm_less(old));
		if (seen == old)
			return;
	}
}

/* Reads first: afterwards an entry that was written may be another thread's already. Of one that was written the readers that wait
 * stay counted. The caller has put a fence before. */
WS_TX_FN void ws_tx__estm_release(struct ws_tx *tx)
{
	struct ws_tx_walk w = ws_tx__walk(tx);
	struct ws_tm_entry *e;

	while ((e = ws_tx__older(tx, &w)))
		if (ws_tx__kind(e) == WS_TX_SEEN)
			ws_tx__estm_unread(tx, ws_tx__entry(tx, (unsigned)ws_tx__what(e)));
	w = ws_tx__walk(tx);
	while ((e = ws_tx__older(tx, &w)))
		if (ws_tx__kind(e) == WS_TX_HOLD)
			atomicAnd(ws_tx__entry(tx, (unsigned)ws_tx__what(e)),
			          WS_TX_ESTM_S | WS_TX_ESTM_READS);
}

#endif

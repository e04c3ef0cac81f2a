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
 *   M        tid has written the location      S        threads besides tid have read it
 *
 * Departures: (1) 64 bits instead of 32, for more than 2^15 threads and 2^14 reads. (2) No lock bit: the entry changes by
 * one compare-and-swap of the whole, so that no thread waits for another one of its warp. (3) While S is 0 a thread's
 * own further reads are not counted: all reads are its own, and one that is counted keeps the location. (4) Those of pstm.cuh.
 *
 * A conflict is found before the value is read, and locations are kept to the end: opacity, as in pstm.cuh. */
#ifndef WARPSAFE_TM_ESTM_CUH
#define WARPSAFE_TM_ESTM_CUH

#include "log.cuh"

#define WS_TX_ESTM_M (1ull << 63)
#define WS_TX_ESTM_S (1ull << 62)
#define WS_TX_ESTM_READ (1ull << 32)
#define WS_TX_ESTM_READS (WS_TX_ESTM_S - WS_TX_ESTM_READ)

/* Each of these three loops ends when a compare-and-swap succeeds; one fails only because another thread's did not. */

/* Returns 0 at a conflict. The log has room. */
WS_TX_FN int ws_tx__estm_read(struct ws_tx *tx, unsigned long long granule)
{
	unsigned index = ws_tx__index(tx, granule), mine;
	unsigned long long *at = ws_tx__entry(tx, index), old, seen;

	if (ws_tx__is_near(tx, index))
		return 1;
	for (old = ws_tx__load64(at);; old = seen) {
		mine = (unsigned)old == tx->id;
		if (mine && !(old & WS_TX_ESTM_S))
			return 1;
		if (old & WS_TX_ESTM_M)
			return WS_TM_BREAK == 8;
		seen = ws_tx__take64(at, old, !old ? tx->id | WS_TX_ESTM_READ : (old + WS_TX_ESTM_READ) | WS_TX_ESTM_S);
		if (seen == old)
			break;
	}
	ws_tx__append(tx, ws_tx__where(WS_TX_SEEN, 0, index), 0);
	return 1;
}

/* Returns 0 at a conflict. The log has room. */
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
			return WS_TM_BREAK == 9 && !(old & WS_TX_ESTM_M);
		seen = ws_tx__take64(at, old, ((old & WS_TX_ESTM_READS) | WS_TX_ESTM_M) + tx->id);
		if (seen == old)
			break;
	}
	ws_tx__append(tx, ws_tx__where(WS_TX_HOLD, 0, index), 0);
	ws_tx__note_near(tx, index);
	return 1;
}

/* Gives one counted read back. One of a location that was written as well goes with the write. */
WS_TX_FN void ws_tx__estm_unread(unsigned long long *at)
{
	unsigned long long old = ws_tx__load64(at), seen;

	for (; !(old & WS_TX_ESTM_M); old = seen) {
		seen = atomicCAS(at, old, (old & WS_TX_ESTM_READS) == WS_TX_ESTM_READ ? 0 : old - WS_TX_ESTM_READ);
		if (seen == old)
			return;
	}
}

/* Reads first: afterwards an entry that was written may be another thread's already. The caller has put a fence before. */
WS_TX_FN void ws_tx__estm_release(struct ws_tx *tx)
{
	struct ws_tx_walk w = ws_tx__walk(tx);
	struct ws_tm_entry *e;

	while ((e = ws_tx__older(tx, &w)))
		if (ws_tx__kind(e) == WS_TX_SEEN)
			ws_tx__estm_unread(ws_tx__entry(tx, (unsigned)ws_tx__what(e)));
	w = ws_tx__walk(tx);
	while ((e = ws_tx__older(tx, &w)))
		if (ws_tx__kind(e) == WS_TX_HOLD)
			ws_tx__store64(ws_tx__entry(tx, (unsigned)ws_tx__what(e)), 0);
}

#endif

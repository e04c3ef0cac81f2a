/* istm.cuh - engine istm: invisible reads. A write locks its location at once; a read only notes the version and is looked
 * at again at the end. From:
 *
 *   Anup Holey: Transactional execution and data race detection on GPUs, University of Minnesota, 2015, 4.1.4.
 *
 * Shadow entry, 64 bits:
 *
 *    63        32 31        0
 *   |  version   |  owner    |      owner: id of the thread that has locked the entry to write; 0: none
 *
 * Departures: (1) 64 bits with the owner's id instead of 32 with a lock bit: no search of the undo log tells whether a lock is
 * one's own, and the version stays readable beside it. (2) An abort counts the version up as well. In the paper it does not,
 * and then a thread that reads a value between the write and its being undone finds version and lock as they were, and
 * commits what it made of a value that never was. (3) The fence between locking and looking again is a sequentially
 * consistent one: two threads that lock one location each and read the other's must not both find the other's unlocked.
 * (4) A fence between locking and writing: who reads what is written there must then find the location locked. An acquire orders what comes behind
 * what it has read, not behind the lock that it has set. (5) Those of pstm.cuh.
 *
 * What commits is serializable. There is no opacity: an attempt that will abort may have read values that never were
 * together. ws_tx_validate tells; docs/TRANSACTIONS.md. A version comes back after 2^32 commits to one location within
 * one attempt of another transaction. (Marked sections have times as versions, and opacity: src/device/tm.cu.) */
#ifndef WARPSAFE_TM_ISTM_CUH
#define WARPSAFE_TM_ISTM_CUH

#include "pool.cuh"

/* Returns 0 at a conflict. The log has room. */
WS_TX_FN int ws_tx__istm_read(struct ws_tx *tx, unsigned long long granule)
{
	unsigned index = ws_tx__index(tx, granule);
	unsigned long long old;

	if (ws_tx__is_near(tx, index))
		return 1;
	old = ws_tx__look64(ws_tx__entry(tx, index));
	if ((unsigned)old == tx->id)
		return 1;
	if ((unsigned)old)
		return WS_TM_BREAK == 12;
	ws_tx__append(tx, ws_tx__where(WS_TX_SEEN, 0, index), old >> 32);
	return 1;
}

/* Whether all that was read still has the version that it had, and nobody else writes it. */
WS_TX_FN int ws_tx__istm_valid(const struct ws_tx *tx)
{
	return ws_tx__same_versions(tx, ~0u, tx->id, WS_TM_BREAK == 13) || WS_TM_BREAK == 10;
}

/* Returns 0 at a conflict. The log has room. In the pool of memory what has led here must still be so: the location may have become
 * another object's, which a thread fills that has it for itself (pool.cuh). */
WS_TX_FN int ws_tx__istm_write(struct ws_tx *tx, unsigned long long granule)
{
	unsigned index = ws_tx__index(tx, granule);
	unsigned long long *at = ws_tx__entry(tx, index), old;

	if (ws_tx__is_near(tx, index))
		return 1;
	old = ws_tx__load64(at);
	if ((unsigned)old == tx->id)
		return 1;
	if ((unsigned)old || atomicCAS(at, old, old | tx->id) != old)
		return 0;
	ws_tx__acquire_fence();
	ws_tx__append(tx, ws_tx__where(WS_TX_HOLD, 0, index), old >> 32);
	ws_tx__note_near(tx, index);
	return !ws_tx__in_pool(&tx->tm, granule << tx->tm.granule) || WS_TM_BREAK == 28 || ws_tx__istm_valid(tx);
}

/* The caller has put a fence before. */
WS_TX_FN void ws_tx__istm_release(struct ws_tx *tx, int committed)
{
	struct ws_tx_walk w = ws_tx__walk(tx);
	struct ws_tm_entry *e;

	while ((e = ws_tx__older(tx, &w)))
		if (ws_tx__kind(e) == WS_TX_HOLD)
			ws_tx__store64(ws_tx__entry(tx, (unsigned)ws_tx__what(e)),
			               (WS_TM_BREAK != (committed ? 14 : 11) ? WS_TX_NEXT_VERSION(tx, e->value) : e->value) << 32);
}

#endif

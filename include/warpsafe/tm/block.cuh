/* block.cuh - engines block and block-pessimistic: deferred update, a version and a lock for each location, found by a hash of its
 * address. From:
 *
 *   Sheraz Chaudhry: Software transactional memory on CUDA, 2009, 6 and 6.2 (lockAndVersion), the two kinds of concurrency
 *   control that its tables 1 and 2 compare.
 *
 * Shadow entry, 64 bits:
 *
 *    63        32 31        0
 *   |  version   |   lock    |      lock: 0, or WRITING and the id of who commits; block-pessimistic also: number of readers
 *
 *   read      from the own log, or from memory. block: while nobody writes the location and its version stays (6, "storing
 *             version number of lock"). block-pessimistic: under a read lock, held for as long as the read takes (6, "lock value
 *             is zero or greater than zero and increasing it by 1")
 *   commit    locks what was written, with block-pessimistic also what was read (6, "all the data items go into write lock");
 *             one entry that stands for several locations is locked once (6.2.1, duplicate lock check). Then all versions
 *             must be those that were read. Writes back, and counts up the versions of what was written
 *
 * Nobody waits for a lock: the attempt aborts (6, "the transaction which fails to acquire a lock ... should be restarted").
 *
 * Departures: (1) The lock says whose it is. So the duplicate check is one comparison and always made; without it (the paper's
 * default) a transaction with two locations of one lock would never commit. (2) Locked to write, a word that is to be
 * read without its lock is looked at after a sequentially consistent fence, as in istm.cuh. (3) One log for reads, writes and
 * locks (log.cuh) instead of arrays of a fixed size. (4) With block-pessimistic the version of what was only read does not
 * count up at a commit: nobody's read has become wrong. (5) With block-pessimistic, who
 * did not get a lock takes it when its next attempt reads there (ws_tx__want): at its commit others are all the time reading there.
 *
 * What commits is serializable. There is no opacity, as with istm. The lock has 31 bits of an id: two transactions whose
 * ids are 2^31 apart and that run at the same time would be taken for one. A transaction by warp or thread block, and the paper's
 * own calls: tm_group.cuh, tm_block.cuh. */
#ifndef WARPSAFE_TM_BLOCK_CUH
#define WARPSAFE_TM_BLOCK_CUH

#include "redo.cuh"

#define WS_TX_BLOCK_WRITING 0x80000000u

WS_TX_FN unsigned ws_tx__block_own(const struct ws_tx *tx) { return WS_TX_BLOCK_WRITING | tx->id; }

/* ---- locks ---- */

/* Locks one entry, once; `written`: its version is to count up. Returns 0 when the attempt is doomed. */
WS_TX_FN int ws_tx__block_lock(struct ws_tx *tx, unsigned index, unsigned written)
{
	unsigned long long *entry = ws_tx__entry(tx, index), old;

	if (!ws_tx__reserve(tx))
		return ws_tx__doom(tx, ws_tx__no_room(tx));
	old = ws_tx__load64(entry);
	if ((unsigned)old == ws_tx__block_own(tx))
		return 1;
	if ((unsigned)old || ws_tx__take64(entry, old, old | ws_tx__block_own(tx)) != old)
		return WS_TM_BREAK == 22 || ws_tx__want(tx, index) || ws_tx__doom(tx, WS_TM_WRITE_CONFLICT);
	ws_tx__append(tx, ws_tx__where(WS_TX_HOLD, written, index), old >> 32);
	return 1;
}

/* ---- reads: open, the copy, close ---- */

/* A read lock for block-pessimistic. The loop ends when a compare-and-swap succeeds; one fails only because another
 * thread's did not. Returns the entry as it was; with WRITING there is no lock. */
WS_TX_FN unsigned long long ws_tx__block_share(unsigned long long *entry)
{
	unsigned long long old = ws_tx__load64(entry), seen;

	for (; !((unsigned)old & WS_TX_BLOCK_WRITING); old = seen) {
		seen = ws_tx__take64(entry, old, old + 1);
		if (seen == old)
			break;
	}
	return old;
}

/* One granule is going to be read. Returns 0 when the attempt is doomed. A size in the entry of what was seen: it is locked to write. */
WS_TX_FN int ws_tx__block_open(struct ws_tx *tx, unsigned long long granule, int pessimistic)
{
	unsigned index = ws_tx__index(tx, granule);
	unsigned long long *entry = ws_tx__entry(tx, index), old;
	unsigned own;

	if (pessimistic && ws_tx__is_wanted(tx, index) && !ws_tx__block_lock(tx, index, 1))
		return 0;
	if (!ws_tx__reserve(tx))
		return ws_tx__doom(tx, ws_tx__no_room(tx));
	old = pessimistic ? ws_tx__block_share(entry) : ws_tx__look64(entry);
	own = (unsigned)old == ws_tx__block_own(tx);
	if (((unsigned)old & WS_TX_BLOCK_WRITING) && !own)
		return ws_tx__doom(tx, WS_TM_READ_CONFLICT);
	ws_tx__append(tx, ws_tx__where(WS_TX_SEEN, own, index), old >> 32);
	return 1;
}

WS_TX_FN int ws_tx__block_open_all(struct ws_tx *tx, unsigned long long at, unsigned size, int pessimistic)
{
	unsigned long long g = ws_tx__granule(tx, at), last = ws_tx__granule(tx, at + size - 1);
	int good = 1;

	for (; good && g <= last; g++)
		good = ws_tx__block_open(tx, g, pessimistic);
	return good;
}

/* What was opened since the log had `from` entries has been read. Returns 0 when the attempt is doomed. */
WS_TX_FN int ws_tx__block_close(struct ws_tx *tx, unsigned from, int pessimistic)
{
	struct ws_tx_walk w = ws_tx__walk(tx);
	struct ws_tm_entry *e;
	int same = 1;

	ws_tx__fence();
	while (w.i > from && (e = ws_tx__older(tx, &w)))
		if (pessimistic && ws_tx__kind(e) == WS_TX_SEEN && ws_tx__size(e) == 1)
			atomicAdd(ws_tx__entry(tx, (unsigned)ws_tx__what(e)), ~0ull);
		else if (!pessimistic)
			same &= ws_tx__load64(ws_tx__entry(tx, (unsigned)ws_tx__what(e))) == e->value << 32;
	if (!same && tx->state == WS_TX_ACTIVE)
		ws_tx__doom(tx, WS_TM_READ_CONFLICT);
	return tx->state == WS_TX_ACTIVE;
}

/* The word at `at` as it is in memory. Returns 0 when the attempt is doomed. */
WS_TX_FN int ws_tx__block_fetch(struct ws_tx *tx, unsigned long long at, unsigned size, unsigned long long *value,
                                int pessimistic)
{
	unsigned from = tx->n;

	if (ws_tx__block_open_all(tx, at, size, pessimistic))
		*value = ws_tx__load(at, size);
	return ws_tx__block_close(tx, from, pessimistic);
}

/* ---- the end ---- */

WS_TX_FN int ws_tx__block_lock_range(struct ws_tx *tx, unsigned long long at, unsigned size)
{
	unsigned long long g = ws_tx__granule(tx, at), last = ws_tx__granule(tx, at + size - 1);
	int good = 1;

	for (; good && g <= last; g++)
		good = ws_tx__block_lock(tx, ws_tx__index(tx, g), 1);
	return good;
}

/* What was written first, for an entry is locked once and then known as written. */
WS_TX_FN int ws_tx__block_lock_all(struct ws_tx *tx, int pessimistic)
{
	struct ws_tx_walk w = ws_tx__walk(tx);
	struct ws_tm_entry *e;
	int good = 1;

	while (good && (e = ws_tx__older(tx, &w)))
		if (ws_tx__kind(e) == WS_TX_REDO)
			good = ws_tx__block_lock_range(tx, ws_tx__what(e), ws_tx__size(e));
	if (!pessimistic)
		return good;
	for (w = ws_tx__walk(tx); good && (e = ws_tx__older(tx, &w));)
		if (ws_tx__kind(e) == WS_TX_SEEN)
			good = ws_tx__block_lock(tx, (unsigned)ws_tx__what(e), 0);
	return good;
}

/* Whether all that was read still has the version that it had, and nobody else writes it. */
WS_TX_FN int ws_tx__block_valid(const struct ws_tx *tx)
{
	return ws_tx__same_versions(tx, WS_TX_BLOCK_WRITING, ws_tx__block_own(tx), WS_TM_BREAK == 21) || WS_TM_BREAK == 23;
}

/* Locks, and looks whether what was read is as it was. Returns 0 when the attempt is doomed. */
WS_TX_FN int ws_tx__block_prepare(struct ws_tx *tx, int pessimistic)
{
	if (!ws_tx__block_lock_all(tx, pessimistic))
		return 0;
	return ws_tx__block_valid(tx) || ws_tx__doom(tx, WS_TM_INVALID);
}

WS_TX_FN int ws_tx__block_commit(struct ws_tx *tx, int pessimistic)
{
	if (!ws_tx__block_prepare(tx, pessimistic))
		return 0;
	ws_tx__write_back(tx);
	return 1;
}

/* The caller has put a fence before. */
WS_TX_FN void ws_tx__block_release(struct ws_tx *tx, int committed)
{
	struct ws_tx_walk w = ws_tx__walk(tx);
	struct ws_tm_entry *e;

	while ((e = ws_tx__older(tx, &w)))
		if (ws_tx__kind(e) == WS_TX_HOLD)
			ws_tx__store64(ws_tx__entry(tx, (unsigned)ws_tx__what(e)),
			               (committed && ws_tx__size(e) > 1 && WS_TM_BREAK != 24 ? WS_TX_NEXT_VERSION(tx, e->value) : e->value) << 32);
}

#endif

/* hstm.cuh - engine hstm: writes are kept back to the end (deferred update), reads leave no trace and are validated by time
 * stamp first and by value where that does not decide. As described in:
 *
 *   Anup Holey: Transactional execution and data race detection on GPUs, University of Minnesota, 2015, 4.4 (HSTM; the
 *   original is by Xu et al.), with the clock and the extension of a snapshot of time-based transactions.
 *
 * Shadow entry, 64 bits: the time of the last commit that wrote the location; while one is being made, LOCKED and the id
 * of who makes it. The clock counts commits that wrote.
 *
 *   read      from the own log, or from memory while the entry is unlocked and stays as it is. Is its time later than the
 *             snapshot, all that was read so far must still be there at a new snapshot
 *   commit    locks the entries of what was written, draws a time, validates what was read, writes back, gives the entries
 *             that time. Nobody waits for a lock: the attempt aborts
 *
 * Why what is validated at time `now` was there together: a commit of a time up to `now` locked its entries before the
 * clock was read, so each entry is either locked yet (refused), or shows that commit's value and time; and one of a later time
 * shows by its stamp (refused). So unlocked, not later than `now` and of the same value means: the value at `now`.
 *
 * Every read sees the state at the snapshot: opacity. A transaction that only reads locks nothing, and needs no validation
 * at its end. An aborted attempt has written nothing.
 *
 * Departures: (1) one lock table for all sizes of words (log.cuh). (2) Validation by value is not a second attempt at the same
 * stamp but bound to a time, as above. */
#ifndef WARPSAFE_TM_HSTM_CUH
#define WARPSAFE_TM_HSTM_CUH

#include "pool.cuh"
#include "redo.cuh"

#define WS_TX_HSTM_LOCKED (1ull << 63)

WS_TX_FN unsigned long long *ws_tx__hstm_entry(const struct ws_tx *tx, unsigned long long at)
{
	return ws_tx__entry(tx, ws_tx__index(tx, ws_tx__granule(tx, at)));
}

/* ---- validation ---- */

WS_TX_FN int ws_tx__hstm_locked_by_other(const struct ws_tx *tx, unsigned long long stamp)
{
	return (stamp & WS_TX_HSTM_LOCKED) && stamp != (WS_TX_HSTM_LOCKED | tx->id);
}

/* Entries of the granules of a word: of the first and of the last byte (granules have 4 bytes or more). */
struct ws_tx_stamps { unsigned long long first, last; };

WS_TX_FN struct ws_tx_stamps ws_tx__hstm_stamps(const struct ws_tx *tx, unsigned long long at, unsigned size)
{
	struct ws_tx_stamps s;

	s.first = ws_tx__look64(ws_tx__hstm_entry(tx, at));
	s.last = size > 4 ? ws_tx__look64(ws_tx__hstm_entry(tx, at + size - 1)) : s.first;
	return s;
}

/* Whether an unlocked entry is of a time up to `time`; so is one that this transaction has locked, if `mine`. */
WS_TX_FN int ws_tx__hstm_until(const struct ws_tx *tx, struct ws_tx_stamps s, unsigned long long time, int mine)
{
	unsigned long long own = WS_TX_HSTM_LOCKED | tx->id;

	return (s.first <= time || (mine && s.first == own)) && (s.last <= time || (mine && s.last == own));
}

/* Whether one word that was read at the snapshot has the same value at `time`: by the stamp, else by the value. */
WS_TX_FN int ws_tx__hstm_same(const struct ws_tx *tx, const struct ws_tm_entry *e, unsigned long long time)
{
	unsigned long long at = ws_tx__what(e), value;
	unsigned size = ws_tx__size(e);
	struct ws_tx_stamps s = ws_tx__hstm_stamps(tx, at, size), again;

	if (ws_tx__hstm_until(tx, s, tx->snapshot, 0))
		return 1;
	if (!ws_tx__hstm_until(tx, s, time, 1))
		return WS_TM_BREAK == 17;
	value = ws_tx__load_first(at, size);
	again = ws_tx__hstm_stamps(tx, at, size);
	return value == e->value && again.first == s.first && again.last == s.last;
}

/* The same for all that was read. */
WS_TX_FN int ws_tx__hstm_valid(const struct ws_tx *tx, unsigned long long time)
{
	struct ws_tx_walk w = ws_tx__walk(tx);
	struct ws_tm_entry *e;
	int valid = 1;

	while (valid && (e = ws_tx__older(tx, &w)))
		if (ws_tx__kind(e) == WS_TX_SEEN)
			valid = ws_tx__hstm_same(tx, e, time);
	return valid;
}

/* Whether nothing that was read has been written since the snapshot. What has the same value may have had another one in between. */
WS_TX_FN int ws_tx__hstm_unwritten(const struct ws_tx *tx) { return ws_tx__hstm_valid(tx, tx->snapshot); }

/* ---- verbs ---- */

WS_TX_FN void ws_tx__hstm_start(struct ws_tx *tx)
{
	tx->snapshot = ws_tx__load64(&tx->tm.words->clock);
	ws_tx__acquire_fence();
}

/* All that was read, moved to a later snapshot. */
WS_TX_FN int ws_tx__hstm_extend(struct ws_tx *tx)
{
	unsigned long long now = ws_tx__load64(&tx->tm.words->clock);

	ws_tx__fence();
	if (!ws_tx__hstm_valid(tx, now))
		return 0;
	tx->snapshot = now;
	return 1;
}

/* The word at `at` as it is in memory at the snapshot. The log has room. Returns 0 when there is none, and the attempt
 * is doomed. */
WS_TX_FN int ws_tx__hstm_fetch(struct ws_tx *tx, unsigned long long at, unsigned size, unsigned long long *value)
{
	struct ws_tx_stamps s = ws_tx__hstm_stamps(tx, at, size), again;

	*value = ws_tx__load_first(at, size);
	again = ws_tx__hstm_stamps(tx, at, size);
	if ((s.first | s.last) & WS_TX_HSTM_LOCKED || again.first != s.first || again.last != s.last)
		return WS_TM_BREAK == 20 || ws_tx__doom(tx, WS_TM_READ_CONFLICT);
	ws_tx__append(tx, ws_tx__where(WS_TX_SEEN, ws_tx__log_size(size), at), *value);
	if (ws_tx__hstm_until(tx, s, tx->snapshot, 0) || WS_TM_BREAK == 15 || ws_tx__hstm_extend(tx))
		return 1;
	return ws_tx__doom(tx, WS_TM_INVALID);
}

/* Locks the entry of one location, once. Returns 0 when the attempt is doomed. */
WS_TX_FN int ws_tx__hstm_lock(struct ws_tx *tx, unsigned long long at)
{
	unsigned long long *entry = ws_tx__hstm_entry(tx, at), old, own = WS_TX_HSTM_LOCKED | tx->id;

	if (!ws_tx__reserve(tx))
		return ws_tx__doom(tx, ws_tx__no_room(tx));
	old = ws_tx__load64(entry);
	if (old == own)
		return 1;
	if ((old & WS_TX_HSTM_LOCKED) || atomicCAS(entry, old, own) != old)
		return ws_tx__doom(tx, WS_TM_WRITE_CONFLICT);
	ws_tx__append(tx, ws_tx__where(WS_TX_HOLD, 0, (unsigned long long)(entry - ws_tx__entry(tx, 0))), old);
	return 1;
}

WS_TX_FN int ws_tx__hstm_lock_all(struct ws_tx *tx)
{
	struct ws_tx_walk w = ws_tx__walk(tx);
	struct ws_tm_entry *e;
	int ok = 1;

	while (ok && (e = ws_tx__older(tx, &w)))
		if (ws_tx__kind(e) == WS_TX_REDO)
			ok = ws_tx__hstm_lock(tx, ws_tx__what(e)) &&
			     (ws_tx__size(e) <= 4 || ws_tx__hstm_lock(tx, ws_tx__what(e) + 4));
	return ok;
}

/* Returns 0 when the attempt is doomed. */
WS_TX_FN int ws_tx__hstm_commit(struct ws_tx *tx)
{
	unsigned long long time;

	if (!tx->filter)
		return 1;
	if (!ws_tx__hstm_lock_all(tx))
		return 0;
	ws_tx__fence();
	time = atomicAdd(&tx->tm.words->clock, 1ull) + 1;
	ws_tx__fence();
	if (time != tx->snapshot + 1 && WS_TM_BREAK != 16 && !ws_tx__hstm_valid(tx, time))
		return ws_tx__doom(tx, WS_TM_INVALID);
	if (!ws_tx__same_classes(tx))           /* given back meanwhile, and allocated anew where it was */
		return ws_tx__doom(tx, WS_TM_INVALID);
	tx->snapshot = time;
	ws_tx__write_back(tx);
	return 1;
}

/* The caller has put a fence before. */
WS_TX_FN void ws_tx__hstm_release(struct ws_tx *tx, int committed)
{
	struct ws_tx_walk w = ws_tx__walk(tx);
	struct ws_tm_entry *e;

	while ((e = ws_tx__older(tx, &w)))
		if (ws_tx__kind(e) == WS_TX_HOLD)
			ws_tx__store64(ws_tx__entry(tx, (unsigned)ws_tx__what(e)),
			               committed && WS_TM_BREAK != 18 ? tx->snapshot : e->value);
}

#endif

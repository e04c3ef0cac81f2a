/* redo.cuh - writes that are kept back to the end (deferred update), for the engines that do so: hstm, block, block-pessimistic.
 *
 * Words of different sizes may overlap: those in the log agree about the bytes that they share, so it is the same in which
 * order they are written back, and each is by its own size. */
#ifndef WARPSAFE_TM_REDO_CUH
#define WARPSAFE_TM_REDO_CUH

#include "log.cuh"

/* Where a word lies in the 8 aligned bytes around it, as bits of those that it has. */
WS_TX_FN unsigned long long ws_tx__bits(unsigned long long at, unsigned size)
{
	return (~0ull >> (64 - 8 * size)) << 8 * (at & 7);
}

/* A bit by the 8 bytes around an address: where the filter has it not, there is nothing to be found in the log. */
WS_TX_FN unsigned long long ws_tx__filter_bit(unsigned long long at)
{
	return 1ull << ((unsigned)(at >> 3) * 0x9e3779b1u >> 26);
}

/* Of the bits of the 8 bytes around `at`, those that an entry of the log has written. */
WS_TX_FN unsigned long long ws_tx__written(const struct ws_tm_entry *e, unsigned long long at)
{
	if (ws_tx__kind(e) != WS_TX_REDO || (ws_tx__what(e) ^ at) >> 3 || WS_TM_BREAK == 19)
		return 0;
	return ws_tx__bits(ws_tx__what(e), ws_tx__size(e));
}

/* The bits of `want` of the 8 bytes around `at` that this transaction has written; *value: what. */
WS_TX_FN unsigned long long ws_tx__own_bits(const struct ws_tx *tx, unsigned long long at, unsigned long long want,
                                            unsigned long long *value)
{
	struct ws_tx_walk w = ws_tx__walk(tx);
	unsigned long long have = 0, bits;
	struct ws_tm_entry *e;

	*value = 0;
	if (!(tx->filter & ws_tx__filter_bit(at)))
		return 0;
	while (have != want && (e = ws_tx__older(tx, &w)))
		if ((bits = ws_tx__written(e, at) & want & ~have)) {
			*value = (*value & ~bits) | (e->value << 8 * (ws_tx__what(e) & 7) & bits);
			have |= bits;
		}
	return have;
}

/* Writes bits of the 8 bytes around `at` to all entries of the log that have them. Whether one is of this very word. Entries
 * from before a part that can be undone alone stay as they are, for they may be wanted again. */
WS_TX_FN int ws_tx__patch(struct ws_tx *tx, unsigned long long at, unsigned long long mine, unsigned long long value)
{
	struct ws_tx_walk w = ws_tx__walk(tx);
	unsigned long long bits;
	struct ws_tm_entry *e;
	int found = 0;

	while ((e = ws_tx__older(tx, &w)))
		if ((bits = ws_tx__written(e, at)) && w.i < tx->base) {
			tx->layers |= (bits & mine) != 0;
		} else if (bits) {
			unsigned shift = 8 * (ws_tx__what(e) & 7);

			e->value = (e->value & ~((bits & mine) >> shift)) | (value & bits & mine) >> shift;
			found |= bits == mine;
		}
	return found;
}

/* The log has room. */
WS_TX_FN void ws_tx__write_later(struct ws_tx *tx, unsigned long long at, unsigned size, unsigned long long value)
{
	unsigned long long bits = ws_tx__bits(at, size);

	value = value << 8 * (at & 7) & bits;
	if ((tx->filter & ws_tx__filter_bit(at)) && ws_tx__patch(tx, at, bits, value))
		return;
	tx->filter |= ws_tx__filter_bit(at);
	ws_tx__append(tx, ws_tx__where(WS_TX_REDO, ws_tx__log_size(size), at), value >> 8 * (at & 7));
}

/* With entries from before and after the begin of a part, the newest is what counts for each byte. */
WS_TX_FN void ws_tx__write_back_one(const struct ws_tx *tx, const struct ws_tm_entry *e)
{
	unsigned long long at = ws_tx__what(e), value = e->value;
	unsigned size = ws_tx__size(e);

	if (tx->layers) {
		ws_tx__own_bits(tx, at, ws_tx__bits(at, size), &value);
		value >>= 8 * (at & 7);
	}
	ws_tx__store(at, size, value);
}

WS_TX_FN void ws_tx__write_back(const struct ws_tx *tx)
{
	struct ws_tx_walk w = ws_tx__walk(tx);
	struct ws_tm_entry *e;

	while ((e = ws_tx__older(tx, &w)))
		if (ws_tx__kind(e) == WS_TX_REDO)
			ws_tx__write_back_one(tx, e);
}

#endif

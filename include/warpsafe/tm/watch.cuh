/* watch.cuh - waiting for a condition (ws_tx_retry): an attempt that has found that it does not hold keeps what it has read, as
 * addresses and values, gives all locations back, and looks from time to time whether these words are still so. While they are, the section
 * would only come to the same end, so it is not run: who waits stands in nobody's way, takes nothing and is counted nowhere, however
 * many wait. (Harris et al. 2005, Composable memory transactions, 4: a retry blocks until something changes that it has read.)
 *
 * A thread begins to keep what it reads when a section of it has come to ws_tx_retry for the first time. It keeps the last words. A condition
 * may depend on more, or on what is not a read of the section (a clock, a plain load): so the section is run again after some looks in any case.
 * A look is a load of its own of each word: it may see what is yet to be undone, and the section is then run for nothing; and it may come when the
 * word has been taken out of shared use, which harms nobody, as it writes nothing. */
#ifndef WARPSAFE_TM_WATCH_CUH
#define WARPSAFE_TM_WATCH_CUH

#include "log.cuh"

/* Looks at words that stay as they are before the section is run again, and the logarithm of the rounds between two of them, at most: some
 * 10 ms on a GPU. */
#ifndef WS_TX_LOOKS
#define WS_TX_LOOKS 1024u
#endif
enum { WS_TX_LOOKS_APART = 9 };

/* Notes a word that was read, and what was there before this transaction wrote there. kind: WS_TX_SEEN, or WS_TX_HOLD if the location does not
 * keep it as it is to the end. */
WS_TX_FN void ws_tx__note_word(struct ws_tx *tx, unsigned kind, unsigned long long at, unsigned size, unsigned long long value)
{
	struct ws_tm_entry *e;

	if (!tx->retries)
		return;
	e = &tx->log->watch[tx->noted++ % WS_TX_WATCHED];
	e->where = ws_tx__where(kind, ws_tx__log_size(size), at);
	e->value = value;
}

WS_TX_FN unsigned ws_tx__watched(const struct ws_tx *tx) { return tx->noted < WS_TX_WATCHED ? tx->noted : WS_TX_WATCHED; }

/* What was written has been undone, and the locations are still this one's: what it has read of its own writes counts no more. */
WS_TX_FN void ws_tx__note_undone(const struct ws_tx *tx)
{
	for (unsigned k = 0; k < ws_tx__watched(tx); k++) {
		struct ws_tm_entry *e = &tx->log->watch[k];

		if (ws_tx__kind(e) == WS_TX_SEEN)
			e->value = ws_tx__load_now(ws_tx__what(e), ws_tx__size(e));
	}
}

WS_TX_RARE int ws_tx__unchanged(const struct ws_tm_entry *watch, unsigned n)
{
	int same = 1;

	for (unsigned k = 0; same && k < n && WS_TM_BREAK != 39; k++)
		same = ws_tx__load_now(ws_tx__what(&watch[k]), ws_tx__size(&watch[k])) == watch[k].value;
	return same;
}

/* One look. Returns 0 when the section is to be run again. */
WS_TX_FN int ws_tx__goes_on_waiting(struct ws_tx *tx)
{
	tx->watches = tx->looks++ < WS_TX_LOOKS && ws_tx__unchanged(tx->log->watch, ws_tx__watched(tx));
	if (!tx->watches)
		tx->looks = 0;
	return (int)tx->watches;
}

#endif

/* alone.cuh - transactions that run while no other one does: irrevocable ones, which cannot abort and so may do what cannot be undone,
 * and read-only ones after an abort. For handles that have attempts counted (struct ws_tm_config.alone).
 *
 * An attempt counts itself in, and then looks whether somebody is alone or wants to be; if so it takes itself back. Who wants to be
 * alone says so (the token; for reads, words->readers), and then waits, round by round, until nobody is counted. Both have a
 * sequentially consistent fence between, so one of the two sees the other (Dekker). Attempts under way end without waiting
 * for anybody.
 *
 * A transaction that has the token after `patience` aborts runs alone as well, and so meets no conflict. Read-only
 * transactions let each other run; those that begin later do not join them but are tried as any other, and as nobody writes, they
 * commit: so who writes gets its turn when those are done that an abort has brought there. */
#ifndef WARPSAFE_TM_ALONE_CUH
#define WARPSAFE_TM_ALONE_CUH

#include "log.cuh"

/* 1: no handle has attempts counted, and what follows is left out, as it is for marked sections. */
#ifndef WS_TM_ALWAYS_AMONG
#define WS_TM_ALWAYS_AMONG 0
#endif
WS_TX_FN int ws_tx__counted(const struct ws_tx *tx) { return !WS_TM_ALWAYS_AMONG && tx->tm.counted; }

/* Whether no attempt is counted. Sixteen places at a time: their loads are under way together, and who waits for others that are at work
 * need not read all of them in each round. */
WS_TX_RARE int ws_tx__nobody_active(const struct ws_tm_stripe *stripes)
{
	unsigned long long sum = 0;

	__threadfence();
	for (unsigned k = 0; k < WS_TM_STRIPES && !sum; k += 16)
		for (unsigned i = 0; i < 16; i++)
			sum += ws_tx__load64(&stripes[k + i].active);
	ws_tx__fence();
	return sum == 0;
}

/* The attempt of one who has the token. */
WS_TX_FN int ws_tx__start_alone(const struct ws_tx *tx)
{
	return WS_TM_BREAK == 26 || (ws_tx__nobody_active(tx->tm.stripes) && ws_tx__load32(&tx->tm.words->readers) == 0);
}

/* The attempt of one who only reads, after an abort. It stands in the way of others while it waits. */
WS_TX_FN int ws_tx__start_reads(struct ws_tx *tx)
{
	if (tx->alone == WS_TX_READS) {
		atomicAdd(&tx->tm.words->readers, 1u);
		tx->alone = WS_TX_READS_ALONE;
		__threadfence();
		if (ws_tx__load32(&tx->tm.words->token)) {
			atomicAdd(&tx->tm.words->readers, ~0u);
			tx->alone = WS_TX_READS;
			return 0;
		}
	}
	return WS_TM_BREAK == 27 || ws_tx__nobody_active(tx->tm.stripes);
}

WS_TX_FN void ws_tx__count_out(const struct ws_tx *tx)
{
	ws_tx__fence();
	atomicAdd(&ws_tx__stripe(tx)->active, ~0ull);
}

/* Any other attempt. */
WS_TX_FN int ws_tx__start_counted(const struct ws_tx *tx)
{
	atomicAdd(&ws_tx__stripe(tx)->active, 1ull);
	__threadfence();
	if (!ws_tx__load32(&tx->tm.words->token) && !ws_tx__load32(&tx->tm.words->readers)) {
		ws_tx__fence();
		return 1;
	}
	ws_tx__count_out(tx);
	return 0;
}

/* Whether the attempt may start as far as others are concerned. */
WS_TX_FN int ws_tx__start_among(struct ws_tx *tx)
{
	if (!ws_tx__counted(tx))
		return 1;
	if (tx->token)
		return ws_tx__start_alone(tx);
	if (tx->alone == WS_TX_READS_ALONE || (tx->alone == WS_TX_READS && tx->aborts))
		return ws_tx__start_reads(tx);
	return ws_tx__start_counted(tx);
}

/* The attempt is over, or did not start after all. Its locations have been given back. */
WS_TX_FN void ws_tx__leave_among(struct ws_tx *tx)
{
	if (!ws_tx__counted(tx) || tx->token)
		return;
	if (tx->alone == WS_TX_READS_ALONE) {
		ws_tx__fence();
		atomicAdd(&tx->tm.words->readers, ~0u);
		tx->alone = WS_TX_READS;
	} else {
		ws_tx__count_out(tx);
	}
}

/* Whether nothing that it reads can change, and what it writes stays. */
WS_TX_FN int ws_tx__directly(const struct ws_tx *tx)
{
	return !WS_TM_ALWAYS_AMONG && (tx->alone == WS_TX_IRREVOCABLE || tx->alone == WS_TX_READS_ALONE);
}

#endif

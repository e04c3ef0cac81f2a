/* pstm.cuh - engine pstm: pessimistic conflict detection. A location belongs to one transaction from its first access, read or
 * write, to the end. From:
 *
 *   Anup Holey: Transactional execution and data race detection on GPUs, University of Minnesota, 2015, 4.1.3.
 *
 * Shadow entry, 32 bits: id of the owner; 0: none. Taken by one compare-and-swap, given back by one store.
 *
 * Departures: (1) the table is smaller than memory (log.cuh, ws_tx__index). (2) One log with an entry for each shadow entry
 * that was taken, not for each read and write: the compare-and-swap tells which access was the first. The first
 * few are not logged but kept in registers, and not asked for again. (3) A thread's id
 * is drawn from a counter, so that launches that run at the same time do not share ids. (4) A fence after locations were
 * taken as well (log.cuh).
 *
 * All locations are kept to the end (strict two-phase locking), so every value read is that of one consistent state, also
 * in attempts that abort later: opacity. */
#ifndef WARPSAFE_TM_PSTM_CUH
#define WARPSAFE_TM_PSTM_CUH

#include "log.cuh"

WS_TX_FN unsigned *ws_tx__pstm_entry(const struct ws_tx *tx, unsigned index) { return (unsigned *)tx->tm.table + index; }

/* Takes the shadow entry of one granule. The log has room if near has none. Returns 0 at a conflict, WS_TX_FRESH if it was nobody's. */
WS_TX_FN int ws_tx__pstm_take(struct ws_tx *tx, unsigned long long granule)
{
	unsigned index = ws_tx__index(tx, granule), owner;

	if (ws_tx__is_near(tx, index))
		return 1;
	owner = ws_tx__take32(ws_tx__pstm_entry(tx, index), 0u, tx->id);
	if (owner == tx->id)
		return 1;
	if (owner)
		return WS_TM_BREAK == 3;
	if (!ws_tx__note_near(tx, index))
		ws_tx__append(tx, ws_tx__where(WS_TX_HOLD, 0, index), 0);
	return WS_TX_FRESH;
}

/* Gives back a word that is its own lock: by what is stored there. */
WS_TX_FN void ws_tx__give_word(unsigned long long where, unsigned long long value)
{
	struct ws_tm_entry e = { where, 0 };

	ws_tx__store(ws_tx__what(&e), ws_tx__size(&e), value);
}

WS_TX_FN unsigned ws_tx__hold_size(const struct ws_tm_entry *e) { return (unsigned)(e->where >> 60 & 3); }

/* Those in the log: above each lies what the transaction has made of it (spare.cuh). */
WS_TX_FN void ws_tx__give_spilled(const struct ws_tx *tx, int committed)
{
	struct ws_tx_walk w = ws_tx__walk(tx);
	struct ws_tm_entry *e;
	unsigned long long now = 0;

	while ((e = ws_tx__older(tx, &w)))
		if (ws_tx__kind(e) == WS_TX_HOLD && ws_tx__hold_size(e) == 1)
			now = e->value;
		else if (ws_tx__kind(e) == WS_TX_HOLD && ws_tx__hold_size(e))
			ws_tx__give_word(e->where, committed ? now : e->value);
}

/* By an atomic, which passes on what those have published who had the word before, or by a store. One that does not answer is twice as fast (RED), and
 * there is none that exchanges; but what is there is known, so it is one that flips the bits that differ. */
WS_TX_FN void ws_tx__give_spare(unsigned long long at, unsigned size, unsigned long long value, unsigned long long none)
{
	if (!WS_TM_PASS_ON)
		ws_tx__store(at, size, value);
	else if (size == 4)
		ws_tx__flip32((unsigned *)at, (unsigned)(value ^ none));
	else
		ws_tx__flip64((unsigned long long *)at, value ^ none);
}

/* What a word becomes, of what the section has made of it and what it was. A select that the compiler cannot leave out where these are one value, so that
 * what is given back depends on whether all words could be taken in any case, and comes after that (PTX ISA 9.0, 8.10: no value out of thin air). */
WS_TX_FN unsigned long long ws_tx__outcome(int committed, unsigned long long value, unsigned long long before)
{
#ifdef __CUDA_ARCH__
	__asm__("{\n\t.reg .pred won;\n\tsetp.ne.s32 won, %1, 0;\n\tselp.b64 %0, %0, %2, won;\n\t}" : "+l"(value) : "r"(committed), "l"(before));
	return value;
#else
	return committed ? value : before;
#endif
}

/* One of those in registers. Without a branch that is not one store: lanes that have won go through it with those that have lost. */
WS_TX_FN void ws_tx__give_near_spare(const struct ws_tx_spare *s, unsigned long long value)
{
	if (WS_TM_SPARES && s->size == 4 && s->mine)
		ws_tx__give_spare(s->at, 4, value, s->none);
	if (WS_TM_SPARES && s->size == 8 && s->mine)
		ws_tx__give_spare(s->at, 8, value, s->none);
}

WS_TX_FN void ws_tx__give_spares(const struct ws_tx *tx, int committed)
{
#pragma unroll
	for (unsigned k = 0; k < WS_TX_SPARES; k++)
		ws_tx__give_near_spare(&tx->spare[k], ws_tx__outcome(committed || WS_TM_BREAK == 37, tx->spare[k].value, tx->spare[k].before));
}

/* Whether a value says that somebody has the word. */
WS_TX_FN int ws_tx__says_taken(unsigned long long value, unsigned long long none) { return (value == none) & (WS_TM_BREAK != 36); }

/* Ends the kernel if one has been put that was not taken, or that would be as if somebody had it. Not asked before they are given back: they
 * are held meanwhile. */
WS_TX_FN void ws_tx__check_spares(const struct ws_tx *tx, int committed)
{
	unsigned wrong = tx->wrong;

#pragma unroll
	for (unsigned k = 0; k < WS_TX_SPARES; k++)
		wrong |= committed && tx->spare[k].size && ws_tx__says_taken(tx->spare[k].value, tx->spare[k].none);
	if (WS_TM_SPARES && wrong)
		__trap();
}

/* As they were: the attempt has lost. */
WS_TX_FN void ws_tx__return_spares(const struct ws_tx *tx)
{
#pragma unroll
	for (unsigned k = 0; k < WS_TX_SPARES; k++)
		ws_tx__give_near_spare(&tx->spare[k], WS_TM_BREAK == 37 ? tx->spare[k].value : tx->spare[k].before);
}

/* fenced: behind a fence. */
WS_TX_FN void ws_tx__give_near(const struct ws_tx *tx, int fenced)
{
#pragma unroll
	for (unsigned k = 0; k < WS_TX_NEAR; k++)
		if (tx->near[k] && fenced)
			ws_tx__store32(ws_tx__pstm_entry(tx, tx->near[k] - 1), 0);
		else if (tx->near[k])
			ws_tx__drop32(ws_tx__pstm_entry(tx, tx->near[k] - 1));
}

/* Gives all entries back, and all words that are their own lock; the caller has put a fence before. */
WS_TX_FN void ws_tx__pstm_release(struct ws_tx *tx, int committed)
{
	struct ws_tx_walk w = ws_tx__walk(tx);
	struct ws_tm_entry *e;

	ws_tx__give_near(tx, 1);
	ws_tx__give_spares(tx, committed);
	while (ws_tx__near_full(tx) && (e = ws_tx__older(tx, &w)))
		if (ws_tx__kind(e) == WS_TX_HOLD && !(tx->spilled && ws_tx__hold_size(e)))
			ws_tx__store32(ws_tx__pstm_entry(tx, (unsigned)ws_tx__what(e)), 0);
	if (WS_TM_SPARES && tx->spilled)
		ws_tx__give_spilled(tx, committed);
}

#endif

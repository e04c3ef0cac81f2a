/* spare.cuh - words that are their own lock. A word of 4 or 8 bytes that never has one certain value, the spare one, has it while a
 * transaction has the word: it is taken by one exchange, which brings what was there, and given back as what is to be there.
 * So it needs no shadow entry, no load, and is held for two trips to memory less. Included by tm.cuh.
 *
 *     account = ws_tx_take_i64(&tx, &accounts[i], LLONG_MIN);
 *     ws_tx_put_i64(&tx, &accounts[i], account + 1, LLONG_MIN);
 *
 *     ws_tx_take2_i64(&tx, &accounts[i], &accounts[k], LLONG_MIN, &one, &other);      // i != k: both are asked for at once
 *
 * All sections that use the word use it so, with the same spare value. With other engines than pstm these calls are ws_tx_read_T and
 * ws_tx_write_T, and the spare value is not used.
 *
 * The first WS_TM_SPARES words are kept in registers. Others go to the log as two entries of WS_TX_HOLD: one with the word's address and
 * size (4 or 8) and what was there, and on top of it one of size 2, what the transaction has made of it; a change of that one is
 * logged as any write is, so that a part of a section can be undone alone. What such a part has taken stays taken, as it was.
 *
 * The fence that makes what the thread did before visible with the words stands before the first exchange, unless the thread's sections do more (mixed):
 * what gives them back comes after the exchanges, as its value depends on these (PTX ISA 9.0, 8.10: no value out of thin air; ws_tx__outcome). What the
 * section peeks at or fills behind the fence is not so bound to them: there a fence stands behind that as well.
 * No fence stands between the exchange and what gives the word back: that is an atomic, so that who takes a word from one who took it from another one
 * sees what the other one did plainly before its section, too. (By a store, with WS_TM_PASS_ON=0, PTX does not say so; docs/TRANSACTIONS.md.)
 *
 * An exchange of a word that somebody has changes nothing. Who gets the value has the word until the store, as with a shadow entry (strict
 * two-phase locking), so what pstm.cuh says of serializability and opacity holds. */
#ifndef WARPSAFE_TM_SPARE_CUH
#define WARPSAFE_TM_SPARE_CUH

/* The log entry with what the transaction has made of a word; 0: the word is not in the log. */
WS_TX_FN struct ws_tm_entry *ws_tx__spilled(const struct ws_tx *tx, unsigned long long at, unsigned size)
{
	unsigned long long word = ws_tx__where(WS_TX_HOLD, ws_tx__log_size(size), at);
	struct ws_tx_walk w = ws_tx__walk(tx);
	struct ws_tm_entry *e, *value = 0;

	if (!tx->spilled)
		return 0;
	while ((e = ws_tx__older(tx, &w))) {
		if (e->where == word)
			return value;
		if (e->where == ws_tx__where(WS_TX_HOLD, 1, 0))
			value = e;
	}
	return 0;
}

/* Writes what is in the log, so that it can be undone. Returns 0 when the attempt is doomed. */
WS_TX_FN int ws_tx__change_spilled(struct ws_tx *tx, struct ws_tm_entry *e, unsigned long long value)
{
	if (!ws_tx__room(tx))
		return 0;
	if (WS_TM_BREAK != 38)
		ws_tx__append(tx, ws_tx__where(WS_TX_UNDO, 3, (unsigned long long)&e->value), e->value);
	e->value = value;
	return 1;
}

/* Moves the oldest word in registers, if they are full, to the log. Returns 0 when the attempt is doomed. */
WS_TX_FN int ws_tx__spill(struct ws_tx *tx)
{
	struct ws_tx_spare s = tx->spare[WS_TX_SPARES - 1];

	if (!WS_TM_SPARES || !s.size || !s.mine)
		return 1;
	if (!ws_tx__room(tx))
		return 0;
	tx->wrong |= ws_tx__says_taken(s.value, s.none);
	ws_tx__append(tx, ws_tx__where(WS_TX_HOLD, ws_tx__log_size(s.size), s.at), s.before);
	if (!ws_tx__room(tx)) {
		tx->n--;                /* it is still in registers */
		return 0;
	}
	ws_tx__append(tx, ws_tx__where(WS_TX_HOLD, 1, 0), s.before);
	tx->spare[WS_TX_SPARES - 1].size = 0;
	tx->spilled++;
	return s.value == s.before || ws_tx__change_spilled(tx, ws_tx__newest(tx), s.value);
}

WS_TX_FN void ws_tx__shift_spares(struct ws_tx *tx)
{
#pragma unroll
	for (unsigned k = WS_TX_SPARES - 1; k > 0; k--)
		tx->spare[k] = tx->spare[k - 1];
	tx->spare[0].size = 0;
}

/* All of them, before a part that can be undone alone. Returns 0 when the attempt is doomed. */
WS_TX_FN int ws_tx__spill_all(struct ws_tx *tx)
{
#pragma unroll 1
	for (unsigned k = 0; k < WS_TX_SPARES; k++) {
		if (!ws_tx__spill(tx))
			return 0;
		ws_tx__shift_spares(tx);
	}
	return 1;
}

/* Those in registers were taken since the part began that is undone, or are given back soon; one that could not be taken can be tried again. */
WS_TX_FN void ws_tx__undo_spares(struct ws_tx *tx)
{
#pragma unroll
	for (unsigned k = 0; k < WS_TX_SPARES; k++) {
		tx->spare[k].value = tx->spare[k].before;
		tx->spare[k].size = tx->spare[k].mine ? tx->spare[k].size : 0;
	}
}

/* Whether a place in registers has the word. No branch: see ws_tx__spare_take. */
WS_TX_FN int ws_tx__is_spare(const struct ws_tx_spare *s, unsigned long long at, unsigned size) { return (s->size == size) & (s->at == at); }

/* Takes a word out of registers, whose place stays empty. size 0: it is not there, or not wanted. */
WS_TX_FN struct ws_tx_spare ws_tx__pull_spare(struct ws_tx *tx, int wanted, unsigned long long at, unsigned size)
{
	struct ws_tx_spare s = { 0, 0, 0, 0, 0, 0 };

#pragma unroll
	for (unsigned k = 0; k < WS_TX_SPARES; k++) {
		int here = wanted & ws_tx__is_spare(&tx->spare[k], at, size);

		s.value = here ? tx->spare[k].value : s.value;
		s.before = here ? tx->spare[k].before : s.before;
		s.size = here ? size : s.size;
		tx->spare[k].size = here ? 0 : tx->spare[k].size;
	}
	return s;
}

/* A word was asked for, which somebody else has if `lost`. */
WS_TX_FN void ws_tx__lose_word(struct ws_tx *tx, int lost)
{
	tx->words = 1;
	tx->state = lost ? (unsigned)WS_TX_DOOMED : tx->state;
	tx->why = lost ? (unsigned)WS_TM_READ_CONFLICT : tx->why;
}

/* Makes a word this transaction's own, or finds it in registers, and leaves it there as the newest one. The last place is empty. Returns what the
 * transaction has made of it. All lanes of a warp go through this together, whether their attempt goes on (active) or not: there is no branch that
 * it would pay to take, for what stands between the exchange of one word and that of the next is time in which the first one is held. That the word
 * has a place in any case, also where it is not this transaction's, is for the compiler, which then need not ask at a put whether it has one. */
WS_TX_FN unsigned long long ws_tx__spare_take(struct ws_tx *tx, int active, unsigned long long at, unsigned size, unsigned long long none)
{
	struct ws_tx_spare s = ws_tx__pull_spare(tx, active, at, size);
	int fresh = active & !s.size, lost;
	unsigned long long was = size == 4 ? ws_tx__swap32_if(fresh, (unsigned *)at, (unsigned)none)
	                                   : ws_tx__swap64_if(fresh, (unsigned long long *)at, none);

	lost = fresh & ws_tx__says_taken(was, none);
	if (lost)
		ws_tx__give_up(tx);
	ws_tx__shift_spares(tx);
	tx->spare[0] = { at, s.size ? s.value : was, s.size ? s.before : was, none, size, active && !lost };
	ws_tx__lose_word(tx, lost);
	if (fresh && !lost)
		ws_tx__note_word(tx, WS_TX_HOLD, at, size, was);
	return tx->spare[0].mine ? tx->spare[0].value : 0;
}

/* The same for two words at once, which are not one, when none is in registers: both exchanges are under way together. An attempt that gets one of them
 * alone gives it back at its end, with the lanes that have got both: at once would be a branch for each, for which those wait that have. */
WS_TX_FN void ws_tx__spare_take2(struct ws_tx *tx, int active, unsigned long long at, unsigned long long other, unsigned size, unsigned long long none,
                                 unsigned long long *value, unsigned long long *second)
{
	const unsigned second_place = WS_TX_SPARES > 1;        /* there are two */
	unsigned long long was = none, was2 = none;
	int taken, taken2, have;

	if (size == 4)
		ws_tx__swap32_both(active, at, other, none, &was, &was2);
	else
		ws_tx__swap64_both(active, at, other, none, &was, &was2);
	taken = ws_tx__says_taken(was, none);
	taken2 = ws_tx__says_taken(was2, none);
	have = active && !(taken | taken2);
	tx->spare[second_place] = { at, was, was, none, size, active && !taken };
	tx->spare[0] = { other, was2, was2, none, size, active && !taken2 };
	ws_tx__lose_word(tx, active && !have);
	if (tx->spare[second_place].mine)
		ws_tx__note_word(tx, WS_TX_HOLD, at, size, was);
	if (tx->spare[0].mine)
		ws_tx__note_word(tx, WS_TX_HOLD, other, size, was2);
	*value = have ? was : 0;
	*second = have ? was2 : 0;
}

/* Before the first exchange of an attempt that has nothing yet: what the thread has done before becomes visible with what the attempt gives back, whose
 * value depends on the exchanges and so comes after them. Nobody waits for anything meanwhile. Who does more needs a fence at the end, and that one is
 * enough. */
WS_TX_FN void ws_tx__fence_early(struct ws_tx *tx)
{
	if (tx->early || tx->mixed || !ws_tx__has_nothing(tx))
		return;
	ws_tx__release_fence();
	tx->early = 1;
	tx->plain = 0;
}

/* Whether all places in registers are empty, and there are two. */
WS_TX_FN int ws_tx__two_places(const struct ws_tx *tx)
{
	unsigned used = tx->spilled;

#pragma unroll
	for (unsigned k = 0; k < WS_TX_SPARES; k++)
		used |= tx->spare[k].size;
	return WS_TX_SPARES > 1 && !used;
}

/* Whether these words are locks here. */
WS_TX_FN int ws_tx__spares_used(const struct ws_tx *tx)
{
	return WS_TM_SPARES && ws_tx__engine(tx) == WS_TM_PSTM && !ws_tx__directly(tx);
}

/* Whether a word is in registers; then what the transaction has made of it. */
WS_TX_FN int ws_tx__spare_near(const struct ws_tx *tx, unsigned long long at, unsigned size, unsigned long long *value)
{
	int near = 0;

#pragma unroll
	for (unsigned k = 0; k < WS_TX_SPARES; k++) {
		int here = ws_tx__is_spare(&tx->spare[k], at, size);

		*value = here ? tx->spare[k].value : *value;
		near |= here;
	}
	return near;
}

/* Makes the last place in registers empty. Returns 0 if the word needs none: it is there already, or in the log, or the attempt has lost.
 * *value is then what the transaction has made of it. */
WS_TX_FN int ws_tx__spare_place(struct ws_tx *tx, unsigned long long at, unsigned size, unsigned long long *value)
{
	const struct ws_tm_entry *e;

	if (tx->state != WS_TX_ACTIVE || ws_tx__spare_near(tx, at, size, value))
		return 0;
	e = ws_tx__spilled(tx, at, size);
	if (e)
		*value = e->value;
	return !e && ws_tx__spill(tx);
}

/* A word of 4 or 8 bytes, aligned; 0 when the attempt is doomed. */
WS_TX_ACCESS unsigned long long ws_tx__take_word(struct ws_tx *tx, unsigned long long at, unsigned size, unsigned long long spare)
{
	unsigned long long value = 0;

	if (!ws_tx__spares_used(tx))
		return ws_tx__read_word(tx, at, size);
	ws_tx__fence_early(tx);
	if ((!tx->spilled && !tx->spare[WS_TX_SPARES - 1].size) || ws_tx__spare_place(tx, at, size, &value))
		value = ws_tx__spare_take(tx, tx->state == WS_TX_ACTIVE, at, size, spare & ~0ull >> (64 - 8 * size));
	if (tx->state == WS_TX_ACTIVE)
		WS_TX_ON_READ(tx, at, size, value);
	return value;
}

/* Two words that are not one. */
WS_TX_FN void ws_tx__take_words(struct ws_tx *tx, unsigned long long at, unsigned long long other, unsigned size, unsigned long long spare,
                                unsigned long long *value, unsigned long long *second)
{
	int active = tx->state == WS_TX_ACTIVE;

	if (!active && at == other)             /* led astray by what it has read since it lost */
		other += size;
	if (at == other) {
		__trap();
		__builtin_unreachable();        /* so the compiler need not ask at a put which one is meant */
	}
	if (!ws_tx__spares_used(tx) || !ws_tx__two_places(tx)) {
		*value = ws_tx__take_word(tx, at, size, spare);
		*second = ws_tx__take_word(tx, other, size, spare);
		*value = tx->state == WS_TX_ACTIVE ? *value : 0;
		return;
	}
	ws_tx__fence_early(tx);
	ws_tx__spare_take2(tx, active, at, other, size, spare & ~0ull >> (64 - 8 * size), value, second);
	if (tx->state == WS_TX_ACTIVE) {
		WS_TX_ON_READ(tx, at, size, *value);
		WS_TX_ON_READ(tx, other, size, *second);
	}
}

/* What the transaction makes of a word in the log. Returns 0 when the attempt is doomed, or does not have the word. */
WS_TX_FN int ws_tx__put_spilled(struct ws_tx *tx, unsigned long long at, unsigned size, unsigned long long value, unsigned long long spare)
{
	struct ws_tm_entry *e = ws_tx__spilled(tx, at, size);

	tx->wrong |= !e || ws_tx__says_taken(value, spare);
	return e && ws_tx__change_spilled(tx, e, value);
}

/* What the transaction makes of a word that it has taken. Without a branch for those in registers: they are held meanwhile. */
WS_TX_ACCESS void ws_tx__put_word(struct ws_tx *tx, unsigned long long at, unsigned size, unsigned long long value, unsigned long long spare)
{
	int found = 0, active = tx->state == WS_TX_ACTIVE;      /* an attempt that has lost gives back what was there, whatever is put */

	value &= ~0ull >> (64 - 8 * size);
	if (!ws_tx__spares_used(tx)) {
		ws_tx__write_word(tx, at, size, value);
		return;
	}
#pragma unroll
	for (unsigned k = 0; k < WS_TX_SPARES; k++) {
		int here = ws_tx__is_spare(&tx->spare[k], at, size);

		tx->spare[k].value = here ? value : tx->spare[k].value;
		found |= here;
	}
	tx->wrong |= active && (tx->alone == WS_TX_READS || (!found && !tx->spilled));
	if (active && !found && tx->spilled)
		found = ws_tx__put_spilled(tx, at, size, value, spare & ~0ull >> (64 - 8 * size));
	if (active && found)
		WS_TX_ON_WRITE(tx, at, size, value);
}

/* ws_tx_take_u32(tx, p, spare), ws_tx_take2_u32(tx, p, q, spare, &a, &b), ws_tx_put_u32(tx, p, value, spare) and so on. A section that ends with the
 * spare value in a word, or has put one that it has not taken, ends the kernel. */
#define WS_TX__SPARE(NAME, TYPE, BITS, TO_BITS, FROM_BITS) \
	WS_TX_FN TYPE ws_tx_take_##NAME(struct ws_tx *tx, TYPE *p, TYPE spare) \
	{ \
		return FROM_BITS((BITS)ws_tx__take_word(tx, (unsigned long long)p, sizeof(TYPE), (unsigned long long)TO_BITS(spare))); \
	} \
	WS_TX_FN void ws_tx_take2_##NAME(struct ws_tx *tx, TYPE *p, TYPE *q, TYPE spare, TYPE *a, TYPE *b) \
	{ \
		unsigned long long of_p, of_q; \
 \
		ws_tx__take_words(tx, (unsigned long long)p, (unsigned long long)q, sizeof(TYPE), (unsigned long long)TO_BITS(spare), &of_p, &of_q); \
		*a = FROM_BITS((BITS)of_p); \
		*b = FROM_BITS((BITS)of_q); \
	} \
	WS_TX_FN void ws_tx_put_##NAME(struct ws_tx *tx, TYPE *p, TYPE value, TYPE spare) \
	{ \
		ws_tx__put_word(tx, (unsigned long long)p, sizeof(TYPE), (unsigned long long)TO_BITS(value), (unsigned long long)TO_BITS(spare)); \
	}
WS_TX__SPARE(u32, unsigned, unsigned, , )
WS_TX__SPARE(u64, unsigned long long, unsigned long long, , )
WS_TX__SPARE(i32, int, int, , )
WS_TX__SPARE(i64, long long, long long, , )
WS_TX__SPARE(f32, float, unsigned, __float_as_uint, __uint_as_float)
WS_TX__SPARE(f64, double, long long, __double_as_longlong, __longlong_as_double)
#undef WS_TX__SPARE

WS_TX_FN void *ws_tx_take_pointer(struct ws_tx *tx, void *p, const void *spare)
{
	return (void *)ws_tx__take_word(tx, (unsigned long long)p, sizeof(void *), (unsigned long long)spare);
}
WS_TX_FN void ws_tx_put_pointer(struct ws_tx *tx, void *p, const void *value, const void *spare)
{
	ws_tx__put_word(tx, (unsigned long long)p, sizeof(void *), (unsigned long long)value, (unsigned long long)spare);
}

#endif

/* tm.cuh - transactions for CUDA kernels, device side (nvcc and clang). Host side: tm.h; manual: docs/TRANSACTIONS.md.
 *
 *     __global__ void move(struct ws_tm tm, long long *account, int from, int to, long long sum)
 *     {
 *             WS_TX_VAR(tx, tm);
 *
 *             WS_TX(&tx) {
 *                     ws_tx_write_i64(&tx, &account[from], ws_tx_read_i64(&tx, &account[from]) - sum);
 *                     ws_tx_write_i64(&tx, &account[to], ws_tx_read_i64(&tx, &account[to]) + sum);
 *             }
 *     }
 *
 * Each thread runs its own transactions. The section is run again until it commits. It may be left by running to its end,
 * by `break` or by `continue`, which all try to commit, never by `return` or `goto`. Variables of the thread itself that it
 * changes are not restored when it is run again. Shared words that transactions use must not be used otherwise at that time.
 *
 * After a conflict the attempt is doomed: reads give zeros, writes do nothing, ws_tx_ok is 0. A loop in a section whose
 * end depends on what was read must ask ws_tx_ok, or ws_tx_validate with the engines istm, block and block-pessimistic.
 *
 * The engine is the handle's; with -DWS_TM_ENGINE=WS_TM_PSTM (for example) it is that one, and the code of the others
 * is not in the kernel. The handle must then have the same. -DWS_TM_STATS=0: nothing is counted but transactions that were
 * too large. -DWS_TM_LOG=N: log entries in local memory. -DWS_TM_LATER=N (0 to 3; tm/log.cuh):
 * with pstm, more writes that are made at the commit. -DWS_TM_SPARES=N: words that are their own lock and in registers (tm/spare.cuh).
 * -DWS_TM_CALLS: less code, for sections with dozens of accesses; =2: for dozens of sections. */
#ifndef WARPSAFE_TM_CUH
#define WARPSAFE_TM_CUH

#include "tm/log.cuh"
#include "tm/watch.cuh"
#include "tm/pool.cuh"
#include "tm/alone.cuh"
#include "tm/cgl.cuh"
#include "tm/pstm.cuh"
#include "tm/estm.cuh"
#include "tm/istm.cuh"
#include "tm/hstm.cuh"
#include "tm/block.cuh"

#ifndef WS_TM_STATS
#define WS_TM_STATS 1
#endif

/* Called, if defined, when an attempt starts, when a read has got a value (of 1, 2, 4 or 8 bytes, as a number), when a write
 * was made, when the attempt has committed but not yet given its locations back, and when it has been rolled back. */
#ifndef WS_TX_ON_START
#define WS_TX_ON_START(tx)
#endif
#ifndef WS_TX_ON_READ
#define WS_TX_ON_READ(tx, at, size, value)
#endif
#ifndef WS_TX_ON_WRITE
#define WS_TX_ON_WRITE(tx, at, size, value)
#endif
#ifndef WS_TX_ON_COMMIT
#define WS_TX_ON_COMMIT(tx)
#endif
#ifndef WS_TX_ON_ABORT
#define WS_TX_ON_ABORT(tx)
#endif

/* Whether lanes of a warp can wait for each other, in whatever way they have come. */
#ifndef WS_TX_LANES
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700
#define WS_TX_LANES 1
#else
#define WS_TX_LANES 0
#endif
#endif

/* In the grid. */
#ifndef WS_TX_THREADS
#define WS_TX_THREADS \
	((unsigned long long)gridDim.x * gridDim.y * gridDim.z * blockDim.x * blockDim.y * blockDim.z)
#endif

/* ---- the engines' verbs ---- */

WS_TX_FN unsigned ws_tx__engine(const struct ws_tx *tx)
{
#ifdef WS_TM_ENGINE
	return WS_TM_ENGINE;
#else
	return tx->tm.engine;
#endif
}

WS_TX_FN int ws_tx__engine_start(struct ws_tx *tx)
{
	switch (ws_tx__engine(tx)) {
	case WS_TM_CGL: return ws_tx__cgl_start(tx);
	case WS_TM_HSTM: ws_tx__hstm_start(tx); return 1;
	default: return 1;
	}
}

/* Makes one granule this transaction's own to read. Returns 0 at a conflict. */
WS_TX_FN int ws_tx__engine_read(struct ws_tx *tx, unsigned long long granule)
{
	switch (ws_tx__engine(tx)) {
	case WS_TM_PSTM: return WS_TM_BREAK == 2 || ws_tx__pstm_take(tx, granule);
	case WS_TM_ESTM: return ws_tx__estm_read(tx, granule);
	case WS_TM_ISTM: return ws_tx__istm_read(tx, granule);
	default: return 1;
	}
}

WS_TX_FN int ws_tx__engine_write(struct ws_tx *tx, unsigned long long granule)
{
	switch (ws_tx__engine(tx)) {
	case WS_TM_PSTM: return ws_tx__pstm_take(tx, granule);
	case WS_TM_ESTM: return ws_tx__estm_write(tx, granule);
	case WS_TM_ISTM: return ws_tx__istm_write(tx, granule);
	default: return 1;
	}
}

WS_TX_FN int ws_tx__engine_valid(const struct ws_tx *tx)
{
	switch (ws_tx__engine(tx)) {
	case WS_TM_ISTM: return ws_tx__istm_valid(tx);
	case WS_TM_BLOCK: case WS_TM_BLOCK_PESSIMISTIC: return ws_tx__block_valid(tx);
	default: return 1;
	}
}

/* After the last access of a valid attempt: makes it final. Returns 0 at a conflict. */
WS_TX_FN int ws_tx__engine_commit(struct ws_tx *tx)
{
	switch (ws_tx__engine(tx)) {
	case WS_TM_HSTM: return ws_tx__hstm_commit(tx);
	case WS_TM_BLOCK: return ws_tx__block_commit(tx, 0);
	case WS_TM_BLOCK_PESSIMISTIC: return ws_tx__block_commit(tx, 1);
	default: return 1;
	}
}

WS_TX_FN void ws_tx__engine_release(struct ws_tx *tx, int committed)
{
	switch (ws_tx__engine(tx)) {
	case WS_TM_PSTM: ws_tx__pstm_release(tx, committed); break;
	case WS_TM_ESTM: ws_tx__estm_release(tx); break;
	case WS_TM_ISTM: ws_tx__istm_release(tx, committed); break;
	case WS_TM_HSTM: ws_tx__hstm_release(tx, committed); break;
	case WS_TM_BLOCK: case WS_TM_BLOCK_PESSIMISTIC: ws_tx__block_release(tx, committed); break;
	default: ws_tx__cgl_release(tx); break;
	}
}

/* ---- accesses ---- */

/* Whether writes are kept back to the end: memory then has what was there before, and the log has what was written. */
WS_TX_FN int ws_tx__deferred(const struct ws_tx *tx)
{
	return ws_tx__engine(tx) == WS_TM_HSTM || ws_tx__engine(tx) == WS_TM_BLOCK || ws_tx__engine(tx) == WS_TM_BLOCK_PESSIMISTIC;
}

/* The word at `at` as it is in memory. The log has room. Returns 0 when the attempt is doomed. */
WS_TX_FN int ws_tx__fetch(struct ws_tx *tx, unsigned long long at, unsigned size, unsigned long long *value)
{
	if (ws_tx__engine(tx) == WS_TM_HSTM)
		return ws_tx__hstm_fetch(tx, at, size, value);
	return ws_tx__block_fetch(tx, at, size, value, ws_tx__engine(tx) == WS_TM_BLOCK_PESSIMISTIC);
}

/* The same with what the transaction has written there. */
WS_TX_FN int ws_tx__deferred_read(struct ws_tx *tx, unsigned long long at, unsigned size, unsigned long long *value)
{
	unsigned long long want = ws_tx__bits(at, size), own, have = ws_tx__own_bits(tx, at, want, &own);
	unsigned shift = 8 * (at & 7);

	*value = 0;
	if (have != want && !ws_tx__fetch(tx, at, size, value))
		return 0;
	if (have != want)
		ws_tx__note_word(tx, WS_TX_HOLD, at, size, *value);
	if (WS_TM_BREAK != 35)
		*value = (*value & ~(have >> shift)) | own >> shift;
	return 1;
}

/* Room in the log for one entry more; without it the attempt is lost. A thread that was led astray by values that were never
 * together is told so, and not that its transaction is too large. */
WS_TX_FN int ws_tx__room(struct ws_tx *tx)
{
	if (ws_tx__reserve(tx))
		return 1;
	if (!ws_tx__engine_valid(tx))
		return ws_tx__doom(tx, WS_TM_INVALID);
	return ws_tx__doom(tx, ws_tx__no_room(tx));
}

/* With pstm, an attempt that has lost and has written nothing gives back what it has at once: at its end it would wait for the lanes of
 * its warp that have not lost, and who wants those words for it. An inner section may be run again with what there was before. */
WS_TX_FN void ws_tx__give_up(struct ws_tx *tx)
{
	if (ws_tx__engine(tx) != WS_TM_PSTM || tx->n || tx->inners)
		return;
	ws_tx__give_near(tx, 0);
	ws_tx__return_spares(tx);
	ws_tx__forget_near(tx);
	ws_tx__forget_spares(tx);
	tx->last_at = tx->held = 0;
	ws_tx__forget_later(tx);
}

/* Makes the granules of an aligned word of at most 8 bytes this transaction's own: one, but for 8 bytes in granules of 4. 0: could not;
 * WS_TX_FRESH: with pstm, none was before. */
WS_TX_FN int ws_tx__open(struct ws_tx *tx, unsigned long long at, unsigned size, int write)
{
	unsigned long long g = ws_tx__granule(tx, at);
	int all = WS_TX_FRESH, one;

	tx->mixed = 1;
	for (unsigned n = size == 8 && tx->tm.granule == 2 ? 2 : 1; n; n--, g++) {
		if ((ws_tx__engine(tx) != WS_TM_PSTM || ws_tx__near_full(tx)) && !ws_tx__room(tx))
			return 0;
		one = write ? ws_tx__engine_write(tx, g) : ws_tx__engine_read(tx, g);
		if (WS_TM_LATER)
			all = one < all ? one : all;
		if (one)
			continue;
		if (tx->state == WS_TX_ACTIVE)
			ws_tx__doom(tx, write ? WS_TM_WRITE_CONFLICT : WS_TM_READ_CONFLICT);
		ws_tx__give_up(tx);
		return 0;
	}
	return all;
}

/* Whether a word that was read or written stays as it is. With engines that make nobody wait for what is read (istm) another
 * transaction may change it at once. */
WS_TX_FN int ws_tx__lasts(const struct ws_tx *tx) { return ws_tx__engine(tx) != WS_TM_ISTM; }

/* Remembers the word that was read or written last. */
WS_TX_FN void ws_tx__note_last(struct ws_tx *tx, unsigned long long word, unsigned long long value)
{
	tx->last_at = ws_tx__lasts(tx) ? word : 0;
	tx->last_value = value;
}

/* A write to the word that was written last is held back in registers until the next other word is opened, or the commit: an attempt that loses
 * there has nothing to undo, and a section's last write needs no log. */
WS_TX_FN void ws_tx__store_last(const struct ws_tx *tx)
{
	struct ws_tm_entry e = { tx->last_at, 0 };

	ws_tx__store(ws_tx__what(&e), ws_tx__size(&e), tx->last_value);
}

/* Whether with pstm a word has the size and the granule of the one that was read or written last, and so is this transaction's own. One of 8
 * bytes in granules of 4 has the same if it is the same. */
WS_TX_FN int ws_tx__beside_last(const struct ws_tx *tx, unsigned long long word)
{
	return ws_tx__engine(tx) == WS_TM_PSTM && WS_TM_BREAK != 2 && ws_tx__granule(tx, tx->last_at ^ word) == 0;
}

/* Keeps the write that is held back for the commit, if there is room (WS_TM_LATER). */
WS_TX_FN int ws_tx__note_later(struct ws_tx *tx)
{
	int wanted = WS_TM_LATER > 0 && ws_tx__engine(tx) == WS_TM_PSTM;

	if (!wanted || tx->later[WS_TX_LATERS - 1].where || tx->last_at >> 61 == 0)
		return 0;
#pragma unroll
	for (unsigned k = WS_TX_LATERS - 1; k > 0; k--)
		tx->later[k] = tx->later[k - 1];
	tx->later[0].where = tx->last_at;
	tx->later[0].value = tx->last_value;
	return 1;
}

/* Lets go of the write that is held back: it is kept for the commit or made. Returns 0 when the attempt is doomed. */
WS_TX_FN int ws_tx__let_go(struct ws_tx *tx)
{
	if (!tx->held)
		return 1;
	tx->held = 0;
	if (ws_tx__note_later(tx))
		return 1;
	if (!ws_tx__room(tx))
		return 0;
	ws_tx__append(tx, tx->last_at, tx->last_before);
	ws_tx__store_last(tx);
	return 1;
}

WS_TX_FN int ws_tx__any_later(const struct ws_tx *tx) { return tx->later[0].where != 0; }

/* Whether a write that is kept for the commit has a byte of that word. */
WS_TX_FN int ws_tx__kept_later(const struct ws_tx *tx, unsigned long long word)
{
	int found = 0;

#pragma unroll
	for (unsigned k = 0; k < WS_TX_LATERS; k++) {
		unsigned long long other = tx->later[k].where ^ word;

		found |= tx->later[k].where && (!other || (other >> 60 && !(other << 4 >> 7)));
	}
	return found;
}

/* Makes the writes that are kept for the commit. Returns 0 when the attempt is doomed. */
WS_TX_FN int ws_tx__make_now(struct ws_tx *tx)
{
#pragma unroll 1
	while (ws_tx__any_later(tx)) {
		struct ws_tm_entry e = tx->later[0];

#pragma unroll
		for (unsigned k = 1; k < WS_TX_LATERS; k++)
			tx->later[k - 1] = tx->later[k];
		tx->later[WS_TX_LATERS - 1].where = 0;
		if (!ws_tx__room(tx))
			return 0;
		ws_tx__append(tx, e.where, ws_tx__load(ws_tx__what(&e), ws_tx__size(&e)));
		ws_tx__store(ws_tx__what(&e), ws_tx__size(&e), e.value);
	}
	return 1;
}

/* Makes all writes that have been kept back. Returns 0 when the attempt is doomed. */
WS_TX_FN int ws_tx__settle(struct ws_tx *tx) { return ws_tx__let_go(tx) && ws_tx__make_now(tx); }

/* The same at the end, when nothing will be undone. Without branches, for others wait for these words. */
WS_TX_FN void ws_tx__store_kept(struct ws_tx *tx)
{
#pragma unroll
	for (unsigned k = 0; k < WS_TX_LATERS; k++) {
		unsigned size = (unsigned)(tx->later[k].where >> 60);

		if (size == ws_tx__log_size(4))
			ws_tx__store(ws_tx__what(&tx->later[k]), 4, tx->later[k].value);
		if (size == ws_tx__log_size(8))
			ws_tx__store(ws_tx__what(&tx->later[k]), 8, tx->later[k].value);
	}
	if (tx->held)
		ws_tx__store_last(tx);
}

/* What is in memory of a word is what it has: opened is what ws_tx__open has said. Returns 0 when the attempt is doomed. */
WS_TX_FN int ws_tx__in_memory(struct ws_tx *tx, unsigned long long word, int opened)
{
	return !ws_tx__any_later(tx) || opened == WS_TX_FRESH || !ws_tx__kept_later(tx, word) ||
	       ws_tx__make_now(tx);
}

/* Writes a word that is this transaction's own, and remembers it. Returns 0 when the attempt is doomed. */
WS_TX_FN int ws_tx__hold_back(struct ws_tx *tx, unsigned long long word, unsigned long long at, unsigned size, unsigned long long value,
                              int opened)
{
	if (word != tx->last_at) {
		if (!ws_tx__let_go(tx) || !ws_tx__in_memory(tx, word, opened))
			return 0;
		tx->last_value = ws_tx__load(at, size);
		tx->last_at = word;
	}
	if (!tx->held)
		tx->last_before = tx->last_value;
	tx->last_value = value & ~0ull >> (64 - 8 * size);
	tx->held = 1;
	return 1;
}

/* A word of 1, 2, 4 or 8 bytes, aligned; 0 when the attempt is doomed. */
WS_TX_ACCESS unsigned long long ws_tx__read_word(struct ws_tx *tx, unsigned long long at, unsigned size)
{
	unsigned long long value, word = ws_tx__where(0, ws_tx__log_size(size), at);

	if (tx->state != WS_TX_ACTIVE)
		return 0;
	if (ws_tx__directly(tx)) {
		value = ws_tx__load(at, size);
		ws_tx__note_word(tx, WS_TX_SEEN, at, size, value);
	} else if (ws_tx__deferred(tx)) {
		if (!ws_tx__room(tx) || !ws_tx__deferred_read(tx, at, size, &value))
			return 0;
	} else if (word == tx->last_at) {
		value = tx->last_value;
	} else {
		int opened = ws_tx__beside_last(tx, word) ? 1 : ws_tx__open(tx, at, size, 0);

		if (!opened || !ws_tx__let_go(tx) || !ws_tx__in_memory(tx, word, opened))
			return 0;
		value = ws_tx__load(at, size);
		ws_tx__note_word(tx, WS_TX_SEEN, at, size, value);
		ws_tx__note_last(tx, word, value);
	}
	WS_TX_ON_READ(tx, at, size, value);
	return value;
}

/* Returns 0 when the attempt is doomed. */
WS_TX_FN int ws_tx__write_at_once(struct ws_tx *tx, unsigned long long word, unsigned long long at, unsigned size, unsigned long long value)
{
	if (!ws_tx__room(tx))
		return 0;
	ws_tx__append(tx, word, ws_tx__load(at, size));
	ws_tx__store(at, size, value);
	return 1;
}

WS_TX_ACCESS void ws_tx__write_word(struct ws_tx *tx, unsigned long long at, unsigned size, unsigned long long value)
{
	unsigned long long word = ws_tx__where(WS_TX_UNDO, ws_tx__log_size(size), at);

	if (tx->state != WS_TX_ACTIVE)
		return;
	if (tx->alone == WS_TX_READS || tx->alone == WS_TX_READS_ALONE)
		__trap();
	if (tx->alone == WS_TX_IRREVOCABLE) {
		ws_tx__store(at, size, value);
	} else if (ws_tx__deferred(tx)) {
		if (!ws_tx__room(tx))
			return;
		ws_tx__write_later(tx, at, size, value);
	} else {
		int opened = (word == tx->last_at && tx->held) || ws_tx__beside_last(tx, word) ? 1 : ws_tx__open(tx, at, size, 1);

		if (!opened)
			return;
		if (!(ws_tx__lasts(tx) ? ws_tx__hold_back(tx, word, at, size, value, opened) : ws_tx__write_at_once(tx, word, at, size, value)))
			return;
	}
	WS_TX_ON_WRITE(tx, at, size, value);
}

/* The largest aligned word that begins at `at` and has at most `left` bytes. */
WS_TX_FN unsigned ws_tx__word(unsigned long long at, unsigned left)
{
	unsigned size = 8;

	while (at % size || size > left)
		size /= 2;
	return size;
}

/* Reads size bytes (1 to 16, of any alignment) of shared memory at `from` to the thread's own memory at `to`; zeros when the
 * attempt is doomed. */
WS_TX_FN void ws_tx_read(struct ws_tx *tx, void *to, const void *from, unsigned size)
{
	unsigned done, step, i;

	for (done = 0; done < size; done += step) {
		unsigned long long at = (unsigned long long)from + done, value;

		step = ws_tx__word(at, size - done);
		value = ws_tx__read_word(tx, at, step);
		for (i = 0; i < step; i++)
			((unsigned char *)to)[done + i] = (unsigned char)(value >> 8 * i);
	}
}

/* Writes size bytes (1 to 16, of any alignment) of the thread's own memory at `from` to shared memory at `to`. */
WS_TX_FN void ws_tx_write(struct ws_tx *tx, void *to, const void *from, unsigned size)
{
	unsigned done, step, i;

	for (done = 0; done < size; done += step) {
		unsigned long long at = (unsigned long long)to + done, value = 0;

		step = ws_tx__word(at, size - done);
		for (i = 0; i < step; i++)
			value |= (unsigned long long)((const unsigned char *)from)[done + i] << 8 * i;
		ws_tx__write_word(tx, at, step, value);
	}
}

/* ws_tx_read_u32(tx, p), ws_tx_write_u32(tx, p, value) and so on: *p has the alignment of its type. */
#define WS_TX__TYPES(X) \
	X(u8, unsigned char, unsigned char, , ) \
	X(u16, unsigned short, unsigned short, , ) \
	X(u32, unsigned, unsigned, , ) \
	X(u64, unsigned long long, unsigned long long, , ) \
	X(i32, int, int, , ) \
	X(i64, long long, long long, , ) \
	X(f32, float, unsigned, __float_as_uint, __uint_as_float) \
	X(f64, double, long long, __double_as_longlong, __longlong_as_double)
#define WS_TX__WORD(NAME, TYPE, BITS, TO_BITS, FROM_BITS) \
	WS_TX_FN TYPE ws_tx_read_##NAME(struct ws_tx *tx, const TYPE *p) \
	{ \
		return FROM_BITS((BITS)ws_tx__read_word(tx, (unsigned long long)p, sizeof(TYPE))); \
	} \
	WS_TX_FN void ws_tx_write_##NAME(struct ws_tx *tx, TYPE *p, TYPE value) \
	{ \
		ws_tx__write_word(tx, (unsigned long long)p, sizeof(TYPE), (unsigned long long)TO_BITS(value)); \
	}
WS_TX__TYPES(WS_TX__WORD)
#undef WS_TX__WORD

/* Pointers, as a word of 8 bytes: ws_tx_read_pointer(tx, &node->next) is of type void *. */
WS_TX_FN void *ws_tx_read_pointer(struct ws_tx *tx, const void *p)
{
	return (void *)ws_tx__read_word(tx, (unsigned long long)p, sizeof(void *));
}
WS_TX_FN void ws_tx_write_pointer(struct ws_tx *tx, void *p, const void *value)
{
	ws_tx__write_word(tx, (unsigned long long)p, sizeof(void *), (unsigned long long)value);
}

/* A read without a promise: what is there now. It asks nobody and is not looked at again, so a section that has found its way so must
 * then read what it relies on, and if that is not as it was found, call ws_tx_conflict. A long way through a list or a tree need
 * not be one moment's then. With hstm, block and block-pessimistic what is there has been committed. With the others it may yet be
 * undone, unless sections that write there do so when they have all they need: with pstm and estm, when their last access that
 * may meet a conflict is behind them. Before the section's first access it is what a volatile load gives, which a long loop does sooner. */
WS_TX_FN unsigned long long ws_tx__peek_word(struct ws_tx *tx, unsigned long long at, unsigned size)
{
	unsigned long long want = ws_tx__bits(at, size), own = 0, have = 0, value;
	unsigned shift = 8 * (at & 7);

	if (tx->state != WS_TX_ACTIVE)
		return 0;
	if (ws_tx__deferred(tx))
		have = ws_tx__own_bits(tx, at, want, &own);
	else if (!ws_tx__settle(tx))
		return 0;
	value = ws_tx__load_first(at, size);     /* it may lead to what is peeked at next */
	tx->plain = tx->mixed = 1;
	ws_tx__note_word(tx, WS_TX_HOLD, at, size, value);
	return (value & ~(have >> shift)) | own >> shift;
}
WS_TX_FN unsigned ws_tx_peek_u32(struct ws_tx *tx, const unsigned *p)
{
	return (unsigned)ws_tx__peek_word(tx, (unsigned long long)p, sizeof *p);
}
WS_TX_FN unsigned long long ws_tx_peek_u64(struct ws_tx *tx, const unsigned long long *p)
{
	return ws_tx__peek_word(tx, (unsigned long long)p, sizeof *p);
}
WS_TX_FN void *ws_tx_peek_pointer(struct ws_tx *tx, const void *p)
{
	return (void *)ws_tx__peek_word(tx, (unsigned long long)p, sizeof(void *));
}

/* Stores in memory that no other thread can reach before this section commits, and whose address the thread has for its own: a
 * node that is not linked yet. A plain store: it asks nobody, and nothing is undone. Such a word is not written by ws_tx_write in
 * the same section (with engines that write at the end, that write would come later). */
WS_TX_FN void ws_tx__fill_word(struct ws_tx *tx, unsigned long long at, unsigned size, unsigned long long value)
{
	if (tx->state == WS_TX_ACTIVE)
		ws_tx__store(at, size, value);
	tx->plain = tx->mixed = 1;
}
WS_TX_FN void ws_tx_fill_u32(struct ws_tx *tx, unsigned *p, unsigned value)
{
	ws_tx__fill_word(tx, (unsigned long long)p, sizeof *p, value);
}
WS_TX_FN void ws_tx_fill_u64(struct ws_tx *tx, unsigned long long *p, unsigned long long value)
{
	ws_tx__fill_word(tx, (unsigned long long)p, sizeof *p, value);
}
WS_TX_FN void ws_tx_fill_pointer(struct ws_tx *tx, void *p, const void *value)
{
	ws_tx__fill_word(tx, (unsigned long long)p, sizeof value, (unsigned long long)value);
}

/* Whether an attempt has nothing that others may want. */
WS_TX_FN int ws_tx__has_nothing(const struct ws_tx *tx) { return !tx->n && !tx->near[0] && !ws_tx__has_spares(tx); }

#include "tm/spare.cuh"

/* ---- inside a section ---- */

/* Whether the attempt still has a chance. */
WS_TX_FN int ws_tx_ok(const struct ws_tx *tx) { return tx->state == WS_TX_ACTIVE; }

/* The same, and whether all values read so far were there together: with the opaque engines (WS_TM_OPAQUE) they always
 * were. */
WS_TX_STEP int ws_tx_validate(struct ws_tx *tx)
{
	if (tx->state == WS_TX_ACTIVE && !ws_tx__engine_valid(tx))
		ws_tx__doom(tx, WS_TM_INVALID);
	return ws_tx_ok(tx);
}

/* What is done cannot be undone any more: the kernel ends. */
WS_TX_FN void ws_tx__must_be_revocable(const struct ws_tx *tx)
{
	if (tx->alone == WS_TX_IRREVOCABLE)
		__trap();
}

/* Undoes everything at the end of the section, which is then not run again; ws_tx_status tells. A doomed attempt is not
 * cancelled, as the reason to do so came from values that count no more: it is run again. */
WS_TX_FN void ws_tx_abort(struct ws_tx *tx)
{
	ws_tx__must_be_revocable(tx);
	if (ws_tx_validate(tx))
		ws_tx__doom(tx, WS_TM_CANCELLED);
}

/* What was peeked at is out of date: undoes everything at the end of the section and runs it again, as any conflict does. */
WS_TX_FN void ws_tx_conflict(struct ws_tx *tx)
{
	ws_tx__must_be_revocable(tx);
	if (tx->state == WS_TX_ACTIVE)
		ws_tx__doom(tx, WS_TM_INVALID);
}

/* Undoes everything at the end of the section, and runs it again later: for a condition that another thread will make true in what the
 * section has read. */
WS_TX_FN void ws_tx_retry(struct ws_tx *tx)
{
	ws_tx__must_be_revocable(tx);
	tx->retries = 1;
	if (tx->state == WS_TX_ACTIVE)
		ws_tx__doom(tx, WS_TM_RETRY);
}

/* After the section: WS_TX_COMMITTED, WS_TX_CANCELLED or WS_TX_TOO_LARGE. */
WS_TX_FN enum ws_tx_state ws_tx_status(const struct ws_tx *tx) { return (enum ws_tx_state)tx->state; }

/* ---- memory (tm/pool.cuh; the handle was made with config.pool) ---- */

WS_TX_FN int ws_tx__may_write(const struct ws_tx *tx)
{
	if (tx->state == WS_TX_ACTIVE && (tx->alone == WS_TX_READS || tx->alone == WS_TX_READS_ALONE))
		__trap();
	return tx->state == WS_TX_ACTIVE;
}

/* Memory of so many bytes, at a multiple of 16; what is in it is anything. NULL: there is none, or the attempt is doomed. When the
 * attempt aborts it is gone. Nobody else has it before this section commits, so it can be filled by ws_tx_fill_T (and then not by
 * ws_tx_write as well, see there); not by plain stores, for attempts that will abort may still read there by old pointers. */
WS_TX_STEP void *ws_tx_alloc(struct ws_tx *tx, unsigned long long bytes)
{
	unsigned block;

	if (!ws_tx__may_write(tx) || (!ws_tx__directly(tx) && !ws_tx__room(tx)))
		return 0;
	block = ws_tx__take_block(tx->tm.pool, tx->tm.units, ws_tx__class(bytes), tx->id);
	if (!block) {
		atomicAdd(&ws_tx__stats(tx)->unallocated, 1ull);
		return 0;
	}
	if (!ws_tx__directly(tx))
		ws_tx__note_memory(tx, WS_TX_GOT, block, 0);
	return (void *)ws_tx__address_of(&tx->tm, block);
}

/* Makes all granules of a block this transaction's own, as written. Returns 0 when the attempt is doomed. */
WS_TX_FN int ws_tx__seize(struct ws_tx *tx, unsigned long long at, unsigned long long bytes)
{
	unsigned long long done;

	if (ws_tx__engine(tx) == WS_TM_CGL || WS_TM_BREAK == 29)
		return 1;
	if (!ws_tx__deferred(tx)) {
		for (done = 0; tx->state == WS_TX_ACTIVE && done < bytes; done += WS_TM_UNIT)
			ws_tx__open(tx, at + done, WS_TM_UNIT, 1);
		return tx->state == WS_TX_ACTIVE;
	}
	for (done = 0; done < bytes; done += 8) {
		if (done && ws_tx__granule(tx, at + done) == ws_tx__granule(tx, at + done - 8))
			continue;
		if (!ws_tx__room(tx))
			return 0;
		ws_tx__write_later(tx, at + done, 8, 0);
	}
	return 1;
}

/* Whether what was read has been so up to now, and not only at the time of a snapshot. If not the attempt is doomed. */
WS_TX_FN int ws_tx__still(struct ws_tx *tx)
{
	ws_tx__fence();
	if (ws_tx__engine(tx) == WS_TM_HSTM && !(WS_TM_BREAK == 41 ? ws_tx__hstm_extend(tx) : ws_tx__hstm_unwritten(tx)))
		return ws_tx__doom(tx, WS_TM_INVALID);
	return ws_tx_validate(tx);
}

/* Gives memory back that ws_tx_alloc gave, in this section or in one before; it is gone when the section commits. Counts as a write
 * of all of it. NULL: nothing. What is no such memory (any more) ends the kernel. */
WS_TX_STEP void ws_tx_free(struct ws_tx *tx, void *p)
{
	unsigned long long at = (unsigned long long)p;
	unsigned block, class_;

	if (!ws_tx__may_write(tx) || !p)
		return;
	block = ws_tx__block_at(&tx->tm, at, &class_);
	if (!block || ws_tx__has_freed(tx, block)) {
		if (ws_tx__still(tx))
			__trap();
		return;
	}
	if (ws_tx__directly(tx))
		ws_tx__give_block(tx->tm.pool, block, class_, tx->id);
	else if (ws_tx__seize(tx, at, (unsigned long long)WS_TM_UNIT << class_) && ws_tx__room(tx))
		ws_tx__note_memory(tx, WS_TX_FREED, block, class_);
}

/* ---- begin and end of an attempt ---- */

/* Undoes what was written since the log had `from` entries. Those of writes that were not made (deferred update) go: an entry of
 * all zero is none. The others may stay, as a second undo of all of them ends at the same values. */
WS_TX_FN void ws_tx__undo(struct ws_tx *tx, unsigned from)
{
	struct ws_tx_walk w = ws_tx__walk(tx);
	struct ws_tm_entry *e;

	while (w.i > from && (e = ws_tx__older(tx, &w)))
		if (ws_tx__kind(e) == WS_TX_REDO)
			e->where = 0;
		else if (ws_tx__kind(e) == WS_TX_UNDO && e->where & WS_TX_MEMORY)
			ws_tx__undo_memory(e);
		else if (ws_tx__kind(e) == WS_TX_UNDO && e->where)
			ws_tx__store(ws_tx__what(e), ws_tx__size(e), e->value);
	tx->last_at = tx->held = 0;
	ws_tx__forget_later(tx);
	ws_tx__undo_spares(tx);
}

/* The same for a part of an attempt that goes on. */
WS_TX_FN void ws_tx__undo_part(struct ws_tx *tx, unsigned from)
{
	if (WS_TM_BREAK != 43)
		ws_tx__undo(tx, from);
	if (WS_TM_STATS)
		atomicAdd(&ws_tx__stats(tx)->parts, 1ull);
}

/* A read-only section of an engine that has these wait (estm.cuh). */
WS_TX_FN int ws_tx__never_aborts(const struct ws_tx *tx) { return ws_tx__engine(tx) == WS_TM_ESTM && tx->alone == WS_TX_READS; }

/* The token (Holey 2015, 4.1, asks for a contention mechanism and leaves it open): a transaction that was aborted too often
 * takes it, and while it has it no other one starts an attempt. Those under way come to an end without waiting for anybody,
 * and then the one with the token meets no conflict. The first attempt at a section does not ask, for the answer takes
 * as long as all else: if it meets the one with the token, the next one does. Where words are their own lock, which are held for a shorter time than that takes,
 * every fourth attempt after it does. Who never aborts asks at once, or those that write might wait for readers for ever. */
WS_TX_FN int ws_tx__asks(const struct ws_tx *tx) { return tx->aborts && !(tx->words && tx->aborts % 4); }

WS_TX_FN int ws_tx__admitted(struct ws_tx *tx)
{
	unsigned owner;

	if (tx->alone == WS_TX_READS_ALONE || tx->kept)      /* who has the token waits for it */
		return 1;
	if (!ws_tx__asks(tx) && tx->aborts < tx->tm.patience && tx->alone != WS_TX_WANTS_ALONE && !ws_tx__never_aborts(tx))
		return 1;
	owner = ws_tx__load32(&tx->tm.words->token);
	if (owner)
		return owner == tx->id;
	if (tx->alone == WS_TX_READS)
		return 1;
	if (tx->aborts < tx->tm.patience && tx->alone != WS_TX_WANTS_ALONE)
		return 1;
	tx->token = atomicCAS(&tx->tm.words->token, 0u, tx->id) == 0;
	return (int)tx->token;
}

WS_TX_FN void ws_tx__drop_token(struct ws_tx *tx)
{
	if (tx->token)
		ws_tx__store32(&tx->tm.words->token, 0);
	tx->token = 0;
}

/* Lets a random number of rounds pass, up to 2^exponent. Rounds and not time: lanes in step all leave a delay together. */
WS_TX_FN void ws_tx__back_off(struct ws_tx *tx, unsigned exponent)
{
	tx->skip = ws_tx__random(tx) & ((1u << exponent) - 1);
}

/* How long a thread waits between attempts it learns from how they end, and it keeps what it has learned from one section to
 * the next: an abort doubles the time, a commit divides it by four. So, until the longest time is reached, there are about
 * two aborts a commit however many threads want the same words: with more attempts at once they take locations from each other
 * that they give back unused, with fewer the locations lie idle. */
#ifndef WS_TX_MOST
#define WS_TX_MOST 13
#endif
/* The first two aborts count for half: who has lost once tries again in the next round, with the other lanes of its warp (H200: a tenth
 * to a seventh more where few conflict). */
enum { WS_TX_MORE = 2, WS_TX_OLD = 32, WS_TX_SOON = 4, WS_TX_LARGE = 9 };

/* The longest time grows with the square root of the number of threads: one that has been unlucky in a small grid would else wait when
 * all others are done (H200, BANK and HASH-M on 2^14 and 2^18 threads: the best are 9 and 11). One that has been aborted 32 times shows
 * that this is not enough, and may wait four times as long; the first 16 in a large grid wait half as long, which words that few want are
 * better off with (a twentieth to a tenth). */
WS_TX_FN unsigned ws_tx__levels(void)
{
	unsigned long long threads = WS_TX_THREADS;
	unsigned levels = 2;

	while (levels < WS_TX_MOST - WS_TX_MORE && threads >= 4) {
		threads /= 4;
		levels++;
	}
	return levels;
}

/* Whether lanes of a warp may wait for each other at the end of a round (ws_tx__gather). */
WS_TX_FN int ws_tx__may_gather(const struct ws_tx *tx) { return tx->own && ws_tx__engine(tx) == WS_TM_PSTM; }

/* Where words are their own lock: whether the thread has lost more often than is best. One that takes one word has it for least time in vain, and most are
 * had, if every second attempt loses, one that takes two if six of seven do (docs/TRANSACTIONS.md); the first few do not count. */
enum { WS_TX_BEARABLE_ONE = 2, WS_TX_BEARABLE = 8, WS_TX_BEARABLE_FIRST = 16 };
WS_TX_FN unsigned ws_tx__loses(const struct ws_tx *tx)
{
	return tx->words && tx->lost[0] > tx->bearable * tx->tally + WS_TX_BEARABLE_FIRST;
}

/* The longest time for the next attempt. Where the lanes of a warp wait for each other, and where words are their own lock, they are held for a shorter
 * time, so it is half as long, and longer again for one that has been aborted 64 times. */
WS_TX_FN unsigned ws_tx__most(const struct ws_tx *tx)
{
	unsigned levels = tx->levels, sooner = tx->words || ws_tx__may_gather(tx);

	if (tx->why == WS_TM_RETRY)
		return WS_TX_MOST;
	if (sooner && tx->aborts >= 2 * WS_TX_OLD)
		return levels + 2 * WS_TX_MORE - 1 < WS_TX_MOST ? levels + 2 * WS_TX_MORE - 1 : WS_TX_MOST;
	if (tx->aborts >= WS_TX_OLD)
		return levels + WS_TX_MORE - sooner;
	return levels - sooner - (levels > WS_TX_LARGE && tx->aborts < WS_TX_OLD / 2) + ws_tx__loses(tx);
}

WS_TX_FN void ws_tx__learn(struct ws_tx *tx, int conflict)
{
	unsigned most = 2 * ws_tx__most(tx) + 1, up = tx->level < WS_TX_SOON ? 1 : 2;

	if (conflict)
		tx->level = tx->level + up < most ? tx->level + up : most;
	else
		tx->level -= tx->level < 4 ? tx->level : 4;
}

/* Who is not let in asks again after 2^3 rounds at most, and each time it is not after up to twice as many, to 2^WS_TX_ASKS_APART, in pauses of up to
 * WS_TX_NAP rounds. (Marked sections: src/device/tm.cu.) */
#ifndef WS_TX_ASKS_APART
#define WS_TX_ASKS_APART 3
#endif
#ifndef WS_TX_NAP
#define WS_TX_NAP 16
#endif
WS_TX_FN void ws_tx__ask_later(struct ws_tx *tx)
{
	unsigned exponent = 3 + (WS_TX_ASKS_APART > 3 ? tx->looks++ : 0);

	ws_tx__back_off(tx, exponent < WS_TX_ASKS_APART ? exponent : WS_TX_ASKS_APART);
}

/* The logarithm of the rounds to let pass. The one with the token waits longer and longer for the attempts that were under way, which
 * an unfair scheduler may let run only while it does. Who waits for a condition (ws_tx_retry) asks at most so often. */
WS_TX_FN unsigned ws_tx__exponent(const struct ws_tx *tx)
{
	unsigned more = tx->aborts - tx->tm.patience;

	if (tx->token)
		return 4 + (more < 10 ? more : 10);
	if (tx->watches && tx->level / 2 > WS_TX_LOOKS_APART)
		return WS_TX_LOOKS_APART;
	if (tx->why == WS_TM_RETRY)
		return tx->level < 12 ? 6 : tx->level / 2;
	return tx->level / 2;
}

WS_TX_FN int ws_tx__says_it_reads(const struct ws_tx *tx) { return tx->alone == WS_TX_READS || tx->alone == WS_TX_READS_ALONE; }

/* A commit of the one with the token. */
WS_TX_FN void ws_tx__count_alone(const struct ws_tx *tx)
{
	if (WS_TM_STATS && tx->token)
		atomicAdd(&ws_tx__stats(tx)->serial, 1ull);
}

WS_TX_FN void ws_tx__count_commit(struct ws_tx *tx)
{
	if (WS_TM_STATS && tx->own)
		tx->tally++;
	else if (WS_TM_STATS)
		atomicAdd(&ws_tx__stats(tx)->commits, 1ull);
	ws_tx__count_alone(tx);
	if (WS_TM_STATS && ws_tx__says_it_reads(tx))
		atomicAdd(&ws_tx__stats(tx)->read_only, 1ull);
}

WS_TX_FN void ws_tx__count_abort(struct ws_tx *tx)
{
	if (WS_TM_STATS && tx->own && tx->why == WS_TM_READ_CONFLICT)
		tx->lost[0]++;
	else if (WS_TM_STATS && tx->own && tx->why == WS_TM_WRITE_CONFLICT)
		tx->lost[1]++;
	else if (WS_TM_STATS || tx->why == WS_TM_TOO_LARGE)
		atomicAdd(&ws_tx__stats(tx)->aborts[tx->why], 1ull);
}

WS_TX_FN void ws_tx__finish_abort(struct ws_tx *tx)
{
	ws_tx__count_abort(tx);
	if (WS_TM_STATS && ws_tx__says_it_reads(tx) && tx->why <= WS_TM_NO_MEMORY)
		atomicAdd(&ws_tx__stats(tx)->read_only_aborts, 1ull);
	tx->state = tx->why == WS_TM_CANCELLED ? WS_TX_CANCELLED : tx->why == WS_TM_TOO_LARGE ? WS_TX_TOO_LARGE : WS_TX_WAITING;
	tx->aborts = tx->why == WS_TM_RETRY ? 0 : tx->aborts + 1;
	if (tx->why == WS_TM_RETRY)
		ws_tx__drop_token(tx);
	tx->watches = tx->retries && tx->why == WS_TM_RETRY && tx->noted;
	tx->looks = 0;
	ws_tx__learn(tx, tx->state == WS_TX_WAITING);
	ws_tx__back_off(tx, ws_tx__exponent(tx));
	if (tx->state != WS_TX_WAITING)
		ws_tx__drop_token(tx);
}

/* The locations have been given back. */
WS_TX_FN void ws_tx__forget_log(struct ws_tx *tx)
{
	ws_tx__give_memory(tx);
	tx->inners = 0;
	ws_tx__empty_log(tx);
	ws_tx__forget_near(tx);
	ws_tx__forget_spares(tx);
	tx->base = tx->layers = tx->other = tx->kept = 0;
	tx->last_at = tx->held = 0;
	ws_tx__forget_later(tx);
}

/* Whether an attempt that has failed has anything to give back, which must come after what it did to memory and what it has read: the program may
 * have cancelled it for that. (One of pstm that has met a conflict has given it back already: ws_tx__give_up.) */
WS_TX_FN int ws_tx__in_order(const struct ws_tx *tx)
{
	return tx->n || tx->near[0] || ws_tx__has_spares(tx) || ws_tx__engine(tx) == WS_TM_CGL;
}

/* Whether what was read is as it was to the end of the attempt. */
WS_TX_FN int ws_tx__keeps(const struct ws_tx *tx) { return ws_tx__lasts(tx) && !ws_tx__deferred(tx); }

/* At the end of a round (ws_tx__gather). */
WS_TX_FN void ws_tx__wait_for_lanes(const struct ws_tx *tx)
{
#if WS_TX_LANES
	if (ws_tx__may_gather(tx) && tx->lanes)
		__syncwarp(tx->lanes);
#else
	(void)tx;
#endif
}

/* Whether an attempt that has committed or met a conflict has nothing but words that are their own lock and in registers, or gave them back. */
WS_TX_FN int ws_tx__only_spares(const struct ws_tx *tx, int committed)
{
	return WS_TM_SPARES && ws_tx__engine(tx) == WS_TM_PSTM && tx->words && !tx->n && !tx->near[0] && !tx->held && !ws_tx__counted(tx) &&
	       tx->own && (committed || (tx->why == WS_TM_READ_CONFLICT && !tx->retries));
}

/* Whether the section has changed all words that it has taken. A store of what is as it was does not pass on what was published with it
 * (WS_TM_PASS_ON=0), so a fence stands before it. */
WS_TX_FN int ws_tx__all_changed(const struct ws_tx *tx)
{
	int all = 1;

#pragma unroll
	for (unsigned k = 0; k < WS_TX_SPARES; k++)
		all &= !tx->spare[k].size || tx->spare[k].value != tx->spare[k].before;
	return all;
}

/* The end of such an attempt: short, and the same for lanes that have won and that have lost, as they come to it together. */
WS_TX_FN void ws_tx__conclude_spares(struct ws_tx *tx, int committed)
{
	if (committed)
		WS_TX_ON_COMMIT(tx);
	if (committed && (!tx->early || ((tx->plain || (!WS_TM_PASS_ON && !ws_tx__all_changed(tx))) && WS_TM_BREAK != 45)))
		ws_tx__release_fence();
	ws_tx__give_spares(tx, committed);
	ws_tx__check_spares(tx, committed);
	ws_tx__wait_for_lanes(tx);
	tx->bearable = WS_TX_SPARES > 1 && tx->spare[WS_TX_SPARES > 1].size ? WS_TX_BEARABLE : WS_TX_BEARABLE_ONE;
	ws_tx__forget_spares(tx);
	tx->last_at = 0;
	tx->mixed = tx->plain;
	if (WS_TM_STATS) {
		tx->tally += committed != 0;
		tx->lost[0] += !committed;
	}
	ws_tx__learn(tx, !committed);
	if (!committed) {
		WS_TX_ON_ABORT(tx);
		tx->aborts++;
		ws_tx__back_off(tx, ws_tx__exponent(tx));
	} else {
		ws_tx__count_alone(tx);
		ws_tx__drop_token(tx);
	}
	tx->state = committed ? WS_TX_COMMITTED : WS_TX_WAITING;
}

/* The end of an attempt: the only place where locations are given back. `committed`: it has made its writes. */
WS_TX_FN void ws_tx__conclude(struct ws_tx *tx, int committed)
{
	int idle = !committed && ws_tx__has_nothing(tx);

	if (ws_tx__only_spares(tx, committed)) {
		ws_tx__conclude_spares(tx, committed);
		return;
	}
	if (idle)
		ws_tx__wait_for_lanes(tx);
	if (committed) {
		ws_tx__store_kept(tx);
		WS_TX_ON_COMMIT(tx);
	}
	if (WS_TM_BREAK == 5)
		ws_tx__engine_release(tx, committed);
	if (!committed && WS_TM_BREAK != 4)
		ws_tx__undo(tx, 0);
	if (!committed && tx->retries && tx->why == WS_TM_RETRY && ws_tx__keeps(tx))
		ws_tx__note_undone(tx);
	if (committed || ws_tx__in_order(tx))
		ws_tx__release_fence();
	if (WS_TM_BREAK != 5)
		ws_tx__engine_release(tx, committed);
	ws_tx__check_spares(tx, committed);
	if (!idle)
		ws_tx__wait_for_lanes(tx);
	ws_tx__forget_log(tx);
	ws_tx__leave_among(tx);
	if (committed) {
		ws_tx__count_commit(tx);
		ws_tx__drop_token(tx);
		ws_tx__learn(tx, 0);
		tx->state = WS_TX_COMMITTED;
	} else {
		WS_TX_ON_ABORT(tx);
		ws_tx__finish_abort(tx);
	}
}

/* A read-only section is gone through once more, with all that it has: what it has read stays as it is. */
WS_TX_FN void ws_tx__keep(struct ws_tx *tx)
{
	WS_TX_ON_ABORT(tx);
	if (WS_TM_STATS)
		atomicAdd(&ws_tx__stats(tx)->aborts[WS_TM_WAITS], 1ull);
	tx->state = WS_TX_WAITING;
	tx->kept = 1;
	tx->inners = tx->base = tx->layers = tx->other = 0;
}

/* Engines with deferred update look at what was read when they have locked what they write. */
WS_TX_FN void ws_tx__finish(struct ws_tx *tx)
{
	if (ws_tx__engine(tx) == WS_TM_ESTM && tx->state == WS_TX_DOOMED && tx->why == WS_TM_WAITS)
		ws_tx__keep(tx);
	else
		ws_tx__conclude(tx, (ws_tx__deferred(tx) ? ws_tx_ok(tx) : ws_tx_validate(tx)) && ws_tx__engine_commit(tx));
}

/* ---- the loop of WS_TX ---- */

WS_TX_FN void ws_tx_init(struct ws_tx *tx, struct ws_tx_log *log, struct ws_tm tm)
{
	tx->tm = tm;
	tx->log = log;
	do
		tx->id = atomicAdd(&tm.words->next_id, 1u) + 1;
	while (tx->id == 0);
	tx->state = WS_TX_COMMITTED;
	tx->why = tx->depth = tx->fresh = tx->n = tx->chunk = tx->aborts = tx->skip = tx->token = 0;
	tx->room = WS_TM_LOG;
	tx->levels = ws_tx__levels();
	tx->snapshot = tx->filter = tx->wanted = tx->last_at = tx->last_value = tx->last_before = tx->held = 0;
	tx->level = tx->base = tx->layers = tx->other = tx->alone = tx->kept = tx->memory = tx->inner = tx->inners = 0;
	ws_tx__forget_near(tx);
	ws_tx__forget_later(tx);
	ws_tx__forget_spares(tx);
	tx->own = tx->wrong = tx->tally = tx->lost[0] = tx->lost[1] = tx->lanes = tx->words = tx->bearable = tx->mixed = tx->early = tx->plain = 0;
	tx->retries = tx->noted = tx->watches = tx->looks = 0;
	tx->random = (tx->id * 0x9e3779b1u) | 1;
}

/* Tells of the commits and conflicts of a thread's transaction variable when that goes: a count at each commit is what the next one's fence waits
 * for (H200, BANK with 1M accounts on the full chip: a quarter more without). */
struct ws_tx_teller {
	struct ws_tx *tx;
	__device__ __forceinline__ explicit ws_tx_teller(struct ws_tx *t) : tx(t) { t->own = 1; }
	__device__ __forceinline__ ~ws_tx_teller()
	{
		if (WS_TM_STATS && tx->tally)
			atomicAdd(&ws_tx__stats(tx)->commits, (unsigned long long)tx->tally);
		if (WS_TM_STATS && tx->lost[0])
			atomicAdd(&ws_tx__stats(tx)->aborts[WS_TM_READ_CONFLICT], (unsigned long long)tx->lost[0]);
		if (WS_TM_STATS && tx->lost[1])
			atomicAdd(&ws_tx__stats(tx)->aborts[WS_TM_WRITE_CONFLICT], (unsigned long long)tx->lost[1]);
	}
};

/* Declares the transaction variable NAME of a thread, for any number of sections one after the other. */
#define WS_TX_VAR(NAME, TM) \
	struct ws_tx_log ws_tx_log_of_##NAME; \
	struct ws_tx NAME; \
	ws_tx_init(&NAME, &ws_tx_log_of_##NAME, TM); \
	struct ws_tx_teller ws_tx_teller_of_##NAME(&NAME)

WS_TX_FN int ws_tx__inside(const struct ws_tx *tx) { return tx->state == WS_TX_ACTIVE || tx->state == WS_TX_DOOMED; }

WS_TX_STEP void ws_tx_enter(struct ws_tx *tx)
{
	if (ws_tx__inside(tx)) {
		tx->depth++;
		tx->fresh = 1;
		return;
	}
	tx->state = WS_TX_WAITING;
	tx->aborts = 0;
	tx->alone = WS_TX_AMONG_OTHERS;
	tx->wanted = 0;
	if (WS_TM_SPARES && tx->words)         /* held so shortly that a first attempt is worth more than what was learned (H200, BANK: up to 4 %) */
		tx->skip = 0;
	else
		ws_tx__back_off(tx, tx->level / 2);
}

/* Whether there is one more round. The state goes through a register that the compiler knows nothing of: else it would move
 * what ws_tx_end does after a commit behind the loop, where lanes in step wait for those that still go round. */
WS_TX_STEP int ws_tx_again(struct ws_tx *tx)
{
	unsigned state = tx->state, fresh = tx->fresh;

	__asm__ volatile("" : "+r"(state));
	if (state == WS_TX_ACTIVE || state == WS_TX_DOOMED) {
		tx->fresh = 0;
		return (int)fresh;
	}
	return state == WS_TX_WAITING;
}

/* The lanes of a warp that come to a round together wait for each other at its end, so that an attempt has its warp to itself: what one does that has
 * lost, or lets rounds pass, would else be done while another one has words that others want, and waits for it. Every lane comes to the end of
 * its round, as an attempt waits for nobody. Returns those that are about to try. (H200, 128x128 and 2,112x128 threads: BANK with 8K accounts 362 to 397
 * and 434 to 511, HASH-M 153 to 182, VACATION 54 to 109; but LIST 3.2 to 2.6. With words that are their own lock, which are held
 * for two trips to memory, BANK is a tenth slower: those do not wait.) */
WS_TX_FN unsigned ws_tx__gather(struct ws_tx *tx)
{
#if WS_TX_LANES
	if (tx->words) {
		tx->lanes = 0;
	} else if (ws_tx__may_gather(tx)) {
		tx->lanes = __activemask();
		return __ballot_sync(tx->lanes, !tx->skip);
	}
#else
	(void)tx;
#endif
	return 0;
}

/* All this is so already when an attempt of pstm begins; said here, where the compiler sees it, it is what makes most of the code for longer
 * sections go from a short one. */
WS_TX_FN void ws_tx__begin_empty(struct ws_tx *tx)
{
	if (!tx->own || ws_tx__engine(tx) != WS_TM_PSTM)
		return;
	tx->n = tx->chunk = tx->depth = tx->inners = tx->memory = tx->base = tx->layers = tx->other = 0;
	tx->room = WS_TM_LOG;
	tx->last_at = tx->held = 0;
	ws_tx__forget_near(tx);
	ws_tx__forget_later(tx);
	ws_tx__forget_spares(tx);
}

/* Whether this round is an attempt; outside of any section. */
WS_TX_STEP int ws_tx__begin(struct ws_tx *tx)
{
	unsigned others = ws_tx__gather(tx);

	if (tx->skip) {
		unsigned nap = WS_TX_ASKS_APART > 3 && tx->looks && !tx->watches ? WS_TX_NAP : 16, rounds = tx->skip < nap ? tx->skip : nap;

		tx->skip -= rounds;
		if (!others && !tx->words)             /* who waits for such words, for a short time, does not sleep */
			ws_tx__pause(rounds);
		return 0;
	}
	if (tx->watches && ws_tx__goes_on_waiting(tx)) {
		ws_tx__back_off(tx, ws_tx__exponent(tx));
		return 0;
	}
	if (!ws_tx__admitted(tx) || !(tx->kept || ws_tx__start_among(tx))) {
		ws_tx__ask_later(tx);
		return 0;
	}
	tx->filter = 0;
	tx->noted = 0;
	if (!ws_tx__directly(tx) && !ws_tx__engine_start(tx)) {
		ws_tx__leave_among(tx);
		ws_tx__ask_later(tx);
		return 0;
	}
	tx->looks = 0;
	tx->state = WS_TX_ACTIVE;
	ws_tx__begin_empty(tx);
	tx->early = tx->plain = 0;
	WS_TX_ON_START(tx);
	return 1;
}
WS_TX_STEP int ws_tx_begin(struct ws_tx *tx) { return ws_tx__inside(tx) ? ws_tx_ok(tx) : ws_tx__begin(tx); }

WS_TX_STEP void ws_tx_end(struct ws_tx *tx)
{
	if (tx->depth)
		tx->depth--;
	else if (ws_tx__inside(tx))
		ws_tx__finish(tx);
	else
		ws_tx__wait_for_lanes(tx);
}

/* One attempt at a section, or a round in which the thread waits for its next one. The caller comes back, with the same work, until
 * ws_tx_done: lanes of a warp whose section is done go on to their next one while others are still at theirs. Not inside of a section: that ends
 * the kernel.
 *
 *     for (i = first; i < n; i += ws_tx_done(&tx) * step)
 *             WS_TX_TRY(&tx) { ... } */
#define WS_TX_TRY(TX) \
	for (int ws_tx_round = ws_tx__try(TX); ws_tx_round; ws_tx__leave(TX, ws_tx_round), ws_tx_round = 0) \
		for (int ws_tx_once = ws_tx__begin(TX); ws_tx_once; ws_tx_once = 0, ws_tx_round = ws_tx__finish_here(TX))

/* Where words are their own lock the end of an attempt stands behind it, and not behind a round in which nothing was tried as well: so the compiler
 * knows what an attempt can have (H200, BANK: a seventh more). For other words (a tenth less in COUNTER) and after a `break` it stands behind both. That
 * such a round has left nothing to end is not said: the code would be less, and is less in step (HASH-S with 2K lists: a fifth less). */
enum { WS_TX_ENDED = 2 };
WS_TX_FN int ws_tx__finish_here(struct ws_tx *tx)
{
	if (!tx->words)
		return 1;
	ws_tx__finish(tx);
	return WS_TX_ENDED;
}
WS_TX_FN void ws_tx__leave(struct ws_tx *tx, int round)
{
	if (round != WS_TX_ENDED)
		ws_tx_end(tx);
}

WS_TX_FN int ws_tx__try(struct ws_tx *tx)
{
	if (ws_tx__inside(tx))
		__trap();
	if (tx->state != WS_TX_WAITING)
		ws_tx_enter(tx);
	tx->fresh = 0;
	return 1;
}

/* Whether the section that was tried last has ended: 1 or 0. Hidden from the compiler, which else makes two loops of one. */
WS_TX_FN unsigned ws_tx_done(const struct ws_tx *tx)
{
	unsigned done = tx->state != WS_TX_WAITING;

	__asm__ volatile("" : "+r"(done));
	return done;
}

/* A section within a section of the same variable is a part of it: it takes effect, and is undone, with the whole. */
#define WS_TX(TX) \
	for (ws_tx_enter(TX); ws_tx_again(TX); ws_tx_end(TX)) \
		for (int ws_tx_once = ws_tx_begin(TX); ws_tx_once; ws_tx_once = 0)

/* ---- alone (tm/alone.cuh; the handle was made with config.alone) ---- */

/* Inside a section: makes it irrevocable. 0: not yet; the attempt is lost, and the section is run again when no other transaction
 * runs. 1: from here on it cannot fail. It may then do what cannot be undone (printf, say), needs no log, and must not call
 * ws_tx_abort or ws_tx_retry.
 *
 *     if (!ws_tx_irrevocable(&tx))
 *             continue; */
WS_TX_STEP int ws_tx_irrevocable(struct ws_tx *tx)
{
	if (!tx->tm.counted || tx->alone == WS_TX_READS || tx->alone == WS_TX_READS_ALONE)
		__trap();
	if (tx->state != WS_TX_ACTIVE || tx->alone == WS_TX_IRREVOCABLE)
		return tx->state == WS_TX_ACTIVE;
	if (!tx->token) {
		tx->alone = WS_TX_WANTS_ALONE;
		return ws_tx__doom(tx, WS_TM_ALONE);
	}
	if (!ws_tx_validate(tx) || !ws_tx__engine_commit(tx))       /* what it has done so far; only memory can be wanting */
		return 0;
	ws_tx__store_kept(tx);
	ws_tx__release_fence();
	ws_tx__engine_release(tx, 1);
	ws_tx__forget_log(tx);
	tx->filter = 0;
	tx->alone = WS_TX_IRREVOCABLE;
	return 1;
}

WS_TX_FN void ws_tx__enter_reads(struct ws_tx *tx)
{
	int inside = ws_tx__inside(tx);

	ws_tx_enter(tx);
	if (!inside && (tx->tm.counted || ws_tx__engine(tx) == WS_TM_ESTM))
		tx->alone = WS_TX_READS;
}

/* A section that writes nothing (a write in it ends the kernel). With engine estm it never aborts, unless the heap is used up, and
 * waits at what is being written (estm.cuh). With a handle that counts attempts it aborts once at most with any engine: then it
 * runs while nobody writes, and without a log. Else it is WS_TX. */
#define WS_TX_READ_ONLY(TX) \
	for (ws_tx__enter_reads(TX); ws_tx_again(TX); ws_tx_end(TX)) \
		for (int ws_tx_once = ws_tx_begin(TX); ws_tx_once; ws_tx_once = 0)

/* ---- alternatives ---- */

/* Begins an alternative; the number is for its end. */
WS_TX_STEP unsigned ws_tx__either(struct ws_tx *tx)
{
	tx->other = 0;
	if (ws_tx__settle(tx))
		ws_tx__spill_all(tx);
	tx->base = tx->n;
	return tx->n + 1;
}

/* The end of an alternative that began with `from` log entries: one that wants to be run again later is undone. What it has
 * read stays read, for that is why the other one is run. */
WS_TX_STEP unsigned ws_tx__either_end(struct ws_tx *tx, unsigned from)
{
	tx->other = tx->state == WS_TX_DOOMED && tx->why == WS_TM_RETRY;
	if (tx->other) {
		ws_tx__undo_part(tx, from);
		tx->state = WS_TX_ACTIVE;
	}
	return 0;
}

WS_TX_FN int ws_tx__other(struct ws_tx *tx)
{
	unsigned other = tx->other;

	tx->other = 0;
	return (int)other;
}

/* Inside a section: runs the first part; if that ends in ws_tx_retry, undoes it alone and runs the second (Harris et al. 2005,
 * Composable memory transactions, 3.4: orElse). If that retries as well, the whole section is run again later.
 *
 *     WS_TX_EITHER(&tx) { take from a queue, or ws_tx_retry } WS_TX_OR(&tx) { take from another one } */
#define WS_TX_EITHER(TX) \
	for (unsigned ws_tx_from = ws_tx__either(TX); ws_tx_from; ws_tx_from = ws_tx__either_end(TX, ws_tx_from - 1)) \
		for (int ws_tx_once = ws_tx_ok(TX); ws_tx_once; ws_tx_once = 0)
#define WS_TX_OR(TX) for (int ws_tx_other = ws_tx__other(TX); ws_tx_other; ws_tx_other = 0)

/* ---- inner sections that are undone by themselves (closed nesting) ---- */

/* An inner section that met a conflict is run again by itself so often, and then the whole; if so many log entries came before it, and
 * not an eighth as many in it. Meanwhile it keeps the locations that it has taken, and those that others wait for are the inner ones more often than
 * not (H200, 4,096 threads, 2 words of 1,024 in the inner section and 4 of its own before it: 7.6 ms if it always is, 4.2 if it never is; 31 before it: 6.7 and 7.0). */
enum { WS_TX_INNER_TRIES = 3 };
#ifndef WS_TX_INNER_WORTH
#define WS_TX_INNER_WORTH 32
#endif

/* Begins an inner section, or a try of it; the number is for its end: log entries from before + 1, tries in the upper half. */
WS_TX_STEP unsigned long long ws_tx__inner(struct ws_tx *tx)
{
	if (!ws_tx_ok(tx) || !ws_tx__settle(tx) || !ws_tx__spill_all(tx))
		return 0;
	tx->inners++;
	tx->inner = WS_TX_INNER_DONE;
	tx->base = tx->n;
	return tx->n + 1ull;
}

/* What comes behind a part that has lost. */
enum ws_tx_part {
	WS_TX_PART_LOST,             /* what is around it has lost as well */
	WS_TX_PART_AGAIN,
	WS_TX_PART_UNDONE            /* by the program */
};

/* Whether what is read takes no location: it is looked at again later. */
WS_TX_FN int ws_tx__reads_unseen(const struct ws_tx *tx) { return ws_tx__engine(tx) == WS_TM_ISTM || ws_tx__deferred(tx); }

/* What was read since the log had `from` entries counts no more. Where reading takes locations they stay taken: that only brings conflicts that
 * are none. */
WS_TX_FN void ws_tx__unread(struct ws_tx *tx, unsigned from)
{
	struct ws_tx_walk w = ws_tx__walk(tx);
	struct ws_tm_entry *e;

	while (ws_tx__reads_unseen(tx) && w.i > from && (e = ws_tx__older(tx, &w)))
		if (ws_tx__kind(e) == WS_TX_SEEN)
			e->where = 0;
}

/* Whether to run it again by itself is better than the whole. */
WS_TX_FN int ws_tx__is_worth_it(const struct ws_tx *tx, unsigned from)
{
	return WS_TX_INNER_WORTH == 0 || (from >= WS_TX_INNER_WORTH && tx->n - from <= from / 8);
}

/* Whether what went wrong may concern the inner section alone. */
WS_TX_FN int ws_tx__may_be_inner(const struct ws_tx *tx)
{
	return tx->why == WS_TM_READ_CONFLICT || tx->why == WS_TM_WRITE_CONFLICT || (tx->why == WS_TM_INVALID && ws_tx__reads_unseen(tx));
}

/* Whether what was read before the inner section is as it was. */
WS_TX_FN int ws_tx__outer_valid(struct ws_tx *tx)
{
	if (ws_tx__engine(tx) == WS_TM_HSTM && tx->why == WS_TM_INVALID && !ws_tx__hstm_extend(tx))
		return ws_tx__doom(tx, WS_TM_INVALID);
	return ws_tx_validate(tx);
}

/* An inner section has lost that began with `from` log entries, as before in so many tries: enum ws_tx_part. If it is to be run
 * again, or was undone by the program, the attempt goes on. */
WS_TX_FN unsigned ws_tx__inner_lost(struct ws_tx *tx, unsigned from, unsigned tries)
{
	int left = tx->inner == WS_TX_INNER_LEFT, again = !left && tries < WS_TX_INNER_TRIES && ws_tx__is_worth_it(tx, from) && ws_tx__may_be_inner(tx);

	tx->inner = left ? WS_TX_INNER_UNDONE : WS_TX_INNER_DONE;
	if (!left && !again)
		return WS_TX_PART_LOST;
	ws_tx__undo_part(tx, from);
	if (again || WS_TM_BREAK == 44)
		ws_tx__unread(tx, from);
	tx->state = WS_TX_ACTIVE;
	if (!ws_tx__outer_valid(tx))             /* the whole is run again */
		return WS_TX_PART_LOST;
	return left ? WS_TX_PART_UNDONE : WS_TX_PART_AGAIN;
}

/* The end: 0, or the mark for one more try. */
WS_TX_STEP unsigned long long ws_tx__inner_end(struct ws_tx *tx, unsigned long long mark)
{
	if (tx->state != WS_TX_DOOMED)
		tx->inner = WS_TX_INNER_DONE;
	else if (ws_tx__inner_lost(tx, (unsigned)mark - 1, (unsigned)(mark >> 32)) == WS_TX_PART_AGAIN)
		return mark + (1ull << 32);
	tx->inners--;
	return 0;
}

/* Inside a section: an inner one, which is a part of it, but can be undone alone: by ws_tx_abort_inner, and after a conflict in it, when
 * it is run again by itself while what was done before is kept (closed nesting; Moss 1981, Nested transactions).
 *
 *     WS_TX_INNER(&tx) { ... if (...) ws_tx_abort_inner(&tx); ... }
 *     if (ws_tx_inner_undone(&tx)) ... */
#define WS_TX_INNER(TX) \
	for (unsigned long long ws_tx_mark = ws_tx__inner(TX); ws_tx_mark; ws_tx_mark = ws_tx__inner_end(TX, ws_tx_mark)) \
		for (int ws_tx_once = ws_tx_ok(TX); ws_tx_once; ws_tx_once = 0)

/* Undoes the innermost WS_TX_INNER at its end, and it alone: the section goes on behind it. Outside of one it is ws_tx_abort. */
WS_TX_STEP void ws_tx_abort_inner(struct ws_tx *tx)
{
	if (!tx->inners) {
		ws_tx_abort(tx);
		return;
	}
	ws_tx__must_be_revocable(tx);
	if (ws_tx_validate(tx)) {
		tx->inner = WS_TX_INNER_LEFT;
		ws_tx__doom(tx, WS_TM_CANCELLED);
	}
}

/* Whether the inner section that has ended last was undone by ws_tx_abort_inner. */
WS_TX_FN int ws_tx_inner_undone(const struct ws_tx *tx) { return tx->inner == WS_TX_INNER_UNDONE; }

#endif

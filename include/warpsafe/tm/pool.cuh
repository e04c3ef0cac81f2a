/* pool.cuh - memory that a transaction allocates and frees. An allocation is given back when the attempt aborts, a free takes effect
 * when it commits. Included by tm.cuh, which has the calls (ws_tx_alloc, ws_tx_free).
 *
 * The pool is mapped for as long as the handle lives: an attempt that still follows an old pointer reads a wrong value at worst, and
 * then aborts. That it never writes to a block that has become another's:
 *   cgl, pstm, estm             who freed the block had written the pointer to it, and nobody else had read that at the time
 *   hstm, block(-pessimistic)   write at the end, when what they have read is known to be so
 *   istm                        takes the location, and then looks whether what it has read is so, before it writes (with a pool)
 * For that a free counts as a write of the block: it takes all its granules, and all that others have of them is older when it
 * is allocated again. So a new block can be filled (ws_tx_fill_T) and nobody need be asked, with every engine.
 *
 * Blocks have 16 bytes times a power of two. Those given back lie on stacks without locks (log.cuh), for each size and one of
 * 64 groups of threads; a larger one is cut in two if there is no other. They are never joined again. */
#ifndef WARPSAFE_TM_POOL_CUH
#define WARPSAFE_TM_POOL_CUH

#include "log.cuh"

/* links[number]: IN_USE | class, or the number + 1 of the next one on its stack. */
#define WS_TX_IN_USE 0x80000000u

/* In a log entry: of memory, not of a write (kind WS_TX_UNDO; value: number + 1 of the block, and of one that is freed its class in the upper
 * half). */
#define WS_TX_MEMORY (1ull << 59)
enum ws_tx_memory {
	WS_TX_GOT,            /* is to be given back if it is undone */
	WS_TX_FREED,          /* is to be given back unless it is undone */
	WS_TX_LOST            /* is to be given back */
};

WS_TX_FN unsigned *ws_tx__pool_links(struct ws_tm_pool *pool) { return (unsigned *)(pool + 1); }
WS_TX_FN unsigned long long ws_tx__pool_base(const struct ws_tm_pool *pool, unsigned units)
{
	return (unsigned long long)pool + (sizeof *pool + 4ull * units + 127) / 128 * 128;
}

/* Whether a block may lie there. */
WS_TX_FN int ws_tx__in_pool(const struct ws_tm *tm, unsigned long long at)
{
	return tm->units && at - (unsigned long long)tm->pool < WS_TM_POOL_BYTES(tm->units);
}

WS_TX_FN unsigned ws_tx__class(unsigned long long bytes)
{
	unsigned class_ = 0;

	while (class_ < WS_TM_CLASSES - 1 && (unsigned long long)WS_TM_UNIT << class_ < bytes)
		class_++;
	return class_;
}

/* Memory that was never in use. Threads that ask at once for different sizes may pass by what is left at the end. */
WS_TX_FN unsigned ws_tx__fresh_block(struct ws_tm_pool *pool, unsigned units, unsigned class_)
{
	unsigned long long n = ws_tx__load64(&pool->fresh);

	if (n + (1ull << class_) <= units)
		n = atomicAdd(&pool->fresh, 1ull << class_);
	return n + (1ull << class_) <= units ? (unsigned)n + 1 : 0;
}

/* Stacks without locks (Treiber 1986), their tops with a count against ABA. A number + 1; 0: the stack is empty. */
WS_TX_RARE unsigned ws_tx__pop(unsigned long long *top, const unsigned *links)
{
	unsigned long long old = ws_tx__load64(top), seen;

	while ((unsigned)old) {
		ws_tx__fence();
		seen = atomicCAS(top, old, ((old >> 32) + 1) << 32 | ws_tx__load32(&links[(unsigned)old - 1]));
		if (seen == old) {
			ws_tx__fence();
			break;
		}
		old = seen;
	}
	return (unsigned)old;
}

WS_TX_RARE void ws_tx__give_block(struct ws_tm_pool *pool, unsigned block, unsigned class_, unsigned group)
{
	unsigned long long *top = &pool->top[group % WS_TM_TOPS][class_], old = ws_tx__load64(top), seen;

	for (;; old = seen) {
		ws_tx__store32(&ws_tx__pool_links(pool)[block - 1], (unsigned)old);
		ws_tx__fence();
		seen = atomicCAS(top, old, ((old >> 32) + 1) << 32 | block);
		if (seen == old)
			return;
	}
}

/* One of any group. */
WS_TX_FN unsigned ws_tx__pop_any(struct ws_tm_pool *pool, unsigned class_, unsigned group)
{
	unsigned block = 0;

	for (unsigned k = 0; !block && k < WS_TM_TOPS; k++)
		block = ws_tx__pop(&pool->top[(group + k) % WS_TM_TOPS][class_], ws_tx__pool_links(pool));
	return block;
}

/* Number + 1 of a block, in use from now on; 0: there is no memory. */
WS_TX_RARE unsigned ws_tx__take_block(struct ws_tm_pool *pool, unsigned units, unsigned class_, unsigned group)
{
	unsigned block, from = class_;

	if (1ull << class_ > units)
		return 0;
	block = ws_tx__pop(&pool->top[group % WS_TM_TOPS][class_], ws_tx__pool_links(pool));
	if (!block)
		block = ws_tx__fresh_block(pool, units, class_);
	if (!block)
		block = ws_tx__pop_any(pool, class_, group);
	while (!block && 2ull << from <= units)
		block = ws_tx__pop_any(pool, ++from, group);
	while (block && from > class_) {
		from--;
		ws_tx__give_block(pool, block + (1u << from), from, group);
	}
	if (block)
		ws_tx__store32(&ws_tx__pool_links(pool)[block - 1], WS_TX_IN_USE | class_);
	return block;
}

/* Number + 1 of the block in use that begins there, and its class; 0: none does. One look at the link tells both: an attempt that will
 * abort asks for a block that others may give back at any time, and then the link is the number of another one. */
WS_TX_FN unsigned ws_tx__block_at(const struct ws_tm *tm, unsigned long long at, unsigned *class_)
{
	unsigned long long offset = tm->units ? at - ws_tx__pool_base(tm->pool, tm->units) : ~0ull;
	const unsigned *link;
	unsigned old;

	if (offset % WS_TM_UNIT || offset / WS_TM_UNIT >= tm->units)
		return 0;
	link = &ws_tx__pool_links(tm->pool)[offset / WS_TM_UNIT];
	old = ws_tx__load32(link);
	*class_ = (WS_TM_BREAK == 40 ? ws_tx__load32(link) : old) & ~WS_TX_IN_USE;
	return old & WS_TX_IN_USE ? (unsigned)(offset / WS_TM_UNIT) + 1 : 0;
}

WS_TX_FN unsigned ws_tx__class_of(const struct ws_tm *tm, unsigned block)
{
	return ws_tx__load32(&ws_tx__pool_links(tm->pool)[block - 1]) & ~WS_TX_IN_USE;
}

WS_TX_FN unsigned long long ws_tx__address_of(const struct ws_tm *tm, unsigned block)
{
	return ws_tx__pool_base(tm->pool, tm->units) + (unsigned long long)WS_TM_UNIT * (block - 1);
}

/* ---- in a transaction; the log has room ---- */

WS_TX_FN void ws_tx__note_memory(struct ws_tx *tx, unsigned what, unsigned block, unsigned class_)
{
	ws_tx__append(tx, ws_tx__where(WS_TX_UNDO, what, WS_TX_MEMORY), (unsigned long long)class_ << 32 | block);
	tx->memory = 1;
}

WS_TX_FN unsigned ws_tx__memory_kind(const struct ws_tm_entry *e) { return (unsigned)(e->where >> 60 & 3); }

WS_TX_FN int ws_tx__frees(const struct ws_tm_entry *e)
{
	return ws_tx__kind(e) == WS_TX_UNDO && e->where & WS_TX_MEMORY && ws_tx__memory_kind(e) == WS_TX_FREED;
}

/* Whether the attempt has freed a block. */
WS_TX_FN int ws_tx__has_freed(const struct ws_tx *tx, unsigned block)
{
	struct ws_tx_walk w = ws_tx__walk(tx);
	struct ws_tm_entry *e;
	int found = 0;

	while (tx->memory && !found && (e = ws_tx__older(tx, &w)))
		found = ws_tx__frees(e) && (unsigned)e->value == block;
	return found;
}

/* Whether the blocks that are to be given back, all of whose granules are locked, have the class by which that was done. */
WS_TX_FN int ws_tx__same_classes(const struct ws_tx *tx)
{
	struct ws_tx_walk w = ws_tx__walk(tx);
	struct ws_tm_entry *e;
	int same = 1;

	while (tx->memory && same && (e = ws_tx__older(tx, &w)))
		if (ws_tx__frees(e) && WS_TM_BREAK != 42)
			same = ws_tx__load32(&ws_tx__pool_links(tx->tm.pool)[(unsigned)e->value - 1]) == (WS_TX_IN_USE | (unsigned)(e->value >> 32));
	return same;
}

/* The attempt, or an alternative in it, is undone. */
WS_TX_FN void ws_tx__undo_memory(struct ws_tm_entry *e)
{
	if (ws_tx__memory_kind(e) == WS_TX_FREED && WS_TM_BREAK != 31)
		e->where = 0;
	else if (WS_TM_BREAK != 30)
		e->where = ws_tx__where(WS_TX_UNDO, WS_TX_LOST, WS_TX_MEMORY);
}

/* The attempt is over, and its locations have been given back. */
WS_TX_FN void ws_tx__give_memory(struct ws_tx *tx)
{
	struct ws_tx_walk w = ws_tx__walk(tx);
	struct ws_tm_entry *e;

	while (tx->memory && (e = ws_tx__older(tx, &w)))
		if (ws_tx__kind(e) == WS_TX_UNDO && e->where & WS_TX_MEMORY && ws_tx__memory_kind(e) != WS_TX_GOT)
			ws_tx__give_block(tx->tm.pool, (unsigned)e->value, ws_tx__class_of(&tx->tm, (unsigned)e->value), tx->id);
	tx->memory = 0;
}

#endif

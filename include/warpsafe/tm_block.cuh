/* tm_block.cuh - transactions on objects by a whole thread block (or warp), with the calls of:
 *
 *   Sheraz Chaudhry: Software transactional memory on CUDA, 2009, 6 and 7.
 *
 *     the paper                     here
 *     init(blocks, log, buffer, n)  ws_stm_init(&tm, groups, entries, buffer, n, engine)    host
 *     Start()                       ws_stm_start(&stm)
 *     Read(at, size, STMREAD)       ws_stm_read(&stm, at, size, WS_STM_READ)
 *     Write_Intend(at)              ws_stm_write_intend(&stm, at)
 *     Commit()                      ws_stm_commit(&stm)
 *     Abort()                       ws_stm_abort(&stm)
 *
 *     __global__ void set(struct ws_tm tm, struct node *root, int value)
 *     {
 *             WS_STM_BLOCK_VAR(stm, tm);
 *
 *             do {
 *                     ws_stm_start(&stm);
 *                     struct node *n = (struct node *)ws_stm_read(&stm, root, sizeof *root, WS_STM_WRITE);
 *                     if (n && threadIdx.x == 0)
 *                             n->value = value;
 *             } while (!ws_stm_commit(&stm));
 *     }
 *
 * All lanes make all calls together, with the same arguments. ws_stm_read gives a copy of an object, always the same one in an
 * attempt; what the lanes change there is written back by the commit if the object was read with WS_STM_WRITE or was named by
 * ws_stm_write_intend. Copies are made by all lanes; struct ws_stm.copy says how, for the paper's comparison (its 6.6). After a
 * call that was in vain (NULL, 0) the transaction is made again from ws_stm_start, with or without ws_stm_abort before.
 *
 * The engine is block or block-pessimistic (tm/block.cuh): what is committed is serializable; an attempt may see objects that
 * were not there together, each in itself whole. Transactions of tm.cuh and tm_group.cuh on the same handle exclude these and are
 * excluded by them. An object locks all granules that it lies in; two objects must not overlap.
 *
 * Departures from the paper: log and buffer grow on the heap of the handle, and what does not fit it ends the transaction (ws_stm_too_large),
 * never with a wrong result; copies lie in shared memory first (WS_STM_NEAR bytes). An object has at most
 * WS_STM_LARGEST bytes. */
#ifndef WARPSAFE_TM_BLOCK_API_CUH
#define WARPSAFE_TM_BLOCK_API_CUH

#include "tm.h"
#include "tm_group.cuh"

/* Bytes of copies in shared memory, for each group; 16 at least. */
#ifndef WS_STM_NEAR
#define WS_STM_NEAR 1024
#endif
enum { WS_STM_LARGEST = WS_TM_CHUNK * 16 };

enum ws_stm_intent { WS_STM_READ, WS_STM_WRITE };
enum ws_stm_copy {
	WS_STM_WORDS,         /* all lanes, words as large as the object's alignment lets */
	WS_STM_ONE,           /* one lane, byte by byte */
	WS_STM_32,            /* 32 lanes, byte by byte */
	WS_STM_BYTES          /* all lanes, byte by byte */
};

/* In shared memory. */
struct ws_stm_shared {
	struct ws_group_shared group;
	struct ws_tx list;            /* of objects: its log alone is used. An entry: address | intent << 60, number of copy | size << 48 */
	struct ws_tx_log list_log;
	unsigned chunk, chunks, used; /* of copies: newest chunk of the heap, how many, bytes in use in it (in near, without one) */
	unsigned found;               /* entry of the object that is asked for + 1 */
	char *copy;
	__attribute__((aligned(16))) unsigned long long near[(WS_STM_NEAR + 15) / 16 * 2];
};

struct ws_stm {
	struct ws_group group;
	struct ws_stm_shared *shared;
	enum ws_stm_copy copy;        /* may be set before any call */
};

/* ---- host ---- */

/* Sets *tm up for so many groups that run at a time, each with `entries` objects of `buffer` bytes in all in a transaction (both are
 * what memory is made ready for, not a limit), and 2^locks locks. Objects share one if they lie in the same 64 bytes.
 * ws_tm_destroy gives all back. Errors as ws_tm_create. */
static inline cudaError_t ws_stm_init(struct ws_tm *tm, unsigned groups, unsigned entries, size_t buffer, unsigned locks,
                                      enum ws_tm_engine engine)
{
	struct ws_tm_config c = ws_tm_defaults();
	const size_t chunk = WS_TM_CHUNK * sizeof(struct ws_tm_entry);

	memset(tm, 0, sizeof *tm);
	if ((engine != WS_TM_BLOCK && engine != WS_TM_BLOCK_PESSIMISTIC) || locks > 30)
		return cudaErrorInvalidValue;
	c.engine = engine;
	c.granularity = 64;
	c.entries = 1u << locks;
	/* An object has an entry for itself and one or two for its versions, and two when it is locked. */
	c.heap = groups * (((size_t)entries * 5 / WS_TM_CHUNK + 2) * chunk + (buffer / chunk * 2 + 2) * chunk);
	return ws_tm_create(tm, &c);
}

/* ---- set-up ---- */

WS_TX_FN struct ws_stm ws_stm__of(struct ws_stm_shared *shared, struct ws_group group, struct ws_tm tm)
{
	struct ws_stm stm = { group, shared, WS_STM_WORDS };

	if (tm.engine != WS_TM_BLOCK && tm.engine != WS_TM_BLOCK_PESSIMISTIC)
		__trap();
	if (group.lane == 0) {
		shared->list = group.shared->tx;
		shared->list.log = &shared->list_log;
		shared->chunk = shared->chunks = shared->used = 0;
	}
	ws_group_sync(&stm.group);
	return stm;
}

WS_TX_FN struct ws_stm ws_stm_of_block(struct ws_stm_shared *shared, struct ws_tm tm)
{
	return ws_stm__of(shared, ws_group_of_block(&shared->group, tm), tm);
}

WS_TX_FN struct ws_stm ws_stm_of_warp(struct ws_stm_shared *shared, struct ws_tm tm)
{
	struct ws_stm_shared *own = shared + ws_group__thread() / 32;

	return ws_stm__of(own, ws_group__of_warp(&own->group, tm), tm);
}

#define WS_STM_BLOCK_VAR(NAME, TM) \
	__shared__ struct ws_stm_shared ws_stm_of_##NAME; \
	struct ws_stm NAME = ws_stm_of_block(&ws_stm_of_##NAME, TM)
#define WS_STM_WARP_VAR(NAME, TM, WARPS) \
	__shared__ struct ws_stm_shared ws_stm_of_##NAME[WARPS]; \
	struct ws_stm NAME = ws_stm_of_warp(ws_stm_of_##NAME, TM)

WS_TX_FN int ws_stm__pessimistic(const struct ws_tx *tx) { return ws_tx__engine(tx) == WS_TM_BLOCK_PESSIMISTIC; }

/* ---- the list of objects ---- */

WS_TX_FN struct ws_tm_entry *ws_stm__entry(const struct ws_tx *list, unsigned i)
{
	unsigned chunk = list->chunk, base = list->room - WS_TM_CHUNK;

	if (i < WS_TM_LOG)
		return &list->log->own[i];
	for (; i < base; base -= WS_TM_CHUNK)
		chunk = ws_tx__below(list->tm.links, chunk);
	return ws_tx__in_chunk(list, chunk, i - base);
}

/* Number + 1 of the object at `at`, for all lanes; 0: it was not read yet. Each lane looks at some. */
WS_GROUP_RARE unsigned ws_stm__find(const struct ws_stm *stm, unsigned long long at)
{
	struct ws_stm_shared *s = stm->shared;
	unsigned i, found;

	ws_group_sync(&stm->group);
	if (stm->group.lane == 0)
		s->found = 0;
	ws_group_sync(&stm->group);
	for (i = stm->group.lane; i < s->list.n; i += stm->group.lanes)
		if (ws_tx__what(ws_stm__entry(&s->list, i)) == at)
			s->found = i + 1;
	ws_group_sync(&stm->group);
	found = s->found;
	ws_group_sync(&stm->group);
	return found;
}

/* ---- copies ---- */

/* Copies go by a number of 48 bits: first those in shared memory, then the heap. */
WS_TX_FN unsigned long long ws_stm__number_of(const struct ws_stm_shared *s, const char *copy)
{
	return (unsigned long long)(s->chunk ? copy - (const char *)s->list.tm.heap + sizeof s->near : copy - (const char *)s->near);
}

WS_TX_FN char *ws_stm__copy_of(struct ws_stm_shared *s, const struct ws_tm_entry *e)
{
	unsigned long long number = e->value << 16 >> 16;

	return number < sizeof s->near ? (char *)s->near + number : (char *)s->list.tm.heap + number - sizeof s->near;
}
WS_TX_FN unsigned ws_stm__bytes_of(const struct ws_tm_entry *e) { return (unsigned)(e->value >> 48); }

/* All lanes; those of them that have a part in it. One of the two is shared between transactions. */
WS_GROUP_RARE void ws_stm__copy(const struct ws_stm *stm, char *to, const char *from, unsigned size)
{
	unsigned lane = stm->group.lane, lanes = stm->group.lanes, step = 8;

	if (stm->copy == WS_STM_ONE)
		lanes = 1;
	else if (stm->copy == WS_STM_32)
		lanes = lanes < 32 ? lanes : 32;
	while (((unsigned long long)to | (unsigned long long)from | size) & (step - 1) || (stm->copy != WS_STM_WORDS && step > 1))
		step /= 2;
	for (unsigned i = lane * step; lane < lanes && i < size; i += lanes * step)
		ws_tx__store((unsigned long long)to + i, step, ws_tx__load((unsigned long long)from + i, step));
}

/* Why there was no chunk for objects. */
WS_TX_FN unsigned ws_stm__no_room(const struct ws_stm_shared *s)
{
	const struct ws_tx *tx = &s->group.tx;

	return ws_tx__chunks(tx) + ws_tx__chunks(&s->list) + s->chunks == tx->tm.chunks ? WS_TM_TOO_LARGE : WS_TM_NO_MEMORY;
}

/* Memory for a copy; NULL: the attempt is doomed. */
WS_TX_FN char *ws_stm__room(struct ws_stm_shared *s, unsigned size)
{
	struct ws_tx *tx = &s->group.tx;
	unsigned room = s->chunk ? WS_TM_CHUNK * 16 : (unsigned)sizeof s->near, chunk;

	size = (size + 15) / 16 * 16;
	if (s->used + size > room) {
		chunk = size <= WS_STM_LARGEST ? ws_tx__take_chunk(tx, s->chunk, ws_tx__chunks(tx) + ws_tx__chunks(&s->list) + s->chunks)
		                                : 0;
		if (!chunk) {
			ws_tx__doom(tx, size > WS_STM_LARGEST ? WS_TM_TOO_LARGE : ws_stm__no_room(s));
			return 0;
		}
		s->chunk = chunk;
		s->chunks++;
		s->used = 0;
	}
	s->used += size;
	return (s->chunk ? (char *)ws_tx__in_chunk(tx, s->chunk, 0) : (char *)s->near) + s->used - size;
}

/* Gives back what the attempt had for objects. */
WS_TX_FN void ws_stm__empty(struct ws_stm_shared *s)
{
	ws_tx__empty_log(&s->list);
	if (s->chunk)
		ws_tx__give_chunks(s->list.tm.links, s->chunk);
	s->chunk = s->chunks = s->used = 0;
}

/* ---- the calls ---- */

WS_TX_FN int ws_stm__try(struct ws_stm_shared *s)
{
	struct ws_tx *tx = &s->group.tx;

	if (tx->state == WS_TX_TOO_LARGE)
		__trap();
	if (tx->state != WS_TX_WAITING)
		ws_tx_enter(tx);
	return ws_tx_begin(tx);
}

/* What is to be done before a new attempt, if the last one has not been ended. */
WS_TX_FN void ws_stm__drop(struct ws_stm_shared *s)
{
	struct ws_tx *tx = &s->group.tx;

	if (!ws_tx__inside(tx))
		return;
	if (tx->state == WS_TX_ACTIVE)
		ws_tx__doom(tx, WS_TM_RETRY);
	ws_tx__conclude(tx, 0);
	ws_stm__empty(s);
}

/* The attempt leaves no trace. */
WS_GROUP_RARE void ws_stm_abort(struct ws_stm *stm)
{
	ws_group_sync(&stm->group);
	if (stm->group.lane == 0)
		ws_stm__drop(stm->shared);
	ws_group_sync(&stm->group);
}

/* The transaction is not going to be made again: for a loop that is left after an attempt in vain. */
WS_GROUP_RARE void ws_stm_give_up(struct ws_stm *stm)
{
	ws_stm_abort(stm);
	if (stm->group.lane == 0) {
		ws_tx__drop_token(&stm->shared->group.tx);
		stm->shared->group.tx.state = WS_TX_CANCELLED;
	}
	ws_group_sync(&stm->group);
}

/* Begins a transaction, or one more attempt of it; waits as long as contention management wants. One that was too large ends the
 * kernel here, for it would be tried for ever. */
WS_GROUP_RARE void ws_stm_start(struct ws_stm *stm)
{
	ws_stm_abort(stm);
	while (!WS_GROUP__LEAD(&stm->group, ws_stm__try(stm->shared)))
		;
}

/* Whether the transaction cannot be made: the whole heap does not hold it, or an object has too many bytes. Then
 * ws_stm_give_up must be called before another one is begun. */
WS_GROUP_RARE int ws_stm_too_large(struct ws_stm *stm)
{
	const struct ws_tx *tx = &stm->shared->group.tx;

	ws_group_sync(&stm->group);
	return (int)WS_GROUP__LEAD(&stm->group, tx->state == WS_TX_TOO_LARGE ||
	                           (tx->state == WS_TX_DOOMED && tx->why == WS_TM_TOO_LARGE));
}

/* First lane: makes an object's copy ready to be filled. */
WS_TX_FN int ws_stm__open(struct ws_stm_shared *s, unsigned long long at, unsigned size)
{
	struct ws_tx *tx = &s->group.tx;

	s->copy = 0;
	if (tx->state != WS_TX_ACTIVE)
		return 0;
	if (!ws_tx__reserve(&s->list))
		return ws_tx__doom(tx, ws_stm__no_room(s));
	s->copy = ws_stm__room(s, size);
	s->found = tx->n;
	return s->copy && ws_tx__block_open_all(tx, at, size, ws_stm__pessimistic(tx));
}

/* First lane: the copy is filled. */
WS_TX_FN int ws_stm__close(struct ws_stm_shared *s, unsigned long long at, unsigned size, enum ws_stm_intent intent)
{
	struct ws_tx *tx = &s->group.tx;

	if (!s->copy || !ws_tx__block_close(tx, s->found, ws_stm__pessimistic(tx)))
		return 0;
	ws_tx__append(&s->list, at | (unsigned long long)intent << 60, ws_stm__number_of(s, s->copy) | (unsigned long long)size << 48);
	return 1;
}

/* A copy of `size` bytes at `at`. NULL: the attempt has failed. */
WS_GROUP_RARE void *ws_stm_read(struct ws_stm *stm, const void *at, unsigned size, enum ws_stm_intent intent)
{
	struct ws_stm_shared *s = stm->shared;
	unsigned long long where = (unsigned long long)at;
	unsigned found = ws_stm__find(stm, where);
	char *copy;

	if (found) {
		copy = ws_stm__copy_of(s, ws_stm__entry(&s->list, found - 1));
		ws_group_sync(&stm->group);
		if (intent == WS_STM_WRITE && stm->group.lane == 0)
			ws_stm__entry(&s->list, found - 1)->where |= 1ull << 60;
		ws_group_sync(&stm->group);
		return copy;
	}
	if (WS_GROUP__LEAD(&stm->group, ws_stm__open(s, where, size)))
		ws_stm__copy(stm, s->copy, (const char *)at, size);
	ws_group_sync(&stm->group);
	found = WS_GROUP__LEAD(&stm->group, ws_stm__close(s, where, size, intent));
	copy = s->copy;
	ws_group_sync(&stm->group);
	return found ? copy : 0;
}

/* The object at `at`, which was read before, is to be written back. 0: it was not read. */
WS_GROUP_RARE int ws_stm_write_intend(struct ws_stm *stm, const void *at)
{
	unsigned found = ws_stm__find(stm, (unsigned long long)at);

	if (found && stm->group.lane == 0)
		ws_stm__entry(&stm->shared->list, found - 1)->where |= 1ull << 60;
	ws_group_sync(&stm->group);
	return found != 0;
}

/* First lane: locks what is to be written, and looks whether what was read is as it was. */
WS_TX_FN int ws_stm__prepare(struct ws_stm_shared *s)
{
	struct ws_tx *tx = &s->group.tx;
	struct ws_tx_walk w = ws_tx__walk(&s->list);
	struct ws_tm_entry *e;
	int good = tx->state == WS_TX_ACTIVE;

	while (good && (e = ws_tx__older(&s->list, &w)))
		if (ws_tx__size(e) > 1)
			good = ws_tx__block_lock_range(tx, ws_tx__what(e), ws_stm__bytes_of(e));
	return good && ws_tx__block_prepare(tx, ws_stm__pessimistic(tx));
}

/* First lane: the end of an attempt. */
WS_TX_FN void ws_stm__finish(struct ws_stm_shared *s, int committed)
{
	if (ws_tx__inside(&s->group.tx))
		ws_tx__conclude(&s->group.tx, committed);
	ws_stm__empty(s);
}

/* Whether the transaction has taken effect. */
WS_GROUP_RARE int ws_stm_commit(struct ws_stm *stm)
{
	struct ws_stm_shared *s = stm->shared;
	int good;

	ws_group_sync(&stm->group);
	good = (int)WS_GROUP__LEAD(&stm->group, ws_stm__prepare(s));
	for (unsigned i = 0; good && i < s->list.n; i++) {
		const struct ws_tm_entry *e = ws_stm__entry(&s->list, i);

		if (ws_tx__size(e) > 1)
			ws_stm__copy(stm, (char *)ws_tx__what(e), ws_stm__copy_of(s, e), ws_stm__bytes_of(e));
	}
	ws_group_sync(&stm->group);
	if (stm->group.lane == 0)
		ws_stm__finish(s, good);
	ws_group_sync(&stm->group);
	return good;
}

#endif

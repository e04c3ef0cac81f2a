/* mbarrier.c - mbarrier objects: init, inval, arrivals, transaction counts, waits (PTX ISA 9.0, Parallel
 * Synchronization and Communication Instructions: mbarrier).
 *
 * What an object holds stands beside the block (struct ws_mbar_object); in the program's 8 bytes there is a picture of
 * it: bits 0-19 arrivals pending, 20-39 expected, 40-61 the tx-count, bit 62 set, bit 63 the phase's parity. When the
 * picture is not what was put there last, the program has written over the object.
 *
 * A wait is a test: one that fails lets other warps run first. So a loop of tests is one of those that deadlock.c knows
 * to end. */
#include "gpu/async_priv.h"

#include <string.h>

#define EACH_LANE(l, mask) \
	for (uint32_t m_ = (mask), l; m_ && (l = (uint32_t)__builtin_ctz(m_), true); m_ &= m_ - 1)

/* Arrivals, and bytes either way (PTX ISA 9.0, Contents of the mbarrier object). */
enum { MAX_COUNT = (1 << 20) - 1 };

static struct ws_mbar_object *find(const struct ws_block *b, uint32_t offset)
{
	struct ws_block_async *a = b->async;

	for (size_t i = 0; a && i < a->nmbar; i++)
		if (a->mbar[i].offset == offset)
			return &a->mbar[i];
	return NULL;
}

static uint64_t picture(const struct ws_mbar_object *m)
{
	return m->pending | (uint64_t)m->expected << 20 | ((uint64_t)m->tx & 0x3fffff) << 40 | 1ull << 62 |
	       (m->phase & 1) << 63;
}

static uint64_t word_at(const struct ws_block *b, uint32_t offset)
{
	uint64_t w;

	memcpy(&w, b->shared + offset, sizeof w);
	return w;
}

static void put(struct ws_block *b, struct ws_mbar_object *m)
{
	m->word = picture(m);
	memcpy(b->shared + m->offset, &m->word, sizeof m->word);
}

struct ws_mbar_object *ws_mbar_get(struct ws_exec *x, const struct ws_origin *o, struct ws_block *b, uint32_t offset)
{
	struct ws_mbar_object *m = find(b, offset);
	const char *var = ws_gpu_shared_var(x->launch->kernel, offset, &(uint32_t){0});
	const char *quote = var ? "'" : "";

	if (m && m->valid && m->word == word_at(b, offset))
		return m;
	if (!m || !m->valid)
		ws_fail_origin(x, o, WS_GPU_BAD_INSTRUCTION,
		               "there is no mbarrier object at offset 0x%x of shared memory%s%s%s%s: %s", offset,
		               var ? ", " : "", quote, var ? var : "", quote,
		               m ? "mbarrier.inval has ended it" : "mbarrier.init was not executed for it");
	else
		ws_fail_origin(x, o, WS_GPU_BAD_INSTRUCTION,
		               "the mbarrier object at offset 0x%x of shared memory%s%s%s%s was overwritten: it holds 0x%llx",
		               offset, var ? ", " : "", quote, var ? var : "", quote,
		               (unsigned long long)word_at(b, offset));
	return NULL;
}

void ws_mbar_describe(const struct ws_block *b, uint32_t offset, struct ws_buf *out)
{
	const struct ws_mbar_object *m = find(b, offset);
	const char *var = b->x ? ws_gpu_shared_var(b->x->launch->kernel, offset, &(uint32_t){0}) : NULL;

	ws_buf_printf(out, "the mbarrier at shared memory offset 0x%x", offset);
	if (var)
		ws_buf_printf(out, " ('%s')", var);
	if (m)
		ws_buf_printf(out, ": phase %llu is not complete, pending count %u of %u, tx-count %lld",
		              (unsigned long long)m->phase, m->pending, m->expected, (long long)m->tx);
}

/* ---- the observer ---- */
static bool watched(const struct ws_exec *x)
{
	return x->ops && x->ops->mbarrier && x->ops->needs & WS_NEED_SYNC;
}

static void tell(struct ws_exec *x, struct ws_warp *w, struct ws_mbar *e, struct ws_block *b,
                 const struct ws_mbar_object *m)
{
	e->block = &b->obs;
	e->offset = m->offset;
	x->ops->mbarrier(x->self, w ? &w->obs : NULL, e);
}

bool ws_mbar_tell_access(struct ws_exec *x, const struct ws_dinst *in, const struct ws_resolved *r, unsigned scope,
                         bool wrote)
{
	struct ws_access a = {.kind = WS_ATOMIC, .wrote = wrote ? r->mask : 0, .sem = WS_SEM_RELAXED,
	                      .scope = (uint8_t)scope, .atom = WS_ATOM_ADD, .bytes = 8, .issuer = WS_WARP};
	uint64_t values[WS_WARP];

	if (r->space != WS_SPACE_SHARED)
		return ws_exec_fail(x, in, r->mask, WS_GPU_BAD_ADDRESS, "an mbarrier object must be in shared memory, "
		                    "and 0x%llx is not", (unsigned long long)r->addr[__builtin_ctz(r->mask)]);
	if (!ws_wants(x, WS_SPACE_SHARED))
		return true;
	EACH_LANE(l, r->mask)
		memcpy(&values[l], r->host[l], 8);
	a.value = values;
	ws_observe(x, in, r, &a);
	return true;
}

/* The end of an object counts as strong: NVIDIA's cuda::pipeline lets one lane end it after others of its warp have used it,
 * with nothing but match.sync between. That nobody uses the object afterwards is looked after here. */
static void tell_write(struct ws_exec *x, const struct ws_dinst *in, const struct ws_resolved *r,
                       const uint64_t *values, bool ends)
{
	struct ws_access a = {.kind = WS_WRITE, .wrote = r->mask, .sem = ends ? WS_SEM_RELAXED : WS_SEM_WEAK,
	                      .scope = ends ? WS_SCOPE_CLUSTER : WS_SCOPE_NONE, .bytes = 8, .value = values,
	                      .issuer = WS_WARP};

	if (ws_wants(x, WS_SPACE_SHARED))
		ws_observe(x, in, r, &a);
}

/* ---- phases ---- */
/* (PTX ISA 9.0, Phase Completion of the mbarrier object) */
static void complete_phase(struct ws_exec *x, struct ws_block *b, struct ws_mbar_object *m)
{
	uint64_t done;
	struct ws_mbar e = {.kind = WS_MBAR_PHASE, .phase = (uint32_t)m->phase, .op = &done};

	if (!m->pending && !m->tx) {
		if (watched(x)) {
			done = ws_copy_done(x, b, m);
			tell(x, NULL, &e, b, m);
		}
		m->phase++;
		m->pending = m->expected;
	}
	put(b, m);
}

static bool add_tx(struct ws_exec *x, const struct ws_origin *o, struct ws_mbar_object *m, int64_t bytes)
{
	m->tx += bytes;
	if (m->tx >= -MAX_COUNT && m->tx <= MAX_COUNT)
		return true;
	return ws_fail_origin(x, o, WS_GPU_BAD_INSTRUCTION,
	                      "the tx-count of the mbarrier object at offset 0x%x of shared "
	                      "memory becomes %lld; it can count to %d", m->offset, (long long)m->tx, MAX_COUNT);
}

bool ws_mbar_complete_tx(struct ws_exec *x, const struct ws_origin *o, struct ws_block *b, uint32_t offset,
                         uint64_t bytes)
{
	struct ws_mbar_object *m = ws_mbar_get(x, o, b, offset);

	if (!m || !add_tx(x, o, m, -(int64_t)bytes))
		return false;
	complete_phase(x, b, m);
	return true;
}

/* Takes `count` arrivals off the pending ones. */
static bool take(struct ws_exec *x, const struct ws_origin *o, struct ws_mbar_object *m, uint32_t count)
{
	if (!count || count > MAX_COUNT)
		return ws_fail_origin(x, o, WS_GPU_BAD_INSTRUCTION, "a count of %u arrivals; it must be 1 to %d", count,
		                      MAX_COUNT);
	if (count > m->pending)
		return ws_fail_origin(x, o, WS_GPU_BAD_INSTRUCTION,
		                      "%u arrival%s at the mbarrier object at offset 0x%x of shared memory, but only %u of %u "
		                      "%s pending in phase %llu", count, count == 1 ? "" : "s", m->offset, m->pending,
		                      m->expected, m->pending == 1 ? "is" : "are", (unsigned long long)m->phase);
	m->pending -= count;
	return true;
}

bool ws_mbar_expect_one(struct ws_exec *x, const struct ws_origin *o, struct ws_block *b, uint32_t offset)
{
	struct ws_mbar_object *m = ws_mbar_get(x, o, b, offset);

	if (!m)
		return false;
	if (m->pending == MAX_COUNT)
		return ws_fail_origin(x, o, WS_GPU_BAD_INSTRUCTION, "more than %d pending arrivals", MAX_COUNT);
	m->pending++;
	put(b, m);
	return true;
}

bool ws_mbar_arrive_cp(struct ws_exec *x, const struct ws_origin *o, struct ws_block *b, uint32_t offset, uint32_t mask,
                       const uint64_t op[WS_WARP])
{
	struct ws_mbar_object *m = ws_mbar_get(x, o, b, offset);
	struct ws_mbar e = {.kind = WS_MBAR_ARRIVE_CP, .sem = WS_SEM_RELEASE, .scope = WS_SCOPE_CTA, .op = op,
	                    .site = ws_site_of(o->code, o->in)};

	while (m && mask) {              /* up to the end of a phase, then those of the next one */
		for (e.mask = 0; mask && (m->pending || !e.mask); mask &= mask - 1) {
			if (!take(x, o, m, 1))
				return false;
			e.mask |= mask & -mask;
		}
		e.phase = (uint32_t)m->phase;
		if (watched(x))
			tell(x, o->warp, &e, b, m);
		complete_phase(x, b, m);
	}
	return m != NULL;
}

/* ---- the instructions ---- */
struct mbar_op {
	struct ws_exec *x;
	const struct ws_dinst *in;
	const struct ws_dmbar *d;
	uint8_t *regs;
	struct ws_block *block;
	const struct ws_resolved *r;
};

static uint32_t count_of(const struct mbar_op *k, uint32_t lane)
{
	return k->d->count == WS_LANE_NONE ? 1 : ws_r32(k->regs, k->d->count)[lane];
}

static bool init(const struct mbar_op *k, uint32_t lane)
{
	struct ws_block_async *a = ws_copy_state(k->block);
	uint32_t offset = (uint32_t)k->r->addr[lane], count = count_of(k, lane);
	struct ws_mbar_object *m = find(k->block, offset);
	struct ws_mbar e = {.kind = WS_MBAR_INIT, .mask = 1u << lane,
	                    .site = ws_site_of(k->x->frag->frame->code, k->in)};

	if (!count || count > MAX_COUNT)
		return ws_exec_fail(k->x, k->in, 1u << lane, WS_GPU_BAD_INSTRUCTION,
		                    "mbarrier.init with a count of %u; it must be 1 to %d", count, MAX_COUNT);
	if (!m) {
		m = WS_PUSH(a->mbar, a->nmbar, a->cap_mbar);
		*m = (struct ws_mbar_object){.offset = offset};
	}
	*m = (struct ws_mbar_object){.offset = offset, .ops = m->ops, .valid = true, .expected = count,
	                             .pending = count};
	put(k->block, m);
	if (watched(k->x))
		tell(k->x, k->x->warp, &e, k->block, m);
	return true;
}

static bool inval(const struct mbar_op *k, uint32_t lane)
{
	struct ws_origin o = ws_copy_origin(k->x, k->in, lane);
	struct ws_mbar_object *m = ws_mbar_get(k->x, &o, k->block, (uint32_t)k->r->addr[lane]);
	struct ws_mbar e = {.kind = WS_MBAR_INVAL, .mask = 1u << lane,
	                    .site = ws_site_of(k->x->frag->frame->code, k->in)};

	if (!m)
		return false;
	m->valid = false;
	memset(k->block->shared + m->offset, 0, 8);
	if (watched(k->x))
		tell(k->x, k->x->warp, &e, k->block, m);
	return true;
}

static bool init_or_inval(struct mbar_op *k)
{
	uint64_t values[WS_WARP] = {0};

	if (k->r->space != WS_SPACE_SHARED)
		return ws_mbar_tell_access(k->x, k->in, k->r, WS_SCOPE_CTA, true);
	EACH_LANE(l, k->r->mask)
		if (k->d->code == WS_MB_INIT) {
			struct ws_mbar_object m = {.pending = count_of(k, l), .expected = count_of(k, l)};

			values[l] = picture(&m);
		}
	tell_write(k->x, k->in, k->r, values, k->d->code != WS_MB_INIT);
	EACH_LANE(l, k->r->mask)
		if (!(k->d->code == WS_MB_INIT ? init : inval)(k, l))
			return false;
	k->x->warp->progress++;
	return true;
}

/* Arrivals of one phase of one object are told together, before the phase completes. */
struct run { struct ws_mbar_object *m; struct ws_mbar e; };

static void flush(const struct mbar_op *k, struct run *run)
{
	if (run->e.mask && watched(k->x))
		tell(k->x, k->x->warp, &run->e, k->block, run->m);
	run->e.mask = 0;
}

static void add_to(const struct mbar_op *k, struct run *run, struct ws_mbar_object *m, uint64_t phase, uint32_t lane)
{
	if (run->e.mask && (run->m != m || run->e.phase != (uint32_t)phase))
		flush(k, run);
	run->m = m;
	run->e.phase = (uint32_t)phase;
	run->e.mask |= 1u << lane;
}

static void give_state(const struct mbar_op *k, uint32_t lane, const struct ws_mbar_object *m)
{
	if (k->d->dst != WS_LANE_NONE)
		ws_r64(k->regs, k->d->dst)[lane] = m->phase << 20 | m->pending;
}

static bool arrive(const struct mbar_op *k, uint32_t lane, struct ws_mbar_object *m, struct run *run)
{
	struct ws_origin o = ws_copy_origin(k->x, k->in, lane);
	uint32_t count = k->d->expect ? 1 : count_of(k, lane);

	give_state(k, lane, m);
	if (k->d->expect && !add_tx(k->x, &o, m, count_of(k, lane)))
		return false;
	if (k->d->no_complete && count >= m->pending && !m->tx)
		return ws_exec_fail(k->x, k->in, 1u << lane, WS_GPU_BAD_INSTRUCTION,
		                    "an arrival with .noComplete would complete the phase: count %u, %u of %u pending",
		                    count, m->pending, m->expected);
	if (!take(k->x, &o, m, count))
		return false;
	if (k->d->code == WS_MB_DROP)
		m->expected -= count < m->expected ? count : m->expected;
	add_to(k, run, m, m->phase, lane);
	if (!m->pending && !m->tx)
		flush(k, run);
	return true;
}

static bool counts(struct mbar_op *k)
{
	struct run run = {.e = {.kind = WS_MBAR_ARRIVE, .sem = k->d->sem, .scope = k->d->scope,
	                        .site = ws_site_of(k->x->frag->frame->code, k->in)}};

	if (!ws_mbar_tell_access(k->x, k->in, k->r, k->d->scope, true))
		return false;
	EACH_LANE(l, k->r->mask) {
		struct ws_origin o = ws_copy_origin(k->x, k->in, l);
		struct ws_mbar_object *m = ws_mbar_get(k->x, &o, k->block, (uint32_t)k->r->addr[l]);
		bool ok;

		if (!m)
			return false;
		if (k->d->code == WS_MB_ARRIVE || k->d->code == WS_MB_DROP)
			ok = arrive(k, l, m, &run);
		else
			ok = add_tx(k->x, &o, m, k->d->code == WS_MB_EXPECT ? (int64_t)count_of(k, l) :
			                         -(int64_t)count_of(k, l));
		if (!ok)
			return false;
		complete_phase(k->x, k->block, m);
	}
	flush(k, &run);
	k->x->warp->progress++;
	return true;
}

/* Is the phase that the lane asks for complete? *phase: its number; UINT64_MAX: the one before the first. */
static bool is_complete(const struct mbar_op *k, uint32_t lane, const struct ws_mbar_object *m, uint64_t *phase)
{
	if (k->d->parity) {
		*phase = m->phase - 1;
		return (m->phase & 1) != (ws_r32(k->regs, k->d->count)[lane] & 1);
	}
	*phase = ws_r64(k->regs, k->d->count)[lane] >> 20;
	return *phase != m->phase;
}

static bool wait(struct mbar_op *k)
{
	struct run run = {.e = {.kind = WS_MBAR_WAIT, .sem = k->d->sem, .scope = k->d->scope,
	                        .site = ws_site_of(k->x->frag->frame->code, k->in)}};
	uint32_t complete = 0, *p = k->d->dst == WS_LANE_NONE ? NULL : ws_r32(k->regs, k->d->dst);

	EACH_LANE(l, k->r->mask)
		if (k->r->space == WS_SPACE_SHARED && k->x->jobs &&
		    !ws_copy_settle_mbar(k->x, k->block, (uint32_t)k->r->addr[l]))
			return false;
	if (!ws_mbar_tell_access(k->x, k->in, k->r, k->d->scope, false))
		return false;
	EACH_LANE(l, k->r->mask) {
		struct ws_origin o = ws_copy_origin(k->x, k->in, l);
		struct ws_mbar_object *m = ws_mbar_get(k->x, &o, k->block, (uint32_t)k->r->addr[l]);
		uint64_t phase;

		if (!m)
			return false;
		if (!is_complete(k, l, m, &phase))
			continue;
		complete |= 1u << l;
		if (phase != UINT64_MAX)
			add_to(k, &run, m, phase, l);
	}
	flush(k, &run);
	if (p)
		*p = (*p & ~k->r->mask) | complete;
	if (complete != k->r->mask)
		ws_remember_wait(k->x, k->in, k->r->addr[__builtin_ctz(k->r->mask & ~complete)], k->block,
		                 k->r->mask & ~complete);
	return true;
}

enum ws_next ws_op_mbarrier(struct ws_exec *x, const struct ws_dinst *in, uint32_t mask)
{
	const struct ws_dmbar *d = in->u.op.ptr;
	uint64_t addr[WS_WARP];
	struct ws_request q = {.addr = addr, .mask = mask, .bytes = 8, .space = d->place.space,
	                       .write = d->code != WS_MB_WAIT, .cache = d->place.cache};
	struct ws_resolved r;
	struct mbar_op k = {.x = x, .in = in, .d = d, .regs = x->frag->frame->regs, .r = &r};

	ws_addresses(k.regs, d->place.reg, d->place.width, d->place.off, addr);
	for (; q.mask; q.mask &= ~r.mask) {
		bool ok;

		if (!ws_resolve(x, in, &q, &r))
			return WS_STOP;
		k.block = r.peer ? r.peer : x->block;
		if (d->code == WS_MB_INIT || d->code == WS_MB_INVAL)
			ok = init_or_inval(&k);
		else
			ok = d->code == WS_MB_WAIT ? wait(&k) : counts(&k);
		if (!ok)
			return WS_STOP;
	}
	return WS_NEXT;
}

enum ws_next ws_op_pending_count(struct ws_exec *x, const struct ws_dinst *in, uint32_t mask)
{
	uint8_t *regs = x->frag->frame->regs;

	EACH_LANE(l, mask)
		ws_r32(regs, in->u.op.d)[l] = ws_r64(regs, in->u.op.a)[l] & MAX_COUNT;
	return WS_NEXT;
}

uint64_t ws_copy_next_op(struct ws_exec *x, const struct ws_origin *o, struct ws_block *b, uint32_t offset)
{
	struct ws_mbar_object *m = ws_mbar_get(x, o, b, offset);

	return m ? ++m->ops : 0;
}

/* async.c - asynchronous operations: jobs and when they run, groups and waits, cp.async (PTX ISA 9.0, Data Movement and
 * Conversion Instructions: Asynchronous copy). Bulk copies are in async_bulk.c, tensors in tensor.c, mbarrier objects
 * in mbarrier.c. */
#include "gpu/async_priv.h"

#include <stdlib.h>
#include <string.h>

#define EACH_LANE(l, mask) \
	for (uint32_t m_ = (mask), l; m_ && (l = (uint32_t)__builtin_ctz(m_), true); m_ &= m_ - 1)

/* ---- state ---- */
struct ws_block_async *ws_copy_state(struct ws_block *b)
{
	if (!b->async) {
		b->async = ws_alloc(sizeof *b->async);
		b->async->groups = ws_alloc(2 * b->nwarps * sizeof *b->async->groups);
	}
	return b->async;
}

struct ws_groups *ws_copy_groups(struct ws_warp *w, enum ws_async kind)
{
	return &ws_copy_state(w->block)->groups[2 * w->obs.index + (kind == WS_ASYNC_BULK)];
}

void ws_copy_start_block(struct ws_block *b)
{
	struct ws_block_async *a = b->async;

	if (!a)
		return;
	for (uint32_t i = 0; i < 2 * b->nwarps; i++) {
		struct ws_groups *g = &a->groups[i];

		*g = (struct ws_groups){.commit = g->commit, .cap = g->cap};
	}
	a->nmbar = 0;
}

void ws_copy_free_block(struct ws_block *b)
{
	if (!b->async)
		return;
	for (uint32_t i = 0; i < 2 * b->nwarps; i++)
		free(b->async->groups[i].commit);
	free(b->async->groups);
	free(b->async->mbar);
	free(b->async);
	b->async = NULL;
}

struct ws_origin ws_copy_origin(struct ws_exec *x, const struct ws_dinst *in, uint32_t lane)
{
	return (struct ws_origin){x->frag->frame->code, in, x->warp, lane};
}

/* ---- jobs ---- */
static void free_job(struct ws_job *j)
{
	free(j->copy);
	free(j);
}

static bool run_now(struct ws_exec *x, struct ws_job *j);

/* The copies of a warp up to a number of its lanes that are waited for. */
static bool settle_cp(struct ws_exec *x, const struct ws_warp *w, uint32_t mask, const uint64_t op[WS_WARP])
{
	for (struct ws_job **p = &x->jobs; *p;) {
		struct ws_job *j = *p, part;
		uint32_t lanes = 0;

		if (j->d->kind == WS_DA_CP && j->from.warp == w)
			EACH_LANE(l, j->lanes & mask)
				lanes |= (uint32_t)(j->op <= op[l]) << l;
		if (!lanes) {
			p = &j->next;
			continue;
		}
		part = *j;
		part.lanes = lanes;
		j->lanes &= ~lanes;
		if (!run_now(x, &part))
			return false;
		if (j->lanes) {
			p = &j->next;
			continue;
		}
		*p = j->next;
		free_job(j);
	}
	return true;
}

static bool arrive_now(struct ws_exec *x, struct ws_job *j)
{
	if (!settle_cp(x, j->from.warp, j->lanes, j->u.arrive))
		return false;
	return ws_mbar_arrive_cp(x, &j->from, j->mbar_block, j->mbar, j->lanes, j->u.arrive);
}

static void copy_lanes(const struct ws_job *j)
{
	unsigned bytes = j->d->bytes;

	EACH_LANE(l, j->lanes) {
		unsigned n = j->u.cp.n[l];

		if (n == 16)
			memcpy(j->u.cp.dst[l], j->u.cp.src[l], 16);
		else if (n)
			memcpy(j->u.cp.dst[l], j->u.cp.src[l], n);
		if (n < bytes)
			memset(j->u.cp.dst[l] + n, 0, bytes - n);
	}
}

static bool run_now(struct ws_exec *x, struct ws_job *j)
{
	j->from.warp->progress++;
	switch ((enum ws_dasync_kind)j->d->kind) {
	case WS_DA_CP:
		copy_lanes(j);
		return true;
	case WS_DA_ARRIVE:
		return arrive_now(x, j);
	case WS_DA_TENSOR:
		if (!ws_tensor_run(x, j))
			return false;
		break;
	default:
		ws_bulk_run(x, j);
	}
	return !j->mbar_block || ws_mbar_complete_tx(x, &j->from, j->mbar_block, j->mbar, j->tx);
}

bool ws_copy_submit(struct ws_exec *x, struct ws_job *j)
{
	struct ws_job **p, *kept;

	if (x->gpu->config.schedule == WS_SCHED_RR || !(ws_random(&x->rng) & 1)) {
		bool ok = run_now(x, j);

		free(j->copy);
		return ok;
	}
	kept = ws_alloc(sizeof *kept);
	*kept = *j;
	kept->next = NULL;
	for (p = &x->jobs; *p; p = &(*p)->next)
		;
	*p = kept;
	return true;
}

/* Takes a job out of the list and runs it. */
static bool run_kept(struct ws_exec *x, struct ws_job **p)
{
	struct ws_job *j = *p;
	bool ok;

	*p = j->next;
	ok = run_now(x, j);
	free_job(j);
	return ok;
}

/* Runs the jobs that `which` chooses; from the start after each, since one may run others. */
static bool settle(struct ws_exec *x, bool (*which)(const struct ws_job *j, const void *user), const void *user)
{
	for (struct ws_job **p = &x->jobs; *p;) {
		if (!which(*p, user)) {
			p = &(*p)->next;
			continue;
		}
		if (!run_kept(x, p))
			return false;
		p = &x->jobs;
	}
	return true;
}

struct place { const struct ws_block *block; uint32_t offset; };

static bool arrives_at(const struct ws_job *j, const void *user)
{
	const struct place *at = user;

	return j->mbar_block == at->block && j->mbar == at->offset;
}

bool ws_copy_settle_mbar(struct ws_exec *x, const struct ws_block *b, uint32_t offset)
{
	struct place at = {b, offset};

	return !x->jobs || settle(x, arrives_at, &at);
}

uint64_t ws_copy_done(const struct ws_exec *x, const struct ws_block *b, const struct ws_mbar_object *m)
{
	uint64_t done = m->ops;

	for (const struct ws_job *j = x->jobs; j; j = j->next)
		if (j->mbar_block == b && j->mbar == m->offset && j->d->kind != WS_DA_ARRIVE && j->op <= done)
			done = j->op - 1;
	return done;
}

static bool in_cluster(const struct ws_job *j, const void *user)
{
	return j->from.warp->block->cluster == user;
}

void ws_copy_finish(struct ws_exec *x, const struct ws_cluster *c)
{
	if (x->jobs)
		settle(x, in_cluster, c);
}

bool ws_copy_finish_all(struct ws_exec *x)
{
	bool any = x->jobs != NULL;

	while (x->jobs && run_kept(x, &x->jobs))
		;
	return any;
}

void ws_copy_tick(struct ws_exec *x)
{
	struct ws_job **p = &x->jobs;

	if (ws_random(&x->rng) & 7)
		return;
	for (uint64_t n = ws_random(&x->rng) % 8; n && (*p)->next; n--)
		p = &(*p)->next;
	run_kept(x, p);
}

void ws_copy_drop(struct ws_exec *x)
{
	while (x->jobs) {
		struct ws_job *j = x->jobs;

		x->jobs = j->next;
		free_job(j);
	}
}

/* ---- groups ---- */
uint64_t ws_copy_number(struct ws_warp *w, enum ws_async kind, uint32_t mask)
{
	struct ws_groups *g = ws_copy_groups(w, kind);

	g->ops++;
	EACH_LANE(l, mask)
		g->last[l] = g->ops;
	return g->ops;
}

/* A group that lanes have waited for is of no more use; more than MAX_GROUPS lets the oldest go, which ws_dec_group
 * takes care of by refusing waits for older ones. */
static void prune(struct ws_groups *g)
{
	size_t from = 0;

	while (from < g->n && !g->commit[from].mask)
		from++;
	if (g->n - from > WS_MAX_GROUPS)
		from = g->n - WS_MAX_GROUPS;
	if (from)
		memmove(g->commit, g->commit + from, (g->n - from) * sizeof *g->commit);
	g->n -= from;
}

enum ws_next ws_op_commit_group(struct ws_exec *x, const struct ws_dinst *in, uint32_t mask)
{
	struct ws_groups *g = ws_copy_groups(x->warp, in->u.op.mode);

	if (g->n == g->cap || g->n > 2 * WS_MAX_GROUPS)
		prune(g);
	*WS_PUSH(g->commit, g->n, g->cap) = (struct ws_commit){g->ops, mask};
	return WS_NEXT;
}

/* The number of the last operation that is in a group older than the lane's newest n. */
static uint64_t waited_for(struct ws_groups *g, uint32_t lane, uint64_t n)
{
	uint64_t done = 0;

	for (size_t i = g->n; i-- > 0;) {
		struct ws_commit *c = &g->commit[i];

		if (!(c->mask >> lane & 1))
			continue;
		if (n) {
			n--;
			continue;
		}
		if (!done)
			done = c->op < g->last[lane] ? c->op : g->last[lane];
		c->mask &= ~(1u << lane);
	}
	return done;
}

struct waiters { const struct ws_warp *w; uint32_t mask; const uint64_t *done; };

static bool waited_bulk(const struct ws_job *j, const void *user)
{
	const struct waiters *k = user;

	return j->d->track == WS_ASYNC_BULK && j->from.warp == k->w && k->mask >> j->from.lane & 1 &&
	       j->op <= k->done[j->from.lane];
}

/* Only the reads are complete: what was not read yet is kept. */
static void read_sources(struct ws_exec *x, const struct waiters *k)
{
	for (struct ws_job *j = x->jobs; j; j = j->next)
		if (waited_bulk(j, k))
			ws_copy_read_source(j);
}

enum ws_next ws_op_wait_group(struct ws_exec *x, const struct ws_dinst *in, uint32_t mask)
{
	const struct ws_dop *op = &in->u.op;
	struct ws_groups *g = ws_copy_groups(x->warp, op->mode);
	uint64_t done[WS_WARP] = {0};
	struct waiters k = {x->warp, mask, done};

	EACH_LANE(l, mask)
		done[l] = op->imm == UINT64_MAX ? g->last[l] : waited_for(g, l, op->imm);
	if (x->jobs) {
		if (op->mode == WS_ASYNC_CP ? !settle_cp(x, x->warp, mask, done) :
		    !op->flag && !settle(x, waited_bulk, &k))
			return WS_STOP;
		if (op->flag)
			read_sources(x, &k);
	}
	if (x->ops && x->ops->async_wait && x->ops->needs & WS_NEED_SYNC)
		x->ops->async_wait(x->self, &x->warp->obs, mask, op->mode, done, op->flag);
	return WS_NEXT;
}

/* ---- cp.async ---- */
struct cp {
	struct ws_exec *x;
	const struct ws_dinst *in;
	const struct ws_dasync *d;
	struct ws_job *j;
	uint64_t src[WS_WARP];
};

static bool source_sizes(struct cp *c, uint32_t mask)
{
	const uint8_t *regs = c->x->frag->frame->regs;
	uint32_t ignored = 0;

	if (c->d->ignore != WS_LANE_NONE) {
		ignored = *(const uint32_t *)(const void *)(regs + c->d->ignore);
		ignored = c->d->ignore_neg ? ~ignored : ignored;
	}
	EACH_LANE(l, mask) {
		uint32_t n = c->d->size == WS_LANE_NONE ? c->d->bytes :
		             ((const uint32_t *)(const void *)(regs + c->d->size))[l];

		if (n > c->d->bytes)
			return ws_exec_fail(c->x, c->in, 1u << l, WS_GPU_BAD_INSTRUCTION,
			                    "the source size, %u bytes, is larger than the copy, %u bytes", n, c->d->bytes);
		c->j->u.cp.n[l] = ignored >> l & 1 ? 0 : (uint8_t)n;
	}
	return true;
}

/* Source bytes [at, at + bytes) of the lanes of `mask`. */
static bool read_piece(struct cp *c, uint32_t mask, unsigned at, unsigned bytes)
{
	uint64_t addr[WS_WARP];
	struct ws_request q = {.addr = addr, .mask = mask, .bytes = bytes, .space = c->d->src.space,
	                       .cache = c->d->src.cache};
	struct ws_resolved r;

	EACH_LANE(l, mask)
		addr[l] = c->src[l] + at;
	for (; q.mask; q.mask &= ~r.mask) {
		struct ws_access a = {.kind = WS_READ, .sem = WS_SEM_WEAK, .bytes = (uint16_t)bytes,
		                      .async = WS_ASYNC_CP, .issuer = WS_WARP, .op = c->j->op};

		if (!ws_resolve(c->x, c->in, &q, &r))
			return false;
		if (r.space != WS_SPACE_GLOBAL)
			return ws_exec_fail(c->x, c->in, r.mask, WS_GPU_BAD_ADDRESS,
			                    "the source of cp.async is not in global memory");
		if (!at)
			EACH_LANE(l, r.mask)
				c->j->u.cp.src[l] = r.host[l];
		if (ws_wants(c->x, r.space))
			ws_observe(c->x, c->in, &r, &a);
	}
	return true;
}

static bool read_sources_of(struct cp *c, uint32_t mask)
{
	EACH_LANE(l, mask)
		if (c->src[l] & (c->d->bytes - 1u) && c->j->u.cp.n[l]) {
			ws_fail_address(c->x, c->in, l, WS_GPU_MISALIGNED, WS_SPACE_GLOBAL, c->src[l], c->d->bytes,
			                false,
			                "misaligned address");
			return false;
		}
	while (mask) {
		unsigned n = c->j->u.cp.n[__builtin_ctz(mask)];
		uint32_t same = 0;

		EACH_LANE(l, mask)
			same |= (uint32_t)(c->j->u.cp.n[l] == n) << l;
		for (unsigned at = 0, bytes = 16; bytes; bytes >>= 1)
			if (n & bytes) {
				if (!read_piece(c, same, at, bytes))
					return false;
				at += bytes;
			}
		mask &= ~same;
	}
	return true;
}

static bool write_all(struct cp *c, const uint64_t *dst, uint32_t mask)
{
	struct ws_request q = {.addr = dst, .mask = mask, .bytes = c->d->bytes, .space = c->d->dst.space, .write = true,
	                       .cache = c->d->dst.cache};
	struct ws_resolved r;

	for (; q.mask; q.mask &= ~r.mask) {
		struct ws_access a = {.kind = WS_WRITE, .sem = WS_SEM_WEAK, .bytes = c->d->bytes,
		                      .async = WS_ASYNC_CP, .issuer = WS_WARP, .op = c->j->op};

		if (!ws_resolve(c->x, c->in, &q, &r))
			return false;
		EACH_LANE(l, r.mask)
			c->j->u.cp.dst[l] = r.host[l];
		a.wrote = r.mask;
		if (ws_wants(c->x, r.space))
			ws_observe(c->x, c->in, &r, &a);
	}
	return true;
}

enum ws_next ws_op_cp_async_copy(struct ws_exec *x, const struct ws_dinst *in, uint32_t mask)
{
	const struct ws_dasync *d = in->u.op.ptr;
	const uint8_t *regs = x->frag->frame->regs;
	struct ws_job j;
	struct cp c = {.x = x, .in = in, .d = d, .j = &j};
	uint64_t dst[WS_WARP];

	j.d = d;
	j.from = ws_copy_origin(x, in, (uint32_t)__builtin_ctz(mask));
	j.lanes = mask;
	j.mbar_block = j.dst_block = NULL;
	j.copy = NULL;
	j.op = ws_copy_number(x->warp, WS_ASYNC_CP, mask);
	ws_addresses(regs, d->dst.reg, d->dst.width, d->dst.off, dst);
	ws_addresses(regs, d->src.reg, d->src.width, d->src.off, c.src);
	if (!source_sizes(&c, mask) || !read_sources_of(&c, mask) || !write_all(&c, dst, mask))
		return WS_STOP;
	return ws_copy_submit(x, &j) ? WS_NEXT : WS_STOP;
}

/* ---- cp.async.mbarrier.arrive ---- */
static bool arrive_at(struct ws_exec *x, const struct ws_dinst *in, const struct ws_groups *g, struct ws_block *b,
                      uint32_t offset, uint32_t mask)
{
	const struct ws_dasync *d = in->u.op.ptr;
	struct ws_job j;

	j.d = d;
	j.from = ws_copy_origin(x, in, (uint32_t)__builtin_ctz(mask));
	j.lanes = mask;
	j.mbar_block = b;
	j.dst_block = NULL;
	j.mbar = offset;
	j.copy = NULL;
	j.op = 0;
	memcpy(j.u.arrive, g->last, sizeof j.u.arrive);
	if (!d->noinc)
		EACH_LANE(l, mask) {
			struct ws_origin o = ws_copy_origin(x, in, l);

			if (!ws_mbar_expect_one(x, &o, b, offset))
				return false;
		}
	return ws_mbar_get(x, &j.from, b, offset) && ws_copy_submit(x, &j);
}

enum ws_next ws_op_cp_arrive(struct ws_exec *x, const struct ws_dinst *in, uint32_t mask)
{
	const struct ws_dasync *d = in->u.op.ptr;
	struct ws_groups *g = ws_copy_groups(x->warp, WS_ASYNC_CP);
	uint64_t addr[WS_WARP];
	struct ws_request q = {.addr = addr, .mask = mask, .bytes = 8, .space = d->mbar.space, .write = true,
	                       .cache = d->mbar.cache};
	struct ws_resolved r;

	ws_addresses(x->frag->frame->regs, d->mbar.reg, d->mbar.width, d->mbar.off, addr);
	for (; q.mask; q.mask &= ~r.mask) {
		if (!ws_resolve(x, in, &q, &r) || !ws_mbar_tell_access(x, in, &r, WS_SCOPE_CTA, true))
			return WS_STOP;
		for (uint32_t rest = r.mask; rest;) {
			uint64_t at = r.addr[__builtin_ctz(rest)];
			uint32_t same = 0;

			EACH_LANE(l, rest)
				same |= (uint32_t)(r.addr[l] == at) << l;
			if (!arrive_at(x, in, g, r.peer ? r.peer : x->block, (uint32_t)at, same))
				return WS_STOP;
			rest &= ~same;
		}
	}
	return WS_NEXT;
}

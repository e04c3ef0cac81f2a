/* async_bulk.c - bulk copies and reductions, st.async, red.async (PTX ISA 9.0, Data Movement and Conversion
 * Instructions: cp.async.bulk, cp.reduce.async.bulk, st.async; Parallel Synchronization: red.async). */
#include "gpu/async_priv.h"

#include <stdlib.h>
#include <string.h>

#define EACH_LANE(l, mask) \
	for (uint32_t m_ = (mask), l; m_ && (l = (uint32_t)__builtin_ctz(m_), true); m_ &= m_ - 1)

enum { PIECE = 16 };                     /* bytes: sizes and addresses of bulk copies are multiples */

/* ---- helpers ---- */
static bool inside_shared(const struct ws_exec *x, uint64_t offset, uint64_t bytes)
{
	return offset <= x->shared_bytes && bytes <= x->shared_bytes - offset;
}

bool ws_copy_place(struct ws_exec *x, const struct ws_dinst *in, const struct ws_dplace *p, uint32_t lane,
                   uint32_t bytes,
                   uint32_t align, bool write, struct ws_spot *out)
{
	uint64_t addr[WS_WARP];
	struct ws_request q = {.addr = addr, .mask = 1u << lane, .bytes = 1, .space = p->space, .write = write,
	                       .cache = p->cache};
	struct ws_resolved r;

	ws_addresses(x->frag->frame->regs, p->reg, p->width, p->off, addr);
	if (!ws_resolve(x, in, &q, &r))
		return false;
	*out = (struct ws_spot){.span = {r.space, r.addr[lane], bytes, r.mem, r.peer}, .host = r.host[lane]};
	if (r.addr[lane] & (align - 1))
		ws_fail_address(x, in, lane, WS_GPU_MISALIGNED, r.space, r.addr[lane], bytes, write,
		                "misaligned address");
	else if (r.space == WS_SPACE_SHARED ? !inside_shared(x, r.addr[lane], bytes) :
	         r.space == WS_SPACE_GLOBAL && !ws_mem_holds(r.mem, r.addr[lane], bytes))
		ws_fail_address(x, in, lane, WS_GPU_BAD_ADDRESS, r.space, r.addr[lane], bytes, write,
		                "invalid address");
	else if (r.space != WS_SPACE_SHARED && r.space != WS_SPACE_GLOBAL)
		ws_fail_address(x, in, lane, WS_GPU_BAD_ADDRESS, r.space, r.addr[lane], bytes, write,
		                "an asynchronous copy works on global and shared memory only");
	if (r.space == WS_SPACE_SHARED)
		out->block = r.peer ? r.peer : x->block;
	return !x->failed && !x->err.code;
}

/* The largest power of two up to 16 of which both are multiples. */
static unsigned piece_of(uint64_t addr, uint64_t bytes)
{
	uint64_t low = (addr | bytes | PIECE) & -(addr | bytes | PIECE);

	return (unsigned)low;
}

void ws_copy_tell(struct ws_exec *x, const struct ws_dinst *in, struct ws_access *a, const struct ws_span *s)
{
	unsigned piece = piece_of(s->addr, s->bytes);
	struct ws_resolved r = {.linear = true, .space = s->space, .mem = s->mem, .peer = s->peer};

	if (!ws_wants(x, s->space))
		return;
	a->bytes = (uint16_t)piece;
	for (uint64_t at = 0; at < s->bytes;) {
		uint64_t n = (s->bytes - at) / piece;

		n = n < WS_WARP ? n : WS_WARP;
		r.mask = n == WS_WARP ? UINT32_MAX : (1u << n) - 1;
		r.base = s->addr + at;
		for (uint64_t l = 0; l < WS_WARP; l++) {
			r.addr[l] = r.base + l * piece;
			r.host[l] = NULL;
		}
		if (a->kind != WS_READ)
			a->wrote = r.mask;
		ws_observe(x, in, &r, a);
		a->target = NULL;
		at += n * piece;
	}
}

/* ---- the effects ---- */
static void reduce(const struct ws_job *j, const uint8_t *src)
{
	unsigned w = ws_type_bytes(j->d->type);
	uint8_t *host[WS_WARP];
	_Alignas(64) uint8_t values[WS_WARP * 8], old[WS_WARP * 8];
	uint32_t n = j->u.bulk.size / w;

	for (uint32_t i = 0; i < n; i += WS_WARP) {
		uint32_t k = n - i < WS_WARP ? n - i : WS_WARP;
		struct ws_atomic_args args = {.host = host, .mask = k == WS_WARP ? UINT32_MAX : (1u << k) - 1};

		for (uint32_t l = 0; l < k; l++)
			host[l] = j->u.bulk.dst + (i + l) * w;
		memcpy(values, src + i * w, k * w);
		args.a[0] = values;
		args.d[0] = old;
		j->d->fn(&args);
	}
}

static void copy_masked(const struct ws_job *j, const uint8_t *src)
{
	for (uint32_t i = 0; i < j->u.bulk.size; i++)
		if (j->u.bulk.byte_mask >> (i % PIECE) & 1)
			j->u.bulk.dst[i] = src[i];
}

static void store(const struct ws_job *j)
{
	const struct ws_dasync *d = j->d;

	for (unsigned e = 0; e < d->n; e++) {
		uint8_t *host[WS_WARP];
		_Alignas(64) uint8_t old[WS_WARP * 8];
		struct ws_atomic_args args = {.host = host, .mask = j->lanes, .a = {j->u.st.value[e]}, .d = {old}};

		EACH_LANE(l, j->lanes) {
			host[l] = j->u.st.dst[l] + e * d->bytes;
			if (d->kind == WS_DA_ST)
				memcpy(host[l], j->u.st.value[e] + l * d->bytes, d->bytes);
		}
		if (d->kind == WS_DA_RED)
			d->fn(&args);
	}
}

void ws_bulk_run(struct ws_exec *x, struct ws_job *j)
{
	const uint8_t *src = j->copy ? j->copy : j->u.bulk.src;

	(void)x;
	if (j->d->kind == WS_DA_ST || j->d->kind == WS_DA_RED)
		store(j);
	else if (j->d->kind == WS_DA_REDUCE)
		reduce(j, src);
	else if (j->u.bulk.byte_mask != UINT16_MAX)
		copy_masked(j, src);
	else
		memmove(j->u.bulk.dst, src, j->u.bulk.size);
}

void ws_copy_read_source(struct ws_job *j)
{
	if (j->copy)
		return;
	if (j->d->kind == WS_DA_TENSOR) {
		ws_tensor_read_source(j);
		return;
	}
	j->copy = ws_alloc(j->u.bulk.size + 1);
	memcpy(j->copy, j->u.bulk.src, j->u.bulk.size);
}

/* ---- cp.async.bulk, cp.reduce.async.bulk ---- */
struct bulk {
	struct ws_exec *x;
	const struct ws_dinst *in;
	const struct ws_dasync *d;
	uint32_t lane, size;
	uint64_t op;                     /* of the bulk group track */
	struct ws_spot src, dst, mbar;
	uint16_t byte_mask;
};

static bool check_size(const struct bulk *k)
{
	if (k->size % PIECE)
		return ws_exec_fail(k->x, k->in, 1u << k->lane, WS_GPU_BAD_INSTRUCTION,
		                    "a bulk copy of %u bytes; its size must be a multiple of 16", k->size);
	return true;
}

static bool check_spaces(const struct bulk *k)
{
	const struct ws_dasync *d = k->d;
	bool from_shared = d->src.space == WS_SPACE_SHARED, to_shared = d->dst.space != WS_SPACE_GLOBAL;

	if (k->src.span.space != (from_shared ? WS_SPACE_SHARED : WS_SPACE_GLOBAL) ||
	    k->dst.span.space != (to_shared ? WS_SPACE_SHARED : WS_SPACE_GLOBAL))
		return ws_exec_fail(k->x, k->in, 1u << k->lane, WS_GPU_BAD_ADDRESS,
		                    "an address of the bulk copy is not in the state space that the instruction names");
	if (d->track == WS_ASYNC_MBARRIER && k->mbar.span.space != WS_SPACE_SHARED)
		return ws_exec_fail(k->x, k->in, 1u << k->lane, WS_GPU_BAD_ADDRESS,
		                    "an mbarrier object must be in shared memory");
	if (d->track == WS_ASYNC_MBARRIER && k->mbar.block != k->dst.block)
		return ws_exec_fail(k->x, k->in, 1u << k->lane, WS_GPU_BAD_INSTRUCTION,
		                    "the mbarrier object is in the shared memory of another block than the destination");
	return true;
}

/* One copy to one block: the accesses, then the effect. */
static bool start(struct bulk *k, struct ws_block *to)
{
	const struct ws_dasync *d = k->d;
	struct ws_access read = {.kind = WS_READ, .sem = WS_SEM_WEAK, .async = d->track, .issuer = (uint8_t)k->lane};
	struct ws_access write = read;
	struct ws_job j = {.d = d, .from = ws_copy_origin(k->x, k->in, k->lane), .op = k->op, .dst_block = to,
	                   .lanes = 1u << k->lane};

	if (d->track == WS_ASYNC_MBARRIER) {
		j.mbar_block = to;
		j.mbar = (uint32_t)k->mbar.span.addr;
		j.tx = k->size;
		j.op = ws_copy_next_op(k->x, &j.from, to, j.mbar);
		if (!j.op)
			return false;
		read.mbar_block = write.mbar_block = &to->obs;
		read.mbar = write.mbar = j.mbar;
	}
	read.op = write.op = j.op;
	write.kind = d->kind == WS_DA_REDUCE ? WS_ATOMIC : WS_WRITE;
	if (d->kind == WS_DA_REDUCE) {
		write.sem = WS_SEM_RELAXED;
		write.scope = WS_SCOPE_GPU;
		write.atom = d->atom;
	}
	if (to)
		k->dst.span.peer = to == k->x->block ? NULL : to;
	ws_copy_tell(k->x, k->in, &read, &k->src.span);
	ws_copy_tell(k->x, k->in, &write, &k->dst.span);
	j.u.bulk.src = k->src.host;
	j.u.bulk.dst = to ? to->shared + k->dst.span.addr : k->dst.host;
	j.u.bulk.size = k->size;
	j.u.bulk.byte_mask = k->byte_mask;
	return ws_copy_submit(k->x, &j);
}

bool ws_copy_multicast(struct ws_exec *x, const struct ws_dinst *in, uint32_t lane, uint32_t ctas)
{
	const struct ws_cluster *c = x->block->cluster;

	ctas &= UINT16_MAX;
	if (ctas && !(ctas >> c->n))
		return true;
	return ws_exec_fail(x, in, 1u << lane, WS_GPU_BAD_INSTRUCTION,
	                    "the mask of blocks, 0x%x, does not fit the cluster of %u block%s", ctas, c->n,
	                    c->n == 1 ? "" : "s");
}

static bool each_block(struct bulk *k)
{
	const struct ws_cluster *c = k->x->block->cluster;
	uint32_t ctas;

	if (k->d->ctas == WS_LANE_NONE)
		return start(k, k->dst.block);
	ctas = ws_r16(k->x->frag->frame->regs, k->d->ctas)[k->lane];
	if (!ws_copy_multicast(k->x, k->in, k->lane, ctas))
		return false;
	EACH_LANE(rank, ctas)
		if (!start(k, c->block[rank]))
			return false;
	return true;
}

static bool one_lane(struct bulk *k)
{
	const struct ws_dasync *d = k->d;
	uint8_t *regs = k->x->frag->frame->regs;

	k->size = ws_r32(regs, d->size)[k->lane];
	k->byte_mask = d->byte_mask == WS_LANE_NONE ? UINT16_MAX : ws_r16(regs, d->byte_mask)[k->lane];
	memset(&k->mbar, 0, sizeof k->mbar);
	if (!check_size(k) || !ws_copy_place(k->x, k->in, &d->src, k->lane, k->size, PIECE, false, &k->src) ||
	    !ws_copy_place(k->x, k->in, &d->dst, k->lane, k->size, PIECE, true, &k->dst))
		return false;
	if (d->track == WS_ASYNC_MBARRIER && !ws_copy_place(k->x, k->in, &d->mbar, k->lane, 8, 8, true, &k->mbar))
		return false;
	return check_spaces(k) && each_block(k);
}

enum ws_next ws_op_bulk(struct ws_exec *x, const struct ws_dinst *in, uint32_t mask)
{
	struct bulk k = {.x = x, .in = in, .d = in->u.op.ptr};

	if (k.d->track == WS_ASYNC_BULK)
		k.op = ws_copy_number(x->warp, WS_ASYNC_BULK, mask);
	EACH_LANE(l, mask) {
		k.lane = l;
		if (!one_lane(&k))
			return WS_STOP;
	}
	return WS_NEXT;
}

/* ---- st.async, red.async ---- */
struct remote { struct ws_block *block; uint32_t mbar; };

static bool remote_mbar(struct ws_exec *x, const struct ws_dinst *in, const struct ws_resolved *dst, uint32_t lane,
                        struct remote *out)
{
	const struct ws_dasync *d = in->u.op.ptr;
	struct ws_spot p;

	if (!ws_copy_place(x, in, &d->mbar, lane, 8, 8, true, &p))
		return false;
	*out = (struct remote){p.block, (uint32_t)p.span.addr};
	if (dst->space != WS_SPACE_SHARED || p.span.space != WS_SPACE_SHARED)
		return ws_exec_fail(x, in, 1u << lane, WS_GPU_BAD_ADDRESS,
		                    "the destination and the mbarrier object must be in shared memory");
	if (p.block != (dst->peer ? dst->peer : x->block))
		return ws_exec_fail(x, in, 1u << lane, WS_GPU_BAD_INSTRUCTION,
		                    "the mbarrier object is in the shared memory of another block than the destination");
	return true;
}

static void tell_store(struct ws_exec *x, const struct ws_dinst *in, struct ws_resolved *r, const struct ws_job *j)
{
	const struct ws_dasync *d = j->d;
	struct ws_access a = {.kind = d->kind == WS_DA_RED ? WS_ATOMIC : WS_WRITE, .sem = WS_SEM_WEAK, .atom = d->atom,
	                      .bytes = (uint16_t)(d->bytes * d->n), .async = WS_ASYNC_MBARRIER, .issuer = WS_WARP,
	                      .op = j->op, .mbar_block = &j->mbar_block->obs, .mbar = j->mbar, .wrote = j->lanes};
	struct ws_resolved part = *r;

	if (d->kind == WS_DA_RED) {
		a.sem = WS_SEM_RELAXED;
		a.scope = WS_SCOPE_CLUSTER;
	}
	if (!ws_wants(x, r->space))
		return;
	part.mask = j->lanes;
	ws_observe(x, in, &part, &a);
}

/* The lanes of r whose mbarrier object is that of the first one. */
static bool store_group(struct ws_exec *x, const struct ws_dinst *in, struct ws_resolved *r, uint32_t *rest)
{
	const struct ws_dasync *d = in->u.op.ptr;
	uint32_t first = (uint32_t)__builtin_ctz(*rest);
	struct remote at, other;
	struct ws_job j = {.d = d, .from = ws_copy_origin(x, in, first)};

	if (!remote_mbar(x, in, r, first, &at))
		return false;
	EACH_LANE(l, *rest) {
		if (!remote_mbar(x, in, r, l, &other))
			return false;
		if (other.block != at.block || other.mbar != at.mbar)
			continue;
		j.lanes |= 1u << l;
		j.u.st.dst[l] = r->host[l];
		for (unsigned e = 0; e < d->n; e++)
			memcpy(j.u.st.value[e] + l * d->bytes, x->frag->frame->regs + d->value[e] + l * d->bytes,
			       d->bytes);
	}
	j.mbar_block = j.dst_block = at.block;
	j.mbar = at.mbar;
	j.tx = (uint64_t)__builtin_popcount(j.lanes) * d->bytes * d->n;
	j.op = ws_copy_next_op(x, &j.from, at.block, at.mbar);
	if (!j.op)
		return false;
	tell_store(x, in, r, &j);
	*rest &= ~j.lanes;
	return ws_copy_submit(x, &j);
}

enum ws_next ws_op_st_async(struct ws_exec *x, const struct ws_dinst *in, uint32_t mask)
{
	const struct ws_dasync *d = in->u.op.ptr;
	uint64_t addr[WS_WARP];
	struct ws_request q = {.addr = addr, .mask = mask, .bytes = (uint32_t)d->bytes * d->n, .space = d->dst.space,
	                       .write = true, .cache = d->dst.cache};
	struct ws_resolved r;

	ws_addresses(x->frag->frame->regs, d->dst.reg, d->dst.width, d->dst.off, addr);
	for (; q.mask; q.mask &= ~r.mask) {
		if (!ws_resolve(x, in, &q, &r))
			return WS_STOP;
		for (uint32_t rest = r.mask; rest;)
			if (!store_group(x, in, &r, &rest))
				return WS_STOP;
	}
	return WS_NEXT;
}

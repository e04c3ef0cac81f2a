/* cluster.c - thread block clusters: which blocks make one, the addresses of distributed shared memory, barrier.cluster
 * (PTX ISA 9.0, Cluster of Cooperative Thread Arrays; Data Movement: mapa, getctarank; Parallel Synchronization:
 * barrier.cluster).
 *
 * An address of the shared::cluster window is an offset in the shared memory of a block with the block's rank + 1 above
 * it, or with nothing above it: the shared::cta window is a part of shared::cluster, where every block finds
 * its own. */
#include "gpu/gpu_priv.h"

#include <stdio.h>
#include <string.h>

#define EACH_LANE(l, mask) \
	for (uint32_t m_ = (mask), l; m_ && (l = (uint32_t)__builtin_ctz(m_), true); m_ &= m_ - 1)
#define OFFSET_MASK ((1u << WS_PEER_SHIFT) - 1)
enum { MAX_TAG = 255 };                  /* what rank + 1 may be in an address; a larger rank exists nowhere */

/* ---- launches ---- */
static bool bad(struct ws_gpu_error *err, const struct ws_gpu_kernel *k, const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return false;
	err->code = WS_GPU_BAD_LAUNCH;
	va_start(ap, fmt);
	ws_buf_vprintf(&err->text, fmt, ap);
	va_end(ap);
	ws_buf_printf(&err->text, "\n  kernel: %s", k->name);
	return false;
}

static bool check_against_kernel(const struct ws_gpu_kernel *k, const uint32_t size[3], bool given,
                                 struct ws_gpu_error *err)
{
	const struct ws_ptx_func *f = k->fn->ptx;
	uint64_t blocks = (uint64_t)size[0] * size[1] * size[2];

	for (int i = 0; i < 3; i++)
		if (f->reqnctapercluster[0] && size[i] != (f->reqnctapercluster[i] ? f->reqnctapercluster[i] : 1))
			return bad(err, k,
			           "the cluster is not of the size that the kernel's .reqnctapercluster demands");
	if (f->explicitcluster && !given)
		return bad(err, k, "the kernel's .explicitcluster demands a launch with a cluster size");
	if (f->maxclusterrank && blocks > f->maxclusterrank)
		return bad(err, k, "%llu blocks in a cluster are more than the kernel's .maxclusterrank allows (%u)",
		           (unsigned long long)blocks, f->maxclusterrank);
	return true;
}

bool ws_cluster_size(const struct ws_gpu_kernel *k, const struct ws_gpu_launch *l, uint32_t size[3],
                     struct ws_gpu_error *err)
{
	const struct ws_ptx_func *f = k->fn->ptx;
	bool given = l->cluster[0] || l->cluster[1] || l->cluster[2], demanded = f->reqnctapercluster[0] != 0;
	const uint32_t *from = given ? l->cluster : f->reqnctapercluster;
	uint64_t blocks = 1;

	memset(size, 0, 3 * sizeof *size);
	if (!given && !demanded && !f->explicitcluster)
		return true;
	for (int i = 0; i < 3; i++) {
		size[i] = from[i] ? from[i] : 1;
		blocks *= size[i];
		if (size[i] > WS_MAX_CLUSTER || blocks > WS_MAX_CLUSTER)
			return bad(err, k, "a cluster of %u x %u x %u blocks, but it may have %u at most", from[0],
			           from[1], from[2], WS_MAX_CLUSTER);
	}
	for (int i = 0; i < 3; i++)
		if (l->grid[i] % size[i])
			return bad(err, k, "the grid has %u blocks in %c, which is no multiple of the cluster's %u",
			           l->grid[i], 'x' + i, size[i]);
	return check_against_kernel(k, size, given || demanded, err);
}

/* ---- special registers ---- */
uint64_t ws_cluster_sreg(const struct ws_exec *x, enum ws_sreg s)
{
	const struct ws_launch *la = x->launch;
	const uint32_t *n = la->cluster, *at = x->block->obs.ctaid;

	switch (s) {
	case WS_SR_CLUSTERID_X: case WS_SR_CLUSTERID_Y: case WS_SR_CLUSTERID_Z:
		return at[s - WS_SR_CLUSTERID_X] / n[s - WS_SR_CLUSTERID_X];
	case WS_SR_NCLUSTERID_X: case WS_SR_NCLUSTERID_Y: case WS_SR_NCLUSTERID_Z:
		return la->obs.grid[s - WS_SR_NCLUSTERID_X] / n[s - WS_SR_NCLUSTERID_X];
	case WS_SR_CLUSTER_CTAID_X: case WS_SR_CLUSTER_CTAID_Y: case WS_SR_CLUSTER_CTAID_Z:
		return at[s - WS_SR_CLUSTER_CTAID_X] % n[s - WS_SR_CLUSTER_CTAID_X];
	case WS_SR_CLUSTER_NCTAID_X: case WS_SR_CLUSTER_NCTAID_Y: case WS_SR_CLUSTER_NCTAID_Z:
		return n[s - WS_SR_CLUSTER_NCTAID_X];
	case WS_SR_CLUSTER_CTARANK:
		return x->block->cluster_rank;
	case WS_SR_CLUSTER_NCTARANK:
		return la->cluster_blocks;
	default:
		return la->explicit_cluster;             /* %is_explicit_cluster */
	}
}

/* ---- addresses ---- */
struct ws_block *ws_cluster_address(struct ws_block *b, uint64_t addr, uint32_t *offset)
{
	const struct ws_cluster *c = b->cluster;
	uint64_t tag = (addr & (WS_WINDOW(1) - 1)) >> WS_PEER_SHIFT;

	*offset = (uint32_t)addr & OFFSET_MASK;
	if (!tag)
		return b;
	return tag <= c->n ? c->block[tag - 1] : NULL;
}

static bool check_peer(struct ws_exec *x, const struct ws_dinst *in, const struct ws_request *q, uint32_t lane,
                       const struct ws_block *peer, uint32_t offset)
{
	const uint32_t *c = peer->obs.ctaid;
	bool inside = offset < x->shared_bytes && x->shared_bytes - offset >= q->bytes;
	char what[160];

	if (inside && peer->live_warps)
		return true;
	snprintf(what, sizeof what,
	         inside ? "shared memory of block (%u,%u,%u), rank %u of the cluster, which has ended" :
	         "shared memory of block (%u,%u,%u), rank %u of the cluster: out of bounds", c[0], c[1], c[2],
	         peer->cluster_rank);
	ws_fail_address(x, in, lane, WS_GPU_BAD_ADDRESS, WS_SPACE_SHARED, offset, q->bytes, q->write, what);
	return false;
}

static bool no_such_block(struct ws_exec *x, const struct ws_dinst *in, const struct ws_request *q, uint32_t lane,
                          uint64_t offset)
{
	uint64_t tag = offset >> WS_PEER_SHIFT;
	char what[120];

	snprintf(what, sizeof what, "shared memory: out of bounds");
	if (x->block->cluster->n > 1 && tag <= MAX_TAG)
		snprintf(what, sizeof what, "shared memory of the block of rank %u, but the cluster has %u blocks",
		         (unsigned)tag - 1, x->block->cluster->n);
	ws_fail_address(x, in, lane, WS_GPU_BAD_ADDRESS, WS_SPACE_SHARED, offset, q->bytes, q->write, what);
	return false;
}

static bool not_own(struct ws_exec *x, const struct ws_dinst *in, const struct ws_request *q, uint32_t lane,
                    const struct ws_block *peer, uint32_t offset)
{
	char what[160];

	snprintf(what, sizeof what,
	         "shared memory of the block of rank %u by an instruction for the thread's own block "
	         "(.shared::cluster is needed)", peer->cluster_rank);
	ws_fail_address(x, in, lane, WS_GPU_BAD_ADDRESS, WS_SPACE_SHARED, offset, q->bytes, q->write, what);
	return false;
}

bool ws_cluster_resolve(struct ws_exec *x, const struct ws_dinst *in, const struct ws_request *q, uint64_t window,
                        struct ws_resolved *r)
{
	uint32_t first = (uint32_t)__builtin_ctz(q->mask), offset;
	struct ws_block *b = ws_cluster_address(x->block, q->addr[first] - window, &offset);

	r->space = WS_SPACE_SHARED;
	r->mem = NULL;
	r->mask = 0;
	if (!b || (q->addr[first] - window) >> WS_WINDOW_SHIFT)
		return no_such_block(x, in, q, first, q->addr[first] - window);
	if (b != x->block && q->space == WS_SPACE_SHARED)
		return not_own(x, in, q, first, b, offset);
	r->peer = b == x->block ? NULL : b;
	EACH_LANE(l, q->mask) {
		if (q->addr[l] >> WS_PEER_SHIFT != q->addr[first] >> WS_PEER_SHIFT)
			continue;
		ws_cluster_address(x->block, q->addr[l] - window, &offset);
		if (r->peer && !check_peer(x, in, q, l, b, offset))
			return false;
		if (!r->peer && (offset >= x->shared_bytes || x->shared_bytes - offset < q->bytes)) {
			ws_fail_address(x, in, l, WS_GPU_BAD_ADDRESS, WS_SPACE_SHARED, offset, q->bytes, q->write,
			                "shared memory: out of bounds");
			return false;
		}
		r->mask |= 1u << l;
		r->addr[l] = offset;
		r->host[l] = b->shared + offset;
	}
	return true;
}

/* ---- mapa, getctarank ---- */
static uint64_t get(const uint8_t *regs, uint32_t reg, unsigned width, uint32_t l)
{
	uint64_t v = 0;

	memcpy(&v, regs + reg + l * width, width);
	return v;
}

static bool is_shared(struct ws_exec *x, const struct ws_dinst *in, uint32_t lane, uint64_t a)
{
	return !in->u.op.flag || a >> WS_WINDOW_SHIFT == WS_WINDOW_SHARED ||
	       ws_exec_fail(x, in, 1u << lane, WS_GPU_BAD_ADDRESS,
	                    "the generic address 0x%llx is not one of shared memory", (unsigned long long)a);
}

enum ws_next ws_op_mapa(struct ws_exec *x, const struct ws_dinst *in, uint32_t mask)
{
	const struct ws_dop *op = &in->u.op;
	uint8_t *regs = x->frag->frame->regs;

	EACH_LANE(l, mask) {
		uint64_t a = get(regs, op->a, op->width, l), rank = ws_r32(regs, op->b)[l];

		if (!is_shared(x, in, l, a))
			return WS_STOP;
		rank = rank < MAX_TAG ? rank + 1 : MAX_TAG;
		a = (a & ~(((uint64_t)WS_WINDOW(1) - 1) & ~(uint64_t)OFFSET_MASK)) | rank << WS_PEER_SHIFT;
		memcpy(regs + op->d + l * op->width, &a, op->width);
	}
	return WS_NEXT;
}

enum ws_next ws_op_getctarank(struct ws_exec *x, const struct ws_dinst *in, uint32_t mask)
{
	const struct ws_dop *op = &in->u.op;
	uint8_t *regs = x->frag->frame->regs;

	EACH_LANE(l, mask) {
		uint64_t a = get(regs, op->a, op->width, l), tag = (a & (WS_WINDOW(1) - 1)) >> WS_PEER_SHIFT;

		if (!is_shared(x, in, l, a))
			return WS_STOP;
		ws_r32(regs, op->d)[l] = tag ? (uint32_t)tag - 1 : x->block->cluster_rank;
	}
	return WS_NEXT;
}

static void decode_address(struct ws_decoder *dc)
{
	const struct ws_ptx_inst *in = dc->inst;
	bool mapa = in->op == WS_OP_mapa;
	unsigned width = ws_type_bytes(in->type[0]);
	struct ws_dop op = {.fn = mapa ? ws_op_mapa : ws_op_getctarank, .d2 = WS_LANE_NONE, .b = WS_LANE_NONE,
	                    .c = WS_LANE_NONE, .width = (uint8_t)width};

	op.flag = in->space == WS_SPACE_GENERIC;
	if (in->nops < (mapa ? 3 : 2) || in->ops[0].kind != WS_O_REG ||
	    (op.flag && width != 8) || ws_reg_width(in->ops[0].reg) != (mapa ? width : 4) ||
	    (in->ops[1].kind == WS_O_REG && ws_reg_width(in->ops[1].reg) != width)) {
		ws_dec_refuse(dc, WS_GPU_UNSUPPORTED, "the simulator does not know this form of '%s'",
		              ws_op_info(in->op)->name);
		return;
	}
	op.d = ws_dec_dst(dc, &in->ops[0]);
	op.a = ws_dec_src(dc, &in->ops[1], width);
	if (mapa)
		op.b = ws_dec_src(dc, &in->ops[2], 4);
	ws_dec_op(dc, op.fn)->u.op = op;
}

/* ---- barrier.cluster ---- */
static void tell(struct ws_exec *x, struct ws_warp *w, enum ws_cluster_op kind, uint32_t mask, unsigned sem)
{
	struct ws_cluster_barrier event = {kind, mask, (uint8_t)sem, x->block->cluster->number};

	if (x->ops && x->ops->cluster_barrier && x->ops->needs & WS_NEED_SYNC)
		x->ops->cluster_barrier(x->self, &w->obs, &event);
}

static bool all_arrived(const struct ws_cluster *c)
{
	bool anybody = false;

	for (uint32_t r = 0; r < c->n; r++)
		for (uint32_t i = 0; i < c->block[r]->nwarps; i++) {
			const struct ws_warp *w = &c->block[r]->warps[i];

			if (w->live & ~w->cluster_arrived)
				return false;
			anybody |= w->live != 0;
		}
	return anybody;
}

static void let_go(struct ws_exec *x, struct ws_warp *w)
{
	w->cluster_passed |= w->cluster_arrived & w->live;
	w->cluster_arrived = 0;
	for (uint32_t i = 0; i < w->nfrags; i++) {
		struct ws_frag *f = &w->frag[i];

		if (f->wait != WS_WAIT_CLUSTER)
			continue;
		f->wait = WS_READY;
		w->cluster_passed &= ~f->mask;
		w->runnable = true;
		w->progress++;
		tell(x, w, WS_CLUSTER_WAIT, f->mask, f->pc[-1].u.op.mode);
	}
}

static void check(struct ws_exec *x, struct ws_warp *w)
{
	struct ws_cluster *c = x->block->cluster;

	if (!c->begun || !all_arrived(c))
		return;
	c->begun = false;
	x->barriers++;
	tell(x, w, WS_CLUSTER_COMPLETE, w->live, WS_SEM_NONE);
	for (uint32_t r = 0; r < c->n; r++)
		for (uint32_t i = 0; i < c->block[r]->nwarps; i++)
			let_go(x, &c->block[r]->warps[i]);
}

void ws_cluster_exit(struct ws_exec *x, struct ws_warp *w)
{
	w->cluster_arrived &= w->live;
	check(x, w);
}

enum ws_next ws_op_cluster_arrive(struct ws_exec *x, const struct ws_dinst *in, uint32_t mask)
{
	struct ws_warp *w = x->warp;
	uint32_t twice = mask & (w->cluster_arrived | w->cluster_passed);

	if (twice) {
		ws_exec_fail(x, in, twice, WS_GPU_BAD_INSTRUCTION,
		             "the thread arrives at the cluster barrier again without having waited");
		return WS_STOP;
	}
	w->cluster_arrived |= mask;
	w->progress++;
	x->block->cluster->begun = true;
	tell(x, w, WS_CLUSTER_ARRIVE, mask, in->u.op.mode);
	check(x, w);
	return WS_NEXT;
}

enum ws_next ws_op_cluster_wait(struct ws_exec *x, const struct ws_dinst *in, uint32_t mask)
{
	struct ws_warp *w = x->warp;
	uint32_t strangers = mask & ~(w->cluster_arrived | w->cluster_passed), ready = mask & w->cluster_passed;

	if (strangers) {
		ws_exec_fail(x, in, strangers, WS_GPU_BAD_INSTRUCTION,
		             "the thread waits at the cluster barrier without having arrived");
		return WS_STOP;
	}
	if (ready) {
		w->cluster_passed &= ~ready;
		tell(x, w, WS_CLUSTER_WAIT, ready, in->u.op.mode);
	}
	if (ready == mask)
		return WS_NEXT;
	ws_isolate(x, in, mask & ~ready, in + 1);
	x->frag->pc = in + 1;
	x->frag->wait = WS_WAIT_CLUSTER;
	return WS_PICK;
}

static void decode_barrier(struct ws_decoder *dc)
{
	const struct ws_ptx_inst *in = dc->inst;
	bool wait = strcmp(in->extra, ".cluster.wait") == 0;
	enum ws_sem sem = in->sem ? in->sem : wait ? WS_SEM_ACQUIRE : WS_SEM_RELEASE;
	struct ws_dinst *k;

	if (sem != (wait ? WS_SEM_ACQUIRE : WS_SEM_RELEASE) && (wait || sem != WS_SEM_RELAXED)) {
		ws_dec_refuse(dc, WS_GPU_BAD_INSTRUCTION, "'barrier%s' does not take this memory order", in->extra);
		return;
	}
	dc->image->cluster_barrier = true;
	k = ws_dec_op(dc, wait ? ws_op_cluster_wait : ws_op_cluster_arrive);
	k->u.op.mode = (uint8_t)sem;
}

bool ws_dec_cluster(struct ws_decoder *dc)
{
	const struct ws_ptx_inst *in = dc->inst;

	if (in->op == WS_OP_mapa || in->op == WS_OP_getctarank) {
		decode_address(dc);
		return true;
	}
	if (in->op == WS_OP_barrier && in->mode == WS_MODE_OTHER && in->extra) {
		decode_barrier(dc);
		return true;
	}
	return false;
}

/* warp_ops.c - instructions that lanes of a warp execute together: shfl, vote, match, redux, elect, activemask,
 * bar.warp.sync (PTX ISA 9.0, Data Movement: shfl.sync; Parallel Synchronization: vote.sync, match.sync, redux.sync).
 *
 * With a member mask (.sync) and independent threads, a lane waits until all lanes of its mask that have not ended are
 * at the same instruction with the same mask (bar.warp.sync: at any bar.warp.sync). The operands of the lanes that came
 * are gathered, the result is computed, and scattered to the lanes' frames. Without .sync, and with the
 * reconvergence stack, the active lanes are those that take part. */
#include "gpu/gpu_priv.h"

#include <string.h>

struct group {
	uint32_t lanes;                  /* that take part */
	uint32_t members;                /* the member mask */
	_Alignas(64) uint64_t a[WS_WARP];        /* first source; predicates: 0 or 1 */
	_Alignas(64) uint32_t b[WS_WARP], c[WS_WARP];
	_Alignas(64) uint32_t d[WS_WARP];
	uint32_t p;                      /* predicate result, a bit a lane */
};

#define EACH_LANE(l, mask) \
	for (uint32_t m_ = (mask), l; m_ && (l = (uint32_t)__builtin_ctz(m_), true); m_ &= m_ - 1)

/* ---- what the instructions compute ---- */
static void do_shfl(const struct ws_dop *op, struct group *g)
{
	EACH_LANE(l, g->lanes) {
		uint32_t bval = g->b[l] & 31, cval = g->c[l] & 31, segment = g->c[l] >> 8 & 31;
		uint32_t max = (l & segment) | (cval & ~segment), min = l & segment;
		uint32_t j;
		bool in_range;

		switch (op->mode) {
		case WS_MODE_UP:
			j = l - bval;
			in_range = (int32_t)j >= (int32_t)max;
			break;
		case WS_MODE_DOWN:
			j = l + bval;
			in_range = j <= max;
			break;
		case WS_MODE_BFLY:
			j = l ^ bval;
			in_range = j <= max;
			break;
		default:
			j = min | (bval & ~segment);
			in_range = j <= max;
			break;
		}
		if (!in_range)
			j = l;
		/* PTX leaves open what a lane that does not take part gives. GPUs give 0 (measured on an H200), and
		 * programs that add it up rely on that. */
		g->d[l] = (uint32_t)(g->lanes >> j & 1 ? g->a[j] : 0);
		g->p |= (uint32_t)in_range << l;
	}
}

static uint32_t true_lanes(const struct group *g)
{
	uint32_t t = 0;

	EACH_LANE(l, g->lanes)
		t |= (uint32_t)(g->a[l] != 0) << l;
	return t;
}

static void do_vote(const struct ws_dop *op, struct group *g)
{
	uint32_t t = true_lanes(g);
	bool all = t == g->lanes, result = op->mode == WS_MODE_ALL ? all : op->mode == WS_MODE_ANY ? t != 0 : all || !t;

	for (uint32_t l = 0; l < WS_WARP; l++)
		g->d[l] = t;
	g->p = result ? UINT32_MAX : 0;
}

static void do_match(const struct ws_dop *op, struct group *g)
{
	uint32_t first = (uint32_t)__builtin_ctz(g->lanes), equal;

	EACH_LANE(l, g->lanes) {
		equal = 0;
		for (uint32_t k = 0; k < WS_WARP; k++)
			if (g->lanes >> k & 1)
				equal |= (uint32_t)(g->a[k] == g->a[l]) << k;
		g->d[l] = equal;
	}
	if (op->mode == WS_MODE_ALL) {
		bool all = g->d[first] == g->lanes;

		for (uint32_t l = 0; l < WS_WARP; l++)
			g->d[l] = all ? g->lanes : 0;
		g->p = all ? UINT32_MAX : 0;
	}
}

static uint32_t combine(enum ws_atom op, bool is_signed, uint32_t a, uint32_t b)
{
	switch (op) {
	case WS_ATOM_ADD:
		return a + b;
	case WS_ATOM_AND:
		return a & b;
	case WS_ATOM_OR:
		return a | b;
	case WS_ATOM_XOR:
		return a ^ b;
	case WS_ATOM_MIN:
		return is_signed ? ((int32_t)a < (int32_t)b ? a : b) : a < b ? a : b;
	default:
		return is_signed ? ((int32_t)a > (int32_t)b ? a : b) : a > b ? a : b;
	}
}

static void do_redux(const struct ws_dop *op, struct group *g)
{
	uint32_t first = (uint32_t)__builtin_ctz(g->lanes), r = (uint32_t)g->a[first];

	EACH_LANE(l, g->lanes & ~(1u << first))
		r = combine(op->atom, op->flag, r, (uint32_t)g->a[l]);
	for (uint32_t l = 0; l < WS_WARP; l++)
		g->d[l] = r;
}

static void do_elect(const struct ws_dop *op, struct group *g)
{
	uint32_t leader = (uint32_t)__builtin_ctz(g->lanes);

	(void)op;
	for (uint32_t l = 0; l < WS_WARP; l++)
		g->d[l] = leader;
	g->p = 1u << leader;
}

static void do_active(const struct ws_dop *op, struct group *g)
{
	(void)op;
	for (uint32_t l = 0; l < WS_WARP; l++)
		g->d[l] = g->lanes;
}

static void do_nothing(const struct ws_dop *op, struct group *g)
{
	(void)op;
	(void)g;
}

static void compute(const struct ws_dop *op, struct group *g)
{
	static const struct {
		ws_op_fn *op;
		void (*fn)(const struct ws_dop *op, struct group *g);
	} table[] = {
		{ws_op_shfl, do_shfl}, {ws_op_vote, do_vote}, {ws_op_match, do_match}, {ws_op_redux, do_redux},
		{ws_op_elect, do_elect}, {ws_op_activemask, do_active}, {ws_op_bar_warp, do_nothing},
	};

	for (size_t i = 0; i < WS_COUNT(table); i++)
		if (table[i].op == op->fn)
			table[i].fn(op, g);
}

/* ---- gathering and scattering ---- */
static void gather(const struct ws_dop *op, const uint8_t *regs, uint32_t mask, struct group *g)
{
	uint32_t p;

	if (op->a != WS_LANE_NONE && op->fn != ws_op_bar_warp) {
		if (op->width == 8) {
			EACH_LANE(l, mask)
				g->a[l] = ((const uint64_t *)(const void *)(regs + op->a))[l];
		} else if (op->fn == ws_op_vote) {
			p = *(const uint32_t *)(const void *)(regs + op->a);
			p = op->flag ? ~p : p;
			EACH_LANE(l, mask)
				g->a[l] = p >> l & 1;
		} else {
			EACH_LANE(l, mask)
				g->a[l] = ((const uint32_t *)(const void *)(regs + op->a))[l];
		}
	}
	if (op->fn != ws_op_shfl)
		return;
	EACH_LANE(l, mask) {
		g->b[l] = ((const uint32_t *)(const void *)(regs + op->b))[l];
		g->c[l] = ((const uint32_t *)(const void *)(regs + op->c))[l];
	}
}

static void put_pred(uint8_t *regs, uint32_t reg, uint32_t mask, uint32_t p)
{
	uint32_t *r = ws_r32(regs, reg);

	if (reg != WS_LANE_NONE)
		*r = (*r & ~mask) | (p & mask);
}

static void scatter(const struct ws_dop *op, uint8_t *regs, uint32_t mask, const struct group *g)
{
	if (op->fn == ws_op_bar_warp)
		return;
	if (op->fn == ws_op_vote && op->mode != WS_MODE_BALLOT) {
		put_pred(regs, op->d, mask, g->p);
		return;
	}
	if (op->d != WS_LANE_NONE)
		EACH_LANE(l, mask)
			ws_r32(regs, op->d)[l] = g->d[l];
	put_pred(regs, op->d2, mask, g->p);
}

static void tell(struct ws_exec *x, const struct ws_dop *op, struct ws_warp *w, uint32_t lanes)
{
	if (op->fn == ws_op_bar_warp && x->ops && x->ops->warp_sync && x->ops->needs & WS_NEED_SYNC)
		x->ops->warp_sync(x->self, &w->obs, lanes);
}

static void together(struct ws_exec *x, const struct ws_dop *op, uint32_t mask, uint32_t members)
{
	struct group g;
	uint8_t *regs = x->frag->frame->regs;

	g.lanes = mask;
	g.members = members;
	g.p = 0;
	gather(op, regs, mask, &g);
	compute(op, &g);
	scatter(op, regs, mask, &g);
	tell(x, op, x->warp, mask);
}

/* ---- waiting for the others ---- */
static bool meets(const struct ws_frag *f, const struct ws_dinst *in, uint32_t members)
{
	if (f->wait != WS_WAIT_SYNC || f->wait_mask != members)
		return false;
	return f->pc == in || (in->u.op.fn == ws_op_bar_warp && f->pc->u.op.fn == ws_op_bar_warp);
}

/* Executes the instruction for all who wait at it with this mask, if nobody is missing. */
static bool try_complete(struct ws_exec *x, struct ws_warp *w, const struct ws_dinst *in, uint32_t members)
{
	struct group g = {.members = members};

	for (uint32_t i = 0; i < w->nfrags; i++)
		if (meets(&w->frag[i], in, members))
			g.lanes |= w->frag[i].mask;
	if (members & w->live & ~g.lanes || !g.lanes)
		return false;
	for (uint32_t i = 0; i < w->nfrags; i++)
		if (meets(&w->frag[i], in, members))
			gather(&w->frag[i].pc->u.op, w->frag[i].frame->regs, w->frag[i].mask, &g);
	compute(&in->u.op, &g);
	for (uint32_t i = 0; i < w->nfrags; i++) {
		struct ws_frag *f = &w->frag[i];

		if (!meets(f, in, members))
			continue;
		scatter(&f->pc->u.op, f->frame->regs, f->mask, &g);
		f->wait = WS_READY;
		f->pc++;
	}
	w->runnable = true;
	w->progress++;
	tell(x, &in->u.op, w, g.lanes);
	return true;
}

void ws_sync_exit(struct ws_exec *x, struct ws_warp *w)
{
	for (uint32_t i = 0; i < w->nfrags; i++)
		if (w->frag[i].wait == WS_WAIT_SYNC && try_complete(x, w, w->frag[i].pc, w->frag[i].wait_mask))
			i = UINT32_MAX;  /* from the start: places have changed */
}

static enum ws_next not_named(struct ws_exec *x, const struct ws_dinst *in, uint32_t lanes, uint32_t members)
{
	ws_exec_fail(x, in, lanes, WS_GPU_BAD_INSTRUCTION,
	             "a thread executes a warp-wide instruction with a mask (0x%08x) that does not name the thread itself",
	             members);
	return WS_STOP;
}

/* The lanes of `mask` that came with the mask of the first one wait; the others have another try. */
static enum ws_next wait_for_others(struct ws_exec *x, const struct ws_dinst *in, uint32_t mask, uint32_t reg)
{
	uint32_t same = ws_same_value(x->frag->frame->regs, reg, 4, mask);
	uint32_t members = ws_r32(x->frag->frame->regs, reg)[__builtin_ctz(mask)];

	if (same & ~members)
		return not_named(x, in, same & ~members, members);
	if (same != mask)
		ws_isolate(x, in, x->frag->mask & ~(mask & ~same), in);
	ws_isolate(x, in, same, in + 1);
	x->frag->wait = WS_WAIT_SYNC;
	x->frag->wait_mask = members;
	try_complete(x, x->warp, in, members);
	return WS_PICK;
}

static uint32_t register_of_mask(const struct ws_dinst *in)
{
	return in->u.op.fn == ws_op_bar_warp ? in->u.op.a : (uint32_t)in->u.op.imm;
}

/* stack: who is active is here; lanes with different masks (two tiles of a warp) make groups. */
static enum ws_next in_groups(struct ws_exec *x, const struct ws_dinst *in, uint32_t mask, uint32_t reg)
{
	const uint8_t *regs = x->frag->frame->regs;

	while (mask) {
		uint32_t same = ws_same_value(regs, reg, 4, mask);
		uint32_t members = ((const uint32_t *)(const void *)(regs + reg))[__builtin_ctz(mask)];

		together(x, &in->u.op, same, members);
		mask &= ~same;
	}
	return WS_NEXT;
}

static enum ws_next collective(struct ws_exec *x, const struct ws_dinst *in, uint32_t mask)
{
	uint32_t reg = register_of_mask(in), members;
	bool one_mask = in->u.op.imm >> 32;

	if (reg == WS_LANE_NONE) {
		together(x, &in->u.op, mask, mask);
		return WS_NEXT;
	}
	members = ws_r32(x->frag->frame->regs, reg)[__builtin_ctz(mask)];
	one_mask = one_mask || ws_same_value(x->frag->frame->regs, reg, 4, mask) == mask;
	if (!x->its && !one_mask)
		return in_groups(x, in, mask, reg);
	if (x->its && ((members & x->warp->live & ~mask) || (mask & ~members) || !one_mask))
		return wait_for_others(x, in, mask, reg);
	together(x, &in->u.op, mask, members);
	return WS_NEXT;
}

enum ws_next ws_op_shfl(struct ws_exec *x, const struct ws_dinst *in, uint32_t mask)
{
	return collective(x, in, mask);
}

enum ws_next ws_op_vote(struct ws_exec *x, const struct ws_dinst *in, uint32_t mask)
{
	return collective(x, in, mask);
}

enum ws_next ws_op_match(struct ws_exec *x, const struct ws_dinst *in, uint32_t mask)
{
	return collective(x, in, mask);
}

enum ws_next ws_op_redux(struct ws_exec *x, const struct ws_dinst *in, uint32_t mask)
{
	return collective(x, in, mask);
}

enum ws_next ws_op_elect(struct ws_exec *x, const struct ws_dinst *in, uint32_t mask)
{
	return collective(x, in, mask);
}

enum ws_next ws_op_activemask(struct ws_exec *x, const struct ws_dinst *in, uint32_t mask)
{
	return collective(x, in, mask);
}

enum ws_next ws_op_bar_warp(struct ws_exec *x, const struct ws_dinst *in, uint32_t mask)
{
	return collective(x, in, mask);
}

/* exec_ops.c - the other handlers: copies, address windows, special registers, fences, indexed branches, trap. */
#include "gpu/gpu_priv.h"

#include <stdatomic.h>
#include <string.h>

#define EACH_LANE(l, mask) \
	for (uint32_t m_ = (mask), l; m_ && (l = (uint32_t)__builtin_ctz(m_), true); m_ &= m_ - 1)

enum ws_next ws_op_copy(struct ws_exec *x, const struct ws_dinst *in, uint32_t mask)
{
	const struct ws_dop *op = &in->u.op;
	uint8_t *regs = x->frag->frame->regs, *d = regs + op->d;
	const uint8_t *a = regs + op->a;

	if (op->d == WS_LANE_NONE)
		return WS_NEXT;
	if (!op->width)
		*ws_r32(regs, op->d) = (*ws_r32(regs, op->d) & ~mask) | (*ws_r32(regs, op->a) & mask);
	else if (mask == UINT32_MAX)
		memmove(d, a, op->width * (size_t)WS_WARP);
	else
		EACH_LANE(l, mask)
			memmove(d + l * op->width, a + l * op->width, op->width);
	return WS_NEXT;
}

enum ws_next ws_op_to_window(struct ws_exec *x, const struct ws_dinst *in, uint32_t mask)
{
	uint8_t *regs = x->frag->frame->regs;

	EACH_LANE(l, mask)
		ws_r64(regs, in->u.op.d)[l] = ws_r64(regs, in->u.op.a)[l] + in->u.op.imm;
	return WS_NEXT;
}

enum ws_next ws_op_from_window(struct ws_exec *x, const struct ws_dinst *in, uint32_t mask)
{
	uint8_t *regs = x->frag->frame->regs;

	EACH_LANE(l, mask)
		ws_r64(regs, in->u.op.d)[l] = ws_r64(regs, in->u.op.a)[l] - in->u.op.imm;
	return WS_NEXT;
}

/* Constant memory is a part of global memory here; only isspacep.const asks which allocation an address lies in. */
static bool in_space(struct ws_exec *x, const struct ws_dop *op, uint64_t address)
{
	const struct ws_mem *m;

	if (op->imm && op->mode == WS_SPACE_SHARED && address >> WS_WINDOW_SHIFT == op->imm) {
		uint32_t offset;

		return ws_cluster_address(x->block, address, &offset) == x->block;
	}
	if (op->imm)
		return address >> WS_WINDOW_SHIFT == op->imm;
	if (address >> WS_WINDOW_SHIFT)
		return false;
	m = ws_memmap_find(&x->gpu->map, address);
	return (m && m->kind == WS_MEM_CONST) == (op->mode == WS_SPACE_CONST);
}

enum ws_next ws_op_isspacep(struct ws_exec *x, const struct ws_dinst *in, uint32_t mask)
{
	const struct ws_dop *op = &in->u.op;
	uint8_t *regs = x->frag->frame->regs;
	uint32_t p = 0;

	EACH_LANE(l, mask)
		p |= (uint32_t)in_space(x, op, ws_r64(regs, op->a)[l]) << l;
	*ws_r32(regs, op->d) = (*ws_r32(regs, op->d) & ~mask) | p;
	return WS_NEXT;
}

/* ---- special registers ---- */
void ws_thread_of(const struct ws_launch *la, uint32_t thread, uint32_t tid[3])
{
	const uint32_t *n = la->obs.block;

	tid[0] = thread % n[0];
	tid[1] = thread / n[0] % n[1];
	tid[2] = thread / n[0] / n[1];
}

static uint64_t block_value(struct ws_exec *x, enum ws_sreg s)
{
	const struct ws_launch *la = x->launch;
	const struct ws_block *b = x->block;

	switch (s) {
	case WS_SR_NTID_X: case WS_SR_NTID_Y: case WS_SR_NTID_Z:
		return la->obs.block[s - WS_SR_NTID_X];
	case WS_SR_CTAID_X: case WS_SR_CTAID_Y: case WS_SR_CTAID_Z:
		return b->obs.ctaid[s - WS_SR_CTAID_X];
	case WS_SR_NCTAID_X: case WS_SR_NCTAID_Y: case WS_SR_NCTAID_Z:
		return la->obs.grid[s - WS_SR_NCTAID_X];
	case WS_SR_CLUSTERID_X: case WS_SR_CLUSTERID_Y: case WS_SR_CLUSTERID_Z:
	case WS_SR_NCLUSTERID_X: case WS_SR_NCLUSTERID_Y: case WS_SR_NCLUSTERID_Z:
	case WS_SR_CLUSTER_CTAID_X: case WS_SR_CLUSTER_CTAID_Y: case WS_SR_CLUSTER_CTAID_Z:
	case WS_SR_CLUSTER_NCTAID_X: case WS_SR_CLUSTER_NCTAID_Y: case WS_SR_CLUSTER_NCTAID_Z:
	case WS_SR_CLUSTER_CTARANK: case WS_SR_CLUSTER_NCTARANK: case WS_SR_IS_EXPLICIT_CLUSTER:
		return ws_cluster_sreg(x, s);
	case WS_SR_NWARPID:
		return 64;
	case WS_SR_SMID:
		return x->clocked ? x->core : b->obs.linear % x->gpu->config.sms;
	case WS_SR_NSMID:
		return x->gpu->config.sms;
	case WS_SR_GRIDID:
		return la->l->gridid ? la->l->gridid : la->obs.serial;
	case WS_SR_TOTAL_SMEM_SIZE:
		return la->shared_bytes - x->gpu->config.shared_reserved;
	case WS_SR_AGGR_SMEM_SIZE:
		return la->shared_bytes;
	case WS_SR_DYNAMIC_SMEM_SIZE:
		return la->l->shared_dynamic;
	case WS_SR_ENVREG1:
		return la->envreg_workspace >> 32;
	case WS_SR_ENVREG2:
		return (uint32_t)la->envreg_workspace;
	default:
		return 0;
	}
}

static bool per_lane(enum ws_sreg s)
{
	switch (s) {
	case WS_SR_TID_X: case WS_SR_TID_Y: case WS_SR_TID_Z: case WS_SR_LANEID: case WS_SR_WARPID:
	case WS_SR_LANEMASK_EQ: case WS_SR_LANEMASK_LE: case WS_SR_LANEMASK_LT: case WS_SR_LANEMASK_GE: case WS_SR_LANEMASK_GT:
		return true;
	default:
		return false;
	}
}

static uint64_t lane_value(struct ws_exec *x, struct ws_warp *w, enum ws_sreg s, uint32_t l)
{
	uint32_t tid[3];

	switch (s) {
	case WS_SR_TID_X: case WS_SR_TID_Y: case WS_SR_TID_Z:
		ws_thread_of(x->launch, w->obs.index * WS_WARP + l, tid);
		return tid[s - WS_SR_TID_X];
	case WS_SR_LANEID:
		return l;
	case WS_SR_WARPID:
		return w->obs.index;
	case WS_SR_LANEMASK_EQ:
		return 1u << l;
	case WS_SR_LANEMASK_LE:
		return (2u << l) - 1;
	case WS_SR_LANEMASK_LT:
		return (1u << l) - 1;
	case WS_SR_LANEMASK_GE:
		return ~((1u << l) - 1);
	default:
		return ~((2u << l) - 1);
	}
}

void ws_sreg_fill(struct ws_exec *x, struct ws_warp *w, enum ws_sreg s, uint8_t *regs, uint32_t reg, unsigned width)
{
	uint64_t v;

	if (!per_lane(s)) {
		ws_broadcast(regs, reg, width, block_value(x, s));
		return;
	}
	for (uint32_t l = 0; l < WS_WARP; l++) {
		v = lane_value(x, w, s, l);
		memcpy(regs + reg + l * width, &v, width);
	}
}

/* Time is counted in warp instructions of this host thread on one host thread, so that a run can be repeated. */
static uint64_t timer(const struct ws_exec *x)
{
	if (x->clocked)
		return x->nanoseconds;
	if (x->launch->nexec == 1)
		return (x->launch->obs.serial << 30) + x->winsts * 10;
	return (uint64_t)(ws_now() * 1e9);
}

/* %clock: a warp instruction counts as that many cycles. A dependent one takes 4 to 30 on a GPU; loops that spin for a
 * number of cycles should not take the host much longer than they take there. */
enum { CYCLES = 16, TIMER_TURNS = 64 };

enum ws_next ws_op_sreg(struct ws_exec *x, const struct ws_dinst *in, uint32_t mask)
{
	const struct ws_dop *op = &in->u.op;
	uint8_t *regs = x->frag->frame->regs;
	uint64_t v = x->clocked ? x->cycle : (x->winsts + x->warp->clock + 1) * CYCLES;

	x->warp->clock++;
	switch ((enum ws_sreg)op->imm) {
	case WS_SR_CLOCK_HI:
		v >>= 32;
		break;
	case WS_SR_GLOBALTIMER: case WS_SR_GLOBALTIMER_LO:
		v = timer(x);
		x->budget -= TIMER_TURNS;    /* a loop that looks at it again and again lets time pass: for others */
		break;
	case WS_SR_GLOBALTIMER_HI:
		v = timer(x) >> 32;
		break;
	case WS_SR_PM0: case WS_SR_PM1: case WS_SR_PM2: case WS_SR_PM3:
		v = 0;
		break;
	default:
		break;
	}
	x->warp->polls++;
	EACH_LANE(l, mask)
		memcpy(regs + op->d + l * op->width, &v, op->width);
	return WS_NEXT;
}

/* ---- the rest ---- */
enum ws_next ws_op_fence(struct ws_exec *x, const struct ws_dinst *in, uint32_t mask)
{
	struct ws_fence f = {in->u.op.mode, in->u.op.flag, in->u.op.ptr};

	atomic_thread_fence(memory_order_seq_cst);
	if (x->ops && x->ops->fence && x->ops->needs & WS_NEED_SYNC)
		x->ops->fence(x->self, &x->warp->obs, mask, &f);
	return WS_NEXT;
}

enum ws_next ws_op_nanosleep(struct ws_exec *x, const struct ws_dinst *in, uint32_t mask)
{
	x->warp->polls++;
	x->budget = 0;                   /* the next backward branch lets others run */
	return WS_NEXT;
}

/* The grid that this one depends on has ended before this one began; only an observer must know that the kernel waits. */
enum ws_next ws_op_grid_wait(struct ws_exec *x, const struct ws_dinst *in, uint32_t mask)
{
	x->warp->obs.block->grid_waited = true;
	return WS_NEXT;
}

enum ws_next ws_op_trap(struct ws_exec *x, const struct ws_dinst *in, uint32_t mask)
{
	ws_exec_fail(x, in, mask, WS_GPU_TRAP, "trap");
	return WS_STOP;
}

enum ws_next ws_op_brx(struct ws_exec *x, const struct ws_dinst *in, uint32_t mask)
{
	const struct ws_branch_table *t = in->u.op.ptr;
	const uint8_t *regs = x->frag->frame->regs;
	uint32_t first = ((const uint32_t *)(const void *)(regs + in->u.op.a))[__builtin_ctz(mask)];
	uint32_t same = ws_same_value(regs, in->u.op.a, 4, mask);
	const struct ws_dinst *target, *reconv = t->targets[t->n];

	if (first >= t->n) {
		ws_exec_fail(x, in, same, WS_GPU_BAD_PC, "brx.idx with index %u, but its list has %u targets", first,
		             t->n);
		return WS_STOP;
	}
	target = t->targets[first];
	if (same != x->frag->mask)
		x->divergent++;
	if (!x->its && same != x->frag->mask) {
		ws_stack_split(x, in, same, mask, target, reconv);
	} else {
		ws_isolate(x, in, mask, in + 1);
		ws_isolate(x, in, same, in);     /* the others look up their targets next */
		x->frag->pc = target;
	}
	if (target <= in)
		x->budget--;
	return x->budget < 0 ? WS_SLICE : WS_PICK;
}

/* decode_ops.c - instructions that are neither arithmetic nor plain memory accesses: address conversion, barriers, work
 * of a warp together, fences, calls, the stack, and those that only matter for speed on a real GPU. */
#include "gpu/gpu_priv.h"

#include <string.h>

static bool too_few(struct ws_decoder *dc, unsigned n)
{
	if (dc->inst->nops >= n)
		return false;
	ws_dec_refuse(dc, WS_GPU_BAD_INSTRUCTION, "operands are missing");
	return true;
}

/* ---- addresses ---- */
static uint64_t window_of(enum ws_space s)
{
	switch (s) {
	case WS_SPACE_SHARED: case WS_SPACE_SHARED_CLUSTER:
		return WS_WINDOW_SHARED;
	case WS_SPACE_LOCAL:
		return WS_WINDOW_LOCAL;
	case WS_SPACE_PARAM:
		return WS_WINDOW_PARAM;
	default:
		return 0;
	}
}

static void decode_cvta(struct ws_decoder *dc)
{
	const struct ws_ptx_inst *in = dc->inst;
	uint64_t window = WS_WINDOW(window_of(in->space));
	bool to = in->mode == WS_MODE_TO;
	uint32_t a, d;
	struct ws_dinst *k;

	if (too_few(dc, 2))
		return;
	if (ws_type_bytes(in->type[0]) != 8) {
		ws_dec_refuse(dc, WS_GPU_UNSUPPORTED, "generic addresses of 32 bits are not simulated");
		return;
	}
	a = ws_dec_src(dc, &in->ops[1], 8);
	d = ws_dec_dst(dc, &in->ops[0]);
	if (!window) {
		ws_dec_copy(dc, d, a, 8);
		return;
	}
	k = ws_dec_op(dc, to ? ws_op_from_window : ws_op_to_window);
	k->u.op.d = d;
	k->u.op.a = a;
	k->u.op.imm = window;
}

static void decode_isspacep(struct ws_decoder *dc)
{
	uint32_t a, d;
	struct ws_dinst *k;

	if (too_few(dc, 2))
		return;
	a = ws_dec_src(dc, &dc->inst->ops[1], 8);
	d = ws_dec_dst(dc, &dc->inst->ops[0]);
	k = ws_dec_op(dc, ws_op_isspacep);
	k->u.op.d = d;
	k->u.op.a = a;
	k->u.op.mode = dc->inst->space;
	k->u.op.imm = window_of(dc->inst->space);
}

/* ---- barriers and fences ---- */
static void decode_bar(struct ws_decoder *dc)
{
	const struct ws_ptx_inst *in = dc->inst;
	const struct ws_operand *o = in->ops;
	unsigned n = in->nops;
	struct ws_dop op = {.fn = ws_op_barrier, .d = WS_LANE_NONE, .d2 = WS_LANE_NONE, .b = WS_LANE_NONE,
	                    .c = WS_LANE_NONE, .mode = in->mode, .atom = in->atom, .width = 4};

	if (in->mode == WS_MODE_WARP_SYNC) {
		if (too_few(dc, 1))
			return;
		op.fn = ws_op_bar_warp;
		op.a = ws_dec_src(dc, &o[0], 4);
		op.imm = (uint64_t)ws_dec_uniform(&o[0]) << 32;
		ws_dec_op(dc, ws_op_bar_warp)->u.op = op;
		return;
	}
	if (in->mode == WS_MODE_RED) {
		if (too_few(dc, 3))
			return;
		op.d = ws_dec_dst(dc, &o[0]);
		op.width = o[0].kind == WS_O_REG ? (uint8_t)ws_reg_width(o[0].reg) : 4;
		op.c = ws_dec_src(dc, &o[n - 1], 0);
		op.flag = o[n - 1].negated;
		o++;
		n -= 2;
	}
	if (n < 1) {
		ws_dec_refuse(dc, WS_GPU_BAD_INSTRUCTION, "a barrier needs its number");
		return;
	}
	op.a = ws_dec_src(dc, &o[0], 4);
	op.imm = ws_dec_uniform(&o[0]) && (n < 2 || ws_dec_uniform(&o[1]));
	if (n > 1)
		op.b = ws_dec_src(dc, &o[1], 4);
	ws_dec_op(dc, ws_op_barrier)->u.op = op;
}

static void decode_fence(struct ws_decoder *dc)
{
	const struct ws_ptx_inst *in = dc->inst;
	struct ws_dinst *k = ws_dec_op(dc, ws_op_fence);

	k->u.op.mode = in->op == WS_OP_membar ? WS_SEM_SC : in->sem == WS_SEM_NONE ? WS_SEM_ACQ_REL : in->sem;
	k->u.op.flag = in->scope;
	k->u.op.ptr = in->mode == WS_MODE_PROXY ? (void *)(uintptr_t)(in->extra ? in->extra + 1 : "proxy") : NULL;
}

/* ---- work of a warp together ---- */
bool ws_dec_uniform(const struct ws_operand *o)
{
	return o->kind == WS_O_INT;
}

/* The register of the mask; bit 32 says that it is the same for all lanes. */
static uint64_t member_mask(struct ws_decoder *dc, unsigned operand)
{
	const struct ws_operand *o = &dc->inst->ops[operand];

	if (!(dc->inst->flags & WS_F_SYNC))
		return WS_LANE_NONE;
	return ws_dec_src(dc, o, 4) | (uint64_t)ws_dec_uniform(o) << 32;
}

static void decode_shfl(struct ws_decoder *dc)
{
	const struct ws_ptx_inst *in = dc->inst;
	unsigned sync = in->flags & WS_F_SYNC ? 1 : 0, nd;
	struct ws_dop op = {.fn = ws_op_shfl, .d2 = WS_LANE_NONE, .mode = in->mode};

	if (too_few(dc, 4 + sync))
		return;
	nd = in->nops - 3 - sync;
	op.d = ws_dec_dst(dc, &in->ops[0]);
	if (nd > 1)
		op.d2 = ws_dec_dst(dc, &in->ops[1]);
	op.a = ws_dec_src(dc, &in->ops[nd], 4);
	op.b = ws_dec_src(dc, &in->ops[nd + 1], 4);
	op.c = ws_dec_src(dc, &in->ops[nd + 2], 4);
	op.imm = member_mask(dc, in->nops - 1u);
	ws_dec_op(dc, ws_op_shfl)->u.op = op;
}

/* vote, match, redux, elect: [p|]d, [a,] [mask] */
static void decode_collective(struct ws_decoder *dc, ws_op_fn *fn, bool has_source, unsigned width)
{
	const struct ws_ptx_inst *in = dc->inst;
	unsigned sync = in->flags & WS_F_SYNC ? 1 : 0, nsrc = has_source ? 1 : 0, nd;
	struct ws_dop op = {.fn = fn, .d2 = WS_LANE_NONE, .a = WS_LANE_NONE, .b = WS_LANE_NONE, .c = WS_LANE_NONE,
	                    .mode = in->mode, .atom = in->atom, .width = (uint8_t)width};

	if (too_few(dc, 1 + nsrc + sync))
		return;
	nd = in->nops - nsrc - sync;
	op.d = ws_dec_dst(dc, &in->ops[0]);
	if (nd > 1)
		op.d2 = ws_dec_dst(dc, &in->ops[1]);
	if (has_source) {
		op.a = ws_dec_src(dc, &in->ops[nd], width);
		op.flag = in->ops[nd].negated;
	}
	op.imm = member_mask(dc, in->nops - 1u);
	if (in->op == WS_OP_redux)
		op.flag = ws_type_is_signed(in->type[0]);
	ws_dec_op(dc, fn)->u.op = op;
}

static void decode_redux(struct ws_decoder *dc)
{
	if (ws_type_is_float(dc->inst->type[0]))
		ws_dec_refuse(dc, WS_GPU_UNSUPPORTED, "redux on floating-point values is not simulated");
	else
		decode_collective(dc, ws_op_redux, true, 4);
}

/* ---- stack ---- */
static void decode_stack(struct ws_decoder *dc, ws_op_fn *fn)
{
	const struct ws_ptx_inst *in = dc->inst;
	unsigned width = ws_type_bytes(in->type[0]);
	struct ws_dop op = {.fn = fn, .d = WS_LANE_NONE, .d2 = WS_LANE_NONE, .a = WS_LANE_NONE, .b = WS_LANE_NONE,
	                    .c = WS_LANE_NONE, .width = (uint8_t)width, .imm = 16};

	if (too_few(dc, in->op == WS_OP_alloca ? 2 : 1))
		return;
	if (in->op != WS_OP_stackrestore)
		op.d = ws_dec_dst(dc, &in->ops[0]);
	if (in->op == WS_OP_stackrestore)
		op.a = ws_dec_src(dc, &in->ops[0], width);
	if (in->op == WS_OP_alloca) {
		op.a = ws_dec_src(dc, &in->ops[1], width);
		if (in->nops > 2 && in->ops[2].imm > 16)
			op.imm = in->ops[2].imm;
	}
	dc->image->uses_local = true;
	ws_dec_op(dc, fn)->u.op = op;
}

/* ---- calls ---- */
static struct ws_call_arg call_arg(struct ws_decoder *dc, const struct ws_operand *o, bool result)
{
	struct ws_call_arg a = {.reg = WS_LANE_NONE, .local = WS_LANE_NONE};

	if (o->kind == WS_O_SINK)
		return a;
	if (o->kind == WS_O_SYM && o->sym) {
		a.reg = ws_dec_area(dc, o->sym);
		a.is_area = a.reg != WS_LANE_NONE;
		a.size = (uint32_t)o->sym->size;
		if (a.is_area)
			return a;
	}
	a.width = o->kind == WS_O_REG ? (uint8_t)ws_reg_width(o->reg) : 8;
	a.size = a.width;
	a.reg = result ? ws_dec_dst(dc, o) : ws_dec_src(dc, o, a.width);
	return a;
}

/* An instruction that is not PTX's (step.h). */
static bool is_intrinsic(struct ws_decoder *dc, const char *name, struct ws_call_site *c)
{
	const struct ws_gpu_config *g = &dc->gpu->config;
	int i = g->clock && g->clock->intrinsic ? g->clock->intrinsic(g->clock_self, name) : -1;

	c->intrinsic = (uint32_t)(i + 1);
	return i >= 0;
}

static bool direct_target(struct ws_decoder *dc, struct ws_call_site *c)
{
	const struct ws_operand *t = dc->inst->call->target;
	struct ws_fn *fn;

	if (!t->sym || t->sym->kind != WS_SYM_FUNC) {
		ws_dec_refuse(dc, WS_GPU_BAD_INSTRUCTION, "a call of something that is not a function");
		return false;
	}
	c->fn = &dc->unit->fns[t->sym->index];
	fn = c->fn->def;
	if (fn) {
		c->fn = fn;
		c->code = ws_image_code(dc->image, fn);
		return true;
	}
	if (is_intrinsic(dc, t->sym->name, c))
		return true;
	if (c->fn->syscall && c->fn->syscall->fn)
		return true;
	if (c->fn->syscall)
		ws_dec_refuse(dc, WS_GPU_UNSUPPORTED, "'%s' is not simulated: %s", t->sym->name, c->fn->syscall->why);
	else
		ws_dec_refuse(dc, WS_GPU_NOT_FOUND, "the function '%s' is not defined in any module", t->sym->name);
	return false;
}

void ws_dec_call(struct ws_decoder *dc)
{
	const struct ws_ptx_call *call = dc->inst->call;
	struct ws_arena *arena = dc->image->arena;
	struct ws_call_site *c = ws_arena_alloc(arena, sizeof *c);
	struct ws_dinst *k;

	if (call->target->kind == WS_O_REG) {
		c->target = ws_dec_src(dc, call->target, 8);
		dc->image->indirect = true;
	} else if (!direct_target(dc, c)) {
		return;
	}
	c->nargs = call->nargs;
	c->nrets = call->nrets;
	c->args = ws_arena_alloc(arena, (c->nargs + c->nrets + 1) * sizeof *c->args);
	c->rets = c->args + c->nargs;
	for (uint32_t i = 0; i < c->nargs; i++)
		c->args[i] = call_arg(dc, &call->args[i], false);
	for (uint32_t i = 0; i < c->nrets; i++)
		c->rets[i] = call_arg(dc, &call->rets[i], true);
	dc->image->calls = true;
	k = ws_dec_op(dc, ws_op_call);
	k->u.op.ptr = c;
}

/* ---- the choice ---- */
static bool decode_warp_op(struct ws_decoder *dc)
{
	switch (dc->inst->op) {
	case WS_OP_shfl:
		decode_shfl(dc);
		return true;
	case WS_OP_vote:
		decode_collective(dc, ws_op_vote, true, 0);
		return true;
	case WS_OP_match:
		decode_collective(dc, ws_op_match, true, ws_type_bytes(dc->inst->type[0]));
		return true;
	case WS_OP_redux:
		decode_redux(dc);
		return true;
	case WS_OP_elect:
		decode_collective(dc, ws_op_elect, false, 4);
		return true;
	case WS_OP_activemask:
		decode_collective(dc, ws_op_activemask, false, 4);
		return true;
	default:
		return false;
	}
}

static bool decode_other(struct ws_decoder *dc)
{
	const struct ws_ptx_inst *in = dc->inst;

	switch (in->op) {
	case WS_OP_alloca:
		decode_stack(dc, ws_op_alloca);
		return true;
	case WS_OP_stacksave:
		decode_stack(dc, ws_op_stacksave);
		return true;
	case WS_OP_stackrestore:
		decode_stack(dc, ws_op_stackrestore);
		return true;
	case WS_OP_nanosleep:
		ws_dec_op(dc, ws_op_nanosleep);
		return true;
	case WS_OP_createpolicy:
		ws_dec_copy(dc, ws_dec_dst(dc, &in->ops[0]), ws_dec_imm(dc, 0, 8), 8);
		return true;
	/* nothing that a functional simulation could show; a launch begins when the one before it has ended */
	case WS_OP_prefetch: case WS_OP_prefetchu: case WS_OP_applypriority: case WS_OP_brkpt: case WS_OP_pmevent:
	case WS_OP_setmaxnreg:
		return true;
	case WS_OP_griddepcontrol:
		if (in->extra && strcmp(in->extra, ".wait") == 0)
			ws_dec_op(dc, ws_op_grid_wait);
		return true;
	default:
		return false;
	}
}

bool ws_dec_special(struct ws_decoder *dc)
{
	switch (dc->inst->op) {
	case WS_OP_cvta:
		decode_cvta(dc);
		return true;
	case WS_OP_isspacep:
		decode_isspacep(dc);
		return true;
	case WS_OP_bar: case WS_OP_barrier:
		decode_bar(dc);
		return true;
	case WS_OP_membar: case WS_OP_fence:
		decode_fence(dc);
		return true;
	case WS_OP_call:
		ws_dec_call(dc);
		return true;
	default:
		return ws_dec_memory(dc) || decode_warp_op(dc) || decode_other(dc) || ws_dec_matrix(dc);
	}
}

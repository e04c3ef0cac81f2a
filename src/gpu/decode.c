/* decode.c - from a PTX function to decoded code: registers, constants, basic blocks, branches. Instructions by kind:
 * lanes.h decodes arithmetic, decode_mem.c memory and atomics, decode_ops.c the rest; image.c says which functions
 * make a kernel's image.
 *
 * A frame, that is the registers of a function for one warp, is an array of bytes: predicates and the carry flag,
 * registers, .param variables, temporaries, constants. Whatever holds the same value in a warp slot for a whole launch
 * or block (immediates, kernel parameters, %tid, addresses of variables) is a constant: an array filled in advance. A
 * register that is only ever given such a value is that constant, and its mov or ld.param costs nothing. */
#include "gpu/gpu_priv.h"

#include <stdlib.h>
#include <string.h>

unsigned ws_reg_width(const struct ws_reg *r)
{
	unsigned n = ws_type_bytes(r->type);

	return r->type == WS_PRED ? 0 : n < 2 ? 2 : n;
}

void ws_dec_refuse(struct ws_decoder *dc, enum ws_gpu_errcode code, const char *fmt, ...)
{
	struct ws_image *im = dc->image;
	va_list ap;

	dc->failed = true;
	if (im->refused)
		return;
	im->refused = code;
	va_start(ap, fmt);
	ws_buf_vprintf(&im->why, fmt, ap);
	va_end(ap);
	if (dc->inst) {
		ws_buf_puts(&im->why, "\n  instruction: ");
		ws_buf_add(&im->why, dc->unit->ptx->text + dc->inst->off, dc->inst->len);
		ws_buf_puts(&im->why, "\n  at ");
		ws_ptx_where(dc->unit->ptx, dc->inst, &im->why);
	}
	ws_buf_printf(&im->why, "\n  in function '%s'", dc->fn->ptx->name);
}

/* ---- the frame ---- */
uint32_t ws_dec_space(struct ws_decoder *dc, uint32_t bytes)
{
	uint32_t at = dc->frame;

	if (bytes > WS_MAX_FRAME || dc->frame > WS_MAX_FRAME - bytes) {
		ws_dec_refuse(dc, WS_GPU_UNSUPPORTED, "the function has too many registers");
		return 0;
	}
	dc->frame += (bytes + 63) & ~63u;
	return at;
}

uint32_t ws_dec_temp(struct ws_decoder *dc, unsigned width)
{
	return ws_dec_space(dc, width ? width * WS_WARP : 4);
}

uint32_t ws_dec_const(struct ws_decoder *dc, struct ws_const c)
{
	struct ws_const *k;

	for (size_t i = dc->nconsts; i-- > 0;) {
		k = &dc->consts[i];
		if (k->kind == c.kind && k->width == c.width && k->size == c.size && k->value == c.value &&
		    k->is_signed == c.is_signed && k->generic == c.generic)
			return k->reg;
		if (dc->nconsts - i > 400)
			break;           /* looking further costs more than another array does */
	}
	c.reg = ws_dec_temp(dc, c.width);
	*WS_PUSH(dc->consts, dc->nconsts, dc->cap_consts) = c;
	return c.reg;
}

uint32_t ws_dec_imm(struct ws_decoder *dc, uint64_t value, unsigned width)
{
	if (width < 8 && width)
		value &= (1ull << (8 * width)) - 1;
	return ws_dec_const(dc, (struct ws_const){.kind = WS_C_IMM, .width = (uint8_t)width, .value = value});
}

/* ---- operands ---- */
static bool varies(enum ws_sreg s)
{
	switch (s) {
	case WS_SR_CLOCK: case WS_SR_CLOCK_HI: case WS_SR_CLOCK64: case WS_SR_GLOBALTIMER: case WS_SR_GLOBALTIMER_LO:
	case WS_SR_GLOBALTIMER_HI: case WS_SR_PM0: case WS_SR_PM1: case WS_SR_PM2: case WS_SR_PM3:
		return true;
	default:
		return false;
	}
}

static bool per_block(enum ws_sreg s)
{
	switch (s) {
	case WS_SR_CTAID_X: case WS_SR_CTAID_Y: case WS_SR_CTAID_Z: case WS_SR_SMID: case WS_SR_CLUSTERID_X:
	case WS_SR_CLUSTERID_Y: case WS_SR_CLUSTERID_Z: case WS_SR_CLUSTER_CTAID_X: case WS_SR_CLUSTER_CTAID_Y:
	case WS_SR_CLUSTER_CTAID_Z: case WS_SR_CLUSTER_CTARANK:
		return true;
	default:
		return false;
	}
}

static bool sreg_const(const struct ws_operand *o, unsigned width, struct ws_const *c)
{
	enum ws_sreg s = o->sreg_or_count;

	if (varies(s))
		return false;
	*c = (struct ws_const){.kind = per_block(s) ? WS_C_SREG_BLOCK : WS_C_SREG, .width = (uint8_t)width, .value = s};
	return true;
}

/* A constant that an operand stands for, whatever the thread does: false if there is none. */
static bool operand_const(struct ws_decoder *dc, const struct ws_operand *o, unsigned width, struct ws_const *c)
{
	switch (o->kind) {
	case WS_O_INT: case WS_O_FLOAT: case WS_O_FLOAT32: {
		uint64_t v = width ? ws_lanes_immediate(dc->inst, o, width) : o->imm ? UINT32_MAX : 0;

		*c = (struct ws_const){.kind = WS_C_IMM, .width = (uint8_t)width, .value = v};
		return width <= 8;
	}
	case WS_O_SREG:
		return sreg_const(o, width, c);
	case WS_O_SYM:
		if (!ws_dec_symbol(dc, o->sym, o->offset, false, c))
			return false;
		c->width = (uint8_t)width;
		return true;
	default:
		return false;
	}
}

static uint32_t read_varying(struct ws_decoder *dc, const struct ws_operand *o, unsigned width)
{
	uint32_t t = ws_dec_temp(dc, width);
	struct ws_dinst *in = ws_dec_op(dc, ws_op_sreg);

	in->u.op.d = t;
	in->u.op.width = (uint8_t)width;
	in->u.op.imm = o->sreg_or_count;
	return t;
}

static uint32_t component(const struct ws_operand *o, uint32_t base, unsigned width)
{
	unsigned c = o->component;

	return c >= 1 && c <= 4 ? base + (c - 1) * width * WS_WARP : base;
}

uint32_t ws_dec_reg(struct ws_decoder *dc, const struct ws_operand *o)
{
	if (o->component > 4)
		ws_dec_refuse(dc, WS_GPU_UNSUPPORTED, "the simulator does not know selectors of parts of a register");
	return component(o, dc->reg[o->reg->index], ws_reg_width(o->reg));
}

uint32_t ws_dec_src(struct ws_decoder *dc, const struct ws_operand *o, unsigned width)
{
	struct ws_const c;

	if (o->kind == WS_O_REG)
		return ws_dec_reg(dc, o);
	if (o->kind == WS_O_SREG && varies(o->sreg_or_count))
		return read_varying(dc, o, width);
	if (operand_const(dc, o, width, &c))
		return ws_dec_const(dc, c);
	ws_dec_refuse(dc, WS_GPU_UNSUPPORTED, "the simulator does not know this kind of operand here");
	return WS_LANE_NONE;
}

uint32_t ws_dec_dst(struct ws_decoder *dc, const struct ws_operand *o)
{
	if (o->kind == WS_O_SINK)
		return WS_LANE_NONE;
	if (o->kind == WS_O_REG)
		return ws_dec_reg(dc, o);
	ws_dec_refuse(dc, WS_GPU_UNSUPPORTED, "the simulator does not know this kind of destination");
	return WS_LANE_NONE;
}

/* ---- emission ---- */
struct ws_dinst *ws_dec_emit(struct ws_decoder *dc, enum ws_kind kind)
{
	struct ws_dinst *in = WS_PUSH(dc->insts, dc->n, dc->cap);

	memset(in, 0, sizeof *in);
	in->kind = (uint8_t)kind;
	in->guard = WS_NO_GUARD;
	in->site = WS_NO_SITE;
	if (dc->inst) {
		in->site = dc->inst->index;
		if (dc->inst->guard) {
			in->guard = dc->reg[dc->inst->guard->index];
			in->guard_neg = dc->inst->guard_neg;
		}
	}
	return in;
}

struct ws_dinst *ws_dec_op(struct ws_decoder *dc, ws_op_fn *fn)
{
	struct ws_dinst *in = ws_dec_emit(dc, WS_K_OP);

	in->u.op = (struct ws_dop){.fn = fn, .d = WS_LANE_NONE, .d2 = WS_LANE_NONE, .a = WS_LANE_NONE,
	                           .b = WS_LANE_NONE,
	                           .c = WS_LANE_NONE};
	return in;
}

/* Copies one lane array; for moves that are not removed. */
void ws_dec_copy(struct ws_decoder *dc, uint32_t d, uint32_t a, unsigned width)
{
	struct ws_dinst *in = ws_dec_op(dc, ws_op_copy);

	in->u.op.d = d;
	in->u.op.a = a;
	in->u.op.width = (uint8_t)width;
}

/* The operands of a lane instruction, in the fields that lanes.h says. */
static void place_operands(struct ws_decoder *dc, const unsigned *width, struct ws_lane_op *op)
{
	const struct ws_operand *o;

	for (unsigned k = 0; k < WS_LANE_OPERANDS && (o = ws_lanes_operand(dc->inst, k)); k++) {
		uint32_t *slot = ws_lanes_slot(op, dc->inst, k);

		if (slot)
			*slot = o->kind == WS_O_SINK ? WS_LANE_NONE : ws_dec_src(dc, o, width[k]);
	}
}

static bool decode_lane(struct ws_decoder *dc)
{
	struct ws_lane_op op;
	unsigned width[WS_LANE_OPERANDS] = {0};
	const char *why = NULL;
	struct ws_dinst *in;

	memset(&op, 0, sizeof op);
	if (!ws_lanes_decode(dc->inst, &op, width, &why)) {
		if (why)
			ws_dec_refuse(dc, WS_GPU_UNSUPPORTED, "%s", why);
		return why != NULL;
	}
	place_operands(dc, width, &op);
	op.cc = 0;                       /* the carry flag is the frame's first word */
	in = ws_dec_emit(dc, WS_K_LANE);
	if (in->guard != WS_NO_GUARD)
		in->kind = WS_K_LANE_GUARD;
	in->u.lane = op;
	return true;
}

/* ---- registers that are constants ---- */
static void count_def(void *user, struct ws_reg *r, bool is_def)
{
	uint8_t *n = user;

	if (is_def && n[r->index] < 2)
		n[r->index]++;
}

static void find_single(struct ws_decoder *dc)
{
	struct ws_ptx_func *f = dc->ptx;

	for (uint32_t i = 0; i < f->ninsts; i++) {
		ws_ptx_inst_regs(&f->insts[i], count_def, dc->single);
		if (f->insts[i].guard)
			ws_ptx_inst_regs(&f->insts[i], count_def, dc->single);
	}
	for (uint32_t i = 0; i < f->nparams; i++)        /* old style: parameters in registers have a value at entry */
		if (f->params[i]->space == WS_SPACE_REG)
			for (uint32_t r = 0; r < f->nregs; r++)
				if (!strcmp(f->regs[r]->name, f->params[i]->name))
					dc->single[r] = 2;
}

bool ws_dec_param_const(struct ws_decoder *dc, const struct ws_ptx_inst *in, unsigned elem, unsigned width,
                        struct ws_const *c)
{
	const struct ws_operand *a = &in->ops[in->nops - 1];
	enum ws_type t = in->type[0];
	uint64_t at;

	if (in->op != WS_OP_ld || in->space != WS_SPACE_PARAM || !dc->ptx->entry || a->kind != WS_O_ADDR || a->reg ||
	    !a->sym)
		return false;
	for (uint32_t i = 0; i < dc->ptx->nparams; i++)
		if (dc->ptx->params[i] == a->sym) {
			struct ws_gpu_kernel *k = dc->image->kernel;

			at = k->param_offset[i] + (uint64_t)a->offset + (uint64_t)elem * ws_type_bytes(t);
			if (at + ws_type_bytes(t) > k->param_bytes)
				return false;
			*c = (struct ws_const){.kind = WS_C_PARAM, .width = (uint8_t)width,
			                       .size = (uint8_t)ws_type_bytes(t), .is_signed = ws_type_is_signed(t), .value = at};
			return width && width <= 8;
		}
	return false;
}

static bool const_of_register(struct ws_decoder *dc, const struct ws_operand *o, uint32_t *reg)
{
	if (o->kind != WS_O_REG || o->component || dc->reg[o->reg->index] == WS_LANE_NONE)
		return false;
	*reg = dc->reg[o->reg->index];
	return true;
}

/* The constant a mov, ld.param or cvta gives to its only destination. */
static bool alias_of(struct ws_decoder *dc, const struct ws_ptx_inst *in, const struct ws_reg *d, uint32_t *reg)
{
	unsigned width = ws_reg_width(d);
	struct ws_const c;

	if (in->op == WS_OP_ld && ws_dec_param_const(dc, in, 0, width, &c)) {
		*reg = ws_dec_const(dc, c);
		return true;
	}
	if (in->nops != 2 || in->ops[1].negated)
		return false;
	if (in->op == WS_OP_mov) {
		if (const_of_register(dc, &in->ops[1], reg))
			return width && ws_reg_width(in->ops[1].reg) == width;
		if (!operand_const(dc, &in->ops[1], width, &c))
			return false;
		*reg = ws_dec_const(dc, c);
		return true;
	}
	if (in->op == WS_OP_cvta && width == 8 &&
	    (in->space == WS_SPACE_GLOBAL || in->space == WS_SPACE_CONST) && ws_type_bytes(in->type[0]) == 8)
		return const_of_register(dc, &in->ops[1], reg);
	return false;
}

static void find_aliases(struct ws_decoder *dc, const uint32_t *order, uint32_t n, uint8_t *removed)
{
	struct ws_ptx_func *f = dc->ptx;

	for (uint32_t b = 0; b < n; b++)
		for (uint32_t i = f->blocks[order[b]].first; i <= f->blocks[order[b]].last && i < f->ninsts; i++) {
			const struct ws_ptx_inst *in = &f->insts[i];
			const struct ws_operand *d = in->nops ? &in->ops[0] : NULL;
			uint32_t reg;

			if (in->guard || !d || d->kind != WS_O_REG || d->component || d->reg->vec > 1 ||
			    dc->single[d->reg->index] != 1 || in->vec > 1)
				continue;
			dc->inst = in;
			if (alias_of(dc, in, d->reg, &reg)) {
				dc->reg[d->reg->index] = reg;
				removed[i] = 1;
			}
		}
	dc->inst = NULL;
}

/* Predicates share cache lines; the carry flag comes before them. */
static void place_registers(struct ws_decoder *dc)
{
	struct ws_ptx_func *f = dc->ptx;
	uint32_t preds = 1, at = 4;

	for (uint32_t i = 0; i < f->nregs; i++)
		preds += ws_reg_width(f->regs[i]) == 0;
	ws_dec_space(dc, preds < WS_MAX_FRAME / 8 ? preds * 4 : WS_MAX_FRAME);
	for (uint32_t i = 0; i < f->nregs; i++) {
		const struct ws_reg *r = f->regs[i];

		dc->reg[i] = WS_LANE_NONE;
		if (!ws_reg_width(r)) {
			dc->reg[i] = at;
			at += 4;
		}
	}
}

/* ---- instructions and blocks ---- */
static bool is_control(const struct ws_ptx_inst *in)
{
	return ws_op_info(in->op)->fx & (WS_FX_BRANCH | WS_FX_EXIT);
}

static const struct ws_dinst *block_ref(uint32_t block)
{
	return (const struct ws_dinst *)(uintptr_t)((uint64_t)block + 1);        /* becomes a pointer in fix_targets */
}

static void emit_branch(struct ws_decoder *dc, uint32_t target, uint32_t reconv, uint32_t count)
{
	bool guarded = dc->inst && dc->inst->guard;
	struct ws_dinst *in = ws_dec_emit(dc, WS_K_BRA);

	if (guarded)
		in->kind = in->guard_neg ? WS_K_BRA_IFNOT : WS_K_BRA_IF;
	in->count = count;
	in->u.bra.target = block_ref(target);
	in->u.bra.reconv = reconv == WS_EXIT_BLOCK ? NULL : block_ref(reconv);
}

static void emit_glue(struct ws_decoder *dc, uint32_t block, uint32_t count)
{
	const struct ws_ptx_inst *in = dc->inst;

	dc->inst = NULL;
	emit_branch(dc, block, WS_EXIT_BLOCK, count);
	dc->inst = in;
}

static uint32_t block_of_label(const struct ws_ptx_func *f, uint32_t label)
{
	uint32_t at = f->labels[label].inst;

	return at < f->ninsts ? f->insts[at].block : WS_EXIT_BLOCK;
}

/* A label at the very end stands for a ret that the text leaves out. */
static uint32_t end_block(const struct ws_decoder *dc)
{
	return dc->ptx->nblocks;
}

static void decode_bra(struct ws_decoder *dc, uint32_t count)
{
	const struct ws_operand *o = &dc->inst->ops[0];
	uint32_t target;

	if (o->kind != WS_O_LABEL) {
		ws_dec_refuse(dc, WS_GPU_UNSUPPORTED, "a branch to something that is not a label");
		return;
	}
	target = block_of_label(dc->ptx, o->label);
	emit_branch(dc, target == WS_EXIT_BLOCK ? end_block(dc) : target, dc->meets[dc->inst->block], count);
}

static void decode_brx(struct ws_decoder *dc, uint32_t count)
{
	const struct ws_operand *o = &dc->inst->ops[1];
	const struct ws_ptx_branch_table *t = o->kind == WS_O_LABEL && o->label < dc->ptx->ntables
	                                              ? &dc->ptx->tables[o->label] : NULL;
	struct ws_branch_table *table = ws_arena_alloc(dc->image->arena, sizeof *table);
	struct ws_dinst *in;
	uint32_t reconv = dc->meets[dc->inst->block], index;

	if (!t) {
		ws_dec_refuse(dc, WS_GPU_UNSUPPORTED, "an indexed branch without a list of targets");
		return;
	}
	table->n = t->nlabels;
	table->targets = ws_arena_alloc(dc->image->arena, (t->nlabels + 1) * sizeof *table->targets);
	for (uint32_t i = 0; i < t->nlabels; i++) {
		uint32_t b = block_of_label(dc->ptx, t->labels[i]);

		table->targets[i] = block_ref(b == WS_EXIT_BLOCK ? end_block(dc) : b);
	}
	table->targets[t->nlabels] = reconv == WS_EXIT_BLOCK ? NULL : block_ref(reconv);
	index = ws_dec_src(dc, &dc->inst->ops[0], 4);
	in = ws_dec_op(dc, ws_op_brx);
	in->count = count;
	in->u.op.a = index;
	in->u.op.ptr = table;
}

static void decode_control(struct ws_decoder *dc, uint32_t count)
{
	struct ws_dinst *in;

	switch (dc->inst->op) {
	case WS_OP_bra:
		decode_bra(dc, count);
		return;
	case WS_OP_brx:
		decode_brx(dc, count);
		return;
	case WS_OP_exit:
		ws_dec_emit(dc, WS_K_EXIT)->count = count;
		return;
	case WS_OP_ret:
		if (dc->ptx->entry) {
			ws_dec_emit(dc, WS_K_EXIT)->count = count;
			return;
		}
		ws_dec_op(dc, ws_op_ret)->count = count;
		return;
	case WS_OP_trap:
		in = ws_dec_op(dc, ws_op_trap);
		in->count = count;
		return;
	default:
		ws_dec_refuse(dc, WS_GPU_UNSUPPORTED, "the simulator does not know this branch");
	}
}

static void decode_inst(struct ws_decoder *dc)
{
	const struct ws_op_info *info = ws_op_info(dc->inst->op);

	if (ws_dec_cluster(dc))
		return;
	if (ws_dec_async(dc))
		return;
	if (dc->inst->op == WS_OP_unknown || dc->inst->mode == WS_MODE_OTHER) {
		ws_dec_refuse(dc, WS_GPU_UNSUPPORTED, "the simulator does not know the instruction '%s%s'",
		              dc->inst->op == WS_OP_unknown ? "" : info->name, dc->inst->extra ? dc->inst->extra : "");
		return;
	}
	if (ws_dec_special(dc))
		return;
	if (!info->simulated) {
		ws_dec_refuse(dc, WS_GPU_UNSUPPORTED, "the simulator does not know the instruction '%s'", info->name);
		return;
	}
	if (!decode_lane(dc))
		ws_dec_refuse(dc, WS_GPU_UNSUPPORTED, "the simulator does not know this form of '%s'", info->name);
}

/* What stands behind a block: the way on when it is not the next block, or the mark that others meet here, be it only
 * those that have left a loop earlier. */
static void end_of_block(struct ws_decoder *dc, const struct ws_ptx_inst *last, uint32_t count, uint32_t follow,
                         uint32_t next)
{
	bool open = !last || !is_control(last);

	if (!open && !last->guard)
		return;
	if (follow != next)
		emit_glue(dc, follow, open ? count : 0);
	else if (open || next == end_block(dc) || dc->ptx->blocks[next].npred > 1 || dc->meets[last->block] == next)
		ws_dec_emit(dc, WS_K_JOIN)->count = open ? count : 0;
}

/* A load whose condition (ptx_needed.c) is known later only moves there. */
static bool postpone(struct ws_decoder *dc, uint32_t i)
{
	struct ws_needed n;

	if (dc->nlate == WS_COUNT(dc->late) || !ws_load_needed(dc->ptx, &dc->ptx->insts[i], &n) || n.at == i)
		return false;
	dc->late[dc->nlate].load = i;
	dc->late[dc->nlate++].at = n.at;
	return true;
}

static void decode_postponed(struct ws_decoder *dc, uint32_t at)
{
	unsigned left = 0;

	for (unsigned k = 0; k < dc->nlate; k++) {
		if (dc->late[k].at != at) {
			dc->late[left++] = dc->late[k];
			continue;
		}
		dc->inst = &dc->ptx->insts[dc->late[k].load];
		dc->postponed = true;
		decode_inst(dc);
		dc->postponed = false;
	}
	dc->nlate = left;
}

static void decode_block(struct ws_decoder *dc, uint32_t block, uint32_t next, const uint8_t *removed)
{
	struct ws_ptx_func *f = dc->ptx;
	const struct ws_ptx_block *b = &f->blocks[block];
	const struct ws_ptx_inst *last = NULL;
	uint32_t count = b->last - b->first + 1;

	for (uint32_t i = b->first; i <= b->last && i < f->ninsts; i++) {
		decode_postponed(dc, i);
		last = dc->inst = &f->insts[i];
		if (removed[i] || postpone(dc, i))
			continue;
		if (is_control(last))
			decode_control(dc, count);
		else
			decode_inst(dc);
		if (dc->failed)
			return;
	}
	dc->inst = NULL;
	end_of_block(dc, last, count, b->last + 1 < f->ninsts ? f->insts[b->last + 1].block : end_block(dc), next);
}

static void emit_end(struct ws_decoder *dc)
{
	dc->inst = NULL;
	if (dc->ptx->entry)
		ws_dec_emit(dc, WS_K_EXIT);
	else
		ws_dec_op(dc, ws_op_ret);
	ws_dec_emit(dc, WS_K_END);
}

/* ---- from block numbers to pointers ---- */
static const struct ws_dinst *fix(const struct ws_dinst *code, const uint32_t *start, const struct ws_dinst *ref)
{
	return ref ? code + start[(uintptr_t)ref - 1] : NULL;
}

static void fix_targets(struct ws_code *code, const uint32_t *start)
{
	for (uint32_t i = 0; i < code->ninsts; i++) {
		struct ws_dinst *in = &code->insts[i];

		if (in->kind == WS_K_BRA || in->kind == WS_K_BRA_IF || in->kind == WS_K_BRA_IFNOT) {
			in->u.bra.target = fix(code->insts, start, in->u.bra.target);
			in->u.bra.reconv = fix(code->insts, start, in->u.bra.reconv);
			in->backward = in->u.bra.target <= in;
		} else if (in->kind == WS_K_OP && in->u.op.fn == ws_op_brx) {
			struct ws_branch_table *t = in->u.op.ptr;

			for (uint32_t k = 0; k <= t->n; k++)
				t->targets[k] = fix(code->insts, start, t->targets[k]);
		}
	}
}

static void finish(struct ws_decoder *dc, const uint32_t *start)
{
	struct ws_code *code = dc->code;
	struct ws_const *consts = ws_arena_alloc(dc->image->arena, dc->nconsts * sizeof *consts);
	uintptr_t at = (uintptr_t)ws_arena_alloc(dc->image->arena, (dc->n + 1) * sizeof *code->insts);

	code->insts = (struct ws_dinst *)((at + 63) & ~(uintptr_t)63);
	memcpy(code->insts, dc->insts, dc->n * sizeof *code->insts);
	code->ninsts = (uint32_t)dc->n;
	if (dc->nconsts)
		memcpy(consts, dc->consts, dc->nconsts * sizeof *consts);
	code->consts = consts;
	code->nconsts = (uint32_t)dc->nconsts;
	code->frame_bytes = dc->frame;
	fix_targets(code, start);
}

static void decode_body(struct ws_decoder *dc, uint32_t *order, uint32_t *start, uint8_t *removed)
{
	struct ws_ptx_func *f = dc->ptx;
	uint32_t n = f->ninsts ? ws_order_blocks(f, order) : 0;

	place_registers(dc);
	find_single(dc);
	ws_dec_locals(dc);               /* first: a register may be an alias for such an address */
	find_aliases(dc, order, n, removed);
	ws_dec_registers(dc, order, n);
	ws_dec_params(dc);
	for (uint32_t b = 0; b < n && !dc->failed; b++) {
		start[order[b]] = (uint32_t)dc->n;
		decode_block(dc, order[b], b + 1 < n ? order[b + 1] : end_block(dc), removed);
	}
	start[end_block(dc)] = (uint32_t)dc->n;
	emit_end(dc);
	if (!dc->failed)
		finish(dc, start);
}

void ws_decode(struct ws_image *im, struct ws_code *code)
{
	struct ws_ptx_func *f = code->fn->ptx;
	struct ws_decoder dc = {.image = im, .code = code, .fn = code->fn, .unit = code->fn->unit,
	                        .gpu = code->fn->unit->module->gpu, .ptx = f};
	uint32_t *order, *start;
	uint8_t *removed;

	ws_ptx_cfg(f);
	ws_ptx_liveness(f);
	order = ws_alloc((f->nblocks + 1) * sizeof *order);
	start = ws_alloc((f->nblocks + 1) * sizeof *start);
	removed = ws_alloc(f->ninsts + 1);
	dc.meets = ws_meeting_blocks(f);
	dc.reg = ws_alloc((f->nregs + 1) * sizeof *dc.reg);
	dc.single = ws_alloc(f->nregs + 1);
	dc.area = ws_alloc((f->nvars + 1) * sizeof *dc.area);
	dc.formal = ws_alloc((f->nparams + f->nrets + 1) * sizeof *dc.formal);
	decode_body(&dc, order, start, removed);
	if (dc.gpu->config.clock) {
		code->reg = ws_arena_alloc(im->arena, (f->nregs + 1) * sizeof *code->reg);
		memcpy(code->reg, dc.reg, f->nregs * sizeof *code->reg);
		code->start = ws_arena_alloc(im->arena, (f->nblocks + 1) * sizeof *code->start);
		memcpy(code->start, start, (f->nblocks + 1) * sizeof *code->start);
		if (!dc.failed)
			ws_lock_meets(&dc, code, start);
	}
	free(order);
	free(start);
	free(removed);
	free(dc.meets);
	free(dc.reg);
	free(dc.single);
	free(dc.area);
	free(dc.formal);
	free(dc.insts);
	free(dc.consts);
}

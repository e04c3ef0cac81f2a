/* call.c - frames: the constants that fill them, calls and returns, parameters, the stack of a thread.
 *
 * A frame belongs to the lanes that made the call together. Its local memory is, in each lane's stack, what lies from
 * base[lane] on; stacks grow upwards (PTX ISA 9.0, State Spaces: Local; Stack Manipulation Instructions). */
#include "gpu/gpu_priv.h"

#include <string.h>

#define EACH_LANE(l, mask) \
	for (uint32_t m_ = (mask), l; m_ && (l = (uint32_t)__builtin_ctz(m_), true); m_ &= m_ - 1)

enum { CALL_BYTES = 16 };                /* of stack that every call uses, so that endless recursion ends */

/* ---- constants ---- */
void ws_broadcast(uint8_t *regs, uint32_t reg, unsigned width, uint64_t v)
{
	if (width == 0)
		*ws_r32(regs, reg) = v ? UINT32_MAX : 0;
	else if (width == 2)
		for (int l = 0; l < WS_WARP; l++)
			ws_r16(regs, reg)[l] = (uint16_t)v;
	else if (width == 4)
		for (int l = 0; l < WS_WARP; l++)
			ws_r32(regs, reg)[l] = (uint32_t)v;
	else
		for (int l = 0; l < WS_WARP; l++)
			ws_r64(regs, reg)[l] = v;
}

static uint64_t param_value(const struct ws_launch *la, const struct ws_const *c)
{
	uint64_t v = 0;
	unsigned shift = 64 - 8u * c->size;

	memcpy(&v, la->params + c->value, c->size);
	if (c->is_signed && c->size < 8)
		v = (uint64_t)((int64_t)(v << shift) >> shift);
	return v;
}

static void fill_one(struct ws_exec *x, struct ws_warp *w, struct ws_frame *fr, const struct ws_const *c)
{
	uint64_t base = c->generic ? WS_WINDOW(WS_WINDOW_SHARED) : 0;

	switch ((enum ws_const_kind)c->kind) {
	case WS_C_IMM:
		ws_broadcast(fr->regs, c->reg, c->width, c->value);
		return;
	case WS_C_PARAM:
		ws_broadcast(fr->regs, c->reg, c->width, param_value(x->launch, c));
		return;
	case WS_C_DYNAMIC:
		ws_broadcast(fr->regs, c->reg, c->width, base + x->launch->dynamic_offset + c->value);
		return;
	case WS_C_SREG: case WS_C_SREG_BLOCK:
		ws_sreg_fill(x, w, (enum ws_sreg)c->value, fr->regs, c->reg, c->width);
		return;
	case WS_C_LOCAL:
		return;
	}
}

/* Addresses of local variables change with every call. */
static void fill_local(struct ws_frame *fr, const struct ws_const *c, uint32_t mask)
{
	uint64_t base = c->value + (c->generic ? WS_WINDOW(WS_WINDOW_LOCAL) : 0);

	EACH_LANE(l, mask) {
		if (c->width == 8)
			ws_r64(fr->regs, c->reg)[l] = base + fr->base[l];
		else
			ws_r32(fr->regs, c->reg)[l] = (uint32_t)base + fr->base[l];
	}
}

void ws_fill_consts(struct ws_exec *x, struct ws_warp *w, struct ws_frame *fr, bool all)
{
	const struct ws_code *code = fr->code;

	for (uint32_t i = 0; i < code->nconsts; i++)
		if (all || code->consts[i].kind == WS_C_SREG_BLOCK)
			fill_one(x, w, fr, &code->consts[i]);
	fr->block = x->block->serial;
}

void ws_fill_locals(struct ws_frame *fr, uint32_t mask)
{
	for (uint32_t i = 0; i < fr->code->nconsts; i++)
		if (fr->code->consts[i].kind == WS_C_LOCAL)
			fill_local(fr, &fr->code->consts[i], mask);
}

/* ---- copies of parameters ---- */
static void get_element(const uint8_t *regs, const struct ws_call_arg *a, uint32_t lane, uint32_t word, uint32_t *out)
{
	if (a->is_area)
		*out = ((const uint32_t *)(const void *)(regs + a->reg))[word * WS_WARP + lane];
	else if (a->width == 0)
		*out = *(const uint32_t *)(const void *)(regs + a->reg) >> lane & 1;
	else if (a->width == 2)
		*out = ((const uint16_t *)(const void *)(regs + a->reg))[lane];
	else if (a->width == 4)
		*out = ((const uint32_t *)(const void *)(regs + a->reg))[lane];
	else
		memcpy(out, regs + a->reg + lane * 8 + word * 4, 4);
}

static void put_element(uint8_t *regs, const struct ws_call_arg *a, uint32_t lane, uint32_t word, uint32_t v)
{
	if (a->is_area)
		ws_r32(regs, a->reg)[word * WS_WARP + lane] = v;
	else if (a->width == 0)
		*ws_r32(regs, a->reg) = (*ws_r32(regs, a->reg) & ~(1u << lane)) | (v & 1) << lane;
	else if (a->width == 2)
		ws_r16(regs, a->reg)[lane] = (uint16_t)v;
	else if (a->width == 4)
		ws_r32(regs, a->reg)[lane] = v;
	else
		memcpy(regs + a->reg + lane * 8 + word * 4, &v, 4);
}

static uint32_t words_of(const struct ws_call_arg *a)
{
	return a->is_area ? (a->size + 3) / 4 : a->width == 8 ? 2 : a->width == 16 ? 4 : 1;
}

/* A row of 32 words. */
static void copy_row(uint32_t *to, const uint32_t *from, uint32_t mask)
{
	if (mask == UINT32_MAX)
		memcpy(to, from, WS_WARP * sizeof *to);
	else
		EACH_LANE(l, mask)
			to[l] = from[l];
}

static void copy_area(uint8_t *to, const struct ws_call_arg *ta, const uint8_t *from, const struct ws_call_arg *fa,
                      uint32_t mask)
{
	uint32_t nt = (ta->size + 3) / 4, nf = (fa->size + 3) / 4;

	for (uint32_t i = 0; i < nt && i < nf; i++)
		copy_row(ws_r32(to, ta->reg) + i * WS_WARP,
		         (const uint32_t *)(const void *)(from + fa->reg) + i * WS_WARP, mask);
}

static void copy_arg(uint8_t *to, const struct ws_call_arg *ta, const uint8_t *from, const struct ws_call_arg *fa,
                     uint32_t mask)
{
	uint32_t nt = words_of(ta), nf = words_of(fa), v;

	if (ta->reg == WS_LANE_NONE || fa->reg == WS_LANE_NONE)
		return;
	if (ta->is_area && fa->is_area) {
		copy_area(to, ta, from, fa, mask);
		return;
	}
	for (uint32_t i = 0; i < nt; i++)
		EACH_LANE(l, mask) {
			v = 0;
			if (i < nf)
				get_element(from, fa, l, i, &v);
			put_element(to, ta, l, i, v);
		}
}

/* A parameter whose address the function takes lives in its local memory. */
static void spill_param(struct ws_exec *x, struct ws_frame *fr, const struct ws_call_arg *p, uint32_t mask)
{
	if (p->local == WS_LANE_NONE)
		return;
	EACH_LANE(l, mask)
		for (uint32_t b = 0; b < p->size; b++) {
			uint32_t word = ws_r32(fr->regs, p->reg)[b / 4 * WS_WARP + l];

			x->warp->local[(uint64_t)l * x->launch->stack_stride + fr->base[l] + p->local + b] =
				(uint8_t)(word >> 8 * (b & 3));
		}
}

/* ---- frames ---- */
static struct ws_frame *new_frame(struct ws_exec *x, const struct ws_code *code)
{
	struct ws_warp *w = x->warp;
	struct ws_frame *fr = w->free_frames[code->index];

	if (fr) {
		w->free_frames[code->index] = fr->next_free;
		if (fr->block != x->block->serial)
			ws_fill_consts(x, w, fr, false);
		return fr;
	}
	fr = ws_arena_alloc(x->arena, sizeof *fr);
	fr->regs = (uint8_t *)(((uintptr_t)ws_arena_alloc(x->arena, code->frame_bytes + 64) + 63) & ~(uintptr_t)63);
	fr->code = code;
	ws_fill_consts(x, w, fr, true);
	return fr;
}

static bool push_stack(struct ws_exec *x, const struct ws_dinst *in, struct ws_frame *fr, uint32_t mask)
{
	struct ws_warp *w = x->warp;
	uint64_t limit = x->launch->stack_bytes;

	EACH_LANE(l, mask) {
		uint64_t base = (w->sp[l] + 15ull) & ~15ull, top = base + fr->code->local_bytes + CALL_BYTES;

		if (top > limit)
			return ws_exec_fail(x, in, 1u << l, WS_GPU_STACK,
			               "stack overflow: the call of '%s' needs %llu bytes of stack, the limit is %llu"
			               " (%u calls deep)", fr->code->fn->ptx->name, (unsigned long long)top,
			               (unsigned long long)limit, fr->depth);
		fr->base[l] = (uint32_t)base;
		w->sp[l] = (uint32_t)top;
	}
	return true;
}

static enum ws_next enter(struct ws_exec *x, const struct ws_dinst *in, const struct ws_call_site *c,
                          const struct ws_code *code, uint32_t mask)
{
	struct ws_frag *f = x->frag;
	struct ws_frame *fr = new_frame(x, code), *caller = f->frame;

	fr->parent = caller;
	fr->depth = caller->depth + 1;
	fr->call = in;
	fr->refs = 1;
	fr->saved_reconv = f->reconv;
	if (!push_stack(x, in, fr, mask))
		return WS_STOP;
	ws_fill_locals(fr, mask);
	for (uint32_t i = 0; i < c->nargs && i < code->nparams; i++) {
		copy_arg(fr->regs, &code->params[i], caller->regs, &c->args[i], mask);
		spill_param(x, fr, &code->params[i], mask);
	}
	f->frame = fr;                   /* the fragment's hold on the caller is now the new frame's */
	f->pc = code->insts;
	if (!x->gpu->config.plain_calls || code != caller->code)
		f->reconv = NULL;
	return WS_RELOAD;
}

/* ---- system calls ---- */
static uint64_t arg_value(const uint8_t *regs, const struct ws_call_arg *a, uint32_t lane, unsigned bytes)
{
	uint32_t lo = 0, hi = 0;

	if (a->reg == WS_LANE_NONE)
		return 0;
	get_element(regs, a, lane, 0, &lo);
	if (bytes > 4 && words_of(a) > 1)
		get_element(regs, a, lane, 1, &hi);
	if (bytes < 4)
		lo &= (1u << 8 * bytes) - 1;
	return lo | (uint64_t)hi << 32;
}

uint64_t ws_call_arg(const struct ws_exec *x, const struct ws_call_site *c, uint32_t i, uint32_t l, unsigned bytes)
{
	return arg_value(x->frag->frame->regs, &c->args[i], l, bytes);
}

void ws_call_answer(struct ws_exec *x, const struct ws_dinst *in, uint32_t lanes, uint32_t set)
{
	const struct ws_call_site *c = in->u.op.ptr;

	if (c->nrets && c->rets[0].reg != WS_LANE_NONE)
		EACH_LANE(l, lanes)
			put_element(x->frag->frame->regs, &c->rets[0], l, 0, set >> l & 1);
}

static void call_origin(struct ws_exec *x, const struct ws_dinst *in, const char *name)
{
	const struct ws_code *code = x->frag->frame->code;

	x->scratch.len = 0;
	ws_buf_printf(&x->scratch, "%s at ", name);
	ws_ptx_where(code->fn->unit->ptx, &code->fn->ptx->insts[in->site], &x->scratch);
}

static void fill_syscall(struct ws_exec *x, struct ws_syscall *s, const struct ws_syscall_info *info,
                         const struct ws_call_site *c, uint32_t mask)
{
	s->map = &x->gpu->map;
	s->printf_fd = x->gpu->config.printf_fd;
	s->mask = mask;
	s->origin = x->scratch.data;
	s->read = ws_generic_read;
	s->core = x;
	s->err = &x->err;
	memcpy(s->ctaid, x->block->obs.ctaid, sizeof s->ctaid);
	EACH_LANE(l, mask) {
		ws_thread_of(x->launch, x->warp->obs.index * WS_WARP + l, s->tid[l]);
		for (uint32_t i = 0; i < info->nargs && i < c->nargs; i++)
			s->arg[i][l] = arg_value(x->frag->frame->regs, &c->args[i], l, info->arg_bytes[i]);
	}
}

static enum ws_next system_call(struct ws_exec *x, const struct ws_dinst *in, const struct ws_call_site *c,
                                uint32_t mask)
{
	const struct ws_syscall_info *info = c->fn->syscall;
	struct ws_syscall s;

	memset(&s, 0, sizeof s);
	call_origin(x, in, info->name);
	fill_syscall(x, &s, info, c, mask);
	if (!info->fn(&s)) {
		ws_fail_where(x, in, s.lane);
		return WS_STOP;
	}
	x->warp->progress++;
	if (info->nrets && c->nrets && c->rets[0].reg != WS_LANE_NONE)
		EACH_LANE(l, mask) {
			put_element(x->frag->frame->regs, &c->rets[0], l, 0, (uint32_t)s.ret[l]);
			if (words_of(&c->rets[0]) > 1)
				put_element(x->frag->frame->regs, &c->rets[0], l, 1, (uint32_t)(s.ret[l] >> 32));
		}
	return WS_NEXT;
}

/* ---- call, ret ---- */
static const struct ws_code *indirect_target(struct ws_exec *x, const struct ws_dinst *in, uint64_t address,
                                             uint32_t mask)
{
	struct ws_fn *fn = ws_fn_at(x->gpu, address);
	const struct ws_image *im = x->image;
	const struct ws_code *code = fn && fn->id < im->nby_fn ? im->by_fn[fn->id] : NULL;

	if (!code || code == im->codes[0])
		ws_exec_fail(x, in, mask, WS_GPU_BAD_PC,
		             "a call through a pointer that is no function's address: 0x%llx",
		        (unsigned long long)address);
	return code == im->codes[0] ? NULL : code;
}

enum ws_next ws_op_call(struct ws_exec *x, const struct ws_dinst *in, uint32_t mask)
{
	const struct ws_call_site *c = in->u.op.ptr;
	const struct ws_code *code = c->code;
	uint8_t *regs = x->frag->frame->regs;

	if (!code && c->fn)
		return system_call(x, in, c, mask);
	if (!code) {
		uint32_t same = ws_same_value(regs, c->target, 8, mask);

		code = indirect_target(x, in, ws_r64(regs, c->target)[__builtin_ctz(mask)], same);
		if (!code)
			return WS_STOP;
		if (same != mask)        /* other targets: another time round */
			ws_isolate(x, in, x->its ? same | (x->frag->mask & ~mask) : same, in);
		mask = same;
	}
	ws_isolate(x, in, mask, in + 1);
	return enter(x, in, c, code, mask);
}

static void give_results(struct ws_frame *fr, uint32_t mask)
{
	const struct ws_call_site *c = fr->call->u.op.ptr;
	const struct ws_code *code = fr->code;

	for (uint32_t i = 0; i < c->nrets && i < code->nrets; i++)
		copy_arg(fr->parent->regs, &c->rets[i], fr->regs, &code->rets[i], mask);
}

/* stack: lanes of an entry return; those of the lowest entry of the frame bring all back. */
static enum ws_next stack_return(struct ws_exec *x, const struct ws_dinst *in, uint32_t mask)
{
	struct ws_frag *f = x->frag;

	if (ws_stack_is_base(x)) {
		if (mask == f->mask) {
			ws_stack_leave(x->warp, f);
			return WS_PICK;
		}
		f->pc = NULL;            /* returns when the others have come back */
		ws_stack_push(x, in + 1, NULL, f->mask & ~mask);
		return WS_PICK;
	}
	f->mask &= ~mask;
	f->pc = in + 1;
	if (!f->mask) {
		ws_frame_release(x->warp, f->frame);
		x->warp->nfrags--;
	}
	return WS_PICK;
}

enum ws_next ws_op_ret(struct ws_exec *x, const struct ws_dinst *in, uint32_t mask)
{
	struct ws_frame *fr = x->frag->frame;

	give_results(fr, mask);
	if (!x->its)
		return stack_return(x, in, mask);
	ws_isolate(x, in, mask, in + 1);
	EACH_LANE(l, mask)
		x->warp->sp[l] = fr->base[l];
	x->frag->frame = fr->parent;
	x->frag->pc = fr->call + 1;
	fr->parent->refs++;
	ws_frame_release(x->warp, fr);
	return WS_PICK;
}

/* ---- .param areas ---- */
/* Aligned words of the register's own size, the usual case. */
static bool move_words(const struct ws_dop *op, uint8_t *regs, uint32_t mask, bool load)
{
	uint32_t *row = ws_r32(regs, op->a) + op->imm / 4 * WS_WARP;

	if (op->imm & 3 || op->mode != op->width || (op->width != 4 && op->width != 8))
		return false;
	if (op->width == 4) {
		uint32_t *reg = ws_r32(regs, op->d);

		copy_row(load ? reg : row, load ? row : reg, mask);
	} else if (load) {
		EACH_LANE(l, mask)
			ws_r64(regs, op->d)[l] = row[l] | (uint64_t)row[WS_WARP + l] << 32;
	} else {
		EACH_LANE(l, mask) {
			row[l] = (uint32_t)ws_r64(regs, op->d)[l];
			row[WS_WARP + l] = (uint32_t)(ws_r64(regs, op->d)[l] >> 32);
		}
	}
	return true;
}

enum ws_next ws_op_area_load(struct ws_exec *x, const struct ws_dinst *in, uint32_t mask)
{
	const struct ws_dop *op = &in->u.op;
	uint8_t *regs = x->frag->frame->regs;
	unsigned size = op->mode, shift = 64 - 8 * size;

	if (op->d == WS_LANE_NONE || move_words(op, regs, mask, true))
		return WS_NEXT;
	EACH_LANE(l, mask) {
		uint8_t bytes[16] = {0};
		uint64_t v;

		for (unsigned b = 0; b < size; b++) {
			uint64_t at = op->imm + b;

			bytes[b] = regs[op->a + (at / 4 * WS_WARP + l) * 4 + (at & 3)];
		}
		memcpy(&v, bytes, 8);
		if (op->flag && size < 8)
			v = (uint64_t)((int64_t)(v << shift) >> shift);
		if (op->width == 16) {
			ws_r64(regs, op->d)[l] = v;
			memcpy(&ws_r64(regs, op->d)[WS_WARP + l], bytes + 8, 8);
		} else {
			memcpy(regs + op->d + l * op->width, &v, op->width);
		}
	}
	return WS_NEXT;
}

enum ws_next ws_op_area_store(struct ws_exec *x, const struct ws_dinst *in, uint32_t mask)
{
	const struct ws_dop *op = &in->u.op;
	uint8_t *regs = x->frag->frame->regs;
	unsigned size = op->mode;

	if (move_words(op, regs, mask, false))
		return WS_NEXT;
	EACH_LANE(l, mask) {
		uint8_t bytes[16] = {0};

		if (op->width == 16) {
			memcpy(bytes, &ws_r64(regs, op->d)[l], 8);
			memcpy(bytes + 8, &ws_r64(regs, op->d)[WS_WARP + l], 8);
		} else {
			memcpy(bytes, regs + op->d + l * op->width, op->width);
		}
		for (unsigned b = 0; b < size; b++) {
			uint64_t at = op->imm + b;

			regs[op->a + (at / 4 * WS_WARP + l) * 4 + (at & 3)] = bytes[b];
		}
	}
	return WS_NEXT;
}

/* ---- alloca and its kin ---- */
static void put_address(uint8_t *regs, const struct ws_dop *op, uint32_t l, uint64_t v)
{
	if (op->d == WS_LANE_NONE)
		return;
	if (op->width == 8)
		ws_r64(regs, op->d)[l] = v;
	else
		ws_r32(regs, op->d)[l] = (uint32_t)v;
}

static uint64_t get_address(const uint8_t *regs, const struct ws_dop *op, uint32_t l)
{
	return op->width == 8 ? ((const uint64_t *)(const void *)(regs + op->a))[l]
	                      : ((const uint32_t *)(const void *)(regs + op->a))[l];
}

enum ws_next ws_op_alloca(struct ws_exec *x, const struct ws_dinst *in, uint32_t mask)
{
	const struct ws_dop *op = &in->u.op;
	uint8_t *regs = x->frag->frame->regs;

	EACH_LANE(l, mask) {
		uint64_t align = op->imm, size = get_address(regs, op, l);
		uint64_t base = (x->warp->sp[l] + align - 1) & ~(align - 1);

		if (size > x->launch->stack_bytes || base + size > x->launch->stack_bytes) {
			ws_exec_fail(x, in, 1u << l, WS_GPU_STACK,
			             "stack overflow: alloca of %llu bytes, the limit is %llu",
			        (unsigned long long)size, (unsigned long long)x->launch->stack_bytes);
			return WS_STOP;
		}
		put_address(regs, op, l, base);
		x->warp->sp[l] = (uint32_t)(base + size);
	}
	return WS_NEXT;
}

enum ws_next ws_op_stacksave(struct ws_exec *x, const struct ws_dinst *in, uint32_t mask)
{
	EACH_LANE(l, mask)
		put_address(x->frag->frame->regs, &in->u.op, l, x->warp->sp[l]);
	return WS_NEXT;
}

enum ws_next ws_op_stackrestore(struct ws_exec *x, const struct ws_dinst *in, uint32_t mask)
{
	EACH_LANE(l, mask) {
		uint64_t sp = get_address(x->frag->frame->regs, &in->u.op, l);

		if (sp <= x->launch->stack_bytes)
			x->warp->sp[l] = (uint32_t)sp;
	}
	return WS_NEXT;
}

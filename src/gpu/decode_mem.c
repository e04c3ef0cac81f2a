/* decode_mem.c - symbols and addresses; ld, st, ldu, atom, red; the .param and .local variables of a function. */
#include "gpu/gpu_priv.h"

#include <string.h>

/* ---- symbols ---- */
static uint32_t align_up(uint32_t at, uint32_t align)
{
	return align > 1 ? (at + align - 1) & ~(align - 1) : at;
}

/* Shared variables get their place when code of the image mentions them first; extern [] ones share the dynamic part.
 * (PTX ISA 9.0, State Spaces: Shared). */
static bool shared_symbol(struct ws_decoder *dc, const struct ws_ptx_sym *sym, struct ws_const *c)
{
	struct ws_image *im = dc->image;
	struct ws_shared_var *v;

	if (!sym->size) {
		c->kind = WS_C_DYNAMIC;
		if (sym->align > im->dynamic_align)
			im->dynamic_align = sym->align;
		return true;
	}
	for (size_t i = 0; i < im->nshared; i++)
		if (im->shared[i].sym == sym ||
		    (sym->linkage != WS_LINK_LOCAL && im->shared[i].sym->linkage != WS_LINK_LOCAL && !sym->scope &&
		     !strcmp(im->shared[i].sym->name, sym->name))) {
			c->value += im->shared[i].offset;
			return true;
		}
	if (sym->size > WS_MAX_SHARED || im->shared_static > WS_MAX_SHARED) {
		ws_dec_refuse(dc, WS_GPU_BAD_LAUNCH,
		              "'%s' and what comes before it are more shared memory than a block may have (%u)",
		              sym->name, WS_MAX_SHARED);
		return false;
	}
	v = WS_PUSH(im->shared, im->nshared, im->cap_shared);
	v->sym = sym;
	v->offset = align_up(im->shared_static, sym->align);
	im->shared_static = v->offset + (uint32_t)sym->size;
	c->value += v->offset;
	return true;
}

static bool function_symbol(struct ws_decoder *dc, const struct ws_ptx_sym *sym, struct ws_const *c)
{
	struct ws_fn *fn = dc->unit->fns[sym->index].def;

	if (!fn) {
		ws_dec_refuse(dc, WS_GPU_NOT_FOUND, "the function '%s' is not defined in any module", sym->name);
		return false;
	}
	fn->address_taken = true;
	c->value += WS_WINDOW(WS_WINDOW_FUNC) + (uint64_t)fn->id * WS_FUNC_STEP;
	return true;
}

static bool memory_symbol(struct ws_decoder *dc, const struct ws_ptx_sym *sym, struct ws_const *c)
{
	struct ws_var *v = ws_unit_var(dc->unit, dc->fn, sym);

	if (!v || !v->mem) {
		ws_dec_refuse(dc, WS_GPU_NOT_FOUND, "the variable '%s' is not defined in any module", sym->name);
		return false;
	}
	c->value += v->mem->addr;
	return true;
}

static bool param_symbol(struct ws_decoder *dc, const struct ws_ptx_sym *sym, bool generic, struct ws_const *c)
{
	struct ws_ptx_func *f = dc->ptx;

	if (!f->entry && !dc->code->params)
		return false;            /* formals have no place yet: asked for an alias, which is not made then */
	for (uint32_t i = 0; i < f->nparams; i++) {
		if (f->params[i] != sym)
			continue;
		if (f->entry) {
			c->value += dc->image->kernel->param_offset[i] + (generic ? WS_WINDOW(WS_WINDOW_PARAM) : 0);
			return true;
		}
		if (dc->code->params[i].local != WS_LANE_NONE) {
			c->kind = WS_C_LOCAL;
			c->value += dc->code->params[i].local;
			return true;
		}
	}
	ws_dec_refuse(dc, WS_GPU_UNSUPPORTED, "the address of the parameter '%s' is not available here", sym->name);
	return false;
}

bool ws_dec_symbol(struct ws_decoder *dc, const struct ws_ptx_sym *sym, int64_t offset, bool generic,
                   struct ws_const *c)
{
	*c = (struct ws_const){.kind = WS_C_IMM, .width = 8, .generic = generic, .value = (uint64_t)offset};
	if (sym->kind == WS_SYM_FUNC)
		return function_symbol(dc, sym, c);
	if (sym->kind != WS_SYM_VAR) {
		ws_dec_refuse(dc, WS_GPU_UNSUPPORTED, "'%s' has no address", sym->name);
		return false;
	}
	switch (sym->space) {
	case WS_SPACE_SHARED: case WS_SPACE_SHARED_CLUSTER:
		if (!shared_symbol(dc, sym, c))
			return false;
		if (generic && c->kind == WS_C_IMM)
			c->value += WS_WINDOW(WS_WINDOW_SHARED);
		return true;
	case WS_SPACE_LOCAL:
		c->kind = WS_C_LOCAL;
		c->value += dc->area[sym->index];
		return true;
	case WS_SPACE_PARAM:
		return param_symbol(dc, sym, generic, c);
	default:
		c->generic = false;
		return memory_symbol(dc, sym, c);
	}
}

bool ws_dec_address(struct ws_decoder *dc, const struct ws_operand *o, enum ws_space space, uint32_t *reg, int32_t *off,
                    uint8_t *width)
{
	struct ws_const c;

	*off = 0;
	*width = 8;
	if (o->kind != WS_O_ADDR) {
		ws_dec_refuse(dc, WS_GPU_UNSUPPORTED, "an address in brackets is expected");
		return false;
	}
	if (o->reg) {
		if (o->offset != (int32_t)o->offset) {
			ws_dec_refuse(dc, WS_GPU_UNSUPPORTED, "the offset of the address does not fit in 32 bits");
			return false;
		}
		*reg = dc->reg[o->reg->index];
		*off = (int32_t)o->offset;
		*width = (uint8_t)ws_reg_width(o->reg);
		return *width == 4 || *width == 8;
	}
	c = (struct ws_const){.kind = WS_C_IMM, .width = 8, .value = (uint64_t)o->offset};
	if (o->sym && !ws_dec_symbol(dc, o->sym, o->offset, space == WS_SPACE_GENERIC, &c))
		return false;
	*reg = ws_dec_const(dc, c);
	return true;
}

/* ---- .param and .local variables ---- */
static uint32_t new_area(struct ws_decoder *dc, const struct ws_ptx_sym *s)
{
	if (s->size > WS_MAX_PARAM) {
		ws_dec_refuse(dc, WS_GPU_UNSUPPORTED, "the parameter '%s' has more than %u bytes", s->name,
		              WS_MAX_PARAM);
		return 0;
	}
	return ws_dec_space(dc, (uint32_t)((s->size + 3) / 4) * 4 * WS_WARP);
}

static bool takes_address(const struct ws_operand *o, const struct ws_ptx_sym *sym)
{
	if (o->kind == WS_O_SYM)
		return o->sym == sym;
	for (uint32_t i = 0; o->kind == WS_O_VEC && i < o->sreg_or_count; i++)
		if (takes_address(&o->elems[i], sym))
			return true;
	return false;
}

static bool address_is_taken(const struct ws_ptx_func *f, const struct ws_ptx_sym *sym)
{
	for (uint32_t i = 0; i < f->ninsts; i++)
		if (f->insts[i].op != WS_OP_call)
			for (uint32_t k = 0; k < f->insts[i].nops; k++)
				if (takes_address(&f->insts[i].ops[k], sym))
					return true;
	return false;
}

static uint32_t add_local(struct ws_decoder *dc, const struct ws_ptx_sym *s)
{
	struct ws_code *code = dc->code;
	uint32_t at = align_up(code->local_bytes, s->align);

	if (s->size > WS_MAX_LOCAL || at > WS_MAX_LOCAL - (uint32_t)s->size) {
		ws_dec_refuse(dc, WS_GPU_UNSUPPORTED, "more local memory than a thread may have (%u bytes)",
		              WS_MAX_LOCAL);
		return 0;
	}
	code->local_bytes = at + (uint32_t)s->size;
	return at;
}

/* A formal parameter or result: a register of that name, or an area. */
static struct ws_call_arg formal(struct ws_decoder *dc, const struct ws_ptx_sym *s)
{
	struct ws_call_arg a = {.size = (uint32_t)s->size, .local = WS_LANE_NONE, .reg = WS_LANE_NONE};

	if (s->space == WS_SPACE_REG) {
		for (uint32_t r = 0; r < dc->ptx->nregs; r++)
			if (!strcmp(dc->ptx->regs[r]->name, s->name)) {
				a.reg = dc->reg[r];
				a.width = (uint8_t)ws_reg_width(dc->ptx->regs[r]);
			}
		return a;
	}
	a.is_area = true;
	a.reg = new_area(dc, s);
	if (address_is_taken(dc->ptx, s))
		a.local = add_local(dc, s);
	return a;
}

static void formals(struct ws_decoder *dc)
{
	struct ws_ptx_func *f = dc->ptx;
	struct ws_code *code = dc->code;

	code->nparams = f->nparams;
	code->nrets = f->nrets;
	code->params = ws_arena_alloc(dc->image->arena, (f->nparams + f->nrets + 1) * sizeof *code->params);
	code->rets = code->params + f->nparams;
	for (uint32_t i = 0; i < f->nparams; i++)
		code->params[i] = formal(dc, f->params[i]);
	for (uint32_t i = 0; i < f->nrets; i++)
		code->rets[i] = formal(dc, f->rets[i]);
}

void ws_dec_locals(struct ws_decoder *dc)
{
	for (uint32_t i = 0; i < dc->ptx->nvars; i++)
		if (dc->ptx->vars[i]->space == WS_SPACE_LOCAL)
			dc->area[i] = add_local(dc, dc->ptx->vars[i]);
}

void ws_dec_params(struct ws_decoder *dc)
{
	struct ws_ptx_func *f = dc->ptx;

	for (uint32_t i = 0; i < f->nvars; i++)
		if (f->vars[i]->space == WS_SPACE_PARAM)
			dc->area[i] = new_area(dc, f->vars[i]);
	if (!f->entry)
		formals(dc);
}

uint32_t ws_dec_area(struct ws_decoder *dc, const struct ws_ptx_sym *sym)
{
	struct ws_ptx_func *f = dc->ptx;

	if (sym->kind != WS_SYM_VAR || sym->space != WS_SPACE_PARAM)
		return WS_LANE_NONE;
	if (sym->index < f->nvars && f->vars[sym->index] == sym)
		return dc->area[sym->index];
	if (f->entry)
		return WS_LANE_NONE;
	for (uint32_t i = 0; i < f->nparams; i++)
		if (f->params[i] == sym)
			return dc->code->params[i].reg;
	for (uint32_t i = 0; i < f->nrets; i++)
		if (f->rets[i] == sym)
			return dc->code->rets[i].reg;
	return WS_LANE_NONE;
}

/* ---- ld, st ---- */
struct data { const struct ws_operand *o[8]; unsigned n; };

static bool data_operands(struct ws_decoder *dc, const struct ws_operand *o, struct data *d)
{
	d->n = o->kind == WS_O_VEC ? o->sreg_or_count : 1;
	if (d->n > WS_COUNT(d->o) || (dc->inst->vec > 1 && d->n != dc->inst->vec)) {
		ws_dec_refuse(dc, WS_GPU_UNSUPPORTED, "the vector has a length that the simulator does not know");
		return false;
	}
	for (unsigned i = 0; i < d->n; i++)
		d->o[i] = o->kind == WS_O_VEC ? &o->elems[i] : o;
	return true;
}

/* Width of the data registers: all the same. */
static unsigned data_width(struct ws_decoder *dc, const struct data *d, unsigned size)
{
	unsigned width = 0;

	for (unsigned i = 0; i < d->n; i++)
		if (d->o[i]->kind == WS_O_REG) {
			unsigned w = ws_reg_width(d->o[i]->reg);

			if (!w || (width && w != width))
				ws_dec_refuse(dc, WS_GPU_UNSUPPORTED, "the registers must have one width");
			width = w;
		}
	return width ? width : size < 2 ? 2 : size;
}

/* ld.param and st.param of the areas of a function. */
static bool area_access(struct ws_decoder *dc, const struct ws_operand *addr, const struct data *d, bool store)
{
	uint32_t area = addr->kind == WS_O_ADDR && addr->sym && !addr->reg ? ws_dec_area(dc, addr->sym) : WS_LANE_NONE;
	unsigned size = ws_type_bytes(dc->inst->type[0]), width = data_width(dc, d, size);

	if (area == WS_LANE_NONE)
		return false;
	if (addr->offset < 0 || (uint64_t)addr->offset + d->n * size > addr->sym->size) {
		ws_dec_refuse(dc, WS_GPU_BAD_ADDRESS, "the access lies outside of '%s'", addr->sym->name);
		return true;
	}
	for (unsigned i = 0; i < d->n; i++) {
		uint32_t reg = store ? ws_dec_src(dc, d->o[i], width) : ws_dec_dst(dc, d->o[i]);
		struct ws_dinst *in = ws_dec_op(dc, store ? ws_op_area_store : ws_op_area_load);

		in->u.op.d = reg;
		in->u.op.a = area;
		in->u.op.imm = (uint64_t)addr->offset + i * size;
		in->u.op.width = (uint8_t)width;
		in->u.op.mode = (uint8_t)size;
		in->u.op.flag = ws_type_is_signed(dc->inst->type[0]);
	}
	return true;
}

static bool kernel_param(struct ws_decoder *dc, const struct data *d)
{
	unsigned width = data_width(dc, d, ws_type_bytes(dc->inst->type[0]));
	struct ws_const c;

	for (unsigned i = 0; i < d->n; i++) {
		if (!ws_dec_param_const(dc, dc->inst, i, width, &c))
			return false;
		if (d->o[i]->kind == WS_O_REG)
			ws_dec_copy(dc, ws_dec_dst(dc, d->o[i]), ws_dec_const(dc, c), width);
	}
	return true;
}

static void fill_order(struct ws_dmem *m, const struct ws_ptx_inst *in)
{
	struct ws_ptx_order o = ws_ptx_order(in);

	m->sem = o.sem;
	m->scope = o.scope;
	if (m->sem != WS_SEM_WEAK)
		m->flags |= WS_DM_SYNC;
	if (in->flags & WS_F_NC)
		m->flags |= WS_DM_NC;
}

static uint32_t extra_registers(struct ws_decoder *dc, const uint32_t *regs)
{
	struct ws_code *code = dc->code;

	code->ext = ws_grow(code->ext, &code->cap_ext, code->next + 1u, sizeof *code->ext);
	memcpy(code->ext[code->next], regs, sizeof *code->ext);
	return code->next++;
}

/* The load runs for the threads only that need its value (ptx_needed.c). */
static void guard_as_needed(struct ws_decoder *dc, struct ws_dinst *k)
{
	struct ws_needed n;

	if (!ws_load_needed(dc->ptx, dc->inst, &n) || (n.at != dc->inst->index && !dc->postponed) ||
	    dc->reg[n.p->index] == WS_LANE_NONE)
		return;
	k->guard = dc->reg[n.p->index];
	k->guard_neg = n.neg;
}

/* Functions of the pass `race` put a record on the stack for each access, also of a loop that only polls. */
static bool of_a_check(const struct ws_ptx_func *f)
{
	static const char transactions[] = "__warpsafe_tm_";

	return ws_is_inserted(f->name) && strncmp(f->name, transactions, sizeof transactions - 1);
}

static void plain_access(struct ws_decoder *dc, const struct ws_operand *addr, const struct data *d, bool store)
{
	const struct ws_ptx_inst *in = dc->inst;
	struct ws_dmem m = {.flags = store ? WS_DM_STORE : 0, .space = in->space, .vec = (uint8_t)d->n};
	uint32_t regs[8];
	unsigned size = ws_type_bytes(in->type[0]), width = data_width(dc, d, size);
	struct ws_dinst *k;

	if (m.space == WS_SPACE_PARAM && !dc->ptx->entry)
		m.space = WS_SPACE_LOCAL;        /* the address of a parameter that was copied to the stack */
	if (!ws_dec_address(dc, addr, m.space, &m.addr, &m.off, &m.addr_width))
		return;
	for (unsigned i = 0; i < d->n; i++)
		regs[i] = store ? ws_dec_src(dc, d->o[i], width) : ws_dec_dst(dc, d->o[i]);
	if (m.space == WS_SPACE_LOCAL && of_a_check(dc->ptx))
		m.flags |= WS_DM_OWN;
	m.size = (uint8_t)size;
	m.reg_width = (uint8_t)width;
	if (size == 16) {                        /* .b128: two halves of 8 bytes, one behind the other in the frame */
		for (unsigned i = d->n; i-- > 0;) {
			regs[2 * i + 1] = regs[i] == WS_LANE_NONE ? WS_LANE_NONE : regs[i] + 8 * WS_WARP;
			regs[2 * i] = regs[i];
		}
		m.size = m.reg_width = 8;
		m.vec = (uint8_t)(2 * d->n);
	}
	if (m.size > m.reg_width) {
		ws_dec_refuse(dc, WS_GPU_BAD_INSTRUCTION, "the register is smaller than the type");
		return;
	}
	if (ws_type_is_signed(in->type[0]))
		m.flags |= WS_DM_SIGNED;
	fill_order(&m, in);
	memcpy(m.d, regs, sizeof m.d);
	if (m.vec > 4)
		m.ext = extra_registers(dc, regs + 4);
	m.cache = dc->image->ncache++;
	m.fn = ws_mem_choose(dc->gpu, &m);
	k = ws_dec_emit(dc, WS_K_MEM);
	if (!store && k->guard == WS_NO_GUARD)
		guard_as_needed(dc, k);
	if (dc->gpu->config.schedule != WS_SCHED_RR)
		k->kind = WS_K_MEM_PACED;
	else if (k->guard != WS_NO_GUARD)
		k->kind = WS_K_MEM_GUARD;
	k->u.mem = m;
}

static void decode_access(struct ws_decoder *dc, bool store)
{
	const struct ws_ptx_inst *in = dc->inst;
	const struct ws_operand *addr = &in->ops[store ? 0 : 1];
	struct data d;

	if (in->nops < 2 || !data_operands(dc, &in->ops[store ? 1 : 0], &d))
		return;
	if (in->space == WS_SPACE_PARAM) {
		if (area_access(dc, addr, &d, store))
			return;
		if (!store && dc->ptx->entry && kernel_param(dc, &d))
			return;
		if (dc->failed)
			return;
	}
	plain_access(dc, addr, &d, store);
}

/* ---- atom, red ---- */
static bool atomic_functions(struct ws_decoder *dc, struct ws_datom *a)
{
	bool others = dc->gpu->config.host_threads != 1;
	const char *why = "the simulator does not know this atomic operation";

	if (a->space == WS_SPACE_GENERIC || a->space == WS_SPACE_GLOBAL)
		a->global = ws_atomic_find(dc->inst, WS_SPACE_GLOBAL, others, &why);
	if (a->space != WS_SPACE_GLOBAL)
		a->shared = ws_atomic_find(dc->inst, WS_SPACE_SHARED, false, &why);
	if (!(a->space == WS_SPACE_SHARED || a->space == WS_SPACE_SHARED_CLUSTER ? a->shared : a->global)) {
		ws_dec_refuse(dc, WS_GPU_UNSUPPORTED, "%s", why);
		return false;
	}
	return true;
}

static void atomic_elements(struct ws_decoder *dc, struct ws_datom *a, const struct ws_operand *value,
                            const struct ws_operand *dst)
{
	unsigned n = value->kind == WS_O_VEC ? value->sreg_or_count : 1;

	a->n = (uint8_t)(n > WS_ATOMIC_VEC ? WS_ATOMIC_VEC : n);
	for (unsigned i = 0; i < a->n; i++) {
		const struct ws_operand *d = dst && dst->kind == WS_O_VEC ? &dst->elems[i] : dst;

		a->a[i] = ws_dec_src(dc, value->kind == WS_O_VEC ? &value->elems[i] : value, a->width);
		a->d[i] = d ? ws_dec_dst(dc, d) : WS_LANE_NONE;
	}
}

static void decode_atomic(struct ws_decoder *dc)
{
	const struct ws_ptx_inst *in = dc->inst;
	unsigned base = in->op == WS_OP_atom ? 1 : 0;
	struct ws_datom *a = ws_arena_alloc(dc->image->arena, sizeof *a);
	struct ws_dinst *k;

	a->space = in->space;
	a->atom = in->atom;
	a->sem = ws_ptx_order(in).sem;
	a->scope = ws_ptx_order(in).scope;
	a->width = (uint8_t)ws_atomic_width(in);
	a->bytes = (uint8_t)ws_atomic_bytes(in);
	a->b = WS_LANE_NONE;
	if (in->nops < base + 2 || !atomic_functions(dc, a) ||
	    !ws_dec_address(dc, &in->ops[base], a->space, &a->addr, &a->off, &a->addr_width))
		return;
	atomic_elements(dc, a, &in->ops[base + 1], base ? &in->ops[0] : NULL);
	if (in->atom == WS_ATOM_CAS && in->nops > base + 2)
		a->b = ws_dec_src(dc, &in->ops[base + 2], a->width);
	a->cache = dc->image->ncache++;
	/* when observed on several host threads, effect and callback share a lock: not there */
	a->fast = a->n == 1 && a->width <= 8 && a->space != WS_SPACE_LOCAL && a->space != WS_SPACE_SHARED_CLUSTER &&
	          !(dc->gpu->config.observer && dc->gpu->config.host_threads > 1);
	k = ws_dec_op(dc, ws_op_atomic);
	k->u.op.ptr = a;
	if (dc->gpu->config.schedule != WS_SCHED_RR)
		k->kind = WS_K_OP_PACED;
}

bool ws_dec_memory(struct ws_decoder *dc)
{
	switch (dc->inst->op) {
	case WS_OP_ld: case WS_OP_ldu:
		decode_access(dc, false);
		return true;
	case WS_OP_st:
		decode_access(dc, true);
		return true;
	case WS_OP_atom: case WS_OP_red:
		decode_atomic(dc);
		return true;
	default:
		return false;
	}
}

/* decode_async.c - cp.async, bulk and tensor copies, st.async, red.async, mbarrier (PTX ISA 9.0, Data Movement and
 * Conversion Instructions: Asynchronous copy; Parallel Synchronization and Communication Instructions: mbarrier). The
 * words of these mnemonics are in inst->extra, in their order. */
#include "gpu/async_priv.h"

#include <string.h>

enum { MAX_WORDS = 24 };

struct words { const char *w[MAX_WORDS]; size_t len[MAX_WORDS]; unsigned n; };

static struct words split(const char *extra)
{
	struct words s = {.n = 0};

	while (extra && *extra == '.' && s.n < MAX_WORDS) {
		s.w[s.n] = ++extra;
		s.len[s.n] = strcspn(extra, ".");
		extra += s.len[s.n++];
	}
	return s;
}

static bool is(const struct words *s, unsigned i, const char *word)
{
	return i < s->n && s->len[i] == strlen(word) && !strncmp(s->w[i], word, s->len[i]);
}

static bool has(const struct words *s, const char *word)
{
	for (unsigned i = 0; i < s->n; i++)
		if (is(s, i, word))
			return true;
	return false;
}

/* The spaces named, in order: of the destination, of the source. */
static unsigned spaces(const struct words *s, uint8_t space[2])
{
	unsigned n = 0;

	for (unsigned i = 0; i < s->n && n < 2; i++) {
		if (is(s, i, "global"))
			space[n++] = WS_SPACE_GLOBAL;
		else if (is(s, i, "shared") || is(s, i, "shared::cta"))
			space[n++] = WS_SPACE_SHARED;
		else if (is(s, i, "shared::cluster"))
			space[n++] = WS_SPACE_SHARED_CLUSTER;
	}
	return n;
}

static bool unknown_form(struct ws_decoder *dc)
{
	ws_dec_refuse(dc, WS_GPU_UNSUPPORTED, "the simulator does not know the instruction '%s%s'",
	              ws_op_info(dc->inst->op)->name, dc->inst->extra ? dc->inst->extra : "");
	return true;
}

bool ws_dec_place(struct ws_decoder *dc, const struct ws_operand *o, enum ws_space space, struct ws_dplace *p)
{
	p->space = (uint8_t)space;
	p->cache = dc->image->ncache++;
	return ws_dec_address(dc, o, space, &p->reg, &p->off, &p->width);
}

static struct ws_dinst *emit(struct ws_decoder *dc, ws_op_fn *fn, void *operands)
{
	struct ws_dinst *k = ws_dec_op(dc, fn);

	k->u.op.ptr = operands;
	if (dc->gpu->config.schedule != WS_SCHED_RR)
		k->kind = WS_K_OP_PACED;
	return k;
}

static struct ws_dasync *new_async(struct ws_decoder *dc, enum ws_dasync_kind kind, enum ws_async track)
{
	struct ws_dasync *d = ws_arena_alloc(dc->image->arena, sizeof *d);

	*d = (struct ws_dasync){.kind = (uint8_t)kind, .track = (uint8_t)track, .size = WS_LANE_NONE, .n = 1,
	                        .ignore = WS_LANE_NONE, .ctas = WS_LANE_NONE, .byte_mask = WS_LANE_NONE,
	                        .atom = dc->inst->atom, .type = dc->inst->type[0]};
	return d;
}

/* ---- cp.async ---- */
static bool is_predicate(const struct ws_operand *o)
{
	return o->kind == WS_O_REG && !ws_reg_width(o->reg);
}

static bool decode_cp(struct ws_decoder *dc)
{
	const struct ws_ptx_inst *in = dc->inst;
	struct ws_dasync *d = new_async(dc, WS_DA_CP, WS_ASYNC_CP);
	unsigned n = in->nops - (in->flags & WS_F_CACHE_HINT ? 1u : 0);

	if (n < 3 || n > 4 || in->ops[2].kind != WS_O_INT ||
	    (in->ops[2].imm != 4 && in->ops[2].imm != 8 && in->ops[2].imm != 16))
		return unknown_form(dc);
	d->bytes = (uint8_t)in->ops[2].imm;
	if (!ws_dec_place(dc, &in->ops[0], WS_SPACE_SHARED, &d->dst) ||
	    !ws_dec_place(dc, &in->ops[1], WS_SPACE_GLOBAL, &d->src))
		return true;
	if (n == 4 && is_predicate(&in->ops[3])) {
		d->ignore = ws_dec_src(dc, &in->ops[3], 0);
		d->ignore_neg = in->ops[3].negated;
	} else if (n == 4) {
		d->size = ws_dec_src(dc, &in->ops[3], 4);
	}
	emit(dc, ws_op_cp_async_copy, d);
	return true;
}

static bool decode_group(struct ws_decoder *dc, const struct words *s)
{
	const struct ws_ptx_inst *in = dc->inst;
	bool all = has(s, "wait_all"), commit = has(s, "commit_group");
	struct ws_dinst *k;

	if (!all && !commit && (in->nops != 1 || in->ops[0].kind != WS_O_INT))
		return unknown_form(dc);
	if (!all && !commit && in->ops[0].imm >= WS_MAX_GROUPS) {
		ws_dec_refuse(dc, WS_GPU_UNSUPPORTED,
		              "a wait for all but %llu groups; the simulator knows %d of a thread",
		              (unsigned long long)in->ops[0].imm, WS_MAX_GROUPS);
		return true;
	}
	k = emit(dc, commit ? ws_op_commit_group : ws_op_wait_group, NULL);
	k->u.op.mode = has(s, "bulk") ? WS_ASYNC_BULK : WS_ASYNC_CP;
	k->u.op.flag = has(s, "read");
	k->u.op.imm = all || commit ? UINT64_MAX : in->ops[0].imm;
	return true;
}

static bool decode_cp_arrive(struct ws_decoder *dc, const struct words *s)
{
	struct ws_dasync *d = new_async(dc, WS_DA_ARRIVE, WS_ASYNC_CP);

	if (dc->inst->nops != 1)
		return unknown_form(dc);
	d->noinc = has(s, "noinc");
	if (ws_dec_place(dc, &dc->inst->ops[0], dc->inst->space, &d->mbar))
		emit(dc, ws_op_cp_arrive, d);
	return true;
}

/* ---- bulk copies ---- */
static bool find_function(struct ws_decoder *dc, struct ws_dasync *d, enum ws_space space)
{
	struct ws_ptx_inst red = {.op = WS_OP_red, .atom = d->atom, .type = {d->type}, .ntypes = 1, .vec = 1};
	const char *why = "this operation does not exist on this type";
	bool others = space == WS_SPACE_GLOBAL && dc->gpu->config.host_threads != 1;

	d->fn = d->atom == WS_ATOM_CAS || d->atom == WS_ATOM_EXCH ? NULL :
	        ws_atomic_find(&red, space == WS_SPACE_GLOBAL ? WS_SPACE_GLOBAL : WS_SPACE_SHARED, others, &why);
	if (!d->fn)
		ws_dec_refuse(dc, WS_GPU_UNSUPPORTED, "%s", why);
	return d->fn;
}

/* A mask of 16 bits. */
static uint32_t mask16(struct ws_decoder *dc, const struct ws_operand *o)
{
	if (o->kind == WS_O_REG && ws_reg_width(o->reg) != 2)
		ws_dec_refuse(dc, WS_GPU_BAD_INSTRUCTION, "the mask must be a register of 16 bits");
	return ws_dec_src(dc, o, 2);
}

static bool decode_bulk(struct ws_decoder *dc, const struct words *s, bool reduce)
{
	const struct ws_ptx_inst *in = dc->inst;
	bool mbar = has(s, "mbarrier::complete_tx::bytes"), multicast = has(s, "multicast::cluster");
	bool masked = has(s, "cp_mask");
	unsigned n = in->nops - (in->flags & WS_F_CACHE_HINT ? 1u : 0), want = 3u + mbar + multicast + masked;
	struct ws_dasync *d = new_async(dc, reduce ? WS_DA_REDUCE : WS_DA_COPY, mbar ? WS_ASYNC_MBARRIER :
	                                WS_ASYNC_BULK);
	uint8_t space[2];

	if (spaces(s, space) != 2 || n != want || mbar == has(s, "bulk_group") || (multicast && !mbar) ||
	    mbar == (space[0] == WS_SPACE_GLOBAL) || (!mbar && space[1] != WS_SPACE_SHARED) || (masked && mbar) ||
	    (reduce && !in->atom))
		return unknown_form(dc);
	if (!ws_dec_place(dc, &in->ops[0], space[0], &d->dst) || !ws_dec_place(dc, &in->ops[1], space[1], &d->src))
		return true;
	d->size = ws_dec_src(dc, &in->ops[2], 4);
	if (mbar && !ws_dec_place(dc, &in->ops[3], space[0], &d->mbar))
		return true;
	if (multicast)
		d->ctas = mask16(dc, &in->ops[4]);
	if (masked)
		d->byte_mask = mask16(dc, &in->ops[in->nops - 1]);
	if (reduce && !find_function(dc, d, space[0]))
		return true;
	emit(dc, ws_op_bulk, d);
	return true;
}

/* ---- tensors ---- */
static bool tensor_address(struct ws_decoder *dc, const struct ws_operand *o, struct ws_dplace *p, struct ws_dasync *d)
{
	struct ws_operand base;

	if (o->kind != WS_O_TEX || o->sreg_or_count != 2 || o->elems[1].kind != WS_O_VEC ||
	    o->elems[1].sreg_or_count != d->rank)
		return !unknown_form(dc);
	base = o->elems[0];
	base.kind = WS_O_ADDR;
	if (!ws_dec_place(dc, &base, WS_SPACE_GENERIC, p))
		return false;
	for (unsigned i = 0; i < d->rank; i++)
		d->coord[i] = ws_dec_src(dc, &o->elems[1].elems[i], 4);
	return !dc->failed;
}

static bool decode_tensor(struct ws_decoder *dc, const struct words *s, bool reduce)
{
	const struct ws_ptx_inst *in = dc->inst;
	bool load = has(s, "mbarrier::complete_tx::bytes"), multicast = has(s, "multicast::cluster");
	unsigned n = in->nops - (in->flags & WS_F_CACHE_HINT ? 1u : 0);
	struct ws_dasync *d = new_async(dc, WS_DA_TENSOR, load ? WS_ASYNC_MBARRIER : WS_ASYNC_BULK);
	uint8_t space[2];

	for (unsigned i = 0; i < s->n; i++)
		if (s->len[i] == 2 && s->w[i][1] == 'd' && s->w[i][0] >= '1' && s->w[i][0] <= '5')
			d->rank = (uint8_t)(s->w[i][0] - '0');
	for (unsigned i = 0; i < s->n; i++)
		if (!strncmp(s->w[i], "im2col", 6) || !strncmp(s->w[i], "tile::", 6) ||
		    !strncmp(s->w[i], "cta_group", 9))
			return unknown_form(dc);
	if (!d->rank || spaces(s, space) != 2 || n != (load ? 3u + multicast : 2u) || load == has(s, "bulk_group") ||
	    load == (space[0] == WS_SPACE_GLOBAL) || (reduce && (load || !in->atom)) || (multicast && !load))
		return unknown_form(dc);
	d->load = load;
	d->atom = reduce ? in->atom : WS_ATOM_NONE;
	if (load ? !ws_dec_place(dc, &in->ops[0], space[0], &d->dst) || !tensor_address(dc, &in->ops[1], &d->src, d) ||
	           !ws_dec_place(dc, &in->ops[2], space[0], &d->mbar) :
	           !tensor_address(dc, &in->ops[0], &d->dst, d) || !ws_dec_place(dc, &in->ops[1], space[1], &d->src))
		return true;
	if (multicast)
		d->ctas = mask16(dc, &in->ops[3]);
	emit(dc, ws_op_tensor, d);
	return true;
}

static bool decode_copies(struct ws_decoder *dc)
{
	struct words s = split(dc->inst->extra);
	bool reduce = is(&s, 0, "reduce"), bulk = is(&s, reduce ? 2 : 1, "bulk");

	if (!is(&s, reduce ? 1 : 0, "async") || (reduce && !bulk))
		return unknown_form(dc);
	if (has(&s, "commit_group") || has(&s, "wait_group") || has(&s, "wait_all"))
		return decode_group(dc, &s);
	if (has(&s, "prefetch"))
		return true;             /* nothing that a functional simulation could show */
	if (has(&s, "tensor"))
		return decode_tensor(dc, &s, reduce);
	if (bulk)
		return decode_bulk(dc, &s, reduce);
	if (has(&s, "mbarrier"))
		return decode_cp_arrive(dc, &s);
	return has(&s, "ca") || has(&s, "cg") ? decode_cp(dc) : unknown_form(dc);
}

/* ---- st.async, red.async ---- */
static bool decode_store(struct ws_decoder *dc)
{
	const struct ws_ptx_inst *in = dc->inst;
	bool red = in->op == WS_OP_red;
	struct ws_dasync *d = new_async(dc, red ? WS_DA_RED : WS_DA_ST, WS_ASYNC_MBARRIER);
	struct words s = split(in->extra);
	enum ws_space space = in->space ? in->space : WS_SPACE_SHARED_CLUSTER;
	const struct ws_operand *v;

	d->bytes = (uint8_t)ws_type_bytes(in->type[0]);
	if (!is(&s, 0, "async") || has(&s, "mmio") || in->nops != 3 || (d->bytes != 4 && d->bytes != 8) ||
	    !has(&s, "mbarrier::complete_tx::bytes") || space != WS_SPACE_SHARED_CLUSTER)
		return unknown_form(dc);
	v = &in->ops[1];
	d->n = v->kind == WS_O_VEC ? v->sreg_or_count : 1;
	if (d->n > 4 || d->n != (in->vec ? in->vec : 1) || (red && d->n > 1))
		return unknown_form(dc);
	if (!ws_dec_place(dc, &in->ops[0], space, &d->dst) || !ws_dec_place(dc, &in->ops[2], space, &d->mbar))
		return true;
	for (unsigned i = 0; i < d->n; i++)
		d->value[i] = ws_dec_src(dc, v->kind == WS_O_VEC ? &v->elems[i] : v, d->bytes);
	if (red && !find_function(dc, d, WS_SPACE_SHARED))
		return true;
	emit(dc, ws_op_st_async, d);
	return true;
}

/* ---- mbarrier ---- */
static bool mbar_code(const struct words *s, struct ws_dmbar *d)
{
	static const struct { const char *word; uint8_t code, sem; } codes[] = {
		{"init", WS_MB_INIT, WS_SEM_WEAK}, {"inval", WS_MB_INVAL, WS_SEM_WEAK},
		{"arrive", WS_MB_ARRIVE, WS_SEM_RELEASE}, {"arrive_drop", WS_MB_DROP, WS_SEM_RELEASE},
		{"expect_tx", WS_MB_EXPECT, WS_SEM_RELAXED}, {"complete_tx", WS_MB_COMPLETE, WS_SEM_RELAXED},
		{"test_wait", WS_MB_WAIT, WS_SEM_ACQUIRE}, {"try_wait", WS_MB_WAIT, WS_SEM_ACQUIRE},
	};

	for (size_t i = 0; i < WS_COUNT(codes); i++)
		if (is(s, 0, codes[i].word)) {
			d->code = codes[i].code;
			d->sem = codes[i].sem;
			return true;
		}
	return false;
}

static bool decode_pending_count(struct ws_decoder *dc)
{
	struct ws_dop op = {.fn = ws_op_pending_count, .d2 = WS_LANE_NONE, .b = WS_LANE_NONE, .c = WS_LANE_NONE};

	if (dc->inst->nops != 2 || dc->inst->ops[0].kind != WS_O_REG || ws_reg_width(dc->inst->ops[0].reg) != 4)
		return unknown_form(dc);
	op.a = ws_dec_src(dc, &dc->inst->ops[1], 8);
	op.d = ws_dec_dst(dc, &dc->inst->ops[0]);
	ws_dec_op(dc, ws_op_pending_count)->u.op = op;
	return true;
}

static bool has_result(const struct ws_dmbar *d)
{
	return d->code == WS_MB_ARRIVE || d->code == WS_MB_DROP || d->code == WS_MB_WAIT;
}

static bool decode_mbarrier(struct ws_decoder *dc)
{
	const struct ws_ptx_inst *in = dc->inst;
	struct words s = split(in->extra);
	struct ws_dmbar *d = ws_arena_alloc(dc->image->arena, sizeof *d);
	unsigned first, least;

	if (is(&s, 0, "pending_count"))
		return decode_pending_count(dc);
	if (!mbar_code(&s, d))
		return unknown_form(dc);
	d->expect = has_result(d) && has(&s, "expect_tx");
	d->no_complete = has(&s, "noComplete");
	d->parity = has(&s, "parity");
	if (in->sem)
		d->sem = in->sem;
	d->scope = in->scope ? in->scope : WS_SCOPE_CTA;
	first = has_result(d);
	least = first + 1 + (d->code != WS_MB_INVAL && (!first || d->code == WS_MB_WAIT || d->expect ||
	                                                d->no_complete));
	d->count = d->dst = WS_LANE_NONE;
	if (in->nops < least || in->nops > first + 3u)
		return unknown_form(dc);
	if (first)
		d->dst = ws_dec_dst(dc, &in->ops[0]);
	if (!ws_dec_place(dc, &in->ops[first], in->space, &d->place))
		return true;
	if (in->nops > first + 1u)
		d->count = ws_dec_src(dc, &in->ops[first + 1], d->code == WS_MB_WAIT && !d->parity ? 8 : 4);
	emit(dc, ws_op_mbarrier, d);
	return true;
}

/* ---- the choice ---- */
/* fence.mbarrier_init.release.cluster orders mbarrier.init only (PTX ISA 9.0, membar, fence). */
static bool decode_init_fence(struct ws_decoder *dc)
{
	const struct ws_ptx_inst *in = dc->inst;
	struct ws_dinst *k;

	if (!in->extra || strcmp(in->extra, ".mbarrier_init") || in->sem != WS_SEM_RELEASE ||
	    in->scope != WS_SCOPE_CLUSTER)
		return false;
	k = ws_dec_op(dc, ws_op_fence);
	k->u.op.mode = WS_SEM_RELEASE;
	k->u.op.flag = WS_SCOPE_CLUSTER;
	k->u.op.ptr = (void *)(uintptr_t)"mbarrier_init";
	return true;
}

bool ws_dec_async(struct ws_decoder *dc)
{
	const struct ws_ptx_inst *in = dc->inst;
	bool async = in->mode == WS_MODE_OTHER && in->extra && !strncmp(in->extra, ".async", 6);

	switch (in->op) {
	case WS_OP_cp:
		return decode_copies(dc);
	case WS_OP_mbarrier:
		return decode_mbarrier(dc);
	case WS_OP_st: case WS_OP_red:
		return async && decode_store(dc);
	case WS_OP_fence:
		return in->mode == WS_MODE_OTHER && decode_init_fence(dc);
	default:
		return false;
	}
}

/* race_table.c - what the host keeps of a rewritten module: where its checks are, and what the words of a report need
 * of the code around them. A parsed module takes many times as much memory, and large programs have hundreds. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/demangle.h"
#include "real/race.h"
#include "rewrite/rewrite.h"

/* ---- places ---- */
static const char *copy(struct ws_arena *a, const char *s)
{
	return s ? ws_arena_strndup(a, s, strlen(s)) : NULL;
}

static enum ws_race_access_kind access_kind(enum ws_rw_kind k)
{
	return k == WS_RW_READ ? WS_RA_READ : k == WS_RW_WRITE ? WS_RA_WRITE : WS_RA_ATOMIC;
}

static void take_place(struct ws_arena *a, const struct ws_ptx_func *f, const struct ws_ptx_inst *i,
                       struct ws_race_access *r)
{
	const struct ws_ptx_module *m = f->module;
	struct ws_ptx_place p;

	ws_ptx_place(f, i, &p);
	*r = (struct ws_race_access){
		.file = copy(a, p.file), .line = p.line, .col = p.col, .nearby = p.nearby,
		.function = copy(a, p.function), .inlined_file = copy(a, p.inlined_file), .inlined_line = p.inlined_line,
		.ptx_file = copy(a, m->path), .ptx_line = i->line,
		.ptx = ws_arena_strndup(a, m->text + i->off, i->len),
	};
}

/* ---- code around ---- */
static uint64_t address_of(const struct ws_ptx_inst *i)
{
	const struct ws_operand *o = ws_ptx_address(i);
	const void *parts[3] = { 0 };

	if (!o)
		return 0;
	parts[0] = o->reg;
	parts[1] = o->sym;
	memcpy(&parts[2], &o->offset, sizeof o->offset < sizeof parts[2] ? sizeof o->offset : sizeof parts[2]);
	return ws_hash(parts, sizeof parts);
}

static bool one_line(const struct ws_ptx_inst *i, const struct ws_ptx_inst *j)
{
	return i->loc && j->loc && i->loc->line == j->loc->line && i->loc->file == j->loc->file;
}

static void look_around(const struct ws_ptx_func *f, const struct ws_ptx_inst *i, struct ws_real_code_line *line)
{
	enum { FAR = 256 };                  /* what belongs to a line stands together */
	uint16_t other = i->op == WS_OP_ld ? WS_OP_st : WS_OP_ld;
	uint32_t same = 0, end = i->index + FAR < f->ninsts ? i->index + FAR : f->ninsts;

	for (uint32_t n = i->index > FAR ? i->index - FAR : 0; n < end; n++) {
		const struct ws_ptx_inst *j = &f->insts[n];

		if (!one_line(i, j))
			continue;
		same += j->op == i->op;
		line->update |= j->op == other && address_of(j) == line->address;
	}
	line->repeated = same > 1;
}

static bool is_barrier(const struct ws_ptx_inst *i)
{
	return i->op == WS_OP_bar || i->op == WS_OP_barrier;
}

/* Where the instruction jumps back to; UINT32_MAX: it does not. */
static uint32_t back_to(const struct ws_ptx_func *f, const struct ws_ptx_inst *i)
{
	for (unsigned n = 0; i->op == WS_OP_bra && n < i->nops; n++)
		if (i->ops[n].kind == WS_O_LABEL && f->labels[i->ops[n].label].inst <= i->index)
			return f->labels[i->ops[n].label].inst;
	return UINT32_MAX;
}

static void take_func(struct ws_arena *a, const struct ws_ptx_func *f, struct ws_real_func *to)
{
	uint32_t nbarriers = 0, njumps = 0;

	for (uint32_t i = 0; i < f->ninsts; i++) {
		nbarriers += is_barrier(&f->insts[i]);
		njumps += back_to(f, &f->insts[i]) != UINT32_MAX;
	}
	if (f->ninsts)
		take_place(a, f, &f->insts[0], &to->entry);
	to->entry.access = WS_RA_WRITE;
	to->entry.ptx = NULL;
	to->barriers = ws_arena_alloc(a, nbarriers * sizeof *to->barriers);
	to->jumps = ws_arena_alloc(a, njumps * sizeof *to->jumps);
	for (uint32_t i = 0; i < f->ninsts; i++) {
		uint32_t back = back_to(f, &f->insts[i]);

		if (is_barrier(&f->insts[i]))
			to->barriers[to->nbarriers++] = i;
		if (back != UINT32_MAX) {
			to->jumps[to->njumps][0] = i;
			to->jumps[to->njumps++][1] = back;
		}
	}
}

static uint32_t func_index(const struct ws_ptx_module *m, const struct ws_ptx_func *f)
{
	uint32_t k = 0;

	while (k < m->nfuncs && m->funcs[k] != f)
		k++;
	return k;
}

/* ---- the table ---- */
static void take_site(struct ws_real_table *t, const struct ws_ptx_module *m, const struct ws_rw_site *s)
{
	struct ws_real_code_line *line = &t->lines[s->number];

	take_place(t->arena, s->func, s->inst, &line->place);
	line->place.access = access_kind(s->kind);
	line->func = func_index(m, s->func);
	line->inst = s->inst->index;
	line->bytes = s->bytes;
	line->may_fail = s->may_fail;
	line->address = address_of(s->inst);
	look_around(s->func, s->inst, line);
	if (s->read) {
		struct ws_race_access *read = ws_arena_alloc(t->arena, sizeof *read);

		take_place(t->arena, s->func, s->read, read);
		read->access = WS_RA_READ;
		line->read = read;
		line->read_inst = s->read->index;
	}
}

static void take_sites(struct ws_real_table *t, const struct ws_ptx_module *m, const struct ws_rw_result *r)
{
	for (uint32_t k = 0; k < r->nsites; k++)
		if (r->sites[k].number != WS_RW_NO_CHECK && r->sites[k].number >= t->nlines)
			t->nlines = r->sites[k].number + 1;
	t->lines = ws_arena_alloc(t->arena, t->nlines * sizeof *t->lines);
	for (uint32_t k = 0; k < r->nsites; k++)
		if (r->sites[k].number != WS_RW_NO_CHECK)
			take_site(t, m, &r->sites[k]);
}

/* "ldmatrix at a.cu:12, tex at a.cu:40"; the first few. */
static const char *unfollowed(struct ws_arena *a, const struct ws_rw_result *r, uint32_t kernel)
{
	enum { MOST = 4 };
	struct ws_buf b = { 0 };
	const char *text = NULL;
	uint32_t n = 0;

	for (uint32_t k = 0; k < r->nsites; k++) {
		const struct ws_rw_site *s = &r->sites[k];

		if (s->number != WS_RW_NO_CHECK || !ws_rw_reaches(&r->kernels[kernel], s->func) || n++ >= MOST)
			continue;
		ws_buf_printf(&b, "%s%s at %s", b.len ? ", " : "", ws_op_info(s->inst->op)->name, s->place);
	}
	if (n > MOST)
		ws_buf_printf(&b, ", and %u more", n - MOST);
	if (n)
		text = ws_arena_strndup(a, b.data, b.len);
	ws_buf_free(&b);
	return text;
}

/* By what may it be ordered with other launches that run meanwhile, or with the host? */
static void take_order(struct ws_real_checked_kernel *to, const struct ws_ptx_inst *i)
{
	struct ws_ptx_order order = ws_ptx_order(i);
	bool fence = i->op == WS_OP_membar || i->op == WS_OP_fence;
	unsigned scope = fence ? (unsigned)i->scope : (unsigned)order.scope;
	bool orders = fence || order.sem == WS_SEM_ACQUIRE || order.sem == WS_SEM_RELEASE || order.sem == WS_SEM_ACQ_REL ||
	              order.sem == WS_SEM_SC;

	if (!orders || (fence && (i->mode == WS_MODE_PROXY || i->mode == WS_MODE_OTHER)))
		return;
	to->orders |= scope != WS_SCOPE_CTA && scope != WS_SCOPE_CLUSTER;
	to->orders_host |= scope == WS_SCOPE_SYS;
}

/* A function may be called in a loop. */
static bool may_be_in_loop(struct ws_ptx_func *f, const struct ws_ptx_inst *i)
{
	ws_ptx_cfg(f);
	return !f->entry || ws_ptx_block_reaches(f, i->block, i->block, NULL);
}

/* May it see what others do meanwhile? */
static bool looks_around(const struct ws_ptx_inst *i)
{
	return i->space != WS_SPACE_SHARED && (i->op == WS_OP_atom || (i->op == WS_OP_ld && ws_ptx_order(i).sem != WS_SEM_WEAK));
}

static void note_read(void *user, struct ws_reg *r, bool is_def)
{
	((bool *)user)[r->index] |= !is_def;
}

/* Registers of which anything is made, by their index. */
static bool *registers_read(const struct ws_ptx_func *f)
{
	bool *read = ws_alloc((f->nregs + 1) * sizeof *read);

	for (uint32_t k = 0; k < f->ninsts; k++)
		ws_ptx_inst_regs(&f->insts[k], note_read, read);
	return read;
}

/* Counting (an atomic of which nobody reads the result) is no look. */
static bool is_of_use(const struct ws_ptx_inst *i, const bool *read)
{
	return i->op != WS_OP_atom || i->ops[0].kind != WS_O_REG || read[i->ops[0].reg->index];
}

static void take_use_of_function(struct ws_real_checked_kernel *to, struct ws_ptx_func *f)
{
	bool *read = registers_read(f);

	for (uint32_t n = 0; n < f->ninsts; n++) {
		const struct ws_ptx_inst *i = &f->insts[n];
		bool fence = i->op == WS_OP_membar || i->op == WS_OP_fence, loops = (looks_around(i) || fence) && may_be_in_loop(f, i);

		to->reads_size |= ws_rw_reads_shared_size(i);
		take_order(to, i);
		to->waits |= looks_around(i);
		to->loops |= loops;
		to->looks |= loops && is_of_use(i, read);
	}
	free(read);
}

static void take_shared_use(const struct ws_real_table *t, struct ws_real_checked_kernel *to, const struct ws_ptx_module *m,
                            const struct ws_rw_result *r, const struct ws_rw_kernel *k)
{
	for (uint32_t n = 0; n < r->nsites && !k->in_slot; n++)
		to->shared |= r->sites[n].number != WS_RW_NO_CHECK && r->sites[n].space != WS_SPACE_GLOBAL &&
		              ws_rw_reaches(k, r->sites[n].func);
	for (uint32_t n = 0; n < m->nfuncs; n++)
		if (ws_rw_reaches(k, m->funcs[n]))
			take_use_of_function(to, m->funcs[n]);
}

static uint32_t param_number(const struct ws_ptx_func *f, const struct ws_ptx_sym *s)
{
	uint32_t k = 0;

	while (k < f->nparams && f->params[k] != s)
		k++;
	return k;
}

static const struct ws_real_probe_value *take_values(struct ws_arena *a, const struct ws_rw_kernel *k,
                                                     const struct ws_probe_value *list, uint32_t n)
{
	struct ws_real_probe_value *v = ws_arena_alloc(a, (n + 1) * sizeof *v);

	for (uint32_t i = 0; i < n; i++)
		v[i] = (struct ws_real_probe_value){ param_number(k->func, list[i].sym), (uint32_t)list[i].offset, list[i].bytes };
	return v;
}

static void take_probe(struct ws_arena *a, const struct ws_rw_kernel *k, struct ws_real_checked_kernel *to)
{
	to->probe = k->probe;
	to->probe_waits = k->probe_waits;
	to->probe_unit = k->probe_unit;
	to->probe_blocks = k->probe_blocks;
	to->probe_reads = take_values(a, k, k->probe_reads, k->nprobe_reads);
	to->nprobe_reads = k->nprobe_reads;
	to->fixed = k->fixed;
	to->fixed_by = take_values(a, k, k->fixed_by, k->nfixed_by);
	to->nfixed_by = k->nfixed_by;
}

/* In its first instructions, that are executed by all threads. */
static bool waits_first(const struct ws_ptx_func *f)
{
	enum { OTHER = WS_FX_READ | WS_FX_WRITE | WS_FX_ATOMIC | WS_FX_BARRIER | WS_FX_BRANCH | WS_FX_CALL | WS_FX_EXIT | WS_FX_ASYNC | WS_FX_SYNC };

	for (uint32_t k = 0; k < f->ninsts; k++) {
		const struct ws_ptx_inst *i = &f->insts[k];

		if (ws_rw_waits_for_grid(i))
			return !i->guard;
		if (ws_op_info(i->op)->fx & OTHER && i->space != WS_SPACE_PARAM && i->space != WS_SPACE_CONST)
			return false;
	}
	return false;
}

/* One after the other, each aligned (PTX ISA 9.0, 5.1.6.1). */
static const struct ws_real_param *take_params(struct ws_arena *a, const struct ws_ptx_func *f)
{
	struct ws_real_param *p = ws_arena_alloc(a, (f->nparams + 1) * sizeof *p);
	uint64_t at = 0;

	for (uint32_t n = 0; n < f->nparams; n++) {
		at = (at + f->params[n]->align - 1) / f->params[n]->align * f->params[n]->align;
		p[n] = (struct ws_real_param){ (uint32_t)at, (uint32_t)f->params[n]->size };
		at += f->params[n]->size;
	}
	return p;
}

/* Read when they are asked for, for few programs do. */
struct ws_real_extents { struct ws_arena *arena; const char *text; const struct ws_real_decision *decision; };

static struct ws_real_extents *take_extents(struct ws_arena *a, const char *text)
{
	struct ws_real_extents *x = text ? ws_arena_alloc(a, sizeof *x) : NULL;

	if (x)
		*x = (struct ws_real_extents){ .arena = a, .text = copy(a, text) };
	return x;
}

static void take_kernel(struct ws_real_table *t, const struct ws_ptx_module *m, const struct ws_rw_result *r,
                        uint32_t k)
{
	struct ws_real_checked_kernel *to = &t->kernels[k];
	char *plain = ws_demangle(r->kernels[k].func->name);

	to->name = copy(t->arena, r->kernels[k].func->name);
	to->plain = copy(t->arena, plain);
	to->why = copy(t->arena, r->kernels[k].why);
	to->unfollowed = to->why ? NULL : unfollowed(t->arena, r, k);
	to->reaches = ws_arena_alloc(t->arena, m->nfuncs + 1);
	for (uint32_t n = 0; n < m->nfuncs; n++)
		to->reaches[n] = ws_rw_reaches(&r->kernels[k], m->funcs[n]);
	take_shared_use(t, to, m, r, &r->kernels[k]);
	to->compared = r->kernels[k].compared;
	to->nparams = r->kernels[k].func->nparams;
	to->launch_at = r->kernels[k].launch_at;
	to->params = take_params(t->arena, r->kernels[k].func);
	to->waits_first = waits_first(r->kernels[k].func);
	to->has_plain = r->kernels[k].plain;
	to->sure = r->kernels[k].sure;
	to->left = r->kernels[k].left;
	take_probe(t->arena, &r->kernels[k], to);
	if (r->kernels[k].decides)
		to->decision = ws_real_decision_new(t->arena, r->kernels[k].decides);
	if (r->kernels[k].decides_shared)
		to->shared_decision = ws_real_decision_new(t->arena, r->kernels[k].decides_shared);
	to->nparts = r->kernels[k].nparts;
	if (to->nparts)
		to->parts = ws_real_decision_new(t->arena, r->kernels[k].parts);
	to->bare = r->kernels[k].bare;
	if (r->kernels[k].tells)
		to->telling = ws_real_decision_new(t->arena, r->kernels[k].tells);
	to->extents = take_extents(t->arena, r->kernels[k].extents);
	free(plain);
}

struct ws_real_table *ws_real_table_new(const struct ws_ptx_module *m)
{
	const struct ws_rw_result *r = ws_rewrite_result(m);
	struct ws_arena *a = ws_arena_new();
	struct ws_real_table *t = ws_arena_alloc(a, sizeof *t);

	t->arena = a;
	t->module = r->module;
	t->variable = copy(a, r->race);
	t->nfuncs = m->nfuncs;
	t->funcs = ws_arena_alloc(a, t->nfuncs * sizeof *t->funcs);
	for (uint32_t k = 0; k < m->nfuncs; k++)
		take_func(a, m->funcs[k], &t->funcs[k]);
	take_sites(t, m, r);
	t->nkernels = r->nkernels;
	t->kernels = ws_arena_alloc(a, t->nkernels * sizeof *t->kernels);
	for (uint32_t k = 0; k < t->nkernels; k++)
		take_kernel(t, m, r, k);
	return t;
}

void ws_real_table_free(struct ws_real_table *t)
{
	if (t)
		ws_arena_free(t->arena);
}

/* ---- all tables ---- */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct ws_real_table *all;

static struct ws_real_table *find(uint32_t module)
{
	struct ws_real_table *t = all;

	while (t && t->module != module)
		t = t->next;
	return t;
}

const struct ws_real_table *ws_real_table_numbered(uint32_t module)
{
	struct ws_real_table *t;

	pthread_mutex_lock(&lock);
	t = find(module);
	pthread_mutex_unlock(&lock);
	return t;
}

const struct ws_real_table *ws_real_table_of(const struct ws_ptx_module *m)
{
	struct ws_real_table *t;

	pthread_mutex_lock(&lock);
	t = find(ws_rewrite_result(m)->module);
	if (!t) {
		t = ws_real_table_new(m);
		t->next = all;
		all = t;
	}
	pthread_mutex_unlock(&lock);
	return t;
}

const struct ws_real_checked_kernel *ws_real_table_kernel(const struct ws_real_table *t, const char *name)
{
	for (uint32_t k = 0; k < t->nkernels; k++)
		if (strcmp(t->kernels[k].name, name) == 0)
			return &t->kernels[k];
	return NULL;
}

const struct ws_real_decision *ws_real_table_extents(const struct ws_real_checked_kernel *k)
{
	struct ws_real_extents *x = k->extents;

	if (!x)
		return NULL;
	pthread_mutex_lock(&lock);
	if (x->text)
		x->decision = ws_real_decision_new(x->arena, x->text);
	x->text = NULL;
	pthread_mutex_unlock(&lock);
	return x->decision;
}

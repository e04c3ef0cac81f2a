/* tm_features.c - what is known of a module's marked sections before they run: how many words their code reads, writes, and reads and
 * writes. What engine auto begins with (include/warpsafe/tm/auto.h). */
#include "rewrite/tm.h"
#include "rewrite/tm_choice.h"

#include <stdlib.h>

/* A function that sections call counts once, however many call it. */
struct walk {
	struct ws_pass *p;
	struct ws_tm_known *known;
	bool *seen;                      /* by number of the function */
};

static bool same_address(const struct ws_rw_access *a, const struct ws_rw_access *b)
{
	return a->space == b->space && a->address && b->address && a->address->reg == b->address->reg &&
	       a->address->sym == b->address->sym && a->address->offset == b->address->offset;
}

static bool counts(const struct ws_rw_access *a)
{
	return a->rw_class != WS_RW_EXEMPT && a->rw_class != WS_RW_UNHANDLED && !(a->inst->flags & WS_F_NC);
}

/* Whether a read in front of the write is of the same place, as far as the text tells. */
static bool was_read(const struct ws_rw_access *list, const struct ws_rw_access *write)
{
	for (const struct ws_rw_access *a = write; a-- > list;)
		if (a->kind == WS_RW_READ && counts(a) && same_address(a, write))
			return true;
	return false;
}

static void add(struct ws_tm_known *k, const struct ws_rw_access *list, const struct ws_rw_access *a)
{
	if (!counts(a))
		return;
	k->reads += a->kind != WS_RW_WRITE;
	k->writes += a->kind != WS_RW_READ;
	k->rewritten += a->kind == WS_RW_ATOMIC || (a->kind == WS_RW_WRITE && was_read(list, a));
}

static void add_function(struct walk *w, struct ws_ptx_func *f, const struct ws_tm_flow *flow);

static void add_call(struct walk *w, const struct ws_operand *to)
{
	struct ws_ptx_module *m = w->p->m;

	for (uint32_t k = 0; to->kind == WS_O_SYM && k < m->nfuncs; k++)
		if (to->sym->kind == WS_SYM_FUNC && m->funcs[k] == to->sym->func && !w->seen[k]) {
			w->seen[k] = true;
			add_function(w, m->funcs[k], NULL);
		}
}

/* flow: what is in a section; NULL: all. */
static void add_function(struct walk *w, struct ws_ptx_func *f, const struct ws_tm_flow *flow)
{
	uint32_t n;
	const struct ws_rw_access *list = ws_rw_accesses(f, &n);

	for (uint32_t k = 0; k < n; k++)
		if (!flow || flow->inside[list[k].inst->index])
			add(w->known, list, &list[k]);
	for (uint32_t k = 0; k < f->ninsts; k++)
		if (f->insts[k].call && (!flow || flow->inside[k]))
			add_call(w, f->insts[k].call->target);
}

bool ws_tm_know(struct ws_pass *p, struct ws_tm_known *known)
{
	struct walk w = { .p = p, .known = known, .seen = ws_alloc((p->m->nfuncs + 1) * sizeof *w.seen) };
	bool good = true;

	for (uint32_t k = 0; k < p->m->nfuncs && good; k++) {
		struct ws_tm_flow flow;

		if (!ws_tm_has_markers(p->m->funcs[k]))
			continue;
		good = ws_tm_flow_find(p, p->m->funcs[k], &flow);
		if (good)
			add_function(&w, p->m->funcs[k], &flow);
		for (uint32_t s = 0; s < flow.nsections && good; s++)
			known->sections += !flow.sections[s].around;
		ws_tm_flow_free(&flow);
	}
	free(w.seen);
	return good;
}

/* ---- sections that only read ---- */
static bool reads_in(struct walk *w, struct ws_ptx_func *f, const struct ws_tm_flow *flow, uint32_t section);

/* A failed assertion ends the program; malloc and free change the pool; what else cannot be followed may write. */
static bool call_reads(struct walk *w, const struct ws_operand *to)
{
	struct ws_ptx_func *f = to->kind == WS_O_SYM && to->sym->kind == WS_SYM_FUNC ? to->sym->func : NULL;
	struct ws_ptx_module *m = w->p->m;

	if (!f || f->declared_only)
		return f && ws_tm_ends_program(f->name);
	for (uint32_t k = 0; k < m->nfuncs; k++)
		if (m->funcs[k] == f && !w->seen[k]) {
			w->seen[k] = true;
			return reads_in(w, f, NULL, 0);
		}
	return true;
}

static bool writes(const struct ws_rw_access *a)
{
	return a->rw_class != WS_RW_EXEMPT && (a->rw_class == WS_RW_UNHANDLED || a->kind != WS_RW_READ);
}

/* flow: of that section alone; NULL: all. */
static bool reads_in(struct walk *w, struct ws_ptx_func *f, const struct ws_tm_flow *flow, uint32_t section)
{
	uint32_t n;
	const struct ws_rw_access *list = ws_rw_accesses(f, &n);
	bool good = true;

	for (uint32_t k = 0; k < n && good; k++) {
		uint32_t i = list[k].inst->index;

		good = !writes(&list[k]) || (flow && !ws_tm_flow_in(flow, i, section));
	}
	for (uint32_t k = 0; k < f->ninsts && good; k++)
		if (f->insts[k].call && (!flow || ws_tm_flow_in(flow, k, section)))
			good = call_reads(w, f->insts[k].call->target);
	return good;
}

bool ws_tm_only_reads(struct ws_pass *p, struct ws_ptx_func *f, const struct ws_tm_flow *flow, uint32_t section)
{
	struct walk w = { .p = p, .seen = ws_alloc((p->m->nfuncs + 1) * sizeof *w.seen) };
	bool good = reads_in(&w, f, flow, section);

	free(w.seen);
	return good;
}

/* ---- sections that are undone alone ---- */
static bool aborts_in(struct walk *w, struct ws_ptx_func *f, const struct ws_tm_flow *flow, uint32_t section);

/* Whether a function has a ws_tx_abort that is in none of its own sections. */
static bool call_aborts(struct walk *w, const struct ws_operand *to)
{
	struct ws_ptx_func *f = to->kind == WS_O_SYM && to->sym->kind == WS_SYM_FUNC ? to->sym->func : NULL;
	struct ws_ptx_module *m = w->p->m;
	struct ws_tm_flow flow;
	bool aborts = false;

	for (uint32_t k = 0; f && !f->declared_only && k < m->nfuncs; k++)
		if (m->funcs[k] == f && !w->seen[k]) {
			w->seen[k] = true;
			aborts = ws_tm_flow_find(w->p, f, &flow) && aborts_in(w, f, &flow, 0);
			ws_tm_flow_free(&flow);
		}
	return aborts;
}

/* section: + 1; 0: what is in none. */
static bool aborts_in(struct walk *w, struct ws_ptx_func *f, const struct ws_tm_flow *flow, uint32_t section)
{
	for (uint32_t k = 0; k < f->ninsts; k++) {
		const struct ws_ptx_inst *i = &f->insts[k];

		if (ws_tm_flow_undone(flow, k) != section)
			continue;
		if (ws_tm_mark_of(i) == WS_TM_ABORT || (i->call && call_aborts(w, i->call->target)))
			return true;
	}
	return false;
}

bool ws_tm_may_abort(struct ws_pass *p, struct ws_ptx_func *f, const struct ws_tm_flow *flow, uint32_t section)
{
	struct walk w = { .p = p, .seen = ws_alloc((p->m->nfuncs + 1) * sizeof *w.seen) };
	bool aborts = aborts_in(&w, f, flow, section + 1);

	free(w.seen);
	return aborts;
}

struct ws_tm_features ws_tm_features_of(const struct ws_tm_known *k)
{
	double n = k->sections ? k->sections : 1;

	return (struct ws_tm_features){ .reads = k->reads / n, .writes = k->writes / n, .rewritten = k->rewritten / n };
}

/* count.c - the pass `count`: how many accesses of threads each instruction makes to shared, global, constant memory.
 *
 * Every access that could be checked has a counter of 64 bits, one whose address is generic has one for each kind of
 * memory (src/device/count.cu). Constant memory is counted because the simulated GPU tells its detectors of it; no
 * other pass needs to look at it. */
#include "rewrite/rewrite_priv.h"

#include <stdio.h>
#include <string.h>

static bool counted(const struct ws_rw_access *a)
{
	return a->rw_class == WS_RW_CHECK || (a->rw_class == WS_RW_EXEMPT && a->space == WS_SPACE_CONST);
}

/* Can a generic address lead to the shared memory of another block? Only mapa makes such addresses (PTX ISA 9.0, mapa),
 * here or in code that this is linked with, for the same target. */
static bool has_clusters(const struct ws_ptx_module *m)
{
	for (uint32_t k = 0; k < m->nfuncs; k++)
		for (uint32_t n = 0; n < m->funcs[k]->ninsts; n++)
			if (m->funcs[k]->insts[n].op == WS_OP_mapa)
				return true;
	return m->sm >= 90;
}

/* What is the same for all places of a module. */
struct plan {
	const char *variable;
	bool clusters;
	uint32_t ncounters;              /* of the places so far */
	uint32_t copies, stride;         /* stride in bytes */
};

static uint32_t counters_of(const struct ws_rw_access *a)
{
	return !counted(a) ? 0 : a->space == WS_SPACE_GENERIC ? WS_RW_COUNTERS : 1;
}

/* Copies, so that warps seldom meet at an address; fewer where there are many counters. A streaming kernel on an H200
 * takes 21 times as long with one copy as without counters, 3.0 with 64, 1.25 with 256, 1.08 with 1024. */
static void lay_out(const struct ws_ptx_module *m, struct plan *plan)
{
	enum { LINE = 128, MOST_COPIES = 1024, MOST_BYTES = 8 << 20 };
	uint64_t counters = 0;

	for (uint32_t k = 0; k < m->nfuncs; k++) {
		uint32_t n;
		struct ws_rw_access *list = ws_rw_accesses(m->funcs[k], &n);

		while (n)
			counters += counters_of(&list[--n]);
	}
	plan->stride = (uint32_t)((8 * counters + LINE - 1) / LINE * LINE);
	for (plan->copies = MOST_COPIES; plan->copies > 1 && (uint64_t)plan->copies * plan->stride > MOST_BYTES;)
		plan->copies /= 2;
}

/* ---- one function ---- */
static bool insert(struct ws_pass *p, struct ws_ptx_func *f, const struct ws_rw_access *a, const struct plan *plan,
		   const char *base)
{
	struct ws_code *c = ws_code_access(p, f, a);
	const char *args[] = { base, NULL, NULL };
	char offset[16];
	bool done;

	snprintf(offset, sizeof offset, "%u", 8 * plan->ncounters);
	args[1] = offset;
	if (a->space == WS_SPACE_GENERIC) {
		args[2] = ws_code_address(c, a);
		done = ws_inline(c, plan->clusters ? "count_generic_cluster" : "count_generic", args, 3, NULL);
	} else {
		done = ws_inline(c, "count", args, 2, NULL);
	}
	ws_code_end(c);
	return done;
}

static void note_site(struct ws_pass *p, struct ws_ptx_func *f, const struct ws_rw_access *a, const struct plan *plan)
{
	struct ws_rw_site *s = ws_rw_new_site(p);
	struct ws_buf place = { 0 };

	ws_ptx_where(ws_rw_module(p), a->inst, &place);
	*s = (struct ws_rw_site){ .func = f, .inst = a->inst, .rw_class = a->rw_class, .kind = a->kind, .space = a->space,
	                          .bytes = a->bytes, .counter = plan->ncounters, .ncounters = counters_of(a) };
	s->place = ws_arena_strndup(ws_rw_module(p)->arena, place.data, place.len);
	ws_buf_free(&place);
}

/* The counters of the block, in a register of the function from its entry on. */
static const char *base_register(struct ws_pass *p, struct ws_ptx_func *f, const struct plan *plan)
{
	const char *base = ws_rw_register(p, f, WS_U64);
	struct ws_code *c = ws_code_entry(p, f);
	char stride[16], copies[16];
	const char *args[] = { plan->variable, stride, copies };
	bool done;

	snprintf(stride, sizeof stride, "%u", plan->stride);
	snprintf(copies, sizeof copies, "%u", plan->copies);
	done = ws_inline(c, "counters_of_block", args, 3, base);
	ws_code_end(c);
	return done ? base : NULL;
}

static bool function(struct ws_pass *p, struct ws_ptx_func *f, struct plan *plan)
{
	uint32_t n;
	struct ws_rw_access *list = ws_rw_accesses(f, &n);
	const char *base = NULL;

	for (uint32_t k = 0; k < n; k++) {
		if (!counted(&list[k]) && list[k].rw_class != WS_RW_UNHANDLED)
			continue;
		note_site(p, f, &list[k], plan);
		if (!counted(&list[k]))
			continue;
		base = base ? base : base_register(p, f, plan);
		if (!base || !insert(p, f, &list[k], plan, base))
			return false;
		plan->ncounters += counters_of(&list[k]);
	}
	return true;
}

/* Modules are linked together: the name tells them apart. */
static const char *variable(const struct ws_ptx_module *m)
{
	char name[64];

	snprintf(name, sizeof name, "__warpsafe_counters_%016llx", (unsigned long long)ws_hash(m->text, m->text_len));
	return ws_arena_strndup(m->arena, name, strlen(name));
}

bool ws_rw_pass_count(struct ws_pass *p)
{
	struct ws_ptx_module *m = ws_rw_module(p);
	struct ws_rw_result *r = ws_rw_result_of(p);
	struct plan plan = { .variable = variable(m), .clusters = has_clusters(m) };

	if (m->address_size != 64)
		return ws_rw_error(p, NULL, "code with addresses of 32 bits is not rewritten");
	if (!ws_rw_runtime(p, "src/device/count.cu", ws_device_count))
		return false;
	lay_out(m, &plan);
	for (uint32_t k = 0; k < m->nfuncs; k++)
		if (!m->funcs[k]->declared_only && !function(p, m->funcs[k], &plan))
			return false;
	if (!plan.ncounters)
		return true;
	r->counters = plan.variable;
	r->ncounters = plan.ncounters;
	r->copies = plan.copies;
	r->stride = plan.stride / 8;
	ws_rw_declare(p, ".visible .global .align 128 .u64 %s[%u];", r->counters, r->copies * r->stride);
	return true;
}

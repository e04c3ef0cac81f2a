/* count.c - the pass `count`: how many accesses of threads each instruction makes to shared, global and constant memory.
 *
 * Every access that could be checked has a counter of 64 bits, one whose address is generic has one for each kind of
 * memory (src/device/count.cu). Constant memory is counted because the simulated GPU tells its detectors of it; no other
 * pass needs to look at it. */
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

static bool insert(struct ws_pass *p, struct ws_ptx_func *f, const struct ws_rw_access *a, const char *counter,
		   bool clusters)
{
	struct ws_code *c = ws_code_at(p, f, a->inst, WS_BEFORE);
	bool done;

	if (a->space == WS_SPACE_GENERIC) {
		const char *args[] = { counter, ws_code_address(c, a) };

		done = ws_inline(c, clusters ? "count_generic_cluster" : "count_generic", args, 2, NULL);
	} else {
		done = ws_inline(c, "count", &counter, 1, NULL);
	}
	ws_code_end(c);
	return done;
}

static bool access(struct ws_pass *p, struct ws_ptx_func *f, const struct ws_rw_access *a, bool clusters)
{
	struct ws_rw_result *r = ws_rw_result_of(p);
	struct ws_rw_site *s;
	struct ws_buf place = { 0 };
	char counter[128];

	if (!counted(a) && a->rw_class != WS_RW_UNHANDLED)
		return true;
	ws_ptx_where(ws_rw_module(p), a->inst, &place);
	s = ws_rw_new_site(p);
	*s = (struct ws_rw_site){ .func = f, .inst = a->inst, .rw_class = a->rw_class, .kind = a->kind, .space = a->space,
	                          .bytes = a->bytes, .counter = r->ncounters };
	s->place = ws_arena_strndup(ws_rw_module(p)->arena, place.data, place.len);
	ws_buf_free(&place);
	if (a->rw_class == WS_RW_UNHANDLED)
		return true;
	s->ncounters = a->space == WS_SPACE_GENERIC ? WS_RW_COUNTERS : 1;
	r->ncounters += s->ncounters;
	snprintf(counter, sizeof counter, "%s+%u", r->counters, 8 * s->counter);
	return insert(p, f, a, counter, clusters);
}

static bool function(struct ws_pass *p, struct ws_ptx_func *f, bool clusters)
{
	uint32_t n;
	struct ws_rw_access *list = ws_rw_accesses(f, &n);

	for (uint32_t k = 0; k < n; k++)
		if (!access(p, f, &list[k], clusters))
			return false;
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
	bool clusters;

	if (m->address_size != 64)
		return ws_rw_error(p, NULL, "code with addresses of 32 bits is not rewritten");
	if (!ws_rw_runtime(p, "src/device/count.cu", ws_device_count))
		return false;
	r->counters = variable(m);
	clusters = has_clusters(m);
	for (uint32_t k = 0; k < m->nfuncs; k++)
		if (!m->funcs[k]->declared_only && !function(p, m->funcs[k], clusters))
			return false;
	if (r->ncounters)
		ws_rw_declare(p, ".visible .global .align 8 .u64 %s[%u];", r->counters, r->ncounters);
	else
		r->counters = NULL;
	return true;
}

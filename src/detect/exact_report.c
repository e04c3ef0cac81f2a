/* exact_report.c - words for the detector "exact" (exact_priv.h): which two accesses, and what kind of order they lack.
 * What to do about it is for the detector "shadow" to say. */
#include "detect/exact_priv.h"

#include <inttypes.h>
#include <stdlib.h>

struct words { const char *category, *missing; };

static bool is_strong(uint8_t cls)
{
	return cls >= EX_STRONG_READ;
}

static bool is_write(uint8_t cls)
{
	return cls != EX_READ && cls != EX_STRONG_READ;
}

static struct words by_place(const struct ws_ex_now *n, const struct ws_ex_past *old)
{
	if (old->block == n->p.block && n->x->launch->its && old->thread / WS_WARP == n->p.thread / WS_WARP)
		return (struct words){"warp", "order between two threads of a warp"};
	if (old->block == n->p.block)
		return (struct words){"missing-barrier", "order between two threads of a block"};
	if (n->owner && ws_ex_reaches(n->x, EX_CLUSTER, old->block, n->p.block))
		return (struct words){"cluster", "order between two blocks of a cluster"};
	return (struct words){"inter-block", "order between two blocks"};
}

static struct words words_for(const struct ws_ex_now *n, const struct ws_ex_past *old, bool proxy, enum ws_ex_excuse e)
{
	if (e == EX_DEPENDENCY)
		return (struct words){"dependency", "a fence: there is a flag, whose value may depend on what was read"};
	if (e == EX_SAME_VALUE)
		return (struct words){"same-value", "order between two writes, which store the same value"};
	if (proxy)
		return (struct words){"proxy", "a proxy fence between the write and the operation"};
	if (old->inst == n->p.inst)
		return (struct words){"same-instruction", "order between the lanes of one instruction"};
	if (old->async)
		return (struct words){"async-copy", "completion of the operation"};
	if (is_strong(old->cls) && is_strong(n->p.cls))
		return old->whole && n->p.whole && old->whole != n->p.whole ? (struct words){"mixed-size", "one size for both accesses"} :
		                                (struct words){"scope", "a scope that holds both threads"};
	if (is_strong(old->cls) || is_strong(n->p.cls))
		return (struct words){"atomic-plain", "atomicity of both accesses"};
	return by_place(n, old);
}

static enum ws_race_access_kind access_kind(uint8_t cls, const struct ws_site *s, bool atomic)
{
	if (cls == EX_RMW || atomic || (s->inst && s->inst->op == WS_OP_atom))
		return WS_RA_ATOMIC;
	return is_write(cls) ? WS_RA_WRITE : WS_RA_READ;
}

static void location(const struct ws_exact *x, const struct ws_ex_block *owner, uint64_t addr, struct ws_race *r,
                     struct ws_buf *text)
{
	const struct ws_mem *mem = !owner && x->gpu ? ws_gpu_mem_find(x->gpu, addr) : NULL;
	uint32_t start = 0;
	const char *name = NULL;

	if (owner && x->gpu && x->launch->kernel)
		name = ws_gpu_shared_var(x->launch->kernel, (uint32_t)addr, &start);
	if (owner)
		ws_buf_puts(text, name ? name : "shared memory");
	else
		ws_detect_location(mem, text);
	r->offset = addr - (mem ? mem->addr : start);
	r->location = text->data;
}

static void tell(struct ws_exact *x, struct ws_race *r)
{
	r->kernel = x->launch->name ? x->launch->name : "?";
	r->launch = x->launch->serial;
	r->seed = x->config.seed;
	r->count = r->size = 1;
	ws_report_race(x->report, r);
	free((char *)r->first.ptx);
	free((char *)r->second.ptx);
}

bool ws_ex_warning(const struct ws_exact *x, enum ws_ex_excuse e)
{
	return e == EX_DEPENDENCY || (e == EX_SAME_VALUE && !x->config.same_value_error);
}

void ws_ex_report(struct ws_ex_now *n, const struct ws_ex_past *old, uint64_t addr, bool proxy, enum ws_ex_excuse e)
{
	struct words w = words_for(n, old, proxy, e);
	struct ws_race r = {.space = n->owner ? "shared" : "global", .category = w.category, .missing = w.missing,
	                    .repair = "see the report of the detector shadow"};
	struct ws_buf text = {NULL, 0, 0};

	r.severity = ws_ex_warning(n->x, e) ? WS_WARNING : WS_ERROR;
	r.kind = !is_write(old->cls) ? WS_WAR : is_write(n->p.cls) ? WS_WAW : WS_RAW;
	r.first.access = access_kind(old->cls, old->site, false);
	r.second.access = access_kind(n->p.cls, n->p.site, n->a->kind == WS_ATOMIC);
	ws_detect_place(&r.first, old->site);
	ws_detect_place(&r.second, n->p.site);
	ws_detect_thread(&r.first, n->x->launch, old->block, old->thread);
	ws_detect_thread(&r.second, n->x->launch, n->p.block, n->p.thread);
	location(n->x, n->owner, addr, &r, &text);
	tell(n->x, &r);
	ws_buf_free(&text);
}

void ws_ex_report_lifetime(struct ws_exact *x, const struct ws_ex_block *owner, const struct ws_site *site, bool ended)
{
	struct ws_race r = {.severity = WS_ERROR, .kind = ended ? WS_WAR : WS_RAW, .space = "shared",
	                    .category = "cluster-lifetime", .repair = "see the report of the detector shadow"};
	struct ws_raced_bytes raced = {.lifetime = true, .bytes = 1, .block = owner->linear, .launch = x->launch->serial,
	                               .addr = ended};
	struct ws_buf text = {NULL, 0, 0};

	if (x->config.raced)
		x->config.raced(x->config.raced_user, &raced);
	r.missing = ended ? "order between the access and the end of the block whose shared memory it is" :
	                    "order between the start of the block whose shared memory it is and the access";
	ws_detect_place(ended ? &r.first : &r.second, site);
	ws_detect_thread(ended ? &r.second : &r.first, x->launch, owner->linear, 0);
	location(x, owner, 0, &r, &text);
	tell(x, &r);
	ws_buf_free(&text);
}

/* exact_access.c - the history of a byte, and what races in it, for the detector "exact" (exact_priv.h).
 *
 * A race is two accesses to a byte, one of them a write, that are not both morally strong and that nothing orders (PTX
 * ISA 9.0, Memory Consistency Model, Data Races). One thing is left out of a history: what came before a weak write that
 * was ordered after all of it, for whoever is not ordered after the older ones is not ordered after that write. */
#include "detect/depend.h"
#include "detect/exact_priv.h"

#include <stdlib.h>
#include <string.h>

static bool is_strong(uint8_t cls)
{
	return cls >= EX_STRONG_READ;
}

static bool is_write(uint8_t cls)
{
	return cls != EX_READ && cls != EX_STRONG_READ;
}

/* ---- order ---- */
/* Did everything of `unit` up to `time` happen before this access? */
static bool before(const struct ws_ex_now *n, uint32_t unit, uint64_t time)
{
	return unit == n->u->id || time <= ws_ex_time(n->u->f.k, unit);
}

/* Two strong accesses whose scopes hold both threads, and that overlap wholly: elements are naturally aligned, so equal
 * sizes that overlap are the same bytes (PTX ISA 9.0, Memory Consistency Model, Morally Strong Operations). Loads and stores
 * in a part of a word are strong to its atomics too: docs/DETECTORS.md, "Parts of words". */
static bool morally_strong(const struct ws_ex_now *n, const struct ws_ex_past *old)
{
	const struct ws_ex_past *p = &n->p;

	return is_strong(old->cls) && is_strong(p->cls) && (old->whole == p->whole || !old->whole || !p->whole) &&
	       ws_ex_reaches(n->x, ws_ex_level(old->scope), old->block, p->block) &&
	       ws_ex_reaches(n->x, ws_ex_level(p->scope), old->block, p->block);
}

/* ... and, when this access goes through the async proxy and `old` did not, before a proxy fence that happened before it
 * (PTX ISA 9.0, Memory Consistency Model, Proxies, Causality Order) */
static bool before_fence(const struct ws_ex_now *n, const struct ws_ex_past *old, uint64_t time)
{
	return before(n, old->unit, time) && (!n->p.proxy || old->proxy || time <= ws_ex_time(n->u->f.px, old->unit));
}

/* Has something that happened before this access read the strong write number i, or one after it? */
static bool observed(const struct ws_ex_now *n, const struct ws_ex_byte *b, uint32_t i)
{
	for (uint32_t j = i + 1; j < b->n; j++)
		if ((b->p[j].cls == EX_RMW || b->p[j].cls == EX_STRONG_READ) && before_fence(n, &b->p[j], b->p[j].first))
			return true;
	return false;
}

enum verdict { FINE, NEITHER /* no race, but not ordered */, RACE, PROXY };

static enum verdict judge(const struct ws_ex_now *n, const struct ws_ex_byte *b, uint32_t i)
{
	const struct ws_ex_past *old = &b->p[i], *p = &n->p;
	bool writes = is_write(old->cls);

	if (!writes && !is_write(p->cls))
		return FINE;
	if (old->inst == p->inst)            /* lanes of one instruction */
		return is_write(old->cls) && !is_strong(old->cls) && old->real && p->real ? RACE : NEITHER;
	if (p->async && old->unit == p->unit && old->last == p->last && old->thread == p->thread)
		return NEITHER;              /* pieces of one operation */
	if (morally_strong(n, old))
		return NEITHER;
	if (writes ? before_fence(n, old, old->last) : before(n, old->unit, old->last))
		return FINE;
	if (writes && is_strong(old->cls) && observed(n, b, i))
		return FINE;
	return before(n, old->unit, old->last) ? PROXY : RACE;
}

/* ---- writes of the same value ---- */
static const uint8_t *in_memory(const struct ws_ex_now *n, uint64_t addr)
{
	const struct ws_mem *mem = n->a->mem;

	if (n->owner)
		return n->owner->b->shared ? n->owner->b->shared + addr : NULL;
	if (!mem && n->x->gpu)
		mem = ws_gpu_mem_find(n->x->gpu, addr);
	return mem && mem->host && addr - mem->addr < mem->size ? mem->host + (addr - mem->addr) : NULL;
}

static uint64_t address(const struct ws_access *a, uint32_t lane)
{
	return a->linear ? a->base + (uint64_t)lane * a->bytes : a->addr[lane];
}

static bool same_value(const struct ws_ex_now *n, const struct ws_ex_past *old, uint64_t addr)
{
	const struct ws_access *a = n->a;
	uint32_t lane = old->thread % WS_WARP;
	const uint8_t *now, *then;
	uint8_t latest;

	if (!is_write(old->cls) || old->cls == EX_RMW || !a->value || a->kind != WS_WRITE || !n->p.real)
		return false;
	now = (const uint8_t *)a->value + (size_t)n->lane * a->bytes + (addr - n->addr);
	if (old->inst == n->p.inst)
		then = (const uint8_t *)a->value + (size_t)lane * a->bytes + (addr - address(a, lane));
	else if (!n->owner && n->x->latest &&
	         ws_latest_find(n->x->latest, old->block, old->thread / WS_WARP, old->site, lane, addr, 1, &latest))
		then = &latest;
	else
		then = in_memory(n, addr);
	return then && *now == *then;
}

/* ---- what makes a race a warning ---- */
/* A write after a flag whose value may be made from what was read: depend.h. */
static bool dependency(const struct ws_ex_now *n, const struct ws_ex_past *old)
{
	return n->x->depends && !n->owner && old->cls == EX_READ && n->p.cls == EX_WRITE && !old->async && !n->a->async &&
	       old->last <= ws_ex_time(n->u->f.dep, old->unit) && ws_depend_on(old->site->func, old->site->inst);
}

static enum ws_ex_excuse excuse(const struct ws_ex_now *n, const struct ws_ex_past *old, uint64_t addr)
{
	return same_value(n, old, addr) ? EX_SAME_VALUE : dependency(n, old) ? EX_DEPENDENCY : EX_NO_EXCUSE;
}

/* ---- histories ---- */
void ws_ex_byte_clear(struct ws_ex_byte *b)
{
	free(b->p);
	ws_ex_word_free(b->words);
	memset(b, 0, sizeof *b);
}

static void found(struct ws_ex_now *n, struct ws_ex_byte *b, const struct ws_ex_past *old, uint64_t addr, bool proxy)
{
	enum ws_ex_excuse why = excuse(n, old, addr);
	struct ws_raced_bytes r = {.global = !n->owner, .block = n->owner ? n->owner->linear : 0, .launch = n->x->launch->serial,
	                           .addr = addr, .bytes = 1, .warning = ws_ex_warning(n->x, why)};

	if (n->x->config.raced)
		n->x->config.raced(n->x->config.raced_user, &r);
	b->raced = true;
	b->error = b->error || !why;
	if (n->told_addr + 1 != addr || n->told.unit != old->unit || n->told.last != old->last)
		ws_ex_report(n, old, addr, proxy, why);
	n->told = *old;
	n->told_addr = addr;
}

/* The same unit has read the same write already: one entry for both. */
static bool repeated(struct ws_ex_byte *b, const struct ws_ex_past *p)
{
	enum { FAR = 64 };

	for (uint32_t i = b->n; i-- > 0 && b->n - i < FAR && !is_write(p->cls) && !is_write(b->p[i].cls);) {
		struct ws_ex_past *old = &b->p[i];

		if (old->unit == p->unit && old->cls == p->cls && old->scope == p->scope && old->elem == p->elem &&
		    old->site == p->site && old->inst != p->inst) {
			old->last = p->last;
			old->inst = p->inst;
			return true;
		}
	}
	return false;
}

static void access_byte(struct ws_ex_now *n, struct ws_ex_byte *b, uint64_t addr)
{
	bool fine = true;

	if (!b || b->error)
		return;
	for (uint32_t i = 0; i < b->n && !b->error; i++) {
		enum verdict v = judge(n, b, i);

		if (v == RACE || v == PROXY)
			found(n, b, &b->p[i], addr, v == PROXY);
		fine = fine && v == FINE;
	}
	/* coarser ones: lanes of this instruction that meet only in the granule do not stand for each other's past */
	if (b->error || (fine && n->p.cls == EX_WRITE && n->x->config.granularity == 1))
		b->n = 0;
	if (b->error || repeated(b, &n->p))
		return;
	b->p = ws_grow(b->p, &b->cap, b->n + 1, sizeof *b->p);
	b->p[b->n++] = n->p;
}

static void access_bytes(struct ws_ex_now *n, uint64_t addr, uint32_t bytes)
{
	uint64_t g = n->x->config.granularity, from = addr & ~(g - 1), to = (addr + bytes + g - 1) & ~(g - 1);

	if (!(n->owner ? n->x->config.shared : n->x->config.global))
		return;
	for (uint64_t at = from; at < to; at++) {
		n->p.real = at >= addr && at < addr + bytes;
		access_byte(n, ws_ex_byte(n->x, n->owner, at), at);
	}
}

/* ---- accesses ---- */
static uint8_t class_of(const struct ws_access *a, uint32_t lane)
{
	if (ws_access_is_weak(a) || (a->async && a->kind != WS_ATOMIC))
		return a->kind == WS_READ ? EX_READ : EX_WRITE;
	if (a->kind == WS_ATOMIC)
		return a->async || a->wrote >> lane & 1 ? EX_RMW : EX_STRONG_READ;
	return a->kind == WS_READ ? EX_STRONG_READ : EX_STRONG_WRITE;
}

static void strong(struct ws_ex_now *n)
{
	bool reads = n->p.cls != EX_STRONG_WRITE;
	bool first = ws_access_acquires(n->a);       /* it is itself behind what was released there (PTX ISA 9.0, Causality Order) */

	for (uint32_t at = 0; at < n->a->bytes; at += n->p.elem) {
		struct ws_ex_key key = {n->owner ? n->owner->linear + 1 : 0, n->addr + at};

		if (reads && first)
			ws_ex_sync_read(n, key, n->p.elem);
		access_bytes(n, key.addr, n->p.elem);
		if (reads && !first)
			ws_ex_sync_read(n, key, n->p.elem);
		if (n->p.cls != EX_STRONG_READ)
			ws_ex_sync_write(n, key, n->p.elem, n->p.cls == EX_RMW);
	}
}

static void lane_access(struct ws_ex_now *n)
{
	const struct ws_access *a = n->a;
	const struct ws_ptx_inst *inst = a->site->inst;
	uint32_t vec = inst && inst->vec > 1 ? inst->vec : 1;

	n->addr = address(a, n->lane);
	n->told = (struct ws_ex_past){.unit = 0};
	n->told_addr = 0;
	n->p = (struct ws_ex_past){.first = n->u->time, .last = n->u->time, .inst = n->x->inst, .site = a->site,
	                           .unit = n->u->id, .block = (uint32_t)n->b->linear, .thread = n->thread,
	                           .cls = class_of(a, n->lane), .scope = a->scope, .elem = a->async ? 0 : a->bytes / vec};
	n->p.whole = a->kind == WS_ATOMIC ? n->p.elem : 0;
	if (inst && inst->op == WS_OP_mbarrier && !a->async)
		n->p.scope = WS_SCOPE_CLUSTER;       /* wide enough for all that use the object */
	if (a->async)
		ws_ex_async_begin(n);
	if (n->owner && n->owner != n->b)
		ws_ex_visit(n);
	if (is_strong(n->p.cls) && !a->async) {
		strong(n);
		return;
	}
	access_bytes(n, n->addr, a->bytes);
	if (n->p.cls == EX_WRITE)
		ws_ex_weak_write(n->x, n->owner, n->addr, a->bytes);
}

void ws_ex_access(struct ws_exact *x, struct ws_ex_block *b, struct ws_obs_warp *w, const struct ws_access *a)
{
	struct ws_ex_now n = {.x = x, .b = b, .a = a};
	uint32_t doers = a->async && a->issuer < WS_WARP ? 1u << a->issuer : a->mask;

	if (a->space == WS_SPACE_SHARED)
		n.owner = a->peer ? ws_ex_block(x, a->peer) : b;
	x->inst++;
	x->accesses += (uint32_t)__builtin_popcount(a->mask);
	for (uint32_t m = doers; m; m &= m - 1) {
		ws_ex_unit(x, b, w, __builtin_ctz(m))->time++;
		if (!x->launch->its)
			break;
	}
	for (uint32_t m = a->mask; m; m &= m - 1) {
		uint32_t doer = doers == a->mask ? (uint32_t)__builtin_ctz(m) : a->issuer;

		n.lane = __builtin_ctz(m);
		n.thread = w->index * WS_WARP + doer;
		n.u = ws_ex_unit(x, b, w, doer);
		lane_access(&n);
	}
}

/* shadow.c - the detector "shadow": its callbacks, shadow lines, and accesses of whole warps (shadow_priv.h).
 *
 * The common case is a warp that reads or writes a run of memory, lane after lane: per 128 bytes of memory one line of
 * 64 bytes holds the newest such read and write, and checking an access compares a few words. What is less regular
 * goes to shadow_cell.c. A line that another launch (global) or barrier interval (shared) has left is empty: nothing is
 * ever cleared in bulk. */
#include "detect/shadow_priv.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

void ws_spin_lock(uint32_t *lock)
{
	for (int i = 0; __atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE); i++)
		if (i > 64)
			sched_yield();
}

void ws_spin_unlock(uint32_t *lock)
{
	__atomic_store_n(lock, 0, __ATOMIC_RELEASE);
}

void ws_line_lock(struct ws_line *line)
{
	for (int i = 0; !ws_line_try_lock(line); i++)
		if (i > 64)
			sched_yield();
}

/* ---- lines ---- */
static void line_reset(struct ws_line *line, uint32_t gen)
{
	line->gen = gen;
	line->w.who = line->r.who = 0;
	line->mark &= 1;
	if (line->ext)
		ws_cell_reset(line->ext);
}

static inline struct ws_line *global_line(struct ws_ctx *c, uint64_t addr, const struct ws_mem *mem)
{
	struct ws_shadow_mem *sm = __atomic_load_n((struct ws_shadow_mem **)&mem->obs, __ATOMIC_ACQUIRE);
	const struct ws_page *page;
	struct ws_line *line;
	uint64_t i;

	if (!sm)
		sm = ws_memory_new(c->s, mem);
	i = (addr >> LINE_BITS) - sm->first;
	if (i >= sm->nlines)
		return NULL;
	if (__builtin_expect(c->s->thinned, 0) && !c->must && !ws_memory_sampled(c->s, sm, i >> PAGE_BITS))
		return NULL;
	page = __atomic_load_n(&sm->page[i >> PAGE_BITS], __ATOMIC_ACQUIRE);
	line = page ? ws_page_line(page, i) : NULL;
	if (!line)
		line = ws_memory_line(c, sm, i);
	if (line && c->l->lock)
		ws_line_lock(line);
	return line;
}

static inline struct ws_line *shared_line(struct ws_ctx *c, uint64_t addr)
{
	struct ws_line *line;

	if (addr >> LINE_BITS >= c->owner->nlines)
		return NULL;
	line = &c->owner->lines[addr >> LINE_BITS];
	if (c->l->lock && c->l->cluster)
		ws_line_lock(line);
	return line;
}

static inline struct ws_line *closed_line(struct ws_ctx *c, uint64_t addr, const struct ws_mem *mem)
{
	struct ws_line *line = c->global ? global_line(c, addr, mem) : shared_line(c, addr);
	uint32_t gen = c->global ? c->l->gen : c->owner->gen;

	if (!line)
		return NULL;
	if (line->gen != gen)
		line_reset(line, gen);
	c->line = line;
	c->line_addr = addr & ~(uint64_t)(LINE - 1);
	return line;
}

static inline struct ws_line *get_line(struct ws_ctx *c, uint64_t addr, uint32_t bytes, const struct ws_mem *mem)
{
	struct ws_line *line = closed_line(c, addr, mem);
	uint32_t lo = addr & (LINE - 1);

	if (line && __builtin_expect(line->mark >> 1, 0))
		ws_private_open(c, lo, lo + bytes);
	return line;
}

/* The line of addr, which is c->line until ws_shadow_unlock; NULL when the address is in no memory. */
struct ws_line *ws_shadow_line(struct ws_ctx *c, uint64_t addr, uint32_t bytes, const struct ws_mem *mem)
{
	return get_line(c, addr, bytes, mem);
}

struct ws_line *ws_shadow_line_closed(struct ws_ctx *c, uint64_t addr, const struct ws_mem *mem)
{
	return closed_line(c, addr, mem);
}

/* Lanes whose lines are far apart: the machine can fetch all of them at once. */
void ws_shadow_prefetch(const struct ws_access *a, uint32_t mask)
{
	const struct ws_shadow_mem *sm = a->mem ? __atomic_load_n(&a->mem->obs, __ATOMIC_ACQUIRE) : NULL;

	for (uint32_t m = sm ? mask : 0; m; m &= m - 1) {
		uint64_t i = (a->addr[__builtin_ctz(m)] >> LINE_BITS) - sm->first;
		const struct ws_page *page = i < sm->nlines ?
		                             __atomic_load_n(&sm->page[i >> PAGE_BITS], __ATOMIC_ACQUIRE) : NULL;
		const struct ws_line *line = page ? ws_page_line(page, i) : NULL;

		if (line)
			__builtin_prefetch(line, 1);
	}
}

/* ---- whole-warp accesses ---- */
static inline int rec_lo(const struct ws_rec *r)
{
	return r->off + r->step * __builtin_ctz(r->mask);
}

static inline int rec_hi(const struct ws_rec *r)
{
	return r->off + r->step * (31 - __builtin_clz(r->mask)) + r->size;
}

static inline bool same_map(const struct ws_rec *a, const struct ws_rec *b)
{
	return a->off == b->off && a->size == b->size && a->step == b->step;
}

/* Can only one and the same lane of both have touched a byte? */
static inline bool same_lanes(const struct ws_rec *a, const struct ws_rec *b)
{
	return a->step == b->step && a->off + a->size - b->off <= a->step && b->off + b->size - a->off <= a->step;
}

/* Two fields of a structure, side by side, accessed by the same lanes at the same time, are one access by two instructions.
 * false: r stays as it is. */
static inline bool merge(struct ws_rec *r, const struct ws_rec *new)
{
	int d = new->off - r->off;

	if (r->who != new->who || r->mask != new->mask || r->size != new->size || r->step != new->step || r->site2 ||
	    (d != r->size && d != -r->size) || 2 * r->size > r->step)
		return false;
	r->site2 = (d > 0 ? new->site : r->site) | REC_TWO;
	if (d < 0) {
		r->site = new->site;
		r->off = new->off;
	}
	r->size *= 2;
	return true;
}

static inline bool contiguous(uint32_t mask)
{
	uint32_t low = mask & -mask;

	return !(mask & (mask + low));
}

/* Is all of old's access ordered before all of the new one, as far as they touch the same bytes? false: perhaps not. */
static inline bool rec_ordered(const struct ws_ctx *c, const struct ws_rec *old, const struct ws_rec *new)
{
	return ws_hb_warp(c, old->who) || (!((old->who ^ c->me) >> WHO_TIME_BITS) && same_lanes(old, new));
}

static inline bool disjoint(const struct ws_rec *a, const struct ws_rec *b)
{
	uint32_t d;

	if ((same_map(a, b) && !(a->mask & b->mask)) || rec_hi(a) <= rec_lo(b) || rec_hi(b) <= rec_lo(a))
		return true;
	if (a->step != b->step)
		return false;
	d = (uint32_t)(b->off - a->off + (LINE << 3) * a->step) % a->step;   /* two fields of one structure */
	return d >= a->size && d + b->size <= a->step;
}

static inline bool covers(const struct ws_rec *new, const struct ws_rec *old)
{
	if (same_map(new, old) && !(old->mask & ~new->mask))
		return true;
	return contiguous(new->mask) && new->size == new->step && rec_lo(new) <= rec_lo(old) && rec_hi(new) >= rec_hi(old);
}

/* Ordered before it in every byte of old, touched by the new access or not: then the newer one may stand for both. */
static inline bool rec_before(const struct ws_ctx *c, const struct ws_rec *old, const struct ws_rec *new)
{
	return ws_hb_warp(c, old->who) || (!((old->who ^ c->me) >> WHO_TIME_BITS) && same_map(old, new) &&
	                                   !(old->mask & ~new->mask));
}

static void clip(int *lo, int *hi)
{
	*lo = *lo < 0 ? 0 : *lo;
	*hi = *hi > LINE ? LINE : *hi;
}

/* Each lane of rec on its own. */
static void each_lane(struct ws_ctx *c, const struct ws_rec *rec, void (*fn)(struct ws_ctx *, uint32_t, uint32_t, uint32_t))
{
	for (uint32_t m = rec->mask; m; m &= m - 1) {
		int l = __builtin_ctz(m), lo = rec->off + l * rec->step, hi = lo + rec->size;

		clip(&lo, &hi);
		if (lo < hi)
			fn(c, l, lo, hi);
	}
}

/* In a launch without finer order, two readers that no one writer can be ordered after make all others superfluous:
 * two blocks, or two warps of one block that no barrier has parted. */
static bool saturated(const struct ws_ctx *c, const struct ws_rec *new, const struct ws_ext *e)
{
	const struct ws_rec *first = c->line->r.who && covers(&c->line->r, new) ? &c->line->r : NULL;

	if (!c->l->simple)
		return false;
	for (uint32_t i = 0; i < e->nreads; i++) {
		const struct ws_rec *r = &e->reads[i];
		uint64_t x;

		if (!covers(r, new))
			continue;
		if (!first) {
			first = r;
			continue;
		}
		x = first->who ^ r->who;
		if (x >> 32)
			return true;
		if (x >> WHO_TIME_BITS && !((first->who ^ c->me) >> 32) && !ws_hb_warp(c, first->who) && !ws_hb_warp(c, r->who))
			return true;
	}
	return false;
}

/* Drops what a later read of the same warp stands for as well. */
static void compact_reads(struct ws_ext *e)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < e->nreads; i++) {
		const struct ws_rec *r = &e->reads[i];
		bool drop = false;

		for (uint32_t j = i + 1; j < e->nreads && j < i + 64 && !drop; j++)
			drop = !((e->reads[j].who ^ r->who) >> WHO_TIME_BITS) && same_map(&e->reads[j], r) &&
			       !(r->mask & ~e->reads[j].mask);
		if (!drop)
			e->reads[n++] = *r;
	}
	e->nreads = n;
	e->limit = n < 32 ? 64 : 2 * n;
}

static void more_reads(struct ws_ctx *c, const struct ws_rec *new)
{
	struct ws_ext *e = ws_cell_ext(c);
	uint32_t from = e->nreads > 8 ? e->nreads - 8 : 0;
	size_t cap = e->cap;

	for (uint32_t i = from; i < e->nreads; i++) {
		struct ws_rec *r = &e->reads[i];

		if (r->who == new->who && same_map(r, new) && !(new->mask & ~r->mask))
			return;
		if (rec_before(c, r, new) && covers(new, r)) {
			*r = *new;
			return;
		}
	}
	if (saturated(c, new, e))
		return;
	if (c->l->simple && e->nreads >= 16) {
		each_lane(c, new, ws_cell_install);
		return;
	}
	if (e->nreads >= (e->limit ? e->limit : 64))
		compact_reads(e);
	if (e->nreads == e->cap && ws_memory_full(c, new->mask))
		return;
	if (e->nreads == e->cap) {
		cap = cap ? 2 * cap : 2;         /* most often there are two */
		e->reads = ws_pool_grow(e->reads, e->cap * sizeof *e->reads, cap * sizeof *e->reads);
	}
	ws_memory_count(c->s, (cap - e->cap) * sizeof *e->reads);
	e->cap = cap;
	e->reads[e->nreads++] = *new;
}

static void check_lane(struct ws_ctx *c, uint32_t lane, uint32_t lo, uint32_t hi)
{
	ws_cell_check(c, lane, lo, hi);
}

/* Have cells nothing that the new access may meet? */
static bool no_cells(const struct ws_ext *e, const struct ws_rec *new)
{
	int lo = rec_lo(new), hi = rec_hi(new);

	clip(&lo, &hi);
	return ws_cell_empty(e, (uint32_t)lo, (uint32_t)hi);
}

/* Does the one lane of the new access know of it? */
static bool known(const struct ws_ctx *c, const struct ws_rec *old, const struct ws_rec *new)
{
	return c->b->has_k && !c->proxy && !(new->mask & (new->mask - 1)) &&
	       ws_hb_bad(c, old->who, old->mask, (uint32_t)__builtin_ctz(new->mask)) < 0;
}

/* No lane of the new access meets that one out of order. */
static inline bool apart(const struct ws_ctx *c, const struct ws_rec *old, const struct ws_rec *new)
{
	return !old->who || rec_ordered(c, old, new) || disjoint(old, new) || known(c, old, new);
}

static inline void whole_read(struct ws_ctx *c, const struct ws_rec *new)
{
	struct ws_line *line = c->line;
	struct ws_rec *r = &line->r;
	bool fine = apart(c, &line->w, new) && (!line->ext || apart(c, &line->ext->w2, new));

	if (__builtin_expect(!fine || (line->ext && line->ext->have & ROWS_WRITTEN && !no_cells(line->ext, new)), 0))
		each_lane(c, new, check_lane);
	if (!r->who || (rec_before(c, r, new) && covers(new, r)))
		*r = *new;
	else if (!(r->who == new->who && same_map(r, new) && !(new->mask & ~r->mask)) && !merge(r, new))
		more_reads(c, new);
}

static void clear_lane(struct ws_ctx *c, uint32_t lane, uint32_t lo, uint32_t hi)
{
	ws_cell_clear(c->line->ext, lo, hi);
}

/* A write stands for all older accesses to its bytes: what was not ordered before it has been reported. */
static void forget_older(struct ws_ctx *c, const struct ws_rec *new)
{
	struct ws_ext *e = c->line->ext;
	uint32_t n = 0;
	int lo = rec_lo(new), hi = rec_hi(new);

	clip(&lo, &hi);
	for (uint32_t i = 0; i < e->nreads; i++)
		if (!covers(new, &e->reads[i]))
			e->reads[n++] = e->reads[i];
	e->nreads = n;
	if (lo == 0 && hi == LINE && contiguous(new->mask) && new->size == new->step)
		ws_cell_reset(e);
	else if (e->have)
		each_lane(c, new, clear_lane);
}

static bool ext_fine(struct ws_ctx *c, const struct ws_rec *new)
{
	const struct ws_ext *e = c->line->ext;

	if (!apart(c, &e->w2, new) || (e->have && !no_cells(e, new)))
		return false;
	for (uint32_t i = 0; i < e->nreads; i++)
		if (!apart(c, &e->reads[i], new))
			return false;
	return true;
}

/* What the new write does not replace of those before it goes to w2, as long as each is to bytes of its own (the fields of a
 * structure, say), else to cells. */
static void keep_writes(struct ws_ctx *c, const struct ws_rec *new, bool first)
{
	struct ws_rec *w = &c->line->w;
	struct ws_ext *e = c->line->ext;

	if (e && e->w2.who && !disjoint(&e->w2, new)) {
		if (!covers(new, &e->w2) && !ws_memory_full(c, e->w2.mask))
			ws_cell_spill_write(c, &e->w2);
		e->w2.who = 0;
	}
	if (!first || ws_memory_full(c, w->mask))
		return;
	e = ws_cell_ext(c);
	if (!e->w2.who && disjoint(w, new))
		e->w2 = *w;
	else
		ws_cell_spill_write(c, w);
}

static inline void whole_write(struct ws_ctx *c, const struct ws_rec *new)
{
	struct ws_line *line = c->line;
	struct ws_rec *w = &line->w, *r = &line->r, now = *new;
	bool fine = apart(c, w, new) && apart(c, r, new), first = w->who && !covers(new, w);

	if (__builtin_expect(!fine || (line->ext && !ext_fine(c, new)), 0))
		each_lane(c, new, check_lane);
	if (first && w->who == new->who && w->site == new->site && same_map(w, new)) {
		now.mask |= w->mask;
		first = false;
	} else if (first && merge(w, new)) {
		now = *w;
		first = false;
	}
	if (first || line->ext)
		keep_writes(c, new, first);
	if (line->ext)
		forget_older(c, new);
	if (r->who && covers(&now, r))
		r->who = 0;
	*w = now;
}

static inline void whole(struct ws_ctx *c, uint64_t addr, uint64_t base, uint32_t step, uint32_t mask)
{
	struct ws_rec new = {.who = c->me, .site = c->site, .mask = mask, .off = (int16_t)(int64_t)(base - addr),
	                     .size = c->a->bytes, .step = step};

	if (!get_line(c, addr, LINE, c->mem)) {
		ws_memory_skip(c->s, mask);
		return;
	}
	if (c->a->kind == WS_READ)
		whole_read(c, &new);
	else
		whole_write(c, &new);
	ws_shadow_unlock(c);
}

/* Lane l of mask accesses base + l * step; step is a power of two and base so aligned that no lane is in two lines. */
static inline void regular(struct ws_ctx *c, uint64_t base, uint32_t step, uint32_t mask)
{
	uint32_t first = __builtin_ctz(mask), last = 31 - __builtin_clz(mask), lg = __builtin_ctz(step);
	uint64_t addr = (base + ((uint64_t)first << lg)) & ~(uint64_t)(LINE - 1);
	uint64_t end = base + ((uint64_t)last << lg) + c->a->bytes;

	if (end - addr <= LINE) {
		whole(c, addr, base, step, mask);
		return;
	}
	for (; (int64_t)(end - addr) > 0; addr += LINE) {
		uint32_t in = mask;

		if ((int64_t)(addr - base) > 0)
			in &= ~0u << ((addr - base + step - 1) >> lg);
		if ((int64_t)(addr + LINE - end) < 0)
			in &= ~(~0u << ((addr + LINE - base + step - 1) >> lg));
		if (in)
			whole(c, addr, base, step, in);
	}
}

void ws_regular(struct ws_ctx *c, uint64_t base, uint32_t step, uint32_t mask)
{
	regular(c, base, step, mask);
}

bool ws_regular_lane(struct ws_ctx *c, uint32_t lane, uint32_t lo)
{
	const uint32_t cells = 1u << ROW_W | 1u << ROW_R0 | 1u << ROW_R1 | 1u << ROW_SET;
	const struct ws_ext *e = c->line->ext;
	uint8_t size = c->a->bytes;
	struct ws_rec new = {.who = c->me, .site = c->site, .mask = 1u << lane, .off = (int16_t)(lo - lane * size),
	                     .size = size, .step = size};

	if (e && (e->have & cells || e->nreads > 2))
		return false;
	if (c->a->kind == WS_READ)
		whole_read(c, &new);
	else
		whole_write(c, &new);
	return true;
}

static inline bool whole_warp(const struct ws_shadow *s, const struct ws_access *a)
{
	return a->linear && a->bytes <= 32 && !(a->bytes & (a->bytes - 1)) && !(a->base & (a->bytes - 1)) &&
	       a->bytes >= s->config.granularity && (a->mem || a->space == WS_SPACE_SHARED);
}

static void new_site(struct ws_shadow *s, const struct ws_access *a)
{
	struct ws_site_info *chunk = s->sites[a->site->id >> CHUNK_BITS], *i;
	const struct ws_ptx_inst *inst = a->site->inst;
	uint32_t vec = inst && inst->vec > 1 ? inst->vec : 1;

	ws_spin_lock(&s->lock);
	if (!s->sites[a->site->id >> CHUNK_BITS]) {
		chunk = ws_alloc(CHUNK * sizeof *chunk);
		__atomic_store_n(&s->sites[a->site->id >> CHUNK_BITS], chunk, __ATOMIC_RELEASE);
	}
	i = &s->sites[a->site->id >> CHUNK_BITS][a->site->id & (CHUNK - 1)];
	if (!i->site) {
		i->kind = a->kind;
		i->sem = a->sem;
		i->scope = a->scope;
		i->atom = a->atom;
		i->async = a->async;
		i->bytes = a->bytes;
		i->elem = a->async ? 0 : a->bytes / vec;
		i->whole = a->kind == WS_ATOMIC ? i->elem : 0;
		if (!i->async && inst && inst->op == WS_OP_mbarrier)
			i->scope = WS_SCOPE_CLUSTER;         /* see shadow_async.c */
		__atomic_store_n(&i->site, a->site, __ATOMIC_RELEASE);       /* last: others look at it without the lock */
	}
	ws_spin_unlock(&s->lock);
}

static inline bool know_site(struct ws_shadow *s, const struct ws_access *a)
{
	uint32_t id = a->site->id;
	struct ws_site_info *chunk;

	if (id > SITE_ID)
		return false;
	chunk = __atomic_load_n(&s->sites[id >> CHUNK_BITS], __ATOMIC_ACQUIRE);
	if (!chunk || __atomic_load_n(&chunk[id & (CHUNK - 1)].site, __ATOMIC_ACQUIRE) != a->site)
		new_site(s, a);
	return true;
}

bool ws_shadow_know_site(struct ws_shadow *s, const struct ws_access *a)
{
	return know_site(s, a);
}

static inline void check(struct ws_ctx *c)
{
	const struct ws_access *a = c->a;

	c->global = a->space != WS_SPACE_SHARED;
	c->mem = a->mem;
	c->owner = a->peer && a->peer->state ? a->peer->state : c->b;
	c->as = c->me;
	c->place = NULL;
	c->proxy = c->must = false;
	c->site = a->site->id;
	c->slot = c->b->slot;
	if (!c->global) {
		if (!c->owner->shared_written)
			ws_log_flush(c->owner);
		if (c->owner != c->b && !a->async)
			ws_cluster_visit(c);
	}
	if (a->async) {
		ws_async_access(c);
	} else if (ws_access_is_weak(a) && whole_warp(c->s, a) && !c->w->holding) {
		c->cls = a->kind == WS_READ ? CLS_READ : CLS_WRITE;
		regular(c, a->base, a->bytes, a->mask);
	} else {
		ws_general(c);
	}
}

void ws_shadow_check(struct ws_ctx *c)
{
	check(c);
}

/* As rec_ordered, for what whole warps usually do; false: perhaps it is. */
static inline bool settled(const struct ws_ctx *c, const struct ws_rec *old, uint64_t map)
{
	return !old->who || ws_hb_warp(c, old->who) || (!((old->who ^ c->me) >> WHO_TIME_BITS) && old->map == map);
}

/* Field by field: a copy of a record that was just made in memory would have to wait for it. */
static inline void put_record(struct ws_rec *at, const struct ws_ctx *c, uint32_t mask, uint64_t map)
{
	at->who = c->me;
	at->site = c->site;
	at->mask = mask;
	at->map = map;
}

/* The most usual: a whole warp reads or writes whole lines of global memory, and each line is new or all of it ordered
 * before. What is done is what whole() does. Returns how many bytes of it are done, from the first line on. */
static inline uint32_t whole_lines(struct ws_shadow *s, struct ws_block_state *b, const struct ws_warp_state *w,
                                   const struct ws_access *a)
{
	struct ws_ctx c = {.s = s, .l = b->l, .me = w->me, .floor = b->floor, .wfloor = w->wfloor, .its = b->l->its,
	                   .global = true, .site = a->site->id};
	uint32_t bytes = a->bytes, lanes = LINE / bytes, all = lanes == WS_WARP ? ~0u : (1u << lanes) - 1, at = 0;

	for (; at < bytes * WS_WARP; at += LINE) {
		uint32_t mask = all << at / bytes;
		/* struct ws_rec, .off = -at, .size = .step = bytes; the lowest first */
		uint64_t map = (uint16_t)-(int32_t)at | (uint64_t)bytes << 16 | (uint64_t)bytes << 24;
		struct ws_line *line = global_line(&c, a->base + at, a->mem);
		const struct ws_ext *e;
		bool done;

		if (!line) {
			ws_memory_skip(s, mask);
			continue;
		}
		if (line->gen != c.l->gen)
			line_reset(line, c.l->gen);
		e = line->ext;
		done = settled(&c, &line->w, map) && settled(&c, &line->r, map) &&
		       !(e && (a->kind == WS_WRITE || e->have & ROWS_WRITTEN || e->w2.who)) && !(line->mark >> 1);
		if (done)
			put_record(a->kind == WS_READ ? &line->r : &line->w, &c, mask, map);
		if (done && a->kind == WS_WRITE)
			line->r.who = 0;
		if (c.l->lock)
			ws_line_unlock(line);
		if (!done)
			break;
	}
	return at;
}

static inline bool usual(const struct ws_shadow *s, const struct ws_warp_state *w, const struct ws_access *a)
{
	return a->linear && a->mask == ~0u && !(a->base & (LINE - 1)) && a->mem && ws_access_is_weak(a) && a->bytes >= 4 && a->bytes <= 32 &&
	       !(a->bytes & (a->bytes - 1)) && a->bytes >= s->config.granularity && !w->holding && !a->async;
}

/* The simulator did not tell of reads of memory that this launch was not to write. */
static void unexpected_write(struct ws_shadow *s, struct ws_obs_launch *l, struct ws_mem *m)
{
	struct ws_buf text = {0};

	if (__atomic_exchange_n(&m->written, l->serial, __ATOMIC_RELAXED) == l->serial)
		return;
	ws_buf_printf(&text, "kernel '%s' wrote memory through a pointer that had left its allocation; reads of that memory "
	              "before, in the same launch, were not checked", l->name ? l->name : "?");
	ws_report_limit(s->report, text.data);
	ws_buf_free(&text);
}

static inline void expect_write(struct ws_shadow *s, struct ws_obs_launch *l, const struct ws_access *a)
{
	if (!l->unwritten_untold || (a->mem && a->mem->written >= l->serial))
		return;
	if (a->mem) {
		unexpected_write(s, l, a->mem);
		return;
	}
	for (uint32_t m = a->mask; m; m &= m - 1) {
		struct ws_mem *mem = s->gpu ? ws_gpu_mem_find(s->gpu, a->addr[__builtin_ctz(m)]) : NULL;

		if (mem && mem->written < l->serial)
			unexpected_write(s, l, mem);
	}
}

static void on_access(void *self, struct ws_obs_warp *ow, const struct ws_access *a)
{
	struct ws_warp_state *w = ow->state;
	struct ws_ctx c;

	if (!w || !a->mask)
		return;
	c.s = self;
	c.b = ow->block->state;
	if (!(a->space != WS_SPACE_SHARED ? c.s->config.global : c.s->config.shared) || !know_site(c.s, a))
		return;
	if (a->space == WS_SPACE_SHARED && c.b->log_kinds && ws_log_note(c.b, w, a))
		return;
	if (a->kind != WS_READ && a->space != WS_SPACE_SHARED) {
		expect_write(c.s, c.b->l->l, a);
		if (c.s->latest)
			ws_latest_note(c.s->latest, ow, a);
	}
	c.b->accesses += a->mask == ~0u ? WS_WARP : (uint32_t)__builtin_popcount(a->mask);
	if (usual(self, w, a) && whole_lines(self, c.b, w, a) == a->bytes * WS_WARP)
		return;
	c.l = c.b->l;
	c.w = w;
	c.a = a;
	c.me = w->me;
	c.floor = c.b->floor;
	c.wfloor = w->wfloor;
	c.its = c.l->its;
	check(&c);
}

/* ---- launches, blocks ---- */
static void on_launch_begin(void *self, struct ws_obs_launch *l)
{
	struct ws_shadow *s = self;
	struct ws_launch_state *ls = &s->launch;

	*ls = (struct ws_launch_state){.l = l, .its = l->its, .lock = l->host_threads > 1};
	ls->left_out = ws_detect_left_out(s->filter, l->name);
	ls->checked = !ls->left_out;
	ls->cluster = l->cluster[0] != 0;        /* of one block too: its barrier synchronizes */
	ls->gen = ++s->gen;
	if (ls->lock) {
		ws_know_parallel(true);
		s->latest = ws_latest_new(l->host_threads);
	}
	ws_memory_launch(s);
	ws_shadow_scan(ls);
	ws_private_launch(ls);
	ws_team_launch(s);
	s->nprivate = s->free_private = 0;      /* lines of older launches are empty */
	l->unwritten_untold = true;
	l->state = ls->checked ? ls : NULL;
}

static void on_launch_end(void *self, struct ws_obs_launch *l, bool completed)
{
	struct ws_shadow *s = self;
	struct ws_kernel_row row = {.name = l->name ? l->name : "?", .launches = 1, .accesses = s->launch.accesses + l->untold,
	                            .checked = s->launch.checked};

	ws_shadow_flush(s);
	s->accesses += row.accesses;
	ws_memory_tell(s);
	ws_report_kernel(s->report, &row);
	if (!s->launch.checked)
		ws_report_unchecked(s->report, row.name, s->launch.left_out);
	l->state = NULL;
	if (s->launch.lock)
		ws_know_parallel(false);
	ws_latest_free(s->latest);
	s->latest = NULL;
	memset(&s->launch, 0, sizeof s->launch);
}

struct ws_slot_info *ws_shadow_slot(struct ws_shadow *s, uint32_t slot)
{
	return &s->slots[slot >> CHUNK_BITS][slot & (CHUNK - 1)];
}

uint32_t ws_shadow_new_slot(struct ws_shadow *s, uint64_t block)
{
	uint32_t slot;

	ws_shadow_lock_lists(s);
	slot = ++s->launch.nslots;
	if (!s->slots[slot >> CHUNK_BITS])
		__atomic_store_n(&s->slots[slot >> CHUNK_BITS], ws_alloc(CHUNK * sizeof **s->slots), __ATOMIC_RELEASE);
	*ws_shadow_slot(s, slot) = (struct ws_slot_info){.block = block};
	ws_shadow_unlock_lists(s);
	return slot;
}

static struct ws_block_state *take_block(struct ws_shadow *s)
{
	struct ws_block_state *b;

	ws_shadow_lock_lists(s);
	b = s->free_blocks;
	if (b)
		s->free_blocks = b->next;
	ws_shadow_unlock_lists(s);
	return b ? b : ws_alloc(sizeof *b);
}

/* A new barrier interval: the shared lines are empty again. */
void ws_shadow_new_interval(struct ws_block_state *b)
{
	b->shared_written = false;
	ws_log_open(b);
	if (++b->gen != 0)
		return;
	for (uint32_t i = 0; i < b->cap_lines; i++)
		line_reset(&b->lines[i], 0);
	b->gen = 1;
}

static void block_memory(struct ws_block_state *b, uint32_t lines, uint32_t warps)
{
	if (lines > b->cap_lines) {
		b->lines = ws_realloc(b->lines, lines * sizeof *b->lines);
		memset(b->lines + b->cap_lines, 0, (lines - b->cap_lines) * sizeof *b->lines);
		ws_memory_count(b->s, (lines - b->cap_lines) * sizeof *b->lines);
		b->cap_lines = lines;
	}
	b->nlines = lines;
	if (warps > b->nwarps)
		b->warps = ws_realloc(b->warps, warps * sizeof *b->warps);
	b->nwarps = warps;
	memset(b->warps, 0, warps * sizeof *b->warps);
}

static void on_block_begin(void *self, struct ws_obs_block *ob)
{
	struct ws_shadow *s = self;
	struct ws_block_state *b;

	if (!ob->launch->state)
		return;
	b = take_block(s);
	b->s = s;
	b->l = ob->launch->state;
	b->b = ob;
	b->slot = b->first_slot = ws_shadow_new_slot(s, ob->linear);
	b->now = b->floor = 1;
	b->has_k = b->has_own = b->saw_flag = b->locks = false;
	b->kb = (struct ws_facts){.k = NULL};
	b->accesses = 0;
	b->cl = NULL;
	block_memory(b, (ob->launch->shared_bytes + LINE - 1) / LINE, ob->launch->warps);
	for (uint32_t i = 0; i < b->nwarps; i++)
		ws_shadow_set_time(&b->warps[i], b, 1);
	ws_shadow_new_interval(b);
	if (b->l->cluster)
		ws_cluster_block_begin(b);
	ob->state = b;
	ob->notes = &b->log;
}

static void on_block_end(void *self, struct ws_obs_block *ob)
{
	struct ws_shadow *s = self;
	struct ws_block_state *b = ob->state;

	if (!b)
		return;
	if (b->l->cluster)
		ws_cluster_block_end(b);
	ws_async_block_end(b);
	ws_sync_block_end(b);
	ws_log_close(b);
	ob->state = NULL;
	ob->notes = NULL;
	__atomic_fetch_add(&b->l->accesses, b->accesses, __ATOMIC_RELAXED);
	ws_shadow_lock_lists(s);
	b->next = s->free_blocks;
	s->free_blocks = b;
	ws_shadow_unlock_lists(s);
}

static void on_warp_begin(void *self, struct ws_obs_warp *w)
{
	struct ws_block_state *b = w->block->state;

	w->state = NULL;
	if (!b || w->index >= b->nwarps)
		return;
	b->warps[w->index].w = w;
	w->state = &b->warps[w->index];
}

static void on_warp_end(void *self, struct ws_obs_warp *w)
{
	if (w->state)
		((struct ws_warp_state *)w->state)->w = NULL;
	w->state = NULL;
}

static void on_mem_free(void *self, struct ws_mem *m)
{
	struct ws_shadow_mem *sm = m->obs;

	if (!sm)
		return;
	m->obs = NULL;
	ws_memory_free(self, sm);
}

/* ---- the detector ---- */
static void *create(const struct ws_detect_config *config, struct ws_report *report)
{
	struct ws_shadow *s = ws_alloc(sizeof *s);

	s->config = *config;
	if (!s->config.granularity)
		s->config.granularity = 1;
	s->filter = ws_detect_filter_new(config);
	s->report = report;
	s->time_limit = WHO_TIME;
	s->sites = ws_alloc(SITE_CHUNKS * sizeof *s->sites);
	s->slots = ws_alloc(CHUNKS * sizeof *s->slots);
	s->locksets = ws_alloc((LOCKSET_MANY + 1) * sizeof *s->locksets);
	return s;
}

static void attach(void *self, struct ws_gpu *gpu)
{
	((struct ws_shadow *)self)->gpu = gpu;
}

static void free_block(struct ws_block_state *b)
{
	for (uint32_t i = 0; i < b->cap_lines; i++)
		ws_cell_free(b->lines[i].ext);
	ws_log_free(b);
	ws_async_free(b);
	free(b->visits);
	free(b->log.tags);
	free(b->lines);
	free(b->warps);
	free(b->arrivals);
	free(b->dups);
	ws_sync_free(b);
	free(b);
}

static void destroy(void *self)
{
	struct ws_shadow *s = self;

	for (struct ws_block_state *b = s->free_blocks, *next; b; b = next) {
		next = b->next;
		free_block(b);
	}
	for (int i = 0; i < SITE_CHUNKS; i++)
		free(s->sites[i]);
	for (int i = 0; i < CHUNKS && s->slots[i]; i++)
		free(s->slots[i]);
	ws_shadow_report_free(s);
	free(s->sites);
	free(s->slots);
	free(s->locksets);
	ws_private_free(s);
	ws_team_free(s);
	ws_detect_filter_free(s->filter);
	free(s);
}

static const struct ws_observer_ops shadow_ops = {
	.abi = WS_OBSERVER_ABI,
	.name = "shadow",
	.help = "happens-before race detector with shadow memory",
	.needs = WS_NEED_GLOBAL | WS_NEED_SHARED | WS_NEED_SYNC | WS_NEED_VALUES,
	.launch_begin = on_launch_begin,
	.launch_end = on_launch_end,
	.block_begin = on_block_begin,
	.block_end = on_block_end,
	.warp_begin = on_warp_begin,
	.warp_end = on_warp_end,
	.access = on_access,
	.barrier = ws_sync_barrier,
	.warp_sync = ws_sync_warp,
	.fence = ws_sync_fence,
	.mem_free = on_mem_free,
	.barrier_arrive = ws_sync_arrive,
	.async_wait = ws_async_wait,
	.mbarrier = ws_async_mbarrier,
	.cluster_barrier = ws_cluster_barrier,
};

const struct ws_detector ws_detector_shadow = {
	.name = "shadow",
	.help = "every way in which CUDA orders memory, byte by byte (default)",
	.ops = &shadow_ops,
	.create = create,
	.attach = attach,
	.destroy = destroy,
	.stats = ws_memory_stats,
	.measure = ws_memory_measure,
};

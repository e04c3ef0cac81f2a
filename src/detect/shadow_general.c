/* shadow_general.c - accesses that are not a plain run of memory, lane by lane (shadow_priv.h). */
#include "detect/shadow_priv.h"

#include <stdlib.h>
#include <string.h>

/* A lane's bytes in the current line. Coarser granularity widens them. */
static inline void bytes_in_line(struct ws_ctx *c, uint64_t addr, uint32_t bytes, uint32_t *lo, uint32_t *hi)
{
	uint32_t g = c->s->config.granularity;
	uint64_t from = addr > c->line_addr ? addr - c->line_addr : 0, to = addr + bytes - c->line_addr;

	c->real_lo = (uint32_t)from;
	c->real_hi = to > LINE ? LINE : (uint32_t)to;
	*lo = from & ~(uint64_t)(g - 1);
	*hi = to > LINE ? LINE : (to + g - 1) & ~(uint64_t)(g - 1);
}

/* For bytes from addr on, or for all of its line (bytes = 0). false: there is no such memory, or no room to check it. */
static bool enter(struct ws_ctx *c, uint64_t addr, uint32_t bytes)
{
	if (c->global && !c->a->mem) {
		c->mem = c->s->gpu ? ws_gpu_mem_find(c->s->gpu, addr) : NULL;
		if (!c->mem)
			return false;
	}
	return ws_shadow_line(c, bytes ? addr : addr & ~(uint64_t)(LINE - 1), bytes ? bytes : LINE, c->mem);
}

/* Lanes of `todo`, from its lowest on, one after the other, whose bytes begin (tail: end) in the line of the first. With
 * coarser granularity all such lanes: they may meet in a granule although their bytes do not. */
static uint32_t run_of(const struct ws_ctx *c, uint32_t todo, bool tail)
{
	const struct ws_access *a = c->a;
	uint32_t run = 0, add = tail ? a->bytes - 1 : 0;
	bool all = c->s->config.granularity > 1;
	uint64_t line = (a->addr[__builtin_ctz(todo)] + add) >> LINE_BITS;

	for (uint32_t m = todo; m; m &= m - 1) {
		int l = __builtin_ctz(m);

		if ((a->addr[l] + add) >> LINE_BITS == line)
			run |= 1u << l;
		else if (!all)
			break;
	}
	return run;
}

/* With what lock each lane does it is kept, so that reports can name it. */
static void each(struct ws_ctx *c, uint32_t run, void (*fn)(struct ws_ctx *, uint32_t, uint32_t, uint32_t))
{
	for (uint32_t m = run; m; m &= m - 1) {
		uint32_t l = __builtin_ctz(m), lo, hi;

		if (c->w->holding)
			c->site = c->a->site->id | ws_locks_of(c, l) << SITE_BITS;
		bytes_in_line(c, c->a->addr[l], c->a->bytes, &lo, &hi);
		fn(c, l, lo, hi);
	}
}

/* A lane alone in c->line. */
static bool alone(struct ws_ctx *c, uint32_t run)
{
	const struct ws_access *a = c->a;
	uint32_t l = __builtin_ctz(run);

	if (run & (run - 1) || a->async || a->bytes & (a->bytes - 1) || a->bytes > 32 || a->bytes < c->s->config.granularity ||
	    a->addr[l] & (a->bytes - 1))
		return false;
	if (c->w->holding)
		c->site = a->site->id | ws_locks_of(c, l) << SITE_BITS;
	return ws_regular_lane(c, l, a->addr[l] & (LINE - 1));
}

/* All lanes of `todo`, line after line; each line is checked wholly before it is changed, so that the lanes of one
 * instruction do not meet each other. */
static void lines(struct ws_ctx *c, uint32_t todo, bool tail)
{
	const struct ws_access *a = c->a;

	while (todo) {
		uint32_t run = run_of(c, todo, tail);

		todo &= ~run;
		if (!enter(c, a->addr[__builtin_ctz(run)] + (tail ? a->bytes - 1 : 0), tail || run & (run - 1) ? 0 : a->bytes)) {
			ws_memory_skip(c->s, run);
			continue;
		}
		if (!alone(c, run)) {
			each(c, run, ws_cell_check);
			if (c->must || !ws_memory_full(c, run))
				each(c, run, ws_cell_install);
		}
		ws_shadow_unlock(c);
	}
}

/* Lanes whose bytes are in two lines (misaligned ones): their ends. */
static uint32_t straddlers(const struct ws_access *a)
{
	uint32_t s = 0;

	for (uint32_t m = a->mask; m; m &= m - 1) {
		int l = __builtin_ctz(m);

		if ((a->addr[l] ^ (a->addr[l] + a->bytes - 1)) >> LINE_BITS)
			s |= 1u << l;
	}
	return s;
}

/* ---- two lanes of one instruction that write the same bytes ---- */
enum { DUPS = 2048, DUP_BITS = 11 };         /* more than 32 lanes with 32 keys each fill halfway */
struct ws_dup { uint64_t key; uint32_t stamp, lane; };

static struct ws_dup *dup_at(struct ws_block_state *b, uint64_t key)
{
	uint32_t i = (uint32_t)(key * 0x9E3779B97F4A7C15u >> (64 - DUP_BITS));

	while (b->dups[i].stamp == b->dup_stamp && b->dups[i].key != key)
		i = (i + 1) & (DUPS - 1);
	return &b->dups[i];
}

static void same_bytes(struct ws_ctx *c, uint32_t lane, uint32_t first)
{
	const struct ws_access *a = c->a;
	uint64_t from = a->addr[lane] > a->addr[first] ? a->addr[lane] : a->addr[first];
	uint64_t to = (a->addr[lane] < a->addr[first] ? a->addr[lane] : a->addr[first]) + a->bytes;
	struct ws_slot other = {.who = c->as, .site = c->site, .mask = 1u << first};

	if (from >= to || (c->global && !c->a->mem && !enter(c, from, (uint32_t)(to - from))))
		return;
	if (c->global && !c->a->mem)
		ws_shadow_unlock(c);
	c->line_addr = from & ~(uint64_t)(LINE - 1);
	ws_shadow_conflict(c, lane, from - c->line_addr, to - c->line_addr, &other, CLS_WRITE, first, true);
}

/* Are these lanes' bytes apart? false: perhaps not, for there are too many to see it quickly. */
static bool few_apart(const struct ws_access *a)
{
	enum { FEW = 4 };
	uint32_t rest = a->mask;

	for (int n = 0; n < FEW && rest; n++) {
		uint64_t addr = a->addr[__builtin_ctz(rest)];

		rest &= rest - 1;
		if (ws_gpu_lanes_in(a->addr, addr - (a->bytes - 1), 2 * a->bytes - 1) & rest)
			return false;
	}
	return !rest;
}

static void same_instruction(struct ws_ctx *c)
{
	const struct ws_access *a = c->a;
	struct ws_block_state *b = c->b;
	uint64_t all = a->bytes;
	uint32_t step;

	if (few_apart(a))
		return;
	if (!b->dups)
		b->dups = ws_alloc(DUPS * sizeof *b->dups);
	if (++b->dup_stamp == 0) {
		memset(b->dups, 0, DUPS * sizeof *b->dups);
		b->dup_stamp = 1;
	}
	for (uint32_t m = a->mask; m; m &= m - 1)
		all |= a->addr[__builtin_ctz(m)];
	step = all & 3 ? 1 : 4;
	for (uint32_t m = a->mask; m; m &= m - 1) {
		uint32_t l = __builtin_ctz(m), last = ~0u;

		for (uint32_t i = 0; i < a->bytes; i += step) {
			struct ws_dup *d = dup_at(b, a->addr[l] + i);

			if (d->stamp != b->dup_stamp)
				*d = (struct ws_dup){a->addr[l] + i, b->dup_stamp, l};
			else if (d->lane != last)
				same_bytes(c, l, last = d->lane);
		}
	}
}

/* ---- strong accesses ---- */
static void hear(struct ws_ctx *c, uint32_t lane, uint64_t addr, uint32_t size)
{
	struct ws_loc *loc;

	if (c->l->simple || c->cls == CLS_SWRITE)
		return;
	loc = ws_cell_heard(c, addr, size, NULL);
	if (!loc && ws_sync_any(c->w))
		ws_sync_read(c, lane, NULL, addr);
	for (; loc; loc = ws_cell_heard(c, addr, size, loc))
		ws_sync_read(c, lane, loc, addr);
}

static void strong_element(struct ws_ctx *c, uint32_t lane, uint64_t addr, uint32_t size)
{
	bool first = ws_access_acquires(c->a);         /* it is itself behind what was released there (PTX ISA 9.0, Causality Order) */
	uint32_t lo, hi;
	struct ws_loc *loc;

	if (!enter(c, addr, size))
		return;
	bytes_in_line(c, addr, size, &lo, &hi);
	if (first)
		hear(c, lane, addr, size);
	ws_cell_check(c, lane, lo, hi);
	if (!c->b->saw_flag && c->cls != CLS_SWRITE)
		c->b->saw_flag = ws_cell_flag(c, lo);
	if (!first)
		hear(c, lane, addr, size);
	ws_cell_install(c, lane, lo, hi);
	if (!c->l->simple && c->cls != CLS_SREAD) {
		loc = ws_cell_loc(c, addr, size, ws_sync_any(c->w) || c->b->kb.sc || ws_access_releases(c->a) || c->l->depends || c->line->ext->have >> ROW_LOC & 1,
		                  c->cls == CLS_RMW);
		if (loc)
			ws_sync_write(c, lane, loc, addr, c->cls == CLS_RMW || loc->size != size);
	}
	ws_shadow_unlock(c);
}

/* Atomics of 4 bytes on words that nothing but that instruction touches, by warps without a fence behind them. */
static bool common_atomic(struct ws_ctx *c, uint32_t lane)
{
	uint64_t addr = c->a->addr[lane];
	bool done;

	if (!enter(c, addr, c->a->bytes))
		return true;
	done = ws_cell_atomic(c, lane, addr & (LINE - 1));
	ws_shadow_unlock(c);
	return done;
}

static bool common(const struct ws_ctx *c)
{
	const struct ws_access *a = c->a;

	return a->kind == WS_ATOMIC && a->bytes == 4 && c->s->config.granularity <= 4 && !ws_sync_any(c->w) && !c->b->kb.sc && !c->w->holding &&
	       (a->sem == WS_SEM_RELAXED || c->l->simple);
}

static void strong(struct ws_ctx *c)
{
	const struct ws_access *a = c->a;
	uint32_t elem = c->s->sites[a->site->id >> CHUNK_BITS][a->site->id & (CHUNK - 1)].elem;

	bool easy = common(c), private = elem == a->bytes && ws_private_strong(c);
	uint32_t todo = a->mask;

	c->must = true;
	if (private)
		todo = ws_private_team(c);
	if (c->global && todo & (todo - 1))
		ws_shadow_prefetch(a, todo);
	if (private && todo)
		ws_private_prefetch(c, todo);
	if (a->kind != WS_READ)
		ws_shadow_slot(c->s, c->b->slot)->flags |= SLOT_PUBLISHED;
	if (a->sem >= WS_SEM_ACQUIRE && a->sem <= WS_SEM_SC)
		ws_shadow_slot(c->s, c->b->slot)->flags |= a->scope > WS_SCOPE_CTA ? SLOT_FENCED : SLOT_FENCED_CTA;
	if (easy && !c->global && a->wrote == a->mask && !(c->l->lock && c->l->cluster)) {
		c->cls = CLS_RMW;
		todo = ws_cell_atomics(c, todo);
	}
	for (; (todo = private ? ws_private_atomics(c, todo) : todo); todo &= todo - 1) {
		uint32_t l = __builtin_ctz(todo);

		c->cls = a->kind == WS_READ ? CLS_SREAD : a->kind == WS_WRITE ? CLS_SWRITE : a->wrote >> l & 1 ? CLS_RMW : CLS_SREAD;
		if (easy && c->cls == CLS_RMW && common_atomic(c, l))
			continue;
		if (c->w->holding)
			c->site = a->site->id | ws_locks_of(c, l) << SITE_BITS;
		for (uint32_t at = 0; at < a->bytes; at += elem)
			strong_element(c, l, a->addr[l] + at, elem);
	}
	if (a->kind == WS_ATOMIC)
		ws_locks_atomic(c);
	else if (a->kind == WS_WRITE && c->w->holding)
		ws_locks_store(c);
}

/* ---- weak ones ---- */
enum { MAX_STEP = 32 };              /* wider ones have too few lanes a line */

/* Lanes from `first` on, without a gap, that access places in steps of *step; or all the same (*step = 0). */
static inline uint32_t run_from(const struct ws_access *a, uint32_t todo, uint32_t first, uint32_t *step)
{
	uint32_t l = first + 1;
	uint64_t at = a->addr[first], d = l < WS_WARP && todo >> l & 1 ? a->addr[l] - at : a->bytes;

	if (d && (d < a->bytes || d > MAX_STEP || d & (d - 1)))
		d = a->bytes;
	while (l < WS_WARP && todo >> l & 1 && a->addr[l] == at + d)
		at += d, l++;
	*step = (uint32_t)d;
	return (l == WS_WARP ? ~0u : (1u << l) - 1) & (~0u << first);
}

enum { LONG_RUN = 8 };               /* lanes that are worth a record for a whole line */

static void short_run(struct ws_ctx *c, uint32_t run, uint32_t step)
{
	const struct ws_access *a = c->a;

	while (run) {
		uint32_t l = __builtin_ctz(run), same = step ? 1u << l : run, lo = a->addr[l] & (LINE - 1);

		run &= ~same;
		if (!enter(c, a->addr[l], a->bytes)) {
			ws_memory_skip(c->s, same);
			continue;
		}
		if (!(same & (same - 1)) && ws_regular_lane(c, l, lo)) {
			ws_shadow_unlock(c);
			continue;
		}
		if (ws_memory_full(c, same))
			for (uint32_t m = same; m; m &= m - 1)
				ws_cell_check(c, __builtin_ctz(m), lo, lo + a->bytes);
		else if (c->cls == CLS_READ)
			ws_cell_read(c, same, lo, lo + a->bytes);
		else
			for (uint32_t m = same; m; m &= m - 1)
				ws_cell_write(c, __builtin_ctz(m), lo, lo + a->bytes);
		ws_shadow_unlock(c);
	}
}

static void by_runs(struct ws_ctx *c)
{
	const struct ws_access *a = c->a;

	for (uint32_t todo = a->mask; todo;) {
		uint32_t first = __builtin_ctz(todo), step, run = run_from(a, todo, first, &step);

		todo &= ~run;
		if (step && run >> first >> (LONG_RUN - 1))
			ws_regular(c, a->addr[first] - (uint64_t)first * step, step, run);
		else
			short_run(c, run, step);
	}
}

/* Naturally aligned, in one stretch of memory, not widened: no lane is in two lines. */
static bool regular(const struct ws_ctx *c)
{
	const struct ws_access *a = c->a;
	uint64_t all = 0;

	if ((c->global && !a->mem) || a->bytes & (a->bytes - 1) || a->bytes > 32 || a->bytes < c->s->config.granularity ||
	    c->w->holding)
		return false;
	for (uint32_t m = a->mask; m; m &= m - 1)
		all |= a->addr[__builtin_ctz(m)];
	return !(all & (a->bytes - 1));
}

/* The simulator says where the lanes are: all of them, aligned, none in another's bytes; or at one place, reading. */
static bool shaped(struct ws_ctx *c)
{
	const struct ws_access *a = c->a;

	if (a->shape == WS_SHAPE_ANY || (c->global && !a->mem) || a->bytes > 32 || a->bytes < c->s->config.granularity ||
	    c->w->holding || a->bytes & (a->bytes - 1))
		return false;
	if (a->shape == WS_SHAPE_SAME) {
		if (c->cls != CLS_READ || a->addr[__builtin_ctz(a->mask)] & (a->bytes - 1))
			return false;
		short_run(c, a->mask, 0);
		return true;
	}
	if (a->shape == WS_SHAPE_HALVES) {
		ws_regular(c, a->addr[0], a->bytes, 0xffff);
		ws_regular(c, a->addr[16] - 16ull * a->bytes, a->bytes, 0xffff0000);
		return true;
	}
	if (a->step > MAX_STEP || a->step & (a->step - 1))
		return false;
	ws_regular(c, a->addr[0], a->step, ~0u);
	return true;
}

static void weak(struct ws_ctx *c)
{
	uint32_t two;

	if (shaped(c))
		return;
	if (regular(c)) {
		by_runs(c);
		return;
	}
	two = straddlers(c->a);
	lines(c, c->a->mask, false);
	if (two)
		lines(c, two, true);
}

static void weak_write(struct ws_ctx *c)
{
	const struct ws_access *a = c->a;

	if (a->mask & (a->mask - 1) && !a->linear && (a->shape == WS_SHAPE_ANY || a->shape == WS_SHAPE_SAME))
		same_instruction(c);
	weak(c);
}

static void weak_access(struct ws_ctx *c)
{
	if (c->cls == CLS_WRITE)
		weak_write(c);
	else
		weak(c);
}

uint32_t ws_general_met(const struct ws_access *a, uint32_t lanes)
{
	uint32_t met = 0;

	for (uint32_t m = lanes; m; m &= m - 1)
		met |= ws_gpu_lanes_in(a->addr, a->addr[__builtin_ctz(m)] - (a->bytes - 1), 2 * a->bytes - 1);
	return met;
}

/* What lanes do in memory of their own is only noted; that of the others is checked. When they write the same bytes, all of it
 * is checked (again, for some). */
static void partly_private(struct ws_ctx *c)
{
	const struct ws_access *a = c->a;
	uint32_t left = ws_private_weak(c);
	struct ws_access others;

	if (!left)
		return;
	if (left != a->mask && (c->cls == CLS_READ || !(ws_general_met(a, left) & a->mask & ~left))) {
		others = *a;
		others.mask = left;
		others.wrote &= left;
		others.shape = a->shape == WS_SHAPE_SAME ? WS_SHAPE_SAME : WS_SHAPE_ANY;
		c->a = &others;
	}
	weak_access(c);
	c->a = a;
}

/* Bytes without a gap, by one lane, line after line. */
static void stretch(struct ws_ctx *c, uint32_t lane, uint64_t from, uint64_t to, bool checks)
{
	for (uint64_t at = from, next; at < to; at = next) {
		uint32_t lo, hi;

		next = (at | (LINE - 1)) + 1;
		if (!enter(c, at, (uint32_t)((next < to ? next : to) - at)))
			continue;
		bytes_in_line(c, at, (uint32_t)((next < to ? next : to) - at), &lo, &hi);
		if (checks)
			ws_cell_check(c, lane, lo, hi);
		ws_cell_install(c, lane, lo, hi);
		ws_shadow_unlock(c);
	}
}

void ws_general_install(struct ws_ctx *c)
{
	const struct ws_access *a = c->a;

	for (uint32_t m = a->mask; m; m &= m - 1) {
		uint32_t l = __builtin_ctz(m);

		stretch(c, l, a->addr[l], a->addr[l] + a->bytes, false);
	}
}

void ws_general_async(struct ws_ctx *c)
{
	const struct ws_access *a = c->a;
	uint32_t two;

	if (a->issuer < WS_WARP) {           /* a piece of a bulk operation */
		stretch(c, a->issuer, a->addr[__builtin_ctz(a->mask)], a->addr[31 - __builtin_clz(a->mask)] + a->bytes, true);
		return;
	}
	if (c->cls == CLS_WRITE && a->mask & (a->mask - 1))
		same_instruction(c);
	two = straddlers(a);
	lines(c, a->mask, false);
	if (two)
		lines(c, two, true);
}

void ws_general(struct ws_ctx *c)
{
	const struct ws_access *a = c->a;

	if (!ws_access_is_weak(a)) {
		strong(c);
		return;
	}
	c->cls = a->kind == WS_WRITE ? CLS_WRITE : CLS_READ;
	if (c->l->private && c->global && a->mask & (c->w->alone | c->w->holding))
		partly_private(c);
	else
		weak_access(c);
	if (c->cls == CLS_WRITE && c->w->holding)
		ws_locks_store(c);
}

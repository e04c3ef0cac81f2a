/* shadow_cell.c - accesses that touch a shadow line in pieces, and strong ones (shadow_priv.h).
 *
 * A cell is 4 bytes, or 1 once something smaller was accessed in its line. Per cell are kept: the newest weak write,
 * weak reads, the newest strong write, strong reads. Whatever a new access is ordered after and stands for is dropped
 * (Flanagan, Freund, "FastTrack", 2009, for threads with one clock each); two readers that remain and more go to a set.
 *
 * Strong writes: an atomic that reads and writes has observed all strong writes to its cell before it, which therefore
 * are ordered before whatever it is ordered before (PTX ISA 9.0, Memory Consistency Model, Causality Order): only the
 * newest need be kept, unless scopes narrower than .gpu are about. For the same reason the first strong reads that saw
 * the newest one are kept as its observers. */
#include "detect/shadow_priv.h"

#include <stdlib.h>
#include <string.h>

struct cells { uint32_t from, to; };

/* lo..hi are in the part of the line that e has; cells are counted from its beginning. */
static inline struct cells cells_of(const struct ws_ext *e, uint32_t lo, uint32_t hi)
{
	lo -= e->from;
	hi -= e->from;
	return e->bytes ? (struct cells){lo, hi} : (struct cells){lo / 4, (hi + 3) / 4};
}

static inline bool has(const struct ws_ext *e, enum ws_row r)
{
	return e->have >> r & 1;
}

/* ---- sets ---- */
static uint32_t set_hash(uint64_t who, uint8_t cls)
{
	return (uint32_t)(((who >> WHO_TIME_BITS) * 4 + cls) * 0x9E3779B97F4A7C15u >> 32);
}

static void set_link(struct ws_set *set, uint32_t i)
{
	uint32_t *at = &set->bucket[set_hash(set->e[i].s.who, set->e[i].cls) & (set->nbuckets - 1)];

	set->e[i].next = *at;
	*at = i + 1;
}

/* Drops dead entries (empty masks) and makes the table fit. */
static void set_rehash(struct ws_shadow *s, struct ws_set *set)
{
	uint32_t n = 0, before = set->nbuckets;

	memset(set->count, 0, sizeof set->count);
	for (uint32_t i = 0; i < set->n; i++) {
		if (!set->e[i].s.mask)
			continue;
		set->count[set->e[i].cls]++;
		set->e[n++] = set->e[i];
	}
	set->n = n;
	while (set->nbuckets < 2 * n + 8)
		set->nbuckets = set->nbuckets ? set->nbuckets * 2 : 8;
	set->bucket = ws_realloc(set->bucket, set->nbuckets * sizeof *set->bucket);
	memset(set->bucket, 0, set->nbuckets * sizeof *set->bucket);
	ws_memory_count(s, (set->nbuckets - before) * sizeof *set->bucket);
	for (uint32_t i = 0; i < n; i++)
		set_link(set, i);
}

static const struct ws_site_info *site_of(const struct ws_ctx *c, uint32_t site)
{
	return &c->s->sites[(site & SITE_ID) >> CHUNK_BITS][site & (CHUNK - 1)];
}

/* A strong access with a narrower scope than `new` (or another size) races with more than `new` does: keep it. */
static bool fragile(const struct ws_ctx *c, uint32_t old, uint32_t new)
{
	const struct ws_site_info *o = site_of(c, old), *n = site_of(c, new);

	return (o->whole && o->whole != n->whole) || n->scope > o->scope;
}

/* May the access at hand stand for the strong one `old`, if that is ordered before it? */
static bool stands_for(const struct ws_ctx *c, const struct ws_slot *old)
{
	return !fragile(c, old->site, c->site) && (!c->l->narrow || !((old->who ^ c->me) >> 32));
}

static uint64_t set_bytes(const struct ws_set *set)
{
	return sizeof *set + set->cap * sizeof *set->e + set->nbuckets * sizeof *set->bucket;
}

static bool wide(enum ws_scope scope)
{
	return scope != WS_SCOPE_CTA && scope != WS_SCOPE_CLUSTER;
}

static void note_strong_read(const struct ws_ctx *c, struct ws_set *set, const struct ws_slot *s)
{
	const struct ws_site_info *i = site_of(c, s->site);
	uint32_t elem = !wide(i->scope) ? MIXED : i->whole ? i->whole : ANY;

	if (!set->elem || set->elem == ANY)
		set->elem = elem;
	else if (elem != ANY && set->elem != elem)
		set->elem = MIXED;
}

/* The lanes' older entries of that warp and class are superseded: program order. */
static void set_put(struct ws_ctx *c, struct ws_set *set, const struct ws_slot *s, uint8_t cls)
{
	struct ws_set_entry *same = NULL;
	size_t cap = set->cap;

	if (set->n + 1 > set->nbuckets)
		set_rehash(c->s, set);
	for (uint32_t i = set->bucket[set_hash(s->who, cls) & (set->nbuckets - 1)]; i; i = set->e[i - 1].next) {
		struct ws_set_entry *e = &set->e[i - 1];

		if (e->cls != cls || (e->s.who ^ s->who) >> WHO_TIME_BITS)
			continue;
		if (cls == CLS_READ || (cls != CLS_OBSERVER && !fragile(c, e->s.site, s->site)))
			e->s.mask &= c->its ? ~s->mask : 0;
		if (e->s.who == s->who && e->s.site == s->site && e->seq == set->seq)
			same = e;
	}
	set->count[cls]++;
	if (cls == CLS_SREAD)
		note_strong_read(c, set, s);
	if (same) {
		same->s.mask |= s->mask;
	} else {
		set->e = ws_grow(set->e, &set->cap, set->n + 1, sizeof *set->e);
		set->e[set->n] = (struct ws_set_entry){.s = *s, .cls = cls, .seq = set->seq};
		set_link(set, set->n++);
	}
	ws_memory_count(c->s, (set->cap - cap) * sizeof *set->e);
}

static void set_free(struct ws_shadow *s, struct ws_set *set)
{
	if (!set)
		return;
	ws_memory_count(s, 0 - set_bytes(set));
	free(set->e);
	free(set->bucket);
	free(set);
}

/* A reading and writing atomic stands for the strong writes that it has observed. */
static void set_drop_writes(struct ws_ctx *c, struct ws_set *set)
{
	bool any = false;

	for (uint32_t i = 0; i < set->n; i++)
		if (set->e[i].cls == CLS_SWRITE && set->e[i].s.mask && stands_for(c, &set->e[i].s)) {
			set->e[i].s.mask = 0;
			any = true;
		}
	if (any)
		set_rehash(c->s, set);
}

static void set_drop_observers(struct ws_shadow *s, struct ws_set *set)
{
	for (uint32_t i = 0; i < set->n; i++)
		if (set->e[i].cls == CLS_OBSERVER)
			set->e[i].s.mask = 0;
	set_rehash(s, set);
}

/* ---- rows ---- */
static size_t cell_bytes(enum ws_row r)
{
	return r < ROW_SLOTS ? sizeof(struct ws_slot) : sizeof(void *);
}

static inline uint32_t ncells(const struct ws_ext *e)
{
	return (uint32_t)(e->to - e->from) >> (e->bytes ? 0 : 2);
}

static void count_bytes(struct ws_ext *e, uint64_t more)
{
	ws_memory_count(e->s, more);
}

static inline void drop_row(struct ws_ext *e, enum ws_row r)
{
	if (!e->row[r])
		return;
	count_bytes(e, 0 - ncells(e) * cell_bytes(r));
	ws_pool_free(e->row[r], ncells(e) * cell_bytes(r));
	e->row[r] = NULL;
}

static void *new_row(struct ws_ext *e, enum ws_row r)
{
	size_t size = ncells(e) * cell_bytes(r);

	if (!e->row[r]) {
		e->row[r] = ws_pool_new(size);
		count_bytes(e, size);
	} else
		memset(e->row[r], 0, size);
	e->have |= 1u << r;
	return e->row[r];
}

static inline void *need_row(struct ws_ext *e, enum ws_row r)
{
	return has(e, r) ? e->row[r] : new_row(e, r);
}

static void loc_drop(struct ws_ext *e, uint32_t i)
{
	struct ws_loc **row = e->row[ROW_LOC], *loc = row[i];

	for (uint32_t j = 0; loc && j < ncells(e); j++)
		if (row[j] == loc)
			row[j] = NULL;
	if (loc)
		count_bytes(e, 0 - sizeof *loc);
	ws_loc_free(loc);
}

static void drop_pointers(struct ws_ext *e)
{
	for (uint32_t i = 0; has(e, ROW_SET) && i < ncells(e); i++)
		set_free(e->s, ((struct ws_set **)e->row[ROW_SET])[i]);
	for (uint32_t i = 0; has(e, ROW_LOC) && i < ncells(e); i++)
		loc_drop(e, i);
}

void ws_cell_reset(struct ws_ext *e)
{
	if (e->have >> ROW_SET)
		drop_pointers(e);
	e->have = 0;
	e->nreads = 0;
	e->w2.who = 0;
}

uint64_t ws_cell_bytes(const struct ws_ext *e)
{
	uint64_t size = e ? sizeof *e + e->cap * sizeof *e->reads : 0;

	for (int r = 0; e && r < ROWS; r++)
		size += e->row[r] ? ncells(e) * cell_bytes(r) : 0;
	return size;
}

void ws_cell_free(struct ws_ext *e)
{
	if (!e)
		return;
	ws_cell_reset(e);
	count_bytes(e, 0 - ws_cell_bytes(e));
	for (int r = 0; r < ROWS; r++)
		if (e->row[r])
			ws_pool_free(e->row[r], ncells(e) * cell_bytes(r));
	ws_pool_free(e->reads, e->cap * sizeof *e->reads);
	ws_pool_free(e, sizeof *e);
}

void ws_cell_forget_weak(struct ws_ext *e)
{
	for (enum ws_row r = ROW_W; r <= ROW_R1; r++)
		drop_row(e, r);
	e->have &= ~(1u << ROW_W | 1u << ROW_R0 | 1u << ROW_R1);
	count_bytes(e, 0 - e->cap * sizeof *e->reads);
	ws_pool_free(e->reads, e->cap * sizeof *e->reads);
	e->reads = NULL;
	e->nreads = e->limit = 0;
	e->w2.who = 0;
	e->cap = 0;
}

struct ws_ext *ws_cell_ext(struct ws_ctx *c)
{
	struct ws_line *line = c->line;

	if (!line->ext) {
		line->ext = ws_pool_new(sizeof *line->ext);
		line->ext->s = c->s;
		count_bytes(line->ext, sizeof *line->ext);
	}
	return line->ext;
}

static struct ws_set *set_copy(struct ws_shadow *s, const struct ws_set *from)
{
	struct ws_set *to;

	if (!from)
		return NULL;
	to = ws_alloc(sizeof *to);
	*to = *from;
	to->e = ws_alloc(from->n * sizeof *to->e + 1);
	memcpy(to->e, from->e, from->n * sizeof *to->e);
	to->cap = from->n;
	to->bucket = NULL;
	to->nbuckets = 0;
	ws_memory_count(s, set_bytes(to));
	set_rehash(s, to);
	return to;
}

/* From cells of 4 bytes to cells of 1. */
static void split(struct ws_ext *e)
{
	uint32_t n = ncells(e);

	for (int r = 0; r < ROWS; r++) {
		size_t size = cell_bytes(r);
		char *old = e->row[r], *new;

		if (!has(e, r)) {
			drop_row(e, r);
			continue;
		}
		new = ws_pool_new(4 * n * size);
		count_bytes(e, 3 * n * size);
		for (uint32_t i = 0; i < 4 * n; i++) {
			memcpy(new + i * size, old + i / 4 * size, size);
			if (r == ROW_SET && i % 4)
				((struct ws_set **)new)[i] = set_copy(e->s, ((struct ws_set **)old)[i / 4]);
		}
		e->row[r] = new;
		ws_pool_free(old, n * size);
	}
	e->bytes = true;
}

/* From now on e is for the sectors of lo..hi as well; at first for these words alone, for often nothing else comes. */
static void widen(struct ws_ext *e, uint32_t lo, uint32_t hi)
{
	uint32_t unit = e->to ? SECTOR : 4, from = lo / unit * unit, to = (hi + unit - 1) / unit * unit, old = ncells(e), at, n;

	from = e->to && e->from < from ? e->from : from;
	to = e->to > to ? e->to : to;
	at = e->to ? (e->from - from) >> (e->bytes ? 0 : 2) : 0;
	n = (to - from) >> (e->bytes ? 0 : 2);
	for (int r = 0; r < ROWS; r++) {
		size_t size = cell_bytes(r);
		char *new;

		if (!has(e, r)) {
			drop_row(e, r);
			continue;
		}
		new = ws_pool_new(n * size);
		memcpy(new + at * size, e->row[r], old * size);
		count_bytes(e, (n - old) * size);
		ws_pool_free(e->row[r], old * size);
		e->row[r] = new;
	}
	e->from = (uint8_t)from;
	e->to = (uint8_t)to;
}

static inline bool inside(const struct ws_ext *e, uint32_t lo, uint32_t hi)
{
	return lo >= e->from && hi <= e->to;
}

static inline struct ws_ext *fit(struct ws_ctx *c, uint32_t lo, uint32_t hi)
{
	struct ws_ext *e = ws_cell_ext(c);

	if (__builtin_expect(!inside(e, lo, hi), 0))
		widen(e, lo, hi);
	if (((lo | hi) & 3) && !e->bytes)
		split(e);
	return e;
}

/* Leaves of lo..hi what e has; false: nothing. */
static inline bool clip(const struct ws_ext *e, uint32_t *lo, uint32_t *hi)
{
	*lo = *lo > e->from ? *lo : e->from;
	*hi = *hi < e->to ? *hi : e->to;
	return *lo < *hi;
}

/* ---- checks ---- */
/* Neighbouring bytes in conflict with one access are told once. */
struct hit {
	struct ws_slot s;
	enum ws_class cls;
	int lane;
	uint32_t lo, hi;
};

static void tell(struct ws_ctx *c, uint32_t lane, struct hit *h)
{
	if (h->hi > h->lo)
		ws_shadow_conflict(c, lane, h->lo, h->hi, &h->s, h->cls, h->lane, false);
	h->hi = h->lo = 0;
}

static void hit(struct ws_ctx *c, uint32_t lane, struct hit *h, const struct ws_slot *s, enum ws_class cls, int bad,
                uint32_t lo, uint32_t hi)
{
	if (h->hi == lo && h->hi > h->lo && h->s.who == s->who && h->lane == bad && !((h->s.site ^ s->site) & SITE_ID) &&
	    h->cls == cls) {
		h->hi = hi;
		return;
	}
	tell(c, lane, h);
	*h = (struct hit){.s = *s, .cls = cls, .lane = bad, .lo = lo, .hi = hi};
}

struct span { uint32_t lo, hi; };

static struct span cell_span(const struct ws_ext *e, uint32_t i, uint32_t lo, uint32_t hi)
{
	uint32_t a = e->from + (e->bytes ? i : i * 4), b = a + (e->bytes ? 1 : 4);

	return (struct span){a > lo ? a : lo, b < hi ? b : hi};
}

/* The lane of an earlier access that this one is not ordered after; -1 = none. */
static inline int order_bad(const struct ws_ctx *c, const struct ws_slot *s, enum ws_class cls, uint32_t lane)
{
	return cls == CLS_READ || cls == CLS_SREAD ? ws_hb_bad(c, s->who, s->mask, lane) :
	                                             ws_write_bad(c, s->who, s->mask, lane);
}

static void check_row(struct ws_ctx *c, uint32_t lane, enum ws_row r, enum ws_class cls, uint32_t lo, uint32_t hi)
{
	const struct ws_ext *e = c->line->ext;
	struct cells n = cells_of(e, lo, hi);
	const struct ws_slot *row = e->row[r];
	struct hit h = {.lo = 0};

	for (uint32_t i = n.from; i < n.to; i++) {
		int bad = row[i].who ? order_bad(c, &row[i], cls, lane) : -1;
		struct span s = cell_span(e, i, lo, hi);

		if (bad >= 0)
			hit(c, lane, &h, &row[i], cls, bad, s.lo, s.hi);
	}
	tell(c, lane, &h);
}

/* For an access through the async proxy: before a proxy fence that is before it. */
static bool before(struct ws_ctx *c, const struct ws_slot *s, uint32_t lane)
{
	/* one of the lanes is enough: each of them saw the write */
	for (uint32_t m = s->mask; m; m &= m - 1)
		if (ws_write_bad(c, s->who, m & -m, lane) < 0)
			return true;
	return false;
}

static bool is_rmw(const struct ws_ctx *c, const struct ws_slot *s)
{
	return site_of(c, s->site)->kind == WS_ATOMIC;
}

static bool set_observed(struct ws_ctx *c, const struct ws_set *set, uint64_t seq, uint32_t lane)
{
	for (uint32_t j = 0; j < set->n; j++) {
		const struct ws_set_entry *e = &set->e[j];
		bool sees = (e->cls == CLS_OBSERVER && e->seq >= seq) ||
		            (e->cls == CLS_SWRITE && e->seq > seq && is_rmw(c, &e->s));

		if (e->s.mask && sees && before(c, &e->s, lane))
			return true;
	}
	return false;
}

/* Has something that is ordered before this access observed the strong write with that number, directly or through
 * later ones? */
static bool observed(struct ws_ctx *c, uint32_t i, uint64_t seq, uint32_t lane)
{
	const struct ws_ext *e = c->line->ext;
	const struct ws_slot *ob = has(e, ROW_OB) ? &((struct ws_slot *)e->row[ROW_OB])[i] : NULL;
	const struct ws_set *set = has(e, ROW_SET) ? ((struct ws_set **)e->row[ROW_SET])[i] : NULL;
	const struct ws_slot *s = has(e, ROW_S) ? &((struct ws_slot *)e->row[ROW_S])[i] : NULL;

	if (s && s->who && is_rmw(c, s) && before(c, s, lane))
		return true;
	if (ob && ob->who && before(c, ob, lane))
		return true;
	return set && (set->count[CLS_OBSERVER] || set->count[CLS_SWRITE]) && set_observed(c, set, seq, lane);
}

/* The number of the newest one. */
static uint64_t newest(const struct ws_ext *e, uint32_t i)
{
	const struct ws_set *set = has(e, ROW_SET) ? ((struct ws_set **)e->row[ROW_SET])[i] : NULL;

	return set ? set->seq : 0;
}

/* Two strong accesses that are morally strong do not race: both scopes hold both threads, and they overlap wholly
 * (PTX ISA 9.0, Memory Consistency Model, Morally Strong Operations). Elements are naturally aligned, so equal sizes
 * that overlap are the same bytes. Loads and stores in a part of a word are strong to its atomics too: docs/DETECTORS.md, "Parts
 * of words". */
static bool morally_strong(const struct ws_ctx *c, const struct ws_slot *s)
{
	const struct ws_site_info *other = site_of(c, s->site), *me = site_of(c, c->site);

	return (other->whole == me->whole || !other->whole || !me->whole) && ws_scope_includes(c, me->scope, s->who) &&
	       ws_scope_includes(c, other->scope, s->who);
}

static bool strong_class(uint8_t cls)
{
	return cls >= CLS_SREAD;
}

static void check_strong_write(struct ws_ctx *c, uint32_t lane, uint32_t lo, uint32_t hi)
{
	const struct ws_ext *e = c->line->ext;
	struct cells n = cells_of(e, lo, hi);
	const struct ws_slot *row = e->row[ROW_S];
	struct hit h = {.lo = 0};

	for (uint32_t i = n.from; i < n.to; i++) {
		struct span s = cell_span(e, i, lo, hi);
		int bad;

		if (!row[i].who || (strong_class(c->cls) && morally_strong(c, &row[i])))
			continue;
		bad = ws_write_bad(c, row[i].who, row[i].mask, lane);
		if (bad >= 0 && observed(c, i, newest(e, i), lane))
			bad = -1;
		if (bad >= 0)
			hit(c, lane, &h, &row[i], is_rmw(c, &row[i]) ? CLS_RMW : CLS_SWRITE, bad, s.lo, s.hi);
	}
	tell(c, lane, &h);
}

static bool conflicts(const struct ws_ctx *c, uint8_t old)
{
	if (old == CLS_READ || old == CLS_SREAD)
		return c->cls != CLS_READ && c->cls != CLS_SREAD;
	return true;
}

/* Do strong reads of which that is known not conflict with a strong access for its size? */
static bool alike(uint8_t whole, uint32_t elem)
{
	return elem == ANY || elem == whole || (!whole && elem != MIXED);
}

/* Is nothing in the set that the access at hand may conflict with? Reads do not conflict with reads, nor strong ones with
 * strong ones that are all alike, however many threads they are of. */
static bool set_quiet(const struct ws_ctx *c, const struct ws_set *set)
{
	const struct ws_site_info *me = site_of(c, c->site);

	if (set->count[CLS_SWRITE])
		return false;
	if (c->cls == CLS_READ || c->cls == CLS_SREAD)
		return true;
	return !set->count[CLS_READ] &&
	       (!set->count[CLS_SREAD] || (strong_class(c->cls) && wide(me->scope) && alike(me->whole, set->elem)));
}

static void check_set(struct ws_ctx *c, uint32_t lane, uint32_t i, uint32_t lo, uint32_t hi)
{
	const struct ws_ext *e = c->line->ext;
	const struct ws_set *set = ((struct ws_set **)e->row[ROW_SET])[i];

	if (!set || set_quiet(c, set))
		return;
	for (uint32_t j = 0; j < set->n; j++) {
		const struct ws_set_entry *x = &set->e[j];
		int bad;

		if (!x->s.mask || x->cls == CLS_OBSERVER || !conflicts(c, x->cls) ||
		    (strong_class(c->cls) && strong_class(x->cls) && morally_strong(c, &x->s)))
			continue;
		bad = x->cls == CLS_SWRITE ? ws_write_bad(c, x->s.who, x->s.mask, lane) :
		                             ws_hb_bad(c, x->s.who, x->s.mask, lane);
		if (bad >= 0 && x->cls == CLS_SWRITE && observed(c, i, x->seq, lane))
			bad = -1;
		if (bad >= 0)
			ws_shadow_conflict(c, lane, lo, hi, &x->s, x->cls, bad, false);
	}
}

static void check_strong_reads(struct ws_ctx *c, uint32_t lane, uint32_t lo, uint32_t hi)
{
	const struct ws_ext *e = c->line->ext;
	struct cells n = cells_of(e, lo, hi);
	const struct ws_slot *row = e->row[ROW_SR];

	for (uint32_t i = n.from; i < n.to; i++) {
		struct span s = cell_span(e, i, lo, hi);
		int bad = row[i].who ? ws_hb_bad(c, row[i].who, row[i].mask, lane) : -1;

		if (bad >= 0 && !(strong_class(c->cls) && morally_strong(c, &row[i])))
			ws_shadow_conflict(c, lane, s.lo, s.hi, &row[i], CLS_SREAD, bad, false);
	}
}

static inline void check_cells(struct ws_ctx *c, uint32_t lane, uint32_t lo, uint32_t hi)
{
	struct ws_ext *e = c->line->ext;
	bool writes = c->cls != CLS_READ && c->cls != CLS_SREAD;

	if (has(e, ROW_W))
		check_row(c, lane, ROW_W, CLS_WRITE, lo, hi);
	if (writes && has(e, ROW_R0))
		check_row(c, lane, ROW_R0, CLS_READ, lo, hi);
	if (writes && has(e, ROW_R1))
		check_row(c, lane, ROW_R1, CLS_READ, lo, hi);
	if (has(e, ROW_S))
		check_strong_write(c, lane, lo, hi);
	if (writes && has(e, ROW_SR))
		check_strong_reads(c, lane, lo, hi);
	if (has(e, ROW_SET)) {
		struct cells n = cells_of(e, lo, hi);

		for (uint32_t i = n.from; i < n.to; i++) {
			struct span s = cell_span(e, i, lo, hi);

			check_set(c, lane, i, s.lo, s.hi);
		}
	}
}

static void check_piece(struct ws_ctx *c, const struct ws_slot *s, enum ws_class cls, uint32_t lane, struct span at,
                        int from, int to)
{
	from = from > (int)at.lo ? from : (int)at.lo;
	to = to < (int)at.hi ? to : (int)at.hi;
	if (from < to && order_bad(c, s, cls, lane) >= 0)
		ws_shadow_conflict(c, lane, (uint32_t)from, (uint32_t)to, s, cls, __builtin_ctz(s->mask), false);
}

/* Against a linear access: lane by lane of it where they overlap. */
void ws_cell_check_rec(struct ws_ctx *c, const struct ws_rec *r, enum ws_class cls, uint32_t lane, uint32_t lo, uint32_t hi)
{
	int a, b, lg = __builtin_ctz(r->step);

	if ((int)hi <= r->off + __builtin_ctz(r->mask) * r->step ||
	    (int)lo >= r->off + (31 - __builtin_clz(r->mask)) * r->step + r->size || (!c->proxy && ws_hb_warp(c, r->who)))
		return;
	a = (((int)lo - r->off) >> lg) - 1;
	b = ((int)hi - 1 - r->off) >> lg;
	for (int l = a < 0 ? 0 : a; l <= b && l < 32; l++) {
		int from = r->off + l * r->step, to = from + r->size, half = r->site2 ? from + r->size / 2 : to;
		struct ws_slot s = {.who = r->who, .site = r->site, .mask = 1u << l};

		if (!(r->mask >> l & 1))
			continue;
		check_piece(c, &s, cls, lane, (struct span){lo, hi}, from, half);
		s.site = r->site2 & ~REC_TWO;
		check_piece(c, &s, cls, lane, (struct span){lo, hi}, half, to);
	}
}

void ws_cell_check(struct ws_ctx *c, uint32_t lane, uint32_t lo, uint32_t hi)
{
	const struct ws_line *line = c->line;
	bool writes = c->cls != CLS_READ && c->cls != CLS_SREAD;

	if (line->w.who)
		ws_cell_check_rec(c, &line->w, CLS_WRITE, lane, lo, hi);
	if (writes && line->r.who)
		ws_cell_check_rec(c, &line->r, CLS_READ, lane, lo, hi);
	if (!line->ext)
		return;
	if (line->ext->w2.who)
		ws_cell_check_rec(c, &line->ext->w2, CLS_WRITE, lane, lo, hi);
	for (uint32_t i = 0; writes && i < line->ext->nreads; i++)
		ws_cell_check_rec(c, &line->ext->reads[i], CLS_READ, lane, lo, hi);
	if (line->ext->have && clip(line->ext, &lo, &hi)) {
		if ((lo | hi) & 3)
			fit(c, lo, hi);
		check_cells(c, lane, lo, hi);
	}
}

/* ---- new state ---- */
static struct ws_set *need_set(struct ws_ext *e, uint32_t i)
{
	struct ws_set **row = need_row(e, ROW_SET);

	if (!row[i]) {
		row[i] = ws_alloc(sizeof **row);
		count_bytes(e, sizeof **row);
	}
	return row[i];
}

static inline bool put(struct ws_ctx *c, struct ws_slot *at, uint32_t lane)
{
	uint32_t bit = 1u << lane;

	if (at->who && c->cls != CLS_READ && !stands_for(c, at))
		return false;
	if (c->its && at->who != c->me && !((at->who ^ c->me) >> WHO_TIME_BITS)) {
		at->mask &= ~bit;            /* program order */
		if (!at->mask)
			at->who = 0;
	}
	if (at->who == c->as && at->site == c->site) {
		at->mask |= bit;
		return true;
	}
	if (at->who == c->me && c->its && at->mask != bit)
		return false;
	if (at->who && ws_hb_bad(c, at->who, at->mask, lane) >= 0)
		return false;
	*at = (struct ws_slot){.who = c->as, .site = c->site, .mask = bit};
	return true;
}

/* See saturated() in shadow.c: two accesses that make a third superfluous. */
static bool enough(struct ws_ctx *c, const struct ws_slot *a, struct ws_slot *b, uint32_t lane)
{
	bool same_block = !((a->who ^ b->who) >> 32);

	if (!c->l->simple || !((a->who ^ b->who) >> WHO_TIME_BITS))
		return false;
	if (c->l->agents) {
		const struct ws_slot_info *x = ws_shadow_slot(c->s, a->who >> 32), *y = ws_shadow_slot(c->s, b->who >> 32);

		if ((x->agent || y->agent) && x->block == y->block)
			return false;        /* one thread may come after both */
	}
	if (same_block && (a->who ^ c->me) >> 32)
		*b = (struct ws_slot){.who = c->as, .site = c->site, .mask = 1u << lane};
	return true;
}

static void install_read(struct ws_ctx *c, struct ws_ext *e, uint32_t lane, uint32_t i)
{
	struct ws_slot *r0 = need_row(e, ROW_R0), *r1 = NULL, mine;

	if (put(c, &r0[i], lane))
		return;
	r1 = need_row(e, ROW_R1);
	if (put(c, &r1[i], lane) || enough(c, &r0[i], &r1[i], lane))
		return;
	mine = (struct ws_slot){.who = c->as, .site = c->site, .mask = 1u << lane};
	set_put(c, need_set(e, i), &mine, CLS_READ);
}

static void clear_cell(struct ws_ext *e, uint32_t i, bool word)
{
	for (int r = 0; r < ROW_SLOTS; r++)
		if (has(e, r))
			((struct ws_slot *)e->row[r])[i].who = 0;
	if (has(e, ROW_SET)) {
		struct ws_set **at = &((struct ws_set **)e->row[ROW_SET])[i];

		set_free(e->s, *at);
		*at = NULL;
	}
	if (has(e, ROW_LOC) && word)
		loc_drop(e, i);
}

bool ws_cell_empty(const struct ws_ext *e, uint32_t lo, uint32_t hi)
{
	struct cells n;

	if (!e->have || !clip(e, &lo, &hi))
		return true;
	n = cells_of(e, lo, hi);
	for (uint32_t m = e->have & ((1u << ROW_SLOTS) - 1); m; m &= m - 1)
		for (uint32_t i = n.from; i < n.to; i++)
			if (((const struct ws_slot *)e->row[__builtin_ctz(m)])[i].who)
				return false;
	for (uint32_t i = n.from; has(e, ROW_SET) && i < n.to; i++)
		if (((struct ws_set **)e->row[ROW_SET])[i])
			return false;
	return true;
}

void ws_cell_clear(struct ws_ext *e, uint32_t lo, uint32_t hi)
{
	struct cells n;

	if (!e->have || !clip(e, &lo, &hi))
		return;
	if (((lo | hi) & 3) && !e->bytes)
		split(e);
	n = cells_of(e, lo, hi);
	for (uint32_t i = n.from; i < n.to; i++)
		clear_cell(e, i, true);
}

static void install_write(struct ws_ctx *c, struct ws_ext *e, uint32_t lane, uint32_t i)
{
	struct ws_slot *w = need_row(e, ROW_W), new = {.who = c->as, .site = c->site, .mask = 1u << lane};
	struct span at = cell_span(e, i, 0, LINE);

	/* lanes of one instruction that share no more than a granule do not stand for each other */
	if (c->s->config.granularity > 1 && w[i].who == new.who && !((w[i].site ^ new.site) & SITE_ID))
		new.mask |= w[i].mask;
	if (e->have != 1u << ROW_W)
		clear_cell(e, i, c->s->config.granularity == 1 || (at.lo < c->real_hi && at.hi > c->real_lo));
	w[i] = new;
}

static void add_observer(struct ws_ctx *c, struct ws_ext *e, uint32_t lane, uint32_t i, const struct ws_slot *mine)
{
	const struct ws_slot *s = has(e, ROW_S) ? &((struct ws_slot *)e->row[ROW_S])[i] : NULL;
	struct ws_slot *ob;

	if (!s || !s->who || observed(c, i, newest(e, i), lane))
		return;
	ob = &((struct ws_slot *)need_row(e, ROW_OB))[i];
	if (!ob->who)
		*ob = *mine;
	else if (ob->who == mine->who && ob->site == mine->site)
		ob->mask |= mine->mask;
	else
		set_put(c, need_set(e, i), mine, CLS_OBSERVER);
}

static void install_strong_read(struct ws_ctx *c, struct ws_ext *e, uint32_t lane, uint32_t i)
{
	struct ws_slot *sr = need_row(e, ROW_SR), mine = {.who = c->as, .site = c->site, .mask = 1u << lane};

	add_observer(c, e, lane, i, &mine);
	if (!put(c, &sr[i], lane))
		set_put(c, need_set(e, i), &mine, CLS_SREAD);
}

/* Observers are of use as long as writes are kept that they saw. */
static void retire_observers(struct ws_ctx *c, struct ws_ext *e, uint32_t i, const struct ws_slot *s, struct ws_set *set)
{
	struct ws_slot *ob = has(e, ROW_OB) ? &((struct ws_slot *)e->row[ROW_OB])[i] : NULL;

	if (ob && ob->who && set && set->count[CLS_SWRITE])
		set_put(c, set, ob, CLS_OBSERVER);
	if (s->who && is_rmw(c, s) && set && set->count[CLS_SWRITE])
		set_put(c, set, s, CLS_OBSERVER);
	if (ob)
		ob->who = 0;
	if (set && set->count[CLS_OBSERVER] && !set->count[CLS_SWRITE])
		set_drop_observers(c->s, set);
}

static void install_strong_write(struct ws_ctx *c, struct ws_ext *e, uint32_t lane, uint32_t i)
{
	struct ws_slot *s = &((struct ws_slot *)need_row(e, ROW_S))[i];
	struct ws_set *set = has(e, ROW_SET) ? ((struct ws_set **)e->row[ROW_SET])[i] : NULL;
	bool plain = c->cls == CLS_SWRITE;

	if (s->who && (!stands_for(c, s) || (plain && ws_hb_bad(c, s->who, s->mask, lane) >= 0 &&
	                                     !observed(c, i, newest(e, i), lane)))) {
		set = need_set(e, i);
		set_put(c, set, s, CLS_SWRITE);
	}
	if (!plain && set && set->count[CLS_SWRITE])
		set_drop_writes(c, set);
	retire_observers(c, e, i, s, set);
	if (set)
		set->seq++;
	*s = (struct ws_slot){.who = c->as, .site = c->site, .mask = 1u << lane};
}

void ws_cell_install(struct ws_ctx *c, uint32_t lane, uint32_t lo, uint32_t hi)
{
	struct ws_ext *e = fit(c, lo, hi);
	struct cells n = cells_of(e, lo, hi);

	for (uint32_t i = n.from; i < n.to; i++) {
		switch (c->cls) {
		case CLS_READ: install_read(c, e, lane, i); break;
		case CLS_WRITE: install_write(c, e, lane, i); break;
		case CLS_SREAD: install_strong_read(c, e, lane, i); break;
		default: install_strong_write(c, e, lane, i); break;
		}
	}
}

static inline bool quiet(const struct ws_ctx *c, const struct ws_rec *r)
{
	return !r->who || ws_hb_warp(c, r->who);
}

/* Is everything that a read of these cells may conflict with ordered before all lanes? */
static bool quiet_writes(const struct ws_ctx *c, const struct ws_ext *e, struct cells n)
{
	const struct ws_slot *w = e->row[ROW_W];

	if (!quiet(c, &c->line->w) || !quiet(c, &e->w2))
		return false;
	if (!(e->have & ROWS_WRITTEN))
		return true;
	if ((e->have & ROWS_WRITTEN) != 1u << ROW_W)
		return false;
	for (uint32_t i = n.from; i < n.to; i++)
		if (w[i].who && !ws_hb_warp(c, w[i].who))
			return false;
	return true;
}

/* What install_read does for each of the lanes, when an unordered read of another warp is in the first place. */
static bool second_reader(struct ws_ctx *c, struct ws_ext *e, uint32_t mask, uint32_t i)
{
	struct ws_slot *r0 = &((struct ws_slot *)e->row[ROW_R0])[i], *r1;

	if (c->b->has_k || !((r0->who ^ c->me) >> WHO_TIME_BITS))
		return false;
	r1 = &((struct ws_slot *)need_row(e, ROW_R1))[i];
	if (!r1->who || ws_hb_warp(c, r1->who))
		*r1 = (struct ws_slot){.who = c->me, .site = c->site, .mask = mask};
	else if (r1->who == c->me && r1->site == c->site)
		r1->mask |= mask;
	else
		return (r1->who ^ c->me) >> WHO_TIME_BITS && enough(c, r0, r1, (uint32_t)__builtin_ctz(mask));
	return true;
}

void ws_cell_read(struct ws_ctx *c, uint32_t mask, uint32_t lo, uint32_t hi)
{
	struct ws_ext *e = fit(c, lo, hi);
	struct cells n = cells_of(e, lo, hi);
	struct ws_slot *r0;

	if (!quiet_writes(c, e, n))
		for (uint32_t m = mask; m; m &= m - 1)
			ws_cell_check(c, __builtin_ctz(m), lo, hi);
	r0 = need_row(e, ROW_R0);
	for (uint32_t i = n.from; i < n.to; i++) {
		if (r0[i].who == c->me && r0[i].site == c->site)
			r0[i].mask |= mask;
		else if (!r0[i].who || ws_hb_warp(c, r0[i].who))
			r0[i] = (struct ws_slot){.who = c->me, .site = c->site, .mask = mask};
		else if (!second_reader(c, e, mask, i))
			for (uint32_t m = mask; m; m &= m - 1)
				install_read(c, e, __builtin_ctz(m), i);
	}
}

void ws_cell_write(struct ws_ctx *c, uint32_t lane, uint32_t lo, uint32_t hi)
{
	struct ws_line *line = c->line;
	struct ws_ext *e = fit(c, lo, hi);

	if (quiet(c, &line->w) && quiet(c, &e->w2) && quiet(c, &line->r) && !e->nreads && !(e->have & ~(1u << ROW_W))) {
		struct cells n = cells_of(e, lo, hi);
		struct ws_slot *w = need_row(e, ROW_W);
		bool fine = true;

		for (uint32_t i = n.from; i < n.to; i++)
			fine &= !w[i].who || ws_hb_warp(c, w[i].who);
		for (uint32_t i = n.from; i < n.to && fine; i++)
			w[i] = (struct ws_slot){.who = c->me, .site = c->site, .mask = 1u << lane};
		if (fine)
			return;
	}
	c->real_lo = (uint8_t)lo;
	c->real_hi = (uint8_t)hi;
	ws_cell_check(c, lane, lo, hi);
	ws_cell_install(c, lane, lo, hi);
}

bool ws_cell_atomic(struct ws_ctx *c, uint32_t lane, uint32_t lo)
{
	const struct ws_line *line = c->line;
	const struct ws_ext *e = line->ext;
	struct ws_slot *s;

	if (!e || e->have != 1u << ROW_S || e->bytes || !inside(e, lo, lo + 4) || e->nreads || !quiet(c, &line->w) ||
	    !quiet(c, &line->r) || !quiet(c, &e->w2))
		return false;
	s = &((struct ws_slot *)e->row[ROW_S])[(lo - e->from) / 4];
	if (s->who && (((s->site ^ c->site) & SITE_ID) || ((s->who ^ c->me) >> 32 && c->a->scope < WS_SCOPE_GPU)))
		return false;
	if (s->who && (s->who ^ c->me) >> 32) {
		if (c->l->narrow)
			return false;
		c->b->saw_flag = true;
	}
	*s = (struct ws_slot){.who = c->me, .site = c->site, .mask = 1u << lane};
	return true;
}

uint32_t ws_cell_atomics(struct ws_ctx *c, uint32_t mask)
{
	const struct ws_block_state *b = c->owner;
	uint32_t left = 0;

	for (; mask; mask &= mask - 1) {
		uint32_t l = __builtin_ctz(mask);
		uint64_t addr = c->a->addr[l], i = addr >> LINE_BITS;
		struct ws_line *line = &b->lines[i < b->nlines ? i : 0];
		const struct ws_ext *e = line->ext;
		struct ws_slot *s;

		if (i >= b->nlines || line->gen != b->gen || !e || e->have != 1u << ROW_S || e->bytes ||
		    !inside(e, addr & (LINE - 1), (addr & (LINE - 1)) + 4) || e->nreads || !quiet(c, &line->w) || !quiet(c, &line->r) ||
		    !quiet(c, &e->w2)) {
			left |= mask & -mask;
			continue;
		}
		s = &((struct ws_slot *)e->row[ROW_S])[((addr & (LINE - 1)) - e->from) / 4];
		/* another block of the cluster may be out of scope, and ws_cell_atomic knows what two blocks mean */
		if (s->who && ((s->site ^ c->site) & SITE_ID || (s->who ^ c->me) >> 32)) {
			left |= mask & -mask;
			continue;
		}
		*s = (struct ws_slot){.who = c->me, .site = c->site, .mask = mask & -mask};
	}
	return left;
}

static void spill_piece(struct ws_ctx *c, const struct ws_slot *s, int lo, int hi)
{
	struct ws_ext *e;
	struct ws_slot *row;
	struct cells n;

	lo = lo < 0 ? 0 : lo;
	hi = hi > LINE ? LINE : hi;
	if (lo >= hi)
		return;
	e = fit(c, (uint32_t)lo, (uint32_t)hi);
	row = need_row(e, ROW_W);
	n = cells_of(e, (uint32_t)lo, (uint32_t)hi);
	for (uint32_t i = n.from; i < n.to; i++)
		if (!row[i].who)
			row[i] = *s;
}

/* Cells that have a write of their own have it after w. */
void ws_cell_spill_write(struct ws_ctx *c, const struct ws_rec *w)
{
	for (uint32_t m = w->mask; m; m &= m - 1) {
		int l = __builtin_ctz(m), lo = w->off + l * w->step, hi = lo + w->size, half = w->site2 ? lo + w->size / 2 : hi;
		struct ws_slot s = {.who = w->who, .site = w->site, .mask = 1u << l};

		spill_piece(c, &s, lo, half);
		s.site = w->site2 & ~REC_TWO;
		spill_piece(c, &s, half, hi);
	}
}

bool ws_cell_flag(const struct ws_ctx *c, uint32_t lo)
{
	const struct ws_ext *e = c->line->ext;
	const struct ws_slot *s;

	if (!e || !has(e, ROW_S) || !inside(e, lo, lo + 1))
		return false;
	s = &((struct ws_slot *)e->row[ROW_S])[cells_of(e, lo, lo + 1).from];
	return s->who && (s->who ^ c->me) >> 32;
}

/* The synchronization words that overlap [addr, addr + size), one after the other: that behind `last`, NULL for the first; NULL: no more. */
struct ws_loc *ws_cell_heard(struct ws_ctx *c, uint64_t addr, uint32_t size, const struct ws_loc *last)
{
	uint32_t lo = addr & (LINE - 1), hi = lo + size > LINE ? LINE : lo + size;
	struct ws_ext *e = c->line->ext;
	bool behind = !last;
	struct ws_loc **row;
	struct cells n;

	if (!e || !has(e, ROW_LOC) || lo >= e->to || hi <= e->from)
		return NULL;
	row = e->row[ROW_LOC];
	n = cells_of(e, lo > e->from ? lo : e->from, hi < e->to ? hi : e->to);
	for (uint32_t i = n.from; i < n.to; i++)
		if (row[i] == last)
			behind = true;
		else if (behind && row[i] && row[i]->addr < addr + size && row[i]->addr + row[i]->size > addr)
			return row[i];
	return NULL;
}

/* The synchronization word that a strong write of [addr, addr + size) in c->line releases; NULL: there is none, and none is to be made. One that
 * they are a part of is it; its own parts are in it from now on where the write goes on with what was there. */
struct ws_loc *ws_cell_loc(struct ws_ctx *c, uint64_t addr, uint32_t size, bool make, bool goes_on)
{
	uint32_t lo = addr & (LINE - 1), hi = lo + size > LINE ? LINE : lo + size;
	struct ws_loc *loc = ws_cell_heard(c, addr, size, NULL);
	struct ws_ext *e;
	struct cells n;
	struct ws_loc **row;

	if (loc && loc->addr <= addr && loc->addr + loc->size >= addr + size)
		return loc;
	if (!loc && !make)
		return NULL;
	e = fit(c, lo, hi);
	row = need_row(e, ROW_LOC);
	n = cells_of(e, lo, hi);
	loc = ws_pool_new(sizeof *loc);
	loc->addr = addr;
	loc->size = size;
	for (uint32_t i = n.from; i < n.to; i++) {
		if (goes_on && row[i])
			ws_loc_join(loc, row[i]);
		loc_drop(e, i);
	}
	count_bytes(e, sizeof *loc);
	for (uint32_t i = n.from; i < n.to; i++)
		row[i] = loc;
	return loc;
}

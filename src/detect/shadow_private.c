/* shadow_private.c - words of global memory that one thread alone has touched (shadow_priv.h).
 *
 * A table with a lock in each entry has more entries than threads that meet at them. As long as nobody but one thread has
 * touched a word, nothing about it can race and nobody can have acquired what was released there: nothing is to be
 * checked, only to be remembered. A record of 64 bytes, in a list of its line, holds what a thread did to some words of
 * the line, as far as cells would hold it too: the newest read, write and atomic update of each place, and what the
 * update released. The first access of another thread to one of the words opens the record: what it holds becomes
 * cells, as if it had always been in them. So does an access that it has no place for.
 *
 * A record begins with a compare-and-swap or an exchange, or with an access under a lock, to words that the line has
 * nothing about. Which locks were held is remembered as "the one in this line" where it was that one alone: the set is given
 * a number only when the record is opened. */
#include "detect/shadow_private.h"

#include <stdlib.h>

enum { EVENTS = 3 };
enum { IN_CHUNK_BITS = 6, IN_CHUNK = 1 << IN_CHUNK_BITS, PRIVATE_CHUNKS = 1 << 20 };
enum { HAS_ATOMIC = 1, RELEASED = 2, SC = 4 };

struct ws_event {
	uint32_t time, site;
	union {                      /* lowest byte first */
		struct {
			uint8_t lo, size, cls;       /* READ, WRITE, RMW; lo: in the line */
			uint8_t lock;        /* 1 + the word of the line that was the only lock held; 0: see site */
		};
		uint32_t what;
	};
};
enum { PLACE = 0xffff, PLACE_AND_CLASS = 0xffffff };     /* of `what`: lo and size; cls too */

struct ws_private {
	union {
		struct {
			uint32_t slot;
			uint16_t thread;     /* of its block: warp * 32 + lane */
			uint8_t n, flags;
		};
		uint64_t owner;              /* OWNER: slot and thread */
	};
	uint32_t next;               /* of the line; 0 = last */
	uint32_t words;              /* of the line, a bit each */
	uint32_t time, floor, wfloor;        /* RELEASED, by its only atomic: see struct ws_release; SC: of a fence.sc */
	struct ws_event e[EVENTS];
};
#define OWNER ((1ull << 48) - 1)
_Static_assert(sizeof(struct ws_private) == 64, "one line of the cache");

static inline struct ws_private *record(const struct ws_shadow *s, uint32_t i)
{
	return &s->private[i >> IN_CHUNK_BITS][i & (IN_CHUNK - 1)];
}

/* ---- memory of records ---- */
static bool chunk(struct ws_shadow *s, uint32_t i)
{
	const size_t size = IN_CHUNK * sizeof(struct ws_private);

	if (i >> IN_CHUNK_BITS >= PRIVATE_CHUNKS)
		return false;
	if (!s->private)
		s->private = ws_alloc(PRIVATE_CHUNKS * sizeof *s->private);
	if (!s->private[i >> IN_CHUNK_BITS]) {
		s->private[i >> IN_CHUNK_BITS] = ws_pool_new(size);
		ws_memory_count(s, size);
	}
	return true;
}

/* 0: no room. */
static uint32_t take(struct ws_ctx *c)
{
	struct ws_shadow *s = c->s;
	uint32_t i;

	if (ws_memory_full(c, 0))
		return 0;
	ws_shadow_lock_lists(s);
	i = s->free_private;
	if (i)
		s->free_private = record(s, i)->next;
	else if (chunk(s, s->nprivate + 1))
		i = ++s->nprivate;
	ws_shadow_unlock_lists(s);
	return i;
}

static void give_back(struct ws_shadow *s, uint32_t i)
{
	ws_shadow_lock_lists(s);
	record(s, i)->next = s->free_private;
	s->free_private = i;
	ws_shadow_unlock_lists(s);
}

uint64_t ws_private_bytes(const struct ws_shadow *s)
{
	uint64_t n = 0;

	while (s->private && n < PRIVATE_CHUNKS && s->private[n])
		n++;
	return n * IN_CHUNK * sizeof(struct ws_private) + ws_team_bytes(s);
}

void ws_private_free(struct ws_shadow *s)
{
	for (uint32_t i = 0; s->private && i < PRIVATE_CHUNKS && s->private[i]; i++) {
		ws_pool_free(s->private[i], IN_CHUNK * sizeof(struct ws_private));
		ws_memory_count(s, 0 - IN_CHUNK * sizeof(struct ws_private));
	}
	free(s->private);
	s->private = NULL;
}

uint32_t ws_private_node(const struct ws_shadow *s, uint32_t node, uint64_t line_addr)
{
	return node & TEAM_NODE ? ws_team_words(s, node, line_addr) : record(s, node)->words;
}

uint32_t *ws_private_next(const struct ws_shadow *s, uint32_t node)
{
	return node & TEAM_NODE ? ws_team_next(s, node) : &record(s, node)->next;
}

uint32_t ws_private_words(const struct ws_shadow *s, uint32_t newest, uint64_t line_addr)
{
	uint32_t words = 0;

	for (uint32_t i = newest; i; i = *ws_private_next(s, i))
		words |= i & TEAM_NODE ? ws_team_touched(s, i, line_addr) : record(s, i)->words;
	return words;
}

/* ---- keeping ---- */
static void drop(struct ws_private *p, uint32_t i)
{
	if (p->e[i].cls == CLS_RMW)
		p->flags = 0;                /* what was released is gone with the word's value */
	p->n--;
	for (; i < p->n; i++)
		p->e[i] = p->e[i + 1];
}

/* An event in three registers: a copy of one that was just put together in memory would have to wait for it. */
struct happened { uint32_t time, site, what; };
INLINE uint32_t class_of(struct happened h)
{
	return h.what >> 16 & 0xff;
}

INLINE void put(struct ws_event *e, struct happened h)
{
	e->time = h.time;
	e->site = h.site;
	e->what = h.what;
}

INLINE bool add(struct ws_private *p, struct happened h)
{
	if (p->n == EVENTS || (class_of(h) == CLS_RMW && p->flags & HAS_ATOMIC))
		return false;
	put(&p->e[p->n++], h);
	p->flags |= class_of(h) == CLS_RMW ? HAS_ATOMIC : 0;
	return true;
}

/* The events of p for which `what` is the same in those bits, a bit each. */
INLINE uint32_t alike(const struct ws_private *p, uint32_t what, uint32_t bits)
{
	uint32_t a = !((p->e[0].what ^ what) & bits), b = !((p->e[1].what ^ what) & bits), c = !((p->e[2].what ^ what) & bits);

	return (a | b << 1 | c << 2) & ((1u << p->n) - 1);
}

/* An event that comes after those of p, some of which are in its words, as cells would keep it: a write stands for all before
 * it at that place, a read or an atomic for those of its kind. false: p stays as it is, for it has no place, or places overlap. */
INLINE bool keep(struct ws_private *p, struct happened h)
{
	uint32_t same = alike(p, h.what, class_of(h) == CLS_WRITE ? PLACE : PLACE_AND_CLASS), at;

	if (!same)
		return class_of(h) != CLS_WRITE && alike(p, h.what, PLACE) && add(p, h);
	for (at = __builtin_ctz(same); same & (same - 1); same &= ~(1u << (31 - __builtin_clz(same))))
		drop(p, 31 - __builtin_clz(same));
	if (class_of(h) != CLS_RMW && p->e[at].cls == CLS_RMW)
		p->flags = 0;
	put(&p->e[at], h);
	return true;
}

static bool rec_apart(const struct ws_rec *r, int lo, int hi)
{
	return !r->who || r->off + r->step * __builtin_ctz(r->mask) >= hi ||
	       r->off + r->step * (31 - __builtin_clz(r->mask)) + r->size <= lo;
}

/* Has the line nothing but private records about these bytes? */
bool ws_private_untouched(const struct ws_line *line, int lo, int hi)
{
	const struct ws_ext *e = line ? line->ext : NULL;

	if (!line)
		return true;
	if (!rec_apart(&line->w, lo, hi) || !rec_apart(&line->r, lo, hi))
		return false;
	if (!e)
		return true;
	for (uint32_t i = 0; i < e->nreads; i++)
		if (!rec_apart(&e->reads[i], lo, hi))
			return false;
	return rec_apart(&e->w2, lo, hi) && (!e->have || lo >= e->to || hi <= e->from ||
	                                     (!(e->have >> ROW_LOC & 1) && ws_cell_empty(e, (uint32_t)lo, (uint32_t)hi)));
}

static struct ws_private *begin(struct ws_ctx *c, uint64_t owner)
{
	uint32_t i = take(c);
	struct ws_private *p;

	if (!i)
		return NULL;
	p = record(c->s, i);
	p->owner = owner;
	p->next = ws_private_newest(c);
	p->words = 0;
	ws_private_set_newest(c, i);
	c->w->alone |= 1u << (owner >> 32) % WS_WARP;
	return p;
}

/* The record of the line that has it then; NULL: nothing was done. */
INLINE struct ws_private *note(struct ws_ctx *c, uint64_t owner, uint64_t line_addr, uint32_t words, struct happened h, bool may_begin)
{
	int lo = h.what & 0xff, size = h.what >> 8 & 0xff;
	struct ws_private *room = NULL, *p;
	uint32_t n = 0;

	for (uint32_t i = ws_private_newest(c), next; i; i = next, n++) {
		bool own;

		if (__builtin_expect(i & TEAM_NODE, 0)) {
			next = *ws_team_next(c->s, i);
			if (ws_team_words(c->s, i, line_addr) & words)
				return NULL;
			continue;
		}
		p = record(c->s, i);
		next = p->next;
		own = (p->owner & OWNER) == owner;
		if (p->words & words)
			return own && !(words & ~p->words) && keep(p, h) ? p : NULL;
		if (own && p->n < EVENTS && !(class_of(h) == CLS_RMW && p->flags & HAS_ATOMIC))
			room = p;
	}
	if ((!room && (!may_begin || n >= MOST_OF_A_LINE)) || !ws_private_untouched(c->line, lo, lo + size))
		return NULL;
	p = room ? room : begin(c, owner);
	if (p) {
		p->words |= words;
		ws_private_mark(c, words);
		add(p, h);
	}
	return p;
}

/* ---- accesses ---- */
/* What the lanes of an access have in common. */
struct common {
	struct ws_shadow_mem *sm;    /* NULL: its lines may be in use by others, or not all of them are checked */
	uint64_t owner;
	uint32_t holding, wide;      /* wide: words of one lane */
	struct happened h;
};

static struct common common_of(const struct ws_ctx *c, enum ws_class cls)
{
	const struct ws_access *a = c->a;

	return (struct common){.sm = c->l->lock || c->s->thinned ? NULL : a->mem->obs,
	                       .owner = c->me >> 32 | (c->me >> WHO_TIME_BITS & 31) * WS_WARP << 32, .holding = c->w->holding,
	                       .wide = (2u << (a->bytes - 1) / 4) - 1,
	                       .h = {.time = c->me & WHO_TIME, .site = a->site->id, .what = (uint32_t)a->bytes << 8 | (uint32_t)cls << 16}};
}

/* With the locks that the lane holds; what is near its only lock may begin a record, as the lock's word itself (begins) may. */
INLINE struct ws_private *note_lane(struct ws_ctx *c, const struct common *x, uint32_t lane, bool begins)
{
	uint64_t addr = c->a->addr[lane];
	uint32_t lo = addr & (LINE - 1);
	struct happened h = {x->h.time, x->h.site, x->h.what | lo};

	if (x->holding >> lane & 1) {
		uint64_t at = c->w->held->first[lane] - (addr - lo), word = at >> 2 | at << 62;  /* no word of this line: large */
		bool one = c->w->one >> lane & 1;

		if (one && word < LINE / 4)
			h.what |= (1 + (uint32_t)word) << 24;
		else
			h.site |= ws_locks_of(c, lane) << SITE_BITS;
		begins |= one && at + LINE < 3 * LINE;
	}
	return note(c, x->owner + ((uint64_t)lane << 32), addr - lo, x->wide << lo / 4, h, begins);
}

void ws_private_launch(struct ws_launch_state *l)
{
	/* else a word that one thread uses for itself is not to be told from others, or they are cheap */
	l->private = l->checked && !l->simple && !l->narrow && !l->depends && !l->cluster;
}

/* What cannot be kept, in a line with no nodes any more: is it checked here, for none of the access's other lanes can meet it? */
static bool check_alone(struct ws_ctx *c, uint32_t lane)
{
	const struct ws_access *a = c->a;
	uint64_t addr = a->addr[lane];
	bool done;

	if (!c->line || c->line->mark >> 1 || (c->cls == CLS_WRITE && ws_general_met(a, 1u << lane) & a->mask & ~(1u << lane)))
		return false;
	c->line_addr = addr & ~(uint64_t)(LINE - 1);
	c->site = a->site->id | ws_locks_of(c, lane) << SITE_BITS;
	done = ws_regular_lane(c, lane, addr & (LINE - 1));
	c->site = a->site->id;
	return done;
}

uint32_t ws_private_weak(struct ws_ctx *c)
{
	const struct ws_access *a = c->a;
	uint32_t left = a->mask, bytes = a->bytes;
	struct common x;

	if (!a->mem || bytes < 4 || bytes > 32 || bytes & (bytes - 1) || c->s->config.granularity != 1)
		return left;
	if (c->w->team && !c->l->lock && !c->s->thinned)
		left &= ~ws_team_keep(c, left, 0);
	if (!(left & (c->w->alone | c->w->holding)))
		return left;
	x = common_of(c, c->cls);
	for (uint32_t m = left & (c->w->alone | x.holding); m; m &= m - 1) {
		uint32_t l = __builtin_ctz(m);

		if (a->addr[l] & (bytes - 1) || !ws_private_enter(c, x.sm, a->addr[l]))
			continue;
		if (note_lane(c, &x, l, false) || check_alone(c, l))
			left &= ~(1u << l);
		ws_shadow_unlock(c);
	}
	return left;
}

bool ws_private_strong(const struct ws_ctx *c)
{
	const struct ws_access *a = c->a;

	return c->l->private && c->global && a->mem && !a->async && a->kind == WS_ATOMIC && a->sem == WS_SEM_RELAXED &&
	       a->scope == WS_SCOPE_GPU && (a->bytes == 4 || a->bytes == 8) && c->s->config.granularity == 1 && !c->w->async &&
	       ws_facts_none(&c->b->kb);
}

INLINE void release(struct ws_private *p, const struct ws_fenced *f)
{
	p->flags = HAS_ATOMIC | RELEASED | (f->sc ? SC : 0);
	p->time = f->time;
	p->floor = f->floor;
	p->wfloor = f->wfloor;
}

/* Of one lane, which changed memory. */
INLINE bool atomic(struct ws_ctx *c, const struct common *x, uint32_t lane, bool takes)
{
	uint32_t unit = c->its ? lane : 0;
	const struct ws_fenced *f = &c->w->fenced;
	struct ws_fenced other;
	struct ws_private *p;

	if (c->w->lane_used >> unit & 1) {
		if (!ws_sync_plain(c, unit, &other))
			return false;
		f = &other;
	}
	if ((f->mask && f->slot != c->b->slot) || !ws_private_enter(c, x->sm, c->a->addr[lane]))
		return false;
	p = note_lane(c, x, lane, takes);
	if (p && f->mask >> unit & 1)
		release(p, f);
	ws_shadow_unlock(c);
	return p;
}

/* Records of lines that the lanes may not have been to. */
void ws_private_prefetch(const struct ws_ctx *c, uint32_t mask)
{
	const struct ws_access *a = c->a;
	struct ws_shadow_mem *sm = c->l->lock ? NULL : a->mem->obs;

	for (uint32_t m = sm && c->s->private ? mask & ~c->w->holding : 0; m; m &= m - 1) {
		const uint64_t *place = ws_private_place(sm, a->addr[__builtin_ctz(m)], c->l->gen);
		uint64_t at = place ? *place : 0;
		uint32_t newest = at & 1 ? PLACE_RECORD(at) : at ? ((const struct ws_line *)(uintptr_t)at)->mark >> 1 : 0;

		if (newest & TEAM_NODE)
			ws_team_prefetch(c->s, newest);
		else if (newest && newest <= c->s->nprivate)
			__builtin_prefetch(record(c->s, newest), 1);
	}
}

uint32_t ws_private_team(struct ws_ctx *c)
{
	const struct ws_access *a = c->a;
	const struct ws_fenced *f = &c->w->fenced;
	bool takes = a->atom == WS_ATOM_CAS || a->atom == WS_ATOM_EXCH;
	uint32_t used = c->its ? c->w->lane_used : 0 - (c->w->lane_used & 1), may = a->wrote & a->mask & ~used;
	uint32_t released = c->its ? f->mask : 0 - (f->mask & 1), kept;

	if (c->l->lock || c->s->thinned || !may || (!takes && !c->w->team) || (f->mask && f->slot != c->b->slot))
		return a->mask;
	may = ws_team_elsewhere(a, may);
	c->cls = CLS_RMW;
	kept = ws_team_keep(c, may, released);
	if (takes && may & ~kept)
		kept |= ws_team_begin(c, may & ~kept, released);
	return a->mask & ~kept;
}

uint32_t ws_private_atomics(struct ws_ctx *c, uint32_t todo)
{
	const struct ws_access *a = c->a;
	bool takes = a->atom == WS_ATOM_CAS || a->atom == WS_ATOM_EXCH;
	uint32_t may = (takes ? a->wrote : a->wrote & c->w->alone) & todo;
	struct common x;

	if (!may)
		return todo;
	x = common_of(c, CLS_RMW);
	for (; todo; todo &= todo - 1) {
		uint32_t l = __builtin_ctz(todo);

		if (!(may >> l & 1) || a->addr[l] & (a->bytes - 1) || !atomic(c, &x, l, takes))
			break;
	}
	return todo;
}

/* ---- opening ---- */
void ws_private_become_cells(struct ws_ctx *c, const struct ws_kept *k, const struct ws_fenced *released)
{
	uint32_t lane = k->thread % WS_WARP, lo = k->addr & (LINE - 1);
	struct ws_access a = {.kind = k->cls == CLS_READ ? WS_READ : WS_WRITE, .mask = 1u << lane, .bytes = (uint16_t)k->bytes};
	struct ws_ctx then = *c;

	then.cls = k->cls;
	then.me = then.as = ws_who(k->slot, k->thread / WS_WARP, k->time);
	then.site = k->site;
	then.proxy = false;
	then.a = &a;
	then.floor = then.wfloor = 0;        /* of that time; what is there already is about other bytes */
	if (k->cls == CLS_RMW || !ws_regular_lane(&then, lane, lo))
		ws_cell_install(&then, lane, lo, lo + k->bytes);
	if (k->cls == CLS_RMW && released->mask)
		ws_sync_released(&then, lane, released, ws_cell_loc(&then, k->addr, k->bytes, true, false));
}

static void become_cells(struct ws_ctx *c, const struct ws_private *p, const struct ws_event *e)
{
	struct ws_fenced f = {.mask = p->flags & RELEASED, .slot = p->slot, .time = p->time, .floor = p->floor, .wfloor = p->wfloor,
	                      .sc = p->flags & SC};
	struct ws_kept k = {.slot = p->slot, .thread = p->thread, .time = e->time, .site = e->site, .bytes = e->size,
	                    .addr = c->line_addr + e->lo, .cls = e->cls};

	if (e->lock)
		k.site |= ws_locks_only(c->s, c->line_addr + (e->lock - 1) * 4) << SITE_BITS;

	ws_private_become_cells(c, &k, &f);
}

static void set_next(struct ws_ctx *c, uint32_t *before, uint32_t i)
{
	if (before)
		*before = i;
	else
		ws_private_set_newest(c, i);
}

static void open_node(struct ws_ctx *c, uint32_t i)
{
	const struct ws_private *p;

	if (i & TEAM_NODE) {
		ws_team_eject(c, i);
		return;
	}
	p = record(c->s, i);
	for (uint32_t k = 0; k < p->n; k++)
		become_cells(c, p, &p->e[k]);
	give_back(c->s, i);
}

void ws_private_open(struct ws_ctx *c, uint32_t lo, uint32_t hi)
{
	uint32_t words = (2u << ((hi < LINE ? hi : LINE) - 1) / 4) - (1u << lo / 4), next, *before = NULL;

	for (uint32_t i = c->line->mark >> 1; i; i = next) {
		uint32_t its = ws_private_node(c->s, i, c->line_addr);

		next = *ws_private_next(c->s, i);
		if (its && !(its & words)) {
			before = ws_private_next(c->s, i);
			continue;
		}
		set_next(c, before, next);
		if (its)
			open_node(c, i);
	}
}

static bool forget_record(struct ws_private *p)
{
	for (uint32_t k = EVENTS; k-- > 0;)
		if (k < p->n && p->e[k].cls != CLS_RMW)
			drop(p, k);
	return !p->n;
}

bool ws_private_forget_weak(struct ws_shadow *s, uint32_t newest, uint64_t line_addr)
{
	bool none = true;

	for (uint32_t i = newest; i; i = *ws_private_next(s, i))
		none &= i & TEAM_NODE ? ws_team_forget_weak(s, i, line_addr) : forget_record(record(s, i));
	return none;
}

/* shadow_team.c - words of global memory that one lane each of a warp alone has touched, by what all lanes do alike
 * (shadow_priv.h).
 *
 * The lanes of a warp that each take a lock of an entry of their own, and then each access the same fields of their entries, are a
 * team: the addresses of the locks, once, and accesses that are the same for all but for the address. An access is compared with the
 * addresses of all lanes at once; nothing is looked up in memory's lines. A lane has claimed the bytes from `from` to `to` around
 * its lock's address, which nobody else had touched; how many is learned from the accesses that came after the same instruction
 * before. As in shadow_private.c, the first access of another thread to one of these bytes ends that: what the lane did becomes
 * cells, and it is no longer of the team. So does what a team has no place for.
 *
 * Only on one host thread: the warp that owns a team locks nothing. */
#include "detect/shadow_private.h"

#include <stdlib.h>
#include <string.h>

enum { EVENTS = 5, LEAST = 8 /* lanes */, NEWEST = 3 /* teams of a warp that are looked at */, TEAMS = 1 << 24 };
enum { ROOM = 1 << 20 };             /* bytes of shadow memory: more than one access can need */

struct team_event {                  /* by each lane of mask, at its address + at */
	uint32_t time, site, mask;
	int16_t at;
	uint8_t size, cls : 7, lock : 1;     /* READ, WRITE, RMW; lock: with the lane's lock, the only one held */
};

struct ws_team {
	const struct ws_mem *mem;
	uint64_t origin;             /* lane's address = origin + 4 * at[lane] */
	uint32_t slot, older;        /* older: team of the same warp + 1; 0 = none */
	uint32_t site;               /* of the atomic that it began with */
	uint32_t live, two;          /* lanes; of them (and of those that were) whose bytes are in two lines */
	int16_t from, to;            /* bytes claimed, from a lane's address */
	uint8_t warp, n;
	struct ws_fenced released;   /* by the only place of atomics of these lanes */
	struct team_event e[EVENTS];
	uint32_t at[WS_WARP], next[WS_WARP];
	uint32_t second[];           /* next, in the lists of the second lines; for each lane of `two` */
};

static size_t size_of(const struct ws_team *t)
{
	return sizeof *t + (uint32_t)__builtin_popcount(t->two) * sizeof t->second[0];
}

static uint64_t address(const struct ws_team *t, uint32_t lane)
{
	return t->origin + 4 * (uint64_t)t->at[lane];
}

/* ---- memory ---- */
void ws_team_launch(struct ws_shadow *s)
{
	for (uint32_t i = 0; i < s->nteams; i++) {
		ws_memory_count(s, 0 - size_of(s->teams[i]));
		ws_pool_free(s->teams[i], size_of(s->teams[i]));
	}
	s->nteams = 0;
}

void ws_team_free(struct ws_shadow *s)
{
	ws_team_launch(s);
	ws_memory_count(s, 0 - s->teams_cap * sizeof *s->teams);
	free(s->teams);
	s->teams = NULL;
	s->teams_cap = 0;
}

uint64_t ws_team_bytes(const struct ws_shadow *s)
{
	uint64_t n = s->teams_cap * sizeof *s->teams;

	for (uint32_t i = 0; i < s->nteams; i++)
		n += size_of(s->teams[i]);
	return n;
}

/* ---- nodes ---- */
INLINE uint32_t *team_next(const struct ws_shadow *s, uint32_t node)
{
	struct ws_team *t = ws_team_of(s, node);
	uint32_t lane = node % WS_WARP;

	return node & TEAM_SECOND ? &t->second[__builtin_popcount(t->two & ((1u << lane) - 1))] : &t->next[lane];
}

uint32_t *ws_team_next(const struct ws_shadow *s, uint32_t node)
{
	return team_next(s, node);
}

void ws_team_prefetch(const struct ws_shadow *s, uint32_t node)
{
	const struct ws_team *t = ws_team_of(s, node);

	__builtin_prefetch(t);
	__builtin_prefetch(&t->e[1]);
	__builtin_prefetch(&t->at[node % WS_WARP]);
	__builtin_prefetch(&t->next[node % WS_WARP], 1);
}

/* Of the bytes lo..hi around the lane's address, the words in that line. */
INLINE uint32_t words_in(const struct ws_team *t, uint32_t lane, int lo, int hi, uint64_t line_addr)
{
	int64_t from = (int64_t)(address(t, lane) + (uint64_t)(int64_t)lo - line_addr) >> 2, to = from + ((hi - lo) >> 2);

	from = from < 0 ? 0 : from;
	to = to > LINE / 4 ? LINE / 4 : to;
	return from < to ? (uint32_t)(((1ull << (to - from)) - 1) << from) : 0;
}

INLINE uint32_t team_words(const struct ws_shadow *s, uint32_t node, uint64_t line_addr)
{
	const struct ws_team *t = ws_team_of(s, node);
	uint32_t lane = node % WS_WARP;

	return t->live >> lane & 1 ? words_in(t, lane, t->from, t->to, line_addr) : 0;
}

uint32_t ws_team_words(const struct ws_shadow *s, uint32_t node, uint64_t line_addr)
{
	return team_words(s, node, line_addr);
}

uint32_t ws_team_touched(const struct ws_shadow *s, uint32_t node, uint64_t line_addr)
{
	const struct ws_team *t = ws_team_of(s, node);
	uint32_t lane = node % WS_WARP, words = 0;

	for (uint32_t i = 0; t->live >> lane & 1 && i < t->n; i++)
		if (t->e[i].mask >> lane & 1)
			words |= words_in(t, lane, t->e[i].at, t->e[i].at + t->e[i].size, line_addr);
	return words;
}

/* ---- the end of a lane ---- */
static void become_cells(struct ws_ctx *c, const struct ws_team *t, const struct team_event *e, uint32_t lane, uint32_t locks)
{
	struct ws_fenced f = t->released;
	struct ws_kept k = {.slot = t->slot, .thread = t->warp * WS_WARP + lane, .time = e->time, .site = e->site, .bytes = e->size,
	                    .addr = address(t, lane) + (uint64_t)(int64_t)e->at, .cls = e->cls};
	struct ws_ctx then;

	if (e->lock)
		k.site |= locks << SITE_BITS;
	f.mask = f.mask >> lane & 1;
	if (c->line && !((k.addr ^ c->line_addr) >> LINE_BITS)) {
		ws_private_become_cells(c, &k, &f);
		return;
	}
	then = *c;
	if (ws_shadow_line_closed(&then, k.addr, t->mem))
		ws_private_become_cells(&then, &k, &f);
}

void ws_team_eject(struct ws_ctx *c, uint32_t node)
{
	struct ws_team *t = ws_team_of(c->s, node);
	uint32_t lane = node % WS_WARP, bit = 1u << lane, locks = 0, writes = 0, others = 0;

	t->live &= ~bit;
	for (uint32_t i = 0; i < t->n; i++) {
		struct team_event *e = &t->e[i];

		if (!(e->mask & bit))
			continue;
		*(e->cls == CLS_WRITE ? &writes : &others) |= 1u << i;
		if (e->lock && !locks)
			locks = ws_locks_only(c->s, address(t, lane));
	}
	for (; writes; writes &= writes - 1)         /* first: a write has ended what was before it at its place */
		become_cells(c, t, &t->e[__builtin_ctz(writes)], lane, locks);
	for (; others; others &= others - 1)
		become_cells(c, t, &t->e[__builtin_ctz(others)], lane, locks);
	for (uint32_t i = 0; i < t->n; i++)
		t->e[i].mask &= ~bit;
	t->released.mask &= ~bit;
}

bool ws_team_forget_weak(struct ws_shadow *s, uint32_t node, uint64_t line_addr)
{
	struct ws_team *t = ws_team_of(s, node);
	uint32_t lane = node % WS_WARP, bit = 1u << lane;
	bool none = true;

	for (uint32_t i = 0; i < t->n; i++) {
		struct team_event *e = &t->e[i];

		if (!(e->mask & bit) || !words_in(t, lane, e->at, e->at + e->size, line_addr))
			continue;
		if (e->cls == CLS_RMW)
			none = false;
		else
			e->mask &= ~bit;
	}
	return none;
}

/* ---- keeping ---- */
static bool overlap(const struct team_event *a, const struct team_event *b)
{
	return a->at < b->at + b->size && b->at < a->at + a->size;
}

static bool same_place(const struct team_event *a, const struct team_event *b)
{
	return a->at == b->at && a->size == b->size;
}

/* Does the newer access at the same place stand for the older one? */
static bool replaces(const struct team_event *new, const struct team_event *old)
{
	return new->cls == CLS_WRITE || new->cls == old->cls;
}

static bool same_fence(const struct ws_fenced *a, const struct ws_fenced *b)
{
	return a->time == b->time && a->floor == b->floor && a->wfloor == b->wfloor && a->sc == b->sc;
}

/* The lanes of m for which the release goes with what is there: of one fence. */
static uint32_t released_alike(const struct ws_team *t, uint32_t m, const struct ws_fenced *f, uint32_t released)
{
	m &= ~(t->released.mask & ~released);
	return (t->released.mask & ~m) && released & m && !same_fence(f, &t->released) ? m & ~released : m;
}

/* Keeps what the lanes of `new` have done; returns those of which it is kept: where places are the same or apart, and atomics at
 * one place. */
static uint32_t keep(struct ws_team *t, const struct team_event *new, const struct ws_fenced *f, uint32_t released)
{
	struct team_event *same = NULL, *room = t->n < EVENTS ? &t->e[t->n] : NULL;
	uint32_t m = new->mask, ended = 0;

	for (uint32_t i = 0; i < t->n; i++) {
		struct team_event *e = &t->e[i];

		if (!same_place(e, new)) {
			m &= overlap(e, new) || (e->cls == CLS_RMW && new->cls == CLS_RMW) ? ~e->mask : ~0u;
			continue;
		}
		ended |= (uint32_t)replaces(new, e) << i;
		if (e->time == new->time && e->site == new->site && e->cls == new->cls && e->lock == new->lock)
			same = e;
	}
	if (new->cls == CLS_RMW)
		m = released_alike(t, m, f, released);
	for (uint32_t b = ended; b; b &= b - 1)
		if (!(t->e[__builtin_ctz(b)].mask & ~m))
			room = &t->e[__builtin_ctz(b)];
	if (!m || (!same && !room))
		return 0;
	for (; ended; ended &= ended - 1) {
		struct team_event *e = &t->e[__builtin_ctz(ended)];

		if (e->cls == CLS_RMW && new->cls != CLS_RMW)
			t->released.mask &= ~(e->mask & m);
		e->mask &= ~m;
	}
	if (same) {
		same->mask |= m;
	} else {
		t->n += room == &t->e[t->n];
		*room = *new;
		room->mask = m;
	}
	released &= m;
	if (new->cls == CLS_RMW && released) {
		released |= t->released.mask;
		t->released = *f;
		t->released.mask = released;
	}
	return m;
}

static struct ws_site_info *site_of(const struct ws_ctx *c, uint32_t site)
{
	return &c->s->sites[(site & SITE_ID) >> CHUNK_BITS][site & (CHUNK - 1)];
}

/* These bytes of one line, a bit a word. */
INLINE uint32_t words_of(uint64_t addr, uint32_t bytes)
{
	return (uint32_t)(((1ull << bytes / 4) - 1) << (addr & (LINE - 1)) / 4);
}

/* Has nobody touched these bytes, all of one line? Then c->line and c->place are its. */
INLINE bool is_free(struct ws_ctx *c, const struct ws_team *t, uint64_t addr, uint32_t bytes)
{
	uint64_t line_addr = addr & ~(uint64_t)(LINE - 1);
	uint32_t lo = addr & (LINE - 1), words = words_of(addr, bytes), n = 0;

	if (!ws_private_enter(c, t->mem->obs, addr))
		return false;
	if (!c->line)
		return !(*c->place >> 32 & words);
	for (uint32_t i = ws_private_newest(c); i; i = *(i & TEAM_NODE ? team_next(c->s, i) : ws_private_next(c->s, i)))
		if ((i & TEAM_NODE ? team_words(c->s, i, line_addr) : ws_private_node(c->s, i, line_addr)) & words || ++n == MOST_OF_A_LINE)
			return false;
	return ws_private_untouched(c->line, (int)lo, (int)(lo + bytes));
}

/* The part of bytes from..to around an address that is in its last line; 0 = all of them are in one. */
INLINE uint32_t in_second(uint64_t addr, int from, int to)
{
	uint32_t end = (uint32_t)(addr + (uint64_t)(int64_t)to) & (LINE - 1);

	return end && end < (uint32_t)(to - from) ? end : 0;
}

INLINE bool claim(struct ws_ctx *c, struct ws_team *t, uint32_t lane, uint32_t node)
{
	uint64_t addr = address(t, lane) + (uint64_t)(int64_t)t->from;
	uint32_t bytes = (uint32_t)(t->to - t->from), more = in_second(address(t, lane), t->from, t->to);

	if (more && !is_free(c, t, addr + bytes - more, more))
		return false;
	if (!is_free(c, t, addr, bytes - more))
		return false;
	t->next[lane] = ws_private_newest(c);
	ws_private_set_newest(c, node | lane);
	ws_private_mark(c, words_of(addr, bytes - more));
	if (!more || !is_free(c, t, addr + bytes - more, more))
		return true;
	*ws_team_next(c->s, node | TEAM_SECOND | lane) = ws_private_newest(c);
	ws_private_set_newest(c, node | TEAM_SECOND | lane);
	ws_private_mark(c, words_of(addr + bytes - more, more));
	return true;
}

/* Are these bytes, of one line, free? Then the lane, which has a node in the line, claims them. */
static bool claim_more(struct ws_ctx *c, const struct ws_team *t, uint64_t addr, uint32_t bytes)
{
	if (!is_free(c, t, addr, bytes))
		return false;
	ws_private_mark(c, words_of(addr, bytes));
	return true;
}

/* Claims bytes lo..hi, beside those of the lane, if they are free, and in the lines that it is in. */
static bool may_grow(struct ws_ctx *c, const struct ws_team *t, uint32_t lane, int lo, int hi)
{
	uint64_t addr = address(t, lane), first = (addr + (uint64_t)(int64_t)t->from) >> LINE_BITS,
	         last = (addr + (uint64_t)(int64_t)t->to - 1) >> LINE_BITS;
	uint32_t more = in_second(addr, lo, hi);

	addr += (uint64_t)(int64_t)lo;
	return addr >> LINE_BITS >= first && (addr + (uint32_t)(hi - lo) - 1) >> LINE_BITS <= last &&
	       (!more || claim_more(c, t, addr + (uint32_t)(hi - lo) - more, more)) &&
	       claim_more(c, t, addr, (uint32_t)(hi - lo) - more);
}

/* All lanes claim lo..hi too; those that cannot are no longer of the team. */
static bool grow(struct ws_ctx *c, struct ws_team *t, uint32_t node, int lo, int hi)
{
	int from = lo < t->from ? lo : t->from, to = hi > t->to ? hi : t->to;
	struct ws_site_info *info = site_of(c, t->site);

	if (to - from > LINE)
		return false;
	for (uint32_t m = t->live; m; m &= m - 1) {
		uint32_t l = __builtin_ctz(m);
		struct ws_ctx then = *c;

		if ((from < t->from && !may_grow(&then, t, l, from, t->from)) || (to > t->to && !may_grow(&then, t, l, t->to, to))) {
			then.line = NULL;    /* which one it is is not known here */
			ws_team_eject(&then, node | l);
		}
	}
	t->from = (int16_t)from;
	t->to = (int16_t)to;
	if (to - from > info->claim_to - info->claim_from) {
		info->claim_from = t->from;
		info->claim_to = t->to;
	}
	return true;
}

/* Those that are aligned. */
static uint32_t aligned(const struct ws_access *a, uint32_t mask)
{
	uint64_t low = 0;

	for (uint32_t m = mask; m; m &= m - 1)
		low |= a->addr[__builtin_ctz(m)];
	return low & (a->bytes - 1) ? 0 : mask;
}

uint32_t ws_team_elsewhere(const struct ws_access *a, uint32_t mask)
{
	return mask & ~ws_general_met(a, a->mask & ~mask);
}

static uint32_t keep_in(struct ws_ctx *c, struct ws_team *t, uint32_t node, uint32_t mask, uint32_t released)
{
	const struct ws_access *a = c->a;
	uint32_t m = mask & t->live, locked = 0, kept = 0;
	struct team_event new = {.time = c->me & WHO_TIME, .site = a->site->id, .size = (uint8_t)a->bytes, .cls = c->cls};
	int64_t at;

	if (!m || a->mem != t->mem)
		return 0;
	at = (int64_t)(a->addr[__builtin_ctz(m)] - address(t, __builtin_ctz(m)));
	if (at < -LINE || at > LINE)
		return 0;
	m &= ws_gpu_lanes_at(a->addr, t->origin + (uint64_t)at, t->at);
	if (a->bytes > 4)
		m = aligned(a, m);
	if (m && (at < t->from || at + a->bytes > t->to) && !grow(c, t, node, (int)at, (int)at + a->bytes))
		return 0;
	m &= t->live;
	if (c->cls == CLS_RMW)
		m = ws_team_elsewhere(a, m);
	new.at = (int16_t)at;
	if (m & c->w->holding) {
		locked = ws_gpu_lanes_at(c->w->held->first, t->origin, t->at) & c->w->one & m;
		m &= ~(c->w->holding & ~locked);
	}
	new.mask = m & ~locked;
	if (new.mask)
		kept = keep(t, &new, &c->w->fenced, released);
	new.mask = locked;
	new.lock = 1;
	if (new.mask)
		kept |= keep(t, &new, &c->w->fenced, released);
	return kept;
}

uint32_t ws_team_keep(struct ws_ctx *c, uint32_t mask, uint32_t released)
{
	uint32_t kept = 0, i = c->w->team;

	for (int n = 0; n < NEWEST && i && mask & ~kept; n++) {
		struct ws_team *t = c->s->teams[i - 1];

		if (t->slot != c->b->slot)
			break;
		kept |= keep_in(c, t, TEAM_NODE | (i - 1) << 5, mask & ~kept, released);
		i = t->older;
	}
	return kept;
}

static struct ws_team *new_team(struct ws_ctx *c, uint32_t two)
{
	struct ws_shadow *s = c->s;
	size_t cap = s->teams_cap;
	struct ws_team *t;

	t = ws_pool_new(sizeof *t + (uint32_t)__builtin_popcount(two) * sizeof t->second[0]);
	t->two = two;
	s->teams = ws_grow(s->teams, &s->teams_cap, s->nteams + 1, sizeof *s->teams);
	s->teams[s->nteams++] = t;
	ws_memory_count(s, size_of(t) + (s->teams_cap - cap) * sizeof *s->teams);
	return t;
}

/* Where the first of the bytes from..to of each of these lanes are kept, fetched; *two: lanes that are in two lines. false: lanes are
 * not aligned. What does not change is read once, for stores might be to it as far as the compiler knows. */
static bool look_up(const struct ws_ctx *c, uint32_t mask, int from, int to, uint64_t *place[], uint32_t *two)
{
	struct ws_shadow_mem *sm = c->a->mem->obs;
	struct ws_page *const *page = sm->page;
	const uint64_t *its = c->a->addr, first = sm->first, n = sm->nlines;
	const uint32_t *of = sm->gen, gen = c->l->gen, bytes = (uint32_t)(to - from);
	uint64_t low = 0;

	*two = 0;
	for (uint32_t m = mask; m; m &= m - 1) {
		uint32_t l = __builtin_ctz(m);
		uint64_t addr = its[l] + (uint64_t)(int64_t)from, i = (addr >> LINE_BITS) - first, p = i >> PAGE_BITS;

		low |= its[l];
		*two |= (addr & (LINE - 1)) + bytes > LINE ? m & -m : 0;
		place[l] = i < n && page[p] && of[p] == gen ? &page[p]->at[i % PAGE_LINES] : ws_private_place(sm, addr, gen);
		__builtin_prefetch(place[l], 1);
	}
	return !(low & (c->a->bytes - 1u));
}

/* Most often the bytes are in one line that nobody has touched, of which there are at most nodes. Returns the lanes that have theirs. */
static uint32_t claim_all(struct ws_ctx *c, struct ws_team *t, uint32_t mask, uint64_t *const place[], uint32_t node)
{
	const uint64_t *its = c->a->addr, width = ((1ull << (t->to - t->from) / 4) - 1) << 32, origin = t->origin;
	uint32_t two = t->two, live = 0;
	int64_t from = t->from;

	for (uint32_t m = mask; m; m &= m - 1) {
		uint32_t l = __builtin_ctz(m);
		uint64_t *at = two >> l & 1 ? NULL : place[l], old = at ? *at : 0, words = width << ((its[l] + (uint64_t)from) / 4 % (LINE / 4));

		t->at[l] = (uint32_t)((its[l] - origin) / 4);
		if (at && !(old & words) && (old & 1 || !old)) {
			t->next[l] = (uint32_t)old >> 1;
			*at = (old >> 32 << 32) | words | (node | l) << 1 | 1;
			live |= m & -m;
		} else if (claim(c, t, l, node)) {
			live |= m & -m;
		}
	}
	return live;
}

uint32_t ws_team_begin(struct ws_ctx *c, uint32_t mask, uint32_t released)
{
	const struct ws_access *a = c->a;
	const struct ws_site_info *info = site_of(c, a->site->id);
	struct ws_shadow_mem *sm = a->mem->obs;
	uint32_t two, node = TEAM_NODE | c->s->nteams << 5;
	int from = info->claim_from, to = info->claim_to > a->bytes ? info->claim_to : a->bytes;
	struct team_event first = {.time = c->me & WHO_TIME, .site = a->site->id, .size = (uint8_t)a->bytes, .cls = CLS_RMW};
	uint64_t *place[WS_WARP];
	struct ws_team *t;

	if (!sm || __builtin_popcount(mask) < LEAST || mask & c->w->holding || c->s->nteams == TEAMS ||
	    a->mem->size >> 33 || !ws_memory_room(c->s, ROOM) || !look_up(c, mask, from, to, place, &two))
		return 0;
	t = new_team(c, two);
	t->mem = a->mem;
	t->origin = sm->first << LINE_BITS;
	t->slot = c->b->slot;
	t->site = a->site->id;
	t->older = c->w->team;
	t->warp = c->me >> WHO_TIME_BITS & 31;
	t->from = (int16_t)from;
	t->to = (int16_t)to;
	t->live = claim_all(c, t, mask, place, node);
	if (!t->live) {
		ws_memory_count(c->s, 0 - size_of(t));
		ws_pool_free(t, size_of(t));
		c->s->nteams--;
		return 0;
	}
	c->w->team = c->s->nteams;
	c->w->alone |= t->live;
	first.mask = t->live;
	return keep(t, &first, &c->w->fenced, released);
}

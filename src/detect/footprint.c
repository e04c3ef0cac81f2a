/* footprint.c - sets of bytes in pages of 4 KiB, and whole pages as ranges; see footprint.h. */
#include "detect/footprint.h"

#include <stdlib.h>
#include <string.h>

enum { PAGE_SHIFT = 12, PAGE_BYTES = 1 << PAGE_SHIFT, WORDS = PAGE_BYTES / 64, FIRST_SLOTS = 64 };
enum { BY_READ, BY_WRITE, BY };

struct page {                        /* a word of a set, and a `who`: 64 bytes of memory */
	uint64_t number;             /* address >> PAGE_SHIFT */
	unsigned sets;               /* not empty */
	uint64_t bits[WS_FP_SETS][WORDS];
	struct ws_fp_who who[BY][WORDS];     /* the last one */
};

struct range { uint64_t start, end; unsigned sets; struct ws_fp_who who; };  /* pages */

struct ws_footprint {
	struct page **table;         /* open addressing; a power of two */
	size_t slots, n;
	struct page *last;           /* used last */
	struct range *ranges;
	size_t nranges, cap;
};

struct ws_footprint *ws_footprint_new(void)
{
	return ws_alloc(sizeof(struct ws_footprint));
}

void ws_footprint_free(struct ws_footprint *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < f->slots; i++)
		free(f->table[i]);
	free(f->table);
	free(f->ranges);
	free(f);
}

bool ws_footprint_empty(const struct ws_footprint *f)
{
	return !f->n && !f->nranges;
}

uint64_t ws_footprint_memory(const struct ws_footprint *f)
{
	return f->n * sizeof(struct page) + f->slots * sizeof *f->table + f->cap * sizeof *f->ranges;
}

/* ---- pages ---- */
static struct page **slot(const struct ws_footprint *f, uint64_t number)
{
	size_t i = number * 0x9E3779B97F4A7C15u >> 32 & (f->slots - 1);

	while (f->table[i] && f->table[i]->number != number)
		i = (i + 1) & (f->slots - 1);
	return &f->table[i];
}

static struct page *find(const struct ws_footprint *f, uint64_t number)
{
	return f->slots ? *slot(f, number) : NULL;
}

static void make_room(struct ws_footprint *f)
{
	struct page **old = f->table;
	size_t n = f->slots;

	if (2 * (f->n + 1) <= n)
		return;
	f->slots = n ? 2 * n : FIRST_SLOTS;
	f->table = ws_alloc(f->slots * sizeof *f->table);
	for (size_t i = 0; i < n; i++)
		if (old[i])
			*slot(f, old[i]->number) = old[i];
	free(old);
}

static struct page *page_of(struct ws_footprint *f, uint64_t number)
{
	struct page **p;

	if (f->last && f->last->number == number)
		return f->last;
	make_room(f);
	p = slot(f, number);
	if (!*p) {
		*p = ws_alloc(sizeof **p);
		(*p)->number = number;
		f->n++;
	}
	return f->last = *p;
}

static bool reads(unsigned sets)
{
	return sets & (1u << WS_FP_READ | 1u << WS_FP_STRONG_READ);
}

static bool writes(unsigned sets)
{
	return sets & (1u << WS_FP_WRITE | 1u << WS_FP_STRONG_WRITE);
}

static uint64_t low_bits(uint64_t n)
{
	return n >= 64 ? ~0ull : (1ull << n) - 1;
}

static void add_to_page(struct page *p, uint32_t at, uint32_t bytes, unsigned sets, const struct ws_fp_who *who)
{
	p->sets |= sets;
	while (bytes) {
		uint32_t w = at / 64, n = 64 - at % 64 < bytes ? 64 - at % 64 : bytes;
		uint64_t mask = low_bits(n) << at % 64;

		for (unsigned m = sets; m; m &= m - 1)
			p->bits[__builtin_ctz(m)][w] |= mask;
		if (reads(sets))
			p->who[BY_READ][w] = *who;
		if (writes(sets))
			p->who[BY_WRITE][w] = *who;
		at += n;
		bytes -= n;
	}
}

static void add_range(struct ws_footprint *f, uint64_t start, uint64_t end, unsigned sets, const struct ws_fp_who *who)
{
	*WS_PUSH(f->ranges, f->nranges, f->cap) = (struct range){start, end, sets, *who};
}

void ws_footprint_add(struct ws_footprint *f, uint64_t addr, uint64_t bytes, unsigned sets, const struct ws_fp_who *who)
{
	while (bytes) {
		uint64_t page = addr >> PAGE_SHIFT, at = addr % PAGE_BYTES, n = PAGE_BYTES - at < bytes ? PAGE_BYTES - at : bytes;

		if (!who->site && n == PAGE_BYTES) {
			n = bytes & ~(uint64_t)(PAGE_BYTES - 1);
			add_range(f, page, page + (n >> PAGE_SHIFT), sets, who);
		} else {
			add_to_page(page_of(f, page), (uint32_t)at, (uint32_t)n, sets, who);
		}
		addr += n;
		bytes -= n;
	}
}

static void merge_page(struct page *to, const struct page *from)
{
	to->sets |= from->sets;
	for (int s = 0; s < WS_FP_SETS; s++)
		for (int w = 0; w < WORDS; w++)
			to->bits[s][w] |= from->bits[s][w];
	for (int b = 0; b < BY; b++)
		for (int w = 0; w < WORDS; w++)
			if (from->who[b][w].op)
				to->who[b][w] = from->who[b][w];
}

void ws_footprint_merge(struct ws_footprint *to, struct ws_footprint *from)
{
	for (size_t i = 0; i < from->slots; i++) {
		struct page *p = from->table[i], **at;

		if (!p)
			continue;
		make_room(to);
		at = slot(to, p->number);
		if (*at) {
			merge_page(*at, p);
		} else {
			*at = p;
			from->table[i] = NULL;
			to->n++;
		}
	}
	for (size_t i = 0; i < from->nranges; i++)
		*WS_PUSH(to->ranges, to->nranges, to->cap) = from->ranges[i];
	ws_footprint_free(from);
}

/* ---- comparing ---- */
/* What a footprint has in one page: bytes of its own, and ranges over all of it: their sets, the last that read or wrote. */
struct view { const struct page *page; const struct range *range[BY]; unsigned sets, range_sets; };

static void add_to_view(struct view *v, const struct range *r)
{
	if (reads(r->sets))
		v->range[BY_READ] = r;
	if (writes(r->sets))
		v->range[BY_WRITE] = r;
	v->range_sets |= r->sets;
	v->sets |= r->sets;
}

static struct view view_of(const struct ws_footprint *f, uint64_t number)
{
	struct view v = {.page = find(f, number)};

	v.sets = v.page ? v.page->sets : 0;
	for (size_t i = 0; i < f->nranges; i++)
		if (number >= f->ranges[i].start && number < f->ranges[i].end)
			add_to_view(&v, &f->ranges[i]);
	return v;
}

static uint64_t word(const struct view *v, enum ws_fp_set set, int w)
{
	uint64_t bits = v->page ? v->page->bits[set][w] : 0;

	return v->range_sets >> set & 1 ? ~0ull : bits;
}

/* Who accessed that byte; with a site only if that very access is known. */
static const struct ws_fp_who *who_of(const struct view *v, uint64_t addr, bool write, struct ws_fp_who *space)
{
	int by = write ? BY_WRITE : BY_READ;
	const struct ws_fp_who *who = v->page ? &v->page->who[by][addr % PAGE_BYTES / 64] : NULL;

	if ((!who || !who->op) && v->range[by])
		return &v->range[by]->who;
	if (!who->site || (addr >= who->base && addr - who->base < (uint64_t)WS_WARP * who->bytes))
		return who;
	*space = (struct ws_fp_who){.op = who->op};
	return space;
}

struct kind { bool first_writes, second_writes; };

static uint64_t racing(const struct view *a, const struct view *b, const struct kind *k, int w)
{
	uint64_t weak_a = word(a, k->first_writes ? WS_FP_WRITE : WS_FP_READ, w);
	uint64_t weak_b = word(b, k->second_writes ? WS_FP_WRITE : WS_FP_READ, w);
	uint64_t strong_a = word(a, k->first_writes ? WS_FP_STRONG_WRITE : WS_FP_STRONG_READ, w);
	uint64_t strong_b = word(b, k->second_writes ? WS_FP_STRONG_WRITE : WS_FP_STRONG_READ, w);

	return (weak_a & (weak_b | strong_b)) | (strong_a & weak_b);
}

static void tell(const struct view *a, const struct view *b, const struct kind *k, uint64_t addr, uint64_t bytes,
                 ws_fp_found *found, void *user)
{
	struct ws_fp_who space[2];
	int w = (int)(addr % PAGE_BYTES / 64);
	uint64_t bit = 1ull << addr % 64;
	struct ws_fp_conflict c = {.addr = addr, .bytes = bytes, .first_writes = k->first_writes,
	                           .second_writes = k->second_writes};

	c.first_strong = !(word(a, k->first_writes ? WS_FP_WRITE : WS_FP_READ, w) & bit);
	c.second_strong = !(word(b, k->second_writes ? WS_FP_WRITE : WS_FP_READ, w) & bit);
	c.same_value = k->first_writes && k->second_writes && !(word(b, WS_FP_CHANGED, w) & bit);
	c.first = who_of(a, addr, k->first_writes, &space[0]);
	c.second = who_of(b, addr, k->second_writes, &space[1]);
	found(user, &c);
}

static const struct kind kinds[] = {{true, false}, {false, true}, {true, true}};

static void compare_page(uint64_t number, const struct view *a, const struct view *b, ws_fp_found *found, void *user)
{
	if (!writes(a->sets) && !writes(b->sets))
		return;
	for (size_t k = 0; k < WS_COUNT(kinds); k++)
		for (int w = 0; w < WORDS; w++)
			for (uint64_t bits = racing(a, b, &kinds[k], w); bits;) {
				uint32_t at = (uint32_t)__builtin_ctzll(bits);
				uint64_t rest = ~(bits >> at);
				uint32_t n = rest ? (uint32_t)__builtin_ctzll(rest) : 64;

				if (n > 64 - at)
					n = 64 - at;
				tell(a, b, &kinds[k], (number << PAGE_SHIFT) + 64u * (unsigned)w + at, n, found, user);
				bits &= ~(low_bits(n) << at);
			}
}

/* Whole pages against whole pages: told once. */
static void compare_ranges(const struct range *a, const struct range *b, ws_fp_found *found, void *user)
{
	uint64_t start = a->start > b->start ? a->start : b->start, end = a->end < b->end ? a->end : b->end;
	struct view va, vb;

	memset(&va, 0, sizeof va);
	memset(&vb, 0, sizeof vb);
	add_to_view(&va, a);
	add_to_view(&vb, b);
	for (size_t k = 0; start < end && k < WS_COUNT(kinds); k++)
		if (racing(&va, &vb, &kinds[k], 0))
			tell(&va, &vb, &kinds[k], start << PAGE_SHIFT, (end - start) << PAGE_SHIFT, found, user);
}

void ws_footprint_compare(const struct ws_footprint *first, const struct ws_footprint *second, ws_fp_found *found, void *user)
{
	for (size_t i = 0; i < second->slots; i++)
		if (second->table[i]) {
			struct view a = view_of(first, second->table[i]->number), b = view_of(second, second->table[i]->number);

			if (a.sets)
				compare_page(second->table[i]->number, &a, &b, found, user);
		}
	for (size_t i = 0; second->nranges && i < first->slots; i++)
		if (first->table[i] && !find(second, first->table[i]->number)) {
			struct view a = view_of(first, first->table[i]->number), b = view_of(second, first->table[i]->number);

			if (b.sets)
				compare_page(first->table[i]->number, &a, &b, found, user);
		}
	for (size_t i = 0; i < first->nranges; i++)
		for (size_t j = 0; j < second->nranges; j++)
			compare_ranges(&first->ranges[i], &second->ranges[j], found, user);
}

bool ws_footprint_talk(const struct ws_footprint *first, const struct ws_footprint *second)
{
	for (size_t i = 0; i < second->slots; i++) {
		const struct page *b = second->table[i], *a = b ? find(first, b->number) : NULL;

		for (int w = 0; a && w < WORDS; w++)
			if (a->bits[WS_FP_STRONG_WRITE][w] & (b->bits[WS_FP_STRONG_READ][w] | b->bits[WS_FP_STRONG_WRITE][w]))
				return true;
	}
	return false;
}

/* ---- the host ---- */
static bool host_races(const struct view *a, uint64_t addr, bool first_writes)
{
	int w = (int)(addr % PAGE_BYTES / 64);
	uint64_t strong = word(a, first_writes ? WS_FP_STRONG_WRITE : WS_FP_STRONG_READ, w) & word(a, WS_FP_GPU, w);

	return (word(a, first_writes ? WS_FP_WRITE : WS_FP_READ, w) | strong) >> addr % 64 & 1;
}

void ws_footprint_host(const struct ws_footprint *first, uint64_t addr, uint64_t bytes, bool write, ws_fp_found *found,
                       void *user)
{
	static const struct ws_fp_who host;

	for (uint64_t end = addr + bytes; addr < end; addr++) {
		struct view a = view_of(first, addr >> PAGE_SHIFT);
		struct ws_fp_conflict c = {.addr = addr, .bytes = 1, .second_writes = write, .second = &host};
		struct ws_fp_who space;

		if (!a.sets) {
			addr |= PAGE_BYTES - 1;
			continue;
		}
		c.first_writes = host_races(&a, addr, true);
		if (!c.first_writes && !(write && host_races(&a, addr, false)))
			continue;
		c.first_strong = !(word(&a, c.first_writes ? WS_FP_WRITE : WS_FP_READ, (int)(addr % PAGE_BYTES / 64)) >>
		                   addr % 64 & 1);
		c.first = who_of(&a, addr, c.first_writes, &space);
		found(user, &c);
		return;
	}
}

bool ws_footprint_tells_host(const struct ws_footprint *first, uint64_t addr)
{
	const struct page *p = find(first, addr >> PAGE_SHIFT);
	int w = (int)(addr % PAGE_BYTES / 64);

	return p && (p->bits[WS_FP_STRONG_WRITE][w] & ~p->bits[WS_FP_GPU][w]) >> addr % 64 & 1;
}

void ws_footprint_pages(const struct ws_footprint *f, void (*page)(void *user, uint64_t addr, bool written), void *user)
{
	for (size_t i = 0; i < f->slots; i++)
		if (f->table[i])
			page(user, f->table[i]->number << PAGE_SHIFT, writes(f->table[i]->sets));
	for (size_t i = 0; i < f->nranges; i++)
		for (uint64_t n = f->ranges[i].start; n < f->ranges[i].end; n++)
			page(user, n << PAGE_SHIFT, writes(f->ranges[i].sets));
}

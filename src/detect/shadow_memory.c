/* shadow_memory.c - pages of shadow lines for global memory, and what happens when --shadow-limit is reached (shadow_priv.h).
 *
 * Then half of the pages, chosen by a hash of their place and the seed, are not checked any more until the end of the
 * launch, and what is kept about them is given back; then half of the rest; and so on. So a page is checked in full from the
 * launch's beginning or, from some time on, not at all, and which ones are left does not depend on what comes first. Words that
 * synchronize are kept in all pages: without them orders would be missed and false races told. */
#include "detect/shadow_priv.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_THINNED = 10 };
#define SYNC_ROWS (~(1u << ROW_W | 1u << ROW_R0 | 1u << ROW_R1))

static uint64_t in_use(const struct ws_shadow *s)
{
	return __atomic_load_n(&s->used, __ATOMIC_RELAXED) + ws_know_bytes();
}

static bool over(const struct ws_shadow *s, uint64_t more)
{
	return s->config.shadow_limit && in_use(s) + more > s->config.shadow_limit;
}

static uint64_t memory_bytes(uint64_t npages)
{
	return sizeof(struct ws_shadow_mem) + npages * (sizeof(struct ws_page *) + sizeof(uint32_t));
}

bool ws_memory_room(const struct ws_shadow *s, uint64_t bytes)
{
	return !over(s, bytes);
}

struct ws_shadow_mem *ws_memory_new(struct ws_shadow *s, const struct ws_mem *mem)
{
	uint64_t first = mem->addr >> LINE_BITS, last = (mem->addr + (mem->size ? mem->size - 1 : 0)) >> LINE_BITS;
	uint64_t n = ((last - first) >> PAGE_BITS) + 1;
	struct ws_shadow_mem *sm;

	ws_spin_lock(&s->lock);
	sm = mem->obs;
	if (!sm) {
		sm = ws_alloc(memory_bytes(n));
		ws_memory_count(s, memory_bytes(n));
		sm->first = first;
		sm->npages = n;
		sm->nlines = last - first + 1;
		sm->gen = (uint32_t *)&sm->page[n];
		sm->serial = mem->serial;
		sm->at = &s->mems;
		sm->next = s->mems;
		if (sm->next)
			sm->next->at = &sm->next;
		s->mems = sm;
		__atomic_store_n(&((struct ws_mem *)mem)->obs, sm, __ATOMIC_RELEASE);
	}
	ws_spin_unlock(&s->lock);
	return sm;
}

bool ws_memory_sampled(const struct ws_shadow *s, const struct ws_shadow_mem *sm, uint64_t page)
{
	uint64_t h = (sm->serial * 0x9E3779B97F4A7C15u ^ page ^ s->config.seed << 40) * 0xD6E8FEB86659FD93u;

	h = (h ^ h >> 32) * 0xD6E8FEB86659FD93u;
	return !(h >> (64 - MOST_THINNED) & ((1u << __atomic_load_n(&s->thinned, __ATOMIC_RELAXED)) - 1));
}

static uint64_t page_bytes(const struct ws_shadow_mem *sm, uint64_t page)
{
	return ws_page_lines(sm, page) * sizeof sm->page[page]->at[0];
}

/* ---- giving back ---- */
static void drop_page(struct ws_shadow *s, struct ws_shadow_mem *sm, uint64_t page)
{
	struct ws_page **at = &sm->page[page];

	for (uint64_t i = 0; *at && i < ws_page_lines(sm, page); i++) {
		struct ws_line *line = ws_page_line(*at, i);

		if (!line)
			continue;
		ws_cell_free(line->ext);
		ws_pool_free(line, sizeof *line);
		ws_memory_count(s, 0 - sizeof *line);
	}
	ws_memory_count(s, *at ? 0 - page_bytes(sm, page) : 0);
	ws_pool_free(*at, page_bytes(sm, page));
	*at = NULL;
}

/* What earlier launches have left is of no use any more. Between launches only. */
static void drop_pages(struct ws_shadow *s, struct ws_shadow_mem *sm)
{
	for (uint64_t p = 0; p < sm->npages; p++)
		drop_page(s, sm, p);
}

void ws_memory_free(struct ws_shadow *s, struct ws_shadow_mem *sm)
{
	drop_pages(s, sm);
	*sm->at = sm->next;
	if (sm->next)
		sm->next->at = sm->at;
	ws_memory_count(s, 0 - memory_bytes(sm->npages));
	free(sm);
}

void ws_memory_launch(struct ws_shadow *s)
{
	for (struct ws_shadow_mem *m = s->mems; m && s->config.shadow_limit && in_use(s) > s->config.shadow_limit / 2; m = m->next)
		drop_pages(s, m);
	if (s->config.shadow_limit && in_use(s) > s->config.shadow_limit / 2)
		ws_private_free(s);
	s->thinned = 0;
}

static uint64_t line_address(const struct ws_shadow_mem *sm, uint64_t page, uint64_t line)
{
	return (sm->first + (page << PAGE_BITS) + line) << LINE_BITS;
}

/* Weak accesses to the line are forgotten; false: something that synchronizes is left. Lines that others look at right now
 * stay as they are. */
static bool forget_weak(const struct ws_ctx *c, struct ws_line *line, uint64_t addr)
{
	bool empty = true;

	if (line == c->line || (c->l->lock && !ws_line_try_lock(line)))
		return false;
	line->w.who = line->r.who = 0;
	if (line->gen == c->l->gen)
		empty = ws_private_forget_weak(c->s, line->mark >> 1, addr);
	if (line->ext && line->ext->have & SYNC_ROWS) {
		ws_cell_forget_weak(line->ext);
		empty = false;
	} else {
		ws_cell_free(line->ext);
		line->ext = NULL;
	}
	if (c->l->lock)
		ws_line_unlock(line);
	return empty;
}

/* The newest private record of a line that is not there. */
static uint32_t record_at(const struct ws_shadow_mem *sm, uint64_t page, uint64_t line, uint32_t gen)
{
	return sm->gen[page] == gen ? PLACE_RECORD(sm->page[page]->at[line]) : 0;
}

static void thin_page(struct ws_ctx *c, struct ws_shadow_mem *sm, uint64_t page)
{
	const struct ws_page *at = sm->page[page];
	uint64_t addr = line_address(sm, page, 0);
	bool empty = true;

	for (uint64_t i = 0; i < ws_page_lines(sm, page); i++, addr += LINE) {
		struct ws_line *line = ws_page_line(at, i);

		if (line)
			empty &= forget_weak(c, line, addr);
		else if (&at->at[i] == c->place)
			empty = false;
		else
			empty &= ws_private_forget_weak(c->s, record_at(sm, page, i, c->l->gen), addr);
	}
	if (empty && !c->l->lock)        /* else others may have its address */
		drop_page(c->s, sm, page);
}

/* Halves the number of pages that are checked. */
static void thin(struct ws_ctx *c)
{
	struct ws_shadow *s = c->s;

	__atomic_fetch_add(&s->thinned, 1, __ATOMIC_RELAXED);
	s->most_thinned = s->thinned > s->most_thinned ? s->thinned : s->most_thinned;
	ws_spin_lock(&s->lock);
	for (struct ws_shadow_mem *sm = s->mems; sm; sm = sm->next)
		for (uint64_t p = 0; p < sm->npages; p++)
			if (__atomic_load_n(&sm->page[p], __ATOMIC_ACQUIRE) && !ws_memory_sampled(s, sm, p))
				thin_page(c, sm, p);
	ws_spin_unlock(&s->lock);
}

/* Is there room for so much more now? */
static bool make_room(struct ws_ctx *c, uint64_t more)
{
	struct ws_shadow *s = c->s;

	if (!over(s, more))
		return true;
	ws_spin_lock(&s->thin_lock);
	while (over(s, more) && s->thinned < MOST_THINNED)
		thin(c);
	ws_spin_unlock(&s->thin_lock);
	return !over(s, more);
}

static struct ws_page *page_of(struct ws_shadow *s, struct ws_shadow_mem *sm, uint64_t page)
{
	struct ws_page *p = sm->page[page];

	if (!p) {
		p = ws_pool_new(page_bytes(sm, page));
		ws_memory_count(s, page_bytes(sm, page));
		sm->gen[page] = s->gen;
		__atomic_store_n(&sm->page[page], p, __ATOMIC_RELEASE);
	}
	return p;
}

struct ws_page *ws_memory_page(struct ws_ctx *c, struct ws_shadow_mem *sm, uint64_t page)
{
	struct ws_shadow *s = c->s;
	struct ws_page *p;

	c->line = NULL;                  /* the one before is done with */
	c->place = NULL;
	if (!c->must && (!make_room(c, sizeof *p) || !ws_memory_sampled(s, sm, page)))
		return NULL;
	ws_shadow_lock_lists(s);
	p = page_of(s, sm, page);
	ws_shadow_unlock_lists(s);
	return p;
}

void ws_memory_begin_page(struct ws_shadow_mem *sm, uint64_t page, uint32_t gen)
{
	for (uint64_t i = 0; i < ws_page_lines(sm, page); i++)
		if (sm->page[page]->at[i] & 1)
			sm->page[page]->at[i] = 0;
	sm->gen[page] = gen;
}

static struct ws_line *new_line(const struct ws_ctx *c, const struct ws_shadow_mem *sm, uint64_t i)
{
	struct ws_line *line = ws_pool_new(sizeof *line);

	ws_memory_count(c->s, sizeof *line);
	line->gen = c->l->gen;
	line->mark = record_at(sm, i >> PAGE_BITS, i % PAGE_LINES, c->l->gen) << 1;
	__atomic_store_n(&sm->page[i >> PAGE_BITS]->at[i % PAGE_LINES], (uintptr_t)line, __ATOMIC_RELEASE);
	return line;
}

struct ws_line *ws_memory_line(struct ws_ctx *c, struct ws_shadow_mem *sm, uint64_t i)
{
	struct ws_shadow *s = c->s;
	struct ws_page *page;
	struct ws_line *line;

	c->line = NULL;                  /* the one before is done with */
	c->place = NULL;
	if (!c->must && (!make_room(c, sizeof *page + sizeof *line) || !ws_memory_sampled(s, sm, i >> PAGE_BITS)))
		return NULL;
	ws_shadow_lock_lists(s);
	page = page_of(s, sm, i >> PAGE_BITS);
	line = ws_page_line(page, i);
	if (!line)
		line = new_line(c, sm, i);
	ws_shadow_unlock_lists(s);
	return line;
}

bool ws_memory_full(struct ws_ctx *c, uint32_t mask)
{
	if (__builtin_expect(!over(c->s, 0), 1) || make_room(c, 0))
		return false;
	ws_memory_skip(c->s, mask);
	return true;
}

/* ---- figures ---- */
struct bits { uint64_t b[LINE / 64]; };

static void set_bits(struct bits *t, int lo, int hi)
{
	for (int i = lo < 0 ? 0 : lo; i < hi && i < LINE; i++)
		t->b[i / 64] |= 1ull << (i & 63);
}

static void set_record(struct bits *t, const struct ws_rec *r)
{
	for (uint32_t m = r->who ? r->mask : 0; m; m &= m - 1) {
		int lo = r->off + __builtin_ctz(m) * r->step;

		set_bits(t, lo, lo + r->size);
	}
}

static uint32_t touched(const struct ws_shadow *s, const struct ws_line *line, uint64_t addr)
{
	const struct ws_ext *e = line->ext;
	struct bits t = {{0}};

	for (uint32_t m = line->gen == s->gen ? ws_private_words(s, line->mark >> 1, addr) : 0; m; m &= m - 1)
		set_bits(&t, __builtin_ctz(m) * 4, __builtin_ctz(m) * 4 + 4);

	set_record(&t, &line->w);
	set_record(&t, &line->r);
	if (e)
		set_record(&t, &e->w2);
	for (uint32_t i = 0; e && i < e->nreads; i++)
		set_record(&t, &e->reads[i]);
	for (int r = 0; e && r < ROW_SLOTS; r++)
		for (int i = 0, size = e->bytes ? 1 : 4; e->have >> r & 1 && i < (e->to - e->from) / size; i++)
			if (((const struct ws_slot *)e->row[r])[i].who)
				set_bits(&t, e->from + i * size, e->from + (i + 1) * size);
	return (uint32_t)(__builtin_popcountll(t.b[0]) + __builtin_popcountll(t.b[1]));
}

/* Memory of lines, and the bytes that they are about: as of this launch, or the last one that touched them. */
static void count_lines(const struct ws_shadow *s, uint64_t *bytes, uint64_t *about)
{
	*bytes += ws_private_bytes(s);
	for (const struct ws_shadow_mem *sm = s->mems; sm; sm = sm->next)
		for (uint64_t p = 0; p < sm->npages; p++) {
			const struct ws_page *page = sm->page[p];

			*bytes += page ? page_bytes(sm, p) : 0;
			for (uint64_t i = 0; page && i < ws_page_lines(sm, p); i++) {
				const struct ws_line *line = ws_page_line(page, i);

				*bytes += line ? sizeof *line + ws_cell_bytes(line->ext) : 0;
				*about += line ? touched(s, line, line_address(sm, p, i)) :
				                 4u * (uint32_t)__builtin_popcount(ws_private_words(s, record_at(sm, p, i, s->gen),
				                                                          line_address(sm, p, i)));
			}
		}
}

void ws_memory_tell(struct ws_shadow *s)
{
	static const char key[] = "shadow memory reached --shadow-limit";
	struct ws_buf text = {0};

	if (!s->skipped && !s->most_thinned)
		return;
	ws_buf_printf(&text, "%s=%llu: ", key, (unsigned long long)s->config.shadow_limit);
	if (s->most_thinned)
		ws_buf_printf(&text, "of global memory, 1 in %u pages of 4 KiB was checked to the end of its launch; ", 1u << s->most_thinned);
	ws_buf_printf(&text, "%.2f %% of the accesses were not checked in full",
	              100.0 * (double)s->skipped / (double)(s->accesses > s->skipped ? s->accesses : s->skipped));
	ws_report_limit_now(s->report, key, text.data);
	ws_buf_free(&text);
}

void ws_memory_measure(void *self)
{
	struct ws_shadow *s = self;
	uint64_t now = in_use(s), lines = 0, about = 0;

	if (now <= s->peak)
		return;
	count_lines(s, &lines, &about);
	s->peak = now;
	s->peak_shadow = s->used;
	s->peak_lines = lines;
	s->peak_touched = about;
}

void ws_memory_stats(void *self, struct ws_buf *out)
{
	const struct ws_shadow *s = self;

	ws_buf_printf(out, "detector: %llu bytes, %llu of them shadow memory; of that %llu for %llu bytes of global memory that "
	              "were told, %.2f a byte", (unsigned long long)s->peak, (unsigned long long)s->peak_shadow,
	              (unsigned long long)s->peak_lines, (unsigned long long)s->peak_touched,
	              s->peak_touched ? (double)s->peak_lines / (double)s->peak_touched : 0.0);
}

/* shadow_log.c - accesses of shared memory that wait (shadow_priv.h).
 *
 * Many kernels fill shared memory, meet at a barrier, and then only read, or only update with atomics, until the next
 * one. As long as nothing else happens in a barrier interval nothing there can race: weak reads do not conflict, nor do
 * relaxed atomics of one size inside a block, whose scopes all hold the block. So they are only noted, mostly by the
 * simulator itself (struct ws_note_log), and dropped at the barrier. When writes come too, each word is tagged with the
 * thread that accessed it (shadow_tags.c), and notes go on as long as threads keep to words of their own or only read
 * them. When something else comes first, the notes become shadow state, in their order, as if they had been checked when they came;
 * until the next barrier accesses are then checked at once. Blocks whose notes mostly go that way stop taking notes, but for a try
 * now and then. */
#include "detect/shadow_priv.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_SIZE = 512, MAX_SIZE = 512 << 10, BAD = 4, TRY_EVERY = 16 };

static uint32_t note_kind(enum ws_access_kind kind)
{
	return kind == WS_READ ? WS_NOTE_READ : kind == WS_WRITE ? WS_NOTE_WRITE : WS_NOTE_ATOMIC;
}

static uint32_t noted_kinds(const struct ws_block_state *b)
{
	return WS_NOTE_READ | (b->l->simple && b->s->config.granularity <= 4 ? WS_NOTE_ATOMIC : 0);
}

static void count(struct ws_block_state *b)
{
	b->accesses += b->log.accesses;
	b->log.accesses = 0;
}

static void stop(struct ws_block_state *b)
{
	count(b);
	b->log.accept = b->log.tagged = b->log.kinds = b->log_kinds = b->log.used = 0;
}

/* Some intervals only read, others write as well, often by turns (fill a tile, work on it). Tags are started at once where
 * the last three intervals say so: what had to be noted before it is known would be gone through twice. */
static bool guess_tags(const struct ws_block_state *b)
{
	return b->log_guess >> (b->log_past & 7) & 1;
}

static void learn_tags(struct ws_block_state *b)
{
	uint32_t k = b->log.kinds, bit = 1u << (b->log_past & 7);
	bool needed = k & WS_NOTE_WRITE || (k & WS_NOTE_READ && k & WS_NOTE_ATOMIC);

	b->log_guess = (uint8_t)(needed ? b->log_guess | bit : b->log_guess & ~bit);
	b->log_past = (uint8_t)(b->log_past << 1 | needed);
}

static bool start_tags(struct ws_block_state *b);

void ws_log_open(struct ws_block_state *b)
{
	struct ws_note_log *g = &b->log;

	if (g->used) {
		b->log_bad -= b->log_bad > 0;
		learn_tags(b);
	}
	stop(b);
	if (!b->s->config.shared || b->l->cluster || b->locks || b->has_own)
		return;
	if (b->log_bad >= BAD && ++b->log_rest % TRY_EVERY)
		return;
	if (!g->data) {
		g->size = FIRST_SIZE;
		g->data = ws_alloc(g->size);
		ws_memory_count(b->s, g->size);
	}
	b->log_kinds = (uint8_t)noted_kinds(b);
	if (!b->npending && guess_tags(b) && start_tags(b))
		return;
	g->accept = b->npending ? 0 : b->log_kinds;      /* with copies in flight, it matters which lines are touched */
}

/* A warp that goes through memory reads one place after another, all lanes the same or 32 words in a row: notes of reads that
 * differ in nothing but the base, by equal steps, are one, a run. Its second base has their number and, above, the step. */
enum { RUN = 8 /* of `scattered` */, RUN_BITS = 16, RUN_MOST = (1 << RUN_BITS) - 1, OPEN_RUNS = 8 };

static size_t note_bytes(const struct ws_note *n)
{
	return sizeof *n + (n->scattered == RUN ? 0u : n->scattered == 1 ? 2u : n->scattered) * WS_WARP;
}

static uint32_t times(const struct ws_note *n)
{
	return n->scattered == RUN ? n->base[1] & RUN_MOST : 1;
}

static bool is_linear(const struct ws_note *n)
{
	return n->step[0] == n->bytes && (n->scattered == RUN || (!n->scattered && n->step[1] == n->bytes &&
	                                                         n->base[1] == n->base[0] + 16u * n->bytes));
}

/* May it be of a run? */
static bool simple_read(const struct ws_note *n)
{
	return n->kind == WS_READ && (is_linear(n) || n->scattered == RUN ||
	                              (!n->scattered && !n->step[0] && !n->step[1] && n->base[0] == n->base[1]));
}

/* Adds a read to the run, or to the first read of one. */
static bool join_run(struct ws_note *run, const struct ws_note *n)
{
	uint32_t k = times(run), step = k > 1 ? run->base[1] >> RUN_BITS : n->base[0] - run->base[0];

	if (n->scattered == RUN || run->site != n->site || memcmp(run->stamp, n->stamp, sizeof n->stamp) || run->mask != n->mask ||
	    run->step[0] != n->step[0] || k == RUN_MOST || step > RUN_MOST || n->base[0] != run->base[0] + k * step)
		return false;
	run->scattered = RUN;
	run->base[1] = step << RUN_BITS | (k + 1);
	return true;
}

/* Makes runs of what is noted. Reads go before other reads, which they cannot race with, but not before anything else. */
static void squeeze(struct ws_note_log *g)
{
	struct ws_note *open[OPEN_RUNS];
	uint32_t n = 0, to = 0, size;

	for (uint32_t from = 0; from < g->used; from += size) {
		struct ws_note *note = (struct ws_note *)(void *)(g->data + from);
		uint32_t i = 0;

		size = (uint32_t)note_bytes(note);
		n = note->kind == WS_READ ? n : 0;
		while (i < n && i < OPEN_RUNS && !(simple_read(note) && join_run(open[i], note)))
			i++;
		if (i < n && i < OPEN_RUNS)
			continue;
		memmove(g->data + to, note, size);
		note = (struct ws_note *)(void *)(g->data + to);
		if (simple_read(note))
			open[n++ % OPEN_RUNS] = note;
		to += size;
	}
	g->used = to;
}

static bool room(struct ws_block_state *b)
{
	struct ws_note_log *g = &b->log;
	uint32_t more = g->size + g->size / 2 < MAX_SIZE ? g->size / 2 : MAX_SIZE - g->size;

	if (g->size - g->used >= WS_NOTE_MAX)
		return true;
	squeeze(g);
	if (g->size - g->used >= WS_NOTE_MAX + g->size / 4)
		return true;
	if (!more)
		return false;
	ws_memory_count(b->s, more);
	g->size += more;
	g->data = ws_realloc(g->data, g->size);
	return true;
}

/* The addresses, of a run those at that place in it; returns where the next note is. */
static const uint8_t *addresses(const struct ws_note *n, uint32_t at, uint64_t *addr)
{
	const uint8_t *p = (const uint8_t *)(n + 1);

	if (n->scattered == RUN) {
		for (uint32_t l = 0; l < WS_WARP; l++)
			addr[l] = n->base[0] + at * (n->base[1] >> RUN_BITS) + l * n->step[0];
		return p;
	}
	for (uint32_t l = 0; l < WS_WARP; l++) {
		uint32_t h = l >= 16;

		if (n->scattered == 4)
			addr[l] = ((const uint32_t *)(const void *)p)[l];
		else if (n->scattered)
			addr[l] = ((const uint16_t *)(const void *)p)[l] * (n->scattered == 1 ? 1u : 4u);
		else
			addr[l] = n->base[h] + (l & 15) * n->step[h];        /* in 32 bits: a base may be below 0 */
	}
	return (const uint8_t *)n + note_bytes(n);
}

/* From here on every access is tagged; what is in the log first. */
static bool start_tags(struct ws_block_state *b)
{
	const uint8_t *p = b->log.data, *end = p + b->log.used;

	if (!ws_tags_start(b))
		return false;
	b->log.accept = 0;
	b->log_kinds = NOTE_TAGGED;
	while (p < end) {
		const struct ws_note *n = (const struct ws_note *)(const void *)p;
		uint64_t addr[WS_WARP];

		for (uint32_t i = 0; i < times(n); i++) {
			p = addresses(n, i, addr);
			if (!ws_tags_mark(b, n->warp, n->mask, note_kind(n->kind), n->bytes, addr))
				return false;
		}
		b->log.kinds |= note_kind(n->kind);
	}
	b->log.tagged = b->npending ? 0 : noted_kinds(b) | WS_NOTE_WRITE;
	return true;
}

static void append(struct ws_block_state *b, struct ws_warp_state *w, const struct ws_access *a)
{
	struct ws_note_log *g = &b->log;
	struct ws_note *n = (struct ws_note *)(void *)(g->data + g->used);
	uint64_t first = a->addr[__builtin_ctz(a->mask)];

	*n = (struct ws_note){.site = a->site, .warp = (uint32_t)(w - b->warps), .mask = a->mask, .kind = a->kind,
	                      .bytes = (uint8_t)a->bytes, .sem = a->sem, .scope = a->scope, .atom = a->atom};
	memcpy(n->stamp, w, sizeof n->stamp);
	g->used += sizeof *n;
	g->accesses += a->mask == ~0u ? WS_WARP : (uint32_t)__builtin_popcount(a->mask);
	if (a->linear) {
		n->base[0] = (uint32_t)a->base;
		n->base[1] = (uint32_t)a->base + 16u * a->bytes;
		n->step[0] = n->step[1] = n->bytes;
		return;
	}
	if (!(a->mask & ~ws_gpu_lanes_in(a->addr, first, 1))) {
		n->base[0] = n->base[1] = (uint32_t)first;
		return;
	}
	n->scattered = 4;
	for (int i = 0; i < WS_WARP; i++)
		((uint32_t *)(void *)(n + 1))[i] = (uint32_t)a->addr[i];
	g->used += 4 * WS_WARP;
}

static bool update(const struct ws_block_state *b, const struct ws_access *a)
{
	return a->kind == WS_ATOMIC && a->sem == WS_SEM_RELAXED && a->bytes == 4 && a->wrote == a->mask &&
	       a->atom != WS_ATOM_CAS && a->atom != WS_ATOM_EXCH && b->l->simple && b->s->config.granularity <= 4;
}

/* What the simulator did not note. */
bool ws_log_note(struct ws_block_state *b, struct ws_warp_state *w, const struct ws_access *a)
{
	bool weak = ws_access_is_weak(a);
	uint32_t kind = !weak ? WS_NOTE_ATOMIC : a->kind == WS_READ ? WS_NOTE_READ : 0;

	if (!(weak || update(b, a)) || a->async || a->peer || w->holding || a->bytes > 32 ||
	    (b->npending && ws_async_touches(b, a)) || !room(b))
		return false;
	if (!(b->log_kinds & NOTE_TAGGED)) {
		uint32_t kinds = b->npending ? b->log_kinds : b->log.accept;

		if (kinds & kind) {
			b->log_kinds = (uint8_t)kind;
			b->log.accept &= kind;
			append(b, w, a);
			return true;
		}
		if (!start_tags(b))
			return false;
	}
	if (!ws_tags_mark(b, (uint32_t)(w - b->warps), a->mask, note_kind(a->kind), a->bytes, a->addr))
		return false;
	b->log.kinds |= note_kind(a->kind);
	append(b, w, a);
	return true;
}

static const uint8_t *replay(struct ws_block_state *b, const struct ws_note *n, uint32_t at)
{
	struct ws_warp_state *w = &b->warps[n->warp];
	uint64_t addr[WS_WARP];
	struct ws_access a = {.site = n->site, .mask = n->mask, .wrote = n->kind == WS_READ ? 0 : n->mask, .kind = n->kind,
	                      .space = WS_SPACE_SHARED, .sem = n->sem, .scope = n->scope, .atom = n->atom, .bytes = n->bytes,
	                      .linear = is_linear(n),
	                      .addr = addr};
	struct ws_warp_state then = {.me = 0};
	struct ws_ctx c = {.s = b->s, .b = b, .l = b->l, .w = w, .a = &a, .floor = b->floor, .its = b->l->its};
	const uint8_t *next = addresses(n, at, addr);

	memcpy(&then, n->stamp, sizeof n->stamp);
	a.base = (uint64_t)(int32_t)addr[0];
	c.me = then.me;
	c.wfloor = then.wfloor;
	if (ws_shadow_know_site(b->s, &a))
		ws_shadow_check(&c);
	return next;
}

void ws_log_flush(struct ws_block_state *b)
{
	const uint8_t *p = b->log.data, *end = p ? p + b->log.used : p;      /* stays there until something is noted again */

	b->shared_written = true;
	stop(b);
	if (b->npending)
		ws_async_bring_back(b);
	if (p == end)
		return;
	b->log_bad += b->log_bad < 2 * BAD;
	while (p < end) {
		const struct ws_note *n = (const struct ws_note *)(const void *)p;

		for (uint32_t i = 0; i < times(n); i++)
			p = replay(b, n, i);
	}
}

void ws_log_close(struct ws_block_state *b)
{
	stop(b);
}

void ws_log_free(struct ws_block_state *b)
{
	free(b->log.data);
	b->log.data = NULL;
}

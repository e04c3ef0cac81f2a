/* machine.c - reads the description of a machine. The keys are the rows of machine.def. */
#include "timing/timing.h"

#include <stdlib.h>
#include <string.h>

enum { NEEDED = -1 };
struct row {
	const char *key, *words;         /* words: NULL = a number */
	size_t at;
	int64_t low, high, preset;
};

static const struct row rows[] = {
#define HEAD(title)
#define NUM(key, field, low, high, preset, what) { key, NULL, offsetof(struct ws_machine, field), low, high, preset },
#define WORD(key, field, values, preset, what) { key, values, offsetof(struct ws_machine, field), 0, 0, preset },
#include "timing/machine.def"
#undef HEAD
#undef NUM
#undef WORD
};

struct reader {
	struct ws_machine *m;
	const char *path, *line;         /* the line at hand */
	size_t line_len;
	uint32_t number;
	const struct ws_sink *sink;
	uint32_t seen[WS_COUNT(rows)];   /* line where it was given; 0: it was not */
	bool bad;
};

static void complain(struct reader *r, uint32_t line, uint32_t col, uint32_t len, const char *fmt, ...)
	WS_PRINTF(5, 6);
static void complain(struct reader *r, uint32_t line, uint32_t col, uint32_t len, const char *fmt, ...)
{
	struct ws_buf b = {0};
	struct ws_diag d = {.severity = WS_ERROR, .place = {r->path, line, col, len}};
	va_list ap;

	va_start(ap, fmt);
	ws_buf_vprintf(&b, fmt, ap);
	va_end(ap);
	d.text = b.data;
	if (line && line == r->number) {
		d.source_line = r->line;
		d.source_len = r->line_len;
	}
	r->sink->emit(r->sink->user, &d);
	ws_buf_free(&b);
	r->bad = true;
}

static const struct row *find(const char *key, size_t n)
{
	for (size_t i = 0; i < WS_COUNT(rows); i++)
		if (strlen(rows[i].key) == n && !memcmp(rows[i].key, key, n))
			return &rows[i];
	return NULL;
}

/* The key with the longest common beginning. */
static const char *nearest(const char *key, size_t n)
{
	const char *best = NULL;
	size_t most = 2;

	for (size_t i = 0; i < WS_COUNT(rows); i++) {
		size_t k = 0;

		while (k < n && rows[i].key[k] == key[k])
			k++;
		if (k > most) {
			most = k;
			best = rows[i].key;
		}
	}
	return best;
}

static bool word_index(const char *words, const char *s, size_t n, uint32_t *out)
{
	for (uint32_t i = 0; words; i++) {
		size_t len = strcspn(words, "|");

		if (len == n && !memcmp(words, s, n)) {
			*out = i;
			return true;
		}
		words = words[len] ? words + len + 1 : NULL;
	}
	return false;
}

static bool number(const char *s, size_t n, int64_t *out)
{
	int64_t v = 0;

	for (size_t i = 0; i < n; i++) {
		if (s[i] < '0' || s[i] > '9' || v > INT32_MAX)
			return false;
		v = 10 * v + (s[i] - '0');
	}
	*out = v;
	return n > 0;
}

static void set(struct reader *r, const struct row *w, const char *value, size_t n)
{
	uint32_t *field = (uint32_t *)(void *)((char *)r->m + w->at), col = (uint32_t)(value - r->line) + 1;
	int64_t v;

	if (w->words) {
		if (!word_index(w->words, value, n, field))
			complain(r, r->number, col, (uint32_t)n, "'%s' is none of %s", w->key, w->words);
		return;
	}
	if (!number(value, n, &v) || v < w->low || v > w->high)
		complain(r, r->number, col, (uint32_t)n, "'%s' must be a whole number from %lld to %lld", w->key,
		         (long long)w->low, (long long)w->high);
	else
		*field = (uint32_t)v;
}

static size_t trimmed(const char *s, size_t n)
{
	while (n && (s[n - 1] == ' ' || s[n - 1] == '\t' || s[n - 1] == '\r'))
		n--;
	return n;
}

/* "key = value", without its comment. */
static void read_line(struct reader *r, const char *s, size_t n)
{
	const char *equals, *value, *end;
	const struct row *w;
	size_t key, at = strspn(s, " \t");

	if (at >= n || !(n = trimmed(s, n)) || at >= n)
		return;
	equals = memchr(s + at, '=', n - at);
	key = trimmed(s + at, equals ? (size_t)(equals - s) - at : n - at);
	if (!equals) {
		complain(r, r->number, (uint32_t)at + 1, (uint32_t)key, "expected 'key = value'");
		return;
	}
	value = equals + 1 + strspn(equals + 1, " \t");
	end = s + n;
	w = find(s + at, key);
	if (!w) {
		const char *near = nearest(s + at, key);

		complain(r, r->number, (uint32_t)at + 1, (uint32_t)key, "there is no key '%.*s'%s%s%s", (int)key, s + at,
		         near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
	} else if (r->seen[w - rows]) {
		complain(r, r->number, (uint32_t)at + 1, (uint32_t)key, "'%s' was given before, in line %u", w->key,
		         r->seen[w - rows]);
	} else {
		r->seen[w - rows] = r->number;
		set(r, w, value, value < end ? (size_t)(end - value) : 0);
	}
}

static void read_lines(struct reader *r, const char *text)
{
	while (*text) {
		size_t n = strcspn(text, "\n"), code;

		r->line = text;
		r->line_len = n;
		r->number++;
		code = strcspn(text, "#\n");
		read_line(r, text, code < n ? code : n);
		text += n + (text[n] == '\n');
	}
}

static void fill_presets(struct reader *r)
{
	for (size_t i = 0; i < WS_COUNT(rows); i++) {
		uint32_t *field = (uint32_t *)(void *)((char *)r->m + rows[i].at);

		if (r->seen[i])
			continue;
		if (rows[i].preset == NEEDED)
			complain(r, 0, 0, 0, "'%s' is missing; add a line '%s = ...'", rows[i].key, rows[i].key);
		else
			*field = (uint32_t)rows[i].preset;
	}
}

/* ---- what numbers must be to each other ---- */
static uint32_t line_of(const struct reader *r, const char *key)
{
	return r->seen[find(key, strlen(key)) - rows];
}

static bool power_of_two(uint32_t v)
{
	return v && !(v & (v - 1));
}

static void check_power(struct reader *r, const char *key, uint32_t v)
{
	if (!power_of_two(v))
		complain(r, line_of(r, key), 0, 0, "'%s' must be a power of two, not %u", key, v);
}

static void check_cache(struct reader *r, const char *key, const struct ws_cache_size *c)
{
	if (!c->bytes)
		return;
	if (c->line > 512 || !power_of_two(c->line) || c->bytes % (c->line * c->ways))
		complain(r, line_of(r, key), 0, 0,
		         "'%s' must be a multiple of %u, the bytes of a line times the ways, and the line a power of two", key,
		         c->line * c->ways);
	if (c->fetch && (!power_of_two(c->fetch) || c->fetch > c->line))
		complain(r, line_of(r, key), 0, 0, "of the cache with '%s', a miss brings %u bytes: more than a line of %u",
		         key, c->fetch, c->line);
	if (c != &r->m->constant && c != &r->m->texture && c->line < r->m->segment)
		complain(r, line_of(r, key), 0, 0, "the line of the cache with '%s' is shorter than 'memory.segment', %u", key,
		         r->m->segment);
}

static void check(struct reader *r)
{
	struct ws_machine *m = r->m;

	check_power(r, "memory.segment", m->segment);
	check_power(r, "partition.interleave", m->interleave);
	check_power(r, "dram.row", m->dram_row);
	check_power(r, "dram.burst", m->dram_burst);
	check_power(r, "memory.lanes", m->memory_lanes);
	check_power(r, "shared.lanes", m->shared_lanes);
	if ((m->threads / WS_WARP + m->schedulers - 1) / m->schedulers > 64)
		complain(r, line_of(r, "core.threads"), 0, 0,
		         "'core.threads' are more than 64 warps for each of %u schedulers", m->schedulers);
	check_cache(r, "l1.bytes", &m->l1);
	check_cache(r, "constant.bytes", &m->constant);
	check_cache(r, "texture.bytes", &m->texture);
	check_cache(r, "l2.bytes", &m->l2);
	if (m->texture.bytes && m->texture.line > m->l2.line)
		complain(r, line_of(r, "texture.line"), 0, 0, "'texture.line' must not be more than 'l2.line', %u", m->l2.line);
	if (m->constant.line > m->l2.line)
		complain(r, line_of(r, "constant.line"), 0, 0, "'constant.line' must not be more than 'l2.line', %u", m->l2.line);
	if (m->interleave < m->l2.line)
		complain(r, line_of(r, "partition.interleave"), 0, 0,
		         "'partition.interleave' must be at least 'l2.line', %u", m->l2.line);
	if (m->dram_row < m->l2.line)
		complain(r, line_of(r, "dram.row"), 0, 0, "'dram.row' must be at least 'l2.line'");
}

static void name_machine(struct ws_machine *m, const char *path)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path, *dot = strrchr(base, '.');
	size_t n = dot && dot > base ? (size_t)(dot - base) : strlen(base);

	n = n < sizeof m->name ? n : sizeof m->name - 1;
	memcpy(m->name, base, n);
	m->name[n] = 0;
}

bool ws_machine_read(struct ws_machine *m, const char *path, const char *text, const struct ws_sink *sink)
{
	struct reader r = {.m = m, .path = path, .sink = sink};

	memset(m, 0, sizeof *m);
	name_machine(m, path);
	read_lines(&r, text);
	r.number = UINT32_MAX;
	fill_presets(&r);
	m->constant.fetch = m->constant.line;
	m->texture.fetch = m->texture.line;
	if (!r.bad)
		check(&r);
	return !r.bad;
}

/* suppress.c - races that a project knows and does not want to be told again: rules from a file, see docs/REPORT.md. */
#include "report/report_priv.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>

enum field { KERNEL, FILE_NAME, LOCATION, CATEGORY, KIND, SPACE, LINE, FIELDS };
static const char *const names[FIELDS] = { "kernel", "file", "location", "category", "kind", "memory", "line" };

struct rule {
	char *text;
	uint32_t at;                 /* its line in the file */
	bool given[FIELDS];
	regex_t re[FIELDS];          /* but for LINE */
	uint32_t line;
};

struct ws_suppressions {
	char *path;
	struct rule **rules;
	size_t n, cap;
};

void ws_suppressions_free(struct ws_suppressions *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n; i++) {
		for (unsigned f = 0; f < LINE; f++)
			if (s->rules[i]->given[f])
				regfree(&s->rules[i]->re[f]);
		free(s->rules[i]->text);
		free(s->rules[i]);
	}
	free(s->path);
	free(s->rules);
	free(s);
}

/* ---- reading ---- */
struct cursor {
	const char *path, *start;            /* start of the line */
	size_t len;                          /* of the line */
	uint32_t line;
	const struct ws_sink *sink;
};

static bool complain(const struct cursor *c, const char *at, size_t len, const char *text)
{
	struct ws_diag d = {
		.severity = WS_ERROR, .text = text, .source_line = c->start, .source_len = c->len,
		.place = { c->path, c->line, (uint32_t)(at - c->start) + 1, (uint32_t)len },
	};

	if (c->sink && c->sink->emit)
		c->sink->emit(c->sink->user, &d);
	return false;
}

static bool set_line(struct rule *r, const char *value)
{
	char *end;
	unsigned long n = strtoul(value, &end, 10);

	r->line = (uint32_t)n;
	r->given[LINE] = *value >= '0' && *value <= '9' && !*end && n > 0 && n <= UINT32_MAX;
	return r->given[LINE];
}

static bool read_word(struct rule *r, const struct cursor *c, const char *word, size_t n)
{
	const char *equals = memchr(word, '=', n);
	size_t name = equals ? (size_t)(equals - word) : n;
	unsigned f = 0;
	char *value;
	bool fine;

	while (f < FIELDS && (strlen(names[f]) != name || memcmp(names[f], word, name) != 0))
		f++;
	if (f == FIELDS || !equals)
		return complain(c, word, n, "expected kernel=, file=, location=, category=, kind=, memory= or line=");
	if (r->given[f])
		return complain(c, word, n, "this is given twice");
	value = ws_strndup(equals + 1, n - name - 1);
	fine = f == LINE ? set_line(r, value) : regcomp(&r->re[f], value, REG_EXTENDED | REG_NOSUB) == 0;
	r->given[f] = fine;
	free(value);
	return fine || complain(c, word, n, f == LINE ? "not a line number" : "not a regular expression");
}

/* Length of the text without blanks at its end. */
static size_t trimmed(const char *at, const char *end)
{
	while (end > at && strchr(" \t\r", end[-1]))
		end--;
	return (size_t)(end - at);
}

static bool read_line(struct ws_suppressions *s, const struct cursor *c)
{
	static const char blanks[] = " \t\r";
	const char *at = c->start, *end = c->start + c->len;
	struct rule *r = NULL;

	for (;;) {
		const char *word;

		while (at < end && strchr(blanks, *at))
			at++;
		if (at == end || *at == '#')
			return true;
		word = at;
		while (at < end && !strchr(blanks, *at))
			at++;
		if (!r) {
			r = ws_alloc(sizeof *r);
			r->at = c->line;
			r->text = ws_strndup(word, trimmed(word, end));
			*WS_PUSH(s->rules, s->n, s->cap) = r;
		}
		if (!read_word(r, c, word, (size_t)(at - word)))
			return false;
	}
}

struct ws_suppressions *ws_suppressions_read(const char *path, const char *text, size_t len, const struct ws_sink *sink)
{
	struct ws_suppressions *s = ws_alloc(sizeof *s);
	struct cursor c = { .path = path, .sink = sink };
	bool fine = true;

	s->path = ws_strdup(path);

	for (size_t at = 0; at < len; at += c.len + 1) {
		const char *stop = memchr(text + at, '\n', len - at);

		c.start = text + at;
		c.len = stop ? (size_t)(stop - c.start) : len - at;
		c.line++;
		fine = read_line(s, &c) && fine;
	}
	if (fine)
		return s;
	ws_suppressions_free(s);
	return NULL;
}

/* ---- matching ---- */
static bool fits(const struct rule *r, enum field f, const char *text)
{
	return !r->given[f] || regexec(&r->re[f], text ? text : "", 0, NULL, 0) == 0;
}

/* file and line must be those of one access. */
static bool place_fits(const struct rule *r, const struct ws_race_access *a)
{
	const char *file = a->file ? a->file : a->ptx_file;

	return fits(r, FILE_NAME, file) && (!r->given[LINE] || r->line == (a->file ? a->line : a->ptx_line));
}

long ws_suppressions_which(const struct ws_suppressions *s, const struct ws_race *race)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct rule *r = s->rules[i];

		if (fits(r, KERNEL, race->kernel) && fits(r, LOCATION, race->location) && fits(r, CATEGORY, race->category) &&
		    fits(r, KIND, ws_race_kind_name(race->kind)) && fits(r, SPACE, race->space) &&
		    (place_fits(r, &race->first) || place_fits(r, &race->second)))
			return (long)i;
	}
	return -1;
}

bool ws_suppressions_match(const struct ws_suppressions *s, const struct ws_race *race)
{
	return ws_suppressions_which(s, race) >= 0;
}

bool ws_suppressions_rule(const struct ws_suppressions *s, size_t i, struct ws_rule_row *rule)
{
	if (i >= s->n)
		return false;
	*rule = (struct ws_rule_row){ .text = s->rules[i]->text, .file = s->path, .line = s->rules[i]->at };
	return true;
}

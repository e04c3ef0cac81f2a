/* options.c - parses, explains and carries the options of options.def; see options.h. */
#include "base/options.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind { CHOICE, SET, NUMBER, SWITCH, FLAG, TEXT, REGEX, U32, U64, SIZE, SECONDS, CC };
enum { V_RACE = 1, V_RUN = 2, V_SIM = 4, V_TM = 8 };

struct row {
	const char *name;            /* NULL: a heading, its title in help */
	size_t at;                   /* of the field in struct ws_options */
	enum kind kind;
	unsigned verbs;
	const char *preset, *values, *help;
};

static const struct row rows[] = {
#define HEAD(verbs, title) { NULL, 0, TEXT, verbs, NULL, NULL, title },
#define OPT(name, field, kind, verbs, preset, values, help) \
	{ name, offsetof(struct ws_options, field), kind, verbs, preset, values, help },
#include "base/options.def"
#undef OPT
#undef HEAD
};

static unsigned verb_bit(const char *verb)
{
	return strcmp(verb, "race") == 0 ? V_RACE : strcmp(verb, "run") == 0 ? V_RUN : strcmp(verb, "sim") == 0 ? V_SIM :
	       strcmp(verb, "tm") == 0 ? V_TM : 0;
}

static const struct row *find_row(const char *name)
{
	for (size_t i = 0; i < WS_COUNT(rows); i++)
		if (rows[i].name && strcmp(rows[i].name, name) == 0)
			return &rows[i];
	return NULL;
}

static bool is_string(enum kind k)
{
	return k == CHOICE || k == SET || k == TEXT || k == REGEX;
}

/* ---- setting ---- */
static bool refuse(struct ws_options *o, const char **why, const char *fmt, ...) WS_PRINTF(3, 4);
static bool refuse(struct ws_options *o, const char **why, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	ws_replace_vtext(&o->why, fmt, ap);
	va_end(ap);
	if (why)
		*why = o->why;
	return false;
}

/* Position of the n bytes at s among "a|b|c"; -1 if they are none of them. */
static int choice_index(const char *values, const char *s, size_t n)
{
	for (int i = 0;; i++) {
		size_t len = strcspn(values, "|");

		if (len == n && memcmp(values, s, n) == 0)
			return i;
		if (!values[len])
			return -1;
		values += len + 1;
	}
}

static bool valid_set(const char *values, const char *s)
{
	for (;;) {
		size_t n = strcspn(s, ",");

		if (choice_index(values, s, n) < 0)
			return false;
		if (!s[n])
			return true;
		s += n + 1;
	}
}

/* Decimal digits, optionally followed by one of K M G T when `suffix`. */
static bool parse_number(const char *s, bool suffix, uint64_t *out)
{
	static const char letters[] = "KMGT";
	const char *letter;
	char *end;
	unsigned long long v;

	if (!isdigit((unsigned char)*s))
		return false;
	errno = 0;
	v = strtoull(s, &end, 10);
	if (errno)
		return false;
	if (suffix && *end && (letter = strchr(letters, toupper((unsigned char)*end)))) {
		unsigned shift = 10 * (unsigned)(letter - letters + 1);

		if (v > UINT64_MAX >> shift)
			return false;
		v <<= shift;
		end++;
	}
	*out = v;
	return *end == 0;
}

static bool in_range(const char *range, uint64_t v)
{
	uint64_t low, high;

	return sscanf(range, "%" SCNu64 "..%" SCNu64, &low, &high) == 2 && v >= low && v <= high;
}

/* "9.0", "90" and "sm_90" are the same capability. */
static bool parse_cc(const char *s, uint32_t *out)
{
	unsigned major, minor;
	char rest;

	if (strncmp(s, "sm_", 3) == 0)
		s += 3;
	if (sscanf(s, "%u.%u%c", &major, &minor, &rest) == 2 && major < 100 && minor < 10)
		*out = major * 10 + minor;
	else if (sscanf(s, "%u%c", &major, &rest) == 1 && major >= 10 && major < 1000)
		*out = major;
	else
		return false;
	return *out >= 30 && *out <= 129;
}

static bool set_text(struct ws_options *o, const struct row *r, const char *value, const char **why)
{
	const char **field = (const char **)((char *)o + r->at);
	char *copy = ws_strdup(value);
	regex_t re;

	if (r->kind == REGEX) {
		int bad = regcomp(&re, value, REG_EXTENDED | REG_NOSUB);

		if (bad) {
			char text[200];

			regerror(bad, &re, text, sizeof text);
			free(copy);
			return refuse(o, why, "--%s: '%s' is not a regular expression: %s", r->name, value, text);
		}
		regfree(&re);
	}
	free((char *)*field);
	*field = copy;
	return true;
}

static bool set_number(struct ws_options *o, const struct row *r, const char *value, const char **why)
{
	void *field = (char *)o + r->at;
	uint64_t v = 0;

	if (!parse_number(value, r->kind == SIZE, &v) || (r->kind != SIZE && !in_range(r->values, v)))
		return refuse(o, why, "--%s: '%s' is not %s%s", r->name, value,
		              r->kind == SIZE ? "a number of bytes (such as 4G)" : "a number in ",
		              r->kind == SIZE ? "" : r->values);
	if (r->kind == U32)
		*(uint32_t *)field = (uint32_t)v;
	else
		*(uint64_t *)field = v;
	return true;
}

static bool set_seconds(struct ws_options *o, const struct row *r, const char *value, const char **why)
{
	char *end;
	double v = strtod(value, &end);

	if (end == value || *end || !isfinite(v) || v < 0)
		return refuse(o, why, "--%s: '%s' is not a number of seconds", r->name, value);
	*(double *)((char *)o + r->at) = v;
	return true;
}

static bool set_choice(struct ws_options *o, const struct row *r, const char *value, const char **why)
{
	void *field = (char *)o + r->at;
	int i = choice_index(r->values, value, strlen(value));

	if (i < 0)
		return refuse(o, why, "--%s: '%s' is none of %s", r->name, value, r->values);
	if (r->kind == NUMBER)
		*(uint32_t *)field = (uint32_t)strtoul(value, NULL, 10);
	else if (r->kind == SWITCH || r->kind == FLAG)
		*(bool *)field = i == 1;
	else
		set_text(o, r, value, why);
	return true;
}

static bool set_row(struct ws_options *o, const struct row *r, const char *value, const char **why)
{
	switch (r->kind) {
	case CHOICE:
	case NUMBER:
	case SWITCH:
	case FLAG:
		return set_choice(o, r, value, why);
	case SET:
		if (!valid_set(r->values, value))
			return refuse(o, why, "--%s: '%s' is not a list (',' between) of %s", r->name, value, r->values);
		return set_text(o, r, value, why);
	case TEXT:
	case REGEX:
		return set_text(o, r, value, why);
	case U32:
	case U64:
	case SIZE:
		return set_number(o, r, value, why);
	case SECONDS:
		return set_seconds(o, r, value, why);
	case CC:
		if (!parse_cc(value, (uint32_t *)((char *)o + r->at)))
			return refuse(o, why, "--%s: '%s' is not a compute capability such as 9.0", r->name, value);
		return true;
	}
	return false;
}

static void derive(struct ws_options *o)
{
	o->color_always = strcmp(o->color, "always") == 0;
	o->color_never = strcmp(o->color, "never") == 0;
}

void ws_options_default(struct ws_options *o)
{
	memset(o, 0, sizeof *o);
	for (size_t i = 0; i < WS_COUNT(rows); i++)
		if (rows[i].name && rows[i].preset)
			set_row(o, &rows[i], rows[i].preset, NULL);
	derive(o);
}

bool ws_options_set(struct ws_options *o, const char *name, const char *value, const char **why)
{
	const struct row *r = find_row(name);

	if (!r)
		return refuse(o, why, "there is no option '--%s'", name);
	if (!set_row(o, r, value, why))
		return false;
	derive(o);
	return true;
}

void ws_options_free(struct ws_options *o)
{
	for (size_t i = 0; i < WS_COUNT(rows); i++)
		if (rows[i].name && is_string(rows[i].kind)) {
			free(*(char **)((char *)o + rows[i].at));
			*(char **)((char *)o + rows[i].at) = NULL;
		}
	free(o->why);
	o->why = NULL;
}

/* ---- the environment ---- */
static bool same_value(const struct row *r, const void *a, const void *b)
{
	const char *s, *t;

	switch (r->kind) {
	case SWITCH:
	case FLAG:
		return *(const bool *)a == *(const bool *)b;
	case NUMBER:
	case U32:
	case CC:
		return *(const uint32_t *)a == *(const uint32_t *)b;
	case U64:
	case SIZE:
		return *(const uint64_t *)a == *(const uint64_t *)b;
	case SECONDS:
		return *(const double *)a == *(const double *)b;
	default:
		s = *(const char *const *)a;
		t = *(const char *const *)b;
		return s && t ? strcmp(s, t) == 0 : s == t;
	}
}

/* A value may hold any text: a line break inside it is written as backslash n. */
static void add_escaped(struct ws_buf *out, const char *s)
{
	for (; *s; s++) {
		if (*s == '\n')
			ws_buf_puts(out, "\\n");
		else if (*s == '\\')
			ws_buf_puts(out, "\\\\");
		else
			ws_buf_add(out, s, 1);
	}
}

static void add_value(struct ws_buf *out, const struct row *r, const void *field)
{
	switch (r->kind) {
	case SWITCH:
	case FLAG:
		ws_buf_puts(out, *(const bool *)field ? strchr(r->values, '|') + 1 : "");
		if (!*(const bool *)field)
			ws_buf_add(out, r->values, strcspn(r->values, "|"));
		break;
	case NUMBER:
	case U32:
	case CC:
		ws_buf_printf(out, "%" PRIu32, *(const uint32_t *)field);
		break;
	case U64:
	case SIZE:
		ws_buf_printf(out, "%" PRIu64, *(const uint64_t *)field);
		break;
	case SECONDS:
		ws_buf_printf(out, "%.17g", *(const double *)field);
		break;
	default:
		add_escaped(out, *(const char *const *)field);
	}
}

void ws_options_to_env(const struct ws_options *o, struct ws_buf *out)
{
	struct ws_options preset;

	ws_options_default(&preset);
	for (size_t i = 0; i < WS_COUNT(rows); i++) {
		const struct row *r = &rows[i];
		const char *field = (const char *)o + r->at;

		if (!r->name || same_value(r, field, (const char *)&preset + r->at))
			continue;
		if (is_string(r->kind) && !*(const char *const *)field)
			continue;
		ws_buf_printf(out, "%s=", r->name);
		add_value(out, r, field);
		ws_buf_puts(out, "\n");
	}
	ws_buf_add(out, "", 0);
	ws_options_free(&preset);
}

static char *unescape(const char *s, size_t n)
{
	struct ws_buf b = { 0 };

	for (size_t i = 0; i < n; i++) {
		if (s[i] == '\\' && i + 1 < n && (s[i + 1] == 'n' || s[i + 1] == '\\'))
			ws_buf_puts(&b, s[++i] == 'n' ? "\n" : "\\");
		else
			ws_buf_add(&b, s + i, 1);
	}
	ws_buf_add(&b, "", 0);
	return b.data;
}

static bool line_from_env(struct ws_options *o, const char *line, size_t len, const char **why)
{
	const char *equals = memchr(line, '=', len);
	char *name, *value;
	bool fine;

	if (!equals)
		return refuse(o, why, "WARPSAFE_OPTIONS: '%.*s' is not of the form name=value", (int)len, line);
	name = ws_strndup(line, (size_t)(equals - line));
	value = unescape(equals + 1, len - (size_t)(equals + 1 - line));
	fine = ws_options_set(o, name, value, why);
	free(name);
	free(value);
	return fine;
}

bool ws_options_from_env(struct ws_options *o, const char *text, const char **why)
{
	while (*text) {
		size_t len = strcspn(text, "\n");

		if (len && !line_from_env(o, text, len, why))
			return false;
		text += len + (text[len] == '\n');
	}
	return true;
}

/* ---- help ---- */
enum { HELP_COLUMN = 32 };

/* What stands after '=' in the help. */
static const char *value_word(const struct row *r)
{
	return r->kind == SET ? "LIST" : r->kind == U32 || r->kind == U64 ? "N" : r->values;
}

static void help_row(const struct row *r, struct ws_buf *out)
{
	size_t start = out->len, width;

	ws_buf_printf(out, "  --%s", r->name);
	if (r->kind != FLAG)
		ws_buf_printf(out, "=%s", value_word(r));
	width = out->len - start;
	if (width + 2 > HELP_COLUMN) {
		ws_buf_puts(out, "\n");
		width = 0;
	}
	ws_buf_printf(out, "%*s", (int)(HELP_COLUMN - width), "");
	for (const char *s = r->help; *s; s++) {
		ws_buf_add(out, s, 1);
		if (*s == '\n')
			ws_buf_printf(out, "%*s", HELP_COLUMN, "");
	}
	if (r->preset && strcmp(r->preset, "0") != 0 && r->kind != FLAG)
		ws_buf_printf(out, " [%s]", r->preset);
	ws_buf_puts(out, "\n");
}

void ws_options_help(const char *verb, struct ws_buf *out)
{
	unsigned bit = verb_bit(verb);

	for (size_t i = 0; i < WS_COUNT(rows); i++) {
		const struct row *r = &rows[i];

		if (!(r->verbs & bit))
			continue;
		if (r->name)
			help_row(r, out);
		else
			ws_buf_printf(out, "\n%s:\n", r->help);
	}
}

/* roff: a '-' that is to stay one, and no line that starts with a control character. */
static void add_roff(struct ws_buf *out, const char *s)
{
	for (; *s; s++) {
		if (*s == '-')
			ws_buf_puts(out, "\\-");
		else if (*s == '\\')
			ws_buf_puts(out, "\\e");
		else
			ws_buf_add(out, s, 1);
	}
}

void ws_options_man(const char *verb, struct ws_buf *out)
{
	unsigned bit = verb_bit(verb);

	for (size_t i = 0; i < WS_COUNT(rows); i++) {
		const struct row *r = &rows[i];

		if (!r->name || !(r->verbs & bit))
			continue;
		ws_buf_puts(out, ".TP\n.B \\-\\-");
		add_roff(out, r->name);
		if (r->kind != FLAG) {
			ws_buf_puts(out, "=\\fI");
			add_roff(out, value_word(r));
			ws_buf_puts(out, "\\fR");
		}
		ws_buf_puts(out, "\n");
		add_roff(out, r->help);
		if (r->kind == SET || r->kind == U32 || r->kind == U64) {
			ws_buf_puts(out, "; ");
			add_roff(out, r->values);
		}
		ws_buf_puts(out, ".\n");
		if (r->preset && r->kind != FLAG) {
			ws_buf_puts(out, "Default: ");
			add_roff(out, r->preset);
			ws_buf_puts(out, ".\n");
		}
	}
}

/* ---- names ---- */
/* Optimal string alignment distance, three rows of the table at a time. */
size_t ws_edit_distance(const char *a, const char *b)
{
	size_t n = strlen(a), m = strlen(b), result;
	size_t *rows3 = ws_alloc(3 * (m + 1) * sizeof *rows3);
	size_t *before = rows3, *last = rows3 + m + 1, *now = rows3 + 2 * (m + 1);

	for (size_t j = 0; j <= m; j++)
		last[j] = j;
	for (size_t i = 1; i <= n; i++) {
		now[0] = i;
		for (size_t j = 1; j <= m; j++) {
			size_t best = last[j - 1] + (a[i - 1] != b[j - 1]);

			best = best < last[j] + 1 ? best : last[j] + 1;
			best = best < now[j - 1] + 1 ? best : now[j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && before[j - 2] + 1 < best)
				best = before[j - 2] + 1;
			now[j] = best;
		}
		size_t *spare = before;
		before = last;
		last = now;
		now = spare;
	}
	result = last[m];
	free(rows3);
	return result;
}

const char *ws_options_nearest(const char *verb, const char *name)
{
	unsigned bit = verb_bit(verb);
	size_t best = strlen(name) / 3 + 2;
	const char *found = NULL;

	if (strlen(name) > 100)
		return NULL;
	for (size_t i = 0; i < WS_COUNT(rows); i++) {
		size_t d;

		if (!rows[i].name || !(rows[i].verbs & bit))
			continue;
		d = ws_edit_distance(name, rows[i].name);
		if (d < best) {
			best = d;
			found = rows[i].name;
		}
	}
	return found;
}

bool ws_options_flag(const char *name)
{
	const struct row *r = find_row(name);

	return r && r->kind == FLAG;
}

bool ws_options_known(const char *verb, const char *name)
{
	const struct row *r = find_row(name);

	return r && (r->verbs & verb_bit(verb));
}

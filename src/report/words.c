/* words.c - the words of a report that its text, SARIF and HTML forms share. */
#include "report/report_priv.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/demangle.h"

const char *ws_race_kind_name(enum ws_race_kind k)
{
	return k == WS_RAW ? "RAW" : k == WS_WAR ? "WAR" : "WAW";
}

const char *ws_race_kind_words(enum ws_race_kind k)
{
	return k == WS_RAW ? "read-after-write" : k == WS_WAR ? "write-after-read" : "write-after-write";
}

const char *ws_race_access_name(enum ws_race_access_kind k)
{
	return k == WS_RA_READ ? "read" : k == WS_RA_WRITE ? "write" : "atomic";
}

void ws_race_set_thread(struct ws_race_access *a, const uint32_t grid[3], const uint32_t block_dim[3], uint64_t block,
                        uint32_t thread)
{
	uint64_t gx = grid[0] ? grid[0] : 1, gy = grid[1] ? grid[1] : 1;
	uint32_t bx = block_dim[0] ? block_dim[0] : 1, by = block_dim[1] ? block_dim[1] : 1;

	a->block[0] = (uint32_t)(block % gx);
	a->block[1] = (uint32_t)(block / gx % gy);
	a->block[2] = (uint32_t)(block / gx / gy);
	a->thread[0] = thread % bx;
	a->thread[1] = thread / bx % by;
	a->thread[2] = thread / bx / by;
}

const char *ws_race_severity_name(enum ws_severity s)
{
	return s == WS_ERROR ? "error" : s == WS_WARNING ? "warning" : "note";
}

void ws_buf_add_clean(struct ws_buf *out, const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)s[i];

		if (c == '\t')
			ws_buf_puts(out, " ");
		else if (c < 0x20 || c == 0x7f)
			ws_buf_puts(out, "?");
		else if (c == 0xc2 && i + 1 < n && (unsigned char)s[i + 1] < 0xa0)
			ws_buf_puts(out, "?"), i++;          /* U+0080..U+009F: 8-bit control characters */
		else
			ws_buf_add(out, s + i, 1);
	}
}

static void add_string(struct ws_buf *out, const char *s)
{
	ws_buf_add_clean(out, s, strlen(s));
}

char *ws_race_location(const struct ws_race *race)
{
	return ws_plain_variable(race->location ? race->location : "", strcmp(race->space, "shared") == 0);
}

const char *ws_report_short_path(const char *path)
{
	char here[PATH_MAX];
	size_t n;

	if (*path != '/' || !getcwd(here, sizeof here))
		return path;
	n = strlen(here);
	return strncmp(path, here, n) == 0 && path[n] == '/' && path[n + 1] ? path + n + 1 : path;
}

void ws_race_add_bytes(struct ws_buf *out, const struct ws_race *race)
{
	uint64_t size = race->size ? race->size : 1;
	char *location = ws_race_location(race);
	bool variable = *location && !strchr(location, ' ');

	if (size == 1)
		ws_buf_printf(out, "byte %" PRIu64, race->offset);
	else
		ws_buf_printf(out, "bytes %" PRIu64 "..%" PRIu64, race->offset, race->offset + size - 1);
	ws_buf_puts(out, variable ? " of '" : " of ");
	if (*location)
		add_string(out, location);
	else
		ws_buf_printf(out, "%s memory", race->space);
	if (variable)
		ws_buf_puts(out, "'");
	free(location);
}

/* What is wrong, in the words of a title. */
static const char *const categories[][2] = {
	{ "missing-barrier", "no barrier between them" },
	{ "missing-fence", "no fence between them" },
	{ "warp", "lanes of one warp, not synchronized" },
	{ "same-instruction", "lanes of one instruction" },
	{ "inter-block", "two blocks, in no order" },
	{ "scope", "scope too small" },
	{ "lock", "no lock in common" },
	{ "atomic-plain", "one is atomic, one is not" },
	{ "mixed-size", "atomic accesses of different sizes" },
	{ "same-value", "both write the same value" },
	{ "dependency", "ordered by a value that depends on the read, not by a fence" },
	{ "async-copy", "an operation that may still be under way" },
	{ "mbarrier", "mbarrier object, its initialization and its use in no order" },
	{ "proxy", "no proxy fence between them" },
	{ "cluster", "two blocks of a cluster, no barrier between them" },
	{ "cluster-lifetime", "the other block may not have begun, or have ended" },
	{ "streams", "two operations that nothing orders" },
	{ "dependent-launch", "the kernel before it may still run" },
	{ "stream-memory", "used outside its life in stream order" },
	{ "host-access", "the host does not wait" },
};

void ws_race_add_title(struct ws_buf *out, const struct ws_race *race)
{
	ws_buf_printf(out, "%s race (%s) in ", ws_race_kind_words(race->kind), ws_race_kind_name(race->kind));
	add_string(out, race->space);
	ws_buf_puts(out, " memory: ");
	for (size_t i = 0; i < WS_COUNT(categories); i++)
		if (strcmp(race->category, categories[i][0]) == 0) {
			ws_buf_puts(out, categories[i][1]);
			return;
		}
	for (const char *s = race->category; *s; s++)
		ws_buf_add_clean(out, *s == '-' ? " " : s, 1);
}

void ws_race_add_place(struct ws_buf *out, const struct ws_race_access *a)
{
	const char *file = a->file ? a->file : a->ptx_file ? a->ptx_file : "PTX";

	if (!a->file && !a->ptx && a->operation) {
		ws_buf_puts(out, "(no line)");
		return;
	}
	add_string(out, ws_report_short_path(file));
	ws_buf_printf(out, ":%" PRIu32, a->file ? a->line : a->ptx_line);
	if (a->nearby)
		ws_buf_puts(out, " or near");
}

void ws_race_add_thread(struct ws_buf *out, const struct ws_race_access *a)
{
	if (a->operation && !a->ptx) {
		add_string(out, a->operation);
		return;
	}
	ws_buf_printf(out, "thread (%" PRIu32 ",%" PRIu32 ",%" PRIu32 ") of block (%" PRIu32 ",%" PRIu32 ",%" PRIu32 ")",
	              a->thread[0], a->thread[1], a->thread[2], a->block[0], a->block[1], a->block[2]);
}

static void add_number_of(struct ws_buf *out, uint64_t n, const char *what)
{
	ws_buf_add_count(out, n);
	ws_buf_printf(out, " %s%s", what, n == 1 ? "" : "s");
}

void ws_report_add_rule_words(struct ws_buf *out, const struct ws_rule_row *rule)
{
	ws_buf_puts(out, "suppressed: ");
	if (rule->races)
		add_number_of(out, rule->races, "race");
	else
		ws_buf_puts(out, "nothing");
	ws_buf_puts(out, " by ");
	add_string(out, ws_report_short_path(rule->file));
	ws_buf_printf(out, ":%" PRIu32 ": ", rule->line);
	add_string(out, rule->text);
}

static void add_races(struct ws_buf *out, const struct ws_report_view *v)
{
	if (!v->nraces) {
		ws_buf_puts(out, "no race");
		return;
	}
	add_number_of(out, v->nraces, "race");
	ws_buf_puts(out, " (");
	if (v->nerrors)
		add_number_of(out, v->nerrors, "error");
	ws_buf_puts(out, v->nerrors && v->nwarnings ? ", " : "");
	if (v->nwarnings)
		add_number_of(out, v->nwarnings, "warning");
	ws_buf_puts(out, ")");
}

static bool named_before(const struct ws_report_view *v, size_t i)
{
	for (size_t j = 0; j < i; j++)
		if (strcmp(v->unchecked[j].kernel, v->unchecked[i].kernel) == 0)
			return true;
	return false;
}

/* On a real GPU accesses are not counted. */
static bool counts_accesses(const struct ws_report_view *v)
{
	return strcmp(v->gpu, "real") != 0;
}

/* Were some launches of it checked, or some of its accesses? */
static bool partly_checked(const struct ws_report_view *v, const char *kernel)
{
	for (size_t i = 0; i < v->nkernels; i++)
		if (strcmp(v->kernels[i].name, kernel) == 0)
			return counts_accesses(v) ? v->kernels[i].accesses > 0 : v->kernels[i].checked;
	return false;
}

static void add_unchecked(struct ws_buf *out, const struct ws_report_view *v)
{
	size_t n = 0;
	bool partly = false;

	for (size_t i = 0; i < v->nunchecked; i++) {
		n += !named_before(v, i);
		partly = partly || partly_checked(v, v->unchecked[i].kernel);
	}
	add_number_of(out, n, "kernel");
	ws_buf_printf(out, " %s not %schecked", n == 1 ? "was" : "were", partly ? "wholly " : "");
}

/* Is it a race inside a kernel that has no row, for the launch that showed it did not end? */
static bool has_no_row(const struct ws_report_view *v, const struct ws_race *race)
{
	if (!race->first.ptx_line || !race->second.ptx_line)      /* of a copy, or of the host */
		return false;
	for (size_t i = 0; i < v->nkernels; i++)
		if (strcmp(v->kernels[i].name, race->kernel) == 0)
			return false;
	return true;
}

static size_t unended_kernels(const struct ws_report_view *v)
{
	size_t n = 0;

	for (size_t i = 0; i < v->nraces; i++) {
		bool before = false;

		for (size_t j = 0; j < i && !before; j++)
			before = strcmp(v->races[j]->kernel, v->races[i]->kernel) == 0;
		n += !before && has_no_row(v, v->races[i]);
	}
	return n;
}

void ws_report_add_summary(struct ws_buf *out, const struct ws_report_view *v)
{
	uint64_t accesses = 0;
	size_t nunchecked = v->nunchecked, unended = unended_kernels(v);

	for (size_t i = 0; i < v->nkernels; i++)
		accesses += v->kernels[i].accesses;
	if (!v->nkernels && !v->nunchecked && !v->nraces && !v->suppressed && !v->nfailures) {
		ws_buf_puts(out, "no kernel was launched: nothing was checked");
		return;
	}
	if (v->nfailures)
		ws_buf_puts(out, "the program failed; ");
	add_races(out, v);
	if (v->suppressed) {
		ws_buf_puts(out, ", ");
		ws_buf_add_count(out, v->suppressed);
		ws_buf_puts(out, " suppressed,");
	}
	if (v->runs) {
		ws_buf_puts(out, " in ");
		add_number_of(out, v->runs, "run");
		ws_buf_puts(out, " of");
	} else {
		ws_buf_puts(out, " in");
	}
	ws_buf_puts(out, " ");
	add_number_of(out, v->nkernels + unended, "kernel");
	ws_buf_puts(out, "; ");
	if (counts_accesses(v) && (accesses || !unended)) {    /* of a launch that did not end they are not counted yet */
		ws_buf_add_count(out, accesses);
		ws_buf_puts(out, " accesses checked; ");
	}
	if (!nunchecked && !v->nlimits && !v->nfailures) {
		ws_buf_puts(out, "everything was checked");
		return;
	}
	if (nunchecked) {
		add_unchecked(out, v);
	} else {
		ws_buf_puts(out, v->nlimits ? "some things were not checked (see above)"
		                            : "what came after the failure was not checked");
	}
}

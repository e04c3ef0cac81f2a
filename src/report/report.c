/* report.c - collects races, kernels and what could not be checked; see report.h.
 *
 * Everything lives in one arena; one lock guards it. Races are found by a hash of what makes two of them the same. */
#include "report/report_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct entry {
	struct ws_race race;
	uint64_t hash;
};

struct ws_report {
	pthread_mutex_t lock;
	struct ws_arena *arena;
	const char *gpu, *detector;
	uint32_t granularity;
	struct entry **entries;              /* in order of discovery */
	size_t nentries, capentries;
	uint32_t *table;                     /* open addressing: entry number + 1, 0 = free; a power of two */
	size_t table_size;
	struct ws_kernel_row *kernels;
	size_t nkernels, capkernels;
	struct ws_unchecked_row *unchecked;
	size_t nunchecked, capunchecked;
	struct ws_violation_row *violations;
	size_t nviolations, capviolations;
	const char **limits, **errors;
	size_t nlimits, caplimits, nerrors, caperrors;
	uint64_t suppressed;
	struct ws_rule_row *rules;
	size_t nrules, caprules;
	uint32_t runs;
};

struct ws_report *ws_report_new(void)
{
	struct ws_report *r = ws_alloc(sizeof *r);

	pthread_mutex_init(&r->lock, NULL);
	r->arena = ws_arena_new();
	r->granularity = 1;
	r->table_size = 64;
	r->table = ws_alloc(r->table_size * sizeof *r->table);
	return r;
}

void ws_report_free(struct ws_report *r)
{
	if (!r)
		return;
	pthread_mutex_destroy(&r->lock);
	free(r->entries);
	free(r->table);
	free(r->kernels);
	free(r->unchecked);
	free(r->limits);
	free(r->rules);
	free(r->errors);
	free(r->violations);
	ws_arena_free(r->arena);
	free(r);
}

/* The lock is no part of what a const report says. */
static pthread_mutex_t *lock_of(const struct ws_report *r)
{
	return &((struct ws_report *)r)->lock;
}

static const char *keep(struct ws_report *r, const char *s)
{
	return s ? ws_arena_strndup(r->arena, s, strlen(s)) : NULL;
}

void ws_report_set(struct ws_report *r, const char *gpu, const char *detector, uint32_t granularity)
{
	pthread_mutex_lock(&r->lock);
	r->gpu = keep(r, gpu);
	r->detector = keep(r, detector);
	r->granularity = granularity;
	pthread_mutex_unlock(&r->lock);
}

/* ---- races ---- */
static uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15u;
	return h ^ h >> 29;
}

static uint64_t hash_string(const char *s)
{
	return s ? ws_hash(s, strlen(s)) : 0;
}

static int compare_strings(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) : (a != NULL) - (b != NULL);
}

static int compare_numbers(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

/* Where an access stands: its source position with line information, so that the copies of an unrolled loop are one
 * place; without, its PTX line. */
static int compare_places(const struct ws_race_access *a, const struct ws_race_access *b)
{
	int d = compare_strings(a->file, b->file);

	if (!d && a->file) {
		d = compare_numbers(a->line, b->line);
		d = d ? d : compare_numbers(a->col, b->col);
		d = d ? d : compare_strings(a->inlined_file, b->inlined_file);
		d = d ? d : compare_numbers(a->inlined_line, b->inlined_line);
	} else if (!d) {
		d = compare_strings(a->ptx_file, b->ptx_file);
		d = d ? d : compare_numbers(a->ptx_line, b->ptx_line);
		if (!d && !a->ptx && !b->ptx)
			d = compare_strings(a->operation, b->operation);
	}
	return d ? d : compare_numbers(a->access, b->access);
}

static uint64_t hash_place(const struct ws_race_access *a)
{
	uint64_t h = mix(a->access, hash_string(a->file));

	if (!a->file)
		return mix(mix(mix(h, hash_string(a->ptx_file)), a->ptx_line), a->ptx ? 0 : hash_string(a->operation));
	return mix(mix(mix(mix(h, a->line), a->col), hash_string(a->inlined_file)), a->inlined_line);
}

/* Two writes are the same race whichever of them came first. */
static bool same_places(const struct ws_race *a, const struct ws_race *b)
{
	if (compare_places(&a->first, &b->first) == 0 && compare_places(&a->second, &b->second) == 0)
		return true;
	return a->kind == WS_WAW && compare_places(&a->first, &b->second) == 0 &&
	       compare_places(&a->second, &b->first) == 0;
}

/* A variable in shared memory is part of a race's identity; allocations come and go, so they are not. */
static const char *location_key(const struct ws_race *a)
{
	return a->space && strcmp(a->space, "shared") == 0 ? a->location : NULL;
}

static bool same_race(const struct ws_race *a, const struct ws_race *b)
{
	return a->kind == b->kind && compare_strings(a->kernel, b->kernel) == 0 &&
	       compare_strings(a->space, b->space) == 0 &&
	       compare_strings(location_key(a), location_key(b)) == 0 && same_places(a, b);
}

static uint64_t hash_race(const struct ws_race *a)
{
	uint64_t first = hash_place(&a->first), second = hash_place(&a->second);
	uint64_t h = mix(a->kind, hash_string(a->kernel));

	h = mix(mix(h, hash_string(a->space)), hash_string(location_key(a)));
	return a->kind == WS_WAW ? mix(h, first + second) : mix(mix(h, first), second);
}

static uint32_t *find_slot(const struct ws_report *r, const struct ws_race *race, uint64_t hash)
{
	for (size_t i = hash & (r->table_size - 1);; i = (i + 1) & (r->table_size - 1)) {
		uint32_t *slot = &r->table[i];
		const struct entry *e;

		if (!*slot)
			return slot;
		e = r->entries[*slot - 1];
		if (e->hash == hash && same_race(&e->race, race))
			return slot;
	}
}

static void grow_table(struct ws_report *r)
{
	free(r->table);
	r->table_size *= 2;
	r->table = ws_alloc(r->table_size * sizeof *r->table);
	for (size_t n = 0; n < r->nentries; n++)
		*find_slot(r, &r->entries[n]->race, r->entries[n]->hash) = (uint32_t)n + 1;
}

static void keep_access(struct ws_report *r, struct ws_race_access *a)
{
	a->file = keep(r, a->file);
	a->function = keep(r, a->function);
	a->inlined_file = keep(r, a->inlined_file);
	a->ptx_file = keep(r, a->ptx_file);
	a->ptx = keep(r, a->ptx);
	a->operation = keep(r, a->operation);
}

static void keep_race(struct ws_report *r, struct ws_race *race)
{
	race->space = keep(r, race->space ? race->space : "global");
	race->category = keep(r, race->category ? race->category : "unordered");
	race->kernel = keep(r, race->kernel ? race->kernel : "?");
	race->location = keep(r, race->location);
	race->missing = keep(r, race->missing);
	race->repair = keep(r, race->repair);
	keep_access(r, &race->first);
	keep_access(r, &race->second);
}

static uint64_t add_saturated(uint64_t a, uint64_t b)
{
	return a + b < a ? UINT64_MAX : a + b;
}

/* How far apart the threads of an example are, as its category tells. */
static int reach_of(const struct ws_race *r)
{
	if (!r->category || strcmp(r->category, "warp") == 0)
		return 0;
	return strcmp(r->category, "missing-barrier") == 0 ? 1 : 2;
}

static bool better_example(const struct ws_race *new, const struct ws_race *old)
{
	if (new->severity != old->severity)
		return new->severity > old->severity;
	return reach_of(new) > reach_of(old);
}

static bool add_race(struct ws_report *r, const struct ws_race *race)
{
	struct ws_race copy = *race;
	uint64_t count = race->count ? race->count : 1, hash;
	uint32_t runs = race->runs;
	uint32_t *slot;
	struct entry *e;

	copy.space = copy.space ? copy.space : "global";
	copy.kernel = copy.kernel ? copy.kernel : "?";
	hash = hash_race(&copy);
	slot = find_slot(r, &copy, hash);
	if (*slot) {
		e = r->entries[*slot - 1];
		count = add_saturated(count, e->race.count);
		runs += e->race.runs;
		if (better_example(race, &e->race)) {        /* the graver or wider example is the one to show */
			keep_race(r, &copy);
			e->race = copy;
		}
		e->race.count = count;
		e->race.runs = runs;
		return false;
	}
	e = ws_arena_alloc(r->arena, sizeof *e);
	keep_race(r, &copy);
	e->race = copy;
	e->race.count = count;
	e->hash = hash;
	*WS_PUSH(r->entries, r->nentries, r->capentries) = e;
	*slot = (uint32_t)r->nentries;
	if (r->nentries * 2 > r->table_size)
		grow_table(r);
	return true;
}

bool ws_report_race(struct ws_report *r, const struct ws_race *race)
{
	bool new;

	pthread_mutex_lock(&r->lock);
	new = add_race(r, race);
	pthread_mutex_unlock(&r->lock);
	return new;
}

void ws_report_add_suppressed(struct ws_report *r, uint64_t n)
{
	pthread_mutex_lock(&r->lock);
	r->suppressed = add_saturated(r->suppressed, n);
	pthread_mutex_unlock(&r->lock);
}

void ws_report_add_rule(struct ws_report *r, const struct ws_rule_row *rule)
{
	pthread_mutex_lock(&r->lock);
	*WS_PUSH(r->rules, r->nrules, r->caprules) =
		(struct ws_rule_row){ keep(r, rule->text), keep(r, rule->file), rule->line, rule->races };
	pthread_mutex_unlock(&r->lock);
}

void ws_report_set_runs(struct ws_report *r, uint32_t runs)
{
	r->runs = runs;
}

void ws_report_suppress(struct ws_report *r, const struct ws_suppressions *s)
{
	size_t kept = 0, first = r->nrules;
	struct ws_rule_row rule;

	for (size_t i = 0; ws_suppressions_rule(s, i, &rule); i++)
		ws_report_add_rule(r, &rule);
	pthread_mutex_lock(&r->lock);
	for (size_t i = 0; i < r->nentries; i++) {
		long which = ws_suppressions_which(s, &r->entries[i]->race);

		if (which < 0)
			r->entries[kept++] = r->entries[i];
		else
			r->rules[first + (size_t)which].races++;
	}
	r->suppressed = add_saturated(r->suppressed, r->nentries - kept);
	r->nentries = kept;
	memset(r->table, 0, r->table_size * sizeof *r->table);
	for (size_t i = 0; i < kept; i++)
		*find_slot(r, &r->entries[i]->race, r->entries[i]->hash) = (uint32_t)i + 1;
	pthread_mutex_unlock(&r->lock);
}

/* ---- the rest ---- */
void ws_report_kernel(struct ws_report *r, const struct ws_kernel_row *k)
{
	struct ws_kernel_row *row = NULL;

	pthread_mutex_lock(&r->lock);
	for (size_t i = 0; i < r->nkernels && !row; i++)
		if (strcmp(r->kernels[i].name, k->name) == 0)
			row = &r->kernels[i];
	if (!row) {
		row = WS_PUSH(r->kernels, r->nkernels, r->capkernels);
		*row = (struct ws_kernel_row){ .name = keep(r, k->name), .checked = true };
	}
	row->launches = add_saturated(row->launches, k->launches);
	row->accesses = add_saturated(row->accesses, k->accesses);
	row->thread_instructions = add_saturated(row->thread_instructions, k->thread_instructions);
	row->checked = row->checked && k->checked;
	pthread_mutex_unlock(&r->lock);
}

void ws_report_unchecked(struct ws_report *r, const char *kernel, const char *why)
{
	bool known = false;

	pthread_mutex_lock(&r->lock);
	for (size_t i = 0; i < r->nunchecked && !known; i++)
		known = strcmp(r->unchecked[i].kernel, kernel) == 0 && strcmp(r->unchecked[i].why, why) == 0;
	if (!known)
		*WS_PUSH(r->unchecked, r->nunchecked, r->capunchecked) =
			(struct ws_unchecked_row){ keep(r, kernel), keep(r, why) };
	pthread_mutex_unlock(&r->lock);
}

void ws_report_violation(struct ws_report *r, const struct ws_violation_row *v)
{
	size_t i = 0;

	pthread_mutex_lock(&r->lock);
	while (i < r->nviolations && strcmp(r->violations[i].what, v->what) != 0)
		i++;
	if (i == r->nviolations)
		*WS_PUSH(r->violations, r->nviolations, r->capviolations) =
			(struct ws_violation_row){ keep(r, v->what), keep(r, v->text), 0 };
	r->violations[i].count = add_saturated(r->violations[i].count, v->count);
	pthread_mutex_unlock(&r->lock);
}

static bool holds(const char *const *texts, size_t n, const char *text)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(texts[i], text) == 0)
			return true;
	return false;
}

void ws_report_limit(struct ws_report *r, const char *text)
{
	pthread_mutex_lock(&r->lock);
	if (!holds(r->limits, r->nlimits, text))
		*WS_PUSH(r->limits, r->nlimits, r->caplimits) = keep(r, text);
	pthread_mutex_unlock(&r->lock);
}

void ws_report_limit_now(struct ws_report *r, const char *key, const char *text)
{
	size_t i = 0;

	pthread_mutex_lock(&r->lock);
	while (i < r->nlimits && strncmp(r->limits[i], key, strlen(key)) != 0)
		i++;
	if (i == r->nlimits)
		*WS_PUSH(r->limits, r->nlimits, r->caplimits) = NULL;
	r->limits[i] = keep(r, text);
	pthread_mutex_unlock(&r->lock);
}

void ws_report_error(struct ws_report *r, const char *text)
{
	pthread_mutex_lock(&r->lock);
	if (!holds(r->errors, r->nerrors, text))
		*WS_PUSH(r->errors, r->nerrors, r->caperrors) = keep(r, text);
	pthread_mutex_unlock(&r->lock);
}

void ws_report_add_run(struct ws_report *r, const struct ws_report *one)
{
	struct ws_report_view v;

	ws_report_view_open(one, &v);
	ws_report_set(r, v.gpu, v.detector, v.granularity);
	for (size_t i = 0; i < v.nraces; i++) {
		struct ws_race race = *v.races[i];

		race.runs = 1;
		ws_report_race(r, &race);
	}
	for (size_t i = 0; i < v.nkernels; i++)
		ws_report_kernel(r, &v.kernels[i]);
	for (size_t i = 0; i < v.nunchecked; i++)
		ws_report_unchecked(r, v.unchecked[i].kernel, v.unchecked[i].why);
	for (size_t i = 0; i < v.nlimits; i++)
		ws_report_limit(r, v.limits[i]);
	for (size_t i = 0; i < v.nfailures; i++)
		ws_report_error(r, v.errors[i]);
	for (size_t i = 0; i < v.nviolations; i++)
		ws_report_violation(r, &v.violations[i]);
	ws_report_view_close(one, &v);
	r->runs++;
}

size_t ws_report_findings(const struct ws_report *r)
{
	return ws_report_count(r, WS_ERROR) + ws_report_count(r, WS_WARNING);
}

size_t ws_report_count(const struct ws_report *r, enum ws_severity severity)
{
	size_t n = 0;

	pthread_mutex_lock(lock_of(r));
	for (size_t i = 0; i < r->nentries; i++)
		n += r->entries[i]->race.severity == severity;
	pthread_mutex_unlock(lock_of(r));
	return n;
}

bool ws_report_failed(const struct ws_report *r)
{
	bool failed;

	pthread_mutex_lock(lock_of(r));
	failed = r->nerrors > 0;
	pthread_mutex_unlock(lock_of(r));
	return failed;
}

/* ---- views ---- */
static int compare_races(const void *x, const void *y)
{
	const struct ws_race *a = *(const struct ws_race *const *)x, *b = *(const struct ws_race *const *)y;
	int d = compare_numbers(b->severity, a->severity);

	d = d ? d : compare_strings(a->kernel, b->kernel);
	d = d ? d : compare_places(&a->first, &b->first);
	d = d ? d : compare_places(&a->second, &b->second);
	d = d ? d : compare_numbers(a->kind, b->kind);
	d = d ? d : compare_strings(a->space, b->space);
	return d ? d : compare_strings(a->location, b->location);
}

static bool same_lines(const struct ws_race_access *a, const struct ws_race_access *b)
{
	if (a->file && b->file)
		return a->line == b->line && strcmp(a->file, b->file) == 0;
	return !a->file && !b->file && a->ptx_line == b->ptx_line && compare_strings(a->ptx_file, b->ptx_file) == 0;
}

/* Do two races stand in the same two lines of a kernel, in either order? */
static bool same_pair_of_lines(const struct ws_race *a, const struct ws_race *b)
{
	return ((same_lines(&a->first, &b->first) && same_lines(&a->second, &b->second)) ||
	        (same_lines(&a->first, &b->second) && same_lines(&a->second, &b->first))) &&
	       strcmp(a->kernel, b->kernel) == 0 && strcmp(a->space, b->space) == 0;
}

/* Where two lines race in a warp and, in the other direction, between warps, __syncwarp() is no repair. */
static void widen_repairs(const struct ws_report *r)
{
	for (size_t i = 0; i < r->nentries; i++) {
		struct ws_race *narrow = &r->entries[i]->race;

		if (strcmp(narrow->category, "warp") != 0)
			continue;
		for (size_t j = 0; j < r->nentries; j++) {
			const struct ws_race *wide = &r->entries[j]->race;

			if (strcmp(wide->category, "missing-barrier") == 0 && same_pair_of_lines(narrow, wide))
				narrow->repair = wide->repair;
		}
	}
}

void ws_report_view_open(const struct ws_report *r, struct ws_report_view *v)
{
	pthread_mutex_lock(lock_of(r));
	widen_repairs(r);
	*v = (struct ws_report_view){
		.gpu = r->gpu ? r->gpu : "sim", .detector = r->detector ? r->detector : "none",
		.granularity = r->granularity, .nraces = r->nentries, .suppressed = r->suppressed,
		.kernels = r->kernels, .nkernels = r->nkernels,
		.unchecked = r->unchecked, .nunchecked = r->nunchecked,
		.limits = r->limits, .nlimits = r->nlimits,
		.errors = r->errors, .nfailures = r->nerrors,
		.violations = r->violations, .nviolations = r->nviolations,
		.rules = r->rules, .nrules = r->nrules, .runs = r->runs,
	};
	v->races = ws_alloc(r->nentries * sizeof *v->races);
	for (size_t i = 0; i < r->nentries; i++) {
		v->races[i] = &r->entries[i]->race;
		v->nerrors += v->races[i]->severity == WS_ERROR;
		v->nwarnings += v->races[i]->severity == WS_WARNING;
	}
	qsort(v->races, v->nraces, sizeof *v->races, compare_races);
}

void ws_report_view_close(const struct ws_report *r, struct ws_report_view *v)
{
	free(v->races);
	pthread_mutex_unlock(lock_of(r));
}

/* ---- file ---- */
static bool write_all(int fd, const char *data, size_t n)
{
	while (n) {
		ssize_t done = write(fd, data, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return false;
		data += done;
		n -= (size_t)done;
	}
	return true;
}

bool ws_report_save(const struct ws_report *r, const char *path)
{
	struct ws_buf json = { 0 }, beside = { 0 };
	bool fine = false;
	int fd, failed;

	ws_report_write_json(r, &json);
	ws_buf_printf(&beside, "%s.%ld.tmp", path, (long)getpid());
	fd = open(beside.data, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd >= 0) {
		fine = write_all(fd, json.data, json.len);
		fine = close(fd) == 0 && fine;
		fine = fine && rename(beside.data, path) == 0;
		failed = errno;
		if (!fine)
			unlink(beside.data);
		errno = failed;
	}
	failed = errno;
	ws_buf_free(&json);
	ws_buf_free(&beside);
	errno = failed;
	return fine;
}

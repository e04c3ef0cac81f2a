/* simtest.c - runs PTX kernels that carry their launch and their expectations in comments at their head.
 *
 *     simtest [-v] [-m stack|its] [-d DETECTOR] [-i PASS [-c]] [-t MACHINE.conf] FILE.ptx|FOLDER...
 *
 * Each kernel runs under both divergence models, with the round-robin schedule, several random ones and two of priorities, on one and on
 * two host threads, with and without an observer (with -d: always with that race detector, whose reports do not count:
 * some kernels here race on purpose; but "compare" must find no difference). With -i every kernel is first rewritten by a
 * pass of src/rewrite and must still do what is expected; with -i count, what the inserted code counted must be what an
 * observer of the original counts, for each memory and kind of access, where that number does not depend on the schedule;
 * -c prints what was counted instead: a real GPU must count the same (simtest-real has no observers). With -t each kernel
 * runs on that machine with a clock, once for each model. One line a test, a
 * closing line "N passed, N failed, N skipped";
 * exit status 1 if one failed. Directives ("// " before each; the head ends at the first other line):
 *
 *     kernel: NAME                     default: the first entry
 *     grid: X [Y Z]   block: X [Y Z]   default 1; cluster: X [Y Z]; shared: BYTES of dynamic shared memory
 *     cooperative
 *     launches: N                      the same launch N times (default 1)
 *     buffer NAME: TYPE x N [= INIT]   device memory; also managed, host (pinned) and registered instead of buffer
 *     free NAME                        the buffer is freed before the launch
 *     arg NAME[+-BYTES]  arg VALUE:TYPE    the parameters, in order
 *     symbol NAME: TYPE x N = INIT     written to a variable of the module before the launch
 *     expect NAME[I] = V    expect NAME[I..J] = VALUES    expect NAME: VALUES      after the launch; buffer or variable
 *     expect-error: TEXT               the launch fails and says TEXT; may be repeated
 *     expect-code: NAME                ... with this code (names below)
 *     expect-output: LINE              what printf writes, line after line
 *     expect-output-any: LINE          the same, in any order
 *     divergence: its | stack          only this model
 *     threads: N   seeds: N            only N host threads; N random schedules (default 3)
 *     priorities: N                    N schedules of priorities (default 2)
 *     max-instructions: N   timeout: SECONDS   cc: N   heap: BYTES   stack: BYTES
 *     skip: REASON
 * INIT and VALUES: numbers (0x... of a float type: its bits), `iota [START [STEP]]`, `all V`. A directive after
 * "[stack]" or "[its]" holds under that model only. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/sim/clocked.h"
#include "detect/detect.h"
#include "gpu/gpu.h"
#include "rewrite/rewrite.h"
#include "tests/unit/given.h"

enum { MAX_DIRECTIVES = 128, MAX_BUFFERS = 16 };

struct directive {
	const char *key, *rest;      /* key without ':', the rest of the line */
	const char *model;           /* "stack", "its" or NULL */
	unsigned line;
};

struct test {
	char *text;
	size_t len;
	const char *path;
	char *head;                  /* copy that the directives point into */
	struct directive d[MAX_DIRECTIVES];
	size_t n;
};

struct variant {
	const char *model;
	enum ws_schedule schedule;
	bool observed;
	uint64_t seed;
	uint32_t threads;
};

struct buffer {
	char name[64];
	enum ws_type type;
	uint64_t count;
	struct ws_mem *mem;
	void *own;                   /* registered memory */
};

struct tally { uint64_t n[WS_RW_COUNTERS][WS_RW_ATOMIC + 1]; };

struct run {
	const struct test *t;
	const struct variant *v;
	struct ws_gpu *gpu;
	struct ws_gpu_module *module;
	struct ws_gpu_kernel *kernel;
	struct buffer buf[MAX_BUFFERS];
	size_t nbuf;
	struct ws_buf why;           /* what went wrong */
	int fd;                      /* printf's output */
	const struct ws_rw_result *rewritten;    /* NULL: the kernel is the original */
	struct tally *tally;         /* accesses of threads; NULL = not wanted */
};

static bool verbose;
static const struct ws_detector *detector;
static const char *only_model, *pass;
static bool show_counts;

static bool WS_PRINTF(2, 3) wrong(struct run *r, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	ws_buf_vprintf(&r->why, fmt, ap);
	va_end(ap);
	return false;
}

/* ---- the head of the file ---- */

/* One line without the slashes: [model] key: rest, or key rest. */
static bool parse_directive(struct test *t, char *line, unsigned number)
{
	struct directive *d = &t->d[t->n];
	*d = (struct directive){.line = number};
	line += strspn(line, " \t");
	if (*line == '[') {
		char *close = strchr(line, ']');
		if (!close)
			return false;
		*close = 0;
		d->model = line + 1;
		line = close + 1 + strspn(close + 1, " ");
	}
	if (!*line || t->n == MAX_DIRECTIVES - 1)
		return !*line;
	d->key = line;
	line += strcspn(line, " :");
	if (*line)
		*line++ = 0;
	d->rest = line + (*line == ' ');
	t->n++;
	return true;
}

static bool parse_head(struct test *t)
{
	unsigned number = 1;
	t->head = ws_strndup(t->text, t->len);
	for (char *p = t->head; p && !strncmp(p, "//", 2); number++) {
		char *end = strchr(p, '\n');
		if (end)
			*end = 0;
		if (!parse_directive(t, p + 2, number))
			return false;
		p = end ? end + 1 : NULL;
	}
	return true;
}

/* The i-th directive of that key that holds under the model; NULL when there are no more. */
static const struct directive *get(const struct run *r, const char *key, size_t i)
{
	for (size_t k = 0; k < r->t->n; k++) {
		const struct directive *d = &r->t->d[k];
		if (!strcmp(d->key, key) && (!d->model || !strcmp(d->model, r->v->model)) && !i--)
			return d;
	}
	return NULL;
}

static uint64_t get_number(const struct run *r, const char *key, uint64_t otherwise)
{
	const struct directive *d = get(r, key, 0);
	return d ? strtoull(d->rest, NULL, 0) : otherwise;
}

static void get_dims(const struct run *r, const char *key, uint32_t dim[3])
{
	const struct directive *d = get(r, key, 0);
	if (d)
		sscanf(d->rest, "%u %u %u", &dim[0], &dim[1], &dim[2]);
}

/* ---- values ---- */

static enum ws_type type_named(const char *name)
{
	for (int t = WS_U8; t < WS_T_OTHER; t++)
		if (!strcmp(ws_type_name((enum ws_type)t), name))
			return (enum ws_type)t;
	return WS_T_NONE;
}

/* The bits of a number as text. */
static uint64_t value_of(const char *s, enum ws_type type)
{
	bool bits = !strncmp(s, "0x", 2) || !strncmp(s, "-0x", 3);
	if (type == WS_F32 && !bits) {
		float f = strtof(s, NULL);
		uint32_t u;
		memcpy(&u, &f, sizeof u);
		return u;
	}
	if (type == WS_F64 && !bits) {
		double f = strtod(s, NULL);
		uint64_t u;
		memcpy(&u, &f, sizeof u);
		return u;
	}
	return *s == '-' ? (uint64_t)strtoll(s, NULL, 0) : strtoull(s, NULL, 0);
}

struct values { struct ws_buf text; char *words[4096]; size_t n; enum ws_type type; };

static void split(struct values *v, const char *s, enum ws_type type)
{
	memset(v, 0, sizeof *v);
	v->type = type;
	ws_buf_puts(&v->text, s);
	for (char *save, *w = strtok_r(v->text.data, " ,\t", &save); w && v->n < WS_COUNT(v->words);
	     w = strtok_r(NULL, " ,\t", &save))
		v->words[v->n++] = w;
}

/* Element i of the values; false when the list is shorter. */
static bool element(const struct values *v, uint64_t i, uint64_t *bits)
{
	if (v->n && !strcmp(v->words[0], "iota")) {
		uint64_t start = v->n > 1 ? value_of(v->words[1], WS_S64) : 0;
		uint64_t n = start + i * (v->n > 2 ? value_of(v->words[2], WS_S64) : 1);
		char s[32];
		snprintf(s, sizeof s, "%lld", (long long)n);
		*bits = value_of(s, v->type);
		return true;
	}
	if (v->n > 1 && !strcmp(v->words[0], "all"))
		i = 1;
	if (i >= v->n)
		return false;
	*bits = value_of(v->words[i], v->type);
	return true;
}

static void fill(uint8_t *host, uint64_t count, enum ws_type type, const char *init)
{
	struct values *v = malloc(sizeof *v);
	uint64_t bits;
	split(v, init, type);
	for (uint64_t i = 0; i < count && element(v, i, &bits); i++)
		memcpy(host + i * ws_type_bytes(type), &bits, ws_type_bytes(type));
	ws_buf_free(&v->text);
	free(v);
}

/* ---- buffers and arguments ---- */

static struct buffer *buffer_named(struct run *r, const char *name, size_t len)
{
	for (size_t i = 0; i < r->nbuf; i++)
		if (strlen(r->buf[i].name) == len && !strncmp(r->buf[i].name, name, len))
			return &r->buf[i];
	return NULL;
}

static struct ws_mem *make_mem(struct run *r, const char *key, struct buffer *b, uint64_t bytes)
{
	char origin[80];
	if (!strcmp(key, "symbol"))
		return ws_gpu_module_var(r->module, b->name);
	snprintf(origin, sizeof origin, "buffer %s", b->name);
	if (!strcmp(key, "registered")) {
		b->own = calloc(1, bytes);
		return ws_gpu_mem_register(r->gpu, b->own, bytes, origin);
	}
	enum ws_mem_kind kind = !strcmp(key, "managed") ? WS_MEM_MANAGED : !strcmp(key, "host") ? WS_MEM_HOST : WS_MEM_DEVICE;
	return ws_gpu_mem_new(r->gpu, bytes, 0, kind, origin);
}

static bool make_buffer(struct run *r, const struct directive *d)
{
	char type[16];
	unsigned long long count;
	struct buffer *b = &r->buf[r->nbuf];
	if (r->nbuf == MAX_BUFFERS || sscanf(d->rest, "%63[^:]: %15s x %llu", b->name, type, &count) != 3)
		return wrong(r, "line %u: cannot be understood", d->line);
	b->type = type_named(type);
	b->count = count;
	if (!ws_type_bytes(b->type))
		return wrong(r, "line %u: no type '%s'", d->line, type);
	b->mem = make_mem(r, d->key, b, count * ws_type_bytes(b->type));
	if (!b->mem)
		return wrong(r, "line %u: '%s' cannot be made", d->line, b->name);
	r->nbuf++;
	const char *init = strchr(d->rest, '=');
	if (init)
		fill(b->mem->host, count, b->type, init + 1);
	return true;
}

static bool make_buffers(struct run *r)
{
	static const char *const keys[] = {"buffer", "managed", "host", "registered", "symbol"};
	const struct directive *d;
	for (size_t k = 0; k < WS_COUNT(keys); k++)
		for (size_t i = 0; (d = get(r, keys[k], i)); i++)
			if (!make_buffer(r, d))
				return false;
	for (size_t i = 0; (d = get(r, "free", i)); i++) {
		struct buffer *b = buffer_named(r, d->rest, strlen(d->rest));
		if (!b || !ws_gpu_mem_free(r->gpu, b->mem->addr))
			return wrong(r, "line %u: cannot free '%s'", d->line, d->rest);
	}
	return true;
}

static bool argument(struct run *r, const struct directive *d, uint64_t *bits)
{
	const char *colon = strchr(d->rest, ':');
	if (colon) {
		*bits = value_of(d->rest, type_named(colon + 1));
		return type_named(colon + 1) || wrong(r, "line %u: no type '%s'", d->line, colon + 1);
	}
	size_t len = strcspn(d->rest, "+-");
	struct buffer *b = buffer_named(r, d->rest, len);
	if (!b)
		return wrong(r, "line %u: no buffer '%s'", d->line, d->rest);
	*bits = b->mem->addr + (uint64_t)strtoll(d->rest + len, NULL, 0);
	return true;
}

static bool make_params(struct run *r, uint8_t **params)
{
	struct ws_kernel_info info;
	const struct directive *d;
	ws_gpu_kernel_info(r->kernel, &info);
	*params = ws_alloc(info.param_bytes + 16);
	info.nparams -= given_params(r->kernel) > 0;
	for (size_t i = 0; i < info.nparams; i++) {
		uint64_t bits;
		if (!(d = get(r, "arg", i)))
			return wrong(r, "the kernel has %u parameters, there are %zu arguments", info.nparams, i);
		if (!argument(r, d, &bits))
			return false;
		memcpy(*params + info.param_offset[i], &bits, info.param_size[i] < 8 ? info.param_size[i] : 8);
	}
	return !get(r, "arg", info.nparams) || wrong(r, "too many arguments for %u parameters", info.nparams);
}

/* ---- expectations ---- */

static const struct { const char *name; enum ws_gpu_errcode code; } codes[] = {
	{"bad-address", WS_GPU_BAD_ADDRESS}, {"misaligned", WS_GPU_MISALIGNED}, {"trap", WS_GPU_TRAP},
	{"assert", WS_GPU_ASSERT}, {"deadlock", WS_GPU_DEADLOCK}, {"limit", WS_GPU_LIMIT}, {"stack", WS_GPU_STACK},
	{"bad-launch", WS_GPU_BAD_LAUNCH}, {"unsupported", WS_GPU_UNSUPPORTED}, {"bad-pc", WS_GPU_BAD_PC},
	{"bad-instruction", WS_GPU_BAD_INSTRUCTION}, {"not-found", WS_GPU_NOT_FOUND}, {"bad-module", WS_GPU_BAD_MODULE},
	{"no-memory", WS_GPU_NO_MEMORY}};

static bool expects_failure(const struct run *r)
{
	return get(r, "expect-error", 0) || get(r, "expect-code", 0);
}

static bool check_error(struct run *r, const struct ws_gpu_error *err)
{
	const struct directive *d;
	const char *text = err->text.data ? err->text.data : "";
	for (size_t i = 0; (d = get(r, "expect-error", i)); i++)
		/* a line of the PTX is another one when code was inserted before it */
		if (!strstr(text, d->rest) && !(pass && strstr(d->rest, ".ptx:")))
			return wrong(r, "line %u: expected the error '%s', got:\n%s", d->line, d->rest, text);
	d = get(r, "expect-code", 0);
	for (size_t i = 0; d && i < WS_COUNT(codes); i++)
		if (!strcmp(codes[i].name, d->rest))
			return codes[i].code == err->code ||
			       wrong(r, "line %u: expected the code %s, got %d:\n%s", d->line, d->rest, err->code, text);
	return !d || wrong(r, "line %u: no code '%s'", d->line, d->rest);
}

static bool check_elements(struct run *r, const struct directive *d, const struct buffer *b, uint64_t from, uint64_t to,
                           const struct values *v)
{
	unsigned w = ws_type_bytes(b->type);
	if (to > b->count)
		return wrong(r, "line %u: beyond the end of '%s'", d->line, b->name);
	for (uint64_t i = from; i < to; i++) {
		uint64_t want = 0, got = 0;
		if (!element(v, i - from, &want))
			return wrong(r, "line %u: %zu values for %llu elements", d->line, v->n,
			             (unsigned long long)(to - from));
		memcpy(&got, b->mem->host + i * w, w < 8 ? w : 8);
		if (w < 8)
			want &= (UINT64_C(1) << 8 * w) - 1;
		if (got != want)
			return wrong(r, "line %u: %s[%llu] is %lld (0x%llx), expected %lld (0x%llx)", d->line, b->name,
			             (unsigned long long)i, (long long)got, (unsigned long long)got, (long long)want,
			             (unsigned long long)want);
	}
	return true;
}

static bool check_buffer(struct run *r, const struct directive *d)
{
	size_t len = strcspn(d->rest, "[:=");
	struct buffer *b = buffer_named(r, d->rest, len);
	if (!b)
		return wrong(r, "line %u: no buffer in '%s'", d->line, d->rest);
	unsigned long long from = 0, to = b->count - 1;
	const char *s = d->rest + len;
	if (*s == '[') {
		int n = sscanf(s, "[%llu..%llu]", &from, &to);
		if (n == 1)
			to = from;
		s = strchr(s, ']');
		s = s ? strchr(s, '=') : NULL;
	}
	if (!s || !*s)
		return wrong(r, "line %u: cannot be understood", d->line);
	struct values *v = malloc(sizeof *v);
	split(v, s + 1, b->type);
	bool ok = check_elements(r, d, b, from, to + 1, v);
	ws_buf_free(&v->text);
	free(v);
	return ok;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool check_output(struct run *r, const char *key, char *got, bool sorted)
{
	char *lines[4096], *save;
	const char *want[MAX_DIRECTIVES];
	size_t n = 0, nwant = 0;
	for (char *l = strtok_r(got, "\n", &save); l && n < WS_COUNT(lines); l = strtok_r(NULL, "\n", &save))
		lines[n++] = l;
	for (const struct directive *d; nwant < MAX_DIRECTIVES && (d = get(r, key, nwant));)
		want[nwant++] = d->rest;
	if (sorted) {
		qsort(lines, n, sizeof *lines, by_text);
		qsort(want, nwant, sizeof *want, by_text);
	}
	for (size_t i = 0; i < n || i < nwant; i++)
		if (i >= n || i >= nwant || strcmp(lines[i], want[i]))
			return wrong(r, "output line %zu is '%s', expected '%s'", i + 1, i < n ? lines[i] : "(none)",
			             i < nwant ? want[i] : "(none)");
	return true;
}

static bool check_printed(struct run *r)
{
	struct stat st;
	bool any = get(r, "expect-output-any", 0);
	if (fstat(r->fd, &st))
		return wrong(r, "fstat: %s", strerror(errno));
	char *got = ws_alloc((size_t)st.st_size + 1);
	bool ok = pread(r->fd, got, (size_t)st.st_size, 0) == st.st_size &&
	          check_output(r, any ? "expect-output-any" : "expect-output", got, any);
	free(got);
	return ok;
}

/* ---- an observer that checks what it is told ---- */

static uint64_t observed_accesses;

static void on_access(void *self, struct ws_obs_warp *w, const struct ws_access *a)
{
	(void)self;
	__atomic_fetch_add(&observed_accesses, 1, __ATOMIC_RELAXED);
	uint32_t lanes = a->issuer < WS_WARP ? 1u << a->issuer : a->mask;
	bool ok = a->mask && !(a->wrote & ~a->mask) && a->bytes && a->bytes <= 32 && !(lanes & w->exited);
	for (uint32_t l = 0; l < WS_WARP && ok; l++) {
		if (!(a->mask >> l & 1))
			continue;
		if (a->linear && a->addr[l] != a->base + (uint64_t)l * a->bytes)
			ok = false;
		if (a->space == WS_SPACE_SHARED && a->addr[l] + a->bytes > w->block->launch->shared_bytes)
			ok = false;
		if (a->space == WS_SPACE_GLOBAL && a->mem && (a->addr[l] < a->mem->addr ||
		                                              a->addr[l] + a->bytes > a->mem->addr + a->mem->size))
			ok = false;
	}
	if (!ok)
		*(bool *)self = true;
}

static void on_exit_of(void *self, struct ws_obs_warp *w, uint32_t mask)
{
	if (!mask || mask & ~(w->lanes == WS_WARP ? UINT32_MAX : (1u << w->lanes) - 1))
		*(bool *)self = true;
}

static const struct ws_observer_ops checker = {
	.abi = WS_OBSERVER_ABI, .name = "checker", .help = "checks the events themselves",
	.needs = WS_NEED_GLOBAL | WS_NEED_SHARED | WS_NEED_SYNC | WS_NEED_VALUES,
	.access = on_access, .thread_exit = on_exit_of};

/* ---- accesses are counted: by an observer of the original, by the code that was inserted ---- */

static void tally_access(void *self, struct ws_obs_warp *w, const struct ws_access *a)
{
	struct tally *t = self;
	const struct ws_ptx_inst *i = a->site->inst;
	(void)w;
	if (i->op != WS_OP_ld && i->op != WS_OP_ldu && i->op != WS_OP_st && i->op != WS_OP_atom && i->op != WS_OP_red)
		return;
	if (a->async)
		return;
	bool constant = i->space == WS_SPACE_CONST || (!i->space && a->mem && a->mem->kind == WS_MEM_CONST);
	enum ws_rw_counter memory = constant ? WS_RW_CONST : a->space == WS_SPACE_SHARED ? WS_RW_SHARED : WS_RW_GLOBAL;
	t->n[memory][a->kind] += (uint64_t)__builtin_popcount(a->mask);
}

static const struct ws_observer_ops tally_observer = {
	.abi = WS_OBSERVER_ABI, .name = "tally", .help = "counts accesses", .needs = WS_NEED_GLOBAL | WS_NEED_SHARED,
	.access = tally_access};

static void read_counters(struct run *r)
{
	struct ws_mem *m = r->rewritten->counters ? ws_gpu_module_var(r->module, r->rewritten->counters) : NULL;
	const uint64_t *counters = m ? (const uint64_t *)(const void *)m->host : NULL;
	for (uint32_t k = 0; counters && k < r->rewritten->nsites; k++) {
		const struct ws_rw_site *s = &r->rewritten->sites[k];
		unsigned memory = s->space == WS_SPACE_CONST ? WS_RW_CONST : s->space == WS_SPACE_GLOBAL ? WS_RW_GLOBAL : WS_RW_SHARED;
		for (unsigned n = 0; n < s->ncounters; n++)
			r->tally->n[s->ncounters > 1 ? n : memory][s->kind] += ws_rewrite_counted(r->rewritten, counters, s->counter + n);
	}
}

/* ---- running ---- */

static bool prepare_kernel(struct run *r, struct ws_ptx_module *m)
{
	struct ws_gpu_error err = {0};
	const struct directive *d = get(r, "kernel", 0);
	r->module = ws_gpu_module_load(r->gpu, &m, 1, &err);
	if (!r->module) {
		bool ok = expects_failure(r) ? check_error(r, &err) : wrong(r, "not loaded: %s", err.text.data);
		ws_buf_free(&err.text);
		return ok;
	}
	r->kernel = d ? ws_gpu_module_kernel(r->module, d->rest) : ws_gpu_module_kernel_at(r->module, 0);
	return r->kernel || wrong(r, "no kernel");
}

static bool launch(struct run *r, const uint8_t *params)
{
	struct ws_gpu_launch l = {.grid = {1, 1, 1}, .block = {1, 1, 1}, .params = params,
	                          .cooperative = get(r, "cooperative", 0),
	                          .shared_dynamic = (uint32_t)get_number(r, "shared", 0)};
	struct ws_gpu_error err = {0};
	struct ws_gpu_stats stats;
	bool ok = true, done = true;
	get_dims(r, "grid", l.grid);
	get_dims(r, "block", l.block);
	if (get(r, "cluster", 0)) {
		l.cluster[0] = l.cluster[1] = l.cluster[2] = 1;
		get_dims(r, "cluster", l.cluster);
	}
	l.param_bytes = given_params(r->kernel);
	for (uint64_t n = get_number(r, "launches", 1); n && done; n--)
		done = ws_gpu_launch(r->gpu, r->kernel, &l, &stats, &err);
	if (expects_failure(r))
		ok = done ? wrong(r, "the launch went well, an error was expected") : check_error(r, &err);
	else if (!done)
		ok = wrong(r, "the launch failed:\n%s", err.text.data ? err.text.data : "(no text)");
	if (verbose && !done && ok)
		printf("%s", err.text.data);
	ws_buf_free(&err.text);
	return ok;
}

static bool run_module(struct run *r, struct ws_ptx_module *m)
{
	uint8_t *params = NULL;
	const struct directive *d;
	bool ok = prepare_kernel(r, m);
	if (ok && r->kernel)
		ok = make_buffers(r) && make_params(r, &params) && launch(r, params);
	for (size_t i = 0; ok && r->kernel && (d = get(r, "expect", i)); i++)
		ok = check_buffer(r, d);
	free(params);
	if (ok && r->kernel && r->tally && r->rewritten)
		read_counters(r);
	return ok && (!r->kernel || check_printed(r));
}

static void describe(struct run *r, const struct ws_report *report)
{
	struct ws_buf json = {NULL, 0, 0};
	const char *at;

	ws_report_write_json(report, &json);
	at = strstr(json.data, "the detectors differ");
	wrong(r, "%.900s", at ? at : json.data);
	ws_buf_free(&json);
}

static const char *machine_path;         /* NULL: no clock */

static bool run_variant(struct run *r, struct ws_ptx_module *m)
{
	bool broken = false;
	const struct variant *v = r->v;
	struct ws_gpu_config c = {
		.divergence = !strcmp(v->model, "stack") ? WS_DIV_STACK : WS_DIV_ITS,
		.schedule = v->schedule, .seed = v->seed, .host_threads = v->threads,
		.max_instructions = get_number(r, "max-instructions", 50000000),
		.timeout_s = (double)get_number(r, "timeout", 60), .cc = (uint32_t)get_number(r, "cc", 0),
		.memory = UINT64_C(1) << 30, .heap_bytes = get_number(r, "heap", 0), .stack_bytes = get_number(r, "stack", 0),
		.printf_fd = r->fd, .observer = v->observed ? &checker : NULL, .observer_self = &broken};
	if (r->tally && !r->rewritten) {
		c.observer = &tally_observer;
		c.observer_self = r->tally;
	}
	struct ws_report *report = detector ? ws_report_new() : NULL;
	if (detector) {
		c.observer = detector->ops;
		c.observer_self = detector->create(&(struct ws_detect_config){.shared = true, .global = true}, report);
	}
	struct ws_timing *timing = NULL;
	if (machine_path) {
		struct ws_machine machine = clocked_machine(machine_path);
		timing = ws_timing_new(&machine, NULL);
		c.clock = &ws_timing_clock;
		c.clock_self = timing;
	}
	r->gpu = ws_gpu_create(&c);
	if (detector && r->gpu && detector->attach)
		detector->attach(c.observer_self, r->gpu);
	bool ok = r->gpu ? run_module(r, m) : wrong(r, "no simulated GPU");
	if (r->module)
		ws_gpu_module_unload(r->gpu, r->module);
	if (r->gpu)
		ws_gpu_destroy(r->gpu);
	ws_timing_free(timing);
	if (detector)
		detector->destroy(c.observer_self);
	bool differ = report && ws_report_failed(report);    /* the detector "compare" found its two sides to differ */
	if (differ)
		describe(r, report);
	ws_report_free(report);
	for (size_t i = 0; i < r->nbuf; i++)
		free(r->buf[i].own);
	ok = ok && !differ;
	return ok && (!broken || wrong(r, "an access was described wrongly to the observer"));
}

static const char *const schedule_names[] = {"rr", "random", "priority"};

static bool one_run(const struct test *t, const struct variant *v, struct ws_ptx_module *m,
                    const struct ws_rw_result *rewritten, struct tally *tally)
{
	struct run r = {.t = t, .v = v, .rewritten = rewritten, .tally = tally};
	FILE *f = tmpfile();
	r.fd = f ? fileno(f) : -1;
	bool ok = f ? run_variant(&r, m) : wrong(&r, "no temporary file");
	if (!ok)
		printf("FAIL %s: %s, %s, seed %llu, %u host thread%s%s: %s\n", t->path, v->model,
		       schedule_names[v->schedule], (unsigned long long)v->seed, v->threads, v->threads > 1 ? "s" : "",
		       v->observed ? ", observed" : "", r.why.data);
	if (f)
		fclose(f);
	ws_buf_free(&r.why);
	return ok;
}

/* The runs of one model; counts them. */
static bool run_model(const struct test *t, const char *model, struct ws_ptx_module *m, unsigned *runs)
{
	struct variant v = {.model = model};
	struct run probe = {.t = t, .v = &v};
	const struct directive *only = get(&probe, "divergence", 0);
	/* Of what is rewritten one random schedule: the original has all, and each run decodes thousands of instructions. Under sanitizers,
	 * too, where all is slow. */
	uint64_t most = pass || getenv("WARPSAFE_ROUNDS") ? 1 : UINT64_MAX;
	uint64_t seeds = machine_path ? 0 : get_number(&probe, "seeds", 3), threads = get_number(&probe, "threads", 0);
	uint64_t priorities = machine_path ? 0 : get_number(&probe, "priorities", 2);
	if ((only && strcmp(only->rest, model)) || (only_model && strcmp(only_model, model)))
		return true;
	for (v.threads = 1; v.threads <= 2; v.threads++) {
		if (machine_path ? v.threads > 1 : threads && v.threads != threads)
			continue;
		for (v.seed = 0; v.seed <= seeds + priorities && v.seed <= most; v.seed++) {
			v.schedule = !v.seed ? WS_SCHED_RR : v.seed <= seeds ? WS_SCHED_RANDOM : WS_SCHED_PRIORITY;
			v.observed = machine_path ? !strcmp(model, "its") : v.seed % 2 == v.threads % 2;
			++*runs;
			if (!one_run(t, &v, m, NULL, NULL))
				return false;
		}
	}
	return true;
}

/* The original and the rewritten kernel count alike, if two schedules of the original do. */
static bool compare_counts(const struct test *t, const char *model, struct ws_ptx_module *m, struct ws_ptx_module *other,
                           const struct ws_rw_result *result, unsigned *compared)
{
	struct variant v = {.model = model, .threads = 1};
	struct run probe = {.t = t, .v = &v};
	const struct directive *only = get(&probe, "divergence", 0);
	struct tally first = {0}, second = {0}, counted = {0};
	bool ok;
	if ((only && strcmp(only->rest, model)) || (only_model && strcmp(only_model, model)) || expects_failure(&probe))
		return true;
	ok = one_run(t, &v, m, NULL, &first) && one_run(t, &v, other, result, &counted);
	v.schedule = WS_SCHED_RANDOM;
	for (v.seed = 1; ok && v.seed <= 3; v.seed++, memset(&second, 0, sizeof second)) {
		ok = one_run(t, &v, m, NULL, &second);
		if (memcmp(&first, &second, sizeof first))
			return ok;
	}
	++*compared;
	for (unsigned k = 0; ok && k < WS_RW_COUNTERS; k++)
		for (unsigned kind = 0; ok && kind <= WS_RW_ATOMIC; kind++) {
			ok = first.n[k][kind] == counted.n[k][kind];
			if (!ok)
				printf("FAIL %s: %s: %llu accesses of memory %u, kind %u, and %llu were counted\n", t->path,
				       model, (unsigned long long)first.n[k][kind], k, kind,
				       (unsigned long long)counted.n[k][kind]);
		}
	return ok;
}

static bool print_counts(const struct test *t, struct ws_ptx_module *other, const struct ws_rw_result *result)
{
	struct variant v = {.model = "its", .threads = 1};
	struct tally counted = {0};
	bool ok = one_run(t, &v, other, result, &counted);
	printf("counts %s:", t->path);
	for (unsigned k = 0; k < WS_RW_COUNTERS; k++)
		for (unsigned kind = 0; kind <= WS_RW_ATOMIC; kind++)
			printf(" %llu", (unsigned long long)counted.n[k][kind]);
	printf("\n");
	return ok;
}

/* With -i: everything that is expected of the original holds for the rewritten kernel. */
static bool run_rewritten(const struct test *t, struct ws_ptx_module *m, struct ws_sink *sink, unsigned *runs,
                          unsigned *compared)
{
	struct ws_ptx_module *source = ws_ptx_parse(t->path, t->text, t->len, NULL, sink), *other = NULL;
	struct ws_buf text = {0};
	if (source && ws_rewrite(pass, source, sink)) {
		ws_ptx_print(source, &text);
		other = ws_ptx_parse(t->path, text.data, text.len, NULL, sink);
	}
	bool ok = other && run_model(t, "stack", other, runs) && run_model(t, "its", other, runs);
	if (ok && show_counts)
		ok = print_counts(t, other, ws_rewrite_result(source));
	else if (ok && !strcmp(pass, "count"))
		ok = compare_counts(t, "stack", m, other, ws_rewrite_result(source), compared) &&
		     compare_counts(t, "its", m, other, ws_rewrite_result(source), compared);
	if (!other)
		printf("FAIL %s: cannot be rewritten\n", t->path);
	ws_ptx_free(source);
	ws_ptx_free(other);
	ws_buf_free(&text);
	return ok;
}

static unsigned compared;                /* runs whose counts were compared */

static bool run_both(const struct test *t, unsigned *runs)
{
	struct ws_buf messages = {0};
	struct ws_sink sink = {ws_sink_to_buf, &messages};
	struct ws_ptx_module *m = ws_ptx_parse(t->path, t->text, t->len, NULL, &sink);
	bool ok = m != NULL;
	if (ok && pass)
		ok = run_rewritten(t, m, &sink, runs, &compared);
	else if (ok)
		ok = run_model(t, "stack", m, runs) && run_model(t, "its", m, runs);
	if (messages.len)
		printf("FAIL %s:\n%s", t->path, messages.data);
	if (m)
		ws_ptx_free(m);
	ws_buf_free(&messages);
	return ok;
}

enum outcome { PASSED, FAILED, SKIPPED };

static enum outcome run_test(const char *path)
{
	static struct test t;
	enum outcome o = PASSED;
	unsigned runs = 0;
	memset(&t, 0, sizeof t);
	t.path = path;
	t.text = ws_read_file(path, &t.len);
	if (!t.text || !parse_head(&t)) {
		printf("FAIL %s: %s\n", path, t.text ? "bad directive" : strerror(errno));
		o = FAILED;
	} else if (t.n && !strcmp(t.d[0].key, "skip")) {
		printf("skip %s: %s\n", path, t.d[0].rest);
		o = SKIPPED;
	} else if (!run_both(&t, &runs)) {
		o = FAILED;
	} else {
		printf("ok   %s (%u runs)\n", path, runs);
	}
	fflush(stdout);
	free(t.text);
	free(t.head);
	return o;
}

static int is_ptx(const struct dirent *e)
{
	size_t n = strlen(e->d_name);
	return n > 4 && !strcmp(e->d_name + n - 4, ".ptx");
}

static void run_path(const char *path, unsigned count[3])
{
	struct stat st;
	struct dirent **list;
	int n = stat(path, &st) == 0 && S_ISDIR(st.st_mode) ? scandir(path, &list, is_ptx, alphasort) : -1;
	if (n < 0) {
		count[run_test(path)]++;
		return;
	}
	for (int i = 0; i < n; i++) {
		struct ws_buf b = {0};
		ws_buf_printf(&b, "%s/%s", path, list[i]->d_name);
		count[run_test(b.data)]++;
		ws_buf_free(&b);
		free(list[i]);
	}
	free(list);
}

int main(int argc, char **argv)
{
	unsigned count[3] = {0};
	int i = 1;
	for (; i < argc && argv[i][0] == '-'; i++) {
		if (!strcmp(argv[i], "-v"))
			verbose = true;
		else if (!strcmp(argv[i], "-m") && i + 1 < argc)
			only_model = argv[++i];
		else if (!strcmp(argv[i], "-i") && i + 1 < argc)
			pass = argv[++i];
		else if (!strcmp(argv[i], "-t") && i + 1 < argc)
			machine_path = argv[++i];
		else if (!strcmp(argv[i], "-c"))
			show_counts = true;
		else if (!strcmp(argv[i], "-d") && i + 1 < argc && ws_detector_find(argv[i + 1]))
			detector = ws_detector_find(argv[++i]);
		else
			i = argc;
	}
	if (i >= argc) {
		fprintf(stderr, "usage: simtest [-v] [-m stack|its] [-d DETECTOR] [-i PASS [-c]] [-t MACHINE.conf]"
		        " FILE.ptx|FOLDER...\n");
		return 2;
	}
	for (; i < argc; i++)
		run_path(argv[i], count);
	if (compared)
		printf("in %u of the models what was counted could be compared\n", compared);
	printf("%u passed, %u failed, %u skipped\n", count[PASSED], count[FAILED], count[SKIPPED]);
	return count[FAILED] || !count[PASSED];
}

/* cc_options.c - the command line of `warpsafe cc`: clang's options and nvcc's, by the table cc_options.def. */
#include "cli/cc_priv.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/version.h"

enum value { NONE, EQUAL, JOINED, JOINED_ONLY };
enum action {
	OUTPUT, COMPILE, PREPROCESS, PTX, LANGUAGE, ARCH, STD, BOTH, BOTH2, HOST, LINK, OPTIMIZE, DEVICE_DEBUG, XLINKER,
	XCOMPILER, FAST_MATH, FTZ, PREC_DIV, PREC_SQRT, FMAD, TM, KEEP, VERBOSE, HELP, VERSION, MACHINE, STREAM, DROP, RDC, REFUSE
};
struct option {
	const char *name;
	enum value value;
	enum action action;
	const char *text;
};
static const struct option options[] = {
#define OPT(...) { __VA_ARGS__ },
#include "cli/cc_options.def"
#undef OPT
};

/* ---- word lists ---- */

void ws_words_add(struct ws_words *w, const char *s)
{
	w->v = ws_grow(w->v, &w->cap, w->n + 2, sizeof *w->v);
	w->v[w->n++] = ws_strdup(s);
	w->v[w->n] = NULL;
}

void ws_words_addf(struct ws_words *w, const char *fmt, ...)
{
	struct ws_buf b = { 0 };
	va_list ap;

	va_start(ap, fmt);
	ws_buf_vprintf(&b, fmt, ap);
	va_end(ap);
	ws_words_add(w, b.data);
	ws_buf_free(&b);
}

void ws_words_add_all(struct ws_words *w, const struct ws_words *more)
{
	for (size_t i = 0; i < more->n; i++)
		ws_words_add(w, more->v[i]);
}

void ws_words_free(struct ws_words *w)
{
	for (size_t i = 0; i < w->n; i++)
		free(w->v[i]);
	free(w->v);
	*w = (struct ws_words){ 0 };
}

void ws_cc_free(struct ws_cc *c)
{
	ws_words_free(&c->host);
	ws_words_free(&c->device);
	ws_words_free(&c->both);
	ws_words_free(&c->link);
	free(c->inputs);
}

/* ---- inputs ---- */

static enum ws_cc_kind kind_of(const struct ws_cc *c, const char *path)
{
	static const char *const host[] = { ".c", ".cc", ".cpp", ".cxx", ".c++", ".C", ".s", ".S", ".i", ".ii" };
	const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');

	if (c->language)
		return strcmp(c->language, "cuda") == 0 ? WS_CC_CUDA : WS_CC_HOST;
	if (!dot)
		return WS_CC_LINK;
	if (strcmp(dot, ".cu") == 0)
		return WS_CC_CUDA;
	for (size_t i = 0; i < WS_COUNT(host); i++)
		if (strcmp(dot, host[i]) == 0)
			return WS_CC_HOST;
	return WS_CC_LINK;
}

static void add_input(struct ws_cc *c, const char *path)
{
	enum ws_cc_kind kind = kind_of(c, path);

	*WS_PUSH(c->inputs, c->ninputs, c->cap) = (struct ws_cc_input){ path, kind, c->link.n };
	ws_words_add(&c->link, path);        /* sources are replaced by their objects before the link */
}

/* ---- single options ---- */

/* "sm_70", "compute_80", "90a", "arch=compute_80,code=[sm_80,compute_80]": the newest that is named. nvcc's "native"
 * and "all" leave the default. */
static bool take_arch(struct ws_cc *c, const char *text)
{
	bool known = strncmp(text, "native", 6) == 0 || strncmp(text, "all", 3) == 0;

	for (const char *p = text; *p; p++) {
		unsigned long sm;
		char *end;

		if (!isdigit((unsigned char)*p) || (p > text && isalnum((unsigned char)p[-1])))
			continue;
		sm = strtoul(p, &end, 10);
		if (sm >= 30 && sm < 200) {
			known = true;
			if (sm >= c->sm) {
				c->sm = (unsigned)sm;
				c->sm_suffix = *end == 'a' ? 'a' : 0;
			}
		}
		p = end - 1;
	}
	if (!known)
		ws_cli_refuse("cc", "'%s' names no GPU architecture; write for example -arch=sm_70", text);
	return known;
}

/* "per-thread": our headers call the variants for it, also where clang writes the call (a launch). */
static bool take_default_stream(struct ws_cc *c, const char *value)
{
	if (strcmp(value, "per-thread") == 0) {
		ws_words_add(&c->both, "-DCUDA_API_PER_THREAD_DEFAULT_STREAM=1");
	} else if (strcmp(value, "legacy") != 0 && strcmp(value, "null") != 0) {
		ws_cli_refuse("cc", "--default-stream=%s is not known; write legacy or per-thread", value);
		return false;
	}
	return true;
}

static void take_list(struct ws_words *w, const char *before, const char *list)
{
	while (*list) {
		size_t n = strcspn(list, ",");

		if (before)
			ws_words_add(w, before);
		ws_words_addf(w, "%.*s", (int)n, list);
		list += n + (list[n] == ',');
	}
}

/* -Xcompiler: for the host's compiler and, where it is about linking, for the link (-fopenmp, -pthread, -static...). */
static void take_xcompiler(struct ws_cc *c, const char *list)
{
	size_t from = c->host.n;

	take_list(&c->host, NULL, list);
	for (size_t i = from; i < c->host.n; i++)
		if (strncmp(c->host.v[i], "-W", 2) != 0 || strncmp(c->host.v[i], "-Wl,", 4) == 0)
			ws_words_add(&c->link, c->host.v[i]);
}

static void device_llvm(struct ws_cc *c, const char *option)
{
	ws_words_add(&c->device, "-mllvm");
	ws_words_add(&c->device, option);
}

static bool is_true(const char *value)
{
	return strcasecmp(value, "true") == 0 || strcmp(value, "1") == 0;
}

static void take_math(struct ws_cc *c, enum action a, const char *value)
{
	if (a == FAST_MATH)
		ws_words_add(&c->device, "-fcuda-approx-transcendentals");
	if (a == FAST_MATH || (a == FTZ && is_true(value)))
		ws_words_add(&c->device, "-fcuda-flush-denormals-to-zero");
	if (a == FAST_MATH || (a == PREC_DIV && !is_true(value)))
		device_llvm(c, "-nvptx-prec-divf32=0");
	if (a == FAST_MATH || (a == PREC_SQRT && !is_true(value)))
		device_llvm(c, "-nvptx-prec-sqrtf32=0");
	if (a == FMAD && !is_true(value))
		ws_words_add(&c->device, "-ffp-contract=off");
}

static bool take_engine(struct ws_cc *c, const char *name)
{
	struct ws_options o;
	const char *why = NULL;
	bool good;

	ws_options_default(&o);
	good = ws_options_set(&o, "engine", name, &why);
	if (good)
		c->tm = ws_tm_settings_of(&o);
	else
		ws_cli_refuse("cc", "-tm-engine: %s", why);
	ws_options_free(&o);
	if (good && !c->transactions)
		ws_words_add(&c->both, "-DWS_ATOMIC_BUILT");
	c->transactions = true;
	return good;
}

static int show_help(void)
{
	struct ws_buf b = { 0 };

	ws_cli_verb_help(&ws_verb_cc, &b);
	fputs(b.data, stdout);
	ws_buf_free(&b);
	return WS_EXIT_FINE;
}

/* What the option does. false: *status is the exit status. */
static bool apply(struct ws_cc *c, const struct option *o, const char *value, int *status)
{
	*status = WS_EXIT_USAGE;
	switch (o->action) {
	case OUTPUT: c->output = value; break;
	case COMPILE: c->mode = WS_CC_OBJECT; break;
	case PREPROCESS: c->mode = WS_CC_PREPROCESS; break;
	case PTX: c->mode = WS_CC_PTX; break;
	case LANGUAGE:
		c->language = strcmp(value, "cu") == 0 ? "cuda" : strcmp(value, "none") == 0 ? NULL : value;
		break;
	case ARCH: return take_arch(c, value);
	case STD: c->std = value; break;
	case BOTH: ws_words_addf(&c->both, "%s%s", o->text, value); break;
	case BOTH2:
		ws_words_add(&c->both, o->text);
		ws_words_add(&c->both, value);
		break;
	case HOST: ws_words_add(&c->host, o->text); break;
	case LINK: ws_words_addf(&c->link, "%s%s", o->text, value); break;
	case OPTIMIZE: c->optimize = value; break;
	case DEVICE_DEBUG: c->device_debug = true; break;
	case XLINKER: take_list(&c->link, "-Xlinker", value); break;
	case XCOMPILER: take_xcompiler(c, value); break;
	case FAST_MATH: case FTZ: case PREC_DIV: case PREC_SQRT: case FMAD: take_math(c, o->action, value); break;
	case STREAM: return take_default_stream(c, value);
	case TM: return take_engine(c, value ? value : o->text);
	case KEEP: c->keep = true; break;
	case VERBOSE: c->verbose = true; break;
	case HELP: *status = show_help(); return false;
	case VERSION: *status = WS_EXIT_FINE; printf("warpsafe %s\n", WS_VERSION); return false;
	case MACHINE:
		if (strcmp(value, "64") != 0)
			ws_words_addf(&c->host, "-m%s", value);
		break;
	case DROP: break;
	case RDC:
		if (!is_true(value))
			break;
		ws_cli_refuse("cc", "relocatable device code is not supported; put the kernels and the device functions "
		              "they call in one file");
		return false;
	case REFUSE: ws_cli_refuse("cc", "-%s: %s", o->name, o->text); return false;
	}
	return true;
}

/* ---- finding the row ---- */

/* Does `word` (dashes gone) name o? *value: its value in the same word, or NULL. */
static bool matches(const struct option *o, const char *word, bool two_dashes, const char **value)
{
	size_t n = strlen(o->name);

	*value = NULL;
	if (strncmp(word, o->name, n) != 0)
		return false;
	if (o->value == JOINED || o->value == JOINED_ONLY) {
		if (two_dashes)
			return false;
		*value = word[n] ? word + n : NULL;
		return o->value == JOINED || word[n];
	}
	if (o->value == EQUAL && word[n] == '=') {
		*value = word + n + 1;
		return true;
	}
	return word[n] == 0;
}

static const struct option *find(const char *word, const char **value)
{
	bool two = word[1] == '-';
	const struct option *best = NULL;

	for (size_t i = 0; i < WS_COUNT(options); i++) {
		const char *v;

		if (!matches(&options[i], word + 1 + two, two, &v))
			continue;
		/* the longest name wins: -lineinfo is not -l ineinfo */
		if (!best || strlen(options[i].name) > strlen(best->name)) {
			best = &options[i];
			*value = v;
		}
	}
	return best;
}

/* Options of clang that begin like one of ours ("-mllvm", "-dumpversion" ...) or that a device pass must not get. */
static bool host_only(const char *word)
{
	static const char *const list[] = { "-fopenmp", "-fsanitize", "-fprofile", "-fcoverage", "-pg", "-coverage",
		"-M", "-fPI", "-fpi", "-march", "-mtune", "-shared", "-static", "-pthread", "-rdynamic", "-flto" };

	for (size_t i = 0; i < WS_COUNT(list); i++)
		if (strncmp(word, list[i], strlen(list[i])) == 0)
			return true;
	return false;
}

static bool is_machine_option(const char *word)
{
	return word[1] == 'm' && strcmp(word, "-m64") != 0 && strcmp(word, "-m32") != 0 &&
	       strcmp(word, "-maxrregcount") != 0 && strncmp(word, "-maxrregcount=", 14) != 0 &&
	       strncmp(word, "-machine", 8) != 0;
}

/* An option that the table does not know: clang's. Returns how many words it took. */
static int pass_on(struct ws_cc *c, char **argv, int left)
{
	bool takes_next = strcmp(argv[0], "-Xclang") == 0 || strcmp(argv[0], "-mllvm") == 0 ||
	                  strcmp(argv[0], "-MF") == 0 || strcmp(argv[0], "-MT") == 0 || strcmp(argv[0], "-MQ") == 0 ||
	                  strcmp(argv[0], "-idirafter") == 0 || strcmp(argv[0], "-iquote") == 0;
	int n = takes_next && left > 1 ? 2 : 1;

	for (int i = 0; i < n; i++) {
		if (strncmp(argv[0], "-Wl,", 4) != 0)
			ws_words_add(host_only(argv[0]) ? &c->host : &c->both, argv[i]);
		if (!takes_next && (strncmp(argv[0], "-W", 2) != 0 || strncmp(argv[0], "-Wl,", 4) == 0) &&
		    strncmp(argv[0], "-M", 2) != 0)
			ws_words_add(&c->link, argv[i]);
	}
	return n;
}

/* One option. Returns the words it took; 0: *status is the exit status. */
static int take(struct ws_cc *c, char **argv, int left, int *status)
{
	const char *value = NULL;
	const struct option *o = is_machine_option(argv[0]) ? NULL : find(argv[0], &value);
	int n = 1;

	if (!o)
		return pass_on(c, argv, left);
	if (o->value != NONE && !value) {
		if (left < 2) {
			*status = ws_cli_refuse("cc", "%s needs a value", argv[0]);
			return 0;
		}
		value = argv[1];
		n = 2;
	}
	return apply(c, o, value, status) ? n : 0;
}

bool ws_cc_parse(struct ws_cc *c, int argc, char **argv, int *status)
{
	*c = (struct ws_cc){ 0 };
	for (int i = 1; i < argc;) {
		int n = 1;

		if (argv[i][0] == '-' && argv[i][1])
			n = take(c, argv + i, argc - i, status);
		else
			add_input(c, argv[i]);
		if (n == 0)
			return false;
		i += n;
	}
	*status = WS_EXIT_USAGE;
	if (c->ninputs == 0) {
		ws_cli_refuse("cc", "no input file (try: warpsafe cc app.cu -o app)");
		return false;
	}
	if (c->mode != WS_CC_PROGRAM && c->output && c->ninputs > 1) {
		ws_cli_refuse("cc", "-o names one file, but there are %zu inputs", c->ninputs);
		return false;
	}
	if (!c->sm)
		c->sm = 70;
	return true;
}

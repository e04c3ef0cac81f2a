/* code.c - looks at device code that is about to be loaded: can its kernels be checked, and if a pass is chosen, what
 * does the driver get in its place. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/readable.h"
#include "real/real_priv.h"

/* ---- the GPU ---- */
enum { CC_MAJOR = 75, CC_MINOR = 76 };       /* CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_* */

static uint32_t cc_of(int device)
{
	int major = 0, minor = 0;

	if (!ws_real.cuDeviceGetAttribute || ws_real.cuDeviceGetAttribute(&major, CC_MAJOR, device) ||
	    ws_real.cuDeviceGetAttribute(&minor, CC_MINOR, device))
		return 0;
	return (uint32_t)(major * 10 + minor);
}

uint32_t ws_real_cc(bool any_device)
{
	int device = 0, n = 0;
	uint32_t cc;

	if (!any_device)
		return ws_real.cuCtxGetDevice && !ws_real.cuCtxGetDevice(&device) ? cc_of(device) : cc_of(0);
	if (!ws_real.cuDeviceGetCount || ws_real.cuDeviceGetCount(&n))
		return 0;
	cc = n > 0 ? cc_of(0) : 0;
	for (int i = 1; i < n; i++)
		if (cc_of(i) != cc)
			return 0;
	return cc;
}

/* ---- rewriting ---- */
static const char *label_of(char *buffer, size_t size)
{
	struct ws_real_session *s = ws_real_session();
	unsigned n = __atomic_add_fetch(&s->modules, 1, __ATOMIC_RELAXED);
	struct ws_buf b = { 0 };

	ws_buf_printf(&b, "%s.%u.ptx", program_invocation_short_name, n);
	strncpy(buffer, b.data, size - 1);
	buffer[size - 1] = 0;
	ws_buf_free(&b);
	return buffer;
}

static void add_first_line(struct ws_buf *out, const char *text)
{
	ws_buf_add(out, text, strcspn(text, "\n"));
}

struct mode {
	uint32_t cc;
	bool keep;                   /* what the pass makes; if not, it is only to see whether it can */
	bool part;
};

static bool rewrite_part(const struct ws_real_pass *pass, struct ws_real_part *p, const struct mode *mode, struct ws_buf *why)
{
	struct ws_buf out = { 0 }, problem = { 0 };
	char label[256];
	struct ws_real_text t = { label_of(label, sizeof label), p->text, p->len, mode->cc, mode->part };
	bool fine = pass->rewrite(&t, &out, &problem, &p->table);

	if (!fine) {
		ws_real_tell("%s stays as it is, for warpsafe cannot read it:\n%s", label, problem.data ? problem.data : "");
		ws_buf_puts(why, "PTX that warpsafe cannot read: ");
		add_first_line(why, problem.data ? problem.data : label);
	} else if (mode->keep) {
		free(p->text);
		p->text = out.data;
		p->len = out.len;
		out = (struct ws_buf){ 0 };
	}
	ws_buf_free(&out);
	ws_buf_free(&problem);
	return fine;
}

static bool rewrite_all(const struct ws_real_pass *pass, struct ws_real_image *i, const struct mode *mode,
                        struct ws_buf *why)
{
	uint64_t start = ws_monotonic_ns();
	bool fine = true;

	for (size_t k = 0; k < i->n && fine; k++)
		if (i->parts[k].text)
			fine = rewrite_part(pass, &i->parts[k], mode, why);
	if (mode->keep) {
		ws_real_count(WS_FIG_REWRITE_NS, ws_monotonic_ns() - start);
		ws_real_count(WS_FIG_REWRITTEN, fine);
	}
	return fine;
}

bool ws_real_rewrite(struct ws_real_image *i, uint32_t cc, bool part, struct ws_buf *why)
{
	struct mode mode = { .cc = cc, .keep = true, .part = part || i->n > 1 };

	return rewrite_all(ws_real_session()->pass, i, &mode, why);
}

/* The names behind .entry; one in a comment does no harm, no kernel asks for it. */
void ws_real_entries(const struct ws_real_image *i, struct ws_buf *out)
{
	static const char blanks[] = " \t\r\n\f\v", ends[] = " \t\r\n\f\v({;";

	for (size_t k = 0; k < i->n; k++) {
		const char *at = i->parts[k].text;

		while (at && (at = strstr(at, ".entry"))) {
			at += strlen(".entry");
			at += strspn(at, blanks);
			ws_buf_add(out, at, strcspn(at, ends));
			ws_buf_add(out, "", 1);
		}
	}
	ws_buf_add(out, "", 1);
}

/* ---- looking ---- */
static void compile(struct ws_real_code *c, struct ws_real_image *i, uint32_t cc, const struct ws_real_jit *jit)
{
	struct ws_buf why = { 0 }, problem = { 0 };

	if (!ws_real_rewrite(i, cc, false, &why)) {
		c->why = why.data;
	} else if (!ws_real_compile(i, cc, jit, c, &problem)) {
		ws_real_tell("error: the driver does not compile the rewritten PTX, so the program's own code runs:\n%s",
		             problem.data);
		if (ws_real_transactions())
			ws_real_transact_refused("warpsafe: its marked sections would not be atomic");
		ws_buf_puts(&why, "the driver does not compile the rewritten PTX: ");
		add_first_line(&why, problem.data);
		c->why = why.data;
	} else {
		for (size_t k = 0; k < i->n; k++)
			ws_real_code_add_table(c, i->parts[k].table);
	}
	ws_buf_free(&problem);
}

/* Without a pass nothing is replaced, but --stats tells which kernels could be checked. */
static void inspect(struct ws_real_code *c, struct ws_real_image *i, uint32_t cc)
{
	struct ws_buf why = { 0 };

	if (!rewrite_all(ws_real_pass_find("print"), i, &(struct mode){ .cc = cc }, &why))
		c->why = why.data;
}

static void look(struct ws_real_code *c, const void *data, size_t len, bool any_device, const struct ws_real_jit *jit)
{
	struct ws_real_session *s = ws_real_session();
	uint32_t cc = ws_real_cc(any_device);
	struct ws_real_image i;

	if (!cc) {
		c->why = ws_strdup("the machine's GPUs are of several kinds, and the code is for all");
		return;
	}
	ws_real_image_read(&i, data, len, cc);
	if (i.ntexts && s->pass)
		compile(c, &i, cc, jit);
	else if (i.ntexts && s->options.stats)
		inspect(c, &i, cc);
	if (i.ntexts < i.n && s->transactions)
		ws_real_transact_bare();
	if (i.ntexts < i.n && !c->why) {
		struct ws_buf entries = { 0 };

		ws_real_entries(&i, &entries);
		c->entries = entries.data;
		c->why = ws_strdup(i.why ? i.why : "no PTX in the program");
	}
	ws_real_image_free(&i);
}

struct ws_real_code *ws_real_code_look(const void *data, size_t len, bool any_device, const struct ws_real_jit *jit)
{
	struct ws_real_code *c;

	if (!ws_real_session())
		return NULL;
	ws_real_count(WS_FIG_LOOKED, 1);
	c = data ? ws_real_linked(data, len ? len : ws_readable_bytes(data)) : NULL;
	if (c)
		return c;
	c = ws_alloc(sizeof *c);
	look(c, data, len, any_device, jit);
	return c;
}

void ws_real_code_add_table(struct ws_real_code *c, const struct ws_real_table *t)
{
	if (!t)
		return;
	*WS_PUSH(c->tables, c->ntables, c->captables) = t;
	if (!c->variable)
		c->variable = t->variable;   /* one for all parts */
}

static void empty(struct ws_real_code *c)
{
	free(c->why);
	free(c->entries);
	free(c->cubin);
	free(c->tables);
	free(c->ready);
}

void ws_real_code_give_up(struct ws_real_code *c, char *why)
{
	empty(c);
	*c = (struct ws_real_code){ .why = why };
}

void ws_real_code_free(struct ws_real_code *c)
{
	if (!c)
		return;
	empty(c);
	free(c);
}

/* rewrite.c - the passes by name. */
#include "rewrite/rewrite_priv.h"

#include <string.h>

/* Nothing is inserted: what is printed is what was read. Shows that a module survives the way through here. */
static bool print(struct ws_pass *p)
{
	return !p->failed;
}

static const struct {
	const char *name, *help;
	bool (*run)(struct ws_pass *p);
} passes[] = {
	{ "print", "insert nothing", print },
	{ "count", "count accesses to shared and global memory", ws_rw_pass_count },
	{ "race", "check accesses for races on a real GPU", ws_rw_pass_race },
	{ "race-part", "race, for a module that will be linked with others", ws_rw_pass_race_part },
	{ "race-alone", "race, for launches of which hardly any is compared with another", ws_rw_pass_race_alone },
	{ "tm", "make marked sections transactions", ws_rw_pass_tm },
	{ "race-all", "race, with the checks that are proved to be needless", ws_rw_pass_race_all },
};

bool ws_rewrite_pass(unsigned k, const char **name, const char **help)
{
	if (k >= WS_COUNT(passes))
		return false;
	*name = passes[k].name;
	*help = passes[k].help;
	return true;
}

static bool rewrite(const char *pass, struct ws_pass *p)
{
	for (unsigned k = 0; k < WS_COUNT(passes); k++) {
		if (strcmp(passes[k].name, pass))
			continue;
		if (!p->failed)
			p->failed |= !passes[k].run(p);
		return ws_rw_end(p);
	}
	ws_rw_error(p, NULL, "there is no pass '%s'", pass);
	return ws_rw_end(p);
}

bool ws_rewrite(const char *pass, struct ws_ptx_module *m, const struct ws_sink *sink)
{
	return rewrite(pass, ws_rw_begin(m, sink));
}

bool ws_rewrite_tm(const struct ws_tm_settings *settings, struct ws_ptx_module *m, const struct ws_sink *sink)
{
	struct ws_pass *p = ws_rw_begin(m, sink);

	p->tm = settings;
	return rewrite("tm", p);
}

struct ws_ptx_module *ws_rewrite_ranges(const struct ws_sink *sink)
{
	struct ws_ptx_module *m = ws_ptx_parse("range.ptx", ws_device_range, strlen(ws_device_range), NULL, sink);
	struct ws_pass *p;

	if (!m)
		return NULL;
	p = ws_rw_begin(m, sink);
	p->failed |= !p->failed && !ws_rw_pass_race_range(p);
	if (ws_rw_end(p))
		return m;
	ws_ptx_free(m);
	return NULL;
}

const struct ws_rw_result *ws_rewrite_result(const struct ws_ptx_module *m)
{
	static const struct ws_rw_result nothing;
	const struct ws_pass *p = m->edits ? m->edits->owner : NULL;

	return p ? &p->result : &nothing;
}

bool ws_rw_reaches(const struct ws_rw_kernel *k, const struct ws_ptx_func *f)
{
	return k->reach[f->sym->index / 64] >> f->sym->index % 64 & 1;
}

uint64_t ws_rewrite_counted(const struct ws_rw_result *r, const uint64_t *counters, uint32_t counter)
{
	uint64_t sum = 0;

	for (uint32_t c = 0; c < r->copies; c++)
		sum += counters[(size_t)c * r->stride + counter];
	return sum;
}

const char *ws_rw_kind_name(enum ws_rw_kind k)
{
	static const char *const names[] = { "read", "write", "atomic" };

	return names[k];
}

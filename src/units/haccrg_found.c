/* haccrg_found.c - the races that haccrg has found. The hardware knows the instruction that was checked, and of the other
 * access what its entry says: thread, block slot and core. */
#include "units/haccrg_priv.h"

#include "base/demangle.h"

#include <stdlib.h>
#include <string.h>

static const char *const names[HAC_RACES] = {
	"none", "write after read", "read after write", "write after write", "stale read", "no common lock", "not locked",
	"no fence in critical section", "lanes write to one place"
};
static const char *const reasons[HAC_RACES] = {
	"", "", "no barrier and no fence between them", "", "from a first-level cache of another core", "in critical sections of different locks",
	"one in a critical section, one not", "the writer has not executed a fence", "in one instruction"
};

static char *place_of(const struct ws_site *s)
{
	struct ws_buf b = {0};
	struct ws_ptx_place p;

	if (!s)
		return ws_strdup("?");
	ws_ptx_place(s->func, s->inst, &p);
	if (p.file)
		ws_buf_printf(&b, "%s:%u", p.file, p.line);
	else
		ws_buf_printf(&b, "PTX line %u", s->inst->line);
	return b.data;
}

void ws_hac_add(struct ws_hac_list *l, const struct ws_hac_found *f)
{
	struct ws_hac_found *g;

	l->by_kind[f->race]++;
	if (l->last < l->n && l->found[l->last].site == f->site && l->found[l->last].race == f->race &&
	    l->found[l->last].shared == f->shared) {
		l->found[l->last].count++;
		return;
	}
	for (l->last = 0; l->last < l->n; l->last++) {
		g = &l->found[l->last];
		if (g->site == f->site && g->race == f->race && g->shared == f->shared) {
			g->count++;
			return;
		}
	}
	g = WS_PUSH(l->found, l->n, l->cap);
	*g = *f;
	g->kernel = ws_strdup(f->kernel);
	g->place = place_of(f->site);
	g->count = 1;
}

static void show_text(const struct ws_hac_found *f, struct ws_buf *out)
{
	ws_buf_printf(out, "race: %s of %s memory in %s at %s: thread %u of block %llu", names[f->race],
	              f->shared ? "shared" : "global", f->kernel, f->place, f->thread, (unsigned long long)f->block);
	if (f->race != HAC_SAME_WARP)
		ws_buf_printf(out, ", before thread %u of slot %u of core %u", f->other.tid, f->other.bid, f->other.sid);
	if (*reasons[f->race])
		ws_buf_printf(out, ", %s", reasons[f->race]);
	ws_buf_printf(out, " (%llu time%s)", (unsigned long long)f->count, f->count == 1 ? "" : "s");
}

static void show_json(const struct ws_hac_found *f, struct ws_buf *out)
{
	ws_buf_printf(out, "{\"race\": \"%s\", \"space\": \"%s\", \"kernel\": ", names[f->race], f->shared ? "shared" : "global");
	ws_buf_add_json(out, f->kernel);
	ws_buf_puts(out, ", \"place\": ");
	ws_buf_add_json(out, f->place);
	ws_buf_printf(out, ", \"write\": %s, \"block\": %llu, \"thread\": %u, \"other_thread\": %u, \"other_slot\": %u, "
	              "\"other_core\": %u, \"times\": %llu}", f->write ? "true" : "false", (unsigned long long)f->block, f->thread,
	              f->other.tid, f->other.bid, f->other.sid, (unsigned long long)f->count);
}

bool ws_hac_show(const struct ws_hac_list *l, unsigned i, struct ws_buf *text, struct ws_buf *json)
{
	if (i >= l->n)
		return false;
	if (text)
		show_text(&l->found[i], text);
	if (json)
		show_json(&l->found[i], json);
	return true;
}

void ws_hac_list_free(struct ws_hac_list *l)
{
	for (size_t i = 0; i < l->n; i++) {
		free(l->found[i].kernel);
		free(l->found[i].place);
	}
	free(l->found);
}

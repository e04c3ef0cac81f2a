/* place.c - where an access of a report is: source line, instruction, thread. Used by all detectors. */
#include "detect/detect.h"

#include <inttypes.h>

void ws_detect_place(struct ws_race_access *r, const struct ws_site *s)
{
	struct ws_ptx_place p;

	if (!s->inst || !s->func)
		return;
	ws_ptx_place(s->func, s->inst, &p);
	r->ptx_file = s->func->module->path;
	r->ptx_line = s->inst->line;
	r->ptx = ws_strndup(s->func->module->text + s->inst->off, s->inst->len);
	r->nearby = p.nearby;
	r->file = p.file;
	r->line = p.line;
	r->col = p.col;
	r->function = p.function;
	r->inlined_file = p.inlined_file;
	r->inlined_line = p.inlined_line;
}

void ws_detect_thread(struct ws_race_access *r, const struct ws_obs_launch *l, uint64_t block, uint32_t thread)
{
	ws_race_set_thread(r, l->grid, l->block, block, thread);
}

void ws_detect_location(const struct ws_mem *m, struct ws_buf *out)
{
	if (!m)
		ws_buf_puts(out, "global memory");
	else if (m->name)
		ws_buf_puts(out, m->name);
	else if (m->origin)
		ws_buf_printf(out, "allocation #%" PRIu64 " (%s)", m->serial, m->origin);
	else
		ws_buf_printf(out, "allocation #%" PRIu64, m->serial);
}

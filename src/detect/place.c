/* place.c - where an access of a report is: source line, instruction, thread. Used by all detectors. */
#include "detect/detect.h"

#include <inttypes.h>

static const char *file_of(const struct ws_site *s, const struct ws_ptx_loc *loc)
{
	return s->func && loc && loc->file < s->func->module->nfiles ? s->func->module->files[loc->file].path : NULL;
}

void ws_detect_place(struct ws_race_access *r, const struct ws_site *s)
{
	const struct ws_ptx_inst *inst = s->inst;
	const struct ws_ptx_loc *loc = inst ? inst->loc : NULL, *outer;

	if (!inst || !s->func)
		return;
	r->ptx_file = s->func->module->path;
	r->ptx_line = inst->line;
	r->ptx = ws_strndup(s->func->module->text + inst->off, inst->len);
	while (loc && !loc->line)            /* line 0: the compiler names none for code that it merged */
		loc = loc->inlined_at;
	if (!loc || !file_of(s, loc))
		return;
	outer = loc;
	r->file = file_of(s, loc);
	r->line = loc->line;
	r->col = loc->col;
	r->function = loc->function;
	while (outer->inlined_at)
		outer = outer->inlined_at;
	if (outer != loc) {
		r->inlined_file = file_of(s, outer);
		r->inlined_line = outer->line;
	}
}

void ws_detect_thread(struct ws_race_access *r, const struct ws_obs_launch *l, uint64_t block, uint32_t thread)
{
	uint64_t nx = l->grid[0] ? l->grid[0] : 1, ny = l->grid[1] ? l->grid[1] : 1;
	uint32_t bx = l->block[0] ? l->block[0] : 1, by = l->block[1] ? l->block[1] : 1;

	r->block[0] = block % nx;
	r->block[1] = block / nx % ny;
	r->block[2] = block / nx / ny;
	r->thread[0] = thread % bx;
	r->thread[1] = thread / bx % by;
	r->thread[2] = thread / bx / by;
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

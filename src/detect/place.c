/* place.c - where an access of a report is: source line, instruction, thread. Used by all detectors. */
#include "detect/detect.h"

#include <inttypes.h>

static const char *file_of(const struct ws_site *s, const struct ws_ptx_loc *loc)
{
	return s->func && loc && loc->file < s->func->module->nfiles ? s->func->module->files[loc->file].path : NULL;
}

/* Line 0: the compiler names none for code that it merged. */
static const struct ws_ptx_loc *line_of(const struct ws_ptx_inst *i)
{
	const struct ws_ptx_loc *loc = i->loc;

	while (loc && !loc->line)
		loc = loc->inlined_at;
	return loc;
}

enum { MADE = 16 };
struct use {                     /* registers made from the value, the first MADE of them */
	struct ws_reg *made[MADE];
	uint32_t n;
	bool found;
};

static void note_made(void *user, struct ws_reg *r, bool is_def)
{
	struct use *u = user;

	if (is_def && u->n < MADE)
		u->made[u->n++] = r;
}

static void note_use(void *user, struct ws_reg *r, bool is_def)
{
	struct use *u = user;

	for (uint32_t i = 0; i < u->n && !is_def; i++)
		u->found |= u->made[i] == r;
}

/* The line of the first instruction behind it that uses what it makes, or what is made from that; of a store, of the
 * last instruction before it that has one. */
static const struct ws_ptx_loc *line_nearby(const struct ws_site *s)
{
	enum { FAR = 64 };
	struct use u = { .n = 0 };
	uint32_t at = s->inst->index, end = at + FAR < s->func->ninsts ? at + FAR : s->func->ninsts;

	ws_ptx_inst_regs(s->inst, note_made, &u);
	for (uint32_t i = at; !u.n && i > 0 && i + FAR > at; i--)
		if (line_of(&s->func->insts[i - 1]))
			return line_of(&s->func->insts[i - 1]);
	for (uint32_t i = at + 1; u.n && i < end; i++) {
		u.found = false;
		ws_ptx_inst_regs(&s->func->insts[i], note_use, &u);
		if (u.found && line_of(&s->func->insts[i]))
			return line_of(&s->func->insts[i]);
		if (u.found)
			ws_ptx_inst_regs(&s->func->insts[i], note_made, &u);
	}
	return NULL;
}

void ws_detect_place(struct ws_race_access *r, const struct ws_site *s)
{
	const struct ws_ptx_inst *inst = s->inst;
	const struct ws_ptx_loc *loc, *outer;

	if (!inst || !s->func)
		return;
	r->ptx_file = s->func->module->path;
	r->ptx_line = inst->line;
	r->ptx = ws_strndup(s->func->module->text + inst->off, inst->len);
	loc = line_of(inst);
	r->nearby = inst->loc && !loc;
	if (r->nearby)
		loc = line_nearby(s);
	if (!loc || !file_of(s, loc)) {
		r->nearby = false;
		return;
	}
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

/* ptx_place.c - the source line of an instruction, for people. */
#include "ptx/ptx.h"

#include <string.h>

static const char *file_of(const struct ws_ptx_func *f, const struct ws_ptx_loc *loc)
{
	return loc && loc->file < f->module->nfiles ? f->module->files[loc->file].path : NULL;
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
static const struct ws_ptx_loc *line_nearby(const struct ws_ptx_func *f, const struct ws_ptx_inst *inst)
{
	enum { FAR = 64 };
	struct use u = { .n = 0 };
	uint32_t at = inst->index, end = at + FAR < f->ninsts ? at + FAR : f->ninsts;

	ws_ptx_inst_regs(inst, note_made, &u);
	for (uint32_t i = at; !u.n && i > 0 && i + FAR > at; i--)
		if (line_of(&f->insts[i - 1]))
			return line_of(&f->insts[i - 1]);
	for (uint32_t i = at + 1; u.n && i < end; i++) {
		u.found = false;
		ws_ptx_inst_regs(&f->insts[i], note_use, &u);
		if (u.found && line_of(&f->insts[i]))
			return line_of(&f->insts[i]);
		if (u.found)
			ws_ptx_inst_regs(&f->insts[i], note_made, &u);
	}
	return NULL;
}

/* atomicAdd and its like are inlined from NVIDIA's headers, a line each: what matters is where they are called. */
static bool is_wrapper(const char *file)
{
	const char *name = file ? strrchr(file, '/') : NULL;

	return name && strstr(name, "atomic_functions.h");
}

void ws_ptx_place(const struct ws_ptx_func *f, const struct ws_ptx_inst *inst, struct ws_ptx_place *p)
{
	const struct ws_ptx_loc *loc = line_of(inst), *outer;
	bool nearby = inst->loc && !loc;

	*p = (struct ws_ptx_place){ 0 };
	if (nearby)
		loc = line_nearby(f, inst);
	while (loc && loc->inlined_at && is_wrapper(file_of(f, loc)))
		loc = loc->inlined_at;
	if (!loc || !file_of(f, loc))
		return;
	p->nearby = nearby;
	p->file = file_of(f, loc);
	p->line = loc->line;
	p->col = loc->col;
	p->function = loc->function;
	for (outer = loc; outer->inlined_at;)
		outer = outer->inlined_at;
	if (outer != loc) {
		p->inlined_file = file_of(f, outer);
		p->inlined_line = outer->line;
	}
}

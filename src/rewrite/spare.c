/* spare.c - functions of the checks that a module does without.
 *
 * Most of the code that checks bring along is ways round the call that knows all: for accesses of several words, of parts of words, for launches
 * that others may overlap. Each of these functions says whether it has done its work, and 0, that it has not, is always right. The
 * longest ones are left out where nothing in the module would gain by them: `ptxas` then takes half as long for a kernel as a whole. */
#include "rewrite/race_priv.h"

enum use {
	OF_SEVERAL_WORDS = 1,            /* accesses of 8 or 16 bytes, or reads of four words that are checked as one */
	OF_PARTS = 2,                    /* of 1 or 2 bytes */
	OF_ROUNDS = 4,                   /* rounds of the grid: all blocks release and acquire */
	OF_OTHERS = 8,                   /* launches that are compared with others */
};

static const struct { unsigned use; const char *function; } ways[] = {
	{ OF_SEVERAL_WORDS, "__warpsafe_read_words" }, { OF_SEVERAL_WORDS, "__warpsafe_read_at_once" },
	{ OF_SEVERAL_WORDS, "__warpsafe_write_words" }, { OF_SEVERAL_WORDS, "__warpsafe_write_cells" },
	{ OF_PARTS, "__warpsafe_read_in_row" }, { OF_PARTS, "__warpsafe_write_in_row" }, { OF_PARTS, "__warpsafe_read_bytes" },
	{ OF_PARTS, "__warpsafe_write_bytes" },
	{ OF_ROUNDS, "__warpsafe_read_in_rounds" },
	{ OF_OTHERS, "__warpsafe_read_beside" }, { OF_OTHERS, "__warpsafe_write_beside" },
};

/* Four words by one register may be side by side (ws_needless_fours). */
static bool is_one_of_four(const struct ws_rw_access *list, uint32_t n, const struct ws_rw_access *a)
{
	unsigned others = 0;

	for (uint32_t k = 0; k < n; k++)
		others += list[k].kind == WS_RW_READ && list[k].bytes == 4 && list[k].address && list[k].address->reg == a->address->reg;
	return others >= 4;
}

static unsigned use_of_access(const struct ws_rw_access *list, uint32_t n, const struct ws_rw_access *a)
{
	if (a->rw_class != WS_RW_CHECK || a->space == WS_SPACE_SHARED || !a->address)
		return 0;
	if (a->bytes != 4)
		return a->bytes < 4 ? OF_PARTS : OF_SEVERAL_WORDS;
	return a->kind == WS_RW_READ && is_one_of_four(list, n, a) ? OF_SEVERAL_WORDS : 0;
}

static unsigned use_of_function(struct ws_ptx_func *f)
{
	uint32_t n;
	const struct ws_rw_access *list = ws_rw_accesses(f, &n);
	unsigned use = 0;

	for (uint32_t k = 0; k < n; k++)
		use |= use_of_access(list, n, &list[k]);
	for (uint32_t k = 0; k < f->ninsts; k++) {
		enum ws_sem sem = (enum ws_sem)ws_ptx_order(&f->insts[k]).sem;

		if (ws_reach_is_fence(&f->insts[k]) || sem == WS_SEM_ACQUIRE || sem == WS_SEM_RELEASE || sem == WS_SEM_ACQ_REL || sem == WS_SEM_SC)
			use |= OF_ROUNDS;
	}
	return use;
}

void ws_race_spare(struct ws_pass *p, const struct ws_reach *reach, bool alone)
{
	struct ws_ptx_module *m = ws_rw_module(p);
	const char **list = ws_arena_alloc(m->arena, WS_COUNT(ways) * sizeof *list);
	unsigned use = alone ? 0 : OF_OTHERS, n = 0;

	for (uint32_t k = 0; k < m->nfuncs; k++)
		if (reach->funcs[m->funcs[k]->sym->index].hooks)
			use |= use_of_function(m->funcs[k]);
	for (size_t k = 0; k < WS_COUNT(ways); k++)
		if (!(ways[k].use & use))
			list[n++] = ways[k].function;
	ws_rw_leave_out(p, list, n);
}

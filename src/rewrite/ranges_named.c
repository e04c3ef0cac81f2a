/* ranges_named.c - accesses to a variable of shared memory to which nothing is written meanwhile, whatever is done to the others.
 *
 * `item[i].weight` of a table that the block has filled before a barrier, read word by word by an unrolled loop, several hundred times: none of these meets a write to
 * the table, so nothing has to be known of their addresses, and they need no groups. That the accesses to other variables are in these is what is demanded of groups
 * anyway. */
#include "rewrite/ranges_shared_priv.h"

#include <stdlib.h>

/* NULL: not known, or it is the memory behind all variables. */
static const struct ws_ptx_sym *variable_of(struct ws_shared_ranges *g, const struct ws_rw_access *a)
{
	const struct ws_ptx_sym *sym;

	if (!ws_shared_is(a) || a->space != WS_SPACE_SHARED || a->generic)
		return NULL;
	if (a->address->reg)
		return ws_shared_variable(&g->v, a, &sym) ? sym : NULL;
	sym = a->address->sym;
	return sym && sym->size ? sym : NULL;
}

void ws_shared_find_named(struct ws_shared_ranges *g, const struct ws_intervals *v)
{
	g->variable = ws_alloc((g->n + 1) * sizeof *g->variable);
	for (uint32_t k = 0; k < g->n; k++)
		g->variable[k] = g->group[k] == QUIET ? NULL : variable_of(g, &g->list[k]);
	for (uint32_t k = 0; k < g->n; k++)
		if (g->group[k] != QUIET && g->list[k].kind == WS_RW_READ && ws_shared_is_plain(&g->list[k]) && g->variable[k] && !ws_shared_meets_any(g, v, k))
			g->group[k] = NAMED;
	free(g->variable);
	g->variable = NULL;
}

bool ws_shared_any_named(const struct ws_shared_ranges *g)
{
	for (uint32_t k = 0; k < g->n; k++)
		if (g->group[k] == NAMED)
			return true;
	return false;
}

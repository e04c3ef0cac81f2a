/* ptx_check.c - does an instruction obey its row of ptx_ops.def: types, number and kind of operands. */
#include "ptx/ptx_priv.h"

#include <string.h>

bool ws_p_check(struct parser *p, struct ws_ptx_inst *i, const struct token *op)
{
	const struct op_row *r = &ws_ptx_ops[i->op];

	if (r->any_types)
		return true;
	if (i->ntypes < r->min_types || i->ntypes > r->max_types)
		return ws_p_error(p, op->off, op->len, "'%s' needs %s", op->name->str, r->max_types ? "a type" : "no type");
	for (unsigned k = 0; k < i->ntypes; k++)
		if (!(r->types[k] >> i->type[k] & 1))
			return ws_p_error(p, op->off, p->last_end - op->off, "'%s' has no form for .%s", op->name->str,
			                  ws_type_name(i->type[k]));
	return true;
}

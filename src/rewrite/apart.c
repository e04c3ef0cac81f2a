/* apart.c - stores and loads of one line of memory that have to be kept apart.
 *
 * `a[i] = f(a[i])` in an unrolled loop of which a row is shorter than a line of 128 bytes: a load, a store, and then a load of the line's other half.
 * ptxas knows that the two do not meet and moves that load up, to have its value sooner: to just before the store, as far as the check of
 * the store lets it. On an H200 a store to a line that is on its way from the second-level cache waits until it is there, and so does whatever comes
 * behind it from the same multiprocessor: tiles of 16 by 16 threads took 1.09 ms in place of 0.31, and rows of 8 threads 1.29 in place of 0.33. (As the
 * program was written, all loads are moved before all stores, which a check at each store does not let them.) So the load is kept behind the store,
 * by a branch that is never taken. */
#include "rewrite/apart.h"

#include "rewrite/needless.h"

enum { LINE = 128, WINDOW = 64 };        /* bytes; instructions */

static bool is_plain(const struct ws_ptx_inst *i, enum ws_op op)
{
	return i->op == op && (i->space == WS_SPACE_GLOBAL || i->space == WS_SPACE_GENERIC) && i->sem <= WS_SEM_WEAK;
}

/* The compiler sees that they do not meet: both are of one register. */
static bool of_one_line(const struct ws_operand *store, const struct ws_operand *load)
{
	int64_t by = load->offset - store->offset;

	return load->reg == store->reg && load->component == store->component && by && by < LINE && by > -LINE;
}

bool ws_apart_needed(const struct ws_ptx_func *f, const struct ws_rw_access *store)
{
	const struct ws_ptx_inst *from = store->inst;
	const struct ws_operand *address = store->address;

	if (!is_plain(from, WS_OP_st) || !address->reg)
		return false;
	for (uint32_t k = from->index + 1; k <= f->blocks[from->block].last && k < from->index + WINDOW; k++) {
		const struct ws_ptx_inst *i = &f->insts[k];

		if (is_plain(i, WS_OP_ld) && of_one_line(address, &i->ops[1]))
			return true;
		if (is_plain(i, WS_OP_st) || ws_needless_synchronizes(i) || ws_ptx_sets(i, address->reg))
			return false;
	}
	return false;
}

void ws_apart_keep(struct ws_pass *p, struct ws_ptx_func *f, struct ws_ptx_inst *i, const char *thread)
{
	struct ws_code *c = ws_code_at(p, f, i, WS_AFTER);
	const char *never = ws_code_temp(c, WS_PRED);

	ws_code_add(c, "setp.eq.s32 %s, %s, -1;", never, thread);
	ws_code_add(c, "@%s trap;", never);
	ws_code_end(c);
}

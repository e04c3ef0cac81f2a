/* fixed.c - kernels of which every launch with the same parameters, grid and block does the same accesses.
 *
 * A register is known as in probe.c, but the block's index and the size of the grid are known, too, and constant memory is not,
 * for the program may change it between launches. Where the addresses and guards of all accesses, the guards of
 * barriers and syncs, and the conditions of all branches that decide whether any of them is executed are known, each thread does
 * the same accesses between the same barriers in each of these launches. Barriers and syncs are all that orders them: there are
 * no fences, no strong accesses and no calls. So two accesses race in all of these launches or in none, and the checks, which
 * find a race of such a kernel in any run (probe.c), have told of all of them, or counted what they do not know, when one of the
 * launches has ended (src/real/race_alike.c). An access of a part of a word may make the checks forget one of another part, which
 * they count: then the launches after it are checked, too. What a copy by a thread (cp.async) reads and writes lasts until the thread has
 * waited for it: the addresses, the guard and the waits are known, too, or the kernel is none of these. */
#include "rewrite/async.h"
#include "rewrite/needless.h"
#include "rewrite/probe.h"

#include <string.h>

enum { MOST_BYTES = 16, MOST_BLOCKS = 4000 };

static bool take_access(struct ws_probe *p, const struct ws_rw_access *a)
{
	if (a->rw_class == WS_RW_EXEMPT || a->rw_class == WS_RW_NONE)
		return true;
	if (a->rw_class != WS_RW_CHECK || a->kind == WS_RW_ATOMIC || a->sem != WS_SEM_WEAK || a->bytes > MOST_BYTES ||
	    (a->space != WS_SPACE_SHARED && a->space != WS_SPACE_GLOBAL))
		return false;
	p->access[a->inst->index] = (uint32_t)(a - p->list) + 1;
	return true;
}

/* What orders accesses must be barriers of the block, syncs of the whole warp, or a thread's waits for its copies. */
static bool orders_as_known(const struct ws_ptx_func *f, const struct ws_ptx_inst *i)
{
	bool barrier = ws_probe_is_barrier(i);
	enum ws_rw_async kind = i->op == WS_OP_cp ? ws_rw_async(f, i) : WS_RW_NOT_ASYNC;

	if (kind == WS_RW_COPY || kind == WS_RW_COPY_COMMIT || kind == WS_RW_COPY_WAIT)
		return true;

	if (ws_rw_is_warp_sync(i))
		return ws_rw_syncs_whole_warp(i);
	if (barrier)
		return i->mode != WS_MODE_ARRIVE && i->mode != WS_MODE_RED && i->nops == 1 && i->ops[0].kind == WS_O_INT;
	return !(ws_op_info(i->op)->fx & (WS_FX_BARRIER | WS_FX_FENCE | WS_FX_CALL | WS_FX_ASYNC | WS_FX_ATOMIC | WS_FX_SYNC));
}

static bool has_only_known(struct ws_probe *p)
{
	if (p->f->ntables || p->f->nblocks > MOST_BLOCKS || ws_rw_arrives(p->f))
		return false;
	for (uint32_t k = 0; k < p->n; k++)
		if (!take_access(p, &p->list[k]))
			return false;
	for (uint32_t k = 0; k < p->f->ninsts; k++)
		if (p->f->insts[k].call || p->f->insts[k].op == WS_OP_unknown || !orders_as_known(p->f, &p->f->insts[k]) ||
		    ws_rw_reads_shared_size(&p->f->insts[k]))
			return false;
	return true;
}

static bool no_data_decides(const struct ws_probe *p)
{
	for (uint32_t b = 0; b < p->f->nblocks; b++)
		if (p->when[b] && p->data[p->when[b]->index] && ws_probe_decides(p, b))
			return false;
	return true;
}

bool ws_launch_is_fixed(struct ws_ptx_func *kernel, const struct ws_rw_access *list, uint32_t n, struct ws_probe_value **params,
			size_t *nparams)
{
	struct ws_probe *p = ws_probe_begin(kernel, list, n);
	bool is;

	p->whole = true;
	*nparams = 0;
	is = has_only_known(p);
	if (is) {
		ws_probe_follow(p);
		is = ws_probe_needs(p) && no_data_decides(p);
	}
	if (is) {
		memset(p->reached, 1, kernel->nblocks);
		is = ws_probe_reads(p);
	}
	if (is) {
		*nparams = p->nparams;
		*params = ws_arena_alloc(kernel->module->arena, (p->nparams + 1) * sizeof **params);
		if (p->nparams)
			memcpy(*params, p->params, p->nparams * sizeof **params);
	}
	ws_probe_free(p);
	return is;
}

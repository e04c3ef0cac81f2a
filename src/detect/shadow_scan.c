/* shadow_scan.c - what a kernel's code can synchronize with at all (shadow_priv.h). */
#include "detect/depend.h"
#include "detect/shadow_priv.h"

static bool narrow(const struct ws_ptx_inst *i)
{
	return i->scope == WS_SCOPE_CTA || i->scope == WS_SCOPE_CLUSTER;
}

/* A barrier of all threads has one operand, the barrier's number, and bar.red a predicate more. */
static bool part_barrier(const struct ws_ptx_inst *i)
{
	if (i->mode == WS_MODE_WARP_SYNC)
		return false;
	if (i->mode == WS_MODE_ARRIVE)
		return true;
	return i->mode != WS_MODE_SYNC || i->nops > 1;
}

static void scan_async(struct ws_launch_state *l, const struct ws_ptx_func *f, const struct ws_ptx_inst *i)
{
	l->proxies |= i->op == WS_OP_wgmma || ws_ptx_says(f, i, ".async.bulk") || ws_ptx_says(f, i, "st.async") || ws_ptx_says(f, i, "red.async");
	l->cp_arrives |= ws_ptx_says(f, i, "cp.async.mbarrier");
}

static void scan_inst(struct ws_launch_state *l, const struct ws_ptx_func *f, const struct ws_ptx_inst *i)
{
	const struct ws_op_info *op = ws_op_info(i->op);

	if (op->fx & WS_FX_ASYNC || i->op == WS_OP_st || i->op == WS_OP_red)
		scan_async(l, f, i);
	l->agents |= (op->fx & WS_FX_ASYNC) != 0;
	if (i->op == WS_OP_cp && !l->proxies && !l->cp_arrives)
		return;                      /* a wait for a lane's own copies orders them and nothing else */
	if (op->fx & (WS_FX_FENCE | WS_FX_ASYNC | WS_FX_SYNC)) {
		l->simple = false;
		l->narrow |= i->op != WS_OP_membar ? narrow(i) || i->scope == WS_SCOPE_NONE : narrow(i);
	}
	if (op->fx & WS_FX_BARRIER && part_barrier(i))
		l->simple = false;
	if (!(op->fx & (WS_FX_READ | WS_FX_WRITE | WS_FX_ATOMIC)))
		return;
	l->narrow |= narrow(i);
	if (i->sem == WS_SEM_ACQUIRE || i->sem == WS_SEM_RELEASE || i->sem == WS_SEM_ACQ_REL || i->sem == WS_SEM_SC) {
		l->simple = false;
		l->acquires |= i->sem != WS_SEM_RELEASE;
	}
}

void ws_shadow_scan(struct ws_launch_state *l)
{
	const struct ws_ptx_func *f = l->l->kernel ? ws_gpu_kernel_function(l->l->kernel, 0) : NULL;

	l->simple = f;
	l->proxies = l->cp_arrives = l->agents = !f;
	l->narrow = l->acquires = !f;        /* unknown code can do anything */
	l->depends = false;
	for (size_t n = 0; f; f = ws_gpu_kernel_function(l->l->kernel, ++n)) {
		for (uint32_t i = 0; i < f->ninsts; i++)
			scan_inst(l, f, &f->insts[i]);
		l->depends |= ws_depend_used(f);
	}
	l->narrow |= l->cluster;             /* its barriers are of that scope */
	if (l->cluster || l->depends)
		l->simple = false;
}

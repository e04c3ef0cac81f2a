/* deadlock.c - why nobody can go on: barriers that cannot complete, warps whose threads wait for threads that do not
 * come, loops that poll what nobody will change; and where everybody was when a limit was reached. */
#include "gpu/gpu_priv.h"

#include <string.h>

enum { MAX_GROUPS = 12 };                /* of waiting threads that one message names */

struct listing {
	struct ws_exec *x;
	struct ws_buf *out;
	unsigned groups, hidden;
};

static void lanes_text(struct ws_buf *out, uint32_t mask)
{
	bool first = true;

	for (uint32_t l = 0; l < WS_WARP; l++) {
		uint32_t end = l;

		if (!(mask >> l & 1))
			continue;
		while (end + 1 < WS_WARP && mask >> (end + 1) & 1)
			end++;
		ws_buf_printf(out, first ? "%u" : ",%u", l);
		if (end > l)
			ws_buf_printf(out, "-%u", end);
		first = false;
		l = end;
	}
}

static bool another(struct listing *li)
{
	if (li->groups++ < MAX_GROUPS)
		return true;
	li->hidden++;
	return false;
}

static void who(struct listing *li, const struct ws_warp *w, uint32_t mask)
{
	const uint32_t *c = w->block->obs.ctaid;

	ws_buf_printf(li->out, "\n  block (%u,%u,%u), warp %u, lanes ", c[0], c[1], c[2], w->obs.index);
	lanes_text(li->out, mask);
}

static void where(struct listing *li, const struct ws_frag *f, const struct ws_dinst *in)
{
	const struct ws_code *code = f->frame->code;
	const struct ws_ptx_inst *p;

	while (in->site == WS_NO_SITE && in > code->insts)
		in--;
	if (in->site == WS_NO_SITE)
		return;
	p = &code->fn->ptx->insts[in->site];
	ws_buf_puts(li->out, " at ");
	ws_ptx_where(code->fn->unit->ptx, p, li->out);
	ws_buf_puts(li->out, " (");
	ws_buf_puts(li->out, ws_op_info(p->op)->name);
	ws_buf_printf(li->out, ", ptx line %u)", p->line);
}

static void waiting_fragment(struct listing *li, const struct ws_warp *w, const struct ws_frag *f)
{
	uint32_t missing;

	if (!another(li))
		return;
	who(li, w, f->mask);
	if (f->wait == WS_WAIT_BARRIER) {
		ws_buf_printf(li->out, " wait at barrier %u", f->barrier);
		where(li, f, f->pc - 1);
		return;
	}
	if (f->wait == WS_WAIT_CLUSTER) {
		ws_buf_puts(li->out, " wait at the barrier of their cluster");
		where(li, f, f->pc - 1);
		return;
	}
	if (f->wait == WS_WAIT_WARP) {
		ws_buf_puts(li->out, " wait for the rest of their warp");
		where(li, f, f->pc);
		return;
	}
	if (f->wait == WS_WAIT_SYNC) {
		missing = f->wait_mask & w->live;
		for (uint32_t i = 0; i < w->nfrags; i++)
			if (w->frag[i].wait == WS_WAIT_SYNC && w->frag[i].wait_mask == f->wait_mask &&
			    w->frag[i].pc == f->pc)
				missing &= ~w->frag[i].mask;
		ws_buf_printf(li->out, " wait with mask 0x%08x for lanes ", f->wait_mask);
		lanes_text(li->out, missing);
		where(li, f, f->pc);
		return;
	}
	ws_buf_puts(li->out, " run");
	where(li, f, f->pc);
}

/* "changed last by thread (3,0,0) of block (0,0,0) at app.cu:12" */
static void holder_text(struct listing *li, const struct ws_warp *w)
{
	const struct ws_poll *p = &w->poll;
	const struct ws_launch *la = li->x->launch;

	for (uint32_t i = 0; i < la->nexec; i++) {
		const struct ws_holder *h = &la->exec[i].holders[ws_holder_slot(p->addr)];
		const uint32_t *n = la->obs.grid;
		uint32_t tid[3];

		if (!h->space || h->space != p->space || h->addr != p->addr ||
		    (h->space == WS_SPACE_SHARED && h->block != w->block->obs.linear))
			continue;
		ws_thread_of(la, h->thread, tid);
		ws_buf_printf(li->out, "\n    changed last by thread (%u,%u,%u) of block (%u,%u,%u) at ", tid[0],
		              tid[1], tid[2], (uint32_t)(h->block % n[0]), (uint32_t)(h->block / n[0] % n[1]),
		              (uint32_t)(h->block / n[0] / n[1]));
		ws_ptx_where(h->code->fn->unit->ptx, &h->code->fn->ptx->insts[h->site], li->out);
		return;
	}
}

static void poll_text(struct listing *li, const struct ws_warp *w)
{
	const struct ws_poll *p = &w->poll;
	struct ws_gpu *g = li->x->gpu;

	if (!p->in || p->in->site == WS_NO_SITE)
		return;
	ws_buf_puts(li->out, p->mbar ? "\n    it waits for " : "\n    it polls ");
	if (p->mbar) {
		ws_mbar_describe(p->mbar, (uint32_t)p->addr, li->out);
	} else if (p->space == WS_SPACE_SHARED) {
		ws_buf_printf(li->out, "shared memory at offset 0x%llx", (unsigned long long)p->addr);
	} else {
		ws_buf_printf(li->out, "0x%llx, ", (unsigned long long)p->addr);
		ws_gpu_mem_describe(g, p->addr, li->out);
	}
	ws_buf_puts(li->out, ", at ");
	ws_ptx_where(p->code->fn->unit->ptx, &p->code->fn->ptx->insts[p->in->site], li->out);
	holder_text(li, w);
}

/* An entry of the reconvergence stack: its kind, its lanes, where they go on and where they meet the ones below. */
static void stack_entry(struct listing *li, const struct ws_frag *f)
{
	static const char *const kinds[] = {"", "lock retry: ", "lock: ", "left: "};

	ws_buf_printf(li->out, "\n      %slanes ", kinds[f->lock]);
	lanes_text(li->out, f->mask);
	if (!f->mask)
		ws_buf_puts(li->out, "none");
	if (f->pc)
		where(li, f, f->pc);
	else
		ws_buf_puts(li->out, " return");
	if (!f->lock && f->reconv) {
		ws_buf_puts(li->out, ", until all are");
		where(li, f, f->reconv);
	}
}

static void stack_of(struct listing *li, const struct ws_warp *w)
{
	if (w->nfrags < 2)
		return;
	ws_buf_puts(li->out, "\n    its stack, from the top:");
	for (uint32_t i = w->nfrags; i-- > 0;)
		stack_entry(li, &w->frag[i]);
}

static void list_warp(struct listing *li, const struct ws_warp *w)
{
	const struct ws_frag *top = w->nfrags ? &w->frag[w->nfrags - 1] : NULL;

	if (!li->x->its && top) {
		uint32_t below = 0;

		waiting_fragment(li, w, top);
		for (uint32_t i = 0; i + 1 < w->nfrags; i++)
			below |= w->frag[i].mask;
		if (below & ~top->mask && li->groups <= MAX_GROUPS) {
			ws_buf_puts(li->out, "; lanes ");
			lanes_text(li->out, below & ~top->mask);
			ws_buf_puts(li->out, " of the warp wait to reconverge with them");
		}
	} else {
		for (uint32_t i = 0; i < w->nfrags; i++)
			waiting_fragment(li, w, &w->frag[i]);
	}
	if (w->runnable && li->groups <= MAX_GROUPS)
		poll_text(li, w);
	if (!li->x->its && li->groups <= MAX_GROUPS)
		stack_of(li, w);
}

/* With the others of its cluster. */
static void list_block(struct listing *li, const struct ws_block *b)
{
	for (uint32_t r = 0; r < b->cluster->n; r++)
		for (uint32_t i = 0; i < b->nwarps; i++)
			if (b->cluster->block[r]->warps[i].live)
				list_warp(li, &b->cluster->block[r]->warps[i]);
}

static void end_list(struct listing *li)
{
	if (li->hidden)
		ws_buf_printf(li->out, "\n  and %u groups of threads more", li->hidden);
	ws_buf_printf(li->out, "\n  kernel: %s", li->x->launch->kernel->name);
}

static struct listing begin(struct ws_exec *x, enum ws_gpu_errcode code)
{
	x->err.code = code;
	x->failed = true;
	return (struct listing){.x = x, .out = &x->err.text};
}

static void missing_warps(struct listing *li, const struct ws_block *b, const struct ws_bar *bar)
{
	uint32_t ended = 0, arrived = 0, missing = 0;

	for (uint32_t i = 0; i < b->nwarps; i++) {
		const struct ws_warp *w = &b->warps[i];

		ended += (uint32_t)__builtin_popcount(w->obs.exited);
		arrived += (uint32_t)__builtin_popcount(w->live & bar->arrived[i]);
		missing += (uint32_t)__builtin_popcount(w->live & ~bar->arrived[i]);
	}
	ws_buf_printf(li->out, ": %u threads have arrived, %u have not, %u have ended", arrived, missing, ended);
	if (bar->expected != UINT32_MAX)
		ws_buf_printf(li->out, "; it waits for %u threads", bar->expected);
}

static void block_barriers(struct listing *li, const struct ws_block *b)
{
	const uint32_t *c = b->obs.ctaid;

	for (uint32_t id = 0; id < WS_BARRIERS; id++)
		if (b->bar[id].expected) {
			ws_buf_printf(li->out, "\n  barrier %u", id);
			if (b->cluster->n > 1)
				ws_buf_printf(li->out, " of block (%u,%u,%u)", c[0], c[1], c[2]);
			ws_buf_puts(li->out, " cannot complete");
			missing_warps(li, b, &b->bar[id]);
		}
}

static void cluster_barrier(struct listing *li, const struct ws_cluster *c)
{
	uint32_t ended = 0, arrived = 0, missing = 0;

	if (!c->begun)
		return;
	for (uint32_t r = 0; r < c->n; r++)
		for (uint32_t i = 0; i < c->block[r]->nwarps; i++) {
			const struct ws_warp *w = &c->block[r]->warps[i];

			ended += (uint32_t)__builtin_popcount(w->obs.exited);
			arrived += (uint32_t)__builtin_popcount(w->live & w->cluster_arrived);
			missing += (uint32_t)__builtin_popcount(w->live & ~w->cluster_arrived);
		}
	ws_buf_printf(li->out, "\n  the barrier of the cluster cannot complete: %u threads have arrived, %u have not, "
	              "%u have ended", arrived, missing, ended);
}

void ws_fail_barrier(struct ws_exec *x, struct ws_block *b)
{
	struct listing li;
	const uint32_t *c = b->obs.ctaid;

	if (x->failed)
		return;
	li = begin(x, WS_GPU_DEADLOCK);
	ws_buf_printf(li.out, "deadlock: no thread of %sblock (%u,%u,%u) can go on",
	              b->cluster->n > 1 ? "the cluster of " : "", c[0], c[1], c[2]);
	cluster_barrier(&li, b->cluster);
	for (uint32_t r = 0; r < b->cluster->n; r++)
		block_barriers(&li, b->cluster->block[r]);
	list_block(&li, b);
	end_list(&li);
}

/* Under a clock no other host thread is at work now, and all blocks are told. */
static void list_blocks(struct listing *li, const struct ws_exec *x)
{
	for (uint32_t i = 0; i < x->launch->nexec; i++) {
		const struct ws_exec *e = &x->launch->exec[i];

		for (size_t k = 0; (e == x || x->clocked) && k < e->nresident; k++)
			list_block(li, e->resident[k]);
	}
}

void ws_fail_no_progress(struct ws_exec *x)
{
	struct listing li;

	if (x->failed)
		return;
	li = begin(x, WS_GPU_DEADLOCK);
	ws_buf_puts(li.out, "deadlock: every thread that can run waits in a loop, and nothing ");
	if (ws_all_in_a_circle(x))
		ws_buf_puts(li.out, "changes any more");
	else
		ws_buf_printf(li.out, "has changed for %g s of CPU time", ws_silence(x->gpu));
	if (!x->its)
		ws_buf_puts(li.out,
			"\n  the threads of a warp reconverge before the first of them goes on (divergence model: stack"
			"): "
		                    "one that holds a lock cannot release it while others of its warp wait for it");
	list_blocks(&li, x);
	end_list(&li);
}

void ws_fail_limit(struct ws_exec *x, bool instructions)
{
	struct listing li;

	if (x->failed)
		return;
	li = begin(x, WS_GPU_LIMIT);
	if (instructions)
		ws_buf_printf(li.out, "the limit of %llu warp instructions is reached (--max-instructions)",
		              (unsigned long long)x->gpu->config.max_instructions);
	else
		ws_buf_printf(li.out, "the time limit of %g seconds is reached (--timeout)", x->gpu->config.timeout_s);
	ws_buf_puts(li.out, "; its threads were here:");
	list_blocks(&li, x);
	end_list(&li);
}

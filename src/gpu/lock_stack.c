/* lock_stack.c - what lock instructions do to the reconvergence stack (Ramamurthy, "Towards scalar synchronization in SIMT
 * architectures", 2011, chapter 4). A lock pushes a *lock retry* entry, of all lanes that want theirs, and on it a *lock*
 * entry of those that have got it, which run. No entry of these is popped by reconvergence; an unlock takes its lanes out of
 * both, and an entry without lanes goes when it is on top. What a lock entry leaves as its next place becomes that of
 * the entry below its retry entry: there everybody goes on afterwards.
 *
 * Nested locks (4.4): a thread releases all of its locks before the others of its warp try again. The paper finds the entries
 * that an unlock concerns by a lock counter of the warp and an unlock counter of each thread, and XORs masks. Here each thread
 * counts the locks that it holds: releasing the last one takes it out of all lock and retry entries that it is in, releasing
 * another one out of the highest retry entry, so that it does not try again. On the paper's examples that is the same; it also holds
 * where a thread comes round to a lock again while others of its warp wait for their first.
 *
 * Threads of a warp may leave by different unlocks, and go on at different places. The paper gives all of them the place of the
 * last; that is right only where they have parted inside of one lock entry. Here each place gets an entry (DONE) below the
 * retry entry as soon as there is a second one, and they meet where the paths from all of them do.
 *
 * With independent threads a lock that is not got is tried again by those lanes alone, after the others had a turn. */
#include "gpu/gpu_priv.h"

static const struct ws_dinst nowhere;    /* a place of reconvergence that is never reached */

static bool room(struct ws_exec *x, const struct ws_dinst *in, uint32_t mask)
{
	if (x->warp->nfrags + 4 <= WS_MAX_FRAGS)
		return true;
	ws_exec_fail(x, in, mask, WS_GPU_STACK, "the reconvergence stack is full: locks are nested too deeply");
	x->failed = true;
	return false;
}

static void push(struct ws_exec *x, const struct ws_dinst *pc, uint32_t mask, enum ws_lock_entry kind)
{
	ws_stack_push(x, pc, &nowhere, mask);
	x->frag->lock = (uint8_t)kind;
}

/* The highest entry of a kind; nfrags: there is none. */
static uint32_t highest(const struct ws_warp *w, enum ws_lock_entry kind)
{
	for (uint32_t i = w->nfrags; i-- > 0;)
		if (w->frag[i].lock == kind)
			return i;
	return w->nfrags;
}

/* ---- where threads go on that have left ---- */
/* The block that an instruction is in; at its beginning, or behind that. */
static uint32_t block_of(const struct ws_code *code, const struct ws_dinst *pc, bool *begins)
{
	const struct ws_dinst *in = pc;

	*begins = false;
	while (in && in->site == WS_NO_SITE && in->kind != WS_K_EXIT && in->kind != WS_K_END)
		in++;
	if (!in || in->site == WS_NO_SITE)
		return WS_EXIT_BLOCK;
	*begins = pc <= code->insts + code->start[code->fn->ptx->insts[in->site].block];
	return code->fn->ptx->insts[in->site].block;
}

/* The next block from there on through which every path leads. */
static uint32_t met_from(const struct ws_code *code, const struct ws_dinst *pc)
{
	bool begins;
	uint32_t b = block_of(code, pc, &begins);

	return b == WS_EXIT_BLOCK || begins ? b : code->fn->ptx->blocks[b].ipdom;
}

static bool leads_through(const struct ws_ptx_func *f, uint32_t from, uint32_t block)
{
	while (from != WS_EXIT_BLOCK && from != block)
		from = f->blocks[from].ipdom;
	return from == block;
}

/* Where the paths from two places meet; NULL: at the function's end. */
static const struct ws_dinst *meeting(const struct ws_code *code, const struct ws_dinst *a, const struct ws_dinst *b)
{
	const struct ws_ptx_func *f = code->fn->ptx;
	uint32_t m = met_from(code, a), from = met_from(code, b);

	while (m != WS_EXIT_BLOCK && !leads_through(f, from, m))
		m = f->blocks[m].ipdom;
	return m == WS_EXIT_BLOCK ? NULL : code->insts + code->start[m];
}

static void insert(struct ws_warp *w, uint32_t at, const struct ws_frag *like, const struct ws_dinst *pc, uint32_t lanes)
{
	for (uint32_t i = w->nfrags++; i > at; i--)
		w->frag[i] = w->frag[i - 1];
	w->frag[at] = *like;
	w->frag[at].pc = pc;
	w->frag[at].mask = lanes;
	w->frag[at].wait_mask = 0;
	w->frag[at].lock = WS_ENTRY_DONE;
	w->frag[at].frame->refs++;
}

/* Lanes have left the critical section above the retry entry and go on at pc. Its wait_mask has those that left before,
 * while all go on at one place, which is that of the entry below; `barrier` the number of entries for places else. */
static void go_on(struct ws_exec *x, uint32_t retry, const struct ws_dinst *pc, uint32_t lanes)
{
	struct ws_warp *w = x->warp;
	uint32_t places = w->frag[retry].barrier, below = retry - 1 - places;
	struct ws_frag base;

	if (!places && (!w->frag[retry].wait_mask || w->frag[below].pc == pc)) {
		w->frag[below].pc = pc;
		w->frag[retry].wait_mask |= lanes;
		return;
	}
	for (uint32_t i = below + 1; i < retry; i++)
		if (w->frag[i].pc == pc) {
			w->frag[i].mask |= lanes;
			return;
		}
	if (!room(x, pc, lanes))
		return;
	base = w->frag[below];
	if (!places) {
		insert(w, retry, &base, base.pc, w->frag[retry].wait_mask);
		retry++;
	}
	insert(w, retry, &base, pc, lanes);
	retry++;
	w->frag[retry].barrier = (uint16_t)(retry - below - 1);
	w->frag[below].pc = meeting(base.frame->code, base.pc, pc);
	for (uint32_t i = below + 1; i < retry; i++)
		w->frag[i].reconv = w->frag[below].pc;
}

void ws_lock_pop(struct ws_exec *x)
{
	struct ws_warp *w = x->warp;
	struct ws_frag f = w->frag[w->nfrags - 1];

	ws_frame_release(w, f.frame);
	w->nfrags--;
	if (f.lock == WS_ENTRY_LOCK) {
		uint32_t retry = highest(w, WS_ENTRY_RETRY);

		if (retry < w->nfrags && retry > 0)
			go_on(x, retry, f.pc, f.wait_mask);
	}
}

/* ---- lock ---- */
static void note_holders(struct ws_exec *x, const struct ws_dinst *in, uint32_t got, const uint64_t *addr)
{
	for (uint32_t m = got; m; m &= m - 1) {
		uint32_t l = (uint32_t)__builtin_ctz(m);

		x->holders[ws_holder_slot(addr[l])] = (struct ws_holder){
			.addr = addr[l], .block = x->block->obs.linear, .code = x->frag->frame->code, .site = in->site,
			.thread = x->warp->obs.index * WS_WARP + l, .space = WS_SPACE_GLOBAL,
		};
	}
}

static void taken_its(struct ws_exec *x, const struct ws_dinst *in, uint32_t got)
{
	struct ws_frag *f = x->frag;

	if (got == f->mask) {
		f->pc = in + 1;
		return;
	}
	if (got)
		ws_its_split(x, f, got)->pc = in + 1;
	ws_its_yield(x);
}

static void push_retry(struct ws_exec *x, const struct ws_dinst *in, uint32_t lanes)
{
	if (x->frag->lock == WS_ENTRY_RETRY)
		return;
	push(x, in, lanes, WS_ENTRY_RETRY);
	x->frag->wait_mask = 0;
	x->frag->barrier = 0;
}

static void push_lock(struct ws_exec *x, const struct ws_dinst *in, uint32_t got)
{
	if (got) {
		push(x, in + 1, got, WS_ENTRY_LOCK);
		x->frag->wait_mask = got;
	}
	for (uint32_t m = got; m; m &= m - 1)
		x->warp->held[__builtin_ctz(m)]++;
}

static void taken_stack(struct ws_exec *x, const struct ws_dinst *in, uint32_t asked, uint32_t got)
{
	push_retry(x, in, asked);
	push_lock(x, in, got);
}

/* Makes the fragment or entry of the lanes the current one. */
static void enter(struct ws_exec *x, struct ws_warp *w, uint32_t lanes)
{
	x->block = w->block;
	x->shared = w->block->shared;
	x->warp = w;
	if (!x->its) {
		ws_stack_pick(x);
		return;
	}
	for (uint32_t i = 0; i < w->nfrags; i++)
		if (w->frag[i].mask & lanes)
			x->frag = &w->frag[i];
}

bool ws_lock_taken(struct ws_exec *x, struct ws_warp *w, uint32_t asked, uint32_t got, const uint64_t addr[WS_WARP])
{
	const struct ws_dinst *in;

	enter(x, w, asked);
	in = x->frag->pc;
	if (!room(x, in, asked))
		return false;
	ws_isolate(x, in, asked, in);            /* others that have come here since have their own turn */
	if (got) {
		w->progress++;
		note_holders(x, in, got, addr);
	} else {
		ws_remember_poll(x, in, addr[__builtin_ctz(asked)], WS_SPACE_GLOBAL, asked);
		w->left -= 64;           /* a few failures are a turn */
	}
	if (x->its)
		taken_its(x, in, got);
	else
		taken_stack(x, in, asked, got);
	if (w->left < 0) {
		enter(x, w, asked);
		ws_warp_paused(x, w);
		w->left = ws_warp_budget(w);
	}
	return true;
}

/* ---- tries ---- */
struct ws_lock_try *ws_lock_try_of(struct ws_warp *w, uint32_t lane)
{
	return &w->trying[lane];
}

static void tried_its(struct ws_exec *x, const struct ws_dinst *in, uint32_t again)
{
	if (x->frag->mask & ~again)
		ws_its_split(x, x->frag, x->frag->mask & ~again)->pc = in + 1;
	ws_its_yield(x);
}

/* Who gives up goes on behind the call when the others are through; its path meets theirs where they lead to one place. */
static void tried_stack(struct ws_exec *x, const struct ws_dinst *in, uint32_t got, uint32_t gave_up)
{
	struct ws_warp *w = x->warp;

	push_retry(x, in, x->frag->mask);
	x->frag->mask &= ~gave_up;
	if (gave_up) {
		go_on(x, w->nfrags - 1, in + 1, gave_up);
		x->frag = &w->frag[w->nfrags - 1];
	}
	push_lock(x, in, got);
}

uint32_t ws_lock_tried(struct ws_exec *x, struct ws_warp *w, uint32_t asked, uint32_t got, uint32_t again)
{
	const struct ws_dinst *in;

	enter(x, w, asked);
	in = x->frag->pc;
	ws_call_answer(x, in, asked & ~again, got);
	if (!again && x->frag->lock != WS_ENTRY_RETRY) {
		ws_step_pass(x, w, asked);
		return 0;
	}
	if (!room(x, in, asked))
		return 0;
	ws_isolate(x, in, asked, in);
	w->progress++;
	if (x->its) {
		tried_its(x, in, again);
		return 0;
	}
	tried_stack(x, in, got, asked & ~got & ~again);
	return got;
}

uint32_t ws_lock_held(const struct ws_warp *w, uint32_t lane)
{
	return w->held[lane];
}

/* ---- unlock ---- */
/* The thread's last lock: it has left everything between its outermost lock and the entry in which it ran. */
static void leave_all(struct ws_warp *w, uint32_t lane)
{
	uint32_t top = highest(w, WS_ENTRY_LOCK), from = 0;

	while (from < w->nfrags && !(w->frag[from].lock == WS_ENTRY_RETRY && w->frag[from].mask & lane))
		from++;
	for (uint32_t i = from; i <= top && i < w->nfrags; i++)
		w->frag[i].mask &= ~lane;
}

static void leave_inner(struct ws_warp *w, uint32_t lane)
{
	for (uint32_t i = w->nfrags; i-- > 0;)
		if (w->frag[i].lock == WS_ENTRY_RETRY && w->frag[i].mask & lane) {
			w->frag[i].mask &= ~lane;
			return;
		}
}

bool ws_step_pass(struct ws_exec *x, struct ws_warp *w, uint32_t lanes)
{
	const struct ws_dinst *in;

	enter(x, w, lanes);
	in = x->frag->pc;
	w->progress++;
	ws_isolate(x, in, lanes, in);
	x->frag->pc = in + 1;
	return true;
}

bool ws_step_answer(struct ws_exec *x, struct ws_warp *w, uint32_t lanes, uint32_t set)
{
	enter(x, w, lanes);
	ws_call_answer(x, x->frag->pc, lanes, set);
	return ws_step_pass(x, w, lanes);
}

bool ws_lock_busy(const struct ws_warp *w, uint32_t lane)
{
	for (uint32_t i = w->nfrags; i-- > 0;) {
		if (w->frag[i].lock == WS_ENTRY_RETRY && w->frag[i].mask >> lane & 1)
			return false;
		if (w->frag[i].lock == WS_ENTRY_LOCK && w->frag[i].mask)
			return true;
	}
	return false;
}

bool ws_lock_released(struct ws_exec *x, struct ws_warp *w, uint32_t lanes, uint32_t locks)
{
	ws_step_pass(x, w, lanes);
	for (uint32_t m = x->its ? 0 : locks; m; m &= m - 1) {
		uint32_t l = (uint32_t)__builtin_ctz(m);

		if (!w->held[l])
			continue;        /* another thread's */
		if (w->held[l] <= 1)
			leave_all(w, 1u << l);
		else
			leave_inner(w, 1u << l);
		w->held[l]--;
	}
	return true;
}

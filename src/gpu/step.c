/* step.c - execution under somebody else's clock: see step.h. The work of exec.c's loop, one PTX instruction a call; what
 * the decoder made of one instruction is executed together, and what it added between instructions costs no step. */
#include "gpu/gpu_priv.h"

#include <stdlib.h>
#include <string.h>

#define EACH_LANE(l, mask) \
	for (uint32_t m_ = (mask), l; m_ && (l = (uint32_t)__builtin_ctz(m_), true); m_ &= m_ - 1)

enum { PLACES = 4 };                     /* registers begin at multiples of so many bytes of a frame */

/* ---- the flat memory ---- */
/* An allocation lies after those that were born before, on a border of 64 KiB. */
static void place(void *gpu, const struct ws_mem *m)
{
	enum { BORDER = 1 << 16, WITHIN = 4095 };
	struct ws_gpu *g = gpu;

	while (g->nflat <= m->serial)
		*WS_PUSH(g->flat, g->nflat, g->cap_flat) = 0;
	if (g->flat[m->serial])
		return;
	if (!g->flat_end)
		g->flat_end = BORDER;
	g->flat[m->serial] = g->flat_end + (m->addr & WITHIN);
	g->flat_end = (g->flat[m->serial] + m->size + BORDER - 1) / BORDER * BORDER;
}

/* Before the launch, so that places do not depend on which host thread comes first. */
static void place_all(struct ws_gpu *g)
{
	if (g->flat_serial == g->map.serial)
		return;
	ws_memmap_each(&g->map, g->flat_serial, place, g);
	g->flat_serial = g->map.serial;
}

static uint64_t flat_of(struct ws_gpu *g, const struct ws_mem *m)
{
	if (m->serial >= g->nflat || !g->flat[m->serial])
		place(g, m);             /* of the device's malloc; such a launch has one host thread (src/timing) */
	return g->flat[m->serial] - m->addr;
}

/* ---- the launch ---- */
uint32_t ws_step_hosts(const struct ws_exec *x)
{
	return x->launch->nexec;
}

uint32_t ws_step_processors(const struct ws_exec *x)
{
	return x->gpu->config.host_threads;
}

struct ws_exec *ws_step_host(const struct ws_exec *x, uint32_t i)
{
	return &x->launch->exec[i];
}

unsigned ws_step_enter(void)
{
	return ws_lanes_fp_enter();
}

void ws_step_leave(unsigned entered)
{
	ws_lanes_fp_leave(entered);
}

void ws_step_launch(const struct ws_exec *x, struct ws_step_launch *l)
{
	const struct ws_image *im = x->image;

	place_all(x->gpu);

	*l = (struct ws_step_launch){
		.obs = &x->launch->obs, .cluster_blocks = x->launch->cluster_blocks, .registers = im->regs,
		.functions = im->ncodes, .memory = im->uses_local ? x->launch->stack_stride : 0,
	};
}

const struct ws_ptx_func *ws_step_function(const struct ws_exec *x, uint32_t i)
{
	return x->image->codes[i]->fn->ptx;
}

uint32_t ws_step_places(const struct ws_exec *x, uint32_t function)
{
	return x->image->codes[function]->frame_bytes / PLACES + 1;
}

uint32_t ws_step_place(const struct ws_exec *x, uint32_t function, uint32_t reg)
{
	return x->image->codes[function]->reg[reg] / PLACES;
}

void ws_step_time(struct ws_exec *x, uint64_t cycle, uint64_t nanoseconds)
{
	x->cycle = cycle;
	x->nanoseconds = nanoseconds;
}

void ws_step_core(struct ws_exec *x, uint32_t core)
{
	x->core = core;
	x->held = x->launch->held ? &x->launch->held[core] : NULL;
}

bool ws_step_independent(const struct ws_exec *x)
{
	return x->its;
}

bool ws_step_failed(const struct ws_exec *x)
{
	return x->failed;
}

bool ws_step_any_failed(const struct ws_exec *x)
{
	for (uint32_t i = 0; i < x->launch->nexec; i++)
		if (x->launch->exec[i].failed)
			return true;
	return false;
}

/* ---- blocks ---- */
bool ws_step_more(const struct ws_exec *x)
{
	return !x->failed && (x->next_unit < x->end_unit || x->launch->next_block < x->launch->units);
}

bool ws_step_take(struct ws_exec *x, uint64_t *number)
{
	return !x->failed && ws_block_take(x, number);
}

struct ws_block *ws_step_begin(struct ws_exec *x, uint64_t number)
{
	struct ws_block *b = ws_block_start(x, number);

	if (!b)
		return NULL;
	*WS_PUSH(x->resident, x->nresident, x->cap_resident) = b;
	for (uint32_t r = 0; r < b->cluster->n; r++)
		for (uint32_t i = 0; i < b->cluster->block[r]->nwarps; i++)
			b->cluster->block[r]->warps[i].left = ws_warp_budget(&b->cluster->block[r]->warps[i]);
	return b;
}

struct ws_block *ws_step_peer(struct ws_block *b, uint32_t rank)
{
	return b->cluster->block[rank];
}

struct ws_warp *ws_step_warp(struct ws_block *b, uint32_t i)
{
	return &b->warps[i];
}

bool ws_step_ended(const struct ws_block *b)
{
	for (uint32_t r = 0; r < b->cluster->n; r++)
		if (b->cluster->block[r]->live_warps)
			return false;
	return true;
}

void ws_step_end(struct ws_exec *x, struct ws_block *b)
{
	size_t i = 0;

	while (x->resident[i] != b)
		i++;
	x->nresident--;
	memmove(&x->resident[i], &x->resident[i + 1], (x->nresident - i) * sizeof(struct ws_block *));
	ws_block_finish(x, b);
}

/* ---- where a warp is ---- */
static void enter(struct ws_exec *x, struct ws_warp *w)
{
	x->block = w->block;
	x->shared = w->block->shared;
	x->warp = w;
}

static void pick(struct ws_exec *x)
{
	if (x->its)
		ws_its_pick(x);
	else
		ws_stack_pick(x);
}

/* As exec.c counts: at the ends of basic blocks. */
static void count(struct ws_exec *x, const struct ws_dinst *in)
{
	x->winsts += in->count;
	x->tinsts += (uint64_t)in->count * (uint32_t)__builtin_popcount(x->frag->mask);
}

enum ws_step_state ws_step_next(struct ws_exec *x, struct ws_warp *w, struct ws_step_next *n)
{
	const struct ws_dinst *in;
	const struct ws_code *code;

	enter(x, w);
	for (;;) {
		if (!w->live)
			return WS_STEP_ENDED;
		pick(x);
		if (!x->frag) {
			w->runnable = false;
			return WS_STEP_WAITS;
		}
		in = x->frag->pc;
		if (in->kind != WS_K_JOIN)
			break;
		count(x, in);
		x->frag->pc = in + 1;
	}
	code = x->frag->frame->code;
	n->function = code->index;
	n->inst = in->site == WS_NO_SITE ? NULL : code->fn->sites[in->site].inst;
	n->active = x->frag->mask;
	return WS_STEP_READY;
}

/* ---- addresses ---- */
static void flatten(struct ws_exec *x, struct ws_stepped *s)
{
	const struct ws_mem *m = NULL;
	uint64_t add = 0;

	EACH_LANE(l, s->mask) {
		if (!m || s->addr[l] - m->addr >= m->size) {
			m = ws_memmap_find(&x->gpu->map, s->addr[l]);
			if (!m) {        /* the instruction fails when it is executed */
				s->mask &= ~(1u << l);
				continue;
			}
			add = flat_of(x->gpu, m);
		}
		s->addr[l] += add;
	}
}

/* Of a generic access to several memories the lanes in global memory count, else those that are where the first one is. */
static uint64_t window_of(const struct ws_stepped *s)
{
	uint64_t window, first = s->addr[__builtin_ctz(s->mask)] >> WS_WINDOW_SHIFT;

	EACH_LANE(l, s->mask) {
		window = s->addr[l] >> WS_WINDOW_SHIFT;
		if (window != WS_WINDOW_SHARED && window != WS_WINDOW_LOCAL && window != WS_WINDOW_PARAM)
			return window;
	}
	return first;
}

static void resolve_generic(struct ws_stepped *s)
{
	uint64_t window = window_of(s);

	s->space = window == WS_WINDOW_SHARED ? WS_SPACE_SHARED : window == WS_WINDOW_LOCAL ? WS_SPACE_LOCAL
	           : window == WS_WINDOW_PARAM ? WS_SPACE_PARAM : WS_SPACE_GLOBAL;
	EACH_LANE(l, s->mask)
		if (s->addr[l] >> WS_WINDOW_SHIFT != window)
			s->mask &= ~(1u << l);
		else
			s->addr[l] -= WS_WINDOW(window);
}

static void find_space(struct ws_exec *x, struct ws_stepped *s)
{
	if (s->space == WS_SPACE_GENERIC)
		resolve_generic(s);
	if (s->space == WS_SPACE_SHARED_CLUSTER)
		s->space = WS_SPACE_SHARED;
	if (s->space == WS_SPACE_SHARED)
		EACH_LANE(l, s->mask)
			s->addr[l] &= (1u << WS_PEER_SHIFT) - 1;
	if (s->space == WS_SPACE_GLOBAL || s->space == WS_SPACE_CONST)
		flatten(x, s);
}

static void look_plain(struct ws_exec *x, const struct ws_dinst *in, struct ws_stepped *s)
{
	const struct ws_dmem *m = &in->u.mem;

	s->kind = m->flags & WS_DM_STORE ? WS_STEP_STORE : WS_STEP_LOAD;
	s->space = m->space;
	s->sem = m->sem;
	s->scope = m->scope;
	s->nc = m->flags & WS_DM_NC;
	s->bytes = (uint16_t)(m->size * m->vec);
	ws_addresses(x->frag->frame->regs, m->addr, m->addr_width, m->off, s->addr);
	find_space(x, s);
}

static void look_atomic(struct ws_exec *x, const struct ws_dinst *in, struct ws_stepped *s)
{
	const struct ws_datom *t = in->u.op.ptr;

	s->kind = WS_STEP_ATOMIC;
	s->space = t->space;
	s->sem = t->sem;
	s->scope = t->scope;
	s->atom = t->atom;
	s->bytes = t->bytes;
	ws_addresses(x->frag->frame->regs, t->addr, t->addr_width, t->off, s->addr);
	memcpy(s->generic, s->addr, sizeof s->generic);
	find_space(x, s);
}

static bool is_memory(const struct ws_dinst *in)
{
	return in->kind == WS_K_MEM || in->kind == WS_K_MEM_GUARD || in->kind == WS_K_MEM_PACED;
}

static bool is_atomic(const struct ws_dinst *in)
{
	return (in->kind == WS_K_OP || in->kind == WS_K_OP_PACED) && in->u.op.fn == ws_op_atomic;
}

static const struct ws_call_site *intrinsic_of(const struct ws_dinst *in)
{
	const struct ws_call_site *c = in->u.op.ptr;

	return in->kind == WS_K_OP && in->u.op.fn == ws_op_call && c->intrinsic ? c : NULL;
}

static void look_intrinsic(struct ws_exec *x, const struct ws_call_site *c, struct ws_stepped *s)
{
	s->kind = WS_STEP_INTRINSIC;
	s->intrinsic = (uint8_t)(c->intrinsic - 1);
	s->space = WS_SPACE_GLOBAL;
	s->bytes = 4;
	EACH_LANE(l, s->mask)
		s->addr[l] = s->generic[l] = c->nargs ? ws_call_arg(x, c, 0, l, 8) : 0;
	EACH_LANE(l, s->mask)
		s->value[l] = c->nargs > 1 ? (uint32_t)ws_call_arg(x, c, 1, l, 4) : 0;
	flatten(x, s);
}

static void look(struct ws_exec *x, const struct ws_dinst *in, struct ws_stepped *s)
{
	s->active = x->frag->mask;
	s->mask = ws_guard(in, x->frag->frame->regs, s->active);
	s->kind = WS_STEP_PLAIN;
	s->nc = s->deferred = s->diverged = s->jumped = s->waits = s->wakes = false;
	s->site = in->site == WS_NO_SITE ? NULL : ws_site_of(x->frag->frame->code, in);
	if (!s->mask)
		return;
	if (is_memory(in))
		look_plain(x, in, s);
	else if (is_atomic(in))
		look_atomic(x, in, s);
	else if (intrinsic_of(in))
		look_intrinsic(x, intrinsic_of(in), s);
}

void ws_step_look(struct ws_exec *x, struct ws_warp *w, struct ws_stepped *s)
{
	enter(x, w);
	pick(x);
	look(x, x->frag->pc, s);
}

/* ---- one decoded instruction; true: the next one may belong to the same PTX instruction ---- */
static void jump(struct ws_exec *x, const struct ws_dinst *in, uint32_t taken)
{
	if (taken == x->frag->mask) {
		x->frag->pc = in->u.bra.target;
	} else {
		x->divergent++;
		if (x->its)
			ws_its_diverge(x, in, taken, in->u.bra.target);
		else
			ws_stack_diverge(x, in, taken, in->u.bra.target, in->u.bra.reconv);
	}
	if (in->backward)
		x->budget--;
}

static bool branch(struct ws_exec *x, const struct ws_dinst *in, struct ws_stepped *s)
{
	uint32_t taken = x->frag->mask;

	count(x, in);
	if (in->kind != WS_K_BRA) {
		uint32_t p = *(const uint32_t *)(const void *)(x->frag->frame->regs + in->guard);

		taken &= in->kind == WS_K_BRA_IF ? p : ~p;
	}
	s->mask = s->active;
	s->jumped = taken != 0;
	s->diverged = taken && taken != s->active;
	if (taken)
		jump(x, in, taken);
	else
		x->frag->pc = in + 1;
	return false;
}

static bool operation(struct ws_exec *x, const struct ws_dinst *in, struct ws_stepped *s)
{
	uint32_t m = ws_guard(in, x->frag->frame->regs, x->frag->mask);

	count(x, in);
	s->wakes = true;
	if (!m) {
		x->frag->pc = in + 1;
		return true;
	}
	switch (in->u.op.fn(x, in, m)) {
	case WS_NEXT:
		x->frag->pc = in + 1;
		return true;
	case WS_STOP:
		x->failed = true;
		return false;
	default:
		s->jumped = s->waits = true;
		return false;
	}
}

static bool leave(struct ws_exec *x, const struct ws_dinst *in, struct ws_stepped *s)
{
	uint32_t m = ws_guard(in, x->frag->frame->regs, x->frag->mask);

	count(x, in);
	x->frag->pc = in + 1;
	s->wakes = m != 0;
	s->jumped = true;
	if (m && ws_exec_exit(x, m) == WS_STOP)
		x->failed = true;
	return false;
}

static bool execute(struct ws_exec *x, const struct ws_dinst *in, struct ws_stepped *s)
{
	uint8_t *regs = x->frag->frame->regs;
	uint32_t m;

	switch ((enum ws_kind)in->kind) {
	case WS_K_LANE: case WS_K_LANE_GUARD:
		m = ws_guard(in, regs, x->frag->mask);
		if (m)
			in->u.lane.fn(&in->u.lane, regs, m);
		break;
	case WS_K_MEM: case WS_K_MEM_GUARD: case WS_K_MEM_PACED:
		m = ws_guard(in, regs, x->frag->mask);
		if (m && !in->u.mem.fn(x, in, regs, m)) {
			x->failed = true;
			return false;
		}
		break;
	case WS_K_OP: case WS_K_OP_PACED:
		return operation(x, in, s);
	case WS_K_BRA: case WS_K_BRA_IF: case WS_K_BRA_IFNOT:
		return branch(x, in, s);
	case WS_K_EXIT:
		return leave(x, in, s);
	case WS_K_JOIN:
		return false;
	case WS_K_END:
		ws_exec_fail(x, in, x->frag->mask, WS_GPU_BAD_PC, "the kernel ran past its last instruction");
		x->failed = true;
		return false;
	}
	x->frag->pc = in + 1;
	return true;
}

/* The operands of an atomic as they were when it began: the warp goes on and may give their places new values. */
enum { PLACE = 16 * WS_WARP };           /* bytes of the widest register */
struct ws_saved_atomic {
	struct ws_saved_atomic *next;
	uint8_t addr[8 * WS_WARP], a[WS_ATOMIC_VEC][PLACE], b[PLACE];
};

static void swap(uint8_t *a, uint8_t *b, size_t n)
{
	uint8_t t[PLACE];

	memcpy(t, a, n);
	memcpy(a, b, n);
	memcpy(b, t, n);
}

/* Exchanges what the places hold with what they held. A place may be named twice: back goes the other way round. */
static void swap_operands(const struct ws_datom *t, uint8_t *regs, struct ws_saved_atomic *s, bool back)
{
	size_t n = t->width * (size_t)WS_WARP;

	if (!back)
		swap(regs + t->addr, s->addr, t->addr_width * (size_t)WS_WARP);
	else if (t->b != WS_LANE_NONE)
		swap(regs + t->b, s->b, n);
	for (unsigned k = 0; k < t->n; k++) {
		unsigned i = back ? t->n - 1u - k : k;

		swap(regs + t->a[i], s->a[i], n);
	}
	if (back)
		swap(regs + t->addr, s->addr, t->addr_width * (size_t)WS_WARP);
	else if (t->b != WS_LANE_NONE)
		swap(regs + t->b, s->b, n);
}

static struct ws_saved_atomic *save_operands(struct ws_exec *x, const struct ws_datom *t, const uint8_t *regs)
{
	struct ws_saved_atomic *s = x->saved;
	size_t n = t->width * (size_t)WS_WARP;

	if (s)
		x->saved = s->next;
	else
		s = ws_arena_alloc(x->arena, sizeof *s);
	memcpy(s->addr, regs + t->addr, t->addr_width * (size_t)WS_WARP);
	for (unsigned i = 0; i < t->n; i++)
		memcpy(s->a[i], regs + t->a[i], n);
	if (t->b != WS_LANE_NONE)
		memcpy(s->b, regs + t->b, n);
	return s;
}

static void put_lanes(uint8_t *d, const uint8_t *s, unsigned width, uint32_t lanes)
{
	EACH_LANE(l, lanes) {
		if (width < 16) {
			memcpy(d + l * width, s + l * width, width);
			continue;
		}
		memcpy(d + l * 8, s + l * 8, 8);         /* 16 bytes are two arrays of halves (lanes.h) */
		memcpy(d + (WS_WARP + l) * 8, s + (WS_WARP + l) * 8, 8);
	}
}

static bool start_atomic(struct ws_exec *x, const struct ws_dinst *in, struct ws_stepped *s)
{
	uint32_t now = ws_guard(in, x->frag->frame->regs, x->frag->mask) & ~s->mask;

	if (s->space != WS_SPACE_GLOBAL || !s->mask)
		return false;
	count(x, in);
	if (now && ws_op_atomic(x, in, now) == WS_STOP) {        /* lanes in other memories, or whose addresses are wrong */
		x->failed = true;
		return true;
	}
	s->deferred = true;
	s->atomic = (struct ws_step_atomic){.in = in, .frame = x->frag->frame, .warp = x->warp,
	                                   .saved = save_operands(x, in->u.op.ptr, x->frag->frame->regs)};
	x->frag->frame->refs++;
	x->frag->pc = in + 1;
	return true;
}

/* Loops that wait let other lanes of the warp go on (sched.c). */
static void after(struct ws_exec *x, struct ws_warp *w)
{
	if (x->budget >= 0) {
		w->left = x->budget;
		return;
	}
	pick(x);
	if (x->frag)
		ws_warp_paused(x, w);
	w->left = ws_warp_budget(w);
}

/* An address outside of global memory is an error now, not when the request arrives somewhere. */
static bool start_intrinsic(struct ws_exec *x, const struct ws_dinst *in, const struct ws_stepped *s)
{
	uint32_t all = ws_guard(in, x->frag->frame->regs, x->frag->mask);

	EACH_LANE(l, all) {
		if (s->mask >> l & 1 && !(s->generic[l] & 3))
			continue;
		ws_fail_address(x, in, l, s->mask >> l & 1 ? WS_GPU_MISALIGNED : WS_GPU_BAD_ADDRESS, WS_SPACE_GLOBAL,
		                s->generic[l], 4, true, s->mask >> l & 1 ? "misaligned address" : "invalid address");
		x->failed = true;
		return false;
	}
	if (!all)
		x->frag->pc = in + 1;
	else if (x->warp->nfrags + 4 < WS_MAX_FRAGS)     /* else lock_stack.c tells it */
		ws_isolate(x, in, all, in + 1);  /* lanes whose guard is false go on */
	return true;
}

uint32_t *ws_step_word(struct ws_exec *x, struct ws_warp *w, uint32_t lane, uint64_t addr)
{
	uint8_t *host = ws_memmap_host(&x->gpu->map, addr, 4);

	if (host)
		return (uint32_t *)(void *)host;
	enter(x, w);
	pick(x);
	ws_fail_address(x, x->frag->pc, lane, WS_GPU_BAD_ADDRESS, WS_SPACE_GLOBAL, addr, 4, true, "invalid address");
	x->failed = true;
	return NULL;
}

uint32_t ws_step_thread(const struct ws_warp *w, uint32_t lane)
{
	const struct ws_obs_block *b = w->obs.block;

	return (uint32_t)b->linear * b->launch->threads + w->obs.index * WS_WARP + lane + 1;
}

uint64_t ws_step_threads(const struct ws_warp *w)
{
	const struct ws_obs_launch *l = w->obs.block->launch;

	return l->blocks * l->threads;
}

const struct ws_obs_warp *ws_step_obs(const struct ws_warp *w)
{
	return &w->obs;
}

bool ws_step(struct ws_exec *x, struct ws_warp *w, bool defer, struct ws_stepped *s)
{
	const struct ws_dinst *in;
	uint32_t site;
	uint8_t kind;

	enter(x, w);
	if (x->jobs)
		ws_copy_tick(x);
	pick(x);
	x->budget = w->left;
	in = x->frag->pc;
	site = in->site;
	look(x, in, s);
	if (s->kind == WS_STEP_ATOMIC && defer && start_atomic(x, in, s))
		return !x->failed;
	if (intrinsic_of(in)) {
		count(x, in);
		return start_intrinsic(x, in, s);
	}
	kind = s->kind;
	while (!x->failed && execute(x, in, s) && x->frag->pc->site == site && site != WS_NO_SITE) {
		in = x->frag->pc;
		if (kind == WS_STEP_PLAIN && (is_memory(in) || is_atomic(in))) {
			bool wakes = s->wakes;

			look(x, in, s);
			s->wakes = wakes;
			kind = s->kind;
		}
	}
	if (!x->failed)
		after(x, w);
	return !x->failed;
}

/* ---- atomics that were put off ---- */
bool ws_step_atomic(struct ws_exec *x, const struct ws_step_atomic *a, uint32_t lanes)
{
	const struct ws_datom *t = a->in->u.op.ptr;
	struct ws_frag f = {.pc = a->in, .frame = a->frame, .mask = lanes};
	uint8_t *regs = a->frame->regs;
	uint8_t result[WS_ATOMIC_VEC][PLACE];

	enter(x, a->warp);
	x->frag = &f;
	x->budget = a->warp->left;
	swap_operands(t, regs, a->saved, false);
	if (ws_op_atomic(x, a->in, lanes) == WS_STOP)
		x->failed = true;
	for (unsigned i = 0; i < t->n; i++)
		if (t->d[i] != WS_LANE_NONE)
			memcpy(result[i], regs + t->d[i], t->width * (size_t)WS_WARP);
	swap_operands(t, regs, a->saved, true);
	for (unsigned i = 0; i < t->n; i++)
		if (t->d[i] != WS_LANE_NONE)
			put_lanes(regs + t->d[i], result[i], t->width, lanes);
	x->frag = NULL;
	a->warp->left = x->budget;
	return !x->failed;
}

void ws_step_atomic_end(struct ws_exec *x, const struct ws_step_atomic *a)
{
	a->saved->next = x->saved;
	x->saved = a->saved;
	ws_frame_release(a->warp, a->frame);
}

/* ---- no way on ---- */
void ws_step_park(struct ws_warp *w, bool parked)
{
	w->parked = parked;
}

static bool finish_copies(struct ws_launch *la)
{
	bool any = false;

	for (uint32_t i = 0; i < la->nexec; i++)
		any |= ws_copy_finish_all(&la->exec[i]);
	return any;
}

/* The exec with the block that began first. */
static struct ws_exec *eldest(const struct ws_launch *la)
{
	struct ws_exec *best = NULL;

	for (uint32_t i = 0; i < la->nexec; i++)
		if (la->exec[i].nresident &&
		    (!best || la->exec[i].resident[0]->obs.linear < best->resident[0]->obs.linear))
			best = &la->exec[i];
	return best;
}

bool ws_step_nobody(struct ws_exec *x)
{
	struct ws_launch *la = x->launch;
	struct ws_exec *e = eldest(la);

	if (ws_step_any_failed(x))
		return false;
	if (finish_copies(la))
		return true;
	if (e)
		ws_fail_barrier(e, e->resident[0]);
	else
		x->failed = true;
	return false;
}

/* The sum of all progress, and 1; 0: a warp can go on. */
static uint64_t stuck_at(const struct ws_launch *la)
{
	uint64_t sum = 1;

	for (uint32_t i = 0; i < la->nexec; i++) {
		if (!ws_all_stuck(&la->exec[i]))
			return 0;
		sum += ws_progress_of(&la->exec[i]);
	}
	return sum;
}

static bool all_in_circles(const struct ws_launch *la)
{
	for (uint32_t i = 0; i < la->nexec; i++)
		if (!ws_all_in_a_circle(&la->exec[i]))
			return false;
	return true;
}

bool ws_step_check(struct ws_exec *x)
{
	struct ws_launch *la = x->launch;
	struct ws_exec *first = &la->exec[0], *e = eldest(la);
	uint64_t at;

	for (uint32_t i = 0; i < la->nexec; i++)
		if (la->exec[i].failed || !ws_within_limits(&la->exec[i])) {
			la->exec[i].failed = true;
			return false;
		}
	at = e && !ws_step_more(x) ? stuck_at(la) : 0;
	if (!at || finish_copies(la))
		return true;
	if (first->last_progress == at && (all_in_circles(la) || ws_cpu_now() - first->looked_from > ws_silence(x->gpu))) {
		ws_fail_no_progress(e);
		return false;
	}
	if (first->last_progress == at)
		return true;
	first->last_progress = at;
	first->looked_from = ws_cpu_now();
	for (uint32_t i = 0; i < la->nexec; i++)
		ws_all_start_again(&la->exec[i]);
	return true;
}

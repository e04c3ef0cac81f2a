/* exec_mem.c - memory instructions of every kind: addresses are resolved to a space and a stretch of memory and
 * checked, the observer is told, bytes move. exec_mem.simd.c has the fast forms for what is common. */
#include "gpu/gpu_priv.h"

#include <stdatomic.h>
#include <string.h>

#define EACH_LANE(l, mask) \
	for (uint32_t m_ = (mask), l; m_ && (l = (uint32_t)__builtin_ctz(m_), true); m_ &= m_ - 1)

void ws_addresses(const uint8_t *regs, uint32_t reg, unsigned width, int32_t off, uint64_t *addr)
{
	if (width == 8)
		for (int l = 0; l < WS_WARP; l++)
			addr[l] = ((const uint64_t *)(const void *)(regs + reg))[l] + (uint64_t)(int64_t)off;
	else
		for (int l = 0; l < WS_WARP; l++)
			addr[l] = ((const uint32_t *)(const void *)(regs + reg))[l] + (uint32_t)off;
}

/* ---- resolution ---- */
static bool check_alignment(struct ws_exec *x, const struct ws_dinst *in, const struct ws_request *q,
                            const struct ws_resolved *r)
{
	uint64_t bits = 0;

	EACH_LANE(l, r->mask)
		bits |= r->addr[l];
	if (!(bits & (q->bytes - 1)))
		return true;
	EACH_LANE(l, r->mask)
		if (r->addr[l] & (q->bytes - 1)) {
			ws_fail_address(x, in, l, WS_GPU_MISALIGNED, r->space, r->addr[l], q->bytes, q->write,
			                "misaligned address");
			break;
		}
	return false;
}

static bool resolve_global(struct ws_exec *x, const struct ws_dinst *in, const struct ws_request *q,
                           struct ws_resolved *r)
{
	uint32_t first = (uint32_t)__builtin_ctz(q->mask);
	struct ws_mem *m = x->cache[q->cache].mem;

	if (!m || !ws_mem_holds(m, q->addr[first], q->bytes)) {
		m = ws_memmap_find(&x->gpu->map, q->addr[first]);
		if (!m || !ws_mem_holds(m, q->addr[first], q->bytes)) {
			ws_fail_address(x, in, first, WS_GPU_BAD_ADDRESS, WS_SPACE_GLOBAL, q->addr[first], q->bytes,
			                q->write,
			                "invalid address");
			return false;
		}
		x->cache[q->cache].mem = m;
	}
	r->space = WS_SPACE_GLOBAL;
	r->mem = m;
	r->mask = 0;
	EACH_LANE(l, q->mask)
		if (ws_mem_holds(m, q->addr[l], q->bytes)) {
			r->mask |= 1u << l;
			r->addr[l] = q->addr[l];
			r->host[l] = m->host + (q->addr[l] - m->addr);
		}
	return true;
}

/* The lanes whose address lies in a window, as offsets; the rest have another turn. */
static void window_lanes(const struct ws_request *q, uint64_t base, struct ws_resolved *r)
{
	r->mask = 0;
	EACH_LANE(l, q->mask) {
		if (base && q->addr[l] >> WS_WINDOW_SHIFT != base >> WS_WINDOW_SHIFT)
			continue;
		r->mask |= 1u << l;
		r->addr[l] = q->addr[l] - base;
	}
}

static bool bound(struct ws_exec *x, const struct ws_dinst *in, const struct ws_request *q, struct ws_resolved *r,
                  uint64_t size, const char *what)
{
	EACH_LANE(l, r->mask)
		if (r->addr[l] >= size || size - r->addr[l] < q->bytes) {
			ws_fail_address(x, in, l, WS_GPU_BAD_ADDRESS, r->space, r->addr[l], q->bytes, q->write, what);
			return false;
		}
	return true;
}

static bool resolve_window(struct ws_exec *x, const struct ws_dinst *in, const struct ws_request *q, unsigned space,
                           uint64_t base, struct ws_resolved *r)
{
	const struct ws_launch *la = x->launch;

	r->space = (uint8_t)space;
	r->mem = NULL;
	window_lanes(q, base, r);
	switch (space) {
	case WS_SPACE_LOCAL:
		if (!bound(x, in, q, r, x->warp->local ? x->launch->stack_bytes : 0, "local memory: out of bounds"))
			return false;
		EACH_LANE(l, r->mask)
			r->host[l] = x->warp->local + (uint64_t)l * la->stack_stride + r->addr[l];
		return true;
	default:
		if (!bound(x, in, q, r, q->write ? 0 : la->kernel->param_bytes, "kernel parameters: out of bounds"))
			return false;
		EACH_LANE(l, r->mask)
			r->host[l] = la->params + r->addr[l];
		return true;
	}
}

static void find_linear(const struct ws_request *q, struct ws_resolved *r)
{
	uint32_t first = (uint32_t)__builtin_ctz(r->mask);

	r->base = r->addr[first] - (uint64_t)first * q->bytes;
	r->linear = true;
	EACH_LANE(l, r->mask)
		if (r->addr[l] != r->base + (uint64_t)l * q->bytes) {
			r->linear = false;
			break;
		}
}

bool ws_resolve(struct ws_exec *x, const struct ws_dinst *in, const struct ws_request *q, struct ws_resolved *r)
{
	uint64_t a = q->addr[__builtin_ctz(q->mask)];
	bool ok;

	r->peer = NULL;
	switch (q->space) {
	case WS_SPACE_GLOBAL: case WS_SPACE_CONST:
		ok = resolve_global(x, in, q, r);
		break;
	case WS_SPACE_SHARED: case WS_SPACE_SHARED_CLUSTER:
		ok = ws_cluster_resolve(x, in, q, 0, r);
		break;
	case WS_SPACE_LOCAL: case WS_SPACE_PARAM:
		ok = resolve_window(x, in, q, q->space, 0, r);
		break;
	default:
		switch (a >> WS_WINDOW_SHIFT) {
		case WS_WINDOW_SHARED:
			ok = ws_cluster_resolve(x, in, q, WS_WINDOW(WS_WINDOW_SHARED), r);
			break;
		case WS_WINDOW_LOCAL:
			ok = resolve_window(x, in, q, WS_SPACE_LOCAL, WS_WINDOW(WS_WINDOW_LOCAL), r);
			break;
		case WS_WINDOW_PARAM:
			ok = resolve_window(x, in, q, WS_SPACE_PARAM, WS_WINDOW(WS_WINDOW_PARAM), r);
			break;
		default:
			ok = resolve_global(x, in, q, r);
		}
	}
	if (!ok || !check_alignment(x, in, q, r))
		return false;
	find_linear(q, r);
	return true;
}

bool ws_generic_read(void *core, uint32_t lane, uint64_t addr, void *dst, size_t n)
{
	struct ws_exec *x = core;
	uint64_t off = addr & (WS_WINDOW(1) - 1);
	const uint8_t *from = NULL;

	switch (addr >> WS_WINDOW_SHIFT) {
	case WS_WINDOW_SHARED:
		if (off <= x->shared_bytes && n <= x->shared_bytes - off)
			from = x->shared + off;
		break;
	case WS_WINDOW_LOCAL:
		if (x->warp->local && off <= x->launch->stack_bytes && n <= x->launch->stack_bytes - off)
			from = x->warp->local + (uint64_t)lane * x->launch->stack_stride + off;
		break;
	case WS_WINDOW_PARAM:
		if (off <= x->launch->kernel->param_bytes && n <= x->launch->kernel->param_bytes - off)
			from = x->launch->params + off;
		break;
	case 0:
		from = ws_memmap_host(&x->gpu->map, addr, n);
		break;
	default:
		break;
	}
	if (from)
		memcpy(dst, from, n);
	return from != NULL;
}

/* ---- the observer ---- */
bool ws_wants(const struct ws_exec *x, unsigned space)
{
	return x->ops && x->ops->access && ((space == WS_SPACE_GLOBAL && x->ops->needs & WS_NEED_GLOBAL) ||
	                                    (space == WS_SPACE_SHARED && x->ops->needs & WS_NEED_SHARED));
}

void ws_observe(struct ws_exec *x, const struct ws_dinst *in, const struct ws_resolved *r, struct ws_access *a)
{
	a->site = &x->frag->frame->code->fn->sites[in->site];
	a->mask = r->mask;
	a->space = r->space;
	a->linear = r->linear;
	a->base = r->base;
	a->addr = r->addr;
	a->mem = r->mem;
	a->peer = r->peer ? &r->peer->obs : NULL;
	if (a->kind == WS_WRITE && r->linear && !a->async) {
		uint32_t first = (uint32_t)__builtin_ctz(r->mask);

		a->target = r->host[first] - (uint64_t)first * a->bytes;
	}
	x->ops->access(x->self, &x->warp->obs, a);
}

/* Locks that order synchronizing accesses to one address with their callbacks; taken in rising order. */
void ws_stripes_lock(struct ws_exec *x, const struct ws_resolved *r, uint64_t *held)
{
	*held = 0;
	if (x->launch->nexec < 2 || r->space != WS_SPACE_GLOBAL)
		return;
	EACH_LANE(l, r->mask)
		*held |= 1ull << (r->addr[l] >> 4 & 63);
	for (uint64_t h = *held; h; h &= h - 1)
		pthread_mutex_lock(&x->gpu->stripes[__builtin_ctzll(h)]);
}

void ws_stripes_unlock(struct ws_exec *x, uint64_t held)
{
	for (; held; held &= held - 1)
		pthread_mutex_unlock(&x->gpu->stripes[__builtin_ctzll(held)]);
}

/* ---- ld, st ---- */
static uint32_t data_register(const struct ws_exec *x, const struct ws_dmem *m, unsigned i)
{
	return i < 4 ? m->d[i] : x->frag->frame->code->ext[m->ext][i - 4];
}

/* One element as one access, so that others see all of it or nothing. */
static uint64_t load_element(const uint8_t *p, unsigned size)
{
	switch (size) {
	case 1:
		return *(const volatile uint8_t *)p;
	case 2:
		return *(const volatile uint16_t *)(const void *)p;
	case 4:
		return *(const volatile uint32_t *)(const void *)p;
	default:
		return *(const volatile uint64_t *)(const void *)p;
	}
}

static void store_element(uint8_t *p, unsigned size, uint64_t v)
{
	switch (size) {
	case 1:
		*(volatile uint8_t *)p = (uint8_t)v;
		return;
	case 2:
		*(volatile uint16_t *)(void *)p = (uint16_t)v;
		return;
	case 4:
		*(volatile uint32_t *)(void *)p = (uint32_t)v;
		return;
	default:
		*(volatile uint64_t *)(void *)p = v;
	}
}

static void move_in(struct ws_exec *x, const struct ws_dmem *m, uint8_t *regs, const struct ws_resolved *r)
{
	unsigned shift = 64 - 8u * m->size;

	for (unsigned i = 0; i < m->vec; i++) {
		uint32_t reg = data_register(x, m, i);

		if (reg == WS_LANE_NONE)
			continue;
		EACH_LANE(l, r->mask) {
			uint64_t v = load_element(r->host[l] + i * m->size, m->size);

			if (m->flags & WS_DM_SIGNED && m->size < 8)
				v = (uint64_t)((int64_t)(v << shift) >> shift);
			memcpy(regs + reg + l * m->reg_width, &v, m->reg_width);
		}
	}
}

static void move_out(struct ws_exec *x, const struct ws_dmem *m, const uint8_t *regs, const struct ws_resolved *r)
{
	for (unsigned i = 0; i < m->vec; i++) {
		uint32_t reg = data_register(x, m, i);

		EACH_LANE(l, r->mask) {
			uint64_t v = 0;

			memcpy(&v, regs + reg + l * m->reg_width, m->reg_width);
			store_element(r->host[l] + i * m->size, m->size, v);
		}
	}
}

/* The values of a store, lane by lane. */
static void pack(struct ws_exec *x, const struct ws_dmem *m, const uint8_t *regs, uint32_t mask, uint8_t *out)
{
	unsigned bytes = m->size * m->vec;

	for (unsigned i = 0; i < m->vec; i++) {
		uint32_t reg = data_register(x, m, i);

		EACH_LANE(l, mask)
			memcpy(out + l * bytes + i * m->size, regs + reg + l * m->reg_width, m->size);
	}
}

/* A warp that polled so often and changed nothing pauses at its next backward branch: others should run. Every access
 * costs more when it is observed. */
enum { POLLS = 16, POLLS_OBSERVED = 4 };

static void remember_place(struct ws_places *p, uint64_t addr)
{
	for (uint32_t i = 0; i < p->n; i++)
		if (p->many || p->at[i] == addr)
			return;
	if (p->n < sizeof p->at / sizeof p->at[0])
		p->at[p->n++] = addr;
	else
		p->many = true;
}

void ws_remember_poll(struct ws_exec *x, const struct ws_dinst *in, uint64_t addr, unsigned space, uint32_t mask)
{
	struct ws_poll *p = &x->warp->poll;

	x->warp->polls++;
	p->in = in;
	p->code = x->frag->frame->code;
	p->addr = addr;
	p->mask = mask;
	p->space = (uint8_t)space;
	p->mbar = NULL;
	if (x->warp->idle >= WS_IDLE_FOR_LONG)
		remember_place(&x->warp->places, addr);
	if (p->progress != x->warp->progress) {
		p->progress = x->warp->progress;
		p->count = 0;
	}
	if (++p->count >= (x->ops ? POLLS_OBSERVED : POLLS)) {
		p->count = 0;
		x->budget = 0;
	}
}

void ws_remember_wait(struct ws_exec *x, const struct ws_dinst *in, uint64_t offset, struct ws_block *b, uint32_t mask)
{
	ws_remember_poll(x, in, offset, WS_SPACE_SHARED, mask);
	x->warp->poll.mbar = b;
	x->budget = 0;
}

static void tell(struct ws_exec *x, const struct ws_dinst *in, const uint8_t *regs, const struct ws_resolved *r)
{
	const struct ws_dmem *m = &in->u.mem;
	_Alignas(64) uint8_t values[WS_WARP * 64];
	struct ws_access a = {.kind = m->flags & WS_DM_STORE ? WS_WRITE : WS_READ, .sem = m->sem, .scope = m->scope,
	                      .bytes = (uint16_t)(m->size * m->vec), .nc = m->flags & WS_DM_NC, .issuer = WS_WARP};

	if (a.kind == WS_WRITE) {
		a.wrote = r->mask;
		if (x->ops->needs & WS_NEED_VALUES) {
			pack(x, m, regs, r->mask, values);
			a.value = values;
		}
	}
	ws_observe(x, in, r, &a);
}

/* Global memory while stores are kept back (held.c). */
static void move_held(struct ws_exec *x, const struct ws_dmem *m, uint8_t *regs, const struct ws_resolved *r)
{
	uint32_t bytes = (uint32_t)m->size * m->vec;
	uint8_t values[WS_WARP * 64];
	struct ws_resolved copy = *r;

	if (m->flags & WS_DM_STORE) {
		pack(x, m, regs, r->mask, values);
		ws_held_keep(x, r->host, r->mask, bytes, values);
		return;
	}
	EACH_LANE(l, r->mask) {
		copy.host[l] = values + l * bytes;
		memcpy(copy.host[l], r->host[l], bytes);
	}
	ws_held_patch(x->held, (const uintptr_t *)(const void *)r->host, r->mask, bytes, values);
	move_in(x, m, regs, &copy);
}

static void move(struct ws_exec *x, const struct ws_dinst *in, uint8_t *regs, const struct ws_resolved *r)
{
	const struct ws_dmem *m = &in->u.mem;
	bool store = m->flags & WS_DM_STORE, sync = m->flags & WS_DM_SYNC;

	if (store && sync)
		atomic_thread_fence(memory_order_release);
	if (x->held && r->space == WS_SPACE_GLOBAL && (store || x->held->count))
		move_held(x, m, regs, r);
	else if (store)
		move_out(x, m, regs, r);
	else
		move_in(x, m, regs, r);
	if (!store && sync) {
		atomic_thread_fence(memory_order_acquire);
		ws_remember_poll(x, in, r->addr[__builtin_ctz(r->mask)], r->space, r->mask);
	}
	if (store && !(m->flags & WS_DM_OWN))
		x->warp->progress++;
}

bool ws_mem_slow(struct ws_exec *x, const struct ws_dinst *in, uint8_t *regs, uint32_t mask)
{
	const struct ws_dmem *m = &in->u.mem;
	uint64_t addr[WS_WARP], held = 0;
	struct ws_request q = {.addr = addr, .mask = mask, .bytes = (uint32_t)m->size * m->vec, .space = m->space,
	                       .write = m->flags & WS_DM_STORE, .cache = m->cache};
	struct ws_resolved r;

	ws_addresses(regs, m->addr, m->addr_width, m->off, addr);
	for (; q.mask; q.mask &= ~r.mask) {
		if (!ws_resolve(x, in, &q, &r))
			return false;
		if (ws_wants(x, r.space)) {
			if (m->flags & WS_DM_SYNC)
				ws_stripes_lock(x, &r, &held);
			tell(x, in, regs, &r);
			move(x, in, regs, &r);
			ws_stripes_unlock(x, held);
			held = 0;
		} else {
			move(x, in, regs, &r);
		}
	}
	return true;
}

/* ---- atom, red ---- */
/* One lane's element of a lane array; 16 bytes are two arrays of halves (lanes.h). */
static void get_lane(void *dst, const void *array, unsigned width, uint32_t l)
{
	const uint8_t *a = array;

	if (width < 16) {
		memcpy(dst, a + l * width, width);
		return;
	}
	memcpy(dst, a + l * 8, 8);
	memcpy((uint8_t *)dst + 8, a + (WS_WARP + l) * 8, 8);
}

static void put_lane(void *array, const void *src, unsigned width, uint32_t l)
{
	uint8_t *a = array;
	const uint8_t *s = src;

	if (width < 16) {
		memcpy(a + l * width, s + l * width, width);
		return;
	}
	memcpy(a + l * 8, s + l * 8, 8);
	memcpy(a + (WS_WARP + l) * 8, s + (WS_WARP + l) * 8, 8);
}

/* Did a lane put in something else than was there? Of one that compares, what was there is what it compares with. */
static bool puts_another(unsigned width, uint32_t lanes, const uint8_t *was, const uint8_t *new)
{
	unsigned part = width < 8 ? width : 8;

	EACH_LANE(l, lanes)
		if (memcmp(was + l * part, new + l * part, part) || (width > 8 && memcmp(was + (WS_WARP + l) * 8, new + (WS_WARP + l) * 8, 8)))
			return true;
	return false;
}

/* What words of up to eight bytes would become is found by doing it again, to copies of what was there. */
static bool becomes_another(const struct ws_datom *t, uint32_t lanes, const uint8_t *old, const struct ws_atomic_args *done)
{
	_Alignas(64) uint8_t word[WS_WARP * 8];
	uint8_t *host[WS_WARP];
	struct ws_atomic_args again = { .host = host, .a = { done->a[0] }, .mask = lanes };

	memcpy(word, old, (size_t)WS_WARP * t->width);
	EACH_LANE(l, lanes)
		host[l] = word + l * t->width;
	(t->shared ? t->shared : t->global)(&again);
	return puts_another(t->width, lanes, old, word);
}

/* Lanes whose operation changed nothing may be polling: atomicExch(&lock, 1) of a taken lock, atomicAdd(p, 0), atomicMax(p, 0), a
 * compare-and-swap that failed or had nothing else to put in. */
static bool changed(const struct ws_datom *t, uint32_t lanes, const struct ws_atomic_args *done)
{
	static const uint8_t nothing[WS_WARP * 8];
	const uint8_t *old = done->d[0], *operand = done->a[0];

	if (!lanes || t->n > 1)
		return lanes != 0;
	switch (t->atom) {
	case WS_ATOM_CAS: return puts_another(t->width, lanes, operand, done->b);
	case WS_ATOM_EXCH: return puts_another(t->width, lanes, old, operand);
	case WS_ATOM_ADD: case WS_ATOM_XOR: return puts_another(t->width, lanes, nothing, operand);
	default: return becomes_another(t, lanes, old, done);
	}
}

static void remember_holders(struct ws_exec *x, const struct ws_dinst *in, const uint64_t *addr, unsigned space,
                             uint32_t wrote, const uint8_t *old, const uint8_t *operand)
{
	const struct ws_datom *t = in->u.op.ptr;

	EACH_LANE(l, wrote) {
		if (t->n > 1 || t->width > 8 ||
		    (t->atom == WS_ATOM_EXCH && !memcmp(old + l * t->width, operand + l * t->width, t->width)))
			continue;        /* put in what was there: the lock was taken already */
		x->holders[ws_holder_slot(addr[l])] = (struct ws_holder){
			.addr = addr[l], .block = x->block->obs.linear, .code = x->frag->frame->code, .site = in->site,
			.thread = x->warp->obs.index * WS_WARP + l, .space = (uint8_t)space,
		};
	}
}

void ws_atomic_progress(struct ws_exec *x, const struct ws_dinst *in, const uint64_t *addr, unsigned space, uint32_t wrote,
                        const struct ws_atomic_args *done)
{
	const struct ws_datom *t = in->u.op.ptr;

	if (!changed(t, wrote, done)) {
		ws_remember_poll(x, in, addr[__builtin_ctz(done->mask)], space, done->mask);
		return;
	}
	x->warp->progress++;
	if (t->atom == WS_ATOM_CAS || t->atom == WS_ATOM_EXCH)
		remember_holders(x, in, addr, space, wrote, done->d[0], done->a[0]);
}

static void atomic_move(struct ws_exec *x, const struct ws_dinst *in, struct ws_resolved *r, bool tell_observer)
{
	const struct ws_datom *t = in->u.op.ptr;
	uint8_t *regs = x->frag->frame->regs;
	_Alignas(64) uint64_t scratch[WS_ATOMIC_VEC][2 * WS_WARP];
	_Alignas(64) uint8_t packed[WS_WARP * 64];
	struct ws_atomic_args args = {.host = r->host, .mask = r->mask};
	ws_atomic_fn *fn = r->space == WS_SPACE_GLOBAL ? t->global : t->shared;
	uint32_t wrote;

	for (unsigned i = 0; i < t->n; i++) {
		args.a[i] = regs + t->a[i];
		args.d[i] = scratch[i];
	}
	args.b = t->b == WS_LANE_NONE ? NULL : regs + t->b;
	wrote = fn(&args);
	if (!r->mem || !r->mem->inserted)
		ws_atomic_progress(x, in, r->addr, r->space, wrote, &args);
	if (tell_observer) {
		struct ws_access a = {.kind = WS_ATOMIC, .wrote = wrote, .sem = t->sem, .scope = t->scope,
		                      .atom = t->atom, .bytes = t->bytes, .issuer = WS_WARP};

		for (unsigned i = 0; i < t->n; i++)
			EACH_LANE(l, r->mask)
				get_lane(packed + l * t->bytes + i * t->width, scratch[i], t->width, l);
		a.value = packed;
		ws_observe(x, in, r, &a);
	}
	for (unsigned i = 0; i < t->n; i++)
		if (t->d[i] != WS_LANE_NONE)
			EACH_LANE(l, r->mask)
				put_lane(regs + t->d[i], scratch[i], t->width, l);
}

enum ws_next ws_op_atomic(struct ws_exec *x, const struct ws_dinst *in, uint32_t mask)
{
	const struct ws_datom *t = in->u.op.ptr;
	uint64_t addr[WS_WARP], held;
	struct ws_request q = {.addr = addr, .mask = mask, .bytes = t->bytes, .space = t->space, .write = true,
	                       .cache = t->cache};
	struct ws_resolved r;

	if (t->fast && ws_mem_ops()->atomic(x, in, x->frag->frame->regs, mask))
		return WS_NEXT;
	ws_addresses(x->frag->frame->regs, t->addr, t->addr_width, t->off, addr);
	for (; q.mask; q.mask &= ~r.mask) {
		bool watched;

		if (!ws_resolve(x, in, &q, &r))
			return WS_STOP;
		watched = ws_wants(x, r.space);
		held = 0;
		if (watched)
			ws_stripes_lock(x, &r, &held);
		atomic_move(x, in, &r, watched);
		ws_stripes_unlock(x, held);
	}
	return WS_NEXT;
}

/* ---- the choice of a form ---- */
const struct ws_mem_ops *ws_mem_ops(void)
{
	static const struct ws_mem_ops *chosen;
	const struct ws_mem_ops *o = __atomic_load_n(&chosen, __ATOMIC_RELAXED);

	if (o)
		return o;
	o = &ws_mem_ops_base;
#if defined __x86_64__ && !defined WS_ONE_ISA
	if (!strcmp(ws_lanes_isa(), "v3"))
		o = &ws_mem_ops_v3;
	if (!strcmp(ws_lanes_isa(), "v4"))
		o = &ws_mem_ops_v4;
#endif
	__atomic_store_n(&chosen, o, __ATOMIC_RELAXED);
	return o;
}

bool ws_gpu_note_mark(struct ws_note_log *g, uint32_t warp, uint32_t mask, uint32_t kind, uint32_t bytes,
                      const uint64_t addr[WS_WARP])
{
	return ws_mem_ops()->mark(g, warp, mask, kind, bytes, addr);
}

uint32_t ws_gpu_lanes_at(const uint64_t addr[WS_WARP], uint64_t origin, const uint32_t word[WS_WARP])
{
	return ws_mem_ops()->at(addr, origin, word);
}

uint32_t ws_gpu_lanes_in(const uint64_t addr[WS_WARP], uint64_t from, uint64_t bytes)
{
	return ws_mem_ops()->in(addr, from, bytes);
}

uint32_t ws_gpu_lanes_same(const uint64_t addr[WS_WARP], const uint64_t other[WS_WARP])
{
	return ws_mem_ops()->same(addr, other);
}

/* Accesses that others may wait for: as fast as others, between fences. */
static bool mem_sync(struct ws_exec *x, const struct ws_dinst *in, uint8_t *regs, uint32_t mask)
{
	const struct ws_dmem *m = &in->u.mem;
	uint64_t addr[WS_WARP];
	unsigned space = m->space;

	if (m->flags & WS_DM_STORE) {
		atomic_thread_fence(memory_order_release);
		return ws_mem_ops()->any(x, in, regs, mask);
	}
	ws_addresses(regs, m->addr, m->addr_width, m->off, addr);
	if (!ws_mem_ops()->any(x, in, regs, mask))
		return false;
	atomic_thread_fence(memory_order_acquire);
	if (space == WS_SPACE_GENERIC && addr[__builtin_ctz(mask)] >> WS_WINDOW_SHIFT == WS_WINDOW_SHARED) {
		space = WS_SPACE_SHARED;
		addr[__builtin_ctz(mask)] -= WS_WINDOW(WS_WINDOW_SHARED);
	}
	ws_remember_poll(x, in, addr[__builtin_ctz(mask)], space, mask);
	return true;
}

ws_mem_fn *ws_mem_choose(const struct ws_gpu *g, const struct ws_dmem *m)
{
	const struct ws_mem_ops *o = ws_mem_ops();
	bool store = m->flags & WS_DM_STORE, simple = m->vec == 1 && m->size == m->reg_width && m->size >= 4;
	bool global = m->space == WS_SPACE_GLOBAL || m->space == WS_SPACE_CONST;

	if (m->space == WS_SPACE_PARAM || m->space == WS_SPACE_SHARED_CLUSTER)
		return ws_mem_slow;
	if (m->flags & WS_DM_SYNC)       /* observed on several host threads, effect and callback share a lock */
		return g->config.observer && g->config.host_threads > 1 ? ws_mem_slow : mem_sync;
	if (!simple || m->d[0] == WS_LANE_NONE || m->space == WS_SPACE_GENERIC || m->space == WS_SPACE_LOCAL)
		return o->any;
	return global ? o->global[store][m->size == 8] : o->shared[store][m->size == 8];
}

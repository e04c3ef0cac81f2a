/* shadow_report.c - from two accesses in conflict to a report (shadow_priv.h).
 *
 * count: how many accesses of single threads met an earlier one that they are not ordered after, as seen by the
 * detector; neighbouring bytes of one such meeting are one. Meetings of one pair of instructions are told to the
 * report once, and their number at the end of the launch. */
#include "base/demangle.h"
#include "detect/depend.h"
#include "detect/shadow_priv.h"
#include "report/advice.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct pair {
	uint32_t site1, site2;
	uint8_t kind, space, severity;
	uint8_t reach;                       /* enum reach of the example in race */
	uint64_t pending;
	struct ws_race race;
};

struct ws_dedup {
	struct pair **pairs;
	size_t cap, n;
};

/* How far apart the two threads of an example are. The widest one is shown: its repair also covers the nearer ones. */
enum reach { REACH_WARP, REACH_BLOCK, REACH_CLUSTER, REACH_GRID };

/* A conflict in the making. */
struct meeting {
	struct ws_ctx *c;
	const struct ws_slot *other;
	enum ws_class cls1;
	uint32_t lane1, lane2, lo, hi;
	bool same_instruction, same_value, dependency;
	bool same_block, same_warp;
	struct ws_race race;
	struct ws_buf missing, repair, location;
};

static const struct ws_site *site1_of(const struct meeting *m)
{
	uint32_t id = m->other->site & SITE_ID;

	return m->c->s->sites[id >> CHUNK_BITS][id & (CHUNK - 1)].site;
}

static const struct ws_site_info *info_of(const struct ws_ctx *c, uint32_t site)
{
	return &c->s->sites[(site & SITE_ID) >> CHUNK_BITS][site & (CHUNK - 1)];
}

static bool is_write(enum ws_class cls)
{
	return cls != CLS_READ && cls != CLS_SREAD;
}

static enum ws_race_kind kind_of(enum ws_class first, enum ws_class second)
{
	if (is_write(first))
		return is_write(second) ? WS_WAW : WS_RAW;
	return WS_WAR;
}

/* ---- same value ---- */
static const uint8_t *bytes_at(const struct ws_ctx *c, uint64_t addr)
{
	if (c->global)
		return c->mem && c->mem->host ? c->mem->host + (addr - c->mem->addr) : NULL;
	return c->owner->b->shared ? c->owner->b->shared + addr : NULL;
}

/* Puts into `bytes` what the n from addr on are when the other write is done; false: they are not known. */
static bool left_by_other(const struct meeting *m, uint64_t addr, uint32_t n, uint8_t *bytes)
{
	const struct ws_ctx *c = m->c;
	uint64_t who = m->other->who, block = ws_shadow_slot(c->s, (uint32_t)(who >> 32))->block;
	uint32_t found = 0;
	const uint8_t *at;

	if (c->global && c->s->latest)
		found = ws_latest_find(c->s->latest, block, (uint32_t)who >> WHO_TIME_BITS, site1_of(m), m->lane1, addr, n, bytes);
	at = bytes_at(c, addr);
	for (uint32_t i = 0; at && i < n; i++)
		if (!(found >> i & 1))
			bytes[i] = at[i];
	return at != NULL;
}

/* Would the write leave the bytes of the meeting as they are (as the other lane leaves them)? Only bytes that are
 * really written count: a coarse granularity widens lo..hi. */
static bool leaves_same(const struct meeting *m)
{
	const struct ws_ctx *c = m->c;
	const struct ws_access *a = c->a;
	uint64_t addr = a->addr ? a->addr[m->lane2] : a->base + (uint64_t)m->lane2 * a->bytes;
	uint64_t from = c->line_addr + m->lo > addr ? c->line_addr + m->lo : addr;
	uint64_t to = c->line_addr + m->hi < addr + a->bytes ? c->line_addr + m->hi : addr + a->bytes;
	const uint8_t *new = a->value;
	uint8_t old[WS_WARP];

	if (!new || a->kind != WS_WRITE || from >= to || to - from > sizeof old)
		return false;
	new += (size_t)m->lane2 * a->bytes + (from - addr);
	if (m->same_instruction) {
		memcpy(old, (const uint8_t *)a->value + (size_t)m->lane1 * a->bytes + (from - a->addr[m->lane1]), to - from);
	} else if (!left_by_other(m, from, (uint32_t)(to - from), old)) {
		return false;
	}
	return !memcmp(new, old, to - from);
}

/* ---- words ---- */
static enum ws_race_access_kind access_of(enum ws_class cls, const struct ws_site_info *i)
{
	if (i->kind == WS_ATOMIC)
		return WS_RA_ATOMIC;
	return is_write(cls) ? WS_RA_WRITE : WS_RA_READ;
}

/* The places of the two accesses in their function, as instruction numbers; false: not in one function. */
static bool in_order(const struct meeting *m, uint32_t *low, uint32_t *high)
{
	const struct ws_site *s1 = site1_of(m), *s2 = m->c->a->site;

	if (!s1->inst || !s2->inst || !s1->func || s1->func != s2->func)
		return false;
	*low = s1->inst->index < s2->inst->index ? s1->inst->index : s2->inst->index;
	*high = s1->inst->index < s2->inst->index ? s2->inst->index : s1->inst->index;
	return true;
}

/* Is there a jump back around both? The compiler keeps a loop's code together. */
static bool in_loop(const struct meeting *m)
{
	const struct ws_ptx_func *f = m->c->a->site->func;
	uint32_t low, high;

	if (!in_order(m, &low, &high))
		return true;
	for (uint32_t i = high; i < f->ninsts; i++)
		for (unsigned n = 0; f->insts[i].op == WS_OP_bra && n < f->insts[i].nops; n++)
			if (f->insts[i].ops[n].kind == WS_O_LABEL && f->labels[f->insts[i].ops[n].label].inst <= low)
				return true;
	return false;
}

/* Does the code between the two accesses have one of these instructions? */
static bool has_between(const struct meeting *m, enum ws_op one, enum ws_op other)
{
	const struct ws_ptx_func *f = m->c->a->site->func;
	uint32_t low = 0, high = 0;

	if (!in_order(m, &low, &high))
		return false;
	for (uint32_t i = low; i < f->ninsts && i < high; i++)
		if (f->insts[i].op == one || f->insts[i].op == other)
			return true;
	return false;
}

static bool barrier_between(const struct meeting *m)
{
	return has_between(m, WS_OP_bar, WS_OP_barrier);
}

/* Is the line in a loop, perhaps one that the compiler has unrolled (then it has several such instructions)? */
static bool repeated(const struct meeting *m)
{
	const struct ws_ptx_func *f = m->c->a->site->func;
	const struct ws_ptx_inst *i = m->c->a->site->inst;
	uint32_t n = 0;

	for (uint32_t j = 0; f && i && i->loc && j < f->ninsts; j++) {
		const struct ws_ptx_inst *x = &f->insts[j];

		n += x->op == i->op && x->space == i->space && x->loc && x->loc->line == i->loc->line && x->loc->file == i->loc->file;
	}
	return in_loop(m) || n > 1;
}

/* What advice.h wants to know of the code around the two, to say where something is to be put. */
static struct ws_advice advice_of(const struct meeting *m)
{
	const struct ws_site *s1 = site1_of(m), *s2 = m->c->a->site;
	struct ws_advice a = {.race = &m->race, .same_block = m->same_block, .same_warp = m->same_warp && m->c->its};
	uint32_t low, high;

	a.one_function = in_order(m, &low, &high);
	a.backward = a.one_function && s1->inst->index > s2->inst->index;
	a.loop = in_loop(m);
	a.repeated = repeated(m);
	a.barrier = barrier_between(m);
	return a;
}

/* Where between the two accesses something is to be added. */
static void between(struct meeting *m)
{
	struct ws_advice a = advice_of(m);

	ws_race_between(&a, &m->repair);
}

/* "name", or "name+offset", of a lock word. */
static void lock_word(struct ws_buf *b, const struct ws_shadow *s, uint64_t word)
{
	bool shared = word >> 63;
	uint64_t at = word << 1 >> 1;
	const struct ws_obs_launch *l = s->launch.l;
	struct ws_mem *mem = s->gpu && !shared ? ws_gpu_mem_find(s->gpu, at) : NULL;
	uint32_t start = 0;
	const char *name = mem ? mem->name : NULL;

	if (shared && l && l->kernel)
		name = ws_gpu_shared_var(l->kernel, (uint32_t)at, &start);
	if (name) {
		char *plain = ws_plain_variable(name, shared);

		ws_buf_puts(b, plain);
		free(plain);
		at -= mem ? mem->addr : start;
		if (at)
			ws_buf_printf(b, "+%" PRIu64, at);
	} else if (mem) {
		ws_buf_printf(b, "allocation #%" PRIu64 "+%" PRIu64, mem->serial, at - mem->addr);
	} else {
		ws_buf_printf(b, shared ? "shared+%" PRIu64 : "%#" PRIx64, at);
	}
}

static void lock_words(struct ws_buf *b, const struct ws_shadow *s, uint32_t set)
{
	const struct ws_held *h = &s->locksets[set];

	if (set == LOCKSET_MANY) {
		ws_buf_puts(b, "some lock");
		return;
	}
	ws_buf_puts(b, "{");
	for (int i = 0; set && i < h->n; i++) {
		ws_buf_puts(b, i ? ", " : "");
		lock_word(b, s, h->addr[i]);
	}
	ws_buf_puts(b, "}");
}

static void words(struct meeting *m, const char *category, const char *missing)
{
	m->race.category = category;
	ws_buf_puts(&m->missing, missing);
}

static bool common_lock(const struct ws_shadow *s, uint32_t set1, uint32_t set2)
{
	const struct ws_held *x = &s->locksets[set1], *y = &s->locksets[set2];

	for (int i = 0; set1 != LOCKSET_MANY && set2 != LOCKSET_MANY && i < x->n; i++)
		for (int j = 0; j < y->n; j++)
			if (x->addr[i] == y->addr[j])
				return true;
	return false;
}

/* Two blocks, and the fences of both are for one block only. */
static bool fenced_too_near(const struct meeting *m)
{
	uint8_t flags = ws_shadow_slot(m->c->s, m->other->who >> 32)->flags, mine = ws_shadow_slot(m->c->s, m->c->slot)->flags;

	return !m->same_block && flags & mine & SLOT_FENCED_CTA && !((flags | mine) & SLOT_FENCED);
}

/* Both threads hold the lock. */
static void say_lock_fences(struct meeting *m, uint32_t set)
{
	uint8_t flags = ws_shadow_slot(m->c->s, m->other->who >> 32)->flags, mine = ws_shadow_slot(m->c->s, m->c->slot)->flags;
	bool fenced = !m->same_block && flags & mine & SLOT_FENCED;

	words(m, "missing-fence", fenced ? "order at the lock: both threads hold " : "fences at the lock: both threads hold ");
	lock_words(&m->missing, m->c->s, set);
	ws_buf_puts(&m->missing, ", but taking and releasing it orders nothing else");
	if (fenced)
		ws_buf_puts(&m->repair, "the atomics of the lock must reach both blocks (none with _block or .cta), with __threadfence() "
		                        "after it is taken and before it is released");
	else if (fenced_too_near(m))
		ws_buf_puts(&m->repair, "use __threadfence() instead of __threadfence_block() at the lock");
	else
		ws_buf_printf(&m->repair, "add %s after the lock is taken and before it is released",
		              m->same_block ? "__threadfence_block()" : "__threadfence()");
}

static void say_lock(struct meeting *m, uint32_t set1, uint32_t set2)
{
	if (common_lock(m->c->s, set1, set2)) {
		say_lock_fences(m, set2);
		return;
	}
	words(m, "lock", "a common lock: the first thread holds ");
	lock_words(&m->missing, m->c->s, set1);
	ws_buf_puts(&m->missing, ", the second ");
	lock_words(&m->missing, m->c->s, set2);
	if (set1 && set2) {
		ws_buf_puts(&m->repair, "both threads must hold the same lock around their accesses");
		return;
	}
	ws_buf_puts(&m->repair, "hold ");
	lock_words(&m->repair, m->c->s, set1 ? set1 : set2);
	ws_buf_puts(&m->repair, ws_race_same_line(&m->race) ? " in every thread around " : " around ");
	ws_race_line(&m->repair, set1 ? &m->race.second : &m->race.first, NULL);
	ws_buf_puts(&m->repair, ws_race_same_line(&m->race) ? "" : " too");
}

static bool same_address(const struct ws_ptx_inst *i, const struct ws_ptx_inst *j)
{
	const struct ws_operand *a = ws_ptx_address(i), *b = ws_ptx_address(j);

	return a && b && a->reg == b->reg && a->sym == b->sym && a->offset == b->offset;
}

/* Is the instruction half of an update, a load and a store of one address in one source line? */
static bool half_of_update(const struct ws_site *s)
{
	const struct ws_ptx_inst *i = s->inst;
	uint32_t other = i->op == WS_OP_ld ? WS_OP_st : WS_OP_ld;

	for (uint32_t n = 0; n < s->func->ninsts; n++) {
		const struct ws_ptx_inst *j = &s->func->insts[n];

		if (j->op == other && i->loc && j->loc && i->loc->line == j->loc->line && i->loc->file == j->loc->file &&
		    same_address(i, j))
			return true;
	}
	return false;
}

/* Both threads update the value in one line ("count[i]++"): more order would not be the answer. */
static bool wants_atomic(const struct meeting *m)
{
	const struct ws_site *s1 = site1_of(m), *s2 = m->c->a->site;

	if (!s1->inst || !s2->inst || !s1->func || s1->func != s2->func || !ws_race_same_line(&m->race))
		return false;
	return same_address(s1->inst, s2->inst) && half_of_update(s1) && half_of_update(s2);
}

static void say_update(struct meeting *m)
{
	ws_buf_puts(&m->repair, "use atomicAdd() or another atomic operation in ");
	ws_race_line(&m->repair, &m->race.first, NULL);
}

/* Would a fence in a thread of this block, after the atomic or flag that it read, have ordered the two accesses? Then the
 * other side did all it had to. */
static bool lacks_acquire_only(const struct meeting *m)
{
	const struct ws_block_state *b = m->c->b;
	uint64_t who = m->other->who;
	uint32_t thread = (uint32_t)(who >> WHO_TIME_BITS & 31) * WS_WARP + m->lane1;
	uint32_t lanes = m->c->its ? WS_WARP : 1;    /* as ws_warp_state.lane holds */

	for (uint32_t i = 0; i < b->nwarps; i++)
		for (uint32_t l = 0; b->warps[i].lane && l < lanes; l++)
			if (ws_know_covers(b->warps[i].lane[l].pend[LV_GPU].k, who >> 32, thread, who & WHO_TIME))
				return true;
	return false;
}

static void say_acquire(struct meeting *m)
{
	words(m, "missing-fence", "a fence after the atomic or flag that was read; the writer's fence alone does not order the "
	      "reader's loads (PTX memory model, acquire pattern)");
	ws_buf_puts(&m->repair, "add __threadfence() after the flag is read, in the thread that reads it and before a "
	                        "__syncthreads() that lets others go on, ahead of ");
	ws_race_line(&m->repair, &m->race.second, NULL);
}

/* Did the other block set flags or counters, and did this one see some that another block had set? */
static bool told_by_flag(const struct meeting *m)
{
	return ws_shadow_slot(m->c->s, m->other->who >> 32)->flags & SLOT_PUBLISHED && m->c->b->saw_flag;
}

/* May the instruction tell other threads of what came before it, or lead to one that does? */
static bool may_tell(const struct ws_ptx_inst *i)
{
	uint32_t fx = ws_op_info(i->op)->fx;
	bool strong = fx & WS_FX_WRITE && (i->sem != WS_SEM_NONE && i->sem != WS_SEM_WEAK);

	return strong || fx & (WS_FX_ATOMIC | WS_FX_ASYNC | WS_FX_SYNC | WS_FX_CALL);
}

/* Can a flag or an atomic come after the first access, in any thread that goes on from there? In a function that kernels call: yes. */
static bool told_later(const struct meeting *m)
{
	const struct ws_site *s = site1_of(m);
	const struct ws_ptx_func *f = s->func;

	if (!f || !s->inst || !f->entry || !f->nblocks)
		return true;
	for (uint32_t i = 0; i < f->ninsts; i++) {
		const struct ws_ptx_inst *x = &f->insts[i];
		bool same = x->block == s->inst->block && i > s->inst->index;

		if (may_tell(x) && (same || ws_ptx_block_reaches(f, s->inst->block, x->block, NULL)))
			return true;
	}
	return false;
}

/* Nothing in the program tells one block of the other's access. */
static void say_no_order(struct meeting *m)
{
	const struct ws_obs_launch *l = m->c->s->launch.l;
	bool grid = l && l->cooperative, once = m->race.kind == WS_WAW && ws_race_same_line(&m->race) && !repeated(m);

	words(m, "inter-block", grid ? "grid.sync() between the two: nothing else orders two blocks by itself" :
	                               "order between two blocks: nothing in a kernel orders them by itself");
	if (wants_atomic(m)) {
		say_update(m);
	} else if (grid && !once) {
		ws_buf_puts(&m->repair, "add grid.sync() ");
		between(m);
		ws_buf_puts(&m->repair, ", or pass the value on through a flag with __threadfence() on both sides");
	} else {
		ws_buf_puts(&m->repair, m->race.kind == WS_WAW ? "let one block alone write it, or use atomic operations" :
		            "split the kernel in two, or pass the value on through a flag with __threadfence() on both sides");
	}
}

static void say_between_blocks(struct meeting *m)
{
	uint8_t flags = ws_shadow_slot(m->c->s, m->other->who >> 32)->flags;
	uint8_t mine = ws_shadow_slot(m->c->s, m->c->slot)->flags;
	const struct ws_race *r = &m->race;

	const struct ws_obs_launch *l = m->c->s->launch.l;

	if (!told_by_flag(m) || !told_later(m)) {
		say_no_order(m);
	} else if (lacks_acquire_only(m)) {
		say_acquire(m);
	} else if (flags & SLOT_FENCED && mine & SLOT_FENCED && l && l->cooperative) {    /* grid.sync() elsewhere does that */
		say_no_order(m);
	} else if (flags & SLOT_FENCED && mine & SLOT_FENCED) {
		words(m, "missing-fence", "a fence of the same thread between the access and the atomic or flag that tells of it");
		ws_buf_puts(&m->repair, "every thread that sets a flag on the way from ");
		ws_race_line(&m->repair, &r->first, &r->second);
		ws_buf_puts(&m->repair, " to ");
		ws_race_line(&m->repair, &r->second, &r->first);
		ws_buf_puts(&m->repair, " needs __threadfence() before it (and after the __syncthreads() that collects other threads' "
		                        "accesses), every thread that reads one __threadfence() after it");
	} else if ((flags & SLOT_FENCED_CTA && !(flags & SLOT_FENCED)) || (mine & SLOT_FENCED_CTA && !(mine & SLOT_FENCED))) {
		words(m, "scope", "a fence, release or acquire that holds both threads: it is .cta, the other thread is in another block");
		ws_buf_puts(&m->repair, "use __threadfence() instead of __threadfence_block() (.gpu instead of .cta)");
	} else if (!(flags & SLOT_FENCED)) {
		words(m, "missing-fence", "a fence between the access and the atomic or flag that tells of it");
		ws_buf_puts(&m->repair, "add __threadfence() after ");
		ws_race_line(&m->repair, &r->first, &r->second);
		ws_buf_puts(&m->repair, " before the flag is set");
		if (!(mine & SLOT_FENCED)) {
			ws_buf_puts(&m->repair, ", and one after the flag is read, in the thread that reads it, ahead of ");
			ws_race_line(&m->repair, &r->second, &r->first);
		}
	} else {
		words(m, "missing-fence", "a fence between the atomic or flag that was read and the access");
		ws_buf_puts(&m->repair, "add __threadfence() after the flag is read, before ");
		ws_race_line(&m->repair, &r->second, NULL);
	}
}

/* Threads of the block may also tell each other by a flag, a lock of their own making or an mbarrier object. */
static void say_flag_in_block(struct meeting *m)
{
	uint8_t flags = ws_shadow_slot(m->c->s, m->other->who >> 32)->flags;
	const struct ws_ptx_func *f = m->c->a->site->func;
	bool object = false;

	for (uint32_t i = 0; f && i < f->ninsts; i++)
		object |= f->insts[i].op == WS_OP_mbarrier;
	if (object)
		ws_buf_puts(&m->repair, ", or wait for the phase of the barrier object in which the other thread arrives after its access");
	else if (flags & SLOT_PUBLISHED)
		ws_buf_puts(&m->repair, "; if an atomic or a flag is to order them, __threadfence_block() before it is set and after it "
		                        "is read");
}

static void say_same_block(struct meeting *m)
{
	bool shared = !m->c->global;

	if (m->same_warp && m->c->its) {
		words(m, "warp", "__syncwarp(): the threads of a warp do not run in step");
	} else {
		words(m, "missing-barrier", shared ? "a barrier between threads of the block" :
		      "a barrier between threads of the block (global memory)");
	}
	if (wants_atomic(m)) {
		say_update(m);
		say_flag_in_block(m);
		return;
	}
	if (m->race.kind == WS_WAW && ws_race_same_line(&m->race) && !repeated(m)) {
		ws_buf_puts(&m->repair, "let one thread write it, or give each thread a place of its own");
		return;
	}
	if (!m->same_warp && barrier_between(m) && !repeated(m)) {
		struct ws_advice a = advice_of(m);

		ws_race_wrong_barrier(&a, &m->repair);
		return;
	}
	ws_buf_puts(&m->repair, m->c->proxy && m->race.kind != WS_WAR ? "add fence.proxy.async and " : "add ");
	ws_buf_puts(&m->repair, m->same_warp && m->c->its ? "__syncwarp() " : "__syncthreads() ");
	between(m);
	say_flag_in_block(m);
}

static void say_strong(struct meeting *m, const struct ws_site_info *i1, const struct ws_site_info *i2)
{
	if (i1->whole && i2->whole && i1->whole != i2->whole) {
		words(m, "mixed-size", "atomicity: the two accesses overlap with different sizes");
		ws_buf_puts(&m->repair, "use one size for all atomic accesses to these bytes");
	} else {
		words(m, "scope", "a scope that holds both threads: an atomic of .cta scope does not reach another block");
		ws_buf_puts(&m->repair, "use the atomic without _block, or thread_scope_device");
	}
}

static void say_atomic_plain(struct meeting *m, bool second_strong)
{
	const struct ws_race *r = &m->race;

	words(m, "atomic-plain", "atomicity of both: one access is atomic or volatile, the other is not");
	ws_buf_puts(&m->repair, (second_strong ? r->first : r->second).access == WS_RA_READ ? "read it with an atomic load in " :
	            "use an atomic operation in ");
	ws_race_line(&m->repair, second_strong ? &r->first : &r->second, NULL);
	if (m->same_block) {
		ws_buf_puts(&m->repair, ", or add __syncthreads() ");
		between(m);
	}
}

/* ---- asynchronous operations ---- */
static const char *wait_for(const struct ws_site_info *i)
{
	switch (i->async) {
	case WS_ASYNC_CP: return "cp.async.wait_group (__pipeline_wait_prior(0), cuda::pipeline's consumer_wait())";
	case WS_ASYNC_BULK: return "cp.async.bulk.wait_group";
	case WS_ASYNC_WGMMA: return "wgmma.wait_group";
	default: return "a wait for the phase of the mbarrier object that the operation completes (cuda::barrier's wait())";
	}
}

/* Does the thread that started the earlier operation know that it is complete? */
static bool issuer_waited(const struct meeting *m)
{
	const struct ws_slot_info *i = ws_shadow_slot(m->c->s, m->other->who >> 32);
	const struct ws_warp_state *w = &m->c->b->warps[m->other->who >> WHO_TIME_BITS & 31];

	return i->agent < AG_LANES && m->same_block && w->async &&
	       i->base + (m->other->who & WHO_TIME) <= w->async->done[i->agent][m->c->its ? m->lane1 : 0];
}

/* The code waits for the operation before the access, but this one is of the loop's next round. */
static bool is_next_round(const struct meeting *m, const struct ws_site_info *i1)
{
	const struct ws_site *s1 = site1_of(m), *s2 = m->c->a->site;
	uint32_t low, high;

	if (!in_order(m, &low, &high) || !repeated(m))
		return false;
	if (s1->inst->index > s2->inst->index)
		return ws_race_line_of(&m->race.first) < ws_race_line_of(&m->race.second);
	return in_loop(m) && (i1->async == WS_ASYNC_MBARRIER ? has_between(m, WS_OP_mbarrier, WS_OP_mbarrier) :
	                                                        issuer_waited(m) && barrier_between(m));
}

static void say_next_round(struct meeting *m)
{
	words(m, "async-copy", "a barrier before the operation of the loop's next round, which uses the same memory");
	ws_buf_puts(&m->repair, "add __syncthreads() after ");
	ws_race_line(&m->repair, &m->race.second, NULL);
	ws_buf_puts(&m->repair, ", at the end of the loop: its next round comes to ");
	ws_race_line(&m->repair, &m->race.first, &m->race.second);
}

/* Does each thread of the block access the memory before it starts such an operation? */
static bool comes_first(const struct meeting *m)
{
	uint32_t low, high;

	return m->same_block && (!m->same_warp || m->lane1 != m->lane2) && in_order(m, &low, &high) && !repeated(m) &&
	       m->c->a->site->inst->index < site1_of(m)->inst->index;
}

static void say_in_flight(struct meeting *m, const struct ws_site_info *i1)
{
	const struct ws_race *r = &m->race;

	if (is_next_round(m, i1)) {
		say_next_round(m);
		return;
	}
	if (comes_first(m)) {
		words(m, "missing-barrier", "a barrier before the operation, which another thread starts");
		ws_buf_puts(&m->repair, "add __syncthreads() ");
		between(m);
		return;
	}
	if (issuer_waited(m) && !barrier_between(m)) {
		words(m, "async-copy", "a barrier after the wait: only the thread that started the operation knows that it is complete");
		ws_buf_printf(&m->repair, "add __syncthreads() after %s, before ", wait_for(i1));
		ws_race_line(&m->repair, &r->second, NULL);
		return;
	}
	words(m, "async-copy", r->kind == WS_WAR ? "completion: the operation may still read this memory" :
	                                           "completion: the operation may still write this memory");
	ws_buf_printf(&m->repair, "add %s before ", i1->async == WS_ASYNC_CP && m->c->l->cp_arrives ?
	              "a wait for the phase of the mbarrier object at which the copy arrives (cuda::barrier's wait(), cuda::pipeline's "
	              "consumer_wait())" : wait_for(i1));
	ws_race_line(&m->repair, &r->second, NULL);
	if (i1->async == WS_ASYNC_CP && m->c->l->cp_arrives)
		return;
	if (m->lane1 != m->lane2 || !m->same_warp)
		ws_buf_puts(&m->repair, i1->async == WS_ASYNC_MBARRIER ? "" : " in the thread that started it, and a __syncthreads() after it");
}

static bool proxy_only(const struct meeting *m)
{
	return m->c->proxy && is_write(m->cls1) && !info_of(m->c, m->other->site)->async &&
	       ws_hb_bad(m->c, m->other->who, 1u << m->lane1, m->lane2) < 0;
}

static void say_proxy(struct meeting *m)
{
	words(m, "proxy", "a proxy fence: the write is ordered before the operation, which goes through the async proxy");
	ws_buf_puts(&m->repair, "add fence.proxy.async after ");
	ws_race_line(&m->repair, &m->race.first, NULL);
	if (barrier_between(m) || !m->same_warp || m->lane1 != m->lane2)
		ws_buf_puts(&m->repair, ", before the barrier that the operation waits for");
}

static void say_mbarrier_object(struct meeting *m)
{
	words(m, "mbarrier", "order between the initialization of an mbarrier object (or its end) and its use");
	ws_buf_puts(&m->repair, "add __syncthreads() (between blocks of a cluster: cluster.sync()) ");
	between(m);
}

static bool is_mbarrier(const struct ws_site_info *i)
{
	return i->site->inst && i->site->inst->op == WS_OP_mbarrier && !i->async;
}

/* What async operations, mbarrier objects and clusters have to say; false: nothing. */
static bool say_async(struct meeting *m, const struct ws_site_info *i1, const struct ws_site_info *i2)
{
	if (i1->async)
		say_in_flight(m, i1);
	else if (proxy_only(m))
		say_proxy(m);
	else if (is_mbarrier(i1) && is_mbarrier(i2))
		say_mbarrier_object(m);
	else
		return false;
	return true;
}

static bool one_cluster(const struct meeting *m)
{
	const struct ws_launch_state *l = m->c->l;
	uint64_t other = ws_shadow_slot(m->c->s, m->other->who >> 32)->block;

	return l->cluster && ws_sync_cluster_of(l->l, other) == ws_sync_cluster_of(l->l, m->c->b->b->linear);
}

/* barrier.cluster.arrive.relaxed releases nothing but what a fence has released (PTX ISA 9.0, barrier.cluster). */
static bool arrives_relaxed(const struct meeting *m)
{
	const struct ws_ptx_func *f = m->c->a->site->func;

	for (uint32_t i = 0; f && i < f->ninsts; i++)
		if (ws_ptx_says(f, &f->insts[i], ".arrive.relaxed"))
			return true;
	return false;
}

static void say_cluster(struct meeting *m)
{
	if (arrives_relaxed(m)) {
		words(m, "cluster", "a release at the barrier of the cluster: barrier.cluster.arrive.relaxed orders no memory");
		ws_buf_puts(&m->repair, "use barrier.cluster.arrive without .relaxed, or __threadfence() before it");
		return;
	}
	words(m, "cluster", m->c->global ? "a barrier between the blocks of the cluster (global memory)" :
	                                   "a barrier between the blocks of the cluster");
	if (wants_atomic(m)) {
		say_update(m);
	} else if (m->race.kind == WS_WAW && ws_race_same_line(&m->race) && !repeated(m)) {
		ws_buf_puts(&m->repair, "let one block alone write it, or use atomic operations");
	} else {
		ws_buf_puts(&m->repair, "add cluster.sync() (barrier.cluster.arrive and .wait) ");
		between(m);
	}
}

static bool strong(enum ws_class cls)
{
	return cls >= CLS_SREAD;
}

static void say_dependency(struct meeting *m)
{
	words(m, "dependency", "a fence: the write comes after a flag whose value may be made from what was read; nothing else orders them");
	ws_buf_puts(&m->repair, "to rely on nothing else: __threadfence() after ");
	ws_race_line(&m->repair, &m->race.first, NULL);
	ws_buf_puts(&m->repair, " before the flag is set, and after it is read before ");
	ws_race_line(&m->repair, &m->race.second, &m->race.first);
}

static void say(struct meeting *m)
{
	uint32_t set1 = SITE_LOCKS(m->other->site), set2 = SITE_LOCKS(m->c->site);
	const struct ws_site_info *i1 = info_of(m->c, m->other->site), *i2 = info_of(m->c, m->c->site);

	if (m->same_value) {
		words(m, "same-value", "order between two writes, which store the same value");
		ws_buf_puts(&m->repair, "let one thread write it, or use an atomic operation");
	} else if (m->dependency) {
		say_dependency(m);
	} else if (m->same_instruction) {
		words(m, "same-instruction", "order between lanes: one instruction writes different values to one place");
		ws_buf_puts(&m->repair, "let one lane write it, or use an atomic operation");
	} else if (say_async(m, i1, i2)) {
		return;
	} else if (strong(m->cls1) && strong(m->c->cls)) {
		say_strong(m, i1, i2);
	} else if (set1 | set2) {
		say_lock(m, set1, set2);
	} else if ((strong(m->cls1) || strong(m->c->cls)) && !(m->c->proxy && m->same_block)) {
		say_atomic_plain(m, strong(m->c->cls));
	} else if (m->same_block) {
		say_same_block(m);
	} else if (one_cluster(m) && !told_by_flag(m)) {
		say_cluster(m);
	} else {
		say_between_blocks(m);
	}
}

static void say_location(struct meeting *m)
{
	struct ws_ctx *c = m->c;
	uint64_t addr = c->line_addr + m->lo;
	const char *name = NULL;
	uint32_t start = 0;

	m->race.size = m->hi - m->lo;
	if (c->global) {
		const struct ws_mem *mem = c->mem;

		m->race.offset = addr - mem->addr;
		if (mem->name)
			ws_buf_puts(&m->location, mem->name);
		else if (mem->origin)
			ws_buf_printf(&m->location, "allocation #%" PRIu64 " (%s)", mem->serial, mem->origin);
		else
			ws_buf_printf(&m->location, "allocation #%" PRIu64, mem->serial);
		return;
	}
	if (c->s->gpu && c->l->l->kernel)
		name = ws_gpu_shared_var(c->l->l->kernel, (uint32_t)addr, &start);
	ws_buf_puts(&m->location, name ? name : "shared memory");
	m->race.offset = addr - start;
}

/* ---- once a pair ---- */
static size_t pair_hash(const struct pair *p)
{
	uint64_t k = (uint64_t)p->site1 << 32 | p->site2;

	k ^= (uint64_t)(p->kind | p->space << 2 | p->severity << 3) << 56;
	return k * 0x9E3779B97F4A7C15u >> 24;
}

static struct pair **pair_at(struct ws_dedup *d, const struct pair *p)
{
	size_t i = pair_hash(p) & (d->cap - 1);

	for (; d->pairs[i]; i = (i + 1) & (d->cap - 1)) {
		const struct pair *q = d->pairs[i];

		if (q->site1 == p->site1 && q->site2 == p->site2 && q->kind == p->kind && q->space == p->space &&
		    q->severity == p->severity)
			break;
	}
	return &d->pairs[i];
}

static struct pair **find_pair(struct ws_shadow *s, const struct pair *p)
{
	struct ws_dedup *d = s->dedup;

	if (!d)
		d = s->dedup = ws_alloc(sizeof *d);
	if (2 * (d->n + 1) > d->cap) {
		struct ws_dedup old = *d;

		d->cap = old.cap ? 2 * old.cap : 64;
		d->pairs = ws_alloc(d->cap * sizeof *d->pairs);
		for (size_t i = 0; i < old.cap; i++)
			if (old.pairs[i])
				*pair_at(d, old.pairs[i]) = old.pairs[i];
		free(old.pairs);
	}
	return pair_at(d, p);
}

static void free_race(struct ws_race *r)
{
	free((char *)r->first.ptx);
	free((char *)r->second.ptx);
	free((char *)r->first.operation);
	free((char *)r->second.operation);
	free((char *)r->missing);
	free((char *)r->repair);
	free((char *)r->location);
}

static void free_pair(struct pair *p)
{
	free_race(&p->race);
	free(p);
}

static void tell_pair(struct ws_shadow *s, struct pair *p)
{
	p->race.count = p->pending;
	p->pending = 0;
	ws_report_race(s->report, &p->race);
}

/* The strings of a pair point into the modules of this launch, so pairs end with it; the report adds the counts. */
void ws_shadow_flush(struct ws_shadow *s)
{
	struct ws_dedup *d = s->dedup;

	for (size_t i = 0; d && i < d->cap; i++) {
		if (d->pairs[i] && d->pairs[i]->pending)
			tell_pair(s, d->pairs[i]);
		if (d->pairs[i])
			free_pair(d->pairs[i]);
		d->pairs[i] = NULL;
	}
	if (d)
		d->n = 0;
}

void ws_shadow_report_free(struct ws_shadow *s)
{
	ws_shadow_flush(s);
	if (s->dedup)
		free(s->dedup->pairs);
	free(s->dedup);
	s->dedup = NULL;
}

static enum reach find_reach(struct meeting *m)
{
	uint64_t who = m->other->who;

	m->same_block = ws_shadow_slot(m->c->s, who >> 32)->block == m->c->b->b->linear;
	m->same_warp = m->same_block && (who >> WHO_TIME_BITS & 31) == (m->c->me >> WHO_TIME_BITS & 31);
	return m->same_warp ? REACH_WARP : m->same_block ? REACH_BLOCK : one_cluster(m) ? REACH_CLUSTER : REACH_GRID;
}

static void fill_race(struct meeting *m)
{
	struct ws_ctx *c = m->c;
	struct ws_race *r = &m->race;
	const struct ws_obs_launch *l = c->l->l;
	uint64_t who = m->other->who, block1 = ws_shadow_slot(c->s, who >> 32)->block;

	r->space = c->global ? "global" : "shared";
	r->kernel = l->name ? l->name : "?";
	r->launch = l->serial;
	r->seed = c->s->config.seed;
	r->first.access = access_of(m->cls1, info_of(c, m->other->site));
	r->second.access = access_of(c->cls, info_of(c, c->site));
	ws_detect_place(&r->first, site1_of(m));
	ws_detect_place(&r->second, c->a->site);
	ws_detect_thread(&r->first, l, block1, (uint32_t)(who >> WHO_TIME_BITS & 31) * WS_WARP + m->lane1);
	ws_detect_thread(&r->second, l, c->b->b->linear, (uint32_t)(c->me >> WHO_TIME_BITS & 31) * WS_WARP + m->lane2);
	say_location(m);
	say(m);
	r->missing = m->missing.data ? m->missing.data : ws_strdup("");
	r->repair = m->repair.data ? m->repair.data : ws_strdup("");
	r->location = m->location.data ? m->location.data : ws_strdup("");
}

static void new_pair(struct ws_shadow *s, struct pair **at, const struct pair *p, const struct ws_race *race)
{
	*at = ws_alloc(sizeof *p);
	**at = *p;
	(*at)->race = *race;
	s->dedup->n++;
	(*at)->pending = 1;
	tell_pair(s, *at);
}

static void add(struct meeting *m)
{
	struct ws_shadow *s = m->c->s;
	struct pair p = {.site1 = m->other->site & SITE_ID, .site2 = m->c->site & SITE_ID, .kind = m->race.kind,
	                 .space = m->c->global, .severity = m->race.severity}, **at;

	p.reach = find_reach(m);
	ws_spin_lock(&s->report_lock);
	at = find_pair(s, &p);
	if (*at && p.reach > (*at)->reach) {         /* a wider example takes the place of the first one */
		fill_race(m);
		free_race(&(*at)->race);
		(*at)->race = m->race;
		(*at)->reach = p.reach;
		(*at)->pending++;
		tell_pair(s, *at);
	} else if (!*at) {
		fill_race(m);
		new_pair(s, at, &p, &m->race);
	} else {
		(*at)->pending++;
	}
	ws_spin_unlock(&s->report_lock);
}

/* Lanes of one instruction met already in shadow_general.c. */
static bool met_before(const struct ws_ctx *c, uint32_t lo, uint32_t hi, const struct ws_slot *other, int lane2)
{
	const struct ws_access *a = c->a;
	uint64_t from = c->line_addr + lo, to = c->line_addr + hi;

	if (c->cls != CLS_WRITE || a->linear || other->who != c->as || (other->site ^ c->site) & SITE_ID ||
	    !(a->mask >> lane2 & 1))
		return false;
	return a->addr[lane2] < to && a->addr[lane2] + a->bytes > from;
}

static void tell_bytes(const struct meeting *m)
{
	const struct ws_ctx *c = m->c;
	struct ws_raced_bytes r = {.global = c->global, .warning = m->race.severity == WS_WARNING, .bytes = m->hi - m->lo,
	                           .block = c->global ? 0 : c->owner->b->linear, .launch = c->l->l->serial,
	                           .addr = c->line_addr + m->lo};

	c->s->config.raced(c->s->config.raced_user, &r);
}

/* Is there no order but the one of depend.h? */
static bool depends(const struct meeting *m)
{
	struct ws_site_info *i;

	if (!m->c->l->depends || !m->c->global || m->cls1 != CLS_READ || m->c->cls != CLS_WRITE || m->same_instruction ||
	    !ws_shadow_depends(m->c, m->other->who, m->lane1, m->lane2))
		return false;
	i = &m->c->s->sites[(m->other->site & SITE_ID) >> CHUNK_BITS][m->other->site & (CHUNK - 1)];
	if (!i->carried)
		i->carried = 1 + ws_depend_on(i->site->func, i->site->inst);
	return i->carried == 2;
}

void ws_shadow_conflict(struct ws_ctx *c, uint32_t lane, uint32_t lo, uint32_t hi, const struct ws_slot *other,
                        enum ws_class other_cls, int lane2, bool same_instruction)
{
	struct meeting m = {.c = c, .other = other, .cls1 = other_cls, .lane1 = lane2, .lane2 = lane, .lo = lo, .hi = hi,
	                    .same_instruction = same_instruction};

	if (!same_instruction && met_before(c, lo, hi, other, lane2))
		return;
	m.race.kind = kind_of(other_cls, c->cls);
	m.same_value = m.race.kind == WS_WAW && other_cls != CLS_RMW && leaves_same(&m);
	m.dependency = m.race.kind == WS_WAR && depends(&m);
	m.race.severity = m.dependency || (m.same_value && !c->s->config.same_value_error) ? WS_WARNING : WS_ERROR;
	if (c->s->config.raced)
		tell_bytes(&m);
	add(&m);
}

/* ---- memory of a block that has not begun, or has ended ---- */
/* The block's side of it: its start or end, at the place of the kernel's first instruction. */
static void fill_block(struct ws_race_access *r, const struct ws_ctx *c, const struct ws_site *site, bool ended)
{
	struct ws_site entry = {.func = site->func};
	struct ws_buf text = {0};

	if (site->func && site->func->ninsts)
		entry.inst = &site->func->insts[0];
	r->access = WS_RA_WRITE;
	ws_detect_place(r, &entry);
	free((char *)r->ptx);
	r->ptx = NULL;
	ws_detect_thread(r, c->l->l, c->owner->b->linear, 0);
	ws_buf_printf(&text, "the %s of block (%u,%u,%u)", ended ? "end" : "start", r->block[0], r->block[1], r->block[2]);
	r->operation = text.data;
}

static void say_lifetime(struct meeting *m, const struct ws_race_access *visitor, bool ended)
{
	m->race.category = ws_race_advise_lifetime(visitor, ended, &m->missing, &m->repair);
}

void ws_shadow_lifetime(struct ws_ctx *c, uint32_t lane, bool ended)
{
	struct ws_slot other = {.who = c->me, .site = c->site, .mask = 1u << lane};
	struct meeting m = {.c = c, .other = &other, .lane1 = lane, .lane2 = lane, .hi = c->a->bytes};
	struct pair p = {.site1 = c->site & SITE_ID, .site2 = SITE_ID - ended, .kind = WS_RAW, .severity = WS_ERROR,
	                 .reach = REACH_GRID}, **at;
	struct ws_race *r = &m.race;
	const struct ws_site *site = info_of(c, c->site)->site;
	struct ws_race_access *visitor = ended ? &r->first : &r->second, *block = ended ? &r->second : &r->first;
	struct ws_raced_bytes raced = {.lifetime = true, .bytes = 1, .block = c->owner->b->linear, .launch = c->l->l->serial,
	                               .addr = ended};

	if (c->s->config.raced)
		c->s->config.raced(c->s->config.raced_user, &raced);
	ws_spin_lock(&c->s->report_lock);
	at = find_pair(c->s, &p);
	if (!*at) {
		*r = (struct ws_race){.severity = WS_ERROR, .kind = ended ? WS_WAR : kind_of(CLS_WRITE, c->cls), .space = "shared", .count = 1,
		                      .kernel = c->l->l->name ? c->l->l->name : "?", .launch = c->l->l->serial,
		                      .seed = c->s->config.seed};
		visitor->access = access_of(c->cls, info_of(c, c->site));
		ws_detect_place(visitor, site);
		ws_detect_thread(visitor, c->l->l, ws_shadow_slot(c->s, c->me >> 32)->block,
		            (uint32_t)(c->me >> WHO_TIME_BITS & 31) * WS_WARP + lane);
		fill_block(block, c, site, ended);
		m.lo = (uint32_t)(c->a->addr[c->a->mask && !ended ? __builtin_ctz(c->a->mask) : 0] - c->line_addr);
		m.hi = m.lo + c->a->bytes;
		say_location(&m);
		say_lifetime(&m, visitor, ended);
		r->missing = m.missing.data;
		r->repair = m.repair.data;
		r->location = m.location.data ? m.location.data : ws_strdup("");
		new_pair(c->s, at, &p, r);
	} else {
		(*at)->pending++;
	}
	ws_spin_unlock(&c->s->report_lock);
}

/* probe.c - what of a kernel its probe needs, or why it can have none (probe.h).
 *
 * A register is *known* if each of its writes computes it from thread index, block size, parameters, constants in
 * constant memory at fixed places, and known registers; else it is data: what was loaded, or never written, other lanes'
 * values, the block's index. Needed are the addresses of accesses to shared memory, the guards of those where they are
 * known, what the values of needed registers are computed from, and the conditions of branches that decide whether
 * something needed is executed.
 *
 * Why is there no race in any block if the probe finds none? The order of two accesses of a block is that of barriers and
 * syncs of the warp (atomics on shared memory: no probe; strong accesses count as if they ordered nothing, and where they are of several
 * sizes as weak ones, which only makes more races), so it does not depend on how fast threads are, and the checks find a race of every such program
 * in any run (they tell what they do not know, and a probe in which that happens counts as one with a race). So the probe has to
 * make the accesses of each thread of each block, in the same places between barriers and syncs. More accesses do no harm, for they
 * only make more races. A thread comes, in its block and in the probe, to the same branches with known conditions with the same values. Of the others,
 *   - those that decide nothing needed are not there: the probe goes on where both ways meet, at the immediate
 *     post-dominator;
 *   - where one way leads to no more accesses and barriers (`if (i >= n) return`), the probe goes the other one. Threads
 *     that have ended are at all barriers, so the others' accesses are in the same intervals;
 *   - where there are accesses on either way, but no barrier or sync, and no needed register that is written there is
 *     used behind the place where the ways meet, the probe goes first the one way and then the other;
 *   - where data says how often a loop goes round, and each round accesses the same places, with no barrier, sync or
 *     asynchronous copy in it, all threads go round once;
 *   - a branch that is in no loop, and goes one way in all threads of a block, goes one way in half of the probe's blocks
 *     and the other one in the rest, MOST_VARIANTS of them at most; a loop with barriers that goes round as often in all
 *     threads of a block is made twice (probe_rounds.c);
 *   - else there is no probe, in particular if it is another loop with accesses of which data says how often. */
#include "rewrite/async.h"
#include "rewrite/class.h"
#include "rewrite/needless.h"
#include "rewrite/probe.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_BLOCKS = 4000, MOST_ACCESSES = 2000, MOST_VALUES = 16, WORD = 4, UNIT = 16, MOST_VARIANTS = 3 };

static bool refuse(struct ws_probe *p, const struct ws_ptx_inst *i, const char *what)
{
	if (p->why.len)
		return false;
	ws_buf_puts(&p->why, what);
	if (i) {
		ws_buf_puts(&p->why, " at ");
		ws_ptx_where(p->f->module, i, &p->why);
	}
	return false;
}

/* ---- what instructions are ---- */
bool ws_probe_is_barrier(const struct ws_ptx_inst *i)
{
	return i->op == WS_OP_bar || i->op == WS_OP_barrier;
}

static bool ends_group(const struct ws_probe *p, const struct ws_ptx_inst *i)
{
	enum ws_rw_async kind = i->op == WS_OP_cp ? ws_rw_async(p->f, i) : WS_RW_NOT_ASYNC;

	return kind == WS_RW_COPY_COMMIT || kind == WS_RW_COPY_WAIT;
}

bool ws_probe_orders(const struct ws_probe *p, const struct ws_ptx_inst *i)
{
	return ws_probe_is_barrier(i) || ends_group(p, i);
}

static bool computes(const struct ws_ptx_inst *i)
{
	switch (i->op) {
	case WS_OP_add: case WS_OP_sub: case WS_OP_mul: case WS_OP_mad: case WS_OP_mul24: case WS_OP_mad24: case WS_OP_sad:
	case WS_OP_div: case WS_OP_rem: case WS_OP_abs: case WS_OP_neg: case WS_OP_min: case WS_OP_max: case WS_OP_popc:
	case WS_OP_clz: case WS_OP_bfind: case WS_OP_brev: case WS_OP_bfe: case WS_OP_bfi: case WS_OP_and: case WS_OP_or:
	case WS_OP_xor: case WS_OP_not: case WS_OP_cnot: case WS_OP_lop3: case WS_OP_shl: case WS_OP_shr: case WS_OP_shf:
	case WS_OP_prmt: case WS_OP_mov: case WS_OP_cvt: case WS_OP_cvta: case WS_OP_selp: case WS_OP_set: case WS_OP_setp:
	case WS_OP_slct: case WS_OP_fma:
		return !(i->flags & WS_F_CC);
	default:
		return false;
	}
}

static bool same_in_all_blocks(unsigned sreg)
{
	return (sreg >= WS_SR_TID_X && sreg <= WS_SR_NTID_Z) || sreg == WS_SR_LANEID ||
	       (sreg >= WS_SR_LANEMASK_EQ && sreg <= WS_SR_LANEMASK_GT);
}

static bool same_in_all_launches(unsigned sreg)
{
	return sreg >= WS_SR_CTAID_X && sreg <= WS_SR_NCTAID_Z;
}

static bool operand_is_known(const struct ws_probe *p, const struct ws_operand *o)
{
	if (o->kind == WS_O_SREG)
		return same_in_all_blocks(o->sreg_or_count) || (p->whole && same_in_all_launches(o->sreg_or_count));
	return o->kind != WS_O_SYM || (o->sym->kind == WS_SYM_VAR && (o->sym->space == WS_SPACE_SHARED ||
	                               (p->whole && o->sym->space == WS_SPACE_GLOBAL)));
}

static bool is_parameter(const struct ws_ptx_func *f, const struct ws_ptx_sym *s)
{
	for (uint32_t k = 0; k < f->nparams; k++)
		if (f->params[k] == s)
			return true;
	return false;
}

/* A load of what the kernel was given, or of constants, at a fixed place. Constants are others in another launch. */
static bool loads_fixed(const struct ws_probe *p, const struct ws_ptx_inst *i)
{
	const struct ws_operand *o = i->op == WS_OP_ld && i->nops == 2 ? &i->ops[1] : NULL;

	if (!o || o->kind != WS_O_ADDR || !o->sym || o->reg || o->sym->kind != WS_SYM_VAR)
		return false;
	return (o->sym->space == WS_SPACE_CONST && !p->whole) || (o->sym->space == WS_SPACE_PARAM && is_parameter(p->f, o->sym));
}

bool ws_probe_computes(const struct ws_probe *p, const struct ws_ptx_inst *i)
{
	return loads_fixed(p, i) || computes(i);
}

/* But for the registers that it uses. */
static bool gives_known(const struct ws_probe *p, const struct ws_ptx_inst *i)
{
	if (loads_fixed(p, i))
		return true;
	if (!computes(i))
		return false;
	for (unsigned k = 0; k < i->nops; k++)
		if (!operand_is_known(p, &i->ops[k]))
			return false;
	return true;
}

/* ---- known or data ---- */
struct spread { struct ws_probe *p; const struct ws_ptx_inst *from; bool changed; };

static void use_data(void *user, struct ws_reg *r, bool is_def)
{
	struct spread *s = user;

	if (!is_def && !s->from)
		s->from = s->p->data[r->index];
}

static void make_data(void *user, struct ws_reg *r, bool is_def)
{
	struct spread *s = user;

	if (is_def && !s->p->data[r->index]) {
		s->p->data[r->index] = s->from;
		s->changed = true;
	}
}

static void note_written(void *user, struct ws_reg *r, bool is_def)
{
	((bool *)user)[r->index] |= is_def;
}

/* What is never written is not known either. */
static void find_unwritten(struct ws_probe *p)
{
	bool *written = ws_alloc(p->f->nregs + 1);

	for (uint32_t k = 0; k < p->f->ninsts; k++)
		ws_ptx_inst_regs(&p->f->insts[k], note_written, written);
	for (uint32_t k = 0; k < p->f->nregs; k++)
		if (!written[k])
			p->data[k] = p->f->insts;
	free(written);
}

static void find_data(struct ws_probe *p)
{
	struct spread s = { .p = p, .changed = true };

	find_unwritten(p);
	while (s.changed) {
		s.changed = false;
		for (uint32_t k = 0; k < p->f->ninsts; k++) {
			const struct ws_ptx_inst *i = &p->f->insts[k];

			s.from = gives_known(p, i) ? NULL : i;
			ws_ptx_inst_regs(i, use_data, &s);
			if (s.from)
				ws_ptx_inst_regs(i, make_data, &s);
		}
	}
}

/* ---- what no probe can do ---- */
static bool look_at_barrier(struct ws_probe *p, const struct ws_ptx_inst *i)
{
	bool warp = i->mode == WS_MODE_WARP_SYNC;
	const struct ws_operand *o = &i->ops[i->mode == WS_MODE_RED ? 1 : 0];

	if (i->guard)
		return refuse(p, i, "a barrier for some threads");
	if (o->kind != WS_O_INT || (uint32_t)o->imm != (warp ? UINT32_MAX : 0))
		return refuse(p, i, warp ? "a sync of some lanes" : "a barrier with a number");
	if (!warp && (i->mode == WS_MODE_ARRIVE || !ws_rw_names_no_count(i)))
		return refuse(p, i, "a barrier of some threads");
	return true;
}

static bool look_at_access(struct ws_probe *p, const struct ws_rw_access *a)
{
	if (a->rw_class != WS_RW_CHECK || a->space == WS_SPACE_GLOBAL || p->aside[a - p->list])
		return true;
	if (a->space != WS_SPACE_SHARED)
		return refuse(p, a->inst, "an access of which the memory is not named");
	if (a->kind == WS_RW_ATOMIC)
		return refuse(p, a->inst, "an atomic access to shared memory");
	if (a->bytes > 16)
		return refuse(p, a->inst, "a wide access to shared memory");
	p->access[a->inst->index] = (uint32_t)(a - p->list) + 1;
	return true;
}

static bool look_at(struct ws_probe *p, const struct ws_ptx_inst *i)
{
	const struct ws_operand *target = i->call ? i->call->target : NULL;

	if (ws_probe_is_barrier(i))
		return look_at_barrier(p, i);
	if (ends_group(p, i))
		return !i->guard || refuse(p, i, "a wait of some threads for their copies");
	if (target && (target->kind != WS_O_SYM || !target->sym->func || !target->sym->func->declared_only))
		return refuse(p, i, "a call");
	return ws_rw_reads_shared_size(i) ? refuse(p, i, "the size of shared memory is read") : true;
}

/* Strong accesses that overlap as a whole do not race with each other (PTX ISA 9.0, 8.7.1). */
static uint32_t size_of_strong(const struct ws_probe *p)
{
	uint32_t bytes = 0;

	for (uint32_t k = 0; k < p->n; k++) {
		const struct ws_rw_access *a = &p->list[k];

		if (!p->access[a->inst->index] || !ws_rw_strong(a))
			continue;
		if (a->inst->vec > 1 || (bytes && bytes != a->bytes))
			return 0;
		bytes = a->bytes;
	}
	return bytes;
}

/* Bytes of the static variables in shared memory that the kernel names; of one that is extern, nothing. */
static uint64_t named_bytes(const struct ws_probe *p)
{
	bool *seen = ws_alloc(p->f->module->nvars + 1);
	uint64_t bytes = 0;

	for (uint32_t k = 0; k < p->f->ninsts; k++)
		for (unsigned n = 0; n < p->f->insts[k].nops; n++) {
			const struct ws_ptx_sym *s = p->f->insts[k].ops[n].sym;

			if (s && !s->scope && s->space == WS_SPACE_SHARED)
				seen[s->index] = true;
		}
	for (uint32_t k = 0; k < p->f->module->nvars; k++)
		bytes += seen[k] ? p->f->module->vars[k]->size : 0;
	for (uint32_t k = 0; k < p->f->nvars; k++)
		bytes += p->f->vars[k]->space == WS_SPACE_SHARED ? p->f->vars[k]->size : 0;
	free(seen);
	return bytes;
}

/* Bytes for which there is a cell: as the narrowest access has, so that threads which share a word, each with bytes of its own, are told
 * apart. For bytes that is four times the cells, so only where there is room for them. */
static uint32_t unit_of(const struct ws_probe *p)
{
	enum { MOST_BYTES = 8 << 10 };
	uint32_t unit = UNIT;

	for (uint32_t k = 0; k < p->n; k++)
		if (p->access[p->list[k].inst->index] && p->list[k].bytes < unit)
			unit = p->list[k].bytes;
	return unit < WORD && (ws_probe_has_copies(p) || named_bytes(p) > unit * MOST_BYTES) ? WORD : unit;
}

/* What a probe is for: false if there is no access to shared memory, or one of a kind that it cannot do. */
static bool find_events(struct ws_probe *p)
{
	uint32_t shared = 0;

	for (uint32_t k = 0; k < p->n; k++) {
		if (!look_at_access(p, &p->list[k]))
			return false;
		shared += p->access[p->list[k].inst->index] != 0;
	}
	p->unit = unit_of(p);
	p->strong = size_of_strong(p);
	if (!shared)
		return false;
	if (p->f->ntables)
		return refuse(p, NULL, "a table of branches");
	if (p->f->nblocks > MOST_BLOCKS || shared > MOST_ACCESSES)
		return refuse(p, NULL, "too long");
	for (uint32_t k = 0; k < p->f->ninsts; k++)
		if (!look_at(p, &p->f->insts[k]))
			return false;
	return true;
}

/* ---- regions ---- */
static bool is_event(const struct ws_probe *p, uint32_t inst)
{
	return p->access[inst] || ws_probe_orders(p, &p->f->insts[inst]);
}

/* Blocks that the probe comes to from `from`, without going through `until`: marks[] gets `mark` as well. */
static void mark_region(const struct ws_probe *p, uint32_t from, uint32_t until, uint8_t *marks, uint8_t mark)
{
	uint32_t *stack = ws_alloc((2 * p->f->nblocks + 2) * sizeof *stack), depth = 0;

	stack[depth++] = from;
	while (depth) {
		uint32_t b = stack[--depth];

		if (b == WS_EXIT_BLOCK || b == until || marks[b] & mark)
			continue;
		marks[b] |= mark;
		stack[depth++] = p->next[b][0];
		if (p->when[b])
			stack[depth++] = p->next[b][1];
	}
	free(stack);
}

enum { FIRST = 1, SECOND = 2 };

/* Is there, in blocks with such marks, an event (kept: or anything that is kept)? */
bool ws_probe_has_event(const struct ws_probe *p, const uint8_t *marks, uint8_t mark, bool kept)
{
	for (uint32_t b = 0; b < p->f->nblocks; b++)
		for (uint32_t k = p->f->blocks[b].first; marks[b] & mark && k <= p->f->blocks[b].last; k++)
			if (is_event(p, k) || (kept && p->kept[k]))
				return true;
	return false;
}

/* Where the ways of a branch meet. The end of some threads is no edge of the graph. */
static uint32_t join_of(const struct ws_probe *p, uint32_t b)
{
	bool ends = p->next[b][0] == WS_EXIT_BLOCK || p->next[b][1] == WS_EXIT_BLOCK;

	return ends ? WS_EXIT_BLOCK : p->f->blocks[b].ipdom;
}

uint8_t *ws_probe_region(const struct ws_probe *p, uint32_t b)
{
	uint8_t *marks = ws_alloc(p->f->nblocks + 1);
	uint32_t join = join_of(p, b);

	mark_region(p, p->next[b][0], join, marks, FIRST);
	mark_region(p, p->next[b][1], join, marks, SECOND);
	return marks;
}

/* ---- how blocks follow each other ---- */
static uint32_t target_of(const struct ws_ptx_func *f, const struct ws_ptx_inst *i)
{
	for (unsigned k = 0; k < i->nops; k++)
		if (i->ops[k].kind == WS_O_LABEL)
			return ws_rw_block_at(f, f->labels[i->ops[k].label].inst);
	return WS_EXIT_BLOCK;
}

static void find_next(struct ws_probe *p)
{
	for (uint32_t b = 0; b < p->f->nblocks; b++) {
		const struct ws_ptx_inst *last = &p->f->insts[p->f->blocks[b].last];
		bool jumps = last->op == WS_OP_bra, ends = ws_op_info(last->op)->fx & WS_FX_EXIT;

		p->next[b][0] = ws_rw_block_at(p->f, last->index + 1);
		if (!jumps && !ends)
			continue;
		p->next[b][1] = jumps ? target_of(p->f, last) : WS_EXIT_BLOCK;
		if (!last->guard)
			p->next[b][0] = p->next[b][1];
		else if (p->next[b][0] != p->next[b][1] && last->op != WS_OP_trap && last->op != WS_OP_brkpt)
			p->when[b] = last->guard;
		p->unless[b] = last->guard_neg;
	}
}

/* ---- what is needed ---- */
static void need(struct ws_probe_needing *n, const struct ws_reg *r)
{
	n->changed |= !n->p->needed[r->index];
	n->p->needed[r->index] = true;
}

static void need_only(struct ws_probe_needing *n, const struct ws_reg *r, bool is, uint32_t block)
{
	struct ws_probe_only only = ws_probe_only_if(n->p, r, is, block);

	for (unsigned k = 0; k < only.n; k++)
		need(n, only.of[k].r);
}

void ws_probe_need(struct ws_probe *p, const struct ws_reg *r)
{
	p->needed[r->index] = true;
}

static void need_used(void *user, struct ws_reg *r, bool is_def)
{
	if (!is_def)
		need(user, r);
}

static void is_needed(void *user, struct ws_reg *r, bool is_def)
{
	struct ws_probe_needing *n = user;

	n->changed |= is_def && n->p->needed[r->index];
}

static bool defines_needed(struct ws_probe *p, const struct ws_ptx_inst *i)
{
	struct ws_probe_needing n = { p, false };

	ws_ptx_inst_regs(i, is_needed, &n);
	return n.changed;
}

void ws_probe_need_events(struct ws_probe *p)
{
	struct ws_probe_needing n = { p, false };

	for (uint32_t k = 0; k < p->f->ninsts; k++) {
		const struct ws_rw_access *a = p->access[k] ? &p->list[p->access[k] - 1] : NULL;
		const struct ws_reg *guard = p->f->insts[k].guard;

		if (a && a->address->reg)
			need(&n, a->address->reg);
		if (a && guard && (p->whole || !p->data[guard->index]))
			need(&n, guard);
		if (a && guard)
			need_only(&n, guard, !p->f->insts[k].guard_neg, p->f->insts[k].block);
		if (a && p->whole && a->needed.p)
			need(&n, a->needed.p);
		if (p->whole && (ws_probe_orders(p, &p->f->insts[k]) || p->f->insts[k].op == WS_OP_cp))
			ws_ptx_inst_regs(&p->f->insts[k], need_used, &n);
	}
}

/* Does a branch decide what is needed? */
bool ws_probe_decides(const struct ws_probe *p, uint32_t b)
{
	uint8_t *marks = ws_probe_region(p, b);
	bool is = ws_probe_has_event(p, marks, FIRST | SECOND, true);

	free(marks);
	return is;
}

static bool look_at_needed(struct ws_probe *p)
{
	for (uint32_t k = 0; k < p->f->nregs; k++)
		if (p->needed[k] && p->data[k])
			return refuse(p, p->data[k], "an address or a loop depends on data, or on the block's index:");
	return true;
}

/* What decides, beside data, which way of its branch a thread does not go. */
static void need_both_ways(struct ws_probe_needing *n, uint32_t b)
{
	n->p->with_only[b] = true;
	need_only(n, n->p->when[b], true, b);
	need_only(n, n->p->when[b], false, b);
}

void ws_probe_close(struct ws_probe *p)
{
	struct ws_probe_needing n = { p, true };

	while (n.changed) {
		n.changed = false;
		for (uint32_t k = 0; k < p->f->ninsts; k++)
			if (!p->kept[k] && !p->access[k] && defines_needed(p, &p->f->insts[k])) {
				p->kept[k] = n.changed = true;
				ws_ptx_inst_regs(&p->f->insts[k], need_used, &n);
			}
		for (uint32_t b = 0; b < p->f->nblocks; b++) {
			const struct ws_reg *r = p->loop[b] ? NULL : p->when[b];

			if (r && !p->data[r->index] && !p->needed[r->index] && ws_probe_decides(p, b))
				need(&n, r);
			if (r && p->data[r->index] && !p->with_only[b] && ws_probe_decides(p, b))
				need_both_ways(&n, b);
		}
	}
}

bool ws_probe_needs(struct ws_probe *p)
{
	if (!p->whole)
		ws_probe_find_rounds(p);
	ws_probe_need_events(p);
	ws_probe_close(p);
	return look_at_needed(p);
}

/* ---- branches that depend on data ---- */
static void go(struct ws_probe *p, uint32_t b, uint32_t to)
{
	p->when[b] = NULL;
	p->next[b][0] = to;
}

/* Does a way lead from a copy to the block's end, and on to a commit or wait? A thread that ends there does not wait for its copies. */
static bool would_wait(const struct ws_probe *p, uint32_t b, const uint8_t *marks, uint8_t way)
{
	bool waits = false, copied = false;
	uint8_t *behind = ws_alloc(p->f->nblocks + 1);

	for (uint32_t k = 0; k < p->f->ninsts; k++) {
		const struct ws_ptx_inst *i = &p->f->insts[k];

		waits |= marks[i->block] & way && ends_group(p, i);
		if (i->op == WS_OP_cp && p->access[k])
			mark_region(p, i->block, WS_EXIT_BLOCK, behind, FIRST);
	}
	copied = behind[b];
	free(behind);
	return waits && copied;
}

/* One way leads to nothing any more: the other one is gone. false: not so, or the probe might never end. */
static bool go_on_without_end(struct ws_probe *p, uint32_t b)
{
	for (unsigned way = 0; way < 2; way++) {
		bool ends, rounds = p->loop[b] && ws_probe_loop_side(p, b) != way;
		uint8_t *marks = ws_alloc(p->f->nblocks + 1);

		mark_region(p, p->next[b][way], WS_EXIT_BLOCK, marks, FIRST);
		mark_region(p, p->next[b][!way], WS_EXIT_BLOCK, marks, SECOND);
		ends = !ws_probe_has_event(p, marks, FIRST, false) && (rounds || (!(marks[b] & SECOND) && !would_wait(p, b, marks, SECOND)));
		free(marks);
		if (ends) {
			go(p, b, p->next[b][!way]);
			return true;
		}
	}
	return false;
}

struct written { const struct ws_probe *p; const uint64_t *live; bool any; };

static void is_live(void *user, struct ws_reg *r, bool is_def)
{
	struct written *w = user;

	w->any |= is_def && w->p->needed[r->index] && w->live[r->index / 64] >> (r->index & 63) & 1;
}

static bool is_copy(const struct ws_ptx_inst *i)
{
	return i->op == WS_OP_mov && !i->guard && i->nops == 2 && i->ops[0].kind == WS_O_REG && i->ops[1].kind == WS_O_REG && !i->ops[0].component && !i->ops[1].component;
}

/* Does the last instruction before the branch of b that sets the same register copy the same one, which is not set since? Compilers give such copies to both ways. */
static bool copies_again(const struct ws_probe *p, uint32_t b, const uint8_t *marks, const struct ws_ptx_inst *i)
{
	const struct ws_ptx_block *block = &p->f->blocks[b];
	uint32_t behind = block->last + 1;       /* the instruction behind that one */

	if (!is_copy(i) || marks[b])
		return false;
	while (behind > block->first && !ws_ptx_sets(&p->f->insts[behind - 1], i->ops[0].reg))
		behind--;
	if (behind == block->first || ws_sets_between(p->f, behind - 1, block->last, i->ops[1].reg))
		return false;
	for (uint32_t k = 0; k < p->f->ninsts; k++)
		if (marks[p->f->insts[k].block] && ws_ptx_sets(&p->f->insts[k], i->ops[1].reg))
			return false;
	return is_copy(&p->f->insts[behind - 1]) && p->f->insts[behind - 1].ops[1].reg == i->ops[1].reg;
}

/* Is a needed register that is written in blocks with that mark, behind the branch of b, used from block `at` on? */
static bool writes_live(const struct ws_probe *p, uint32_t b, const uint8_t *marks, uint8_t mark, uint32_t at)
{
	struct written w = { .p = p };

	if (at == WS_EXIT_BLOCK)
		return false;
	w.live = p->f->blocks[at].live_in;
	for (uint32_t n = 0; n < p->f->nblocks; n++)
		for (uint32_t k = p->f->blocks[n].first; marks[n] & mark && k <= p->f->blocks[n].last; k++)
			if (p->kept[k] && !copies_again(p, b, marks, &p->f->insts[k]))
				ws_ptx_inst_regs(&p->f->insts[k], is_live, &w);
	return w.any;
}

static bool has_barrier(const struct ws_probe *p, const uint8_t *marks)
{
	for (uint32_t k = 0; k < p->f->ninsts; k++)
		if (marks[p->f->insts[k].block] && ws_probe_orders(p, &p->f->insts[k]))
			return true;
	return false;
}

/* Does a block of the region end the thread, though others go on behind it? */
static bool has_end(const struct ws_probe *p, const uint8_t *marks, uint32_t join)
{
	for (uint32_t b = 0; b < p->f->nblocks && join != WS_EXIT_BLOCK; b++)
		if (marks[b] && (p->next[b][0] == WS_EXIT_BLOCK || (p->when[b] && p->next[b][1] == WS_EXIT_BLOCK)))
			return true;
	return false;
}

/* What leads from a block to `join` leads to `to`. */
static void lead_on(struct ws_probe *p, uint32_t b, uint32_t join, uint32_t to)
{
	for (unsigned k = 0; k < 2; k++)
		p->next[b][k] = p->next[b][k] == join ? to : p->next[b][k];
	p->before[b].to = p->before[b].to == join ? to : p->before[b].to;
	p->behind[b].to = p->behind[b].to == join ? to : p->behind[b].to;
}

/* Edges from blocks of one way to the end of the region lead to the other way. */
static void lead(struct ws_probe *p, const uint8_t *marks, uint8_t way, uint32_t join, uint32_t to)
{
	for (uint32_t b = 0; b < p->f->nblocks; b++)
		if (marks[b] == way)
			lead_on(p, b, join, to);
}

/* Do blocks of one way alone lead into those of both in no other place than this one? */
static bool enters_only_at(const struct ws_probe *p, const uint8_t *marks, uint8_t way, uint32_t at)
{
	for (uint32_t b = 0; b < p->f->nblocks; b++)
		for (unsigned k = 0; k < (p->when[b] ? 2u : 1u) && marks[b] == way; k++) {
			uint32_t to = p->next[b][k];

			if (to != WS_EXIT_BLOCK && marks[to] == (FIRST | SECOND) && to != at)
				return false;
		}
	return true;
}

static uint8_t all_marks(const struct ws_probe *p, const uint8_t *marks)
{
	uint8_t all = 0;

	for (uint32_t b = 0; b < p->f->nblocks; b++)
		all |= marks[b] ? 1u << marks[b] : 0;
	return all;
}

/* Who goes that way of the branch at the end of b, and from where, as the probe goes; others go on at `to`. */
static struct ws_probe_only who_goes(const struct ws_probe *p, uint32_t b, bool second, uint32_t to)
{
	struct ws_probe_only only = ws_probe_only_if(p, p->when[b], second != p->unless[b], b);

	only.to = to;
	return only;
}

/* Both ways, which have no block in common; one may be empty. The second one is entered as the branch enters it, or behind the first one. */
static bool walk_apart(struct ws_probe *p, uint32_t b, const uint8_t *marks, uint32_t join)
{
	uint32_t first = p->next[b][0], second = p->next[b][1];

	if (writes_live(p, b, marks, FIRST, second))
		return false;
	if (first == join) {
		p->behind[b] = who_goes(p, b, true, join);
		go(p, b, second);
		return true;
	}
	p->behind[b] = who_goes(p, b, false, second);
	if (second != join && p->f->blocks[second].npred == 1)
		p->before[second] = who_goes(p, b, true, join);
	lead(p, marks, FIRST, join, second);
	go(p, b, first);
	return true;
}

/* The ways of a branch, one after the other. */
static bool walk_both(struct ws_probe *p, uint32_t b, const uint8_t *marks, uint32_t join)
{
	uint32_t first = p->next[b][0], second = p->next[b][1];
	uint8_t all = all_marks(p, marks), way = FIRST;
	enum { HAS_FIRST = 1 << FIRST, HAS_SECOND = 1 << SECOND, HAS_BOTH = 1 << (FIRST | SECOND) };

	if (!(all & HAS_BOTH))
		return walk_apart(p, b, marks, join);
	if (all & HAS_FIRST && all & HAS_SECOND)
		return false;
	if (all & HAS_SECOND) {                          /* one is the end of the other */
		way = SECOND;
		first = second;
		second = p->next[b][0];
	}
	if (marks[first] != way || writes_live(p, b, marks, way, second) || !enters_only_at(p, marks, way, second))
		return false;
	p->behind[b] = who_goes(p, b, way == SECOND, second);
	lead(p, marks, way, join, second);
	go(p, b, first);
	return true;
}

/* ---- loops of which data says how often they go round ---- */
static bool has_copy(const struct ws_probe *p, const uint8_t *marks, uint8_t mark)
{
	for (uint32_t k = 0; k < p->f->ninsts; k++)
		if (marks[p->f->insts[k].block] & mark && p->access[k] && p->f->insts[k].op == WS_OP_cp)
			return true;
	return false;
}

/* The block by which alone one comes into those with that mark, from others; WS_EXIT_BLOCK: there are several. */
static uint32_t entry_of(const struct ws_probe *p, const uint8_t *marks, uint8_t mark)
{
	uint32_t entry = WS_EXIT_BLOCK;

	for (uint32_t b = 0; b < p->f->nblocks; b++)
		for (unsigned k = 0; k < (p->when[b] ? 2u : 1u); k++) {
			uint32_t to = p->next[b][k];

			if (marks[b] & mark || to == WS_EXIT_BLOCK || !(marks[to] & mark))
				continue;
			if (entry != WS_EXIT_BLOCK && entry != to)
				return WS_EXIT_BLOCK;
			entry = to;
		}
	return entry;
}

static uint32_t edges_to(const struct ws_probe *p, const uint8_t *marks, uint8_t mark, uint32_t at)
{
	uint32_t n = 0;

	for (uint32_t b = 0; b < p->f->nblocks; b++)
		for (unsigned k = 0; marks[b] & mark && k < (p->when[b] ? 2u : 1u); k++)
			n += p->next[b][k] == at;
	return n;
}

/* b decides whether a loop goes on. Where no needed register is carried from round to round each of them accesses the same places, and the
 * probe goes round once: from the loop's first block to b, or, if that is b itself, from there to what leads back. */
static bool go_round_once(struct ws_probe *p, uint32_t b, const uint8_t *marks)
{
	unsigned way = marks[b] == FIRST ? 0 : 1;
	uint32_t round = p->next[b][way], out = p->next[b][!way], entry;
	uint8_t mark = marks[b];

	if (mark == (FIRST | SECOND) || (out != WS_EXIT_BLOCK && marks[out] & mark))
		return false;
	entry = entry_of(p, marks, mark);
	if ((entry != round && entry != b) || has_copy(p, marks, mark) || writes_live(p, b, marks, mark, entry) || writes_live(p, b, marks, mark, out))
		return false;
	if (entry != round) {
		for (uint32_t at = 0; at < p->f->nblocks; at++)
			if (marks[at] & mark)
				lead_on(p, at, b, out);
		go(p, b, round);
		return true;
	}
	if (edges_to(p, marks, mark, round) != 1)
		return false;
	go(p, b, out);
	return true;
}

/* ---- branches that go one way in all threads of a block ---- */
static bool is_in_loop(const struct ws_probe *p, uint32_t b)
{
	uint8_t *marks = ws_alloc(p->f->nblocks + 1);
	bool is;

	mark_region(p, p->next[b][0], WS_EXIT_BLOCK, marks, FIRST);
	mark_region(p, p->next[b][1], WS_EXIT_BLOCK, marks, FIRST);
	is = marks[b];
	free(marks);
	return is;
}

static bool is_of_block(const struct ws_probe *p, uint32_t b)
{
	return p->varies && !p->varies[p->when[b]->index];
}

static bool go_either_way(struct ws_probe *p, uint32_t b)
{
	if (!is_of_block(p, b) || p->nvariants == MOST_VARIANTS || is_in_loop(p, b))
		return false;
	p->variant[b] = (uint8_t)++p->nvariants;
	return true;
}

/* How many copies are on their way behind it may depend on the number of rounds. */
static bool go_round_twice(struct ws_probe *p, uint32_t b)
{
	p->twice[b] = p->loop[b] && is_of_block(p, b) && !ws_probe_has_copies(p);
	return p->twice[b];
}

/* A branch whose condition is not known, with something needed on its ways. NULL: the probe can do without; else why not. */
static const char *do_without(struct ws_probe *p, uint32_t b, const uint8_t *marks)
{
	uint32_t join = join_of(p, b);

	if (go_on_without_end(p, b) || go_round_twice(p, b))
		return NULL;
	if (has_barrier(p, marks))
		return "a barrier depends on data, or on the block's index,";
	if (has_end(p, marks, join) || (marks[b] && !go_round_once(p, b, marks)))
		return "a loop with accesses depends on data, or on the block's index,";
	if (!marks[b] && (writes_live(p, b, marks, FIRST | SECOND, join) || !walk_both(p, b, marks, join)))
		return "what addresses depend on is chosen by data, or by the block's index,";
	return NULL;
}

static bool resolve(struct ws_probe *p, uint32_t b)
{
	uint8_t *marks = ws_probe_region(p, b);
	const char *why = NULL;

	if (!ws_probe_has_event(p, marks, FIRST | SECOND, true))
		go(p, b, join_of(p, b));
	else if (p->data[p->when[b]->index])
		why = do_without(p, b, marks);
	free(marks);
	return !why || go_either_way(p, b) || refuse(p, &p->f->insts[p->f->blocks[b].last], why);
}

/* Inner branches come first: they are later in reverse post-order. */
static bool resolve_all(struct ws_probe *p)
{
	for (uint32_t at = p->f->nblocks; at--;)
		for (uint32_t b = 0; b < p->f->nblocks; b++)
			if (p->f->blocks[b].rpo == at && p->when[b] && !resolve(p, b))
				return false;
	return true;
}

/* ---- what it reads ---- */
static bool note(struct ws_probe_value **list, size_t *n, size_t *cap, const struct ws_ptx_inst *i)
{
	struct ws_probe_value v = { i->ops[1].sym, i->ops[1].offset, ws_type_bytes((enum ws_type)i->type[0]) * i->vec };

	for (size_t k = 0; k < *n; k++)
		if ((*list)[k].sym == v.sym && (*list)[k].offset == v.offset && (*list)[k].bytes == v.bytes)
			return true;
	*WS_PUSH(*list, *n, *cap) = v;
	return *n <= MOST_VALUES;
}

bool ws_probe_reads(struct ws_probe *p)
{
	for (uint32_t k = 0; k < p->f->ninsts; k++) {
		const struct ws_ptx_inst *i = &p->f->insts[k];
		bool constant = p->kept[k] && i->op == WS_OP_ld && i->ops[1].sym->space == WS_SPACE_CONST;

		if (!p->kept[k] || i->op != WS_OP_ld || !p->reached[i->block])
			continue;
		if (constant ? !note(&p->constants, &p->nconstants, &p->cap_constants, i) :
		               !note(&p->params, &p->nparams, &p->cap_params, i))
			return refuse(p, i, "too many parameters or constants");
	}
	return true;
}

/* Registers of an inner scope have names that mean something there alone. */
static bool find_scopes(struct ws_probe *p)
{
	const char *text = p->f->module->text, *at = text + p->f->body_off + 1;
	int depth = 0;

	for (uint32_t k = 0; k < p->f->ninsts; k++) {
		const struct ws_ptx_inst *i = &p->f->insts[k];

		for (; at < text + i->off; at++)
			depth += *at == '{' ? 1 : *at == '}' ? -1 : 0;
		at = text + i->off + i->len;
		if (depth && p->reached[i->block] && (p->kept[k] || p->access[k]))
			return refuse(p, i, "registers of an inner scope");
	}
	return true;
}

static void find_reached(struct ws_probe *p)
{
	uint8_t *marks = ws_alloc(p->f->nblocks + 1);

	mark_region(p, 0, WS_EXIT_BLOCK, marks, FIRST);
	for (uint32_t b = 0; b < p->f->nblocks; b++)
		p->reached[b] = marks[b];
	free(marks);
}

/* ---- for the pass ---- */
struct ws_probe *ws_probe_begin(struct ws_ptx_func *f, const struct ws_rw_access *list, uint32_t n)
{
	struct ws_probe *p = ws_alloc(sizeof *p);

	ws_ptx_cfg(f);
	ws_ptx_liveness(f);
	*p = (struct ws_probe){ .f = f, .list = list, .n = n };
	p->access = ws_alloc((f->ninsts + 1) * sizeof *p->access);
	p->aside = ws_alloc(n + 1);
	p->kept = ws_alloc(f->ninsts + 1);
	p->data = ws_alloc((f->nregs + 1) * sizeof *p->data);
	p->needed = ws_alloc(f->nregs + 1);
	p->next = ws_alloc((f->nblocks + 1) * sizeof *p->next);
	p->when = ws_alloc((f->nblocks + 1) * sizeof *p->when);
	p->unless = ws_alloc(f->nblocks + 1);
	p->reached = ws_alloc(f->nblocks + 1);
	p->loop = ws_alloc((f->nblocks + 1) * sizeof *p->loop);
	p->twice = ws_alloc(f->nblocks + 1);
	p->def = ws_alloc((f->nregs + 1) * sizeof *p->def);
	p->before = ws_alloc((f->nblocks + 1) * sizeof *p->before);
	p->behind = ws_alloc((f->nblocks + 1) * sizeof *p->behind);
	p->with_only = ws_alloc(f->nblocks + 1);
	p->variant = ws_alloc(f->nblocks + 1);
	return p;
}

void ws_probe_follow(struct ws_probe *p)
{
	find_data(p);
	find_next(p);
	ws_probe_find_defs(p);
}

struct ws_probe *ws_probe_find(struct ws_ptx_func *kernel, const struct ws_rw_access *list, uint32_t n, const char **why)
{
	struct ws_probe *p = ws_probe_begin(kernel, list, n);

	*why = NULL;
	ws_probe_follow(p);
	ws_probe_find_aside(p);
	if (find_events(p) && (!kernel->nblocks || kernel->blocks[0].live_in)) {
		if (ws_probe_needs(p) && resolve_all(p)) {
			find_reached(p);
			if (ws_probe_reads(p) && find_scopes(p))
				return p;
		}
	}
	if (p->why.len)
		*why = ws_arena_strndup(kernel->module->arena, p->why.data, p->why.len);
	ws_probe_free(p);
	return NULL;
}

void ws_probe_free(struct ws_probe *p)
{
	if (!p)
		return;
	for (uint32_t b = 0; b < p->f->nblocks; b++)
		free(p->loop[b]);
	free(p->loop);
	free(p->twice);
	free(p->def);
	free(p->before);
	free(p->behind);
	free(p->with_only);
	free(p->variant);
	free(p->varies);
	free(p->access);
	free(p->aside);
	free(p->kept);
	free(p->data);
	free(p->needed);
	free(p->next);
	free(p->when);
	free(p->unless);
	free(p->reached);
	free(p->params);
	free(p->constants);
	ws_buf_free(&p->why);
	free(p);
}

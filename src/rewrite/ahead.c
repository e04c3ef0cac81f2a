/* ahead.c - reads of a loop that goes on word by word, checked before its rounds.
 *
 * `for (...) sum += part[b]` reads four words or more a round, side by side, and those behind them in the next one. Where the
 * loop is one basic block, in which the thread does nothing that synchronizes, and a counter says how many rounds are left, all
 * of these reads are certain to come, at the time that the thread is at. So one check can be of many: it is told how many
 * rounds there are, and tells how many bytes it has looked at; rounds whose bytes are among these jump over theirs. By the
 * reasoning of needless.c that holds until the thread may synchronize, also when it comes to the loop again.
 *
 * The number of rounds: the counter goes on by a power of 2, and the loop ends when it is equal to a number. If it would pass that
 * number by, there are more rounds than we count. */
#include "rewrite/ahead.h"

#include <stdio.h>
#include <stdlib.h>

enum { FOUR = 16, MOST_LOOPS = 4, MOST_FOURS = 4, MOST_RESETS = 16 };

struct loop {
	const struct ws_ptx_func *f;
	const struct ws_ptx_block *b;
	const struct ws_rw_access *first;        /* of its reads */
	unsigned fours;
	const struct ws_operand *counter, *limit;
	int64_t step;
	bool added;                      /* where the reads are, the counter has gone on already */
	const char *from, *more;         /* registers: what was looked at last, and how many bytes behind the first four words */
};

struct ws_ahead {
	struct loop list[MOST_LOOPS];
	unsigned n;
};

/* The only instruction of the loop that sets r; it must have no guard. */
static const struct ws_ptx_inst *only_set(const struct loop *l, const struct ws_reg *r)
{
	const struct ws_ptx_inst *found = NULL;

	for (uint32_t k = l->b->first; k <= l->b->last; k++) {
		const struct ws_ptx_inst *i = &l->f->insts[k];

		if (!ws_ptx_sets(i, r))
			continue;
		if (found || i->guard)
			return NULL;
		found = i;
	}
	return found;
}

static bool is_set(const struct loop *l, const struct ws_reg *r)
{
	return ws_sets_between(l->f, l->b->first, l->b->last, r);
}

/* r goes on by a constant in each round: where? */
static const struct ws_ptx_inst *goes_on(const struct loop *l, const struct ws_reg *r, int64_t *step)
{
	const struct ws_ptx_inst *i = r && !ws_type_is_float(r->type) ? only_set(l, r) : NULL;

	if (!i || i->op != WS_OP_add || i->nops != 3 || i->flags & (WS_F_SAT | WS_F_CC) || i->ops[1].kind != WS_O_REG ||
	    i->ops[1].reg != r || i->ops[2].kind != WS_O_INT)
		return NULL;
	*step = ws_type_bytes(r->type) == 4 ? (int32_t)i->ops[2].imm : (int64_t)i->ops[2].imm;
	return i;
}

/* Does this way out of the block lead to it again, perhaps by a jump? */
static bool leads_back(const struct ws_ptx_func *f, const struct ws_ptx_block *b, uint32_t way)
{
	const struct ws_ptx_block *next = &f->blocks[way];

	if (next != b && next->first == next->last && f->insts[next->first].op == WS_OP_bra && next->nsucc == 1)
		next = &f->blocks[next->succ[0]];
	return next == b;
}

/* What ends the loop: a comparison with a number behind the addition to the counter. */
static bool find_end(struct loop *l)
{
	const struct ws_ptx_inst *branch = &l->f->insts[l->b->last], *c, *add;
	bool back[2], taken;

	if (branch->op != WS_OP_bra || !branch->guard || l->b->nsucc != 2 || l->b->succ[0] == l->b->succ[1])
		return false;
	for (unsigned k = 0; k < 2; k++)
		back[k] = leads_back(l->f, l->b, l->b->succ[k]);
	c = only_set(l, branch->guard);
	if (back[0] == back[1] || !c || c->op != WS_OP_setp || c->nops != 3 || c->boolop)
		return false;
	taken = l->f->blocks[l->b->succ[back[1]]].first != l->b->last + 1;       /* to go on */
	if (c->cmp != (taken != branch->guard_neg ? WS_NE : WS_EQ))
		return false;
	for (unsigned k = 1; k < 3; k++) {
		l->counter = &c->ops[k];
		l->limit = &c->ops[3 - k];
		add = l->counter->kind == WS_O_REG ? goes_on(l, l->counter->reg, &l->step) : NULL;
		if (add && add->index < c->index && (l->limit->kind == WS_O_INT || (l->limit->kind == WS_O_REG && !is_set(l, l->limit->reg)))) {
			l->added = add->index < l->first->inst->index;
			return add->index < l->first->inst->index || add->index > l->first[4 * l->fours - 1].inst->index;
		}
	}
	return false;
}

static bool is_power_of_2(int64_t v)
{
	uint64_t u = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;

	return u && !(u & (u - 1));
}

static bool synchronizes(const struct loop *l)
{
	for (uint32_t k = l->b->first; k <= l->b->last; k++)
		if (ws_needless_synchronizes(&l->f->insts[k]))
			return true;
	return false;
}

/* Reads of four from access k on: each has its check, and is behind the one before in memory. */
static unsigned count_fours(const struct ws_rw_access *list, uint32_t n, uint32_t k, const struct ws_needless *needless)
{
	unsigned fours = 0;

	while (fours < MOST_FOURS && k + 4 * fours + 3 < n) {
		const struct ws_rw_access *a = &list[k + 4 * fours];

		if (!needless[k + 4 * fours].four || a->inst->block != list[k].inst->block || a->inst->guard ||
		    a->address->reg != list[k].address->reg || a->address->offset != list[k].address->offset + FOUR * (int64_t)fours)
			break;
		for (unsigned m = 0; m < 4; m++)
			if (needless[k + 4 * fours + m].skip)
				return fours;
		fours++;
	}
	return fours;
}

/* Do the reads at access k make such a loop? */
static bool find_loop(struct loop *l, const struct ws_rw_access *list, uint32_t n, uint32_t k, const struct ws_needless *needless)
{
	const struct ws_ptx_inst *add;
	int64_t step = 0;

	l->first = &list[k];
	l->b = &l->f->blocks[list[k].inst->block];
	l->fours = count_fours(list, n, k, needless);
	if (!l->fours || l->fours == 3 || list[k].address->kind != WS_O_ADDR || !list[k].address->reg || synchronizes(l))
		return false;
	add = goes_on(l, list[k].address->reg, &step);
	return add && step == FOUR * (int64_t)l->fours &&
	       (add->index < list[k].inst->index || add->index > list[k + 4 * l->fours - 1].inst->index) && find_end(l) &&
	       is_power_of_2(l->step);
}

static void nothing_looked_at(const struct loop *l, struct ws_code *c)
{
	ws_code_add(c, "mov.u64 %s, 1;", l->from);       /* no such address */
	ws_code_add(c, "mov.u64 %s, 0;", l->more);
	ws_code_end(c);
}

static void add_registers(struct ws_pass *p, struct ws_ptx_func *f, struct loop *l)
{
	l->from = ws_rw_register(p, f, WS_B64);
	l->more = ws_rw_register(p, f, WS_B64);
	nothing_looked_at(l, ws_code_entry(p, f));
	for (uint32_t k = 0; k < f->ninsts; k++)
		if (ws_needless_synchronizes(&f->insts[k]))
			nothing_looked_at(l, ws_code_at(p, f, &f->insts[k], WS_AFTER));
}

struct ws_ahead *ws_ahead_find(struct ws_pass *p, struct ws_ptx_func *f, const struct ws_rw_access *list, uint32_t n,
                               const struct ws_needless *needless)
{
	struct ws_ahead *a = ws_alloc(sizeof *a);
	unsigned resets = 0;

	ws_ptx_cfg(f);
	for (uint32_t k = 0; k < f->ninsts; k++)
		resets += ws_needless_synchronizes(&f->insts[k]);
	for (uint32_t k = 0; k < n && a->n < MOST_LOOPS && resets <= MOST_RESETS; k++) {
		struct loop *l = &a->list[a->n];

		*l = (struct loop){ .f = f };
		if (!needless[k].four || !find_loop(l, list, n, k, needless))
			continue;
		add_registers(p, f, l);
		k += 4 * l->fours - 1;
		a->n++;
	}
	if (a->n)
		return a;
	ws_ahead_free(a);
	return NULL;
}

void ws_ahead_free(struct ws_ahead *a)
{
	free(a);
}

static const struct loop *loop_of(const struct ws_ahead *a, const struct ws_rw_access *four)
{
	for (unsigned k = 0; a && k < a->n; k++)
		if (four >= a->list[k].first && four < a->list[k].first + 4 * a->list[k].fours)
			return &a->list[k];
	return NULL;
}

const char *ws_ahead_skip(const struct ws_ahead *a, struct ws_code *c, const struct ws_rw_access *four, const char *address)
{
	const struct loop *l = loop_of(a, four);
	const char *behind, *is, *label;

	if (!l)
		return NULL;
	behind = ws_code_temp(c, WS_B64);
	is = ws_code_temp(c, WS_PRED);
	label = ws_code_label(c);
	ws_code_add(c, "sub.s64 %s, %s, %s;", behind, address, l->from);
	ws_code_add(c, "setp.le.u64 %s, %s, %s;", is, behind, l->more);
	ws_code_add(c, "@%s bra %s;", is, label);
	return label;
}

static const char *limit_of(struct ws_code *c, const struct ws_operand *o, unsigned bytes, char text[32])
{
	if (o->kind == WS_O_REG)
		return ws_code_register(c, o);
	snprintf(text, 32, "%lld", bytes == 4 ? (long long)(int32_t)o->imm : (long long)o->imm);
	return text;
}

const char *ws_ahead_rounds(const struct ws_ahead *a, struct ws_code *c, const struct ws_rw_access *four, unsigned *fours)
{
	const struct loop *l = loop_of(a, four);
	unsigned bytes, bits;
	const char *rounds, *left, *counter, *limit;
	char text[32];

	if (!l || l->first != four)
		return NULL;
	bytes = ws_type_bytes(l->counter->reg->type);
	bits = 8 * bytes;
	rounds = ws_code_temp(c, WS_B32);
	left = bytes == 4 ? rounds : ws_code_temp(c, WS_B64);
	counter = ws_code_register(c, l->counter);
	limit = limit_of(c, l->limit, bytes, text);
	if (l->step > 0)
		ws_code_add(c, "sub.s%u %s, %s, %s;", bits, left, limit, counter);
	else
		ws_code_add(c, "sub.s%u %s, %s, %s;", bits, left, counter, limit);
	ws_code_add(c, "shr.u%u %s, %s, %d;", bits, left, left, __builtin_ctzll((uint64_t)l->step));
	if (bytes == 8) {
		ws_code_add(c, "min.u64 %s, %s, 0x7fffffff;", left, left);
		ws_code_add(c, "cvt.u32.u64 %s, %s;", rounds, left);
	}
	if (l->added)
		ws_code_add(c, "add.u32 %s, %s, 1;", rounds, rounds);
	*fours = l->fours;
	return rounds;
}

void ws_ahead_note(const struct ws_ahead *a, struct ws_code *c, const struct ws_rw_access *four, const char *address, const char *more)
{
	const struct loop *l = loop_of(a, four);

	ws_code_add(c, "mov.u64 %s, %s;", l->from, address);
	ws_code_add(c, "cvt.u64.u32 %s, %s;", l->more, more);
}

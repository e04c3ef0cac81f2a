/* repeat.c - checks that a thread would make again and again of the same bytes.
 *
 * `for (...) out[i] += ...` writes one word in each round. Let thread t access bytes weakly at A and later, in the same way,
 * again at B, and do nothing in between that synchronizes. By the reasoning of needless.c an access of another thread races
 * with B if and only if it races with A, so A's check finds it. Here A and B are rounds of a loop: accesses of one address
 * have a counter, which is 0 when the function is entered, when the register of the address is written, and whenever the
 * thread may synchronize; and an access is checked where the counter says that it is the first.
 *
 * Of accesses that follow each other in a basic block the first alone has a check.
 *
 * Of two writes it also matters whether they write the same value, for then a race is a warning. That depends on the round. So
 * an access is also checked when its count is a power of 2: of n rounds log n. */
#include "rewrite/repeat.h"

#include <stdlib.h>

enum { MOST_COUNTERS = 4, MOST_RESETS = 16 };

struct counter {                         /* accesses of one kind to the same bytes, as far as the text tells */
	const struct ws_rw_access *of;
	const char *n;
};

struct ws_repeats {
	struct counter list[MOST_COUNTERS];
	unsigned n;
};

static bool same(const struct ws_rw_access *a, const struct ws_rw_access *b)
{
	return a->address->reg == b->address->reg && a->address->sym == b->address->sym &&
	       a->address->component == b->address->component && a->address->offset == b->address->offset &&
	       a->space == b->space && a->bytes == b->bytes && a->kind == b->kind;
}

static bool counts(const struct ws_rw_access *a)
{
	return a->rw_class == WS_RW_CHECK && a->kind != WS_RW_ATOMIC && a->sem == WS_SEM_WEAK && !a->needed.p &&
	       a->inst->op != WS_OP_mbarrier;
}

/* Does the instruction make the counter begin anew? */
static bool resets(const struct ws_ptx_inst *i, const struct ws_rw_access *a)
{
	return ws_needless_synchronizes(i) || ws_ptx_sets(i, a->address->reg);
}

static bool block_resets(const struct ws_ptx_func *f, const struct ws_ptx_block *b, const struct ws_rw_access *a)
{
	for (uint32_t k = b->first; k <= b->last; k++)
		if (resets(&f->insts[k], a))
			return true;
	return false;
}

/* Does control come from the access to itself with nothing on the way that makes the counter begin anew? */
static bool comes_again(const struct ws_ptx_func *f, const struct ws_rw_access *a)
{
	bool *closed = ws_alloc(f->nblocks + 1), found;

	for (uint32_t k = 0; k < f->nblocks; k++)
		closed[k] = block_resets(f, &f->blocks[k], a);
	found = ws_ptx_block_reaches(f, a->inst->block, a->inst->block, closed);
	free(closed);
	return found;
}

static unsigned count_resets(const struct ws_ptx_func *f, const struct ws_rw_access *a)
{
	unsigned n = 0;

	for (uint32_t k = 0; k < f->ninsts; k++)
		n += resets(&f->insts[k], a);
	return n;
}

static void set_to_0(struct ws_code *c, const char *n)
{
	ws_code_add(c, "mov.u32 %s, 0;", n);
	ws_code_end(c);
}

static void add_counter(struct ws_repeats *r, struct ws_pass *p, struct ws_ptx_func *f, const struct ws_rw_access *a)
{
	struct counter *x = &r->list[r->n++];

	*x = (struct counter){ a, ws_rw_register(p, f, WS_B32) };
	set_to_0(ws_code_entry(p, f), x->n);
	for (uint32_t k = 0; k < f->ninsts; k++)
		if (resets(&f->insts[k], a))
			set_to_0(ws_code_at(p, f, &f->insts[k], WS_AFTER), x->n);
}

static const struct counter *counter_of(const struct ws_repeats *r, const struct ws_rw_access *a)
{
	for (unsigned k = 0; k < r->n && counts(a); k++)
		if (same(r->list[k].of, a))
			return &r->list[k];
	return NULL;
}

/* Has the thread, when it comes to b, come to a in the same way, with nothing in between? */
static bool follows(const struct ws_ptx_func *f, const struct ws_rw_access *a, const struct ws_rw_access *b)
{
	const struct ws_reg *guard = a->inst->guard;

	if (!same(a, b) || a->inst->block != b->inst->block ||
	    (guard && (guard != b->inst->guard || a->inst->guard_neg != b->inst->guard_neg)))
		return false;
	for (uint32_t k = a->inst->index; k < b->inst->index; k++)
		if (resets(&f->insts[k], a) || ws_ptx_sets(&f->insts[k], guard))
			return false;
	return true;
}

static void leave_out_followers(const struct ws_repeats *r, const struct ws_ptx_func *f, const struct ws_rw_access *list, uint32_t n,
				struct ws_needless *needless)
{
	enum { WINDOW = 64 };                /* accesses */

	for (uint32_t k = 0; k < n; k++) {
		if (needless[k].skip || !counter_of(r, &list[k]))
			continue;
		for (uint32_t m = k + 1; m < n && m < k + WINDOW; m++)
			needless[m].skip |= counts(&list[m]) && follows(f, &list[k], &list[m]);
	}
}

struct ws_repeats *ws_repeats_find(struct ws_pass *p, struct ws_ptx_func *f, const struct ws_rw_access *list, uint32_t n,
				   struct ws_needless *needless)
{
	struct ws_repeats *r = ws_alloc(sizeof *r);

	ws_ptx_cfg(f);
	for (uint32_t k = 0; k < n && r->n < MOST_COUNTERS; k++)
		if (counts(&list[k]) && !needless[k].skip && !needless[k].four && !counter_of(r, &list[k]) &&
		    comes_again(f, &list[k]) && count_resets(f, &list[k]) <= MOST_RESETS)
			add_counter(r, p, f, &list[k]);
	leave_out_followers(r, f, list, n, needless);
	if (r->n)
		return r;
	ws_repeats_free(r);
	return NULL;
}

void ws_repeats_free(struct ws_repeats *r)
{
	free(r);
}

const char *ws_repeats_skip(const struct ws_repeats *r, struct ws_code *c, const struct ws_rw_access *a)
{
	const struct counter *x = r ? counter_of(r, a) : NULL;
	const char *before, *label, *skip;

	if (!x)
		return NULL;
	before = ws_code_temp(c, WS_B32);
	skip = ws_code_temp(c, WS_PRED);
	label = ws_code_label(c);
	ws_code_add(c, "add.u32 %s, %s, -1;", before, x->n);
	ws_code_add(c, "and.b32 %s, %s, %s;", before, before, x->n);
	ws_code_add(c, "add.u32 %s, %s, 1;", x->n, x->n);
	ws_code_add(c, "setp.ne.u32 %s, %s, 0;", skip, before);
	ws_code_add(c, "@%s bra %s;", skip, label);
	return label;
}

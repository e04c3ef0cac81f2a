/* needless.c - proofs that an access needs no check of its own.
 *
 * A read that repeats one. Thread t reads bytes weakly at A and again at B, later in the same basic block; between the
 * two t does nothing that synchronizes: no barrier, fence, call, atomic or strong access, no bar.warp.sync. Let C be a
 * write by another thread to one of these bytes.
 *   - If A is ordered before C, then by something that t did after A; that came after B, too. So B is before C.
 *   - If C is ordered before B, then by something that t did before B; that came before A, too. So C is before A.
 * So B races with C only if A does, and A is a read of the same bytes, as weak, checked as it runs: the race is found
 * there. (Writes are left alone: what a race with another write is called depends on the values that are
 * written.)
 *
 * A read before a write, as in `x += 1`. Thread t reads bytes weakly at A, and whenever it does it writes exactly these
 * bytes weakly at B, later in the same basic block; in between as above. By the same reasoning a write C by another
 * thread races with A if and only if it races with B. So B's check stands for both, as one of class WS_RACE_UPDATE: a
 * race of B with a write is one of A, too.
 *
 * Reads of four words side by side, as loops have them that compilers unroll: between the first and the last the thread
 * does nothing that synchronizes and no other access, so all may be checked together before the first. */
#include "rewrite/needless.h"

/* The bytes of an access, as far as the text tells: from `offset` on behind what a register holds, or a variable. */
struct bytes {
	const struct ws_reg *reg;
	const struct ws_ptx_sym *sym;
	uint8_t component;
	enum ws_space space;
	int64_t offset, end;
};

static struct bytes bytes_of(const struct ws_rw_access *a)
{
	const struct ws_operand *o = a->address;

	return (struct bytes){ o->reg, o->sym, o->component, a->space, o->offset, o->offset + a->bytes };
}

static bool covers(const struct bytes *a, const struct bytes *b)
{
	return a->reg == b->reg && a->sym == b->sym && a->component == b->component && a->space == b->space &&
	       a->offset <= b->offset && b->end <= a->end;
}

bool ws_sets_between(const struct ws_ptx_func *f, uint32_t first, uint32_t last, const struct ws_reg *r)
{
	for (uint32_t k = first; k <= last; k++)
		if (ws_ptx_sets(&f->insts[k], r))
			return true;
	return false;
}

/* May the thread synchronize with others here? */
bool ws_needless_synchronizes(const struct ws_ptx_inst *i)
{
	unsigned fx = ws_op_info(i->op)->fx;

	if (i->op == WS_OP_ld || i->op == WS_OP_st)
		return ws_ptx_order(i).sem != WS_SEM_WEAK || i->mode == WS_MODE_OTHER;
	return fx & (WS_FX_BARRIER | WS_FX_FENCE | WS_FX_CALL | WS_FX_SYNC | WS_FX_ASYNC | WS_FX_ATOMIC) ||
	       i->op == WS_OP_unknown;
}

/* Is it a check of a read that later ones may rely on? One of some threads only is, for those under the same guard. */
static bool plain_read(const struct ws_rw_access *a)
{
	return a->rw_class == WS_RW_CHECK && a->kind == WS_RW_READ && a->sem == WS_SEM_WEAK && !a->needed.p;
}

static bool plain_write(const struct ws_rw_access *a)
{
	return a->rw_class == WS_RW_CHECK && a->kind == WS_RW_WRITE && a->sem == WS_SEM_WEAK;
}

static bool runs_whenever(const struct ws_ptx_inst *a, const struct ws_ptx_inst *b)
{
	return !a->guard || (a->guard == b->guard && a->guard_neg == b->guard_neg);
}

struct search {
	const struct ws_ptx_func *f;
	struct ws_rw_access *list;
	uint32_t n;
	struct ws_needless *out;
};

/* Access k is a read; next comes behind it, and nothing in between is in the way. */
static void compare(struct search *s, uint32_t k, uint32_t next)
{
	const struct ws_rw_access *from = &s->list[k], *to = &s->list[next];
	struct bytes mine, other;

	if ((!plain_read(to) && !plain_write(to)) || !runs_whenever(from->inst, to->inst))
		return;
	mine = bytes_of(from);
	other = bytes_of(to);
	if (!covers(&mine, &other))
		return;
	if (plain_read(to)) {
		s->out[next].skip = true;
	} else if (!s->out[k].skip && covers(&other, &mine) && from->inst->guard == to->inst->guard) {
		s->out[k].skip = true;
		s->out[next].read = from->inst;
	}
}

/* Looks from access k on for reads that it makes needless, and for a write that makes it needless itself. */
static void look_behind(struct search *s, uint32_t k)
{
	enum { WINDOW = 256 };               /* instructions: a basic block may have many thousands */
	const struct ws_ptx_inst *from = s->list[k].inst;
	const struct ws_ptx_block *block = &s->f->blocks[from->block];
	const struct ws_reg *address = s->list[k].address->reg, *guard = from->guard;
	bool changed = ws_ptx_sets(from, address) || ws_ptx_sets(from, guard);
	uint32_t next = k + 1;

	for (uint32_t i = from->index + 1; i <= block->last && i < from->index + WINDOW && !changed; i++) {
		const struct ws_ptx_inst *at = &s->f->insts[i];

		if (ws_needless_synchronizes(at))
			return;
		if (next < s->n && s->list[next].inst == at)
			compare(s, k, next++);
		changed = ws_ptx_sets(at, address) || ws_ptx_sets(at, guard);
	}
}

void ws_needless_find(struct ws_ptx_func *f, struct ws_rw_access *list, uint32_t n, struct ws_needless *out)
{
	struct search s = { f, list, n, out };

	ws_ptx_cfg(f);
	for (uint32_t k = 0; k < n; k++)
		if (plain_read(&list[k]) && !out[k].skip)
			look_behind(&s, k);
}

/* Is `to`, the next access, the word behind that of `from`, with nothing in between that is in the way? */
static bool next_word(const struct ws_ptx_func *f, const struct ws_rw_access *from, const struct ws_rw_access *to)
{
	enum { WINDOW = 32 };                /* instructions */
	struct bytes a = bytes_of(from), b = bytes_of(to);
	uint32_t i = from->inst->index;

	if (!plain_read(to) || to->space != WS_SPACE_GLOBAL || to->bytes != 4 || to->inst->block != from->inst->block ||
	    to->inst->guard != from->inst->guard || to->inst->guard_neg != from->inst->guard_neg || a.reg != b.reg ||
	    a.sym != b.sym || a.component != b.component || b.offset != a.end || to->inst->index - i > WINDOW)
		return false;
	for (; i < to->inst->index; i++)
		if (ws_needless_synchronizes(&f->insts[i]) || ws_ptx_sets(&f->insts[i], a.reg) || ws_ptx_sets(&f->insts[i], from->inst->guard))
			return false;
	return true;
}

void ws_needless_fours(struct ws_ptx_func *f, const struct ws_rw_access *list, uint32_t n, struct ws_needless *out)
{
	ws_ptx_cfg(f);
	for (uint32_t k = 0; k + 3 < n; k++) {
		uint32_t m = 0;

		if (!plain_read(&list[k]) || list[k].space != WS_SPACE_GLOBAL || list[k].bytes != 4 || out[k].skip)
			continue;
		while (m < 3 && !out[k + m + 1].skip && next_word(f, &list[k + m], &list[k + m + 1]))
			m++;
		out[k].four = m == 3;
		k += m;
	}
}

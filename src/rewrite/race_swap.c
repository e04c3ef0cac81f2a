/* race_swap.c - compare-and-swap (race.c): one that has found another number than it compares with has only read.
 *
 * Whether it writes is known behind it, so its check stands there, as that of an atomic or of a strong read; and what others had entered before
 * it is looked at before it (src/device/race_swap.cuh says why). That of a lock stands before it, for it would make all sections longer: on an
 * H100 a table of spin locks took twice as long. It is an atomic there in any case, and what that finds with reads alone is not told as a
 * race, but as what may be one (ws_rw_site.may_fail). */
#include "rewrite/class.h"
#include "rewrite/race_priv.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RESULT, ADDRESS, COMPARED };           /* operands of atom.cas */
enum { AT, W, R };                       /* of body->seen */

static bool is_whole(const struct ws_operand *o)
{
	return o->kind == WS_O_REG && o->reg && o->reg->vec == 1 && !o->component;
}

static bool swaps(const struct ws_ptx_inst *i) { return i->op == WS_OP_atom && i->atom == WS_ATOM_CAS; }

/* ---- locks ---- */
struct way {                             /* through the function from a compare-and-swap on */
	const struct ws_ptx_func *f;
	const struct ws_ptx_inst *swap;
	uint8_t *seen;                   /* by block */
	uint32_t *next, n;               /* blocks that it comes to */
};

static bool moves(const struct ws_ptx_inst *i, const struct ws_ptx_inst *swap)
{
	const struct ws_operand *address = &swap->ops[ADDRESS];

	return address->reg && ws_ptx_sets(i, address->reg);
}

static bool same_word(const struct ws_ptx_inst *i, const struct ws_ptx_inst *swap)
{
	const struct ws_operand *a = &i->ops[ADDRESS], *b = &swap->ops[ADDRESS];

	return i == swap || (swaps(i) && a->kind == b->kind && a->reg == b->reg && a->sym == b->sym && a->offset == b->offset);
}

/* From instruction `from` to the block's end: does it come to the swap again, or to one like it? Where its address changes it is another word. */
static bool comes_back(struct way *w, const struct ws_ptx_block *block, uint32_t from)
{
	for (uint32_t k = from; k <= block->last; k++) {
		if (same_word(&w->f->insts[k], w->swap))
			return true;
		if (moves(&w->f->insts[k], w->swap))
			return false;
	}
	for (uint32_t k = 0; k < block->nsucc; k++) {
		uint32_t to = block->succ[k];

		if (to < w->f->nblocks && !w->seen[to]) {
			w->seen[to] = 1;
			w->next[w->n++] = to;
		}
	}
	return false;
}

/* Is it tried again at the same word? */
static bool tries_again(const struct ws_ptx_func *f, const struct ws_ptx_inst *swap)
{
	struct way w = { .f = f, .swap = swap, .seen = ws_alloc(f->nblocks), .next = ws_alloc(f->nblocks * sizeof *w.next) };
	uint32_t k = 0;
	bool again = true;

	while (k < f->nblocks && f->blocks[k].last < swap->index)
		k++;
	if (k < f->nblocks)
		again = !moves(swap, swap) && comes_back(&w, &f->blocks[k], swap->index + 1);
	while (!again && w.n) {
		const struct ws_ptx_block *block = &f->blocks[w.next[--w.n]];

		again = comes_back(&w, block, block->first);
	}
	free(w.seen);
	free(w.next);
	return again;
}

/* As is_of_lock in src/device/race_locked.cuh. */
bool ws_race_is_lock(const struct body *b, const struct ws_rw_access *a)
{
	uint32_t what = swaps(a->inst) && a->space == WS_SPACE_GLOBAL ? ws_race_what(b, a, false) : 0, class = WS_RACE_CLASS_OF(what);

	return what & WS_RACE_RETRIES && !(what & WS_RACE_BARRIERS) && a->bytes == 4 &&
	       (class == WS_RACE_ATOMIC_GPU || class == WS_RACE_ATOMIC_SYS) && tries_again(b->f, a->inst);
}

bool ws_race_checks_behind(const struct body *b, const struct ws_rw_access *a)
{
	const struct ws_ptx_inst *i = a->inst;

	return swaps(i) && !b->race->range && !ws_race_is_lock(b, a) && is_whole(&i->ops[RESULT]) &&
	       ws_ptx_sets(i, i->ops[RESULT].reg) && (is_whole(&i->ops[COMPARED]) || i->ops[COMPARED].kind == WS_O_INT);
}

static const char *number_of(struct ws_code *c, const struct ws_operand *o)
{
	char s[32];

	snprintf(s, sizeof s, "%" PRId64, (int64_t)o->imm);
	return ws_arena_strndup(ws_rw_module(c->p)->arena, s, strlen(s));
}

/* The two halves of 16 bytes, for there is no comparison of them. */
static void halve(struct ws_code *c, const char *whole, const char *const half[2])
{
	ws_code_add(c, "mov.b128 {%s, %s}, %s;", half[0], half[1], whole);
}

static void keep_compared(struct body *b, struct ws_code *c, const struct ws_rw_access *a, struct ws_race_swap *s)
{
	const struct ws_operand *o = &a->inst->ops[COMPARED];
	enum ws_type type = a->bytes == 2 ? WS_B16 : a->bytes == 4 ? WS_B32 : WS_B64;
	unsigned n = a->bytes == 16 ? 2 : 1;

	if (o->kind != WS_O_REG) {
		s->compared[0] = number_of(c, o);
		return;
	}
	if (n == 1 && !ws_ptx_sets(a->inst, o->reg)) {
		s->compared[0] = ws_code_register(c, o);
		return;
	}
	for (unsigned k = 0; k < n; k++)
		s->compared[k] = ws_rw_register(b->race->p, b->f, type);
	if (n == 2)
		halve(c, ws_code_register(c, o), s->compared);
	else
		ws_code_add(c, "mov.b%u %s, %s;", 8 * a->bytes, s->compared[0], ws_code_register(c, o));
}

/* The loads are waited for where they are used: behind the access. */
static bool look(struct body *b, struct ws_code *c, const struct ws_rw_access *a, const char *address, const char *what)
{
	const char *args[] = { ws_race_thread(b), address, what, ws_race_number(b->race->p, b->race->nsites) }, *p;

	if (ws_race_may_be_of_peer(b, a))
		return ws_inline(c, "race_peer_swap", args + 1, 3, NULL) && ws_inline(c, "race_peer_swap_w", args + 1, 2, b->seen[W]) &&
		       ws_inline(c, "race_peer_swap_r", args + 1, 2, b->seen[R]);
	if (a->space != WS_SPACE_GLOBAL)
		return ws_inline(c, "race_swap_w", args + 1, 2, b->seen[W]) && ws_inline(c, "race_swap_r", args + 1, 2, b->seen[R]);
	if (!ws_inline(c, "race_swap_at", args, 3, b->seen[AT]))
		return false;
	p = ws_code_temp(c, WS_PRED);
	ws_code_add(c, "setp.gt.u64 %s, %s, %d;", p, b->seen[AT], WS_RACE_TRIED);
	ws_code_add(c, "mov.b64 %s, 0;", b->seen[W]);
	ws_code_add(c, "mov.b64 %s, 0;", b->seen[R]);
	ws_code_add(c, "@%s ld.volatile.global.v2.u64 {%s, %s}, [%s];", p, b->seen[W], b->seen[R], b->seen[AT]);
	return true;
}

bool ws_race_before_swap(struct body *b, struct ws_code *c, const struct ws_rw_access *a, const char *address, const char *what,
			 struct ws_race_swap *s)
{
	*s = (struct ws_race_swap){ { NULL, NULL } };
	for (unsigned k = 0; k < WS_COUNT(b->seen); k++)
		if (!b->seen[k])
			b->seen[k] = ws_rw_register(b->race->p, b->f, WS_B64);
	keep_compared(b, c, a, s);
	return look(b, c, a, address, what);
}

/* A predicate: it has found something else. */
static const char *differs(struct ws_code *c, const struct ws_rw_access *a, const struct ws_race_swap *s)
{
	const char *p = ws_code_temp(c, WS_PRED), *found = ws_code_register(c, &a->inst->ops[RESULT]), *half[2];

	if (a->bytes < 16) {
		ws_code_add(c, "setp.ne.b%u %s, %s, %s;", 8 * a->bytes, p, found, s->compared[0]);
		return p;
	}
	half[0] = ws_code_temp(c, WS_B64);
	half[1] = ws_code_temp(c, WS_B64);
	halve(c, found, half);
	ws_code_add(c, "setp.ne.b64 %s, %s, %s;", p, half[0], s->compared[0]);
	ws_code_add(c, "setp.ne.or.b64 %s, %s, %s, %s;", p, half[1], s->compared[1], p);
	return p;
}

bool ws_race_behind_swap(struct body *b, struct ws_code *c, const struct ws_rw_access *a, const struct ws_race_swap *s, const char *address,
			 const char *what, const char *site)
{
	const char *fast[] = { ws_race_thread(b), address, what, site, b->seen[AT], b->seen[W], b->seen[R] };
	const char *slow[] = { address, what, site, b->seen[W], b->seen[R] };
	const char *failed = differs(c, a, s), *other = ws_code_label(c), *behind = ws_code_label(c);
	bool global = a->space == WS_SPACE_GLOBAL, peer = ws_race_may_be_of_peer(b, a), done;

	ws_code_add(c, "@%s bra %s;", failed, other);
	done = global ? ws_inline(c, "race_swapped_global", fast, WS_COUNT(fast), NULL) :
	                ws_inline(c, peer ? "race_peer_swapped" : "race_swapped", slow, WS_COUNT(slow), NULL);
	ws_code_add(c, "bra %s;", behind);
	ws_race_label(c, other);
	done = done && (global ? ws_inline(c, "race_not_swapped_global", fast, WS_COUNT(fast), NULL) :
	                         ws_inline(c, peer ? "race_peer_not_swapped" : "race_not_swapped", slow, 3, NULL));
	ws_race_label(c, behind);
	return done;
}

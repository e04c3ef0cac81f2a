/* constants.c - copies of a register that can hold nothing but a number there become copies of the number.
 *
 * Compilers have one register of 0 for what a loop counts from and for what it sums up: `mov zero, 0; mov i, zero;`, and sums go on in
 * `zero` itself. What looks at no order of instructions takes i for a sum. Where one definition alone reaches the copy, and it is a number, the
 * copy is of the number. The text of the program stays as it is. */
#include "rewrite/constants.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_WORK = 4000000 };            /* instructions that are looked at */

struct search {
	struct ws_ptx_func *f;
	const struct ws_reg *r;
	const struct ws_ptx_inst *found;
	bool *seen;                      /* by block */
	uint32_t *work;
};

/* Goes back from before instruction `to` of a block. false: there is another definition, or none on some way. */
static bool look_back(struct search *s, uint32_t block, uint32_t to)
{
	const struct ws_ptx_block *b = &s->f->blocks[block];

	for (uint32_t k = to; k > b->first; k--) {
		const struct ws_ptx_inst *i = &s->f->insts[k - 1];

		if (++*s->work > MOST_WORK)
			return false;
		if (!ws_ptx_sets(i, s->r))
			continue;
		if (i->guard || (s->found && s->found != i))
			return false;
		s->found = i;
		return true;
	}
	for (uint32_t k = 0; k < b->npred; k++) {
		uint32_t from = b->pred[k];

		if (!s->seen[from] && (s->seen[from] = true) && !look_back(s, from, s->f->blocks[from].last + 1))
			return false;
	}
	return block && b->npred;
}

static bool is_number(const struct ws_ptx_inst *i)
{
	return i->op == WS_OP_mov && i->nops == 2 && i->ops[0].kind == WS_O_REG && !i->ops[0].component && i->ops[1].kind == WS_O_INT &&
	       ws_type_bytes((enum ws_type)i->type[0]) == ws_type_bytes(i->ops[0].reg->type);
}

static bool is_copy(const struct ws_ptx_inst *i)
{
	return i->op == WS_OP_mov && i->nops == 2 && i->ops[0].kind == WS_O_REG && !i->ops[0].component && i->ops[1].kind == WS_O_REG &&
	       !i->ops[1].component && !i->ops[1].negated && i->ops[1].reg->vec == 1 &&
	       ws_type_bytes((enum ws_type)i->type[0]) == ws_type_bytes(i->ops[1].reg->type);
}

void ws_constants_copy(struct ws_ptx_func *f)
{
	uint32_t work = 0;
	bool *seen, *numbers = ws_alloc(f->nregs + 1);

	ws_ptx_cfg(f);
	seen = ws_alloc((f->nblocks + 1) * sizeof *seen);
	for (uint32_t k = 0; k < f->ninsts; k++)
		if (is_number(&f->insts[k]))
			numbers[f->insts[k].ops[0].reg->index] = true;
	for (uint32_t k = 0; k < f->ninsts; k++) {
		struct ws_ptx_inst *i = &f->insts[k];
		struct search s = { .f = f, .seen = seen, .work = &work };

		if (!is_copy(i) || !numbers[i->ops[1].reg->index])
			continue;
		s.r = i->ops[1].reg;
		memset(seen, 0, f->nblocks * sizeof *seen);
		if (look_back(&s, i->block, k) && s.found && is_number(s.found)) {
			i->ops[1].kind = WS_O_INT;
			i->ops[1].imm = s.found->ops[1].imm;
			i->ops[1].reg = NULL;
		}
	}
	free(seen);
	free(numbers);
}

bool ws_constants_text(const struct ws_ptx_func *f, const struct ws_ptx_inst *i, struct ws_buf *out)
{
	const struct ws_operand *o = &i->ops[1];
	const char *text = f->module->text;

	if (i->op != WS_OP_mov || i->nops != 2 || o->kind != WS_O_INT || text[o->off] != '%')
		return false;
	ws_buf_printf(out, "%.*s%lld%.*s", (int)(o->off - i->off), text + i->off, (long long)o->imm, (int)(i->off + i->len - o->off - o->len),
		      text + o->off + o->len);
	return true;
}

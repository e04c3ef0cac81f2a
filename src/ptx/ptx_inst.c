/* ptx_inst.c - instructions: guard, mnemonic with its modifiers, operands, calls (PTX ISA 9.0, chapters 9.1 to 9.3). */
#include "ptx/ptx_priv.h"

#include <string.h>

enum { MAX_EXTRA = 256 };

struct mnemonic {                        /* the words of one mnemonic */
	struct ws_ptx_inst *i;
	uint64_t classes;
	const char *op;
	char extra[MAX_EXTRA + 8];       /* words without a field */
	size_t extra_len;
	char all[MAX_EXTRA];             /* all words */
	size_t all_len;
	bool other_type, warp_sync;
};

bool ws_ptx_is_raw(const struct ws_ptx_inst *i)
{
	if (ws_ptx_ops[i->op].mods & M_RAW)
		return true;
	for (unsigned k = 0; k < i->ntypes; k++)
		if (i->type[k] == WS_T_OTHER)
			return true;
	return false;
}

/* add, sub and fma of .f32 with halves (PTX ISA 9.0, Mixed Precision Floating Point Instructions) */
bool ws_ptx_mixed(const struct ws_ptx_inst *i)
{
	return i->ntypes == 2 && (i->op == WS_OP_add || i->op == WS_OP_sub || i->op == WS_OP_fma);
}

static bool append(struct parser *p, char *to, size_t *len)
{
	if (*len + p->t.len + 1 > MAX_EXTRA)
		return ws_p_error_here(p, "too many modifiers");
	memcpy(to + *len, p->t.name->str, p->t.len);
	*len += p->t.len;
	to[*len] = 0;
	return true;
}

static bool twice(struct parser *p, const struct mnemonic *m)
{
	return ws_p_error_here(p, "'%s' conflicts with another modifier of '%s'", p->t.name->str, m->op);
}

/* One field that may be set once; RAW opcodes keep the first. */
static bool set_once(struct parser *p, const struct mnemonic *m, uint8_t *field, uint32_t value)
{
	if (*field && !(m->classes & M_RAW))
		return twice(p, m);
	if (!*field)
		*field = (uint8_t)value;
	return true;
}

static bool set_type(struct parser *p, struct mnemonic *m, const struct mod_row *r)
{
	struct ws_ptx_inst *i = m->i;

	if (r->field == MF_OTHERTYPE)
		m->other_type = true;
	if (i->ntypes == 3)
		return (m->classes & M_RAW) ? true : ws_p_error_here(p, "too many types for '%s'", m->op);
	i->type[i->ntypes++] = (uint8_t)r->value;
	return true;
}

/* .mmio stands together with .relaxed (ld, st: PTX ISA 9.0) */
static bool set_sem(struct parser *p, struct mnemonic *m, uint32_t value)
{
	struct ws_ptx_inst *i = m->i;

	if (i->sem == WS_SEM_MMIO && value == WS_SEM_RELAXED)
		return true;
	if (i->sem == WS_SEM_RELAXED && value == WS_SEM_MMIO)
		i->sem = WS_SEM_NONE;
	if (i->sem == WS_SEM_MMIO && i->mode == WS_MODE_OTHER) {         /* st.async.mmio.release */
		i->sem = (uint8_t)value;
		memcpy(m->extra + m->extra_len, ".mmio", sizeof ".mmio");
		m->extra_len += 5;
		return true;
	}
	return set_once(p, m, &i->sem, value);
}

static bool set_mode(struct parser *p, struct mnemonic *m, uint32_t value)
{
	struct ws_ptx_inst *i = m->i;

	if (i->mode == WS_MODE_OTHER)
		return append(p, m->extra, &m->extra_len);
	if (i->mode == WS_MODE_WARP_SYNC && value == WS_MODE_SYNC) {
		m->warp_sync = true;
		return true;
	}
	return set_once(p, m, &i->mode, value);
}

static bool set_variant(struct parser *p, struct mnemonic *m)
{
	m->i->mode = WS_MODE_OTHER;
	return append(p, m->extra, &m->extra_len);
}

static bool set_proxy(struct parser *p, struct mnemonic *m)
{
	if (strcmp(p->t.name->str, ".proxy") == 0)
		return set_once(p, m, &m->i->mode, WS_MODE_PROXY);
	if (m->i->mode != WS_MODE_PROXY)
		m->i->mode = WS_MODE_OTHER;
	return append(p, m->extra, &m->extra_len);
}

static bool set_flag(struct parser *p, struct mnemonic *m, uint32_t flag)
{
	if ((m->i->flags & flag) && !(m->classes & M_RAW))
		return twice(p, m);
	m->i->flags |= flag;
	return true;
}

static bool apply_row(struct parser *p, struct mnemonic *m, const struct mod_row *r)
{
	struct ws_ptx_inst *i = m->i;

	switch ((enum mod_field)r->field) {
	case MF_TYPE: case MF_OTHERTYPE: return set_type(p, m, r);
	case MF_SPACE: return set_once(p, m, &i->space, r->value);
	case MF_RND: return set_once(p, m, &i->rnd, r->value);
	case MF_CMP: return set_once(p, m, &i->cmp, r->value);
	case MF_BOOL: return set_once(p, m, &i->boolop, r->value);
	case MF_ATOM: return set_once(p, m, &i->atom, r->value);
	case MF_PART: return set_once(p, m, &i->part, r->value);
	case MF_SEM: return set_sem(p, m, r->value);
	case MF_SCOPE: return set_once(p, m, &i->scope, r->value);
	case MF_MODE: return set_mode(p, m, r->value);
	case MF_FLAG: return set_flag(p, m, r->value);
	case MF_VEC: return set_once(p, m, &i->vec, r->value);
	case MF_HINT: case MF_WORD: return append(p, m->extra, &m->extra_len);
	case MF_VARIANT: return set_variant(p, m);
	case MF_PROXY: return set_proxy(p, m);
	case MF_WARP: return set_once(p, m, &i->mode, WS_MODE_WARP_SYNC);
	}
	return false;
}

static const struct mod_row *row_of(const struct parser *p, const struct name *n, uint64_t classes)
{
	for (unsigned k = n->mod; k; k = p->names.mod_next[k - 1])
		if (ws_ptx_mods[k - 1].classes & classes)
			return &ws_ptx_mods[k - 1];
	return NULL;
}

static bool one_word(struct parser *p, struct mnemonic *m)
{
	const struct mod_row *r = row_of(p, p->t.name, m->classes);

	if (!r && p->t.name->mod)
		return ws_p_error_here(p, "modifier '%s' is not legal with '%s'", p->t.name->str, m->op);
	if (!r)
		return ws_p_error_here(p, "unknown modifier '%s' of '%s'", p->t.name->str, m->op);
	return append(p, m->all, &m->all_len) && apply_row(p, m, r);
}

static bool words(struct parser *p, struct ws_ptx_inst *i)
{
	struct mnemonic m = { .i = i, .classes = ws_ptx_ops[i->op].mods, .op = ws_op_info(i->op)->name };

	for (; p->t.kind == TK_DOT; ws_p_next(p))
		if (!one_word(p, &m))
			return false;
	if (i->mode == WS_MODE_WARP_SYNC && !m.warp_sync)
		return ws_p_error_here(p, "expected '.sync' after 'bar.warp'");
	if (!i->vec)
		i->vec = 1;
	if (m.other_type || ws_ptx_mixed(i))
		i->mode = WS_MODE_OTHER;
	if (i->op == WS_OP_bar && i->mode != WS_MODE_WARP_SYNC)
		i->flags |= WS_F_ALIGNED;        /* bar is barrier.aligned (PTX ISA 9.0, bar) */
	if (i->op == WS_OP_fence && !i->sem && !i->mode)
		i->sem = WS_SEM_ACQ_REL;         /* the default (PTX ISA 9.0, fence) */
	if (m.other_type || (m.classes & M_RAW))
		i->extra = m.all_len ? ws_names_get(&p->names, m.all, m.all_len)->str : NULL;
	else
		i->extra = m.extra_len ? ws_names_get(&p->names, m.extra, m.extra_len)->str : NULL;
	return true;
}

/* ---- operands ---- */
static bool takes_label(const struct ws_ptx_inst *i, unsigned k)
{
	return (i->op == WS_OP_bra && k == 0) || (i->op == WS_OP_brx && k == 1);
}

static bool operands(struct parser *p, struct ws_ptx_inst *i)
{
	struct ws_operand ops[WS_MAX_OPERANDS];
	unsigned n = 0;
	bool paired = false;

	if (ws_p_is(p, ';'))
		return true;
	do {
		if (n == WS_MAX_OPERANDS)
			return ws_p_error_here(p, "more than %d operands", WS_MAX_OPERANDS);
		if (takes_label(i, n)) {
			struct ws_operand *where = ws_arena_alloc(p->a, 2 * sizeof *where);

			memcpy(where, ops, n * sizeof *ops);
			i->ops = where;
			if (!ws_p_label_operand(p, &where[n], i->op == WS_OP_bra ? FIX_LABEL : FIX_TABLE))
				return false;
			i->nops = (uint8_t)(n + 1);
			return true;
		}
		if (!ws_p_operand(p, &ops[n], 0))
			return false;
		ops[n++].paired = paired;
		paired = n == 1 && ws_p_is(p, '|');
	} while (ws_p_accept(p, ',') || (paired && ws_p_accept(p, '|')));
	i->nops = (uint8_t)n;
	i->ops = ws_p_copy(p, ops, n, sizeof *ops);
	return true;
}

/* ---- call (9.7.12.5) ---- */
static bool call_target(struct parser *p, struct ws_ptx_call *c)
{
	struct ws_operand o;

	if (p->t.kind != TK_IDENT)
		return ws_p_error_here(p, "expected the function to call");
	if (!p->t.name->top && !ws_p_lookup(p, p->t.name) && p->t.name->str[0] != '%')
		return ws_p_error_here(p, "unknown function '%s'", p->t.name->str);
	if (!ws_p_operand(p, &o, 0))
		return false;
	if (o.kind != WS_O_REG && !(o.kind == WS_O_SYM && o.sym->kind == WS_SYM_FUNC))
		return ws_p_error(p, o.off, o.len, "only a function or a register can be called");
	c->target = ws_p_copy(p, &o, 1, sizeof o);
	return true;
}

static bool call_proto(struct parser *p, struct ws_ptx_call *c)
{
	if (p->t.kind != TK_IDENT)
		return ws_p_error_here(p, "expected arguments or a call prototype");
	ws_p_add_fixup(
		p, &(struct fixup){.name = p->t.name, .off = p->t.off, .len = p->t.len, .kind = FIX_PROTO, .call = c});
	ws_p_next(p);
	return true;
}

/* The arguments or results of a direct call against the function's declaration: number and bytes. */
static bool check_passed(struct parser *p, const struct ws_ptx_call *c, struct ws_ptx_sym *const *formal,
			 uint32_t nformal, const struct ws_operand *passed, uint32_t npassed, const char *what)
{
	if (nformal != npassed)
		return ws_p_error(p, c->target->off, c->target->len, "'%s' has %u %s%s, not %u", c->target->sym->name,
				  nformal, what, nformal == 1 ? "" : "s", npassed);
	for (uint32_t k = 0; k < nformal; k++) {
		const struct ws_operand *o = &passed[k];

		if (o->kind == WS_O_SYM && o->sym->space == WS_SPACE_PARAM && formal[k]->size &&
		    o->sym->size != formal[k]->size)
			return ws_p_error(p, o->off, o->len, "'%s' has %llu bytes, '%s' takes %llu here", o->sym->name,
					  (unsigned long long)o->sym->size, c->target->sym->name,
					  (unsigned long long)formal[k]->size);
	}
	return true;
}

static bool check_call(struct parser *p, const struct ws_ptx_call *c)
{
	const struct ws_ptx_func *f = c->target->sym->func;

	return check_passed(p, c, f->rets, f->nrets, c->rets, c->nrets, "result") &&
	       check_passed(p, c, f->params, f->nparams, c->args, c->nargs, "parameter");
}

static bool call(struct parser *p, struct ws_ptx_inst *i)
{
	struct ws_ptx_call *c = ws_arena_alloc(p->a, sizeof *c);
	bool args = false, proto = false;

	i->call = c;
	if (ws_p_accept(p, '(')) {
		if (!ws_p_list(p, &c->rets, &c->nrets, ')', 1) || !ws_p_expect(p, ',', "the return values"))
			return false;
	}
	if (!call_target(p, c))
		return false;
	while (ws_p_accept(p, ',')) {
		if (!args && !proto && ws_p_accept(p, '(')) {
			args = true;
			if (!ws_p_list(p, &c->args, &c->nargs, ')', 1))
				return false;
		} else if (!proto) {
			proto = true;
			if (!call_proto(p, c))
				return false;
		} else {
			return ws_p_error_here(p, "too many operands of 'call'");
		}
	}
	if (c->target->kind == WS_O_SYM && !check_call(p, c))
		return false;
	if (c->target->kind == WS_O_REG && c->target->reg->type && !proto)
		return ws_p_error(p, c->target->off, c->target->len,
				  "an indirect call needs a prototype or a list of targets");
	return true;
}

/* ---- the whole instruction ---- */
static bool guard(struct parser *p, struct ws_ptx_inst *i)
{
	struct ws_operand o;

	ws_p_next(p);
	i->guard_neg = ws_p_accept(p, '!');
	if (p->t.kind != TK_IDENT)
		return ws_p_error_here(p, "expected a predicate after '@'");
	if (!ws_p_operand(p, &o, 0))
		return false;
	if (o.kind != WS_O_REG || (o.reg->type && o.reg->type != WS_PRED) || o.component)
		return ws_p_error(p, o.off, o.len, "the guard must be a predicate register");
	i->guard = o.reg;
	return true;
}

/* Words that tell of synchronization in an opcode or modifier that the table does not know. */
static bool may_synchronize(const char *s, size_t len)
{
	static const char *const signs[] = {
		"bar", "fence", "sync", "arrive", "wait", "atom", "red", "acq", "rel", "sc", "lock", "async",
		"commit", "cluster", "cp", "mma", "volatile", "exch", "cas", "semaphore", "mutex", "st", "ld",
		"bra", "brx", "call", "ret", "exit"
	};

	for (unsigned k = 0; k < WS_COUNT(signs); k++)
		if (memmem(s, len, signs[k], strlen(signs[k])))
			return true;
	return false;
}

/* options.syntax_only: an instruction that the table does not know is kept as it stands. */
static bool keep_verbatim(struct parser *p, struct ws_ptx_inst *i, const struct token *op)
{
	const char *text = p->m->text + op->off;
	size_t len = strcspn(text, " \t\r\n;");

	if (may_synchronize(text, len))
		return ws_p_error(p, op->off, (uint32_t)len, "unknown instruction '%.*s', and it might synchronize",
				  (int)len, text);
	for (int open = 0; p->t.kind != TK_END && !ws_p_is(p, ';'); ws_p_next(p)) {
		open += ws_p_is(p, '{') ? 1 : ws_p_is(p, '}') ? -1 : 0;
		if (open < 0)
			break;
	}
	i->op = WS_OP_unknown;
	i->vec = 1;
	i->extra = ws_arena_strndup(p->a, text, p->last_end - op->off);
	return true;
}

static bool known_words(const struct parser *p, uint64_t classes)
{
	struct lexer ahead = p->lx;
	struct token t = p->t;

	for (; t.kind == TK_DOT; ws_lex(&ahead, &t))
		if (!row_of(p, t.name, classes))
			return false;
	return true;
}

static bool mnemonic_and_operands(struct parser *p, struct ws_ptx_inst *i, const struct token *op)
{
	i->op = op->name->op;
	if (p->opt.syntax_only && (!i->op || !known_words(p, ws_ptx_ops[i->op].mods)))
		return keep_verbatim(p, i, op);
	if (!i->op)
		return ws_p_error(p, op->off, op->len, "unknown instruction '%s'", op->name->str);
	if (!words(p, i))
		return false;
	if (i->op == WS_OP_call)
		return call(p, i);
	return operands(p, i);
}

bool ws_p_instruction(struct parser *p, const struct token *first)
{
	struct ws_ptx_inst i = { .off = first->off, .line = first->line, .loc = p->loc };
	struct token op = *first;

	if (first->kind == TK_PUNCT) {
		if (!guard(p, &i))
			return false;
		op = p->t;
		if (op.kind != TK_IDENT)
			return ws_p_error_here(p, "expected an instruction after the guard");
		ws_p_next(p);
	}
	if (!mnemonic_and_operands(p, &i, &op) || !ws_p_expect(p, ';', "the operands"))
		return false;
	if (i.op != WS_OP_unknown && i.op != WS_OP_call && !ws_p_check(p, &i, &op))
		return true;             /* said already, and the statement is passed */
	i.len = p->last_end - i.off;
	i.index = (uint32_t)p->ninsts;
	*WS_PUSH(p->insts, p->ninsts, p->insts_cap) = i;
	return true;
}

/* ptx_operand.c - operands of instructions (PTX ISA 9.0, chapter 6). */
#include "ptx/ptx_priv.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_ELEMS = 255, MAX_OPERAND_DEPTH = 4 };

static bool in_set(char c, const char *set)
{
	return c && strchr(set, c);
}

/* .x .y .z .w (.r .g .b .a) of a vector, .b0 .h1 and the like of a video operand; 0 = no selector */
static uint8_t selector(const struct name *n)
{
	const char *s = n->str + 1;

	if (n->len == 2 && in_set(*s, "xyzw"))
		return (uint8_t)(strchr("xyzw", *s) - "xyzw" + 1);
	if (n->len == 2 && in_set(*s, "rgba"))
		return (uint8_t)(strchr("rgba", *s) - "rgba" + 1);
	if (n->len == 3 && *s == 'b' && in_set(s[1], "0123"))
		return (uint8_t)(0x10 + s[1] - '0');
	if (n->len == 3 && *s == 'h' && in_set(s[1], "01"))
		return (uint8_t)(0x20 + s[1] - '0');
	if (n->len > 2 && n->len < 7 && (*s == 'b' || *s == 'h') && strspn(s + 1, "01234567") == n->len - 2)
		return 0x30;
	return 0;
}

static void poison(struct parser *p, struct name *n, struct ws_operand *o)
{
	struct binding *b = ws_p_bind(p, p->depth ? 1 : 0, n, B_REG);

	b->poison = true;
	b->u.reg = ws_p_new_reg(p, n->str, WS_T_NONE, 1);
	o->kind = WS_O_REG;
	o->reg = b->u.reg;
}

/* %tid.x: one name of two tokens. */
static bool special_register(struct parser *p, const struct token *t, struct ws_operand *o)
{
	unsigned sreg = t->name->sreg;
	char full[64];

	if (!sreg && p->t.kind == TK_DOT && t->name->str[0] == '%' && t->len + p->t.len < sizeof full) {
		struct name *n;

		memcpy(full, t->name->str, t->len);
		memcpy(full + t->len, p->t.name->str, p->t.len);
		n = ws_names_find(&p->names, full, t->len + p->t.len);
		sreg = n ? n->sreg : 0;
		if (sreg)
			ws_p_next(p);
	}
	if (!sreg)
		return false;
	o->kind = WS_O_SREG;
	o->sreg_or_count = (uint8_t)sreg;
	return true;
}

static bool symbol(struct parser *p, const struct token *t, const struct binding *b, struct ws_operand *o)
{
	if (b->u.sym->kind != WS_SYM_VAR && b->u.sym->kind != WS_SYM_FUNC)
		return ws_p_error(p, t->off, t->len, "'%s' is not a value", t->name->str);
	o->kind = WS_O_SYM;
	o->sym = b->u.sym;
	return true;
}

/* A name as operand: the token is passed already. */
static bool named(struct parser *p, const struct token *t, struct ws_operand *o)
{
	struct binding *b;

	if (strcmp(t->name->str, "_") == 0) {
		o->kind = WS_O_SINK;
		return true;
	}
	b = ws_p_lookup(p, t->name);
	if (!b && special_register(p, t, o))
		return true;
	if (!b) {
		ws_p_error(p, t->off, t->len, "unknown %s '%s'", t->name->str[0] == '%' ? "register" : "name",
			   t->name->str);
		poison(p, t->name, o);
		return true;
	}
	if (b->kind == B_SYM)
		return symbol(p, t, b, o);
	if (b->kind != B_REG && !b->poison)
		return ws_p_error(p, t->off, t->len, "'%s' is a label", t->name->str);
	o->kind = WS_O_REG;
	o->reg = b->u.reg;
	if (b->kind != B_REG)
		poison(p, t->name, o);
	if (p->t.kind == TK_DOT) {
		o->component = selector(p->t.name);
		if (!o->component)
			return ws_p_error_here(p, "'%s' cannot follow a register", p->t.name->str);
		if (o->component < 0x10 && o->reg->type && (o->reg->vec < 2 || o->component > o->reg->vec))
			return ws_p_error_here(p, "'%s' is no vector with an element '%s'", o->reg->name,
					       p->t.name->str);
		ws_p_next(p);
	}
	return true;
}

static bool constant(struct parser *p, struct ws_operand *o)
{
	struct value v;

	if (!ws_p_constant(p, &v))
		return false;
	o->kind = v.kind == V_INT ? WS_O_INT : v.kind == V_FLOAT ? WS_O_FLOAT : WS_O_FLOAT32;
	o->imm = v.bits;
	return true;
}

/* Elements up to `close`; the opening character is passed already. */
bool ws_p_list(struct parser *p, struct ws_operand **out, uint32_t *n, char close, unsigned depth)
{
	struct ws_operand few[8], *list = few;
	size_t count = 0, cap = 0;
	bool ok = true;

	if (!ws_p_is(p, close)) {
		do {
			struct ws_operand o = { 0 };

			ok = ws_p_operand(p, &o, depth + 1);
			if (count == WS_COUNT(few) && list == few) {
				list = ws_grow(NULL, &cap, count + 1, sizeof *list);
				memcpy(list, few, sizeof few);
			} else if (list != few) {
				list = ws_grow(list, &cap, count + 1, sizeof *list);
			}
			list[count++] = o;
		} while (ok && ws_p_accept(p, ','));
	}
	*out = ws_p_copy(p, list, count, sizeof *list);
	*n = (uint32_t)count;
	if (list != few)
		free(list);
	return ok && ws_p_expect(p, close, "the list");
}

static bool counted(struct parser *p, struct ws_operand *o, uint32_t n, uint32_t off)
{
	if (n > MAX_ELEMS)
		return ws_p_error(p, off, 1, "more than %d elements", MAX_ELEMS);
	o->sreg_or_count = (uint8_t)n;
	return true;
}

static bool vector(struct parser *p, struct ws_operand *o, unsigned depth)
{
	uint32_t n, off = p->t.off;

	p->braces++;
	ws_p_next(p);
	if (!ws_p_list(p, &o->elems, &n, '}', depth))
		return false;
	p->braces--;
	o->kind = WS_O_VEC;
	return counted(p, o, n, off);
}

/* The rest of [tex, {x, y}] and the like, `o` being the first element. */
static bool bracket_list(struct parser *p, struct ws_operand *o, unsigned depth, uint32_t off)
{
	struct ws_operand first = *o, *rest, *all;
	uint32_t n;

	if (ws_p_is(p, ']'))
		return ws_p_error_here(p, "expected an operand after ','");
	if (!ws_p_list(p, &rest, &n, ']', depth))
		return false;
	all = ws_arena_alloc(p->a, (n + 1) * sizeof *all);
	all[0] = first;
	memcpy(all + 1, rest, n * sizeof *rest);
	*o = (struct ws_operand){ .kind = WS_O_TEX, .elems = all };
	return counted(p, o, n + 1, off);
}

/* [base + offset], or a list in brackets */
static bool address(struct parser *p, struct ws_operand *o, unsigned depth)
{
	uint32_t off = p->t.off;

	ws_p_next(p);
	p->in_bracket = true;
	if (!ws_p_operand(p, o, depth + 1))
		return false;
	p->in_bracket = false;
	if (ws_p_accept(p, ','))
		return bracket_list(p, o, depth, off);
	if ((o->kind != WS_O_REG && o->kind != WS_O_SYM && o->kind != WS_O_INT && o->kind != WS_O_ADDR) || o->negated)
		return ws_p_error(p, o->off, o->len, "this cannot be an address");
	if (o->kind == WS_O_INT)
		o->offset = (int64_t)o->imm;
	o->kind = WS_O_ADDR;
	return ws_p_expect(p, ']', "an address");
}

static bool operand(struct parser *p, struct ws_operand *o, unsigned depth)
{
	struct token t = p->t;

	if (depth > MAX_OPERAND_DEPTH)
		return ws_p_error_here(p, "operands are nested too deeply");
	if (ws_p_is(p, '{')) {
		p->in_bracket = false;
		return vector(p, o, depth);
	}
	if (ws_p_is(p, '[') && !depth)
		return address(p, o, depth);
	if (ws_p_is(p, '!') || ws_p_is(p, '-')) {
		struct lexer ahead = p->lx;
		struct token next;

		ws_lex(&ahead, &next);
		if (next.kind == TK_IDENT && strcmp(next.name->str, "WARP_SZ")) {
			ws_p_next(p);
			t = p->t;
			o->negated = true;
		}
	}
	if (t.kind != TK_IDENT || strcmp(t.name->str, "WARP_SZ") == 0)
		return constant(p, o);
	ws_p_next(p);
	if (!named(p, &t, o))
		return false;
	if (!ws_p_is(p, '+') && !ws_p_is(p, '-'))
		return true;
	if (o->kind != WS_O_SYM && !(o->kind == WS_O_REG && p->in_bracket))
		return ws_p_error_here(p, "nothing can be added to this operand");
	if (o->kind == WS_O_REG)
		o->kind = WS_O_ADDR;     /* the first element of a list: [%rd1+8, ...] */
	return ws_p_offset(p, &o->offset);
}

bool ws_p_operand(struct parser *p, struct ws_operand *o, unsigned depth)
{
	uint32_t off = p->t.off;
	bool ok;

	*o = (struct ws_operand){ 0 };
	ok = operand(p, o, depth);
	o->off = off;
	o->len = p->last_end - off;
	return ok;
}

/* A label: resolved when its scope closes. `o` must be where it stays. */
bool ws_p_label_operand(struct parser *p, struct ws_operand *o, enum fix_kind kind)
{
	if (p->t.kind != TK_IDENT)
		return ws_p_error_here(p, "expected a label");
	*o = (struct ws_operand){ .kind = WS_O_LABEL, .off = p->t.off, .len = p->t.len };
	ws_p_add_fixup(p, &(struct fixup){ .name = p->t.name, .off = p->t.off, .len = p->t.len, .kind = (uint8_t)kind,
	                                   .operand = o });
	ws_p_next(p);
	return true;
}

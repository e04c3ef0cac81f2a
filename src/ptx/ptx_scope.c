/* ptx_scope.c - which register, variable or label a name means at a place: nested scopes, ranges, late labels.
 *
 * A name has a stack of bindings, innermost on top; closing a scope pops its bindings. Labels may be used before they
 * stand, also when an outer scope already has one of that name, so label operands are resolved when a scope closes. */
#include "ptx/ptx_priv.h"

#include <string.h>

bool ws_p_open(struct parser *p, uint32_t off)
{
	if (p->depth >= MAX_NESTING)
		return ws_p_error(p, off, 1, "blocks are nested deeper than %d", MAX_NESTING);
	p->depth++;
	p->scopes[p->depth] = (struct scope){ .first_fixup = (uint32_t)p->nfixups };
	return true;
}

static bool label_like(const struct fixup *fx, const struct binding *b)
{
	if (fx->kind == FIX_PROTO)
		return b->kind == B_SYM && (b->u.sym->kind == WS_SYM_PROTO || b->u.sym->kind == WS_SYM_TARGETS);
	return b->kind == (fx->kind == FIX_TABLE ? B_TABLE : B_LABEL);
}

static void apply(struct parser *p, const struct fixup *fx, const struct binding *b)
{
	if (fx->kind == FIX_PROTO)
		fx->call->proto = b->u.sym;
	else if (fx->kind == FIX_TABLE_ENTRY)
		p->tables[fx->table].labels[fx->entry] = b->u.index;
	else
		fx->operand->label = b->u.index;
}

static void unresolved(struct parser *p, const struct fixup *fx)
{
	static const char *const what[] = { "label", "list of branch targets", "call prototype", "label" };
	struct binding *b = ws_p_lookup(p, fx->name);

	if (b && b->poison)
		return;
	if (b)
		ws_p_error(p, fx->off, fx->len, "'%s' is not a %s", fx->name->str, what[fx->kind]);
	else
		ws_p_error(p, fx->off, fx->len, "unknown %s '%s'", what[fx->kind], fx->name->str);
	if (!b)
		ws_p_bind(p, 1, fx->name, B_LABEL)->poison = true;
}

/* Resolves what this scope's labels answer; the rest is left to the scope around it. */
static void resolve(struct parser *p)
{
	size_t kept = p->scopes[p->depth].first_fixup;

	for (size_t i = kept; i < p->nfixups; i++) {
		struct fixup *fx = &p->fixups[i];
		struct binding *b = fx->name->top;

		if (b && b->depth == p->depth && !b->poison && label_like(fx, b))
			apply(p, fx, b);
		else if (p->depth == 1)
			unresolved(p, fx);
		else
			p->fixups[kept++] = *fx;
	}
	p->nfixups = kept;
}

void ws_p_close(struct parser *p)
{
	struct scope *s = &p->scopes[p->depth];

	resolve(p);
	for (struct binding *b = s->bindings; b; b = b->next)
		b->name->top = b->shadowed;
	for (struct range *r = s->ranges; r; r = r->next)
		r->prefix->range = r->shadowed;
	p->depth--;
	if (p->range_depth > p->depth)
		p->range_depth = p->depth;
}

struct binding *ws_p_bind(struct parser *p, unsigned depth, struct name *n, enum binding_kind kind)
{
	struct binding *b = ws_arena_alloc(p->a, sizeof *b);

	*b = (struct binding){ .shadowed = n->top, .next = p->scopes[depth].bindings, .name = n,
	                       .depth = (uint16_t)depth, .kind = kind };
	n->top = b;
	p->scopes[depth].bindings = b;
	return b;
}

/* Binds at module scope from inside a function's head: below what the function's own scope has on the name. */
void ws_p_bind_global(struct parser *p, struct name *n, struct ws_ptx_sym *s)
{
	struct binding *b = ws_arena_alloc(p->a, sizeof *b), **at = &n->top;

	while (*at && (*at)->depth)
		at = &(*at)->shadowed;
	*b = (struct binding){ .shadowed = *at, .next = p->scopes[0].bindings, .name = n, .kind = B_SYM, .u.sym = s };
	*at = b;
	p->scopes[0].bindings = b;
}

struct ws_reg *ws_p_new_reg(struct parser *p, const char *name, enum ws_type type, uint8_t vec)
{
	struct ws_reg *r = ws_arena_alloc(p->a, sizeof *r);

	*r = (struct ws_reg){ .name = name, .type = type, .index = (uint32_t)p->nregs, .vec = vec };
	*WS_PUSH(p->regs, p->nregs, p->regs_cap) = r;
	return r;
}

void ws_p_add_range(struct parser *p, struct name *prefix, uint64_t count, enum ws_type type, uint8_t vec)
{
	struct range *r = ws_arena_alloc(p->a, sizeof *r);

	*r = (struct range){ .shadowed = prefix->range, .next = p->scopes[p->depth].ranges, .prefix = prefix,
	                     .count = count, .type = type, .vec = vec, .depth = (uint16_t)p->depth };
	prefix->range = r;
	p->scopes[p->depth].ranges = r;
	if (p->range_depth < p->depth)
		p->range_depth = p->depth;
}

/* The range that declares `n`, e.g. %r<10> for %r7 (no leading zeros), deeper than `above`. Every split of the
 * trailing digits is tried, since %r1<10> declares %r10 as well. */
static struct range *find_range(struct parser *p, const struct name *n, unsigned above)
{
	uint64_t value = 0, place = 1;
	struct range *best = NULL;

	for (uint32_t i = n->len; i-- > 1 && n->str[i] >= '0' && n->str[i] <= '9' && n->len - i <= 10; place *= 10) {
		struct name *prefix;

		value += (uint64_t)(n->str[i] - '0') * place;
		if (n->str[i] == '0' && i + 1 < n->len)
			continue;
		prefix = ws_names_find(&p->names, n->str, i);
		if (prefix && prefix->range && value < prefix->range->count && prefix->range->depth > above &&
		    (!best || prefix->range->depth >= best->depth))
			best = prefix->range;
	}
	return best;
}

struct binding *ws_p_lookup(struct parser *p, struct name *n)
{
	struct binding *b = n->top;
	unsigned depth = b ? b->depth : 0;
	struct range *r;

	if (b && p->range_depth <= depth)
		return b;
	r = find_range(p, n, depth);
	if (!r)
		return b;
	b = ws_p_bind(p, r->depth, n, B_REG);
	b->u.reg = ws_p_new_reg(p, n->str, r->type, r->vec);
	return b;
}

void ws_p_add_fixup(struct parser *p, const struct fixup *fx)
{
	*WS_PUSH(p->fixups, p->nfixups, p->fixups_cap) = *fx;
}

/* ptx_init.c - initializers of variables (PTX ISA 9.0, 5.4.4): bytes, and the addresses to be filled in later. */
#include "ptx/ptx_priv.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_LEVELS = 18 };
static const uint64_t max_init = UINT64_C(1) << 30;      /* of all variables of a module */

struct init {
	struct parser *p;
	struct ws_ptx_sym *s;
	struct ws_buf bytes;
	struct ws_ptx_reloc *relocs;
	size_t nrelocs, relocs_cap;
	uint64_t at;                             /* where the next element goes */
	uint64_t end[MAX_LEVELS];                /* of the sub-array that each open brace fills; UINT64_MAX = open */
	uint64_t size[MAX_LEVELS];               /* of a sub-array inside that brace */
	unsigned depth, levels;
	unsigned elem;
};

static bool room_for(struct init *in, unsigned n)
{
	static const uint8_t zeros[64];
	uint64_t want = in->at + n;

	if (want > in->end[in->depth])
		return ws_p_error_here(in->p, "too many values for '%s'", in->s->name);
	if (want > max_init || want + in->p->init_bytes > max_init)
		return ws_p_error_here(in->p, "initializers of more than 1 GiB");
	while (in->bytes.len < want)
		ws_buf_add(&in->bytes, zeros, want - in->bytes.len > 64 ? 64 : want - in->bytes.len);
	return true;
}

static bool put(struct init *in, uint64_t bits)
{
	unsigned n = in->elem > 8 ? 8 : in->elem;

	if (!room_for(in, in->elem))
		return false;
	for (unsigned i = 0; i < n; i++)
		in->bytes.data[in->at + i] = (char)(bits >> (8 * i));
	in->at += in->elem;
	return true;
}

/* The name of a variable or function, plus or minus a constant. */
static bool address(struct init *in, struct ws_ptx_reloc *r)
{
	struct parser *p = in->p;
	struct binding *b = p->t.kind == TK_IDENT ? p->t.name->top : NULL;

	if (p->t.kind != TK_IDENT)
		return ws_p_error_here(p, "expected the name of a variable or function");
	if (!b || b->kind != B_SYM)
		return ws_p_error_here(p, b ? "'%s' has no address" : "unknown name '%s'", p->t.name->str);
	r->sym = b->u.sym;
	ws_p_next(p);
	return true;
}

/* sym, generic(sym), each with + constant */
static bool address_value(struct init *in, struct ws_ptx_reloc *r)
{
	struct parser *p = in->p;

	if (p->t.kind == TK_IDENT && strcmp(p->t.name->str, "generic") == 0 && !p->t.name->top) {
		r->generic = true;
		ws_p_next(p);
		if (!ws_p_expect(p, '(', "'generic'") || !address(in, r) || !ws_p_offset(p, &r->addend) ||
		    !ws_p_expect(p, ')', "the name"))
			return false;
	} else if (!address(in, r)) {
		return false;
	}
	return ws_p_offset(p, &r->addend);
}

static bool add_reloc(struct init *in, const struct ws_ptx_reloc *r)
{
	if (!room_for(in, in->elem))
		return false;
	*WS_PUSH(in->relocs, in->nrelocs, in->relocs_cap) = *r;
	in->at += in->elem;
	return true;
}

/* 0xff00(sym): one byte of an address (5.4.4, mask operator) */
static bool masked_address(struct init *in, uint64_t mask, uint32_t off)
{
	struct parser *p = in->p;
	struct ws_ptx_reloc r = { .at = in->at, .bytes = 1 };

	ws_p_next(p);
	if (!address_value(in, &r) || !ws_p_expect(p, ')', "the address"))
		return false;
	while (r.shift < 56 && (mask >> r.shift & 0xff) == 0)
		r.shift = (uint8_t)(r.shift + 8);
	if (mask != UINT64_C(0xff) << r.shift || in->elem != 1)
		return ws_p_error(p, off, p->last_end - off, "a masked address gives one byte: 0xff, 0xff00, ... of a "
		                  "1-byte type");
	return add_reloc(in, &r);
}

static bool element(struct init *in)
{
	struct parser *p = in->p;
	uint32_t off = p->t.off;
	struct value v;

	if (p->t.kind == TK_IDENT && strcmp(p->t.name->str, "WARP_SZ")) {
		struct ws_ptx_reloc r = { .at = in->at, .bytes = (uint8_t)in->elem };

		if (!address_value(in, &r))
			return false;
		if (in->elem != 4 && in->elem != 8)
			return ws_p_error(p, off, p->last_end - off, "an address needs an element of 4 or 8 bytes");
		return add_reloc(in, &r);
	}
	if (!ws_p_constant(p, &v))
		return false;
	if (ws_p_is(p, '(') && v.kind == V_INT)
		return masked_address(in, v.bits, off);
	if (v.kind != V_INT && in->s->type < WS_F16)
		return ws_p_error(p, off, p->last_end - off, "a floating-point value for an integer");
	if (v.kind == V_INT && (in->s->type == WS_F32 || in->s->type == WS_F64))
		return ws_p_error(p, off, p->last_end - off, "an integer value for floating point");
	return put(in, ws_ptx_float_bits(&v, in->elem == 8 ? WS_F64 : WS_F32));
}

static bool open_brace(struct init *in)
{
	struct parser *p = in->p;

	if (in->depth >= in->levels)
		return ws_p_error_here(p, "more braces than dimensions");
	in->end[in->depth + 1] = in->size[in->depth] == UINT64_MAX ? UINT64_MAX : in->at + in->size[in->depth];
	if (in->depth && in->end[in->depth + 1] > in->end[in->depth])
		return ws_p_error_here(p, "too many values for '%s'", in->s->name);
	in->depth++;
	p->braces++;
	ws_p_next(p);
	return true;
}

static void close_brace(struct init *in)
{
	if (in->end[in->depth] != UINT64_MAX)
		in->at = in->end[in->depth];
	in->depth--;
	in->p->braces--;
	ws_p_next(in->p);
}

/* One value, or a braced list of any nesting. */
static bool values(struct init *in)
{
	struct parser *p = in->p;
	bool comma = false;

	for (;;) {
		bool more = false;

		for (; ws_p_is(p, '{'); comma = false)
			if (!open_brace(in))
				return false;
		if (ws_p_is(p, '}') && comma)
			return ws_p_error_here(p, "expected a value after ','");
		if (!ws_p_is(p, '}') && !element(in))
			return false;
		while (in->depth && (ws_p_is(p, '}') || ws_p_is(p, ','))) {
			more = ws_p_accept(p, ',');
			if (more)
				break;
			close_brace(in);
		}
		if (!in->depth)
			return true;
		if (!more)
			return ws_p_error_here(p, "expected ',' or '}' after a value of '%s'", in->s->name);
		comma = true;
	}
}

static bool store(struct init *in)
{
	struct ws_ptx_sym *s = in->s;

	if (!s->size)
		s->size = in->bytes.len;
	if (s->size > max_init || s->size + in->p->init_bytes > max_init)
		return ws_p_error(in->p, s->off, 1, "initializers of more than 1 GiB");
	in->p->init_bytes += s->size;
	s->init = ws_arena_alloc(in->p->a, s->size);
	memcpy(s->init, in->bytes.data ? in->bytes.data : "", in->bytes.len);
	s->nrelocs = (uint32_t)in->nrelocs;
	s->relocs = ws_arena_alloc(in->p->a, in->nrelocs * sizeof *s->relocs);
	if (in->nrelocs)
		memcpy(s->relocs, in->relocs, in->nrelocs * sizeof *s->relocs);
	return true;
}

bool ws_p_initializer(struct parser *p, struct ws_ptx_sym *s, const uint64_t *dims, unsigned ndims)
{
	struct init in = { .p = p, .s = s, .elem = ws_type_bytes(s->type), .levels = ndims ? ndims : 1 };
	uint64_t size;
	bool ok;

	if (s->type == WS_T_OTHER)
		return ws_p_error_here(p, "initialized texture, sampler and surface references are not supported");
	size = in.elem;
	in.size[in.levels] = in.elem;
	for (unsigned i = in.levels; i-- > 0;) {
		if (i < ndims)
			size = dims[i] ? size * dims[i] : UINT64_MAX;
		in.size[i] = size;
	}
	in.end[0] = in.size[0];
	ok = values(&in) && store(&in);
	ws_buf_free(&in.bytes);
	free(in.relocs);
	return ok;
}

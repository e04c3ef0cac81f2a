/* tm_access.c - what the instructions of a marked section become: loads, stores and atomics are calls of the runtime
 * (src/device/tm.cu); what cannot be undone, or needs lanes that may be in another round, is refused. */
#include "rewrite/tm.h"
#include "device/tm.h"

#include <stdio.h>
#include <string.h>

/* ---- words of the instruction ---- */
static const char *text_of(struct ws_tm_body *b, const struct ws_operand *o)
{
	return ws_arena_strndup(ws_rw_module(b->p)->arena, ws_rw_module(b->p)->text + o->off, o->len);
}

static const char *type_of(const struct ws_ptx_inst *i)
{
	return ws_type_name((enum ws_type)i->type[i->ntypes - 1]);
}

static const char *vector_of(const struct ws_ptx_inst *i)
{
	return i->vec == 8 ? ".v8" : i->vec == 4 ? ".v4" : i->vec == 2 ? ".v2" : "";
}

/* ---- accesses ---- */
/* The address as a generic one, for all memories but global take the same calls. */
static const char *generic_address(struct ws_code *c, const struct ws_rw_access *a)
{
	const char *address = ws_code_address(c, a), *generic;

	if (a->space == WS_SPACE_GENERIC)
		return address;
	generic = ws_code_temp(c, WS_B64);
	ws_code_add(c, "cvta.%s.u64 %s, %s;", ws_space_name(a->space), generic, address);
	return generic;
}

static bool call(struct ws_tm_body *b, struct ws_code *c, const struct ws_rw_access *a, const char *verb,
		 const char *at)
{
	char name[40], bytes[12];
	const char *args[] = { b->thread, at, bytes };
	bool done;

	snprintf(name, sizeof name, "__warpsafe_tm_%s%s", verb, a->space == WS_SPACE_GLOBAL ? "_global" : "");
	snprintf(bytes, sizeof bytes, "%u", a->bytes);
	ws_tm_tell(b, c, verb[0] == 'r' ? WS_TM_EVENT_READ : WS_TM_EVENT_WRITE, a->bytes, at);
	if (verb[0] != 'r')
		ws_tm_tell_value(b, c, a->bytes);
	done = ws_tm_call(b, c, name, "llu", args, NULL);
	ws_tm_leave_if_lost(b, c);
	if (verb[0] == 'r')
		ws_tm_tell_value(b, c, a->bytes);
	ws_tm_tell(b, c, WS_TM_EVENT_DONE, 0, NULL);
	return done;
}

static bool load(struct ws_tm_body *b, struct ws_code *c, const struct ws_rw_access *a, const char *at)
{
	bool done = call(b, c, a, "read", at);

	ws_code_add(c, "ld%s.%s %s, [%s+%d];", vector_of(a->inst), type_of(a->inst), text_of(b, &a->inst->ops[0]),
		    b->thread, WS_TM_VALUE_AT);
	return done;
}

static bool store(struct ws_tm_body *b, struct ws_code *c, const struct ws_rw_access *a, const char *at)
{
	ws_code_add(c, "st%s.%s [%s+%d], %s;", vector_of(a->inst), type_of(a->inst), b->thread, WS_TM_VALUE_AT,
		    text_of(b, &a->inst->ops[1]));
	return call(b, c, a, "write", at);
}

/* ---- atomics: nobody is between the read and the write of a transaction ---- */
static bool atomic_is_known(const struct ws_ptx_inst *i)
{
	switch (i->type[i->ntypes - 1]) {
	case WS_U32: case WS_S32: case WS_U64: case WS_S64: case WS_B32: case WS_B64: case WS_F32: case WS_F64:
		return i->vec == 1 && i->atom != WS_ATOM_NONE && i->atom != WS_ATOM_POPC;
	default:
		return false;
	}
}

/* inc: old >= b ? 0 : old + 1; dec: old == 0 || old > b ? b : old - 1 (PTX ISA 9.0, atom). */
static void count_around(struct ws_code *c, bool up, const char *new, const char *old, const char *b)
{
	const char *wraps = ws_code_temp(c, WS_PRED);

	if (up) {
		ws_code_add(c, "setp.ge.u32 %s, %s, %s;", wraps, old, b);
		ws_code_add(c, "add.u32 %s, %s, 1;", new, old);
		ws_code_add(c, "selp.b32 %s, 0, %s, %s;", new, new, wraps);
	} else {
		const char *zero = ws_code_temp(c, WS_PRED);

		ws_code_add(c, "setp.gt.u32 %s, %s, %s;", wraps, old, b);
		ws_code_add(c, "setp.eq.u32 %s, %s, 0;", zero, old);
		ws_code_add(c, "or.pred %s, %s, %s;", wraps, wraps, zero);
		ws_code_add(c, "sub.u32 %s, %s, 1;", new, old);
		ws_code_add(c, "selp.b32 %s, %s, %s, %s;", new, b, new, wraps);
	}
}

static void compute(struct ws_tm_body *b, struct ws_code *c, const struct ws_ptx_inst *i, const char *new,
		    const char *old)
{
	static const char *const names[] = { [WS_ATOM_AND] = "and", [WS_ATOM_OR] = "or", [WS_ATOM_XOR] = "xor",
		                             [WS_ATOM_ADD] = "add", [WS_ATOM_MIN] = "min", [WS_ATOM_MAX] = "max" };
	const struct ws_operand *operand = &i->ops[i->op == WS_OP_red ? 1 : 2];
	const char *value = text_of(b, operand), *type = type_of(i), *p;
	enum ws_type t = (enum ws_type)i->type[i->ntypes - 1];
	unsigned bits = 8 * ws_type_bytes(t);

	switch (i->atom) {
	case WS_ATOM_EXCH:
		ws_code_add(c, "mov.b%u %s, %s;", bits, new, value);
		break;
	case WS_ATOM_CAS:
		p = ws_code_temp(c, WS_PRED);
		ws_code_add(c, "setp.eq.b%u %s, %s, %s;", bits, p, old, value);
		ws_code_add(c, "selp.b%u %s, %s, %s, %s;", bits, new, text_of(b, &operand[1]), old, p);
		break;
	case WS_ATOM_INC: case WS_ATOM_DEC:
		count_around(c, i->atom == WS_ATOM_INC, new, old, value);
		break;
	default:
		ws_code_add(c, "%s%s.%s %s, %s, %s;", names[i->atom],
			    ws_type_is_float(t) && i->atom == WS_ATOM_ADD ? ".rn" : "", type, new, old, value);
	}
}

static bool atomic(struct ws_tm_body *b, struct ws_code *c, const struct ws_rw_access *a, const char *at)
{
	const struct ws_ptx_inst *i = a->inst;
	enum ws_type t = (enum ws_type)i->type[i->ntypes - 1];
	enum ws_type reg = ws_type_is_float(t) ? t : ws_type_bytes(t) == 8 ? WS_B64 : WS_B32;
	const char *old = ws_code_temp(c, reg), *new = ws_code_temp(c, reg);
	bool done = call(b, c, a, "read", at);

	ws_code_add(c, "ld.%s %s, [%s+%d];", type_of(i), old, b->thread, WS_TM_VALUE_AT);
	compute(b, c, i, new, old);
	ws_code_add(c, "st.%s [%s+%d], %s;", type_of(i), b->thread, WS_TM_VALUE_AT, new);
	done = done && call(b, c, a, "write", at);
	if (i->op == WS_OP_atom && i->ops[0].kind == WS_O_REG)
		ws_code_add(c, "mov.b%u %s, %s;", 8 * ws_type_bytes(t), text_of(b, &i->ops[0]), old);
	return done;
}

static bool access(struct ws_tm_body *b, const struct ws_rw_access *a)
{
	struct ws_code *c = ws_code_at(b->p, b->f, a->inst, WS_BEFORE);
	const char *at = generic_address(c, a);
	bool done = a->kind == WS_RW_READ ? load(b, c, a, at) : a->kind == WS_RW_WRITE ? store(b, c, a, at)
	                                                                                : atomic(b, c, a, at);

	ws_code_replace(c);
	return done;
}

/* ---- all instructions ---- */
static bool cannot(struct ws_tm_body *b, const struct ws_ptx_inst *i, const char *why)
{
	const char *text = ws_rw_module(b->p)->text + i->off;
	size_t guard = i->guard ? strcspn(text, " \t") : 0;

	text += guard + strspn(text + guard, " \t");
	return ws_tm_refuse(b->p, b->f, i, "'%.*s' %s", (int)strcspn(text, " \t\n;"), text, why);
}

#define UNDO "cannot be undone, so it cannot be in a marked section"

static bool other(struct ws_tm_body *b, const struct ws_ptx_inst *i)
{
	unsigned fx = ws_op_info(i->op)->fx;

	switch (i->op) {
	case WS_OP_alloca: case WS_OP_stackrestore:
		return cannot(b, i, "moves the stack, which a marked section cannot do");
	case WS_OP_setmaxnreg:
		return cannot(b, i, "is for all lanes of the warp, which may be in another round of the marked section");
	case WS_OP_bar: case WS_OP_barrier:
		return cannot(b, i, "waits for threads, which may be in another round of the marked section");
	case WS_OP_unknown:
		return cannot(b, i, UNDO);
	default:
		break;
	}
	if (fx & (WS_FX_ASYNC | WS_FX_SYNC))
		return cannot(b, i, UNDO);
	if (fx & WS_FX_WARP && i->op != WS_OP_activemask)
		return cannot(b, i, "needs other lanes of the warp, which may be in another round of the marked "
			      "section");
	return true;
}

bool ws_tm_instruction(struct ws_tm_body *b, struct ws_ptx_inst *i, const struct ws_rw_access *a)
{
	if (!a)
		return other(b, i);
	if (a->rw_class == WS_RW_UNHANDLED)
		return cannot(b, i, UNDO);
	if (a->rw_class == WS_RW_EXEMPT)     /* what a thread writes to its own variables is undone, too */
		return a->space != WS_SPACE_LOCAL || a->kind == WS_RW_READ || access(b, a);
	if (a->space == WS_SPACE_GENERIC && b->clusters)
		return cannot(b, i, "by an address that may be of another block's shared memory ('mapa' in this module) cannot be in a marked section");
	if (a->space == WS_SPACE_SHARED_CLUSTER)
		return cannot(b, i, "of another block's shared memory cannot be in a marked section");
	if (i->flags & WS_F_NC)              /* nobody writes it while the kernel runs (PTX ISA 9.0, ld.global.nc) */
		return true;
	if (a->kind == WS_RW_ATOMIC && !atomic_is_known(i))
		return cannot(b, i, "of this type cannot be in a marked section");
	return access(b, a);
}

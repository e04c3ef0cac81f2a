/* ptx_check.c - does an instruction obey its row of ptx_ops.def: types, modifiers, number and kind of operands.
 *
 * Strict where the PTX ISA says so, and no stricter than ptxas: what nvcc and clang emit must pass. Not checked are
 * the lowest version and target of an instruction; they are in the table for the documentation. */
#include "ptx/ptx_priv.h"

#include <string.h>

struct check {
	struct parser *p;
	const struct ws_ptx_inst *i;
	const char *name;
	uint32_t off, len;               /* of the opcode */
};

#define BIT(t) (UINT64_C(1) << WS_##t)
#define HALVES (BIT(F16) | BIT(F16X2) | BIT(BF16) | BIT(BF16X2))
#define PAIRS (BIT(U16X2) | BIT(S16X2))
#define FAIL(c, ...) ws_p_error((c)->p, (c)->off, (c)->len, __VA_ARGS__)

/* ---- types and modifiers of the mnemonic ---- */
static bool float_type(enum ws_type t)
{
	return ws_type_is_float(t) || t == WS_T_OTHER;
}

static bool check_types(const struct check *c)
{
	const struct op_row *r = &ws_ptx_ops[c->i->op];
	unsigned n = c->i->ntypes;

	if (n > r->max_types)
		return FAIL(c, "'%s' takes %s", c->name, r->max_types == 0 ? "no type" :
		            r->max_types == 1 ? "1 type" : r->max_types == 2 ? "2 types" : "3 types");
	if (n < r->min_types)
		return r->min_types > 1 ? FAIL(c, "'%s' needs %u types", c->name, r->min_types) :
		                          FAIL(c, "'%s' needs a type", c->name);
	for (unsigned k = 0; k < n; k++)
		if (!(r->types[k] >> c->i->type[k] & 1))
			return FAIL(c, "'%s' has no form for '.%s'", c->name, ws_type_name(c->i->type[k]));
	if (ws_ptx_mixed(c->i) && c->i->type[0] != WS_F32)
		return FAIL(c, "mixed precision has the types '.f32.f16' and '.f32.bf16'");
	return true;
}

static bool check_part(const struct check *c)
{
	const struct ws_ptx_inst *i = c->i;
	enum ws_type t = i->type[0];
	bool integer = !float_type(t);

	if (i->op != WS_OP_mul && i->op != WS_OP_mad && i->op != WS_OP_madc && i->op != WS_OP_mul24 &&
	    i->op != WS_OP_mad24 && i->op != WS_OP_dp2a)
		return true;
	if (integer && !i->part)
		return FAIL(c, "'%s' of integers needs '.lo', '.hi'%s", c->name,
		            i->op == WS_OP_mul || i->op == WS_OP_mad ? " or '.wide'" : "");
	if (!integer && i->part)
		return FAIL(c, "'.lo', '.hi' and '.wide' are for integers");
	if (i->part == WS_WIDE && (ws_type_bytes(t) > 4 || (i->op != WS_OP_mul && i->op != WS_OP_mad)))
		return FAIL(c, "'.wide' is for 16-bit and 32-bit 'mul' and 'mad'");
	return true;
}

/* Rounding, .ftz and the like belong to floating-point forms (cvt: to either side). */
static bool check_float_words(const struct check *c)
{
	const struct ws_ptx_inst *i = c->i;
	bool is_float = i->ntypes && (float_type(i->type[0]) || (i->ntypes > 1 && float_type(i->type[1])));

	if (i->ntypes && !is_float && (i->rnd || (i->flags & (WS_F_FTZ | WS_F_APPROX | WS_F_FULL))))
		return FAIL(c, "rounding, '.ftz' and '.approx' are for floating-point types");
	if ((i->flags & WS_F_CC) && (is_float || ws_type_bytes(i->type[0]) < 4))
		return FAIL(c, "'.cc' is for 32-bit and 64-bit integers");
	if ((i->flags & WS_F_SAT) && (i->op == WS_OP_add || i->op == WS_OP_sub) && !is_float && i->type[0] != WS_S32)
		return FAIL(c, "integer '.sat' is for '.s32'");
	if ((i->flags & WS_F_FTZ) && i->ntypes == 1 && i->type[0] == WS_F64 && !(i->flags & WS_F_APPROX))
		return FAIL(c, "'.ftz' has no form for '.f64'");
	if ((i->flags & (WS_F_NAN | WS_F_XORSIGN | WS_F_ABS)) && !is_float)
		return FAIL(c, "'.NaN', '.xorsign' and '.abs' are for floating-point types");
	if ((i->flags & WS_F_SAT) && i->op != WS_OP_cvt && is_float && i->type[0] == WS_F64)
		return FAIL(c, "'.sat' has no form for '.f64'");
	return true;
}

/* Operations that must say how exact they are, since PTX 1.4 (PTX ISA 9.0, 9.7.3). */
static bool check_exactness(const struct check *c)
{
	const struct ws_ptx_inst *i = c->i;
	enum ws_type t = (enum ws_type)i->type[0];
	bool approx = i->flags & (WS_F_APPROX | WS_F_FULL);

	if (approx && i->rnd)
		return FAIL(c, "rounding and '.approx' exclude one another");
	if ((i->flags & (WS_F_RELU | WS_F_SATFINITE)) && i->op == WS_OP_cvt && !float_type(t))
		return FAIL(c, "'.relu' and '.satfinite' are for floating-point results");
	switch (i->op) {
	case WS_OP_fma: return i->rnd || FAIL(c, "'fma' needs a rounding modifier");
	case WS_OP_mad:
		return !float_type(t) || i->rnd || c->p->m->sm < 20 ||
		       FAIL(c, "'mad' of floating point needs a rounding modifier");
	case WS_OP_div: case WS_OP_rcp: case WS_OP_sqrt:
		if (float_type(t) && !i->rnd && !approx && c->p->m->version >= 14)
			return FAIL(c, "'%s' needs a rounding modifier or '.approx'", c->name);
		if (t == WS_F64 && approx && !(i->op == WS_OP_rcp && (i->flags & WS_F_FTZ)))
			return FAIL(c, "this approximation has no form for '.f64'");
		return true;
	case WS_OP_rsqrt: case WS_OP_sin: case WS_OP_cos: case WS_OP_lg2: case WS_OP_ex2: case WS_OP_tanh:
		return approx || c->p->m->version < 14 || FAIL(c, "'%s' needs '.approx'", c->name);
	default: return true;
	}
}

static bool check_mode(const struct check *c)
{
	const struct ws_ptx_inst *i = c->i;
	const char *missing = NULL;

	switch (i->op) {
	case WS_OP_shfl: missing = i->mode ? NULL : "'.up', '.down', '.bfly' or '.idx'"; break;
	case WS_OP_vote: missing = i->mode ? NULL : "'.all', '.any', '.uni' or '.ballot'"; break;
	case WS_OP_match:
		missing = i->mode == WS_MODE_ALL || i->mode == WS_MODE_ANY ? NULL : "'.any' or '.all'";
		break;
	case WS_OP_shf:
		missing = !i->mode ? "'.l' or '.r'" :
		          !(i->flags & (WS_F_CLAMP | WS_F_WRAP)) ? "'.clamp' or '.wrap'" : NULL;
		break;
	case WS_OP_testp: missing = i->mode ? NULL : "the property to test"; break;
	case WS_OP_bar: case WS_OP_barrier: missing = i->mode ? NULL : "'.sync', '.arrive' or '.red'"; break;
	case WS_OP_setp: case WS_OP_set: missing = i->cmp ? NULL : "a comparison"; break;
	case WS_OP_atom: case WS_OP_red: missing = i->atom ? NULL : "an operation"; break;
	case WS_OP_redux: missing = i->atom && (i->flags & WS_F_SYNC) ? NULL : "'.sync' and an operation"; break;
	case WS_OP_elect: missing = i->flags & WS_F_SYNC ? NULL : "'.sync'"; break;
	case WS_OP_prefetch: case WS_OP_prefetchu: missing = i->extra ? NULL : "a level: '.L1' or '.L2'"; break;
	case WS_OP_membar: missing = i->scope || i->mode ? NULL : "a level"; break;
	case WS_OP_fence:
		missing = i->mode == WS_MODE_PROXY && !i->extra ? "the kind of proxy" :
		          !i->scope && !i->mode ? "a scope" : NULL;
		break;
	case WS_OP_szext: case WS_OP_bmsk:
		missing = i->flags & (WS_F_CLAMP | WS_F_WRAP) ? NULL : "'.clamp' or '.wrap'";
		break;
	case WS_OP_cvta: case WS_OP_isspacep: missing = i->space ? NULL : "a state space"; break;
	case WS_OP_brx: missing = i->mode ? NULL : "'.idx'"; break;
	default: break;
	}
	return !missing || FAIL(c, "'%s' needs %s", c->name, missing);
}

/* Which comparisons a type has (PTX ISA 9.0, setp). */
static bool check_compare(const struct check *c)
{
	const struct ws_ptx_inst *i = c->i;
	enum ws_type t = (enum ws_type)i->type[i->ntypes ? i->ntypes - 1u : 0u];
	bool fp = ws_type_is_float(t), bad = false;

	if (!i->cmp || (i->op != WS_OP_setp && i->op != WS_OP_set))
		return true;
	if (i->cmp >= WS_EQU)
		bad = !fp;
	else if (i->cmp >= WS_LO)
		bad = t < WS_U8 || t > WS_U64;
	else if (i->cmp >= WS_LT)
		bad = t >= WS_B8 && t <= WS_B128;
	return !bad || FAIL(c, "this comparison has no form for '.%s'", ws_type_name(t));
}

/* Memory order and scope of ld, st, atom, red, fence (PTX ISA 9.0, ld, st, atom, membar/fence). */
static bool check_order(const struct check *c)
{
	const struct ws_ptx_inst *i = c->i;
	bool ordered = i->sem == WS_SEM_RELAXED || i->sem == WS_SEM_ACQUIRE || i->sem == WS_SEM_RELEASE ||
		       i->sem == WS_SEM_MMIO;

	if (i->op == WS_OP_ld && (i->sem == WS_SEM_RELEASE || i->sem == WS_SEM_ACQ_REL))
		return FAIL(c, "a load cannot be '.release' or '.acq_rel'");
	if (i->op == WS_OP_st && (i->sem == WS_SEM_ACQUIRE || i->sem == WS_SEM_ACQ_REL))
		return FAIL(c, "a store cannot be '.acquire' or '.acq_rel'");
	if ((i->op == WS_OP_ld || i->op == WS_OP_st) && i->mode != WS_MODE_OTHER) {
		if (ordered && !i->scope)
			return FAIL(c, "this order needs a scope: '.cta', '.cluster', '.gpu' or '.sys'");
		if (!ordered && i->scope)
			return FAIL(c, "a scope needs '.relaxed', '.acquire' or '.release'");
	}
	if ((i->op == WS_OP_atom || i->op == WS_OP_red) && (i->sem == WS_SEM_VOLATILE || i->sem == WS_SEM_WEAK) &&
	    i->mode != WS_MODE_OTHER)
		return FAIL(c, "an atomic operation is '.relaxed', '.acquire', '.release' or '.acq_rel'");
	return true;
}

static bool check_space(const struct check *c)
{
	const struct ws_ptx_inst *i = c->i;
	bool bad = false;

	switch (i->op) {
	case WS_OP_st: bad = i->space == WS_SPACE_CONST; break;
	case WS_OP_atom:
	case WS_OP_red:
		bad = i->space == WS_SPACE_CONST || i->space == WS_SPACE_LOCAL || i->space == WS_SPACE_PARAM;
		break;
	case WS_OP_ldu: bad = i->space && i->space != WS_SPACE_GLOBAL; break;
	case WS_OP_ld: bad = (i->flags & WS_F_NC) && i->space != WS_SPACE_GLOBAL; break;
	default: break;
	}
	return !bad ||
	       FAIL(c, "'%s%s' cannot access '.%s'", c->name, i->flags & WS_F_NC ? ".nc" : "", ws_space_name(i->space));
}

/* Which types an atomic operation has (PTX ISA 9.0, atom, red). The vector forms have .f32 and halves only. */
static bool check_atomic(const struct check *c)
{
	static const uint64_t words = BIT(B32) | BIT(B64), ints = BIT(U32) | BIT(S32) | BIT(U64),
	                      halves = BIT(F16) | BIT(F16X2) | BIT(BF16) | BIT(BF16X2);
	const struct ws_ptx_inst *i = c->i;
	enum ws_type t = (enum ws_type)i->type[0];
	uint64_t legal = 0;

	if ((i->op != WS_OP_atom && i->op != WS_OP_red) || !i->ntypes)
		return true;
	switch (i->atom) {
	case WS_ATOM_AND: case WS_ATOM_OR: case WS_ATOM_XOR: legal = words; break;
	case WS_ATOM_EXCH: legal = words | BIT(B128); break;
	case WS_ATOM_CAS: legal = words | BIT(B128) | BIT(B16); break;
	case WS_ATOM_INC: case WS_ATOM_DEC: legal = BIT(U32); break;
	case WS_ATOM_ADD: legal = ints | BIT(F32) | BIT(F64) | halves; break;
	case WS_ATOM_MIN: case WS_ATOM_MAX: legal = ints | BIT(S64) | halves; break;
	default: break;
	}
	if (i->op == WS_OP_red && (i->atom == WS_ATOM_CAS || i->atom == WS_ATOM_EXCH))
		return FAIL(c, "'red' has no '.cas' and no '.exch'");
	if (!(legal >> t & 1))
		return FAIL(c, "this atomic operation has no form for '.%s'", ws_type_name(t));
	if ((halves >> t & 1) != ((i->flags & WS_F_NOFTZ) != 0))
		return FAIL(c, halves >> t & 1 ? "an atomic operation on '.%s' needs '.noftz'" :
		            "'.noftz' has no form for '.%s'", ws_type_name(t));
	return true;
}

static bool check_redux(const struct check *c)
{
	const struct ws_ptx_inst *i = c->i;
	enum ws_type t = (enum ws_type)i->type[0];
	bool logic = i->atom == WS_ATOM_AND || i->atom == WS_ATOM_OR || i->atom == WS_ATOM_XOR;

	bool number = i->atom == WS_ATOM_ADD || i->atom == WS_ATOM_MIN || i->atom == WS_ATOM_MAX;

	if (i->op != WS_OP_redux || (t == WS_B32 ? logic : number))
		return true;
	return FAIL(c, "this operation of 'redux' has no form for '.%s'", ws_type_name(t));
}

/* ---- operands ---- */
static bool bad_operand(const struct check *c, const struct ws_operand *o, const char *want)
{
	return ws_p_error(c->p, o->off, o->len ? o->len : 1, "'%s' needs %s here", c->name, want);
}

/* May a register of type `reg` stand where `want` is read or written (PTX ISA 9.0, 9.4)? wider: ld, st, cvt take
 * registers wider than the type. */
static bool type_fits(enum ws_type reg, enum ws_type want, bool wider)
{
	unsigned have = ws_type_bytes(reg), need = ws_type_bytes(want);
	bool reg_int = reg >= WS_U8 && reg <= WS_S64, want_int = want >= WS_U8 && want <= WS_S64;
	bool reg_fp = reg == WS_F32 || reg == WS_F64, want_fp = want == WS_F32 || want == WS_F64;

	if (!reg || !want || want == WS_T_OTHER)
		return true;
	if (reg == WS_PRED || want == WS_PRED)
		return reg == want;
	if ((reg_int && (want_fp || (HALVES >> want & 1))) || (reg_fp && (want_int || (HALVES | PAIRS) >> want & 1)))
		return false;
	if (reg_fp && want_fp)
		return reg == want;
	return wider ? have >= need : have == need;
}

static bool check_reg(const struct check *c, const struct ws_operand *o, enum ws_type want, bool wider)
{
	if (o->reg->vec > 1 && !o->component)
		return bad_operand(c, o, "one element of the vector");
	if (o->component >= 0x10 || type_fits(o->reg->type, want, wider))
		return true;
	return ws_p_error(c->p, o->off, o->len, "'%s' is .%s, but '%s' needs .%s here", o->reg->name,
	                  ws_type_name(o->reg->type), c->name, ws_type_name(want));
}

/* 0f has 32 bits and 0d 64: .f32 and .f64 take both, .b32 and .b64 what fits. Halves have no constants. */
static bool check_constant(const struct check *c, const struct ws_operand *o, enum ws_type want)
{
	enum ws_type fits = o->kind == WS_O_FLOAT32 ? WS_B32 : WS_B64;

	if (HALVES >> want & 1)
		return bad_operand(c, o, "a register ('mov.b16' and 'mov.b32' take constants)");
	if (o->kind == WS_O_INT)
		return (want != WS_F32 && want != WS_F64) || bad_operand(c, o, "a floating-point constant");
	if (want == WS_F32 || want == WS_F64 || want == fits || want == WS_T_NONE || want == WS_T_OTHER)
		return true;
	return bad_operand(c, o, want >= WS_U8 && want <= WS_S64 ? "an integer" : "another type of constant");
}

static bool check_value(const struct check *c, const struct ws_operand *o, enum ws_type want, bool wider)
{
	bool moves = c->i->op == WS_OP_mov || c->i->op == WS_OP_cvt;

	if (o->negated && !(o->kind == WS_O_REG && want == WS_PRED))
		return bad_operand(c, o, "an operand without '!' or '-'");
	switch (o->kind) {
	case WS_O_REG: return check_reg(c, o, want, wider);
	case WS_O_SREG:
		if (!moves)
			return ws_p_error(c->p, o->off, o->len, "only 'mov' and 'cvt' read special registers");
		return (want != WS_PRED) == (ws_sreg_bytes(o->sreg_or_count) > 0) ||
		       bad_operand(c, o, "another type of operand");
	case WS_O_INT: case WS_O_FLOAT: case WS_O_FLOAT32: return check_constant(c, o, want);
	case WS_O_SYM:
		if (c->i->op != WS_OP_mov && (c->i->op != WS_OP_cvta || c->i->mode == WS_MODE_TO))
			return bad_operand(c, o, "a register or a constant ('mov' gives the address of a variable)");
		return (ws_type_bytes(want) >= 4 && !ws_type_is_float(want)) || bad_operand(c, o, "no address");
	default: return bad_operand(c, o, "a register or a constant");
	}
}

/* {a, b, ...} or a vector register of `vec` elements */
static bool check_vector(const struct check *c, const struct ws_operand *o, enum ws_type want, unsigned vec, bool dst)
{
	char what[32] = { "a vector of 2 elements" };

	what[12] = (char)('0' + vec);
	if (o->kind == WS_O_REG && o->reg->type && (o->reg->vec != vec || !type_fits(o->reg->type, want, true)))
		return bad_operand(c, o, what);
	if (o->kind == WS_O_REG)
		return true;
	if (o->kind != WS_O_VEC || o->sreg_or_count != vec)
		return bad_operand(c, o, what);
	for (unsigned k = 0; k < vec; k++) {
		const struct ws_operand *e = &o->elems[k];

		if (e->kind == WS_O_SINK && dst)
			continue;
		if (dst && e->kind != WS_O_REG)
			return bad_operand(c, e, "a register");
		if (!check_value(c, e, want, true))
			return false;
	}
	return true;
}

static bool check_dst(const struct check *c, const struct ws_operand *o, enum ws_type want, bool wider)
{
	if (o->kind == WS_O_SINK)
		return true;
	if (o->kind != WS_O_REG || o->negated)
		return bad_operand(c, o, "a register");
	return check_reg(c, o, want, wider);
}

static bool check_predicate(const struct check *c, const struct ws_operand *o, bool dst)
{
	if (dst && o->kind == WS_O_SINK)
		return true;
	if (o->kind == WS_O_INT && !dst)
		return true;
	if (o->kind != WS_O_REG || (o->reg->type && o->reg->type != WS_PRED) || (dst && o->negated))
		return bad_operand(c, o, "a predicate");
	return true;
}

/* A variable must lie in the space that is accessed; a generic access may name any but a parameter. */
static bool check_symbol_space(const struct check *c, const struct ws_operand *o)
{
	enum ws_space space = (enum ws_space)c->i->space, lies = o->sym->space;

	if (o->sym->kind != WS_SYM_VAR)
		return ws_p_error(c->p, o->off, o->len, "'%s' is a function", o->sym->name);
	if (space == WS_SPACE_SHARED_CLUSTER)
		space = WS_SPACE_SHARED;
	if (space == WS_SPACE_GENERIC ? lies != WS_SPACE_PARAM : space == lies)
		return true;
	return ws_p_error(c->p, o->off, o->len, "'%s' lies in '.%s', but '.%s' is accessed", o->sym->name,
			  ws_space_name(lies), ws_space_name(space));
}

static bool check_address(const struct check *c, const struct ws_operand *o)
{
	if (o->kind != WS_O_ADDR)
		return bad_operand(c, o, "an address in brackets");
	if (o->sym && !check_symbol_space(c, o))
		return false;
	if (!o->reg || !o->reg->type)
		return true;
	if ((ws_type_bytes(o->reg->type) != 4 && ws_type_bytes(o->reg->type) != 8) || ws_type_is_float(o->reg->type))
		return ws_p_error(c->p, o->off, o->len, "'%s' is .%s and cannot hold an address", o->reg->name,
		                  ws_type_name(o->reg->type));
	if (ws_type_bytes(o->reg->type) == 4 && c->p->m->address_size == 64 &&
	    c->i->space == WS_SPACE_GLOBAL)
		return ws_p_error(c->p, o->off, o->len, "'%s' has 32 bits, an address here has 64", o->reg->name);
	return true;
}

static enum ws_type type_of(const struct ws_ptx_inst *i, unsigned k)
{
	if (!i->ntypes)
		return WS_T_NONE;
	return (enum ws_type)i->type[k < i->ntypes ? k : i->ntypes - 1u];
}

/* mul.wide and mad.wide write, and add, twice the width. */
static enum ws_type result_type(const struct ws_ptx_inst *i)
{
	enum ws_type t = type_of(i, 0);

	if (i->part != WS_WIDE)
		return t;
	return t == WS_U16 ? WS_U32 : t == WS_S16 ? WS_S32 : t == WS_U32 ? WS_U64 : WS_S64;
}

/* One operand against its letter of the args column. */
static bool check_letter(const struct check *c, char letter, const struct ws_operand *o)
{
	const struct ws_ptx_inst *i = c->i;
	bool memory = i->op == WS_OP_ld || i->op == WS_OP_st || i->op == WS_OP_ldu;

	switch (letter) {
	case 'd':
		if (ws_ptx_mixed(i))
			return check_dst(c, o, WS_F32, false);
		if (i->vec > 1)
			return check_vector(c, o, type_of(i, 0), i->vec, true);
		return check_dst(c, o, result_type(i), memory);
	case 'a': case 'b': case 'c':
		if (ws_ptx_mixed(i))     /* the last one is .f32 */
			return check_value(c, o, o == &i->ops[i->nops - 1] ? WS_F32 : (enum ws_type)i->type[1], false);
		if (i->vec > 1)
			return check_vector(c, o, type_of(i, 0), i->vec, false);
		return check_value(c, o, type_of(i, (unsigned)(letter - 'a')), memory);
	case 'e': return check_value(c, o, result_type(i), false);
	case 'h': return check_value(c, o, WS_U16, false);
	case 'u': return check_value(c, o, i->op == WS_OP_shfl ? WS_B32 : WS_U32, false);
	case 'l': return check_value(c, o, WS_U64, false);
	case 'w': return check_dst(c, o, WS_U32, false);
	case 'W': return check_dst(c, o, WS_U64, false);
	case 'y': return o->kind == WS_O_REG || o->kind == WS_O_SINK || bad_operand(c, o, "a register");
	case 'p': case 'q': return check_predicate(c, o, true);
	case 'P': return check_predicate(c, o, false);
	case 'm': return check_address(c, o);
	case 'i': return o->kind == WS_O_INT || bad_operand(c, o, "an integer constant");
	case 't': return o->kind == WS_O_ADDR || o->kind == WS_O_TEX || bad_operand(c, o, "an operand in brackets");
	case 'x':
		if (o->kind == WS_O_SYM)
			return true;
		if (o->kind == WS_O_REG && (o->reg->vec == 1 || o->component) && !o->negated &&
		    (type_fits(o->reg->type, WS_U32, false) || type_fits(o->reg->type, WS_U64, false)))
			return true;
		return bad_operand(c, o, "an address in a register");
	default: return true;            /* v, L */
	}
}

static bool wrong_number(const struct check *c)
{
	const struct ws_ptx_inst *i = c->i;
	const char *args = ws_ptx_ops[i->op].args;
	unsigned least = 0, most = 0;
	bool optional = false;

	for (; *args; args++) {
		optional |= *args == '?';
		most += *args != '?';
		least += *args != '?' && *args != 'q' && !optional;
	}
	if (least == most)
		return FAIL(c, "'%s' takes %u operand%s, not %u", c->name, most, most == 1 ? "" : "s", i->nops);
	return FAIL(c, "'%s' takes %u to %u operands, not %u", c->name, least, most, i->nops);
}

static bool check_operands(const struct check *c)
{
	const struct ws_ptx_inst *i = c->i;
	bool optional = false;
	unsigned k = 0;

	for (const char *a = ws_ptx_ops[i->op].args; *a; a++) {
		if (*a == '*')
			return true;
		if (*a == '?') {
			optional = true;
			continue;
		}
		if (*a == 'q' && !(k < i->nops && i->ops[k].paired))
			continue;
		if (k >= i->nops)
			return optional || wrong_number(c);
		if (i->ops[k].paired && *a != 'q')
			return bad_operand(c, &i->ops[k], "',' and not '|'");
		if (!check_letter(c, *a, &i->ops[k++]))
			return false;
	}
	return k == i->nops || wrong_number(c);
}

/* ---- forms that the letters cannot tell ---- */
/* A vector as one value: {lo, hi} of mov; as many bits as the type. */
static bool check_packed(const struct check *c, const struct ws_operand *o, bool dst)
{
	enum ws_type t = type_of(c->i, 0);
	unsigned n = o->sreg_or_count, total = 0;

	for (unsigned k = 0; k < n; k++) {
		const struct ws_operand *e = &o->elems[k];

		if (e->kind == WS_O_SINK && dst)
			total += ws_type_bytes(t) / n;
		else if (e->kind == WS_O_REG && e->reg->type)
			total += ws_type_bytes(e->reg->type);
		else if (e->kind == WS_O_REG ||
			 (!dst && (e->kind == WS_O_INT || e->kind == WS_O_FLOAT || e->kind == WS_O_FLOAT32)))
			total += ws_type_bytes(t) / (n ? n : 1);
		else
			return bad_operand(c, e, "a register");
	}
	if (t < WS_B8 || t > WS_B128)
		return ws_p_error(c->p, o->off, o->len, "only the types .b16 to .b128 can be packed and unpacked");
	return total == ws_type_bytes(t) || ws_p_error(c->p, o->off, o->len, "these elements have %u bytes, .%s has %u",
						       total, ws_type_name(t), ws_type_bytes(t));
}

static bool check_mov(const struct check *c)
{
	const struct ws_ptx_inst *i = c->i;
	enum ws_type t = type_of(i, 0);

	if (i->vec == 1 && i->ops[0].kind == WS_O_VEC && i->ops[1].kind == WS_O_VEC)
		return bad_operand(c, &i->ops[1], "a register (only one side may be a list)");
	for (unsigned k = 0; k < 2; k++) {
		const struct ws_operand *o = &i->ops[k];
		bool ok;

		if (i->vec > 1)
			ok = check_vector(c, o, t, i->vec, k == 0);
		else if (o->kind == WS_O_VEC)
			ok = check_packed(c, o, k == 0);
		else
			ok = k ? check_value(c, o, t, false) : check_dst(c, o, t, false);
		if (!ok)
			return false;
	}
	return true;
}

/* Which conversions must, may and must not say how they round (PTX ISA 9.0, cvt). */
static bool check_rounding(const struct check *c)
{
	const struct ws_ptx_inst *i = c->i;
	enum ws_type d = (enum ws_type)i->type[0], s = (enum ws_type)i->type[1];
	bool df = ws_type_is_float(d), sf = ws_type_is_float(s);
	bool integral = i->rnd >= WS_RNI, smaller = ws_type_bytes(d) < ws_type_bytes(s);

	if (!i->rnd && df != sf)
		return FAIL(c, "'cvt' between integer and floating point needs a rounding modifier");
	if (!i->rnd && df && smaller && ws_type_bytes(d) > 1)
		return FAIL(c, "'cvt' to a smaller floating-point type needs a rounding modifier");
	if (i->rnd && d == s && df && !integral)
		return FAIL(c, "'cvt' to the same type rounds to an integral value: '.rni', '.rzi', '.rmi' or '.rpi'");
	if (i->rnd && !sf && integral)
		return FAIL(c, "'cvt' from an integer rounds by '.rn', '.rz', '.rm' or '.rp'");
	if (i->rnd && sf && !df && !integral)
		return FAIL(c, "'cvt' to an integer rounds by '.rni', '.rzi', '.rmi' or '.rpi'");
	if (i->rnd && df && sf && ((integral && ws_type_bytes(d) != ws_type_bytes(s)) || (d == WS_F64 && s == WS_F32)))
		return FAIL(c, "this rounding has no use between '.%s' and '.%s'", ws_type_name(s), ws_type_name(d));
	return true;
}

static bool check_cvt(const struct check *c)
{
	const struct ws_ptx_inst *i = c->i;

	if (i->nops < 2)
		return FAIL(c, "'cvt' takes at least 2 operands");
	if (i->mode == WS_MODE_OTHER)
		return true;
	if (i->ntypes != 2)
		return FAIL(c, "'cvt' needs 2 types");
	if (!check_rounding(c))
		return false;
	if (!check_dst(c, &i->ops[0], (enum ws_type)i->type[0], true))
		return false;
	for (unsigned k = 1; k < i->nops && k < 3; k++)
		if (!check_value(c, &i->ops[k], (enum ws_type)i->type[1], true))
			return false;
	return true;
}

/* The barrier's number, 0 to 15, and how many threads take part: whole warps. */
static bool check_barrier_numbers(const struct check *c, unsigned first)
{
	const struct ws_operand *o = &c->i->ops[first];
	unsigned n = c->i->nops - first - (first ? 1 : 0);

	for (unsigned k = 0; k < n; k++)
		if (!check_value(c, &o[k], WS_U32, false))
			return false;
	if (o[0].kind == WS_O_INT && o[0].imm > 15)
		return ws_p_error(c->p, o[0].off, o[0].len, "barriers have the numbers 0 to 15");
	if (n > 1 && o[1].kind == WS_O_INT && o[1].imm % WS_WARP)
		return ws_p_error(c->p, o[1].off, o[1].len, "the threads of a barrier are a multiple of %d", WS_WARP);
	return true;
}

/* bar, barrier: a[, b]; .red: d, a[, b], c; bar.warp.sync: mask; barrier.cluster: nothing */
static bool check_barrier(const struct check *c)
{
	const struct ws_ptx_inst *i = c->i;
	unsigned n = i->nops, least = 1, most = 2;

	if (i->mode == WS_MODE_OTHER) {
		if (!i->extra || i->atom || (strcmp(i->extra, ".cluster.arrive") && strcmp(i->extra, ".cluster.wait")))
			return FAIL(c, "'barrier.cluster' needs '.arrive' or '.wait'");
		return n == 0 || FAIL(c, "'barrier.cluster' takes no operands");
	}
	if (i->sem)
		return FAIL(c, "a memory order is for 'barrier.cluster'");
	if (i->mode == WS_MODE_WARP_SYNC)
		most = 1;
	else if (i->mode == WS_MODE_ARRIVE)
		least = 2;
	else if (i->mode == WS_MODE_RED)
		least = 3, most = 4;
	if (n < least || n > most)
		return least == most ? FAIL(c, "this barrier takes %u operand%s", least, least == 1 ? "" : "s") :
		                       FAIL(c, "this barrier takes %u or %u operands", least, most);
	if (i->mode != WS_MODE_WARP_SYNC && !check_barrier_numbers(c, i->mode == WS_MODE_RED ? 1 : 0))
		return false;
	if (i->mode != WS_MODE_RED) {
		if (i->mode == WS_MODE_WARP_SYNC && !check_value(c, &i->ops[0], WS_U32, false))
			return false;
		if (i->atom)
			return FAIL(c, "only a '.red' barrier has an operation");
		return !i->ntypes || FAIL(c, "this barrier takes no type");
	}
	if (!i->ntypes || (i->atom == WS_ATOM_POPC) != (i->type[0] == WS_U32) ||
	    (i->atom != WS_ATOM_POPC && i->atom != WS_ATOM_AND && i->atom != WS_ATOM_OR))
		return FAIL(c, "a reducing barrier is '.popc.u32', '.and.pred' or '.or.pred'");
	return check_dst(c, &i->ops[0], (enum ws_type)i->type[0], false) && check_predicate(c, &i->ops[n - 1], false);
}

static bool check_mask(const struct check *c)
{
	const struct ws_ptx_inst *i = c->i;
	bool has = i->nops - i->ops[1].paired >= (i->op == WS_OP_shfl ? 5 : 3);

	if (has == ((i->flags & WS_F_SYNC) != 0))
		return true;
	return has ? FAIL(c, "a mask is for '%s.sync'", c->name) :
	             FAIL(c, "'%s.sync' needs the mask of the threads that take part", c->name);
}

/* A cache policy stands last, with .L2::cache_hint and only then. n: the operands without it. */
static bool check_policy(const struct check *c, unsigned n)
{
	const struct ws_ptx_inst *i = c->i;
	bool hint = i->flags & WS_F_CACHE_HINT;

	if (i->mode == WS_MODE_OTHER)
		return true;
	if (i->nops != n + hint)
		return FAIL(c, "'%s' takes %u operands%s, not %u", c->name, n + hint,
		            hint ? " with a cache policy" : "", i->nops);
	return !hint || check_value(c, &i->ops[n], WS_U64, false);
}

static bool check_forms(const struct check *c)
{
	const struct ws_ptx_inst *i = c->i;

	switch (i->op) {
	case WS_OP_mov: return check_mov(c);
	case WS_OP_cvt: return check_cvt(c);
	case WS_OP_bar: case WS_OP_barrier: return check_barrier(c);
	case WS_OP_st: return i->ntypes || i->mode == WS_MODE_OTHER ? check_policy(c, 2) : FAIL(c, "'st' needs a type");
	case WS_OP_red: return check_policy(c, 2);
	case WS_OP_setp: case WS_OP_set:
		return (i->boolop != 0) == (i->nops - i->ops[1].paired == 4) ||
		       FAIL(c, "'%s' takes a predicate operand with '.and', '.or' or '.xor' and only then", c->name);
	case WS_OP_lop3:
		return (i->boolop != 0) == (i->nops - i->ops[1].paired == 6) ||
		       FAIL(c, "'lop3' takes a predicate operand with '.and', '.or' or '.xor' and only then");
	case WS_OP_atom:
		if (i->atom == WS_ATOM_CAS && i->nops < 4)
			return FAIL(c, "'atom.cas' takes 4 operands, not %u", i->nops);
		return check_policy(c, i->atom == WS_ATOM_CAS ? 4 : 3);
	case WS_OP_elect: return i->ops[1].paired || FAIL(c, "'elect' needs a predicate behind '|'");
	case WS_OP_shfl: case WS_OP_vote: case WS_OP_match: return check_mask(c);
	case WS_OP_ld: return check_policy(c, 2);
	default: return true;
	}
}

bool ws_p_check(struct parser *p, struct ws_ptx_inst *i, const struct token *op)
{
	const struct op_row *r = &ws_ptx_ops[i->op];
	struct check c = { .p = p, .i = i, .name = op->name->str, .off = op->off, .len = op->len };

	if (r->any_types)
		return true;
	return check_types(&c) && check_part(&c) && check_float_words(&c) && check_exactness(&c) && check_mode(&c) &&
	       check_compare(&c) && check_order(&c) && check_space(&c) && check_atomic(&c) && check_redux(&c) &&
	       check_operands(&c) && check_forms(&c);
}

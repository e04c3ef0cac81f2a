/* ranges_entry.c - code at a kernel's entry that computes the bounds of sums in this launch.
 *
 * All in signed 64-bit numbers. Terms are kept below 2^57, so that a sum of MOST_TERMS of them stays below 2^62: where
 * that is not known beforehand, it is examined, and `ok` becomes false. In products of leaves none may be negative. */
#include "rewrite/ranges_priv.h"

#include <stdlib.h>
#include <string.h>

enum { TERM_BITS = 57, SUM_BITS = 62, INT_BITS = 33, HALF_BITS = 28 };

static unsigned bits_of(int64_t k)
{
	uint64_t amount = k < 0 ? 0 - (uint64_t)k : (uint64_t)k;

	return amount ? 64 - (unsigned)__builtin_clzll(amount) : 0;
}

struct num ws_entry_number(int64_t k)
{
	return (struct num){ .k = k, .bits = bits_of(k), .negative = k < 0 };
}

static const char *print(struct entry *e, int64_t k)
{
	struct ws_buf b = { 0 };
	const char *text;

	ws_buf_printf(&b, "%lld", (long long)k);
	text = ws_arena_strndup(e->v->arena, b.data, b.len);
	ws_buf_free(&b);
	return text;
}

const char *ws_entry_text(struct entry *e, const struct num *n)
{
	return n->reg ? n->reg : print(e, n->k);
}

const char *ws_entry_register(struct entry *e, const struct num *n)
{
	const char *r = ws_code_temp(e->c, WS_B64);

	ws_code_add(e->c, "mov.b64 %s, %s;", r, ws_entry_text(e, n));
	return r;
}

/* ok &= a <op> b */
static void demand(struct entry *e, struct num a, const char *op, struct num b)
{
	const char *left = a.reg;

	if (!left) {
		left = ws_code_temp(e->c, WS_B64);
		ws_code_add(e->c, "mov.b64 %s, %s;", left, print(e, a.k));
	}
	ws_code_add(e->c, "setp.%s.and.s64 %s, %s, %s, %s;", op, e->ok, left, ws_entry_text(e, &b), e->ok);
}

static void demand_between(struct entry *e, struct num n, int64_t least, int64_t most)
{
	if (n.negative ? least != INT64_MIN && (n.reg || n.k < least) : least > 0)
		demand(e, n, "ge", ws_entry_number(least));
	if (n.reg ? most < 0 || n.bits > bits_of(most) || (n.bits == bits_of(most) && most & (most + 1)) : n.k > most)
		demand(e, n, "le", ws_entry_number(most));
}

static void narrow(struct entry *e, struct num *n, unsigned bits)
{
	int64_t most = ((int64_t)1 << bits) - 1;

	if (n->bits <= bits)
		return;
	demand_between(e, *n, -most, most);
	n->bits = bits;
}

static struct num made(struct entry *e, const char *op, struct num a, struct num b, unsigned bits, bool negative)
{
	struct num n = { ws_code_temp(e->c, WS_B64), 0, bits > SUM_BITS ? SUM_BITS : bits, negative };

	if (!a.reg) {
		ws_code_add(e->c, "mov.b64 %s, %s;", n.reg, print(e, a.k));
		a.reg = n.reg;
	}
	ws_code_add(e->c, "%s %s, %s, %s;", op, n.reg, a.reg, ws_entry_text(e, &b));
	return n;
}

struct num ws_entry_made(struct entry *e, const char *op, struct num a, struct num b)
{
	return made(e, op, a, b, a.bits, a.negative);
}

struct num ws_entry_add(struct entry *e, struct num a, struct num b)
{
	unsigned bits = (a.bits > b.bits ? a.bits : b.bits) + 1;

	if (!a.reg && !b.reg)
		return ws_entry_number(a.k + b.k);
	if (!a.reg && !a.k)
		return b;
	if (!b.reg && !b.k)
		return a;
	return a.reg ? made(e, "add.s64", a, b, bits, a.negative || b.negative) :
		       made(e, "add.s64", b, a, bits, a.negative || b.negative);
}

static struct num multiply(struct entry *e, struct num a, struct num b)
{
	if (!b.reg && b.k == 1)
		return a;
	if (!a.reg && a.k == 1)
		return b;
	if (a.bits + b.bits > TERM_BITS)
		narrow(e, &a, b.bits < TERM_BITS - HALF_BITS ? TERM_BITS - b.bits : HALF_BITS);
	if (a.bits + b.bits > TERM_BITS)
		narrow(e, &b, TERM_BITS - a.bits);
	if (!a.reg && !b.reg)
		return ws_entry_number(a.k * b.k);
	if (!a.reg && !a.k)
		return a;
	if (!b.reg && !b.k)
		return b;
	return a.reg ? made(e, "mul.lo.s64", a, b, a.bits + b.bits, a.negative || b.negative) :
		       made(e, "mul.lo.s64", b, a, a.bits + b.bits, a.negative || b.negative);
}

struct num ws_entry_times(struct entry *e, struct num n, int64_t k)
{
	return multiply(e, n, ws_entry_number(k));
}

struct num ws_entry_choose(struct entry *e, const char *op, struct num a, struct num b)
{
	bool least = !strcmp(op, "min.s64");

	if (!a.reg && !b.reg)
		return least == (a.k < b.k) ? a : b;
	return made(e, op, a, b, a.bits > b.bits ? a.bits : b.bits,
	            least ? a.negative || b.negative : a.negative && b.negative);
}

struct num ws_entry_clamp(struct entry *e, struct num n, int64_t least, int64_t most)
{
	n = ws_entry_choose(e, "max.s64", n, ws_entry_number(least));
	n.negative = false;
	return ws_entry_choose(e, "min.s64", n, ws_entry_number(most));
}

struct num ws_entry_either(struct entry *e, const char *is, struct num a, struct num b)
{
	struct num n = { ws_code_temp(e->c, WS_B64), 0, a.bits > b.bits ? a.bits : b.bits, a.negative || b.negative };

	ws_code_add(e->c, "selp.b64 %s, %s, %s, %s;", n.reg, ws_entry_text(e, &a), ws_entry_text(e, &b), is);
	return n;
}

/* ---- what is forgotten ---- */
struct kept { bool emitted; struct num lo, hi; };        /* of a leaf */
struct ws_entry_mark { size_t nknown, nleaves; struct kept *leaves; };

struct ws_entry_mark *ws_entry_mark(const struct entry *e)
{
	struct ws_entry_mark *m = ws_alloc(sizeof *m);

	*m = (struct ws_entry_mark){ e->nknown, e->v->nleaves, ws_alloc((e->v->nleaves + 1) * sizeof *m->leaves) };
	for (size_t k = 0; k < m->nleaves; k++)
		m->leaves[k] = (struct kept){ e->v->leaves[k].emitted, e->v->leaves[k].lo, e->v->leaves[k].hi };
	return m;
}

void ws_entry_forget(struct entry *e, struct ws_entry_mark *mark)
{
	for (size_t k = 0; k < e->v->nleaves; k++) {
		struct leaf *l = &e->v->leaves[k];

		l->emitted &= k < mark->nleaves && mark->leaves[k].emitted;
		if (l->emitted) {                /* also what was examined of it */
			l->lo = mark->leaves[k].lo;
			l->hi = mark->leaves[k].hi;
		}
	}
	e->nknown = mark->nknown;
	free(mark->leaves);
	free(mark);
}

/* ---- leaves ---- */
static unsigned param_number(const struct ws_ptx_func *f, const struct ws_ptx_sym *s)
{
	uint32_t k = 0;

	while (k < f->nparams && f->params[k] != s)
		k++;
	return k;
}

static struct num load(struct entry *e, const struct leaf *l)
{
	struct num n = { ws_code_temp(e->c, WS_B64), 0, l->bytes == 4 ? INT_BITS : SUM_BITS, true };

	const char *space = l->kind == LEAF_CONST ? "const" : "param", *type = l->bytes == 4 ? "s32" : "u64";

	ws_code_device_only(e->c, true);
	ws_code_add(e->c, "ld.%s.%s %s, [%s+%lld];", space, type, n.reg, l->sym->name, (long long)l->offset);
	ws_code_device_only(e->c, false);
	ws_code_host(e->c, "%s.%s %s, %u, %lld;", space, type, n.reg, param_number(e->v->f, l->sym), (long long)l->offset);
	if (l->bytes == 8) {                 /* anything: an address, or a number that is not negative */
		ws_code_add(e->c, "setp.lt.and.u64 %s, %s, %lld, %s;", e->ok, n.reg, 1ll << TERM_BITS, e->ok);
		n.bits = TERM_BITS;
		n.negative = false;
	}
	return n;
}

static struct num size_of(struct entry *e, enum ws_sreg s)
{
	static const unsigned bits[] = { 11, 11, 11, 31, 16, 16 };
	bool block = s <= WS_SR_NTID_Z;
	struct num n = { ws_code_temp(e->c, WS_B64), 0, 0, false };
	const char *half = ws_code_temp(e->c, WS_B32);

	n.bits = bits[block ? s - WS_SR_NTID_X : s - WS_SR_NCTAID_X + 3];
	ws_code_add(e->c, "mov.u32 %s, %s;", half, ws_sreg_name(s));
	ws_code_add(e->c, "cvt.u64.u32 %s, %s;", n.reg, half);
	return n;
}

static enum ws_sreg extent_of(enum ws_sreg s)
{
	return (enum ws_sreg)(s + (WS_SR_NTID_X - WS_SR_TID_X));
}

static void special(struct entry *e, struct leaf *l)
{
	bool thread = l->special <= WS_SR_TID_Z, block = l->special >= WS_SR_CTAID_X && l->special <= WS_SR_CTAID_Z;

	if (thread || block) {
		l->lo = ws_entry_number(0);
		l->hi = ws_entry_add(e, size_of(e, extent_of(l->special)), ws_entry_number(-1));
		l->hi.bits--;
		l->hi.negative = false;      /* there is a thread, and a block */
	} else {
		l->lo = l->hi = size_of(e, l->special);
	}
}

static void bounded(struct entry *e, struct leaf *l)
{
	struct num lo, hi, first, last;
	bool counter = l->kind == LEAF_LOOP;

	ws_entry_bounds(e, l->of[0], &lo, &hi);
	for (unsigned k = 1; k < l->nof; k++) {
		ws_entry_bounds(e, l->of[k], &first, &last);
		lo = ws_entry_choose(e, "min.s64", lo, first);
		hi = ws_entry_choose(e, "max.s64", hi, last);
	}
	for (unsigned k = 0; k < l->nbounds; k++) {
		const struct bound *b = &l->bounds[k];

		ws_entry_bounds(e, b->than, &first, &last);
		if (!b->upper) {
			lo = ws_entry_choose(e, "max.s64", lo, ws_entry_add(e, first, ws_entry_number(b->slack)));
			continue;
		}
		last = ws_entry_add(e, last, ws_entry_number(b->slack));
		hi = counter ? last : ws_entry_choose(e, "min.s64", hi, last);
		counter = false;             /* its first upper bound is the first that is known of it */
	}
	l->lo = lo;
	l->hi = ws_entry_choose(e, "max.s64", hi, lo);        /* lo > hi: there is no such value, and any bounds are right */
}

static void strided(struct entry *e, struct leaf *l)
{
	struct num hi, step, first, last;

	ws_entry_bounds(e, l->of[0], &l->lo, &hi);
	ws_entry_bounds(e, l->step, &first, &step);
	for (unsigned k = 0; k < l->nbounds; k++) {
		ws_entry_bounds(e, l->bounds[k].than, &first, &last);
		last = ws_entry_add(e, last, ws_entry_number(l->bounds[k].slack));
		hi = !l->loose && !k ? last : ws_entry_choose(e, "max.s64", hi, last);
	}
	last = multiply(e, step, ws_entry_number(l->k + l->by));
	narrow(e, &last, TERM_BITS);
	l->hi = ws_entry_add(e, hi, last);
}

/* Rounds before the last step: (span - 1) / by, rounded down. A loop that ends with what is passed has one at least; of
 * one that was not entered, -1 says that there is no value. */
static struct num rounds(struct entry *e, struct leaf *l)
{
	struct num span, same, n;

	ws_entry_bounds(e, l->of[0], &span, &same);
	n = ws_entry_add(e, span, ws_entry_number(-1));
	if (!(l->by & (l->by - 1)))
		n = made(e, "shr.s64", n, ws_entry_number(__builtin_ctzll((uint64_t)l->by)), n.bits, true);
	else
		n = made(e, "div.s64", n, ws_entry_number(l->by), n.bits, true);
	if (!l->exact)
		n = ws_entry_choose(e, "max.s64", n, ws_entry_number(0));
	return l->k ? ws_entry_add(e, n, ws_entry_number(1)) : n;
}

static void counted(struct entry *e, struct leaf *l)
{
	struct num step, same, last;

	ws_entry_bounds(e, l->step, &step, &same);
	last = multiply(e, rounds(e, l), step);
	narrow(e, &last, TERM_BITS);
	l->lo = ws_entry_choose(e, "min.s64", last, ws_entry_number(0));
	l->hi = last;
	if (step.negative && (step.reg || step.k < 0))
		l->hi = ws_entry_choose(e, "max.s64", last, ws_entry_number(0));
	else
		l->lo = ws_entry_number(0);
	l->hi.negative = true;
}

static void power(struct entry *e, struct leaf *l)
{
	struct num by, same, n = { ws_code_temp(e->c, WS_B64), 0, 32, false };
	const char *half = ws_code_temp(e->c, WS_B32);

	ws_entry_bounds(e, l->of[0], &by, &same);
	ws_code_add(e->c, "mov.b64 %s, %s;", n.reg, ws_entry_text(e, &by));
	ws_code_add(e->c, "cvt.u32.u64 %s, %s;", half, n.reg);
	ws_code_add(e->c, "mov.b64 %s, 1;", n.reg);
	ws_code_add(e->c, "shl.b64 %s, %s, %s;", n.reg, n.reg, half);
	l->lo = l->hi = n;
}

static void chosen(struct entry *e, struct leaf *l)
{
	const char *op = l->kind == LEAF_LEAST ? "min.s64" : "max.s64";
	struct num lo[2], hi[2];

	for (unsigned k = 0; k < 2; k++)
		ws_entry_bounds(e, l->of[k], &lo[k], &hi[k]);
	l->lo = ws_entry_choose(e, op, lo[0], lo[1]);
	l->hi = l->fixed ? l->lo : ws_entry_choose(e, op, hi[0], hi[1]);
}

static void leaf(struct entry *e, struct leaf *l)
{
	static const int64_t endless = (int64_t)1 << 40;     /* farther than any duty allows */

	if (l->emitted)
		return;
	l->emitted = true;
	switch (l->kind) {
	case LEAF_PARAM: case LEAF_CONST:
		l->lo = l->hi = load(e, l);
		break;
	case LEAF_SYMBOL:
		l->lo = l->hi = (struct num){ ws_code_temp(e->c, WS_B64), 0, TERM_BITS, false };
		ws_code_add(e->c, "mov.u64 %s, %s;", l->lo.reg, l->sym->name);
		break;
	case LEAF_SPECIAL:
		special(e, l);
		break;
	case LEAF_ONE_OF: case LEAF_LOOP:
		bounded(e, l);
		break;
	case LEAF_STRIDED:
		strided(e, l);
		break;
	case LEAF_ENDLESS:
		l->lo = ws_entry_number(-endless);
		l->hi = ws_entry_number(endless);
		break;
	case LEAF_DIGIT:
		l->lo = ws_entry_number(0);
		l->hi = ws_entry_number(l->k - 1);
		break;
	case LEAF_COUNTED:
		counted(e, l);
		break;
	case LEAF_MASKED:
		if (l->fixed) {
			ws_entry_bounds(e, l->of[0], &l->lo, &l->hi);
			l->lo = l->hi = made(e, "and.b64", l->lo, ws_entry_number(l->k), bits_of(l->k), false);
			break;
		}
		l->lo = ws_entry_number(0);
		l->hi = ws_entry_number(l->k);
		break;
	case LEAF_POWER:
		power(e, l);
		break;
	case LEAF_QUOTIENT: case LEAF_REMAINDER:
		ws_split_bounds(e, l);
		break;
	case LEAF_LEAST: case LEAF_GREATEST:
		chosen(e, l);
		break;
	case LEAF_SHIFTED:
		ws_entry_bounds(e, l->of[0], &l->lo, &l->hi);
		l->lo = made(e, "shr.s64", l->lo, ws_entry_number(l->k), l->lo.bits, l->lo.negative);
		l->hi = made(e, "shr.s64", l->hi, ws_entry_number(l->k), l->hi.bits, l->hi.negative);
		break;
	}
}

/* ---- sums ---- */
static void not_negative(struct entry *e, struct leaf *l)
{
	if (l->lo.negative)
		demand_between(e, l->lo, 0, INT64_MAX);
	l->lo.negative = l->hi.negative = false;     /* hi is not below lo */
}

static struct num extreme(struct entry *e, const struct term *t, bool high)
{
	struct num n = ws_entry_number(1);

	for (uint32_t k = 0; k < t->n; k++) {
		struct leaf *l = &e->v->leaves[t->leaf[k]];

		leaf(e, l);
		if (t->n > 1)
			not_negative(e, l);
		n = multiply(e, n, high == (t->factor > 0) ? l->hi : l->lo);
	}
	n = multiply(e, n, ws_entry_number(t->factor));
	narrow(e, &n, TERM_BITS);
	return n;
}

/* The leaf of a term that is not the same for all; UINT32_MAX: none. false: there are two. */
static bool varying(const struct values *v, const struct term *t, uint32_t *found)
{
	*found = UINT32_MAX;
	for (uint32_t k = 0; k < t->n; k++)
		if (!v->leaves[t->leaf[k]].fixed) {
			if (*found != UINT32_MAX)
				return false;
			*found = t->leaf[k];
		}
	return true;
}

static bool has_both_signs(const struct sum *s)
{
	for (uint32_t k = 1; k < s->n; k++)
		if ((s->t[k].factor < 0) != (s->t[0].factor < 0))
			return true;
	return false;
}

/* What a leaf is multiplied with in all terms of which it is all that varies. */
static struct sum weight_in(const struct values *v, const struct sum *s, uint32_t leaf)
{
	struct sum weight = { 0 };
	uint32_t found;

	for (uint32_t k = 0; k < s->n; k++) {
		struct term *t = &weight.t[weight.n];

		if (!varying(v, &s->t[k], &found) || found != leaf)
			continue;
		*t = (struct term){ .factor = s->t[k].factor };
		for (uint32_t m = 0; m < s->t[k].n; m++)
			if (s->t[k].leaf[m] != leaf)
				t->leaf[t->n++] = s->t[k].leaf[m];
		weight.n++;
	}
	return weight;
}

/* Is the first what the second is without the leaf? */
static bool same_factors(const struct term *of, const struct term *t, uint32_t leaf)
{
	uint32_t k = 0;

	for (uint32_t m = 0; m < t->n; m++)
		if (t->leaf[m] != leaf && (k == of->n || of->leaf[k++] != t->leaf[m]))
			return false;
	return k == of->n;
}

/* (256 - 2 * n) * leaf: term by term the bounds would be those of 256 * leaf and -2 * n * leaf, which never meet. */
static void add_product(struct entry *e, const struct sum *weight, uint32_t which, struct num *lo, struct num *hi)
{
	struct leaf *l = &e->v->leaves[which];
	struct num by, same, first, last;

	leaf(e, l);
	ws_entry_bounds(e, weight, &by, &same);
	first = multiply(e, by, l->lo);
	last = multiply(e, by, l->hi);
	narrow(e, &first, TERM_BITS);
	narrow(e, &last, TERM_BITS);
	*lo = ws_entry_add(e, *lo, ws_entry_choose(e, "min.s64", first, last));
	*hi = ws_entry_add(e, *hi, ws_entry_choose(e, "max.s64", first, last));
}

void ws_entry_bounds(struct entry *e, const struct sum *s, struct num *lo, struct num *hi)
{
	struct known *k;
	bool fixed = ws_sum_fixed(e->v, s);

	for (size_t n = 0; n < e->nknown; n++)
		if (ws_sum_equal(&e->known[n].sum, s)) {
			*lo = e->known[n].lo;
			*hi = e->known[n].hi;
			return;
		}
	*lo = *hi = ws_entry_number(0);
	for (uint32_t n = 0; n < s->n; n++) {
		struct sum weight = { 0 };
		uint32_t leaf;

		if (!fixed && varying(e->v, &s->t[n], &leaf) && leaf != UINT32_MAX)
			weight = weight_in(e->v, s, leaf);
		if (has_both_signs(&weight)) {
			if (weight.t[0].factor == s->t[n].factor && same_factors(&weight.t[0], &s->t[n], leaf))
				add_product(e, &weight, leaf, lo, hi);       /* once, where the first of them is */
			continue;
		}
		*lo = ws_entry_add(e, *lo, extreme(e, &s->t[n], false));
		*hi = fixed ? *lo : ws_entry_add(e, *hi, extreme(e, &s->t[n], true));
	}
	k = WS_PUSH(e->known, e->nknown, e->known_cap);
	*k = (struct known){ *s, *lo, *hi };
}

static void demand_multiple_unless(struct entry *e, struct num n, int64_t by, const struct sum *unless)
{
	struct num rest = made(e, "and.b64", n, ws_entry_number(by - 1), bits_of(by), false), zero, same;
	const char *fine;

	if (!unless) {
		demand(e, rest, "eq", ws_entry_number(0));
		return;
	}
	ws_entry_bounds(e, unless, &zero, &same);
	fine = ws_code_temp(e->c, WS_PRED);
	ws_code_add(e->c, "setp.eq.s64 %s, %s, 0;", fine, ws_entry_register(e, &zero));
	ws_code_add(e->c, "setp.eq.or.s64 %s, %s, 0, %s;", fine, ws_entry_register(e, &rest), fine);
	ws_code_add(e->c, "and.pred %s, %s, %s;", e->ok, e->ok, fine);
}

void ws_entry_duties(struct entry *e, size_t from, size_t to)
{
	for (size_t k = from; k < to; k++) {
		const struct duty d = e->v->duties[k];
		struct num lo, hi;

		ws_entry_bounds(e, d.sum, &lo, &hi);
		if (d.least != INT64_MIN)
			demand_between(e, lo, d.least, INT64_MAX);
		if (d.most != INT64_MAX)
			demand_between(e, hi, INT64_MIN, d.most);
		if (d.power)
			demand(e, ws_entry_made(e, "and.b64", ws_entry_add(e, lo, ws_entry_number(-1)), lo), "eq",
			       ws_entry_number(0));
		if (d.by > 1)
			demand_multiple_unless(e, lo, d.by, d.unless);
	}
}

void ws_entry_unless(struct entry *e, const struct rare *r)
{
	struct leaf *l = &e->v->leaves[r->leaf];
	struct ws_pass *p = e->c->p;

	leaf(e, l);
	ws_code_device_only(e->c, l->kind == LEAF_CONST);
	demand(e, l->lo, "ne", ws_entry_number(r->k));
	ws_code_device_only(e->c, false);
	if (l->kind == LEAF_CONST && p->nunless++ < WS_RW_MOST_UNLESS)
		p->unless[p->nunless - 1] = (struct ws_rw_unless){ l->sym, l->offset, r->k, l->bytes };
}

/* ---- threads apart from each other ----
 * A sum is what all threads have in common, and digits times their weights. A digit is a special register that tells
 * threads apart, or a register with bounds whose own sum does, or a loop's counter, or a quotient or remainder. With the
 * digits in order of their weights, sums of threads that differ in a digit are `extent` or more apart if each weight is at
 * least what the digits before it can come to, and extent more: as in any number system. Each of the six coordinates of a
 * thread must be in a digit, or there is only one of it, or it is pinned to one number (ranges_pin.c). Threads whose counters begin
 * apart, and less than a step apart in all, never come to each other's values. */
enum { MOST_DIGITS = 12, COORDINATES = 6, DEEPEST = 4 };

struct digit { uint32_t leaf; struct sum weight, factor; };      /* weight: of the least difference between two of its numbers; factor: of 1 */

static int coordinate(const struct leaf *l)
{
	int s = l->special;

	if (l->kind != LEAF_SPECIAL)
		return -1;
	if (s <= WS_SR_TID_Z)
		return s - WS_SR_TID_X;
	return s >= WS_SR_CTAID_X && s <= WS_SR_CTAID_Z ? s - WS_SR_CTAID_X + 3 : -1;
}

static bool add_to_digit(struct digit *list, unsigned *n, uint32_t leaf, const struct term *t)
{
	struct sum weight = { 1, { { .factor = t->factor } } };
	struct term *w = &weight.t[0];
	unsigned k = 0;

	for (uint32_t m = 0; m < t->n; m++)
		if (t->leaf[m] != leaf)
			w->leaf[w->n++] = t->leaf[m];
	while (k < *n && list[k].leaf != leaf)
		k++;
	if (k == MOST_DIGITS)
		return false;
	if (k == *n)
		list[(*n)++] = (struct digit){ .leaf = leaf, .weight = weight };
	else
		return ws_sum_add(&list[k].weight, &weight, 1);
	return true;
}

static int64_t amount(int64_t k)
{
	return k < 0 ? -k : k;
}

/* Parameters in a term: rows are longer than a block is wide. */
static unsigned params_in(const struct values *v, const struct term *t)
{
	unsigned n = 0;

	for (uint32_t k = 0; k < t->n; k++)
		n += v->leaves[t->leaf[k]].kind != LEAF_SPECIAL;
	return n;
}

/* A guess at the order of weights; if it is wrong for a launch, nothing is proved of it. */
static bool before(const struct values *v, const struct digit *a, const struct digit *b)
{
	const struct term *x = &a->weight.t[a->weight.n - 1], *y = &b->weight.t[b->weight.n - 1];

	if (params_in(v, x) != params_in(v, y))
		return params_in(v, x) < params_in(v, y);
	if (x->n != y->n)
		return x->n < y->n;
	return amount(x->factor) < amount(y->factor);
}

/* Would it be no more than a guess? A row and a plane are both of some number of bytes that the program gives. */
static bool any_order(const struct values *v, const struct digit *a, const struct digit *b)
{
	const struct term *x = &a->weight.t[a->weight.n - 1], *y = &b->weight.t[b->weight.n - 1];

	return params_in(v, x) && params_in(v, y) && !ws_term_same_leaves(x, y);
}

/* Numbers of which all threads have the same: they begin with one of the launch, and go on by a step. */
static bool same_in_all(const struct values *v, const struct leaf *l)
{
	return l->kind == LEAF_LOOP && l->nof == 1 && ws_sum_fixed(v, l->of[0]) && ws_sum_fixed(v, l->step);
}

/* What counts the rounds of a loop goes on by its step in each. */
static bool by_step(const struct values *v, struct digit *d)
{
	const struct leaf *l = &v->leaves[d->leaf];
	bool counted = l->kind == LEAF_COUNTED;

	d->factor = d->weight;
	if (!counted && !same_in_all(v, l))
		return true;
	d->weight.n = 0;
	if (!ws_sum_add_product(&d->weight, &d->factor, l->step))
		return false;
	if (counted)                         /* its numbers are rounds */
		d->factor = d->weight;
	return true;
}

static bool find_digits(const struct values *v, const struct sum *s, struct digit *list, unsigned *n)
{
	uint32_t leaf;

	*n = 0;
	for (uint32_t k = 0; k < s->n; k++)
		if (!varying(v, &s->t[k], &leaf) ||
		    (leaf != UINT32_MAX && !add_to_digit(list, n, leaf, &s->t[k])))
			return false;
	for (unsigned k = 0; k < *n; k++) {
		if (!by_step(v, &list[k]) || !list[k].weight.n)
			return false;
		for (unsigned m = k; m && before(v, &list[m], &list[m - 1]); m--) {
			struct digit d = list[m];

			list[m] = list[m - 1];
			list[m - 1] = d;
		}
	}
	return true;
}

bool ws_leaf_each_has_all(const struct leaf *l)
{
	return l->kind == LEAF_DIGIT || l->kind == LEAF_COUNTED;
}

static bool goes_on(const struct leaf *l) { return l->kind == LEAF_LOOP || l->kind == LEAF_STRIDED; }

static bool is_part(const struct leaf *l)
{
	return l->kind == LEAF_QUOTIENT || l->kind == LEAF_REMAINDER;
}

/* Is the other part a digit, too? Both tell apart what their whole does; one alone is a digit that tells nobody apart. */
static bool has_pair(const struct values *v, const struct digit *list, unsigned n, const struct leaf *l)
{
	for (unsigned k = 0; k < n; k++)
		if (ws_split_pair(l, &v->leaves[list[k].leaf]))
			return true;
	return false;
}

static bool can_be_apart(const struct values *v, const struct sum *s, unsigned depth)
{
	struct digit list[MOST_DIGITS];
	unsigned n;

	if (depth == DEEPEST || !find_digits(v, s, list, &n))
		return false;
	for (unsigned k = 0; k < n; k++) {
		const struct leaf *l = &v->leaves[list[k].leaf];

		if (coordinate(l) >= 0 || ws_leaf_each_has_all(l))
			continue;
		if (is_part(l)) {
			if (l->in_time || (has_pair(v, list, n, l) && !can_be_apart(v, l->of[0], depth + 1)))
				return false;
			continue;
		}
		if ((l->kind != LEAF_ONE_OF && !goes_on(l)) || l->nof != 1 ||
		    !can_be_apart(v, l->of[0], depth + 1))
			return false;
		if (goes_on(l) && !ws_sum_fixed(v, l->step))
			return false;
	}
	return true;
}

bool ws_can_be_apart(const struct values *v, const struct sum *s)
{
	return can_be_apart(v, s, 0);
}

static void apart(struct entry *e, const struct sum *s, struct num span, unsigned *covered);

static void counters_apart(struct entry *e, const struct leaf *l)
{
	struct num lo, hi, step, same;

	ws_entry_bounds(e, l->of[0], &lo, &hi);
	ws_entry_bounds(e, l->step, &step, &same);
	demand(e, ws_entry_add(e, lo, step), "gt", hi);
}

/* Without its sign. */
static struct num amount_of(struct entry *e, const struct sum *weight)
{
	struct sum s = { 0 };
	struct num lo, hi, n;

	if (!ws_sum_add(&s, weight, weight->t[weight->n - 1].factor < 0 ? -1 : 1))
		return ws_entry_number(0);
	ws_entry_bounds(e, &s, &lo, &hi);
	if (!has_both_signs(&s) || !lo.reg)
		return lo;
	n = (struct num){ ws_code_temp(e->c, WS_B64), 0, lo.bits, false };
	ws_code_add(e->c, "abs.s64 %s, %s;", n.reg, lo.reg);
	return n;
}

static struct num difference(struct entry *e, struct num a, struct num b)
{
	if (!b.reg)
		return ws_entry_add(e, a, ws_entry_number(-b.k));
	return made(e, "sub.s64", a, b, (a.bits > b.bits ? a.bits : b.bits) + 1, false);
}

/* Does what it is a quotient of go on by multiples of what it is divided by? `x / 2` for x = 2 * i: the remainder is the same in all threads. */
static bool divides_steps(const struct values *v, const struct leaf *l)
{
	int64_t by = l->step->n == 1 && !l->step->t[0].n ? l->step->t[0].factor : 0;
	struct sum whole;

	if (l->kind != LEAF_QUOTIENT || by < 1 || !ws_sum_flatten(v, l->of[0], &whole))
		return false;
	for (uint32_t k = 0; k < whole.n; k++)
		if (whole.t[k].n && whole.t[k].factor % by)
			return false;
	return true;
}

/* Is the other part a digit, too (of both, one is asked for), or the same in all threads? */
static bool tells_whole(const struct entry *e, const struct digit *list, unsigned n, const struct leaf *l)
{
	if (has_pair(e->v, list, n, l))
		return l->kind == LEAF_REMAINDER;
	return (divides_steps(e->v, l) || ws_pins_have_pair(e->v, e->pins, l)) && ws_can_be_apart(e->v, l->of[0]);
}

static int64_t odd_factor(const struct values *v, const struct sum *s)
{
	int64_t a = 0, b, rest;
	uint32_t leaf;

	for (uint32_t k = 0; k < s->n; k++)
		if (varying(v, &s->t[k], &leaf) && leaf != UINT32_MAX)
			for (b = amount(s->t[k].factor); b; a = b, b = rest)
				rest = a % b;
	while (a && a % 2 == 0)
		a /= 2;
	return a;
}

/* Is it the only digit that can tell threads apart? Low bits of what is no multiple may be a part of more (ranges_fields.c). */
static bool tells_alone(const struct entry *e, const struct digit *list, unsigned n, const struct leaf *l)
{
	if (l->kind != LEAF_REMAINDER || (l->step->n == 1 && !l->step->t[0].n && odd_factor(e->v, l->of[0]) == 1))
		return false;
	for (unsigned k = 0; k < n; k++)
		if (&e->v->leaves[list[k].leaf] != l && !ws_leaf_each_has_all(&e->v->leaves[list[k].leaf]))
			return false;
	return l->k && !(e->pins && e->pins->n);
}

/* What is left of y times an odd number, plus one number of the launch, by a power of 2: it is another one for each y, if there
 * are no more of them than that power (`(i * 2654435761) & (n - 1)`). */
static void apart_by_remainder(struct entry *e, const struct leaf *l, unsigned *covered)
{
	int64_t by = odd_factor(e->v, l->of[0]);
	struct sum y = { 0 };
	struct num lo, hi, power, same;
	uint32_t leaf;

	for (uint32_t k = 0; k < l->of[0]->n && by; k++) {
		struct term t = l->of[0]->t[k];

		if (!varying(e->v, &t, &leaf))
			return;
		if (leaf == UINT32_MAX)
			continue;
		t.factor /= by;
		y.t[y.n++] = t;
	}
	if (!y.n || !ws_can_be_apart(e->v, &y))
		return;
	ws_entry_bounds(e, &y, &lo, &hi);
	ws_entry_bounds(e, l->step, &power, &same);
	demand(e, power, "gt", difference(e, hi, lo));
	apart(e, &y, ws_entry_number(1), covered);
}

/* How far the greatest is from the least, in weights of the digit. */
static struct num numbers_of(struct entry *e, struct leaf *l)
{
	struct num n;

	if (l->kind != LEAF_COUNTED)
		return difference(e, l->hi, l->lo);
	n = ws_entry_choose(e, "max.s64", rounds(e, l), ws_entry_number(0));
	n.negative = false;
	return n;
}

/* A digit that is one number in this launch tells nobody apart, and may have any weight. */
static void demand_weight(struct entry *e, struct num weight, struct num span, struct num numbers)
{
	const char *one;

	if (!numbers.reg) {
		demand(e, weight, "ge", span);
		return;
	}
	one = ws_code_temp(e->c, WS_PRED);
	ws_code_add(e->c, "setp.eq.s64 %s, %s, 0;", one, numbers.reg);
	ws_code_add(e->c, "setp.ge.or.s64 %s, %s, %s, %s;", one, weight.reg ? weight.reg : ws_entry_register(e, &weight),
		    ws_entry_text(e, &span), one);
	ws_code_add(e->c, "and.pred %s, %s, %s;", e->ok, e->ok, one);
}

/* part, if a weight is less than another one, else 0. */
static struct num if_less(struct entry *e, struct num weight, bool or_equal, struct num than, struct num part)
{
	const char *p = ws_code_temp(e->c, WS_PRED), *reg = ws_code_temp(e->c, WS_B64);

	ws_code_add(e->c, "setp.%s.s64 %s, %s, %s;", or_equal ? "le" : "lt", p, weight.reg ? weight.reg : ws_entry_register(e, &weight),
		    ws_entry_text(e, &than));
	ws_code_add(e->c, "selp.b64 %s, %s, 0, %s;", reg, part.reg ? part.reg : ws_entry_register(e, &part), p);
	part.reg = reg;
	return part;
}

/* What the digits before digit k come to, and span more. Which are before it is a guess, or found in the launch. Each of two is before the other one
 * or behind it; that no digits are before each other in a ring is seen by their weights, each of which is more than what one before it comes to. */
static struct num span_of(struct entry *e, const struct digit *list, unsigned n, unsigned k, struct num span, const struct num *weight, const struct num *part)
{
	for (unsigned m = 0; m < n; m++) {
		if (m != k && any_order(e->v, &list[m], &list[k]))
			span = ws_entry_add(e, span, if_less(e, weight[m], m < k, weight[k], part[m]));
		else if (m < k)
			span = ws_entry_add(e, span, part[m]);
	}
	return span;
}

/* How far another name of a number must be from thread to thread, where its weight alone is less than the span. */
static int64_t distance_of(const struct leaf *l, const struct num *weight, const struct num *span)
{
	bool is = l->kind == LEAF_ONE_OF && l->nof == 1 && !weight->reg && !span->reg && weight->k > 0 && weight->k < span->k;

	return is ? (span->k + weight->k - 1) / weight->k : 1;
}

static void apart(struct entry *e, const struct sum *s, struct num span, unsigned *covered)
{
	struct num weight[MOST_DIGITS], numbers[MOST_DIGITS], part[MOST_DIGITS], factor;
	struct digit list[MOST_DIGITS];
	int64_t far[MOST_DIGITS];
	unsigned n;

	find_digits(e->v, s, list, &n);
	for (unsigned k = 0; k < n; k++) {
		struct leaf *l = &e->v->leaves[list[k].leaf];

		leaf(e, l);
		weight[k] = amount_of(e, &list[k].weight);
		numbers[k] = numbers_of(e, l);
		factor = amount_of(e, &list[k].factor);
		factor.negative = false;
		part[k] = multiply(e, factor, numbers[k]);
		far[k] = distance_of(l, &weight[k], &span);
		if (coordinate(l) >= 0)
			*covered |= 1u << coordinate(l);
		else if (is_part(l) ? tells_whole(e, list, n, l) : !ws_leaf_each_has_all(l))
			apart(e, l->of[0], ws_entry_number(far[k]), covered);
		else if (tells_alone(e, list, n, l))
			apart_by_remainder(e, l, covered);
		if (goes_on(l))
			counters_apart(e, l);
		if (is_part(l) && e->nparts < MOST_PARTS)
			e->parts[e->nparts++] = list[k].leaf;
	}
	for (unsigned k = 0; k < n; k++)
		demand_weight(e, multiply(e, weight[k], ws_entry_number(far[k])), span_of(e, list, n, k, span, weight, part), numbers[k]);
}

/* Coordinates that a sum depends on. */
static unsigned coordinates_of(const struct values *v, const struct sum *s)
{
	unsigned found = 0;

	for (uint32_t k = 0; k < s->n; k++)
		for (uint32_t n = 0; n < s->t[k].n; n++)
			if (coordinate(&v->leaves[s->t[k].leaf[n]]) >= 0)
				found |= 1u << coordinate(&v->leaves[s->t[k].leaf[n]]);
	return found;
}

/* Threads that do not differ in what is pinned do not differ in the coordinates that it tells apart. */
static void add_pins(struct entry *e, const struct pins *pins, unsigned *covered)
{
	for (unsigned k = 0; pins && k < pins->n; k++)
		if (coordinates_of(e->v, &pins->zero[k]) & ~*covered && ws_can_be_apart(e->v, &pins->zero[k]))
			apart(e, &pins->zero[k], ws_entry_number(1), covered);
}

/* Of a sum of which each term has something fixed, or a factor, that may be such a multiple. */
static void demand_multiple(struct entry *e, const struct sum *s, int64_t by)
{
	for (uint32_t k = 0; k < s->n; k++) {
		struct sum fixed = { 1, { { .factor = s->t[k].factor } } };
		struct num lo, hi;

		for (uint32_t n = 0; n < s->t[k].n; n++)
			if (e->v->leaves[s->t[k].leaf[n]].fixed)
				fixed.t[0].leaf[fixed.t[0].n++] = s->t[k].leaf[n];
		if (s->t[k].factor % by == 0)
			continue;
		ws_entry_bounds(e, &fixed, &lo, &hi);
		demand(e, made(e, "and.b64", lo, ws_entry_number(by - 1), bits_of(by), false), "eq", ws_entry_number(0));
	}
}

struct cover { unsigned bits; struct sum of; struct multiples m; };    /* what parts and pins tell of a number; bits 0: nothing new */

/* More bits; else of more coordinates, or on fewer conditions. */
static bool is_better(const struct values *v, const struct cover *a, const struct cover *b)
{
	int more = b->bits ? __builtin_popcount(coordinates_of(v, &a->of)) - __builtin_popcount(coordinates_of(v, &b->of)) : 0;

	return a->bits != b->bits ? a->bits > b->bits : more ? more > 0 : a->m.n < b->m.n;
}

static void tell_by_parts(const struct entry *e, const struct leaf *part, unsigned covered, struct cover *best)
{
	struct cover c;

	c.bits = ws_fields_cover(e, part, &c.of, &c.m);
	if (c.bits && coordinates_of(e->v, &c.of) & ~covered && !ws_sum_in_time(e->v, &c.of) && ws_can_be_apart(e->v, &c.of) &&
	    is_better(e->v, &c, best))
		*best = c;
}

static const struct leaf *leaf_alone(const struct values *v, struct sum s)
{
	ws_sum_take_constant(&s);
	return s.n == 1 && s.t[0].n == 1 ? &v->leaves[s.t[0].leaf[0]] : NULL;
}

/* Of what parts and pins alone tell, the number of which they tell most. */
static void find_cover(const struct entry *e, unsigned covered, struct cover *best)
{
	best->bits = 0;
	for (unsigned k = 0; k < e->nparts; k++)
		tell_by_parts(e, &e->v->leaves[e->parts[k]], covered, best);
	for (unsigned k = 0; e->pins && k < e->pins->n; k++) {
		const struct leaf *l = leaf_alone(e->v, e->pins->zero[k]);

		if (l && is_part(l))
			tell_by_parts(e, l, covered, best);
	}
}

/* What tells coordinates apart in some launches alone. */
struct ways { struct { const char *holds; unsigned coordinates; } of[COORDINATES]; unsigned n; };

static void tell_number(struct entry *e, const struct cover *c, unsigned *covered)
{
	struct num lo, hi;

	for (unsigned n = 0; n < c->m.n; n++)
		demand_multiple(e, &c->m.of[n].sum, c->m.of[n].by);
	ws_entry_bounds(e, &c->of, &lo, &hi);
	if (c->bits < SUM_BITS) {
		demand_between(e, lo, 0, INT64_MAX);
		demand_between(e, hi, INT64_MIN, ((int64_t)1 << c->bits) - 1);
	}
	apart(e, &c->of, ws_entry_number(1), covered);
}

static void add_way(struct entry *e, const struct cover *c, struct ways *w)
{
	struct ws_entry_mark *mark = ws_entry_mark(e);
	const char *ok = e->ok, *holds = ws_code_temp(e->c, WS_PRED);
	unsigned nparts = e->nparts;

	ws_code_add(e->c, "and.pred %s, %s, %s;", holds, ok, ok);
	e->ok = holds;
	w->of[w->n].holds = holds;
	tell_number(e, c, &w->of[w->n++].coordinates);
	e->ok = ok;
	e->nparts = nparts;
	ws_entry_forget(e, mark);
}

/* Quotient and remainder by any number, each in another row or column: `tile / across` and `tile % across`. */
static void add_pairs(struct entry *e, unsigned *covered)
{
	for (unsigned k = 0; k < e->nparts; k++)
		for (unsigned m = 0; m < k; m++) {
			const struct leaf *a = &e->v->leaves[e->parts[k]], *b = &e->v->leaves[e->parts[m]];

			if (ws_split_pair(a, b) && !a->in_time && !b->in_time && coordinates_of(e->v, a->of[0]) & ~*covered &&
			    ws_can_be_apart(e->v, a->of[0]))
				apart(e, a->of[0], ws_entry_number(1), covered);
		}
}

/* Parts of a number tell it if they are all of its bits, but for those that it does not have in this launch. So do pins alone. Few bits of
 * what has a coordinate that is told anyway (the rank of a thread in its block, `rank % 8 == 0`) are but one way to tell the others: there may
 * be one of each, too. */
static void add_parts(struct entry *e, unsigned *covered, struct ways *w)
{
	unsigned tried = *covered;
	struct cover c;

	for (find_cover(e, tried, &c); c.bits; find_cover(e, tried |= *covered, &c)) {
		tried |= coordinates_of(e->v, &c.of);
		if (c.bits >= SUM_BITS || !(coordinates_of(e->v, &c.of) & *covered))
			tell_number(e, &c, covered);
		else if (w->n < WS_COUNT(w->of))
			add_way(e, &c, w);
	}
}

/* There is one of a coordinate, or it is told apart in one of the ways that there are; false: in none. */
static bool demand_way(struct entry *e, const struct ways *w, unsigned coord, struct num size)
{
	const char *fine = NULL;

	for (unsigned k = 0; k < w->n; k++) {
		if (!(w->of[k].coordinates >> coord & 1))
			continue;
		if (!fine) {
			fine = ws_code_temp(e->c, WS_PRED);
			ws_code_add(e->c, "setp.eq.s64 %s, %s, 1;", fine, ws_entry_register(e, &size));
		}
		ws_code_add(e->c, "or.pred %s, %s, %s;", fine, fine, w->of[k].holds);
	}
	if (fine)
		ws_code_add(e->c, "and.pred %s, %s, %s;", e->ok, e->ok, fine);
	return fine != NULL;
}

/* The remainder of a coordinate alone is pinned, `if (x % 32 == 0)`: who comes to it has the same one, in a block that is no wider. */
static bool demand_narrow(struct entry *e, unsigned coord, struct num size)
{
	for (unsigned k = 0; e->pins && k < e->pins->n; k++) {
		const struct leaf *l = leaf_alone(e->v, e->pins->zero[k]);
		struct num step, same;

		if (!l || l->kind != LEAF_REMAINDER || l->of[0]->n != 1 || l->of[0]->t[0].n != 1 ||
		    l->of[0]->t[0].factor != 1 || coordinate(&e->v->leaves[l->of[0]->t[0].leaf[0]]) != (int)coord)
			continue;
		ws_entry_bounds(e, l->step, &step, &same);
		demand(e, size, "le", step);
		return true;
	}
	return false;
}

/* first: 0, or 3 for threads that may differ in their blocks alone. */
static void apart_by(struct entry *e, const struct sum *s, struct num extent, unsigned first, unsigned coordinates)
{
	unsigned covered = 0;
	struct ways ways = { .n = 0 };

	e->nparts = 0;
	apart(e, s, extent, &covered);
	add_pins(e, e->pins, &covered);
	add_pairs(e, &covered);
	add_parts(e, &covered, &ways);
	for (unsigned k = first; k < coordinates; k++) {
		struct num size;

		if (covered >> k & 1)
			continue;
		size = size_of(e, (enum ws_sreg)((k < 3 ? WS_SR_NTID_X : WS_SR_NCTAID_X - 3) + k));
		if (!demand_way(e, &ways, k, size) && !demand_narrow(e, k, size))
			demand(e, size, "eq", ws_entry_number(1));
	}
}

void ws_entry_rows_apart(struct entry *e, const struct sum *s, const struct sum *row, int64_t extent, const struct pins *pins)
{
	struct num lo, hi, width;

	ws_entry_bounds(e, row, &lo, &hi);
	width = ws_entry_add(e, difference(e, hi, lo), ws_entry_number(extent));
	narrow(e, &width, TERM_BITS);
	e->pins = pins;
	apart_by(e, s, width, 0, COORDINATES);
	e->pins = NULL;
}

void ws_entry_apart_in_block(struct entry *e, const struct sum *s, int64_t extent, const struct pins *pins)
{
	e->pins = pins;
	apart_by(e, s, ws_entry_number(extent), 0, COORDINATES / 2);
	e->pins = NULL;
}

/* Both are one sum then, with a digit more, of which each thread has both numbers: they are a, and b. */
void ws_entry_or_threads_apart(struct entry *e, const struct stretch *a, const struct stretch *b, const char *apart_too)
{
	int64_t far = b->first > a->first ? b->first - a->first : a->first - b->first;
	int64_t extent = b->last - b->first > a->last - a->first ? b->last - b->first : a->last - a->first;
	struct sum both = *a->sum, step;
	struct ws_entry_mark *mark;
	const char *ok = e->ok;

	ws_sum_number(&step, far);
	if (!ws_sum_equal(a->sum, b->sum) || !far || !ws_sum_spread(e->v, &both, &step, 2) || !ws_can_be_apart(e->v, &both))
		return;
	mark = ws_entry_mark(e);
	e->ok = ws_code_temp(e->c, WS_PRED);
	ws_code_add(e->c, "setp.eq.u32 %s, 0, 0;", e->ok);
	ws_entry_apart_in_block(e, &both, extent, NULL);
	ws_code_add(e->c, "or.pred %s, %s, %s;", apart_too, apart_too, e->ok);
	ws_entry_forget(e, mark);
	e->ok = ok;
}

/* ---- blocks apart from each other ---- */
bool ws_split_by_block(const struct values *v, const struct sum *s, struct sum *block, struct sum *rest)
{
	struct sum flat;
	uint32_t leaf;

	block->n = rest->n = 0;
	if (!ws_sum_flatten(v, s, &flat))
		return false;
	for (uint32_t k = 0; k < flat.n; k++) {
		bool of_block = varying(v, &flat.t[k], &leaf) && leaf != UINT32_MAX && coordinate(&v->leaves[leaf]) >= COORDINATES / 2;
		struct sum *to = of_block ? block : rest;

		to->t[to->n++] = flat.t[k];
	}
	return true;
}

static void bounds_within(struct entry *e, const struct sum *rest, const struct stretch *s, struct num *lo, struct num *hi)
{
	ws_entry_bounds(e, rest, lo, hi);
	*lo = ws_entry_add(e, *lo, ws_entry_number(s->first));
	*hi = ws_entry_add(e, *hi, ws_entry_number(s->last));
}

/* How far two stretches go together of which the rest of the sums is left. What is to hold of that begins with a new predicate. */
static struct num width_of_both(struct entry *e, const struct sum *rest, const struct stretch *a, const struct stretch *b)
{
	struct num lo[2], hi[2], width = { .bits = SUM_BITS + 1 };

	bounds_within(e, &rest[0], a, &lo[0], &hi[0]);
	bounds_within(e, &rest[1], b, &lo[1], &hi[1]);
	lo[0] = ws_entry_choose(e, "min.s64", lo[0], lo[1]);
	width.reg = made(e, "sub.s64", ws_entry_choose(e, "max.s64", hi[0], hi[1]), lo[0], SUM_BITS, false).reg;
	e->ok = ws_code_temp(e->c, WS_PRED);
	ws_code_add(e->c, "setp.eq.u32 %s, 0, 0;", e->ok);
	narrow(e, &width, TERM_BITS);
	return width;
}

void ws_entry_or_blocks_apart(struct entry *e, const struct stretch *a, const struct stretch *b, const char *apart)
{
	struct sum of_block[2], rest[2];
	struct num same, width;
	const char *ok = e->ok;

	if (!ws_split_by_block(e->v, a->sum, &of_block[0], &rest[0]) || !ws_split_by_block(e->v, b->sum, &of_block[1], &rest[1]) ||
	    !of_block[0].n || !ws_sum_equal(&of_block[0], &of_block[1]) || !ws_can_be_apart(e->v, &of_block[0]))
		return;
	ws_entry_bounds(e, &of_block[0], &same, &same);      /* what these rely on goes into ok */
	width = width_of_both(e, rest, a, b);
	apart_by(e, &of_block[0], width, COORDINATES / 2, COORDINATES);
	ws_code_add(e->c, "or.pred %s, %s, %s;", apart, apart, e->ok);
	e->ok = ok;
}

/* ---- warps apart from each other ---- */
bool ws_leaf_is_of_warp(const struct values *v, const struct leaf *l, enum leaf_kind part)
{
	const struct sum *x = l->kind == part ? l->of[0] : NULL;

	return x && l->step->n == 1 && !l->step->t[0].n && l->step->t[0].factor == WS_WARP && x->n == 1 && x->t[0].factor == 1 &&
	       x->t[0].n == 1 && coordinate(&v->leaves[x->t[0].leaf[0]]) == 0;
}

/* Is it tid.x / 32? */
static bool is_warp(const struct values *v, const struct leaf *l)
{
	return l->kind == LEAF_QUOTIENT && l->k && ws_leaf_is_of_warp(v, l, LEAF_QUOTIENT);
}

/* In place of tid.x in its terms: both of its parts. */
static bool split_thread(struct values *v, struct sum *s)
{
	const struct sum warp = { 1, { { .factor = WS_WARP } } };

	for (uint32_t k = 0; k < s->n; k++) {
		const struct sum x = ws_sum_of_leaf(s->t[k].leaf[0]);
		int64_t factor = s->t[k].factor;
		struct sum part;

		if (s->t[k].n != 1 || coordinate(&v->leaves[s->t[k].leaf[0]]) != 0)
			continue;
		return ws_sum_add(s, &x, -factor) && ws_split_quotient(v, &x, &warp, true, &part) && ws_sum_add(s, &part, factor * WS_WARP) &&
		       ws_split_remainder(v, &x, &warp, true, &part) && ws_sum_add(s, &part, factor);
	}
	return true;
}

/* What a sum has of where the warp is in its block, and the rest. *by_x: of tid.x / 32, too. */
static bool split_by_warp(struct values *v, const struct sum *s, struct sum *warp, struct sum *rest, bool *by_x)
{
	struct sum flat;
	uint32_t leaf;

	warp->n = rest->n = 0;
	*by_x = false;
	if (!ws_sum_flatten(v, s, &flat) || !split_thread(v, &flat))
		return false;
	for (uint32_t k = 0; k < flat.n; k++) {
		bool varies = varying(v, &flat.t[k], &leaf) && leaf != UINT32_MAX, x = varies && is_warp(v, &v->leaves[leaf]);
		bool of_warp = x || (varies && (coordinate(&v->leaves[leaf]) == 1 || coordinate(&v->leaves[leaf]) == 2));
		struct sum *to = of_warp ? warp : rest;

		*by_x |= x;
		to->t[to->n++] = flat.t[k];
	}
	flat = *s;
	if (ws_sum_add(&flat, warp, -1) && flat.n + warp->n == s->n)
		*rest = flat;                /* what is known of its numbers is not forgotten: `if (lane < 16) s[warp][lane + 16]` */
	return true;
}

/* One thread in y and in z, but where the coordinate is covered. */
static void demand_one_row(struct entry *e, unsigned covered)
{
	for (unsigned k = 1; k < COORDINATES / 2; k++)
		if (!(covered >> k & 1))
			demand(e, size_of(e, (enum ws_sreg)(WS_SR_NTID_X + k)), "eq", ws_entry_number(1));
}

/* Two threads with the same in these have one warp: rows of a block are whole warps, or there is one row. */
static void demand_warps(struct entry *e, bool by_x, unsigned covered)
{
	struct num x = size_of(e, WS_SR_NTID_X);

	demand_one_row(e, covered);
	if (!by_x)
		demand(e, x, "le", ws_entry_number(WS_WARP));
	if (covered)
		demand_multiple_unless(e, x, WS_WARP, NULL);
}

void ws_entry_or_one_row(struct entry *e, const char *is)
{
	const char *ok = e->ok;

	e->ok = ws_code_temp(e->c, WS_PRED);
	ws_code_add(e->c, "setp.eq.u32 %s, 0, 0;", e->ok);
	demand_one_row(e, 0);
	ws_code_add(e->c, "or.pred %s, %s, %s;", is, is, e->ok);
	e->ok = ok;
}

void ws_entry_or_warps_apart(struct entry *e, const struct stretch *a, const struct stretch *b, const char *apart_too)
{
	struct sum warp[2], rest[2];
	struct num width, same;
	bool by_x, by_x_too;
	unsigned covered = 0;
	const char *ok = e->ok;

	if (!split_by_warp(e->v, a->sum, &warp[0], &rest[0], &by_x) || !split_by_warp(e->v, b->sum, &warp[1], &rest[1], &by_x_too) ||
	    !ws_sum_equal(&warp[0], &warp[1]))
		return;
	ws_entry_bounds(e, &warp[0], &same, &same);  /* what these rely on goes into ok */
	width = width_of_both(e, rest, a, b);
	e->nparts = 0;
	apart(e, &warp[0], width, &covered);
	demand_warps(e, by_x, covered);
	ws_code_add(e->c, "or.pred %s, %s, %s;", apart_too, apart_too, e->ok);
	e->ok = ok;
}

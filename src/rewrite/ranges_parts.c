/* ranges_parts.c - parts of one variable in shared memory: a table, a tile and counts, one behind the other in dynamic shared memory.
 *
 * Where in its variable an access is may be known to no more than a number that data gives (`table[state * 24 + class]`), and then it
 * may meet any other access to the variable. But it begins to count somewhere, at a number that is the same in all threads of a
 * launch, and so most programs mean it to stay in front of what begins behind that, and behind what ends in front of it. Here is what
 * these bounds are. They are a guess, nothing is concluded from it: a kernel of its own (parts.h) looks whether each such access keeps to
 * them, and where one does not, the launch is made once more with all checks.
 *
 * The bounds of an access are those of its group, with which it meets others: groups of which all places are known, or which have bounds
 * themselves. Of these the border is where the one behind begins to count. */
#include "rewrite/ranges_shared_priv.h"

#include <string.h>

enum { NEAR = 64 };                      /* bytes: so far from each other are parts that are told apart, and as long */

/* ---- where a part begins ---- */
struct looking { struct ws_shared_ranges *g; unsigned left; struct sum sum; };

/* Of a sum, what is one number in a launch, but for the variable's address. */
static void add_fixed(struct looking *l, const struct sum *s, int64_t times)
{
	const struct values *v = &l->g->v;

	for (uint32_t k = 0; k < s->n; k++) {
		struct sum term = { .n = 1, .t[0] = s->t[k] };

		if (ws_sum_fixed(v, &term) && !(term.t[0].n == 1 && v->leaves[term.t[0].leaf[0]].kind == LEAF_SYMBOL))
			ws_sum_add(&l->sum, &term, times);
	}
}

/* Nothing is examined for it: it is a guess. */
static bool is_known(struct looking *l, const struct ws_operand *o, const struct ws_ptx_inst *at, struct sum *out)
{
	struct values *v = &l->g->v;
	size_t nduties = v->nduties;
	bool known = ws_value_operand(v, o, o->reg ? ws_type_bytes(o->reg->type) : 4, at, out);

	v->nduties = nduties;
	return known;
}

/* What gives the register; of one that goes on in a loop, what it begins with. */
static const struct ws_ptx_inst *begins_with(const struct values *v, const struct ws_reg *r)
{
	const struct defs *d = &v->defs[r->index];

	for (uint32_t k = 0; k < d->n && d->n <= MOST_DEFS; k++)
		if (!ws_value_added(d->at[k], r))
			return d->at[k];
	return NULL;
}

static void add_operand(struct looking *l, const struct ws_operand *o, const struct ws_ptx_inst *at, int64_t times);

/* x * k, where one of both is a number. */
static void add_product(struct looking *l, const struct ws_ptx_inst *i, int64_t times)
{
	const struct ws_operand *a = &i->ops[1], *b = &i->ops[2];
	int64_t k = (int64_t)(a->kind == WS_O_INT ? a->imm : b->imm);

	if ((a->kind == WS_O_INT || b->kind == WS_O_INT) && k > -MOST_SHARED && k < MOST_SHARED)
		add_operand(l, a->kind == WS_O_INT ? b : a, i, times * k);
}

static void add_result(struct looking *l, const struct ws_ptx_inst *i, int64_t times)
{
	enum { MOST_SHIFT = 16 };

	switch (i->op) {
	case WS_OP_mov: case WS_OP_cvt: case WS_OP_cvta:
		add_operand(l, &i->ops[1], i, times);
		break;
	case WS_OP_add: case WS_OP_sub:
		add_operand(l, &i->ops[1], i, times);
		add_operand(l, &i->ops[2], i, i->op == WS_OP_add ? times : -times);
		break;
	case WS_OP_mad:
		add_product(l, i, times);
		add_operand(l, &i->ops[3], i, times);
		break;
	case WS_OP_mul:
		add_product(l, i, times);
		break;
	case WS_OP_shl:
		if (i->ops[2].kind == WS_O_INT && i->ops[2].imm < MOST_SHIFT)
			add_operand(l, &i->ops[1], i, times * ((int64_t)1 << i->ops[2].imm));
		break;
	default:
		break;
	}
}

static void add_operand(struct looking *l, const struct ws_operand *o, const struct ws_ptx_inst *at, int64_t times)
{
	const struct ws_ptx_inst *i;
	struct sum s;

	if (!l->left || times > MOST_SHARED || times < -MOST_SHARED)
		return;
	l->left--;
	if (is_known(l, o, at, &s)) {
		add_fixed(l, &s, times);
	} else if (o->kind == WS_O_REG && !o->component) {
		i = begins_with(&l->g->v, o->reg);
		if (i)
			add_result(l, i, times);
	}
}

void ws_parts_begin(struct ws_shared_ranges *g, const struct ws_rw_access *a, struct group *x)
{
	enum { MOST_LOOKS = 48 };
	const struct ws_operand base = { .kind = WS_O_REG, .reg = a->address->reg };
	struct looking l = { .g = g, .left = MOST_LOOKS };
	struct sum offset;

	if (ws_group_has_sum(x) && g->parts == WS_PARTS_OF_DATA && ws_sum_of_data(&g->v, &x->sum)) {
		x->sum.n = 0;
		x->area = true;
	}
	if (!base.reg)
		return;
	ws_sum_number(&offset, a->address->offset);
	ws_sum_add(&l.sum, &offset, 1);
	add_operand(&l, &base, a->inst, 1);
	if (ws_group_has_sum(x))
		ws_sum_take_constant(&l.sum);
	x->part = l.sum;
	x->has_part = true;
}

/* ---- groups ---- */
bool ws_parts_known(const struct group *x)
{
	return x->upward || ws_group_has_sum(x) || x->has_part || x->far;
}

/* How far y's part begins behind that of x; false: it is not known before the launch. */
static bool is_behind_by(const struct group *x, const struct group *y, int64_t *by)
{
	struct sum d = y->part;

	return ws_sum_add(&d, &x->part, -1) && ws_sum_is_number(&d, by);
}

bool ws_parts_same(const struct group *x, const struct group *y)
{
	int64_t by;

	if (ws_group_has_sum(x) || x->has_part != y->has_part)
		return x->has_part == y->has_part;
	return !x->has_part || (is_behind_by(x, y, &by) && by > -NEAR && by < NEAR);
}

void ws_parts_join(struct group *into, const struct group *x)
{
	int64_t by;

	if (!ws_group_has_sum(x) && x->has_part && is_behind_by(into, x, &by) && by < 0)
		into->part = x->part;
}

/* ---- code for the host ---- */
/* Is one that it meets no more than that known of? */
static bool meets_part(const struct ws_shared_ranges *g, const struct group *x)
{
	for (unsigned m = 0; m < g->ngroups; m++)
		if (ws_group_meets(x, m) && !ws_group_has_sum(&g->groups[m]))
			return true;
	return false;
}

/* Of what compilers have made several rounds at a time the bounds are some bytes too far: the vector that they read in the last one. */
static bool may_be_too_far(const struct group *x)
{
	return x->sum.n && ws_group_is_wide(x);
}

void ws_parts_open(struct ws_shared_ranges *g, struct entry *e, struct group *x)
{
	struct num lo, hi, most = ws_entry_number(x->sym ? (int64_t)x->sym->size : MOST_SHARED), none = ws_entry_number(0);

	if (ws_group_has_sum(x))
		ws_entry_bounds(e, &x->before, &x->before_lo, &x->before_hi);
	if (!x->has_part || (ws_group_has_sum(x) && !(may_be_too_far(x) && meets_part(g, x))))
		return;
	ws_entry_bounds(e, &x->part, &lo, &hi);
	x->counts_from = ws_entry_register(e, &lo);
	x->least = ws_entry_register(e, &none);
	x->end = ws_entry_register(e, &most);
}

/* The bound is no more (`min`) or less (`max`) than `limit` where the predicate is true. */
static void limit(struct entry *e, const char *op, const char *bound, const char *border, const char *is)
{
	const char *to = ws_code_temp(e->c, WS_B64);

	ws_code_add(e->c, "selp.b64 %s, %s, %s, %s;", to, border, bound, is);
	ws_code_add(e->c, "%s.s64 %s, %s, %s;", op, bound, bound, to);
}

static const char *behind(struct entry *e, const char *a, int64_t bytes)
{
	const char *made = ws_code_temp(e->c, WS_B64);

	ws_code_add(e->c, "add.s64 %s, %s, %lld;", made, a, (long long)bytes);
	return made;
}

/* Where accesses of x that meet the other group begin to count; and where those that look at nothing end. */
static const char *begin_of(const struct ws_shared_ranges *g, struct entry *e, const struct group *x, const struct group *other)
{
	int64_t first = ws_group_has_sum(x) ? x->met[other - g->groups].first : 0;

	return behind(e, x->least ? x->counts_from : ws_entry_register(e, &x->before_lo), first);
}

static const char *end_of(const struct ws_shared_ranges *g, struct entry *e, const struct group *x, const struct group *other)
{
	return behind(e, ws_entry_register(e, &x->before_hi), x->met[other - g->groups].last);
}

/* a, whose accesses look, ends where b begins, or begins where b ends: if b's look as well, where a begins to count. */
static void part(const struct ws_shared_ranges *g, struct entry *e, const struct group *a, const struct group *b)
{
	const char *first = ws_code_temp(e->c, WS_PRED), *second = ws_code_temp(e->c, WS_PRED), *from = begin_of(g, e, a, b), *border = begin_of(g, e, b, a);
	const char *end = b->least ? from : end_of(g, e, b, a);

	ws_code_add(e->c, "setp.le.s64 %s, %s, %s;", first, behind(e, from, NEAR), border);
	ws_code_add(e->c, "setp.le.s64 %s, %s, %s;", second, b->least ? behind(e, border, NEAR) : end, from);
	limit(e, "min", a->end, border, first);
	limit(e, "max", a->least, end, second);
	ws_code_add(e->c, "or.pred %s, %s, %s;", first, first, second);
	ws_code_add(e->c, "and.pred %s, %s, %s;", e->ok, e->ok, first);
}

void ws_parts_demand(const struct ws_shared_ranges *g, struct entry *e, const struct group *a, const struct group *b)
{
	if (a->least)
		part(g, e, a, b);
	if (b->least)
		part(g, e, b, a);
}

/* ---- what the kernel looks at ---- */
static const char *variable_of(struct ws_shared_ranges *g, const struct ws_rw_access *a)
{
	struct bases b;

	if (!ws_area_bases(&g->v, a, &b) || b.n != 1 || g->v.leaves[b.leaf[0]].kind != LEAF_SYMBOL)
		return NULL;
	return g->v.leaves[b.leaf[0]].sym->name;
}

/* ---- one part for an access that is in several groups, by its phases ---- */
static uint32_t access_of(const struct ws_shared_ranges *g, uint32_t k) { return g->phased ? g->phased->of[k] : k; }

static bool looks(const struct ws_shared_ranges *g, uint32_t k)
{
	return g->group[k] < NAMED && g->met[k] && g->groups[g->group[k]].least;
}

static void join_parts(const struct ws_shared_ranges *g, unsigned *first, unsigned a, unsigned b)
{
	unsigned into = first[a] < first[b] ? first[a] : first[b], from = first[a] + first[b] - into;

	for (unsigned k = 0; k < g->ngroups; k++)
		first[k] = first[k] == from ? into : first[k];
}

/* By group: the first one with which it has a part in common. */
static void find_common(const struct ws_shared_ranges *g, unsigned *first)
{
	for (unsigned k = 0; k < g->ngroups; k++)
		first[k] = k;
	for (uint32_t k = 1; k < g->n && g->phased; k++)
		if (access_of(g, k) == access_of(g, k - 1) && looks(g, k) && looks(g, k - 1))
			join_parts(g, first, g->group[k], g->group[k - 1]);
}

/* What is in all of them. */
static void narrow(struct ws_shared_ranges *g, struct entry *e, const unsigned *first, unsigned group)
{
	const struct group *x = &g->groups[group];

	for (unsigned k = group + 1; k < g->ngroups; k++)
		if (first[k] == group && g->groups[k].least) {
			ws_code_add(e->c, "max.s64 %s, %s, %s;", x->least, x->least, g->groups[k].least);
			ws_code_add(e->c, "min.s64 %s, %s, %s;", x->end, x->end, g->groups[k].end);
		}
}

/* Accesses of the groups look at part `number`; false: one cannot. */
static bool look_at(struct ws_shared_ranges *g, const unsigned *first, unsigned group, unsigned number, struct ws_shared_parts *out)
{
	for (uint32_t k = 0; k < g->n; k++) {
		struct ws_shared_part *p = &out->list[access_of(g, k)];

		if (!looks(g, k) || first[g->group[k]] != group)
			continue;
		p->variable = variable_of(g, &g->list[k]);
		p->number = number + 1;
		if (!p->variable)
			return false;
	}
	return true;
}

static bool any_looks(const struct ws_shared_ranges *g, unsigned group)
{
	for (uint32_t k = 0; k < g->n; k++)
		if (g->group[k] == group && looks(g, k))
			return true;
	return false;
}

bool ws_parts_close(struct ws_shared_ranges *g, struct entry *e, struct ws_shared_parts *out)
{
	struct ws_buf values = { 0 };
	unsigned n = 0, first[MOST_GROUPS];
	bool fine = true;

	find_common(g, first);
	for (unsigned k = 0; k < g->ngroups && fine; k++) {
		const struct group *x = &g->groups[k];
		const char *bytes;

		if (first[k] != k || !any_looks(g, k))
			continue;
		narrow(g, e, first, k);
		bytes = ws_code_temp(e->c, WS_B64);
		ws_code_add(e->c, "sub.s64 %s, %s, %s;", bytes, x->end, x->least);
		ws_code_add(e->c, "setp.ge.and.s64 %s, %s, %d, %s;", e->ok, bytes, NEAR, e->ok);
		ws_buf_printf(&values, "value %s;\nvalue %s;\n", x->least, bytes);
		fine = n < WS_RACE_MOST_PARTS && look_at(g, first, k, n++, out);
	}
	ws_code_host(e->c, "truth %s;", e->ok);
	if (values.len)
		ws_code_host(e->c, "%.*s", (int)values.len - 1, values.data);
	ws_buf_free(&values);
	out->n = n;
	return fine && n;
}

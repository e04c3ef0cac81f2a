/* decide.c - computes on the host what a kernel's entry decides (decide.h).
 *
 * The text has an instruction of PTX a line, in registers of 64 bits (predicates: 0 or 1), without jumps, and a few lines
 * that stand for what only the GPU does so: parameters by their number, allocations. What the result depends on is found
 * once, from the end to the beginning; only that is computed, and if it has an instruction that is not known here, the host
 * decides nothing. */
#include "real/decide.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_OPS = 20000, MOST_REGISTERS = 4000, MOST_SOURCES = 3, MOST_VARIABLES = 16, WORD = 160 };

enum what {
	UNKNOWN, MOVE, ADD, SUB, MUL, MIN, MAX, ABS, DIV, SHL, SHR, AND, OR, BFIND, LOW_HALF, SELECT,
	COMPARE, COMPARE_AND, COMPARE_OR, PARAM_S32, PARAM_U64, GRID, BLOCK, VARIABLE, AREA_START, AREA_END, AREA_KNOWN
};

struct source { bool number; uint16_t reg; int64_t k; };
struct op {
	uint8_t what, compare, type;
	uint16_t to;
	uint8_t nsources;
	struct source from[MOST_SOURCES];
};
enum compare { EQ, NE, LT, LE, GT, GE };
enum type { S64, U64, U32 };

struct ws_real_decision {
	struct op *ops;
	uint32_t nops;
	uint32_t nregs;
	uint16_t result;                     /* that of a decision */
	uint16_t truths[WS_RACE_MOST_TRUTHS], values[WS_RACE_MOST_VALUES];
	uint32_t ntruths, nvalues;           /* what a launch is told: there are none where there is a result */
	struct { uint16_t from, to; enum ws_real_does does; } extents[WS_REAL_MOST_EXTENTS];
	uint32_t nextents;
	bool has_known;
	uint16_t known;                      /* the register that says whether all memory is in the extents */
	bool has_proved, compares;           /* the kernel compares the constants that its probe has read */
	uint16_t proved;                     /* the register that says what a probe has found */
	const char *variables[MOST_VARIABLES];
	uint32_t nvariables;
};

/* ---- the text ---- */
struct reading {
	struct ws_real_decision *d;
	char (*names)[WORD];                 /* of registers */
	uint32_t nnames;
	bool failed;
	struct ws_arena *arena;              /* of names of variables */
};

static const struct { const char *name; enum what what; } plain[] = {
	{ "mov.b64", MOVE }, { "mov.u64", MOVE }, { "mov.u32", MOVE }, { "mov.pred", MOVE }, { "add.s64", ADD }, { "sub.s64", SUB },
	{ "mul.lo.s64", MUL }, { "min.s64", MIN }, { "max.s64", MAX }, { "abs.s64", ABS }, { "div.s64", DIV }, { "shl.b64", SHL },
	{ "shr.s64", SHR }, { "and.b64", AND }, { "and.pred", AND }, { "or.pred", OR }, { "bfind.u64", BFIND },
	{ "cvt.u64.u32", LOW_HALF }, { "cvt.u32.u64", LOW_HALF }, { "selp.b64", SELECT }, { "param.s32", PARAM_S32 },
	{ "param.u64", PARAM_U64 }, { "area.start", AREA_START }, { "area.end", AREA_END }, { "area.known", AREA_KNOWN },
};

static uint16_t register_of(struct reading *r, const char *name)
{
	uint32_t k = 0;

	while (k < r->nnames && strcmp(r->names[k], name) != 0)
		k++;
	if (k == MOST_REGISTERS) {
		r->failed = true;
		return 0;
	}
	if (k == r->nnames)
		snprintf(r->names[r->nnames++], WORD, "%s", name);
	return (uint16_t)k;
}

/* The next word of a line, "" at its end. */
static const char *word(const char *at, const char *end, char *out)
{
	size_t n = 0;

	while (at < end && strchr(" \t,;", *at))
		at++;
	for (; at < end && !strchr(" \t,;", *at); at++)
		if (n < WORD - 1)
			out[n++] = *at;
	out[n] = 0;
	return at;
}

/* "setp.le.or.s64": a comparison, and what it is joined with. */
static bool read_compare(const char *name, struct op *op)
{
	static const char *const compares[] = { "eq", "ne", "lt", "le", "gt", "ge" }, *const types[] = { "s64", "u64", "u32" };
	static const struct { const char *text; enum what what; } joins[] = {
		{ ".", COMPARE }, { ".and.", COMPARE_AND }, { ".or.", COMPARE_OR }
	};
	char whole[WORD];

	for (unsigned c = 0; c < WS_COUNT(compares); c++)
		for (unsigned j = 0; j < WS_COUNT(joins); j++)
			for (unsigned t = 0; t < WS_COUNT(types); t++) {
				snprintf(whole, sizeof whole, "setp.%s%s%s", compares[c], joins[j].text, types[t]);
				if (strcmp(name, whole) != 0)
					continue;
				op->what = joins[j].what;
				op->compare = (uint8_t)c;
				op->type = (uint8_t)t;
				return true;
			}
	return false;
}

static void read_name(const char *name, struct op *op)
{
	for (unsigned k = 0; k < WS_COUNT(plain); k++)
		if (!strcmp(name, plain[k].name))
			op->what = (uint8_t)plain[k].what;
	if (!op->what)
		read_compare(name, op);
}

/* The address of a variable. */
static void read_variable(struct reading *r, const char *name, struct op *op)
{
	struct ws_real_decision *d = r->d;
	size_t len = strlen(name);

	if (op->what != MOVE || len == WORD - 1 || d->nvariables == MOST_VARIABLES) {
		op->what = UNKNOWN;
		return;
	}
	op->what = VARIABLE;
	op->from[0] = (struct source){ .number = true, .k = d->nvariables };
	d->variables[d->nvariables++] = ws_arena_strndup(r->arena, name, len);
}

/* A number, a register, or a size of the launch. */
static void read_source(struct reading *r, const char *text, struct op *op)
{
	static const char *const sizes[] = { "%nctaid.", "%ntid." };
	struct source *s = &op->from[op->nsources];
	char *end;

	if (op->nsources++ == MOST_SOURCES) {
		r->failed = true;
		return;
	}
	*s = (struct source){ .number = true, .k = (int64_t)strtoull(text, &end, 10) };
	for (unsigned k = 0; k < WS_COUNT(sizes); k++) {
		size_t len = strlen(sizes[k]);

		if (!strncmp(text, sizes[k], len) && op->what == MOVE) {
			op->what = k ? BLOCK : GRID;
			s->k = text[len] - 'x';
			return;
		}
	}
	if (*end && *text == '%')
		*s = (struct source){ .reg = register_of(r, text) };
	else if (*end || end == text)
		read_variable(r, text, op);
}

static unsigned sources_of(enum what what)
{
	switch (what) {
	case SELECT: case COMPARE_AND: case COMPARE_OR:
		return 3;
	case MOVE: case ABS: case BFIND: case LOW_HALF: case GRID: case BLOCK: case VARIABLE: case AREA_START: case AREA_END: case AREA_KNOWN:
		return 1;
	default:
		return 2;
	}
}

static void read_told(struct reading *r, bool truth, const char *name)
{
	struct ws_real_decision *d = r->d;

	if (truth && d->ntruths < WS_RACE_MOST_TRUTHS)
		d->truths[d->ntruths++] = register_of(r, name);
	else if (!truth && d->nvalues < WS_RACE_MOST_VALUES)
		d->values[d->nvalues++] = register_of(r, name);
	else
		r->failed = true;
}

/* "reads %a, %b;" */
static bool read_extent(struct reading *r, const char *name, const char *first, const char *at, const char *end)
{
	static const char *const names[] = { [WS_REAL_READS] = "reads", [WS_REAL_UPDATES] = "updates",
	                                     [WS_REAL_UPDATES8] = "updates8", [WS_REAL_WRITES] = "writes" };
	struct ws_real_decision *d = r->d;
	char last[WORD];
	unsigned does = 0;

	while (does < WS_COUNT(names) && strcmp(name, names[does]) != 0)
		does++;
	if (does == WS_COUNT(names))
		return false;
	word(at, end, last);
	r->failed |= d->nextents == WS_REAL_MOST_EXTENTS || !*last;
	if (r->failed)
		return true;
	d->extents[d->nextents].does = (enum ws_real_does)does;
	d->extents[d->nextents].from = register_of(r, first);
	d->extents[d->nextents++].to = register_of(r, last);
	return true;
}

static void read_line(struct reading *r, const char *at, const char *end)
{
	struct ws_real_decision *d = r->d;
	struct op op = { 0 };
	char name[WORD], arg[WORD];

	at = word(at, end, name);
	at = word(at, end, arg);
	if (!strcmp(name, "silent")) {
		d->result = register_of(r, arg);
		return;
	}
	if (!strcmp(name, "truth") || !strcmp(name, "value")) {
		read_told(r, *name == 't', arg);
		return;
	}
	if (read_extent(r, name, arg, at, end))
		return;
	if (!strcmp(name, "known")) {
		d->has_known = true;
		d->known = register_of(r, arg);
		return;
	}
	if (!strcmp(name, "proved") || !strcmp(name, "probed")) {
		d->has_proved = true;
		d->compares = !strcmp(name, "probed");
		d->proved = register_of(r, arg);
		return;
	}
	if (*name == '@' || *arg != '%' || d->nops == MOST_OPS) {
		r->failed = true;
		return;
	}
	read_name(name, &op);
	op.to = register_of(r, arg);
	for (at = word(at, end, arg); *arg && !r->failed; at = word(at, end, arg))
		read_source(r, arg, &op);
	if (op.nsources != sources_of((enum what)op.what))
		op.what = UNKNOWN;
	d->ops[d->nops++] = op;
}

static void read_text(struct reading *r, const char *text)
{
	for (const char *end; *text && !r->failed; text = end + (*end == '\n')) {
		end = strchr(text, '\n');
		end = end ? end : text + strlen(text);
		if (end > text)
			read_line(r, text, end);
	}
	r->d->nregs = r->nnames;
}

/* ---- what it depends on ---- */
static void need_results(const struct ws_real_decision *d, bool *needed)
{
	for (uint32_t k = 0; k < d->ntruths; k++)
		needed[d->truths[k]] = true;
	for (uint32_t k = 0; k < d->nvalues; k++)
		needed[d->values[k]] = true;
	for (uint32_t k = 0; k < d->nextents; k++)
		needed[d->extents[k].from] = needed[d->extents[k].to] = true;
	if (d->has_known)
		needed[d->known] = true;
	else if (!d->ntruths)
		needed[d->result] = true;
}

/* Keeps what the results need; false: that is something that is not known. */
static bool keep_needed(struct ws_real_decision *d)
{
	bool *needed = ws_alloc(MOST_REGISTERS), known = true;
	uint32_t to = d->nops;

	need_results(d, needed);
	for (uint32_t k = d->nops; k-- && known;) {
		const struct op op = d->ops[k];

		if (!needed[op.to])
			continue;
		known = op.what != UNKNOWN;
		needed[op.to] = false;
		for (unsigned n = 0; n < op.nsources; n++)
			needed[op.from[n].reg] |= !op.from[n].number;
		d->ops[--to] = op;
	}
	for (uint32_t k = 0; k < d->nregs && known; k++)     /* nothing but the probe's register comes from elsewhere */
		known = !needed[k] || (d->has_proved && k == d->proved);
	d->ops += to;
	d->nops -= to;
	free(needed);
	return known;
}

struct ws_real_decision *ws_real_decision_new(struct ws_arena *a, const char *text)
{
	struct ws_real_decision read = { 0 }, *d = NULL;
	struct reading r = { .d = &read, .arena = a };
	struct op *all = read.ops = ws_alloc(MOST_OPS * sizeof *read.ops);

	r.names = ws_alloc(MOST_REGISTERS * sizeof *r.names);
	read_text(&r, text);
	if (!r.failed && keep_needed(&read)) {
		d = ws_arena_alloc(a, sizeof *d);
		*d = read;
		d->ops = ws_arena_alloc(a, (d->nops + 1) * sizeof *d->ops);
		memcpy(d->ops, read.ops, d->nops * sizeof *d->ops);
	}
	free(all);
	free(r.names);
	return d;
}

/* ---- a launch ---- */
static bool compared(const struct op *op, int64_t a, int64_t b)
{
	uint64_t x = op->type == U32 ? (uint32_t)a : (uint64_t)a, y = op->type == U32 ? (uint32_t)b : (uint64_t)b;
	bool less = op->type == S64 ? a < b : x < y, same = x == y;

	switch (op->compare) {
	case EQ:
		return same;
	case NE:
		return !same;
	case LT:
		return less;
	case LE:
		return less || same;
	case GT:
		return !less && !same;
	default:
		return !less;
	}
}

static int64_t shifted(const struct op *op, int64_t a, int64_t by)
{
	enum { MOST = 63 };
	uint32_t n = (uint32_t)by;

	if (op->what == SHL)
		return n > MOST ? 0 : (int64_t)((uint64_t)a << n);
	return a >> (n > MOST ? MOST : n);
}

static bool parameter(const struct op *op, const struct ws_real_deciding *l, int64_t *out)
{
	const char *p = l->params[op->from[0].k];
	int32_t narrow;

	if (!p)
		return false;
	p += op->from[1].k;
	if (op->what == PARAM_S32) {
		memcpy(&narrow, p, sizeof narrow);
		*out = narrow;
	} else {
		memcpy(out, p, sizeof *out);
	}
	return true;
}

/* At a null pointer nothing is, and that is known. */
static int64_t area(const struct op *op, const struct ws_real_deciding *l, int64_t at)
{
	uint64_t start = 0, end = 0;
	bool found = l->area_of((uint64_t)at, &start, &end);

	return op->what == AREA_KNOWN ? found || !at : !found ? 0 : (int64_t)(op->what == AREA_START ? start : end);
}

static int64_t arithmetic(const struct op *op, int64_t a, int64_t b)
{
	switch (op->what) {
	case ADD:
		return (int64_t)((uint64_t)a + (uint64_t)b);
	case SUB:
		return (int64_t)((uint64_t)a - (uint64_t)b);
	case MUL:
		return (int64_t)((uint64_t)a * (uint64_t)b);
	case MIN:
		return a < b ? a : b;
	case MAX:
		return a > b ? a : b;
	case ABS:
		return a < 0 ? (int64_t)(0 - (uint64_t)a) : a;
	case AND:
		return a & b;
	case OR:
		return a | b;
	case BFIND:
		return a ? 63 - (int64_t)__builtin_clzll((uint64_t)a) : UINT32_MAX;
	case LOW_HALF:
		return (uint32_t)a;
	default:
		return a;
	}
}

/* false: what the GPU would give is not known here. */
static bool compute(const struct ws_real_decision *d, const struct op *op, const struct ws_real_deciding *l, int64_t *regs)
{
	int64_t v[MOST_SOURCES] = { 0 }, *to = &regs[op->to];

	for (unsigned n = 0; n < op->nsources; n++)
		v[n] = op->from[n].number ? op->from[n].k : regs[op->from[n].reg];
	switch (op->what) {
	case DIV:
		if (!v[1] || v[1] == -1)
			return false;
		*to = v[0] / v[1];
		return true;
	case SHL: case SHR:
		*to = shifted(op, v[0], v[1]);
		return true;
	case SELECT:
		*to = v[2] ? v[0] : v[1];
		return true;
	case COMPARE:
		*to = compared(op, v[0], v[1]);
		return true;
	case COMPARE_AND:
		*to = compared(op, v[0], v[1]) && v[2];
		return true;
	case COMPARE_OR:
		*to = compared(op, v[0], v[1]) || v[2];
		return true;
	case PARAM_S32: case PARAM_U64:
		return parameter(op, l, to);
	case GRID:
		*to = l->grid[v[0]];
		return true;
	case BLOCK:
		*to = l->block[v[0]];
		return true;
	case VARIABLE:
		*to = l->variable_of ? (int64_t)l->variable_of(l->function, d->variables[v[0]]) : 0;
		return *to != 0;
	case AREA_START: case AREA_END: case AREA_KNOWN:
		*to = area(op, l, v[0]);
		return true;
	default:
		*to = arithmetic(op, v[0], v[1]);
		return true;
	}
}

static bool compute_all(const struct ws_real_decision *d, const struct ws_real_deciding *l, int64_t *regs)
{
	if (!l->params)
		return false;
	if (d->has_proved)
		regs[d->proved] = l->proved;
	for (uint32_t k = 0; k < d->nops; k++)
		if (!compute(d, &d->ops[k], l, regs))
			return false;
	return true;
}

bool ws_real_decide(const struct ws_real_decision *d, const struct ws_real_deciding *l)
{
	int64_t regs[MOST_REGISTERS];

	return compute_all(d, l, regs) && regs[d->result] != 0;
}

bool ws_real_decide_all(const struct ws_real_decision *d, const struct ws_real_deciding *l, struct ws_race_told *out)
{
	int64_t regs[MOST_REGISTERS];

	if (!compute_all(d, l, regs))
		return false;
	*out = (struct ws_race_told){ .mark = WS_RACE_TOLD };
	for (uint32_t k = 0; k < d->ntruths; k++)
		out->truths |= (uint64_t)(regs[d->truths[k]] != 0) << k;
	for (uint32_t k = 0; k < d->nvalues; k++)
		out->values[k] = (uint64_t)regs[d->values[k]];
	return true;
}

bool ws_real_decision_compares(const struct ws_real_decision *d)
{
	return d->compares;
}

void ws_real_decide_extents(const struct ws_real_decision *d, const struct ws_real_deciding *l, struct ws_real_touched *out)
{
	int64_t regs[MOST_REGISTERS];

	out->n = 0;
	out->known = d->has_known && compute_all(d, l, regs) && regs[d->known];
	for (uint32_t k = 0; k < d->nextents && out->known; k++) {
		int64_t from = regs[d->extents[k].from], to = regs[d->extents[k].to];

		if (to > 0 && from < to)
			out->list[out->n++] = (struct ws_real_extent){ from < 0 ? 0 : (uint64_t)from, (uint64_t)to, d->extents[k].does };
	}
}

/* randtest.c - random kernels against a plain interpreter, under both divergence models and several schedules.
 *
 *     randtest [-n PROGRAMS] [-s FIRST-SEED] [-k]
 *
 * A program is a tree of statements: arithmetic (also predicated), ifs, indexed branches, loops with data-dependent
 * counts and breaks over several levels, early exits, direct and indirect calls, local memory, atomic sums, and at the top level barriers with an exchange
 * through shared memory, shuffles and votes. It is written as PTX for the simulator and evaluated here thread by
 * thread; all results must agree. -k prints the PTX of the first seed and stops. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/clocked.h"
#include "gpu/gpu.h"

enum { VARS = 6, BINS = 16, LOCALS = 8, INPUTS = 64, BLOCK = 80, GRID = 2, THREADS = BLOCK * GRID, FUNCS = 3, MAX_DEPTH = 4 };

enum kind { OP, GUARDED, IF, SWITCH, LOOP, BREAK, CONTINUE, LEAVE, CALL, CALL_EITHER, RED, LOCAL_ST, LOCAL_LD, LOAD, EXCHANGE, SHFL, BALLOT };
enum { ADD, SUB, MUL, XOR, AND, OR, SHL, SHR, MIN, MAX, OPS };
enum { LT, GE, EQ, NE, ODD, CONDS };

struct node {
	enum kind kind;
	int d, a, b, op;             /* variables; operator */
	uint32_t imm;
	bool use_imm;
	int what;                    /* GUARDED: the operation where the condition `op` holds */
	int level;                   /* BREAK: how many loops */
	struct node *body, *other, *third, *next;
};

struct gen {
	uint64_t state;
	struct ws_arena *arena;
	struct ws_buf out;
	unsigned labels, preds;
	bool exits;                  /* threads may end early: then no warp-wide operations */
	bool in_func;
	int size;                    /* statements that may still be made */
	struct node *main, *func[FUNCS];
};

static uint32_t rnd(struct gen *g, uint32_t n)
{
	uint64_t z = g->state += 0x9e3779b97f4a7c15u;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return (uint32_t)((z ^ z >> 31) % n);
}

/* ---- making a program ---- */

static enum kind choose_kind(struct gen *g, int depth, int loops, int func)
{
	uint32_t r = rnd(g, 100);
	if (depth == 0 && !g->in_func && r < 14)
		return g->exits || r < 7 ? EXCHANGE : r < 11 ? SHFL : BALLOT;
	if (r < 40 || depth >= MAX_DEPTH)
		return r % 4 ? OP : GUARDED;
	if (r < 56)
		return r < 53 ? IF : SWITCH;
	if (r < 66)
		return loops < 2 ? LOOP : OP;
	if (r < 72)
		return loops ? (r < 70 ? BREAK : CONTINUE) : LOAD;
	if (r < 74)
		return depth && (g->exits || g->in_func) ? LEAVE : LOAD;
	if (r < 82)
		return func > 0 ? (r < 79 ? CALL : func > 1 ? CALL_EITHER : CALL) : OP;
	return r < 87 ? RED : r < 91 ? LOCAL_ST : r < 95 ? LOCAL_LD : LOAD;
}

/* func: functions with a lower number may be called, so there is no recursion. */
static struct node *make(struct gen *g, int depth, int loops, int func)
{
	struct node *first = NULL, **end = &first;
	for (uint32_t n = 1 + rnd(g, depth ? 4 : 12); n && g->size > 0; n--) {
		struct node *s = ws_arena_alloc(g->arena, sizeof *s);
		g->size--;
		s->kind = choose_kind(g, depth, loops, func);
		s->d = 1 + (int)rnd(g, VARS - 1);
		s->a = (int)rnd(g, VARS);
		s->b = (int)rnd(g, VARS);
		s->imm = rnd(g, 3) ? rnd(g, 40) : rnd(g, 0xffffffff);
		s->use_imm = rnd(g, 2);
		s->op = (int)rnd(g, s->kind == OP ? OPS : CONDS);
		s->what = (int)rnd(g, OPS);
		s->level = s->kind == BREAK ? 1 + (int)rnd(g, (uint32_t)loops) : s->kind == GUARDED ? (int)rnd(g, 2) : 0;
		if (s->kind == CALL || s->kind == CALL_EITHER)
			s->level = (int)rnd(g, (uint32_t)(s->kind == CALL ? func : func - 1));
		if (s->kind == IF || s->kind == LOOP || s->kind == SWITCH)
			s->body = make(g, depth + 1, loops + (s->kind == LOOP), func);
		if ((s->kind == IF && rnd(g, 2)) || s->kind == SWITCH)
			s->other = make(g, depth + 1, loops, func);
		if (s->kind == SWITCH)
			s->third = make(g, depth + 1, loops, func);
		*end = s;
		end = &s->next;
	}
	return first;
}

/* ---- writing it as PTX ---- */

static void line(struct gen *g, const char *fmt, ...) WS_PRINTF(2, 3);
static void line(struct gen *g, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	ws_buf_puts(&g->out, "\t");
	ws_buf_vprintf(&g->out, fmt, ap);
	ws_buf_puts(&g->out, "\n");
	va_end(ap);
}

static void label(struct gen *g, unsigned l)
{
	ws_buf_printf(&g->out, "L%u:\n", l);
}

static const char *operand(const struct node *s, char text[16])
{
	if (s->use_imm)
		snprintf(text, 16, "%u", s->imm);
	else
		snprintf(text, 16, "%%v%d", s->b);
	return text;
}

/* A new predicate that is true where the condition holds. */
static unsigned write_condition(struct gen *g, const struct node *s)
{
	static const char *const cmp[] = {"lt", "ge", "eq", "ne"};
	char b[16];
	unsigned p = g->preds++;
	if (s->op == ODD) {
		line(g, "and.b32 %%t0, %%v%d, 1;", s->a);
		line(g, "setp.ne.u32 %%p%u, %%t0, 0;", p);
	} else {
		line(g, "setp.%s.u32 %%p%u, %%v%d, %s;", cmp[s->op], p, s->a, operand(s, b));
	}
	return p;
}

/* guard: "" or "@%p1 ". */
static void write_op(struct gen *g, const struct node *s, int op, const char *guard)
{
	static const char *const name[] = {"add.u32", "sub.u32", "mul.lo.u32", "xor.b32", "and.b32", "or.b32", "shl.b32",
	                                   "shr.u32", "min.u32", "max.u32"};
	char b[16];
	operand(s, b);
	if (op == SHL || op == SHR) {
		line(g, "and.b32 %%t0, %%v%d, 15;", s->b);
		strcpy(b, "%t0");
	}
	line(g, "%s%s %%v%d, %%v%d, %s;", guard, name[op], s->d, s->a, b);
}

static void write_guarded(struct gen *g, const struct node *s)
{
	char guard[32];
	snprintf(guard, sizeof guard, "@%s%%p%u ", s->level ? "!" : "", write_condition(g, s));
	write_op(g, s, s->what, guard);
}

static void write_call(struct gen *g, const struct node *s)
{
	if (s->kind == CALL_EITHER) {
		unsigned p = write_condition(g, s);
		line(g, "mov.u64 %%d1, f%d;", s->level);
		line(g, "mov.u64 %%d2, f%d;", s->level + 1);
		line(g, "selp.b64 %%d1, %%d1, %%d2, %%p%u;", p);
	}
	line(g, "{");
	line(g, ".param .b32 p0;");
	line(g, "st.param.b32 [p0], %%v%d;", s->a);
	line(g, ".param .b32 r0;");
	if (s->kind == CALL) {
		line(g, "call (r0), f%d, (p0);", s->level);
	} else {
		unsigned l = g->labels++;
		line(g, "proto%u : .callprototype (.param .b32 _) _ (.param .b32 _);", l);
		line(g, "call (r0), %%d1, (p0), proto%u;", l);
	}
	line(g, "ld.param.b32 %%v%d, [r0];", s->d);
	line(g, "}");
}

static void write_memory(struct gen *g, const struct node *s)
{
	line(g, "and.b32 %%t0, %%v%d, %d;", s->b, s->kind == LOAD ? INPUTS - 1 : s->kind == RED ? BINS - 1 : LOCALS - 1);
	line(g, "mul.wide.u32 %%d1, %%t0, 4;");
	if (s->kind == RED) {
		line(g, "mov.u64 %%d2, bins;");
		line(g, "add.s64 %%d1, %%d1, %%d2;");
		line(g, "red.global.add.u32 [%%d1], %%v%d;", s->a);
	} else if (s->kind == LOAD) {
		line(g, "mov.u64 %%d2, inputs;");
		line(g, "add.s64 %%d1, %%d1, %%d2;");
		line(g, "ld.global.u32 %%v%d, [%%d1];", s->d);
	} else {
		line(g, "mov.u64 %%d2, locals;");
		line(g, "add.s64 %%d1, %%d1, %%d2;");
		if (s->kind == LOCAL_ST)
			line(g, "st.local.u32 [%%d1], %%v%d;", s->a);
		else
			line(g, "ld.local.u32 %%v%d, [%%d1];", s->d);
	}
}

static void write_wide(struct gen *g, const struct node *s)
{
	if (s->kind == SHFL) {           /* the last warp of a block has 16 lanes */
		line(g, "xor.b32 %%t0, %%lane, %u;", s->imm & 15);
		line(g, "shfl.sync.idx.b32 %%v%d, %%v%d, %%t0, 0x1f, %%warp_mask;", s->d, s->a);
	} else if (s->kind == BALLOT) {
		unsigned p = write_condition(g, s);
		line(g, "vote.sync.ballot.b32 %%v%d, %%p%u, %%warp_mask;", s->d, p);
	} else {
		line(g, "st.shared.u32 [%%slot], %%v%d;", s->a);
		line(g, "bar.sync 0;");
		line(g, "add.u32 %%t0, %%v0, %u;", s->imm % BLOCK);
		line(g, "rem.u32 %%t0, %%t0, %d;", BLOCK);
		line(g, "shl.b32 %%t0, %%t0, 2;");
		line(g, "mov.u32 %%t1, board;");
		line(g, "add.u32 %%t0, %%t0, %%t1;");
		line(g, "ld.shared.u32 %%v%d, [%%t0];", s->d);
		line(g, "bar.sync 0;");
	}
}

struct around { unsigned end, cont; };   /* labels of the loops around */

static void write_leave(struct gen *g)
{
	if (g->in_func) {
		line(g, "st.param.b32 [r], %%v1;");
		line(g, "ret;");
		return;
	}
	for (int i = 1; i < VARS; i++)
		line(g, "st.global.u32 [%%out+%d], %%v%d;", 4 * i, i);
	line(g, "exit;");
}

static void write_all(struct gen *g, const struct node *s, struct around *loop, int loops)
{
	for (; s; s = s->next) {
		unsigned p, l = g->labels;
		switch (s->kind) {
		case OP:
			write_op(g, s, s->op, "");
			break;
		case GUARDED:
			write_guarded(g, s);
			break;
		case SWITCH:             /* index 3 and 0 go to the same place */
			g->labels += 4;
			line(g, "and.b32 %%t0, %%v%d, 3;", s->a);
			line(g, "T%u: .branchtargets L%u, L%u, L%u, L%u;", l, l, l + 1, l + 2, l);
			line(g, "brx.idx %%t0, T%u;", l);
			label(g, l);
			write_all(g, s->body, loop, loops);
			line(g, "bra L%u;", l + 3);
			label(g, l + 1);
			write_all(g, s->other, loop, loops);     /* falls into the third */
			label(g, l + 2);
			write_all(g, s->third, loop, loops);
			label(g, l + 3);
			break;
		case IF:
			g->labels += 2;
			p = write_condition(g, s);
			line(g, "@!%%p%u bra L%u;", p, l);
			write_all(g, s->body, loop, loops);
			line(g, "bra L%u;", l + 1);
			label(g, l);
			write_all(g, s->other, loop, loops);
			label(g, l + 1);
			break;
		case LOOP:
			g->labels += 3;
			loop[loops] = (struct around){l + 1, l + 2};
			line(g, "and.b32 %%n%d, %%v%d, 7;", loops, s->a);
			line(g, "mov.u32 %%c%d, 0;", loops);
			label(g, l);
			p = g->preds++;
			line(g, "setp.ge.u32 %%p%u, %%c%d, %%n%d;", p, loops, loops);
			line(g, "@%%p%u bra L%u;", p, l + 1);
			write_all(g, s->body, loop, loops + 1);
			label(g, l + 2);
			line(g, "add.u32 %%c%d, %%c%d, 1;", loops, loops);
			line(g, "bra L%u;", l);
			label(g, l + 1);
			break;
		case BREAK: case CONTINUE:
			p = write_condition(g, s);
			line(g, "@%%p%u bra L%u;", p, s->kind == BREAK ? loop[loops - s->level].end : loop[loops - 1].cont);
			break;
		case LEAVE:
			g->labels++;
			p = write_condition(g, s);
			line(g, "@!%%p%u bra L%u;", p, l);
			write_leave(g);
			label(g, l);
			break;
		case CALL: case CALL_EITHER:
			write_call(g, s);
			break;
		case RED: case LOAD: case LOCAL_ST: case LOCAL_LD:
			write_memory(g, s);
			break;
		case EXCHANGE: case SHFL: case BALLOT:
			write_wide(g, s);
		}
	}
}

static const char registers[] = "	.reg .pred %p<4000>;\n	.reg .b32 %v<8>, %t<4>, %c<8>, %n<8>, %lane, %warp_mask, %slot;\n"
                                "	.reg .b64 %d<4>, %out;\n	.local .align 4 .b8 locals[32];\n";

static void write_func(struct gen *g, int f)
{
	struct around loop[MAX_DEPTH + 1];
	ws_buf_printf(&g->out, ".func (.param .b32 r) f%d(.param .b32 x)\n{\n%s", f, registers);
	line(g, "ld.param.u32 %%v0, [x];");
	for (int i = 1; i < VARS; i++)
		line(g, "mad.lo.u32 %%v%d, %%v0, %d, %d;", i, i, f);
	for (int i = 0; i < LOCALS; i++)
		line(g, "st.local.u32 [locals+%d], %d;", 4 * i, i);
	g->in_func = true;
	write_all(g, g->func[f], loop, 0);
	write_leave(g);
	g->in_func = false;
	ws_buf_puts(&g->out, "}\n");
}

static void write_program(struct gen *g)
{
	struct around loop[MAX_DEPTH + 1];
	ws_buf_puts(&g->out, ".version 8.0\n.target sm_80\n.address_size 64\n");
	ws_buf_printf(&g->out, ".visible .global .align 4 .u32 bins[%d];\n.visible .global .align 4 .u32 inputs[%d];\n", BINS,
	              INPUTS);
	for (int f = 0; f < FUNCS; f++)
		write_func(g, f);
	ws_buf_printf(&g->out, ".visible .entry k(.param .u64 o)\n{\n%s\t.shared .align 4 .b8 board[%d];\n", registers,
	              4 * BLOCK);
	ws_buf_puts(&g->out, "	mov.u32 %v0, %tid.x;\n	mov.u32 %t0, %ctaid.x;\n	mov.u32 %lane, %laneid;\n"
	                     "	shl.b32 %t1, %v0, 2;\n	mov.u32 %slot, board;\n	add.u32 %slot, %slot, %t1;\n"
	                     "	st.shared.u32 [%slot], 0;\n	setp.lt.u32 %p0, %v0, 64;\n"
	                     "	selp.u32 %warp_mask, 0xffffffff, 0xffff, %p0;\n");
	line(g, "mad.lo.u32 %%t1, %%t0, %d, %%v0;", BLOCK);
	line(g, "mul.wide.u32 %%d1, %%t1, %d;", 4 * VARS);
	ws_buf_puts(&g->out, "	ld.param.u64 %out, [o];\n	add.s64 %out, %out, %d1;\n	st.global.u32 [%out], %t1;\n");
	for (int i = 1; i < VARS; i++)
		line(g, "mad.lo.u32 %%v%d, %%t1, %d, %d;", i, 2 * i + 1, i);
	for (int i = 0; i < LOCALS; i++)
		line(g, "st.local.u32 [locals+%d], %d;", 4 * i, i);
	line(g, "bar.sync 0;");
	write_all(g, g->main, loop, 0);
	write_leave(g);
	ws_buf_puts(&g->out, "}\n");
}

/* ---- evaluating it ---- */

enum signal { GO_ON, BROKE, CONTINUED, LEFT };

struct thread { uint32_t v[VARS], local[LOCALS]; bool ended; int levels; };

static uint32_t bins[BINS], inputs[INPUTS];
static struct thread threads[THREADS];
static const struct gen *program;

static bool holds(const struct node *s, const struct thread *t)
{
	uint32_t a = t->v[s->a], b = s->use_imm ? s->imm : t->v[s->b];
	switch (s->op) {
	case LT: return a < b;
	case GE: return a >= b;
	case EQ: return a == b;
	case NE: return a != b;
	default: return a & 1;
	}
}

static uint32_t compute(const struct node *s, int op, const struct thread *t)
{
	uint32_t a = t->v[s->a], b = s->use_imm ? s->imm : t->v[s->b];
	switch (op) {
	case ADD: return a + b;
	case SUB: return a - b;
	case MUL: return a * b;
	case XOR: return a ^ b;
	case AND: return a & b;
	case OR: return a | b;
	case SHL: return a << (t->v[s->b] & 15);
	case SHR: return a >> (t->v[s->b] & 15);
	case MIN: return a < b ? a : b;
	default: return a > b ? a : b;
	}
}

static enum signal eval(const struct node *s, struct thread *t);

static uint32_t eval_call(int f, uint32_t x)
{
	struct thread t = {.v = {x}};
	for (uint32_t i = 1; i < VARS; i++)
		t.v[i] = x * i + (uint32_t)f;
	for (uint32_t i = 0; i < LOCALS; i++)
		t.local[i] = i;
	eval(program->func[f], &t);
	return t.v[1];
}

static enum signal eval_loop(const struct node *s, struct thread *t)
{
	uint32_t n = t->v[s->a] & 7;
	for (uint32_t c = 0; c < n; c++) {
		enum signal g = eval(s->body, t);
		if (g == LEFT)
			return g;
		if (g == BROKE)
			return --t->levels ? BROKE : GO_ON;
	}
	return GO_ON;
}

static enum signal eval_switch(const struct node *s, struct thread *t)
{
	uint32_t i = t->v[s->a] & 3;
	enum signal g;
	if (i == 0 || i == 3)
		return eval(s->body, t);
	g = i == 1 ? eval(s->other, t) : GO_ON;
	return g == GO_ON ? eval(s->third, t) : g;
}

static enum signal eval_one(const struct node *s, struct thread *t)
{
	switch (s->kind) {
	case OP:
		t->v[s->d] = compute(s, s->op, t);
		return GO_ON;
	case GUARDED:
		if (holds(s, t) != (s->level != 0))
			t->v[s->d] = compute(s, s->what, t);
		return GO_ON;
	case SWITCH:
		return eval_switch(s, t);
	case IF:
		return eval(holds(s, t) ? s->body : s->other, t);
	case LOOP:
		return eval_loop(s, t);
	case BREAK:
		t->levels = s->level;
		return holds(s, t) ? BROKE : GO_ON;
	case CONTINUE:
		return holds(s, t) ? CONTINUED : GO_ON;
	case LEAVE:
		return holds(s, t) ? LEFT : GO_ON;
	case CALL:
		t->v[s->d] = eval_call(s->level, t->v[s->a]);
		return GO_ON;
	case CALL_EITHER:
		t->v[s->d] = eval_call(s->level + !holds(s, t), t->v[s->a]);
		return GO_ON;
	case RED:
		bins[t->v[s->b] & (BINS - 1)] += t->v[s->a];
		return GO_ON;
	case LOAD:
		t->v[s->d] = inputs[t->v[s->b] & (INPUTS - 1)];
		return GO_ON;
	case LOCAL_ST:
		t->local[t->v[s->b] & (LOCALS - 1)] = t->v[s->a];
		return GO_ON;
	default:
		t->v[s->d] = t->local[t->v[s->b] & (LOCALS - 1)];
		return GO_ON;
	}
}

static enum signal eval(const struct node *s, struct thread *t)
{
	for (; s; s = s->next) {
		enum signal g = eval_one(s, t);
		if (g != GO_ON)
			return g;
	}
	return GO_ON;
}

/* A statement in which threads meet: on all threads of a block at once. */
static void eval_wide(const struct node *s, struct thread *t, uint32_t *board)
{
	uint32_t value[BLOCK] = {0};
	for (uint32_t i = 0; i < BLOCK; i++)
		if (!t[i].ended && s->kind == EXCHANGE)
			board[i] = t[i].v[s->a];
	for (uint32_t i = 0; i < BLOCK; i++) {
		uint32_t warp = i & ~31u, lanes = warp == 64 ? 16 : 32;
		if (s->kind == EXCHANGE)
			value[i] = board[(t[i].v[0] + s->imm % BLOCK) % BLOCK];
		else if (s->kind == SHFL)
			value[i] = t[warp + ((i & 31) ^ (s->imm & 15))].v[s->a];
		else
			for (uint32_t l = 0; l < lanes; l++)
				value[i] |= (uint32_t)holds(s, &t[warp + l]) << l;
	}
	for (uint32_t i = 0; i < BLOCK; i++)
		if (!t[i].ended)
			t[i].v[s->d] = value[i];
}

static void eval_block(struct thread *t, uint32_t first)
{
	uint32_t board[BLOCK] = {0};
	for (uint32_t i = 0; i < BLOCK; i++) {
		t[i] = (struct thread){.v = {i}};
		for (uint32_t k = 1; k < VARS; k++)
			t[i].v[k] = (first + i) * (2 * k + 1) + k;
		for (uint32_t k = 0; k < LOCALS; k++)
			t[i].local[k] = k;
	}
	for (const struct node *s = program->main; s; s = s->next) {
		struct node one = *s;
		one.next = NULL;
		if (s->kind >= EXCHANGE)
			eval_wide(s, t, board);
		else
			for (uint32_t i = 0; i < BLOCK; i++)
				if (!t[i].ended)
					t[i].ended = eval(&one, &t[i]) == LEFT;
	}
}

/* ---- comparing ---- */

struct setting { bool stack; enum ws_schedule schedule; uint32_t threads; uint64_t seed; const char *machine; };

static bool compare(const struct ws_mem *out, const struct ws_mem *sums)
{
	const uint32_t *o = (const uint32_t *)(const void *)out->host;
	for (uint32_t i = 0; i < THREADS; i++)
		for (uint32_t k = 1; k < VARS; k++)
			if (o[i * VARS + k] != threads[i].v[k]) {
				printf("thread %u, v%u: %u, expected %u\n", i, k, o[i * VARS + k], threads[i].v[k]);
				return false;
			}
	if (!memcmp(sums->host, bins, sizeof bins))
		return true;
	printf("the atomic sums differ\n");
	return false;
}

static bool simulate(struct ws_ptx_module *m, const struct setting *s)
{
	struct ws_gpu_config c = {.divergence = s->stack ? WS_DIV_STACK : WS_DIV_ITS, .seed = s->seed,
	                          .schedule = s->schedule, .host_threads = s->threads,
	                          .memory = 1 << 24, .printf_fd = -1, .max_instructions = 100000000};
	struct ws_timing *timing = NULL;
	if (s->machine) {
		struct ws_machine machine = clocked_machine(s->machine);
		timing = ws_timing_new(&machine, NULL);
		c.clock = &ws_timing_clock;
		c.clock_self = timing;
	}
	struct ws_gpu *g = ws_gpu_create(&c);
	struct ws_gpu_error err = {0};
	struct ws_gpu_module *mod = g ? ws_gpu_module_load(g, &m, 1, &err) : NULL;
	bool ok = false;
	if (mod) {
		struct ws_mem *out = ws_gpu_mem_new(g, 4 * THREADS * VARS, 0, WS_MEM_DEVICE, NULL);
		struct ws_gpu_launch l = {.grid = {GRID, 1, 1}, .block = {BLOCK, 1, 1}, .params = &out->addr};
		memcpy(ws_gpu_module_var(mod, "inputs")->host, inputs, sizeof inputs);
		ok = ws_gpu_launch(g, ws_gpu_module_kernel(mod, "k"), &l, NULL, &err) &&
		     compare(out, ws_gpu_module_var(mod, "bins"));
		ws_gpu_module_unload(g, mod);
	}
	if (err.text.data)
		printf("%s", err.text.data);
	ws_buf_free(&err.text);
	if (g)
		ws_gpu_destroy(g);
	ws_timing_free(timing);
	return ok;
}

static bool run_program(struct gen *g, uint64_t seed)
{
	static const struct setting settings[] = {
		{true, WS_SCHED_RR, 1, 0, NULL}, {false, WS_SCHED_RR, 1, 0, NULL}, {true, WS_SCHED_RANDOM, 1, 1, NULL},
		{false, WS_SCHED_RANDOM, 1, 2, NULL}, {false, WS_SCHED_RANDOM, 2, 3, NULL}, {true, WS_SCHED_PRIORITY, 1, 4, NULL},
		{false, WS_SCHED_PRIORITY, 2, 5, NULL}, {true, WS_SCHED_RR, 1, 0, "src/timing/configs/fx5800.conf"},
		{false, WS_SCHED_RR, 1, 0, "src/timing/configs/h200.conf"}};
	static const char *const names[] = {"rr", "random", "priority"};
	struct ws_buf messages = {0};
	struct ws_sink sink = {ws_sink_to_buf, &messages};
	struct ws_ptx_module *m = ws_ptx_parse("random.ptx", g->out.data, g->out.len, NULL, &sink);
	bool ok = m;
	program = g;
	memset(bins, 0, sizeof bins);
	for (uint32_t b = 0; b < GRID; b++)
		eval_block(&threads[b * BLOCK], b * BLOCK);
	for (size_t i = 0; m && i < WS_COUNT(settings); i++) {
		bool same = simulate(m, &settings[i]);
		ok &= same;
		if (!same)
			printf("FAIL seed %llu: %s, %s, %u host threads\n", (unsigned long long)seed,
			       settings[i].stack ? "stack" : "its",
			       settings[i].machine ? settings[i].machine : names[settings[i].schedule],
			       settings[i].threads);
	}
	if (!m)
		printf("FAIL seed %llu: does not parse:\n%s", (unsigned long long)seed, messages.data);
	if (m)
		ws_ptx_free(m);
	ws_buf_free(&messages);
	return ok;
}

static bool run_seed(uint64_t seed, bool print)
{
	struct gen g = {.state = seed * 7919, .arena = ws_arena_new(), .labels = 1, .preds = 1};
	g.exits = rnd(&g, 2);
	for (int f = 0; f < FUNCS; f++) {
		g.size = 12;
		g.in_func = true;
		g.func[f] = make(&g, 1, 0, f);
	}
	g.in_func = false;
	g.size = 60;
	while (g.size > 0) {             /* several sequences, one after the other */
		struct node **end = &g.main;
		while (*end)
			end = &(*end)->next;
		*end = make(&g, 0, 0, FUNCS);
	}
	write_program(&g);
	if (print)
		fputs(g.out.data, stdout);
	bool ok = print || run_program(&g, seed);
	ws_buf_free(&g.out);
	ws_arena_free(g.arena);
	return ok;
}

int main(int argc, char **argv)
{
	uint64_t n = 200, first = 1, failed = 0;
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "-n") && i + 1 < argc)
			n = strtoull(argv[++i], NULL, 0);
		else if (!strcmp(argv[i], "-s") && i + 1 < argc)
			first = strtoull(argv[++i], NULL, 0);
		else if (!strcmp(argv[i], "-k"))
			n = 0;
	}
	for (uint32_t i = 0; i < INPUTS; i++)
		inputs[i] = i * 2654435761u;
	if (!n)
		return !run_seed(first, true);
	for (uint64_t seed = first; seed < first + n; seed++)
		failed += !run_seed(seed, false);
	printf("%llu random programs passed, %llu failed\n", (unsigned long long)(n - failed), (unsigned long long)failed);
	return failed != 0;
}

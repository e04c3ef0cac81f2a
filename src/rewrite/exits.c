/* exits.c - ways out of a loop that stand under a condition with checks go by where the condition's lanes meet.
 *
 * `for (;;) { if (a <= b) { if (++i == n) break; a = p[i]; } ... }`: lanes for which the condition holds meet the others at its end, though some of
 * them leave the loop instead. For those ptxas takes them out of the barrier that the others wait at (BREAK). It does not where the barrier's register is
 * saved at a call: then the condition has no barrier at all, and lanes that have parted at it stay apart until the loop ends, up to 32 times as long. A check is
 * a call, though it is hardly ever made. So a lane that leaves notes that in a predicate, goes to where the others meet, and leaves from there, by the next
 * condition's end if there is one around. Where lanes meet in the loop's next round alone (`continue`) it gets a block that all of its rounds go by.
 *
 * Conditions and their regions are those of the loop's own graph: what leads out of it does not count. Only what is in no scope of braces is touched, for names
 * of labels are the scope's. */
#include "rewrite/exits.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_BLOCKS = 4096, MOST_NODES = 512, MOST_TARGETS = 8 };

/* Where an edge of a block goes now. */
struct way {
	const char *label;               /* NULL: where it went */
	const char *x;                   /* a predicate that is set on it; NULL = none */
};

struct exits {
	struct ws_pass *p;
	struct ws_ptx_func *f;
	uint8_t *checked;                /* by block: it has calls that were inserted */
	uint32_t *loop;                  /* by block: the header of the innermost loop that it is in, or WS_EXIT_BLOCK */
	struct found { uint32_t header, n; } *loops;     /* n: of its blocks; the longest first, so that those around one come before it */
	uint32_t nloops;
	const char **round;              /* by block: of a header, the label of a block that all rounds go by; NULL = there is none */
	uint32_t (*next)[2];             /* by block: what it falls into, where it jumps; WS_EXIT_BLOCK: nowhere, or out of the function */
	struct way (*ways)[2];
	const char **labels;             /* by block: what we called it */
};

/* One loop. Its nodes are its blocks, and, as the last one, the beginning of its next round. */
struct loop {
	struct exits *e;
	uint32_t header, n;
	uint32_t block[MOST_NODES];
	uint16_t *node;                  /* by block, and 1; 0 = not in it */
	uint16_t succ[MOST_NODES][2];    /* NONE, or a node */
	uint8_t goes_on[MOST_NODES + 1]; /* there is a way from there to the next round */
	uint16_t meet[MOST_NODES];       /* where lanes that part at its end meet; NONE = they do not, or nowhere */
	uint8_t *after;                  /* [node][node]: every way to the next round goes by it; then: it is in the region of the condition */
	uint32_t nafter[MOST_NODES + 1]; /* of each */
	uint16_t size[MOST_NODES];       /* of its region; 0 = none, or one without checks */
	uint32_t targets[MOST_TARGETS];
	const char *x[MOST_TARGETS];     /* by target: "this lane leaves to it" */
	unsigned ntargets;
	uint8_t tests[MOST_NODES];       /* by node: bits of the targets that are tested there */
};
#define NONE UINT16_MAX

/* ---- the function ---- */
static const struct ws_ptx_inst *last_of(const struct ws_ptx_func *f, uint32_t b) { return &f->insts[f->blocks[b].last]; }

static void find_next(struct exits *e)
{
	for (uint32_t b = 0; b < e->f->nblocks; b++) {
		const struct ws_ptx_inst *last = last_of(e->f, b);
		bool jumps = last->op == WS_OP_bra, ends = ws_op_info(last->op)->fx & WS_FX_EXIT;

		e->next[b][0] = (jumps || ends) && !last->guard ? WS_EXIT_BLOCK : ws_rw_block_at(e->f, last->index + 1);
		e->next[b][1] = jumps ? ws_rw_block_at(e->f, e->f->labels[last->ops[0].label].inst) : WS_EXIT_BLOCK;
		if (e->next[b][0] == e->next[b][1])
			e->next[b][1] = WS_EXIT_BLOCK;
	}
}

static uint32_t inst_before(const struct ws_ptx_func *f, uint32_t at)
{
	uint32_t low = 0, high = f->ninsts;

	while (low + 1 < high) {
		uint32_t middle = (low + high) / 2;

		*(f->insts[middle].off <= at ? &low : &high) = middle;
	}
	return low;
}

static bool find_checked(struct exits *e, size_t edits)
{
	const struct ws_ptx_edits *all = e->p->m->edits;
	bool any = false;

	for (size_t k = edits; k < all->n; k++) {
		const struct ws_ptx_edit *one = &all->list[k];

		if (one->at <= e->f->body_off + 1 || one->at >= e->f->off + e->f->len - 1 || !strstr(one->text, "call"))
			continue;
		e->checked[e->f->insts[inst_before(e->f, one->at)].block] = 1;
		any = true;
	}
	return any;
}

/* How deep in braces is the text there? The body itself is 1. */
static unsigned depth_at(const struct ws_ptx_func *f, uint32_t off)
{
	const char *at = f->module->text + f->body_off, *end = f->module->text + off, *found;
	unsigned depth = 0;

	for (; at < end; at++) {
		if (*at == '/' && at[1] == '/')
			at = (found = memchr(at, '\n', (size_t)(end - at))) ? found : end;
		else if (*at == '/' && at[1] == '*')
			at = (found = memmem(at, (size_t)(end - at), "*/", 2)) ? found + 1 : end;
		else if (*at == '"')
			at = (found = memchr(at + 1, '"', (size_t)(end - at - 1))) ? found : end;
		else
			depth += (*at == '{') - (*at == '}');
	}
	return depth;
}

static bool is_plain(const struct ws_ptx_func *f, uint32_t inst) { return depth_at(f, f->insts[inst].off) == 1; }

/* A label of the block; NULL: it has none. */
static const char *own_label(const struct ws_ptx_func *f, uint32_t b)
{
	for (uint32_t k = 0; k < f->nlabels; k++)
		if (f->labels[k].inst == f->blocks[b].first)
			return f->labels[k].name;
	return NULL;
}

/* One that has none is fallen into from its only predecessor, which puts it there (put_way). */
static const char *label_of(struct exits *e, uint32_t b)
{
	const char *own = own_label(e->f, b);

	if (!own && !e->labels[b])
		e->labels[b] = ws_rw_label(e->p);
	return own ? own : e->labels[b];
}

/* ---- a loop ---- */
/* Blocks from which one reaches the header again without leaving what it dominates. */
static void mark_body(const struct ws_ptx_func *f, uint32_t b, uint32_t header, uint8_t *in)
{
	uint32_t *stack = ws_alloc((f->nblocks + 1) * sizeof *stack), n = 0;

	in[header] = 1;
	if (!in[b])
		stack[n++] = b;
	in[b] = 1;
	while (n) {
		const struct ws_ptx_block *at = &f->blocks[stack[--n]];

		for (uint32_t k = 0; k < at->npred; k++)
			if (!in[at->pred[k]]) {
				in[at->pred[k]] = 1;
				stack[n++] = at->pred[k];
			}
	}
	free(stack);
}

/* The blocks of the loop with that header; how many. */
static uint32_t body_of(const struct ws_ptx_func *f, uint32_t header, uint8_t *in)
{
	uint32_t n = 0;

	memset(in, 0, f->nblocks);
	for (uint32_t k = 0; k < f->blocks[header].npred; k++)
		if (ws_rw_dominates(f, header, f->blocks[header].pred[k]))
			mark_body(f, f->blocks[header].pred[k], header, in);
	for (uint32_t b = 0; b < f->nblocks; b++)
		n += in[b];
	return n;
}

static int by_length(const void *a, const void *b)
{
	const struct found *x = a, *y = b;

	return (x->n < y->n) - (x->n > y->n);
}

static void find_loops(struct exits *e)
{
	uint32_t *size = ws_alloc((e->f->nblocks + 1) * sizeof *size);
	uint8_t *in = ws_alloc(e->f->nblocks + 1);

	for (uint32_t b = 0; b < e->f->nblocks; b++)
		e->loop[b] = WS_EXIT_BLOCK;
	for (uint32_t h = 0; h < e->f->nblocks; h++) {
		uint32_t n = body_of(e->f, h, in);

		if (n)
			e->loops[e->nloops++] = (struct found){ h, n };
		for (uint32_t b = 0; b < e->f->nblocks && n; b++)
			if (in[b] && (e->loop[b] == WS_EXIT_BLOCK || n < size[b])) {
				e->loop[b] = h;
				size[b] = n;
			}
	}
	qsort(e->loops, e->nloops, sizeof *e->loops, by_length);
	free(size);
	free(in);
}

/* The node that an edge of a block leads to; NONE: out of the loop. */
static uint16_t node_of(const struct loop *l, uint32_t b)
{
	if (b == l->header)
		return (uint16_t)l->n;
	return b == WS_EXIT_BLOCK || !l->node[b] ? NONE : (uint16_t)(l->node[b] - 1);
}

/* false: the loop is too long, or jumps by tables. */
static bool take_nodes(struct loop *l, uint8_t *in)
{
	const struct ws_ptx_func *f = l->e->f;

	if (body_of(f, l->header, in) >= MOST_NODES)
		return false;
	for (uint32_t b = 0; b < f->nblocks; b++)
		if (in[b]) {
			if (last_of(f, b)->op == WS_OP_brx)
				return false;
			l->block[l->n] = b;
			l->node[b] = (uint16_t)++l->n;
		}
	for (uint32_t k = 0; k < l->n; k++)
		for (unsigned way = 0; way < 2; way++)
			l->succ[k][way] = node_of(l, l->e->next[l->block[k]][way]);
	return true;
}

static void find_goes_on(struct loop *l)
{
	bool changed = true;

	l->goes_on[l->n] = 1;
	while (changed) {
		changed = false;
		for (uint32_t k = l->n; k-- > 0;)
			for (unsigned way = 0; way < 2; way++)
				if (!l->goes_on[k] && l->succ[k][way] != NONE && l->goes_on[l->succ[k][way]]) {
					l->goes_on[k] = 1;
					changed = true;
				}
	}
}

static bool is_on(const struct loop *l, uint16_t node) { return node != NONE && l->goes_on[node]; }

/* Is m on all ways on from k? */
static bool is_after(const struct loop *l, uint32_t k, uint32_t m)
{
	for (unsigned way = 0; way < 2; way++)
		if (is_on(l, l->succ[k][way]) && !l->after[l->succ[k][way] * (l->n + 1) + m])
			return false;
	return true;
}

/* From all to what is true: the greatest solution. */
static void find_after(struct loop *l)
{
	uint32_t n = l->n + 1;
	bool changed = true;

	l->after = ws_alloc((size_t)n * n);
	memset(l->after, 1, (size_t)l->n * n);
	l->after[l->n * n + l->n] = 1;
	while (changed) {
		changed = false;
		for (uint32_t k = l->n; k-- > 0;)
			for (uint32_t m = 0; m < n; m++)
				if (m != k && l->after[k * n + m] && !is_after(l, k, m)) {
					l->after[k * n + m] = 0;
					changed = true;
				}
	}
	for (uint32_t k = 0; k < n; k++)
		for (uint32_t m = 0; m < n; m++)
			l->nafter[k] += l->after[k * n + m];
}

/* The nearest of what comes after it has the most after itself. */
static void find_meets(struct loop *l)
{
	uint32_t n = l->n + 1;

	for (uint32_t k = 0; k < l->n; k++) {
		uint32_t most = 0;

		l->meet[k] = NONE;
		if (!is_on(l, l->succ[k][0]) || !is_on(l, l->succ[k][1]) || l->succ[k][0] == l->succ[k][1])
			continue;
		for (uint32_t m = 0; m < n; m++)
			if (m != k && l->goes_on[m] && l->after[k * n + m] && l->nafter[m] > most) {
				most = l->nafter[m];
				l->meet[k] = (uint16_t)m;
			}
	}
}

/* The nodes between a condition and where its lanes meet; in: by node. */
static void mark_region(struct loop *l, uint32_t k, uint8_t *in)
{
	uint16_t stack[2 * MOST_NODES + 2];
	uint32_t n = 0;
	bool checks = false;

	stack[n++] = l->succ[k][0];
	stack[n++] = l->succ[k][1];
	while (n) {
		uint16_t at = stack[--n];

		if (at == NONE || at == l->meet[k] || at == l->n || in[at])
			continue;
		in[at] = 1;
		l->size[k]++;
		checks |= l->e->checked[l->block[at]];
		stack[n++] = l->succ[at][0];
		stack[n++] = l->succ[at][1];
	}
	if (!checks)
		l->size[k] = 0;
}

static void find_regions(struct loop *l)
{
	memset(l->after, 0, (size_t)(l->n + 1) * (l->n + 1));
	for (uint32_t k = 0; k < l->n; k++)
		if (l->meet[k] != NONE && l->e->loop[l->block[k]] == l->header)
			mark_region(l, k, l->after + (size_t)k * (l->n + 1));
}

/* Where a lane that leaves from there goes by: where the lanes of the innermost condition around it meet; NONE: it just leaves. */
static uint16_t by_way_of(const struct loop *l, uint32_t at)
{
	uint16_t least = NONE, to = NONE;

	for (uint32_t k = 0; k < l->n && at < l->n; k++)
		if (l->size[k] && l->size[k] < least && l->after[k * (l->n + 1) + at]) {
			least = l->size[k];
			to = l->meet[k];
		}
	return to;
}

/* ---- what is changed ---- */
/* Where it has to be false: at the end of the last block that all come by on their way there. */
static uint32_t before_node(const struct loop *l, uint32_t k)
{
	const struct ws_ptx_func *f = l->e->f;
	uint32_t b = WS_EXIT_BLOCK;

	if (k < l->n)
		return f->blocks[l->block[k]].idom;
	for (uint32_t m = 0; m < l->n; m++)
		if (l->succ[m][0] == l->n || l->succ[m][1] == l->n)
			for (b = b == WS_EXIT_BLOCK ? l->block[m] : b; !ws_rw_dominates(f, b, l->block[m]);)
				b = f->blocks[b].idom;
	return b;
}

/* No code of scopes, and places where it can be done. */
static bool can_test(const struct loop *l, uint32_t k)
{
	const struct ws_ptx_func *f = l->e->f;

	if (!is_plain(f, f->blocks[before_node(l, k)].last))
		return false;
	if (k < l->n)
		return own_label(f, l->block[k]) && is_plain(f, f->blocks[l->block[k]].first);
	for (uint32_t m = 0; m < l->n; m++)
		if ((l->succ[m][0] == l->n || l->succ[m][1] == l->n) && !is_plain(f, f->blocks[l->block[m]].last))
			return false;
	return own_label(f, l->header) && is_plain(f, f->blocks[l->header].first);
}

static bool can_go(const struct loop *l, uint32_t from, uint32_t target)
{
	const struct ws_ptx_func *f = l->e->f;
	uint16_t by = by_way_of(l, from);

	if (by == NONE || !is_plain(f, f->blocks[l->block[from]].last) || !is_plain(f, f->blocks[target].first) ||
	    (!own_label(f, target) && f->blocks[target].npred > 1))
		return false;
	for (; by != NONE; by = by_way_of(l, by))
		if (!can_test(l, by))
			return false;
	return true;
}

static unsigned target_number(struct loop *l, uint32_t target)
{
	unsigned k = 0;

	while (k < l->ntargets && l->targets[k] != target)
		k++;
	if (k == l->ntargets && k < MOST_TARGETS) {
		l->targets[l->ntargets] = target;
		l->x[l->ntargets++] = ws_rw_register(l->e->p, l->e->f, WS_PRED);
	}
	return k;
}

static const char *label_of_node(struct loop *l, uint32_t k)
{
	if (k < l->n)
		return label_of(l->e, l->block[k]);
	if (!l->e->round[l->header])
		l->e->round[l->header] = ws_rw_label(l->e->p);
	return l->e->round[l->header];
}

/* The header of a loop around it may have a block that rounds go by. */
static const char *label_of_target(struct exits *e, uint32_t b) { return e->round[b] ? e->round[b] : label_of(e, b); }

static void note_ways_out(struct loop *l)
{
	for (uint32_t k = 0; k < l->n; k++)
		for (unsigned way = 0; way < 2 && l->e->loop[l->block[k]] == l->header; way++) {
			uint32_t target = l->e->next[l->block[k]][way];
			unsigned t;

			if (target == WS_EXIT_BLOCK || l->succ[k][way] != NONE || !can_go(l, k, target))
				continue;
			t = target_number(l, target);
			if (t == MOST_TARGETS)
				return;
			l->e->ways[l->block[k]][way] = (struct way){ label_of_node(l, by_way_of(l, k)), l->x[t] };
			for (uint16_t by = by_way_of(l, k); by != NONE; by = by_way_of(l, by))
				l->tests[by] |= (uint8_t)(1u << t);
		}
}

/* Behind an instruction, or before one that jumps. */
static void put_false(struct exits *e, uint32_t b, const char *x)
{
	const struct ws_ptx_inst *last = last_of(e->f, b);
	bool jumps = ws_op_info(last->op)->fx & (WS_FX_BRANCH | WS_FX_EXIT);
	struct ws_buf out = { 0 };

	ws_buf_printf(&out, "%ssetp.ne.u32 %s, 0, 0;%s", jumps ? "" : "\n\t", x, jumps ? "\n\t" : "");
	ws_ptx_edit(e->p->m, jumps ? last->off : last->off + last->len, 0, jumps ? RANK_BEFORE : RANK_AFTER, out.data);
	ws_buf_free(&out);
}

static void put_test(struct loop *l, uint32_t k, struct ws_buf *out)
{
	uint16_t by = by_way_of(l, k);

	for (unsigned t = 0; t < l->ntargets; t++)
		if (l->tests[k] >> t & 1) {
			ws_buf_printf(out, "@%s bra %s;\n\t", l->x[t], by == NONE ? label_of_target(l->e, l->targets[t]) : label_of_node(l, by));
			put_false(l->e, before_node(l, k), l->x[t]);
		}
}

/* All rounds go by a block behind the function's end. */
static void put_round(struct loop *l)
{
	const struct ws_ptx_func *f = l->e->f;
	struct ws_buf out = { 0 };

	for (uint32_t m = 0; m < l->n; m++)
		for (unsigned way = 0; way < 2; way++)
			if (l->succ[m][way] == l->n)
				l->e->ways[l->block[m]][way] = (struct way){ label_of_node(l, l->n), NULL };
	ws_buf_printf(&out, "\n\tret;\n%s:\n\t", label_of_node(l, l->n));
	put_test(l, l->n, &out);
	ws_buf_printf(&out, "bra %s;\n", own_label(f, l->header));
	ws_ptx_edit(l->e->p->m, f->off + f->len - 1, 0, RANK_BEFORE, out.data);
	ws_buf_free(&out);
}

static void put_tests(struct loop *l)
{
	for (uint32_t k = 0; k < l->n; k++) {
		struct ws_buf out = { 0 };

		if (!l->tests[k])
			continue;
		put_test(l, k, &out);
		ws_ptx_edit(l->e->p->m, l->e->f->insts[l->e->f->blocks[l->block[k]].first].off, 0, RANK_FIRST, out.data);
		ws_buf_free(&out);
	}
	if (l->tests[l->n])
		put_round(l);
}

static void join(struct exits *e, uint32_t header, uint8_t *in)
{
	struct loop *l = ws_alloc(sizeof *l);

	l->e = e;
	l->header = header;
	l->node = ws_alloc((e->f->nblocks + 1) * sizeof *l->node);
	if (take_nodes(l, in)) {
		find_goes_on(l);
		find_after(l);
		find_meets(l);
		find_regions(l);
		note_ways_out(l);
		put_tests(l);
	}
	free(l->after);
	free(l->node);
	free(l);
}

static void put_ways(struct exits *e, uint32_t b)
{
	const struct ws_ptx_inst *last = last_of(e->f, b);
	const struct way *fall = &e->ways[b][0], *jump = &e->ways[b][1];
	const char *guard = last->guard ? last->guard->name : NULL, *neg = last->guard_neg ? "!" : "";
	struct ws_buf out = { 0 };

	if (jump->label && !guard) {
		if (jump->x)
			ws_buf_printf(&out, "setp.eq.u32 %s, 0, 0;\n\t", jump->x);
		ws_buf_printf(&out, "bra %s;", jump->label);
	} else if (jump->label) {
		if (jump->x)
			ws_buf_printf(&out, "%s.pred %s, %s;\n\t", last->guard_neg ? "not" : "mov", jump->x, guard);
		ws_buf_printf(&out, "@%s%s bra %s;", neg, guard, jump->label);
	}
	if (out.len)
		ws_ptx_edit(e->p->m, last->off, last->len, RANK_REPLACE, out.data);
	ws_buf_free(&out);
	if (!fall->label)
		return;
	if (fall->x)
		ws_buf_printf(&out, "\n\tsetp.eq.u32 %s, 0, 0;", fall->x);
	ws_buf_printf(&out, "\n\tbra %s;", fall->label);
	if (e->labels[e->next[b][0]])
		ws_buf_printf(&out, "\n%s:", e->labels[e->next[b][0]]);
	ws_ptx_edit(e->p->m, last->off + last->len, 0, RANK_AFTER, out.data);
	ws_buf_free(&out);
}

void ws_exits_join(struct ws_pass *p, struct ws_ptx_func *f, size_t edits)
{
	struct exits e = { .p = p, .f = f };
	uint8_t *in;

	ws_ptx_cfg(f);
	if (f->nblocks > MOST_BLOCKS)
		return;
	e.checked = ws_alloc(f->nblocks + 1);
	e.loops = ws_alloc((f->nblocks + 1) * sizeof *e.loops);
	e.round = ws_alloc((f->nblocks + 1) * sizeof *e.round);
	e.loop = ws_alloc((f->nblocks + 1) * sizeof *e.loop);
	e.next = ws_alloc((f->nblocks + 1) * sizeof *e.next);
	e.ways = ws_alloc((f->nblocks + 1) * sizeof *e.ways);
	e.labels = ws_alloc((f->nblocks + 1) * sizeof *e.labels);
	in = ws_alloc(f->nblocks + 1);
	find_next(&e);
	if (find_checked(&e, edits))
		find_loops(&e);
	for (uint32_t k = 0; k < e.nloops; k++)
		join(&e, e.loops[k].header, in);
	for (uint32_t b = 0; b < f->nblocks; b++)
		put_ways(&e, b);
	free(e.checked);
	free(e.loops);
	free(e.round);
	free(e.loop);
	free(e.next);
	free(e.ways);
	free(e.labels);
	free(in);
}

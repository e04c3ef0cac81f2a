/* history_words.c - what is wrong with a history, in words; see history_words.h. */
#include "detect/history_words.h"

#include <stdlib.h>
#include <string.h>

#include "report/report.h"

static void add_line(const struct ws_history_words *t, struct ws_buf *b, const void *site, bool marker)
{
	if (!site)
		ws_buf_puts(b, "the end of its section");
	else if (t->line)
		t->line(t->user, site, marker, b);
	else
		ws_buf_puts(b, site);
}

/* Where a linear index is among so many. */
static void split(uint64_t linear, const uint32_t dim[3], uint32_t at[3])
{
	at[0] = (uint32_t)(linear % dim[0]);
	at[1] = (uint32_t)(linear / dim[0] % dim[1]);
	at[2] = (uint32_t)(linear / dim[0] / dim[1]);
}

static void add_node(const struct ws_history_words *t, struct ws_buf *b, size_t number, const struct ws_history_node *n)
{
	uint32_t thread[3], block[3];

	split(n->who.thread, t->block, thread);
	split(n->who.block, t->grid, block);
	ws_buf_printf(b, "\n    T%zu  thread (%u,%u,%u) of block (%u,%u,%u), ", number + 1, thread[0], thread[1], thread[2], block[0],
	              block[1], block[2]);
	ws_buf_puts(b, !n->begin ? "an access outside of sections" : n->undone ? "an attempt, undone later, at the section at " : "the section at ");
	if (n->begin)
		add_line(t, b, n->begin, true);
}

static void add_memory(const struct ws_history_words *t, struct ws_buf *b, uint64_t at, uint32_t bytes)
{
	t->memory(t->user, at, bytes, b);
}

/* The number of a node among the steps' first ones; the last step leads back to the first node. */
static void add_step(const struct ws_history_words *t, struct ws_buf *b, const struct ws_history_step *s, size_t from, size_t to)
{
	static const char *const first[] = { "writes", "writes", "reads" };
	static const char *const second[] = { "reads what it wrote", "writes there after it", "writes there after it" };

	ws_buf_printf(b, "\n    T%zu before T%zu: T%zu %s ", from + 1, to + 1, from + 1, first[s->kind]);
	add_memory(t, b, s->at, s->bytes);
	ws_buf_puts(b, " at ");
	add_line(t, b, s->first, false);
	ws_buf_printf(b, ", T%zu %s at ", to + 1, second[s->kind]);
	add_line(t, b, s->second, false);
}

static void add_cycle(const struct ws_history_words *t, struct ws_buf *b, const struct ws_history_finding *f)
{
	ws_buf_puts(b, "no order of these transactions, one after the other, explains what they read and wrote");
	for (size_t k = 0; k < f->n; k++)
		add_node(t, b, k, f->steps[k].from);
	for (size_t k = 0; k < f->n; k++)
		add_step(t, b, &f->steps[k], k, (k + 1) % f->n);
}

static void add_single(const struct ws_history_words *t, struct ws_buf *b, const struct ws_history_finding *f)
{
	const struct ws_history_step *s = f->steps;

	ws_buf_puts(b, f->kind == WS_HISTORY_NOT_OWN ? "a transaction has read something else than it had written there itself"
	               : f->kind == WS_HISTORY_LOST ? "what a transaction wrote is not there at the end: it was overwritten with what was there before"
	               : !s->to	                  ? "what an attempt that was undone wrote is there at the end"
	               : f->kind == WS_HISTORY_HALF ? "a value was read before the transaction that wrote it had written its last one there"
	                                            : "a value was read that was undone later");
	add_node(t, b, 0, s->from);
	if (s->to)
		add_node(t, b, 1, s->to);
	ws_buf_puts(b, "\n    T1 writes ");
	add_memory(t, b, s->at, s->bytes);
	ws_buf_puts(b, " at ");
	add_line(t, b, s->first, false);
	if (s->to) {
		ws_buf_puts(b, ", T2 reads it at ");
		add_line(t, b, s->second, false);
	} else if (f->kind == WS_HISTORY_NOT_OWN) {
		ws_buf_puts(b, ", and reads at ");
		add_line(t, b, s->second, false);
	}
}

/* What is counted together: the kind and the lines. */
static void add_key(const struct ws_history_words *t, struct ws_buf *b, const struct ws_history_finding *f)
{
	ws_buf_printf(b, "%s %s", f->kind == WS_HISTORY_CYCLE ? "cycle" : f->kind == WS_HISTORY_UNDONE ? "undone" :
	              f->kind == WS_HISTORY_HALF ? "half" : f->kind == WS_HISTORY_NOT_OWN ? "own" : "lost", t->kernel);
	for (size_t k = 0; k < f->n; k++) {
		ws_buf_printf(b, " %d ", f->steps[k].kind);
		add_line(t, b, f->steps[k].first, false);
		ws_buf_puts(b, ",");
		add_line(t, b, f->steps[k].second, false);
	}
}

/* A cycle has no first one: the step that comes first by its lines is told first, so that the same cycle is counted once. */
static void turn(const struct ws_history_words *t, struct ws_history_step *steps, size_t n)
{
	struct ws_history_step *all = ws_alloc(2 * n * sizeof *all);
	struct ws_buf best = { 0 };
	size_t first = 0;

	memcpy(all, steps, n * sizeof *all);
	memcpy(all + n, steps, n * sizeof *all);
	for (size_t k = 0; k < n; k++) {
		struct ws_buf b = { 0 };

		add_key(t, &b, &(struct ws_history_finding){ WS_HISTORY_CYCLE, all + k, n });
		if (!k || strcmp(b.data, best.data) < 0) {
			struct ws_buf other = best;

			best = b;
			b = other;
			first = k;
		}
		ws_buf_free(&b);
	}
	memcpy(steps, all + first, n * sizeof *all);
	ws_buf_free(&best);
	free(all);
}

void ws_history_found(void *words, const struct ws_history_finding *f)
{
	struct ws_history_words *t = words;
	struct ws_history_step *steps = ws_alloc(f->n * sizeof *steps);
	struct ws_history_finding turned = { f->kind, steps, f->n };
	struct ws_buf key = { 0 }, text = { 0 };

	memcpy(steps, f->steps, f->n * sizeof *steps);
	if (f->kind == WS_HISTORY_CYCLE)
		turn(t, steps, f->n);
	add_key(t, &key, &turned);
	(f->kind == WS_HISTORY_CYCLE ? add_cycle : add_single)(t, &text, &turned);
	ws_buf_printf(&text, "\n    in launch %llu, of '%s'", (unsigned long long)t->launch, t->kernel);
	ws_report_violation(t->report, &(struct ws_violation_row){ key.data, text.data, 1 });
	t->sum->violations++;
	ws_buf_free(&key);
	ws_buf_free(&text);
	free(steps);
}

/* ---- all launches ---- */
void ws_history_judge(struct ws_history *h, bool completed, struct ws_history_words *words)
{
	struct ws_history_total *t = words->sum;
	struct ws_history_sum sum;

	ws_history_check(h, completed, ws_history_found, words, &sum);
	ws_history_clear(h);
	t->sum.committed += sum.committed;
	t->sum.undone += sum.undone;
	t->sum.plain += sum.plain;
	t->sum.full |= sum.full;
	t->launches += sum.committed || sum.undone || sum.full;
}

void ws_history_total_add(const struct ws_history_total *t, bool opacity, struct ws_buf *b)
{
	if (!t->launches)
		return;
	ws_buf_puts(b, "warpsafe: history of ");
	ws_buf_add_count(b, t->sum.committed);
	ws_buf_puts(b, t->sum.committed == 1 ? " transaction" : " transactions");
	if (opacity) {
		ws_buf_puts(b, " and ");
		ws_buf_add_count(b, t->sum.undone);
		ws_buf_puts(b, " attempts that were undone");
	}
	ws_buf_puts(b, t->violations ? ": wrong" : ": an order explains it");
	if (t->doubts) {
		ws_buf_puts(b, "; ");
		ws_buf_add_count(b, t->doubts);
		ws_buf_puts(b, t->doubts == 1 ? " read met a write under way and was not judged" : " reads met a write under way and were not judged");
	}
	if (t->sum.full)
		ws_buf_puts(b, "; the record was full in at least one launch, and what came behind was not checked");
	ws_buf_puts(b, "\n");
}

/* check_history.c - histories of the marked sections of a program; see check_history.h and detect/history.h.
 *
 * Code that the pass tm has inserted tells of itself by stores to a variable (device/tm.h): the begin of an attempt, each access of
 * the section, and how the attempt has ended. What lies between is what the engine does, and of that the loads and stores of the
 * program's memory count. All other accesses of the program are outside of sections.
 *
 * A launch is a history of its own: the one before it has ended, and left all in memory. */
#include "cuda/check_history.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/instrument.h"
#include "cuda/transact.h"
#include "detect/history.h"

/* A write of a section that waits for its end (deferred update): where it is in the source. */
struct intent { uint64_t at; uint32_t bytes; const struct ws_site *site; };

struct lane {
	struct ws_history_attempt *attempt;
	bool inside, ending;
	enum ws_tm_event access;         /* READ, WRITE; else the section is at none */
	uint64_t at;
	uint32_t bytes;
	const struct ws_site *site;
	struct intent *intents;
	size_t n, cap;
};

struct checker {
	struct ws_session *session;
	struct ws_history *history;
	struct ws_obs_launch *launch;    /* the one under way */
	bool deferred;                   /* its engine writes at the end */
	struct ws_history_sum sum;       /* of all launches */
	uint64_t launches, violations;
};

static struct checker checker;

/* Shared memory lies above all addresses of global memory, each block's by itself. */
#define SHARED_KEYS (UINT64_C(1) << 63)
enum { BLOCK_SHIFT = 28, GENERIC_SHARED_BIT = 48 };

static uint64_t shared_key(const struct ws_obs_block *b, uint64_t offset)
{
	return SHARED_KEYS | b->linear << BLOCK_SHIFT | offset;
}

/* ---- what the inserted code tells ---- */
static void note_access(struct lane *l, const struct ws_obs_warp *w, enum ws_tm_event kind, uint64_t event, const struct ws_site *site)
{
	uint64_t at = event & ((UINT64_C(1) << (GENERIC_SHARED_BIT + 1)) - 1);

	if (at >> GENERIC_SHARED_BIT)
		at = shared_key(w->block, at & ((UINT64_C(1) << BLOCK_SHIFT) - 1));
	l->access = kind;
	l->at = at;
	l->bytes = (uint32_t)(event >> WS_TM_EVENT_BYTES_AT & 0x3f);
	l->site = site;
	if (kind == WS_TM_EVENT_WRITE && checker.deferred)
		*WS_PUSH(l->intents, l->n, l->cap) = (struct intent){ at, l->bytes, site };
}

static void take_event(const struct ws_obs_warp *w, struct lane *l, unsigned lane, uint64_t event, const struct ws_site *site)
{
	enum ws_tm_event kind = (enum ws_tm_event)(event >> WS_TM_EVENT_KIND_AT);

	switch (kind) {
	case WS_TM_EVENT_START:
		l->attempt = ws_history_start(checker.history, (struct ws_history_who){ w->block->linear, w->index * WS_WARP + lane }, site);
		l->inside = true;
		l->ending = false;
		l->n = 0;
		break;
	case WS_TM_EVENT_READ: case WS_TM_EVENT_WRITE:
		note_access(l, w, kind, event, site);
		break;
	case WS_TM_EVENT_DONE:
		ws_history_keep(l->attempt);
		l->access = WS_TM_EVENT_NONE;
		break;
	case WS_TM_EVENT_ENDING:
		ws_history_drop(l->attempt);
		l->access = WS_TM_EVENT_NONE;
		l->ending = true;
		break;
	case WS_TM_EVENT_ENDED:
		ws_history_end(checker.history, l->attempt, (uint32_t)event == WS_TM_STATE_COMMITTED);
		l->attempt = NULL;
		l->inside = false;
		break;
	default:
		break;
	}
}

static void take_events(const struct ws_obs_warp *w, const struct ws_access *a)
{
	for (unsigned l = 0; l < WS_WARP; l++)
		if (a->mask >> l & 1) {
			uint64_t event;

			memcpy(&event, (const char *)a->value + l * sizeof event, sizeof event);
			take_event(w, (struct lane *)w->state + l, l, event, a->site);
		}
}

/* ---- accesses ---- */
/* Whether the runtime's memory holds the program's data there: a block of the pool. */
static bool is_pool_data(const struct ws_mem *m, uint64_t addr)
{
	uint64_t units = m->size > sizeof(struct ws_tm_pool) ? (m->size - sizeof(struct ws_tm_pool)) / (WS_TM_UNIT + 4) : 0;

	if (!m->name || strcmp(m->name, WS_TM_POOL) != 0)
		return false;
	while (units && WS_TM_POOL_BYTES(units) > m->size)
		units--;
	return units && addr >= m->addr + m->size - WS_TM_UNIT * units;
}

static bool is_runtime(const struct ws_site *s)
{
	static const char ours[] = "__warpsafe_tm_", second_body[] = "__warpsafe_tm_of_";

	return strncmp(s->func->name, ours, sizeof ours - 1) == 0 && strncmp(s->func->name, second_body, sizeof second_body - 1) != 0;
}

static const struct ws_site *site_of_write(const struct lane *l, uint64_t at)
{
	for (size_t k = l->n; k--;)
		if (at - l->intents[k].at < l->intents[k].bytes)
			return l->intents[k].site;
	return NULL;
}

/* A load or store of an engine. */
static void take_engine(struct lane *l, const struct ws_access *a, const struct ws_history_word *w)
{
	struct ws_history *h = checker.history;

	if (!l->inside || (a->kind == WS_READ && l->access == WS_TM_EVENT_WRITE))     /* what an undo would put back */
		return;
	if (a->kind == WS_READ)
		ws_history_load(h, l->attempt, w, l->site, l->access == WS_TM_EVENT_READ && w->at - l->at < l->bytes);
	else if (l->ending && !checker.deferred)
		ws_history_undo(h, l->attempt, w);
	else
		ws_history_store(h, l->attempt, w, l->ending ? site_of_write(l, w->at) : l->site);
}

/* What is in memory; an engine's word has at most 8 bytes. */
static uint64_t value_at(const uint8_t *bytes, uint32_t n)
{
	uint64_t value = 0;

	memcpy(&value, bytes, n <= sizeof value ? n : sizeof value);
	return value;
}

static void take_lane(struct ws_obs_warp *w, const struct ws_access *a, unsigned lane, bool engine)
{
	uint64_t addr = a->linear ? a->base + (uint64_t)lane * a->bytes : a->addr[lane];
	bool shared = a->space == WS_SPACE_SHARED;
	const struct ws_mem *m = shared ? NULL : a->mem ? a->mem : ws_gpu_mem_find(checker.session->gpu, addr);
	const struct ws_obs_block *block = a->peer ? a->peer : w->block;
	struct ws_history_word word = { .at = shared ? shared_key(block, addr) : addr, .bytes = a->bytes };

	if (!shared && (!m || (m->inserted && !is_pool_data(m, addr))))
		return;
	if (!engine) {
		ws_history_plain(checker.history, (struct ws_history_who){ w->block->linear, w->index * WS_WARP + lane }, word.at, a->bytes,
		                 a->kind != WS_WRITE, a->kind == WS_WRITE || (a->kind == WS_ATOMIC && a->wrote >> lane & 1), a->site);
		return;
	}
	if (a->kind == WS_ATOMIC || a->bytes > 8)
		return;
	word.value = value_at(shared ? block->shared + addr : m->host + (addr - m->addr), a->bytes);
	take_engine((struct lane *)w->state + lane, a, &word);
}

static void on_access(void *self, struct ws_obs_warp *w, const struct ws_access *a)
{
	bool engine = is_runtime(a->site);

	(void)self;
	if (a->space == WS_SPACE_GLOBAL && a->mem && a->mem->inserted && a->kind == WS_WRITE && !engine &&
	    strcmp(a->mem->name, WS_TM_EVENT_WORD) == 0) {
		take_events(w, a);
		return;
	}
	for (unsigned l = 0; l < WS_WARP; l++)
		if (a->mask >> l & 1)
			take_lane(w, a, l, engine);
}

static void on_warp_begin(void *self, struct ws_obs_warp *w)
{
	(void)self;
	w->state = ws_alloc(WS_WARP * sizeof(struct lane));
}

static void on_warp_end(void *self, struct ws_obs_warp *w)
{
	struct lane *lanes = w->state;

	(void)self;
	for (unsigned l = 0; lanes && l < WS_WARP; l++)
		free(lanes[l].intents);
	free(lanes);
	w->state = NULL;
}

/* ---- words ---- */
static void add_line(struct ws_buf *b, const struct ws_site *s, bool marker)
{
	struct ws_ptx_place p = { 0 };

	if (!s) {
		ws_buf_puts(b, "the end of its section");
		return;
	}
	ws_ptx_place(s->func, s->inst, &p);
	if (marker && p.inlined_file)
		ws_buf_printf(b, "%s:%u", p.inlined_file, p.inlined_line);
	else if (marker && ws_tm_marker_place(s->func, s->inst, &p))
		ws_buf_printf(b, "%s:%u", p.file, p.line);
	else if (p.file)
		ws_buf_printf(b, "%s:%u", p.file, p.line);
	else
		ws_ptx_where(s->func->module, s->inst, b);
}

static void add_node(struct ws_buf *b, size_t number, const struct ws_history_node *n)
{
	struct ws_race_access a = { 0 };

	ws_detect_thread(&a, checker.launch, n->who.block, n->who.thread);
	ws_buf_printf(b, "\n    T%zu  thread (%u,%u,%u) of block (%u,%u,%u), ", number + 1, a.thread[0], a.thread[1], a.thread[2], a.block[0],
	              a.block[1], a.block[2]);
	ws_buf_puts(b, !n->begin ? "an access outside of sections" : n->undone ? "an attempt, undone later, at the section at " : "the section at ");
	if (n->begin)
		add_line(b, n->begin, true);
}

static void add_memory(struct ws_buf *b, uint64_t at, uint32_t bytes)
{
	const struct ws_mem *m = NULL;
	uint64_t start = at;
	const char *name = NULL;
	uint32_t from;

	if (at & SHARED_KEYS) {
		start = at &= (UINT64_C(1) << BLOCK_SHIFT) - 1;
		name = ws_gpu_shared_var(checker.launch->kernel, (uint32_t)at, &from);
		at -= name ? from : 0;
	} else if ((m = ws_gpu_mem_find(checker.session->gpu, at))) {
		at -= m->addr;
	}
	ws_buf_printf(b, "bytes %llu..%llu of ", (unsigned long long)at, (unsigned long long)(at + bytes - 1));
	if (name)
		ws_buf_printf(b, "'%s' in shared memory", name);
	else if (m || start == at)
		m ? ws_detect_location(m, b) : ws_buf_puts(b, "memory");
}

/* The number of a node among the steps' first ones; the last step leads back to the first node. */
static void add_step(struct ws_buf *b, const struct ws_history_step *s, size_t from, size_t to)
{
	static const char *const first[] = { "writes", "writes", "reads" };
	static const char *const second[] = { "reads what it wrote", "writes there after it", "writes there after it" };

	ws_buf_printf(b, "\n    T%zu before T%zu: T%zu %s ", from + 1, to + 1, from + 1, first[s->kind]);
	add_memory(b, s->at, s->bytes);
	ws_buf_puts(b, " at ");
	add_line(b, s->first, false);
	ws_buf_printf(b, ", T%zu %s at ", to + 1, second[s->kind]);
	add_line(b, s->second, false);
}

static void add_cycle(struct ws_buf *b, const struct ws_history_finding *f)
{
	ws_buf_puts(b, "no order of these transactions, one after the other, explains what they read and wrote");
	for (size_t k = 0; k < f->n; k++)
		add_node(b, k, f->steps[k].from);
	for (size_t k = 0; k < f->n; k++)
		add_step(b, &f->steps[k], k, (k + 1) % f->n);
}

static void add_single(struct ws_buf *b, const struct ws_history_finding *f)
{
	const struct ws_history_step *s = f->steps;

	ws_buf_puts(b, f->kind == WS_HISTORY_LOST ? "what a transaction wrote is not there at the end: it was overwritten with what was there before"
	               : !s->to	                  ? "what an attempt that was undone wrote is there at the end"
	               : f->kind == WS_HISTORY_HALF ? "a value was read before the transaction that wrote it had written its last one there"
	                                            : "a value was read that was undone later");
	add_node(b, 0, s->from);
	if (s->to)
		add_node(b, 1, s->to);
	ws_buf_puts(b, "\n    T1 writes ");
	add_memory(b, s->at, s->bytes);
	ws_buf_puts(b, " at ");
	add_line(b, s->first, false);
	if (s->to) {
		ws_buf_puts(b, ", T2 reads it at ");
		add_line(b, s->second, false);
	}
}

/* What is counted together: the kind and the lines. */
static void add_key(struct ws_buf *b, const struct ws_history_finding *f)
{
	ws_buf_printf(b, "%s %s", f->kind == WS_HISTORY_CYCLE ? "cycle" : f->kind == WS_HISTORY_UNDONE ? "undone" :
	              f->kind == WS_HISTORY_HALF ? "half" : "lost", checker.launch->name);
	for (size_t k = 0; k < f->n; k++) {
		ws_buf_printf(b, " %d ", f->steps[k].kind);
		add_line(b, f->steps[k].first, false);
		ws_buf_puts(b, ",");
		add_line(b, f->steps[k].second, false);
	}
}

/* A cycle has no first one: the step that comes first by its lines is told first, so that the same cycle is counted once. */
static void turn(struct ws_history_step *steps, size_t n)
{
	struct ws_history_step *all = ws_alloc(2 * n * sizeof *all);
	struct ws_buf best = { 0 };
	size_t first = 0;

	memcpy(all, steps, n * sizeof *all);
	memcpy(all + n, steps, n * sizeof *all);
	for (size_t k = 0; k < n; k++) {
		struct ws_buf b = { 0 };

		add_key(&b, &(struct ws_history_finding){ WS_HISTORY_CYCLE, all + k, n });
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

static void on_found(void *user, const struct ws_history_finding *f)
{
	struct ws_history_step *steps = ws_alloc(f->n * sizeof *steps);
	struct ws_history_finding turned = { f->kind, steps, f->n };
	struct ws_buf key = { 0 }, text = { 0 };

	(void)user;
	memcpy(steps, f->steps, f->n * sizeof *steps);
	if (f->kind == WS_HISTORY_CYCLE)
		turn(steps, f->n);
	add_key(&key, &turned);
	(f->kind == WS_HISTORY_CYCLE ? add_cycle : add_single)(&text, &turned);
	ws_buf_printf(&text, "\n    in launch %llu, of '%s'", (unsigned long long)checker.launch->serial, checker.launch->name);
	ws_report_violation(checker.session->report, &(struct ws_violation_row){ key.data, text.data, 1 });
	checker.violations++;
	ws_buf_free(&key);
	ws_buf_free(&text);
	free(steps);
}

/* ---- launches ---- */
static void on_launch_begin(void *self, struct ws_obs_launch *l)
{
	ws_instrument_observer.launch_begin(self, l);
	checker.launch = l;
	checker.deferred = ws_transact_engine() >= WS_TM_HSTM;
}

static void on_launch_end(void *self, struct ws_obs_launch *l, bool completed)
{
	struct ws_history_sum sum;

	checker.launch = l;
	ws_history_check(checker.history, completed, on_found, NULL, &sum);
	ws_history_clear(checker.history);
	checker.sum.committed += sum.committed;
	checker.sum.undone += sum.undone;
	checker.sum.plain += sum.plain;
	checker.sum.full |= sum.full;
	checker.launches += sum.committed || sum.undone;
	ws_instrument_observer.launch_end(self, l, completed);
}

static void tell(void)
{
	struct ws_buf b = { 0 };

	if (!ws_session_if_any() || !checker.launches)
		return;
	ws_buf_puts(&b, "history of ");
	ws_buf_add_count(&b, checker.sum.committed);
	ws_buf_puts(&b, checker.sum.committed == 1 ? " transaction" : " transactions");
	if (checker.session->options.tm_opacity) {
		ws_buf_puts(&b, " and ");
		ws_buf_add_count(&b, checker.sum.undone);
		ws_buf_puts(&b, " attempts that were undone");
	}
	ws_buf_puts(&b, checker.violations ? ": wrong" : ": an order explains it");
	if (checker.sum.full)
		ws_buf_puts(&b, "; the record was full in at least one launch, and what came behind was not checked");
	fflush(stdout);
	fprintf(stderr, "warpsafe: %s\n", b.data);
	ws_buf_free(&b);
}

static const struct ws_observer_ops ops = {
	.abi = WS_OBSERVER_ABI,
	.name = "history",
	.help = "what marked sections read and write",
	.needs = WS_NEED_GLOBAL | WS_NEED_SHARED | WS_NEED_VALUES,
	.launch_begin = on_launch_begin,
	.launch_end = on_launch_end,
	.warp_begin = on_warp_begin,
	.warp_end = on_warp_end,
	.access = on_access,
};

bool ws_check_history_wanted(const struct ws_options *o) { return strcmp(o->tm_check, "history") == 0; }

void ws_check_history_start(struct ws_session *s, struct ws_gpu_config *c)
{
	enum { MOST = 1 << 24 };

	checker = (struct checker){ .session = s, .history = ws_history_new(s->options.tm_opacity, MOST) };
	c->observer = &ops;
	c->host_threads = 1;
	atexit(tell);
}

/* tm.c - the pass `tm`: marked sections (include/warpsafe/atomic.h) become transactions of src/device/tm.cu.
 *
 * A section becomes a loop of rounds, and all lanes of a warp that are in a round come together at its end:
 *
 *             save the registers that the section changes; enter
 *     retry:  get them back; is this round an attempt? no: to join
 *             ... the section; an access that loses its attempt jumps to lost ...
 *             end; remember which end; to join
 *     lost:   end (undoes)
 *     join:   is there one more round? yes: to retry; no: to what is behind the end that was reached
 *
 * That is the loop of WS_TX (tm.cuh). No lane waits for another one inside a round, and join post-dominates every
 * instruction of the section: under the stack model (lanes wait at post-dominators) a lane with locations of its own
 * never waits for one that wants them.
 *
 * Functions that a section calls have a second body, with the transaction as one more parameter: it returns at once
 * when the attempt is lost, and so does whoever called it.
 *
 * A section within a section, or in such a second body, is a part that can be undone alone:
 *
 *             save the registers that the part changes; note where the log is
 *     retry:  get them back
 *             ... the part; what loses jumps to lost ...
 *             end: it is as any other code of the section from now on
 *     lost:   undo, or not? all is lost: to the lost of what is around
 *             again: to retry; the program has undone it (ws_tx_abort): to retry, where the begin now returns that
 *
 * It is tried again so often at most, so no lane waits there either. Alternatives are the same, with another reason to be undone
 * (ws_tx_retry): the first one is, once, and then the begin returns that the second one is to be run. An outermost section that the
 * program undoes is run once more, from a begin that returns that. So what comes behind a section that is undone has registers as they were
 * before it, and no way of the program is taken that its compiler did not know.
 *
 * The tables are variables of the module, so that a rewritten program needs no host. */
#include "rewrite/tm.h"
#include "device/tm.h"
#include "rewrite/tm_choice.h"

#include <stdlib.h>
#include <string.h>

struct jump { uint32_t section; const char *label; };

struct clones {
	struct ws_ptx_func **list;       /* in the order in which calls of them were met */
	size_t n, cap;
};

struct tm {
	struct ws_pass *p;
	bool clusters;                   /* ws_tm_body */
	struct clones clones;
};

struct section {
	const char *lost, *join;         /* labels */
	const char *begin, *end;         /* registers: which begin it was, and which end */
	const char *answer;              /* what the begin returns; NULL: always 0, that the section is to be run */
	const char *from, *tries;        /* a part: entries of the log before it, and how often it was tried in vain */
	bool reads;
};

struct function {                        /* that has sections */
	struct tm *tm;
	bool second;                     /* the body that is called in sections: all of its own are parts */
	const char *outside;             /* label: where an attempt goes that has lost outside of these */
	struct ws_tm_body body;
	struct ws_tm_flow flow;
	struct section *sections;
	struct jump *begins, *ends;
	size_t nbegins, nends, begins_cap, ends_cap;
};

struct ws_tm_settings ws_tm_settings_default(void)
{
	return (struct ws_tm_settings){ .engine = WS_TM_PSTM, .granularity = 4, .entries = 1u << 20, .patience = 128,
	                                .heap = 4 << 20, .pool = 8 << 20 };
}

/* Where nobody sees all accesses, or if it is asked for. */
static bool wants_log(const struct ws_options *o)
{
	return strcmp(o->tm_check, "log") == 0 || (strcmp(o->tm_check, "history") == 0 && strcmp(o->gpu, "real") == 0);
}

struct ws_tm_settings ws_tm_settings_of(const struct ws_options *o)
{
	bool log = wants_log(o);
	struct ws_tm_settings s = { .granularity = o->tm_granule, .entries = o->tm_table, .patience = o->tm_patience, .heap = o->tm_heap,
	                            .pool = o->tm_pool, .history = !log && strcmp(o->tm_check, "history") == 0, .log = log ? o->tm_log : 0 };

	s.automatic = strcmp(o->tm_engine, "auto") == 0;
	while (!s.automatic && s.engine + 1 < WS_TM_ENGINES && strcmp(ws_tm_engine_name(s.engine), o->tm_engine))
		s.engine++;
	return s;
}

/* ---- messages and calls ---- */
/* A marker's own line is one of atomic.h. If the compiler does not tell where it was inlined: the line of an instruction near it that is
 * not from there. */
bool ws_tm_marker_place(const struct ws_ptx_func *f, const struct ws_ptx_inst *i, struct ws_ptx_place *place)
{
	enum { NEAR = 16 };
	struct ws_ptx_place other;

	for (uint32_t k = 1; place->file && k <= 2 * NEAR; k++) {
		uint32_t at = k % 2 ? i->index + (k + 1) / 2 : i->index - k / 2;

		if (at >= f->ninsts)
			continue;
		ws_ptx_place(f, &f->insts[at], &other);
		if (other.file && strcmp(other.file, place->file)) {
			*place = other;
			return true;
		}
	}
	return false;
}

static void place_marker(const struct ws_ptx_func *f, const struct ws_ptx_inst *i, struct ws_ptx_place *place)
{
	if (place->inlined_file) {
		place->file = place->inlined_file;
		place->line = place->inlined_line;
	} else {
		ws_tm_marker_place(f, i, place);
	}
}

bool ws_tm_refuse(struct ws_pass *p, const struct ws_ptx_func *f, const struct ws_ptx_inst *i, const char *fmt, ...)
{
	struct ws_ptx_place place = { 0 };
	struct ws_buf text = { 0 };
	struct ws_diag d = { .severity = WS_ERROR, .place = { .path = p->m->path, .line = i ? i->line : f->line } };
	va_list ap;

	if (i)
		ws_ptx_place(f, i, &place);
	if (place.file && ws_tm_mark_of(i) != WS_TM_NO_MARK)
		place_marker(f, i, &place);
	if (place.file)
		d.place = (struct ws_place){ .path = place.file, .line = place.line };
	va_start(ap, fmt);
	ws_buf_vprintf(&text, fmt, ap);
	va_end(ap);
	d.text = text.data;
	p->failed = true;
	if (p->sink && p->sink->emit)
		p->sink->emit(p->sink->user, &d);
	ws_buf_free(&text);
	return false;
}

bool ws_tm_call(struct ws_tm_body *b, struct ws_code *c, const char *function, const char *types,
		const char *const *args, const char *result)
{
	static const char *const lists[] = { "()", "(__warpsafe_a0)", "(__warpsafe_a0, __warpsafe_a1)",
		                             "(__warpsafe_a0, __warpsafe_a1, __warpsafe_a2)" };
	unsigned n = (unsigned)strlen(types);

	ws_code_add(c, "{");
	for (unsigned k = 0; k < n; k++) {
		ws_code_add(c, ".param .b%u __warpsafe_a%u;", types[k] == 'l' ? 64 : 32, k);
		ws_code_add(c, "st.param.b%u [__warpsafe_a%u], %s;", types[k] == 'l' ? 64 : 32, k, args[k]);
	}
	if (result)
		ws_code_add(c, ".param .b32 __warpsafe_r;");
	ws_code_add(c, "call %s%s, %s;", result ? "(__warpsafe_r), " : "", function, lists[n]);
	if (result)
		ws_code_add(c, "ld.param.b32 %s, [__warpsafe_r];", result);
	ws_code_add(c, "}");
	return !b->p->failed;
}

void ws_tm_line(const struct ws_ptx_func *f, const struct ws_ptx_inst *i, bool marker, struct ws_buf *b)
{
	struct ws_ptx_place p = { 0 };

	ws_ptx_place(f, i, &p);
	if (marker && p.inlined_file)
		ws_buf_printf(b, "%s:%u", p.inlined_file, p.inlined_line);
	else if (!p.file)
		ws_ptx_where(f->module, i, b);
	else {
		if (marker)
			ws_tm_marker_place(f, i, &p);
		ws_buf_printf(b, "%s:%u", p.file, p.line);
	}
}

/* The number of a place of the program, for the host to find its line by. Number 0 is none. */
static size_t number_of(struct ws_tm_body *b, const struct ws_ptx_inst *i, bool marker)
{
	struct ws_rw_result *r = ws_rw_result_of(b->p);
	struct ws_buf line = { 0 };

	if (!i)
		return 0;
	ws_tm_line(b->f, i, marker, &line);
	if (!r->ntm_places || strcmp(r->tm_places[r->ntm_places - 1], line.data))
		*WS_PUSH(r->tm_places, r->ntm_places, r->tm_places_cap) = ws_arena_strndup(b->p->m->arena, line.data, line.len);
	ws_buf_free(&line);
	return r->ntm_places + b->p->tm->first_place;
}

static void tell_log(struct ws_tm_body *b, struct ws_code *c, unsigned kind, uint32_t bytes, const char *at)
{
	char event[24], site[12];
	const char *args[] = { event, at ? at : "0", site };

	snprintf(event, sizeof event, "%llu", WS_TM_EVENT(kind, bytes));
	snprintf(site, sizeof site, "%zu", number_of(b, c->inst, kind == WS_TM_EVENT_START || kind == WS_TM_EVENT_PART));
	ws_tm_call(b, c, "__warpsafe_tm_tell", "llu", args, NULL);
}

void ws_tm_tell(struct ws_tm_body *b, struct ws_code *c, unsigned kind, uint32_t bytes, const char *at)
{
	const char *event;

	if (b->p->tm && b->p->tm->log)
		tell_log(b, c, kind, bytes, at);
	if (!b->p->tm || !b->p->tm->history)
		return;
	event = ws_code_temp(c, WS_B64);
	ws_code_add(c, "mov.u64 %s, %llu;", event, WS_TM_EVENT(kind, bytes));
	if (at)
		ws_code_add(c, "or.b64 %s, %s, %s;", event, event, at);
	ws_code_add(c, "st.volatile.global.u64 [" WS_TM_EVENT_WORD "], %s;", event);
}

void ws_tm_tell_value(struct ws_tm_body *b, struct ws_code *c, uint32_t bytes)
{
	for (uint32_t done = 0; done < bytes && b->p->tm && (b->p->tm->log || b->p->tm->history); done += 8) {
		const char *value = ws_code_temp(c, WS_B64);

		ws_code_add(c, "ld.u64 %s, [%s+%u];", value, b->thread, WS_TM_VALUE_AT + done);
		if (b->p->tm->log)
			tell_log(b, c, WS_TM_EVENT_VALUE, 0, value);
		else
			ws_code_add(c, "st.volatile.global.u64 [" WS_TM_VALUE_WORD "], %s;", value);
	}
}

/* The end of an attempt, with how it has ended. */
static bool end_attempt(struct ws_tm_body *b, struct ws_code *c)
{
	const char *state;
	bool good;

	ws_tm_tell(b, c, WS_TM_EVENT_ENDING, 0, NULL);
	good = ws_tm_call(b, c, "__warpsafe_tm_end", "l", &b->thread, NULL);
	if (b->p->tm && (b->p->tm->history || b->p->tm->log)) {
		state = ws_code_temp(c, WS_B64);
		ws_code_add(c, "ld.u32 %s, [%s+%d];", state, b->thread, WS_TM_STATE_AT);
		ws_tm_tell(b, c, WS_TM_EVENT_ENDED, 0, state);
	}
	return good;
}

void ws_tm_leave_if_lost(struct ws_tm_body *b, struct ws_code *c)
{
	const char *state = ws_code_temp(c, WS_B32), *lost = ws_code_temp(c, WS_PRED);

	ws_code_add(c, "ld.u32 %s, [%s+%d];", state, b->thread, WS_TM_STATE_AT);
	ws_code_add(c, "setp.ne.u32 %s, %s, %d;", lost, state, WS_TM_STATE_ACTIVE);
	ws_code_add(c, "@%s bra %s;", lost, b->lost);
}

/* With what only some modules need of the runtime. */
static bool call_rare(struct ws_tm_body *b, struct ws_code *c, const char *function, const char *types, const char *const *args,
                      const char *result)
{
	struct ws_ptx_edits *edits = b->p->m->edits;
	bool good;

	b->p->m->edits = b->whole;
	good = ws_rw_use(b->p, function);
	b->p->m->edits = edits;
	return good && ws_tm_call(b, c, function, types, args, result);
}

/* A call with the transaction alone. */
static bool call(struct ws_tm_body *b, struct ws_code *c, const char *function, const char *result)
{
	return ws_tm_call(b, c, function, "l", &b->thread, result);
}

/* ---- calls of the program's functions ---- */
static const char *clone_name(struct tm *tm, const struct ws_ptx_func *f)
{
	struct ws_buf b = { 0 };
	const char *name;

	ws_buf_printf(&b, "__warpsafe_tm_of_%s", f->name);
	name = ws_arena_strndup(tm->p->m->arena, b.data, b.len);
	ws_buf_free(&b);
	return name;
}

static void want_clone(struct tm *tm, struct ws_ptx_func *f)
{
	for (size_t k = 0; k < tm->clones.n; k++)
		if (tm->clones.list[k] == f)
			return;
	*WS_PUSH(tm->clones.list, tm->clones.n, tm->clones.cap) = f;
}

bool ws_tm_ends_program(const char *function)
{
	return strcmp(function, "__assertfail") == 0 || strcmp(function, "__assert_fail") == 0;
}

static bool is_memory(const struct ws_ptx_func *f)
{
	return f->declared_only && (strcmp(f->name, "malloc") == 0 || strcmp(f->name, "free") == 0);
}

/* One more argument, the transaction: behind the others, or as the only one. */
static void add_argument(struct ws_tm_body *b, struct ws_ptx_inst *i)
{
	struct ws_ptx_module *m = b->p->m;
	const struct ws_ptx_call *call = i->call;
	const struct ws_operand *last = call->nargs ? &call->args[call->nargs - 1] : call->target;
	uint32_t at = last->off + last->len, end = i->off + i->len;
	const char *bracket = call->nargs ? NULL : memchr(m->text + at, '(', end - at);
	struct ws_code *c = ws_code_at(b->p, b->f, i, WS_BEFORE);
	struct ws_buf text = { 0 };

	ws_code_add(c, ".param .b64 __warpsafe_t%u;", b->calls);
	ws_code_add(c, "st.param.b64 [__warpsafe_t%u], %s;", b->calls, b->thread);
	ws_code_end(c);
	ws_buf_printf(&text, bracket ? "__warpsafe_t%u" : call->nargs ? ", __warpsafe_t%u" : ", (__warpsafe_t%u)",
		      b->calls++);
	ws_ptx_edit(m, bracket ? (uint32_t)(bracket + 1 - m->text) : at, 0, RANK_AFTER, text.data);
	ws_buf_free(&text);
}

/* The last instruction of a call: those that take its results belong to it (PTX ISA 9.0, Abstracting the ABI). */
static struct ws_ptx_inst *end_of_call(struct ws_ptx_func *f, struct ws_ptx_inst *i)
{
	struct ws_ptx_inst *last = i;
	bool result = true;

	while (last + 1 < f->insts + f->ninsts && result) {
		const struct ws_ptx_inst *next = last + 1;

		result = false;
		for (uint32_t k = 0; next->op == WS_OP_ld && next->space == WS_SPACE_PARAM && k < i->call->nrets; k++)
			result |= next->nops > 1 && next->ops[1].sym && next->ops[1].sym == i->call->rets[k].sym;
		last += result;
	}
	return last;
}

/* malloc and free outside of sections, in a module that has some: one memory for both. */
static void replace_memory(struct ws_pass *p, const struct ws_ptx_inst *i)
{
	const struct ws_operand *to = i->call->target;

	if (to->kind == WS_O_SYM && to->sym->kind == WS_SYM_FUNC && is_memory(to->sym->func))
		ws_ptx_edit(p->m, to->off, to->len, RANK_REPLACE,
			    *to->sym->func->name == 'm' ? "__warpsafe_tm_malloc" : "__warpsafe_tm_free");
}

static bool section_call(struct tm *tm, struct ws_tm_body *b, struct ws_ptx_inst *i)
{
	const struct ws_operand *to = i->call->target;
	struct ws_ptx_func *f = to->kind == WS_O_SYM && to->sym->kind == WS_SYM_FUNC ? to->sym->func : NULL;
	struct ws_code *c;

	if (!f)
		return ws_tm_refuse(b->p, b->f, i, "a call by address cannot be in a marked section");
	if (f->declared_only && ws_tm_ends_program(f->name))
		return true;
	if (f->declared_only && strcmp(f->name, "vprintf") == 0)
		return ws_tm_refuse(b->p, b->f, i, "'printf' cannot be undone, so it cannot be in a marked section");
	if (f->declared_only && !is_memory(f))
		return ws_tm_refuse(b->p, b->f, i, "'%s' is not a function of this module, so it cannot be called in a "
				    "marked section", f->name);
	if (i->guard)
		return ws_tm_refuse(b->p, b->f, i, "a call under a guard cannot be in a marked section");
	if (is_memory(f)) {
		ws_ptx_edit(b->p->m, to->off, to->len, RANK_REPLACE,
			    *f->name == 'm' ? "__warpsafe_tm_malloc_in" : "__warpsafe_tm_free_in");
	} else {
		want_clone(tm, f);
		ws_ptx_edit(b->p->m, to->off, to->len, RANK_REPLACE, clone_name(tm, f));
	}
	add_argument(b, i);
	c = ws_code_at(b->p, b->f, end_of_call(b->f, i), WS_AFTER);
	ws_tm_leave_if_lost(b, c);
	ws_code_end(c);
	return true;
}

static bool behind_trap(const struct ws_ptx_func *f, const struct ws_ptx_inst *i)
{
	return i->index && f->insts[i->index - 1].op == WS_OP_trap && !f->insts[i->index - 1].guard;
}

static void remove_marker(struct ws_pass *p, const struct ws_ptx_inst *i)
{
	ws_ptx_edit(p->m, i->off, i->len, RANK_REPLACE, "");
}

/* ws_tx_retry, ws_tx_abort: what is done is undone. */
static bool give_up(struct ws_tm_body *b, struct ws_ptx_inst *i, const char *function)
{
	struct ws_code *c = ws_code_at(b->p, b->f, i, WS_BEFORE);
	bool good = call_rare(b, c, function, "l", &b->thread, NULL);

	ws_code_add(c, "bra %s;", b->lost);
	ws_code_replace(c);
	return good;
}

/* An instruction of a section, or of a function that one calls. */
static bool inside(struct tm *tm, struct ws_tm_body *b, struct ws_ptx_inst *i, const struct ws_rw_access *a)
{
	enum ws_tm_mark mark = ws_tm_mark_of(i);

	if (mark == WS_TM_AGAIN)
		return give_up(b, i, "__warpsafe_tm_retry");
	if (mark == WS_TM_ABORT)
		return give_up(b, i, "__warpsafe_tm_abort");
	if (mark != WS_TM_NO_MARK) {         /* where control never comes */
		remove_marker(b->p, i);
		return true;
	}
	if (i->call)
		return section_call(tm, b, i);
	if (i->op == WS_OP_exit && !behind_trap(b->f, i))
		return ws_tm_refuse(b->p, b->f, i, "the thread ends in a marked section");
	return ws_tm_instruction(b, i, a);
}

static const struct ws_rw_access *access_of(const struct ws_ptx_inst *i, const struct ws_rw_access **list)
{
	return (*list)->inst == i ? (*list)++ : NULL;
}

/* ---- functions with sections ---- */
static const char *move_of(const struct ws_reg *r)
{
	switch (r->type == WS_PRED ? 0 : ws_type_bytes(r->type)) {
	case 0: return r->type == WS_PRED ? "pred" : NULL;
	case 2: return "b16";
	case 4: return "b32";
	case 8: return "b64";
	case 16: return "b128";
	default: return NULL;
	}
}

/* Registers that a section changes: kept in front of it, and got back in each attempt. */
struct kept { struct ws_tm_saved saved; const char **in; };

static bool keep_registers(struct function *fn, struct ws_code *c, struct ws_ptx_inst *i, struct kept *k)
{
	ws_tm_saved_find(fn->body.f, &fn->flow, i, &k->saved);
	k->in = ws_alloc((k->saved.n + 1) * sizeof *k->in);
	for (size_t n = 0; n < k->saved.n; n++) {
		const struct ws_reg *r = k->saved.regs[n];

		if (r->vec != 1 || !move_of(r))
			return ws_tm_refuse(fn->body.p, fn->body.f, i, "register '%s' cannot be kept for a new attempt", r->name);
		k->in[n] = ws_rw_register(fn->body.p, fn->body.f, r->type);
		ws_code_add(c, "mov.%s %s, %s;", move_of(r), k->in[n], r->name);
	}
	return true;
}

static void get_back(struct ws_code *c, const struct kept *k)
{
	for (size_t n = 0; n < k->saved.n; n++)
		ws_code_add(c, "mov.%s %s, %s;", move_of(k->saved.regs[n]), k->saved.regs[n]->name, k->in[n]);
}

static void free_kept(struct kept *k)
{
	free(k->in);
	free(k->saved.regs);
}

/* Labels are known in their block and those inside it (PTX ISA 9.0, Labels): ours must be known everywhere. */
static bool at_top(const struct ws_ptx_func *f, const struct ws_ptx_inst *i)
{
	int depth = 0;

	for (const char *t = f->module->text + f->body_off; t < f->module->text + i->off; t++)
		depth += *t == '{' ? 1 : *t == '}' ? -1 : 0;
	return depth == 1;
}

static bool marker_is_plain(struct function *fn, const struct ws_ptx_inst *i)
{
	if (at_top(fn->body.f, i) && !i->guard)
		return true;
	return ws_tm_refuse(fn->body.p, fn->body.f, i, "a marker of a section under a guard or in braces of assembly");
}

static struct section *section_of(struct function *fn, uint32_t number) { return &fn->sections[number - 1]; }

/* What the begin returns, in the program's register. */
static void answer(struct function *fn, struct ws_code *c, const struct ws_ptx_inst *i, const struct section *s)
{
	const struct ws_operand *to = &i->ops[0];

	if (to->kind == WS_O_REG)
		ws_code_add(c, "mov.b64 %.*s, %s;", (int)to->len, fn->body.p->m->text + to->off, s->answer ? s->answer : "0");
}

/* A begin that can be come back to: with an answer. */
static bool can_answer(struct function *fn, struct ws_ptx_inst *i)
{
	if (!section_of(fn, fn->flow.begins[i->index])->answer || ws_tm_result_is_used(fn->body.f, i))
		return true;
	return ws_tm_refuse(fn->body.p, fn->body.f, i, ws_tm_mark_of(i) == WS_TM_EITHER
	                    ? "alternatives of which the program does not look which one is to be run"
	                    : "'ws_tx_abort' in a section whose begin does not look whether it was undone: write it with WS_ATOMIC");
}

static void note_begin(struct function *fn, struct ws_code *c, const struct ws_ptx_inst *i, const char *retry)
{
	uint32_t number = fn->flow.begins[i->index];
	const struct section *s = section_of(fn, number);

	ws_code_add(c, "mov.u32 %s, %zu;", s->begin, fn->nbegins);
	*WS_PUSH(fn->begins, fn->nbegins, fn->begins_cap) = (struct jump){ number, retry };
	if (s->answer)
		ws_code_add(c, "mov.b64 %s, 0;", s->answer);
}

static bool begin_section(struct function *fn, struct ws_ptx_inst *i)
{
	struct section *s = section_of(fn, fn->flow.begins[i->index]);
	struct ws_code *c = ws_code_at(fn->body.p, fn->body.f, i, WS_BEFORE);
	const char *retry = ws_code_label(c), *attempt = ws_code_temp(c, WS_B32), *none = ws_code_temp(c, WS_PRED);
	struct kept kept = { 0 };
	bool good = marker_is_plain(fn, i) && can_answer(fn, i);

	note_begin(fn, c, i, retry);
	good = good && keep_registers(fn, c, i, &kept) &&
	       call(&fn->body, c, s->reads ? "__warpsafe_tm_enter_reading" : "__warpsafe_tm_enter", NULL);
	ws_code_add(c, "%s:", retry);
	if (good)
		get_back(c, &kept);
	good = good && call(&fn->body, c, "__warpsafe_tm_begin", attempt);
	ws_code_add(c, "setp.eq.u32 %s, %s, 0;", none, attempt);
	ws_code_add(c, "@%s bra %s;", none, s->join);
	ws_tm_tell(&fn->body, c, WS_TM_EVENT_START, 0, NULL);
	answer(fn, c, i, s);
	ws_code_replace(c);
	free_kept(&kept);
	return good;
}

static bool end_section(struct function *fn, struct ws_ptx_inst *i)
{
	uint32_t number = fn->flow.inside[i->index];
	struct section *s = section_of(fn, number);
	struct ws_code *c = ws_code_at(fn->body.p, fn->body.f, i, WS_BEFORE);
	const char *behind = ws_code_label(c);
	bool good = marker_is_plain(fn, i) && end_attempt(&fn->body, c);

	ws_code_add(c, "mov.u32 %s, %zu;", s->end, fn->nends);
	ws_code_add(c, "bra %s;", s->join);
	ws_code_add(c, "%s:", behind);
	*WS_PUSH(fn->ends, fn->nends, fn->ends_cap) = (struct jump){ number, behind };
	ws_code_replace(c);
	return good;
}

/* ---- parts of sections that are undone alone ---- */
static bool is_either(const struct function *fn, uint32_t number) { return fn->flow.sections[number - 1].either; }

static bool is_part(const struct function *fn, uint32_t number) { return fn->second || fn->flow.sections[number - 1].around; }

static bool begin_part(struct function *fn, struct ws_ptx_inst *i)
{
	uint32_t number = fn->flow.begins[i->index];
	struct section *s = section_of(fn, number);
	struct ws_code *c = ws_code_at(fn->body.p, fn->body.f, i, WS_BEFORE);
	const char *retry = ws_code_label(c);
	struct kept kept = { 0 };
	bool good = marker_is_plain(fn, i) && can_answer(fn, i);

	note_begin(fn, c, i, retry);
	good = good && keep_registers(fn, c, i, &kept) &&
	       call_rare(&fn->body, c, is_either(fn, number) ? "__warpsafe_tm_either" : "__warpsafe_tm_inner", "l", &fn->body.thread, s->from);
	ws_code_add(c, "mov.u32 %s, 0;", s->tries);
	ws_tm_tell(&fn->body, c, WS_TM_EVENT_PART, 0, NULL);
	ws_code_add(c, "%s:", retry);
	if (good)
		get_back(c, &kept);
	answer(fn, c, i, s);
	ws_code_replace(c);
	free_kept(&kept);
	return good;
}

static bool end_part(struct function *fn, struct ws_ptx_inst *i)
{
	struct ws_code *c = ws_code_at(fn->body.p, fn->body.f, i, WS_BEFORE);
	bool good = marker_is_plain(fn, i);

	if (good && !is_either(fn, fn->flow.inside[i->index]))
		good = call_rare(&fn->body, c, "__warpsafe_tm_inner_done", "l", &fn->body.thread, NULL);
	ws_tm_tell(&fn->body, c, WS_TM_EVENT_PART_DONE, 0, NULL);
	ws_code_replace(c);
	return good;
}

/* To the one of a section's jumps that `number` names. */
static void dispatch(struct ws_code *c, uint32_t section, const struct jump *list, size_t n, const char *number)
{
	const char *this = ws_code_temp(c, WS_PRED), *last = NULL;

	for (size_t k = n; k--;) {
		if (list[k].section != section)
			continue;
		if (!last) {
			last = list[k].label;
			continue;
		}
		ws_code_add(c, "setp.eq.u32 %s, %s, %zu;", this, number, k);
		ws_code_add(c, "@%s bra %s;", this, list[k].label);
	}
	ws_code_add(c, last ? "bra %s;" : "trap;", last);        /* none: the section never ends */
}

/* Where the program has undone it, its begin returns that from now on. */
static void answer_undone(struct ws_code *c, const struct section *s, const char *next)
{
	const char *undone = ws_code_temp(c, WS_PRED);

	if (!s->answer)
		return;
	ws_code_add(c, "setp.eq.u32 %s, %s, %d;", undone, next, WS_TM_NEXT_UNDONE);
	ws_code_add(c, "@%s mov.b64 %s, 0xffffffffffffffff;", undone, s->answer);
}

static const char *lost_of(struct function *fn, uint32_t number) { return number ? section_of(fn, number)->lost : fn->outside; }

static bool finish_part(struct function *fn, struct ws_code *c, uint32_t number)
{
	struct section *s = section_of(fn, number);
	const char *next = ws_code_temp(c, WS_B32), *all = ws_code_temp(c, WS_PRED), *told = ws_code_temp(c, WS_B64);
	const char *args[] = { fn->body.thread, s->from, s->tries };
	bool good;

	ws_code_add(c, "%s:", s->lost);
	ws_tm_tell(&fn->body, c, WS_TM_EVENT_PART_ENDING, 0, NULL);
	good = call_rare(&fn->body, c, is_either(fn, number) ? "__warpsafe_tm_other" : "__warpsafe_tm_inner_lost", "luu", args, next);
	ws_code_add(c, "cvt.u64.u32 %s, %s;", told, next);
	ws_tm_tell(&fn->body, c, WS_TM_EVENT_PART_ENDED, 0, told);
	ws_code_add(c, "setp.eq.u32 %s, %s, %d;", all, next, WS_TM_NEXT_LOST);
	ws_code_add(c, "@%s bra %s;", all, lost_of(fn, fn->flow.sections[number - 1].around));
	ws_code_add(c, "add.u32 %s, %s, 1;", s->tries, s->tries);
	answer_undone(c, s, next);
	dispatch(c, number, fn->begins, fn->nbegins, s->begin);
	return good;
}

static bool finish_section(struct function *fn, struct ws_code *c, uint32_t number)
{
	struct section *s = section_of(fn, number);
	const char *again = ws_code_temp(c, WS_B32), *no = ws_code_temp(c, WS_PRED), *done = ws_code_label(c);
	bool good;

	ws_code_add(c, "%s:", s->lost);
	good = end_attempt(&fn->body, c);
	ws_code_add(c, "%s:", s->join);
	good = good && call(&fn->body, c, "__warpsafe_tm_again", again);
	ws_code_add(c, "setp.eq.u32 %s, %s, 0;", no, again);
	ws_code_add(c, "@%s bra %s;", no, done);
	answer_undone(c, s, again);
	dispatch(c, number, fn->begins, fn->nbegins, s->begin);
	ws_code_add(c, "%s:", done);
	dispatch(c, number, fn->ends, fn->nends, s->end);
	return good;
}

static bool finish(struct function *fn, struct ws_code *c)
{
	bool good = true;

	for (uint32_t k = 1; k <= fn->flow.nsections && good; k++)
		good = is_part(fn, k) ? finish_part(fn, c, k) : finish_section(fn, c, k);
	return good;
}

static bool begin_marker(struct function *fn, struct ws_ptx_inst *i)
{
	return is_part(fn, fn->flow.begins[i->index]) ? begin_part(fn, i) : begin_section(fn, i);
}

static bool end_marker(struct function *fn, struct ws_ptx_inst *i)
{
	return is_part(fn, fn->flow.inside[i->index]) ? end_part(fn, i) : end_section(fn, i);
}

static bool in_section(struct function *fn, struct ws_ptx_inst *i, const struct ws_rw_access *a)
{
	enum ws_tm_mark mark = ws_tm_mark_of(i);

	fn->body.lost = lost_of(fn, fn->flow.inside[i->index]);
	if (fn->flow.begins[i->index])
		return begin_marker(fn, i);
	if ((mark == WS_TM_END || mark == WS_TM_EITHER_END) && fn->flow.inside[i->index])
		return end_marker(fn, i);
	return inside(fn->tm, &fn->body, i, a);
}

static bool in_function(struct function *fn, struct ws_ptx_inst *i, const struct ws_rw_access *a)
{
	if (fn->flow.inside[i->index] || fn->flow.begins[i->index])
		return in_section(fn, i, a);
	if (i->call)
		replace_memory(fn->body.p, i);
	if (ws_tm_mark_of(i) != WS_TM_NO_MARK)  /* where control never comes; a retry outside of sections is nothing */
		remove_marker(fn->body.p, i);
	return true;
}

/* Labels and registers of each section. */
static void prepare_sections(struct function *fn, struct ws_code *c)
{
	struct ws_pass *p = fn->body.p;
	struct ws_ptx_func *f = fn->body.f;

	fn->sections = ws_alloc((fn->flow.nsections + 1) * sizeof *fn->sections);
	for (uint32_t k = 0; k < fn->flow.nsections; k++) {
		struct section *s = &fn->sections[k];
		bool part = is_part(fn, k + 1);

		*s = (struct section){ .lost = ws_code_label(c), .begin = ws_rw_register(p, f, WS_B32) };
		if (is_either(fn, k + 1) || ws_tm_may_abort(p, f, &fn->flow, k))
			s->answer = ws_rw_register(p, f, WS_B64);
		if (part) {
			s->from = ws_rw_register(p, f, WS_B32);
			s->tries = ws_rw_register(p, f, WS_B32);
		} else {
			s->join = ws_code_label(c);
			s->end = ws_rw_register(p, f, WS_B32);
			s->reads = ws_tm_only_reads(p, f, &fn->flow, k);
		}
	}
}

/* And the thread's transaction, which is fresh when the function is entered. */
static void prepare(struct function *fn)
{
	struct ws_pass *p = fn->body.p;
	struct ws_code *c = ws_code_entry(p, fn->body.f);
	struct ws_buf local = { 0 };

	prepare_sections(fn, c);
	fn->body.thread = ws_rw_register(p, fn->body.f, WS_B64);
	ws_buf_printf(&local, "\n\t.local .align 16 .b8 __warpsafe_thread[%d];", WS_TM_THREAD_BYTES);
	ws_ptx_edit(p->m, fn->body.f->body_off + 1, 0, RANK_SHARED, local.data);
	ws_buf_free(&local);
	ws_code_add(c, "mov.u64 %s, __warpsafe_thread;", fn->body.thread);
	ws_code_add(c, "cvta.local.u64 %s, %s;", fn->body.thread, fn->body.thread);
	ws_code_add(c, "st.u32 [%s+%d], 0;", fn->body.thread, WS_TM_ID_AT);
	ws_code_end(c);
}

static void free_function(struct function *fn)
{
	ws_tm_flow_free(&fn->flow);
	free(fn->sections);
	free(fn->begins);
	free(fn->ends);
}

static bool function(struct tm *tm, struct ws_ptx_func *f)
{
	struct function fn = { .tm = tm, .body = { .p = tm->p, .f = f, .whole = tm->p->m->edits, .clusters = tm->clusters } };
	uint32_t n;
	const struct ws_rw_access *list = ws_rw_accesses(f, &n);
	bool good = ws_tm_flow_find(tm->p, f, &fn.flow);

	if (good)
		prepare(&fn);
	for (uint32_t k = 0; k < f->ninsts && good; k++)
		good = in_function(&fn, &f->insts[k], access_of(&f->insts[k], &list));
	if (good) {
		struct ws_code *c = ws_code_tail(tm->p, f);

		good = finish(&fn, c);
		ws_code_end(c);
	}
	free_function(&fn);
	return good;
}

/* ---- functions that sections call ---- */
/* The function's own variables end with it. */
static bool forget_locals(struct ws_tm_body *b, struct ws_code *c)
{
	const char *args[3] = { b->thread };
	bool good = true;

	for (uint32_t k = 0; k < b->f->nvars; k++) {
		const struct ws_ptx_sym *v = b->f->vars[k];
		struct ws_buf bytes = { 0 };

		if (v->space != WS_SPACE_LOCAL)
			continue;
		args[1] = ws_code_temp(c, WS_B64);
		ws_code_add(c, "mov.u64 %s, %s;", args[1], v->name);
		ws_code_add(c, "cvta.local.u64 %s, %s;", args[1], args[1]);
		ws_buf_printf(&bytes, "%llu", (unsigned long long)v->size);
		args[2] = bytes.data;
		good = ws_tm_call(b, c, "__warpsafe_tm_forget", "lll", args, NULL) && good;
		ws_buf_free(&bytes);
	}
	return good;
}

static bool return_from(struct ws_tm_body *b, struct ws_ptx_inst *i)
{
	struct ws_code *c = ws_code_at(b->p, b->f, i, WS_BEFORE);
	bool good = forget_locals(b, c);

	ws_code_end(c);
	return good;
}

static bool in_clone(struct function *fn, struct ws_ptx_inst *i, const struct ws_rw_access *a)
{
	return i->op == WS_OP_ret ? return_from(&fn->body, i) : in_section(fn, i, a);
}

static bool has_own_memory(const struct ws_ptx_func *f)
{
	for (uint32_t k = 0; k < f->nvars; k++)
		if (f->vars[k]->space == WS_SPACE_SHARED || f->vars[k]->space == WS_SPACE_GLOBAL)
			return true;
	return false;
}

static bool clone_body(struct function *fn)
{
	struct ws_tm_body *b = &fn->body;
	uint32_t n;
	const struct ws_rw_access *list = ws_rw_accesses(b->f, &n);
	struct ws_code *c = ws_code_entry(b->p, b->f);
	bool good = true;

	prepare_sections(fn, c);
	b->thread = ws_rw_register(b->p, b->f, WS_B64);
	fn->outside = ws_code_label(c);
	ws_code_add(c, "ld.param.u64 %s, [__warpsafe_t];", b->thread);
	ws_code_end(c);
	for (uint32_t k = 0; k < b->f->ninsts && good; k++)
		good = in_clone(fn, &b->f->insts[k], access_of(&b->f->insts[k], &list));
	c = ws_code_tail(b->p, b->f);
	good = good && finish(fn, c);
	ws_code_add(c, "%s:", fn->outside);
	good = good && forget_locals(b, c);
	ws_code_add(c, "ret;");
	ws_code_end(c);
	return good;
}

/* Behind all that a body may name. */
static uint32_t last_declaration(const struct ws_ptx_module *m)
{
	uint32_t at = 0;

	for (uint32_t k = 0; k < m->nvars; k++)
		at = m->vars[k]->off + m->vars[k]->len > at ? m->vars[k]->off + m->vars[k]->len : at;
	for (uint32_t k = 0; k < m->nfuncs; k++)
		at = m->funcs[k]->off + m->funcs[k]->len > at ? m->funcs[k]->off + m->funcs[k]->len : at;
	return at;
}

/* The text of a second body: the function's own, with edits of which the module knows nothing. */
static bool clone(struct tm *tm, struct ws_ptx_func *f)
{
	struct ws_ptx_module *m = tm->p->m;
	struct ws_ptx_edits *edits = m->edits;
	struct function fn = { .tm = tm, .second = true, .body = { .p = tm->p, .f = f, .whole = edits, .clusters = tm->clusters } };
	size_t from = (size_t)(strstr(m->text + f->off, ".func") - m->text);
	struct ws_buf head = { 0 }, body = { 0 };
	bool good;

	if (has_own_memory(f))
		return ws_tm_refuse(tm->p, f, NULL, "'%s' has variables of its own in shared or global memory, so it cannot "
				    "be called in a marked section", f->name);
	m->edits = ws_arena_alloc(m->arena, sizeof *m->edits);
	ws_ptx_edit(m, ws_rw_name_at(f), (uint32_t)strlen(f->name), RANK_DECLARE, clone_name(tm, f));
	ws_rw_last_param(tm->p, f, WS_B64, "__warpsafe_t");
	ws_ptx_print_span(m, from, f->body_off, &head);
	good = ws_tm_flow_find(tm->p, f, &fn.flow) && clone_body(&fn);
	free_function(&fn);
	ws_rw_declare_registers(tm->p, f);
	ws_buf_puts(&body, "\n");
	ws_ptx_print_span(m, from, f->off + f->len, &body);
	m->edits = edits;
	ws_rw_declare(tm->p, "%s;", head.data);
	ws_ptx_edit(m, last_declaration(m), 0, RANK_AFTER, body.data);
	ws_buf_free(&head);
	ws_buf_free(&body);
	return good;
}

/* ---- the module ---- */
static uint32_t log2_of(uint64_t n)
{
	uint32_t bits = 0;

	while (1ull << bits < n)
		bits++;
	return bits;
}

/* The same in a function without sections. */
static bool replace_all_memory(struct ws_pass *p, const struct ws_ptx_func *f)
{
	for (uint32_t k = 0; k < f->ninsts; k++)
		if (f->insts[k].call)
			replace_memory(p, &f->insts[k]);
	return true;
}

static bool uses_memory(const struct ws_ptx_module *m)
{
	for (uint32_t k = 0; k < m->nfuncs; k++)
		if (is_memory(m->funcs[k]))
			return true;
	return false;
}

/* Entries are counted in 32 bits. */
static void declare_log(struct ws_pass *p, uint64_t room)
{
	enum { MOST = 1 << 30 };

	room = !room ? 1 : room < MOST ? room : MOST;
	ws_rw_declare(p, ".weak .global .align 8 .u32 " WS_TM_LOG_HEAD "[%zu] = { 0, %llu };", sizeof(struct ws_tm_log_head) / 4,
	              (unsigned long long)room);
	ws_rw_declare(p, ".weak .global .align 128 .b8 " WS_TM_LOG_ENTRIES "[%llu];",
		      (unsigned long long)((room + WS_TM_LOG_MORE) * sizeof(struct ws_tm_log_entry)));
}

/* The tables and the handle, a struct ws_tm. Modules that are linked share them; nvlink takes the weak ones for one. */
static void declare(struct ws_pass *p)
{
	struct ws_tm_settings s = p->tm ? *p->tm : ws_tm_settings_default();
	struct ws_tm_features features = ws_tm_features_of(&ws_rw_result_of(p)->tm);
	struct ws_tm_auto first;
	uint64_t chunk = WS_TM_CHUNK * sizeof(struct ws_tm_entry), chunks = (s.heap + chunk - 1) / chunk;
	uint32_t bits = log2_of(s.entries);
	uint32_t units = uses_memory(p->m) ? (uint32_t)(s.pool / WS_TM_UNIT) : 0;
	static const char *const names[] = { "table", "words", "stripes", "heap", "links", "pool" };
	const uint64_t sizes[] = { 8ull << bits, sizeof(struct ws_tm_words),
		                   WS_TM_STRIPES * sizeof(struct ws_tm_stripe), (chunks ? chunks : 1) * chunk, (chunks ? chunks : 1) * 4,
		                   units ? WS_TM_POOL_BYTES(units) : 8 };

	_Static_assert(sizeof(struct ws_tm) == 88, "the list below");
	ws_tm_auto_init(&first, &features);
	if (s.automatic)
		s.engine = ws_tm_auto_engine(&first);
	ws_rw_need(p, 31, 20);               /* .weak of variables */
	for (unsigned k = 0; k < WS_COUNT(names); k++)
		ws_rw_declare(p, ".weak .global .align 128 .b8 __warpsafe_tm_%s[%llu];", names[k],
			      (unsigned long long)sizes[k]);
	if (s.history) {
		ws_rw_declare(p, ".weak .global .align 8 .u64 " WS_TM_EVENT_WORD ";");
		ws_rw_declare(p, ".weak .global .align 8 .u64 " WS_TM_VALUE_WORD ";");
	}
	if (s.log)
		declare_log(p, s.log / sizeof(struct ws_tm_log_entry));
	ws_rw_declare(p, ".weak .global .align 8 .u64 " WS_TM_HANDLE "[11] = { generic(__warpsafe_tm_table), "
		      "generic(__warpsafe_tm_words), generic(__warpsafe_tm_stripes), generic(__warpsafe_tm_heap), "
		      "generic(__warpsafe_tm_links), 0, %llu, %llu, %llu, generic(__warpsafe_tm_pool), %u };",
		      ((1ull << bits) - 1) | (unsigned long long)bits << 32,
		      (unsigned long long)log2_of(s.granularity) | (unsigned long long)chunks << 32,
		      (unsigned long long)s.patience | (unsigned long long)s.engine << 32, units);
}

/* All functions of the runtime, before the module's own. */
static bool add_runtime(struct ws_pass *p)
{
	static const char *const names[] = { "enter", "enter_reading", "begin", "end", "again", "read_global", "write_global", "read",
		                             "write", "forget", "malloc_in", "free_in", "malloc", "free" };
	bool logs = p->tm && p->tm->log;
	bool good = logs ? ws_rw_runtime(p, "src/device/tm_logged.cu", ws_device_tm_logged) : ws_rw_runtime(p, "src/device/tm.cu", ws_device_tm);

	good = good && (!logs || ws_rw_use(p, "__warpsafe_tm_tell"));
	for (unsigned k = 0; k < WS_COUNT(names) && good; k++) {
		struct ws_buf name = { 0 };

		ws_buf_printf(&name, "__warpsafe_tm_%s", names[k]);
		good = ws_rw_use(p, name.data);
		ws_buf_free(&name);
	}
	return good;
}

bool ws_tm_has_markers(const struct ws_ptx_func *f)
{
	for (uint32_t k = 0; k < f->ninsts; k++)
		if (ws_tm_mark_of(&f->insts[k]) != WS_TM_NO_MARK)
			return true;
	return false;
}

/* The runtime's functions would like more registers than a thread may have in a block of 1,024, which a kernel may be launched
 * with unless it says otherwise. A kernel has as many as the functions that it can call. */
static void limit_registers(struct ws_pass *p, const struct ws_ptx_func *f)
{
	bool calls = ws_tm_has_markers(f);

	for (uint32_t k = 0; k < f->ninsts; k++)
		calls |= f->insts[k].call != NULL;
	if (calls && f->entry && !f->declared_only && !f->maxntid[0] && !f->reqntid[0] && !f->maxnreg)
		ws_ptx_edit(p->m, f->body_off, 0, RANK_DECLARE, ".maxnreg 64\n");
}

static bool any_markers(const struct ws_ptx_module *m)
{
	for (uint32_t k = 0; k < m->nfuncs; k++)
		if (ws_tm_has_markers(m->funcs[k]))
			return true;
	return false;
}

/* mapa without .shared::cluster, or a conversion from there. */
static bool makes_cluster_address(const struct ws_ptx_inst *i)
{
	return (i->op == WS_OP_mapa && i->space != WS_SPACE_SHARED_CLUSTER) || (i->op == WS_OP_cvta && i->space == WS_SPACE_SHARED_CLUSTER);
}

static bool makes_cluster_addresses(const struct ws_ptx_module *m)
{
	for (uint32_t k = 0; k < m->nfuncs; k++)
		for (uint32_t j = 0; j < m->funcs[k]->ninsts; j++)
			if (makes_cluster_address(&m->funcs[k]->insts[j]))
				return true;
	return false;
}

bool ws_rw_pass_tm(struct ws_pass *p)
{
	struct tm tm = { .p = p, .clusters = makes_cluster_addresses(p->m) };
	bool good = true;

	if (!any_markers(p->m))
		return true;
	if (p->m->address_size != 64)
		return ws_rw_error(p, NULL, "code with addresses of 32 bits is not rewritten");
	if (!ws_tm_know(p, &ws_rw_result_of(p)->tm))
		return false;
	declare(p);
	good = add_runtime(p);
	for (uint32_t k = 0; k < p->m->nfuncs; k++)
		limit_registers(p, p->m->funcs[k]);
	for (uint32_t k = 0; k < p->m->nfuncs && good; k++)
		good = ws_tm_has_markers(p->m->funcs[k]) ? function(&tm, p->m->funcs[k]) : replace_all_memory(p, p->m->funcs[k]);
	for (size_t k = 0; k < tm.clones.n && good; k++)
		good = clone(&tm, tm.clones.list[k]);
	free(tm.clones.list);
	return good;
}

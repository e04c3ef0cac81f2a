/* probe_code.c - the code of a kernel's probe (probe.h), written behind the kernel's own, and the jump to it. */
#include "rewrite/async.h"
#include "rewrite/class.h"
#include "rewrite/constants.h"
#include "rewrite/probe.h"

#include "device/race.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A loop that the kernel would not come to, or a long one: the probe ends without a result. */
enum { MOST_ROUNDS = 1 << 15, ROUNDS_FOR_ALL = 2, WORD = 4 };

struct writing {
	const struct ws_probe *probe;
	struct ws_pass *p;
	struct ws_ptx_func *f;
	struct ws_buf out;
	uint32_t number;                 /* of the kernel's proof */
	uint64_t seed;
	const char *begin, *back, *leave, *fail;         /* labels */
	const char *self, *constants, *rounds, *variant; /* registers */
	const char **left;                               /* by block that ends rounds of a loop, as probe->loop: how many are left */
	bool failed;
};

static const char *text_of(struct ws_pass *p, uint64_t v)
{
	char s[32];

	snprintf(s, sizeof s, "%llu", (unsigned long long)v);
	return ws_arena_strndup(ws_rw_module(p)->arena, s, strlen(s));
}

static const char *new_label(struct writing *w)
{
	struct ws_code *c = ws_code_entry(w->p, w->f);
	const char *label = ws_code_label(c);

	ws_code_end(c);
	return label;
}

static void call(struct writing *w, struct ws_code *c, const char *function, const char *const *args, unsigned n)
{
	w->failed |= !ws_inline(c, function, args, n, NULL);
}

/* ---- the constants that a proof depends on ---- */
static void mix_word(struct ws_code *c, const char *sum, const char *word)
{
	const char *high = ws_code_temp(c, WS_B64);

	ws_code_add(c, "xor.b64 %s, %s, %s;", sum, sum, word);
	ws_code_add(c, "mul.lo.u64 %s, %s, %lld;", sum, sum, (long long)0x9e3779b97f4a7c15ull);
	ws_code_add(c, "shr.u64 %s, %s, 29;", high, sum);
	ws_code_add(c, "xor.b64 %s, %s, %s;", sum, sum, high);
}

/* A sum of the constants as they are now, never 0. */
static void sum_constants(struct writing *w, struct ws_code *c, const char *sum)
{
	const char *word = ws_code_temp(c, WS_B64);

	ws_code_add(c, "mov.u64 %s, %s;", sum, text_of(w->p, w->seed));
	for (size_t k = 0; k < w->probe->nconstants; k++) {
		const struct ws_probe_value *v = &w->probe->constants[k];
		unsigned step = v->bytes < 8 ? v->bytes : 8;

		for (unsigned at = 0; at < v->bytes; at += step) {
			ws_code_add(c, "ld.const.u%u %s, [%s+%lld];", 8 * step, word, v->sym->name, (long long)v->offset + at);
			mix_word(c, sum, word);
		}
	}
	ws_code_add(c, "or.b64 %s, %s, 1;", sum, sum);
}

/* ---- the entry ---- */
static const char *write_entry(struct writing *w)
{
	struct ws_code *c = ws_code_first(w->p, w->f);
	const char *size = ws_code_temp(c, WS_B32), *probe = ws_code_temp(c, WS_PRED), *same = ws_code_temp(c, WS_PRED);
	const char *proved = ws_rw_register(w->p, w->f, WS_PRED), *kept = ws_code_temp(c, WS_B64), *skip;

	ws_code_add(c, "mov.u32 %s, %%dynamic_smem_size;", size);
	ws_code_add(c, "and.b32 %s, %s, %d;", size, size, WS_RACE_TAGS - 1);
	ws_code_add(c, "setp.eq.u32 %s, %s, %d;", probe, size, WS_RACE_PROBE_TAG);
	ws_code_add(c, "@%s bra %s;", probe, w->begin);
	ws_code_add(c, "%s:", w->back);
	ws_code_add(c, "setp.eq.u32 %s, %s, %d;", proved, size, WS_RACE_PROVED_TAG);
	if (w->probe->nconstants) {          /* the host says more only of such launches, and the constants may have changed */
		const char *sum = ws_code_temp(c, WS_B64);

		ws_code_add(c, "setp.eq.or.u32 %s, %s, %d, %s;", proved, size, WS_RACE_PROBED_TAG, proved);

		skip = ws_code_label(c);
		ws_code_add(c, "@!%s bra %s;", proved, skip);
		sum_constants(w, c, sum);
		ws_code_add(c, "ld.const.u64 %s, [__warpsafe_race+%zu];", kept, offsetof(struct ws_race_device, proofs));
		ws_code_add(c, "ld.volatile.global.u64 %s, [%s+%u];", kept, kept, 8 * w->number);
		ws_code_add(c, "setp.eq.u64 %s, %s, %s;", same, kept, sum);
		ws_code_add(c, "and.pred %s, %s, %s;", proved, proved, same);
		ws_code_add(c, "%s:", skip);
	}
	ws_code_end(c);
	return proved;
}

static void demand_one_warp(struct writing *w, struct ws_code *c)
{
	const char *threads = ws_code_temp(c, WS_B32), *size = ws_code_temp(c, WS_B32), *more = ws_code_temp(c, WS_PRED);

	ws_code_add(c, "mov.u32 %s, %%ntid.x;", threads);
	ws_code_add(c, "mov.u32 %s, %%ntid.y;", size);
	ws_code_add(c, "mul.lo.u32 %s, %s, %s;", threads, threads, size);
	ws_code_add(c, "mov.u32 %s, %%ntid.z;", size);
	ws_code_add(c, "mul.lo.u32 %s, %s, %s;", threads, threads, size);
	ws_code_add(c, "setp.gt.u32 %s, %s, %d;", more, threads, WS_WARP);
	ws_code_add(c, "@%s bra %s;", more, w->fail);
}

/* The size may be the program's own. */
static void write_begin(struct writing *w, uint32_t kernel)
{
	struct ws_code *c = ws_code_entry(w->p, w->f);
	const char *is = ws_code_temp(c, WS_B32), *not = ws_code_temp(c, WS_PRED), *number = text_of(w->p, kernel);

	ws_code_add(c, "%s:", w->begin);
	w->failed |= !ws_inline(c, "race_is_probe", NULL, 0, is);
	ws_code_add(c, "setp.eq.u32 %s, %s, 0;", not, is);
	ws_code_add(c, "@%s bra %s;", not, w->back);
	w->failed |= !ws_inline(c, "race_thread", NULL, 0, w->self);
	call(w, c, "race_enter", &number, 1);
	ws_code_add(c, "mov.u32 %s, %d;", w->rounds, MOST_ROUNDS);
	ws_code_add(c, "mov.u32 %s, %%ctaid.x;", w->variant);
	for (uint32_t b = 0; b < w->f->nblocks; b++)
		if (w->left[b])
			ws_code_add(c, "mov.u32 %s, %d;", w->left[b], ROUNDS_FOR_ALL);
	if (w->probe->nconstants)
		sum_constants(w, c, w->constants);
	else
		ws_code_add(c, "mov.u64 %s, 0;", w->constants);
	if (w->probe->one_warp)
		demand_one_warp(w, c);
	ws_code_text(c, &w->out);
}

static void write_end(struct writing *w)
{
	struct ws_code *c = ws_code_entry(w->p, w->f);
	const char *args[] = { w->constants, text_of(w->p, w->number) };

	ws_code_add(c, "%s:", w->fail);
	call(w, c, "race_probe_fail", NULL, 0);
	ws_code_add(c, "%s:", w->leave);
	call(w, c, "race_probe_leave", args, 2);
	ws_code_add(c, "ret;");
	ws_code_text(c, &w->out);
}

/* ---- instructions ---- */
static const char *place_of(struct writing *w, struct ws_code *c, const char *address)
{
	const char *place = ws_code_temp(c, WS_B64);

	w->failed |= !ws_inline(c, "race_probe_place", (const char *[]){ address, text_of(w->p, w->probe->unit) }, 2, place);
	return place;
}

/* place: where it begins, among cells of words; done: so many bytes of words were checked. */
static void check_piece(struct writing *w, struct ws_code *c, const struct ws_rw_access *a, const char *place, uint32_t done, uint32_t bytes)
{
	unsigned kind = w->probe->strong && ws_rw_strong(a) ? ws_rw_class_of(a->scope, WS_RACE_STRONG_CTA) : WS_RACE_WEAK;
	uint32_t what = WS_RACE_BYTES(bytes) | WS_RACE_SPACE(WS_RACE_SHARED) | WS_RACE_CLASS(kind);
	const char *args[] = { w->self, place, text_of(w->p, what), a->kind == WS_RW_READ ? "0" : "1" };
	bool copy = a->inst->op == WS_OP_cp;

	if (done) {
		args[1] = ws_code_temp(c, WS_B64);
		ws_code_add(c, "add.u64 %s, %s, %u;", args[1], place, done);
	}
	call(w, c, copy ? "race_probe_copy" : "race_probe_access", args, copy ? 3 : 4);
}

static void write_access(struct writing *w, const struct ws_rw_access *a)
{
	enum { MOST = 16 };
	struct ws_code *c = ws_code_entry(w->p, w->f);
	const struct ws_reg *guard = a->inst->guard;
	bool known = guard && !w->probe->data[guard->index];
	struct ws_probe_only only = guard ? ws_probe_only_if(w->probe, guard, !a->inst->guard_neg, a->inst->block) : (struct ws_probe_only){ .n = 0 };
	const char *skip = known || only.n ? ws_code_label(c) : NULL, *place;
	uint32_t bytes = w->probe->unit != WORD ? a->bytes * WORD / w->probe->unit : a->bytes;

	if (known)
		ws_code_add(c, "@%s%s bra %s;", a->inst->guard_neg ? "" : "!", guard->name, skip);
	for (unsigned k = 0; k < only.n; k++)
		ws_code_add(c, "@%s%s bra %s;", only.of[k].is ? "!" : "", only.of[k].r->name, skip);
	place = ws_code_address(c, a);
	if (w->probe->unit != WORD)
		place = place_of(w, c, place);
	for (uint32_t done = 0; done < bytes; done += MOST)
		check_piece(w, c, a, place, done, bytes - done < MOST ? bytes - done : MOST);
	if (skip)
		ws_code_add(c, "%s:", skip);
	ws_code_text(c, &w->out);
}

static void write_barrier(struct writing *w, const struct ws_ptx_inst *i)
{
	const char *all[] = { w->self, "4294967295" };
	struct ws_code *c = ws_code_entry(w->p, w->f);

	if (i->mode == WS_MODE_WARP_SYNC) {
		ws_code_add(c, "bar.warp.sync -1;");
		call(w, c, "race_warp_sync", all, 2);
	} else {
		const char *look = ws_code_temp(c, WS_B32);

		w->failed |= !ws_inline(c, "race_call_block_arrive", &w->self, 1, look);
		ws_code_add(c, "bar.sync 0;");
		call(w, c, "race_block_pass", &look, 1);
	}
	ws_code_text(c, &w->out);
}

/* commit_group and wait_group; wait_all commits, too. */
static void write_wait(struct writing *w, const struct ws_ptx_inst *i)
{
	struct ws_code *c = ws_code_entry(w->p, w->f);
	int64_t groups = ws_rw_async(w->f, i) == WS_RW_COPY_WAIT ? ws_rw_copy_groups(w->f, i) : -1;
	const char *n = text_of(w->p, groups > 0 ? (uint64_t)groups : 0);

	if (groups < 0)
		call(w, c, "race_copy_commit", NULL, 0);
	if (ws_rw_async(w->f, i) == WS_RW_COPY_WAIT)
		call(w, c, "race_copy_wait", &n, 1);
	ws_code_text(c, &w->out);
}

static void write_instruction(struct writing *w, const struct ws_ptx_inst *i)
{
	if (w->probe->access[i->index])
		write_access(w, &w->probe->list[w->probe->access[i->index] - 1]);
	else if (ws_probe_is_barrier(i))
		write_barrier(w, i);
	else if (ws_probe_orders(w->probe, i))
		write_wait(w, i);
	else if (w->probe->kept[i->index] && ws_constants_text(w->f, i, &w->out))
		ws_buf_puts(&w->out, "\n\t");
	else if (w->probe->kept[i->index])
		ws_buf_printf(&w->out, "%.*s\n\t", (int)i->len, w->f->module->text + i->off);
}

/* ---- blocks ---- */
static void label_of(const struct writing *w, uint32_t block, char *s, size_t size)
{
	if (block == WS_EXIT_BLOCK)
		snprintf(s, size, "%s", w->leave);
	else
		snprintf(s, size, "%s_%u", w->begin, block);
}

/* Into a loop of which two rounds tell for all. */
static void begin_rounds(struct writing *w, struct ws_code *c, uint32_t from, uint32_t to, const char *guard)
{
	for (uint32_t b = 0; b < w->f->nblocks; b++)
		if (w->left[b] && !w->probe->loop[b][from] && ws_probe_loop_begin(w->probe, b) == to)
			ws_code_add(c, "%smov.u32 %s, %d;", guard, w->left[b], ROUNDS_FOR_ALL);
}

/* Jumps back are counted. */
static void write_jump(struct writing *w, uint32_t from, uint32_t to, const char *guard)
{
	const struct ws_ptx_func *f = w->f;
	struct ws_code *c = ws_code_entry(w->p, w->f);
	const char *none = ws_code_temp(c, WS_PRED);
	char name[64];

	label_of(w, to, name, sizeof name);
	begin_rounds(w, c, from, to, guard);
	if (to != WS_EXIT_BLOCK && f->blocks[to].rpo <= f->blocks[from].rpo) {
		ws_code_add(c, "%ssub.u32 %s, %s, 1;", guard, w->rounds, w->rounds);
		ws_code_add(c, "setp.eq.u32 %s, %s, 0;", none, w->rounds);
		ws_code_add(c, "@%s bra %s;", none, w->fail);
	}
	ws_code_add(c, "%sbra %s;", guard, name);
	ws_code_text(c, &w->out);
}

/* Out of the loop, if this was the last round that counts. */
static void end_round(struct writing *w, uint32_t b)
{
	const struct ws_probe *probe = w->probe;
	struct ws_code *c = ws_code_entry(w->p, w->f);
	const char *none = ws_code_temp(c, WS_PRED);
	char guard[64], behind[64];

	ws_code_add(c, "sub.u32 %s, %s, 1;", w->left[b], w->left[b]);
	ws_code_add(c, "setp.eq.u32 %s, %s, 0;", none, w->left[b]);
	snprintf(guard, sizeof guard, "@%s ", none);
	if (probe->when[b])
		begin_rounds(w, c, b, probe->next[b][!ws_probe_loop_side(probe, b)], guard);
	label_of(w, probe->when[b] ? probe->next[b][!ws_probe_loop_side(probe, b)] : WS_EXIT_BLOCK, behind, sizeof behind);
	ws_code_add(c, "%sbra %s;", guard, behind);
	ws_code_text(c, &w->out);
}

/* The way of a branch that goes as the probe's block says. */
static void write_either(struct writing *w, uint32_t b)
{
	struct ws_code *c = ws_code_entry(w->p, w->f);
	const char *bit = ws_code_temp(c, WS_B32), *is = ws_code_temp(c, WS_PRED);
	char guard[64];

	ws_code_add(c, "and.b32 %s, %s, %u;", bit, w->variant, 1u << (w->probe->variant[b] - 1));
	ws_code_add(c, "setp.ne.u32 %s, %s, 0;", is, bit);
	snprintf(guard, sizeof guard, "@%s ", is);
	ws_code_text(c, &w->out);
	write_jump(w, b, w->probe->next[b][1], guard);
}

static void write_only(struct writing *w, uint32_t b, const struct ws_probe_only *only)
{
	char guard[256];

	for (unsigned k = 0; k < only->n; k++) {
		snprintf(guard, sizeof guard, "@%s%s ", only->of[k].is ? "!" : "", only->of[k].r->name);
		write_jump(w, b, only->to, guard);
	}
}

static void write_block(struct writing *w, uint32_t b)
{
	const struct ws_probe *probe = w->probe;
	char name[64], guard[256];

	label_of(w, b, name, sizeof name);
	ws_buf_printf(&w->out, "%s:\n\t", name);
	write_only(w, b, &probe->before[b]);
	for (uint32_t k = w->f->blocks[b].first; k <= w->f->blocks[b].last; k++)
		write_instruction(w, &w->f->insts[k]);
	if (w->left[b])
		end_round(w, b);
	if (probe->twice[b]) {
		write_jump(w, b, ws_probe_loop_begin(probe, b), "");
		return;
	}
	if (probe->variant[b]) {
		write_either(w, b);
	} else if (probe->behind[b].n) {
		write_only(w, b, &probe->behind[b]);
	} else if (probe->when[b]) {
		snprintf(guard, sizeof guard, "@%s%s ", probe->unless[b] ? "!" : "", probe->when[b]->name);
		write_jump(w, b, probe->next[b][1], guard);
	}
	write_jump(w, b, probe->next[b][0], "");
}

const char *ws_probe_write(const struct ws_probe *probe, struct ws_pass *p, uint32_t kernel, uint32_t module)
{
	struct writing w = { .probe = probe, .p = p, .f = probe->f };
	const char *proved;

	w.seed = ws_hash((uint32_t[]){ module, kernel }, 2 * sizeof(uint32_t));
	w.number = (uint32_t)(w.seed % WS_RACE_PROOFS);
	w.begin = new_label(&w);
	w.back = new_label(&w);
	w.leave = new_label(&w);
	w.fail = new_label(&w);
	w.self = ws_rw_register(p, w.f, WS_B32);
	w.rounds = ws_rw_register(p, w.f, WS_B32);
	w.variant = ws_rw_register(p, w.f, WS_B32);
	w.constants = ws_rw_register(p, w.f, WS_B64);
	w.left = ws_alloc((w.f->nblocks + 1) * sizeof *w.left);
	for (uint32_t b = 0; b < w.f->nblocks; b++)
		w.left[b] = probe->loop[b] ? ws_rw_register(p, w.f, WS_B32) : NULL;
	proved = write_entry(&w);
	ws_buf_puts(&w.out, "\n\tret;\n\t");
	write_begin(&w, kernel);
	for (uint32_t b = 0; b < w.f->nblocks; b++)
		if (probe->reached[b])
			write_block(&w, b);
	write_end(&w);
	ws_ptx_edit(w.f->module, w.f->off + w.f->len - 1, 0, RANK_COPY, w.out.data);
	ws_buf_free(&w.out);
	free(w.left);
	return w.failed ? NULL : proved;
}

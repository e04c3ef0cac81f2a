/* race.c - the pass `race`: checks for races at accesses, and hooks at all that orders them, for a real GPU.
 *
 * The checks themselves are device code (src/device/race.cu); src/device/race.h says what is called where. A kernel
 * that does something that they do not know is left alone and listed with the reason (reach.c). If it shares functions
 * with kernels that are checked, it tells the hooks in them to do nothing. */
#include "rewrite/ahead.h"
#include "rewrite/apart.h"
#include "rewrite/async.h"
#include "rewrite/class.h"
#include "rewrite/constants.h"
#include "rewrite/exits.h"
#include "rewrite/extent.h"
#include "rewrite/heard.h"
#include "rewrite/length.h"
#include "rewrite/needless.h"
#include "rewrite/parts.h"
#include "rewrite/probe.h"
#include "rewrite/race_priv.h"
#include "rewrite/repeat.h"
#include "rewrite/sure.h"
#include "rewrite/told.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- calls ---- */
const char *ws_race_number(struct ws_pass *p, uint32_t v)
{
	char s[16];

	snprintf(s, sizeof s, "%u", v);
	return ws_arena_strndup(ws_rw_module(p)->arena, s, strlen(s));
}

/* Hooks are jumped over in a launch that needs none: a label for behind them, or NULL. */
const char *ws_race_unless_silent(const struct body *b, struct ws_code *c)
{
	const char *label = b->silent ? ws_code_label(c) : NULL;

	if (label)
		ws_code_add(c, "@%s bra %s;", b->silent, label);
	return label;
}

void ws_race_label(struct ws_code *c, const char *label)
{
	if (label)
		ws_code_add(c, "%s:", label);
}

static bool hook_with_result(const struct body *b, struct ws_code *c, const char *function, const char *const *args, unsigned nargs, const char *result)
{
	const char *label = ws_race_unless_silent(b, c);
	bool done = ws_inline(c, function, args, nargs, result);

	ws_race_label(c, label);
	return done;
}

static bool hook(const struct body *b, struct ws_code *c, const char *function, const char *const *args, unsigned nargs)
{
	return hook_with_result(b, c, function, args, nargs, NULL);
}

/* A place with one call: race_leave before a ret, say. */
bool ws_race_call_at(const struct body *b, struct ws_code *c, const char *function, const char *arg)
{
	bool done = hook(b, c, function, &arg, arg ? 1 : 0);

	ws_code_end(c);
	return done;
}

/* ---- accesses ---- */
/* The checks of shared and global memory have a fast part of their own, which knows the thread's index. */
static const char *function_of(const struct body *b, const struct ws_rw_access *a, bool *fast)
{
	enum { PLACED, CALLED, CALLED4, PARTS };
	static const char *const names[][4][3] = {
		[WS_RW_READ] = { { "race_read_global", "race_read_shared", "race_read" },
		                 { "race_call_read_global", "race_read_shared", "race_read" },
		                 { "race_call_read4_global", "race_read4_shared", "race_read" },
		                 { "race_read_part_global", "race_call_read_part_global", "race_read_part_shared" } },
		[WS_RW_WRITE] = { { "race_write_global", "race_write_shared", "race_write" },
		                  { "race_call_write_global", "race_write_shared", "race_write" },
		                  { "race_call_write4_global", "race_write4_shared", "race_write" },
		                  { "race_write_part_global", "race_call_write_part_global", "race_write_part_shared" } },
		[WS_RW_ATOMIC] = { { "race_atomic_global", "race_atomic_shared", "race_atomic" },
		                   { "race_call_atomic_global", "race_atomic_shared", "race_atomic" } },
	};
	unsigned space = a->space == WS_SPACE_GLOBAL ? 0 : a->space == WS_SPACE_SHARED ? 1 : 2;
	bool weak = !ws_rw_strong(a) && a->kind != WS_RW_ATOMIC, four = a->bytes == 4 && weak;
	bool placed = space != 1 && !b->unlikely && b->calls == WS_CALLS_NONE;

	*fast = space < 2;
	if (b->peers && !*fast)
		return a->kind == WS_RW_READ ? "race_peer_read" : a->kind == WS_RW_WRITE ? "race_peer_write" : "race_peer_atomic";
	if (space == 0 && four && a->kind == WS_RW_WRITE && b->asks && placed)
		return "race_write_locked_global";
	if (a->bytes < 4 && (space == 0 ? weak : space == 1 && a->kind != WS_RW_ATOMIC))
		return names[a->kind][PARTS][space ? 2 : placed ? 0 : 1];
	return names[a->kind][placed ? PLACED : four ? CALLED4 : CALLED][space];
}

const char *ws_race_thread(struct body *b)
{
	struct ws_code *c;

	if (b->thread)
		return b->thread;
	b->thread = ws_rw_register(b->race->p, b->f, WS_B32);
	c = ws_code_entry(b->race->p, b->f);
	ws_inline(c, "race_thread", NULL, 0, b->thread);
	ws_code_end(c);
	return b->thread;
}

/* Is the check all that is left of the access? */
static bool takes_place(const struct body *b, const struct ws_rw_access *a)
{
	return b->race->range && !ws_rw_strong(a) && !a->needed.p && (a->inst->op == WS_OP_ld || a->inst->op == WS_OP_st) && a->bytes <= WS_RW_MOST_CHECKED;
}

/* A predicate of launches in which a write has to be compared with writes alone, for nothing is read that may meet it; NULL: none. */
static const char *unread_of(const struct body *b, const struct ws_rw_access *a)
{
	return ws_ranges_plain_word(a) && b->ranges && !b->race->many && !b->unlikely ? ws_ranges_unread(b->ranges) : NULL;
}

/* A short check at its place, and a call in other launches. */
static bool check_unread(struct ws_code *c, const char *unread, const char *const *args)
{
	enum { NARGS = 6 };
	const char *other = ws_code_label(c), *behind = ws_code_label(c);
	bool done;

	ws_code_add(c, "@!%s bra %s;", unread, other);
	done = ws_inline(c, "race_write_unread_global", args, NARGS, NULL);
	ws_code_add(c, "bra %s;", behind);
	ws_race_label(c, other);
	done = done && ws_inline(c, "race_call_write4_global", args, NARGS, NULL);
	ws_race_label(c, behind);
	return done;
}

bool ws_race_check(struct body *b, struct ws_code *c, const struct ws_rw_access *a, const char *address, const char *kind,
		  const char *site)
{
	enum { THREAD, ADDRESS, WHAT, SITE, VALUES };
	bool fast;
	const char *function = function_of(b, a, &fast), *unread = unread_of(b, a), *words[4], *args[VALUES + 2] = { NULL, address, kind, site };
	const char *const *first = fast ? args : args + ADDRESS;
	unsigned nargs = (a->kind == WS_RW_WRITE ? VALUES + 2 : VALUES) - (fast ? 0 : ADDRESS);

	if (takes_place(b, a))
		return ws_inline(c, a->kind == WS_RW_WRITE ? "race_wrote" : "race_read", args + ADDRESS, VALUES - ADDRESS, NULL);
	args[THREAD] = fast ? ws_race_thread(b) : NULL;
	if (a->kind == WS_RW_WRITE && a->inst->op == WS_OP_mbarrier)
		words[0] = words[1] = "0";           /* it is not known what an object looks like */
	else if (a->kind == WS_RW_WRITE)
		ws_code_stored(c, a, words);
	for (unsigned at = 0; at < a->bytes; at += WS_RW_MOST_CHECKED) {
		if (at) {
			args[ADDRESS] = ws_code_temp(c, WS_B64);
			ws_code_add(c, "add.s64 %s, %s, %u;", args[ADDRESS], address, at);
		}
		if (a->kind == WS_RW_WRITE) {
			args[VALUES] = words[at / 8];
			args[VALUES + 1] = words[at / 8 + 1];
		}
		if (unread)
			return check_unread(c, unread, args);
		if (!ws_inline(c, function, first, nargs, NULL))
			return false;
	}
	return true;
}

/* The address for the hook behind the access: kept from before if the access itself overwrites its register. */
static bool keep_address(struct body *b, struct ws_code *c, const struct ws_rw_access *a, const char *address)
{
	if (!ws_ptx_sets(a->inst, a->address->reg))
		return false;
	if (!b->kept)
		b->kept = ws_rw_register(b->race->p, b->f, WS_B64);
	ws_code_add(c, "mov.b64 %s, %s;", b->kept, address);
	return true;
}

bool ws_race_may_be_of_peer(const struct body *b, const struct ws_rw_access *a)
{
	return b->peers && a->space != WS_SPACE_GLOBAL && a->space != WS_SPACE_SHARED;
}

/* 32 bits of what the access has read, in a register; NULL: it has no such result. */
static const char *result_of(struct ws_code *c, const struct ws_rw_access *a)
{
	const struct ws_operand *o = a->inst->ops;
	unsigned bytes = o->kind == WS_O_REG && o->reg && !o->component && o->reg->vec == 1 ? ws_type_bytes(o->reg->type) : 0;
	const char *low, *high;

	if ((bytes != 4 && bytes != 8) || !ws_ptx_sets(a->inst, o->reg))
		return NULL;
	low = ws_code_temp(c, WS_B32);
	if (bytes == 4) {
		ws_code_add(c, "mov.b32 %s, %s;", low, ws_code_register(c, o));
	} else {
		high = ws_code_temp(c, WS_B32);
		ws_code_add(c, "mov.b64 {%s, %s}, %s;", low, high, ws_code_register(c, o));
	}
	return low;
}

static bool acquire_behind(struct body *b, const struct ws_rw_access *a, bool kept)
{
	struct ws_code *c = ws_code_at(b->race->p, b->f, a->inst, WS_AFTER);
	const char *args[] = { kept ? b->kept : ws_code_address(c, a), ws_race_number(c->p, ws_rw_what(a, false, true)), NULL };
	bool peer = ws_race_may_be_of_peer(b, a), done;

	args[2] = peer || ws_rw_acquires(a) ? NULL : result_of(c, a);
	done = args[2] ? hook(b, c, "race_acquire_found", args, 3) : hook(b, c, peer ? "race_peer_acquire" : "race_acquire", args, 2);

	ws_code_end(c);
	return done;
}

/* A read that acquires nothing is not noted as one that waits. */
uint32_t ws_race_what(const struct body *b, const struct ws_rw_access *a, bool update)
{
	uint32_t w = ws_rw_what(a, update, b->ordering);

	return w & ~(b->cluster ? (uint32_t)WS_RACE_BARRIERS : 0) & ~(ws_heard_acquire(b->heard, a) ? 0 : (uint32_t)WS_RACE_RETRIES);
}

void ws_race_note_site(struct body *b, const struct ws_rw_access *a, const struct ws_ptx_inst *read, uint32_t site)
{
	struct ws_pass *p = b->race->p;
	struct ws_rw_site *s = ws_rw_new_site(p);
	struct ws_buf place = { 0 };

	ws_ptx_where(ws_rw_module(p), a->inst, &place);
	*s = (struct ws_rw_site){ .func = b->f, .inst = a->inst, .rw_class = a->rw_class, .kind = a->kind, .space = a->space,
	                          .bytes = a->bytes, .read = read, .number = site, .may_fail = ws_race_is_lock(b, a) };
	s->place = ws_arena_strndup(ws_rw_module(p)->arena, place.data, place.len);
	ws_buf_free(&place);
}

static struct ws_rw_kernel *kernel_of(const struct race *r, const struct ws_ptx_func *f)
{
	uint32_t k = 0;

	while (r->reach.kernels[k].func != f)
		k++;
	return &r->reach.kernels[k];
}

/* Over the check of an access to shared memory, where the kernel's probe has found nothing. */
static const char *skip_proved(const struct body *b, struct ws_code *c, const struct ws_rw_access *a)
{
	const char *label = b->proved && a->space == WS_SPACE_SHARED ? ws_code_label(c) : NULL;

	if (label)
		ws_code_add(c, "@%s bra %s;", b->proved, label);
	return label;
}

/* Labels behind a check, for launches that are known not to need it; NULL: of no such reason. */
struct skips { const char *probed, *own, *ranges, *again; };

static struct skips begin_skips(const struct body *b, struct ws_code *c, const struct ws_rw_access *a, const char *address)
{
	struct skips s = { .probed = skip_proved(b, c, a) };

	s.own = b->shared ? ws_shared_ranges_skip(b->shared, c, a) : NULL;
	s.ranges = b->ranges ? ws_ranges_skip(b->ranges, c, a, address) : NULL;
	s.again = ws_repeats_skip(b->repeats, c, a);
	return s;
}

static void end_skips(struct ws_code *c, const struct skips *s)
{
	ws_race_label(c, s->again);
	ws_race_label(c, s->ranges);
	ws_race_label(c, s->own);
	ws_race_label(c, s->probed);
}

/* The check, with its address and `what`, jumped over where it is not needed. swap: where it stands behind the access, else NULL. */
static bool check_if_needed(struct body *b, struct ws_code *c, const struct ws_rw_access *a, const char *address, const char *what,
			    const struct ws_race_swap *swap)
{
	struct skips skips = begin_skips(b, c, a, address);
	const char *site;
	bool done;

	b->unlikely = skips.own || skips.ranges;
	b->always += !b->unlikely;
	if (b->kernel && !b->unlikely && !b->may_be_silent && a->space == WS_SPACE_GLOBAL && a->kind != WS_RW_READ)
		kernel_of(b->race, b->f)->left++;
	site = ws_race_number(b->race->p, b->race->nsites++);
	done = swap ? ws_race_behind_swap(b, c, a, swap, address, what, site) : ws_race_check(b, c, a, address, what, site);
	b->unlikely = false;
	end_skips(c, &skips);
	return done;
}

static bool look_if_needed(struct body *b, struct ws_code *c, const struct ws_rw_access *a, const char *const *args, struct ws_race_swap *swap)
{
	struct skips skips = begin_skips(b, c, a, args[0]);
	bool done = ws_race_before_swap(b, c, a, args[0], args[1], swap);

	end_skips(c, &skips);
	return done;
}

/* The check of four reads, or of those of many rounds of a loop. */
static bool check_four(struct body *b, struct ws_code *c, const struct ws_rw_access *a, const char *const args[4])
{
	unsigned fours = 1;
	const char *rounds = ws_ahead_rounds(b->ahead, c, a, &fours), *more, *all[5];
	bool done;

	if (!rounds)
		return ws_inline(c, b->calls != WS_CALLS_NONE || b->unlikely ? "race_call_read_four_global" : "race_read_four_global", args, 4, NULL);
	memcpy(all, args, 4 * sizeof *args);
	all[2] = ws_race_number(b->race->p, (uint32_t)strtoul(args[2], NULL, 10) | WS_RACE_FOURS(fours));
	all[4] = rounds;
	more = ws_code_temp(c, WS_B32);
	done = ws_inline(c, "race_read_ahead_global", all, 5, more);
	ws_ahead_note(b->ahead, c, a, args[1], more);
	return done;
}

/* Reads of four words side by side: a check of 16 bytes before the first of them. */
static bool access_four(struct body *b, const struct ws_rw_access *a)
{
	struct race *r = b->race;
	struct ws_code *c = ws_code_access(r->p, b->f, a);
	struct ws_rw_access four = *a;
	const char *address = ws_code_address(c, a), *skip = b->ranges ? ws_ranges_skip(b->ranges, c, a, address) : NULL;
	const char *ahead = ws_ahead_skip(b->ahead, c, a, address);
	const char *args[] = { ws_race_thread(b), address, NULL, ws_race_number(r->p, r->nsites) };
	bool done;

	four.bytes = 16;
	args[2] = ws_race_number(r->p, ws_rw_what(&four, false, b->ordering) | WS_RACE_FOUR);
	for (unsigned k = 0; k < 4; k++)
		ws_race_note_site(b, &a[k], NULL, r->nsites++);
	b->unlikely = skip;
	b->always += !skip;
	done = check_four(b, c, a, args);
	b->unlikely = false;
	ws_race_label(c, ahead);
	ws_race_label(c, skip);
	ws_code_end(c);
	return done;
}

static bool check_behind(struct body *b, const struct ws_rw_access *a, const struct ws_race_swap *swap, const char *what, bool kept)
{
	struct ws_code *c = ws_code_at(b->race->p, b->f, a->inst, WS_AFTER);
	bool done = check_if_needed(b, c, a, kept ? b->kept : ws_code_address(c, a), what, swap);

	ws_code_end(c);
	return done;
}

static bool access(struct body *b, const struct ws_rw_access *a, const struct ws_ptx_inst *read)
{
	struct race *r = b->race;
	bool observes = b->asks && ws_rw_strong(a) && (a->kind == WS_RW_READ || a->inst->op == WS_OP_atom) && ws_heard_acquire(b->heard, a);
	bool behind = ws_race_checks_behind(b, a), kept = false, done;
	struct ws_code *c = ws_code_access(r->p, b->f, a);
	const char *args[] = { ws_code_address(c, a), ws_race_number(r->p, ws_race_what(b, a, read != NULL)) };
	struct ws_race_swap swap;

	ws_race_note_site(b, a, read, r->nsites);
	done = behind ? look_if_needed(b, c, a, args, &swap) : check_if_needed(b, c, a, args[0], args[1], NULL);
	if (done && b->asks && ws_rw_strong(a) && a->kind != WS_RW_READ && ws_heard_release(b->heard, a))
		done = hook(b, c, ws_race_may_be_of_peer(b, a) ? "race_peer_release" : "race_release", args, 2);
	if (observes || behind)
		kept = keep_address(b, c, a, args[0]);
	if (takes_place(b, a))
		ws_code_replace(c);
	else
		ws_code_end(c);
	if (ws_apart_needed(b->f, a) && !takes_place(b, a))
		ws_apart_keep(r->p, b->f, a->inst, ws_race_thread(b));
	/* What acquires is itself behind what was released there (PTX ISA 9.0, Memory Consistency Model, Causality Order). */
	if (behind && observes && ws_rw_acquires(a))
		return done && acquire_behind(b, a, kept) && check_behind(b, a, &swap, args[1], kept);
	return done && (!behind || check_behind(b, a, &swap, args[1], kept)) && (!observes || acquire_behind(b, a, kept));
}

/* ---- what orders ---- */
static bool fence(struct body *b, struct ws_ptx_inst *i)
{
	struct ws_pass *p = b->race->p;
	bool sc = i->op == WS_OP_membar || i->sem == WS_SEM_SC;
	uint32_t half = i->sem == WS_SEM_ACQUIRE ? WS_RACE_ACQUIRES : i->sem == WS_SEM_RELEASE ? WS_RACE_RELEASES : 0;
	uint32_t what = WS_RACE_CLASS(ws_rw_class_of((enum ws_scope)i->scope, WS_RACE_STRONG_CTA)) | (sc ? WS_RACE_SC : half);
	const char *scope = ws_race_number(p, what | (sc && b->meets ? WS_RACE_MEETS : 0));

	return ws_race_call_at(b, ws_code_at(p, b->f, i, WS_BEFORE), "race_fence_before", scope) &&
	       (!b->asks || ws_race_call_at(b, ws_code_at(p, b->f, i, WS_AFTER), "race_fence_after", scope)) &&
	       (!b->race->clocks || ws_race_call_at(b, ws_code_at(p, b->f, i, WS_AFTER), "race_clock_fence", NULL));
}

/* How many threads a barrier is of, where it says so: bar.sync a, b; bar.red d, a, b, p. */
static const struct ws_operand *threads_of(const struct ws_ptx_inst *i)
{
	unsigned at = i->mode == WS_MODE_RED ? 2 : 1, last = i->mode == WS_MODE_RED ? i->nops - 1u : i->nops;

	return at < last ? &i->ops[at] : NULL;
}

/* Is that every thread of the block, by what the kernel says of its blocks? */
static bool all_threads(const struct ws_ptx_func *f, const struct ws_operand *threads)
{
	enum { WARP = 32 };
	uint64_t n = ws_ptx_threads(f->reqntid);

	return n && threads->kind == WS_O_INT && threads->imm == (n + WARP - 1) / WARP * WARP;
}

const char *ws_race_value(struct ws_code *c, const struct ws_operand *o)
{
	return o->kind == WS_O_REG ? ws_code_register(c, o) : ws_race_number(c->p, (uint32_t)o->imm);
}

/* Is it, or may it be, one of a part of the block? Where threads arrive without waiting, all are taken to be. */
static bool is_part(const struct race *r, const struct ws_ptx_func *f, const struct ws_ptx_inst *i)
{
	return r->arrives || (threads_of(i) && !all_threads(f, threads_of(i)));
}

static bool part_barrier(struct body *b, struct ws_ptx_inst *i, const char *function, enum ws_side side)
{
	struct ws_code *c = ws_code_at(b->race->p, b->f, i, side);
	const char *args[] = { ws_race_value(c, &i->ops[i->mode == WS_MODE_RED]),
	                       b->race->arrives ? ws_race_number(b->race->p, WS_RACE_PART) : ws_race_value(c, threads_of(i)) };
	bool done = hook(b, c, function, args, 2);

	ws_code_end(c);
	return done;
}

/* Where but barriers and syncs order anything: what was found before it says whether there is anything to look at behind it. */
static bool block_barrier(struct body *b, struct ws_ptx_inst *i)
{
	struct ws_code *c = ws_code_at(b->race->p, b->f, i, WS_BEFORE);
	const char *thread = ws_race_thread(b);
	bool done;

	if (!b->look)
		b->look = ws_rw_register(b->race->p, b->f, WS_B32);
	done = hook_with_result(b, c, b->calls == WS_CALLS_ALL ? "race_call_block_arrive" : "race_block_arrive", &thread, 1, b->look);
	ws_code_end(c);
	return done && ws_race_call_at(b, ws_code_at(b->race->p, b->f, i, WS_AFTER), "race_block_pass", b->look);
}

static bool barrier(struct body *b, struct ws_ptx_inst *i)
{
	if (is_part(b->race, b->f, i))
		return part_barrier(b, i, "race_part_arrive", WS_BEFORE) &&
		       (i->mode == WS_MODE_ARRIVE || part_barrier(b, i, "race_part_pass", WS_AFTER));
	if (!b->ordering)
		return block_barrier(b, i);
	return ws_race_call_at(b, ws_code_at(b->race->p, b->f, i, WS_BEFORE), "race_barrier_arrive", NULL) &&
	       ws_race_call_at(b, ws_code_at(b->race->p, b->f, i, WS_AFTER), "race_barrier", NULL);
}

/* ---- barriers of the cluster ---- */
static bool cluster_barrier(struct body *b, struct ws_ptx_inst *i, bool wait)
{
	struct ws_pass *p = b->race->p;
	struct ws_code *c = ws_code_at(p, b->f, i, wait ? WS_AFTER : WS_BEFORE);

	if (!b->race->splits)
		return ws_race_call_at(b, c, wait ? "race_cluster_pass" : "race_cluster_arrive", b->ordering ? "1" : "0");
	if (wait)
		return ws_race_call_at(b, c, "race_cluster_acquire", NULL);
	return ws_race_call_at(b, c, "race_cluster_release", ws_race_number(p, i->sem == WS_SEM_RELAXED ? 0 : WS_RACE_RELEASES));
}

static bool warp_sync(struct body *b, struct ws_ptx_inst *i)
{
	struct ws_code *c = ws_code_at(b->race->p, b->f, i, WS_AFTER);

	const char *args[] = { ws_race_thread(b), ws_race_value(c, &i->ops[0]) };
	bool done = hook(b, c, "race_warp_sync", args, 2);

	ws_code_end(c);
	return done;
}

/* ---- instructions ---- */
/* Instructions of the whole warp, which must come to them together: the compiler knows no way to bring lanes together
 * again that our code has parted. Barriers have a hook that does it. */
static bool is_aligned(const struct ws_ptx_inst *i)
{
	return i->op == WS_OP_mma || i->op == WS_OP_wmma || i->op == WS_OP_ldmatrix || i->op == WS_OP_stmatrix ||
	       i->op == WS_OP_movmatrix || i->op == WS_OP_wgmma;
}

/* setmaxnreg moves registers between warps for speed alone: without it each warp goes on with those of the launch, in which the
 * compiler finds room for whatever there is, our code too. */
static void take_out(struct body *b, struct ws_ptx_inst *i)
{
	ws_code_replace(ws_code_at(b->race->p, b->f, i, WS_BEFORE));
}

static bool instruction(struct body *b, struct ws_ptx_inst *i)
{
	struct ws_pass *p = b->race->p;
	bool wait;

	if (is_aligned(i)) {
		struct ws_code *c = ws_code_at(p, b->f, i, WS_BEFORE);

		ws_race_bring_together(c);
		ws_code_end(c);
	}
	if (i->op == WS_OP_setmaxnreg) {
		take_out(b, i);
		return true;
	}
	if (ws_reach_is_cluster_barrier(i, &wait))
		return cluster_barrier(b, i, wait);

	if (i->op == WS_OP_exit || (i->op == WS_OP_ret && b->kernel))
		return ws_race_call_at(b, ws_code_at(p, b->f, i, WS_BEFORE), "race_leave", NULL);
	if (ws_rw_waits_for_grid(i))
		return ws_race_call_at(b, ws_code_at(p, b->f, i, WS_AFTER), "race_grid_waited", NULL);
	if (ws_reach_is_fence(i) || (b->race->remote && ws_rw_is_init_fence(b->f, i)))
		return fence(b, i);
	if (b->bulk && ws_rw_is_proxy_fence(b->f, i))
		return ws_race_call_at(b, ws_code_at(p, b->f, i, WS_AFTER), "race_proxy_fence", NULL);
	if (ws_rw_is_barrier(i))
		return barrier(b, i);
	return (i->op != WS_OP_bar && i->op != WS_OP_barrier) || warp_sync(b, i);
}

/* ---- functions ---- */
/* Four reads that one check stands for, and that the same proofs may spare. */
static bool is_four(const struct body *b, const struct ws_rw_access *a, const struct ws_needless *needless)
{
	bool four = needless->four;

	for (unsigned k = 1; k < 4 && four; k++)
		four = !needless[k].skip && (!b->ranges || ws_ranges_alike(b->ranges, a, &a[k]));
	return four;
}

static bool insert_at(struct body *b, struct ws_ptx_inst *i, const struct ws_rw_access *a,
		      const struct ws_needless *needless)
{
	if (ws_rw_async(b->f, i) != WS_RW_NOT_ASYNC)
		return ws_race_asynchronous(b, i);
	if (a && a->rw_class == WS_RW_UNHANDLED)
		ws_race_note_site(b, a, NULL, WS_RW_NO_CHECK);
	if (!a || a->rw_class != WS_RW_CHECK)
		return instruction(b, i);
	if (needless->skip || (b->checked && a <= b->checked))
		return true;
	if (is_four(b, a, needless)) {
		b->checked = a + 3;
		return access_four(b, a);
	}
	return access(b, a, needless->read);
}

/* What the functions that a kernel calls do to shared memory. */
static enum ws_shared_use called_use(struct race *r, const struct ws_ptx_func *kernel)
{
	enum ws_shared_use worst = WS_SHARED_NONE, use;
	const struct ws_rw_kernel *k = kernel_of(r, kernel);

	for (uint32_t m = 0; m < r->reach.m->nfuncs; m++) {
		struct ws_ptx_func *f = r->reach.m->funcs[m];
		const struct ws_rw_access *list;
		uint32_t n;

		if (f == kernel || !ws_rw_reaches(k, f))
			continue;
		list = ws_rw_accesses(f, &n);
		use = ws_shared_use(f, list, n);
		worst = use > worst ? use : worst;
	}
	return worst;
}

/* By addresses; and where that leaves some, by parts. */
static void prove_shared(struct body *b, const struct ws_rw_access *list, uint32_t n, const struct ws_intervals *v)
{
	const struct race *r = b->race;

	b->shared = ws_shared_ranges_find(r->p, b->f, list, n, v);
	if (b->f->entry && !r->part && !r->many && ws_shared_ranges_leave(b->shared, list, n) && ws_parts_may(b->f, list, n))
		b->parts = ws_shared_parts_find(r->p, b->f, list, n, v);
}

static void find_needless(struct race *r, struct body *b, struct ws_rw_access *list, uint32_t n,
			  struct ws_needless *out)
{
	struct ws_ptx_func *f = b->f;
	enum ws_shared_use use = f->entry ? called_use(r, f) : WS_SHARED_BARRIER;
	struct ws_intervals *v = use != WS_SHARED_BARRIER ? ws_intervals_find(f, list, n, use == WS_SHARED_WRITE, NULL) : NULL;

	if (v)
		ws_needless_in_intervals(v, out);
	if (v && use == WS_SHARED_NONE)
		prove_shared(b, list, n, v);
	ws_intervals_free(v);
	ws_needless_find(f, list, n, out);
	ws_needless_fours(f, list, n, out);
	ws_area_tables(f, list, n, out);
}

/* Threads of a block as the kernel says: 0 = nothing. */
static unsigned most_threads(const struct ws_ptx_func *f)
{
	uint64_t all = ws_ptx_most_threads(f);

	return all > 1024 ? 1024 : (unsigned)all;
}

/* Modules with more kernels are linked with the checks' functions; those with fewer are compiled with them, as a whole. */
enum { MANY_KERNELS = 8 };

/* A kernel whose launches say nothing of their blocks may have blocks of 1,024 threads, however many registers the
 * checks would like: with more than 64 each it could not be launched. Fewer let more warps run at a time: 32 all that a
 * multiprocessor has room for. So a kernel that may run without checks, where nothing else counts, gets along with what it
 * itself (alone: all of it runs so) and the checks' fast parts need; their calls save registers in memory then. One that has checks
 * in every launch, or fences (checks: any at all), spends its time in those calls: there 64 are faster (on an H200 1.3 times in a
 * search through a graph, 1.1 where a block sums up what others have released). So it is in modules with many kernels: they are linked, not
 * compiled as a whole, and then all functions have as few as the kernel with the fewest, and save those that their callers may use
 * (with 32, up to 25 a call; on an H100 the second-level cache did little else). Products of warpgroups have their
 * results in registers: as many as the kernel itself needs. */
static void limit_registers(struct body *b, bool alone, bool checks)
{
	enum { LEAST = 32, MOST = 64, ALL = 65536, OF_THREAD = 248, STEP = 8, SPARE = 8, CHECKS = 24 };
	struct ws_ptx_func *f = b->f;
	unsigned n = (ws_rw_pressure(f) + (alone ? SPARE : CHECKS) + STEP - 1) / STEP * STEP, threads = most_threads(f);
	unsigned most = !threads ? (b->tensor ? OF_THREAD : MOST) : ALL / threads < OF_THREAD ? ALL / threads / STEP * STEP : OF_THREAD;
	char text[32];

	if (checks && (!alone || b->ordering || b->tensor || b->race->reach.nkernels > MANY_KERNELS) && n < MOST)
		n = MOST;
	for (uint32_t k = 0; k < f->ninsts && !b->tensor; k++)   /* what is called has registers, too; and some of mma need many */
		n = f->insts[k].call || is_aligned(&f->insts[k]) ? most : n;
	if (f->maxnreg || f->minnctapersm || (threads && n >= most))
		return;
	snprintf(text, sizeof text, ".maxnreg %u\n", n < LEAST ? LEAST : n < most ? n : most);
	ws_ptx_edit(ws_rw_module(b->race->p), f->body_off, 0, RANK_DECLARE, text);
}

/* The first warp of a block decides, and tells the others; they go through the proofs only if there is something to check,
 * for then they need all that was found on the way. The proofs are hundreds of instructions: more than what many kernels do
 * in a thread. */
static void decide_for_block(struct body *b, const char *silent, const char *copy)
{
	struct ws_pass *p = b->race->p;
	struct ws_code *c = ws_code_first(p, b->f);
	const char *others = ws_rw_register(p, b->f, WS_PRED), *again = ws_rw_register(p, b->f, WS_PRED), *word, *told;
	const char *decide = ws_code_label(c), *wait = ws_code_label(c), *go_on = ws_code_label(c);
	const char *n = ws_code_temp(c, WS_B32), *size = ws_code_temp(c, WS_B32), *thread = ws_code_temp(c, WS_B32);

	ws_code_add(c, "mov.u32 %s, %%tid.z;", thread);
	ws_code_add(c, "mov.u32 %s, %%ntid.y;", size);
	ws_code_add(c, "mov.u32 %s, %%tid.y;", n);
	ws_code_add(c, "mad.lo.s32 %s, %s, %s, %s;", thread, thread, size, n);
	ws_code_add(c, "mov.u32 %s, %%ntid.x;", size);
	ws_code_add(c, "mov.u32 %s, %%tid.x;", n);
	ws_code_add(c, "mad.lo.s32 %s, %s, %s, %s;", thread, thread, size, n);
	ws_code_add(c, "setp.ge.u32 %s, %s, %d;", others, thread, WS_WARP);
	ws_code_add(c, "setp.ne.u32 %s, 0, 0;", again);
	ws_code_add(c, "@%s bra %s;", others, wait);
	ws_code_add(c, "%s:", decide);
	ws_code_end(c);
	c = ws_code_entry(p, b->f);
	word = ws_code_temp(c, WS_B32);
	told = ws_code_temp(c, WS_PRED);
	ws_code_add(c, "@%s bra %s;", again, go_on);
	ws_code_add(c, "selp.b32 %s, 1, 0, %s;", word, silent);
	ws_code_add(c, "st.shared.u32 [__warpsafe_block+%d], %s;", WS_RACE_SILENT_AT, word);
	ws_code_add(c, "%s:", wait);
	ws_code_add(c, "bar.sync 0;");
	ws_code_add(c, "ld.shared.u32 %s, [__warpsafe_block+%d];", word, WS_RACE_SILENT_AT);
	ws_code_add(c, "setp.ne.u32 %s, %s, 0;", told, word);
	ws_code_add(c, "@%s bra %s;", told, copy);
	ws_code_add(c, "mov.pred %s, %s;", again, others);
	ws_code_add(c, "@%s bra %s;", others, decide);
	ws_code_add(c, "%s:", go_on);
	ws_code_end(c);
}

/* The host is to compute it, too. */
static void let_decide(struct body *b, const char *silent)
{
	struct ws_pass *p = b->race->p;

	if (b->proved)
		ws_buf_printf(&p->decides, "%s %s;\n", b->host_knows ? "proved" : "probed", b->proved);
	else if (b->parts_proved)
		ws_buf_printf(&p->decides, "proved %s;\n", b->parts_proved);
	ws_buf_printf(&p->decides, "silent %s;\n", silent);
	kernel_of(b->race, b->f)->decides = ws_arena_strndup(ws_rw_module(p)->arena, p->decides.data, p->decides.len);
}

/* Launches of which the host has decided it go to the copy at once, but for constants, which the host does not know. silent:
 * NULL if the entry decides no such thing. */
static void be_told(struct body *b, const char *silent, const char *copy)
{
	struct ws_pass *p = b->race->p;
	struct ws_rw_kernel *kernel = kernel_of(b->race, b->f);
	struct ws_code *c = ws_code_first(p, b->f);
	const char *size = ws_code_temp(c, WS_B32), *told = ws_code_temp(c, WS_PRED), *label = ws_code_label(c);
	const char *value = ws_code_temp(c, WS_B64), *is = ws_code_temp(c, WS_PRED);

	ws_code_add(c, "mov.u32 %s, %%dynamic_smem_size;", size);
	ws_code_add(c, "and.b32 %s, %s, %d;", size, size, WS_RACE_TAGS - 1);
	ws_code_add(c, "setp.ne.u32 %s, %s, %d;", told, size, WS_RACE_SILENT_TAG);
	if (silent && b->proved && !b->host_knows) {
		ws_code_add(c, "setp.eq.u32 %s, %s, %d;", is, size, WS_RACE_PROBED_TAG);
		ws_code_add(c, "and.pred %s, %s, %s;", is, is, b->proved);
		ws_code_add(c, "not.pred %s, %s;", is, is);
		ws_code_add(c, "and.pred %s, %s, %s;", told, told, is);
	}
	ws_code_add(c, "@%s bra %s;", told, label);
	for (unsigned k = 0; k < p->nunless && k < WS_RW_MOST_UNLESS; k++) {
		const struct ws_rw_unless *u = &p->unless[k];

		ws_code_add(c, "ld.const.%s %s, [%s+%lld];", u->bytes == 4 ? "s32" : "u64", value, u->sym->name, (long long)u->offset);
		ws_code_add(c, "setp.eq.s64 %s, %s, %lld;", is, value, (long long)u->k);
		ws_code_add(c, "@%s bra %s;", is, label);
	}
	is = silent && ws_ranges_has_counter(b->ranges) ? ws_ranges_starts_at_zero(b->ranges, c) : NULL;
	if (is)
		ws_code_add(c, "@!%s bra %s;", is, label);
	ws_code_add(c, "bra %s;", copy);
	ws_code_add(c, "%s:", label);
	ws_code_end(c);
	kernel->fixed = b->fixed;
	if (!silent)
		return;
	let_decide(b, silent);
}

/* Where what is left is proved by parts of shared memory, and the host can say all else. */
static void be_in_parts(struct body *b, const struct ws_rw_access *list, uint32_t n)
{
	struct ws_pass *p = b->race->p;
	struct ws_rw_kernel *kernel = kernel_of(b->race, b->f);
	const char *silent = b->ranges ? ws_ranges_silent(b->ranges) : NULL;

	if (!silent || p->nunless || ws_ranges_has_counter(b->ranges) || !b->mark || !kernel->extents)
		return;
	if (!kernel->decides)
		let_decide(b, silent);
	kernel->parts = b->parts->text;
	kernel->nparts = b->parts->n;
	ws_parts_write(p, b->f, list, n, b->parts);
	ws_parts_behind(p, b->f, b->mark);
}

/* Launches in which no access needs a check run a copy of the kernel without hooks, or (no copy) jump over them. */
static bool be_silent(struct body *b)
{
	bool may = b->ranges && (!b->parts_proved || ws_ranges_silent_by_proofs(b->ranges));
	const char *silent = may ? ws_ranges_silent(b->ranges) : NULL;
	const char *copy = silent || b->fixed ? ws_rw_copy(b->race->p, b->f) : NULL;

	b->may_be_silent = silent;
	b->silent = copy ? NULL : silent;
	if (copy && b->race->p->nunless <= WS_RW_MOST_UNLESS)
		be_told(b, silent, copy);
	if (copy && silent)
		decide_for_block(b, silent, copy);
	if (copy && !b->race->p->nunless && !(silent && ws_ranges_has_counter(b->ranges)))      /* the host does not know what is in memory */
		kernel_of(b->race, b->f)->plain = ws_rw_plain(b->race->p, b->f);
	return copy != NULL;
}

enum { IN_SLOT = WS_REACH_PEERS | WS_REACH_BULK };     /* cells of shared memory must be */

static uint32_t access_needs(const struct body *b, const struct ws_rw_access *a)
{
	bool lock = b->asks && a->space != WS_SPACE_SHARED && ws_rw_may_lock(a);

	return (a->space != WS_SPACE_GLOBAL ? WS_RACE_NEEDS_SHARED : 0) | (lock ? WS_RACE_HAS_LOCKS : 0);
}

/* What the slot of a block of this kernel would be for: WS_RACE_NEEDS_... */
static uint32_t needs(const struct body *b, const struct ws_rw_kernel *kernel)
{
	const struct ws_ptx_module *m = b->race->reach.m;
	unsigned has = ws_reach_has(&b->race->reach, kernel);
	uint32_t needs = has & (WS_REACH_COPIES | WS_REACH_BULK) ? WS_RACE_NEEDS_STATES | WS_RACE_NEEDS_SHARED | WS_RACE_NEEDS_COPIES : 0, n;

	needs |= has & WS_REACH_CLUSTER ? WS_RACE_NEEDS_ROWS : 0;
	needs |= has & IN_SLOT ? WS_RACE_NEEDS_SHARED | WS_RACE_NEEDS_SLOT : 0;

	for (uint32_t k = 0; k < m->nfuncs; k++) {
		const struct ws_rw_access *list;

		if (!ws_rw_reaches(kernel, m->funcs[k]))
			continue;
		if (b->race->reach.funcs[m->funcs[k]->sym->index].ordering && b->asks)
			needs |= WS_RACE_NEEDS_STATES;
		list = ws_rw_accesses(m->funcs[k], &n);
		for (uint32_t a = 0; a < n; a++)
			if (list[a].rw_class == WS_RW_CHECK)
				needs |= access_needs(b, &list[a]) & ~(m->funcs[k] == b->f && b->needless[a].skip ? WS_RACE_NEEDS_SHARED : 0);
	}
	if (needs & WS_RACE_NEEDS_STATES && !(~has & (WS_REACH_NEAR | WS_REACH_WIDE)))
		needs |= WS_RACE_TWO_FENCES;
	if (needs & WS_RACE_NEEDS_STATES && kernel->clocks)
		needs |= WS_RACE_HAS_CLOCKS;
	return needs & WS_RACE_NEEDS_ROWS ? needs & ~WS_RACE_HAS_LOCKS : needs;
}

/* What race_enter is to know of a kernel. */
static uint32_t number_and_needs(const struct body *b)
{
	const struct ws_rw_kernel *kernel = kernel_of(b->race, b->f);

	return (uint32_t)(kernel - b->race->reach.kernels) | needs(b, kernel);
}

/* Are there checks of shared memory that no proof by addresses may spare? unnamed: or of what may be in it. */
static bool leaves_shared(const struct body *b, const struct ws_rw_access *list, uint32_t n, bool unnamed)
{
	for (uint32_t k = 0; k < n; k++)
		if (list[k].rw_class == WS_RW_CHECK && (list[k].space == WS_SPACE_SHARED || (unnamed && list[k].space != WS_SPACE_GLOBAL)) &&
		    !b->needless[k].skip && !(b->shared && ws_shared_ranges_may(b->shared, &list[k])))
			return true;
	return false;
}

/* The kernel's probe, if it can have one, and what the host must know of it. */
static bool add_probe(struct body *b, const struct ws_rw_access *list, uint32_t n)
{
	struct race *r = b->race;
	struct ws_rw_kernel *kernel = kernel_of(r, b->f);
	struct ws_ptx_module *m = ws_rw_module(r->p);
	struct ws_probe *probe = ws_probe_find(b->f, list, n, &kernel->no_probe);
	struct ws_probe_value *reads;

	if (!probe)
		return true;
	b->host_knows = !probe->nconstants;
	b->proved = ws_probe_write(probe, r->p, number_and_needs(b), ws_rw_result_of(r->p)->module);
	reads = ws_arena_alloc(m->arena, (probe->nparams + 1) * sizeof *reads);
	if (probe->nparams)
		memcpy(reads, probe->params, probe->nparams * sizeof *reads);
	kernel->probe = true;
	kernel->probe_unit = probe->unit;
	kernel->probe_blocks = 1u << probe->nvariants;
	kernel->probe_reads = reads;
	kernel->nprobe_reads = (uint32_t)probe->nparams;
	ws_probe_free(probe);
	return b->proved != NULL;
}

static bool has_checks(const struct ws_rw_access *list, uint32_t n, const struct ws_needless *needless)
{
	for (uint32_t k = 0; k < n; k++)
		if (list[k].rw_class == WS_RW_CHECK && !needless[k].skip)
			return true;
	return false;
}

/* Do launches with the same parameters all the same accesses? */
static void find_fixed(struct body *b, const struct ws_rw_access *list, uint32_t n, const struct ws_needless *needless)
{
	struct ws_rw_kernel *kernel = kernel_of(b->race, b->f);
	struct ws_probe_value *by = NULL;
	size_t nby;

	b->fixed = (b->copies || has_checks(list, n, needless)) && !b->ordering && !b->race->part &&
	           ws_launch_is_fixed(b->f, b->copies ? ws_rw_with_copies(b->f, list, n, 0) : list, n, &by, &nby);
	kernel->fixed_by = by;
	kernel->nfixed_by = b->fixed ? (uint32_t)nby : 0;
}

/* What proofs find of a launch the host may have found already. Not where it depends on what the host does not know: constants, a
 * counter in memory. What its probe has found the kernel knows before that. */
static void take_results(struct body *b)
{
	struct ws_pass *p = b->race->p;

	if (b->mark && !p->nunless && !(b->ranges && ws_ranges_has_counter(b->ranges)))
		b->told = ws_rw_take_told(p, b->f, b->mark, b->parts_proved ? b->parts_proved : b->host_knows ? b->proved : NULL, &kernel_of(b->race, b->f)->tells);
}

/* A predicate: no cells of shared memory are needed, for the probe has found nothing, or all is proved by addresses; NULL: it is not known. */
static const char *without_cells(const struct body *b, struct ws_code *c)
{
	const char *all;

	if (!kernel_of(b->race, b->f)->bare)
		return b->proved;
	all = ws_code_temp(c, WS_PRED);
	ws_code_add(c, "setp.eq.u32 %s, 0, 0;", all);
	ws_shared_ranges_demand(b->shared, c, all);
	if (b->proved)
		ws_code_add(c, "or.pred %s, %s, %s;", all, all, b->proved);
	return all;
}

static bool call_enter(struct body *b)
{
	struct ws_code *c = ws_code_entry(b->race->p, b->f);
	uint32_t arg = number_and_needs(b), has;
	const char *which = ws_race_number(b->race->p, arg), *args[2], *without;
	bool done;

	if (b->told) {
		b->sure = b->proved && !b->host_knows ? NULL : ws_sure_begin(b->race->p, b->f, b->mark, b->proved);
		ws_race_label(c, b->told);
	}
	without = arg & WS_RACE_NEEDS_SHARED ? without_cells(b, c) : NULL;
	if (without) {
		which = ws_code_temp(c, WS_B32);
		ws_code_add(c, "selp.b32 %s, %u, %u, %s;", which, arg & ~WS_RACE_NEEDS_SHARED, arg, without);
	}
	args[0] = which;
	args[1] = b->mark;
	done = hook(b, c, b->mark ? "race_enter_in" : "race_enter", args, b->mark ? 2 : 1);
	ws_code_end(c);
	has = ws_reach_has(&b->race->reach, kernel_of(b->race, b->f));
	if (!done || !(has & WS_REACH_CLUSTER))
		return done;
	ws_rw_need(b->race->p, 78, 90);
	return ws_race_call_at(b, ws_code_entry(b->race->p, b->f), "race_cluster", has & WS_REACH_PEERS ? "1" : "0");
}

/* A predicate that is false. */
static const char *never(struct ws_pass *p, struct ws_ptx_func *f)
{
	const char *made = ws_rw_register(p, f, WS_PRED);
	struct ws_code *c = ws_code_entry(p, f);

	ws_code_add(c, "setp.ne.u32 %s, 0, 0;", made);
	ws_code_end(c);
	return made;
}

/* The entry of a checked kernel: what its addresses prove comes first, for it may be that nothing else is to be done. */
static bool enter(struct body *b, const struct ws_rw_access *list, uint32_t n, struct ws_needless *needless)
{
	struct race *r = b->race;

	r->p->alone = NULL;
	if (!r->part)
		b->mark = ws_rw_take_launch(r->p, b->f, kernel_of(r, b->f));
	if (b->parts && !b->proved && !b->copies)
		b->parts_proved = never(r->p, b->f);
	if (b->prune)
		b->ranges = ws_ranges_find(r->p, &r->reach, kernel_of(r, b->f), list, n, needless, b->shared, b->proved ? b->proved : b->parts_proved);
	if (b->copies && b->proved)
		b->ranges = ws_ranges_find(r->p, &r->reach, kernel_of(r, b->f), ws_rw_with_copies(b->f, list, n, 1), n, needless, NULL, b->proved);
	if (b->prune || b->copies)
		find_fixed(b, list, n, needless);
	if ((b->prune || b->copies) && b->mark)
		kernel_of(r, b->f)->extents = ws_extents_find(r->p, &r->reach, kernel_of(r, b->f), b->copies ? ws_rw_with_copies(b->f, list, n, 1) : list, n);
	take_results(b);
	limit_registers(b, be_silent(b), has_checks(list, n, needless));
	if (b->parts_proved)
		be_in_parts(b, list, n);
	return call_enter(b);
}

/* Does it commit and wait for copies, and makes none? */
static bool waits_for_nothing(const struct ws_ptx_func *f)
{
	for (uint32_t k = 0; k < f->ninsts; k++)
		if (ws_rw_async(f, &f->insts[k]) == WS_RW_COPY)
			return false;
	return f->entry && ws_rw_copies_alone(f);
}

/* The proofs know nothing of asynchronous copies, mbarrier objects and clusters. */
static bool can_prove(const struct race *r, const struct ws_ptx_func *f)
{
	const struct ws_reach_func *func = &r->reach.funcs[f->sym->index];

	if (func->with & (WS_REACH_CLUSTER | WS_REACH_BULK | WS_REACH_REGISTERS))
		return false;
	return !((f->entry ? ws_reach_has(&r->reach, kernel_of(r, f)) : func->has) & WS_REACH_ASYNC) || waits_for_nothing(f);
}

/* With all the shared memory that a block may have there is no room for that of the checks: such launches run the kernel as it is. */
static void keep_spare(struct race *r, struct ws_ptx_func *f)
{
	struct ws_rw_kernel *kernel = kernel_of(r, f);

	if (!kernel->plain && ws_rw_names_dynamic(f) && !ws_reach_calls_hooks(&r->reach, kernel))
		kernel->plain = ws_rw_plain(r->p, f);
}

/* Where proofs by addresses may do without the probe, or without cells, the host is to know whether they do. */
static void tell_of_shared(struct body *b)
{
	static const char holds[] = "%shared";
	struct ws_rw_kernel *kernel = kernel_of(b->race, b->f);
	struct ws_buf text = { 0 };

	if (((kernel->probe && kernel->probe_waits) || kernel->bare) && b->shared) {
		ws_buf_add(&text, b->race->p->decides.data, b->race->p->decides.len);
		ws_shared_ranges_tell(b->shared, &text, holds);
		ws_buf_printf(&text, "silent %s;\n", holds);
		kernel->decides_shared = ws_arena_strndup(ws_rw_module(b->race->p)->arena, text.data, text.len);
	}
	ws_buf_free(&text);
}

/* Of a function its callers may do it, and of a kernel what it calls. */
static bool may_meet(const struct ws_ptx_func *f)
{
	bool meets = !f->entry;

	for (uint32_t k = 0; k < f->ninsts && !meets; k++)
		meets = ws_rw_is_barrier(&f->insts[k]) || f->insts[k].call;
	return meets;
}

/* All its mbarrier objects, if it has any, are its own: what it calls has none, and other blocks do not come to them. */
static bool may_meet_by_objects(const struct race *r, struct ws_ptx_func *f)
{
	const struct ws_rw_kernel *kernel = kernel_of(r, f);
	const struct ws_reach_func *own = &r->reach.funcs[f->sym->index];

	if (r->part || r->remote || !(own->has & WS_REACH_ASYNC) || own->with & WS_REACH_CLUSTER)
		return false;
	for (uint32_t k = 0; k < r->reach.m->nfuncs; k++) {
		const struct ws_ptx_func *other = r->reach.m->funcs[k];

		if (other != f && r->reach.funcs[other->sym->index].has & WS_REACH_ASYNC && ws_rw_reaches(kernel, other))
			return false;
	}
	return true;
}

static bool insert(struct race *r, struct ws_ptx_func *f)
{
	struct body b = { .race = r, .f = f, .kernel = f->entry, .ordering = r->reach.funcs[f->sym->index].ordering, .meets = may_meet(f) };
	uint32_t n, next = 0;
	struct ws_rw_access *list = ws_rw_accesses(f, &n);
	struct ws_code *end = b.kernel ? ws_code_end_of(r->p, f) : NULL;
	struct ws_needless *needless = ws_alloc((n + 1) * sizeof *needless);
	size_t edits;
	bool done = true;

	b.needless = needless;
	ws_constants_copy(f);
	r->p->decides.len = r->p->nunless = r->p->ntruths = r->p->nvalues = 0;
	r->p->rare = r->p->of_shared = 0;
	b.prune = r->prune && can_prove(r, f);
	if (b.prune && b.kernel)
		ws_area_settle(f, list, n);
	b.copies = r->prune && b.kernel && !r->part && !r->arrives && ws_rw_copies_alone(f) &&
	           (ws_reach_has(&r->reach, kernel_of(r, f)) & ~(unsigned)WS_REACH_ASYNC) == WS_REACH_COPIES;
	b.cluster = r->reach.funcs[f->sym->index].with & WS_REACH_CLUSTER;
	b.clocks = b.kernel && kernel_of(r, f)->clocks;
	if (b.kernel && may_meet_by_objects(r, f))
		b.meetings = ws_meetings_find(f, list, n);
	b.meets |= b.meetings != NULL;
	b.bulk = r->reach.funcs[f->sym->index].with & WS_REACH_BULK;
	b.tensor = r->reach.funcs[f->sym->index].with & WS_REACH_TENSOR;
	b.peers = r->reach.funcs[f->sym->index].with & WS_REACH_PEERS;
	if (b.prune && b.kernel && b.ordering && !r->part && !r->arrives && !r->splits)
		b.heard = ws_heard_find(f, list, n);
	b.asks = b.ordering && !ws_heard_nothing(b.heard);
	if (b.prune)
		find_needless(r, &b, list, n, needless);
	if (b.prune && b.kernel && !r->part && r->probes)
		done = add_probe(&b, list, n);
	if (b.copies && r->probes)
		done = add_probe(&b, ws_rw_with_copies(f, list, n, 0), n);
	b.calls = r->many ? WS_CALLS_ALL : ws_length_calls(f, list, n, needless, b.ranges, b.shared);
	if (b.kernel)
		kernel_of(r, f)->bare = b.shared && !b.copies && !leaves_shared(&b, list, n, true);
	if (b.kernel)
		done = done && enter(&b, list, n, needless);
	if (b.kernel)
		keep_spare(r, f);
	if (b.kernel)
		kernel_of(r, f)->probe_waits = !b.copies && !leaves_shared(&b, list, n, false) &&
		                               (!b.shared || !ws_shared_ranges_rare(b.shared));
	if (b.kernel)
		tell_of_shared(&b);
	if (b.prune)
		b.repeats = ws_repeats_find(r->p, f, list, n, needless);
	if (b.prune && b.ordering && b.calls == WS_CALLS_NONE)
		b.ahead = ws_ahead_find(r->p, f, list, n, needless);
	edits = r->p->m->edits->n;
	for (uint32_t k = 0; k < f->ninsts && done; k++) {
		bool is_access = next < n && list[next].inst == &f->insts[k];

		done = insert_at(&b, &f->insts[k], is_access ? &list[next] : NULL, &needless[next]);
		next += is_access;
	}
	if (end)
		done &= ws_race_call_at(&b, end, "race_leave", NULL);
	ws_exits_join(r->p, f, edits);
	if (b.sure && !b.silent && (!r->many || r->reach.nkernels <= MANY_KERNELS))
		ws_sure_keep(b.sure, b.always, kernel_of(r, f));
	free(needless);
	ws_ranges_free(b.ranges);
	ws_repeats_free(b.repeats);
	ws_heard_free(b.heard);
	ws_ahead_free(b.ahead);
	ws_meetings_free(b.meetings);
	ws_shared_ranges_free(b.shared);
	return done;
}

static bool orders_by_object(const struct ws_ptx_func *f, const struct ws_ptx_inst *i)
{
	enum ws_rw_async kind = ws_rw_async(f, i);

	return kind == WS_RW_COPY_ARRIVE || kind == WS_RW_OBJECT_ARRIVE || kind == WS_RW_OBJECT_WAIT || kind == WS_RW_BULK_LOAD ||
	       kind == WS_RW_OBJECT_PEER || kind == WS_RW_OPERATION || kind == WS_RW_MULTICAST || kind == WS_RW_TENSOR_LOAD;
}

/* By an object, or a barrier of a part of the block. */
static bool orders_apart(const struct race *r, const struct ws_ptx_func *f, const struct ws_ptx_inst *i)
{
	return orders_by_object(f, i) || (ws_rw_is_barrier(i) && is_part(r, f, i));
}

static bool orders(const struct race *r, struct ws_ptx_func *f)
{
	uint32_t n;
	const struct ws_rw_access *list = ws_rw_accesses(f, &n);

	if (r->splits && r->reach.funcs[f->sym->index].has & WS_REACH_SPLIT)
		return true;
	for (uint32_t k = 0; k < f->ninsts; k++)
		if (ws_reach_is_fence(&f->insts[k]) || orders_apart(r, f, &f->insts[k]))
			return true;
	for (uint32_t k = 0; k < n; k++)
		if (list[k].rw_class == WS_RW_CHECK && (ws_rw_acquires(&list[k]) || ws_rw_releases(&list[k])))
			return true;
	return false;
}

/* Releases and acquires matter to what a kernel may execute if there is a fence in it, an access that releases or
 * acquires, or a barrier of a part of the block: no other strong access orders anything. */
static void find_ordering(struct race *r)
{
	struct ws_ptx_module *m = ws_rw_module(r->p);
	bool *here = ws_alloc(m->nfuncs + 1), any;

	for (uint32_t n = 0; n < m->nfuncs; n++)
		here[n] = r->reach.funcs[m->funcs[n]->sym->index].hooks && orders(r, m->funcs[n]);
	for (uint32_t k = 0; k < r->reach.nkernels; k++) {
		const struct ws_rw_kernel *kernel = &r->reach.kernels[k];

		any = false;
		for (uint32_t n = 0; n < m->nfuncs && !kernel->why; n++)
			any |= here[n] && ws_rw_reaches(kernel, m->funcs[n]);
		for (uint32_t n = 0; n < m->nfuncs && any; n++)
			r->reach.funcs[m->funcs[n]->sym->index].ordering |= ws_rw_reaches(kernel, m->funcs[n]);
	}
	free(here);
}

static bool any_orders_apart(const struct race *r, const struct ws_ptx_func *f)
{
	for (uint32_t k = 0; k < f->ninsts; k++)
		if (orders_apart(r, f, &f->insts[k]))
			return true;
	return false;
}

static bool is_relaxed_object(struct ws_ptx_func *f, struct ws_ptx_inst *i)
{
	enum ws_rw_async kind = ws_rw_async(f, i);
	struct ws_rw_access a;

	if (kind != WS_RW_OBJECT_ARRIVE && kind != WS_RW_OBJECT_WAIT && kind != WS_RW_COPY_ARRIVE)
		return false;
	a = ws_rw_object_access(f, i);
	return !ws_rw_acquires(&a) && !ws_rw_releases(&a);
}

/* Is what it orders ordered within the block, at once? */
static bool orders_within(struct ws_ptx_func *f)
{
	uint32_t n;
	const struct ws_rw_access *list = ws_rw_accesses(f, &n);

	for (uint32_t k = 0; k < n; k++)
		if ((ws_rw_acquires(&list[k]) || ws_rw_releases(&list[k])) && list[k].scope > WS_SCOPE_CTA)
			return false;
	for (uint32_t k = 0; k < f->ninsts; k++)
		if (is_relaxed_object(f, &f->insts[k]))
			return false;
	return true;
}

/* Which kernels have clocks: see src/device/race_clock.cuh. */
static void find_clocks(struct race *r)
{
	const unsigned beyond = WS_REACH_CLUSTER | WS_REACH_PEERS | WS_REACH_REMOTE | WS_REACH_TENSOR | WS_REACH_WIDE;
	const struct ws_ptx_module *m = ws_rw_module(r->p);

	for (uint32_t k = 0; k < r->reach.nkernels && !r->remote; k++) {
		struct ws_rw_kernel *kernel = &r->reach.kernels[k];
		bool apart = false, within = !kernel->why && !(ws_reach_has(&r->reach, kernel) & beyond);

		for (uint32_t n = 0; n < m->nfuncs && within; n++)
			if (ws_rw_reaches(kernel, m->funcs[n])) {
				apart |= any_orders_apart(r, m->funcs[n]);
				within = orders_within(m->funcs[n]);
			}
		kernel->clocks = apart && within;
		r->clocks |= kernel->clocks;
	}
}

/* Hooks in functions that a kernel shares with others are told that it is not checked. */
static bool enter_off(struct race *r, const struct ws_rw_kernel *kernel)
{
	struct ws_ptx_func *f = (struct ws_ptx_func *)kernel->func;
	struct body b = { .race = r, .f = f };

	if (!ws_reach_hooks(&r->reach, kernel))
		return true;
	limit_registers(&b, true, false);
	return ws_race_call_at(&b, ws_code_entry(r->p, f), "race_enter_off", NULL);
}

static uint32_t module_number(const struct ws_ptx_module *m)
{
	uint32_t hash = (uint32_t)ws_hash(m->text, m->text_len);

	return hash ? hash : 1;
}

static void leave_result(struct race *r)
{
	struct ws_rw_result *out = ws_rw_result_of(r->p);

	out->kernels = r->reach.kernels;
	out->nkernels = r->reach.nkernels;
	out->module = module_number(r->reach.m);
	for (uint32_t k = 0; k < out->nkernels; k++)
		if (!out->kernels[k].why) {
			out->race = "__warpsafe_race";
			r->reach.kernels[k].in_slot = ws_reach_has(&r->reach, &r->reach.kernels[k]) & IN_SLOT;
		}
}

/* A swizzled tile of a tensor begins at a multiple of so many bytes. Dynamic shared memory, where a program puts it without asking for
 * more than 16, is moved by a multiple of that. */
enum { TILE_BYTES = 1024 };
_Static_assert(WS_RACE_BLOCK_BYTES <= 2 * TILE_BYTES, "the block's state has room");

/* The module's own variables stand before the runtime's functions, which use them. Modules that are linked share the
 * first; nvlink takes the weak ones for one. */
static void declare(struct race *r)
{
	const struct ws_rw_result *out = ws_rw_result_of(r->p);

	ws_rw_need(r->p, 31, 20);            /* .weak of variables */
	ws_rw_declare(r->p, ".weak .const .align 8 .b8 %s[%u];", out->race, (unsigned)sizeof(struct ws_race_device));
	ws_rw_declare(r->p, ".const .align 4 .u32 __warpsafe_module = %u;", out->module);
	ws_rw_declare(r->p, ".shared .align 128 .b8 __warpsafe_block[%u];", r->tensor ? 2u * TILE_BYTES : WS_RACE_BLOCK_BYTES);
	ws_rw_declare(r->p, ".extern .shared .align %u .b8 __warpsafe_dynamic[];", ws_rw_dynamic_align(r->reach.m));
}

static bool has_arrive(const struct race *r)
{
	for (uint32_t k = 0; k < r->reach.m->nfuncs; k++) {
		const struct ws_ptx_func *f = r->reach.m->funcs[k];

		if (r->reach.funcs[f->sym->index].hooks && ws_rw_arrives(f))
			return true;
	}
	return false;
}

/* Any kernel that is checked? */
static bool any_has(const struct race *r, unsigned what)
{
	for (uint32_t k = 0; k < r->reach.nkernels; k++)
		if (!r->reach.kernels[k].why && ws_reach_has(&r->reach, &r->reach.kernels[k]) & what)
			return true;
	return false;
}

static bool bring_runtime(struct race *r)
{
	if (r->tensor)
		return ws_rw_runtime(r->p, "src/device/race_tensor.cu", ws_device_race_tensor);
	if (r->remote)
		return ws_rw_runtime(r->p, "src/device/race_remote.cu", ws_device_race_remote);
	if (any_has(r, WS_REACH_CLUSTER | WS_REACH_BULK))
		return ws_rw_runtime(r->p, "src/device/race_sm90.cu", ws_device_race_sm90);
	return ws_rw_runtime(r->p, "src/device/race.cu", ws_device_race);
}

static bool rewrite(struct race *r)
{
	struct ws_ptx_module *m = ws_rw_module(r->p);

	r->tensor = any_has(r, WS_REACH_TENSOR);
	r->remote = r->tensor || any_has(r, WS_REACH_REMOTE);
	if (!bring_runtime(r))
		return false;
	if (!r->range)
		ws_race_spare(r->p, &r->reach, r->alone);
	declare(r);
	r->arrives = has_arrive(r);
	r->splits = any_has(r, WS_REACH_SPLIT);  /* for all blocks must count the same barriers */
	find_ordering(r);
	find_clocks(r);
	r->many = ws_length_many_checks(&r->reach, &r->probes);
	r->probes |= !r->many;
	for (uint32_t k = 0; k < r->reach.nkernels; k++)
		if (r->reach.kernels[k].why && !enter_off(r, &r->reach.kernels[k]))
			return false;
	for (uint32_t k = 0; k < m->nfuncs; k++)
		if (r->reach.funcs[m->funcs[k]->sym->index].hooks && !insert(r, m->funcs[k]))
			return false;
	return true;
}

static bool run(struct ws_pass *p, bool part, bool prune, bool range, bool alone)
{
	struct ws_ptx_module *m = ws_rw_module(p);
	struct race r = { .p = p, .part = part, .prune = prune, .range = range, .alone = alone };
	bool done = true;

	if (m->address_size != 64)
		return ws_rw_error(p, NULL, "code with addresses of 32 bits is not rewritten");
	ws_reach_find(&r.reach, m, r.part);
	leave_result(&r);
	if (ws_rw_result_of(p)->race)        /* else there is no kernel to check, and nothing changes */
		done = rewrite(&r);
	ws_reach_free(&r.reach);
	return done;
}

bool ws_rw_pass_race(struct ws_pass *p)
{
	return run(p, false, true, false, false);
}

bool ws_rw_pass_race_part(struct ws_pass *p)
{
	return run(p, true, true, false, false);
}

bool ws_rw_pass_race_all(struct ws_pass *p)
{
	return run(p, false, false, false, false);
}

bool ws_rw_pass_race_range(struct ws_pass *p)
{
	return run(p, false, false, true, false);
}

bool ws_rw_pass_race_alone(struct ws_pass *p)
{
	return run(p, false, true, false, true);
}

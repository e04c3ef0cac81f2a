/* simt_lock.c - lock and unlock instructions for warps (Ramamurthy, "Towards scalar synchronization in SIMT architectures",
 * 2011, chapter 4 and section 6.2). A lock sends an atomic request for each lane to the partition of its address: if the word
 * is free, it becomes the number of the thread. When all replies of a warp are back, the reconvergence stack gets its
 * lock entries (src/gpu/lock_stack.c), and the lanes that have their locks go on. An unlock frees the words.
 *
 * Departures: a free word is 0, not -1, so that cleared memory holds free locks; the number of a thread counts from 1. With
 * independent threads (not in the paper) those that did not get their lock try again after the others. `backoff` is the paper's
 * future work (9.2.1): a warp of which nobody got a lock waits so long before it tries again. */
#include "units/units.h"

#include <stdlib.h>

enum { BACKOFF, FIXUP };

struct unit {
	uint32_t backoff;
	bool fixup;
	uint64_t requests, acquired, failed, releases, empty;
};

static void *create(const uint32_t *values)
{
	struct unit *u = ws_alloc(sizeof *u);

	u->backoff = values[BACKOFF];
	u->fixup = values[FIXUP];
	return u;
}

static enum ws_unit_issue issue(void *self, struct ws_unit_op *o)
{
	return WS_UNIT_ASK;
}

static bool arrive(void *self, struct ws_unit_op *o, uint32_t lanes)
{
	struct unit *u = self;

	for (uint32_t m = lanes; m; m &= m - 1) {
		uint32_t l = (uint32_t)__builtin_ctz(m), *word = ws_step_word(o->x, o->warp, l, o->addr[l]);

		if (!word)
			return false;
		if (o->instruction == WS_UNLOCK) {
			u->releases++;
			*word = 0;
			continue;
		}
		u->requests++;
		if (*word) {
			u->failed++;
			continue;
		}
		u->acquired++;
		*word = ws_step_thread(o->warp, l);
		o->done |= 1u << l;
	}
	return true;
}

static bool finish(void *self, struct ws_unit_op *o)
{
	struct unit *u = self;

	if (o->instruction == WS_UNLOCK)
		return ws_lock_released(o->x, o->warp, o->lanes);
	if (!o->done) {
		u->empty++;
		o->delay = u->backoff;
	}
	return ws_lock_taken(o->x, o->warp, o->lanes, o->done, o->addr);
}

static int locks(const void *self, unsigned instruction)
{
	const struct unit *u = self;

	return !u->fixup ? 0 : instruction == WS_LOCK ? 1 : -1;
}

static bool counter(const void *self, unsigned i, struct ws_unit_counter *c)
{
	const struct unit *u = self;
	const struct ws_unit_counter all[] = {
		{"lock_requests", "lock requests of threads", u->requests},
		{"locks_acquired", "locks acquired", u->acquired},
		{"lock_failures", "locks that were taken", u->failed},
		{"lock_releases", "locks released", u->releases},
		{"lock_rounds_without_success", "warps of which no thread got its lock", u->empty},
	};

	if (i >= WS_COUNT(all))
		return false;
	*c = all[i];
	return true;
}

static const struct ws_unit_option options[] = {
	{"backoff", "cycles that a warp waits after nobody in it got a lock", 0, 100000, 0},
	{"fixup", "1: branches around a lock meet behind the unlock", 0, 1, 0},
	{NULL, NULL, 0, 0, 0},
};

const struct ws_unit_ops ws_unit_simt_lock = {
	.abi = WS_UNIT_ABI, .name = "simt-lock", .help = "lock and unlock instructions with entries on the reconvergence stack",
	.instructions = ws_lock_instructions, .options = options, .create = create, .destroy = free, .issue = issue, .arrive = arrive,
	.finish = finish, .counter = counter, .locks = locks,
};

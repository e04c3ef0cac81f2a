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
	struct ws_grid_barrier barrier;
	uint64_t requests, acquired, failed, releases, empty;
};

static void *create(const uint32_t *values)
{
	struct unit *u = ws_alloc(sizeof *u);

	u->backoff = values[BACKOFF];
	u->fixup = values[FIXUP];
	return u;
}

static void destroy(void *self)
{
	struct unit *u = self;

	free(u->barrier.waiting);
	free(u);
}

static void launch_begin(void *self)
{
	struct unit *u = self;

	u->barrier.n = 0;                /* of a launch that has failed */
}

static enum ws_unit_issue issue(void *self, struct ws_unit_op *o)
{
	return o->instruction == WS_GRID_BARRIER ? ws_wait_issue(o, !ws_step_independent(o->x)) : WS_UNIT_ASK;
}

static void serve(void *self, struct ws_unit_op *o, uint32_t lane, uint32_t *word)
{
	struct unit *u = self;

	switch (o->instruction) {
	case WS_GRID_BARRIER:
		ws_grid_arrive(&u->barrier, o, lane, word);
		return;
	case WS_UNLOCK: case WS_SIGNAL:
		u->releases++;
		if (!ws_word_give(o->instruction, word))
			o->done |= 1u << lane;   /* there may be entries for it */
		return;
	default:
		u->requests++;
		if (ws_word_take(o->instruction, word, ws_step_thread(o->warp, lane))) {
			u->acquired++;
			o->done |= 1u << lane;
		} else {
			u->failed++;
		}
	}
}

static bool arrive(void *self, struct ws_unit_op *o, uint32_t lanes)
{
	return ws_word_each(self, o, lanes, serve);
}

static void message(void *self, void *machine, void *place, uint32_t lane)
{
	ws_unit_words(place)[WS_GRANTED] |= 1u << lane;
	ws_unit_wake(machine, place);
}

static bool finish(void *self, struct ws_unit_op *o)
{
	struct unit *u = self;

	switch (o->instruction) {
	case WS_GRID_BARRIER:
		return ws_grid_finish(o);
	case WS_UNLOCK: case WS_SIGNAL:
		return ws_lock_released(o->x, o->warp, o->lanes, o->done);
	case WS_TRY_LOCK: case WS_TRY_LOCK_FOR:
		return ws_try_finish(o, u->backoff);
	default:
		break;
	}
	if (!o->done) {
		u->empty++;
		o->delay = u->backoff;
	}
	return ws_lock_taken(o->x, o->warp, o->lanes, o->done, o->addr);
}

static int locks(const void *self, unsigned instruction)
{
	const struct unit *u = self;

	if (!u->fixup)
		return 0;
	return instruction == WS_LOCK || instruction == WS_WAIT ? 1 : instruction == WS_UNLOCK || instruction == WS_SIGNAL ? -1 : 0;
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
		{"grid_barriers", "barriers of all threads", u->barrier.completed},
	};

	if (i >= WS_COUNT(all))
		return false;
	*c = all[i];
	return true;
}

static const struct ws_unit_option options[] = {
	{"backoff", "cycles that a warp waits after nobody in it got a lock, and between tries", 0, 100000, 0},
	{"fixup", "1: branches around a lock meet behind the unlock", 0, 1, 0},
	{NULL, NULL, 0, 0, 0},
};

const struct ws_unit_ops ws_unit_simt_lock = {
	.abi = WS_UNIT_ABI, .name = "simt-lock", .help = "lock and unlock instructions with entries on the reconvergence stack",
	.instructions = ws_lock_instructions, .options = options, .create = create, .destroy = destroy, .issue = issue, .arrive = arrive,
	.finish = finish, .counter = counter, .message = message, .launch_begin = launch_begin, .locks = locks,
};

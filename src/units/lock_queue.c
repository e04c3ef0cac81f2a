/* lock_queue.c - lock instructions with queues in the memory partitions (Ramamurthy, "Towards scalar synchronization in SIMT
 * architectures", 2011, chapter 5 and section 6.3). A request for a lock that is taken waits in a first-in first-out queue for its
 * address; an unlock hands the lock to the thread at the head, whose core gets a message. Threads of a warp go on as soon as one of
 * them has its lock, with the entries on the reconvergence stack that simt-lock has.
 *
 * Departures: the reply to a request says at once whether it was granted or queued, and the hand-over is a message of its own, so
 * a hand-over costs one packet more; a thread that holds a lock already does not queue (5.2.2: queues and nested locks deadlock)
 * but tries again; the records of all queues together are bounded (`records`, section 9.2.1), and who finds none tries
 * again. Queue records cost no time of their own, as in the paper. A free word is 0. */
#include "units/units.h"

#include <stdlib.h>

enum { RECORDS };
enum { QUEUED, GRANTED };                /* words of a warp: masks of lanes */
enum { LOOK_AGAIN = 20 };                /* cycles, where a warp cannot be parked */

struct record {                          /* a thread that waits */
	uint64_t addr;
	void *place;
	uint32_t lane, thread;
};

struct unit {
	uint32_t limit;
	struct record *records;          /* in order of arrival */
	size_t n, cap;
	uint64_t requests, acquired, queued, refused, releases, handed_over, most;
};

static void *create(const uint32_t *values)
{
	struct unit *u = ws_alloc(sizeof *u);

	u->limit = values[RECORDS];
	return u;
}

static void destroy(void *self)
{
	struct unit *u = self;

	free(u->records);
	free(u);
}

static void launch_begin(void *self)
{
	struct unit *u = self;

	u->n = 0;                        /* of a launch that has failed */
}

static enum ws_unit_issue issue(void *self, struct ws_unit_op *o)
{
	uint32_t *w = ws_unit_words(o->place), come = w[GRANTED] & o->lanes;

	if (o->instruction == WS_UNLOCK)
		return WS_UNIT_ASK;
	if (come) {
		o->done = come;
		w[GRANTED] &= ~come;
		w[QUEUED] &= ~come;
		return WS_UNIT_DONE;
	}
	o->ask = o->lanes & ~w[QUEUED];
	if (o->ask)
		return WS_UNIT_ASK;
	/* the others of the warp must not be kept from going on, for they may hold the lock */
	return ws_step_independent(o->x) ? WS_UNIT_DONE : WS_UNIT_PARK;
}

static void request(struct unit *u, struct ws_unit_op *o, uint32_t lane, uint32_t *word)
{
	uint32_t thread = ws_step_thread(o->warp, lane);

	u->requests++;
	if (!*word) {
		u->acquired++;
		*word = thread;
		o->done |= 1u << lane;
	} else if (u->n < u->limit && !ws_lock_held(o->warp, lane)) {
		u->queued++;
		*WS_PUSH(u->records, u->n, u->cap) = (struct record){o->addr[lane], o->place, lane, thread};
		u->most = u->n > u->most ? u->n : u->most;
		ws_unit_words(o->place)[QUEUED] |= 1u << lane;
	} else {
		u->refused++;
	}
}

/* The lock goes to who waits longest for it. */
static void hand_over(struct unit *u, struct ws_unit_op *o, uint64_t addr, uint32_t *word)
{
	size_t i = 0;

	u->releases++;
	*word = 0;
	while (i < u->n && u->records[i].addr != addr)
		i++;
	if (i == u->n)
		return;
	u->handed_over++;
	u->acquired++;
	*word = u->records[i].thread;
	ws_unit_send(o, u->records[i].place, u->records[i].lane);
	for (u->n--; i < u->n; i++)
		u->records[i] = u->records[i + 1];
}

static bool arrive(void *self, struct ws_unit_op *o, uint32_t lanes)
{
	struct unit *u = self;

	for (uint32_t m = lanes; m; m &= m - 1) {
		uint32_t l = (uint32_t)__builtin_ctz(m), *word = ws_step_word(o->x, o->warp, l, o->addr[l]);

		if (!word)
			return false;
		if (o->instruction == WS_UNLOCK)
			hand_over(u, o, o->addr[l], word);
		else
			request(u, o, l, word);
	}
	return true;
}

static void message(void *self, void *machine, void *place, uint32_t lane)
{
	uint32_t *w = ws_unit_words(place);

	w[GRANTED] |= 1u << lane;
	ws_unit_wake(machine, place);
}

static bool finish(void *self, struct ws_unit_op *o)
{
	uint32_t *w = ws_unit_words(o->place), come = w[GRANTED] & o->lanes;

	if (o->instruction == WS_UNLOCK)
		return ws_lock_released(o->x, o->warp, o->lanes);
	w[GRANTED] &= ~come;             /* handed over while the other replies were on their way */
	w[QUEUED] &= ~come;
	o->delay = o->done | come ? 0 : LOOK_AGAIN;
	return ws_lock_taken(o->x, o->warp, o->lanes, o->done | come, o->addr);
}

static bool counter(const void *self, unsigned i, struct ws_unit_counter *c)
{
	const struct unit *u = self;
	const struct ws_unit_counter all[] = {
		{"lock_requests", "lock requests of threads", u->requests},
		{"locks_acquired", "locks acquired", u->acquired},
		{"locks_queued", "requests that were queued", u->queued},
		{"locks_handed_over", "locks handed over by an unlock", u->handed_over},
		{"locks_refused", "requests that must be sent again", u->refused},
		{"lock_releases", "locks released", u->releases},
		{"queue_records", "most queue records at once", u->most},
	};

	if (i >= WS_COUNT(all))
		return false;
	*c = all[i];
	return true;
}

static const struct ws_unit_option options[] = {
	{"records", "threads that can wait in the queues of all locks", 0, 1000000, 1000000},
	{NULL, NULL, 0, 0, 0},
};

const struct ws_unit_ops ws_unit_lock_queue = {
	.abi = WS_UNIT_ABI, .name = "lock-queue", .help = "simt-lock with queues of waiting threads in the memory partitions",
	.instructions = ws_lock_instructions, .options = options, .create = create, .destroy = destroy, .issue = issue,
	.arrive = arrive, .finish = finish, .counter = counter, .message = message, .launch_begin = launch_begin,
};

/* lock_queue.c - lock instructions with queues in the memory partitions (Ramamurthy, "Towards scalar synchronization in SIMT
 * architectures", 2011, chapter 5 and section 6.3). A request for a lock that is taken waits in a first-in first-out queue for its
 * address; an unlock hands the lock to the thread at the head, whose core gets a message. Threads of a warp go on as soon as one of
 * them has its lock, with the entries on the reconvergence stack that simt-lock has.
 *
 * Departures: the reply to a request says at once whether it was granted or queued, and the hand-over is a message of its own, so
 * a hand-over costs one packet more; a lock that a thread below on its warp's stack has been given is taken back
 * when a thread inside of a critical section wants it, and the former asks again (5.2.2: else queues and nested locks deadlock);
 * the records of all queues together are bounded (`records`, section 9.2.1), and who finds none tries again. Queue records cost no
 * time of their own, as in the paper. A free word is 0. */
#include "units/units.h"

#include <stdlib.h>

enum { RECORDS };

struct record {                          /* a thread that waits, or that has been given the lock and does not run yet */
	uint64_t addr;
	void *place;
	struct ws_warp *warp;
	uint32_t lane, thread;
	unsigned instruction;
	bool arrived, revoked;           /* given: the message is there; the lock was taken back */
};

struct unit {
	uint32_t limit;
	struct ws_exec *x;               /* of the launch */
	struct record *records, *given;  /* in order of arrival */
	size_t n, cap, ngiven, cap_given;
	struct ws_grid_barrier barrier;
	uint64_t requests, acquired, queued, refused, revoked, releases, handed_over, most;
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
	free(u->given);
	free(u->barrier.waiting);
	free(u);
}

static void launch_begin(void *self)
{
	struct unit *u = self;

	u->n = u->ngiven = u->barrier.n = 0;      /* of a launch that has failed */
}

static enum ws_unit_issue issue(void *self, struct ws_unit_op *o)
{
	struct unit *u = self;

	u->x = o->x;
	if (o->instruction == WS_GRID_BARRIER)
		return ws_wait_issue(o, !ws_step_independent(o->x));
	return o->instruction == WS_LOCK || o->instruction == WS_WAIT ? ws_wait_issue(o, false) : WS_UNIT_ASK;
}

static void drop(struct record *r, size_t *n, size_t i)
{
	for (--*n; i < *n; i++)
		r[i] = r[i + 1];
}

/* A thread inside of a critical section waits for that lock. */
static bool wanted_inside(const struct unit *u, uint64_t addr)
{
	for (size_t i = 0; i < u->n; i++)
		if (u->records[i].addr == addr && ws_lock_held(u->records[i].warp, u->records[i].lane))
			return true;
	return false;
}

/* The thread will have to ask again. */
static void send_away(struct unit *u, const struct record *r)
{
	u->revoked++;
	ws_unit_words(r->place)[WS_QUEUED] &= ~(1u << r->lane);
	ws_unit_words(r->place)[WS_GRANTED] &= ~(1u << r->lane);
}

/* The lock or resource at addr, which is free, goes to who waits longest for it. */
static void hand_over(struct unit *u, void *machine, uint64_t addr, uint32_t *word)
{
	for (size_t i = 0; i < u->n;) {
		struct record r = u->records[i];

		if (r.addr != addr) {
			i++;
			continue;
		}
		drop(u->records, &u->n, i);
		if (ws_lock_busy(r.warp, r.lane) && wanted_inside(u, addr)) {
			send_away(u, &r);
			continue;
		}
		ws_word_take(r.instruction, word, r.thread);
		*WS_PUSH(u->given, u->ngiven, u->cap_given) = r;
		ws_unit_pass_on(machine, r.place, r.lane);
		return;
	}
}

/* Somebody inside of a critical section wants a lock whose thread has been given it and does not run: it is taken back. */
static void take_back(struct unit *u, uint64_t addr, uint32_t *word)
{
	for (size_t i = 0; i < u->ngiven; i++) {
		struct record *r = &u->given[i];

		if (r->addr != addr || r->revoked || r->thread != *word || !ws_lock_busy(r->warp, r->lane))
			continue;
		send_away(u, r);
		*word = 0;
		r->revoked = true;
		if (r->arrived) {
			u->handed_over--;
			u->acquired--;
			drop(u->given, &u->ngiven, i);
		}
		return;
	}
}

static void request(struct unit *u, struct ws_unit_op *o, uint32_t lane, uint32_t *word)
{
	uint32_t thread = ws_step_thread(o->warp, lane);
	bool may_wait = o->instruction == WS_LOCK || o->instruction == WS_WAIT;

	u->requests++;
	if (*word && ws_lock_held(o->warp, lane) && o->instruction != WS_WAIT)
		take_back(u, o->addr[lane], word);
	if (ws_word_take(o->instruction, word, thread)) {
		u->acquired++;
		o->done |= 1u << lane;
	} else if (may_wait && u->n < u->limit) {
		u->queued++;
		*WS_PUSH(u->records, u->n, u->cap) = (struct record){
			.addr = o->addr[lane], .place = o->place, .warp = o->warp, .lane = lane, .thread = thread,
			.instruction = o->instruction,
		};
		u->most = u->n > u->most ? u->n : u->most;
		ws_unit_words(o->place)[WS_QUEUED] |= 1u << lane;
	} else {
		u->refused++;
	}
}

static void serve(void *self, struct ws_unit_op *o, uint32_t lane, uint32_t *word)
{
	struct unit *u = self;

	if (o->instruction == WS_GRID_BARRIER) {
		ws_grid_arrive(&u->barrier, o, lane, word);
	} else if (o->instruction == WS_UNLOCK || o->instruction == WS_SIGNAL) {
		u->releases++;
		if (!ws_word_give(o->instruction, word))
			o->done |= 1u << lane;   /* there may be entries for it */
		hand_over(u, o->machine, o->addr[lane], word);
	} else {
		request(u, o, lane, word);
	}
}

static bool arrive(void *self, struct ws_unit_op *o, uint32_t lanes)
{
	return ws_word_each(self, o, lanes, serve);
}

/* false: the lock was taken back, or is now: the warp has come into a critical section of other threads meanwhile, and
 * somebody who is in one waits for the lock. */
static bool accepted(struct unit *u, void *machine, void *place, uint32_t lane)
{
	size_t i = 0;
	struct record r;
	uint32_t *word;

	while (i < u->ngiven && (u->given[i].place != place || u->given[i].lane != lane || u->given[i].arrived))
		i++;
	if (i == u->ngiven)
		return true;             /* of a barrier */
	r = u->given[i];
	if (!r.revoked && !(ws_lock_busy(r.warp, r.lane) && wanted_inside(u, r.addr))) {
		u->given[i].arrived = true;
		u->handed_over++;
		u->acquired++;
		return true;
	}
	drop(u->given, &u->ngiven, i);
	if (r.revoked)
		return false;
	send_away(u, &r);
	word = ws_step_word(u->x, r.warp, r.lane, r.addr);
	if (word) {
		ws_word_give(r.instruction == WS_WAIT ? WS_SIGNAL : WS_UNLOCK, word);
		hand_over(u, machine, r.addr, word);
	}
	return false;
}

static void message(void *self, void *machine, void *place, uint32_t lane)
{
	if (accepted(self, machine, place, lane))
		ws_unit_words(place)[WS_GRANTED] |= 1u << lane;
	ws_unit_wake(machine, place);
}

static bool finish(void *self, struct ws_unit_op *o)
{
	struct unit *u = self;
	uint32_t come;

	switch (o->instruction) {
	case WS_GRID_BARRIER:
		return ws_grid_finish(o);
	case WS_UNLOCK: case WS_SIGNAL:
		return ws_lock_released(o->x, o->warp, o->lanes, o->done);
	case WS_TRY_LOCK: case WS_TRY_LOCK_FOR:
		return ws_try_finish(o, WS_LOOK_AGAIN);
	default:
		break;
	}
	come = ws_wait_over(o);
	for (size_t i = 0; i < u->ngiven;)
		if (u->given[i].place == o->place && u->given[i].arrived && come >> u->given[i].lane & 1)
			drop(u->given, &u->ngiven, i);
		else
			i++;
	o->delay = come ? 0 : WS_LOOK_AGAIN;
	return ws_lock_taken(o->x, o->warp, o->lanes, come, o->addr);
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
		{"locks_taken_back", "locks taken back from threads that could not run", u->revoked},
		{"lock_releases", "locks released", u->releases},
		{"grid_barriers", "barriers of all threads", u->barrier.completed},
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

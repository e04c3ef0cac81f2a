/* barrier.c - waiting in a partition until a message comes; and a barrier of all threads of a launch with it (Ramamurthy,
 * "Towards scalar synchronization in SIMT architectures", 2011, section 3.3 names it as a problem). Its word counts the threads
 * that have come; the last one sets it to 0 and the partition tells the cores. All blocks must be resident; under a
 * reconvergence stack the lanes of a warp come together. What cannot complete is told as a deadlock. */
#include "units/units.h"

enum ws_unit_issue ws_wait_issue(struct ws_unit_op *o, bool all)
{
	uint32_t *w = ws_unit_words(o->place), come = w[WS_GRANTED] & o->lanes;

	if (come && (!all || come == o->lanes)) {
		o->done = come;
		return WS_UNIT_DONE;
	}
	o->ask = o->lanes & ~w[WS_QUEUED];
	if (o->ask)
		return WS_UNIT_ASK;
	/* the others of the warp must not be kept from going on, for they may hold the lock */
	return ws_step_independent(o->x) ? WS_UNIT_DONE : WS_UNIT_PARK;
}

uint32_t ws_wait_over(struct ws_unit_op *o)
{
	uint32_t *w = ws_unit_words(o->place), come = (w[WS_GRANTED] & o->lanes) | o->done;

	w[WS_GRANTED] &= ~come;
	w[WS_QUEUED] &= ~come;
	return come;
}

void ws_grid_arrive(struct ws_grid_barrier *b, struct ws_unit_op *o, uint32_t lane, uint32_t *word)
{
	size_t kept = 0;

	ws_unit_words(o->place)[WS_QUEUED] |= 1u << lane;
	*WS_PUSH(b->waiting, b->n, b->cap) = (struct ws_grid_waiter){o->addr[lane], o->place, lane};
	if (++*word < ws_step_threads(o->warp))
		return;
	*word = 0;
	b->completed++;
	for (size_t i = 0; i < b->n; i++)
		if (b->waiting[i].addr == o->addr[lane])
			ws_unit_send(o, b->waiting[i].place, b->waiting[i].lane);
		else
			b->waiting[kept++] = b->waiting[i];
	b->n = kept;
}

bool ws_grid_finish(struct ws_unit_op *o)
{
	uint32_t granted = ws_unit_words(o->place)[WS_GRANTED] & o->lanes;

	if (!ws_step_independent(o->x) && granted != o->lanes)
		return true;             /* issues again, and is parked */
	granted = ws_wait_over(o);
	if (granted)
		return ws_step_pass(o->x, o->warp, granted);
	o->delay = WS_LOOK_AGAIN;
	return ws_lock_taken(o->x, o->warp, o->lanes, 0, o->addr);
}

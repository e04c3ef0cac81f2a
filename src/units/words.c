/* words.c - what lock instructions do to their word, and tries: one, or several within a number of attempts or of cycles
 * (Ramamurthy, "Towards scalar synchronization in SIMT architectures", 2011, section 9.2.2 leaves them as future work). A lock
 * is 0 if it is free, else the number of its thread, with a bit more if a try got it that has no entry on the reconvergence stack;
 * a semaphore is the number of its resources that are free. Who gets its lock while others of its warp have attempts left has
 * entries as with a lock, and runs its section first; when all answers are there at once, the warp goes on as a whole. */
#include "units/units.h"

enum { TRIED = 31 };                     /* bit of a lock that a try got */

bool ws_word_take(unsigned instruction, uint32_t *word, uint32_t thread)
{
	if (instruction == WS_WAIT) {
		if (!*word)
			return false;
		--*word;
		return true;
	}
	if (*word)
		return false;
	*word = instruction == WS_LOCK ? thread : thread | 1u << TRIED;
	return true;
}

bool ws_word_give(unsigned instruction, uint32_t *word)
{
	bool tried = instruction == WS_UNLOCK && *word >> TRIED;

	*word = instruction == WS_SIGNAL ? *word + 1 : 0;
	return tried;
}

bool ws_word_each(void *self, struct ws_unit_op *o, uint32_t lanes, ws_word_serve *serve)
{
	for (uint32_t m = lanes; m; m &= m - 1) {
		uint32_t l = (uint32_t)__builtin_ctz(m), *word = ws_step_word(o->x, o->warp, l, o->addr[l]);

		if (!word)
			return false;
		serve(self, o, l, word);
	}
	return true;
}

/* May the lane, which has failed, try again? */
static bool attempts_left(const struct ws_unit_op *o, uint32_t lane)
{
	const struct ws_lock_try *t = ws_lock_try_of(o->warp, lane);

	return o->instruction == WS_TRY_LOCK ? t->attempts < o->value[lane] : o->now - t->began < o->value[lane];
}

/* The unlock will find entries. */
static void with_entries(void *self, struct ws_unit_op *o, uint32_t lane, uint32_t *word)
{
	*word &= ~(1u << TRIED);
}

bool ws_try_finish(struct ws_unit_op *o, uint32_t interval)
{
	uint32_t again = 0;

	for (uint32_t m = o->ask; m; m &= m - 1) {
		struct ws_lock_try *t = ws_lock_try_of(o->warp, (uint32_t)__builtin_ctz(m));

		if (!t->attempts++)
			t->began = o->began;
	}
	for (uint32_t m = o->lanes & ~o->done; m; m &= m - 1)
		if (attempts_left(o, (uint32_t)__builtin_ctz(m)))
			again |= m & -m;
	o->delay = again && !o->done ? interval : 0;
	if (again && !o->done && !ws_step_independent(o->x)) {   /* else others of the warp may run, who may hold the lock */
		o->again = again;
		return true;
	}
	for (uint32_t m = o->lanes & ~again; m; m &= m - 1)
		ws_lock_try_of(o->warp, (uint32_t)__builtin_ctz(m))->attempts = 0;
	return ws_word_each(NULL, o, ws_lock_tried(o->x, o->warp, o->lanes, o->done, again), with_entries) &&
	       !ws_step_failed(o->x);
}

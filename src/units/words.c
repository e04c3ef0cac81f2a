/* words.c - what lock instructions do to their word, and tries: one, or several within a number of attempts or of cycles
 * (Ramamurthy, "Towards scalar synchronization in SIMT architectures", 2011, section 9.2.2 leaves them as future work). A lock
 * is 0 if it is free, else the number of its thread, with a bit more if a try got it; a semaphore is the number of its resources
 * that are free. A try puts nothing on the reconvergence stack: the warp stands until each of its lanes has the lock, or
 * no attempt left, and goes on as a whole with the answers. */
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

bool ws_try_finish(struct ws_unit_op *o, uint32_t interval)
{
	o->tries++;
	for (uint32_t m = o->lanes & ~o->done; m; m &= m - 1) {
		uint32_t l = (uint32_t)__builtin_ctz(m);

		if (o->instruction == WS_TRY_LOCK ? o->tries < o->value[l] : o->now - o->began < o->value[l])
			o->again |= 1u << l;
	}
	if (!o->again)
		return ws_step_answer(o->x, o->warp, o->lanes, o->done);
	o->delay = interval;
	return true;
}

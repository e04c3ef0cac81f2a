/* unit.c - instructions of a proposed unit on their way: from issue through the memory stage, the network and the partitions,
 * and back. See unit.h. */
#include "timing/timing_priv.h"

#include <string.h>

int ws_unit_number(void *timing, const char *name)
{
	const struct ws_timing *t = timing;
	const struct ws_unit_ops *u = t->options.unit;

	for (int i = 0; u && u->instructions[i]; i++)
		if (!strcmp(u->instructions[i], name))
			return i;
	return -1;
}

static void over(struct ws_timing *t, struct ws_twarp *w, struct ws_unit_op *o)
{
	w->held = false;
	if (!t->options.unit->finish(t->unit, o))
		return;
	w->branch = t->now + 1 + o->delay;
}

void ws_unit_issue(struct ws_timing *t, struct ws_twarp *w, const struct ws_stepped *s)
{
	struct ws_unit_op o = {.x = t->x, .warp = w->warp, .instruction = s->intrinsic, .lanes = s->mask};
	struct ws_memop *a;

	memcpy(o.addr, s->generic, sizeof o.addr);
	if (!t->options.unit->issue(t->unit, &o)) {
		over(t, w, &o);
		return;
	}
	w->held = true;
	a = ws_stage_push(t, w, s);
	a->of_unit = true;
	a->op = o;
}

void ws_unit_arrive(struct ws_timing *t, struct ws_memop *a, uint32_t lanes)
{
	t->options.unit->arrive(t->unit, &a->op, lanes);
}

/* The warp is looked at again by the caller. */
void ws_unit_finish(struct ws_timing *t, struct ws_memop *a)
{
	if (!ws_step_failed(t->x))
		over(t, a->warp, &a->op);
}

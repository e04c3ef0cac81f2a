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

int ws_unit_locks(void *timing, const char *name)
{
	const struct ws_timing *t = timing;
	int number = ws_unit_number(timing, name);

	return number >= 0 && t->options.unit->locks ? t->options.unit->locks(t->unit, (unsigned)number) : 0;
}

/* ---- requests ---- */
/* An instruction whose requests are to be sent again. */
struct ws_unit_again { struct ws_stepped s; struct ws_unit_op o; };

static void send(struct ws_timing *t, struct ws_twarp *w, const struct ws_stepped *s, const struct ws_unit_op *o)
{
	struct ws_memop *a = ws_stage_push(t, w, s);

	a->of_unit = true;
	a->op = *o;
}

static void send_again(struct ws_timing *t, void *arg)
{
	struct ws_twarp *w = arg;
	struct ws_core *c = w->block->core;

	if (c->queued == t->m.queue) {
		ws_wheel_add(&t->wheel, t->now + 1, send_again, w);
		return;
	}
	w->again->o.ask = w->again->s.mask = w->again->o.again;
	w->again->o.again = w->again->o.delay = 0;
	send(t, w, &w->again->s, &w->again->o);
	ws_wake_core(t, c);
}

static void over(struct ws_timing *t, struct ws_twarp *w, struct ws_unit_op *o)
{
	w->held = false;
	o->now = t->now;
	if (!t->options.unit->finish(t->unit, o))
		return;
	if (o->again) {
		w->held = true;
		w->again->o = *o;
		ws_wheel_add(&t->wheel, t->now + 1 + o->delay, send_again, w);
		return;
	}
	w->branch = t->now + 1 + o->delay;
}

void ws_unit_issue(struct ws_timing *t, struct ws_twarp *w, const struct ws_stepped *s)
{
	struct ws_unit_op o = {.x = t->x, .warp = w->warp, .instruction = s->intrinsic, .lanes = s->mask, .ask = s->mask,
	                       .place = w, .machine = t, .began = t->now, .now = t->now};

	memcpy(o.addr, s->generic, sizeof o.addr);
	memcpy(o.value, s->value, sizeof o.value);
	switch (t->options.unit->issue(t->unit, &o)) {
	case WS_UNIT_DONE:
		over(t, w, &o);
		return;
	case WS_UNIT_PARK:
		w->held = w->parked = true;
		ws_step_park(w->warp, true);
		return;
	case WS_UNIT_ASK:
		break;
	}
	w->held = true;
	if (!w->again)
		w->again = ws_arena_alloc(t->arena, sizeof *w->again);
	w->again->s = *s;
	w->again->s.mask = o.ask;
	send(t, w, &w->again->s, &o);
}

void ws_unit_arrive(struct ws_timing *t, struct ws_packet *k)
{
	t->serving = k->part;
	k->access->op.now = t->now;
	t->options.unit->arrive(t->unit, &k->access->op, k->lanes);
}

/* ---- what units may do ---- */
uint32_t *ws_unit_words(void *place)
{
	struct ws_twarp *w = place;

	return w->unit_words;
}

void ws_unit_send(const struct ws_unit_op *o, void *place, uint32_t lane)
{
	ws_unit_pass_on(o->machine, place, lane);
}

void ws_unit_pass_on(void *machine, void *place, uint32_t lane)
{
	struct ws_timing *t = machine;
	struct ws_twarp *w = place;
	struct ws_packet *k = ws_packet_new(t);

	*k = (struct ws_packet){.core = w->block->core, .part = t->serving, .kind = WS_PACKET_MESSAGE, .lanes = 1u << lane,
	                        .place = w};
	w->block->under_way++;
	ws_network_to_core(t, k);
}

void ws_unit_message(struct ws_timing *t, struct ws_packet *k)
{
	struct ws_twarp *w = k->place;

	w->block->under_way--;
	t->serving = k->part;
	t->options.unit->message(t->unit, t, w, (uint32_t)__builtin_ctz(k->lanes));
}

void ws_unit_wake(void *machine, void *place)
{
	struct ws_twarp *w = place;

	if (!w->parked)
		return;
	w->held = w->parked = false;
	ws_step_park(w->warp, false);
	ws_warp_refresh(machine, w);
}

/* The warp is looked at again by the caller. */
void ws_unit_finish(struct ws_timing *t, struct ws_memop *a)
{
	if (!ws_step_failed(t->x))
		over(t, a->warp, &a->op);
}

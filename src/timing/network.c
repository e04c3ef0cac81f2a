/* network.c - the network between cores and partitions: a crossbar in each direction. A packet is a header and its data, in
 * flits; it takes its port of entry and its port of exit for one cycle of the network a flit, and `network.latency` in
 * between. Packets for one port of exit pass in the order in which they entered. */
#include "timing/timing_priv.h"

enum { AHEAD = 16 };                     /* flits that a core may have at its port */

static uint32_t flits(const struct ws_timing *t, uint32_t bytes)
{
	return (t->m.header + bytes + t->m.flit - 1) / t->m.flit;
}

/* From one port to the other; returns the cycle in which the last flit is there. */
static uint64_t pass(const struct ws_timing *t, uint64_t *from, uint64_t *to, uint32_t n)
{
	uint64_t cost = (uint64_t)n * t->network_cycle;

	*from = ws_later(*from, ws_fine(t->now)) + cost;
	*to = ws_later(*to + cost, *from + ws_fine(t->m.network_latency));
	return ws_cycle_of(*to);
}

bool ws_network_ready(const struct ws_timing *t, const struct ws_core *c, uint64_t *when)
{
	uint64_t ahead = (uint64_t)AHEAD * t->network_cycle;

	if (c->out <= ws_fine(t->now) + ahead)
		return true;
	*when = ws_cycle_of(c->out - ahead);
	return false;
}

static uint32_t bytes_of(const struct ws_packet *k)
{
	return (uint32_t)__builtin_popcount(k->sectors) * WS_SECTOR;
}

void ws_network_to_memory(struct ws_timing *t, struct ws_packet *k)
{
	/* an atomic carries an address and an operand a lane */
	uint32_t data = k->kind == WS_PACKET_READ ? 0 : k->kind == WS_PACKET_WRITE ? bytes_of(k)
	                : 8 * (uint32_t)__builtin_popcount(k->lanes);
	uint64_t piece = k->addr / t->m.interleave;
	uint32_t n = flits(t, data);

	k->part = &t->parts[piece % t->m.partitions];
	k->local = piece / t->m.partitions * t->m.interleave + k->addr % t->m.interleave;
	t->c->packets_to_memory++;
	t->c->flits_to_memory += n;
	ws_wheel_add(&t->wheel, pass(t, &k->core->out, &k->part->in, n), ws_part_arrive, k);
}

void ws_network_to_core(struct ws_timing *t, void *packet)
{
	struct ws_packet *k = packet;
	uint32_t data = k->kind == WS_PACKET_READ ? bytes_of(k) : k->kind == WS_PACKET_WRITE ? 0
	                : 4 * (uint32_t)__builtin_popcount(k->lanes);
	uint32_t n = flits(t, data);

	t->c->packets_to_cores++;
	t->c->flits_to_cores += n;
	ws_wheel_add(&t->wheel, pass(t, &k->part->out, &k->core->in, n), ws_stage_reply, k);
}

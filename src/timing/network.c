/* network.c - the network between cores and partitions, one for each direction. A packet is a header and its data, in flits; it
 * takes its port of entry and its port of exit for one cycle of the network a flit, and `network.latency` in between.
 * Packets for one port of exit pass in the order in which they entered.
 *
 * A crossbar has no other links. A butterfly has stages of switches, and behind each but the last a link for each position:
 * a packet from port i to port j is after stage s at the position whose first s digits are j's and whose others are i's
 * (destination tag routing; Dally and Towles, "Principles and practices of interconnection networks", 2004, 4.1). Packets that
 * share a link wait for each other. Buffers are not bounded. */
#include "timing/timing_priv.h"

#include <stdlib.h>
#include <string.h>

enum { AHEAD = 16 };                     /* flits that a core may have at its port */

static uint32_t flits(const struct ws_timing *t, uint32_t bytes)
{
	return (t->m.header + bytes + t->m.flit - 1) / t->m.flit;
}

void ws_network_init(const struct ws_machine *m, struct ws_network *n)
{
	uint32_t nodes = m->cores > m->partitions ? m->cores : m->partitions;

	memset(n, 0, sizeof *n);
	if (m->topology != WS_BUTTERFLY)
		return;
	for (n->ports = 1; n->ports < nodes; n->ports *= m->radix)
		n->stages++;
	n->link = ws_alloc(((size_t)n->stages + 1) * n->ports * sizeof *n->link);
}

void ws_network_fini(struct ws_network *n)
{
	free(n->link);
}

struct path {
	uint64_t *from, *to;             /* ports: free again then; fine */
	uint32_t source, target;         /* their numbers */
};

/* A link is free for a packet whose tail would be there at `tail`; when it is. */
static uint64_t take(uint64_t *link, uint64_t tail, uint64_t cost)
{
	return *link = ws_later(*link + cost, tail);
}

/* Sends n flits; returns the cycle in which the last one is there. */
static uint64_t pass(const struct ws_timing *t, struct ws_network *net, const struct path *p, uint32_t n)
{
	uint64_t cost = (uint64_t)n * t->network_cycle, tail, wire = ws_fine(t->m.network_latency);
	uint64_t hop = net->stages ? wire / net->stages : 0;
	uint32_t below = net->ports;

	tail = *p->from = ws_later(*p->from, ws_fine(t->now)) + cost;
	for (uint32_t s = 1; s < net->stages; s++) {
		below /= t->m.radix;
		wire -= hop;
		tail = take(&net->link[s * net->ports + p->target / below * below + p->source % below], tail + hop, cost);
	}
	return ws_cycle_of(take(p->to, tail + wire, cost));
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

/* A row of pieces, one a partition, begins anywhere. */
static uint64_t turned(uint64_t row)
{
	row ^= row >> 7;
	return row * 0x9e3779b97f4a7c15ull >> 40;
}

void ws_network_to_memory(struct ws_timing *t, struct ws_packet *k)
{
	/* an atomic carries an address and an operand a lane */
	uint32_t data = k->kind == WS_PACKET_READ ? 0 : k->kind == WS_PACKET_WRITE ? bytes_of(k)
	                : 8 * (uint32_t)__builtin_popcount(k->lanes);
	uint64_t piece = k->addr / t->m.interleave, row = piece / t->m.partitions;
	struct path p = {.from = &k->core->out, .source = k->core->index};
	uint32_t n = flits(t, data);

	k->part = &t->parts[(piece + (t->m.hash ? turned(row) : 0)) % t->m.partitions];
	k->local = row * t->m.interleave + k->addr % t->m.interleave;
	p.to = &k->part->in;
	p.target = k->part->index;
	t->c->packets_to_memory++;
	t->c->flits_to_memory += n;
	ws_wheel_add(&t->wheel, pass(t, &t->to_memory, &p, n), ws_part_arrive, k);
}

void ws_network_to_core(struct ws_timing *t, void *packet)
{
	struct ws_packet *k = packet;
	uint32_t data = k->kind == WS_PACKET_READ ? bytes_of(k) : k->kind == WS_PACKET_WRITE ? 0
	                : 4 * (uint32_t)__builtin_popcount(k->lanes);
	struct path p = {&k->part->out, &k->core->in, k->part->index, k->core->index};
	uint32_t n = flits(t, data);

	t->c->packets_to_cores++;
	t->c->flits_to_cores += n;
	ws_wheel_add(&t->wheel, pass(t, &t->to_cores, &p, n), ws_stage_reply, k);
}

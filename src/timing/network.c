/* network.c - the network between cores and partitions, one for each direction. A packet is a header and its data, in flits; it
 * takes its port of entry and its port of exit for one cycle of the network a flit, and `network.latency` in between.
 * Packets for one port of exit pass in the order in which they entered.
 *
 * A crossbar has no other links. A butterfly has stages of switches, and behind each but the last a link for each position:
 * a packet from port i to port j is after stage s at the position whose first s digits are j's and whose others are i's
 * (destination tag routing; Dally and Towles, "Principles and practices of interconnection networks", 2004, 4.1). Packets that
 * share a link wait for each other.
 *
 * Buffers are not bounded, or (network.channels) a partition has room for some flits of each core, and a core knows how many: it
 * sends a packet when there is room for all of it, and hears of room `network.latency` after it is there (credits; Dally and
 * Towles, 13.3). Until then the packet waits in the queue of its virtual channel, which is that of its partition's number,
 * and those behind it wait too; those of other channels pass (17.1). Cores take what comes at once.
 *
 * What is sent takes its port of entry at once; the rest of its way is found between two windows of time, for all packets in
 * the order in which they were sent. */
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

/* ---- what is sent ---- */
static void put(struct ws_timing *t, enum ws_box box, struct ws_sent s)
{
	struct ws_outbox *b = &t->box[box];
	size_t i = b->n;

	s.cycle = (uint32_t)(t->now - t->window);
	WS_PUSH(b->sent, b->n, b->cap);
	for (; i > 0 && b->sent[i - 1].cycle == s.cycle && b->sent[i - 1].source > s.source; i--)
		b->sent[i] = b->sent[i - 1];
	b->sent[i] = s;
}

static void send(struct ws_timing *t, enum ws_box box, uint64_t *from, struct ws_sent s)
{
	s.flits = s.packet->flits;
	s.tail = *from = ws_later(*from, ws_fine(t->now)) + (uint64_t)s.flits * t->network_cycle;
	put(t, box, s);
}

static void send_to_part(struct ws_timing *t, struct ws_packet *k)
{
	send(t, WS_BOX_MEMORY, &k->core->out,
	     (struct ws_sent){.packet = k, .source = k->core->index, .target = k->part->index});
}

/* A link is free for a packet whose tail would be there at `tail`; when it is. */
static uint64_t take(uint64_t *link, uint64_t tail, uint64_t cost)
{
	return *link = ws_later(*link + cost, tail);
}

/* The cycle in which the last flit of what has left its port is there. to: the port of exit, free again then. */
static uint64_t pass(const struct ws_timing *t, struct ws_network *net, uint64_t *to, const struct ws_sent *k)
{
	uint64_t cost = (uint64_t)k->flits * t->network_cycle, tail = k->tail, wire = ws_fine(t->m.network_latency);
	uint64_t hop = net->stages ? wire / net->stages : 0;
	uint32_t below = net->ports;

	for (uint32_t s = 1; s < net->stages; s++) {
		below /= t->m.radix;
		wire -= hop;
		tail = take(&net->link[s * net->ports + k->target / below * below + k->source % below], tail + hop, cost);
	}
	return ws_cycle_of(take(to, tail + wire, cost));
}

bool ws_network_ready(const struct ws_timing *t, const struct ws_core *c, uint64_t *when)
{
	uint64_t ahead = (uint64_t)AHEAD * t->network_cycle;

	if (c->waiting >= AHEAD) {
		*when = WS_NEVER;        /* a credit wakes it */
		return false;
	}
	if (c->out <= ws_fine(t->now) + ahead)
		return true;
	*when = ws_cycle_of(c->out - ahead);
	return false;
}

/* ---- virtual channels ---- */
struct ws_channel { struct ws_packet *first, *last; };

void ws_channels_init(const struct ws_machine *m, struct ws_core *c)
{
	c->channel = ws_alloc((m->channels + 1) * sizeof *c->channel);
	c->credit = ws_alloc(m->partitions * sizeof *c->credit);
	for (uint32_t i = 0; i < m->partitions; i++)
		c->credit[i] = m->buffer;
}

void ws_channels_fini(struct ws_core *c)
{
	free(c->channel);
	free(c->credit);
}

/* A packet larger than the buffer has it for itself. */
static uint32_t room_for(const struct ws_timing *t, const struct ws_packet *k)
{
	return k->flits < t->m.buffer ? k->flits : t->m.buffer;
}

static bool send_from(struct ws_timing *t, struct ws_core *c, struct ws_channel *v)
{
	struct ws_packet *k = v->first;

	if (!k || c->credit[k->part->index] < room_for(t, k))
		return false;
	v->first = k->next;
	c->credit[k->part->index] -= room_for(t, k);
	c->waiting -= k->flits;
	k->credit = ws_packet_new(t);    /* of the core's share, which gets it back */
	send_to_part(t, k);
	return true;
}

/* All that can go does, the channels in turn. */
static void pump(struct ws_timing *t, struct ws_core *c)
{
	for (uint32_t idle = 0; idle < t->m.channels;) {
		idle = send_from(t, c, &c->channel[c->turn]) ? 0 : idle + 1;
		c->turn = (c->turn + 1) % t->m.channels;
	}
}

static void queue(struct ws_timing *t, struct ws_packet *k)
{
	struct ws_core *c = k->core;
	struct ws_channel *v = &c->channel[k->part->index % t->m.channels];

	k->next = NULL;
	if (v->first)
		v->last->next = k;
	else
		v->first = k;
	v->last = k;
	c->waiting += k->flits;
	pump(t, c);
	t->c->credit_waits += v->first != NULL;  /* it is the last one there */
}

void ws_network_credit(struct ws_timing *t, const struct ws_packet *k)
{
	k->core->credit[k->part->index] += k->flits;
	pump(t, k->core);
}

void ws_network_taken(struct ws_timing *t, const struct ws_packet *taken)
{
	struct ws_packet *k = taken->credit;

	if (!k)
		return;
	*k = (struct ws_packet){.core = taken->core, .part = taken->part, .kind = WS_PACKET_CREDIT,
	                        .flits = room_for(t, taken)};
	put(t, WS_BOX_CREDITS, (struct ws_sent){.packet = k, .tail = ws_fine(t->now), .source = taken->part->index,
	                                        .target = taken->core->index});
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
	uint64_t piece = k->addr / t->m.interleave, row = piece / t->m.partitions;

	k->part = &t->parts[(piece + (t->m.hash ? turned(row) : 0)) % t->m.partitions];
	k->local = row * t->m.interleave + k->addr % t->m.interleave;
	ws_network_to_part(t, k);
}

static uint32_t sent_bytes(const struct ws_packet *k)
{
	switch ((enum ws_packet_kind)k->kind) {
	case WS_PACKET_WRITE: case WS_PACKET_KEEP:
		return bytes_of(k) + k->extra;
	case WS_PACKET_ATOMIC:           /* an address and an operand a lane */
		return 8 * (uint32_t)__builtin_popcount(k->lanes) + k->extra;
	default:
		return k->extra;
	}
}

void ws_network_to_part(struct ws_timing *t, struct ws_packet *k)
{
	k->flits = flits(t, sent_bytes(k));
	*(k->kind <= WS_PACKET_ATOMIC ? &t->c->packets_to_memory : &t->c->unit_packets) += 1;
	t->c->flits_to_memory += k->flits;
	if (t->m.channels)
		queue(t, k);
	else
		send_to_part(t, k);
}

void ws_network_to_core(struct ws_timing *t, void *packet)
{
	struct ws_packet *k = packet;
	uint32_t data = k->kind == WS_PACKET_READ ? bytes_of(k) : k->kind == WS_PACKET_WRITE ? 0
	                : 4 * (uint32_t)__builtin_popcount(k->lanes);

	k->flits = flits(t, data);
	t->c->packets_to_cores++;
	t->c->flits_to_cores += k->flits;
	send(t, WS_BOX_CORES, &k->part->out,
	     (struct ws_sent){.packet = k, .source = k->part->index, .target = k->core->index});
}

/* ---- between windows ---- */
static void pass_on(struct ws_timing *t, enum ws_box box, const struct ws_sent *s)
{
	bool memory = box == WS_BOX_MEMORY;
	uint64_t at, *to = memory ? &t->parts[s->target].in : &t->cores[s->target].in;
	struct ws_timing *home = memory ? t->parts[s->target].home : t->cores[s->target].home;
	struct ws_arrivals *a = &home->come[box];

	if (box == WS_BOX_CREDITS)
		at = s->tail / WS_FINE + t->m.network_latency;
	else
		at = pass(t, memory ? &t->to_memory : &t->to_cores, to, s);
	*WS_PUSH(a->come, a->n, a->cap) = (struct ws_arrival){at, s->packet};
	a->at = at < a->at ? at : a->at;
}

/* The next one in order among those of all shares; NULL: there are no more. A source is of one share. */
static const struct ws_sent *take_first(struct ws_timing *t, enum ws_box box)
{
	const struct ws_sent *best = NULL;
	struct ws_outbox *of = NULL;

	for (uint32_t i = 0; i < t->nhosts; i++) {
		struct ws_outbox *b = &t->host[i]->box[box];
		const struct ws_sent *s = b->passed < b->n ? &b->sent[b->passed] : NULL;

		if (!s || (best && (s->cycle > best->cycle || (s->cycle == best->cycle && s->source > best->source))))
			continue;
		best = s;
		of = b;
	}
	if (of)
		of->passed++;
	return best;
}

void ws_network_deliver(struct ws_timing *t, enum ws_box box)
{
	const struct ws_sent *s;

	while ((s = take_first(t, box)))
		pass_on(t, box, s);
	for (uint32_t i = 0; i < t->nhosts; i++)
		t->host[i]->box[box].n = t->host[i]->box[box].passed = 0;
}

void ws_network_arrive(struct ws_timing *h)
{
	for (uint32_t i = 0; i < WS_BOXES; i++) {
		struct ws_arrivals *a = &h->come[i];

		for (size_t k = 0; k < a->n; k++)
			ws_wheel_add(&h->wheel, a->come[k].at, i == WS_BOX_MEMORY ? ws_part_arrive : ws_stage_reply, a->come[k].packet);
		a->n = 0;
		a->at = WS_NEVER;
	}
}

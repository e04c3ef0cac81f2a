/* partition.c - a memory partition: its slice of the second-level cache, which writes back, and the unit that does atomics.
 * Packets are served in their order of arrival. Written sectors need not be read first: the cache knows which bytes are
 * new. An atomic happens here, when its line is there; src/gpu changes memory at the end of that window of time, before the
 * answer can be anywhere. */
#include "timing/timing_priv.h"

#include <string.h>

void ws_part_init(struct ws_timing *t, struct ws_partition *p, uint32_t index)
{
	memset(p, 0, sizeof *p);
	p->index = index;
	p->home = t;
	ws_cache_init(&p->l2, &t->m.l2);
	ws_mshrs_init(&p->mshrs, t->m.l2_mshrs);
	ws_dram_init(t, &p->dram, p);
}

void ws_part_fini(struct ws_partition *p)
{
	ws_cache_fini(&p->l2);
	ws_mshrs_fini(&p->mshrs);
	ws_dram_fini(&p->dram);
}

static void fill(struct ws_timing *t, struct ws_partition *p, uint64_t local, uint32_t sectors, bool dirty)
{
	struct ws_victim v;

	ws_cache_fill(&p->l2, local, sectors, dirty, &v);
	if (!v.dirty)
		return;
	t->c->l2_written_back += (uint32_t)__builtin_popcount(v.dirty);
	ws_dram_add(t, &p->dram, v.addr, v.dirty, true);
}

static void reply(struct ws_timing *t, struct ws_packet *k)
{
	if (!ws_follow_holds(k))
		ws_wheel_add(&t->wheel, t->now + t->m.l2_latency, ws_network_to_core, k);
}

/* ---- atomics ---- */
/* Lanes on one word are done one after the other. */
static uint32_t most_on_one_word(const struct ws_packet *k)
{
	const uint64_t *addr = k->access->addr;
	uint32_t most = 0;

	for (uint32_t left = k->lanes; left;) {
		uint64_t word = addr[__builtin_ctz(left)] / 4;
		uint32_t n = 0;

		for (uint32_t m = left; m; m &= m - 1)
			if (addr[__builtin_ctz(m)] / 4 == word) {
				n++;
				left &= ~(1u << __builtin_ctz(m));
			}
		most = n > most ? n : most;
	}
	return most;
}

static void do_atomic(struct ws_timing *t, struct ws_partition *p, struct ws_packet *k)
{
	uint32_t lanes = (uint32_t)__builtin_popcount(k->lanes), same = most_on_one_word(k);
	uint32_t n = (lanes + t->m.l2_atomics - 1) / t->m.l2_atomics;

	n = n > same ? n : same;
	p->port = ws_later(p->port, ws_fine(t->now)) + (uint64_t)n * t->network_cycle;
	fill(t, p, k->local, k->sectors, true);
	ws_step_core(t->x, k->core->index);
	if (k->access->of_unit)
		ws_unit_arrive(t, k);
	else if (k->access->atomic.in)   /* of one by addresses in several memories the effect came at issue */
		*WS_PUSH(t->effects, t->neffects, t->cap_effects) = (struct ws_effect){k->access, k->lanes};
	reply(t, k);
}

/* ---- packets ---- */
static bool miss(struct ws_timing *t, struct ws_partition *p, struct ws_packet *k, uint32_t missing)
{
	struct ws_miss *e = ws_mshrs_get(&p->mshrs, k->local);
	uint32_t more, piece = ws_piece(&t->m, k->which);

	if (!e)
		return false;
	more = ws_cache_fetched(&p->l2, piece < t->m.l2.line ? piece : t->m.l2.line, missing) & ~e->coming;
	ws_mshrs_wait(&p->mshrs, e, k, missing);
	if (missing & more) {
		e->coming |= more;
		ws_dram_add(t, &p->dram, k->local, more, false);
	}
	return true;
}

/* What a unit that watches has here. false: no room for another miss. */
static bool serve_unit(struct ws_timing *t, struct ws_partition *p, struct ws_packet *k)
{
	uint32_t bytes = (uint32_t)__builtin_popcount(k->sectors) * WS_SECTOR, missing;

	if (k->kind == WS_PACKET_NOTE || k->kind == WS_PACKET_TELL) {
		if (k->kind == WS_PACKET_NOTE)
			ws_follow_served(t, k);
		else
			ws_follow_told(t, k);
		ws_packet_free(t, k);
		return true;
	}
	missing = k->kind == WS_PACKET_KEEP ? 0 : k->sectors & ~ws_cache_look(&p->l2, k->local, k->sectors);
	if (missing && !miss(t, p, k, missing))
		return false;
	t->c->unit_misses += missing != 0;
	*(k->kind == WS_PACKET_KEEP ? &t->c->unit_writes : &t->c->unit_reads) += 1;
	p->port = ws_later(p->port, ws_fine(t->now)) +
	          (uint64_t)((bytes + t->m.l2_port - 1) / t->m.l2_port) * t->network_cycle;
	if (k->kind == WS_PACKET_KEEP) {
		fill(t, p, k->local, k->sectors, true);
		t->watched -= k->core != NULL;
		ws_packet_free(t, k);
	} else if (!missing) {
		ws_follow_looked(t, k);
	}
	return true;
}

/* false: no room for another miss. */
static bool serve(struct ws_timing *t, struct ws_partition *p, struct ws_packet *k)
{
	uint32_t bytes = (uint32_t)__builtin_popcount(k->sectors) * WS_SECTOR;
	uint32_t missing;

	if (k->kind > WS_PACKET_MESSAGE)
		return serve_unit(t, p, k);
	missing = k->sectors & ~ws_cache_look(&p->l2, k->local, k->sectors);
	if (missing && k->kind != WS_PACKET_WRITE && !miss(t, p, k, missing))
		return false;
	*(missing ? &t->c->l2_misses : &t->c->l2_hits) += 1;
	*(k->kind == WS_PACKET_READ ? &t->c->l2_reads : k->kind == WS_PACKET_WRITE ? &t->c->l2_writes : &t->c->l2_atomics) += 1;
	p->port = ws_later(p->port, ws_fine(t->now)) +
	          (uint64_t)((bytes + t->m.l2_port - 1) / t->m.l2_port) * t->network_cycle;
	if (k->record)
		ws_follow_served(t, k);
	if (k->kind == WS_PACKET_WRITE) {
		fill(t, p, k->local, k->sectors, true);
		reply(t, k);
	} else if (!missing && k->kind == WS_PACKET_READ) {
		reply(t, k);
	} else if (!missing) {
		do_atomic(t, p, k);
	}
	return true;
}

static void tick(struct ws_timing *t, void *arg)
{
	struct ws_partition *p = arg;

	p->ticking = false;
	while (p->first) {
		struct ws_packet *k = p->first, before = {.core = k->core, .part = p, .flits = k->flits, .credit = k->credit};

		if (p->port >= ws_fine(t->now + 1)) {
			p->ticking = true;
			ws_wheel_add(&t->wheel, p->port / WS_FINE, tick, p);
			return;
		}
		p->full = false;
		p->first = k->next;
		if (serve(t, p, k)) {
			ws_network_taken(t, &before);    /* it may be another one already */
			continue;
		}
		p->first = k;
		p->full = true;
		return;
	}
	p->last = NULL;
}

void ws_part_append(struct ws_partition *p, struct ws_packet *k)
{
	k->next = NULL;
	if (p->first)
		p->last->next = k;
	else
		p->first = k;
	p->last = k;
}

void ws_part_arrive(struct ws_timing *t, void *packet)
{
	struct ws_packet *k = packet;
	struct ws_partition *p = k->part;

	ws_part_append(p, k);
	if (!p->ticking && !p->full)
		tick(t, p);
}

/* ---- data from DRAM ---- */
struct filling { struct ws_timing *t; struct ws_partition *p; };

static void served(void *user, void *who)
{
	struct filling *f = user;
	struct ws_packet *k = who;

	if (k->kind == WS_PACKET_ATOMIC)
		do_atomic(f->t, f->p, k);
	else if (k->kind == WS_PACKET_LOOK)
		ws_follow_looked(f->t, k);
	else
		reply(f->t, k);
}

void ws_part_filled(struct ws_timing *t, struct ws_partition *p, uint64_t local, uint32_t sectors)
{
	struct filling f = {t, p};

	fill(t, p, local, sectors, false);
	ws_mshrs_arrived(&p->mshrs, local, sectors, served, &f);
	if (p->first && !p->ticking)     /* it was full, or the unit goes on */
		tick(t, p);
}

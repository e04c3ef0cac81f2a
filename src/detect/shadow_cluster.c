/* shadow_cluster.c - cluster barriers, and how long the shared memory of another block lives (shadow_priv.h).
 *
 * The blocks of a cluster run on one host thread. barrier.cluster hands on what was released at arrival to those who
 * wait, phase by phase (PTX ISA 9.0, barrier.cluster). Shared memory of another block may be accessed only after that
 * block has begun and before it ends: an access must be ordered after something that the block did, and the end of
 * the block after the access (CUDA C++ Programming Guide, Distributed Shared Memory). */
#include "detect/shadow_priv.h"

#include <stdlib.h>
#include <string.h>

/* ---- barriers ---- */
void ws_cluster_block_begin(struct ws_block_state *b)
{
	uint64_t id = ws_sync_cluster_of(b->l->l, b->b->linear);
	struct ws_cluster_state *cl;

	ws_spin_lock(&b->s->lock);
	for (cl = b->l->clusters; cl && cl->id != id; cl = cl->next)
		continue;
	if (!cl) {
		cl = ws_alloc(sizeof *cl);
		cl->id = id;
		cl->next = b->l->clusters;
		b->l->clusters = cl;
	}
	cl->blocks++;
	ws_spin_unlock(&b->s->lock);
	b->cl = cl;
}

static void leave(struct ws_block_state *b)
{
	struct ws_cluster_state **at = &b->l->clusters, *cl = b->cl;

	b->cl = NULL;
	ws_spin_lock(&b->s->lock);
	if (--cl->blocks == 0) {
		while (*at != cl)
			at = &(*at)->next;
		*at = cl->next;
		ws_facts_drop(&cl->now);
		ws_facts_drop(&cl->done);
		free(cl);
	}
	ws_spin_unlock(&b->s->lock);
}

void ws_cluster_barrier(void *self, struct ws_obs_warp *ow, const struct ws_cluster_barrier *cb)
{
	struct ws_warp_state *w = ow->state;
	struct ws_block_state *b = ow->block->state;
	struct ws_facts f;

	if (!w || !b->cl)
		return;
	if (cb->kind == WS_CLUSTER_COMPLETE) {
		ws_facts_drop(&b->cl->done);
		b->cl->done = b->cl->now;
		memset(&b->cl->now, 0, sizeof b->cl->now);
	} else if (cb->kind == WS_CLUSTER_ARRIVE) {
		uint32_t units = ws_sync_units(b, cb->mask);

		f = cb->sem == WS_SEM_RELAXED ? ws_sync_fenced(w, b, units, LV_CLUSTER) : ws_sync_snapshot(w, b, units);
		ws_facts_join(&b->cl->now, &f);
		ws_facts_drop(&f);
	} else if (cb->sem == WS_SEM_RELAXED) {
		ws_sync_pend(b, w, ws_sync_units(b, cb->mask), &b->cl->done);
	} else {
		ws_sync_tell(b, w, ws_sync_units(b, cb->mask), &b->cl->done);
	}
}

/* ---- lifetime ---- */
static bool knows_block(const struct ws_ctx *c, uint32_t lane, uint32_t slot)
{
	return ws_know_has(c->b->kb.k, slot) || (c->w->lane && ws_know_has(c->w->lane[c->its ? lane : 0].f.k, slot));
}

static void note_visit(struct ws_block_state *owner, const struct ws_ctx *c)
{
	struct ws_visit v = {.who = c->as, .mask = c->a->mask, .site = c->site, .addr = c->a->addr[__builtin_ctz(c->a->mask)]};

	for (uint32_t i = 0; i < owner->nvisits; i++)
		if (!((owner->visits[i].who ^ v.who) >> WHO_TIME_BITS) && !(owner->visits[i].mask & ~v.mask)) {
			owner->visits[i] = v;
			return;
		}
	owner->visits = ws_grow(owner->visits, &owner->visits_cap, owner->nvisits + 1, sizeof *owner->visits);
	owner->visits[owner->nvisits++] = v;
}

void ws_cluster_visit(struct ws_ctx *c)
{
	for (uint32_t m = c->a->mask; m; m &= m - 1) {
		uint32_t l = c->a->issuer < WS_WARP && c->a->async ? c->a->issuer : (uint32_t)__builtin_ctz(m);

		if (knows_block(c, l, c->owner->first_slot))
			continue;
		c->cls = ws_class_of(c->a->kind);
		c->line_addr = c->a->addr[__builtin_ctz(m)] & ~(uint64_t)(LINE - 1);
		ws_shadow_lifetime(c, l, false);
		break;
	}
	note_visit(c->owner, c);
}

/* Did any thread of b know of the access as it ended? */
static bool known_at_end(const struct ws_block_state *b, uint64_t who, uint32_t lane)
{
	uint32_t slot = who >> 32, thread = (uint32_t)(who >> WHO_TIME_BITS & 31) * WS_WARP + (b->l->its ? lane : 0);
	uint32_t units = b->l->its ? WS_WARP : 1;

	if (ws_know_covers(b->kb.k, slot, thread, who & WHO_TIME))
		return true;
	for (uint32_t i = 0; i < b->nwarps; i++)
		for (uint32_t l = 0; b->warps[i].lane && l < units; l++)
			if (ws_know_covers(b->warps[i].lane[l].f.k, slot, thread, who & WHO_TIME))
				return true;
	return false;
}

static void check_visit(struct ws_block_state *b, const struct ws_visit *v)
{
	for (uint32_t m = v->mask; m; m &= m - 1) {
		uint32_t l = __builtin_ctz(m);
		struct ws_site_info *i = &b->s->sites[(v->site & SITE_ID) >> CHUNK_BITS][v->site & (CHUNK - 1)];
		struct ws_access a = {.site = i->site, .mask = m & -m, .kind = i->kind, .bytes = i->bytes, .addr = &v->addr};
		struct ws_ctx c = {.s = b->s, .l = b->l, .b = b, .w = &b->warps[0], .a = &a, .owner = b, .me = v->who, .as = v->who,
		                   .site = v->site, .its = b->l->its, .line_addr = v->addr & ~(uint64_t)(LINE - 1)};

		if (known_at_end(b, v->who, l))
			continue;
		c.cls = ws_class_of(i->kind);
		ws_shadow_lifetime(&c, l, true);
		return;
	}
}

void ws_cluster_block_end(struct ws_block_state *b)
{
	for (uint32_t i = 0; i < b->nvisits; i++)
		check_visit(b, &b->visits[i]);
	b->nvisits = 0;
	if (b->cl)
		leave(b);
}

/* haccrg_locks.c - the atomic ID registers of haccrg: which locks a thread holds, as a Bloom filter signature that is cleared when
 * it holds none (Holey 2015, 6.2.2). The text has instructions before and after critical sections, which a compiler may insert;
 * here __ws_section_begin and __ws_section_end, or, in their place, what the atomics themselves tell: a compare-and-swap or an
 * exchange that turns 0 into something else gets the lock at its address, and whatever its thread then exchanges
 * there or stores there gives it back. */
#include "units/haccrg_priv.h"

#include <string.h>

void ws_hac_locked(struct ws_hac *u, struct ws_hac_block *b, uint32_t thread, uint64_t addr)
{
	struct ws_hac_thread *t = &b->thread[thread];

	b->holding += !t->held;
	if (t->held < HAC_LOCKS)
		t->lock[t->held] = addr;
	t->held++;
	u->sections++;
	if (u->form.locks.bits)
		t->signature = ws_signature_add(u->form.locks, t->signature, addr);
}

void ws_hac_unlocked(struct ws_hac_block *b, uint32_t thread, uint64_t addr)
{
	struct ws_hac_thread *t = &b->thread[thread];
	uint32_t n = t->held < HAC_LOCKS ? t->held : HAC_LOCKS;

	for (uint32_t i = 0; i < n; i++) {
		if (t->lock[i] != addr)
			continue;
		memmove(&t->lock[i], &t->lock[i + 1], (HAC_LOCKS - 1 - i) * sizeof t->lock[0]);
		if (!--t->held) {
			t->signature = 0;
			b->holding--;
		}
		return;
	}
}

void ws_hac_guess_release(const struct ws_obs_warp *w, uint32_t lanes, const uint64_t *addr)
{
	struct ws_hac_block *b = w->block->state;

	for (uint32_t m = b->holding ? lanes : 0; m; m &= m - 1) {
		uint32_t l = (uint32_t)__builtin_ctz(m);

		ws_hac_unlocked(b, w->index * WS_WARP + l, addr[l]);
	}
}

static uint64_t word_at(const void *p, uint32_t bytes)
{
	uint64_t v = 0;

	memcpy(&v, p, bytes < sizeof v ? bytes : sizeof v);
	return v;
}

void ws_hac_guess(struct ws_hac *u, const struct ws_obs_warp *w, const struct ws_access *a)
{
	struct ws_hac_block *b = w->block->state;

	if ((a->atom != WS_ATOM_CAS && a->atom != WS_ATOM_EXCH) || !a->mem || a->bytes > 8)
		return;
	for (uint32_t m = a->wrote; m; m &= m - 1) {
		uint32_t l = (uint32_t)__builtin_ctz(m);
		const uint8_t *now = a->mem->host + (a->addr[l] - a->mem->addr);

		if (!word_at((const uint8_t *)a->value + l * a->bytes, a->bytes) && word_at(now, a->bytes))
			ws_hac_locked(u, b, w->index * WS_WARP + l, a->addr[l]);
	}
}

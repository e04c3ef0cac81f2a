/* policy.c - which of the warps that could issue a scheduler takes. Loose round robin: the next after the last one. Greedy
 * then oldest: the last one again, else the oldest (Rogers, O'Connor, Aamodt, "Cache-conscious wavefront scheduling", MICRO
 * 2012). Two-level: round robin in a small active set; a warp that waits for memory or a barrier leaves it to the oldest
 * one outside that could issue (Narasiman et al., "Improving GPU performance via large warps and two-level warp
 * scheduling", MICRO 2011, and Gebhart et al., ISCA 2011). */
#include "timing/timing_priv.h"

static uint32_t next_after(uint64_t set, uint32_t last)
{
	uint64_t behind = last < 63 ? set & ~0ull << (last + 1) : 0;

	return (uint32_t)__builtin_ctzll(behind ? behind : set);
}

static uint32_t oldest(const struct ws_sched *s, uint64_t set)
{
	uint32_t best = (uint32_t)__builtin_ctzll(set);

	for (uint64_t b = set; b; b &= b - 1) {
		uint32_t i = (uint32_t)__builtin_ctzll(b);

		if (s->warp[i]->born < s->warp[best]->born)
			best = i;
	}
	return best;
}

/* Two-level: warps that wait for long leave the active set, and others that can issue take their places. */
uint64_t ws_policy_candidates(const struct ws_machine *m, struct ws_sched *s, uint64_t ready)
{
	if (m->policy != WS_POLICY_TWO_LEVEL)
		return ready;
	for (uint64_t b = s->active; b; b &= b - 1) {
		uint32_t i = (uint32_t)__builtin_ctzll(b);

		if (s->at[i] == WS_NEVER)
			s->active &= ~(1ull << i);
	}
	while ((uint32_t)__builtin_popcountll(s->active) < m->active && ready & ~s->active)
		s->active |= 1ull << oldest(s, ready & ~s->active);
	return ready & s->active;
}

uint32_t ws_policy_pick(const struct ws_machine *m, const struct ws_sched *s, uint64_t ready)
{
	switch ((enum ws_policy)m->policy) {
	case WS_POLICY_GTO:
		return ready >> s->last & 1 ? s->last : oldest(s, ready);
	case WS_POLICY_TWO_LEVEL: case WS_POLICY_LRR:
		break;
	}
	return next_after(ready, s->last);
}

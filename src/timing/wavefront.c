/* wavefront.c - wavefronts of 64 (core.wavefront = 64): two neighbouring warps of a block, to the simulator two masks of 32 lanes,
 * issue together when they are at the same instruction, and take one turn of the scheduler and of the pipeline. Where they
 * are at different ones, as after a branch that only one of them took, the half that is behind in its function goes first and the
 * other waits for it, so that they meet again behind the branch: what execution masks over 64 lanes do (villegas-2015 II;
 * AMD, Southern Islands Series Instruction Set Architecture, 2012, 3.3).
 *
 * Departure: a half that has waited PATIENCE cycles for one that never comes, because it waits in a loop for the first,
 * goes on alone until they meet; a GPU with such masks would hang there. */
#include "timing/timing_priv.h"

enum { PATIENCE = 4096 };

static bool together(const struct ws_twarp *w, const struct ws_twarp *twin)
{
	return !twin->ended && !twin->waits && twin->ti == w->ti;
}

/* Is the other half further back in the same function, or on its way there? */
static bool lags(const struct ws_twarp *w, const struct ws_twarp *twin)
{
	return !twin->ended && !twin->waits && !twin->held && twin->function == w->function && twin->ti < w->ti;
}

bool ws_wavefront_waits(struct ws_timing *t, struct ws_twarp *w, uint64_t *when)
{
	const struct ws_twarp *twin = w->twin;
	bool same;

	*when = WS_NEVER;
	if (!twin)
		return false;
	same = together(w, twin);
	if (same)
		w->parted = w->twin->parted = false;
	if (w->parted || !(same ? twin->sched->at[twin->slot] > t->now : lags(w, twin))) {
		w->behind = 0;
		return false;
	}
	if (!w->behind)
		w->behind = t->now;
	*when = w->behind + PATIENCE;
	if (t->now < *when)
		return true;
	w->parted = true;
	w->behind = 0;
	return false;
}

struct ws_twarp *ws_wavefront_joins(const struct ws_timing *t, const struct ws_twarp *w)
{
	struct ws_twarp *twin = w->twin;

	return twin && together(w, twin) && twin->sched->at[twin->slot] <= t->now ? twin : NULL;
}

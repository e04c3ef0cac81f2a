/* ahead.c - the order of instructions as a compiler would have made it. PTX is in the order of the program: a load, and behind it
 * what uses its value. A compiler moves uses behind the loads that follow, as far as the basic block goes, so that the loads
 * overlap. Here an arithmetic instruction that only waits for loads issues nevertheless (its value is known already, see core.c),
 * and its result counts when the loads are there and its latency is over. At the block's end all of them must be done: there a
 * compiler can put them off no more. `core.ahead` bounds how many a warp has, as registers do.
 *
 * Who waits for whom is known by numbers: each load, and each instruction put off, has one; `token` says which number brings the
 * value of a register. */
#include "timing/timing_priv.h"

static bool arithmetic(const struct ws_tinst *ti)
{
	return !ti->memory && ti->sync == WS_SYNC_NONE && ti->cls < WS_CLASS_MATRIX && ti->ndef <= 2;
}

/* Numbers that the instruction waits for, with a register that it reads. false: it waits for something else too, or for more. */
static bool sources(const struct ws_twarp *w, struct ws_ahead *e)
{
	const struct ws_tinst *ti = w->ti;

	for (uint32_t i = 0; i < ti->nuse; i++) {
		uint32_t reg = ti->regs[i];
		uint64_t r = w->ready[reg];

		if (r != WS_NEVER) {
			e->base = ws_later(e->base, r);
			continue;
		}
		if (!w->token[reg] || e->n == WS_COUNT(e->source))
			return false;
		e->source[e->n++] = w->token[reg];
	}
	for (uint32_t i = 0; i < ti->ndef; i++) {
		uint32_t reg = ti->regs[ti->nuse + i];

		if (w->ready[reg] == WS_NEVER && !w->token[reg])
			return false;    /* an atomic brings it, and would overwrite the new value */
	}
	return true;
}

bool ws_ahead_may(const struct ws_timing *t, const struct ws_twarp *w)
{
	struct ws_ahead e = {0};

	return w->nahead < t->m.ahead && arithmetic(w->ti) && sources(w, &e);
}

bool ws_ahead_load_may(const struct ws_twarp *w)
{
	const struct ws_tinst *ti = w->ti;

	for (uint32_t i = 0; i < ti->nuse + ti->ndef; i++)
		if (w->ready[ti->regs[i]] == WS_NEVER && (i < ti->nuse || !w->token[ti->regs[i]]))
			return false;
	return ti->load;
}

bool ws_ahead_put_off(struct ws_twarp *w, uint32_t latency)
{
	struct ws_ahead e = {.latency = latency};

	if (!sources(w, &e) || !e.n)
		return false;
	e.token = ++w->last_token;
	for (uint32_t i = 0; i < w->ti->ndef; i++) {
		uint32_t reg = w->ti->regs[w->ti->nuse + i];

		w->ready[reg] = WS_NEVER;
		w->token[reg] = e.token;
		e.reg[i] = reg;
	}
	e.nregs = w->ti->ndef;
	w->ahead[w->nahead++] = e;
	return true;
}

static void settle(struct ws_twarp *w, const uint32_t *regs, uint32_t n, uint32_t token, uint64_t at)
{
	for (uint32_t i = 0; i < n; i++)
		if (w->token[regs[i]] == token && w->ready[regs[i]] == WS_NEVER)
			w->ready[regs[i]] = at;
	w->results = ws_later(w->results, at);
}

/* That number's value is there at `at`: an instruction put off may have all now, and those behind it after it. */
static void arrived(struct ws_twarp *w, uint32_t from, uint32_t token, uint64_t at)
{
	for (uint32_t i = from; i < w->nahead; i++) {
		struct ws_ahead *e = &w->ahead[i];
		uint32_t n = e->n;

		for (uint32_t k = 0; k < e->n;)
			if (e->source[k] == token)
				e->source[k] = e->source[--e->n];
			else
				k++;
		if (n == e->n)
			continue;
		e->base = ws_later(e->base, at);
		if (e->n)
			continue;
		settle(w, e->reg, e->nregs, e->token, e->base + e->latency);
		arrived(w, i + 1, e->token, e->base + e->latency);
	}
}

void ws_ahead_loaded(struct ws_twarp *w, const struct ws_tinst *ti, uint32_t token, uint64_t now)
{
	uint32_t kept = 0;

	settle(w, ti->regs + ti->nuse, ti->ndef, token, now);
	arrived(w, 0, token, now);
	for (uint32_t i = 0; i < w->nahead; i++)
		if (w->ahead[i].n)
			w->ahead[kept++] = w->ahead[i];
	w->nahead = kept;
}

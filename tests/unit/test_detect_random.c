/* test_detect_random.c - the detector "shadow" against the slow reference "exact" (detect_ref.h), on random executions: both
 * must find the same bytes to race. WARPSAFE_ROUNDS sets how many (default 12000), WARPSAFE_SEED where to begin. */
#include "tests/unit/detect_ref.h"

static uint64_t rng;
static uint32_t rnd(uint32_t n)
{
	rng = rng * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((rng >> 33) % n);
}

static bool one_in(uint32_t n)
{
	return rnd(n) == 0;
}

struct shape {
	bool its, simple;
	uint32_t blocks, warps, lanes, granularity, span, calm;     /* calm: the larger, the more synchronization */
	bool strong, fences, parts, sub, async, clusters;
};

static uint32_t some_lanes(const struct shape *s)
{
	uint32_t all = s->lanes == 32 ? ~0u : (1u << s->lanes) - 1, m;

	if (!one_in(3))
		return all;
	m = (rnd(0x10000) << 16 | rnd(0x10000)) & all;
	if (one_in(3))
		m = 1u << rnd(s->lanes);
	return m ? m : all;
}

static enum ws_scope some_scope(void)
{
	static const enum ws_scope scopes[] = {WS_SCOPE_CTA, WS_SCOPE_GPU, WS_SCOPE_GPU, WS_SCOPE_SYS, WS_SCOPE_CLUSTER};

	return scopes[rnd(WS_COUNT(scopes))];
}

static void strong_event(const struct shape *s, struct ev *e)
{
	static const enum ws_sem sems[] = {WS_SEM_RELAXED, WS_SEM_VOLATILE, WS_SEM_RELAXED, WS_SEM_ACQ_REL};

	e->bytes = one_in(8) && s->sub ? 1u << rnd(4) : 4;
	e->kind = one_in(2) ? WS_ATOMIC : one_in(2) ? WS_READ : WS_WRITE;
	e->sem = sems[rnd(s->fences ? 4 : 2)];
	if (e->kind == WS_ATOMIC && e->sem == WS_SEM_VOLATILE)
		e->sem = WS_SEM_RELAXED;
	if (e->sem == WS_SEM_ACQ_REL && e->kind != WS_ATOMIC)
		e->sem = e->kind == WS_READ ? WS_SEM_ACQUIRE : WS_SEM_RELEASE;
	if (e->sem == WS_SEM_ACQ_REL)
		e->sem = one_in(3) ? WS_SEM_ACQUIRE : one_in(2) ? WS_SEM_RELEASE : WS_SEM_ACQ_REL;
	e->scope = one_in(4) && s->fences ? some_scope() : WS_SCOPE_GPU;
	if (e->sem == WS_SEM_VOLATILE)
		e->scope = WS_SCOPE_SYS;
	e->wrote = one_in(4) ? e->mask & rnd(0x10000) : e->mask;
	e->linear = false;
	if (!one_in(3))
		e->mask = e->mask & -e->mask;
	e->wrote &= e->mask;
	for (int l = 0; l < WS_WARP; l++)
		e->addr[l] = (one_in(2) ? 0 : rnd(s->span)) / e->bytes * e->bytes;
}

static void weak_event(const struct shape *s, struct ev *e)
{
	e->bytes = one_in(3) && s->sub ? 1u << rnd(5) : 4;
	e->kind = one_in(2) ? WS_READ : WS_WRITE;
	e->sem = WS_SEM_WEAK;
	e->scope = WS_SCOPE_NONE;
	e->wrote = e->mask;
	e->linear = one_in(2);
	e->base = rnd(s->span);
	if (!one_in(5) || !s->sub)
		e->base = e->base / e->bytes * e->bytes;
	while (e->base + 32 * e->bytes > MEM)
		e->base /= 2, e->base = e->base / e->bytes * e->bytes;
	for (int l = 0; l < WS_WARP; l++)
		e->addr[l] = rnd(s->span) / (s->sub && one_in(9) ? 1 : e->bytes) * (s->sub ? 1 : e->bytes);
	if (one_in(2)) {             /* steps: fields of structures, rows, the same place */
		uint64_t step = e->bytes << rnd(4), from = rnd(s->span) / e->bytes * e->bytes, row = 1 + rnd(32);

		step = one_in(6) ? 0 : step;
		while (from + 31 * step + e->bytes > MEM && step)
			from /= 2, step = step / 2 < e->bytes ? e->bytes : step / 2, from = from / e->bytes * e->bytes;
		for (uint32_t l = 0; l < WS_WARP; l++)
			e->addr[l] = from + l % row * step + (l / row * 64) % (MEM - from - l % row * step - e->bytes + 1) / e->bytes * e->bytes;
		for (uint32_t l = 0; l < WS_WARP; l++)
			e->addr[l] = e->addr[l] > MEM - e->bytes ? 0 : e->addr[l];
		return;
	}
	for (int l = 0; l < WS_WARP && one_in(2); l++)
		e->addr[l] = e->addr[rnd(2)];
	for (int l = 0; l < WS_WARP; l++)
		if (!s->sub || !one_in(9))
			e->addr[l] = e->addr[l] / e->bytes * e->bytes;
}

static void random_access(struct sim *m, const struct shape *s)
{
	struct ev e = {.global = one_in(2), .mask = some_lanes(s), .site = rnd(6)};

	if (s->strong && one_in(2))
		strong_event(s, &e);
	else
		weak_event(s, &e);
	/* a site is one instruction: its size, kind and scope belong to it */
	if (e.sem == WS_SEM_WEAK)
		e.site = (e.site * 3 + e.kind) * 8 + (uint32_t)__builtin_ctz(e.bytes);
	else
		e.site = 144 + ((e.scope * 3u + e.kind) * 6 + (uint32_t)__builtin_ctz(e.bytes));
	for (size_t i = 0; i < sizeof e.value; i++)
		e.value[i] = one_in(2);
	sim_access(m, rnd(s->blocks), rnd(s->warps), &e);
}

static void random_sync(struct sim *m, const struct shape *s)
{
	uint32_t b = rnd(s->blocks), w = rnd(s->warps), waited[MAX_WARPS] = {0}, id = 1 + rnd(2);

	switch (rnd(6)) {
	case 0: sim_full_barrier(m, b); break;
	case 1: sim_warp_sync(m, b, w, some_lanes(s)); break;
	case 2:
		if (!s->parts)
			break;
		for (uint32_t i = 0; i < s->warps; i++)
			waited[i] = one_in(2) ? some_lanes(s) : 0;
		sim_part_barrier(m, b, id, waited);
		break;
	case 3:
		if (s->parts)
			sim_arrive(m, b, w, some_lanes(s), id);
		break;
	default:
		if (s->fences)
			sim_fence(m, b, w, some_lanes(s), one_in(6) ? WS_SEM_ACQUIRE : one_in(6) ? WS_SEM_RELEASE : WS_SEM_SC,
			          one_in(3) ? some_scope() : WS_SCOPE_GPU);
	}
}

static uint32_t all_lanes(const struct shape *s)
{
	return s->lanes == 32 ? ~0u : (1u << s->lanes) - 1;
}

/* A copy, a wait, or a step of an mbarrier object. Under the stack model whole warps do them: see docs/DETECTORS.md. */
static void random_async(struct sim *m, const struct shape *s)
{
	uint32_t b = rnd(s->blocks), w = rnd(s->warps), mask = s->its ? some_lanes(s) : all_lanes(s);
	uint32_t near = b ^ (s->clusters && one_in(2) ? 1 : 0), lane = rnd(s->lanes);
	enum ws_async kind = 1 + rnd(WS_ASYNC_WGMMA);
	uint64_t at[WS_WARP], done[WS_WARP];

	near = near < s->blocks ? near : b;
	for (int l = 0; l < WS_WARP; l++) {
		at[l] = rnd(s->span) / 16 * 16 % (MEM - 32);
		done[l] = m->last[b][w][kind < WS_ASYNC_MBARRIER ? kind : 1][l];
		done[l] -= done[l] && one_in(3);
	}
	for (int l = 1; l < WS_WARP && !s->its; l++)
		done[l] = done[0];
	switch (rnd(8)) {
	case 0:
		sim_async(m, b, w, mask, WS_WARP, WS_ASYNC_CP, false, true, b, at, true);
		sim_async(m, b, w, mask, WS_WARP, WS_ASYNC_CP, true, false, b, at, false);
		break;
	case 1: sim_async(m, b, w, 1u << lane, lane, WS_ASYNC_BULK, one_in(2), one_in(2), b, at, true); break;
	case 2: sim_async(m, b, w, 1u << lane, lane, WS_ASYNC_MBARRIER, true, false, near, at, true); break;
	case 3: sim_async_wait(m, b, w, mask, kind, done, kind == WS_ASYNC_BULK && one_in(2)); break;
	case 4: sim_mbar(m, b, w, mask, near, WS_MBAR_ARRIVE, one_in(6)); break;
	case 5: sim_mbar(m, b, w, mask, near, WS_MBAR_PHASE, false); break;
	case 6: sim_mbar(m, b, w, mask, near, WS_MBAR_WAIT, one_in(6)); break;
	default: sim_proxy_fence(m, b, w, mask, WS_SEM_ACQ_REL, WS_SCOPE_GPU, "async");
	}
}

/* A phase of the barrier of one cluster; not all wait at once. */
static void random_cluster(struct sim *m, const struct shape *s)
{
	uint32_t first = rnd(s->blocks) & ~1u;

	for (uint32_t b = first; b < first + 2 && b < s->blocks; b++)
		for (uint32_t w = 0; w < s->warps; w++)
			sim_cluster(m, b, w, all_lanes(s), WS_CLUSTER_ARRIVE, one_in(6));
	sim_cluster(m, first, 0, 0, WS_CLUSTER_COMPLETE, false);
	for (uint32_t b = first; b < first + 2 && b < s->blocks; b++)
		for (uint32_t w = 0; w < s->warps; w++)
			sim_cluster(m, b, w, all_lanes(s), WS_CLUSTER_WAIT, one_in(6));
}

static struct shape some_shape(void)
{
	struct shape s = {.its = one_in(2), .simple = one_in(3), .blocks = 1 + rnd(3), .warps = 1 + rnd(3), .granularity = 1};

	s.lanes = one_in(3) ? 32 : 1 + rnd(4);
	s.span = one_in(2) ? 16 : one_in(2) ? 128 : 400;
	s.calm = 1 + rnd(4);
	s.strong = one_in(2);
	s.fences = !s.simple && s.strong;
	s.parts = !s.simple && one_in(2);
	s.sub = one_in(2);
	s.async = !s.simple && one_in(3);
	s.clusters = !s.simple && one_in(4);
	return s;
}

static uint32_t play(uint64_t seed, bool trace, uint32_t *raced)
{
	struct shape s;
	struct sim *m;
	uint32_t n, bad;

	rng = seed * 0x9E3779B97F4A7C15u + 1;
	s = some_shape();
	n = 3 + rnd(one_in(4) ? 120 : 24);
	m = sim_make(s.its, s.blocks, s.warps, s.lanes, s.simple, s.granularity, s.clusters);
	m->self->launch.proxies = s.async;
	m->trace = trace;
	if (one_in(8))
		m->self->time_limit = 5 + rnd(10);
	if (trace)
		printf("seed %llu: %s%s, %u blocks, %u warps, %u lanes\n", (unsigned long long)seed, s.its ? "its" : "stack",
		       s.simple ? ", simple" : "", s.blocks, s.warps, s.lanes);
	while (n--) {
		if (s.async && one_in(3))
			random_async(m, &s);
		else if (s.clusters && one_in(6))
			random_cluster(m, &s);
		else if (rnd(5) < s.calm)
			random_sync(m, &s);
		else
			random_access(m, &s);
	}
	bad = sim_differences(m, raced);
	sim_free(m);
	return bad;
}

static void agrees(void **state)
{
	const char *rounds = getenv("WARPSAFE_ROUNDS"), *first = getenv("WARPSAFE_SEED");
	uint64_t from = first ? strtoull(first, NULL, 0) : 1, n = rounds ? strtoull(rounds, NULL, 0) : 12000;
	uint32_t raced = 0, ignored = 0, failed = 0;

	for (uint64_t seed = from; seed < from + n; seed++) {
		if (!play(seed, false, &raced))
			continue;
		play(seed, true, &ignored);
		if (++failed == 3)
			break;
	}
	assert_int_equal(failed, 0);
	assert_true(raced > n / 2);      /* it is about races */
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(agrees)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

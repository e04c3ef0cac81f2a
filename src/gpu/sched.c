/* sched.c - which block and which warp a host thread runs next.
 *
 * Blocks are taken in order. A block runs to its end if it can: its warps take turns, each until it waits at a barrier
 * or has used its budget of backward branches. When all that could run of a block only waits for something (it polls
 * memory and changes nothing), the host thread lets other blocks become resident, as many as fit on the simulated GPU,
 * and goes round them; so blocks that wait for each other make progress on one host thread too. When nothing
 * anywhere changes any more, it is a deadlock (deadlock.c): at once if the state of every warp has come back as it was, and after
 * some time of silence if one counts, or reads on.
 *
 * With the random schedule a seeded generator chooses block, warp, and after how many memory instructions to switch.
 *
 * With the schedule of priorities each warp has one, drawn when its block is let in, and the highest that can run does (Burckhardt,
 * Kothari, Musuvathi, Nagarakatti, "A Randomized Scheduler with Probabilistic Guarantees of Finding Bugs", ASPLOS 2010). At
 * points drawn beforehand the one that runs falls below all others: it is held up there until none of those can go on. What is
 * different here:
 * - Nobody knows how many steps a launch will have, and long ones have many places where something may be wrong. So points go on
 *   to the end, their distances drawn up to a bound, a power of two from 2^NEAR on. It is drawn anew after CHANGES points, so that
 *   some come close to each other and then none for long; and for each launch it is drawn how far it may go, up to 2^FAR.
 *   Whatever the number of steps is, the bound fits with a probability that does not depend on it.
 * - Of CHANGES points, one after the other, it is drawn who falls lower; then all fall lower than those before.
 * - A loop that looks at what others may change may wait for them, and write while it does: it falls, too, when it goes on long.
 * - A warp that only polls is not one that can run until another one has changed something. When nobody else can, all of those look
 *   again, and then it is judged as with the other schedules.
 * - Of a warp whose threads have diverged mostly the threads that run are held up, and the others of the warp go on. */
#include "gpu/gpu_priv.h"

#include <sched.h>
#include <string.h>
#include <time.h>

enum outcome { DONE, WAITING, PAUSED, FAILED };

enum {
	BUDGET = 1024,                   /* backward branches of a warp until others have a turn */
	BUDGET_SPLIT = 128,              /* the same when its threads have diverged */
	YIELD_EVERY = 256,               /* pauses after which a diverged loop that does not poll lets others pass */
	YIELD_BUSY = 64,                 /* the same of a loop that changes memory: it may wait all the same, and count */
	LOOKS = 4, LOOKS_SPLIT = 16,     /* pauses without progress from which on a warp's state is looked at: powers of two */
	LOOKS_EVERY = 8,                 /* ... at each of so many: a cycle of any length comes to those */
	LOOKS_AT_ALL = 4,                /* ... with all registers so often until it is kept anew */
	LONG_RUN = 1 << 12,              /* rounds after which a block is taken for one that waits, and changes something each time */
	LONG_TURN = 1 << 5,              /* the same for one that had so many */
	STUCK_PAUSES = 4096,             /* pauses, all of them polling, until a warp is taken for stuck for good */
	OLD_PAUSES = 512,                /* ... and so many since it polled at a place that was new */
	RANDOM_BLOCKS = 4,               /* blocks that the schedules by a seed mix */
	PRIORITY_WARPS = 64,             /* with priorities more, until it is so many warps */
	CHANGES = 2,                     /* points of change whose order is drawn */
	NEAR = 4, FAR = 16,              /* the logarithm of the bound of their distances */
	LOOP_NEAR = 0, LOOP_FAR = 5,     /* ... and of how many turns, on the average, a loop uses up until it falls */
	WATCHED = 8,                     /* the same of turns while somebody higher waits for what others do */
	BUDGET_POLLS = 4, BUDGET_PRIORITY = 8          /* backward branches of a turn */
};

uint64_t ws_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15ull;    /* splitmix64 (Steele, Lea, Flood 2014) */

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

/* ---- after a warp has paused ---- */
/* Of tens of kilobytes that warps of a whole grid go through while they wait: four sums that do not wait for each other.
 * Frames are whole multiples of 64 bytes (ws_dec_space). */
static uint64_t hash_registers(const struct ws_frame *f)
{
	uint64_t h[4] = {1, 2, 3, 4}, w[4];

	for (uint32_t at = 0; f->code && at + sizeof w <= f->code->frame_bytes; at += sizeof w) {
		memcpy(w, f->regs + at, sizeof w);
		for (int k = 0; k < 4; k++) {
			h[k] = (h[k] ^ w[k]) * 0xff51afd7ed558ccdu;
			h[k] ^= h[k] >> 32;
		}
	}
	return ws_hash(h, sizeof h);
}

/* Where its fragments are. */
static uint64_t hash_places(const struct ws_warp *w)
{
	uint64_t h = w->nfrags;

	for (uint32_t i = 0; i < w->nfrags; i++)
		h = ws_hash((uint64_t[3]){h, (uintptr_t)w->frag[i].pc, w->frag[i].mask}, 3 * sizeof h);
	return h;
}

/* What they have in their registers; and the frames that have called theirs: a function may be called again and again with the same arguments.
 * Threads that have diverged are in one frame, mostly: its registers are gone through once. */
static uint64_t hash_frames(const struct ws_warp *w)
{
	uint64_t h = 0;
	const struct ws_frame *last = NULL;

	for (uint32_t i = 0; i < w->nfrags; last = w->frag[i++].frame)
		for (const struct ws_frame *f = w->frag[i].frame; f && f != last; f = f->parent)
			h = ws_hash((uint64_t[3]){h, (uintptr_t)f->call, hash_registers(f)}, 3 * sizeof h);
	return h;
}

static uint32_t last_turn(const struct ws_warp *w)
{
	uint32_t last = 0;

	for (uint32_t i = 0; i < w->nfrags; i++)
		last = w->frag[i].turn > last ? w->frag[i].turn : last;
	return last;
}

/* Has every fragment that can run had its turn since the state was kept? One that goes round while others still have theirs before
 * them says nothing. (Who was there then has turn kept.turn from its next yield on.) */
static bool all_have_run(const struct ws_exec *x, const struct ws_warp *w)
{
	for (uint32_t i = 0; x->its && i < w->nfrags; i++) {
		const struct ws_frag *f = &w->frag[i];

		if (f != x->frag && f->wait == WS_READY && f->turn <= w->kept.turn)
			return false;
	}
	return true;
}

/* If its state is what it was at an earlier pause and nothing was changed since, the warp will go on like this for
 * ever, unless somebody else changes what it reads. Registers of many fragments can be megabytes: they are asked for only where all
 * else is the same, those of the fragment that runs as well, and not often. Who goes through data is at another place each time. */
static void look_for_repetition(const struct ws_exec *x, struct ws_warp *w)
{
	uint32_t first = w->nfrags > 1 ? LOOKS_SPLIT : LOOKS;
	bool keep = !(w->idle & (w->idle - 1));          /* Brent's way of finding a cycle whose length is unknown */
	uint64_t h;

	if (w->idle < first || w->repeats || (!keep && (w->idle % LOOKS_EVERY || w->poll.addr != w->kept.poll || w->kept.looks == LOOKS_AT_ALL)))
		return;
	h = hash_places(w) ^ hash_registers(x->frag->frame);
	if (keep) {
		w->kept = (struct ws_kept){ .poll = w->poll.addr, .running = h, .turn = last_turn(w) + 1 };
	} else if (h == w->kept.running && all_have_run(x, w)) {
		uint64_t all = hash_frames(w);

		w->repeats = w->kept.looks++ && all == w->kept.frames;
		if (w->kept.looks == 1) {
			w->kept.frames = all;
			w->kept.turn = last_turn(w) + 1;
		}
	}
}

bool ws_warp_stuck(const struct ws_warp *w)
{
	return !w->runnable || w->parked || w->repeats ||
	       (w->idle > STUCK_PAUSES && w->polling && !w->places.many && w->places.old > OLD_PAUSES);
}

static void look_at_places(struct ws_warp *w)
{
	struct ws_places *p = &w->places;

	if (w->idle == WS_IDLE_FOR_LONG)
		*p = (struct ws_places){.n = 0};
	p->old = p->n == p->seen ? p->old + 1 : 0;
	p->seen = p->n;
}

/* true: the warp seems to wait for others. */
bool ws_warp_paused(struct ws_exec *x, struct ws_warp *w)
{
	bool polled = w->polls != w->seen_polls, timed = w->clock != w->seen_clock;

	w->seen_polls = w->polls;
	w->polling = polled && !timed;
	w->seen_clock = w->clock;
	if (w->progress != w->seen_progress) {
		w->seen_progress = w->progress;
		w->idle = 0;
		w->repeats = false;
		if (x->its && w->nfrags > 1 && ++w->busy % YIELD_BUSY == 0)
			ws_its_yield(x);
		return false;
	}
	w->idle++;
	if (!timed)
		look_for_repetition(x, w);
	look_at_places(w);
	if (x->its && w->nfrags > 1 && (polled || w->repeats || w->idle % YIELD_EVERY == 0))
		ws_its_yield(x);
	return polled || w->repeats;
}

/* ---- limits ---- */
bool ws_within_limits(struct ws_exec *x)
{
	struct ws_launch *la = x->launch;
	uint64_t max = x->gpu->config.max_instructions, all;

	if (__atomic_load_n(&la->stop, __ATOMIC_RELAXED))
		return false;
	if (max) {                       /* else nobody needs to know before the end */
		all = __atomic_add_fetch(&la->winsts, x->winsts - x->counted, __ATOMIC_RELAXED);
		x->counted = x->winsts;
		if (all > max) {
			ws_fail_limit(x, true);
			return false;
		}
	}
	if (la->deadline > 0 && ws_now() > la->deadline) {
		ws_fail_limit(x, false);
		return false;
	}
	return true;
}

/* ---- a block ---- */
int32_t ws_warp_budget(const struct ws_warp *w)
{
	return w->nfrags > 1 ? BUDGET_SPLIT : BUDGET;
}

static uint32_t power_of_two(struct ws_exec *x, uint32_t low, uint32_t high)
{
	return 1u << (low + ws_random(&x->rng) % (high - low + 1));
}

/* Up to the next point of change. Who has a higher priority and waits looks again soon after something was changed. */
static void give_steps(struct ws_exec *x, const struct ws_warp *w)
{
	struct ws_change *c = &x->change;

	x->budget = w->idle ? BUDGET_POLLS : BUDGET_PRIORITY;
	c->given = c->steps;
	if (c->watched) {
		uint32_t most = power_of_two(x, 0, WATCHED);
		int32_t few = 1 + (int32_t)(ws_random(&x->rng) % most);

		c->given = few < c->given ? few : c->given;
	}
	x->pace = c->given;
}

static void give_budget(struct ws_exec *x, const struct ws_warp *w)
{
	x->budget = ws_warp_budget(w);
	if (x->gpu->config.schedule == WS_SCHED_RR)
		return;
	if (x->gpu->config.schedule == WS_SCHED_PRIORITY) {
		give_steps(x, w);
		return;
	}
	x->budget = 1 + (int32_t)(ws_random(&x->rng) % 64);
	x->pace = 1 + (int32_t)(ws_random(&x->rng) % (ws_random(&x->rng) & 3 ? 16 : 200));
}

static void run_warp(struct ws_exec *x, struct ws_warp *w, bool *moved)
{
	give_budget(x, w);
	if (x->jobs)
		ws_copy_tick(x);
	if (x->failed)
		return;
	ws_exec_warp(x, w);
	if (x->failed)
		return;
	if (!w->runnable || !ws_warp_paused(x, w))
		*moved = true;
}

static void enter_block(struct ws_exec *x, struct ws_block *b)
{
	x->block = b;
	x->shared = b->shared;
}

static bool has_ended(const struct ws_cluster *c)
{
	for (uint32_t r = 0; r < c->n; r++)
		if (c->block[r]->live_warps)
			return false;
	return true;
}

static enum outcome after_round(struct ws_exec *x, struct ws_block *b, bool any)
{
	if (x->failed)
		return FAILED;
	if (has_ended(b->cluster))
		return DONE;
	if (!any) {
		ws_fail_barrier(x, b);
		return FAILED;
	}
	return ws_within_limits(x) ? PAUSED : FAILED;
}

static bool run_warps(struct ws_exec *x, struct ws_block *b, bool *moved)
{
	bool any = false;

	enter_block(x, b);
	for (uint32_t i = 0; i < b->nwarps && !x->failed; i++)
		if (b->warps[i].runnable) {
			any = true;
			run_warp(x, &b->warps[i], moved);
		}
	return any;
}

/* A block, with the others of its cluster. */
static enum outcome run_block(struct ws_exec *x, struct ws_block *b)
{
	struct ws_cluster *c = b->cluster;
	enum outcome o;

	for (uint32_t round = 0;; round++) {
		bool any = false, moved = false;

		for (uint32_t r = 0; r < c->n; r++)
			any |= run_warps(x, c->block[r], &moved);
		o = after_round(x, b, any);
		if (o != PAUSED)
			return o;
		if (!moved)
			return WAITING;
		if (round > (c->long_run ? LONG_TURN : LONG_RUN)) {
			c->long_run = true;
			return WAITING;
		}
	}
}

static struct ws_warp *random_warp(struct ws_exec *x, const struct ws_cluster *c)
{
	uint32_t n = 0, pick;

	for (uint32_t r = 0; r < c->n; r++)
		for (uint32_t i = 0; i < c->block[r]->nwarps; i++)
			n += c->block[r]->warps[i].runnable;
	if (!n)
		return NULL;
	pick = (uint32_t)(ws_random(&x->rng) % n);
	for (uint32_t r = 0;; r++)
		for (uint32_t i = 0; i < c->block[r]->nwarps; i++)
			if (c->block[r]->warps[i].runnable && !pick--)
				return &c->block[r]->warps[i];
}

static enum outcome run_randomly(struct ws_exec *x, struct ws_block *b)
{
	uint32_t steps = 1 + (uint32_t)(ws_random(&x->rng) % 32);
	bool moved = false, any = true;

	while (any && steps-- && !has_ended(b->cluster) && !x->failed) {
		struct ws_warp *w = random_warp(x, b->cluster);

		any = w != NULL;
		if (w) {
			enter_block(x, w->block);
			run_warp(x, w, &moved);
		}
	}
	return after_round(x, b, any);
}

/* ---- all resident blocks ---- */
static bool admit(struct ws_exec *x)
{
	struct ws_block *b;

	if (x->nresident >= x->launch->resident_limit)
		return false;
	b = ws_block_next(x);
	if (b)
		*WS_PUSH(x->resident, x->nresident, x->cap_resident) = b;
	return b != NULL;
}

/* Calls fn for every resident warp, as long as it returns true. */
static bool each_warp(const struct ws_exec *x, bool (*fn)(struct ws_warp *w, void *user), void *user)
{
	for (size_t i = 0; i < x->nresident; i++)
		for (uint32_t r = 0; r < x->resident[i]->cluster->n; r++) {
			struct ws_block *b = x->resident[i]->cluster->block[r];

			for (uint32_t k = 0; k < b->nwarps; k++)
				if (!fn(&b->warps[k], user))
					return false;
		}
	return true;
}

static bool add_progress(struct ws_warp *w, void *user)
{
	*(uint64_t *)user += w->progress;
	return true;
}

uint64_t ws_progress_of(const struct ws_exec *x)
{
	uint64_t sum = 0;

	each_warp(x, add_progress, &sum);
	return sum;
}

/* Host threads count their progress apart, so that they do not fight for a cache line; the sum, never 0, changes when
 * any of them does. */
static void note_progress(struct ws_exec *x)
{
	x->told = ws_progress_of(x);
	__atomic_fetch_add(&x->moves, 1, __ATOMIC_SEQ_CST);
}

/* Before this host thread judges, or others can: what its blocks have done may let theirs go on. */
static void tell_progress(struct ws_exec *x)
{
	if (ws_progress_of(x) != x->told)
		note_progress(x);
}

static uint64_t epoch_of(const struct ws_launch *la)
{
	uint64_t sum = 1;

	for (uint32_t i = 0; i < la->nexec; i++)
		sum += __atomic_load_n(&la->exec[i].moves, __ATOMIC_SEQ_CST);
	return sum;
}

static void leave(struct ws_exec *x, uint32_t i)
{
	struct ws_block *b = x->resident[i];

	x->nresident--;
	memmove(&x->resident[i], &x->resident[i + 1], (x->nresident - i) * sizeof(struct ws_block *));
	ws_block_finish(x, b);
	note_progress(x);
}

static bool is_stuck(struct ws_warp *w, void *user)
{
	(void)user;
	return !w->live || ws_warp_stuck(w);
}

static bool start_again(struct ws_warp *w, void *user)
{
	(void)user;
	w->idle = 0;
	w->repeats = false;
	return true;
}

bool ws_all_stuck(const struct ws_exec *x)
{
	return each_warp(x, is_stuck, NULL);
}

static bool is_in_a_circle(struct ws_warp *w, void *user)
{
	(void)user;
	return !w->live || !w->runnable || w->parked || w->repeats;
}

bool ws_all_in_a_circle(const struct ws_exec *x)
{
	return each_warp(x, is_in_a_circle, NULL);
}

double ws_cpu_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double ws_silence(const struct ws_gpu *g)
{
	return g->config.silence_s > 0 ? g->config.silence_s : 2;
}

void ws_all_start_again(const struct ws_exec *x)
{
	each_warp(x, start_again, NULL);
}

/* All host threads saw no way on, and nothing has changed since the first of them did. */
static bool everybody_stuck(const struct ws_exec *x)
{
	struct ws_launch *la = x->launch;
	uint64_t now = epoch_of(la);

	for (uint32_t i = 0; i < la->nexec; i++) {
		uint64_t at = __atomic_load_n(&la->exec[i].stuck_at, __ATOMIC_SEQ_CST);

		if (at != now && at != UINT64_MAX)
			return false;
	}
	return true;
}

/* Nothing moved in a whole pass and no other block can be started. */
static void no_way_on(struct ws_exec *x)
{
	uint64_t epoch = epoch_of(x->launch);

	if (ws_copy_finish_all(x)) {
		note_progress(x);
		return;
	}
	if (!ws_all_stuck(x)) {
		__atomic_store_n(&x->stuck_at, 0, __ATOMIC_SEQ_CST);
	} else if (x->looked_at != epoch) {
		/* what others did before now may let a warp go on: look again from the start */
		ws_all_start_again(x);
		x->looked_at = epoch;
		x->looked_from = ws_cpu_now();
	} else if (ws_all_in_a_circle(x) || ws_cpu_now() - x->looked_from > ws_silence(x->gpu)) {
		__atomic_store_n(&x->stuck_at, epoch, __ATOMIC_SEQ_CST);
		if (everybody_stuck(x))
			ws_fail_no_progress(x);
	}
	if (x->launch->nexec > 1)
		sched_yield();
}

/* Once round the resident blocks. true: all of them wait. */
static bool pass(struct ws_exec *x)
{
	bool waiting = true;

	for (uint32_t i = 0; i < x->nresident && !x->failed;) {
		enum outcome o = run_block(x, x->resident[i]);

		if (o == FAILED)
			return false;
		if (o == DONE) {
			leave(x, i);
			waiting = false;
			continue;
		}
		waiting &= o == WAITING;
		i++;
	}
	return waiting;
}

/* All resident blocks wait: lets others in, one after the other, until one of them does more than wait. false: there
 * are no others, or no room. */
static bool let_others_in(struct ws_exec *x)
{
	bool any = false;

	while (admit(x)) {
		enum outcome o = run_block(x, x->resident[x->nresident - 1]);

		any = true;
		if (o == DONE)
			leave(x, (uint32_t)x->nresident - 1);
		if (o != WAITING)
			break;
	}
	return any;
}

static void run_in_order(struct ws_exec *x)
{
	while (!x->failed && !__atomic_load_n(&x->launch->stop, __ATOMIC_RELAXED)) {
		bool all_wait;

		if (!x->nresident && !admit(x))
			return;
		all_wait = pass(x);
		tell_progress(x);
		if (!all_wait && x->stuck_at)
			__atomic_store_n(&x->stuck_at, 0, __ATOMIC_SEQ_CST);
		if (!all_wait)
			continue;
		if (let_others_in(x))
			tell_progress(x);
		else if (!x->failed)
			no_way_on(x);
	}
}

static void run_in_random_order(struct ws_exec *x)
{
	uint32_t fruitless = 0, more;

	while (!x->failed && !__atomic_load_n(&x->launch->stop, __ATOMIC_RELAXED)) {
		uint64_t before;
		uint32_t i;
		enum outcome o;

		while (x->nresident < RANDOM_BLOCKS && admit(x))
			;
		if (!x->nresident)
			return;
		i = (uint32_t)(ws_random(&x->rng) % x->nresident);
		before = ws_progress_of(x);
		o = run_randomly(x, x->resident[i]);
		if (o == FAILED)
			return;
		if (o == DONE)
			leave(x, i);
		if (o == DONE || ws_progress_of(x) != before) {
			note_progress(x);
			fruitless = 0;
		} else if (++fruitless > 64 * x->nresident) {
			more = admit(x);
			if (!more && !x->failed)
				no_way_on(x);
		}
	}
}

/* ---- priorities ---- */
static void draw_change(struct ws_exec *x)
{
	struct ws_change *c = &x->change;

	if (!c->left) {
		c->left = CHANGES;
		c->most = power_of_two(x, NEAR, c->far);
		c->floor -= 1ull << 32;
	}
	c->left--;
	c->steps = 1 + (int32_t)(ws_random(&x->rng) % c->most);
}

static void draw_priorities(struct ws_exec *x, const struct ws_cluster *c)
{
	for (uint32_t r = 0; r < c->n; r++)
		for (uint32_t i = 0; i < c->block[r]->nwarps; i++) {
			c->block[r]->warps[i].priority = UINT64_MAX - (uint32_t)ws_random(&x->rng);
			c->block[r]->warps[i].polled_at = 0;
		}
}

static bool admit_with_priorities(struct ws_exec *x)
{
	if (!admit(x))
		return false;
	draw_priorities(x, x->resident[x->nresident - 1]->cluster);
	return true;
}

static bool has_few_warps(const struct ws_exec *x)
{
	return x->nresident < RANDOM_BLOCKS ||
	       x->nresident * x->launch->cluster_blocks * x->launch->obs.warps < PRIORITY_WARPS;
}

struct choice { const struct ws_exec *x; struct ws_warp *best; uint64_t waiting; };

static bool consider(struct ws_warp *w, void *user)
{
	struct choice *c = user;

	if (!w->runnable)
		return true;
	if (w->polled_at == c->x->deeds)
		c->waiting = w->priority > c->waiting ? w->priority : c->waiting;
	else if (!c->best || w->priority > c->best->priority)
		c->best = w;
	return true;
}

/* NULL: all that could run have polled since the last change. */
static struct ws_warp *highest(struct ws_exec *x)
{
	struct choice c = {.x = x};

	each_warp(x, consider, &c);
	x->change.watched = c.best && c.waiting > c.best->priority;
	return c.best;
}

static void fall(struct ws_exec *x, struct ws_warp *w)
{
	if (x->its && w->nfrags > 1 && ws_random(&x->rng) & 3)
		ws_its_hold(x);
	else
		w->priority = x->change.floor + (uint32_t)ws_random(&x->rng);
}

/* Has it looked at what others may change, at the end of its budget? Then it may be that it waits, and writes while it does. */
static bool goes_round(const struct ws_exec *x, const struct ws_warp *w, uint64_t polls)
{
	return x->budget < 0 && w->runnable && w->polls != polls;
}

static void after_turn(struct ws_exec *x, struct ws_warp *w, uint64_t progress, uint64_t polls, bool moved)
{
	x->change.steps -= x->change.given - x->pace;
	if (x->change.steps <= 0) {
		fall(x, w);
		draw_change(x);
	} else if (goes_round(x, w, polls) && ws_random(&x->rng) % x->change.loops == 0) {
		x->change.floor -= 1ull << 32;
		fall(x, w);
	}
	if (w->progress != progress) {
		x->deeds++;
		__atomic_fetch_add(&x->moves, 1, __ATOMIC_SEQ_CST);
	} else if (!moved) {
		w->polled_at = x->deeds;
	}
}

static bool can_run(const struct ws_cluster *c)
{
	for (uint32_t r = 0; r < c->n; r++)
		for (uint32_t i = 0; i < c->block[r]->nwarps; i++)
			if (c->block[r]->warps[i].runnable)
				return true;
	return false;
}

static uint32_t place_of(const struct ws_exec *x, const struct ws_cluster *c)
{
	uint32_t i = 0;

	while (x->resident[i]->cluster != c)
		i++;
	return i;
}

static bool take_turn(struct ws_exec *x, struct ws_warp *w)
{
	struct ws_block *b = w->block;
	uint64_t progress = w->progress, polls = w->polls;
	bool moved = false;
	enum outcome o;

	enter_block(x, b);
	run_warp(x, w, &moved);
	if (!x->failed)
		after_turn(x, w, progress, polls, moved);
	o = after_round(x, b, can_run(b->cluster));
	if (o == DONE)
		leave(x, place_of(x, b->cluster));
	return o != FAILED;
}

static void run_by_priority(struct ws_exec *x)
{
	x->change.floor = UINT64_MAX / 2;
	x->change.far = NEAR + ws_random(&x->rng) % (FAR - NEAR + 1);
	x->change.loops = power_of_two(x, LOOP_NEAR, LOOP_FAR);
	x->deeds = 1;
	draw_change(x);
	while (!x->failed && !__atomic_load_n(&x->launch->stop, __ATOMIC_RELAXED)) {
		struct ws_warp *w;

		while (has_few_warps(x) && admit_with_priorities(x))
			;
		if (!x->nresident)
			return;
		w = highest(x);
		if (w) {
			if (!take_turn(x, w))
				return;
		} else {
			x->deeds++;
			if (!admit_with_priorities(x) && !x->failed)
				no_way_on(x);
		}
	}
}

void ws_exec_run(struct ws_exec *x)
{
	unsigned fp = ws_lanes_fp_enter();

	if (x->gpu->config.schedule == WS_SCHED_RANDOM)
		run_in_random_order(x);
	else if (x->gpu->config.schedule == WS_SCHED_PRIORITY)
		run_by_priority(x);
	else
		run_in_order(x);
	ws_lanes_fp_leave(fp);
	__atomic_store_n(&x->stuck_at, UINT64_MAX, __ATOMIC_SEQ_CST);
	__atomic_fetch_add(&x->launch->winsts, x->winsts - x->counted, __ATOMIC_RELAXED);
	x->counted = x->winsts;
	if (x->failed)
		__atomic_store_n(&x->launch->stop, 1, __ATOMIC_SEQ_CST);
}

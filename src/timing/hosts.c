/* hosts.c - several host threads at work on one machine. Core i and partition i are of host thread i modulo their number. Between
 * windows of time (timing_priv.h) the first one is alone.
 *
 * Accesses to global memory wait in a window until every other host thread has come to their cycle and core, so that they happen
 * in the order in which one host thread would do them, and a program with races, too, runs as with one. (Ordering strong accesses
 * alone, which is enough for programs without races, made two host threads a tenth faster.) Atomics have their effect between
 * windows. */
#include "timing/timing_priv.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum { APART = 16, SPINS = 2000 };

/* How far a host thread is: cycle and core (1 + its number; 0: events); in a cache line of its own. */
struct place { uint64_t at; uint8_t apart[120]; };
enum { CORE_BITS = 11 };

struct ws_hosts {
	struct place place[WS_MAX_HOSTS];
	pthread_t thread[WS_MAX_HOSTS];
	uint32_t started;                /* threads; the first host thread is the caller's own */
	uint32_t window;                 /* counts windows: a change lets the threads go */
	uint32_t done;                   /* threads that are through with it */
	bool stop;
};

/* ---- whose is what ---- */
static struct ws_timing *new_host(struct ws_timing *t, uint32_t i)
{
	struct ws_timing *h = ws_alloc(sizeof *h);

	h->m = t->m;
	h->options = t->options;
	h->network_cycle = t->network_cycle;
	h->memory_cycle = t->memory_cycle;
	h->all = t;
	h->index = i;
	ws_host_init(h);
	return h;
}

static void adopt(struct ws_timing *t, uint32_t i, uint32_t n)
{
	uint32_t a_host = (t->m.cores + n - 1) / n;
	struct ws_timing *h = t->host[i];

	h->nhosts = n;
	h->now = t->now;
	h->x = ws_step_host(t->x, i);
	h->c = i ? &h->own : t->c;
	h->cores = t->cores;
	h->wake = t->wake;
	h->parts = t->parts;
	h->launch = t->launch;
	h->code = t->code;
	h->nregs = t->nregs;
	h->refill = false;
	h->first_wake = i * (a_host + APART);
	h->ncores = t->m.cores / n + (i < t->m.cores % n);
}

uint32_t ws_hosts_wakes(const struct ws_machine *m)
{
	return m->cores + WS_MAX_HOSTS * (APART + 1);
}

static void share(struct ws_timing *t, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		adopt(t, i, n);
	for (uint32_t i = 0; i < t->m.cores; i++) {
		t->cores[i].home = t->host[i % n];
		t->cores[i].wake_at = t->cores[i].home->first_wake + i / n;
		t->wake[t->cores[i].wake_at] = WS_NEVER;
	}
	for (uint32_t i = 0; i < t->m.partitions; i++)
		t->parts[i].home = t->host[i % n];
}

void ws_hosts_free(struct ws_timing *t)
{
	for (uint32_t i = 1; i < WS_MAX_HOSTS && t->host[i]; i++) {
		ws_host_fini(t->host[i]);
		free(t->host[i]);
		t->host[i] = NULL;
	}
}

/* ---- how far they are ---- */
void ws_hosts_at(struct ws_timing *h, uint32_t core)
{
	if (h->nhosts > 1)
		__atomic_store_n(&h->all->hosts->place[h->index].at, h->now << CORE_BITS | core, __ATOMIC_RELEASE);
}

static void pause_a_while(uint32_t *spins)
{
	if (++*spins > SPINS)
		sched_yield();           /* there may be fewer processors than host threads */
}

static void wait_for_turn(void *user)
{
	struct ws_timing *h = user;
	struct place *p = h->all->hosts->place;
	uint32_t spins = 0;

	for (uint32_t i = 0; i < h->nhosts; i++)
		while (__atomic_load_n(&p[i].at, __ATOMIC_ACQUIRE) < p[h->index].at)
			pause_a_while(&spins);
}

/* ---- windows ---- */
static void run_window(struct ws_timing *h)
{
	ws_run_window(h);
	if (h->nhosts > 1)
		__atomic_store_n(&h->all->hosts->place[h->index].at, UINT64_MAX, __ATOMIC_RELEASE);
}

static void *thread_main(void *arg)
{
	struct ws_timing *h = arg;
	struct ws_hosts *s = h->all->hosts;
	unsigned entered = ws_step_enter();
	uint32_t seen = 0, spins;

	for (;;) {
		for (spins = 0; __atomic_load_n(&s->window, __ATOMIC_ACQUIRE) == seen;)
			pause_a_while(&spins);
		seen++;
		if (s->stop)
			break;
		run_window(h);
		__atomic_fetch_add(&s->done, 1, __ATOMIC_ACQ_REL);
	}
	ws_step_leave(entered);
	return NULL;
}

static void let_go(struct ws_hosts *s)
{
	s->done = 0;
	__atomic_fetch_add(&s->window, 1, __ATOMIC_ACQ_REL);
}

/* How many threads there are now, the caller's with them: n, or less if the system gives no more. */
static uint32_t start_threads(struct ws_timing *t, uint32_t n)
{
	struct ws_hosts *s = t->hosts = ws_alloc(sizeof *s);

	for (s->started = 0; s->started + 1 < n; s->started++) {
		uint32_t i = s->started + 1;

		if (!t->host[i])
			t->host[i] = new_host(t, i);
		if (pthread_create(&s->thread[s->started], NULL, thread_main, t->host[i]))
			break;
	}
	return s->started + 1;
}

void ws_hosts_start(struct ws_timing *t, uint32_t n)
{
	n = n > 1 ? start_threads(t, n) : 1;
	share(t, n);
	for (uint32_t i = 0; i < n && n > 1; i++)
		ws_step_ordered(t->host[i]->x, wait_for_turn, t->host[i]);
}

void ws_hosts_stop(struct ws_timing *t)
{
	struct ws_hosts *s = t->hosts;

	if (!s)
		return;
	s->stop = true;
	let_go(s);
	for (uint32_t i = 0; i < s->started; i++)
		pthread_join(s->thread[i], NULL);
	free(s);
	t->hosts = NULL;
}

void ws_hosts_window(struct ws_timing *t)
{
	struct ws_hosts *s = t->hosts;
	uint32_t spins = 0;

	for (uint32_t i = 0; i < t->nhosts; i++) {
		t->host[i]->window = t->window;
		t->host[i]->window_end = t->window_end;
		if (s)
			s->place[i].at = t->window << CORE_BITS;
	}
	if (s)
		let_go(s);
	run_window(t);
	while (s && __atomic_load_n(&s->done, __ATOMIC_ACQUIRE) < s->started)
		pause_a_while(&spins);
}

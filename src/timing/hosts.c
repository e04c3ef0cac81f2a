/* hosts.c - several host threads at work on one machine. Core i and partition i are of host thread i modulo their number. Between
 * windows of time (timing_priv.h) the first one is alone.
 *
 * In a window a host thread changes only what is its own. Stores to global memory are kept back until its end (run.c), so that what
 * a core reads in it does not depend on how far the others are, in programs with races either; atomics have their effect between
 * windows. */
#include "timing/timing_priv.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum { APART = 16, SPINS = 2000 };

struct ws_hosts {
	pthread_t thread[WS_MAX_HOSTS];
	uint32_t started;                /* threads; the first host thread is the caller's own */
	ws_host_fn *work;                /* what all do now; NULL: end */
	uint32_t turn;                   /* counts such works: a change lets the threads go */
	uint8_t apart[64];
	uint32_t done;                   /* threads that are through with it */
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

/* ---- work for all ---- */
static void pause_a_while(uint32_t *spins)
{
	if (++*spins > SPINS)
		sched_yield();           /* there may be fewer processors than host threads */
}

static void *thread_main(void *arg)
{
	struct ws_timing *h = arg;
	struct ws_hosts *s = h->all->hosts;
	unsigned entered = ws_step_enter();
	uint32_t seen = 0, spins;

	for (;;) {
		for (spins = 0; __atomic_load_n(&s->turn, __ATOMIC_ACQUIRE) == seen;)
			pause_a_while(&spins);
		seen++;
		if (!s->work)
			break;
		s->work(h);
		__atomic_fetch_add(&s->done, 1, __ATOMIC_ACQ_REL);
	}
	ws_step_leave(entered);
	return NULL;
}

static void let_go(struct ws_hosts *s, ws_host_fn *work)
{
	s->work = work;
	s->done = 0;
	__atomic_fetch_add(&s->turn, 1, __ATOMIC_ACQ_REL);
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
	share(t, n > 1 ? start_threads(t, n) : 1);
}

void ws_hosts_stop(struct ws_timing *t)
{
	struct ws_hosts *s = t->hosts;

	if (!s)
		return;
	let_go(s, NULL);
	for (uint32_t i = 0; i < s->started; i++)
		pthread_join(s->thread[i], NULL);
	free(s);
	t->hosts = NULL;
}

void ws_hosts_all(struct ws_timing *t, ws_host_fn *work)
{
	struct ws_hosts *s = t->hosts;
	uint32_t spins = 0;

	if (s)
		let_go(s, work);
	work(t);
	while (s && __atomic_load_n(&s->done, __ATOMIC_ACQUIRE) < s->started)
		pause_a_while(&spins);
}

/* hosts.c - several host threads at work on one machine. It is divided into shares, some for each host thread: core i and partition
 * i are of share i modulo their number. A window of time (timing_priv.h) is work to be done for each share; a thread takes its own
 * first and then what others have not begun, so that they come to the end together. Between windows the first one is alone.
 * Cores that go through a whole window one after the other also find more in the processor's caches than all in each cycle.
 *
 * In a window nothing changes but what is of the share. Stores to global memory are kept back until its end (run.c), so that what
 * a core reads in it does not depend on how far the others are, in programs with races either; atomics have their effect between
 * windows. */
#include "timing/timing_priv.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum { APART = 16, SPINS = 2000 };

struct worker { struct ws_timing *t; pthread_t thread; uint32_t index; };
struct ws_hosts {
	struct worker worker[WS_MAX_HOSTS];      /* the first is the caller's own thread */
	uint32_t n;
	ws_host_fn *work;                /* what is done now, for each share; NULL: end */
	uint32_t turn;                   /* counts such works: a change lets the threads go */
	uint8_t apart[64];
	uint32_t done;                   /* threads that are through with it */
	uint32_t taken[WS_MAX_HOSTS];    /* by share: the last turn in which somebody took it */
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

/* A thread takes its own shares, then what the others have not begun. */
static void work_on(struct ws_timing *t, uint32_t index, uint32_t turn)
{
	struct ws_hosts *s = t->hosts;

	for (uint32_t k = 0; k < s->n; k++)
		for (uint32_t i = (index + k) % s->n; i < t->nhosts; i += s->n)
			if (__atomic_exchange_n(&s->taken[i], turn, __ATOMIC_ACQ_REL) != turn)
				s->work(t->host[i]);
}

static void *thread_main(void *arg)
{
	struct worker *w = arg;
	struct ws_hosts *s = w->t->hosts;
	unsigned entered = ws_step_enter();
	uint32_t seen = 0, spins;

	for (;;) {
		for (spins = 0; __atomic_load_n(&s->turn, __ATOMIC_ACQUIRE) == seen;)
			pause_a_while(&spins);
		seen++;
		if (!s->work)
			break;
		work_on(w->t, w->index, seen);
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

/* n of them, or less if the system gives no more. */
static void start_threads(struct ws_timing *t, uint32_t n)
{
	struct ws_hosts *s = t->hosts;

	for (s->n = 1; s->n < n; s->n++) {
		s->worker[s->n] = (struct worker){.t = t, .index = s->n};
		if (pthread_create(&s->worker[s->n].thread, NULL, thread_main, &s->worker[s->n]))
			break;
	}
}

void ws_hosts_start(struct ws_timing *t, uint32_t threads, uint32_t shares)
{
	for (uint32_t i = 1; i < shares; i++)
		if (!t->host[i])
			t->host[i] = new_host(t, i);
	share(t, shares);
	t->hosts = ws_alloc(sizeof *t->hosts);
	start_threads(t, threads);
}

void ws_hosts_stop(struct ws_timing *t)
{
	struct ws_hosts *s = t->hosts;

	let_go(s, NULL);
	for (uint32_t i = 1; i < s->n; i++)
		pthread_join(s->worker[i].thread, NULL);
	free(s);
	t->hosts = NULL;
}

void ws_hosts_all(struct ws_timing *t, ws_host_fn *work)
{
	struct ws_hosts *s = t->hosts;
	uint32_t spins = 0;

	let_go(s, work);
	work_on(t, 0, s->turn);
	while (__atomic_load_n(&s->done, __ATOMIC_ACQUIRE) + 1 < s->n)
		pause_a_while(&spins);
}

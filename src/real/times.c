/* times.c - how long kernels ran on the GPU, by the driver's events, one before and one after each launch (--stats).
 *
 * What an event pair tells is the time from the end of what was in the stream before to the end of the kernel: of a kernel
 * of a few microseconds most of it is the launch. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "real/real_priv.h"

struct ws_real_span {
	void *begin, *end;                   /* events */
	void *context;                       /* of the events */
	struct ws_real_times *of;
	struct ws_real_span *next;
};

enum { MOST_OPEN = 4096 };                   /* launches whose end was not seen yet; then one is waited for */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct ws_real_span *first, **last = &first;      /* ended, in the order of their launches; not read yet */
static struct ws_real_span *unused;
static unsigned open_spans;

static bool available(void)
{
	return ws_real.cuEventCreate && ws_real.cuEventElapsedTime && ws_real.cuEventQuery && ws_real.cuEventSynchronize &&
	       ws_real.cuEventRecord && ws_real.cuCtxGetCurrent;
}

/* Takes the times of launches that have ended; with the lock held. Events of other contexts can be asked all the same. */
static void harvest(bool all)
{
	while (first) {
		struct ws_real_span *s = first;
		float ms;

		if (open_spans > MOST_OPEN || all)
			ws_real.cuEventSynchronize(s->end);
		else if (ws_real.cuEventQuery(s->end))
			return;
		if (!ws_real.cuEventElapsedTime(&ms, s->begin, s->end)) {
			s->of->ns += (uint64_t)((double)ms * 1e6);
			s->of->launches++;
		}
		first = s->next;
		if (!first)
			last = &first;
		s->next = unused;
		unused = s;
		open_spans--;
	}
}

static struct ws_real_span *new_span(void *context)
{
	struct ws_real_span **p = &unused, *s;

	while (*p && (*p)->context != context)
		p = &(*p)->next;
	s = *p;
	if (s) {
		*p = s->next;
		return s;
	}
	s = ws_alloc(sizeof *s);
	s->context = context;
	if (!ws_real.cuEventCreate(&s->begin, 0) && !ws_real.cuEventCreate(&s->end, 0))
		return s;
	free(s);
	return NULL;
}

/* What the driver would else do in a function's first launch, and be timed with it: bring its code to the GPU, and make
 * room for the local memory of all threads that run at a time, which takes it 0.3 ms whenever a function wants more than all
 * before. Checks want 1.2 KB and the driver's usual limit is 1, so it is raised once, by enough for nearly all. */
static void load(void *function)
{
	enum { LOCAL_BYTES = 3, STACK_SIZE = 0, ENOUGH = 2048 };     /* CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, CU_LIMIT_ */
	size_t limit;
	int local;

	if (!ws_real.cuCtxGetLimit || !ws_real.cuCtxSetLimit)
		return;
	if (!ws_real_attribute_of(&function, LOCAL_BYTES, &local))
		return;
	if (ws_real.cuFuncLoad)
		ws_real.cuFuncLoad(function);
	if (!ws_real.cuCtxGetLimit(&limit, STACK_SIZE) && local > 0 && (size_t)local > limit)
		ws_real.cuCtxSetLimit(STACK_SIZE, local > ENOUGH ? (size_t)local : ENOUGH);
}

static void load_once(struct ws_real_times *of, void *function, void *context)
{
	if (of->loaded == function && of->loaded_in == context)
		return;
	load(function);
	of->loaded = function;
	of->loaded_in = context;
}

struct ws_real_span *ws_real_time_begin(struct ws_real_times *of, void *function, ws_real_record *record, void *stream)
{
	struct ws_real_session *session = ws_real_session();
	struct ws_real_span *s = NULL;
	void *context = NULL;

	if (!of || !session || !session->options.stats || !record || !available() || ws_real.cuCtxGetCurrent(&context))
		return NULL;
	pthread_mutex_lock(&lock);
	load_once(of, function, context);
	harvest(false);
	s = new_span(context);
	if (s && record(s->begin, stream)) {
		s->next = unused;
		unused = s;
		s = NULL;
	}
	pthread_mutex_unlock(&lock);
	if (s)
		s->of = of;
	return s;
}

void ws_real_time_end(struct ws_real_span *s, ws_real_record *record, void *stream)
{
	bool good = s && !record(s->end, stream);

	if (!s)
		return;
	pthread_mutex_lock(&lock);
	s->next = good ? NULL : unused;
	if (good) {
		*last = s;
		last = &s->next;
		open_spans++;
	} else {
		unused = s;
	}
	pthread_mutex_unlock(&lock);
}

void ws_real_times_read(bool wait)
{
	pthread_mutex_lock(&lock);
	if (first && available())
		harvest(wait);
	pthread_mutex_unlock(&lock);
}

/* The context took its events along. */
void ws_real_times_forget(void *context)
{
	struct ws_real_span **p;

	pthread_mutex_lock(&lock);
	if (first && available())
		harvest(true);
	for (p = &unused; *p;) {
		struct ws_real_span *s = *p;

		if (s->context != context) {
			p = &s->next;
			continue;
		}
		*p = s->next;
		free(s);
	}
	pthread_mutex_unlock(&lock);
}

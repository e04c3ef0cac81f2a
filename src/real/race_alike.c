/* race_alike.c - launches that do the same accesses as one before (rewrite/fixed.c), of which the checks have found nothing, or nothing
 * that they had not found before.
 *
 * Such a kernel is launched again and again by programs that go on in steps. When its shape and parameters are seen for the second
 * time, what the checks of the context have found and counted so far is noted, when the stream's launches so far have ended, and an
 * event is recorded behind the launch. At the next launch like it the event is waited for, and if nothing was counted since, by any
 * kernel, none of these accesses has a race: this launch and all that are like it run without checks. If nothing but races was counted,
 * and each between two places of which one had been told already, these would tell the same again: they run without checks, too, and
 * the report says how many. Waiting stands before the launch's first event, and is short: a program whose kernels wait for the host
 * goes on, and is asked again later. */
#include <pthread.h>
#include <string.h>

#include "real/real_priv.h"

enum { MOST_BYTES = 128, LOOKS = 512, MOST_WAIT_MS = 20, MOST_WAITS = 4, MOST_AGAIN = 2, NO_TIMING = 2 };

enum state { NEW, SEEN, STARTS, RUNS, CLEAN, TOLD, NOT_CLEAN };

struct key {
	void *function, *context;
	unsigned grid[3], block[3], dynamic, bytes;
	unsigned char values[MOST_BYTES];
};

struct ws_real_alike {
	struct key key;
	enum state state;
	unsigned waits, again;
	struct ws_real_sum before;
	void *event;                         /* behind the launch */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct ws_real_alike looks[LOOKS];

void ws_real_race_alike_forget(void)
{
	pthread_mutex_lock(&lock);
	for (unsigned k = 0; k < LOOKS; k++) {
		memset(&looks[k].key, 0, sizeof looks[k].key);
		looks[k].event = looks[k].state == STARTS ? looks[k].event : NULL;   /* its context may have ended */
	}
	pthread_mutex_unlock(&lock);
}

/* false: too many values. */
static bool make_key(const struct ws_real_launching *l, struct key *key)
{
	memset(key, 0, sizeof *key);         /* its gaps are compared, too */
	key->function = l->function;
	key->dynamic = l->dynamic;
	memcpy(key->grid, l->grid, sizeof key->grid);
	memcpy(key->block, l->block, sizeof key->block);
	for (uint32_t n = 0; n < l->kernel->nfixed_by; n++) {
		const struct ws_real_probe_value *v = &l->kernel->fixed_by[n];

		if (v->bytes > MOST_BYTES - key->bytes || !l->params || !l->params[v->param])
			return false;
		memcpy(key->values + key->bytes, (const char *)l->params[v->param] + v->offset, v->bytes);
		key->bytes += v->bytes;
	}
	return ws_real.cuEventCreate && ws_real.cuEventQuery && ws_real.cuEventRecord && !ws_real.cuCtxGetCurrent(&key->context);
}

static bool has_ended(void *event)
{
	uint64_t end = ws_monotonic_ns() + MOST_WAIT_MS * 1000000ull;
	int e;

	do
		e = ws_real.cuEventQuery(event);
	while (e && ws_monotonic_ns() < end);
	return !e;
}

/* A launch like it is on its way, or has ended. */
static void look(struct ws_real_gpu *gpu, struct ws_real_alike *a)
{
	struct ws_real_sum sum;

	if (a->waits++ == MOST_WAITS) {
		a->state = NOT_CLEAN;
		return;
	}
	if (!has_ended(a->event))
		return;
	if (!ws_real_race_sum(gpu, &sum) || sum.counted != a->before.counted)
		a->state = a->again++ < MOST_AGAIN ? SEEN : NOT_CLEAN;
	else
		a->state = sum.told == a->before.told ? CLEAN : TOLD;
}

/* What the launch tells is compared with what was told before it: by its stream's launches so far, the first one like it among
 * them, which may be on their way. */
static bool start(struct ws_real_gpu *gpu, struct ws_real_alike *a, const struct ws_real_launching *l)
{
	if (!a->event && ws_real.cuEventCreate(&a->event, NO_TIMING))
		return false;
	if (l->record && !l->record(a->event, l->stream))
		has_ended(a->event);
	if (!ws_real_race_sum(gpu, &a->before))
		return false;
	a->state = STARTS;
	a->waits = 0;
	return true;
}

bool ws_real_race_alike(struct ws_real_gpu *gpu, struct ws_real_launching *l, bool *told)
{
	struct ws_real_alike *a;
	struct key key;
	bool same, clean;

	*told = false;
	if (!make_key(l, &key))
		return false;
	a = &looks[ws_hash(&key, sizeof key) % LOOKS];
	pthread_mutex_lock(&lock);
	if (memcmp(&a->key, &key, sizeof key) != 0) {
		if (a->state != STARTS && a->key.context != key.context)
			a->event = NULL;     /* of another context, which may have ended */
		if (a->state != STARTS) {
			a->key = key;
			a->state = SEEN;
			a->again = 0;
		}
	} else if (a->state == NEW) {
		a->state = SEEN;
	} else {
		if (a->state == RUNS)
			look(gpu, a);
		if (a->state == SEEN)
			l->alike = start(gpu, a, l) ? a : NULL;
	}
	same = !memcmp(&a->key, &key, sizeof key);
	clean = same && a->state == CLEAN;
	*told = same && a->state == TOLD;
	pthread_mutex_unlock(&lock);
	return clean || *told;
}

void ws_real_race_alike_launched(struct ws_real_alike *a, int error, int (*record)(void *event, void *stream), void *stream)
{
	if (!a)
		return;
	pthread_mutex_lock(&lock);
	a->state = error || record(a->event, stream) ? NOT_CLEAN : RUNS;
	pthread_mutex_unlock(&lock);
}

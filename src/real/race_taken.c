/* race_taken.c - see race_taken.h.
 *
 * What a launch has taken is known only of all launches between two moments at which nothing runs. Whatever a kernel's launches took is no more
 * than all of it, so that divided by how many they were is taken for each. It is forgotten by and by, for the first access to memory takes most. */
#include "real/race_taken.h"

#include <stdlib.h>

struct ws_race_kernel_took { double most; };

#define UNKNOWN  (1.0 / 4)       /* by a kernel of which nothing is known */
#define NOTHING  (1.0 / 4096)    /* what is less does not matter */
#define MOST     0.8
#define BEGUN    (1.0 / 16)      /* with so much in use, to begin anew gives some room */
#define FORGETS  4

static double most_of(const struct ws_race_used *u)
{
	double most = 0;

	for (unsigned k = 0; k < WS_RACE_TABLES; k++)
		most = u->of[k] > most ? u->of[k] : most;
	return most;
}

static double takes(const struct ws_race_taken *r, const void *kernel)
{
	const struct ws_race_kernel_took *t = ws_map_get(&r->kernels, kernel);

	return t ? t->most : UNKNOWN;
}

static double sum(const struct ws_race_taken *r, const void *kernel)
{
	double sum = most_of(&r->used) + r->ended + takes(r, kernel);

	for (unsigned k = 0; k < WS_RACE_RUNNING && r->nrunning; k++)
		sum += r->running[k].runs ? r->running[k].takes : 0;
	return sum;
}

bool ws_race_taken_leaves_room(const struct ws_race_taken *r, const void *kernel)
{
	double alone = takes(r, kernel);

	return alone < NOTHING || (r->nrunning < WS_RACE_RUNNING && sum(r, kernel) <= MOST);
}

bool ws_race_taken_is_all(const struct ws_race_taken *r, const void *kernel)
{
	return !r->nrunning && most_of(&r->used) > BEGUN && !ws_race_taken_leaves_room(r, kernel);
}

/* ---- launches ---- */
static void count(struct ws_race_taken *r, struct ws_race_kernel_took *t)
{
	unsigned k = 0;

	while (k < r->nsince && r->since[k].kernel != t)
		k++;
	if (k == WS_RACE_SORTS)
		return;                      /* nothing is learned of it this time */
	if (k == r->nsince) {
		r->since[k].kernel = t;
		r->since[k].launches = 0;
		r->nsince++;
	}
	r->since[k].launches++;
}

struct ws_race_running *ws_race_taken_launched(struct ws_race_taken *r, const void *kernel, bool waits)
{
	struct ws_race_kernel_took *t = ws_map_get(&r->kernels, kernel);
	unsigned k = 0;

	if (!t) {
		t = ws_alloc(sizeof *t);
		t->most = UNKNOWN;
		ws_map_put(&r->kernels, kernel, t);
	}
	count(r, t);
	while (k < WS_RACE_RUNNING && r->running[k].runs)
		k++;
	if (t->most < NOTHING || k == WS_RACE_RUNNING)
		return NULL;
	r->running[k].runs = true;
	r->running[k].takes = t->most;
	r->running[k].waits = waits;
	r->nrunning++;
	return &r->running[k];
}

void ws_race_taken_is_lost(struct ws_race_taken *r, struct ws_race_running *to)
{
	to->runs = false;
	r->nrunning--;
}

unsigned ws_race_taken_ended(struct ws_race_taken *r, bool (*has_ended)(void *event))
{
	for (unsigned k = 0; k < WS_RACE_RUNNING && r->nrunning; k++)
		if (r->running[k].runs && has_ended(r->running[k].event)) {
			r->ended += r->running[k].takes;
			ws_race_taken_is_lost(r, &r->running[k]);
		}
	return r->nrunning;
}

bool ws_race_taken_waits(const struct ws_race_taken *r)
{
	bool waits = false;

	for (unsigned k = 0; k < WS_RACE_RUNNING; k++)
		waits |= r->running[k].runs && r->running[k].waits;
	return waits;
}

/* ---- what they have taken ---- */
static double taken_since(const struct ws_race_taken *r)
{
	struct ws_race_used more;

	for (unsigned k = 0; k < WS_RACE_TABLES; k++)
		more.of[k] = r->used.of[k] - r->before.of[k];
	return most_of(&more);
}

static void begin_to_count(struct ws_race_taken *r)
{
	r->nsince = 0;
	r->before = r->used;
}

void ws_race_taken_read(struct ws_race_taken *r, const struct ws_race_used *used)
{
	r->used = *used;
	r->ended = 0;
	if (r->nrunning)
		return;
	for (unsigned k = 0; k < r->nsince; k++) {
		struct ws_race_kernel_took *t = r->since[k].kernel;
		double each = taken_since(r) / r->since[k].launches;

		t->most = each > t->most / FORGETS ? each : t->most / FORGETS;
	}
	begin_to_count(r);
}

void ws_race_taken_renewed(struct ws_race_taken *r)
{
	r->used = (struct ws_race_used){ { 0 } };
	begin_to_count(r);
}

void ws_race_taken_free(struct ws_race_taken *r)
{
	for (size_t k = 0; k < r->kernels.cap; k++)
		free(r->kernels.values[k]);
	ws_map_free(&r->kernels);
	*r = (struct ws_race_taken){ .nrunning = 0 };
}

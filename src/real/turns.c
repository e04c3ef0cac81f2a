/* turns.c - numbers by which kernels of graphs count their launches; see turns.h. */
#include "real/turns.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/map.h"
#include "device/race.h"

struct bodies { unsigned n; void *graphs[]; };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;     /* of these: */
/* Those that were given back, the oldest first: a graph that was destroyed may still run. */
static uint32_t *unused;
static size_t first, n, cap;
static uint32_t never_used;                  /* from this one on */
static struct ws_map nodes, conditional;     /* by node: the mark; struct bodies */

static uint32_t take(void)
{
	uint32_t turn;

	if (never_used < WS_RACE_TURNS)
		turn = never_used++;
	else if (first < n)
		turn = unused[first++];
	else
		return WS_RACE_UNKNOWN_TURN;
	return WS_RACE_COUNTS_TURNS | turn;
}

uint32_t ws_real_turn_take(void)
{
	uint32_t mark;

	pthread_mutex_lock(&lock);
	mark = take();
	pthread_mutex_unlock(&lock);
	return mark;
}

void ws_real_turn_give_back(uint32_t mark)
{
	if (!mark || mark == WS_RACE_UNKNOWN_TURN)
		return;
	pthread_mutex_lock(&lock);
	if (first > n / 2) {
		memmove(unused, unused + first, (n - first) * sizeof *unused);
		n -= first;
		first = 0;
	}
	*WS_PUSH(unused, n, cap) = mark & (WS_RACE_TURNS - 1);
	pthread_mutex_unlock(&lock);
}

uint32_t ws_real_turn_for(void *node)
{
	uint32_t mark;

	pthread_mutex_lock(&lock);
	mark = (uint32_t)(uintptr_t)ws_map_get(&nodes, node);
	if (!mark) {
		mark = take();
		ws_map_put(&nodes, node, (void *)(uintptr_t)mark);
	}
	pthread_mutex_unlock(&lock);
	return mark;
}

uint32_t ws_real_turn_of(void *node)
{
	uint32_t mark;

	pthread_mutex_lock(&lock);
	mark = (uint32_t)(uintptr_t)ws_map_get(&nodes, node);
	if (mark)
		ws_map_remove(&nodes, node);
	pthread_mutex_unlock(&lock);
	return mark;
}

void ws_real_turn_bodies(void *node, void *const *graphs, unsigned count)
{
	struct bodies *b = ws_alloc(sizeof *b + count * sizeof *graphs);

	b->n = count;
	memcpy(b->graphs, graphs, count * sizeof *graphs);
	pthread_mutex_lock(&lock);
	free(ws_map_get(&conditional, node));
	ws_map_put(&conditional, node, b);
	pthread_mutex_unlock(&lock);
}

void *ws_real_turn_body(void *node, unsigned body)
{
	const struct bodies *b;
	void *graph;

	pthread_mutex_lock(&lock);
	b = ws_map_get(&conditional, node);
	graph = b && body < b->n ? b->graphs[body] : NULL;
	pthread_mutex_unlock(&lock);
	return graph;
}

/* tally.c - a unit of one's own, complete: `__ws_tally(unsigned *p)` adds to a word in its memory partition. The lanes of a
 * warp that mean the same word go as one request and count as one addition, so that a counter which all threads share costs a
 * request a warp. docs/UNITS.md explains it line by line. */
#include "timing/unit.h"

#include <stdlib.h>

extern const struct ws_unit_ops ws_unit_tally;

enum { BY };                             /* options */

struct tally {
	uint32_t by;
	uint64_t threads, requests;
};

static void *create(const uint32_t *values)
{
	struct tally *t = ws_alloc(sizeof *t);

	t->by = values[BY];
	return t;
}

static enum ws_unit_issue issue(void *self, struct ws_unit_op *o)
{
	return WS_UNIT_ASK;
}

/* At the partition, one after the other: nothing else changes the word meanwhile. */
static bool arrive(void *self, struct ws_unit_op *o, uint32_t lanes)
{
	struct tally *t = self;

	t->requests++;
	for (uint32_t m = lanes; m; m &= m - 1) {
		uint32_t lane = (uint32_t)__builtin_ctz(m), *word = ws_step_word(o->x, o->warp, lane, o->addr[lane]);

		if (!word)
			return false;
		*word += t->by;
		t->threads++;
	}
	return true;
}

static bool finish(void *self, struct ws_unit_op *o)
{
	return ws_step_pass(o->x, o->warp, o->lanes);
}

static bool counter(const void *self, unsigned i, struct ws_unit_counter *c)
{
	const struct tally *t = self;
	const struct ws_unit_counter all[] = {
		{"tally_threads", "additions of threads", t->threads},
		{"tally_requests", "requests for them", t->requests},
	};

	if (i >= WS_COUNT(all))
		return false;
	*c = all[i];
	return true;
}

static const char *const instructions[] = { "__ws_tally", NULL };
static const struct ws_unit_option options[] = {
	{"by", "what each thread adds", 1, 1000, 1},
	{NULL, NULL, 0, 0, 0},
};

const struct ws_unit_ops ws_unit_tally = {
	.abi = WS_UNIT_ABI, .name = "tally", .help = "additions in the memory partitions", .instructions = instructions,
	.options = options, .create = create, .destroy = free, .issue = issue, .arrive = arrive, .finish = finish,
	.counter = counter,
};

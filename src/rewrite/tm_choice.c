/* tm_choice.c - engine auto of `warpsafe tm`; see tm_choice.h. */
#include "rewrite/tm_choice.h"

#include <string.h>
#include <time.h>

double ws_tm_choice_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void ws_tm_choice_know(struct ws_tm_choice *c, const struct ws_tm_known *more)
{
	struct ws_tm_features f;

	c->known.sections += more->sections;
	c->known.reads += more->reads;
	c->known.writes += more->writes;
	c->known.rewritten += more->rewritten;
	f = ws_tm_features_of(&c->known);
	if (!c->tries.launches)
		ws_tm_auto_init(&c->tries, &f);
}

enum ws_tm_engine ws_tm_choice_before(struct ws_tm_choice *c)
{
	c->from = ws_tm_choice_now();
	return ws_tm_auto_engine(&c->tries);
}

bool ws_tm_choice_tries(const struct ws_tm_choice *c) { return !ws_tm_auto_settled(&c->tries); }

void ws_tm_choice_after(struct ws_tm_choice *c, const char *kernel, uint64_t commits, double now)
{
	if (!commits || !ws_tm_choice_tries(c))
		return;
	if (!c->kernel)
		c->kernel = ws_strdup(kernel);
	if (strcmp(c->kernel, kernel) == 0)
		ws_tm_auto_record(&c->tries, commits, now - c->from);
}

void ws_tm_choice_tell(const struct ws_tm_choice *c, struct ws_buf *out)
{
	char why[200];
	double n = c->known.sections ? c->known.sections : 1;

	ws_buf_printf(out, "warpsafe: engine auto: %s; sections' code reads %.3g words, writes %.3g, %.3g of them read before\n",
		      ws_tm_auto_why(&c->tries, why, sizeof why), c->known.reads / n, c->known.writes / n,
		      c->known.rewritten / n);
}

/* auto.h - engine auto: chooses among the engines. It starts with the one that what is known of the sections speaks for
 * (Holey 2015, 4.3.4), gives each candidate a few launches, and keeps the one with the most commits a second. C11 and
 * C++, no CUDA: whoever runs the launches tells it what came out (tm.h: ws_tm_auto_before and ws_tm_auto_after).
 *
 * Candidates: pstm, istm, hstm. estm, which was always behind one of the others (Holey 2015, 4.3.4), only where read-only sections must
 * never abort, which no other one promises; never cgl. */
#ifndef WARPSAFE_TM_AUTO_H
#define WARPSAFE_TM_AUTO_H

#include <stdio.h>
#include <string.h>
#include "handle.h"

enum { WS_TM_TRIALS = 2, WS_TM_CANDIDATES = 3 };    /* launches by engine; the first may have costs of its own */

/* What is known of the sections; all zero: nothing. Numbers are of one section, on average. */
struct ws_tm_features {
	double reads, writes;
	double rewritten;              /* of the words read, those that are also written */
	int opaque;                    /* no attempt may see values that were never together: not istm */
	int never_abort;               /* read-only sections (WS_TX_READ_ONLY) must not: estm alone */
};

struct ws_tm_auto {
	struct ws_tm_features features;
	unsigned order[WS_TM_CANDIDATES], candidates;
	unsigned launches;             /* that were told of so far */
	unsigned best;                 /* place in order; final after candidates * WS_TM_TRIALS launches */
	double from;                   /* when the launch on trial began, in seconds (tm.h) */
	double rate[WS_TM_CANDIDATES]; /* by place in order: commits a second in the better one of its launches */
};

static inline void ws_tm_auto__candidate(struct ws_tm_auto *a, enum ws_tm_engine engine)
{
	if ((engine != WS_TM_ISTM || !a->features.opaque) && (engine == WS_TM_ESTM || !a->features.never_abort))
		a->order[a->candidates++] = (unsigned)engine;
}

/* features may be NULL. */
static inline void ws_tm_auto_init(struct ws_tm_auto *a, const struct ws_tm_features *features)
{
	memset(a, 0, sizeof *a);
	if (features)
		a->features = *features;
	if (a->features.never_abort)
		ws_tm_auto__candidate(a, WS_TM_ESTM);
	/* pstm makes two readers conflict: good only where what is read is mostly written. */
	if (a->features.rewritten * 2 >= a->features.reads) {
		ws_tm_auto__candidate(a, WS_TM_PSTM);
		ws_tm_auto__candidate(a, WS_TM_ISTM);
		ws_tm_auto__candidate(a, WS_TM_HSTM);
	} else {
		ws_tm_auto__candidate(a, WS_TM_ISTM);
		ws_tm_auto__candidate(a, WS_TM_HSTM);
		ws_tm_auto__candidate(a, WS_TM_PSTM);
	}
}

static inline int ws_tm_auto_settled(const struct ws_tm_auto *a) { return a->launches >= a->candidates * WS_TM_TRIALS; }

/* The engine for the next launch. */
static inline enum ws_tm_engine ws_tm_auto_engine(const struct ws_tm_auto *a)
{
	return (enum ws_tm_engine)a->order[ws_tm_auto_settled(a) ? a->best : a->launches / WS_TM_TRIALS];
}

/* What a launch with that engine has done. A launch without a commit tells nothing. */
static inline void ws_tm_auto_record(struct ws_tm_auto *a, unsigned long long commits, double seconds)
{
	unsigned place = a->launches / WS_TM_TRIALS;
	double rate = seconds > 0 ? (double)commits / seconds : 0;

	if (ws_tm_auto_settled(a) || !commits)
		return;
	if (rate > a->rate[place])
		a->rate[place] = rate;
	if (a->rate[place] > a->rate[a->best])
		a->best = place;
	a->launches++;
}

/* Says in one line which engine it is and why. Returns text. */
static inline char *ws_tm_auto_why(const struct ws_tm_auto *a, char *text, size_t size)
{
	unsigned tried = (a->launches + WS_TM_TRIALS - 1) / WS_TM_TRIALS, i;
	int n = snprintf(text, size, "%s (%s):", ws_tm_engine_name(ws_tm_auto_engine(a)),
	                 ws_tm_auto_settled(a) ? "the fastest" : "on trial");

	for (i = 0; i < a->candidates && n >= 0 && (size_t)n < size; i++)
		n += i < tried ? snprintf(text + n, size - (size_t)n, " %s %.3g commits/s", ws_tm_engine_name(a->order[i]), a->rate[i])
		               : snprintf(text + n, size - (size_t)n, " %s not tried yet", ws_tm_engine_name(a->order[i]));
	return text;
}

#endif

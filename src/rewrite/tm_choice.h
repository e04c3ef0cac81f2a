/* tm_choice.h - engine auto of `warpsafe tm`: which engine the program's launches run with (include/warpsafe/tm/auto.h). One for the
 * program: all its sections have the same engine, as they exclude each other. Only launches of the first kernel that committed
 * transactions are compared; others run with what is tried at the time. */
#ifndef WS_TM_CHOICE_H
#define WS_TM_CHOICE_H

#include "base/base.h"
#include "rewrite/rewrite.h"
#include "../include/warpsafe/tm/auto.h"

struct ws_tm_choice {
	struct ws_tm_known known;
	struct ws_tm_auto tries;
	char *kernel;                    /* whose launches are compared; NULL: none yet */
	double from;                     /* when the launch began */
};

/* On average of a section. */
struct ws_tm_features ws_tm_features_of(const struct ws_tm_known *known);
/* More sections: before they run. */
void ws_tm_choice_know(struct ws_tm_choice *c, const struct ws_tm_known *more);
/* The engine for the next launch, which begins now. */
enum ws_tm_engine ws_tm_choice_before(struct ws_tm_choice *c);
/* Whether launches are still compared; if so each is waited for. */
bool ws_tm_choice_tries(const struct ws_tm_choice *c);
/* In seconds, from some time on. */
double ws_tm_choice_now(void);
/* After a launch that was waited for, until `now`: how many transactions it has committed. */
void ws_tm_choice_after(struct ws_tm_choice *c, const char *kernel, uint64_t commits, double now);
/* Appends which engine it is and why, a line for people. */
void ws_tm_choice_tell(const struct ws_tm_choice *c, struct ws_buf *out);

#endif

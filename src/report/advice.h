/* advice.h - the words for a race of two instructions: what is missing between them, and a repair. */
#ifndef WS_ADVICE_H
#define WS_ADVICE_H

#include "report/report.h"

/* What is known of the two accesses and of the code around them. */
struct ws_advice {
	const struct ws_race *race;          /* kind, space, the accesses and their places are set */
	bool strong1, strong2;               /* atomic, volatile, or with a scope */
	bool same_size;                      /* both access as many bytes */
	bool same_thread, same_warp, same_block;
	bool one_cluster;                    /* two blocks of it */
	bool proxy;                          /* the second one is a bulk copy, and but a proxy fence is missing */
	bool same_value;                     /* both write what was there */
	bool in_flight;                      /* the first one is a copy (cp.async) that may go on */
	bool same_instruction;               /* lanes of a warp that executed one instruction together */
	bool one_function;                   /* both stand in one function; if not, nothing below is known */
	bool backward;                       /* the second one stands before the first one */
	bool loop;                           /* there is a jump back around both */
	bool repeated;                       /* the second one is in a loop, perhaps one that was unrolled */
	bool barrier;                        /* a barrier of the block stands between them */
	bool update;                         /* each is half of a load and store of one address in one line ("x++") */
};
/* Appends what is missing, and the repair; returns the race's category, static text. */
const char *ws_race_advise(const struct ws_advice *a, struct ws_buf *missing, struct ws_buf *repair);

/* The same for an access to the shared memory of another block, which may not have begun, or have ended (ended). */
const char *ws_race_advise_lifetime(const struct ws_race_access *visitor, bool ended, struct ws_buf *missing, struct ws_buf *repair);

/* "line 12", with the file when it is another one than `other`'s (NULL = none); PTX lines where there are no others. What
 * was inlined from another file counts as the line that calls it. */
void ws_race_line(struct ws_buf *b, const struct ws_race_access *a, const struct ws_race_access *other);
uint32_t ws_race_line_of(const struct ws_race_access *a);    /* its number; 0 = none */
bool ws_race_same_line(const struct ws_race *r);
/* Where between the two accesses something is to be added: "between line 12 and line 14". */
void ws_race_between(const struct ws_advice *a, struct ws_buf *b);
/* The repair where a barrier stands between the two, but has not held both threads. */
void ws_race_wrong_barrier(const struct ws_advice *a, struct ws_buf *b);

#endif

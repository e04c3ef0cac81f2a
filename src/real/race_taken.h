/* race_taken.h - is there room in the tables for what is launched? Programs launch kernels ahead of the GPU, so the counts lack what has not run
 * yet, and a table that becomes full within a launch is a part of it that is not checked. So it is kept of each kernel what a launch of it has
 * taken of a table at most; where the next one and those that may still run could come to more than there is, it has to wait for them. Nothing
 * here asks the driver: events are the caller's. */
#ifndef WS_REAL_RACE_TAKEN_H
#define WS_REAL_RACE_TAKEN_H

#include "base/base.h"
#include "cuda/map.h"

enum { WS_RACE_TABLES = 5, WS_RACE_RUNNING = 64, WS_RACE_SORTS = 32 };
struct ws_race_used { double of[WS_RACE_TABLES]; };      /* of each table the part that is in use: 1 = all */

struct ws_race_kernel_took;              /* what is known of a kernel */
struct ws_race_taken {                   /* begins as zero */
	struct ws_race_used used;            /* as last read */
	struct ws_race_used before;          /* as it was when all that was launched had ended */
	struct ws_race_running {
		void *event;                 /* recorded behind it; made by the caller, and used again */
		double takes;
		bool runs, waits;            /* it may; and then for what the program launches next */
	} running[WS_RACE_RUNNING];
	unsigned nrunning;
	double ended;                        /* what those take that have ended since the counts were read */
	struct { struct ws_race_kernel_took *kernel; unsigned launches; } since[WS_RACE_SORTS];    /* `before` */
	unsigned nsince;
	struct ws_map kernels;
};

/* Can a kernel be launched without a wait? It is known by any pointer that stands for it, and never as NULL. */
bool ws_race_taken_leaves_room(const struct ws_race_taken *r, const void *kernel);
/* Is there none though nothing runs? Then the tables are to begin anew, unless they have hardly begun. */
bool ws_race_taken_is_all(const struct ws_race_taken *r, const void *kernel);
/* It was launched. Where its event is to be recorded; NULL: what it takes does not matter, or there is no place left. waits: its threads may
 * wait for something that the program does later. */
struct ws_race_running *ws_race_taken_launched(struct ws_race_taken *r, const void *kernel, bool waits);
void ws_race_taken_is_lost(struct ws_race_taken *r, struct ws_race_running *to);         /* its event cannot be recorded: it is not followed */
/* Those whose event says so have ended; what they have taken counts until the counts are read. How many are left. */
unsigned ws_race_taken_ended(struct ws_race_taken *r, bool (*has_ended)(void *event));
bool ws_race_taken_waits(const struct ws_race_taken *r);           /* may one of those that are left wait for the program? */
/* What is in use now. What has ended is in it. */
void ws_race_taken_read(struct ws_race_taken *r, const struct ws_race_used *used);
void ws_race_taken_renewed(struct ws_race_taken *r);               /* the tables have begun anew, with nothing running */
void ws_race_taken_free(struct ws_race_taken *r);                  /* as at its beginning; what events there are is the caller's to know */

#endif

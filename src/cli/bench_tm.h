/* bench_tm.h - what the claims about transactions (S2 to S6) share: a workload of bench/tm, played in one way, and what came out. */
#ifndef WS_BENCH_TM_H
#define WS_BENCH_TM_H

#include "cli/bench.h"

struct ws_tm_figure {
	bool there;                  /* false: the workload has no such way, or b->trouble */
	double cost;                 /* of a section: cycles of the clocked GPU, or microseconds of a real one */
	double sections;
	double aborts;               /* a commit; 0 for ways without */
};

/* Plays a workload of the program ("tm/hash", "HASH-S") in n ways: as many figures. The arguments are those of the program, parted by
 * spaces. A result that is not right is b->trouble. On a real GPU one process plays all ways, for to begin takes it longer than to play
 * most; of the clocked GPU the cycles of a process count. */
enum { WS_BENCH_TM_WAYS = 8 };
void ws_bench_tm_ways(struct ws_bench *b, const char *program, const char *workload, const char *const *ways, int n,
                      const char *arguments, struct ws_tm_figure *figures);

/* Text in cells. */
enum { WS_CELL = 200 };
struct ws_cell { char text[WS_CELL]; };
void ws_cell_add(struct ws_cell *c, const char *fmt, ...) WS_PRINTF(2, 3);
/* "pstm 1.53x  " or "pstm not there  ". */
void ws_cell_ratio(struct ws_cell *c, const char *name, struct ws_tm_figure f, double against);

#endif

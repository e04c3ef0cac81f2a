/* keep.h - keeps the report of this process on disk while the program runs, so that it survives every end of it. */
#ifndef WS_KEEP_H
#define WS_KEEP_H

#include "report/report.h"

struct ws_keep {
	struct ws_report *report;            /* lives as long as the process */
	const char *folder;                  /* report.PID.json goes there; copied */
	void (*gather)(void *user);          /* called before each saving, to bring the report up to date; may be NULL */
	void *user;
};
/* Starts keeping; once a process. From then on the report is saved soon after a change, at exit, and when a signal ends
 * the program. */
void ws_keep_start(const struct ws_keep *k);
/* The report has changed: it is saved soon (100 ms at most), by a thread of its own; a new finding at once. Cheap. Without
 * ws_keep_start, or in a process forked since, nothing happens. */
void ws_keep_touch(void);

#endif

/* history_words.h - what is wrong with a history, in words, for a report; and what all launches of a program had. */
#ifndef WS_HISTORY_WORDS_H
#define WS_HISTORY_WORDS_H

#include "detect/history.h"

struct ws_report;

struct ws_history_total {
	struct ws_history_sum sum;
	uint64_t launches, violations;
	uint64_t doubts;                 /* loads that could not be judged */
};

struct ws_history_words {
	struct ws_report *report;
	struct ws_history_total *sum;
	const char *kernel;
	uint64_t launch;                 /* from 1 */
	uint32_t grid[3], block[3];
	/* "bank.cu:12"; marker: of the section that begins there. NULL: sites are such words. */
	void (*line)(void *user, const void *site, bool marker, struct ws_buf *b);
	/* "bytes 0..3 of account". */
	void (*memory)(void *user, uint64_t at, uint32_t bytes, struct ws_buf *b);
	void *user;
};

/* For ws_history_check: adds it to the report. */
void ws_history_found(void *words, const struct ws_history_finding *f);
/* Judges a launch's history, which is empty then. */
void ws_history_judge(struct ws_history *h, bool completed, struct ws_history_words *words);
/* The line that is told at the end; nothing if there was no section. */
void ws_history_total_add(const struct ws_history_total *t, bool opacity, struct ws_buf *b);

#endif

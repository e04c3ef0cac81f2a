/* history.h - histories of transactions: who read and wrote which word, and whether the transactions, one after the other in some
 * order, could have read and left the same (Adya 1999, 4: the graph of dependencies has no cycle).
 *
 * What is recorded are loads and stores of memory, in the order in which they happen. So it is known which store each load has met,
 * and in which order the stores of a word came, without a word from the engine under test. An access outside of sections is
 * a transaction of its own.
 *
 * Edges of the graph: from the writer of a value to who reads it, and to who overwrites it; from who has read a value to who
 * overwrites it. Judged is by who wrote a value, with one exception: what an attempt looks at again, and finds to be the same value,
 * counts as read then (engines that validate by value). And what a section reads of its own writes, which none of that tells, must be
 * the value that it wrote.
 *
 * One caller at a time. */
#ifndef WS_HISTORY_H
#define WS_HISTORY_H

#include "base/base.h"

/* `site` is what the caller knows a place of the program by; NULL: none. */
struct ws_history;
struct ws_history_attempt;           /* at a section, under way. NULL stands for one that is not recorded any more */

struct ws_history_who { uint64_t block; uint32_t thread; };  /* linear indices */

/* A word: naturally aligned, of 1, 2, 4 or 8 bytes, which `value` has. */
struct ws_history_word { uint64_t at, value; uint32_t bytes; };

/* opacity: what attempts have read that were undone is judged as well. most: loads and stores that are kept (64 bytes each, about); what
 * happens behind them is not recorded. */
struct ws_history *ws_history_new(bool opacity, size_t most);
void ws_history_free(struct ws_history *h);
void ws_history_clear(struct ws_history *h);     /* no attempt is under way */

struct ws_history_attempt *ws_history_start(struct ws_history *h, struct ws_history_who who, const void *begin);
/* The engine has loaded a word; wanted: it is the one that the section is reading. */
void ws_history_load(struct ws_history *h, struct ws_history_attempt *a, const struct ws_history_word *w, const void *site,
                     bool wanted);
/* What was loaded since the last of these two calls was given to the section, or was in vain. */
void ws_history_keep(struct ws_history_attempt *a);
void ws_history_drop(struct ws_history_attempt *a);
void ws_history_store(struct ws_history *h, struct ws_history_attempt *a, const struct ws_history_word *w, const void *site);
/* A load of which it is not known which store it has met: what the attempt has read there is not judged. */
void ws_history_doubt(struct ws_history *h, struct ws_history_attempt *a, const struct ws_history_word *w);
/* What happens from here on is not recorded. */
void ws_history_cut(struct ws_history *h);

/* How far an attempt has come: where a part of it begins that can be undone alone. All zero: where the attempt does. */
struct ws_history_mark { size_t loads; uint32_t store; };
struct ws_history_mark ws_history_mark(const struct ws_history *h, const struct ws_history_attempt *a);
/* A store that puts back what was there before the attempt's first one behind the mark. */
void ws_history_undo(struct ws_history *h, struct ws_history_attempt *a, struct ws_history_mark since, const struct ws_history_word *w);
/* What the attempt has done since was undone, and it goes on; forget: what it has read since counts no more. That part is then an attempt of
 * its own that was undone, with all that was read before it. */
void ws_history_part_undone(struct ws_history *h, struct ws_history_attempt *a, struct ws_history_mark since, bool forget, const void *begin);
/* The attempt has read at that byte something else than it has written there itself. */
void ws_history_not_own(struct ws_history *h, struct ws_history_attempt *a, uint64_t at, const void *wrote, const void *read);
void ws_history_end(struct ws_history *h, struct ws_history_attempt *a, bool committed);
/* Outside of sections: up to 32 bytes. */
void ws_history_plain(struct ws_history *h, struct ws_history_who who, uint64_t at, uint32_t bytes, bool reads, bool writes,
                      const void *site);

/* ---- judgement ---- */
struct ws_history_node {
	struct ws_history_who who;
	const void *begin;     /* of the section; NULL: an access outside of sections */
	bool committed, undone;          /* none: under way when the record ended */
};

enum ws_history_edge { WS_HISTORY_READ_FROM, WS_HISTORY_OVERWRITES, WS_HISTORY_READ_BEFORE };
struct ws_history_step {
	enum ws_history_edge kind;
	const struct ws_history_node *from, *to;
	const void *first, *second;    /* of the two accesses; NULL: at the end of a section */
	uint64_t at;                     /* first byte of those that both have, and how many */
	uint32_t bytes;
};

enum ws_history_kind {
	WS_HISTORY_CYCLE,        /* the steps lead from each transaction to the next, and back to the first */
	WS_HISTORY_UNDONE,       /* one step: what was read was undone */
	WS_HISTORY_HALF,         /* one step: what was read was not the last that a transaction wrote there */
	WS_HISTORY_LOST,         /* one step, to nobody: what was written is not there at the end */
	WS_HISTORY_NOT_OWN       /* one step, to nobody: what was read is not what the same transaction had written */
};
struct ws_history_finding {
	enum ws_history_kind kind;
	const struct ws_history_step *steps;
	size_t n;
};

struct ws_history_sum { size_t committed, undone, plain; bool full; };

/* Tells what is wrong; complete: nothing is under way, and memory is as it stays. The finding lives during the call. */
void ws_history_check(struct ws_history *h, bool complete, void (*found)(void *user, const struct ws_history_finding *f), void *user,
                      struct ws_history_sum *sum);

#endif

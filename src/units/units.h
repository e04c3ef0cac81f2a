/* units.h - the proposed hardware units of `warpsafe sim --unit=NAME`. */
#ifndef WS_UNITS_H
#define WS_UNITS_H

#include "timing/unit.h"

extern const struct ws_unit_ops ws_unit_simt_lock, ws_unit_lock_queue, ws_unit_haccrg;
/* The instructions of units that lock, and their numbers. */
enum { WS_LOCK, WS_UNLOCK, WS_TRY_LOCK, WS_TRY_LOCK_FOR, WS_WAIT, WS_SIGNAL, WS_GRID_BARRIER };
extern const char *const ws_lock_instructions[];

/* ---- what these units share (words.c, barrier.c) ---- */
/* A lock or a semaphore is there for the taking: it is taken. */
bool ws_word_take(unsigned instruction, uint32_t *word, uint32_t thread);
/* Gives it back. true: it was taken by a try, which has no entry on the stack. */
bool ws_word_give(unsigned instruction, uint32_t *word);
/* A request of each of these lanes has come to its word. false: the launch has failed, for an address is none. */
typedef void ws_word_serve(void *self, struct ws_unit_op *o, uint32_t lane, uint32_t *word);
bool ws_word_each(void *self, struct ws_unit_op *o, uint32_t lanes, ws_word_serve *serve);
/* The replies of a try are back, o->done has the lanes that have the lock: those that may try again do so after `interval`
 * cycles, else the warp goes on with its answer. */
bool ws_try_finish(struct ws_unit_op *o, uint32_t interval);

enum { WS_QUEUED, WS_GRANTED };          /* ws_unit_words: masks of lanes that wait in a partition, and that need not any more */
enum { WS_LOOK_AGAIN = 20 };             /* cycles, where a warp cannot be parked */
/* Lanes that have been granted what they wait for go on, others ask, or stand. all: the lanes go on together only. */
enum ws_unit_issue ws_wait_issue(struct ws_unit_op *o, bool all);
/* The lanes that finish may let go on, o->done among them; they wait no more. */
uint32_t ws_wait_over(struct ws_unit_op *o);

struct ws_grid_barrier {
	struct ws_grid_waiter { uint64_t addr; void *place; uint32_t lane; } *waiting;
	size_t n, cap;
	uint64_t completed;
};
void ws_grid_arrive(struct ws_grid_barrier *b, struct ws_unit_op *o, uint32_t lane, uint32_t *word);
bool ws_grid_finish(struct ws_unit_op *o);

const struct ws_unit_ops *ws_unit_find(const char *name, size_t len);    /* NULL: there is none */

enum { WS_UNIT_OPTIONS = 24 };
/* "NAME[,key=value...]": the unit, and in values what its options are. NULL: *why says what is wrong and what there is. */
const struct ws_unit_ops *ws_unit_parse(const char *text, uint32_t values[WS_UNIT_OPTIONS], struct ws_buf *why);

#endif

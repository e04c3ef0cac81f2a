/* needless.h - proofs that an access needs no check of its own (needless.c). */
#ifndef WS_REWRITE_NEEDLESS_H
#define WS_REWRITE_NEEDLESS_H

#include "rewrite/rewrite_priv.h"

struct ws_needless {                     /* of one access */
	bool skip;                       /* every race of it is found by the check of another */
	const struct ws_ptx_inst *read;  /* of a write: its check stands for this read, too; NULL = for itself alone */
	bool four;                       /* one check, of 16 bytes, may stand for this read of a word and the three that follow */
};

/* For the n accesses of a function (ws_rw_accesses); out has n elements, all zero before. */
void ws_needless_find(struct ws_ptx_func *f, struct ws_rw_access *list, uint32_t n, struct ws_needless *out);

/* Does an instruction from first to last, by index, set r? */
bool ws_sets_between(const struct ws_ptx_func *f, uint32_t first, uint32_t last, const struct ws_reg *r);
/* Is `first` executed between any instruction that sets r and i, which sets it, too? (in_step.c) */
bool ws_always_between(const struct ws_ptx_func *f, const struct ws_reg *r, const struct ws_ptx_inst *first, const struct ws_ptx_inst *i);
/* May the thread synchronize with others here? */
bool ws_needless_synchronizes(const struct ws_ptx_inst *i);

/* Finds reads of four words side by side; after all that may make some of them needless. out as above. */
void ws_needless_fours(struct ws_ptx_func *f, const struct ws_rw_access *list, uint32_t n, struct ws_needless *out);

/* What a function does that matters to who reads shared memory; the worst of it. */
enum ws_shared_use { WS_SHARED_NONE, WS_SHARED_READ, WS_SHARED_WRITE, WS_SHARED_BARRIER };
enum ws_shared_use ws_shared_use(const struct ws_ptx_func *f, const struct ws_rw_access *list, uint32_t n);
/* Which instructions are never both executed in a block (sides.c). The kernel must have a control-flow graph. */
struct ws_sides;
struct ws_sides *ws_sides_find(const struct ws_ptx_func *kernel);
bool ws_sides_exclude(const struct ws_sides *s, uint32_t i, uint32_t j);      /* by index */
void ws_sides_free(struct ws_sides *s);

/* Which instructions of a kernel may be executed in one interval between barriers, by different threads (interval.c).
 * No function that it calls has a barrier; calls_write: some write to shared memory. NULL: not known. The list must
 * live as long. */
struct ws_intervals;
/* dead: by instruction, of a branch with two ways out, which of them is never taken; NULL: none is known. */
enum { WS_DEAD_TAKEN = 1, WS_DEAD_NEXT };
/* out: one that is marked may be executed behind an instruction, and before one of the stops that has no guard (NULL: there are none); all by
 * instruction. */
void ws_find_after(const struct ws_ptx_func *f, const uint8_t *marks, const uint8_t *stops, const uint8_t *dead, uint8_t *out);
struct ws_intervals *ws_intervals_find(struct ws_ptx_func *kernel, const struct ws_rw_access *list, uint32_t n,
				       bool calls_write, const uint8_t *dead);
bool ws_intervals_meet(const struct ws_intervals *v, uint32_t i, uint32_t j);        /* by index */
/* May a thread execute j in an interval behind one in which another one executes i? */
bool ws_intervals_later(const struct ws_intervals *v, uint32_t i, uint32_t j);
/* The same of lanes of one warp, between barriers and syncs of the whole warp; of_block: as above. NULL also if there are no such syncs. */
struct ws_intervals *ws_intervals_of_warp(struct ws_ptx_func *kernel, const struct ws_rw_access *list, uint32_t n, const uint8_t *dead,
                                          const struct ws_intervals *of_block);
bool ws_intervals_meet_in_warp(const struct ws_intervals *v, uint32_t i, uint32_t j);
void ws_intervals_free(struct ws_intervals *v);          /* NULL is fine */
/* Are all threads of a block at one barrier at a time, as far as is known? */
bool ws_intervals_in_turn(const struct ws_intervals *v);
/* By instruction: what a thread may execute behind the point-th barrier, or way from there, until the next one; it begins with instruction *first.
 * NULL: there are fewer. */
const uint8_t *ws_intervals_region(const struct ws_intervals *v, uint32_t point, uint32_t *first);
/* May some threads come to the basic block when others do not? Where all are at one barrier at a time. */
bool ws_intervals_divide(const struct ws_intervals *v, uint32_t block);

/* Registers that go on as far in all threads from barrier to barrier (in_step.c). v and the list must live as long. NULL: there are none. */
struct ws_steps;
struct ws_steps *ws_steps_begin(const struct ws_intervals *v, const struct ws_ptx_func *f, const struct ws_rw_access *list, uint32_t n);
void ws_steps_free(struct ws_steps *s);          /* NULL is fine */
/* Does r go on in steps of a number, and at most one of each between two barriers? */
bool ws_steps_may(struct ws_steps *s, const struct ws_reg *r);
/* Is r, which may go on so, as far in two threads wherever one is at access a (a number in the list) and the other one at access b in an interval? */
bool ws_steps_same(struct ws_steps *s, const struct ws_reg *r, uint32_t a, uint32_t b);
/* How much farther is r in a thread at b than in one at a? false: that differs. */
bool ws_steps_between(struct ws_steps *s, const struct ws_reg *r, uint32_t a, uint32_t b, int64_t *by);
/* Does i set r to what is made of r alone, as it is then: r ^ 1, (r + 1) % 3? */
bool ws_steps_turn(const struct ws_steps *s, const struct ws_ptx_inst *i, const struct ws_reg *r);
/* Is there an access to what the checks are for between two instructions of a block? */
bool ws_steps_access_between(const struct ws_steps *s, uint32_t first, uint32_t last);
/* Is r at an instruction always what another one has last read there? */
bool ws_steps_fresh(const struct ws_steps *s, const struct ws_reg *r, const struct ws_ptx_inst *read, const struct ws_ptx_inst *at);
/* What i, under no condition, adds to r itself: a number; 0: it does something else. */
int64_t ws_steps_added(const struct ws_ptx_inst *i, const struct ws_reg *r);
const struct ws_ptx_inst *const *ws_steps_only(const struct ws_steps *s);      /* ws_only_sets */

/* By register: the one instruction that sets it, under no condition; NULL: there is none. The caller frees it. */
const struct ws_ptx_inst **ws_only_sets(const struct ws_ptx_func *f);

/* What instructions make of registers that have numbers (turns.c), of 32 bits or predicates. reads: who has read these; first: of all that were
 * looked at, the first one in the text; apart: they are not of one block, one behind the other. */
enum { WS_TURN_READS = 8, WS_TURN_REGS = 4 };
struct ws_turn {
	const struct ws_ptx_inst *const *only;   /* ws_only_sets */
	struct { const struct ws_reg *r; uint32_t number; } has[WS_TURN_REGS];
	unsigned n, nreads;
	const struct ws_ptx_inst *reads[WS_TURN_READS], *first;
	unsigned nseen;
	bool apart;
};
/* false: it is made of something else as well. depth: 0. */
bool ws_turn_number(struct ws_turn *t, const struct ws_ptx_inst *i, unsigned depth, uint32_t *out);

/* As ws_needless_find, for reads of shared memory to which nobody writes in their intervals. */
void ws_needless_in_intervals(const struct ws_intervals *v, struct ws_needless *out);

#endif

/* ranges_groups.h - the groups of accesses of ranges.c, for it and ranges_meet.c. */
#ifndef WS_REWRITE_RANGES_GROUPS_H
#define WS_REWRITE_RANGES_GROUPS_H

#include "rewrite/ranges_priv.h"

enum {
	MOST_GROUPS = 240,               /* before what goes on in equal steps becomes one */
	MOST_COMPARED = 24, MOST_OWN = 12,       /* when they are compared in pairs; those that write */
	MOST_BOTH = 64,                  /* pairs of groups, where all are proved together and each for itself, too */
	MOST_INTERVALS = 4, MOST_CALLED = 8
};

enum how { CHECKED, OUTSIDE, BOUNDED_READ, AREA_READ, OWN, NOT_REACHED };

struct group {                           /* accesses of one address but for a constant; or of one allocation */
	struct sum sum;                  /* without it; of an allocation: the pointer into it */
	struct sum row;                  /* a part of it: where a thread is in its row, of several groups that are one; 0: no such thing */
	bool area;                       /* an allocation: somewhere in it */
	bool several;                    /* or in another one: some accesses are of several groups */
	bool unproved;                   /* an allocation that is read where it is written, too: what else is there is not proved either */
	bool behind;                     /* by the block that arrives last alone (ranges_final.c) */
	int64_t first, last;             /* the bytes from sum + first to before sum + last */
	bool writes, reads;
	bool meets;                      /* strong accesses that may meet: as long as there is nothing else in the group */
	uint32_t bytes, vec;             /* of each, or of the widest; in how many parts */
	struct offsets offsets;          /* of all */
	struct pins pins;                /* of those that must be apart */
	struct num lo, hi;               /* hi: the byte behind */
	const char *allocated;           /* a predicate: the allocation of its pointer is known, and is [start, end); NULL: not asked */
	struct num start, end;
	const char *exact;               /* a predicate: its sum says where its accesses are; else they are somewhere in its allocation, as lo and hi
	                                  * have it; NULL: it does */
};

struct interval { const char *start, *length; };

struct ws_ranges {
	struct ws_pass *p;
	struct values v;
	struct group groups[MOST_GROUPS];
	unsigned ngroups, nwriting;      /* those that write come first */
	size_t duties_of_writes;
	bool unknown_reads;              /* there are reads without bounds */
	bool unseen;                     /* there are writes that no pass follows: no check knows of them */
	const struct ws_ptx_sym *called[MOST_CALLED];    /* variables that called functions read */
	unsigned ncalled;
	uint32_t widest;                 /* bytes of a read */
	uint8_t *how, *group;            /* by instruction */
	struct rare rare[MOST_RARE];     /* what is taken to be false: accesses that need it are NOT_REACHED */
	unsigned nrare;
	const struct ws_rw_access *list; /* of the kernel */
	uint32_t n;
	uint8_t *dead;                   /* ways that are not taken, then; NULL = none */
	struct ws_intervals *between;    /* barriers, for launches of one block; NULL = nothing is known */
	const char *one_block;           /* a predicate */
	struct interval intervals[MOST_INTERVALS];
	unsigned nintervals;
	const char *quiet, *far, *own;   /* predicates; NULL = not decided. far: quiet, and reads of allocations, too */
	const char *partly[MOST_OWN];    /* likewise, by group that writes: its accesses, whatever the other groups do */
	const char *silent;              /* likewise: own, for everything that the kernel executes */
	bool by_proofs;                  /* ... it may be so without what a probe finds */
	const char *unread;              /* likewise: no read of global memory has a check */
	struct ws_final final;           /* where that is looked for: nothing else is proved then */
	const struct leaf *counter;      /* a launch is silent only if this counter begins with 0; NULL = there is none */
	int64_t counter_offset;
};

/* ---- ranges.c ---- */
/* Group k, that is another one, becomes part of `into`: it has no accesses of its own any longer, and what it reads is of who writes there. */
void ws_group_remove(struct ws_ranges *g, unsigned k, unsigned into);

/* ---- ranges_alike.c ---- */
void ws_ranges_join_alike(struct ws_ranges *g);
void ws_ranges_join_areas(struct ws_ranges *g);
void ws_ranges_join_reads(struct ws_ranges *g);

/* ---- ranges_rounds.c ---- */
/* Are accesses of both alike, but for their sums? */
bool ws_groups_may_be_one(const struct group *a, const struct group *b);
/* Rows that loops go through, and those some rows apart, become one group. */
void ws_ranges_join_rounds(struct ws_ranges *g);

/* ---- ranges_digits.c ---- */
/* Groups that write, and others with the same places that are counted in another way, become one. */
void ws_ranges_join_digits(struct ws_ranges *g);

/* ---- ranges_meet.c ---- */
/* Can two accesses of these groups be between the same barriers of a block? */
bool ws_groups_in_one_interval(const struct ws_ranges *g, const struct group *a, const struct group *b);
/* What a group's addresses are counted from: the only leaf that can hold an address; UINT32_MAX: there is none, or several. */
uint32_t ws_group_base(const struct values *v, const struct group *x);
bool ws_ranges_any_unproved(const struct ws_ranges *g);
bool ws_ranges_any(const struct ws_ranges *g, enum how how);
/* In lo and hi; what they rely on goes into e->ok. */
void ws_group_bounds(const struct ws_ranges *g, struct entry *e, struct group *x);
/* No access of one races with one of the other: that goes into e->ok. */
void ws_ranges_demand_disjoint(const struct ws_ranges *g, struct entry *e, struct group *a, struct group *b);
/* Nobody else changes the counter before the last block has arrived; does anything else in its group? */
void ws_ranges_demand_arrivals(struct ws_ranges *g, struct entry *e);
bool ws_ranges_counts_alone(const struct ws_ranges *g);
/* A new e->ok, which holds what it did. */
const char *ws_ranges_predicate(struct ws_ranges *g, struct entry *e);
/* Leaves in ok what reads and writes must fulfil for `own`. Each predicate holds what the bounds rely on that it uses. Returns
 * the one that all bounds rely on. */
const char *ws_ranges_decide_quiet(struct ws_ranges *g, struct entry *e, bool own);

#endif

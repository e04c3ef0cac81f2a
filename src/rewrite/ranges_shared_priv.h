/* ranges_shared_priv.h - groups of accesses to shared memory: what ranges_shared.c and ranges_parts.c share. */
#ifndef WS_REWRITE_RANGES_SHARED_PRIV_H
#define WS_REWRITE_RANGES_SHARED_PRIV_H

#include "rewrite/needless.h"
#include "rewrite/ranges_priv.h"

enum { MOST_GROUPS = 48, FEW_GROUPS = 20, MOST_ACCESSES = 320, NO_GROUP = 255, QUIET = 254, NAMED = 253, MOST_SHARED = 256 << 10 };

/* How far addresses come (ranges_far.c). Sums are without their constant, which is with the bytes of the access behind it in `last`, `rest_last`. */
struct end {
	struct sum most, rest, span;     /* to before most + last; or (unit not 0) to before rest + rest_last + by * (span / unit), rounded down, if that is less */
	int64_t last, rest_last, by, unit;
};
struct far { struct sum least; int64_t first; struct end ends[8]; unsigned n; };

struct group {
	const struct ws_ptx_sym *sym;    /* NULL: the memory behind all variables */
	struct sum sum;                  /* without the variable's address, and without a constant */
	int64_t first, last;             /* the bytes from sum + first to before sum + last */
	int64_t bytes;                   /* of the widest access */
	struct offsets offsets;
	struct pins pins;                /* of those that must be apart */
	bool area;                       /* somewhere in the variable */
	int64_t endless;                 /* and any number of times so many bytes more or less, in the variable; 0 = none */
	bool upward;                     /* ... and only more, beginning at `begins` and the sum: what data chooses is not negative */
	int64_t begins;
	struct bend { int64_t times, by, rest; } bend;   /* and times * (x / by), of an index x of which the sum is a multiple; see take_bend */
	uint8_t phase;                   /* of struct phased */
	struct far *far;                 /* of such a group: how far it goes; NULL: it is not known */
	struct sum rounds;               /* and so much, in the variable, the same for all who meet (ranges_in_step.c) */
	struct sum part;                 /* parts: from where in the variable it counts, what is one number in a launch; of a group with a sum without a constant */
	bool has_part;
	struct sum before;               /* its sum before offsets became digits of it */
	struct { int64_t first, last; } met[MOST_GROUPS];        /* the bytes, from that on, of its accesses that meet another group */
	struct num before_lo, before_hi;
	const char *counts_from, *least, *end;   /* registers: of `part`, and the bounds that its accesses look at; NULL: they do not */
	int64_t distance;                /* that threads must be apart, for they are by multiples of it; 0: the extent */
	bool writes;
	bool meets;                      /* atomics of one size alone, which may meet */
	bool own;                        /* may be proved */
	bool reads_own;                  /* its reads may be, by less: they meet writes of the group alone, of which each thread has its own */
	bool others[MOST_GROUPS];        /* groups of the same variable that it meets */
	bool in_others[MOST_GROUPS];     /* ... in other warps alone */
	bool warps_come[MOST_GROUPS];    /* ... by accesses that several warps come to, as far as is known */
	struct num lo, hi;
	struct most {
		bool has;
		uint32_t leaf;
		int64_t reach, rest;         /* where the last byte ends that its accesses come to, less the rest of `before`: by their greatest values of the
		                              * leaf; of those of which that is not known, less all of `before`. INT64_MIN: there are none */
	} most;                          /* see ranges_left_over.c */
	const char *extent;              /* endless, or with rounds: a register, how far it goes from thread to thread */
	const char *proved;              /* a predicate */
	const char *reads_proved;        /* with reads_own: of these alone */
};

struct ws_shared_ranges {
	struct ws_pass *p;
	struct values v;
	struct group groups[MOST_GROUPS];
	unsigned ngroups;
	uint8_t *group;                  /* by access; QUIET: it meets no other that it could race with; NAMED: none in its variable */
	const struct ws_ptx_sym **variable;      /* by access, while groups are found: the one that it is in; NULL = not known */
	int64_t *at;                     /* by access: its offset in the group */
	bool *met;                       /* by access: it meets one of another group */
	struct rare rare[MOST_RARE];     /* what is taken to be false: then there are more barriers between accesses */
	unsigned nrare;
	uint8_t *dead;                   /* likewise: ways that are not taken; NULL = none */
	const char *quiet;               /* a predicate: it is false */
	const char *named;               /* likewise, and all groups are in their variables; quiet itself if no access is NAMED */
	const struct ws_rw_access *list;
	uint32_t n;
	struct columns { const struct ws_ptx_sym *sym; int64_t step; } columns;  /* with v.multiples: a variable of which some places are known
	                                                                          * modulo a step, so that all are looked at so; NULL: none yet */
	enum { WS_PARTS_NONE, WS_PARTS_OF_UNKNOWN, WS_PARTS_OF_DATA } parts;    /* which accesses are taken to stay in a part of their variable: those of
	                                  * which no more is known than that; also those with numbers that data gives */
	struct phased *phased;           /* the list has some accesses several times, one for each phase; NULL: it is the pass's */
};

struct phased {
	struct phases phases;
	struct ws_steps *steps;          /* while it is being found */
	const struct ws_rw_access *all;  /* of the pass */
	struct ws_rw_access *list;
	uint32_t n, nall, *of, *first;   /* by access of the list: which of the pass it is; by that: its first one */
	uint8_t *phase, *reads;          /* by access: its phase + 1; 0 = it has none. By access of the pass, by instruction: who reads the register */
	uint8_t *turns;                  /* by access of the pass: how often it was turned over since it was read */
	const char *proved;              /* of all accesses with phases, a predicate; NULL: they are not */
};

static inline unsigned ws_shared_most_groups(const struct ws_shared_ranges *g) { return g->phased ? MOST_GROUPS : FEW_GROUPS; }

/* Does an access of that group race with none, wherever in its variable it is? */
static inline bool ws_is_quiet(uint8_t group) { return group == QUIET || group == NAMED; }

/* Is its sum all that says where in its variable it is? */
static inline bool ws_group_has_sum(const struct group *x) { return !x->area && !x->endless && !x->rounds.n; }

/* Does it meet the other group, anywhere or in other warps alone? */
static inline bool ws_group_meets(const struct group *x, unsigned other) { return x->others[other] || x->in_others[other]; }
/* May threads next to each other come to the same bytes of the group, if that is all that is known? */
bool ws_group_is_wide(const struct group *x);
bool ws_sum_of_data(const struct values *v, const struct sum *s);      /* is one of its numbers data, or made of it? */

/* ---- ranges_shared.c ---- */
/* Not what may as well be in global memory. */
bool ws_shared_is_plain(const struct ws_rw_access *a);
/* May two threads race by it and another access of its group, itself included? */
bool ws_shared_meets_own(const struct ws_shared_ranges *g, const struct ws_intervals *v, uint32_t a);
/* The access is of the group, at that offset. */
void ws_shared_take(struct group *x, const struct ws_rw_access *a, int64_t at);
/* May another access, or one that no pass follows, race with it? Only in its variable, while these are known. */
bool ws_shared_meets_any(const struct ws_shared_ranges *g, const struct ws_intervals *v, uint32_t a);

/* ---- ranges_cut.c ---- */
/* Accesses of the group have been given the number of the next one: that is one of its own from now on. */
void ws_shared_part_group(struct ws_shared_ranges *g, unsigned group);
/* The rims of a tile that its first threads load, `if (t < 3) { s[t] = x; s[t + 67] = y; }`: others have what is between. */
void ws_shared_cut(struct ws_shared_ranges *g);
/* Groups of several buffers become one for each, and reads that meet no write of their group one of their own. */
void ws_shared_part_buffers(struct ws_shared_ranges *g, const struct ws_intervals *v);

/* ---- ranges_rank.c ---- */
/* Which proofs come first: those of which more launches hold. */
enum ws_rank { WS_RANK_ASKS_NOTHING, WS_RANK_ASKS_OWN, WS_RANK_ASKS_OTHERS, WS_RANK_HARDLY_EVER, WS_RANK_OF_ONE, WS_RANKS };
enum ws_rank ws_group_rank(const struct values *v, const struct group *x);
/* Does no part of its address tell threads apart, as one word for all, or a place that data gives? Then they are where a block is one thread. */
bool ws_group_is_of_one(const struct values *v, const struct group *x);
/* Do threads next to each other come to the same bytes? Of an index by 4 bytes, and numbers by 4 bytes that each thread has all of. */
bool ws_group_is_crowded(const struct values *v, const struct group *x);
bool ws_group_meets_any(const struct group *x);
/* Is it proved in blocks of one thread alone, or in hardly more launches? */
bool ws_group_is_rare(const struct values *v, const struct group *x);

/* ---- ranges_named.c ---- */
/* Accesses that are in no group yet, of variables that are named, and that meet none in their variable, become NAMED. */
void ws_shared_find_named(struct ws_shared_ranges *g, const struct ws_intervals *v);
bool ws_shared_any_named(const struct ws_shared_ranges *g);

/* ---- ranges_far.c ---- */
/* Of an address with numbers of which it is not known how far they go on; NULL: nor is it here. In the arena. */
struct far *ws_far_find(struct values *v, const struct sum *address, unsigned bytes);
struct far *ws_far_join(struct far *a, struct far *b);       /* of two accesses: a, or NULL */
void ws_far_bounds(struct entry *e, const struct far *f, struct num *lo, struct num *hi);

/* ---- ranges_left_over.c ---- */
/* Does the instruction make the last bits of a number, as many as `most`, which are all 1? */
bool ws_bits_last(const struct ws_ptx_inst *i, int64_t most);
/* Is m, which `made` makes, known not to be n where the other instruction is? */
bool ws_value_is_never(struct values *v, const struct ws_ptx_inst *made, int64_t n, const struct ws_ptx_inst *at);
/* Finds groups of which accesses come less far than by the bounds of what their addresses are made of. */
void ws_shared_find_most(struct ws_shared_ranges *g);
/* Of such a group: how far they come, if that is less than hi, the same without that. */
struct num ws_shared_most(struct entry *e, const struct group *x, struct num hi);

/* ---- ranges_parts.c ---- */
/* Where the part begins to count that the access of a group x is in, if it is taken to stay in one. */
void ws_parts_begin(struct ws_shared_ranges *g, const struct ws_rw_access *a, struct group *x);
bool ws_parts_known(const struct group *x);            /* where they are, or that they have a part */
bool ws_parts_same(const struct group *x, const struct group *y);
void ws_parts_join(struct group *into, const struct group *x);
/* Code for the host: before what is demanded; that the one that has a part is apart from the other one by it; and then what it comes to.
 * false: there are no parts, or too many. */
void ws_parts_open(struct ws_shared_ranges *g, struct entry *e, struct group *x);
void ws_parts_demand(const struct ws_shared_ranges *g, struct entry *e, const struct group *a, const struct group *b);
bool ws_parts_close(struct ws_shared_ranges *g, struct entry *e, struct ws_shared_parts *out);

#endif

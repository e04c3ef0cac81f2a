/* race_priv.h - what the files of the pass `race` share: race.c, and race_async.c for what completes later. */
#ifndef WS_REWRITE_RACE_PRIV_H
#define WS_REWRITE_RACE_PRIV_H

#include "device/race.h"
#include "rewrite/length.h"
#include "rewrite/meeting.h"
#include "rewrite/ranges.h"
#include "rewrite/reach.h"
#include "rewrite/rewrite_priv.h"

struct race {
	struct ws_pass *p;
	struct ws_reach reach;
	bool part;                       /* the module will be linked with others */
	bool prune;                      /* no check where it is proved that there need be none */
	bool range;                      /* plain loads and stores are checked and not made, and what is stored is not known */
	bool alone;                      /* its launches are hardly ever compared with others */
	bool many;                       /* so many checks that none of them is at its place */
	bool probes;                     /* kernels may have probes: there are not many checks, or few kernels */
	bool arrives;                    /* threads arrive at barriers without waiting there */
	bool remote;                     /* operations complete on objects of other blocks, or reduce; or as `tensor` */
	bool tensor;                     /* there are products of warpgroups, or copies of tensors */
	bool clocks;                     /* kernels have clocks: race.c, find_clocks */
	bool splits;                     /* ... at those of the cluster, or release nothing there: none is an epoch */
	uint32_t nsites;                 /* with checks, so far */
};

/* The function that is at work. */
struct body {
	struct race *race;
	struct ws_ptx_func *f;
	bool kernel;                     /* a kernel that is checked */
	bool ordering;                   /* releases and acquires matter, or fences alone */
	bool asks;                       /* some thread may acquire what another one has released */
	bool meets;                      /* the threads that execute it may come to a barrier of their block */
	bool clocks;                     /* a kernel with clocks */
	bool cluster;                    /* it knows of clusters, whose barriers order blocks */
	bool bulk;                       /* there may be bulk copies */
	bool tensor;                     /* ... and products, or copies of tensors */
	bool peers;                      /* generic addresses may be those of another block's shared memory */
	bool prune;                      /* no check where it is proved that there need be none */
	bool copies;                     /* no such proofs, but probes and those that need no order: it has copies by threads */
	enum ws_calls calls;             /* which checks are calls, for there are many */
	bool may_be_silent;              /* there are launches that need no check at all, for their addresses prove that */
	bool unlikely;                   /* the check at hand is one that launches hardly ever make: it is such a call, too */
	const struct ws_needless *needless;      /* by access of its list */
	struct ws_ranges *ranges;        /* NULL = nothing is proved by addresses */
	struct ws_shared_ranges *shared; /* of shared memory, likewise */
	struct ws_shared_parts *parts;   /* by which all of it is proved, where the proofs leave some; NULL = there are none */
	const char *parts_proved;        /* a predicate that the host alone makes true, in place of `proved`: they are; NULL = there are none */
	struct ws_repeats *repeats;      /* of accesses that come to the same bytes again; NULL = there are none */
	struct ws_heard *heard;          /* which accesses release and acquire; NULL = all may */
	struct ws_meetings *meetings;    /* who arrives at an object waits there at once; NULL = not all do, or it has none */
	struct ws_ahead *ahead;          /* of loops that read words side by side; NULL = there are none */
	const char *proved;              /* a predicate of launches in which no access to shared memory needs a check; NULL */
	bool host_knows;                 /* that, for it is the same whatever the program's constants are */
	bool fixed;                      /* launches with the same parameters do the same accesses */
	const char *silent;              /* a predicate of launches in which no hook does anything; NULL = none */
	const char *told;                /* a label behind the proofs, for launches of which the host has made them; NULL = none */
	struct ws_sure *sure;            /* the kernel beside it for launches of which all is true that they are told; NULL = none */
	uint32_t always;                 /* checks that no proof spares */
	const struct ws_rw_access *checked;      /* all up to this one of the list are: by a check of four; NULL = none so far */
	const char *kept;                /* a register for addresses that the access overwrites; NULL = none so far */
	const char *look;                /* likewise for what barriers find; see block_barrier */
	const char *seen[3];             /* registers: what a compare-and-swap has seen before it (race_swap.c); NULL = none so far */
	const char *mark;                /* a register with that of the parameter __warpsafe_launch; NULL = there is none */
	const char *thread;              /* a register with the thread's index in the block; NULL = none so far */
};

/* ---- race.c ---- */
/* Text that lives as long as the module. */
const char *ws_race_number(struct ws_pass *p, uint32_t v);
const char *ws_race_value(struct ws_code *c, const struct ws_operand *o);        /* of a register or a number */
/* Hooks are jumped over in a launch that needs none: a label for behind them, or NULL; and its place (NULL is fine). */
const char *ws_race_unless_silent(const struct body *b, struct ws_code *c);
void ws_race_label(struct ws_code *c, const char *label);
/* A place with one call, and its end; arg may be NULL. false: the pass has failed. */
bool ws_race_call_at(const struct body *b, struct ws_code *c, const char *function, const char *arg);
/* spare.c: chooses what of the runtime the module does without, before any of it is used. alone: its launches are hardly ever compared. */
void ws_race_spare(struct ws_pass *p, const struct ws_reach *reach, bool alone);

/* The check of an access. false: the pass has failed. */
bool ws_race_check(struct body *b, struct ws_code *c, const struct ws_rw_access *a, const char *address, const char *kind,
		   const char *site);
/* What a report says of a site. read: its check stands for this read, too; NULL = for none. */
void ws_race_note_site(struct body *b, const struct ws_rw_access *a, const struct ws_ptx_inst *read, uint32_t site);

/* A register with the thread's index in the block, computed once where the function is entered. */
const char *ws_race_thread(struct body *b);

bool ws_race_may_be_of_peer(const struct body *b, const struct ws_rw_access *a);

/* What a check is told of its access, as in src/device/race.h. update: a write that stands for a read, too. */
uint32_t ws_race_what(const struct body *b, const struct ws_rw_access *a, bool update);

/* ---- race_swap.c ---- */
/* Does the check stand behind the access? Only then it is known whether it writes. */
bool ws_race_checks_behind(const struct body *b, const struct ws_rw_access *a);
/* A compare-and-swap of a lock: its check stands before it all the same. */
bool ws_race_is_lock(const struct body *b, const struct ws_rw_access *a);
struct ws_race_swap { const char *compared[2]; };        /* what it compares with, as it is behind it */
/* Code before it and behind it. false: the pass has failed. */
bool ws_race_before_swap(struct body *b, struct ws_code *c, const struct ws_rw_access *a, const char *address, const char *what,
			 struct ws_race_swap *s);
bool ws_race_behind_swap(struct body *b, struct ws_code *c, const struct ws_rw_access *a, const struct ws_race_swap *s, const char *address,
			 const char *what, const char *site);

/* ---- race_async.c ---- */
/* All lanes of the warp come to the next instruction together. */
void ws_race_bring_together(struct ws_code *c);
/* Hooks at what ws_rw_async says that it is. false: the pass has failed. */
bool ws_race_asynchronous(struct body *b, struct ws_ptx_inst *i);

#endif

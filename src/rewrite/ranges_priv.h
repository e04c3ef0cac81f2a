/* ranges_priv.h - what the files ranges*.c share.
 *
 * The value of a register is known as a sum: a polynomial over leaves, which are parameters, special registers, or
 * registers of which only bounds are known. Sums are over the integers. A register of 32 (64) bits equals its sum
 * modulo 2^32 (2^64): that holds through additions and multiplications, whatever wraps. Where an instruction looks at
 * the number itself (widening, a shift to the right, a comparison) the sum must fit the type: that is a duty, which the
 * code at the entry examines with the bounds of this launch. A launch that does not fulfil it is checked in full. */
#ifndef WS_REWRITE_RANGES_PRIV_H
#define WS_REWRITE_RANGES_PRIV_H

#include "rewrite/ranges.h"

enum { MOST_FACTORS = 4, MOST_TERMS = 24, MOST_BOUNDS = 4, MOST_DEFS = 4 };
#define SUM_FACTOR_LIMIT ((int64_t)1 << 40)      /* factors are less, without their sign */

struct term { int64_t factor; uint32_t n; uint32_t leaf[MOST_FACTORS]; };       /* leaves in rising order */
struct sum { uint32_t n; struct term t[MOST_TERMS]; };         /* terms in rising order of leaves; none with factor 0 */

/* A number that the entry computes, or knows. Its amount is below 2^bits. */
struct num {
	const char *reg;                 /* NULL: k */
	int64_t k;
	unsigned bits;
	bool negative;                   /* may be */
};

enum leaf_kind {
	LEAF_PARAM,                      /* of the kernel: `bytes` at `offset` of `sym` */
	LEAF_CONST,                      /* in constant memory, likewise */
	LEAF_SYMBOL,                     /* address of a variable in global memory */
	LEAF_SPECIAL,
	LEAF_ONE_OF,                     /* a register: one of of[], with bounds */
	LEAF_LOOP,                       /* a register that begins with one of of[] and grows by step; with bounds */
	LEAF_COUNTED,                    /* step for each round of a loop so far: of[0] / by of them, rounded up; k = 1:
	                                  * behind the last step, else before it; offset = 1: behind the loop */
	LEAF_DIGIT,                      /* 0..k - 1, each of them in one thread; offset: of several such digits which; exact: it may be any of
	                                  * them, as data says, and it is not that there is a place for each */
	LEAF_ENDLESS,                    /* any number: steps that a register may have gone on by (ranges_endless.c); k = 1: 0 or more; offset = 1: data; 2: what
	                                  * data chooses, less than MOST_CHOSEN (ranges_chosen.c) */
	LEAF_STRIDED,                    /* of[0] and a number of steps more (ranges_strided.c): as many as come to the greatest of its
	                                  * bounds, or of of[0], and k + by more */
	LEAF_MASKED,                     /* 0..k, and nothing else is known of it; fixed: of[0] & k */
	LEAF_SHIFTED,                    /* of[0] >> k */
	LEAF_POWER,                      /* 1 << of[0], which is fixed */
	LEAF_QUOTIENT,                   /* of[0] / step, rounded down; k: step is a power of 2 */
	LEAF_REMAINDER,                  /* of[0] - step * quotient */
	LEAF_LEAST, LEAF_GREATEST        /* of of[0] and of[1] */
};

struct bound {                           /* value <= than + slack (upper), or >= */
	bool upper;
	bool equal;                      /* value == than, and nothing else of this */
	bool differs;                    /* with equal: value != than */
	int64_t slack;
	enum ws_type type;               /* of the comparison */
	const struct ws_operand *other;  /* what was compared with: a register or a number */
	const struct sum *than;          /* its value; the same for all */
};

struct leaf {
	enum leaf_kind kind;
	const struct ws_ptx_sym *sym;
	int64_t offset, k;
	unsigned bytes;
	enum ws_sreg special;
	const struct ws_reg *reg;
	const struct sum *of[MOST_DEFS], *step;
	unsigned nof;
	int64_t by;
	bool loose;                      /* strided: values may be above its bounds, for some register does not keep to them (ranges_left_first.c) */
	bool exact;                      /* of[0] is divided by `by`, and 0 if the loop is not entered */
	struct bound bounds[MOST_BOUNDS];
	unsigned nbounds;
	bool fixed;                      /* one number in the whole launch */
	bool in_time;                    /* may differ from time to time in one thread */
	/* at the entry: */
	bool emitted, not_negative;
	struct num lo, hi;
};

struct duty { const struct sum *sum; int64_t least, most, by; bool power; const struct sum *unless; };
/* by: 0, or a power of 2 that divides the sum, unless another sum is 0; power: the sum is a power of 2 */

struct defs { uint32_t n; const struct ws_ptx_inst *at[MOST_DEFS]; };

/* A register that begins with number[0], and is turned over to the next one each time; or counts: goes on by `step`, and is looked at by what is
 * left of the number of steps divided by n. */
enum { MOST_PHASES = 4, MOST_TURNING = 3 };
struct phases {
	const struct ws_reg *regs[MOST_TURNING];         /* the others are turned over whenever the first one is */
	unsigned nregs, n;
	bool counts;
	int64_t number[MOST_TURNING][MOST_PHASES], step;
};

struct fact;                             /* see ranges_facts.c */
struct entry;

struct values {
	struct ws_ptx_func *f;
	struct ws_arena *arena;
	struct defs *defs;               /* by register */
	uint32_t *first_set, *sets;      /* sets[first_set[register]], to before that of the next one: the instructions that set it, in order */
	uint64_t **reached;              /* by block: what it reaches, a bit for each block; NULL: not asked yet */
	uint32_t *busy;                  /* by register: the depth in which it is being looked at, from 2 on; 1: elsewhere; 0: it is not */
	bool *strided;                   /* by register: its steps are in the bound of its leaf */
	uint32_t *first_compare, *next_compare;  /* by register, by 2 * instruction + side; UINT32_MAX ends */
	uint32_t *first_add, *next_add;  /* by register, by instruction: sums of it and a number that are compared; UINT32_MAX ends */
	struct within {                  /* by register: what ws_value_left_first says */
		int64_t steps;
		uint32_t first, before, loop;
		struct bound below;      /* of the register, as `compare` says; NULL: of another one */
		const struct ws_ptx_inst *compare;
		bool known;
	} *within;
	const struct ws_reg *stepper;    /* the strided register that the address has been found to be made of; NULL: none, or `steppers` */
	bool steppers;                   /* several, or others that are made of one */
	uint32_t *first_same, *next_same;        /* by register, by instruction: what makes others that are the same number; UINT32_MAX ends */
	/* By register: the first that is made of the same in the same way; the first of these that is compared; the next one. UINT32_MAX ends. */
	uint32_t *congruent, *first_congruent, *next_congruent;
	struct leaf *leaves;
	size_t nleaves, leaves_cap;
	struct duty *duties;
	size_t nduties, duties_cap;
	struct fact *facts;
	size_t nfacts, facts_cap;
	const struct sum **kept;         /* by ws_value_keep */
	size_t nkept, kept_room;
	uint32_t steps, depth;           /* steps left: what takes longer is not known */
	uint64_t *unknown;               /* by register with one definition: for which address, and in which block, it was not known; see ranges_value.c */
	uint32_t asked, cut;             /* addresses so far; the least depth of a register that was not looked at again, 0: none could be, for it was too deep */
	bool asking;                     /* an address is looked at */
	const struct ws_ptx_inst *access;        /* of which the address is looked at */
	struct ws_steps *in_step;        /* registers that go on in step are seen as that alone; NULL: none */
	const struct phases *phases;     /* a register that has one of a few numbers (ranges_phases.c); NULL: none */
	unsigned phase;                  /* which */
	const struct ws_ptx_inst *const *only;   /* ws_only_sets, with phases */
	const uint8_t *reads;            /* by instruction: where it reads the register it is that; NULL: nowhere */
	bool shared;                     /* addresses are of 32 or 64 bits, in shared memory; else of 64, in global memory */
	bool wide;                       /* ... and that which is looked at is of 64 */
	bool multiples, has_multiples;   /* see ws_value_multiple; there was something for it to say */
};

/* ---- ranges_kept.c ---- */
/* A copy of the sum, the same one for equal sums. */
const struct sum *ws_value_keep(struct values *v, const struct sum *s);

/* ---- ranges_fold.c ---- */
void ws_sum_fold_bounded(struct values *v, struct sum *s);

/* ---- ranges_congruent.c ---- */
void ws_values_find_congruent(struct values *v);

/* ---- ranges_value.c ---- */
void ws_values_init(struct values *v, struct ws_ptx_func *f);
void ws_values_free(struct values *v);
/* The address that an access has; false: not known. */
bool ws_values_address(struct values *v, const struct ws_rw_access *a, struct sum *out);
bool ws_sum_equal(const struct sum *a, const struct sum *b);
bool ws_sum_add(struct sum *a, const struct sum *b, int64_t times);
bool ws_sum_add_product(struct sum *s, const struct sum *a, const struct sum *b);
bool ws_sum_fixed(const struct values *v, const struct sum *s);
bool ws_sum_in_time(const struct values *v, const struct sum *s);      /* may it differ from time to time in a thread? */
bool ws_sum_never_negative(const struct values *v, const struct sum *s);
struct sum ws_sum_of_leaf(uint32_t leaf);
/* The sum with what `by` gives in place of each leaf; false: too long, or `by` says so. out is not s. */
bool ws_sum_substitute(const struct sum *s, bool (*by)(void *user, uint32_t leaf, struct sum *out), void *user, struct sum *out);
/* Registers of which there are bounds become what they are computed from; false: too long. */
bool ws_sum_flatten(const struct values *v, const struct sum *s, struct sum *out);
/* Likewise those that differ from time to time, at whatever time. */
bool ws_sum_flatten_ever(const struct values *v, const struct sum *s, struct sum *out);
bool ws_leaf_is_pointer(const struct leaf *l);         /* may it hold an address? */
bool ws_term_is_pointer(const struct values *v, const struct term *t);         /* ... and is it taken as one? Not where it is multiplied: `size_t pitch` */
/* The constant of a sum; it is 0 in *s afterwards. */
int64_t ws_sum_take_constant(struct sum *s);
bool ws_sum_number(struct sum *s, int64_t k);       /* *s is k; returns true */
bool ws_sum_is_number(const struct sum *s, int64_t *k);        /* *k is its constant in any case */
bool ws_term_same_leaves(const struct term *a, const struct term *b);

/* Offsets that one thread has in a group, one after the other; more than MOST_OFFSETS: no longer noted. */
enum { MOST_OFFSETS = 32 };
struct offsets { int64_t at[MOST_OFFSETS]; unsigned n; };
void ws_offsets_add(struct offsets *o, int64_t at);
void ws_offsets_join(struct offsets *o, const struct offsets *more);
/* If they are in equal distances of `bytes` at least, or such rows are, they become digits of the sum, and *last the end of the first. */
void ws_offsets_spread(struct values *v, const struct offsets *o, int64_t bytes, struct sum *s, int64_t *last);
/* Numbers of which nothing but the number of bits is known become digits, which each thread has all of. */
bool ws_sum_of_any(struct values *v, const struct sum *s, struct sum *out);
/* s becomes s + digit * step, for `count` digits; false: s may be anything. */
bool ws_sum_spread(struct values *v, struct sum *s, const struct sum *step, uint32_t count);
bool ws_value_leaf(struct values *v, const struct leaf *l, struct sum *out);
/* Is the register being looked at? What is found then may be another thing elsewhere: notes how far out that is. */
bool ws_value_is_busy(struct values *v, const struct ws_reg *r);
/* What r is where `at` reads it. */
bool ws_value_register(struct values *v, const struct ws_reg *r, const struct ws_ptx_inst *at, struct sum *out);
/* What an instruction gives, and what its operand is; bytes: how wide it reads it. */
bool ws_value_result(struct values *v, const struct ws_ptx_inst *i, struct sum *out);
bool ws_value_operand(struct values *v, const struct ws_operand *o, unsigned bytes, const struct ws_ptx_inst *at,
                      struct sum *out);
/* *out, r as it begins: with the bounds that it has when `at` reads it. */
bool ws_value_with_bounds(struct values *v, const struct ws_reg *r, const struct ws_ptx_inst *at, struct sum *out);
/* The instruction that alone gives the operand, a register, its value, under no condition; NULL: there is none. */
const struct ws_ptx_inst *ws_value_only_def(const struct values *v, const struct ws_operand *o);
/* Is the block a loop of its own, to which one other block leads? */
bool ws_value_block_loops(const struct values *v, uint32_t block, uint32_t *before);
/* Is it a register of 4 bytes? */
static inline bool ws_operand_is_word(const struct ws_operand *o)
{
	return o->kind == WS_O_REG && !o->component && !o->negated && o->reg->vec == 1 && ws_type_bytes(o->reg->type) == 4;
}
/* Are both one register, or one number? */
bool ws_value_same_operand(const struct ws_operand *a, const struct ws_operand *b);
/* What the instruction adds to r itself; NULL: it does something else. */
const struct ws_operand *ws_value_added(const struct ws_ptx_inst *i, const struct ws_reg *r);
/* Adds to l the bounds that r has when `at` reads it; an upper one of them, or NULL. */
const struct bound *ws_value_upper_bound(struct values *v, const struct ws_reg *r, const struct ws_ptx_inst *at,
					 struct leaf *l);
void ws_value_duty(struct values *v, const struct sum *s, int64_t least, int64_t most);
bool ws_value_duty_divides(struct values *v, const struct sum *s, int64_t by);        /* false: no power of 2 */
void ws_value_duty_power(struct values *v, const struct sum *s);      /* and from 1 to 2^31 - 1 */
void ws_value_must_fit(struct values *v, const struct sum *s, enum ws_type t);

/* ---- ranges_phases.c ---- */
/* The phases of a register that goes on in step (in_step.c). way: 0 = as it is turned over; 2 to MOST_PHASES = as its steps are counted modulo that. */
bool ws_phases_find(const struct values *v, struct ws_steps *s, const struct ws_reg *r, unsigned way, struct phases *out);
/* Is the address of an access made of the register, as it is there? *reads, by instruction: who reads it for that. */
bool ws_phases_read(struct values *v, struct ws_steps *steps, const struct phases *p, const struct ws_rw_access *a, uint8_t *reads, uint8_t *turns);
bool ws_value_in_phase(struct values *v, const struct ws_reg *r, struct sum *out);
/* What an instruction makes of them alone. */
bool ws_value_made_in_phase(struct values *v, const struct ws_ptx_inst *i, struct sum *out);

/* ---- ranges_bits.c ---- */
/* What and, or, bfi, shl and shr give; bytes: of the operands. */
bool ws_bits_masked(struct values *v, const struct ws_ptx_inst *i, unsigned bytes, struct sum *out);
bool ws_bits_joined(struct values *v, const struct ws_ptx_inst *i, unsigned bytes, struct sum *out);
bool ws_bits_inserted(struct values *v, const struct ws_ptx_inst *i, unsigned bytes, struct sum *out);
bool ws_bits_shifted(struct values *v, const struct ws_ptx_inst *i, unsigned bytes, struct sum *out);
/* 0, or any number of the bits of k that the register may hold. */
bool ws_bits_any(struct values *v, const struct ws_reg *r, int64_t k, struct sum *out);

/* ---- ranges_select.c ---- */
/* What selp gives. */
bool ws_value_selected(struct values *v, const struct ws_ptx_inst *i, unsigned bytes, struct sum *out);
/* What min or max gives of a number that is not known, and that the other one has kept within a limit. */
bool ws_value_limited(struct values *v, const struct ws_ptx_inst *i, unsigned bytes, struct sum *out);

/* ---- ranges_chosen.c ---- */
#define MOST_CHOSEN ((int64_t)1 << 20)
/* One of several numbers that are not negative, as data says. In an address in shared memory. */
bool ws_value_chosen(struct values *v, const struct ws_reg *r, struct sum *out);

/* ---- ranges_split.c ---- */
/* x / s, rounded down, and what is left; that s is 1 or more is the caller's duty. power: s is a power of 2. */
bool ws_split_quotient(struct values *v, const struct sum *x, const struct sum *s, bool power, struct sum *out);
bool ws_split_remainder(struct values *v, const struct sum *x, const struct sum *s, bool power, struct sum *out);
bool ws_split_pair(const struct leaf *a, const struct leaf *b);        /* quotient and remainder of the same */
/* How often x is in s, as far as one of its leaves tells: *out is one number of the launch. */
bool ws_split_multiple(struct values *v, const struct sum *s, const struct sum *x, struct sum *out);
/* x in a sum with a part of it becomes both parts. */
void ws_split_replace(struct values *v, struct sum *s);
void ws_split_bounds(struct entry *e, struct leaf *l);
/* The greatest of a remainder by `by`, a power of 2: if all that it is of have one quotient, it is less than by - 1. */
struct num ws_split_most(struct entry *e, const struct leaf *l, int64_t by);

/* ---- ranges_product.c ---- */
/* A division by a number, of which a compiler has made a product: what its last instruction, an addition or a shift, gives. In shared memory. */
bool ws_value_divided_by_product(struct values *v, const struct ws_ptx_inst *i, struct sum *out);

/* ---- ranges_loop.c ---- */
/* The value that r has before `at`, if it goes on by a step in a loop of which the rounds are known. */
/* How often a block that is a loop of its own is executed in a row at most, by its counter that goes down to 0; 0: not known. */
int64_t ws_value_most_rounds(struct values *v, uint32_t block);
bool ws_value_in_loop(struct values *v, const struct ws_reg *r, const struct ws_ptx_inst *at, struct sum *out);

/* ---- ranges_unrolled.c ---- */
/* s = *by * leaf + *rest; false: the leaf stands in it otherwise. */
bool ws_sum_take_leaf(const struct sum *s, uint32_t leaf, struct sum *by, struct sum *rest);
/* n & (u - 1), if the span is n less that; NULL: it is not. */
const struct leaf *ws_value_left_over(const struct values *v, const struct sum *span, int64_t u);
/* A sum in one of the two loops that a compiler made of one becomes what it is in that one: more, if anything. */
void ws_sum_rejoin(struct values *v, struct sum *s);

/* ---- ranges_cycle.c ---- */
/* Likewise, if it is one of several registers that go on by a step. */
bool ws_value_in_cycle(struct values *v, const struct ws_reg *r, const struct ws_ptx_inst *at, struct sum *out);

/* ---- ranges_counted.c ---- */
/* Likewise, if it goes on by a step in a block that is executed a known number of times. */
bool ws_value_counted(struct values *v, const struct ws_reg *r, struct sum *out);

/* ---- ranges_left_first.c ---- */
/* Is all that reads r once it has gone on, by steps of one number, below what the loop compares it with, and that many steps further on in the block out->loop? r may also be what
 * that block has in its place. 0: it is not known. In the blocks out->first and `before` it is below as well, though it has not. */
int64_t ws_value_left_first(struct values *v, const struct ws_reg *r, struct within *out);

/* ---- ranges_together.c ---- */
/* The sum of a register that goes on in a loop and what was made of another one before it, as that one is now; false: it is no such sum. */
bool ws_value_together(struct values *v, const struct ws_ptx_inst *i, unsigned bytes, struct sum *out);
/* Likewise a register that begins with what was made of the other one. */
bool ws_value_goes_with(struct values *v, const struct ws_reg *r, const struct ws_ptx_inst *at, struct sum *out);

/* ---- ranges_endless.c ---- */
/* Likewise, if all that is known is that it goes on by steps. */
bool ws_value_endless(struct values *v, const struct ws_reg *r, const struct ws_ptx_inst *at, struct sum *out);
/* What the instruction makes of a number of 32 bits of which nothing is known: so many times that, with v->multiples any number of steps as wide as the power of 2 in it. A stack, or counts,
 * of a thread each, in columns, has them. */
bool ws_value_multiple(struct values *v, const struct ws_ptx_inst *i, int64_t times, struct sum *out);
/* What the instruction adds to r: itself, or as a copy of what the sum of both was set to before it, since when r has not been set. NULL: nothing. */
const struct ws_operand *ws_value_added_or_copied(const struct values *v, const struct ws_ptx_inst *i, const struct ws_reg *r);
/* May an instruction that adds to r be executed before this one? */
bool ws_value_has_gone_on(const struct values *v, const struct ws_reg *r, const struct ws_ptx_inst *at);
/* What divides all of its steps, if it only goes up; 0: it does not, or by a register. */
int64_t ws_endless_step(const struct values *v, const struct ws_reg *r);
bool ws_value_reads(const struct ws_ptx_inst *i, const struct ws_reg *r);
/* The comparison by which a block ends in a branch, and whether it is true on the way to `next`; NULL: there is none. */
const struct ws_ptx_inst *ws_value_decides(const struct values *v, uint32_t block, uint32_t next, bool *truth);
/* Does all that reads the register keep to its bounds (ranges_left_first.c)? */
bool ws_value_keeps_within(struct values *v, const struct ws_reg *r);
/* Likewise, is it so bounded where the instruction reads it? Elsewhere it has not gone on, and is what it begins with. */
bool ws_value_is_within(struct values *v, const struct ws_reg *r, const struct ws_ptx_inst *at);
bool ws_value_strided(struct values *v, const struct ws_reg *r, struct sum *out);
/* Without steps that its strided leaf may have made as well. */
void ws_sum_without_steps(struct values *v, struct sum *s);
/* Takes such steps out of a sum. */
void ws_sum_take_endless(const struct values *v, struct sum *s, struct sum *steps);
/* Takes out what is whole steps, whatever its leaves are. */
void ws_sum_drop_steps(struct sum *s, int64_t step);
/* What they are multiples of; 0: there are none. */
int64_t ws_sum_of_steps(const struct values *v, const struct sum *steps);
int64_t ws_sum_divisor(const struct sum *s);           /* that all factors are multiples of; 0: there are none */
int64_t ws_greatest_divisor(int64_t a, int64_t b);     /* of both, without a sign; 0 is a multiple of any */
/* Without steps that go up alone, in shared memory. */
void ws_sum_without_up(const struct values *v, struct sum *s);
/* Takes those that are multiples of `by` out of it, and a number: s is what is left, and by * times; false: there are none. */
bool ws_sum_take_up(const struct values *v, struct sum *s, int64_t by, struct sum *times);

/* ---- ranges_in_step.c ---- */
/* Are all registers of `rounds`, a sum of steps that the access's address has, as they are there, and do they go on in step? */
bool ws_in_step_address(struct values *v, const struct ws_rw_access *a, const struct sum *rounds);
/* Are they the same in two threads wherever one is at access a and the other one at b, both of such addresses, in an interval? */
bool ws_in_step_same(struct values *v, const struct sum *rounds, uint32_t a, uint32_t b);
/* Are so many bytes at `at` from one value of a sum of which all values are apart by multiples of `distance`, and `other_bytes` at `other` from another one, others? */
bool ws_in_step_apart(int64_t distance, int64_t at, int64_t bytes, int64_t other, int64_t other_bytes);

/* ---- ranges_last.c ---- */
/* Adds to l the bounds that r, which has one value in a thread, has where the access is executed, by what held in the last round of a
 * loop. */
void ws_bounds_of_last_round(struct values *v, const struct ws_reg *r, const struct ws_ptx_inst *access, struct leaf *leaf);

/* ---- ranges_facts.c ---- */
/* What the comparison says of r when it gives `truth`, but for `than`; false: nothing. */
bool ws_bound_by(const struct ws_ptx_inst *compare, const struct ws_reg *r, bool truth, struct bound *b);
/* Likewise, that r is equal to a number, or to another register. */
bool ws_equal_by(const struct ws_ptx_inst *compare, const struct ws_reg *r, bool truth, struct bound *b);
/* *last is the last number that the bound allows, if it is one of 32 bits; false: it is not. */
bool ws_bound_last(const struct bound *b, int64_t *last);
bool ws_bound_same(const struct bound *a, const struct bound *b);
/* ws_sets_between (needless.h), for it is asked often. */
bool ws_value_set_between(const struct values *v, uint32_t first, uint32_t last, const struct ws_reg *r);
/* ws_ptx_block_reaches with nothing closed: of a block that was asked once all is known. */
bool ws_value_block_reaches(const struct values *v, uint32_t from, uint32_t to);
/* Is it in no loop? */
bool ws_is_made_once(const struct values *v, const struct ws_ptx_inst *i);
/* May the first be executed before the second? */
bool ws_comes_before(const struct values *v, const struct ws_ptx_inst *a, const struct ws_ptx_inst *b);
/* Has a comparison found that the value that r has before instruction `at` is so bounded? constant: r has one value in
 * a thread, so that whenever it did counts. */
bool ws_fact_holds(struct values *v, const struct bound *b, const struct ws_reg *r, bool constant,
                   const struct ws_ptx_inst *at);

/* The special register that the instruction copies; NULL: it does something else. */
const struct ws_operand *ws_special_moved(const struct ws_ptx_inst *i);
/* The special register that r is a copy of at the instruction, whatever way led there; NULL: it is none. Compilers go on by such a register in the last loop. */
const struct ws_operand *ws_special_at(const struct values *v, const struct ws_reg *r, const struct ws_ptx_inst *i);
/* Is what all comparisons that say this of r have seen the special register? Compilers have one register for `if (threadIdx.x < 16)` and for the index of a
 * loop behind it. */
bool ws_bound_of_special(const struct values *v, const struct ws_reg *r, const struct ws_operand *special, const struct bound *b);

/* ---- ranges_pin.c ---- */
enum { MOST_PINS = 4 };
struct pins { struct sum zero[MOST_PINS]; unsigned n; };       /* sums that are 0 in whoever comes to an access */
/* What sets r to the coordinate that it holds wherever it is compared for being equal, though a loop goes on with it behind that: `if (i == 0)`
 * before `for (; i < n; i += step)`, for which compilers have one register with threadIdx.x. NULL: not known. */
const struct ws_ptx_inst *ws_pins_coordinate(const struct values *v, const struct ws_reg *r);
/* What the operand of a comparison for being equal is. */
bool ws_pins_operand(struct values *v, const struct ws_operand *o, unsigned bytes, const struct ws_ptx_inst *at, struct sum *out);
void ws_pins_find(struct values *v, const struct ws_rw_access *a, struct pins *out);
/* Those of both. */
void ws_pins_intersect(struct pins *p, const struct pins *other);
/* Is a address plus *offset the other one where the pins hold? */
bool ws_pins_same(struct values *v, const struct pins *p, const struct sum *one, const struct sum *other, int64_t *offset);
/* The part that makes a pair with this one is pinned to one number of the launch. */
/* A lane of the warp, where rows of threads are whole warps. */
bool ws_pins_have_lane(const struct values *v, const struct pins *p);
/* The sum that says which warp alone comes there, where a block has one row of threads: threadIdx.x / 32 or threadIdx.x less a number; NULL: several may. */
const struct sum *ws_pins_warp(struct values *v, const struct pins *p);
bool ws_pins_have_pair(const struct values *v, const struct pins *p, const struct leaf *l);

/* ---- ranges_shared.c, for probe_aside.c ---- */
/* An access with a check that is not known to be one of global memory. */
bool ws_shared_is(const struct ws_rw_access *a);
/* May threads of a block race by such accesses, if they touch the same bytes? */
bool ws_shared_may_race(const struct ws_rw_access *a, const struct ws_rw_access *b);
/* The variable that an access by name of shared memory is in; *sym NULL: one of unknown size. false: not known. */
bool ws_shared_variable(struct values *v, const struct ws_rw_access *a, const struct ws_ptx_sym **sym);

/* ---- ranges_rare.c ---- */
enum { MOST_RARE = 8 };
struct rare { uint32_t leaf; int64_t k; };       /* "leaf == k", the same in the whole launch */
/* Conditions of that kind that some accesses need; of each access whether it needs one. Returns how many conditions. */
unsigned ws_rare_find(struct values *v, const struct ws_rw_access *list, uint32_t n, bool *needs, struct rare *out);

/* Adds to them what branches need: ways that are not taken where the conditions are false, as in needless.h. */
unsigned ws_rare_ways(struct values *v, uint8_t *dead, struct rare *out, unsigned found);

/* ---- ranges_final.c ---- */
struct ws_final {                        /* one thread of each block adds one to a counter, and who finds all others goes on */
	const struct ws_ptx_inst *arrives;       /* NULL: there is no such thing */
	struct sum counter;              /* its address: a leaf, that is `base`, and a number */
	uint32_t base;
	int64_t offset;
	struct sum blocks;               /* what the last one finds */
	bool inc;                        /* atomicInc, which begins again behind `limit` */
	struct sum limit;
	struct pins pins;                /* of the thread that arrives */
	uint8_t *one, *before, *behind;  /* accesses, by instruction: by that thread; before it arrives; by the last block, behind that */
};
/* between: as ws_intervals_find has it, or NULL. The result ends with ws_final_free, also if there is none. */
bool ws_final_find(struct values *v, const struct ws_rw_access *list, uint32_t n, const struct ws_intervals *between,
		   const uint8_t *dead, struct ws_final *out);
void ws_final_free(struct ws_final *l);
/* ok becomes false unless one thread of each block arrives, and the last one finds as many others as there are. */
void ws_final_demand(struct entry *e, const struct ws_final *l);
/* Code for a predicate: the counter was 0 when the launch began; NULL: there is no such function. */
const char *ws_final_starts_at_zero(struct ws_code *c, const struct leaf *counter, int64_t offset);

/* ---- ranges_entry.c: code at the entry ---- */
struct known { struct sum sum; struct num lo, hi; };

enum { MOST_PARTS = 16 };
struct entry {
	struct values *v;
	struct ws_code *c;
	const char *ok;                  /* predicate: what is assumed holds in this launch */
	const struct pins *pins;         /* of the threads that are to be apart; NULL = none */
	uint32_t parts[MOST_PARTS];      /* leaves that are parts of numbers, and the same in threads that are not apart so far */
	unsigned nparts;
	struct known *known;             /* computed already; the caller frees it */
	size_t nknown, known_cap;
};
/* ok becomes false where the condition is true. */
void ws_entry_unless(struct entry *e, const struct rare *r);
void ws_entry_duties(struct entry *e, size_t from, size_t to);
void ws_entry_bounds(struct entry *e, const struct sum *s, struct num *lo, struct num *hi);
const char *ws_entry_text(struct entry *e, const struct num *n);
const char *ws_entry_register(struct entry *e, const struct num *n);    /* a new one */
struct num ws_entry_number(int64_t k);
struct num ws_entry_made(struct entry *e, const char *op, struct num a, struct num b);       /* no larger than a */
/* What is computed between the two relies on what e->ok holds then, and nothing that is computed later uses it. */
struct ws_entry_mark *ws_entry_mark(const struct entry *e);
void ws_entry_forget(struct entry *e, struct ws_entry_mark *mark);     /* frees it */
/* If the predicate is true, the first, else the second. */
struct num ws_entry_either(struct entry *e, const char *is, struct num a, struct num b);
struct num ws_entry_add(struct entry *e, struct num a, struct num b);
struct num ws_entry_choose(struct entry *e, const char *op, struct num a, struct num b);     /* min.s64: the lesser one; max.s64: the greater one */
struct num ws_entry_times(struct entry *e, struct num n, int64_t k);
struct num ws_entry_clamp(struct entry *e, struct num n, int64_t least, int64_t most);
/* ---- ranges.c ---- */
bool ws_ranges_may_be_global(const struct ws_rw_access *a);
/* Does the address in r come from one in shared or local memory? Then it is there. */
bool ws_ranges_not_global(const struct values *v, const struct ws_reg *r);
bool ws_ranges_in_shared(const struct values *v, const struct ws_reg *r);      /* a generic address */

/* ---- ranges_area.c ---- */
enum { MOST_BASES = 4 };
struct bases { uint32_t leaf[MOST_BASES]; unsigned n; };       /* leaves that are pointers */
/* The pointers that an access's address is counted from, by numbers of any kind; false: not known. */
bool ws_area_bases(struct values *v, const struct ws_rw_access *a, struct bases *out);
bool ws_area_is_table(struct values *v, const struct ws_rw_access *a);
/* Has a function nothing that gets a hook or a check? */
bool ws_area_does_nothing(struct ws_ptx_func *f);
/* Does the kernel call nothing else? */
bool ws_area_calls_nothing(const struct ws_reach *reach, const struct ws_rw_kernel *k);
/* The bytes of the allocation, or variable, that the leaf points into; ok becomes false where that is not known. */
void ws_area_bounds(struct entry *e, uint32_t leaf, struct num *lo, struct num *hi);

/* ---- ranges_entry.c, threads apart ---- */
/* A number of which each thread has all: it tells no threads apart. */
bool ws_leaf_each_has_all(const struct leaf *l);
/* Is the leaf that part of threadIdx.x by the size of a warp: LEAF_QUOTIENT, the warp in its row, or LEAF_REMAINDER, the lane? */
bool ws_leaf_is_of_warp(const struct values *v, const struct leaf *l, enum leaf_kind part);
/* May threads be apart from each other by such addresses, if the launch is right? */
bool ws_can_be_apart(const struct values *v, const struct sum *s);
/* ok becomes false unless any two threads of which the pins hold have addresses that are `extent` bytes apart or more, wherever in
 * its row each is. */
void ws_entry_rows_apart(struct entry *e, const struct sum *s, const struct sum *row, int64_t extent, const struct pins *pins);
/* The same for any two threads of a block. */
void ws_entry_apart_in_block(struct entry *e, const struct sum *s, int64_t extent, const struct pins *pins);
/* What a sum has of the block's index, and the rest; false: too long. */
bool ws_split_by_block(const struct values *v, const struct sum *s, struct sum *block, struct sum *rest);
struct stretch { const struct sum *sum; int64_t first, last; };        /* the bytes from sum + first to before sum + last */
/* `apart` becomes true if no thread has bytes of a, or of b, that another thread of its block has of either. Of two of one sum. */
void ws_entry_or_threads_apart(struct entry *e, const struct stretch *a, const struct stretch *b, const char *apart);
/* `apart` becomes true if no thread has bytes of a that a thread of another block has of b. */
void ws_entry_or_blocks_apart(struct entry *e, const struct stretch *a, const struct stretch *b, const char *apart);
/* ... unless it has, if both are lanes of one warp. */
void ws_entry_or_warps_apart(struct entry *e, const struct stretch *a, const struct stretch *b, const char *apart);
/* `is` becomes true if a block has one row of threads. */
void ws_entry_or_one_row(struct entry *e, const char *is);

/* ---- ranges_fields.c ---- */
/* How many of the lowest bits of a number the parts and pins of e tell, of which `part` is one; 64: all. *of: the number. That takes that
 * what *m lists are multiples of numbers, powers of 2. */
struct multiples { unsigned n; struct { struct sum sum; int64_t by; } of[MOST_PARTS]; };
unsigned ws_fields_cover(const struct entry *e, const struct leaf *part, struct sum *of, struct multiples *m);

/* ---- ranges_rows.c ---- */
/* `disjoint` becomes true if two stretches, counted from one address, do not meet for one of these reasons. */
void ws_rows_or_side_by_side(struct entry *e, const struct stretch *a, const struct stretch *b, const char *disjoint);
void ws_rows_or_on_diagonal(struct entry *e, const struct stretch *a, const struct stretch *b, const char *disjoint);

#endif

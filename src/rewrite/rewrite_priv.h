/* rewrite_priv.h - what the files of src/rewrite share and nobody else sees. */
#ifndef WS_REWRITE_PRIV_H
#define WS_REWRITE_PRIV_H

#include "device/race.h"
#include "rewrite/rewrite.h"

enum { WS_RW_TYPES = WS_T_OTHER };

struct ws_rw_registers {                 /* ours in one function, by type */
	uint32_t kept[WS_RW_TYPES];
	uint32_t temps[WS_RW_TYPES];     /* the most that were in use at once */
	const bool *carry;               /* by instruction: at it or behind it the carry flag is read before it is written; NULL = nowhere */
	bool carry_known;
};

struct ws_rw_symbols {                   /* of the runtime, that were added to the module */
	const struct ws_ptx_sym **list;
	size_t n, cap;
};

/* "The constant is not k": what an entry's code examines and the host cannot, for it does not know constant memory. */
struct ws_rw_unless { const struct ws_ptx_sym *sym; int64_t offset, k; unsigned bytes; };
enum { WS_RW_MOST_UNLESS = 16 };

struct ws_pass {
	struct ws_ptx_module *m;
	const struct ws_sink *sink;
	bool failed;
	uint32_t version, sm;            /* needed */
	uint32_t first;                  /* where text at module scope goes */
	struct ws_rw_registers *regs;    /* by sym->index of the function */
	uint32_t labels;                 /* made so far */
	struct ws_ptx_module *runtime;   /* given back at the end (ws_rw_runtime_back), with the text it was parsed from */
	const char *runtime_ptx;
	struct ws_rw_symbols added;
	const char *const *left_out;     /* functions of the runtime that give 0 at once (ws_rw_leave_out) */
	unsigned nleft_out;
	struct ws_rw_result result;
	const struct ws_tm_settings *tm; /* NULL: the defaults */
	/* What the entry of the function at hand decides, for the host (ws_code_tell), and what it leaves out. */
	struct ws_buf decides;
	struct ws_rw_unless unless[WS_RW_MOST_UNLESS];
	/* Registers that hold what it has decided: the same in all threads of a launch (ws_rw_of_launch). */
	const char *truths[WS_RACE_MOST_TRUTHS], *values[WS_RACE_MOST_VALUES];
	unsigned ntruths, nvalues;       /* may be more than there is room for */
	uint64_t rare;                   /* truths that hardly any launch has (ws_rw_holds_rarely) */
	uint64_t of_shared;              /* truths of shared memory */
	/* A predicate of its launches with which no other may overlap, so that proofs for one launch will do; NULL = all are. */
	const char *alone;
	struct ws_sure *sure;            /* further kernels that are to be written (sure.h); NULL = none */
	unsigned nunless;                /* more than there is room for: the host can decide nothing */
	struct ws_rw_site *sites;
	size_t nsites, sites_cap;
};

struct ws_code {
	struct ws_pass *p;
	struct ws_ptx_func *f;
	struct ws_ptx_inst *inst;        /* NULL: at the function's entry */
	enum ws_side side;
	bool first;                      /* at the entry: before all other code there */
	const struct ws_reg *guard;      /* NULL = none */
	bool guard_neg;
	struct ws_buf text;              /* lines */
	struct ws_buf host;              /* likewise, as the host is told them */
	bool device_only;                /* lines are none for the host */
	bool for_host;                   /* all of it is for the host alone */
	unsigned lines;
	bool flat;                       /* each line is an instruction that takes a guard */
	uint32_t used[WS_RW_TYPES];      /* temporary registers */
};

/* Order of edits at one place. */
enum { RANK_DECLARE, RANK_AFTER, RANK_REGISTERS, RANK_SHARED, RANK_FIRST, RANK_ENTRY, RANK_BEFORE, RANK_REPLACE, RANK_COPY };

/* The begin and end of every pass (edit.c). */
struct ws_pass *ws_rw_begin(struct ws_ptx_module *m, const struct ws_sink *sink);
bool ws_rw_end(struct ws_pass *p);       /* true: all went well */

/* Puts a copy of code there, and frees it. A module may have bytes of 0, in comments; they become blanks, for an edit ends with one. */
void ws_rw_put_copy(struct ws_pass *p, size_t at, struct ws_buf *copy);
/* Code behind the '{' of a function, whose labels get other names: it is to stand in another one. */
void ws_rw_relabel(const struct ws_ptx_func *f, const char *text, size_t len, struct ws_buf *out);
/* The registers of a function that were asked for so far, declared at the top of its body. */
void ws_rw_declare_registers(struct ws_pass *p, const struct ws_ptx_func *f);
/* A new label. */
const char *ws_rw_label(struct ws_pass *p);
/* The block of an instruction; WS_EXIT_BLOCK: behind the last one. */
static inline uint32_t ws_rw_block_at(const struct ws_ptx_func *f, uint32_t inst)
{
	return inst < f->ninsts ? f->insts[inst].block : WS_EXIT_BLOCK;
}
/* Does block b have a on every way from the entry? */
static inline bool ws_rw_dominates(const struct ws_ptx_func *f, uint32_t a, uint32_t b)
{
	while (b != a && b != WS_EXIT_BLOCK && f->blocks[b].idom != b)
		b = f->blocks[b].idom;
	return b == a;
}
/* Where the function's name stands in front of its body. */
uint32_t ws_rw_name_at(const struct ws_ptx_func *f);
/* One more parameter of a function, behind the others. */
void ws_rw_last_param(struct ws_pass *p, const struct ws_ptx_func *f, enum ws_type type, const char *name);
/* Code behind the end of the body, where control comes by jumps alone. */
struct ws_code *ws_code_tail(struct ws_pass *p, struct ws_ptx_func *f);
/* Ends code that began before an instruction: it takes the instruction's place. */
void ws_code_replace(struct ws_code *c);
/* Ends code that began at the entry: its lines go to *out and not into the module. */
void ws_code_text(struct ws_code *c, struct ws_buf *out);
/* Code at the entry of which the host does the same before a launch (src/real/decide.c): lines that are the GPU's alone, lines
 * of the host's own in their place, and the end of it, which notes all for the host. */
void ws_code_device_only(struct ws_code *c, bool only);
void ws_code_host(struct ws_code *c, const char *fmt, ...) WS_PRINTF(2, 3);
void ws_code_tell(struct ws_code *c);
/* Code that the host alone computes, and the end of it: its lines go to *out. */
struct ws_code *ws_code_for_host(struct ws_pass *p, struct ws_ptx_func *f);
void ws_code_host_text(struct ws_code *c, struct ws_buf *out);
/* A register that such code writes and others read: a predicate, or of 64 bits. */
const char *ws_rw_of_launch(struct ws_pass *p, struct ws_ptx_func *f, enum ws_type type);
/* A predicate of these, about shared memory. */
const char *ws_rw_truth_of_shared(struct ws_pass *p, struct ws_ptx_func *f);
/* That predicate of launches is true in few: nothing is to be made for launches that have it. */
void ws_rw_holds_rarely(struct ws_pass *p, const char *truth);
/* Gives back what ws_rw_runtime gave (inline.c). */
void ws_rw_runtime_back(struct ws_pass *p);
/* Adds a function of the runtime to the module, with what it needs (inline.c). */
bool ws_rw_use(struct ws_pass *p, const char *function);
/* Functions of the runtime that are to give 0 and do nothing; each has a result of 32 bits. They live as long as the pass. Before any is used. */
void ws_rw_leave_out(struct ws_pass *p, const char *const *functions, unsigned n);

bool ws_rw_pass_count(struct ws_pass *p);
bool ws_rw_pass_tm(struct ws_pass *p);
bool ws_rw_pass_race(struct ws_pass *p);
bool ws_rw_pass_race_part(struct ws_pass *p);
bool ws_rw_pass_race_all(struct ws_pass *p);
bool ws_rw_pass_race_range(struct ws_pass *p);
bool ws_rw_pass_race_alone(struct ws_pass *p);

#endif

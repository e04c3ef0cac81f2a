/* rewrite.h - passes over a PTX module: they find memory accesses, insert code at them, and add what that code needs.
 *
 *     m = ws_ptx_parse(...);  ws_rewrite("count", m, &sink);  ws_ptx_print(m, &out);
 *
 * A pass is one file with one row in rewrite.c (docs/REWRITE.md: how to write one). It changes nothing of what was
 * parsed; it notes edits of the text, so that everything else prints byte for byte. Labels and .loc lines stay where
 * they are: code inserted before an instruction stands behind its labels, is reached by jumps as well, and has its
 * source position. Ownership: everything here lives in the module's arena and dies with ws_ptx_free.
 *
 * Names that begin with "__warpsafe_", "%ws_" or "$ws_" are ours: a module that has them already is refused. */
#ifndef WS_REWRITE_H
#define WS_REWRITE_H

#include "base/options.h"
#include "ptx/ptx.h"

/* ---- for users of passes ---- */
/* Applies a pass. false: every reason went to the sink, and the module is good for nothing but ws_ptx_free. */
bool ws_rewrite(const char *pass, struct ws_ptx_module *m, const struct ws_sink *sink);

/* The pass `tm` with other settings than its defaults: those of ws_tm_config (include/warpsafe/tm.h). */
struct ws_tm_settings {
	uint32_t engine;                 /* enum ws_tm_engine */
	bool automatic;                  /* it is the one that what is known of the module's sections speaks for */
	uint32_t granularity;            /* bytes that conflict together: 4 to 64, a power of two */
	uint32_t entries;                /* of the shadow table; a power of two */
	uint32_t patience;               /* aborts after which a transaction runs alone */
	uint64_t heap;                   /* bytes for long logs */
	uint64_t pool;                   /* bytes for malloc */
	bool history;                    /* tells what sections do, by stores that the simulated GPU's observer sees (device/tm.h) */
	uint64_t log;                    /* bytes: tells it to a log in memory of so many; 0 = does not */
	uint32_t first_place;            /* the log's entries have numbers of places above this one */
};
struct ws_tm_settings ws_tm_settings_default(void);
struct ws_tm_settings ws_tm_settings_of(const struct ws_options *o);
/* place: that of code of a marker of a section, or near it. Becomes the one in the program, if another file's is near. */
bool ws_tm_marker_place(const struct ws_ptx_func *f, const struct ws_ptx_inst *i, struct ws_ptx_place *place);
/* "bank.cu:12"; marker: of the section that begins there. */
void ws_tm_line(const struct ws_ptx_func *f, const struct ws_ptx_inst *i, bool marker, struct ws_buf *b);
bool ws_rewrite_tm(const struct ws_tm_settings *settings, struct ws_ptx_module *m, const struct ws_sink *sink);

/* The passes there are: name and one sentence; false when k is beyond the last. */
bool ws_rewrite_pass(unsigned k, const char **name, const char **help);

enum ws_rw_kind { WS_RW_READ, WS_RW_WRITE, WS_RW_ATOMIC };
const char *ws_rw_kind_name(enum ws_rw_kind k);          /* "read" */

enum ws_rw_class {
	WS_RW_NONE,              /* no access to memory */
	WS_RW_CHECK,             /* an access to shared or global memory that a pass may check */
	WS_RW_EXEMPT,            /* no race is possible, by the state space: .const, .param, .local */
	WS_RW_UNHANDLED          /* an access in a way that no pass follows: asynchronous, matrix, texture, multimem */
};

/* What a pass did at one instruction. */
struct ws_rw_site {
	const struct ws_ptx_func *func;
	const struct ws_ptx_inst *inst;
	const char *place;       /* "file.cu:12"; see ws_ptx_where */
	enum ws_rw_class rw_class;
	enum ws_rw_kind kind;
	enum ws_space space;     /* WS_SPACE_GENERIC: found out when it runs */
	uint32_t bytes;          /* of a thread's access; 0 = not known (UNHANDLED) */
	uint32_t counter, ncounters;     /* its first counter, and how many: see ws_rw_result */
	uint32_t number;                 /* race: given to its check; WS_RW_NO_CHECK = it has none */
	const struct ws_ptx_inst *read;  /* race, of a write: its check stands for this read, too; NULL = for none */
	bool may_fail;                   /* race: a compare-and-swap whose check stands before it, and cannot know whether it writes */
};
#define WS_RW_NO_CHECK UINT32_MAX
/* The counters of one site, by what its address turned out to be; one that names its space has one. */
enum ws_rw_counter { WS_RW_GLOBAL, WS_RW_SHARED, WS_RW_CONST, WS_RW_COUNTERS };

/* A value in constant memory, or of a parameter. */
struct ws_probe_value { const struct ws_ptx_sym *sym; int64_t offset; uint32_t bytes; };

/* race: one kernel of the module. */
#define WS_RW_PLAIN "__warpsafe_plain_"
#define WS_RW_SURE "__warpsafe_sure_"
#define WS_RW_TOLD "__warpsafe_told_"
#define WS_RW_PARTS "__warpsafe_parts_"
/* The kernels beside one for launches that are told what proofs find (sure.h). */
struct ws_rw_sure {
	bool has_sure, has_told;         /* there is WS_RW_SURE name, or WS_RW_TOLD name, */
	uint64_t sure, told;             /* for launches of which all these truths hold */
	bool proved;                     /* and the probe has found nothing, or */
	uint64_t own;                    /* all these hold, which say as much of shared memory; 0: nothing but the probe does */
};
/* The prefix of the one for a launch that is told these truths. proved: its probe has found nothing. NULL: it is neither's. */
const char *ws_rw_sure_for(const struct ws_rw_sure *s, uint64_t truths, bool proved);

struct ws_rw_kernel {
	const struct ws_ptx_func *func;
	const char *why;         /* it is not checked: "cp.async at gemm.cu:41"; NULL = it is */
	uint64_t *reach;         /* bit set, by func->sym->index: the functions that it may execute */
	bool full;               /* its shared memory leaves no room for checks */
	bool clocks;             /* what objects and barriers of a part of the block order is told by clocks (src/device/race_clock.cuh) */
	bool in_slot;            /* cells of its shared memory are not in there: other blocks may come to it, or bulk copies */
	/* Its probe (probe.h): and what it reads of the kernel's parameters; no_probe: why it could be of use and there is none. */
	bool probe;
	bool probe_waits;        /* it is hardly of use: proofs by addresses may do without */
	uint32_t probe_unit;     /* bytes of shared memory for which it has a cell, 1 to 16: what the narrowest access has, or 4 */
	uint32_t probe_blocks;   /* of it, which are launched at once */
	const struct ws_probe_value *probe_reads;
	uint32_t nprobe_reads;
	const char *no_probe;
	/* Its launches with these values of parameters do all the same accesses (fixed.c), and it can be told to make no check. */
	bool fixed;
	const struct ws_probe_value *fixed_by;
	uint32_t nfixed_by;
	/* What its entry computes to decide that no access of a launch needs a check, for the host to do the same beforehand
	 * (src/real/decide.h); NULL = it decides no such thing, or the host cannot. */
	const char *decides;
	const char *decides_shared;      /* likewise, that no access to its shared memory needs one; NULL = it is not of use, or as above */
	bool bare;               /* ... and then a launch needs no cells for it */
	const char *tells;       /* likewise all that the proofs of its entry find, for struct ws_race_told; NULL = it cannot be told */
	const char *extents;     /* likewise the memory that a launch may come to (extent.h); NULL = there is no telling */
	bool plain;              /* there is a kernel WS_RW_PLAIN name without hooks, for launches that need none, or leave them no room */
	struct ws_rw_sure sure;
	/* There is a kernel WS_RW_PARTS name for launches of which the host finds that they need no check if accesses stay in parts of shared memory
	 * (parts.h): by `decides`, as if a probe had found nothing, and by what it computes of the parts (struct ws_shared_parts); NULL = there is none. */
	const char *parts;
	uint32_t nparts;
	uint32_t left;           /* its writes to global memory that are checked in each launch */
	bool compared;           /* it has the parameter __warpsafe_launch (src/device/race.h), which begins there: */
	uint32_t launch_at;
};

/* What the code of marked sections does, all of them together: instructions that read, that write, and writes of what was read
 * in front of them. */
struct ws_tm_known {
	uint32_t sections, reads, writes, rewritten;
};

struct ws_rw_result {
	const struct ws_rw_site *sites;
	uint32_t nsites;
	const char *counters;    /* a global variable of the module, of 64 bits each; NULL = none */
	uint32_t ncounters;
	uint32_t copies, stride; /* copy c of counter k is element c * stride + k: their sum is what was counted */
	/* race (src/device/race.h): */
	const char *race;        /* the variable that the host fills; NULL = there are no checks */
	uint32_t module;         /* the module's number, never 0 */
	const struct ws_rw_kernel *kernels;      /* all with a body; a kernel's number is its place here */
	uint32_t nkernels;
	struct ws_tm_known tm;   /* tm: the marked sections that were made transactions */
	const char **tm_places;  /* with a log: by an entry's `site`, lines of the program */
	size_t ntm_places, tm_places_cap;
};
/* The kernels of src/device/range.cu, with a check in place of each access: what a copy or a fill does, told to the checks of `race`.
 * NULL: that does not go, and was told. */
struct ws_ptx_module *ws_rewrite_ranges(const struct ws_sink *sink);
/* What the pass left for the host; valid as long as the module. */
const struct ws_rw_result *ws_rewrite_result(const struct ws_ptx_module *m);
/* race: may the kernel execute this function? */
bool ws_rw_reaches(const struct ws_rw_kernel *k, const struct ws_ptx_func *f);
/* The sum of the copies of a counter, in the variable's memory. */
uint64_t ws_rewrite_counted(const struct ws_rw_result *r, const uint64_t *counters, uint32_t counter);

/* ---- for passes: the module ---- */
struct ws_pass;                          /* one pass over one module */

struct ws_ptx_module *ws_rw_module(const struct ws_pass *p);
/* Says what is wrong, with the place of inst (NULL = the module). Returns false; the rewriting fails. */
bool ws_rw_error(struct ws_pass *p, const struct ws_ptx_inst *inst, const char *fmt, ...) WS_PRINTF(3, 4);
/* The inserted code needs this PTX version (10 * major + minor) and target: the module's are raised if lower. */
void ws_rw_need(struct ws_pass *p, uint32_t version, uint32_t sm);
/* Text at module scope, before the first declaration that was there: variables, functions. */
void ws_rw_declare(struct ws_pass *p, const char *fmt, ...) WS_PRINTF(2, 3);
/* One more parameter of a kernel, behind the others, of a scalar type. */
bool ws_rw_param(struct ws_pass *p, struct ws_ptx_func *f, enum ws_type type, const char *name);
/* Likewise, of so many bytes, aligned to 16. Where it begins; UINT32_MAX: the kernel cannot take it. */
uint32_t ws_rw_param_block(struct ws_pass *p, struct ws_ptx_func *f, uint32_t bytes, const char *name);
/* A variable in shared memory of a function. */
void ws_rw_shared(struct ws_pass *p, struct ws_ptx_func *f, uint32_t align, uint32_t bytes, const char *name);
/* A register of a function that keeps its value everywhere in it. The name. */
const char *ws_rw_register(struct ws_pass *p, struct ws_ptx_func *f, enum ws_type type);
/* Writes the code of a function, as it was, a second time behind what it becomes: a label at its beginning, for code of
 * the entry to jump to. NULL: not possible, for it calls functions or has tables of branches. */
const char *ws_rw_copy(struct ws_pass *p, struct ws_ptx_func *f);
/* Adds the kernel once more as it is, by the name WS_RW_PLAIN and its own. */
bool ws_rw_plain(struct ws_pass *p, struct ws_ptx_func *f);
bool ws_rw_names_dynamic(const struct ws_ptx_func *f);   /* dynamic shared memory */
unsigned ws_rw_dynamic_align(const struct ws_ptx_module *m);     /* it begins where its most aligned array wants it; at least 128 */
/* How many registers of 32 bits a function has in use at once. */
unsigned ws_rw_pressure(struct ws_ptx_func *f);
struct ws_rw_site *ws_rw_new_site(struct ws_pass *p);
struct ws_rw_result *ws_rw_result_of(struct ws_pass *p);

/* ---- for passes: memory accesses ---- */
struct ws_rw_access {
	struct ws_ptx_inst *inst;
	enum ws_rw_class rw_class;
	const char *why;         /* EXEMPT: "constant memory"; UNHANDLED: the instruction's name */
	enum ws_rw_kind kind;
	enum ws_space space;     /* CONST, GLOBAL, LOCAL, PARAM, SHARED, SHARED_CLUSTER or GENERIC */
	uint32_t bytes;          /* of a thread: all elements of a vector */
	enum ws_sem sem;         /* WEAK, RELAXED, ACQUIRE, ..., never NONE */
	enum ws_scope scope;     /* NONE for WEAK */
	const struct ws_operand *address;        /* of kind ADDR; NULL for UNHANDLED */
	bool generic;            /* ... it is a generic one, though space is SHARED (ws_area_settle) */
	/* A load that the compiler moved ahead of its condition: a read of the threads of which needed.p holds, and this is
	 * known before instruction needed.at. needed.p NULL: of all threads that execute it. */
	struct ws_needed needed;
};
/* The accesses of a function in the order of the text, those that are NONE left out. Proofs that an access needs no
 * check (the same one earlier in the interval, addresses disjoint by thread) work on this list. */
struct ws_rw_access *ws_rw_accesses(struct ws_ptx_func *f, uint32_t *n);
/* A barrier of threads of the block: bar, barrier, but not bar.warp.sync and barrier.cluster */
bool ws_rw_is_barrier(const struct ws_ptx_inst *i);
bool ws_rw_names_no_count(const struct ws_ptx_inst *barrier);    /* of threads: then it is one of all, unless some arrive without waiting */
/* bar.warp.sync, which orders memory among the lanes that take part (PTX ISA 9.0, 9.7.13.2); of all lanes, by a constant. */
bool ws_rw_is_warp_sync(const struct ws_ptx_inst *i);
bool ws_rw_syncs_whole_warp(const struct ws_ptx_inst *i);
/* Is there one at which threads arrive without waiting? */
bool ws_rw_arrives(const struct ws_ptx_func *f);
/* Does it wait for the launch before, that may still run (programmatic dependent launch)? */
bool ws_rw_waits_for_grid(const struct ws_ptx_inst *i);
/* Does it read a special register that has a size of shared memory? */
bool ws_rw_reads_shared_size(const struct ws_ptx_inst *i);

/* ---- for passes: code ---- */
/* Code for one place: begun, added to, ended. It runs under the guard of the instruction it stands at. */
struct ws_code;
enum ws_side { WS_BEFORE, WS_AFTER };
struct ws_code *ws_code_at(struct ws_pass *p, struct ws_ptx_func *f, struct ws_ptx_inst *inst, enum ws_side side);
/* Code before an access, for the threads of which it is one: usually those that execute it (see `needed`). */
struct ws_code *ws_code_access(struct ws_pass *p, struct ws_ptx_func *f, const struct ws_rw_access *a);
/* Code that runs once, when the function is entered. */
struct ws_code *ws_code_entry(struct ws_pass *p, struct ws_ptx_func *f);
/* Likewise, but before all of that. */
struct ws_code *ws_code_first(struct ws_pass *p, struct ws_ptx_func *f);
/* Code that runs when control falls off the end of the body, which returns; NULL if it cannot. */
struct ws_code *ws_code_end_of(struct ws_pass *p, struct ws_ptx_func *f);
/* A register for this code alone; others use it again. Registers have no value from before. */
const char *ws_code_temp(struct ws_code *c, enum ws_type type);
const char *ws_code_label(struct ws_code *c);            /* a new name; place it with ws_code_add(c, "%s:", name) */
/* One instruction or label, as PTX. */
void ws_code_add(struct ws_code *c, const char *fmt, ...) WS_PRINTF(2, 3);
/* The name of the register that an operand of kind REG or ADDR has, with the component of a vector. */
const char *ws_code_register(struct ws_code *c, const struct ws_operand *o);
/* The access's address in a 64-bit register or one made for it: as wide as a generic address, in the access's space. */
const char *ws_code_address(struct ws_code *c, const struct ws_rw_access *a);
/* The same in 32 bits, for shared memory. */
const char *ws_code_address32(struct ws_code *c, const struct ws_rw_access *a);
/* The value that a store (a->kind WS_RW_WRITE) writes, as 64-bit words in their order in memory: registers or numbers;
 * "0" for those that it does not have. */
void ws_code_stored(struct ws_code *c, const struct ws_rw_access *a, const char *words[4]);
void ws_code_end(struct ws_code *c);

/* ---- for passes: device functions written in CUDA C (src/device) ---- */
/* Makes the functions of a file of src/device known; `ptx` is what it was compiled to. */
bool ws_rw_runtime(struct ws_pass *p, const char *name, const char *ptx);
extern const char ws_device_count[];     /* src/device/count.cu */
extern const char ws_device_race[];      /* src/device/race.cu */
extern const char ws_device_race_sm90[]; /* src/device/race_sm90.cu */
extern const char ws_device_race_remote[]; /* src/device/race_remote.cu */
extern const char ws_device_race_tensor[]; /* src/device/race_tensor.cu */
extern const char ws_device_tm[];        /* src/device/tm.cu */
extern const char ws_device_range[];     /* src/device/range.cu: see ws_rewrite_ranges */
extern const char ws_device_tm_logged[]; /* src/device/tm_logged.cu */

/* Places the body of a device function in the code. Arguments are registers ("%rd4"), numbers, or names of variables
 * ("name", "name+8"), 32 or 64 bits as the parameter is; the result goes to the register `result` (NULL = nowhere).
 * Functions that it calls, and variables that it uses, are added to the module once; those have names that begin with
 * "__warpsafe_". Not possible, and refused with the reason: branch tables, local memory, indirect calls, parameters of
 * other sizes. */
bool ws_inline(struct ws_code *c, const char *function, const char *const *args, unsigned nargs, const char *result);

#endif

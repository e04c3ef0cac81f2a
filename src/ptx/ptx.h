/* ptx.h - PTX text -> module -> text; control-flow graph, post-dominators, liveness.
 *
 * Source of the rules: NVIDIA, "Parallel Thread Execution ISA", version 9.0; sections are cited at the code.
 * Ownership: everything reached from a module lives in the module's arena and dies with ws_ptx_free. Pointers into
 * a module stay valid until then. A module is not changed after parsing except by src/rewrite.
 *
 * One table, ptx_ops.def, has a row an opcode; modifiers have rows in ptx_mods.def. Enums, lexer, parser, checks,
 * printer, the simulator's decoder and docs/PTX.md's coverage table are made from them by inclusion. */
#ifndef WS_PTX_H
#define WS_PTX_H

#include "base/base.h"

/* ---- types, spaces, modifiers ---- */
enum ws_type {                   /* PTX ISA 5.2; the order is used by tables */
	WS_T_NONE,
	WS_U8, WS_U16, WS_U32, WS_U64,
	WS_S8, WS_S16, WS_S32, WS_S64,
	WS_F16, WS_F16X2, WS_F32, WS_F64, WS_BF16, WS_BF16X2, WS_TF32,
	WS_B8, WS_B16, WS_B32, WS_B64, WS_B128,
	WS_PRED,
	WS_U16X2, WS_S16X2, WS_F32X2,
	WS_E4M3, WS_E5M2, WS_E4M3X2, WS_E5M2X2,
	WS_T_OTHER,              /* texref, samplerref, surfref, sub-byte and matrix-only types; see inst->extra */
	WS_T_COUNT
};
const char *ws_type_name(enum ws_type t);        /* "u32"; no dot */
unsigned ws_type_bytes(enum ws_type t);          /* 1..16; WS_PRED and NONE: 0 */
bool ws_type_is_signed(enum ws_type t);
bool ws_type_is_float(enum ws_type t);

enum ws_space {                  /* PTX ISA 5.1; NONE on a memory instruction = generic address */
	WS_SPACE_NONE, WS_SPACE_GENERIC = WS_SPACE_NONE,
	WS_SPACE_REG, WS_SPACE_SREG, WS_SPACE_CONST, WS_SPACE_GLOBAL, WS_SPACE_LOCAL, WS_SPACE_PARAM,
	WS_SPACE_SHARED,         /* .shared and .shared::cta */
	WS_SPACE_SHARED_CLUSTER, /* .shared::cluster */
	WS_SPACE_TEX,
	WS_SPACE_COUNT
};
const char *ws_space_name(enum ws_space s);

enum ws_round {                  /* RN..RP floats, RNI..RPI to integral values, RNA/RS cvt only */
	WS_RND_NONE, WS_RN, WS_RZ, WS_RM, WS_RP, WS_RNA, WS_RS, WS_RNI, WS_RZI, WS_RMI, WS_RPI
};
enum ws_sem {                    /* memory order; PTX ISA 8 */
	WS_SEM_NONE, WS_SEM_WEAK, WS_SEM_RELAXED, WS_SEM_ACQUIRE, WS_SEM_RELEASE, WS_SEM_ACQ_REL, WS_SEM_SC,
	WS_SEM_VOLATILE, WS_SEM_MMIO
};
enum ws_scope { WS_SCOPE_NONE, WS_SCOPE_CTA, WS_SCOPE_CLUSTER, WS_SCOPE_GPU, WS_SCOPE_SYS };
enum ws_cmp {                    /* setp/set/slct comparison; the U forms are "or unordered", LO..HS unsigned */
	WS_CMP_NONE, WS_EQ, WS_NE, WS_LT, WS_LE, WS_GT, WS_GE, WS_LO, WS_LS, WS_HI, WS_HS,
	WS_EQU, WS_NEU, WS_LTU, WS_LEU, WS_GTU, WS_GEU, WS_NUM, WS_NAN
};
enum ws_bool { WS_BOOL_NONE, WS_BOOL_AND, WS_BOOL_OR, WS_BOOL_XOR };
enum ws_atom {                   /* operation of atom/red/redux and of bar.red */
	WS_ATOM_NONE, WS_ATOM_AND, WS_ATOM_OR, WS_ATOM_XOR, WS_ATOM_CAS, WS_ATOM_EXCH, WS_ATOM_ADD, WS_ATOM_INC,
	WS_ATOM_DEC, WS_ATOM_MIN, WS_ATOM_MAX, WS_ATOM_POPC
};
enum ws_part { WS_PART_NONE, WS_LO_HALF, WS_HI_HALF, WS_WIDE };       /* mul.lo/.hi/.wide and mad */

/* The rest are flags or small words: `mode` is the opcode's own variant (its first non-type word). */
enum ws_mode {
	WS_MODE_NONE,
	WS_MODE_SYNC, WS_MODE_ARRIVE, WS_MODE_RED, WS_MODE_WARP_SYNC,            /* bar, barrier */
	WS_MODE_UP, WS_MODE_DOWN, WS_MODE_BFLY, WS_MODE_IDX,                     /* shfl */
	WS_MODE_ALL, WS_MODE_ANY, WS_MODE_UNI, WS_MODE_BALLOT,                   /* vote, match.all/.any */
	WS_MODE_F4E, WS_MODE_B4E, WS_MODE_RC8, WS_MODE_ECL, WS_MODE_ECR, WS_MODE_RC16,  /* prmt */
	WS_MODE_L, WS_MODE_R,                                                    /* shf.l .r (also .clamp/.wrap flag) */
	WS_MODE_TO,                                                              /* cvta.to.space */
	WS_MODE_FINITE, WS_MODE_INFINITE, WS_MODE_NUMBER, WS_MODE_NOTANUMBER,    /* testp */
	WS_MODE_NORMAL, WS_MODE_SUBNORMAL,
	WS_MODE_PROXY,                                                           /* fence.proxy.*: kind in extra */
	WS_MODE_OTHER                                                            /* named in extra */
};

enum ws_flag {                   /* bits of inst->flags */
	WS_F_FTZ = 1 << 0, WS_F_SAT = 1 << 1, WS_F_APPROX = 1 << 2, WS_F_FULL = 1 << 3, WS_F_CC = 1 << 4,
	WS_F_UNI = 1 << 5,       /* bra.uni, call.uni, ret.uni */
	WS_F_SYNC = 1 << 6,      /* the .sync of shfl, vote, match, redux, elect */
	WS_F_ALIGNED = 1 << 7,   /* .aligned; also set for bar.*, which implies it (PTX ISA, bar) */
	WS_F_NC = 1 << 8,        /* ld.global.nc */
	WS_F_CLAMP = 1 << 9, WS_F_WRAP = 1 << 10, WS_F_SHIFTAMT = 1 << 11,
	WS_F_NAN = 1 << 12, WS_F_XORSIGN = 1 << 13, WS_F_RELU = 1 << 14, WS_F_SATFINITE = 1 << 15,
	WS_F_NOFTZ = 1 << 16, WS_F_CACHE_HINT = 1 << 17, WS_F_ABS = 1 << 18, WS_F_UNIFIED = 1 << 19,
	WS_F_OOB = 1 << 20
};

/* ---- opcodes ---- */
enum ws_op {
	WS_OP_NONE,
#define OP(name, ...) WS_OP_##name,
#include "ptx/ptx_ops.def"
#undef OP
	WS_OP_COUNT
};

enum ws_fx {                     /* what an opcode does besides writing its destination */
	WS_FX_READ = 1 << 0,     /* reads memory */
	WS_FX_WRITE = 1 << 1,    /* writes memory */
	WS_FX_ATOMIC = 1 << 2,
	WS_FX_BARRIER = 1 << 3,  /* block barrier */
	WS_FX_WARP = 1 << 4,     /* takes part with other lanes (shfl, vote, bar.warp) */
	WS_FX_FENCE = 1 << 5,
	WS_FX_BRANCH = 1 << 6, WS_FX_CALL = 1 << 7, WS_FX_EXIT = 1 << 8,      /* exit, ret, trap */
	WS_FX_ASYNC = 1 << 9,    /* asynchronous copy or its completion */
	WS_FX_SYNC = 1 << 10,    /* orders memory or threads in any other way: never to be ignored */
	WS_FX_CARRY = 1 << 11    /* reads or writes CC.CF */
};

struct ws_op_info {
	const char *name;
	unsigned ndst;           /* operands written, at most (setp: 2); sinks count */
	unsigned fx;             /* enum ws_fx */
	unsigned ptx_version;    /* 10 * major + minor of its introduction */
	unsigned sm;             /* lowest target, e.g. 30 */
	bool simulated;          /* false: the simulator refuses it by name */
	const char *section;     /* PTX ISA 9.0 section title */
};
const struct ws_op_info *ws_op_info(enum ws_op op);

/* ---- operands ---- */
enum ws_operand_kind {
	WS_O_NONE,
	WS_O_REG,                /* reg */
	WS_O_SREG,               /* sreg, e.g. %tid.x */
	WS_O_INT,                /* imm: two's complement bits */
	WS_O_FLOAT,              /* imm: IEEE double bits; from 0f literals converted exactly, 0d literals verbatim */
	WS_O_FLOAT32,            /* imm: the 32 bits of a 0f literal */
	WS_O_SYM,                /* address of a variable or function: sym (+ offset) */
	WS_O_ADDR,               /* [base + offset]; base is a register, a symbol, or nothing (absolute) */
	WS_O_VEC,                /* {a, b, ...}: elems, count */
	WS_O_LABEL,              /* label */
	WS_O_SINK,               /* _ */
	WS_O_LIST,               /* (a, b, ...): call arguments and results */
	WS_O_TEX                 /* [tex, {coords}] and other bracket lists: elems; the first may be an ADDR (a+8) */
};

enum ws_sreg {                   /* special registers, PTX ISA 10; .x/.y/.z are consecutive */
	WS_SR_NONE,
#define SREG(id, name, bytes) WS_SR_##id,
#include "ptx/ptx_sregs.def"
#undef SREG
	WS_SR_COUNT
};
const char *ws_sreg_name(enum ws_sreg s);        /* "%tid.x" */
unsigned ws_sreg_bytes(enum ws_sreg s);

struct ws_reg {                  /* one virtual register of a function */
	const char *name;        /* "%r1" */
	enum ws_type type;       /* as declared: b8..b128, u/s/f.., pred */
	uint32_t index;          /* position in func->regs */
	uint8_t vec;             /* declared .v2/.v4: 2/4; else 1 */
};

struct ws_operand {
	uint8_t kind;            /* enum ws_operand_kind */
	bool negated;            /* !p; also -x where a table row allows it */
	uint8_t sreg_or_count;   /* SREG: enum ws_sreg; VEC, LIST, TEX: number of elems */
	uint8_t component;       /* REG with .x/.y/.z/.w (1..4) or .b0..b3/.h0,.h1 selector (0x10+n, 0x20+n), 0x30 for a
	                          * selector of several bytes (video instructions; see the text); else 0 */
	uint32_t off, len;       /* span in the module's text */
	bool paired;             /* written behind '|': setp p|q, shfl d|p */
	struct ws_reg *reg;      /* REG; base register of ADDR; NULL otherwise */
	struct ws_ptx_sym *sym;  /* SYM; base symbol of ADDR */
	uint64_t imm;            /* INT, FLOAT bits */
	int64_t offset;          /* ADDR, SYM */
	struct ws_operand *elems;/* VEC, LIST, TEX */
	uint32_t label;          /* LABEL: index in func->labels; of brx.idx: in func->tables */
};

/* ---- instructions ---- */
struct ws_ptx_loc {              /* one .loc: PTX ISA 11.5; chain of inlined-at */
	uint32_t file;           /* index in module->files (not the number in the text); UINT32_MAX = none */
	uint32_t line, col;
	const char *function;    /* function_name of an inlined location; NULL = the function itself */
	const struct ws_ptx_loc *inlined_at;
};

enum { WS_MAX_OPERANDS = 12 };

struct ws_ptx_inst {
	uint16_t op;             /* enum ws_op */
	uint8_t mode;            /* enum ws_mode */
	uint8_t rnd, cmp, boolop, atom, part;    /* enums above */
	uint8_t space;           /* enum ws_space of ld/st/atom/cvta/...; GENERIC when not given */
	uint8_t sem, scope;      /* as written; NONE when not given (a fence without one is ACQ_REL) */
	uint8_t vec;             /* 1, 2, 4, 8 */
	uint8_t ntypes;
	uint8_t type[3];         /* enum ws_type, in text order: cvt dst, src; mad; ... */
	uint8_t nops;
	bool guard_neg;          /* @!p */
	uint32_t flags;          /* enum ws_flag */
	struct ws_reg *guard;    /* @p or NULL */
	struct ws_operand *ops;  /* nops operands in text order; p|q pairs are two operands; call: see ws_ptx_call */
	struct ws_ptx_call *call;/* call only */
	/* Modifiers that have no field, joined as written (".L1::evict_last"); NULL = none. With mode WS_MODE_OTHER or
	 * WS_MODE_PROXY they name the variant, else they are hints that change no result. The opcodes for matrices,
	 * asynchronous copies, textures and the like (M_RAW in ptx_ops.def) keep all their modifiers here, in order. */
	const char *extra;
	uint32_t off, len;       /* span in the module's text, from guard to ';' */
	uint32_t line;           /* PTX line */
	uint32_t index;          /* position in func->insts */
	uint32_t block;          /* basic block, after ws_ptx_cfg */
	const struct ws_ptx_loc *loc;            /* source position; NULL = unknown */
};

struct ws_ptx_call {
	struct ws_operand *target;       /* SYM (direct) or REG (indirect) */
	struct ws_operand *rets, *args;  /* PARAM-space symbols or registers/immediates */
	uint32_t nrets, nargs;
	struct ws_ptx_sym *proto;        /* prototype label or .calltargets list of an indirect call, or NULL */
};

/* ---- symbols ---- */
enum ws_sym_kind { WS_SYM_VAR, WS_SYM_FUNC, WS_SYM_PROTO, WS_SYM_TARGETS };
enum ws_linkage { WS_LINK_LOCAL, WS_LINK_VISIBLE, WS_LINK_EXTERN, WS_LINK_WEAK, WS_LINK_COMMON };

struct ws_ptx_reloc {            /* an address inside an initializer */
	uint64_t at;             /* byte offset in the variable */
	struct ws_ptx_sym *sym;
	int64_t addend;
	uint8_t bytes;           /* 4 or 8; mask() forms: 1 */
	uint8_t shift;           /* mask(): which byte, in bits */
	bool generic;            /* generic(sym): the generic address is wanted */
};

struct ws_ptx_sym {
	enum ws_sym_kind kind;
	const char *name;
	enum ws_linkage linkage;
	uint32_t off, len;       /* span of the declaration */
	uint32_t line;
	uint32_t index;          /* VAR: position in module->vars or func->vars; a parameter: in params or rets,
	                          * of space REG: in func->regs; FUNC: in module->funcs */
	struct ws_ptx_func *scope;       /* the function it is declared in; NULL = module */
	/* VAR: */
	enum ws_space space;
	enum ws_type type;       /* element type */
	uint8_t vec;             /* .v2 .v4; else 1 */
	uint32_t align;          /* bytes; never 0 */
	uint64_t size;           /* bytes; 0 = extern [] */
	bool array, managed;     /* managed: .attribute(.managed) */
	bool ptr;                /* a .param with .ptr */
	uint8_t *init;           /* size bytes or NULL = zero */
	struct ws_ptx_reloc *relocs;
	uint32_t nrelocs;
	/* FUNC, PROTO: */
	struct ws_ptx_func *func;
	/* TARGETS: */
	struct ws_ptx_sym **targets;
	uint32_t ntargets;
};

/* ---- functions ---- */
struct ws_ptx_label {
	const char *name;
	uint32_t inst;           /* the instruction it stands before; == ninsts at the end */
	uint32_t line;
};

struct ws_ptx_branch_table {     /* .branchtargets / brx.idx list */
	const char *name;
	uint32_t *labels;
	uint32_t nlabels;
};

struct ws_ptx_block {            /* basic block [first, last] of instructions */
	uint32_t first, last;
	uint32_t *succ, *pred;
	uint32_t nsucc, npred;
	uint32_t ipdom;          /* immediate post-dominator: block, or WS_EXIT_BLOCK */
	uint32_t idom;           /* immediate dominator; entry: itself; unreachable: WS_EXIT_BLOCK */
	uint32_t rpo;            /* position in reverse post-order; unreachable blocks come last */
	uint64_t *live_in, *live_out;    /* bit sets over func->regs, after ws_ptx_liveness */
};
#define WS_EXIT_BLOCK UINT32_MAX

struct ws_ptx_func {
	const char *name;
	struct ws_ptx_sym *sym;
	struct ws_ptx_module *module;
	bool entry, declared_only, noreturn;
	bool waits;                      /* its body is not read yet: ws_ptx_options.later */
	uint32_t maxntid[3], reqntid[3], minnctapersm, maxnreg;  /* 0 = not given */
	uint32_t reqnctapercluster[3];   /* .reqnctapercluster / .explicitcluster; 0 = none */
	bool explicitcluster, blocksareclusters;
	uint32_t maxclusterrank;         /* 0 = not given */
	struct ws_ptx_sym **params, **rets;      /* .param or .reg variables, in order */
	uint32_t nparams, nrets;
	struct ws_reg **regs;    /* in order of declaration; one of a range (%r<10>) when it is first used */
	uint32_t nregs;
	struct ws_ptx_sym **vars;/* .local, .shared, .param, .const... declared in the body, any nesting */
	uint32_t nvars;
	struct ws_ptx_inst *insts;
	uint32_t ninsts;
	struct ws_ptx_label *labels;
	uint32_t nlabels;
	struct ws_ptx_branch_table *tables;
	uint32_t ntables;
	struct ws_ptx_block *blocks;     /* after ws_ptx_cfg */
	uint32_t nblocks;
	uint32_t off, len;       /* span from linkage to '}' or ';' */
	uint32_t body_off;       /* offset of '{' */
	uint32_t line, body_line;
};

struct ws_ptx_file { uint32_t number; const char *path; };         /* path: NULL if its .file is missing */

struct ws_ptx_module {
	struct ws_arena *arena;
	const char *path;        /* as given by the caller; for messages */
	const char *text;        /* the input, NUL-terminated copy */
	size_t text_len;
	uint32_t version;        /* 10 * major + minor: 90 = 9.0 */
	uint32_t sm;             /* 70, 90, ... */
	char sm_suffix;          /* 'a', 'f' or 0 */
	bool texmode_independent, debug;
	bool syntax_only;        /* read so: ws_ptx_options */
	uint32_t address_size;   /* 32 or 64 */
	struct ws_ptx_file *files;
	uint32_t nfiles;
	struct ws_ptx_sym **vars;
	uint32_t nvars;
	struct ws_ptx_func **funcs;
	uint32_t nfuncs;
	uint32_t version_off, version_len;       /* the number after '.version' */
	uint32_t target_off, target_len;         /* the word after '.target' that names the architecture */
	void *names;             /* symbol lookup; private */
	struct ws_ptx_edits *edits;      /* NULL = none */
};

/* Changes of a module's text that wait to be printed. What was parsed does not change by them. */
struct ws_ptx_edit {
	uint32_t at, len;        /* bytes of the text that give way; len 0: nothing does */
	uint32_t rank;           /* order of edits at one place; equal ranks stand in the order in which they were made */
	const char *text;        /* NUL-terminated, in the module's arena */
};
struct ws_ptx_edits {
	struct ws_ptx_edit *list;        /* in the module's arena */
	size_t n, cap;
	void *owner;             /* src/rewrite's own */
};

/* ---- calls ---- */
struct ws_ptx_options {
	unsigned max_errors;     /* stop after so many; 0 = 20 */
	bool later;              /* the bodies of functions that are no kernels wait for ws_ptx_body, which tells what is wrong in them. Such
	                          * a body has no .loc */
	bool syntax_only;        /* accept instructions and forms that the table does not know: kept verbatim as
	                          * WS_OP_unknown with extra = whole text (never for one that synchronizes) */
};

/* Parses text (need not be NUL-terminated). Every error goes to the sink; NULL if there was one.
 * `path` names the text in messages. Never crashes on any bytes; blocks nest up to 256 deep;
 * counts are bounded only by memory. */
struct ws_ptx_module *ws_ptx_parse(const char *path, const char *text, size_t len, const struct ws_ptx_options *opt,
                                   const struct ws_sink *sink);
/* Reads the body of a function that waits for it; one that does not is as it was. Its module must not be in use elsewhere meanwhile.
 * false: there is an error in it, which the sink is told; it waits as before. */
bool ws_ptx_body(struct ws_ptx_func *f, const struct ws_sink *sink);
void ws_ptx_free(struct ws_ptx_module *m);

/* Appends the module as text, with its edits in place; everything else is the input, byte for byte. */
void ws_ptx_print(const struct ws_ptx_module *m, struct ws_buf *out);
/* The same for the bytes [at, end) of the text, with the edits of these bytes, and those at `end`. */
void ws_ptx_print_span(const struct ws_ptx_module *m, size_t at, size_t end, struct ws_buf *out);
/* Likewise, with other texts in place of some edits: choose says which; NULL: this one is not made. */
typedef const char *ws_ptx_choose(void *user, const struct ws_ptx_edit *e);
void ws_ptx_print_chosen(const struct ws_ptx_module *m, size_t at, size_t end, ws_ptx_choose *choose, void *user, struct ws_buf *out);
/* Notes an edit; the text is copied. Stretches that give way (len > 0) must not overlap. */
void ws_ptx_edit(struct ws_ptx_module *m, uint32_t at, uint32_t len, uint32_t rank, const char *text);
/* Appends one instruction in canonical form, made from its fields and not from the text ("add.s32 %r1, %r2, 3;"). */
void ws_ptx_print_inst(const struct ws_ptx_func *f, const struct ws_ptx_inst *i, struct ws_buf *out);
/* Basic blocks with successors, dominators, post-dominators, live registers, as text (--cfg). */
void ws_ptx_print_cfg(const struct ws_ptx_func *f, struct ws_buf *out);
/* docs/PTX.md: one line an opcode. */
void ws_ptx_print_coverage(struct ws_buf *out);

/* Basic blocks, dominators, post-dominators. Idempotent. Blocks that never reach an exit (endless loops) get
 * WS_EXIT_BLOCK. Guarded exit/ret/trap end a block with a fall-through successor. */
void ws_ptx_cfg(struct ws_ptx_func *f);
/* Threads of a block of .maxntid or .reqntid; 0 = not given. */
static inline uint64_t ws_ptx_threads(const uint32_t n[3]) { return (uint64_t)n[0] * (n[1] ? n[1] : 1) * (n[2] ? n[2] : 1); }
/* As the kernel says: as many as there are, or at most. */
static inline uint64_t ws_ptx_most_threads(const struct ws_ptx_func *f) { return ws_ptx_threads(f->reqntid[0] ? f->reqntid : f->maxntid); }
/* Does control come from one block to another, or again to the same? closed: blocks that it does not leave; NULL = none. */
bool ws_ptx_block_reaches(const struct ws_ptx_func *f, uint32_t from, uint32_t to, const bool *closed);
/* Likewise to all blocks, with nothing closed: seen[block], false before, becomes true. */
void ws_ptx_blocks_reached(const struct ws_ptx_func *f, uint32_t from, bool *seen);
/* Live registers at block boundaries (needs cfg; makes it if missing). Idempotent. A function whose sets would take
 * more than 4 GiB keeps live_in and live_out NULL. */
void ws_ptx_liveness(struct ws_ptx_func *f);

/* Which threads need what a load brings: those of which p is true (neg: false), known before the instruction `at` (that
 * is the load itself, or one behind it in its block). A load that the compiler moved ahead of its condition is a read of
 * these alone (ptx_needed.c). */
struct ws_needed {
	const struct ws_reg *p;
	bool neg;
	uint32_t at;
};
/* false: all, as far as can be told. For a load without a guard; f has its blocks and liveness. */
bool ws_load_needed(const struct ws_ptx_func *f, const struct ws_ptx_inst *load, struct ws_needed *n);

struct ws_ptx_sym *ws_ptx_find(const struct ws_ptx_module *m, const char *name);   /* module scope; NULL if none */

/* Calls fn(user, reg, is_def) for each register that the instruction uses (guard, addresses, elements) or defines. */
void ws_ptx_inst_regs(const struct ws_ptx_inst *i, void (*fn)(void *user, struct ws_reg *r, bool is_def), void *user);
/* Does the instruction set r? NULL is set by none. */
bool ws_ptx_sets(const struct ws_ptx_inst *i, const struct ws_reg *r);

/* The first [address] among the operands; NULL if there is none, or no instruction. */
const struct ws_operand *ws_ptx_address(const struct ws_ptx_inst *i);
/* Memory order and scope of ld, st, atom, red with what PTX fills in where they are not given: atomics are relaxed at
 * scope gpu, volatile and mmio are relaxed at scope sys (PTX ISA 9.0, ld, st, atom). */
struct ws_ptx_order {
	enum ws_sem sem;
	enum ws_scope scope;     /* NONE: weak */
};
struct ws_ptx_order ws_ptx_order(const struct ws_ptx_inst *i);
/* Does the text of the instruction, one of f, hold the word? For forms that have no field of their own. */
bool ws_ptx_says(const struct ws_ptx_func *f, const struct ws_ptx_inst *i, const char *word);

/* "file.cu:12" of the innermost source position, or "name.ptx:40" where there is none; appended to out. */
void ws_ptx_where(const struct ws_ptx_module *m, const struct ws_ptx_inst *i, struct ws_buf *out);

struct ws_ptx_place {            /* the strings live as long as the module */
	const char *file;        /* NULL = no line information, and nothing else here counts */
	uint32_t line, col;
	bool nearby;             /* the compiler names no line; that is where the value is used first */
	const char *function;    /* inlined function that the line is in; NULL = the function itself */
	const char *inlined_file;/* where the outermost call was inlined; NULL = not inlined */
	uint32_t inlined_line;
};
void ws_ptx_place(const struct ws_ptx_func *f, const struct ws_ptx_inst *i, struct ws_ptx_place *p);

#endif

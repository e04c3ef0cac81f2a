/* ptx_priv.h - what the files of src/ptx share and nobody else sees. */
#ifndef WS_PTX_PRIV_H
#define WS_PTX_PRIV_H

#include "ptx/ptx.h"

/* ---- tables (ptx_table.c) ---- */
enum mod_class {                 /* bits of the mods column */
	M_TYPE_BIT, M_SPACE_BIT, M_RND_BIT, M_CMP_BIT, M_BOOL_BIT, M_ATOM_BIT, M_PART_BIT, M_SEM_BIT, M_SCOPE_BIT,
	M_CC_BIT, M_FTZ_BIT, M_SAT_BIT, M_APPROX_BIT, M_CLAMP_BIT, M_BFIND_BIT, M_NAN_BIT, M_RELU_BIT, M_OOB_BIT,
	M_TESTP_BIT, M_PRMT_BIT, M_SHF_BIT, M_CVT_BIT, M_CVTA_BIT, M_VEC_BIT, M_LD_BIT, M_CACHE_BIT, M_PREFETCH_BIT,
	M_STV_BIT, M_BAR_BIT, M_CLUSTER_BIT, M_MEMBAR_BIT, M_FENCE_BIT, M_SYNC_BIT, M_UNI_BIT, M_IDX_BIT, M_SHFL_BIT,
	M_VOTE_BIT, M_GRIDDEP_BIT, M_SETMAXNREG_BIT, M_PMEVENT_BIT, M_ALIGNED_BIT, M_POLICY_BIT, M_ASYNC_BIT,
	M_MBARRIER_BIT, M_TENSORMAP_BIT, M_MULTIMEM_BIT, M_CLC_BIT, M_TEX_BIT, M_SURF_BIT, M_TXQ_BIT, M_MMA_BIT,
	M_TCGEN_BIT, M_VIDEO_BIT, M_NOFTZ_BIT, M_RAW_BIT, M_BITS
};
#define M_(x) (UINT64_C(1) << M_##x##_BIT)
#define M_TYPE M_(TYPE)
#define M_SPACE M_(SPACE)
#define M_RND M_(RND)
#define M_CMP M_(CMP)
#define M_BOOL M_(BOOL)
#define M_ATOM M_(ATOM)
#define M_PART M_(PART)
#define M_SEM M_(SEM)
#define M_SCOPE M_(SCOPE)
#define M_CC M_(CC)
#define M_FTZ M_(FTZ)
#define M_SAT M_(SAT)
#define M_APPROX M_(APPROX)
#define M_CLAMP M_(CLAMP)
#define M_BFIND M_(BFIND)
#define M_NAN M_(NAN)
#define M_RELU M_(RELU)
#define M_OOB M_(OOB)
#define M_TESTP M_(TESTP)
#define M_PRMT M_(PRMT)
#define M_SHF M_(SHF)
#define M_CVT M_(CVT)
#define M_CVTA M_(CVTA)
#define M_VEC M_(VEC)
#define M_LD M_(LD)
#define M_CACHE M_(CACHE)
#define M_PREFETCH M_(PREFETCH)
#define M_STV M_(STV)            /* variants of st and red: .async, .bulk */
#define M_BAR M_(BAR)
#define M_CLUSTER M_(CLUSTER)
#define M_MEMBAR M_(MEMBAR)
#define M_FENCE M_(FENCE)
#define M_SYNC M_(SYNC)
#define M_UNI M_(UNI)
#define M_IDX M_(IDX)
#define M_SHFL M_(SHFL)
#define M_VOTE M_(VOTE)
#define M_GRIDDEP M_(GRIDDEP)
#define M_SETMAXNREG M_(SETMAXNREG)
#define M_PMEVENT M_(PMEVENT)
#define M_ALIGNED M_(ALIGNED)
#define M_POLICY M_(POLICY)
#define M_ASYNC M_(ASYNC)
#define M_MBARRIER M_(MBARRIER)
#define M_TENSORMAP M_(TENSORMAP)
#define M_MULTIMEM M_(MULTIMEM)
#define M_CLC M_(CLC)
#define M_TEX M_(TEX)
#define M_SURF M_(SURF)
#define M_TXQ M_(TXQ)
#define M_MMA M_(MMA)
#define M_TCGEN M_(TCGEN)
#define M_VIDEO M_(VIDEO)
#define M_NOFTZ M_(NOFTZ)
#define M_RAW M_(RAW)            /* every word of the mnemonic is kept in extra, in its order */
/* several at once, for ptx_ops.def */
#define M_FP (M_RND | M_FTZ | M_SAT)
#define M_MINMAX (M_FTZ | M_NAN | M_RELU)
#define M_ATOMIC (M_ATOM | M_NOFTZ)
#define M_SCALAR (M_VIDEO | M_SAT)
#define M_MEMORY (M_SPACE | M_SEM | M_SCOPE | M_CACHE | M_VEC)

enum mod_field {
	MF_TYPE, MF_OTHERTYPE, MF_SPACE, MF_RND, MF_CMP, MF_BOOL, MF_ATOM, MF_PART, MF_SEM, MF_SCOPE, MF_MODE, MF_FLAG,
	MF_VEC, MF_HINT, MF_VARIANT, MF_PROXY, MF_WARP, MF_WORD
};
struct mod_row {
	const char *word;                /* with the dot */
	uint64_t classes;
	uint8_t field;           /* enum mod_field */
	uint32_t value;
};
extern const struct mod_row ws_ptx_mods[];
extern const unsigned ws_ptx_nmods;

struct op_row {                  /* what ws_op_info does not tell outside */
	uint64_t mods;           /* M_* */
	uint8_t min_types, max_types;
	bool any_types;
	uint64_t types[3];       /* bit sets over enum ws_type */
	const char *args;        /* legend in ptx_ops.def */
};
extern const struct op_row ws_ptx_ops[];

const char *ws_ptx_mod_word(enum mod_field field, uint32_t value, uint64_t classes);   /* no dot; NULL if none */

/* ---- names (ptx_names.c): one entry a distinct word; keywords are entered first ---- */
enum binding_kind { B_REG, B_SYM, B_LABEL, B_TABLE };
struct binding {
	struct binding *shadowed;        /* same name, further out */
	struct binding *next;            /* same scope */
	struct name *name;
	uint16_t depth;
	uint8_t kind;
	bool poison;                     /* made up after an error, so that the error comes once */
	union { struct ws_reg *reg; struct ws_ptx_sym *sym; uint32_t index; } u;
};
struct range {                           /* .reg .b32 %r<10>: registers are made when first used */
	struct range *shadowed, *next;
	struct name *prefix;
	uint64_t count;
	enum ws_type type;
	uint8_t vec;
	uint16_t depth;
};
struct name {
	const char *str;
	uint32_t len;
	uint32_t hash;
	struct name *next;               /* hash chain */
	struct binding *top;
	struct range *range;
	uint16_t op;                     /* enum ws_op */
	uint16_t mod;                    /* first row of ws_ptx_mods + 1 */
	uint16_t directive;              /* enum directive */
	uint16_t sreg;                   /* enum ws_sreg */
};
struct names {
	struct ws_arena *arena;
	struct name **buckets;
	size_t nbuckets, count;
	uint16_t *mod_next;              /* a row of ws_ptx_mods -> 1 + the next row of the same word, or 0 */
};
void ws_names_init(struct names *n, struct ws_arena *arena);
void ws_names_free(struct names *n);
struct name *ws_names_get(struct names *n, const char *s, size_t len);
struct name *ws_names_find(const struct names *n, const char *s, size_t len);          /* NULL if never seen */

/* ---- lexer (ptx_lex.c) ---- */
enum token_kind {
	TK_END, TK_IDENT, TK_DOT /* ".word" */, TK_INT, TK_FLOAT /* 0d or decimal */, TK_FLOAT32 /* 0f */, TK_STRING,
	TK_PUNCT /* ch */, TK_SHL, TK_SHR, TK_LE, TK_GE, TK_EQ, TK_NE, TK_ANDAND, TK_OROR, TK_BAD
};
struct token {
	uint8_t kind;
	char ch;
	bool is_unsigned;                /* INT with U */
	uint32_t off, len, line;
	struct name *name;               /* IDENT, DOT (with the dot) */
	uint64_t value;                  /* INT; bits of FLOAT and FLOAT32 */
};
struct lexer {
	const char *text;
	uint32_t pos, end, line;
	struct names *names;
	const char *error;               /* set with TK_BAD */
};
void ws_lex(struct lexer *lx, struct token *t);
/* From behind a '{' to behind the '}' that closes it; false: there is none, and lx is where it was. */
bool ws_lex_block(struct lexer *lx);

/* ---- parser ---- */
enum directive {
	D_NONE,
#define DIRECTIVE(id, word) D_##id,
#include "ptx/ptx_directives.def"
#undef DIRECTIVE
	D_COUNT
};

enum { MAX_NESTING = 256, MAX_SCRATCH_OPS = 16 };

enum fix_kind { FIX_LABEL, FIX_TABLE, FIX_PROTO, FIX_TABLE_ENTRY };
struct fixup {                           /* a label-like name used before the end of its scope */
	struct name *name;
	uint32_t off, len;
	uint8_t kind;
	struct ws_operand *operand;      /* LABEL, TABLE */
	struct ws_ptx_call *call;        /* PROTO */
	uint32_t table, entry;           /* TABLE_ENTRY: in func->tables */
};

struct scope {
	struct binding *bindings;
	struct range *ranges;
	uint32_t first_fixup;
};

struct pending_loc {                     /* function_name label: its string may come at the end of the file */
	struct ws_ptx_loc *loc;
	struct name *label;
	int64_t offset;
};

struct parser {
	struct ws_ptx_module *m;
	struct ws_arena *a;
	struct names names;
	struct lexer lx;
	struct token t;                  /* current token */
	const struct ws_sink *sink;
	struct ws_ptx_options opt;
	unsigned errors;
	bool stop;                       /* max_errors reached */
	uint32_t last_end;               /* end of the token before */
	int braces;                      /* open operand braces, for recovery */
	bool in_bracket;                 /* at the first thing behind '[': base + offset may stand */
	struct scope scopes[MAX_NESTING + 2];
	unsigned depth;                  /* 0 module, 1 function, 2.. nested */
	unsigned range_depth;            /* deepest scope with a range */
	struct fixup *fixups;
	size_t nfixups, fixups_cap;
	uint64_t init_bytes;             /* of all initializers so far */

	/* the function being read; arrays grow here and move to the arena at its end */
	struct ws_ptx_func *f;
	struct ws_reg **regs;
	size_t nregs, regs_cap;
	struct ws_ptx_sym **fvars;
	size_t nfvars, fvars_cap;
	struct ws_ptx_inst *insts;
	size_t ninsts, insts_cap;
	struct ws_ptx_label *labels;
	size_t nlabels, labels_cap;
	struct ws_ptx_branch_table *tables;
	size_t ntables, tables_cap;
	const struct ws_ptx_loc *loc;

	/* module arrays */
	struct ws_ptx_sym **vars;
	size_t nvars, vars_cap;
	struct ws_ptx_func **funcs;
	size_t nfuncs, funcs_cap;
	struct ws_ptx_file *files;
	size_t nfiles, files_cap;
	struct pending_loc *pending;
	size_t npending, pending_cap;
	struct map64 { uint64_t *keys; uint64_t *vals; size_t cap, n; } file_map, loc_map, string_map, copy_map;
	struct ws_buf strings;           /* bytes of .debug_str sections */
};

/* ptx_parse.c: tokens and errors */
void ws_p_next(struct parser *p);
bool ws_p_error(struct parser *p, uint32_t off, uint32_t len, const char *fmt, ...) WS_PRINTF(4, 5);  /* false */
bool ws_p_error_here(struct parser *p, const char *fmt, ...) WS_PRINTF(2, 3);          /* at the current token */
bool ws_p_is(const struct parser *p, char ch);
bool ws_p_accept(struct parser *p, char ch);
bool ws_p_expect(struct parser *p, char ch, const char *after);
void ws_p_skip(struct parser *p);                /* to behind the next ';', or before a '}' that closes a block */
uint64_t *ws_p_map(struct map64 *m, uint64_t key, bool *fresh);
bool ws_p_pragma(struct parser *p);
void *ws_p_copy(struct parser *p, const void *items, size_t n, size_t size);    /* into the arena; NULL if n is 0 */
void *ws_p_keep(struct parser *p, void *items, size_t n, size_t size);          /* the same, and frees items */
bool ws_p_file_number(struct parser *p, uint64_t number, uint32_t *index);

/* ptx_scope.c */
bool ws_p_open(struct parser *p, uint32_t off);
void ws_p_close(struct parser *p);
struct binding *ws_p_bind(struct parser *p, unsigned depth, struct name *n, enum binding_kind kind);
struct binding *ws_p_lookup(struct parser *p, struct name *n);   /* makes a register of a range; NULL if unknown */
void ws_p_bind_global(struct parser *p, struct name *n, struct ws_ptx_sym *s);
struct ws_reg *ws_p_new_reg(struct parser *p, const char *name, enum ws_type type, uint8_t vec);
void ws_p_add_range(struct parser *p, struct name *prefix, uint64_t count, enum ws_type type, uint8_t vec);
void ws_p_add_fixup(struct parser *p, const struct fixup *fx);

/* ptx_expr.c */
struct value { enum { V_INT, V_FLOAT, V_FLOAT32 } kind; bool is_unsigned; uint64_t bits; };
bool ws_p_constant(struct parser *p, struct value *v);           /* constant expression */
bool ws_p_offset(struct parser *p, int64_t *out);                /* { (+|-) product } */
bool ws_p_uint(struct parser *p, uint64_t *out, const char *what);
uint64_t ws_ptx_float_bits(const struct value *v, enum ws_type type);    /* a constant as bits of an element */

/* ptx_decl.c: variables, registers, initializers */
bool ws_p_reg_decl(struct parser *p);
bool ws_p_variable(struct parser *p, enum ws_linkage linkage, bool managed, uint32_t off);
bool ws_p_initializer(struct parser *p, struct ws_ptx_sym *s, const uint64_t *dims, unsigned ndims);
bool ws_p_param(struct parser *p, struct ws_ptx_sym **out, bool bind);
bool ws_p_attribute(struct parser *p, bool *managed);
struct ws_ptx_sym *ws_p_new_sym(struct parser *p, enum ws_sym_kind kind, struct name *n, uint32_t off);

/* ptx_func.c */
bool ws_p_function(struct parser *p, enum ws_linkage linkage, uint32_t off);
void ws_p_waiting_body(struct parser *p, struct ws_ptx_func *f);         /* lx is at its '{' */
bool ws_p_loc(struct parser *p);
bool ws_p_section(struct parser *p);
void ws_p_finish_locs(struct parser *p);

/* ptx_inst.c, ptx_operand.c, ptx_check.c */
bool ws_p_instruction(struct parser *p, const struct token *first);   /* first: '@' (current) or the opcode (passed) */
bool ws_p_operand(struct parser *p, struct ws_operand *o, unsigned depth);
bool ws_p_label_operand(struct parser *p, struct ws_operand *o, enum fix_kind kind);
bool ws_p_list(struct parser *p, struct ws_operand **out, uint32_t *n, char close, unsigned depth);
bool ws_ptx_mixed(const struct ws_ptx_inst *i);   /* add.f32.f16 and the like */
bool ws_ptx_is_raw(const struct ws_ptx_inst *i);  /* all words of the mnemonic are in extra */
bool ws_p_check(struct parser *p, struct ws_ptx_inst *i, const struct token *op);

#endif

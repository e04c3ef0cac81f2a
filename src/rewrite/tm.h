/* tm.h - what the files of the pass tm share: tm.c (functions), tm_flow.c (where sections are), tm_access.c (what is
 * put in the place of accesses). */
#ifndef WS_REWRITE_TM_H
#define WS_REWRITE_TM_H

#include "rewrite/rewrite_priv.h"

/* ---- tm_flow.c ---- */
/* The markers of include/warpsafe/atomic.h: moves of these numbers to a register. */
#define WS_TM_MARK_BEGIN 0x77735f74785f6265ull
#define WS_TM_MARK_END 0x77735f74785f656eull
#define WS_TM_MARK_AGAIN 0x77735f74785f7265ull
#define WS_TM_MARK_ABORT 0x77735f74785f6162ull
#define WS_TM_MARK_EITHER 0x77735f74785f6569ull
#define WS_TM_MARK_EITHER_END 0x77735f74785f6f72ull
enum ws_tm_mark { WS_TM_NO_MARK, WS_TM_BEGIN, WS_TM_END, WS_TM_AGAIN, WS_TM_ABORT, WS_TM_EITHER, WS_TM_EITHER_END };
enum ws_tm_mark ws_tm_mark_of(const struct ws_ptx_inst *i);

/* Where a function is in a section. Markers that the compiler has doubled, and ends that several beginnings come to,
 * make one section: it has any number of both. Sections are told by their numbers + 1; 0: none. */
struct ws_tm_section { uint32_t around; bool either; };  /* the one that it is in; a pair of alternatives */
struct ws_tm_flow {
	uint32_t *inside;        /* by instruction: the innermost section open before it; 0 also where control never comes */
	uint32_t *begins;        /* by instruction: the section that begins there */
	struct ws_tm_section *sections;  /* by number */
	uint32_t nsections;
};
/* false: a marker without its partner, which was told. */
bool ws_tm_flow_find(struct ws_pass *p, struct ws_ptx_func *f, struct ws_tm_flow *flow);
void ws_tm_flow_free(struct ws_tm_flow *flow);
/* Whether an instruction is in that section (its number), or in one that is in it. */
bool ws_tm_flow_in(const struct ws_tm_flow *flow, uint32_t inst, uint32_t section);
/* The innermost section around an instruction that ws_tx_abort there would undo, + 1; 0: it is not in this function. */
uint32_t ws_tm_flow_undone(const struct ws_tm_flow *flow, uint32_t inst);
/* Whether the program looks at what a begin returns. */
bool ws_tm_result_is_used(struct ws_ptx_func *f, const struct ws_ptx_inst *begin);
/* The registers that hold something at a begin and may be written in its section: a new attempt needs them back. */
struct ws_tm_saved {
	struct ws_reg **regs;
	size_t n, cap;
};
void ws_tm_saved_find(struct ws_ptx_func *f, const struct ws_tm_flow *flow, const struct ws_ptx_inst *begin,
                      struct ws_tm_saved *saved);

/* ---- a function that is being changed ---- */
struct ws_tm_body {
	struct ws_pass *p;
	struct ws_ptx_func *f;
	const char *thread;      /* register: address of the thread's transaction */
	const char *lost;        /* label: where an attempt goes that has lost; set before each instruction */
	uint32_t calls;          /* so far */
	struct ws_ptx_edits *whole; /* of the module: a second body has edits of its own */
	bool clusters;           /* the module makes generic addresses that may be of another block's shared memory */
};

/* Says what is wrong, with the source line if it is known. Returns false. */
bool ws_tm_refuse(struct ws_pass *p, const struct ws_ptx_func *f, const struct ws_ptx_inst *i, const char *fmt, ...)
	WS_PRINTF(4, 5);
/* A call of the runtime: arguments are registers or numbers, of 64 bits where their letter in `types` is 'l', of 32
 * where it is 'u'; result: a register of 32 bits or NULL. */
bool ws_tm_call(struct ws_tm_body *b, struct ws_code *c, const char *function, const char *types,
                const char *const *args, const char *result);
/* With `history`: tells of something that the section does; at: a register with a generic address, or NULL. */
void ws_tm_tell(struct ws_tm_body *b, struct ws_code *c, unsigned kind, uint32_t bytes, const char *at);
/* The same of the value that an access of so many bytes gets or gives. */
void ws_tm_tell_value(struct ws_tm_body *b, struct ws_code *c, uint32_t bytes);
/* To b->lost, if the attempt is. */
void ws_tm_leave_if_lost(struct ws_tm_body *b, struct ws_code *c);

/* ---- tm_features.c ---- */
/* Adds what the module's sections do. false: a marker without its partner, which was told. */
bool ws_tm_know(struct ws_pass *p, struct ws_tm_known *known);
/* Whether ws_tx_abort may undo that section, and leave those around it as they are. */
bool ws_tm_may_abort(struct ws_pass *p, struct ws_ptx_func *f, const struct ws_tm_flow *flow, uint32_t section);
/* Whether that section's code, with all that it calls, writes nothing but the thread's own variables. */
bool ws_tm_only_reads(struct ws_pass *p, struct ws_ptx_func *f, const struct ws_tm_flow *flow, uint32_t section);

/* ---- tm.c ---- */
/* A failed assertion. */
bool ws_tm_ends_program(const char *function);
bool ws_tm_has_markers(const struct ws_ptx_func *f);

/* ---- tm_access.c ---- */
/* What an instruction of a section becomes, if it is no call, return or marker. false: refused. */
bool ws_tm_instruction(struct ws_tm_body *b, struct ws_ptx_inst *i, const struct ws_rw_access *a);

#endif

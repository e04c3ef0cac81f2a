/* async_priv.h - asynchronous copies and mbarrier objects, shared by async*.c, mbarrier.c, decode_async.c and tensor.c.
 *
 * An asynchronous operation is executed at its instruction: addresses are resolved and checked, the observer is told.
 * Its effect is a job, which runs at once, or, when the random schedule or that of priorities says so, later: at a random moment, at the
 * latest when somebody waits for it or its cluster ends. */
#ifndef WS_ASYNC_PRIV_H
#define WS_ASYNC_PRIV_H

#include "gpu/gpu_priv.h"
#include "gpu/tensormap.h"

/* ---- decoded instructions ---- */
struct ws_dplace {                       /* an address operand */
	uint32_t reg, cache;
	int32_t off;
	uint8_t width, space;
};

enum ws_dasync_kind { WS_DA_CP, WS_DA_COPY, WS_DA_REDUCE, WS_DA_ST, WS_DA_RED, WS_DA_TENSOR, WS_DA_ARRIVE };

struct ws_dasync {                       /* cp.async, cp.async.bulk*, cp.reduce.async.bulk*, st.async, red.async */
	uint8_t kind;                    /* enum ws_dasync_kind */
	uint8_t track;                   /* enum ws_async */
	uint8_t bytes;                   /* CP: of a lane; ST, RED: of an element */
	uint8_t n;                       /* ST, RED: elements */
	uint8_t atom, type;
	uint8_t rank;                    /* TENSOR: dimensions */
	bool ignore_neg, noinc;
	bool load;                       /* TENSOR: to shared memory */
	struct ws_dplace dst, src, mbar; /* src of TENSOR loads, dst of its stores: the tensor map */
	uint32_t size;                   /* register: CP the src-size or NONE, COPY and REDUCE the bytes */
	uint32_t ignore;                 /* CP: predicate, or NONE */
	uint32_t ctas;                   /* multicast: register of the mask, or NONE */
	uint32_t byte_mask;              /* COPY with .cp_mask, or NONE */
	uint32_t value[4];               /* ST, RED */
	uint32_t coord[WS_TENSOR_DIMS];
	ws_atomic_fn *fn;                /* REDUCE, RED */
};

enum ws_mbar_code {
	WS_MB_INIT, WS_MB_INVAL, WS_MB_ARRIVE, WS_MB_DROP, WS_MB_EXPECT, WS_MB_COMPLETE, WS_MB_WAIT
};
struct ws_dmbar {
	uint8_t code, sem, scope;
	bool no_complete, expect, parity, try;
	struct ws_dplace place;
	uint32_t count;                  /* register: count, bytes, state or parity; NONE: 1 */
	uint32_t dst;                    /* state or predicate, or NONE */
};

/* ---- mbarrier objects (mbarrier.c) ----
 * The object in memory is a copy of what stands here; that they differ shows that the program overwrote it. */
struct ws_mbar_object {
	uint32_t offset;
	bool valid;                      /* between init and inval */
	uint32_t expected, pending;      /* arrivals: of a phase, still to come in this one */
	int64_t tx;                      /* bytes still to come */
	uint64_t phase;
	uint64_t word;                   /* as it is in memory */
	uint64_t ops;                    /* asynchronous operations so far */
};

/* What an error or an event refers to. */
struct ws_origin {
	const struct ws_code *code;
	const struct ws_dinst *in;
	struct ws_warp *warp;
	uint32_t lane;
};

/* The valid object at a place; NULL: x->err is set. */
struct ws_mbar_object *ws_mbar_get(struct ws_exec *x, const struct ws_origin *o, struct ws_block *b, uint32_t offset);
bool ws_mbar_complete_tx(struct ws_exec *x, const struct ws_origin *o, struct ws_block *b, uint32_t offset,
                         uint64_t bytes);
/* cp.async.mbarrier.arrive: what happens at the instruction, and what when the copies are complete. */
bool ws_mbar_expect_one(struct ws_exec *x, const struct ws_origin *o, struct ws_block *b, uint32_t offset);
bool ws_mbar_arrive_cp(struct ws_exec *x, const struct ws_origin *o, struct ws_block *b, uint32_t offset, uint32_t mask,
                       const uint64_t op[WS_WARP]);
bool ws_mbar_tell_access(struct ws_exec *x, const struct ws_dinst *in, const struct ws_resolved *r, unsigned scope,
                         bool wrote);

/* ---- groups of operations (async.c) ---- */
struct ws_commit { uint64_t op; uint32_t mask; };
struct ws_groups {                       /* of one kind, of one warp */
	uint64_t ops;                    /* instructions so far; also the number of the last */
	uint64_t last[WS_WARP];          /* of a lane */
	struct ws_commit *commit;        /* groups that a lane has not waited for, oldest first */
	size_t n, cap;
};

struct ws_block_async {                  /* made when a block first needs it */
	struct ws_groups *groups;        /* two a warp: cp.async, bulk */
	struct ws_mbar_object *mbar;
	size_t nmbar, cap_mbar;
};
struct ws_block_async *ws_copy_state(struct ws_block *b);
struct ws_groups *ws_copy_groups(struct ws_warp *w, enum ws_async kind);

/* ---- jobs (async.c) ---- */
struct ws_job {
	struct ws_job *next;
	const struct ws_dasync *d;
	struct ws_origin from;
	uint64_t op;
	uint32_t lanes;                  /* CP, ST, RED: that are still to be done */
	struct ws_block *mbar_block, *dst_block;         /* or NULL */
	uint32_t mbar;
	uint64_t tx;                     /* bytes to tell the mbarrier object of */
	uint8_t *copy;                   /* of the source, owned: it was read before the destination is written */
	union {
		struct { uint8_t *dst[WS_WARP]; const uint8_t *src[WS_WARP]; uint8_t n[WS_WARP]; } cp;
		struct { uint8_t *dst; const uint8_t *src; uint32_t size; uint16_t byte_mask; } bulk;
		struct { uint8_t *dst[WS_WARP]; _Alignas(16) uint8_t value[4][WS_WARP * 8]; } st;
		struct { struct ws_tensormap map; int32_t at[WS_TENSOR_DIMS]; uint8_t *shared; uint32_t offset; } tensor;
		uint64_t arrive[WS_WARP];
	} u;
};
/* Runs the job, or keeps a copy of it for later. false: x->err is set. */
bool ws_copy_submit(struct ws_exec *x, struct ws_job *j);
/* What is complete before a wait on this object. */
bool ws_copy_settle_mbar(struct ws_exec *x, const struct ws_block *b, uint32_t offset);
/* All operations on that object up to this number are complete. */
uint64_t ws_copy_done(const struct ws_exec *x, const struct ws_block *b, const struct ws_mbar_object *m);

/* A job that waits: its source is read now. */
void ws_copy_read_source(struct ws_job *j);

/* ---- helpers ---- */
/* The next number of a track of the warp, for an instruction of these lanes. */
uint64_t ws_copy_number(struct ws_warp *w, enum ws_async kind, uint32_t mask);
/* Is the mask of blocks one of the cluster? */
bool ws_copy_multicast(struct ws_exec *x, const struct ws_dinst *in, uint32_t lane, uint32_t ctas);
struct ws_origin ws_copy_origin(struct ws_exec *x, const struct ws_dinst *in, uint32_t lane);
bool ws_fail_origin(struct ws_exec *x, const struct ws_origin *o, enum ws_gpu_errcode code, const char *fmt, ...)
	WS_PRINTF(4, 5);
/* Tells the observer of n bytes that one lane's operation accesses, in pieces of 16 bytes a "lane". */
struct ws_span {
	uint8_t space;
	uint64_t addr, bytes;            /* address or offset */
	struct ws_mem *mem;
	struct ws_block *peer;
};
void ws_copy_tell(struct ws_exec *x, const struct ws_dinst *in, struct ws_access *a, const struct ws_span *s);
/* The address of a lane's operand, resolved for `bytes` bytes and aligned to `align`; false: x->err is set. host: where
 * the bytes are. */
struct ws_spot { struct ws_span span; struct ws_block *block; uint8_t *host; };
bool ws_copy_place(struct ws_exec *x, const struct ws_dinst *in, const struct ws_dplace *p, uint32_t lane,
                   uint32_t bytes,
                   uint32_t align, bool write, struct ws_spot *out);
/* The number of the next operation that the object tracks; 0: x->err is set. */
uint64_t ws_copy_next_op(struct ws_exec *x, const struct ws_origin *o, struct ws_block *b, uint32_t offset);

/* ---- async_bulk.c, tensor.c ---- */
void ws_bulk_run(struct ws_exec *x, struct ws_job *j);
bool ws_tensor_run(struct ws_exec *x, struct ws_job *j);
void ws_tensor_read_source(struct ws_job *j);
ws_op_fn ws_op_cp_async_copy, ws_op_commit_group, ws_op_wait_group, ws_op_cp_arrive, ws_op_mbarrier, ws_op_bulk,
	ws_op_st_async, ws_op_tensor, ws_op_pending_count;

/* ---- decode_async.c ---- */
bool ws_dec_place(struct ws_decoder *dc, const struct ws_operand *o, enum ws_space space, struct ws_dplace *p);

#endif

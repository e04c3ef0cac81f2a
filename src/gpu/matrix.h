/* matrix.h - what the files of the matrix instructions share (matrix*.c, wgmma.c; included by no others): element
 * types, decoded operands, products. */
#ifndef WS_GPU_MATRIX_H
#define WS_GPU_MATRIX_H

#include "gpu/gpu_priv.h"

enum ws_melem { WS_ME_NONE, WS_ME_F16, WS_ME_BF16, WS_ME_TF32, WS_ME_F32, WS_ME_F64, WS_ME_S8, WS_ME_U8, WS_ME_S32,
	WS_ME_E4M3, WS_ME_E5M2, WS_ME_B16 };
enum { WS_MAT_D, WS_MAT_A, WS_MAT_B, WS_MAT_C, WS_MATS };
enum { WS_MAT_MAX_K = 32, WS_MAT_MAX_N = 256, WS_MAT_ROWS = 32 };

struct ws_mregs { uint32_t n, *reg; uint8_t width; };            /* registers of an operand, bytes of a lane in each */

struct ws_matrix {                       /* a decoded instruction */
	uint16_t m, n, k;
	uint8_t type[WS_MATS];           /* enum ws_melem */
	bool saturate;
	struct ws_mregs r[WS_MATS];
	/* memory: ldmatrix, stmatrix, wmma.load, wmma.store */
	uint32_t addr, stride;           /* registers; stride: WS_LANE_NONE = as the shape has it */
	int32_t off;
	uint8_t addr_width, space, count, which;         /* matrices of ldmatrix; operand of wmma.load */
	bool transposed, column;
	uint32_t cache;
	/* wgmma */
	uint32_t desc[WS_MATS];          /* registers of the descriptors of A and B; A: WS_LANE_NONE = in registers */
	bool trans[WS_MATS], negate[WS_MATS];
	uint32_t scale;                  /* predicate register */
	bool scale_negated;
	uint32_t pending;                /* wait_group */
};

unsigned ws_melem_bytes(unsigned type);
double ws_melem_get(unsigned type, const void *p);
void ws_melem_put(unsigned type, void *p, double v, bool saturate);

/* c += a * b: a has m rows of k, b k rows of n, c m rows of n, one after the other. f64: with fused steps in rising
 * order of k. Else in double, which is exact for products of all the other types and for sums of small integers. */
void ws_matrix_product(const struct ws_matrix *t, unsigned m, const double *a, const double *b, double *c);

/* The fragments of mma and wgmma (PTX ISA 9.0, Matrix Fragments for mma.m16n8k16 and its relatives). */
void ws_fragment_a(const struct ws_matrix *t, const uint8_t *regs, unsigned rows, double *a);
void ws_fragment_b(const struct ws_matrix *t, const uint8_t *regs, double *b);
void ws_fragment_c(const struct ws_matrix *t, const uint8_t *regs, unsigned which, double *c);
void ws_fragment_d(const struct ws_matrix *t, uint8_t *regs, const double *d);

/* The instruction needs the whole warp: WS_NEXT if it is there; else what the handler has to return. */
enum ws_next ws_whole_warp(struct ws_exec *x, const struct ws_dinst *in, uint32_t mask);

ws_op_fn ws_op_mma, ws_op_ldmatrix, ws_op_stmatrix, ws_op_movmatrix, ws_op_wmma_load, ws_op_wmma_store, ws_op_wmma_mma,
	ws_op_wgmma, ws_op_wgmma_commit, ws_op_wgmma_wait, ws_op_wgmma_fence;

/* matrix_decode.c's, for wgmma.c */
struct ws_mwords {                       /* the words behind the opcode */
	char action[16], which[4];       /* wmma: load, a; wgmma: mma_async */
	unsigned m, n, k, ntypes, nlayouts, count;
	uint8_t types[4];
	bool column[2], trans, saturate, sparse;
	const char *unknown;             /* a word that is none of these */
	char unknown_text[32];
};
void ws_matrix_words(const struct ws_ptx_inst *in, struct ws_mwords *w);
bool ws_matrix_registers(struct ws_decoder *dc, const struct ws_operand *o, struct ws_matrix *t, unsigned which,
                         uint32_t n);
bool ws_matrix_refuse(struct ws_decoder *dc);                    /* "does not know this form"; returns false */
bool ws_dec_wgmma(struct ws_decoder *dc, const struct ws_mwords *w);

#endif

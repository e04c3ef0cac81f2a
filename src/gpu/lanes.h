/* lanes.h - arithmetic, logic, comparison and conversion on a whole warp: one call an instruction, 32 lanes.
 *
 * A register is an array in the warp's register file, aligned to 64 bytes, element l belonging to lane l:
 *     .pred                    one uint32_t, bit l            (width 0)
 *     8- and 16-bit types      uint16_t[32]                   (width 2)
 *     32-bit types             uint32_t[32]                   (width 4)
 *     64-bit types             uint64_t[32]                   (width 8)
 *     .b128                    uint64_t lo[32], hi[32]        (width 16)
 * Immediates, kernel parameters and constant special registers are laid out as such arrays as well, so that a lane
 * function sees arrays only. A lane function writes the lanes of `mask` and no others; sources may be the
 * destination. Rounding, saturation and flushing are PTX ISA 9.0's, chapter 9.7. */
#ifndef WS_LANES_H
#define WS_LANES_H

#include "ptx/ptx.h"

struct ws_lane_op;
typedef void ws_lane_fn(const struct ws_lane_op *op, uint8_t *regs, uint32_t mask);

struct ws_lane_op {
	ws_lane_fn *fn;
	uint32_t d, d2;          /* destinations: byte offsets from regs; d2 of p|q pairs; WS_LANE_NONE for a sink */
	uint32_t a, b, c, e, f, g;/* sources in text order, byte offsets from regs */
	uint32_t cc;             /* offset of the carry flag CC.CF, a uint32_t of one bit a lane */
	uint32_t imm;            /* constant of the instruction form: lop3's table, prmt's mode, ... */
};
#define WS_LANE_NONE UINT32_MAX

/* Chooses the lane function of an instruction: everything of PTX ISA 9.7.1 to 9.7.8 and the parts of 9.7.9 that touch
 * registers only (mov between registers, cvt, selp, slct, prmt, shf, ...): not ld/st/atom, not shfl/vote, not control.
 * Fills op->fn and op->imm; width[k] is the element width that operand k must have (see above) so that the caller can
 * lay out immediates; for a register operand it equals the declared width. A {a,b} vector in mov counts its elements
 * as operands of their own, in order: at most WS_LANE_OPERANDS. Offsets are the caller's to fill.
 * false: not an instruction of this kind, or a form that is not supported: *why says so (static text, may be NULL for
 * the former). */
enum { WS_LANE_OPERANDS = 10 };
bool ws_lanes_decode(const struct ws_ptx_inst *inst, struct ws_lane_op *op, unsigned width[WS_LANE_OPERANDS],
                     const char **why);

/* Where the offset of operand k (counted as for width[]) belongs: &op->d, ... ; NULL: folded into op->imm, lay out
 * nothing (lop3's table). Destinations go to d, d2, f, g (the latter two only when mov takes a register apart into
 * four), sources to a, b, c, e, f, g. A sink gets WS_LANE_NONE. NULL as well when inst has no operand k. */
uint32_t *ws_lanes_slot(struct ws_lane_op *op, const struct ws_ptx_inst *inst, unsigned k);
/* Operand k itself (an element of a vector where there is one), NULL past the last: for (k = 0; ...; k++). */
const struct ws_operand *ws_lanes_operand(const struct ws_ptx_inst *inst, unsigned k);

/* Lane functions need round-to-nearest without flushing on the calling thread, whatever the program under test has
 * set: enter once before executing, leave with its result afterwards. */
unsigned ws_lanes_fp_enter(void);
void ws_lanes_fp_leave(unsigned saved);

/* Name of the instruction set in use ("v4", "v3", "base"); WARPSAFE_ISA=name forces a lower one. */
const char *ws_lanes_isa(void);

/* Immediate operand k of inst as the bits of one element of width bytes (converts 0f to f64, 0d to f32, ...). */
uint64_t ws_lanes_immediate(const struct ws_ptx_inst *inst, const struct ws_operand *o, unsigned width);

#endif

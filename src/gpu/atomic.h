/* atomic.h - atom and red: read-modify-write of memory, lane by lane in rising order of lanes.
 *
 * The decoder chooses a function from the instruction, the space that the address resolved to, and whether other host
 * threads may touch the same memory meanwhile (global memory when blocks run on several threads) or not (shared
 * memory, or one host thread). The executor has resolved and checked all addresses before. */
#ifndef WS_ATOMIC_H
#define WS_ATOMIC_H

#include "ptx/ptx.h"

enum { WS_ATOMIC_VEC = 8 };

struct ws_atomic_args {
	uint8_t *const *host;        /* 32: where a lane's location is in this process; valid and aligned for the lanes of mask */
	uint32_t mask;
	const void *a[WS_ATOMIC_VEC];/* operand b of PTX (cas: the value compared), a lane array (lanes.h) an element */
	const void *b;               /* cas only: the new value */
	void *d[WS_ATOMIC_VEC];      /* old values, a lane array an element; NULL: not wanted (red, or a sink) */
};

/* Returns the lanes that changed memory: all of mask, but of a cas only those that found what they compared with. */
typedef uint32_t ws_atomic_fn(const struct ws_atomic_args *x);

/* space: WS_SPACE_GLOBAL or WS_SPACE_SHARED (_CLUSTER), never GENERIC: an instruction on a generic address needs both
 * (add.f32 flushes subnormals in global memory only). NULL: no such operation on that type; *why (static text) says
 * so. d, a and b are laid out by ws_atomic_width: 2, 4, 8 or 16 bytes a lane and element. */
ws_atomic_fn *ws_atomic_find(const struct ws_ptx_inst *inst, enum ws_space space, bool other_threads, const char **why);

unsigned ws_atomic_width(const struct ws_ptx_inst *inst);      /* bytes of an element */
/* Bytes of a lane's whole access (width times vector length); also its alignment. */
unsigned ws_atomic_bytes(const struct ws_ptx_inst *inst);

#endif

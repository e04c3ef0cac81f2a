/* syscall.h - the functions that device code calls but no module defines: vprintf, malloc, free, __assertfail.
 *
 * The executor resolves a call to an undefined function by name here. It gives the arguments as lane arrays and a way to
 * read memory at generic addresses; it gets results, or an error that ends the kernel. */
#ifndef WS_SYSCALL_H
#define WS_SYSCALL_H

#include "gpu/gpu.h"

struct ws_memmap;

enum { WS_SYSCALL_ARGS = 5 };

struct ws_syscall {
	struct ws_memmap *map;
	int printf_fd;               /* ws_gpu_config.printf_fd */
	uint32_t mask;               /* lanes that call */
	uint64_t arg[WS_SYSCALL_ARGS][WS_WARP];  /* zero-extended, in the order of the PTX declaration */
	uint64_t ret[WS_WARP];       /* results (low bytes), if the function has one */
	uint32_t ctaid[3];
	uint32_t tid[WS_WARP][3];
	const char *origin;          /* for malloc: "malloc at app.cu:12"; may be NULL */
	/* Copies n bytes from a generic address (global, shared, local) as seen by a lane. Returns false when it is not
	 * readable. */
	bool (*read)(void *core, uint32_t lane, uint64_t addr, void *dst, size_t n);
	void *core;
	/* set by a function that returns false: */
	uint32_t lane;               /* whose fault it is */
	struct ws_gpu_error *err;    /* code and one or more lines of text are set; the caller adds where it was */
};

/* false: the kernel ends with *call->err. */
typedef bool ws_syscall_fn(struct ws_syscall *call);

struct ws_syscall_info {
	const char *name;
	ws_syscall_fn *fn;           /* NULL: known and refused */
	uint8_t nargs, nrets;
	uint8_t arg_bytes[WS_SYSCALL_ARGS], ret_bytes;
	const char *why;             /* refused: what it would need, one line */
};
/* NULL: not a name that the simulated GPU knows. Names of the CUDA device runtime are known and refused. */
const struct ws_syscall_info *ws_syscall_find(const char *name);

#endif

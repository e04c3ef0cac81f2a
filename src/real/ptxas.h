/* ptxas.h - the compiler of a CUDA toolkit, where one is installed. It compiles a module as a whole: functions need not save what their
 * callers may have in registers, as those do that the driver's linker makes one by one (docs/REWRITE.md, "Compiled as a whole"). */
#ifndef WS_REAL_PTXAS_H
#define WS_REAL_PTXAS_H

#include "base/base.h"

/* The path of the first there is: on the PATH, in $CUDA_HOME/bin, $CUDA_PATH/bin, /usr/local/cuda/bin. NULL: there is none. The caller
 * frees it. */
char *ws_ptxas_find(void);
/* What tells this one from others (path, size, time of change), in a string that the caller frees. */
char *ws_ptxas_mark(const char *path);
/* How much it has to compile, in bytes of text: with each kernel that has checks all functions are compiled anew. */
size_t ws_ptxas_work(const char *text, size_t kernels);

struct ws_ptxas_job {
	const char *path, *text;     /* of the compiler; of the module */
	size_t len;
	uint32_t cc;                 /* of the GPU: 90 = 9.0 */
	int driver;                  /* the newest CUDA that the driver knows, as it says it itself: 13000 = 13.0 */
	uint64_t limit_ns;           /* it may take */
	void (*lasts)(void);         /* called once it has taken `patience_ns`; NULL: it is not */
	uint64_t patience_ns;
	bool killed;                 /* afterwards: a signal ended it (memory ran out, say), so that it may do better the next time */
};
/* Two processes, of which one only says its version. Nothing is left behind, also if this process is killed meanwhile. The caller
 * frees *cubin. false: why has the reason. */
bool ws_ptxas_compile(struct ws_ptxas_job *j, void **cubin, size_t *len, struct ws_buf *why);

#endif

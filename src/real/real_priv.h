/* real_priv.h - what the files of src/real share. */
#ifndef WS_REAL_PRIV_H
#define WS_REAL_PRIV_H

#include "base/options.h"
#include "base/process.h"
#include "real/race.h"
#include "real/real.h"
#include "report/report.h"

/* ---- bind.c: the driver's functions ---- */
/* NULL where the driver does not have one. Written when the stub is bound, before the program can call any. */
struct ws_real_driver {
#define WRAP(name, base, since, threads, args) int (*name) args;
#define USE(name, args) int (*name) args;
#include "real/real_api.def"
#undef WRAP
#undef USE
};
extern struct ws_real_driver ws_real;

/* Ours. The driver's function is there when one of these is called. */
#define WRAP(name, base, since, threads, args) int ws_real_##name args;
#define USE(name, args)
#include "real/real_api.def"
#undef WRAP
#undef USE

enum {                               /* CUresult, as far as it is made or told apart here */
	WS_REAL_INVALID_VALUE = 1,
	WS_REAL_STUB_LIBRARY = 34,   /* "the CUDA driver that the application has loaded is a stub library" */
	WS_REAL_NOT_FOUND = 500
};
enum { WS_LINK_CUBIN, WS_LINK_PTX, WS_LINK_FATBINARY };      /* CUjitInputType */

/* ---- session.c: one a process, from its first CUDA call on ---- */
struct ws_real_session {
	struct ws_options options;
	const struct ws_real_pass *pass;     /* NULL: programs run as they are */
	bool checks;                         /* the pass is one for races */
	bool transactions;                   /* it is the one for marked sections */
	struct ws_report *report;
	unsigned modules;                    /* looked at so far; names them */
};
/* NULL in a process forked from one that had a session: CUDA does not work there. */
struct ws_real_session *ws_real_session(void);
/* "warpsafe: TEXT" on the error stream. */
void ws_real_tell(const char *fmt, ...) WS_PRINTF(1, 2);

enum ws_real_figure { WS_FIG_LOOKED, WS_FIG_REWRITTEN, WS_FIG_COMPILED, WS_FIG_CACHED, WS_FIG_REWRITE_NS, WS_FIG_COMPILE_NS,
	              WS_FIG_PROBES, WS_FIG_PROVED, WS_FIG_SILENT, WS_FIG_ALIKE, WS_FIG_TOLD, WS_FIG_PLAIN, WS_FIG_WITH_CHECKS,
	              WS_FIG_RANGES, WS_FIG_TOUCHED, WS_FIG_SHADOW, WS_FIG_WHOLE, WS_FIG_SURE, WS_FIG_STATES, WS_FIG_PARTS, WS_FIG_COUNT };
void ws_real_count(enum ws_real_figure f, uint64_t n);       /* told at exit with --stats */
void ws_real_most(enum ws_real_figure f, uint64_t n);        /* one that is the most there was */

struct ws_real_kernel_params {           /* CUDA_KERNEL_NODE_PARAMS_v2; without the last two it is that of version 1 */
	void *function;
	unsigned grid[3], block[3], shared;
	void **params, **extra;
	void *kernel, *context;
};

struct ws_real_config {                  /* CUlaunchConfig */
	unsigned grid[3], block[3], shared;
	void *stream;
	const struct ws_real_attribute { int id, pad, value[16]; } *attributes;  /* CUlaunchAttribute */
	unsigned nattributes;
};

/* ---- image.c: device code taken apart ---- */
struct ws_real_part {
	char *text;                  /* PTX, NUL-terminated, owned; NULL: there is none that the GPU can run */
	size_t len;
	const struct ws_real_table *table;   /* of the checks in it, once it was rewritten; NULL = none */
	const void *binary;          /* then the container, to be linked as it is */
	size_t binary_len;
};
struct ws_real_image {
	struct ws_real_part *parts;  /* several are linked together (relocatable device code) */
	size_t n, ntexts;            /* parts; those with text */
	char *why;                   /* why a part has no text; owned; NULL = all have */
};
/* len 0: as long as it says, and as memory is readable. The image keeps pointers into data. cc: of the GPU. */
void ws_real_image_read(struct ws_real_image *i, const void *data, size_t len, uint32_t cc);
void ws_real_image_free(struct ws_real_image *i);

/* ---- code.c: what is known of a module's code, and what the driver gets in its place ---- */
struct ws_real_code {
	char *why;                   /* its kernels cannot be checked: why; NULL = they can */
	char *entries;               /* but these can (names, NUL-terminated, an empty one at the end); may be NULL */
	void *cubin;                 /* given to the driver in place of the program's code; NULL = the program's own */
	size_t len;
	bool whole;                  /* made by a toolkit's compiler */
	const struct ws_real_table **tables; /* of its parts, if they were rewritten by a pass for races */
	size_t ntables, captables;
	const char *variable;        /* that tells its checks where they work; NULL = it has none */
	struct ws_real_gpu **ready, *latest; /* where that was told; `latest` may be read without a lock */
	size_t nready, capready;
};
struct ws_real_jit {                 /* options of a call of the program that loads code */
	unsigned n;
	const int *options;
	void *const *values;
};
/* Looks at code that is about to be loaded; len as in ws_real_image_read; any_device: it is for every GPU. The caller
 * frees with ws_real_code_free. NULL without a session. */
struct ws_real_code *ws_real_code_look(const void *data, size_t len, bool any_device, const struct ws_real_jit *jit);
void ws_real_code_free(struct ws_real_code *c);
/* The code is the program's own from now on, for this reason; takes `why` over. */
void ws_real_code_give_up(struct ws_real_code *c, char *why);
void ws_real_code_add_table(struct ws_real_code *c, const struct ws_real_table *t);
/* Rewrites PTX in i by the session's pass, in place. part: it will be linked with other code by the program. false: `why`
 * begins with what is wrong, which was told. */
bool ws_real_rewrite(struct ws_real_image *i, uint32_t cc, bool part, struct ws_buf *why);
/* The names of the kernels of all texts, in the form of struct ws_real_code's entries. */
void ws_real_entries(const struct ws_real_image *i, struct ws_buf *out);
/* Compute capability of the GPU that code is loaded for; 0: it cannot be known. */
uint32_t ws_real_cc(bool any_device);

/* Shared memory of the checks, and what its alignment may take; and in modules with copies of tensors or products of warpgroups. */
enum { WS_REAL_SHARED_OF_CHECKS = WS_RACE_BLOCK_BYTES + 128, WS_REAL_SHARED_WITH_TENSORS = 4096 + 128 };

/* ---- ask.c ---- */
/* An attribute of a function. The driver has none of a CUkernel, or it has: then *function becomes its CUfunction. false: not known. */
bool ws_real_attribute_of(void **function, int attribute, int *value);
uint64_t ws_real_device_attribute(int attribute);            /* of the current context's GPU; 0: not known */
uint64_t ws_real_processors(void);                           /* its multiprocessors; likewise */
/* Blocks of so many threads that run at a time on a multiprocessor; 0: none do, or it is not known. */
uint64_t ws_real_occupancy(void *function, uint64_t threads, uint64_t dynamic);
uint64_t ws_real_volume(const unsigned size[3]);             /* blocks of a grid, threads of a block */

/* ---- compile.c ---- */
/* Compiles and links the parts with the driver's linker, or as a whole with a toolkit's compiler (ptxas.h), or takes what was made before from the cache. The caller frees
 * c->cubin. false: why has the reason. */
bool ws_real_compile(const struct ws_real_image *i, uint32_t cc, const struct ws_real_jit *jit, struct ws_real_code *c, struct ws_buf *why);
/* The driver did not load what a toolkit's compiler has made. true: as it does not know such code, so from now on it compiles all itself, which is told
 * once. false: it had another reason (no memory). */
bool ws_real_compile_refused(int error);

/* ---- together.c ---- */
/* Machine code with checks, in place: their functions part no lanes. How many instructions were changed. */
unsigned ws_real_keep_together(void *cubin, size_t len);

/* ---- link.c: cubins that the program linked itself ---- */
/* What is known of it, when data begins with one that the program got from cuLinkComplete; the caller frees. */
struct ws_real_code *ws_real_linked(const void *data, size_t readable);

/* ---- kernels.c: modules, functions, launches ---- */
struct ws_real_kernel;
/* A module or library was loaded; takes code over, which may be NULL. */
void ws_real_module_add(void *handle, struct ws_real_code *code, bool library);
void ws_real_module_alias(void *handle, void *library);      /* the module of a library */
void ws_real_module_remove(void *handle);
void ws_real_function_add(void *handle, void *module, const char *name);
void ws_real_function_alias(void *function, void *kernel);
/* A context ended: handles that were learned at their launch may come to mean others. */
void ws_real_functions_forget(void);
/* The kernel behind a CUfunction or CUkernel; NULL without a session. Lives on. */
struct ws_real_kernel *ws_real_kernel_of(void *handle);
/* The code of the module that a function is of, and the handle of that module or library. NULL: not known. */
struct ws_real_code *ws_real_code_of(void *function, void **module, bool *library);
/* It is the kernel as it is beside a checked one: its launches are launches of that kernel, without checks. */
void ws_real_function_is_plain(void *plain, void *function);
/* What the program knows a function by: the checked one's handle for that beside it. */
void *ws_real_function_of_program(void *function);
/* What the pass for races says of it; NULL: nothing. */
const struct ws_real_checked_kernel *ws_real_checked_kernel_of(void *function);
const char *ws_real_checked_name(const struct ws_real_kernel *k);    /* for people; NULL: it is not checked */
void ws_real_launched(struct ws_real_kernel *k);             /* NULL is fine */
/* A launch of it runs without checks, for they have room beside `most` bytes of dynamic shared memory. */
void ws_real_leaves_no_room(struct ws_real_kernel *k, uint64_t most);
/* Likewise, for more of its blocks must run at a time than can with checks. */
void ws_real_runs_too_many(struct ws_real_kernel *k);
/* Kernels of ours that stand beside those of a module or library (plain.c). */
unsigned ws_real_kernels_beside(void *module);
/* The address of a module's (or library's) variable in the current context, and its size. 0: there is none. */
uint64_t ws_real_variable(void *module, bool library, const char *name, size_t *bytes);
struct ws_real_times *ws_real_times_of(struct ws_real_kernel *k);
void ws_real_tell_times(void);                               /* a line for each kernel that was timed */
void ws_real_gather(void *report);                           /* brings the report's rows up to date */

/* ---- transact.c: `warpsafe tm` ---- */
/* As struct ws_real_pass wants it. A section that cannot be atomic ends the program with status 2. */
bool ws_real_transact(const struct ws_real_text *t, struct ws_buf *out, struct ws_buf *why, const struct ws_real_table **table);
_Noreturn void ws_real_transact_refused(const char *why);
bool ws_real_transactions(void);             /* is that what is done here? */
void ws_real_transact_bare(void);            /* there is code without PTX */
void ws_real_transact_prepare(void *function);       /* before a launch */
/* Engine auto, around a launch. Whether the launch is timed: it is then waited for, and no other thread launches meanwhile. */
bool ws_real_transact_begin(void);
void ws_real_transact_end(bool begun, const void *function);
void ws_real_transact_waited(int e);         /* the program has waited for the GPU, with this result */
/* Before a module or library is unloaded. false: it must stay, for others use its tables. */
bool ws_real_transact_unload(void *module);
void ws_real_transact_forget(void *context); /* it has ended; NULL: all may have */
void ws_real_transact_tell(void);            /* at the end of the program */

/* ---- wrap_sync.c ---- */
/* The program has waited for the GPU, with this result, which is returned: what was found is read. */
int ws_real_waited(int e);

/* ---- history.c: their histories ---- */
bool ws_real_history_wanted(void);
/* Before and after a module is rewritten, one at a time: the number of places so far, and those of the module. */
uint32_t ws_real_history_rewrites(void);
void ws_real_history_rewrote(const char *const *list, size_t n);
/* Around a launch. Whether it is judged: it is then waited for, and no other thread launches meanwhile. */
bool ws_real_history_begin(void *function);
void ws_real_history_end(bool begun, const struct ws_real_kernel *kernel);
void ws_real_history_tell(struct ws_buf *b);

/* ---- wrap_launch.c ---- */
/* May such a kernel go on until something is done that is not part of it? NULL: nothing is known of it. */
bool ws_real_may_wait(const struct ws_real_checked_kernel *k);
bool ws_real_is_captured(void *stream, bool per_thread);     /* what is put into it becomes part of a graph */
bool ws_real_capturing(void);                /* is a stream being captured? Then nothing can be waited for */
enum { WS_REAL_RELAXED = 2, WS_REAL_NON_BLOCKING = 1 };      /* CU_STREAM_CAPTURE_MODE_RELAXED, CU_STREAM_NON_BLOCKING */
/* While a stream is captured, calls that might disturb it are refused; ours do not. Returns the mode to go back to. */
int ws_real_relax_capture(int mode);

/* ---- times.c: how long kernels ran, with --stats ---- */
struct ws_real_times {
	uint64_t ns, launches;               /* of launches whose end was seen */
	void *loaded, *loaded_in;            /* a function that is on the GPU, in this context; times.c */
};
struct ws_real_span;
typedef int ws_real_record(void *event, void *stream);       /* the driver's cuEventRecord, of either form */
/* Before a launch of the function into the stream; `of` lives on. NULL: it is not timed. */
struct ws_real_span *ws_real_time_begin(struct ws_real_times *of, void *function, ws_real_record *record, void *stream);
void ws_real_time_end(struct ws_real_span *s, ws_real_record *record, void *stream);         /* s may be NULL */
void ws_real_times_read(bool wait);                          /* of launches that ended; wait: of all */
void ws_real_times_forget(void *context);                    /* before it ends; NULL: all contexts */

#endif

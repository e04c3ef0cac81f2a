/* race.h - races on a real GPU, the host's side: what the checks in the rewritten modules (src/device/race.h) need and
 * find. Used by the other files of src/real. */
#ifndef WS_REAL_RACE_H
#define WS_REAL_RACE_H

#include <stdatomic.h>

#include "device/race.h"
#include "ptx/ptx.h"
#include "real/spans.h"
#include "real/decide.h"
#include "report/report.h"
#include "rewrite/rewrite.h"

/* ---- race_table.c: what is known of a module that was rewritten by a pass for races ---- */
struct ws_real_code_line {               /* an instruction with a check */
	struct ws_race_access place;         /* what is known without a thread; ptx and all strings are the table's */
	uint32_t func, inst;                 /* index of the function, and of the instruction in it */
	uint32_t bytes;
	uint64_t address;                    /* equal for equal operands */
	bool update;                         /* half of a load and store of that address in one line */
	const struct ws_race_access *read;   /* a load that the check of this store stands for, too (WS_RACE_UPDATE) */
	uint32_t read_inst;
	bool may_fail;                       /* see ws_rw_site */
	bool repeated;                       /* several such instructions in the line: an unrolled loop */
};
struct ws_real_func {
	uint32_t *barriers, nbarriers;       /* instructions: barriers of the block */
	uint32_t (*jumps)[2], njumps;        /* jumps back: instruction, and where it leads */
	struct ws_race_access entry;         /* its first instruction */
};
struct ws_real_probe_value { uint32_t param, offset, bytes; };   /* a part of a parameter, by its number */
struct ws_real_param { uint32_t at, bytes; };        /* a parameter's place among all of them */
struct ws_real_checked_kernel {
	const char *name, *plain;            /* plain: demangled */
	const char *why;                     /* it is not checked; NULL = it is */
	const char *unfollowed;              /* accesses in it and what it calls that have no check; NULL = none */
	uint8_t *reaches;                    /* by function: 1 = it may run it */
	bool shared;                         /* it may check accesses to shared memory */
	bool reads_size;                     /* of shared memory, by special registers */
	bool compared;                       /* it has the parameter that says where its launch stands in the order of launches */
	uint32_t nparams, launch_at;         /* parameters of the program's; where that one begins */
	const struct ws_real_param *params;
	bool orders, orders_host;            /* it has a fence, or an access that releases or acquires; of the system's scope */
	bool waits;                          /* it may read what other blocks write while it runs */
	bool loops;                          /* ... in a loop, until it finds something */
	bool looks;                          /* ... and does anything with what it reads */
	uint32_t left;                       /* its writes to global memory that are checked in each launch */
	bool probe;                          /* it has one (rewrite/probe.h), which reads these values */
	bool probe_waits;                    /* until the kernel has been launched some times: it is hardly of use */
	uint32_t probe_unit;                 /* bytes of shared memory for which the probe's cells are */
	uint32_t probe_blocks;               /* of the probe */
	const struct ws_real_probe_value *probe_reads;
	uint32_t nprobe_reads;
	bool fixed;                          /* launches with these values of parameters do the same accesses (rewrite/fixed.c) */
	const struct ws_real_probe_value *fixed_by;
	uint32_t nfixed_by;
	bool waits_first;                    /* before anything else it waits for the launch before (griddepcontrol.wait) */
	bool has_plain;                      /* there is a kernel WS_RW_PLAIN name, without checks */
	struct ws_rw_sure sure;              /* kernels for launches that are told what proofs find */
	const struct ws_real_decision *decision;         /* what the host can say of a launch before it; NULL = nothing */
	const struct ws_real_decision *shared_decision;  /* likewise, of its shared memory alone */
	/* There is a kernel WS_RW_PARTS name, which looks whether accesses stay in so many parts of shared memory (rewrite/parts.h): what these are;
	 * NULL = there is none, or not for the host. That nothing else needs a check says `decision`, as if a probe had found nothing. */
	const struct ws_real_decision *parts;
	uint32_t nparts;
	bool bare;                           /* ... and then a launch needs no cells for it */
	const struct ws_real_decision *telling;          /* what a launch with checks can be told; NULL = nothing */
	struct ws_real_extents *extents;     /* ws_real_table_extents */
};
struct ws_real_table {
	struct ws_arena *arena;
	uint32_t module;                     /* its number */
	const char *variable;                /* that the host fills; NULL: there are no checks in it */
	struct ws_real_code_line *lines;     /* by number of the check */
	uint32_t nlines;
	struct ws_real_func *funcs;
	uint32_t nfuncs;
	struct ws_real_checked_kernel *kernels;
	uint32_t nkernels;
	struct ws_real_table *next;
};
/* Of a module just rewritten. The table keeps nothing of it. Equal modules have one table, which lives as long as the
 * process. */
const struct ws_real_table *ws_real_table_of(const struct ws_ptx_module *m);
const struct ws_real_table *ws_real_table_numbered(uint32_t module);         /* NULL: there is none */
/* NULL: the table does not have it. */
const struct ws_real_checked_kernel *ws_real_table_kernel(const struct ws_real_table *t, const char *name);
/* What memory launches of a kernel may come to (decide.h); NULL: it is not known. */
const struct ws_real_decision *ws_real_table_extents(const struct ws_real_checked_kernel *k);
void ws_real_table_free(struct ws_real_table *t);
struct ws_real_table *ws_real_table_new(const struct ws_ptx_module *m);

/* ---- race_report.c ---- */
/* Is it of a read and of a compare-and-swap that may have failed, and read as well? Then it is not told. */
bool ws_real_race_may_be_none(const struct ws_real_table *t, const struct ws_race_found *f);
/* Tells the report of a race, seen `count` times more. same_value_error: see --same-value. false: the record is damaged, or
 * is of a module that is not known. */
bool ws_real_race_tell(struct ws_report *r, const struct ws_real_table *t, const struct ws_race_found *f, uint64_t count,
                       bool same_value_error);

/* ---- race_touched.c ---- */
/* Counts what is in use of the tables of the current context, for --stats. */
void ws_real_race_touched(const struct ws_race_device *d, const struct ws_race_counts *c, void *stream);

/* ---- areas.c: the program's allocations ---- */
struct ws_real_areas {                   /* the table of them on a GPU; begins as zero */
	uint64_t base;
	struct ws_race_areas *table;
	unsigned slot;
	atomic_ullong version;
};
/* The allocation around an address, as the table has it once the GPU has been told. */
bool ws_real_area_at(uint64_t address, uint64_t *start, uint64_t *end);
/* wrap_memory.c: likewise that of memory that has come in the order of a stream. */
bool ws_real_memory_around(uint64_t address, uint64_t *start, uint64_t *end);
/* That beginning there was freed in the order of a stream. */
void ws_real_area_gone(uint64_t start);
/* In the current context, which frees it. What struct ws_race_device wants to know; 0: none are known there. */
uint64_t ws_real_areas_make(struct ws_real_areas *t, void *stream);
void ws_real_areas_tell(struct ws_real_areas *t, void *stream);      /* before a launch: the table is up to date then */
/* A context has ended with all its memory, or (NULL) all of a device, or (-1) of any. */
void ws_real_areas_forget(void *context, int device);

/* ---- tensors.c: the program's descriptors of tensors ---- */
struct ws_real_tensors {                 /* the table of them on a GPU; begins as zero */
	uint64_t base;
	atomic_ullong version;
};
/* As of areas. */
uint64_t ws_real_tensors_make(struct ws_real_tensors *t, void *stream);
void ws_real_tensors_tell(struct ws_real_tensors *t, void *stream);

/* ---- race.c: memory on the GPU, launches ---- */
struct ws_real_gpu;                      /* a context */
/* Before a function (CUfunction or CUkernel) is launched in the current context, or put into a graph for it: its module is
 * told where its checks work. Nothing happens if it has none. */
void ws_real_race_prepare(void *function);
/* That of the current context for copies and fills (range.h), whose tables are made if there are none; NULL: there is no room. */
struct ws_real_range_kernel *ws_real_race_range_kernel(void);
bool ws_real_race_one_context(void);     /* or none: of all that have tables */
/* Before and after each launch: between them no tables begin anew. NULL: there are no checks in this context. kernel: whatever stands for the
 * one that is launched with checks, which may wait until the tables have room for it; NULL: none is. */
struct ws_real_gpu *ws_real_race_begin(const void *kernel);
/* What was launched with checks; its event is recorded in that stream. */
struct ws_real_taking {
	const void *kernel;                  /* as above */
	bool waits;                          /* it may wait for what the program does later */
	int (*record)(void *event, void *stream);
	void *stream;
};
void ws_real_race_end(struct ws_real_gpu *g, const struct ws_real_taking *launch);   /* NULL is fine for both */
/* race_shared.c: the dynamic shared memory with which to launch a function: what the program asks for, or more. */
unsigned ws_real_race_shared(void *function, const unsigned grid[3], const unsigned block[3], unsigned dynamic,
                             bool cooperative);
struct ws_real_launching;
bool ws_real_race_has_states(const struct ws_real_launching *l);         /* of threads, in shared memory */
/* Has the driver launch a checked kernel with as much dynamic shared memory as a program may ask for without a word. */
void ws_real_race_usual_shared(void *function, const unsigned block[3], unsigned dynamic);
/* A checked kernel may be launched with all that there is beside the checks' own. */
void ws_real_race_takes_all(void *function);
void ws_real_race_shared_forget(void);                   /* handles of functions may come to mean others */
/* With what to launch its probe, and itself when that has found nothing. false: neither is possible. */
bool ws_real_race_probe_sizes(void *function, unsigned threads, unsigned dynamic, unsigned unit, unsigned *probe, unsigned *proved);
/* race_probe.c: the dynamic shared memory with which to launch a kernel: `all`, or another size if the host has decided that it needs
 * no checks at all, or a probe has found before that those of shared memory can go. That is asked before the launch's first event.
 * *probe: a probe is to be run for it, which is part of the kernel's time and gives the size in its turn. */
struct ws_real_launching {
	void *function;
	const struct ws_real_checked_kernel *kernel;     /* what is known of it; NULL = nothing */
	const unsigned *grid, *block;        /* 3 each; grid: NULL where all blocks must run at a time, with no byte more than they ask for */
	unsigned dynamic, all;               /* what the program asks for; of ws_real_race_shared */
	void **params;                       /* as the driver takes them, or NULL */
	int (*record)(void *event, void *stream);        /* an event in its stream; NULL = not known */
	void *stream;
	struct ws_real_alike *alike;         /* a launch from which others may learn (race_alike.c); NULL = it is none */
	void *plain;                         /* to be launched in its place, as the program says (plain.c); NULL = nothing is */
	void *sure;                          /* likewise, with checks, and as the checked one is launched: all is true that it asks (plain.c) */
	void *parts;                         /* to be launched first, as the program says, and then the checked one, which may have nothing to do (parts.c) */
	struct ws_race_parts looks;          /* what the first is told */
	bool proved;                         /* a probe has found nothing, and the size of shared memory says so */
	bool spared;                         /* by that, or by its size of shared memory, it is without checks */
	bool together;                       /* all blocks must run at a time */
	bool asks;                           /* for more than its shape, by attributes */
	bool compared;                       /* with launches that may overlap: what is proved of it alone does not suffice */
};
/* race_shared.c: the dynamic shared memory of a launch in which no access to shared memory needs a check: l->all without cells. */
unsigned ws_real_race_bare(const struct ws_real_launching *l);
/* race_shared.c: likewise, when the host has decided that nothing in it needs a check (probed: if its constants are those of its
 * probe); 0: not possible. */
unsigned ws_real_race_silent_size(const struct ws_real_launching *l, bool probed);
/* race_shared.c: a launch that leaves the checks' shared memory no room becomes one of l->plain, and that is told. */
void ws_real_race_make_room(struct ws_real_launching *l);
/* plain.c: the kernel without checks for such a launch, in the current context; NULL: there is none. dynamic: bytes of shared memory
 * that it may be launched with from now on. */
void *ws_real_plain_of(const struct ws_real_launching *l);
void *ws_real_plain_for(void *function, const struct ws_real_checked_kernel *kernel, unsigned dynamic);
/* The kernel with those checks alone that no proof spares, for a launch of l->all that is told this; NULL: there is none for it. */
void *ws_real_sure_of(const struct ws_real_launching *l, const struct ws_race_told *told);
/* The one that looks whether accesses stay in parts of shared memory, for such a launch; NULL: there is none. */
void *ws_real_parts_beside(const struct ws_real_launching *l);
/* race_probe.c: is a launch, of which nothing else is known, one of that, and told what it looks for? */
bool ws_real_race_in_parts(struct ws_real_gpu *gpu, struct ws_real_launching *l);
/* race.c: a word for a launch, and the number that is not in it yet. */
void ws_real_race_number(struct ws_real_gpu *g, struct ws_race_parts *out);
/* Loads both before the launch's first event, where its probe has yet to say which one it is of. */
void ws_real_beside_ready(const struct ws_real_launching *l);
/* Of a kernel of a library, as another one of it, for calls that want no context. */
void *ws_real_plain_in_library(void *kernel, const struct ws_real_checked_kernel *k);
void ws_real_plain_forget(void);         /* handles may come to mean others, or attributes have changed */
/* race_alike.c: has a launch that does the same accesses found nothing? Else what is to be told of this launch once it has been made
 * is left in l->alike. */
bool ws_real_race_alike(struct ws_real_gpu *gpu, struct ws_real_launching *l, bool *told);
void ws_real_race_alike_launched(struct ws_real_alike *a, int error, int (*record)(void *event, void *stream), void *stream);
void ws_real_race_alike_forget(void);
/* All that the checks of a context have found or counted as not known, so far: it never becomes less. false: not read. */
struct ws_real_sum { uint64_t counted, told; };
bool ws_real_race_sum(struct ws_real_gpu *gpu, struct ws_real_sum *sum);
/* A launch like one that told nothing new was not checked. */
void ws_real_race_told_again(struct ws_real_gpu *gpu);
/* What a launch with checks is told that proofs find of it, in its parameter, and so which kernel it is of; false: the host does not know. */
bool ws_real_race_told(struct ws_real_launching *l, struct ws_race_launch *said);
/* The memory that a launch may come to. */
void ws_real_race_touches(const struct ws_real_launching *l, struct ws_real_touched *out);
unsigned ws_real_race_settled(struct ws_real_gpu *gpu, struct ws_real_launching *l, bool *probe);
unsigned ws_real_race_probed(struct ws_real_gpu *gpu, struct ws_real_launching *l);
void ws_real_race_probe_forget(void);
/* Runs a probe in the context of gpu, which is current. What it has found, or how far it is: then ws_real_race_probe_found says it later, until
 * another one is run. */
enum ws_race_probe ws_real_race_run_probe(struct ws_real_gpu *gpu, void *function, unsigned blocks, const unsigned block[3], unsigned size, void **params);
enum ws_race_probe ws_real_race_probe_found(const struct ws_real_gpu *gpu);
/* fits.c: the driver did not launch the kernel. If it would have launched it as it is, the report says so; the kernel without checks, to be launched in
 * its place, or NULL: there is none. */
void *ws_real_race_failed(const struct ws_real_launching *l, const unsigned grid[3], int error);
/* A cooperative launch of more blocks than run at a time with checks becomes one of l->plain, and that is told. */
void ws_real_race_make_together(struct ws_real_launching *l, const unsigned grid[3]);
/* The program has waited for work in the current context: what was counted is read. */
void ws_real_race_waited(void);
void ws_real_race_read(void);                            /* of all contexts */
/* A context will end (NULL: all), or a device's primary one has ended. */
void ws_real_race_forget(void *context);
void ws_real_race_forget_primary(int device);
/* As last read: launches in which hooks did anything, and blocks that have waited for room (--resident). */
void ws_real_race_counted(uint64_t *entered, uint64_t *waited);
/* Brings the report up to date. */
void ws_real_race_gather(struct ws_report *r);

#endif

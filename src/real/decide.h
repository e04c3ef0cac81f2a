/* decide.h - what the code at a kernel's entry would decide of a launch, computed on the host before it.
 *
 * Proofs by addresses (src/rewrite/ranges.h) are decided in each launch, by hundreds of instructions and looks into the
 * table of allocations that one warp of every block makes: more than what the blocks of many kernels do. All that they
 * depend on is known when the kernel is launched, but constant memory. So the pass leaves the same code as text, the host
 * computes it once a launch, and where no access needs a check, the kernel is told so by its size of dynamic shared memory
 * (WS_RACE_SILENT_SIZE) and does nothing else than compare the constants. Where some accesses need one, a launch is told all that its entry
 * would find (struct ws_race_told), and no block computes it. Where the host cannot say so the entry decides. */
#ifndef WS_REAL_DECIDE_H
#define WS_REAL_DECIDE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"
#include "device/race.h"
#include "real/spans.h"

struct ws_real_decision;

/* Of such a text (struct ws_rw_kernel, decides or tells); in the arena. NULL: there is something in it that the host does not know. */
struct ws_real_decision *ws_real_decision_new(struct ws_arena *a, const char *text);

/* The address of a variable of the kernel's module; 0: not known. */
typedef uint64_t ws_real_variable_of(void *function, const char *name);
/* The bytes [*start, *end) of the allocation around an address; false: none is known there. */
typedef bool ws_real_area_of(uint64_t address, uint64_t *start, uint64_t *end);

struct ws_real_deciding {                /* a launch */
	const unsigned *grid, *block;
	void *const *params;                 /* as the driver takes them */
	bool proved;                         /* its probe has found nothing */
	ws_real_area_of *area_of;
	ws_real_variable_of *variable_of;    /* NULL: none is known */
	void *function;
};
/* Does what holds for its probe hold only while its constants are the same? The kernel examines that. */
bool ws_real_decision_compares(const struct ws_real_decision *d);
/* What the proofs at the entry find, of a decision from a text that names it (struct ws_rw_kernel, tells); false: it is not known. */
bool ws_real_decide_all(const struct ws_real_decision *d, const struct ws_real_deciding *l, struct ws_race_told *out);
/* Does no access of the launch need a check? */
bool ws_real_decide(const struct ws_real_decision *d, const struct ws_real_deciding *l);

/* All global memory that a launch may come to, of a decision from such a text (struct ws_rw_kernel, extents): then *out is known. */
void ws_real_decide_extents(const struct ws_real_decision *d, const struct ws_real_deciding *l, struct ws_real_touched *out);

#endif

/* ranges.h - proofs by the addresses that a launch can touch: code at a kernel's entry computes them from parameters
 * and the size of the grid, and accesses that nobody else can come near have no check in this launch. */
#ifndef WS_REWRITE_RANGES_H
#define WS_REWRITE_RANGES_H

#include "rewrite/needless.h"
#include "rewrite/reach.h"

struct ws_ranges;
struct ws_shared_ranges;

/* What can be proved of a kernel with the accesses list[0..n); the code that decides it is put at the kernel's entry.
 * needless: of each access; what never needs a check is marked there, too. shared: what is proved of shared memory, or
 * NULL; proved: a predicate that is true in launches in which none of its accesses needs a check, or NULL. NULL: nothing.
 * The result ends with ws_ranges_free, before the pass does. */
struct ws_ranges *ws_ranges_find(struct ws_pass *p, const struct ws_reach *reach, const struct ws_rw_kernel *k,
				 const struct ws_rw_access *list, uint32_t n, struct ws_needless *needless,
				 const struct ws_shared_ranges *shared, const char *proved);
/* A predicate that is true in launches in which no access of the kernel needs a check, so that no hook does; NULL:
 * there are none. */
const char *ws_ranges_silent(const struct ws_ranges *g);
bool ws_ranges_silent_by_proofs(const struct ws_ranges *g);      /* it may be true without what `proved` says */
/* Adds code to the kernel's beginning for launches of which the host says that they are such: some are only if a counter is 0 when
 * the launch begins. Returns a predicate that says so; NULL: there is none. */
const char *ws_ranges_starts_at_zero(const struct ws_ranges *g, struct ws_code *c);
bool ws_ranges_has_counter(const struct ws_ranges *g);
/* Do the same proofs spare two accesses? */
bool ws_ranges_alike(const struct ws_ranges *g, const struct ws_rw_access *a, const struct ws_rw_access *b);
/* May an access need no check, in some launches? */
bool ws_ranges_may(const struct ws_ranges *g, const struct ws_rw_access *a);
/* Adds code that jumps to the label that it returns when the access needs no check in this launch; the caller places
 * the label behind the check. `address`: register with the access's address, 64 bits. NULL: nothing was added. */
const char *ws_ranges_skip(const struct ws_ranges *g, struct ws_code *c, const struct ws_rw_access *a,
                           const char *address);
/* A predicate that is true in launches in which no read of global memory has a check, and all writes are plain ones of words, so that these need
 * only be compared with each other; NULL: there are none. */
const char *ws_ranges_unread(const struct ws_ranges *g);
void ws_ranges_free(struct ws_ranges *g);        /* NULL is fine */
bool ws_ranges_plain_word(const struct ws_rw_access *a);
/* Accesses of a kernel by generic addresses that are counted from its parameters, constants or variables of global memory are of global memory; those that
 * are counted from one that was made of an address in shared memory are there. */
void ws_area_settle(struct ws_ptx_func *kernel, struct ws_rw_access *list, uint32_t n);
/* Reads of tables that nobody writes need no check in any launch. */
void ws_area_tables(struct ws_ptx_func *f, const struct ws_rw_access *list, uint32_t n, struct ws_needless *needless);

/* The same for shared memory, from barrier to barrier (ranges_shared.c). Nothing that the kernel calls accesses shared
 * memory. The list must live as long. */
struct ws_intervals;
struct ws_shared_ranges *ws_shared_ranges_find(struct ws_pass *p, struct ws_ptx_func *kernel,
					       const struct ws_rw_access *list, uint32_t n,
					       const struct ws_intervals *v);
const char *ws_shared_ranges_skip(const struct ws_shared_ranges *g, struct ws_code *c, const struct ws_rw_access *a);
/* May it be proved of an access? And code that makes a predicate false unless all proofs of the kernel hold. */
bool ws_shared_ranges_may(const struct ws_shared_ranges *g, const struct ws_rw_access *a);
void ws_shared_ranges_demand(const struct ws_shared_ranges *g, struct ws_code *c, const char *predicate);
/* The same as text for the host (ws_code_tell): the predicate becomes whether all of them hold. */
void ws_shared_ranges_tell(const struct ws_shared_ranges *g, struct ws_buf *out, const char *predicate);
/* Do they hold only where conditions on parameters or constants are false? */
bool ws_shared_ranges_rare(const struct ws_shared_ranges *g);
void ws_shared_ranges_free(struct ws_shared_ranges *g);          /* NULL is fine */
/* Does it (NULL: nothing) leave an access of the list to shared memory to be checked, in launches of which all that is examined holds, or does that hardly
 * ever hold? */
bool ws_shared_ranges_leave(const struct ws_shared_ranges *g, const struct ws_rw_access *list, uint32_t n);

/* Parts of variables (ranges_parts.c): no access to shared memory needs a check in launches in which the first truth holds that the text
 * tells the host, if accesses with a number stay in that part, from 1 on. Of each the text tells two values: with which byte of the
 * variable it begins, and how many bytes it has. */
struct ws_shared_part { const char *variable; unsigned number; };        /* 0: nothing is asked of the access */
struct ws_shared_parts { const char *text; unsigned n; struct ws_shared_part *list; };   /* by access */
/* Where the proofs above leave some. In the module's arena; NULL: there are none by which all of them are proved. */
struct ws_shared_parts *ws_shared_parts_find(struct ws_pass *p, struct ws_ptx_func *kernel, const struct ws_rw_access *list, uint32_t n,
                                             const struct ws_intervals *v);

#endif

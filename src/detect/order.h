/* order.h - which operations of a program are ordered: kernels, copies, fills in streams and graphs, and the host.
 *
 * A timeline is a sequence of operations that run one after the other: a stream, or a chain of a graph's nodes. Vector
 * clocks (Lamport 1978; Fidge 1988): a clock says of each timeline how many of its operations are known to be complete.
 * The host is one more participant, whatever its threads: what they tell each other is not seen, so that a call comes after
 * all calls before it. Not safe for several threads at once. */
#ifndef WS_ORDER_H
#define WS_ORDER_H

#include "base/base.h"

struct ws_clock { uint64_t *at; size_t n; };     /* at[t]: operations of timeline t, from its first on; beyond n: 0 */
void ws_clock_free(struct ws_clock *c);
uint64_t ws_clock_of(const struct ws_clock *c, uint32_t timeline);
void ws_clock_at_least(struct ws_clock *c, uint32_t timeline, uint64_t index);
void ws_clock_join(struct ws_clock *to, const struct ws_clock *from);

struct ws_operation {                /* an operation's place in the order */
	uint32_t timeline;
	uint64_t index;              /* in its timeline, from 1 */
	struct ws_clock before;      /* what is complete before it begins; owned */
	uint64_t overlaps;           /* index of the operation before it in its timeline, if that may still run (programmatic
	                              * dependent launch); else 0 */
	uint64_t cut;                /* how often somebody had learned how far the timeline has come: two operations of it with
	                              * the same number cannot be told apart by anyone */
};

struct ws_order;
enum { WS_TIMELINE_LEGACY = 0 };     /* the legacy default stream, there from the start */
struct ws_order *ws_order_new(void);
void ws_order_free(struct ws_order *o);
/* A new timeline; its number may be one that was ended and is over. blocking: operations in it and in the legacy default
 * stream wait for each other (CUDA C++ Programming Guide, Implicit Synchronization). */
uint32_t ws_order_timeline(struct ws_order *o, bool blocking);
void ws_order_end(struct ws_order *o, uint32_t timeline);
/* An operation begins: after those of its timeline, and what the host knows. early: it may begin while its predecessor in
 * the timeline still runs. ws_operation_free gives op's clock back. */
void ws_order_begin(struct ws_order *o, uint32_t timeline, bool early, struct ws_operation *op);
void ws_operation_free(struct ws_operation *op);

/* What is complete when all of the timeline so far is (an event recorded now) is added to *c. */
void ws_order_record(struct ws_order *o, uint32_t timeline, struct ws_clock *c);
/* Later operations of the timeline, or of the host, come after c. */
void ws_order_wait(struct ws_order *o, uint32_t timeline, const struct ws_clock *c);
void ws_order_host_waits(struct ws_order *o, const struct ws_clock *c);
/* The host has waited for everything, and so does whatever it submits from now on. */
void ws_order_host_waits_all(struct ws_order *o);
const struct ws_clock *ws_order_host(const struct ws_order *o);

/* What every operation that begins from now on comes after, in any timeline that there is now, is added to *c. */
void ws_order_common(const struct ws_order *o, struct ws_clock *c);

#endif

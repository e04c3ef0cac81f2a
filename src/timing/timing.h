/* timing.h - the clocked GPU: runs launches of the simulated GPU (src/gpu) cycle by cycle on a machine that a file
 * describes, and counts. docs/TIMING.md says what is modelled.
 *
 * A struct ws_timing belongs to one ws_gpu, and is used by one thread at a time. Nothing here prints or exits. */
#ifndef WS_TIMING_H
#define WS_TIMING_H

#include "base/base.h"
#include "gpu/step.h"
#include "timing/unit.h"

enum ws_unit_kind {
	WS_UNIT_ALU, WS_UNIT_MULTIPLY, WS_UNIT_CONVERT, WS_UNIT_DOUBLE, WS_UNIT_SPECIAL, WS_UNIT_MATRIX, WS_UNIT_MEMORY,
	WS_UNIT_COUNT
};
enum ws_class {                          /* what instructions are alike in their latency */
	WS_CLASS_INTEGER, WS_CLASS_MULTIPLY, WS_CLASS_FLOAT, WS_CLASS_DOUBLE, WS_CLASS_SPECIAL, WS_CLASS_CONVERT,
	WS_CLASS_MOVE, WS_CLASS_MATRIX, WS_CLASS_WARP, WS_CLASS_VOTE, WS_CLASS_BRANCH, WS_CLASS_BARRIER, WS_CLASS_ASYNC,
	WS_CLASS_MEMORY, WS_CLASS_COUNT
};
enum ws_topology { WS_CROSSBAR, WS_BUTTERFLY };
enum ws_policy { WS_POLICY_LRR, WS_POLICY_GTO, WS_POLICY_TWO_LEVEL };
struct ws_cache_size { uint32_t bytes, ways, line, fetch; };

struct ws_machine {                      /* rows of machine.def */
	char name[64];
	uint32_t clock_core, clock_network, clock_memory;
	uint32_t cores, threads, blocks, registers, shared, schedulers, policy, active, stack, plain_calls, ahead;
	uint32_t collectors, register_banks, wavefront;
	uint32_t units[WS_UNIT_COUNT], interval[WS_UNIT_COUNT], latency[WS_CLASS_COUNT];
	uint32_t shared_latency, shared_banks, shared_lanes, shared_atomics;
	struct ws_cache_size l1, constant, texture, l2;
	uint32_t l1_latency, l1_global, l1_mshrs, constant_latency, texture_latency, memory_lanes, segment, queue, writes;
	uint32_t topology, radix, flit, network_latency, header, channels, buffer;
	uint32_t partitions, interleave, hash, l2_latency, l2_port, l2_mshrs, l2_atomics;
	uint32_t dram_queue, dram_banks, dram_row, dram_bus, dram_burst, dram_latency;
	uint32_t tCL, tRP, tRC, tRAS, tRCD, tRRD, tCDLR, tWR;
};
/* Reads a description: lines "key = value", '#' starts a comment. false: what is wrong went to the sink, with its line
 * and what to do. path names the text, and its last part without ".conf" the machine. */
bool ws_machine_read(struct ws_machine *m, const char *path, const char *text, const struct ws_sink *sink);

struct ws_timing;
struct ws_timing_options {
	bool progress;                   /* a line on the error stream during long launches */
	const struct ws_unit_ops *unit;  /* proposed hardware; NULL: none */
	const uint32_t *unit_values;     /* of its options; only looked at by ws_timing_new */
};
struct ws_timing *ws_timing_new(const struct ws_machine *m, const struct ws_timing_options *o);
void ws_timing_free(struct ws_timing *t);
void *ws_timing_unit(const struct ws_timing *t);         /* its state; it is the GPU's observer if it has one */
extern const struct ws_clock_ops ws_timing_clock;        /* for ws_gpu_config; clock_self is the ws_timing */

struct ws_counters {
#define COUNTER(name, text) uint64_t name;
#include "timing/counters.def"
#undef COUNTER
};
/* Counters of the i-th kernel, in the order of first launches; NULL at the end. *name lives as long as t. */
const struct ws_counters *ws_timing_kernel(const struct ws_timing *t, size_t i, const char **name);
/* Simulated time since t was made. */
uint64_t ws_timing_nanoseconds(const struct ws_timing *t);
void ws_timing_text(const struct ws_timing *t, struct ws_buf *out);
void ws_timing_json(const struct ws_timing *t, struct ws_buf *out);

#endif

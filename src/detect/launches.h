/* launches.h - races between the operations of a program: kernels, copies and fills in streams and graphs that nothing
 * orders, and accesses of the host to memory that the device works on. Stands between the simulated GPU and any detector,
 * which judges what happens inside a kernel.
 *
 * The CUDA front says for each operation where it stands in the order (order.h). While another operation or the host could
 * still run beside it, its footprint is kept. Calls are for one host thread at a time. */
#ifndef WS_LAUNCHES_H
#define WS_LAUNCHES_H

#include "detect/detect.h"
#include "detect/order.h"

enum ws_launch_kind { WS_OP_KERNEL, WS_OP_COPY, WS_OP_FILL, WS_OP_ALLOC, WS_OP_FREE };
enum { WS_OP_FRAMES = 16 };

struct ws_launch_op {
	enum ws_launch_kind kind;
	const char *name;            /* kernel, demangled; or the call: "cudaMemcpyAsync" */
	const char *stream;          /* "stream 2", "the default stream" */
	uint64_t launch;             /* kernels: number of the launch */
	bool graph;                  /* a node of a graph */
	bool legacy, free_running;   /* in the legacy default stream; in a stream that does not wait for it */
	bool perhaps;                /* complete in practice, though nothing promises it: races are warnings */
	void *frames[WS_OP_FRAMES];  /* return addresses of the call, innermost first; NULL = end */
	struct ws_operation order;   /* its clock becomes the callee's */
};

struct ws_launches_front {           /* what the CUDA front knows */
	/* File and line of a call; false: unknown. *file lives on. name: kernel or call; its own wrappers are skipped */
	bool (*place)(void *const *frames, const char *name, const char **file, uint32_t *line);
	/* From now on the host's accesses to these pages count (src/cuda/watch.h); NULL = nobody watches */
	void (*watch)(const uint64_t *pages, const bool *no_reads, size_t n);
};

struct ws_launches;
/* Lives as long as the process. */
struct ws_launches *ws_launches_new(const struct ws_detect_config *config, struct ws_report *report, struct ws_gpu *gpu,
                                    const struct ws_launches_front *front);

/* For the simulated GPU, while it runs a kernel that is to be recorded: everything goes on to the detector. */
const struct ws_observer_ops *ws_launches_observer(struct ws_launches *l, const struct ws_observer_ops *inner, void *inner_self);

/* An operation runs. device: its accesses to device memory are recorded, too, not only those to what the host can reach. */
void ws_launches_begin(struct ws_launches *l, const struct ws_launch_op *op, bool device);
/* A copy or fill touches bytes; changes: with other values than are there. */
void ws_launches_touch(struct ws_launches *l, uint64_t addr, uint64_t bytes, bool write, bool changes);
void ws_launches_end(struct ws_launches *l);
/* What the host now knows to be complete is forgotten. */
void ws_launches_known(struct ws_launches *l, const struct ws_clock *host);

/* How many are kept? When they are many, what all streams that there are know to be complete may be forgotten, too: only
 * streams made later could race with that. */
size_t ws_launches_kept(const struct ws_launches *l);

/* The host accesses memory. True: nothing more is to be learned from this page for now. When the host has learned from a
 * kernel by a flag that the kernel set for it, *learned (emptied by the caller) says what is complete. */
bool ws_launches_host(struct ws_launches *l, uint64_t addr, uint64_t bytes, bool write, const struct ws_clock *host,
                      void *const *frames, struct ws_clock *learned);

#endif

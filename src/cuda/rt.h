/* rt.h - what the files of the runtime API (rt_*.c) and of the driver API (drv_*.c) share.
 *
 * Every entry point is a function ws_NAME here; rt_api.def and drv_api.def list them all, and the thin libraries that
 * stand in for NVIDIA's export NAME as a jump to ws_NAME. All work is done at the call: a stream is always idle. */
#ifndef WS_RT_H
#define WS_RT_H

#include "cuda/program.h"
#include "cuda/sync.h"

#define WS_EXPORT __attribute__((visibility("default")))
/* Defines an entry point of the runtime or driver API. */
#define WS_RT(name, ...)                                                                                               \
	WS_EXPORT int ws_##name(__VA_ARGS__);                                                                          \
	int ws_##name(__VA_ARGS__)
#define WS_RT_(type, name, ...)                                                                                        \
	WS_EXPORT type ws_##name(__VA_ARGS__);                                                                         \
	type ws_##name(__VA_ARGS__)
/* The place in the program that called this entry point. */
#define WS_CALLER __builtin_return_address(0)

/* ---- errors ---- */
int ws_fail(int code); /* remembers code as the thread's last error unless it is 0; returns it */
/* To begin a call that touches the device: 0, or the error that a failed kernel left (or that there is no session). */
int ws_begin(void);
/* Every such call begins with it: is this one of a program with a default stream per thread? (per_thread.c) */
void ws_call_begins(void);
#define WS_BEGIN()                                                                                                     \
	do {                                                                                                           \
		int ws_e_ = ws_begin();                                                                                \
		if (ws_e_)                                                                                             \
			return ws_e_;                                                                                  \
	} while (0)
const char *ws_error_name(int code); /* NULL if unknown */
const char *ws_error_driver_name(int code);
const char *ws_error_text(int code);
int ws_error_from_gpu(enum ws_gpu_errcode code, bool *is_sticky);
int ws_last_error(bool reset);

/* ---- where memory comes from ---- */
/* "cudaMalloc at app.cu:12", or "cudaMalloc in main+0x1f2" without line information. The caller frees it. */
char *ws_origin(const char *call, const void *caller);
/* The first of the return addresses of a call (innermost first, NULL = end) that is in the program, and not in a wrapper or
 * in the stub of the kernel `name`. false: without line information. *file lives on. */
bool ws_where(void *const *frames, const char *name, const char **file, uint32_t *line);
int ws_mem_alloc(uint64_t size, enum ws_mem_kind kind, const char *call, const void *caller, void **out);
int ws_mem_release(void *p, enum ws_mem_kind kind, bool any);
/* Memory of a graph's allocation node: the graph may run again and expects it at the same address, so that freeing it
 * has no effect. */
void ws_mem_keep(uint64_t addr);

/* ---- device ---- */
/* false: no such attribute */
bool ws_attribute(int number, int *value);
extern const char ws_device_name[];
const struct ws_uuid *ws_device_uuid(void);
int ws_limit_get(int limit, size_t *value);
int ws_limit_set(int limit, size_t value);
int ws_device_reset(void);

/* ---- operations: what is enqueued to a stream or stands in a graph ---- */
struct ws_event;
struct ws_graph;

struct ws_copy { /* a box of bytes; 1D: height = depth = 1 */
	uint64_t dst, src;
	size_t dst_pitch, dst_slice, src_pitch, src_slice, width, height, depth;
	int kind;
};
struct ws_fill {
	uint64_t dst;
	size_t pitch, slice, width, height, depth; /* width in bytes */
	unsigned value, element;                   /* element: 1, 2, 4 bytes */
};
struct ws_kernel_op {
	struct ws_function *f;
	struct ws_dim3 grid, block, cluster;
	size_t shared;
	bool cooperative;
	bool early; /* may begin while the kernel before it in the stream still runs */
	uint8_t *params; /* packed; owned */
	size_t nbytes;
};
struct ws_host_fn {
	void (*fn)(void *user);
	void (*callback)(void *stream, int status, void *user); /* cudaStreamAddCallback's */
	void *user;
};

struct ws_work {
	enum ws_node_type type;
	union {
		struct ws_copy copy;
		struct ws_fill fill;
		struct ws_kernel_op kernel;
		struct ws_host_fn host;
		struct ws_event *event;
		struct ws_graph *graph; /* owned */
		struct {
			uint64_t addr, size;
		} mem;
	} u;
};

/* Runs op now, or adds it to the graph that the stream captures. Owned parts of op are taken over either way. */
int ws_work_submit(void *stream, struct ws_work *op, const char *call);
int ws_work_run(const struct ws_work *op, const struct ws_lane *lane, const char *call);
void ws_work_free(struct ws_work *op);
void ws_work_copy(struct ws_work *to, const struct ws_work *from); /* owned parts are duplicated */
int ws_work_check_copy(const struct ws_copy *c);                   /* 0 or why it cannot run */

/* Packs args (pointers to the values) or extra (CU_LAUNCH_PARAM_*) for f. */
int ws_pack_params(struct ws_kernel_op *k, void **args, void **extra);
int ws_launch(struct ws_kernel_op *k, void *stream, const char *call); /* checks, then submits */
int ws_function_set(struct ws_function *f, int attribute, int value);  /* cudaFuncSetAttribute */
/* The size of clusters that the section of a kernel's stub says: 1 it does, 0 it says none, -1 it cannot be read. */
int ws_cluster_section(const void *stub, struct ws_dim3 *size);
int ws_cluster_check(struct ws_kernel_op *k); /* fills in the cluster's size; 0 or why it cannot be launched */
int ws_cluster_attribute(struct ws_function *f, int attribute, int value); /* cudaFuncSetAttribute */
void ws_cluster_attributes(struct ws_function *f, int out[6]);       /* from WS_FUNC_CLUSTER_MUST_BE_SET on */
int ws_launch_config(const struct ws_launch_config *c, struct ws_function *f, void **args, void **extra,
		     const char *call);

/* ---- streams, events ---- */
struct ws_capture;
struct ws_stream {
	unsigned flags;
	int priority;
	uint64_t id;
	uint32_t timeline;          /* sync.h */
	struct ws_capture *capture; /* NULL: not capturing */
	struct ws_node **last;      /* capture: what the next node depends on */
	size_t nlast;
};
/* false: no such stream. *out is NULL for the default streams. */
bool ws_stream_of(void *handle, struct ws_stream **out);
int ws_stream_new(void **out, unsigned flags, int priority);
int ws_stream_free(void *handle);
int ws_stream_wait(void *handle); /* cudaStreamSynchronize, cudaStreamQuery */
enum { WS_STREAM_FIRST_ID = 16 }; /* of the first stream that the program makes; below: the default streams */
uint64_t ws_stream_id(void *handle);
void *ws_stream_resolve(void *handle); /* 0 in a program with a default stream per thread: WS_STREAM_PER_THREAD */
struct ws_event *ws_event_of(void *handle); /* NULL: no such event */
int ws_event_new(void **out, unsigned flags);
int ws_event_free(void *handle);
int ws_event_record(void *event, void *stream, const char *call);
int ws_event_wait(void *stream, void *event, const char *call);
int ws_event_stamp(struct ws_event *e, const struct ws_lane *lane); /* the record itself */
int ws_event_elapsed(float *ms, void *start, void *end);
int ws_event_state(void *handle);       /* 0: it is complete, and the host has learned so */

/* ---- graphs ---- */
/* Adds op to the graph that the stream captures; takes over op's owned parts. */
int ws_capture_add(struct ws_stream *s, struct ws_work *op);
void ws_capture_fork(struct ws_event *e, struct ws_stream *s); /* event recorded in a capturing stream */
int ws_capture_join(struct ws_stream *s, struct ws_event *e);  /* wait for such an event */
int ws_graph_run(struct ws_graph *g, const struct ws_lane *lane, const char *call);
struct ws_graph *ws_graph_clone(const struct ws_graph *g);
void ws_graph_free(struct ws_graph *g);

struct ws_node;
struct ws_event {
	unsigned flags;
	bool recorded;
	uint64_t ns;
	struct ws_clock known;      /* what is complete when it is; sync.h */
	struct ws_capture *capture; /* recorded last in a capturing stream */
	struct ws_node **last;
	size_t nlast;
};

void (*ws_drv_find(const char *name))(void); /* newest variant: "cuMemAlloc" -> _v2; NULL if there is none (tables.h) */
int ws_unsupported(const char *name);        /* says so, returns the error */

#endif

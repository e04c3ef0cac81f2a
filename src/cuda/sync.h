/* sync.h - which of the program's operations and accesses are ordered, for the race detector (detect/launches.h): streams,
 * events, graphs, and the calls with which the host waits. Without a detector nothing happens here.
 *
 * CUDA Runtime API, Stream synchronization behavior and API synchronization behavior; CUDA C++ Programming Guide,
 * Asynchronous Concurrent Execution, Programmatic Dependent Launch, Stream Ordered Memory Allocator. */
#ifndef WS_SYNC_H
#define WS_SYNC_H

#include "cuda/session.h"
#include "detect/launches.h"

/* Where operations go: a stream, or a branch of a graph that runs in one. */
struct ws_lane {
	void *stream;                /* as the program named it */
	uint32_t timeline;
	bool graph, free_running;    /* free_running: does not wait for the legacy default stream */
	uint64_t gridid;             /* of a kernel in a graph; 0 = each launch has its own */
};

void ws_sync_start(struct ws_session *s);
bool ws_sync_on(void);
/* Must the values that copies write be compared with what is there? */
bool ws_sync_compares(void);

/* The lane of a stream; the default streams included, also the calling thread's. */
struct ws_lane ws_sync_lane(void *stream);
uint32_t ws_sync_stream_new(bool blocking);
void ws_sync_stream_end(uint32_t timeline);
/* A branch of a graph; its operations come one after the other. */
uint32_t ws_sync_branch_new(void);
/* The program has memory that the host can reach as well; registered: it is the program's own (cudaHostRegister). */
void ws_sync_host_memory(bool registered);

/* An operation, from begin to end; nothing else runs meanwhile. early: a kernel that may begin before its predecessor ends.
 * perhaps: struct ws_launch_op. */
void ws_sync_begin(const struct ws_lane *lane, enum ws_launch_kind kind, const char *name, bool early, bool perhaps);
void ws_sync_touch(uint64_t addr, uint64_t bytes, bool write, bool changes);
enum ws_sync_wait { WS_SYNC_NOT, WS_SYNC_PRECEDING, WS_SYNC_DONE };  /* the host waits for what came before; for it */
void ws_sync_end(enum ws_sync_wait wait);

/* Events: what is complete when the lane so far is; the lane, or the host, waits for that. */
void ws_sync_record(const struct ws_lane *lane, struct ws_clock *c);
void ws_sync_wait(const struct ws_lane *lane, const struct ws_clock *c);
void ws_sync_host_waits(const struct ws_clock *c);
void ws_sync_host_waits_stream(void *stream);
void ws_sync_host_waits_all(void);

#endif

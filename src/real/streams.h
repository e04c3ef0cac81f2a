/* streams.h - which launches of the program are ordered: streams, events, and what the host waits for, as vector clocks
 * (detect/order.h). The checks on the GPU compare launches by it (device/race.h, "launches that may overlap").
 *
 * A pair of launches is taken to be unordered only if that is certain. What is not followed makes order: a call that is not
 * known here counts as if the host had waited for everything (bind.c), and so do launches of graphs that are not. Launches that are behind
 * a kernel which may hand on what others have done (by fences, releases and acquires of more than a block) are not compared
 * until the host has waited for that kernel.
 *
 * CUDA Driver API, Stream synchronization behavior and API synchronization behavior; CUDA C++ Programming Guide, Asynchronous
 * Concurrent Execution. Safe from several threads. */
#ifndef WS_REAL_STREAMS_H
#define WS_REAL_STREAMS_H

#include "detect/order.h"
#include "device/race.h"
#include "real/spans.h"
#include "report/report.h"

/* Until then every call here does nothing. What is not looked for is told to the report, once. */
void ws_real_streams_start(struct ws_report *r);

/* A stream as a call names it; per_thread: 0 is the calling thread's default stream, not that of the process (_ptsz). */
struct ws_real_lane { void *stream; bool per_thread; };

void ws_real_stream_made(void *stream, bool blocking);
bool ws_real_streams_made(void);         /* any so far? */
void ws_real_stream_ended(void *stream);
/* Work that is no launch of a checked kernel is put into a stream: in the default stream it orders others. */
void ws_real_stream_used(struct ws_real_lane lane);
void ws_real_event_recorded(void *event, struct ws_real_lane lane);
void ws_real_event_ended(void *event);
void ws_real_stream_waits(struct ws_real_lane lane, void *event);
/* The host knows that this is complete: it has waited for it, or work that the host sees comes behind it. */
void ws_real_host_waits_event(void *event);
void ws_real_host_waits_stream(struct ws_real_lane lane);
void ws_real_host_waits_all(void);

/* What a kernel may order besides: nothing; other launches; the host, too. */
enum ws_real_hands { WS_REAL_HANDS_NOTHING, WS_REAL_HANDS_LAUNCHES, WS_REAL_HANDS_HOST };
struct ws_real_checked_kernel;
enum ws_real_hands ws_real_hands_of(const struct ws_real_checked_kernel *k);         /* wrap_launch.c; NULL: nothing is known of it */
/* A kernel is about to be launched, and may come to this memory (NULL: any). Fills *out for its parameter; true: it is compared with others. */
bool ws_real_stream_launches(struct ws_real_lane lane, enum ws_real_hands hands, const struct ws_real_touched *touched, struct ws_race_launch *out);
/* The next kernel there may begin while the one before it still runs (programmatic dependent launch). To be called just before. */
void ws_real_stream_begins_early(struct ws_real_lane lane);

/* ---- copies and fills ----
 * What they read and write is told to the checks by a launch of ours in their stream, which needs room on the GPU. While a kernel may
 * run that waits for something, and leaves no room, nothing must be put between it and the copy that it waits for. */
/* May work be side by side? */
bool ws_real_streams_several(void);
/* Does it matter what memory launches may come to? */
bool ws_real_streams_ask(void);
/* A copy or fill is about to be put into a stream: n operations of it one after the other, each with its own range. Fills out[n];
 * true: they are compared with others. */
bool ws_real_stream_copies(struct ws_real_lane lane, const struct ws_real_extent *ranges, struct ws_race_launch *out, unsigned n);
/* Memory comes in the order of a stream, or goes: as ws_real_stream_copies with one operation. What comes was freed before by others, and the
 * driver has let all of that come first. */
bool ws_real_stream_memory(struct ws_real_lane lane, uint64_t at, uint64_t bytes, bool goes, struct ws_race_launch *out);
void ws_real_memory_comes(uint64_t at, uint64_t bytes);      /* likewise, to all streams */
/* What was put into the stream just now may wait for something that is done elsewhere. */
void ws_real_stream_may_wait(struct ws_real_lane lane);
/* All that is in the stream so far, or anywhere, has ended: not only in the order that is taken for certain. */
void ws_real_stream_has_ended(struct ws_real_lane lane);
void ws_real_all_has_ended(void);


/* ---- graphs ----
 * A graph runs in the stream that it is launched into, its nodes in the order of their dependencies alone (src/cuda/graph.c has the same
 * for the simulated GPU). Nodes that come one after the other are a branch, which is a timeline; the first branch is the stream itself. */
enum ws_real_step_does { WS_REAL_STEP_NOTHING, WS_REAL_STEP_LAUNCHES, WS_REAL_STEP_MOVES, WS_REAL_STEP_CALLS_HOST, WS_REAL_STEP_RECORDS,
	                 WS_REAL_STEP_WAITS };
struct ws_real_step {                    /* a node of an executable graph */
	uint32_t *before, nbefore;           /* steps that it depends on: their numbers, lower than its own; owned */
	enum ws_real_step_does does;         /* MOVES: copies or fills, `ranges` of them, at most two */
	bool off;                            /* it does nothing now */
	enum ws_real_hands hands;            /* of what it launches */
	void *event;                         /* that it records or waits for */
	unsigned ranges;
	struct ws_real_extent moves[2];      /* what they read and write */
	const struct ws_real_touched *touched;       /* by a kernel; NULL = anything */
	/* Of the graph's last launch: */
	bool compared;
	struct ws_race_launch said[2];       /* if so, of its launch or ranges */
	/* Of streams.c: */
	uint32_t branch;                     /* 0 = goes on in the stream */
	struct ws_clock known;               /* what is complete when it is */
};
struct ws_real_run {                     /* an executable graph; begins with zeros but for the steps; owned */
	struct ws_real_step *steps;
	size_t n;
	bool may_wait;                       /* a kernel in it may wait for something else: copies beside it are not told of */
	uint32_t *branches;                  /* timelines of the branches from 1 on */
	size_t nbranches, cap;
	bool branched;
	struct ws_clock done;                /* what was complete after its last launch: a graph never runs beside itself */
};
/* The graph is about to be launched: fills `compared` and `said` of its steps. */
void ws_real_stream_runs(struct ws_real_lane lane, struct ws_real_run *r);
void ws_real_run_free(struct ws_real_run *r);

#endif

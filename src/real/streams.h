/* streams.h - which launches of the program are ordered: streams, events, and what the host waits for, as vector clocks
 * (detect/order.h). The checks on the GPU compare launches by it (device/race.h, "launches that may overlap").
 *
 * A pair of launches is taken to be unordered only if that is certain. What is not followed makes order: a call that is not
 * known here counts as if the host had waited for everything (bind.c), and so do launches of graphs. Launches that are behind
 * a kernel which may hand on what others have done (by fences, releases and acquires of more than a block) are not compared
 * until the host has waited for that kernel.
 *
 * CUDA Driver API, Stream synchronization behavior and API synchronization behavior; CUDA C++ Programming Guide, Asynchronous
 * Concurrent Execution. Safe from several threads. */
#ifndef WS_REAL_STREAMS_H
#define WS_REAL_STREAMS_H

#include "device/race.h"
#include "report/report.h"

/* Until then every call here does nothing. What is not looked for is told to the report, once. */
void ws_real_streams_start(struct ws_report *r);

/* A stream as a call names it; per_thread: 0 is the calling thread's default stream, not that of the process (_ptsz). */
struct ws_real_lane { void *stream; bool per_thread; };

void ws_real_stream_made(void *stream, bool blocking);
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
/* A kernel is about to be launched. Fills *out for its parameter; true: it is compared with others. */
bool ws_real_stream_launches(struct ws_real_lane lane, enum ws_real_hands hands, struct ws_race_launch *out);

/* ---- copies and fills ----
 * What they read and write is told to the checks by a launch of ours in their stream, which needs room on the GPU. While a kernel may
 * run that waits for something, and leaves no room, nothing must be put between it and the copy that it waits for. */
/* May work be side by side? */
bool ws_real_streams_several(void);
/* A copy or fill is about to be put into a stream: n operations of it one after the other, each with its own range. Fills out[n];
 * true: they are compared with others. */
bool ws_real_stream_copies(struct ws_real_lane lane, struct ws_race_launch *out, unsigned n);
/* What was put into the stream just now may wait for something that is done elsewhere. */
void ws_real_stream_may_wait(struct ws_real_lane lane);
/* All that is in the stream so far, or anywhere, has ended: not only in the order that is taken for certain. */
void ws_real_stream_has_ended(struct ws_real_lane lane);
void ws_real_all_has_ended(void);

#endif

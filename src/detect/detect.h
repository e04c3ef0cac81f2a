/* detect.h - race detectors: observers of an execution that write to a report. */
#ifndef WS_DETECT_H
#define WS_DETECT_H

#include "gpu/gpu.h"
#include "report/report.h"

/* Bytes that race, as they are found; the same ones may come again. */
struct ws_raced_bytes {
	bool global, warning;        /* warning: writes of one value */
	bool lifetime;               /* no bytes: the block's shared memory was visited at the wrong time */
	uint32_t bytes;
	uint64_t launch, block, addr;        /* shared memory: block and offset; global: 0 and device address; lifetime:
	                                      * block, and 1 if it ended too early, 0 if it began too late */
};

struct ws_detect_config {
	uint32_t granularity;        /* bytes: 1 (default), 2, 4, .. 64 */
	bool shared, global;         /* memories to check */
	const char *kernel_regex;    /* NULL = all kernels */
	uint64_t launch_skip, launch_count;  /* of launches that match: leave out so many, check so many (0 = all) */
	bool same_value_error;       /* writes of one value are errors, not warnings */
	uint64_t seed;               /* told in reports */
	uint64_t shadow_limit;       /* bytes of shadow memory; 0 = no limit */
	/* For comparisons of detectors: is told of every racing byte, by any thread. NULL = nobody */
	void (*raced)(void *user, const struct ws_raced_bytes *r);
	void *raced_user;
};

/* One detector. Adding one: a file with such a table, and a line in detect.c's list. */
struct ws_detector {
	const char *name, *help;
	const struct ws_observer_ops *ops;
	/* self for the callbacks; the report must outlive it. `gpu` may be given later with attach. */
	void *(*create)(const struct ws_detect_config *config, struct ws_report *report);
	void (*attach)(void *self, struct ws_gpu *gpu);
	void (*destroy)(void *self);
	/* One line about memory used, the most of all times that `measure` was called, which takes time: after a launch, when
	 * statistics are wanted. Both NULL = has none to tell. */
	void (*stats)(void *self, struct ws_buf *out);
	void (*measure)(void *self);
};
const struct ws_detector *ws_detector_find(const char *name);        /* "shadow" is the default; NULL = unknown */
const struct ws_detector *ws_detector_at(size_t i);                  /* NULL at the end */

/* Which launches are checked: --kernel, --launch-skip, --launch-count. For use by detectors. */
struct ws_detect_filter;
struct ws_detect_filter *ws_detect_filter_new(const struct ws_detect_config *config);
void ws_detect_filter_free(struct ws_detect_filter *f);
/* Is this launch, the next one, to be checked? NULL: yes; else why not, static text. */
const char *ws_detect_left_out(struct ws_detect_filter *f, const char *kernel);

/* Neither atomic nor ordered with accesses of other threads (PTX ISA 9.0, Memory Consistency Model, Strong Operations). */
static inline bool ws_access_is_weak(const struct ws_access *a)
{
	return a->kind != WS_ATOMIC && (a->sem == WS_SEM_WEAK || a->sem == WS_SEM_NONE);
}

/* The operation itself is one, without a fence: .acquire, .release, or both. */
static inline bool ws_access_acquires(const struct ws_access *a)
{
	return a->sem == WS_SEM_ACQUIRE || a->sem == WS_SEM_ACQ_REL || a->sem == WS_SEM_SC;
}

static inline bool ws_access_releases(const struct ws_access *a)
{
	return a->sem == WS_SEM_RELEASE || a->sem == WS_SEM_ACQ_REL || a->sem == WS_SEM_SC;
}

/* For reports: file, line and text of an instruction (r->ptx is owned by the caller); block and thread by number. */
void ws_detect_place(struct ws_race_access *r, const struct ws_site *s);
void ws_detect_thread(struct ws_race_access *r, const struct ws_obs_launch *l, uint64_t block, uint32_t thread);
/* Names global memory: "counter", "allocation #3 (cudaMalloc at app.cu:12)". m may be NULL. */
void ws_detect_location(const struct ws_mem *m, struct ws_buf *out);

#endif

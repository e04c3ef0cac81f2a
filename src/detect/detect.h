/* detect.h - race detectors: observers of an execution that write to a report. */
#ifndef WS_DETECT_H
#define WS_DETECT_H

#include "gpu/gpu.h"
#include "report/report.h"

struct ws_detect_config {
	uint32_t granularity;        /* bytes: 1 (default), 2, 4, .. 64 */
	bool shared, global;         /* memories to check */
	const char *kernel_regex;    /* NULL = all kernels */
	bool same_value_error;       /* writes of one value are errors, not warnings */
	uint64_t seed;               /* told in reports */
};

/* One detector. Adding one: a file with such a table, and a line in detect.c's list. */
struct ws_detector {
	const char *name, *help;
	const struct ws_observer_ops *ops;
	/* self for the callbacks; the report must outlive it. `gpu` may be given later with attach. */
	void *(*create)(const struct ws_detect_config *config, struct ws_report *report);
	void (*attach)(void *self, struct ws_gpu *gpu);
	void (*destroy)(void *self);
};
const struct ws_detector *ws_detector_find(const char *name);        /* "shadow" is the default; NULL = unknown */
const struct ws_detector *ws_detector_at(size_t i);                  /* NULL at the end */

#endif

/* session.h - one session a process: the simulated GPU, the detector that watches it, the report. */
#ifndef WS_SESSION_H
#define WS_SESSION_H

#include "base/options.h"
#include "cuda/cuda_abi.h"
#include "detect/detect.h"
#include "gpu/gpu.h"
#include "report/report.h"
#include "timing/timing.h"

struct ws_session {
	struct ws_options options;
	struct ws_gpu *gpu;
	const struct ws_detector *detector; /* NULL: nothing is checked */
	void *detector_self;
	struct ws_report *report;
	struct ws_timing *timing; /* NULL: no clock */
	uint64_t launches; /* that ended well; and how long they took */
	double launch_seconds, launch_cpu_seconds; /* wall clock; processor time of the process */
};

/* The session, created at the first call from the options of the environment. NULL in a process forked from one that
 * had a session already (as with CUDA: the child cannot use the device of its parent). */
struct ws_session *ws_session(void);
/* The session if there is one already. */
struct ws_session *ws_session_if_any(void);

/* What the options ask of a detector; strings are theirs. */
void ws_session_detect_config(const struct ws_options *o, struct ws_detect_config *c);

/* The error that a failed kernel leaves behind; every later call returns it. 0 = none. */
int ws_session_sticky(void);
void ws_session_set_sticky(int code); /* 0 clears it (device reset) */

/* "warpsafe: error: TEXT" on stderr; TEXT may have several lines. */
void ws_tell(const char *fmt, ...) WS_PRINTF(1, 2);
/* "warpsafe: NAME is not supported on the simulated GPU", once a name; noted in the report as a limit. */
void ws_tell_unsupported(const char *name);

#endif

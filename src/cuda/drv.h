/* drv.h - what the files of the driver API (drv_*.c) share. */
#ifndef WS_DRV_H
#define WS_DRV_H

#include "cuda/rt.h"

/* CUresult for an error code: those that only the runtime API has become the driver's nearest. */
int ws_drv(int code);
/* 0, or the error that a failed kernel left; cuInit is not asked for, as nothing needs it. */
int ws_drv_begin(void);
#define WS_DRV_BEGIN()                                                                                                 \
	do {                                                                                                           \
		int ws_e_ = ws_drv_begin();                                                                            \
		if (ws_e_)                                                                                             \
			return ws_e_;                                                                                  \
	} while (0)

/* CUlaunchConfig: the numbers are unsigned there, and the stream comes first. */
struct ws_drv_config {
	struct ws_dim3 grid, block;
	unsigned shared;
	void *stream;
	struct ws_launch_attribute *attrs;
	unsigned nattrs;
};
struct ws_launch_config ws_drv_launch_config(const struct ws_drv_config *c);

#endif

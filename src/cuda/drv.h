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
/* CUDA_MEMCPY3D: a copy of a box, and its two places. A type is 1 host, 2 device, 3 array, 4 unified. */
struct ws_drv_place {
	size_t x, y, z, lod;
	int type;
	void *host;
	uint64_t device;
	void *array, *reserved;
	size_t pitch, height;
};
struct ws_drv_box {
	struct ws_drv_place src, dst;
	size_t width, height, depth;
};
int ws_drv_box_work(const struct ws_drv_box *p, struct ws_work *op); /* 0, or what is wrong */

struct ws_launch_config ws_drv_launch_config(const struct ws_drv_config *c);

#endif

/* range.h - what copies and fills read and write, told to the checks on the GPU: by a launch of ours in their stream, of a kernel that
 * has the checks of such accesses and nothing else (device/range.cu). For it the copy is one more launch that may overlap others. */
#ifndef WS_REAL_RANGE_H
#define WS_REAL_RANGE_H

#include "real/race.h"
#include "real/streams.h"

struct ws_real_range {                   /* rows of bytes, `pitch` apart */
	uint64_t at, width, pitch, rows;
	bool write;
	enum ws_race_operation of;
};
/* Tells of it in the current context, behind what is in the stream so far. said: where it stands in the order. */
void ws_real_range_tell(const struct ws_real_range *r, const struct ws_race_launch *said, struct ws_real_lane lane);

struct ws_real_range_kernel {            /* in a context; begins as zero */
	bool tried;
	void *function;                      /* NULL: it could not be made there */
};

#endif

/* range.h - what copies and fills read and write, told to the checks on the GPU: by a launch of ours in their stream, of a kernel that
 * has the checks of such accesses and nothing else (device/range.cu). For it the copy is one more launch that may overlap others. */
#ifndef WS_REAL_RANGE_H
#define WS_REAL_RANGE_H

#include "real/race.h"
#include "real/streams.h"

enum ws_real_range_what { WS_REAL_COPY_READS, WS_REAL_COPY_WRITES, WS_REAL_COPY_MAY_WRITE, WS_REAL_FILL_WRITES, WS_REAL_RANGES };
/* MAY_WRITE: ... when the call has returned, though in practice it is done: races with it are warnings. */
struct ws_real_range {                   /* rows of bytes, `pitch` apart */
	uint64_t at, width, pitch, rows;
	enum ws_real_range_what what;
};
/* Tells of it in the current context, behind what is in the stream so far. said: where it stands in the order. */
void ws_real_range_tell(const struct ws_real_range *r, const struct ws_race_launch *said, struct ws_real_lane lane);

struct ws_real_range_kernels {           /* in a context; begins as zero */
	bool tried;
	void *functions[WS_REAL_RANGES];     /* NULL: they could not be made there */
};
/* Is a kernel of a table one of ours? "copy", "fill"; NULL = it is not. */
const char *ws_real_range_name(const struct ws_real_table *t, uint32_t kernel);
bool ws_real_range_perhaps(const struct ws_real_table *t, uint32_t kernel);          /* COPY_MAY_WRITE */

#endif

/* range.h - what copies and fills read and write, told to the checks on the GPU: by a launch of ours in their stream, of a kernel that
 * has the checks of such accesses and nothing else (device/range.cu). For it the copy is one more launch that may overlap others. */
#ifndef WS_REAL_RANGE_H
#define WS_REAL_RANGE_H

#include "real/race.h"
#include "real/streams.h"

struct ws_real_range {                   /* rows of bytes, `pitch` apart */
	uint64_t at, width, pitch, rows;
	uint64_t slice, of_slice;            /* if not 0: after so many rows the next ones stand `slice` behind these */
	bool write;
	enum ws_race_operation of;
};
/* All of it, and what is between. */
struct ws_real_extent ws_real_range_extent(const struct ws_real_range *r);
/* Where memory is for kernels, too; pageable memory they do not come to. OF_HOST: pinned and managed. wrap_copy.c */
enum ws_real_memory { WS_REAL_PAGEABLE, WS_REAL_OF_HOST, WS_REAL_OF_DEVICE };
enum ws_real_memory ws_real_memory_at(uint64_t *at);
/* What CUDA_MEMCPY3D reads and writes, but for arrays, whose memory is not that of loads and stores. */
struct ws_real_box_side {
	size_t x, y, z, lod;
	int type;
	const void *host;
	uint64_t device;
	void *array, *reserved;
	size_t pitch, height;
};
struct ws_real_box { struct ws_real_box_side from, to; size_t width, height, depth; };
struct ws_real_range ws_real_box_rows(const struct ws_real_box *b, bool to);
/* Tells of it in the current context, behind what is in the stream so far. said: where it stands in the order. */
void ws_real_range_tell(const struct ws_real_range *r, const struct ws_race_launch *said, struct ws_real_lane lane);

/* The same in a graph: a node behind another one, which says nothing at first. false: it could not be made. */
bool ws_real_range_node(void **node, void *graph, void *behind);
/* What it tells from now on in an executable graph; false: the driver refuses. */
bool ws_real_range_node_says(void *exec, void *node, const struct ws_real_range *r, const struct ws_race_launch *said);

bool ws_real_range_is(void *function);       /* is it our kernel in the current context? */

struct ws_real_range_kernel {            /* in a context; begins as zero */
	bool tried;
	void *function;                      /* NULL: it could not be made there */
};

#endif

/* launches_priv.h - shared by launches*.c; see launches.h. */
#ifndef WS_LAUNCHES_PRIV_H
#define WS_LAUNCHES_PRIV_H

#include "detect/footprint.h"
#include "detect/launches.h"

struct ws_la_op {                    /* an operation that a footprint refers to */
	struct ws_launch_op d;       /* strings are its own; no clock */
	uint32_t grid[3], block[3];  /* of a kernel */
	bool syncs;                  /* has fences, acquires or releases that reach other kernels */
};

/* Footprints of what may still run: device memory, and memory that the host can reach. */
struct ws_la_prints { struct ws_footprint *device, *host; };

struct ws_la_segment {               /* operations of one timeline that nobody can tell apart; see order.h */
	uint32_t timeline;
	uint64_t first, last;        /* indices */
	uint64_t overlaps, cut;      /* of its operations; ws_operation */
	struct ws_la_prints prints;
	struct ws_la_op **ops;
	size_t nops, cap;
	bool syncs, told_host;
};

enum { WS_LA_LATE, WS_LA_EARLY /* before griddepcontrol.wait */, WS_LA_PARTS };
struct ws_la_shard { struct ws_la_prints part[WS_LA_PARTS]; };      /* of one host thread */

struct ws_launches {
	struct ws_detect_config config;
	struct ws_report *report;
	struct ws_gpu *gpu;
	struct ws_launches_front front;
	struct ws_detect_filter *filter;
	const struct ws_observer_ops *inner;
	void *inner_self;
	struct ws_observer_ops ops;
	struct ws_la_segment **live;
	size_t nlive, cap;
	/* the operation that runs */
	struct ws_la_op *now;
	struct ws_operation order;
	bool device, recording;
	struct ws_la_shard *shards;
	size_t nshards;
	bool watching;               /* pages were given to the front */
};

/* The footprint for that memory; NULL: it is not recorded. */
struct ws_footprint *ws_la_print_for(struct ws_launches *l, struct ws_la_prints *p, const struct ws_mem *m);
void ws_la_record(struct ws_launches *l, const struct ws_obs_warp *w, const struct ws_access *a);
/* Tells the conflicts of two operations, or of one and the host (second.op NULL). */
void ws_la_compare(struct ws_launches *l, const struct ws_la_prints *first, const struct ws_la_prints *second, bool early);
void ws_la_tell_host(struct ws_launches *l, const struct ws_fp_conflict *c, void *const *frames);

#endif

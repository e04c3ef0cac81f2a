/* history_section.h - what a thread's sections tell of themselves (src/device/tm.h), and the loads and stores of the engine between,
 * become a history. */
#ifndef WS_HISTORY_SECTION_H
#define WS_HISTORY_SECTION_H

#include "detect/history.h"
#include "device/tm.h"
#include "../include/warpsafe/tm/handle.h"

/* A write of a section, with what is written, if that was told: so many times 8 bytes. With deferred update it waits for the end. */
enum { WS_HISTORY_VALUES = 4 };
struct ws_history_intent { uint64_t at; uint32_t bytes, nvalues; const void *site; uint64_t value[WS_HISTORY_VALUES]; };

/* A part of an attempt that can be undone alone. */
struct ws_history_part { struct ws_history_mark mark; size_t intents; const void *site; };

struct ws_history_lane {                 /* a thread; zero at first */
	struct ws_history_attempt *attempt;
	bool inside, ending;
	enum ws_tm_event access;         /* READ, WRITE; else the section is at none */
	uint64_t at;
	uint32_t bytes;
	const void *site;
	uint32_t nvalues;                /* READ: what it has got, as in an intent */
	uint64_t value[WS_HISTORY_VALUES];
	struct ws_history_intent *intents;       /* of the attempt */
	size_t n, cap;
	struct ws_history_part *parts;           /* under way, the innermost one last */
	size_t nparts, parts_cap;
};

struct ws_history_told {
	enum ws_tm_event kind;
	uint64_t at;
	uint32_t bytes;
	bool committed;                  /* ENDED */
	uint64_t value;                  /* VALUE; PART_ENDED: enum ws_tm_next */
	const void *site;
};

/* Does an engine write at the end of a section? As ws_tx__deferred, for the device (include/warpsafe/tm.cuh). */
static inline bool ws_history_deferred(enum ws_tm_engine e)
{
	return e == WS_TM_HSTM || e == WS_TM_BLOCK || e == WS_TM_BLOCK_PESSIMISTIC;
}

/* Shared memory is at ws_history_shared. */
void ws_history_tell(struct ws_history *h, struct ws_history_lane *l, struct ws_history_who who, const struct ws_history_told *e);
/* A load or store of the engine; deferred: it writes at the end. */
void ws_history_data(struct ws_history *h, struct ws_history_lane *l, bool deferred, bool store, const struct ws_history_word *w);
void ws_history_lane_free(struct ws_history_lane *l);

/* Shared memory lies above all addresses of global memory, each block's by itself. */
#define WS_HISTORY_SHARED (UINT64_C(1) << 63)
enum { WS_HISTORY_BLOCK_SHIFT = 28 };
static inline uint64_t ws_history_shared(uint64_t block, uint64_t offset) { return WS_HISTORY_SHARED | block << WS_HISTORY_BLOCK_SHIFT | offset; }

#endif

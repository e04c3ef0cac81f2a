/* history_priv.h - the record of a history: history.c keeps it, history_check.c judges it. */
#ifndef WS_HISTORY_PRIV_H
#define WS_HISTORY_PRIV_H

#include "detect/history.h"

enum { WS_HISTORY_UNIT = 8 };            /* bytes, aligned */

struct ws_history_own {
	struct ws_history_node node;
	uint32_t last;                   /* its last store; 0: none */
};

/* Stores are numbered from 1, in the order in which they came. */
struct ws_history_store {
	uint32_t owner, unit;
	uint32_t earlier;                /* of the same owner */
	uint8_t mask;                    /* bytes of the unit */
	uint8_t final;                   /* those of them that the owner has not written again */
	const void *site;
	uint32_t other[WS_HISTORY_UNIT]; /* by byte: the store before; when judged: the next final one of who has committed. 0: none */
};

struct ws_history_read {
	uint32_t owner, unit;
	uint32_t store;                  /* whose value it was; 0: none of those recorded */
	uint8_t mask;
	const void *site;
};

/* What is not an attempt's own. */
struct ws_history_odd { uint32_t owner; uint64_t at; const void *wrote, *read; };

struct ws_history_unit {
	uint64_t at;
	uint32_t now[WS_HISTORY_UNIT];   /* by byte: the store whose value is in memory */
	uint32_t first[WS_HISTORY_UNIT], last[WS_HISTORY_UNIT];  /* judged: final ones of who has committed */
};

struct ws_history {
	bool opacity, full;
	size_t most;
	struct ws_history_own *owners;
	struct ws_history_store *stores;         /* the first one is none */
	struct ws_history_read *reads;
	struct ws_history_unit *units;
	struct ws_history_odd *odd;
	size_t nodd, odd_cap;
	size_t nowners, owners_cap, nstores, stores_cap, nreads, reads_cap, nunits, units_cap;
	uint32_t *table;                 /* units by address, + 1 */
	size_t table_size;               /* a power of two */
	struct ws_history_attempt *running;      /* a list */
};

#endif

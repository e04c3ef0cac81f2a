/* tm.h - what the pass tm (src/rewrite/tm.c), the runtime of marked sections (tm.cu) and the host agree on. C11 and CUDA.
 *
 * A thread's transaction (struct thread of tm.cu) lies in local memory of the function that has the section. Inserted
 * code reads two words of it, and hands values over in its first bytes. */
#ifndef WS_DEVICE_TM_H
#define WS_DEVICE_TM_H

enum {
	WS_TM_THREAD_BYTES = 808,
	WS_TM_VALUE_AT = 0,          /* 32 bytes: what an access reads or writes */
	WS_TM_ID_AT = 128,           /* 32 bits: 0 until the thread's first section */
	WS_TM_STATE_AT = 132,        /* 32 bits: WS_TM_STATE_ACTIVE, or the attempt is lost */
	WS_TM_STATE_ACTIVE = 1
};

/* What comes behind a part of a section that has lost, or (but for the first) behind an attempt. */
enum ws_tm_next {
	WS_TM_NEXT_LOST,             /* what is around it has lost as well */
	WS_TM_NEXT_AGAIN,
	WS_TM_NEXT_UNDONE            /* by the program: its begin returns that, and is gone through once more */
};

/* Variables of a rewritten module: the handle (struct ws_tm of include/warpsafe/tm/handle.h) and the counters. */
#define WS_TM_HANDLE "__warpsafe_tm"
#define WS_TM_TABLE "__warpsafe_tm_table"
#define WS_TM_COUNTERS "__warpsafe_tm_stripes"

/* With `history`: where code of sections tells of itself, by volatile stores of 64 bits: WS_TM_EVENT(kind, bytes) and a generic address,
 * or, of WS_TM_EVENT_ENDED, the state of the transaction. */
#define WS_TM_EVENT_WORD "__warpsafe_tm_event"
#define WS_TM_VALUE_WORD "__warpsafe_tm_value"       /* and where the values go */
#define WS_TM_POOL "__warpsafe_tm_pool"
enum ws_tm_event {
	WS_TM_EVENT_NONE,
	WS_TM_EVENT_START,           /* an attempt */
	WS_TM_EVENT_READ,            /* of the section: what the engine loads there is for it */
	WS_TM_EVENT_WRITE,
	WS_TM_EVENT_DONE,            /* that read or write was not in vain */
	WS_TM_EVENT_ENDING,          /* the attempt takes effect or is undone from now on */
	WS_TM_EVENT_ENDED,
	WS_TM_EVENT_VALUE,           /* 8 bytes of what is written, before the write, or of what was read, before it is done */
	/* 8 and 9: enum ws_tm_log_kind */
	WS_TM_EVENT_PART = 10,       /* of the attempt, that can be undone alone */
	WS_TM_EVENT_PART_DONE,
	WS_TM_EVENT_PART_ENDING,     /* it may be undone from now on; in place of an address: */
	WS_TM_EVENT_PART_ENDED       /* enum ws_tm_next */
};
enum { WS_TM_EVENT_KIND_AT = 60, WS_TM_EVENT_BYTES_AT = 52, WS_TM_STATE_COMMITTED = 3 };
#define WS_TM_EVENT(kind, bytes) ((unsigned long long)(kind) << WS_TM_EVENT_KIND_AT | (unsigned long long)(bytes) << WS_TM_EVENT_BYTES_AT)

/* With `log`: code of sections tells of itself to a log in memory, by calls of the runtime, and so do the engines' loads and stores
 * (tm_record.cuh). An entry's place in the log is when the access had ended; `since`: how many entries there were before it began. */
#define WS_TM_LOG_HEAD "__warpsafe_tm_log_head"      /* a struct ws_tm_log_head */
#define WS_TM_LOG_ENTRIES "__warpsafe_tm_log"
enum ws_tm_log_kind { WS_TM_LOG_LOAD = 8, WS_TM_LOG_STORE = 9 };  /* or an enum ws_tm_event */
struct ws_tm_log_head {
	unsigned int used, room;     /* entries so far, and those that there is room for */
	unsigned int grid[3], block[3];      /* of the launch, once it has begun a section */
};
struct ws_tm_log_entry {
	unsigned long long at;       /* address; in shared memory where it is there */
	unsigned long long value;    /* of ENDED: the state of the transaction; of VALUE: that */
	unsigned long long who;      /* thread in the launch, one block after the other, and: */
	unsigned int since, site;    /* of an event: the place's number */
};
enum { WS_TM_LOG_MORE = 1 << 19 };   /* entries behind the room: no GPU runs as many threads at a time */
enum { WS_TM_LOG_BYTES_AT = 48, WS_TM_LOG_SHARED_AT = 55, WS_TM_LOG_KIND_AT = 56 };  /* 6 bits, 1, 8: in `who` */

#endif

/* tm.h - what the pass tm (src/rewrite/tm.c), the runtime of marked sections (tm.cu) and the host agree on. C11 and CUDA.
 *
 * A thread's transaction (struct thread of tm.cu) lies in local memory of the function that has the section. Inserted
 * code reads two words of it, and hands values over in its first bytes. */
#ifndef WS_DEVICE_TM_H
#define WS_DEVICE_TM_H

enum {
	WS_TM_THREAD_BYTES = 536,
	WS_TM_VALUE_AT = 0,          /* 32 bytes: what an access reads or writes */
	WS_TM_ID_AT = 128,           /* 32 bits: 0 until the thread's first section */
	WS_TM_STATE_AT = 132,        /* 32 bits: WS_TM_STATE_ACTIVE, or the attempt is lost */
	WS_TM_STATE_ACTIVE = 1
};

/* Variables of a rewritten module: the handle (struct ws_tm of include/warpsafe/tm/handle.h) and the counters. */
#define WS_TM_HANDLE "__warpsafe_tm"
#define WS_TM_TABLE "__warpsafe_tm_table"
#define WS_TM_COUNTERS "__warpsafe_tm_stripes"

#endif

/* tm_logged.cu - the runtime of marked sections that writes a log of what it does (tm_record.cuh). */
#define WS_TM_RECORD
#include "tm.cu"

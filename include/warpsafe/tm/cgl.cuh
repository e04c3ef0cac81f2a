/* cgl.cuh - engine cgl: one lock, held from the start of a transaction to its end. What the others are measured against
 * (CGL in Holey 2015, 4.3), and the only one that never aborts by itself. */
#ifndef WARPSAFE_TM_CGL_CUH
#define WARPSAFE_TM_CGL_CUH

#include "log.cuh"

/* Whether the attempt can start. */
WS_TX_FN int ws_tx__cgl_start(struct ws_tx *tx)
{
	if (WS_TM_BREAK == 1)
		return 1;
	if (ws_tx__load32(&tx->tm.words->lock) || atomicCAS(&tx->tm.words->lock, 0u, tx->id))
		return 0;
	ws_tx__acquire_fence();
	return 1;
}

/* The caller has put a fence before. */
WS_TX_FN void ws_tx__cgl_release(struct ws_tx *tx)
{
	ws_tx__store32(&tx->tm.words->lock, 0);
}

#endif

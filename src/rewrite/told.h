/* told.h - what proofs find of a launch the host may have found already: then it is in the launch's parameter (device/race.h, struct
 * ws_race_told), and the entry goes on behind them. */
#ifndef WS_REWRITE_TOLD_H
#define WS_REWRITE_TOLD_H

#include "rewrite/rewrite_priv.h"

/* Code before that at the entry of kernel f. mark: the register with the mark of the parameter, 0 behind it where that tells. The label
 * where control goes on then, to be placed behind the proofs; NULL: there is nothing to be told, or too much. *tells: what the host is to
 * compute (real/decide.h), in the module's arena. */
const char *ws_rw_take_told(struct ws_pass *p, struct ws_ptx_func *f, const char *mark, const char **tells);

#endif

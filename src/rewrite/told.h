/* told.h - what proofs find of a launch the host may have found already: then it is in the launch's parameter (device/race.h, struct
 * ws_race_told), and the entry goes on behind them. */
#ifndef WS_REWRITE_TOLD_H
#define WS_REWRITE_TOLD_H

#include "rewrite/rewrite_priv.h"

/* The parameter that says where in the order of launches this one stands (src/device/race.h). If it may overlap others, it goes
 * to the block's memory, and what proofs find of this launch alone will not do. Modules that are linked by the program may
 * come to be launched where nobody gives a parameter more. The register with its mark; NULL: there is none. */
const char *ws_rw_take_launch(struct ws_pass *p, struct ws_ptx_func *f, struct ws_rw_kernel *kernel);
/* Code before that at the entry of kernel f. mark: the register with the mark of the parameter, 0 behind it where that tells. proved: a
 * predicate, found before that code, that the host knows as well (a probe has found nothing); NULL: there is none. The label
 * where control goes on then, to be placed behind the proofs; NULL: there is nothing to be told, or too much. *tells: what the host is to
 * compute (real/decide.h), in the module's arena. */
const char *ws_rw_take_told(struct ws_pass *p, struct ws_ptx_func *f, const char *mark, const char *proved, const char **tells);

#endif

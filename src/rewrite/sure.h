/* sure.h - a further checked kernel beside one that can be told what proofs find (told.h): for launches of which all is true that its
 * checks ask. It has neither the proofs nor what they spare, so it needs fewer registers, and no memory for those that there are not.
 *
 * Both are one text: the kernel's with the edits of its body. At its entry, in place of the proofs, predicates are set that hold; an
 * assembler leaves out what they make unreachable. What hardly any launch has is false there, so its checks stay: a place that data gives, or one word that all
 * threads write, is proved where there is one thread. */
#ifndef WS_REWRITE_SURE_H
#define WS_REWRITE_SURE_H

#include "rewrite/rewrite_priv.h"

/* All code that was put at the entry of f so far are proofs, its probe, and what chooses among copies. mark, proved: as of ws_rw_take_told. */
struct ws_sure;
struct ws_sure *ws_sure_begin(struct ws_pass *p, struct ws_ptx_func *f, const char *mark, const char *proved);
/* When the kernel's code is complete: it gets such a kernel by the name WS_RW_SURE and its own, one by WS_RW_TOLD in which what is true of global memory is told as in
 * the checked one, or both. Notes in k the truths, of those that its launches are told, that must hold then: those that its code asks for behind the entry; and whether its
 * probe must have found nothing, which says all of shared memory, or what else does in its place. always: it has checks that no proof spares; with neither these nor such as proofs hardly ever spare it gets no WS_RW_SURE. */
void ws_sure_keep(struct ws_sure *s, bool always, struct ws_rw_kernel *k);
/* At the end of a pass: writes them all. */
void ws_sure_write(struct ws_pass *p);

#endif

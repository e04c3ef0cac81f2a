/* pool.h - many small objects of few sizes that come and go: lines of shadow memory, their cells, knowledge. Memory is
 * taken from the system in large pieces and stays with the process; what is given back serves the next of its size. Any
 * thread may give back what another has taken. */
#ifndef WS_POOL_H
#define WS_POOL_H

#include <stddef.h>

/* Zeroed, aligned to 16 bytes (objects of whole 64 bytes: to 64); never NULL. */
void *ws_pool_new(size_t size);
/* The same with more room; the new part is zeroed. p may be NULL if size is 0. */
void *ws_pool_grow(void *p, size_t size, size_t more);
void ws_pool_free(void *p, size_t size);     /* `size` as it was asked for; p may be NULL */

#endif

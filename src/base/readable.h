/* readable.h - how much memory of this process is there to read. */
#ifndef WS_READABLE_H
#define WS_READABLE_H

#include <stddef.h>

/* Bytes that can be read from `at` on without a gap; 0 if none. A program gives us the address of its device code and
 * not its length, and nothing in the code itself is trusted. */
size_t ws_readable_bytes(const void *at);

#endif

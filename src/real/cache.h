/* cache.h - compiled modules, kept on disk by the content that they were made from. */
#ifndef WS_REAL_CACHE_H
#define WS_REAL_CACHE_H

#include "base/base.h"

/* What a compiled module depends on, piece by piece; the order matters. The 128-bit XXH3 of all pieces names the file. */
struct ws_cache_key;
struct ws_cache_key *ws_cache_key_new(void);
void ws_cache_key_add(struct ws_cache_key *k, const void *bytes, size_t n);  /* its length counts, too */
void ws_cache_key_free(struct ws_cache_key *k);

/* The folder: $XDG_CACHE_HOME/warpsafe, or ~/.cache/warpsafe; made if it is missing. NULL: there is none. The caller
 * frees it. */
char *ws_cache_folder(void);
/* The content that was put under the key; a file that is damaged is removed and does not count. NULL: there is none.
 * The caller frees it. */
void *ws_cache_get(const char *folder, const struct ws_cache_key *k, size_t *len);
/* Keeps content: written aside and renamed, so that a reader never sees a part of it. Then the files used longest ago
 * are removed until all are at most `limit` bytes. false with errno when it cannot be written. */
bool ws_cache_put(const char *folder, const struct ws_cache_key *k, const void *data, size_t len, uint64_t limit);

#endif

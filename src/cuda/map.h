/* map.h - pointers to pointers: what a handle or a host function of the program stands for. */
#ifndef WS_MAP_H
#define WS_MAP_H

#include "base/base.h"

struct ws_map {
	const void **keys;
	void **values;
	size_t n, used, cap;
};

void *ws_map_get(const struct ws_map *m, const void *key);       /* NULL if it is not there; key is not NULL */
void ws_map_put(struct ws_map *m, const void *key, void *value); /* replaces */
void ws_map_remove(struct ws_map *m, const void *key);
void ws_map_free(struct ws_map *m);

#endif

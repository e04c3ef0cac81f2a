/* turns.h - kernels of graphs count their own launches: the GPU gives each launch of a graph the same %gridid, so that two of
 * them seem to be one. A number of a row of the GPU's memory is given to each kernel node, by its parameter __warpsafe_launch
 * (device/race.h, WS_RACE_TURNS), before the graph is instantiated: so it holds wherever the node is, in a graph in the graph or in the
 * body of a conditional node too, and however often its launches come. */
#ifndef WS_REAL_TURNS_H
#define WS_REAL_TURNS_H

#include <stdint.h>

/* A mark for the parameter; WS_RACE_UNKNOWN_TURN if all are in use. */
uint32_t ws_real_turn_take(void);
void ws_real_turn_give_back(uint32_t mark);      /* whoever uses it still may do so for a while; 0 = none */

/* ---- between the moment when a graph's nodes get theirs and that when it is instantiated ---- */
/* The node's, or a new one. */
uint32_t ws_real_turn_for(void *node);
/* The node's, which is the caller's from now on; 0 = it has none. */
uint32_t ws_real_turn_of(void *node);

/* ---- conditional nodes: the driver does not say later which graphs are their bodies ---- */
void ws_real_turn_bodies(void *node, void *const *graphs, unsigned n);
/* body: from 0 on; NULL: there are no more. */
void *ws_real_turn_body(void *node, unsigned body);

#endif

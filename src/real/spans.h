/* spans.h - which memory launches come to, and which launch of a timeline came to it last. */
#ifndef WS_REAL_SPANS_H
#define WS_REAL_SPANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes [from, to), and what is done there. UPDATES, UPDATES8: by atomics that do not race with each other, of 4 bytes or less, and of 8 or more:
 * one of each may (PTX ISA 9.0, 8.7.2). */
enum ws_real_does { WS_REAL_READS, WS_REAL_UPDATES, WS_REAL_UPDATES8, WS_REAL_WRITES, WS_REAL_DOES };
struct ws_real_extent { uint64_t from, to; enum ws_real_does does; };
/* All global memory that a launch, copy or fill may come to; not known: anything. Zeros: that. */
enum { WS_REAL_MOST_EXTENTS = 32 };
struct ws_real_touched { bool known; unsigned n; struct ws_real_extent list[WS_REAL_MOST_EXTENTS]; };
/* Does a launch that comes to this do the same again when it is made once more? It writes nothing that it reads, and adds nothing up. */
bool ws_real_touched_again(const struct ws_real_touched *t);

/* Of one timeline; begins with zeros. Launches have numbers from 1 on, and come in their order. */
struct ws_real_spans {
	struct ws_real_span_of { uint64_t from, to, last[WS_REAL_DOES]; } *at;       /* in the order of addresses; none meets another */
	size_t n, cap;
	uint64_t anything;                   /* the last launch of which nothing is known */
};
/* The launch comes to this (NULL: nothing is known of it). What was only done by launches up to `over` may be forgotten. */
void ws_real_spans_add(struct ws_real_spans *s, const struct ws_real_touched *t, uint64_t launch, uint64_t over);
/* May a launch behind number `over` come to the same bytes as this one, so that they race if nothing orders them? */
bool ws_real_spans_meet(const struct ws_real_spans *s, const struct ws_real_touched *t, uint64_t over);
void ws_real_spans_free(struct ws_real_spans *s);

#endif

/* footprint.h - the memory that an operation (a kernel, a copy, a fill) touches, byte by byte, and by whom: what has to be
 * known of it while another operation, or the host, may run at the same time. */
#ifndef WS_FOOTPRINT_H
#define WS_FOOTPRINT_H

#include "gpu/observer.h"

/* Sets of bytes. Strong: by atomics and other strong accesses of a scope that holds other kernels (gpu, sys). */
enum ws_fp_set {
	WS_FP_READ, WS_FP_WRITE, WS_FP_STRONG_READ, WS_FP_STRONG_WRITE /* and atomic */,
	WS_FP_GPU,                   /* strong ones of scope gpu only: not with the host */
	WS_FP_CHANGED,               /* written with another value than was there */
	WS_FP_SETS
};

/* Who made an access. By lane l of a warp when site is given: bytes base + l * bytes onwards. */
struct ws_fp_who {
	const void *op;              /* the operation; the caller's */
	const struct ws_site *site;  /* NULL: the operation as a whole */
	uint64_t base, block;
	uint16_t warp, bytes;
};

struct ws_footprint;
struct ws_footprint *ws_footprint_new(void);
void ws_footprint_free(struct ws_footprint *f);
bool ws_footprint_empty(const struct ws_footprint *f);
uint64_t ws_footprint_memory(const struct ws_footprint *f);  /* bytes that it takes */
/* The bytes come into the sets (a mask of 1 << enum ws_fp_set). One footprint is not for several threads at once. */
void ws_footprint_add(struct ws_footprint *f, uint64_t addr, uint64_t bytes, unsigned sets, const struct ws_fp_who *who);
/* Moves everything into another one; `from` is freed. Whoever accessed a byte last is in `from`. */
void ws_footprint_merge(struct ws_footprint *to, struct ws_footprint *from);

/* Bytes that two operations in no order access in a way that races (PTX ISA 9.0, Memory Consistency Model: at least one
 * writes, and they are not both strong). */
struct ws_fp_conflict {
	uint64_t addr, bytes;        /* a stretch of them */
	bool first_writes, second_writes, same_value;
	bool first_strong, second_strong;
	const struct ws_fp_who *first, *second;      /* one access of each; site is given only if it has the byte at addr */
};
typedef void ws_fp_found(void *user, const struct ws_fp_conflict *c);
void ws_footprint_compare(const struct ws_footprint *first, const struct ws_footprint *second, ws_fp_found *found, void *user);
/* Does second read strongly what first wrote strongly? */
bool ws_footprint_talk(const struct ws_footprint *first, const struct ws_footprint *second);
/* An access of the host that is not ordered with first's. */
void ws_footprint_host(const struct ws_footprint *first, uint64_t addr, uint64_t bytes, bool write, ws_fp_found *found,
                       void *user);
/* Did first write the byte strongly at scope sys, so that the host may learn from it? */
bool ws_footprint_tells_host(const struct ws_footprint *first, uint64_t addr);

/* Pages of 4 KiB that were touched: their addresses, and whether something in them was written. */
void ws_footprint_pages(const struct ws_footprint *f, void (*page)(void *user, uint64_t addr, bool written), void *user);

#endif

/* noise.h - random numbers of a test, the same in each run. */
#ifndef NOISE_H
#define NOISE_H

#include <stdint.h>

static uint64_t noise;                   /* what comes next; a test sets it where it begins anew */

/* From 0 to n - 1. */
static inline uint32_t below(uint32_t n)
{
	noise = noise * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(noise >> 33) % n;
}

#define ONE_OF(list) (list)[below(WS_COUNT(list))]

#endif

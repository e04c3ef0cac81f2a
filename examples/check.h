/* check.h - what the examples share: a checked call and the verdict on the result. */
#ifndef EXAMPLES_CHECK_H
#define EXAMPLES_CHECK_H

#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CHECK(call) \
	do { \
		cudaError_t e_ = (call); \
		if (e_ != cudaSuccess) { \
			fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(e_)); \
			exit(3); \
		} \
	} while (0)

/* Prints the verdict; the examples end with 0 either way, for a race may well leave the right result behind. */
static inline int verdict(const char *what, double got, double expected)
{
	printf("%s: %.10g, expected %.10g: %s\n", what, got, expected, got == expected ? "right" : "WRONG");
	return 0;
}

#endif

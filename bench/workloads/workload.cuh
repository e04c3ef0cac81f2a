/* workload.cuh - what the ten workloads share: arguments, checks, and races that can be put in by number.
 *
 *     PROGRAM [quick|large] [scale=N] [racy] [inject=N]
 *
 * quick: a small size; large: one at which the launches take some ten milliseconds, for measurements; scale: N times
 * that much work, a power of two. racy: the race that the original program is documented to have (Holey 2015, 6.5.1), in
 * three of them. inject=N: one of the 41 races of that section, numbered through all ten programs; a program that does
 * not have number N ends with 2. A race goes in at run time, so that line numbers and code stay the same. */
#ifndef WORKLOAD_CUH
#define WORKLOAD_CUH

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>

#include "../common.cuh"

__constant__ int inject;                     /* number of the race put in; 0 = none */

/* A barrier that race number n removes. */
#define BARRIER(n) do { if (inject != (n)) __syncthreads(); } while (0)
/* A fence that race number n removes. */
#define FENCE(n) do { if (inject != (n)) __threadfence(); } while (0)
/* An access across the border of a block: a read that changes nothing, but that no compiler can leave out. */
#define TRESPASS(n, what, sink) do { if (inject == (n) && (what) == -1234567) (sink) = 0; } while (0)

struct options { bool quick, large, racy; int inject, scale; };

/* first..last: numbers of the races that this program can have, in up to three ranges (0, 0 = none). */
static inline options read_options(int argc, char **argv, const int (*ranges)[2], int n)
{
	options o = {false, false, false, 0, 1};
	bool known;

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "quick"))
			o.quick = true;
		else if (!strcmp(argv[i], "large"))
			o.large = true;
		else if (!strcmp(argv[i], "racy"))
			o.racy = true;
		else if (!strncmp(argv[i], "scale=", 6) && atoi(argv[i] + 6) > 0)
			o.scale = atoi(argv[i] + 6);
		else if (!strncmp(argv[i], "inject=", 7))
			o.inject = atoi(argv[i] + 7);
		else
			exit((fprintf(stderr, "usage: %s [quick|large] [scale=N] [racy] [inject=N]\n", argv[0]), 2));
	}
	known = o.inject == 0;
	for (int i = 0; i < n; i++)
		known = known || (o.inject >= ranges[i][0] && o.inject <= ranges[i][1]);
	if (!known)
		exit((fprintf(stderr, "%s: there is no race number %d in it\n", argv[0], o.inject), 2));
	CHECK(cudaMemcpyToSymbol(inject, &o.inject, sizeof o.inject));
	return o;
}

#define OPTIONS(...) \
	static const int ranges[][2] = {__VA_ARGS__}; \
	options o = read_options(argc, argv, ranges, (int)(sizeof ranges / sizeof ranges[0]))

template <typename T> static T *device(size_t n, const T *from = nullptr)
{
	T *p;

	CHECK(cudaMalloc((void **)&p, n * sizeof(T)));
	if (from)
		CHECK(cudaMemcpy(p, from, n * sizeof(T), cudaMemcpyHostToDevice));
	else
		CHECK(cudaMemset(p, 0, n * sizeof(T)));
	return p;
}

template <typename T> static void back(T *to, const T *from, size_t n)
{
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaMemcpy(to, from, n * sizeof(T), cudaMemcpyDeviceToHost));
}

/* A racy run may be wrong: its result is told, not judged. */
static inline int finish(const char *name, bool right, const options &o)
{
	printf("%s: %s\n", name, right ? "right" : "wrong");
	return right || o.racy || o.inject ? 0 : 1;
}

#endif

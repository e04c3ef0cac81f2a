/* atomic.h - marked sections of plain CUDA C that take effect as a whole or not at all (nvcc and clang, C++11 and later).
 * Manual: docs/TRANSACTIONS.md.
 *
 *     __global__ void move(long long *account, int from, int to, long long sum)
 *     {
 *             WS_ATOMIC {
 *                     if (account[from] < sum)
 *                             return;
 *                     account[from] -= sum;
 *                     account[to] += sum;
 *             }
 *     }
 *
 * The section and the functions called in it are plain code. It may be left by its end, return, break, continue and goto,
 * which all commit. A section inside a section, or in a function that one calls, takes effect with that, but can be undone alone: after a
 * conflict in it, when it is run again by itself (closed nesting), and by the program.
 *
 * ws_tx_abort() undoes the innermost section, with the thread's own variables, and goes on behind it.
 *
 *     bool done = false;
 *
 *     WS_ATOMIC {
 *             account[from] -= sum;
 *             if (account[from] < 0)
 *                     ws_tx_abort();
 *             account[to] += sum;
 *             done = true;
 *     }
 *     if (!done) ...
 *
 * ws_tx_retry() in a section undoes it and runs it again later: for a condition that another thread will make true. With alternatives it undoes
 * the first one, and the second one is run; if that retries as well, the section does.
 *
 *     WS_EITHER { take from a queue, or ws_tx_retry() } WS_OR_ELSE { take from another one }
 *
 * That is a section, or a part of the one around it. Alternatives can be nested.
 *
 * The markers are what `warpsafe tm ./app` looks for when it loads the program's PTX, and `warpsafe cc --tm` when it makes
 * it. A program that runs without either does what it says with NO atomicity: each thread runs the section once, as if
 * WS_ATOMIC were not there, of alternatives the first one, and an abort or a retry does nothing. It tells so once on the error stream; define WS_ATOMIC_QUIET to
 * leave that out. */
#ifndef WARPSAFE_ATOMIC_H
#define WARPSAFE_ATOMIC_H

/* The same as two calls: every way from a ws_tx_begin must come to a ws_tx_end of the same function. The highest bit of what ws_tx_begin returns:
 * the section was undone by ws_tx_abort, and is to do nothing. What the others return means nothing. Numbers that no program moves to a register by chance; "memory" keeps accesses on their side of a marker. */
static __device__ __forceinline__ unsigned long long ws_tx_begin(void)
{
	unsigned long long mark;

	__asm__ volatile("mov.b64 %0, 0x77735f74785f6265;" : "=l"(mark) : : "memory");
	return mark;
}

static __device__ __forceinline__ unsigned long long ws_tx_end(void)
{
	unsigned long long mark;

	__asm__ volatile("mov.b64 %0, 0x77735f74785f656e;" : "=l"(mark) : : "memory");
	return mark;
}

static __device__ __forceinline__ unsigned long long ws_tx_retry(void)
{
	unsigned long long mark;

	__asm__ volatile("mov.b64 %0, 0x77735f74785f7265;" : "=l"(mark) : : "memory");
	return mark;
}

static __device__ __forceinline__ unsigned long long ws_tx_abort(void)
{
	unsigned long long mark;

	__asm__ volatile("mov.b64 %0, 0x77735f74785f6162;" : "=l"(mark) : : "memory");
	return mark;
}

/* Alternatives, in a section of the same function. The highest bit of what ws_tx_either returns: the second one is to be run. Every way from it
 * must come to a ws_tx_either_end. */
static __device__ __forceinline__ unsigned long long ws_tx_either(void)
{
	unsigned long long mark;

	__asm__ volatile("mov.b64 %0, 0x77735f74785f6569;" : "=l"(mark) : : "memory");
	return mark;
}

static __device__ __forceinline__ unsigned long long ws_tx_either_end(void)
{
	unsigned long long mark;

	__asm__ volatile("mov.b64 %0, 0x77735f74785f6f72;" : "=l"(mark) : : "memory");
	return mark;
}

/* True: it was undone. */
struct ws_tx_section {
	bool undone;

	__device__ __forceinline__ ws_tx_section() : undone(ws_tx_begin() >> 63) {}
	__device__ __forceinline__ ~ws_tx_section() { ws_tx_end(); }
	__device__ __forceinline__ explicit operator bool() const { return undone; }
};

/* True: the first one. */
struct ws_tx_alternatives {
	bool first;

	__device__ __forceinline__ ws_tx_alternatives() : first(!(ws_tx_either() >> 63)) {}
	__device__ __forceinline__ ~ws_tx_alternatives() { ws_tx_either_end(); }
	__device__ __forceinline__ explicit operator bool() const { return first; }
};

/* No section when the program is run as it is: told once by the host's side of each such program. */
#if !defined(WS_ATOMIC_QUIET) && !defined(__CUDA_ARCH__) && !defined(WS_ATOMIC_BUILT)
#include <stdio.h>
#include <stdlib.h>
inline bool ws_atomic_told(void)
{
	static bool told = !getenv("WARPSAFE_TM") &&
	                   fprintf(stderr, "warpsafe: this program has marked sections (WS_ATOMIC), which are atomic under "
	                                   "'warpsafe tm' alone\n") > 0;

	return told;
}
static const bool ws_atomic_tell = ws_atomic_told();
#endif

#define WS_ATOMIC if (ws_tx_section ws_tx_this_section{}) {} else
#define WS_EITHER WS_ATOMIC if (ws_tx_alternatives ws_tx_these_alternatives{})
#define WS_OR_ELSE else

#endif

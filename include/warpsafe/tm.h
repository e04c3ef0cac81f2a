/* tm.h - transactions for CUDA kernels, host side (C11 and C++, CUDA runtime). Device side: tm.cuh; manual:
 * docs/TRANSACTIONS.md.
 *
 *     struct ws_tm tm;
 *     ws_tm_create(&tm, NULL);
 *     kernel<<<blocks, threads>>>(tm, ...);
 *     ws_tm_destroy(&tm);
 *
 * Calls return the CUDA runtime's errors and work on the current device. A handle owns its device memory until
 * ws_tm_destroy; copies of the struct, such as kernels get, own nothing. */
#ifndef WARPSAFE_TM_H
#define WARPSAFE_TM_H

#include <string.h>
#include <time.h>
#include <cuda_runtime_api.h>
#include "tm/handle.h"
#include "tm/auto.h"

/* As a heap: a chunk of the log (1 KB) for every two threads that the device runs at once, 4 MB at least. */
#define WS_TM_HEAP_OF_DEVICE ((size_t)-1)

struct ws_tm_config {
	enum ws_tm_engine engine;
	unsigned granularity;          /* bytes that conflict together: 4, 8, 16, 32 or 64 */
	unsigned entries;              /* of the shadow table, 8 bytes each; rounded up to a power of two, at most 2^30 */
	unsigned patience;             /* aborts after which a transaction runs alone; 0: at once */
	size_t heap;                   /* bytes for logs that outgrow a thread's own; 0: none; at most 2^40; WS_TM_HEAP_OF_DEVICE */
	unsigned alone;                /* 1: transactions can run alone: ws_tx_irrevocable, WS_TX_READ_ONLY. Each attempt then
	                                  costs two atomics more */
	size_t pool;                   /* bytes for ws_tx_alloc; 0: none; at most 2^34. Takes a quarter more than that */
};

static inline struct ws_tm_config ws_tm_defaults(void)
{
	struct ws_tm_config c;

	c.engine = WS_TM_PSTM;
	c.granularity = 4;
	c.entries = 1u << 20;
	c.patience = 128;
	c.heap = WS_TM_HEAP_OF_DEVICE;
	c.alone = 0;
	c.pool = 0;
	return c;
}

static inline unsigned ws_tm__log2(unsigned long long n)    /* rounded up */
{
	unsigned bits = 0;

	while (bits < 63 && (1ull << bits) < n)
		bits++;
	return bits;
}

/* Lays out table, words, stripes, heap, links and pool in one piece of memory; every part begins at a multiple of 128. */
static inline size_t ws_tm__lay_out(struct ws_tm *tm, char *base)
{
	size_t sizes[6], at[7];
	int i;

	sizes[0] = ((size_t)tm->mask + 1) * 8;
	sizes[1] = sizeof(struct ws_tm_words);
	sizes[2] = WS_TM_STRIPES * sizeof(struct ws_tm_stripe);
	sizes[3] = (size_t)tm->chunks * WS_TM_CHUNK * sizeof(struct ws_tm_entry);
	sizes[4] = (size_t)tm->chunks * sizeof(unsigned);
	sizes[5] = tm->units ? (size_t)WS_TM_POOL_BYTES(tm->units) : 0;
	for (at[0] = 0, i = 0; i < 6; i++)
		at[i + 1] = at[i] + ((sizes[i] + 127) & ~(size_t)127);
	if (base) {
		tm->memory = base;
		tm->table = base;
		tm->words = (struct ws_tm_words *)(void *)(base + at[1]);
		tm->stripes = (struct ws_tm_stripe *)(void *)(base + at[2]);
		tm->heap = (struct ws_tm_entry *)(void *)(base + at[3]);
		tm->links = (unsigned *)(void *)(base + at[4]);
		tm->pool = (struct ws_tm_pool *)(void *)(base + at[5]);
	}
	return at[6];
}

static inline size_t ws_tm__heap_of_device(void)
{
	const size_t least = (size_t)4 << 20;
	int device = 0, cores = 0, threads = 0;
	size_t heap;

	if (cudaGetDevice(&device) != cudaSuccess ||
	    cudaDeviceGetAttribute(&cores, cudaDevAttrMultiProcessorCount, device) != cudaSuccess ||
	    cudaDeviceGetAttribute(&threads, cudaDevAttrMaxThreadsPerMultiProcessor, device) != cudaSuccess)
		return least;
	heap = (size_t)cores * (size_t)threads / 2 * WS_TM_CHUNK * sizeof(struct ws_tm_entry);
	return heap > least ? heap : least;
}

/* Sets *tm up; config may be NULL (ws_tm_defaults). cudaErrorInvalidValue for a setting that is out of range. After an
 * error *tm owns nothing. */
static inline cudaError_t ws_tm_create(struct ws_tm *tm, const struct ws_tm_config *config)
{
	struct ws_tm_config c = config ? *config : ws_tm_defaults();
	const size_t chunk = WS_TM_CHUNK * sizeof(struct ws_tm_entry);
	void *memory = NULL;
	size_t size;
	cudaError_t e;

	memset(tm, 0, sizeof *tm);
	if (c.heap == WS_TM_HEAP_OF_DEVICE)
		c.heap = ws_tm__heap_of_device();
	if ((unsigned)c.engine >= WS_TM_ENGINES || c.granularity < 4 || c.granularity > 64 ||
	    (c.granularity & (c.granularity - 1)) || !c.entries || c.entries > 1u << 30 || c.heap > (size_t)1 << 40 ||
	    c.pool > (size_t)1 << 34)
		return cudaErrorInvalidValue;
	tm->engine = (unsigned short)c.engine;
	tm->counted = c.alone != 0;
	tm->granule = ws_tm__log2(c.granularity);
	tm->bits = ws_tm__log2(c.entries);
	tm->mask = (1u << tm->bits) - 1;
	tm->chunks = (unsigned)((c.heap + chunk - 1) / chunk);
	tm->patience = c.patience;
	tm->units = (unsigned)((c.pool + WS_TM_UNIT - 1) / WS_TM_UNIT);
	size = ws_tm__lay_out(tm, NULL);
	e = cudaMalloc(&memory, size);
	if (e == cudaSuccess) {
		ws_tm__lay_out(tm, (char *)memory);
		e = cudaMemset(memory, 0, size);
	}
	if (e != cudaSuccess) {
		cudaFree(memory);
		memset(tm, 0, sizeof *tm);
	}
	return e;
}

/* Another engine from the next launch on. No kernel that uses the handle may be running. */
static inline cudaError_t ws_tm_set_engine(struct ws_tm *tm, enum ws_tm_engine engine)
{
	if ((unsigned)engine >= WS_TM_ENGINES)
		return cudaErrorInvalidValue;
	tm->engine = (unsigned short)engine;
	return cudaMemset(tm->table, 0, ((size_t)tm->mask + 1) * 8);   /* each has a layout of its own */
}

/* Sums since ws_tm_create or ws_tm_reset_stats. Waits for the device. */
static inline cudaError_t ws_tm_read_stats(const struct ws_tm *tm, struct ws_tm_stats *stats)
{
	struct ws_tm_stripe all[WS_TM_STRIPES];
	unsigned i, k;
	cudaError_t e = cudaDeviceSynchronize();

	memset(stats, 0, sizeof *stats);
	if (e == cudaSuccess)
		e = cudaMemcpy(all, tm->stripes, sizeof all, cudaMemcpyDeviceToHost);
	for (i = 0; e == cudaSuccess && i < WS_TM_STRIPES; i++) {
		stats->commits += all[i].sum.commits;
		stats->serial += all[i].sum.serial;
		stats->unallocated += all[i].sum.unallocated;
		stats->read_only += all[i].sum.read_only;
		stats->read_only_aborts += all[i].sum.read_only_aborts;
		stats->parts += all[i].sum.parts;
		for (k = 0; k < WS_TM_REASONS; k++)
			stats->aborts[k] += all[i].sum.aborts[k];
	}
	return e;
}

static inline cudaError_t ws_tm_reset_stats(const struct ws_tm *tm)
{
	return cudaMemset(tm->stripes, 0, WS_TM_STRIPES * sizeof(struct ws_tm_stripe));
}

/* ---- engine auto: one launch after the other between these two, of kernels that commit transactions (tm/auto.h) ---- */

static inline double ws_tm__seconds(void)
{
	struct timespec now;

	timespec_get(&now, TIME_UTC);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Right before a launch: sets tm's engine. While it tries engines, waits for the device, and resets the statistics. */
static inline cudaError_t ws_tm_auto_before(struct ws_tm_auto *a, struct ws_tm *tm)
{
	enum ws_tm_engine engine = ws_tm_auto_engine(a);
	cudaError_t e = tm->engine == (unsigned)engine ? cudaSuccess : ws_tm_set_engine(tm, engine);

	if (e != cudaSuccess || ws_tm_auto_settled(a))
		return e;
	e = ws_tm_reset_stats(tm);
	if (e == cudaSuccess)
		e = cudaDeviceSynchronize();
	a->from = ws_tm__seconds();
	return e;
}

/* After it, before anything else is launched: while it tries engines, waits for the end. Needs statistics (WS_TM_STATS). */
static inline cudaError_t ws_tm_auto_after(struct ws_tm_auto *a, const struct ws_tm *tm)
{
	struct ws_tm_stats stats;
	double seconds;
	cudaError_t e;

	if (ws_tm_auto_settled(a))
		return cudaSuccess;
	e = cudaDeviceSynchronize();
	seconds = ws_tm__seconds() - a->from;
	if (e == cudaSuccess)
		e = ws_tm_read_stats(tm, &stats);
	if (e == cudaSuccess)
		ws_tm_auto_record(a, stats.commits, seconds);
	return e;
}

/* Gives the memory back. *tm may be one that ws_tm_create failed on. */
static inline cudaError_t ws_tm_destroy(struct ws_tm *tm)
{
	cudaError_t e = cudaFree(tm->memory);

	memset(tm, 0, sizeof *tm);
	return e;
}

/* As used in tables of statistics. */
static inline const char *ws_tm_reason_name(unsigned reason)
{
	static const char *const names[] = { "read conflict", "write conflict", "invalid read", "heap used up", "retry",
	                                     "cancelled", "too large", "to run alone", "to wait" };

	return reason < WS_TM_REASONS ? names[reason] : "?";
}

#endif

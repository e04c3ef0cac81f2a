/* race_touched.c - with --stats: how much of the tables for global memory is in use, and for how much that kernels have touched.
 *
 * A line of 64 bytes that warps covered whole has 16 bytes. One that has cells has 16 and those of its 16 words, whether all
 * of them were touched or not. Read from the GPU when the program has waited for it, a part at a time. */
#include <stdlib.h>

#include "real/race.h"
#include "real/real_priv.h"

enum { ENTRY_BYTES = 16, WORD_BYTES = 4, SEGMENT_AT = 37, CELLS_MOST = 1 << 20, PART = 1 << 20 };
#define EXPANDED ((1ull << 27) - 1)      /* the segment of a line with cells (device/race_memory.cuh) */

struct entry { uint64_t w, r; };
struct use { uint64_t lines, cells, words; };    /* covered whole; with cells, and words touched in those */

static bool read_back(void *to, uint64_t from, size_t n, void *stream)
{
	return !ws_real.cuMemcpyDtoHAsync_v2(to, from, n, stream) && !ws_real.cuStreamSynchronize(stream);
}

static void count_lines(const struct entry *e, size_t n, struct use *u)
{
	for (size_t k = 0; k < n; k++)
		u->lines += (e[k].w || e[k].r) && e[k].w >> SEGMENT_AT != EXPANDED;
}

static void count_cells(const struct entry *e, size_t n, struct use *u)
{
	enum { WORDS = WS_RACE_CELLS_BYTES / ENTRY_BYTES };

	for (size_t k = 0; k < n; k += WORDS) {
		uint64_t words = 0;

		for (size_t i = k; i < k + WORDS; i++)
			words += e[i].w || e[i].r;
		u->words += words;
		u->cells += words != 0;
	}
}

/* The lines of all pages in use. buffer: PART bytes. */
static bool read_pages(const struct ws_race_device *d, void *stream, void *buffer, struct use *u)
{
	size_t n = (size_t)1 << d->pages_log2;
	uint64_t *pages = ws_alloc(n * sizeof *pages);
	bool fine = read_back(pages, d->pages, n * sizeof *pages, stream);

	for (size_t k = 0; k < n && fine; k++) {
		if (!pages[k])
			continue;
		fine = read_back(buffer, d->lines + k * WS_RACE_PAGE_BYTES, WS_RACE_PAGE_BYTES, stream);
		count_lines(buffer, WS_RACE_PAGE_BYTES / ENTRY_BYTES, u);
	}
	free(pages);
	return fine;
}

static bool read_cells(const struct ws_race_device *d, uint32_t ncells, void *stream, void *buffer, struct use *u)
{
	uint64_t bytes = (uint64_t)ncells * WS_RACE_CELLS_BYTES;

	for (uint64_t at = 0; at < bytes; at += PART) {
		size_t n = bytes - at < PART ? (size_t)(bytes - at) : PART;

		if (!read_back(buffer, d->cells + at, n, stream))
			return false;
		count_cells(buffer, n / ENTRY_BYTES, u);
	}
	return true;
}

void ws_real_race_touched(const struct ws_race_device *d, const struct ws_race_counts *c, void *stream)
{
	uint32_t ncells = c->cells < d->ncells ? c->cells : d->ncells;
	struct use u = { 0 };
	void *buffer;

	if (ncells > CELLS_MOST)
		return;
	buffer = ws_alloc(PART);
	if (read_pages(d, stream, buffer, &u) && read_cells(d, ncells, stream, buffer, &u)) {
		ws_real_most(WS_FIG_TOUCHED, u.lines * WS_RACE_LINE_BYTES + u.words * WORD_BYTES);
		ws_real_most(WS_FIG_SHADOW, (u.lines + u.cells) * ENTRY_BYTES + u.cells * WS_RACE_CELLS_BYTES);
	}
	free(buffer);
}

/* left_finds.h - random kernels: the checks that proofs leave must find a race where all checks do. */
#ifndef LEFT_FINDS_H
#define LEFT_FINDS_H

#include "noise.h"
#include "race_rig.h"
#include "wide_addresses.h"

struct sizes { uint32_t grid, block[2], n, w; };         /* of a launch: blocks, and their threads in x and y; and two parameters */

/* As race_finds. The kernel's parameters are a pointer to `data`, another pointer, n and w. */
static inline bool left_or_all_find(const char *pass, const char *text, const struct sizes *s, uint32_t data, bool *entered)
{
	struct race_rig r = race_new_by(pass, (struct ws_gpu_config){ .divergence = WS_DIV_ITS, .host_threads = 1 }, text);
	struct ws_mem *m = rig_mem(&r.rig, 64);
	struct { uint64_t a, b; uint32_t n, w; } params = { .a = m->addr, .n = s->n, .w = s->w };
	struct ws_gpu_launch l = { .grid = { s->grid, 1, 1 }, .block = { s->block[0], s->block[1], 1 }, .params = &params };

	*(uint32_t *)(void *)m->host = data;
	return race_finds(&r, &l, text, entered);
}

/* As many kernels as make() prints, each launched twice with what any_sizes() gives; every other one with addresses of 64 bits, where that goes. */
static inline void left_finds_what_all_find(unsigned kernels, void (*make)(struct ws_buf *b), struct sizes (*any_sizes)(void), uint32_t data)
{
	unsigned races = 0, silent = 0, wide = 0, all = 2 * kernels;

	for (unsigned k = 0; k < kernels; k++) {
		struct ws_buf text = { 0 };

		noise = k + 1;
		make(&text);
		wide += wide_at_times(k, &text);
		for (unsigned n = 0; n < 2; n++) {
			struct sizes s = any_sizes();
			bool entered, found = left_or_all_find("race-all", text.data, &s, data, &entered), left = left_or_all_find("race", text.data, &s, data, &entered);

			if (found != left)
				fail_msg("kernel %u, grid %u, block %u x %u, n %u, w %u: race %d, race-all %d:\n%s", k, s.grid, s.block[0], s.block[1], s.n, s.w, left, found,
				         text.data);
			races += found;
			silent += !entered;
		}
		ws_buf_free(&text);
	}
	print_message("%u launches: %u with races, %u without hooks; %u kernels with addresses of 64 bits\n", all, races, silent, wide);
	assert_true(races > all / 4 && silent > all / 24);
}

#endif

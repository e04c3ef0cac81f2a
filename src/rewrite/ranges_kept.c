/* ranges_kept.c - sums that leaves and duties refer to: one copy of each. What takes long comes to the same sums again and again, which were gigabytes. */
#include "rewrite/ranges_priv.h"

#include <stdlib.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

static uint64_t hash_of_sum(const struct sum *s)
{
	XXH64_hash_t h = s->n;

	for (uint32_t k = 0; k < s->n; k++) {
		h = XXH64(&s->t[k].factor, sizeof s->t[k].factor, h);
		h = XXH64(s->t[k].leaf, s->t[k].n * sizeof s->t[k].leaf[0], h);
	}
	return h;
}

/* kept[], of kept_room places, a power of 2, is looked through from the place that the hash says; it is never more than half full. */
static void note_kept(struct values *v, const struct sum *s)
{
	const struct sum **were = v->kept;
	size_t room = v->kept_room, k;

	if (2 * (v->nkept + 1) > room) {
		v->kept_room = room ? 2 * room : 64;
		v->kept = ws_alloc(v->kept_room * sizeof(const struct sum *));
		v->nkept = 0;
		for (k = 0; k < room; k++)
			if (were[k])
				note_kept(v, were[k]);
		free(were);
	}
	for (k = hash_of_sum(s) & (v->kept_room - 1); v->kept[k]; k = (k + 1) & (v->kept_room - 1))
		;
	v->kept[k] = s;
	v->nkept++;
}

const struct sum *ws_value_keep(struct values *v, const struct sum *s)
{
	size_t room = v->kept_room, k = room ? hash_of_sum(s) & (room - 1) : 0;
	struct sum *copy;

	for (; room && v->kept[k]; k = (k + 1) & (room - 1))
		if (ws_sum_equal(v->kept[k], s))
			return v->kept[k];
	copy = ws_arena_alloc(v->arena, sizeof *copy);
	*copy = *s;
	note_kept(v, copy);
	return copy;
}

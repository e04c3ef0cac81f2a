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

/* Where the sum is in kept[], of kept_room places, a power of 2, or may be put: it is looked for from the place on that the hash says. */
static size_t place_of(const struct values *v, const struct sum *s)
{
	size_t k = hash_of_sum(s) & (v->kept_room - 1);

	while (v->kept[k] && !ws_sum_equal(v->kept[k], s))
		k = (k + 1) & (v->kept_room - 1);
	return k;
}

/* It is never more than half full. */
static void have_room(struct values *v)
{
	const struct sum **were = v->kept;
	size_t room = v->kept_room;

	if (2 * (v->nkept + 1) <= room)
		return;
	v->kept_room = room ? 2 * room : 64;
	v->kept = ws_alloc(v->kept_room * sizeof(const struct sum *));
	for (size_t k = 0; k < room; k++)
		if (were[k])
			v->kept[place_of(v, were[k])] = were[k];
	free(were);
}

const struct sum *ws_value_keep(struct values *v, const struct sum *s)
{
	struct sum *copy;
	size_t k;

	have_room(v);
	k = place_of(v, s);
	if (!v->kept[k]) {
		copy = ws_arena_alloc(v->arena, sizeof *copy);
		*copy = *s;
		v->kept[k] = copy;
		v->nkept++;
	}
	return v->kept[k];
}

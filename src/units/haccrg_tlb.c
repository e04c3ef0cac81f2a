/* haccrg_tlb.c - a translation buffer with the least recently used page going first, for the two ways of giving shadow
 * memory virtual addresses (Holey 2015, 6.3.2): one more bit in the tags of the buffer that there is, or another buffer. */
#include "units/haccrg_priv.h"

void ws_hac_tlb_init(struct ws_hac_tlb *t, uint32_t n)
{
	t->n = n;
	t->entry = ws_alloc(n * sizeof *t->entry);
	for (uint32_t i = 0; i < n; i++)
		t->entry[i].page = UINT64_MAX;
}

uint64_t ws_hac_tlb_look(struct ws_hac_tlb *t, uint64_t page, uint64_t now, uint32_t walk)
{
	struct ws_hac_page *old = t->entry;

	t->clock++;
	for (uint32_t i = 0; i < t->n; i++) {
		struct ws_hac_page *e = &t->entry[i];

		if (e->page == page) {
			t->hits += e->ready < now;       /* else it is the same access, which waited */
			e->used = t->clock;
			return e->ready > now ? e->ready : now;
		}
		if (e->used < old->used)
			old = e;
	}
	t->misses++;
	*old = (struct ws_hac_page){page, now + walk, t->clock};
	return old->ready;
}

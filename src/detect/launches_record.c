/* launches_record.c - what a kernel touches, as its warps run; see launches_priv.h. */
#include "detect/launches_priv.h"

#include <string.h>

/* PTX ISA 9.0, Memory Consistency Model, Morally strong operations: threads of two kernels have no smaller scope than .gpu
 * in common. A weak access, or one of a smaller scope, counts as weak. */
static bool is_strong(const struct ws_access *a)
{
	return a->sem >= WS_SEM_RELAXED && a->scope >= WS_SCOPE_GPU;
}

/* An access outside its allocation ends the kernel with an error of its own. */
static bool holds(const struct ws_mem *m, uint64_t addr, uint64_t bytes)
{
	return addr - m->addr < m->size && bytes <= m->size - (addr - m->addr);
}

static unsigned sets_of(const struct ws_access *a, bool write)
{
	if (!is_strong(a))
		return 1u << (write ? WS_FP_WRITE : WS_FP_READ);
	return 1u << (write ? WS_FP_STRONG_WRITE : WS_FP_STRONG_READ) | (a->scope == WS_SCOPE_GPU ? 1u << WS_FP_GPU : 0);
}

static bool differ(const uint8_t *a, const uint8_t *b, uint32_t bytes)
{
	return bytes == 4 ? memcmp(a, b, 4) != 0 : bytes == 8 ? memcmp(a, b, 8) != 0 : memcmp(a, b, bytes) != 0;
}

/* Does the lane's weak write change memory? Where that is not known, it counts as a change. */
static bool changes(const struct ws_access *a, const struct ws_mem *m, uint32_t lane)
{
	const uint8_t *value = a->value;

	if (a->kind != WS_WRITE || !value)
		return true;
	return differ(value + (size_t)lane * a->bytes, m->host + (a->addr[lane] - m->addr), a->bytes);
}

static void record_lane(struct ws_launches *l, struct ws_la_prints *p, const struct ws_access *a, uint32_t lane,
                        struct ws_fp_who *who)
{
	const struct ws_mem *m = a->mem ? a->mem : ws_gpu_mem_find(l->gpu, a->addr[lane]);
	struct ws_footprint *f = ws_la_print_for(l, p, m);
	bool write = a->kind != WS_READ && a->wrote >> lane & 1;
	unsigned sets = sets_of(a, write);

	if (!f || !holds(m, a->addr[lane], a->bytes))
		return;
	if (sets & 1u << WS_FP_WRITE && changes(a, m, lane))
		sets |= 1u << WS_FP_CHANGED;
	who->base = a->addr[lane] - (uint64_t)lane * a->bytes;
	ws_footprint_add(f, a->addr[lane], a->bytes, sets, who);
}

/* All lanes side by side, and alike. */
static bool record_row(struct ws_launches *l, struct ws_la_prints *p, const struct ws_access *a, struct ws_fp_who *who)
{
	bool write = a->kind == WS_WRITE;
	uint64_t bytes = (uint64_t)WS_WARP * a->bytes;
	unsigned sets = sets_of(a, write);
	struct ws_footprint *f;

	if (!a->linear || a->mask != ~0u || !a->mem || a->kind == WS_ATOMIC || !holds(a->mem, a->base, bytes))
		return false;
	if (sets & 1u << WS_FP_WRITE) {
		const uint8_t *old = a->mem->host + (a->base - a->mem->addr);

		for (uint32_t i = 0; a->value && i < WS_WARP; i++)
			if (!differ((const uint8_t *)a->value + i * a->bytes, old + i * a->bytes, a->bytes))
				return false;        /* only some lanes change something */
		sets |= 1u << WS_FP_CHANGED;
	}
	f = ws_la_print_for(l, p, a->mem);
	who->base = a->base;
	if (f)
		ws_footprint_add(f, a->base, bytes, sets, who);
	return true;
}

void ws_la_record(struct ws_launches *l, const struct ws_obs_warp *w, const struct ws_access *a)
{
	const struct ws_obs_block *b = w->block;
	bool early = l->order.overlaps && !b->grid_waited;
	struct ws_la_prints *p = &l->shards[b->host_thread].part[early ? WS_LA_EARLY : WS_LA_LATE];
	struct ws_fp_who who = {.op = l->now, .site = a->site, .block = b->linear, .warp = (uint16_t)w->index, .bytes = a->bytes};

	if (a->sem >= WS_SEM_ACQUIRE && a->sem <= WS_SEM_SC && a->scope >= WS_SCOPE_GPU)
		__atomic_store_n(&l->now->syncs, true, __ATOMIC_RELAXED);
	if (a->mem && !l->device && a->mem->kind != WS_MEM_MANAGED && a->mem->kind != WS_MEM_HOST)
		return;
	if (record_row(l, p, a, &who))
		return;
	for (uint32_t m = a->mask; m; m &= m - 1)
		record_lane(l, p, a, (uint32_t)__builtin_ctz(m), &who);
}

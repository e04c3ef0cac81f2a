/* haccrg.c - the unit haccrg: race detection as hardware after Holey, "Transactional execution and dynamic data race detection on
 * GPUs", 2015, 6.2 to 6.5. Race detection units (RDUs) in the cores check shared memory when it is accessed, with entries beside
 * the banks; RDUs in the memory partitions read an entry for each word of global memory that is accessed, through the
 * second-level cache and from DRAM, check it, and write it back if it has changed. Packets carry sync, fence and atomic IDs;
 * reads that hit in a first-level cache are told by packets of their own. docs/UNITS.md says what departs from the text.
 *
 * What is found is this hardware's verdict, with its blind spots and false reports; `warpsafe race` is the detector. */
#include "units/haccrg_priv.h"

#include <stdlib.h>
#include <string.h>

#define EACH_LANE(l, mask) \
	for (uint32_t m_ = (mask), l; m_ && (l = (uint32_t)__builtin_ctz(m_), true); m_ &= m_ - 1)

enum { SECTION_BEGIN, SECTION_END };     /* instructions */
enum { SLOTS = 64 };                     /* blocks of a core */
enum { SOFTWARE_ENTRY = 4 };             /* bytes of a shared entry that is kept in global memory */
#define SHADOW (1ull << 40)              /* where shadow memory begins in a partition */

static uint32_t mask_of(uint32_t bits)
{
	return (1u << bits) - 1;
}

/* ---- the unit ---- */
static void *create(const uint32_t *values)
{
	struct ws_hac *u = ws_alloc(sizeof *u);
	const uint32_t *o = u->option;

	memcpy(u->option, values, sizeof u->option);
	u->form = (struct ws_hac_form){{o[HAC_ATOMIC], o[HAC_BINS]}, o[HAC_FENCE] > 0, o[HAC_STALE] > 0};
	u->bits = 2 + o[HAC_TID] + o[HAC_BID] + o[HAC_SID] + o[HAC_SYNC] + o[HAC_FENCE] + o[HAC_ATOMIC] + o[HAC_ATOMICS];
	u->shadow.epoch = 1;
	u->arena = ws_arena_new();
	return u;
}

static void free_tlbs(struct ws_hac_tlb *t, uint32_t n)
{
	for (uint32_t i = 0; t && i < n; i++)
		free(t[i].entry);
	free(t);
}

static void destroy(void *self)
{
	struct ws_hac *u = self;

	for (uint32_t i = 0; u->file && i < u->m.partitions; i++)
		free(u->file[i]);
	free_tlbs(u->tlb, u->m.cores);
	free_tlbs(u->shadow_tlb, u->m.cores);
	free(u->file);
	free(u->fence);
	free(u->slots);
	free(u->page_used);
	ws_hac_shadow_free(&u->shadow);
	ws_hac_list_free(&u->list);
	ws_arena_free(u->arena);
	free(u);
}

static struct ws_hac_tlb *make_tlbs(const struct ws_hac *u, uint32_t pages)
{
	struct ws_hac_tlb *t = ws_alloc(u->m.cores * sizeof *t);

	for (uint32_t i = 0; i < u->m.cores; i++)
		ws_hac_tlb_init(&t[i], pages);
	return t;
}

static void attach(void *self, const struct ws_unit_machine *m)
{
	struct ws_hac *u = self;
	const uint32_t *o = u->option;

	u->m = *m;
	u->slots = ws_alloc(m->cores * sizeof *u->slots);
	u->fences = (size_t)1 << (o[HAC_SID] + o[HAC_BID] + o[HAC_TID] - 5);
	u->fence = ws_alloc(u->fences * sizeof *u->fence);
	u->file = ws_alloc(m->partitions * sizeof *u->file);
	for (uint32_t i = 0; i < m->partitions; i++)
		u->file[i] = ws_alloc(u->fences * sizeof **u->file);
	if (o[HAC_TLB])
		u->tlb = make_tlbs(u, o[HAC_PAGES]);
	if (o[HAC_TLB] == 3)
		u->shadow_tlb = make_tlbs(u, o[HAC_SHADOW_PAGES]);
}

static bool possible(const uint32_t *values, struct ws_buf *why)
{
	static const enum ws_hac_option power[] = { HAC_SHARED, HAC_GLOBAL, HAC_ATOMIC, HAC_BINS };

	for (size_t i = 0; i < WS_COUNT(power); i++)
		if (values[power[i]] & (values[power[i]] - 1)) {
			ws_buf_printf(why, "'%s' of unit 'haccrg' must be a power of two, or 0", ws_unit_haccrg.options[power[i]].name);
			return false;
		}
	if (values[HAC_ATOMIC] && values[HAC_ATOMIC] < 2 * values[HAC_BINS]) {
		ws_buf_puts(why, "'atomic' of unit 'haccrg' must have 2 bits a bin, or be 0");
		return false;
	}
	return true;
}

static void launch_begin(void *self)
{
	struct ws_hac *u = self;

	ws_arena_free(u->arena);
	u->arena = ws_arena_new();
	u->free_blocks = NULL;
	u->free_instructions = NULL;
	u->free_records = NULL;
	u->shadow.epoch++;               /* cudaMemset at the end of a kernel: all entries are fresh */
	memset(u->slots, 0, u->m.cores * sizeof *u->slots);
}

/* ---- IDs ---- */
/* Where the fence ID of a warp is, as far as its numbers fit into an entry. */
static size_t fence_place(const struct ws_hac *u, uint32_t sid, uint32_t bid, uint32_t tid)
{
	const uint32_t *o = u->option;
	size_t core = sid & mask_of(o[HAC_SID]), slot = bid & mask_of(o[HAC_BID]);

	return (core << o[HAC_BID] | slot) << (o[HAC_TID] - 5) | (tid & mask_of(o[HAC_TID])) / WS_WARP;
}

static uint16_t next_id(struct ws_hac *u, uint16_t id, uint32_t bits, uint64_t *most)
{
	id = (uint16_t)((id + 1) & mask_of(bits));
	u->wraps += !id;
	*most = id > *most ? id : *most;
	return id;
}

/* ---- blocks, from the observer ---- */
static void obs_launch(void *self, struct ws_obs_launch *l)
{
	struct ws_hac *u = self;

	u->launch = l;
}

static size_t shared_entries(const struct ws_hac *u)
{
	uint32_t g = u->option[HAC_SHARED];

	return g ? (u->launch->shared_bytes + g - 1) / g : 0;
}

static void obs_block_begin(void *self, struct ws_obs_block *ob)
{
	struct ws_hac *u = self;
	struct ws_hac_block *b = u->free_blocks;
	size_t n = shared_entries(u), threads = (size_t)ob->launch->warps * WS_WARP;

	if (b) {
		u->free_blocks = b->next;
	} else {
		b = ws_arena_alloc(u->arena, sizeof *b);
		b->shared = ws_arena_alloc(u->arena, n * sizeof *b->shared);
		b->thread = ws_arena_alloc(u->arena, threads * sizeof *b->thread);
	}
	*b = (struct ws_hac_block){.warps = ob->launch->warps, .shared = b->shared, .thread = b->thread};
	memset(b->shared, 0, n * sizeof *b->shared);
	memset(b->thread, 0, threads * sizeof *b->thread);
	ob->state = b;
}

static void resident(void *self, uint32_t core, struct ws_obs_block *ob)
{
	struct ws_hac *u = self;
	struct ws_hac_block *b = ob->state;

	b->core = core;
	b->slot = ~u->slots[core] ? (uint32_t)__builtin_ctzll(~u->slots[core]) : 0;
	u->slots[core] |= 1ull << b->slot;
}

static void obs_block_end(void *self, struct ws_obs_block *ob)
{
	struct ws_hac *u = self;
	struct ws_hac_block *b = ob->state;

	u->slots[b->core] &= ~(1ull << b->slot);
	b->next = u->free_blocks;
	u->free_blocks = b;
}

/* Entries of the block's shared memory from this one on are in global memory. */
static size_t first_in_software(const struct ws_hac *u)
{
	return shared_entries(u) * u->option[HAC_HARDWARE] / 100;
}

static uint64_t line_of(const struct ws_hac *u, const struct ws_hac_block *b, size_t entry)
{
	uint64_t at = (b->slot * shared_entries(u) + entry) * SOFTWARE_ENTRY;

	return at - at % u->m.line;
}

/* All shared entries of the block are reset, as many a cycle as a row of the banks has. */
static void reset_shared(struct ws_hac *u, struct ws_hac_block *b)
{
	size_t n = shared_entries(u), first = first_in_software(u);
	uint32_t row = u->m.banks * 4;
	uint64_t cycles = (n * u->option[HAC_SHARED] + row - 1) / row, from;

	if (!n)
		return;
	memset(b->shared, 0, n * sizeof *b->shared);
	if (first < n) {
		from = line_of(u, b, first);
		ws_unit_fill_lines(u->m.machine, b->core, from, (uint32_t)((line_of(u, b, n - 1) - from) / u->m.line + 1));
	}
	u->reset_cycles += cycles;
	b->clear_until = ws_unit_now(u->m.machine) + cycles;
}

static void obs_barrier(void *self, struct ws_obs_block *ob, const struct ws_barrier *bar)
{
	struct ws_hac *u = self;
	struct ws_hac_block *b = ob->state;

	if (!bar->full)
		return;                  /* of a part of the block: unknown to this hardware */
	u->barriers++;
	reset_shared(u, b);
	if (!b->touched || !u->option[HAC_GLOBAL])
		return;
	b->touched = false;
	u->syncs++;
	b->sync = next_id(u, b->sync, u->option[HAC_SYNC], &u->most_sync);
}

static uint32_t delay(const void *self, const struct ws_obs_block *ob)
{
	const struct ws_hac *u = self;
	const struct ws_hac_block *b = ob->state;
	uint64_t now = ws_unit_now(u->m.machine);

	return b->clear_until > now ? (uint32_t)(b->clear_until - now) : 0;
}

/* The warp has executed a fence of the GPU: its fence ID goes to all race register files. */
static void obs_fence(void *self, struct ws_obs_warp *w, uint32_t mask, const struct ws_fence *f)
{
	struct ws_hac *u = self;
	struct ws_hac_block *b = w->block->state;
	size_t at;

	if (!mask || f->proxy || f->scope == WS_SCOPE_CTA || !u->option[HAC_GLOBAL] || !u->option[HAC_FENCE])
		return;
	at = fence_place(u, b->core, b->slot, w->index * WS_WARP);
	u->fence[at] = next_id(u, u->fence[at], u->option[HAC_FENCE], &u->most_fence);
	u->fences_told++;
	ws_unit_tell(u->m.machine, b->core, (uint64_t)at << 16 | u->fence[at]);
}

static void told(void *self, uint32_t partition, uint64_t what)
{
	struct ws_hac *u = self;

	u->file[partition][what >> 16] = (uint16_t)what;
}

static void obs_access(void *self, struct ws_obs_warp *w, const struct ws_access *a)
{
	struct ws_hac *u = self;

	if (u->option[HAC_MARKS] || !u->option[HAC_ATOMIC] || a->space != WS_SPACE_GLOBAL)
		return;
	if (a->kind == WS_ATOMIC)
		ws_hac_guess(u, w, a);
	else if (a->kind == WS_WRITE && a->async == WS_ASYNC_NONE)
		ws_hac_guess_release(w, a->mask, a->addr);
}

static bool is_data(const struct ws_mem *m)
{
	return m->kind != WS_MEM_CONST && m->kind != WS_MEM_HOST && !m->inserted;
}

static void obs_mem_new(void *self, struct ws_mem *m)
{
	struct ws_hac *u = self;

	u->data_bytes += is_data(m) ? m->size : 0;
	u->most_bytes = u->data_bytes > u->most_bytes ? u->data_bytes : u->most_bytes;
}

static void obs_mem_free(void *self, struct ws_mem *m)
{
	struct ws_hac *u = self;

	u->data_bytes -= is_data(m) ? m->size : 0;
}

static const struct ws_observer_ops observer = {
	.abi = WS_OBSERVER_ABI, .name = "haccrg", .help = "what haccrg is told", .needs = WS_NEED_GLOBAL | WS_NEED_SYNC | WS_NEED_VALUES,
	.launch_begin = obs_launch, .block_begin = obs_block_begin, .block_end = obs_block_end, .access = obs_access,
	.barrier = obs_barrier, .fence = obs_fence, .mem_new = obs_mem_new, .mem_free = obs_mem_free,
};

/* ---- accesses in the core ---- */
static struct ws_hac_access made_by(const struct ws_hac *u, const struct ws_hac_block *b, const struct ws_stepped *s,
                                    uint32_t first_thread)
{
	const uint32_t *o = u->option;
	struct ws_hac_access a = {.write = s->kind != WS_STEP_LOAD, .shared = s->space == WS_SPACE_SHARED};

	a.by.tid = (uint16_t)(first_thread & mask_of(o[HAC_TID]));
	a.by.bid = (uint8_t)(b->slot & mask_of(o[HAC_BID]));
	a.by.sid = (uint8_t)(b->core & mask_of(o[HAC_SID]));
	a.by.sync = b->sync;
	a.by.fence = u->fence[fence_place(u, b->core, b->slot, first_thread)];
	a.by.atomic = s->kind == WS_STEP_ATOMIC;
	return a;
}

static struct ws_hac_found report_of(const struct ws_hac *u, const struct ws_obs_warp *w, const struct ws_stepped *s)
{
	return (struct ws_hac_found){
		.site = s->site, .shared = s->space == WS_SPACE_SHARED, .write = s->kind != WS_STEP_LOAD,
		.kernel = (char *)(uintptr_t)u->launch->name, .block = w->block->linear,
	};
}

static void report(struct ws_hac *u, struct ws_hac_found f, enum ws_hac_race race, uint32_t thread, uint64_t addr,
                   const struct ws_hac_entry *other)
{
	f.race = race;
	f.thread = thread;
	f.addr = addr;
	f.other = *other;
	ws_hac_add(&u->list, &f);
}

/* Lanes of one store that write to the same bytes (6.2.1): seen before the request is issued. */
static void same_instruction(struct ws_hac *u, const struct ws_obs_warp *w, const struct ws_stepped *s)
{
	static const struct ws_hac_entry nobody;
	uint64_t end = 0;
	bool rising = true;

	EACH_LANE(l, s->mask) {
		rising = rising && s->addr[l] >= end;
		end = s->addr[l] + s->bytes;
	}
	for (uint32_t m = rising ? 0 : s->mask; m; m &= m - 1) {
		uint32_t l = (uint32_t)__builtin_ctz(m);

		EACH_LANE(k, m & (m - 1))
			if (s->addr[k] < s->addr[l] + s->bytes && s->addr[l] < s->addr[k] + s->bytes) {
				report(u, report_of(u, w, s), HAC_SAME_WARP, w->index * WS_WARP + k, s->addr[k], &nobody);
				return;
			}
	}
}

static void want_line(struct ws_unit_access *a, uint64_t line)
{
	for (uint32_t i = 0; i < a->nlines; i++)
		if (a->line[i] == line)
			return;
	if (a->nlines < WS_WARP)
		a->line[a->nlines++] = line;
}

/* Entries of a lane's bytes of shared memory. */
static void check_shared_lane(struct ws_hac *u, struct ws_unit_access *ua, struct ws_hac_block *b, struct ws_hac_access *a,
                              uint32_t thread, uint64_t addr)
{
	const struct ws_stepped *s = ua->s;
	const struct ws_obs_warp *w = ws_step_obs(ua->warp);
	uint64_t g = u->option[HAC_SHARED], last = (addr + s->bytes - 1) / g;
	size_t software = first_in_software(u), n = shared_entries(u);
	struct ws_hac_entry before;
	enum ws_hac_race race;
	bool changed;

	a->by.tid = (uint16_t)(thread & mask_of(u->option[HAC_TID]));
	for (uint64_t e = addr / g; e <= last && e < n; e++) {
		before = b->shared[e];
		u->shared_checks++;
		race = ws_hac_step(&u->form, &b->shared[e], a, 0, &changed);
		if (race)
			report(u, report_of(u, w, s), race, thread, addr, &before);
		if (e >= software)
			want_line(ua, line_of(u, b, e));
	}
}

static void check_shared(struct ws_hac *u, struct ws_unit_access *ua, const struct ws_obs_warp *w, struct ws_hac_block *b)
{
	const struct ws_stepped *s = ua->s;
	struct ws_hac_access a;

	if (!u->option[HAC_SHARED] || (s->kind == WS_STEP_ATOMIC && !u->option[HAC_ATOMICS]))
		return;
	if (s->kind == WS_STEP_STORE)
		same_instruction(u, w, s);
	a = made_by(u, b, s, w->index * WS_WARP);
	EACH_LANE(l, s->mask)
		check_shared_lane(u, ua, b, &a, w->index * WS_WARP + l, s->addr[l]);
}

static struct ws_hac_instruction *on_its_way(struct ws_hac *u, const struct ws_unit_access *ua, const struct ws_obs_warp *w,
                                             const struct ws_hac_block *b)
{
	struct ws_hac_instruction *in = u->free_instructions;
	const struct ws_stepped *s = ua->s;

	if (in)
		u->free_instructions = in->next;
	else
		in = ws_arena_alloc(u->arena, sizeof *in);
	in->left = ua->transactions;
	in->first_thread = w->index * WS_WARP;
	in->access = made_by(u, b, s, in->first_thread);
	in->found = report_of(u, w, s);
	in->bytes = s->bytes;
	memcpy(in->addr, s->addr, sizeof in->addr);
	for (uint32_t l = 0; l < WS_WARP; l++)
		in->locks[l] = b->holding ? b->thread[in->first_thread + l].signature : 0;
	return in;
}

static void count_page(struct ws_hac *u, uint64_t addr)
{
	size_t page = (size_t)(addr >> HAC_PAGE);

	while (u->npages <= page / 64)
		*WS_PUSH(u->page_used, u->npages, u->cap_pages) = 0;
	u->pages += !(u->page_used[page / 64] >> page % 64 & 1);
	u->page_used[page / 64] |= 1ull << page % 64;
}

static void *access(void *self, struct ws_unit_access *ua)
{
	struct ws_hac *u = self;
	const struct ws_stepped *s = ua->s;
	const struct ws_obs_warp *w = ws_step_obs(ua->warp);
	struct ws_hac_block *b = w->block->state;

	if (s->space == WS_SPACE_SHARED) {
		check_shared(u, ua, w, b);
		return NULL;
	}
	if (s->kind == WS_STEP_ATOMIC && !u->option[HAC_MARKS])
		ws_hac_guess_release(w, s->mask, s->generic);
	b->touched = true;
	if (!u->option[HAC_GLOBAL] || !ua->transactions || (s->kind == WS_STEP_ATOMIC && !u->option[HAC_ATOMICS]))
		return NULL;
	if (s->kind == WS_STEP_STORE)
		same_instruction(u, w, s);
	EACH_LANE(l, s->mask)
		count_page(u, s->addr[l]);
	return on_its_way(u, ua, w, b);
}

/* IDs of the access; an atomic ID for each set of locks that its threads hold (6.2.2). */
static uint32_t bytes_of_ids(const struct ws_hac *u, const struct ws_hac_instruction *in, uint32_t lanes)
{
	uint32_t bits = u->bits - u->option[HAC_ATOMIC] - 2, seen[WS_WARP], n = 0;

	EACH_LANE(l, lanes) {
		uint32_t i = 0;

		while (i < n && seen[i] != in->locks[l])
			i++;
		if (i == n && in->locks[l])
			seen[n++] = in->locks[l];
	}
	return (bits + n * u->option[HAC_ATOMIC] + 7) / 8;
}

static void *depart(void *self, struct ws_unit_transaction *t)
{
	struct ws_hac *u = self;
	struct ws_hac_record *r = u->free_records;

	if (r)
		u->free_records = r->next;
	else
		r = ws_arena_alloc(u->arena, sizeof *r);
	r->in = t->access;
	r->addr = t->addr;
	r->size = t->size;
	r->lanes = t->lanes;
	r->hit = t->how == WS_HITS;
	u->hits_told += t->how != WS_LEAVES;
	t->bytes = bytes_of_ids(u, r->in, t->lanes);
	t->wait = u->option[HAC_WAIT] && t->how == WS_LEAVES;
	return r;
}

/* ---- in the partition ---- */
/* A lane's bytes within the transaction, as numbers of entries. */
static bool entries_of(const struct ws_hac *u, const struct ws_hac_record *r, uint32_t lane, uint64_t *from, uint64_t *to)
{
	uint64_t a = r->in->addr[lane], b = a + r->in->bytes;

	a = a > r->addr ? a : r->addr;
	b = b < r->addr + r->size ? b : r->addr + r->size;
	*from = a / u->option[HAC_GLOBAL];
	*to = (b - 1) / u->option[HAC_GLOBAL];
	return a < b;
}

static void want_bytes(const struct ws_hac *u, uint64_t from, uint64_t to, struct ws_unit_piece *piece, unsigned *n)
{
	for (uint64_t sector = from / 32; sector <= to / 32; sector++) {
		uint64_t at = sector * 32 - sector * 32 % u->m.piece;
		unsigned i = 0;

		while (i < *n && piece[i].addr != at)
			i++;
		if (i == WS_UNIT_PIECES)
			return;
		if (i == *n)
			piece[(*n)++] = (struct ws_unit_piece){at, 0};
		piece[i].sectors |= 1u << (sector * 32 - at) / 32;
	}
}

/* Entries lie one behind the other, as many bits each as it takes. */
static unsigned look(void *self, void *record, uint64_t local, struct ws_unit_piece *piece)
{
	struct ws_hac *u = self;
	const struct ws_hac_record *r = record;
	uint64_t first = r->addr / u->option[HAC_GLOBAL], base = local / u->option[HAC_GLOBAL], from, to;
	unsigned n = 0;

	EACH_LANE(l, r->lanes)
		if (entries_of(u, r, l, &from, &to))
			want_bytes(u, SHADOW + (base + from - first) * u->bits / 8,
			           SHADOW + ((base + to - first + 1) * u->bits - 1) / 8, piece, &n);
	return n;
}

static bool check_lane(struct ws_hac *u, const struct ws_hac_record *r, uint32_t lane, const uint16_t *file)
{
	const struct ws_hac_instruction *in = r->in;
	struct ws_hac_access a = in->access;
	uint32_t thread = in->first_thread + lane;
	uint64_t e, to;
	bool any = false, changed;

	if (!entries_of(u, r, lane, &e, &to))
		return false;
	a.hit = r->hit;
	a.by.tid = (uint16_t)(thread & mask_of(u->option[HAC_TID]));
	a.by.locks = in->locks[lane];
	for (; e <= to; e++) {
		struct ws_hac_entry *entry = ws_hac_entry_at(&u->shadow, e), before = *entry;
		uint16_t fence = file[fence_place(u, before.sid, before.bid, before.tid)];
		enum ws_hac_race race = ws_hac_step(&u->form, entry, &a, fence, &changed);

		u->global_checks++;
		any |= changed && memcmp(entry, &before, sizeof before) != 0;
		if (race)
			report(u, in->found, race, thread, in->addr[lane], &before);
	}
	return any;
}

static bool check(void *self, void *record, uint32_t partition)
{
	struct ws_hac *u = self;
	struct ws_hac_record *r = record;
	struct ws_hac_instruction *in = r->in;
	bool changed = false;

	EACH_LANE(l, r->lanes)
		changed |= check_lane(u, r, l, u->file[partition]);
	u->updates += changed;
	r->next = u->free_records;
	u->free_records = r;
	if (!--in->left) {
		in->next = u->free_instructions;
		u->free_instructions = in;
	}
	return changed;
}

/* ---- virtual memory ---- */
enum { SHADOW_PAGE = 52 };               /* bit of a tag: a page of shadow memory */

static uint64_t translate(void *self, uint32_t core, uint64_t addr)
{
	struct ws_hac *u = self;
	uint64_t now = ws_unit_now(u->m.machine), data, shadow, tag;
	struct ws_hac_tlb *other = u->shadow_tlb ? &u->shadow_tlb[core] : u->tlb ? &u->tlb[core] : NULL;

	if (!other)
		return now;
	data = ws_hac_tlb_look(&u->tlb[core], addr >> HAC_PAGE, now, u->option[HAC_WALK]);
	if (u->option[HAC_TLB] == 1 || !u->option[HAC_GLOBAL])
		return data;             /* the program's pages only */
	tag = addr / u->option[HAC_GLOBAL] * u->bits / 8 >> HAC_PAGE | 1ull << SHADOW_PAGE;
	shadow = ws_hac_tlb_look(other, tag, now, u->option[HAC_WALK]);
	return data > shadow ? data : shadow;
}

/* ---- marks ---- */
static enum ws_unit_issue issue(void *self, struct ws_unit_op *o)
{
	struct ws_hac *u = self;
	const struct ws_obs_warp *w = ws_step_obs(o->warp);
	struct ws_hac_block *b = w->block->state;

	EACH_LANE(l, u->option[HAC_ATOMIC] ? o->lanes : 0) {
		if (o->instruction == SECTION_BEGIN)
			ws_hac_locked(u, b, w->index * WS_WARP + l, o->addr[l]);
		else
			ws_hac_unlocked(b, w->index * WS_WARP + l, o->addr[l]);
	}
	return WS_UNIT_DONE;
}

/* No requests are sent. */
static bool arrive(void *self, struct ws_unit_op *o, uint32_t lanes)
{
	(void)self;
	(void)o;
	return !lanes;
}

static bool finish(void *self, struct ws_unit_op *o)
{
	(void)self;
	return ws_step_pass(o->x, o->warp, o->lanes);
}

/* ---- what was counted ---- */
static uint64_t tlb_sum(const struct ws_hac *u, const struct ws_hac_tlb *t, bool misses)
{
	uint64_t n = 0;

	for (uint32_t i = 0; t && i < u->m.cores; i++)
		n += misses ? t[i].misses : t[i].hits;
	return n;
}

static bool counter(const void *self, unsigned i, struct ws_unit_counter *c)
{
	const struct ws_hac *u = self;
	const uint64_t *kind = u->list.by_kind;
	uint32_t g = u->option[HAC_GLOBAL];
	const struct ws_unit_counter all[] = {
		{"races", "places of races found", u->list.n},
		{"war", "writes after reads", kind[HAC_WAR]},
		{"raw", "reads after writes", kind[HAC_RAW]},
		{"waw", "writes after writes", kind[HAC_WAW]},
		{"stale_reads", "stale reads", kind[HAC_STALE_READ]},
		{"no_common_lock", "no common lock", kind[HAC_NO_COMMON_LOCK]},
		{"not_locked", "one locked, one not", kind[HAC_NOT_LOCKED]},
		{"no_fence_in_section", "no fence in a critical section", kind[HAC_NO_FENCE_IN_SECTION]},
		{"same_instruction", "lanes writing to one place", kind[HAC_SAME_WARP]},
		{"shared_checks", "checks of shared memory", u->shared_checks},
		{"global_checks", "checks of global memory", u->global_checks},
		{"hits_told", "reads without a packet that are told", u->hits_told},
		{"entries_updated", "transactions that changed entries", u->updates},
		{"barriers", "barriers", u->barriers},
		{"reset_cycles", "cycles to reset shared entries", u->reset_cycles},
		{"sync_ids", "increments of sync IDs", u->syncs},
		{"highest_sync_id", "highest sync ID", u->most_sync},
		{"fence_ids", "increments of fence IDs", u->fences_told},
		{"highest_fence_id", "highest fence ID", u->most_fence},
		{"wraps", "IDs that began again at 0", u->wraps},
		{"sections", "locks acquired", u->sections},
		{"entry_bits", "bits of a global entry", u->bits},
		{"shadow_bytes", "bytes of shadow memory", g ? u->most_bytes / g * u->bits / 8 : 0},
		{"pages", "pages of global memory accessed", u->pages},
		{"tlb_hits", "translations: hits", tlb_sum(u, u->tlb, false) + tlb_sum(u, u->shadow_tlb, false)},
		{"tlb_misses", "translations: misses", tlb_sum(u, u->tlb, true) + tlb_sum(u, u->shadow_tlb, true)},
	};

	if (i >= WS_COUNT(all))
		return false;
	*c = all[i];
	return true;
}

static bool found(const void *self, unsigned i, struct ws_buf *text, struct ws_buf *json)
{
	const struct ws_hac *u = self;

	return ws_hac_show(&u->list, i, text, json);
}

static const struct ws_unit_option options[HAC_OPTIONS + 1] = {
	[HAC_SHARED] = {"shared", "bytes of shared memory with one entry; 0: it is not checked", 0, 64, 16},
	[HAC_GLOBAL] = {"global", "bytes of global memory with one entry; 0: it is not checked", 0, 64, 4},
	[HAC_HARDWARE] = {"hardware", "percent of the entries of shared memory that are hardware, not global memory", 0, 100, 100},
	[HAC_SYNC] = {"sync", "bits of a sync ID", 1, 16, 8},
	[HAC_FENCE] = {"fence", "bits of a fence ID; 0: none", 0, 16, 8},
	[HAC_ATOMIC] = {"atomic", "bits of an atomic ID, 8, 16 or 32; 0: none", 0, 32, 16},
	[HAC_BINS] = {"bins", "bins of an atomic ID", 1, 4, 2},
	[HAC_TID] = {"tid", "bits of a thread's number in an entry", 5, 11, 10},
	[HAC_BID] = {"bid", "bits of a block slot's number", 0, 6, 3},
	[HAC_SID] = {"sid", "bits of a core's number", 0, 8, 5},
	[HAC_STALE] = {"stale", "0: reads that hit in a first-level cache are as others", 0, 1, 1},
	[HAC_MARKS] = {"marks", "1: critical sections are those of __ws_section_begin, not guessed from atomics", 0, 1, 0},
	[HAC_ATOMICS] = {"atomics", "1: atomics are checked against other accesses", 0, 1, 0},
	[HAC_WAIT] = {"wait", "1: a partition answers when it has checked", 0, 1, 0},
	[HAC_TLB] = {"tlb", "1: translation for the program's pages, 2: shadow pages in the same buffer, 3: in their own", 0, 3, 0},
	[HAC_PAGES] = {"pages", "pages of 4 KB in a core's translation buffer", 4, 4096, 64},
	[HAC_SHADOW_PAGES] = {"shadow-pages", "pages in the buffer for shadow memory", 4, 4096, 16},
	[HAC_WALK] = {"walk", "cycles to find a page that is not there", 1, 100000, 400},
};
static const char *const instructions[] = { "__ws_section_begin", "__ws_section_end", NULL };

const struct ws_unit_ops ws_unit_haccrg = {
	.abi = WS_UNIT_ABI, .name = "haccrg", .help = "race detection units in the cores and in the memory partitions",
	.instructions = instructions, .options = options, .create = create, .destroy = destroy, .issue = issue, .arrive = arrive,
	.finish = finish, .counter = counter, .launch_begin = launch_begin, .attach = attach, .observer = &observer,
	.resident = resident, .access = access, .depart = depart, .look = look, .check = check, .told = told,
	.translate = translate, .delay = delay, .possible = possible, .found = found,
};

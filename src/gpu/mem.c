/* mem.c - the simulated GPU's address space; layout and promises are told in mem.h. */
#include "gpu/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define PAGE (UINT64_C(1) << WS_MEM_PAGE_SHIFT)
#define GIB (UINT64_C(1) << 30)
#define COMMIT_STEP (UINT64_C(32) << 20)     /* accessible memory grows by this much: few calls of mprotect */
#define MAX_RED_ZONE (UINT64_C(1) << 20)
#define MAX_RUN 1024u                        /* 64 KiB pages looked for at once when addresses are used again */
#define NEAR (UINT64_C(1) << 20)             /* how far an allocation may be away and still be named */
#define OWN_PAGES 2048u                      /* with two views: bytes from which on allocations have pages of their own */

struct ws_mem_box {
	struct ws_mem mem;           /* first: a struct ws_mem * of ours is a struct ws_mem_box * */
	struct ws_mem_box *next;     /* in the queue of freed ones */
};

static uint64_t align_up(uint64_t v, uint64_t to)
{
	return (v + to - 1) & ~(to - 1);
}

/* ---- reserving and giving back ---- */

static void *reserve(uint64_t bytes, int prot)
{
	void *p = mmap(NULL, bytes, prot, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return p == MAP_FAILED ? NULL : p;
}

static void unreserve(void *p, uint64_t bytes)
{
	if (p)
		munmap(p, bytes);
}

static void unmap_all(struct ws_memmap *map)
{
	uint64_t pages = map->span >> WS_MEM_PAGE_SHIFT;
	unreserve(map->reserved, map->span + PAGE);
	unreserve(map->alias, map->alias_size);
	unreserve(map->table, pages * sizeof *map->table);
	unreserve(map->page_users, pages * sizeof *map->page_users);
	map->reserved = map->alias = NULL;
	map->table = NULL;
	map->page_users = NULL;
}

/* One piece of shared memory of `bytes`, mapped over both addresses. false: not possible, and nothing has changed. */
static bool map_twice(uint8_t *a, uint8_t *b, uint64_t bytes)
{
	struct rlimit most;
	if (getrlimit(RLIMIT_FSIZE, &most) == 0 && most.rlim_cur != RLIM_INFINITY && most.rlim_cur < bytes)
		return false;        /* ftruncate would raise a signal */
	int fd = memfd_create("warpsafe host memory", MFD_CLOEXEC);
	if (fd < 0)
		return false;
	int flags = MAP_SHARED | MAP_NORESERVE | MAP_FIXED;
	bool ok = ftruncate(fd, (off_t)bytes) == 0 && mmap(a, bytes, PROT_NONE, flags, fd, 0) != MAP_FAILED;
	if (ok && mmap(b, bytes, PROT_NONE, flags, fd, 0) == MAP_FAILED) {
		mmap(a, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
		ok = false;
	}
	close(fd);                   /* the mappings keep it */
	return ok;
}

static bool map_all(struct ws_memmap *map, uint64_t device, uint64_t heap, uint64_t host)
{
	map->span = device + heap + host;
	map->alias_size = device + heap + (map->two_views ? host : 0);
	uint64_t pages = map->span >> WS_MEM_PAGE_SHIFT;
	map->reserved = reserve(map->span + PAGE, PROT_NONE);
	map->alias = reserve(map->alias_size, PROT_NONE);
	map->table = reserve(pages * sizeof *map->table, PROT_READ | PROT_WRITE);
	map->page_users = reserve(pages * sizeof *map->page_users, PROT_READ | PROT_WRITE);
	if (!map->reserved || !map->alias || !map->table || !map->page_users) {
		unmap_all(map);
		return false;
	}
	map->base = align_up((uintptr_t)map->reserved, PAGE);
	if (map->two_views)
		map->two_views = map_twice((uint8_t *)(uintptr_t)(map->base + device + heap),
		                           map->alias + device + heap, host);
	return true;
}

/* Where addresses do not suffice for two views of host memory, one must do. */
static bool map_some(struct ws_memmap *map, uint64_t device, uint64_t heap, uint64_t host)
{
	if (map_all(map, device, heap, host))
		return true;
	if (!map->two_views)
		return false;
	map->two_views = false;
	return map_all(map, device, heap, host);
}

static void set_area(struct ws_mem_area *a, uint64_t base, uint64_t size, int64_t to_host)
{
	*a = (struct ws_mem_area){.base = base, .size = size, .cursor = base, .run_end = base + size, .to_host = to_host};
}

bool ws_memmap_init(struct ws_memmap *map, uint64_t limit, uint64_t heap_limit, bool two_views,
                    const struct ws_observer_ops *ops, void *self)
{
	memset(map, 0, sizeof *map);
	map->two_views = two_views;
	/* Eight times the memory: a freed address stays unused for long. A heap block of 16 bytes takes 512 bytes
	 * of addresses, hence the factor for the heap. */
	uint64_t device = align_up(limit < 8 * GIB ? 64 * GIB : 8 * limit, PAGE);
	uint64_t heap = align_up(heap_limit < GIB / 16 ? 4 * GIB : 64 * heap_limit, PAGE);
	if (limit > UINT64_C(1) << 43 || heap_limit > UINT64_C(1) << 40) {
		errno = ENOMEM;
		return false;
	}
	unsigned shift = 0;          /* where addresses are scarce (ulimit -v), fewer must do */
	while (!map_some(map, align_up(device >> shift, PAGE), align_up(heap >> shift, PAGE),
	                 align_up(device >> shift, PAGE)))
		if (++shift > 10)
			return false;
	uint64_t d = align_up(device >> shift, PAGE), h = align_up(heap >> shift, PAGE);
	int64_t to_alias = (int64_t)((uintptr_t)map->alias - map->base);
	set_area(&map->area[WS_AREA_DEVICE], map->base, d, to_alias);
	set_area(&map->area[WS_AREA_HEAP], map->base + d, h, to_alias);
	set_area(&map->area[WS_AREA_HOST], map->base + d + h, d, map->two_views ? to_alias : 0);
	map->limit = limit;
	map->heap_limit = heap_limit;
	map->ops = ops;
	map->self = self;
	pthread_mutex_init(&map->lock, NULL);
	pthread_rwlock_init(&map->registered_lock, NULL);
	return true;
}

static void told_new(const struct ws_memmap *map, struct ws_mem *m)
{
	if (map->ops && map->ops->mem_new)
		map->ops->mem_new(map->self, m);
}

static void told_free(const struct ws_memmap *map, struct ws_mem *m)
{
	if (map->ops && map->ops->mem_free)
		map->ops->mem_free(map->self, m);
}

static void free_subtables(struct ws_memmap *map)
{
	for (size_t i = 0; i < map->nsubtables; i++)
		free(map->subtables[i]);
	free(map->subtables);
	free(map->spare);
}

void ws_memmap_fini(struct ws_memmap *map)
{
	ws_memmap_settle(map);
	for (size_t i = 0; i < map->nmems; i++) {
		struct ws_mem *m = &map->mems[i]->mem;
		if (!m->freed)
			told_free(map, m);
		free((char *)m->name);
		free((char *)m->origin);
		m->name = m->origin = NULL;
	}
	free_subtables(map);
	for (size_t i = 0; i < map->nmems; i++)
		free(map->mems[i]);
	free(map->mems);
	free(map->pending);
	free(map->registered);
	unmap_all(map);
	pthread_mutex_destroy(&map->lock);
	pthread_rwlock_destroy(&map->registered_lock);
}

/* ---- the page table ---- */

static uint64_t first_page(const struct ws_memmap *map, const struct ws_mem *m)
{
	return (m->addr - map->base) >> WS_MEM_PAGE_SHIFT;
}

/* An empty allocation takes a byte, so that its address leads to it when it is freed. */
static uint64_t last_page(const struct ws_memmap *map, const struct ws_mem *m)
{
	return (m->addr + (m->size ? m->size - 1 : 0) - map->base) >> WS_MEM_PAGE_SHIFT;
}

/* Sets the units of page that m covers to value (m, or 0). */
static void set_units(const struct ws_memmap *map, uintptr_t *sub, uint64_t page, const struct ws_mem *m, uintptr_t value)
{
	uint64_t start = map->base + (page << WS_MEM_PAGE_SHIFT), end = start + PAGE;
	uint64_t from = m->addr > start ? m->addr : start;
	uint64_t to = m->addr + (m->size ? m->size : 1);
	if (to > end)
		to = end;
	for (uint64_t u = (from - start) / WS_MEM_UNIT; u <= (to - 1 - start) / WS_MEM_UNIT; u++)
		__atomic_store_n(&sub[u], value, __ATOMIC_RELEASE);
}

static uintptr_t *new_subtable(struct ws_memmap *map)
{
	if (map->nspare)
		return map->spare[--map->nspare];
	uintptr_t *sub = ws_alloc(WS_MEM_SUB * sizeof *sub);
	*WS_PUSH(map->subtables, map->nsubtables, map->cap_subtables) = sub;
	return sub;
}

static void publish_page(struct ws_memmap *map, uint64_t page, struct ws_mem *m)
{
	uintptr_t e = map->table[page];
	if (!e) {
		__atomic_store_n(&map->table[page], (uintptr_t)m, __ATOMIC_RELEASE);
		return;
	}
	uintptr_t *sub = e & 1 ? (uintptr_t *)(e - 1) : new_subtable(map);
	if (!(e & 1))
		set_units(map, sub, page, (struct ws_mem *)e, e);
	set_units(map, sub, page, m, (uintptr_t)m);
	__atomic_store_n(&map->table[page], (uintptr_t)sub + 1, __ATOMIC_RELEASE);
}

static void publish(struct ws_memmap *map, struct ws_mem *m)
{
	for (uint64_t p = first_page(map, m); p <= last_page(map, m); p++)
		publish_page(map, p, m);
}

static void unpublish_page(struct ws_memmap *map, uint64_t page, const struct ws_mem *m)
{
	uintptr_t e = map->table[page];
	if (!(e & 1)) {
		__atomic_store_n(&map->table[page], 0, __ATOMIC_RELEASE);
		return;
	}
	uintptr_t *sub = (uintptr_t *)(e - 1);
	set_units(map, sub, page, m, 0);
	if (map->page_users[page])
		return;
	__atomic_store_n(&map->table[page], 0, __ATOMIC_RELEASE);
	*WS_PUSH(map->spare, map->nspare, map->cap_spare) = sub;
}

/* ---- addresses ---- */

static struct ws_mem_area *area_of(struct ws_memmap *map, enum ws_mem_kind kind)
{
	if (kind == WS_MEM_HEAP)
		return &map->area[WS_AREA_HEAP];
	return &map->area[kind == WS_MEM_MANAGED || kind == WS_MEM_HOST ? WS_AREA_HOST : WS_AREA_DEVICE];
}

static bool is_host_area(const struct ws_memmap *map, const struct ws_mem_area *a)
{
	return a == &map->area[WS_AREA_HOST];
}

static bool open_view(uint64_t at, uint64_t bytes)
{
	return mprotect((void *)(uintptr_t)at, bytes, PROT_READ | PROT_WRITE) == 0;
}

/* Makes [addr, addr + size) accessible to this process. */
static bool commit(const struct ws_memmap *map, struct ws_mem_area *a, uint64_t addr, uint64_t size)
{
	uint64_t need = addr + size - a->base;
	if (need <= a->committed)
		return true;
	need = align_up(need, COMMIT_STEP);
	if (need > a->size)
		need = a->size;
	uint64_t from = a->base + a->committed, bytes = need - a->committed;
	if (!open_view(from + (uint64_t)a->to_host, bytes))
		return false;
	if (is_host_area(map, a) && a->to_host && !open_view(from, bytes))
		return false;
	__atomic_store_n(&a->committed, need, __ATOMIC_RELEASE);
	return true;
}

/* The next run of pages without users from `from` on, of at least `need` pages and at most MAX_RUN (or need). */
static bool find_run(const struct ws_memmap *map, uint64_t from, uint64_t end, uint64_t need, uint64_t *start, uint64_t *n)
{
	uint64_t most = need > MAX_RUN ? need : MAX_RUN;
	for (uint64_t p = from; p + need <= end;) {
		uint64_t q = p;
		while (q < end && q - p < most && !map->page_users[q])
			q++;
		if (q - p >= need) {
			*start = p;
			*n = q - p;
			return true;
		}
		p = q + 1;
	}
	return false;
}

/* Moves the cursor to other empty pages, of at least `bytes`: after the ones in use now, or from the start again. */
static bool next_run(const struct ws_memmap *map, struct ws_mem_area *a, uint64_t bytes)
{
	uint64_t need = (bytes + PAGE - 1) >> WS_MEM_PAGE_SHIFT;
	uint64_t first = (a->base - map->base) >> WS_MEM_PAGE_SHIFT;
	uint64_t here = (a->run_end - map->base) >> WS_MEM_PAGE_SHIFT;
	uint64_t end = first + (a->size >> WS_MEM_PAGE_SHIFT);
	uint64_t start, n;
	if (!find_run(map, here, end, need, &start, &n) && !find_run(map, first, end, need, &start, &n))
		return false;
	a->cursor = map->base + (start << WS_MEM_PAGE_SHIFT);
	a->run_end = a->cursor + (n << WS_MEM_PAGE_SHIFT);
	return true;
}

static uint64_t red_zone(uint64_t size)
{
	uint64_t r = size / 2;
	if (r < WS_MEM_UNIT)
		r = WS_MEM_UNIT;
	return align_up(r > MAX_RED_ZONE ? MAX_RED_ZONE : r, WS_MEM_UNIT);
}

/* An address for size bytes and their red zone; 0: none left. */
static uint64_t place(struct ws_memmap *map, struct ws_mem_area *a, uint64_t size, uint64_t align)
{
	bool own_pages = map->two_views && is_host_area(map, a) && size >= OWN_PAGES;
	uint64_t take = align_up(size ? size : 1, WS_MEM_UNIT) + red_zone(size);
	if (own_pages) {
		take = align_up(take, WS_MEM_HOST_PAGE);
		align = align < WS_MEM_HOST_PAGE ? WS_MEM_HOST_PAGE : align;
	}
	if (take + align > a->size)
		return 0;
	uint64_t addr = align_up(a->cursor, align);
	if (addr + take > a->run_end) {
		if (!next_run(map, a, take + align))
			return 0;
		addr = align_up(a->cursor, align);
	}
	if (!commit(map, a, addr, size))
		return 0;
	a->cursor = addr + take;
	return addr;
}

static void use_pages(struct ws_memmap *map, const struct ws_mem *m)
{
	for (uint64_t p = first_page(map, m); p <= last_page(map, m); p++)
		map->page_users[p]++;
}

/* Gives the pages [first, end) of m's area back to the system: they read as zero when they are used again. */
static void drop_pages(struct ws_memmap *map, const struct ws_mem *m, uint64_t first, uint64_t end)
{
	struct ws_mem_area *a = area_of(map, m->kind);
	uint64_t from = map->base + (first << WS_MEM_PAGE_SHIFT), to = map->base + (end << WS_MEM_PAGE_SHIFT);
	if (to > a->base + a->committed)
		to = a->base + a->committed;
	bool shared = map->two_views && is_host_area(map, a);        /* both views lose them */
	if (from < to)
		madvise((void *)(uintptr_t)(from + (uint64_t)a->to_host), to - from,
		        shared ? MADV_REMOVE : MADV_DONTNEED);
}

/* Pages that are here are zeroed where they are; those that are not are not here, or are swapped out: what is left of them is dropped. */
static void zero_pages(uint8_t *at, uint64_t bytes)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), n = bytes / page, k, end;
	unsigned char here[1024];

	for (; n; at += k * page, n -= k) {
		k = n < sizeof here ? n : sizeof here;
		if (mincore(at, k * page, here)) {
			memset(at, 0, k * page);
			continue;
		}
		for (uint64_t p = 0; p < k; p = end) {
			for (end = p + 1; end < k && !((here[p] ^ here[end]) & 1); end++)
				;
			if (here[p] & 1 || madvise(at + p * page, (end - p) * page, MADV_DONTNEED))
				memset(at + p * page, 0, (end - p) * page);
		}
	}
}

void ws_gpu_mem_zero(const struct ws_mem *m, uint8_t *host, uint64_t bytes)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), before = -(uintptr_t)host & (page - 1), pages;

	if (m->kind != WS_MEM_DEVICE || bytes < 16 * page) {
		memset(host, 0, bytes);
		return;
	}
	pages = (bytes - before) / page * page;
	memset(host, 0, before);
	zero_pages(host + before, pages);
	memset(host + before + pages, 0, bytes - before - pages);
}

static void leave_pages(struct ws_memmap *map, const struct ws_mem *m)
{
	uint64_t first = first_page(map, m), last = last_page(map, m), run = first;
	for (uint64_t p = first; p <= last; p++) {
		map->page_users[p]--;
		unpublish_page(map, p, m);
		if (map->page_users[p]) {
			drop_pages(map, m, run, p);
			run = p + 1;
		}
	}
	drop_pages(map, m, run, last + 1);
}

/* ---- structs ---- */

static struct ws_mem_box *fresh_struct(struct ws_memmap *map)
{
	struct ws_mem_box *b = ws_alloc(sizeof *b);
	*WS_PUSH(map->mems, map->nmems, map->cap_mems) = b;
	return b;
}

static struct ws_mem_box *oldest_struct(struct ws_memmap *map)
{
	struct ws_mem_box *b = map->oldest;
	map->oldest = b->next;
	map->nfreed--;
	b->next = NULL;
	b->mem.size = 0;             /* first, for readers that still hold it */
	free((char *)b->mem.name);
	free((char *)b->mem.origin);
	b->mem.name = b->mem.origin = NULL;
	b->mem.obs = NULL;
	return b;
}

static struct ws_mem *new_struct(struct ws_memmap *map, enum ws_mem_kind kind, const char *name, const char *origin)
{
	struct ws_mem_box *b = map->nfreed > WS_MEM_QUARANTINE ? oldest_struct(map) : fresh_struct(map);
	b->mem.kind = kind;
	b->mem.name = name ? ws_strdup(name) : NULL;
	b->mem.inserted = name && ws_is_inserted(name);
	b->mem.origin = origin ? ws_strdup(origin) : NULL;
	b->mem.serial = ++map->serial;
	b->mem.written = kind == WS_MEM_SYMBOL || kind == WS_MEM_HEAP ? UINT64_MAX : 0;
	return &b->mem;
}

static void quarantine(struct ws_memmap *map, struct ws_mem *m)
{
	struct ws_mem_box *b = (struct ws_mem_box *)m;
	if (map->nfreed++)
		map->newest->next = b;
	else
		map->oldest = b;
	map->newest = b;
}

static void set_freed(struct ws_mem *m, bool freed)
{
	__atomic_store_n(&m->freed, freed, __ATOMIC_RELEASE);
}

/* ---- allocating ---- */

static bool counts(enum ws_mem_kind kind)
{
	return kind != WS_MEM_HOST && kind != WS_MEM_HEAP;
}

/* Takes addresses and a struct; not to be found by address yet. Locked. */
static struct ws_mem *take(struct ws_memmap *map, uint64_t size, uint64_t align, enum ws_mem_kind kind, const char *name,
                           const char *origin)
{
	struct ws_mem_area *a = area_of(map, kind);
	if (size > a->size || (counts(kind) && size > map->limit - map->used))
		return NULL;
	uint64_t addr = place(map, a, size, align < WS_MEM_UNIT ? WS_MEM_UNIT : align);
	if (!addr)
		return NULL;
	struct ws_mem *m = new_struct(map, kind, name, origin);
	m->addr = addr;
	m->host = (uint8_t *)(uintptr_t)(addr + (uint64_t)a->to_host);
	m->size = size;
	set_freed(m, false);
	use_pages(map, m);
	if (counts(kind))
		map->used += size;
	return m;
}

static void make_visible(struct ws_memmap *map, struct ws_mem *m)
{
	told_new(map, m);
	pthread_mutex_lock(&map->lock);
	publish(map, m);
	pthread_mutex_unlock(&map->lock);
}

struct ws_mem *ws_memmap_new(struct ws_memmap *map, uint64_t size, uint64_t align, enum ws_mem_kind kind,
                             const char *name, const char *origin)
{
	if (kind == WS_MEM_HEAP || (align & (align - 1)) || align > GIB)
		return NULL;
	pthread_mutex_lock(&map->lock);
	struct ws_mem *m = take(map, size, align, kind, name, origin);
	pthread_mutex_unlock(&map->lock);
	if (m)
		make_visible(map, m);
	return m;
}

/* The live struct that starts at addr, also an empty one. */
static struct ws_mem *starts_at(const struct ws_memmap *map, uint64_t addr)
{
	uint64_t off = addr - map->base;
	if (off >= map->span)
		return NULL;
	uintptr_t e = map->table[off >> WS_MEM_PAGE_SHIFT];
	if (e & 1)
		e = ((uintptr_t *)(e - 1))[(off >> 8) & (WS_MEM_SUB - 1)];
	struct ws_mem *m = (struct ws_mem *)e;
	return m && m->addr == addr && !m->freed ? m : NULL;
}

/* Nobody finds it any more, its pages are given back. Locked. */
static void retire(struct ws_memmap *map, struct ws_mem *m)
{
	set_freed(m, true);
	leave_pages(map, m);
	if (counts(m->kind))
		map->used -= m->size;
}

static void remember(struct ws_memmap *map, struct ws_mem *m)
{
	pthread_mutex_lock(&map->lock);
	quarantine(map, m);
	pthread_mutex_unlock(&map->lock);
}

static struct ws_mem *unregister(struct ws_memmap *map, uint64_t addr);

bool ws_memmap_free(struct ws_memmap *map, uint64_t addr)
{
	struct ws_mem *m;
	if (addr - map->base >= map->span) {
		m = unregister(map, addr);
	} else {
		pthread_mutex_lock(&map->lock);
		m = starts_at(map, addr);
		if (m && m->kind == WS_MEM_HEAP)
			m = NULL;
		if (m)
			retire(map, m);
		pthread_mutex_unlock(&map->lock);
	}
	if (!m)
		return false;
	told_free(map, m);
	remember(map, m);
	return true;
}

/* ---- the device's heap ---- */

/* What a block takes of the heap: its size in units of 16 bytes, and 16 for the header that a heap in memory has. */
static uint64_t heap_cost(uint64_t size)
{
	return align_up(size, 16) + 16;
}

struct ws_mem *ws_memmap_heap_alloc(struct ws_memmap *map, uint64_t size, const char *origin)
{
	if (!size || size > UINT64_MAX / 2)
		return NULL;
	struct ws_mem *m = NULL;
	pthread_mutex_lock(&map->lock);
	if (map->heap_used + heap_cost(size) <= map->heap_limit)
		m = take(map, size, 0, WS_MEM_HEAP, NULL, origin);
	if (m)
		map->heap_used += heap_cost(size);
	pthread_mutex_unlock(&map->lock);
	if (m)
		make_visible(map, m);
	return m;
}

void ws_memmap_set_heap_limit(struct ws_memmap *map, uint64_t bytes)
{
	pthread_mutex_lock(&map->lock);
	map->heap_limit = bytes;
	pthread_mutex_unlock(&map->lock);
}

static bool was_block(const struct ws_memmap *map, uint64_t addr)
{
	for (const struct ws_mem_box *b = map->oldest; b; b = b->next)
		if (b->mem.addr == addr && b->mem.kind == WS_MEM_HEAP)
			return true;
	for (size_t i = 0; i < map->npending; i++)
		if (map->pending[i]->addr == addr)
			return true;
	return false;
}

enum ws_heap_result ws_memmap_heap_free(struct ws_memmap *map, uint64_t addr)
{
	enum ws_heap_result r = WS_HEAP_OK;
	pthread_mutex_lock(&map->lock);
	struct ws_mem *m = starts_at(map, addr);
	if (m && m->kind == WS_MEM_HEAP) {
		retire(map, m);
		map->heap_used -= heap_cost(m->size);
		*WS_PUSH(map->pending, map->npending, map->cap_pending) = m;
	} else {
		r = !m && was_block(map, addr) ? WS_HEAP_DOUBLE_FREE : WS_HEAP_NOT_A_BLOCK;
	}
	pthread_mutex_unlock(&map->lock);
	return r;
}

static int by_serial(const void *a, const void *b)
{
	uint64_t x = (*(const struct ws_mem *const *)a)->serial, y = (*(const struct ws_mem *const *)b)->serial;

	return (x > y) - (x < y);
}

void ws_memmap_each(struct ws_memmap *map, uint64_t above, void (*fn)(void *user, const struct ws_mem *m), void *user)
{
	const struct ws_mem **found = NULL;
	size_t n = 0, cap = 0;

	pthread_mutex_lock(&map->lock);
	for (size_t i = 0; i < map->nmems; i++)
		if (map->mems[i]->mem.size && !map->mems[i]->mem.freed && map->mems[i]->mem.serial > above)
			*WS_PUSH(found, n, cap) = &map->mems[i]->mem;
	pthread_mutex_unlock(&map->lock);
	if (n)
		qsort(found, n, sizeof *found, by_serial);
	for (size_t i = 0; i < n; i++)
		fn(user, found[i]);
	free(found);
}

void ws_memmap_settle(struct ws_memmap *map)
{
	for (size_t i = 0; i < map->npending; i++)
		told_free(map, map->pending[i]);
	pthread_mutex_lock(&map->lock);
	for (size_t i = 0; i < map->npending; i++)
		quarantine(map, map->pending[i]);
	map->npending = 0;
	pthread_mutex_unlock(&map->lock);
}

/* ---- registered host memory ---- */

/* How many registered stretches start at or before addr. */
static size_t registered_before(const struct ws_memmap *map, uint64_t addr)
{
	size_t lo = 0, hi = map->nregistered;
	while (lo < hi) {
		size_t mid = (lo + hi) / 2;
		if (map->registered[mid]->addr <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

struct ws_mem *ws_memmap_find_registered(const struct ws_memmap *map, uint64_t addr)
{
	if (!__atomic_load_n(&map->nregistered, __ATOMIC_ACQUIRE))
		return NULL;
	pthread_rwlock_t *lock = (pthread_rwlock_t *)&map->registered_lock;
	pthread_rwlock_rdlock(lock);
	size_t i = registered_before(map, addr);
	struct ws_mem *m = i ? map->registered[i - 1] : NULL;
	if (m && !ws_mem_holds(m, addr, 1))
		m = NULL;
	pthread_rwlock_unlock(lock);
	return m;
}

static bool may_register(const struct ws_memmap *map, uint64_t addr, uint64_t size, size_t at)
{
	if (!addr || !size || addr + size < addr)
		return false;
	if (addr < map->base + map->span && map->base < addr + size)
		return false;
	if (at && map->registered[at - 1]->addr + map->registered[at - 1]->size > addr)
		return false;
	return at == map->nregistered || map->registered[at]->addr >= addr + size;
}

struct ws_mem *ws_memmap_register(struct ws_memmap *map, void *host, uint64_t size, const char *origin)
{
	uint64_t addr = (uintptr_t)host;
	struct ws_mem *m = NULL;
	pthread_mutex_lock(&map->lock);
	size_t at = registered_before(map, addr);
	if (may_register(map, addr, size, at)) {
		m = new_struct(map, WS_MEM_HOST, NULL, origin);
		m->addr = addr;
		m->host = host;
		m->size = size;
		set_freed(m, false);
		told_new(map, m);
		pthread_rwlock_wrlock(&map->registered_lock);
		WS_PUSH(map->registered, map->nregistered, map->cap_registered);
		memmove(&map->registered[at + 1], &map->registered[at],
		        (map->nregistered - 1 - at) * sizeof *map->registered);
		map->registered[at] = m;
		pthread_rwlock_unlock(&map->registered_lock);
	}
	pthread_mutex_unlock(&map->lock);
	return m;
}

static struct ws_mem *unregister(struct ws_memmap *map, uint64_t addr)
{
	pthread_mutex_lock(&map->lock);
	pthread_rwlock_wrlock(&map->registered_lock);
	size_t i = registered_before(map, addr);
	struct ws_mem *m = i && map->registered[i - 1]->addr == addr ? map->registered[i - 1] : NULL;
	if (m) {
		set_freed(m, true);
		memmove(&map->registered[i - 1], &map->registered[i], (map->nregistered - i) * sizeof *map->registered);
		map->nregistered--;
	}
	pthread_rwlock_unlock(&map->registered_lock);
	pthread_mutex_unlock(&map->lock);
	return m;
}

/* ---- diagnosis ---- */

static const char *kind_name(enum ws_mem_kind kind)
{
	static const char *const names[] = {
		[WS_MEM_DEVICE] = "allocation", [WS_MEM_MANAGED] = "managed allocation", [WS_MEM_HOST] = "host allocation",
		[WS_MEM_SYMBOL] = "variable", [WS_MEM_CONST] = "constant", [WS_MEM_HEAP] = "device heap block"};
	return names[kind];
}

static void add_mem(struct ws_buf *out, const struct ws_mem *m)
{
	ws_buf_printf(out, "%s%s ", m->freed ? "freed " : "", kind_name(m->kind));
	if (m->name)
		ws_buf_printf(out, "'%s'", m->name);
	else
		ws_buf_printf(out, "#%llu", (unsigned long long)m->serial);
	ws_buf_printf(out, " (%llu byte%s", (unsigned long long)m->size, m->size == 1 ? "" : "s");
	if (m->origin)
		ws_buf_printf(out, ", %s", m->origin);
	ws_buf_puts(out, ")");
}

/* Bytes between addr and the stretch; 0 inside it. */
static uint64_t distance(const struct ws_mem *m, uint64_t addr)
{
	if (addr < m->addr)
		return m->addr - addr;
	return addr - m->addr < m->size ? 0 : addr - (m->addr + m->size) + 1;
}

/* Is a the better explanation of addr? Inside before outside, then live before freed, then near, then young. */
static bool better(const struct ws_mem *a, const struct ws_mem *b, uint64_t addr)
{
	uint64_t da = distance(a, addr), db = distance(b, addr);
	if (!da != !db)
		return !da;
	if (a->freed != b->freed)
		return b->freed;
	return da != db ? da < db : a->serial > b->serial;
}

static const struct ws_mem *nearest(const struct ws_memmap *map, uint64_t addr)
{
	const struct ws_mem *best = NULL;
	for (size_t i = 0; i < map->nmems; i++) {
		const struct ws_mem *m = &map->mems[i]->mem;
		if (distance(m, addr) <= NEAR && (!best || better(m, best, addr)))
			best = m;
	}
	return best;
}

static void add_position(struct ws_buf *out, const struct ws_mem *m, uint64_t addr)
{
	uint64_t d = distance(m, addr);
	if (!d && m->freed)
		ws_buf_printf(out, "inside freed memory, byte %llu of ", (unsigned long long)(addr - m->addr));
	else if (!d)
		ws_buf_printf(out, "byte %llu of ", (unsigned long long)(addr - m->addr));
	else if (addr < m->addr)
		ws_buf_printf(out, "%llu byte%s before ", (unsigned long long)d, d == 1 ? "" : "s");
	else if (d == 1)
		ws_buf_puts(out, "right past the end of ");
	else
		ws_buf_printf(out, "%llu byte%s past the end of ", (unsigned long long)(d - 1), d == 2 ? "" : "s");
	add_mem(out, m);
}

/* Is this mapped memory of our own process, that kernels know nothing of? */
static bool is_host_memory(const struct ws_memmap *map, uint64_t addr)
{
	unsigned char resident;
	uint64_t page = addr & ~UINT64_C(4095);
	return addr - map->base >= map->span && addr >> 47 == 0 && mincore((void *)(uintptr_t)page, 1, &resident) == 0;
}

void ws_memmap_describe(struct ws_memmap *map, uint64_t addr, struct ws_buf *out)
{
	if (!addr) {
		ws_buf_puts(out, "the null pointer");
		return;
	}
	if (addr < 65536) {
		ws_buf_printf(out, "%llu bytes from the null pointer", (unsigned long long)addr);
		return;
	}
	pthread_mutex_lock(&map->lock);
	const struct ws_mem *m = nearest(map, addr);
	if (m)
		add_position(out, m, addr);
	else if (is_host_memory(map, addr))
		ws_buf_puts(out, "ordinary memory of the host program, which the GPU cannot access");
	else
		ws_buf_puts(out, "nothing is allocated within 1 MiB of it");
	pthread_mutex_unlock(&map->lock);
}

bool ws_memmap_host_views(const struct ws_memmap *map, uint64_t *base, uint64_t *end)
{
	const struct ws_mem_area *a = &map->area[WS_AREA_HOST];
	if (!map->two_views)
		return false;
	*base = a->base;
	*end = a->base + __atomic_load_n(&a->committed, __ATOMIC_ACQUIRE);
	return true;
}

void ws_memmap_info(struct ws_memmap *map, uint64_t *free_bytes, uint64_t *total_bytes)
{
	pthread_mutex_lock(&map->lock);
	*free_bytes = map->limit - map->used;
	*total_bytes = map->limit;
	pthread_mutex_unlock(&map->lock);
}

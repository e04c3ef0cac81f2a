/* mem.h - the simulated GPU's address space: allocations, address checks, the diagnosis of bad addresses.
 *
 * Layout. One range of virtual addresses is reserved (it costs no memory) and cut into three areas:
 *     DEVICE   cudaMalloc, variables of modules. Never accessible to the host at the device address: the bytes are in
 *              an alias elsewhere (ws_mem.host), so that a host program that dereferences a device pointer faults, as
 *              with a real GPU
 *     HEAP     blocks of the device's malloc; aliased the same way
 *     HOST     managed and pinned memory: addr == host; or, with two_views, the same bytes mapped at addr for the
 *              program and at ws_mem.host for us, so that the program's accesses can be watched by protecting its view
 * Every allocation starts at a multiple of 256 bytes and is followed by a red zone that belongs to nobody, of half its
 * size, at least 256 bytes and at most 1 MiB. Addresses are handed out in rising order and used again only after
 * the whole area was passed; the pages of freed memory go back to the system at once. New memory is zero.
 * Memory registered by the program (cudaHostRegister) has its own addresses and is kept in a sorted list.
 *
 * Looking up is free of locks (but for registered memory) and may run on any thread beside changes: a page table of two levels (64 KiB, 256 bytes)
 * leads from an address to its struct ws_mem. These structs are never returned to the C heap before the map
 * dies, and a freed one is used again only after many thousand other frees: a stale pointer can be asked (freed, addr,
 * size) safely. Changes take the map's mutex. */
#ifndef WS_MEM_H
#define WS_MEM_H

#include <pthread.h>
#include <string.h>
#include "gpu/gpu.h"

#define WS_MEM_UNIT 256u             /* allocations start at multiples of it */
#define WS_MEM_PAGE_SHIFT 16         /* first level of the page table: 64 KiB */
#define WS_MEM_HOST_PAGE 4096u       /* with two views: allocations of 2048 bytes and more share no page of this size */
#define WS_MEM_QUARANTINE 65536u     /* freed structs that are remembered at least */
#define WS_MEM_SUB (1u << (WS_MEM_PAGE_SHIFT - 8))   /* entries of a second-level table */

struct ws_mem_box;                   /* a struct ws_mem and its place in the queue; private to mem.c */

struct ws_mem_area {                 /* a part of the reserved range; private to mem.c */
	uint64_t base, size;         /* addresses */
	uint64_t cursor, run_end;    /* empty pages in which allocations are placed one after the other */
	uint64_t committed;          /* bytes from base on that are accessible to us */
	int64_t to_host;             /* host address = device address + to_host */
};

enum { WS_AREA_DEVICE, WS_AREA_HEAP, WS_AREA_HOST, WS_AREA_COUNT };

struct ws_memmap {
	uint64_t base, span;         /* the reserved range */
	uintptr_t *table;            /* a word a 64 KiB: 0, struct ws_mem *, or second-level table + 1 */
	/* from here on private to mem.c */
	struct ws_mem **registered;  /* registered host memory, sorted by address */
	size_t nregistered, cap_registered;
	pthread_rwlock_t registered_lock;
	uint32_t *page_users;        /* allocations that touch a 64 KiB page */
	struct ws_mem_area area[WS_AREA_COUNT];
	bool two_views;              /* of HOST */
	uint8_t *alias;              /* of DEVICE and HEAP, with two_views of HOST as well */
	uint64_t alias_size;
	void *reserved;              /* what mmap gave for the range */
	uint64_t limit, used;        /* device memory in bytes */
	uint64_t heap_limit, heap_used;
	uint64_t serial;
	struct ws_mem_box **mems;    /* all structs ever made, live or freed */
	size_t nmems, cap_mems;
	struct ws_mem_box *oldest, *newest;  /* queue of freed structs */
	size_t nfreed;               /* in it */
	struct ws_mem **pending;     /* freed heap blocks that the observer has not been told of yet */
	size_t npending, cap_pending;
	uintptr_t **subtables;       /* all second-level tables */
	size_t nsubtables, cap_subtables;
	uintptr_t **spare;           /* those not in use, all zero */
	size_t nspare, cap_spare;
	const struct ws_observer_ops *ops;
	void *self;
	pthread_mutex_t lock;
};

/* Reserves the addresses. limit: bytes of device memory; heap_limit: bytes for the device's malloc. ops may be NULL.
 * two_views: HOST memory is mapped twice; where the system does not allow that, once (map->two_views says which).
 * false (errno) when the system gives no addresses; then the map must not be used. */
bool ws_memmap_init(struct ws_memmap *map, uint64_t limit, uint64_t heap_limit, bool two_views,
                    const struct ws_observer_ops *ops, void *self);
/* The program's view of HOST memory that is accessible unless somebody protected it: [*base, *end), which grows.
 * false: there is one view only. Any thread, no lock. */
bool ws_memmap_host_views(const struct ws_memmap *map, uint64_t *base, uint64_t *end);
/* Tells the observer of all that is still there, then gives everything back. */
void ws_memmap_fini(struct ws_memmap *map);

/* A new allocation, zeroed; NULL when the limit or the system's memory is reached. name (may be NULL) and origin (may
 * be NULL) are copied. align: power of two, 0 = 256. Kinds DEVICE, SYMBOL, CONST, MANAGED and HOST; HEAP: see
 * ws_memmap_heap_alloc. HOST memory does not count as device memory. */
struct ws_mem *ws_memmap_new(struct ws_memmap *map, uint64_t size, uint64_t align, enum ws_mem_kind kind,
                             const char *name, const char *origin);
/* Memory of the program itself; NULL if it overlaps what is already there, or is empty. */
struct ws_mem *ws_memmap_register(struct ws_memmap *map, void *host, uint64_t size, const char *origin);
/* Frees the live allocation that starts at addr (not a heap block); false: there is none. */
bool ws_memmap_free(struct ws_memmap *map, uint64_t addr);

/* Device malloc and free; safe on several host threads while kernels run. alloc: NULL when the heap is full or
 * size is 0. The observer is told of a freed block only by ws_memmap_settle, when no kernel runs. */
enum ws_heap_result { WS_HEAP_OK, WS_HEAP_DOUBLE_FREE, WS_HEAP_NOT_A_BLOCK };
struct ws_mem *ws_memmap_heap_alloc(struct ws_memmap *map, uint64_t size, const char *origin);
enum ws_heap_result ws_memmap_heap_free(struct ws_memmap *map, uint64_t addr);
/* From now on; blocks that are there stay. */
void ws_memmap_set_heap_limit(struct ws_memmap *map, uint64_t bytes);
/* fn for each live allocation with a serial above that, in the order of their serials. */
void ws_memmap_each(struct ws_memmap *map, uint64_t above, void (*fn)(void *user, const struct ws_mem *m), void *user);
/* To be called at the end of a launch. */
void ws_memmap_settle(struct ws_memmap *map);

struct ws_mem *ws_memmap_find_registered(const struct ws_memmap *map, uint64_t addr);

/* The live stretch that holds addr, or NULL. */
static inline struct ws_mem *ws_memmap_find(const struct ws_memmap *map, uint64_t addr)
{
	uint64_t off = addr - map->base;
	if (__builtin_expect(off >= map->span, 0))
		return ws_memmap_find_registered(map, addr);
	uintptr_t e = __atomic_load_n(&map->table[off >> WS_MEM_PAGE_SHIFT], __ATOMIC_ACQUIRE);
	if (e & 1)
		e = __atomic_load_n((uintptr_t *)(e - 1) + ((off >> 8) & (WS_MEM_SUB - 1)), __ATOMIC_ACQUIRE);
	struct ws_mem *m = (struct ws_mem *)e;
	return m && addr - m->addr < m->size && !__atomic_load_n(&m->freed, __ATOMIC_ACQUIRE) ? m : NULL;
}

/* Are all of the bytes inside m, and is m live? */
static inline bool ws_mem_holds(const struct ws_mem *m, uint64_t addr, uint64_t bytes)
{
	uint64_t off = addr - m->addr;
	return off < m->size && bytes <= m->size - off && !__atomic_load_n(&m->freed, __ATOMIC_ACQUIRE);
}

/* Where the bytes are in this process; NULL if not all of them lie in one live stretch. */
static inline uint8_t *ws_memmap_host(const struct ws_memmap *map, uint64_t addr, uint64_t bytes)
{
	const struct ws_mem *m = ws_memmap_find(map, addr);
	return m && ws_mem_holds(m, addr, bytes) ? m->host + (addr - m->addr) : NULL;
}

/* What addr is, for people: "16 bytes past the end of allocation #3 (4096 bytes, cudaMalloc at app.cu:12)", "inside
 * freed memory, byte 8 of freed allocation #2 ...", "the null pointer", "ordinary memory of the host program, ...",
 * "nothing is allocated within 1 MiB of it". */
void ws_memmap_describe(struct ws_memmap *map, uint64_t addr, struct ws_buf *out);
void ws_memmap_info(struct ws_memmap *map, uint64_t *free_bytes, uint64_t *total_bytes);

/* Is that the name of a variable or function that src/rewrite has inserted? */
static inline bool ws_is_inserted(const char *name)
{
	static const char ours[] = "__warpsafe_";

	return !strncmp(name, ours, sizeof ours - 1);
}

#endif

/* pool.c - see pool.h. */
#include "detect/pool.h"

#include "base/base.h"

#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Sanitizers are to see each object. */
#if defined __SANITIZE_ADDRESS__
enum { LARGEST = 0 };
#elif defined __has_feature
#if __has_feature(address_sanitizer)
enum { LARGEST = 0 };
#else
enum { LARGEST = 4096 };
#endif
#else
enum { LARGEST = 4096 };
#endif
enum { UNIT = 16, CACHE_LINE = 64, CLASSES = LARGEST / UNIT + 1, SHARDS = 8 };
enum { FIRST_PIECE = 128 << 10, PIECE = 2 << 20 };       /* of 2 MiB the system may make one page */

struct unused { struct unused *next; };
struct shard {
	_Alignas(CACHE_LINE) uint32_t lock;
	struct unused *unused[CLASSES];
	uintptr_t at, end;               /* what is left of the newest piece */
	bool any;
};
static struct shard shards[SHARDS];

/* Host threads share few of them, so that what a thread leaves behind is not lost. */
static struct shard *mine(void)
{
	static uint32_t threads;
	static _Thread_local struct shard *shard;

	if (!shard)
		shard = &shards[__atomic_fetch_add(&threads, 1, __ATOMIC_RELAXED) % SHARDS];
	return shard;
}

static void lock(struct shard *s)
{
	for (int i = 0; __atomic_exchange_n(&s->lock, 1, __ATOMIC_ACQUIRE); i++)
		if (i > 100)
			sched_yield();
}

static void unlock(struct shard *s)
{
	__atomic_store_n(&s->lock, 0, __ATOMIC_RELEASE);
}

static void new_piece(struct shard *s)
{
	size_t size = s->any ? PIECE : FIRST_PIECE;
	void *p = mmap(NULL, size + PIECE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	uintptr_t from, at;

	if (p == MAP_FAILED) {
		p = ws_alloc(size + CACHE_LINE);
		s->at = ((uintptr_t)p + CACHE_LINE - 1) & ~(uintptr_t)(CACHE_LINE - 1);
		s->end = s->at + size;
		return;
	}
	from = (uintptr_t)p;
	at = (from + PIECE - 1) & ~(uintptr_t)(PIECE - 1);
	if (at > from)
		munmap(p, at - from);
	if (at + size < from + size + PIECE)
		munmap((void *)(at + size), from + PIECE - at);
	if (s->any)
		madvise((void *)at, size, MADV_HUGEPAGE);
	s->any = true;
	s->at = at;
	s->end = at + size;
}

/* A fresh piece of memory is zeroed. */
static void *fresh(struct shard *s, size_t size)
{
	size_t align = size % CACHE_LINE ? UNIT : CACHE_LINE;    /* size is a multiple of UNIT */
	void *p;

	s->at = (s->at + align - 1) & ~(uintptr_t)(align - 1);
	if (s->at + size > s->end)
		new_piece(s);
	p = (void *)s->at;
	s->at += size;
	return p;
}

static size_t class_of(size_t size)
{
	return (size + UNIT - 1) / UNIT;
}

void *ws_pool_new(size_t size)
{
	size_t class = class_of(size);
	struct shard *s = mine();
	struct unused *p;

	if (class >= CLASSES || !class)
		return ws_alloc(size);
	lock(s);
	p = s->unused[class];
	if (p)
		s->unused[class] = p->next;
	else
		p = fresh(s, class * UNIT);
	unlock(s);
	p->next = NULL;
	return p;
}

void ws_pool_free(void *p, size_t size)
{
	size_t class = class_of(size);
	struct shard *s = mine();
	struct unused *u = p;

	if (!p)
		return;
	if (class >= CLASSES || !class) {
		free(p);
		return;
	}
	memset(p, 0, class * UNIT);
	lock(s);
	u->next = s->unused[class];
	s->unused[class] = u;
	unlock(s);
}

void *ws_pool_grow(void *p, size_t size, size_t more)
{
	void *q = ws_pool_new(more);

	if (p)
		memcpy(q, p, size);
	ws_pool_free(p, size);
	return q;
}

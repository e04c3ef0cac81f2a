/* pool.c - see pool.h. */
#include "detect/pool.h"

#include "base/base.h"

#include <pthread.h>
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
	_Alignas(CACHE_LINE) uint32_t taken;
	struct unused *unused[CLASSES];
	uintptr_t at, end;               /* what is left of the newest piece */
	bool any;
};
/* A host thread has one to itself until it ends; when all are taken, `shared`, which is locked. */
static struct shard shards[SHARDS], shared;
static _Thread_local struct shard *shard;
static pthread_key_t key;
static bool ends_are_told;           /* by the key */
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* What a thread leaves behind is for a later one. */
static void thread_ends(void *its)
{
	shard = NULL;
	__atomic_store_n(&((struct shard *)its)->taken, 0, __ATOMIC_RELEASE);
}

static void begin(void)
{
	ends_are_told = !pthread_key_create(&key, thread_ends);
}

static bool take(struct shard *s)
{
	return !__atomic_exchange_n(&s->taken, 1, __ATOMIC_ACQUIRE);
}

static struct shard *choose(void)
{
	pthread_once(&once, begin);
	for (int i = 0; ends_are_told && i < SHARDS; i++) {
		if (!take(&shards[i]))
			continue;
		if (pthread_setspecific(key, &shards[i]) == 0)
			return shard = &shards[i];
		__atomic_store_n(&shards[i].taken, 0, __ATOMIC_RELEASE);
	}
	return shard = &shared;
}

static struct shard *lock(void)
{
	struct shard *s = shard ? shard : choose();

	for (int i = 0; s == &shared && !take(s); i++)
		if (i > 100)
			sched_yield();
	return s;
}

static void unlock(struct shard *s)
{
	if (s == &shared)
		__atomic_store_n(&s->taken, 0, __ATOMIC_RELEASE);
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
	struct unused *p;
	struct shard *s;

	if (class >= CLASSES || !class)
		return ws_alloc(size);
	s = lock();
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
	struct unused *u = p;
	struct shard *s;

	if (!p)
		return;
	if (class >= CLASSES || !class) {
		free(p);
		return;
	}
	memset(p, 0, class * UNIT);
	s = lock();
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

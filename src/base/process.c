/* process.c - what there is once a process; see process.h. */
#include "base/process.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

static void *the_session;
static pthread_mutex_t create_lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool forked;

static void in_child(void)
{
	if (the_session)
		atomic_store(&forked, true);
}

void *ws_process_session(void *(*create)(void))
{
	void *s;

	if (atomic_load(&forked))
		return NULL;
	s = __atomic_load_n(&the_session, __ATOMIC_ACQUIRE);
	if (s)
		return s;
	pthread_mutex_lock(&create_lock);
	if (!the_session) {
		__atomic_store_n(&the_session, create(), __ATOMIC_RELEASE);
		pthread_atfork(NULL, NULL, in_child);
	}
	s = the_session;
	pthread_mutex_unlock(&create_lock);
	return s;
}

void *ws_process_session_if_any(void)
{
	return __atomic_load_n(&the_session, __ATOMIC_ACQUIRE);
}

bool ws_process_forked(void)
{
	return atomic_load(&forked);
}

uint64_t ws_monotonic_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void ws_tell_line(const char *before, const char *fmt, va_list ap)
{
	struct ws_buf b = { 0 };

	ws_buf_vprintf(&b, fmt, ap);
	while (b.len && b.data[b.len - 1] == '\n')
		b.data[--b.len] = '\0';
	fflush(stdout);
	fprintf(stderr, "%s%s\n", before, b.len ? b.data : "");
	ws_buf_free(&b);
}

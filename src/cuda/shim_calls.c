/* shim_calls.c - part of libwarpsafe-preload.so: the calls of the C library by which the kernel reads and writes memory
 * of the program, or the program changes what happens to SIGSEGV. See watch.h for why.
 *
 * Until something is watched, a call costs one test more. Nothing else changes: errno, results and errors are those of
 * the next definition, which is the C library's or that of another preloaded library. */
#undef _FORTIFY_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "cuda/watch.h"

#undef fread_unlocked /* macros in some versions of stdio.h */
#undef fwrite_unlocked

#define EXPORT __attribute__((visibility("default")))

/* ---- the next definitions ---- */
#define CALLS(X)                                                                                                       \
	X(read) X(__read_chk) X(pread) X(pread64) X(__pread_chk) X(__pread64_chk) X(readv) X(preadv) X(preadv64)       \
	X(write) X(pwrite) X(pwrite64) X(writev) X(pwritev) X(pwritev64)                                               \
	X(fread) X(fread_unlocked) X(__fread_chk) X(__fread_unlocked_chk) X(fwrite) X(fwrite_unlocked)                 \
	X(fputs) X(fputs_unlocked) X(puts) X(getrandom)                                                                \
	X(recv) X(__recv_chk) X(recvfrom) X(__recvfrom_chk) X(recvmsg) X(send) X(sendto) X(sendmsg)                    \
	X(sigaction) X(signal) X(bsd_signal) X(__sysv_signal) X(sysv_signal) X(sigprocmask) X(pthread_sigmask)

#define INDEX(name) AT_##name,
enum { CALLS(INDEX) NCALLS };
#define TEXT(name) [AT_##name] = #name,
static const char *const names[] = {CALLS(TEXT)};
static void *next[NCALLS];

static void *find(unsigned at)
{
	void *p = __atomic_load_n(&next[at], __ATOMIC_RELAXED);
	int saved;

	if (p)
		return p;
	saved = errno;
	p = dlsym(RTLD_NEXT, names[at]);
	__atomic_store_n(&next[at], p, __ATOMIC_RELAXED);
	errno = saved;
	return p;
}
#define NEXT(name) ((__typeof__(&name))find(AT_##name))

/* All at once, for some of them are called in signal handlers, where dlsym may not be. */
__attribute__((constructor)) static void find_all(void)
{
	unsigned i;

	for (i = 0; i < NCALLS; i++)
		find(i);
	ws_watch_calls_caught = true;
}

static const struct ws_watch_hooks *hooks(void)
{
	return __atomic_load_n(&ws_watch_hooks, __ATOMIC_ACQUIRE);
}

/* ---- one buffer ---- */
/* writes: does the call write to the buffer? done: how many of its bytes were accessed, told by the result r. */
#define BUFFER_CALL(type, name, params, args, buffer, bytes, writes, done)                                             \
	EXPORT type name params;                                                                                       \
	type name params                                                                                               \
	{                                                                                                              \
		const struct ws_watch_hooks *h = hooks();                                                              \
		uint64_t at_ = (uintptr_t)(buffer);                                                                    \
		size_t size_ = h ? (bytes) : 0, done_;                                                                 \
		type r;                                                                                                \
                                                                                                                       \
		if (!h || !h->hold(at_, size_, writes))                                                                \
			return NEXT(name) args;                                                                        \
		r = NEXT(name) args;                                                                                   \
		done_ = (done);                                                                                        \
		h->release(at_, size_, writes, done_ < size_ ? done_ : size_);                                         \
		return r;                                                                                              \
	}

static size_t positive(ssize_t n)
{
	return n > 0 ? (size_t)n : 0;
}

#define READ_CALL(name, params, args) BUFFER_CALL(ssize_t, name, params, args, p, n, true, positive(r))
#define WRITE_CALL(name, params, args) BUFFER_CALL(ssize_t, name, params, args, p, n, false, positive(r))

READ_CALL(read, (int fd, void *p, size_t n), (fd, p, n))
READ_CALL(__read_chk, (int fd, void *p, size_t n, size_t room), (fd, p, n, room))
READ_CALL(pread, (int fd, void *p, size_t n, off_t at), (fd, p, n, at))
READ_CALL(pread64, (int fd, void *p, size_t n, off64_t at), (fd, p, n, at))
READ_CALL(__pread_chk, (int fd, void *p, size_t n, off_t at, size_t room), (fd, p, n, at, room))
READ_CALL(__pread64_chk, (int fd, void *p, size_t n, off64_t at, size_t room), (fd, p, n, at, room))
READ_CALL(recv, (int fd, void *p, size_t n, int flags), (fd, p, n, flags))
READ_CALL(__recv_chk, (int fd, void *p, size_t n, size_t room, int flags), (fd, p, n, room, flags))
READ_CALL(getrandom, (void *p, size_t n, unsigned flags), (p, n, flags))
#define FROM struct sockaddr *from, socklen_t *from_size
READ_CALL(recvfrom, (int fd, void *p, size_t n, int flags, FROM), (fd, p, n, flags, from, from_size))
READ_CALL(__recvfrom_chk, (int fd, void *p, size_t n, size_t room, int flags, FROM),
	  (fd, p, n, room, flags, from, from_size))
WRITE_CALL(write, (int fd, const void *p, size_t n), (fd, p, n))
WRITE_CALL(pwrite, (int fd, const void *p, size_t n, off_t at), (fd, p, n, at))
WRITE_CALL(pwrite64, (int fd, const void *p, size_t n, off64_t at), (fd, p, n, at))
WRITE_CALL(send, (int fd, const void *p, size_t n, int flags), (fd, p, n, flags))
WRITE_CALL(sendto, (int fd, const void *p, size_t n, int flags, const struct sockaddr *to, socklen_t to_size),
	   (fd, p, n, flags, to, to_size))

/* A stream passes what is larger than its own buffer to the system directly. */
#define FREAD_CALL(name, params, args) BUFFER_CALL(size_t, name, params, args, p, size *n, true, r *size)
#define FWRITE_CALL(name) \
	BUFFER_CALL(size_t, name, (const void *p, size_t size, size_t n, FILE *f), (p, size, n, f), p, size *n, false, \
		    r *size)
FREAD_CALL(fread, (void *p, size_t size, size_t n, FILE *f), (p, size, n, f))
FREAD_CALL(fread_unlocked, (void *p, size_t size, size_t n, FILE *f), (p, size, n, f))
FREAD_CALL(__fread_chk, (void *p, size_t room, size_t size, size_t n, FILE *f), (p, room, size, n, f))
FREAD_CALL(__fread_unlocked_chk, (void *p, size_t room, size_t size, size_t n, FILE *f), (p, room, size, n, f))
FWRITE_CALL(fwrite)
FWRITE_CALL(fwrite_unlocked)

/* The length is looked for only where the string may be watched. */
static size_t length(const struct ws_watch_hooks *h, const char *s)
{
	return h->can_watch((uintptr_t)s) ? strlen(s) : 0;
}
BUFFER_CALL(int, fputs, (const char *s, FILE *f), (s, f), s, length(h, s), false, r < 0 ? 0 : size_)
BUFFER_CALL(int, fputs_unlocked, (const char *s, FILE *f), (s, f), s, length(h, s), false, r < 0 ? 0 : size_)
BUFFER_CALL(int, puts, (const char *s), (s), s, length(h, s), false, r < 0 ? 0 : size_)

/* ---- several buffers ---- */
static bool hold_all(const struct ws_watch_hooks *h, const struct iovec *v, size_t n, bool writes)
{
	bool any = false;
	size_t i;

	for (i = 0; v && i < n; i++)
		any |= h->hold((uintptr_t)v[i].iov_base, v[i].iov_len, writes);
	return any;
}

static void release_all(const struct ws_watch_hooks *h, const struct iovec *v, size_t n, bool writes, ssize_t result)
{
	size_t left = positive(result), i;

	for (i = 0; i < n; i++) {
		size_t done = left < v[i].iov_len ? left : v[i].iov_len;

		h->release((uintptr_t)v[i].iov_base, v[i].iov_len, writes, done);
		left -= done;
	}
}

#define VECTOR_CALL(name, params, args, vector, count, writes)                                                         \
	EXPORT ssize_t name params;                                                                                    \
	ssize_t name params                                                                                            \
	{                                                                                                              \
		const struct ws_watch_hooks *h = hooks();                                                              \
		ssize_t r;                                                                                             \
                                                                                                                       \
		if (!h || !hold_all(h, vector, positive((ssize_t)(count)), writes))                                    \
			return NEXT(name) args;                                                                        \
		r = NEXT(name) args;                                                                                   \
		release_all(h, vector, positive((ssize_t)(count)), writes, r);                                         \
		return r;                                                                                              \
	}

VECTOR_CALL(readv, (int fd, const struct iovec *v, int n), (fd, v, n), v, n, true)
VECTOR_CALL(preadv, (int fd, const struct iovec *v, int n, off_t at), (fd, v, n, at), v, n, true)
VECTOR_CALL(preadv64, (int fd, const struct iovec *v, int n, off64_t at), (fd, v, n, at), v, n, true)
VECTOR_CALL(recvmsg, (int fd, struct msghdr *m, int flags), (fd, m, flags), m->msg_iov, m->msg_iovlen, true)
VECTOR_CALL(writev, (int fd, const struct iovec *v, int n), (fd, v, n), v, n, false)
VECTOR_CALL(pwritev, (int fd, const struct iovec *v, int n, off_t at), (fd, v, n, at), v, n, false)
VECTOR_CALL(pwritev64, (int fd, const struct iovec *v, int n, off64_t at), (fd, v, n, at), v, n, false)
VECTOR_CALL(sendmsg, (int fd, const struct msghdr *m, int flags), (fd, m, flags), m->msg_iov, m->msg_iovlen, false)

/* ---- signals ---- */
/* Where SIGSEGV or SIGTRAP is blocked, a fault kills the process. Worker threads often block all signals, so under
 * `warpsafe race` these two never are; blocked or not only matters for those that somebody sends. */
static bool is_race(void)
{
	static int race; /* 0: not known yet, 1: no, 2: yes */
	const char *options;

	if (!race) {
		options = getenv("WARPSAFE_OPTIONS");
		race = options && strstr(options, "verb=race") ? 2 : 1;
	}
	return race == 2;
}

static void let_through(sigset_t *s)
{
	sigdelset(s, SIGSEGV);
	sigdelset(s, SIGTRAP);
}

#define MASK_CALL(name)                                                                                                \
	EXPORT int name(int how, const sigset_t *set, sigset_t *old);                                                  \
	int name(int how, const sigset_t *set, sigset_t *old)                                                          \
	{                                                                                                              \
		sigset_t most;                                                                                         \
                                                                                                                       \
		if (!set || how == SIG_UNBLOCK || !is_race())                                                          \
			return NEXT(name)(how, set, old);                                                              \
		most = *set;                                                                                           \
		let_through(&most);                                                                                    \
		return NEXT(name)(how, &most, old);                                                                    \
	}
MASK_CALL(sigprocmask)
MASK_CALL(pthread_sigmask)

EXPORT int sigaction(int sig, const struct sigaction *act, struct sigaction *old);
int sigaction(int sig, const struct sigaction *act, struct sigaction *old)
{
	const struct ws_watch_hooks *h = hooks();
	struct sigaction most;

	if (h && act)
		h->handler_changes(sig);
	if (!act || !is_race())
		return NEXT(sigaction)(sig, act, old);
	most = *act;
	let_through(&most.sa_mask);
	return NEXT(sigaction)(sig, &most, old);
}

#define SIGNAL_CALL(name)                                                                                              \
	EXPORT sighandler_t name(int sig, sighandler_t handler);                                                       \
	sighandler_t name(int sig, sighandler_t handler)                                                               \
	{                                                                                                              \
		const struct ws_watch_hooks *h = hooks();                                                              \
                                                                                                                       \
		if (h)                                                                                                 \
			h->handler_changes(sig);                                                                       \
		return NEXT(name)(sig, handler);                                                                       \
	}
SIGNAL_CALL(signal)
SIGNAL_CALL(bsd_signal)
SIGNAL_CALL(sysv_signal)
SIGNAL_CALL(__sysv_signal)

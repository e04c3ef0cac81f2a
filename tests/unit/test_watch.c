/* test_watch.c - accesses of the host program to watched pages: what is told, what is not, and that the program runs on
 * as if nothing were there: with threads, system calls, fork, handlers of its own and faults of its own. */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "cuda/watch.h"

enum { PAGE = WS_WATCH_PAGE, MOST_TOLD = 4096 };

#ifdef __x86_64__
#define ONE_ACCESS 1     /* a page is open for one instruction */
#else
#define ONE_ACCESS 0
#endif

static struct ws_gpu *gpu;
static pthread_mutex_t told_lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
	uint64_t addr, bytes;
	bool write;
} told[MOST_TOLD];
static volatile size_t ntold;
static bool answer;

static bool touched(void *user, uint64_t addr, uint64_t bytes, bool write)
{
	bool r;

	assert_ptr_equal(user, told);
	pthread_mutex_lock(&told_lock);
	if (ntold < MOST_TOLD) {
		told[ntold].addr = addr;
		told[ntold].bytes = bytes;
		told[ntold].write = write;
	}
	ntold++;
	r = answer;
	pthread_mutex_unlock(&told_lock);
	return r;
}

/* ---- a stretch of managed memory ---- */
static volatile uint8_t *v;      /* the program's view */
static struct ws_mem *mem;

static struct sigaction ours;

static bool start(void)
{
	struct ws_gpu_config c = {.memory = 1 << 30, .watch_host = true, .printf_fd = -1};

	gpu = ws_gpu_create(&c);
	return gpu && ws_watch_start(gpu, touched, told) && sigaction(SIGSEGV, NULL, &ours) == 0;
}

static int new_memory(void **state)
{
	mem = ws_gpu_mem_new(gpu, 64 * PAGE, 0, WS_MEM_MANAGED, "test");
	v = (volatile uint8_t *)(uintptr_t)mem->addr;
	ntold = 0;
	answer = false;
	return mem ? 0 : -1;
}

static int old_memory(void **state)
{
	ws_watch_set(NULL, 0);
	return ws_gpu_mem_free(gpu, mem->addr) ? 0 : -1;
}

/* Watches n pages from page `first` on. */
static void watch(size_t first, size_t n, bool no_reads)
{
	struct ws_watch_page pages[64];
	size_t i;

	for (i = 0; i < n; i++)
		pages[i] = (struct ws_watch_page){mem->addr + (first + i) * PAGE, no_reads};
	ws_watch_set(pages, n);
}

static void is_told(size_t i, size_t offset, uint64_t bytes, bool write)
{
	assert_true(i < ntold);
	assert_int_equal(told[i].addr, mem->addr + offset);
	assert_int_equal(told[i].bytes, bytes);
	assert_int_equal(told[i].write, write);
}

/* ---- single accesses ---- */
static void test_read_and_write(void)
{
	mem->host[PAGE + 5] = 7;
	watch(1, 1, true);
	assert_int_equal(v[PAGE + 5], 7);
	assert_int_equal(ntold, 1);
	is_told(0, PAGE + 5, 1, false);
	v[PAGE + 9] = 8;
	assert_int_equal(mem->host[PAGE + 9], 8);
	assert_true(!ONE_ACCESS || ntold == 2);
	is_told(ntold - 1, PAGE + 9, 1, ntold == 2);
}

static void test_only_writes(void)
{
	mem->host[PAGE + 5] = 7;
	watch(1, 1, false);
	assert_int_equal(v[PAGE + 5], 7);
	assert_int_equal(ntold, 0);
	v[2 * PAGE - 1] = 8;
	assert_int_equal(ntold, 1);
	is_told(0, 2 * PAGE - 1, 1, true);
	assert_int_equal(mem->host[2 * PAGE - 1], 8);
}

static void test_neighbours(void)
{
	watch(1, 1, true);
	v[PAGE - 1] = 1;
	v[2 * PAGE] = 2;
	assert_int_equal(v[0] + v[PAGE - 1] + v[2 * PAGE], 3);
	assert_int_equal(ntold, 0);
}

static void test_once(void)
{
	answer = true;
	watch(3, 2, true);
	v[3 * PAGE] = 1;
	v[3 * PAGE + 1] = v[3 * PAGE];
	assert_int_equal(ntold, 1);      /* open until it is named again */
	v[4 * PAGE] = 1;
	assert_int_equal(ntold, 2);
	watch(3, 2, true);
	v[3 * PAGE] = 1;
	assert_int_equal(ntold, 3);
	ws_watch_set(NULL, 0);
	v[3 * PAGE] = v[4 * PAGE];
	assert_int_equal(ntold, 3);
}

static void test_many(void)
{
	unsigned sum = 0;
	size_t i;

	watch(0, 1, true);
	for (i = 0; i < 1000; i++)
		sum += v[i]++ + 1u;
	assert_int_equal(sum, 1000);
	assert_true(ntold >= 1 && ntold <= 65);
	assert_true(!ONE_ACCESS || ntold == 65);
	ntold = 0;
	watch(0, 1, true);
	sum += v[0];
	assert_int_equal(ntold, 1);
}

/* From set to set the pages differ, and so does what counts. */
static void test_sets(void)
{
	struct ws_watch_page p[3] = {{mem->addr, true}, {mem->addr + 2 * PAGE, false}, {mem->addr + 3 * PAGE, true}};
	unsigned sum = 0;

	answer = true;
	ws_watch_set(p, 3);
	p[0].no_reads = false;
	p[1].no_reads = true;
	ws_watch_set(p, 2);
	sum += v[0];
	assert_int_equal(ntold, 0);
	sum += v[2 * PAGE];
	assert_int_equal(ntold, 1);
	v[3 * PAGE] = 1;
	assert_int_equal(ntold, 1);
	v[0] = 1;
	assert_int_equal(ntold, 2);
	assert_int_equal(sum, 0);
}

/* One access that touches two watched pages is told for both, and both are closed again. */
static void test_crossing(void)
{
	uint64_t value = 0x0102030405060708, back;
	void *at = (void *)(uintptr_t)(mem->addr + 2 * PAGE - 4);

	watch(1, 2, true);
	__builtin_memcpy(at, &value, 8);
	assert_int_equal(ntold, 2);
	__builtin_memcpy(&back, at, 8);
	assert_int_equal(back, value);
	assert_true(!ONE_ACCESS || ntold == 4);
}

static void test_copies(void)
{
	uint8_t data[8 * PAGE], back[8 * PAGE];
	size_t i, first = 0;

	for (i = 0; i < sizeof data; i++)
		data[i] = (uint8_t)(i * 7 + i / 256);
	watch(1, 6, true);
	memcpy((void *)(uintptr_t)mem->addr, data, sizeof data);
	assert_memory_equal(mem->host, data, sizeof data);
	for (i = 0; i < ntold; i++)
		first += told[i].addr == mem->addr + PAGE;
	assert_int_equal(first, 1);
	assert_true(ntold >= 6 && ntold <= 6 * 65);
	watch(1, 6, true);
	memcpy(back, (void *)(uintptr_t)mem->addr, sizeof back);
	assert_memory_equal(back, data, sizeof back);
}

#ifdef __x86_64__
/* A string instruction traps after every element. */
static void test_rep_movs(void)
{
	void *to = (void *)(uintptr_t)(mem->addr + PAGE), *from = (void *)(uintptr_t)(mem->addr + 3 * PAGE);
	size_t n = 2 * PAGE, i;

	for (i = 0; i < n; i++)
		mem->host[3 * PAGE + i] = (uint8_t)(i * 3);
	watch(1, 4, true);
	__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
	assert_memory_equal(mem->host + PAGE, mem->host + 3 * PAGE, 2 * PAGE);
	assert_true(ntold >= 4 && ntold <= 4 * 65);
}
#endif

/* ---- threads ---- */
enum { ROUNDS = 3000, SETS = 100 };
static bool stop;
static unsigned sets;

static void *count_up(void *arg)
{
	volatile uint32_t *at = arg;
	uintptr_t i;

	for (i = 0; i < ROUNDS || __atomic_load_n(&sets, __ATOMIC_ACQUIRE) < SETS; i++)
		at[i % 512 * 2]++;
	return (void *)i;
}

static void *set_again(void *arg)
{
	bool no_reads = false;

	while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
		pthread_mutex_lock(&told_lock);  /* what `touched` takes */
		watch(0, 2, no_reads = !no_reads);
		pthread_mutex_unlock(&told_lock);
		__atomic_add_fetch(&sets, 1, __ATOMIC_RELEASE);
		usleep(50);
	}
	return NULL;
}

static void test_threads(void)
{
	pthread_t counter[2], setter;
	uint32_t sum = 0, want = 0;
	void *n;
	size_t i;

	stop = false;
	sets = 0;
	assert_int_equal(pthread_create(&setter, NULL, set_again, NULL), 0);
	for (i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&counter[i], NULL, count_up, (void *)(uintptr_t)(mem->addr + i * 4)), 0);
	for (i = 0; i < 2; i++) {
		pthread_join(counter[i], &n);
		want += (uint32_t)(uintptr_t)n;
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELEASE);
	pthread_join(setter, NULL);
	for (i = 0; i < 1024; i++)
		sum += ((volatile uint32_t *)(void *)mem->host)[i];
	assert_int_equal(sum, want);
	assert_true(ntold > 2);
}

/* ---- the program's own handlers ---- */
static void own_handler(int sig)
{
	_exit(9);
}

static void test_own_handler(void)
{
	struct sigaction own = {.sa_handler = own_handler}, old;

	assert_int_equal(sigaction(SIGSEGV, &own, &old), 0);
	watch(0, 4, true);
	v[0] = 1;
	assert_int_equal(ntold, 0);
	assert_int_equal(sigaction(SIGSEGV, &old, NULL), 0);
	watch(0, 4, true);
	v[0] = 2;
	assert_int_equal(ntold, 1);
}

static void test_own_trap_handler(void)
{
	struct sigaction own = {.sa_handler = own_handler}, old;

	assert_int_equal(sigaction(SIGTRAP, &own, &old), 0);
	watch(0, 1, true);
	v[0] = 1;
	v[1] = 1;
	assert_int_equal(ntold, 1);      /* no step: open at the first touch */
	assert_int_equal(sigaction(SIGTRAP, &old, NULL), 0);
}

static void in_handler(int sig)
{
	v[5]++;
}

/* A handler that interrupts anything accesses watched memory. */
static void test_asynchronous_signal(void)
{
	struct sigaction act = {.sa_handler = in_handler}, old;
	unsigned i;

	sigfillset(&act.sa_mask);
	sigdelset(&act.sa_mask, SIGSEGV);
	sigdelset(&act.sa_mask, SIGTRAP);
	sigaction(SIGUSR1, &act, &old);
	for (i = 0; i < 50; i++) {
		watch(0, 1, true);
		raise(SIGUSR1);
		v[6]++;
	}
	sigaction(SIGUSR1, &old, NULL);
	assert_int_equal(v[5], 50);
	assert_int_equal(v[6], 50);
	assert_true(ntold >= 50);
}

/* ---- processes: this program again, with a word that says what to do ---- */
static int become(const char *what)
{
	volatile uintptr_t nowhere = 16;

	if (!start() || new_memory(NULL))
		return 100;
	watch(0, 2, true);
	v[0] = 1;
	if (ntold != 1)
		return 101;
	if (strcmp(what, "fault") == 0)
		*(volatile int *)nowhere = 1;
	else if (strcmp(what, "trap") == 0)
		raise(SIGTRAP);
	else if (strcmp(what, "beyond") == 0)    /* in the area, but nothing was ever there */
		*(volatile int *)(uintptr_t)(mem->addr + (UINT64_C(1) << 30)) = 1;
	else if (strcmp(what, "sent") == 0)
		kill(getpid(), SIGSEGV);
	return 102;
}

static int status_of(const char *what, bool own)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		fclose(stderr); /* of a sanitizer */
		execl("/proc/self/exe", "test_watch", what, own ? "own" : NULL, (char *)NULL);
		_exit(99);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static void dies_of(const char *what, int sig)
{
	int status = status_of(what, false);

#ifdef __SANITIZE_ADDRESS__
	if (sig == SIGSEGV) { /* its handler is the one that was there before */
		assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
		return;
	}
#endif
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), sig);
}

static void test_real_faults(void)
{
	static const char *const what[] = {"fault", "beyond", "sent"};
	size_t i;

	for (i = 0; i < WS_COUNT(what); i++) {
		dies_of(what[i], SIGSEGV);
		int status = status_of(what[i], true);
		assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 9);
	}
	dies_of("trap", SIGTRAP);
}

static void test_fork(void)
{
	int status;
	pid_t pid;

	watch(0, 2, true);
	pid = fork();
	if (pid == 0) {
		v[0] = 3;
		watch(0, 2, true);
		_exit(v[0] == 3 && ntold == 0 ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	v[1] = 1;
	assert_int_equal(ntold, 1);
}

/* ---- system calls ---- */
static void test_touch(void)
{
	watch(0, 4, true);
	ws_watch_touch((void *)(uintptr_t)(mem->addr + 100), PAGE, false);
	assert_int_equal(ntold, 1);
	is_told(0, 100, PAGE, false);
	v[0] = v[PAGE];
	assert_int_equal(ntold, 1);
	v[2 * PAGE] = 1;
	assert_int_equal(ntold, 2);
	ws_watch_touch(told, sizeof told, true);
	assert_int_equal(ntold, 2);
	watch(0, 4, false);
	ws_watch_touch((void *)(uintptr_t)mem->addr, 8, false);
	assert_int_equal(ntold, 2);
	ws_watch_touch((void *)(uintptr_t)mem->addr, 8, true);
	assert_int_equal(ntold, 3);
}

static void test_hold(void)
{
	void *at = (void *)(uintptr_t)(mem->addr + PAGE - 10);

	watch(0, 3, true);
	assert_true(ws_watch_hooks->hold(at, 20, true));
	v[0] = v[PAGE];
	watch(0, 3, true);      /* does not close it either */
	v[0] = v[PAGE];
	assert_int_equal(ntold, 0);
	errno = EPIPE;
	ws_watch_hooks->release(at, 20, true, 15);
	assert_int_equal(errno, EPIPE);
	assert_int_equal(ntold, 1);
	is_told(0, PAGE - 10, 15, true);
	v[0] = 1;
	assert_int_equal(ntold, 2);     /* closed again */
	assert_true(ws_watch_hooks->hold(at, 20, true));
	assert_true(ws_watch_hooks->hold(at, 1, true));
	ws_watch_hooks->release(at, 20, true, 0);
	v[0] = 2;
	assert_int_equal(ntold, 2);     /* the other one still holds it */
	v[PAGE] = 2;
	assert_int_equal(ntold, 3);
	answer = true;
	ws_watch_hooks->release(at, 1, true, 1);
	assert_int_equal(ntold, 4);
	v[0] = 2;
	assert_int_equal(ntold, 4);
	assert_false(ws_watch_hooks->hold(told, sizeof told, true));
	assert_false(ws_watch_hooks->hold(at, 0, true));
}

static void test_holds(void)
{
	struct ws_mem *d = ws_gpu_mem_new(gpu, 4096, 0, WS_MEM_DEVICE, "test");
	struct ws_mem *h = ws_gpu_mem_new(gpu, 8, 0, WS_MEM_HOST, "test");

	assert_true(ws_watch_holds(mem->addr));
	assert_true(ws_watch_holds(h->addr));
	assert_false(ws_watch_holds(d->addr));
	assert_false(ws_watch_holds((uintptr_t)&ntold));
	assert_false(ws_watch_start(gpu, touched, NULL));
	assert_true(ws_gpu_mem_free(gpu, d->addr));
	assert_true(ws_gpu_mem_free(gpu, h->addr));
}

/* cmocka has installed a handler of its own before each test, as a program may; here it is ours that is tested. */
static void run(void **state)
{
	void (*test)(void) = (void (*)(void))*state;

	sigaction(SIGSEGV, &ours, NULL);
	test();
}

#define TEST(f) {#f, run, new_memory, old_memory, (void *)f}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		TEST(test_read_and_write), TEST(test_only_writes), TEST(test_neighbours), TEST(test_once), TEST(test_many),
		TEST(test_sets), TEST(test_crossing), TEST(test_copies), TEST(test_threads), TEST(test_own_handler),
		TEST(test_own_trap_handler), TEST(test_asynchronous_signal), TEST(test_real_faults), TEST(test_fork),
		TEST(test_touch), TEST(test_hold), TEST(test_holds),
#ifdef __x86_64__
		TEST(test_rep_movs),
#endif
	};

	if (argc > 2) /* the program has a handler before ours is installed */
		signal(SIGSEGV, own_handler);
	if (argc > 1)
		return become(argv[1]);
	return start() ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
}

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
#include "src/cuda/shim_calls.c" /* the calls of this program are caught as those of a program under test are */

#ifdef __SANITIZE_ADDRESS__
/* Its handler is there before ours, and would have ours run on its alternate stack, which is small. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "use_sigaltstack=0";
}
#endif

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

/* Each access is told, until there are too many. */
static void test_many(void)
{
	unsigned sum = 0;
	size_t i;

	watch(0, 1, true);
	for (i = 0; i < 1000; i++)
		sum += v[i]++ + 1u;
	assert_int_equal(sum, 1000);
	assert_true(!ONE_ACCESS || ntold == 2000);
	for (i = 0; i < PAGE; i++)
		v[i] = 7;
	assert_true(!ONE_ACCESS || ntold == 4097);
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
	assert_true(ntold >= 6 && ntold <= 6 * 4096);
	watch(1, 6, true);
	memcpy(back, (void *)(uintptr_t)mem->addr, sizeof back);
	assert_memory_equal(back, data, sizeof back);
}

#ifdef __x86_64__
/* A string instruction tells all that it will do in a page; in a part of a page it is stopped at every element. */
static void test_rep_movs(void)
{
	void *to = (void *)(uintptr_t)(mem->addr + PAGE), *from = (void *)(uintptr_t)(mem->addr + 3 * PAGE);
	size_t n = PAGE + 100, i;

	for (i = 0; i < n; i++)
		mem->host[3 * PAGE + i] = (uint8_t)(i * 3);
	watch(1, 4, true);
	__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
	assert_memory_equal(mem->host + PAGE, mem->host + 3 * PAGE, PAGE + 100);
	is_told(0, 3 * PAGE, PAGE, false);
	is_told(1, PAGE, PAGE, true);
	is_told(2, 4 * PAGE, 100, false);
	is_told(3, 2 * PAGE, 100, true);
	is_told(ntold - 1, 2 * PAGE + 99, 1, true);
	assert_int_equal(ntold, 202);
	assert_int_equal(v[PAGE + 1], 3);
	assert_int_equal(ntold, 202);    /* all of it was told */
}

/* How many bytes an instruction accesses: offset of the operand from the register, bytes, read or write. The operand is
 * in the middle of a page, at its begin, and over its end. */
#define AS_IN_ALL_PLACES(text, offset, bytes, write)                                                                   \
	do {                                                                                                           \
		static const size_t places[] = {PAGE + 64, PAGE, 2 * PAGE - (bytes) + 1};                              \
		uint64_t a_ = 0, c_ = 2;                                                                               \
		size_t place_, first_;                                                                                 \
                                                                                                                       \
		for (place_ = 0; place_ < ((bytes) > 1 ? 3 : 2); place_++) {                                           \
			watch(1, 2, true);                                                                             \
			ntold = 0;                                                                                     \
			first_ = place_ == 2 ? (bytes) - 1 : (bytes);                                                  \
			__asm__ volatile(text                                                                          \
					 : "+a"(a_), "+c"(c_)                                                          \
					 : "r"(mem->addr + places[place_] - (offset))                                  \
					 : "memory", "cc", "r9", "r10", "r12", "r13", "xmm0", "xmm1", "xmm2");         \
			check_told(text, places[place_], first_, place_ == 2, write);                                  \
		}                                                                                                      \
	} while (0)

static void check_told(const char *text, size_t at, size_t bytes, bool crosses, bool write)
{
	size_t want = crosses ? 2 : 1;

	if (ntold == want && told[0].addr == mem->addr + at && told[0].bytes == bytes && told[0].write == write &&
	    (!crosses || (told[1].addr == mem->addr + 2 * PAGE && told[1].bytes == 1 && told[1].write == write)))
		return;
	fail_msg("'%s' at %zu: told %zu times, first %d bytes from %d on, %s", text, at, (size_t)ntold,
		 (int)told[0].bytes, (int)(told[0].addr - mem->addr), told[0].write ? "write" : "read");
}

static void test_sizes(void)
{
	AS_IN_ALL_PLACES("movb %%al, (%2)", 0, 1, true);
	AS_IN_ALL_PLACES("movw %%ax, 6(%2)", 6, 2, true);
	AS_IN_ALL_PLACES("movl %%eax, (%2,%%rcx,4)", 8, 4, true);
	AS_IN_ALL_PLACES("movq %%rax, 1000(%2)", 1000, 8, true);
	AS_IN_ALL_PLACES("movq -8(%2), %%rax", -8, 8, false);
	AS_IN_ALL_PLACES("movl $7, (%2)", 0, 4, true);
	AS_IN_ALL_PLACES("movw $7, (%2)", 0, 2, true);
	AS_IN_ALL_PLACES("movzbl (%2), %%eax", 0, 1, false);
	AS_IN_ALL_PLACES("movzwl (%2), %%eax", 0, 2, false);
	AS_IN_ALL_PLACES("movslq (%2), %%rax", 0, 4, false);
	AS_IN_ALL_PLACES("addl $1, (%2)", 0, 4, true);
	AS_IN_ALL_PLACES("lock addq $1, (%2)", 0, 8, true);
	AS_IN_ALL_PLACES("cmpl $1, (%2)", 0, 4, false);
	AS_IN_ALL_PLACES("testb $1, (%2)", 0, 1, false);
	AS_IN_ALL_PLACES("incq (%2)", 0, 8, true);
	AS_IN_ALL_PLACES("imull (%2), %%eax", 0, 4, false);
	AS_IN_ALL_PLACES("movq (%2), %%r9", 0, 8, false);
	AS_IN_ALL_PLACES("movq %2, %%r12; movl (%%r12), %%r9d", 0, 4, false);
	AS_IN_ALL_PLACES("movq %2, %%r13; movl (%%r13,%%rcx,2), %%r9d", 4, 4, false);
	AS_IN_ALL_PLACES("fldl (%2); fstp %%st(0)", 0, 8, false);
	AS_IN_ALL_PLACES("fldt (%2); fstp %%st(0)", 0, 10, false);
	AS_IN_ALL_PLACES("movss (%2), %%xmm0", 0, 4, false);
	AS_IN_ALL_PLACES("addsd (%2), %%xmm0", 0, 8, false);
	AS_IN_ALL_PLACES("movsd %%xmm0, 16(%2)", 16, 8, true);
	AS_IN_ALL_PLACES("movups (%2), %%xmm0", 0, 16, false);
	AS_IN_ALL_PLACES("movdqu %%xmm0, (%2)", 0, 16, true);
	AS_IN_ALL_PLACES("movq %%xmm0, (%2)", 0, 8, true);
	AS_IN_ALL_PLACES("movd (%2), %%xmm0", 0, 4, false);
	AS_IN_ALL_PLACES("cvtss2sd (%2), %%xmm0", 0, 4, false);
	AS_IN_ALL_PLACES("cvtsi2sdl (%2), %%xmm0", 0, 4, false);
	AS_IN_ALL_PLACES("movhps %%xmm0, (%2)", 0, 8, true);
	AS_IN_ALL_PLACES("xchgl %%eax, (%2)", 0, 4, true);
	AS_IN_ALL_PLACES("cmovel (%2), %%eax", 0, 4, false);
}

static void test_vector_sizes(void)
{
	if (__builtin_cpu_supports("avx2")) {
		AS_IN_ALL_PLACES("vmovdqu (%2), %%ymm0", 0, 32, false);
		AS_IN_ALL_PLACES("vmovups %%xmm0, (%2)", 0, 16, true);
		AS_IN_ALL_PLACES("movq %2, %%r10; vmovdqu %%ymm0, 8(%%r10)", 8, 32, true);
		AS_IN_ALL_PLACES("vpaddd (%2), %%ymm0, %%ymm1", 0, 32, false);
		AS_IN_ALL_PLACES("vaddsd (%2), %%xmm0, %%xmm1", 0, 8, false);
		AS_IN_ALL_PLACES("vbroadcastss (%2), %%ymm1", 0, 4, false);
		AS_IN_ALL_PLACES("vpmovzxbd (%2), %%ymm1", 0, 8, false);
		AS_IN_ALL_PLACES("vcvtps2pd (%2), %%ymm1", 0, 16, false);
		AS_IN_ALL_PLACES("vextracti128 $1, %%ymm1, (%2)", 0, 16, true);
		AS_IN_ALL_PLACES("vpcmpeqb (%2), %%ymm1, %%ymm2", 0, 32, false);
		AS_IN_ALL_PLACES("vpslld (%2), %%ymm1, %%ymm2", 0, 16, false);
	}
	if (__builtin_cpu_supports("fma"))
		AS_IN_ALL_PLACES("vfmadd231ss (%2), %%xmm1, %%xmm2", 0, 4, false);
	if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl")) {
		AS_IN_ALL_PLACES("vmovdqu64 (%2), %%zmm0", 0, 64, false);
		AS_IN_ALL_PLACES("vmovdqu32 %%zmm0, 128(%2)", 128, 64, true);
		AS_IN_ALL_PLACES("vmovdqu64 64(%2), %%ymm17", 64, 32, false);
		AS_IN_ALL_PLACES("vaddps (%2)%{1to16%}, %%zmm1, %%zmm2", 0, 4, false);
		AS_IN_ALL_PLACES("vaddsd 8(%2), %%xmm17, %%xmm17", 8, 8, false);
	}
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

/* Whole pages at once, which leaves them readable, beside threads that write there. */
static void *read_pages(void *arg)
{
	static uint8_t data[2 * PAGE];

	while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
#ifdef __x86_64__
		void *to = data, *from = arg;
		size_t n = sizeof data;

		__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
#else
		memcpy(data, arg, sizeof data);
#endif
	}
	return NULL;
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
	void *start_at[2] = {(void *)(uintptr_t)mem->addr, (void *)(uintptr_t)(mem->addr + 4)};
	pthread_t counter[2], setter, reader;
	uint32_t sum = 0, want = 0;
	void *n;
	size_t i;

	stop = false;
	sets = 0;
	assert_int_equal(pthread_create(&setter, NULL, set_again, NULL), 0);
	assert_int_equal(pthread_create(&reader, NULL, read_pages, start_at[0]), 0);
	for (i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&counter[i], NULL, count_up, start_at[i]), 0);
	for (i = 0; i < 2; i++) {
		pthread_join(counter[i], &n);
		want += (uint32_t)(uintptr_t)n;
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELEASE);
	pthread_join(setter, NULL);
	pthread_join(reader, NULL);
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
	assert_int_equal(sigaction(SIGSEGV, &own, &old), 0);     /* while pages are closed */
	v[PAGE] = 1;
	assert_int_equal(ntold, 1);
	assert_int_equal(sigaction(SIGSEGV, &old, NULL), 0);
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

static void (*on_trap)(int, siginfo_t *, void *);

/* As a virtual machine does now and then (KVM: the debug status register is another one's by then). */
static void trap_of_unknown_kind(int sig, siginfo_t *info, void *context)
{
	info->si_code = TRAP_BRKPT;
	on_trap(sig, info, context);
}

static void test_trap_of_unknown_kind(void)
{
	struct sigaction act, old;

	watch(0, 1, true);
	assert_int_equal(sigaction(SIGTRAP, NULL, &old), 0);
	act = old;
	on_trap = old.sa_sigaction;
	act.sa_sigaction = trap_of_unknown_kind;
	assert_int_equal(sigaction(SIGTRAP, &act, NULL), 0);
	v[0] = 1;
	v[1] = 1;
	assert_int_equal(sigaction(SIGTRAP, &old, NULL), 0);
	assert_int_equal(ntold, 1 + ONE_ACCESS);
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
/* More pages apart from each other than the system usually has mappings (vm.max_map_count is 65530): watched or not,
 * the program can access them all. */
static int too_many_mappings(void)
{
	enum { MANY = 70000 };
	struct ws_watch_page *pages = calloc(MANY, sizeof *pages);
	size_t i;

	mem = ws_gpu_mem_new(gpu, (uint64_t)2 * MANY * PAGE, 0, WS_MEM_MANAGED, "test");
	for (i = 0; i < MANY; i++)
		pages[i] = (struct ws_watch_page){mem->addr + 2 * i * PAGE, true};
	ws_watch_set(pages, MANY);
	v = (volatile uint8_t *)(uintptr_t)mem->addr;
	for (i = 0; i < 2 * MANY; i += 997) {
		v[i * PAGE] = 5;
		if (v[i * PAGE] != 5 || mem->host[i * PAGE] != 5)
			return 104;
	}
	ws_watch_set(pages, 1);
	v[0] = 6;
	free(pages);
	return mem->host[0] == 6 ? 8 : 105;
}

static int become(const char *what)
{
	static char small_stack[32 << 10];
	volatile uintptr_t nowhere = 16;

	if (strcmp(what, "small") == 0)
		sigaltstack(&(stack_t){.ss_sp = small_stack, .ss_size = sizeof small_stack}, NULL);
	if (!start() || new_memory(NULL))
		return 100;
	if (strcmp(what, "mappings") == 0)
		return too_many_mappings();
	if (strcmp(what, "small") == 0) {
		watch(0, 2, true);
		v[0] = 1;
		return v[0] == 1 && ntold == 0 ? 8 : 103;
	}
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

/* The program's handler wants a stack of its own, and the one that it gave is too small for what ours may do. */
static void test_small_stack(void)
{
	int status = status_of("small", true);

	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 8);
}

static void test_too_many_mappings(void)
{
	int status = status_of("mappings", false);

	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 8);
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
	uint64_t at = mem->addr + PAGE - 10;

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
	assert_false(ws_watch_hooks->hold((uintptr_t)told, sizeof told, true));
	assert_false(ws_watch_hooks->hold(at, 0, true));
}

static void *view(size_t offset)
{
	return (void *)(uintptr_t)(mem->addr + offset);
}

/* The kernel finds every buffer open, what was told is what it did transfer, and pages are closed afterwards. */
static void test_read_write(void)
{
	char text[] = "0123456789abcdef";
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	memcpy(mem->host + PAGE - 8, text, 16);
	watch(0, 2, true);
	assert_int_equal(write(ends[1], view(PAGE - 8), 16), 16);
	assert_int_equal(ntold, 1);
	is_told(0, PAGE - 8, 16, false);
	assert_int_equal(read(ends[0], view(PAGE - 4), 100), 16);
	assert_int_equal(ntold, 2);
	is_told(1, PAGE - 4, 16, true);
	assert_memory_equal(mem->host + PAGE - 4, text, 16);
	assert_int_equal(v[PAGE], '4');
	assert_int_equal(ntold, 3);
	watch(0, 2, false);
	assert_int_equal(write(ends[1], view(PAGE - 8), 16), 16);
	assert_int_equal(ntold, 3);
	errno = 0;
	assert_int_equal(read(-1, view(0), 16), -1);
	assert_int_equal(errno, EBADF);
	assert_int_equal(ntold, 3);
	close(ends[0]);
	close(ends[1]);
}

static void test_vectors(void)
{
	char first[4] = "abcd";
	struct iovec out[2] = {{first, 4}, {view(0), 8}}, in[3] = {{view(PAGE), 6}, {first, 4}, {view(2 * PAGE), 50}};
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	memcpy(mem->host, "efghijkl", 8);
	watch(0, 3, true);
	assert_int_equal(writev(ends[1], out, 2), 12);
	assert_int_equal(ntold, 1);
	is_told(0, 0, 8, false);
	assert_int_equal(readv(ends[0], in, 3), 12);
	assert_int_equal(ntold, 3);
	is_told(1, PAGE, 6, true);
	is_told(2, 2 * PAGE, 2, true);
	assert_memory_equal(mem->host + PAGE, "abcdef", 6);
	assert_memory_equal(first, "ghij", 4);
	assert_memory_equal(mem->host + 2 * PAGE, "kl", 2);
	close(ends[0]);
	close(ends[1]);
}

/* Large parts of a stream go to the system directly. */
static void test_streams(void)
{
	size_t n = 20 * PAGE, i;
	FILE *f = tmpfile();

	assert_non_null(f);
	for (i = 0; i < n; i++)
		mem->host[i] = (uint8_t)(i % 251);
	watch(0, 64, true);
	assert_int_equal(fwrite(view(0), 4, n / 4, f), n / 4);
	assert_int_equal(ntold, 1);
	is_told(0, 0, n, false);
	rewind(f);
	assert_int_equal(fread(view(30 * PAGE), 1, n + 5, f), n);
	assert_int_equal(ntold, 2);
	is_told(1, 30 * PAGE, n, true);
	assert_memory_equal(mem->host + 30 * PAGE, mem->host, n);
	assert_int_equal(pread(fileno(f), view(100), 2 * PAGE, 0), 2 * PAGE);
	assert_int_equal(ntold, 3);
	fclose(f);
	memset(mem->host, 'x', n - 1);
	mem->host[n - 1] = 0;
	f = fopen("/dev/null", "w");
	setvbuf(f, NULL, _IONBF, 0);
	watch(0, 64, true);
	answer = true;
	assert_true(fputs(view(0), f) >= 0);
	assert_true(ntold > 3);
	assert_false(ferror(f));
	fclose(f);
}

static void test_sockets(void)
{
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	memcpy(mem->host, "hello", 5);
	watch(0, 2, true);
	assert_int_equal(send(ends[0], view(0), 5, 0), 5);
	assert_int_equal(recv(ends[1], view(PAGE), 100, 0), 5);
	assert_int_equal(ntold, 2);
	is_told(0, 0, 5, false);
	is_told(1, PAGE, 5, true);
	assert_memory_equal(mem->host + PAGE, "hello", 5);
	close(ends[0]);
	close(ends[1]);
}

static void *slow_writer(void *arg)
{
	int fd = *(int *)arg, i;

	for (i = 0; i < 20; i++) {
		usleep(1000);
		watch(0, 2, true);
	}
	assert_int_equal(write(fd, "late", 4), 4);
	return NULL;
}

/* The page is named anew while the kernel waits with its buffer in it. */
static void test_blocked_in_read(void)
{
	pthread_t thread;
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	watch(0, 2, true);
	assert_int_equal(pthread_create(&thread, NULL, slow_writer, &ends[1]), 0);
	assert_int_equal(read(ends[0], view(8), 4), 4);
	pthread_join(thread, NULL);
	assert_memory_equal(mem->host + 8, "late", 4);
	assert_int_equal(ntold, 1);
	is_told(0, 8, 4, true);
	v[0] = 1;
	assert_int_equal(ntold, 2);
	close(ends[0]);
	close(ends[1]);
}

/* A thread that blocks all signals would die of a fault. */
static void *blocks_all(void *arg)
{
	sigset_t all, now;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	v[0] = 1;
	pthread_sigmask(SIG_SETMASK, NULL, &now);
	assert_true(sigismember(&now, SIGUSR1));
	return NULL;
}

static void test_blocked_signals(void)
{
	pthread_t thread;

	watch(0, 1, true);
	assert_int_equal(pthread_create(&thread, NULL, blocks_all, NULL), 0);
	pthread_join(thread, NULL);
	assert_int_equal(ntold, 1);
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
	ws_watch_set(&(struct ws_watch_page){(uintptr_t)told & ~(uint64_t)(PAGE - 1), true}, 1);
	told[0].bytes = 1;      /* left out */
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

#define CASE(f) {#f, run, new_memory, old_memory, (void *)f}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		CASE(test_read_and_write), CASE(test_only_writes), CASE(test_neighbours),
		CASE(test_once), CASE(test_many), CASE(test_sets), CASE(test_crossing), CASE(test_copies),
		CASE(test_threads), CASE(test_own_handler), CASE(test_own_trap_handler),
		CASE(test_trap_of_unknown_kind), CASE(test_asynchronous_signal), CASE(test_real_faults), CASE(test_small_stack),
		CASE(test_too_many_mappings), CASE(test_fork),
		CASE(test_touch), CASE(test_read_write), CASE(test_vectors), CASE(test_streams), CASE(test_sockets),
		CASE(test_blocked_in_read), CASE(test_blocked_signals), CASE(test_hold), CASE(test_holds),
#ifdef __x86_64__
		CASE(test_rep_movs), CASE(test_sizes), CASE(test_vector_sizes),
#endif
	};

	setenv("WARPSAFE_OPTIONS", "verb=race\n", 1);
	if (argc > 2) /* the program has a handler before ours is installed */
		sigaction(SIGSEGV, &(struct sigaction){.sa_handler = own_handler, .sa_flags = SA_ONSTACK}, NULL);
	if (argc > 1)
		return become(argv[1]);
	return start() ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
}

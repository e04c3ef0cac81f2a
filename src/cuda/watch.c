/* watch.c - accesses of the host program to memory in flight, noticed by page protection; see watch.h.
 *
 * A page that is watched is closed: PROT_READ where only writes of the program count, PROT_NONE where reads do, too. An
 * access then raises SIGSEGV. The handler tells of it and opens the page, for good (until the next ws_watch_set) or for
 * one instruction: it sets the trap flag of the interrupted thread, and the SIGTRAP after that instruction closes the
 * page again.
 *
 * One mutex guards the table of pages. It is never held while `touched` runs, never while the program's view is
 * accessed, and signals that may interrupt anything are blocked while it is held: so a fault never waits for its own
 * thread. */
#include "cuda/watch.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "cuda/fault.h"
#include "cuda/session.h"
#include "report/keep.h"

#if defined(__x86_64__) && defined(__linux__)
#define CAN_STEP 1
#else
#define CAN_STEP 0
#endif

enum {
	PAGE = WS_WATCH_PAGE,
	/* A step takes 5 to 40 microseconds. A page may take many between two ws_watch_set, few once the program has
	 * spent a second on them, and none after four: then it is open from the first touch on. */
	MANY_STEPS = 4096,
	FEW_STEPS = 64,
	FREE_STEPS = 30000,
	MOST_STEPS = 100000,
	MOST_PAGES = 8,          /* open for one instruction: the most that one accesses but for gathers */
	MOST_RETRIES = 1000,     /* of an access that faults though nothing is closed: then it is not ours */
	LEAST_STACK = 64 << 10,  /* for `touched`; an alternate signal stack of the program may be smaller */
	OPENED = PROT_READ | PROT_WRITE,
	TRAP_FLAG = 0x100,       /* in the flags register: Intel SDM vol. 1, 3.4.3 */
	DIRECTION_FLAG = 0x400,
	ERR_WRITE = 2,           /* in the error code of a page fault: Intel SDM vol. 3, 4.7 */
};

enum state { CLOSED, OPEN /* until the next set */, STEPPING /* for one instruction */, HELD /* for a system call */ };

struct page {
	uint64_t addr;
	bool no_reads;
	uint16_t steps;
	enum state state;
	uint32_t users;          /* instructions that it is open for */
};

struct stretch {
	uint64_t from, to;
	bool write;
};

static struct {
	pthread_mutex_t lock;
	struct ws_gpu *gpu;
	ws_watch_touched *touched;       /* NULL: not started */
	void *user;
	struct page *pages, *spare;      /* sorted by address; spare: where the next table is made */
	size_t n, cap, nspare, cap_spare;
	bool dirty;                      /* some page is not closed, or has taken steps */
	uint64_t round;                  /* of ws_watch_set */
	struct stretch *holds;           /* buffers of system calls in progress */
	size_t nholds, cap_holds;
	struct sigaction former_segv, former_trap;
	bool can_step;
	uint32_t steps;                  /* of all pages, ever */
	bool off;                        /* for good */
	sigset_t mask_at_fork;
} w = {.lock = PTHREAD_MUTEX_INITIALIZER};

static __thread struct {
	unsigned armed;                  /* traps to come */
	unsigned n;
	struct {
		uint64_t addr, round;
	} open[MOST_PAGES];              /* pages that this thread has open for one instruction */
	uint64_t ip, addr;               /* of a fault for which nothing was to be done */
	unsigned retries;
	bool passing_on;                 /* a signal that is not ours */
} me;

const struct ws_watch_hooks *ws_watch_hooks;
bool ws_watch_calls_caught;

static void limit(const char *text)
{
	struct ws_session *s = ws_session_if_any();

	if (!s)
		return;
	ws_report_limit(s->report, text);
	ws_keep_touch();
}

/* ---- the lock ---- */
static void lock(sigset_t *old)
{
	sigset_t all;

	sigfillset(&all);
	sigdelset(&all, SIGSEGV); /* blocked, they would kill */
	sigdelset(&all, SIGTRAP);
	pthread_sigmask(SIG_BLOCK, &all, old);
	pthread_mutex_lock(&w.lock);
}

static void unlock(const sigset_t *old)
{
	pthread_mutex_unlock(&w.lock);
	pthread_sigmask(SIG_SETMASK, old, NULL);
}

static bool is_ours(uint64_t addr)
{
	uint64_t base, end;

	return w.touched && ws_gpu_host_views(w.gpu, &base, &end) && addr >= base && addr < end;
}

/* ---- protection ---- */
static int protection(const struct page *p)
{
	return p->state != CLOSED ? OPENED : p->no_reads ? PROT_NONE : PROT_READ;
}

static bool protect(uint64_t from, uint64_t to, int prot)
{
	return mprotect((void *)(uintptr_t)from, to - from, prot) == 0;
}

/* The system has no room for more mappings (a page protected apart from its neighbours takes two). One call over
 * everything needs none. */
static void give_up(void)
{
	uint64_t base, end;

	if (ws_gpu_host_views(w.gpu, &base, &end) && base < end)
		protect(base, end, OPENED);
	__atomic_store_n(&w.n, 0, __ATOMIC_RELEASE);
	w.off = true;
	limit("accesses of the host to managed memory are no longer checked: the system allows no more memory mappings "
	      "(vm.max_map_count)");
}

/* Neighbouring pages that shall have the same protection, from the first that changes to the last that does. */
struct run {
	uint64_t from, to, seen; /* seen: pages up to there shall have it, too */
	int want;
	bool failed;
};

static void end_run(struct run *r)
{
	if (r->from < r->to && !r->failed)
		r->failed = !protect(r->from, r->to, r->want);
	r->from = r->to = r->seen = 0;
}

static void add_page(struct run *r, uint64_t addr, int now, int want)
{
	bool goes_on = r->from < r->to && addr == r->seen && want == r->want;

	if (now != want && !goes_on) {
		end_run(r);
		r->from = addr;
		r->want = want;
		goes_on = true;
	}
	if (now != want)
		r->to = addr + PAGE;
	if (goes_on)
		r->seen = addr + PAGE;
}

/* The first page at or after addr. */
static size_t lower(const struct page *pages, size_t n, uint64_t addr)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (pages[mid].addr < addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static struct page *find(uint64_t addr)
{
	uint64_t page = addr & ~(uint64_t)(PAGE - 1);
	size_t i = lower(w.pages, w.n, page);

	return i < w.n && w.pages[i].addr == page ? &w.pages[i] : NULL;
}

static void change_page(struct page *p, enum state state)
{
	int now = protection(p);

	p->state = state;
	w.dirty = true;
	if (protection(p) != now && !protect(p->addr, p->addr + PAGE, protection(p)))
		give_up();
}

/* The watched pages that [from, to) touches: *end is the one after the last. */
static size_t pages_of(uint64_t from, uint64_t to, size_t *end)
{
	*end = lower(w.pages, w.n, to);
	return lower(w.pages, w.n, from & ~(uint64_t)(PAGE - 1));
}

static bool is_held(const struct page *p)
{
	size_t i;

	for (i = 0; i < w.nholds; i++)
		if (w.holds[i].from < p->addr + PAGE && w.holds[i].to > p->addr && (w.holds[i].write || p->no_reads))
			return true;
	return false;
}

/* ---- the set of watched pages ---- */
static bool is_same(const struct ws_watch_page *pages, size_t n)
{
	size_t i;

	if (n != w.n || w.dirty)
		return false;
	for (i = 0; i < n; i++)
		if (pages[i].addr != w.pages[i].addr || pages[i].no_reads != w.pages[i].no_reads)
			return false;
	return true;
}

static void mark_held(struct page *pages, size_t n)
{
	size_t i;

	for (i = 0; w.nholds && i < n; i++)
		if (is_held(&pages[i])) {
			pages[i].state = HELD;
			w.dirty = true;
		}
}

/* Protects what differs between the old table and the new one. */
static bool go_over(const struct page *old, size_t nold, const struct page *new, size_t nnew)
{
	struct run r = {0};
	size_t i = 0, k = 0;

	while (i < nold || k < nnew) {
		bool in_old = i < nold && (k == nnew || old[i].addr <= new[k].addr);
		bool in_new = k < nnew && (i == nold || new[k].addr <= old[i].addr);

		add_page(&r, in_old ? old[i].addr : new[k].addr, in_old ? protection(&old[i]) : OPENED,
			 in_new ? protection(&new[k]) : OPENED);
		i += in_old;
		k += in_new;
	}
	end_run(&r);
	return !r.failed;
}

static void change_set(const struct ws_watch_page *pages, size_t n)
{
	struct page *old = w.pages;
	size_t i, nold = w.n, cap = w.cap;

	w.nspare = 0;
	for (i = 0; i < n; i++)
		if (is_ours(pages[i].addr))
			*WS_PUSH(w.spare, w.nspare, w.cap_spare) =
				(struct page){.addr = pages[i].addr, .no_reads = pages[i].no_reads};
	w.round++;
	w.dirty = false;
	n = w.nspare;
	mark_held(w.spare, n);
	w.pages = w.spare;
	w.cap = w.cap_spare;
	w.spare = old;
	w.cap_spare = cap;
	__atomic_store_n(&w.n, n, __ATOMIC_RELEASE);
	if (!go_over(old, nold, w.pages, n))
		give_up();
}

static void on_segv(int sig, siginfo_t *info, void *context);
static void on_trap(int sig, siginfo_t *info, void *context);

static bool is_handler(int sig, void (*handler)(int, siginfo_t *, void *))
{
	struct sigaction now;

	return sigaction(sig, NULL, &now) == 0 && (now.sa_flags & SA_SIGINFO) && now.sa_sigaction == handler;
}

static const char replaced[] =
	"accesses of the host to managed memory are not checked: the program has its own SIGSEGV handler";

void ws_watch_set(const struct ws_watch_page *pages, size_t n)
{
	bool ours;
	sigset_t old;

	if (!w.touched || (!n && !__atomic_load_n(&w.n, __ATOMIC_ACQUIRE)))
		return;
	ours = !n || is_handler(SIGSEGV, on_segv);
	if (!ours)
		limit(replaced);
	lock(&old);
	if (!ours || w.off)
		n = 0;
	w.can_step = CAN_STEP && n && is_handler(SIGTRAP, on_trap);
	if (!is_same(pages, n))
		change_set(pages, n);
	unlock(&old);
}

/* ---- faults ---- */
bool ws_watch_holds(uint64_t addr)
{
	return is_ours(addr);
}

static uint64_t place_of(const ucontext_t *u)
{
#if CAN_STEP
	return (uint64_t)u->uc_mcontext.gregs[REG_RIP];
#else
	return 0;
#endif
}

/* Where the processor does not say what kind of access it was: the first is a read, as far as reads count; then the
 * page may be read, and a write faults again. */
static bool is_write(const struct page *p, const ucontext_t *u)
{
#if CAN_STEP
	return u->uc_mcontext.gregs[REG_ERR] & ERR_WRITE;
#else
	return !p->no_reads;
#endif
}

/* How many bytes from addr on the interrupted instruction accesses in its page. */
static uint64_t bytes_of(uint64_t addr, bool write, const ucontext_t *u)
{
	uint64_t n = 1, left = PAGE - addr % PAGE;
#if CAN_STEP
	static const int order[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
				    REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
	const greg_t *g = u->uc_mcontext.gregs;
	uint64_t regs[WS_COUNT(order)];
	size_t i;

	for (i = 0; i < WS_COUNT(order); i++)
		regs[i] = (uint64_t)g[order[i]];
	n = ws_fault_bytes(&(struct ws_fault){.code = (const uint8_t *)g[REG_RIP],
						.regs = regs,
						.backwards = g[REG_EFL] & DIRECTION_FLAG,
						.fault = addr,
						.write = write});
#endif
	return n < left ? n : left;
}

static bool may_step(const struct page *p)
{
	return p->steps < (w.steps < FREE_STEPS ? MANY_STEPS : w.steps < MOST_STEPS ? FEW_STEPS : 0);
}

/* Opens the page for the instruction at which the thread was interrupted. */
static bool step(struct page *p, ucontext_t *u)
{
#if CAN_STEP
	if (!w.can_step || !may_step(p) || me.n == MOST_PAGES)
		return false;
	p->steps++;
	w.steps++;
	p->users++;
	change_page(p, STEPPING);
	me.open[me.n].addr = p->addr;
	me.open[me.n++].round = w.round;
	if (!(u->uc_mcontext.gregs[REG_EFL] & TRAP_FLAG))
		me.armed++;
	u->uc_mcontext.gregs[REG_EFL] |= TRAP_FLAG;
	return true;
#else
	return false;
#endif
}

static void let_read(struct page *p)
{
	p->state = CLOSED; /* who is stepping over it faults again if that was a write */
	p->users = 0;
	p->no_reads = false;
	w.dirty = true;
	if (!protect(p->addr, p->addr + PAGE, PROT_READ))
		give_up();
}

/* An access that was told, with no race. Where it was all of the page (a string instruction), another one like it would
 * tell nothing new. */
static void let_pass(struct page *p, uint64_t bytes, bool write, ucontext_t *u)
{
	if (bytes == PAGE && write)
		change_page(p, OPEN);
	else if (!write && (bytes == PAGE || !CAN_STEP))
		let_read(p);
	else if (!step(p, u)) {
		change_page(p, OPEN);
		limit("some accesses of the host to managed memory are not checked: too many beside memory in flight");
	}
}

static bool counts(const struct page *p, bool write)
{
	return (p->state == CLOSED || p->state == STEPPING) && (write || p->no_reads);
}

/* The page was opened by another thread since the fault: the access will succeed now. If it does not, somebody else has
 * protected the page. */
static bool retry(uint64_t ip, uint64_t addr)
{
	me.retries = me.ip == ip && me.addr == addr ? me.retries + 1 : 0;
	me.ip = ip;
	me.addr = addr;
	return me.retries < MOST_RETRIES;
}

/* Does the handler run on an alternate stack that is too small for `touched`? */
static bool is_stack_small(const ucontext_t *u)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0), stack = (uintptr_t)u->uc_stack.ss_sp;

	return !(u->uc_stack.ss_flags & SS_DISABLE) && here - stack < u->uc_stack.ss_size &&
	       u->uc_stack.ss_size < LEAST_STACK;
}

static bool tell(uint64_t addr, uint64_t bytes, bool write, const ucontext_t *u)
{
	if (!is_stack_small(u))
		return w.touched(w.user, addr, bytes, write);
	limit("some accesses of the host to managed memory are not checked: the program has a signal stack that is "
	      "too small");
	return true;
}

/* false: not ours */
static bool handle(uint64_t addr, ucontext_t *u)
{
	bool write, for_good;
	uint64_t bytes;
	struct page *p;

	pthread_mutex_lock(&w.lock);
	p = find(addr);
	write = p && is_write(p, u);
	if (!p || !counts(p, write)) {
		pthread_mutex_unlock(&w.lock);
		return retry(place_of(u), addr);
	}
	pthread_mutex_unlock(&w.lock);
	bytes = bytes_of(addr, write, u);
	for_good = tell(addr, bytes, write, u);
	pthread_mutex_lock(&w.lock);
	p = find(addr); /* the table may be another one by now */
	if (p && counts(p, write) && for_good)
		change_page(p, OPEN);
	else if (p && counts(p, write))
		let_pass(p, bytes, write, u);
	pthread_mutex_unlock(&w.lock);
	return true;
}

static void close_again(uint64_t addr, uint64_t round)
{
	struct page *p = round == w.round ? find(addr) : NULL;

	if (p && p->state == STEPPING && (!p->users || --p->users == 0))
		change_page(p, CLOSED);
}

/* ---- signals ---- */
/* A signal that is not ours goes on to the handler that was there before. */
static void pass_on(int sig, siginfo_t *info, void *context, const struct sigaction *former)
{
	struct sigaction act = {.sa_handler = SIG_DFL};

	me.passing_on = true;
	if (former->sa_flags & SA_SIGINFO) {
		former->sa_sigaction(sig, info, context);
	} else if (former->sa_handler != SIG_DFL && former->sa_handler != SIG_IGN) {
		former->sa_handler(sig);
	} else {
		sigaction(sig, &act, NULL);
		if (info->si_code <= 0 || sig == SIGTRAP) /* a fault comes again by itself */
			raise(sig);
	}
	me.passing_on = false;
}

static void on_segv(int sig, siginfo_t *info, void *context)
{
	int saved = errno;
	uint64_t addr = (uintptr_t)info->si_addr;

	me.passing_on = false; /* a handler may have left by longjmp */
	if (info->si_code <= 0 || !is_ours(addr) || !handle(addr, context))
		pass_on(sig, info, context, &w.former_segv);
	errno = saved;
}

#if CAN_STEP
/* Is a SIGTRAP the end of a step? In virtual machines a step's trap now and then comes without its reason, as the debug status register was lost
 * on the way (seen with KVM on a busy machine). The kernel says TRAP_BRKPT of it then; a breakpoint of the program's is SI_KERNEL. */
static bool is_step(const siginfo_t *info)
{
	return me.armed && (info->si_code == TRAP_TRACE || info->si_code == TRAP_BRKPT);
}
#endif

static void on_trap(int sig, siginfo_t *info, void *context)
{
	int saved = errno;
#if CAN_STEP
	ucontext_t *u = context;

	if (is_step(info)) {
		pthread_mutex_lock(&w.lock);
		while (me.n) {
			me.n--;
			close_again(me.open[me.n].addr, me.open[me.n].round);
		}
		pthread_mutex_unlock(&w.lock);
		me.armed--;
		u->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)TRAP_FLAG;
		errno = saved;
		return;
	}
#endif
	pass_on(sig, info, context, &w.former_trap);
	errno = saved;
}

/* Nothing that may come at any time interrupts the handler, for the program's own handlers may fault, too. SA_ONSTACK
 * only where the program has it: that for a stack overflow, and a small stack then, see is_stack_small. */
static void install(int sig, void (*handler)(int, siginfo_t *, void *), struct sigaction *former)
{
	struct sigaction act = {.sa_sigaction = handler};

	sigaction(sig, NULL, former);
	act.sa_flags = SA_SIGINFO | (former->sa_flags & SA_ONSTACK);
	sigfillset(&act.sa_mask);
	sigdelset(&act.sa_mask, SIGBUS);
	sigdelset(&act.sa_mask, SIGFPE);
	sigdelset(&act.sa_mask, SIGILL);
	sigdelset(&act.sa_mask, SIGABRT);
	sigaction(sig, &act, NULL);
}

/* ---- buffers of system calls ---- */
static bool any_counts(uint64_t from, uint64_t to, bool write)
{
	size_t end, i = pages_of(from, to, &end);

	for (; i < end; i++)
		if (counts(&w.pages[i], write) || (w.pages[i].state == HELD && (write || w.pages[i].no_reads)))
			return true;
	return false;
}

/* For the pages of a stretch: those that an access of that kind would fault at become open or held; or those that were
 * held, and are no longer, become open or closed. */
static void change_pages(const struct stretch *s, bool held, enum state to)
{
	size_t end, i = pages_of(s->from, s->to, &end);
	struct run r = {0};

	for (; i < end; i++) {
		struct page *p = &w.pages[i];
		int now = protection(p);

		if (held ? p->state != HELD || is_held(p) : !counts(p, s->write))
			continue;
		p->state = to;
		p->users = 0;
		add_page(&r, p->addr, now, protection(p));
		w.dirty = true;
	}
	end_run(&r);
	if (r.failed)
		give_up();
}

static bool is_watched(const struct stretch *s)
{
	return s->from < s->to && (is_ours(s->from) || is_ours(s->to - 1));
}

void ws_watch_touch(const void *p, size_t n, bool write)
{
	struct stretch s = {(uintptr_t)p, (uintptr_t)p + n, write};
	sigset_t old;
	bool told;

	if (!__atomic_load_n(&w.n, __ATOMIC_ACQUIRE) || !is_watched(&s))
		return;
	lock(&old);
	told = any_counts(s.from, s.to, write);
	unlock(&old);
	if (!told)
		return;
	w.touched(w.user, s.from, n, write);
	lock(&old);
	change_pages(&s, false, OPEN);
	unlock(&old);
}

static bool hold(uint64_t addr, size_t n, bool write)
{
	struct stretch s = {addr, addr + n, write};
	sigset_t old;

	if (!is_watched(&s))
		return false;
	lock(&old);
	*WS_PUSH(w.holds, w.nholds, w.cap_holds) = s;
	change_pages(&s, false, HELD);
	unlock(&old);
	return true;
}

static bool forget_hold(const struct stretch *s)
{
	struct stretch *h = w.holds, *end = w.holds + w.nholds;

	while (h < end && !(h->from == s->from && h->to == s->to && h->write == s->write))
		h++;
	if (h == end)
		return false;
	*h = w.holds[--w.nholds];
	return true;
}

static void release(uint64_t addr, size_t n, bool write, size_t done)
{
	struct stretch s = {addr, addr + n, write};
	bool told, for_good;
	int saved = errno;
	sigset_t old;

	lock(&old);
	if (!forget_hold(&s)) {
		unlock(&old);
		return;
	}
	told = done && any_counts(s.from, s.from + done, write);
	unlock(&old);
	for_good = told && w.touched(w.user, s.from, done, write);
	lock(&old);
	change_pages(&s, true, for_good ? OPEN : CLOSED);
	unlock(&old);
	errno = saved;
}

static void handler_changes(int sig)
{
	sigset_t old;

	if (sig != SIGSEGV || me.passing_on || !__atomic_load_n(&w.n, __ATOMIC_ACQUIRE))
		return;
	lock(&old);
	change_set(NULL, 0);
	unlock(&old);
	limit(replaced);
}

/* ---- start and fork ---- */
static void before_fork(void)
{
	sigset_t old;

	lock(&old);
	w.mask_at_fork = old;
}

static void after_fork(void)
{
	sigset_t old = w.mask_at_fork;

	unlock(&old);
}

/* The child cannot use the GPU, so nothing is in flight for it. */
static void in_child(void)
{
	change_set(NULL, 0);
	w.off = true;
	w.nholds = 0;
	after_fork();
}

bool ws_watch_start(struct ws_gpu *gpu, ws_watch_touched *touched, void *user)
{
	static const struct ws_watch_hooks hooks = {ws_watch_holds, hold, release, handler_changes};
	uint64_t base, end;

	if (w.touched || !ws_watch_calls_caught || !ws_gpu_host_views(gpu, &base, &end))
		return false;
	w.gpu = gpu;
	w.user = user;
	__atomic_store_n(&w.touched, touched, __ATOMIC_RELEASE);
	install(SIGTRAP, on_trap, &w.former_trap);
	install(SIGSEGV, on_segv, &w.former_segv);
	pthread_atfork(before_fork, after_fork, in_child);
	__atomic_store_n(&ws_watch_hooks, &hooks, __ATOMIC_RELEASE);
	return true;
}

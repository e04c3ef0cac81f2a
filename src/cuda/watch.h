/* watch.h - notices accesses of the host program to managed and pinned memory while device work on it is in flight.
 *
 * The program's view of that memory (gpu/mem.h: two views) is protected page by page; an access of the program then
 * faults, and the handler of SIGSEGV tells `touched` of it, synchronously, on the thread and at the place of the
 * access. Our own accesses go through ws_mem.host and are never noticed. Memory registered by the program
 * (cudaHostRegister) is not watched.
 *
 * What a user of this file must know:
 *  - `touched` runs inside a signal handler, but a synchronous one: it may take mutexes, allocate, walk the stack of
 *    the program and write reports. It must not read or write the program's view of watched memory, must not call
 *    ws_watch_set, and must return (no longjmp).
 *  - No lock of this file is held while `touched` runs; ws_watch_set may be called with a lock held that `touched`
 *    takes.
 *  - A thread that holds the lock which `touched` takes must not access the program's view: neither by calling the
 *    program's functions (host functions, callbacks) nor by writing results through pointers that the program gave, for
 *    these may point into managed memory.
 *  - The one exception that nobody can rule out is a handler of the program for an asynchronous signal: it may
 *    interrupt a thread anywhere. While a thread holds that lock it shall be marked so (a thread-local flag), and
 *    `touched` shall return true at once where the mark is set.
 *  - A fault tells what its instruction accesses for certain (x86-64: all bytes of most instructions, fault.h;
 *    elsewhere the first byte). Bytes in the next page are told by the fault there. System calls tell the whole stretch
 *    that they transferred.
 *  - A page is opened for one instruction at most 4096 times between two sets (64 when the program has gone through
 *    many, 0 when very many); after that it stays open, and the report says so as a limit. On other processors than
 *    x86-64 it is opened at the first touch.
 *  - While a page is open for one instruction of one thread, or for a system call, accesses of other threads to it pass
 *    unnoticed.
 *  - Not caught, so that they fail with EFAULT where their buffer lies in a closed page: calls of the system that the
 *    preload does not know (shim_calls.c lists what it knows), such as ioctl. */
#ifndef WS_WATCH_H
#define WS_WATCH_H

#include <signal.h>
#include "gpu/gpu.h"

#define WS_WATCH_PAGE 4096u

struct ws_watch_page {
	uint64_t addr;   /* in the program's view; a multiple of WS_WATCH_PAGE */
	bool no_reads;   /* the device may be writing there: reads of the host are told, too; else only writes are */
};

/* Told of an access of the program to [addr, addr + bytes). true: a race was told, or nobody cares any more: the page
 * is left open until the next ws_watch_set that names it. false: the page is open for this one access only. */
typedef bool ws_watch_touched(void *user, uint64_t addr, uint64_t bytes, bool write);

/* Once a process, after the handlers of the session itself are installed: whatever is not ours goes on to the handlers
 * found here. false, and nothing was done: this gpu's memory has one view only (ws_gpu_host_views), or the program was
 * started without the preload, so that its system calls cannot be caught. */
bool ws_watch_start(struct ws_gpu *gpu, ws_watch_touched *touched, void *user);

/* From now on exactly these pages are watched: sorted by address, each once; pages that
 * cannot be watched (ws_watch_holds) are left out. A page that was opened before and is named again is closed again.
 * pages may be freed afterwards. Any thread. Costs next
 * to nothing when n is 0 and was 0, little when nothing has changed, else a system call for each run of neighbouring
 * pages that change alike. Does nothing before ws_watch_start. */
void ws_watch_set(const struct ws_watch_page *pages, size_t n);

/* For memory that the kernel or we ourselves access on behalf of the program at the program's addresses: told to
 * `touched` at once where it is watched, and opened until the next ws_watch_set that names its pages. */
void ws_watch_touch(const void *p, size_t n, bool write);

/* Is addr managed or pinned memory that can be watched? false before ws_watch_start. */
bool ws_watch_holds(uint64_t addr);

/* ---- for libwarpsafe-preload.so, which catches calls of the C library by the program ---- */
/* The kernel's own access to a protected page would fail with EFAULT. So the pages of a system call's buffer are opened
 * before and held open, also against ws_watch_set, until it has returned; what it did transfer is told then. */
struct ws_watch_hooks {
	bool (*can_watch)(uint64_t addr); /* ws_watch_holds */
	/* Opens [addr, addr + n) for an access of that kind. false: nothing to do, and release shall not be called. */
	bool (*hold)(uint64_t addr, size_t n, bool write);
	/* Ends that (the same arguments; nothing where hold gave false); the first `done` bytes (0: none) were
	 * accessed. Keeps errno. */
	void (*release)(uint64_t addr, size_t n, bool write, size_t done);
	/* The program installs a handler of its own for signal sig: everything is opened. */
	void (*handler_changes)(int sig);
};
/* Those calls are caught; without that nothing is watched. */
__attribute__((visibility("default"))) extern bool ws_watch_calls_caught;
/* NULL until ws_watch_start. */
__attribute__((visibility("default"))) extern const struct ws_watch_hooks *ws_watch_hooks;

#endif

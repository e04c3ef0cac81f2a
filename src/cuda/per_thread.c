/* per_thread.c - entry points of programs compiled for a default stream per thread (nvcc --default-stream per-thread): each
 * leaves a mark for the call that it goes on to, where stream 0 then is the thread's own (CUDA Runtime API, Stream
 * synchronization behavior). Jumps, so that the arguments stay where they are. */
#include "cuda/rt.h"

_Thread_local bool ws_call_per_thread __attribute__((tls_model("initial-exec"), used, visibility("hidden")));

#define HEAD(name) ".text\n.p2align 4\n.globl ws_" #name "\n.type ws_" #name ", @function\nws_" #name ":\n"
#define TAIL(name) ".size ws_" #name ", .-ws_" #name "\n"
#if defined(__x86_64__)
#define PT(name, to) __asm__(HEAD(name) "\tmovq ws_call_per_thread@gottpoff(%rip), %rax\n\tmovb $1, %fs:(%rax)\n" \
	"\tjmp ws_" #to "\n" TAIL(name));
#elif defined(__aarch64__)     /* x16 and x17 are free between functions (AAPCS64); the low byte of sp + 1 is 1 */
#define PT(name, to) __asm__(HEAD(name) "\tmrs x16, tpidr_el0\n\tadrp x17, :gottprel:ws_call_per_thread\n" \
	"\tldr x17, [x17, :gottprel_lo12:ws_call_per_thread]\n\tadd x16, x16, x17\n\tadd x17, sp, #1\n" \
	"\tstrb w17, [x16]\n\tb ws_" #to "\n" TAIL(name));
#else
#error "the jumps are written for x86-64 and AArch64"
#endif

#define RT(name, now, before)
#define NO(name)
#include "cuda/rt_api.def"
#define DRV(name, now)
#include "cuda/drv_api.def"

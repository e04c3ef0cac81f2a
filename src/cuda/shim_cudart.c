/* shim_cudart.c - libcudart.so.N: every entry point of the CUDA runtime is a jump into libwarpsafe.so. A jump and not a
 * call, so that the caller seen there is the program. Built once a release, with the symbol version of that release;
 * WS_BEFORE_13 chooses the older meaning of a few names. */
#if defined(__x86_64__)
#define JUMP(name, to) __asm__(".text\n.p2align 4\n.globl " #name "\n.type " #name ", @function\n" #name ":\n" \
	"\tjmp ws_" #to "@PLT\n.size " #name ", .-" #name "\n");
#elif defined(__aarch64__)
#define JUMP(name, to) __asm__(".text\n.p2align 4\n.globl " #name "\n.type " #name ", @function\n" #name ":\n" \
	"\tb ws_" #to "\n.size " #name ", .-" #name "\n");
#else
#error "the libraries that stand in for CUDA's are written for x86-64 and AArch64"
#endif

/* By this the preload knows the library for ours. */
extern const char ws_stand_in[];
__attribute__((visibility("default"))) const char ws_stand_in[] = "warpsafe";

#ifdef WS_BEFORE_13
#define RT(name, now, before) JUMP(name, before)
#else
#define RT(name, now, before) JUMP(name, now)
#endif
#define PT(name, now) JUMP(name, name)
#define NO(name) JUMP(name, name)
#include "cuda/rt_api.def"

/* shim_cuda.c - libcuda.so.1: every entry point of the CUDA driver API is a jump into libwarpsafe.so; shim_cudart.c
 * says why. */
#if defined(__x86_64__)
#define JUMP(name, to) __asm__(".text\n.p2align 4\n.globl " #name "\n.type " #name ", @function\n" #name ":\n" \
	"\tjmp ws_" #to "@PLT\n.size " #name ", .-" #name "\n");
#elif defined(__aarch64__)
#define JUMP(name, to) __asm__(".text\n.p2align 4\n.globl " #name "\n.type " #name ", @function\n" #name ":\n" \
	"\tb ws_" #to "\n.size " #name ", .-" #name "\n");
#else
#error "the libraries that stand in for CUDA's are written for x86-64 and AArch64"
#endif

#define DRV(name, now) JUMP(name, now)
#define PT(name, now) JUMP(name, name)
#define NO(name) JUMP(name, name)
#include "cuda/drv_api.def"

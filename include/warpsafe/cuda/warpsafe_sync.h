/* warpsafe_sync.h - barriers and fences ("CUDA C++ Programming Guide": Synchronization Functions, Memory Fence
 * Functions; PTX ISA: bar, barrier, bar.warp.sync, membar). Included by warpsafe_prelude.h alone.
 *
 * clang has builtins for these, but its optimizer takes them for functions that cannot touch a __shared__ or static
 * __device__ variable whose address is not taken, and moves accesses to it across a barrier (seen in clang 14: a load
 * of a __shared__ flag above the __syncthreads() that it must follow). An asm statement that clobbers memory stops
 * that, and clang keeps all asm statements of device code convergent. */
#ifndef WARPSAFE_SYNC_H
#define WARPSAFE_SYNC_H

#define WS_DEV static __inline__ __attribute__((device, always_inline, nodebug, unused))

WS_DEV void warpsafe_syncthreads(void) { __asm__ volatile("bar.sync 0;" ::: "memory"); }
/* __syncthreads is a builtin of clang, which cannot be defined anew. */
#define __syncthreads warpsafe_syncthreads

WS_DEV int __syncthreads_count(int p)
{
	int r;
	__asm__ volatile("{\n\t.reg .pred p;\n\tsetp.ne.s32 p, %1, 0;\n\tbar.red.popc.u32 %0, 0, p;\n\t}"
	                 : "=r"(r) : "r"(p) : "memory");
	return r;
}
#define WS_SYNC_RED(NAME, OP) \
	WS_DEV int NAME(int p) \
	{ \
		int r; \
		__asm__ volatile("{\n\t.reg .pred p, q;\n\tsetp.ne.s32 p, %1, 0;\n\tbar.red." OP ".pred q, 0, p;\n\t" \
		                 "selp.s32 %0, 1, 0, q;\n\t}" : "=r"(r) : "r"(p) : "memory"); \
		return r; \
	}
WS_SYNC_RED(__syncthreads_and, "and")
WS_SYNC_RED(__syncthreads_or, "or")
#undef WS_SYNC_RED

WS_DEV void __barrier_sync(unsigned int id) { __asm__ volatile("barrier.sync %0;" ::"r"(id) : "memory"); }
WS_DEV void __barrier_sync_count(unsigned int id, unsigned int count)
{
	__asm__ volatile("barrier.sync %0, %1;" ::"r"(id), "r"(count) : "memory");
}
WS_DEV void __syncwarp(unsigned int mask = 0xffffffffu)
{
	__asm__ volatile("bar.warp.sync %0;" ::"r"(mask) : "memory");
}

WS_DEV void __threadfence_block(void) { __asm__ volatile("membar.cta;" ::: "memory"); }
WS_DEV void __threadfence(void) { __asm__ volatile("membar.gl;" ::: "memory"); }
WS_DEV void __threadfence_system(void) { __asm__ volatile("membar.sys;" ::: "memory"); }

#undef WS_DEV

#endif

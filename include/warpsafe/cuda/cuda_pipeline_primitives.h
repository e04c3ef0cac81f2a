/* cuda_pipeline_primitives.h - asynchronous copies from global to shared memory, in groups. Written from the "CUDA C++
 * Programming Guide", Asynchronous Data Copies: Pipeline Primitives Interface, and PTX ISA 9.0, cp.async. */
#ifndef WARPSAFE_CUDA_PIPELINE_PRIMITIVES_H
#define WARPSAFE_CUDA_PIPELINE_PRIMITIVES_H

#include "cuda_awbarrier_primitives.h"

#define WS_DEV static __inline__ __attribute__((device, always_inline, nodebug, unused))

/* size: 4, 8 or 16, also the alignment; the last zfill bytes are not read, and zero. */
WS_DEV void __pipeline_memcpy_async(void *dst, const void *src, unsigned long size, unsigned long zfill = 0)
{
	unsigned int to = warpsafe_shared_address(dst), n = (unsigned int)(size - zfill);
	switch (size) {
	case 4:
		__asm__ volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to), "l"(src), "r"(n) : "memory");
		break;
	case 8:
		__asm__ volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(to), "l"(src), "r"(n) : "memory");
		break;
	case 16:
		__asm__ volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(src), "r"(n) : "memory");
		break;
	default:
		__trap();
	}
}

WS_DEV void __pipeline_commit() { __asm__ volatile("cp.async.commit_group;" ::: "memory"); }

/* Waits for all groups but the newest n; the instruction takes constants only, and more than 8 count as 8. */
WS_DEV void __pipeline_wait_prior(unsigned long n)
{
#define WS_WAIT(N) case N: __asm__ volatile("cp.async.wait_group " #N ";" ::: "memory"); break;
	switch (n) {
	WS_WAIT(0) WS_WAIT(1) WS_WAIT(2) WS_WAIT(3) WS_WAIT(4) WS_WAIT(5) WS_WAIT(6) WS_WAIT(7)
	default:
		__asm__ volatile("cp.async.wait_group 8;" ::: "memory");
	}
#undef WS_WAIT
}

/* The barrier expects one arrival more, which comes when the thread's copies so far are complete. */
WS_DEV void __pipeline_arrive_on(__mbarrier_t *b)
{
	__asm__ volatile("cp.async.mbarrier.arrive.shared.b64 [%0];" ::"r"(warpsafe_shared_address(b)) : "memory");
}

#undef WS_DEV

#endif

/* cuda_awbarrier_primitives.h - barriers in shared memory that threads arrive at and wait for apart. Written from the "CUDA
 * C++ Programming Guide", Asynchronous Barrier: Memory Barrier Primitives Interface, and PTX ISA 9.0, mbarrier. */
#ifndef WARPSAFE_CUDA_AWBARRIER_PRIMITIVES_H
#define WARPSAFE_CUDA_AWBARRIER_PRIMITIVES_H

#include "cuda_runtime.h"

#define WS_DEV static __inline__ __attribute__((device, always_inline, nodebug, unused))

typedef unsigned long long __mbarrier_t;
typedef unsigned long long __mbarrier_token_t;

/* The 32-bit address of what lies in shared memory. */
WS_DEV unsigned int warpsafe_shared_address(const void *p)
{
	return (unsigned int)(unsigned long long)(__attribute__((address_space(3))) const void *)p;
}

WS_DEV unsigned int __mbarrier_maximum_count() { return (1u << 20) - 1; }
WS_DEV void __mbarrier_init(__mbarrier_t *b, unsigned int count)
{
	__asm__ volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(warpsafe_shared_address(b)), "r"(count) : "memory");
}
WS_DEV void __mbarrier_inval(__mbarrier_t *b)
{
	__asm__ volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(warpsafe_shared_address(b)) : "memory");
}
WS_DEV __mbarrier_token_t __mbarrier_arrive(__mbarrier_t *b)
{
	__mbarrier_token_t t;
	__asm__ volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(t) : "r"(warpsafe_shared_address(b)) : "memory");
	return t;
}
WS_DEV __mbarrier_token_t warpsafe_mbarrier_arrive(__mbarrier_t *b, unsigned int count)
{
	__mbarrier_token_t t;
	__asm__ volatile("mbarrier.arrive.shared::cta.b64 %0, [%1], %2;"
	                 : "=l"(t) : "r"(warpsafe_shared_address(b)), "r"(count) : "memory");
	return t;
}
WS_DEV __mbarrier_token_t __mbarrier_arrive_and_drop(__mbarrier_t *b)
{
	__mbarrier_token_t t;
	__asm__ volatile("mbarrier.arrive_drop.shared.b64 %0, [%1];"
	                 : "=l"(t) : "r"(warpsafe_shared_address(b)) : "memory");
	return t;
}
WS_DEV unsigned int __mbarrier_token_pending_count(__mbarrier_token_t t)
{
	unsigned int n;
	__asm__("mbarrier.pending_count.b64 %0, %1;" : "=r"(n) : "l"(t));
	return n;
}
#define WS_MBARRIER_WAIT(NAME, WORDS, TYPE, CONSTRAINT) \
	WS_DEV bool NAME(__mbarrier_t *b, TYPE what) \
	{ \
		unsigned int done; \
		__asm__ volatile("{\n\t.reg .pred p;\n\tmbarrier." WORDS ".shared.b64 p, [%1], %2;\n\tselp.u32 %0, 1, 0, p;\n\t}" \
		                 : "=r"(done) : "r"(warpsafe_shared_address(b)), CONSTRAINT(what) : "memory"); \
		return done; \
	}
WS_MBARRIER_WAIT(__mbarrier_test_wait, "test_wait", __mbarrier_token_t, "l")
WS_MBARRIER_WAIT(warpsafe_mbarrier_test_parity, "test_wait.parity", unsigned int, "r")
WS_MBARRIER_WAIT(warpsafe_mbarrier_try, "try_wait", __mbarrier_token_t, "l")
WS_MBARRIER_WAIT(warpsafe_mbarrier_try_parity, "try_wait.parity", unsigned int, "r")
#undef WS_MBARRIER_WAIT
WS_DEV bool __mbarrier_test_wait_parity(__mbarrier_t *b, bool parity) { return warpsafe_mbarrier_test_parity(b, parity); }
WS_DEV bool __mbarrier_try_wait(__mbarrier_t *b, __mbarrier_token_t t, unsigned int) { return warpsafe_mbarrier_try(b, t); }
WS_DEV bool __mbarrier_try_wait_parity(__mbarrier_t *b, bool parity, unsigned int)
{
	return warpsafe_mbarrier_try_parity(b, parity);
}

#undef WS_DEV

#endif

/* wgmma.h - a product of 64 x 16 and 16 x 8 halves in shared memory, without swizzling (PTX ISA 9.0, Asynchronous
 * Warpgroup Level Matrix Instructions). */
static __device__ void proxy_fence() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

/* Rows of A: 8 together have 128 bytes, the next ones follow after 128; the second half of k after 1024 (B: 128). */
static __device__ void product(float d[4], const unsigned *a, const unsigned *b)
{
	unsigned long long da = (unsigned)__cvta_generic_to_shared(a) >> 4 | 64ull << 16 | 8ull << 32;
	unsigned long long db = (unsigned)__cvta_generic_to_shared(b) >> 4 | 8ull << 16 | 8ull << 32;

	asm volatile("wgmma.fence.sync.aligned;\n"
	             "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, 1, 1, 1, 0, 0;\n"
	             "wgmma.commit_group.sync.aligned;\n"
	             : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(da), "l"(db) : "memory");
}

static __device__ void wait_for_product() { asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory"); }

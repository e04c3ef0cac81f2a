/* bulk.h - mbarrier objects, bulk copies and proxy fences in short words, each one instruction. Macros, so that a report
 * names the line that uses them. */
typedef unsigned long long mbarrier;
#define PTX __asm__ volatile
#define AT(p) "r"((unsigned)__cvta_generic_to_shared(p))

#define mbarrier_init(b, count) PTX("mbarrier.init.shared.b64 [%0], %1;" : : AT(b), "r"(count) : "memory")
#define mbarrier_arrive(b) PTX("{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0]; }" : : AT(b) : "memory")
/* Arrives, and expects so many bytes of copies in this phase. */
#define mbarrier_expect(b, bytes) \
	PTX("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" : : AT(b), "r"(bytes) : "memory")
#define mbarrier_wait(b, parity) \
	for (int done = 0; !done;) \
		PTX("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.s32 %0, 1, 0, p; }" \
		    : "=r"(done) : AT(b), "r"(parity) : "memory")

/* From global to shared memory, completes on an mbarrier object. */
#define bulk_load(to, from, bytes, b) \
	PTX("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" \
	    : : AT(to), "l"(__cvta_generic_to_global(from)), "r"(bytes), AT(b) : "memory")
/* From shared to global memory; completes in groups. */
#define bulk_store(to, from, bytes) \
	PTX("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2; cp.async.bulk.commit_group;" \
	    : : "l"(__cvta_generic_to_global(to)), AT(from), "r"(bytes) : "memory")
#define bulk_wait() PTX("cp.async.bulk.wait_group 0;" ::: "memory")
#define bulk_wait_read() PTX("cp.async.bulk.wait_group.read 0;" ::: "memory")
#define fence_proxy_async() PTX("fence.proxy.async;" ::: "memory")

/* device.cuh - for the files of this folder: CUDA C that clang compiles to PTX when warpsafe is built, without NVIDIA's
 * toolkit. Functions that are to be placed inline by src/rewrite are INLINED; those that stay functions are SLOW and
 * have, like variables, names that begin with "__warpsafe_". */
#ifndef WS_DEVICE_CUH
#define WS_DEVICE_CUH

typedef unsigned int u32;
typedef unsigned long long u64;

#define DEVICE __attribute__((device))
#define INLINED extern "C" DEVICE
#define SLOW extern "C" DEVICE __attribute__((noinline))
#define HELPER static inline DEVICE __attribute__((always_inline))

/* Lanes of the warp that execute this together; it may be fewer than there could be, never others. */
HELPER u32 activemask(void)
{
	u32 mask;

	asm volatile("activemask.b32 %0;" : "=r"(mask));
	return mask;
}

/* Lanes below the own one. */
HELPER u32 lanes_below(void)
{
	u32 mask;

	asm("mov.u32 %0, %%lanemask_lt;" : "=r"(mask));
	return mask;
}

#define SPECIAL(name, sreg) \
	HELPER u32 name(void) \
	{ \
		u32 v; \
\
		asm("mov.u32 %0, " sreg ";" : "=r"(v)); \
		return v; \
	}
SPECIAL(block_x, "%%ctaid.x")
SPECIAL(block_y, "%%ctaid.y")
SPECIAL(block_z, "%%ctaid.z")
SPECIAL(blocks_x, "%%nctaid.x")
SPECIAL(blocks_y, "%%nctaid.y")
SPECIAL(blocks_z, "%%nctaid.z")
SPECIAL(thread_x, "%%tid.x")
SPECIAL(thread_y, "%%tid.y")
SPECIAL(thread_z, "%%tid.z")
SPECIAL(threads_x, "%%ntid.x")
SPECIAL(threads_y, "%%ntid.y")
SPECIAL(threads_z, "%%ntid.z")
SPECIAL(shared_bytes, "%%total_smem_size")
SPECIAL(dynamic_bytes, "%%dynamic_smem_size")
SPECIAL(multiprocessor, "%%smid")
SPECIAL(multiprocessors, "%%nsmid")
SPECIAL(warp_slot, "%%warpid")

HELPER u64 nanoseconds(void)
{
	u64 v;

	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(v));
	return v;
}

HELPER u32 clock_low(void)
{
	u32 v;

	asm volatile("mov.u32 %0, %%clock;" : "=r"(v));
	return v;
}

HELPER u32 population(u32 mask)
{
	return (u32)__builtin_popcount(mask);
}

HELPER u32 lowest(u32 mask)
{
	return (u32)__builtin_ctz(mask);
}

/* Do all 32 lanes have the same value? All of them come here. */
HELPER bool all_lanes_have(u64 value)
{
	u32 is;

	asm volatile("{ .reg .pred p; .reg .b32 m; match.all.sync.b64 m|p, %1, -1; selp.u32 %0, 1, 0, p; }"
		     : "=r"(is) : "l"(value));
	return is;
}

/* Those of these lanes that have the same value. All of them come here. */
HELPER u32 lanes_with(u32 lanes, u64 value)
{
	u32 same;

	asm volatile("match.any.sync.b64 %0, %1, %2;" : "=r"(same) : "l"(value), "r"(lanes));
	return same;
}

/* Is it so in any of the 32 lanes? All of them come here. */
HELPER bool any_lane(bool is)
{
	u32 any;

	asm volatile("{ .reg .pred p, q; setp.ne.u32 q, %1, 0; vote.sync.any.pred p, q, -1; selp.u32 %0, 1, 0, p; }"
		     : "=r"(any) : "r"((u32)is));
	return any;
}

/* The value of a lane for these lanes; all of them come here. */
HELPER u32 of_lane(u32 lanes, u32 lane, u32 value)
{
	u32 v;

	asm volatile("shfl.sync.idx.b32 %0, %1, %2, 31, %3;" : "=r"(v) : "r"(value), "r"(lane), "r"(lanes));
	return v;
}

/* The value of the lane below; its own in lane 0. All 32 lanes come here. */
HELPER u32 of_lane_below(u32 value)
{
	u32 v;

	asm volatile("shfl.sync.up.b32 %0, %1, 1, 0, -1;" : "=r"(v) : "r"(value));
	return v;
}

/* In which of the 32 lanes is it so? All of them come here. */
HELPER u32 ballot(bool is)
{
	u32 lanes;

	asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; vote.sync.ballot.b32 %0, p, -1; }" : "=r"(lanes) : "r"((u32)is));
	return lanes;
}

/* In which of these lanes? All of them come here. */
HELPER u32 ballot_of(u32 lanes, bool is)
{
	u32 in;

	asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; vote.sync.ballot.b32 %0, p, %2; }" : "=r"(in) : "r"((u32)is), "r"(lanes));
	return in;
}

/* Memory is the same for these lanes behind it; all of them come here. */
HELPER void warp_sync(u32 lanes)
{
	asm volatile("bar.warp.sync %0;" : : "r"(lanes) : "memory");
}

/* The same of all lanes that have not left. The mask is a number: of one in a register ptxas makes MATCH.ANY and REDUX, which take longer than all
 * else at a barrier. */
HELPER void warp_sync_all(void)
{
	asm volatile("bar.warp.sync 0xffffffff;" : : : "memory");
}

/* What came before is seen before what comes behind; by threads of the block. */
HELPER void fence_gpu(void)
{
	asm volatile("fence.acq_rel.gpu;" : : : "memory");
}

HELPER void fence_block(void)
{
	asm volatile("fence.acq_rel.cta;" : : : "memory");
}

/* Memory of the runtime in global (addresses as u64) and shared memory, read where other threads see it at once. */
HELPER u32 load32(u64 address)
{
	u32 v;

	asm volatile("ld.volatile.global.u32 %0, [%1];" : "=r"(v) : "l"(address) : "memory");
	return v;
}

HELPER u32 load8_volatile(u64 address)
{
	u32 v;

	asm volatile("ld.volatile.global.u8 %0, [%1];" : "=r"(v) : "l"(address) : "memory");
	return v;
}

HELPER u64 load64(u64 address)
{
	u64 v;

	asm volatile("ld.volatile.global.u64 %0, [%1];" : "=l"(v) : "l"(address) : "memory");
	return v;
}

/* What never changes once it is not 0. */
HELPER u64 load64_stable(u64 address)
{
	u64 v;

	asm volatile("ld.global.u64 %0, [%1];" : "=l"(v) : "l"(address) : "memory");
	return v;
}

HELPER u32 load32_stable(u64 address)
{
	u32 v;

	asm volatile("ld.global.u32 %0, [%1];" : "=r"(v) : "l"(address) : "memory");
	return v;
}

/* What never changes while a kernel runs. */
HELPER u32 load8(u64 address)
{
	u32 v;

	asm volatile("ld.global.u8 %0, [%1];" : "=r"(v) : "l"(address) : "memory");
	return v;
}

HELPER u32 load16(u64 address)
{
	u32 v;

	asm volatile("ld.global.u16 %0, [%1];" : "=r"(v) : "l"(address) : "memory");
	return v;
}

HELPER void store8(u64 address, u32 v)
{
	asm volatile("st.volatile.global.u8 [%0], %1;" : : "l"(address), "r"(v) : "memory");
}

HELPER void store32(u64 address, u32 v)
{
	asm volatile("st.volatile.global.u32 [%0], %1;" : : "l"(address), "r"(v) : "memory");
}

HELPER void store64(u64 address, u64 v)
{
	asm volatile("st.volatile.global.u64 [%0], %1;" : : "l"(address), "l"(v) : "memory");
}

/* What only the thread itself reads and writes, by a generic address. */
HELPER u32 own_load32(u64 address)
{
	u32 v;

	asm volatile("ld.u32 %0, [%1];" : "=r"(v) : "l"(address) : "memory");
	return v;
}

HELPER u64 own_load64(u64 address)
{
	u64 v;

	asm volatile("ld.u64 %0, [%1];" : "=l"(v) : "l"(address) : "memory");
	return v;
}

HELPER void own_store32(u64 address, u32 v)
{
	asm volatile("st.u32 [%0], %1;" : : "l"(address), "r"(v) : "memory");
}

HELPER void own_store64(u64 address, u64 v)
{
	asm volatile("st.u64 [%0], %1;" : : "l"(address), "l"(v) : "memory");
}

HELPER u32 cas32(u64 address, u32 old, u32 v)
{
	u32 was;

	asm volatile("atom.global.cas.b32 %0, [%1], %2, %3;" : "=r"(was) : "l"(address), "r"(old), "r"(v) : "memory");
	return was;
}

HELPER u64 cas64(u64 address, u64 old, u64 v)
{
	u64 was;

	asm volatile("atom.global.cas.b64 %0, [%1], %2, %3;" : "=l"(was) : "l"(address), "l"(old), "l"(v) : "memory");
	return was;
}

HELPER u64 exchange64(u64 address, u64 v)
{
	u64 was;

	asm volatile("atom.global.exch.b64 %0, [%1], %2;" : "=l"(was) : "l"(address), "l"(v) : "memory");
	return was;
}

HELPER u32 exchange32(u64 address, u32 v)
{
	u32 was;

	asm volatile("atom.global.exch.b32 %0, [%1], %2;" : "=r"(was) : "l"(address), "r"(v) : "memory");
	return was;
}

HELPER u64 fetch_add64(u64 address, u64 v)
{
	u64 was;

	asm volatile("atom.global.add.u64 %0, [%1], %2;" : "=l"(was) : "l"(address), "l"(v) : "memory");
	return was;
}

HELPER u32 fetch_add32(u64 address, u32 v)
{
	u32 was;

	asm volatile("atom.global.add.u32 %0, [%1], %2;" : "=r"(was) : "l"(address), "r"(v) : "memory");
	return was;
}

HELPER void global_or(u64 address, u32 v)
{
	asm volatile("red.global.or.b32 [%0], %1;" : : "l"(address), "r"(v) : "memory");
}

HELPER void global_max32(u64 address, u32 v)
{
	asm volatile("red.global.max.u32 [%0], %1;" : : "l"(address), "r"(v) : "memory");
}

HELPER void global_max(u64 address, u64 v)
{
	asm volatile("red.global.max.u64 [%0], %1;" : : "l"(address), "l"(v) : "memory");
}

/* Shared memory: addresses of the window. */
HELPER u64 shared_cas64(u64 address, u64 old, u64 v)
{
	u64 was;

	asm volatile("atom.shared.cas.b64 %0, [%1], %2, %3;" : "=l"(was) : "l"(address), "l"(old), "l"(v) : "memory");
	return was;
}

HELPER u32 shared_cas32(u64 address, u32 old, u32 v)
{
	u32 was;

	asm volatile("atom.shared.cas.b32 %0, [%1], %2, %3;" : "=r"(was) : "l"(address), "r"(old), "r"(v) : "memory");
	return was;
}

#define SHARED_OP(name, op) \
	HELPER u32 name(u64 address, u32 v) \
	{ \
		u32 was; \
\
		asm volatile("atom.shared." op " %0, [%1], %2;" : "=r"(was) : "l"(address), "r"(v) : "memory"); \
		return was; \
	}
SHARED_OP(shared_exchange32, "exch.b32")
SHARED_OP(shared_add32, "add.u32")
SHARED_OP(shared_max32, "max.u32")
SHARED_OP(shared_or32, "or.b32")
SHARED_OP(shared_and32, "and.b32")

/* By addresses of 32 bits, which are as good, and shorter code. */
HELPER u64 shared_load64(u32 address)
{
	u64 v;

	asm volatile("ld.volatile.shared.u64 %0, [%1];" : "=l"(v) : "r"(address) : "memory");
	return v;
}

HELPER u32 shared_load32(u32 address)
{
	u32 v;

	asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(v) : "r"(address) : "memory");
	return v;
}

HELPER u32 shared_load8(u32 address)
{
	u32 v;

	asm volatile("ld.volatile.shared.u8 %0, [%1];" : "=r"(v) : "r"(address) : "memory");
	return v;
}

HELPER void shared_store32(u32 address, u32 v)
{
	asm volatile("st.volatile.shared.u32 [%0], %1;" : : "r"(address), "r"(v) : "memory");
}

HELPER void shared_store_two(u32 address, u32 a, u32 b)
{
	asm volatile("st.volatile.shared.v2.u32 [%0], {%1, %2};" : : "r"(address), "r"(a), "r"(b) : "memory");
}

HELPER void shared_store_four(u32 address, u32 a, u32 b, u32 c, u32 d)
{
	asm volatile("st.volatile.shared.v4.u32 [%0], {%1, %2, %3, %4};" : : "r"(address), "r"(a), "r"(b), "r"(c), "r"(d) : "memory");
}

HELPER void shared_store_two64(u32 address, u64 a, u64 b)
{
	asm volatile("st.volatile.shared.v2.u64 [%0], {%1, %2};" : : "r"(address), "l"(a), "l"(b) : "memory");
}

HELPER u64 shared_exchange64(u32 address, u64 v)
{
	u64 was;

	asm volatile("atom.shared.exch.b64 %0, [%1], %2;" : "=l"(was) : "r"(address), "l"(v) : "memory");
	return was;
}

HELPER u64 shared_swap64(u32 address, u64 old, u64 v)
{
	u64 was;

	asm volatile("atom.shared.cas.b64 %0, [%1], %2, %3;" : "=l"(was) : "r"(address), "l"(old), "l"(v) : "memory");
	return was;
}

HELPER u64 pair(u32 low, u32 high)
{
	u64 v;

	asm("mov.b64 %0, {%1, %2};" : "=l"(v) : "r"(low), "r"(high));
	return v;
}

HELPER void halves(u64 v, u32 *low, u32 *high)
{
	asm("mov.b64 {%0, %1}, %2;" : "=r"(*low), "=r"(*high) : "l"(v));
}

/* Generic addresses of shared memory to addresses of the window. */
HELPER u64 to_shared(u64 address)
{
	u64 v;

	asm("cvta.to.shared.u64 %0, %1;" : "=l"(v) : "l"(address));
	return v;
}

HELPER u64 from_shared(u32 address)
{
	u64 v;

	asm("cvta.shared.u64 %0, %1;" : "=l"(v) : "l"((u64)address));
	return v;
}

/* Addresses of global memory, not generic ones. */
HELPER void global_add(u64 address, u64 value)
{
	asm volatile("red.global.add.u64 [%0], %1;" : : "l"(address), "l"(value) : "memory");
}

#define IS_SPACE(name, space) \
	HELPER bool name(u64 address) \
	{ \
		u32 is; \
\
		asm("{ .reg .pred p; isspacep." space " p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(is) : "l"(address)); \
		return is; \
	}
IS_SPACE(is_global, "global")
IS_SPACE(is_shared, "shared")
IS_SPACE(is_shared_cluster, "shared::cluster")
IS_SPACE(is_constant, "const")

#endif

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

HELPER u32 population(u32 mask)
{
	return (u32)__builtin_popcount(mask);
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

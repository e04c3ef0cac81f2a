/* warpsafe_intrinsics.h - intrinsics of CUDA that clang's headers leave to NVIDIA's: reductions of a warp, loads and
 * stores with a cache operator, dot products ("CUDA C++ Programming Guide": Warp Reduce
 * Functions, Load and Store Functions Using Cache Hints, "CUDA Math API").
 * Included by warpsafe_prelude.h alone. */
#ifndef WARPSAFE_INTRINSICS_H
#define WARPSAFE_INTRINSICS_H

#define WS_DEV static __inline__ __attribute__((device, always_inline, nodebug, unused))

/* ---- shuffles: the last operand is PTX's clamp and segment mask (PTX ISA, shfl.sync); larger types by words ---- */
#define WS_SHUFFLES(NAME, BY, PTX, CLAMP) \
	WS_DEV unsigned int NAME##_sync(unsigned int mask, unsigned int v, BY by, int width = 32) \
	{ \
		return (unsigned int)__nvvm_shfl_sync_##PTX##_i32(mask, (int)v, by, (32 - width) << 8 | CLAMP); \
	} \
	WS_DEV unsigned long long NAME##_sync(unsigned int mask, unsigned long long v, BY by, int width = 32) \
	{ \
		unsigned int low = NAME##_sync(mask, (unsigned int)v, by, width); \
		return (unsigned long long)NAME##_sync(mask, (unsigned int)(v >> 32), by, width) << 32 | low; \
	} \
	WS_DEV unsigned int NAME(unsigned int v, BY by, int width = 32) \
	{ \
		return (unsigned int)__nvvm_shfl_##PTX##_i32((int)v, by, (32 - width) << 8 | CLAMP); \
	} \
	WS_DEV unsigned long long NAME(unsigned long long v, BY by, int width = 32) \
	{ \
		unsigned int low = NAME((unsigned int)v, by, width); \
		return (unsigned long long)NAME((unsigned int)(v >> 32), by, width) << 32 | low; \
	} \
	WS_SHUFFLE_OF(NAME, int, unsigned int, BY) WS_SHUFFLE_OF(NAME, float, unsigned int, BY) \
	WS_SHUFFLE_OF(NAME, long, unsigned long long, BY) WS_SHUFFLE_OF(NAME, unsigned long, unsigned long long, BY) \
	WS_SHUFFLE_OF(NAME, long long, unsigned long long, BY) WS_SHUFFLE_OF(NAME, double, unsigned long long, BY)
#define WS_SHUFFLE_OF(NAME, T, U, BY) \
	WS_DEV T NAME##_sync(unsigned int mask, T v, BY by, int width = 32) \
	{ \
		return __builtin_bit_cast(T, NAME##_sync(mask, __builtin_bit_cast(U, v), by, width)); \
	} \
	WS_DEV T NAME(T v, BY by, int width = 32) \
	{ \
		return __builtin_bit_cast(T, NAME(__builtin_bit_cast(U, v), by, width)); \
	}
WS_SHUFFLES(__shfl, int, idx, 31)
WS_SHUFFLES(__shfl_up, unsigned int, up, 0)
WS_SHUFFLES(__shfl_down, unsigned int, down, 31)
WS_SHUFFLES(__shfl_xor, int, bfly, 31)
#undef WS_SHUFFLES
#undef WS_SHUFFLE_OF

/* ---- __reduce_*_sync: one instruction from sm_80 on; before, refused by the assembler's rules as in NVIDIA's ---- */
#define WS_REDUX(NAME, T, OP) \
	WS_DEV T __reduce_##NAME##_sync(unsigned int mask, T value) \
	{ \
		T r; \
		__asm__ volatile("redux.sync." OP " %0, %1, %2;" : "=r"(r) : "r"(value), "r"(mask) : "memory"); \
		return r; \
	}
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
WS_REDUX(add, unsigned int, "add.u32")
WS_REDUX(min, unsigned int, "min.u32")
WS_REDUX(max, unsigned int, "max.u32")
WS_REDUX(add, int, "add.s32")
WS_REDUX(min, int, "min.s32")
WS_REDUX(max, int, "max.s32")
WS_REDUX(and, unsigned int, "and.b32")
WS_REDUX(or, unsigned int, "or.b32")
WS_REDUX(xor, unsigned int, "xor.b32")
#endif
#undef WS_REDUX

/* ---- dot products ---- */
#define WS_DOT(NAME, R, A, B, OP) \
	WS_DEV R NAME(A a, B b, R c) \
	{ \
		R r; \
		__asm__(OP " %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c)); \
		return r; \
	}
WS_DOT(__dp4a, int, int, int, "dp4a.s32.s32")
WS_DOT(__dp4a, unsigned int, unsigned int, unsigned int, "dp4a.u32.u32")
WS_DOT(__dp2a_lo, int, int, int, "dp2a.lo.s32.s32")
WS_DOT(__dp2a_lo, unsigned int, unsigned int, unsigned int, "dp2a.lo.u32.u32")
WS_DOT(__dp2a_hi, int, int, int, "dp2a.hi.s32.s32")
WS_DOT(__dp2a_hi, unsigned int, unsigned int, unsigned int, "dp2a.hi.u32.u32")
#undef WS_DOT

/* ---- loads and stores with a cache operator ---- */
#define WS_CACHED(T, REG, PTX, VIA) \
	WS_LOADS(T, REG, PTX, VIA, ca) WS_LOADS(T, REG, PTX, VIA, cg) WS_LOADS(T, REG, PTX, VIA, cs) \
	WS_LOADS(T, REG, PTX, VIA, lu) WS_LOADS(T, REG, PTX, VIA, cv) \
	WS_STORES(T, REG, PTX, VIA, wb) WS_STORES(T, REG, PTX, VIA, cg) WS_STORES(T, REG, PTX, VIA, cs) \
	WS_STORES(T, REG, PTX, VIA, wt)
#define WS_LOADS(T, REG, PTX, VIA, OP) \
	WS_DEV T __ld##OP(const T *p) \
	{ \
		VIA v; \
		__asm__ volatile("ld." #OP "." PTX " %0, [%1];" : "=" REG(v) : "l"(p) : "memory"); \
		return (T)v; \
	}
#define WS_STORES(T, REG, PTX, VIA, OP) \
	WS_DEV void __st##OP(T *p, T value) \
	{ \
		VIA v = (VIA)value; \
		__asm__ volatile("st." #OP "." PTX " [%0], %1;" ::"l"(p), REG(v) : "memory"); \
	}
WS_CACHED(char, "r", "s8", int)
WS_CACHED(signed char, "r", "s8", int)
WS_CACHED(unsigned char, "r", "u8", unsigned int)
WS_CACHED(short, "h", "s16", short)
WS_CACHED(unsigned short, "h", "u16", unsigned short)
WS_CACHED(int, "r", "s32", int)
WS_CACHED(unsigned int, "r", "u32", unsigned int)
WS_CACHED(long, "l", "s64", long)
WS_CACHED(unsigned long, "l", "u64", unsigned long)
WS_CACHED(long long, "l", "s64", long long)
WS_CACHED(unsigned long long, "l", "u64", unsigned long long)
WS_CACHED(float, "f", "f32", float)
WS_CACHED(double, "d", "f64", double)
#undef WS_CACHED
#undef WS_LOADS
#undef WS_STORES

WS_DEV unsigned long long __globaltimer(void)
{
	unsigned long long t;
	__asm__ volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
	return t;
}

#undef WS_DEV

#endif

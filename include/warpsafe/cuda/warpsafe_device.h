/* warpsafe_device.h - device-side functions of CUDA that clang's headers leave to NVIDIA's: atomics, malloc, printf and
 * assert, minima and maxima, float forms of functions ("CUDA C++ Programming Guide": Atomic Functions, Formatted
 * Output, Dynamic Global Memory Allocation, Address Space Predicate and Conversion Functions, Mathematical
 * Functions). Included by warpsafe_prelude.h alone. */
#ifndef WARPSAFE_DEVICE_H
#define WARPSAFE_DEVICE_H

#define WS_DEV static __inline__ __attribute__((device, always_inline, nodebug, unused))
#define WS_HD static __inline__ __attribute__((host, device, always_inline, nodebug, unused))
#define WS_HOST static __inline__ __attribute__((host, always_inline, nodebug, unused))

/* ---- atomics: S is nothing (the GPU), _block or _system ---- */
#define WS_ATOMIC2(NAME, T, IMPL) \
	WS_DEV T NAME(T *p, T v) { return IMPL(p, v); } \
	WS_DEV T NAME##_block(T *p, T v) { return IMPL##_block(p, v); } \
	WS_DEV T NAME##_system(T *p, T v) { return IMPL##_system(p, v); }
#define WS_ATOMIC_CAS(T, IMPL) \
	WS_DEV T atomicCAS(T *p, T expected, T v) { return IMPL(p, expected, v); } \
	WS_DEV T atomicCAS_block(T *p, T expected, T v) { return IMPL##_block(p, expected, v); } \
	WS_DEV T atomicCAS_system(T *p, T expected, T v) { return IMPL##_system(p, expected, v); }
#define WS_ATOMIC_SUB(T, IMPL) \
	WS_DEV T atomicSub(T *p, T v) { return IMPL(p, (T)-v); } \
	WS_DEV T atomicSub_block(T *p, T v) { return IMPL##_block(p, (T)-v); } \
	WS_DEV T atomicSub_system(T *p, T v) { return IMPL##_system(p, (T)-v); }

WS_ATOMIC2(atomicAdd, int, __iAtomicAdd)
WS_ATOMIC2(atomicAdd, unsigned int, __uAtomicAdd)
WS_ATOMIC2(atomicAdd, unsigned long long, __ullAtomicAdd)
WS_ATOMIC2(atomicAdd, float, __fAtomicAdd)
WS_ATOMIC2(atomicAdd, double, __dAtomicAdd)
WS_ATOMIC2(atomicExch, int, __iAtomicExch)
WS_ATOMIC2(atomicExch, unsigned int, __uAtomicExch)
WS_ATOMIC2(atomicExch, unsigned long long, __ullAtomicExch)
WS_ATOMIC2(atomicExch, float, __fAtomicExch)
WS_ATOMIC2(atomicMin, int, __iAtomicMin)
WS_ATOMIC2(atomicMin, unsigned int, __uAtomicMin)
WS_ATOMIC2(atomicMin, long long, __illAtomicMin)
WS_ATOMIC2(atomicMin, unsigned long long, __ullAtomicMin)
WS_ATOMIC2(atomicMax, int, __iAtomicMax)
WS_ATOMIC2(atomicMax, unsigned int, __uAtomicMax)
WS_ATOMIC2(atomicMax, long long, __illAtomicMax)
WS_ATOMIC2(atomicMax, unsigned long long, __ullAtomicMax)
WS_ATOMIC2(atomicInc, unsigned int, __uAtomicInc)
WS_ATOMIC2(atomicDec, unsigned int, __uAtomicDec)
WS_ATOMIC2(atomicAnd, int, __iAtomicAnd)
WS_ATOMIC2(atomicAnd, unsigned int, __uAtomicAnd)
WS_ATOMIC2(atomicAnd, long long, __llAtomicAnd)
WS_ATOMIC2(atomicAnd, unsigned long long, __ullAtomicAnd)
WS_ATOMIC2(atomicOr, int, __iAtomicOr)
WS_ATOMIC2(atomicOr, unsigned int, __uAtomicOr)
WS_ATOMIC2(atomicOr, long long, __llAtomicOr)
WS_ATOMIC2(atomicOr, unsigned long long, __ullAtomicOr)
WS_ATOMIC2(atomicXor, int, __iAtomicXor)
WS_ATOMIC2(atomicXor, unsigned int, __uAtomicXor)
WS_ATOMIC2(atomicXor, long long, __llAtomicXor)
WS_ATOMIC2(atomicXor, unsigned long long, __ullAtomicXor)
WS_ATOMIC_SUB(int, __iAtomicAdd)
WS_ATOMIC_SUB(unsigned int, __uAtomicAdd)
WS_ATOMIC_CAS(int, __iAtomicCAS)
WS_ATOMIC_CAS(unsigned int, __uAtomicCAS)
WS_ATOMIC_CAS(unsigned long long, __ullAtomicCAS)
#undef WS_ATOMIC2
#undef WS_ATOMIC_CAS
#undef WS_ATOMIC_SUB
WS_DEV unsigned short atomicCAS(unsigned short *p, unsigned short expected, unsigned short v)
{
	unsigned short old;
	__asm__ volatile("atom.cas.b16 %0, [%1], %2, %3;" : "=h"(old) : "l"(p), "h"(expected), "h"(v) : "memory");
	return old;
}

/* ---- system calls of the device ("PTX Writer's Guide to Interoperability", System Calls) ---- */
extern "C" {
__device__ int vprintf(const char *format, const char *arguments);
__device__ void free(void *ptr) __attribute__((nothrow));
__device__ void *malloc(size_t size) __attribute__((nothrow, malloc));
__device__ void __assertfail(const char *message, const char *file, unsigned line, const char *function,
                             size_t char_size);
/* What <assert.h> calls; not marked noreturn, so that the code around it stays as in other builds. */
__device__ static __inline__ __attribute__((nodebug, unused)) void
__assert_fail(const char *message, const char *file, unsigned line, const char *function)
{
	__assertfail(message, file, line, function, sizeof(char));
}
__device__ int printf(const char *format, ...);      /* clang makes it a vprintf */
}
namespace std {
WS_DEV void free(void *ptr) { ::free(ptr); }
WS_DEV void *malloc(size_t size) { return ::malloc(size); }
}

/* ---- address spaces: tests, and conversion to and from the addresses of one space ---- */
#define WS_SPACE(NAME, NUMBER) \
	WS_DEV size_t __cvta_generic_to_##NAME(const void *p) \
	{ \
		return (size_t)(void __attribute__((address_space(NUMBER))) *)p; \
	} \
	WS_DEV void *__cvta_##NAME##_to_generic(size_t p) \
	{ \
		return (void *)(void __attribute__((address_space(NUMBER))) *)p; \
	}
WS_SPACE(global, 1)
WS_SPACE(shared, 3)
WS_SPACE(constant, 4)
WS_SPACE(local, 5)
#undef WS_SPACE
WS_DEV unsigned int __isGlobal(const void *p) { return __nvvm_isspacep_global(p); }
WS_DEV unsigned int __isShared(const void *p) { return __nvvm_isspacep_shared(p); }
WS_DEV unsigned int __isConstant(const void *p) { return __nvvm_isspacep_const(p); }
WS_DEV unsigned int __isLocal(const void *p) { return __nvvm_isspacep_local(p); }

/* ---- min and max: device forms for int are clang's; unsigned wins as in C's arithmetic conversions ---- */
#define WS_MINMAX(ATTR, A, B, R) \
	ATTR R min(A a, B b) { return (R)a < (R)b ? (R)a : (R)b; } \
	ATTR R max(A a, B b) { return (R)a > (R)b ? (R)a : (R)b; }
WS_MINMAX(WS_HOST, int, int, int)
WS_MINMAX(WS_HD, unsigned int, unsigned int, unsigned int)
WS_MINMAX(WS_HD, int, unsigned int, unsigned int)
WS_MINMAX(WS_HD, unsigned int, int, unsigned int)
WS_MINMAX(WS_HD, long, long, long)
WS_MINMAX(WS_HD, unsigned long, unsigned long, unsigned long)
WS_MINMAX(WS_HD, long, unsigned long, unsigned long)
WS_MINMAX(WS_HD, unsigned long, long, unsigned long)
WS_MINMAX(WS_HD, long long, long long, long long)
WS_MINMAX(WS_HD, unsigned long long, unsigned long long, unsigned long long)
WS_MINMAX(WS_HD, long long, unsigned long long, unsigned long long)
WS_MINMAX(WS_HD, unsigned long long, long long, unsigned long long)
#undef WS_MINMAX
WS_HD float min(float a, float b) { return __builtin_fminf(a, b); }
WS_HD float max(float a, float b) { return __builtin_fmaxf(a, b); }
WS_HD double min(double a, double b) { return __builtin_fmin(a, b); }
WS_HD double max(double a, double b) { return __builtin_fmax(a, b); }
WS_HD double min(float a, double b) { return __builtin_fmin(a, b); }
WS_HD double max(float a, double b) { return __builtin_fmax(a, b); }
WS_HD double min(double a, float b) { return __builtin_fmin(a, b); }
WS_HD double max(double a, float b) { return __builtin_fmax(a, b); }

/* ---- functions that the host's C library does not have ---- */
WS_HOST double rsqrt(double a) { return 1.0 / __builtin_sqrt(a); }
WS_HOST float rsqrtf(float a) { return (float)(1.0 / __builtin_sqrt(a)); }
WS_HOST double rcbrt(double a) { return 1.0 / __builtin_cbrt(a); }
WS_HOST float rcbrtf(float a) { return (float)(1.0 / __builtin_cbrt(a)); }
WS_HOST float rsqrt(float a) { return rsqrtf(a); }
WS_HOST double normcdf(double a) { return 0.5 * __builtin_erfc(-a * 0.70710678118654752440); }
WS_HOST float normcdff(float a) { return (float)(0.5 * __builtin_erfc(-a * 0.70710678118654752440)); }

/* ---- float overloads of functions that C++ does not know ---- */
#define WS_FLOAT1(NAME) \
	WS_DEV float NAME(float a) { return NAME##f(a); }
WS_FLOAT1(rsqrt)
WS_FLOAT1(rcbrt)
WS_FLOAT1(sinpi)
WS_FLOAT1(cospi)
WS_FLOAT1(erfinv)
WS_FLOAT1(erfcinv)
WS_FLOAT1(erfcx)
WS_FLOAT1(normcdf)
WS_FLOAT1(normcdfinv)
WS_FLOAT1(exp10)
#undef WS_FLOAT1
WS_DEV void sincos(float a, float *s, float *c) { sincosf(a, s, c); }
WS_DEV void sincospi(float a, float *s, float *c) { sincospif(a, s, c); }
WS_DEV float rhypot(float a, float b) { return rhypotf(a, b); }

#undef WS_DEV
#undef WS_HD
#undef WS_HOST

#endif

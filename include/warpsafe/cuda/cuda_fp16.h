/* cuda_fp16.h - half and half2: conversions, arithmetic, comparisons, mathematics. Written from the "CUDA Math API"
 * reference manual (Half Precision Intrinsics). Part of warpsafe's own CUDA headers.
 *
 * Conversions work on the host as well, arithmetic through float there; on the device it is PTX's own. */
#ifndef WARPSAFE_CUDA_FP16_H
#define WARPSAFE_CUDA_FP16_H
#define __CUDA_FP16_H__ /* programs ask for this one */

#include "cuda_runtime.h"

#if defined(__cplusplus) && defined(__CUDA__)

#pragma clang attribute push(__attribute__((nodebug)), apply_to = hasType(functionType))

#define WS_H static __inline__ __attribute__((device, always_inline, unused))
#define WS_HHD static __inline__ __attribute__((host, device, always_inline, unused))

struct __half_raw { unsigned short x; };
struct __attribute__((aligned(4))) __half2_raw { unsigned short x, y; };

/* ---- bits: the host's way of rounding, by hand ---- */

WS_HHD float warpsafe_half_to_float(unsigned short h)
{
#if defined(__CUDA_ARCH__)
	return __nv_half2float(h);
#else
	unsigned int sign = (unsigned int)(h & 0x8000) << 16, e = h >> 10 & 31, m = h & 0x3ff;
	if (e == 31)
		return __builtin_bit_cast(float, sign | 0x7f800000u | m << 13);
	if (e == 0) {
		float f = (float)m * 0x1p-24f;
		return sign ? -f : f;
	}
	return __builtin_bit_cast(float, sign | (e + 112) << 23 | m << 13);
#endif
}

WS_HHD unsigned short warpsafe_float_to_half(float f)
{
#if defined(__CUDA_ARCH__)
	return __nv_float2half_rn(f);
#else
	unsigned int u = __builtin_bit_cast(unsigned int, f), sign = u >> 16 & 0x8000, a = u & 0x7fffffff;
	if (a > 0x7f800000)
		return 0x7fff;
	if (a >= 0x477ff000)                     /* 65520 and above round to infinity */
		return (unsigned short)(sign | 0x7c00);
	if (a < 0x38800000) {                    /* subnormal: the sum with 1/2 rounds to multiples of 2^-24 */
		float t = __builtin_bit_cast(float, a) + 0.5f;
		return (unsigned short)(sign | (__builtin_bit_cast(unsigned int, t) & 0x7ff));
	}
	a += 0xfff + (a >> 13 & 1);
	return (unsigned short)(sign | ((a - 0x38000000) >> 13));
#endif
}

struct __half {
	unsigned short __x;
	__half() = default;
	__host__ __device__ constexpr __half(const __half_raw &r) : __x(r.x) {}
	__host__ __device__ __half(float f) : __x(warpsafe_float_to_half(f)) {}
	__host__ __device__ __half(double f) : __x(warpsafe_float_to_half((float)f)) {}
	__host__ __device__ __half(int i) : __x(warpsafe_float_to_half((float)i)) {}
	__host__ __device__ __half(unsigned int i) : __x(warpsafe_float_to_half((float)i)) {}
	__host__ __device__ __half(long long i) : __x(warpsafe_float_to_half((float)i)) {}
	__host__ __device__ __half(unsigned long long i) : __x(warpsafe_float_to_half((float)i)) {}
	__host__ __device__ operator float() const { return warpsafe_half_to_float(__x); }
	__host__ __device__ operator __half_raw() const { __half_raw r = {__x}; return r; }
};
typedef __half half;
typedef __half __nv_half;

struct __attribute__((aligned(4))) __half2 {
	__half x, y;
	__half2() = default;
	__host__ __device__ __half2(const __half &a, const __half &b) : x(a), y(b) {}
	__host__ __device__ __half2(const __half2_raw &r) : x(__half_raw{r.x}), y(__half_raw{r.y}) {}
};
typedef __half2 half2;
typedef __half2 __nv_half2;

WS_HHD __half warpsafe_half(unsigned short bits) { __half_raw r = {bits}; return __half(r); }
WS_HHD unsigned int warpsafe_half2_bits(__half2 a) { return __builtin_bit_cast(unsigned int, a); }
WS_HHD __half2 warpsafe_half2(unsigned int bits)
{
	return __half2(warpsafe_half((unsigned short)bits), warpsafe_half((unsigned short)(bits >> 16)));
}

/* ---- conversions ---- */

WS_HHD float __half2float(__half a) { return warpsafe_half_to_float(a.__x); }
WS_HHD __half __float2half(float a) { return __half(a); }
WS_HHD __half __float2half_rn(float a) { return __half(a); }
WS_HHD __half __double2half(double a) { return __half((float)a); }
WS_HHD __half2 __float2half2_rn(float a) { return __half2(__half(a), __half(a)); }
WS_HHD __half2 __floats2half2_rn(float a, float b) { return __half2(__half(a), __half(b)); }
WS_HHD __half2 __float22half2_rn(float2 a) { return __half2(__half(a.x), __half(a.y)); }
WS_HHD float2 __half22float2(__half2 a) { return make_float2(__half2float(a.x), __half2float(a.y)); }
WS_HHD __half2 __half2half2(__half a) { return __half2(a, a); }
WS_HHD __half2 __halves2half2(__half a, __half b) { return __half2(a, b); }
WS_HHD __half2 make_half2(__half a, __half b) { return __half2(a, b); }
WS_HHD __half __low2half(__half2 a) { return a.x; }
WS_HHD __half __high2half(__half2 a) { return a.y; }
WS_HHD float __low2float(__half2 a) { return __half2float(a.x); }
WS_HHD float __high2float(__half2 a) { return __half2float(a.y); }
WS_HHD __half2 __low2half2(__half2 a) { return __half2(a.x, a.x); }
WS_HHD __half2 __high2half2(__half2 a) { return __half2(a.y, a.y); }
WS_HHD __half2 __lowhigh2highlow(__half2 a) { return __half2(a.y, a.x); }
WS_HHD __half2 __lows2half2(__half2 a, __half2 b) { return __half2(a.x, b.x); }
WS_HHD __half2 __highs2half2(__half2 a, __half2 b) { return __half2(a.y, b.y); }
WS_HHD unsigned short __half_as_ushort(__half a) { return a.__x; }
WS_HHD short __half_as_short(__half a) { return (short)a.__x; }
WS_HHD __half __ushort_as_half(unsigned short a) { return warpsafe_half(a); }
WS_HHD __half __short_as_half(short a) { return warpsafe_half((unsigned short)a); }

#define WS_HALF_FROM(NAME, ROUND) \
	WS_H __half __float2half_##NAME(float a) \
	{ \
		unsigned short h; \
		__asm__("cvt." ROUND ".f16.f32 %0, %1;" : "=h"(h) : "f"(a)); \
		return warpsafe_half(h); \
	}
WS_HALF_FROM(rz, "rz")
WS_HALF_FROM(rd, "rm")
WS_HALF_FROM(ru, "rp")
#undef WS_HALF_FROM
WS_H int __half2int_rn(__half a)
{
	int r;
	__asm__("cvt.rni.s32.f16 %0, %1;" : "=r"(r) : "h"(a.__x));
	return r;
}
WS_H __half __int2half_rn(int a)
{
	unsigned short h;
	__asm__("cvt.rn.f16.s32 %0, %1;" : "=h"(h) : "r"(a));
	return warpsafe_half(h);
}
WS_H unsigned int __half2uint_rn(__half a)
{
	unsigned int r;
	__asm__("cvt.rni.u32.f16 %0, %1;" : "=r"(r) : "h"(a.__x));
	return r;
}
WS_H __half __uint2half_rn(unsigned int a)
{
	unsigned short h;
	__asm__("cvt.rn.f16.u32 %0, %1;" : "=h"(h) : "r"(a));
	return warpsafe_half(h);
}
WS_H long long __half2ll_rn(__half a)
{
	long long r;
	__asm__("cvt.rni.s64.f16 %0, %1;" : "=l"(r) : "h"(a.__x));
	return r;
}
WS_H __half __ll2half_rn(long long a)
{
	unsigned short h;
	__asm__("cvt.rn.f16.s64 %0, %1;" : "=h"(h) : "l"(a));
	return warpsafe_half(h);
}
WS_H unsigned long long __half2ull_rn(__half a)
{
	unsigned long long r;
	__asm__("cvt.rni.u64.f16 %0, %1;" : "=l"(r) : "h"(a.__x));
	return r;
}
WS_H __half __ull2half_rn(unsigned long long a)
{
	unsigned short h;
	__asm__("cvt.rn.f16.u64 %0, %1;" : "=h"(h) : "l"(a));
	return warpsafe_half(h);
}
WS_H int __half2int_rz(__half a)
{
	int r;
	__asm__("cvt.rzi.s32.f16 %0, %1;" : "=r"(r) : "h"(a.__x));
	return r;
}
WS_H __half __int2half_rz(int a)
{
	unsigned short h;
	__asm__("cvt.rz.f16.s32 %0, %1;" : "=h"(h) : "r"(a));
	return warpsafe_half(h);
}
WS_H unsigned int __half2uint_rz(__half a)
{
	unsigned int r;
	__asm__("cvt.rzi.u32.f16 %0, %1;" : "=r"(r) : "h"(a.__x));
	return r;
}
WS_H __half __uint2half_rz(unsigned int a)
{
	unsigned short h;
	__asm__("cvt.rz.f16.u32 %0, %1;" : "=h"(h) : "r"(a));
	return warpsafe_half(h);
}
WS_H long long __half2ll_rz(__half a)
{
	long long r;
	__asm__("cvt.rzi.s64.f16 %0, %1;" : "=l"(r) : "h"(a.__x));
	return r;
}
WS_H __half __ll2half_rz(long long a)
{
	unsigned short h;
	__asm__("cvt.rz.f16.s64 %0, %1;" : "=h"(h) : "l"(a));
	return warpsafe_half(h);
}
WS_H unsigned long long __half2ull_rz(__half a)
{
	unsigned long long r;
	__asm__("cvt.rzi.u64.f16 %0, %1;" : "=l"(r) : "h"(a.__x));
	return r;
}
WS_H __half __ull2half_rz(unsigned long long a)
{
	unsigned short h;
	__asm__("cvt.rz.f16.u64 %0, %1;" : "=h"(h) : "l"(a));
	return warpsafe_half(h);
}
WS_H int __half2int_rd(__half a)
{
	int r;
	__asm__("cvt.rmi.s32.f16 %0, %1;" : "=r"(r) : "h"(a.__x));
	return r;
}
WS_H __half __int2half_rd(int a)
{
	unsigned short h;
	__asm__("cvt.rm.f16.s32 %0, %1;" : "=h"(h) : "r"(a));
	return warpsafe_half(h);
}
WS_H unsigned int __half2uint_rd(__half a)
{
	unsigned int r;
	__asm__("cvt.rmi.u32.f16 %0, %1;" : "=r"(r) : "h"(a.__x));
	return r;
}
WS_H __half __uint2half_rd(unsigned int a)
{
	unsigned short h;
	__asm__("cvt.rm.f16.u32 %0, %1;" : "=h"(h) : "r"(a));
	return warpsafe_half(h);
}
WS_H long long __half2ll_rd(__half a)
{
	long long r;
	__asm__("cvt.rmi.s64.f16 %0, %1;" : "=l"(r) : "h"(a.__x));
	return r;
}
WS_H __half __ll2half_rd(long long a)
{
	unsigned short h;
	__asm__("cvt.rm.f16.s64 %0, %1;" : "=h"(h) : "l"(a));
	return warpsafe_half(h);
}
WS_H unsigned long long __half2ull_rd(__half a)
{
	unsigned long long r;
	__asm__("cvt.rmi.u64.f16 %0, %1;" : "=l"(r) : "h"(a.__x));
	return r;
}
WS_H __half __ull2half_rd(unsigned long long a)
{
	unsigned short h;
	__asm__("cvt.rm.f16.u64 %0, %1;" : "=h"(h) : "l"(a));
	return warpsafe_half(h);
}
WS_H int __half2int_ru(__half a)
{
	int r;
	__asm__("cvt.rpi.s32.f16 %0, %1;" : "=r"(r) : "h"(a.__x));
	return r;
}
WS_H __half __int2half_ru(int a)
{
	unsigned short h;
	__asm__("cvt.rp.f16.s32 %0, %1;" : "=h"(h) : "r"(a));
	return warpsafe_half(h);
}
WS_H unsigned int __half2uint_ru(__half a)
{
	unsigned int r;
	__asm__("cvt.rpi.u32.f16 %0, %1;" : "=r"(r) : "h"(a.__x));
	return r;
}
WS_H __half __uint2half_ru(unsigned int a)
{
	unsigned short h;
	__asm__("cvt.rp.f16.u32 %0, %1;" : "=h"(h) : "r"(a));
	return warpsafe_half(h);
}
WS_H long long __half2ll_ru(__half a)
{
	long long r;
	__asm__("cvt.rpi.s64.f16 %0, %1;" : "=l"(r) : "h"(a.__x));
	return r;
}
WS_H __half __ll2half_ru(long long a)
{
	unsigned short h;
	__asm__("cvt.rp.f16.s64 %0, %1;" : "=h"(h) : "l"(a));
	return warpsafe_half(h);
}
WS_H unsigned long long __half2ull_ru(__half a)
{
	unsigned long long r;
	__asm__("cvt.rpi.u64.f16 %0, %1;" : "=l"(r) : "h"(a.__x));
	return r;
}
WS_H __half __ull2half_ru(unsigned long long a)
{
	unsigned short h;
	__asm__("cvt.rp.f16.u64 %0, %1;" : "=h"(h) : "l"(a));
	return warpsafe_half(h);
}

/* ---- arithmetic: one PTX instruction each ---- */

#define WS_HALF1(NAME, PTX) \
	WS_H __half NAME(__half a) \
	{ \
		unsigned short r; \
		__asm__(PTX " %0, %1;" : "=h"(r) : "h"(a.__x)); \
		return warpsafe_half(r); \
	}
#define WS_HALF2(NAME, PTX) \
	WS_H __half NAME(__half a, __half b) \
	{ \
		unsigned short r; \
		__asm__(PTX " %0, %1, %2;" : "=h"(r) : "h"(a.__x), "h"(b.__x)); \
		return warpsafe_half(r); \
	}
#define WS_HALF3(NAME, PTX) \
	WS_H __half NAME(__half a, __half b, __half c) \
	{ \
		unsigned short r; \
		__asm__(PTX " %0, %1, %2, %3;" : "=h"(r) : "h"(a.__x), "h"(b.__x), "h"(c.__x)); \
		return warpsafe_half(r); \
	}
#define WS_PAIR1(NAME, PTX) \
	WS_H __half2 NAME(__half2 a) \
	{ \
		unsigned int r; \
		__asm__(PTX " %0, %1;" : "=r"(r) : "r"(warpsafe_half2_bits(a))); \
		return warpsafe_half2(r); \
	}
#define WS_PAIR2(NAME, PTX) \
	WS_H __half2 NAME(__half2 a, __half2 b) \
	{ \
		unsigned int r; \
		__asm__(PTX " %0, %1, %2;" : "=r"(r) : "r"(warpsafe_half2_bits(a)), "r"(warpsafe_half2_bits(b))); \
		return warpsafe_half2(r); \
	}
#define WS_PAIR3(NAME, PTX) \
	WS_H __half2 NAME(__half2 a, __half2 b, __half2 c) \
	{ \
		unsigned int r; \
		__asm__(PTX " %0, %1, %2, %3;" : "=r"(r) : "r"(warpsafe_half2_bits(a)), "r"(warpsafe_half2_bits(b)), \
		        "r"(warpsafe_half2_bits(c))); \
		return warpsafe_half2(r); \
	}
WS_HALF2(__hadd, "add.f16")
WS_HALF2(__hsub, "sub.f16")
WS_HALF2(__hmul, "mul.f16")
WS_HALF2(__hadd_sat, "add.sat.f16")
WS_HALF2(__hsub_sat, "sub.sat.f16")
WS_HALF2(__hmul_sat, "mul.sat.f16")
WS_HALF2(__hadd_rn, "add.rn.f16")
WS_HALF2(__hsub_rn, "sub.rn.f16")
WS_HALF2(__hmul_rn, "mul.rn.f16")
WS_HALF3(__hfma, "fma.rn.f16")
WS_HALF3(__hfma_sat, "fma.rn.sat.f16")
WS_PAIR2(__hadd2, "add.f16x2")
WS_PAIR2(__hsub2, "sub.f16x2")
WS_PAIR2(__hmul2, "mul.f16x2")
WS_PAIR2(__hadd2_sat, "add.sat.f16x2")
WS_PAIR2(__hsub2_sat, "sub.sat.f16x2")
WS_PAIR2(__hmul2_sat, "mul.sat.f16x2")
WS_PAIR3(__hfma2, "fma.rn.f16x2")
WS_PAIR3(__hfma2_sat, "fma.rn.sat.f16x2")
#undef WS_HALF1
#undef WS_HALF2
#undef WS_HALF3
#undef WS_PAIR1
#undef WS_PAIR2
#undef WS_PAIR3
WS_H __half __hneg(__half a) { return warpsafe_half(a.__x ^ 0x8000); }
WS_H __half __habs(__half a) { return warpsafe_half(a.__x & 0x7fff); }
WS_H __half2 __hneg2(__half2 a) { return warpsafe_half2(warpsafe_half2_bits(a) ^ 0x80008000u); }
WS_H __half2 __habs2(__half2 a) { return warpsafe_half2(warpsafe_half2_bits(a) & 0x7fff7fffu); }
/* a float quotient rounded again is right: 24 bits are at least 2 * 11 + 2 (S. A. Figueroa, 1995) */
WS_H __half __hdiv(__half a, __half b) { return __half(__half2float(a) / __half2float(b)); }
WS_H __half2 __h2div(__half2 a, __half2 b) { return __half2(__hdiv(a.x, b.x), __hdiv(a.y, b.y)); }

/* ---- comparisons: with NaN false, in the u forms true ---- */

WS_H bool __heq(__half a, __half b) { return __half2float(a) == __half2float(b); }
WS_H bool __hequ(__half a, __half b)
{
	return __half2float(a) != __half2float(a) || __half2float(b) != __half2float(b) || __heq(a, b);
}
WS_H __half2 __heq2(__half2 a, __half2 b)
{
	return __half2(__half(__heq(a.x, b.x) ? 1.0f : 0.0f), __half(__heq(a.y, b.y) ? 1.0f : 0.0f));
}
WS_H bool __hbeq2(__half2 a, __half2 b) { return __heq(a.x, b.x) && __heq(a.y, b.y); }
WS_H bool __hne(__half a, __half b) { return __half2float(a) < __half2float(b) || __half2float(a) > __half2float(b); }
WS_H bool __hneu(__half a, __half b)
{
	return __half2float(a) != __half2float(a) || __half2float(b) != __half2float(b) || __hne(a, b);
}
WS_H __half2 __hne2(__half2 a, __half2 b)
{
	return __half2(__half(__hne(a.x, b.x) ? 1.0f : 0.0f), __half(__hne(a.y, b.y) ? 1.0f : 0.0f));
}
WS_H bool __hbne2(__half2 a, __half2 b) { return __hne(a.x, b.x) && __hne(a.y, b.y); }
WS_H bool __hlt(__half a, __half b) { return __half2float(a) < __half2float(b); }
WS_H bool __hltu(__half a, __half b)
{
	return __half2float(a) != __half2float(a) || __half2float(b) != __half2float(b) || __hlt(a, b);
}
WS_H __half2 __hlt2(__half2 a, __half2 b)
{
	return __half2(__half(__hlt(a.x, b.x) ? 1.0f : 0.0f), __half(__hlt(a.y, b.y) ? 1.0f : 0.0f));
}
WS_H bool __hblt2(__half2 a, __half2 b) { return __hlt(a.x, b.x) && __hlt(a.y, b.y); }
WS_H bool __hle(__half a, __half b) { return __half2float(a) <= __half2float(b); }
WS_H bool __hleu(__half a, __half b)
{
	return __half2float(a) != __half2float(a) || __half2float(b) != __half2float(b) || __hle(a, b);
}
WS_H __half2 __hle2(__half2 a, __half2 b)
{
	return __half2(__half(__hle(a.x, b.x) ? 1.0f : 0.0f), __half(__hle(a.y, b.y) ? 1.0f : 0.0f));
}
WS_H bool __hble2(__half2 a, __half2 b) { return __hle(a.x, b.x) && __hle(a.y, b.y); }
WS_H bool __hgt(__half a, __half b) { return __half2float(a) > __half2float(b); }
WS_H bool __hgtu(__half a, __half b)
{
	return __half2float(a) != __half2float(a) || __half2float(b) != __half2float(b) || __hgt(a, b);
}
WS_H __half2 __hgt2(__half2 a, __half2 b)
{
	return __half2(__half(__hgt(a.x, b.x) ? 1.0f : 0.0f), __half(__hgt(a.y, b.y) ? 1.0f : 0.0f));
}
WS_H bool __hbgt2(__half2 a, __half2 b) { return __hgt(a.x, b.x) && __hgt(a.y, b.y); }
WS_H bool __hge(__half a, __half b) { return __half2float(a) >= __half2float(b); }
WS_H bool __hgeu(__half a, __half b)
{
	return __half2float(a) != __half2float(a) || __half2float(b) != __half2float(b) || __hge(a, b);
}
WS_H __half2 __hge2(__half2 a, __half2 b)
{
	return __half2(__half(__hge(a.x, b.x) ? 1.0f : 0.0f), __half(__hge(a.y, b.y) ? 1.0f : 0.0f));
}
WS_H bool __hbge2(__half2 a, __half2 b) { return __hge(a.x, b.x) && __hge(a.y, b.y); }
WS_H bool __hisnan(__half a) { return (a.__x & 0x7fff) > 0x7c00; }
WS_H int __hisinf(__half a) { return a.__x == 0x7c00 ? 1 : a.__x == 0xfc00 ? -1 : 0; }
WS_H __half __hmax(__half a, __half b) { return __half(fmaxf(__half2float(a), __half2float(b))); }
WS_H __half __hmin(__half a, __half b) { return __half(fminf(__half2float(a), __half2float(b))); }
WS_H __half2 __hmax2(__half2 a, __half2 b) { return __half2(__hmax(a.x, b.x), __hmax(a.y, b.y)); }
WS_H __half2 __hmin2(__half2 a, __half2 b) { return __half2(__hmin(a.x, b.x), __hmin(a.y, b.y)); }

/* ---- mathematics, through float ---- */

#define WS_HALF_MATH(NAME, EXPRESSION) \
	WS_H __half h##NAME(__half h) { float a = __half2float(h); return __half(EXPRESSION); } \
	WS_H __half2 h2##NAME(__half2 a) { return __half2(h##NAME(a.x), h##NAME(a.y)); }
WS_HALF_MATH(sqrt, sqrtf(a))
WS_HALF_MATH(rsqrt, rsqrtf(a))
WS_HALF_MATH(rcp, 1.0f / a)
WS_HALF_MATH(exp, expf(a))
WS_HALF_MATH(exp2, exp2f(a))
WS_HALF_MATH(exp10, exp10f(a))
WS_HALF_MATH(log, logf(a))
WS_HALF_MATH(log2, log2f(a))
WS_HALF_MATH(log10, log10f(a))
WS_HALF_MATH(sin, sinf(a))
WS_HALF_MATH(cos, cosf(a))
WS_HALF_MATH(tanh, tanhf(a))
WS_HALF_MATH(floor, floorf(a))
WS_HALF_MATH(ceil, ceilf(a))
WS_HALF_MATH(trunc, truncf(a))
WS_HALF_MATH(rint, rintf(a))
#undef WS_HALF_MATH

/* ---- operators ---- */

WS_H __half operator+(const __half &a, const __half &b) { return __hadd(a, b); }
WS_H __half &operator+=(__half &a, const __half &b) { return a = __hadd(a, b); }
WS_H __half2 operator+(const __half2 &a, const __half2 &b) { return __hadd2(a, b); }
WS_H __half2 &operator+=(__half2 &a, const __half2 &b) { return a = __hadd2(a, b); }
WS_H __half operator-(const __half &a, const __half &b) { return __hsub(a, b); }
WS_H __half &operator-=(__half &a, const __half &b) { return a = __hsub(a, b); }
WS_H __half2 operator-(const __half2 &a, const __half2 &b) { return __hsub2(a, b); }
WS_H __half2 &operator-=(__half2 &a, const __half2 &b) { return a = __hsub2(a, b); }
WS_H __half operator*(const __half &a, const __half &b) { return __hmul(a, b); }
WS_H __half &operator*=(__half &a, const __half &b) { return a = __hmul(a, b); }
WS_H __half2 operator*(const __half2 &a, const __half2 &b) { return __hmul2(a, b); }
WS_H __half2 &operator*=(__half2 &a, const __half2 &b) { return a = __hmul2(a, b); }
WS_H __half operator/(const __half &a, const __half &b) { return __hdiv(a, b); }
WS_H __half &operator/=(__half &a, const __half &b) { return a = __hdiv(a, b); }
WS_H __half2 operator/(const __half2 &a, const __half2 &b) { return __h2div(a, b); }
WS_H __half2 &operator/=(__half2 &a, const __half2 &b) { return a = __h2div(a, b); }
WS_H __half operator-(const __half &a) { return __hneg(a); }
WS_H __half2 operator-(const __half2 &a) { return __hneg2(a); }
WS_H bool operator==(const __half &a, const __half &b) { return __heq(a, b); }
WS_H bool operator!=(const __half &a, const __half &b) { return __hneu(a, b); }
WS_H bool operator<(const __half &a, const __half &b) { return __hlt(a, b); }
WS_H bool operator<=(const __half &a, const __half &b) { return __hle(a, b); }
WS_H bool operator>(const __half &a, const __half &b) { return __hgt(a, b); }
WS_H bool operator>=(const __half &a, const __half &b) { return __hge(a, b); }

/* ---- memory and warps ---- */

WS_H __half2 atomicAdd(__half2 *p, __half2 v)
{
	unsigned int r;
	__asm__ volatile("atom.add.noftz.f16x2 %0, [%1], %2;" : "=r"(r) : "l"(p), "r"(warpsafe_half2_bits(v)) : "memory");
	return warpsafe_half2(r);
}
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700
WS_H __half atomicAdd(__half *p, __half v)
{
	unsigned short r;
	__asm__ volatile("atom.add.noftz.f16 %0, [%1], %2;" : "=h"(r) : "l"(p), "h"(v.__x) : "memory");
	return warpsafe_half(r);
}
#endif
WS_H __half __ldg(const __half *p) { return warpsafe_half(__ldg((const unsigned short *)p)); }
WS_H __half2 __ldg(const __half2 *p) { return warpsafe_half2(__ldg((const unsigned int *)p)); }

#define WS_HALF_SHUFFLE(NAME, T) \
	WS_H __half NAME(unsigned int mask, __half v, T by, int width = 32) \
	{ \
		return warpsafe_half((unsigned short)NAME(mask, (int)v.__x, by, width)); \
	} \
	WS_H __half2 NAME(unsigned int mask, __half2 v, T by, int width = 32) \
	{ \
		return warpsafe_half2((unsigned int)NAME(mask, (int)warpsafe_half2_bits(v), by, width)); \
	}
WS_HALF_SHUFFLE(__shfl_sync, int)
WS_HALF_SHUFFLE(__shfl_up_sync, unsigned int)
WS_HALF_SHUFFLE(__shfl_down_sync, unsigned int)
WS_HALF_SHUFFLE(__shfl_xor_sync, int)
#undef WS_HALF_SHUFFLE
#undef WS_H
#undef WS_HHD

#pragma clang attribute pop

#endif

#endif

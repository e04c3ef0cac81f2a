/* warpsafe_libdevice.h - the functions that clang's CUDA headers expect of NVIDIA's device library (names and meaning:
 * "libdevice User's Guide", NVIDIA), implemented over clang's builtins: integer helpers, conversions, arithmetic with
 * a rounding mode, fast approximations. The mathematical functions are in warpsafe_libm.h.
 *
 * Everything is inline and carries no line information: an instruction gets the line of the call in the program. */
#ifndef WARPSAFE_LIBDEVICE_H
#define WARPSAFE_LIBDEVICE_H

#define WS_DEV extern "C" inline __attribute__((device, always_inline, nodebug))

/* One instruction with two operands. clang knows builtins for add.rn and mul.rn, but takes them for plain additions and
 * multiplications, which may then be fused: what these functions exist to prevent ("CUDA Math API"). */
#define WS_ASM2(T, REG, OP, A, B) \
	({ \
		T r_; \
		__asm__(OP " %0, %1, %2;" : "=" REG(r_) : REG(A), REG(B)); \
		r_; \
	})
#if defined(__CUDA_FTZ) && __CUDA_FTZ
#define WS_FTZ ".ftz"
#else
#define WS_FTZ ""
#endif
#define WS_ASM1(T, REG, OP, FROM, A) \
	({ \
		T r_; \
		__asm__(OP " %0, %1;" : "=" REG(r_) : FROM(A)); \
		r_; \
	})

/* ---- arithmetic with a rounding mode: rn nearest even, rz to zero, rd down (PTX .rm), ru up (PTX .rp) ---- */
#define WS_ROUNDED(NV, PTX) \
	WS_DEV double __nv_dadd_##NV(double a, double b) { return WS_ASM2(double, "d", "add." #PTX ".f64", a, b); } \
	WS_DEV double __nv_dsub_##NV(double a, double b) { return WS_ASM2(double, "d", "sub." #PTX ".f64", a, b); } \
	WS_DEV double __nv_dmul_##NV(double a, double b) { return WS_ASM2(double, "d", "mul." #PTX ".f64", a, b); } \
	WS_DEV double __nv_ddiv_##NV(double a, double b) { return __nvvm_div_##PTX##_d(a, b); } \
	WS_DEV double __nv_drcp_##NV(double a) { return __nvvm_rcp_##PTX##_d(a); } \
	WS_DEV double __nv_dsqrt_##NV(double a) { return __nvvm_sqrt_##PTX##_d(a); } \
	WS_DEV double __nv_fma_##NV(double a, double b, double c) { return __nvvm_fma_##PTX##_d(a, b, c); } \
	WS_DEV float __nv_fadd_##NV(float a, float b) { return WS_ASM2(float, "f", "add." #PTX WS_FTZ ".f32", a, b); } \
	WS_DEV float __nv_fsub_##NV(float a, float b) { return WS_ASM2(float, "f", "sub." #PTX WS_FTZ ".f32", a, b); } \
	WS_DEV float __nv_fmul_##NV(float a, float b) { return WS_ASM2(float, "f", "mul." #PTX WS_FTZ ".f32", a, b); } \
	WS_DEV float __nv_fdiv_##NV(float a, float b) { return __nvvm_div_##PTX##_f(a, b); } \
	WS_DEV float __nv_frcp_##NV(float a) { return __nvvm_rcp_##PTX##_f(a); } \
	WS_DEV float __nv_fsqrt_##NV(float a) { return __nvvm_sqrt_##PTX##_f(a); } \
	WS_DEV float __nv_fmaf_##NV(float a, float b, float c) { return __nvvm_fma_##PTX##_f(a, b, c); } \
	WS_DEV float __nv_fmaf_ieee_##NV(float a, float b, float c) { return __nvvm_fma_##PTX##_f(a, b, c); } \
	WS_DEV float __nv_double2float_##NV(double a) { return __nvvm_d2f_##PTX(a); } \
	WS_DEV int __nv_double2int_##NV(double a) { return __nvvm_d2i_##PTX(a); } \
	WS_DEV unsigned int __nv_double2uint_##NV(double a) { return __nvvm_d2ui_##PTX(a); } \
	WS_DEV long long __nv_double2ll_##NV(double a) { return __nvvm_d2ll_##PTX(a); } \
	WS_DEV unsigned long long __nv_double2ull_##NV(double a) { return __nvvm_d2ull_##PTX(a); } \
	WS_DEV int __nv_float2int_##NV(float a) { return __nvvm_f2i_##PTX(a); } \
	WS_DEV unsigned int __nv_float2uint_##NV(float a) { return __nvvm_f2ui_##PTX(a); } \
	WS_DEV long long __nv_float2ll_##NV(float a) { return __nvvm_f2ll_##PTX(a); } \
	WS_DEV unsigned long long __nv_float2ull_##NV(float a) { return __nvvm_f2ull_##PTX(a); } \
	WS_DEV float __nv_int2float_##NV(int a) { return WS_ASM1(float, "f", "cvt." #PTX ".f32.s32", "r", a); } \
	WS_DEV float __nv_uint2float_##NV(unsigned int a) { return WS_ASM1(float, "f", "cvt." #PTX ".f32.u32", "r", a); } \
	WS_DEV float __nv_ll2float_##NV(long long a) { return WS_ASM1(float, "f", "cvt." #PTX ".f32.s64", "l", a); } \
	WS_DEV float __nv_ull2float_##NV(unsigned long long a) \
	{ \
		return WS_ASM1(float, "f", "cvt." #PTX ".f32.u64", "l", a); \
	} \
	WS_DEV double __nv_ll2double_##NV(long long a) { return WS_ASM1(double, "d", "cvt." #PTX ".f64.s64", "l", a); } \
	WS_DEV double __nv_ull2double_##NV(unsigned long long a) \
	{ \
		return WS_ASM1(double, "d", "cvt." #PTX ".f64.u64", "l", a); \
	}
WS_ROUNDED(rn, rn)
WS_ROUNDED(rz, rz)
WS_ROUNDED(rd, rm)
WS_ROUNDED(ru, rp)
#undef WS_ROUNDED
WS_DEV double __nv_int2double_rn(int a) { return (double)a; }
WS_DEV double __nv_uint2double_rn(unsigned int a) { return (double)a; }

/* ---- bits ---- */
WS_DEV int __nv_float_as_int(float a) { return __builtin_bit_cast(int, a); }
WS_DEV unsigned int __nv_float_as_uint(float a) { return __builtin_bit_cast(unsigned int, a); }
WS_DEV float __nv_int_as_float(int a) { return __builtin_bit_cast(float, a); }
WS_DEV float __nv_uint_as_float(unsigned int a) { return __builtin_bit_cast(float, a); }
WS_DEV decltype(__nv_double_as_longlong(0.0)) __nv_double_as_longlong(double a)
{
	return __builtin_bit_cast(long long, a);       /* clang versions differ in its sign */
}
WS_DEV double __nv_longlong_as_double(long long a) { return __builtin_bit_cast(double, a); }
WS_DEV int __nv_double2hiint(double a) { return (int)(__builtin_bit_cast(unsigned long long, a) >> 32); }
WS_DEV int __nv_double2loint(double a) { return (int)__builtin_bit_cast(unsigned long long, a); }
WS_DEV double __nv_hiloint2double(int hi, int lo)
{
	return __builtin_bit_cast(double, (unsigned long long)(unsigned int)hi << 32 | (unsigned int)lo);
}
WS_DEV double __nv_rcp64h(double a) { return 1.0 / a; }
WS_DEV int __nv_clz(int a) { return a ? __builtin_clz(a) : 32; }
WS_DEV int __nv_clzll(long long a) { return a ? __builtin_clzll(a) : 64; }
WS_DEV int __nv_ffs(int a) { return a ? __builtin_ctz(a) + 1 : 0; }
WS_DEV int __nv_ffsll(long long a) { return a ? __builtin_ctzll(a) + 1 : 0; }
WS_DEV int __nv_popc(int a) { return __builtin_popcount(a); }
WS_DEV int __nv_popcll(long long a) { return __builtin_popcountll(a); }
WS_DEV int __nv_brev(int a) { return (int)__builtin_bitreverse32(a); }
WS_DEV long long __nv_brevll(long long a) { return (long long)__builtin_bitreverse64(a); }
WS_DEV int __nv_byte_perm(int a, int b, int s) { return __nvvm_prmt(a, b, s); }

/* ---- integers ---- */
WS_DEV int __nv_abs(int a) { return a < 0 ? -a : a; }
WS_DEV long long __nv_llabs(long long a) { return a < 0 ? -a : a; }
WS_DEV int __nv_min(int a, int b) { return a < b ? a : b; }
WS_DEV int __nv_max(int a, int b) { return a > b ? a : b; }
WS_DEV unsigned int __nv_umin(unsigned int a, unsigned int b) { return a < b ? a : b; }
WS_DEV unsigned int __nv_umax(unsigned int a, unsigned int b) { return a > b ? a : b; }
WS_DEV long long __nv_llmin(long long a, long long b) { return a < b ? a : b; }
WS_DEV long long __nv_llmax(long long a, long long b) { return a > b ? a : b; }
WS_DEV unsigned long long __nv_ullmin(unsigned long long a, unsigned long long b) { return a < b ? a : b; }
WS_DEV unsigned long long __nv_ullmax(unsigned long long a, unsigned long long b) { return a > b ? a : b; }
WS_DEV int __nv_mulhi(int a, int b) { return __nvvm_mulhi_i(a, b); }
WS_DEV unsigned int __nv_umulhi(unsigned int a, unsigned int b) { return __nvvm_mulhi_ui(a, b); }
WS_DEV long long __nv_mul64hi(long long a, long long b) { return __nvvm_mulhi_ll(a, b); }
WS_DEV unsigned long long __nv_umul64hi(unsigned long long a, unsigned long long b) { return __nvvm_mulhi_ull(a, b); }
WS_DEV int __nv_mul24(int a, int b) { return __nvvm_mul24_i(a, b); }
WS_DEV unsigned int __nv_umul24(unsigned int a, unsigned int b) { return __nvvm_mul24_ui(a, b); }
WS_DEV int __nv_sad(int a, int b, int c) { return __nvvm_sad_i(a, b, c); }
WS_DEV unsigned int __nv_usad(unsigned int a, unsigned int b, unsigned int c) { return __nvvm_sad_ui(a, b, c); }
WS_DEV int __nv_hadd(int a, int b) { return (int)(((long long)a + b) >> 1); }
WS_DEV int __nv_rhadd(int a, int b) { return (int)(((long long)a + b + 1) >> 1); }
WS_DEV int __nv_uhadd(unsigned int a, unsigned int b) { return (int)(((unsigned long long)a + b) >> 1); }
WS_DEV unsigned int __nv_urhadd(unsigned int a, unsigned int b)
{
	return (unsigned int)(((unsigned long long)a + b + 1) >> 1);
}

/* ---- one PTX instruction each ---- */
WS_DEV float __nv_saturatef(float a) { return __nvvm_saturate_f(a); }
WS_DEV float __nv_fabsf(float a) { return __builtin_fabsf(a); }
WS_DEV double __nv_fabs(double a) { return __builtin_fabs(a); }
WS_DEV float __nv_fmaf(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
WS_DEV double __nv_fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
WS_DEV float __nv_fminf(float a, float b) { return __builtin_fminf(a, b); }
WS_DEV float __nv_fmaxf(float a, float b) { return __builtin_fmaxf(a, b); }
WS_DEV double __nv_fmin(double a, double b) { return __builtin_fmin(a, b); }
WS_DEV double __nv_fmax(double a, double b) { return __builtin_fmax(a, b); }
WS_DEV float __nv_sqrtf(float a) { return __builtin_sqrtf(a); }
WS_DEV double __nv_sqrt(double a) { return __builtin_sqrt(a); }
WS_DEV float __nv_floorf(float a) { return __builtin_floorf(a); }
WS_DEV double __nv_floor(double a) { return __builtin_floor(a); }
WS_DEV float __nv_ceilf(float a) { return __builtin_ceilf(a); }
WS_DEV double __nv_ceil(double a) { return __builtin_ceil(a); }
WS_DEV float __nv_truncf(float a) { return __builtin_truncf(a); }
WS_DEV double __nv_trunc(double a) { return __builtin_trunc(a); }
WS_DEV float __nv_rintf(float a) { return __builtin_rintf(a); }
WS_DEV double __nv_rint(double a) { return __builtin_rint(a); }
WS_DEV float __nv_nearbyintf(float a) { return __builtin_rintf(a); }
WS_DEV double __nv_nearbyint(double a) { return __builtin_rint(a); }
WS_DEV float __nv_copysignf(float a, float b) { return __builtin_copysignf(a, b); }
WS_DEV double __nv_copysign(double a, double b) { return __builtin_copysign(a, b); }
WS_DEV long long __nv_llrint(double a) { return __nvvm_d2ll_rn(a); }
WS_DEV long long __nv_llrintf(float a) { return __nvvm_f2ll_rn(a); }

/* ---- classes of numbers ---- */
WS_DEV int __nv_isnanf(float a) { return a != a; }
WS_DEV int __nv_isnand(double a) { return a != a; }
WS_DEV int __nv_isinff(float a) { return __builtin_fabsf(a) == __builtin_inff(); }
WS_DEV int __nv_isinfd(double a) { return __builtin_fabs(a) == __builtin_inf(); }
WS_DEV int __nv_finitef(float a) { return __builtin_fabsf(a) < __builtin_inff(); }
WS_DEV int __nv_isfinited(double a) { return __builtin_fabs(a) < __builtin_inf(); }
WS_DEV int __nv_signbitf(float a) { return __builtin_bit_cast(unsigned int, a) >> 31; }
WS_DEV int __nv_signbitd(double a) { return (int)(__builtin_bit_cast(unsigned long long, a) >> 63); }
WS_DEV float __nv_nanf(const signed char *) { return __builtin_nanf(""); }
WS_DEV double __nv_nan(const signed char *) { return __builtin_nan(""); }

/* ---- fast approximations ("CUDA C++ Programming Guide", Intrinsic Functions) ---- */
WS_DEV float __nv_fast_sinf(float a) { return __nvvm_sin_approx_f(a); }
WS_DEV float __nv_fast_cosf(float a) { return __nvvm_cos_approx_f(a); }
WS_DEV void __nv_fast_sincosf(float a, float *s, float *c)
{
	*s = __nvvm_sin_approx_f(a);
	*c = __nvvm_cos_approx_f(a);
}
WS_DEV float __nv_fast_tanf(float a) { return __nvvm_div_approx_f(__nvvm_sin_approx_f(a), __nvvm_cos_approx_f(a)); }
WS_DEV float __nv_fast_log2f(float a) { return __nvvm_lg2_approx_f(a); }
WS_DEV float __nv_fast_logf(float a) { return __nvvm_lg2_approx_f(a) * 0.693147182f; }
WS_DEV float __nv_fast_log10f(float a) { return __nvvm_lg2_approx_f(a) * 0.301030010f; }
WS_DEV float __nv_fast_expf(float a) { return __nvvm_ex2_approx_f(a * 1.44269502f); }
WS_DEV float __nv_fast_exp10f(float a) { return __nvvm_ex2_approx_f(a * 3.32192802f); }
WS_DEV float __nv_fast_powf(float a, float b) { return __nvvm_ex2_approx_f(b * __nvvm_lg2_approx_f(a)); }
WS_DEV float __nv_fast_fdividef(float a, float b) { return __nvvm_div_approx_f(a, b); }
WS_DEV float __nv_frsqrt_rn(float a) { return (float)(1.0 / __nvvm_sqrt_rn_d(a)); }

/* ---- half precision, as bits ---- */
WS_DEV float __nv_half2float(unsigned short h)
{
	float f;
	__asm__("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(h));
	return f;
}
WS_DEV unsigned short __nv_float2half_rn(float f)
{
	unsigned short h;
	__asm__("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(f));
	return h;
}

#include "warpsafe_libm.h"

#undef WS_DEV
#undef WS_ASM1
#undef WS_ASM2
#undef WS_FTZ

#endif

/* vector_functions.h - make_int4 and its relatives. Part of warpsafe's own CUDA headers. */
#ifndef WARPSAFE_VECTOR_FUNCTIONS_H
#define WARPSAFE_VECTOR_FUNCTIONS_H
#define __VECTOR_FUNCTIONS_H__ /* programs ask for this one */

#include "vector_types.h"

#if defined(__CUDA__)
#define WARPSAFE_MAKE static __inline__ __host__ __device__ __attribute__((always_inline, nodebug, unused))
#else
#define WARPSAFE_MAKE static __inline__ __attribute__((unused))
#endif

WARPSAFE_MAKE char1 make_char1(signed char x)
{
	char1 v;
	v.x = x;
	return v;
}
WARPSAFE_MAKE char2 make_char2(signed char x, signed char y)
{
	char2 v;
	v.x = x; v.y = y;
	return v;
}
WARPSAFE_MAKE char3 make_char3(signed char x, signed char y, signed char z)
{
	char3 v;
	v.x = x; v.y = y; v.z = z;
	return v;
}
WARPSAFE_MAKE char4 make_char4(signed char x, signed char y, signed char z, signed char w)
{
	char4 v;
	v.x = x; v.y = y; v.z = z; v.w = w;
	return v;
}
WARPSAFE_MAKE uchar1 make_uchar1(unsigned char x)
{
	uchar1 v;
	v.x = x;
	return v;
}
WARPSAFE_MAKE uchar2 make_uchar2(unsigned char x, unsigned char y)
{
	uchar2 v;
	v.x = x; v.y = y;
	return v;
}
WARPSAFE_MAKE uchar3 make_uchar3(unsigned char x, unsigned char y, unsigned char z)
{
	uchar3 v;
	v.x = x; v.y = y; v.z = z;
	return v;
}
WARPSAFE_MAKE uchar4 make_uchar4(unsigned char x, unsigned char y, unsigned char z, unsigned char w)
{
	uchar4 v;
	v.x = x; v.y = y; v.z = z; v.w = w;
	return v;
}
WARPSAFE_MAKE short1 make_short1(short x)
{
	short1 v;
	v.x = x;
	return v;
}
WARPSAFE_MAKE short2 make_short2(short x, short y)
{
	short2 v;
	v.x = x; v.y = y;
	return v;
}
WARPSAFE_MAKE short3 make_short3(short x, short y, short z)
{
	short3 v;
	v.x = x; v.y = y; v.z = z;
	return v;
}
WARPSAFE_MAKE short4 make_short4(short x, short y, short z, short w)
{
	short4 v;
	v.x = x; v.y = y; v.z = z; v.w = w;
	return v;
}
WARPSAFE_MAKE ushort1 make_ushort1(unsigned short x)
{
	ushort1 v;
	v.x = x;
	return v;
}
WARPSAFE_MAKE ushort2 make_ushort2(unsigned short x, unsigned short y)
{
	ushort2 v;
	v.x = x; v.y = y;
	return v;
}
WARPSAFE_MAKE ushort3 make_ushort3(unsigned short x, unsigned short y, unsigned short z)
{
	ushort3 v;
	v.x = x; v.y = y; v.z = z;
	return v;
}
WARPSAFE_MAKE ushort4 make_ushort4(unsigned short x, unsigned short y, unsigned short z, unsigned short w)
{
	ushort4 v;
	v.x = x; v.y = y; v.z = z; v.w = w;
	return v;
}
WARPSAFE_MAKE int1 make_int1(int x)
{
	int1 v;
	v.x = x;
	return v;
}
WARPSAFE_MAKE int2 make_int2(int x, int y)
{
	int2 v;
	v.x = x; v.y = y;
	return v;
}
WARPSAFE_MAKE int3 make_int3(int x, int y, int z)
{
	int3 v;
	v.x = x; v.y = y; v.z = z;
	return v;
}
WARPSAFE_MAKE int4 make_int4(int x, int y, int z, int w)
{
	int4 v;
	v.x = x; v.y = y; v.z = z; v.w = w;
	return v;
}
WARPSAFE_MAKE uint1 make_uint1(unsigned int x)
{
	uint1 v;
	v.x = x;
	return v;
}
WARPSAFE_MAKE uint2 make_uint2(unsigned int x, unsigned int y)
{
	uint2 v;
	v.x = x; v.y = y;
	return v;
}
WARPSAFE_MAKE uint3 make_uint3(unsigned int x, unsigned int y, unsigned int z)
{
	uint3 v;
	v.x = x; v.y = y; v.z = z;
	return v;
}
WARPSAFE_MAKE uint4 make_uint4(unsigned int x, unsigned int y, unsigned int z, unsigned int w)
{
	uint4 v;
	v.x = x; v.y = y; v.z = z; v.w = w;
	return v;
}
WARPSAFE_MAKE long1 make_long1(long int x)
{
	long1 v;
	v.x = x;
	return v;
}
WARPSAFE_MAKE long2 make_long2(long int x, long int y)
{
	long2 v;
	v.x = x; v.y = y;
	return v;
}
WARPSAFE_MAKE long3 make_long3(long int x, long int y, long int z)
{
	long3 v;
	v.x = x; v.y = y; v.z = z;
	return v;
}
WARPSAFE_MAKE long4 make_long4(long int x, long int y, long int z, long int w)
{
	long4 v;
	v.x = x; v.y = y; v.z = z; v.w = w;
	return v;
}
WARPSAFE_MAKE ulong1 make_ulong1(unsigned long int x)
{
	ulong1 v;
	v.x = x;
	return v;
}
WARPSAFE_MAKE ulong2 make_ulong2(unsigned long int x, unsigned long int y)
{
	ulong2 v;
	v.x = x; v.y = y;
	return v;
}
WARPSAFE_MAKE ulong3 make_ulong3(unsigned long int x, unsigned long int y, unsigned long int z)
{
	ulong3 v;
	v.x = x; v.y = y; v.z = z;
	return v;
}
WARPSAFE_MAKE ulong4 make_ulong4(unsigned long int x, unsigned long int y, unsigned long int z, unsigned long int w)
{
	ulong4 v;
	v.x = x; v.y = y; v.z = z; v.w = w;
	return v;
}
WARPSAFE_MAKE longlong1 make_longlong1(long long int x)
{
	longlong1 v;
	v.x = x;
	return v;
}
WARPSAFE_MAKE longlong2 make_longlong2(long long int x, long long int y)
{
	longlong2 v;
	v.x = x; v.y = y;
	return v;
}
WARPSAFE_MAKE longlong3 make_longlong3(long long int x, long long int y, long long int z)
{
	longlong3 v;
	v.x = x; v.y = y; v.z = z;
	return v;
}
WARPSAFE_MAKE longlong4 make_longlong4(long long int x, long long int y, long long int z, long long int w)
{
	longlong4 v;
	v.x = x; v.y = y; v.z = z; v.w = w;
	return v;
}
WARPSAFE_MAKE ulonglong1 make_ulonglong1(unsigned long long int x)
{
	ulonglong1 v;
	v.x = x;
	return v;
}
WARPSAFE_MAKE ulonglong2 make_ulonglong2(unsigned long long int x, unsigned long long int y)
{
	ulonglong2 v;
	v.x = x; v.y = y;
	return v;
}
WARPSAFE_MAKE ulonglong3 make_ulonglong3(unsigned long long int x, unsigned long long int y, unsigned long long int z)
{
	ulonglong3 v;
	v.x = x; v.y = y; v.z = z;
	return v;
}
WARPSAFE_MAKE ulonglong4 make_ulonglong4(unsigned long long int x, unsigned long long int y, unsigned long long int z,
                                         unsigned long long int w)
{
	ulonglong4 v;
	v.x = x; v.y = y; v.z = z; v.w = w;
	return v;
}
WARPSAFE_MAKE float1 make_float1(float x)
{
	float1 v;
	v.x = x;
	return v;
}
WARPSAFE_MAKE float2 make_float2(float x, float y)
{
	float2 v;
	v.x = x; v.y = y;
	return v;
}
WARPSAFE_MAKE float3 make_float3(float x, float y, float z)
{
	float3 v;
	v.x = x; v.y = y; v.z = z;
	return v;
}
WARPSAFE_MAKE float4 make_float4(float x, float y, float z, float w)
{
	float4 v;
	v.x = x; v.y = y; v.z = z; v.w = w;
	return v;
}
WARPSAFE_MAKE double1 make_double1(double x)
{
	double1 v;
	v.x = x;
	return v;
}
WARPSAFE_MAKE double2 make_double2(double x, double y)
{
	double2 v;
	v.x = x; v.y = y;
	return v;
}
WARPSAFE_MAKE double3 make_double3(double x, double y, double z)
{
	double3 v;
	v.x = x; v.y = y; v.z = z;
	return v;
}
WARPSAFE_MAKE double4 make_double4(double x, double y, double z, double w)
{
	double4 v;
	v.x = x; v.y = y; v.z = z; v.w = w;
	return v;
}

#undef WARPSAFE_MAKE

#endif

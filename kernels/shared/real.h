/* Real: the floating-point type of the device state, for both the OpenCL and the host compiler. */
#ifndef SHARED_REAL_H
#define SHARED_REAL_H

#ifdef __OPENCL_VERSION__

#if REAL_IS_DOUBLE
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef double real;
typedef double2 real2;
typedef double4 real4;
typedef double8 real8;
typedef double16 real16;
#else
typedef float real;
typedef float2 real2;
typedef float4 real4;
typedef float8 real8;
typedef float16 real16;
#endif

#else /* the host */

#include <math.h>
#if REAL_IS_DOUBLE
typedef double real;
#else
typedef float real;
#endif
typedef unsigned int uint;
typedef unsigned long ulong;

#endif

#endif

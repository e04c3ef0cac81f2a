/* device_launch_parameters.h - threadIdx, blockIdx, blockDim, gridDim and warpSize come with clang's own header
 * __clang_cuda_builtin_vars.h, which warpsafe_prelude.h includes; this file is for programs that name it. */
#ifndef WARPSAFE_DEVICE_LAUNCH_PARAMETERS_H
#define WARPSAFE_DEVICE_LAUNCH_PARAMETERS_H
#define __DEVICE_LAUNCH_PARAMETERS_H__ /* programs ask for this one */
#include "vector_types.h"
#endif

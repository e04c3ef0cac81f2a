/* cuda_profiler_api.h - cudaProfilerStart and cudaProfilerStop come with cuda_runtime_api.h. */
#include "cuda_runtime_api.h"

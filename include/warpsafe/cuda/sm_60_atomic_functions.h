/* sm_60_atomic_functions.h - for programs that name it: all of it comes with cuda_runtime.h. */
#include "cuda_runtime.h"

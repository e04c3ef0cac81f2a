/* cuda_awbarrier.h - see cuda_awbarrier_primitives.h. */
#include "cuda_awbarrier_primitives.h"

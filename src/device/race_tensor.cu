/* race_tensor.cu - race_remote.cu for kernels with products of warpgroups (wgmma) and copies of tensors. All others have code
 * without what they need. */
#define SM90 1
#define REMOTE 1
#define TENSOR 1
#include "race.cu"

/* race_remote.cu - race_sm90.cu for kernels with operations that complete on mbarrier objects of other blocks, and bulk copies
 * that reduce. All others have code without what they need. */
#define SM90 1
#define REMOTE 1
#include "race.cu"

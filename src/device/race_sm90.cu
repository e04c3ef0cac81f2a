/* race_sm90.cu - race.cu for kernels that know of clusters or have bulk copies: with what they need. All others have code
 * without it. */
#define SM90 1
#include "race.cu"

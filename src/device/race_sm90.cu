/* race_sm90.cu - race.cu for kernels that know of clusters: with what they need. All others have code without it. */
#define CLUSTERS 1
#include "race.cu"

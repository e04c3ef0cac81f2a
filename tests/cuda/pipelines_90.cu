// The same as pipelines.cu, where barriers of a block are those of compute capability 9.0, with try_wait and bulk copies.
// expect: ok
// ways: nvcc
// flags: -std=c++17 -arch=sm_90
#include "pipelines.cu"

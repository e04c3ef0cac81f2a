// What the test programs share: every call is checked, a wrong value ends the program with 1.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>

#define CHECK(call) do { cudaError_t e_ = (call); if (e_ != cudaSuccess) { \
	printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(e_)); exit(1); } } while (0)
#define IS(call, want) do { int e_ = (int)(call); if (e_ != (int)(want)) { \
	printf("%s:%d: %s is %d, not %d\n", __FILE__, __LINE__, #call, e_, (int)(want)); exit(1); } } while (0)
#define TRUE(what) do { if (!(what)) { printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #what); exit(1); } } while (0)

// What the simulated GPU does not have is refused by name.
// expect: operation not supported
// stderr: cudaMallocArray is not supported on the simulated GPU
// ways: nvcc shared
#include "check.h"

int main()
{
	cudaArray_t a;
	cudaChannelFormatDesc d = cudaCreateChannelDesc<float>();
	IS(d.x, 32);
	IS(d.f, cudaChannelFormatKindFloat);
	printf("%s\n", cudaGetErrorString(cudaMallocArray(&a, &d, 16, 16)));
	return 0;
}

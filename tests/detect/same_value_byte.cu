// A flag of one byte, in an allocation of its own, that all threads set: nothing is read beyond it.
// category: 14
// racy: warning WAW global same-value
#include <cuda_runtime.h>

__global__ void kernel(bool *flag, int *out)
{
	int t = threadIdx.x;

#ifdef FIXED
	if (t == 0)
#endif
		*flag = true;
	__syncthreads();
	out[t] = *flag;
}

int main()
{
	bool *flag;
	int *out;

	if (cudaMalloc(&flag, 1) || cudaMalloc(&out, 256) || cudaMemset(flag, 0, 1))
		return 3;
	kernel<<<1, 64>>>(flag, out);
	return cudaGetLastError() || cudaDeviceSynchronize() ? 3 : 0;
}

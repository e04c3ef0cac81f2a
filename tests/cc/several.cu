// with: several_part.cu several_host.cpp several_c.c
// Several files in one program: kernels in two of them, C++ and C in others.
#include "check.h"
#include "several.h"

__global__ void local_kernel(int *p) { *p += 1; }
static __device__ int same_name = 3;

int main()
{
	int v = 0;
	Mirror<int> d(&v, 1);
	local_kernel<<<1, 1>>>(d.device);
	launch_other(d.device);
	d.fetch();
	EXPECT(v == 1 + 100 + 7);
	int mine;
	CUDA(cudaMemcpyFromSymbol(&mine, same_name, sizeof mine));
	EXPECT(mine == 3);
	EXPECT(devices_seen() == 1);
	EXPECT(bytes_per_block() > 1000);
	return bad;
}

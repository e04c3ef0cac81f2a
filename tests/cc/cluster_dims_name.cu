// flags: -DSIZE=two
// expect: the sizes of __cluster_dims__ of 'k' must be numbers
// expect: 912
#include <cstdio>
#include <unistd.h>
#include <cuda_runtime.h>

__global__ void __cluster_dims__(SIZE, 1, 1) k(int *p) { *p = 1; }

int main()
{
	int *p;
	dup2(1, 2);
	cudaMalloc(&p, 4);
	k<<<4, 32>>>(p);
	printf("%d\n", (int)cudaGetLastError());
	return 0;
}

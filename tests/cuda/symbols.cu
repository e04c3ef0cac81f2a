// Variables of the program: constants, device arrays, parts of them, their addresses and sizes.
// expect: ok
#include "check.h"

__constant__ int factor[4];
__device__ int table[64];
__device__ int preset = 41;
static __device__ unsigned hits;

__global__ void work()
{
	int i = threadIdx.x;
	table[i] = table[i] * factor[i % 4] + preset;
	atomicAdd(&hits, 1u);
}

int main()
{
	int h[64], f[4] = { 1, 2, 3, 4 };
	unsigned n;
	void *p;
	size_t size;
	for (int i = 0; i < 64; i++)
		h[i] = i;
	CHECK(cudaMemcpyToSymbol(table, h, sizeof h));
	CHECK(cudaMemcpyToSymbol(factor, f, sizeof f));
	CHECK(cudaMemcpyToSymbol(factor, &f[1], 2 * sizeof(int), 2 * sizeof(int)));
	work<<<1, 64>>>();
	CHECK(cudaMemcpyFromSymbol(&n, hits, sizeof n));
	IS(n, 64);
	CHECK(cudaMemcpyFromSymbol(h, table, sizeof h));
	for (int i = 0; i < 64; i++)
		IS(h[i], i * (i % 4 == 0 ? 1 : i % 4 == 1 ? 2 : i % 4) + 41);
	CHECK(cudaGetSymbolSize(&size, table));
	IS(size, sizeof h);
	CHECK(cudaGetSymbolAddress(&p, table));
	CHECK(cudaMemset((int *)p + 1, 0xff, sizeof(int)));
	CHECK(cudaMemcpyFromSymbol(h, table, 3 * sizeof(int)));
	IS(h[1], -1);
	IS(cudaMemcpyToSymbol(table, h, sizeof h, 4), cudaErrorInvalidValue);
	IS(cudaGetSymbolAddress(&p, h), cudaErrorInvalidSymbol);
	IS(cudaGetLastError(), cudaErrorInvalidSymbol);
	printf("ok\n");
	return 0;
}

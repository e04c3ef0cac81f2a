// The first program of everybody.
// expect: ok 2997
#include "check.h"

__global__ void add(const float *a, const float *b, float *c, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		c[i] = a[i] + 2 * b[i];
}

int main()
{
	const int n = 1000;
	float h[n], *a, *b, *c;
	for (int i = 0; i < n; i++)
		h[i] = (float)i;
	CHECK(cudaMalloc(&a, sizeof h));
	CHECK(cudaMalloc(&b, sizeof h));
	CHECK(cudaMalloc(&c, sizeof h));
	CHECK(cudaMemcpy(a, h, sizeof h, cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(b, a, sizeof h, cudaMemcpyDeviceToDevice));
	add<<<(n + 255) / 256, 256>>>(a, b, c, n);
	CHECK(cudaGetLastError());
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaMemcpy(h, c, sizeof h, cudaMemcpyDeviceToHost));
	for (int i = 0; i < n; i++)
		TRUE(h[i] == 3.0f * i);
	CHECK(cudaFree(a));
	CHECK(cudaFree(b));
	CHECK(cudaFree(c));
	printf("ok %g\n", h[n - 1]);
	return 0;
}

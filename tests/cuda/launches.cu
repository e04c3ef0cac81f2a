// Kernels of all sorts: templates, structs by value, static ones, by pointer, through cudaLaunchKernel, cooperative.
// expect: ok
#include "check.h"

struct odd { char c; double d; short s[3]; };

template <typename T, int N> __global__ void scale(T *x)
{
	x[threadIdx.x] *= N;
}

static __global__ void take(odd o, char c, odd *out, int *n)
{
	*out = o;
	*n = c;
}

namespace space { __global__ void one(int *x) { x[0] = 1; } }

int main()
{
	odd o = { 'x', 2.5, { 1, 2, 3 } }, r, *d;
	double h[4] = { 1, 2, 3, 4 }, *x;
	int *n, c;
	CHECK(cudaMalloc(&d, sizeof *d));
	CHECK(cudaMalloc(&n, sizeof *n));
	CHECK(cudaMalloc(&x, sizeof h));
	CHECK(cudaMemcpy(x, h, sizeof h, cudaMemcpyDefault));
	scale<double, 3><<<1, 4>>>(x);
	CHECK(cudaMemcpy(h, x, sizeof h, cudaMemcpyDefault));
	TRUE(h[3] == 12);
	take<<<1, 1>>>(o, 'y', d, n);
	CHECK(cudaMemcpy(&r, d, sizeof r, cudaMemcpyDeviceToHost));
	CHECK(cudaMemcpy(&c, n, sizeof c, cudaMemcpyDeviceToHost));
	TRUE(r.c == 'x' && r.d == 2.5 && r.s[2] == 3 && c == 'y');
	void (*k)(int *) = space::one;
	k<<<dim3(1, 1), dim3(1)>>>(n);
	CHECK(cudaMemcpy(&c, n, sizeof c, cudaMemcpyDeviceToHost));
	IS(c, 1);
	void *args[] = { &x };
	CHECK(cudaLaunchKernel((void *)scale<double, 5>, dim3(1), dim3(4), args, 0, 0));
	CHECK(cudaLaunchCooperativeKernel((void *)scale<double, 2>, dim3(1), dim3(4), args, 0, 0));
	CHECK(cudaMemcpy(h, x, sizeof h, cudaMemcpyDefault));
	TRUE(h[0] == 30);
	IS(cudaLaunchCooperativeKernel((void *)scale<double, 2>, dim3(60000), dim3(4), args, 0, 0),
	   cudaErrorCooperativeLaunchTooLarge);
	IS(cudaLaunchKernel((void *)main, dim3(1), dim3(4), args, 0, 0), cudaErrorInvalidDeviceFunction);
	printf("ok\n");
	return 0;
}

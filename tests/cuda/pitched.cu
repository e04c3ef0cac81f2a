// Pitched and three-dimensional memory, stream-ordered memory.
// expect: ok
#include "check.h"

__global__ void twice(char *p, size_t pitch, int width, int height)
{
	int x = threadIdx.x, y = blockIdx.x;
	if (x < width && y < height)
		((int *)(p + y * pitch))[x] *= 2;
}

static void two()
{
	int in[5][7], out[5][7];
	char *p;
	size_t pitch;
	for (int i = 0; i < 35; i++)
		in[i / 7][i % 7] = i;
	CHECK(cudaMallocPitch(&p, &pitch, 7 * sizeof(int), 5));
	TRUE(pitch >= 7 * sizeof(int) && pitch % 32 == 0);
	CHECK(cudaMemset2D(p, pitch, 0xff, pitch, 5));
	CHECK(cudaMemcpy2D(p, pitch, in, sizeof in[0], sizeof in[0], 5, cudaMemcpyHostToDevice));
	twice<<<5, 32>>>(p, pitch, 7, 5);
	CHECK(cudaMemcpy2D(out, sizeof out[0], p, pitch, sizeof out[0], 5, cudaMemcpyDeviceToHost));
	for (int i = 0; i < 35; i++)
		IS(out[i / 7][i % 7], 2 * i);
	IS(cudaMemcpy2D(out, 4, p, pitch, sizeof out[0], 5, cudaMemcpyDeviceToHost), cudaErrorInvalidPitchValue);
	CHECK(cudaFree(p));
}

static void three()
{
	char in[3][4][5], out[3][4][5];
	cudaPitchedPtr d;
	cudaExtent e = { 5, 4, 3 };
	cudaMemcpy3DParms c;
	for (int i = 0; i < 60; i++)
		(&in[0][0][0])[i] = (char)i;
	memset(out, 0, sizeof out);
	CHECK(cudaMalloc3D(&d, e));
	CHECK(cudaMemset3D(d, 9, e));
	memset(&c, 0, sizeof c);
	c.srcPtr = make_cudaPitchedPtr(in, 5, 5, 4);
	c.dstPtr = d;
	c.extent = { 4, 4, 3 };
	c.kind = cudaMemcpyHostToDevice;
	CHECK(cudaMemcpy3D(&c));
	c.srcPtr = d;
	c.dstPtr = make_cudaPitchedPtr(out, 5, 5, 4);
	c.extent = e;
	c.kind = cudaMemcpyDeviceToHost;
	CHECK(cudaMemcpy3D(&c));
	for (int i = 0; i < 60; i++)
		IS((&out[0][0][0])[i], i % 5 == 4 ? 9 : i);
	CHECK(cudaFree(d.ptr));
}

static void ordered()
{
	cudaStream_t s;
	int *p, h[4];
	CHECK(cudaStreamCreate(&s));
	CHECK(cudaMallocAsync(&p, sizeof h, s));
	CHECK(cudaMemsetAsync(p, 1, sizeof h, s));
	CHECK(cudaMemcpyAsync(h, p, sizeof h, cudaMemcpyDeviceToHost, s));
	CHECK(cudaFreeAsync(p, s));
	CHECK(cudaStreamSynchronize(s));
	IS(h[3], 0x01010101);
	CHECK(cudaStreamDestroy(s));
}

int main()
{
	size_t before, after, total;
	void *p;
	two();
	three();
	ordered();
	CHECK(cudaMemGetInfo(&before, &total));
	CHECK(cudaMalloc(&p, 1 << 20));
	CHECK(cudaMemGetInfo(&after, &total));
	TRUE(after + (1 << 20) <= before && before <= total);
	CHECK(cudaFree(p));
	CHECK(cudaFree(0));
	IS(cudaFree(p), cudaErrorInvalidValue);
	IS(cudaMalloc(&p, (size_t)1 << 60), cudaErrorMemoryAllocation);
	printf("ok\n");
	return 0;
}

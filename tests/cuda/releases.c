/* Programs of CUDA 11 and 12 ask for other library names and symbol versions, and for other layouts. */
// ways: cudart.11.0 cudart.12 cudart.13
// expect: ok
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int cudaMalloc(void **, size_t), cudaMemset(void *, int, size_t), cudaFree(void *), cudaGetLastError(void);
int cudaGetDeviceProperties(void *, int), cudaGetDeviceProperties_v2(void *, int), cudaThreadSynchronize(void);

#define OK(call) do { int e_ = (call); if (e_) { printf("line %d: %s: %d\n", __LINE__, #call, e_); exit(1); } } while (0)

/* CUDA 11 and 12 have the clock rate after maxGridSize; CUDA 13 has no clock rate, so the constant memory stands there. */
static int after_grid(const char *p, size_t at)
{
	int v;

	memcpy(&v, p + at, sizeof v);
	return v;
}

int main(void)
{
	enum { SIZE = 4096, FILL = 0x5a, SIZE11 = 728, AFTER_GRID = 348, CONST13 = 352 };
	char p[SIZE];
	void *d;
	int end;

	OK(cudaMalloc(&d, 64));
	OK(cudaMemset(d, 1, 64));
	OK(cudaFree(d));
	OK(cudaThreadSynchronize());
	memset(p, FILL, sizeof p);
	OK(cudaGetDeviceProperties(p, 0));
	for (end = SIZE; p[end - 1] == FILL; end--)
		;
#ifdef BEFORE_13
	if (end != SIZE11 || after_grid(p, AFTER_GRID) != 1980000)
#else
	if (end != 1008 || after_grid(p, CONST13) != 65536)
#endif
		return printf("cudaGetDeviceProperties: %d bytes, %d\n", end, after_grid(p, AFTER_GRID)), 1;
	memset(p, FILL, sizeof p);
	OK(cudaGetDeviceProperties_v2(p, 0));
	for (end = SIZE; p[end - 1] == FILL; end--)
		;
	if (end != 1032)
		return printf("cudaGetDeviceProperties_v2: %d bytes\n", end), 1;
	printf("ok\n");
	return 0;
}

# a kernel that fails is told once in the text report, and also stands in a report written elsewhere
cat >app.cu <<'Y'
#include <cuda_runtime.h>

__global__ void beyond(int *a)
{
	a[100] = 1;
}

int main()
{
	int *a;

	cudaMalloc((void **)&a, 400);
	beyond<<<1, 1>>>(a);
	return cudaDeviceSynchronize() != cudaSuccess;
}
Y
warpsafe cc app.cu -o app && warpsafe race ./app 2>err; echo $?
grep -c 'invalid address' err
warpsafe race --output=report ./app 2>err; echo $?
grep -c 'invalid address' err report

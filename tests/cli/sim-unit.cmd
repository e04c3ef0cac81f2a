# lock instructions in an ordinary program
cat >lock.cu <<'END'
#include <cstdio>
extern "C" __device__ void __ws_lock(unsigned *p);
extern "C" __device__ void __ws_unlock(unsigned *p);
__global__ void add(unsigned *lock, volatile int *sum)
{
	__ws_lock(lock);
	*sum = *sum + 1;
	__ws_unlock(lock);
}
int main()
{
	unsigned *p;
	int sum;
	cudaMalloc(&p, 8);
	cudaMemset(p, 0, 8);
	add<<<4, 64>>>(p, (int *)(p + 1));
	if (cudaDeviceSynchronize() != cudaSuccess)
		return 4;
	cudaMemcpy(&sum, p + 1, 4, cudaMemcpyDeviceToHost);
	printf("%d\n", sum);
	return 0;
}
END
warpsafe cc lock.cu -o lock || exit
warpsafe sim --unit=simt-lock ./lock 2>text
sed -n '/^unit/,$p' text | grep -E 'unit|locks acquired|locks released'
warpsafe sim --config=h200 --unit=simt-lock,backoff=100 --counters=- ./lock | grep -oE '^[0-9]+$|"locks_acquired": [0-9]+'
warpsafe run ./lock 2>&1 | head -1
warpsafe sim --unit=locks ./lock
warpsafe sim --unit=simt-lock,retries=3 ./lock

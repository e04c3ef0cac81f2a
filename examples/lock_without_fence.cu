/* lock_without_fence.cu - a bank account behind a spin lock of atomics.
 *
 * atomicCAS and atomicExch make the lock exclusive, but they are relaxed: they order no other memory accesses. The
 * balance that one holder has written may reach the next one late. A lock needs a fence after it is taken and one
 * before it is released.
 */
#include "check.h"

enum { BLOCKS = 16, DEPOSITS = 4 };

__device__ int lock;
__device__ int balance;

__device__ void acquire(int *l)
{
	while (atomicCAS(l, 0, 1) != 0)
		;
#ifdef FIXED
	__threadfence();
#endif
}

__device__ void release(int *l)
{
#ifdef FIXED
	__threadfence();
#endif
	atomicExch(l, 0);
}

__global__ void deposit(int amount)
{
	for (int i = 0; i < DEPOSITS; i++) {
		acquire(&lock);
		balance += amount;
		release(&lock);
	}
}

int main()
{
	int result;

	deposit<<<BLOCKS, 1>>>(5);
	CHECK(cudaMemcpyFromSymbol(&result, balance, sizeof result));
	return verdict("balance", result, 5 * BLOCKS * DEPOSITS);
}

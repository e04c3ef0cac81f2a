// printf and assert on the device, clock and nanosleep.
// expect: thread 0 of 2: 3.500000 text ffffffffff % c
// expect: thread 1 of 2: 4.500000 text ffffffffff % c
// expect: clock moves
#include "check.h"
#include <cassert>

__global__ void talk(int *out)
{
	int t = threadIdx.x;
	assert(t >= 0);
	printf("thread %d of %u: %f %s %llx %% %c\n", t, blockDim.x, t + 3.5f, "text", 0xffffffffffull, 'c');
	long long before = clock64();
	__nanosleep(100);
	out[t] = clock64() > before && clock() != 0;
}

int main()
{
	int out[2];
	Mirror<int> d(out, 2);
	talk<<<1, 2>>>(d.device);
	d.fetch();
	if (out[0] && out[1])
		printf("clock moves\n");
	return bad;
}

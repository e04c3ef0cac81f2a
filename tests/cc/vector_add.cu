// The smallest whole program: memory, launch, copy back.
#include "check.h"
#include <vector>
#include <numeric>

__global__ void add(const float *a, const float *b, float *c, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		c[i] = a[i] + b[i];
}

int main()
{
	const int n = 10007;
	std::vector<float> a(n), b(n), c(n);
	std::iota(a.begin(), a.end(), 1.0f);
	std::iota(b.begin(), b.end(), 0.5f);
	Mirror<float> da(a.data(), n), db(b.data(), n), dc(c.data(), n);
	add<<<(n + 255) / 256, 256>>>(da.device, db.device, dc.device, n);
	CUDA(cudaGetLastError());
	dc.fetch();
	for (int i = 0; i < n; i++)
		EXPECT(c[i] == a[i] + b[i]);
	return bad;
}

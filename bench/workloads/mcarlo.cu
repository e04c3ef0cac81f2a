/* MCARLO: Monte Carlo option pricing (Holey 2015, table 6.2). A block prices one option: its threads follow paths of a
 * common list of random numbers and a tree in shared memory adds up what they found. */
#include "workload.cuh"

enum { THREADS = 256 };

__global__ void mcarlo(const float *normal, int paths, const float *spot, float *price)
{
	__shared__ float sum[THREADS];
	int t = threadIdx.x, b = blockIdx.x;
	float mine = 0, s = spot[b];

	for (int i = t; i < paths; i += THREADS) {
		float end = s * (1.02f + 0.2f * normal[i]);

		mine += end > 100 ? end - 100 : 0;
	}
	sum[t] = mine;
	BARRIER(1);
	for (int half = THREADS / 2; half > 0; half /= 2) {
		if (t < half)
			sum[t] += sum[t + half];
		BARRIER(2);
	}
	if (t == 0)
		price[b] = sum[0] / paths;
	if (t == 1)
		TRESPASS(24, price[(b + 1) % gridDim.x], price[b]);
}

int main(int argc, char **argv)
{
	OPTIONS({1, 2}, {24, 24});
	int n = (o.quick ? 8 : 256) * o.scale, paths = o.quick ? 2048 : 65536;
	float *normal = new float[paths], *spot = new float[n], *price = new float[n];
	bool right = true;

	for (int i = 0; i < paths; i++)
		normal[i] = ((noise(i) & 0xffff) + (noise(i + paths) & 0xffff)) / 65536.0f - 1;
	for (int i = 0; i < n; i++)
		spot[i] = 80 + 40.0f * i / n;
	float *d_price = device<float>(n);
	mcarlo<<<n, THREADS>>>(device(paths, normal), paths, device(n, spot), d_price);
	back(price, d_price, n);
	for (int i = 0; i < n; i += n / 8) {
		double sum = 0;

		for (int j = 0; j < paths; j++) {
			float end = spot[i] * (1.02f + 0.2f * normal[j]);

			sum += end > 100 ? end - 100 : 0;
		}
		right = right && price[i] > sum / paths * 0.999 - 1e-3 && price[i] < sum / paths * 1.001 + 1e-3;
	}
	return finish("MCARLO", right, o);
}

/* OFFT: simulation of an ocean's surface by Fourier transforms (Holey 2015, table 6.2): spectrum at a time from the
 * spectrum at the start, a transform of each row in shared memory, slopes of the surface. racy: the spectrum is
 * made in place with the mirrored element's address a row off, so that threads of two blocks meet at one element. */
#include "workload.cuh"

struct complex { float re, im; };

/* Element (x, y) and its mirror image give the spectrum; only the upper half is computed. */
__global__ void spectrum(complex *h0, complex *ht, int w, int h, float cosine)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y, mirror = (h - 1 - y) * w + (w - 1 - x);
	complex a = h0[y * w + x], b = h0[mirror];

	ht[y * w + x] = {(a.re + b.re) * cosine, (a.im - b.im) * cosine};
	if (x % blockDim.x == 0)
		TRESPASS(33, ht[(y + 1) % h * w + x].re, ht[y * w + x].im);
}

/* A transform of w elements, one block a row. */
__global__ void rows(complex *data, int w)
{
	extern __shared__ complex row[];
	complex *mine = data + blockIdx.x * w;
	int t = threadIdx.x, bits = __ffs(w) - 1;

	for (int i = t; i < w; i += blockDim.x)
		row[__brev(i) >> (32 - bits)] = mine[i];
	BARRIER(22);
	for (int half = 1; half < w; half *= 2) {
		int at = t / half * 2 * half + t % half;
		float angle = -3.14159265f * (t % half) / half, c = cosf(angle), s = sinf(angle);
		complex a = row[at], b = row[at + half], p = {b.re * c - b.im * s, b.re * s + b.im * c};

		row[at] = {a.re + p.re, a.im + p.im};
		row[at + half] = {a.re - p.re, a.im - p.im};
		__syncthreads();
	}
	for (int i = t; i < w; i += blockDim.x)
		mine[i] = row[i];
	if (t == 0)
		TRESPASS(34, data[(blockIdx.x + 1) % gridDim.x * w].re, mine[0].im);
}

__global__ void slope(const complex *height, float *out, int w, int h)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;

	out[y * w + x] = height[y * w + (x + 1) % w].re - height[y * w + x].re;
}

int main(int argc, char **argv)
{
	OPTIONS({22, 22}, {33, 34});
	int w = 256, h = (o.quick ? 16 : o.large ? 1024 : 256) * o.scale, n = w * h;
	complex *h0 = new complex[n], *result = new complex[n];
	bool right = true;

	for (int i = 0; i < n; i++)
		h0[i] = {(noise(i) % 200) / 100.0f - 1, (noise(i + n) % 200) / 100.0f - 1};
	complex *d_h0 = device(n, h0), *d_ht = device<complex>(n);
	spectrum<<<dim3(w / 64, h), 64>>>(d_h0, o.racy ? d_h0 : d_ht, w, h, 0.5f);
	rows<<<h, w / 2, w * sizeof(complex)>>>(o.racy ? d_h0 : d_ht, w);
	slope<<<dim3(w / 64, h), 64>>>(d_ht, device<float>(n), w, h);
	back(result, o.racy ? d_h0 : d_ht, n);
	for (int y = 0; y < h; y += h / 4) {         /* element 0 of a transform is the sum of the row */
		double re = 0;

		for (int x = 0; x < w; x++)
			re += (h0[y * w + x].re + h0[(h - 1 - y) * w + w - 1 - x].re) * 0.5;
		right = right && result[y * w].re > re - 0.01 && result[y * w].re < re + 0.01;
	}
	return finish("OFFT", right, o);
}

__device__ float pick(const float *p, int i)
{
	return p[i];
}

__global__ void reduce(float *out, int n)
{
	__shared__ float tile[256];
	int t = threadIdx.x;

	for (int s = 128; s > 0; s /= 2)
		if (t < s)
			tile[t] += tile[t + s];
	out[0] = pick(tile, 0);
}

/* FWALSH: fast Walsh transform (Holey 2015, table 6.2). Large strides work on global memory, one launch a stride;
 * what is left are rows of 1,024 elements, transformed in shared memory; then products with a kernel in that space,
 * and back. */
#include "workload.cuh"

enum { ROW = 1024, THREADS = ROW / 2 };

__global__ void walsh_far(float *data, int stride)
{
	int pair = blockIdx.x * blockDim.x + threadIdx.x, at = pair / stride * 2 * stride + pair % stride;
	float a = data[at], b = data[at + stride];

	data[at] = a + b;
	data[at + stride] = a - b;
	if (threadIdx.x == 0)
		TRESPASS(26, data[(at + blockDim.x) % (2 * blockDim.x * gridDim.x)], data[at]);
}

__global__ void walsh_near(float *data)
{
	__shared__ float row[ROW];
	float *mine = data + blockIdx.x * ROW;
	int t = threadIdx.x;

	row[2 * t] = mine[2 * t];
	row[2 * t + 1] = mine[2 * t + 1];
	BARRIER(5);
	for (int stride = ROW / 2; stride > 0; stride /= 2) {
		int at = t / stride * 2 * stride + t % stride;
		float a = row[at], b = row[at + stride];

		row[at] = a + b;
		row[at + stride] = a - b;
		if (stride > 1)
			BARRIER(6);
	}
	BARRIER(7);
	mine[t] = row[t];
	mine[t + THREADS] = row[t + THREADS];
	if (t == 0)
		TRESPASS(27, data[(blockIdx.x + 1) % gridDim.x * ROW], mine[0]);
}

__global__ void modulate(float *data, const float *by, float scale)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	data[i] *= by[i] * scale;
}

static void walsh(float *data, int n)
{
	for (int stride = n / 2; stride >= ROW; stride /= 2)
		walsh_far<<<n / 2 / 256, 256>>>(data, stride);
	walsh_near<<<n / ROW, THREADS>>>(data);
}

/* The n x n Walsh matrix times itself is n: a kernel of one element at 0 gives the data back. */
int main(int argc, char **argv)
{
	OPTIONS({5, 7}, {26, 27});
	int n = (o.quick ? 8192 : 524288) * o.scale;
	float *data = new float[n], *kernel = new float[n](), *result = new float[n];
	bool right = true;

	for (int i = 0; i < n; i++)
		data[i] = (float)(noise(i) % 64);
	kernel[0] = 1;
	float *d_data = device(n, data), *d_kernel = device(n, kernel);
	walsh(d_data, n);
	walsh(d_kernel, n);
	modulate<<<n / 256, 256>>>(d_data, d_kernel, 1.0f / n);
	walsh(d_data, n);
	back(result, d_data, n);
	for (int i = 0; i < n; i++)
		right = right && result[i] > data[i] - 0.01f && result[i] < data[i] + 0.01f;
	return finish("FWALSH", right, o);
}

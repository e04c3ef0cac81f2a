# --detector=touched counts all bytes: 512 read and never written, which "shadow" is not told of, 256 written, 64 of shared memory.
cat > touched.cu <<'END'
__global__ void half(const int *in, int *out)
{
	__shared__ volatile int s[32];

	s[threadIdx.x % 16] = 0;
	out[threadIdx.x] = in[threadIdx.x] + in[threadIdx.x + 64];
}

int main()
{
	int *in, *out;

	cudaMalloc(&in, 1000);
	cudaMalloc(&out, 1000);
	half<<<1, 64>>>(in, out);
	half<<<1, 32>>>(in, out);
	return cudaDeviceSynchronize();
}
END
warpsafe cc touched.cu -o touched || exit
warpsafe race --detector=touched --stats=yes ./touched 2>&1 | sed 's/launches, .*/launches/'

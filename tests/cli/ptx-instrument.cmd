# warpsafe ptx --instrument, and run --instrument: what is counted, in words
cat >k.ptx <<'X'
.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 p)
{
	.reg .u64 %d;
	ld.param.u64 %d, [p];
	ret;
}
X
warpsafe ptx --instrument=print k.ptx | cmp - k.ptx && echo unchanged
warpsafe ptx --instrument=count k.ptx | cmp - k.ptx && echo nothing to count
warpsafe ptx --instrument=cuont k.ptx; echo $?
warpsafe run --instrument=cuont -- true; echo $?
cat >a.cu <<'X'
__constant__ int table[4] = {1, 2, 3, 4};
__device__ __noinline__ int look(const int *p) { return *p + table[threadIdx.x & 3]; }
__global__ void first(int *a) {
	__shared__ int s[32];
	s[threadIdx.x] = a[threadIdx.x];
	__syncthreads();
	if (threadIdx.x < 10)
		atomicAdd(a, look(threadIdx.x & 1 ? s + 1 : a + threadIdx.x));
}
__global__ void second(int *a) { a[threadIdx.x] = look(a + threadIdx.x); }
__global__ void third() {}
int main() {
	int *a;
	cudaMalloc(&a, 4096);
	for (int i = 0; i < 1000; i++)
		second<<<1, 2>>>(a);
	first<<<1, 32>>>(a);
	third<<<1, 1>>>();
	return cudaDeviceSynchronize();
}
X
warpsafe cc a.cu -o a || exit 77
warpsafe run --instrument=count ./a

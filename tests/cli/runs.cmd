# several runs under random schedules, some launches only, and what the rules of --suppress took out
cat >app.cu <<'Y'
#include <cstdio>
#include <cuda_runtime.h>

__device__ int ticket;

/* Which warp comes first decides whether both writes happen. */
__global__ void order(int *out)
{
	int mine = 0;

	if (threadIdx.x % 32 == 0)
		mine = atomicAdd(&ticket, 1);
	if (threadIdx.x == 96 && mine == 0)
		out[0] = 1;
	if (threadIdx.x == 0 && mine == 3)
		out[0] = 2;
}

__global__ void twice(int *out)
{
	out[1] = threadIdx.x;
}

int main()
{
	int *out, zero = 0;

	cudaMalloc((void **)&out, 8);
	for (int i = 0; i < 3; i++) {
		cudaMemcpyToSymbol(ticket, &zero, sizeof zero);
		order<<<1, 128>>>(out);
	}
	twice<<<1, 64>>>(out);
	cudaDeviceSynchronize();
	puts("ran");
}
Y
warpsafe cc -g app.cu -o app || exit
race() {
	warpsafe race --threads=1 "$@" ./app >out 2>err
	echo "status $?, $(grep -c ran out) times ran"
	grep -E '^warpsafe|^suppressed|^not checked|error:|seen' err
}
race
race --schedule=random --runs=8
race --runs=8
race --kernel=order --launch-skip=1 --launch-count=1
race --launch-count=3
printf '# known\nkernel=twice kind=WAW\nkernel=gone\n' >rules
race --suppress=rules
warpsafe race --threads=1 --suppress=rules --format=json ./app 2>/dev/null | grep -A14 '"suppressed"'
warpsafe race --schedule=random --runs=3 --format=json ./app 2>/dev/null | grep '"runs"'
warpsafe race --threads=1 --suppress=rules --format=sarif ./app 2>/dev/null | grep '"suppressed'
warpsafe race --threads=1 --suppress=rules --format=html ./app 2>/dev/null | grep '<li>suppressed'
warpsafe race --schedule=random --runs=3 --format=html ./app 2>/dev/null | grep -c 'in 3 of 3 runs'

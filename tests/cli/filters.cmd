# what is looked for, what is told, and the exit status: --kernel, --memory, --max-reports, --error-exitcode, --suppress, --seed
cat >app.cu <<'Y'
#include <cuda_runtime.h>

__device__ int ticket;

__global__ void shared_one(int *out)
{
	__shared__ int tile[64];

	tile[threadIdx.x] = threadIdx.x;
	out[threadIdx.x] = tile[63 - threadIdx.x];
}

__global__ void global_one(int *out)
{
	out[threadIdx.x] = threadIdx.x;
	out[64 + threadIdx.x] = out[63 - threadIdx.x];
}

__global__ void same(int *out)
{
	out[0] = 7;
}

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

int main(int argc, char **)
{
	int *out;

	cudaMalloc((void **)&out, 512);
	if (argc > 1) {
		order<<<1, 128>>>(out);
		return cudaDeviceSynchronize() != cudaSuccess;
	}
	shared_one<<<1, 64>>>(out);
	global_one<<<1, 64>>>(out);
	same<<<1, 64>>>(out);
	return cudaDeviceSynchronize() != cudaSuccess;
}
Y
warpsafe cc -g app.cu -o app || exit
race() {
	echo "--- $*"
	warpsafe race --threads=1 "$@" 2>err
	echo "status $?"
	grep -E '^warpsafe|^suppressed|^not checked|^limit|^R|more|seen.*seed' err
}
race ./app
race --kernel=one ./app
race --kernel='^(same|order)$' --error-exitcode=9 ./app
race --kernel=same --same-value=error --error-exitcode=9 ./app
race --memory=shared ./app
race --memory=global ./app
race --max-reports=1 ./app
race --max-reports=0 ./app
echo 'file=app\.cu line=10' >rules
echo 'kernel=global_one kind=RAW' >>rules
echo 'memory=global category=same-value' >>rules
echo 'kind=WAW memory=shared' >>rules
race --suppress=rules ./app
race --schedule=random --runs=20 ./app order
warpsafe race --threads=1 --schedule=random --runs=20 --format=json ./app order 2>err | grep -E '"(runs|seed|first_seed)"'
seed=$(warpsafe race --threads=1 --schedule=random --runs=20 ./app order 2>&1 | sed -n 's/.*--seed=\([0-9]*\).*/\1/p')
race --schedule=random --seed=$seed ./app order
race --schedule=random --seed=$((seed - 1)) ./app order
race ./app order

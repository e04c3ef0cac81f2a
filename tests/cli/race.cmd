# a race from source to report, in every form, with every exit status
cat >app.cu <<'X'
#include <cstdio>
#include <cuda_runtime.h>

__global__ void shift(int *out)
{
	__shared__ int tile[128];
	int t = threadIdx.x;

	tile[t] = t;
	out[t] = tile[127 - t];
}

int main(int argc, char **argv)
{
	int *out;

	cudaMalloc((void **)&out, 128 * sizeof *out);
	shift<<<1, 128>>>(out);
	cudaDeviceSynchronize();
	printf("done\n");
	return 5;
}
X
warpsafe cc app.cu -o app || exit
run() { warpsafe race --threads=1 "$@" ./app; echo "status $?"; }
run 2>text
grep -E '^R|^    (where|read|write)| \| |^warpsafe' text
run --format=json >json 2>/dev/null
grep -cE '"kind": "RAW"' json
run --format=sarif --output=races.sarif --error-exitcode=42 2>&1
grep -c '"uri": "app.cu"' races.sarif
run --format=html --output=races.html --error-exitcode=0
grep -c '<section class="error"' races.html
echo 'file=app\.cu$ line=9' >known
run --suppress=known 2>&1
run --kernel=nothing 2>&1
run --memory=global 2>&1
warpsafe run ./app; echo "status $?"

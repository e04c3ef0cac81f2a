# an unmodified program on the clocked GPU: its own output and status, the counters, the same in each run
cat >add.cu <<'END'
#include <cstdio>
__global__ void add(int *p, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) atomicAdd(&p[i % 7], i); }
int main()
{
	int *p, sum[7], all = 0;
	cudaMalloc(&p, 28);
	cudaMemset(p, 0, 28);
	add<<<8, 128>>>(p, 1000);
	cudaMemcpy(sum, p, 28, cudaMemcpyDeviceToHost);
	for (int i = 0; i < 7; i++)
		all += sum[i];
	printf("%d\n", all);
	return 5;
}
END
warpsafe cc add.cu -o add || exit
warpsafe sim ./add 2>text
echo "status $?"
sed -n 's/[0-9][0-9,.]*/N/g; 1,3p' text
for machine in fermi fx5800 gtx480 h200; do
	warpsafe sim --config=$machine --counters=one.json -- ./add
	warpsafe sim --config=$machine --counters=two.json -- ./add >two.out
	cmp one.json two.json && grep -o '"machine": "[a-z0-9]*"' one.json
	grep -o '"atomics": [0-9]*' one.json
done
sed 's/^cores .*/cores = 2/' "$ROOT/src/timing/configs/fermi.conf" >mine.conf
warpsafe sim --config=./mine.conf --counters=- ./add | grep -o '"machine": "[a-z0-9]*"'

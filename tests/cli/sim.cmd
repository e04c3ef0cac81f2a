# an unmodified program on the clocked GPU: its own output and status, the counters, the same in each run
cat >add.cu <<'END'
#include <cstdio>
__global__ void add(int *p, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) atomicAdd(&p[i % 7], i); }
int main()
{
	cudaEvent_t a, b;
	float ms;
	int *p, sum[7], all = 0;
	cudaMalloc(&p, 28);
	cudaMemset(p, 0, 28);
	cudaEventCreate(&a);
	cudaEventCreate(&b);
	cudaEventRecord(a);
	add<<<8, 128>>>(p, 1000);
	cudaEventRecord(b);
	cudaEventElapsedTime(&ms, a, b);
	cudaMemcpy(sum, p, 28, cudaMemcpyDeviceToHost);
	for (int i = 0; i < 7; i++)
		all += sum[i];
	printf("%d\n", all);
	fprintf(stderr, "%.4f ms\n", ms);      /* simulated time: the same in each run */
	return 5;
}
END
warpsafe cc add.cu -o add || exit
warpsafe sim ./add 2>text
echo "status $?"
grep ms text | head -1 >time; sed -n 's/[0-9][0-9,.]*/N/g; 1,4p' text
warpsafe sim ./add 2>&1 >again | grep ms | head -1 | cmp - time && echo 'the same time'
for machine in fermi fermi30 fx5800 gtx480 h200; do
	warpsafe sim --config=$machine --counters=one.json -- ./add 2>errors
	warpsafe sim --config=$machine --counters=two.json -- ./add >two.out 2>errors
	cmp one.json two.json && grep -o '"machine": "[a-z0-9]*"' one.json
	grep -o '"atomics": [0-9]*' one.json
done
sed 's/^cores .*/cores = 2/' "$ROOT/src/timing/configs/fermi.conf" >mine.conf
warpsafe sim --config=./mine.conf --counters=- ./add 2>errors | grep -o '"machine": "[a-z0-9]*"'

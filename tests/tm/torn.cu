/* torn.cu - marked sections that end the kernel if they ever see values that were not there together: two words that are always
 * equal, an index that is always below a bound, and a pointer that always leads to a whole node. No attempt may see it, also none
 * that would abort. */
#include <cuda_runtime.h>
#include <warpsafe/atomic.h>

enum { BLOCKS = 3, THREADS = 4, SECTIONS = 6 };

struct node { unsigned a, b; };
struct all { unsigned a, b; struct node nodes[2], *one; };

__global__ void work(struct all *s)
{
	unsigned t = blockIdx.x * blockDim.x + threadIdx.x;

	for (unsigned k = 0; k < SECTIONS; k++) {
		unsigned n = t * SECTIONS + k + 1;

		WS_ATOMIC {
			if (s->a != s->b || s->one->a != s->one->b)
				__trap();
			if ((t + k) % 3 == 0) {
				s->a = n;
				s->one->a = n;
				s->one = &s->nodes[n % 2];
				s->b = n;
				s->nodes[1 - n % 2].a = s->nodes[1 - n % 2].b = n;
				s->one->a = s->one->b = n;
			}
		}
	}
}

int main()
{
	struct all *s, h = {};

	if (cudaMalloc((void **)&s, sizeof *s))
		return 2;
	h.one = s->nodes;
	if (cudaMemcpy(s, &h, sizeof h, cudaMemcpyHostToDevice))
		return 2;
	work<<<BLOCKS, THREADS>>>(s);
	return cudaMemcpy(&h, s, sizeof h, cudaMemcpyDeviceToHost) || !h.a ? 1 : 0;
}

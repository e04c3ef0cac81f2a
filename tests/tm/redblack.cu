/* redblack.cu - marked sections that bring elements into a red-black tree and take them out, with `new` and `delete` in them: plain code
 * (Cormen et al. 2009, 13), which would not survive values that were not there together. At the end a thread looks at the
 * tree: in order, no red node below a red one, as many black ones on each way, and what has come less what has gone.
 *
 *     redblack [keys=N] [blocks=N] [threads=N] [rounds=N] [seed=N] */
#include <cstdio>
#include <cuda_runtime.h>
#define WS_ATOMIC_QUIET
#include <warpsafe/atomic.h>

struct node { int key, red; node *child[2], *parent; };

__device__ node *root;
__device__ long long sum;                       /* of keys */
__device__ int count, full;
__device__ unsigned result[3];

__device__ bool is_red(const node *n) { return n && n->red; }
__device__ int side_of(const node *n) { return n->parent->child[1] == n; }

/* Puts `to` in the place of `from`. */
__device__ void replace(node *from, node *to)
{
	if (from->parent)
		from->parent->child[side_of(from)] = to;
	else
		root = to;
	if (to)
		to->parent = from->parent;
}

__device__ void rotate(node *x, int d)
{
	node *y = x->child[!d];

	replace(x, y);
	x->child[!d] = y->child[d];
	if (y->child[d])
		y->child[d]->parent = x;
	y->child[d] = x;
	x->parent = y;
}

__device__ void mend_red(node *n)
{
	while (is_red(n->parent)) {
		node *p = n->parent, *g = p->parent;
		int d = side_of(p);
		node *uncle = g->child[!d];

		if (is_red(uncle)) {
			p->red = uncle->red = 0;
			g->red = 1;
			n = g;
			continue;
		}
		if (side_of(n) != d) {
			n = p;
			rotate(n, d);
			p = n->parent;
		}
		p->red = 0;
		g->red = 1;
		rotate(g, !d);
	}
	root->red = 0;
}

/* x, a child of p that may be none, has one black node too few. */
__device__ void mend_black(node *x, node *p)
{
	while (p && !is_red(x)) {
		int d = p->child[0] != x;
		node *w = p->child[!d];

		if (w->red) {
			w->red = 0;
			p->red = 1;
			rotate(p, d);
			w = p->child[!d];
		}
		if (!is_red(w->child[0]) && !is_red(w->child[1])) {
			w->red = 1;
			x = p;
			p = x->parent;
			continue;
		}
		if (!is_red(w->child[!d])) {
			w->child[d]->red = 0;
			w->red = 1;
			rotate(w, !d);
			w = p->child[!d];
		}
		w->red = p->red;
		p->red = 0;
		w->child[!d]->red = 0;
		rotate(p, d);
		return;
	}
	if (x)
		x->red = 0;
}

__device__ __noinline__ int insert(int key)
{
	node *at = root, *p = nullptr;

	for (; at; at = at->child[key > at->key]) {
		if (at->key == key)
			return 0;
		p = at;
	}
	at = new node;
	if (!at)
		return -1;
	at->key = key;
	at->red = 1;
	at->child[0] = at->child[1] = nullptr;
	at->parent = p;
	if (p)
		p->child[key > p->key] = at;
	else
		root = at;
	mend_red(at);
	return 1;
}

__device__ __noinline__ int take_out(int key)
{
	node *z = root, *y, *x;

	while (z && z->key != key)
		z = z->child[key > z->key];
	if (!z)
		return 0;
	y = z;
	if (z->child[0] && z->child[1])
		for (y = z->child[1]; y->child[0]; y = y->child[0])
			;
	z->key = y->key;
	x = y->child[0] ? y->child[0] : y->child[1];
	replace(y, x);
	if (!y->red)
		mend_black(x, y->parent);
	delete y;
	return 1;
}

__global__ void work(int keys, unsigned rounds, unsigned seed)
{
	unsigned r = seed * 2654435761u + (blockIdx.x * blockDim.x + threadIdx.x) * 40503u + 1;

	for (unsigned i = 0; i < rounds; i++) {
		int key = (int)((r = r * 1664525u + 1013904223u) >> 8) % keys, out = (r >> 5) % 2, done;

		WS_ATOMIC
			done = out ? take_out(key) : insert(key);
		if (done < 0)
			atomicAdd(&full, 1);
		if (done == 1) {
			atomicAdd(&count, out ? -1 : 1);
			atomicAdd((unsigned long long *)&sum, (unsigned long long)(long long)(out ? -key : key));
		}
	}
}

__device__ int blacks_above(const node *n)
{
	int blacks = 0;

	for (; n; n = n->parent)
		blacks += !n->red;
	return blacks;
}

/* Number of nodes, sum of the keys, and what is wrong. */
__global__ void look(void)
{
	const node *n = root;
	int blacks = -1, last = -1;

	while (n && n->child[0])
		n = n->child[0];
	while (n) {
		result[0]++;
		result[1] += (unsigned)n->key;
		result[2] += n->key <= last || (n->red && is_red(n->parent));
		last = n->key;
		if (!n->child[0] || !n->child[1]) {
			blacks = blacks < 0 ? blacks_above(n) : blacks;
			result[2] += blacks != blacks_above(n);
		}
		if (n->child[1]) {
			for (n = n->child[1]; n->child[0]; n = n->child[0])
				;
		} else {
			while (n->parent && side_of(n))
				n = n->parent;
			n = n->parent;
		}
	}
}

int main(int argc, char **argv)
{
	unsigned keys = 24, blocks = 2, threads = 16, rounds = 8, seed = 1, out[3];
	long long want;
	int n, none;

	for (int i = 1; i < argc; i++)
		if (sscanf(argv[i], "keys=%u", &keys) + sscanf(argv[i], "blocks=%u", &blocks) + sscanf(argv[i], "threads=%u", &threads) +
		    sscanf(argv[i], "rounds=%u", &rounds) + sscanf(argv[i], "seed=%u", &seed) < 1)
			return 2;
	work<<<blocks, threads>>>((int)keys, rounds, seed);
	look<<<1, 1>>>();
	if (cudaMemcpyFromSymbol(out, result, sizeof out) || cudaMemcpyFromSymbol(&want, sum, sizeof want) ||
	    cudaMemcpyFromSymbol(&n, count, sizeof n) || cudaMemcpyFromSymbol(&none, full, sizeof none))
		return 3;
	printf("%u elements, %u wrong, %d found no memory\n", out[0], out[2], none);
	return out[2] || (int)out[0] != n || out[1] != (unsigned)want || none;
}

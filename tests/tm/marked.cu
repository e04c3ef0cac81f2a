/* marked.cu - marked sections (include/warpsafe/atomic.h): each case checks its result on the host. As it stands, without
 * `warpsafe tm`, most of them must fail: tests/tm/run looks that they do.
 *
 *     marked [CASE...] [blocks=N] [threads=N] */
#include "marked.cuh"

/* ---- one word of each size, and the registers that a new attempt needs ---- */
struct words { char c; short s; int i; long long l; float f; double d; unsigned long long pair[2]; };

__global__ void count(words *w, int *runs)
{
	int before = 5, sum = 0;

	for (int round = 0; round < 3; round++) {
		WS_ATOMIC {
			w->c = (char)(w->c + 1);
			w->s = (short)(w->s - 1);
			w->i++;
			before += 2;
			w->l += 1ll << 33;
			w->f += 1;
			w->d += 0.5;
			sum += before;
		}
	}
	runs[self()] = before * 1000 + sum;       /* 11, and 7 + 9 + 11, whatever was run again */
}

static bool counter(void)
{
	unsigned all = blocks * threads, n = 3 * all;
	memory<words> w(1);
	memory<int> runs(all);
	bool good = true;

	count<<<blocks, threads>>>(w.gpu, runs.gpu);
	for (int r : runs.back())
		good &= r == 11027;
	const words &o = w.back()[0];
	return good && o.c == (char)n && o.s == (short)-n && o.i == (int)n && o.l == (long long)n << 33 && o.f == (float)n &&
	       o.d == n * 0.5;
}

/* ---- a bank; a thread without enough leaves the section, the loop and the kernel from inside ---- */
__global__ void transfer(long long *account, unsigned n, unsigned seed, unsigned *refused)
{
	unsigned r = seed + self() * 7919u;

	for (int i = 0; i < 4; i++) {
		unsigned from = step(&r) % n, to = step(&r) % n;
		long long sum = step(&r) % 100;

		WS_ATOMIC {
			if (account[from] < sum)
				continue;
			account[from] -= sum;
			account[to] += sum;
		}
		WS_ATOMIC {
			if (sum == 99) {
				refused[0]++;
				return;
			}
		}
	}
	WS_ATOMIC
		refused[1]++;
}

static bool bank(void)
{
	memory<long long> account(16, 200);
	memory<unsigned> refused(2);
	long long sum = 0;

	transfer<<<blocks, threads>>>(account.gpu, 16, 1, refused.gpu);
	for (long long a : account.back()) {
		if (a < 0)
			return false;
		sum += a;
	}
	refused.back();
	return sum == 16 * 200 && refused.host[0] + refused.host[1] == blocks * threads;
}

/* ---- a sorted list: loops over what others change ---- */
struct node { int key; node *next; };

__global__ void insert(node *head, node *pool)
{
	node *mine = &pool[self()];

	mine->key = (int)((self() * 37u) % (gridDim.x * blockDim.x));
	WS_ATOMIC {
		node *at = head;

		while (at->next && at->next->key < mine->key)
			at = at->next;
		mine->next = at->next;
		at->next = mine;
	}
}

__global__ void remove_odd(node *head, int *removed)
{
	int key = (int)self();

	if (key % 2 == 0)
		return;
	WS_ATOMIC {
		for (node *at = head; at->next; at = at->next) {
			if (at->next->key == key) {
				at->next = at->next->next;
				atomicAdd(removed, 1);
				break;
			}
		}
	}
}

static bool list(void)
{
	unsigned all = blocks * threads, n = 0;
	memory<node> head(1), pool(all);
	memory<int> removed(1);
	const node *at;
	int last = -2;

	insert<<<blocks, threads>>>(head.gpu, pool.gpu);
	remove_odd<<<blocks, threads>>>(head.gpu, removed.gpu);
	at = head.back()[0].next;
	for (pool.back(); at && n <= all; n++) {
		const node *here = &pool.host[(size_t)(at - pool.gpu)];

		if (here->key != last + 2)
			return false;
		last = here->key;
		at = here->next;
	}
	return n == (all + 1) / 2 && removed.back()[0] == (int)(all / 2);
}

/* ---- functions: nested sections, recursion, arrays of the thread's own, results ---- */
__device__ __noinline__ int bump(int *p, int by)
{
	WS_ATOMIC {
		*p += by;
		return *p;
	}
	return -1;
}

__device__ __noinline__ int deep(int *p, int n)
{
	if (n == 0)
		return 0;
	p[n % 4]++;
	return 1 + deep(p, n - 1);
}

__device__ __noinline__ void fill(int *to, const int *from, int n)
{
	for (int i = 0; i < n; i++)
		to[i] = from[i] + to[(i + 1) % n] * 0;
}

__device__ __noinline__ int local_sum(const int *from, int turn)
{
	int copy[4];

	fill(copy, from, 4);
	copy[turn & 3] += 0;
	return copy[0] + copy[1] + copy[2] + copy[3];
}

__global__ void calls(int *total, int *four, int *wrong)
{
	int mine[4] = { 1, 2, 3, 4 }, turn = (int)self();

	for (int i = 0; i < 2; i++) {
		int depth = -1, sum = -1, after = -1;

		WS_ATOMIC {
			mine[(turn + i) & 3] += 10;      /* undone with the attempt */
			depth = deep(four, 4);
			sum = local_sum(four, turn);
			after = bump(total, 1);
			WS_ATOMIC
				bump(total, -1);
			total[0]++;
		}
		if (depth != 4 || sum % 4 != 0 || after != sum / 4)
			atomicAdd(wrong, 1);
	}
	if (mine[0] + mine[1] + mine[2] + mine[3] != 30)
		atomicAdd(wrong, 1);
	bump(&total[1], 1);
}

static bool functions(void)
{
	int all = (int)(blocks * threads);
	memory<int> total(2), four(4), wrong(1);

	calls<<<blocks, threads>>>(total.gpu, four.gpu, wrong.gpu);
	for (int f : four.back())
		if (f != 2 * all)
			return false;
	return total.back()[0] == 2 * all && total.host[1] == all && wrong.back()[0] == 0;
}

/* ---- a hash table with chains, from memory that the table hands out ---- */
struct entry { unsigned key, count; entry *next; };

__global__ void tally(entry **bucket, unsigned buckets, entry *pool, unsigned *used, unsigned keys)
{
	unsigned r = self();

	for (int i = 0; i < 3; i++) {
		unsigned key = step(&r) % keys;

		WS_ATOMIC {
			entry *e = bucket[key % buckets];

			while (e && e->key != key)
				e = e->next;
			if (!e) {
				e = &pool[(*used)++];
				e->key = key;
				e->count = 0;
				e->next = bucket[key % buckets];
				bucket[key % buckets] = e;
			}
			e->count++;
		}
	}
}

static bool hash(void)
{
	unsigned keys = 24, sum = 0;
	memory<entry *> bucket(5, nullptr);
	memory<entry> pool(3 * blocks * threads);
	memory<unsigned> used(1);
	std::vector<bool> seen(keys);

	tally<<<blocks, threads>>>(bucket.gpu, 5, pool.gpu, used.gpu, keys);
	pool.back();
	for (unsigned i = 0; i < used.back()[0]; i++) {
		if (pool.host[i].key >= keys || seen[pool.host[i].key])
			return false;
		seen[pool.host[i].key] = true;
		sum += pool.host[i].count;
	}
	return sum == 3 * blocks * threads;
}

/* ---- lanes that go different ways: sections in branches, in loops of different lengths, odd masks ---- */
__global__ void branches(int *a, int *b)
{
	unsigned t = threadIdx.x;

	if (t % 3 == 0) {
		WS_ATOMIC {
			a[0]++;
			b[0]--;
		}
	} else if (t % 3 == 1) {
		for (unsigned i = 0; i < t % 5; i++) {
			WS_ATOMIC {
				if (i % 2) {
					b[0]--;
					a[0]++;
					continue;
				}
				a[0] += 2;
				b[0] -= 2;
			}
			WS_ATOMIC
				a[0] += b[0] + a[0];     /* nothing: they are opposite */
		}
	}
	__syncthreads();
	WS_ATOMIC
		a[1]++;
}

static bool divergence(void)
{
	memory<int> a(2), b(1);
	int expected = 0;

	for (unsigned t = 0; t < threads; t++) {
		expected += t % 3 == 0;
		for (unsigned i = 0; t % 3 == 1 && i < t % 5; i++)
			expected += i % 2 ? 1 : 2;
	}
	branches<<<blocks, threads>>>(a.gpu, b.gpu);
	return a.back()[0] == (int)blocks * expected && b.back()[0] == -a.host[0] && a.host[1] == (int)(blocks * threads);
}

/* ---- shared memory ---- */
__global__ void in_shared(int *out, int rounds)
{
	__shared__ int sum, twice[2];
	__shared__ long long big;

	if (threadIdx.x == 0) {
		sum = twice[0] = twice[1] = 0;
		big = 0;
	}
	__syncthreads();
	for (int i = 0; i < rounds; i++) {
		WS_ATOMIC {
			int *either = (i + threadIdx.x) % 2 ? &twice[1] : &out[gridDim.x];

			sum++;
			big += sum;
			++*either;
		}
	}
	__syncthreads();
	if (threadIdx.x == 0)
		out[blockIdx.x] = big == (long long)sum * (sum + 1) / 2 ? sum + 10000 * twice[1] : -1;
}

static bool shared(void)
{
	int n = (int)threads * 4, half = 0;
	memory<int> out(blocks + 1);

	in_shared<<<blocks, threads>>>(out.gpu, 4);
	out.back();
	half = out.host[blocks];
	for (unsigned i = 0; i < blocks; i++)
		if (out.host[i] != n + 10000 * (n / 2))
			return false;
	return half == (int)blocks * (n / 2);
}

/* ---- atomics, vectors, bytes ---- */
__global__ void mixed(unsigned *w, unsigned long long *l, float *f, int4 *v, uchar4 *c)
{
	WS_ATOMIC {
		unsigned old = atomicAdd(&w[0], 1);

		atomicMax(&w[1], old);
		atomicMin(&w[2], old);
		atomicXor(&w[3], old);
		atomicInc(&w[4], 9);
		atomicDec(&w[5], 9);
		atomicCAS(&w[6], old, old + 1);
		w[7] = atomicExch(&w[8], old) == old - 1 || old == 0 ? w[7] : 1;
		atomicAdd(l, 1ull << 40);
		atomicAdd(f, 0.5f);
		v->x++;
		v->y--;
		v->z += v->x;
		v->w = v->x + v->y;
		c->x++;
		c->y--;
	}
}

__global__ void swap_vector(int4 *v, uchar4 *c)
{
	WS_ATOMIC {
		int4 t = v[0];
		uchar4 d = c[0];

		t.x++;
		v[0] = make_int4(t.w, t.x, t.y, t.z);
		c[0] = make_uchar4(d.w, d.x, d.y, (unsigned char)(d.z + 1));
	}
}

static bool atomics(void)
{
	unsigned all = blocks * threads, x = 0;
	memory<unsigned> w(9);
	memory<unsigned long long> l(1);
	memory<float> f(1);
	memory<int4> v(2);
	memory<uchar4> c(2);

	w.host[2] = ~0u;
	cudaMemcpy(w.gpu, w.host.data(), 9 * sizeof(unsigned), cudaMemcpyHostToDevice);
	mixed<<<blocks, threads>>>(w.gpu, l.gpu, f.gpu, v.gpu, c.gpu);
	swap_vector<<<blocks, threads>>>(v.gpu + 1, c.gpu + 1);
	for (unsigned i = 0; i < all; i++)
		x ^= i;
	w.back();
	v.back();
	c.back();
	const int4 &o = v.host[0], &s = v.host[1];
	const uchar4 &b = c.host[1];
	return w.host[0] == all && w.host[1] == all - 1 && w.host[2] == 0 && w.host[3] == x && w.host[4] == all % 10 &&
	       w.host[5] == (10 - all % 10) % 10 && w.host[6] == all && w.host[7] == 0 && w.host[8] == all - 1 &&
	       l.back()[0] == (unsigned long long)all << 40 && f.back()[0] == all * 0.5f && o.x == (int)all && o.y == -(int)all &&
	       o.z == (int)(all * (all + 1) / 2) && o.w == 0 && s.x + s.y + s.z + s.w == (int)all &&
	       (unsigned char)(b.x + b.y + b.z + b.w) == (unsigned char)all;
}

/* ---- many words: the log goes to the heap ---- */
__global__ void shift(int *a, int n)
{
	WS_ATOMIC {
		int last = a[n - 1];

		for (int i = n - 1; i > 0; i--)
			a[i] = a[i - 1];
		a[0] = last + 1;
	}
}

static bool large(void)
{
	const int n = 50;
	int all = (int)(blocks * threads), sum = 0, low = all, high = 0;
	memory<int> a(n);

	shift<<<blocks, threads>>>(a.gpu, n);
	for (int v : a.back()) {
		sum += v;
		low = v < low ? v : low;
		high = v > high ? v : high;
	}
	return sum == all && high - low <= 1;
}

/* ---- retry: a buffer of four, those who fill it and those who empty it, in one warp and in several ---- */
struct buffer { unsigned n, items[4]; };

__device__ __noinline__ void put(struct buffer *b, unsigned item)
{
	if (b->n == 4)
		ws_tx_retry();
	b->items[b->n++ & 3] = item;          /* & 3: the index is good whatever the others do */
}

__global__ void exchange(struct buffer *b, unsigned *got)
{
	unsigned t = self();

	for (unsigned i = 0; i < 2; i++) {
		if (t % 2) {
			WS_ATOMIC
				put(b, t * 2 + i);
		} else {
			unsigned item;

			WS_ATOMIC {
				if (b->n == 0)
					ws_tx_retry();
				item = b->items[--b->n & 3];
			}
			atomicAdd(&got[item], 1);
		}
	}
}

static bool retry(void)
{
	unsigned all = blocks * threads / 2 * 2;
	memory<buffer> b(1);
	memory<unsigned> got(2 * blocks * threads);
	bool good = true;

	if (threads % 2)
		return true;
	exchange<<<blocks, threads>>>(b.gpu, got.gpu);
	got.back();
	for (unsigned i = 0; i < 2 * all; i++)
		good &= got.host[i] == i / 2 % 2;
	return good && b.back()[0].n == 0;
}

static const marked_case cases[] = {
	{ "counter", counter }, { "bank", bank }, { "list", list }, { "functions", functions }, { "hash", hash },
	{ "divergence", divergence }, { "shared", shared }, { "atomics", atomics }, { "large", large },
	{ "retry", retry },
};

int main(int argc, char **argv)
{
	return run_cases("marked", cases, argc, argv);
}

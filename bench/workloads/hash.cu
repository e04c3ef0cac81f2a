/* HASH: every thread adds its keys to a hash table under the lock of the entry (Holey 2015, table 6.2). */
#include "workload.cuh"

enum { THREADS = 128 };

struct entry { int lock; unsigned count, sum; };

__device__ void add(entry *table, unsigned slot, unsigned entries, unsigned key)
{
	entry *e = &table[slot];

	for (int done = 0; !done;) {
		if (atomicCAS(&e->lock, 0, 1) == 0) {
			__threadfence();
			e->count++;
			e->sum += key;
			if (inject == 40)                /* another entry, under the lock of this one */
				TRESPASS(40, (int)table[(slot + 1) % entries].sum, e->sum);
			FENCE(39);
			atomicExch(&e->lock, 0);
			done = 1;
		}
		/* Kept in a register: else the compiler leaves the loop from the critical section, which then comes after
		 * it in all paths, where lanes that run in step wait for the others. */
		asm volatile("" : "+r"(done));
	}
	if (inject == 41)                                /* without the lock */
		TRESPASS(41, (int)e->sum, e->sum);
}

__global__ void hash(const unsigned *keys, entry *table, unsigned entries, unsigned *kept)
{
	int i = blockIdx.x * THREADS + threadIdx.x;

	add(table, keys[i] * 2654435761u % entries, entries, keys[i]);
	kept[i] = keys[i];
	if (threadIdx.x == 0)
		TRESPASS(36, (int)kept[(i + THREADS) % (THREADS * gridDim.x)], kept[i]);
}

int main(int argc, char **argv)
{
	OPTIONS({36, 36}, {39, 41});
	int n = (o.quick ? 1024 : o.large ? 1 << 17 : 16384) * o.scale, entries = (o.quick ? 512 : o.large ? 1 << 21 : 262144) * o.scale;
	unsigned *keys = new unsigned[n], *want = new unsigned[entries]();
	entry *table = new entry[entries];
	bool right = true;

	for (int i = 0; i < n; i++) {
		keys[i] = noise(i);
		want[keys[i] * 2654435761u % entries] += keys[i];
	}
	entry *d_table = device<entry>(entries);
	hash<<<n / THREADS, THREADS>>>(device(n, keys), d_table, entries, device<unsigned>(n));
	back(table, d_table, entries);
	for (int i = 0; i < entries; i++)
		right = right && table[i].sum == want[i] && !table[i].lock;
	return finish("HASH", right, o);
}

/* linked.cu - all headers in two units that are linked (the other one: -DOTHER), in a class template in a namespace, with sections in functions. Ends with 0 when
 * the sum is right with each engine. */
#include <warpsafe/tm.h>
#include <warpsafe/tm.cuh>
#include <warpsafe/tm_group.cuh>
#include <warpsafe/tm_block.cuh>
#include <warpsafe/lock.cuh>

#ifdef OTHER
__global__ void add_one(struct ws_tm tm, unsigned *at)
{
	WS_TX_VAR(tx, tm);

	WS_TX(&tx)
		ws_tx_write_u32(&tx, at, ws_tx_read_u32(&tx, at) + 1);
}

int other(struct ws_tm tm, unsigned *at)
{
	add_one<<<2, 32>>>(tm, at);
	return cudaDeviceSynchronize();
}
#else
int other(struct ws_tm tm, unsigned *at);

namespace app {
template <class T> struct cell {
	T *at;
	__device__ void add(struct ws_tx *tx, T v) const
	{
		WS_TX(tx)
			ws_tx_write_u32(tx, at, ws_tx_read_u32(tx, at) + v);
	}
};

template <class T> struct table {
	struct ws_tm tm;
	T *at;
	__device__ void work(T v) const
	{
		WS_TX_VAR(tx, tm);
		cell<T> c = { at };

		WS_TX(&tx) {
			c.add(&tx, v);
			WS_TX_INNER(&tx)
				c.add(&tx, v);
			WS_TX_EITHER(&tx) {
				c.add(&tx, 100);
				ws_tx_retry(&tx);
			} WS_TX_OR(&tx) {
				c.add(&tx, 1);
			}
		}
	}
};

template <class T> __global__ void run(table<T> t) { t.work(2); }
}

int main()
{
	unsigned *at, sum = 0;
	struct ws_tm tm;

	if (ws_tm_create(&tm, nullptr) || cudaMalloc(&at, sizeof *at) || cudaMemset(at, 0, sizeof *at))
		return 2;
	for (unsigned e = 0; e < WS_TM_ENGINES; e++) {
		app::table<unsigned> t = { tm, at };

		if (ws_tm_set_engine(&tm, (enum ws_tm_engine)e))
			return 2;
		t.tm = tm;
		app::run<<<2, 32>>>(t);
		if (other(tm, at))
			return 2;
	}
	if (cudaMemcpy(&sum, at, sizeof sum, cudaMemcpyDeviceToHost))
		return 2;
	return sum != WS_TM_ENGINES * 64 * (2 + 2 + 1 + 1) || ws_tm_destroy(&tm);
}
#endif

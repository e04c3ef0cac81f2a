/* BANK: each transaction withdraws from one account and deposits in another (Holey 2015, 4.2.1 and table 4.1: 2 reads and 2
 * writes; 128 blocks of 128 threads; 2K to 1024K accounts in 4.3.2). Result: every account, as on the CPU. */
#include "tm_bench.cuh"
#include <vector>

struct move { unsigned from, to; long long sum; };

__host__ __device__ static inline move nth_move(unsigned i, unsigned accounts)
{
	move m = { noise(2 * i) % accounts, noise(2 * i + 1) % accounts, (long long)(noise(i) % 100) };

	if (m.to == m.from)
		m.to = (m.from + 1) % accounts;
	return m;
}

__device__ unsigned first_move(unsigned sections) { return (blockIdx.x * blockDim.x + threadIdx.x) * sections; }

__global__ void with_transactions(struct ws_tm tm, long long *account, unsigned accounts, unsigned sections)
{
	WS_TX_VAR(tx, tm);

	for (unsigned i = 0; i < sections; i++) {
		move m = nth_move(first_move(sections) + i, accounts);

		WS_TX(&tx) {
			ws_tx_write_i64(&tx, &account[m.from], ws_tx_read_i64(&tx, &account[m.from]) - m.sum);
			ws_tx_write_i64(&tx, &account[m.to], ws_tx_read_i64(&tx, &account[m.to]) + m.sum);
		}
	}
}

__host__ __device__ void transfer(volatile long long *account, move m)
{
	account[m.from] -= m.sum;
	account[m.to] += m.sum;
}

__global__ void with_one_lock(unsigned *lock, long long *account, unsigned accounts, unsigned sections)
{
	for (unsigned i = 0; i < sections; i++) {
		move m = nth_move(first_move(sections) + i, accounts);

		for (int done = 0; !hidden(done);)
			if (try_lock(lock)) {
				transfer(account, m);
				unlock(lock);
				done = 1;
			}
	}
}

/* Both locks or none: nobody waits while it has one, so no order of locks is needed. Back-off as in tm.cuh, in rounds. */
__global__ void with_locks(unsigned *locks, long long *account, unsigned accounts, unsigned sections)
{
	unsigned random = first_move(1) + 1;

	for (unsigned i = 0; i < sections; i++) {
		move m = nth_move(first_move(sections) + i, accounts);
		unsigned skip = 0, failures = 0;

		for (int done = 0; !hidden(done);) {
			if (skip) {
				skip--;
				continue;
			}
			if (try_lock(&locks[m.from])) {
				if (try_lock(&locks[m.to])) {
					transfer(account, m);
					unlock(&locks[m.to]);
					done = 1;
				}
				unlock(&locks[m.from]);
			}
			skip = back_off(&random, &failures, done);
		}
	}
}

struct bank {
	options o;
	long long *account;
	unsigned *locks;
	std::vector<long long> want;
};

static bool right(const bank &b)
{
	std::vector<long long> have(b.o.size);

	CHECK(cudaMemcpy(have.data(), b.account, b.o.size * sizeof(long long), cudaMemcpyDeviceToHost));
	return have == b.want;
}

static int play_locks(const bank &b, const char *way, void (*kernel)(unsigned *, long long *, unsigned, unsigned))
{
	if (!wanted(b.o, way))
		return 0;
	CHECK(cudaMemset(b.account, 0, b.o.size * sizeof(long long)));
	double ms = milliseconds([&] { kernel<<<b.o.blocks, b.o.threads>>>(b.locks, b.account, b.o.size, b.o.sections); });
	return tell(b.o, "BANK", way, ms, right(b), nullptr);
}

static int play_engine(const bank &b, unsigned engine)
{
	if (!wanted(b.o, ws_tm_engine_name(engine)))
		return 0;
	CHECK(cudaMemset(b.account, 0, b.o.size * sizeof(long long)));
	return with_engine(b.o, "BANK", engine, [&] { return right(b); }, [&](const ws_tm &tm) {
		with_transactions<<<b.o.blocks, b.o.threads>>>(tm, b.account, b.o.size, b.o.sections);
	});
}

static int play_auto(const bank &b)
{
	if (!wanted(b.o, "auto"))
		return 0;
	return with_auto(b.o, "BANK", { 2, 2, 2, 0 },
	                 [&] { CHECK(cudaMemset(b.account, 0, b.o.size * sizeof(long long))); }, [&] { return right(b); },
	                 [&](const ws_tm &tm) {
		with_transactions<<<b.o.blocks, b.o.threads>>>(tm, b.account, b.o.size, b.o.sections);
	});
}

/* By so many threads of the CPU; one thread's result is what all others must have. */
static int play_cpu(bank *b, unsigned threads)
{
	std::vector<long long> account(b->o.size);
	std::vector<cpu_lock> locks(threads > 1 ? b->o.size : 0);

	double ms = on_cpu(threads, b->o.blocks * b->o.threads * b->o.sections, [&](unsigned section) {
		move m = nth_move(section, b->o.size);
		unsigned both[2] = { m.from, m.to };
		cpu_guard guard(locks, both, 2);
		transfer(account.data(), m);
	});
	if (threads == 1)
		b->want = account;
	return tell(b->o, "BANK", threads > 1 ? "cpu-all" : "cpu", ms, account == b->want, nullptr);
}

int main(int argc, char **argv)
{
	bank b = { read_options(argc, argv, { 128, 128, 64, 1u << 17, 8, nullptr }, { 4, 64, 4, 512, 8, nullptr }), nullptr, nullptr, {} };
	int bad = 0;

	bad += play_cpu(&b, 1);
	bad += play_cpu(&b, cpu_threads());
	CHECK(cudaMalloc((void **)&b.account, b.o.size * sizeof(long long)));
	CHECK(cudaMalloc((void **)&b.locks, b.o.size * sizeof(unsigned)));
	CHECK(cudaMemset(b.locks, 0, b.o.size * sizeof(unsigned)));
	bad += play_locks(b, "cgl-lock", with_one_lock);
	bad += play_locks(b, "fgl", with_locks);
	for (unsigned e = 0; e < WS_TM_ENGINES; e++)
		bad += play_engine(b, e);
	bad += play_auto(b);
	return bad ? 1 : 0;
}

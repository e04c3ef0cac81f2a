/* interac.cu - Interac (Ramamurthy, "Towards scalar synchronization in SIMT architectures", 2011, section 6.5.3):
 * bank transactions that run in parallel. Each takes money from one account and puts it into another one, and holds
 * the locks of both, that of the smaller number first. Examples 19 and 20 of the text. */
#include "locks.cuh"

struct account { unsigned lock; int balance; };
struct action { unsigned from, to; int amount; };
struct bank { account *accounts; const action *actions; unsigned n; tally *done; };

__device__ static void transact(bank b, const action &a)
{
	b.accounts[a.from].balance -= a.amount;
	b.accounts[a.to].balance += a.amount;
}

/* Example 19. */
template <way WAY> __device__ static void by_attempts(bank b, const action &a, unsigned *first, unsigned *second)
{
	unsigned again = 1;
	bool has_first = false;

	while (again) {
		if (has_first || try_lock<WAY>(first)) {
			has_first = true;
			if (try_lock<WAY>(second)) {
				transact(b, a);
				unlock<WAY>(second);
				unlock<WAY>(first);
				again = 0;
			}
		}
		ws_lock_meet(again);
	}
}

/* Example 20. */
__device__ static void by_instructions(bank b, const action &a, unsigned *first, unsigned *second)
{
	__ws_lock(first);
	__ws_lock(second);
	transact(b, a);
	leave(second);
	leave(first);
}

template <way WAY> __global__ void transfer(bank b)
{
	tally own = { 0, 0 };

	for (unsigned i = THREAD; i < b.n; i += gridDim.x * blockDim.x) {
		action a = b.actions[i];
		unsigned *first = &b.accounts[min(a.from, a.to)].lock, *second = &b.accounts[max(a.from, a.to)].lock;

		if (WAY == LOCKS)
			by_instructions(b, a, first, second);
		else
			by_attempts<WAY>(b, a, first, second);
		own.sections++;
	}
	add_up(b.done, own);
}

int main(int argc, char **argv)
{
	enum { ACCOUNTS, TRANSACTIONS, BLOCKS, THREADS, NUMBERS };
	number o[NUMBERS] = { { "accounts", 256, 30000, 100000, 0 }, { "transactions", 500, 61440, 300000, 0 },
		              { "blocks", 3, 120, 120, 0 }, { "threads", 64, 256, 256, 0 } };
	way w = read_arguments(argc, argv, o, NUMBERS);
	unsigned accounts = o[ACCOUNTS].value, n = o[TRANSACTIONS].value;
	std::vector<account> start(accounts), end(accounts);
	std::vector<action> actions(n);
	bool right = true;
	bank b;

	for (unsigned i = 0; i < accounts; i++)
		start[i] = account{ 0, 1000 };
	for (unsigned i = 0; i < n; i++) {
		unsigned from = noise(3 * i) % accounts, to = noise(3 * i + 1) % (accounts - 1);

		actions[i] = action{ from, to + (to >= from), (int)(noise(3 * i + 2) % 100) };
	}
	b = bank{ on_device(start.data(), accounts), on_device(actions.data(), n), n, on_device<tally>(NULL, 1) };
	if (w == LOCKS)
		transfer<LOCKS><<<o[BLOCKS].value, o[THREADS].value>>>(b);
	else if (w == TRIES)
		transfer<TRIES><<<o[BLOCKS].value, o[THREADS].value>>>(b);
	else
		transfer<ATOMICS><<<o[BLOCKS].value, o[THREADS].value>>>(b);
	ended();
	for (const action &a : actions) {        /* what one thread of the CPU makes of it */
		start[a.from].balance -= a.amount;
		start[a.to].balance += a.amount;
	}
	from_device(end.data(), b.accounts, accounts);
	for (unsigned i = 0; i < accounts; i++)
		right = right && end[i].balance == start[i].balance && end[i].lock == 0;
	return tell("interac", w, b.done, right);
}

/* freed.cu - a block of memory is given back by another transaction while an attempt that will abort is in ws_tx_free with it: just when that
 * one has looked whether the block is in use.
 *
 *     freed case=number|again|smaller [engine=NAME] [granularity=N] [broken=N]
 *
 * number: the link of the block, which had its class, is then the number of another block. again: the block was free when it was asked for, and
 * is allocated anew and linked where it was, so that who compares values sees no change (hstm). smaller: it is also cut in two, and the other half
 * is another's. Ends with 1 if an attempt takes more than the block, or what is not its own is written. broken: step N of the engines is left
 * out. */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
__device__ unsigned stop(void);
#define WS_TM_BREAK stop()               /* is asked in ws_tx_free, too, right behind the look at the block */
#include <warpsafe/tm.h>
#include <warpsafe/tm.cuh>

enum { NUMBER, AGAIN, SMALLER, CASES };
enum flag { READY, READ, FREED, LOOKED, DONE, ENDED, WRONG, FLAGS };

__constant__ unsigned broken;
__device__ volatile unsigned flags[FLAGS], armed;

/* Waits for the other thread, for some time: with some engines it cannot come before this one ends. */
__device__ void wait_for(enum flag f)
{
	for (int k = 0; k < 3000 && !flags[f]; k++)
		;
}

__device__ void tell(enum flag f)
{
	__threadfence();
	flags[f] = 1;
}

__device__ unsigned stop(void)
{
	if (blockIdx.x == 1 && armed) {
		armed = 0;
		tell(LOOKED);
		wait_for(DONE);
	}
	return broken;
}

/* The number on top of the stack of free blocks is one that would be a class of megabytes. */
__device__ void free_many(struct ws_tx *tx)
{
	void *p[14];

	for (int k = 0; k < 14; k++)
		WS_TX(tx)
			p[k] = ws_tx_alloc(tx, 32);
	for (int k = 0; k < 14; k++)
		WS_TX(tx)
			ws_tx_free(tx, p[k]);
}

__device__ unsigned *fresh(struct ws_tx *tx, unsigned bytes)
{
	unsigned *p = (unsigned *)ws_tx_alloc(tx, bytes);

	if (p)
		ws_tx_fill_u32(tx, p, 77);
	return p;
}

/* Links a block, and while the other one is in ws_tx_free frees it and, but for NUMBER, links it again. */
__device__ void give_and_take(struct ws_tx *tx, unsigned **head, int what)
{
	unsigned *first = nullptr, *again = nullptr, *other = nullptr;
	bool freed = false;                     /* the other one has not been sooner */

	if (what == NUMBER)
		free_many(tx);
	WS_TX(tx)
		ws_tx_write_pointer(tx, head, first = fresh(tx, 32));
	tell(READY);
	wait_for(what == AGAIN ? READ : LOOKED);
	WS_TX(tx) {
		freed = ws_tx_read_pointer(tx, head) == first;
		if (freed) {
			ws_tx_free(tx, first);
			ws_tx_write_pointer(tx, head, nullptr);
		}
	}
	if (what != NUMBER) {
		tell(FREED);
		wait_for(LOOKED);
		WS_TX(tx) {
			again = fresh(tx, what == SMALLER ? 16 : 32);
			other = what == SMALLER ? fresh(tx, 16) : nullptr;
			ws_tx_write_pointer(tx, head, again);
		}
	}
	tell(DONE);
	wait_for(ENDED);
	if ((freed && what != NUMBER && again != first) || (other && *(volatile unsigned *)other != 77))
		flags[WRONG] = 1;
}

__device__ void take_away(struct ws_tx *tx, unsigned **head, int what)
{
	int first = 1;

	wait_for(READY);
	WS_TX(tx) {
		unsigned *p = (unsigned *)ws_tx_read_pointer(tx, head);

		if (!p)
			continue;
		if (first && what == AGAIN) {
			tell(READ);
			wait_for(FREED);
		}
		armed = (unsigned)first;
		first = 0;
		ws_tx_free(tx, p);
		armed = 0;
		if (tx->n > 64)
			flags[WRONG] = tx->n;
		ws_tx_write_pointer(tx, head, nullptr);
	}
	tell(ENDED);
}

__global__ void run(struct ws_tm tm, unsigned **head, int what)
{
	WS_TX_VAR(tx, tm);

	if (blockIdx.x == 0)
		give_and_take(&tx, head, what);
	else
		take_away(&tx, head, what);
}

static const char *text(int argc, char **argv, const char *name, const char *otherwise)
{
	for (int i = 1; i < argc; i++)
		if (!strncmp(argv[i], name, strlen(name)) && argv[i][strlen(name)] == '=')
			return argv[i] + strlen(name) + 1;
	return otherwise;
}

/* Whether all is right. */
static bool play(const struct ws_tm_config *config, int what)
{
	static const unsigned none[FLAGS] = {};
	unsigned **head, now[FLAGS];
	struct ws_tm tm;
	bool good;

	if (ws_tm_create(&tm, config) || cudaMalloc((void **)&head, sizeof *head) || cudaMemset(head, 0, sizeof *head) ||
	    cudaMemcpyToSymbol(flags, none, sizeof none))
		exit(2);
	run<<<2, 1>>>(tm, head, what);
	good = !cudaMemcpyFromSymbol(now, flags, sizeof now);
	if (!good)
		printf("%s: failed\n", ws_tm_engine_name(config->engine));
	else if (now[WRONG])
		printf("%s: wrong (%u)\n", ws_tm_engine_name(config->engine), now[WRONG]);
	good = good && !now[WRONG];
	ws_tm_destroy(&tm);
	cudaFree(head);
	return good;
}

int main(int argc, char **argv)
{
	static const char *const cases[CASES] = { "number", "again", "smaller" };
	const char *name = text(argc, argv, "case", "number"), *engine = text(argc, argv, "engine", "");
	unsigned step = (unsigned)atoi(text(argc, argv, "broken", "0"));
	bool good = true;
	int what = 0;

	while (what < CASES && strcmp(name, cases[what]))
		what++;
	if (what == CASES || cudaMemcpyToSymbol(broken, &step, sizeof step))
		return 2;
	for (unsigned e = 0; e < WS_TM_ENGINES; e++) {
		struct ws_tm_config config = ws_tm_defaults();

		if (*engine && strcmp(engine, ws_tm_engine_name(e)))
			continue;
		config.engine = (enum ws_tm_engine)e;
		config.granularity = (unsigned)atoi(text(argc, argv, "granularity", "4"));
		config.entries = 4096;
		config.heap = 4096;
		config.pool = what == SMALLER ? 32 : 4096;
		good &= play(&config, what);
	}
	return good ? 0 : 1;
}

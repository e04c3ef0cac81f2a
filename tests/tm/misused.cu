/* What ends the kernel: a word that is its own lock left with its spare value, or put without having been taken, or taken as both of two, and an attempt
 * inside of a section. misused spare|untaken|inside|both: 0 if the launch fails. */
#include <cstdio>
#include <cstring>
#include <warpsafe/tm.cuh>
#include <warpsafe/tm.h>

__global__ void misuse(struct ws_tm tm, unsigned *words, char how)
{
	WS_TX_VAR(tx, tm);

	WS_TX(&tx) {
		ws_tx_take_u32(&tx, words, 7);
		if (how == 's')
			ws_tx_put_u32(&tx, words, 7, 7);
		if (how == 'b') {
			unsigned a, b;

			ws_tx_take2_u32(&tx, words + 1, words + 1, 7, &a, &b);
		}
		if (how == 'u')
			ws_tx_put_u32(&tx, words + 1, 1, 7);
		if (how == 'i')
			WS_TX_TRY(&tx)
				ws_tx_put_u32(&tx, words, 1, 7);
		if (how != 's')
			ws_tx_put_u32(&tx, words, 2, 7);
	}
}

int main(int argc, char **argv)
{
	struct ws_tm_config config = ws_tm_defaults();
	struct ws_tm tm;
	unsigned *words;

	config.engine = WS_TM_PSTM;
	if (argc < 2 || ws_tm_create(&tm, &config) || cudaMalloc((void **)&words, 2 * sizeof *words) || cudaMemset(words, 0, 2 * sizeof *words))
		return printf("set-up failed\n"), 2;
	misuse<<<1, 1>>>(tm, words, argv[1][0]);
	if (cudaDeviceSynchronize() != cudaSuccess)
		return 0;
	return printf("%s: the kernel went on\n", argv[1]), 1;
}

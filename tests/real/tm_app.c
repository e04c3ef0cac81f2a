/* A program for `warpsafe tm --gpu=real` that uses the driver API: tm_app FILE.ptx. Transfers between 8 accounts of 100 by
 * 3 blocks of 40 threads must keep the sum, and every thread counts itself. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int cuInit(unsigned), cuDevicePrimaryCtxRetain(void **, int), cuCtxSetCurrent(void *), cuModuleUnload(void *);
int cuModuleLoadData(void **, const void *), cuModuleGetFunction(void **, void *, const char *);
int cuMemAlloc_v2(uint64_t *, size_t), cuMemcpyHtoD_v2(uint64_t, const void *, size_t);
int cuMemcpyDtoH_v2(void *, uint64_t, size_t);
int cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,
                   void *stream, void **args, void **extra);

enum { ACCOUNTS = 8, BLOCKS = 3, THREADS = 40 };

static void must(int e, const char *what)
{
	if (e == 0)
		return;
	printf("%s: error %d\n", what, e);
	exit(9);
}

static char *read_text(const char *path)
{
	char *text = calloc(1, 1 << 20);
	FILE *f = fopen(path, "r");

	if (!f || !text || !fread(text, 1, (1 << 20) - 1, f))
		exit(9);
	fclose(f);
	return text;
}

int main(int argc, char **argv)
{
	long long account[ACCOUNTS + 1] = { 0 }, sum = 0;
	unsigned n = ACCOUNTS;
	uint64_t memory;
	void *args[] = { &memory, &n };
	void *move, *context, *module;
	char *text = read_text(argc > 1 ? argv[1] : "");

	for (int i = 0; i < ACCOUNTS; i++)
		account[i] = 100;
	must(cuInit(0), "cuInit");
	must(cuDevicePrimaryCtxRetain(&context, 0), "cuDevicePrimaryCtxRetain");
	must(cuCtxSetCurrent(context), "cuCtxSetCurrent");
	must(cuModuleLoadData(&module, text), "cuModuleLoadData");
	must(cuModuleGetFunction(&move, module, "move"), "cuModuleGetFunction");
	must(cuMemAlloc_v2(&memory, sizeof account), "cuMemAlloc");
	must(cuMemcpyHtoD_v2(memory, account, sizeof account), "cuMemcpyHtoD");
	must(cuLaunchKernel(move, BLOCKS, 1, 1, THREADS, 1, 1, 0, NULL, args, NULL), "cuLaunchKernel");
	must(cuMemcpyDtoH_v2(account, memory, sizeof account), "cuMemcpyDtoH");
	for (int i = 0; i < ACCOUNTS; i++)
		sum += account[i];
	if (argc > 2)
		must(cuModuleUnload(module), "cuModuleUnload");
	free(text);
	printf("sum %lld, threads %lld\n", sum, account[ACCOUNTS]);
	return 0;
}

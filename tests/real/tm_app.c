/* A program for `warpsafe tm --gpu=real` that uses the driver API: tm_app FILE.ptx [unload|two|many]. Transfers between 8 accounts
 * of 100 by 3 blocks of 40 threads must keep the sum, and every thread counts itself. two: a second module of the same text
 * must work with the tables of the first, also when that was unloaded. many: eight launches. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int cuInit(unsigned), cuDevicePrimaryCtxRetain(void **, int), cuCtxSetCurrent(void *), cuModuleUnload(void *);
int cuModuleGetGlobal_v2(uint64_t *, size_t *, void *, const char *);
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

static void *load(const char *text)
{
	void *module;

	must(cuModuleLoadData(&module, text), "cuModuleLoadData");
	return module;
}

static void launch(void *module, uint64_t memory)
{
	unsigned n = ACCOUNTS;
	void *args[] = { &memory, &n }, *move;

	must(cuModuleGetFunction(&move, module, "move"), "cuModuleGetFunction");
	must(cuLaunchKernel(move, BLOCKS, 1, 1, THREADS, 1, 1, 0, NULL, args, NULL), "cuLaunchKernel");
}

/* Where the tables are that a module works with. */
static uint64_t table_of(void *module)
{
	uint64_t address = 0, table = 0;
	size_t bytes = 0;

	must(cuModuleGetGlobal_v2(&address, &bytes, module, "__warpsafe_tm"), "cuModuleGetGlobal");
	must(cuMemcpyDtoH_v2(&table, address, sizeof table), "cuMemcpyDtoH");
	return table;
}

static void second(void *first, const char *text, uint64_t memory)
{
	void *module = load(text);

	printf("before: %s\n", table_of(first) == table_of(module) ? "one table" : "two tables");
	launch(module, memory);
	printf("then: %s\n", table_of(first) == table_of(module) ? "one table" : "two tables");
	must(cuModuleUnload(first), "cuModuleUnload");
	launch(module, memory);
}

int main(int argc, char **argv)
{
	long long account[ACCOUNTS + 1] = { 0 }, sum = 0;
	const char *way = argc > 2 ? argv[2] : "";
	char *text = read_text(argc > 1 ? argv[1] : "");
	void *context, *module;
	uint64_t memory;

	for (int i = 0; i < ACCOUNTS; i++)
		account[i] = 100;
	must(cuInit(0), "cuInit");
	must(cuDevicePrimaryCtxRetain(&context, 0), "cuDevicePrimaryCtxRetain");
	must(cuCtxSetCurrent(context), "cuCtxSetCurrent");
	module = load(text);
	must(cuMemAlloc_v2(&memory, sizeof account), "cuMemAlloc");
	must(cuMemcpyHtoD_v2(memory, account, sizeof account), "cuMemcpyHtoD");
	launch(module, memory);
	if (strcmp(way, "two") == 0)
		second(module, text, memory);
	for (int i = 1; strcmp(way, "many") == 0 && i < 8; i++)
		launch(module, memory);
	must(cuMemcpyDtoH_v2(account, memory, sizeof account), "cuMemcpyDtoH");
	for (int i = 0; i < ACCOUNTS; i++)
		sum += account[i];
	if (strcmp(way, "unload") == 0)
		must(cuModuleUnload(module), "cuModuleUnload");
	free(text);
	printf("sum %lld, threads %lld\n", sum, account[ACCOUNTS]);
	return 0;
}

/* run_device.c - runs the kernels of arith.ptx on a real GPU: run_device MODULE ARITH.IN ARITH.LIST OUT
 *
 * MODULE is PTX or a cubin. OUT gets, for each line of the list in order, ARITH_ROWS * results 64-bit words. Needs no
 * CUDA toolkit: the driver's library is opened at run time, and the few functions used are declared here (NVIDIA,
 * CUDA Driver API). Build: cc -O2 run_device.c -ldl */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 2048, BLOCK = 256, SOURCE_BYTES = 32, RESULT_BYTES = 16 };

typedef int result;
typedef uint64_t devptr;
static result (*cu_init)(unsigned);
static result (*cu_device_get)(int *, int);
static result (*cu_ctx_retain)(void **, int);
static result (*cu_ctx_set)(void *);
static result (*cu_module_load)(void **, const void *);
static result (*cu_module_function)(void **, void *, const char *);
static result (*cu_alloc)(devptr *, size_t);
static result (*cu_memset)(devptr, unsigned char, size_t);
static result (*cu_to_device)(devptr, const void *, size_t);
static result (*cu_to_host)(void *, devptr, size_t);
static result (*cu_launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **,
                           void **);

static int load_driver(void)
{
	static const struct {
		const char *name;
		void *slot;
	} names[] = {
		{"cuInit", &cu_init}, {"cuDeviceGet", &cu_device_get}, {"cuDevicePrimaryCtxRetain", &cu_ctx_retain},
		{"cuCtxSetCurrent", &cu_ctx_set}, {"cuModuleLoadData", &cu_module_load},
		{"cuModuleGetFunction", &cu_module_function}, {"cuMemAlloc_v2", &cu_alloc}, {"cuMemsetD8_v2", &cu_memset},
		{"cuMemcpyHtoD_v2", &cu_to_device}, {"cuMemcpyDtoH_v2", &cu_to_host}, {"cuLaunchKernel", &cu_launch},
	};
	void *lib = dlopen("libcuda.so.1", RTLD_NOW);
	if (!lib) {
		fprintf(stderr, "%s\n", dlerror());
		return 0;
	}
	for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
		void *f = dlsym(lib, names[k].name);
		if (!f) {
			fprintf(stderr, "no %s in the driver\n", names[k].name);
			return 0;
		}
		memcpy(names[k].slot, &f, sizeof f);
	}
	return 1;
}

static void check(result r, const char *what)
{
	if (r == 0)
		return;
	fprintf(stderr, "%s: error %d\n", what, r);
	exit(1);
}

static char *read_all(const char *path, size_t *len)
{
	FILE *f = fopen(path, "rb");
	if (!f) {
		perror(path);
		exit(2);
	}
	fseek(f, 0, SEEK_END);
	*len = (size_t)ftell(f);
	rewind(f);
	char *p = malloc(*len + 1);
	if (!p || fread(p, 1, *len, f) != *len)
		exit(2);
	p[*len] = 0;
	fclose(f);
	return p;
}

int main(int argc, char **argv)
{
	static uint64_t res[ROWS][RESULT_BYTES / 8];
	void *ctx, *module, *function;
	devptr in, out;
	size_t len, in_len, list_len;
	int dev;
	if (argc != 5 || !load_driver())
		return 2;
	char *code = read_all(argv[1], &len), *src = read_all(argv[2], &in_len), *list = read_all(argv[3], &list_len);
	FILE *to = fopen(argv[4], "wb");
	if (!to)
		return 2;
	check(cu_init(0), "cuInit");
	check(cu_device_get(&dev, 0), "cuDeviceGet");
	check(cu_ctx_retain(&ctx, dev), "cuDevicePrimaryCtxRetain");
	check(cu_ctx_set(ctx), "cuCtxSetCurrent");
	check(cu_module_load(&module, code), "cuModuleLoadData");
	check(cu_alloc(&in, in_len), "cuMemAlloc");
	check(cu_alloc(&out, sizeof res), "cuMemAlloc");
	check(cu_to_device(in, src, in_len), "cuMemcpyHtoD");
	size_t n = 0;
	for (char *line = strtok(list, "\n"); line; line = strtok(NULL, "\n"), n++) {
		char name[32];
		unsigned block, results;
		if (sscanf(line, "%31s %u %u", name, &block, &results) != 3)
			return 2;
		devptr from = in + (devptr)block * ROWS * SOURCE_BYTES;
		void *args[] = {&from, &out};
		check(cu_module_function(&function, module, name), name);
		check(cu_memset(out, 0xcd, sizeof res), "cuMemsetD8");
		check(cu_launch(function, ROWS / BLOCK, 1, 1, BLOCK, 1, 1, 0, NULL, args, NULL), name);
		check(cu_to_host(res, out, sizeof res), line);
		for (int r = 0; r < ROWS; r++)
			fwrite(res[r], 8, results, to);
	}
	printf("%zu forms\n", n);
	return fclose(to) ? 1 : 0;
}

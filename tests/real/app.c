/* A driver-API program that does one thing, for tests/real/run: ./app WHAT [ARGUMENT]. */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <sys/wait.h>
#include <unistd.h>

int cuInit(unsigned), cuModuleLoadData(void **, const void *), cuModuleLoad(void **, const char *), cuModuleUnload(void *);
int cuModuleLoadDataEx(void **, const void *, unsigned, int *, void **), cuModuleLoadFatBinary(void **, const void *);
int cuModuleGetFunction(void **, void *, const char *), cuNeverHeardOf(int), cuSecretFunction(void **, const char *),
    cuHiddenFunction(void **, void *);
int cuModuleGetFunctionCount(unsigned *, void *), cuModuleEnumerateFunctions(void **, unsigned, void *);
int cuFuncGetName(const char **, void *);
int cuLibraryLoadData(void **, const void *, int *, void **, unsigned, int *, void **, unsigned);
int cuLibraryGetKernel(void **, void *, const char *), cuKernelGetFunction(void **, void *);
int cuLaunchKernel(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);
int cuLinkCreate_v2(unsigned, int *, void **, void **), cuLinkComplete(void *, void **, size_t *), cuLinkDestroy(void *);
int cuLinkAddData_v2(void *, int, void *, size_t, const char *, unsigned, int *, void **);
int cuGetProcAddress_v2(const char *, void **, int, uint64_t, int *);
int cuStreamBeginCapture_v2(void *, int), cuStreamEndCapture(void *, void **), cuGraphLaunch(void *, void *);
int cuGraphInstantiateWithFlags(void **, void *, unsigned long long), cuGraphNodeSetEnabled(void *, void *, unsigned);
int cuGraphGetNodes(void *, void **, size_t *);

#define OK(call) do { int e_ = (call); if (e_) { printf("line %d: %s: %d\n", __LINE__, #call, e_); exit(1); } } while (0)
#define PTX(target, name) ".version 8.0\n.target " target "\n.address_size 64\n.visible .entry " name "()\n{\n\tret;\n}\n"

static const char good[] = PTX("sm_70", "_Z4goodPf"), other[] = PTX("sm_70", "other"), newer[] = PTX("sm_120", "newer");
static const char only_90[] = PTX("sm_90a", "only90"), broken[] = ".version 8.0\n.target sm_70\n.address_size 64\n"
	".visible .entry broken()\n{\n\tthis.is.wrong %r1;\n\tret;\n}\n";

static void launch(void *f, int times)
{
	while (times--)
		OK(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL));
}

static void run(const void *image, const char *name, int times)
{
	void *module, *f;

	OK(cuModuleLoadData(&module, image));
	OK(cuModuleGetFunction(&f, module, name));
	launch(f, times);
}

static const char each[] = ".version 8.0\n.target sm_70\n.address_size 64\n.visible .entry each(.param .u64 p)\n{\n"
	"\t.reg .b32 %r<4>;\n\t.reg .b64 %rd<4>;\n\tld.param.u64 %rd1, [p];\n\tmov.u32 %r1, %tid.x;\n"
	"\tmov.u32 %r2, %ctaid.x;\n\tmov.u32 %r3, %ntid.x;\n\tmad.lo.u32 %r1, %r2, %r3, %r1;\n"
	"\tmad.wide.u32 %rd2, %r1, 4, %rd1;\n\tst.global.u32 [%rd2], %r1;\n\tret;\n}\n";

static void list(void)
{
	void *module, *f[4] = { 0 };
	const char *name = "none";
	unsigned n = 0;

	OK(cuModuleLoadData(&module, each));
	OK(cuModuleGetFunctionCount(&n, module));
	OK(cuModuleEnumerateFunctions(f, n, module));
	OK(cuFuncGetName(&name, f[0]));
	printf("%u functions, the first is %s, %s behind the last\n", n, name, f[n] ? "more" : "nothing");
}

/* ---- fat binaries ---- */
struct container {
	uint32_t magic;
	uint16_t version, header;
	uint64_t bytes;
	struct { uint16_t kind, version; uint32_t header; uint64_t payload; uint32_t packed, options; uint16_t minor, major;
	         uint32_t sm, name, name_bytes; uint64_t flags, zero, plain; } entry;
	char data[1024];
};

static struct container *contain(int kind, unsigned sm, const char *data, size_t len)
{
	struct container *c = calloc(1, sizeof *c);

	memcpy(c->data, data, len);
	c->magic = 0xBA55ED50;
	c->version = 1;
	c->header = 16;
	c->entry.kind = (uint16_t)kind;
	c->entry.header = 64;
	c->entry.payload = (len + 8) / 8 * 8;
	c->entry.sm = sm;
	c->bytes = 64 + c->entry.payload;
	return c;
}

struct wrapper { uint32_t magic, version; const void *data; const void *const *parts; };

static void fat_binary(void)
{
	struct wrapper w = { 0x466243b1, 1, contain(1, 70, good, sizeof good), NULL };
	void *module, *f;

	OK(cuModuleLoadFatBinary(&module, &w));
	OK(cuModuleGetFunction(&f, module, "_Z4goodPf"));
	launch(f, 3);
}

/* Relocatable device code: two parts with PTX, one with machine code alone. */
static void parts(void)
{
	static const char elf[] = "\177ELF and so on";
	const void *list[4] = { contain(1, 70, good, sizeof good), contain(1, 70, other, sizeof other),
		                contain(2, 90, elf, sizeof elf), NULL };
	struct wrapper w = { 0x466243b1, 2, contain(2, 90, elf, sizeof elf), list };
	void *library, *kernel, *f;

	OK(cuLibraryLoadData(&library, &w, NULL, NULL, 0, NULL, NULL, 0));
	OK(cuLibraryGetKernel(&kernel, library, "other"));
	OK(cuKernelGetFunction(&f, kernel));
	launch(f, 2);
	launch(kernel, 2);
	OK(cuLibraryGetKernel(&kernel, library, "from_elf"));
	launch(kernel, 1);
}

/* As a node of a graph has it: a function of a library's kernel, whose module the program has not asked for. */
static void hidden(void)
{
	void *library, *kernel, *f;

	OK(cuLibraryLoadData(&library, good, NULL, NULL, 0, NULL, NULL, 0));
	OK(cuLibraryGetKernel(&kernel, library, "_Z4goodPf"));
	OK(cuHiddenFunction(&f, kernel));
	launch(kernel, 1);
	launch(f, 2);
}

static void options(void)
{
	int option[] = { 0, 5, 6 };
	char log[64] = "";
	void *value[] = { (void *)40, log, (void *)sizeof log }, *module, *f;

	OK(cuModuleLoadDataEx(&module, good, 3, option, value));
	OK(cuModuleGetFunction(&f, module, "_Z4goodPf"));
	launch(f, 1);
}

static void linked(void)
{
	static const char elf[] = "\177ELF and so on";
	void *state, *cubin, *copy;
	size_t size;

	OK(cuLinkCreate_v2(0, NULL, NULL, &state));
	OK(cuLinkAddData_v2(state, 1, (void *)good, sizeof good, "good", 0, NULL, NULL));
	OK(cuLinkAddData_v2(state, 0, (void *)elf, sizeof elf, "elf", 0, NULL, NULL));
	OK(cuLinkComplete(state, &cubin, &size));
	copy = malloc(size + 100);
	memcpy(copy, cubin, size);
	OK(cuLinkDestroy(state));
	run(copy, "_Z4goodPf", 1);
	run(copy, "machine", 1);
}

static void file(const char *path)
{
	void *module, *f;

	OK(cuModuleLoad(&module, path));
	OK(cuModuleGetFunction(&f, module, "_Z4goodPf"));
	launch(f, 1);
}

static void graph(void)
{
	void *module, *f, *g, *exec, *stream = &module, *nodes[2];
	size_t n = 2;

	OK(cuModuleLoadData(&module, good));
	OK(cuModuleGetFunction(&f, module, "_Z4goodPf"));
	launch(f, 1);
	OK(cuStreamBeginCapture_v2(stream, 0));
	for (int i = 0; i < 2; i++)
		OK(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, stream, NULL, NULL));
	OK(cuStreamEndCapture(stream, &g));
	OK(cuGraphInstantiateWithFlags(&exec, g, 0));
	for (int i = 0; i < 10; i++)
		OK(cuGraphLaunch(exec, NULL));
	OK(cuGraphGetNodes(g, nodes, &n));
	OK(cuGraphNodeSetEnabled(exec, nodes[0], 0));
	OK(cuGraphLaunch(exec, NULL));                       /* in all: 1 + 2 * 10 + 1 */
}

static void by_address(void)
{
	int (*get)(const char *, void **, int, uint64_t, int *), (*load)(void **, const void *);
	int (*start)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);
	void *p, *module, *f;
	int found;

	OK(cuGetProcAddress_v2("cuGetProcAddress", &p, 12000, 0, &found));
	memcpy(&get, &p, sizeof p);
	OK(get("cuModuleLoadData", &p, 12000, 0, &found));
	memcpy(&load, &p, sizeof p);
	OK(get("cuLaunchKernel", &p, 12000, 0, &found));
	memcpy(&start, &p, sizeof p);
	OK(load(&module, good));
	OK(cuModuleGetFunction(&f, module, "_Z4goodPf"));
	OK(start(f, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL));
}

static void secret(void)
{
	void *f;

	OK(cuSecretFunction(&f, "hidden"));
	launch(f, 4);
	printf("cuNeverHeardOf: %d\n", cuNeverHeardOf(1));
}

/* Modules come and go; a kernel of one name is one row. */
static void again(void)
{
	void *module, *f;

	for (int i = 0; i < 1000; i++) {
		OK(cuModuleLoadData(&module, good));
		OK(cuModuleGetFunction(&f, module, "_Z4goodPf"));
		launch(f, 1);
		OK(cuModuleUnload(module));
	}
}

/* Four threads that load and launch at the same time. */
static void *thread(void *arg)
{
	void *module, *f;

	for (int i = 0; i < 200; i++) {
		OK(cuModuleLoadData(&module, i % 2 ? good : other));
		OK(cuModuleGetFunction(&f, module, i % 2 ? "_Z4goodPf" : "other"));
		launch(f, 50);
		OK(cuModuleUnload(module));
	}
	return NULL;
}

static void threads(void)
{
	pthread_t t[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, thread, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
}

/* A million launches, and what one of them costs; the fake driver itself does next to nothing. */
static void many(void)
{
	struct timespec from, to;
	void *module, *f;

	OK(cuModuleLoadData(&module, good));
	OK(cuModuleGetFunction(&f, module, "_Z4goodPf"));
	clock_gettime(CLOCK_MONOTONIC, &from);
	launch(f, 1000000);
	clock_gettime(CLOCK_MONOTONIC, &to);
	fprintf(stderr, "%.0f ns a launch\n",
	        ((double)(to.tv_sec - from.tv_sec) * 1e9 + (double)(to.tv_nsec - from.tv_nsec)) / 1e6);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	setvbuf(stdout, NULL, _IOLBF, 0);
	OK(cuInit(0));
	if (strcmp(what, "good") == 0)
		run(good, "_Z4goodPf", 1234);
	else if (strcmp(what, "list") == 0)
		list();
	else if (strcmp(what, "broken") == 0)
		run(broken, "broken", 1);
	else if (strcmp(what, "newer") == 0)
		run(newer, "newer", 1);
	else if (strcmp(what, "only90") == 0)
		run(only_90, "only90", 1);
	else if (strcmp(what, "elf") == 0)
		run("\177ELF and so on", "machine", 1);
	else if (strcmp(what, "fat") == 0)
		fat_binary();
	else if (strcmp(what, "parts") == 0)
		parts();
	else if (strcmp(what, "options") == 0)
		options();
	else if (strcmp(what, "linked") == 0)
		linked();
	else if (strcmp(what, "file") == 0)
		file(argv[2]);
	else if (strcmp(what, "graph") == 0)
		graph();
	else if (strcmp(what, "by-address") == 0)
		by_address();
	else if (strcmp(what, "hidden") == 0)
		hidden();
	else if (strcmp(what, "secret") == 0)
		secret();
	else if (strcmp(what, "again") == 0)
		again();
	else if (strcmp(what, "threads") == 0)
		threads();
	else if (strcmp(what, "many") == 0)
		many();
	else if (strcmp(what, "killed") == 0) {
		run(good, "_Z4goodPf", 7);
		usleep(2000000);          /* the report is kept 100 ms after the launch, on a busy machine later */
		kill(getpid(), SIGKILL);
	} else if (strcmp(what, "crashed") == 0) {
		run(good, "_Z4goodPf", 8);
		abort();
	} else if (strcmp(what, "forked") == 0) {
		run(good, "_Z4goodPf", 1);
		if (fork() == 0)
			run(good, "_Z4goodPf", 5);
		else
			wait(NULL);
	}
	printf("done\n");
	return 0;
}

/* A program for `warpsafe race --gpu=real` that uses the driver API: race_app WAY. Its kernel has a race, or with
 * "fine" none, and with "global" behind that it writes to 128 words of global memory, with "alike" at addresses that no
 * proof knows: each word by two blocks in grids of more than two; the ways are those in which a program comes to launch a kernel, and to its end. */
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "driver_app.h"

int cuCtxDestroy_v2(void *);
int cuDevicePrimaryCtxRetain(void **, int), cuDevicePrimaryCtxRelease_v2(int), cuCtxSetCurrent(void *);
int cuDevicePrimaryCtxReset_v2(int);
int cuModuleUnload(void *);
int cuLibraryLoadData(void **, const void *, int *, void **, unsigned, int *, void **, unsigned);
int cuLibraryGetKernel(void **, void *, const char *);
int cuStreamCreate(void **, unsigned), cuMemHostAlloc(void **, size_t, unsigned), cuMemcpy2DAsync_v2(const void *, void *);
int cuMemcpyDtoDAsync_v2(uint64_t, uint64_t, size_t, void *), cuMemsetD32Async(uint64_t, unsigned, size_t, void *);
int cuMemcpyDtoHAsync_v2(void *, uint64_t, size_t, void *), cuMemsetD2D8Async(uint64_t, size_t, unsigned char, size_t, size_t, void *);
int cuFuncSetAttribute(void *, int, int);

static const char racy[] =
	".version 7.0\n.target sm_70\n.address_size 64\n"
	".visible .entry exchange(.param .u64 p)\n{\n"
	"\t.reg .b32 %r<8>;\n\t.reg .b64 %rd<8>;\n\t.shared .align 4 .b8 m[256];\n"
	"\tld.param.u64 %rd1, [p];\n\tmov.u32 %r1, %tid.x;\n\tmul.wide.u32 %rd2, %r1, 4;\n"
	"\tmov.u32 %r4, %ctaid.x;\n\tmov.u64 %rd3, m;\n\tadd.s64 %rd4, %rd3, %rd2;\n\tst.shared.u32 [%rd4], %r1;\n"
	"\t// bar.sync 0;\n"
	"\txor.b32 %r2, %r1, 32;\n\tmul.wide.u32 %rd5, %r2, 4;\n\tadd.s64 %rd6, %rd3, %rd5;\n"
	"\tld.shared.u32 %r3, [%rd6];\n\n"
	"\t// mov.u32 %r4, %ctaid.x; mad.lo.u32 %r3, %r4, 64, %r3; mad.wide.u32 %rd7, %r3, 4, %rd1; st.global.u32 [%rd7], %r3;\n"
	"\t// and.b32 %r5, %r4, 1; xor.b32 %r5, %r5, 1; mad.lo.u32 %r5, %r5, 64, %r1; mad.wide.u32 %rd7, %r5, 4, %rd1; st.global.u32 [%rd7], %r5;\n"
	"\t// SPIN: red.global.add.u32 [%rd1+2048], 1; bra SPIN;\n"
	"\tret;\n}\n";
/* ... in shared memory as long as the launch says. */
static const char dynamic[] =
	".version 7.0\n.target sm_70\n.address_size 64\n.extern .shared .align 16 .b8 m[];\n"
	".visible .entry exchange(.param .u64 p)\n{\n\t.reg .b32 %r<8>;\n\t.reg .b64 %rd<8>;\n"
	"\tmov.u32 %r1, %tid.x;\n\tmul.wide.u32 %rd2, %r1, 4;\n\tmov.u64 %rd3, m;\n\tadd.s64 %rd4, %rd3, %rd2;\n"
	"\tst.shared.u32 [%rd4], %r1;\n"
	"\t// bar.sync 0;\n"
	"\txor.b32 %r2, %r1, 32;\n\tmul.wide.u32 %rd5, %r2, 4;\n\tadd.s64 %rd6, %rd3, %rd5;\n\tld.shared.u32 %r3, [%rd6];\n"
	"\tld.param.u64 %rd1, [p];\n\tadd.s64 %rd7, %rd1, %rd2;\n\tst.global.u32 [%rd7], %r3;\n"
	"\tret;\n}\n";
static char text[sizeof racy];
_Static_assert(sizeof dynamic <= sizeof racy, "it has room");
static unsigned bytes;       /* of that */
static void *context, *module, *function;
static uint64_t memory;

static void launch_blocks(void *f, unsigned blocks, void *stream)
{
	void *params[] = { &memory };

	DO(cuLaunchKernel(f, blocks, 1, 1, 64, 1, 1, bytes, stream, params, NULL));
}

static void launch(void *f, void *stream)
{
	launch_blocks(f, 2, stream);
}

static void enter(void)
{
	int device;

	DO(cuInit(0));
	DO(cuDeviceGet(&device, 0));
	DO(cuCtxCreate_v2(&context, 0, device));
	DO(cuMemAlloc_v2(&memory, 4096));
}

static void load(void)
{
	DO(cuModuleLoadData(&module, text));
	DO(cuModuleGetFunction(&function, module, "exchange"));
}

static void once(void)
{
	enter();
	load();
	launch(function, NULL);
	DO(cuCtxSynchronize());
}

static void fails(void)      /* a kernel that writes where nothing is; the program goes on */
{
	enter();
	load();
	memory = 64;
	launch(function, NULL);
	cuCtxSynchronize();
	cuLaunchKernel(function, 2, 1, 1, 64, 1, 1, 0, NULL, (void *[]){ &memory }, NULL);
}

static void many(void)       /* more than the tables hold */
{
	once();
	for (int i = 0; i < 3000; i++)
		launch(function, NULL);
	DO(cuCtxSynchronize());
}

static void grows(void)      /* a launch that is like the others but for its grid */
{
	many();
	launch_blocks(function, 4, NULL);
	DO(cuCtxSynchronize());
}

static void four(void)       /* all with a race in global memory */
{
	enter();
	load();
	for (int i = 0; i < 10; i++)
		launch_blocks(function, 4, NULL);
	DO(cuCtxSynchronize());
}

static void contexts(void)   /* one after the other */
{
	for (int i = 0; i < 3; i++) {
		once();
		DO(cuCtxDestroy_v2(context));
	}
}

static void primary(void)
{
	DO(cuInit(0));
	for (int i = 0; i < 3; i++) {
		DO(cuDevicePrimaryCtxRetain(&context, 0));
		DO(cuCtxSetCurrent(context));
		DO(cuMemAlloc_v2(&memory, 4096));
		load();
		launch(function, NULL);
		DO(cuCtxSynchronize());
		DO(i == 1 ? cuDevicePrimaryCtxReset_v2(0) : cuDevicePrimaryCtxRelease_v2(0));
	}
}

static void library(void)    /* loaded before there is a context, and used in two */
{
	void *lib, *kernel;

	DO(cuInit(0));
	DO(cuLibraryLoadData(&lib, text, NULL, NULL, 0, NULL, NULL, 0));
	DO(cuLibraryGetKernel(&kernel, lib, "exchange"));
	for (int i = 0; i < 2; i++) {
		enter();
		launch(kernel, NULL);
		DO(cuCtxSynchronize());
	}
}

static void reload(void)     /* modules come and go */
{
	once();
	for (int i = 0; i < 20; i++) {
		DO(cuModuleUnload(module));
		load();
		launch(function, NULL);
	}
	DO(cuCtxSynchronize());
}

static void terminated(void)
{
	once();
	raise(SIGTERM);
}

static void killed(void)
{
	once();
	nanosleep(&(struct timespec){ .tv_nsec = 600000000 }, NULL);
	raise(SIGKILL);
}

static void *kill_later(void *user)
{
	sleep(3);
	raise(SIGKILL);
	return user;
}

static void running(void)    /* killed while the kernel is, which does not end */
{
	pthread_t thread;

	memcpy(strstr(text, "// SPIN"), "   SPIN", 7);
	enter();
	load();
	if (pthread_create(&thread, NULL, kill_later, NULL))
		return;
	launch(function, NULL);
	DO(cuCtxSynchronize());
}

static void left(void)       /* without waiting for the kernel */
{
	enter();
	load();
	launch(function, NULL);
}

struct side { size_t x, y; int type; void *host; uint64_t device; void *array; size_t pitch; };       /* of CUDA_MEMCPY2D */
struct box { struct side from, to; size_t width, height; };

/* Beside a kernel that writes the first 512 bytes, copies and fills of others; on: in that many bytes of them. */
static void move(size_t on)
{
	uint64_t other = memory + 512 - on;
	struct box b = { .width = 8, .height = 2 };
	void *a, *pinned;

	DO(cuStreamCreate(&a, 0));
	DO(cuMemHostAlloc(&pinned, 4096, 0));
	b.from = (struct side){ .x = 4, .y = 1, .type = 2, .device = other - 256, .pitch = 256 };
	b.to = (struct side){ .type = 1, .host = pinned, .pitch = 8 };
	DO(cuMemcpy2DAsync_v2(&b, a));
	DO(cuMemcpyDtoDAsync_v2(memory + 2048, other + 64, 64, a));
	DO(cuMemsetD32Async(other + 128, 1, 5, a));
	DO(cuMemsetD2D8Async(other + 161, 256, 1, 2, 2, a));
	DO(cuMemcpyDtoHAsync_v2(pinned, other + 192, 0, a));
}

static void begin_moves(void)
{
	void *b;

	enter();
	load();
	DO(cuStreamCreate(&b, 1));
	launch(function, b);
}

static void beside(void)     /* one that reads is allowed to meet others that read */
{
	begin_moves();
	move(0);
	DO(cuCtxSynchronize());
	move(512);
	DO(cuCtxSynchronize());
}

static void into(void)
{
	begin_moves();
	move(512);
	DO(cuCtxSynchronize());
}

/* One block, for the words that it writes are the same in all. */
static void with_shared(unsigned most, unsigned some)
{
	unsigned first;

	enter();
	load();
	if (most)
		DO(cuFuncSetAttribute(function, 8, (int)most));
	bytes = some;
	launch_blocks(function, 1, NULL);
	DO(cuMemcpyDtoH_v2(&first, memory, sizeof first));
	printf("thread %u\n", first);
}

static void usual(void)      /* all that a launch may have without a word */
{
	with_shared(0, 48 << 10);
}

static void unusual(void)    /* and more than that: the driver refuses it */
{
	enter();
	load();
	for (unsigned kb = 52; kb < 300; kb += 175)
		printf("refused: %d\n", cuLaunchKernel(function, 1, 1, 1, 64, 1, 1, kb << 10, NULL, (void *[]){ &memory }, NULL));
}

static void more(void)       /* less than what it asked for */
{
	with_shared(227 << 10, 100 << 10);
}

static void full(void)       /* all that there is */
{
	with_shared(227 << 10, 227 << 10);
}

static const struct { const char *name; void (*go)(void); } ways[] = {
	{ "usual", usual }, { "unusual", unusual }, { "more", more }, { "full", full },
	{ "once", once }, { "fails", fails }, { "many", many }, { "contexts", contexts }, { "primary", primary }, { "library", library },
	{ "reload", reload }, { "terminated", terminated }, { "killed", killed }, { "running", running },
	{ "left", left }, { "grows", grows }, { "four", four }, { "beside", beside }, { "into", into },
};

int main(int argc, char **argv)
{
	static const char *const dynamic_ways = "usual unusual more full";

	if (argc > 1 && strstr(dynamic_ways, argv[1]))
		memcpy(text, dynamic, sizeof dynamic);
	else
		memcpy(text, racy, sizeof racy);
	if (argc > 2 && strcmp(argv[2], "fine") == 0)
		memcpy(strstr(text, "// bar.sync"), "bar.sync 0;//", 13);
	if (argc > 3 && strcmp(argv[3], "global") == 0)
		memcpy(strstr(text, "// mov"), "   mov", 6);
	if (argc > 3 && strcmp(argv[3], "alike") == 0)
		memcpy(strstr(text, "// and"), "   and", 6);
	for (size_t i = 0; argc > 1 && i < sizeof ways / sizeof *ways; i++)
		if (strcmp(argv[1], ways[i].name) == 0)
			ways[i].go();
	puts("done");
	return 0;
}

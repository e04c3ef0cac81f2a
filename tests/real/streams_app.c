/* streams_app WAY: a program for `warpsafe race --gpu=real` with launches in two streams that nothing orders. A kernel writes its stream's number to the 128 words that its
 * parameter points to, in 40 launches in each stream. WAY: "apart" (each stream has words of its own, of one allocation), "gathers" (each writes
 * where its own allocation says), "copies" (as apart, with copies behind the launches), "late" (as apart, and then both streams write the first
 * words, twice), "pool" (as gathers, in memory that comes in the order of the streams, and then as late), "meets" (both write the same words from the
 * beginning). */
#include <string.h>

#include "driver_app.h"

int cuStreamCreate(void **, unsigned), cuMemcpyDtoDAsync_v2(uint64_t, uint64_t, size_t, void *), cuMemAllocAsync(uint64_t *, size_t, void *);

enum { WORDS = 128, BYTES = 4 * WORDS, LAUNCHES = 40 };

static const char text[] =
	".version 7.0\n.target sm_70\n.address_size 64\n"
	".visible .entry put(.param .u64 p, .param .u32 x)\n{\n\t.reg .b32 %r<4>;\n\t.reg .b64 %rd<4>;\n"
	"\tld.param.u64 %rd1, [p];\n\tmov.u32 %r1, %tid.x;\n\tmul.wide.u32 %rd2, %r1, 4;\n\tadd.s64 %rd3, %rd1, %rd2;\n\tld.param.u32 %r2, [x];\n\tst.global.u32 [%rd3], %r2;\n\tret;\n}\n"
	".visible .entry gather(.param .u64 p, .param .u32 x)\n{\n\t.reg .b32 %r<5>;\n\t.reg .b64 %rd<6>;\n"
	"\tld.param.u64 %rd1, [p];\n\tmov.u32 %r1, %tid.x;\n\tmul.wide.u32 %rd2, %r1, 4;\n\tadd.s64 %rd3, %rd1, %rd2;\n\tld.global.u32 %r2, [%rd3+512];\n"
	"\txor.b32 %r3, %r1, %r2;\n\tmul.wide.u32 %rd4, %r3, 4;\n\tadd.s64 %rd5, %rd1, %rd4;\n\tld.param.u32 %r4, [x];\n\tst.global.u32 [%rd5], %r4;\n\tret;\n}\n";

static void *function, *streams[2];
static uint64_t memory[2];

static void launch(int stream, uint64_t to)
{
	void *params[] = { &to, &stream };

	DO(cuLaunchKernel(function, 1, 1, 1, WORDS, 1, 1, 0, streams[stream], params, NULL));
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "";
	int device, pool = !strcmp(way, "pool"), own = pool || !strcmp(way, "gathers");
	void *context, *module;

	DO(cuInit(0));
	DO(cuDeviceGet(&device, 0));
	DO(cuCtxCreate_v2(&context, 0, device));
	DO(cuModuleLoadData(&module, text));
	DO(cuModuleGetFunction(&function, module, own ? "gather" : "put"));
	for (int k = 0; k < 2; k++) {
		DO(cuStreamCreate(&streams[k], 1));
		DO(pool ? cuMemAllocAsync(&memory[k], 8 * BYTES, streams[k]) : cuMemAlloc_v2(&memory[k], 8 * BYTES));
		DO(cuCtxSynchronize());
		DO(cuMemsetD8_v2(memory[k], 0, 8 * BYTES));
	}
	DO(cuCtxSynchronize());
	for (int n = 0; n < LAUNCHES; n++)
		for (int k = 0; k < 2; k++) {
			launch(k, own ? memory[k] : memory[0] + (strcmp(way, "meets") ? BYTES * k : 0));
			if (!strcmp(way, "copies"))
				DO(cuMemcpyDtoDAsync_v2(memory[1] + 2 * BYTES * k, memory[0] + BYTES * k, BYTES, streams[k]));
		}
	for (int n = 0; n < 2 && (pool || !strcmp(way, "late")); n++)
		for (int k = 0; k < 2; k++)
			launch(k, memory[0]);
	DO(cuCtxSynchronize());
	puts("done");
	return 0;
}

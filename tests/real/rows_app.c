/* rows_app W [few|each BLOCKS]: a program for `warpsafe race --gpu=real` with one launch. Its threads write words of shared memory that are W words apart and
 * read each other's behind a barrier. Proofs by addresses know that they are apart for W above 0 alone; for W below 0 a probe
 * finds it; for 0 there is a race. few: of a warp, with so little shared memory that a GPU's alignment may take as much.
 * each: 12 launches of so many blocks, with another size of dynamic shared memory each, so that what a probe finds is for one alone. */
#include "driver_app.h"

enum { BLOCKS = 4, THREADS = 64, FEW = 32, LAUNCHES = 12 };

/* So many bytes of shared memory, of which the first word is thread 0's; they read what `other` says. */
#define ROWS(name, bytes, first, other) \
	".visible .entry " name "(.param .u64 out, .param .u32 w)\n{\n" \
	"\t.reg .b32 %r<16>;\n\t.reg .b64 %rd<8>;\n\t.shared .align 4 .b8 s[" bytes "];\n" \
	"\tld.param.u64 %rd1, [out];\n\tcvta.to.global.u64 %rd2, %rd1;\n\tld.param.u32 %r1, [w];\n\tmov.u32 %r2, %tid.x;\n" \
	"\tmad.lo.s32 %r3, %r1, %r2, " first ";\n\tshl.b32 %r4, %r3, 2;\n\tmov.u32 %r5, s;\n\tadd.s32 %r6, %r5, %r4;\n\tst.shared.u32 [%r6], %r2;\n" \
	"\tbar.sync 0;\n\txor.b32 %r7, %r2, " other ";\n\tmad.lo.s32 %r8, %r1, %r7, " first ";\n\tshl.b32 %r9, %r8, 2;\n\tadd.s32 %r10, %r5, %r9;\n" \
	"\tld.shared.u32 %r11, [%r10];\n\tmov.u32 %r12, %ctaid.x;\n\tmad.lo.s32 %r13, %r12, 64, %r2;\n\tmul.wide.s32 %rd3, %r13, 4;\n" \
	"\tadd.s64 %rd4, %rd2, %rd3;\n\tst.global.u32 [%rd4], %r11;\n\tret;\n}\n"
static const char text[] = ".version 7.0\n.target sm_70\n.address_size 64\n" ROWS("rows", "1024", "64", "32") ROWS("few", "128", "31", "16");

int main(int argc, char **argv)
{
	int device, w = argc > 1 ? atoi(argv[1]) : 1, few = argc == 3, launches = argc > 3 ? LAUNCHES : 1;
	unsigned blocks = argc > 3 ? (unsigned)atoi(argv[3]) : BLOCKS;
	void *context, *module, *function;
	uint64_t out;
	void *params[] = { &out, &w };

	DO(cuInit(0));
	DO(cuDeviceGet(&device, 0));
	DO(cuCtxCreate_v2(&context, 0, device));
	DO(cuModuleLoadData(&module, text));
	DO(cuModuleGetFunction(&function, module, few ? "few" : "rows"));
	DO(cuMemAlloc_v2(&out, blocks * THREADS * sizeof(uint32_t)));
	for (int k = 0; k < launches; k++)
		DO(cuLaunchKernel(function, blocks, 1, 1, few ? FEW : THREADS, 1, 1, 4 * (unsigned)k, NULL, params, NULL));
	DO(cuCtxSynchronize());
	return 0;
}

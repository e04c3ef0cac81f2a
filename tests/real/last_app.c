/* last_app FIRST: a program for `warpsafe race --gpu=real` in which the block that arrives last reads what all have written, in two
 * launches; before the second one the counter is FIRST: more than 0 is too much, and the wrong block reads. */
#include "driver_app.h"

int cuModuleGetGlobal_v2(uint64_t *, size_t *, void *, const char *);
int cuMemcpyHtoD_v2(uint64_t, const void *, size_t);

enum { BLOCKS = 40, THREADS = 64 };

static const char text[] =
	".version 7.0\n.target sm_70\n.address_size 64\n.global .align 4 .u32 arrived;\n"
	".visible .entry last(.param .u64 part, .param .u64 out)\n{\n"
	"\t.reg .pred %p<9>;\n\t.reg .b16 %rs<4>;\n\t.reg .b32 %r<16>;\n\t.reg .b64 %rd<16>;\n\t.shared .align 1 .u8 flag;\n"
	"\tld.param.u64 %rd1, [part];\n\tcvta.to.global.u64 %rd2, %rd1;\n\tmov.u32 %r1, %tid.x;\n"
	"\tsetp.ne.s32 %p1, %r1, 0;\n\t@%p1 bra WAIT;\n"
	"\tmov.u32 %r2, %ctaid.x;\n\tmul.wide.u32 %rd3, %r2, 4;\n\tadd.s64 %rd4, %rd2, %rd3;\n\tst.global.u32 [%rd4], %r2;\n"
	"\tmembar.gl;\n\tmov.u64 %rd5, arrived;\n\tatom.global.add.u32 %r3, [%rd5], 1;\n"
	"\tmov.u32 %r4, %nctaid.x;\n\tadd.s32 %r5, %r4, -1;\n\tsetp.eq.s32 %p2, %r3, %r5;\n"
	"\tselp.u16 %rs1, 1, 0, %p2;\n\tst.shared.u8 [flag], %rs1;\n\tmembar.gl;\n"
	"WAIT:\n\tbar.sync 0;\n\tld.shared.u8 %rs2, [flag];\n\tsetp.eq.s16 %p3, %rs2, 0;\n"
	"\tsetp.ge.u32 %p4, %r1, 40;\n\tor.pred %p5, %p3, %p4;\n\t@%p5 bra END;\n"
	"\tld.param.u64 %rd6, [out];\n\tcvta.to.global.u64 %rd7, %rd6;\n\tmul.wide.u32 %rd8, %r1, 4;\n"
	"\tadd.s64 %rd9, %rd2, %rd8;\n\tadd.s64 %rd10, %rd7, %rd8;\n\tld.global.u32 %r6, [%rd9];\n\tst.global.u32 [%rd10], %r6;\n"
	"\t@%p1 bra END;\n\tmov.u64 %rd11, arrived;\n\tmov.u32 %r7, 0;\n\tst.global.u32 [%rd11], %r7;\n"
	"END:\n\tret;\n}\n";

int main(int argc, char **argv)
{
	int device, first = argc > 1 ? atoi(argv[1]) : 0, sum = 0, got[BLOCKS];
	void *context, *module, *function;
	uint64_t part, out, arrived;
	void *params[] = { &part, &out };
	size_t bytes;

	DO(cuInit(0));
	DO(cuDeviceGet(&device, 0));
	DO(cuCtxCreate_v2(&context, 0, device));
	DO(cuModuleLoadData(&module, text));
	DO(cuModuleGetFunction(&function, module, "last"));
	DO(cuModuleGetGlobal_v2(&arrived, &bytes, module, "arrived"));
	DO(cuMemAlloc_v2(&part, BLOCKS * sizeof *got));
	DO(cuMemAlloc_v2(&out, BLOCKS * sizeof *got));
	for (int k = 0; k < 2; k++) {
		if (k && first)
			DO(cuMemcpyHtoD_v2(arrived, &first, sizeof first));
		DO(cuLaunchKernel(function, BLOCKS, 1, 1, THREADS, 1, 1, 0, NULL, params, NULL));
		DO(cuCtxSynchronize());
	}
	DO(cuMemcpyDtoH_v2(got, out, sizeof got));
	for (int k = 0; k < BLOCKS; k++)
		sum += got[k];
	printf("sum %d\n", sum);
	return 0;
}

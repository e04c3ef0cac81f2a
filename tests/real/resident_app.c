/* resident_app KERNEL MORE [cooperative]: a program for `warpsafe race --gpu=real` with one launch, of MORE blocks than the GPU has threads
 * for (-N: of fewer); a cooperative one is of as many as run at a time. The first threads of blocks take a lock by turns and count. `counts` does nothing else;
 * `asks` reads how much shared memory it has; `shares` has some; in `meets` they wait for each other first. */
#include <string.h>

#include "driver_app.h"

int cuDeviceGetAttribute(int *, int, int);
int cuFuncGetAttribute(int *, int, void *), cuOccupancyMaxActiveBlocksPerMultiprocessor(int *, void *, int, size_t);
int cuLaunchCooperativeKernel(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **);

enum { THREADS = 256, PROCESSORS = 16, THREADS_OF_PROCESSOR = 39, MOST_DYNAMIC_SHARED = 8 };

#define KERNEL(name, declares, more)                                                                              \
	".visible .entry " name "(.param .u64 p)\n{\n\t.reg .pred %p<3>;\n\t.reg .b32 %r<8>;\n\t.reg .b64 %rd<4>;\n" declares           \
	"\tld.param.u64 %rd1, [p];\n\tmov.u32 %r1, %tid.x;\n" more "\tsetp.ne.u32 %p1, %r1, 0;\n\t@%p1 bra END;\n"      \
	"AGAIN:\n\tatom.global.cas.b32 %r2, [%rd1], 0, 1;\n\tsetp.ne.u32 %p2, %r2, 0;\n\t@%p2 bra AGAIN;\n\tmembar.gl;\n" \
	"\tld.global.u32 %r3, [%rd1+256];\n\tadd.u32 %r3, %r3, 1;\n\tst.global.u32 [%rd1+256], %r3;\n"                  \
	"\tmembar.gl;\n\tatom.global.exch.b32 %r4, [%rd1], 0;\nEND:\n\tret;\n}\n"
static const char text[] =
	".version 7.0\n.target sm_70\n.address_size 64\n"
	KERNEL("counts", "", "")
	KERNEL("asks", "", "\tmov.u32 %r5, %dynamic_smem_size;\n\tadd.u32 %r1, %r1, %r5;\n")
	KERNEL("shares", "\t.shared .align 4 .b8 s[1024];\n",
	       "\tmov.u32 %r5, s;\n\tshl.b32 %r6, %r1, 2;\n\tadd.u32 %r5, %r5, %r6;\n\tst.shared.u32 [%r5], %r1;\n")
	KERNEL("meets", "",
	       "\tsetp.ne.u32 %p1, %r1, 0;\n\t@%p1 bra END;\n\tmov.u32 %r5, %nctaid.x;\n\tred.global.add.u32 [%rd1+384], 1;\n"
	       "WAIT:\n\tld.volatile.global.u32 %r6, [%rd1+384];\n\tsetp.lt.u32 %p1, %r6, %r5;\n\t@%p1 bra WAIT;\n");

int main(int argc, char **argv)
{
	int device, processors, threads, fit, most;
	unsigned blocks, counted;
	void *context, *module, *function;
	uint64_t memory;
	void *params[] = { &memory };

	if (argc < 3)
		return 2;
	DO(cuInit(0));
	DO(cuDeviceGet(&device, 0));
	DO(cuDeviceGetAttribute(&processors, PROCESSORS, device));
	DO(cuDeviceGetAttribute(&threads, THREADS_OF_PROCESSOR, device));
	DO(cuCtxCreate_v2(&context, 0, device));
	DO(cuModuleLoadData(&module, text));
	DO(cuModuleGetFunction(&function, module, argv[1]));
	DO(cuMemAlloc_v2(&memory, 512));
	DO(cuMemsetD8_v2(memory, 0, 512));
	DO(cuOccupancyMaxActiveBlocksPerMultiprocessor(&fit, function, THREADS, 0));
	blocks = (unsigned)((argc > 3 ? fit : threads / THREADS) * processors + atoi(argv[2]));
	if (argc > 3)
		DO(cuLaunchCooperativeKernel(function, blocks, 1, 1, THREADS, 1, 1, 0, NULL, params));
	else
		DO(cuLaunchKernel(function, blocks, 1, 1, THREADS, 1, 1, 0, NULL, params, NULL));
	DO(cuCtxSynchronize());
	DO(cuMemcpyDtoH_v2(&counted, memory + 256, sizeof counted));
	DO(cuFuncGetAttribute(&most, MOST_DYNAMIC_SHARED, function));
	printf("%s\n", counted == blocks ? "all counted" : "some not counted");
	printf("the program's own: %d\n", most);
	return 0;
}

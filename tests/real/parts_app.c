/* parts_app HOW [library|ex|cooperative]: a program for `warpsafe race --gpu=real` with a launch of a kernel that looks numbers up in a table in
 * dynamic shared memory, by numbers that it reads, and writes to words of its threads behind that table meanwhile. HOW: "inside", "outside" (a
 * thread's number is that of another one's word), "overlaps" (it writes where it reads, so it must not be launched twice). */
#include <string.h>

#include "driver_app.h"

int cuLaunchCooperativeKernel(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **);
int cuLibraryLoadData(void **, const void *, int *, void **, unsigned, int *, void **, unsigned), cuLibraryGetKernel(void **, void *, const char *);
int cuMemcpyHtoD_v2(uint64_t, const void *, size_t);
int cuLaunchKernelEx(const void *, void *, void **, void **);

enum { THREADS = 64, BLOCKS = 2, N = THREADS * BLOCKS, BYTES = 2 * THREADS * 4 };

/* s[t] = 3 * t; then to[i] = s[from[i]] and s[64 + t] = from[i] */
static const char text[] =
	".version 7.0\n.target sm_70\n.address_size 64\n.extern .shared .align 4 .b8 s[];\n"
	".visible .entry looks(.param .u64 from, .param .u64 to)\n{\n\t.reg .b32 %r<14>;\n\t.reg .b64 %rd<8>;\n"
	"\tld.param.u64 %rd1, [from];\n\tld.param.u64 %rd2, [to];\n\tmov.u32 %r1, %tid.x;\n\tmov.u32 %r2, %ctaid.x;\n\tmov.u32 %r3, %ntid.x;\n"
	"\tmad.lo.s32 %r4, %r2, %r3, %r1;\n\tmul.wide.u32 %rd3, %r4, 4;\n\tadd.s64 %rd4, %rd1, %rd3;\n\tadd.s64 %rd5, %rd2, %rd3;\n"
	"\tshl.b32 %r5, %r1, 2;\n\tmov.u32 %r6, s;\n\tadd.u32 %r7, %r6, %r5;\n\tmul.lo.u32 %r8, %r1, 3;\n\tst.shared.u32 [%r7], %r8;\n\tbar.sync 0;\n"
	"\tld.global.u32 %r9, [%rd4];\n\tshl.b32 %r10, %r9, 2;\n\tadd.u32 %r11, %r6, %r10;\n\tld.shared.u32 %r12, [%r11];\n\tst.shared.u32 [%r7+256], %r9;\n"
	"\tst.global.u32 [%rd5], %r12;\n\tret;\n}\n";

struct config { unsigned grid[3], block[3], shared; void *stream; const void *attributes; unsigned nattributes; };        /* CUlaunchConfig */

static void *get(const char *way)
{
	void *module, *function;

	if (!strcmp(way, "library")) {
		DO(cuLibraryLoadData(&module, text, NULL, NULL, 0, NULL, NULL, 0));
		DO(cuLibraryGetKernel(&function, module, "looks"));
	} else {
		DO(cuModuleLoadData(&module, text));
		DO(cuModuleGetFunction(&function, module, "looks"));
	}
	return function;
}

static void launch(void *function, const char *way, void **params)
{
	const struct config c = { .grid = { BLOCKS, 1, 1 }, .block = { THREADS, 1, 1 }, .shared = BYTES };

	if (!strcmp(way, "cooperative"))
		DO(cuLaunchCooperativeKernel(function, BLOCKS, 1, 1, THREADS, 1, 1, BYTES, NULL, params));
	else if (!strcmp(way, "ex"))
		DO(cuLaunchKernelEx(&c, function, params, NULL));
	else
		DO(cuLaunchKernel(function, BLOCKS, 1, 1, THREADS, 1, 1, BYTES, NULL, params, NULL));
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "", *way = argc > 2 ? argv[2] : "";
	unsigned from[N], to[N], same = 0;
	void *context, *function;
	uint64_t memory[2];
	void *params[] = { &memory[0], &memory[1] };

	DO(cuInit(0));
	DO(cuCtxCreate_v2(&context, 0, 0));
	function = get(way);
	for (unsigned k = 0; k < 2; k++)
		DO(cuMemAlloc_v2(&memory[k], sizeof from));
	if (!strcmp(how, "overlaps"))
		memory[1] = memory[0];
	for (unsigned k = 0; k < N; k++)
		from[k] = THREADS - 1 - k % THREADS;
	if (!strcmp(how, "outside"))
		from[5] = THREADS + 40;
	DO(cuMemcpyHtoD_v2(memory[0], from, sizeof from));
	launch(function, way, params);
	DO(cuCtxSynchronize());
	DO(cuMemcpyDtoH_v2(to, memory[1], sizeof to));
	for (unsigned k = 0; k < N; k++)
		same += to[k] == 3 * (THREADS - 1 - k % THREADS);
	printf("looked up: %u\n", same);
	return 0;
}

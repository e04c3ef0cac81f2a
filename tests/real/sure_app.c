/* sure_app HOW [library|cooperative]: a program for `warpsafe race --gpu=real` with a launch of a kernel that reads where its index says, and
 * writes to shared and global memory where that says. HOW: "apart", "meets" (two threads write one word, of both), "overlaps" (it writes
 * where it reads: no proof holds, and blocks write what others read). "library": the kernel is one of a library.
 * "told": what it reads lies in the allocation that it writes to at places that data gives, so that is not proved; rows in shared memory are.
 * "takes": threads take places in what it writes, by a counter, which looks as if they might wait for other blocks.
 * "probed", "clashes": three launches of a kernel of which a probe finds that its shared memory needs no checks, or that it does; "late" is
 * "probed" with two threads that write one word of global memory in the third launch. */
#include <string.h>

#include "driver_app.h"

int cuLaunchCooperativeKernel(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **);
int cuLibraryLoadData(void **, const void *, int *, void **, unsigned, int *, void **, unsigned), cuLibraryGetKernel(void **, void *, const char *);
int cuMemcpyHtoD_v2(uint64_t, const void *, size_t);

enum { THREADS = 64, BLOCKS = 2, N = THREADS * BLOCKS };

static const char text[] =
	".version 7.0\n.target sm_70\n.address_size 64\n"
	".visible .entry moves(.param .u64 from, .param .u64 to)\n{\n\t.reg .b32 %r<12>;\n\t.reg .b64 %rd<8>;\n\t.shared .align 4 .b8 s[256];\n"
	"\tld.param.u64 %rd1, [from];\n\tld.param.u64 %rd2, [to];\n\tmov.u32 %r1, %tid.x;\n\tmov.u32 %r2, %ctaid.x;\n\tmov.u32 %r3, %ntid.x;\n"
	"\tmad.lo.s32 %r4, %r2, %r3, %r1;\n\tmul.wide.u32 %rd3, %r4, 4;\n\tadd.s64 %rd4, %rd1, %rd3;\n\tld.global.u32 %r5, [%rd4];\n"
	"\tand.b32 %r6, %r5, 63;\n\tshl.b32 %r6, %r6, 2;\n\tmov.u32 %r7, s;\n\tadd.u32 %r8, %r7, %r6;\n\tst.shared.u32 [%r8], %r4;\n"
	"\tbar.sync 0;\n\tshl.b32 %r9, %r1, 2;\n\tadd.u32 %r10, %r7, %r9;\n\tld.shared.u32 %r11, [%r10];\n"
	"\tmul.wide.u32 %rd5, %r5, 4;\n\tadd.s64 %rd6, %rd2, %rd5;\n\tst.global.u32 [%rd6], %r11;\n\tret;\n}\n";

/* It turns what it has read around in shared memory, at places k * tid modulo 64: each thread has its own if k is odd. */
static const char turns[] =
	".version 7.0\n.target sm_70\n.address_size 64\n"
	".visible .entry turns(.param .u64 from, .param .u64 to, .param .u32 k)\n{\n\t.reg .b32 %r<14>;\n\t.reg .b64 %rd<8>;\n\t.shared .align 4 .b8 s[256];\n"
	"\tld.param.u64 %rd1, [from];\n\tld.param.u64 %rd2, [to];\n\tmov.u32 %r1, %tid.x;\n\tmov.u32 %r2, %ctaid.x;\n\tmov.u32 %r3, %ntid.x;\n"
	"\tmad.lo.s32 %r4, %r2, %r3, %r1;\n\tmul.wide.u32 %rd3, %r4, 4;\n\tadd.s64 %rd4, %rd1, %rd3;\n\tld.global.u32 %r5, [%rd4];\n"
	"\tld.param.u32 %r12, [k];\n\tmul.lo.u32 %r6, %r1, %r12;\n\tand.b32 %r6, %r6, 63;\n\tshl.b32 %r6, %r6, 2;\n\tmov.u32 %r7, s;\n\tadd.u32 %r8, %r7, %r6;\n"
	"\tst.shared.u32 [%r8], %r4;\n\tbar.sync 0;\n\tld.shared.u32 %r11, [%r8];\n"
	"\tmul.wide.u32 %rd5, %r5, 4;\n\tadd.s64 %rd6, %rd2, %rd5;\n\tst.global.u32 [%rd6], %r11;\n\tret;\n}\n";

/* Each thread has a row of 25 words. */
#define STORE(at) "\tst.shared.u32 [%r8+" #at "], %r4;\n"
#define STORE6(a, b, c, d, e, f) STORE(a) STORE(b) STORE(c) STORE(d) STORE(e) STORE(f)
static const char rows[] =
	".version 7.0\n.target sm_70\n.address_size 64\n"
	".visible .entry rows(.param .u64 from, .param .u64 to)\n{\n\t.reg .b32 %r<14>;\n\t.reg .b64 %rd<8>;\n\t.shared .align 4 .b8 s[6400];\n"
	"\tld.param.u64 %rd1, [from];\n\tld.param.u64 %rd2, [to];\n\tmov.u32 %r1, %tid.x;\n\tmov.u32 %r2, %ctaid.x;\n\tmov.u32 %r3, %ntid.x;\n"
	"\tmad.lo.s32 %r4, %r2, %r3, %r1;\n\tmul.wide.u32 %rd3, %r4, 4;\n\tadd.s64 %rd4, %rd1, %rd3;\n\tmov.u32 %r7, s;\n\tmad.lo.u32 %r8, %r1, 100, %r7;\n"
	STORE6(0, 4, 8, 12, 16, 20) STORE6(24, 28, 32, 36, 40, 44) STORE6(48, 52, 56, 60, 64, 68) STORE6(72, 76, 80, 84, 88, 92)
	"\tld.global.u32 %r5, [%rd4];\n\tld.shared.u32 %r11, [%r8+48];\n"
	"\tmul.wide.u32 %rd5, %r5, 4;\n\tadd.s64 %rd6, %rd2, %rd5;\n\tst.global.u32 [%rd6], %r11;\n\tret;\n}\n";

/* Each thread copies a word to the next place. */
static const char takes[] =
	".version 7.0\n.target sm_70\n.address_size 64\n"
	".visible .entry takes(.param .u64 from, .param .u64 to, .param .u64 count)\n{\n\t.reg .pred %p<2>;\n\t.reg .b32 %r<12>;\n\t.reg .b64 %rd<8>;\n"
	"\tld.param.u64 %rd1, [from];\n\tld.param.u64 %rd2, [to];\n\tld.param.u64 %rd7, [count];\n\tmov.u32 %r1, %tid.x;\n\tmov.u32 %r2, %ctaid.x;\n"
	"\tmov.u32 %r3, %ntid.x;\n\tmad.lo.s32 %r4, %r2, %r3, %r1;\n"
	"LOOP:\n\tmul.wide.u32 %rd3, %r4, 4;\n\tadd.s64 %rd4, %rd1, %rd3;\n\tld.global.u32 %r5, [%rd4];\n\tatom.global.add.u32 %r6, [%rd7], 1;\n"
	"\tmul.wide.u32 %rd5, %r6, 4;\n\tadd.s64 %rd6, %rd2, %rd5;\n\tst.global.u32 [%rd6], %r5;\n"
	"\tadd.u32 %r4, %r4, 128;\n\tsetp.lt.u32 %p1, %r4, 128;\n\t@%p1 bra LOOP;\n\tret;\n}\n";

static void *get(const char *way, const char *of, const char *name)
{
	void *module, *function;

	if (!strcmp(way, "library")) {
		DO(cuLibraryLoadData(&module, of, NULL, NULL, 0, NULL, NULL, 0));
		DO(cuLibraryGetKernel(&function, module, name));
	} else {
		DO(cuModuleLoadData(&module, of));
		DO(cuModuleGetFunction(&function, module, name));
	}
	return function;
}

/* A block writes to what is the other's in `from`, each thread to a word of its own; meets: two threads to one. */
static void fill(unsigned *from, int meets)
{
	for (unsigned k = 0; k < N; k++)
		from[k] = N - 1 - k;
	if (meets)
		from[0] = from[THREADS / 2];
}

static void launch(void *function, const char *way, void **params)
{
	if (!strcmp(way, "cooperative"))
		DO(cuLaunchCooperativeKernel(function, BLOCKS, 1, 1, THREADS, 1, 1, 0, NULL, params));
	else
		DO(cuLaunchKernel(function, BLOCKS, 1, 1, THREADS, 1, 1, 0, NULL, params, NULL));
}

static int has(const unsigned *words, unsigned k)
{
	unsigned n = 0;

	while (n < N && words[n] != k)
		n++;
	return n < N;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "", *way = argc > 2 ? argv[2] : "";
	unsigned from[N], to[N], same = 0;
	void *context, *function;
	uint64_t memory[3];
	int clashes = !strcmp(how, "clashes"), late = !strcmp(how, "late"), probed = clashes || late || !strcmp(how, "probed");
	unsigned factor = clashes ? 6 : 5, last = probed ? 2 : 0;
	int taking = !strcmp(how, "takes"), told = !strcmp(how, "told");
	void *params[] = { &memory[0], &memory[1], taking ? (void *)&memory[2] : &factor };

	DO(cuInit(0));
	DO(cuCtxCreate_v2(&context, 0, 0));
	function = probed ? get(way, turns, "turns") : taking ? get(way, takes, "takes") : told ? get(way, rows, "rows") : get(way, text, "moves");
	for (unsigned k = 0; k < 3; k++)
		DO(cuMemAlloc_v2(&memory[k], 2 * sizeof from));
	DO(cuMemsetD8_v2(memory[2], 0, sizeof from));
	if (!strcmp(how, "overlaps"))
		memory[1] = memory[0];
	if (told)
		memory[1] = memory[0] + sizeof from;
	for (unsigned n = 0; n <= last; n++) {
		fill(from, !strcmp(how, "meets") || (late && n == last));
		DO(cuMemcpyHtoD_v2(memory[0], from, sizeof from));
		launch(function, way, params);
	}
	DO(cuCtxSynchronize());
	DO(cuMemcpyDtoH_v2(to, memory[1], sizeof to));
	for (unsigned k = 0; k < N; k++)
		same += taking ? has(to, k) : to[k] == (probed || told ? N - 1 - k : k ^ THREADS);
	printf("moved: %u\n", same);
	return 0;
}

/* The driver API: PTX loaded at run time, launched, copied. With declarations of its own, as no toolkit is needed. */
// ways: host
// expect: ok
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int cuInit(unsigned), cuDeviceGet(int *, int), cuDeviceGetCount(int *), cuDeviceGetName(char *, int, int);
int cuDeviceGetAttribute(int *, int, int), cuCtxCreate_v2(void **, unsigned, int), cuCtxDestroy_v2(void *);
int cuCtxSynchronize(void), cuCtxGetCurrent(void **), cuModuleLoadData(void **, const void *), cuModuleUnload(void *);
int cuModuleGetFunction(void **, void *, const char *), cuModuleGetGlobal_v2(uint64_t *, size_t *, void *, const char *);
int cuMemAlloc_v2(uint64_t *, size_t), cuMemFree_v2(uint64_t), cuMemcpyHtoD_v2(uint64_t, const void *, size_t);
int cuMemcpyDtoH_v2(void *, uint64_t, size_t), cuMemsetD32_v2(uint64_t, unsigned, size_t);
int cuLaunchKernel(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);
int cuGetErrorName(int, const char **), cuGetErrorString(int, const char **), cuStreamCreate(void **, unsigned);
int cuStreamSynchronize(void *), cuStreamDestroy_v2(void *), cuEventCreate(void **, unsigned), cuEventRecord(void *, void *);
int cuEventElapsedTime_v2(float *, void *, void *), cuGetProcAddress_v2(const char *, void **, int, uint64_t, int *);
int cuLibraryLoadData(void **, const void *, void *, void *, unsigned, void *, void *, unsigned);
int cuLibraryGetKernel(void **, void *, const char *), cuKernelGetFunction(void **, void *);
int cuFuncLoad(void *), cuFuncIsLoaded(int *, void *);
int cuFuncGetAttribute(int *, int, void *), cuTexObjectCreate(uint64_t *, void *, void *, void *);
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *, void *, int, size_t);
int cuLinkCreate_v2(unsigned, int *, void **, void **), cuLinkComplete(void *, void **, size_t *), cuLinkDestroy(void *);
int cuLinkAddData_v2(void *, int, void *, size_t, const char *, unsigned, int *, void **);
int cuLinkAddFile_v2(void *, int, const char *, unsigned, int *, void **);

#define OK(call) do { int e_ = (call); if (e_) { printf("line %d: %s: %d\n", __LINE__, #call, e_); exit(1); } } while (0)
#define IS(call, want) do { int e_ = (int)(call); if (e_ != (want)) { \
	printf("line %d: %s is %d, not %d\n", __LINE__, #call, e_, (want)); exit(1); } } while (0)

static const char ptx[] =
	".version 7.0\n.target sm_70\n.address_size 64\n"
	".visible .global .align 4 .u32 offset = 5;\n"
	".visible .entry add(.param .u64 p, .param .u32 n)\n{\n"
	"	.reg .pred %p1;\n	.reg .b32 %r<6>;\n	.reg .b64 %rd<4>;\n"
	"	ld.param.u64 %rd1, [p];\n	ld.param.u32 %r1, [n];\n	mov.u32 %r2, %tid.x;\n"
	"	ld.global.u32 %r3, [offset];\n	add.s32 %r4, %r1, %r2;\n	add.s32 %r4, %r4, %r3;\n"
	"	mul.wide.u32 %rd2, %r2, 4;\n	add.s64 %rd3, %rd1, %rd2;\n	st.global.u32 [%rd3], %r4;\n	ret;\n}\n";

static void modules(void)
{
	void *module, *f, *stream, *a, *b, *params[2], *extra[5];
	uint64_t p, offset;
	size_t size;
	int h[64], n = 1000, value;
	float ms;

	OK(cuModuleLoadData(&module, ptx));
	OK(cuModuleGetFunction(&f, module, "add"));
	IS(cuModuleGetFunction(&stream, module, "nothing"), 500);
	OK(cuModuleGetGlobal_v2(&offset, &size, module, "offset"));
	IS(size, 4);
	OK(cuMemAlloc_v2(&p, sizeof h));
	OK(cuMemsetD32_v2(p, 77, 64));
	OK(cuMemcpyDtoH_v2(h, p, sizeof h));
	IS(h[63], 77);
	OK(cuStreamCreate(&stream, 0));
	OK(cuEventCreate(&a, 0));
	OK(cuEventCreate(&b, 0));
	OK(cuEventRecord(a, stream));
	params[0] = &p;
	params[1] = &n;
	OK(cuLaunchKernel(f, 1, 1, 1, 64, 1, 1, 0, stream, params, NULL));
	OK(cuEventRecord(b, stream));
	OK(cuStreamSynchronize(stream));
	OK(cuEventElapsedTime_v2(&ms, a, b));
	OK(cuMemcpyDtoH_v2(h, p, sizeof h));
	IS(h[63], 1068);
	value = 100;
	OK(cuMemcpyHtoD_v2(offset, &value, 4));
	struct { uint64_t p; int n; } packed = { p, 1 };
	size_t bytes = 12;
	extra[0] = (void *)1;
	extra[1] = &packed;
	extra[2] = (void *)2;
	extra[3] = &bytes;
	extra[4] = NULL;
	OK(cuLaunchKernel(f, 1, 1, 1, 64, 1, 1, 0, NULL, NULL, extra));
	OK(cuMemcpyDtoH_v2(h, p, sizeof h));
	IS(h[1], 102);
	OK(cuFuncGetAttribute(&value, 0, f));
	IS(value, 1024);
	OK(cuFuncLoad(f));
	OK(cuFuncIsLoaded(&value, f));
	IS(value, 1);
	IS(cuFuncIsLoaded(NULL, f), 1);
	IS(cuFuncLoad(NULL), 400);
	OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&value, f, 128, 0));
	IS(value > 0, 1);
	OK(cuMemFree_v2(p));
	OK(cuStreamDestroy_v2(stream));
	OK(cuModuleUnload(module));
	IS(cuModuleUnload(module), 400);
}

static void libraries(void)
{
	void *library, *kernel, *f;

	OK(cuLibraryLoadData(&library, ptx, NULL, NULL, 0, NULL, NULL, 0));
	OK(cuLibraryGetKernel(&kernel, library, "add"));
	OK(cuKernelGetFunction(&f, kernel));
	IS(cuModuleLoadData(&library, "this is not PTX at all"), 218);
}

/* Two texts: the kernel calls a function of the other. */
static void linking(void)
{
	static const char head[] = ".version 7.0\n.target sm_70\n.address_size 64\n";
	static const char callee[] = ".visible .func (.param .b32 r) twice(.param .b32 x)\n{\n	.reg .b32 %r<3>;\n"
		"	ld.param.u32 %r1, [x];\n	add.s32 %r2, %r1, %r1;\n	st.param.b32 [r], %r2;\n	ret;\n}\n";
	static const char caller[] = ".extern .func (.param .b32 r) twice(.param .b32 x);\n"
		".visible .entry call(.param .u64 p)\n{\n	.reg .b32 %r<3>;\n	.reg .b64 %rd<2>;\n"
		"	ld.param.u64 %rd1, [p];\n	mov.u32 %r1, 21;\n	{\n	.param .b32 a;\n	.param .b32 b;\n"
		"	st.param.b32 [a], %r1;\n	call.uni (b), twice, (a);\n	ld.param.b32 %r2, [b];\n	}\n"
		"	st.global.u32 [%rd1], %r2;\n	ret;\n}\n";
	char text[1024];
	void *state, *cubin, *module, *f, *params[1];
	size_t size;
	uint64_t p;
	int value;

	OK(cuLinkCreate_v2(0, NULL, NULL, &state));
	snprintf(text, sizeof text, "%s%s", head, callee);
	OK(cuLinkAddData_v2(state, 1, text, strlen(text) + 1, "callee", 0, NULL, NULL));
	snprintf(text, sizeof text, "%s%s", head, caller);
	OK(cuLinkAddData_v2(state, 1, text, strlen(text) + 1, "caller", 0, NULL, NULL));
	IS(cuLinkAddFile_v2(state, 1, "/nothing/here.ptx", 0, NULL, NULL), 301);
	OK(cuLinkComplete(state, &cubin, &size));
	OK(cuModuleLoadData(&module, cubin));
	OK(cuLinkDestroy(state));
	IS(cuLinkDestroy(state), 400);
	OK(cuModuleGetFunction(&f, module, "call"));
	OK(cuMemAlloc_v2(&p, 4));
	params[0] = &p;
	OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
	OK(cuMemcpyDtoH_v2(&value, p, 4));
	IS(value, 42);
	OK(cuMemFree_v2(p));
}

static void errors(void)
{
	int (*alloc)(uint64_t *, size_t) = NULL, status;
	const char *text;
	void *fn;
	uint64_t p;

	OK(cuGetErrorName(700, &text));
	IS(strcmp(text, "CUDA_ERROR_ILLEGAL_ADDRESS"), 0);
	OK(cuGetErrorString(1, &text));
	IS(strcmp(text, "invalid argument"), 0);
	IS(cuGetErrorName(12345, &text), 1);
	OK(cuGetProcAddress_v2("cuMemAlloc", &fn, 13000, 0, &status));
	memcpy(&alloc, &fn, sizeof fn);
	OK(alloc(&p, 16));
	IS(cuGetProcAddress_v2("cuNothing", &fn, 13000, 0, &status), 500);
	IS(status, 1);
	IS(cuTexObjectCreate(&p, NULL, NULL, NULL), 801);
	IS(cuMemFree_v2(p + 4), 1);
}

int main(void)
{
	char name[64];
	int n, device, major;
	void *context, *now;

	OK(cuInit(0));
	OK(cuDeviceGetCount(&n));
	IS(n, 1);
	OK(cuDeviceGet(&device, 0));
	OK(cuDeviceGetName(name, sizeof name, device));
	OK(cuDeviceGetAttribute(&major, 75, device));
	OK(cuCtxCreate_v2(&context, 0, device));
	OK(cuCtxGetCurrent(&now));
	IS(now == context, 1);
	modules();
	libraries();
	linking();
	errors();
	OK(cuCtxSynchronize());
	OK(cuCtxDestroy_v2(context));
	printf("ok\n");
	return 0;
}

// NVRTC and the driver API: a kernel as PTX, the same as machine code, and two texts linked by the program.
#include <cuda.h>
#include <nvrtc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string>

#define OK(call) do { int e_ = (int)(call); if (e_) { printf("line %d: error %d\n", __LINE__, e_); exit(1); } } while (0)

static std::string compile(const std::string &source, const char *arch, bool cubin, bool rdc)
{
	const char *options[] = { arch, "-rdc=true" };
	nvrtcProgram p;
	std::string out;
	size_t n;

	OK(nvrtcCreateProgram(&p, source.c_str(), "kernel.cu", 0, NULL, NULL));
	OK(nvrtcCompileProgram(p, rdc ? 2 : 1, options));
	OK(cubin ? nvrtcGetCUBINSize(p, &n) : nvrtcGetPTXSize(p, &n));
	out.resize(n);
	OK(cubin ? nvrtcGetCUBIN(p, &out[0]) : nvrtcGetPTX(p, &out[0]));
	OK(nvrtcDestroyProgram(&p));
	return out;
}

static int run(const void *image, const char *name)
{
	CUmodule module;
	CUfunction f;
	CUdeviceptr p;
	int h[32];
	void *args[] = { &p };

	OK(cuModuleLoadData(&module, image));
	OK(cuModuleGetFunction(&f, module, name));
	OK(cuMemAlloc(&p, sizeof h));
	OK(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, NULL, args, NULL));
	OK(cuMemcpyDtoH(h, p, sizeof h));
	OK(cuMemFree(p));
	OK(cuModuleUnload(module));
	return h[31];
}

int main()
{
	const std::string kernel = "extern \"C\" __global__ void NAME(int *p) { p[threadIdx.x] = 3 * threadIdx.x; }";
	std::string ptx_source = kernel, cubin_source = kernel, ptx, arch, machine;
	CUdevice device;
	CUcontext context;
	CUlinkState link;
	void *cubin;
	size_t size;
	int major, minor, a, b, c;

	OK(cuInit(0));
	OK(cuDeviceGet(&device, 0));
	OK(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
	OK(cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device));
	OK(cuDevicePrimaryCtxRetain(&context, device));
	OK(cuCtxSetCurrent(context));
	arch = "--gpu-architecture=compute_" + std::to_string(major * 10 + minor);
	machine = "--gpu-architecture=sm_" + std::to_string(major * 10 + minor);
	ptx_source.replace(ptx_source.find("NAME"), 4, "as_ptx");
	cubin_source.replace(cubin_source.find("NAME"), 4, "as_cubin");
	ptx = compile(ptx_source, arch.c_str(), false, false);
	a = run(ptx.c_str(), "as_ptx");
	b = run(compile(cubin_source, machine.c_str(), true, false).c_str(), "as_cubin");

	OK(cuLinkCreate(0, NULL, NULL, &link));
	ptx = compile("extern __device__ int f(int x); extern \"C\" __global__ void linked(int *p) "
	              "{ p[threadIdx.x] = f(threadIdx.x); }", arch.c_str(), false, true);
	OK(cuLinkAddData(link, CU_JIT_INPUT_PTX, &ptx[0], ptx.size(), "caller", 0, NULL, NULL));
	ptx = compile("__device__ int f(int x) { return 4 * x; }", arch.c_str(), false, true);
	OK(cuLinkAddData(link, CU_JIT_INPUT_PTX, &ptx[0], ptx.size(), "callee", 0, NULL, NULL));
	OK(cuLinkComplete(link, &cubin, &size));
	c = run(cubin, "linked");
	OK(cuLinkDestroy(link));
	printf("%d %d %d\n", a, b, c);
	return 0;
}

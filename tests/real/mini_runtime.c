/* Stands in for NVIDIA's shared runtime where there is no GPU: gives the device code of a program, in the form in which
 * nvcc wrote it, to the driver as the runtime does, and launches each kernel once when it is registered. All else does
 * nothing and succeeds. */
#include <stddef.h>

int cuInit(unsigned), cuLibraryGetKernel(void **, void *, const char *);
int cuLibraryLoadData(void **, const void *, int *, void **, unsigned, int *, void **, unsigned);
int cuLaunchKernel(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);

static void *libraries[16];
static unsigned n;

void **__cudaRegisterFatBinary(void *wrapper)
{
	cuInit(0);
	cuLibraryLoadData(&libraries[n], wrapper, NULL, NULL, 0, NULL, NULL, 0);
	return &libraries[n++];
}

void __cudaRegisterFunction(void **library, const void *host, char *name, const char *device_name, int limit, void *tid,
                            void *bid, void *block, void *grid, int *size)
{
	void *kernel;

	cuLibraryGetKernel(&kernel, *library, device_name);
	cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
}

#define NOTHING(name) int name(void) { return 0; }
NOTHING(__cudaRegisterFatBinaryEnd)
NOTHING(__cudaUnregisterFatBinary)
NOTHING(__cudaRegisterVar)
NOTHING(__cudaInitModule)
NOTHING(__cudaPushCallConfiguration)
NOTHING(__cudaPopCallConfiguration)
NOTHING(__cudaGetKernel)
NOTHING(__cudaLaunchKernel)
NOTHING(cudaLaunchKernel)
NOTHING(cudaMalloc)
NOTHING(cudaMemcpy)
NOTHING(cudaGetLastError)
const char *cudaGetErrorString(int e) { return ""; }

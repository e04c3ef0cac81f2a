/* check.h - what the tests of this folder share. */
#ifndef CC_CHECK_H
#define CC_CHECK_H

#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

static int bad;

#define EXPECT(condition) \
	do { \
		if (!(condition)) { \
			printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
			bad = 1; \
		} \
	} while (0)
#define CUDA(call) \
	do { \
		cudaError_t e_ = (call); \
		if (e_ != cudaSuccess) { \
			printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(e_)); \
			exit(1); \
		} \
	} while (0)

/* Device memory that follows a host array in and out. */
template <class T> struct Mirror {
	T *host, *device;
	size_t n;
	Mirror(T *h, size_t count) : host(h), n(count)
	{
		CUDA(cudaMalloc(&device, n * sizeof(T)));
		CUDA(cudaMemcpy(device, host, n * sizeof(T), cudaMemcpyHostToDevice));
	}
	void fetch()
	{
		CUDA(cudaGetLastError());
		CUDA(cudaDeviceSynchronize());
		CUDA(cudaMemcpy(host, device, n * sizeof(T), cudaMemcpyDeviceToHost));
	}
	~Mirror() { cudaFree(device); }
};

#endif

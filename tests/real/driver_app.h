/* driver_app.h - what the test programs that go by the driver API have in common: calls that most of them make, and DO, which ends the program
 * with status 4 and the call's text where one fails. */
#ifndef DRIVER_APP_H
#define DRIVER_APP_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int cuInit(unsigned), cuDeviceGet(int *, int), cuCtxCreate_v2(void **, unsigned, int), cuCtxSynchronize(void);
int cuModuleLoadData(void **, const void *), cuModuleGetFunction(void **, void *, const char *);
int cuMemAlloc_v2(uint64_t *, size_t), cuMemsetD8_v2(uint64_t, unsigned char, size_t), cuMemcpyDtoH_v2(void *, uint64_t, size_t);
int cuLaunchKernel(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);

static inline void must(int e, const char *what)
{
	if (e) {
		printf("%s: error %d\n", what, e);
		exit(4);
	}
}
#define DO(call) must(call, #call)

#endif

// A race is reported however the program ends: by return, abort, a bad access, _exit, a signal, or in a forked process.
// verb: race
// args: return abort fault _exit term fork after
// status: 1
// stderr: kernel   racy
#include "check.h"
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

__global__ void racy(int *p)
{
	p[0] = (int)(threadIdx.x + 32 * blockIdx.x);
}

static int work()
{
	int *p;
	CHECK(cudaMalloc(&p, 4));
	racy<<<2, 64>>>(p);
	CHECK(cudaDeviceSynchronize());
	return 0;
}

int main(int, char **argv)
{
	const char *how = argv[1];
	if (strcmp(how, "fork") == 0) {
		if (fork() == 0)
			_exit(work());
		wait(0);
		return 0;
	}
	work();
	if (strcmp(how, "after") == 0) {                // as with CUDA: the child of a process that used the device cannot
		int *p, status;
		if (fork() == 0)
			_exit(cudaMalloc(&p, 4) == cudaErrorInitializationError ? 0 : 9);
		wait(&status);
		TRUE(status == 0);
	}
	if (strcmp(how, "abort") == 0)
		abort();
	if (strcmp(how, "fault") == 0)
		*(volatile int *)8 = 1;
	if (strcmp(how, "_exit") == 0)
		_exit(0);
	if (strcmp(how, "term") == 0)
		raise(SIGTERM);
	return 0;
}

// host_calls.cu - system calls and library calls of the host work on managed and pinned memory, also on pages of which
// a kernel in flight accesses other bytes.
// verb: race
// expect: ok
// ways: nvcc shared
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>
#include "check.h"

enum { N = 16384, HALF = N / 2 };

// Every other stretch of 64 bytes.
__global__ void fill(char *p)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < N && i / 64 % 2)
		p[i] = 'k';
}

static void pipes(char *p, const char *text)
{
	int ends[2];
	if (pipe(ends) || write(ends[1], text, 64) != 64 || read(ends[0], p, 64) != 64)
		exit(10);
	struct iovec v[2] = {{p + 128, 30}, {p + 256, 34}};
	if (write(ends[1], p, 64) != 64 || readv(ends[0], v, 2) != 64)
		exit(11);
	if (writev(ends[1], v, 2) != 64 || read(ends[0], p + 384, 64) != 64)
		exit(12);
	if (memcmp(p + 384, text, 64) || read(-1, p, 64) != -1 || close(ends[0]) || close(ends[1]))
		exit(13);
}

static void sockets(char *p)
{
	int ends[2];
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) || send(ends[0], p, 64, 0) != 64 ||
	    recv(ends[1], p + 512, 64, 0) != 64 || memcmp(p, p + 512, 64) || close(ends[0]) || close(ends[1]))
		exit(14);
}

static void streams(char *p)
{
	FILE *f = tmpfile();
	if (!f || fwrite(p, 64, 1, f) != 1 || fflush(f) || fseek(f, 0, SEEK_SET) || fread(p + 640, 1, 64, f) != 64)
		exit(15);
	if (pread(fileno(f), p + 768, 64, 0) != 64 || memcmp(p + 640, p + 768, 64) || fclose(f))
		exit(16);
}

static void use(char *p)
{
	char text[65];
	for (int i = 0; i < 64; i++)
		text[i] = (char)('A' + i % 26);
	fill<<<N / 256, 256>>>(p);
	pipes(p, text);
	sockets(p);
	streams(p);
	CHECK(cudaDeviceSynchronize());
	for (int i = 0; i < N; i++)
		if (i / 64 % 2 && p[i] != 'k')
			exit(17);
	// all of it, when nothing is in flight
	FILE *f = tmpfile();
	if (!f || fwrite(p, 1, HALF, f) != HALF || fseek(f, 0, SEEK_SET) || fread(p + HALF, 1, HALF, f) != HALF ||
	    memcmp(p, p + HALF, HALF) || fclose(f))
		exit(18);
}

int main()
{
	char *managed, *pinned;
	CHECK(cudaMallocManaged(&managed, N));
	CHECK(cudaMallocHost(&pinned, N));
	use(managed);
	use(pinned);
	CHECK(cudaFree(managed));
	CHECK(cudaFreeHost(pinned));
	puts("ok");
	return 0;
}

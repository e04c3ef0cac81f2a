// The C library and the system read the memory for the host.
// category: 13
// racy: RAW global host-access
// vary: MEMCPY FWRITE WRITE
#include "streams.h"
#include <cstring>
#include <unistd.h>
#include <fcntl.h>

static void test()
{
	static char copy[N * sizeof(int)];
	FILE *f = fopen("/dev/null", "w");

	put<<<1, N, 0, a>>>(managed);
	ONLY_FIXED(cudaStreamSynchronize(a);)
#if defined(V_MEMCPY)
	memcpy(copy, managed, sizeof copy);
	fwrite(copy, 1, sizeof copy, f);
#elif defined(V_FWRITE)
	fwrite(managed, sizeof(int), N, f);
#else
	if (write(fileno(f), managed, N * sizeof(int)) != N * sizeof(int))
		printf("write failed\n");
#endif
	fclose(f);
}

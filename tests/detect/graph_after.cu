// A graph is an operation of the stream that it is launched in.
// category: 13
// racy: RAW global streams
#include "streams.h"

static void test()
{
	cudaGraphExec_t x;
	cudaGraph_t g;

	cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal);
	put<<<1, N, 0, a>>>(p);
	cudaStreamEndCapture(a, &g);
	cudaGraphInstantiate(&x, g, 0);
	cudaGraphLaunch(x, a);
	take<<<1, N, 0, ONLY_RACY(b) ONLY_FIXED(a)>>>(p, out);
}

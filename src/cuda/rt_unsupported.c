/* rt_unsupported.c - every entry point of the two APIs that the simulated GPU does not have says so by its name; the
 * lists are the NO rows of rt_api.def and drv_api.def. And cudaCreateChannelDesc, which is pure, but returns a struct. */
#include "cuda/rt.h"

#define RT(name, now, before)
#define PT(name, now)
#define NO(name) WS_RT(name, void) { return ws_unsupported(#name); }
#include "cuda/rt_api.def"
#undef NO
#undef RT

#define DRV(name, now)
#define NO(name) WS_RT(name, void) { ws_tell_unsupported(#name); return WS_CUDA_NOT_SUPPORTED; }
#include "cuda/drv_api.def"
#undef NO
#undef PT
#undef DRV

struct channel { int x, y, z, w, kind; };

WS_RT_(struct channel, cudaCreateChannelDesc, int x, int y, int z, int w, int kind)
{
	return (struct channel){ x, y, z, w, kind };
}

/* unfollowed.c - functions of the driver that are none of ours, and that might order launches: a synchronous copy, a call that a
 * later release brings. The program calls them through a few instructions that leave a mark, so that what they may have ordered
 * counts as ordered (streams.c). Functions of which it is known that they order nothing are called as they are. */
#include "real/unfollowed.h"

#include <pthread.h>
#include <stdint.h>
#include <string.h>

#include "base/base.h"

enum { MOST = 1024, MOST_LATER = 32, BYTES = 32 };           /* as in the text below */

/* The text names these, so they have names beyond this file. */
extern unsigned char ws_real_marked, ws_real_marked_later;
extern void *ws_real_marks_to[MOST], *ws_real_marks_later_to[MOST_LATER];
extern const char ws_real_marks[], ws_real_marks_later[];
unsigned char ws_real_marked, ws_real_marked_later;
void *ws_real_marks_to[MOST], *ws_real_marks_later_to[MOST_LATER];

#if defined(__x86_64__)
#define MARK(mark, to)                                                                                          \
	"endbr64\n movb $1, " mark "(%rip)\n jmp *(" to "+8*.Lws_mark)(%rip)\n"
#elif defined(__aarch64__)
#define MARK(mark, to)                                                                                          \
	"bti c\n adrp x16, " mark "\n mov w17, #1\n strb w17, [x16, :lo12:" mark "]\n adrp x16, " to "+8*.Lws_mark\n"    \
	" ldr x16, [x16, :lo12:" to "+8*.Lws_mark]\n br x16\n"
#else
#error "the stub before the driver is for x86-64 and AArch64"
#endif
#define MARKS(name, n, mark, to)                                                                                \
	".pushsection .text\n.balign 32\n.globl " name "\n.hidden " name "\n" name ":\n.set .Lws_mark, 0\n"       \
	".rept " n "\n.balign 32\n" MARK(mark, to) ".set .Lws_mark, .Lws_mark+1\n.endr\n.popsection\n"
__asm__(MARKS("ws_real_marks", "1024", "ws_real_marked", "ws_real_marks_to")
        MARKS("ws_real_marks_later", "32", "ws_real_marked_later", "ws_real_marks_later_to"));

/* Of what is put into a stream, or waited for, nothing begins so. */
static const char *const harmless[] = {
	"cuArray", "cuCoredump", "cuCtxAttach", "cuCtxCreate", "cuCtxDisablePeer", "cuCtxEnablePeer", "cuCtxFromGreen", "cuCtxPop",
	"cuCtxPush", "cuCtxSet", "cuDev", "cuEventCreate", "cuEventElapsed", "cuFlushGPU", "cuFunc", "cuGreenCtxCreate",
	"cuInit", "cuIpcCloseMem", "cuIpcOpenMem", "cuKernel", "cuLibrary", "cuLink", "cuLog", "cuMemAddress", "cuMemAdvise", "cuMemAllocHost",
	"cuMemAllocManaged", "cuMemAllocPitch", "cuMemCreate", "cuMemExport", "cuMemHostAlloc", "cuMemHostRegister", "cuMemImport",
	"cuMemMap", "cuMemPool", "cuMemPrefetch", "cuMemRange", "cuMemRelease", "cuMemRetain", "cuMemSetAccess", "cuMemUnmap",
	"cuMipmapped", "cuModule", "cuMulticast", "cuObject", "cuOccupancy", "cuParam", "cuPointer", "cuProfiler", "cuStreamAttach",
	"cuStreamBeginCapture", "cuStreamCopyAttributes", "cuStreamEndCapture", "cuStreamIsCapturing", "cuStreamSetAttribute",
	"cuStreamUpdateCapture", "cuSurf", "cuTensorMap", "cuTex", "cuThreadExchange", "cuUserObject",
};
/* What comes behind them in a stream may wait for what is done later. */
static const char *const later[] = { "cuCtxWaitEvent", "cuGreenCtxWaitEvent", "cuIpcOpenEvent", "cuStreamBatchMemOp", "cuStreamWaitValue",
	                             "cuWaitExternalSemaphores" };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool begins_with_one(const char *name, const char *const *list, size_t n)
{
	for (size_t k = 0; k < n; k++)
		if (strncmp(name, list[k], strlen(list[k])) == 0)
			return true;
	return false;
}

static bool is_harmless(const char *name)
{
	bool graph = !strncmp(name, "cuGraph", 7) && strncmp(name, "cuGraphLaunch", 13) != 0;

	return graph || strstr(name, "Get") || strcmp(name, "cuMemAlloc") == 0 ||
	       begins_with_one(name, harmless, WS_COUNT(harmless));
}

/* NULL: there is no place left. */
static const void *marked_in(void **to, size_t n, const char *marks, void *real)
{
	size_t k = 0;

	pthread_mutex_lock(&lock);
	while (k < n && to[k] && to[k] != real)
		k++;
	if (k < n)
		to[k] = real;
	pthread_mutex_unlock(&lock);
	return k < n ? marks + k * BYTES : NULL;
}

void *ws_real_marking(const char *name, void *real)
{
	const void *marking;

	if (!real || is_harmless(name))
		return real;
	marking = begins_with_one(name, later, WS_COUNT(later))
		? marked_in(ws_real_marks_later_to, MOST_LATER, ws_real_marks_later, real)
		: marked_in(ws_real_marks_to, MOST, ws_real_marks, real);
	if (!marking)
		ws_real_marked_later = 1;    /* it will be called unseen */
	return marking ? (void *)(uintptr_t)marking : real;
}

bool ws_real_marked_call(void)
{
	return __atomic_load_n(&ws_real_marked, __ATOMIC_RELAXED) && __atomic_exchange_n(&ws_real_marked, 0, __ATOMIC_RELAXED);
}

bool ws_real_marked_call_later(void)
{
	return __atomic_load_n(&ws_real_marked_later, __ATOMIC_RELAXED);
}

// An atomic of block scope is none to another block.
// category: 6
// racy: WAW global scope
#define BLOCKS 2
#include "one.h"

__global__ void kernel(int *data, int *out)
{
	ONLY_RACY(__asm__ volatile("red.relaxed.cta.global.add.u32 [%0], 1;" : : "l"(data) : "memory"));
	ONLY_FIXED(__asm__ volatile("red.relaxed.gpu.global.add.u32 [%0], 1;" : : "l"(data) : "memory"));
}

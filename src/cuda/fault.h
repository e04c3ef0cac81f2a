/* fault.h - how many bytes an interrupted instruction of the host accesses. */
#ifndef WS_FAULT_H
#define WS_FAULT_H

#include <stdbool.h>
#include <stdint.h>

struct ws_fault {
	const uint8_t *code;     /* the instruction */
	const uint64_t *regs;    /* rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8 ... r15 */
	bool backwards;          /* direction flag */
	uint64_t fault;          /* the first byte that it could not access */
	bool write;
};

/* Bytes from a->fault on that the x86-64 instruction accesses for certain, 1 at least; 1 where it is not known. For
 * string instructions with a count: all that is left of them. */
uint64_t ws_fault_bytes(const struct ws_fault *a);

#endif

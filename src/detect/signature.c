/* signature.c - see signature.h. */
#include "detect/signature.h"

static uint32_t bin_bits(struct ws_signature_form f)
{
	return f.bits / f.bins;
}

uint32_t ws_signature_add(struct ws_signature_form f, uint32_t signature, uint64_t addr)
{
	uint32_t size = bin_bits(f), index = (uint32_t)(addr / 4) & (size - 1);

	for (uint32_t bin = 0; bin < f.bins; bin++)
		signature |= 1u << (bin * size + index);
	return signature;
}

bool ws_signature_meets(struct ws_signature_form f, uint32_t a, uint32_t b)
{
	uint32_t size = bin_bits(f), mask = (1u << size) - 1;

	for (uint32_t bin = 0; bin < f.bins; bin++)
		if (!(a & b & mask << bin * size))
			return false;
	return true;
}

/* signature.h - sets of lock addresses as Bloom filter signatures, the "atomic ID" of HAccRG (Holey, Mekkat, Yew, Zhai,
 * "Transactions and races", 2015, 6.2.2 and 6.5.1). */
#ifndef WS_SIGNATURE_H
#define WS_SIGNATURE_H

#include "base/base.h"

/* `bits` in all (8, 16 or 32), in `bins` of equal size (2 or 4). */
struct ws_signature_form { uint32_t bits, bins; };

/* The signature with the address (of a word) added: one bit in each bin, by direct indexing with low order bits. */
uint32_t ws_signature_add(struct ws_signature_form f, uint32_t signature, uint64_t addr);
/* May the two sets have an address in common? Only if each bin has a common bit. */
bool ws_signature_meets(struct ws_signature_form f, uint32_t a, uint32_t b);

#endif

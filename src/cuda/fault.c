/* fault.c - how many bytes an interrupted instruction of the host accesses; see fault.h.
 *
 * A decoder for the operand in memory of what compilers and C libraries emit: encodings of the Intel SDM, vol. 2,
 * chapter 2 (prefixes, ModR/M, SIB, VEX, EVEX), sizes of its appendix A (opcode maps). What is not listed here, masked
 * vector accesses and gathers among it, counts as one byte: too few bytes may miss a race, too many would invent
 * one. */
#include "cuda/fault.h"

#include <string.h>

enum { NO_PREFIX, P66, PF3, PF2 };       /* also the values of the field pp of VEX and EVEX */
enum { ONE_BYTE, MAP_0F, MAP_0F38, MAP_0F3A };
enum { LEGACY, VEX, EVEX };
enum { MOST_COUNT = 1 << 20 };           /* elements of a string instruction: more than a page has */

struct insn {
	const uint8_t *at;               /* what is still to be read */
	unsigned coding, map, op, pp;
	bool w, half, rep, odd;          /* half: 66; odd: with a segment or short addresses */
	bool x, b;                       /* fourth bits of the registers of an address */
	bool masked, broadcast;
	unsigned vector;                 /* bytes of a vector */
	unsigned mod, reg, rm;
};

/* ---- encodings ---- */
static bool is_prefix(struct insn *i)
{
	switch (*i->at) {
	case 0x66:
		i->pp = i->pp ? i->pp : P66;
		i->half = true;
		return true;
	case 0xf3:
	case 0xf2:
		i->pp = *i->at == 0xf3 ? PF3 : PF2;
		i->rep = true;
		return true;
	case 0x64:
	case 0x65:
	case 0x67:
		i->odd = true;
		return true;
	case 0x26:
	case 0x2e:
	case 0x36:
	case 0x3e:
	case 0xf0:
		return true;
	}
	return false;
}

static void read_vex(struct insn *i)
{
	bool three = *i->at++ == 0xc4;
	unsigned p = *i->at++;

	i->coding = VEX;
	i->map = MAP_0F;
	if (three) {
		i->x = !(p & 0x40);
		i->b = !(p & 0x20);
		i->map = p & 0x1f;
		p = *i->at++;
		i->w = p & 0x80;
	}
	i->vector = p & 4 ? 32 : 16;
	i->pp = p & 3;
}

static void read_evex(struct insn *i)
{
	unsigned p0 = i->at[1], p1 = i->at[2], p2 = i->at[3];

	i->at += 4;
	i->coding = EVEX;
	i->x = !(p0 & 0x40);
	i->b = !(p0 & 0x20);
	i->map = p0 & 7;
	i->w = p1 & 0x80;
	i->pp = p1 & 3;
	i->masked = p2 & 7;
	i->broadcast = p2 & 0x10;
	i->vector = 16u << (p2 >> 5 & 3);
}

static void read_legacy(struct insn *i)
{
	if ((*i->at & 0xf0) == 0x40) {
		i->w = *i->at & 8;
		i->x = *i->at & 2;
		i->b = *i->at & 1;
		i->at++;
	}
	i->vector = 16;
	if (*i->at != 0x0f)
		return;
	i->at++;
	i->map = MAP_0F;
	if (*i->at == 0x38 || *i->at == 0x3a)
		i->map = *i->at++ == 0x38 ? MAP_0F38 : MAP_0F3A;
}

static void read_insn(struct insn *i)
{
	while (is_prefix(i))
		i->at++;
	if (*i->at == 0xc4 || *i->at == 0xc5) /* in 64-bit mode nothing else */
		read_vex(i);
	else if (*i->at == 0x62)
		read_evex(i);
	else
		read_legacy(i);
	i->op = *i->at++;
	i->mod = *i->at >> 6;
	i->reg = *i->at >> 3 & 7;
	i->rm = *i->at & 7;
}

/* ---- sizes ---- */
static unsigned general(const struct insn *i)
{
	return i->w ? 8 : i->half ? 2 : 4;
}

/* Opcodes of which the even ones have operands of a byte. */
static unsigned byte_or_general(const struct insn *i)
{
	return i->op & 1 ? general(i) : 1;
}

static unsigned size_x87(const struct insn *i)
{
	static const uint8_t sizes[8][8] = {
		{4, 4, 4, 4, 4, 4, 4, 4},   {4, 1, 4, 4, 1, 2, 1, 2}, {4, 4, 4, 4, 4, 4, 4, 4},
		{4, 4, 4, 4, 1, 10, 1, 10}, {8, 8, 8, 8, 8, 8, 8, 8}, {8, 8, 8, 8, 1, 1, 1, 2},
		{2, 2, 2, 2, 2, 2, 2, 2},   {2, 2, 2, 2, 10, 8, 10, 8}};

	return sizes[i->op & 7][i->reg];
}

static unsigned size_one_byte(const struct insn *i)
{
	unsigned op = i->op;

	if (op < 0x40 && (op & 7) < 4)
		return byte_or_general(i);
	if (op == 0x63)
		return 4;
	if (op == 0x69 || op == 0x6b || op == 0x81 || op == 0x83)
		return general(i);
	if ((op >= 0x80 && op <= 0x8b) || (op >= 0xa4 && op <= 0xa7) || (op >= 0xaa && op <= 0xaf))
		return byte_or_general(i);
	if ((op & ~1u) == 0xc0 || (op & ~1u) == 0xc6 || (op & ~3u) == 0xd0 || (op & ~1u) == 0xf6)
		return byte_or_general(i);
	if (op >= 0xd8 && op <= 0xdf)
		return size_x87(i);
	if (op == 0xfe || (op == 0xff && i->reg < 2))
		return byte_or_general(i);
	return op == 0x8f || (op == 0xff && (i->reg == 2 || i->reg == 4 || i->reg == 6)) ? 8 : 1;
}

/* ps and pd: a vector; ss: 4; sd: 8. */
static unsigned size_float(const struct insn *i)
{
	return i->pp == PF3 ? 4 : i->pp == PF2 ? 8 : i->vector;
}

/* Half vectors, and moves of a float to the other half. */
static unsigned size_half(const struct insn *i)
{
	if (i->op == 0x12 && i->pp == PF2)
		return i->vector > 16 ? i->vector : 8;
	return i->pp == PF3 ? i->vector : 8;
}

static unsigned size_convert(const struct insn *i)
{
	if (i->op == 0x5a && i->pp != P66)
		return i->pp == PF3 ? 4 : i->pp == PF2 ? 8 : i->vector / 2;
	return i->op == 0xe6 && i->pp == PF3 ? i->vector / 2 : i->vector;
}

/* Integer vectors; without a prefix the registers of MMX, of which only the moves are known here. */
static unsigned size_integer(const struct insn *i)
{
	static const uint8_t by_count[] = {0xd1, 0xd2, 0xd3, 0xe1, 0xe2, 0xf1, 0xf2, 0xf3};

	if (i->coding == LEGACY && i->pp == NO_PREFIX)
		return i->op == 0x6f || i->op == 0x7f || i->op == 0xe7 ? 8 : 1;
	return i->coding != LEGACY && memchr(by_count, (int)i->op, sizeof by_count) ? 16 : i->vector;
}

static unsigned size_0f_general(const struct insn *i)
{
	unsigned op = i->op;

	if (op >= 0x40 && op <= 0x4f)
		return general(i);
	if (op >= 0x90 && op <= 0x9f)
		return 1;
	switch (op) {
	case 0xa4: case 0xa5: case 0xac: case 0xad: case 0xaf: case 0xb1: case 0xb8: case 0xba: case 0xbc: case 0xbd:
	case 0xc1:
		return general(i);
	case 0xb7: case 0xbf:
		return 2;
	case 0xc3:
		return i->w ? 8 : 4;
	case 0xc7:
		return i->reg != 1 ? 1 : i->w ? 16 : 8;
	}
	return 1;
}

static unsigned size_0f(const struct insn *i)
{
	unsigned op = i->op;

	switch (op) {
	case 0x10: case 0x11: case 0x51: case 0x52: case 0x53: case 0x58: case 0x59: case 0x5c: case 0x5d: case 0x5e:
	case 0x5f: case 0xc2:
		return size_float(i);
	case 0x12: case 0x13: case 0x16: case 0x17:
		return size_half(i);
	case 0x14: case 0x15: case 0x28: case 0x29: case 0x2b: case 0x54: case 0x55: case 0x56: case 0x57: case 0x5b:
	case 0xc6:
		return i->vector;
	case 0x2a: case 0x2c: case 0x2d:
		return i->pp != PF3 && i->pp != PF2 ? 1 : op == 0x2a ? i->w ? 8 : 4 : size_float(i);
	case 0x2e: case 0x2f:
		return i->pp == P66 ? 8 : 4;
	case 0x5a: case 0xe6:
		return size_convert(i);
	case 0x6e: case 0x7e:
		return i->w || i->pp == PF3 ? 8 : 4;
	case 0xd6:
		return 8;
	}
	if ((op >= 0x60 && op <= 0x70) || (op >= 0x74 && op <= 0x76) || op == 0x7f || (op >= 0xd0 && op <= 0xfe))
		return size_integer(i);
	return size_0f_general(i);
}

/* pmovsx, pmovzx: a half, quarter or eighth of the vector. */
static unsigned size_widen(const struct insn *i)
{
	static const uint8_t parts[] = {2, 4, 8, 2, 4, 2};

	return i->vector / parts[i->op & 7];
}

static unsigned size_0f38(const struct insn *i)
{
	unsigned op = i->op, low = op & 15;

	if ((op >= 0x20 && op <= 0x25) || (op >= 0x30 && op <= 0x35))
		return size_widen(i);
	if (op == 0xf0 || op == 0xf1) /* movbe, crc32 */
		return op == 0xf0 && i->pp == PF2 ? 1 : general(i);
	if (i->coding == LEGACY ? i->pp != P66 : op >= 0xf2)
		return op >= 0xf2 && op <= 0xf7 ? i->w ? 8 : 4 : 1;
	if (op <= 0x0b || (op >= 0x1c && op <= 0x1e) || (op >= 0x28 && op <= 0x2b) || (op >= 0x37 && op <= 0x40))
		return i->vector;
	switch (op) {
	case 0x18: case 0x58:
		return 4;
	case 0x19: case 0x59:
		return 8;
	case 0x1a: case 0x5a:
		return 16;
	case 0x79:
		return 2;
	case 0x45: case 0x46: case 0x47: case 0x36:
		return i->vector;
	}
	if (op >= 0x96 && op <= 0xbf && low >= 6) /* fused multiply-add; the odd ones from 9 on are scalar */
		return low > 8 && op & 1 ? i->w ? 8 : 4 : i->vector;
	return 1;
}

static unsigned size_0f3a(const struct insn *i)
{
	switch (i->op) {
	case 0x15:
		return 2;
	case 0x16: case 0x22:
		return i->w ? 8 : 4;
	case 0x17: case 0x21:
		return 4;
	case 0x18: case 0x19: case 0x38: case 0x39:
		return 16;
	case 0x06: case 0x0f: case 0x46:
		return i->pp == P66 ? i->vector : 1;
	}
	return 1;
}

static unsigned size_of(const struct insn *i)
{
	unsigned size = i->map == ONE_BYTE   ? size_one_byte(i)
			: i->map == MAP_0F   ? size_0f(i)
			: i->map == MAP_0F38 ? size_0f38(i)
			: i->map == MAP_0F3A ? size_0f3a(i)
					     : 1;

	if (i->masked)
		return 1;
	if (i->broadcast)
		return size < 4 ? size : i->w && size > 4 ? 8 : 4;
	return size;
}

/* ---- addresses ---- */
static int64_t displacement(const struct insn *i, const uint8_t *at, unsigned size)
{
	int32_t d = 0;

	if (i->mod == 1) /* EVEX: in units of the operand */
		return (int64_t)(int8_t)*at * (i->coding == EVEX ? (int)size : 1);
	memcpy(&d, at, sizeof d);
	return d;
}

/* false: not by ModR/M from general registers */
static bool address_of(const struct insn *i, const uint64_t *regs, unsigned size, uint64_t *addr)
{
	const uint8_t *at = i->at + 1;
	unsigned base = i->rm, index;
	uint64_t a = 0;

	if (i->odd || i->mod == 3 || (i->mod == 0 && i->rm == 5))
		return false;
	if (i->rm == 4) {
		base = *at & 7;
		index = (*at >> 3 & 7) + 8u * i->x;
		if (index != 4)
			a = regs[index] << (*at >> 6);
		at++;
	}
	if (i->mod || base != 5)
		a += regs[base + 8u * i->b];
	if (i->mod || base == 5)
		a += (uint64_t)displacement(i, at, size);
	*addr = a;
	return true;
}

static bool is_string(const struct insn *i)
{
	return i->map == ONE_BYTE && i->coding == LEGACY &&
	       ((i->op >= 0xa4 && i->op <= 0xa7) || (i->op >= 0xaa && i->op <= 0xaf));
}

/* cmps and scas may end before their count does. */
static uint64_t string_bytes(const struct insn *i, const struct ws_fault *a, unsigned size)
{
	uint64_t at = a->regs[a->write || i->op >= 0xae ? 7 : 6];
	bool counted = i->rep && (i->op < 0xa6 || (i->op >= 0xaa && i->op < 0xae));

	if (i->op == 0xa6 || i->op == 0xa7)
		at = a->regs[7] == a->fault ? a->fault : a->regs[6];
	if (i->odd || at != a->fault)
		return 1;
	if (!counted || a->backwards)
		return size;
	return (a->regs[1] < MOST_COUNT ? a->regs[1] : MOST_COUNT) * size;
}

uint64_t ws_fault_bytes(const struct ws_fault *a)
{
	struct insn i = {.at = a->code};
	uint64_t start;
	unsigned size;

	read_insn(&i);
	size = size_of(&i);
	if (size == 1 && !is_string(&i))
		return 1;
	if (is_string(&i))
		return string_bytes(&i, a, size);
	if (!address_of(&i, a->regs, size, &start) || a->fault - start >= size)
		return 1;
	return start + size - a->fault;
}

/* together.c - lanes stay together in the functions of the checks.
 *
 * The compiler puts a YIELD into each function, and each loop, that has a strong load or an atomic. When some lanes execute one, a GPU
 * lets those go on that wait for them behind a condition. So where the program has its lanes wait, say for one that holds a lock, the
 * first check under the condition would part them, and each would go through all that comes by itself.
 *
 * A YIELD is there for lanes that spin until another lane of their warp has done something. That is the program's affair, and its code
 * keeps what it has. The functions of the checks have no such loop: theirs end whatever other lanes do. Those that bring lanes together
 * (syncs, barriers) keep it; checks of accesses do so by votes alone, of a warp of which all lanes are there. In all others a
 * YIELD becomes a NOP, by the bits by which NVIDIA's linker does the same for code that needs none (its relocations
 * R_CUDA_YIELD_OPCODE9_0 and R_CUDA_YIELD_CLEAR_PRED4_87). */
#include <elf.h>
#include <string.h>

#include "real/real_priv.h"

static const char own[] = "__warpsafe_";
/* Instructions have 16 bytes from compute capability 7.0 on. Of the low half the lowest 12 bits are the opcode, the next 4 the
 * predicate, 7 = none. */
enum { INSTRUCTION = 16, YIELD = 0x7946, NOP = 0x7918, IS_KERNEL = 0x10 };
/* Without the bits that tell whether operands are registers or constants. */
enum { KIND = 0x1ff, WARPSYNC = 0x148, NANOSLEEP = 0x15d, BAR = 0x11d, CLUSTER_BAR = 0x1c7 };
#define YIELD_OPERAND (15ull << 23)          /* in the high half: a predicate */

struct image {
	char *data;
	size_t len;
};

static void *part(const struct image *i, uint64_t off, uint64_t len)
{
	return off <= i->len && len <= i->len - off && off % 8 == 0 ? i->data + off : NULL;
}

static bool brings_together(uint64_t low)
{
	static const uint64_t those[] = { WARPSYNC, NANOSLEEP, BAR, CLUSTER_BAR };

	for (size_t k = 0; k < WS_COUNT(those); k++)
		if ((low & KIND) == those[k])
			return true;
	return false;
}

static unsigned change_function(uint64_t *code, size_t n, bool votes)
{
	unsigned changed = 0;

	for (size_t k = 0; k < n && !votes; k++)
		if (brings_together(code[2 * k]))
			return 0;
	for (size_t k = 0; k < n; k++) {
		if (code[2 * k] != YIELD)
			continue;
		code[2 * k] = NOP;
		code[2 * k + 1] &= ~YIELD_OPERAND;
		changed++;
	}
	return changed;
}

/* A function that is compiled with a kernel has the kernel's name in front: $KERNEL$NAME. NULL: it is not of the checks; else its
 * name behind what they all begin with. */
static const char *name_in_checks(const Elf64_Sym *s, const char *name)
{
	const char *last = strrchr(name, '$'), *end = last ? last + 1 : name;

	if (ELF64_ST_TYPE(s->st_info) != STT_FUNC || s->st_other & IS_KERNEL || strncmp(end, own, strlen(own)) != 0)
		return NULL;
	return end + strlen(own);
}

static bool is_access(const char *name)
{
	static const char *const those[] = { "read", "write", "atomic" };

	for (size_t k = 0; k < WS_COUNT(those); k++)
		if (!strncmp(name, those[k], strlen(those[k])))
			return true;
	return false;
}

static unsigned change_symbol(const struct image *i, const Elf64_Ehdr *e, const Elf64_Sym *s, bool votes)
{
	const Elf64_Shdr *all = part(i, e->e_shoff, (uint64_t)e->e_shnum * sizeof *all), *text;
	uint64_t *code;

	if (!all || !s->st_shndx || s->st_shndx >= e->e_shnum)
		return 0;
	text = &all[s->st_shndx];
	if (text->sh_type != SHT_PROGBITS || s->st_value > text->sh_size || s->st_size > text->sh_size - s->st_value)
		return 0;
	code = part(i, text->sh_offset + s->st_value, s->st_size);
	return code ? change_function(code, s->st_size / INSTRUCTION, votes) : 0;
}

static unsigned change_symbols(const struct image *i, const Elf64_Ehdr *e, const Elf64_Shdr *symbols, const Elf64_Shdr *strings)
{
	const Elf64_Sym *s = part(i, symbols->sh_offset, symbols->sh_size);
	size_t n = s ? symbols->sh_size / sizeof *s : 0;
	unsigned changed = 0;

	if (strings->sh_offset > i->len || strings->sh_size > i->len - strings->sh_offset)
		return 0;
	for (; n--; s++) {
		const char *names = i->data + strings->sh_offset;
		size_t room = s->st_name < strings->sh_size ? strings->sh_size - s->st_name : 0;
		const char *name = memchr(names + (room ? s->st_name : 0), 0, room) ? name_in_checks(s, names + s->st_name) : NULL;

		if (name)
			changed += change_symbol(i, e, s, is_access(name));
	}
	return changed;
}

unsigned ws_real_keep_together(void *cubin, size_t len)
{
	struct image i = { cubin, len };
	const Elf64_Ehdr *e = part(&i, 0, sizeof *e);
	const Elf64_Shdr *all;
	unsigned changed = 0;

	if (!e || memcmp(e->e_ident, ELFMAG, SELFMAG) || e->e_ident[EI_CLASS] != ELFCLASS64 || e->e_machine != EM_CUDA)
		return 0;
	all = part(&i, e->e_shoff, (uint64_t)e->e_shnum * sizeof *all);
	for (unsigned k = 0; all && k < e->e_shnum; k++)
		if (all[k].sh_type == SHT_SYMTAB && all[k].sh_link < e->e_shnum)
			changed += change_symbols(&i, e, &all[k], &all[all[k].sh_link]);
	return changed;
}

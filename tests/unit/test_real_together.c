/* What is changed in the machine code of checks so that lanes stay together (real/together.c): an image made by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <elf.h>

#include "base/base.h"
#include "real/real_priv.h"

/* As ptxas 13 writes them for sm_90, low half and high half. */
#define YIELD    0x7946, 0x000fea0003800000
#define NOP      0x7918, 0x000fea0000000000
#define LOAD     0x0000000402047981, 0x000ea8000c1f5900
#define WARPSYNC 0x7348, 0x000fea0003800000
enum { FUNCTIONS = 6, WORDS = 6, KERNEL = 0x10 };

struct image {
	Elf64_Ehdr e;
	Elf64_Shdr s[4];                     /* none, strings, symbols, text */
	Elf64_Sym symbols[FUNCTIONS];
	uint64_t code[FUNCTIONS][WORDS];
	char names[256];
};

static const struct {
	const char *name;
	unsigned char other;
	uint64_t code[WORDS];
	unsigned changes;
} functions[FUNCTIONS] = {
	{ "__warpsafe_release", 0, { LOAD, YIELD, LOAD }, 1 },
	{ "$_Z4hashPj$__warpsafe_fence", 0, { YIELD, LOAD, YIELD }, 2 },
	{ "__warpsafe_warp_sync", 0, { YIELD, WARPSYNC, YIELD }, 0 },
	{ "__warpsafe_plain_k", KERNEL, { YIELD, LOAD, YIELD }, 0 },
	{ "_Z6lockedPj", 0, { YIELD, LOAD, LOAD }, 0 },
	{ "__warpsafe_read4_global", 0, { YIELD, LOAD, WARPSYNC }, 1 },  /* a vote of the whole warp */
};

static struct image *make(void)
{
	struct image *i = ws_alloc(sizeof *i);
	uint32_t at = 1;

	memcpy(i->e.e_ident, ELFMAG, SELFMAG);
	i->e.e_ident[EI_CLASS] = ELFCLASS64;
	i->e.e_machine = EM_CUDA;
	i->e.e_shoff = offsetof(struct image, s);
	i->e.e_shnum = WS_COUNT(i->s);
	i->s[1] = (Elf64_Shdr){ .sh_type = SHT_STRTAB, .sh_offset = offsetof(struct image, names), .sh_size = sizeof i->names };
	i->s[2] = (Elf64_Shdr){ .sh_type = SHT_SYMTAB, .sh_link = 1, .sh_offset = offsetof(struct image, symbols), .sh_size = sizeof i->symbols };
	i->s[3] = (Elf64_Shdr){ .sh_type = SHT_PROGBITS, .sh_offset = offsetof(struct image, code), .sh_size = sizeof i->code };
	for (unsigned k = 0; k < FUNCTIONS; k++) {
		i->symbols[k] = (Elf64_Sym){ .st_name = at, .st_info = ELF64_ST_INFO(STB_LOCAL, STT_FUNC), .st_other = functions[k].other,
			                     .st_shndx = 3, .st_value = k * sizeof *i->code, .st_size = sizeof *i->code };
		memcpy(i->code[k], functions[k].code, sizeof *i->code);
		strcpy(i->names + at, functions[k].name);
		at += (uint32_t)strlen(functions[k].name) + 1;
	}
	return i;
}

static unsigned changed(const struct image *i, unsigned function)
{
	static const uint64_t yield[] = { YIELD }, nop[] = { NOP };
	unsigned n = 0;

	for (unsigned k = 0; k < WORDS; k += 2) {
		const uint64_t *was = &functions[function].code[k], *is = &i->code[function][k];

		if (!memcmp(was, is, 16))
			continue;
		assert_memory_equal(was, yield, 16);
		assert_memory_equal(is, nop, 16);
		n++;
	}
	return n;
}

static void functions_of_checks_alone(void **state)
{
	struct image *i = make();

	(void)state;
	assert_int_equal(ws_real_keep_together(i, sizeof *i), 4);
	for (unsigned k = 0; k < FUNCTIONS; k++)
		assert_int_equal(changed(i, k), functions[k].changes);
	assert_int_equal(ws_real_keep_together(i, sizeof *i), 0);        /* it is done */
	free(i);
}

/* An image that ends early, or says what cannot be, is left as it is. */
static void damaged_images(void **state)
{
	struct image *i;

	(void)state;
	for (size_t len = 0; len < sizeof *i; len += 8) {
		char *cut = ws_alloc(len + 1);
		struct image *whole = make();

		memcpy(cut, whole, len);
		assert_true(ws_real_keep_together(cut, len) <= 4);
		free(whole);
		free(cut);
	}
	i = make();
	i->s[3].sh_offset = UINT64_MAX - 64;
	i->symbols[0].st_value = UINT64_MAX - 16;
	i->symbols[1].st_name = UINT32_MAX;
	assert_int_equal(ws_real_keep_together(i, sizeof *i), 0);
	i->s[2].sh_link = 9;
	assert_int_equal(ws_real_keep_together(i, sizeof *i), 0);
	i->e.e_machine = EM_X86_64;
	assert_int_equal(ws_real_keep_together(i, sizeof *i), 0);
	free(i);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_of_checks_alone),
		cmocka_unit_test(damaged_images),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

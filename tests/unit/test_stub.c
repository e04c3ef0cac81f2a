/* The library before the driver: what it defines, read back with libelf; loaded and called; the code for AArch64 decoded;
 * drivers that are damaged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <gelf.h>

#include "real/stub.h"

/* ---- what the stub calls: exported by this program (see tests/real/real.mk) ---- */
static void **the_table;
static const char *the_names;
static size_t the_n;

static int answer_a(int x) { return x + 1; }
static int answer_b(int x) { return x * 3; }

extern void ws_real_bind(void **table, const char *names, size_t n);
__attribute__((visibility("default"))) void ws_real_bind(void **table, const char *names, size_t n)
{
	the_table = table;
	the_names = names;
	the_n = n;
	for (size_t i = 0; i < n; i++)
		table[i] = i % 2 ? (void *)answer_b : (void *)answer_a;
}

static struct ws_stub_names some(size_t n, uint16_t machine)
{
	struct ws_stub_names s = { .machine = machine, .n = n };
	struct ws_buf b = { 0 };

	for (size_t i = 0; i < n; i++) {
		ws_buf_printf(&b, "cuFunction%zu", i);
		ws_buf_add(&b, "", 1);
	}
	s.names = b.data;
	s.len = b.len;
	return s;
}

static char *write_temporary(const struct ws_buf *b)
{
	char *path = ws_strdup("/tmp/warpsafe-stub-XXXXXX");
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, b->data, b->len), b->len);
	close(fd);
	return path;
}

static uint16_t own_machine(void)
{
#ifdef __aarch64__
	return EM_AARCH64;
#else
	return EM_X86_64;
#endif
}

/* ---- tests ---- */
static void find_dynamic(Elf *e, const char *needed)
{
	Elf_Scn *s = NULL;
	bool has_needed = false, has_name = false;

	while ((s = elf_nextscn(e, s))) {
		GElf_Shdr h;
		GElf_Dyn d;

		assert_non_null(gelf_getshdr(s, &h));
		for (int i = 0; h.sh_type == SHT_DYNAMIC && gelf_getdyn(elf_getdata(s, NULL), i, &d) && d.d_tag; i++) {
			const char *text = elf_strptr(e, h.sh_link, d.d_un.d_val);

			has_needed |= d.d_tag == DT_NEEDED && strcmp(text, needed) == 0;
			has_name |= d.d_tag == DT_SONAME && strcmp(text, "libcuda.so.1") == 0;
		}
	}
	assert_true(has_needed);
	assert_true(has_name);
}

static void read_back(void **state)
{
	struct ws_stub_names s = some(707, EM_X86_64);
	struct ws_buf b = { 0 };
	const char *why = NULL;
	Elf_Scn *scn = NULL;
	GElf_Phdr p;
	size_t seen = 0, n;
	bool stack = false;
	Elf *e;

	assert_true(ws_stub_make(&s, "/somewhere/libwarpsafe-real.so", &b, &why));
	elf_version(EV_CURRENT);
	e = elf_memory(b.data, b.len);
	assert_non_null(e);
	while ((scn = elf_nextscn(e, scn))) {
		GElf_Shdr h;
		GElf_Sym sym;

		assert_non_null(gelf_getshdr(scn, &h));
		for (int i = 0; h.sh_type == SHT_DYNSYM && gelf_getsym(elf_getdata(scn, NULL), i, &sym); i++)
			if (sym.st_shndx != SHN_UNDEF && GELF_ST_TYPE(sym.st_info) == STT_FUNC) {
				char want[32];

				snprintf(want, sizeof want, "cuFunction%zu", seen++);
				assert_string_equal(elf_strptr(e, h.sh_link, sym.st_name), want);
			}
	}
	assert_int_equal(seen, 707);
	find_dynamic(e, "/somewhere/libwarpsafe-real.so");
	assert_int_equal(elf_getphdrnum(e, &n), 0);
	for (size_t i = 0; i < n; i++) {
		assert_non_null(gelf_getphdr(e, (int)i, &p));
		assert_false((p.p_flags & PF_W) && (p.p_flags & PF_X));
		stack |= p.p_type == PT_GNU_STACK;
	}
	assert_true(stack);
	elf_end(e);
	ws_buf_free(&b);
	ws_stub_names_free(&s);
}

static void loaded(void **state)
{
	static const size_t counts[] = { 1, 2, 707, 5000 };

	for (size_t c = 0; c < WS_COUNT(counts); c++) {
		struct ws_stub_names s = some(counts[c], own_machine());
		struct ws_buf b = { 0 };
		const char *why = NULL;
		void *library;
		char *path;

		the_table = NULL;
		assert_true(ws_stub_make(&s, "libc.so.6", &b, &why));
		path = write_temporary(&b);
		library = dlopen(path, RTLD_NOW);
		if (!library)
			fail_msg("%s", dlerror());
		assert_int_equal(the_n, counts[c]);
		assert_memory_equal(the_names, s.names, s.len);
		for (size_t i = 0; i < counts[c]; i++) {
			char name[32];
			int (*f)(int);
			void *at;

			snprintf(name, sizeof name, "cuFunction%zu", i);
			at = dlsym(library, name);
			assert_non_null(at);
			memcpy(&f, &at, sizeof f);
			assert_int_equal(f(14), i % 2 ? 42 : 15);
		}
		assert_null(dlsym(library, "cuFunction"));
		unlink(path);
		free(path);
		ws_buf_free(&b);
		ws_stub_names_free(&s);
	}
}

/* The address that adrp x16 and ldr x16 at `at` of the file lead to (Arm ARM C6.2). */
static uint64_t arm_target(const char *data, uint64_t at)
{
	uint32_t adrp, ldr;
	int64_t pages;

	memcpy(&adrp, data + at, 4);
	memcpy(&ldr, data + at + 4, 4);
	assert_int_equal(adrp & 0x9f00001f, 0x90000010);
	assert_int_equal(ldr & 0xffc003ff, 0xf9400210);
	pages = (int64_t)((uint64_t)((adrp >> 5 & 0x7ffff) << 2 | (adrp >> 29 & 3)) << 43) >> 43;
	return (uint64_t)((int64_t)(at >> 12) + pages) * 4096 + (ldr >> 10 & 0xfff) * 8;
}

static void arm(void **state)
{
	struct ws_stub_names s = some(600, EM_AARCH64);
	struct ws_buf b = { 0 };
	const char *why = NULL;
	const Elf64_Ehdr *h;
	const Elf64_Phdr *p;
	uint64_t table;

	assert_true(ws_stub_make(&s, "libc.so.6", &b, &why));
	h = (const Elf64_Ehdr *)b.data;
	assert_int_equal(h->e_machine, EM_AARCH64);
	p = (const Elf64_Phdr *)(b.data + h->e_phoff);
	assert_int_equal(p[1].p_flags, PF_R | PF_X);
	table = p[2].p_offset + p[2].p_filesz - 600 * 8;
	for (uint64_t i = 0; i < 600; i++)
		assert_int_equal(arm_target(b.data, p[1].p_offset + 64 + i * 16 + 4), table + i * 8);
	s.machine = EM_RISCV;
	assert_false(ws_stub_make(&s, "libc.so.6", &b, &why));
	ws_buf_free(&b);
	ws_stub_names_free(&s);
}

static bool reads(const struct ws_buf *b, struct ws_stub_names *out)
{
	const char *why = NULL;
	char *path = write_temporary(b);
	bool fine = ws_stub_read(path, out, &why);

	assert_true(fine || (why && *why));
	unlink(path);
	free(path);
	return fine;
}

/* A stub is itself a library that can be read; cut off anywhere, or with any byte of its headers changed, reading it
 * ends with a reason or with names that are whole. */
static void damaged(void **state)
{
	struct ws_stub_names s = some(20, own_machine()), got;
	struct ws_buf b = { 0 }, cut = { 0 };
	const char *why = NULL;
	const Elf64_Ehdr *h;

	assert_true(ws_stub_make(&s, "libc.so.6", &b, &why));
	assert_true(reads(&b, &got));
	assert_int_equal(got.n, 20);
	assert_int_equal(got.machine, own_machine());
	assert_memory_equal(got.names, s.names, s.len);
	ws_stub_names_free(&got);
	h = (const Elf64_Ehdr *)b.data;
	for (size_t len = 1; len < b.len; len += len < 1000 || len > b.len - 700 ? 7 : 5000) {
		cut.len = 0;
		ws_buf_add(&cut, b.data, len);
		assert_false(reads(&cut, &got));
	}
	for (size_t i = 0; i < 64 + 9 * 64; i++) {
		size_t at = i < 64 ? i : h->e_shoff + i - 64;

		if (at >= b.len)
			break;
		cut.len = 0;
		ws_buf_add(&cut, b.data, b.len);
		cut.data[at] ^= 0x7f;
		if (reads(&cut, &got)) {
			assert_true(got.n > 0 && got.names[got.len - 1] == 0);
			ws_stub_names_free(&got);
		}
	}
	assert_false(ws_stub_read("/dev/null", &got, &why));
	assert_false(ws_stub_read("/nothing/here", &got, &why));
	ws_buf_free(&cut);
	ws_buf_free(&b);
	ws_stub_names_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(read_back), cmocka_unit_test(loaded), cmocka_unit_test(arm), cmocka_unit_test(damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

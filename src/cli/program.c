/* program.c - looks at a program before it is started, so that what cannot work is said in one line with its remedy.
 * Reads the ELF file (System V ABI, gABI 4.1, "Object Files"); nothing in it is trusted. */
#include "cli/cli.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct elf {
	const char *data;
	size_t len;
	const Elf64_Ehdr *head;
};

/* n bytes at offset `at`, NULL if the file does not have them. */
static const void *part(const struct elf *e, uint64_t at, uint64_t n)
{
	return at <= e->len && n <= e->len - at && at % 8 == 0 ? e->data + at : NULL;
}

static const Elf64_Phdr *find_segment(const struct elf *e, uint32_t type)
{
	const Elf64_Phdr *p = part(e, e->head->e_phoff, (uint64_t)e->head->e_phnum * sizeof *p);

	for (unsigned i = 0; p && i < e->head->e_phnum; i++)
		if (p[i].p_type == type)
			return &p[i];
	return NULL;
}

/* Every part that will be loaded is in the file. */
static bool is_whole(const struct elf *e)
{
	const Elf64_Phdr *p = part(e, e->head->e_phoff, (uint64_t)e->head->e_phnum * sizeof *p);

	for (unsigned i = 0; p && i < e->head->e_phnum; i++)
		if (p[i].p_type == PT_LOAD && (p[i].p_offset > e->len || p[i].p_filesz > e->len - p[i].p_offset))
			return false;
	return p != NULL;
}

static const Elf64_Shdr *sections(const struct elf *e)
{
	if (e->head->e_shentsize != sizeof(Elf64_Shdr))
		return NULL;
	return part(e, e->head->e_shoff, (uint64_t)e->head->e_shnum * sizeof(Elf64_Shdr));
}

/* The NUL-terminated string at `at` of string section `index`; "" if there is none. */
static const char *string_at(const struct elf *e, uint32_t index, uint64_t at)
{
	const Elf64_Shdr *s = sections(e);
	uint64_t start, size;

	if (!s || index >= e->head->e_shnum)
		return "";
	start = s[index].sh_offset;
	size = s[index].sh_size;
	if (start > e->len || size > e->len - start || at >= size || !memchr(e->data + start + at, 0, size - at))
		return "";
	return e->data + start + at;
}

static const Elf64_Shdr *find_section(const struct elf *e, const char *name, uint32_t type)
{
	const Elf64_Shdr *s = sections(e);

	for (unsigned i = 0; s && i < e->head->e_shnum; i++)
		if (type ? s[i].sh_type == type : strcmp(string_at(e, e->head->e_shstrndx, s[i].sh_name), name) == 0)
			return &s[i];
	return NULL;
}

static bool imports(const struct elf *e, const char *name)
{
	const Elf64_Shdr *s = find_section(e, NULL, SHT_DYNSYM);
	const Elf64_Sym *sym = s ? part(e, s->sh_offset, s->sh_size) : NULL;

	for (uint64_t i = 0; sym && i < s->sh_size / sizeof *sym; i++)
		if (strcmp(string_at(e, s->sh_link, sym[i].st_name), name) == 0)
			return true;
	return false;
}

/* A program with kernels whose runtime is inside it cannot be caught when its symbols are gone. */
static bool stripped_runtime(const struct elf *e)
{
	return find_section(e, ".nv_fatbin", 0) && !find_section(e, NULL, SHT_SYMTAB) &&
	       !imports(e, "__cudaRegisterFatBinary");
}

static const char *check_elf(const char *path, const struct elf *e, bool real, struct ws_buf *text)
{
	if (e->head->e_ident[EI_CLASS] != ELFCLASS64 || e->head->e_ident[EI_DATA] != ELFDATA2LSB ||
	    (e->head->e_type != ET_EXEC && e->head->e_type != ET_DYN)) {
		ws_buf_printf(text, "'%s' is not a 64-bit program of this machine; build it for this machine", path);
		return text->data;
	}
	if (!is_whole(e)) {
		ws_buf_printf(text, "'%s' is cut off or damaged; build it again", path);
		return text->data;
	}
	if (!find_segment(e, PT_INTERP)) {
		ws_buf_printf(text, "'%s' is linked statically, so nothing can stand in for its CUDA runtime; link it "
		              "without -static", path);
		return text->data;
	}
	if (!real && stripped_runtime(e)) {
		ws_buf_printf(text, "'%s' holds the static CUDA runtime without its symbol table; link it without -s and "
		              "do not strip it, or build it with -cudart shared", path);
		return text->data;
	}
	return NULL;
}

static const char *check_content(const char *path, bool real, struct ws_buf *text)
{
	struct elf e = { 0 };
	char *data = ws_read_file(path, &e.len);
	const char *why = NULL;

	if (!data) {
		ws_buf_printf(text, "cannot read '%s': %s", path, strerror(errno));
		return text->data;
	}
	e.data = data;
	e.head = (const Elf64_Ehdr *)data;
	if (e.len >= sizeof *e.head && memcmp(data, ELFMAG, SELFMAG) == 0) {
		why = check_elf(path, &e, real, text);
	} else if (strncmp(data, "#!", 2) != 0) {        /* a script is fine: what it starts is checked */
		ws_buf_printf(text, "'%s' is not a program (no ELF file); give the program, built by nvcc, clang or "
		              "'warpsafe cc'", path);
		why = text->data;
	}
	free(data);
	return why;
}

/* The path of a name without '/', as the shell finds it. NULL if it is in no folder of PATH. The caller frees it. */
static char *search_path(const char *name)
{
	const char *dir = getenv("PATH");

	while (dir && *dir) {
		size_t n = strcspn(dir, ":");
		struct ws_buf b = { 0 };

		ws_buf_printf(&b, "%.*s/%s", n ? (int)n : 1, n ? dir : ".", name);
		if (access(b.data, X_OK) == 0)
			return b.data;
		ws_buf_free(&b);
		dir += n + (dir[n] == ':');
	}
	return NULL;
}

static const char *check_file(const char *path, bool real, struct ws_buf *text)
{
	struct stat st;

	if (stat(path, &st)) {
		ws_buf_printf(text, "cannot run '%s': %s", path, strerror(errno));
	} else if (S_ISDIR(st.st_mode)) {
		ws_buf_printf(text, "'%s' is a folder; give the program in it", path);
	} else if (!S_ISREG(st.st_mode)) {
		ws_buf_printf(text, "'%s' is not a file; give a program", path);
	} else if (access(path, X_OK)) {
		const char *dot = strrchr(path, '.');

		if (dot && strcmp(dot, ".cu") == 0)
			ws_buf_printf(text, "'%s' is source text; compile it first: warpsafe cc %s -o app", path, path);
		else
			ws_buf_printf(text, "'%s' is not executable; if it is the program: chmod +x %s", path, path);
	} else if (st.st_mode & (S_ISUID | S_ISGID)) {
		ws_buf_printf(text, "'%s' changes its user when it runs (set-user-ID), so nothing can be put into it; "
		              "use a copy without that bit", path);
	} else {
		return check_content(path, real, text);
	}
	return text->data;
}

const char *ws_cli_check_program(const char *path, bool real, struct ws_buf *text)
{
	const char *why;
	char *found;

	if (strchr(path, '/'))
		return check_file(path, real, text);
	found = search_path(path);
	if (found) {
		why = check_file(found, real, text);
		free(found);
		return why;
	}
	ws_buf_printf(text, access(path, F_OK) == 0 ? "'%s' is in no folder of PATH; for the one here say ./%s"
	                                            : "there is no program '%s%.0s'", path, path);
	return text->data;
}

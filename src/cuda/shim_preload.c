/* shim_preload.c - libwarpsafe-preload.so: catches programs that have the CUDA runtime linked in, nvcc's default.
 *
 * The constructor below runs before any initializer of the program (the library is marked INITFIRST). It looks for the
 * runtime's entry points in the symbol tables of the program and of its libraries and overwrites the first five bytes
 * of each with a jump to a trampoline near it, which goes on to our implementation. Programs without such entry points
 * are left alone. Only system calls and plain code are used here: other libraries are not initialized yet. */
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cuda/tables.h"

enum { JUMP_BYTES = 5, TRAMPOLINE_BYTES = 16, MAX_TRAMPOLINES = 1024, STEP = 1 << 20 };

#ifdef __x86_64__ /* the instructions written below are x86-64's */
#define CAN_PATCH 1
#else
#define CAN_PATCH 0
#endif

struct object { /* an ELF file and where it is loaded */
	const char *path;
	bool library;
	uintptr_t base, low, high; /* low..high: its bytes in memory */
	const uint8_t *file;
	size_t size;
};

struct table {
	const ElfW(Sym) * symbols;
	size_t n;
	const char *strings;
	size_t nstrings;
};

struct patch {
	const struct object *o;
	bool before13;
	uint8_t *trampolines;
	size_t n, failed;
};

/* ---- the file ---- */
static bool open_object(struct object *o)
{
	int fd = open(o->path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *p = MAP_FAILED;

	if (fd < 0)
		return false;
	if (fstat(fd, &st) == 0 && st.st_size > (off_t)sizeof(ElfW(Ehdr)))
		p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (p == MAP_FAILED)
		return false;
	o->file = p;
	o->size = (size_t)st.st_size;
	return memcmp(o->file, ELFMAG, SELFMAG) == 0;
}

static bool inside(const struct object *o, uint64_t at, uint64_t bytes)
{
	return at <= o->size && bytes <= o->size - at;
}

static const ElfW(Shdr) * sections(const struct object *o, size_t *n)
{
	const ElfW(Ehdr) *h = (const void *)o->file;

	*n = 0;
	if (h->e_shentsize != sizeof(ElfW(Shdr)) || !inside(o, h->e_shoff, (uint64_t)h->e_shnum * sizeof(ElfW(Shdr))))
		return NULL;
	*n = h->e_shnum;
	return (const void *)(o->file + h->e_shoff);
}

static bool find_table(const struct object *o, unsigned type, struct table *t)
{
	const ElfW(Shdr) * s;
	size_t n, i;

	s = sections(o, &n);
	for (i = 0; i < n; i++) {
		const ElfW(Shdr) * str;

		if (s[i].sh_type != type || s[i].sh_link >= n || s[i].sh_entsize != sizeof(ElfW(Sym)))
			continue;
		str = &s[s[i].sh_link];
		if (!inside(o, s[i].sh_offset, s[i].sh_size) || !inside(o, str->sh_offset, str->sh_size) ||
		    !str->sh_size)
			continue;
		*t = (struct table){(const void *)(o->file + s[i].sh_offset), s[i].sh_size / sizeof(ElfW(Sym)),
				    (const char *)o->file + str->sh_offset, str->sh_size};
		return t->strings[t->nstrings - 1] == '\0';
	}
	return false;
}

/* A program for CUDA has its fat binaries in a section of one of these names. */
static bool has_fatbin(const struct object *o)
{
	const ElfW(Ehdr) *h = (const void *)o->file;
	const ElfW(Shdr) * s, *str;
	size_t n, i;

	s = sections(o, &n);
	if (!s || h->e_shstrndx >= n)
		return false;
	str = &s[h->e_shstrndx];
	if (!inside(o, str->sh_offset, str->sh_size) || !str->sh_size || o->file[str->sh_offset + str->sh_size - 1])
		return false;
	for (i = 0; i < n; i++)
		if (s[i].sh_name < str->sh_size &&
		    strcmp((const char *)o->file + str->sh_offset + s[i].sh_name, ".nvFatBinSegment") == 0)
			return true;
	return false;
}

static const char *name_of(const struct table *t, const ElfW(Sym) * s)
{
	return s->st_name < t->nstrings ? t->strings + s->st_name : "";
}

static bool mentions(const struct table *t, const char *name, bool defined)
{
	size_t i;

	for (i = 0; i < t->n; i++)
		if ((t->symbols[i].st_shndx != SHN_UNDEF) == defined && strcmp(name_of(t, &t->symbols[i]), name) == 0)
			return true;
	return false;
}

/* ---- redirection ---- */
/* Memory for trampolines that a 32-bit jump reaches from anywhere in the object. */
static uint8_t *near_memory(const struct object *o, size_t size)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), low = o->low & ~(page - 1),
		  high = (o->high + page - 1) & ~(page - 1);
	uintptr_t reach = ((uintptr_t)1 << 31) - (high - low) - size - STEP, d;
	void *p;

	for (d = page; d < reach; d += STEP) {
		if (low > d + size) {
			p = mmap((void *)(low - d - size), size, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
			if (p != MAP_FAILED)
				return p;
		}
		p = mmap((void *)(high + d), size, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
		if (p != MAP_FAILED)
			return p;
	}
	return NULL;
}

/* jmp *[rip + 0]; the target follows. */
static uint8_t *make_trampoline(struct patch *p, void (*target)(void))
{
	static const uint8_t jump[] = {0xff, 0x25, 0, 0, 0, 0};
	uint8_t *t = p->trampolines + p->n++ * TRAMPOLINE_BYTES;

	memcpy(t, jump, sizeof jump);
	memcpy(t + sizeof jump, &target, sizeof target);
	return t;
}

static bool write_jump(uint8_t *entry, const uint8_t *target)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), start = (uintptr_t)entry & ~(page - 1);
	size_t size = ((uintptr_t)entry + JUMP_BYTES - start + page - 1) & ~(page - 1);
	int32_t distance = (int32_t)(target - (entry + JUMP_BYTES));

	if (mprotect((void *)start, size, PROT_READ | PROT_WRITE) != 0)
		return false;
	entry[0] = 0xe9;
	memcpy(entry + 1, &distance, sizeof distance);
	return mprotect((void *)start, size, PROT_READ | PROT_EXEC) == 0;
}

static void redirect(struct patch *p, const char *name, const ElfW(Sym) * s)
{
	uintptr_t at = p->o->base + s->st_value;
	void (*target)(void);

	if ((s->st_info & 0xf) != STT_FUNC || s->st_shndx == SHN_UNDEF ||
	    strncmp(name[0] == '_' ? name + 2 : name, "cuda", 4))
		return;
	target = ws_rt_find(name, p->before13);
	if (!target || at < p->o->low || at + JUMP_BYTES > p->o->high)
		return;
	if (s->st_size < JUMP_BYTES)
		return; /* a few that only return a constant */
	if (p->n == MAX_TRAMPOLINES || !write_jump((uint8_t *)at, make_trampoline(p, target)))
		p->failed++;
}

static void redirect_all(const struct object *o, const struct table *t)
{
	struct patch p = {.o = o, .before13 = mentions(t, "cudaThreadSynchronize", true)};
	size_t i, size = MAX_TRAMPOLINES * TRAMPOLINE_BYTES;

	p.trampolines = CAN_PATCH ? near_memory(o, size) : NULL;
	for (i = 0; p.trampolines && i < t->n; i++)
		redirect(&p, name_of(t, &t->symbols[i]), &t->symbols[i]);
	if (!p.trampolines || p.failed || mprotect(p.trampolines, size, PROT_READ | PROT_EXEC) != 0) {
		dprintf(STDERR_FILENO,
			"warpsafe: error: cannot redirect the CUDA runtime inside '%s' (%zu entry points could not be "
			"changed); link it with -cudart shared\n",
			o->path, p.failed);
		_exit(2);
	}
}

/* ---- all objects of the process ---- */
static bool is_ours(const char *path)
{
	const char *base = strrchr(path, '/');

	base = base ? base + 1 : path;
	return strncmp(base, "libwarpsafe", 11) == 0 || strncmp(base, "ld-linux", 8) == 0 ||
	       strncmp(base, "libc.so", 7) == 0;
}

/* A program can be linked again; a library (such as those of the CUDA toolkit) may never be called. */
static void tell_stripped(const struct object *o)
{
	if (!o->library) {
		dprintf(STDERR_FILENO,
			"warpsafe: error: '%s' has the CUDA runtime linked in and is stripped, so that its entry "
			"points cannot "
			"be found; link it with -cudart shared, or do not strip it\n",
			o->path);
		_exit(2);
	}
	dprintf(STDERR_FILENO,
		"warpsafe: the library '%s' has the CUDA runtime linked in and is stripped; what it does on the GPU "
		"cannot be "
		"caught and fails\n",
		o->path);
}

static void look_at(struct object *o)
{
	struct table symbols = {0}, dynamic = {0};
	bool has_symbols, has_dynamic;

	if (!open_object(o))
		return;
	has_symbols = find_table(o, SHT_SYMTAB, &symbols);
	has_dynamic = find_table(o, SHT_DYNSYM, &dynamic);
	if (has_dynamic && mentions(&dynamic, "ws_stand_in", true)) {
		/* our own libcudart.so.N */
	} else if (has_symbols && mentions(&symbols, "__cudaRegisterFatBinary", true)) {
		redirect_all(o, &symbols);
	} else if (has_dynamic && mentions(&dynamic, "__cudaRegisterFatBinary", true)) {
		redirect_all(o, &dynamic); /* a shared runtime that is not ours */
	} else if (has_fatbin(o) && !(has_dynamic && mentions(&dynamic, "__cudaRegisterFatBinary", false))) {
		tell_stripped(o);
	}
	munmap((void *)(uintptr_t)o->file, o->size);
}

static int visit(struct dl_phdr_info *info, size_t size, void *arg)
{
	bool main_program = !info->dlpi_name || !*info->dlpi_name;
	struct object o = {.path = main_program ? "/proc/self/exe" : info->dlpi_name,
			   .library = !main_program,
			   .base = info->dlpi_addr,
			   .low = UINTPTR_MAX};
	char exe[4096];
	ssize_t n;
	int i;

	(*(int *)arg)++;
	if ((main_program && *(int *)arg > 1) || strcmp(o.path, "linux-vdso.so.1") == 0)
		return 0;
	if (is_ours(o.path))
		return 0;
	n = main_program ? readlink(o.path, exe, sizeof exe - 1) : 0;
	if (n > 0) { /* the name that people know; the link above stays right if it is gone */
		exe[n] = '\0';
		o.path = access(exe, R_OK) == 0 ? exe : o.path;
	}
	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + p->p_vaddr;

		if (p->p_type != PT_LOAD)
			continue;
		o.low = start < o.low ? start : o.low;
		o.high = start + p->p_memsz > o.high ? start + p->p_memsz : o.high;
	}
	look_at(&o);
	return 0;
}

__attribute__((constructor)) static void catch_program(void)
{
	int objects = 0;

	dl_iterate_phdr(visit, &objects);
}

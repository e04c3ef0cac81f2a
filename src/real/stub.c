/* stub.c - the library before the driver; see stub.h. ELF: System V gABI 4.1, chapters 4 and 5, with the processor
 * supplements for x86-64 and AArch64. */
#include "real/stub.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	MOST_NAMES = 1 << 16,        /* a driver has about 700; a damaged file must not cost memory */
	SEGMENT = 0x10000,           /* the largest page of any AArch64 system, so a segment never shares a page */
	ENTRY = 16,                  /* bytes of code of one function */
	INIT = 64,                   /* bytes kept for the function that runs at loading */
};

/* ---- reading the driver ---- */
struct file {
	const uint8_t *data;
	size_t len;
};

/* n bytes at offset `at`, NULL if the file does not have them or they are not aligned as their type wants. */
static const void *part(const struct file *f, uint64_t at, uint64_t n)
{
	return at <= f->len && n <= f->len - at && at % 8 == 0 ? f->data + at : NULL;
}

static const Elf64_Shdr *dynamic_symbols(const struct file *f, const Elf64_Ehdr *e, const Elf64_Shdr **all)
{
	const Elf64_Shdr *s = part(f, e->e_shoff, (uint64_t)e->e_shnum * sizeof *s);

	*all = s;
	for (unsigned i = 0; s && e->e_shentsize == sizeof *s && i < e->e_shnum; i++)
		if (s[i].sh_type == SHT_DYNSYM && s[i].sh_link < e->e_shnum)
			return &s[i];
	return NULL;
}

static bool is_exported_function(const Elf64_Sym *s)
{
	unsigned bind = ELF64_ST_BIND(s->st_info), type = ELF64_ST_TYPE(s->st_info), seen = ELF64_ST_VISIBILITY(s->st_other);

	return s->st_shndx != SHN_UNDEF && (bind == STB_GLOBAL || bind == STB_WEAK || bind == STB_GNU_UNIQUE) &&
	       (type == STT_FUNC || type == STT_GNU_IFUNC) && (seen == STV_DEFAULT || seen == STV_PROTECTED);
}

static bool add_names(const struct file *f, const Elf64_Shdr *symbols, const Elf64_Shdr *strings, struct ws_stub_names *out,
                      const char **why)
{
	const Elf64_Sym *s = part(f, symbols->sh_offset, symbols->sh_size);
	bool fine = strings->sh_offset <= f->len && strings->sh_size <= f->len - strings->sh_offset;
	struct ws_buf names = { 0 };

	if (!s || !fine)
		return *why = "its table of symbols is cut off", false;
	for (uint64_t i = 0; i < symbols->sh_size / sizeof *s; i++) {
		const char *name = (const char *)f->data + strings->sh_offset + s[i].st_name;
		size_t left = s[i].st_name < strings->sh_size ? strings->sh_size - s[i].st_name : 0;

		if (!is_exported_function(&s[i]) || !left || !*name || !memchr(name, 0, left))
			continue;
		ws_buf_add(&names, name, strlen(name) + 1);
		out->n++;
		if (out->n > MOST_NAMES)
			break;
	}
	out->names = names.data;
	out->len = names.len;
	if (!out->n || out->n > MOST_NAMES)
		return *why = out->n ? "it exports more functions than any driver" : "it exports no function", false;
	return true;
}

static bool parse(const struct file *f, struct ws_stub_names *out, const char **why)
{
	const Elf64_Ehdr *e = part(f, 0, sizeof *e);
	const Elf64_Shdr *symbols, *all;

	if (!e || memcmp(e->e_ident, ELFMAG, SELFMAG) != 0 || e->e_ident[EI_CLASS] != ELFCLASS64 ||
	    e->e_ident[EI_DATA] != ELFDATA2LSB || e->e_type != ET_DYN)
		return *why = "it is not a 64-bit shared library", false;
	out->machine = e->e_machine;
	symbols = dynamic_symbols(f, e, &all);
	if (!symbols)
		return *why = "it has no table of dynamic symbols", false;
	return add_names(f, symbols, &all[symbols->sh_link], out, why);
}

bool ws_stub_parse(const void *data, size_t len, struct ws_stub_names *out, const char **why)
{
	struct file f = { data, len };
	bool fine;

	*out = (struct ws_stub_names){ 0 };
	fine = parse(&f, out, why);
	if (!fine)
		ws_stub_names_free(out);
	return fine;
}

bool ws_stub_read(const char *path, struct ws_stub_names *out, const char **why)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *data;
	bool fine;

	*out = (struct ws_stub_names){ 0 };
	if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size == 0) {
		*why = fd < 0 ? strerror(errno) : "it is not a file with content";
		if (fd >= 0)
			close(fd);
		return false;
	}
	data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (data == MAP_FAILED)
		return *why = strerror(errno), false;
	fine = ws_stub_parse(data, (size_t)st.st_size, out, why);
	munmap(data, (size_t)st.st_size);
	return fine;
}

void ws_stub_names_free(struct ws_stub_names *s)
{
	free(s->names);
	*s = (struct ws_stub_names){ 0 };
}

/* ---- layout ----
 * Offsets in the file are also addresses. Three loaded segments:
 *   read    headers, .hash, .dynsym, .dynstr, .rela.dyn
 *   run     .text: the function for loading, then an entry for each name
 *   write   .dynamic, the address of ws_real_bind, the table
 * and behind them the section headers, for tools. */
enum { NEEDED_SYMBOL = 1, FIRST_SYMBOL = 2 };       /* 0 is the null symbol */
enum { S_NULL, S_HASH, S_DYNSYM, S_DYNSTR, S_RELA, S_TEXT, S_DYNAMIC, S_TABLE, S_NAMES, S_COUNT };
enum { SEGMENTS = 5, DYNAMICS = 15 };

static const char section_names[] = "\0.hash\0.dynsym\0.dynstr\0.rela.dyn\0.text\0.dynamic\0.bss.rel\0.shstrtab";
static const char soname[] = "libcuda.so.1", bind_name[] = "ws_real_bind";

struct layout {
	const struct ws_stub_names *s;
	const char *needed;
	size_t n;
	uint32_t buckets;
	uint64_t hash, dynsym, dynstr, dynstr_len, names, rela, read_end;
	uint64_t text, run_end, dynamic, bind, table, write_end, section_text, sections;
};

static uint64_t up(uint64_t v, uint64_t to)
{
	return (v + to - 1) / to * to;
}

static void plan(struct layout *l)
{
	l->buckets = (uint32_t)(l->n / 2 + 1);
	l->hash = sizeof(Elf64_Ehdr) + SEGMENTS * sizeof(Elf64_Phdr);
	l->dynsym = up(l->hash + (2 + l->buckets + l->n + FIRST_SYMBOL) * sizeof(uint32_t), 8);
	l->dynstr = l->dynsym + (l->n + FIRST_SYMBOL) * sizeof(Elf64_Sym);
	l->names = l->dynstr + 1 + sizeof soname + sizeof bind_name + strlen(l->needed) + 1;
	l->dynstr_len = l->names + l->s->len - l->dynstr;
	l->rela = up(l->dynstr + l->dynstr_len, 8);
	l->read_end = l->rela + sizeof(Elf64_Rela);
	l->text = up(l->read_end, SEGMENT);
	l->run_end = l->text + INIT + l->n * ENTRY;
	l->dynamic = up(l->run_end, SEGMENT);
	l->bind = l->dynamic + DYNAMICS * sizeof(Elf64_Dyn);
	l->table = l->bind + sizeof(uint64_t);
	l->write_end = l->table + l->n * sizeof(uint64_t);
	l->section_text = l->write_end;
	l->sections = up(l->section_text + sizeof section_names, 8);
}

/* ---- writing ---- */
/* Everything is written in the order of the layout, so padding is all that leads from one part to the next. */
static void pad_to(struct ws_buf *b, size_t base, uint64_t at)
{
	static const char zeros[256];

	while (b->len - base < at) {
		size_t left = at - (b->len - base);

		ws_buf_add(b, zeros, left < sizeof zeros ? left : sizeof zeros);
	}
}

static void add_headers(const struct layout *l, struct ws_buf *b)
{
	Elf64_Ehdr e = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		         .e_type = ET_DYN, .e_machine = l->s->machine, .e_version = EV_CURRENT, .e_phoff = sizeof e,
		         .e_shoff = l->sections, .e_ehsize = sizeof e, .e_phentsize = sizeof(Elf64_Phdr),
		         .e_phnum = SEGMENTS, .e_shentsize = sizeof(Elf64_Shdr), .e_shnum = S_COUNT,
		         .e_shstrndx = S_NAMES };
	struct { uint32_t type, flags; uint64_t from, to, align; } p[SEGMENTS] = {
		{ PT_LOAD, PF_R, 0, l->read_end, SEGMENT },
		{ PT_LOAD, PF_R | PF_X, l->text, l->run_end, SEGMENT },
		{ PT_LOAD, PF_R | PF_W, l->dynamic, l->write_end, SEGMENT },
		{ PT_DYNAMIC, PF_R | PF_W, l->dynamic, l->bind, 8 },
		{ PT_GNU_STACK, PF_R | PF_W, 0, 0, 16 },     /* not executable */
	};

	ws_buf_add(b, &e, sizeof e);
	for (size_t i = 0; i < SEGMENTS; i++) {
		Elf64_Phdr h = { .p_type = p[i].type, .p_flags = p[i].flags, .p_offset = p[i].from, .p_vaddr = p[i].from,
			         .p_paddr = p[i].from, .p_filesz = p[i].to - p[i].from, .p_memsz = p[i].to - p[i].from,
			         .p_align = p[i].align };

		ws_buf_add(b, &h, sizeof h);
	}
}

/* The hash function of gABI 4.1, chapter 5, "Hash Table". */
static uint32_t elf_hash(const char *s)
{
	uint32_t h = 0;

	for (; *s; s++) {
		uint32_t g;

		h = (h << 4) + (uint8_t)*s;
		g = h & 0xf0000000u;
		h = (h ^ g >> 24) & ~g;
	}
	return h;
}

static void add_hash(const struct layout *l, struct ws_buf *b)
{
	uint32_t *t = ws_alloc((2 + l->buckets + l->n + FIRST_SYMBOL) * sizeof *t), *bucket = t + 2;
	uint32_t *chain = bucket + l->buckets;
	const char *name = l->s->names;

	t[0] = l->buckets;
	t[1] = (uint32_t)(l->n + FIRST_SYMBOL);
	for (uint32_t i = FIRST_SYMBOL; i < l->n + FIRST_SYMBOL; i++, name += strlen(name) + 1) {
		uint32_t *first = &bucket[elf_hash(name) % l->buckets];

		chain[i] = *first;
		*first = i;
	}
	ws_buf_add(b, t, (2 + l->buckets + l->n + FIRST_SYMBOL) * sizeof *t);
	free(t);
}

static void add_symbols(const struct layout *l, struct ws_buf *b)
{
	Elf64_Sym none = { 0 };
	Elf64_Sym needed = { .st_name = 1 + sizeof soname, .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC) };
	uint64_t name = l->names - l->dynstr;

	ws_buf_add(b, &none, sizeof none);
	ws_buf_add(b, &needed, sizeof needed);
	for (size_t i = 0; i < l->n; i++) {
		Elf64_Sym s = { .st_name = (uint32_t)name, .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
			        .st_shndx = S_TEXT, .st_value = l->text + INIT + i * ENTRY, .st_size = ENTRY };

		ws_buf_add(b, &s, sizeof s);
		name += strlen(l->s->names + (name - (l->names - l->dynstr))) + 1;
	}
}

static void add_strings(const struct layout *l, struct ws_buf *b)
{
	ws_buf_add(b, "", 1);
	ws_buf_add(b, soname, sizeof soname);
	ws_buf_add(b, bind_name, sizeof bind_name);
	ws_buf_add(b, l->needed, strlen(l->needed) + 1);
	ws_buf_add(b, l->s->names, l->s->len);
}

static void add_dynamic(const struct layout *l, struct ws_buf *b)
{
	Elf64_Dyn d[DYNAMICS] = {
		{ DT_NEEDED, { 1 + sizeof soname + sizeof bind_name } },
		{ DT_SONAME, { 1 } },
		{ DT_INIT, { l->text } },
		{ DT_HASH, { l->hash } },
		{ DT_STRTAB, { l->dynstr } },
		{ DT_SYMTAB, { l->dynsym } },
		{ DT_STRSZ, { l->dynstr_len } },
		{ DT_SYMENT, { sizeof(Elf64_Sym) } },
		{ DT_RELA, { l->rela } },
		{ DT_RELASZ, { sizeof(Elf64_Rela) } },
		{ DT_RELAENT, { sizeof(Elf64_Rela) } },
		{ DT_FLAGS, { DF_BIND_NOW } },
		{ DT_FLAGS_1, { DF_1_NOW | DF_1_NODELETE } },       /* the driver itself stays, too */
		{ DT_NULL, { 0 } },
	};

	ws_buf_add(b, d, sizeof d);
}

static void add_sections(const struct layout *l, struct ws_buf *b)
{
	struct { const char *name; uint32_t type, flags; uint64_t from, to; uint32_t link, info, entry; } s[S_COUNT] = {
		[S_HASH] = { ".hash", SHT_HASH, SHF_ALLOC, l->hash, l->dynsym, S_DYNSYM, 0, 4 },
		[S_DYNSYM] = { ".dynsym", SHT_DYNSYM, SHF_ALLOC, l->dynsym, l->dynstr, S_DYNSTR, 1, sizeof(Elf64_Sym) },
		[S_DYNSTR] = { ".dynstr", SHT_STRTAB, SHF_ALLOC, l->dynstr, l->dynstr + l->dynstr_len, 0, 0, 0 },
		[S_RELA] = { ".rela.dyn", SHT_RELA, SHF_ALLOC, l->rela, l->read_end, S_DYNSYM, 0, sizeof(Elf64_Rela) },
		[S_TEXT] = { ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, l->text, l->run_end, 0, 0, 0 },
		[S_DYNAMIC] = { ".dynamic", SHT_DYNAMIC, SHF_ALLOC | SHF_WRITE, l->dynamic, l->bind, S_DYNSTR, 0,
		                sizeof(Elf64_Dyn) },
		[S_TABLE] = { ".bss.rel", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, l->bind, l->write_end, 0, 0, 8 },
		[S_NAMES] = { ".shstrtab", SHT_STRTAB, 0, l->section_text, l->section_text + sizeof section_names, 0, 0, 0 },
	};
	Elf64_Shdr none = { 0 };

	ws_buf_add(b, &none, sizeof none);
	for (size_t i = 1; i < S_COUNT; i++) {
		const char *name = memmem(section_names, sizeof section_names, s[i].name, strlen(s[i].name) + 1);
		Elf64_Shdr h = { .sh_name = (uint32_t)(name - section_names), .sh_type = s[i].type, .sh_flags = s[i].flags,
			         .sh_addr = s[i].flags ? s[i].from : 0, .sh_offset = s[i].from, .sh_size = s[i].to - s[i].from,
			         .sh_link = s[i].link, .sh_info = s[i].info, .sh_entsize = s[i].entry,
			         .sh_addralign = s[i].type == SHT_STRTAB ? 1 : 8 };

		ws_buf_add(b, &h, sizeof h);
	}
}

/* ---- code ---- */
static void add_u32(struct ws_buf *b, uint32_t v)
{
	ws_buf_add(b, &v, sizeof v);
}

/* A 32-bit distance from the end of the four bytes that hold it, which stand at address `at`. */
static void add_distance(struct ws_buf *b, uint64_t at, uint64_t to)
{
	add_u32(b, (uint32_t)(to - (at + 4)));
}

/* endbr64; sub $8,%rsp; lea table(%rip),%rdi; lea names(%rip),%rsi; mov $n,%edx; call *bind(%rip); add $8,%rsp; ret */
static void x86_init(const struct layout *l, struct ws_buf *b)
{
	ws_buf_add(b, "\xf3\x0f\x1e\xfa\x48\x83\xec\x08\x48\x8d\x3d", 11);
	add_distance(b, l->text + 11, l->table);
	ws_buf_add(b, "\x48\x8d\x35", 3);
	add_distance(b, l->text + 18, l->names);
	ws_buf_add(b, "\xba", 1);
	add_u32(b, (uint32_t)l->n);
	ws_buf_add(b, "\xff\x15", 2);
	add_distance(b, l->text + 29, l->bind);
	ws_buf_add(b, "\x48\x83\xc4\x08\xc3", 5);
}

/* endbr64; jmp *slot(%rip) */
static void x86_entry(struct ws_buf *b, uint64_t at, uint64_t slot)
{
	ws_buf_add(b, "\xf3\x0f\x1e\xfa\xff\x25", 6);
	add_distance(b, at + 6, slot);
	ws_buf_add(b, "\xcc\xcc\xcc\xcc\xcc\xcc", 6);
}

/* adrp Xreg, page of `to`; at is the address of the instruction (Arm ARM C6.2, ADRP) */
static void arm_page(struct ws_buf *b, unsigned reg, uint64_t at, uint64_t to)
{
	uint32_t pages = (uint32_t)((to >> 12) - (at >> 12));

	add_u32(b, 0x90000000u | (pages & 3) << 29 | (pages >> 2 & 0x7ffff) << 5 | reg);
}

/* add Xreg, Xreg, #low 12 bits of `to` */
static void arm_low(struct ws_buf *b, unsigned reg, uint64_t to)
{
	add_u32(b, 0x91000000u | (uint32_t)(to & 0xfff) << 10 | reg << 5 | reg);
}

/* ldr Xreg, [Xreg, #low 12 bits of `to`], which is a multiple of 8 */
static void arm_load(struct ws_buf *b, unsigned reg, uint64_t to)
{
	add_u32(b, 0xf9400000u | (uint32_t)((to & 0xfff) / 8) << 10 | reg << 5 | reg);
}

/* bti c; stp x29,x30,[sp,#-16]!; x0 = table; x1 = names; w2 = n; x3 = bind; blr x3; ldp x29,x30,[sp],#16; ret */
static void arm_init(const struct layout *l, struct ws_buf *b)
{
	add_u32(b, 0xd503245f);
	add_u32(b, 0xa9bf7bfd);
	arm_page(b, 0, l->text + 8, l->table);
	arm_low(b, 0, l->table);
	arm_page(b, 1, l->text + 16, l->names);
	arm_low(b, 1, l->names);
	add_u32(b, 0x52800002u | (uint32_t)(l->n & 0xffff) << 5);                    /* movz w2 */
	add_u32(b, 0x72a00002u | (uint32_t)(l->n >> 16) << 5);                       /* movk w2, lsl 16 */
	arm_page(b, 3, l->text + 32, l->bind);
	arm_load(b, 3, l->bind);
	add_u32(b, 0xd63f0060);
	add_u32(b, 0xa8c17bfd);
	add_u32(b, 0xd65f03c0);
}

/* bti c; adrp x16, slot; ldr x16, [x16, slot]; br x16: x16 may be used between caller and callee (AAPCS64 6.1.1) */
static void arm_entry(struct ws_buf *b, uint64_t at, uint64_t slot)
{
	add_u32(b, 0xd503245f);
	arm_page(b, 16, at + 4, slot);
	arm_load(b, 16, slot);
	add_u32(b, 0xd61f0200);
}

static void add_code(const struct layout *l, struct ws_buf *b, size_t base)
{
	bool arm = l->s->machine == EM_AARCH64;

	(arm ? arm_init : x86_init)(l, b);
	pad_to(b, base, l->text + INIT);
	for (size_t i = 0; i < l->n; i++)
		(arm ? arm_entry : x86_entry)(b, l->text + INIT + i * ENTRY, l->table + i * sizeof(uint64_t));
}

bool ws_stub_make(const struct ws_stub_names *s, const char *needed, struct ws_buf *out, const char **why)
{
	struct layout l = { .s = s, .needed = needed, .n = s->n };
	Elf64_Rela r = { 0 };
	size_t base = out->len;

	if (s->machine != EM_X86_64 && s->machine != EM_AARCH64)
		return *why = "it is for a machine that is neither x86-64 nor AArch64", false;
	if (s->n > MOST_NAMES)
		return *why = "it exports more functions than any driver", false;
	plan(&l);
	r.r_offset = l.bind;
	r.r_info = ELF64_R_INFO(NEEDED_SYMBOL, s->machine == EM_X86_64 ? R_X86_64_GLOB_DAT : R_AARCH64_GLOB_DAT);
	add_headers(&l, out);
	add_hash(&l, out);
	pad_to(out, base, l.dynsym);
	add_symbols(&l, out);
	add_strings(&l, out);
	pad_to(out, base, l.rela);
	ws_buf_add(out, &r, sizeof r);
	pad_to(out, base, l.text);
	add_code(&l, out, base);
	pad_to(out, base, l.dynamic);
	add_dynamic(&l, out);
	pad_to(out, base, l.section_text);
	ws_buf_add(out, section_names, sizeof section_names);
	pad_to(out, base, l.sections);
	add_sections(&l, out);
	return true;
}

static bool write_file(const char *path, const struct ws_buf *b, const char **why)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
	size_t done = 0;
	bool fine;

	while (fd >= 0 && done < b->len) {
		ssize_t n = write(fd, b->data + done, b->len - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		done += (size_t)n;
	}
	fine = fd >= 0 && done == b->len;
	if (!fine)
		*why = strerror(errno);
	if (fd >= 0 && close(fd) && fine) {
		*why = strerror(errno);
		fine = false;
	}
	return fine;
}

bool ws_stub_write(const char *driver, const char *needed, const char *path, const char **why)
{
	struct ws_buf b = { 0 };
	struct ws_stub_names s;
	bool fine = ws_stub_read(driver, &s, why);

	if (fine)
		fine = ws_stub_make(&s, needed, &b, why) && write_file(path, &b, why);
	ws_stub_names_free(&s);
	ws_buf_free(&b);
	return fine;
}

/* cluster_section.c - __cluster_dims__ of programs that `warpsafe cc` compiled. clang has no way to write it into the
 * PTX, so warpsafe's headers put the host's stub of such a kernel into a section whose name says the size
 * (include/warpsafe/cuda/host_defines.h). Reads the program's ELF file (System V ABI, gABI 4.1, "Object Files"); nothing
 * in it is trusted. */
#include "cuda/rt.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define PREFIX "warpsafe_cluster_"

struct file { const uint8_t *data; size_t len; };

static const void *part(const struct file *f, uint64_t at, uint64_t n)
{
	return at <= f->len && n <= f->len - at ? f->data + at : NULL;
}

static bool map_file(const char *path, struct file *f)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *p = MAP_FAILED;

	if (fd < 0)
		return false;
	if (!fstat(fd, &st) && st.st_size > (off_t)sizeof(Elf64_Ehdr))
		p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (p == MAP_FAILED)
		return false;
	*f = (struct file){p, (size_t)st.st_size};
	return true;
}

static bool section_at(const struct file *f, const Elf64_Ehdr *head, unsigned i, Elf64_Shdr *s)
{
	const void *p = part(f, head->e_shoff + (uint64_t)i * sizeof *s, sizeof *s);

	if (!p || head->e_shentsize != sizeof *s)
		return false;
	memcpy(s, p, sizeof *s);
	return true;
}

/* Does the name of a section that holds the address say a size? 1 yes, 0 no, -1: not in a form that can be read. */
static int size_in_name(const struct file *f, const Elf64_Shdr *names, const Elf64_Shdr *s, struct ws_dim3 *size)
{
	char name[80] = "";
	const char *at;
	size_t room;
	int end = 0;

	if (s->sh_name >= names->sh_size)
		return 0;
	room = names->sh_size - s->sh_name < sizeof name ? names->sh_size - s->sh_name : sizeof name;
	at = part(f, names->sh_offset + s->sh_name, room);
	if (!at)
		return 0;
	snprintf(name, sizeof name, "%.*s", (int)room, at);
	if (strncmp(name, PREFIX, strlen(PREFIX)))
		return 0;
	if (sscanf(name + strlen(PREFIX), "%u_%u_%u%n", &size->x, &size->y, &size->z, &end) == 3 &&
	    !name[strlen(PREFIX) + (size_t)end])
		return 1;
	return -1;
}

static int look(const struct file *f, uint64_t address, uint64_t base, struct ws_dim3 *size)
{
	Elf64_Ehdr head;
	Elf64_Shdr names, s;

	memcpy(&head, f->data, sizeof head);
	if (memcmp(head.e_ident, ELFMAG, SELFMAG) || head.e_ident[EI_CLASS] != ELFCLASS64 ||
	    !section_at(f, &head, head.e_shstrndx, &names))
		return 0;
	if (head.e_type == ET_DYN)
		address -= base;
	for (unsigned i = 0; i < head.e_shnum && section_at(f, &head, i, &s); i++)
		if (s.sh_flags & SHF_EXECINSTR && address - s.sh_addr < s.sh_size)
			return size_in_name(f, &names, &s, size);
	return 0;
}

int ws_cluster_section(const void *stub, struct ws_dim3 *size)
{
	struct file f;
	Dl_info info;
	int found;

	if (!stub || !dladdr(stub, &info) || !info.dli_fname ||
	    (!map_file(info.dli_fname, &f) && !map_file("/proc/self/exe", &f)))
		return 0;
	found = look(&f, (uint64_t)(uintptr_t)stub, (uint64_t)(uintptr_t)info.dli_fbase, size);
	munmap((void *)(uintptr_t)f.data, f.len);
	return found;
}

/* readable.c - how much memory is there to read; see readable.h. */
#include "base/readable.h"

#include <inttypes.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>

struct extent {
	uintptr_t at;
	size_t left;
};

static int find_segment(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct extent *e = arg;
	int i;

	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + p->p_vaddr;

		if (p->p_type == PT_LOAD && e->at >= start && e->at - start < p->p_memsz) {
			e->left = p->p_memsz - (e->at - start);
			return 1;
		}
	}
	return 0;
}

static size_t mapped_bytes(const void *at)
{
	FILE *f = fopen("/proc/self/maps", "re");
	uintptr_t low, high, end = 0, a = (uintptr_t)at;
	char line[512];

	while (f && fgets(line, sizeof line, f)) {
		if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR, &low, &high) != 2)
			continue;
		if (end ? low == end : a >= low && a < high)
			end = high;
		else if (end)
			break;
	}
	if (f)
		fclose(f);
	return end ? end - a : 0;
}

size_t ws_readable_bytes(const void *at)
{
	struct extent e = {.at = (uintptr_t)at};

	return dl_iterate_phdr(find_segment, &e) ? e.left : mapped_bytes(at);
}

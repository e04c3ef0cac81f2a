/* gen.c - writes what run_device needs: DIR/arith.ptx, DIR/arith.in (rows of sources, four 64-bit words each, a block
 * of ARITH_ROWS for each combination of kinds) and DIR/arith.list (kernel, block, results a row). */
#include "tests/arith/forms.h"

#include <stdio.h>
#include <string.h>

static FILE *open_in(const char *dir, const char *name)
{
	char path[1000];
	snprintf(path, sizeof path, "%s/%s", dir, name);
	FILE *f = fopen(path, "wb");
	if (!f)
		perror(path);
	return f;
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: gen DIR\n");
		return 2;
	}
	size_t n, nblocks = 0;
	const struct arith_form *f = arith_forms(&n);
	const char *blocks[200];
	struct ws_buf ptx = {0};
	FILE *p = open_in(argv[1], "arith.ptx"), *in = open_in(argv[1], "arith.in"), *list = open_in(argv[1], "arith.list");
	if (!p || !in || !list)
		return 2;
	arith_ptx(&ptx, 0, n);
	fwrite(ptx.data, 1, ptx.len, p);
	for (size_t k = 0; k < n; k++) {
		size_t b = 0;
		while (b < nblocks && strcmp(blocks[b], f[k].src))
			b++;
		fprintf(list, "f%04zu %zu %zu %s\n", k, b, strlen(f[k].dst), f[k].name);
		if (b < nblocks)
			continue;
		blocks[nblocks++] = f[k].src;
		for (unsigned r = 0; r < ARITH_ROWS; r++) {
			uint64_t x[ARITH_SOURCES];
			arith_row(f[k].src, r, x);
			fwrite(x, sizeof x, 1, in);
		}
	}
	printf("%zu forms, %zu blocks\n", n, nblocks);
	return fclose(p) | fclose(in) | fclose(list);
}

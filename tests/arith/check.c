/* check.c - the lane functions against a GPU's results: check GOLDEN [FORM], check --pack RESULTS GOLDEN
 *
 * Parses the PTX of forms.c with our own parser, executes it with the lane functions, 32 rows at a time, and compares
 * bit by bit; approximations within their bound. GOLDEN holds all results of an H200, packed to the results' widths
 * and compressed; --pack makes it from what run_device wrote. With FORM, prints the rows that differ. */
#include "tests/arith/harness.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

/* ---- comparing ---- */
static double value(char kind, uint64_t v)
{
	double d;
	float f;
	uint32_t u = (uint32_t)v;
	switch (kind) {
	case 'g':
		memcpy(&d, &v, sizeof d);
		return d;
	case 'h':
	case 'H':
		f = ldexpf((float)(v >> 10 & 31 ? (v & 0x3ff) + 0x400 : v & 0x3ff), (int)(v >> 10 & 31 ? v >> 10 & 31 : 1) - 25);
		f = (v >> 10 & 31) == 31 ? (v & 0x3ff ? NAN : INFINITY) : f;
		return v & 0x8000 ? -f : f;
	case 'b':
	case 'B':
		u <<= 16;
		break;
	}
	memcpy(&f, &u, sizeof f);
	return f;
}

/* The distance of two results in the unit of the form's bound: ulps of the wanted one, or absolute below 1/4. */
static double distance(const struct arith_form *f, uint64_t got, uint64_t want)
{
	char k = f->dst[0];
	if (k == 'H' || k == 'B') {
		struct arith_form half = *f;
		half.dst[0] = k == 'H' ? 'h' : 'b';
		double hi = distance(&half, got >> 16, want >> 16), lo = distance(&half, got & 0xffff, want & 0xffff);
		return hi > lo ? hi : lo;
	}
	double g = value(k, got), w = value(k, want);
	if (got == want)
		return 0;
	if (!isfinite(w) || !isfinite(g))
		return INFINITY;
	if (f->bound < 0.25) {
		/* lg2: relative outside of (1/2, 2), where |lg2| > 1 */
		double scale = strstr(f->name, "lg2") && fabs(w) > 1 ? fabs(w) : 1;
		return fabs(g - w) / scale;
	}
	int mant = k == 'g' ? 52 : k == 'h' ? 10 : k == 'b' ? 7 : 23, e = -2000;
	int least = k == 'g' ? -1022 : k == 'h' ? -14 : -126;
	if (w != 0)
		frexp(w, &e);
	if (strstr(f->name, ".ftz") && k == 'f' && (w == 0 || g == 0))
		return fabs(g - w) / 0x1p-126;
	return fabs(g - w) / ldexp(1, (e - 1 < least ? least : e - 1) - mant);
}

struct tally {
	unsigned forms, bad, approximations;
};

static void compare(const struct arith_form *f, uint64_t (*got)[2], const uint64_t (*want)[2], bool verbose,
                    struct tally *t)
{
	unsigned bad = 0, equal = 0;
	double most = 0;
	for (unsigned r = 0; r < ARITH_ROWS; r++) {
		double d = 0;
		bool same = got[r][0] == want[r][0] && (!f->dst[1] || got[r][1] == want[r][1]);
		equal += same;
		if (f->bound > 0)
			d = distance(f, got[r][0], want[r][0]);
		most = d > most ? d : most;
		if (f->bound > 0 ? d <= f->bound : same)
			continue;
		if (verbose || bad < 2) {
			uint64_t x[ARITH_SOURCES];
			arith_row(f->src, r, x);
			printf("  %s row %u:", f->name, r);
			for (int k = 0; f->src[k]; k++)
				printf(" %llx", (unsigned long long)(x[k] & (UINT64_MAX >> (64 - arith_bits(f->src[k])))));
			printf(" -> %llx %llx, on the GPU %llx %llx\n", (unsigned long long)got[r][0], (unsigned long long)got[r][1],
			       (unsigned long long)want[r][0], (unsigned long long)want[r][1]);
		}
		bad++;
	}
	t->forms++;
	t->bad += bad != 0;
	t->approximations += f->bound > 0;
	if (bad)
		printf("%s: %u of %u rows differ\n", f->name, bad, ARITH_ROWS);
	if (f->bound > 0)
		printf("%-24s %5.1f %% equal, at most %.4g%s from the GPU (bound %.4g)\n", f->name, 100.0 * equal / ARITH_ROWS, most,
		       f->bound < 0.25 ? "" : " ulp", f->bound);
}

/* ---- the golden file: one zstd frame; results by width, bits of predicates packed ---- */
static void pack_form(struct ws_buf *out, const struct arith_form *f, const uint64_t *res)
{
	size_t n = strlen(f->dst);
	for (size_t k = 0; k < n; k++) {
		unsigned bits = arith_bits(f->dst[k]);
		for (unsigned r = 0; r < ARITH_ROWS; r += bits == 1 ? 8 : 1) {
			uint64_t v = res[r * n + k];
			if (bits == 1)
				for (unsigned b = 1; b < 8; b++)
					v |= res[(r + b) * n + k] << b;
			ws_buf_add(out, &v, bits == 1 ? 1 : bits / 8);
		}
	}
}

static const uint8_t *unpack_form(const uint8_t *p, const uint8_t *end, const struct arith_form *f, uint64_t (*res)[2])
{
	for (size_t k = 0; f->dst[k]; k++) {
		unsigned bits = arith_bits(f->dst[k]);
		size_t need = (size_t)ARITH_ROWS * bits / 8;
		if ((size_t)(end - p) < need)
			return NULL;
		for (unsigned r = 0; r < ARITH_ROWS; r++) {
			res[r][k] = 0;
			if (bits == 1)
				res[r][k] = p[r / 8] >> r % 8 & 1;
			else
				memcpy(&res[r][k], p + r * (bits / 8), bits / 8);
		}
		p += need;
	}
	return p;
}

static int pack(const char *from, const char *to)
{
	size_t n, len, at = 0;
	const struct arith_form *f = arith_forms(&n);
	char *raw = ws_read_file(from, &len);
	struct ws_buf out = {0};
	for (size_t k = 0; raw && k < n; k++) {
		size_t need = (size_t)ARITH_ROWS * strlen(f[k].dst) * 8;
		if (at + need > len)
			return 2;
		pack_form(&out, &f[k], (const uint64_t *)(raw + at));
		at += need;
	}
	size_t bound = ZSTD_compressBound(out.len);
	void *z = ws_alloc(bound);
	size_t zn = ZSTD_compress(z, bound, out.data, out.len, 22);
	FILE *o = fopen(to, "wb");
	if (!raw || ZSTD_isError(zn) || !o || fwrite(z, 1, zn, o) != zn || fclose(o))
		return 2;
	printf("%zu forms, %zu bytes\n", n, zn);
	return 0;
}

static int check(const uint8_t *p, const uint8_t *end, const char *only)
{
	static uint64_t got[ARITH_ROWS][2], want[ARITH_ROWS][2];
	size_t n;
	const struct arith_form *f = arith_forms(&n);
	struct tally t = {0};
	struct ws_buf ptx = {0}, errors = {0};
	struct ws_sink sink = {ws_sink_to_buf, &errors};
	arith_ptx(&ptx, 0, n);
	struct ws_ptx_module *m = ws_ptx_parse("arith.ptx", ptx.data, ptx.len, NULL, &sink);
	if (!m || m->nfuncs != n) {
		printf("%s", errors.data ? errors.data : "parse\n");
		return 1;
	}
	for (size_t k = 0; k < n; k++) {
		struct program prog;
		p = unpack_form(p, end, &f[k], want);
		if (!p)
			return printf("golden file is too short\n"), 2;
		if (only && strcmp(only, f[k].name))
			continue;
		if (!prepare(m->funcs[k], &prog)) {
			printf("%s: cannot be executed\n", f[k].name);
			t.bad++;
			continue;
		}
		for (unsigned r = 0; r < ARITH_ROWS; r += WS_WARP)
			run_rows(&prog, &f[k], r, UINT32_MAX, &got[r]);
		compare(&f[k], got, (const uint64_t(*)[2])want, only, &t);
	}
	printf("%s: %u forms, %u differ, %u approximations\n", ws_lanes_isa(), t.forms, t.bad, t.approximations);
	ws_ptx_free(m);
	ws_buf_free(&ptx);
	return t.bad != 0;
}

int main(int argc, char **argv)
{
	size_t len;
	if (argc == 4 && !strcmp(argv[1], "--pack"))
		return pack(argv[2], argv[3]);
	if (argc < 2) {
		fprintf(stderr, "usage: check GOLDEN [FORM]\n");
		return 2;
	}
	char *z = ws_read_file(argv[1], &len);
	unsigned long long size = z ? ZSTD_getFrameContentSize(z, len) : ZSTD_CONTENTSIZE_ERROR;
	if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN || size > 1u << 30) {
		fprintf(stderr, "%s: not a golden file\n", argv[1]);
		return 2;
	}
	uint8_t *raw = ws_alloc((size_t)size + 1);
	size_t n = ZSTD_decompress(raw, (size_t)size, z, len);
	return ZSTD_isError(n) ? 2 : check(raw, raw + n, argc > 2 ? argv[2] : NULL);
}

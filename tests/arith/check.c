/* check.c - the lane functions against a GPU's results: check GOLDEN [FORM], check --pack RESULTS GOLDEN
 *
 * Parses the PTX of forms.c with our own parser, executes it with the lane functions, 32 rows at a time, and compares
 * bit by bit; approximations within their bound. GOLDEN holds all results of an H200, packed to the results' widths
 * and compressed; --pack makes it from what run_device wrote. With FORM, prints the rows that differ. */
#include "gpu/lanes.h"
#include "tests/arith/forms.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

enum { REG_BYTES = 512, MAX_REGS = 128, MAX_INSTS = 64 };

struct step {
	enum { LANE, LOAD, STORE } kind;
	struct ws_lane_op op;
	uint32_t reg, word;      /* LOAD, STORE: offset of the register, word of the row */
};
struct program {
	struct step steps[MAX_INSTS];
	unsigned nsteps, next;   /* next: first free slot of the register file */
};

static _Alignas(64) uint8_t regs[(MAX_REGS + 1) * REG_BYTES];

static uint32_t place_immediate(struct program *p, const struct ws_ptx_inst *i, const struct ws_operand *o, unsigned w)
{
	uint32_t off = REG_BYTES * p->next++;
	uint64_t v = o->kind == WS_O_SREG ? 0 : ws_lanes_immediate(i, o, w);
	for (int l = 0; l < WS_WARP; l++)
		if (w == 2)
			((uint16_t *)(regs + off))[l] = (uint16_t)v;
		else if (w == 4)
			((uint32_t *)(regs + off))[l] = (uint32_t)v;
		else if (w == 8)
			((uint64_t *)(regs + off))[l] = v;
		else
			((uint32_t *)(regs + off))[0] = v ? UINT32_MAX : 0;
	return off;
}

static bool lane_step(struct program *p, const struct ws_ptx_inst *i)
{
	struct step *s = &p->steps[p->nsteps++];
	unsigned width[WS_LANE_OPERANDS];
	const char *why;
	const struct ws_operand *o;
	s->kind = LANE;
	if (!ws_lanes_decode(i, &s->op, width, &why)) {
		printf("refused: %s\n", why ? why : "no lane function");
		return false;
	}
	s->op.cc = MAX_REGS * REG_BYTES;
	for (unsigned k = 0; (o = ws_lanes_operand(i, k)); k++) {
		uint32_t *slot = ws_lanes_slot(&s->op, i, k);
		if (slot)
			*slot = o->kind == WS_O_REG    ? o->reg->index * REG_BYTES
			        : o->kind == WS_O_SINK ? WS_LANE_NONE
			                               : place_immediate(p, i, o, width[k]);
	}
	return true;
}

/* Address arithmetic is executed like the rest and its result ignored: a kernel's loads are from its row in order. */
static bool prepare(const struct ws_ptx_func *f, struct program *p)
{
	p->nsteps = 0;
	p->next = f->nregs;
	for (uint32_t k = 0; k < f->ninsts; k++) {
		const struct ws_ptx_inst *i = &f->insts[k];
		if (p->nsteps == MAX_INSTS || p->next + 4 > MAX_REGS)
			return false;
		if (i->op == WS_OP_ret || (i->op == WS_OP_ld && i->space == WS_SPACE_PARAM))
			continue;
		if (i->op == WS_OP_ld || i->op == WS_OP_st) {
			const struct ws_operand *addr = &i->ops[i->op == WS_OP_st ? 0 : 1];
			struct step *s = &p->steps[p->nsteps++];
			s->kind = i->op == WS_OP_ld ? LOAD : STORE;
			s->reg = i->ops[i->op == WS_OP_ld ? 0 : 1].reg->index * REG_BYTES;
			s->word = (uint32_t)addr->offset / 8;
			continue;
		}
		if (!lane_step(p, i))
			return false;
	}
	return true;
}

static void run_rows(const struct program *p, const struct arith_form *f, unsigned first, uint64_t out[][2])
{
	uint64_t x[WS_WARP][ARITH_SOURCES];
	for (unsigned l = 0; l < WS_WARP; l++)
		arith_row(f->src, first + l, x[l]);
	for (unsigned k = 0; k < p->nsteps; k++) {
		const struct step *s = &p->steps[k];
		uint64_t *r = (uint64_t *)(regs + s->reg);
		if (s->kind == LANE)
			s->op.fn(&s->op, regs, UINT32_MAX);
		for (unsigned l = 0; l < WS_WARP && s->kind != LANE; l++)
			if (s->kind == LOAD)
				r[l] = x[l][s->word];
			else
				out[l][s->word] = r[l];
	}
}

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
	return fabs(g - w) / ldexp(1, (e - 1 < least ? least : e - 1) - mant);
}

struct tally {
	unsigned forms, bad, approximations;
};

static void compare(const struct arith_form *f, uint64_t (*got)[2], const uint64_t (*want)[2], bool verbose,
                    struct tally *t)
{
	unsigned bad = 0;
	double most = 0;
	for (unsigned r = 0; r < ARITH_ROWS; r++) {
		double d = 0;
		bool same = got[r][0] == want[r][0] && (!f->dst[1] || got[r][1] == want[r][1]);
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
		printf("%-24s at most %.4g %s from the GPU (bound %.4g)\n", f->name, most, f->bound < 0.25 ? "" : "ulp", f->bound);
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
			run_rows(&prog, &f[k], r, &got[r]);
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

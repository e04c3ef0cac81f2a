/* matrix.c - elements and products of the matrix instructions, the fragments of mma, and mma itself (PTX ISA 9.0, Warp
 * Level Matrix Instructions).
 *
 * Sums are made in double and rounded once. Tensor cores keep fewer bits while they add, so results may differ in the
 * last bits; sums that are exact in the accumulator's type are the same. */
#include "gpu/matrix.h"

#include <math.h>
#include <string.h>

/* ---- elements ---- */
unsigned ws_melem_bytes(unsigned type)
{
	static const uint8_t bytes[] = {[WS_ME_F16] = 2, [WS_ME_BF16] = 2, [WS_ME_B16] = 2, [WS_ME_TF32] = 4,
		[WS_ME_F32] = 4, [WS_ME_S32] = 4, [WS_ME_F64] = 8, [WS_ME_S8] = 1, [WS_ME_U8] = 1, [WS_ME_E4M3] = 1,
		[WS_ME_E5M2] = 1};

	return type < WS_COUNT(bytes) ? bytes[type] : 0;
}

static float float_of(uint32_t bits)
{
	float f;

	memcpy(&f, &bits, sizeof f);
	return f;
}

static double half_value(uint16_t h)
{
	uint32_t sign = (h & 0x8000u) << 16, em = h & 0x7fffu;
	double v;

	if (em >= 0x7c00)
		return (double)float_of(sign | 0x7f800000u | (em & 0x3ff) << 13);
	if (em >= 0x400)
		return (double)float_of(sign | ((em << 13) + (112u << 23)));
	v = (double)em / (1 << 24);
	return sign ? -v : v;
}

static double e4m3_value(uint8_t b)
{
	unsigned e = b >> 3 & 15, m = b & 7;
	double v = (b & 0x7f) == 0x7f ? (double)NAN : e ? ldexp(8 + m, (int)e - 10) : ldexp(m, -9);

	return b & 0x80 ? -v : v;
}

double ws_melem_get(unsigned type, const void *p)
{
	uint8_t b;
	uint16_t h;
	uint32_t w;
	double d;

	memcpy(&b, p, 1);
	switch (ws_melem_bytes(type)) {
	case 1:
		return type == WS_ME_S8 ? (int8_t)b : type == WS_ME_U8 ? b : type == WS_ME_E4M3 ? e4m3_value(b) :
		       half_value((uint16_t)(b << 8));
	case 2:
		memcpy(&h, p, 2);
		return type == WS_ME_BF16 ? (double)float_of((uint32_t)h << 16) : half_value(h);
	case 4:
		memcpy(&w, p, 4);
		if (type == WS_ME_TF32)
			w &= 0xffffe000u;        /* the lower bits are not looked at */
		return type == WS_ME_S32 ? (double)(int32_t)w : (double)float_of(w);
	default:
		memcpy(&d, p, 8);
		return d;
	}
}

static uint16_t half_of(double v)
{
	double a = fabs(v), step;
	uint16_t sign = signbit(v) ? 0x8000 : 0;
	int e;

	if (isnan(v))
		return 0x7fff;
	if (a >= 65520)
		return sign | 0x7c00;
	frexp(a, &e);
	step = ldexp(1, e - 11 < -24 ? -24 : e - 11);
	a = nearbyint(a / step) * step;
	if (a < ldexp(1, -14))
		return (uint16_t)(sign | (uint16_t)ldexp(a, 24));
	frexp(a, &e);
	return (uint16_t)(sign | (unsigned)(e + 14) << 10 | ((unsigned)ldexp(a, 11 - e) & 0x3ff));
}

static int32_t int_of(double v, bool saturate)
{
	if (saturate)
		return v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : (int32_t)v;
	return (int32_t)(uint32_t)(uint64_t)(int64_t)v;
}

void ws_melem_put(unsigned type, void *p, double v, bool saturate)
{
	uint16_t h;
	int32_t i;
	float f = isnan(v) ? float_of(0x7fffffff) : (float)v;

	switch (type) {
	case WS_ME_F16:
		h = half_of(v);
		memcpy(p, &h, 2);
		return;
	case WS_ME_S32:
		i = int_of(v, saturate);
		memcpy(p, &i, 4);
		return;
	case WS_ME_F64:
		memcpy(p, &v, 8);
		return;
	default:
		memcpy(p, &f, 4);
	}
}

void ws_matrix_product(const struct ws_matrix *t, unsigned m, const double *a, const double *b, double *c)
{
	bool fused = t->type[WS_MAT_A] == WS_ME_F64;

	for (unsigned i = 0; i < m; i++, c += t->n)
		for (unsigned k = 0; k < t->k; k++) {
			const double f = a[i * t->k + k], *row = b + (size_t)k * t->n;

			if (fused)
				for (unsigned j = 0; j < t->n; j++)
					c[j] = fma(f, row[j], c[j]);
			else
				for (unsigned j = 0; j < t->n; j++)
					c[j] += f * row[j];
		}
}

/* ---- fragments ---- */
/* Elements of A and B fill a register with consecutive k. Lane: group = lane / 4 is the row of A and the column of B,
 * lane % 4 chooses k. */
void ws_fragment_a(const struct ws_matrix *t, const uint8_t *regs, unsigned rows, double *a)
{
	unsigned type = t->type[WS_MAT_A], size = ws_melem_bytes(type), n = t->r[WS_MAT_A].width / size;

	for (unsigned r = 0; r < t->r[WS_MAT_A].n; r++)
		for (unsigned l = 0; l < WS_WARP; l++) {
			const uint8_t *p = regs + t->r[WS_MAT_A].reg[r] + l * t->r[WS_MAT_A].width;
			unsigned row = l / 4 + (rows > 8 ? 8 * (r & 1) : 0);
			unsigned k = l % 4 * n + (rows > 8 ? r >> 1 : r) * 4 * n;

			for (unsigned j = 0; j < n; j++)
				a[row * t->k + k + j] = ws_melem_get(type, p + j * size);
		}
}

void ws_fragment_b(const struct ws_matrix *t, const uint8_t *regs, double *b)
{
	unsigned type = t->type[WS_MAT_B], size = ws_melem_bytes(type), n = t->r[WS_MAT_B].width / size;

	for (unsigned r = 0; r < t->r[WS_MAT_B].n; r++)
		for (unsigned l = 0; l < WS_WARP; l++) {
			const uint8_t *p = regs + t->r[WS_MAT_B].reg[r] + l * t->r[WS_MAT_B].width;

			for (unsigned j = 0; j < n; j++)
				b[(r * 4 * n + l % 4 * n + j) * t->n + l / 4] = ws_melem_get(type, p + j * size);
		}
}

/* Element i of a lane's part of C and D: pairs of columns, rows 8 apart, then the next 8 columns. */
static unsigned place_c(const struct ws_matrix *t, unsigned lane, unsigned i)
{
	return (lane / 4 + 8 * (i >> 1 & 1)) * t->n + 8 * (i >> 2) + lane % 4 * 2 + (i & 1);
}

void ws_fragment_c(const struct ws_matrix *t, const uint8_t *regs, unsigned which, double *c)
{
	const struct ws_mregs *mr = &t->r[which];
	unsigned type = t->type[which], size = ws_melem_bytes(type), n = mr->width / size;

	for (unsigned r = 0; r < mr->n; r++)
		for (unsigned l = 0; l < WS_WARP; l++) {
			const uint8_t *p = regs + mr->reg[r] + l * mr->width;

			for (unsigned j = 0; j < n; j++)
				c[place_c(t, l, r * n + j)] = ws_melem_get(type, p + j * size);
		}
}

void ws_fragment_d(const struct ws_matrix *t, uint8_t *regs, const double *d)
{
	const struct ws_mregs *mr = &t->r[WS_MAT_D];
	unsigned type = t->type[WS_MAT_D], size = ws_melem_bytes(type), n = mr->width / size;

	for (unsigned r = 0; r < mr->n; r++) {
		for (unsigned l = 0; l < WS_WARP; l++) {
			uint8_t *p = regs + mr->reg[r] + l * mr->width;

			for (unsigned j = 0; j < n; j++)
				ws_melem_put(type, p + j * size, d[place_c(t, l, r * n + j)], t->saturate);
		}
	}
}

/* ---- the whole warp ---- */
static bool not_whole(struct ws_exec *x, const struct ws_dinst *in, uint32_t mask, const char *what)
{
	return ws_exec_fail(x, in, mask, WS_GPU_BAD_INSTRUCTION,
	                    "a matrix instruction needs all 32 threads of a warp, but %s", what);
}

enum ws_next ws_whole_warp(struct ws_exec *x, const struct ws_dinst *in, uint32_t mask)
{
	struct ws_warp *w = x->warp;

	if (mask == UINT32_MAX)
		return WS_NEXT;
	if (w->live != UINT32_MAX) {
		not_whole(x, in, mask, w->obs.exited ? "some have ended" : "the last warp of the block has fewer");
		return WS_STOP;
	}
	if (!x->its || mask != x->frag->mask) {
		not_whole(x, in, mask, "only some of them execute it");
		return WS_STOP;
	}
	x->frag->wait = WS_WAIT_WARP;
	ws_whole_warp_check(w);
	return WS_PICK;
}

/* When all parts of a warp wait at one place, they become one there. */
void ws_whole_warp_check(struct ws_warp *w)
{
	for (uint32_t i = 0; i < w->nfrags; i++)
		if (w->frag[i].wait != WS_WAIT_WARP || w->frag[i].pc != w->frag[0].pc ||
		    w->frag[i].frame != w->frag[0].frame)
			return;
	for (uint32_t i = 0; i < w->nfrags; i++)
		w->frag[i].wait = WS_READY;
	w->runnable = true;
	w->progress++;
}

/* ---- mma ---- */
enum ws_next ws_op_mma(struct ws_exec *x, const struct ws_dinst *in, uint32_t mask)
{
	const struct ws_matrix *t = in->u.op.ptr;
	uint8_t *regs = x->frag->frame->regs;
	enum ws_next next = ws_whole_warp(x, in, mask);
	double a[16 * WS_MAT_MAX_K], b[WS_MAT_MAX_K * 8], c[16 * 8];

	if (next != WS_NEXT)
		return next;
	ws_fragment_a(t, regs, t->m, a);
	ws_fragment_b(t, regs, b);
	ws_fragment_c(t, regs, WS_MAT_C, c);
	ws_matrix_product(t, t->m, a, b, c);
	ws_fragment_d(t, regs, c);
	return WS_NEXT;
}

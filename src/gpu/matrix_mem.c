/* matrix_mem.c - ldmatrix, stmatrix, movmatrix, and the wmma instructions (PTX ISA 9.0, Warp Level Matrix
 * Instructions).
 *
 * The fragments of wmma have no layout that a program may rely on. Here element i of a matrix, counted row by row, is
 * in lane i % 32, in place i / 32 of its registers; places that are left over hold 0. */
#include "gpu/matrix.h"

#include <string.h>

#define EACH_LANE(l, mask) \
	for (uint32_t m_ = (mask), l; m_ && (l = (uint32_t)__builtin_ctz(m_), true); m_ &= m_ - 1)
enum { ROW = 16, MAX_ELEMENTS = 32 * 16 };       /* bytes of a row of an 8 x 8 matrix; the largest wmma operand */

/* ---- memory ---- */
/* Lane l's bytes between memory and data + l * bytes. */
static bool transfer(struct ws_exec *x, const struct ws_dinst *in, struct ws_request *q, uint8_t *data)
{
	struct ws_resolved r;

	for (; q->mask; q->mask &= ~r.mask) {
		if (!ws_resolve(x, in, q, &r))
			return false;
		if (ws_wants(x, r.space)) {
			struct ws_access a = {.kind = q->write ? WS_WRITE : WS_READ, .sem = WS_SEM_WEAK,
			                      .scope = WS_SCOPE_NONE, .bytes = (uint16_t)q->bytes,
			                      .wrote = q->write ? r.mask : 0};

			if (q->write && x->ops->needs & WS_NEED_VALUES)
				a.value = data;
			ws_observe(x, in, &r, &a);
		}
		if (q->write && x->held && r.space == WS_SPACE_GLOBAL) {
			ws_held_keep(x, r.host, r.mask, q->bytes, data);
			continue;
		}
		EACH_LANE(l, r.mask) {
			if (q->write)
				memcpy(r.host[l], data + l * q->bytes, q->bytes);
			else
				memcpy(data + l * q->bytes, r.host[l], q->bytes);
		}
		if (!q->write && x->held && r.space == WS_SPACE_GLOBAL)
			ws_held_patch(x->held, (const uintptr_t *)(const void *)r.host, r.mask, q->bytes, data);
	}
	if (q->write)
		x->warp->progress++;
	return true;
}

/* Rows of 16 bytes of shared memory, one a lane. */
static bool rows(struct ws_exec *x, const struct ws_dinst *in, bool write, uint8_t *data)
{
	const struct ws_matrix *t = in->u.op.ptr;
	uint64_t addr[WS_WARP];
	uint32_t mask = t->count == 4 ? UINT32_MAX : (1u << 8 * t->count) - 1;
	struct ws_request q = {.addr = addr, .mask = mask, .bytes = ROW, .space = t->space, .write = write,
	                       .cache = t->cache};

	ws_addresses(x->frag->frame->regs, t->addr, t->addr_width, t->off, addr);
	if (t->space == WS_SPACE_GENERIC)
		EACH_LANE(l, mask)
			if (addr[l] >> WS_WINDOW_SHIFT != WS_WINDOW_SHARED)
				return ws_exec_fail(x, in, 1u << l, WS_GPU_BAD_ADDRESS,
				                    "the address 0x%llx of a row is not one of shared memory",
				                    (unsigned long long)addr[l]);
	return transfer(x, in, &q, data);
}

/* Lane l has elements 2 * (l % 4) and the next of row l / 4; transposed: of column l / 4. Offset of the i-th. */
static unsigned element(const struct ws_matrix *t, unsigned l, unsigned i)
{
	unsigned major = l / 4, minor = l % 4 * 2 + i;

	return t->transposed ? minor * ROW + major * 2 : major * ROW + minor * 2;
}

enum ws_next ws_op_ldmatrix(struct ws_exec *x, const struct ws_dinst *in, uint32_t mask)
{
	const struct ws_matrix *t = in->u.op.ptr;
	uint8_t *regs = x->frag->frame->regs, data[WS_WARP * ROW];
	enum ws_next next = ws_whole_warp(x, in, mask);

	if (next != WS_NEXT)
		return next;
	if (!rows(x, in, false, data))
		return WS_STOP;
	for (unsigned k = 0; k < t->count; k++) {
		uint8_t *d = regs + t->r[WS_MAT_D].reg[k];

		for (unsigned l = 0; l < WS_WARP; l++)
			for (unsigned i = 0; i < 2; i++)
				memcpy(d + l * 4 + i * 2, data + k * 8 * ROW + element(t, l, i), 2);
	}
	return WS_NEXT;
}

enum ws_next ws_op_stmatrix(struct ws_exec *x, const struct ws_dinst *in, uint32_t mask)
{
	const struct ws_matrix *t = in->u.op.ptr;
	const uint8_t *regs = x->frag->frame->regs;
	uint8_t data[WS_WARP * ROW];
	enum ws_next next = ws_whole_warp(x, in, mask);

	if (next != WS_NEXT)
		return next;
	for (unsigned k = 0; k < t->count; k++) {
		const uint8_t *a = regs + t->r[WS_MAT_A].reg[k];

		for (unsigned l = 0; l < WS_WARP; l++)
			for (unsigned i = 0; i < 2; i++)
				memcpy(data + k * 8 * ROW + element(t, l, i), a + l * 4 + i * 2, 2);
	}
	return rows(x, in, true, data) ? WS_NEXT : WS_STOP;
}

enum ws_next ws_op_movmatrix(struct ws_exec *x, const struct ws_dinst *in, uint32_t mask)
{
	const struct ws_matrix *t = in->u.op.ptr;
	uint8_t *regs = x->frag->frame->regs, data[8 * ROW];
	enum ws_next next = ws_whole_warp(x, in, mask);

	if (next != WS_NEXT)
		return next;
	memcpy(data, regs + t->r[WS_MAT_A].reg[0], sizeof data);         /* rows as they lie in the lanes */
	for (unsigned l = 0; l < WS_WARP; l++)
		for (unsigned i = 0; i < 2; i++)
			memcpy(regs + t->r[WS_MAT_D].reg[0] + l * 4 + i * 2, data + element(t, l, i), 2);
	return WS_NEXT;
}

/* ---- wmma ---- */
static void shape(const struct ws_matrix *t, unsigned which, unsigned *nrows, unsigned *ncols)
{
	*nrows = which == WS_MAT_B ? t->k : t->m;
	*ncols = which == WS_MAT_A ? t->k : t->n;
}

static uint8_t *place(const struct ws_matrix *t, unsigned which, uint8_t *regs, unsigned element)
{
	const struct ws_mregs *mr = &t->r[which];
	unsigned size = ws_melem_bytes(t->type[which]), each = mr->width / size, slot = element / WS_WARP;

	return regs + mr->reg[slot / each] + element % WS_WARP * mr->width + slot % each * size;
}

/* A matrix in memory: `lines` rows or columns, cut into pieces of 16 bytes, or of a line where that is shorter. */
struct pieces {
	unsigned size, lines, length, ncols, bytes, each;        /* each: pieces of a line */
	bool column;
	uint64_t base, step;
};

static struct pieces cut(const struct ws_matrix *t, const uint8_t *regs)
{
	struct pieces p = {.size = ws_melem_bytes(t->type[t->which]), .column = t->column};
	uint64_t base[WS_WARP];
	unsigned nrows;

	shape(t, t->which, &nrows, &p.ncols);
	p.lines = t->column ? p.ncols : nrows;
	p.length = t->column ? nrows : p.ncols;
	p.bytes = p.length * p.size < ROW ? p.length * p.size : ROW;
	p.each = p.length * p.size / p.bytes;
	ws_addresses(regs, t->addr, t->addr_width, t->off, base);
	p.base = base[0];
	p.step = p.length;
	if (t->stride != WS_LANE_NONE)
		p.step = *(const uint32_t *)(const void *)(regs + t->stride);
	p.step *= p.size;
	return p;
}

/* Between a piece and `all`, in which the elements of the matrix lie row by row. */
static void copy_piece(const struct pieces *p, unsigned piece, uint8_t *data, uint8_t *all, bool to_data)
{
	unsigned line = piece / p->each, from = piece % p->each * (p->bytes / p->size);

	for (unsigned i = 0; i < p->bytes / p->size; i++) {
		unsigned at = p->column ? (from + i) * p->ncols + line : line * p->ncols + from + i;

		if (to_data)
			memcpy(data + i * p->size, all + at * p->size, p->size);
		else
			memcpy(all + at * p->size, data + i * p->size, p->size);
	}
}

static bool wmma_memory(struct ws_exec *x, const struct ws_dinst *in, bool write, uint8_t *all)
{
	const struct ws_matrix *t = in->u.op.ptr;
	struct pieces p = cut(t, x->frag->frame->regs);
	uint64_t addr[WS_WARP];
	uint8_t data[WS_WARP * ROW];

	for (unsigned first = 0; first < p.lines * p.each; first += WS_WARP) {
		unsigned n = p.lines * p.each - first < WS_WARP ? p.lines * p.each - first : WS_WARP;
		struct ws_request q = {.addr = addr, .mask = n < WS_WARP ? (1u << n) - 1 : UINT32_MAX, .bytes = p.bytes,
		                       .space = t->space, .write = write, .cache = t->cache};

		for (unsigned l = 0; l < n; l++) {
			addr[l] = p.base + (first + l) / p.each * p.step + (first + l) % p.each * p.bytes;
			if (write)
				copy_piece(&p, first + l, data + l * p.bytes, all, true);
		}
		if (!transfer(x, in, &q, data))
			return false;
		for (unsigned l = 0; l < n && !write; l++)
			copy_piece(&p, first + l, data + l * p.bytes, all, false);
	}
	return true;
}

enum ws_next ws_op_wmma_load(struct ws_exec *x, const struct ws_dinst *in, uint32_t mask)
{
	const struct ws_matrix *t = in->u.op.ptr;
	uint8_t *regs = x->frag->frame->regs, all[MAX_ELEMENTS * 4];
	unsigned nrows, ncols, size = ws_melem_bytes(t->type[t->which]);
	enum ws_next next = ws_whole_warp(x, in, mask);

	if (next != WS_NEXT)
		return next;
	if (!wmma_memory(x, in, false, all))
		return WS_STOP;
	shape(t, t->which, &nrows, &ncols);
	for (unsigned r = 0; r < t->r[t->which].n; r++)
		memset(regs + t->r[t->which].reg[r], 0, (size_t)t->r[t->which].width * WS_WARP);
	for (unsigned e = 0; e < nrows * ncols; e++)
		memcpy(place(t, t->which, regs, e), all + e * size, size);
	return WS_NEXT;
}

enum ws_next ws_op_wmma_store(struct ws_exec *x, const struct ws_dinst *in, uint32_t mask)
{
	const struct ws_matrix *t = in->u.op.ptr;
	uint8_t *regs = x->frag->frame->regs, all[MAX_ELEMENTS * 4];
	unsigned size = ws_melem_bytes(t->type[WS_MAT_D]);
	enum ws_next next = ws_whole_warp(x, in, mask);

	if (next != WS_NEXT)
		return next;
	for (unsigned e = 0; e < (unsigned)t->m * t->n; e++)
		memcpy(all + e * size, place(t, WS_MAT_D, regs, e), size);
	return wmma_memory(x, in, true, all) ? WS_NEXT : WS_STOP;
}

static void get_all(const struct ws_matrix *t, unsigned which, uint8_t *regs, double *out)
{
	unsigned nrows, ncols;

	shape(t, which, &nrows, &ncols);
	for (unsigned e = 0; e < nrows * ncols; e++)
		out[e] = ws_melem_get(t->type[which], place(t, which, regs, e));
}

enum ws_next ws_op_wmma_mma(struct ws_exec *x, const struct ws_dinst *in, uint32_t mask)
{
	const struct ws_matrix *t = in->u.op.ptr;
	uint8_t *regs = x->frag->frame->regs;
	enum ws_next next = ws_whole_warp(x, in, mask);
	double a[MAX_ELEMENTS], b[MAX_ELEMENTS], c[MAX_ELEMENTS];

	if (next != WS_NEXT)
		return next;
	get_all(t, WS_MAT_A, regs, a);
	get_all(t, WS_MAT_B, regs, b);
	get_all(t, WS_MAT_C, regs, c);
	ws_matrix_product(t, t->m, a, b, c);
	for (unsigned e = 0; e < (unsigned)t->m * t->n; e++)
		ws_melem_put(t->type[WS_MAT_D], place(t, WS_MAT_D, regs, e), c[e], t->saturate);
	return WS_NEXT;
}

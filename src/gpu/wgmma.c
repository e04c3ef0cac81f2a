/* wgmma.c - wgmma: products of a warpgroup (PTX ISA 9.0, Asynchronous Warpgroup Level Matrix Instructions).
 *
 * A product is executed by each warp when it comes to it; a wait lets a warp go on when the other three have come to the same
 * products. Warp i of the group makes rows 16 i to 16 i + 15 of D, when it comes to the instruction. The observer is told of what
 * it reads of shared memory, its rows of A and all of B, as an asynchronous operation of the warp. */
#include "gpu/matrix.h"

#include <string.h>

#define EACH_LANE(l, mask) \
	for (uint32_t m_ = (mask), l; m_ && (l = (uint32_t)__builtin_ctz(m_), true); m_ &= m_ - 1)
enum { GROUP = 4, ROWS = 16, CHUNK = 16, CORE = 8 };     /* warps; rows of a warp; bytes; rows of a core matrix */

/* ---- shared memory descriptors (PTX ISA 9.0, Matrix Descriptor Format; Strides) ---- */
struct matrix {
	uint32_t start, leading, stride;
	unsigned span;                   /* chunks of a swizzled row: 8, 4, 2; 1 = not swizzled */
	bool k_major;
};

static bool read_descriptor(struct ws_exec *x, const struct ws_dinst *in, uint32_t reg, bool trans, struct matrix *m)
{
	static const uint8_t spans[] = {1, 8, 4, 2};
	uint64_t d = ws_r64(x->frag->frame->regs, reg)[0];

	*m = (struct matrix){.start = (uint32_t)(d & 0x3fff) << 4, .leading = (uint32_t)(d >> 16 & 0x3fff) << 4,
	                     .stride = (uint32_t)(d >> 32 & 0x3fff) << 4, .span = spans[d >> 62], .k_major = !trans};
	if (!(d >> 49 & 7))
		return true;
	return ws_exec_fail(x, in, 1, WS_GPU_UNSUPPORTED,
	                    "matrix descriptors with a base offset are not simulated (0x%llx)", (unsigned long long)d);
}

/* Where 16 bytes of the matrix are. k_major: bytes 16 * minor of row `major`; else elements 8 * major to 8 * major + 7
 * of the column, or row, with k = minor. */
static uint32_t chunk_address(const struct matrix *m, unsigned major, unsigned minor)
{
	unsigned row = m->k_major ? major % CORE : minor % CORE;
	uint32_t a = m->start + row * m->span * CHUNK;

	if (m->k_major)
		a += major / CORE * m->stride + minor * (m->span == 1 ? m->leading : CHUNK);
	else if (m->span == 1)
		a += major * m->stride + minor / CORE * m->leading;
	else
		a += major % m->span * CHUNK + major / m->span * m->leading + minor / CORE * m->stride;
	return a ^ (a >> 7 & (m->span - 1)) << 4;
}

struct reading {
	struct ws_exec *x;
	const struct ws_dinst *in;
	uint64_t op;
	uint64_t addr[WS_WARP];
	unsigned n;                      /* chunks waiting in addr */
	uint8_t *to;                     /* where the first of them goes */
};

static bool flush(struct reading *rd)
{
	struct ws_exec *x = rd->x;
	struct ws_request q = {.addr = rd->addr, .mask = rd->n < WS_WARP ? (1u << rd->n) - 1 : UINT32_MAX,
	                       .bytes = CHUNK, .space = WS_SPACE_SHARED};
	struct ws_resolved r;

	for (; q.mask; q.mask &= ~r.mask) {
		if (!ws_resolve(x, rd->in, &q, &r))
			return false;
		if (ws_wants(x, WS_SPACE_SHARED)) {
			struct ws_access a = {.kind = WS_READ, .sem = WS_SEM_WEAK, .scope = WS_SCOPE_NONE,
			                      .bytes = CHUNK, .async = WS_ASYNC_WGMMA, .issuer = WS_WARP, .op = rd->op};

			ws_observe(x, rd->in, &r, &a);
		}
		EACH_LANE(l, r.mask)
			memcpy(rd->to + l * CHUNK, r.host[l], CHUNK);
	}
	rd->to += rd->n * CHUNK;
	rd->n = 0;
	return true;
}

/* Chunks of `majors` rows (or groups of 8 elements), `minors` each, one after the other into `to`. */
static bool read_chunks(struct reading *rd, const struct matrix *m, unsigned first, unsigned majors, unsigned minors,
                        uint8_t *to)
{
	rd->n = 0;
	rd->to = to;
	for (unsigned i = 0; i < majors; i++)
		for (unsigned j = 0; j < minors; j++) {
			rd->addr[rd->n++] = chunk_address(m, first + i, j);
			if (rd->n == WS_WARP && !flush(rd))
				return false;
		}
	return !rd->n || flush(rd);
}

/* `lines` rows of A, or columns of B, from the first on: value(line, k) goes to out[line * by_line + k * by_k]. */
static bool operand(struct reading *rd, unsigned which, unsigned first, unsigned lines, unsigned by_line, unsigned by_k,
                    double *out)
{
	const struct ws_matrix *t = rd->in->u.op.ptr;
	unsigned size = ws_melem_bytes(t->type[which]), each = CHUNK / size;
	uint8_t bytes[WS_MAT_MAX_N * 2 * CHUNK];
	struct matrix m;

	if (!read_descriptor(rd->x, rd->in, t->desc[which], t->trans[which], &m))
		return false;
	if (m.k_major ? !read_chunks(rd, &m, first, lines, 2, bytes) :
	                !read_chunks(rd, &m, first / each, lines / each, t->k, bytes))
		return false;
	for (unsigned i = 0; i < lines; i++)
		for (unsigned k = 0; k < t->k; k++) {
			unsigned at = m.k_major ? i * 2 * CHUNK + k * size :
			                          (i / each * t->k + k) * CHUNK + i % each * size;

			out[i * by_line + k * by_k] = ws_melem_get(t->type[which], bytes + at);
		}
	return true;
}

/* ---- the product ---- */
static bool operands(struct ws_exec *x, const struct ws_dinst *in, double *a, double *b)
{
	const struct ws_matrix *t = in->u.op.ptr;
	struct reading rd = {.x = x, .in = in, .op = ++x->warp->wgmma.op};

	x->warp->progress++;             /* others of its warpgroup may wait for it */
	if (t->desc[WS_MAT_A] == WS_LANE_NONE)
		ws_fragment_a(t, x->frag->frame->regs, ROWS, a);
	else if (!operand(&rd, WS_MAT_A, x->warp->obs.index % GROUP * ROWS, ROWS, t->k, 1, a))
		return false;
	if (!operand(&rd, WS_MAT_B, 0, t->n, 1, t->n, b))
		return false;
	for (unsigned i = 0; i < ROWS * (unsigned)t->k && t->negate[WS_MAT_A]; i++)
		a[i] = -a[i];
	for (unsigned i = 0; i < (unsigned)t->k * t->n && t->negate[WS_MAT_B]; i++)
		b[i] = -b[i];
	return true;
}

static bool whole_group(struct ws_exec *x, const struct ws_dinst *in)
{
	uint32_t last = x->warp->obs.index | (GROUP - 1);

	return last < x->block->nwarps ||
	       ws_exec_fail(x, in, 1, WS_GPU_BAD_INSTRUCTION,
	                    "wgmma needs a warpgroup of four warps, but the block has only %u", x->block->nwarps);
}

enum ws_next ws_op_wgmma(struct ws_exec *x, const struct ws_dinst *in, uint32_t mask)
{
	const struct ws_matrix *t = in->u.op.ptr;
	uint8_t *regs = x->frag->frame->regs;
	enum ws_next next = ws_whole_warp(x, in, mask);
	double a[ROWS * WS_MAT_MAX_K], b[WS_MAT_MAX_K * WS_MAT_MAX_N], d[ROWS * WS_MAT_MAX_N];
	uint32_t keep;

	if (next != WS_NEXT)
		return next;
	if (!whole_group(x, in) || !operands(x, in, a, b))
		return WS_STOP;
	keep = *ws_r32(regs, t->scale) ^ (t->scale_negated ? UINT32_MAX : 0);
	if (keep & 1)
		ws_fragment_c(t, regs, WS_MAT_D, d);
	else
		memset(d, 0, ROWS * t->n * sizeof *d);
	ws_matrix_product(t, ROWS, a, b, d);
	ws_fragment_d(t, regs, d);
	return WS_NEXT;
}

enum ws_next ws_op_wgmma_fence(struct ws_exec *x, const struct ws_dinst *in, uint32_t mask)
{
	return ws_whole_warp(x, in, mask);
}

enum ws_next ws_op_wgmma_commit(struct ws_exec *x, const struct ws_dinst *in, uint32_t mask)
{
	struct ws_wgmma *g = &x->warp->wgmma;
	enum ws_next next = ws_whole_warp(x, in, mask);

	if (next == WS_NEXT)
		g->end[++g->groups % WS_COUNT(g->end)] = g->op;
	return next;
}

/* A group is the warpgroup's: it is complete when all of its warps have come so far. */
static bool others_are_behind(const struct ws_exec *x, uint64_t op)
{
	uint32_t first = x->warp->obs.index & ~(GROUP - 1u);

	for (uint32_t w = first; w < first + GROUP && w < x->block->nwarps; w++)
		if (x->block->warps[w].live && x->block->warps[w].wgmma.op < op)
			return true;
	return false;
}

enum ws_next ws_op_wgmma_wait(struct ws_exec *x, const struct ws_dinst *in, uint32_t mask)
{
	const struct ws_matrix *t = in->u.op.ptr;
	const struct ws_wgmma *g = &x->warp->wgmma;
	enum ws_next next = ws_whole_warp(x, in, mask);
	uint64_t done[WS_WARP], last;

	if (next != WS_NEXT || g->groups <= t->pending)
		return next;
	last = g->end[(g->groups - t->pending) % WS_COUNT(g->end)];
	if (!x->clocked && others_are_behind(x, last))      /* with a clock a warp waits for its own products */
		return WS_SLICE;
	for (unsigned l = 0; l < WS_WARP; l++)
		done[l] = last;
	if (x->ops && x->ops->async_wait && x->ops->needs & WS_NEED_SYNC)
		x->ops->async_wait(x->self, &x->warp->obs, mask, WS_ASYNC_WGMMA, done, false);
	return WS_NEXT;
}

/* ---- decoding ---- */
static bool form(const struct ws_mwords *w, struct ws_matrix *t)
{
	unsigned a = w->types[1], b = w->types[2], d = w->types[0];
	bool ints = a == WS_ME_S8 || a == WS_ME_U8, fp8 = a == WS_ME_E4M3 || a == WS_ME_E5M2;

	t->type[WS_MAT_D] = t->type[WS_MAT_C] = (uint8_t)d;
	t->type[WS_MAT_A] = (uint8_t)a;
	t->type[WS_MAT_B] = (uint8_t)b;
	if (w->unknown || w->ntypes != 3 || w->m != 64 || !w->n || w->n > WS_MAT_MAX_N || w->n % 8 ||
	    !ws_melem_bytes(a) || w->k * ws_melem_bytes(a) != 2 * CHUNK)
		return false;
	if (ints)
		return (b == WS_ME_S8 || b == WS_ME_U8) && d == WS_ME_S32;
	if (fp8)
		return (b == WS_ME_E4M3 || b == WS_ME_E5M2) && (d == WS_ME_F32 || d == WS_ME_F16);
	if (a != b)
		return false;
	if (a == WS_ME_F16)
		return d == WS_ME_F32 || d == WS_ME_F16;
	return (a == WS_ME_BF16 || a == WS_ME_TF32) && d == WS_ME_F32;
}

/* d, a, b, scale-d [, scale-a, scale-b [, trans-a], trans-b]; trans-a only when A has a descriptor. */
static bool numbers(struct ws_decoder *dc, struct ws_matrix *t)
{
	const struct ws_ptx_inst *in = dc->inst;
	bool ints = t->type[WS_MAT_D] == WS_ME_S32, half = ws_melem_bytes(t->type[WS_MAT_A]) == 2;
	bool shared = t->desc[WS_MAT_A] != WS_LANE_NONE;
	unsigned n = 4 + (ints ? 0 : 2) + (half ? shared + 1u : 0);

	if (in->nops != n)
		return ws_matrix_refuse(dc);
	for (unsigned i = 4; i < n; i++)
		if (in->ops[i].kind != WS_O_INT)
			return ws_matrix_refuse(dc);
	if (!ints) {
		t->negate[WS_MAT_A] = (int64_t)in->ops[4].imm == -1;
		t->negate[WS_MAT_B] = (int64_t)in->ops[5].imm == -1;
	}
	if (half) {
		t->trans[WS_MAT_A] = shared && in->ops[6].imm;
		t->trans[WS_MAT_B] = in->ops[n - 1].imm != 0;
	}
	return true;
}

static bool decode_mma(struct ws_decoder *dc, const struct ws_mwords *w)
{
	const struct ws_operand *o = dc->inst->ops;
	struct ws_matrix *t = ws_arena_alloc(dc->image->arena, sizeof *t);

	*t = (struct ws_matrix){.m = 64, .n = (uint16_t)w->n, .k = (uint16_t)w->k, .saturate = w->saturate};
	if (!form(w, t) || dc->inst->nops < 4)
		return ws_matrix_refuse(dc);
	t->desc[WS_MAT_A] = WS_LANE_NONE;
	if (o[1].kind == WS_O_VEC) {
		if (!ws_matrix_registers(dc, &o[1], t, WS_MAT_A, 4))
			return false;
	} else {
		t->desc[WS_MAT_A] = ws_dec_src(dc, &o[1], 8);
	}
	t->desc[WS_MAT_B] = ws_dec_src(dc, &o[2], 8);
	t->scale = ws_dec_src(dc, &o[3], 0);
	t->scale_negated = o[3].negated;
	if (!numbers(dc, t) ||
	    !ws_matrix_registers(dc, &o[0], t, WS_MAT_D, w->n * ws_melem_bytes(t->type[WS_MAT_D]) / 8))
		return false;
	ws_dec_op(dc, ws_op_wgmma)->u.op.ptr = t;
	return true;
}

static bool decode_wait(struct ws_decoder *dc)
{
	struct ws_matrix *t = ws_arena_alloc(dc->image->arena, sizeof *t);
	const struct ws_ptx_inst *in = dc->inst;

	memset(t, 0, sizeof *t);
	if (in->nops != 1 || in->ops[0].kind != WS_O_INT || in->ops[0].imm > 7)
		return ws_matrix_refuse(dc);
	t->pending = (uint32_t)in->ops[0].imm;
	ws_dec_op(dc, ws_op_wgmma_wait)->u.op.ptr = t;
	return true;
}

bool ws_dec_wgmma(struct ws_decoder *dc, const struct ws_mwords *w)
{
	if (!strcmp(w->action, "mma_async") && !w->sparse)
		return decode_mma(dc, w);
	if (!strcmp(w->action, "wait_group"))
		return decode_wait(dc);
	if (!strcmp(w->action, "fence"))
		return ws_dec_op(dc, ws_op_wgmma_fence) != NULL;
	if (!strcmp(w->action, "commit_group"))
		return ws_dec_op(dc, ws_op_wgmma_commit) != NULL;
	return ws_matrix_refuse(dc);
}

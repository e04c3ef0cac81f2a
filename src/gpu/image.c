/* image.c - a kernel's image: the decoded code of the kernel and of every function that it can reach, its shared
 * memory, and an estimate of its registers. */
#include "gpu/gpu_priv.h"

#include <stdlib.h>
#include <string.h>

struct ws_code *ws_image_code(struct ws_image *im, struct ws_fn *fn)
{
	struct ws_code *code;

	for (uint32_t i = 0; i < im->ncodes; i++)
		if (im->codes[i]->fn == fn)
			return im->codes[i];
	code = ws_arena_alloc(im->arena, sizeof *code);
	code->fn = fn;
	code->image = im;
	code->index = im->ncodes;
	im->codes = ws_grow(im->codes, &im->cap_codes, im->ncodes + 1u, sizeof *im->codes);
	im->codes[im->ncodes++] = code;
	return code;
}

/* With an indirect call, every function whose address something took may be its target. */
static void add_taken(struct ws_image *im)
{
	struct ws_gpu *g = im->kernel->module->gpu;

	for (size_t i = 0; i < g->nfns; i++) {
		struct ws_fn *fn = g->fns[i];

		if (fn && fn->address_taken && fn->def == fn && fn->unit->module == im->kernel->module &&
		    !fn->ptx->entry)
			ws_image_code(im, fn);
	}
}

/* ---- registers ---- */
static unsigned words(const struct ws_reg *r)
{
	unsigned n = ws_type_bytes(r->type);

	return r->type == WS_PRED ? 0 : n <= 4 ? 1 : n / 4;
}

struct pressure {
	struct ws_ptx_func *f;
	uint64_t *live;
	int32_t now, max;
};

static void set_live(struct pressure *p, const struct ws_reg *r, bool live)
{
	uint64_t bit = 1ull << (r->index & 63), *w = &p->live[r->index / 64];

	if (live == !!(*w & bit))
		return;
	*w ^= bit;
	p->now += live ? (int32_t)words(r) : -(int32_t)words(r);
	if (p->now > p->max)
		p->max = p->now;
}

static void kill_defs(void *user, struct ws_reg *r, bool is_def)
{
	if (is_def)
		set_live(user, r, false);
}

static void add_uses(void *user, struct ws_reg *r, bool is_def)
{
	if (!is_def)
		set_live(user, r, true);
}

static void block_pressure(struct pressure *p, const struct ws_ptx_block *b)
{
	p->now = 0;
	memset(p->live, 0, (p->f->nregs + 63) / 64 * sizeof *p->live);
	for (uint32_t r = 0; b->live_out && r < p->f->nregs; r += 64)
		for (uint64_t w = b->live_out[r / 64]; w; w &= w - 1)
			set_live(p, p->f->regs[r + (uint32_t)__builtin_ctzll(w)], true);
	for (uint32_t i = b->last + 1; i-- > b->first;) {
		if (i >= p->f->ninsts)
			continue;
		ws_ptx_inst_regs(&p->f->insts[i], kill_defs, p);
		ws_ptx_inst_regs(&p->f->insts[i], add_uses, p);
	}
}

static uint32_t registers(struct ws_ptx_func *f)
{
	struct pressure p = {.f = f, .live = ws_alloc(((f->nregs + 63) / 64 + 1) * sizeof *p.live)};
	uint32_t n;

	for (uint32_t b = 0; b < f->nblocks; b++)
		block_pressure(&p, &f->blocks[b]);
	free(p.live);
	n = ((uint32_t)p.max + 4 + 7) / 8 * 8;   /* a few for addresses and calls; hardware gives eights */
	if (f->maxnreg && n > f->maxnreg)
		n = f->maxnreg;
	return n < 16 ? 16 : n > 255 ? 255 : n;
}

/* ---- the image ---- */
/* With how many registers can blocks of as many threads run as the kernel says it has, and as many of these on a multiprocessor? ptxas keeps to that
 * (PTX ISA 9.0, 11.4: .maxntid, .reqntid, .minnctapersm). */
static uint32_t most_for_blocks(const struct ws_ptx_func *f)
{
	enum { REGISTERS = 1 << 16, STEP = 8, LEAST = 16 };      /* of a multiprocessor, from sm_50 on */
	uint64_t threads = ws_ptx_most_threads(f), most;

	if (!threads)
		return UINT32_MAX;
	threads = (threads + WS_WARP - 1) / WS_WARP * WS_WARP * (f->minnctapersm ? f->minnctapersm : 1);
	most = REGISTERS / threads / STEP * STEP;
	return most < LEAST ? LEAST : (uint32_t)most;
}

/* What the kernel says of its registers holds for what it calls as well. */
static uint32_t at_most(const struct ws_image *im)
{
	uint32_t most = UINT32_MAX;

	for (uint32_t i = 0; i < im->ncodes; i++) {
		const struct ws_ptx_func *f = im->codes[i]->fn->ptx;

		if (f->entry)
			most = f->maxnreg ? f->maxnreg : most_for_blocks(f);
	}
	return most;
}

static void finish_image(struct ws_image *im)
{
	uint32_t align = im->dynamic_align > 16 ? im->dynamic_align : 16;

	im->shared_dynamic = (im->shared_static + align - 1) / align * align;
	for (uint32_t i = 0; i < im->ncodes; i++) {
		uint32_t regs = registers(im->codes[i]->fn->ptx), id = im->codes[i]->fn->id;

		if (regs > im->regs)
			im->regs = regs;
		if (id >= im->nby_fn)
			im->nby_fn = id + 1;
		im->local_bytes += im->codes[i]->local_bytes;
	}
	im->regs = im->regs < at_most(im) ? im->regs : at_most(im);
	im->by_fn = ws_arena_alloc(im->arena, (im->nby_fn + 1) * sizeof(struct ws_code *));
	for (uint32_t i = 0; i < im->ncodes; i++)
		im->by_fn[im->codes[i]->fn->id] = im->codes[i];
	if (im->local_bytes || im->calls)
		im->uses_local = true;
}

static void refuse_image(struct ws_image *im, const char *text)
{
	im->refused = WS_GPU_UNSUPPORTED;
	ws_buf_puts(&im->why, text);
}

static struct ws_image *new_image(struct ws_gpu_kernel *k)
{
	struct ws_image *im = ws_alloc(sizeof *im);
	bool taken = false;

	im->arena = ws_arena_new();
	im->kernel = k;
	im->shared_static = k->module->gpu->config.shared_reserved;
	if (k->fn->unit->ptx->address_size == 32)
		refuse_image(im, "modules with addresses of 32 bits are not simulated");
	ws_image_code(im, k->fn);
	for (uint32_t i = 0; i < im->ncodes && !im->refused; i++) {
		ws_decode(im, im->codes[i]);
		if (im->indirect && !taken && i + 1 == im->ncodes) {
			add_taken(im);
			taken = true;
		}
	}
	finish_image(im);
	return im;
}

struct ws_image *ws_image_get(struct ws_gpu_kernel *k)
{
	struct ws_gpu *g = k->module->gpu;
	struct ws_image *im;

	pthread_mutex_lock(&g->lock);
	if (!k->image)
		k->image = new_image(k);
	im = k->image;
	pthread_mutex_unlock(&g->lock);
	return im;
}

void ws_image_free(struct ws_image *im)
{
	if (!im)
		return;
	for (uint32_t i = 0; i < im->ncodes; i++)
		free(im->codes[i]->ext);
	free(im->codes);
	free(im->shared);
	ws_written_free(im->written);
	ws_buf_free(&im->why);
	ws_arena_free(im->arena);
	free(im);
}

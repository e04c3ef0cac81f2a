/* error.c - what is told when a kernel cannot go on: what happened, in which instruction and source line, in which
 * thread, and what lies at the address. */
#include "base/demangle.h"
#include "gpu/async_priv.h"

#include <stdlib.h>
#include <string.h>

void ws_error_set(struct ws_gpu_error *err, enum ws_gpu_errcode code, const char *fmt, ...)
{
	va_list ap;

	if (!err || err->code)
		return;
	err->code = code;
	va_start(ap, fmt);
	ws_buf_vprintf(&err->text, fmt, ap);
	va_end(ap);
}

static void trimmed(struct ws_buf *out, const char *text, size_t n)
{
	bool space = false;

	for (size_t i = 0; i < n; i++) {
		bool white = text[i] == ' ' || text[i] == '\t' || text[i] == '\n' || text[i] == '\r';

		if (white) {
			space = true;
			continue;
		}
		if (space)
			ws_buf_puts(out, " ");
		space = false;
		ws_buf_add(out, &text[i], 1);
	}
}

/* "    instruction: st.global.u32 [%rd4], %r7;" and "    at app.cu:12" */
static void describe_inst(struct ws_buf *out, const struct ws_code *code, const struct ws_dinst *in)
{
	const struct ws_ptx_module *m = code->fn->unit->ptx;
	const struct ws_ptx_inst *p;

	while (in->site == WS_NO_SITE && in > code->insts)
		in--;
	if (in->site == WS_NO_SITE)
		return;
	p = &code->fn->ptx->insts[in->site];
	ws_buf_puts(out, "\n  instruction: ");
	trimmed(out, m->text + p->off, p->len);
	ws_buf_puts(out, "\n  at ");
	ws_ptx_where(m, p, out);
}

static void describe_calls(struct ws_buf *out, const struct ws_frame *fr)
{
	int depth = 0;

	for (; fr && fr->parent && depth < 8; fr = fr->parent, depth++) {
		const struct ws_code *caller = fr->parent->code;

		ws_buf_printf(out, "\n  in function '%s', called at ", fr->code->fn->ptx->name);
		ws_ptx_where(caller->fn->unit->ptx, &caller->fn->ptx->insts[fr->call->site], out);
	}
}

void ws_fail_where(struct ws_exec *x, const struct ws_dinst *in, uint32_t lane)
{
	struct ws_buf *out = &x->err.text;
	uint32_t tid[3];
	const uint32_t *c = x->block->obs.ctaid;

	ws_thread_of(x->launch, x->warp->obs.index * WS_WARP + lane, tid);
	describe_inst(out, x->frag->frame->code, in);
	describe_calls(out, x->frag->frame);
	ws_buf_printf(out, "\n  kernel: %s\n  block (%u,%u,%u), thread (%u,%u,%u)", x->launch->kernel->name, c[0],
	              c[1], c[2],
	              tid[0], tid[1], tid[2]);
	x->failed = true;
}

bool ws_fail_origin(struct ws_exec *x, const struct ws_origin *o, enum ws_gpu_errcode code, const char *fmt, ...)
{
	struct ws_buf *out = &x->err.text;
	const uint32_t *c = o->warp->block->obs.ctaid;
	uint32_t tid[3];
	va_list ap;

	if (x->failed)
		return false;
	x->err.code = code;
	x->failed = true;
	va_start(ap, fmt);
	ws_buf_vprintf(out, fmt, ap);
	va_end(ap);
	ws_thread_of(x->launch, o->warp->obs.index * WS_WARP + o->lane, tid);
	describe_inst(out, o->code, o->in);
	ws_buf_printf(out, "\n  kernel: %s\n  block (%u,%u,%u), thread (%u,%u,%u)", x->launch->kernel->name, c[0], c[1],
	              c[2], tid[0], tid[1], tid[2]);
	return false;
}

bool ws_exec_fail(struct ws_exec *x, const struct ws_dinst *in, uint32_t mask, enum ws_gpu_errcode code,
                  const char *fmt, ...)
{
	va_list ap;

	if (x->failed)
		return false;
	x->err.code = code;
	va_start(ap, fmt);
	ws_buf_vprintf(&x->err.text, fmt, ap);
	va_end(ap);
	ws_fail_where(x, in, mask ? (uint32_t)__builtin_ctz(mask) : 0);
	return false;
}

static const char *space_text(unsigned space)
{
	switch (space) {
	case WS_SPACE_SHARED:
		return "shared memory";
	case WS_SPACE_LOCAL:
		return "local memory";
	case WS_SPACE_PARAM:
		return "the kernel's parameters";
	default:
		return "global memory";
	}
}

static void describe_shared(struct ws_exec *x, uint64_t addr, struct ws_buf *out)
{
	const struct ws_image *im = x->image;

	ws_buf_printf(out, "\n  shared memory of the block: %u bytes", x->shared_bytes);
	for (size_t i = im->nshared; i-- > 0;)
		if (addr >= im->shared[i].offset) {
			char *name = ws_plain_variable(im->shared[i].sym->name, true);

			ws_buf_printf(out, "; %llu bytes from the start of '%s' (%llu bytes)",
			              (unsigned long long)(addr - im->shared[i].offset), name,
			              (unsigned long long)im->shared[i].sym->size);
			free(name);
			return;
		}
}

void ws_fail_address(struct ws_exec *x, const struct ws_dinst *in, uint32_t lane, enum ws_gpu_errcode code,
                     unsigned space, uint64_t addr, unsigned bytes, bool write, const char *what)
{
	struct ws_buf *out = &x->err.text;

	if (x->failed)
		return;
	x->err.code = code;
	ws_buf_printf(out, "%s: %s of %u bytes at 0x%llx in %s", what, write ? "write" : "read", bytes,
	              (unsigned long long)addr, space_text(space));
	if (space == WS_SPACE_GLOBAL && addr >> WS_WINDOW_SHIFT == 0) {
		ws_buf_puts(out, "\n  address: ");
		ws_gpu_mem_describe(x->gpu, addr, out);
	} else if (space == WS_SPACE_SHARED) {
		describe_shared(x, addr, out);
	} else if (space == WS_SPACE_LOCAL) {
		ws_buf_printf(out, "\n  the stack of a thread has %llu bytes",
		              (unsigned long long)x->launch->stack_bytes);
	}
	ws_fail_where(x, in, lane);
}

/* parts.c - kernels whose accesses to shared memory look whether they stay in their parts; see parts.h. */
#include "rewrite/parts.h"

#include <stddef.h>
#include <string.h>

#include "device/race.h"
#include "rewrite/rewrite_priv.h"

/* ---- which kernels ---- */
/* Threads find the same there when the launch is made once more. */
static bool is_same_again(const struct ws_operand *o)
{
	unsigned s = o->sreg_or_count;

	return o->kind != WS_O_SREG || s <= WS_SR_NCTAID_Z || s == WS_SR_LANEID || (s >= WS_SR_LANEMASK_EQ && s <= WS_SR_LANEMASK_GT);
}

static bool may_be_again(const struct ws_ptx_inst *i)
{
	enum { OTHERS = WS_FX_CALL | WS_FX_FENCE | WS_FX_ASYNC | WS_FX_SYNC };

	for (unsigned k = 0; k < i->nops; k++)
		if (!is_same_again(&i->ops[k]))
			return false;
	return !(ws_op_info(i->op)->fx & OTHERS) && i->op != WS_OP_trap && i->op != WS_OP_unknown;
}

/* An order of threads of other blocks is that of atomics and strong accesses; of shared memory each block begins anew. */
static bool access_may_be_again(const struct ws_rw_access *a)
{
	if (a->rw_class != WS_RW_CHECK)
		return a->rw_class != WS_RW_UNHANDLED;
	return a->space == WS_SPACE_SHARED || (a->space == WS_SPACE_GLOBAL && a->kind != WS_RW_ATOMIC && a->sem == WS_SEM_WEAK);
}

bool ws_parts_may(const struct ws_ptx_func *f, const struct ws_rw_access *list, uint32_t n)
{
	enum { MOST = 20000 };
	bool may = f->entry && !f->ntables && f->ninsts <= MOST;

	for (uint32_t k = 0; k < f->ninsts && may; k++)
		may = may_be_again(&f->insts[k]);
	for (uint32_t k = 0; k < n && may; k++)
		may = access_may_be_again(&list[k]);
	return may;
}

/* ---- the kernel ---- */
static void write_address(const struct ws_rw_access *a, struct ws_buf *out)
{
	const struct ws_reg *r = a->address->reg;

	ws_buf_printf(out, "%s %%ws_at, %s;\n", ws_type_bytes(r->type) == 8 ? "cvt.u32.u64" : "mov.b32", r->name);
	if (a->address->offset)
		ws_buf_printf(out, "add.s32 %%ws_at, %%ws_at, %d;\n", (int)a->address->offset);
}

/* Before an access: unless its bytes are in its part, the launch's number is left where the checked kernel looks. */
static void write_look(const struct ws_rw_access *a, const struct ws_shared_part *part, struct ws_buf *out)
{
	size_t at = offsetof(struct ws_race_parts, part) + (part->number - 1) * sizeof(struct ws_race_part);

	ws_buf_puts(out, "{\n.reg .b32 %ws_at, %ws_bound;\n.reg .b64 %ws_seen;\n.reg .pred %ws_out;\n");
	write_address(a, out);
	ws_buf_printf(out, "mov.u32 %%ws_bound, %s;\nsub.s32 %%ws_at, %%ws_at, %%ws_bound;\n", part->variable);
	ws_buf_printf(out, "ld.param.u32 %%ws_bound, [__warpsafe_launch+%zu];\nsub.s32 %%ws_at, %%ws_at, %%ws_bound;\n",
	              at + offsetof(struct ws_race_part, first));
	ws_buf_printf(out, "ld.param.u32 %%ws_bound, [__warpsafe_launch+%zu];\nsub.s32 %%ws_bound, %%ws_bound, %u;\n",
	              at + offsetof(struct ws_race_part, bytes), a->bytes);
	ws_buf_puts(out, "setp.gt.u32 %ws_out, %ws_at, %ws_bound;\n");
	if (a->inst->guard)
		ws_buf_printf(out, "@%s%s setp.ne.u32 %%ws_out, 0, 0;\n", a->inst->guard_neg ? "" : "!", a->inst->guard->name);
	ws_buf_printf(out, "@%%ws_out ld.param.u32 %%ws_bound, [__warpsafe_launch+%zu];\n", offsetof(struct ws_race_parts, number));
	ws_buf_printf(out, "@%%ws_out ld.param.u64 %%ws_seen, [__warpsafe_launch+%zu];\n", offsetof(struct ws_race_parts, seen));
	ws_buf_puts(out, "@%ws_out st.global.u32 [%ws_seen], %ws_bound;\n}\n\t");
}

/* Of all edits the parameter alone. */
static const char *choose(void *user, const struct ws_ptx_edit *e)
{
	return strstr(e->text, "__warpsafe_launch") ? e->text : NULL;
}

/* The labels get other names, for debug information speaks of those of the first. */
void ws_parts_write(struct ws_pass *p, struct ws_ptx_func *f, const struct ws_rw_access *list, uint32_t n, const struct ws_shared_parts *parts)
{
	const char *text = p->m->text;
	struct ws_buf body = { 0 }, out = { 0 };
	uint32_t name = ws_rw_name_at(f), at = f->body_off + 1;

	ws_buf_puts(&out, "\n");
	ws_buf_add(&out, text + f->off, name - f->off);
	ws_buf_puts(&out, WS_RW_PARTS);
	ws_ptx_print_chosen(p->m, name, f->body_off, choose, NULL, &out);
	ws_buf_puts(&out, "{");
	for (uint32_t k = 0; k < n; k++) {
		if (!parts->list[k].number)
			continue;
		ws_buf_add(&body, text + at, list[k].inst->off - at);
		at = list[k].inst->off;
		write_look(&list[k], &parts->list[k], &body);
	}
	ws_buf_add(&body, text + at, f->off + f->len - 1 - at);
	ws_rw_relabel(f, body.data, body.len, &out);
	ws_buf_puts(&out, "}\n");
	ws_rw_put_copy(p, f->off + f->len, &out);
	ws_buf_free(&body);
}

void ws_parts_behind(struct ws_pass *p, struct ws_ptx_func *f, const char *mark)
{
	struct ws_code *c = ws_code_first(p, f);
	const char *other = ws_code_temp(c, WS_PRED), *number = ws_code_temp(c, WS_B32), *found = ws_code_temp(c, WS_B32), *seen = ws_code_temp(c, WS_B64);
	const char *label = ws_code_label(c);

	ws_code_add(c, "setp.ne.u32 %s, %s, %u;", other, mark, WS_RACE_BEHIND_PARTS);
	ws_code_add(c, "@%s bra %s;", other, label);
	ws_code_add(c, "mov.u32 %s, 0;", mark);
	ws_code_add(c, "ld.param.u32 %s, [__warpsafe_launch+%zu];", number, offsetof(struct ws_race_parts, number));
	ws_code_add(c, "ld.param.u64 %s, [__warpsafe_launch+%zu];", seen, offsetof(struct ws_race_parts, seen));
	ws_code_add(c, "ld.volatile.global.u32 %s, [%s];", found, seen);
	ws_code_add(c, "setp.eq.u32 %s, %s, %s;", other, found, number);
	ws_code_add(c, "@%s bra %s;", other, label);
	ws_code_add(c, "ret;");
	ws_code_add(c, "%s:", label);
	ws_code_end(c);
}

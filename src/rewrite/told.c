/* told.c - launches that are told what proofs find of them; see told.h. */
#include "rewrite/told.h"

#include <stddef.h>

#include "device/race.h"

const char *ws_rw_take_launch(struct ws_pass *p, struct ws_ptx_func *f, struct ws_rw_kernel *kernel)
{
	const char *label, *v[4], *mark;
	struct ws_code *c;

	kernel->launch_at = ws_rw_param_block(p, f, (uint32_t)sizeof(struct ws_race_launch), "__warpsafe_launch");
	kernel->compared = kernel->launch_at != UINT32_MAX;
	if (!kernel->compared)
		return NULL;
	mark = ws_rw_register(p, f, WS_B32);
	p->alone = ws_rw_register(p, f, WS_PRED);
	c = ws_code_first(p, f);
	label = ws_code_label(c);
	ws_code_add(c, "ld.param.u32 %s, [__warpsafe_launch];", mark);
	ws_code_add(c, "setp.ne.u32 %s, %s, %u;", p->alone, mark, WS_RACE_COMPARED);
	ws_code_add(c, "@%s bra %s;", p->alone, label);
	for (unsigned k = 0; k < 4; k++)
		v[k] = ws_code_temp(c, WS_B32);
	for (unsigned at = 0; at < sizeof(struct ws_race_launch); at += 16) {
		ws_code_add(c, "ld.param.v4.u32 {%s, %s, %s, %s}, [__warpsafe_launch+%u];", v[0], v[1], v[2], v[3], at);
		ws_code_add(c, "st.shared.v4.u32 [__warpsafe_block+%u], {%s, %s, %s, %s};", at, v[0], v[1], v[2], v[3]);
	}
	ws_code_add(c, "%s:", label);
	ws_code_end(c);
	return mark;
}

const char *ws_rw_take_told(struct ws_pass *p, struct ws_ptx_func *f, const char *mark, const char *proved, const char **tells)
{
	const char *not, *label, *bits, *bit, *told;
	struct ws_buf text = { 0 };
	struct ws_code *c;

	if (!p->ntruths || p->ntruths > WS_RACE_MOST_TRUTHS || p->nvalues > WS_RACE_MOST_VALUES)
		return NULL;
	c = ws_code_first(p, f);
	label = ws_code_label(c);
	told = ws_code_label(c);
	not = ws_code_temp(c, WS_PRED);
	bits = ws_code_temp(c, WS_B64);
	bit = ws_code_temp(c, WS_B64);
	ws_buf_add(&text, p->decides.data, p->decides.len);
	if (proved)
		ws_buf_printf(&text, "proved %s;\n", proved);
	ws_code_add(c, "setp.ne.u32 %s, %s, %u;", not, mark, WS_RACE_TOLD);
	ws_code_add(c, "@%s bra %s;", not, label);
	ws_code_add(c, "mov.u32 %s, 0;", mark);
	ws_code_add(c, "ld.param.u64 %s, [__warpsafe_launch+%zu];", bits, offsetof(struct ws_race_told, truths));
	for (unsigned k = 0; k < p->ntruths; k++) {
		ws_code_add(c, "and.b64 %s, %s, %llu;", bit, bits, 1ull << k);
		ws_code_add(c, "setp.ne.u64 %s, %s, 0;", p->truths[k], bit);
		ws_buf_printf(&text, "truth %s;\n", p->truths[k]);
	}
	for (unsigned k = 0; k < p->nvalues; k++) {
		ws_code_add(c, "ld.param.u64 %s, [__warpsafe_launch+%zu];", p->values[k], offsetof(struct ws_race_told, values) + 8 * k);
		ws_buf_printf(&text, "value %s;\n", p->values[k]);
	}
	ws_code_add(c, "bra %s;", told);
	ws_code_add(c, "%s:", label);
	ws_code_end(c);
	*tells = ws_arena_strndup(ws_rw_module(p)->arena, text.data, text.len);
	ws_buf_free(&text);
	return told;
}

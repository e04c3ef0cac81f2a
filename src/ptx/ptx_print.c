/* ptx_print.c - a module as text again. */
#include "ptx/ptx_priv.h"

#include <string.h>

void ws_ptx_print(const struct ws_ptx_module *m, struct ws_buf *out)
{
	ws_buf_add(out, m->text, m->text_len);
}

void ws_ptx_where(const struct ws_ptx_module *m, const struct ws_ptx_inst *i, struct ws_buf *out)
{
	const struct ws_ptx_loc *l = i->loc;

	if (l && l->file < m->nfiles && m->files[l->file].path)
		ws_buf_printf(out, "%s:%u", m->files[l->file].path, l->line);
	else
		ws_buf_printf(out, "%s:%u", m->path, i->line);
}

/* edit.c - what can be inserted into a module and added to it; all become edits of its text (ws_ptx_edit). */
#include "rewrite/rewrite_priv.h"
#include "rewrite/sure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- begin and end ---- */
static uint32_t first_declaration(const struct ws_ptx_module *m)
{
	uint32_t at = (uint32_t)m->text_len;

	for (uint32_t k = 0; k < m->nvars; k++)
		at = m->vars[k]->off < at ? m->vars[k]->off : at;
	for (uint32_t k = 0; k < m->nfuncs; k++)
		at = m->funcs[k]->sym->off < at ? m->funcs[k]->sym->off : at;
	return at;
}

static void refuse_reserved(struct ws_pass *p)
{
	static const char *const reserved[] = { "__warpsafe_", "%ws_", "$ws_" };

	for (unsigned k = 0; k < WS_COUNT(reserved); k++)
		if (memmem(p->m->text, p->m->text_len, reserved[k], strlen(reserved[k])))
			ws_rw_error(p, NULL, "the module has names that begin with '%s': it was rewritten already",
				    reserved[k]);
}

struct ws_pass *ws_rw_begin(struct ws_ptx_module *m, const struct ws_sink *sink)
{
	struct ws_pass *p = ws_arena_alloc(m->arena, sizeof *p);

	*p = (struct ws_pass){ .m = m, .sink = sink, .version = m->version, .sm = m->sm, .first = first_declaration(m) };
	p->regs = ws_arena_alloc(m->arena, (m->nfuncs + 1) * sizeof *p->regs);
	if (!m->edits)
		m->edits = ws_arena_alloc(m->arena, sizeof *m->edits);
	m->edits->owner = p;
	refuse_reserved(p);
	return p;
}

struct ws_ptx_module *ws_rw_module(const struct ws_pass *p)
{
	return p->m;
}

bool ws_rw_error(struct ws_pass *p, const struct ws_ptx_inst *inst, const char *fmt, ...)
{
	struct ws_buf text = { 0 };
	struct ws_diag d = { .severity = WS_ERROR, .place = { .path = p->m->path, .line = inst ? inst->line : 0 } };
	va_list ap;

	p->failed = true;
	if (!p->sink || !p->sink->emit)
		return false;
	va_start(ap, fmt);
	ws_buf_vprintf(&text, fmt, ap);
	va_end(ap);
	d.text = text.data;
	p->sink->emit(p->sink->user, &d);
	ws_buf_free(&text);
	return false;
}

void ws_rw_need(struct ws_pass *p, uint32_t version, uint32_t sm)
{
	p->version = version > p->version ? version : p->version;
	p->sm = sm > p->sm ? sm : p->sm;
}

/* From sm_70 on these exist with .sync only (PTX ISA 9.0, shfl, vote). */
static const struct ws_ptx_inst *bound_to_old_target(const struct ws_ptx_module *m)
{
	for (uint32_t k = 0; k < m->nfuncs; k++)
		for (uint32_t n = 0; n < m->funcs[k]->ninsts; n++) {
			const struct ws_ptx_inst *i = &m->funcs[k]->insts[n];

			if ((i->op == WS_OP_shfl || i->op == WS_OP_vote) && !(i->flags & WS_F_SYNC))
				return i;
		}
	return NULL;
}

static void raise_header(struct ws_pass *p)
{
	struct ws_ptx_module *m = p->m;
	const struct ws_ptx_inst *old = p->sm >= 70 && m->sm < 70 ? bound_to_old_target(m) : NULL;
	char number[16];

	if (old)
		ws_rw_error(p, old, "this instruction exists on targets before sm_70 alone, and the inserted code needs "
			    "sm_%u", p->sm);
	if (p->sm > m->sm && m->sm_suffix)
		ws_rw_error(p, NULL, "code for sm_%u%c runs there alone, and the inserted code needs sm_%u", m->sm,
			    m->sm_suffix, p->sm);
	if (p->version > m->version) {
		snprintf(number, sizeof number, "%u.%u", p->version / 10, p->version % 10);
		ws_ptx_edit(m, m->version_off, m->version_len, 0, number);
	}
	if (p->sm > m->sm) {
		snprintf(number, sizeof number, "sm_%u", p->sm);
		ws_ptx_edit(m, m->target_off, m->target_len, 0, number);
	}
}

void ws_rw_declare_registers(struct ws_pass *p, const struct ws_ptx_func *f)
{
	const struct ws_rw_registers *r = &p->regs[f->sym->index];
	struct ws_buf b = { 0 };

	for (unsigned t = 0; t < WS_RW_TYPES; t++) {
		const char *name = ws_type_name((enum ws_type)t);

		if (r->temps[t])
			ws_buf_printf(&b, "\n\t.reg .%s \t%%ws_%s_<%u>;", name, name, r->temps[t]);
		if (r->kept[t])
			ws_buf_printf(&b, "\n\t.reg .%s \t%%ws_kept_%s_<%u>;", name, name, r->kept[t]);
	}
	if (b.len)
		ws_ptx_edit(p->m, f->body_off + 1, 0, RANK_REGISTERS, b.data);
	ws_buf_free(&b);
}

bool ws_rw_end(struct ws_pass *p)
{
	for (uint32_t k = 0; k < p->m->nfuncs; k++)
		if (!p->m->funcs[k]->declared_only && !p->failed)
			ws_rw_declare_registers(p, p->m->funcs[k]);
	ws_sure_write(p);
	raise_header(p);
	p->result.sites = ws_arena_alloc(p->m->arena, (p->nsites + 1) * sizeof *p->sites);
	p->result.nsites = (uint32_t)p->nsites;
	if (p->nsites)
		memcpy((void *)p->result.sites, p->sites, p->nsites * sizeof *p->sites);
	free(p->sites);
	free(p->added.list);
	ws_buf_free(&p->decides);
	ws_rw_runtime_back(p);
	p->sites = NULL;
	p->added.list = NULL;
	return !p->failed;
}

struct ws_rw_site *ws_rw_new_site(struct ws_pass *p)
{
	struct ws_rw_site *s = WS_PUSH(p->sites, p->nsites, p->sites_cap);

	*s = (struct ws_rw_site){ 0 };
	return s;
}

struct ws_rw_result *ws_rw_result_of(struct ws_pass *p)
{
	return &p->result;
}

/* ---- declarations ---- */
void ws_rw_declare(struct ws_pass *p, const char *fmt, ...)
{
	struct ws_buf b = { 0 };
	va_list ap;

	va_start(ap, fmt);
	ws_buf_vprintf(&b, fmt, ap);
	va_end(ap);
	ws_buf_puts(&b, "\n");
	ws_ptx_edit(p->m, p->first, 0, RANK_DECLARE, b.data);
	ws_buf_free(&b);
}

uint32_t ws_rw_name_at(const struct ws_ptx_func *f)
{
	const char *text = f->module->text, *end = text + f->body_off, *name = text + f->off;
	size_t len = strlen(f->name);

	while (name < end && (strncmp(name, f->name, len) || !strchr(" \t\r\n({", name[len]) ||
			      !strchr(" \t\r\n)", name[-1])))
		name++;
	return (uint32_t)(name - text);
}

/* Where the first parameter goes: behind the '(' after the function's name, or behind the name if there is none. */
static uint32_t behind_name(const struct ws_ptx_func *f, bool *bracket)
{
	const char *text = f->module->text, *end = text + f->body_off, *name = text + ws_rw_name_at(f) + strlen(f->name);

	text = memchr(name, '(', (size_t)(end - name));
	*bracket = text && strspn(name, " \t\r\n") == (size_t)(text - name);
	return (uint32_t)((*bracket ? text + 1 : name) - f->module->text);
}

static void last_param(struct ws_pass *p, const struct ws_ptx_func *f, const char *declaration)
{
	struct ws_buf b = { 0 };
	bool bracket = true;
	uint32_t at;

	if (f->nparams) {
		at = f->params[f->nparams - 1]->off + f->params[f->nparams - 1]->len;
		ws_buf_puts(&b, ",\n\t");
	} else {
		at = behind_name(f, &bracket);
	}
	ws_buf_printf(&b, "%s%s%s", bracket ? "" : "(", declaration, bracket ? "" : ")");
	ws_ptx_edit(p->m, at, 0, RANK_DECLARE, b.data);
	ws_buf_free(&b);
}

void ws_rw_last_param(struct ws_pass *p, const struct ws_ptx_func *f, enum ws_type type, const char *name)
{
	struct ws_buf b = { 0 };

	ws_buf_printf(&b, ".param .%s %s", ws_type_name(type), name);
	last_param(p, f, b.data);
	ws_buf_free(&b);
}

bool ws_rw_param(struct ws_pass *p, struct ws_ptx_func *f, enum ws_type type, const char *name)
{
	if (!f->entry || f->declared_only)
		return ws_rw_error(p, NULL, "'%s' is no kernel with a body: it cannot take one more parameter", f->name);
	if (f->sym->off != f->off)
		return ws_rw_error(p, NULL, "'%s' is declared twice: it cannot take one more parameter", f->name);
	ws_rw_last_param(p, f, type, name);
	return true;
}

/* Where the parameters of kernels lie: each as it is aligned, one behind the other (PTX ISA 9.0, 5.1.6). */
static uint32_t behind_params(const struct ws_ptx_func *f)
{
	uint32_t at = 0;

	for (uint32_t k = 0; k < f->nparams; k++)
		at = (at + f->params[k]->align - 1) / f->params[k]->align * f->params[k]->align + (uint32_t)f->params[k]->size;
	return at;
}

uint32_t ws_rw_param_block(struct ws_pass *p, struct ws_ptx_func *f, uint32_t bytes, const char *name)
{
	enum { ALIGN = 16, MOST_BYTES = 4096, MOST_PARAMS = 128 };
	uint32_t at = (behind_params(f) + ALIGN - 1) / ALIGN * ALIGN;
	char text[96];

	if (!f->entry || f->declared_only || f->sym->off != f->off || f->nparams >= MOST_PARAMS || at + bytes > MOST_BYTES)
		return UINT32_MAX;
	snprintf(text, sizeof text, ".param .align %d .b8 %s[%u]", ALIGN, name, bytes);
	last_param(p, f, text);
	return at;
}

void ws_rw_shared(struct ws_pass *p, struct ws_ptx_func *f, uint32_t align, uint32_t bytes, const char *name)
{
	struct ws_buf b = { 0 };

	ws_buf_printf(&b, "\n\t.shared .align %u .b8 %s[%u];", align, name, bytes);
	ws_ptx_edit(p->m, f->body_off + 1, 0, RANK_SHARED, b.data);
	ws_buf_free(&b);
}

static struct ws_rw_registers *registers_of(struct ws_pass *p, const struct ws_ptx_func *f)
{
	return &p->regs[f->sym->index];
}

static const char *name(struct ws_pass *p, const char *prefix, enum ws_type type, uint32_t number)
{
	char s[48];

	snprintf(s, sizeof s, "%%ws_%s%s_%u", prefix, ws_type_name(type), number);
	return ws_arena_strndup(p->m->arena, s, strlen(s));
}

const char *ws_rw_register(struct ws_pass *p, struct ws_ptx_func *f, enum ws_type type)
{
	return name(p, "kept_", type, registers_of(p, f)->kept[type]++);
}

/* ---- code ---- */
static struct ws_code *begin(struct ws_pass *p, struct ws_ptx_func *f, struct ws_ptx_inst *inst, enum ws_side side)
{
	struct ws_code *c = ws_alloc(sizeof *c);

	*c = (struct ws_code){ .p = p, .f = f, .inst = inst, .side = side, .flat = true };
	if (inst && inst->guard) {
		c->guard = inst->guard;
		c->guard_neg = inst->guard_neg;
	}
	return c;
}

struct ws_code *ws_code_at(struct ws_pass *p, struct ws_ptx_func *f, struct ws_ptx_inst *inst, enum ws_side side)
{
	return begin(p, f, inst, side);
}

struct ws_code *ws_code_access(struct ws_pass *p, struct ws_ptx_func *f, const struct ws_rw_access *a)
{
	const struct ws_needed *n = &a->needed;
	struct ws_code *c = begin(p, f, n->p ? &f->insts[n->at] : a->inst, WS_BEFORE);

	if (n->p) {
		c->guard = n->p;
		c->guard_neg = n->neg;
	}
	return c;
}

struct ws_code *ws_code_entry(struct ws_pass *p, struct ws_ptx_func *f)
{
	return begin(p, f, NULL, WS_BEFORE);
}

struct ws_code *ws_code_for_host(struct ws_pass *p, struct ws_ptx_func *f)
{
	struct ws_code *c = ws_code_entry(p, f);

	c->for_host = true;
	return c;
}

struct ws_code *ws_code_first(struct ws_pass *p, struct ws_ptx_func *f)
{
	struct ws_code *c = ws_code_entry(p, f);

	c->first = true;
	return c;
}

/* Can control go past the last instruction of a body? Not if that is a jump or an end for all threads. */
static bool falls_off(const struct ws_ptx_func *f)
{
	const struct ws_ptx_inst *last = f->ninsts ? &f->insts[f->ninsts - 1] : NULL;

	for (uint32_t k = 0; k < f->nlabels; k++)
		if (f->labels[k].inst == f->ninsts)
			return true;
	return !last || last->guard || !(ws_op_info(last->op)->fx & (WS_FX_BRANCH | WS_FX_EXIT));
}

struct ws_code *ws_code_end_of(struct ws_pass *p, struct ws_ptx_func *f)
{
	return falls_off(f) ? begin(p, f, NULL, WS_AFTER) : NULL;
}

struct ws_code *ws_code_tail(struct ws_pass *p, struct ws_ptx_func *f)
{
	struct ws_code *c = begin(p, f, NULL, WS_AFTER);

	if (falls_off(f))
		ws_code_add(c, "ret;");
	return c;
}

const char *ws_code_temp(struct ws_code *c, enum ws_type type)
{
	struct ws_rw_registers *r = registers_of(c->p, c->f);
	const char *made = name(c->p, "", type, c->used[type]++);

	if (r->temps[type] < c->used[type] && !c->for_host)
		r->temps[type] = c->used[type];
	return made;
}

const char *ws_rw_label(struct ws_pass *p)
{
	char s[32];

	snprintf(s, sizeof s, "$ws_%u", p->labels++);
	return ws_arena_strndup(p->m->arena, s, strlen(s));
}

const char *ws_code_label(struct ws_code *c)
{
	return ws_rw_label(c->p);
}

/* A guard can stand before a line that is no label, scope, declaration or branch, and not guarded itself. */
static bool takes_guard(const char *line)
{
	return !strchr("@{}.$", *line) && strncmp(line, "bra", 3) && strncmp(line, "call", 4) && !strchr(line, ':');
}

void ws_code_add(struct ws_code *c, const char *fmt, ...)
{
	size_t at = c->text.len;
	va_list ap;

	va_start(ap, fmt);
	ws_buf_vprintf(&c->text, fmt, ap);
	va_end(ap);
	c->flat = c->flat && takes_guard(c->text.data + at);
	c->lines++;
	ws_buf_puts(&c->text, "\n");
	if (!c->inst && !c->device_only)
		ws_buf_puts(&c->host, c->text.data + at);
}

void ws_rw_holds_rarely(struct ws_pass *p, const char *truth)
{
	for (unsigned k = 0; k < p->ntruths && k < WS_RACE_MOST_TRUTHS; k++)
		if (p->truths[k] == truth)
			p->rare |= 1ull << k;
}

const char *ws_rw_of_launch(struct ws_pass *p, struct ws_ptx_func *f, enum ws_type type)
{
	const char *made = ws_rw_register(p, f, type);

	if (type == WS_PRED && p->ntruths++ < WS_RACE_MOST_TRUTHS)
		p->truths[p->ntruths - 1] = made;
	else if (type != WS_PRED && p->nvalues++ < WS_RACE_MOST_VALUES)
		p->values[p->nvalues - 1] = made;
	return made;
}

const char *ws_rw_truth_of_shared(struct ws_pass *p, struct ws_ptx_func *f)
{
	if (p->ntruths < WS_RACE_MOST_TRUTHS)
		p->of_shared |= 1ull << p->ntruths;
	return ws_rw_of_launch(p, f, WS_PRED);
}

void ws_code_device_only(struct ws_code *c, bool only)
{
	c->device_only = only;
}

void ws_code_host(struct ws_code *c, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	ws_buf_vprintf(&c->host, fmt, ap);
	va_end(ap);
	ws_buf_puts(&c->host, "\n");
}

void ws_code_tell(struct ws_code *c)
{
	if (c->host.len)
		ws_buf_add(&c->p->decides, c->host.data, c->host.len);
	ws_code_end(c);
}

/* ---- addresses ---- */
const char *ws_code_register(struct ws_code *c, const struct ws_operand *o)
{
	char s[256];

	if (!o->component || o->component >= 0x10)
		return o->reg->name;
	snprintf(s, sizeof s, "%s.%c", o->reg->name, "xyzw"[(o->component - 1) & 3]);
	return ws_arena_strndup(c->p->m->arena, s, strlen(s));
}

static const char *address(struct ws_code *c, const struct ws_rw_access *a, unsigned bytes)
{
	const struct ws_operand *o = a->address;
	const char *to, *base = o->reg ? ws_code_register(c, o) : NULL;
	unsigned have = o->reg ? ws_type_bytes(o->reg->type) : bytes, bits = 8 * bytes;

	if (base && ((have != 4 && have != 8) || ws_type_is_float(o->reg->type))) {
		ws_rw_error(c->p, a->inst, "'%s' holds no address", base);
		return base;
	}
	if (base && !o->offset && have == bytes)
		return base;
	to = ws_code_temp(c, bytes == 8 ? WS_B64 : WS_B32);
	if (!base)
		ws_code_add(c, "mov.u%u %s, %s;", bits, to, o->sym ? o->sym->name : "0");
	else if (have > bytes)
		ws_code_add(c, "cvt.u%u.u%u %s, %s;", bits, 8 * have, to, base);
	if (!base || have > bytes)
		base = to;
	if (have < bytes && o->offset) {         /* what is added is added in the width of the register: it may wrap */
		const char *sum = ws_code_temp(c, WS_B32);

		ws_code_add(c, "add.s32 %s, %s, %lld;", sum, base, (long long)o->offset);
		base = sum;
	} else if (o->offset) {
		ws_code_add(c, "add.s%u %s, %s, %lld;", bits, to, base, (long long)o->offset);
	}
	if (have < bytes)
		ws_code_add(c, "cvt.u%u.u%u %s, %s;", bits, 8 * have, to, base);
	return to;
}

/* Of a generic address, the one in the shared window. */
static const char *in_shared(struct ws_code *c, const struct ws_rw_access *a)
{
	const char *generic = address(c, a, 8), *to = ws_code_temp(c, WS_B64);

	ws_code_add(c, "cvta.to.shared.u64 %s, %s;", to, generic);
	return to;
}

const char *ws_code_address(struct ws_code *c, const struct ws_rw_access *a)
{
	return a->generic ? in_shared(c, a) : address(c, a, 8);
}

const char *ws_code_address32(struct ws_code *c, const struct ws_rw_access *a)
{
	const char *to;

	if (!a->generic)
		return address(c, a, 4);
	to = ws_code_temp(c, WS_B32);
	ws_code_add(c, "cvt.u32.u64 %s, %s;", to, in_shared(c, a));
	return to;
}

/* ---- the code becomes an edit ---- */
static void emit(struct ws_code *c, const char *line, size_t len, const char *guard, struct ws_buf *out)
{
	bool after = c->inst ? c->side == WS_AFTER : c->side == WS_BEFORE;       /* not on a line that has begun */

	ws_buf_printf(out, "%s%s%.*s%s", after ? "\n\t" : "", guard, (int)len, line, after ? "" : "\n\t");
}

static bool reads_carry(const struct ws_ptx_inst *i)
{
	return i->op == WS_OP_addc || i->op == WS_OP_subc || i->op == WS_OP_madc;
}

/* Straight code alone hands the flag on. */
static const bool *wanted_carry(struct ws_pass *p, const struct ws_ptx_func *f)
{
	bool *wanted = NULL, now = false;

	for (uint32_t k = f->ninsts; k-- > 0;) {
		const struct ws_ptx_inst *i = &f->insts[k];

		now = reads_carry(i) || (now && !(i->flags & WS_F_CC) && !(ws_op_info(i->op)->fx & (WS_FX_BRANCH | WS_FX_CALL | WS_FX_EXIT)));
		if (now && !wanted)
			wanted = ws_arena_alloc(p->m->arena, f->ninsts * sizeof *wanted);
		if (wanted)
			wanted[k] = now;
	}
	return wanted;
}

static bool is_carry_wanted(struct ws_code *c)
{
	struct ws_rw_registers *r = registers_of(c->p, c->f);
	uint32_t k;

	if (!c->inst)
		return false;
	if (!r->carry_known)
		r->carry = wanted_carry(c->p, c->f);
	r->carry_known = true;
	k = c->inst->index + (c->side == WS_AFTER);
	return r->carry && k < c->f->ninsts && r->carry[k];
}

/* A few plain instructions take the access's guard themselves; longer code is jumped over. Calls need not keep the carry flag (PTX ISA 9.0,
 * Extended-Precision Integer Arithmetic Instructions), so it is saved and given back around code that is more than such instructions. */
enum { MOST_GUARDED = 8 };

static void place(struct ws_code *c, struct ws_buf *out)
{
	char guard[256] = "", skip[300];
	const char *label = NULL, *end, *carry = !c->flat && is_carry_wanted(c) ? ws_code_temp(c, WS_B32) : NULL;

	if (carry) {
		snprintf(skip, sizeof skip, "addc.u32 %s, 0, 0;", carry);
		emit(c, skip, strlen(skip), "", out);
	}
	if (c->guard)
		snprintf(guard, sizeof guard, "@%s%s ", c->guard_neg ? "!" : "", c->guard->name);
	if (*guard && (!c->flat || c->lines > MOST_GUARDED)) {
		label = ws_code_label(c);
		snprintf(skip, sizeof skip, "@%s%s bra %s;", c->guard_neg ? "" : "!", c->guard->name, label);
		emit(c, skip, strlen(skip), "", out);
		*guard = 0;
	}
	for (const char *line = c->text.data; *line; line = end + 1) {
		end = strchr(line, '\n');
		emit(c, line, (size_t)(end - line), guard, out);
	}
	if (label) {
		snprintf(skip, sizeof skip, "%s:", label);
		emit(c, skip, strlen(skip), "", out);
	}
	if (carry) {
		snprintf(skip, sizeof skip, "add.cc.u32 %s, %s, 0xffffffff;", carry, carry);
		emit(c, skip, strlen(skip), "", out);
	}
}

void ws_code_replace(struct ws_code *c)
{
	struct ws_ptx_module *m = c->p->m;
	const struct ws_ptx_inst *i = c->inst;

	ws_code_end(c);
	ws_ptx_edit(m, i->off, i->len, RANK_REPLACE, "");
}

void ws_code_text(struct ws_code *c, struct ws_buf *out)
{
	for (const char *line = c->text.data, *end; line && *line; line = end + 1) {
		end = strchr(line, '\n');
		ws_buf_printf(out, "%.*s\n\t", (int)(end - line), line);
	}
	ws_buf_free(&c->text);
	ws_buf_free(&c->host);
	free(c);
}

void ws_code_host_text(struct ws_code *c, struct ws_buf *out)
{
	if (c->host.len)
		ws_buf_add(out, c->host.data, c->host.len);
	ws_buf_free(&c->text);
	ws_buf_free(&c->host);
	free(c);
}

void ws_code_end(struct ws_code *c)
{
	struct ws_buf out = { 0 };
	struct ws_ptx_module *m = c->p->m;

	if (c->inst && c->inst->guard && c->side == WS_AFTER && ws_ptx_sets(c->inst, c->inst->guard)) {
		ws_rw_error(c->p, c->inst, "nothing can be inserted behind an instruction that writes its own guard");
	} else if (c->lines) {
		place(c, &out);
		if (!c->inst && c->side == WS_AFTER)
			ws_ptx_edit(m, c->f->off + c->f->len - 1, 0, RANK_BEFORE, out.data);
		else if (!c->inst)
			ws_ptx_edit(m, c->f->body_off + 1, 0, c->first ? RANK_FIRST : RANK_ENTRY, out.data);
		else if (c->side == WS_BEFORE)
			ws_ptx_edit(m, c->inst->off, 0, RANK_BEFORE, out.data);
		else
			ws_ptx_edit(m, c->inst->off + c->inst->len, 0, RANK_AFTER, out.data);
	}
	ws_buf_free(&out);
	ws_buf_free(&c->text);
	ws_buf_free(&c->host);
	free(c);
}

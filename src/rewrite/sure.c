/* sure.c - kernels for launches of which all is true that checks ask of proofs; see sure.h. */
#include "rewrite/sure.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "device/race.h"

struct ws_sure {
	struct ws_pass *p;
	const struct ws_ptx_func *f;
	const char *mark, *alone, *proved;
	const char *truths[WS_RACE_MOST_TRUTHS], *values[WS_RACE_MOST_VALUES];
	unsigned ntruths, nvalues;
	size_t proofs;                   /* so many edits of the module were there before the code behind the proofs */
	uint64_t asked, rare;            /* truths; those that hardly any launch has are false in this kernel */
	uint64_t shared;                 /* truths of shared memory */
	uint64_t told;                   /* truths that this kernel is told, as the one beside it is */
	const char *prefix;              /* of its name */
	bool asks_proved, needs_proved;  /* somewhere; where no proof by addresses says it, too */
	unsigned nshared;                /* checks of shared memory that proofs may spare */
	const char *entry;               /* in place of the proofs; NULL: it is there already */
	struct ws_sure *next;
};

struct ws_sure *ws_sure_begin(struct ws_pass *p, struct ws_ptx_func *f, const char *mark, const char *proved)
{
	struct ws_sure *s = ws_arena_alloc(p->m->arena, sizeof *s);

	*s = (struct ws_sure){ .p = p, .f = f, .mark = mark, .alone = p->alone, .proved = proved, .ntruths = p->ntruths,
	                       .nvalues = p->nvalues, .proofs = p->m->edits->n, .rare = p->rare, .shared = p->of_shared };
	memcpy(s->truths, p->truths, sizeof s->truths);
	memcpy(s->values, p->values, sizeof s->values);
	return s;
}

static bool is_of_body(const struct ws_sure *s, const struct ws_ptx_edit *e)
{
	return e->at > s->f->off && e->at < s->f->off + s->f->len && e->rank != RANK_COPY;
}

/* Proofs, the way to the probe, or the choice of a copy. */
static bool is_proof(const struct ws_sure *s, const struct ws_ptx_edit *e)
{
	return (e->rank == RANK_FIRST || e->rank == RANK_ENTRY) && e < s->p->m->edits->list + s->proofs;
}

static bool names(const char *text, const char *reg)
{
	size_t len = strlen(reg);

	for (const char *at = strstr(text, reg); at; at = strstr(at + len, reg))
		if (!strchr("0123456789", at[len]) || !at[len])
			return true;
	return false;
}

/* An edit of the body. */
static void note_asked(struct ws_sure *s, const char *text)
{
	uint64_t asked = 0;
	bool proved = s->proved && names(text, s->proved);

	for (unsigned k = 0; k < s->ntruths; k++)
		if (names(text, s->truths[k]))
			asked |= 1ull << k;
	s->asked |= asked;
	s->asks_proved |= proved;
	s->needs_proved |= proved && !(asked & s->shared);
	s->nshared += proved || asked & s->shared;
}

static void add(const struct ws_sure *s, const char *prefix, uint64_t told)
{
	struct ws_sure *added = ws_arena_alloc(s->p->m->arena, sizeof *added);

	*added = *s;
	added->prefix = prefix;
	added->told = told;
	added->next = s->p->sure;
	s->p->sure = added;
}

/* Where all is true a launch needs neither unless something has to be checked in any case. One that is told what to check of global memory is worth
 * while where many checks of shared memory go: it has to be compiled, and may not be needed. */
void ws_sure_keep(struct ws_sure *s, bool always, struct ws_rw_kernel *k)
{
	enum { MANY = 24 };
	const struct ws_ptx_edits *edits = s->p->m->edits;
	uint64_t usual, memory;

	for (size_t n = s->proofs; n < edits->n; n++)
		if (is_of_body(s, &edits->list[n]))
			note_asked(s, edits->list[n].text);
	usual = s->asked & ~s->rare;
	memory = usual & ~s->shared;
	s->rare |= s->asks_proved ? s->shared : 0;
	k->sure = (struct ws_rw_sure){ .has_sure = usual && (always || s->asked != usual), .has_told = memory && s->nshared >= MANY, .sure = usual & ~s->rare,
	                               .told = usual & ~s->rare & ~memory, .proved = s->asks_proved, .own = s->needs_proved ? 0 : s->asked & s->shared };
	if (k->sure.has_sure)
		add(s, WS_RW_SURE, 0);
	if (k->sure.has_told)
		add(s, WS_RW_TOLD, memory);
}

const char *ws_rw_sure_for(const struct ws_rw_sure *s, uint64_t truths, bool proved)
{
	if (s->proved && !proved && (!s->own || s->own & ~truths))
		return NULL;
	if (s->has_sure && !(s->sure & ~truths))
		return WS_RW_SURE;
	return s->has_told && !(s->told & ~truths) ? WS_RW_TOLD : NULL;
}

/* As told.c has it. */
static void write_told(const struct ws_sure *s, struct ws_buf *out)
{
	if (!s->told)
		return;
	ws_buf_printf(out, "\n\t{\n\t.reg .b64 %%ws_bits, %%ws_bit;\n\tld.param.u64 %%ws_bits, [__warpsafe_launch+%zu];", offsetof(struct ws_race_told, truths));
	for (unsigned k = 0; k < s->ntruths; k++)
		if (s->told >> k & 1)
			ws_buf_printf(out, "\n\tand.b64 %%ws_bit, %%ws_bits, %llu;\n\tsetp.ne.u64 %s, %%ws_bit, 0;", 1ull << k, s->truths[k]);
	ws_buf_puts(out, "\n\t}");
}

static void write_entry(struct ws_sure *s, struct ws_buf *out)
{
	ws_buf_printf(out, "\n\tmov.u32 %s, 0;\n\tsetp.eq.u32 %s, 0, 0;", s->mark, s->alone);
	if (s->asks_proved)
		ws_buf_printf(out, "\n\tsetp.eq.u32 %s, 0, 0;", s->proved);
	write_told(s, out);
	for (unsigned k = 0; k < s->ntruths; k++)
		if ((s->asked & ~s->told) >> k & 1)
			ws_buf_printf(out, "\n\tsetp.%s.u32 %s, 0, 0;", s->rare >> k & 1 ? "ne" : "eq", s->truths[k]);
	for (unsigned k = 0; k < s->nvalues; k++)
		ws_buf_printf(out, "\n\tld.param.u64 %s, [__warpsafe_launch+%zu];", s->values[k], offsetof(struct ws_race_told, values) + 8 * k);
}

static const char *choose(void *user, const struct ws_ptx_edit *e)
{
	struct ws_sure *s = user;
	const char *entry = s->entry;

	if (!is_of_body(s, e))
		return NULL;
	if (!is_proof(s, e))
		return e->text;
	s->entry = NULL;
	return entry;
}

/* The labels get other names, for debug information speaks of those of the first. */
static void write_kernel(struct ws_sure *s)
{
	const struct ws_ptx_module *m = s->p->m;
	const struct ws_ptx_func *f = s->f;
	struct ws_buf entry = { 0 }, text = { 0 }, out = { 0 };
	uint32_t name = ws_rw_name_at(f);

	write_entry(s, &entry);
	s->entry = entry.data;
	ws_buf_puts(&out, "\n");
	ws_buf_add(&out, m->text + f->off, name - f->off);
	ws_buf_puts(&out, s->prefix);
	ws_ptx_print_chosen(m, name, f->body_off, choose, s, &out);
	ws_buf_puts(&out, "{");
	ws_ptx_print_chosen(m, f->body_off + 1, f->off + f->len - 1, choose, s, &text);
	ws_rw_relabel(f, text.data, text.len, &out);
	ws_buf_puts(&out, "}\n");
	ws_rw_put_copy(s->p, f->off + f->len, &out);
	ws_buf_free(&entry);
	ws_buf_free(&text);
}

void ws_sure_write(struct ws_pass *p)
{
	for (struct ws_sure *s = p->sure; s && !p->failed; s = s->next)
		write_kernel(s);
}

/* test_ranges_planes.c - the proofs of src/rewrite/ranges*.c of columns, rows and planes, of which the distances are members of a struct that the
 * kernel is given, against the pass without them: what is left must find races wherever all checks do. */
#include "host_decides.h"
#include "noise.h"
#include "race_rig.h"
#include "rewrite/rewrite_priv.h"

#include <assert.h>

enum { KERNELS = 150, LAUNCHES = 3, MIDDLE = 1 << 17 };


/* %w columns, %h rows of %p words each, %u planes of %e words each, halves %hw and %hh; %x, %y, %z */
static const char *const loads[] = {
	"ld.param.v2.u32 {%w, %h}, [g]; ld.param.v2.u32 {%p, %u}, [g+8]; ld.param.u64 %e, [g+16];\n",
	"ld.param.v4.u32 {%w, %h, %p, %u}, [g]; ld.param.u64 %e, [g+16];\n",
	"ld.param.u32 %w, [g]; ld.param.u32 %h, [g+4]; ld.param.v2.u32 {%p, %u}, [g+8]; ld.param.u64 %e, [g+16];\n",
};
static const char *const conditions[] = {
	"setp.ge.s32 %q, %x, %w; @%q bra END;\n", "setp.ge.s32 %q, %y, %h; @%q bra END;\n", "setp.ge.s32 %q, %z, %u; @%q bra END;\n",
	"cvt.s64.s32 %f, %x; cvt.u32.u64 %i, %f; setp.ge.s32 %q, %i, %w; @%q bra END;\n",
	"cvt.u64.u32 %f, %y; cvt.u32.u64 %j, %f; setp.lt.s32 %q, %j, %h; @!%q bra END;\n",
	"setp.gt.s32 %q, %x, %y; @%q bra END;\n", "setp.ge.s32 %q, %y, %x; @%q bra END;\n", "setp.lt.s32 %q, %x, %hw; @!%q bra END;\n",
	"add.s32 %i, %x, 1; setp.lt.s32 %q, %i, %w; @!%q bra END;\n", "setp.ge.s32 %q, %y, %hh; @%q bra END;\n",
};
static const char *const columns[] = {
	"mov.u32 %c, %x;\n", "mov.u32 %c, %x;\n", "mov.u32 %c, %x;\n", "add.s32 %c, %x, 1;\n", "add.s32 %c, %x, %hw;\n", "shl.b32 %c, %x, 1;\n",
	"shl.b32 %i, %x, 1; or.b32 %c, %i, 1;\n", "mov.u32 %c, %y;\n", "shr.u32 %i, %x, 31; add.s32 %j, %x, %i; shr.s32 %c, %j, 1;\n",
	"shr.u32 %i, %xx, 31; add.s32 %j, %xx, %i; shr.s32 %c, %j, 1;\n", "shr.u32 %i, %xx, 31; add.s32 %j, %xx, %i; shr.s32 %k, %j, 1; add.s32 %c, %k, %hw;\n",
};
static const char *const halves[] = {
	"mov.u32 %c, %x;\n", "add.s32 %c, %x, %hw;\n", "shr.u32 %i, %xx, 31; add.s32 %j, %xx, %i; shr.s32 %c, %j, 1;\n",
	"shr.u32 %i, %xx, 31; add.s32 %j, %xx, %i; shr.s32 %k, %j, 1; add.s32 %c, %k, %hw;\n",
};
static const char *const rows[] = {
	"mov.u32 %r, %y;\n", "mov.u32 %r, %y;\n", "mov.u32 %r, %y;\n", "shl.b32 %r, %y, 1;\n", "shl.b32 %i, %y, 1; or.b32 %r, %i, 1;\n", "add.s32 %r, %y, %hh;\n",
	"mov.u32 %r, %x;\n", "mov.u32 %r, %z;\n",
};
static const char *const planes[] = { "mov.u32 %l, %z;\n", "mov.u32 %l, %z;\n", "mov.u32 %l, %z;\n", "mov.u32 %l, 0;\n", "mov.u32 %l, %y;\n" };
static const char *const products[] = { "mul.wide.s32 %f, %p, %r;\n", "cvt.s64.s32 %f, %r; cvt.s64.s32 %t, %p; mul.lo.s64 %f, %f, %t;\n" };

/* A register is given once, as compilers do: # is the number of the place. */
static void numbered(struct ws_buf *b, const char *text, unsigned n)
{
	static const char own[] = "cijkrlft";

	for (; *text; text++) {
		ws_buf_printf(b, "%c", *text);
		if (*text == '%' && strchr(own, text[1]) && !((text[2] >= 'a' && text[2] <= 'z') || text[2] == '_')) {
			ws_buf_printf(b, "%c%u", text[1], n);
			text++;
		}
	}
}

/* usual: such as a program has that has no race. */
static void place(struct ws_buf *b, unsigned n, bool reads, bool usual)
{
	numbered(b, usual && below(4) ? ONE_OF(halves) : ONE_OF(columns), n);
	numbered(b, usual ? rows[below(6)] : ONE_OF(rows), n);
	numbered(b, usual ? planes[0] : ONE_OF(planes), n);
	numbered(b, ONE_OF(products), n);
	ws_buf_printf(b, "cvt.s64.s32 %%m%u, %%l%u; mul.lo.s64 %%n%u, %%m%u, %%e; add.s64 %%o%u, %%n%u, %%f%u; cvt.s64.s32 %%s%u, %%c%u;\n"
	              "add.s64 %%v%u, %%o%u, %%s%u; shl.b64 %%a%u, %%v%u, 2; add.s64 %%b%u, %%d, %%a%u;\n", n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n);
	ws_buf_printf(b, reads ? "ld.global.u32 %%g, [%%b%u];\n" : "st.global.u32 [%%b%u], %%x;\n", n);
}

static void make(struct ws_buf *b)
{
	bool usual = below(3);
	unsigned n = 9;

	ws_buf_puts(b, PTX_HEAD ".visible .entry k(.param .u64 a, .param .align 8 .b8 g[24])\n{\n"
	            ".reg .pred %q; .reg .b32 %x, %xx, %y, %z, %w, %h, %p, %u, %hw, %hh, %g, %c<20>, %i<20>, %j<20>, %k<20>, %r<20>, %l<20>, %ct<4>, %nt<4>, %ti<4>;\n"
	            ".reg .b64 %d, %e, %f<20>, %t<20>, %m<20>, %n<20>, %o<20>, %s<20>, %v<20>, %a<20>, %b<20>;\n"
	            "ld.param.u64 %d, [a];\n");
	ws_buf_puts(b, ONE_OF(loads));
	ws_buf_puts(b, "add.s32 %i18, %w, 1; shr.s32 %hw, %i18, 1; shr.s32 %hh, %h, 1;\n");
	for (unsigned k = 0; k < 3; k++)
		ws_buf_printf(b, "mov.u32 %%ct%u, %%ctaid.%c; mov.u32 %%nt%u, %%ntid.%c; mov.u32 %%ti%u, %%tid.%c; mad.lo.s32 %%%c, %%ct%u, %%nt%u, %%ti%u;\n",
		              k, "xyz"[k], k, "xyz"[k], k, "xyz"[k], "xyz"[k], k, k, k);
	ws_buf_puts(b, "add.s32 %xx, %x, %x;\n");
	for (unsigned k = 0; k < 3; k++)
		if (usual || below(5))
			numbered(b, conditions[usual || below(2) ? k : 3 + below(WS_COUNT(conditions) - 3)], n++);
	if (usual && below(2))
		numbered(b, conditions[3 + below(WS_COUNT(conditions) - 3)], n++);
	for (unsigned k = 0, places = 1 + below(3); k < places; k++)
		place(b, k, k && !below(3), usual);
	ws_buf_puts(b, "END: ret;\n}\n");
}

struct planes { uint32_t grid[3], block[3]; struct { uint32_t w, h, pitch, n; uint64_t plane; } g; };

static struct planes random_planes(void)
{
	struct planes s = { { 1 + below(3), 1 + below(2), 1 + below(2) }, { 1 + below(20), 1 + below(4), 1 + below(2) }, { 0 } };

	s.g.w = below(2) ? s.grid[0] * s.block[0] : 1 + below(60);
	s.g.h = below(2) ? s.grid[1] * s.block[1] : 1 + below(10);
	s.g.n = below(2) ? s.grid[2] * s.block[2] : 1 + below(4);
	s.g.pitch = below(3) ? s.g.w : s.g.w + below(20);
	s.g.pitch = below(5) ? s.g.pitch : below(64);
	s.g.plane = below(4) ? (uint64_t)s.g.pitch * s.g.h : below(700);
	if (!below(4)) {                     /* planes within rows, and nearly */
		s.g.plane = s.g.w - !below(3);
		s.g.pitch = (uint32_t)s.g.plane * s.g.n - !below(3);
	}
	return s;
}

static unsigned silent_by_host;

static bool finds(const char *pass, const char *text, const struct planes *s, bool told, bool *entered)
{
	struct race_rig r = race_new_by(pass, (struct ws_gpu_config){ .divergence = WS_DIV_ITS, .host_threads = 1 }, text);
	struct ws_mem *m = rig_mem(&r.rig, 2 * MIDDLE);
	const struct ws_race_area area = { m->addr, m->addr + 2 * MIDDLE };
	struct { uint64_t a, g[3], pad; struct ws_race_told told; } params = { .a = m->addr + MIDDLE };
	void *list[] = { &params.a, &params.g };
	struct ws_gpu_launch l = { .params = &params };

	static_assert(sizeof s->g == sizeof params.g, "a struct of 24 bytes");
	memcpy(params.g, &s->g, sizeof s->g);
	memcpy(l.grid, s->grid, sizeof l.grid);
	memcpy(l.block, s->block, sizeof l.block);
	race_areas(r.rig.g, &r.tables, &area, 1);
	host_areas[0] = area;
	host_nareas = 1;
	if (told && host_says_silent(&r.host, &l, list))
		l.shared_dynamic = WS_RACE_SILENT_SIZE(0);
	silent_by_host += l.shared_dynamic != 0;
	return race_finds(&r, &l, text, entered);
}

static void columns_rows_and_planes(void **state)
{
	unsigned races = 0, silent = 0, kernels = rig_rounds(KERNELS);

	for (unsigned k = 0; k < kernels; k++) {
		struct ws_buf text = { 0 };
		bool entered, by_host;

		noise = 5000 + k;
		make(&text);
		for (unsigned n = 0; n < LAUNCHES; n++) {
			struct planes s = random_planes();
			bool all = finds("race-all", text.data, &s, false, &entered), left = finds("race", text.data, &s, false, &entered);

			if (all != left || left != finds("race", text.data, &s, true, &by_host) || entered != by_host)
				fail_msg("kernel %u, grid %u %u %u, block %u %u %u, %u columns, %u rows of %u, %u planes of %u: race %d, race-all %d:\n%s", k,
				         s.grid[0], s.grid[1], s.grid[2], s.block[0], s.block[1], s.block[2], s.g.w, s.g.h, s.g.pitch, s.g.n,
				         (unsigned)s.g.plane, left, all, text.data);
			races += all;
			silent += !entered;
		}
		ws_buf_free(&text);
	}
	print_message("%u launches: %u with races, %u without hooks, %u as the host says\n", kernels * LAUNCHES, races, silent, silent_by_host);
	assert_int_equal(silent, silent_by_host);
	assert_true(races > kernels * LAUNCHES / 4 && silent > kernels * LAUNCHES / 16);
}

/* Rows lie in planes or planes in rows, as the launch has it; where they meet by one word, nothing is proved. */
static void whichever_is_longer(void **state)
{
	static const struct { uint32_t pitch; uint64_t plane; bool silent; } rows[] = {
		{ 8, 32, true }, { 24, 8, true }, { 8, 31, false }, { 23, 8, false }, { 7, 32, false }, { 24, 7, false }, { 32, 8, true }, { 9, 36, true },
	};
	static const char *const orders[] = { "add.s64 %o, %n, %f; add.s64 %v, %o, %s;\n", "add.s64 %o, %f, %n; add.s64 %v, %s, %o;\n" };

	for (unsigned order = 0; order < 2; order++) {
		struct ws_buf b = { 0 };

		ws_buf_puts(&b, PTX_HEAD ".visible .entry k(.param .u64 a, .param .align 8 .b8 g[24])\n{\n"
		            ".reg .pred %q; .reg .b32 %x, %y, %z, %w, %h, %p, %u, %ct<4>, %nt<4>, %ti<4>; .reg .b64 %d, %e, %f, %m, %n, %o, %s, %v, %a, %b;\n"
		            "ld.param.u64 %d, [a]; ld.param.v4.u32 {%w, %h, %p, %u}, [g]; ld.param.u64 %e, [g+16];\n");
		for (unsigned k = 0; k < 3; k++) {
			char c = "xyz"[order ? 2 - k : k];

			ws_buf_printf(&b, "mov.u32 %%ct%u, %%ctaid.%c; mov.u32 %%nt%u, %%ntid.%c; mov.u32 %%ti%u, %%tid.%c; mad.lo.s32 %%%c, %%ct%u, %%nt%u, %%ti%u;\n",
			              k, c, k, c, k, c, c, k, k, k);
		}
		ws_buf_printf(&b, "cvt.s64.s32 %%m, %%z; mul.lo.s64 %%n, %%m, %%e; mul.wide.s32 %%f, %%p, %%y; cvt.s64.s32 %%s, %%x;\n%s"
		              "shl.b64 %%a, %%v, 2; add.s64 %%b, %%d, %%a; st.global.u32 [%%b], %%x;\nret;\n}\n", orders[order]);
		for (unsigned k = 0; k < WS_COUNT(rows); k++) {
			struct planes s = { { 2, 2, 1 }, { 4, 2, 3 }, { .w = 8, .h = 4, .pitch = rows[k].pitch, .n = 3, .plane = rows[k].plane } };
			bool entered, found = finds("race", b.data, &s, false, &entered);

			if (entered == rows[k].silent || found == rows[k].silent)
				fail_msg("rows of %u, planes of %u: race %d, %s hooks", rows[k].pitch, (unsigned)rows[k].plane, found, entered ? "with" : "without");
		}
		ws_buf_free(&b);
	}
}

/* ---- loops in rows of words ---- */
struct tally { unsigned launches, races, silent, usual; };     /* usual: kernels such as programs have, without races */

/* What is left must find what all checks find. what: which kernel it is. */
static void compare(const char *text, const struct planes *p, bool usual, const char *what, struct tally *t)
{
	bool entered, all = finds("race-all", text, p, false, &entered), left = finds("race", text, p, false, &entered);

	if (all != left)
		fail_msg("%s, %u blocks of %u, %u columns, %u rows of %u: race %d, race-all %d:\n%s", what, p->grid[0], p->block[0], p->g.w, p->g.h, p->g.pitch,
		         left, all, text);
	t->launches++;
	t->races += all;
	t->silent += !entered;
	t->usual += !all && usual;
}

static void print_tally(const struct tally *t)
{
	print_message("%u launches: %u with races, %u without hooks; %u of usual kernels without races\n", t->launches, t->races, t->silent, t->usual);
}

/* ---- rows in steps of one number, what is left over first (ranges_left_first.c, ranges_together.c) ---- */
struct steps {
	uint32_t step, u;                /* the loop is unrolled u times */
	unsigned wrong;                  /* what is not as compilers have it; 0 or above 9: nothing */
	unsigned form;                   /* of addresses in the second loop */
	unsigned around;                 /* what else the kernel has: bits of enum around */
};
/* A write where i begins, of whatever it is; i begins with a register that goes on behind the loops, and once more ahead of the first one; loops that add nothing. */
enum around { EARLY = 1, AGAIN = 2, ROUNDS = 4, MOST_AROUND = 8 };

static void other_loop(struct ws_buf *b, const char *label)
{
	ws_buf_printf(b, "mov.u32 %%k4, 0;\n%s: add.s32 %%k4, %%k4, 1; setp.lt.s32 %%q1, %%k4, 3; @%%q1 bra %s;\n", label, label);
}

/* %sp / step: by a shift, or a product with a power of 2 that is divided by it. */
static void quotient(struct ws_buf *b, uint32_t step)
{
	unsigned more = 31 - (unsigned)__builtin_clz(step);
	uint64_t m = (((uint64_t)1 << (32 + more)) + step - 1) / step;

	if (!(step & (step - 1)))
		ws_buf_printf(b, "shr.u32 %%q, %%sp, %u;\n", more);
	else if (below(2))
		ws_buf_printf(b, "mul.wide.u32 %%m1, %%sp, %d; shr.u64 %%m2, %%m1, %u; cvt.u32.u64 %%q, %%m2;\n", (int32_t)(uint32_t)m, 32 + more);
	else
		ws_buf_printf(b, "mul.hi.u32 %%n2, %%sp, %d; shr.u32 %%q, %%n2, %u;\n", (int32_t)(uint32_t)m, more);
}

static void second_loop(struct ws_buf *b, const struct steps *s)
{
	static const char *const begins[] = {
		"add.s32 %k2, %i, %ba; mul.wide.s32 %o2, %k2, 4; mov.u64 %g2, %d;\n",
		"add.s32 %k2, %i, %ba; mul.wide.s32 %o2, %k2, 4; add.s64 %o3, %o2, 8; add.s64 %g2, %d, %o3;\n",
		"mul.wide.s32 %o2, %i, 4; add.s64 %o4, %d, %o2; mul.wide.s32 %g2, %ba, 4;\n", "",
	}, *const rounds[] = {
		"add.s64 %a2, %g2, %o2;\n", "add.s64 %a2, %g2, -8;\n", "add.s64 %a2, %o4, %g2;\n", "add.s32 %k2, %i, %ba; mul.wide.s32 %o2, %k2, 4; add.s64 %a2, %d, %o2;\n",
	};
	bool goes_on = s->form < 3;
	unsigned ahead = s->wrong == 8 ? s->u + 1 : s->u;

	ws_buf_puts(b, begins[s->form]);
	ws_buf_puts(b, "MANY:\n");
	ws_buf_puts(b, rounds[s->form]);
	for (unsigned k = 0; k < ahead; k++)
		ws_buf_printf(b, "st.global.u32 [%%a2+%u], %%x;\n", 4 * s->step * k);
	if (goes_on)
		ws_buf_printf(b, "add.s64 %%g2, %%g2, %u;\n", 4 * s->step * s->u * (s->wrong == 9 ? 2 : 1));
	ws_buf_printf(b, "add.s32 %%i, %%i, %u; setp.lt.s32 %%q4, %%i, %s; @%%q4 bra MANY;\nSECOND:\n", s->step * s->u, s->wrong == 7 ? "%h" : "%w");
}

static void make_left_first(struct ws_buf *b, const struct steps *s)
{
	static const char *const begins[] = { "%tx", "%ln" }, *const spans[] = {
		"not.b32 %t1, %i; add.s32 %sp, %t1, %w;\n", "sub.s32 %t1, %w, %i; add.s32 %sp, %t1, -1;\n", "add.s32 %t1, %w, -1; sub.s32 %sp, %t1, %i;\n",
	};

	ws_buf_puts(b, PTX_HEAD ".visible .entry k(.param .u64 a, .param .align 8 .b8 g[24])\n{\n"
	            ".reg .pred %q1, %q2, %q3, %q4, %q5; .reg .b32 %i, %x, %tx, %ln, %bx, %w, %h, %p, %ba, %c, %sp, %t1, %q, %k1, %k2, %k3, %k4, %n1, %n2;\n"
	            ".reg .b64 %d, %a1, %a2, %a3, %g2, %o1, %o2, %o3, %o4, %o5, %m1, %m2;\n"
	            "ld.param.u64 %d, [a]; ld.param.v2.u32 {%w, %h}, [g]; ld.param.u32 %p, [g+8]; mov.u32 %tx, %tid.x; mov.u32 %bx, %ctaid.x; and.b32 %ln, %tx, 7;\n"
	            "mul.lo.s32 %ba, %bx, %p; mov.u32 %x, %tx;\n");
	if (s->around & ROUNDS)
		other_loop(b, "AHEAD");
	ws_buf_printf(b, "mov.u32 %%i, %s;\n", s->around & AGAIN ? "%tx" : ONE_OF(begins));
	if (s->around & EARLY)
		ws_buf_puts(b, "add.s32 %k3, %i, %ba; mul.wide.s32 %o5, %k3, 4; add.s64 %a3, %d, %o5; st.global.u32 [%a3], %x;\n");
	if (s->wrong != 1)
		ws_buf_puts(b, "setp.ge.s32 %q1, %i, %w; @%q1 bra END;\n");
	ws_buf_puts(b, ONE_OF(spans));
	quotient(b, s->wrong == 2 ? s->step + 1 : s->step);
	ws_buf_printf(b, "add.s32 %%n1, %%q, %u; and.b32 %%c, %%n1, %u; setp.eq.s32 %%q2, %%c, 0; @%%q2 bra LEFT;\n", s->wrong != 3, s->wrong == 4 ? 2 * s->u - 1 : s->u - 1);
	if (s->around & AGAIN)
		ws_buf_puts(b, "mov.u32 %i, %tx;\n");
	ws_buf_printf(b, "add.s32 %%k1, %%i, %%ba; mul.wide.s32 %%o1, %%k1, 4; add.s64 %%a1, %%d, %%o1;\nFEW: st.global.u32 [%%a1], %%x;\n"
	              "add.s32 %%i, %%i, %u; add.s64 %%a1, %%a1, %u; add.s32 %%c, %%c, -1; setp.ne.s32 %%q3, %%c, 0; @%%q3 bra FEW;\nLEFT:\n", s->step, 4 * s->step);
	if (s->wrong != 5)
		ws_buf_printf(b, "setp.lt.u32 %%q5, %%sp, %u; @%%q5 bra SECOND;\n", (s->u - 1) * s->step - (s->wrong == 6 ? s->step : 0));
	second_loop(b, s);
	if (s->wrong == 10)
		ws_buf_puts(b, "add.s32 %k3, %i, %ba; mul.wide.s32 %o5, %k3, 4; add.s64 %a3, %d, %o5; st.global.u32 [%a3], %x;\n");
	ws_buf_puts(b, "END:\n");
	if (s->around & ROUNDS)
		other_loop(b, "BEHIND");
	if (s->around & AGAIN)
		ws_buf_puts(b, "LATE: add.s32 %tx, %tx, 64; setp.lt.s32 %q1, %tx, 200; @%q1 bra LATE;\n");
	ws_buf_puts(b, "ret;\n}\n");
}

static void rows_with_what_is_left_first(void **state)
{
	static const uint32_t steps[] = { 3, 4, 5, 6, 7, 8, 12, 16 };
	unsigned kernels = rig_rounds(KERNELS);
	struct tally t = { 0 };

	for (unsigned k = 0; k < kernels; k++) {
		struct ws_buf text = { 0 }, what = { 0 };
		struct steps s;

		noise = 90000 + k;
		s = (struct steps){ ONE_OF(steps), 2u << below(2), 1 + below(10), below(4), k % 2 ? below(MOST_AROUND) : 0 };
		s.wrong = k % 3 ? s.wrong : 0;
		make_left_first(&text, &s);
		ws_buf_printf(&what, "kernel %u, wrong %u, form %u, around %u", k, s.wrong, s.form, s.around);
		for (unsigned n = 0; n < 2 * LAUNCHES; n++) {
			struct planes p = { { 1 + below(3), 1, 1 }, { below(2) ? s.step : 1 + below(20), 1, 1 }, { 0 } };

			p.g.w = below(2) ? below(90) : below(24);
			p.g.h = p.g.w + below(8);
			p.g.pitch = below(3) ? p.g.w : p.g.w + below(9) - 4;
			compare(text.data, &p, !s.wrong, what.data, &t);
		}
		ws_buf_free(&text);
		ws_buf_free(&what);
	}
	print_tally(&t);
	assert_true(t.races > kernels * LAUNCHES / 3 && t.silent > t.usual / 2);
}

/* ---- the same, of which the end is a number ---- */
struct to_number {
	uint32_t step, u, n;
	unsigned own;                    /* the second loop has: 0 = i; 1 = i, compared before it goes on; 2 = a register of its own, less `less` */
	unsigned form, wrong;            /* of addresses in the second loop; what is not as compilers have it: 1 to 9 */
	int32_t less;
};

/* max(i, n - step) + step - 1 - i */
static void most_of_span(struct ws_buf *b, const struct to_number *s)
{
	ws_buf_printf(b, "max.s32 %%t1, %%i, %d; add.s32 %%t2, %%t1, %d; sub.s32 %%sp, %%t2, %s;\n", (int)s->n - (int)s->step + (s->wrong == 2 ? 1 : 0),
	              (int)s->step - 1 + (s->wrong == 3 ? (int)s->step : 0), s->wrong == 4 ? "%ln" : "%i");
}

/* What goes on with i: a pointer that was made of it, an index, or both; or i itself in each round. */
static void many_to_number(struct ws_buf *b, const struct to_number *s)
{
	const char *j = s->own == 2 ? "%j" : "%i";
	int last = (int)s->n - (s->own == 2 ? s->less : 0), by = (int)(s->step * s->u);

	ws_buf_puts(b, "add.s32 %k2, %i, %ba; mul.wide.s32 %o2, %k2, 4; add.s64 %g2, %d, %o2;\n");
	if (s->own == 2 && s->wrong != 5)
		ws_buf_printf(b, "add.s32 %%j, %%i, %d;\n", -s->less);
	if (s->wrong == 6)
		ws_buf_puts(b, "mov.u32 %i, %tx;\n");
	ws_buf_puts(b, "MANY:\n");
	if (s->form == 2)
		ws_buf_printf(b, "add.s32 %%k3, %s, %%ba; add.s32 %%k4, %%k3, %d;\n", j, s->own == 2 ? s->less : 0);
	for (unsigned k = 0; k < s->u; k++) {
		if (s->form)
			ws_buf_printf(b, "add.s32 %%y%u, %s, %u; mul.wide.s32 %%z%u, %%y%u, 4; add.s64 %%v%u, %%d, %%z%u; st.global.u32 [%%v%u], %%x;\n", k, s->form == 2 ? "%k4" : "%k2", s->step * k,
			              k, k, k, k, k);
		else
			ws_buf_printf(b, "st.global.u32 [%%g2+%u], %%x;\n", 4 * s->step * k);
	}
	ws_buf_printf(b, "add.s64 %%g2, %%g2, %d; add.s32 %%k2, %%k2, %d;\n", 4 * by, by);
	if (s->own == 1)
		ws_buf_printf(b, "add.s32 %%i2, %%i, %d; setp.lt.s32 %%q4, %%i, %d; mov.u32 %%i, %%i2; @%%q4 bra MANY;\n", by, last - (s->wrong == 7 ? 0 : by));
	else
		ws_buf_printf(b, "add.s32 %s, %s, %d; setp.lt.s32 %%q4, %s, %d; @%%q4 bra MANY;\n", j, j, by, j, last + (s->wrong == 8 ? by : 0));
}

static void make_to_number(struct ws_buf *b, const struct to_number *s)
{
	static const char *const begins[] = { "%tid.x", "%tx" };
	const char *begin = ONE_OF(begins);

	ws_buf_puts(b, PTX_HEAD ".visible .entry k(.param .u64 a, .param .align 8 .b8 g[24])\n{\n"
	            ".reg .pred %q1, %q2, %q3, %q4, %q5; .reg .b32 %i, %i2, %j, %x, %tx, %ln, %bx, %p, %ba, %c, %sp, %t1, %t2, %q, %k1, %k2, %k3, %k4, %n1, %n2, %y<4>;\n"
	            ".reg .b64 %d, %a1, %g2, %o1, %o2, %m1, %m2, %z<4>, %v<4>;\n"
	            "ld.param.u64 %d, [a]; ld.param.u32 %p, [g+8]; mov.u32 %tx, %tid.x; mov.u32 %bx, %ctaid.x; and.b32 %ln, %tx, 7;\n"
	            "mul.lo.s32 %ba, %bx, %p; mov.u32 %x, %tx;\n");
	ws_buf_printf(b, "mov.u32 %%i, %s; setp.gt.s32 %%q1, %%i, %u; @%%q1 bra END;\n", begin, s->n - (s->wrong != 1));
	most_of_span(b, s);
	quotient(b, s->step);
	ws_buf_printf(b, "add.s32 %%n1, %%q, 1; and.b32 %%c, %%n1, %u; setp.eq.s32 %%q2, %%c, 0; @%%q2 bra LEFT;\n", s->u - 1);
	if (below(2))
		ws_buf_printf(b, "mov.u32 %%i, %s;\n", begin);
	if (s->own == 2 && s->wrong == 5)
		ws_buf_printf(b, "add.s32 %%j, %%i, %d;\n", -s->less);
	ws_buf_printf(b, "add.s32 %%k1, %%i, %%ba; mul.wide.s32 %%o1, %%k1, 4; add.s64 %%a1, %%d, %%o1;\nFEW: st.global.u32 [%%a1], %%x;\n"
	              "add.s32 %%i, %%i, %u; add.s64 %%a1, %%a1, %u; add.s32 %%c, %%c, -1; setp.ne.s32 %%q3, %%c, 0; @%%q3 bra FEW;\nLEFT:\n", s->step, 4 * s->step);
	ws_buf_printf(b, "setp.lt.u32 %%q5, %%sp, %u; @%%q5 bra END;\n", (s->u - 1) * s->step - (s->wrong == 9 ? s->step : 0));
	many_to_number(b, s);
	ws_buf_puts(b, "END: ret;\n}\n");
}

/* Each thread writes word `part` + tid of shared memory as well: the other one of two arrays in one variable. */
static void make_shared(struct ws_buf *b, unsigned part)
{
	static const char *const words[][2] = {
		{ "mul.wide.s32", "mul.lo.s32" }, { "add.s64", "add.s32" }, { "st.global", "st.shared" }, { "ld.param.u64 %d, [a]; ld.param.u32 %p, [g+8]", "mov.u32 %d, s; mov.u32 %p, 0" },
		{ ".reg .b64 %d", ".shared .align 4 .b8 s[1024]; .reg .b32 %e, %e1, %e2; .reg .b64 %m1, %m2; .reg .b32 %d" }, { ", %m1, %m2, %z", ", %z" },
	};
	struct ws_buf to = { 0 };
	const char *at = b->data;

	while (*at) {
		unsigned k = 0;

		while (k < WS_COUNT(words) && strncmp(at, words[k][0], strlen(words[k][0])) != 0)
			k++;
		if (k < WS_COUNT(words)) {
			ws_buf_puts(&to, words[k][1]);
			at += strlen(words[k][0]);
		} else {
			ws_buf_add(&to, at++, 1);
		}
		if (to.len > 17 && !strcmp(to.data + to.len - 17, "mov.u32 %x, %tx;\n"))
			ws_buf_printf(&to, "add.s32 %%e, %%tx, %u; shl.b32 %%e1, %%e, 2; add.s32 %%e2, %%d, %%e1; st.shared.u32 [%%e2], %%x;\n", part);
	}
	ws_buf_free(b);
	*b = to;
}

static void rows_to_a_number(void **state)
{
	static const uint32_t steps[] = { 3, 4, 5, 6, 7, 8, 12, 16 };
	unsigned kernels = rig_rounds(KERNELS) * 2 / 3;
	struct tally t = { 0 };

	for (unsigned k = 0; k < kernels; k++) {
		struct ws_buf text = { 0 }, what = { 0 };
		struct to_number s;

		noise = 250000 + k;
		s = (struct to_number){ .step = ONE_OF(steps), .u = 2u << below(2), .n = 1 + below(90), .own = below(3), .form = below(3), .wrong = k % 3 ? 1 + below(9) : 0 };
		s.less = below(2) ? (int32_t)(s.step * s.u) : (int32_t)below(40) - 20;
		make_to_number(&text, &s);
		if (k % 2)
			make_shared(&text, s.n + below(5) - 1);
		ws_buf_printf(&what, "kernel %u, to %u, own %u, form %u, wrong %u", k, s.n, s.own, s.form, s.wrong);
		for (unsigned n = 0; n < 2 * LAUNCHES; n++) {
			struct planes p = { { 1 + below(3), 1, 1 }, { below(2) ? s.step : 1 + below(20), 1, 1 }, { 0 } };

			p.g.w = s.n;
			p.g.h = s.n;
			p.g.pitch = below(3) ? s.n : s.n + below(9) - 4;
			compare(text.data, &p, !s.wrong, what.data, &t);
		}
		ws_buf_free(&text);
		ws_buf_free(&what);
	}
	print_tally(&t);
	assert_true(t.races > kernels * LAUNCHES / 3 && t.silent > t.usual / 2);
}

/* ---- columns, row by row, some rows apart (ranges_rounds.c) ---- */
struct columns { uint32_t begin, back, form; unsigned wrong; };  /* x[i] of x[i - back], from row `begin` on */

/* The rows of one round of the loop that is unrolled by four: by pointers, each made of the one before. */
static void four_rows(struct ws_buf *b, const struct columns *s)
{
	unsigned first = s->form ? 0 : s->begin;         /* rows from where the pointer is */

	for (unsigned k = 0; k < first + 4; k++) {
		if (k)
			ws_buf_printf(b, "add.s64 %%b%u, %s%u, %%dp;\n", k, k > 1 ? "%b" : "%a", k > 1 ? k - 1 : 0);
		if (k < first)
			continue;
		if (s->back)
			ws_buf_printf(b, "mul.lo.s64 %%e%u, %%dp, -%u; add.s64 %%f%u, %s%u, %%e%u; ld.global.u32 %%x, [%%f%u+%u];\n", k, s->back, k, k ? "%b" : "%a", k, k, k,
			              s->wrong == 3 ? 4 : 0);
		ws_buf_printf(b, "st.global.u32 [%s%u+%u], %%x;\n", k ? "%b" : "%a", k, s->wrong == 2 && k == first + 3 ? 4 : 0);
	}
}

static void make_columns(struct ws_buf *b, const struct columns *s)
{
	ws_buf_puts(b, PTX_HEAD ".visible .entry k(.param .u64 a, .param .align 8 .b8 g[24])\n{\n"
	            ".reg .pred %q1, %q2, %q3, %q4, %q5, %q6; .reg .b32 %u, %l, %t, %bx, %bn, %tx, %w, %h, %p, %p4, %i, %c, %n, %m, %r, %x, %s1, %s2, %s3, %s4; .reg .b64 %d, %dp, %dp4, %o, %o2, %a<2>, %b<9>, %e<9>, %f<9>, %v<4>;\n"
	            "ld.param.u64 %d, [a]; ld.param.v4.u32 {%w, %h, %p, %u}, [g]; mov.u32 %bx, %ctaid.x; mov.u32 %bn, %ntid.x; mov.u32 %tx, %tid.x;\n"
	            "mul.lo.s32 %s1, %bx, %bn; add.s32 %t, %s1, %tx; mov.u32 %x, %tx;\n");
	if (s->wrong != 1)
		ws_buf_puts(b, "setp.ge.s32 %q1, %t, %w; @%q1 bra END;\n");
	ws_buf_printf(b, "setp.lt.s32 %%q2, %%h, %u; @%%q2 bra END;\nadd.s32 %%n, %%h, -%u; and.b32 %%c, %%n, 3; add.s32 %%m, %%h, -%u; setp.lt.u32 %%q3, %%m, 3; mov.u32 %%i, %u; mul.wide.s32 %%dp, %%p, 4;\n@%%q3 bra LEFT;\n",
	              s->begin + 1, s->begin, s->begin + 1, s->begin);
	ws_buf_printf(b, "add.s32 %%s2, %%tx, %%p; mad.lo.s32 %%s3, %%p, %d, %%s2; add.s32 %%s4, %%s3, %%s1; mul.wide.s32 %%o, %%s4, 4; add.s64 %%a0, %%d, %%o;\n",
	              s->form ? (int)s->begin - 1 : -1);
	ws_buf_puts(b, "shl.b32 %p4, %p, 2; mul.wide.s32 %dp4, %p4, 4; sub.s32 %r, %h, %c; mov.u32 %i, ");
	ws_buf_printf(b, "%u;\nMANY:\n", s->begin);
	four_rows(b, s);
	ws_buf_printf(b, "add.s32 %%i, %%i, 4; add.s64 %%a0, %%a0, %%dp4; add.s32 %%r, %%r, -4; setp.ne.s32 %%q4, %%r, %u; @%%q4 bra MANY;\nLEFT: setp.eq.s32 %%q5, %%c, 0; @%%q5 bra END;\n", s->begin);
	ws_buf_printf(b, "mad.lo.s32 %%l, %%i, %%p, %%t; mul.wide.s32 %%o2, %%l, 4; add.s64 %%a1, %%d, %%o2; mul.lo.s64 %%v0, %%dp, -%u; add.s64 %%v1, %%a1, %%v0;\nFEW:\n", s->back);
	ws_buf_puts(b, s->back ? "ld.global.u32 %x, [%v1];\n" : "");
	ws_buf_puts(b, "st.global.u32 [%a1], %x; add.s64 %a1, %a1, %dp; add.s64 %v1, %v1, %dp; add.s32 %c, %c, -1; setp.ne.s32 %q6, %c, 0; @%q6 bra FEW;\nEND: ret;\n}\n");
}

static void columns_row_by_row(void **state)
{
	unsigned kernels = rig_rounds(KERNELS) / 2;
	struct tally t = { 0 };

	for (unsigned k = 0; k < kernels; k++) {
		struct ws_buf text = { 0 }, what = { 0 };
		struct columns s;

		noise = 170000 + k;
		s = (struct columns){ below(4), 0, below(2), k % 3 ? 1 + below(3) : 0 };
		s.back = below(1 + s.begin);
		make_columns(&text, &s);
		ws_buf_printf(&what, "kernel %u, from row %u, back %u, form %u, wrong %u", k, s.begin, s.back, s.form, s.wrong);
		for (unsigned n = 0; n < 2 * LAUNCHES; n++) {
			struct planes p = { { 1 + below(3), 1, 1 }, { 1 + below(12), 1, 1 }, { .w = below(40), .h = below(14) } };

			p.g.pitch = below(3) ? p.g.w + below(3) : p.g.w + below(9) - 4;
			compare(text.data, &p, !s.wrong, what.data, &t);
		}
		ws_buf_free(&text);
		ws_buf_free(&what);
	}
	print_tally(&t);
	assert_true(t.races > kernels / 2 && t.silent > t.usual / 2);
}

/* More often than is noted. */
static void an_index_that_is_set_often(void **state)
{
	static const char text[] = PTX_HEAD ".visible .entry k(.param .u64 a, .param .align 8 .b8 g[24])\n{\n"
		".reg .pred %q; .reg .b32 %i, %w, %k; .reg .b64 %d, %o, %p;\n"
		"ld.param.u64 %d, [a]; ld.param.u32 %w, [g]; mov.u32 %i, %tid.x; mov.u32 %i, 1; mov.u32 %i, 2; mov.u32 %i, 3; mov.u32 %i, 4; mov.u32 %i, %tid.x;\n"
		"bra BEFORE;\nBEFORE: mul.wide.s32 %o, %i, 4; add.s64 %p, %d, %o;\n"
		"L: st.global.u32 [%p], %i; add.s64 %p, %p, 4; add.s32 %i, %i, 1; setp.lt.s32 %q, %i, %w; @%q bra L;\nret;\n}\n";
	const struct planes s = { { 1, 1, 1 }, { 3, 1, 1 }, { .w = 3 } };
	bool entered;

	assert_true(finds("race", text, &s, false, &entered));
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(columns_rows_and_planes), cmocka_unit_test(whichever_is_longer),
	                                    cmocka_unit_test(rows_with_what_is_left_first), cmocka_unit_test(rows_to_a_number),
	                                    cmocka_unit_test(columns_row_by_row),
	                                    cmocka_unit_test(an_index_that_is_set_often) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

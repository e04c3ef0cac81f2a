/* test_ranges_unrolled.c - the proofs of loops of which compilers make two (ranges_unrolled.c), against the pass without them: random kernels, in
 * launches of random shapes. What has a race by all checks has one by those that are left. */
#include "noise.h"
#include "race_rig.h"

enum { KERNELS = 60, SHAPES = 3, MIDDLE = 1 << 17 };

static bool careful;                     /* no mistakes in the kernel, but for those of its launch */

static bool mistake(uint32_t n) { return !careful && below(n) == 0; }

/* Where a thread begins, %i, and what it goes on by in a round of the source, %s: apart from others, for the most part. */
static void make_begin(struct ws_buf *b)
{
	static const char *const forms[] = {
		"setp.ge.s32 %p0, %x, %w; @%p0 bra END;\nmov.u32 %i, %x; mov.u32 %s, %w;\n", "setp.ge.s32 %p0, %x, %w; @%p0 bra END;\nmov.u32 %i, %x; mov.u32 %s, %w;\n",
		"mul.lo.s32 %j, %n, %tn; mad.lo.s32 %i, %bx, %j, %tx; mov.u32 %s, %tn;\n", "mul.lo.s32 %j, %n, %tn; mad.lo.s32 %i, %bx, %j, %tx; mov.u32 %s, %tn;\n",
		"mov.u32 %i, %x; mov.u32 %s, %all;\n", "mul.lo.s32 %i, %x, %n; mov.u32 %s, 1;\n", "mul.lo.s32 %i, %x, %w; mov.u32 %s, 1;\n",
		"mad.lo.s32 %i, %bx, 1000, %tx; mov.u32 %s, 40;\n", "mad.lo.s32 %i, %bx, 1000, %tx; mov.u32 %s, 24;\n", "mov.u32 %i, %x; mov.u32 %s, %w;\n",
		"sub.s32 %j, %n, 1; mul.lo.s32 %j1, %j, %tn; mad.lo.s32 %i, %bx, %j1, %tx; mov.u32 %s, %tn;\n", "mad.lo.s32 %i, %bx, 900, %tx; mov.u32 %s, -40;\n",
	};

	ws_buf_puts(b, ONE_OF(forms));
}

static void make_access(struct ws_buf *b, const char *address)
{
	static const char *const forms[] = { "st.global.u32 [%s], %%x;\n", "st.global.u32 [%s], %%x;\n", "ld.global.u32 %%v, [%s];\n", "st.global.u32 [%s+4], %%x;\n",
	                                     "ld.global.u32 %%v, [%s]; st.global.u32 [%s], %%v;\n" };

	ws_buf_printf(b, forms[careful || below(2) ? 0 : below(WS_COUNT(forms))], address, address);
}

/* Of u rounds of the source each: by a pointer that goes on u times, or by an index. */
static void make_first(struct ws_buf *b, unsigned u, unsigned left)
{
	bool pointer = below(2), down = below(2);
	unsigned wrong = mistake(8);

	ws_buf_printf(b, "sub.s32 %%n1, %%n, 1; setp.lt.u32 %%p1, %%n1, %u; mov.u32 %%c, 0; @%%p1 bra SECOND;\n", left - 1 + mistake(8));
	ws_buf_puts(b, down ? "sub.s32 %r, %n, %l;\n" : "sub.s32 %r, %l, %n;\n");
	ws_buf_puts(b, "mov.u32 %c, 0; mov.u32 %k0, %i; mul.wide.s32 %d2, %i, 4; add.s64 %g0, %d0, %d2; mul.wide.s32 %d3, %s, 4;\nFIRST:\n");
	for (unsigned m = 0; m < u; m++) {
		char address[16];

		if (pointer) {
			snprintf(address, sizeof address, "%%g%u", m);
			make_access(b, address);
			if (m + 1 < u)
				ws_buf_printf(b, "add.s64 %%g%u, %%g%u, %%d3;\n", m + 1, m);
			else
				ws_buf_printf(b, "add.s64 %%g0, %%g%u, %s;\n", m - wrong, "%d3");
		} else {
			ws_buf_printf(b, "mul.wide.s32 %%e%u, %%k%u, 4; add.s64 %%f%u, %%d0, %%e%u;\n", m, m, m, m);
			snprintf(address, sizeof address, "%%f%u", m);
			make_access(b, address);
			ws_buf_printf(b, "add.s32 %%k%u, %%k%u, %%s;\n", m + 1 < u ? m + 1 : 0, m + 1 < u ? m : m - wrong);
		}
	}
	ws_buf_printf(b, "add.s32 %%c, %%c, %u;\n", u);
	ws_buf_printf(b, down ? "add.s32 %%r, %%r, -%u; setp.ne.s32 %%p2, %%r, 0; @%%p2 bra FIRST;\n" : "add.s32 %%q, %%r, %%c; setp.ne.s32 %%p2, %%q, 0; @%%p2 bra FIRST;\n", u);
}

static void make_second(struct ws_buf *b, unsigned left)
{
	static const char *const begins[] = { "%c", "%c", "%c", "%c", "%c", "%n1" };

	ws_buf_printf(b, "SECOND: and.b32 %%o, %%n, %u; setp.eq.s32 %%p3, %%o, 0; @%%p3 bra END;\n", (mistake(8) ? 2 * left : left) - 1);
	ws_buf_printf(b, "mad.lo.s32 %%m, %s, %%s, %%i; mul.wide.s32 %%d4, %%m, 4; add.s64 %%h, %%d0, %%d4; mul.wide.s32 %%d5, %%s, 4;\nREST:\n", careful ? "%c" : ONE_OF(begins));
	make_access(b, "%h");
	ws_buf_printf(b, "add.s64 %%h, %%h, %%d5; add.s32 %%o, %%o, -1; %s\nEND: ret;\n}\n", below(2) ? "setp.ne.s32 %p4, %o, 0; @%p4 bra REST;" :
	              "setp.eq.s32 %p4, %o, 0; @%p4 bra END; bra.uni REST;");
}

static void make(struct ws_buf *b)
{
	unsigned u = 2u << below(3), left = mistake(6) ? 2 * u : u;

	ws_buf_puts(b, PTX_HEAD ".visible .entry k(.param .u64 a, .param .u32 n, .param .u32 w)\n{\n"
	            ".reg .pred %p<5>; .reg .b32 %x, %tx, %bx, %tn, %sx, %n, %w, %l, %all, %i, %s, %j, %j1, %c, %r, %k<8>, %m, %q, %o, %n1, %v;\n"
	            ".reg .b64 %d<6>, %g<8>, %e<8>, %f<8>, %h;\n"
	            "ld.param.u64 %d0, [a]; ld.param.u32 %n, [n]; ld.param.u32 %w, [w]; mov.u32 %tx, %tid.x; mov.u32 %bx, %ctaid.x; mov.u32 %tn, %ntid.x;\n"
	            "mov.u32 %sx, %nctaid.x; mul.lo.s32 %all, %sx, %tn; mad.lo.s32 %x, %bx, %tn, %tx;\nsetp.lt.s32 %p0, %n, 1; @%p0 bra END;\n");
	make_begin(b);
	ws_buf_printf(b, "and.b32 %%l, %%n, %u;\n", left - 1);
	make_first(b, u, left);
	make_second(b, left);
}

struct shape { uint32_t grid, block, n, w; };

/* As race_finds. */
static bool finds(const char *pass, const char *text, const struct shape *s, bool *entered)
{
	struct race_rig r = race_new_by(pass, (struct ws_gpu_config){ .divergence = WS_DIV_ITS, .host_threads = 1 }, text);
	struct ws_mem *m = rig_mem(&r.rig, 2 * MIDDLE);
	struct { uint64_t a; uint32_t n, w; } params = { m->addr + MIDDLE, s->n, s->w };
	const struct ws_race_area area = { m->addr, m->addr + 2 * MIDDLE };
	struct ws_gpu_launch l = { .grid = { s->grid, 1, 1 }, .block = { s->block, 1, 1 }, .params = &params };

	race_areas(r.rig.g, &r.tables, &area, 1);
	return race_finds(&r, &l, text, entered);
}

static void loops_in_two(void **state)
{
	unsigned races = 0, silent = 0, fine = 0, launches = SHAPES * rig_rounds(KERNELS);

	for (unsigned k = 0; k < launches; k++) {
		struct ws_buf text = { 0 };
		struct shape s;
		bool entered, all, left;

		noise = k / SHAPES + 52000;
		careful = below(2);
		make(&text);
		noise += 7 * k;
		s = (struct shape){ 1 + below(3), 1 + below(40), below(3) ? 1 + below(40) : below(5), 1 + below(90) };
		all = finds("race-all", text.data, &s, &entered);
		left = finds("race", text.data, &s, &entered);
		if (all != left)
			fail_msg("launch %u, grid %u, block %u, n %u, w %u: race %d, race-all %d:\n%s", k, s.grid, s.block, s.n, s.w, left, all, text.data);
		races += all;
		fine += !all;
		silent += !entered;
		ws_buf_free(&text);
	}
	print_message("%u launches: %u with races, %u without hooks\n", launches, races, silent);
	assert_true(races > launches / 8 && silent > fine / 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(loops_in_two) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

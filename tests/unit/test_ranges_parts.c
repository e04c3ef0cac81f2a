/* test_ranges_parts.c - launches without checks whose accesses look themselves whether they stay in parts of shared memory: they find the races
 * that all checks find, and leave the same in memory. */
#include "noise.h"
#include "race_rig.h"
#include "wide_addresses.h"

enum { KERNELS = 150, WORDS = 64, MOST = 12, SHARED_BYTES = 2048 };

/* ---- one launch ---- */
struct sizes { uint32_t grid, block, n, w; };
struct seen { bool in_parts, entered, found; uint32_t out[WORDS]; };

static struct ws_mem *memory(struct race_rig *r, const uint32_t *data, unsigned k)
{
	struct ws_mem *m = rig_mem(&r->rig, WORDS * sizeof(uint32_t));

	memset((void *)m->host, 0, WORDS * sizeof(uint32_t));
	if (data)
		memcpy((void *)m->host, data, WORDS * sizeof(uint32_t));
	host_areas[k] = (struct ws_race_area){ m->addr, m->addr + WORDS * sizeof(uint32_t) };
	return m;
}

static void launch(struct race_rig *r, const char *name, struct ws_gpu_launch *l, uint32_t bytes, const char *text)
{
	struct ws_gpu_kernel *kernel = ws_gpu_module_kernel(r->rig.mod, name);

	l->param_bytes = bytes ? bytes : given_params(kernel);
	if (!kernel || !ws_gpu_launch(r->rig.g, kernel, l, &r->rig.stats, &r->rig.err))
		fail_msg("%s: %s\n%s", name, r->rig.err.text.data, text);
}

/* The kernel's parameters are a pointer to `data`, one to as many words that are 0, n and w. same: both pointers are the first. */
static struct seen play(const char *pass, const char *text, const struct sizes *s, const uint32_t *data, bool same)
{
	enum { NUMBER = 77 };
	struct race_rig r = race_new_by(pass, (struct ws_gpu_config){ .divergence = WS_DIV_ITS, .host_threads = 1 }, text);
	struct ws_mem *a = memory(&r, data, 0), *b = memory(&r, NULL, 1), *word = rig_mem(&r.rig, sizeof(uint32_t));
	struct { uint64_t a, b; uint32_t n, w, pad[2]; struct ws_race_parts looks; } params = { .a = a->addr, .b = same ? a->addr : b->addr, .n = s->n, .w = s->w };
	struct ws_gpu_launch l = { .grid = { s->grid, 1, 1 }, .block = { s->block, 1, 1 }, .params = &params, .shared_dynamic = SHARED_BYTES };
	struct seen seen = { .in_parts = false };

	host_nareas = 2;
	race_set(r.rig.mod, &r.tables);
	*(uint32_t *)(void *)word->host = 0;
	seen.in_parts = host_in_parts(&r.host, &l, (void *[]){ &params.a, &params.b, &params.n, &params.w }, &params.looks);
	if (seen.in_parts) {
		params.looks.number = NUMBER;
		params.looks.seen = word->addr;
		launch(&r, WS_RW_PARTS "k", &l, sizeof params, text);
		params.looks.mark = WS_RACE_BEHIND_PARTS;
	}
	launch(&r, "k", &l, seen.in_parts ? sizeof params : 0, text);
	seen.found = race_found(&r.tables, 0) != NULL;
	seen.entered = r.tables.counts->segments != 0;
	assert_true(!seen.in_parts || (*(uint32_t *)(void *)word->host == NUMBER) == seen.entered);
	memcpy(seen.out, (void *)(same ? a : b)->host, sizeof seen.out);
	race_free(&r);
	return seen;
}

/* ---- kernels ---- */
/* %t: the thread; %d: data of its own; %s: dynamic shared memory; %w: a parameter */
#define BEGIN PTX_HEAD ".extern .shared .align 4 .b8 s[];\n.visible .entry k(.param .u64 a, .param .u64 b, .param .u32 n, .param .u32 w)\n{\n" \
	".reg .pred %q<4>; .reg .b64 %ap, %bp, %ad, %bd, %o; .reg .b32 %t, %n, %w, %d, %k, %p, %v, %s, %g, %f, %h, %x<40>, %i<40>;\n" \
	"ld.param.u32 %n, [n]; ld.param.u32 %w, [w]; ld.param.u64 %ap, [a]; ld.param.u64 %bp, [b]; mov.u32 %t, %tid.x; mov.u32 %s, s; mov.u32 %v, 0;\n" \
	"mov.u32 %i30, %ctaid.x; mov.u32 %x30, %ntid.x; mad.lo.s32 %g, %i30, %x30, %t; mul.wide.u32 %o, %g, 4; add.s64 %ad, %ap, %o; add.s64 %bd, %bp, %o; ld.global.u32 %d, [%ad];\n"
#define RESULT "st.global.u32 [%bd], %v;\nret;\n}\n"
/* A table of so many words, filled by the first ones, and words of the threads behind it. */
#define TABLE "mad.lo.s32 %p, %t, 4, %s; setp.ge.u32 %q1, %t, 16; @!%q1 st.shared.u32 [%p], %t; st.shared.u32 [%p+256], %t; bar.sync 0;\n"
#define LOOK_UP "mad.lo.s32 %x31, %d, 4, %s; ld.shared.u32 %v, [%x31];\n"
#define OWN "ld.shared.u32 %i31, [%p+256]; add.s32 %i32, %i31, %v; st.shared.u32 [%p+256], %i32;\n"

static const struct sizes threads = { 1, 32, 2, 64 };

static void expect(const char *text, const struct sizes *s, const uint32_t *data, bool same, struct seen want)
{
	struct seen all = play("race-all", text, s, data, same), seen = play("race", text, s, data, same);

	if (seen.in_parts != want.in_parts || seen.entered != want.entered || seen.found != want.found || all.found != want.found)
		fail_msg("in parts %d, entered %d, found %d; all checks %d\n%s", seen.in_parts, seen.entered, seen.found, all.found, text);
	assert_true(want.found || !memcmp(seen.out, all.out, sizeof seen.out));
}

static void tables_before_words(void **state)
{
	const uint32_t inside[WORDS] = { 3, 0, 15, 7 }, outside[WORDS] = { 3, 70, 1 }, own[WORDS] = { 64, 65, 2 };
	static const char text[] = BEGIN TABLE LOOK_UP OWN RESULT;

	(void)state;
	expect(text, &threads, inside, false, (struct seen){ .in_parts = true });
	/* Thread 1 reads the word of thread 6. */
	expect(text, &threads, outside, false, (struct seen){ .in_parts = true, .entered = true, .found = true });
	/* Of its own: looked at once more, and no race; threads 16 and 17 have the same data. */
	expect(text, &(struct sizes){ 1, 16, 2, 64 }, own, false, (struct seen){ .in_parts = true, .entered = true });
	/* What it reads it writes. */
	expect(text, &(struct sizes){ 1, 16, 2, 64 }, inside, true, (struct seen){ .entered = true });
}

/* Rows that take turns, at places that go with the number of the round. */
#define TURNS(body) BEGIN TABLE "mov.u32 %k, 0;\nLOOP: add.s32 %i1, %k, 1; and.b32 %i2, %k, 1; and.b32 %i3, %i1, 1; mad.lo.s32 %x1, %i2, 512, %p; mad.lo.s32 %x2, %i3, 512, %p;\n" body \
	"bar.sync 0; add.s32 %k, %k, 1; setp.lt.s32 %q3, %k, %n; @%q3 bra LOOP;\nmov.u32 %v, %t;\n" RESULT
/* A number that goes with the row, too, as data says. */
#define ROW "mad.lo.s32 %x3, %i2, 8, %d; mad.lo.s32 %x4, %x3, 4, %s; ld.shared.u32 %v, [%x4];\n"

static void rows_that_take_turns(void **state)
{
	const uint32_t inside[WORDS] = { 3, 0, 7, 5 }, outside[WORDS] = { 3, 70, 1 };

	(void)state;
	expect(TURNS("ld.shared.u32 %i4, [%x1+260]; st.shared.u32 [%x2+256], %i4;\n" LOOK_UP), &threads, inside, false, (struct seen){ .in_parts = true });
	expect(TURNS("ld.shared.u32 %i4, [%x1+260]; st.shared.u32 [%x2+256], %i4;\n" ROW), &threads, inside, false, (struct seen){ .in_parts = true });
	expect(TURNS("ld.shared.u32 %i4, [%x1+260]; st.shared.u32 [%x2+256], %i4;\n" ROW), &threads, outside, false, (struct seen){ .in_parts = true, .entered = true, .found = true });
	/* The row that is read is the one that is written. */
	expect(TURNS("ld.shared.u32 %i4, [%x1+260]; st.shared.u32 [%x1+256], %i4;\n" LOOK_UP), &threads, inside, false, (struct seen){ .entered = true, .found = true });
}

static void no_parts(void **state)
{
	const uint32_t inside[WORDS] = { 3, 0, 15, 7 };

	(void)state;
	/* It counts from where the words of the threads are. */
	expect(BEGIN TABLE "mad.lo.s32 %x32, %d, 4, %s; ld.shared.u32 %v, [%x32+264];\n" OWN RESULT, &threads, inside, false, (struct seen){ .entered = true, .found = true });
	/* What others find in global memory may be another one each time. */
	expect(BEGIN TABLE LOOK_UP OWN "ld.relaxed.gpu.global.u32 %i33, [%ad];\n" RESULT, &threads, inside, false, (struct seen){ .entered = true });
	expect(BEGIN TABLE LOOK_UP OWN "red.global.add.u32 [%bd], 0;\n" RESULT, &threads, inside, false, (struct seen){ .entered = true });
	expect(BEGIN TABLE LOOK_UP OWN "mov.u32 %i33, %clock;\n" RESULT, &(struct sizes){ 1, 32, 2, 64 }, inside, false, (struct seen){ .entered = true });
	/* Places that data gives are written. */
	expect(BEGIN TABLE "mad.lo.s32 %x32, %d, 4, %s; setp.eq.u32 %q2, %t, 0; @%q2 st.shared.u32 [%x32], %t;\n" OWN RESULT, &threads, inside, false, (struct seen){ .entered = true });
}

/* ---- random ones ---- */
/* A thread's word in one of two rows, which are turned over in each round: of this one, or of the other. */
static void add_turning_place(struct ws_buf *b, unsigned n)
{
	static const unsigned begins[] = { 256, 256, 256, 260, 0 };

	ws_buf_printf(b, "mul.lo.s32 %%i%u, %%%s, 512; mad.lo.s32 %%i%u, %%t, 4, %%i%u; add.s32 %%i%u, %%i%u, %%s; add.s32 %%x%u, %%i%u, %u;\n", n, below(2) ? "f" : "h", n + 10, n, n + 20,
	              n + 10, n, n + 20, ONE_OF(begins));
}

/* An address in %x0, or the like, that begins to count at one of three parts; where, the launch alone knows if `fixed` is false. */
static void add_place(struct ws_buf *b, bool fixed, const char *index, unsigned n)
{
	static const unsigned begins[] = { 0, 256, 256, 768 };
	unsigned begin = ONE_OF(begins);

	if (fixed)
		ws_buf_printf(b, "mad.lo.s32 %%i%u, %s, 4, %%s; add.s32 %%x%u, %%i%u, %u;\n", n, index, n, n, begin + 4 * (below(8) == 0) + 64 * (below(12) == 0));
	else
		ws_buf_printf(b, "mul.lo.s32 %%i%u, %%w, %u; mad.lo.s32 %%i%u, %s, 4, %%i%u; add.s32 %%x%u, %%i%u, %%s;\n", n, begin / 64, n + 10, index, n, n, n + 10);
}

static void add_access(struct ws_buf *b, bool fixed, bool turns, unsigned n)
{
	static const char *const how[] = { "ld.shared.u32 %%v, [%%x%u];\n", "ld.shared.u32 %%v, [%%x%u];\n", "red.shared.add.u32 [%%x%u], 1;\n" };
	static const char *const own[] = { "ld.shared.u32 %%v, [%%x%u];\n", "st.shared.u32 [%%x%u], %%t;\n", "st.shared.u32 [%%x%u], %%t;\n" };
	bool data = !below(2), some = !below(3);

	if (some)
		ws_buf_printf(b, "setp.lt.s32 %%q2, %%%s, %u; @%%q2 bra NEXT%u;\n", below(2) ? "t" : "k", below(6), n);
	if (turns && !data)
		add_turning_place(b, n);
	else
		add_place(b, fixed, data ? "%d" : "%t", n);
	ws_buf_printf(b, data ? ONE_OF(how) : ONE_OF(own), n);
	if (some)
		ws_buf_printf(b, "NEXT%u:\n", n);
}

static void make(struct ws_buf *b)
{
	unsigned items = 2 + below(5);
	bool fixed = below(2), turns = below(2);

	ws_buf_puts(b, BEGIN "mov.u32 %k, 0; mov.u32 %f, 0;\nLOOP:\n");
	if (turns)
		ws_buf_puts(b, "xor.b32 %h, %f, 1;\n");
	for (unsigned k = 0; k < items; k++) {
		add_access(b, fixed, turns, k);
		if (!below(3))
			ws_buf_puts(b, "bar.sync 0;\n");
	}
	ws_buf_puts(b, turns || below(4) ? "bar.sync 0;\n" : "");
	ws_buf_puts(b, turns ? "xor.b32 %f, %f, 1;\n" : "");
	ws_buf_puts(b, "add.s32 %k, %k, 1; setp.lt.s32 %q1, %k, %n; @%q1 bra LOOP;\nmov.u32 %v, %t;\n" RESULT);
}

static void any_data(uint32_t *data)
{
	static const uint32_t others[] = { 64, 66, 70, 192, 100 };
	bool all_inside = below(2);

	for (unsigned k = 0; k < WORDS; k++)
		data[k] = all_inside || below(4) ? below(10) : ONE_OF(others);
}

static void what_looks_finds_what_all_find(void **state)
{
	unsigned races = 0, wide = 0, in_parts = 0, again = 0, found_again = 0, all = 2 * KERNELS;

	(void)state;
	for (unsigned k = 0; k < KERNELS; k++) {
		struct ws_buf text = { 0 };

		noise = k + 1;
		make(&text);
		wide += wide_at_times(k, &text);
		for (unsigned n = 0; n < 2; n++) {
			struct sizes s = { 1 + below(2), 1 + below(MOST), 1 + below(3), 64 };
			uint32_t data[WORDS];
			struct seen found, left;

			any_data(data);
			found = play("race-all", text.data, &s, data, false);
			left = play("race", text.data, &s, data, false);
			if (found.found != left.found || (!found.found && memcmp(found.out, left.out, sizeof found.out)))
				fail_msg("kernel %u, grid %u, block %u, n %u, data %u %u %u %u: race %d (in parts %d, entered %d), race-all %d:\n%s", k, s.grid, s.block, s.n, data[0], data[1],
				         data[2], data[3], left.found, left.in_parts, left.entered, found.found, text.data);
			races += found.found;
			in_parts += left.in_parts;
			again += left.in_parts && left.entered;
			found_again += left.in_parts && left.found;
		}
		ws_buf_free(&text);
	}
	print_message("%u launches: %u with races, %u in parts, of which %u were made once more, and %u had races; %u kernels with addresses of 64 bits\n", all, races, in_parts, again, found_again, wide);
	assert_true(races > all / 8 && in_parts > all / 16 && again > all / 64 && again < in_parts && found_again);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(tables_before_words), cmocka_unit_test(rows_that_take_turns), cmocka_unit_test(no_parts), cmocka_unit_test(what_looks_finds_what_all_find) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

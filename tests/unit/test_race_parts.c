/* test_race_parts.c - words of global memory to which threads come by bytes and halves (src/device/race_parts.cuh): no access is forgotten for another
 * one's, whatever order they come in. Random kernels, each of which is compared with all pairs of its accesses. */
#include "race_rig.h"

enum { THREADS = 6, OPS = 2, KERNELS = 24, SEEDS = 4, WORDS = 3, AT = 512, BYTES = 4096 };
enum kind { READ, WRITE, ATOMIC };

struct op { enum kind kind; unsigned at, bytes; };
struct program { struct op ops[THREADS][OPS]; };

static unsigned next(uint64_t *state, unsigned n)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(*state >> 33) % n;
}

/* few: of races. */
static struct program any_program(uint64_t seed, bool few)
{
	struct program p;
	uint64_t state = seed;

	for (unsigned t = 0; t < THREADS; t++)
		for (unsigned k = 0; k < OPS; k++) {
			struct op *o = &p.ops[t][k];

			o->bytes = 1u << next(&state, few ? 2 : 3);
			o->at = few ? t * 2 % (4 * WORDS) + (o->bytes == 1 ? next(&state, 2) : 0) : next(&state, 4 * WORDS / o->bytes) * o->bytes;
			o->kind = o->bytes == 4 && !next(&state, 3) ? ATOMIC : next(&state, 2) ? WRITE : READ;
		}
	return p;
}

static bool conflict(const struct op *a, const struct op *b)
{
	return a->at < b->at + b->bytes && b->at < a->at + a->bytes && (a->kind != READ || b->kind != READ) && !(a->kind == ATOMIC && b->kind == ATOMIC);
}

/* The bytes on which threads race, bit by bit: nothing orders them. */
static unsigned racing(const struct program *p)
{
	unsigned bytes = 0;

	for (unsigned a = 0; a < THREADS * OPS; a++)
		for (unsigned b = 0; b < a; b++) {
			const struct op *x = &p->ops[a / OPS][a % OPS], *y = &p->ops[b / OPS][b % OPS];

			for (unsigned k = 0; k < 4 * WORDS && a / OPS != b / OPS && conflict(x, y); k++)
				bytes |= (unsigned)(k - x->at < x->bytes && k - y->at < y->bytes) << k;
		}
	return bytes;
}

/* Thread 0 of each block, or of each warp of one block, makes its accesses, at a place that memory gives. */
static void print(const struct program *p, bool warps, struct ws_buf *out)
{
	static const char *const bits[] = { [1] = "8", [2] = "16", [4] = "32" };

	ws_buf_printf(out, PTX_HEAD ".visible .entry k(.param .u64 out)\n{\n .reg .pred %%p<16>; .reg .b32 %%r<16>; .reg .b64 %%rd<8>; .reg .b16 %%h<4>;\n"
		" ld.param.u64 %%rd1, [out]; mov.u32 %%r0, %%tid.x; ld.global.u64 %%rd2, [%%rd1]; add.u64 %%rd1, %%rd1, %%rd2; and.b32 %%r1, %%r0, 31;\n"
		" setp.ne.u32 %%p1, %%r1, 0; @%%p1 bra DONE; %s mov.u16 %%h1, 1; mov.u32 %%r4, 7;\n", warps ? "shr.u32 %r2, %r0, 5;" : "mov.u32 %r2, %ctaid.x;");
	for (unsigned t = 0; t < THREADS; t++) {
		ws_buf_printf(out, " setp.ne.u32 %%p2, %%r2, %u; @%%p2 bra AFTER%u;\n", t, t);
		for (unsigned k = 0; k < OPS; k++) {
			const struct op *o = &p->ops[t][k];

			if (o->kind == ATOMIC)
				ws_buf_printf(out, " atom.global.add.u32 %%r5, [%%rd1+%u], 1;\n", AT + o->at);
			else if (o->kind == WRITE)
				ws_buf_printf(out, " st.global.u%s [%%rd1+%u], %s;\n", bits[o->bytes], AT + o->at, o->bytes == 4 ? "%r4" : "%h1");
			else
				ws_buf_printf(out, " ld.global.u%s %s, [%%rd1+%u];\n", bits[o->bytes], o->bytes == 4 ? "%r6" : "%h2", AT + o->at);
		}
		ws_buf_printf(out, "AFTER%u:\n", t);
	}
	ws_buf_puts(out, "DONE: ret;\n}\n");
}

/* What a thread with an atomic does behind it may be ordered with another thread's before its atomic: that is not known. */
static void compare(const struct race_rig *r, uint64_t buffer, unsigned bytes, const char *text, unsigned seed)
{
	const struct ws_race_counts *c = r->tables.counts;
	const struct ws_race_found *f = race_found(&r->tables, 0);

	if (!f != !bytes && !(bytes && c->undecided))
		fail_msg("%s, schedule %u:\n%s", f ? "there is no race" : "no race is told", seed, text);
	for (unsigned n = 0; (f = race_found(&r->tables, n)) != NULL; n++)
		if (!(bytes >> (f->address - buffer - AT) & ((1u << f->bytes) - 1)))
			fail_msg("there is no race in %u bytes from %d on, schedule %u:\n%s", f->bytes, (int)(f->address - buffer - AT), seed, text);
	if (c->lost || (c->undecided && !strstr(text, "atom")))
		fail_msg("%llu forgotten, %llu not known, schedule %u:\n%s", c->lost, c->undecided, seed, text);
}

static void run(const struct program *p, bool warps, unsigned seed)
{
	struct ws_gpu_config c = { .divergence = WS_DIV_ITS, .schedule = seed ? WS_SCHED_RANDOM : WS_SCHED_RR, .seed = seed, .host_threads = 1 };
	struct ws_buf text = { 0 };
	struct race_rig r;
	struct ws_mem *m;

	print(p, warps, &text);
	r = race_new(c, text.data);
	m = rig_mem(&r.rig, BYTES);
	for (unsigned launch = 0; launch < 2; launch++) {        /* the second one finds what the first one has made */
		rig_run(&r.rig, "k", warps ? 1 : THREADS, warps ? 32 * THREADS : 32, (uint64_t[]){ m->addr });
		compare(&r, m->addr, racing(p), text.data, seed);
	}
	race_free(&r);
	ws_buf_free(&text);
}

static void runs(bool few)
{
	for (unsigned k = 0; k < rig_rounds(KERNELS); k++) {
		struct program p = any_program(k + 1, few);

		for (unsigned seed = 0; seed < rig_ways(SEEDS, 2); seed++)
			run(&p, (k + seed) % 2, seed);
	}
}

static void bytes_halves_and_words(void **state)
{
	(void)state;
	runs(false);
}

/* Threads side by side, of which most have bytes of their own. */
static void hardly_any_races(void **state)
{
	(void)state;
	runs(true);
}

/* Where there are no cells left for bytes, words are dealt with as a whole, and what is forgotten is counted. */
static void no_room(void **state)
{
	struct program p = { .ops = { { { WRITE, 0, 1 }, { WRITE, 0, 1 } } } };
	struct ws_buf text = { 0 };
	struct race_rig r;

	(void)state;
	for (unsigned t = 1; t < THREADS; t++)
		p.ops[t][0] = p.ops[t][1] = (struct op){ WRITE, t, 1 };
	print(&p, false, &text);
	r = race_new((struct ws_gpu_config){ .divergence = WS_DIV_ITS, .host_threads = 1 }, text.data);
	r.tables.device.ncells = 2;              /* of the line that tells where the others are, and of theirs */
	assert_true(race_set(r.rig.mod, &r.tables));
	rig_run(&r.rig, "k", THREADS, 32, (uint64_t[]){ rig_mem(&r.rig, BYTES)->addr });
	assert_null(race_found(&r.tables, 0));
	assert_int_equal(r.tables.counts->lost, 4);      /* of the first word 3, of the second one 1 */
	race_free(&r);
	ws_buf_free(&text);
}

/* ---- lanes side by side ---- */
enum { BLOCKS = 2, BLOCK = 64, STEPS = 3, TILE = 1024 };

/* Rows of `width` threads, one behind the other in memory by `pitch` bytes: of each warp the lanes from `first` on to before `last`. */
struct step { bool write; unsigned bytes, width, pitch, shift, first, last; };

static unsigned place_of(const struct step *s, unsigned thread)
{
	return s->shift + thread / s->width * s->pitch + thread % s->width * s->bytes;
}

static bool takes_part(const struct step *s, unsigned thread) { return thread % 32 >= s->first && thread % 32 < s->last; }

/* still: at the places of the step before, if there is one. */
static struct step any_step(uint64_t *state, const struct step *before, bool still)
{
	static const unsigned widths[] = { 8, 16, 16, 32, 32, 64, 12 };
	struct step s = { .write = next(state, 3), .bytes = 1u << next(state, 2), .width = widths[next(state, WS_COUNT(widths))], .first = 0, .last = 32 };

	s.pitch = s.width * s.bytes + next(state, 3) * s.bytes;
	if (before && (still || next(state, 3)))
		s = *before;
	if (!before || !still)
		s.shift = next(state, 4) * s.bytes;
	s.write = next(state, 3);
	s.first = next(state, 2) ? next(state, 6) : 0;
	s.last = 32 - (next(state, 2) ? next(state, 6) : 0);
	return s;
}

/* The bytes on which threads race. Blocks have a tile each, but for so many bytes. */
static void racing_in_tiles(const struct step *steps, unsigned overlap, bool *bytes)
{
	enum { NOBODY = -1, SEVERAL = -2 };
	int *writer = ws_alloc(TILE * BLOCKS * sizeof *writer), *reader = ws_alloc(TILE * BLOCKS * sizeof *reader);

	for (unsigned k = 0; k < TILE * BLOCKS; k++)
		writer[k] = reader[k] = NOBODY;
	for (unsigned t = 0; t < BLOCKS * BLOCK; t++)
		for (unsigned n = 0; n < STEPS; n++)
			for (unsigned k = 0; k < steps[n].bytes && takes_part(&steps[n], t % BLOCK); k++) {
				int *who = &(steps[n].write ? writer : reader)[t / BLOCK * (TILE - overlap) + place_of(&steps[n], t % BLOCK) + k];

				*who = *who == NOBODY || *who == (int)t ? (int)t : SEVERAL;
			}
	for (unsigned k = 0; k < TILE * BLOCKS; k++)
		bytes[k] = writer[k] == SEVERAL || (writer[k] != NOBODY && reader[k] != NOBODY && reader[k] != writer[k]);
	free(writer);
	free(reader);
}

static void print_steps(const struct step *steps, unsigned overlap, struct ws_buf *out)
{
	ws_buf_printf(out, PTX_HEAD ".visible .entry k(.param .u64 out)\n{\n .reg .pred %%p<8>; .reg .b32 %%r<32>; .reg .b64 %%rd<16>; .reg .b16 %%h<4>;\n"
		" ld.param.u64 %%rd1, [out]; mov.u32 %%r0, %%tid.x; ld.global.u64 %%rd2, [%%rd1]; add.u64 %%rd1, %%rd1, %%rd2; and.b32 %%r1, %%r0, 31; mov.u16 %%h1, 1;\n"
		" mov.u32 %%r2, %%ctaid.x; mul.wide.u32 %%rd3, %%r2, %u; add.u64 %%rd1, %%rd1, %%rd3;\n", TILE - overlap);
	for (unsigned k = 0; k < STEPS; k++) {
		const struct step *s = &steps[k];

		ws_buf_printf(out, " setp.lt.u32 %%p1, %%r1, %u; setp.ge.u32 %%p2, %%r1, %u; or.pred %%p3, %%p1, %%p2; @%%p3 bra AFTER%u;\n"
			" div.u32 %%r3, %%r0, %u; rem.u32 %%r4, %%r0, %u; mul.lo.u32 %%r5, %%r3, %u; mad.lo.u32 %%r6, %%r4, %u, %%r5; cvt.u64.u32 %%rd4, %%r6; add.u64 %%rd5, %%rd1, %%rd4;\n",
			s->first, s->last, k, s->width, s->width, s->pitch, s->bytes);
		if (s->write)
			ws_buf_printf(out, " st.global.u%u [%%rd5+%u], %%h1;\n", 8 * s->bytes, AT + s->shift);
		else
			ws_buf_printf(out, " ld.global.u%u %%h2, [%%rd5+%u];\n", 8 * s->bytes, AT + s->shift);
		ws_buf_printf(out, "AFTER%u:\n", k);
	}
	ws_buf_puts(out, " ret;\n}\n");
}

static void compare_tiles(const struct race_rig *r, uint64_t buffer, const bool *bytes, const char *text, unsigned seed)
{
	const struct ws_race_found *f = race_found(&r->tables, 0);
	bool any = false, told;

	for (unsigned k = 0; k < TILE * BLOCKS; k++)
		any |= bytes[k];
	if (any != (f != NULL))
		fail_msg("%s, schedule %u:\n%s", f ? "there is no race" : "no race is told", seed, text);
	for (unsigned n = 0; (f = race_found(&r->tables, n)) != NULL; n++) {
		told = false;
		for (unsigned k = 0; k < f->bytes; k++)
			told |= bytes[f->address - buffer - AT + k];
		if (!told)
			fail_msg("there is no race in %u bytes from %d on, schedule %u:\n%s", f->bytes, (int)(f->address - buffer - AT), seed, text);
	}
	if (r->tables.counts->lost)
		fail_msg("%llu forgotten, schedule %u:\n%s", r->tables.counts->lost, seed, text);
}

/* Of whole warps, half ones, and some lanes: threads of a tile inside its rim. */
static void lanes_side_by_side(void **state)
{
	unsigned races = 0, all = rig_rounds(4 * KERNELS);

	(void)state;
	for (unsigned k = 0; k < all; k++) {
		uint64_t noise = (k + 1) * 0x9e3779b97f4a7c15u;      /* seeds side by side begin alike */
		struct step steps[STEPS];
		bool still = next(&noise, 3);
		unsigned overlap = still || next(&noise, 3) ? 0 : 512 + 2 * next(&noise, 250);
		struct ws_gpu_config c = { .divergence = WS_DIV_ITS, .schedule = k % 2 ? WS_SCHED_RANDOM : WS_SCHED_RR, .seed = k, .host_threads = 1 };
		struct ws_buf text = { 0 };
		bool bytes[TILE * BLOCKS];
		struct race_rig r;
		struct ws_mem *m;

		for (unsigned n = 0; n < STEPS; n++)
			steps[n] = any_step(&noise, n ? &steps[n - 1] : NULL, still);
		print_steps(steps, overlap, &text);
		racing_in_tiles(steps, overlap, bytes);
		r = race_new(c, text.data);
		m = rig_mem(&r.rig, BYTES);
		rig_run(&r.rig, "k", BLOCKS, BLOCK, (uint64_t[]){ m->addr });
		compare_tiles(&r, m->addr, bytes, text.data, k);
		races += race_found(&r.tables, 0) != NULL;
		race_free(&r);
		ws_buf_free(&text);
	}
	print_message("%u of %u have races\n", races, all);
	assert_true(races > all / 8 && races < all - all / 8);
}

/* Halves that threads have in an order of their own, as quantized coefficients are stored: no lane is beside the next one, and two of one warp, or of two,
 * come to each word. Each word takes a quarter of the cells of a line for its parts, once. */
static void parts_are_taken_once(void **state)
{
	enum { HALVES = 128, LINES = HALVES * 2 / 64, PARTS = HALVES / 2 / 4, IN_VAIN = 8, WARP_APART = 40 };
	static const char text[] = PTX_HEAD ".visible .entry k(.param .u64 out)\n{\n .reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .b16 %h<4>;\n"
		" ld.param.u64 %rd1, [out]; mov.u32 %r0, %tid.x; ld.global.u64 %rd2, [%rd1]; add.u64 %rd1, %rd1, %rd2; mul.lo.u32 %r1, %r0, 37; and.b32 %r1, %r1, 127;\n"
		" mul.wide.u32 %rd3, %r1, 2; add.u64 %rd1, %rd1, %rd3; mov.u16 %h1, 1; st.global.u16 [%rd1+512], %h1; ret;\n}\n";

	(void)state;
	/* (In one schedule of fifty all lanes of a warp are apart, and each takes some.) */
	for (unsigned seed = 0, apart = 0; seed < SEEDS; seed++) {
		struct ws_gpu_config c = { .divergence = WS_DIV_ITS, .schedule = seed ? WS_SCHED_RANDOM : WS_SCHED_RR, .seed = seed, .host_threads = 1 };
		struct race_rig r = race_new(c, text);
		struct ws_mem *m = rig_mem(&r.rig, BYTES);

		rig_run(&r.rig, "k", 1, HALVES, (uint64_t[]){ m->addr });
		assert_null(race_found(&r.tables, 0));
		assert_int_equal(r.tables.counts->lost, 0);
		apart += r.tables.counts->cells > LINES + PARTS + IN_VAIN;
		if (apart > 1 || r.tables.counts->cells > LINES + PARTS + WARP_APART)
			fail_msg("%u cells for %u lines and %u words, schedule %u", r.tables.counts->cells, LINES, HALVES / 2, seed);
		race_free(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_halves_and_words), cmocka_unit_test(hardly_any_races), cmocka_unit_test(no_room), cmocka_unit_test(lanes_side_by_side),
		cmocka_unit_test(parts_are_taken_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

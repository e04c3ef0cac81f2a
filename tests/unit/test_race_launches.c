/* Races between launches that nothing orders, by the checks of the pass `race` on the simulated GPU: random launches in random
 * streams, compared with what the order of the launches and their accesses say. Some of them tell of copies and fills. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "detect/order.h"
#include "race_rig.h"

enum { WORDS = 512, LANES = 4, MOST_LAUNCHES = 24 };
enum kind { READ, WRITE, ATOMIC, COPY_READS, COPY_WRITES, KINDS };

/* Thread t accesses word (t + shift) % WORDS; `bytes` of it or more are no words of their own. */
static const char text[] =
	".version 8.0\n.target sm_90\n.address_size 64\n"
	".visible .entry k(.param .u64 p, .param .u32 shift, .param .u32 kind, .param .u32 value)\n{\n"
	"\t.reg .pred %p<4>;\n\t.reg .b32 %r<12>;\n\t.reg .b64 %rd<8>;\n"
	"\tld.param.u64 %rd1, [p];\n\tld.param.u32 %r1, [shift];\n\tld.param.u32 %r2, [kind];\n\tld.param.u32 %r3, [value];\n"
	"\tmov.u32 %r4, %tid.x;\n\tmov.u32 %r5, %ctaid.x;\n\tmov.u32 %r6, %ntid.x;\n\tmad.lo.s32 %r7, %r5, %r6, %r4;\n"
	"\tadd.s32 %r7, %r7, %r1;\n\tand.b32 %r7, %r7, 511;\n\tmul.wide.u32 %rd2, %r7, 4;\n\tadd.s64 %rd3, %rd1, %rd2;\n"
	"\tsetp.eq.u32 %p1, %r2, 0;\n\tsetp.eq.u32 %p2, %r2, 1;\n\tsetp.eq.u32 %p3, %r2, 2;\n"
	"\t@%p1 ld.global.u32 %r8, [%rd3];\n"
	"\t@%p2 st.global.u32 [%rd3], %r3;\n"
	"\t@%p3 red.global.add.u32 [%rd3], 1;\n"
	"\tret;\n}\n"
	/* Of it alone it is proved that it needs no checks. */
	".visible .entry proved(.param .u64 p)\n{\n"
	"\t.reg .b32 %r<4>;\n\t.reg .b64 %rd<4>;\n\tld.param.u64 %rd1, [p];\n\tmov.u32 %r1, %tid.x;\n\tmul.wide.u32 %rd2, %r1, 4;\n"
	"\tadd.s64 %rd3, %rd1, %rd2;\n\tst.global.u32 [%rd3], %r1;\n\tret;\n}\n"
	/* Waits for the launch before, if `when` is 1, or behind the access. */
	".visible .entry waits(.param .u64 p, .param .u32 when)\n{\n"
	"\t.reg .pred %p<2>;\n\t.reg .b32 %r<4>;\n\t.reg .b64 %rd<4>;\n\tld.param.u64 %rd1, [p];\n\tld.param.u32 %r2, [when];\n"
	"\tsetp.eq.u32 %p1, %r2, 1;\n\t@%p1 griddepcontrol.wait;\n\tmov.u32 %r1, %tid.x;\n\tmul.wide.u32 %rd2, %r1, 4;\n"
	"\tadd.s64 %rd3, %rd1, %rd2;\n\tst.global.u32 [%rd3], %r1;\n\tgriddepcontrol.wait;\n\tret;\n}\n";

struct params {
	uint64_t p;
	uint32_t shift, kind, value, gap[3];
	struct ws_race_launch launch;
};

/* The bytes [from, to) of some rows, each 1 KB behind the one before, are what a copy reads or writes. */
struct launched { enum kind kind; uint32_t shift, threads, from, to, rows; struct ws_operation op; };
enum { PITCH = 1024 };

static bool is_copy(const struct launched *l) { return l->kind >= COPY_READS; }

static uint64_t seed = 1;
static uint32_t below(uint32_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % n;
}

/* ---- copies ---- */
static uint32_t module_of_copies;

static struct ws_ptx_module *new_copies(void)
{
	struct ws_buf said = { 0 }, again = { 0 };
	struct ws_sink sink = { ws_sink_to_buf, &said };
	struct ws_ptx_module *m = ws_rewrite_ranges(&sink), *c;

	if (!m)
		fail_msg("%s", said.data);
	module_of_copies = ws_rewrite_result(m)->module;
	ws_ptx_print(m, &again);
	c = ws_ptx_parse("range.ptx", again.data, again.len, NULL, &sink);
	assert_non_null(c);
	ws_ptx_free(m);
	ws_buf_free(&again);
	return c;
}

static struct ws_gpu_module *load_copies(struct race_rig *r, struct ws_ptx_module *copies)
{
	struct ws_gpu_module *m = ws_gpu_module_load(r->rig.g, &copies, 1, &r->rig.err);

	assert_true(m && race_set(m, &r->tables));
	return m;
}

/* Tells the checks of it, and touches nothing: the driver makes the copy. */
static void run_copy(struct race_rig *r, struct ws_gpu_module *copies, const struct launched *l, const struct ws_mem *m, uint64_t at,
                     const struct ws_race_launch *said)
{
	bool boxes = l->from % 3 == 0;       /* the rows are slices of one row */
	struct { uint64_t at, width, pitch, rows, slice, of_slice; uint32_t write, gap[3]; struct ws_race_launch launch; } p = {
		at + l->from, l->to - l->from, boxes ? 0 : PITCH, l->rows, boxes ? PITCH : 0, boxes ? 1 : l->rows,
		l->kind == COPY_WRITES, { 0 }, *said };
	struct ws_gpu_kernel *k = ws_gpu_module_kernel(copies, "range");
	struct ws_gpu_launch launch = { .grid = { 1 + l->from % 2, 1, 1 }, .block = { 64, 1, 1 }, .params = &p };
	uint8_t before[4 * WORDS + 1024];

	assert_true(m->size <= sizeof before);
	memset(m->host, 0x5a, m->size);
	memcpy(before, m->host, m->size);
	p.launch.stream = WS_RACE_IN_STREAM(WS_RACE_IS_COPY, said->stream);
	if (!ws_gpu_launch(r->rig.g, k, &launch, &r->rig.stats, &r->rig.err))
		fail_msg("%s", r->rig.err.text.data);
	assert_memory_equal(m->host, before, m->size);
}

static struct race_rig begin(const char *pass, unsigned threads)
{
	return race_new_by(pass, (struct ws_gpu_config){ .divergence = WS_DIV_ITS, .host_threads = threads }, text);
}

static void run(struct race_rig *r, const char *kernel, uint32_t grid, uint32_t block, struct params *params)
{
	struct ws_gpu_kernel *k = ws_gpu_module_kernel(r->rig.mod, kernel);
	struct ws_gpu_launch l = { .grid = { grid, 1, 1 }, .block = { block, 1, 1 }, .params = params };
	struct ws_kernel_info info;
	char buffer[256] = { 0 };
	uint32_t at;

	ws_gpu_kernel_info(k, &info);
	at = info.param_offset[info.nparams - 1];
	assert_int_equal(info.param_bytes, at + sizeof params->launch);
	memcpy(buffer, params, given_params(k));
	memcpy(buffer + at, &params->launch, sizeof params->launch);
	l.params = buffer;
	if (!ws_gpu_launch(r->rig.g, k, &l, &r->rig.stats, &r->rig.err))
		fail_msg("%s", r->rig.err.text.data);
}

static void say(const struct ws_operation *op, struct ws_race_launch *l)
{
	*l = (struct ws_race_launch){ .mark = WS_RACE_COMPARED, .lane = op->timeline, .index = (uint32_t)op->index, .lanes = LANES,
	                              .stream = op->timeline };
	for (uint32_t t = 0; t < LANES; t++)
		l->before[t] = (uint32_t)ws_clock_of(&op->before, t);
}

static bool touches(const struct launched *l, uint32_t byte)
{
	if (!is_copy(l))
		return (byte / 4 - l->shift) % WORDS < l->threads;
	return byte % PITCH >= l->from && byte % PITCH < l->to && byte / PITCH < l->rows;
}

static bool reads(const struct launched *l) { return l->kind == READ || l->kind == COPY_READS; }

static bool conflict(const struct launched *a, const struct launched *b)
{
	bool both_atomic = a->kind == ATOMIC && b->kind == ATOMIC;

	if ((reads(a) && reads(b)) || both_atomic || a->op.timeline == b->op.timeline ||
	    ws_clock_of(&b->op.before, a->op.timeline) >= a->op.index)
		return false;
	for (uint32_t w = 0; w < 4 * WORDS; w++)
		if (touches(a, w) && touches(b, w))
			return true;
	return false;
}

/* Something that orders, or nothing. */
static void order_some(struct ws_order *o)
{
	struct ws_clock c = { NULL, 0 };
	uint32_t from = below(LANES), to = below(LANES);

	switch (below(5)) {
	case 0:
		ws_order_record(o, from, &c);
		ws_order_wait(o, to, &c);
		break;
	case 1:
		ws_order_record(o, from, &c);
		ws_order_host_waits(o, &c);
		break;
	case 2:
		if (!below(4))
			ws_order_host_waits_all(o);
		break;
	}
	ws_clock_free(&c);
}

static bool expected(const struct launched *l, unsigned n)
{
	for (unsigned k = 0; k < n; k++)
		for (unsigned m = 0; m < k; m++)
			if (conflict(&l[m], &l[k]))
				return true;
	return false;
}

/* The kernel's checks are its read, write and atomic, in this order; of copies the kernel says it. */
static bool is_at(const struct launched *l, uint32_t module, uint32_t kernel, uint32_t stream, uint32_t site)
{
	if (module == module_of_copies)
		return is_copy(l) && !kernel && WS_RACE_OPERATION_OF(stream) == WS_RACE_IS_COPY;
	return (uint32_t)l->kind == site && !WS_RACE_OPERATION_OF(stream);
}

/* What was found is a pair of places of two launches. */
static bool is_right(const struct launched *l, unsigned n, const struct ws_race_found *f)
{
	if (!(f->flags & WS_RACE_OTHER_LAUNCH) || f->stream == f->other_stream)
		return false;
	for (unsigned k = 0; k < n; k++)
		for (unsigned m = 0; m < k; m++)
			if (conflict(&l[m], &l[k]) && l[m].op.timeline == WS_RACE_STREAM_OF(f->other_stream) &&
			    l[k].op.timeline == WS_RACE_STREAM_OF(f->stream) &&
			    reads(&l[m]) == (f->pair == WS_RACE_WRITE_AFTER_READ) && reads(&l[k]) == (f->pair == WS_RACE_READ_AFTER_WRITE) &&
			    is_at(&l[m], f->other_module, f->other_kernel, f->other_stream, f->other_site) &&
			    is_at(&l[k], f->module, f->kernel, f->stream, f->site))
				return true;
	return false;
}

static unsigned with_races, without, forgotten;

static void play(const char *pass, bool often_ordered, struct ws_ptx_module *copies)
{
	struct race_rig r = begin(pass, 1 + below(2));
	struct ws_mem *m = rig_mem(&r.rig, 4 * WORDS + 1024);
	struct ws_gpu_module *c = load_copies(&r, copies);
	struct launched l[MOST_LAUNCHES];
	struct ws_order *o = ws_order_new();
	unsigned n = 2 + below(MOST_LAUNCHES - 2);
	bool races;

	for (unsigned k = 1; k < LANES; k++)
		ws_order_timeline(o, k == 1);
	for (unsigned k = 0; k < n; k++) {
		uint32_t block = 32 * (1 + below(3)) - (below(3) ? 0 : below(20)), grid = 1 + below(2);
		struct params p = { .p = (m->addr + 127) / 128 * 128, .value = k + 100 };
		uint32_t from = below(2) ? 128 * below(4) : below(PITCH - 1);

		l[k] = (struct launched){ (enum kind)below(KINDS), below(2) ? 32 * below(16) : below(WORDS), grid * block, from,
		                          below(2) ? PITCH - 128 * below(1 + (PITCH - from - 1) / 128) : from + 1 + below(PITCH - from), 1 + below(2), { 0 } };
		ws_order_begin(o, below(LANES), false, &l[k].op);
		p.kind = (uint32_t)l[k].kind;
		p.shift = l[k].shift;
		say(&l[k].op, &p.launch);
		if (is_copy(&l[k]))
			run_copy(&r, c, &l[k], m, p.p, &p.launch);
		else
			run(&r, "k", grid, block, &p);
		for (unsigned times = often_ordered ? 10 : 1; times--;)
			order_some(o);
	}
	races = expected(l, n);
	for (uint32_t k = 0; race_found(&r.tables, k); k++)
		if (!is_right(l, n, race_found(&r.tables, k)))
			fail_msg("no such race: %u of stream %u, then %u of stream %u", race_found(&r.tables, k)->other_site,
			         race_found(&r.tables, k)->other_stream, race_found(&r.tables, k)->site, race_found(&r.tables, k)->stream);
	if (races && !race_found(&r.tables, 0) && !r.tables.counts->readers && !r.tables.counts->lost)
		fail_msg("a race was not found");
	with_races += races;
	without += !races;
	forgotten += races && !race_found(&r.tables, 0);
	assert_int_equal(r.tables.counts->undecided, 0);
	for (unsigned k = 0; k < n; k++)
		ws_operation_free(&l[k].op);
	ws_order_free(o);
	race_free(&r);
}

static void random_launches(void **state)
{
	enum { ROUNDS = 60 };
	static const char *const passes[] = { "race-all", "race", "race-alone" };
	struct ws_ptx_module *copies = new_copies();

	for (unsigned n = 0; n < ROUNDS; n++)
		play(passes[n % 3], n % 2, copies);
	ws_ptx_free(copies);
	printf("%u programs have races, %u none; of %u the races were forgotten\n", with_races, without, forgotten);
	assert_true(with_races > ROUNDS / 5 && without > ROUNDS / 8 && forgotten < ROUNDS / 10);
}

/* Proofs for a launch alone do not suffice where another one may overlap it. */
static void proofs_of_one_launch(void **state)
{
	struct race_rig r = begin("race", 1);
	struct ws_mem *m = rig_mem(&r.rig, 1024);
	struct params p = { .p = m->addr };

	run(&r, "proved", 1, 64, &p);
	run(&r, "proved", 1, 64, &p);
	assert_int_equal(r.tables.counts->entered, 0);
	p.launch = (struct ws_race_launch){ .mark = WS_RACE_COMPARED, .lane = 1, .index = 1, .lanes = LANES };
	run(&r, "proved", 1, 64, &p);
	p.launch.lane = 2;
	p.launch.before[1] = 1;
	run(&r, "proved", 1, 64, &p);
	assert_null(race_found(&r.tables, 0));
	assert_int_equal(r.tables.counts->entered, 2);
	p.launch.lane = 3;
	run(&r, "proved", 1, 64, &p);
	assert_non_null(race_found(&r.tables, 0));
	assert_int_equal(race_found(&r.tables, 0)->pair, WS_RACE_WRITE_AFTER_WRITE);
	assert_int_equal(race_found(&r.tables, 0)->other_kernel, 1);
	assert_int_equal(race_found(&r.tables, 0)->other_block_dim[0], 64);
	race_free(&r);
}

/* A launch that may begin before the one before it in its lane has ended, and waits for that before its access or behind it. */
static void dependent_launches(void **state)
{
	for (unsigned when = 0; when < 2; when++) {
		struct race_rig r = begin("race", 1);
		struct ws_mem *m = rig_mem(&r.rig, 4096);
		struct params p = { .p = m->addr, .shift = when, .launch = { .mark = WS_RACE_COMPARED, .lane = 1, .lanes = LANES } };

		for (unsigned n = 1; n <= 2; n++) {
			bool second = n == 2;

			p.launch.index = 6 + second;
			p.launch.before[1] = 5;
			p.launch.stream = second ? WS_RACE_EARLY : 0;
			run(&r, second ? "waits" : "proved", 1, 32, &p);
		}
		assert_int_equal(race_found(&r.tables, 0) != NULL, !when);
		p.launch.index = 8;                      /* behind both */
		p.launch.before[1] = 7;
		p.launch.stream = 0;
		p.p = m->addr + 1024;
		run(&r, "proved", 1, 32, &p);
		assert_null(race_found(&r.tables, 1));
		race_free(&r);
	}
}

/* More than the table has of a lane: the oldest are not compared, which is counted. */
static void many_launches_of_a_lane(void **state)
{
	struct race_rig r = begin("race", 1);
	struct ws_mem *m = rig_mem(&r.rig, 4096);
	struct params p = { .p = m->addr, .launch = { .mark = WS_RACE_COMPARED, .lane = 1, .lanes = LANES } };

	for (unsigned n = 1; n <= WS_RACE_DEPTH + 10; n++) {
		p.launch.index = n;
		p.p = m->addr + (n == 1 ? 0 : n == 20 ? 512 : 1024);
		run(&r, "proved", 1, 32, &p);
	}
	p.launch.lane = 2;
	p.launch.index = 1;
	p.p = m->addr;
	run(&r, "proved", 1, 32, &p);
	assert_null(race_found(&r.tables, 0));
	assert_int_equal(r.tables.counts->launches_missing, 1);
	p.launch.index = 2;
	p.p = m->addr + 512;
	run(&r, "proved", 1, 32, &p);
	assert_non_null(race_found(&r.tables, 0));
	race_free(&r);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_launches),
		cmocka_unit_test(proofs_of_one_launch),
		cmocka_unit_test(dependent_launches),
		cmocka_unit_test(many_launches_of_a_lane),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

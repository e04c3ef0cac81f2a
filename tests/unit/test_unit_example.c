/* test_unit_example.c - the unit that docs/UNITS.md walks through (examples/units/tally.c), on two machines. */
#include "tests/sim/clocked.h"
#include "tests/unit/gpu_test.h"
#include "timing/timing.h"

#include "examples/units/tally.c"

enum { BLOCKS = 3, THREADS = 40, ALL = BLOCKS * THREADS, WARPS = 2 * BLOCKS };

/* All threads add to word 0 of p; those with an odd number to word 1, and then to a word of their own. */
static const char kernel[] = PTX_HEAD
	".extern .func __ws_tally(.param .b64 a);\n"
	".visible .entry k(.param .u64 p)\n{\n.reg .b64 %r<8>;\n.reg .b32 %s<8>;\n.reg .pred %p<2>;\n"
	"ld.param.u64 %r1, [p];\nmov.u32 %s1, %tid.x;\nmov.u32 %s2, %ctaid.x;\nmov.u32 %s3, %ntid.x;\n"
	"mad.lo.u32 %s1, %s2, %s3, %s1;\n"
	"{\n.param .b64 a;\nst.param.b64 [a], %r1;\ncall.uni __ws_tally, (a);\n}\n"
	"and.b32 %s4, %s1, 1;\nsetp.eq.u32 %p1, %s4, 0;\n@%p1 bra even;\n"
	"add.u64 %r2, %r1, 4;\n"
	"{\n.param .b64 a;\nst.param.b64 [a], %r2;\ncall __ws_tally, (a);\n}\n"
	"mul.wide.u32 %r3, %s1, 4;\nadd.u64 %r3, %r3, %r1;\nadd.u64 %r3, %r3, 1024;\n"
	"{\n.param .b64 a;\nst.param.b64 [a], %r3;\ncall __ws_tally, (a);\n}\n"
	"even:\nret;\n}\n";

struct figures { uint64_t threads, requests; };

static struct figures figures_of(const void *self)
{
	struct ws_unit_counter c[2];

	for (unsigned i = 0; i < 2; i++)
		assert_true(ws_unit_tally.counter(self, i, &c[i]));
	assert_false(ws_unit_tally.counter(self, 2, &c[0]));
	return (struct figures){ c[0].value, c[1].value };
}

static void *made;                       /* the unit's state, which the machine has for itself */
static struct figures at_the_end;

static void *create_and_keep(const uint32_t *values)
{
	return made = create(values);
}

static void count_and_free(void *self)
{
	assert_ptr_equal(self, made);
	at_the_end = figures_of(self);
	free(self);
}

static void check(const char *machine, uint32_t by)
{
	struct ws_unit_ops unit = ws_unit_tally;
	struct ws_timing_options o = { .unit = &unit, .unit_values = &by };
	struct ws_machine m = clocked_named(machine);
	struct ws_timing *t;
	struct ws_mem *p;
	const uint32_t *words;
	uint64_t param;
	struct rig r;

	unit.create = create_and_keep;
	unit.destroy = count_and_free;
	t = ws_timing_new(&m, &o);
	r = rig_new((struct ws_gpu_config){.host_threads = 1, .sms = m.cores, .clock = &ws_timing_clock, .clock_self = t,
	                                   .divergence = m.stack ? WS_DIV_STACK : WS_DIV_ITS}, kernel);
	p = rig_mem(&r, 4096);
	param = p->addr;
	rig_run(&r, "k", BLOCKS, THREADS, &param);
	words = (const uint32_t *)(const void *)p->host;
	assert_int_equal(words[0], ALL * by);
	assert_int_equal(words[1], ALL / 2 * by);
	for (unsigned k = 0; k < ALL; k++)
		assert_int_equal(words[256 + k], k % 2 * by);
	rig_free(&r);
	ws_timing_free(t);
	assert_int_equal(at_the_end.threads, 2 * ALL);
	assert_in_range(at_the_end.requests, 3 * WARPS, 2 * ALL);        /* one a warp for each word that it shares */
}

static void test_on_two_machines(void **state)
{
	check("fermi", 1);
	check("h200", 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_on_two_machines) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

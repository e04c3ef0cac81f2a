/* test_spare.c - which functions of the checks a module does without (src/rewrite/spare.c), and that the others do their work. */
#include "race_rig.h"

enum { BLOCK = 64, BYTES = 4096 };
static const struct ws_gpu_config config = { .divergence = WS_DIV_ITS, .host_threads = 1 };

#define KERNEL(body) PTX_HEAD ".visible .entry k(.param .u64 out)\n{\n .reg .pred %p<8>; .reg .b32 %r<16>; .reg .b64 %rd<8>; .reg .b16 %h<4>;\n" \
	" ld.param.u64 %rd1, [out]; mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mul.wide.u32 %rd2, %r0, 16; add.u64 %rd2, %rd1, %rd2;\n" \
	" mov.u64 %rd3, 5; mov.u16 %h1, 1;\n" body " ret;\n}\n"
#define OWN " setp.ne.u32 %p1, %r1, 0; @%p1 bra OTHER;\n"         /* the first block's, and then the others' */

#define GIVES_0 "\n\tst.param.b32 \t[func_retval0], 0;\n\tret;\n}"
/* Does the function give 0 at once? */
static bool is_left_out(const char *text, const char *name)
{
	char head[64];
	const char *at, *body;

	snprintf(head, sizeof head, "__warpsafe_%s(", name);
	at = strstr(text, head);
	assert_non_null(at);
	for (const char *next = at; next; next = strstr(next + 1, head))         /* declarations come before it */
		at = next;
	body = strchr(at, '{');
	assert_non_null(body);
	return !strncmp(body + 1, GIVES_0, sizeof GIVES_0 - 1);
}

static const struct { const char *pass, *text; bool words, parts, rounds, others; } cases[] = {
	{ "race", KERNEL(OWN " st.global.u32 [%rd2], %r0;\nOTHER: ld.global.u32 %r2, [%rd2];\n"), false, false, false, true },
	{ "race-alone", KERNEL(OWN " st.global.u32 [%rd2], %r0;\nOTHER: ld.global.u32 %r2, [%rd2];\n"), false, false, false, false },
	{ "race-alone", KERNEL(OWN " st.global.u64 [%rd2], %rd3;\nOTHER: ld.global.u32 %r2, [%rd2+4];\n"), true, false, false, false },
	{ "race-alone", KERNEL(OWN " st.global.u16 [%rd2], %h1;\nOTHER: ld.global.u32 %r2, [%rd2];\n"), false, true, false, false },
	{ "race-alone", KERNEL(OWN " st.global.u32 [%rd2], %r0; membar.gl;\nOTHER: ld.global.u32 %r2, [%rd2];\n"), false, false, true, false },
	{ "race-alone", KERNEL(OWN " st.global.u32 [%rd2+4], %r0;\nOTHER: ld.global.u32 %r2, [%rd2]; ld.global.u32 %r3, [%rd2+4]; ld.global.u32 %r4, [%rd2+8]; ld.global.u32 %r5, [%rd2+12];\n"),
		true, false, false, false },
};

static void what_is_of_no_use(void **state)
{
	(void)state;
	for (unsigned k = 0; k < WS_COUNT(cases); k++) {
		struct race_rig r = race_new_by(cases[k].pass, config, cases[k].text);

		assert_int_equal(is_left_out(r.text.data, "read_words"), !cases[k].words);
		if (cases[k].parts)
			assert_false(is_left_out(r.text.data, "write_bytes"));
		assert_int_equal(is_left_out(r.text.data, "read_bytes"), !cases[k].parts);
		assert_int_equal(is_left_out(r.text.data, "read_in_rounds"), !cases[k].rounds);
		assert_int_equal(is_left_out(r.text.data, "read_beside"), !cases[k].others);
		race_free(&r);
	}
}

/* Both blocks come to the same words, and nothing orders them: that is told, and nothing counts as not known, with any of it left out. */
static void races_are_told_without(void **state)
{
	(void)state;
	for (unsigned k = 0; k < WS_COUNT(cases); k++) {
		struct race_rig r = race_new_by(cases[k].pass, config, cases[k].text);
		struct ws_mem *m = rig_mem(&r.rig, BYTES);

		rig_run(&r.rig, "k", 2, BLOCK, (uint64_t[]){ m->addr });
		assert_non_null(race_found(&r.tables, 0));
		assert_null(race_found(&r.tables, 1));
		assert_int_equal(r.tables.counts->undecided + r.tables.counts->lost, 0);
		race_free(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(what_is_of_no_use), cmocka_unit_test(races_are_told_without) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

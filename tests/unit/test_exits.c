/* test_exits.c - ways out of loops that go by where the lanes of a condition meet (src/rewrite/exits.c): the text that it makes, and random kernels with loops in
 * loops, breaks, further rounds and returns under conditions, which compute what they computed, and of which a second pass finds nothing left to do. */
#include "gpu_test.h"
#include "noise.h"
#include "rewrite/exits.h"

#include <string.h>

enum { KERNELS = 400, THREADS = 64, WORDS = 256, DEEPEST = 5 };

/* Each load gets a call, as its check would be. The text that comes of it; *more: how many edits there are beside the calls. */
static struct ws_buf joined(const char *text, size_t *more)
{
	struct ws_buf said = { 0 }, out = { 0 };
	struct ws_sink sink = { ws_sink_to_buf, &said };
	struct ws_ptx_module *m = ws_ptx_parse("test.ptx", text, strlen(text), NULL, &sink);
	struct ws_ptx_func *f = NULL;
	struct ws_pass *p;
	size_t calls;

	if (!m)
		fail_msg("%s\n%s", said.data, text);
	p = ws_rw_begin(m, &sink);
	for (uint32_t k = 0; k < m->nfuncs; k++)
		f = m->funcs[k]->entry ? m->funcs[k] : f;
	for (uint32_t k = 0; k < f->ninsts; k++)
		if (f->insts[k].op == WS_OP_ld && f->insts[k].space == WS_SPACE_GLOBAL) {
			struct ws_code *c = ws_code_at(p, f, &f->insts[k], WS_BEFORE);

			ws_code_add(c, "call.uni note;");
			ws_code_end(c);
		}
	calls = m->edits ? m->edits->n : 0;
	ws_exits_join(p, f, 0);
	*more = (m->edits ? m->edits->n : 0) - calls;
	assert_true(ws_rw_end(p));
	ws_ptx_print(m, &out);
	ws_ptx_free(m);
	return out;
}

#define NOTE ".func note\n{\n\tret;\n}\n"
#define HEAD PTX_HEAD NOTE ".visible .entry k(.param .u64 p)\n{\n\t.reg .pred %p<9>;\n\t.reg .b32 %r<9>;\n\t.reg .b64 %d<9>;\n"
#define READ "\tld.global.u32 %r1, [%d1];\n"

static void becomes(const char *body, const char *want)
{
	struct ws_buf text = { 0 }, out;
	const char *at;
	size_t more;

	ws_buf_printf(&text, "%s%s}\n", HEAD, body);
	out = joined(text.data, &more);
	at = strstr(out.data, "L0:");
	assert_non_null(at);
	assert_string_equal(at, want);
	ws_buf_free(&text);
	ws_buf_free(&out);
}

static void text_of_one(void **state)
{
	(void)state;
	/* By the condition's end; behind the last instruction of what all come by it is false. */
	becomes("L0:\n\t@%p1 bra L1;\n" READ "\t@!%p2 bra L2;\n\tadd.u32 %r1, %r1, 1;\nL1:\n\tadd.u32 %r2, %r2, 1;\n\t@%p3 bra L0;\nL2:\n\tret;\n",
	        "L0:\n\tsetp.ne.u32 %ws_kept_pred_0, 0, 0;\n\t@%p1 bra L1;\n\tcall.uni note;\n" READ
	        "\tnot.pred %ws_kept_pred_0, %p2;\n\t@!%p2 bra L1;\n\tadd.u32 %r1, %r1, 1;\nL1:\n\t@%ws_kept_pred_0 bra L2;\n\tadd.u32 %r2, %r2, 1;\n\t@%p3 bra L0;\nL2:\n\tret;\n}\n");
	/* Of a jump, and of what is fallen into and has no label. */
	becomes("L0:\n\t@%p1 bra L1;\n" READ "\t@%p2 bra L1;\n\tadd.u32 %r3, %r3, 1;\n\tret;\nL1:\n\tadd.u32 %r2, %r2, 1;\n\tbra.uni L0;\n",
	        "L0:\n\tsetp.ne.u32 %ws_kept_pred_0, 0, 0;\n\t@%p1 bra L1;\n\tcall.uni note;\n" READ
	        "\t@%p2 bra L1;\n\tsetp.eq.u32 %ws_kept_pred_0, 0, 0;\n\tbra L1;\n$ws_0:\n\tadd.u32 %r3, %r3, 1;\n\tret;\nL1:\n\t@%ws_kept_pred_0 bra $ws_0;\n"
	        "\tadd.u32 %r2, %r2, 1;\n\tbra.uni L0;\n}\n");
	/* By a block for all rounds, where lanes meet in the next round. */
	becomes("L0:\n\t@%p1 bra L0;\n" READ "\t@%p2 bra L2;\n\tbra.uni L0;\nL2:\n\tret;\n",
	        "L0:\n\tsetp.ne.u32 %ws_kept_pred_0, 0, 0;\n\t@%p1 bra $ws_0;\n\tcall.uni note;\n" READ
	        "\tmov.pred %ws_kept_pred_0, %p2;\n\t@%p2 bra $ws_0;\n\tbra $ws_0;\nL2:\n\tret;\n\n\tret;\n$ws_0:\n\t@%ws_kept_pred_0 bra L2;\n\tbra L0;\n}\n");
}

static void same(const char *body)
{
	struct ws_buf text = { 0 }, out;
	size_t more;

	ws_buf_printf(&text, "%s%s}\n", HEAD, body);
	out = joined(text.data, &more);
	if (more)
		fail_msg("%s", out.data);
	ws_buf_free(&text);
	ws_buf_free(&out);
}

static void what_is_left_alone(void **state)
{
	(void)state;
	same("L0:\n\t@%p1 bra L1;\n\tadd.u32 %r1, %r1, 1;\n\t@%p2 bra L2;\nL1:\n" READ "\t@%p3 bra L0;\nL2:\n\tret;\n");           /* no check under the condition */
	same("L0:\n" READ "\t@%p2 bra L2;\n" READ "\t@%p3 bra L0;\nL2:\n\tret;\n");                                                /* of the loop itself */
	same("L0:\n\t@%p1 bra L1;\n" READ "\t@%p2 ret;\nL1:\n\tadd.u32 %r1, %r1, 1;\n\t@%p3 bra L0;\nL2:\n\tret;\n");              /* the thread's end */
	same("L0:\n\t@%p1 bra L1;\n" READ "\tadd.u32 %r1, %r1, 1;\n\tbra.uni L2;\nL1:\n\tadd.u32 %r1, %r1, 1;\n\t@%p3 bra L0;\nL2:\n\tret;\n"); /* who comes there leaves */
	same("L0:\n\t@%p1 bra L1;\n" READ "\t@%p2 bra L2;\nL1:\n\t{\n\t.reg .b32 %q;\n\tadd.u32 %q, %r1, 1;\n\t}\n\t@%p3 bra L0;\nL2:\n\tret;\n"); /* in braces */
	same("\t@%p1 bra L1;\n" READ "\t@%p2 bra L2;\nL1:\n\tadd.u32 %r1, %r1, 1;\nL2:\n\tret;\n");                                /* no loop */
}

/* ---- random kernels: %r1 says what was done so far, %r2 is what is left to do ---- */
struct making { struct ws_buf out; unsigned labels, loops, outer[DEEPEST + 1]; };

static void body(struct making *k, unsigned depth, unsigned n);

static void step(struct making *k)
{
	ws_buf_printf(&k->out, "\tmad.lo.u32 %%r1, %%r1, 1664525, %u;\n", below(1u << 20));
}

static void look(struct making *k)
{
	ws_buf_printf(&k->out, "\tshr.u32 %%r3, %%r1, 10; and.b32 %%r3, %%r3, %d; mul.wide.u32 %%d2, %%r3, 4; add.u64 %%d2, %%d1, %%d2;\n"
	              "\tld.global.u32 %%r4, [%%d2]; xor.b32 %%r1, %%r1, %%r4;\n", WORDS - 1);
}

/* Sets %p1. */
static void ask(struct making *k)
{
	ws_buf_printf(&k->out, "\tshr.u32 %%r3, %%r1, %u; and.b32 %%r3, %%r3, %u; setp.eq.u32 %%p1, %%r3, 0;\n", below(20) + 8, 1 + 2 * below(2));
}

static void jump(struct making *k, const char *kind, unsigned label)
{
	unsigned over = k->labels++;

	switch (below(3)) {
	case 0: ws_buf_printf(&k->out, "\t@%%p1 bra %s%u;\n", kind, label); return;
	case 1: ws_buf_printf(&k->out, "\t@!%%p1 bra O%u;\n\tbra.uni %s%u;\nO%u:\n", over, kind, label, over); return;
	default: ws_buf_printf(&k->out, "\tnot.pred %%p1, %%p1;\n\t@!%%p1 bra %s%u;\n", kind, label);
	}
}

static void condition(struct making *k, unsigned depth)
{
	unsigned label = k->labels++;
	bool other = below(2);

	ask(k);
	ws_buf_printf(&k->out, "\t@%%p1 bra %s%u;\n", other ? "A" : "M", label);
	body(k, depth + 1, 1 + below(3));
	if (other) {
		ws_buf_printf(&k->out, "\tbra.uni M%u;\nA%u:\n", label, label);
		body(k, depth + 1, 1 + below(3));
	}
	ws_buf_printf(&k->out, "M%u:\n", label);
	if (below(3))
		step(k);
}

static void loop(struct making *k, unsigned depth)
{
	unsigned label = k->labels++;

	k->outer[k->loops++] = label;
	ws_buf_printf(&k->out, "R%u:\n\tsub.u32 %%r2, %%r2, 1; setp.lt.s32 %%p1, %%r2, 0;\n\t@%%p1 bra E%u;\n", label, label);
	body(k, depth + 1, 2 + below(4));
	if (below(2)) {
		ask(k);
		ws_buf_printf(&k->out, "\t@%%p1 bra R%u;\nE%u:\n", label, label);
	} else {
		ws_buf_printf(&k->out, "\tbra.uni R%u;\nE%u:\n", label, label);
	}
	k->loops--;
	step(k);
}

/* Some are conditions whose lanes leave, or go on with a round of this loop or of one around it. */
static void statement(struct making *k, unsigned depth)
{
	unsigned what = below(10), label = k->loops ? k->outer[k->loops - 1 - (k->loops > 1 && !below(4))] : 0;

	if (what < 3 && depth < DEEPEST)
		condition(k, depth);
	else if (what == 3 && k->loops < DEEPEST && depth < DEEPEST)
		loop(k, depth);
	else if (what < 6)
		look(k);
	else if (what < 8 && k->loops) {
		ask(k);
		jump(k, below(4) ? "E" : "R", label);
	} else {
		step(k);
	}
}

static void body(struct making *k, unsigned depth, unsigned n)
{
	while (n--)
		statement(k, depth);
}

static struct ws_buf kernel(void)
{
	struct making k = { 0 };

	ws_buf_printf(&k.out, "%s\tld.param.u64 %%d1, [p];\n\tmov.u32 %%r0, %%tid.x;\n\tmul.lo.u32 %%r1, %%r0, %u;\n\tmov.u32 %%r2, 40;\n", HEAD, 1 + 2 * below(1u << 30));
	for (unsigned n = 0; n < 3; n++)
		loop(&k, 0);
	ws_buf_printf(&k.out, "\tmul.wide.u32 %%d2, %%r0, 4;\n\tadd.u64 %%d2, %%d1, %%d2;\n\tst.global.u32 [%%d2+%d], %%r1;\n\tret;\n}\n", 4 * WORDS);
	return k.out;
}

static void run(const char *text, uint32_t *out)
{
	struct rig r = rig_new((struct ws_gpu_config){ .divergence = WS_DIV_ITS, .host_threads = 1 }, text);
	struct ws_mem *m = rig_mem(&r, 4 * (WORDS + THREADS));
	uint64_t params[] = { m->addr };

	for (uint32_t k = 0; k < WORDS; k++)
		((uint32_t *)(void *)m->host)[k] = k * 2654435761u;
	rig_run(&r, "k", 1, THREADS, params);
	memcpy(out, m->host + 4 * WORDS, 4 * THREADS);
	rig_free(&r);
}

/* Names that a pass may not find in a module. */
static void rename_ours(struct ws_buf *text)
{
	for (char *at = text->data; (at = strstr(at, "ws_")) != NULL; at += 3)
		if (at[-1] == '%' || at[-1] == '$')
			*at = 'u';
}

static void random_kernels(void **state)
{
	size_t more, left, changed = 0;

	(void)state;
	noise = 5;
	for (unsigned n = 0; n < KERNELS; n++) {
		struct ws_buf text = kernel(), out = joined(text.data, &more), again;
		uint32_t was[THREADS], is[THREADS];

		run(text.data, was);
		run(out.data, is);
		if (memcmp(was, is, sizeof was) != 0)
			fail_msg("kernel %u computes something else:\n%s\n%s", n, text.data, out.data);
		changed += more > 0;
		rename_ours(&out);
		again = joined(out.data, &left);
		if (left)
			fail_msg("kernel %u: something is left:\n%s\n%s", n, out.data, again.data);
		ws_buf_free(&text);
		ws_buf_free(&out);
		ws_buf_free(&again);
	}
	assert_true(changed > KERNELS / 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(text_of_one), cmocka_unit_test(what_is_left_alone), cmocka_unit_test(random_kernels) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

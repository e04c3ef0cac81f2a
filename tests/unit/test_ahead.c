/* test_ahead.c - reads of a loop that are checked before its rounds (src/rewrite/ahead.c, src/device/race_ahead.cuh): they find
 * the races that checks in each round find. Each block writes four words and counts itself; the one that finds so many others
 * counted reads the words of all. */
#include "noise.h"
#include "race_rig.h"

enum { KERNELS = 6, BLOCKS = 40, NO_BLOCK = 1 << 20 };

/* When a word is written: before a barrier, behind that, or behind the release; NONE: by no block. */
enum phase { BEFORE, BETWEEN, BEHIND, NONE };

struct program {
	uint32_t blocks, threads, limit; /* who finds so many blocks counted reads */
	uint32_t releaser, other_releaser, reader;       /* threads: other_releaser of the blocks with odd numbers */
	uint32_t writer[4];
	enum phase phase[4];
	uint32_t odd_one;                /* a block, */
	enum phase odd_phase;            /* that writes its first word now */
	bool odd_fence;                  /* and fences */
	bool fence, barrier;
	bool twice;                      /* the reader goes through the loop twice, */
	bool meets;                      /* and its block meets behind each time; thread 33 writes a word behind the first, */
	bool late;                       /* when the reader has been there */
	uint32_t fours;                  /* in a round: 1 or 2 */
};

/* %p5: the block is not the odd one. */
static void write_word(struct ws_buf *b, const struct program *p, uint32_t word, enum phase phase)
{
	bool most = p->phase[word] == phase, odd = word ? most : p->odd_phase == phase;

	if (!most && !odd)
		return;
	ws_buf_printf(b, " setp.eq.u32 %%p1, %%r0, %u; @!%%p1 bra W%u_%u;\n", p->writer[word], word, phase);
	ws_buf_printf(b, " %sst.global.u32 [%%rd3+%u], %%r1;\nW%u_%u:\n", most && odd ? "" : most ? "@%p5 " : "@!%p5 ", 4 * word, word, phase);
}

static void write_words(struct ws_buf *b, const struct program *p, enum phase phase)
{
	for (uint32_t k = 0; k < 4; k++)
		write_word(b, p, k, phase);
}

/* ahead: the loop is one that the pass knows. Else it does the same, and the pass cannot tell when it ends. */
static void read_all(struct ws_buf *b, const struct program *p, bool ahead)
{
	ws_buf_printf(b, " mov.u32 %%r12, %u; mov.u32 %%r16, 0;\nAGAIN: mov.u32 %%r13, 0; mov.u64 %%rd5, %%rd1;\nLOOP:\n", p->blocks / p->fours);
	for (uint32_t k = 0; k < 4 * p->fours; k++)
		ws_buf_printf(b, " ld.global.u32 %%r14, [%%rd5+%u]; add.u32 %%r15, %%r15, %%r14;\n", 4 * k);
	ws_buf_printf(b, " add.u32 %%r13, %%r13, 1; add.s64 %%rd5, %%rd5, %u;\n", 16 * p->fours);
	if (!ahead)
		ws_buf_puts(b, " setp.lt.u32 %p4, %r13, %r12; @%p4 bra LOOP;\n");
	else if (p->fours == 1)
		ws_buf_puts(b, " setp.ne.u32 %p4, %r13, %r12; @%p4 bra LOOP;\n");
	else                                     /* as clang has it */
		ws_buf_puts(b, " setp.eq.u32 %p4, %r12, %r13; @%p4 bra OUT; bra.uni LOOP;\nOUT:\n");
	if (p->meets)
		ws_buf_puts(b, " bar.sync 0;\n");
	if (p->twice)
		ws_buf_puts(b, " add.u32 %r16, %r16, 1; setp.ne.u32 %p4, %r16, 2; @%p4 bra AGAIN;\n");
	ws_buf_puts(b, " st.global.u32 [%rd4+64], %r15;\n");
}

static struct ws_buf text_of(const struct program *p, bool ahead)
{
	struct ws_buf b = { 0 };

	ws_buf_puts(&b, PTX_HEAD ".shared .align 4 .b8 s[64];\n.visible .entry k(.param .u64 out)\n{\n"
	                " .reg .pred %p<8>; .reg .b32 %r<32>; .reg .b64 %rd<16>;\n"
	                " ld.param.u64 %rd1, [out]; mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mov.u32 %r4, s; mov.u32 %r15, 0;\n"
	                " mul.wide.u32 %rd3, %r1, 16; add.u64 %rd3, %rd1, %rd3; add.u64 %rd4, %rd1, 32768;\n");
	ws_buf_printf(&b, " setp.ne.u32 %%p5, %%r1, %u; and.b32 %%r5, %%r1, 1; setp.eq.u32 %%p6, %%r5, 1; selp.u32 %%r6, %u, %u, %%p6;\n",
	              p->odd_one, p->other_releaser, p->releaser);
	write_words(&b, p, BEFORE);
	if (p->barrier)
		ws_buf_puts(&b, " bar.sync 0;\n");
	write_words(&b, p, BETWEEN);
	ws_buf_puts(&b, " setp.ne.u32 %p2, %r0, %r6; @%p2 bra ON;\n");
	if (p->fence)
		ws_buf_puts(&b, p->odd_fence ? " fence.acq_rel.gpu;\n" : " @!%p5 bra UNFENCED; fence.acq_rel.gpu;\nUNFENCED:\n");
	ws_buf_puts(&b, " atom.global.add.u32 %r11, [%rd4], 1; fence.acq_rel.gpu; st.shared.u32 [%r4], %r11;\nON:\n");
	write_words(&b, p, BEHIND);
	ws_buf_puts(&b, " bar.sync 0;\n ld.shared.u32 %r11, [%r4];\n");
	ws_buf_printf(&b, " setp.ne.u32 %%p3, %%r11, %u; @%%p3 bra E; setp.ne.u32 %%p3, %%r0, %u; @%%p3 bra OTHERS;\n", p->limit, p->reader);
	read_all(&b, p, ahead);
	ws_buf_puts(&b, " bra E;\nOTHERS:\n");
	if (p->meets)
		ws_buf_printf(&b, " bar.sync 0; mov.u32 %%r17, %u;\nLATE: sub.u32 %%r17, %%r17, 1; setp.ne.u32 %%p1, %%r17, 0; @%%p1 bra LATE;\n"
		              " setp.eq.u32 %%p1, %%r0, 33; @%%p1 st.global.u32 [%%rd1+20], %%r1; bar.sync 0;\n", p->late ? 20000 : 1);
	ws_buf_puts(&b, "E: ret;\n}\n");
	return b;
}

struct result {
	uint32_t races;                  /* pairs of places */
	uint64_t undecided, instructions;        /* of warps, in the last launch */
};

static struct result result_of(const struct program *p, bool ahead, unsigned launches)
{
	static const struct ws_gpu_config config = { .divergence = WS_DIV_ITS, .schedule = WS_SCHED_RANDOM, .seed = 2, .host_threads = 1 };
	struct ws_buf text = text_of(p, ahead);
	struct race_rig r = race_new(config, text.data);
	struct ws_mem *m = rig_mem(&r.rig, 1 << 16);
	uint64_t params[] = { m->addr };
	struct result result = { 0 };

	assert_int_equal(strstr(r.text.data, "__warpsafe_read_ahead") != NULL, ahead);
	while (launches--) {
		memset(m->host + 32768, 0, 4);
		rig_run(&r.rig, "k", p->blocks, p->threads, params);
	}
	while (race_found(&r.tables, result.races))
		result.races++;
	result.undecided = r.tables.counts->undecided;
	result.instructions = r.rig.stats.warp_instructions;
	race_free(&r);
	ws_buf_free(&text);
	return result;
}

/* Thread 0 writes, fences and counts in each block, and reads. */
static struct program plain(void)
{
	return (struct program){ .blocks = BLOCKS, .threads = 64, .limit = BLOCKS - 1, .odd_one = NO_BLOCK, .odd_phase = NONE,
	                         .odd_fence = true, .fence = true, .fours = 1 };
}

static void expect(const struct program *p, uint32_t races)
{
	struct result r = result_of(p, true, races ? 1 : 2);

	if (r.races != races || (!races && r.undecided))
		fail_msg("%u races, not %u; %llu undecided", r.races, races, (unsigned long long)r.undecided);
}

static void what_all_have_released(void **state)
{
	struct program p = plain();

	(void)state;
	expect(&p, 0);
	p.fours = 2;
	p.twice = true;
	p.threads = 96;                          /* no power of 2 */
	p.releaser = p.other_releaser = p.reader = 33;
	p.writer[0] = p.writer[1] = p.writer[2] = p.writer[3] = 33;
	expect(&p, 0);
	p.barrier = true;                        /* any thread's is before the barrier */
	p.writer[1] = 0;
	p.writer[2] = 95;
	expect(&p, 0);
}

static void what_they_have_not(void **state)
{
	struct program p = plain();

	(void)state;
	p.limit = BLOCKS / 2;                    /* not the last one */
	expect(&p, 4);
	p = plain();
	p.writer[1] = 33;                        /* nothing orders these threads with the one that releases */
	p.writer[2] = 1;
	p.phase[3] = BEHIND;
	expect(&p, 3);
	p = plain();
	p.twice = p.meets = true;                /* what was looked at before a barrier is looked at again, */
	expect(&p, 1);
	p.late = true;                           /* and the look is known */
	expect(&p, 1);
}

static void one_block_of_all(void **state)
{
	struct program p = plain();

	(void)state;
	p.odd_one = 3;
	p.odd_phase = BEFORE;
	p.odd_fence = false;
	expect(&p, 4);
	p.odd_fence = true;
	p.odd_phase = BEHIND;
	p.fours = 2;
	expect(&p, 1);
}

/* Most of the check is one look for many words. */
static void it_is_short(void **state)
{
	struct program p = plain();
	uint64_t ahead, each, none;

	(void)state;
	p.blocks = 96;
	p.limit = 95;
	each = result_of(&p, false, 1).instructions;
	ahead = result_of(&p, true, 1).instructions;
	p.limit = 1000;                          /* nobody reads */
	none = result_of(&p, true, 1).instructions;
	assert_in_range(ahead - none, 0, 96 * 4 * 80);
	assert_true(4 * (ahead - none) < each - none);
}

static struct program random_program(void)
{
	static const uint32_t threads[] = { 32, 64, 96 };
	struct program p = plain();

	p.threads = threads[below(3)];
	p.releaser = below(3) ? 0 : below(p.threads);
	p.other_releaser = below(4) ? p.releaser : below(p.threads);
	p.reader = below(3) ? p.releaser : below(p.threads);
	p.fence = below(8);
	p.barrier = below(2);
	p.twice = !below(4);
	p.fours = 1 + below(2);
	for (uint32_t k = 0; k < 4; k++) {
		p.writer[k] = below(3) ? p.releaser : below(p.threads);
		p.phase[k] = below(8) ? below(2) : BEHIND + below(2);
	}
	p.odd_phase = p.phase[0];
	if (below(2)) {
		p.odd_one = below(p.blocks);
		p.odd_phase = below(4);
		p.odd_fence = below(3);
	}
	return p;
}

/* With two fours in a round each word has two reads, so it has up to twice as many pairs as with one. */
static void as_by_checks_of_each_round(void **state)
{
	(void)state;
	for (unsigned k = 0; k < rig_rounds(KERNELS); k++) {
		struct program p = random_program();
		struct result a = result_of(&p, true, 1), b = result_of(&p, false, 1);

		if (a.races != b.races || !a.undecided != !b.undecided) {
			struct ws_buf text = text_of(&p, true);

			fail_msg("kernel %u: %u races, %llu undecided; by each round %u, %llu\n%s", k, a.races, (unsigned long long)a.undecided,
			         b.races, (unsigned long long)b.undecided, text.data);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_all_have_released), cmocka_unit_test(what_they_have_not), cmocka_unit_test(one_block_of_all),
		cmocka_unit_test(it_is_short), cmocka_unit_test(as_by_checks_of_each_round),
	};

	noise = 7;
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Control-flow graphs: hand-made ones, and random ones whose dominators and post-dominators are compared with the
 * definition: a dominates b if removing a cuts b off from the entry. */
#include "tests/unit/ptx_help.h"

enum { MOST = 24 };

static struct ws_ptx_func *cfg(struct ws_ptx_module *m)
{
	ws_ptx_cfg(ptx_k(m));
	ws_ptx_cfg(ptx_k(m));            /* twice is fine */
	return ptx_k(m);
}

static void diamond(void **state)
{
	struct ws_ptx_module *m = ptx_body(
		"", "setp.eq.s32 %p1, %r1, 0;\n@%p1 bra A;\nmov.u32 %r2, 1;\nbra B;\nA: mov.u32 %r2, 2;\nB: ret;");
	struct ws_ptx_func *f = cfg(m);

	assert_int_equal(f->nblocks, 4);
	assert_int_equal(f->blocks[0].nsucc, 2);
	assert_int_equal(f->blocks[0].succ[0], 2);       /* the target first */
	assert_int_equal(f->blocks[0].succ[1], 1);
	assert_int_equal(f->blocks[0].ipdom, 3);
	assert_int_equal(f->blocks[1].ipdom, 3);
	assert_int_equal(f->blocks[3].ipdom, WS_EXIT_BLOCK);
	assert_int_equal(f->blocks[3].idom, 0);
	assert_int_equal(f->blocks[0].idom, 0);
	assert_int_equal(f->blocks[0].rpo, 0);
	assert_int_equal(f->blocks[3].npred, 2);
	assert_int_equal(f->insts[4].block, 2);
	ws_ptx_free(m);
}

static void guarded_exit_falls_through(void **state)
{
	struct ws_ptx_module *m = ptx_body("", "@%p1 exit;\nmov.u32 %r1, 1;\n@%p2 ret;\n@%p3 trap;\nret;");
	struct ws_ptx_func *f = cfg(m);

	assert_int_equal(f->nblocks, 4);
	for (uint32_t b = 0; b < 3; b++) {
		assert_int_equal(f->blocks[b].nsucc, 1);
		assert_int_equal(f->blocks[b].ipdom, WS_EXIT_BLOCK);
	}
	assert_int_equal(f->blocks[3].nsucc, 0);
	ws_ptx_free(m);
}

static void endless_loop(void **state)
{
	struct ws_ptx_module *m = ptx_body("", "@%p1 bra L;\nret;\nL: mov.u32 %r1, 1;\nbra L;");
	struct ws_ptx_func *f = cfg(m);

	assert_int_equal(f->nblocks, 3);
	assert_int_equal(f->blocks[2].ipdom, WS_EXIT_BLOCK);
	assert_int_equal(f->blocks[0].ipdom, 1);         /* the only way to an exit */
	ws_ptx_free(m);
}

static void one_block_reaches_another(void **state)
{
	struct ws_ptx_module *m = ptx_body("", "@%p1 bra L;\nret;\nL: mov.u32 %r1, 1;\n@%p2 bra L;\nbra M;\nM: ret;");
	struct ws_ptx_func *f = cfg(m);
	bool closed[8] = { false };

	assert_int_equal(f->nblocks, 5);                 /* 2 is the loop; 3 leads from it to 4 */
	assert_true(ws_ptx_block_reaches(f, 0, 4, NULL) && ws_ptx_block_reaches(f, 2, 2, closed));
	assert_false(ws_ptx_block_reaches(f, 4, 0, NULL) || ws_ptx_block_reaches(f, 0, 0, NULL) || ws_ptx_block_reaches(f, 1, 4, NULL));
	closed[2] = true;
	assert_true(ws_ptx_block_reaches(f, 0, 2, closed) && ws_ptx_block_reaches(f, 3, 4, closed));
	assert_false(ws_ptx_block_reaches(f, 0, 4, closed) || ws_ptx_block_reaches(f, 2, 2, closed));
	ws_ptx_free(m);
}

static void unreachable_block(void **state)
{
	struct ws_ptx_module *m = ptx_body("", "bra L;\nmov.u32 %r1, 1;\nL: ret;");
	struct ws_ptx_func *f = cfg(m);

	assert_int_equal(f->blocks[1].idom, WS_EXIT_BLOCK);
	assert_int_equal(f->blocks[1].rpo, 2);
	assert_int_equal(f->blocks[2].idom, 0);
	assert_int_equal(f->blocks[2].npred, 2);
	ws_ptx_free(m);
}

static void branch_table(void **state)
{
	struct ws_ptx_module *m =
		ptx_body("", "t: .branchtargets A, B, A;\nbrx.idx %r1, t;\nA: bra C;\nB: bra C;\nC: ret;");
	struct ws_ptx_func *f = cfg(m);

	assert_int_equal(f->blocks[0].nsucc, 2);         /* A once */
	assert_int_equal(f->blocks[0].ipdom, 3);
	ws_ptx_free(m);
}

static void odd_bodies(void **state)
{
	struct ws_ptx_module *m = ptx_body("", "");

	assert_int_equal(cfg(m)->nblocks, 0);
	ws_ptx_free(m);
	m = ptx_body("", "mov.u32 %r1, 1;");             /* runs off the end: an exit */
	assert_int_equal(cfg(m)->nblocks, 1);
	assert_int_equal(cfg(m)->blocks[0].ipdom, WS_EXIT_BLOCK);
	ws_ptx_free(m);
	m = ptx_body("", "@%p1 bra E;\nmov.u32 %r1, 1;\nE:");   /* a label behind the last instruction */
	assert_int_equal(cfg(m)->blocks[0].nsucc, 1);
	assert_int_equal(cfg(m)->blocks[0].ipdom, WS_EXIT_BLOCK);
	ws_ptx_free(m);
	m = ptx_body("", "@%p1 bra N;\nN: ret;");        /* target and fall-through are one */
	assert_int_equal(cfg(m)->blocks[0].nsucc, 1);
	ws_ptx_free(m);
}

/* ---- random graphs ---- */
static uint32_t seed;

static uint32_t draw(uint32_t n)
{
	seed = seed * 1664525u + 1013904223u;
	return (seed >> 8) % n;
}

/* Blocks of one instruction and a random end. */
static struct ws_ptx_module *random_module(uint32_t n)
{
	struct ws_buf b = { 0 };
	struct ws_ptx_module *m;

	for (uint32_t k = 0; k < n; k++) {
		ws_buf_printf(&b, "L%u: add.s32 %%r%u, %%r%u, 1;\n", k, draw(6), draw(6));
		switch (draw(8)) {
		case 0: ws_buf_puts(&b, "ret;\n"); break;
		case 1: ws_buf_printf(&b, "@%%p%u exit;\n", draw(3)); break;
		case 2: case 3: ws_buf_printf(&b, "bra L%u;\n", draw(n)); break;
		case 4: case 5: case 6: ws_buf_printf(&b, "@%%p%u bra L%u;\n", draw(3), draw(n)); break;
		default:
			ws_buf_printf(&b, "T%u: .branchtargets L%u, L%u, L%u;\nbrx.idx %%r1, T%u;\n", k, draw(n),
				      draw(n), draw(n), k);
			break;
		}
	}
	m = ptx_body("", b.data);
	ws_buf_free(&b);
	return m;
}

/* Which blocks can be reached from `from` without passing `without`; exits of blocks lead to node nblocks. */
static void reach(const struct ws_ptx_func *f, const bool *exits, uint32_t from, uint32_t without, bool *seen)
{
	uint32_t stack[MOST * 4 + 4], n = 0;

	memset(seen, 0, (f->nblocks + 1) * sizeof *seen);
	if (from == without)
		return;
	seen[from] = true;
	stack[n++] = from;
	while (n) {
		uint32_t b = stack[--n];

		if (b == f->nblocks)
			continue;
		for (uint32_t s = 0; s <= f->blocks[b].nsucc; s++) {
			uint32_t to = s < f->blocks[b].nsucc ? f->blocks[b].succ[s] : f->nblocks;

			if ((to == f->nblocks && !exits[b]) || to == without || seen[to])
				continue;
			seen[to] = true;
			stack[n++] = to;
		}
	}
}

static bool may_exit(const struct ws_ptx_func *f, uint32_t b)
{
	const struct ws_ptx_inst *last = &f->insts[f->blocks[b].last];

	return (ws_op_info(last->op)->fx & WS_FX_EXIT) ||
	       (f->blocks[b].last + 1 == f->ninsts && (last->guard || !(ws_op_info(last->op)->fx & WS_FX_BRANCH)));
}

/* dom[a][b]: every way from the entry to b passes a; pdom[a][b]: every way from b to an exit passes a. */
static void by_definition(const struct ws_ptx_func *f, bool dom[MOST * 2][MOST * 2], bool pdom[MOST * 2][MOST * 2],
                          bool *reached, bool *leaves)
{
	uint32_t n = f->nblocks;
	bool exits[MOST * 2], seen[MOST * 2 + 1];

	for (uint32_t b = 0; b < n; b++)
		exits[b] = may_exit(f, b);
	reach(f, exits, 0, UINT32_MAX, reached);
	for (uint32_t b = 0; b < n; b++) {
		reach(f, exits, b, UINT32_MAX, seen);
		leaves[b] = seen[n];
	}
	for (uint32_t a = 0; a < n; a++) {
		reach(f, exits, 0, a, seen);
		for (uint32_t b = 0; b < n; b++)
			dom[a][b] = reached[b] && !seen[b];
		for (uint32_t b = 0; b < n; b++) {
			reach(f, exits, b, a, seen);
			pdom[a][b] = leaves[b] && !seen[n];
		}
	}
}

/* The immediate (post-)dominator of b: the strict one that all other strict ones (post-)dominate. */
static uint32_t immediate(bool d[MOST * 2][MOST * 2], uint32_t n, uint32_t b)
{
	for (uint32_t a = 0; a < n; a++) {
		bool closest = a != b && d[a][b];

		for (uint32_t c = 0; c < n && closest; c++)
			if (c != b && c != a && d[c][b] && !d[c][a])
				closest = false;
		if (closest)
			return a;
	}
	return WS_EXIT_BLOCK;
}

static void random_graphs(void **state)
{
	static bool dom[MOST * 2][MOST * 2], pdom[MOST * 2][MOST * 2];

	for (uint32_t round = 0; round < 400; round++) {
		struct ws_ptx_module *m;
		struct ws_ptx_func *f;
		bool reached[MOST * 2 + 1], leaves[MOST * 2 + 1];

		seed = round;
		m = random_module(1 + draw(MOST - 1));
		f = cfg(m);
		by_definition(f, dom, pdom, reached, leaves);
		for (uint32_t b = 0; b < f->nblocks; b++) {
			uint32_t idom = b == 0 ? 0 : reached[b] ? immediate(dom, f->nblocks, b) : WS_EXIT_BLOCK;
			uint32_t ipdom = leaves[b] ? immediate(pdom, f->nblocks, b) : WS_EXIT_BLOCK;

			assert_int_equal(f->blocks[b].idom, idom);
			assert_int_equal(f->blocks[b].ipdom, ipdom);
		}
		ws_ptx_free(m);
	}
}

/* rpo is a permutation, and a block comes after its immediate dominator. */
static void numbering(void **state)
{
	for (uint32_t round = 0; round < 50; round++) {
		bool used[MOST * 2] = { false };
		struct ws_ptx_module *m;
		struct ws_ptx_func *f;

		seed = 1000 + round;
		m = random_module(1 + draw(MOST - 1));
		f = cfg(m);
		for (uint32_t b = 0; b < f->nblocks; b++) {
			assert_true(f->blocks[b].rpo < f->nblocks && !used[f->blocks[b].rpo]);
			used[f->blocks[b].rpo] = true;
			if (b && f->blocks[b].idom != WS_EXIT_BLOCK)
				assert_true(f->blocks[f->blocks[b].idom].rpo < f->blocks[b].rpo);
		}
		ws_ptx_free(m);
	}
}

/* ---- liveness against its definition: a way from the block's begin to a use with no sure write before ---- */
struct uses { uint32_t reg; bool reads, writes; };

static void look(void *user, struct ws_reg *r, bool is_def)
{
	struct uses *u = user;

	if (r->index != u->reg)
		return;
	*(is_def ? &u->writes : &u->reads) = true;
}

static bool live_at(const struct ws_ptx_func *f, uint32_t inst, uint32_t reg, bool *seen)
{
	struct uses u = { .reg = reg };
	const struct ws_ptx_inst *i = &f->insts[inst];
	const struct ws_ptx_block *b = &f->blocks[i->block];

	if (seen[inst])
		return false;
	seen[inst] = true;
	ws_ptx_inst_regs(i, look, &u);
	if (u.reads)
		return true;
	if (u.writes && !i->guard)
		return false;
	if (inst != b->last)
		return live_at(f, inst + 1, reg, seen);
	for (uint32_t s = 0; s < b->nsucc; s++)
		if (live_at(f, f->blocks[b->succ[s]].first, reg, seen))
			return true;
	return false;
}

static void random_liveness(void **state)
{
	for (uint32_t round = 0; round < 150; round++) {
		struct ws_ptx_module *m;
		struct ws_ptx_func *f;

		seed = 5000 + round;
		m = random_module(1 + draw(MOST - 1));
		f = ptx_k(m);
		ws_ptx_liveness(f);
		ws_ptx_liveness(f);
		for (uint32_t b = 0; b < f->nblocks; b++)
			for (uint32_t r = 0; r < f->nregs; r++) {
				bool seen[MOST * 4] = { false }, out = false;

				assert_int_equal(f->blocks[b].live_in[r / 64] >> r % 64 & 1,
						 live_at(f, f->blocks[b].first, r, seen));
				for (uint32_t s = 0; s < f->blocks[b].nsucc; s++)
					out |= f->blocks[f->blocks[b].succ[s]].live_in[r / 64] >> r % 64 & 1;
				assert_int_equal(f->blocks[b].live_out[r / 64] >> r % 64 & 1, out);
			}
		ws_ptx_free(m);
	}
}

/* ---- what an instruction reads and writes ---- */
static const struct { const char *text, *regs;
} reg_cases[] = {
	{"add.s32 %r1, %r2, 3;", "-%r2 +%r1"},
	{"@%p1 mov.u32 %r1, %r2;", "-%p1 -%r2 +%r1"},
	{"ld.global.v2.u32 {%r1, %r2}, [%d1+4];", "-%d1 +%r1 +%r2"},
	{"st.global.u32 [%d1], %r1;", "-%d1 -%r1"},
	{"setp.eq.s32 %p1|%p2, %r1, %r2;", "-%r1 -%r2 +%p1 +%p2"},
	{"setp.eq.and.s32 %p1, %r1, %r2, !%p3;", "-%r1 -%r2 -%p3 +%p1"},
	{"shfl.sync.up.b32 %r1|%p1, %r2, 1, 0, -1;", "-%r2 +%r1 +%p1"},
	{"atom.global.cas.b32 %r1, [%d1], %r2, %r3;", "-%d1 -%r2 -%r3 +%r1"},
	{"red.global.add.u32 [%d1], %r2;", "-%d1 -%r2"},
	{"bar.sync %r1, %r2;", "-%r1 -%r2"},
	{"bar.red.popc.u32 %r1, 0, %p1;", "-%p1 +%r1"},
	{"mov.b64 {%r1, %r2}, %d1;", "-%d1 +%r1 +%r2"},
	{"vadd.u32.u32.u32 %r1.b0, %r2, %r3;", "-%r2 -%r3 -%r1 +%r1"},
	{"call (%r1), %d1, (%r2), p;", "-%d1 -%r2 +%r1"},
	{"tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r1, 32;", "-%r1"},
	{"wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 {%r1, %r2}, %d1, %d2, 1, 1, 1, 0, 0;",
	 "-%d1 -%d2 -%r1 -%r2 +%r1 +%r2"},
};

static void write_down(void *user, struct ws_reg *r, bool is_def)
{
	struct ws_buf *b = user;

	ws_buf_printf(b, "%s%c%s", b->len ? " " : "", is_def ? '+' : '-', r->name);
}

static void reads_and_writes(void **state)
{
	for (size_t k = 0; k < WS_COUNT(reg_cases); k++) {
		struct ws_buf body = { 0 }, out = { 0 };
		struct ws_ptx_module *m;

		ws_buf_printf(&body, "p: .callprototype (.reg .b32 _) _ (.reg .b32 _);\n%s\nret;", reg_cases[k].text);
		m = ptx_body("", body.data);
		ws_ptx_inst_regs(&ptx_k(m)->insts[0], write_down, &out);
		assert_string_equal(out.data, reg_cases[k].regs);
		ws_ptx_free(m);
		ws_buf_free(&body);
		ws_buf_free(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(diamond),
		cmocka_unit_test(guarded_exit_falls_through),
		cmocka_unit_test(endless_loop),
		cmocka_unit_test(one_block_reaches_another),
		cmocka_unit_test(unreachable_block),
		cmocka_unit_test(branch_table),
		cmocka_unit_test(odd_bodies),
		cmocka_unit_test(random_graphs),
		cmocka_unit_test(numbering),
		cmocka_unit_test(random_liveness),
		cmocka_unit_test(reads_and_writes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

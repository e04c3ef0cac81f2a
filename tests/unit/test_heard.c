/* test_heard.c - src/rewrite/heard.c: which strong accesses need not be told as releases and acquires, and that none of them is one
 * that random executions of random kernels come to. */
#include "ptx_help.h"
#include "rewrite/heard.h"

enum { THREADS = 4, OF_BLOCK = 2, MOST = 64, STEPS = 250, KERNELS = 400, RUNS = 12 };

/* ---- by hand ---- */
#define ST "st.volatile.shared.u32 [%r1], %r2;\n"
#define LD "ld.volatile.shared.u32 %r2, [%r1];\n"
#define ST_G "st.volatile.global.u32 [%d1], %r2;\n"
#define LD_G "ld.volatile.global.u32 %r2, [%d1];\n"

/* told: for each access whether it is told: - or r, a, b (both). */
static void expect(const char *body, const char *told)
{
	struct ws_ptx_module *m = ptx_body(".func f() { ret; }\n", body);
	uint32_t n;
	const struct ws_rw_access *list = ws_rw_accesses(ptx_k(m), &n);
	struct ws_heard *h = ws_heard_find(ptx_k(m), list, n);
	char is[MOST + 1] = { 0 };

	for (uint32_t k = 0; k < n && k < MOST; k++)
		is[k] = "-rab"[ws_heard_release(h, &list[k]) + 2 * ws_heard_acquire(h, &list[k])];
	assert_string_equal(is, told);
	assert_true(ws_heard_nothing(h) == !strpbrk(told, "rab"));
	ws_heard_free(h);
	ws_ptx_free(m);
}

static void patterns(void **state)
{
	expect("membar.gl;\n" ST LD "membar.gl;\nret;", "ra");
	expect(ST LD "membar.gl;\nret;", "--");                          /* no fence before the write */
	expect("membar.gl;\n" ST LD "ret;", "--");                       /* none behind the read */
	expect("fence.acq_rel.gpu;\n" ST LD_G "membar.gl;\nret;", "--"); /* of different memories */
	expect("membar.gl;\n" ST_G LD_G "membar.gl;\nret;", "ra");
	expect("@%p1 bra R;\nmembar.gl;\n" ST_G "ret;\nR: " LD_G "@%p2 bra R;\nmembar.gl;\nret;", "ra");
	expect("L: " LD ST "membar.gl;\n@%p1 bra L;\nret;", "ar");
	expect("st.release.gpu.global.u32 [%d1], %r2;\nld.acquire.gpu.global.u32 %r2, [%d1];\nret;", "ra");
	expect("membar.gl;\nst.volatile.u32 [%d1], %r2;\n" LD "membar.gl;\nret;", "ra");      /* memory that is not named */
}

static void intervals(void **state)
{
	expect(LD "membar.gl;\nbar.sync 0;\n" ST "ret;", "--");          /* all read before one writes */
	expect(LD "membar.gl;\n" ST "bar.sync 0;\nret;", "ar");
	expect("membar.gl;\n" ST "bar.sync 0;\n" LD "membar.gl;\nret;", "ra");
	expect("L: bar.sync 0;\n" LD "membar.gl;\nbar.sync 0;\n" ST "@%p1 bra L;\nret;", "ar");
	expect(LD_G "membar.gl;\nbar.sync 0;\n" ST_G "ret;", "ar");      /* other blocks may be elsewhere */
	expect("membar.gl;\n" ST LD "bar.sync 0;\n@%p1 bra E;\nmembar.gl;\nE: ret;", "ra");
}

/* What another thread does behind what it shares with the reader counts as well. */
static void handed_on(void **state)
{
	expect("membar.gl;\n" ST "@%p1 bra E;\n" LD "bra F;\nE: bar.sync 0;\nmembar.gl;\nret;\nF: bar.sync 0;\nret;", "ra");
	expect("membar.gl;\n" ST "@%p1 bra E;\n" LD "bra F;\nE: bar.warp.sync -1;\nmembar.gl;\nret;\nF: bar.warp.sync -1;\nret;", "ra");
	expect("membar.gl;\n" ST "@%p1 bra E;\n" LD "ret;\nE: bar.warp.sync -1;\nmembar.gl;\nret;", "--");
	expect("membar.gl;\n" ST LD ST_G "ret;", "ra-");
}

/* What is not understood, or is by others, tells all. */
static void not_known(void **state)
{
	expect("call.uni f, ();\n" ST LD "ret;", "bb");
	expect("bar.sync 0, 32;\n" ST LD "ret;", "bb");
}

/* ---- random executions ---- */
static uint32_t seed = 1;

static uint32_t pick(uint32_t n)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % n;
}

static char *random_kernel(void)
{
	static const char *const lines[] = { ST, LD, ST, LD, ST_G, LD_G, "membar.gl;\n", "fence.acq_rel.gpu;\n", "bar.sync 0;\n", "bar.sync 0;\n",
		"bar.warp.sync -1;\n", "atom.shared.add.u32 %r2, [%r1], 1;\n", "atom.global.add.u32 %r2, [%d1], 1;\n",
		"red.global.add.u32 [%d1], 1;\n", "st.release.gpu.global.u32 [%d1], %r2;\n", "ld.acquire.cta.shared.u32 %r2, [%r1];\n" };
	uint32_t parts = 1 + pick(6), kinds = 10 + pick((uint32_t)WS_COUNT(lines) - 9);
	struct ws_buf b = { 0 };

	for (uint32_t k = 0; k < parts; k++) {
		ws_buf_printf(&b, "L%u:\n", k);
		for (uint32_t n = pick(4); n; n--)
			ws_buf_printf(&b, "%s", lines[pick(kinds)]);
		if (pick(3))
			ws_buf_printf(&b, "@%%p1 bra L%u;\n", pick(4) ? k + pick(parts + 1 - k) : pick(parts));
	}
	ws_buf_printf(&b, "L%u: ret;\n", parts);
	return b.data;
}

struct thread {
	uint32_t at;                     /* instruction */
	bool ended, waits, fenced;
	uint64_t saw[MOST];              /* by read, its own or handed on: writes that it may have seen and that release */
};

struct run {
	const struct ws_ptx_func *f;
	const struct ws_rw_access *list;
	uint32_t n;
	const struct ws_heard *h;
	struct thread threads[THREADS];
	uint64_t written[THREADS / OF_BLOCK + 1];        /* released in shared memory of a block; in global memory */
	uint64_t synced[THREADS / OF_BLOCK][MOST];       /* what a warp has handed on */
	uint32_t needed;
	const char *text;
};

static const struct ws_rw_access *access_at(const struct run *r, uint32_t i)
{
	for (uint32_t k = 0; k < r->n; k++)
		if (r->list[k].inst->index == i)
			return &r->list[k];
	return NULL;
}

/* Something that orders, by a thread: what it has seen, or has of others, is an acquire by now. */
static void needs(struct run *r, const struct thread *t)
{
	for (uint32_t k = 0; k < r->n; k++)
		for (uint32_t w = 0; w < r->n; w++)
			if (t->saw[k] >> w & 1) {
				if (!ws_heard_acquire(r->h, &r->list[k]) || !ws_heard_release(r->h, &r->list[w]))
					fail_msg("%sof writes %u and reads %u it is said that they order nothing", r->text, w, k);
				r->needed++;
			}
}

static void do_access(struct run *r, struct thread *t, const struct ws_rw_access *a)
{
	bool ordered = a->sem == WS_SEM_ACQUIRE || a->sem == WS_SEM_RELEASE, writes = a->kind != WS_RW_READ;
	uint32_t block = (uint32_t)(t - r->threads) / OF_BLOCK, k = (uint32_t)(a - r->list);
	uint64_t *written = &r->written[a->space == WS_SPACE_SHARED ? block : THREADS / OF_BLOCK];

	if (writes && a->space != WS_SPACE_SHARED)
		needs(r, t);
	if (a->kind == WS_RW_READ || a->inst->op == WS_OP_atom)
		t->saw[k] |= *written;
	if (writes && (t->fenced || ordered))
		*written |= 1ull << k;
	if (ordered)
		needs(r, t);
	t->fenced |= ordered;
}

static void share(struct run *r, uint32_t block)
{
	struct thread *t = &r->threads[block * OF_BLOCK];

	for (uint32_t k = 0; k < r->n; k++)
		for (uint32_t a = 0; a < OF_BLOCK; a++)
			for (uint32_t b = 0; b < OF_BLOCK; b++)
				t[a].saw[k] |= t[b].saw[k];
}

static void pass_barrier(struct run *r, uint32_t block)
{
	struct thread *t = &r->threads[block * OF_BLOCK];

	for (uint32_t k = 0; k < OF_BLOCK; k++)
		if (!t[k].ended && !t[k].waits)
			return;
	share(r, block);
	for (uint32_t k = 0; k < OF_BLOCK; k++)
		t[k].waits = false;
}

static void go_on(const struct run *r, struct thread *t)
{
	const struct ws_ptx_block *b = &r->f->blocks[r->f->insts[t->at].block];

	if (t->at++ < b->last)
		return;
	t->ended = !b->nsucc;
	if (b->nsucc)
		t->at = r->f->blocks[b->succ[pick(b->nsucc)]].first;
}

static void step(struct run *r, uint32_t n)
{
	struct thread *t = &r->threads[n];
	const struct ws_ptx_inst *i = &r->f->insts[t->at];
	const struct ws_rw_access *a = access_at(r, t->at);
	uint64_t *synced;

	if (t->ended || t->waits)
		return;
	go_on(r, t);
	if (a && a->rw_class == WS_RW_CHECK) {
		do_access(r, t, a);
	} else if (i->op == WS_OP_membar || i->op == WS_OP_fence) {
		t->fenced = true;
		needs(r, t);
	} else if (ws_rw_is_barrier(i)) {
		t->waits = true;
	} else if (i->op == WS_OP_bar) {
		synced = r->synced[n / OF_BLOCK];
		for (uint32_t k = 0; k < r->n; k++)
			synced[k] = t->saw[k] |= synced[k];
	}
	pass_barrier(r, n / OF_BLOCK);
}

static void random_executions(void **state)
{
	uint32_t needed = 0, strong = 0, spared = 0;

	for (uint32_t k = 0; k < KERNELS; k++) {
		char *body = random_kernel();
		struct ws_ptx_module *m = ptx_body("", body);
		struct run r = { .f = ptx_k(m), .text = body }, fresh;

		r.list = ws_rw_accesses(ptx_k(m), &r.n);
		assert_in_range(r.n, 0, MOST);
		r.h = ws_heard_find(ptx_k(m), r.list, r.n);
		assert_non_null(r.h);
		fresh = r;
		for (uint32_t n = 0; n < RUNS; n++, needed += r.needed) {
			r = fresh;
			for (uint32_t s = 0; s < STEPS; s++)
				step(&r, pick(THREADS));
		}
		for (uint32_t n = 0; n < r.n; n++) {
			strong++;
			spared += !ws_heard_release(r.h, &r.list[n]) && !ws_heard_acquire(r.h, &r.list[n]);
		}
		ws_heard_free((struct ws_heard *)r.h);
		ws_ptx_free(m);
		free(body);
	}
	printf("%u of %u accesses are not told; %u pairs came to be ordered\n", spared, strong, needed);
	assert_true(spared > strong / 8 && spared < strong && needed > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(patterns), cmocka_unit_test(intervals), cmocka_unit_test(handed_on), cmocka_unit_test(not_known),
		cmocka_unit_test(random_executions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_ranges_random.c - the proofs of src/rewrite/ranges*.c against the pass without them: kernels with random addresses, in
 * launches of random shapes with pointers that may lead to the same memory. What has a race by all checks has one by those
 * that are left. */
#include "host_decides.h"
#include "noise.h"
#include "race_rig.h"

enum { KERNELS = 120, LAUNCHES = 3, ROWS = 60, MIDDLE = 1 << 17, APART = 1 << 15 };

static unsigned silent_by_host, with_results, without_spared;

/* Fills %i<to> with a number made of coordinates, n, w and others; all stay small enough for the memory there is. */
static void number(struct ws_buf *b, unsigned to)
{
	static const char *const forms[] = {
		"mov.u32 %%i%u, %%x;\n", "mov.u32 %%i%u, %%x;\n", "mov.u32 %%i%u, %%tx;\n", "mov.u32 %%i%u, %%bx;\n",
		"mad.lo.s32 %%i%u, %%y, %%w, %%x;\n", "mad.lo.s32 %%i%u, %%y, %%w, %%x;\n", "mad.lo.s32 %%i%u, %%x, %%w, %%y;\n",
		"mul.lo.s32 %%i%u, %%x, %%w;\n", "mad.lo.s32 %%i%u, %%y, %%nx, %%x;\n", "mad.lo.s32 %%i%u, %%bx, 16, %%tx;\n",
		"sub.s32 %%i%u, %%n, %%x;\n", "and.b32 %%i%u, %%x, 31;\n", "shr.u32 %%i%u, %%x, 1;\n", "shl.b32 %%i%u, %%x, 1;\n",
		"selp.b32 %%i%u, %%x, %%y, %%p3;\n", "mov.u32 %%i%u, 5;\n", "mad.lo.s32 %%i%u, %%bx, %%tn, %%tx;\n",
		"mov.u32 %%i%u, %%l;\n", "mov.u32 %%i%u, %%l;\n", "popc.b32 %%i%u, %%x;\n", "popc.b32 %%i%u, %%l;\n",
		"rem.u32 %%i%u, %%x, %%w;\n", "div.s32 %%i%u, %%x, %%w;\n", "and.b32 %%i%u, %%x, -4;\n", "shl.b32 %%i%u, %%x, %%lg;\n",
		"sub.s32 %%i8, %%w, 1; and.b32 %%i%u, %%i8, %%x;\n",
		"sub.s32 %%i8, %%w, 1; and.b32 %%i7, %%x, %%i8; shl.b32 %%i8, %%x, 1; sub.s32 %%i%u, %%i8, %%i7;\n",
		"div.s32 %%i8, %%x, %%w; mul.lo.s32 %%i7, %%i8, %%w; sub.s32 %%i8, %%x, %%i7; mad.lo.s32 %%i%u, %%i7, 2, %%i8;\n",
		"div.u32 %%i8, %%x, %%w; rem.u32 %%i7, %%x, %%w; mad.lo.s32 %%i%u, %%i7, %%n, %%i8;\n",
		"sub.s32 %%i8, %%w, 1; mul.lo.s32 %%i7, %%x, -1640531535; and.b32 %%i%u, %%i8, %%i7;\n",
		"mul.lo.s32 %%i7, %%x, 3; add.s32 %%i8, %%i7, %%n; and.b32 %%i%u, %%i8, 63;\n",
		"shl.b32 %%i7, %%x, 2; and.b32 %%i8, %%i7, -16; add.s32 %%i7, %%x, 3; and.b32 %%i7, %%i7, 3; add.s32 %%i%u, %%i8, %%i7;\n",
		"shr.u32 %%i8, %%x, 3; sub.s32 %%i7, %%x, 5; and.b32 %%i7, %%i7, 7; mad.lo.s32 %%i%u, %%i8, 16, %%i7;\n",
		"and.b32 %%i8, %%x, 7; shr.u32 %%i7, %%x, 3; mad.lo.s32 %%i%u, %%i7, 8, %%i8;\n",
	};
	static const int more[] = { 0, 0, 0, 0, 1, -1, 2 };
	int add = more[below(WS_COUNT(more))];

	ws_buf_printf(b, forms[below(WS_COUNT(forms))], add ? to + 4 : to);
	if (add)
		ws_buf_printf(b, "add.s32 %%i%u, %%i%u, %d;\n", to, to + 4, add);
}

static void address(struct ws_buf *b, unsigned k)
{
	number(b, k);
	ws_buf_printf(b, "mul.wide.s32 %%d3, %%i%u, 4;\nadd.s64 %%g%u, %%d%u, %%d3;\n", k, k, below(2));
}

static void access(struct ws_buf *b, unsigned k)
{
	static const char *const forms[] = {
		"ld.global.u32 %%v, [%%g%u];\n", "ld.global.u32 %%v, [%%g%u];\n", "st.global.u32 [%%g%u], %%x;\n",
		"st.global.u32 [%%g%u], %%x;\n", "st.global.u32 [%%g%u+4], %%x;\n", "red.global.add.u32 [%%g%u], 1;\n",
		"@%%p3 st.global.u32 [%%g%u], %%x;\n",
		"setp.eq.s32 %%p0, %%tx, 2; @%%p0 st.global.u32 [%%g%u], %%x;\n", "setp.eq.s32 %%p0, %%y, 0; @%%p0 st.global.u32 [%%g%u], %%x;\n",
		"ld.global.v2.u16 {%%h0, %%h1}, [%%g%u];\n",
	};

	ws_buf_printf(b, forms[below(WS_COUNT(forms))], k);
}

static void make(struct ws_buf *b)
{
	static const char *const conditions[] = {
		"", "setp.ge.s32 %p1, %x, %n; @%p1 bra END;\n", "setp.ge.u32 %p1, %x, %n; @%p1 bra END;\n",
		"setp.ge.s32 %p1, %x, %n; setp.gt.s32 %p2, %y, %n; or.pred %p1, %p1, %p2; @%p1 bra END;\n",
		"setp.ge.s32 %p0, %x, %w; setp.ge.s32 %p2, %y, %n; or.pred %p1, %p0, %p2; @%p1 bra END;\n",
		"setp.ne.s32 %p1, %tx, 0; @%p1 bra END;\n", "setp.eq.s32 %p1, %bx, 0; @!%p1 bra END;\n",
		"sub.s32 %i8, %tn, 1; setp.ne.s32 %p1, %tx, %i8; @%p1 bra END;\n", "setp.ne.s32 %p1, %x, 5; @%p1 bra END;\n",
		"and.b32 %i8, %x, 7; setp.ne.s32 %p1, %i8, 3; @%p1 bra END;\n", "or.b32 %i8, %tx, %ty; setp.ne.s32 %p1, %i8, 0; @%p1 bra END;\n",
		"setp.lt.s32 %p1, %x, 1; @%p1 bra END;\n", "setp.lt.s32 %p1, %x, %n; @!%p1 ret;\n",
	};
	static const char *const steps[] = { "%w", "%all", "%all", "%tn", "7" };
	bool loop = below(3) == 0;

	ws_buf_puts(b, PTX_HEAD ".visible .entry k(.param .u64 a, .param .u64 b, .param .u32 n, .param .u32 w)\n{\n"
	            ".reg .pred %p<5>; .reg .b32 %x, %y, %tx, %ty, %bx, %by, %tn, %nx, %sx, %ny, %n, %w, %l, %lg, %v, %all, %i<9>;\n"
	            ".reg .b64 %d<5>, %g<5>; .reg .b16 %h<2>;\n"
	            "ld.param.u64 %d0, [a]; ld.param.u64 %d1, [b]; ld.param.u32 %n, [n]; ld.param.u32 %w, [w];\n"
	            "mov.u32 %tx, %tid.x; mov.u32 %ty, %tid.y; mov.u32 %bx, %ctaid.x; mov.u32 %by, %ctaid.y; mov.u32 %tn, %ntid.x;\n"
	            "mov.u32 %ny, %ntid.y; mov.u32 %sx, %nctaid.x; mul.lo.s32 %nx, %sx, %tn; mad.lo.s32 %x, %bx, %tn, %tx;\n"
	            "mad.lo.s32 %y, %by, %ny, %ty; mul.lo.s32 %all, %nx, 1; setp.gt.u32 %p3, %tx, 3; and.b32 %lg, %n, 3;\n");
	ws_buf_puts(b, conditions[below(WS_COUNT(conditions))]);
	ws_buf_puts(b, "mov.u32 %l, %x;\n");
	if (loop)
		ws_buf_puts(b, below(2) ? "setp.ge.s32 %p4, %l, %n; @%p4 bra END;\nLOOP:\n" : "LOOP:\n");
	for (unsigned k = 0, n = 1 + below(3); k < n; k++) {
		address(b, k);
		access(b, k);
		if (below(3) == 0)
			ws_buf_puts(b, "bar.sync 0;\n");
		if (below(3) == 0)
			access(b, k);
	}
	if (loop)
		ws_buf_printf(b, "add.s32 %%l, %%l, %s; setp.lt.s32 %%p4, %%l, %%n; @%%p4 bra LOOP;\n", steps[below(WS_COUNT(steps))]);
	ws_buf_puts(b, "END: ret;\n}\n");
}

struct shape { uint32_t grid[3], block[3], n, w; int32_t b; };

static struct shape random_shape(void)
{
	static const int32_t apart[] = { 0, 4, -4, 128, 400, 2 * APART, 2 * APART, -2 * APART };
	struct shape s = { { 1 + below(3), 1 + !below(4), 1 }, { 1 + below(40), 1 + !below(4), 1 + !below(9) }, 0, 0, 0 };

	s.n = below(100);
	s.w = below(2) ? 1 + below(60) : 1u << below(6);
	s.b = apart[below(WS_COUNT(apart))];
	return s;
}

/* ---- what memory launches come to ---- */
static struct {
	struct ws_real_touched by;       /* the launch */
	uint64_t from, to;               /* the program's memory */
	const char *text;
	unsigned launches, checked, accesses, narrow;    /* narrow: launches of which no extent is all of an allocation */
} extents;

static bool is_in_extent(enum ws_real_does does, uint64_t at, unsigned bytes)
{
	for (unsigned k = 0; k < extents.by.n; k++)
		if (extents.by.list[k].does == does && at >= extents.by.list[k].from && at + bytes <= extents.by.list[k].to)
			return true;
	return false;
}

static void look_at_access(void *self, struct ws_obs_warp *w, const struct ws_access *a)
{
	static const enum ws_real_does does[] = { [WS_READ] = WS_REAL_READS, [WS_WRITE] = WS_REAL_WRITES, [WS_ATOMIC] = WS_REAL_UPDATES };

	for (unsigned lane = 0; lane < WS_WARP && extents.by.known && a->space == WS_SPACE_GLOBAL; lane++) {
		uint64_t at = a->linear ? a->base + (uint64_t)lane * a->bytes : a->addr[lane];

		if (!(a->mask >> lane & 1) || at < extents.from || at >= extents.to)
			continue;
		extents.accesses++;
		if (!is_in_extent(does[a->kind], at, a->bytes))
			fail_msg("an access at %lld of kind %u is in no extent:\n%s", (long long)(at - extents.from) - MIDDLE, a->kind, extents.text);
	}
}

static const struct ws_observer_ops extent_observer = { .abi = WS_OBSERVER_ABI, .name = "extents", .needs = WS_NEED_GLOBAL, .access = look_at_access };

/* The kernel as it is, in memory with the same allocations. */
static void look_at_extents(const struct host_decides *h, const char *text, const struct shape *s, const struct ws_race_area *areas, uint64_t memory)
{
	struct rig r = rig_new((struct ws_gpu_config){ .divergence = WS_DIV_ITS, .host_threads = 1, .observer = &extent_observer }, text);
	struct ws_mem *m = rig_mem(&r, 2 * MIDDLE);
	struct { uint64_t a, b; uint32_t n, w; } params = { m->addr + MIDDLE, m->addr + MIDDLE + (uint64_t)(int64_t)s->b, s->n, s->w };
	struct ws_gpu_launch l = { .params = &params, .param_bytes = sizeof params };
	bool narrow = true;

	memcpy(l.grid, s->grid, sizeof l.grid);
	memcpy(l.block, s->block, sizeof l.block);
	for (unsigned k = 0; k < host_nareas; k++)
		host_areas[k] = (struct ws_race_area){ areas[k].start - memory + m->addr, areas[k].end - memory + m->addr };
	extents.text = text;
	extents.from = m->addr;
	extents.to = m->addr + 2 * MIDDLE;
	extents.by = host_touched(h, &l, (void *[]){ &params.a, &params.b, &params.n, &params.w });
	for (unsigned k = 0; k < extents.by.n; k++)
		for (unsigned n = 0; n < host_nareas; n++)
			narrow &= extents.by.list[k].to - extents.by.list[k].from < host_areas[n].end - host_areas[n].start;
	extents.launches++;
	extents.checked += extents.by.known;
	extents.narrow += extents.by.known && narrow;
	if (!ws_gpu_launch(r.g, ws_gpu_module_kernel(r.mod, "k"), &l, &r.stats, &r.err))
		fail_msg("%s", r.err.text.data);
	rig_free(&r);
	memcpy(host_areas, areas, host_nareas * sizeof *areas);
}

/* told: the kernel is told what the host has decided, and what its proofs find. */
static void launch(struct race_rig *r, const struct shape *s, uint64_t memory, bool told)
{
	struct { uint64_t a, b; uint32_t n, w, pad[2]; struct ws_race_told told; } params = {
		.a = memory, .b = memory + (uint64_t)(int64_t)s->b, .n = s->n, .w = s->w
	};
	void *list[] = { &params.a, &params.b, &params.n, &params.w };
	struct ws_gpu_launch l = { .params = &params };
	const char *kernel;

	memcpy(l.grid, s->grid, sizeof l.grid);
	memcpy(l.block, s->block, sizeof l.block);
	if (told && host_says_silent(&r->host, &l, list))
		l.shared_dynamic = WS_RACE_SILENT_SIZE(0);
	else if (told)
		with_results += host_tells(&r->host, &l, list, &params.told);
	silent_by_host += l.shared_dynamic != 0;
	kernel = host_takes(&r->host, &params.told);
	without_spared += strcmp(kernel, "k") != 0;
	l.param_bytes = params.told.mark ? (uint32_t)sizeof params : given_params(ws_gpu_module_kernel(r->rig.mod, "k"));
	if (!ws_gpu_launch(r->rig.g, ws_gpu_module_kernel(r->rig.mod, kernel), &l, &r->rig.stats, &r->rig.err))
		fail_msg("%s", r->rig.err.text.data);
}

/* Are races found? entered: the launch had hooks. */
static bool finds(const char *pass, const char *text, const struct shape *s, bool told, bool *entered)
{
	struct race_rig r = race_new_by(pass, (struct ws_gpu_config){ .divergence = WS_DIV_ITS, .host_threads = 1 }, text);
	struct ws_mem *m = rig_mem(&r.rig, 2 * MIDDLE);
	uint64_t end = m->addr + 2 * MIDDLE, border = s->b == 2 * APART ? m->addr + MIDDLE + APART :
	                                              s->b == -2 * APART ? m->addr + MIDDLE - APART : end;
	const struct ws_race_area areas[] = { { m->addr, border }, { border, end } };
	bool found;

	race_areas(r.rig.g, &r.tables, areas, border < end ? 2 : 1);
	race_set(r.rig.mod, &r.tables);
	memcpy(host_areas, areas, sizeof areas);
	host_nareas = border < end ? 2 : 1;
	launch(&r, s, m->addr + MIDDLE, told);
	if (!told && !strcmp(pass, "race"))
		look_at_extents(&r.host, text, s, areas, m->addr);
	found = race_found(&r.tables, 0) != NULL;
	*entered = r.tables.counts->segments != 0;
	race_free(&r);
	return found;
}

static void what_is_left_finds_what_all_find(void **state)
{
	unsigned races = 0, silent = 0, kernels = rig_rounds(KERNELS);

	for (unsigned k = 0; k < kernels; k++) {
		struct ws_buf text = { 0 };
		bool entered;

		noise = k;
		make(&text);
		for (unsigned n = 0; n < LAUNCHES; n++) {
			struct shape s = random_shape();
			bool all = finds("race-all", text.data, &s, false, &entered), left = finds("race", text.data, &s, false, &entered), by_host;

			if (left != finds("race", text.data, &s, true, &by_host) || entered != by_host)
				fail_msg("kernel %u: what the host decides changes what is found\n%s", k, text.data);
			races += all;
			silent += !entered;
			if (all != left)
				fail_msg("kernel %u, grid %u %u, block %u %u %u, n %u, w %u, b %d: race %d, race-all %d:\n%s", k, s.grid[0],
				         s.grid[1], s.block[0], s.block[1], s.block[2], s.n, s.w, s.b, left, all, text.data);
		}
		ws_buf_free(&text);
	}
	print_message("%u launches: %u with races, %u without hooks, %u as the host says; %u told what proofs find, %u of kernels without what they spare\n",
	              kernels * LAUNCHES, races, silent, silent_by_host, with_results, without_spared);
	print_message("memory that launches come to: known of %u of all %u, of %u not whole allocations; %u accesses\n", extents.checked, extents.launches,
	              extents.narrow, extents.accesses);
	assert_true(extents.checked > extents.launches * 3 / 4 && extents.narrow > extents.launches / 2 && extents.accesses > extents.launches);
	assert_true(with_results > kernels * LAUNCHES / 4);
	assert_int_equal(silent, silent_by_host);
	assert_true(races > kernels * LAUNCHES / 8 && silent > kernels * LAUNCHES / 60);      /* a third of the kernels has few of these */
}

/* ---- tiles of which the rim shrinks in each round ---- */
struct tile { const char *clear, *before, *low, *high, *leave, *rows; };

/* 32 threads a block; those of the last round write words that are no other block's, or are by one. */
static void make_tile(struct ws_buf *b, const struct tile *t)
{
	ws_buf_printf(b, PTX_HEAD ".visible .entry k(.param .u64 a, .param .u64 b, .param .u32 n, .param .u32 w)\n{\n"
	              ".reg .pred %%p<9>; .reg .b32 %%t, %%bx, %%n, %%w, %%i, %%c, %%u, %%x, %%v, %%r<9>; .reg .b64 %%d<5>; .reg .b16 %%f, %%g;\n"
	              "ld.param.u64 %%d0, [a]; ld.param.u32 %%n, [n]; ld.param.u32 %%w, [w]; mov.u32 %%t, %%tid.x; mov.u32 %%bx, %%ctaid.x;\n"
	              "shl.b32 %%r1, %%n, 1; mov.u32 %%r2, %s; sub.s32 %%r3, %%r2, %%r1; mul.lo.s32 %%r4, %%r3, %%bx; sub.s32 %%r5, %%r4, %%n;\n"
	              "add.s32 %%x, %%r5, %%t; %s setp.lt.s32 %%p1, %%n, 1; @%%p1 bra OUT;\nmov.u32 %%i, 0; neg.s32 %%c, %%n;\n"
	              "L: %s sub.s32 %%u, %s, %%i; setp.le.s32 %%p2, %%t, %%u; setp.%s.s32 %%p3, %%t, %%i; and.pred %%p4, %%p2, %%p3;\n"
	              "not.pred %%p5, %%p4; @%%p5 bra M;\nmov.u16 %%f, 1;\nM: setp.eq.s32 %%p6, %%c, %s; @%%p6 bra OUT;\n"
	              "add.s32 %%c, %%c, 1; add.s32 %%i, %%i, 1; setp.lt.s32 %%p7, %%i, %%n; @%%p7 bra L;\n"
	              "OUT: and.b16 %%g, %%f, 255; setp.eq.s16 %%p8, %%g, 0; @%%p8 bra END;\n"
	              "mul.wide.s32 %%d1, %%x, 4; add.s64 %%d2, %%d0, %%d1; st.global.u32 [%%d2], %%t;\nEND: ret;\n}\n",
	              t->rows, t->before, t->clear, t->high, t->low, t->leave);
}

static void tiles_that_shrink(void **state)
{
	static const struct tile tiles[] = {
		{ "mov.u16 %f, 0;", "", "gt", "30", "-1", "32" },
		{ "mov.u16 %f, 0;", "mov.u16 %f, 0;", "gt", "30", "-1", "32" },    /* it has three definitions */
		{ "mov.u16 %f, 0;", "", "gt", "30", "0", "32" },
		{ "mov.u16 %f, 0;", "", "gt", "30", "-2", "32" },          /* one round less */
		{ "mov.u16 %f, 0;", "", "ge", "30", "-1", "32" },
		{ "mov.u16 %f, 0;", "", "gt", "31", "-1", "32" },
		{ "mov.u16 %f, 0;", "", "gt", "29", "-1", "32" },
		{ "mov.u16 %f, 0;", "", "gt", "30", "-1", "31" },
		{ "mov.u16 %f, 0;", "", "gt", "30", "-1", "33" },
		{ "", "mov.u16 %f, 0;", "gt", "30", "-1", "32" },                  /* of any round */
	};
	unsigned races = 0, silent = 0, all = 0;

	for (unsigned k = 0; k < WS_COUNT(tiles); k++) {
		struct ws_buf text = { 0 };

		make_tile(&text, &tiles[k]);
		for (uint32_t n = 1; n < 12; n += 5) {
			struct shape s = { { 3, 1, 1 }, { 32, 1, 1 }, n, 0, 2 * APART };
			bool entered, found = finds("race-all", text.data, &s, false, &entered);

			if (finds("race", text.data, &s, false, &entered) != found)
				fail_msg("tile %u, %u rounds: race-all finds %d:\n%s", k, n, found, text.data);
			races += found;
			silent += !entered;
			all++;
		}
		ws_buf_free(&text);
	}
	print_message("%u launches: %u with races, %u without hooks\n", all, races, silent);
	assert_true(races > all / 4 && silent > all / 4);
}

/* ---- elements, each behind a comparison of its own ---- */
/* Elements of a thread's own in a row, each compared on its own: out[y * w + c], out[y * w + c + 1], ..., by registers or by bytes from the first. */
static void elements(struct ws_buf *b, unsigned k)
{
	static const char *const firsts[] = { "mov.u32 %%c%u, %%x;\n", "shl.b32 %%c%u, %%x, 1;\n", "mul.lo.s32 %%c%u, %%x, 3;\n" };
	static const char *const limits[] = { "%w", "%w", "%n" }, *const pitches[] = { "%w", "%w", "%n" },
	                  *const places[] = { "%y", "%y", "%bx", "%j2", "%j2", "%j3" };
	const char *limit = limits[below(3)], *pitch = pitches[below(3)], *rows = places[below(WS_COUNT(places))];
	bool by_bytes = below(2), reads = !below(3);
	unsigned c = 8 * k, step = 1 + !below(4);

	ws_buf_printf(b, firsts[below(WS_COUNT(firsts))], c);
	ws_buf_printf(b, "mul.wide.s32 %%e%u, %s, %s;\n", c + 4, rows, pitch);
	for (unsigned j = 0, n = 2 + below(2); j < n; j++) {
		unsigned at = by_bytes ? c : c + j;

		if (j)
			ws_buf_printf(b, "add.s32 %%c%u, %%c%u, %u;\n", c + j, c, j * step);
		ws_buf_printf(b, "setp.ge.s32 %%q%u, %%c%u, %s; @%%q%u bra ROW%u;\n", c + j, c + j, limit, c + j, k);
		if (!by_bytes || !j)
			ws_buf_printf(b, "cvt.s64.s32 %%e%u, %%c%u; add.s64 %%e%u, %%e%u, %%e%u; shl.b64 %%f%u, %%e%u, 2; add.s64 %%o%u, %%d%u, %%f%u;\n",
			              at, at, 40 + at, at, c + 4, at, 40 + at, at, by_bytes || !reads || below(2), at);
		ws_buf_printf(b, reads && j ? "ld.global.u32 %%v, [%%o%u+%u];\n" : "st.global.u32 [%%o%u+%u], %%x;\n", at, by_bytes ? 4 * j * step : 0);
	}
	ws_buf_printf(b, "ROW%u:\n", k);
}

static void make_elements(struct ws_buf *b)
{
	static const char *const conditions[] = {
		"", "setp.ge.s32 %p1, %x, %n; @%p1 bra END;\n", "setp.ge.s32 %p1, %x, %w; @%p1 bra END;\n",
		"setp.ge.s32 %p1, %y, %n; @%p1 bra END;\n", "setp.ne.s32 %p1, %ty, 0; @%p1 bra END;\n",
	};

	ws_buf_puts(b, PTX_HEAD ".visible .entry k(.param .u64 a, .param .u64 b, .param .u32 n, .param .u32 w)\n{\n"
	            ".reg .pred %p<5>, %q<40>; .reg .b32 %x, %y, %tx, %ty, %bx, %by, %tn, %ny, %n, %w, %v, %j2, %j3, %c<40>;\n"
	            ".reg .b64 %d<5>, %e<80>, %f<40>, %o<40>;\n"
	            "ld.param.u64 %d0, [a]; ld.param.u64 %d1, [b]; ld.param.u32 %n, [n]; ld.param.u32 %w, [w];\n"
	            "mov.u32 %tx, %tid.x; mov.u32 %ty, %tid.y; mov.u32 %bx, %ctaid.x; mov.u32 %by, %ctaid.y; mov.u32 %tn, %ntid.x;\n"
	            "mov.u32 %ny, %ntid.y; mad.lo.s32 %x, %bx, %tn, %tx; mad.lo.s32 %y, %by, %ny, %ty; shl.b32 %j2, %y, 1; or.b32 %j3, %j2, 1;\n");
	ws_buf_puts(b, ONE_OF(conditions));
	for (unsigned k = 0, n = 1 + below(2); k < n; k++) {
		elements(b, k);
		if (!below(4))
			ws_buf_puts(b, "bar.sync 0;\n");
	}
	ws_buf_puts(b, "END: ret;\n}\n");
}

static void elements_of_threads(void **state)
{
	unsigned races = 0, silent = 0, kernels = rig_rounds(ROWS), launches = 2;

	for (unsigned k = 0; k < kernels; k++) {
		struct ws_buf text = { 0 };
		bool entered, all, left;

		noise = 7000 + k;
		make_elements(&text);
		for (unsigned n = 0; n < launches; n++) {
			struct shape s = random_shape();

			all = finds("race-all", text.data, &s, false, &entered);
			left = finds("race", text.data, &s, false, &entered);
			races += all;
			silent += !entered;
			if (all != left)
				fail_msg("kernel %u, grid %u %u, block %u %u %u, n %u, w %u, b %d: race %d, race-all %d:\n%s", k, s.grid[0], s.grid[1],
				         s.block[0], s.block[1], s.block[2], s.n, s.w, s.b, left, all, text.data);
		}
		ws_buf_free(&text);
	}
	print_message("%u launches: %u with races, %u without hooks\n", kernels * launches, races, silent);
	assert_true(races > kernels * launches / 8 && silent > kernels * launches / 16);
}

/* ---- loops in rows of threads ---- */
/* A loop over columns of a row: by an index or a pointer, of one block or several, and perhaps what is left over. # is its number. */
static void make_loop(struct ws_buf *b, bool by_itself)
{
	static const char *const lengths[] = { "mov.u32 %l#, %w;", "mov.u32 %l#, %w;", "and.b32 %l#, %n, 7;", "sub.s32 %l#, %w, 1;", "mov.u32 %l#, 6;" };
	static const char *const accesses[] = { "ld.global.u32 %%v, [%%g#+%u];\n", "ld.global.u32 %%v, [%%g#+%u];\n", "st.global.u32 [%%g#+%u], %%x;\n" };
	static const char *const around[] = { "", "", "setp.lt.u32 %p3, %v, 5; @%p3 bra M#;\nadd.s32 %v, %v, 1;\nM#: " };
	static const char *const steps[] = { "add.s64 %%g#, %%g#, %u;", "add.s64 %%h#, %%g#, %u; mov.u64 %%g#, %%h#;" };
	unsigned step = 1u << below(3), begin = below(4) == 0, from = below(5) == 0;

	ws_buf_puts(b, lengths[below(WS_COUNT(lengths))]);
	ws_buf_printf(b, " and.b32 %%r#, %%l#, %u; sub.s32 %%e#, %%l#, %%r#; mov.u32 %%c#, %u;\n", step - 1, begin);
	ws_buf_printf(b, "add.s32 %%i#, %%row, %u; mul.wide.s32 %%k#, %%i#, 4; add.s64 %%g#, %%d%u, %%k#;\n", begin, by_itself ? 0 : below(5) == 0);
	ws_buf_printf(b, "setp.lt.s32 %%p1, %%l#, %u; @%%p1 bra REST#;\nLOOP#:\n", step);
	for (unsigned n = 0, most = below(step); n <= most; n++)
		ws_buf_printf(b, accesses[below(WS_COUNT(accesses))], 4 * (n + from));
	ws_buf_puts(b, around[below(WS_COUNT(around))]);
	ws_buf_printf(b, steps[below(WS_COUNT(steps))], 4 * step);
	ws_buf_printf(b, "add.s32 %%c#, %%c#, %u; add.s32 %%e#, %%e#, -%u; setp.ne.s32 %%q#, %%e#, 0; @%%q# bra LOOP#;\nREST#:\n", step, step);
	if (below(2)) {
		ws_buf_puts(b, "setp.eq.s32 %p1, %r#, 0; @%p1 bra NEXT#;\nadd.s32 %j#, %row, %c#; mul.wide.s32 %m#, %j#, 4; add.s64 %o#, %d0, %m#;\n");
		ws_buf_puts(b, below(2) ? "ld.global.u32 %v, [%o#];\nNEXT#:\n" : "st.global.u32 [%o#], %x;\nNEXT#:\n");
	}
}

static void add_loop(struct ws_buf *b, unsigned number, bool by_itself)
{
	struct ws_buf loop = { 0 };

	make_loop(&loop, by_itself);
	for (size_t k = 0; k < loop.len; k++)
		ws_buf_printf(b, "%c", loop.data[k] == '#' ? '0' + (int)number : loop.data[k]);
	ws_buf_free(&loop);
}

static void make_rows(struct ws_buf *b)
{
	static const char *const rows[] = { "%x", "%x", "%x", "%bx", "%tx" }, *const pitches[] = { "%w", "%w", "%w", "%n", "8", "0" };
	static const char *const conditions[] = {
		"", "", "setp.ge.s32 %p0, %x, %n; @%p0 bra END;\n", "setp.ne.s32 %p0, %tx, 0; @%p0 bra END;\n", "setp.ne.s32 %p0, %x, 0; @%p0 bra END;\n",
	};
	bool by_itself = below(2);

	ws_buf_puts(b, PTX_HEAD ".visible .entry k(.param .u64 a, .param .u64 b, .param .u32 n, .param .u32 w)\n{\n"
	            ".reg .pred %p<5>, %q<3>; .reg .b32 %x, %tx, %bx, %tn, %n, %w, %v, %row, %l<3>, %r<3>, %e<3>, %c<3>, %i<3>, %j<3>; .reg .b64 %d<2>, %g<3>, %h<3>, %k<3>, %m<3>, %o<3>;\n"
	            "ld.param.u64 %d0, [a]; ld.param.u64 %d1, [b]; ld.param.u32 %n, [n]; ld.param.u32 %w, [w];\n"
	            "mov.u32 %tx, %tid.x; mov.u32 %bx, %ctaid.x; mov.u32 %tn, %ntid.x; mad.lo.s32 %x, %bx, %tn, %tx;\n");
	ws_buf_puts(b, conditions[below(WS_COUNT(conditions))]);
	ws_buf_printf(b, "mul.lo.s32 %%row, %s, %s;\n", rows[below(WS_COUNT(rows))], pitches[below(WS_COUNT(pitches))]);
	for (unsigned k = 0, n = 1 + below(3); k < n; k++)
		add_loop(b, k, by_itself);
	ws_buf_puts(b, "END: ret;\n}\n");
}

static void loops_in_rows(void **state)
{
	unsigned races = 0, silent = 0, kernels = rig_rounds(ROWS), launches = 2;

	for (unsigned k = 0; k < kernels * launches; k++) {
		struct ws_buf text = { 0 };
		struct shape s;
		bool entered, all, left;

		noise = k / launches + 77;
		make_rows(&text);
		noise += k;
		s = random_shape();
		s.grid[1] = s.block[1] = s.block[2] = 1;
		all = finds("race-all", text.data, &s, false, &entered);
		left = finds("race", text.data, &s, false, &entered);
		if (all != left)
			fail_msg("kernel %u, grid %u, block %u, n %u, w %u, b %d: race %d, race-all %d:\n%s", k, s.grid[0], s.block[0], s.n, s.w,
			         s.b, left, all, text.data);
		races += all;
		silent += !entered;
		ws_buf_free(&text);
	}
	print_message("%u launches: %u with races, %u without hooks\n", kernels * launches, races, silent);
	assert_true(races > kernels * launches / 8 && silent > kernels * launches / 8);
}

/* ---- loops that go on by a step, unrolled ---- */
/* An access at index %m<k>, which is k steps behind %m0; each has registers of its own. */
static void make_place(struct ws_buf *b, unsigned shift, unsigned k, bool pointer)
{
	static const char *const accesses[] = { "ld.global.u%u %%v, [%%g%u];\n", "st.global.u%u [%%g%u], %%x;\n", "st.global.u%u [%%g%u], %%x;\n" };

	ws_buf_printf(b, "cvt.s64.s32 %%i%u, %%m%u; shl.b64 %%h%u, %%i%u, %u; add.s64 %%%c%u, %%d%u, %%h%u;\n", k, pointer ? 0 : k, k, k, shift,
	              pointer ? 'e' : 'g', k, below(4) == 0, k);
	for (unsigned n = 0; n < k && pointer; n++)
		ws_buf_printf(b, "add.s64 %%q%u%u, %%%c%u%s, %%d4;\n", k, n, n ? 'q' : 'e', k, n == 0 ? "" : n == 1 ? "0" : "1");
	if (pointer)
		ws_buf_printf(b, "mov.u64 %%g%u, %%%c%u%s;\n", k, k ? 'q' : 'e', k, k == 0 ? "" : k == 1 ? "0" : k == 2 ? "1" : "2");
	ws_buf_printf(b, accesses[below(3)], 8u << (below(8) ? shift : below(3) % (shift + 1)), k);
}

/* The rounds that are left over, by index or pointer. */
static void make_rest(struct ws_buf *b, unsigned shift)
{
	static const char *const counts[] = { "and.b32 %c, %x, 3;\n", "and.b32 %c, %n, 7;\n", "and.b32 %c, %x, 3; add.s32 %c, %c, 1;\n", "mov.u32 %c, 3;\n" };

	ws_buf_puts(b, counts[below(WS_COUNT(counts))]);
	ws_buf_printf(b, "setp.eq.s32 %%p1, %%c, 0; @%%p1 bra MAIN;\ncvt.s64.s32 %%i8, %%l; shl.b64 %%h8, %%i8, %u; add.s64 %%g8, %%d0, %%h8;\nLEFT:\n", shift);
	if (below(2))
		ws_buf_printf(b, "st.global.u%u [%%g8], %%x; add.s64 %%g8, %%g8, %%d4;\n", 8u << shift);
	else
		ws_buf_printf(b, "cvt.s64.s32 %%i9, %%l; shl.b64 %%h9, %%i9, %u; add.s64 %%g9, %%d0, %%h9; st.global.u%u [%%g9], %%x;\n", shift, 8u << shift);
	ws_buf_printf(b, "add.s32 %%l, %%l, %s; add.s32 %%c, %%c, -1; setp.ne.s32 %%p2, %%c, 0; @%%p2 bra LEFT;\nMAIN:\n", below(8) ? "%s" : "1");
}

static void make_steps(struct ws_buf *b)
{
	static const char *const steps[] = { "%all", "%all", "%all", "%all", "%tn", "%w", "7" }, *const begins[] = { "%x", "%x", "%x", "%x", "%tx", "%y" };
	static const char *const last[] = { "setp.lt.s32 %p4, %l, %n", "setp.lt.s32 %p4, %l, %n", "setp.lt.u32 %p4, %l, 90", "setp.lt.s32 %p4, %m1, %n" };
	unsigned shift = below(3), rounds = 1 + below(4);

	ws_buf_puts(b, PTX_HEAD ".visible .entry k(.param .u64 a, .param .u64 b, .param .u32 n, .param .u32 w)\n{\n"
	            ".reg .pred %p<5>; .reg .b32 %x, %y, %tx, %bx, %tn, %sx, %n, %w, %l, %m<6>, %c, %s, %v, %all; .reg .b64 %d<5>, %g<10>, %h<10>, %i<10>, %e<10>, %q<40>;\n"
	            "ld.param.u64 %d0, [a]; ld.param.u64 %d1, [b]; ld.param.u32 %n, [n]; ld.param.u32 %w, [w];\n"
	            "mov.u32 %tx, %tid.x; mov.u32 %bx, %ctaid.x; mov.u32 %tn, %ntid.x; mov.u32 %sx, %nctaid.x; mul.lo.s32 %all, %sx, %tn;\n"
	            "mad.lo.s32 %x, %bx, %tn, %tx; mad.lo.s32 %y, %tx, %sx, %bx;\n");
	ws_buf_printf(b, "mov.u32 %%s, %s; mov.u32 %%l, %s; cvt.s64.s32 %%d3, %%s; shl.b64 %%d4, %%d3, %u;\n", steps[below(WS_COUNT(steps))],
	              begins[below(WS_COUNT(begins))], shift);
	if (below(2))
		ws_buf_puts(b, "setp.ge.s32 %p0, %l, %n; @%p0 bra END;\n");
	if (below(3))
		make_rest(b, shift);
	if (below(3) == 0)
		ws_buf_puts(b, "setp.ge.s32 %p3, %l, %n; @%p3 bra END;\n");
	ws_buf_puts(b, "LOOP: mov.u32 %m0, %l;\n");
	for (unsigned k = 0; k < rounds; k++) {
		make_place(b, shift, k, below(2));
		ws_buf_printf(b, "add.s32 %%m%u, %%m%u, %%s;\n", k + 1, k);
	}
	ws_buf_printf(b, "mov.u32 %%l, %%m%u; %s; @%%p4 bra LOOP;\nEND: ret;\n}\n", rounds, last[below(WS_COUNT(last))]);
}

static void loops_in_steps(void **state)
{
	unsigned races = 0, silent = 0, kernels = rig_rounds(ROWS / 2), launches = 2;

	for (unsigned k = 0; k < kernels * launches; k++) {
		struct ws_buf text = { 0 };
		struct shape s;
		bool entered, all, left;

		noise = k / launches + 4077;
		make_steps(&text);
		noise += k;
		s = random_shape();
		s.grid[1] = s.block[1] = s.block[2] = 1;
		s.b = below(3) ? 2 * APART : s.b;
		all = finds("race-all", text.data, &s, false, &entered);
		left = finds("race", text.data, &s, false, &entered);
		if (all != left)
			fail_msg("kernel %u, grid %u, block %u, n %u, w %u, b %d: race %d, race-all %d:\n%s", k, s.grid[0], s.block[0], s.n, s.w,
			         s.b, left, all, text.data);
		races += all;
		silent += !entered;
		ws_buf_free(&text);
	}
	print_message("%u launches: %u with races, %u without hooks\n", kernels * launches, races, silent);
	assert_true(races > kernels * launches / 8 && silent > kernels * launches / 16);
}

/* ---- fragments of a tile ---- */
/* %f<k>: bits [from, to) of %t, as masks and shifts, or as quotient and remainder of a number with a sign. */
static void make_field(struct ws_buf *b, unsigned k, unsigned from, unsigned to, bool top)
{
	switch (below(3)) {
	case 0:
		ws_buf_printf(b, "shr.u32 %%u%u, %%t, %u;\n", k, from);
		break;
	case 1:
		ws_buf_printf(b, "shr.s32 %%c%u, %%t, 31; shr.u32 %%d%u, %%c%u, %u; add.s32 %%e%u, %%t, %%d%u; shr.s32 %%u%u, %%e%u, %u;\n", k, k, k,
		              from ? 32 - from : 31, k, k, k, k, from);
		break;
	default:                             /* of what is a quotient already */
		ws_buf_printf(b, "shr.u32 %%c%u, %%t, %u; shr.u32 %%u%u, %%c%u, %u;\n", k, from / 2, k, k, from - from / 2);
	}
	if (top)
		ws_buf_printf(b, "mov.u32 %%f%u, %%u%u;\n", k, k);
	else if (below(2))
		ws_buf_printf(b, "and.b32 %%f%u, %%u%u, %u;\n", k, k, (1u << (to - from)) - 1);
	else
		ws_buf_printf(b, "shr.u32 %%g%u, %%u%u, 31; add.s32 %%h%u, %%u%u, %%g%u; and.b32 %%i%u, %s%u, -%u; sub.s32 %%f%u, %%u%u, %%i%u;\n", k, k, k, k,
		              k, k, to - from == 1 ? "%h" : "%u", k, 1u << (to - from), k, k, k);
}

struct fragment { unsigned columns, rows, last; };       /* of a tile; last: the index is %x<last>, %y<last> */

/* Some parts of the thread's index tell the column, others the row; one may be wrong, or left to one thread. */
static struct fragment make_fragment(struct ws_buf *b, unsigned bits, unsigned width)
{
	unsigned cut[8] = { 0 }, n = 0, wrong = below(2) ? 8 : below(8), pinned = below(4) ? 8 : below(4);
	struct fragment tile = { width, 1, 0 };

	while (cut[n] < bits && n < 5) {
		cut[n + 1] = cut[n] + 1 + below(3);
		cut[n + 1] = cut[n + 1] < bits && n < 4 ? cut[n + 1] : bits;
		n++;
	}
	ws_buf_puts(b, "mov.u32 %x0, 0; mov.u32 %y0, 0;\n");
	for (unsigned k = 0; k < n; k++) {
		unsigned many = 1u << (cut[k + 1] - cut[k]), *weight = below(2) ? &tile.columns : &tile.rows;
		char with = weight == &tile.rows ? 'y' : 'x', other = weight == &tile.rows ? 'x' : 'y';

		ws_buf_printf(b, "mov.u32 %%%c%u, %%%c%u;\n", other, k + 1, other, k);

		make_field(b, k, cut[k], cut[k + 1], k + 1 == n && below(2));
		if (k == pinned) {
			ws_buf_printf(b, "setp.%s.s32 %%p%u, %%f%u, %u; @%%p%u bra END;\nmov.u32 %%%c%u, %%%c%u;\n", below(4) ? "ne" : "lt", k, k, below(many), k,
			              with, k + 1, with, k);
			continue;
		}
		ws_buf_printf(b, "mad.lo.s32 %%%c%u, %%f%u, %u, %%%c%u;\n", with, k + 1, k, k == wrong ? *weight / 2 : *weight, with, k);
		*weight *= many;
	}
	tile.last = n;
	return tile;
}

/* Returns how many words a row needs. */
static unsigned make_tiles(struct ws_buf *b, unsigned bits, unsigned blocks)
{
	static const char *const threads[] = { "mov.u32 %t, %tx;\n", "mad.lo.s32 %t, %ty, %tn, %tx;\n" };
	unsigned width = 1u << below(3), columns = 1u << below(3), rows = below(2) ? columns : 1u << below(3), beside, under;
	struct fragment tile;

	ws_buf_puts(b, PTX_HEAD ".visible .entry k(.param .u64 a, .param .u64 b, .param .u32 n, .param .u32 w)\n{\n"
	            ".reg .pred %p<9>; .reg .b32 %t, %x<9>, %y<9>, %v<9>, %q, %r, %s, %tx, %ty, %bx, %by, %tn, %nn, %w, %u<9>, %c<9>, %d<9>, %e<9>, %f<9>, %g<9>, %h<9>, %i<9>;\n"
	            ".reg .b64 %k<9>, %m<9>, %n<9>;\n"
	            "ld.param.u64 %k0, [a]; ld.param.u64 %k1, [b]; ld.param.u32 %nn, [n]; ld.param.u32 %w, [w];\n"
	            "mov.u32 %tx, %tid.x; mov.u32 %ty, %tid.y; mov.u32 %bx, %ctaid.x; mov.u32 %by, %ctaid.y; mov.u32 %tn, %ntid.x;\n");
	ws_buf_puts(b, threads[below(2)]);
	tile = make_fragment(b, bits, width);
	ws_buf_printf(b, "mad.lo.s32 %%q, %%bx, %u, %%x%u; mad.lo.s32 %%r, %%by, %u, %%y%u; mad.lo.s32 %%s, %%r, %%w, %%q;\n", tile.columns * columns,
	              tile.last, tile.rows * rows, tile.last);
	beside = below(8) ? tile.columns : tile.columns / 2;
	under = below(8) ? tile.rows : tile.rows / 2;
	if (below(3) == 0)
		ws_buf_puts(b, "setp.ge.s32 %p8, %r, %nn; @%p8 bra END;\n");
	ws_buf_puts(b, "mul.wide.s32 %k2, %s, 4; add.s64 %k3, %k0, %k2;\n");
	for (unsigned row = 0; row < rows; row++) {
		ws_buf_printf(b, "mul.lo.s32 %%v%u, %%w, %u; mul.wide.s32 %%m%u, %%v%u, 4; add.s64 %%n%u, %%k3, %%m%u;\n", row, row * under, row, row, row, row);
		for (unsigned column = 0; column < columns; column++)
			for (unsigned k = 0; k < width; k += width / 2 + (width == 1))
				ws_buf_printf(b, width == 4 ? "st.global.v2.u32 [%%n%u+%u], {%%t, %%t};\n" : "st.global.u32 [%%n%u+%u], %%t;\n", row,
				              4 * (k + column * beside));
	}
	ws_buf_puts(b, "END: ret;\n}\n");
	return tile.columns * columns * blocks;
}

static void fragments(void **state)
{
	unsigned races = 0, silent = 0, fine = 0, kernels = 4 * rig_rounds(ROWS);

	for (unsigned k = 0; k < kernels; k++) {
		struct ws_buf text = { 0 };
		struct shape s = { { 1 + k % 2, 1 + k / 2 % 2, 1 }, { 32u << k % 2, 1, 1 }, 0, 0, 0 };
		unsigned bits = 5 + k % 2, pitch;
		bool entered, all, left;

		noise = 90000 + k;
		pitch = make_tiles(&text, bits, s.grid[0]);
		s.n = below(2) ? 1000 : below(60);
		s.w = pitch + below(3) - (below(4) == 0 ? 1 : 0) - (below(8) == 0 && pitch > 4 ? 4 : 0);
		s.w &= strstr(text.data, "v2") ? ~1u : ~0u;
		s.block[1] = below(4) ? 1 : 2;
		s.block[0] /= s.block[1] == 2 && below(2) ? 2 : 1;
		all = finds("race-all", text.data, &s, false, &entered);
		left = finds("race", text.data, &s, false, &entered);
		if (all != left)
			fail_msg("kernel %u, grid %u %u, block %u %u, n %u, w %u: race %d, race-all %d:\n%s", k, s.grid[0], s.grid[1], s.block[0],
			         s.block[1], s.n, s.w, left, all, text.data);
		races += all;
		fine += !all;
		silent += !entered;
		ws_buf_free(&text);
	}
	print_message("%u launches: %u with races, %u without hooks\n", kernels, races, silent);
	assert_true(races > kernels / 4 && silent > fine / 2);
}

/* ---- lanes and warps ---- */
/* A word for each warp, for each thread by warp and lane, or for each block; of what numbers the lane and the warp are is random. */
static void make_warps(struct ws_buf *b)
{
	static const char *const numbers[] = {
		"%tx", "%tx", "%x", "%x", "%x", "%e", "%e", "%f", "%y",
	}, *const lanes[] = {
		"and.b32 %%l, %s, %u;\n", "and.b32 %%l, %s, %u;\n", "and.b32 %%j, %s, -%u; sub.s32 %%l, %s, %%j;\n",
	}, *const indices[] = {
		"setp.ne.s32 %p0, %l, 0; @%p0 bra END;\nmov.u32 %i, %v;\n", "setp.gt.s32 %p0, %l, 1; @%p0 bra END;\nmov.u32 %i, %v;\n",
		"setp.ne.s32 %p0, %l, 3; @%p0 bra END;\nmov.u32 %i, %v;\n", "mad.lo.s32 %i, %v, 16, %l;\n", "mad.lo.s32 %i, %v, 8, %l;\n",
		"setp.ne.s32 %p0, %l, 0; @%p0 bra END;\nsetp.ne.s32 %p1, %v, 0; @%p1 bra END;\nmov.u32 %i, %bx;\n",
		"mad.lo.s32 %i, %l, %w, %v;\n", "bfi.b32 %i, %v, %l, 4, 28;\n", "bfi.b32 %i, %v, %l, 5, 4;\n", "bfi.b32 %i, %v, %l, 3, 29;\n",
		"bfi.b32 %i, %v, %tx, 4, 28;\n", "bfi.b32 %i, %v, %x, 4, 3;\n", "mad.lo.s32 %k, %v, 32, %l; or.b32 %i, %k, 16;\n",
		"mad.lo.s32 %k, %v, 32, %l; or.b32 %i, %k, 8;\n", "mad.lo.s32 %i, %bx, 4, %v; setp.ne.s32 %p0, %l, 0; @%p0 bra END;\n",
	};
	unsigned bits = 3 + below(2);
	const char *of = numbers[below(WS_COUNT(numbers))], *lane = lanes[below(WS_COUNT(lanes))];

	ws_buf_puts(b, PTX_HEAD ".visible .entry k(.param .u64 a, .param .u64 b, .param .u32 n, .param .u32 w)\n{\n"
	            ".reg .pred %p<3>; .reg .b32 %x, %y, %e, %f, %tx, %ty, %bx, %tn, %n, %w, %l, %v, %i, %j, %k; .reg .b64 %d<3>;\n"
	            "ld.param.u64 %d0, [a]; ld.param.u32 %n, [n]; ld.param.u32 %w, [w]; mov.u32 %tx, %tid.x; mov.u32 %ty, %tid.y; mov.u32 %bx, %ctaid.x;\n"
	            "mov.u32 %tn, %ntid.x; mad.lo.s32 %x, %bx, %tn, %tx; mad.lo.s32 %y, %ty, %tn, %tx; mad.lo.s32 %e, %bx, %w, %tx; add.s32 %f, %tx, %n;\n");
	ws_buf_printf(b, lane, of, lane == lanes[2] ? 1u << bits : (1u << bits) - 1, of);
	ws_buf_printf(b, "shr.u32 %%v, %s, %u;\n", numbers[below(WS_COUNT(numbers))], below(5) ? bits : 3);
	ws_buf_puts(b, indices[below(WS_COUNT(indices))]);
	ws_buf_printf(b, "mul.wide.s32 %%d1, %%i, 4; add.s64 %%d2, %%d0, %%d1; st.global.u32 [%%d2], %%x;\nEND: ret;\n}\n");
}

static void lanes_and_warps(void **state)
{
	static const uint32_t blocks[] = { 8, 16, 32, 32, 64, 64, 12, 24, 40 };
	unsigned races = 0, silent = 0, fine = 0, launches = 8 * rig_rounds(ROWS);

	for (unsigned k = 0; k < launches; k++) {
		struct ws_buf text = { 0 };
		struct shape s = { { 1 + k % 3, 1, 1 }, { 0, 1, 1 }, 0, 0, 0 };
		bool entered, all, left;

		noise = 170000 + k;
		make_warps(&text);
		s.block[0] = blocks[below(WS_COUNT(blocks))];
		s.block[1] = below(8) ? 1 : 2;
		s.n = below(2) ? 8 * below(20) : below(100);
		s.w = below(4) ? s.block[0] : below(2) ? 32 * (1 + below(3)) : 1 + below(90);
		all = finds("race-all", text.data, &s, false, &entered);
		left = finds("race", text.data, &s, false, &entered);
		if (all != left)
			fail_msg("launch %u, grid %u, block %u %u, n %u, w %u: race %d, race-all %d:\n%s", k, s.grid[0], s.block[0], s.block[1], s.n, s.w,
			         left, all, text.data);
		races += all;
		fine += !all;
		silent += !entered;
		ws_buf_free(&text);
	}
	print_message("%u launches: %u with races, %u without hooks\n", launches, races, silent);
	assert_true(races > launches / 4 && silent > fine / 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(lanes_and_warps), cmocka_unit_test(tiles_that_shrink), cmocka_unit_test(elements_of_threads), cmocka_unit_test(loops_in_rows), cmocka_unit_test(loops_in_steps), cmocka_unit_test(fragments), cmocka_unit_test(what_is_left_finds_what_all_find) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* race_report.c - from what the checks on the GPU found to a race of the report. */
#include <stdio.h>
#include <stdlib.h>

#include "real/race.h"
#include "report/advice.h"

struct finding {
	const struct ws_real_table *table, *others;  /* of the later access, and of the earlier one; */
	uint32_t kernel, other_kernel;       /* and their kernels there */
	const struct ws_race_found *found;
	struct ws_real_code_line first, second;      /* the earlier and the later access */
	uint32_t places;                     /* at which the earlier access may be */
	const struct ws_real_code_line *another;     /* one of them */
};

static bool wrote(const struct ws_race_found *f)
{
	return f->pair != WS_RACE_WRITE_AFTER_READ;
}

static bool is_atomic(uint32_t class)
{
	return WS_RACE_IS_ATOMIC(class);
}

/* May the earlier access of the finding be at this place? */
static bool may_be(const struct finding *g, uint32_t number)
{
	const struct ws_real_code_line *l = &g->others->lines[number];
	const struct ws_race_found *f = g->found;
	uint32_t bits = wrote(f) ? WS_RACE_WRITE_SITE_BITS : WS_RACE_READ_SITE_BITS;
	enum ws_race_access_kind kind = is_atomic(f->other_class) ? WS_RA_ATOMIC : wrote(f) ? WS_RA_WRITE : WS_RA_READ;

	return ((number ^ f->other_site) & ((1u << bits) - 1)) == 0 && l->place.access == kind &&
	       g->others->kernels[g->other_kernel].reaches[l->func];
}

/* Of the end of a block there is no place but its function's. */
static bool ends(const struct finding *g)
{
	return g->found->flags & WS_RACE_LIFETIME_ENDS;
}

static bool find_places(struct finding *g)
{
	const struct ws_real_table *t = g->table, *o = g->others;

	if (!o || g->kernel >= t->nkernels || g->other_kernel >= o->nkernels || g->found->site >= t->nlines || !t->lines[g->found->site].place.ptx)
		return false;
	g->second = t->lines[g->found->site];
	if (g->found->flags & WS_RACE_LIFETIME_BEGINS) {
		g->first = g->second;
		g->first.place = t->funcs[g->second.func].entry;
		return g->first.place.line;
	}
	for (uint32_t k = 0; k < o->nlines; k++) {
		if (!o->lines[k].place.ptx || !may_be(g, k))
			continue;
		if (g->places++)
			g->another = &o->lines[k];
		else
			g->first = o->lines[k];
	}
	if (g->places && ends(g)) {
		g->second = g->first;
		g->second.place = t->funcs[g->first.func].entry;
	}
	return g->places;
}

/* ---- two launches that nothing orders ---- */
static bool of_two_launches(const struct ws_race_found *f)
{
	return f->flags & WS_RACE_OTHER_LAUNCH;
}

static void name_stream(struct ws_buf *b, uint32_t in)
{
	uint32_t stream = WS_RACE_STREAM_OF(in);

	if (in & WS_RACE_OF_GRAPH)
		ws_buf_puts(b, "a graph in ");
	if (stream == WS_RACE_STREAM_DEFAULT || stream == WS_RACE_STREAM_PER_THREAD)
		ws_buf_puts(b, stream ? "the thread's default stream" : "the default stream");
	else
		ws_buf_printf(b, "stream %u", stream);
}

static const char *first_kernel(const struct finding *g) { return g->others->kernels[g->other_kernel].plain; }
static const char *second_kernel(const struct finding *g) { return g->table->kernels[g->kernel].plain; }

/* NULL: a launch of the program's. */
static const char *name_operation(const struct finding *g, uint32_t in)
{
	static const char *const names[] = {
		[WS_RACE_IS_COPY] = "copy", [WS_RACE_IS_COPY_PERHAPS] = "copy", [WS_RACE_IS_FILL] = "fill",
		[WS_RACE_IS_ALLOC] = "memory allocation", [WS_RACE_IS_FREE] = "release of memory",
	};
	uint32_t n = of_two_launches(g->found) ? WS_RACE_OPERATION_OF(in) : WS_RACE_IS_LAUNCH;

	return n < WS_COUNT(names) ? names[n] : NULL;
}

static const char *first_operation(const struct finding *g) { return name_operation(g, g->found->other_stream); }
static const char *second_operation(const struct finding *g) { return name_operation(g, g->found->stream); }

/* The earlier access may be one that is done in practice, though nothing promises it. */
static bool is_perhaps(const struct finding *g)
{
	return of_two_launches(g->found) && WS_RACE_OPERATION_OF(g->found->other_stream) == WS_RACE_IS_COPY_PERHAPS;
}

static void name_launch(struct ws_buf *b, const char *operation, const char *kernel, uint32_t stream)
{
	if (operation)
		ws_buf_printf(b, "a %s in ", operation);
	else
		ws_buf_printf(b, "a launch of '%s' in ", kernel);
	name_stream(b, stream);
}

static void name_first(struct ws_buf *b, const struct finding *g)
{
	name_launch(b, first_operation(g), first_kernel(g), g->found->other_stream);
}

static void name_second(struct ws_buf *b, const struct finding *g)
{
	name_launch(b, second_operation(g), second_kernel(g), g->found->stream);
}

/* What a race is listed under. */
static const char *kernel_of(const struct finding *g)
{
	if (!second_operation(g))
		return second_kernel(g);
	return first_operation(g) ? second_operation(g) : first_kernel(g);
}

static void name_what(struct ws_buf *b, const char *operation, const char *kernel)
{
	ws_buf_printf(b, "%s%s", operation ? "the " : "", operation ? operation : kernel);
}

static void advise_graphs(const struct ws_race_found *f, struct ws_buf *repair)
{
	bool both = f->stream & f->other_stream & WS_RACE_OF_GRAPH;

	if (both && WS_RACE_STREAM_OF(f->stream) == WS_RACE_STREAM_OF(f->other_stream))
		ws_buf_puts(repair, "add a dependency between the two nodes of the graph, or let both be of one chain of nodes");
	else
		ws_buf_puts(repair, "record an event behind the first in its stream and let the other's stream wait for it before the "
		                    "launch (cudaEventRecord, cudaStreamWaitEvent), or use one stream: a graph is an operation of the "
		                    "stream that it is launched in");
}

static bool is_a(uint32_t in, enum ws_race_operation operation)
{
	return WS_RACE_OPERATION_OF(in) == (uint32_t)operation;
}

static bool is_of_memory(const struct ws_race_found *f)
{
	return is_a(f->stream, WS_RACE_IS_ALLOC) || is_a(f->other_stream, WS_RACE_IS_ALLOC) || is_a(f->stream, WS_RACE_IS_FREE) ||
	       is_a(f->other_stream, WS_RACE_IS_FREE);
}

static void advise_memory(const struct ws_race_found *f, struct ws_buf *repair)
{
	bool frees = is_a(f->stream, WS_RACE_IS_FREE), freed = is_a(f->other_stream, WS_RACE_IS_FREE);
	bool allocates = is_a(f->stream, WS_RACE_IS_ALLOC);
	uint32_t of_memory = frees || (allocates && !freed) ? f->stream : f->other_stream;
	uint32_t user = of_memory == f->stream ? f->other_stream : f->stream;

	ws_buf_puts(repair, frees || freed ? "free the memory in " : "allocate the memory in ");
	name_stream(repair, user);
	ws_buf_puts(repair, ", or let ");
	name_stream(repair, frees || freed ? of_memory : user);
	ws_buf_puts(repair, " wait for an event that is recorded in ");
	name_stream(repair, frees || freed ? user : of_memory);
	ws_buf_puts(repair, frees || freed ? " before (cudaStreamWaitEvent)" : " after that (cudaStreamWaitEvent)");
}

/* Programmatic dependent launch: two launches of one stream. */
static bool is_early(const struct ws_race_found *f)
{
	uint32_t flags = f->stream | f->other_stream;

	return flags & WS_RACE_EARLY && !(flags & WS_RACE_OF_GRAPH) && WS_RACE_STREAM_OF(f->stream) == WS_RACE_STREAM_OF(f->other_stream);
}

static const char *category_of(const struct ws_race_found *f, bool same_value)
{
	return is_early(f) ? "dependent-launch" : is_of_memory(f) ? "stream-memory" : same_value ? "same-value" : "streams";
}

/* In the words of the simulator's report (detect/launches_report.c). */
static const char *advise_launches(const struct finding *g, bool same_value, struct ws_buf *missing, struct ws_buf *repair)
{
	const struct ws_race_found *f = g->found;

	if (is_early(f)) {
		ws_buf_printf(missing, "griddepcontrol.wait: '%s' may begin while '%s' still runs (programmatic dependent launch)",
		              f->stream & WS_RACE_EARLY ? second_kernel(g) : first_kernel(g),
		              f->stream & WS_RACE_EARLY ? first_kernel(g) : second_kernel(g));
		ws_buf_puts(repair, "call cudaGridDependencySynchronize() before the access");
		return category_of(f, same_value);
	}
	ws_buf_puts(missing, "order between ");
	name_first(missing, g);
	ws_buf_puts(missing, " and ");
	name_second(missing, g);
	ws_buf_puts(missing, ": no stream, event or dependency makes one wait for the other");
	if (is_perhaps(g))
		ws_buf_puts(repair, "a copy from pageable memory may return before the data have arrived: wait for the stream, or copy in "
		                    "the kernel's stream; or ");
	if (is_of_memory(f) || (f->stream | f->other_stream) & WS_RACE_OF_GRAPH) {
		is_of_memory(f) ? advise_memory(f, repair) : advise_graphs(f, repair);
		return category_of(f, same_value);
	}
	ws_buf_puts(repair, "record an event in ");
	name_stream(repair, f->other_stream);
	ws_buf_puts(repair, " after ");
	name_what(repair, first_operation(g), first_kernel(g));
	ws_buf_puts(repair, " and let ");
	name_stream(repair, f->stream);
	ws_buf_puts(repair, " wait for it before ");
	name_what(repair, second_operation(g), second_kernel(g));
	ws_buf_puts(repair, " (cudaEventRecord, cudaStreamWaitEvent), or use one stream");
	if (WS_RACE_STREAM_OF(f->stream) == WS_RACE_STREAM_DEFAULT || WS_RACE_STREAM_OF(f->other_stream) == WS_RACE_STREAM_DEFAULT)
		ws_buf_puts(repair, "; a stream made with cudaStreamNonBlocking and the default stream do not wait for each other");
	return category_of(f, same_value);
}

static void say_launches(const struct finding *g, struct ws_race *r, struct ws_buf *first, struct ws_buf *second)
{
	if (!of_two_launches(g->found))
		return;
	ws_buf_puts(first, first->len ? "; of " : "");
	name_first(first, g);
	name_second(second, g);
	r->first.operation = first->data;
	r->second.operation = second->data;
}

/* The access of a thread, or of an operation as a whole. */
static struct ws_race_access access_of(const struct ws_real_code_line *l, const char *operation, const uint32_t grid[3],
                                       const uint32_t block_dim[3], uint32_t block, uint32_t thread)
{
	struct ws_race_access a = l->place;

	if (operation)
		return (struct ws_race_access){ .access = a.access };
	ws_race_set_thread(&a, grid, block_dim, block, thread);
	return a;
}

/* ---- the code around ---- */
static bool in_loop(const struct ws_real_func *f, uint32_t low, uint32_t high)
{
	for (uint32_t k = 0; k < f->njumps; k++)
		if (f->jumps[k][0] >= high && f->jumps[k][1] <= low)
			return true;
	return false;
}

static bool has_barrier(const struct ws_real_func *f, uint32_t low, uint32_t high)
{
	for (uint32_t k = 0; k < f->nbarriers; k++)
		if (f->barriers[k] >= low && f->barriers[k] < high)
			return true;
	return false;
}

static void look_around(const struct finding *g, struct ws_advice *a)
{
	const struct ws_real_code_line *x = &g->first, *y = &g->second;
	const struct ws_real_func *f = &g->table->funcs[y->func];
	uint32_t low = x->inst < y->inst ? x->inst : y->inst, high = x->inst < y->inst ? y->inst : x->inst;

	a->one_function = x->func == y->func;
	a->backward = a->one_function && x->inst > y->inst;
	a->loop = !a->one_function || in_loop(f, low, high);
	a->repeated = a->loop || y->repeated;
	a->barrier = a->one_function && has_barrier(f, low, high);
	a->update = a->one_function && x->update && y->update && x->address == y->address;
}

/* ---- the race ---- */
static void say_which(const struct finding *g, struct ws_buf *b)
{
	if (g->found->flags & WS_RACE_SEVERAL)
		ws_buf_printf(b, "one of several threads that %s it", g->found->pair == WS_RACE_WRITE_AFTER_READ ? "read" : "changed");
	if (g->places < 2)
		return;
	ws_buf_printf(b, "%sone of %u places, among them ", b->len ? "; " : "", g->places);
	ws_race_line(b, &g->another->place, NULL);
}

/* The block's side of an access that comes too early or too late. */
static void say_block(const struct finding *g, struct ws_race_access *a, struct ws_buf *b)
{
	if (g->found->flags & WS_RACE_LIFETIME_ENDED)
		ws_buf_puts(b, "the end of the block");
	else
		ws_buf_printf(b, "the %s of block (%u,%u,%u)", ends(g) ? "end" : "start", a->block[0], a->block[1], a->block[2]);
	a->operation = b->data;
}

static bool is_lifetime(const struct finding *g)
{
	return g->found->flags & (WS_RACE_LIFETIME_BEGINS | WS_RACE_LIFETIME_ENDS);
}

static void say_side(const struct finding *g, struct ws_race *r, struct ws_buf *b)
{
	if (is_lifetime(g)) {
		say_block(g, ends(g) ? &r->second : &r->first, b);
		return;
	}
	if (!first_operation(g))
		say_which(g, b);
	r->first.operation = b->data;
}

static bool is_strong(uint32_t class)
{
	return class != WS_RACE_WEAK && class != WS_RACE_UPDATE;
}

static void fill_advice(const struct finding *g, const struct ws_race *r, struct ws_advice *a)
{
	const struct ws_race_found *f = g->found;

	*a = (struct ws_advice){
		.race = r,
		.strong1 = is_strong(f->other_class),
		.strong2 = is_strong(WS_RACE_CLASS_OF(f->what)),
		.same_size = g->first.bytes == g->second.bytes,
		.same_block = f->block == f->other_block,
		.one_cluster = f->flags & WS_RACE_ONE_CLUSTER,
		.proxy = f->flags & WS_RACE_PROXY,
		.same_thread = f->block == f->other_block && f->thread == f->other_thread,
		.in_flight = f->flags & WS_RACE_IN_FLIGHT,
		.same_warp = f->block == f->other_block && f->thread / WS_WARP == f->other_thread / WS_WARP,
		.same_value = r->kind == WS_WAW && f->flags & WS_RACE_SAME_VALUE,
		.same_instruction = r->kind == WS_WAW && f->flags & WS_RACE_SAME_INST,
	};
	if (!of_two_launches(f))
		look_around(g, a);
}

static void say_location(const struct ws_race_found *f, struct ws_race *r, struct ws_buf *b)
{
	r->size = f->bytes;
	if (f->space == WS_RACE_SHARED) {
		ws_buf_puts(b, "shared memory");
		r->offset = f->address;
	} else {
		ws_buf_printf(b, "global memory at %#llx", f->address);
	}
	r->location = b->data;
}

static void tell(struct ws_report *report, const struct finding *g, enum ws_race_kind kind, uint64_t count,
                 bool same_value_error)
{
	const struct ws_race_found *f = g->found;
	struct ws_buf missing = { 0 }, repair = { 0 }, which = { 0 }, mine = { 0 }, location = { 0 };
	bool two = of_two_launches(f);
	struct ws_advice a;
	struct ws_race r = {
		.severity = WS_ERROR, .kind = kind, .space = f->space == WS_RACE_SHARED ? "shared" : "global",
		.kernel = kernel_of(g), .count = count,
	};

	if (ends(g))
		r.kind = WS_WAR;
	r.first = access_of(&g->first, first_operation(g), two ? f->other_grid_dim : f->grid_dim, two ? f->other_block_dim : f->block_dim,
	                    f->other_block, f->other_thread);
	r.second = access_of(&g->second, second_operation(g), f->grid_dim, f->block_dim, f->block, f->thread);
	say_side(g, &r, &which);
	say_launches(g, &r, &which, &mine);
	say_location(f, &r, &location);
	fill_advice(g, &r, &a);
	if ((a.same_value && !same_value_error) || is_perhaps(g))
		r.severity = WS_WARNING;
	if (is_lifetime(g))
		r.category = ws_race_advise_lifetime(ends(g) ? &r.first : &r.second, ends(g), &missing, &repair);
	else
		r.category = two ? advise_launches(g, a.same_value, &missing, &repair) : ws_race_advise(&a, &missing, &repair);
	r.missing = missing.data;
	r.repair = repair.data;
	ws_report_race(report, &r);
	ws_buf_free(&missing);
	ws_buf_free(&repair);
	ws_buf_free(&which);
	ws_buf_free(&mine);
	ws_buf_free(&location);
}

static struct ws_real_code_line read_of(const struct ws_real_code_line *update)
{
	struct ws_real_code_line read = *update;

	read.place = *update->read;
	read.inst = update->read_inst;
	return read;
}

/* A write that stands for the read before it, too: each write that races with the one does with the other. */
static void tell_reads(struct ws_report *report, const struct finding *g, uint64_t count)
{
	struct finding read = *g;

	if (g->second.read && WS_RACE_CLASS_OF(g->found->what) == WS_RACE_UPDATE) {
		read.second = read_of(&g->second);
		tell(report, &read, WS_RAW, count, true);
	}
	if (g->first.read && g->found->other_class == WS_RACE_UPDATE) {
		read = *g;
		read.first = read_of(&g->first);
		tell(report, &read, WS_WAR, count, true);
	}
}

static struct finding finding_of(const struct ws_real_table *t, const struct ws_race_found *f)
{
	struct finding g = { .table = t, .others = t, .kernel = f->kernel, .other_kernel = f->kernel, .found = f };

	if (of_two_launches(f)) {
		g.others = ws_real_table_numbered(f->other_module);
		g.other_kernel = f->other_kernel;
	}
	return g;
}

bool ws_real_race_may_be_none(const struct ws_real_table *t, const struct ws_race_found *f)
{
	struct finding g = finding_of(t, f);
	bool of_read = f->pair == WS_RACE_READ_AFTER_WRITE || f->pair == WS_RACE_WRITE_AFTER_READ;

	if (!t || !of_read || first_operation(&g) || second_operation(&g) || !find_places(&g))
		return false;
	return f->pair == WS_RACE_READ_AFTER_WRITE ? g.first.may_fail && g.places == 1 : g.second.may_fail;
}

bool ws_real_race_tell(struct ws_report *r, const struct ws_real_table *t, const struct ws_race_found *f, uint64_t count,
                       bool same_value_error)
{
	static const enum ws_race_kind kinds[] = { WS_RAW, WS_WAR, WS_WAW };
	struct finding g = finding_of(t, f);

	if (!t || f->pair > WS_RACE_WRITE_AFTER_WRITE || !find_places(&g))
		return false;
	tell(r, &g, kinds[f->pair], count, same_value_error);
	if (f->pair == WS_RACE_WRITE_AFTER_WRITE)
		tell_reads(r, &g, count);
	return true;
}
